"""Functions that stand for others: with their signature in every place where Python keeps one.

Code that asks a function what it takes does not always ask `inspect.signature`: it looks at `__code__.co_varnames`, `__defaults__` or
`__kwdefaults__`, and hands over, or drops, what it finds there.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any


def signed(function: Callable[..., Any], call: Callable[[tuple[Any, ...], dict[str, Any]], Any], steps: bool = False) -> Any:
    """A function with the signature of another, which hands what it is called with, defaults among it, to `call(args, kwargs)`.

    steps  whether it is a generator function: `call` then gives the generator"""
    if not isinstance(function, types.FunctionType):

        def plain(*args: Any, **kwargs: Any) -> Any:
            return call(args, kwargs)

        return functools.wraps(function)(plain)
    code = function.__code__
    names = code.co_varnames
    positional, named = names[: code.co_argcount], names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    rest = list(names[code.co_argcount + code.co_kwonlyargcount :])
    star = f"*{rest.pop(0)}" if code.co_flags & inspect.CO_VARARGS else ""
    stars = f"**{rest[0]}" if code.co_flags & inspect.CO_VARKEYWORDS else ""
    taken: list[str] = list(positional)
    if code.co_posonlyargcount:
        taken.insert(code.co_posonlyargcount, "/")
    taken += [star or "*"] if star or named else []
    parameters = ", ".join([*taken, *named, *([stars] if stars else [])])
    given = "".join(f"{p}, " for p in (*positional, *([star] if star else [])))
    words = ", ".join([*(f"{n!r}: {n}" for n in named), *([stars] if stars else [])])
    handle = "_np2fx_call"
    while handle in names:
        handle += "_"
    result = f"return {'(yield from ' if steps else ''}{handle}(({given}), {{{words}}}){')' if steps else ''}"
    space: dict[str, Any] = {}
    exec(f"def make({handle}):\n    def made({parameters}):\n        {result}\n    return made\n", space)
    made = space["make"](call)
    new = made.__code__.replace(co_name=code.co_name, co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
    found = types.FunctionType(new, function.__globals__, function.__name__, function.__defaults__, made.__closure__)
    found.__kwdefaults__ = function.__kwdefaults__
    return functools.wraps(function)(found)
