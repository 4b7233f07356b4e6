"""Matrices: what functions of linear algebra take, and in which order a chain of them is multiplied."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from numpy.linalg import LinAlgError

from .arrays import as_tensor, demand
from .table import Refused


def stacked(a: Any) -> torch.Tensor:
    """`a` as a tensor of matrices. Raises LinAlgError for fewer than two dimensions."""
    a = as_tensor(a)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    return a


def square(a: Any) -> torch.Tensor:
    """`a` as a tensor of square matrices. Raises LinAlgError for others."""
    a = stacked(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return a


def finite(a: torch.Tensor, triangle: str = "", nan: bool = False) -> torch.Tensor:
    """`a`, whose values must be finite: NaN and infinity take other ways through NumPy's build of LAPACK than through torch's.

    Where only the "lower" or "upper" `triangle` is read, the other may hold anything. With `nan` both builds agree on NaN."""
    if a.is_floating_point() or a.is_complex():
        read = {"lower": torch.tril, "upper": torch.triu}.get(triangle, lambda x: x)(a)
        hint = "ask numpy.isfinite first, and put finite numbers where there are none"
        # nothing is left of finite numbers in a sum of their products with 0, and NaN of others
        allowed = torch.logical_not(torch.isinf(read)) if nan else torch.eq(torch.sum(torch.mul(read, 0)), 0)
        demand(allowed, Refused("what comes of matrices with values that are not finite, which hangs on the build of LAPACK", hint))
    return a


def chained(dot: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], arrays: Sequence[torch.Tensor]) -> torch.Tensor:
    """The product of matrices in NumPy's order, of which integers that wrap and sums that overflow hang on; the first and the last may
    be vectors. A run is split at the first of the cheapest places."""
    first, last = arrays[0], arrays[-1]
    sizes = [1 if first.ndim == 1 else first.shape[0], *(a.shape[0] for a in arrays[1:]), 1 if last.ndim == 1 else last.shape[1]]

    @functools.cache
    def best(i: int, j: int) -> tuple[int, int]:
        """What the product of the run from i to j costs, and where to split it."""
        return min(((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)), default=(0, i))

    def product(i: int, j: int) -> torch.Tensor:
        return arrays[i] if i == j else dot(product(i, best(i, j)[1]), product(best(i, j)[1] + 1, j))

    return product(0, len(arrays) - 1)
