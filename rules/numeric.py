"""Clipping, rounding, closeness, differences: elementwise functions that NumPy writes in terms of its ufuncs."""

from __future__ import annotations

import math
import operator

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import (
    as_tensor,
    beside,
    bound_in_loop,
    cast,
    common_shape,
    dtype_of,
    is_size,
    is_weak,
    result_type,
    stands_for,
    truth,
)
from ..semantics.dtypes import WIDER, can_cast, inexact, promote, resolve, to_torch
from ..semantics.entering import rule
from ..semantics.table import Refused
from ..semantics.views import giving_arrays, numpys_errors
from .arithmetic import absolute, add, divide, maximum, minimum, multiply, positive, remainder, subtract, trunc
from .joining import concatenate
from .logic import equal, greater, isfinite, isnan, less, less_equal
from .mathematics import sin

_CLIP: numpy.ufunc = vars(numpy)["_core"].umath.clip  # the ufunc behind numpy.clip, asked for its loops only

@rule("numpy.clip", kind="elementwise",
      examples=("np.clip(x, -1, 1)", "np.clip(x, None, 2.0)", "np.clip(x, min=0)", "np.clip(x, y, 3)", "np.clip(f, -0.5, g)"))  # fmt: skip
def clip(a, a_min=numpy._NoValue, a_max=numpy._NoValue, out=None, *, min=numpy._NoValue, max=numpy._NoValue, dtype=None, where=True):
    """Limit values to an interval; a bound of None is no bound, where the bounds cross the upper one wins, NaN stays.

    Python ints beyond an integer dtype are no bound on the far side, and OverflowError on the near side."""
    if a_min is numpy._NoValue and a_max is numpy._NoValue:
        a_min = None if min is numpy._NoValue else min
        a_max = None if max is numpy._NoValue else max
    elif a_min is numpy._NoValue or a_max is numpy._NoValue:
        raise TypeError(f"clip() missing 1 required positional argument: '{'a_min' if a_min is numpy._NoValue else 'a_max'}'")
    elif min is not numpy._NoValue or max is not numpy._NoValue:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    return _clipped(as_tensor(a), a_min, a_max, dtype, where)

@rule("numpy.ndarray.clip", kind="elementwise", examples=("x.clip(-1, 1)", "x.clip(max=2)", "x.clip(min=0.5)"))
def clip_method(a, min=None, max=None, out=None, *, dtype=None, where=True):
    """Limit values to an interval (see `numpy.clip`)."""
    return _clipped(as_tensor(a), min, max, dtype, where)

def _clipped(a, low, high, dtype, where):
    if dtype is None and where is True and _is_bound(a, low) and _is_bound(a, high) and not low is high is None:
        return torch.clamp(a, low, high)
    if dtype is None and where is True and _bounds(a, low, high):
        return torch.clamp(a, low, high)
    if where is not True:
        raise Refused("clip with where= is not supported", "use numpy.where")
    if not (a.is_floating_point() or a.is_complex() or a.dtype == torch.bool):
        low = None if type(low) is int and low <= torch.iinfo(a.dtype).min else low
        high = None if type(high) is int and high >= torch.iinfo(a.dtype).max else high
        loop = to_torch(dtype) if dtype is not None else result_type(a, *(x for x in (low, high) if x is not None))
        low, high = bound_in_loop(low, a.dtype, loop, "min"), bound_in_loop(high, a.dtype, loop, "max")
    if low is None and high is None:
        return positive.compute(a, dtype=dtype)
    if low is None:
        return minimum.compute(a, high, dtype=dtype)
    if high is None:
        return maximum.compute(a, low, dtype=dtype)
    low, high = (x if is_weak(x) else as_tensor(x) for x in (low, high))
    loop = resolve(_CLIP, (a.dtype, dtype_of(low), dtype_of(high)), None if dtype is None else to_torch(dtype))[-1]
    return minimum.compute(maximum.compute(a, low, dtype=loop), high, dtype=loop)

def _bounds(a, low, high):
    """True for two arrays that torch.clamp takes for bounds as NumPy does."""
    if not isinstance(low, torch.Tensor) or not isinstance(high, torch.Tensor) or a.dtype not in (torch.float32, torch.float64):
        return False
    return low.dtype == a.dtype and high.dtype == a.dtype and a.ndim > 0

def _is_bound(a, bound):
    """True for what torch.clamp takes for the same bound: None, or a number of `a`'s dtype."""
    return bound is None or stands_for(bound, a.dtype)

@rule("numpy.round", "numpy.around", "numpy.ndarray.round", kind="elementwise", into="own",
      examples=("np.round(x)", "np.round(f, 2)", "np.round(x, decimals=-1)", "np.around(z, 1)", "x.round(1)"))  # fmt: skip
def round(a, decimals=0, out=None):
    """To `decimals` places, halves to even: `rint(a * 10**decimals) / 10**decimals`, NumPy's formula with its rounding errors.

    Integers stay integers. Booleans become float16, and raise TypeError for other decimals."""
    a = as_tensor(a)
    if decimals == 0 and a.is_floating_point():
        return torch.round(a)
    decimals = operator.index(decimals)
    if a.is_complex():
        return torch.complex(round(a.real, decimals), round(a.imag, decimals))
    if a.dtype == torch.bool and decimals:
        raise TypeError("Cannot cast ufunc 'multiply' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'")
    if a.dtype == torch.bool:
        return a.to(torch.float16)
    if decimals == 0 or (decimals > 0 and not a.is_floating_point()):
        return torch.clone(a)
    there, back = (multiply, divide) if decimals > 0 else (divide, multiply)
    rounded = back.compute(torch.round(there.compute(a, 10.0 ** abs(decimals))), 10.0 ** abs(decimals))
    if a.is_floating_point() or a.dtype == torch.uint64:
        return cast(rounded, a.dtype)
    return cast(rounded.to(torch.int64), a.dtype)  # what does not fit wraps

@rule("numpy.fix", kind="elementwise", examples=("np.fix(f)", "np.fix(x)"))
def fix(x, out=None):
    """Towards zero."""
    return trunc.compute(x)

@rule("numpy.isclose", kind="elementwise",
      examples=("np.isclose(x, y)", "np.isclose(f, g, equal_nan=True)", "np.isclose(x, 1.0, rtol=0.1, atol=0)"))  # fmt: skip
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """`|a - b| <= atol + rtol * |b|` for finite `b`, or equal; NaN are equal only if asked."""
    x, y, atol, rtol = (v if is_weak(v) else as_tensor(v) for v in (a, b, atol, rtol))
    y = float(y) if isinstance(y, int) else cast(y, promote(y.dtype, float)) if isinstance(y, torch.Tensor) else y
    distance = absolute.compute(subtract.compute(x, y))
    allowed = add.compute(atol, multiply.compute(rtol, absolute.compute(y)))
    near = torch.logical_and(less_equal.compute(distance, allowed), isfinite.compute(y))
    result = torch.logical_or(near, equal.compute(x, y))
    return torch.logical_or(result, torch.logical_and(isnan.compute(x), isnan.compute(y))) if equal_nan else result

@rule("numpy.allclose", kind="reduction", examples=("np.allclose(x, y)", "np.allclose(f, f, equal_nan=True)"))
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all are close (see `isclose`): Python's bool."""
    return truth(torch.all(isclose(a, b, rtol, atol, equal_nan)))

@rule("numpy.array_equal", kind="reduction",
      examples=("np.array_equal(x, y)", "np.array_equal(f, f, equal_nan=True)", "np.array_equal(x, v)"))  # fmt: skip
def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are the same: Python's bool."""
    a1, a2 = as_tensor(a1), as_tensor(a2)
    if a1.shape != a2.shape:
        return False
    same = equal.compute(a1, a2)
    return truth(torch.all(torch.logical_or(same, torch.logical_and(isnan.compute(a1), isnan.compute(a2))) if equal_nan else same))

@rule("numpy.array_equiv", kind="reduction", examples=("np.array_equiv(x, y)", "np.array_equiv(m, 1)"))
def array_equiv(a1, a2):
    """Whether elements are the same after broadcasting: Python's bool."""
    a1, a2 = as_tensor(a1), as_tensor(a2)
    try:
        common_shape(a1.shape, a2.shape)
    except ValueError:
        return False
    return truth(torch.all(equal.compute(a1, a2)))

def _real(x):
    x = as_tensor(x)
    if x.is_complex():
        raise TypeError("This operation is not supported for complex128 values because it would be ambiguous.")
    return x

@rule("numpy.isposinf", kind="elementwise", examples=("np.isposinf(f)", "np.isposinf(x)"))
def isposinf(x, out=None):
    """Raises TypeError for complex numbers."""
    return torch.isposinf(_real(x))

@rule("numpy.isneginf", kind="elementwise", examples=("np.isneginf(f)", "np.isneginf(x)"))
def isneginf(x, out=None):
    """Raises TypeError for complex numbers."""
    return torch.isneginf(_real(x))

@rule("numpy.sinc", kind="elementwise", examples=("np.sinc(x)", "np.sinc(f)"))
def sinc(x):
    """`sin(pi x) / (pi x)`, 1 at zero."""
    x = as_tensor(x)
    if x.dtype in (torch.float32, torch.float64):
        return torch.sinc(x)
    y = multiply.compute(math.pi, x)
    y = torch.where(torch.eq(y, 0), torch.finfo(y.dtype).eps if y.is_floating_point() else 1e-20, y)
    return divide.compute(sin.compute(y), y)

@rule("numpy.i0", kind="elementwise", examples=("np.i0(f)", "np.i0(x)"))
@giving_arrays
def i0(x):
    """Modified Bessel function of the first kind, order 0. Raises TypeError for complex numbers."""
    x = _real(x)
    dtype = inexact(x.dtype)
    return cast(torch.special.i0(cast(x, torch.float32 if dtype == torch.float16 else dtype)), dtype)

def between(a, axis, start, stop):
    """`a[..., start:stop, ...]` along `axis`, with NumPy's clipping of the bounds."""
    if is_size(a.shape[axis]):
        return a[(*(slice(None),) * axis, slice(start, stop))]
    first, last, _ = slice(start, stop).indices(a.shape[axis])
    return torch.narrow(a, axis, first, max(last - first, 0))

@rule("numpy.diff", kind="shape",
      examples=("np.diff(x)", "np.diff(x, n=2, axis=0)", "np.diff(v, prepend=0)", "np.diff(v, append=[1, 2])"))  # fmt: skip
@numpys_errors
def diff(a, n=1, axis=-1, prepend=numpy._NoValue, append=numpy._NoValue):
    """`n` times the difference of neighbours along `axis`; of booleans, whether they differ."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = as_tensor(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if prepend is numpy._NoValue and append is numpy._NoValue and a.dtype not in WIDER and not a.is_complex():
        return torch.diff(a, n=n, dim=axis)
    axis = normalize_axis_index(axis, a.ndim)
    parts = [_edge(x, a, axis) for x in (prepend, a, append) if x is not numpy._NoValue]
    a = a if len(parts) == 1 else concatenate(parts, axis)
    if a.dtype not in WIDER and not a.is_complex():
        return torch.diff(a, n=n, dim=axis)
    for _ in range(n):
        a = subtract.compute(between(a, axis, 1, None), between(a, axis, None, -1))
    return a

def _edge(x, a, axis):
    """What `diff` puts before or after: a number stands for one layer."""
    x = beside(a, as_tensor(x))
    return torch.broadcast_to(x, [1 if d == axis else size for d, size in enumerate(a.shape)]) if x.ndim == 0 else x

@rule("numpy.ediff1d", kind="shape", examples=("np.ediff1d(v)", "np.ediff1d(x)", "np.ediff1d(f, to_end=0, to_begin=[1, 2])"))
def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of the raveled array, with values put before and after (cast to its dtype)."""
    ary = torch.flatten(as_tensor(ary))
    parts = [subtract.compute(between(ary, 0, 1, None), between(ary, 0, None, -1))]
    for x, place, name in ((to_begin, 0, "to_begin"), (to_end, 2, "to_end")):
        if x is not None:
            x = beside(ary, as_tensor(x))
            if not can_cast(x.dtype, ary.dtype, "same_kind"):
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.insert(place, cast(torch.flatten(x), ary.dtype))
    return parts[0] if len(parts) == 1 else torch.cat(parts)

@rule("numpy.trapezoid", kind="reduction",
      examples=("np.trapezoid(x)", "np.trapezoid(f, dx=0.5, axis=0)", "np.trapezoid(v, w)", "np.trapezoid(x, y, axis=-1)"))  # fmt: skip
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integral along `axis` by the trapezoidal rule, over coordinates `x` or steps `dx`."""
    y = as_tensor(y)
    x = x if x is None else as_tensor(x)
    steps = dx if x is None else diff(x, axis=-1 if x.ndim == 1 else axis)
    if y.ndim == 0:
        raise IndexError("list assignment index out of range")
    own = normalize_axis_index(axis, y.ndim)
    if x is not None and x.ndim == 1:
        steps = torch.reshape(steps, [-1 if d == own else 1 for d in range(y.ndim)])
    pairs = add.compute(between(y, own, 1, None), between(y, own, None, -1))
    areas = divide.compute(multiply.compute(steps, pairs), 2.0)
    return torch.sum(areas, dim=axis, dtype=areas.dtype)

@rule("numpy.unwrap", kind="reduction", examples=("np.unwrap(f)", "np.unwrap(x, period=6)", "np.unwrap(f, discont=1.0, axis=0)"))
def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    """Jumps along `axis` of more than `discont` (half a period) brought back by whole periods."""
    p = as_tensor(p)
    axis = normalize_axis_index(axis, p.ndim) if p.ndim else axis
    step = diff(p, axis=axis)
    discont = period / 2 if discont is None else discont
    dtype = promote(step.dtype, dtype_of(period))
    whole = not dtype.is_floating_point and not dtype.is_complex
    half, odd = divmod(period, 2) if whole else (period / 2, 0)
    wrapped = add.compute(remainder.compute(subtract.compute(step, -half), period), -half)
    if not odd:
        ambiguous = torch.logical_and(equal.compute(wrapped, -half), greater.compute(step, 0))
        wrapped = torch.where(ambiguous, half, wrapped)
    correction = subtract.compute(wrapped, step)
    correction = torch.where(less.compute(absolute.compute(step), discont), 0, correction).to(correction.dtype)
    corrected = add.compute(between(p, axis, 1, None), torch.cumsum(correction, dim=axis))
    return torch.cat([cast(between(p, axis, 0, 1), dtype), cast(corrected, dtype)], dim=axis)
