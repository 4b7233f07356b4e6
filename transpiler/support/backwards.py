"""Views of arrays that torch has only as copies: what a function hands out of one lies in the caller's memory again, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from numpy.lib.stride_tricks import as_strided

Array = numpy.ndarray[Any, Any]


def on_memory_of(array: Array, copy: torch.Tensor, view: torch.Tensor) -> Array | None:
    """The view of `array` with the elements that `view` has of its `copy`; None where there is no such view."""
    if view.untyped_storage().data_ptr() != copy.untyped_storage().data_ptr() or view.dtype != copy.dtype or not view.numel():
        return None
    places = torch.arange(copy.untyped_storage().nbytes() // copy.itemsize)
    grid = _offsets(array.shape, array.strides)
    offsets = numpy.full(len(places), grid.max() + 1)  # what is no element of the copy
    offsets[_seen(places, copy)] = grid
    found, known = offsets[_seen(places, view)], grid.ravel()
    first = int(found.flat[0])
    corner = found[tuple(slice(0, 2) for _ in found.shape)]
    strides = tuple(int(numpy.take(corner, 1, axis).flat[0]) - first if n > 1 else array.itemsize for axis, n in enumerate(found.shape))
    if not numpy.array_equal(found - first, _offsets(found.shape, strides)) or found.max() > grid.max():
        return None
    start = numpy.unravel_index(int(numpy.argmax(known == first)), array.shape)
    return as_strided(array[tuple(slice(i, i + 1) for i in start)], found.shape, strides, writeable=array.flags.writeable)


def _seen(places: torch.Tensor, tensor: torch.Tensor) -> Array:
    """The places in memory of a tensor's elements."""
    return torch.as_strided(places, tensor.shape, tensor.stride(), tensor.storage_offset()).numpy()


def _offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """The distance in bytes of each element from the first."""
    total = numpy.zeros(shape, numpy.int64)
    for axis, (n, step) in enumerate(zip(shape, strides, strict=True)):
        total += (numpy.arange(n) * step).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return total
