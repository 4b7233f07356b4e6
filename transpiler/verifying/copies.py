"""Copies of arguments for a call, as NumPy or torch takes them: the same values in the same layout of memory for every side.

Whether `x.ravel()` is a view hangs on how `x` lies in memory. A layout is kept as far as a tensor can have it: the order of the axes, and
where there are gaps between elements. A reversed axis runs forwards, and an axis that repeats one element holds it many times.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..pipeline.spec import DTYPES

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


def copied(arguments: Mapping[str, Any], as_tensors: bool = False, scalars: bool = True) -> dict[str, Any]:
    """A copy of arguments by name. One array is one array, however often it is passed.

    as_tensors  arrays that torch can hold become tensors
    scalars     NumPy's scalars stay what they are; else they become tensors, too"""
    memo: dict[int, Any] = {}
    for leaf in _leaves(arguments):
        if isinstance(leaf, np.ndarray) and (as_tensors or type(leaf) is np.ndarray) and leaf.dtype.name in DTYPES and leaf.dtype.isnative:
            made = laid_out(leaf, layout_of(leaf))
            memo[id(leaf)] = torch.from_numpy(made) if as_tensors else made
        elif isinstance(leaf, torch.Tensor) and as_tensors:
            memo[id(leaf)] = leaf.detach().clone()
    if not as_tensors or scalars:
        return copy.deepcopy(dict(arguments), memo)
    return {name: copy.deepcopy(_without_scalars(value), memo) for name, value in arguments.items()}


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
