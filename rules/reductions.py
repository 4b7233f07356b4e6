"""Reductions: sums, products, means, deviations, extrema, their positions, truth and running totals along axes.

The common case of each rule is the torch reduction of the same name. The rest of its body is what differs: NumPy's
accumulator dtypes (small integers in int64, unsigned ones in uint64, integer means in float64), `where=`, `initial=`,
the order of complex numbers, and dtypes that torch does not reduce.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator

import numpy
import torch

from ..semantics.arrays import as_tensor, cast, widen
from ..semantics.dtypes import WIDER, inexact, promote, real_of, to_torch
from ..semantics.table import rule
from ..semantics.ufunc import in_dtype
from .arithmetic import maximum, minimum, multiply, subtract

UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
PLAIN = (torch.float32, torch.float64)
"""Dtypes whose deviations torch computes as NumPy does; NumPy rounds each step of float16, and adds up complex parts first."""


def checked_axis(axis, ndim, scalar_axis=True):
    """`axis` as None, an int or a tuple of ints, all in range for an array of `ndim` axes.

    Raises AxisError, ValueError for an axis given twice, TypeError for what is no integer. `scalar_axis`: whether axis
    0 and -1 of a 0-d array are let through, as NumPy's ufuncs do."""
    if axis is None:
        return None
    given = axis if isinstance(axis, tuple) else (axis,)
    if builtins.any(isinstance(d, (bool, numpy.bool_)) for d in given):
        raise TypeError("an integer is required for the axis")
    axes = tuple(operator.index(d) for d in given)
    if scalar_axis and ndim == 0 and not isinstance(axis, tuple) and axes[0] in (0, -1):
        return axes[0]
    for d in axes:
        if not -ndim <= d < ndim:
            raise numpy.exceptions.AxisError(d, ndim)
    if len({d % ndim for d in axes}) < len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes if isinstance(axis, tuple) else axes[0]


def axes_of(axis, ndim):
    """The reduced axes as a sorted tuple, counted from the front."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted({d % ndim for d in given})) if ndim else ()


def merged(a, axes):
    """`a` with its `axes` (sorted) made into one last axis, the others in front of it."""
    if not axes:
        return torch.unsqueeze(a, -1)
    if len(axes) == a.ndim:
        return torch.flatten(a)
    return torch.flatten(torch.movedim(a, axes, tuple(range(-len(axes), 0))), -len(axes))


def restored(r, axes, keepdims, lead=0):
    """`r` with the reduced `axes` back as axes of size one where `keepdims`, after `lead` axes of its own."""
    for d in axes if keepdims else ():
        r = torch.unsqueeze(r, d + lead)
    return r


def over_axes(scalar_axis=True, single=False, empty=None):
    """What the bodies of reductions take for granted: `a` is a tensor and `axis` is right for it.

    scalar_axis  axis 0 and -1 of a 0-d array are let through (otherwise only where there is a mask)
    single       only one axis can be given, and a 0-d array has one, of size one
    empty        the error of a reduction of no elements that has no identity and got no `initial`

    `axis=()` reduces nothing: torch takes it for all axes, so the body is given a new last axis of size one to reduce."""

    def prepare(body):
        signature = inspect.signature(body)

        @functools.wraps(body)
        def call(a, axis=None, *args, **kwargs):
            a = as_tensor(a)
            if single and isinstance(axis, tuple):
                raise TypeError("'tuple' object cannot be interpreted as an integer")
            axis = checked_axis(axis, a.ndim or int(single), scalar_axis or kwargs.get("where", True) is not True)
            none = empty is not None and math.prod(a.shape[d] for d in axes_of(axis, a.ndim)) == 0
            if none and signature.bind(a, axis, *args, **kwargs).arguments.get("initial") is None:
                raise ValueError(empty)
            if axis == ():
                bound = _unreduced(signature.bind(a, axis, *args, **kwargs))
                return body(*bound.args, **bound.kwargs)
            return body(a, axis, *args, **kwargs)

        return call

    return prepare


def _unreduced(bound):
    """The arguments of a reduction over no axis, as those of one over an axis of size one."""
    given = bound.arguments
    for name in ("a", "where", "mean"):
        if name in given and given[name] is not True and given[name] is not None:
            given[name] = torch.unsqueeze(as_tensor(given[name]), -1)
    given["axis"] = -1
    if "keepdims" in given:
        given["keepdims"] = False
    return bound


def masked(a, where, fill):
    """`a` where the mask is true, `fill` elsewhere. Raises TypeError for a mask that is no bool array."""
    if where is True:
        return a
    return torch.where(_mask(where, a), a, fill if isinstance(fill, torch.Tensor) else torch.full((), fill, dtype=a.dtype, device=a.device))


def _mask(where, a):
    mask = as_tensor(where, None if isinstance(where, (torch.Tensor, numpy.ndarray)) else torch.bool)
    if mask.dtype != torch.bool:
        raise TypeError("Cannot cast array data to dtype('bool') according to the rule 'safe'")
    if mask.ndim > a.ndim:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    return mask if mask.device == a.device else mask.to(a.device)


def start_of(initial, dtype, a):
    """`initial` as a 0-d tensor of `dtype` beside `a`. Raises OverflowError for a Python int that `dtype` cannot hold."""
    if isinstance(initial, torch.Tensor):
        return cast(initial, dtype)
    return torch.full((), in_dtype(initial, dtype), dtype=dtype, device=a.device)


def count_of(a, axis, keepdims, where):
    """How many elements each result is made of: an int, or an int64 tensor where there is a mask."""
    if where is True:
        return math.prod(a.shape[d] for d in axes_of(axis, a.ndim))
    return torch.sum(torch.broadcast_to(_mask(where, a), a.shape), dim=axis, keepdim=keepdims)


# Sums and products.


def accumulator(source, dtype):
    """The dtype in which NumPy adds and multiplies: `dtype`, else at least int64 or uint64 for integers."""
    if dtype is not None:
        return to_torch(dtype)
    if source in UNSIGNED:
        return torch.uint64
    return source if source.is_floating_point or source.is_complex else torch.int64


@rule(
    "numpy.sum",
    "numpy.ndarray.sum",
    kind="reduction",
    examples=(
        "np.sum(a)",
        "np.sum(x, axis=-1)",
        "x.sum(axis=0, keepdims=True)",
        "np.sum(x, dtype=np.float64, initial=2)",
        "np.sum(x, axis=0, where=k)",
        "np.sum(m, axis=(0, -1))",
    ),
)
@over_axes()
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Integers and bools are added in int64, unsigned integers in uint64."""
    if dtype is None and initial is None and where is True and axis != () and a.dtype not in UNSIGNED:
        return torch.sum(a, dim=axis, keepdim=keepdims)
    target = accumulator(a.dtype, dtype)
    if target == torch.bool:
        return _truth(any, a, axis, keepdims, initial, where)
    total = torch.sum(masked(widen(cast(a, target)), where, 0), dim=axis, keepdim=keepdims)
    if initial is not None:
        total = torch.add(total, cast(widen(start_of(initial, target, a)), total.dtype))
    return cast(total, target)


@rule(
    "numpy.prod",
    "numpy.ndarray.prod",
    kind="reduction",
    examples=(
        "np.prod(a)",
        "np.prod(x, axis=-1)",
        "x.prod(axis=0, keepdims=True)",
        "np.prod(x, dtype=np.float64, initial=2)",
        "np.prod(x, axis=0, where=k)",
        "np.prod(m, axis=(0, -1))",
    ),
)
@over_axes()
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Integers and bools are multiplied in int64, unsigned integers in uint64."""
    if dtype is None and initial is None and where is True and isinstance(axis, int) and a.dtype not in UNSIGNED:
        return torch.prod(a, dim=axis, keepdim=keepdims)
    if dtype is None and initial is None and where is True and axis is None and not keepdims and a.dtype not in UNSIGNED:
        return torch.prod(a)
    target = accumulator(a.dtype, dtype)
    if target == torch.bool:
        return _truth(all, a, axis, keepdims, initial, where)
    axes = axes_of(axis, a.ndim)
    product = restored(torch.prod(merged(masked(widen(cast(a, target)), where, 1), axes), dim=-1), axes, keepdims)
    if initial is not None:
        product = torch.mul(product, cast(widen(start_of(initial, target, a)), product.dtype))
    return cast(product, target)


def _truth(reduce, a, axis, keepdims, initial, where):
    """Sum and product in bool: addition is `or`, multiplication is `and`."""
    found = reduce(a, axis, None, keepdims, where=where)
    if initial is None:
        return found
    return (torch.logical_or if reduce is any else torch.logical_and)(found, cast(as_tensor(initial), torch.bool))


@rule(
    "numpy.any",
    "numpy.ndarray.any",
    kind="reduction",
    examples=("np.any(a)", "np.any(x, axis=-1)", "x.any(axis=0, keepdims=True)", "np.any(x, where=k)", "np.any(x, axis=())"),
)
@over_axes()
def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Bool for every dtype; NaN is true."""
    if where is True and axis != () and a.dtype != torch.uint8:
        return torch.any(a, dim=axis, keepdim=keepdims)
    return torch.any(masked(cast(a, torch.bool), where, False), dim=axis, keepdim=keepdims)


@rule(
    "numpy.all",
    "numpy.ndarray.all",
    kind="reduction",
    examples=("np.all(a)", "np.all(x, axis=-1)", "x.all(axis=0, keepdims=True)", "np.all(x, where=k)", "np.all(x, axis=())"),
)
@over_axes()
def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Bool for every dtype; NaN is true."""
    if where is True and axis != () and a.dtype != torch.uint8:
        return torch.all(a, dim=axis, keepdim=keepdims)
    return torch.all(masked(cast(a, torch.bool), where, True), dim=axis, keepdim=keepdims)


@rule(
    "numpy.count_nonzero",
    kind="reduction",
    examples=("np.count_nonzero(a)", "np.count_nonzero(x, axis=-1)", "np.count_nonzero(x, axis=0, keepdims=True)"),
)
@over_axes()
def count_nonzero(a, axis=None, *, keepdims=False):
    """An int64 count; NaN counts."""
    if not keepdims and axis != () and a.dtype not in WIDER:
        return torch.count_nonzero(a, dim=axis)
    return torch.sum(torch.ne(a, 0), dim=axis, keepdim=keepdims)


# Means and deviations.


@rule(
    "numpy.mean",
    "numpy.ndarray.mean",
    kind="reduction",
    examples=(
        "np.mean(a)",
        "np.mean(x, axis=-1)",
        "x.mean(axis=0, keepdims=True)",
        "np.mean(x, dtype=np.float32)",
        "np.mean(x, axis=0, where=k)",
    ),
)
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


@rule(
    "numpy.var",
    kind="reduction",
    examples=(
        "np.var(a)",
        "np.var(x, axis=-1, ddof=1)",
        "np.var(x, axis=0, keepdims=True)",
        "np.var(x, dtype=np.float64, where=k)",
        "np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True))",
    ),
)
@over_axes(scalar_axis=False)
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Population variance by default (`ddof=0`); integers in float64; real for complex numbers."""
    if dtype is None and where is True and mean is None and correction is None and axis != () and a.dtype in PLAIN:
        return torch.var(a, dim=axis, correction=ddof, keepdim=keepdims)
    return _variance(a, axis, dtype, _ddof(ddof, correction), keepdims, where, mean)


@rule("numpy.ndarray.var", kind="reduction", examples=("a.var()", "x.var(axis=-1, ddof=1)", "x.var(0, keepdims=True)"))
@over_axes(scalar_axis=False)
def _var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    """The method has no `correction`."""
    if dtype is None and where is True and mean is None and axis != () and a.dtype in PLAIN:
        return torch.var(a, dim=axis, correction=ddof, keepdim=keepdims)
    return _variance(a, axis, dtype, ddof, keepdims, where, mean)


@rule(
    "numpy.std",
    kind="reduction",
    examples=(
        "np.std(a)",
        "np.std(x, axis=-1, ddof=1)",
        "np.std(x, axis=0, keepdims=True)",
        "np.std(x, dtype=np.float64, where=k)",
        "np.std(x, axis=0, mean=np.mean(x, axis=0, keepdims=True))",
    ),
)
@over_axes(scalar_axis=False)
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Population deviation by default (`ddof=0`); integers in float64; real for complex numbers."""
    if dtype is None and where is True and mean is None and correction is None and axis != () and a.dtype in PLAIN:
        return torch.std(a, dim=axis, correction=ddof, keepdim=keepdims)
    return _root(_variance(a, axis, dtype, _ddof(ddof, correction), keepdims, where, mean))


@rule("numpy.ndarray.std", kind="reduction", examples=("a.std()", "x.std(axis=-1, ddof=1)", "x.std(0, keepdims=True)"))
@over_axes(scalar_axis=False)
def _std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    """The method has no `correction`."""
    if dtype is None and where is True and mean is None and axis != () and a.dtype in PLAIN:
        return torch.std(a, dim=axis, correction=ddof, keepdim=keepdims)
    return _root(_variance(a, axis, dtype, ddof, keepdims, where, mean))


def _ddof(ddof, correction):
    """`correction` is the array API's name for `ddof`."""
    if correction is not None and ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return ddof if correction is None else correction


def _variance(a, axis, dtype, ddof, keepdims, where, mean):
    """NumPy's steps, each in NumPy's dtype: sum |a - mean|**2, over max(n - ddof, 0)."""
    work = to_torch(dtype) if dtype is not None else inexact(a.dtype)
    centre = as_tensor(mean) if mean is not None else _mean(a, axis, work, True, where)
    common = promote(a.dtype, centre.dtype)
    deviation = subtract(cast(a, common), cast(centre, common))
    square = torch.real(torch.mul(deviation, torch.conj(deviation))) if common.is_complex else multiply(deviation, deviation)
    total = sum(square, axis, dtype if dtype is not None else real_of(common), None, keepdims, where=where)
    count = count_of(a, axis, keepdims, where)
    freedom = torch.clamp(torch.sub(count, ddof), min=0) if isinstance(count, torch.Tensor) else builtins.max(count - ddof, 0)
    return _divided(total, freedom)


def _root(variance):
    return cast(torch.sqrt(cast(variance, inexact(variance.dtype))), variance.dtype)


# Extrema and their positions.


@rule(
    "numpy.max",
    "numpy.amax",
    "numpy.ndarray.max",
    kind="reduction",
    examples=(
        "np.max(a)",
        "np.max(x, axis=-1)",
        "x.max(axis=0, keepdims=True)",
        "np.max(x, initial=1)",
        "np.max(x, axis=0, initial=-1, where=k)",
        "np.max(z, axis=0)",
    ),
)
@over_axes(empty="zero-size array to reduction operation maximum which has no identity")
def max(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """NaN where there is one. Complex numbers are ordered by real, then imaginary part."""
    if initial is None and where is True and axis is None and not keepdims and not a.is_complex() and a.dtype not in WIDER:
        return torch.max(a)
    if initial is None and where is True and axis is not None and axis != () and not a.is_complex() and a.dtype not in WIDER:
        return torch.amax(a, dim=axis, keepdim=keepdims)
    return _extremum(maximum, a, axis, keepdims, initial, where)


@rule(
    "numpy.min",
    "numpy.amin",
    "numpy.ndarray.min",
    kind="reduction",
    examples=(
        "np.min(a)",
        "np.min(x, axis=-1)",
        "x.min(axis=0, keepdims=True)",
        "np.min(x, initial=1)",
        "np.min(x, axis=0, initial=1, where=k)",
        "np.min(z, axis=0)",
    ),
)
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
    if initial is None and where is not True:
        raise ValueError(
            f"reduction operation '{choose.__name__}' does not have an identity, so to use a where mask one has to specify 'initial'"
        )
    axes = axes_of(axis, a.ndim)
    start = None if initial is None else start_of(initial, a.dtype, a)
    flat = merged(masked(a, where, start), axes)
    if flat.shape[-1] == 0:
        return restored(start.expand(flat.shape[:-1]), axes, keepdims)
    if a.is_complex():
        found = torch.squeeze(torch.gather(flat, -1, torch.unsqueeze(complex_position(flat, choose is maximum), -1)), -1)
        return restored(found if start is None else choose(found, start), axes, keepdims)
    reduce, pair = (torch.amax, torch.maximum) if choose is maximum else (torch.amin, torch.minimum)
    found = reduce(sortable_bits(flat), dim=-1)
    return restored(unsorted_bits(found if start is None else pair(found, sortable_bits(start)), a.dtype), axes, keepdims)


def sortable_bits(a):
    """Unsigned integers as int64 in the same order: uint64 shifted down by 2**63, so that it fits."""
    if a.dtype == torch.uint64:
        return torch.bitwise_xor(a.view(torch.int64), torch.iinfo(torch.int64).min)
    return widen(a)


def unsorted_bits(a, dtype):
    """The inverse of `sortable_bits`."""
    if dtype == torch.uint64:
        return torch.bitwise_xor(a, torch.iinfo(torch.int64).min).view(torch.uint64)
    return cast(a, dtype)


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


@rule("numpy.ptp", kind="reduction", examples=("np.ptp(x)", "np.ptp(x, axis=-1)", "np.ptp(f, axis=0, keepdims=True)"))
@over_axes(empty="zero-size array to reduction operation maximum which has no identity")
def ptp(a, axis=None, out=None, keepdims=False):
    """Largest minus smallest, in the array's dtype: small integers wrap, bools are a TypeError."""
    return subtract(max(a, axis, None, keepdims), min(a, axis, None, keepdims))


@rule(
    "numpy.argmax",
    "numpy.ndarray.argmax",
    kind="reduction",
    examples=("np.argmax(x)", "np.argmax(x, axis=-1)", "x.argmax(axis=0, keepdims=True)", "np.argmax(f, axis=0)", "np.argmax(z, axis=0)"),
)
@over_axes(single=True, empty="attempt to get argmax of an empty sequence")
def argmax(a, axis=None, out=None, *, keepdims=False):
    """The first of equals, the first NaN if there is one (torch documents the first, too)."""
    if not a.is_complex() and a.dtype != torch.bool and a.dtype not in WIDER:
        return torch.argmax(a, dim=axis, keepdim=keepdims)
    return _position(torch.argmax, a, axis, keepdims)


@rule(
    "numpy.argmin",
    "numpy.ndarray.argmin",
    kind="reduction",
    examples=("np.argmin(x)", "np.argmin(x, axis=-1)", "x.argmin(axis=0, keepdims=True)", "np.argmin(f, axis=0)", "np.argmin(z, axis=0)"),
)
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


@rule(
    "numpy.cumsum",
    "numpy.ndarray.cumsum",
    kind="reduction",
    examples=("np.cumsum(a)", "np.cumsum(x, axis=-1)", "x.cumsum(axis=0)", "np.cumsum(x, 0, np.float64)"),
)
@over_axes(single=True)
def cumsum(a, axis=None, dtype=None, out=None):
    """Along the flattened array by default. Integers and bools in int64, unsigned integers in uint64."""
    if dtype is None and axis is None and a.dtype not in UNSIGNED:
        return torch.cumsum(torch.flatten(a), dim=0)
    if dtype is None and a.ndim > 0 and a.dtype not in UNSIGNED:
        return torch.cumsum(a, dim=axis)
    return _running(torch.cumsum, a, axis, dtype)


@rule(
    "numpy.cumprod",
    "numpy.ndarray.cumprod",
    kind="reduction",
    examples=("np.cumprod(a)", "np.cumprod(x, axis=-1)", "x.cumprod(axis=0)", "np.cumprod(x, 0, np.float64)"),
)
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


@rule(
    "numpy.cumulative_sum",
    kind="reduction",
    examples=("np.cumulative_sum(v)", "np.cumulative_sum(x, axis=-1)", "np.cumulative_sum(x, axis=0, include_initial=True)"),
)
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """`cumsum` that asks for an axis where there are several, and can start with the empty sum."""
    return _cumulative(cumsum, 0, x, axis, dtype, include_initial)


@rule(
    "numpy.cumulative_prod",
    kind="reduction",
    examples=("np.cumulative_prod(v)", "np.cumulative_prod(x, axis=-1)", "np.cumulative_prod(x, axis=0, include_initial=True)"),
)
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """`cumprod` that asks for an axis where there are several, and can start with the empty product."""
    return _cumulative(cumprod, 1, x, axis, dtype, include_initial)


def _cumulative(accumulate, identity, x, axis, dtype, include_initial):
    a = as_tensor(x)
    if axis is None and a.ndim > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    totals = accumulate(a, 0 if axis is None else axis, dtype)
    if not include_initial:
        return totals
    shape = list(totals.shape)
    shape[0 if axis is None else axis] = 1
    return torch.cat([torch.full(shape, identity, dtype=totals.dtype, device=totals.device), totals], dim=0 if axis is None else axis)
