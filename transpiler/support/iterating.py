"""What Python iterates itself (`for`, targets to unpack into, `l.extend(x)`): elements of an array are copies in NumPy, views in torch."""

from __future__ import annotations

import collections
import functools
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from ..codemod.unpacking import ITERATING
from ..semantics.arrays import as_tensor, is_scalar, read_only
from . import operators, user_code
from .errors import Hearing
from .passage import own_steps


def iterate(a: Any) -> Any:
    """What a `for` runs over: the rows of an array (scalars, copied, where it is 1-D)."""
    if isinstance(a, numpy.ndarray):
        a = operators._tensor(a)
    if not isinstance(a, torch.Tensor):
        return user_code.iterate(a)
    if a.ndim == 0:
        raise TypeError(f"'{operators.shown_type(a)}' object is not iterable" if is_scalar(a) else "iteration over a 0-d array")
    return _rows(a)


def _rows(a: torch.Tensor, backwards: bool = False) -> Iterator[torch.Tensor]:
    for i in range(a.shape[0])[:: -1 if backwards else 1]:
        yield a[i].clone() if a.ndim == 1 else read_only(a[i]) if getattr(a, "_np2fx_read_only", False) else a[i]


own_steps.add(_rows.__code__)


def backwards(values: Any) -> Any:
    """`reversed(values)`."""
    if not isinstance(values, (torch.Tensor, numpy.ndarray)):
        return reversed(values)
    if values.ndim == 0:
        raise TypeError("len() of unsized object")
    return _rows(operators._tensor(values), backwards=True)  # an array that an object holds, on its own memory


def elements(a: Any) -> Any:
    """What a builtin iterates over or, where it is no array with a dimension, takes as it is."""
    return iterate(a) if isinstance(a, (torch.Tensor, numpy.ndarray)) and a.ndim else operators._plain(a)


def over(function: Callable[..., Any]) -> Callable[..., Any]:
    """A builtin that iterates over what it is given."""
    return lambda *args, **kwargs: function(*map(elements, args), **kwargs)


def spread(value: Any, pattern: tuple[Any, ...]) -> Any:
    """A value that is unpacked into a target, and what is unpacked of it in turn.

    `pattern` is the form of the target: `a, (b, *c)` is `(0, (0, [0]))`."""
    if isinstance(value, (torch.Tensor, numpy.generic)) and is_scalar(as_tensor(value)):
        raise TypeError(f"cannot unpack non-iterable {operators.shown_type(value)} object")
    items = iterate(value)
    star = next((i for i, part in enumerate(pattern) if isinstance(part, list)), None)
    nested = any(part and part != [0] for part in pattern)
    if not nested or not (hasattr(type(items), "__iter__") or hasattr(type(items), "__getitem__")):
        return items
    if star is None:
        return map(_part, itertools.chain(pattern, itertools.repeat(0)), items)
    items = list(items)
    end = len(items) - (len(pattern) - star - 1)
    if end < star:
        return items  # too few of them, as Python says
    rest, inner = items[star:end], pattern[star][0]
    return [*map(_part, pattern, items[:star]), *_part(inner, rest), *map(_part, pattern[star + 1 :], items[end:])]


def _part(pattern: Any, value: Any) -> Any:
    return spread(value, pattern) if pattern else value


def each(values: Any, pattern: tuple[Any, ...]) -> Any:
    """What a `for` with a target to unpack into runs over."""
    return map(functools.partial(_part, pattern), iterate(values))


class _Spread:
    """A context whose value is unpacked: `with a as (b, c)`."""

    def __init__(self, held: Any, pattern: tuple[Any, ...]) -> None:
        self.held, self.pattern = held, pattern

    def __enter__(self) -> Any:
        return spread(self.held.__enter__(), self.pattern)

    def __exit__(self, *error: Any) -> Any:
        return self.held.__exit__(*error)


def entering(a: Any, pattern: tuple[Any, ...] | None = None) -> Any:
    """`with a:` and, with the form of a target to unpack into, `with a as (b, c):`"""
    held = Hearing(user_code.entering(a))
    return held if pattern is None else _Spread(held, pattern)


def filling(function: Any) -> Callable[..., Any] | None:
    """What a method that fills a list or a deque means for tensors; None for everything else."""
    if getattr(function, "__name__", "") not in ITERATING:
        return None
    kinds = (list, collections.deque)
    if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return over(function) if function.__objclass__ in kinds else None
    own = isinstance(function, (types.BuiltinMethodType, types.MethodWrapperType)) and isinstance(function.__self__, kinds)
    return over(function) if own else None


def reduced(function: Any, values: Any, *initial: Any) -> Any:
    """`functools.reduce`."""
    return functools.reduce(function, iterate(values), *initial)


def chained(values: Any) -> Iterator[Any]:
    """`itertools.chain.from_iterable`."""
    return itertools.chain.from_iterable(map(iterate, iterate(values)))


class _Compared:
    """A key of `itertools.groupby`, compared by NumPy's `==`."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, _Compared)
        return operators._is_true(operators.__getattr__("equal")(self.held, other.held))


def _grouped(values: Any, key: Any = None) -> Iterator[tuple[Any, Any]]:
    """`itertools.groupby`."""
    for found, group in itertools.groupby(elements(values), lambda value: _Compared(value if key is None else key(value))):
        yield found.held, group


def _counted(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    """`itertools.count`."""
    while True:
        yield start
        start = operators.__getattr__("add")(start, step)


def _repeated(value: Any, *times: Any, **named: Any) -> Any:
    """`itertools.repeat`, which does not iterate over the value."""
    return itertools.repeat(value, *map(operators._plain, (*times, *named.values())))


def _filled(values: Any = (), maxlen: Any = None) -> Any:
    """`collections.deque`."""
    return collections.deque(elements(values), operators._plain(maxlen))


def _pairs(function: Any, values: Any) -> Any:
    """`itertools.starmap`."""
    return itertools.starmap(function, map(iterate, elements(values)))


ITERATORS: dict[Any, Callable[..., Any]] = {
    itertools.groupby: _grouped, itertools.count: _counted, itertools.repeat: _repeated, itertools.starmap: _pairs,
    collections.deque: _filled,
    **{f: over(f) for f in (itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.pairwise, itertools.cycle,
                            itertools.compress, itertools.combinations, itertools.permutations, itertools.combinations_with_replacement)},
}  # fmt: skip
"""What the standard library iterates over, beside the builtins."""
