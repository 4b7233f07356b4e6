"""Arithmetic, rounding and extrema: NumPy's elementwise functions on numbers."""

from __future__ import annotations

import functools
import math

import torch

from ..semantics import complexes, unsigned
from ..semantics.arrays import as_tensor, demand, result_type, stands_for
from ..semantics.entering import rule
from ..semantics.ufunc import ufunc

# The operators

@ufunc("numpy.add", numbers=(0, 1), exact_unsigned=True)
def add(x1, x2):
    """Complex numbers by their parts: torch multiplies the second by alpha, which spreads a NaN to both parts."""
    if not is_complex(x1, x2):
        return torch.add(x1, x2)
    return torch.complex(x1.real + x2.real, x1.imag + x2.imag)

@ufunc("numpy.subtract", numbers=(0, 1), exact_unsigned=True)
def subtract(x1, x2):
    if not is_complex(x1, x2):
        return torch.sub(x1, x2)
    return torch.complex(x1.real - x2.real, x1.imag - x2.imag)

@ufunc("numpy.multiply", numbers=(0, 1), exact_unsigned=True)
def multiply(x1, x2):
    return torch.mul(x1, x2)

@ufunc("numpy.divide", "numpy.true_divide", numbers=(0, 1))
def divide(x1, x2):
    return torch.div(x1, x2)

@ufunc("numpy.negative", exact_unsigned=True)
def negative(x):
    return complexes.negated(x) if x.is_complex() else torch.neg(x)

@ufunc("numpy.positive", exact_unsigned=True)
def positive(x):
    return torch.clone(x)

@ufunc("numpy.floor_divide", numbers=(0, 1), unsigned=unsigned.quotient)
def floor_divide(x1, x2):
    """Integers: division by zero gives 0, as in NumPy."""
    if is_integral(x1, x2):
        return _unless_zero(functools.partial(torch.div, rounding_mode="floor"), x1, x2)
    return torch.div(x1, x2, rounding_mode="floor")

@ufunc("numpy.remainder", "numpy.mod", numbers=(0, 1), unsigned=unsigned.remainder)
def remainder(x1, x2):
    """The sign is the divisor's, also of a zero."""
    if is_integral(x1, x2):
        return _unless_zero(torch.remainder, x1, x2)
    result = torch.remainder(_nearer(x1, x2), x2)
    if isinstance(x2, float) and x2 > 0:
        return torch.add(result, 0.0)  # of the two zeros it makes the positive one
    return torch.where(torch.eq(result, 0), torch.copysign(result, x2), result)

@ufunc("numpy.fmod", numbers=(1,), unsigned=unsigned.remainder)
def fmod(x1, x2):
    """The sign is the dividend's."""
    if is_integral(x1, x2):
        return _unless_zero(torch.fmod, x1, x2)
    return torch.fmod(_nearer(x1, x2), x2)

def _nearer(x1, x2):
    """`x1` less multiples of `x2` (exactly), until their quotient is finite: beyond that torch's vectorised kernels give NaN."""
    dtype = x2.dtype if isinstance(x2, torch.Tensor) else x1.dtype
    if dtype not in (torch.float32, torch.float64) or (not isinstance(x2, torch.Tensor) and abs(x2) >= 1):
        return x1
    if not isinstance(x1, torch.Tensor):
        x1 = torch.full((), x1, dtype=dtype, device=x2.device)  # torch has no fmod of a number
    scale = 2.0**100 if dtype == torch.float32 else 2.0**545  # more than a third of the exponents, subnormal ones included
    return torch.fmod(torch.fmod(x1, x2 * scale * scale), x2 * scale)

def _unless_zero(divide, x1, x2):
    """A division of integers; by zero it gives 0, as in NumPy."""
    if not isinstance(x2, torch.Tensor):
        return divide(x1, x2) if x2 else torch.zeros_like(x1)
    zero = torch.eq(x2, 0)
    return torch.where(zero, 0, divide(x1, torch.where(zero, 1, x2)))

@ufunc("numpy.divmod", unsigned=unsigned.divmod)
def divmod(x1, x2):
    return floor_divide.body(x1, x2), remainder.body(x1, x2)

@ufunc("numpy.power", "numpy.pow", numbers=(0, 1), unsigned=unsigned.power,
       examples=("np.power(a.real, b.real)", "np.power(z, z)", "np.power(z, i[0])"))  # fmt: skip
def power(x1, x2):
    """Raises ValueError for integers to negative integer powers, as NumPy does where there are any."""
    if is_integral(x1, x2):
        if isinstance(x1, torch.Tensor) and not x1.numel():
            return torch.mul(x1, x2)
        demand(x2 >= 0, ValueError("Integers to negative integer powers are not allowed."))
    if is_complex(x1, x2):
        return complexes.power(x1, x2)
    if isinstance(x2, float) and x2 == -0.5:  # a number would be rsqrt to torch: other values at -inf and -0.0
        return torch.pow(x1, torch.full((), x2, dtype=x1.dtype, device=x1.device))
    if isinstance(x2, float) and x2 == 0.5 and x1.dtype == torch.float16:
        return torch.sqrt(x1)
    if not isinstance(x2, torch.Tensor) or x2.dtype not in _ROOTED:
        return torch.pow(x1, x2)
    made = torch.pow(x1, x2)
    if x2.ndim or not isinstance(x1, torch.Tensor):
        return made
    # One exponent for all: where it is 0.5 NumPy takes the square root, which is another at -inf and -0.0.
    root = torch.logical_and(torch.eq(x2, 0.5), torch.logical_or(torch.eq(x1, -math.inf), torch.eq(x1, 0)))
    return torch.where(root, torch.where(torch.eq(x1, 0), x1, math.nan), made)

_ROOTED = (torch.float32, torch.float64)

def scalar_power(x1, x2):
    """`x1 ** x2` of scalars and numbers: C's pow, also where the ufunc takes a square root."""
    dtype = result_type(x1, x2)
    if not dtype.is_floating_point:
        return power.compute(x1, x2)
    device = next((x.device for x in (x1, x2) if isinstance(x, torch.Tensor)), torch.get_default_device())
    return torch.pow(*(as_tensor(x, dtype).to(device) for x in (x1, x2)))

@ufunc("numpy.float_power", numbers=(0, 1), examples=("np.float_power(a.real, b.real)", "np.float_power(z, z)", "np.float_power(z, i[0])"))
def float_power(x1, x2):
    return complexes.power(x1, x2) if is_complex(x1, x2) else torch.pow(x1, x2)

@ufunc("numpy.absolute", "numpy.abs", unsigned=torch.clone)
def absolute(x):
    return torch.clone(x) if x.dtype == torch.bool else torch.abs(x)

@ufunc("numpy.fabs")
def fabs(x):
    return torch.abs(x)

@ufunc("numpy.sign", unsigned=unsigned.sign)
def sign(x):
    """-1, 0 or 1; NaN stays NaN. Complex: x / |x|."""
    if x.is_complex():
        return complexes.sign(x)
    return torch.where(torch.isnan(x), x, torch.sign(x)) if x.is_floating_point() else torch.sign(x)

@ufunc("numpy.square", exact_unsigned=True)
def square(x):
    return torch.square(x)

@ufunc("numpy.reciprocal")
def reciprocal(x):
    """Integers: 1 // x rounded to zero, with 1 // 0 as the processor NumPy runs on gives it."""
    if x.is_floating_point() or x.is_complex():
        return complexes.reciprocal(x) if x.is_complex() else torch.reciprocal(x)
    if x.dtype == torch.bool:
        return x
    one = torch.eq(torch.abs(x), 1)
    # an infinity cast to 32 or 64 bits is the smallest integer, and 0 once it is cut to fewer
    low = torch.iinfo(x.dtype).min if x.dtype in (torch.int32, torch.int64) else 0
    return torch.where(one, x, torch.where(torch.eq(x, 0), low, 0)).to(x.dtype)

@ufunc("numpy.rint")
def rint(x):
    return torch.complex(torch.round(x.real), torch.round(x.imag)) if x.is_complex() else torch.round(x)

@ufunc("numpy.floor", exact_unsigned=True)
def floor(x):
    return torch.floor(x) if x.is_floating_point() else torch.clone(x)

@ufunc("numpy.ceil", exact_unsigned=True)
def ceil(x):
    return torch.ceil(x) if x.is_floating_point() else torch.clone(x)

@ufunc("numpy.trunc", exact_unsigned=True)
def trunc(x):
    return torch.trunc(x) if x.is_floating_point() else torch.clone(x)

@ufunc("numpy.maximum", numbers=(1,), unsigned=unsigned.chosen(torch.maximum))
def maximum(x1, x2):
    """Complex numbers are ordered by real, then imaginary part."""
    if not isinstance(x2, torch.Tensor) and stands_for(x2, x1.dtype):
        return torch.clamp(x1, min=x2)
    x2 = as_tensor(x2, x1.dtype)
    if x1.is_complex():
        return torch.where(torch.logical_or(_complex_ge(x1, x2), torch.isnan(x1)), x1, x2)
    return torch.maximum(x1, x2)

@ufunc("numpy.minimum", numbers=(1,), unsigned=unsigned.chosen(torch.minimum))
def minimum(x1, x2):
    """Complex numbers are ordered by real, then imaginary part."""
    if not isinstance(x2, torch.Tensor) and stands_for(x2, x1.dtype):
        return torch.clamp(x1, max=x2)
    x2 = as_tensor(x2, x1.dtype)
    if x1.is_complex():
        return torch.where(torch.logical_or(_complex_ge(x2, x1), torch.isnan(x1)), x1, x2)
    return torch.minimum(x1, x2)

@ufunc("numpy.fmax", unsigned=unsigned.chosen(torch.maximum))
def fmax(x1, x2):
    if x1.is_complex():
        return torch.where(torch.logical_or(_complex_ge(x1, x2), torch.isnan(x2)), x1, x2)
    return torch.fmax(x1, x2)

@ufunc("numpy.fmin", unsigned=unsigned.chosen(torch.minimum))
def fmin(x1, x2):
    if x1.is_complex():
        return torch.where(torch.logical_or(_complex_ge(x2, x1), torch.isnan(x2)), x1, x2)
    return torch.fmin(x1, x2)

@ufunc("numpy.heaviside")
def heaviside(x1, x2):
    """0 below zero, `x2` at zero, 1 above; NaN stays NaN."""
    return torch.where(torch.isnan(x1), x1, torch.where(torch.eq(x1, 0), x2, torch.gt(x1, 0).to(x1.dtype)))

@ufunc("numpy.copysign")
def copysign(x1, x2):
    return torch.copysign(x1, x2)

@ufunc("numpy.signbit", kind="predicate")
def signbit(x):
    return torch.signbit(x)

@ufunc("numpy.nextafter")
def nextafter(x1, x2):
    return torch.nextafter(x1, x2)

@ufunc("numpy.spacing", examples=("np.spacing(f)", "np.spacing(x.real)", "np.spacing(np.copysign(0, f))"))
def spacing(x):
    """The distance to the next number away from zero, with the sign of `x`, positive at -0.0; of float16 to the next larger one."""
    away = torch.full_like(x, math.inf)
    gap = torch.sub(torch.nextafter(x, away if x.dtype == torch.float16 else torch.copysign(away, x)), x)
    gap = torch.where(torch.eq(x, 0), torch.abs(gap), gap)
    return torch.where(torch.isinf(x), math.nan, gap)

@ufunc("numpy.modf")
def modf(x):
    """Fractional and whole part, both with the sign of `x`."""
    whole = torch.trunc(x)
    fraction = torch.where(torch.isinf(x), 0, x - whole)
    return torch.copysign(fraction, x), whole

@ufunc("numpy.frexp")
def frexp(x):
    """Mantissa in [0.5, 1) and int32 exponent, `x = mantissa * 2 ** exponent`."""
    mantissa, exponent = torch.frexp(x)
    special = torch.logical_not(torch.isfinite(x))
    return torch.where(special, x, mantissa), torch.where(special, 0, exponent)

@ufunc("numpy.ldexp")
def ldexp(x1, x2):
    """In float64 and in steps, so that neither the power nor what it multiplies overflows before the result does."""
    exponent = torch.clamp(x2.to(torch.int64), -2200, 2200)
    result = x1.to(torch.float64)
    for _ in range(3):
        step = torch.clamp(exponent, -1000, 1000)
        result, exponent = result * torch.exp2(step.to(torch.float64)), exponent - step
    return result.to(x1.dtype)

@ufunc("numpy.gcd", unsigned=unsigned.gcd)
def gcd(x1, x2):
    """Never negative, except where the magnitude does not fit, as in NumPy."""
    return torch.abs(torch.gcd(x1, x2))

@ufunc("numpy.lcm", unsigned=unsigned.lcm)
def lcm(x1, x2):
    """torch.lcm divides the smallest integer by -1, which ends the process; this divides magnitudes."""
    divisor = gcd.body(x1, x2)
    safe = torch.where(torch.eq(divisor, 0), 1, divisor)
    return torch.mul(torch.div(torch.abs(x1), safe, rounding_mode="floor"), torch.abs(x2))

@ufunc("numpy.conjugate", "numpy.conj", exact_unsigned=True)
def conjugate(x):
    return torch.conj_physical(x) if x.is_complex() else torch.clone(x)

@rule("numpy.ndarray.conj", "numpy.ndarray.conjugate", kind="shape", view=True, examples=("a.conj()", "z.conjugate()"))
def ndarray_conj(a):
    """The array itself where it is not complex."""
    a = as_tensor(a)
    return torch.conj_physical(a) if a.is_complex() else a

def is_integral(*operands: object) -> bool:
    """True where all operands of a loop are integers or bools."""
    tensor = next(x for x in operands if isinstance(x, torch.Tensor))
    return not (tensor.is_floating_point() or tensor.is_complex())

def is_complex(*operands: object) -> bool:
    """True where the loop computes complex numbers."""
    return next(x for x in operands if isinstance(x, torch.Tensor)).is_complex()

def _complex_ge(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """NumPy's order of complex numbers: by real part, then by imaginary part."""
    nan = torch.logical_or(torch.isnan(x1.imag), torch.isnan(x2.imag))
    above = torch.logical_and(torch.gt(x1.real, x2.real), torch.logical_not(nan))
    return torch.logical_or(above, torch.logical_and(torch.eq(x1.real, x2.real), torch.ge(x1.imag, x2.imag)))
