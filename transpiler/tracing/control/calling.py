"""Calls of the user's functions: where one asks for the truth of values (as for an early `return`), its ways meet when it returns."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import state
from ..errors import is_hidden, is_library
from ..tracer import Tracer
from .choosing import VALUE, joined
from .hoisting import UNSET
from .loops import Plan, Watched


@dataclass(eq=False)
class Called:
    """A function that is called."""

    code: types.CodeType
    guarded = True

    @property
    def place(self) -> tuple[str, int]:
        return self.code.co_filename, self.code.co_firstlineno

    def __str__(self) -> str:
        return f"a call of {self.code.co_name} is followed to the end of the function"


_CALLED: dict[types.CodeType, Called] = {}
_OTHERWISE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def opened(function: Any) -> Any:
    """What is called in place of a function of the user's."""
    code = getattr(function.__func__ if type(function) is types.MethodType else function, "__code__", None)
    if type(code) is not types.CodeType or code.co_flags & _OTHERWISE or is_hidden(code) or is_library(code.co_filename):
        return function
    tracer = state.active()
    return function if tracer is None else functools.partial(_call, tracer, code, function)


def _call(tracer: Tracer, code: types.CodeType, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    plan = tracer.loops.setdefault(_CALLED.setdefault(code, Called(code)), Plan())
    if plan.unrolled:
        return function(*args, **kwargs)
    if plan.inside:
        given = {"": function, **{str(i): x for i, x in enumerate(args)}, **kwargs}
        run = lambda: {VALUE: function(*args, **kwargs)}  # noqa: E731
        return joined(tracer, plan, _CALLED[code], {VALUE: UNSET}, given, run, frozenset((VALUE,)))[VALUE]
    forks, tracer.forks = tracer.forks, Watched(tracer, plan, 0)
    try:
        return function(*args, **kwargs)
    finally:
        tracer.forks = forks
