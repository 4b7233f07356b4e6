"""A NumPy call taken apart: its arguments, and where its result goes."""

from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy

from ..semantics.table import Rule
from .arrays.array import FlatIterator
from .recording.storage import owner_of
from .state import leaves


class Call:
    """The call that NumPy gets: a function, its arguments as the user gave them, and `out` apart."""

    __slots__ = ("args", "extra", "function", "kwargs")

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, extra: Any) -> None:
        self.function, self.args, self.kwargs, self.extra = function, tuple(args), kwargs, extra


def setitem(a: Any, key: Any, value: Any) -> None:
    a[key] = value


def stated(function: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a NumPy function without those that say, with `numpy._NoValue`, that they are left out.

    Deques are lists, as they are to NumPy."""
    if any(x is numpy._NoValue for x in args):
        given = inspect.signature(function).bind(*args, **kwargs)
        given.arguments = {name: x for name, x in given.arguments.items() if x is not numpy._NoValue}
        args, kwargs = given.args, given.kwargs
    return tuple(map(listed, args)), {name: listed(x) for name, x in kwargs.items() if x is not numpy._NoValue}


def listed(x: Any) -> Any:
    """`x` with lists for deques, also inside of lists and tuples. Others are unchanged."""
    if isinstance(x, deque):
        return [listed(i) for i in x]
    if type(x) is FlatIterator:
        return x.copy()
    if type(x) not in (list, tuple) or not any(isinstance(i, (list, tuple, deque, FlatIterator)) for i in x):
        return x
    made = type(x)(map(listed, x))
    return made if any(a is not b for a, b in zip(x, made, strict=True)) else x


def take_out(rule: Rule, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    """`out` apart from the other arguments, wherever it stood."""
    names = _positional(rule)
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    position = names.index("out") if "out" in names else len(args)
    if len(args) > position:
        kwargs |= zip(names[position + 1 :], args[position + 1 :], strict=False)
        out, args = args[position], args[:position]
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out, args, kwargs


@functools.cache
def _positional(rule: Rule) -> list[str]:
    """The names of the parameters that can be given by position."""
    parameters = inspect.signature(rule.body).parameters.values()
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def bound(rule: Rule, args: Any, kwargs: Any) -> dict[str, Any]:
    return inspect.signature(rule.body).bind(*args, **kwargs).arguments


def shares(call: Call, owner: numpy.ndarray[Any, Any]) -> bool:
    """True where `owner` is the memory of a plain array among the arguments."""
    return any(type(x) is numpy.ndarray and owner_of(x) is owner for x in leaves((call.args, call.kwargs)))
