"""Sets: arrays as sets of their elements. How many come out hangs on the values, so these shapes are not known beforehand."""

from __future__ import annotations

from typing import Any

import torch

from ..semantics.arrays import as_tensor, zero_d_array
from ..semantics.entering import rule
from .joining import common, concatenate
from .sorting import argsort, unique

_SEARCHED = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.float32, torch.float64)

@rule("numpy.isin", kind="sets", examples=("np.isin(a, b)", "np.isin(x, [1, 2], invert=True)", "np.isin(x, x)", "np.isin(f, f)"))
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """NaN is among none."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    given = as_tensor(element), as_tensor(test_elements)
    is_exact = not any(t.is_floating_point() or t.is_complex() for t in given)
    if kind == "table" and not is_exact:
        raise ValueError("The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind.")
    elements, tests = common(given)
    if assume_unique and not is_exact and tests.numel() >= 10 * elements.numel() ** 0.145:
        return zero_d_array(_next_is_same(elements.flatten(), tests.flatten(), invert).reshape(elements.shape))
    if elements.dtype in _SEARCHED:
        return zero_d_array(torch.isin(elements, tests, invert=bool(invert)))
    found = torch.any(torch.eq(elements.unsqueeze(-1), tests.reshape(-1)), dim=-1)
    return zero_d_array(torch.logical_not(found) if invert else found)

def _next_is_same(elements: torch.Tensor, tests: torch.Tensor, invert: bool) -> torch.Tensor:
    """NumPy's way for elements said to be unique (it shows where they are not): of all sorted, whether the next is the same."""
    ready, order = _together(elements, tests)
    same = torch.ne(ready[1:], ready[:-1]) if invert else torch.eq(ready[1:], ready[:-1])
    flags = torch.cat([same, torch.full_like(order[:1], bool(invert), dtype=torch.bool)])
    return torch.empty_like(flags).scatter(0, order, flags)[: elements.shape[0]]

def _together(ar1: Any, ar2: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The elements of both sorted together, and the order that sorts them."""
    both = concatenate((ar1, ar2), axis=None)
    order = argsort(both, kind="stable")
    return both[order], order

@rule("numpy.union1d", kind="sets", examples=("np.union1d(a, b)", "np.union1d(f, f)"))
def union1d(ar1, ar2):
    return unique(concatenate((ar1, ar2), axis=None))

@rule("numpy.intersect1d", kind="sets", examples=("np.intersect1d(a, b)", "np.intersect1d(x, y, return_indices=True)"))
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The elements of both, each once, in rising order; with where they are first in each."""
    if not assume_unique:
        ar1, places1 = unique(ar1, return_index=True)
        ar2, places2 = unique(ar2, return_index=True)
    ar1, ar2 = as_tensor(ar1), as_tensor(ar2)
    ready, order = _together(ar1, ar2)
    twice = torch.eq(ready[1:], ready[:-1])
    values = ready[:-1][twice]
    if not return_indices:
        return values
    index1, index2 = order[:-1][twice], order[1:][twice] - torch.sum(torch.ones_like(as_tensor(ar1), dtype=torch.int64))
    return (values, index1, index2) if assume_unique else (values, places1[index1], places2[index2])

@rule("numpy.setdiff1d", kind="sets", examples=("np.setdiff1d(a, b)", "np.setdiff1d(x, y)", "np.setdiff1d(v, w, assume_unique=True)"))
def setdiff1d(ar1, ar2, assume_unique=False):
    """The elements of the first that are not in the second, each once and rising (as they come, with `assume_unique`)."""
    first, tests = (as_tensor(ar1).flatten(), ar2) if assume_unique else (unique(ar1), unique(ar2))
    return first[isin(first, tests, assume_unique=True, invert=True)]

@rule("numpy.setxor1d", kind="sets", examples=("np.setxor1d(a, b)", "np.setxor1d(x, y)"))
def setxor1d(ar1, ar2, assume_unique=False):
    """The elements of exactly one of the two, in rising order."""
    ready, _ = _together(ar1, ar2) if assume_unique else _together(unique(ar1), unique(ar2))
    edge = torch.ones_like(ready[:1], dtype=torch.bool)
    flags = torch.cat([edge, torch.ne(ready[1:], ready[:-1]), edge])
    return ready[torch.logical_and(flags[1:], flags[:-1])]
