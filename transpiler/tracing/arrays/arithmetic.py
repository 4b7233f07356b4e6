"""Python's arithmetic on numbers, in torch: int64 and float64 scalars, with Python's errors as assertions.

Functions of 0-d tensors of one dtype. The last argument of the two-handed ones is the right operand as a plain number where it is a
constant, so that nothing is asserted of it in vain.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from ...rules import lookup
from ...semantics.arrays import demand

INT_BOUND = 2**63
_NEARLY = float(INT_BOUND) * (1 - 1e-12)
"""Below this a product that was computed in float64 is certainly below 2**63."""

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "floordiv": operator.floordiv,
    "mod": operator.mod, "divmod": divmod, "pow": operator.pow, "matmul": operator.matmul, "lshift": operator.lshift,
    "rshift": operator.rshift, "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne, "neg": operator.neg, "pos": operator.pos,
    "abs": operator.abs, "invert": operator.invert,
}  # fmt: skip
"""Python's operators by the names of their methods."""


def _is_int(a: torch.Tensor) -> bool:
    return a.dtype == torch.int64


def _beyond() -> OverflowError:
    return OverflowError("a Python int of the graph is beyond int64")


def _add(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    total = torch.add(a, b if constant is None else constant)
    if _is_int(a):
        demand(torch.bitwise_and(torch.bitwise_xor(a, total), torch.bitwise_xor(b, total)) >= 0, _beyond())
    return total


def _sub(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    rest = torch.sub(a, b if constant is None else constant)
    if _is_int(a):
        demand(torch.bitwise_and(torch.bitwise_xor(a, b), torch.bitwise_xor(a, rest)) >= 0, _beyond())
    return rest


def _mul(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    if _is_int(a):
        demand(torch.abs(torch.mul(a.to(torch.float64), b.to(torch.float64))) < _NEARLY, _beyond())
    return torch.mul(a, b if constant is None else constant)


def _not_zero(a: torch.Tensor, b: torch.Tensor, constant: Any, what: str) -> None:
    """A constant zero is met on ways through the function that the sample does not take: they must not be taken."""
    if constant is None:
        demand(b != 0, ZeroDivisionError(what))
    elif constant == 0:
        demand(torch.zeros_like(a, dtype=torch.bool), ZeroDivisionError(what))


def _truediv(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    _not_zero(a, b, constant, "division by zero")
    if _is_int(a):
        return torch.div(a.to(torch.float64), b.to(torch.float64))
    return torch.div(a, b if constant is None else constant)


def _divisor(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    """An int divisor for which the processor has a result, also on the way through a function that is not taken."""
    _not_zero(a, b, constant, "integer division or modulo by zero")
    if constant in (0, -1, None):
        demand((a != -INT_BOUND) | (b != -1), _beyond())
        return torch.where((b == 0) | ((b == -1) & (a == -INT_BOUND)), 1, b)
    return b


def _floordiv(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    if _is_int(a):
        return torch.div(a, _divisor(a, b, constant), rounding_mode="floor")
    _not_zero(a, b, constant, "float floor division by zero")
    return lookup("numpy.floor_divide").call(a, b)  # type: ignore[no-any-return]


def _mod(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    if _is_int(a):
        return torch.remainder(a, _divisor(a, b, constant))
    _not_zero(a, b, constant, "float modulo")
    return lookup("numpy.remainder").call(a, b)  # type: ignore[no-any-return]


def _pow(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    if _is_int(a):
        demand(b >= 0, ArithmeticError("the power of two ints has become a float, and was an int when it was traced"))
        demand(torch.pow(torch.abs(a.to(torch.float64)), b.to(torch.float64)) < _NEARLY, _beyond())
        return torch.pow(a, torch.clamp(b, min=0))
    if a.is_complex() and constant is not None and _is_small(complex(constant)):
        power = _multiplied(a, int(complex(constant).real))
        demand(torch.isfinite(power) | ~torch.isfinite(a), OverflowError("complex exponentiation"))
        return power
    power = torch.pow(a, b)  # two tensors: with a number for an exponent torch rounds otherwise, and differs at -inf and -0.0
    if a.is_complex():
        demand((a != 0) | ((torch.real(b) >= 0) & (torch.imag(b) == 0)), ZeroDivisionError("0.0 to a negative or complex power"))
        demand(torch.isfinite(power) | ~torch.isfinite(a) | ~torch.isfinite(b), OverflowError("complex exponentiation"))
    else:
        demand((a != 0) | ~(b < 0) | torch.isinf(b), ZeroDivisionError("0.0 cannot be raised to a negative power"))
        real = ~(a < 0) | torch.isinf(a) | ~torch.isfinite(b) | (torch.trunc(b) == b)
        demand(real, ValueError("the power of a negative number is complex"))
        demand(~torch.isinf(power) | ~torch.isfinite(a) | ~torch.isfinite(b), OverflowError("Numerical result out of range"))
    return power


def _is_small(exponent: complex) -> bool:
    return exponent.imag == 0 and exponent.real.is_integer() and abs(exponent.real) <= 100


def _multiplied(a: torch.Tensor, exponent: int) -> torch.Tensor:
    """Python's power of a complex number to an int: by products."""
    power, square, left = torch.ones_like(a), a, abs(exponent)
    while left:
        power = torch.mul(power, square) if left & 1 else power
        left >>= 1
        square = torch.mul(square, square) if left else square
    if exponent > 0:
        return power
    demand((a != 0) | (exponent == 0), ZeroDivisionError("0.0 to a negative or complex power"))
    return torch.div(torch.ones_like(a), power)


def _lshift(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    demand((b >= 0) & ((b < 63) | (a == 0)), ValueError("negative shift count, or an int beyond int64"))
    count = torch.clamp(b, 0, 62)
    made = torch.bitwise_left_shift(a, count)
    demand(torch.bitwise_right_shift(made, count) == a, _beyond())
    return made


def _rshift(a: torch.Tensor, b: torch.Tensor, constant: Any) -> torch.Tensor:
    demand(b >= 0, ValueError("negative shift count"))
    return torch.bitwise_right_shift(a, torch.clamp(b, 0, 63))


def _plain(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A torch function that takes a constant as it is."""
    return lambda a, b, constant: function(a, b if constant is None or a.dtype == torch.bool else constant)


def _negated(a: torch.Tensor) -> torch.Tensor:
    if _is_int(a):
        demand(a != -INT_BOUND, _beyond())
    return torch.neg(a)


def _magnitude(a: torch.Tensor) -> torch.Tensor:
    if _is_int(a):
        demand(a != -INT_BOUND, _beyond())
    size = torch.abs(a)
    if a.is_complex():
        demand(torch.isfinite(size) | ~torch.isfinite(a), OverflowError("absolute value too large"))
    return size


OPERATIONS: dict[str, Callable[..., torch.Tensor]] = {
    "add": _add, "sub": _sub, "mul": _mul, "truediv": _truediv, "floordiv": _floordiv, "mod": _mod, "pow": _pow, "lshift": _lshift,
    "rshift": _rshift, "and": _plain(torch.bitwise_and), "or": _plain(torch.bitwise_or), "xor": _plain(torch.bitwise_xor),
    "lt": _plain(torch.lt), "le": _plain(torch.le), "gt": _plain(torch.gt), "ge": _plain(torch.ge), "eq": _plain(torch.eq),
    "ne": _plain(torch.ne), "neg": _negated, "pos": torch.clone, "abs": _magnitude, "invert": torch.bitwise_not,
}  # fmt: skip
"""What an operator is for tensors of one dtype."""
