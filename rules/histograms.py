"""Histograms, counts and binning.

Counts are sums of ones scattered over the bins, so their shape depends on the number of bins only, and weights have gradients.
"""

from __future__ import annotations

import math
import operator

import numpy
import torch

from ..semantics.arrays import as_tensor, beside, cast, counts_are_fixed, demand, is_recording, is_weak, result_type, widen
from ..semantics.dtypes import inexact, promote
from ..semantics.entering import rule
from ..semantics.table import Refused
from .arithmetic import subtract
from .creation import linspace
from .reductions import max, min, sortable_bits
from .sorting import searchsorted

# Edges, numbers and weights

def _steps(edges):
    """What lies between neighbouring edges, in their dtype."""
    return subtract(edges[1:], edges[:-1])

def _steps_hold(compare, edges):
    """A 0-d bool tensor: `compare` holds between neighbours all along `edges`."""
    edges = sortable_bits(edges)
    return torch.all(compare(edges[1:], edges[:-1]))

def _numbers(x):
    """`x` as a tensor in which bools can be counted and compared. Raises Refused for complex numbers."""
    x = as_tensor(x)
    if x.is_complex():
        raise Refused("a histogram of complex numbers is not supported", "take the histogram of a real quantity of them")
    return x.to(torch.uint8) if x.dtype == torch.bool else x

def _float_weights(weights, n):
    w = as_tensor(weights)
    if w.is_complex():
        raise TypeError("Cannot cast array data from complex to dtype('float64') according to the rule 'safe'")
    if tuple(w.shape) != (n,):
        raise ValueError("The weights and list don't have the same length.")
    return cast(w, torch.float64)

@rule("numpy.bincount", kind="counting",
      examples=("np.bincount(np.abs(i))", "np.bincount([0, 2], minlength=5)", "np.bincount([1, 0, 1], [0.5, 1.0, 2.0])"))  # fmt: skip
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
    if isinstance(x, (torch.Tensor, numpy.ndarray)) and (values.is_floating_point() or values.is_complex()):
        raise TypeError(f"Cannot cast array data from {values.dtype} to dtype('int64') according to the rule 'safe'")
    fixed = values.dtype in (torch.uint8, torch.int8) and minlength > torch.iinfo(values.dtype).max  # no value makes it longer
    if minlength and not fixed and is_recording() and counts_are_fixed():
        demand(torch.lt(values, minlength), ValueError("numpy.bincount gives more than minlength counts"))
        fixed = True
    values = cast(values, torch.int64)
    demand(torch.ge(values, 0), ValueError("'list' argument must have no negative elements"))
    none = torch.zeros(minlength if fixed else 0, dtype=torch.int64, device=values.device)
    counts = torch.index_add(none, 0, values, torch.ones_like(values)) if fixed else torch.bincount(values, minlength=minlength)
    if weights is None or values.shape[0] == 0:
        return counts
    return torch.index_add(torch.zeros_like(counts, dtype=torch.float64), 0, values, _float_weights(weights, values.shape[0]))

@rule("numpy.histogram", kind="reduction", examples=(
    "np.histogram(x, bins=4)", "np.histogram(x, bins=[-1.0, 0.0, 2.0], density=True)", "np.histogram(f, bins=5, range=(-2, 3))",
    "np.histogram(v, bins=3, range=(-1.0, 2.0), weights=np.abs(w))", "np.histogram(v, bins=[0, 1, 5], weights=w)",
))  # fmt: skip
def histogram(a, bins=10, range=None, density=None, weights=None):
    """Counts (int64, or the weights' dtype) and the edges. The last bin includes its right edge.

    The number of bins must be known when traced: `bins="auto"` and the like are refused."""
    values, w = _values_and_weights(a, weights)
    edges, uniform = _edges(values, bins, range, weights)
    counts = _cumulative_counts(values, edges, w) if uniform is None else _uniform_counts(values, edges, *uniform, w)
    if not density:
        return counts, edges
    shares = counts if counts.is_complex() else cast(counts, torch.float64)
    return torch.div(torch.div(shares, cast(_steps(edges), torch.float64)), torch.sum(counts)), edges

@rule("numpy.histogram_bin_edges", kind="reduction", examples=(
    "np.histogram_bin_edges(x, bins=4)", "np.histogram_bin_edges(x, bins=5, range=(-2, 3))", "np.histogram_bin_edges(x, [0, 1, 3])",
))  # fmt: skip
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges that `histogram` would use."""
    return _edges(_values_and_weights(a, weights)[0], bins, range, weights)[0]

def _values_and_weights(a, weights):
    values = _numbers(a)
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
    if not _is_number(bins):
        return _given_edges(values, bins, "`bins`"), None
    n = _bin_count(bins, "`bins`")
    first, last = _limits(values, limits)
    edges = beside(values, linspace(first, last, n + 1, dtype=inexact(result_type(first, last, values))))
    demand(_steps_hold(torch.gt, edges), ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins."))
    return edges, (first, last)

def _is_number(bins):
    return not isinstance(bins, (list, tuple, str)) and numpy.ndim(bins) == 0

def _bin_count(bins, name):
    if isinstance(bins, torch.Tensor):
        raise Refused("the number of bins is computed from the inputs", "pass it as a Python int", "data-dependent-shape")
    n = operator.index(bins)
    if n < 1:
        raise ValueError(f"{name} must be positive, when an integer")
    return n

def _given_edges(values, bins, name):
    edges = beside(values, as_tensor(bins))
    if edges.ndim != 1:
        raise ValueError(f"{name} must be 1d, when an array")
    rising = ValueError(f"{name} must increase monotonically, when an array")
    if isinstance(bins, torch.Tensor) or any(isinstance(i, torch.Tensor) for i in bins):
        demand(_steps_hold(torch.ge, edges), rising)
    elif numpy.any(numpy.asarray(bins)[:-1] > numpy.asarray(bins)[1:]):
        raise rising
    return edges

def _limits(values, limits):
    """The outer edges: `limits`, or the extrema of the data (0 and 1 without data); half a unit wider where they are equal."""
    if limits is None and values.shape[0] == 0:
        return 0, 1
    first, last = (min(values), max(values)) if limits is None else limits
    falling = ValueError("max must be larger than min in range parameter.")
    infinite = ValueError(f"{'autodetected' if limits is None else 'supplied'} range is not finite")
    if not isinstance(first, torch.Tensor) and not isinstance(last, torch.Tensor):
        demand(first <= last, falling)
        demand(math.isfinite(first) and math.isfinite(last), infinite)
        return (first - 0.5, last + 0.5) if first == last else (first, last)
    first, last = widen(as_tensor(first)), widen(as_tensor(last))
    if limits is not None:
        demand(torch.le(first, last), falling)
    demand(torch.logical_and(torch.isfinite(first), torch.isfinite(last)), infinite)
    equal = torch.eq(first, last)
    first, last = cast(first, inexact(first.dtype)), cast(last, inexact(last.dtype))
    return torch.where(equal, first - 0.5, first), torch.where(equal, last + 0.5, last)

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
    if weights is None:
        return torch.sub(below[1:], below[:-1])
    order = torch.argsort(sortable_bits(values), stable=True)
    total = torch.cumsum(torch.index_select(widen(weights), 0, order), 0)
    below = torch.index_select(torch.cat([torch.zeros(1, dtype=total.dtype, device=total.device), total]), 0, below)
    return cast(torch.sub(below[1:], below[:-1]), weights.dtype)

@rule("numpy.histogramdd", kind="reduction",
      examples=("np.histogramdd(m, bins=3)", "np.histogramdd((v, w), bins=(2, [0, 1, 3]), density=True)"))  # fmt: skip
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Counts in float64 over all axes of `sample` (N points with D coordinates, or D sequences), and the list of edges."""
    points = as_tensor(sample)
    if isinstance(sample, (list, tuple)) or points.ndim != 2:
        points = torch.transpose(torch.atleast_2d(points), 0, 1)
    n, dims = points.shape
    bins = [bins] * dims if _is_number(bins) else bins
    limits = [None] * dims if range is None else range
    if len(bins) != dims:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if len(limits) != dims:
        raise ValueError("range argument must have one entry per dimension")
    flat, edges = torch.zeros(n, dtype=torch.int64, device=points.device), []
    for column, b, outer in zip(torch.unbind(_numbers(points), 1), bins, limits, strict=True):
        name = f"`bins[{len(edges)}]`"
        if _is_number(b):
            edge = beside(column, linspace(*_limits(column, outer), _bin_count(b, name) + 1))
        else:
            edge = _given_edges(column, b, name)
        dtype = promote(column.dtype, edge.dtype)
        on_last = torch.eq(widen(cast(column, dtype)), widen(cast(edge[-1], dtype)))
        flat = flat * (edge.shape[0] + 1) + searchsorted(edge, column, "right") - on_last.to(torch.int64)
        edges.append(edge)
    sizes = [edge.shape[0] + 1 for edge in edges]  # one outlier at each end
    w = torch.ones(n, dtype=torch.float64, device=points.device) if weights is None else _float_weights(weights, n)
    counts = torch.index_add(torch.zeros(math.prod(sizes), dtype=w.dtype, device=points.device), 0, flat, w)
    counts = counts.reshape(sizes)[(slice(1, -1),) * dims]
    if not density:
        return counts, edges
    total = torch.sum(counts)
    for d, edge in enumerate(edges):
        counts = torch.div(counts, cast(_steps(edge), torch.float64).reshape((-1,) + (1,) * (dims - 1 - d)))
    return torch.div(counts, total), edges

@rule("numpy.histogram2d", kind="reduction",
      examples=("np.histogram2d(v, w, bins=3)", "np.histogram2d(v, w, bins=[0, 1, 3], density=True)"))  # fmt: skip
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Counts in float64, shape (bins of x, bins of y), and both edges. One sequence of bins, not of length 2, is for both."""
    x, y = as_tensor(x), as_tensor(y)
    if x.shape[0] != y.shape[0]:
        raise ValueError("x and y must have the same length.")
    if not _is_number(bins) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
