"""Complex functions that torch computes otherwise than NumPy: in signs of zeros (which decide the side of a branch cut) and at poles.

torch's vectorised kernels and its scalar ones do not agree on signs of zeros: what is computed by parts is the same in both.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .arrays import as_tensor


def negated(x: torch.Tensor) -> torch.Tensor:
    """`-x`; torch's vectorised kernel subtracts from 0, which loses the sign of a zero."""
    return torch.complex(torch.neg(x.real), torch.neg(x.imag))


def reciprocal(x: torch.Tensor) -> torch.Tensor:
    """`1 / x` by Smith's method, as NumPy does it; NaN at 0."""
    by_real = torch.le(torch.abs(x.imag), torch.abs(x.real))
    ratio = torch.where(by_real, x.imag / x.real, x.real / x.imag)
    below = torch.where(by_real, x.real + x.imag * ratio, x.real * ratio + x.imag)
    return torch.complex(torch.where(by_real, 1.0, ratio) / below, torch.where(by_real, -ratio, -1.0) / below)


def sign(x: torch.Tensor) -> torch.Tensor:
    """`x / |x|`; where one part is infinite the sign of that part alone."""
    size = torch.abs(x)
    ends = torch.complex(*(torch.where(torch.isinf(part), torch.sign(part), 0) for part in (x.real, x.imag)))
    one_end = torch.logical_xor(torch.isinf(x.real), torch.isinf(x.imag))
    made = torch.where(torch.eq(size, 0), 0, torch.complex(x.real / size, x.imag / size))
    return torch.where(one_end, ends, made)


def power(base: Any, exponent: Any) -> torch.Tensor:
    """`base ** exponent`: 1 for the exponent 0; of 0 it is 0 for an exponent with a positive real part, NaN for all others."""
    made = torch.pow(base, exponent)
    tensors = [as_tensor(x, made.dtype).to(made.device) for x in (base, exponent)]
    at_zero = torch.where(torch.gt(tensors[1].real, 0), 0.0, math.nan).to(made.real.dtype)
    made = torch.where(torch.eq(tensors[0], 0), torch.complex(at_zero, at_zero), made)
    return torch.where(torch.eq(tensors[1], 0), 1, made)


def exp2(x: torch.Tensor) -> torch.Tensor:
    """`2 ** x`; the parts are scaled one by one, a product would lose the sign of a zero."""
    return torch.exp(torch.complex(x.real * math.log(2.0), x.imag * math.log(2.0)))


def log1p(x: torch.Tensor) -> torch.Tensor:
    """`log(1 + x)` as NumPy computes it; a sum with 1 would lose the sign of a zero, and with it the side of the branch cut."""
    real = x.real + 1
    return torch.complex(torch.log(torch.hypot(real, x.imag)), torch.atan2(x.imag, real))


def arccos(x: torch.Tensor) -> torch.Tensor:
    """The imaginary part has the sign opposite to that of `x`, also where it is 0."""
    found = torch.acos(x)
    return torch.complex(found.real, torch.copysign(found.imag, torch.neg(x.imag)))
