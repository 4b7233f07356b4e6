"""The shape of arrays: reshaping, moving and adding axes, flipping, rolling, repeating, and the attributes that tell of it.

What NumPy returns as a view is a torch view here too. Flips are views in NumPy but copies in torch: they go through
`semantics.arrays.mirror`, which keeps the two equal. Shapes and axes are Python ints that are known when a call is traced.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..semantics.arrays import (
    as_tensor,
    cast,
    demand,
    demand_c_order,
    demand_layout,
    holds_tensor,
    is_recording,
    is_size,
    known,
    mirror,
    read_only,
    zero_d_array,
)
from ..semantics.dtypes import WIDER, to_numpy
from ..semantics.entering import rule
from ..semantics.table import Refused, refuse
from ..semantics.views import gather, giving_arrays, numpys_errors, owned, sizes, unless_same, viewing


@rule("numpy.reshape", kind="shape", view=True, examples=("np.reshape(x, -1)", "np.reshape(a, (1, -1), order='F')"))
@viewing
def reshape(a, /, shape, order="C", *, copy=None):
    """A view where the strides allow one. `order="A"` goes by the memory layout of the tensor."""
    a = as_tensor(a)
    if order == "C" and copy is None and isinstance(shape, int):
        return torch.reshape(a, (shape,))
    if order == "C" and copy is None and not isinstance(shape, torch.Tensor):
        return torch.reshape(a, shape)
    order, shape = _order(a, order, "CFA"), tuple(-1 if s < 0 else s for s in sizes(shape))
    if order == "F":
        a, shape = _backwards(a), shape[::-1]
    if copy:
        a = torch.clone(a, memory_format=torch.contiguous_format)
    made = torch.reshape(a, shape)
    if copy is False and a.numel() and made.untyped_storage().data_ptr() != a.untyped_storage().data_ptr():
        raise ValueError("Unable to avoid creating a copy while creating an array.")
    return _backwards(made) if order == "F" else made

def _backwards(a):
    return torch.permute(a, tuple(range(a.ndim))[::-1])

def _order(a, order, allowed="CFAK"):
    """The letter of a memory order. "A" is Fortran's for an array laid out in that order and not in C's, else C's."""
    order = "C" if order is None else order
    if not isinstance(order, str) or order.upper() not in tuple(allowed):
        raise ValueError(f"order must be one of {', '.join(map(repr, allowed))} (got {order!r})")
    if order.upper() != "A":
        return order.upper()
    demand_layout(a)
    return "F" if not a.is_contiguous() and _backwards(a).is_contiguous() else "C"

@rule("numpy.ndarray.reshape", kind="shape", view=True, examples=("x.reshape(-1)", "x.reshape((-1, 1))", "x.reshape(1, -1, order='F')"))
def ndarray_reshape(a, /, *shape, order="C", copy=None):
    """The sizes one by one, or all in one tuple."""
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    return reshape(a, shape[0] if len(shape) == 1 else shape, order, copy=copy)

@rule("numpy.ravel", "numpy.ndarray.ravel", kind="shape", view=True, examples=("np.ravel(a)", "x.ravel(order='F')"))
@viewing
def ravel(a, order="C"):
    """A view where the memory is in that order already. `order="K"`: in the order of the memory."""
    a = as_tensor(a)
    if order == "C" and a.is_contiguous():
        return torch.flatten(a)
    return torch.flatten(_in_order(a, order).contiguous())  # torch would give a view of evenly spaced elements too

@rule("numpy.ndarray.flatten", kind="shape", examples=("a.flatten()", "x.flatten(order='F')"))
def flatten(a, order="C"):
    """Always a copy."""
    if order == "C":
        return torch.clone(torch.flatten(a))
    return torch.clone(torch.flatten(_in_order(a, order)))

def _in_order(a, order):
    """`a` with its axes permuted so that reading it in C's order reads it in `order`."""
    order = _order(a, order)
    if order == "F":
        return _backwards(a)
    if order == "K":
        demand_layout(a)
    if order == "K" and not a.is_contiguous():
        return torch.permute(a, sorted(range(a.ndim), key=lambda d: -a.stride(d)))
    return a

def _axes(axes, ndim, name="axis"):
    """Axes as a tuple counted from the front, all for None. Raises AxisError, and ValueError where one comes twice."""
    return tuple(range(ndim)) if axes is None else normalize_axis_tuple(known(axes), ndim, name)

@rule("numpy.transpose", "numpy.permute_dims", kind="shape", view=True, examples=("np.transpose(a)", "np.transpose(m, (1, 0))"))
@viewing
def transpose(a, axes=None):
    a = as_tensor(a)
    if axes is None and a.ndim == 2:
        return torch.transpose(a, 0, 1)
    if axes is None:
        return _backwards(a)
    return torch.permute(a, axes.tolist() if isinstance(axes, torch.Tensor) else (axes,) if isinstance(axes, int) else axes)

@rule("numpy.ndarray.transpose", kind="shape", view=True, examples=("a.transpose()", "m.transpose(1, 0)", "m.transpose((-1, 0))"))
def ndarray_transpose(a, /, *axes):
    """The axes one by one, or all in one tuple."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], Iterable)):
        return transpose(a, axes[0])
    return transpose(a, axes or None)

@rule("numpy.ndarray.T", kind="shape", view=True, examples=("a.T",))
@viewing
def T(a):
    if a.ndim == 2:
        return torch.transpose(a, 0, 1)
    return _backwards(a)

@rule("numpy.matrix_transpose", "numpy.ndarray.mT", kind="shape", view=True, examples=("np.matrix_transpose(m)", "x.mT"))
@viewing
def matrix_transpose(x, /):
    x = as_tensor(x)
    if x.ndim >= 2:
        return torch.transpose(x, -2, -1)
    raise ValueError("matrix transpose with ndim < 2 is undefined")

@rule("numpy.swapaxes", kind="shape", view=True, examples=("np.swapaxes(m, 0, -1)", "np.swapaxes(a, 0, 1)"))
@viewing
def swapaxes(a, axis1, axis2):
    a = as_tensor(a)
    if a.ndim > 0:
        return torch.transpose(a, axis1, axis2)
    raise numpy.exceptions.AxisError(axis1, 0)

@rule("numpy.ndarray.swapaxes", kind="shape", view=True, examples=("x.swapaxes(0, 0)", "a.swapaxes(0, 1)"))
def ndarray_swapaxes(a, axis1, axis2, /):
    return swapaxes(a, axis1, axis2)

@rule("numpy.moveaxis", kind="shape", view=True, examples=("np.moveaxis(x, 0, -1)", "np.moveaxis(m, [0, 1], [1, 0])"))
@viewing
def moveaxis(a, source, destination):
    a = as_tensor(a)
    if a.ndim > 0 and isinstance(source, int) and isinstance(destination, int):
        return torch.movedim(a, source, destination)
    return torch.movedim(a, _axes(source, a.ndim, "source"), _axes(destination, a.ndim, "destination"))

@rule("numpy.rollaxis", kind="shape", view=True, examples=("np.rollaxis(x, -1)", "np.rollaxis(m, 0, 2)"))
@viewing
def rollaxis(a, axis, start=0):
    """Rolls `axis` backwards until it lies before `start`."""
    n = a.ndim
    axis = normalize_axis_index(axis, n)
    start = start + n if start < 0 else start
    if not 0 <= start <= n:
        raise numpy.exceptions.AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in")
    return torch.movedim(a, axis, start - 1 if axis < start else start)

@rule("numpy.expand_dims", kind="shape", view=True,
      examples=("np.expand_dims(a, 0)", "np.expand_dims(x, -1)", "np.expand_dims(a, (0, -1))"))  # fmt: skip
@giving_arrays
@viewing
def expand_dims(a, axis):
    a = as_tensor(a)
    if isinstance(axis, int):
        return torch.unsqueeze(a, axis)
    axis = axis if isinstance(axis, (list, tuple)) else (axis,)
    for d in sorted(_axes(axis, a.ndim + len(axis))):
        a = torch.unsqueeze(a, d)
    return a

@rule("numpy.squeeze", "numpy.ndarray.squeeze", kind="shape", view=True,
      examples=("np.squeeze(a)", "np.squeeze(np.expand_dims(a, (0, -1)), axis=(0, -1))", "x[:1].squeeze(0)"))  # fmt: skip
@unless_same
@viewing
def squeeze(a, axis=None):
    """Raises ValueError where an axis to remove is not of size one."""
    a = as_tensor(a)
    if axis is None or (a.ndim == 0 and axis in (0, -1)):
        return torch.squeeze(a) if a.ndim == 0 else zero_d_array(torch.squeeze(a))
    axes = _axes(axis if isinstance(axis, tuple) else operator.index(axis), a.ndim)
    if any(a.shape[d] != 1 for d in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return torch.squeeze(a, axes)

@rule("numpy.broadcast_to", kind="shape", view=True, examples=("np.broadcast_to(a, (2, *a.shape))", "np.broadcast_to(x[:1], x.shape)"))
@giving_arrays
@viewing
def broadcast_to(array, shape, subok=False):
    """Read-only, as in NumPy."""
    shape = sizes(shape)
    if any(s < 0 for s in shape):
        raise ValueError("all elements of broadcast shape must be non-negative")
    return read_only(torch.broadcast_to(array, shape))

@rule("numpy.broadcast_arrays", kind="arrays", view=True, examples=("np.broadcast_arrays(a, b)",))
@numpys_errors
def broadcast_arrays(*args, subok=False):
    """A tuple of views of the common shape."""
    own = tuple(zero_d_array(owned(a)) for a in args)
    return tuple(a if a.shape == m.shape else m for a, m in zip(own, torch.broadcast_tensors(*own), strict=True)) if args else ()

@rule("numpy.broadcast_shapes", kind="python", examples=("np.broadcast_shapes(a.shape, b.shape)",))
def broadcast_shapes(*args):
    return numpy.broadcast_shapes(*map(sizes, args))

@rule("numpy.atleast_1d", kind="shape", view=True, examples=("np.atleast_1d(a)", "np.atleast_1d(a, x)"))
def atleast_1d(*arys):
    return _each(torch.atleast_1d, arys)

@rule("numpy.atleast_2d", kind="shape", view=True, examples=("np.atleast_2d(a)", "np.atleast_2d(a, x)"))
def atleast_2d(*arys):
    return _each(torch.atleast_2d, arys)

@rule("numpy.atleast_3d", kind="shape", view=True, examples=("np.atleast_3d(a)", "np.atleast_3d(a, x)"))
def atleast_3d(*arys):
    return _each(torch.atleast_3d, arys)

def _each(view, arys):
    """The view of one array, a tuple of views for several."""
    made = tuple(view(owned(a)) for a in arys)
    return made[0] if len(made) == 1 else made

@rule("numpy.flip", kind="shape", view=True, examples=("np.flip(a)", "np.flip(x, 0)", "np.flip(m, (0, -1))"))
def flip(m, axis=None):
    m = as_tensor(m)
    return mirror(m, _axes(axis, m.ndim))

@rule("numpy.fliplr", kind="shape", view=True, examples=("np.fliplr(m)",))
def fliplr(m):
    return mirror(at_least(m, 2), (1,))

@rule("numpy.flipud", kind="shape", view=True, examples=("np.flipud(x)",))
def flipud(m):
    return mirror(at_least(m, 1), (0,))

def at_least(a, rank):
    """An array as a tensor. Raises ValueError where it has less than `rank` axes."""
    a = as_tensor(a)
    if a.ndim < rank:
        raise ValueError(f"only for arrays of {rank} or more dimensions, this one has {a.ndim}")
    return a

@rule("numpy.rot90", kind="shape", view=True, examples=("np.rot90(m)", "np.rot90(m, 2)", "np.rot90(m, k=-1, axes=(1, 0))"))
def rot90(m, k=1, axes=(0, 1)):
    """Quarter turns from the first towards the second of `axes`, as flips and transpositions."""
    m = as_tensor(m)
    if len(axes) != 2 or not all(-m.ndim <= d < m.ndim for d in axes) or axes[0] % m.ndim == axes[1] % m.ndim:
        raise ValueError(f"axes={axes} are not two different axes of an array of ndim={m.ndim}")
    first, second = (d % m.ndim for d in axes)
    k %= 4
    if k == 0:
        return torch.transpose(torch.transpose(m, first, second), first, second)  # a view, not the array itself
    if k == 1:
        return torch.transpose(mirror(m, (second,)), first, second)
    return mirror(m, (first, second)) if k == 2 else mirror(torch.transpose(m, first, second), (second,))

@rule("numpy.roll", kind="shape",
      examples=("np.roll(a, 1)", "np.roll(x, -2, axis=0)", "np.roll(m, (1, 2), axis=(0, 1))", "np.roll(x, 1, axis=-1)"))  # fmt: skip
@giving_arrays
@numpys_errors
def roll(a, shift, axis=None):
    """Elements that leave at one end come in at the other. Without `axis` the flattened array is rolled."""
    a = as_tensor(a)
    if type(shift) is int and axis is None and a.ndim > 0:  # a size is an int, too: see below
        return torch.roll(a, shift)
    if type(shift) is int and isinstance(axis, int) and a.ndim > 0:
        return torch.roll(a, shift, axis)
    if is_size(shift) and a.ndim > 0 and (axis is None or isinstance(axis, int)):
        flat = torch.flatten(a) if axis is None else a
        rolled = torch.roll(flat, [shift], [axis or 0])  # of a number that is no list TorchScript would keep the value
        return rolled if axis is not None or a.ndim == 1 else torch.reshape(rolled, a.shape)
    if is_size(shift):
        shift = as_tensor(shift)
    if axis is None:
        return torch.reshape(roll(torch.flatten(a), shift, 0), a.shape)
    axes = normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    if numpy.ndim(shift) > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    if isinstance(shift, torch.Tensor):
        return _roll_by_tensor(a, shift, axes)
    rolls = [(int(s), int(d)) for s, d in numpy.broadcast(shift, axes)]
    if not rolls:
        raise ValueError("not enough values to unpack (expected 2, got 0)")  # so does NumPy
    return torch.roll(a, *zip(*rolls, strict=True))

def _roll_by_tensor(a, shift, axes):
    """A shift computed from the inputs is an index computed in the graph. Several shifts along one axis add up."""
    large = shift.dtype == torch.uint64
    shift = shift.to(torch.int64)
    if large and len(axes) == 1 and shift.numel() > 1:
        raise Refused("several shifts of uint64 along one axis", "cast them to int64 first", "unsupported-dtype")
    shifts = torch.unbind(torch.broadcast_to(shift, (len(axes),))) if len(axes) != 1 else [torch.sum(shift)]
    for d, s in zip(axes, shifts, strict=True):
        n = a.shape[d] if is_size(a.shape[d]) else max(a.shape[d], 1)
        turn = torch.remainder(s, n)
        if large:
            turn = turn + torch.where(torch.lt(s, 0), 2**64 % n, 0)
        a = gather(a, d, torch.remainder(torch.arange(a.shape[d], device=a.device) - turn, n))
    return a

@rule("numpy.resize", kind="shape", examples=("np.resize(x, (2, 3))", "np.resize(a, 5)"))
def resize(a, new_shape):
    """The elements in order, repeated until they fill the new shape; all zeros where there are none."""
    a, shape = as_tensor(a), sizes(new_shape)
    if any(s < 0 for s in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    if a.numel() == 0:
        return zero_d_array(torch.zeros(shape, dtype=a.dtype, device=a.device))
    repeated = torch.tile(torch.flatten(a), (-(-math.prod(shape) // a.numel()),))
    return zero_d_array(torch.reshape(torch.narrow(repeated, 0, 0, math.prod(shape)), shape))

@rule("numpy.tile", kind="shape", examples=("np.tile(a, 2)", "np.tile(x, (2, 1, 3))", "np.tile(m, (0, 2))"))
@numpys_errors
def tile(A, reps):
    """Always a copy."""
    A = as_tensor(A)
    if isinstance(reps, int):
        return torch.tile(A, (reps,))
    if not isinstance(reps, torch.Tensor) and reps != ():
        return torch.tile(A, reps)
    return zero_d_array(torch.tile(A, sizes(reps)))

@rule("numpy.repeat", kind="shape", examples=("np.repeat(a, 2)", "np.repeat(x, 3, axis=-1)", "np.repeat(v, np.arange(len(v)))"))
@numpys_errors
def repeat(a, repeats, axis=None):
    """Each element several times over. Counts decide the shape, so they must be known when the call is traced."""
    a = as_tensor(a)
    if isinstance(repeats, int) and axis is None:
        return torch.repeat_interleave(a, repeats)
    if isinstance(repeats, int) and a.ndim > 0:
        return torch.repeat_interleave(a, repeats, dim=axis)
    a = torch.flatten(a) if axis is None else torch.atleast_1d(a)
    axis = normalize_axis_index(axis or 0, a.ndim)
    if isinstance(repeats, torch.Tensor) and is_recording():
        return _repeated(a, repeats, axis)
    return gather(a, axis, numpy.repeat(numpy.arange(a.shape[axis]), known(repeats)))  # raises what NumPy raises

def _repeated(a, repeats, axis):
    """`repeat` by counts that a graph computes: how long the result is depends on values."""
    if repeats.is_floating_point() or repeats.is_complex() or repeats.dtype in WIDER:
        raise TypeError(f"Cannot cast array data from {repeats.dtype} to dtype('int64') according to the rule 'safe'")
    if repeats.ndim > 1:
        raise ValueError("object too deep for desired array")
    counts = cast(repeats, torch.int64)
    demand(counts >= 0, ValueError("repeats may not contain negative values."))
    if counts.numel() != 1 and counts.shape[0] != a.shape[axis]:
        raise ValueError(f"operands could not be broadcast together with shape ({a.shape[axis]},) ({counts.shape[0]},)")
    lane = torch.select(torch.movedim(a, axis, 0).flatten(1), 1, 0) if a.ndim > 1 else a
    return torch.repeat_interleave(a, counts.reshape(-1).expand_as(lane), dim=axis)

@rule("numpy.ndarray.repeat", kind="shape", examples=("a.repeat(2)", "x.repeat([2], axis=0)"))
def ndarray_repeat(a, repeats, /, axis=None):
    return repeat(a, repeats, axis)

@rule("numpy.trim_zeros", kind="shape", view=True, examples=("np.trim_zeros(v)", "np.trim_zeros(v, 'f')", "np.trim_zeros(m, axis=0)"))
def trim_zeros(filt, trim="fb", axis=None):
    """A view without the zeros at the ends. How long it is depends on the values; `trace` makes a slice with computed bounds of it."""
    if isinstance(filt, (list, tuple)) and not holds_tensor(filt):
        return numpy.trim_zeros(filt, trim, axis)  # a list stays a list
    a, trim = as_tensor(filt), trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = _axes(axis, a.ndim)
    if not axes:
        return filt
    if is_recording():
        raise Refused("the shape of numpy.trim_zeros depends on values", "keep the length and mask the zeros", "data-dependent-shape")
    found = torch.nonzero(torch.ne(a, 0))
    for d in axes:
        places = found[:, d].tolist()
        first = min(places) if places and "f" in trim else 0
        last = a.shape[d] if places and "b" not in trim else max(places, default=-1) + 1
        a = torch.narrow(a, d, first, last - first)
    return a

@rule("numpy.shape", "numpy.ndarray.shape", kind="python", examples=("np.shape(a)", "a.shape"))
def shape(a):
    """A tuple of Python ints."""
    return tuple(as_tensor(a).shape)

@rule("numpy.ndim", "numpy.ndarray.ndim", kind="python", examples=("np.ndim(a)", "a.ndim"))
def ndim(a):
    return as_tensor(a).ndim

@rule("numpy.size", kind="python", examples=("np.size(a)", "np.size(x, 0)", "np.size(m, (0, 1))"))
def size(a, axis=None):
    a = as_tensor(a)
    return math.prod(a.shape[d] for d in _axes(axis, a.ndim))

@rule("numpy.ndarray.size", kind="python", examples=("a.size",))
def ndarray_size(a):
    return a.numel()

@rule("numpy.ndarray.dtype", kind="python", examples=("a.dtype",))
def dtype(a):
    """NumPy's dtype object."""
    return to_numpy(a.dtype)

@rule("numpy.ndarray.itemsize", kind="python", examples=("a.itemsize",))
def itemsize(a):
    return a.element_size()

@rule("numpy.ndarray.nbytes", kind="python", examples=("a.nbytes",))
def nbytes(a):
    return a.numel() * a.element_size()

refuse("numpy.ndarray.resize", reason="it changes the shape of an array in place, which a tensor in a graph cannot do",
       hint="x = np.resize(x, shape), or pad or slice", finding="mutation")  # fmt: skip
@rule("numpy.ndarray.strides", kind="layout", examples=())
def strides(a):
    """The bytes from one element to the next, along each axis. Refused where the layout in memory may be another than NumPy's: what counts
    as known are arrays in C order that were handed in, and parts of them in that order."""
    demand_c_order(a)
    steps = itertools.accumulate(reversed(a.shape[1:]), operator.mul, initial=a.element_size())
    return tuple(steps)[::-1][: a.ndim]

refuse("numpy.ndarray.flags", "numpy.ndarray.setflags", "numpy.isfortran",
       reason="it tells of the layout in memory, which a graph does not have",
       hint="write the code so that it does not depend on the layout", finding="python-value")  # fmt: skip
