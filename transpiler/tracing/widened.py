"""A float64 run of a function: what decides where NumPy's answer and torch's differ by more than rounding.

NumPy adds float32 and float16 numbers along the outer axes one after the other, in their own dtype; torch does not. What NumPy gives may
then be far off, and torch's answer the better one. So the function is run again with float64 wherever it has a
narrower float (complex128 for complex64): an answer that is at least as close to that run as NumPy's own is right.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy

from . import state
from .arrays.patches import patched

_NAMES = {"float16": "float64", "float32": "float64", "complex64": "complex128"}
_WIDER = {numpy.dtype(narrow): numpy.dtype(wide) for narrow, wide in _NAMES.items()}
_TEXTS = {name for narrow in _WIDER for name in (narrow.name, narrow.str, narrow.str[1:], narrow.char)}


class _NoAnswerError(Exception):
    """The run does what has no float64 counterpart."""


class Wide(numpy.ndarray):
    """An array that knows no float narrower than float64: where one is asked for, it gives that."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _run(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _run(func, args, kwargs)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """The bits of a float64 are not those of a narrower float."""
        if self.dtype.kind in "fc" and (args or kwargs):
            raise _NoAnswerError
        return super().view(*args, **kwargs)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _run(getattr(numpy.ndarray, name), (self, *args), kwargs)

    return method


for _name in ("astype", "sum", "prod", "mean", "std", "var", "cumsum", "cumprod", "trace", "dot", "round"):
    setattr(Wide, _name, _method(_name))


def widened(x: Any) -> Any:
    """`x` with wide arrays for its arrays, scalars of float64 for its narrower ones."""
    if isinstance(x, numpy.ndarray):
        return x.astype(_WIDER.get(x.dtype.newbyteorder("="), x.dtype)).view(Wide)
    if isinstance(x, numpy.generic):
        return _WIDER[x.dtype].type(x) if x.dtype in _WIDER else x
    if isinstance(x, Mapping):
        return {key: widened(item) for key, item in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(widened, x))
    return type(x)(map(widened, x)) if type(x) in (list, tuple) else x


@contextlib.contextmanager
def widening() -> Iterator[None]:
    """Within, what makes arrays makes wide ones. Raises nothing of its own: a run that has no float64 counterpart fails."""
    token = state.enter(_Widener())  # type: ignore[arg-type]
    try:
        with patched():
            yield
    finally:
        state.leave(token)


class _Widener:
    """Stands where a tracer stands: NumPy's functions come by here."""

    paused = False

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        return _run(function, args, kwargs)

    def ufunc(self, function: Any, method: str, inputs: Any, kwargs: Any) -> Any:
        return _run(getattr(function, method), inputs, kwargs)

    def trick(self, name: str, original: Any, key: Any) -> Any:
        return _run(lambda k: original[k], (key,), {})

    def constant(self, value: Any) -> Any:
        return _wide(value)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """NumPy's own code sees NumPy."""
        token = state.enter(None)
        try:
            yield
        finally:
            state.leave(token)

    def fail(self, *_: Any) -> NoReturn:
        raise _NoAnswerError


def _run(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """NumPy's function on plain arrays, with wider dtypes for those that are asked for."""
    token = state.enter(None)
    try:
        result = function(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
    finally:
        state.leave(token)
    out = kwargs.get("out")
    if out is not None:
        return out[0] if isinstance(out, tuple) and len(out) == 1 else out
    return _wide(result)


def _plain(x: Any) -> Any:
    if isinstance(x, Wide):
        return numpy.ndarray.view(x, numpy.ndarray)
    if type(x) in (list, tuple):
        return type(x)(map(_plain, x))
    return _wider_dtype(x)


def _wider_dtype(x: Any) -> Any:
    """A dtype that is asked for, in whatever way."""
    if isinstance(x, str):
        return _WIDER[numpy.dtype(x)] if x in _TEXTS else x
    if isinstance(x, numpy.dtype) or (isinstance(x, type) and issubclass(x, numpy.generic)):
        try:
            return _WIDER.get(numpy.dtype(x).newbyteorder("="), x)
        except TypeError:
            return x
    return x


def _wide(result: Any) -> Any:
    if type(result) is numpy.ndarray:
        return numpy.ndarray.view(result, Wide)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*map(_wide, result))
    return type(result)(map(_wide, result)) if type(result) in (list, tuple) else result


def wider_call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """One call of NumPy's on plain arrays, in float64."""
    with widening():
        return _plain(function(*widened(args), **widened(kwargs)))
