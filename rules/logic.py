"""Comparison, logic, bits and tests for special values."""

from __future__ import annotations

import torch

from ..semantics import unsigned
from ..semantics.arrays import as_tensor
from ..semantics.ufunc import ufunc

# Comparisons

@ufunc("numpy.less", numbers=(0, 1), compares=True, kind="predicate")
def less(x1, x2):
    return _ordered(torch.lt, torch.gt, x1, x2)

@ufunc("numpy.less_equal", numbers=(0, 1), compares=True, kind="predicate")
def less_equal(x1, x2):
    return _ordered(torch.le, torch.ge, x1, x2)

@ufunc("numpy.greater", numbers=(0, 1), compares=True, kind="predicate")
def greater(x1, x2):
    return _ordered(torch.gt, torch.lt, x1, x2)

@ufunc("numpy.greater_equal", numbers=(0, 1), compares=True, kind="predicate")
def greater_equal(x1, x2):
    return _ordered(torch.ge, torch.le, x1, x2)

@ufunc("numpy.equal", numbers=(0, 1), compares=True, kind="predicate")
def equal(x1, x2):
    return _ordered(torch.eq, torch.eq, x1, x2)

@ufunc("numpy.not_equal", numbers=(0, 1), compares=True, kind="predicate")
def not_equal(x1, x2):
    return _ordered(torch.ne, torch.ne, x1, x2)

def _ordered(compare, mirrored, x1, x2):
    """torch takes a Python number on the right only. Complex numbers are ordered by real, then imaginary part."""
    if not isinstance(x1, torch.Tensor):
        return _ordered(mirrored, compare, x2, x1)
    if x1.is_complex() and compare not in (torch.eq, torch.ne):
        x2 = as_tensor(x2, x1.dtype)
        known = torch.logical_not(torch.logical_or(torch.isnan(x1.imag), torch.isnan(x2.imag)))
        by_real = torch.logical_and(compare(x1.real, x2.real), known)
        return torch.where(torch.eq(x1.real, x2.real), compare(x1.imag, x2.imag), by_real)
    return compare(x1, x2)

@ufunc("numpy.logical_and", exact_unsigned=True, kind="predicate")
def logical_and(x1, x2):
    return torch.logical_and(x1, x2)

@ufunc("numpy.logical_or", exact_unsigned=True, kind="predicate")
def logical_or(x1, x2):
    return torch.logical_or(x1, x2)

@ufunc("numpy.logical_xor", exact_unsigned=True, kind="predicate")
def logical_xor(x1, x2):
    return torch.logical_xor(x1, x2)

@ufunc("numpy.logical_not", exact_unsigned=True, kind="predicate")
def logical_not(x):
    return torch.logical_not(x)

@ufunc("numpy.bitwise_and", numbers=(1,), exact_unsigned=True)
def bitwise_and(x1, x2):
    return torch.bitwise_and(x1, x2)

@ufunc("numpy.bitwise_or", numbers=(1,), exact_unsigned=True)
def bitwise_or(x1, x2):
    return torch.bitwise_or(x1, x2)

@ufunc("numpy.bitwise_xor", numbers=(1,), exact_unsigned=True)
def bitwise_xor(x1, x2):
    return torch.bitwise_xor(x1, x2)

@ufunc("numpy.invert", "numpy.bitwise_not", "numpy.bitwise_invert", exact_unsigned=True)
def invert(x):
    return torch.bitwise_not(x)

@ufunc("numpy.left_shift", "numpy.bitwise_left_shift", exact_unsigned=True)
def left_shift(x1, x2):
    """Shifts by the width or more give 0."""
    outside = _outside(x1, x2)
    return torch.where(outside, 0, torch.bitwise_left_shift(x1, torch.where(outside, 0, x2)))

@ufunc("numpy.right_shift", "numpy.bitwise_right_shift", unsigned=unsigned.right_shift)
def right_shift(x1, x2):
    """Arithmetic: shifts by the width or more leave the sign."""
    outside = _outside(x1, x2)
    return torch.where(outside, torch.where(torch.lt(x1, 0), -1, 0), torch.bitwise_right_shift(x1, torch.where(outside, 0, x2)))

def _outside(x1, x2):
    return torch.logical_or(torch.ge(x2, torch.iinfo(x1.dtype).bits), torch.lt(x2, 0))

@ufunc("numpy.bitwise_count", unsigned=unsigned.bitwise_count)
def bitwise_count(x):
    """The number of ones in the absolute value."""
    places = torch.arange(torch.iinfo(x.dtype).bits, device=x.device)
    return torch.sum(torch.bitwise_and(torch.bitwise_right_shift(torch.abs(x).to(torch.int64).unsqueeze(-1), places), 1), dim=-1)

@ufunc("numpy.isnan", exact_unsigned=True, kind="predicate")
def isnan(x):
    return torch.isnan(x)

@ufunc("numpy.isinf", exact_unsigned=True, kind="predicate")
def isinf(x):
    return torch.isinf(x)

@ufunc("numpy.isfinite", exact_unsigned=True, kind="predicate")
def isfinite(x):
    return torch.isfinite(x)
