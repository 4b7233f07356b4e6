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
    """`base ** exponent`: 1 for the exponent 0; of 0 it is 0 for an exponent with a positive real part, NaN for all others.

    Whole exponents below 100 are multiplied out, as `npy_cpow` does: no rounding gives them an imaginary part, and its sign is NumPy's."""
    made = torch.pow(base, exponent)
    x, y = (as_tensor(x, made.dtype).to(made.device) for x in (base, exponent))
    if isinstance(exponent, torch.Tensor):
        small = torch.logical_and(torch.eq(y.real, torch.trunc(y.real)), torch.lt(torch.abs(y.real), 100))
        whole = torch.logical_and(torch.eq(y.imag, 0), small)
        made = torch.where(whole, _multiplied_out(x, torch.where(whole, y.real, 0).to(torch.int64)), made)
    elif complex(exponent).imag == 0 and complex(exponent).real in range(-99, 100):
        made = _multiplied_out(x, int(complex(exponent).real))
    at_zero = torch.where(torch.gt(y.real, 0), 0.0, math.nan).to(made.real.dtype)
    made = torch.where(torch.eq(x, 0), torch.complex(at_zero, at_zero), made)
    return torch.where(torch.eq(y, 0), 1, made)


_Parts = tuple[torch.Tensor, torch.Tensor]


def _times(a: _Parts, b: _Parts) -> _Parts:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _multiplied_out(x: torch.Tensor, n: torch.Tensor | int) -> torch.Tensor:
    """`x ** n` for -100 < n < 100 by squaring, the power of the absolute value inverted by Smith's method for n < 0."""
    base = (x.real, x.imag)
    if isinstance(n, int) and 0 < n < 4:
        power = base if n == 1 else _times(base, base) if n == 2 else _times(base, _times(base, base))
        return torch.complex(*power)
    size: Any = abs(n)
    made, square = (torch.ones_like(x.real), torch.zeros_like(x.real)), base
    for bit in range(size.bit_length() if isinstance(size, int) else 7):
        more = _times(made, square)
        if isinstance(size, torch.Tensor):
            taken = torch.ne(torch.bitwise_and(size, 1 << bit), 0)
            made = torch.where(taken, more[0], made[0]), torch.where(taken, more[1], made[1])
        elif size >> bit & 1:
            made = more
        square = _times(square, square)
    by_real = torch.le(torch.abs(made[1]), torch.abs(made[0]))
    ratio = torch.where(by_real, made[1] / made[0], made[0] / made[1])
    scale = 1 / torch.where(by_real, made[0] + made[1] * ratio, made[0] * ratio + made[1])
    inverse = torch.complex(torch.where(by_real, 1.0, ratio + 0) * scale, torch.where(by_real, 0 - ratio, -1.0) * scale)
    if isinstance(n, int):
        return inverse if n < 0 else torch.complex(*made)
    found = torch.where(torch.lt(n, 0), inverse, torch.complex(*made))
    for small in (1, 2, 3):
        found = torch.where(torch.eq(n, small), _multiplied_out(x, small), found)
    return found


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
