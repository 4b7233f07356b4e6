"""What ONNX has no operators for, made of operators that it has: stable sorts, searches in what is sorted, inverses and solutions.

Each is a decomposition for `torch.export` (see onnx_forms), with the signature of the operator that it stands for.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

_MOST_ROWS = 16
"""Larger matrices would make large files: one step a column."""


def stable_sort(x: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """TopK, which takes the first of equal elements first. NaN, which it does not order, is sorted by itself: behind all others (before
    them where the order is descending)."""
    if not x.ndim:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    wide = torch.float32 if x.is_floating_point() else torch.int64
    key = x if x.dtype in (torch.float32, torch.float64, torch.int64, torch.int32) else x.to(wide)
    count = x.shape[dim]
    if not x.is_floating_point():
        order = torch.topk(key, count, dim, descending, True).indices
        return torch.gather(x, dim, order), order
    is_nan = torch.isnan(x)
    first = torch.topk(torch.where(is_nan, torch.full_like(key, math.inf), key), count, dim, descending, True).indices
    last = torch.topk(torch.gather(is_nan, dim, first).to(torch.int64), count, dim, descending, True).indices
    order = torch.gather(first, dim, last)
    return torch.gather(x, dim, order), order


def sort(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return stable_sort(x, dim=dim, descending=descending)


def argsort(x: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return stable_sort(x, dim=dim, descending=descending)[1]


def stable_argsort(x: Tensor, *, stable: bool, dim: int = -1, descending: bool = False) -> Tensor:
    return stable_sort(x, dim=dim, descending=descending)[1]


def searchsorted(places: Tensor, x: Tensor, *, out_int32: bool = False, right: bool = False, side: str | None = None,
                 sorter: Tensor | None = None) -> Tensor:  # fmt: skip
    """How many elements of a sorted sequence stand before each value; NaN is larger than all others."""
    if sorter is not None:
        places = torch.gather(places, -1, sorter)
    ordered, value = (places if places.ndim == 1 else places[..., None, :]), x[..., None]
    before = ordered <= value if right or side == "right" else ordered < value
    if places.is_floating_point() or x.is_floating_point():
        lost = value != value
        before = before | (lost if right or side == "right" else lost & (ordered == ordered))
    return before.to(torch.int64).sum(-1).to(torch.int32 if out_int32 else torch.int64)


def bucketize(x: Tensor, places: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return searchsorted(places, x, out_int32=out_int32, right=right)


def convolution(x: Tensor, weight: Tensor, bias: Any = None, stride: Any = (1,), padding: Any = (0,), dilation: Any = (1,),
                groups: int = 1) -> Any:  # fmt: skip
    """Of float64 along one axis, for which the ONNX runtime has no kernel: a product for each element of the kernel."""
    simple = [*stride] == [1] and [*dilation] == [1] and groups == 1 and bias is None
    if x.dtype is not torch.float64 or x.ndim != 3 or not simple or not isinstance(weight.shape[-1], int):
        return NotImplemented
    wide = torch.nn.functional.pad(x, (padding[0], padding[0]))
    count = wide.shape[-1] - weight.shape[-1] + 1
    made = torch.matmul(weight[:, :, 0], wide[:, :, :count])
    for k in range(1, weight.shape[-1]):
        made = made + torch.matmul(weight[:, :, k], wide[:, :, k : k + count])
    return made


def inverse(a: Tensor, *, check_errors: bool = False) -> Any:
    """Gauss and Jordan's, with the largest pivot of each column; the second result tells the first column without one."""
    return _solved(a, torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape))[:2] if _is_small(a) else NotImplemented


def solution(a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    if not _is_small(a) or not left:
        return NotImplemented
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    made, info, _ = _solved(a, b[..., None] if is_vector else b)
    return made[..., 0] if is_vector else made, info


def determinant(a: Tensor) -> Any:
    """Of float64, for which the ONNX runtime has no kernel: the product of the pivots."""
    return _solved(a, a[..., :0])[2] if a.dtype is torch.float64 and _is_small(a) else NotImplemented


def _is_small(a: Tensor) -> bool:
    return isinstance(a.shape[-1], int) and 0 < a.shape[-1] <= _MOST_ROWS and not a.is_complex()


def _solved(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`b` solved; the number of the first column whose pivots are 0 but for rounding, or 0; and the determinant. LAPACK, which asks for a 0
    itself, goes on where rounding has left something, with numbers that mean nothing."""
    n = a.shape[-1]
    whole = torch.cat([a, b.expand(*a.shape[:-2], *b.shape[-2:])], -1)
    least = a.abs().amax((-2, -1)) * (n * torch.finfo(a.dtype).eps)
    rows = torch.arange(n)
    info, product = torch.zeros_like(least, dtype=torch.int32), torch.ones_like(least)
    for k in range(n):
        pivot = torch.argmax(torch.where(rows >= k, whole[..., k].abs(), torch.full_like(whole[..., k], -1.0)), -1, True)
        order = torch.where(rows == k, pivot, torch.where(rows == pivot, torch.full_like(pivot, k), rows))
        whole = torch.gather(whole, -2, order[..., None].expand(whole.shape))
        row = whole[..., k : k + 1, :]
        found = row[..., k : k + 1]
        info = torch.where((info == 0) & (found[..., 0, 0].abs() <= least), torch.full_like(info, k + 1), info)
        sign = torch.where(pivot[..., 0] == k, torch.ones_like(product), -torch.ones_like(product))
        product = product * sign * found[..., 0, 0]
        found = torch.where(found == 0, torch.ones_like(found), found)
        others = whole - whole[..., :, k : k + 1] / found * row
        whole = torch.where((rows == k)[:, None], row / found, others)
    return whole[..., n:], info, product
