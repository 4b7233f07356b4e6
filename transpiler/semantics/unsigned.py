"""Arithmetic of uint64 in int64 of the same bits: torch has kernels for int64 alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

LOW = -(2**63)
HIGH = 2**63 - 1


def ordered(operands: list[Any], loop: tuple[torch.dtype, ...]) -> list[torch.Tensor]:
    """The operands of a comparison of uint64 with uint64 or int64 as int64 that are in the same order."""
    x1, x2 = operands
    if loop[0] == loop[1]:
        return [turned(x1), turned(x2)]
    large = torch.lt(x1 if loop[0] == torch.uint64 else x2, 0)  # larger than any int64
    first, second = (1, 0) if loop[0] == torch.uint64 else (0, 1)
    return [torch.where(large, first, x1), torch.where(large, second, x2)]


def turned(x: torch.Tensor) -> torch.Tensor:
    """In the order of int64 what `x` is in that of uint64, and back."""
    return torch.bitwise_xor(x, LOW)


def chosen(choose: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A maximum or minimum of uint64 from one of int64."""
    return lambda x1, x2: turned(choose(turned(x1), turned(x2)))


def at_least(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    return torch.ge(turned(x1), turned(x2))


def _halved(x: torch.Tensor) -> torch.Tensor:
    return torch.bitwise_and(torch.bitwise_right_shift(x, 1), HIGH)


def quotient(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """By zero it is 0. Twice the quotient of half of `x1` is right or one too small; of a divisor above int64 it is 0 or 1."""
    small = torch.where(torch.gt(x2, 0), x2, 1)
    twice = torch.mul(torch.div(_halved(x1), small, rounding_mode="floor"), 2)
    rest = torch.sub(x1, torch.mul(twice, small))
    made = torch.add(twice, at_least(rest, small).to(torch.int64))
    made = torch.where(torch.lt(x2, 0), at_least(x1, x2).to(torch.int64), made)
    return torch.where(torch.eq(x2, 0), 0, made)


def remainder(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """By zero it is 0."""
    return torch.where(torch.eq(x2, 0), 0, torch.sub(x1, torch.mul(quotient(x1, x2), x2)))


def divmod(x1: torch.Tensor, x2: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return quotient(x1, x2), remainder(x1, x2)


def power(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """Modulo 2**64, where the power 2**63 of an odd number is 1, and of an even one 0."""
    low = torch.pow(x1, torch.bitwise_and(x2, HIGH))
    return torch.where(torch.lt(x2, 0), torch.mul(low, torch.bitwise_and(x1, 1)), low)


def right_shift(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """Zeros come in from the left; shifts by 64 or more give 0."""
    inside = torch.logical_and(torch.ge(x2, 1), torch.lt(x2, 64))
    moved = torch.bitwise_right_shift(_halved(x1), torch.where(inside, x2 - 1, 0))
    return torch.where(torch.eq(x2, 0), x1, torch.where(inside, moved, 0))


def gcd(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """Two of Euclid's steps leave numbers that int64 can hold."""
    larger, smaller = chosen(torch.maximum)(x1, x2), chosen(torch.minimum)(x1, x2)
    first = remainder(larger, smaller)
    made = torch.where(torch.eq(first, 0), smaller, torch.gcd(first, remainder(smaller, first)))
    return torch.where(torch.eq(smaller, 0), larger, made)


def lcm(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    return torch.mul(quotient(x1, gcd(x1, x2)), x2)


def bitwise_count(x: torch.Tensor) -> torch.Tensor:
    places = torch.arange(64, device=x.device)
    return torch.sum(torch.bitwise_and(torch.bitwise_right_shift(x.unsqueeze(-1), places), 1), dim=-1)


def sign(x: torch.Tensor) -> torch.Tensor:
    return torch.ne(x, 0).to(torch.int64)
