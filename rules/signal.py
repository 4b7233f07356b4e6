"""Signals and sampled functions: convolution, interpolation, gradients, window functions and sliding windows."""

from __future__ import annotations

import math
import operator

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_tuple

from ..semantics.arrays import as_tensor, cast, demand, is_weak, read_only, widen
from ..semantics.dtypes import inexact, promote, to_numpy
from ..semantics.table import Refused, refuse, rule
from .arithmetic import add, divide, multiply, remainder, subtract
from .numeric import between, diff
from .products import exactly, is_plain

_MODES = {0: "valid", 1: "same", 2: "full", "v": "valid", "s": "same", "f": "full"}
_LARGE = 2**24  # products that may stand in memory at once


# Convolution


@rule("numpy.convolve", kind="signal",
      examples=("np.convolve(v, w)", "np.convolve(v, [1, 2, 1], 'same')", "np.convolve(v, np.ones(2) / 2, mode='valid')"))  # fmt: skip
def convolve(a, v, mode="full"):
    """Linear convolution of two vectors; the longer one slides over the shorter one. Raises ValueError for empty ones."""
    a, v = (torch.reshape(x, (1,)) if x.ndim == 0 else x for x in (_constant(a), _constant(v)))
    mode = _mode(mode)
    for x, name in ((a, "a"), (v, "v")):
        if x.shape[0] == 0:
            raise ValueError(f"{name} cannot be empty")
    _demand_vectors(a, v)
    return _slide(v, a, mode) if v.shape[0] > a.shape[0] else _slide(a, v, mode)


@rule("numpy.correlate", kind="signal",
      examples=("np.correlate(v, w)", "np.correlate(v, [1, 2], 'full')", "np.correlate([1, 2.5], v, mode='same')"))  # fmt: skip
def correlate(a, v, mode="valid"):
    """Cross-correlation of two vectors, with the conjugate of `v`. Raises ValueError for empty ones."""
    a, v = _constant(a), _constant(v)
    mode = _mode(mode)
    _demand_vectors(a, v)
    if 0 in (a.shape[0], v.shape[0]):
        raise ValueError("first array argument cannot be empty" if a.shape[0] == 0 else "second array argument cannot be empty")
    conjugate = torch.conj_physical(v) if v.is_complex() else v
    if v.shape[0] > a.shape[0]:
        return _reversed(_slide(conjugate, _reversed(a), mode))
    return _slide(a, _reversed(conjugate), mode)


def _reversed(x):
    """A vector back to front; torch flips no unsigned dtypes but uint8."""
    return cast(torch.flip(widen(x), (0,)), x.dtype)


def _constant(x):
    """`x` as a tensor, with the note that its values are known when traced: then they can be looked at."""
    tensor = as_tensor(x)
    if not isinstance(x, torch.Tensor):
        tensor._np2fx_finite = bool(numpy.all(numpy.isfinite(numpy.asarray(x)))) if _is_number_data(x) else False
    return tensor


def _is_number_data(x):
    return isinstance(x, (numpy.ndarray, numpy.generic, int, float, complex)) or (
        isinstance(x, (list, tuple)) and all(isinstance(i, (int, float, complex, numpy.generic)) for i in x)
    )


def _mode(mode):
    if isinstance(mode, (int, numpy.integer)) and int(mode) in _MODES:
        return _MODES[int(mode)]
    found = _MODES.get(mode[:1].lower()) if isinstance(mode, str) and mode else None
    if found is None or mode != found:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return found


def _demand_vectors(*vectors):
    for x in vectors:
        if x.ndim != 1:
            raise ValueError("object too deep for desired array" if x.ndim > 1 else "object of too small depth for desired array")


def _slide(a, v, mode):
    """The convolution of `a` with the vector `v`, which is not longer."""
    finite = getattr(v, "_np2fx_finite", False)
    n, m = a.shape[0], v.shape[0]
    dtype = promote(a.dtype, v.dtype)
    a, v = cast(a, dtype), cast(v, dtype)
    before = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    large = n * m > _LARGE
    if is_plain(a, v) and not dtype.is_complex and (mode == "valid" or finite or large):
        if not finite and mode != "valid":
            demand(torch.isfinite(v), FloatingPointError("a large convolution needs a kernel of finite numbers"))
        pad = {"full": (m - 1, m - 1), "same": (before, m - 1 - before), "valid": (0, 0)}[mode]
        return _conv1d(a, v, pad)
    if large:
        raise Refused(f"a convolution of {n} by {m} numbers of {to_numpy(dtype)} needs too much memory", "use float32 or float64")
    full = exactly(_diagonal_sums, a, v)
    start = m - 1 if mode == "valid" else m - 1 - before
    return full if mode == "full" else torch.narrow(full, 0, start, n if mode == "same" else n - m + 1)


def _conv1d(a, v, pad):
    """torch's convolution (a correlation) of vectors. Padding multiplies zeros with `v`, which must be finite for that."""
    padded = torch.nn.functional.pad(a, pad) if pad != (0, 0) else a
    return torch.flatten(torch.nn.functional.conv1d(padded.reshape(1, 1, -1), torch.flip(v, (0,)).reshape(1, 1, -1)))


def _diagonal_sums(a, v):
    """All products, row `j` moved right by `j`, summed over the rows: only numbers that overlap are multiplied."""
    n, m = a.shape[0], v.shape[0]
    products = torch.mul(torch.unsqueeze(v, 1), torch.unsqueeze(a, 0))
    wide = torch.flatten(torch.nn.functional.pad(products, (0, m)))
    skewed = torch.reshape(torch.narrow(wide, 0, 0, m * (n + m - 1)), (m, n + m - 1))
    return torch.sum(skewed, dim=0, dtype=products.dtype)


# Interpolation


@rule("numpy.interp", kind="elementwise",
      examples=("np.interp(f, r, r)", "np.interp(x, r, r * 2, left=-1)", "np.interp(f, r, r, right=0.5)", "np.interp(v, r, r, period=997)",
                "np.interp(0.5, r, r * 1j)"))  # fmt: skip
def interp(x, xp, fp, left=None, right=None, period=None):
    """Piecewise linear interpolation of the points `(xp, fp)` at `x`, in float64 (complex128 for complex `fp`).

    Outside of `xp`, which must increase, `left` and `right` or the values at the ends; NaN stays. Raises ValueError for points
    that are empty or not of the same length, TypeError for complex `x`."""
    x, xp, fp = as_tensor(x), as_tensor(xp), as_tensor(fp)
    kind = torch.complex128 if fp.is_complex() else torch.float64
    for t in (x, xp):
        if t.is_complex() and period is None:
            raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'")
    x, xp, fp = cast(x, torch.float64), cast(xp, torch.float64), cast(fp, kind)
    if period is not None and not isinstance(period, torch.Tensor) and period == 0:
        raise ValueError("period must be a non-zero value")
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if xp.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
    return _interpolated(x, xp, fp, left, right)


def _periodic(x, xp, fp, period):
    """All in one period, in order, with a point added at each end."""
    period = torch.abs(period) if isinstance(period, torch.Tensor) else abs(period)
    x, xp = remainder.compute(x, period), remainder.compute(xp, period)
    order = torch.argsort(xp, stable=True)
    xp, fp = torch.index_select(xp, 0, order), torch.index_select(fp, 0, order)
    first, last = torch.narrow(xp, 0, 0, 1), torch.narrow(xp, 0, xp.shape[0] - 1, 1)
    xp = torch.cat([subtract.compute(last, period), xp, add.compute(first, period)])
    return x, xp, torch.cat([torch.narrow(fp, 0, fp.shape[0] - 1, 1), fp, torch.narrow(fp, 0, 0, 1)])


def _interpolated(x, xp, fp, left, right):
    """NumPy's rule: `slope * (x - x0) + f0`; where that is NaN, from the other end; on a point, the point's own value."""
    n = xp.shape[0]
    above = torch.searchsorted(xp, x.contiguous(), right=True)
    low = torch.clamp(above - 1, 0, max(n - 2, 0))
    x0, f0 = torch.take(xp, low), torch.take(fp, low)
    x1, f1 = torch.take(xp, torch.clamp(low + 1, max=n - 1)), torch.take(fp, torch.clamp(low + 1, max=n - 1))
    if fp.is_complex():
        real = _line(x, x0, x1, f0.real, f1.real)
        value = torch.complex(real, _line(x, x0, x1, f0.imag, f1.imag))
    else:
        value = _line(x, x0, x1, f0, f1)
    value = torch.where(torch.eq(x, x0) if n > 1 else torch.ones_like(x, dtype=torch.bool), f0, value)
    last = torch.select(fp, 0, n - 1)
    value = torch.where(torch.eq(x, torch.select(xp, 0, n - 1)), last, value)
    value = torch.where(torch.lt(x, torch.select(xp, 0, 0)), _outside(left, torch.select(fp, 0, 0)), value)
    value = torch.where(torch.gt(x, torch.select(xp, 0, n - 1)), _outside(right, last), value)
    if n == 1:
        return value  # the one comparison that NaN passes: neither below nor above
    # NaN stays; as a complex number its imaginary part is zero.
    return torch.where(torch.isnan(x), x.to(value.dtype), value)


def _line(x, x0, x1, f0, f1):
    slope = torch.div(torch.sub(f1, f0), torch.sub(x1, x0))
    here = torch.add(torch.mul(slope, torch.sub(x, x0)), f0)
    there = torch.add(torch.mul(slope, torch.sub(x, x1)), f1)
    there = torch.where(torch.logical_and(torch.isnan(there), torch.eq(f0, f1)), f0, there)
    return torch.where(torch.isnan(here), there, here)


def _outside(value, end):
    if value is None:
        return end
    value = as_tensor(value).to(end.device)
    if value.is_complex() and not end.is_complex():
        raise TypeError("must be real number, not complex")
    return cast(value, end.dtype)


# Gradients


@rule("numpy.gradient", kind="shape",
      examples=("np.gradient(np.outer(r, r))", "np.gradient(r, 2.0)", "np.gradient(r * r, r)", "np.gradient(np.outer(r, r), 0.5, axis=0)",
                "np.gradient(np.hstack([r, r + 9, r]), edge_order=2)"))  # fmt: skip
def gradient(f, *varargs, axis=None, edge_order=1):
    """Central differences inside, one-sided ones (of order `edge_order`) at the ends, along each axis of `axis`.

    The spacing is a number for all axes, or one number or vector of coordinates for each. Integers are computed in float64."""
    f = as_tensor(f)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    spacings = _spacings(f, axes, varargs)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    dtype = inexact(f.dtype)
    if not f.is_floating_point() and not f.is_complex() and f.dtype != torch.bool:
        f = f.to(torch.float64)
    results = []
    for d, h in zip(axes, spacings, strict=True):
        if f.shape[d] < edge_order + 1:
            raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
        results.append(_gradient_along(f, d, h, edge_order, dtype))
    return results[0] if len(axes) == 1 else tuple(results)


def _spacings(f, axes, given):
    """For each axis a number (uniform spacing) or the vector of differences of the coordinates."""
    given = [h if is_weak(h) else as_tensor(h) for h in given]
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and (is_weak(given[0]) or given[0].ndim == 0):
        return given * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    return [_steps(h, f.shape[d]) for h, d in zip(given, axes, strict=True)]


def _steps(h, size):
    if is_weak(h) or h.ndim == 0:
        return h
    if h.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if h.shape[0] != size:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    return diff(h if h.is_floating_point() or h.is_complex() or h.dtype == torch.bool else h.to(torch.float64))


def _combine(weights, values):
    """The sum of products, from left to right as NumPy adds them."""
    total = multiply.compute(weights[0], values[0])
    for weight, value in zip(weights[1:], values[1:], strict=True):
        total = add.compute(total, multiply.compute(weight, value))
    return total


def _gradient_along(f, axis, h, edge_order, dtype):
    n = f.shape[axis]
    uniform = is_weak(h) or h.ndim == 0
    first, last = _end(f, axis, h, edge_order, 0), _end(f, axis, h, edge_order, -1)
    before, here, after = between(f, axis, None, -2), between(f, axis, 1, -1), between(f, axis, 2, None)
    if n < 3:
        parts = [first, last]
    elif uniform:
        parts = [first, divide.compute(subtract.compute(after, before), multiply.compute(2.0, h)), last]
    else:
        shape = [-1 if d == axis else 1 for d in range(f.ndim)]
        weights = [torch.reshape(w, shape) for w in _weights(between(h, 0, None, -1), between(h, 0, 1, None))]
        parts = [first, _combine(weights, [before, here, after]), last]
    return torch.cat([cast(p, dtype) for p in parts], dim=axis)


def _weights(p, q):
    """Second order weights of the three points around an uneven gap: `p` before, `q` after (Fornberg 1988)."""
    times, plus = multiply.compute, add.compute
    both = plus(p, q)
    over = divide.compute
    return (over(torch.neg(q), times(p, both)), over(subtract.compute(q, p), times(p, q)), over(p, times(q, both)))


def _end(f, axis, h, edge_order, end):
    """The derivative at the first (`end` 0) or the last (-1) point, as a layer of size 1."""
    n = f.shape[axis]
    points = [torch.narrow(f, axis, i, 1) for i in (range(edge_order + 1) if end == 0 else range(n - edge_order - 1, n))]
    uniform = is_weak(h) or h.ndim == 0
    if edge_order == 1:
        gap = h if uniform else torch.select(h, 0, 0 if end == 0 else n - 2)
        return divide.compute(subtract.compute(points[1], points[0]), gap)
    if uniform:
        factors = (-1.5, 2.0, -0.5) if end == 0 else (0.5, -2.0, 1.5)
        weights = [_over(factor, h) for factor in factors]
    else:
        near = range(2) if end == 0 else range(n - 3, n - 1)
        p, q = (torch.select(h, 0, i) for i in near)
        weights = _end_weights(p, q, end)
    return _combine(weights, points)


def _over(factor, h):
    return factor / h if is_weak(h) else divide.compute(factor, h)


def _end_weights(p, q, end):
    """Second order one-sided weights for the uneven gaps `p` and `q`."""
    times, plus, over = multiply.compute, add.compute, divide.compute
    both = plus(p, q)
    if end == 0:
        return (over(torch.neg(plus(times(2.0, p), q)), times(p, both)), over(both, times(p, q)), over(torch.neg(p), times(q, both)))
    return (over(q, times(p, both)), over(torch.neg(both), times(p, q)), over(plus(times(2.0, q), p), times(q, both)))


# Windows


def _points(M):
    """`1 - M, 3 - M, ..., M - 1` in float64, and whether there is a window to compute at all."""
    if isinstance(M, torch.Tensor):
        raise Refused("M is computed from the inputs, but decides a shape", "pass M as a Python int", "data-dependent-shape")
    return torch.arange(1 - float(M), float(M), 2, dtype=torch.float64) if M > 0.5 else torch.zeros((0,), dtype=torch.float64)


def _cosines(M, constant, *weights):
    """`constant + w1 cos(pi n / (M - 1)) + w2 cos(2 pi n / (M - 1)) + ...`."""
    n = _points(M)
    if M < 1:
        return torch.zeros((0,), dtype=torch.float64)
    if M == 1:
        return torch.ones((1,), dtype=torch.float64)
    total = torch.full_like(n, constant)
    for k, weight in enumerate(weights, 1):
        total = torch.add(total, torch.mul(torch.cos(k * math.pi * n / (M - 1)), weight))
    return total


@rule("numpy.blackman", kind="creation", examples=("np.blackman(8)", "np.blackman(1)"))
def blackman(M):
    """The Blackman window of `M` points, float64."""
    return _cosines(M, 0.42, 0.5, 0.08)


@rule("numpy.hamming", kind="creation", examples=("np.hamming(8)", "np.hamming(0)"))
def hamming(M):
    """The Hamming window of `M` points, float64."""
    return _cosines(M, 0.54, 0.46)


@rule("numpy.hanning", kind="creation", examples=("np.hanning(8)", "np.hanning(5)"))
def hanning(M):
    """The Hann window of `M` points, float64."""
    return _cosines(M, 0.5, 0.5)


@rule("numpy.bartlett", kind="creation", examples=("np.bartlett(8)", "np.bartlett(5)"))
def bartlett(M):
    """The triangular window of `M` points, float64."""
    n = _points(M)
    if M <= 1:
        return _cosines(M, 0.0)
    return torch.where(torch.le(n, 0), 1 + n / (M - 1), 1 - n / (M - 1))


@rule("numpy.kaiser", kind="creation", examples=("np.kaiser(8, 14.0)", "np.kaiser(5, 0)"))
def kaiser(M, beta):
    """The Kaiser window of `M` points, float64: `i0(beta sqrt(1 - ((n - a) / a)**2)) / i0(beta)` with `a = (M - 1) / 2`."""
    _points(M)
    if M == 1:
        return torch.ones((1,), dtype=torch.float64)
    beta = as_tensor(beta, torch.float64)
    n, middle = torch.arange(0, max(float(M), 0.0), dtype=torch.float64, device=beta.device), (M - 1) / 2.0
    inside = torch.abs(beta * torch.sqrt(1 - ((n - middle) / middle) ** 2.0))
    return torch.div(torch.special.i0(inside), torch.special.i0(torch.abs(beta)))


# Sliding windows


@rule("numpy.lib.stride_tricks.sliding_window_view", kind="shape", view=True,
      examples=("np.lib.stride_tricks.sliding_window_view(v, 1)", "np.lib.stride_tricks.sliding_window_view(m, (1, 1))",
                "np.lib.stride_tricks.sliding_window_view(np.hstack([v, v]), 2, axis=0)"))  # fmt: skip
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of a shape: the axes shrink, and an axis of the window's size is added at the end for each."""
    x = as_tensor(x)
    window = tuple(map(operator.index, window_shape)) if isinstance(window_shape, (tuple, list)) else (operator.index(window_shape),)
    if any(size < 0 for size in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if len(window) != len(axes):
        found = f"{len(window)} window_shape elements and {len(axes)} axes elements"
        raise ValueError(f"Must provide matching length window_shape and axis; got {found}.")
    view = x
    for d, size in zip(axes, window, strict=True):
        if view.shape[d] < size:
            raise ValueError("window shape cannot be larger than input array shape")
        view = view.unfold(d, size, 1)
    view = view.view(view.shape)
    return view if writeable else read_only(view)


refuse("numpy.lib.stride_tricks.as_strided", reason="it reads memory by strides, which a graph does not have",
       hint="use numpy.lib.stride_tricks.sliding_window_view, numpy.broadcast_to or slicing", finding="aliasing")  # fmt: skip
