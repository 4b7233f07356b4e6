"""Arrays from other things and from each other: array and asarray, copies, casts, views; and what is asked about dtypes.

Questions about dtypes are answered by NumPy itself, with NumPy's dtype objects.
"""

from __future__ import annotations

import inspect
import itertools
import math
import operator
from collections.abc import Iterable

import numpy
import torch

from ..semantics.arrays import as_tensor, cast, copied_layout, demand, is_recording, is_scalar, known, read_only, store, zero_d_array
from ..semantics.copying import copied
from ..semantics.dtypes import to_numpy, to_torch
from ..semantics.entering import rule
from ..semantics.table import Refused, refuse
from ..semantics.views import giving_arrays, retyped, seen_as, viewing
from .creation import check_device, check_like, ordered
from .joining import scalars
from .mathematics import arctan2


@rule("numpy.array", kind="creation", examples=(
    "np.array(a)", "np.array([1.0, 2.0, 3.0], dtype=np.float32)", "np.array([x, y])", "np.array(3)", "np.array(v, ndmin=2)",
    "np.array([[1, v[0]], [v[-1], 2.5]])"))  # fmt: skip
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    """Always a copy unless `copy` says otherwise; Python numbers in lists are not weak: an int among float32s makes float64."""
    if isinstance(object, torch.Tensor) and object.ndim > 0 and dtype is None and copy is True and order == "K" and ndmin == 0:
        return torch.clone(object)
    if dtype is None and copy is True and order == "K" and ndmin == 0 and scalars(object):
        return torch.stack(object)
    if _is_array(object) and dtype is not None and copy is True and order == "K" and ndmin == 0:
        return torch.clone(object) if is_of(object, to_torch(dtype)) else cast(object, to_torch(dtype))
    made = _as_array(object, dtype, order, copy)
    return zero_d_array(made if made.ndim >= ndmin else torch.reshape(made, (1,) * (ndmin - made.ndim) + tuple(made.shape)))

def _is_array(a):
    return isinstance(a, torch.Tensor) and a.ndim > 0

def is_of(a, dtype):
    return a.dtype == dtype

def _as_array(a, dtype, order, copy=None):
    """An array of `a`: itself where it is one of that dtype and order. A scalar always makes a new one."""
    made = ordered(as_tensor(a, dtype), order)
    if made is not a and copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return torch.clone(made) if made is a and (copy or is_scalar(made)) else made

@rule("numpy.asarray", "numpy.asanyarray", kind="creation", view=True, examples=("np.asarray(a)", "np.asarray(a, 'f4')", "np.asarray(2.5)"))
def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """The array itself where it is one of that dtype and order already."""
    if _is_array(a) and order is None and device is None and copy is None and (dtype is None or is_of(a, to_torch(dtype))):
        return a
    if _is_array(a) and order is None and device is None and copy is None:
        return cast(a, to_torch(dtype))
    check_device(device)
    return zero_d_array(_as_array(a, dtype, order, copy))

@rule("numpy.asarray_chkfinite", kind="creation", examples=("np.asarray_chkfinite(a)",))
def asarray_chkfinite(a, dtype=None, order=None):
    """Raises ValueError where a value is nan or infinite."""
    made = zero_d_array(_as_array(a, dtype, order))
    if made.is_floating_point() or made.is_complex():
        demand(torch.isfinite(made), ValueError("array must not contain infs or NaNs"))
    return made

@rule("numpy.ascontiguousarray", kind="creation", view=True, examples=("np.ascontiguousarray(a)", "np.ascontiguousarray(m.T, np.float64)"))
def ascontiguousarray(a, dtype=None, *, like=None):
    """At least 1-D."""
    if _is_array(a) and dtype is None:
        return a.contiguous()
    return torch.atleast_1d(_as_array(a, dtype, "C"))

@rule("numpy.asfortranarray", kind="creation", view=True, examples=("np.asfortranarray(a)", "np.asfortranarray(m, np.float64)"))
def asfortranarray(a, dtype=None, *, like=None):
    """At least 1-D."""
    return torch.atleast_1d(_as_array(a, dtype, "F"))

@rule("numpy.require", kind="creation", view=True, examples=("np.require(a)", "np.require(x, np.float64, ['C', 'W'])"))
def require(a, dtype=None, requirements=None, *, like=None):
    """`C` and `F` order the memory; `O` and `W` ask for an array of its own, which a read-only one or a view is copied to be."""
    wants = {str(r).upper() for r in requirements or ()}
    names = {*"CFAWOE", "C_CONTIGUOUS", "CONTIGUOUS", "F_CONTIGUOUS", "FORTRAN", "ALIGNED", "WRITEABLE", "OWNDATA", "ENSUREARRAY"}
    if wants - names:
        raise KeyError(f"no such requirements: {wants - names}")
    flags = {want[0] for want in wants}
    if {"C", "F"} <= flags:
        raise ValueError('Cannot specify both "C" and "F" order')
    made = _as_array(a, dtype, "C" if "C" in flags else "F" if "F" in flags else "A")
    if made is a and ("O" in flags or ("W" in flags and getattr(made, "_np2fx_read_only", False))):
        made = torch.clone(made)
    return zero_d_array(made)

@rule("numpy.copy", kind="creation", examples=("np.copy(a)", "np.copy([v, w])"))
def copy(a, order="K", subok=False):
    if isinstance(a, torch.Tensor) and a.ndim > 0 and order == "K":
        return torch.clone(a)
    return zero_d_array(_as_array(a, None, order, True))

@rule("numpy.ndarray.copy", kind="creation", examples=("a.copy()", "m.T.copy()"))
def ndarray_copy(a, order="C"):
    """In C's order unless told otherwise."""
    if a.ndim < 2 and order == "C":
        return _same_kind(torch.clone(a), a)
    if order == "C":
        return torch.clone(a, memory_format=torch.contiguous_format)
    lies = "F" if not a.is_contiguous() and a.permute(*range(a.ndim)[::-1]).is_contiguous() else "C"
    return _same_kind(copied_layout(ordered(torch.clone(a), lies if order in ("A", "a") else order), a, order), a)

def _same_kind(made, a):
    """A 0-d result is an array where `a` is one; of a scalar it is a scalar."""
    return made if is_scalar(a) else zero_d_array(made)

@rule("numpy.ndarray.__copy__", kind="creation", examples=("a.__copy__()",))
def shallow_copy(a):
    return _same_kind(torch.clone(a), a)

@rule("numpy.ndarray.__deepcopy__", kind="creation", examples=("a.__deepcopy__({})",))
def deep_copy(a, memo=None, /):
    return _same_kind(torch.clone(a), a)

@rule("numpy.ndarray.astype", kind="creation", examples=(
    "a.astype(np.float32)", "a.astype(bool)", "x.astype(x.dtype)", "x.astype('f8', casting='same_kind')", "k.astype(int)"))  # fmt: skip
def astype(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """Floats are truncated to ints. Raises TypeError where `casting` does not allow the cast."""
    target = to_torch(dtype)
    if casting == "same_value":
        raise Refused("casting='same_value' checks every value", "check the values yourself and cast with the default casting")
    if casting == "unsafe" and order == "K" and a.dtype != target:
        return _same_kind(cast(a, target), a)
    if casting == "unsafe" and order == "K" and copy:
        return _same_kind(torch.clone(a), a)
    if not can_cast(a.dtype, target, casting):
        raise TypeError(f"Cannot cast array data from {to_numpy(a.dtype)!r} to {to_numpy(target)!r} according to the rule {casting!r}")
    made = ordered(cast(a, target), order)
    return _same_kind(torch.clone(made) if copy and made is a else made, a)

@rule("numpy.astype", kind="creation", examples=("np.astype(a, np.float64)", "np.astype(a, a.dtype, copy=False)"))
def array_astype(x, dtype, /, *, copy=True, device=None):
    check_device(device)
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"Input should be a NumPy array. It is a {type(x).__name__} instead.")
    return astype(x, dtype, copy=copy)

@rule("numpy.ndarray.view", kind="creation", view=True, examples=("a.view()", "i.astype(np.float32).view(np.int32)", "x.view(x.dtype)"))
@viewing
def view(a, dtype=numpy._NoValue, type=None):
    """The same memory, seen as another dtype: of the same size anywhere, of another size where the last axis divides."""
    if inspect.isclass(dtype) and issubclass(dtype, numpy.ndarray):
        dtype, type = numpy._NoValue, dtype
    if type not in (None, numpy.ndarray):
        raise Refused(f"a view as a {type.__name__} is not supported", "use plain arrays", "unmapped-function")
    target = a.dtype if dtype is numpy._NoValue else seen_as(a, dtype)
    if target == a.dtype:
        return a
    if target == torch.bool:
        raise Refused("a view of bytes as bool is not supported", "use a != 0")
    return retyped(a, target)

@rule("numpy.ndarray.getfield", kind="creation", view=True, examples=("x.getfield(np.int8)", "z.getfield(np.float32, 4)"))
@viewing
def getfield(a, dtype, offset=0):
    """Of each element the part that starts at byte `offset`, as a view of another dtype."""
    target = seen_as(a, dtype)
    if not 0 <= offset <= a.dtype.itemsize - target.itemsize:
        raise ValueError(f"Need 0 <= offset <= {a.dtype.itemsize} for requested type but received offset = {offset}")
    if offset % target.itemsize or target == torch.bool:
        raise Refused("getfield of unaligned parts or of bools is not supported", "use x.view(np.uint8)")
    if target == a.dtype:
        return a
    return torch.select(torch.unsqueeze(a, -1).view(target), -1, offset // target.itemsize)

@rule("numpy.ndarray.__array_namespace__", kind="python", examples=("x.__array_namespace__().pi",))
def array_namespace(a, /, *, api_version=None):
    """NumPy's names over tensors."""
    from ..arrays.bare import namespace

    return namespace

@rule("numpy.ndarray.device", kind="python", examples=("x.device",))
def device(a):
    """NumPy has but one."""
    return "cpu"

@rule("numpy.ndarray.to_device", kind="creation", view=True, examples=("x.to_device('cpu')",))
def to_device(a, device, /, *, stream=None):
    if str(device) not in ("cpu", str(a.device)) or stream is not None:
        raise ValueError(f"Unsupported device or stream: {device}, {stream}. Only 'cpu' and no stream are accepted.")
    return a

@rule("numpy.ndarray.item", kind="python", examples=("v.item(0)", "m.item(0, -1)", "a[..., None].item()"))
def item(a, /, *args):
    """A Python number. Takes the value out of the graph: under a tracer only constants have one."""
    index = tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    if not args and a.numel() != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    if args and len(index) not in (1, a.ndim):
        raise ValueError("incorrect number of indices for array")
    picked = (torch.flatten(a) if len(index) == 1 else a)[index] if args else a
    return picked.item()

@rule("numpy.ndarray.tolist", kind="python", examples=("a.tolist()",))
def tolist(a):
    """Nested lists of Python numbers. Takes the values out of the graph: under a tracer only constants have them."""
    return a.tolist()

@rule("numpy.real", "numpy.ndarray.real", kind="shape", view=True, examples=("np.real(a)", "z.real"))
def real(val):
    """A view of the real parts; a real array itself. Of a Python number one."""
    if isinstance(val, (int, float, complex)) and not isinstance(val, numpy.generic):
        return val.real
    val = as_tensor(val)
    return _same_kind(torch.real(val), val) if val.is_complex() else val

@rule("numpy.imag", "numpy.ndarray.imag", kind="shape", view=True, examples=("np.imag(a)", "z.imag"))
def imag(val):
    """A view of the imaginary parts; read-only zeros for a real array. Of a Python number one."""
    if isinstance(val, (int, float, complex)) and not isinstance(val, numpy.generic):
        return val.imag
    val = as_tensor(val)
    return _same_kind(torch.imag(val) if val.is_complex() else read_only(torch.zeros_like(val)), val)

@rule("numpy.angle", kind="elementwise", examples=("np.angle(a)", "np.angle(z, deg=True)"))
def angle(z, deg=False):
    """atan2 of the parts, in radians or degrees: pi for negative reals."""
    z = as_tensor(z)
    turned = torch.atan2(torch.imag(z), torch.real(z)) if z.is_complex() else arctan2(0, z)
    return turned * (180 / math.pi) if deg else turned

@rule("numpy.isreal", kind="elementwise", examples=("np.isreal(a)",))
def isreal(x):
    x = as_tensor(x)
    return torch.eq(torch.imag(x), 0) if x.is_complex() else torch.ones_like(x, dtype=torch.bool)

@rule("numpy.iscomplex", kind="elementwise", examples=("np.iscomplex(a)",))
def iscomplex(x):
    x = as_tensor(x)
    return torch.ne(torch.imag(x), 0) if x.is_complex() else torch.zeros_like(x, dtype=torch.bool)

@rule("numpy.isrealobj", kind="python", examples=("np.isrealobj(a)",))
def isrealobj(x):
    return not iscomplexobj(x)

@rule("numpy.iscomplexobj", kind="python", examples=("np.iscomplexobj(a)",))
def iscomplexobj(x):
    return as_tensor(x).is_complex()

@rule("numpy.real_if_close", kind="elementwise", examples=("np.real_if_close(k)", "np.real_if_close(f)"))
@giving_arrays
def real_if_close(a, tol=100):
    """Real arrays are returned as they are. Of complex ones the dtype of the result depends on the values."""
    a = as_tensor(a)
    if not a.is_complex():
        return a
    if is_recording():
        raise Refused("the dtype of numpy.real_if_close depends on values", "use x.real", "data-dependent-branch")
    limit = tol * torch.finfo(a.dtype).eps if tol > 1 else tol
    return torch.real(a) if torch.all(torch.lt(torch.abs(torch.imag(a)), limit)).item() else a

@rule("numpy.nan_to_num", kind="elementwise", examples=(
    "np.nan_to_num(f)", "np.nan_to_num(a, nan=1.0, posinf=2, neginf=-2)", "np.nan_to_num(z)", "np.nan_to_num(k, copy=False)"))  # fmt: skip
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """nan becomes `nan`, infinities the largest finite numbers unless given; ints stay. `copy=False` writes into `x`."""
    if not copy and isinstance(x, torch.Tensor) and not is_scalar(x):
        if is_recording():
            raise Refused("numpy.nan_to_num(copy=False) writes into its argument", "x[:] = np.nan_to_num(x)", "mutation")
        return store(x, _finite(x, nan, posinf, neginf))
    return _finite(as_tensor(x), nan, posinf, neginf)

def _finite(a, nan, posinf, neginf):
    if a.is_complex():
        return torch.complex(_finite(torch.real(a), nan, posinf, neginf), _finite(torch.imag(a), nan, posinf, neginf))
    if not a.is_floating_point():
        return torch.clone(a)
    if not any(isinstance(v, (torch.Tensor, numpy.ndarray, list, tuple)) for v in (nan, posinf, neginf)):
        return torch.nan_to_num(a, nan, posinf, neginf)
    info = torch.finfo(a.dtype)
    high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    made = a
    for place, value in ((torch.isnan(a), nan), (torch.isposinf(a), high), (torch.isneginf(a), low)):
        made = copied(made, value, where=place)
    return made

def _dtype_of(x):
    """What NumPy's dtype functions understand: tensors and torch dtypes as NumPy dtypes, all else as it is."""
    return to_numpy(x.dtype) if isinstance(x, torch.Tensor) else to_numpy(x) if isinstance(x, torch.dtype) else x

@rule("numpy.can_cast", kind="python", examples=("np.can_cast(a.dtype, np.float32)", "np.can_cast(np.float64, a.dtype, 'same_kind')"))
def can_cast(from_, to, casting="safe"):
    return numpy.can_cast(_dtype_of(from_), _dtype_of(to), casting)

@rule("numpy.result_type", kind="python", examples=("np.result_type(a, b)", "np.result_type(a, 1.0, np.float32)", "np.result_type(x, 3)"))
def result_type(*arrays_and_dtypes):
    return numpy.result_type(*map(_dtype_of, arrays_and_dtypes))

@rule("numpy.promote_types", kind="python", examples=("np.promote_types(a.dtype, b.dtype)",))
def promote_types(type1, type2, /):
    return numpy.promote_types(_dtype_of(type1), _dtype_of(type2))

@rule("numpy.common_type", kind="python", examples=("np.common_type(a, b)",))
def common_type(*arrays):
    """The inexact scalar type of all; float64 where there are ints. Raises TypeError for bools."""
    return numpy.common_type(*(numpy.empty(0, to_numpy(as_tensor(a).dtype)) for a in arrays))

@rule("numpy.min_scalar_type", kind="python", examples=("np.min_scalar_type(x)", "np.min_scalar_type(300)"))
def min_scalar_type(a, /):
    """For arrays their dtype; for a scalar it depends on the value, which must be known."""
    return to_numpy(a.dtype) if isinstance(a, torch.Tensor) and a.ndim else numpy.min_scalar_type(known(a))

@rule("numpy.issubdtype", kind="python", examples=("np.issubdtype(a.dtype, np.floating)", "np.issubdtype(a.dtype, np.integer)"))
def issubdtype(arg1, arg2):
    return numpy.issubdtype(_dtype_of(arg1), _dtype_of(arg2))

@rule("numpy.isdtype", kind="python", examples=("np.isdtype(a.dtype, 'real floating')", "np.isdtype(a.dtype, ('integral', 'bool'))"))
def isdtype(dtype, kind):
    return numpy.isdtype(_dtype_of(dtype), tuple(map(_dtype_of, kind)) if isinstance(kind, tuple) else _dtype_of(kind))

@rule("numpy.finfo", kind="python", examples=("np.finfo(f.dtype).eps", "np.finfo(np.float32).max"))
def finfo(dtype):
    return numpy.finfo(_dtype_of(dtype))

@rule("numpy.iinfo", kind="python", examples=("np.iinfo(np.int32).max", "np.iinfo(np.uint8).min"))
def iinfo(int_type):
    return numpy.iinfo(_dtype_of(int_type))

@rule("numpy.isscalar", kind="python", examples=("np.isscalar(3.0)", "np.isscalar(x)", "np.isscalar(v[0])"))
def isscalar(element):
    """True for Python numbers and NumPy scalars, False for arrays, 0-d ones too."""
    return is_scalar(element) if isinstance(element, torch.Tensor) else numpy.isscalar(element)

@rule("numpy.iterable", kind="python", examples=("np.iterable(x)", "np.iterable(3)", "np.iterable([v])"))
def iterable(y):
    return y.ndim > 0 if isinstance(y, torch.Tensor) else numpy.iterable(y)

@rule("numpy.fromiter", kind="creation",
      examples=("np.fromiter((i * 2 for i in range(4)), dtype=float)", "np.fromiter([v[0], 1], int, count=2)"))  # fmt: skip
def fromiter(iter, dtype, count=-1, *, like=None):
    """The elements one by one, cast to `dtype`; the first `count` of them."""
    check_like(like)
    count = operator.index(count)
    if not -(2**63) <= count < 2**63:
        raise OverflowError("Python int too large to convert to C ssize_t")
    items = list(itertools.islice(iter, count if count >= 0 else None))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    if any(isinstance(i, Iterable) and not (isinstance(i, torch.Tensor) and i.ndim == 0) for i in items):
        raise ValueError("setting an array element with a sequence.")
    return as_tensor(items, to_torch(dtype))

@rule("numpy.from_dlpack", kind="creation", view=True, examples=("np.from_dlpack(f)",))
def from_dlpack(x, /, *, device=None, copy=None):
    check_device(device)
    if not hasattr(x, "__dlpack__"):
        raise AttributeError(f"'{type(x).__name__}' object has no attribute '__dlpack__'")
    return zero_d_array(_as_array(x, None, "K", copy))

@rule("numpy.frombuffer", kind="creation", examples=("np.frombuffer(b'01234567', 'u1')", "np.frombuffer(b'01234567', 'i2', 2, 2)"))
def frombuffer(buffer, dtype=None, count=-1, offset=0, *, like=None):
    """Of bytes that are known when the call is traced: a read-only constant."""
    if isinstance(buffer, torch.Tensor):
        raise Refused("the memory of an array cannot be read as a buffer in a graph", "use x.view(dtype) or np.ravel(x)", "python-value")
    return read_only(as_tensor(numpy.frombuffer(buffer, to_numpy(to_torch(dtype)), count, offset)))

refuse("numpy.ndarray.byteswap", finding="unsupported-dtype", reason="tensors are in the machine's own byte order",
       hint="swap the bytes of the data before it is passed in")  # fmt: skip
refuse("numpy.ndarray.tobytes", "numpy.ndarray.tofile", "numpy.ndarray.dump", "numpy.ndarray.dumps", "numpy.ndarray.data",
       "numpy.ndarray.ctypes", "numpy.ndarray.base", "numpy.ndarray.__array_interface__", "numpy.ndarray.__array_struct__",
       finding="python-value", reason="it takes the raw memory of an array out of the graph",
       hint="return the array from the node and do this outside")  # fmt: skip
refuse("numpy.ndarray.setfield", finding="mutation", reason="it writes into parts of the elements",
       hint="compute the elements anew, with shifts and masks on x.view(dtype)")  # fmt: skip
refuse("numpy.asmatrix", "numpy.bmat", "numpy.matrix", reason="numpy.matrix has rules of its own for * and ** and is always 2-D",
       hint="use arrays and @")  # fmt: skip
