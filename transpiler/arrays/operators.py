"""Python's operators on arrays, made from its data model: which ufunc each is, and where torch's own operator is NumPy's."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import numpy
import torch

from ..semantics.arrays import check_writable, stands_for
from ..semantics.table import Refused
from .memory import apart, is_spread
from .world import KINDS, stops_at_errors

_FLOATS = frozenset((torch.float32, torch.float64))
_INTS = frozenset((torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8))
_BITS = _INTS | {torch.bool}



def _squared(a: Any, b: Any) -> torch.Tensor:
    """`a ** 2`, the power in which torch's and NumPy's are the same product."""
    if not isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor) or b != 2:
        raise RuntimeError
    return torch.square(a)


def _product(a: Any, b: Any) -> torch.Tensor:
    """`a @ b` of two matrices, or a matrix and a vector."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or a.ndim + b.ndim not in (3, 4) or a.ndim > 2 or b.ndim > 2:
        raise RuntimeError
    return torch.matmul(a, b)


BINARY: dict[str, tuple[str, Callable[..., Any], frozenset[torch.dtype]]] = {
    "add": ("add", operator.add, _FLOATS | _INTS),
    "sub": ("subtract", operator.sub, _FLOATS | _INTS),
    "mul": ("multiply", operator.mul, _FLOATS | _INTS),
    "truediv": ("divide", operator.truediv, _FLOATS),
    "floordiv": ("floor_divide", operator.floordiv, frozenset()),
    "mod": ("remainder", operator.mod, frozenset()),
    "divmod": ("divmod", divmod, frozenset()),
    "pow": ("power", _squared, _FLOATS),
    "matmul": ("matmul", _product, _FLOATS),
    "and": ("bitwise_and", operator.and_, _BITS),
    "or": ("bitwise_or", operator.or_, _BITS),
    "xor": ("bitwise_xor", operator.xor, _BITS),
    "lshift": ("left_shift", operator.lshift, frozenset()),
    "rshift": ("right_shift", operator.rshift, frozenset()),
}
"""By the name of Python's method: the ufunc, Python's operator, and the dtypes in which torch's operator between two arrays of the dtype
(or an array and a Python number that the dtype holds) is NumPy's."""
COMPARISONS: dict[str, tuple[str, Callable[..., Any], frozenset[torch.dtype]]] = {
    "lt": ("less", operator.lt, _FLOATS | _INTS),
    "le": ("less_equal", operator.le, _FLOATS | _INTS),
    "gt": ("greater", operator.gt, _FLOATS | _INTS),
    "ge": ("greater_equal", operator.ge, _FLOATS | _INTS),
    "eq": ("equal", operator.eq, _FLOATS | _INTS),
    "ne": ("not_equal", operator.ne, _FLOATS | _INTS),
}
UNARY: dict[str, tuple[str, Callable[..., Any], frozenset[torch.dtype]]] = {
    "neg": ("negative", torch.neg, _FLOATS | _INTS),
    "pos": ("positive", torch.clone, frozenset()),
    "abs": ("absolute", torch.abs, _FLOATS | _INTS),
    "invert": ("invert", torch.bitwise_not, _BITS),
}


OF_UFUNC = {ufunc: (python, plain) for ufunc, python, plain in (BINARY | COMPARISONS).values()}


_MOST = torch.finfo(torch.float32).max
_WIDE = frozenset((torch.float32, torch.float64, torch.int32, torch.int64))


def _weak(x: Any, dtype: torch.dtype) -> bool:
    if type(x) is float:
        if dtype is torch.float64 or (dtype is torch.float32 and -_MOST <= x <= _MOST):
            return True
    elif type(x) is int and dtype in _WIDE and -(2**31) <= x < 2**31:
        return True
    return (type(x) is float or type(x) is int) and stands_for(x, dtype)


def binary(name: str, ufunc: str, python: Callable[..., Any], plain: frozenset[torch.dtype]) -> Callable[[Any, Any], Any]:
    """`__add__` and its kin."""

    def method(self: Any, other: Any) -> Any:
        a = self._tensor
        if KINDS.get(type(other)) is a.dtype:
            other = other.item()  # a scalar of the array's own dtype
        if a.dtype in plain and not self._flipped and a.ndim and not stops_at_errors():
            b = other._tensor if type(other) is type(self) and not other._flipped else other
            if (b.dtype is a.dtype and in_one_order(a, b)) if isinstance(b, torch.Tensor) else _weak(b, a.dtype) and all(a.stride()):
                try:
                    return self._of(python(a, b))
                except RuntimeError:
                    pass  # shapes that do not broadcast: NumPy's error comes below
        if leaves_it(self, other):
            return NotImplemented
        return compute(ufunc, self, other)

    method.__name__ = f"__{name}__"
    return method


def reflected(name: str, ufunc: str, python: Callable[..., Any], plain: frozenset[torch.dtype]) -> Callable[[Any, Any], Any]:
    """`__radd__` and its kin."""

    def method(self: Any, other: Any) -> Any:
        if KINDS.get(type(other)) is self._tensor.dtype:
            other = other.item()  # a scalar of the array's own dtype
        found = number_first(python, plain, other, self)
        if found is not None:
            return found
        return NotImplemented if leaves_it(self, other) else compute(ufunc, other, self)

    method.__name__ = f"__r{name}__"
    return method


def number_first(python: Callable[..., Any], plain: frozenset[torch.dtype], number: Any, array: Any) -> Any:
    """The operator between a Python number and an array, where torch's is NumPy's; None elsewhere."""
    a = array._tensor
    if a.dtype in plain and not array._flipped and a.ndim and _weak(number, a.dtype) and all(a.stride()) and not stops_at_errors():
        with contextlib.suppress(RuntimeError):
            return array._of(python(number, a))
    return None


def in_place(name: str, ufunc: str, python: Callable[..., Any], plain: frozenset[torch.dtype]) -> Callable[[Any, Any], Any]:
    """`__iadd__` and its kin: the array stays the object it was."""
    update = getattr(operator, f"i{python.__name__.strip('_')}", None)

    def method(self: Any, other: Any) -> Any:
        a = self._tensor
        if KINDS.get(type(other)) is a.dtype:
            other = other.item()  # a scalar of the array's own dtype
        if update is not None and a.dtype in plain and not self._flipped and not stops_at_errors():
            b = other._tensor if type(other) is type(self) and not other._flipped else other
            if _weak(b, a.dtype) or (isinstance(b, torch.Tensor) and b.dtype is a.dtype and b.shape == a.shape and not _meets(a, b)):
                check_writable(a)
                if is_spread(a):
                    update(a, b)
                    return self
        if leaves_it(self, other):
            return NotImplemented
        if ufunc == "matmul":
            return _times_matrix(self, other)
        compute(ufunc, self, other, out=self)
        return self

    method.__name__ = f"__i{name}__"
    return method


def _times_matrix(self: Any, other: Any) -> Any:
    """`self @= other`: which operands it takes is NumPy's to say. With a gradient two matrices are taken."""
    from .passing import by_numpy

    try:
        return by_numpy(operator.imatmul, (self, other), {})
    except Refused:
        if self.ndim < 2 or getattr(other, "ndim", 0) < 2:
            raise
    self[...] = compute("matmul", self, other)
    return self


def in_one_order(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether torch lays out in memory what it makes of two tensors as NumPy does: where they differ, C order wins there."""
    return (a.is_contiguous() and b.is_contiguous()) or (a.stride() == b.stride() and a.shape == b.shape and all(a.stride()))


def _meets(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors lie on one memory otherwise than element on element."""
    if apart(a, b):
        return False
    return a.data_ptr() != b.data_ptr() or a.stride() != b.stride()


def unary(name: str, ufunc: str, torchs: Callable[..., Any], plain: frozenset[torch.dtype]) -> Callable[[Any], Any]:
    """`__neg__` and its kin."""

    def method(self: Any) -> Any:
        a = self._tensor
        if a.dtype in plain and a.ndim and not self._flipped and all(a.stride()) and not stops_at_errors():
            return self._of(torchs(a))
        return compute(ufunc, self)

    method.__name__ = f"__{name}__"
    return method


def compute(ufunc: str, *operands: Any, **kwargs: Any) -> Any:
    """The ufunc that an operator is."""
    from .ufuncs import of

    if ufunc == "power" and "out" not in kwargs:
        from ..support.powers import raised
        from .passing import through

        return through(raised, operands, {}, operator.pow)
    if ufunc in ("equal", "not_equal") and any(isinstance(o, (str, bytes)) for o in operands):
        array = next(o for o in operands if not isinstance(o, (str, bytes)))
        return of("logical_and")(array != array, False) if ufunc == "equal" else of("logical_or")(array == array, True)
    return of(ufunc)(*operands, **kwargs)


def leaves_it(self: Any, other: Any) -> bool:
    """Whether the operator is the other operand's: an object that says so, or that NumPy would make nothing of."""
    kind = type(other)
    if kind in (int, float, complex, bool, list, tuple, type(self), numpy.ndarray) or isinstance(other, (numpy.generic, torch.Tensor)):
        return False
    if getattr(kind, "__array_ufunc__", ()) is None:
        return True
    return not hasattr(kind, "__array_ufunc__") and getattr(other, "__array_priority__", -1e9) > self.__array_priority__


def install_on_scalars(kind: type) -> None:
    """Give the scalars that keep a tensor theirs."""
    for name, (ufunc, _, _) in (BINARY | COMPARISONS).items():
        setattr(kind, f"__{name}__", lambda self, other, ufunc=ufunc: compute(ufunc, self, other))
        if name in BINARY:
            setattr(kind, f"__r{name}__", lambda self, other, ufunc=ufunc: compute(ufunc, other, self))
    for name, (ufunc, _, _) in UNARY.items():
        setattr(kind, f"__{name}__", lambda self, ufunc=ufunc: compute(ufunc, self))


def install(kind: type) -> None:
    """Give the array all of them."""
    for name, parts in BINARY.items():
        setattr(kind, f"__{name}__", binary(name, *parts))
        setattr(kind, f"__r{name}__", reflected(name, *parts))
        if name != "divmod":
            setattr(kind, f"__i{name}__", in_place(name, *parts))
    for name, parts in COMPARISONS.items():
        setattr(kind, f"__{name}__", binary(name, *parts))
    for name, parts in UNARY.items():
        setattr(kind, f"__{name}__", unary(name, *parts))
