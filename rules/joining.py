"""Joining and splitting arrays, inserting and deleting elements.

Everything joined is brought to NumPy's common dtype first. Splits are views; positions to split, insert and delete at
decide shapes, so they are Python ints known when a call is traced.
"""

from __future__ import annotations

import operator
from collections import deque

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import as_tensor, beside, cast, demand, is_recording, is_weak, known, result_type
from ..semantics.axes import on_axis
from ..semantics.dtypes import can_cast, promote, to_numpy, to_torch
from ..semantics.entering import rule
from ..semantics.indexing import incoming_value
from ..semantics.views import gather, giving_arrays, numpys_errors, owned
from .shape import at_least


def alike(arrays):
    """True for a list or tuple of tensors of one dtype and one rank above 0, which torch joins as NumPy does."""
    if not isinstance(arrays, (list, tuple)) or not arrays or not all(isinstance(a, torch.Tensor) for a in arrays):
        return False
    return arrays[0].ndim > 0 and all(a.dtype == arrays[0].dtype and a.ndim == arrays[0].ndim for a in arrays)

def scalars(arrays):
    """True for a list or tuple of 0-d tensors of one dtype, which torch stacks as NumPy makes an array of them."""
    if not isinstance(arrays, (list, tuple)) or not arrays or not all(isinstance(a, torch.Tensor) for a in arrays):
        return False
    return arrays[0].ndim == 0 and all(a.dtype == arrays[0].dtype and a.ndim == 0 for a in arrays)

def common(arrays, dtype=None, casting="same_kind"):
    """The arrays of a sequence (of an array: its rows) on one device, in `dtype` or in the one that NumPy promotes them to."""
    arrays = torch.unbind(arrays) if isinstance(arrays, torch.Tensor) and arrays.ndim else arrays
    if not isinstance(arrays, (list, tuple, deque, numpy.ndarray)):
        raise TypeError(f"arrays to join must be passed as a sequence, but got {type(arrays).__name__}")
    parts = [as_tensor(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to join")
    target = promote(*(p.dtype for p in parts)) if dtype is None else to_torch(dtype)
    for a, p in zip(arrays, parts, strict=True):
        if not can_cast(p.dtype, target, "unsafe" if is_weak(a) else casting):
            raise TypeError(f"Cannot cast array data from {to_numpy(p.dtype)!r} to {to_numpy(target)!r} according to the rule {casting!r}")
    first = next((a for a in arrays if isinstance(a, torch.Tensor)), parts[0])
    return [cast(beside(first, p), target) for p in parts]

@numpys_errors
def _join(parts, axis):
    """torch.cat, which would skip empty 1-D tensors, with NumPy's errors."""
    rank = parts[0].ndim
    axis = normalize_axis_index(axis, rank) if rank else 0
    if rank == 0 or any(p.ndim != rank for p in parts):
        raise ValueError("arrays to join must have the same number of dimensions, and not zero")
    return torch.cat(parts, dim=axis)

@rule("numpy.concatenate", "numpy.concat", kind="joining",
      examples=("np.concatenate((x, y))", "np.concatenate([x, y], axis=-1)", "np.concatenate((v, a), axis=None)",
                "np.concatenate((x, k), axis=0)", "np.concatenate((f, g), dtype=np.float32)"))  # fmt: skip
@numpys_errors
def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """In the dtype that NumPy promotes all to. `axis=None` flattens first."""
    if dtype is None and casting == "same_kind" and axis == 0 and alike(arrays):
        return torch.cat(arrays)
    if dtype is None and casting == "same_kind" and axis is not None and alike(arrays):
        return torch.cat(arrays, dim=axis)
    if axis is not None:
        return _join(common(arrays, dtype, casting), axis)
    weakly = result_type(*arrays) if dtype is None and isinstance(arrays, (list, tuple)) else dtype  # numbers among them are weak here
    return torch.cat([torch.flatten(p) for p in common(arrays, weakly, casting)])

@rule("numpy.stack", kind="joining",
      examples=("np.stack((x, y))", "np.stack([x, y], axis=-1)", "np.stack([v, w, v], 1)", "np.stack((x, k))"))  # fmt: skip
@numpys_errors
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Raises ValueError where the shapes differ."""
    if dtype is None and casting == "same_kind" and axis == 0 and alike(arrays):
        return torch.stack(arrays)
    if dtype is None and casting == "same_kind" and alike(arrays):
        return torch.stack(arrays, dim=axis)
    return torch.stack(common(arrays, dtype, casting), dim=axis)

@rule("numpy.vstack", "numpy.row_stack", kind="joining", examples=("np.vstack((x, y))", "np.vstack([v, w])", "np.vstack((v, k))"))
@numpys_errors
def vstack(tup, *, dtype=None, casting="same_kind"):
    """0-d and 1-D arrays are rows."""
    if dtype is None and casting == "same_kind" and alike(tup):
        return torch.vstack(tup)
    return torch.vstack(common(tup, dtype, casting))

@rule("numpy.hstack", kind="joining", examples=("np.hstack((x, y))", "np.hstack([v, w])", "np.hstack((a, b))"))
@numpys_errors
def hstack(tup, *, dtype=None, casting="same_kind"):
    """Along the second axis, 1-D arrays along their only one."""
    if dtype is None and casting == "same_kind" and alike(tup):
        return torch.hstack(tup)
    parts = torch.atleast_1d(common(tup, dtype, casting))
    return _join(parts, 0 if parts[0].ndim == 1 else 1)

@rule("numpy.dstack", kind="joining", examples=("np.dstack((x, y))", "np.dstack([v, w])"))
@numpys_errors
def dstack(tup):
    if alike(tup):
        return torch.dstack(tup)
    return torch.dstack(common(tup))

@rule("numpy.column_stack", kind="joining", examples=("np.column_stack((x, y))", "np.column_stack([v, w])", "np.column_stack((a, b))"))
@numpys_errors
def column_stack(tup):
    """0-d and 1-D arrays are columns."""
    if alike(tup):
        return torch.column_stack(tup)
    return torch.column_stack(common(tup))

@rule("numpy.block", kind="joining", examples=("np.block([[m, m], [m, m]])", "np.block([v, w])", "np.block(a)", "np.block([[v], [v]])"))
@giving_arrays
def block(arrays):
    """Nested lists of blocks: the innermost lists are joined along the last axis, those around them along the one before."""
    depth, leaves = _depth(arrays), common(_leaves(arrays))
    rank = max(depth, *(p.ndim for p in leaves))
    blocks = (torch.reshape(p, (1,) * (rank - p.ndim) + tuple(p.shape)) for p in leaves)
    return _join_blocks(arrays, blocks, rank - depth) if depth else torch.clone(leaves[0])

def _depth(arrays):
    """How deep the lists are nested. Raises ValueError where that differs or a list is empty, TypeError for tuples."""
    if isinstance(arrays, tuple):
        raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks")
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(item) for item in arrays}
    if len(depths) != 1:
        raise ValueError("lists of blocks must be nested equally deep and cannot be empty")
    return 1 + depths.pop()

def _leaves(arrays):
    return [leaf for item in arrays for leaf in _leaves(item)] if isinstance(arrays, list) else [arrays]

def _join_blocks(arrays, blocks, axis):
    """The lists `arrays` joined along `axis`, inner lists along the next; `blocks` gives what stands for each leaf."""
    return _join([_join_blocks(item, blocks, axis + 1) for item in arrays], axis) if isinstance(arrays, list) else next(blocks)

@rule("numpy.append", kind="joining", examples=("np.append(a, b)", "np.append(x, y, axis=0)", "np.append(v, 3)"))
def append(arr, values, axis=None):
    """Without `axis` both are flattened."""
    if axis is None and isinstance(arr, torch.Tensor) and isinstance(values, torch.Tensor) and arr.dtype == values.dtype and arr.ndim == 1:
        return _appended(arr, values)
    return concatenate((as_tensor(arr), as_tensor(values)), axis)

def _appended(arr, values):
    """An array, or a scalar, put behind an array with one axis."""
    if values.ndim == 1:
        return torch.cat([arr, values])
    return torch.cat([arr, torch.reshape(values, (-1,))])

@rule("numpy.insert", kind="joining",
      examples=("np.insert(v, 0, 5)", "np.insert(m, 1, 7, axis=0)", "np.insert(x, [0, 1], 2, axis=-1)", "np.insert(v, slice(0, 2), 1)",
                "np.insert(v, [0], w)", "np.insert(a, 0, 1)"))  # fmt: skip
def insert(arr, obj, values, axis=None):
    """`values` before the elements at `obj`, cast to the dtype of `arr`. Where to insert must be known when tracing."""
    a, axis = on_axis(arr, axis)
    n = a.shape[axis]
    where, new = _positions(obj, n), incoming_value(a, values)
    if where.ndim > 1 or not _is_single(where):
        both = torch.cat([a, _spread(new, a, axis, where.size)], axis)
        return gather(both, axis, numpy.insert(numpy.arange(n), where, n + numpy.arange(where.size)))  # raises what NumPy raises
    at = _counted(where.item(), n, n, axis)
    new = torch.reshape(new, (1,) * (a.ndim - new.ndim) + tuple(new.shape))
    if where.ndim == 0:
        new = torch.movedim(new, 0, axis)
    new = _spread(new, a, axis, new.shape[axis])
    return torch.cat([torch.narrow(a, axis, 0, at), new, torch.narrow(a, axis, at, n - at)], axis)

def resized(a, axis, count):
    """The shape of `a` with another size along `axis`."""
    return (*a.shape[:axis], count, *a.shape[axis + 1 :])

@numpys_errors
def _spread(values, a, axis, count):
    """`values` as `count` elements along an axis of `a`, broadcast as an assignment does: leading axes of size one too many are dropped."""
    while values.ndim > a.ndim and values.shape[0] == 1:
        values = values[0]
    return torch.broadcast_to(values, resized(a, axis, count))

def _positions(obj, n):
    """The positions to insert at that `obj` (an int, a slice, a list or an array of ints, a mask) names, unchecked."""
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(n))
    where = numpy.asarray(known(obj))
    if where.dtype == bool and where.ndim == 1:
        return numpy.flatnonzero(where)
    return where.astype(numpy.int64) if where.size == 0 and isinstance(obj, (list, tuple)) else where

def _is_single(where):
    return where.size == 1 and where.dtype.kind in "iu"

def _counted(at, n, last, axis):
    """A position counted from the front. Raises IndexError where it is beyond `last`."""
    if not -n <= at <= last:
        raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
    return at + n if at < 0 else at

@rule("numpy.delete", kind="joining",
      examples=("np.delete(v, 0)", "np.delete(m, -1, axis=1)", "np.delete(v, [0, -1])", "np.delete(v, slice(None, None, 2))",
                "np.delete(a, [])"))  # fmt: skip
def delete(arr, obj, axis=None):
    """A copy without the elements at `obj`. A single index may be computed from the inputs; masks and lists must be known."""
    a, axis = on_axis(arr, axis)
    n = a.shape[axis]
    is_index = isinstance(obj, torch.Tensor) and obj.numel() == 1 and obj.dtype != torch.bool
    if is_index and is_recording():
        return _delete_one(a, obj, axis)
    obj = known(obj)
    if not _is_single(numpy.asarray(obj)):
        return gather(a, axis, numpy.delete(numpy.arange(n), obj))  # raises what NumPy raises
    at = _counted(numpy.asarray(obj).item(), n, n - 1, axis)
    return torch.cat([torch.narrow(a, axis, 0, at), torch.narrow(a, axis, at + 1, n - at - 1)], axis)

def _delete_one(a, at, axis):
    """Position i of what is kept comes from i, or from i + 1 where that is behind the deleted element."""
    n = a.shape[axis]
    at = torch.flatten(at).to(torch.int64)
    demand(torch.logical_and(at >= -n, at < n), IndexError(f"index to delete is out of bounds for axis {axis} with size {n}"))
    places = torch.arange(n - 1, device=a.device)
    return gather(a, axis, places + torch.ge(places, torch.remainder(at, n)).to(torch.int64))

@rule("numpy.array_split", kind="arrays", view=True,
      examples=("np.array_split(v, 4)", "np.array_split(m, 3, axis=1)", "np.array_split(x, [1, -1, 9], axis=0)"))  # fmt: skip
@numpys_errors
def array_split(ary, indices_or_sections, axis=0):
    """A list of views; the first ones are longer by one where the size does not divide."""
    a = as_tensor(ary)
    return list(torch.tensor_split(a, _sections(indices_or_sections), dim=normalize_axis_index(axis, a.ndim)))

def _sections(given):
    """How many sections, or the list of positions to split at."""
    given = known(given)
    return [operator.index(i) for i in given] if numpy.ndim(given) else int(given)

@rule("numpy.split", kind="arrays", view=True, examples=("np.split(v, len(v))", "np.split(x, 1, axis=-1)", "np.split(m, [1, 2], axis=1)"))
def split(ary, indices_or_sections, axis=0):
    """A list of views. Raises ValueError where a number of sections does not divide the size."""
    a, where = as_tensor(ary), _sections(indices_or_sections)
    if isinstance(where, int) and a.shape[normalize_axis_index(axis, a.ndim)] % where:
        raise ValueError("array split does not result in an equal division")
    return array_split(a, where, axis)

@rule("numpy.hsplit", kind="arrays", view=True, examples=("np.hsplit(x, 1)", "np.hsplit(m, [1])", "np.hsplit(v, [1, 2])"))
def hsplit(ary, indices_or_sections):
    """Along the second axis, 1-D arrays along their only one."""
    a = at_least(ary, 1)
    return split(a, indices_or_sections, 1 if a.ndim > 1 else 0)

@rule("numpy.vsplit", kind="arrays", view=True, examples=("np.vsplit(m, 1)", "np.vsplit(m, [1])"))
def vsplit(ary, indices_or_sections):
    return split(at_least(ary, 2), indices_or_sections, 0)

@rule("numpy.dsplit", kind="arrays", view=True, examples=("np.dsplit(np.atleast_3d(m), [1])",))
def dsplit(ary, indices_or_sections):
    return split(at_least(ary, 3), indices_or_sections, 2)

@rule("numpy.unstack", kind="arrays", view=True, examples=("np.unstack(x)", "np.unstack(m, axis=-1)"))
def unstack(x, /, *, axis=0):
    """A tuple of views along an axis, of scalars where `x` is 1-D."""
    x = at_least(x, 1)
    return tuple(map(owned, torch.unbind(x, dim=normalize_axis_index(axis, x.ndim))))
