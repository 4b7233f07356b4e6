"""TracedScalar: what the traced function holds in place of a NumPy scalar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from .. import state
from .array import add_methods, add_operators

MIXED = "mixed"


class TracedScalar:
    """A NumPy scalar of a trace (`x[0]`, `x.sum()`): immutable, with the operators and methods of `numpy.float64` and its like.

    It calls itself an instance of that class, but is none: compiled code cannot read a value out of it. NumPy's value is in
    `_value`, the 0-d torch tensor in `_tensor`. `_weak` marks a value that may also be a Python number, as `min(x.min(), 0.5)` is; MIXED
    one that may be an int, too, as `max(0, x[0])`."""

    __slots__ = ("__weakref__", "_tensor", "_value", "_weak")
    _np2fx_traced = True
    __array_priority__ = -1000000.0

    def __init__(self, value: Any, tensor: Any, weak: bool | str = False) -> None:
        self._value, self._tensor, self._weak = value, tensor, weak

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # type: ignore[override]
        return state.class_of(self)

    dtype = property(lambda self: self._value.dtype)
    shape = property(lambda self: ())
    ndim = property(lambda self: 0)
    size = property(lambda self: 1)
    itemsize = property(lambda self: self._value.itemsize)
    nbytes = property(lambda self: self._value.nbytes)
    strides = property(lambda self: ())
    base = property(lambda self: None)
    device = property(lambda self: "cpu")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return state.running().ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return state.running().call(func, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return state.running().getitem(self, key)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"'{type(self._value).__module__}.{type(self._value).__name__}' object is not iterable")

    def __bool__(self) -> bool:
        return state.running().truth(self)

    def __float__(self) -> float:
        return float(state.running().leave(self, "python-value", "float"))

    def __int__(self) -> int:
        return int(state.running().leave(self, "python-value", "int"))

    def __complex__(self) -> complex:
        return complex(state.running().leave(self, "python-value", "complex"))

    def __index__(self) -> int:
        return state.running().leave(self, "python-value", "an index").__index__()

    def __trunc__(self) -> Any:
        from .number import convert

        return convert(self, int)

    def __round__(self, ndigits: Any = None) -> Any:
        from .number import rounded

        if ndigits is None and self.dtype.kind != "c":
            return rounded(self, "round")
        return state.running().method(self, "round", () if ndigits is None else (ndigits,), {})

    def __format__(self, spec: str) -> str:
        return format(state.running().leave(self, "python-value", "format"), spec)

    def __str__(self) -> str:
        return str(state.running().leave(self, "python-value", "str")) if state.active() is not None else repr(self)

    def __repr__(self) -> str:
        tracer = state.active()
        return f"<traced {self._value.dtype} scalar>" if tracer is None else repr(tracer.leave(self, "python-value", "repr"))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return state.running().leave(self, "python-value", "pickle").__reduce_ex__(protocol)

    def __copy__(self) -> TracedScalar:
        return self

    def __deepcopy__(self, memo: Any) -> TracedScalar:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return state.running().leave(self, "opaque-call", "an array made outside of NumPy's dispatch")


add_operators(TracedScalar, inplace=False)
add_methods(TracedScalar, numpy.float64)


def _is_integer(self: TracedScalar) -> Any:
    from .number import convert

    if self.dtype.kind != "f":
        return self._value.is_integer()  # an int is one whatever its value; what has no such method says so
    return convert(self, float).is_integer()


def _bit_count(self: TracedScalar) -> Any:
    from .number import convert

    if self.dtype.kind not in "iu":
        raise AttributeError(f"{type(self._value).__name__!r} object has no attribute 'bit_count'")
    return convert(numpy.bitwise_count(self), int)


TracedScalar.is_integer = _is_integer  # type: ignore[attr-defined]
TracedScalar.bit_count = _bit_count  # type: ignore[attr-defined]
