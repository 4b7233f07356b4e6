"""The manners in which one argument can be passed: all that its spec admits, not only arrays that lie row after row.

A spec of rank 0 admits arrays and NumPy's scalars, `int` and `float` admit NumPy's scalars of that kind, and every array may lie in
memory in any way: by columns, with gaps, backwards, repeated, read-only, on the memory of another argument, or be another argument.
What a caller of the project passes (a list, a Python number) is admitted as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]
Arguments = Mapping[str, Any]
Manner = Callable[[Arguments], Arguments]
"""Gives the same arguments in another manner."""


def plain(arguments: Arguments) -> Arguments:
    return arguments


def manners_for(
    sample: Arguments, scalars: frozenset[str], passed: Mapping[str, frozenset[str]], ranks: Mapping[str, str]
) -> tuple[Manner, ...]:
    """The manners other than the plain one that change something about arguments of the kinds of a sample.

    scalars  the parameters that are declared as of rank 0, or as a Python int or float
    passed   by parameter, what callers of the project pass for it: "list", "tuple", "number"
    ranks    the parameters that may have other ranks: "any", or "more" """
    found: list[Manner] = []
    if passed:
        found.append(lambda given: as_passed(given, passed))
    if scalars:
        found.append(lambda given: as_scalars(given, scalars))
    if ranks:
        found += [lambda given: of_more_axes(given, ranks), lambda given: of_fewer_axes(given, ranks)]
    arrays = [x for x in _ends(sample) if isinstance(x, np.ndarray)]
    long = [x for x in arrays if x.ndim and x.dtype.name != "object"]
    if any(x.ndim > 1 for x in long):
        found.append(by_columns)
    if long:
        found += [with_gaps, backwards, repeated]
    if arrays:
        found.append(read_only)
    kinds = [(x.dtype, x.shape) for x in long]
    if len(set(kinds)) < len(kinds):
        found += [one_object, one_memory]
    return tuple(found)


def _ends(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _ends(item)
    else:
        yield value


def _each(value: Any, turn: Callable[[Array], Any]) -> Any:
    """A value with its arrays turned into others, in new containers. One array is turned once."""
    turned: dict[int, Any] = {}

    def made(x: Any) -> Any:
        if type(x) is np.ndarray:
            if id(x) not in turned:
                turned[id(x)] = turn(x)
            return turned[id(x)]
        if type(x) is dict:
            return {key: made(item) for key, item in x.items()}
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(made, x))
        return type(x)(map(made, x)) if type(x) in (list, tuple) else x

    return made(value)


def apart(value: Any) -> Any:
    """The same values in arrays that lie row after row, each on memory of its own."""
    if isinstance(value, np.ndarray):
        return np.array(value, order="C")
    if type(value) is dict:
        return {key: apart(item) for key, item in value.items()}
    return type(value)(map(apart, value)) if type(value) in (list, tuple) else value


def by_columns(given: Arguments) -> Arguments:
    """The first axis is the one whose elements lie side by side."""
    return _each(dict(given), lambda x: np.array(x, order="F"))


def with_gaps(given: Arguments) -> Arguments:
    """Every second element of an array along its last axis, every second row."""

    def turn(x: Array) -> Array:
        if not x.ndim:
            return x
        step = tuple(slice(None, None, 2) if axis in (0, x.ndim - 1) else slice(None) for axis in range(x.ndim))
        around = np.zeros([size * 2 if axis in (0, x.ndim - 1) else size for axis, size in enumerate(x.shape)], x.dtype)
        around[step] = x
        return around[step]

    return _each(dict(given), turn)


def backwards(given: Arguments) -> Arguments:
    """Axes that run through memory from its end."""

    def turn(x: Array) -> Array:
        return np.ascontiguousarray(x[::-1])[::-1] if x.ndim else x

    return _each(dict(given), turn)


def repeated(given: Arguments) -> Arguments:
    """Along the first axis there is one element (row), seen again and again."""

    def turn(x: Array) -> Array:
        return np.broadcast_to(x[:1].copy(), x.shape) if x.ndim and x.shape[0] > 1 else x

    return _each(dict(given), turn)


def read_only(given: Arguments) -> Arguments:
    def turn(x: Array) -> Array:
        made = x.copy()
        made.flags.writeable = False
        return made

    return _each(dict(given), turn)


def _in_groups(given: Arguments) -> dict[int, list[Array]]:
    """The arrays that could be one, by the first of each."""
    kinds: dict[Any, list[Array]] = {}
    for x in {id(x): x for x in _ends(given) if type(x) is np.ndarray and x.ndim}.values():
        kinds.setdefault((x.dtype, x.shape), []).append(x)
    return {id(x): group for group in kinds.values() for x in group if len(group) > 1}


def one_object(given: Arguments) -> Arguments:
    """One array for all parameters whose arrays are of the same dtype and sizes."""
    groups = _in_groups(given)
    return _each(dict(given), lambda x: groups[id(x)][0] if id(x) in groups else x)


def one_memory(given: Arguments) -> Arguments:
    """Arrays of the same dtype and sizes lie on one memory, each an element further on."""
    groups = _in_groups(given)
    made: dict[int, Array] = {}
    for group in {id(group): group for group in groups.values()}.values():
        around = np.zeros(group[0].size + len(group) - 1, group[0].dtype)
        for start, x in enumerate(group):
            made[id(x)] = around[start : start + x.size].reshape(x.shape)
            made[id(x)][...] = x
    return _each(dict(given), lambda x: made.get(id(x), x))


def of_more_axes(given: Arguments, ranks: Mapping[str, str]) -> Arguments:
    """Arrays of free rank with one axis more."""
    return {name: np.stack([x, x]) if ranks.get(name) and type(x) is np.ndarray else x for name, x in given.items()}


def of_fewer_axes(given: Arguments, ranks: Mapping[str, str]) -> Arguments:
    """Arrays of any rank with one axis less: one of rank 1 becomes a 0-d array."""

    def turned(x: Any) -> Any:
        return x[0].copy() if type(x) is np.ndarray and x.ndim > 1 and len(x) else np.array(x[0]) if type(x) is np.ndarray and x.size else x

    return {name: turned(x) if ranks.get(name) == "any" and np.ndim(x) else x for name, x in given.items()}


def as_scalars(given: Arguments, parameters: frozenset[str]) -> Arguments:
    """NumPy's scalars in place of 0-d arrays and of Python numbers."""

    def turned(value: Any) -> Any:
        if type(value) is np.ndarray and value.ndim == 0:
            return value[()]
        if type(value) is int and abs(value) < 2**63:
            return np.int64(value)
        return np.float64(value) if type(value) is float else value

    return {name: turned(value) if name in parameters else value for name, value in given.items()}


def as_passed(given: Arguments, passed: Mapping[str, frozenset[str]]) -> Arguments:
    """Lists, tuples and Python numbers in place of arrays, where callers of the project pass such."""

    def turned(value: Any, ways: frozenset[str]) -> Any:
        if not isinstance(value, (np.ndarray, np.generic)):
            return value
        if value.ndim == 0:
            return value.item() if "number" in ways else value
        listed = value.tolist()
        return listed if "list" in ways else tuple(listed) if "tuple" in ways else value

    return {name: turned(value, passed.get(name, frozenset())) for name, value in given.items()}


def of_one_kind(a: Any, b: Any) -> bool:
    """Whether two arguments are of one kind: what a graph that was traced with one takes for the other."""
    if isinstance(a, (np.ndarray, np.generic, torch.Tensor)):
        return type(a) is type(b) and a.dtype == b.dtype and a.ndim == b.ndim
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and a.keys() == b.keys() and all(of_one_kind(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(of_one_kind, a, b))
    return type(a) is type(b)
