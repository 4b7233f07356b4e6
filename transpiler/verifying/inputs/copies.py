"""Copies of arguments for a call, as NumPy or torch takes them: the same values in the same layout of memory for every side.

Whether `x.ravel()` is a view hangs on how `x` lies in memory. A layout is kept as far as a tensor can have it: the order of the axes, and
where there are gaps between elements. A reversed axis runs forwards, and an axis that repeats one element holds it many times.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ...pipeline.spec import DTYPES

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Layout:
    """How the elements of an array lie in memory.

    order  its axes, from the one with the farthest elements to the one with the nearest
    steps  for each of these axes: 2 where there are gaps between its elements, else 1"""

    order: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def back(self) -> tuple[int, ...]:
        """Where each axis stands in `order`."""
        return tuple(self.order.index(axis) for axis in range(len(self.order)))

    @property
    def gaps(self) -> tuple[slice, ...]:
        return tuple(slice(None, None, None if step == 1 else step) for step in self.steps)


def layout_of(x: Array) -> Layout | None:
    """The layout of an array; None for that which NumPy gives by itself, rows after rows."""
    if x.flags.c_contiguous or any(stride == 0 and size > 1 for stride, size in zip(x.strides, x.shape, strict=True)):
        return None
    long = [axis for axis in range(x.ndim) if x.shape[axis] > 1]
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]) if axis in long else -_outside(x, axis, long))
    steps, room = [1] * x.ndim, x.itemsize
    for place in reversed(range(x.ndim)):
        axis = order[place]
        if axis in long:
            steps[place] = 2 if abs(x.strides[axis]) > room else 1
            room = abs(x.strides[axis]) * x.shape[axis]
    found = Layout(tuple(order), tuple(steps))
    return None if found == Layout(tuple(range(x.ndim)), (1,) * x.ndim) else found


def _outside(x: Array, axis: int, long: list[int]) -> int:
    """A stride for an axis of one element, which has none to speak of: it stays before the axes that follow it."""
    return max((abs(x.strides[other]) for other in long if other > axis), default=0)


def laid_out(values: Array, layout: Layout | None) -> Array:
    """A new array of these values in a layout; as the rows come where it is for another rank."""
    if layout is None or len(layout.order) != values.ndim:
        return np.array(values, order="C")
    around = np.zeros([values.shape[axis] * step for axis, step in zip(layout.order, layout.steps, strict=True)], values.dtype)
    made = around[layout.gaps].transpose(layout.back)
    made[...] = values
    return made


def copied(arguments: Mapping[str, Any], as_tensors: bool = False, scalars: bool = True, exactly: bool = False) -> dict[str, Any]:
    """A copy of arguments by name. One array is one array, however often it is passed, and arrays on one memory are so again.

    as_tensors  arrays that torch can hold become tensors
    scalars     NumPy's scalars stay what they are; else they become tensors, too
    exactly     arrays lie in memory as these do, in a way that no tensor can, too: backwards, repeated, read-only"""
    if all(map(_is_plain, arguments.values())) and len(set(map(id, arguments.values()))) == len(arguments):  # nearly always
        return {name: torch.from_numpy(x.copy()) if as_tensors else x.copy() for name, x in arguments.items()}
    memo: dict[int, Any] = {}
    arrays: dict[int, Array] = {}
    for leaf in _leaves(arguments):
        if isinstance(leaf, np.ndarray) and (as_tensors or type(leaf) is np.ndarray) and leaf.dtype.name in DTYPES and leaf.dtype.isnative:
            arrays[id(leaf)] = leaf
        elif isinstance(leaf, torch.Tensor) and as_tensors:
            memo[id(leaf)] = leaf.detach().clone()
    for group in _on_one_memory(list(arrays.values())):
        together = exactly or (len(group) > 1 and all(stride >= 0 for x in group for stride in x.strides))
        made = _lying_alike(group, exactly) if together else [laid_out(x, layout_of(x)) for x in group]
        memo.update({id(x): torch.from_numpy(m) if as_tensors else m for x, m in zip(group, made, strict=True)})
    if not as_tensors or scalars:
        return copy.deepcopy(dict(arguments), memo)
    return {name: copy.deepcopy(_without_scalars(value), memo) for name, value in arguments.items()}


def _is_plain(x: Any) -> bool:
    """Whether an argument is an array on memory of its own, row after row."""
    return type(x) is np.ndarray and x.base is None and x.flags.c_contiguous and x.flags.writeable and _is_torchs(x.dtype)


_is_torchs = functools.lru_cache(maxsize=64)(lambda dtype: dtype.name in DTYPES and dtype.isnative)


def lies_plainly(arguments: Mapping[str, Any]) -> bool:
    """Whether no array among the arguments lies in memory in a way that a tensor cannot: backwards, repeated, read-only."""
    arrays = [x for x in _leaves(arguments) if isinstance(x, np.ndarray)]
    return all(x.flags.writeable and (x.flags.c_contiguous or all(stride > 0 for stride in x.strides)) for x in arrays)


def _on_one_memory(arrays: list[Array]) -> list[list[Array]]:
    """The arrays, those together that lie on the same bytes."""
    if len(arrays) < 2 or sum(x.base is None for x in arrays) == len(arrays):  # each has memory of its own
        return [[x] for x in arrays]
    groups: list[list[Array]] = []
    end = 0
    for low, high, x in sorted(((*span_of(x), x) for x in arrays), key=lambda placed: placed[:2]):
        if groups and low < end:
            groups[-1].append(x)
        else:
            groups.append([x])
        end = max(end, high)
    return groups


def span_of(x: Array) -> tuple[int, int]:
    """The addresses of an array's first byte and of the one behind its last."""
    at = x.__array_interface__["data"][0]
    if x.size == 0:
        return at, at
    reach = [(size - 1) * stride for size, stride in zip(x.shape, x.strides, strict=True)]
    return at + sum(r for r in reach if r < 0), at + sum(r for r in reach if r > 0) + x.itemsize


def _lying_alike(group: list[Array], exactly: bool) -> list[Array]:
    """Copies of arrays that share memory, which share theirs in the same way."""
    if len(group) == 1 and group[0].flags.c_contiguous and group[0].flags.writeable:
        return [np.array(group[0], order="C")]
    low, high = min(span_of(x)[0] for x in group), max(span_of(x)[1] for x in group)
    around = np.zeros(high - low + _LINE, np.uint8)
    shift = (low - around.__array_interface__["data"][0]) % _LINE  # aligned as they are
    made = [
        np.ndarray(x.shape, x.dtype, around, x.__array_interface__["data"][0] - low + shift if x.size else 0, x.strides) for x in group
    ]
    for x, m in zip(group, made, strict=True):
        if any(stride == 0 for stride in m.strides):  # elements that are written several times: once will do
            first = tuple(slice(0, 1) if stride == 0 and size > 1 else slice(None) for stride, size in zip(x.strides, x.shape, strict=True))
            m[first] = x[first]
        else:
            m[...] = x
        m.flags.writeable = x.flags.writeable or not exactly
    return made


_LINE = 64
"""Bytes: no array's alignment is coarser."""


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        yield value
        return
    for item in value:
        yield from _leaves(item)


def _without_scalars(value: Any) -> Any:
    """A value with 0-d tensors in place of NumPy's scalars, in new containers."""
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return torch.from_numpy(np.array(value))
    if isinstance(value, Mapping):
        return {key: _without_scalars(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_without_scalars, value))
    return type(value)(map(_without_scalars, value)) if type(value) in (list, tuple) else value
