"""NumPy's nan functions: the reductions and order statistics of what is not NaN.

For integers and bools each is the plain function. Where torch has the function it is called; elsewhere NaN is replaced by what
does not count, as NumPy does it.
"""

from __future__ import annotations

import math

import numpy
import torch

from ..semantics.arrays import as_tensor, cast, demand
from ..semantics.axes import axes_of, axes_tuple, count_of, masked, merged, over_axes, restored
from ..semantics.dtypes import inexact, to_torch
from ..semantics.entering import rule
from ..semantics.table import Refused
from .arithmetic import fmax, fmin
from .reductions import argmax, argmin, complex_extremum, cumprod, cumsum, ddof_of, max, mean, min, prod, root, squared, start_for, sum, var
from .sorting import sort
from .statistics import median, midpoint, never_overwritten, quantile_weights, quantiles, ready

# What counts as NaN, and what stands for it.

def has_nan(a):
    """True for dtypes that can hold NaN."""
    return a.is_floating_point() or a.is_complex()

def replaced(a, value):
    """`a` with `value` for NaN."""
    return torch.where(torch.isnan(a), value, a) if has_nan(a) else a

@rule("numpy.nansum", kind="reduction", into="fold",
      examples=("np.nansum(f)", "np.nansum(a)", "np.nansum(f, axis=-1, keepdims=True)", "np.nansum(z, axis=0)"))  # fmt: skip
@over_axes()
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=numpy._NoValue, where=True):
    """NaN counts as 0."""
    if dtype is None and initial is numpy._NoValue and where is True and axis != () and a.is_floating_point():
        return torch.nansum(a, dim=axis, keepdim=keepdims)
    return sum(replaced(a, 0), axis, dtype, None, keepdims, initial, where)

@rule("numpy.nanprod", kind="reduction", into="fold", examples=("np.nanprod(f)", "np.nanprod(a)", "np.nanprod(f, axis=-1, keepdims=True)"))
@over_axes()
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=numpy._NoValue, where=True):
    """NaN counts as 1."""
    return prod(replaced(a, 1), axis, dtype, None, keepdims, initial, where)

@rule("numpy.nancumsum", kind="reduction", into="fold", examples=("np.nancumsum(f)", "np.nancumsum(a)", "np.nancumsum(f, axis=-1)"))
def nancumsum(a, axis=None, dtype=None, out=None):
    """NaN counts as 0."""
    return cumsum(replaced(as_tensor(a), 0), axis, dtype)

@rule("numpy.nancumprod", kind="reduction", into="fold", examples=("np.nancumprod(f)", "np.nancumprod(a)", "np.nancumprod(f, axis=-1)"))
def nancumprod(a, axis=None, dtype=None, out=None):
    """NaN counts as 1."""
    return cumprod(replaced(as_tensor(a), 1), axis, dtype)

@rule("numpy.nanmean", kind="reduction", into="total",
      examples=("np.nanmean(f)", "np.nanmean(a)", "np.nanmean(f, axis=-1, keepdims=True)", "np.nanmean(f, axis=0, where=k)"))  # fmt: skip
@over_axes()
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The mean of what is not NaN; NaN where nothing is left."""
    if dtype is None and where is True and axis != () and a.is_floating_point():
        return torch.nanmean(a, dim=axis, keepdim=keepdims)
    if not has_nan(a):
        return mean(a, axis, dtype, None, keepdims, where=where)
    _demand_inexact(dtype)
    return _mean_of_known(a, axis, dtype, keepdims, where)

def _demand_inexact(dtype):
    if dtype is not None and inexact(to_torch(dtype)) != to_torch(dtype):
        raise TypeError("If a is inexact, then dtype must be inexact")

def _mean_of_known(a, axis, dtype, keepdims, where):
    return torch.div(sum(replaced(a, 0), axis, dtype, None, keepdims, where=where), _known(a, axis, keepdims, where))

def _known(a, axis, keepdims, where):
    """How many elements are not NaN (and let through by the mask)."""
    return torch.sum(masked(torch.logical_not(torch.isnan(a)), where, False), dim=axis, keepdim=keepdims)

@rule("numpy.nanvar", kind="reduction", into="total",
      examples=("np.nanvar(f)", "np.nanvar(a)", "np.nanvar(f, axis=-1, ddof=1)", "np.nanvar(f, axis=0, keepdims=True)"))  # fmt: skip
@over_axes()
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """The variance of what is not NaN; NaN where `ddof` or fewer are left."""
    if not has_nan(a):
        return var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    _demand_inexact(dtype)
    lost = ddof_of(ddof, correction)
    centre = _mean_of_known(a, axis, dtype, True, where) if mean is None else as_tensor(mean)
    deviation = torch.where(torch.isnan(a), 0, cast(torch.sub(a, centre), a.dtype))
    total = sum(squared(deviation), axis, dtype, None, keepdims, where=where)
    freedom = _known(a, axis, keepdims, where) - lost
    return torch.where(torch.le(freedom, 0), math.nan, cast(torch.div(total, freedom), total.dtype))

@rule("numpy.nanstd", kind="reduction", into="total",
      examples=("np.nanstd(f)", "np.nanstd(a)", "np.nanstd(f, axis=-1, ddof=1)", "np.nanstd(f, axis=0, keepdims=True)"))  # fmt: skip
@over_axes()
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """The root of `nanvar`."""
    return root(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction))

@rule("numpy.nanmax", kind="reduction", into="fold",
      examples=("np.nanmax(f)", "np.nanmax(x)", "np.nanmax(f, axis=-1, keepdims=True)", "np.nanmax(z, axis=0)"))  # fmt: skip
@over_axes(empty="zero-size array to reduction operation fmax which has no identity")
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """NaN only where there is nothing else."""
    return _nan_extremum(max, fmax, a, axis, keepdims, initial, where)

@rule("numpy.nanmin", kind="reduction", into="fold",
      examples=("np.nanmin(f)", "np.nanmin(x)", "np.nanmin(f, axis=-1, keepdims=True)", "np.nanmin(z, axis=0)"))  # fmt: skip
@over_axes(empty="zero-size array to reduction operation fmin which has no identity")
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """NaN only where there is nothing else."""
    return _nan_extremum(min, fmin, a, axis, keepdims, initial, where)

def _nan_extremum(reduce, choose, a, axis, keepdims, initial, where):
    """`numpy.fmax.reduce` and `numpy.fmin.reduce`, which skip NaN."""
    if not has_nan(a) or count_of(a, axis, False, True) == 0:
        return reduce(a, axis, None, keepdims, initial, where)
    start, axes = start_for(choose, a, initial, where), axes_of(axis, a.ndim)
    a = masked(a, where, start)
    if a.is_complex():
        found = restored(complex_extremum(merged(a, axes), choose is fmax, skip_nan=True), axes, keepdims)
    else:
        found = reduce(replaced(a, -math.inf if choose is fmax else math.inf), axis, None, keepdims)
        found = torch.where(torch.all(torch.isnan(a), dim=axis, keepdim=keepdims), math.nan, found)
    return found if start is None else choose(found, start)

@rule("numpy.nanargmax", kind="reduction", into="buffer",
      examples=("np.nanargmax(f)", "np.nanargmax(x, axis=-1)", "np.nanargmax(f, axis=0, keepdims=True)"))  # fmt: skip
def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """The first of equals, NaN counted as the smallest. Raises ValueError where there is only NaN."""
    return _nan_position(argmax, -math.inf, as_tensor(a), axis, keepdims)

@rule("numpy.nanargmin", kind="reduction", into="buffer",
      examples=("np.nanargmin(f)", "np.nanargmin(x, axis=-1)", "np.nanargmin(f, axis=0, keepdims=True)"))  # fmt: skip
def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """The first of equals, NaN counted as the largest. Raises ValueError where there is only NaN."""
    return _nan_position(argmin, math.inf, as_tensor(a), axis, keepdims)

def _nan_position(find, worst, a, axis, keepdims):
    found = find(replaced(a, worst), axis, keepdims=keepdims)
    if has_nan(a):
        demand(torch.logical_not(torch.all(torch.isnan(a), dim=axis)), ValueError("All-NaN slice encountered"))
    return found

@rule("numpy.nanmedian", kind="reduction", into="total",
      examples=("np.nanmedian(f)", "np.nanmedian(x)", "np.nanmedian(f, axis=-1, keepdims=True)",
                "np.nanmedian(m, axis=(0, 1))"))  # fmt: skip
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of what is not NaN; NaN where nothing is left."""
    never_overwritten(overwrite_input)
    a = as_tensor(a)
    if a.numel() == 0:
        return nanmean(a, axis, keepdims=keepdims)
    if not has_nan(a):
        return median(a, axis, keepdims=keepdims)
    axes = axes_tuple(axis, a)
    ordered = sort(merged(a, axes))
    count = torch.sum(torch.logical_not(torch.isnan(ordered)), dim=-1, keepdim=True)
    below = torch.gather(ordered, -1, torch.clamp(torch.div(count - 1, 2, rounding_mode="floor"), min=0))
    above = torch.gather(ordered, -1, torch.clamp(torch.div(count, 2, rounding_mode="floor"), max=ordered.shape[-1] - 1))
    middle = torch.where(torch.eq(torch.remainder(count, 2), 1), below, midpoint(below, above))
    return restored(torch.squeeze(middle, -1), axes, keepdims)

@rule("numpy.nanquantile", kind="reduction", into="total",
      examples=("np.nanquantile(f, 0.3)", "np.nanquantile(f.astype(np.float64), [0.0, 0.5], axis=-1)",
                "np.nanquantile(f, 0.5, axis=0, keepdims=True, method='hazen')"))  # fmt: skip
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The quantiles of what is not NaN; NaN where nothing is left.

    With a `q` that is no Python number, a float32 array gives float64. NumPy gives float32 if there is only NaN in the first
    slice: a dtype that depends on values, which no graph can have."""
    return _nan_quantiles(*ready(a, q, 1, overwrite_input), axis, method, keepdims, weights)

@rule("numpy.nanpercentile", kind="reduction", into="total",
      examples=("np.nanpercentile(f, 30)", "np.nanpercentile(f.astype(np.float64), [0, 50], axis=-1, keepdims=True)"))  # fmt: skip
def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """`nanquantile` with `q` in percent."""
    return _nan_quantiles(*ready(a, q, 100, overwrite_input), axis, method, keepdims, weights)

def _nan_quantiles(a, q, weak, axis, method, keepdims, weights):
    """Of an empty array NumPy gives `nanmean`, without the axes of `q`; weights must have the shape of the array."""
    if weights is not None:
        weights = quantile_weights(a, weights, axis, method)
        if tuple(weights.shape) != tuple(a.shape):
            raise IndexError("index is out of bounds: the weights must have the shape of the array")
    if a.numel() == 0:
        return nanmean(a, axis, keepdims=keepdims)
    if q.ndim == 2 and isinstance(axis, (tuple, list)) and 1 != len(axis) < a.ndim:
        raise Refused("numpy.nanquantile mixes up the axes of a 2-D q and several reduced axes", "pass q flattened and reshape the result")
    return quantiles(a, q, weak, axis, method, keepdims, weights, skip_nan=True)
