"""The short way of a call: arguments of kinds that a rule has met before go to the rule's body itself.

What stands around the body (NumPy asked whether it takes such arguments, results laid out in memory as NumPy's, `out=`) is decided by
the dtypes and shapes of arrays, by what their memory is like, and by the other arguments. What went the long way once need not go it again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable
from typing import Any

import numpy
import torch

from ..semantics.arrays import is_read_only, is_scalar
from ..semantics.asking import unasked
from ..semantics.table import Rule
from . import passing, world
from .scalars import scalar

_MANY = 20_000
_met: dict[Hashable, bool] = {}
"""Whether a call of these kinds may go the short way: one whose result the short way cannot hand out goes the long way from then on."""
_CONSTANTS = frozenset(
    (int, float, bool, str, type(None), type(...), type, *numpy.sctypeDict.values(), *(type(numpy.dtype(c)) for c in "?bhilBHILefdFD"))
)


@functools.cache
def _places(body: Callable[..., Any]) -> float:
    """How many arguments may be given by position before the one that is `out`."""
    names = list(inspect.signature(body).parameters)
    return names.index("out") if "out" in names else float("inf")


class _Unknown(Exception):
    """An argument of which more than its kind matters."""


def called(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], numpys: Callable[..., Any]) -> Any:
    """A rule called with NumPy's objects: the short way where it is known, else the long one (see `passing`)."""
    writes = rule.writes is not None or "out" in kwargs or len(args) > _places(rule.body)
    if writes or world.stops_at_errors() or passing.leaves_order_open(rule.body):
        return passing.through_rule(rule, args, kwargs, numpys)
    kinds: list[Hashable] = [numpys]
    given: list[Any] = []
    try:
        lowered = [_lower(a, kinds, given) for a in args]
        named = {k: _lower(v, kinds, given) for k, v in kwargs.items()} if kwargs else kwargs
        kinds.extend(kwargs)
        key = tuple(kinds)
        if _met.get(key):
            found = _lifted(unasked(rule.body, lowered, named), given, rule.kind == "reduction")
            if found is not None:
                return found
            _met[key] = False
    except _Unknown:
        return passing.through_rule(rule, args, kwargs, numpys)
    except Exception:  # the long way knows what NumPy says
        return passing.through_rule(rule, args, kwargs, numpys)
    made = passing.through_rule(rule, args, kwargs, numpys)
    if given:
        if len(_met) >= _MANY:
            _met.clear()
        _met.setdefault(key, True)
    return made


def _lower(x: Any, kinds: list[Hashable], given: list[Any]) -> Any:
    """An argument for the body; adds its kind, and arrays to `given`. Raises _Unknown."""
    kind = type(x)
    if kind is passing.ndarray:
        tensor = x._tensor
        if x._flipped or not tensor.ndim or not tensor.is_contiguous() or is_read_only(tensor):
            raise _Unknown
        kinds.append((tensor.dtype, tensor.shape))
        given.append(x)
        return tensor
    if kind in _CONSTANTS:
        kinds.append((kind, x))
        return x
    if (kind is list or kind is tuple) and len(x) < 9:
        kinds.append((kind, len(x)))
        return kind([_lower(i, kinds, given) for i in x])
    raise _Unknown


def _lifted(found: Any, given: list[Any], warns: bool) -> Any:
    """A result as NumPy's object; None where the long way has more to say of it."""
    if not isinstance(found, torch.Tensor):
        return found if type(found) in (int, float, bool) else None
    if is_scalar(found):
        made = scalar(found)
        return None if warns and made != made else made
    base = found._base
    if base is None:
        if not found.is_contiguous() or getattr(found, "_np2fx_lone_copy", False) or (warns and passing.holds_nan(found)):
            return next((x for x in given if x._tensor is found), None)
        for x in given:
            if x._tensor is found:
                return x
        return passing.ndarray._of(found)
    if getattr(base, "_np2fx_lone_copy", False):
        return None
    owner = next((x if x._base is None else x._base for x in given if x._tensor is base or x._tensor._base is base), None)
    return passing.ndarray._of(found, (), owner) if owner is not None or found.is_contiguous() else None
