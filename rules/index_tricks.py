"""Indices and grids: `r_`, `mgrid`, `ix_`, `tril_indices`, `unravel_index`, and loops over positions (`ndenumerate`, `nditer`).

Most are constants: they depend on Python numbers alone and are made by NumPy itself.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import as_tensor, cast, demand, dtype_of, holds_tensor, zero_d_array
from ..semantics.dtypes import promote
from ..semantics.entering import rule
from ..semantics.table import Refused, Rule, register
from ..semantics.vectorizing import vectorized
from ..semantics.views import giving_arrays
from .joining import concatenate
from .selection import nonzero
from .shape import flatten


def _constants(found):
    """Arrays that NumPy made as tensors, in tuples and alone."""
    return tuple(map(as_tensor, found)) if isinstance(found, tuple) else as_tensor(found)

def _of_shape(arr):
    """An array for NumPy functions that ask for nothing but the shape."""
    return numpy.broadcast_to(0, tuple(arr.shape))

@rule("numpy.diag_indices", kind="indices", examples=("np.diag_indices(3)", "np.diag_indices(2, ndim=3)"))
def diag_indices(n, ndim=2):
    return _constants(numpy.diag_indices(operator.index(n), operator.index(ndim)))

@rule("numpy.diag_indices_from", kind="indices", examples=("np.diag_indices_from(q)",))
def diag_indices_from(arr):
    return _constants(numpy.diag_indices_from(_of_shape(arr)))

@rule("numpy.tril_indices", kind="indices", examples=("np.tril_indices(3)", "np.tril_indices(3, -1, 4)"))
def tril_indices(n, k=0, m=None):
    return _constants(numpy.tril_indices(n, k, m))

@rule("numpy.triu_indices", kind="indices", examples=("np.triu_indices(3)", "np.triu_indices(3, 1, 4)"))
def triu_indices(n, k=0, m=None):
    return _constants(numpy.triu_indices(n, k, m))

@rule("numpy.tril_indices_from", kind="indices", examples=("np.tril_indices_from(m)", "np.tril_indices_from(m, k=1)"))
def tril_indices_from(arr, k=0):
    return _constants(numpy.tril_indices_from(_of_shape(arr), k))

@rule("numpy.triu_indices_from", kind="indices", examples=("np.triu_indices_from(m)", "np.triu_indices_from(m, k=1)"))
def triu_indices_from(arr, k=0):
    return _constants(numpy.triu_indices_from(_of_shape(arr), k))

@rule("numpy.mask_indices", kind="indices", examples=("np.mask_indices(3, np.triu, 1)",))
def mask_indices(n, mask_func, k=0):
    """Where `mask_func(ones((n, n)), k)` is not zero."""
    return nonzero(mask_func(torch.ones((n, n), dtype=torch.int64), k))

@rule("numpy.ix_", kind="indices", examples=("np.ix_([0, 1], [True, False])", "np.ix_(v)", "np.ix_(i, i)"))
def ix_(*args):
    """An open grid: each sequence along an axis of its own. A mask stands for the positions where it is true."""
    grid = []
    for axis, sequence in enumerate(args):
        empty = isinstance(sequence, (list, tuple, range)) and len(sequence) == 0
        line = as_tensor(sequence, torch.int64 if empty else None)
        if line.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if line.dtype == torch.bool:
            (line,) = torch.nonzero(line, as_tuple=True)
        grid.append(line[tuple(slice(None) if d == axis else None for d in range(len(args)))])
    return tuple(grid)

def _positions(x):
    """Integers as int64. Raises TypeError for others."""
    x = as_tensor(x)
    if x.is_floating_point() or x.is_complex():
        raise TypeError("only int indices permitted")
    return cast(x, torch.int64)

@rule("numpy.unravel_index", kind="indices", examples=("np.unravel_index([5, 3], (2, 3))", "np.unravel_index(4, (2, 3), order='F')"))
def unravel_index(indices, shape, order="C"):
    """The position of each flat index in an array of `shape`, axis by axis."""
    dims = tuple(map(operator.index, shape if isinstance(shape, (tuple, list)) else (shape,)))
    if not isinstance(indices, torch.Tensor):
        return _constants(numpy.unravel_index(indices, dims, order))
    left, size = _positions(indices), math.prod(dims)
    demand(torch.logical_and(left >= 0, left < size), ValueError(f"index is out of bounds for array with size {size}"))
    found = []
    for n in dims[::-1] if order == "C" else dims:
        found.append(torch.remainder(left, n))
        left = torch.div(left, n, rounding_mode="floor")
    return tuple(found[::-1] if order == "C" else found)

@rule("numpy.ravel_multi_index", kind="indices", examples=(
    "np.ravel_multi_index(([1, 0], [2, 1]), (2, 3))", "np.ravel_multi_index((i + 1, i + 1), (3, 4), order='F')",
    "np.ravel_multi_index(([9], [-9]), (2, 3), mode=('clip', 'wrap'))"))  # fmt: skip
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """The flat index of each position in an array of shape `dims`. Raises ValueError for a position outside ("raise")."""
    columns = torch.unbind(multi_index) if isinstance(multi_index, torch.Tensor) else multi_index
    if len(columns) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = [mode] * len(dims) if isinstance(mode, str) else mode
    axes = list(zip(map(_positions, columns), map(operator.index, dims), modes, strict=True))
    total, stride = 0, 1
    for place, n, how in axes[::-1] if order in (None, "C", "c") else axes:  # from the axis whose neighbours are neighbours in memory
        if how == "clip":
            place = torch.clamp(place, 0, n - 1)
        elif how == "wrap":
            place = torch.remainder(place, n)
        else:
            demand(torch.logical_and(place >= 0, place < n), ValueError("invalid entry in coordinates array"))
        total, stride = place * stride + total, stride * n
    return total

# r_, c_, s_, mgrid, ogrid

class Concatenator:
    """`numpy.r_` and `numpy.c_`: slices are ranges (an imaginary step counts the points), the rest is concatenated."""

    def __init__(self, axis: int, ndmin: int, trans1d: int, numpy_object: Any) -> None:
        self.settings, self.numpy = [axis, ndmin, trans1d], numpy_object

    def __getitem__(self, key: Any) -> Any:
        items = list(key) if isinstance(key, tuple) else [key]
        if not any(map(_computed, items)):
            return as_tensor(self.numpy[key])
        directive = items.pop(0) if isinstance(items[0], str) else ""
        if directive in ("r", "c"):
            raise Refused("numpy.r_ with 'r' or 'c' makes a matrix", "concatenate arrays", "unsupported-argument")
        numbers = [int(n) for n in directive.split(",")] if directive else []
        axis, ndmin, trans1d = numbers + self.settings[len(numbers) :]
        if any(isinstance(item, slice) and _computed(item) for item in items):
            raise Refused("the bounds of a range in numpy.r_ are computed from the inputs", "use Python numbers", "data-dependent-shape")
        parts = [as_tensor(numpy.r_[item]) if isinstance(item, slice) else item for item in items]
        dtype = promote(*map(dtype_of, parts))
        return concatenate([_at_least(as_tensor(part, dtype), ndmin, trans1d) for part in parts], axis)

def _computed(item: Any) -> bool:
    return holds_tensor((item.start, item.stop, item.step) if isinstance(item, slice) else item)

def _at_least(x: torch.Tensor, ndmin: int, trans1d: int) -> torch.Tensor:
    """`x` with at least `ndmin` axes; its own start at `trans1d` among them (-1: at the end)."""
    missing = ndmin - x.ndim
    if missing <= 0:
        return x
    new = x[(*(None,) * missing, ...)]
    if trans1d == -1 or x.ndim == 0:
        return new
    start = trans1d if trans1d >= 0 else trans1d + missing + 1
    return torch.movedim(new, tuple(range(missing, ndmin)), tuple(range(start, start + x.ndim)))

class Grid:
    """`numpy.mgrid` and `numpy.ogrid`: coordinates from slices, which are known when the graph is made."""

    def __init__(self, numpy_object: Any) -> None:
        self.numpy = numpy_object

    def __getitem__(self, key: Any) -> Any:
        if any(map(_computed, key if isinstance(key, tuple) else (key,))):
            raise Refused("the bounds of a grid are computed from the inputs", "use Python numbers", "data-dependent-shape")
        return _constants(self.numpy[key])

def _trick(name: str, made: Any) -> None:
    register(Rule((name,), made, made, "index-trick"))

_trick("numpy.r_", Concatenator(0, 1, -1, numpy.r_))
_trick("numpy.c_", Concatenator(-1, 2, 0, numpy.c_))
_trick("numpy.s_", numpy.s_)
_trick("numpy.index_exp", numpy.index_exp)
_trick("numpy.mgrid", Grid(numpy.mgrid))
_trick("numpy.ogrid", Grid(numpy.ogrid))

# Loops

@rule("numpy.ndindex", kind="iteration", examples=("list(np.ndindex(2, 3))",))
def ndindex(*shape):
    """All positions of an array of that shape, in C order: tuples of Python ints."""
    return numpy.ndindex(*shape)

@rule("numpy.ndenumerate", kind="iteration", examples=("list(np.ndenumerate(a))",))
def ndenumerate(arr):
    """Pairs of a position and the element there, in C order."""
    a = as_tensor(arr)
    return ((position, torch.clone(a[position])) for position in numpy.ndindex(*a.shape))

@rule("numpy.nditer", kind="iteration", examples=("[t * 2 for t in np.nditer(x)]", "[t * 2 for t in np.nditer(x, order='F')]"))
def nditer(op, flags=None, op_flags=None, op_dtypes=None, order="K", casting="safe", op_axes=None, itershape=None, buffersize=0):
    """The elements of one array, one after the other, as NumPy lays them out in memory ("K") or in C order. Read only."""
    if flags or op_dtypes or op_axes or itershape or isinstance(op, (list, tuple)) or op_flags not in (None, ["readonly"], [["readonly"]]):
        raise Refused("numpy.nditer with flags, several operands or writing", "loop over numpy.ndindex(x.shape), or use whole arrays")
    a = as_tensor(op)
    if a.numel() == 0:
        raise ValueError("Iteration of zero-sized operands is not enabled")
    return map(zero_d_array, torch.unbind(flatten(a, order)))

@rule("numpy.apply_along_axis", kind="iteration",
      examples=("np.apply_along_axis(lambda t: t[:1] * 2, 0, x)", "np.apply_along_axis(np.sum, -1, x)"))  # fmt: skip
@giving_arrays
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """`func1d` of every line along `axis`, whose results take the place of the axis. The first result's dtype is everyone's."""
    a = as_tensor(arr)
    axis = normalize_axis_index(operator.index(axis), a.ndim)
    lines = torch.movedim(a, axis, -1)
    outer = tuple(lines.shape[:-1])
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [as_tensor(func1d(lines[place], *args, **kwargs)) for place in numpy.ndindex(*outer)]
    first = results[0]
    stacked = torch.stack([cast(r, first.dtype) for r in results]).reshape(outer + tuple(first.shape))
    return torch.movedim(stacked, tuple(range(len(outer), stacked.ndim)), tuple(range(axis, axis + first.ndim)))

@rule("numpy.apply_over_axes", kind="iteration", examples=("np.apply_over_axes(np.max, x, [0, -1])",))
def apply_over_axes(func, a, axes):
    """`func(a, axis)` for one axis after the other; axes that it drops come back with size 1."""
    value = as_tensor(a)
    rank = value.ndim
    for axis in (axes,) if isinstance(axes, int) else axes:
        axis = axis + rank if axis < 0 else axis
        value = as_tensor(func(value, axis))
        value = torch.unsqueeze(value, axis) if value.ndim != rank else value
        if value.ndim != rank:
            raise ValueError("function is not returning an array of the correct shape")
    return value

@rule("numpy.vectorize", kind="iteration",
      examples=("np.vectorize(lambda s, t: s * t + 1)(f, 2)", "np.vectorize(lambda s: s * 2, otypes=[complex])(z)"))  # fmt: skip
def vectorize(pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
    """A function that calls `pyfunc` for every element of its broadcast arguments, handed over as Python numbers.

    What it makes of the first elements, as NumPy scalars, gives the dtype. In a graph, and where there is a gradient, they are
    0-d tensors of int64, float64 or complex128."""
    return vectorized(pyfunc, otypes, cache, excluded, signature)
