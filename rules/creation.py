"""Making arrays: filled, numbered, from data, from functions; and matrices built from a diagonal.

What is made of constants is computed by NumPy itself, so it is NumPy's to the last bit, and is a constant of the graph.
New tensors are on torch's default device, or on that of the tensor they are made from. `like=` has no effect.
"""

from __future__ import annotations

import operator

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import as_tensor, cast, demand, read_only, result_type, zero_d_array
from ..semantics.dtypes import WIDER, inexact, promote, to_numpy, to_torch
from ..semantics.table import refuse, rule
from .arithmetic import floor, power, sign
from .shape import bits, flipped, numpys_errors, sizes


def constant(array):
    """What NumPy computed, as a new tensor."""
    return zero_d_array(as_tensor(numpy.asarray(array)))


def known(x):
    """A constant for NumPy: Python numbers as they are, tensors as NumPy arrays. A value computed from the inputs cannot be one."""
    if isinstance(x, torch.Tensor):
        return numpy.asarray(x.tolist(), dtype=to_numpy(x.dtype))[()]
    return x


def _has_tensor(*args):
    return any(isinstance(a, torch.Tensor) or (isinstance(a, (list, tuple)) and _has_tensor(*a)) for a in args)


def check_device(device):
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


def ordered(made, order):
    """`made` in memory order: Fortran's where NumPy would make it so (views of it then have NumPy's strides)."""
    if order not in ("F", "f"):
        return made
    backwards = tuple(range(made.ndim))[::-1]
    return torch.permute(torch.permute(made, backwards).contiguous(), backwards)


def _new_shape(shape):
    shape = sizes(shape)
    if any(s < 0 for s in shape):
        raise ValueError("negative dimensions are not allowed")
    return shape


@rule("numpy.zeros", kind="creation", examples=("np.zeros((2, 3))", "np.zeros(4, dtype=np.float32)", "np.zeros(a.shape, a.dtype)"))
@numpys_errors
def zeros(shape, dtype=None, order="C", *, device=None, like=None):
    if not isinstance(shape, torch.Tensor) and shape != () and order == "C" and device is None and dtype is None:
        return torch.zeros(shape, dtype=torch.float64)
    if not isinstance(shape, torch.Tensor) and shape != () and order == "C" and device is None:
        return torch.zeros(shape, dtype=to_torch(dtype))
    check_device(device)
    return zero_d_array(ordered(torch.zeros(_new_shape(shape), dtype=to_torch(dtype)), order))


@rule("numpy.ones", kind="creation", examples=("np.ones((2, 3))", "np.ones(4, dtype='f4')", "np.ones(a.shape, a.dtype)"))
@numpys_errors
def ones(shape, dtype=None, order="C", *, device=None, like=None):
    if not isinstance(shape, torch.Tensor) and shape != () and order == "C" and device is None and dtype is None:
        return torch.ones(shape, dtype=torch.float64)
    if not isinstance(shape, torch.Tensor) and shape != () and order == "C" and device is None:
        return torch.ones(shape, dtype=to_torch(dtype))
    check_device(device)
    return zero_d_array(ordered(torch.ones(_new_shape(shape), dtype=to_torch(dtype)), order))


@rule("numpy.empty", kind="creation", examples=("np.empty((2, 3)).shape", "np.empty(0)"))
def empty(shape, dtype=None, order="C", *, device=None, like=None):
    """Zeros: NumPy promises nothing about the values, and what a graph holds must be the same every time."""
    check_device(device)
    return zero_d_array(ordered(torch.zeros(_new_shape(shape), dtype=to_torch(dtype)), order))


@rule("numpy.full", kind="creation",
      examples=("np.full((2, 3), 1.5)", "np.full(3, 2)", "np.full((2, *a.shape), a)", "np.full(2, 1, dtype=a.dtype)"))  # fmt: skip
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """Without `dtype`, that of the value: a Python int makes int64, a float float64."""
    check_device(device)
    shape = _new_shape(shape)
    if _has_tensor(fill_value):
        value = as_tensor(fill_value, dtype)
        return zero_d_array(ordered(_filled(value, shape), order))
    return zero_d_array(ordered(_filled_with(fill_value, shape, dtype, None), order))


def _filled_with(fill_value, shape, dtype, device):
    """A constant value in every place. NumPy itself casts it, and raises OverflowError where it does not fit."""
    value = numpy.asarray(fill_value) if dtype is None else numpy.full(numpy.shape(fill_value), fill_value, to_numpy(dtype))
    if value.ndim == 0:
        return torch.full(shape, value.item(), dtype=to_torch(value.dtype), device=device)
    return _filled(as_tensor(value).to(device), shape)


def _filled(value, shape):
    try:
        return torch.clone(torch.broadcast_to(value, shape), memory_format=torch.contiguous_format)
    except RuntimeError:
        raise ValueError(f"could not broadcast input array from shape {tuple(value.shape)} into shape {tuple(shape)}") from None


def _like(make, a, dtype, order, shape):
    a = as_tensor(a)
    dtype = a.dtype if dtype is None else to_torch(dtype)
    if shape is None:
        return zero_d_array(_like_ordered(make(a, dtype=dtype), a, order))
    return zero_d_array(ordered(make(torch.empty(_new_shape(shape), device=a.device), dtype=dtype), order))


def _like_ordered(made, a, order):
    """torch keeps the strides (`order="K"`); any other order is made."""
    if order == "C":
        return made.contiguous()
    return ordered(made, order)


@rule("numpy.zeros_like", kind="creation",
      examples=("np.zeros_like(a)", "np.zeros_like(a, dtype=np.float32)", "np.zeros_like(a, shape=(2, 2))"))  # fmt: skip
@numpys_errors
def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    if isinstance(a, torch.Tensor) and a.ndim > 0 and order == "K" and shape is None and dtype is None and device is None:
        return torch.zeros_like(a)
    if isinstance(a, torch.Tensor) and a.ndim > 0 and order == "K" and shape is None and device is None:
        return torch.zeros_like(a, dtype=to_torch(dtype))
    check_device(device)
    return _like(torch.zeros_like, a, dtype, order, shape)


@rule("numpy.ones_like", kind="creation",
      examples=("np.ones_like(a)", "np.ones_like(a, dtype=np.float32)", "np.ones_like(a, shape=(2, 2))"))  # fmt: skip
@numpys_errors
def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    if isinstance(a, torch.Tensor) and a.ndim > 0 and order == "K" and shape is None and dtype is None and device is None:
        return torch.ones_like(a)
    if isinstance(a, torch.Tensor) and a.ndim > 0 and order == "K" and shape is None and device is None:
        return torch.ones_like(a, dtype=to_torch(dtype))
    check_device(device)
    return _like(torch.ones_like, a, dtype, order, shape)


@rule("numpy.empty_like", kind="creation", examples=("np.empty_like(a).shape", "np.empty_like(a, dtype=np.float32).dtype"))
def empty_like(prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros: NumPy promises nothing about the values, and what a graph holds must be the same every time."""
    check_device(device)
    return _like(torch.zeros_like, prototype, dtype, order, shape)


@rule("numpy.full_like", kind="creation",
      examples=("np.full_like(a, 1)", "np.full_like(x, 2.5, dtype=np.float64)", "np.full_like(a, 1, shape=(2, 2))",
                "np.full_like(x, y)"))  # fmt: skip
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """In the dtype of `a`, whatever the value's is."""
    check_device(device)
    a = as_tensor(a)
    target = a.dtype if dtype is None else to_torch(dtype)
    if _has_tensor(fill_value):
        value = cast(as_tensor(fill_value), target)
        return zero_d_array(ordered(_filled(value, a.shape if shape is None else _new_shape(shape)), order))
    value = numpy.full(numpy.shape(fill_value), fill_value, to_numpy(target))  # casts as NumPy does
    if shape is None and value.ndim == 0:
        return zero_d_array(_like_ordered(torch.full_like(a, value.item(), dtype=target), a, order))
    return zero_d_array(ordered(_filled_with(value, a.shape if shape is None else _new_shape(shape), target, a.device), order))


@rule("numpy.eye", kind="creation", examples=("np.eye(3)", "np.eye(2, 3, k=1)", "np.eye(3, dtype=a.dtype)"))
def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    check_device(device)
    return ordered(constant(numpy.eye(known(N), known(M), k, to_numpy(to_torch(dtype)))), order)


@rule("numpy.identity", kind="creation", examples=("np.identity(3)", "np.identity(2, dtype=np.float32)"))
def identity(n, dtype=None, *, like=None):
    return constant(numpy.identity(known(n), to_numpy(to_torch(dtype))))


@rule("numpy.arange", kind="creation",
      examples=("np.arange(5)", "np.arange(1, 10, 3)", "np.arange(0.0, 1.0, 0.1)", "np.arange(5, 0, -2)",
                "np.arange(3, dtype=np.float32)"))  # fmt: skip
def arange(start_or_stop=None, /, stop=None, step=1, dtype=None, *, device=None, like=None, **named):
    """The values are `start + i * (second - start)`, computed in the dtype, as NumPy does. Bounds must be known when tracing."""
    check_device(device)
    if set(named) - {"start"}:
        raise TypeError(f"arange() got unexpected keyword arguments: {', '.join(named)}")
    first, last = named.get("start", start_or_stop), stop
    if last is None:
        first, last = None, first
    first = 0 if first is None else first
    if last is None:
        raise TypeError("arange() requires stop to be specified.")
    if all(type(n) is int for n in (first, last, step)) and step and dtype is None and (last - first) * step >= 0:
        return torch.arange(first, last, step)
    wanted = None if dtype is None else to_numpy(to_torch(dtype))
    return constant(numpy.arange(known(first), known(last), known(step), wanted))


@rule("numpy.linspace", kind="creation",
      examples=("np.linspace(0, 1, 5)", "np.linspace(0, 10, 4, endpoint=False, dtype=int)", "np.linspace(0, a, 3)",
                "np.linspace(f, g, 4, axis=-1)", "np.linspace(0, 1, num=3, retstep=True)", "np.linspace(z, 2, 1)"))  # fmt: skip
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """NumPy's formula: `i * step + start`, or `i / div * delta + start` where a step is zero; the last is exactly `stop`."""
    check_device(device)
    num = operator.index(num)
    wanted = None if dtype is None else to_torch(dtype)
    if not _has_tensor(start, stop):
        made = numpy.linspace(start, stop, num, endpoint, retstep, None if wanted is None else to_numpy(wanted), axis)
        return (constant(made[0]), made[1] if isinstance(made[1], float) else as_tensor(made[1])) if retstep else constant(made)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    exact = inexact(result_type(start, stop))
    start, stop = _ends(start, stop, exact)
    delta = stop - start
    div = num - 1 if endpoint else num
    steps = torch.arange(num, dtype=torch.float64, device=delta.device).to(exact).reshape((-1,) + (1,) * delta.ndim)
    step, y = float("nan"), steps * delta
    if div > 0:
        step = delta / div
        y = torch.where(torch.any(torch.eq(step, 0)), steps / div * delta, steps * step)
    y = y + start
    if endpoint and num > 1:
        y = torch.cat([torch.narrow(y, 0, 0, num - 1), torch.unsqueeze(torch.broadcast_to(stop, y.shape[1:]), 0)])
    if axis != 0:
        y = torch.movedim(y, 0, normalize_axis_index(operator.index(axis), y.ndim))
    if wanted is not None:
        y = cast(floor(y) if to_numpy(wanted).kind in "iu" else y, wanted)
    return (y, step) if retstep else y


def _ends(start, stop, dtype):
    """Both ends in the dtype that linspace computes in, on one device."""
    device = next(x.device for x in (start, stop) if isinstance(x, torch.Tensor))
    return tuple(cast(as_tensor(x), dtype).to(device) for x in (start, stop))


@rule("numpy.logspace", kind="creation",
      examples=("np.logspace(0, 2, 5)", "np.logspace(f, 1, 3, base=2.0)", "np.logspace(0, 3, 4, endpoint=False, dtype=int)"))  # fmt: skip
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """`base ** linspace(start, stop)`."""
    wanted = None if dtype is None else to_torch(dtype)
    if not _has_tensor(start, stop, base):
        return constant(numpy.logspace(start, stop, num, endpoint, base, None if wanted is None else to_numpy(wanted), axis))
    if not isinstance(base, (float, int)) and as_tensor(base).ndim:
        start, stop, base = _same_rank(as_tensor(start), as_tensor(stop), as_tensor(base))
        base = torch.unsqueeze(base, axis)
    y = power(base, linspace(start, stop, num, endpoint, axis=axis))
    return y if wanted is None else cast(y, wanted)


def _same_rank(*arrays):
    rank = max(a.ndim for a in arrays)
    return [torch.reshape(a, (1,) * (rank - a.ndim) + tuple(a.shape)) for a in arrays]


@rule("numpy.geomspace", kind="creation", examples=("np.geomspace(1, 1000, 4)", "np.geomspace(np.abs(f) + 1, 8.0, 3, axis=-1)"))
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Evenly spaced logarithms. Both ends are turned to be positive reals first, and turned back at the end."""
    wanted = None if dtype is None else to_torch(dtype)
    if not _has_tensor(start, stop):
        return constant(numpy.geomspace(start, stop, num, endpoint, None if wanted is None else to_numpy(wanted), axis))
    num = operator.index(num)
    start, stop = as_tensor(start), as_tensor(stop)
    exact = promote(start.dtype, stop.dtype, float, wanted or torch.float64)
    first, last = torch.broadcast_tensors(*_ends(start, stop, exact))
    demand(torch.logical_not(torch.logical_or(torch.eq(first, 0), torch.eq(last, 0))), ValueError("Geometric sequence cannot include zero"))
    turn = sign(first)
    first, last = first / turn, last / turn
    y = torch.pow(10.0, linspace(torch.log10(first), torch.log10(last), num, endpoint))
    middle = torch.narrow(y, 0, 1, max(num - (2 if endpoint else 1), 0)) if num else y
    ends = [torch.unsqueeze(first, 0)] if num else []
    tail = [torch.unsqueeze(last, 0)] if num > 1 and endpoint else []
    y = torch.cat([*ends, middle, *tail]) * turn
    if axis != 0:
        y = torch.movedim(y, 0, normalize_axis_index(operator.index(axis), y.ndim))
    return y if wanted is None else cast(y, wanted)


@rule("numpy.tri", kind="creation", examples=("np.tri(3)", "np.tri(2, 3, k=-1, dtype=bool)"))
def tri(N, M=None, k=0, dtype=float, *, like=None):
    return constant(numpy.tri(known(N), known(M), k, to_numpy(to_torch(dtype))))


@rule("numpy.tril", kind="shape", examples=("np.tril(m)", "np.tril(x, k=-1)"))
def tril(m, k=0):
    """The lower triangle of the last two axes. A 1-D array becomes a matrix of equal rows first, as in NumPy."""
    m = as_tensor(m)
    if m.ndim >= 2 and m.dtype not in WIDER:
        return torch.tril(m, k)
    m = _square(m)
    return torch.tril(bits(m), k).view(m.dtype)


@rule("numpy.triu", kind="shape", examples=("np.triu(m)", "np.triu(x, k=1)"))
def triu(m, k=0):
    """The upper triangle of the last two axes. A 1-D array becomes a matrix of equal rows first, as in NumPy."""
    m = as_tensor(m)
    if m.ndim >= 2 and m.dtype not in WIDER:
        return torch.triu(m, k)
    m = _square(m)
    return torch.triu(bits(m), k).view(m.dtype)


def _square(m):
    if m.ndim == 0:
        raise TypeError("tri() missing 1 required positional argument: 'N'")
    return torch.broadcast_to(m, (m.shape[0], m.shape[0])) if m.ndim == 1 else m


@rule("numpy.diag", kind="shape", view=True, examples=("np.diag(v)", "np.diag(v, k=-1)", "np.diag(m)", "np.diag(m, 1)"))
def diag(v, k=0):
    """A matrix with a 1-D array on its diagonal; of a matrix, the diagonal as a read-only view."""
    v = as_tensor(v)
    if v.ndim == 1:
        return torch.diag(v, k)
    if v.ndim == 2:
        return read_only(torch.diagonal(v, k))
    raise ValueError("Input must be 1- or 2-d.")


@rule("numpy.diagflat", kind="shape", examples=("np.diagflat(m)", "np.diagflat(v, -1)"))
def diagflat(v, k=0):
    return torch.diag_embed(torch.flatten(as_tensor(v)), k)


@rule("numpy.diagonal", "numpy.ndarray.diagonal", kind="shape", view=True,
      examples=("np.diagonal(m)", "m.diagonal(1)", "np.diagonal(np.atleast_3d(m), offset=-1, axis1=-1, axis2=0)"))  # fmt: skip
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonal becomes the last axis. A read-only view, as in NumPy."""
    a = as_tensor(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axis1, axis2 = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    if axis1 == axis2:
        raise ValueError("axis1 and axis2 cannot be the same")
    return read_only(torch.diagonal(a, offset, axis1, axis2))


@rule("numpy.vander", kind="creation", examples=("np.vander(v)", "np.vander(v, 3, increasing=True)"))
def vander(x, N=None, increasing=False):
    """Powers of a 1-D array as columns, by repeated multiplication as in NumPy."""
    x = as_tensor(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else operator.index(N)
    dtype = promote(x.dtype, torch.int64)
    first = torch.ones((x.shape[0], min(n, 1)), dtype=dtype, device=x.device)
    powers = torch.cat([first, torch.unsqueeze(cast(x, dtype), 1).expand(-1, max(n - 1, 0))], 1)
    powers = torch.cumprod(powers, 1)
    return powers if increasing else flipped(powers, (1,))


@rule("numpy.meshgrid", kind="arrays", examples=("np.meshgrid(v, v)", "np.meshgrid(v, w, indexing='ij')", "np.meshgrid(v, w, sparse=True)"))
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """A tuple of coordinate arrays, each in its own dtype. `"xy"` puts the second axis first."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[:2] = [1, 0]
    grids = [torch.reshape(as_tensor(x), tuple(-1 if d == place else 1 for d in range(rank))) for x, place in zip(xi, places, strict=True)]
    if not sparse and grids:
        grids = torch.broadcast_tensors(*grids)
    return tuple(torch.clone(g, memory_format=torch.contiguous_format) if copy else g for g in grids)


@rule("numpy.indices", kind="creation",
      examples=("np.indices((2, 3))", "np.indices((2, 3), sparse=True)", "np.indices(x.shape, dtype=float)"))  # fmt: skip
def indices(dimensions, dtype=int, sparse=False):
    made = numpy.indices(sizes(dimensions), to_numpy(to_torch(dtype)), sparse)
    return tuple(map(constant, made)) if sparse else constant(made)


@rule("numpy.fromfunction", kind="creation", examples=("np.fromfunction(lambda i, j: i + j, (2, 3))",))
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """The function is called once, on the arrays of all indices."""
    return function(*torch.unbind(indices(shape, dtype)), **kwargs)


refuse(
    "numpy.fromfile",
    "numpy.fromstring",
    "numpy.fromregex",
    "numpy.loadtxt",
    "numpy.genfromtxt",
    "numpy.load",
    "numpy.memmap",
    reason="it reads data from outside the graph",
    hint="read the array before the node and pass it in, or keep it as a constant of the module",
    finding="side-effect",
)
refuse(
    "numpy.save",
    "numpy.savez",
    "numpy.savez_compressed",
    "numpy.savetxt",
    reason="it writes to a file, which a graph cannot do",
    hint="return the array from the node and save it outside",
    finding="side-effect",
)
