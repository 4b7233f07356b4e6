"""Scalars that may be NumPy's or Python's own numbers, as it hangs on values: `s` after `s = 0.0` and `if x[0] > 0: s = x[0]`.

With `max(0, x[0])` Python's number is an int, NumPy's a float64 (`is_mixed`). In most places that makes no difference. Where it does, a
trace refuses, or lets the graph fail where Python's number would."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy
import torch

from ...semantics.arrays import demand
from ..errors import error
from ..state import leaves
from .array import BINARY, COMPARISONS, UNARY
from .number import TracedNumber, is_number, value_of
from .scalar import MIXED, TracedScalar

_OPERATORS = frozenset((*BINARY.values(), *COMPARISONS.values(), *UNARY.values()))
_OF_BOOLS = frozenset((numpy.bitwise_and, numpy.bitwise_or, numpy.bitwise_xor, *COMPARISONS.values()))
_DIVISIONS = frozenset((numpy.true_divide, numpy.floor_divide, numpy.remainder, numpy.divmod))
_SUMS, _DIVIDE, _POWER = (numpy.add, numpy.subtract), numpy.true_divide, numpy.power
"""Themselves: while tracing NumPy's names hold twins."""
_DOUBLES = {numpy.dtype(numpy.float64), numpy.dtype(numpy.complex128)}
_EXACT = frozenset((numpy.add, numpy.subtract, numpy.multiply, *UNARY.values(), *COMPARISONS.values(), *_DIVISIONS))


def is_weak(x: Any) -> bool:
    """True for a scalar that may be a Python number."""
    return type(x) is TracedScalar and bool(x._weak)


def is_mixed(x: Any) -> bool:
    """True for a float64 scalar that may be a Python int."""
    return type(x) is TracedScalar and x._weak == MIXED


def check_partners(operands: Any, function: numpy.ufunc | None = None) -> None:
    """A scalar that may be Python's must not meet a dtype for which that makes a difference. `function` is the ufunc that is called."""
    found = list(leaves(operands))
    if any(map(is_mixed, found)):
        _check_mixed(found, function)
    for weak in filter(is_weak, found):
        alike = (numpy.float64, numpy.complex128, *((numpy.int64,) if weak.dtype.kind in "iu" else ()))
        kinds = "fciu" if weak.dtype.kind in "iu" else "fc"
        for x in found if weak.dtype.kind != "b" else ():
            dtype = getattr(x, "dtype", None) if x is not weak and not is_number(x) else None
            if isinstance(dtype, numpy.dtype) and dtype not in alike and dtype.kind in kinds:
                _refuse("which of them decides the dtype here")


def _check_mixed(found: list[Any], function: numpy.ufunc | None) -> None:
    """What an int meets must be float64 anyway, or the function gives floats of ints."""
    dtypes = {x.dtype for x in found if not is_mixed(x) and not is_number(x) and isinstance(getattr(x, "dtype", None), numpy.dtype)}
    if dtypes & _DOUBLES and all(d in _DOUBLES or d.kind == "b" for d in dtypes):
        return
    if dtypes or function is None:
        _refuse("an int has another dtype here")
    if function not in _OPERATORS:
        loops = [function.resolve_dtypes((*(kind if is_mixed(x) else type(value_of(x)) for x in found), *(None,) * function.nout))
                 for kind in (numpy.dtype(int), numpy.dtype(float))]  # fmt: skip
        if loops[0][function.nin :] != loops[1][function.nin :]:
            _refuse("an int has another dtype here")


def operated(function: numpy.ufunc, operands: tuple[Any, ...]) -> bool | str:
    """Whether an operator gives such a scalar again: all operands are, or are Python's (MIXED: and may be ints). Refused where NumPy's is
    another result."""
    if function not in _OPERATORS or not any(map(is_weak, operands)) or not all(is_weak(x) or is_number(x) for x in operands):
        return False
    kinds = {numpy.asarray(value_of(x)).dtype.kind for x in operands}
    if any(map(is_mixed, operands)) and function not in COMPARISONS.values() and function is not _DIVIDE:
        if function in _SUMS and not any(map(_is_float, operands)):
            return MIXED
        if function is _POWER or not any(map(_is_float, operands)):
            _refuse("an int stays one here")
    if kinds == {"b"}:
        if function not in _OF_BOOLS:
            _refuse("arithmetic of Python's bools is another")
    elif "f" not in kinds and "c" not in kinds and function not in COMPARISONS.values():
        _refuse("Python's ints have no end")
    elif function is _POWER:
        exponent = operands[1]
        if type(exponent) is not int or exponent < 0:
            _refuse("a power of Python's numbers may be an error, or complex")
    elif function not in _EXACT:
        _refuse("Python's number has no such operator")
    if function in _DIVISIONS:
        divisor = operands[1]
        if is_weak(divisor) or type(divisor) is TracedNumber:
            demand(torch.ne(divisor._tensor, 0), ZeroDivisionError("division by zero"))
        elif divisor == 0:
            _refuse("a division of Python's number by zero is an error")
    return True


def _is_float(x: Any) -> bool:
    return not is_mixed(x) and isinstance(value_of(x), (float, complex)) and not getattr(x, "_either", False)


def check_sum(result: torch.Tensor) -> None:
    """A sum of ints is exact in Python, one of floats up to 2**53."""
    demand(torch.abs(result) < 2**53, OverflowError("a number that may be an int is beyond 2**53"))


def check_power(base: Any, result: torch.Tensor) -> None:
    """Python's power is an error where it is too large."""
    demand(torch.logical_or(torch.isfinite(result), torch.logical_not(torch.isfinite(base._tensor))), OverflowError("power too large"))


def check_method(x: Any, name: str) -> None:
    """Python's numbers have few methods."""
    if is_weak(x) and (is_mixed(x) or name not in ("conjugate", "is_integer", "real", "imag")):
        _refuse(f"Python's number has no .{name}, or another")


def _refuse(why: str) -> NoReturn:
    raise error("numpy-scalar", f"a branch, a loop, min or max gave a Python number or a NumPy scalar, and {why}",
                "let it be a NumPy scalar from the beginning: s = np.float64(0)")  # fmt: skip
