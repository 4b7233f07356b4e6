"""Index keys: what stands between the brackets of `a[...]`, read as NumPy reads it.

`parse` turns a key into items, one for each thing between the commas, checks what can be checked from shapes, and leaves
values alone: an index that is a tensor stays a tensor.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from .arrays import as_tensor, cast, holds_tensor, index_of, is_eager, is_scalar, is_size
from .table import Refused

INVALID = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"


@dataclass(frozen=True)
class Item:
    """One item of a key.

    kind    "new" (None), "rest" (`...`), "slice", "int" (a Python int), "array" (an int64 tensor or constant array),
            "mask" (a bool tensor of rank 1 or more), "flag" (a bool tensor of shape (1,), for a 0-d bool)
    value   the slice, int, tensor or constant
    dims    how many dimensions of the array it stands for
    mask    for what a mask became: the mask's shape and the axis of it that this is
    copies  True for an int that came in a 0-d array: what NumPy selects with it is a copy
    """

    kind: str
    value: Any
    dims: int
    mask: tuple[tuple[int, ...], int] | None = None
    copies: bool = False

    @property
    def advanced(self) -> bool:
        """True for what makes NumPy copy: index arrays and masks."""
        return self.kind in ("array", "mask", "flag")

    @property
    def mask_rank(self) -> int:
        """The rank of the mask that this is, or is a part of; 0 for others."""
        return len(self.mask[0]) if self.mask else self.dims if self.kind == "mask" else 0


def parse(key: Any, shape: tuple[int, ...]) -> list[Item]:
    """The items of `key` for an array of `shape`, which together stand for all its dimensions.

    Raises IndexError for what NumPy raises it: too many indices, a constant index out of bounds, a mask of another shape."""
    items: list[Item] = []
    for part in key if isinstance(key, tuple) else (key,):
        items.extend(_items(part))
    if sum(item.kind == "rest" for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(item.dims for item in items)
    if used > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed")
    left = len(shape) - used
    _demand_rank(items, left)
    if any(item.kind == "rest" for item in items):
        items = [Item("rest", ..., left) if item.kind == "rest" else item for item in items]
    else:
        items += [Item("slice", slice(None), 1)] * left
    _demand_few_arrays(items, shape)
    axis = 0
    empty = any(item.advanced and 0 in item.value.shape for item in items)  # then NumPy does not look at the index arrays
    for item in items:
        if not (empty and item.kind == "array" and not item.mask_rank):
            _check(item, axis, shape)
        axis += item.dims
    return items


def _items(part: Any) -> list[Item]:
    """A part of a key as items: one, or several where it is a constant mask (its positions are constants)."""
    if part is None:
        return [Item("new", None, 0)]
    if part is Ellipsis:
        return [Item("rest", ..., 0)]
    if isinstance(part, slice):
        return [Item("slice", _plain_slice(part), 1)]
    if hasattr(type(part), "__np2fx_tensor__"):  # b.flat
        part = part.__np2fx_tensor__()
    if isinstance(part, torch.Tensor):
        return _tensor_items(part)
    if isinstance(part, (bool, numpy.bool_)):
        return [Item("flag", numpy.flatnonzero([bool(part)]), 0)]
    if isinstance(part, (list, tuple)):
        return _sequence_items(part)
    if isinstance(part, numpy.ndarray):
        return _constant_items(part)
    try:
        return [Item("int", index_of(part), 1)]
    except TypeError:
        return _sequence_items(list(part) if isinstance(part, deque) else part)


def _plain_slice(s: slice) -> slice:
    """The slice with Python ints as bounds. Raises TypeError for what is no integer, ValueError for a step of 0."""
    try:
        start, stop, step = (None if b is None else whole(b) for b in (s.start, s.stop, s.step))
    except TypeError as error:
        if any(isinstance(b, (torch.Tensor, numpy.ndarray)) and b.ndim for b in (s.start, s.stop, s.step)):
            raise
        raise TypeError("slice indices must be integers or None or have an __index__ method") from error
    if step == 0:
        raise ValueError("slice step cannot be zero")
    return slice(start, stop, None if step == 1 else step)


def _tensor_items(part: torch.Tensor) -> list[Item]:
    if part.dtype == torch.bool:
        return [Item("flag", part.reshape(1), 0) if part.ndim == 0 else Item("mask", part, part.ndim)]
    if part.is_floating_point() or part.is_complex():
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if is_scalar(part) and is_eager(part):
        return [Item("int", int(part), 1)]  # a view, as of a Python int
    return [Item("array", cast(part, torch.int64), 1)]  # uint8 is a number here, not torch's old kind of mask


def _sequence_items(part: Any) -> list[Item]:
    """Anything else, of which NumPy makes an array: lists, ranges, buffers, objects with `__array__`, sequences of any class."""
    if any(isinstance(leaf, torch.Tensor) for leaf in _leaves(part)):
        return _tensor_items(as_tensor(part))
    if holds_tensor(list(getattr(part, "__dict__", {}).values())):
        raise Refused(f"a {type(part).__name__} that holds an array as an index", "index with the array that it holds", "opaque-call")
    array = numpy.asarray(part)
    if array.size == 0:
        array = array.astype(numpy.int64)  # `a[[]]` selects nothing; an empty float *array* is an error
    if array.dtype.kind not in "iub":
        raise IndexError(INVALID)
    return _constant_items(array)


def _leaves(part: Any) -> list[Any]:
    return [leaf for p in part for leaf in _leaves(p)] if isinstance(part, (list, tuple, deque)) else [part]


def _constant_items(array: numpy.ndarray[Any, Any]) -> list[Item]:
    if array.dtype.kind == "b" and array.ndim == 0:
        return [Item("flag", numpy.flatnonzero(array), 0)]
    if array.dtype.kind == "b":
        return [Item("array", positions, 1, (array.shape, axis)) for axis, positions in enumerate(numpy.nonzero(array))]
    if array.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if array.ndim == 0:
        return [Item("int", int(array), 1, copies=True)]
    return [Item("array", array.astype(numpy.int64), 1)]


def _check(item: Item, axis: int, shape: tuple[int, ...]) -> None:
    """Raise IndexError where a constant does not fit the axis, or a mask's shape the array's."""
    if item.mask_rank:
        sizes = (item.mask[0][item.mask[1]],) if item.mask else tuple(item.value.shape)
        for offset, size in enumerate(sizes):
            if size == 0 != shape[axis + offset]:
                message = f"a mask of no elements, which NumPy takes for an axis of {shape[axis + offset]}"
                raise Refused(message, "use a mask of the array's shape", "unsupported-argument")
            if size != shape[axis + offset]:
                raise IndexError(
                    f"boolean index did not match indexed array along axis {axis + offset}; size of axis is "
                    f"{shape[axis + offset]} but size of corresponding boolean axis is {size}"
                )
    elif is_size(item.value) or (item.dims and is_size(shape[axis])):
        return  # NumPy has looked at it for the sample, and torch does for all others
    elif item.kind == "int" or (item.kind == "array" and isinstance(item.value, numpy.ndarray)):
        values = numpy.asarray(item.value).reshape(-1)
        outside = values[(values < -shape[axis]) | (values >= shape[axis])]
        if outside.size:
            raise IndexError(f"index {outside[0]} is out of bounds for axis {axis} with size {shape[axis]}")


def _demand_rank(items: list[Item], left: int) -> None:
    """Raise IndexError where more axes would come out than NumPy has room for."""
    if len(items) < 2:
        return
    advanced = [item.value.ndim if not item.mask_rank else 1 for item in items if item.advanced]
    made = left + sum(item.kind in ("new", "slice") for item in items) + max(advanced, default=0)
    if made > 64:
        raise IndexError(f"number of dimensions must be within [0, 64], indexing result would have {made}")


def _demand_few_arrays(items: list[Item], shape: tuple[int, ...]) -> None:
    """Raise IndexError for more index arrays than NumPy takes, which are 63 where no more than one element is left beside them."""
    arrays = sum(max(item.mask_rank, 1) for item in items if item.advanced)
    if arrays > 64:
        why = "This probably means you are indexing with too many booleans."
        raise IndexError(f"too many advanced (array) indices. {why} (more than 64 found)")
    if arrays < 64:
        return
    axis, left = 0, 1
    for item in items:
        if item.kind == "slice":
            left *= len(range(*item.value.indices(shape[axis])))
        elif item.kind == "rest":
            left *= math.prod(shape[axis : axis + item.dims])
        axis += item.dims
    if left == 1:
        raise IndexError(f"when no subspace is given, the number of index arrays cannot be above 63, but {arrays} index arrays found")


def whole(x: Any) -> Any:
    """`operator.index(x)`. Raises TypeError, as NumPy does, for an array that has axes, and for NumPy's bools; torch takes one element
    for the number in it. A size of a graph stays what it is."""
    if is_size(x):
        return x
    if isinstance(x, torch.Tensor) and (x.ndim or x.dtype == torch.bool):
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    if isinstance(x, torch.Tensor) and x.dtype == torch.uint64 and is_eager(x):
        return operator.index(x.numpy()[()])  # torch's own number is one of int64
    return operator.index(x)


def is_full(s: slice) -> bool:
    """True for `:`."""
    return s == slice(None)


def forward(s: slice) -> tuple[slice, int]:
    """A slice with a negative step as (slice with step 1, step): flipped, and every step-th of it taken, the first is the second.

    It mentions no size: `a[s:e:-k]` is `flip(a[e+1:s+1])[::k]`, where -1 as a bound counts from the end like any other."""
    if s.stop == -1:
        return slice(0, 0), -s.step
    stop = None if s.start in (None, -1) else s.start + 1
    return slice(None if s.stop is None else s.stop + 1, stop), -s.step
