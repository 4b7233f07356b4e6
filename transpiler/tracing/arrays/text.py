"""Text that names values of the graph: `f"norm {n}"`. It may go into an exception or a warning, and nowhere else.

The graph has no values for it, so each stands as its dtype: `norm <float64>`. That is what an assertion of the graph says. Where the
graph is called in Python, the function itself raises the exception (see `module`), with the text that it has.
"""

from __future__ import annotations

import functools
import logging
import types
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from .. import state
from ..errors import error, is_library, user_frame
from ..sizes.traced import TracedSize
from ..state import is_traced
from ..surroundings.contents import is_users


class Text(str):
    """A text that hangs on values. Whoever looks into it is refused. `place`: where it is made."""

    __slots__ = ("place",)
    place: tuple[str, int] | None

    def __new__(cls, text: str) -> Text:
        made = super().__new__(cls, text)
        frame = user_frame()
        made.place = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
        return made

    def __add__(self, other: Any) -> Any:
        return Text(f"{str.__str__(self)}{other}") if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return Text(f"{other}{str.__str__(self)}") if isinstance(other, str) else NotImplemented

    def __mod__(self, other: Any) -> Any:
        return Text(str.__str__(self))

    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, spec: str) -> str:
        return str.__str__(self)

    __hash__ = None  # type: ignore[assignment]


_OWN = frozenset(vars(Text)) | {"__new__", "__init__", "__class__", "__getattribute__", "__setattr__", "__delattr__", "__doc__",
                                "__init_subclass__", "__subclasshook__", "__dir__", "__repr__", "__sizeof__"}  # fmt: skip


def _refusing(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracer = state.current()
        if tracer is None or state.active() is None:
            return getattr(str, name)(self, *args, **kwargs)
        with tracer.inside():
            _refuse_reading(name)

    return method


for _name in dir(str):
    if _name not in _OWN:
        setattr(Text, _name, _refusing(_name))
Text.__hash__ = _refusing("__hash__")  # type: ignore[assignment]


def _names_values(x: Any, depth: int = 3) -> bool:
    """Whether the text of something names values: of a constant that is known."""
    if isinstance(x, Text):
        return True
    if is_traced(x) and type(x) is not TracedSize:  # sizes are known
        tracer = state.active()
        return tracer is None or not tracer.is_constant(x)
    if isinstance(x, BaseException):
        return any(_names_values(a, depth - 1) for a in x.args)
    if depth and type(x) in (list, tuple, set):
        return any(_names_values(i, depth - 1) for i in x)
    return bool(depth) and type(x) is dict and any(_names_values(i, depth - 1) for i in x.values())


def _told(x: Any) -> str:
    """What stands for something in a text."""
    if isinstance(x, Text):
        return str.__str__(x)
    if is_traced(x) and type(x) is not TracedSize:
        value = x._value
        return f"<{value.dtype if hasattr(value, 'dtype') else type(value).__name__}>"
    if isinstance(x, BaseException):
        return ", ".join(map(_told, x.args))
    if type(x) in (list, tuple, set):
        return f"[{', '.join(map(_told, x))}]"
    return f"{{{', '.join(f'{k}: {_told(v)}' for k, v in x.items())}}}" if type(x) is dict else str(x)


def message_of(problem: BaseException) -> str:
    """The text of an exception, which may have been given values of the graph."""
    return _told(problem) if _names_values(problem) else str(problem)


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def formatted(*parts: Any) -> str:
    """An f-string: its texts, and for each value (value, conversion, format)."""
    made, is_known = [], True
    for part in parts:
        if type(part) is not tuple:
            made.append(part)
            continue
        value, conversion, spec = part
        if state.active() is not None and (_names_values(value) or isinstance(spec, Text)):
            is_known = False
            made.append(_told(value))
            continue
        if conversion != -1:
            value = _CONVERSIONS[chr(conversion)](value)
        made.append(format(value, spec))
    text = "".join(made)
    return text if is_known else Text(text)


def percented(text: str, values: Any) -> Any:
    """`text % values`, of a text that stands in the source."""
    if state.active() is None or not _names_values(values):
        return text % values
    return Text(f"{text} {_told(values)}")


def text_of(original: Any) -> Callable[..., Any]:
    """`str` or `repr` of one thing."""

    def twin(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and state.active() is not None and _names_values(args[0]):
            return Text(_told(args[0]))
        return original(*args, **kwargs)

    return twin


def of_text(function: Any) -> Any:
    """What is called in place of a function that may be given such a text, or values of the graph for one."""
    if state.active() is None or type(function) is functools.partial:
        return function
    if function is str or function is repr:
        return text_of(function)
    if type(function) is types.BuiltinFunctionType and type(function.__self__) is str and function.__name__ in ("format", "join"):
        return _Telling(function)
    return function if _takes_text(function) else _Checked(function)


def is_said(function: Any) -> bool:
    """True for what says something to people: warnings and loggers."""
    is_logger = type(function) is types.MethodType and isinstance(function.__self__, logging.Logger)
    return is_logger or any(function is f for f in _SAYING)


def _takes_text(function: Any) -> bool:
    """True for the user's own functions and classes, for exceptions, and for what does not look into a text."""
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return not is_library(function.__code__.co_filename)
    if isinstance(getattr(function, "__self__", None), BaseException):  # super().__init__(text)
        return True
    if isinstance(function, type):
        return issubclass(function, BaseException) or is_users(function)
    return any(function is f for f in (isinstance, print, id, callable)) or getattr(function, "__name__", "") in ("append", "_print")


class _Checked:
    """A function that would read a text as it is."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Text) or (type(x) in (list, tuple) and len(x) < _FEW and any(isinstance(i, Text) for i in x))
               for x in (*args, *kwargs.values())):  # fmt: skip
            tracer = state.active()
            if tracer is not None:
                with tracer.inside():
                    _refuse_reading(getattr(self.function, "__name__", "a call"))
        return self.function(*args, **kwargs)


_FEW = 64


def _refuse_reading(name: str) -> NoReturn:
    raise error("python-value", f"a text is made of values of the graph, and read again ({name.strip('_')})",
                "such a text may go into an exception or a warning: stay with arrays, or split the node here")  # fmt: skip


_SAYING = (warnings.warn, *(getattr(logging, n) for n in ("debug", "info", "warning", "error", "critical", "exception", "log")))


class _Telling:
    """A method of a text that puts values into it."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function.__name__ == "join" and len(args) == 1 and not kwargs:
            args = (list(args[0]),)
        if state.active() is None or not _names_values([*args, *kwargs.values()]):
            return self.function(*args, **kwargs)
        return Text(f"{self.function.__self__} {', '.join(map(_told, (*args, *kwargs.values())))}")


class Silent:
    """What says something to people: the run before the trace has said it."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.active() is None or not _names_values([*args, *kwargs.values()]):
            return self.function(*args, **kwargs)
        return None
