"""Sorting and searching: `sort`, `partition`, `searchsorted`, `digitize`, `unique`.

NaN is last. Complex numbers are ordered by real, then imaginary part. Where NumPy leaves an order open (ties of an
unstable sort, what is not at `kth` in a partition, `unique_values`), the order here is that of a stable sort.
"""

from __future__ import annotations

import operator
from collections import namedtuple
from typing import Any

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import as_tensor, beside, cast, demand, holds_tensor, widen, zero_d_array
from ..semantics.axes import on_axis
from ..semantics.dtypes import promote
from ..semantics.entering import rule
from ..semantics.table import Refused
from ..semantics.views import numpys_errors
from .reductions import sortable_bits
from .selection import along


@rule("numpy.sort", kind="sorting", examples=("np.sort(x)", "np.sort(x, axis=0)", "np.sort(f, axis=None)", "np.sort(z, kind='stable')"))
def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    _check_kind(kind, stable, order)
    a, axis = on_axis(a, axis)
    if a.is_complex():
        return along(a, _order(a, axis), axis)
    is_stable = stable or (kind is not None and str(kind)[:1].lower() in ("m", "s"))
    return torch.sort(a, dim=axis, stable=True)[0] if is_stable else torch.sort(a, dim=axis)[0]

@rule("numpy.ndarray.sort", kind="sorting", writes="a", examples=("x.sort()", "f.sort(axis=0)", "z.sort(kind='stable')"))
def _sort_method(a, axis=-1, kind=None, order=None, *, stable=None):
    return sort(a, operator.index(axis), kind, order, stable=stable)

@rule("numpy.argsort", "numpy.ndarray.argsort", kind="sorting",
      examples=("np.argsort(x, kind='stable')", "np.argsort(f, axis=0, stable=True)", "np.argsort(z, None, 'stable')"))  # fmt: skip
@numpys_errors
def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """Ties keep their order, also where NumPy leaves it open (without kind='stable')."""
    a = as_tensor(a)
    if kind is None and order is None and stable is None and isinstance(axis, int) and a.ndim > 0 and not a.is_complex():
        return torch.argsort(a, dim=axis, stable=True)
    _check_kind(kind, stable, order)
    return _order(*on_axis(torch.atleast_1d(as_tensor(a)), axis))

def _check_kind(kind: Any, stable: Any, order: Any) -> None:
    if order is not None:
        raise Refused("order= sorts records, which torch does not have", "sort the fields as arrays of their own", "object-dtype")
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    if kind is not None and str(kind)[:1].lower() not in ("q", "h", "m", "s"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")

def _order(a: torch.Tensor, axis: int) -> torch.Tensor:
    """The stable order along an axis, int64."""
    if not a.is_complex():
        return torch.argsort(a, dim=axis, stable=True)
    # NumPy sorts R + Rj first, then R + nanj, nan + Rj and nan + nanj.
    holes = 2 * torch.isnan(a.real).to(torch.int64) + torch.isnan(a.imag)
    return _last_key_first([a.imag, a.real, holes], axis)

def _last_key_first(keys: list[torch.Tensor], axis: int) -> torch.Tensor:
    """The order by the last key, ties by the one before it, and so on: stable sorts, least important key first."""
    order = _order(keys[0], axis)
    for key in keys[1:]:
        order = torch.gather(order, axis, _order(along(key, order, axis), axis))
    return order

@rule("numpy.lexsort", kind="sorting", examples=("np.lexsort((v, w))", "np.lexsort((x, y), axis=0)", "np.lexsort(m)"))
def lexsort(keys, axis=-1):
    """The order by the last key, ties by the one before it, and so on; always stable."""
    columns = list(map(as_tensor, torch.unbind(keys) if isinstance(keys, torch.Tensor) else keys))
    if not columns:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if len({tuple(c.shape) for c in columns}) > 1:
        raise ValueError("all keys need to be the same shape")
    if columns[0].ndim == 0 and axis in (0, -1):
        return torch.zeros((), dtype=torch.int64, device=columns[0].device)
    return _last_key_first(columns, normalize_axis_index(axis, columns[0].ndim))

@rule("numpy.sort_complex", kind="sorting", examples=("np.sort_complex(v)", "np.sort_complex(x)"))
def sort_complex(a):
    """Along the last axis, as complex numbers: complex64 for integers of up to 16 bits, complex128 for other reals."""
    ordered = sort(a)
    if ordered.is_complex():
        return ordered
    small = (torch.int8, torch.int16, torch.uint8, torch.uint16)
    return cast(ordered, torch.complex64 if ordered.dtype in small else torch.complex128)

@rule("numpy.partition", kind="sorting", examples=("np.partition(x, 0)[..., 0]", "np.partition(v, -1)[-1]"))
def partition(a, kth, axis=-1, kind="introselect", order=None):
    """What a sort would put at `kth` is there, nothing larger before it. NumPy leaves the rest open; here all is sorted."""
    return sort(*_partitioned(a, kth, axis, kind, order))

@rule("numpy.ndarray.partition", kind="sorting", writes="a", examples=("v[:1].partition(0)",))
def _partition_method(a, kth, axis=-1, kind="introselect", order=None):
    return partition(a, kth, operator.index(axis), kind, order)

@rule("numpy.argpartition", "numpy.ndarray.argpartition", kind="sorting", examples=("v[np.argpartition(v, 0)[0]]",))
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The order that partitions (see `partition`): here the one that sorts."""
    return _order(*_partitioned(torch.atleast_1d(as_tensor(a)), kth, axis, kind, order))

def _partitioned(a: Any, kth: Any, axis: Any, kind: Any, order: Any) -> tuple[torch.Tensor, int]:
    """What to sort and along which axis. Raises ValueError where `kth` is out of bounds."""
    _check_kind(None, None, order)
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    a, axis = on_axis(a, axis)
    size = a.shape[axis]
    if isinstance(kth, torch.Tensor):
        demand(torch.logical_and(kth >= -size, kth < size), ValueError(f"kth out of bounds ({size})"))
        return a, axis
    for k in numpy.atleast_1d(kth).tolist() or [0.0]:
        if not isinstance(k, int):
            raise TypeError("Partition index must be integer")
        if not -size <= k < size and size:
            raise ValueError(f"kth(={k}) out of bounds ({size})")
    return a, axis

# Searching

@rule("numpy.searchsorted", "numpy.ndarray.searchsorted", kind="searching",
      examples=("np.searchsorted(r, f)", "np.searchsorted(r, 0.5, side='right')", "np.searchsorted([1, 2, 2, 3], x.real, side='right')",
                "np.searchsorted(v.real, w.real, sorter=np.argsort(v.real))"))  # fmt: skip
def searchsorted(a, v, side="left", sorter=None):
    """Where `v` belongs in the sorted `a`: before its equals ("left") or behind them ("right"). NaN is larger than all."""
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    known = not holds_tensor(a) and not bool(numpy.isnan(numpy.asarray(a)).any())
    a, v = as_tensor(a), as_tensor(v)
    _check_1d(a)
    if sorter is not None:
        sorter = as_tensor(sorter)
        if sorter.numel() != a.numel():
            raise ValueError("sorter.size must equal a.size")
        a = a[cast(sorter, torch.int64)]
    dtype = promote(a.dtype, v.dtype)
    if dtype.is_complex:
        return _count_smaller(cast(a, dtype), cast(v, dtype), side)
    common = torch.uint8 if dtype == torch.bool else dtype  # torch searches no bools
    a, v = sortable_bits(beside(v, cast(a, common))), sortable_bits(cast(v, common)).contiguous()
    if known or not dtype.is_floating_point:
        return torch.searchsorted(a, v, right=side == "right")
    missing = torch.isnan(a)  # torch's search is lost among NaNs: let them be infinite, and stop where they begin
    last = torch.sum(torch.logical_not(missing))
    found = torch.minimum(torch.searchsorted(torch.where(missing, torch.inf, a), v, right=side == "right"), last)
    return torch.where(torch.isnan(v), last if side == "left" else torch.sum(torch.ones_like(missing, dtype=torch.int64)), found)

def _check_1d(a: torch.Tensor) -> None:
    if a.ndim != 1:
        raise ValueError("object too deep for desired array" if a.ndim else "object of too small depth for desired array")

def _count_smaller(a: torch.Tensor, v: torch.Tensor, side: str) -> torch.Tensor:
    """`searchsorted` for complex numbers: the rank of each value among all, by a stable sort of both together."""
    first, second = (v.reshape(-1), a) if side == "left" else (a, v.reshape(-1))
    order = _order(torch.cat([first, second]), 0)
    from_a = order >= v.numel() if side == "left" else order < a.numel()
    rank = torch.argsort(order)
    places = rank[: v.numel()] if side == "left" else rank[a.numel() :]
    return torch.cumsum(from_a, 0)[places].reshape(v.shape)

@rule("numpy.digitize", kind="searching",
      examples=("np.digitize(f, r)", "np.digitize(f, r, right=True)", "np.digitize(f, np.flip(r))", "np.digitize(0.5, [0, 1])",
                "np.digitize(f, [3.0, 1.0])", "np.digitize(x.real, [1, 2, 2], right=True)"))  # fmt: skip
def digitize(x, bins, right=False):
    """The number of the bin that holds each `x`: `bins[i-1] <= x < bins[i]`, with `right` `bins[i-1] < x <= bins[i]`.

    Falling bins are counted from their other end. Whether traced bins fall is decided in the graph."""
    x, edges, side = as_tensor(x), as_tensor(bins), "left" if right else "right"
    if x.is_complex() or edges.is_complex():
        raise TypeError("x may not be complex")
    _check_1d(edges)
    falling_nan = Refused("falling bins with NaN among them", "take the NaN out of the bins", "unsupported-argument")
    if not holds_tensor(bins):
        falls = numpy.digitize(-numpy.inf, bins, right=True) > 0  # raises NumPy's ValueError unless they rise or fall
        demand(not falls or not numpy.isnan(bins).any(), falling_nan)
        return len(bins) - searchsorted(numpy.flip(bins), x, side) if falls else searchsorted(bins, x, side)
    if edges.dtype == torch.uint64:
        raise Refused("bins of uint64 that are not known beforehand", "cast them to int64 or float64 first", "unsupported-dtype")
    if edges.shape[0] < 2:
        return searchsorted(edges, x, side)
    edges = widen(edges)
    before, after = edges[:-1], edges[1:]
    steps = torch.ne(before, after)
    first = torch.argmax(steps.to(torch.uint8), keepdim=True)  # the first step decides; NaN is no rise
    rising = torch.logical_or(torch.gather(torch.lt(before, after), 0, first)[0], torch.logical_not(torch.any(steps)))
    wrong = torch.where(rising, torch.lt(after, before), torch.gt(after, before))
    demand(torch.logical_not(wrong), ValueError("bins must be monotonically increasing or decreasing"))
    if edges.is_floating_point():
        demand(torch.logical_or(rising, torch.logical_not(torch.isnan(edges))), falling_nan)
    found = searchsorted(torch.where(rising, edges, torch.flip(edges, (0,))), x, side)
    return torch.where(rising, found, edges.shape[0] - found)

# unique

@rule("numpy.unique", kind="sorting",
      examples=("np.unique(a)", "np.unique(f, return_counts=True)", "np.unique(x, return_index=True, return_inverse=True)",
                "np.unique(m, axis=0)", "np.unique(f, equal_nan=False)", "np.unique(m, True, True, True, axis=1)"))  # fmt: skip
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    """The different elements (or slices along `axis`) in rising order, with where they are first, which each is, and how many."""
    ar = as_tensor(ar)
    if ar.ndim == 1 and axis is not None:
        normalize_axis_index(axis, 1)
        axis = None
    rows = ar.flatten() if axis is None else torch.movedim(ar, normalize_axis_index(axis, ar.ndim), 0)
    columns = rows.unsqueeze(1).flatten(1)
    keys = torch.unbind(columns, 1) or (rows.new_zeros(rows.shape[0]),)  # rows without elements are equal
    if axis is not None and ar.dtype == torch.float16:  # comparing rows, NumPy takes NaN of float16 for the least
        keys = [key for column in keys for key in (torch.logical_not(torch.isnan(column)).to(torch.uint8), column)]
    order = _last_key_first(list(reversed(keys)), 0)
    before, after = columns[order][:-1], columns[order][1:]
    same = torch.eq(before, after)
    if equal_nan and axis is None:
        same = torch.logical_or(same, torch.logical_and(torch.isnan(before), torch.isnan(after)))
    first = torch.cat([torch.ones_like(order[:1], dtype=torch.bool), torch.logical_not(torch.all(same, dim=1))])
    values = rows[order][first]
    found = [values if axis is None else torch.movedim(values, 0, axis)]
    if return_index:
        found.append(order[first])
    if return_inverse:
        inverse = torch.empty_like(order).scatter(0, order, torch.cumsum(first, 0) - 1)
        found.append(inverse.reshape(ar.shape) if axis is None else inverse)
    if return_counts:
        (starts,) = torch.nonzero(first, as_tuple=True)
        found.append(torch.diff(starts, append=torch.sum(torch.ones_like(order)).reshape(1)))
    return tuple(found) if len(found) > 1 else found[0]

UniqueAllResult = namedtuple("UniqueAllResult", ("values", "indices", "inverse_indices", "counts"))
UniqueCountsResult = namedtuple("UniqueCountsResult", ("values", "counts"))
UniqueInverseResult = namedtuple("UniqueInverseResult", ("values", "inverse_indices"))

@rule("numpy.unique_values", kind="sorting", examples=("np.sort(np.unique_values(x))",))
def unique_values(x):
    """Every NaN counts as different. NumPy leaves the order open; here it is rising."""
    return unique(x, equal_nan=False)

@rule("numpy.unique_counts", kind="sorting", examples=("np.unique_counts(x)",))
def unique_counts(x):
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))

@rule("numpy.unique_inverse", kind="sorting", examples=("np.unique_inverse(np.nan_to_num(x))",))
def unique_inverse(x):
    values, inverse = unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverseResult(values, zero_d_array(inverse))

@rule("numpy.unique_all", kind="sorting", examples=("np.unique_all(x)",))
def unique_all(x):
    values, indices, inverse, counts = unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return UniqueAllResult(values, indices, zero_d_array(inverse), counts)
