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

from ..semantics.arrays import as_tensor, cast, demand
from ..semantics.dtypes import can_cast, promote, to_numpy, to_torch
from ..semantics.table import rule
from .shape import gather, numpys_errors, owned


def parts_of(arrays, name="arrays"):
    """The arrays of a sequence as tensors on one device; an array is the sequence of its rows."""
    if isinstance(arrays, torch.Tensor):
        if arrays.ndim == 0:
            raise TypeError(f"{name} must be a sequence of arrays, not a 0-d array")
        return list(torch.unbind(arrays))
    if not isinstance(arrays, (list, tuple, deque, numpy.ndarray)):
        raise TypeError(f"{name} to join must be passed as a sequence, but got {type(arrays).__name__}")
    device = next((a.device for a in arrays if isinstance(a, torch.Tensor)), None)
    return [a if isinstance(a, torch.Tensor) or device is None else as_tensor(a).to(device) for a in arrays]


def alike(arrays):
    """True for a list or tuple of tensors of one dtype and one rank above 0, which torch joins as NumPy does."""
    if not isinstance(arrays, (list, tuple)) or not arrays or not all(isinstance(a, torch.Tensor) for a in arrays):
        return False
    return arrays[0].ndim > 0 and all(a.dtype == arrays[0].dtype and a.ndim == arrays[0].ndim for a in arrays)


def _common(arrays, dtype, casting):
    """All in one dtype: `dtype`, or the one that NumPy promotes them to. Raises TypeError where `casting` forbids it."""
    parts = [as_tensor(a) for a in parts_of(arrays)]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    target = promote(*(p.dtype for p in parts)) if dtype is None else to_torch(dtype)
    for p in parts:
        if not can_cast(p.dtype, target, casting):
            raise TypeError(f"Cannot cast array data from {to_numpy(p.dtype)!r} to {to_numpy(target)!r} according to the rule {casting!r}")
    return [cast(p, target) for p in parts]


def _join(parts, axis):
    """torch.cat with NumPy's errors; torch itself would skip empty 1-D tensors."""
    rank = parts[0].ndim
    if any(p.ndim == 0 for p in parts):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis_index(operator.index(axis), rank)
    if any(p.ndim != rank for p in parts):
        raise ValueError("all the input arrays must have same number of dimensions")
    if any(p.shape[d] != parts[0].shape[d] for p in parts for d in range(rank) if d != axis):
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    return torch.cat(parts, dim=axis) if axis else torch.cat(parts)


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
    parts = _common(arrays, dtype, casting)
    if axis is None:
        return torch.cat([torch.flatten(p) for p in parts])
    return _join(parts, axis)


@rule("numpy.stack", kind="joining",
      examples=("np.stack((x, y))", "np.stack([x, y], axis=-1)", "np.stack([v, w, v], 1)", "np.stack((x, k))"))  # fmt: skip
@numpys_errors
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Raises ValueError where the shapes differ."""
    if dtype is None and casting == "same_kind" and axis == 0 and alike(arrays):
        return torch.stack(arrays)
    if dtype is None and casting == "same_kind" and alike(arrays):
        return torch.stack(arrays, dim=axis)
    parts = _same_shape(arrays, dtype, casting)
    axis = normalize_axis_index(operator.index(axis), parts[0].ndim + 1)
    return torch.stack(parts, dim=axis) if axis else torch.stack(parts)


def _same_shape(arrays, dtype, casting):
    if not len(arrays):
        raise ValueError("need at least one array to stack")
    parts = _common(arrays, dtype, casting)
    if len({tuple(p.shape) for p in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    return parts


@rule("numpy.vstack", "numpy.row_stack", kind="joining", examples=("np.vstack((x, y))", "np.vstack([v, w])", "np.vstack((v, k))"))
@numpys_errors
def vstack(tup, *, dtype=None, casting="same_kind"):
    """0-d and 1-D arrays are rows."""
    if dtype is None and casting == "same_kind" and alike(tup):
        return torch.vstack(tup)
    return _join([_rows(p) for p in _common(tup, dtype, casting)], 0)


def _rows(p):
    return torch.atleast_2d(p) if p.ndim < 2 else p


@rule("numpy.hstack", kind="joining", examples=("np.hstack((x, y))", "np.hstack([v, w])", "np.hstack((a, b))"))
@numpys_errors
def hstack(tup, *, dtype=None, casting="same_kind"):
    """Along the second axis, 1-D arrays along their only one."""
    if dtype is None and casting == "same_kind" and alike(tup):
        return torch.hstack(tup)
    parts = [torch.atleast_1d(p) if p.ndim == 0 else p for p in _common(tup, dtype, casting)]
    return _join(parts, 0 if parts[0].ndim == 1 else 1)


@rule("numpy.dstack", kind="joining", examples=("np.dstack((x, y))", "np.dstack([v, w])"))
@numpys_errors
def dstack(tup):
    """Along the third axis."""
    if alike(tup):
        return torch.dstack(tup)
    return _join([torch.atleast_3d(p) if p.ndim < 3 else p for p in _common(tup, None, "same_kind")], 2)


@rule("numpy.column_stack", kind="joining", examples=("np.column_stack((x, y))", "np.column_stack([v, w])", "np.column_stack((a, b))"))
@numpys_errors
def column_stack(tup):
    """0-d and 1-D arrays are columns."""
    if alike(tup):
        return torch.column_stack(tup)
    return _join([torch.reshape(p, (-1, 1)) if p.ndim < 2 else p for p in _common(tup, None, "same_kind")], 1)


@rule("numpy.block", kind="joining", examples=("np.block([[m, m], [m, m]])", "np.block([v, w])", "np.block(a)", "np.block([[v], [v]])"))
def block(arrays):
    """Nested lists of blocks: the innermost lists are joined along the last axis, those around them along the one before."""
    depth = _depth(arrays)
    leaves = [as_tensor(leaf) for leaf in _leaves(arrays)]
    rank = max([depth, *(leaf.ndim for leaf in leaves)])
    common = promote(*(leaf.dtype for leaf in leaves))
    device = next((leaf.device for leaf in _leaves(arrays) if isinstance(leaf, torch.Tensor)), None)
    joined = _join_blocks(arrays, rank, depth, lambda leaf: cast(as_tensor(leaf), common).to(device))
    return joined if depth else torch.clone(joined)


def _depth(arrays):
    """How deep the lists are nested. Raises ValueError where that differs or a list is empty, TypeError for tuples."""
    if isinstance(arrays, tuple):
        raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("List at arrays cannot be empty")
    depths = {_depth(item) for item in arrays}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched")
    return 1 + depths.pop()


def _leaves(arrays):
    return [leaf for item in arrays for leaf in _leaves(item)] if isinstance(arrays, list) else [arrays]


def _join_blocks(arrays, rank, depth, ready):
    if depth == 0:
        leaf = ready(arrays)
        return leaf if leaf.ndim == rank else torch.reshape(leaf, (1,) * (rank - leaf.ndim) + tuple(leaf.shape))
    return _join([_join_blocks(item, rank, depth - 1, ready) for item in arrays], rank - depth)


@rule("numpy.append", kind="joining", examples=("np.append(a, b)", "np.append(x, y, axis=0)", "np.append(v, 3)"))
def append(arr, values, axis=None):
    """Without `axis` both are flattened."""
    return concatenate((arr, values), axis)


@rule("numpy.insert", kind="joining",
      examples=("np.insert(v, 0, 5)", "np.insert(m, 1, 7, axis=0)", "np.insert(x, [0, 1], 2, axis=-1)", "np.insert(v, slice(0, 2), 1)",
                "np.insert(v, [0], w)", "np.insert(a, 0, 1)"))  # fmt: skip
def insert(arr, obj, values, axis=None):
    """`values` before the elements at `obj`, cast to the dtype of `arr`. Where to insert must be known when tracing."""
    a, axis = _along(arr, axis)
    n = a.shape[axis]
    where = _positions(obj, n, "insert")
    new = cast(as_tensor(values), a.dtype).to(a.device)
    if where.size == 1:
        (at,) = where.reshape(-1).tolist()
        if not -n <= at <= n:
            raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
        new = torch.reshape(new, (1,) * (a.ndim - new.ndim) + tuple(new.shape))
        if where.ndim == 0:
            new = torch.movedim(new, 0, axis)
        at, count = at % n if at < 0 else at, new.shape[axis]
        new = _spread(new, _resized(a, axis, count))
        return torch.cat([torch.narrow(a, axis, 0, at), new, torch.narrow(a, axis, at, n - at)], axis)
    where = numpy.where(where < 0, where + n, where)
    count = len(where)
    where[where.argsort(kind="stable")] += numpy.arange(count)
    old = numpy.ones(n + count, dtype=bool)
    old[where] = False  # raises NumPy's IndexError
    order = numpy.empty(n + count, dtype=numpy.int64)
    order[where], order[old] = n + numpy.arange(count), numpy.arange(n)
    both = torch.cat([a, _spread(new, _resized(a, axis, count))], axis)
    return gather(both, axis, order)


def _along(arr, axis):
    """The array and the axis to work along: the flattened array where no axis is given."""
    a = as_tensor(arr)
    if axis is None:
        return torch.flatten(a), 0
    return a, normalize_axis_index(operator.index(axis), a.ndim)


def _resized(a, axis, count):
    return (*a.shape[:axis], count, *a.shape[axis + 1 :])


def _spread(values, shape):
    """Broadcast as an assignment does: leading axes of size one too many are dropped."""
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    try:
        return torch.broadcast_to(values, shape)
    except RuntimeError:
        raise ValueError(f"could not broadcast input array from shape {tuple(values.shape)} into shape {tuple(shape)}") from None


def _positions(obj, n, name):
    """The int64 positions that `obj` (an int, a slice, a list or an array of ints, a mask) names along an axis of size `n`."""
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(n))
    is_list = not isinstance(obj, (torch.Tensor, numpy.ndarray))
    given = numpy.asarray(obj.tolist(), dtype=to_numpy(obj.dtype)) if isinstance(obj, torch.Tensor) else numpy.asarray(obj)
    if given.dtype == bool:
        if given.ndim != 1:
            raise ValueError(f"boolean array argument obj to {name} must be one dimensional")
        if name == "delete" and given.shape != (n,):
            raise ValueError(f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}")
        return numpy.flatnonzero(given)
    if given.ndim > 1 and name == "insert":
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if given.size == 0 and is_list:
        return given.astype(numpy.int64)
    if given.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return given.astype(numpy.int64)


@rule("numpy.delete", kind="joining",
      examples=("np.delete(v, 0)", "np.delete(m, -1, axis=1)", "np.delete(v, [0, -1])", "np.delete(v, slice(None, None, 2))",
                "np.delete(a, [])"))  # fmt: skip
def delete(arr, obj, axis=None):
    """A copy without the elements at `obj`. A single index may be computed from the inputs; masks and lists must be known."""
    a, axis = _along(arr, axis)
    n = a.shape[axis]
    is_index = isinstance(obj, torch.Tensor) and obj.numel() == 1 and obj.dtype != torch.bool
    if is_index and torch.overrides._get_current_function_mode_stack():
        return _delete_one(a, obj, axis)
    where = _positions(obj, n, "delete")
    if where.ndim == 0 or where.size == 1:
        (at,) = where.reshape(-1).tolist()
        if not -n <= at < n:
            raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
        at %= n
        return torch.cat([torch.narrow(a, axis, 0, at), torch.narrow(a, axis, at + 1, n - at - 1)], axis)
    keep = numpy.ones(n, dtype=bool)
    keep[where] = False  # raises NumPy's IndexError
    return gather(a, axis, numpy.flatnonzero(keep))


def _delete_one(a, at, axis):
    """Position i of what is kept comes from i, or from i + 1 where that is behind the deleted element."""
    n = a.shape[axis]
    at = torch.flatten(at).to(torch.int64)
    inside = torch.logical_and(torch.ge(at, -n), torch.lt(at, n))
    demand(inside, IndexError(f"index to delete is out of bounds for axis {axis} with size {n}"))
    at = torch.where(torch.lt(at, 0), at + n, at)
    places = torch.arange(n - 1, device=a.device)
    return gather(a, axis, places + torch.ge(places, at).to(torch.int64))


@rule("numpy.array_split", kind="arrays", view=True,
      examples=("np.array_split(v, 4)", "np.array_split(m, 3, axis=1)", "np.array_split(x, [1, -1, 9], axis=0)"))  # fmt: skip
def array_split(ary, indices_or_sections, axis=0):
    """A list of views; the first ones are longer by one where the size does not divide."""
    a = as_tensor(ary)
    if isinstance(indices_or_sections, (list, tuple, numpy.ndarray, torch.Tensor)) and _rank(indices_or_sections):
        where = [operator.index(i) for i in _listed(indices_or_sections)]
    else:
        where = int(indices_or_sections)
        if where <= 0:
            raise ValueError("number sections must be larger than 0.")
    axis = normalize_axis_index(operator.index(axis), a.ndim)
    return list(torch.tensor_split(a, where, dim=axis))


def _rank(x):
    return x.ndim if isinstance(x, (numpy.ndarray, torch.Tensor)) else 1


def _listed(x):
    return x.tolist() if isinstance(x, (numpy.ndarray, torch.Tensor)) else x


@rule("numpy.split", kind="arrays", view=True, examples=("np.split(v, len(v))", "np.split(x, 1, axis=-1)", "np.split(m, [1, 2], axis=1)"))
def split(ary, indices_or_sections, axis=0):
    """A list of views. Raises ValueError where a number of sections does not divide the size."""
    a = as_tensor(ary)
    if not (isinstance(indices_or_sections, (list, tuple, numpy.ndarray, torch.Tensor)) and _rank(indices_or_sections)):
        size = a.shape[normalize_axis_index(operator.index(axis), a.ndim)]
        if size % int(indices_or_sections):
            raise ValueError("array split does not result in an equal division")
    return array_split(a, indices_or_sections, axis)


@rule("numpy.hsplit", kind="arrays", view=True, examples=("np.hsplit(x, 1)", "np.hsplit(m, [1])", "np.hsplit(v, [1, 2])"))
def hsplit(ary, indices_or_sections):
    """Along the second axis, 1-D arrays along their only one."""
    a = as_tensor(ary)
    if a.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(a, indices_or_sections, 1 if a.ndim > 1 else 0)


@rule("numpy.vsplit", kind="arrays", view=True, examples=("np.vsplit(m, 1)", "np.vsplit(m, [1])"))
def vsplit(ary, indices_or_sections):
    """Along the first axis."""
    a = as_tensor(ary)
    if a.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(a, indices_or_sections, 0)


@rule("numpy.dsplit", kind="arrays", view=True, examples=("np.dsplit(np.atleast_3d(m), [1])",))
def dsplit(ary, indices_or_sections):
    """Along the third axis."""
    a = as_tensor(ary)
    if a.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(a, indices_or_sections, 2)


@rule("numpy.unstack", kind="arrays", view=True, examples=("np.unstack(x)", "np.unstack(m, axis=-1)"))
def unstack(x, /, *, axis=0):
    """A tuple of views along an axis, of scalars where `x` is 1-D."""
    x = as_tensor(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    if x.ndim == 1:
        return tuple(owned(s) for s in torch.unbind(x))
    return torch.unbind(x, dim=axis)
