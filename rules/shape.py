"""The shape of arrays: reshaping, moving and adding axes, flipping, rolling, repeating, and the attributes that tell of it.

What NumPy returns as a view is a torch view here too. Flips are views in NumPy but copies in torch: they go through
`semantics.arrays.mirror`, which keeps the two equal. Shapes and axes are Python ints that are known when a call is traced.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Iterable

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..semantics.arrays import as_tensor, is_scalar, mirror, read_only, zero_d_array
from ..semantics.dtypes import to_numpy
from ..semantics.table import Refused, refuse, rule


def sizes(shape):
    """A shape as NumPy takes it (an int, or a sequence or array of ints) as a tuple of Python ints."""
    if isinstance(shape, (torch.Tensor, numpy.ndarray)):
        shape = shape.tolist()
    if not isinstance(shape, Iterable):
        shape = (shape,)
    return tuple(s if isinstance(s, torch.SymInt) else operator.index(s) for s in shape)


def owned(a):
    """A 0-d tensor to make views of: NumPy's scalars are never viewed, what is made of them is new memory."""
    return torch.clone(a) if is_scalar(a) else a


def numpys_errors(body):
    """For a body that is a plain torch call: what comes in and goes wrong differently in torch.

    Sizes and axes in NumPy arrays become tuples of ints; torch's errors become NumPy's AxisError and ValueError."""
    first = next(iter(inspect.signature(body).parameters))
    data = 0 if first == "shape" else 1  # otherwise the first parameter is an array or arrays

    @functools.wraps(body)
    def checked(*args, **kwargs):
        try:
            return body(*args[:data], *map(_plain, args[data:]), **{k: x if data and k == first else _plain(x) for k, x in kwargs.items()})
        except IndexError as e:
            if isinstance(e, numpy.exceptions.AxisError) or "Dimension out of range" not in str(e):
                raise
            raise numpy.exceptions.AxisError(str(e)) from e
        except RuntimeError as e:
            if type(e) is not RuntimeError:
                raise
            raise ValueError(str(e)) from e

    return checked


def _plain(x):
    """NumPy's ints, alone or in an array, as Python's."""
    if isinstance(x, numpy.integer):
        return int(x)
    if isinstance(x, numpy.ndarray) and x.ndim == 1 and x.dtype.kind == "i":
        return tuple(x.tolist())
    return x


def viewing(body):
    """For a body that is a plain torch view of its first parameter: what NumPy's differs in.

    A scalar is copied first; a 0-d result is a 0-d array; errors are NumPy's."""
    first = next(iter(inspect.signature(body).parameters))
    checked = numpys_errors(body)

    @functools.wraps(body)
    def view(*args, **kwargs):
        a = as_tensor(args[0] if args else kwargs.pop(first))
        made = checked(owned(a) if a.ndim == 0 else a, *args[1:], **kwargs)
        return made if made.ndim or is_scalar(a) else zero_d_array(made)

    return view


def bits(a):
    """uint16/32/64 as the signed dtype of the same bits: for torch's functions that only move elements but lack their kernels."""
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}.get(a.dtype)
    return a if signed is None else a.view(signed)


def gather(a, axis, index):
    """torch.index_select for all dtypes. `index` is an int64 tensor, or positions known when tracing."""
    if not isinstance(index, torch.Tensor):
        index = torch.tensor([int(p) for p in index], dtype=torch.int64, device=a.device)
    return torch.index_select(bits(a), axis, index).view(a.dtype) if bits(a) is not a else torch.index_select(a, axis, index)


def _checked_shape(a, shape):
    """The new shape with its one unknown as -1. Raises ValueError unless the elements of `a` fill it."""
    shape = tuple(-1 if s < 0 else s for s in sizes(shape))
    rest = math.prod(s for s in shape if s != -1)
    if shape.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    fits = (rest != 0 and a.numel() % rest == 0) if -1 in shape else rest == a.numel()
    if not fits:
        raise ValueError(f"cannot reshape array of size {a.numel()} into shape {shape}")
    return shape


def _is_fortran(a):
    """True for an array laid out in Fortran's order and not in C's."""
    return not a.is_contiguous() and torch.permute(a, _reversed(a)).is_contiguous()


def _reversed(a):
    return tuple(range(a.ndim))[::-1]


@rule("numpy.reshape", kind="shape", view=True, examples=("np.reshape(x, -1)", "np.reshape(a, (1, -1), order='F')"))
@viewing
def reshape(a, /, shape, order="C", *, copy=None):
    """A view where the strides allow one. `order="A"` goes by the memory layout of the tensor."""
    a = as_tensor(a)
    if order == "C" and copy is None and isinstance(shape, int):
        return torch.reshape(a, (shape,))
    if order == "C" and copy is None and not isinstance(shape, torch.Tensor):
        return torch.reshape(a, shape)
    return _reshape_ordered(a, _checked_shape(a, shape), order, copy)


@rule("numpy.ndarray.reshape", kind="shape", view=True, examples=("x.reshape(-1)", "x.reshape((-1, 1))", "x.reshape(1, -1, order='F')"))
@viewing
def ndarray_reshape(a, /, *shape, order="C", copy=None):
    """The sizes one by one, or all in one tuple."""
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    return reshape(a, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def _reshape_ordered(a, shape, order, copy):
    order = _order(order, "CFA")
    if order == "A":
        order = "F" if _is_fortran(a) else "C"
    if order == "F":
        a, shape = torch.permute(a, _reversed(a)), shape[::-1]
    if copy:
        a = torch.clone(a, memory_format=torch.contiguous_format)
    made = torch.reshape(a, shape)
    if copy is False and a.numel() and made.untyped_storage().data_ptr() != a.untyped_storage().data_ptr():
        raise ValueError("Unable to avoid creating a copy while creating an array.")
    return torch.permute(made, _reversed(made)) if order == "F" else made


def _order(order, allowed="CFAK"):
    if order is None:
        return "C"
    if not isinstance(order, str) or order.upper() not in tuple(allowed):
        raise ValueError(f"order must be one of {', '.join(map(repr, allowed))} (got {order!r})")
    return order.upper()


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
    order = _order(order)
    if order == "A":
        order = "F" if _is_fortran(a) else "C"
    if order == "C" or (order == "K" and a.is_contiguous()):
        return a
    if order == "F":
        return torch.permute(a, _reversed(a))
    return torch.permute(a, sorted(range(a.ndim), key=lambda d: -a.stride(d)))


def _axes(axes, ndim, name="axis"):
    """Axes as a tuple counted from the front. Raises AxisError, and ValueError where one comes twice."""
    if isinstance(axes, torch.Tensor):
        axes = axes.tolist()
    return normalize_axis_tuple(axes, ndim, name)


@rule("numpy.transpose", "numpy.permute_dims", kind="shape", view=True, examples=("np.transpose(a)", "np.transpose(m, (1, 0))"))
@viewing
def transpose(a, axes=None):
    a = as_tensor(a)
    if axes is None and a.ndim == 2:
        return torch.transpose(a, 0, 1)
    if axes is None:
        return torch.permute(a, _reversed(a))
    if isinstance(axes, torch.Tensor):
        axes = _axes(axes, a.ndim, "axes")
    return torch.permute(a, axes)


@rule("numpy.ndarray.transpose", kind="shape", view=True, examples=("a.transpose()", "m.transpose(1, 0)", "m.transpose((-1, 0))"))
@viewing
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
    return torch.permute(a, _reversed(a))


@rule("numpy.matrix_transpose", "numpy.ndarray.mT", kind="shape", view=True, examples=("np.matrix_transpose(m)", "x.mT"))
@viewing
def matrix_transpose(x, /):
    """The last two axes swapped. Raises ValueError for less than two."""
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
@viewing
def ndarray_swapaxes(a, axis1, axis2, /):
    if a.ndim > 0:
        return torch.transpose(a, axis1, axis2)
    raise numpy.exceptions.AxisError(axis1, 0)


def _axis(axis, ndim):
    return normalize_axis_index(operator.index(axis), ndim)


@rule("numpy.moveaxis", kind="shape", view=True, examples=("np.moveaxis(x, 0, -1)", "np.moveaxis(m, [0, 1], [1, 0])"))
@viewing
def moveaxis(a, source, destination):
    a = as_tensor(a)
    if a.ndim > 0 and isinstance(source, int) and isinstance(destination, int):
        return torch.movedim(a, source, destination)
    source, destination = _axes(source, a.ndim, "source"), _axes(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    return torch.movedim(a, source, destination)


@rule("numpy.rollaxis", kind="shape", view=True, examples=("np.rollaxis(x, -1)", "np.rollaxis(m, 0, 2)"))
@viewing
def rollaxis(a, axis, start=0):
    """Rolls `axis` backwards until it lies before `start`."""
    a = as_tensor(a)
    n = a.ndim
    axis = _axis(axis, n)
    start = start + n if start < 0 else start
    if not 0 <= start < n + 1:
        raise numpy.exceptions.AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in")
    return torch.movedim(a, axis, start - 1 if axis < start else start)


@rule("numpy.expand_dims", kind="shape", view=True,
      examples=("np.expand_dims(a, 0)", "np.expand_dims(x, -1)", "np.expand_dims(a, (0, -1))"))  # fmt: skip
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
@viewing
def squeeze(a, axis=None):
    """Raises ValueError where an axis to remove is not of size one."""
    a = as_tensor(a)
    if axis is None:
        return torch.squeeze(a)
    axes = _axes(axis, a.ndim)
    if any(a.shape[d] != 1 for d in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return torch.squeeze(a, axis) if isinstance(axis, int) else torch.squeeze(a, axes)


@rule("numpy.broadcast_to", kind="shape", view=True, examples=("np.broadcast_to(a, (2, *a.shape))", "np.broadcast_to(x[:1], x.shape)"))
def broadcast_to(array, shape, subok=False):
    """Read-only, as in NumPy."""
    array = as_tensor(array)
    shape = sizes(shape)
    try:
        fits = not any(s < 0 for s in shape) and tuple(torch.broadcast_shapes(array.shape, shape)) == shape
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"cannot broadcast an array of shape {tuple(array.shape)} to shape {shape}")
    return read_only(torch.broadcast_to(array, shape))


@rule("numpy.broadcast_arrays", kind="arrays", view=True, examples=("np.broadcast_arrays(a, b)",))
def broadcast_arrays(*args, subok=False):
    """A tuple of views of the common shape."""
    tensors = [as_tensor(a) for a in args]
    numpy.broadcast_shapes(*(tuple(t.shape) for t in tensors))  # raises NumPy's ValueError
    return tuple(zero_d_array(t) for t in torch.broadcast_tensors(*tensors)) if tensors else ()


@rule("numpy.broadcast_shapes", kind="python", examples=("np.broadcast_shapes(a.shape, b.shape)",))
def broadcast_shapes(*args):
    return numpy.broadcast_shapes(*map(sizes, args))


@rule("numpy.atleast_1d", kind="shape", view=True, examples=("np.atleast_1d(a)", "np.atleast_1d(a, x)"))
def atleast_1d(*arys):
    if len(arys) == 1:
        return torch.atleast_1d(_to_view(arys[0]))
    return tuple(torch.atleast_1d(_to_view(a)) for a in arys)


@rule("numpy.atleast_2d", kind="shape", view=True, examples=("np.atleast_2d(a)", "np.atleast_2d(a, x)"))
def atleast_2d(*arys):
    if len(arys) == 1:
        return torch.atleast_2d(_to_view(arys[0]))
    return tuple(torch.atleast_2d(_to_view(a)) for a in arys)


@rule("numpy.atleast_3d", kind="shape", view=True, examples=("np.atleast_3d(a)", "np.atleast_3d(a, x)"))
def atleast_3d(*arys):
    if len(arys) == 1:
        return torch.atleast_3d(_to_view(arys[0]))
    return tuple(torch.atleast_3d(_to_view(a)) for a in arys)


def _to_view(a):
    """Anything like an array, as a tensor that may be viewed."""
    a = as_tensor(a)
    return owned(a) if a.ndim == 0 else a


def flipped(a, dims):
    """`a` with `dims` (counted from the front) reversed, as the view that NumPy gives."""
    return mirror(a, tuple(dims))


@rule("numpy.flip", kind="shape", view=True, examples=("np.flip(a)", "np.flip(x, 0)", "np.flip(m, (0, -1))"))
def flip(m, axis=None):
    m = as_tensor(m)
    axes = tuple(range(m.ndim)) if axis is None else _axes(axis, m.ndim)
    return flipped(m, axes)


@rule("numpy.fliplr", kind="shape", view=True, examples=("np.fliplr(m)",))
def fliplr(m):
    m = as_tensor(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flipped(m, (1,))


@rule("numpy.flipud", kind="shape", view=True, examples=("np.flipud(x)",))
def flipud(m):
    m = as_tensor(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flipped(m, (0,))


@rule("numpy.rot90", kind="shape", view=True, examples=("np.rot90(m)", "np.rot90(m, 2)", "np.rot90(m, k=-1, axes=(1, 0))"))
def rot90(m, k=1, axes=(0, 1)):
    """Quarter turns from the first towards the second of `axes`, as flips and transpositions."""
    m = as_tensor(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = axes
    if first == second or abs(first - second) == m.ndim:
        raise ValueError("Axes must be different.")
    if not (-m.ndim <= first < m.ndim and -m.ndim <= second < m.ndim):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    first, second = first % m.ndim, second % m.ndim
    k %= 4
    if k == 0:
        return torch.transpose(torch.transpose(m, first, second), first, second)  # a view, not the array itself
    if k == 2:
        return flipped(m, (first, second))
    if k == 1:
        return torch.transpose(flipped(m, (second,)), first, second)
    return flipped(torch.transpose(m, first, second), (second,))


@rule("numpy.roll", kind="shape",
      examples=("np.roll(a, 1)", "np.roll(x, -2, axis=0)", "np.roll(m, (1, 2), axis=(0, 1))", "np.roll(x, 1, axis=-1)"))  # fmt: skip
@numpys_errors
def roll(a, shift, axis=None):
    """Elements that leave at one end come in at the other. Without `axis` the flattened array is rolled.

    A shift computed from the inputs is an index computed in the graph."""
    a = as_tensor(a)
    if isinstance(shift, int) and axis is None:
        return torch.roll(a, shift)
    if isinstance(shift, int) and isinstance(axis, int) and a.ndim > 0:
        return torch.roll(a, shift, axis)
    if isinstance(shift, torch.Tensor):
        return _roll_by_tensor(a, shift, axis)
    if axis is None:
        return torch.roll(a, sum(int(s) for s in shift))
    axes = normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    pairs = numpy.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts, dims = zip(*((int(s), int(d)) for s, d in pairs), strict=True) if pairs.size else ((), ())
    return torch.roll(a, shifts, dims) if dims else torch.clone(a)


def _roll_by_tensor(a, shift, axis):
    if axis is None:
        return torch.reshape(_roll_by_tensor(torch.flatten(a), torch.sum(shift), 0), a.shape)
    axes = normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    shifts = torch.unbind(torch.broadcast_to(shift, (len(axes),)))
    for d, s in zip(axes, shifts, strict=True):
        n = a.shape[d]
        if n:
            a = gather(a, d, torch.remainder(torch.arange(n, device=a.device) - s, n))
    return a


@rule("numpy.resize", kind="shape", examples=("np.resize(x, (2, 3))", "np.resize(a, 5)"))
def resize(a, new_shape):
    """The elements in order, repeated until they fill the new shape; all zeros where there are none."""
    a, shape = as_tensor(a), sizes(new_shape)
    if any(s < 0 for s in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    count = math.prod(shape)
    if a.numel() == 0:
        return zero_d_array(torch.zeros(shape, dtype=a.dtype, device=a.device))
    times = max(1, math.ceil(count / a.numel()))
    return zero_d_array(torch.reshape(torch.clone(torch.narrow(torch.tile(torch.flatten(a), (times,)), 0, 0, count)), shape))


@rule("numpy.tile", kind="shape", examples=("np.tile(a, 2)", "np.tile(x, (2, 1, 3))", "np.tile(m, (0, 2))"))
@numpys_errors
def tile(A, reps):
    """Always a copy."""
    A = as_tensor(A)
    if isinstance(reps, int):
        return torch.tile(A, (reps,))
    if not isinstance(reps, torch.Tensor) and reps != ():
        return torch.tile(A, reps)
    reps = sizes(reps)
    return torch.tile(A, reps) if reps else zero_d_array(torch.clone(A))


@rule("numpy.repeat", kind="shape", examples=("np.repeat(a, 2)", "np.repeat(x, 3, axis=-1)", "np.repeat(v, np.arange(len(v)))"))
@numpys_errors
def repeat(a, repeats, axis=None):
    """Each element several times over. Counts decide the shape, so they must be known when the call is traced."""
    a = as_tensor(a)
    if isinstance(repeats, int) and axis is None:
        return torch.repeat_interleave(a, repeats)
    if isinstance(repeats, int) and a.ndim > 0:
        return torch.repeat_interleave(a, repeats, dim=axis)
    if axis is None:
        a, axis = torch.flatten(a), 0
    axis = _axis(axis, a.ndim)
    if isinstance(repeats, torch.Tensor):
        repeats = numpy.asarray(repeats.tolist(), dtype=to_numpy(repeats.dtype))
    positions = numpy.repeat(numpy.arange(a.shape[axis]), repeats)  # raises what NumPy raises
    return gather(a, axis, positions)


@rule("numpy.ndarray.repeat", kind="shape", examples=("a.repeat(2)", "x.repeat([2], axis=0)"))
def ndarray_repeat(a, repeats, /, axis=None):
    return repeat(a, repeats, axis)


@rule("numpy.trim_zeros", kind="shape", view=True, examples=("np.trim_zeros(v)", "np.trim_zeros(v, 'f')", "np.trim_zeros(m, axis=0)"))
def trim_zeros(filt, trim="fb", axis=None):
    """A view without the zeros at the ends. How long it is depends on the values, so it cannot be traced."""
    if isinstance(filt, (list, tuple)) and not any(isinstance(x, torch.Tensor) for x in filt):
        return numpy.trim_zeros(filt, trim, axis)  # a list stays a list
    a, trim = as_tensor(filt), trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = tuple(range(a.ndim)) if axis is None else _axes(axis, a.ndim)
    if not axes:
        return filt
    if torch.overrides._get_current_function_mode_stack():
        raise Refused("the shape of numpy.trim_zeros depends on values", "keep the length and mask the zeros", "data-dependent-shape")
    found = torch.nonzero(torch.ne(a, 0))
    for d in axes:
        places = found[:, d].tolist()
        first, last = (min(places), max(places) + 1) if places else (0, 0)
        if places and "f" not in trim:
            first = 0
        if places and "b" not in trim:
            last = a.shape[d]
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
    if axis is None:
        return a.numel()
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



refuse(
    "numpy.ndarray.resize",
    reason="it changes the shape of an array in place, which a tensor in a graph cannot do",
    hint="x = np.resize(x, shape), or pad or slice",
    finding="mutation",
)
refuse(
    "numpy.ndarray.strides",
    "numpy.ndarray.flags",
    "numpy.ndarray.setflags",
    "numpy.isfortran",
    reason="it tells of the layout in memory, which a graph does not have",
    hint="write the code so that it does not depend on the layout",
    finding="python-value",
)
