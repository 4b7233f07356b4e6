"""Python's operators on arrays, made from its data model: which ufunc each is, and where torch's own operator is NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy
import torch

from ..semantics.arrays import check_writable, stands_for
from ..semantics.table import Refused
from .world import stops_at_errors

_FLOATS = frozenset((torch.float32, torch.float64))
_INTS = frozenset((torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8))
_BITS = _INTS | {torch.bool}

BINARY: dict[str, tuple[str, Callable[..., Any], frozenset[torch.dtype]]] = {
    "add": ("add", operator.add, _FLOATS | _INTS),
    "sub": ("subtract", operator.sub, _FLOATS | _INTS),
    "mul": ("multiply", operator.mul, _FLOATS | _INTS),
    "truediv": ("divide", operator.truediv, _FLOATS),
    "floordiv": ("floor_divide", operator.floordiv, frozenset()),
    "mod": ("remainder", operator.mod, frozenset()),
    "divmod": ("divmod", divmod, frozenset()),
    "pow": ("power", operator.pow, frozenset()),
    "matmul": ("matmul", operator.matmul, frozenset()),
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
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _weak(x: Any, dtype: torch.dtype) -> bool:
    return (type(x) is float or type(x) is int) and stands_for(x, dtype)


def _number(x: Any, dtype: torch.dtype) -> Any:
    """NumPy's scalar of a float dtype as Python's number, which means the same beside an array of that dtype."""
    return x.item() if _SCALARS.get(type(x)) is dtype else x


_SCALARS: dict[type, torch.dtype] = {numpy.float64: torch.float64, numpy.float32: torch.float32}


def binary(name: str, ufunc: str, python: Callable[..., Any], plain: frozenset[torch.dtype]) -> Callable[[Any, Any], Any]:
    """`__add__` and its kin."""

    def method(self: Any, other: Any) -> Any:
        a = self._tensor
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
        a = self._tensor
        if a.dtype in plain and not self._flipped and a.ndim and _weak(other, a.dtype) and all(a.stride()) and not stops_at_errors():
            return self._of(python(other, a))
        if leaves_it(self, other):
            return NotImplemented
        return compute(ufunc, other, self)

    method.__name__ = f"__r{name}__"
    return method


def in_place(name: str, ufunc: str, python: Callable[..., Any], plain: frozenset[torch.dtype]) -> Callable[[Any, Any], Any]:
    """`__iadd__` and its kin: the array stays the object it was."""
    update = getattr(operator, f"i{python.__name__.strip('_')}", None)

    def method(self: Any, other: Any) -> Any:
        a = self._tensor
        if update is not None and a.dtype in plain and not self._flipped and not stops_at_errors():
            b = other._tensor if type(other) is type(self) and not other._flipped else _number(other, a.dtype)
            if _weak(b, a.dtype) or (isinstance(b, torch.Tensor) and b.dtype is a.dtype and b.shape == a.shape and not _meets(a, b)):
                check_writable(a)
                if all(a.stride()) or not a.ndim:
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
    if a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr():
        return False
    return a.data_ptr() != b.data_ptr() or a.stride() != b.stride()


def unary(name: str, ufunc: str) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return compute(ufunc, self)

    method.__name__ = f"__{name}__"
    return method


def compute(ufunc: str, *operands: Any, **kwargs: Any) -> Any:
    """The ufunc that an operator is."""
    from .ufuncs import of

    if ufunc == "power" and "out" not in kwargs:
        from ..powers import raised
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
    for name, ufunc in UNARY.items():
        setattr(kind, f"__{name}__", unary(name, ufunc))


def install(kind: type) -> None:
    """Give the array all of them."""
    for name, parts in BINARY.items():
        setattr(kind, f"__{name}__", binary(name, *parts))
        setattr(kind, f"__r{name}__", reflected(name, *parts))
        if name != "divmod":
            setattr(kind, f"__i{name}__", in_place(name, *parts))
    for name, parts in COMPARISONS.items():
        setattr(kind, f"__{name}__", binary(name, *parts))
    for name, ufunc in UNARY.items():
        setattr(kind, f"__{name}__", unary(name, ufunc))
