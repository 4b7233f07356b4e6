"""Operators of which torch's ONNX form is another function than torch's: rounded to float32, cancelled near 0, overflown, blind to -0.0.

Each is composed here of operators whose ONNX form is exact. `program_for_onnx` puts them into a program before it is translated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx

from .onnx_orders import (
    argsort,
    bucketize,
    convolution,
    determinant,
    inverse,
    searchsorted,
    solution,
    sort,
    stable_argsort,
    stable_sort,
)  # fmt: skip

aten: Any = torch.ops.aten


def program_for_onnx(program: Any) -> Any:
    """The exported program with the operators of `FORMS` composed of others."""
    modules = [m for m in program.graph_module.modules() if isinstance(m, fx.GraphModule)]
    here = {n.target for m in modules for n in m.graph.nodes if n.op == "call_function"}
    forms = {operator: form for operator, form in FORMS.items() if operator in here}
    return program.run_decompositions(forms) if forms else program


def is_negative(x: Tensor) -> Tensor:
    """Whether the sign is minus, also that of a zero."""
    return (x < 0) | ((x == 0) & (1 / x < 0))


def with_sign(x: Tensor, minus: Tensor) -> Tensor:
    return torch.where(minus, -x.abs(), x.abs())


def log1p(x: Tensor) -> Tensor:
    """W. Kahan's: the error of 1 + x cancels in the quotient."""
    x = _floating(x)
    u = 1 + x
    return torch.where(u == 1, x, torch.where(u == math.inf, u, torch.log(u) * (x / (u - 1))))


def expm1(x: Tensor) -> Tensor:
    """W. Kahan's, as `log1p`."""
    x = _floating(x)
    u = torch.exp(x)
    less = u - 1
    return torch.where(u == 1, x, torch.where((less == -1) | (u == math.inf), less, less * (x / torch.log(u))))


def log2(x: Tensor) -> Tensor:
    return _log_to(2.0, x)


def log10(x: Tensor) -> Tensor:
    return _log_to(10.0, x)


def _log_to(base: float, x: Tensor) -> Tensor:
    """A logarithm that is whole for the powers of its base."""
    x = _floating(x)
    y = torch.log(x) / math.log(base)
    whole = torch.round(y)
    return torch.where(torch.pow(torch.full_like(x, base), whole) == x, whole, y)


def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    return _log_of_sum(x, y, math.e)


def logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    return _log_of_sum(x, y, 2.0)


def _log_of_sum(x: Tensor, y: Tensor, base: float) -> Tensor:
    less = log1p(torch.exp((x - y).abs() * -math.log(base))) / math.log(base)
    return torch.where(x == y, x + math.log(2) / math.log(base), torch.maximum(x, y) + less)


def deg2rad(x: Tensor) -> Tensor:
    return _floating(x) * (math.pi / 180)


def rad2deg(x: Tensor) -> Tensor:
    return _floating(x) * (180 / math.pi)


def sinc(x: Tensor) -> Tensor:
    y = _floating(x) * math.pi
    return torch.where(y == 0, 1.0, torch.sin(y) / y)


def trunc(x: Tensor) -> Tensor:
    return torch.where(x < 0, torch.ceil(x), torch.floor(x)) if x.is_floating_point() else x


def heaviside(x: Tensor, y: Tensor) -> Tensor:
    one = torch.ones_like(x)
    return torch.where(x == 0, y, torch.where(x < 0, one - one, torch.where(x > 0, one, x)))


def isinf(x: Tensor) -> Tensor:
    return x.abs() == math.inf if x.is_floating_point() else torch.zeros_like(x, dtype=torch.bool)


def floor_divide(x: Tensor, y: Any) -> Any:
    """As torch and NumPy do it for floats: the remainder is taken off first, as the quotient alone may be rounded up to a whole number."""
    if not (x.is_floating_point() or (isinstance(y, Tensor) and y.is_floating_point())):
        return NotImplemented
    if not isinstance(y, Tensor):
        y = torch.full_like(x, y)
    rest = torch.fmod(x, y)
    quotient = (x - rest) / y
    quotient = torch.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1, quotient)
    whole = torch.floor(quotient)
    whole = torch.where(quotient - whole > 0.5, whole + 1, whole)
    simple = x / y
    return torch.where(y == 0, simple, torch.where(quotient == 0, with_sign(quotient, is_negative(simple)), whole))


def divide(x: Tensor, y: Any, *, rounding_mode: str | None = None) -> Any:
    return floor_divide(x, y) if rounding_mode == "floor" else NotImplemented


def atan2(y: Tensor, x: Tensor) -> Tensor:
    up, along = y.abs(), x.abs()
    both = up == along  # 0 by 0, and infinity by infinity
    angle = torch.where(both, torch.where(up == 0, up, torch.full_like(up, math.pi / 4)), _atan(up / along))
    return with_sign(torch.where(is_negative(x), math.pi - angle, angle), is_negative(y))


def _atan(x: Tensor) -> Tensor:
    return atan(x) if x.dtype is torch.float64 else torch.atan(x)


def signbit(x: Tensor) -> Tensor:
    return is_negative(x)


def copysign(x: Tensor, y: Any) -> Any:
    if not isinstance(y, Tensor):
        y = torch.full_like(_floating(x), y)
    return with_sign(_floating(x).broadcast_to(torch.broadcast_shapes(x.shape, y.shape)), is_negative(y))


def hypot(x: Tensor, y: Tensor) -> Tensor:
    """Scaled by the larger, so that its square does not overflow; infinite where one is, whatever the other."""
    large, small = torch.maximum(x.abs(), y.abs()), torch.minimum(x.abs(), y.abs())
    made = torch.where(large == 0, large, large * torch.sqrt(1 + torch.square(small / large)))
    return torch.where((x.abs() == math.inf) | (y.abs() == math.inf), torch.full_like(made, math.inf), made)


def fmax(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x != x, y, torch.where(y != y, x, torch.maximum(x, y)))


def fmin(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x != x, y, torch.where(y != y, x, torch.minimum(x, y)))


# Of float64, for which the ONNX runtime has no kernels.


def _of_doubles(form: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Any]:
    return lambda x: form(x) if x.dtype is torch.float64 else NotImplemented


def atan(x: Tensor) -> Tensor:
    """S. L. Moshier's (Cephes): a quotient of polynomials on [0, 0.66], to which the rest is led by angles of pi/4 and pi/2."""
    up = x.abs()
    is_large, is_middle = up > 2.414213562373095, (up > 0.66) & (up <= 2.414213562373095)
    t = torch.where(is_large, -1 / up, torch.where(is_middle, (up - 1) / (up + 1), up))
    z = t * t
    over = (((_P[0] * z + _P[1]) * z + _P[2]) * z + _P[3]) * z + _P[4]
    under = ((((z + _Q[0]) * z + _Q[1]) * z + _Q[2]) * z + _Q[3]) * z + _Q[4]
    small = t * (z * over / under) + t
    zero = torch.zeros_like(x)
    rest = torch.where(is_large, zero + _MORE, torch.where(is_middle, zero + _MORE / 2, zero))
    angle = torch.where(is_large, zero + math.pi / 2, torch.where(is_middle, zero + math.pi / 4, zero))
    return with_sign(angle + (small + rest), is_negative(x))


_P = (-8.750608600031904e-1, -1.6157537187333653e1, -7.500855792314705e1, -1.2288666844901361e2, -6.485021904942025e1)
_Q = (2.4858464901423063e1, 1.65027009831698854e2, 4.328810604912903e2, 4.853903996359137e2, 1.945506571482614e2)
_MORE = 6.123233995736765886130e-17
"""What pi/2 is short of in float64."""


def asin(x: Tensor) -> Tensor:
    return atan(x / torch.sqrt((1 - x) * (1 + x)))


def acos(x: Tensor) -> Tensor:
    return 2 * atan(torch.sqrt((1 - x) / (1 + x)))


def tan(x: Tensor) -> Tensor:
    return torch.sin(x) / torch.cos(x)


def sinh(x: Tensor) -> Tensor:
    less, half = expm1(x.abs()), torch.exp(x.abs() / 2)
    return with_sign(torch.where(x.abs() < 20, (less + less / (less + 1)) / 2, half / 2 * half), is_negative(x))


def cosh(x: Tensor) -> Tensor:
    half = torch.exp(x.abs() / 2)
    return half / 2 * half + 0.5 / half / half


def asinh(x: Tensor) -> Tensor:
    up = x.abs()
    small = log1p(up + up * up / (1 + torch.sqrt(up * up + 1)))
    return with_sign(torch.where(up > 1e150, torch.log(up) + math.log(2), small), is_negative(x))


def acosh(x: Tensor) -> Tensor:
    more = x - 1
    return torch.where(x > 1e150, torch.log(x) + math.log(2), log1p(more + torch.sqrt(more * (x + 1))))


def atanh(x: Tensor) -> Tensor:
    up = x.abs()
    return with_sign(log1p(2 * up / (1 - up)) / 2, is_negative(x))


def power_of_number(x: float, y: Tensor) -> Any:
    return torch.pow(torch.full_like(y, x), y) if y.is_floating_point() else NotImplemented


def mean(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    """The sum by the count: the ONNX runtime's mean of nothing is 0, and torch's ONNX form takes no axes for one that is missing."""
    wide = _floating(x if dtype is None else x.to(dtype))
    half = wide.dtype in (torch.float16, torch.bfloat16)
    axes = list(range(x.ndim)) if dim is None or dim == [] else list(dim)
    count = math.prod(x.shape[axis] for axis in axes)
    made = torch.sum(wide.float() if half else wide, axes, keepdim) / count if axes else wide
    return made.to(wide.dtype)


def any_of(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether one is true: the ONNX runtime's largest of no bools is True."""
    axes = list(range(x.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    found = x.to(torch.bool)
    return torch.sum(found.to(torch.int64), axes, keepdim) > 0 if axes else found


def _floating(x: Tensor) -> Tensor:
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


FORMS: dict[Any, Callable[..., Any]] = {
    aten.log1p.default: log1p,
    aten.expm1.default: expm1,
    aten.log2.default: log2,
    aten.log10.default: log10,
    aten.logaddexp.default: logaddexp,
    aten.logaddexp2.default: logaddexp2,
    aten.deg2rad.default: deg2rad,
    aten.rad2deg.default: rad2deg,
    aten.sinc.default: sinc,
    aten.trunc.default: trunc,
    aten.fix.default: trunc,
    aten.heaviside.default: heaviside,
    aten.isinf.default: isinf,
    aten.floor_divide.default: floor_divide,
    aten.floor_divide.Scalar: floor_divide,
    aten.div.Tensor_mode: divide,
    aten.div.Scalar_mode: divide,
    aten.atan2.default: atan2,
    aten.pow.Scalar: power_of_number,
    aten.signbit.default: signbit,
    aten.copysign.Tensor: copysign,
    aten.copysign.Scalar: copysign,
    aten.hypot.default: hypot,
    aten.fmax.default: fmax,
    aten.fmin.default: fmin,
    aten.atan.default: _of_doubles(atan),
    aten.asin.default: _of_doubles(asin),
    aten.acos.default: _of_doubles(acos),
    aten.tan.default: _of_doubles(tan),
    aten.sinh.default: _of_doubles(sinh),
    aten.cosh.default: _of_doubles(cosh),
    aten.asinh.default: _of_doubles(asinh),
    aten.acosh.default: _of_doubles(acosh),
    aten.atanh.default: _of_doubles(atanh),
    aten.sort.default: sort,
    aten.sort.stable: stable_sort,
    aten.conv1d.default: convolution,
    aten.linalg_det.default: determinant,
    aten.argsort.default: argsort,
    aten.argsort.stable: stable_argsort,
    aten.searchsorted.Tensor: searchsorted,
    aten.bucketize.Tensor: bucketize,
    aten.linalg_inv_ex.default: inverse,
    aten.linalg_solve_ex.default: solution,
    aten.mean.default: mean,
    aten.mean.dim: mean,
    aten.any.default: any_of,
    aten.any.dim: any_of,
    aten.any.dims: any_of,
}
"""Operator -> what it is composed of; NotImplemented where torch's own form is right."""


def translations() -> dict[Any, Callable[..., Any]]:
    """Translations of what makes tensors of Python numbers: torch's own go through float32, whatever the dtype is.

    Raises ImportError where onnxscript is missing."""
    from onnxscript import ir
    from onnxscript import opset18 as opset

    op: Any = opset

    def number(value: Any, dtype: int) -> Any:
        if not isinstance(value, (int, float)):  # a size of the graph
            return value if dtype == -1 else op.Cast(value, to=dtype)
        return op.Constant(value=ir.tensor(value, dtype=ir.DataType(dtype if dtype != -1 else ir.DataType.FLOAT)))

    def scalar_tensor(s: float, dtype: int = -1, layout: str = "", device: str = "", pin_memory: bool = False) -> Any:
        return number(s, dtype)

    def full(size: Any, fill_value: float, dtype: int = -1, layout: str = "", device: str = "", pin_memory: bool = False) -> Any:
        return op.Expand(number(fill_value, dtype), op.Cast(size, to=ir.DataType.INT64))

    def full_like(self: Any, fill_value: float, dtype: int = -1, layout: str = "", device: str = "", pin_memory: bool = False,
                  memory_format: str = "") -> Any:  # fmt: skip
        return op.Expand(number(fill_value, dtype if dtype != -1 else self.dtype), op.Shape(self))

    return {aten.scalar_tensor.default: scalar_tensor, aten.full.default: full, aten.full_like.default: full_like}
