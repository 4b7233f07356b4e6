"""Dicts and sets: tensors are hashed by what they are, NumPy's scalars by their value. So keys are NumPy's scalars here too."""

from __future__ import annotations

import collections
import collections.abc
import types
from collections.abc import Callable
from typing import Any

from . import operators
from .callables import is_users

_KEYED = ("get", "pop", "setdefault", "add", "discard", "remove", "move_to_end", "__contains__", "__getitem__",
          "__setitem__", "__delitem__")  # fmt: skip
"""Methods of dicts and sets whose first argument is hashed."""

_FILLED = ("update", "subtract", "union", "intersection", "difference", "symmetric_difference", "intersection_update", "difference_update",
           "symmetric_difference_update", "issubset", "issuperset", "isdisjoint")  # fmt: skip
"""Methods of sets (and of counters) that hash what their arguments hold."""

CONTAINERS = (dict, set, frozenset)
HASHED = (*CONTAINERS, collections.abc.KeysView)
"""What holds keys."""


def hashing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A builtin that hashes what it is given: scalars by their value."""
    return lambda *args, **kwargs: function(*map(_elements, args), **kwargs)


def _elements(a: Any) -> Any:
    """What a set is filled with: keys are hashed by their value already."""
    return a if isinstance(a, HASHED) else [operators.python(v) for v in operators.iterate(a)]


def pairing(function: Callable[..., Any]) -> Callable[..., Any]:
    """What takes pairs of a key and a value (`dict`, `d.update`): keys are scalars by their value."""

    def pairs(a: Any) -> Any:
        if hasattr(a, "keys") or a is None or callable(a):
            return a
        return [(operators.python(k), v) for k, v in map(operators.iterate, operators.iterate(a))]

    return lambda *args, **kwargs: function(*map(pairs, args), **kwargs)


def method_of(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """What a method of a dict or a set that hashes its arguments means for tensors; None for everything else."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(function, types.MethodDescriptorType) and function.__objclass__ in CONTAINERS:
        return lambda first, *rest, **named: operators.call(getattr(first, name), *rest, **named)
    if not isinstance(owner, CONTAINERS) and not (isinstance(owner, type) and issubclass(owner, CONTAINERS)):
        return None
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType) and is_users(function.__func__):
        return None
    if name == "fromkeys":
        return lambda keys, *value: function(_elements(keys), *value)
    if name in _KEYED:
        return lambda *args, **named: function(*map(operators.python, args[:1]), *args[1:], **named)
    if name in ("update", "subtract") and isinstance(owner, dict) and not isinstance(owner, collections.Counter):
        return pairing(function)
    return hashing(function) if name in _FILLED else None
