"""Histograms, counts and binning.

Counts are sums of ones scattered over the bins, so their shape depends on the number of bins only, and weights have gradients.
"""

from __future__ import annotations

import math
import operator

import numpy
import torch

from ..semantics.arrays import as_tensor, cast, demand, is_weak, result_type, widen
from ..semantics.dtypes import promote
from ..semantics.table import Refused, rule
from .arithmetic import subtract
from .creation import linspace
from .reductions import max, min, sortable_bits
from .sorting import searchsorted
from .statistics import beside


def _steps(edges):
    """What lies between neighbouring edges, in their dtype."""
    return subtract(edges[1:], edges[:-1])


def _steps_hold(compare, edges):
    """A 0-d bool tensor: `compare` holds between neighbours all along `edges`."""
    edges = sortable_bits(edges)
    return torch.all(compare(edges[1:], edges[:-1]))


def _holds_tensor(items):
    return isinstance(items, (list, tuple)) and any(isinstance(i, torch.Tensor) for i in items)


@rule(
    "numpy.bincount",
    kind="counting",
    examples=("np.bincount(np.abs(i))", "np.bincount([0, 2, 2], minlength=5)", "np.bincount([1, 0, 1], weights=[0.5, 1.0, 2.0])"),
)
def bincount(x, /, weights=None, minlength=0):
    """How often each integer occurs (int64), or the sum of its weights (float64); as long as the largest needs, or `minlength`.

    Raises ValueError for negative integers, TypeError for what is no integer."""
    values = as_tensor(x)
    if values.ndim != 1:
        raise ValueError("object of too small depth for desired array" if values.ndim == 0 else "object too deep for desired array")
    if isinstance(minlength, torch.Tensor):
        raise Refused("minlength is computed from the inputs", "pass minlength as a Python int", "data-dependent-shape")
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if not isinstance(x, (torch.Tensor, numpy.ndarray)):
        values = values.to(torch.int64)
    elif values.is_floating_point() or values.is_complex():
        raise TypeError(f"Cannot cast array data from {values.dtype} to dtype('int64') according to the rule 'safe'")
    values = widen(values.to(torch.uint8) if values.dtype == torch.bool else values)
    demand(torch.ge(values, 0), ValueError("'list' argument must have no negative elements"))
    counts = torch.bincount(values, minlength=minlength)
    if weights is None or values.shape[0] == 0:
        return counts
    w = as_tensor(weights)
    if w.is_complex():
        raise TypeError("Cannot cast array data from complex to dtype('float64') according to the rule 'safe'")
    if tuple(w.shape) != tuple(values.shape):
        raise ValueError("The weights and list don't have the same length.")
    return torch.index_add(torch.zeros_like(counts, dtype=torch.float64), 0, values.to(torch.int64), cast(w, torch.float64))


@rule(
    "numpy.histogram",
    kind="reduction",
    examples=(
        "np.histogram(x, bins=4)",
        "np.histogram(x, bins=[-1.0, 0.0, 2.0], density=True)",
        "np.histogram(f, bins=5, range=(-2, 3))",
        "np.histogram(v, bins=3, range=(-1.0, 2.0), weights=np.abs(w))",
        "np.histogram(v, bins=[0, 1, 5], weights=w)",
    ),
)
def histogram(a, bins=10, range=None, density=None, weights=None):
    """Counts (int64, or the weights' dtype) and the edges. The last bin includes its right edge.

    The number of bins must be known when traced: `bins="auto"` and the like are refused."""
    values, w = _values_and_weights(a, weights)
    edges, uniform = _edges(values, bins, range, weights)
    counts = _cumulative_counts(values, edges, w) if uniform is None else _uniform_counts(values, edges, *uniform, w)
    if not density:
        return counts, edges
    widths = cast(_steps(edges), torch.float64)
    shares = counts if counts.is_complex() else cast(counts, torch.float64)
    return torch.div(torch.div(shares, widths), torch.sum(counts)), edges


@rule(
    "numpy.histogram_bin_edges",
    kind="reduction",
    examples=(
        "np.histogram_bin_edges(x, bins=4)",
        "np.histogram_bin_edges(x, bins=5, range=(-2, 3))",
        "np.histogram_bin_edges(x, [0, 1, 3])",
    ),
)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges that `histogram` would use."""
    return _edges(_values_and_weights(a, weights)[0], bins, range, weights)[0]


def _values_and_weights(a, weights):
    values = as_tensor(a)
    if values.is_complex():
        raise Refused("a histogram of complex numbers is not supported", "take the histogram of a real quantity of them")
    values = values.to(torch.uint8) if values.dtype == torch.bool else values
    if weights is None:
        return torch.flatten(values), None
    w = beside(values, as_tensor(weights))
    if w.shape != values.shape:
        raise ValueError("weights should have the same shape as a.")
    return torch.flatten(values), torch.flatten(w)


def _edges(values, bins, limits, weights):
    """The bin edges, and for equal bins also (first edge, last edge): numbers, or 0-d tensors where the data sets them."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        raise Refused(f"with bins={bins!r} the number of bins depends on the data", "give the number of bins", "data-dependent-shape")
    if numpy.ndim(bins) == 0 if not isinstance(bins, torch.Tensor) else bins.ndim == 0:
        n = _bin_count(bins, "`bins` must be an integer, a string, or an array", "`bins` must be positive, when an integer")
        first, last = _limits(values, limits)
        dtype = result_type(first, last, values)
        dtype = dtype if dtype.is_floating_point else torch.float64
        edges = beside(values, linspace(first, last, n + 1, dtype=dtype))
        demand(
            _steps_hold(torch.gt, edges),
            ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins."),
        )
        return edges, (first, last)
    edges = beside(values, as_tensor(bins))
    if edges.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    rising = "`bins` must increase monotonically, when an array"
    if not isinstance(bins, torch.Tensor) and not _holds_tensor(bins):
        if numpy.any(numpy.asarray(bins)[:-1] > numpy.asarray(bins)[1:]):
            raise ValueError(rising)
    else:
        demand(_steps_hold(torch.ge, edges), ValueError(rising))
    return edges, None


def _bin_count(bins, not_integer, not_positive):
    if isinstance(bins, torch.Tensor):
        raise Refused("the number of bins is computed from the inputs", "pass it as a Python int", "data-dependent-shape")
    try:
        n = operator.index(bins)
    except TypeError as e:
        raise TypeError(not_integer) from e
    if n < 1:
        raise ValueError(not_positive)
    return n


def _limits(values, limits):
    """The outer edges: `limits`, or the extrema of the data (0 and 1 without data); half a unit wider where they are equal."""
    if limits is not None:
        first, last = limits
        known = not isinstance(first, torch.Tensor) and not isinstance(last, torch.Tensor)
        if not known:
            first, last = as_tensor(first), as_tensor(last)
        _demand(first <= last, known, "max must be larger than min in range parameter.")
        finite = math.isfinite(first) and math.isfinite(last) if known else torch.logical_and(torch.isfinite(first), torch.isfinite(last))
        _demand(finite, known, f"supplied range of [{first}, {last}] is not finite" if known else "supplied range is not finite")
        if known:
            return (first - 0.5, last + 0.5) if first == last else (first, last)
    elif values.shape[0] == 0:
        return 0, 1
    else:
        first, last = min(values), max(values)
        _demand(torch.logical_and(torch.isfinite(first), torch.isfinite(last)), False, "autodetected range is not finite")
    first, last = widen(first), widen(last)
    equal = torch.eq(first, last)
    return torch.where(equal, _moved(first, -0.5), first), torch.where(equal, _moved(last, 0.5), last)


def _moved(edge, step):
    """An edge half a unit away: integers become float64."""
    return torch.add(edge if edge.is_floating_point() else edge.to(torch.float64), step)


def _demand(condition, known, message):
    if known and not condition:
        raise ValueError(message)
    if not known:
        demand(condition, ValueError(message))


def _uniform_counts(values, edges, first, last, weights):
    """Counts in equal bins. NumPy guesses each bin by a division and corrects the guess by the edges: the edges decide."""
    n = edges.shape[0] - 1
    inside = torch.logical_and(_compared(torch.ge, values, first), _compared(torch.le, values, last))
    index = torch.clamp(torch.searchsorted(edges, cast(values, edges.dtype).contiguous(), right=True) - 1, 0, n - 1)
    if weights is None:
        return torch.index_add(torch.zeros(n, dtype=torch.int64, device=values.device), 0, index, inside.to(torch.int64))
    work = torch.complex128 if weights.is_complex() else torch.float64
    added = torch.where(inside, cast(weights, work), 0)
    return cast(torch.index_add(torch.zeros(n, dtype=work, device=values.device), 0, index, added), weights.dtype)


def _compared(compare, values, edge):
    """A comparison with an outer edge, which is a number or a 0-d tensor, in their common dtype."""
    if is_weak(edge) and (values.is_floating_point() or isinstance(edge, int)):
        return compare(values if values.is_floating_point() else values.to(torch.int64), edge)
    dtype = result_type(values, edge)
    return compare(widen(cast(values, dtype)), widen(as_tensor(edge, dtype)))


def _cumulative_counts(values, edges, weights):
    """Counts between arbitrary edges: the differences of what is below each edge (below or at the last one)."""
    if weights is not None and weights.dtype == torch.bool and values.shape[0] > 0:
        raise TypeError("Cannot cast ufunc 'add' output from dtype('int64') to dtype('bool') with casting rule 'same_kind'")
    if edges.shape[0] < 2:
        return torch.zeros(0, dtype=torch.int64 if weights is None else weights.dtype, device=values.device)
    ascending = torch.sort(values).values
    below = torch.cat([searchsorted(ascending, edges[:-1], "left"), searchsorted(ascending, edges[-1:], "right")])
    if weights is not None:
        order = torch.argsort(sortable_bits(values), stable=True)
        total = torch.cumsum(torch.index_select(widen(weights), 0, order), 0)
        below = torch.index_select(torch.cat([torch.zeros(1, dtype=total.dtype, device=total.device), total]), 0, below)
    counts = torch.sub(below[1:], below[:-1])
    return counts if weights is None else cast(counts, weights.dtype)


@rule(
    "numpy.histogramdd",
    kind="reduction",
    examples=("np.histogramdd(m, bins=3)", "np.histogramdd((v, w), bins=(2, [0, 1, 3]), density=True)"),
)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Counts in float64 over all axes of `sample` (N points with D coordinates, or D sequences), and the list of edges."""
    points = as_tensor(sample) if not isinstance(sample, (list, tuple)) else None
    if points is None or points.ndim != 2:
        points = torch.transpose(torch.atleast_2d(as_tensor(sample)), 0, 1)
    if points.is_complex():
        raise Refused("a histogram of complex numbers is not supported", "take the histogram of a real quantity of them")
    dims = points.shape[1]
    try:
        if len(bins) != dims:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    except TypeError:
        bins = [bins] * dims
    limits = (None,) * dims if range is None else range
    if len(limits) != dims:
        raise ValueError("range argument must have one entry per dimension")
    columns = torch.unbind(points, 1)
    edges = [_axis_edges(c, b, r, d) for d, (c, b, r) in enumerate(zip(columns, bins, limits, strict=True))]
    sizes = [e.shape[0] + 1 for e in edges]  # one outlier at each end
    flat = torch.zeros(points.shape[0], dtype=torch.int64, device=points.device)
    for column, edge, size in zip(columns, edges, sizes, strict=True):
        dtype = promote(column.dtype, edge.dtype)
        on_last = torch.eq(widen(cast(column, dtype)), widen(cast(torch.narrow(edge, 0, edge.shape[0] - 1, 1), dtype)))
        flat = flat * size + searchsorted(edge, column, "right") - on_last.to(torch.int64)
    counts = torch.zeros(math.prod(sizes), dtype=torch.float64, device=points.device)
    counts = torch.index_add(counts, 0, flat, _point_weights(weights, points)).reshape(sizes)
    for d, size in enumerate(sizes):
        counts = torch.narrow(counts, d, 1, size - 2)
    if density:
        total = torch.sum(counts)
        for d, edge in enumerate(edges):
            counts = torch.div(counts, cast(_steps(edge), torch.float64).reshape((-1,) + (1,) * (dims - 1 - d)))
        counts = torch.div(counts, total)
    return counts, edges


def _axis_edges(column, bins, limits, d):
    """The edges along one axis."""
    if numpy.ndim(bins) == 0 if not isinstance(bins, torch.Tensor) else bins.ndim == 0:
        n = _bin_count(bins, f"`bins[{d}]` must be an integer, when a scalar", f"`bins[{d}]` must be positive, when an integer")
        first, last = _limits(column, limits)
        return beside(column, linspace(first, last, n + 1))
    edges = beside(column, as_tensor(bins))
    if edges.ndim != 1:
        raise ValueError(f"`bins[{d}]` must be a scalar or 1d array")
    demand(_steps_hold(torch.ge, edges), ValueError(f"`bins[{d}]` must be monotonically increasing, when an array"))
    return edges


def _point_weights(weights, points):
    if weights is None:
        return torch.ones(points.shape[0], dtype=torch.float64, device=points.device)
    w = as_tensor(weights)
    if w.is_complex():
        raise TypeError("Cannot cast array data from complex to dtype('float64') according to the rule 'safe'")
    if tuple(w.shape) != (points.shape[0],):
        raise ValueError("The weights and list don't have the same length.")
    return cast(w, torch.float64)


@rule(
    "numpy.histogram2d", kind="reduction", examples=("np.histogram2d(v, w, bins=3)", "np.histogram2d(v, w, bins=[0, 1, 3], density=True)")
)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Counts in float64, shape (bins of x, bins of y), and both edges. One sequence of bins, not of length 2, is for both."""
    x, y = as_tensor(x), as_tensor(y)
    if x.shape[0] != y.shape[0]:
        raise ValueError("x and y must have the same length.")
    if isinstance(bins, torch.Tensor) and bins.ndim == 0:
        raise Refused("the number of bins is computed from the inputs", "pass it as a Python int", "data-dependent-shape")
    if numpy.ndim(bins) if not isinstance(bins, torch.Tensor) and not isinstance(bins, (list, tuple)) else True:
        bins = [bins, bins] if len(bins) not in (1, 2) else bins
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
