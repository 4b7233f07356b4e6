"""Signals and sampled functions: convolution, interpolation, gradients, window functions and sliding windows."""

from __future__ import annotations

import functools
import math

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_tuple

from ..semantics.arrays import Number, as_tensor, beside, cast, demand, demand_c_order, flip, index_of, is_size, is_weak, read_only
from ..semantics.dtypes import inexact, promote, to_numpy
from ..semantics.entering import rule
from ..semantics.table import Refused
from ..semantics.views import extent
from .arithmetic import add, divide, multiply, remainder, subtract
from .numeric import between, diff
from .products import exactly, is_plain

_MODES = ("valid", "same", "full")
_LARGE = 2**24  # products that may stand in memory at once
plus, minus, times, over = add.compute, subtract.compute, multiply.compute, divide.compute

@rule("numpy.convolve", kind="signal",
      examples=("np.convolve(v, w)", "np.convolve(v, [1, 2, 1], 'same')", "np.convolve(v, np.ones(2) / 2, mode='valid')"))  # fmt: skip
def convolve(a, v, mode="full"):
    """Linear convolution of two vectors; the longer one slides over the shorter one. Raises ValueError for empty ones."""
    long, short = _vector(a, scalars=True), _vector(v, scalars=True)
    if short.shape[0] > long.shape[0]:
        return _slide(short, long, mode, _is_finite(a))
    return _slide(long, short, mode, _is_finite(v))

@rule("numpy.correlate", kind="signal",
      examples=("np.correlate(v, w)", "np.correlate(v, [1, 2], 'full')", "np.correlate([1, 2.5], v, mode='same')"))  # fmt: skip
def correlate(a, v, mode="valid"):
    """Cross-correlation of two vectors, with the conjugate of `v`. Raises ValueError for empty ones."""
    long, short = _vector(a), _vector(v)
    short = torch.conj_physical(short) if short.is_complex() else short
    if short.shape[0] > long.shape[0]:
        return flip(_slide(short, flip(long, (0,)), mode, _is_finite(a)), (0,))
    return _slide(long, flip(short, (0,)), mode, _is_finite(v))

def _vector(x, scalars=False):
    x = as_tensor(x)
    if x.ndim == 0 and scalars:
        return torch.reshape(x, (1,))
    if x.ndim != 1:
        raise ValueError("object too deep for desired array" if x.ndim > 1 else "object of too small depth for desired array")
    if x.shape[0] == 0:
        raise ValueError("array argument cannot be empty")
    return x

def _is_finite(x):
    """True for finite numbers that are known when traced."""
    if isinstance(x, (list, tuple)):
        return all(map(_is_finite, x))
    return isinstance(x, (numpy.ndarray, numpy.generic, *Number)) and bool(numpy.all(numpy.isfinite(x)))

def _slide(a, v, mode, finite):
    """The convolution of `a` with `v`, which is not longer. `finite`: the numbers in `v` are known to be finite."""
    if isinstance(mode, (int, numpy.integer)) and 0 <= mode < 3:
        mode = _MODES[mode]
    if mode not in _MODES:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    n, m, dtype = a.shape[0], v.shape[0], promote(a.dtype, v.dtype)
    before, after = {"full": (m - 1, m - 1), "same": (m // 2, m - 1 - m // 2), "valid": (0, 0)}[mode]
    a, v, large = cast(a, dtype), cast(v, dtype), n * m > _LARGE
    if is_plain(a, v) and not dtype.is_complex and (mode == "valid" or finite or large):
        if not finite and mode != "valid":
            demand(torch.isfinite(v), FloatingPointError("a large convolution needs a kernel of finite numbers"))
        padded = torch.nn.functional.pad(a, (before, after)) if before or after else a
        # torch's is a correlation; the zeros around `a` are multiplied with `v`, which must be finite for that
        return torch.flatten(torch.nn.functional.conv1d(padded.reshape(1, 1, -1), flip(v, (0,)).reshape(1, 1, -1)))
    if large:
        raise Refused(f"a convolution of {n} by {m} numbers of {to_numpy(dtype)} needs too much memory", "use float32 or float64")
    full = exactly(_diagonal_sums, a, v)
    return full if mode == "full" else torch.narrow(full, 0, m - 1 - before, n + before + after - m + 1)

def _diagonal_sums(a, v):
    """All products, row `j` moved right by `j`, summed over the rows: only numbers that overlap are multiplied."""
    n, m = a.shape[0], v.shape[0]
    products = torch.mul(torch.unsqueeze(v, 1), torch.unsqueeze(a, 0))
    wide = torch.flatten(torch.nn.functional.pad(products, (0, m)))
    skewed = torch.reshape(torch.narrow(wide, 0, 0, m * (n + m - 1)), (m, n + m - 1))
    return torch.sum(skewed, dim=0, dtype=products.dtype)

@rule("numpy.interp", kind="elementwise", examples=("np.interp(f, r, r)", "np.interp(x, r, r * 2, left=-1, right=0.5)",
      "np.interp(v, r, r, period=997)", "np.interp(0.5, r, r * 1j)"))  # fmt: skip
def interp(x, xp, fp, left=None, right=None, period=None):
    """Piecewise linear interpolation of the points `(xp, fp)` at `x`, in float64 (complex128 for complex `fp`).

    Outside of `xp`, which must increase, `left` and `right` or the values at the ends; NaN stays. Raises ValueError for points
    that are empty or not of the same length, TypeError for complex `x`."""
    x, xp, fp = as_tensor(x), as_tensor(xp), as_tensor(fp)
    if period is None and (x.is_complex() or xp.is_complex()):
        raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'")
    x, xp, fp = cast(x, torch.float64), cast(xp, torch.float64), cast(fp, promote(fp.dtype, torch.float64))
    if not isinstance(period, torch.Tensor) and period == 0:
        raise ValueError("period must be a non-zero value")
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if xp.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        return _interpolated(*_periodic(x, xp, fp, abs(period)), None, None)
    return _interpolated(x, xp, fp, left, right)

def _periodic(x, xp, fp, period):
    """All in one period, in order, with a point added at each end."""
    x, xp = remainder.compute(x, period), remainder.compute(xp, period)
    order = torch.argsort(xp, stable=True)
    xp, fp = torch.index_select(xp, 0, order), torch.index_select(fp, 0, order)
    xp = torch.cat([minus(xp[-1:], period), xp, plus(xp[:1], period)])
    return x, xp, torch.cat([fp[-1:], fp, fp[:1]])

def _interpolated(x, xp, fp, left, right):
    """NumPy's rule: `slope * (x - x0) + f0`; where that is NaN, from the other end; on a point, the point's own value."""
    n = extent(xp, 0)
    some = isinstance(n, torch.Tensor)  # how many points there are depends on values
    low = torch.searchsorted(xp, x.contiguous(), right=True) - 1
    low = torch.clamp(torch.minimum(low, n - 2), min=0) if some else torch.clamp(low, 0, max(n - 2, 0))
    high = torch.minimum(low + 1, n - 1) if some else torch.clamp(low + 1, max=n - 1)
    value, last, end = torch.take(fp, low), torch.select(fp, 0, -1 if some else n - 1), torch.select(xp, 0, -1 if some else n - 1)
    if some or n > 1:  # of one point, NaN gets the value: it is neither below nor above
        x0, x1, f0, f1 = torch.take(xp, low), torch.take(xp, high), value, torch.take(fp, high)
        parts = [_line(x, x0, x1, f0.real, f1.real), _line(x, x0, x1, f0.imag, f1.imag)] if fp.is_complex() else []
        value = torch.where(torch.eq(x, x0), f0, torch.complex(*parts) if parts else _line(x, x0, x1, f0, f1))
        value = torch.where(torch.eq(x, end), last, value)
        value = torch.where(torch.isnan(x), torch.where(n > 1, x.to(value.dtype), f0) if some else x.to(value.dtype), value)
    value = torch.where(torch.lt(x, torch.select(xp, 0, 0)), _outside(left, torch.select(fp, 0, 0)), value)
    return torch.where(torch.gt(x, end), _outside(right, last), value)

def _line(x, x0, x1, f0, f1):
    slope = torch.div(torch.sub(f1, f0), torch.sub(x1, x0))
    here = torch.add(torch.mul(slope, torch.sub(x, x0)), f0)
    there = torch.add(torch.mul(slope, torch.sub(x, x1)), f1)
    there = torch.where(torch.logical_and(torch.isnan(there), torch.eq(f0, f1)), f0, there)
    return torch.where(torch.isnan(here), there, here)

def _outside(value, end):
    if value is None:
        return end
    value = beside(end, as_tensor(value))
    if value.is_complex() and not end.is_complex():
        raise TypeError("must be real number, not complex")
    return cast(value, end.dtype)

@rule("numpy.gradient", kind="shape", examples=("np.gradient(np.outer(r, r))", "np.gradient(r * r, r)",
      "np.gradient(np.outer(r, r), 0.5, axis=0)", "np.gradient(np.hstack([r, r + 9, r]), edge_order=2)"))  # fmt: skip
def gradient(f, *varargs, axis=None, edge_order=1):
    """Central differences inside, one-sided ones (of order `edge_order`) at the ends, along each axis of `axis`.

    The spacing is a number for all axes, or one number or vector of coordinates for each. Integers are computed in float64."""
    f = as_tensor(f)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    spacings = _spacings(f, axes, [h if is_weak(h) else as_tensor(h) for h in varargs] or [1.0])
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if any(f.shape[d] < edge_order + 1 for d in axes):
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
    results = [_gradient_along(_inexact(f), d, h, edge_order) for d, h in zip(axes, spacings, strict=True)]
    return results[0] if len(axes) == 1 else tuple(results)

def _inexact(x):
    """Integers as float64. Booleans stay: NumPy does not subtract them."""
    return x if x.dtype == torch.bool else cast(x, inexact(x.dtype))

def _is_vector(h):
    return not is_weak(h) and h.ndim > 0

def _spacings(f, axes, given):
    """For each axis a number (uniform spacing) or the vector of gaps between the coordinates."""
    if len(given) == 1 and not _is_vector(given[0]):
        return given * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    for h, d in zip(given, axes, strict=True):
        if _is_vector(h) and h.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if _is_vector(h) and h.shape[0] != f.shape[d]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    return [diff(_inexact(h)) if _is_vector(h) else h for h in given]

def _gradient_along(f, axis, h, edge_order):
    first, last = _end(f, axis, h, edge_order, last=False), _end(f, axis, h, edge_order, last=True)
    before, here, after = between(f, axis, None, -2), between(f, axis, 1, -1), between(f, axis, 2, None)
    if f.shape[axis] < 3:
        inside = []
    elif _is_vector(h):
        shape = [-1 if d == axis else 1 for d in range(f.ndim)]
        p, q = torch.reshape(h[:-1], shape), torch.reshape(h[1:], shape)
        # second order weights of the three points around an uneven gap (Fornberg 1988)
        weights = over(torch.neg(q), times(p, plus(p, q))), over(minus(q, p), times(p, q)), over(p, times(q, plus(p, q)))
        inside = [_combined(weights, (before, here, after))]
    else:
        inside = [over(minus(after, before), times(2.0, h))]
    return torch.cat([cast(p, inexact(f.dtype)) for p in (first, *inside, last)], dim=axis)

def _combined(weights, points):
    """The sum of products, from left to right as NumPy adds them."""
    return functools.reduce(plus, map(times, weights, points))

def _end(f, axis, h, edge_order, last):
    """The derivative at the first or the last point, as a layer of size 1."""
    start = f.shape[axis] - edge_order - 1 if last else 0
    points = [torch.narrow(f, axis, start + i, 1) for i in range(edge_order + 1)]
    gaps = [torch.select(h, 0, start + i) for i in range(edge_order)] if _is_vector(h) else [h]
    if edge_order == 1:
        return over(minus(points[1], points[0]), gaps[0])
    if not _is_vector(h):
        factors = (0.5, -2.0, 1.5) if last else (-1.5, 2.0, -0.5)
        return _combined([factor / h if is_weak(h) else over(factor, h) for factor in factors], points)
    p, q = gaps
    both = plus(p, q)
    if last:
        weights = over(q, times(p, both)), over(torch.neg(both), times(p, q)), over(plus(times(2.0, q), p), times(q, both))
    else:
        weights = over(torch.neg(plus(times(2.0, p), q)), times(p, both)), over(both, times(p, q)), over(torch.neg(p), times(q, both))
    return _combined(weights, points)

def _known(M):
    if isinstance(M, torch.Tensor):
        raise Refused("M is computed from the inputs, but decides a shape", "pass M as a Python int", "data-dependent-shape")
    return M if is_size(M) else float(M)

def _odd_steps(M):
    """`1 - M, 3 - M, ..., M - 1` in float64 (nothing for M < 1), and the `M - 1` to divide them by (1 where that is 0)."""
    M = _known(M)
    return torch.arange(1 - M, M if M >= 1 else 1 - M, 2, dtype=torch.float64), M - 1 or 1

@rule("numpy.blackman", kind="creation", examples=("np.blackman(8)", "np.blackman(1)"))
def blackman(M):
    n, span = _odd_steps(M)
    return 0.42 + 0.5 * torch.cos(math.pi * n / span) + 0.08 * torch.cos(2 * math.pi * n / span)

@rule("numpy.hamming", kind="creation", examples=("np.hamming(8)", "np.hamming(0)"))
def hamming(M):
    n, span = _odd_steps(M)
    return 0.54 + 0.46 * torch.cos(math.pi * n / span)

@rule("numpy.hanning", kind="creation", examples=("np.hanning(8)", "np.hanning(5)"))
def hanning(M):
    n, span = _odd_steps(M)
    return 0.5 + 0.5 * torch.cos(math.pi * n / span)

@rule("numpy.bartlett", kind="creation", examples=("np.bartlett(8)", "np.bartlett(5)"))
def bartlett(M):
    """The triangular window of `M` points, float64."""
    n, span = _odd_steps(M)
    return torch.where(torch.le(n, 0), 1 + n / span, 1 - n / span)

@rule("numpy.kaiser", kind="creation", examples=("np.kaiser(8, 14.0)", "np.kaiser(5, 0)"))
def kaiser(M, beta):
    """The Kaiser window of `M` points, float64: `i0(beta sqrt(1 - ((n - a) / a)**2)) / i0(beta)` with `a = (M - 1) / 2`."""
    if _known(M) == 1:
        return torch.ones((1,), dtype=torch.float64)
    beta, middle = as_tensor(beta, torch.float64), (M - 1) / 2.0
    if beta.ndim:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    n = torch.arange(0, M if is_size(M) else max(float(M), 0.0), dtype=torch.float64, device=beta.device)
    inside = torch.abs(beta * torch.sqrt(1 - ((n - middle) / middle) ** 2.0))
    return torch.div(torch.special.i0(inside), torch.special.i0(torch.abs(beta)))

@rule("numpy.lib.stride_tricks.sliding_window_view", kind="shape", view=True, examples=(
    "np.lib.stride_tricks.sliding_window_view(m, (1, 1))", "np.lib.stride_tricks.sliding_window_view(np.hstack([v, v]), 2, axis=0)",
))  # fmt: skip
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of a shape: the axes shrink, and an axis of the window's size is added at the end for each."""
    x = as_tensor(x)
    window = tuple(map(index_of, window_shape)) if isinstance(window_shape, (tuple, list)) else (index_of(window_shape),)
    if any(size < 0 for size in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if len(window) != len(axes):
        raise ValueError(f"Must provide matching length window_shape and axis; got {len(window)} and {len(axes)} elements.")
    for d, size in zip(axes, window, strict=True):
        if x.shape[d] < size:
            raise ValueError("window shape cannot be larger than input array shape")
        x = x.unfold(d, size, 1)
    view = x.view(x.shape)
    return view if writeable else read_only(view)

@rule("numpy.lib.stride_tricks.as_strided", kind="layout", view=True, examples=())
def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view of the memory by strides in bytes. Refused but for arrays in C order that were handed in, or parts of them in that order, and
    within their memory; `trace` takes others too."""
    x = as_tensor(x)
    demand_c_order(x)
    size = x.element_size()
    shape = tuple(x.shape) if shape is None else (index_of(shape),) if not isinstance(shape, (tuple, list)) else tuple(map(index_of, shape))
    steps = tuple(s * size for s in x.stride()) if strides is None else tuple(map(index_of, strides))
    if len(shape) != len(steps):
        raise ValueError("mismatch in length of strides and shape")
    reach = [s * (n - 1) for s, n in zip(steps, shape, strict=True)]
    if 0 in shape or any(s % size for s in steps) or min([0, *steps]) < 0 or sum(reach) >= x.numel() * size:
        raise Refused("as_strided beyond the array, or between its elements", "take a shape that stays inside", "aliasing")
    view = torch.as_strided(x, shape, tuple(s // size for s in steps), x.storage_offset())
    return view if writeable else read_only(view)
