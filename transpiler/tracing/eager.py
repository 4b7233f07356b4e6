"""What the text of a graph calls where Python itself runs it (see generating)."""

from __future__ import annotations

import math

import numpy
import torch

_HELD: dict[str, tuple[torch.Tensor, ...]] = {}
HELD_DTYPES = {torch.float32: "float32", torch.float64: "float64", torch.int32: "int32", torch.int64: "int64"}
"""The dtypes of arrays beside which a number may be a tensor of no dimensions: that gives the same bits, and torch need not make one."""


def is_held(number: float, dtype: str) -> bool:
    """Whether a number is one of a dtype, bit for bit."""
    if not math.isfinite(number) or (number == 0 and math.copysign(1, number) < 0) or (type(number) is float and "int" in dtype):
        return False
    try:
        return bool(numpy.array(number, dtype).item() == number)
    except OverflowError:
        return False


def held_numbers(told: str) -> tuple[torch.Tensor, ...]:
    """Numbers as tensors of no dimensions, into which nobody writes: `"float32 0.5, int64 3"`. The same ones each time."""
    found = _HELD.get(told)
    if found is None:
        parts = [part.split() for part in told.split(", ")]
        # by way of NumPy: no mode, device or transformation of torch's that is on has a part in them
        found = _HELD[told] = tuple(torch.from_numpy(numpy.array(number, dtype)) for dtype, number in parts)
    return found


def assert_finite(x: torch.Tensor, message: str) -> None:
    """Raise RuntimeError with `message`, as `torch._assert_async` does, unless all values are finite."""
    if not _is_sum_finite(x):
        torch._assert_async(torch.eq(torch.sum(torch.mul(x, 0)), 0), message)


def assert_no_infinity(x: torch.Tensor, message: str) -> None:
    """Raise RuntimeError with `message`, as `torch._assert_async` does, if a value is infinite."""
    if not _is_sum_finite(x):
        torch._assert_async(torch.all(torch.logical_not(torch.isinf(x))), message)


def _is_sum_finite(x: torch.Tensor) -> bool:
    """Whether all values are sure to be finite: their sum is. (It may overflow where they are.)"""
    return x.is_floating_point() and x.is_cpu and math.isfinite(torch.sum(x).item())
