"""Averages, order statistics and correlation.

Quantiles follow NumPy's own steps rather than `torch.quantile`, which interpolates in the array's dtype, knows five of the
methods, differs where there are infinities, and refuses large arrays. The formulas of the methods are those of
R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50(4), 1996.
"""

from __future__ import annotations

import math

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_tuple

from ..semantics.arrays import as_tensor, beside, cast, demand, is_size, widen, zero_d_array
from ..semantics.axes import axes_tuple, merged, restored
from ..semantics.dtypes import inexact, promote, to_numpy, to_torch
from ..semantics.entering import rule
from ..semantics.table import Refused
from ..semantics.views import at, extent
from .arithmetic import multiply, subtract
from .reductions import mean, sum
from .selection import along
from .sorting import sort

# Averages.

@rule("numpy.average", kind="reduction",
      examples=("np.average(x)", "np.average(x, axis=-1, returned=True)", "np.average(f, axis=0, weights=np.abs(g) + 1)",
                "np.average(v, weights=np.arange(1, 1 + len(v)), keepdims=True)"))  # fmt: skip
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean, or the mean weighted with `weights` (of `a`'s shape, or of the shape of the averaged axes).

    With `returned` also the sum of the weights. Raises ZeroDivisionError where that is zero."""
    a = as_tensor(a)
    axis = None if axis is None else normalize_axis_tuple(axis, a.ndim, "axis")
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        if result.numel() == 0:
            raise ZeroDivisionError("division by zero")
        total = torch.full((), a.numel() / result.numel(), dtype=result.dtype, device=a.device)
    else:
        w = fitting_weights(a, weights, axis)
        dtype = promote(inexact(a.dtype), w.dtype)
        total = sum(w, axis, dtype, keepdims=keepdims)
        demand(torch.ne(total, 0), ZeroDivisionError("Weights sum to zero, can't be normalized"))
        result = torch.div(sum(multiply(cast(a, dtype), cast(w, dtype)), axis, keepdims=keepdims), total)
    return (result, torch.broadcast_to(total, result.shape).clone()) if returned else result

def fitting_weights(a, weights, axis):
    """`weights` with the rank of `a`: as they are, or laid along the axes in `axis` (a tuple or None)."""
    w = beside(a, as_tensor(weights))
    if w.shape == a.shape:
        return w
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if tuple(w.shape) != tuple(a.shape[d] for d in axis):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axis)), key=lambda i: axis[i])
    return torch.permute(w, order).reshape(tuple(n if d in axis else 1 for d, n in enumerate(a.shape)))

# Order statistics.

@rule("numpy.median", kind="reduction", into="total",
      examples=("np.median(x)", "np.median(x, axis=-1)", "np.median(f, axis=0, keepdims=True)", "np.median(m, axis=(0, 1))",
                "np.median(z)"))  # fmt: skip
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the sorted elements, or the mean of the two middle ones; NaN where there is one. Integers and bools in float64."""
    never_overwritten(overwrite_input)
    a = as_tensor(a)
    axes = axes_tuple(axis, a)
    ordered = sort(merged(a, axes))
    n, dtype = extent(ordered, -1), inexact(a.dtype)
    if isinstance(n, torch.Tensor):
        return restored(_middle_of_any(ordered, n, dtype), axes, keepdims)
    if n == 0:
        return restored(torch.full(ordered.shape[:-1], math.nan, dtype=dtype, device=a.device), axes, keepdims)
    middle = cast(torch.select(ordered, -1, n // 2), dtype)
    if is_size(n):
        low = cast(torch.select(ordered, -1, (n - 1) // 2), dtype)
        middle = torch.where(torch.eq(as_tensor(n % 2), 0), midpoint(low, middle), middle)
    elif n % 2 == 0:
        middle = midpoint(cast(torch.select(ordered, -1, n // 2 - 1), dtype), middle)
    if a.is_floating_point() or a.is_complex():
        last = torch.select(ordered, -1, n - 1)
        middle = torch.where(torch.isnan(last), last, middle)
    return restored(middle, axes, keepdims)

def _middle_of_any(ordered, n, dtype):
    """The median of `n` sorted elements along the last axis, however many they are: of none it is NaN."""
    padded = torch.cat([cast(ordered, dtype), torch.full((*ordered.shape[:-1], 1), math.nan, dtype=dtype, device=ordered.device)], -1)
    low, high = at(padded, -1, torch.clamp(n // 2 - 1, min=0)), at(padded, -1, n // 2)
    middle = torch.where(torch.eq(n % 2, 0), midpoint(low, high), high)
    last = at(padded, -1, torch.clamp(n - 1, min=0))
    return torch.where(torch.isnan(last), last, middle)

def never_overwritten(overwrite_input):
    """NumPy leaves open in which order `overwrite_input` leaves the array: no torch function does just that."""
    if overwrite_input:
        raise Refused("overwrite_input=True leaves the array in an order that NumPy does not define",
                      "leave it out: the result is the same")  # fmt: skip

def midpoint(low, high):
    """The mean of two, computed as NumPy computes means: float16 in float32."""
    work = torch.float32 if low.dtype == torch.float16 else low.dtype
    return cast(torch.div(torch.add(cast(low, work), cast(high, work)), 2), low.dtype)

@rule("numpy.quantile", kind="reduction", into="step",
      examples=("np.quantile(x, 0.3)", "np.quantile(f, [0.0, 0.25, 1.0], axis=-1)",
                "np.quantile(f, 0.5, axis=0, keepdims=True, method='hazen')", "np.quantile(x, np.array([0.1, 0.9]), method='inverted_cdf')",
                "np.quantile(np.nan_to_num(f), 0.7, method='inverted_cdf', weights=np.abs(g) + 1)"))  # fmt: skip
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The quantiles `q` (in [0, 1]) of the elements along `axis`, by any of NumPy's methods; the axes of `q` come first.

    A Python number `q` is weak: float32 stays float32. With a NumPy scalar `q` it becomes float64 (in NumPy only without NaN: a
    dtype that depends on values, which no graph can have). NaN where there is one."""
    return quantiles(*ready(a, q, 1, overwrite_input), axis, method, keepdims, weights)

@rule("numpy.percentile", kind="reduction", into="step",
      examples=("np.percentile(x, 30)", "np.percentile(f, 50, axis=0, keepdims=True, method='nearest')",
                "np.percentile(f, [0, 25, 100], axis=-1)", "np.percentile(x, [10.0, 60.0], method='median_unbiased')"))  # fmt: skip
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """`quantile` with `q` in percent."""
    return quantiles(*ready(a, q, 100, overwrite_input), axis, method, keepdims, weights)

def ready(a, q, whole, overwrite_input):
    """The array, the quantiles as a tensor in [0, 1] (`q` divided by `whole`), and whether `q` was a (weak) Python number.

    Raises TypeError for complex numbers, ValueError for `q` out of range."""
    never_overwritten(overwrite_input)
    a, fractions = as_tensor(a), as_tensor(q)
    if a.is_complex():
        raise TypeError("a must be an array of real numbers")
    if whole != 1:
        fractions = torch.div(cast(fractions, inexact(fractions.dtype)), whole)
    if isinstance(q, torch.Tensor):
        inside = torch.logical_and(torch.ge(fractions, 0), torch.le(fractions, 1))
    else:
        given = numpy.asarray(q, dtype=float)
        inside = bool(numpy.all((given >= 0) & (given <= whole)))
    demand(inside, ValueError("Quantiles must be in the range [0, 1]" if whole == 1 else "Percentiles must be in the range [0, 100]"))
    if fractions.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    return a, beside(a, fractions), type(q) in (int, float)

def quantiles(a, q, weak, axis, method, keepdims, weights, skip_nan=False):
    """What quantile, percentile and their nan twins share. `q` is a tensor in [0, 1], result `q.shape + rest of a`.

    weak      `q` was a Python number: the result keeps the dtype of a floating `a`
    skip_nan  each slice is the slice without its NaNs; nothing else left gives NaN"""
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {_METHODS.keys()}")
    axes = axes_tuple(axis, a)
    flat = merged(a, axes)
    if weights is not None:
        w = quantile_weights(a, weights, axis, method)
        return restored(zero_d_array(_weighted(flat, merged(torch.broadcast_to(w, a.shape), axes), q, skip_nan)), axes, keepdims, q.ndim)
    if flat.shape[-1] == 0 and q.numel() > 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    found = _interpolated(sort(flat), q, method, weak, skip_nan)
    return restored(found.contiguous(), axes, keepdims, q.ndim)  # as NumPy lays it out: whether a part of it is a view hangs on that

def quantile_weights(a, weights, axis, method):
    """The weights with the rank of `a`. Raises ValueError for negative ones and for methods that know none."""
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    w = widen(fitting_weights(a, weights, None if axis is None else normalize_axis_tuple(axis, a.ndim, "axis")))
    demand(torch.ge(w, 0), ValueError("Weights must be non-negative."))
    return w

def _interpolated(ordered, q, method, weak, skip_nan):
    """Quantiles of slices that are sorted along the last axis: between the two elements around a virtual index."""
    n = extent(ordered, -1)
    if skip_nan and ordered.is_floating_point():
        n = torch.sum(torch.logical_not(torch.isnan(ordered)), dim=-1)
    virtual_index, fraction = _METHODS[method]
    whole = None if weak or q.is_floating_point() or method not in _WHOLE else torch.int64 if q.dtype == torch.bool else q.dtype
    if whole == torch.uint64:
        raise OverflowError("Python integer -1 out of bounds for uint64")
    if method != "linear" and not q.is_floating_point():
        q = q.to(torch.float64)
    index = virtual_index(n, q.reshape(tuple(q.shape) + (1,) * (ordered.ndim - 1)))
    if whole is not None:  # the fraction is an integer, too: 0
        found = _taken(ordered, torch.clamp(index, max=_like(n - 1, index)), q)
        found = cast(found, subtract(found, cast(torch.zeros_like(q), whole)[(..., *(None,) * (found.ndim - q.ndim))]).dtype)
    elif fraction is None or not index.is_floating_point():
        found = _taken(ordered, torch.clamp(index, max=_like(n - 1, index)), q)
    else:
        floor = torch.floor(index)
        end = _like(n - 1, index)
        before, after = torch.clamp(torch.clamp(floor, max=end), min=0), torch.clamp(floor + 1, max=end)
        gamma = fraction(index - before, index)
        found = _between(_taken(ordered, before.to(torch.int64), q), _taken(ordered, after.to(torch.int64), q), gamma, weak)
    if ordered.is_floating_point() and not skip_nan:
        found = torch.where(torch.isnan(torch.select(ordered, -1, -1)), math.nan, found)
    return found

def _like(n, index):
    """A bound in the dtype of what it bounds; a number as it is."""
    return cast(n, index.dtype) if isinstance(n, torch.Tensor) else n

def _taken(ordered, index, q):
    """The elements of each slice at its indices (not below 0), which have the shape `q.shape + slices` (broadcast), as the result."""
    slices = tuple(ordered.shape[:-1])
    positions = torch.broadcast_to(torch.clamp(index, min=0).to(torch.int64), tuple(q.shape) + slices).reshape((q.numel(), *slices))
    found = torch.movedim(along(ordered, torch.movedim(positions, 0, -1), -1), -1, 0)
    return found.reshape(tuple(q.shape) + slices)

def _between(low, high, gamma, weak):
    """Linear interpolation from the nearer end, in NumPy's dtypes: the difference in the array's own, where it may wrap."""
    dtype = promote(low.dtype, float if weak else gamma.dtype)
    difference = cast(subtract(high, low), dtype)
    near_low = torch.add(cast(low, dtype), torch.mul(difference, cast(gamma, dtype)))
    near_high = torch.sub(cast(high, dtype), torch.mul(difference, cast(1 - gamma, dtype)))
    return torch.where(torch.ge(gamma, 0.5), near_high, near_low)

def _weighted(flat, weights, q, skip_nan):
    """Inverse of the weighted distribution function: the first element at which it reaches `q`."""
    ordered, order = torch.sort(flat, dim=-1, stable=True)
    w = cast(torch.gather(weights, -1, order), torch.float64)
    gone = torch.isnan(ordered)
    if skip_nan:
        w = torch.where(gone, 0, w)
    cdf = torch.cumsum(w, dim=-1)
    cdf = torch.div(cdf, torch.narrow(cdf, -1, cdf.shape[-1] - 1, 1))
    known = torch.logical_not(torch.isnan(torch.select(cdf, -1, -1)))
    empty = torch.all(gone, dim=-1) if skip_nan else torch.zeros_like(known)
    demand(torch.logical_or(known, empty), ValueError("Weights included NaN, inf or were all zero."))
    cdf = cast(cdf, q.dtype) if q.is_floating_point() else cdf
    cdf = torch.where(torch.eq(cdf, 0), -1, cdf)  # so that q = 0 finds the first element with a weight
    below = torch.lt(torch.unsqueeze(cdf, 0), q.reshape((q.numel(),) + (1,) * cdf.ndim))
    index = torch.sum(below, dim=-1).reshape(tuple(q.shape) + tuple(flat.shape[:-1]))
    found = _taken(ordered, torch.clamp(index, max=flat.shape[-1] - 1), q)
    if not flat.is_floating_point():
        return found
    return torch.where(empty if skip_nan else torch.select(gone, -1, -1), math.nan, found)

def _closest_observation(n, q):
    """The floor where the fraction is zero and the floor is odd, elsewhere the next; never below 0."""
    index = n * q - 1.5
    floor = torch.floor(index)
    stays = torch.logical_and(torch.eq(index, floor), torch.eq(torch.remainder(floor, 2), 1))
    return torch.clamp(torch.where(stays, floor, floor + 1), min=0).to(torch.int64)

def _hyndman_fan(alpha, beta):
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1

def _as_is(gamma, index):
    return gamma

# method: (virtual index of n elements and q, what becomes of the fraction; None where the index is whole)
_METHODS = {
    "inverted_cdf": (lambda n, q: torch.clamp(torch.ceil(n * q - 1), min=0).to(torch.int64), None),
    "averaged_inverted_cdf": (lambda n, q: n * q - 1, lambda gamma, index: torch.where(torch.eq(gamma, 0), 0.5, torch.ones_like(gamma))),
    "closest_observation": (_closest_observation, None),
    "interpolated_inverted_cdf": (_hyndman_fan(0, 1), _as_is),
    "hazen": (_hyndman_fan(0.5, 0.5), _as_is),
    "weibull": (_hyndman_fan(0, 0), _as_is),
    "linear": (lambda n, q: (n - 1) * q, _as_is),
    "median_unbiased": (_hyndman_fan(1 / 3.0, 1 / 3.0), _as_is),
    "normal_unbiased": (_hyndman_fan(3 / 8.0, 3 / 8.0), _as_is),
    "lower": (lambda n, q: torch.floor((n - 1) * q).to(torch.int64), None),
    "higher": (lambda n, q: torch.ceil((n - 1) * q).to(torch.int64), None),
    "midpoint": (lambda n, q: 0.5 * (torch.floor((n - 1) * q) + torch.ceil((n - 1) * q)),
                 lambda gamma, index: torch.where(torch.eq(torch.remainder(index, 1), 0), 0.0, torch.full_like(gamma, 0.5))),
    "nearest": (lambda n, q: torch.round((n - 1) * q).to(torch.int64), None),
}  # fmt: skip

_WHOLE = ("averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull")
"""Methods that make a whole index of an integer `q`: the fraction has its dtype, and so has the result of integers."""

# Correlation.

@rule("numpy.cov", kind="reduction",
      examples=("np.cov(m)", "np.cov(v, w)", "np.cov(m, rowvar=False, bias=True)", "np.cov(m, ddof=0)",
                "np.cov(v, fweights=np.arange(1, 1 + len(v)), aweights=np.arange(1, 1 + len(v)))"))  # fmt: skip
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Covariance of variables (rows, unless `rowvar=False`), in float64 at least; too few observations give NaN or inf."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    if not isinstance(ddof, (int, float, type(None), torch.Tensor)):
        raise Refused("a ddof that is a NumPy scalar", "give it as a Python int")
    m = as_tensor(m)
    both = [m] if y is None else [m, beside(m, as_tensor(y))]
    for name, x in zip("my", both, strict=False):
        if x.ndim > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    dtype = promote(*(x.dtype for x in both), torch.float64) if dtype is None else to_torch(dtype)
    variables = torch.atleast_2d(cast(m, dtype))
    variables = torch.transpose(variables, 0, 1) if not rowvar and m.ndim != 1 else variables
    if variables.shape[0] == 0:
        return torch.empty((0, 0), dtype=torch.float64, device=m.device)
    if y is not None:
        more = torch.atleast_2d(cast(both[1], dtype))
        more = torch.transpose(more, 0, 1) if not rowvar and more.shape[0] != 1 else more
        if more.shape[1] != variables.shape[1]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        variables = torch.cat([variables, more])
    if not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"Cannot cast ufunc 'subtract' output from dtype('float64') to {to_numpy(dtype)!r} with casting rule 'same_kind'")
    ddof = (1 if bias == 0 else 0) if ddof is None else int(ddof)
    fweights, aweights = (None if w is None else cast(beside(m, as_tensor(w)), torch.float64) for w in (fweights, aweights))
    w = _observation_weights(variables.shape[1], fweights, aweights)
    if w is None:
        centred = weighted = variables - mean(variables, 1, keepdims=True)
        freedom = torch.full((), variables.shape[1] - ddof, dtype=torch.float64, device=m.device)
    else:
        middle, totals = average(variables, 1, w, True)
        total = torch.real(torch.select(totals, 0, 0)) if totals.is_complex() else torch.select(totals, 0, 0)
        lost = ddof if aweights is None else ddof * torch.sum(w * aweights) / total
        centred = variables - torch.unsqueeze(middle, 1)
        weighted, freedom = cast(multiply(centred, w), dtype), total - lost if ddof else total
    product = torch.matmul(centred, torch.conj(torch.transpose(weighted, 0, 1)))
    scale = torch.div(1, torch.clamp(freedom, min=0))
    return zero_d_array(torch.squeeze(torch.mul(product, cast(scale, product.dtype) if not product.is_complex() else scale)))

def _observation_weights(n, fweights, aweights):
    """The product of repeat counts and weights of `n` observations, None where there are neither."""
    for name, w in (("fweights", fweights), ("aweights", aweights)):
        if w is None:
            continue
        if name == "fweights":
            demand(torch.eq(w, torch.round(w)), TypeError("fweights must be integer"))
        if w.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if w.shape[0] != n:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        demand(torch.ge(w, 0), ValueError(f"{name} cannot be negative"))
    return fweights if aweights is None else aweights if fweights is None else fweights * aweights

@rule("numpy.corrcoef", kind="reduction", examples=("np.corrcoef(m)", "np.corrcoef(v, w)", "np.corrcoef(m, rowvar=False)"))
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """`cov` over the product of the deviations, real and imaginary parts clipped to [-1, 1]; 1 or NaN for one variable."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return torch.div(c, c)
    deviation = torch.sqrt(torch.real(torch.diagonal(c)))
    c = torch.div(torch.div(c, torch.unsqueeze(deviation, 1)), torch.unsqueeze(deviation, 0))
    if c.is_complex():
        return torch.complex(torch.clamp(torch.real(c), -1, 1), torch.clamp(torch.imag(c), -1, 1))
    return torch.clamp(c, -1, 1)
