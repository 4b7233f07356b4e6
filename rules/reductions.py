"""Reductions: sums, products, means, deviations, extrema, their positions, truth and running totals along axes.

The common case of each rule is the torch reduction of the same name. The rest of its body is what differs: NumPy's
accumulator dtypes (small integers in int64, unsigned ones in uint64, integer means in float64), `where=`, `initial=`,
the order of complex numbers, and dtypes that torch does not reduce.
"""

from __future__ import annotations

import builtins
import math

import numpy
import torch

from ..semantics.arrays import as_tensor, cast, widen
from ..semantics.axes import axes_of, count_of, masked, merged, over_axes, restored, start_of
from ..semantics.dtypes import WIDER, inexact, real_of, to_numpy, to_torch
from ..semantics.entering import rule
from ..semantics.table import Refused
from .arithmetic import maximum, minimum, multiply, subtract

UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
PLAIN = (torch.float32, torch.float64)
"""Dtypes whose deviations torch computes as NumPy does; NumPy rounds each step of float16, and adds up complex parts first."""

STEPWISE = (torch.float16, *UNSIGNED)
"""Dtypes whose products are no single torch call."""

# Sums and products.

def accumulator(source, dtype):
    """The dtype in which NumPy adds and multiplies: `dtype`, else at least int64 or uint64 for integers."""
    if dtype is not None:
        return to_torch(dtype)
    if source in UNSIGNED:
        return torch.uint64
    return source if source.is_floating_point or source.is_complex else torch.int64

@rule("numpy.sum", "numpy.ndarray.sum", kind="reduction", into="fold",
      examples=("np.sum(a)", "np.sum(x, axis=-1)", "x.sum(axis=0, keepdims=True)", "np.sum(x, dtype=np.float64, initial=2)",
                "np.sum(x, axis=0, where=k)", "np.sum(m, axis=(0, -1))"))  # fmt: skip
@over_axes(empty="zero-size array to reduction operation add which has no identity")
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=numpy._NoValue, where=True):
    """Integers and bools are added in int64, unsigned integers in uint64."""
    if dtype is None and initial is numpy._NoValue and where is True and axis != () and a.dtype not in UNSIGNED:
        return torch.sum(a, dim=axis, keepdim=keepdims)
    return _total(torch.sum, torch.add, 0, a, axis, dtype, keepdims, initial, where)

@rule("numpy.prod", "numpy.ndarray.prod", kind="reduction", into="fold",
      examples=("np.prod(a)", "np.prod(x, axis=-1)", "x.prod(axis=0, keepdims=True)", "np.prod(x, dtype=np.float64, initial=2)",
                "np.prod(x, axis=0, where=k)", "np.prod(m, axis=(0, -1))"))  # fmt: skip
@over_axes(empty="zero-size array to reduction operation multiply which has no identity")
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=numpy._NoValue, where=True):
    """Integers and bools are multiplied in int64, unsigned integers in uint64."""
    if dtype is None and initial is numpy._NoValue and where is True and isinstance(axis, int) and a.dtype not in STEPWISE:
        return torch.prod(a, dim=axis, keepdim=keepdims)
    if dtype is None and initial is numpy._NoValue and where is True and axis is None and not keepdims and a.dtype not in STEPWISE:
        return torch.prod(a)
    return _total(_product, torch.mul, 1, a, axis, dtype, keepdims, initial, where)

def _product(a, dim, keepdim):
    axes = axes_of(dim, a.ndim)
    if a.dtype == torch.float16 and axes:  # NumPy rounds at the end of its inner loop, which torch's first axis has not
        inner = [d for d, n in enumerate(a.shape) if n != 1][-1:]
        if inner and inner[0] not in axes:
            return restored(torch.prod(torch.movedim(merged(a, axes), -1, 0).contiguous(), dim=0), axes, keepdim)
        return restored(torch.prod(merged(a, axes).to(torch.float32), dim=-1).to(a.dtype), axes, keepdim)
    return restored(torch.prod(merged(a, axes), dim=-1), axes, keepdim)

def _total(reduce, combine, neutral, a, axis, dtype, keepdims, initial, where):
    """A sum or product in NumPy's accumulator dtype. In bool, addition is `or` and multiplication `and`, in torch too."""
    target = accumulator(a.dtype, dtype)
    if target == torch.bool:
        reduce = torch.all if neutral else torch.any
    total = reduce(masked(widen(cast(a, target)), where, neutral), dim=axis, keepdim=keepdims)
    if initial is None:
        start_for(combine, a, initial, where)
    elif initial is not numpy._NoValue:
        total = combine(total, widen(start_of(initial, target, a)))
    return cast(total, target)

@rule("numpy.any", "numpy.ndarray.any", kind="reduction", into="unsafe",
      examples=("np.any(a)", "np.any(x, axis=-1)", "x.any(axis=0, keepdims=True)", "np.any(x, where=k)", "np.any(x, axis=())"))  # fmt: skip
@over_axes()
def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Bool for every dtype; NaN is true."""
    if where is True and axis != () and a.dtype != torch.uint8:
        return torch.any(a, dim=axis, keepdim=keepdims)
    return torch.any(masked(cast(a, torch.bool), where, False), dim=axis, keepdim=keepdims)

@rule("numpy.all", "numpy.ndarray.all", kind="reduction", into="unsafe",
      examples=("np.all(a)", "np.all(x, axis=-1)", "x.all(axis=0, keepdims=True)", "np.all(x, where=k)", "np.all(x, axis=())"))  # fmt: skip
@over_axes()
def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Bool for every dtype; NaN is true."""
    if where is True and axis != () and a.dtype != torch.uint8:
        return torch.all(a, dim=axis, keepdim=keepdims)
    return torch.all(masked(cast(a, torch.bool), where, True), dim=axis, keepdim=keepdims)

@rule("numpy.count_nonzero", kind="reduction",
      examples=("np.count_nonzero(a)", "np.count_nonzero(x, axis=-1)", "np.count_nonzero(x, axis=0, keepdims=True)"))  # fmt: skip
@over_axes()
def count_nonzero(a, axis=None, *, keepdims=False):
    """An int64 count; NaN counts."""
    if keepdims or axis == () or a.dtype in WIDER:
        return sum(torch.ne(a, 0), axis=axis, keepdims=keepdims)
    return torch.count_nonzero(a, dim=axis)

# Means and deviations.

@rule("numpy.mean", "numpy.ndarray.mean", kind="reduction", into="mean",
      examples=("np.mean(a)", "np.mean(x, axis=-1)", "x.mean(axis=0, keepdims=True)", "np.mean(x, dtype=np.float32)",
                "np.mean(x, axis=0, where=k)"))  # fmt: skip
@over_axes(scalar_axis=False)
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Integers and bools in float64; float16 in float32, then back. No elements give NaN."""
    if dtype is None and where is True and axis != () and (a.is_floating_point() or a.is_complex()):
        return torch.mean(a, dim=axis, keepdim=keepdims)
    if dtype is None and where is True and axis != ():
        return torch.mean(a, dim=axis, keepdim=keepdims, dtype=torch.float64)
    if dtype is not None:
        return _mean(a, axis, to_torch(dtype), keepdims, where)
    work = torch.float32 if a.dtype == torch.float16 else inexact(a.dtype)
    return cast(_mean(a, axis, work, keepdims, where), inexact(a.dtype))

def _mean(a, axis, dtype, keepdims, where):
    """Sum and division, both in `dtype`: an integer `dtype` truncates, as it does in NumPy."""
    return _divided(sum(a, axis, dtype, None, keepdims, where=where), count_of(a, axis, keepdims, where))

def _divided(total, count):
    return cast(torch.div(cast(total, inexact(total.dtype)), count), total.dtype)

@rule("numpy.var", kind="reduction", into="total",
      examples=("np.var(a)", "np.var(x, axis=-1, ddof=1)", "np.var(x, axis=0, keepdims=True)", "np.var(x, dtype=np.float64, where=k)",
                "np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True))"))  # fmt: skip
@over_axes(scalar_axis=False)
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Population variance by default (`ddof=0`); integers in float64; real for complex numbers."""
    return _var(a, axis, dtype, ddof, keepdims, where, mean, correction)

@rule("numpy.ndarray.var", kind="reduction", into="total", examples=("a.var()", "x.var(axis=-1, ddof=1)", "x.var(0, keepdims=True)"))
@over_axes(scalar_axis=False)
def ndarray_var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    """The method has no `correction`."""
    return _var(a, axis, dtype, ddof, keepdims, where, mean, None)

def _var(a, axis, dtype, ddof, keepdims, where, mean, correction):
    if dtype is None and where is True and mean is None and correction is None and axis != () and a.dtype in PLAIN:
        return torch.var(a, dim=axis, correction=ddof, keepdim=keepdims)
    return _variance(a, axis, dtype, ddof_of(ddof, correction), keepdims, where, mean)

@rule("numpy.std", kind="reduction", into="total",
      examples=("np.std(a)", "np.std(x, axis=-1, ddof=1)", "np.std(x, axis=0, keepdims=True)", "np.std(x, dtype=np.float64, where=k)",
                "np.std(x, axis=0, mean=np.mean(x, axis=0, keepdims=True))"))  # fmt: skip
@over_axes(scalar_axis=False)
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Population deviation by default (`ddof=0`); integers in float64; real for complex numbers."""
    return _std(a, axis, dtype, ddof, keepdims, where, mean, correction)

@rule("numpy.ndarray.std", kind="reduction", into="total", examples=("a.std()", "x.std(axis=-1, ddof=1)", "x.std(0, keepdims=True)"))
@over_axes(scalar_axis=False)
def ndarray_std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    """The method has no `correction`."""
    return _std(a, axis, dtype, ddof, keepdims, where, mean, None)

def _std(a, axis, dtype, ddof, keepdims, where, mean, correction):
    if dtype is None and where is True and mean is None and correction is None and axis != () and a.dtype in PLAIN:
        return torch.sqrt(torch.var(a, dim=axis, correction=ddof, keepdim=keepdims))  # torch.std of float32 neither overflows nor vanishes
    return root(_variance(a, axis, dtype, ddof_of(ddof, correction), keepdims, where, mean))

def ddof_of(ddof, correction):
    """`correction` is the array API's name for `ddof`."""
    if correction is not None and ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return ddof if correction is None else correction

def _variance(a, axis, dtype, ddof, keepdims, where, mean):
    """NumPy's steps, each in NumPy's dtype: sum |a - mean|**2, over max(n - ddof, 0)."""
    work = to_torch(dtype) if dtype is not None else inexact(a.dtype)
    deviation = subtract(a, mean if mean is not None else _mean(a, axis, work, True, where))
    if deviation.is_complex() and not a.is_complex():
        raise Refused("a complex mean of a real array", "give a real mean=")
    plain = a.is_floating_point() or a.is_complex()
    total = sum(squared(deviation), axis, dtype or (real_of(deviation.dtype) if plain else torch.float64), None, keepdims, where=where)
    freedom = count_of(a, axis, keepdims, where) - ddof
    return _divided(total, torch.clamp(freedom, min=0) if isinstance(freedom, torch.Tensor) else builtins.max(freedom, 0))

def squared(deviation):
    """|deviation|**2, real."""
    return torch.real(torch.mul(deviation, torch.conj(deviation))) if deviation.is_complex() else multiply(deviation, deviation)

def root(variance):
    """The square root in the variance's own dtype, which may be one of integers: NumPy truncates a scalar, but no array."""
    if variance.ndim and variance.dtype != inexact(variance.dtype):
        raise TypeError(f"Cannot cast ufunc 'sqrt' output from dtype('float64') to {to_numpy(variance.dtype)!r}")
    return cast(torch.sqrt(cast(variance, inexact(variance.dtype))), variance.dtype)

# Extrema and their positions.

@rule("numpy.max", "numpy.amax", "numpy.ndarray.max", kind="reduction", into="fold",
      examples=("np.max(a)", "np.max(x, axis=-1)", "x.max(axis=0, keepdims=True)", "np.max(x, initial=1)",
                "np.max(x, axis=0, initial=-1, where=k)", "np.max(z, axis=0)"))  # fmt: skip
@over_axes(empty="zero-size array to reduction operation maximum which has no identity")
def max(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """NaN where there is one. Complex numbers are ordered by real, then imaginary part."""
    if initial is None and where is True and axis is None and not keepdims and not a.is_complex() and a.dtype not in WIDER:
        return torch.max(a)
    if initial is None and where is True and axis is not None and axis != () and not a.is_complex() and a.dtype not in WIDER:
        return torch.amax(a, dim=axis, keepdim=keepdims)
    return _extremum(maximum, a, axis, keepdims, initial, where)

@rule("numpy.min", "numpy.amin", "numpy.ndarray.min", kind="reduction", into="fold",
      examples=("np.min(a)", "np.min(x, axis=-1)", "x.min(axis=0, keepdims=True)", "np.min(x, initial=1)",
                "np.min(x, axis=0, initial=1, where=k)", "np.min(z, axis=0)"))  # fmt: skip
@over_axes(empty="zero-size array to reduction operation minimum which has no identity")
def min(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """NaN where there is one. Complex numbers are ordered by real, then imaginary part."""
    if initial is None and where is True and axis is None and not keepdims and not a.is_complex() and a.dtype not in WIDER:
        return torch.min(a)
    if initial is None and where is True and axis is not None and axis != () and not a.is_complex() and a.dtype not in WIDER:
        return torch.amin(a, dim=axis, keepdim=keepdims)
    return _extremum(minimum, a, axis, keepdims, initial, where)

def _extremum(choose, a, axis, keepdims, initial, where):
    """The extremum of the elements that the mask lets through, and of `initial` (cast to the array's dtype)."""
    start, axes = start_for(choose, a, initial, where), axes_of(axis, a.ndim)
    flat = merged(masked(a, where, start), axes)
    if flat.shape[-1] == 0:
        return restored(start.expand(flat.shape[:-1]), axes, keepdims)
    if a.is_complex():
        found = complex_extremum(flat, choose is maximum)
        return restored(found if start is None else choose(found, start), axes, keepdims)
    reduce, pair = (torch.amax, torch.maximum) if choose is maximum else (torch.amin, torch.minimum)
    found = reduce(sortable_bits(flat), dim=-1)
    return restored(unsorted_bits(found if start is None else pair(found, sortable_bits(start)), a.dtype), axes, keepdims)

def start_for(choose, a, initial, where):
    """`initial` in the array's dtype, None where there is none. Raises ValueError for a mask without: it may let nothing through."""
    if initial is None and where is not True:
        why = "does not have an identity, so to use a where mask one has to specify 'initial'"
        raise ValueError(f"reduction operation '{choose.__name__}' {why}")
    return None if initial is None else start_of(initial, a.dtype, a)

def sortable_bits(a):
    """Unsigned integers as int64 in the same order: uint64 shifted down by 2**63, so that it fits."""
    return torch.bitwise_xor(a.view(torch.int64), torch.iinfo(torch.int64).min) if a.dtype == torch.uint64 else widen(a)

def unsorted_bits(a, dtype):
    """The inverse of `sortable_bits`."""
    return torch.bitwise_xor(a, torch.iinfo(torch.int64).min).view(dtype) if dtype == torch.uint64 else cast(a, dtype)

def complex_extremum(a, largest, skip_nan=False):
    """The element at `complex_position` along the last axis."""
    return torch.squeeze(torch.gather(a, -1, torch.unsqueeze(complex_position(a, largest, skip_nan), -1)), -1)

def complex_position(a, largest, skip_nan=False):
    """Where along the last axis the first extremum of complex numbers is: the first NaN if there is one, unless skipped.

    Ordered by real part, ties by imaginary part. Without a number that is not NaN, the first element."""
    reduce, worst = (torch.amax, -math.inf) if largest else (torch.amin, math.inf)
    nan = torch.isnan(a)
    real = torch.where(nan, worst, a.real)
    candidate = torch.logical_and(torch.eq(real, reduce(real, dim=-1, keepdim=True)), torch.logical_not(nan))
    imag = torch.where(candidate, a.imag, worst)
    hit = torch.logical_and(candidate, torch.eq(imag, reduce(imag, dim=-1, keepdim=True)))
    if not skip_nan:
        hit = torch.where(torch.any(nan, dim=-1, keepdim=True), nan, hit)
    return torch.argmax(hit.to(torch.uint8), dim=-1)

@rule("numpy.ptp", kind="reduction", into="own", examples=("np.ptp(x)", "np.ptp(x, axis=-1)", "np.ptp(f, axis=0, keepdims=True)"))
@over_axes(empty="zero-size array to reduction operation maximum which has no identity")
def ptp(a, axis=None, out=None, keepdims=False):
    """Largest minus smallest, in the array's dtype: small integers wrap, bools are a TypeError."""
    return subtract(max(a, axis, None, keepdims), min(a, axis, None, keepdims))

@rule("numpy.argmax", "numpy.ndarray.argmax", kind="reduction", into="buffer",
      examples=("np.argmax(x)", "x.argmax(axis=-1, keepdims=True)", "np.argmax(f, axis=0)", "np.argmax(z, axis=0)"))  # fmt: skip
@over_axes(single=True, empty="attempt to get argmax of an empty sequence")
def argmax(a, axis=None, out=None, *, keepdims=False):
    """The first of equals, the first NaN if there is one (torch documents the first, too)."""
    if not a.is_complex() and a.dtype != torch.bool and a.dtype not in WIDER:
        return torch.argmax(a, dim=axis, keepdim=keepdims)
    return _position(torch.argmax, a, axis, keepdims)

@rule("numpy.argmin", "numpy.ndarray.argmin", kind="reduction", into="buffer",
      examples=("np.argmin(x)", "x.argmin(axis=-1, keepdims=True)", "np.argmin(f, axis=0)", "np.argmin(z, axis=0)"))  # fmt: skip
@over_axes(single=True, empty="attempt to get argmin of an empty sequence")
def argmin(a, axis=None, out=None, *, keepdims=False):
    """The first of equals, the first NaN if there is one (torch documents the first, too)."""
    if not a.is_complex() and a.dtype != torch.bool and a.dtype not in WIDER:
        return torch.argmin(a, dim=axis, keepdim=keepdims)
    return _position(torch.argmin, a, axis, keepdims)

def _position(find, a, axis, keepdims):
    """argmax and argmin of what torch has no order for."""
    if a.is_complex():
        axes = axes_of(axis, a.ndim)
        return restored(complex_position(merged(a, axes), find is torch.argmax), axes, keepdims)
    return find(a.to(torch.uint8) if a.dtype == torch.bool else sortable_bits(a), dim=axis, keepdim=keepdims)

# Running totals.

@rule("numpy.cumsum", "numpy.ndarray.cumsum", kind="reduction", into="fold",
      examples=("np.cumsum(a)", "np.cumsum(x, axis=-1)", "x.cumsum(axis=0)", "np.cumsum(x, 0, np.float64)"))  # fmt: skip
@over_axes(single=True)
def cumsum(a, axis=None, dtype=None, out=None):
    """Along the flattened array by default. Integers and bools in int64, unsigned integers in uint64."""
    if dtype is None and axis is None and a.dtype not in UNSIGNED:
        return torch.cumsum(torch.flatten(a), dim=0)
    if dtype is None and a.ndim > 0 and a.dtype not in UNSIGNED:
        return torch.cumsum(a, dim=axis)
    return _running(torch.cumsum, a, axis, dtype)

@rule("numpy.cumprod", "numpy.ndarray.cumprod", kind="reduction", into="fold",
      examples=("np.cumprod(a)", "np.cumprod(x, axis=-1)", "x.cumprod(axis=0)", "np.cumprod(x, 0, np.float64)"))  # fmt: skip
@over_axes(single=True)
def cumprod(a, axis=None, dtype=None, out=None):
    """Along the flattened array by default. Integers and bools in int64, unsigned integers in uint64."""
    if dtype is None and axis is None and a.dtype not in UNSIGNED:
        return torch.cumprod(torch.flatten(a), dim=0)
    if dtype is None and a.ndim > 0 and a.dtype not in UNSIGNED:
        return torch.cumprod(a, dim=axis)
    return _running(torch.cumprod, a, axis, dtype)

def _running(accumulate, a, axis, dtype):
    """A running total in NumPy's accumulator dtype, or in `dtype`."""
    if axis is None or a.ndim == 0:
        a, axis = torch.flatten(a), 0
    target = accumulator(a.dtype, dtype)
    return cast(accumulate(widen(cast(a, target)), dim=axis), target)

@rule("numpy.cumulative_sum", kind="reduction", into="fold",
      examples=("np.cumulative_sum(v)", "np.cumulative_sum(x, axis=-1)",
                "np.cumulative_sum(x, axis=0, include_initial=True)"))  # fmt: skip
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """`cumsum` that asks for an axis where there are several, and can start with the empty sum."""
    return _cumulative(cumsum, 0, x, axis, dtype, include_initial)

@rule("numpy.cumulative_prod", kind="reduction", into="fold",
      examples=("np.cumulative_prod(v)", "np.cumulative_prod(x, axis=-1)",
                "np.cumulative_prod(x, axis=0, include_initial=True)"))  # fmt: skip
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """`cumprod` that asks for an axis where there are several, and can start with the empty product."""
    return _cumulative(cumprod, 1, x, axis, dtype, include_initial)

def _cumulative(accumulate, identity, x, axis, dtype, include_initial):
    a = as_tensor(x)
    if axis is None and a.ndim > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    axis = 0 if axis is None else axis
    totals = accumulate(a, axis, dtype)
    if not include_initial:
        return totals
    shape = list(totals.shape)
    shape[axis] = 1
    return torch.cat([torch.full(shape, identity, dtype=totals.dtype, device=totals.device), totals], dim=axis)
