"""Making arrays: filled, numbered, from data, from functions; and matrices built from a diagonal.

What is made of constants is computed by NumPy itself, so it is NumPy's to the last bit, and is a constant of the graph.
New tensors are on torch's default device, or on that of the tensor they are made from. `like=` has no effect.
"""

from __future__ import annotations

import operator

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import (
    as_tensor,
    bits,
    cast,
    demand,
    holds_tensor,
    in_dtype,
    index_of,
    is_size,
    known,
    read_only,
    result_type,
    zero_d_array,
)
from ..semantics.dtypes import WIDER, inexact, promote, to_numpy, to_torch
from ..semantics.entering import rule
from ..semantics.indexing import stripped
from ..semantics.table import refuse
from ..semantics.views import numpys_errors, sizes
from .arithmetic import floor, power, sign


def _numpys(dtype):
    """A `dtype=` for NumPy itself. Refused where torch has none of that name."""
    return None if dtype is None else to_numpy(to_torch(dtype))

def check_device(device):
    if str(device) not in ("None", "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')

def check_like(like):
    """Raises NumPy's TypeError for a `like=` that is no array."""
    if like is not None and not isinstance(like, (torch.Tensor, numpy.ndarray)):
        raise TypeError("The `like` argument must be an array-like that implements the `__array_function__` protocol.")

def ordered(made, order):
    """`made` in the memory order "C" or "F" (views of it then have NumPy's strides); as it is for "K" and "A"."""
    if order not in (None, *"CFAKcfak"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if order in ("C", "c"):
        return made if made.is_contiguous() else made.contiguous()
    backwards = tuple(range(made.ndim))[::-1]
    if order not in ("F", "f") or torch.permute(made, backwards).is_contiguous():
        return made
    return torch.permute(torch.permute(made, backwards).contiguous(), backwards)

def _new_shape(shape):
    shape = sizes(shape)
    for s in shape:
        demand(s >= 0, ValueError("negative dimensions are not allowed"))
    return shape

def _is_plain(shape, order, device):
    """An array with axes, laid out as torch does it."""
    return not isinstance(shape, torch.Tensor) and shape != () and order == "C" and device is None

@rule("numpy.zeros", kind="creation", examples=("np.zeros((2, 3))", "np.zeros(4, dtype=np.float32)", "np.zeros(a.shape, a.dtype)"))
@numpys_errors
def zeros(shape, dtype=None, order="C", *, device=None, like=None):
    if _is_plain(shape, order, device):
        return torch.zeros(shape, dtype=torch.float64 if dtype is None else to_torch(dtype))
    return full(shape, 0, float if dtype is None else dtype, order, device=device)

@rule("numpy.ones", kind="creation", examples=("np.ones((2, 3))", "np.ones(4, dtype='f4')", "np.ones(a.shape, a.dtype)"))
@numpys_errors
def ones(shape, dtype=None, order="C", *, device=None, like=None):
    if _is_plain(shape, order, device):
        return torch.ones(shape, dtype=torch.float64 if dtype is None else to_torch(dtype))
    return full(shape, 1, float if dtype is None else dtype, order, device=device)

@rule("numpy.empty", kind="creation", examples=("np.empty((2, 3)).shape", "np.empty(0)"))
def empty(shape, dtype=None, order="C", *, device=None, like=None):
    """Zeros: NumPy promises nothing about the values, and what a graph holds must be the same every time."""
    return zeros(shape, dtype, order, device=device)

@rule("numpy.full", kind="creation",
      examples=("np.full((2, 3), 1.5)", "np.full(3, 2)", "np.full((2, *a.shape), a)", "np.full(2, 1, dtype=a.dtype)"))  # fmt: skip
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """Without `dtype`, that of the value: a Python int makes int64, a float float64."""
    check_device(device)
    return zero_d_array(ordered(_filled(_new_shape(shape), fill_value, dtype), _c_or_f(order)))

def _c_or_f(order):
    if order not in (None, *"CFcf"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return order

def _filled(shape, fill_value, dtype=None, device=None):
    """The value, broadcast. A constant is cast by NumPy itself, which raises OverflowError where it does not fit."""
    if is_size(fill_value) and dtype is not None:
        fill_value = as_tensor(in_dtype(fill_value, to_torch(dtype)))
    if holds_tensor(fill_value) or is_size(fill_value):
        value = as_tensor(fill_value)
        value = value if dtype is None else cast(value, to_torch(dtype))
    else:
        array = numpy.asarray(fill_value) if dtype is None else numpy.full(numpy.shape(fill_value), fill_value, _numpys(dtype))
        if array.ndim == 0:
            return torch.full(shape, array.item(), dtype=to_torch(array.dtype), device=device)
        value = as_tensor(array).to(device)
    try:
        return torch.clone(torch.broadcast_to(stripped(value, len(shape)), shape), memory_format=torch.contiguous_format)
    except RuntimeError:
        raise ValueError(f"could not broadcast input array from shape {tuple(value.shape)} into shape {tuple(shape)}") from None

def _is_plain_like(a, order, shape, device):
    """An array with axes and the strides of `a`, as torch makes it."""
    return isinstance(a, torch.Tensor) and a.ndim > 0 and order == "K" and shape is None and device is None

@rule("numpy.zeros_like", kind="creation", examples=("np.zeros_like(a)", "np.zeros_like(a, np.float32)", "np.zeros_like(a, shape=(2, 2))"))
@numpys_errors
def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    if _is_plain_like(a, order, shape, device) and dtype is None:
        return torch.zeros_like(a)
    if _is_plain_like(a, order, shape, device):
        return torch.zeros_like(a, dtype=to_torch(dtype))
    return full_like(a, 0, dtype, order, subok, shape, device=device)

@rule("numpy.ones_like", kind="creation", examples=("np.ones_like(a)", "np.ones_like(a, np.float32)", "np.ones_like(a, shape=(2, 2))"))
@numpys_errors
def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    if _is_plain_like(a, order, shape, device) and dtype is None:
        return torch.ones_like(a)
    if _is_plain_like(a, order, shape, device):
        return torch.ones_like(a, dtype=to_torch(dtype))
    return full_like(a, 1, dtype, order, subok, shape, device=device)

@rule("numpy.empty_like", kind="creation", examples=("np.empty_like(a).shape", "np.empty_like(a, dtype=np.float32).dtype"))
def empty_like(prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros, as in `empty`."""
    return zeros_like(prototype, dtype, order, subok, shape, device=device)

@rule("numpy.full_like", kind="creation", examples=(
    "np.full_like(a, 1)", "np.full_like(x, 2.5, dtype=np.float64)", "np.full_like(a, 1, shape=(2, 2))", "np.full_like(x, y)"))  # fmt: skip
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """In the dtype of `a`, whatever the value's is."""
    check_device(device)
    a = as_tensor(a)
    dtype = a.dtype if dtype is None else to_torch(dtype)
    if shape is None and not holds_tensor(fill_value) and not is_size(fill_value) and numpy.ndim(fill_value) == 0:
        number = numpy.full((), fill_value, to_numpy(dtype)).item()  # cast as NumPy does
        return zero_d_array(ordered(torch.full_like(a, number, dtype=dtype), order))
    return zero_d_array(ordered(_filled(a.shape if shape is None else _new_shape(shape), fill_value, dtype, a.device), order))

@rule("numpy.eye", kind="creation", examples=("np.eye(3)", "np.eye(2, 3, k=1)", "np.eye(3, dtype=a.dtype)"))
@numpys_errors
def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    if type(N) is int and M is None and k == 0 and dtype is float and order == "C" and device is None:
        return torch.eye(N, dtype=torch.float64)
    check_device(device)
    if is_size(N) or is_size(M):
        return ordered(_on_diagonal(torch.eq, N, M, k, dtype), _c_or_f(order))
    return ordered(as_tensor(numpy.eye(known(N), known(M), k, _numpys(dtype))), _c_or_f(order))

def _on_diagonal(compare, rows, columns, k, dtype):
    """How each column's number, less `k`, compares with the row's: 1 where it does, 0 elsewhere. For sizes that a graph computes."""
    columns = rows if columns is None else columns
    return cast(compare(torch.unsqueeze(torch.arange(rows), 1) + k, torch.arange(columns)), to_torch(dtype))

@rule("numpy.identity", kind="creation", examples=("np.identity(3)", "np.identity(2, dtype=np.float32)"))
@numpys_errors
def identity(n, dtype=None, *, like=None):
    if type(n) is int and dtype is None:
        return torch.eye(n, dtype=torch.float64)
    return eye(n, dtype=float if dtype is None else dtype)

@rule("numpy.arange", kind="creation", examples=(
    "np.arange(5)", "np.arange(1, 10, 3)", "np.arange(0.0, 1.0, 0.1)", "np.arange(5, 0, -2)", "np.arange(3, dtype='f4')"))  # fmt: skip
def arange(start_or_stop=None, /, stop=None, step=1, dtype=None, *, device=None, like=None, **named):
    """The values are `start + i * (second - start)`, computed in the dtype, as NumPy does. Bounds must be known when tracing."""
    if type(start_or_stop) is int and stop is None and step == 1 and dtype is None and device is None:
        return torch.arange(not_negative(start_or_stop))
    check_device(device)
    start = named.pop("start", start_or_stop)
    if named:
        raise TypeError(f"arange() got unexpected keyword arguments: {', '.join(named)}")
    if stop is None:
        start, stop = 0, start
    if stop is None:
        raise TypeError("arange() requires stop to be specified.")
    bounds = (0 if start is None else start, stop, step)
    if any(map(is_size, bounds)) and bounds[0] == 0 and step == 1 and dtype is not None and to_torch(dtype) in _EXACT:
        return cast(torch.arange(stop), to_torch(dtype))
    if dtype is None and all(type(n) is int or is_size(n) for n in bounds) and step and (stop - bounds[0]) * step >= 0:
        return torch.arange(*bounds)
    return as_tensor(numpy.arange(*map(known, bounds), _numpys(dtype)))

def not_negative(n):
    """Of a length below 0 NumPy makes nothing; torch raises."""
    return max(n, 0)

_EXACT = (torch.int64, torch.float64, torch.float32)
"""Dtypes in which NumPy counts as torch does."""

@rule("numpy.linspace", kind="creation", examples=(
    "np.linspace(0, 1, 5)", "np.linspace(0, 10, 4, endpoint=False, dtype=int)", "np.linspace(0, a, 3)", "np.linspace(f, g, 4, axis=-1)",
    "np.linspace(0, 1, num=3, retstep=True)", "np.linspace(z, 2, 1)"))  # fmt: skip
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """NumPy's formula: `i * step + start`, or `i / div * delta + start` where a step is zero; the last is exactly `stop`."""
    check_device(device)
    num, wanted = index_of(num), _numpys(dtype)
    if not is_size(num) and not holds_tensor((start, stop)):
        made, step = numpy.linspace(start, stop, num, endpoint, True, wanted, axis)
        return (as_tensor(made), step if isinstance(step, float) else as_tensor(step)) if retstep else as_tensor(made)
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
    y = _samples_along(axis, y)
    if wanted is not None:
        y = cast(floor(y) if wanted.kind in "iu" else y, to_torch(wanted))
    return (y, step) if retstep else y

def _ends(start, stop, dtype):
    """Both ends in the dtype that linspace computes in, on one device."""
    device = next((x.device for x in (start, stop) if isinstance(x, torch.Tensor)), None)
    return tuple(cast(as_tensor(x), dtype).to(device) for x in (start, stop))

def _samples_along(axis, y):
    return y if axis == 0 else torch.movedim(y, 0, normalize_axis_index(operator.index(axis), y.ndim))

@rule("numpy.logspace", kind="creation", examples=("np.logspace(f, 1, 3, base=2.0)", "np.logspace(0, 3, 4, endpoint=False, dtype=int)"))
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """`base ** linspace(start, stop)`."""
    if not holds_tensor((start, stop, base)):
        return as_tensor(numpy.logspace(start, stop, num, endpoint, base, _numpys(dtype), axis))
    if not isinstance(base, (float, int)) and as_tensor(base).ndim:
        start, stop, base = torch.broadcast_tensors(as_tensor(start), as_tensor(stop), as_tensor(base))
        base = torch.unsqueeze(base, axis)
    y = power(base, linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else cast(y, to_torch(dtype))

@rule("numpy.geomspace", kind="creation", examples=("np.geomspace(1, 1000, 4)", "np.geomspace(np.abs(f) + 1, 8.0, 3, axis=-1)"))
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Evenly spaced logarithms. Both ends are turned to be positive reals first, and turned back at the end."""
    if not holds_tensor((start, stop)):
        return as_tensor(numpy.geomspace(start, stop, num, endpoint, _numpys(dtype), axis))
    num, wanted = operator.index(num), None if dtype is None else to_torch(dtype)
    exact = promote(as_tensor(start).dtype, as_tensor(stop).dtype, float, wanted or torch.float64)
    first, last = torch.broadcast_tensors(*_ends(start, stop, exact))
    demand(torch.logical_not(torch.logical_or(torch.eq(first, 0), torch.eq(last, 0))), ValueError("Geometric sequence cannot include zero"))
    turn = sign(first)
    first, last = first / turn, last / turn
    y = torch.pow(10.0, linspace(torch.log10(first), torch.log10(last), num, endpoint))
    if num > 1 and endpoint:
        y = torch.cat([torch.unsqueeze(first, 0), torch.narrow(y, 0, 1, num - 2), torch.unsqueeze(last, 0)])
    elif num > 0:
        y = torch.cat([torch.unsqueeze(first, 0), torch.narrow(y, 0, 1, num - 1)])
    y = _samples_along(axis, y * turn)
    return y if wanted is None else cast(y, wanted)

@rule("numpy.tri", kind="creation", examples=("np.tri(3)", "np.tri(2, 3, k=-1, dtype=bool)"))
def tri(N, M=None, k=0, dtype=float, *, like=None):
    if is_size(N) or is_size(M):
        return _on_diagonal(torch.ge, N, M, k, dtype)
    return as_tensor(numpy.tri(known(N), known(M), k, _numpys(dtype)))

@rule("numpy.tril", kind="shape", examples=("np.tril(m)", "np.tril(x, k=-1)"))
def tril(m, k=0):
    """The lower triangle of the last two axes. A 1-D array becomes a matrix of equal rows first, as in NumPy."""
    m = as_tensor(m)
    if m.ndim >= 2 and m.dtype not in WIDER:
        return torch.tril(m, k)
    return torch.tril(_square_bits(m), k).view(m.dtype)

@rule("numpy.triu", kind="shape", examples=("np.triu(m)", "np.triu(x, k=1)"))
def triu(m, k=0):
    """The upper triangle of the last two axes. A 1-D array becomes a matrix of equal rows first, as in NumPy."""
    m = as_tensor(m)
    if m.ndim >= 2 and m.dtype not in WIDER:
        return torch.triu(m, k)
    return torch.triu(_square_bits(m), k).view(m.dtype)

def _square_bits(m):
    if m.ndim == 0:
        raise TypeError("tri() missing 1 required positional argument: 'N'")
    return bits(torch.broadcast_to(m, (m.shape[0], m.shape[0])) if m.ndim == 1 else m)

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
      examples=("np.diagonal(m)", "np.atleast_3d(m).diagonal(offset=-1, axis1=-1, axis2=0)"))  # fmt: skip
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
@numpys_errors
def vander(x, N=None, increasing=False):
    """Powers of a 1-D array as columns, by repeated multiplication as in NumPy."""
    x = as_tensor(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.shape[0] if N is None else index_of(N)
    x = cast(x, promote(x.dtype, torch.int64))
    ones_first = torch.ones((x.shape[0], min(n, 1)), dtype=x.dtype, device=x.device)
    powers = torch.cumprod(torch.cat([ones_first, torch.unsqueeze(x, 1).expand(-1, max(n - 1, 0))], 1), 1)
    return powers if increasing else torch.flip(powers, (1,))

@rule("numpy.meshgrid", kind="arrays", examples=("np.meshgrid(v, v)", "np.meshgrid(v, w, indexing='ij')", "np.meshgrid(v, w, sparse=True)"))
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """A tuple of coordinate arrays, each in its own dtype. `"xy"` puts the second axis first."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    axes = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else range(rank)
    grids = [torch.reshape(as_tensor(x), tuple(-1 if d == axis else 1 for d in range(rank))) for x, axis in zip(xi, axes, strict=True)]
    grids = torch.broadcast_tensors(*grids) if grids and not sparse else grids
    return tuple(torch.clone(g, memory_format=torch.contiguous_format) if copy else g for g in grids)

@rule("numpy.indices", kind="creation", examples=("np.indices((2, 3), sparse=True)", "np.indices(x.shape, dtype=float)"))
def indices(dimensions, dtype=int, sparse=False):
    shape = sizes(dimensions)
    if any(map(is_size, shape)):
        lines = [torch.reshape(cast(torch.arange(n), to_torch(dtype)), tuple(-1 if d == axis else 1 for d in range(len(shape))))
                 for axis, n in enumerate(shape)]  # fmt: skip
        return tuple(lines) if sparse else torch.stack([torch.broadcast_to(line, shape) for line in lines])
    made = numpy.indices(shape, _numpys(dtype), sparse)
    return tuple(map(as_tensor, made)) if sparse else as_tensor(made)

@rule("numpy.fromfunction", kind="creation", examples=("np.fromfunction(lambda i, j: i + j, (2, 3))",))
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """The function is called once, on the arrays of all indices."""
    check_like(like)
    return function(*torch.unbind(indices(shape, dtype)), **kwargs)

refuse("numpy.fromfile", "numpy.fromstring", "numpy.fromregex", "numpy.loadtxt", "numpy.genfromtxt", "numpy.load", "numpy.memmap",
       finding="side-effect", reason="it reads data from outside the graph",
       hint="read the array before the node and pass it in, or keep it as a constant of the module")  # fmt: skip
refuse("numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt", finding="side-effect",
       reason="it writes to a file, which a graph cannot do", hint="return the array from the node and save it outside")  # fmt: skip
