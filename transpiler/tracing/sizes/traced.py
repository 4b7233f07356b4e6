"""TracedSize: what the traced function, and the rules, hold in place of an int that hangs on the sizes of the
inputs (`len(x)`, `x.size // 2`).

It is a Python int to whoever asks, and a node where torch is given it: the graph asks its own arrays for their sizes. Whatever Python does
with it that hangs on its value leaves a guard: a comparison that relation, everything else (a loop's count, an index, a key of a dict)
that it is what it is. Nothing is refused for a size.

It is a SymInt to torch, so that torch's functions take it as it is; the recorder gives them the number.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ...semantics.arrays import python_number
from .. import state
from . import extents

if TYPE_CHECKING:
    from .measuring import Measuring


class TracedSize(torch.SymInt):
    """An int of a trace. `_value` is Python's own, `_extent` says it with the sizes of the inputs, `_source` is
    what the graph computes it from: a node and an axis, or an operator and its operands."""

    _np2fx_traced = True
    __array_priority__ = -1000000.0
    mixed: Callable[[str, Any, Any], Any]
    """An operator of a size and what is no int, in the traced function (see number)."""

    def __init__(self, recorder: Measuring, value: int, extent: extents.Extent, source: tuple[Any, ...]) -> None:
        self._recorder, self._value, self._extent, self._source = recorder, value, extent, source
        recorder.issued.append(self)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # type: ignore[override]
        return int

    def pinned(self) -> int:
        """Python's own int: the graph holds for this size alone from here on."""
        self._recorder.pin(self._extent, self._value)
        return self._value

    # What Python asks

    def __index__(self) -> int:
        return self.pinned()

    __int__ = __hash__ = __index__

    def __float__(self) -> float:
        return float(self.pinned())

    def __complex__(self) -> complex:
        return complex(self.pinned())

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pinned() if hasattr(int, name) else 0, name)

    def __repr__(self) -> str:
        return repr(self._value if state.active() is None else self.pinned())

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self._value if state.active() is None else self.pinned(), spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.pinned().__reduce_ex__(protocol)

    def __copy__(self) -> TracedSize:
        return self

    def __deepcopy__(self, memo: Any) -> TracedSize:
        return self

    # What an int has

    def _itself(self, *_: Any) -> Any:
        return self

    __pos__ = __trunc__ = __floor__ = __ceil__ = conjugate = __sym_int__ = _itself
    real = numerator = property(_itself)
    imag = property(lambda self: 0)
    denominator = property(lambda self: 1)

    def is_integer(self) -> bool:
        return True

    def bit_length(self) -> int:
        return self.pinned().bit_length()

    def as_integer_ratio(self) -> Any:
        return self.pinned(), 1

    def __round__(self, ndigits: Any = None) -> Any:
        return self if ndigits is None else round(self.pinned(), ndigits)

    def __neg__(self) -> Any:
        return 0 - self

    def __invert__(self) -> Any:
        return -1 - self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __divmod__(self, other: Any) -> Any:
        return (self // other, self % other) if _is_int(other) else _with_other("divmod", self, other, False)

    def __rdivmod__(self, other: Any) -> Any:
        return (other // self, other % self) if _is_int(other) else _with_other("divmod", self, other, True)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return pow(self.pinned(), other, modulus)
        if type(other) is int and other >= 0:
            return _operated(operator.pow, extents.power, self, other)
        return _with_other("pow", self, other, False)

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return _with_other("pow", self, other, True)

    def __truediv__(self, other: Any) -> Any:
        return _with_other("truediv", self, other, False)

    def __rtruediv__(self, other: Any) -> Any:
        return _with_other("truediv", self, other, True)

    def __lshift__(self, other: Any) -> Any:
        return self * 2**other if type(other) is int and other >= 0 else _with_other("lshift", self, other, False)

    def __rshift__(self, other: Any) -> Any:
        return self // 2**other if type(other) is int and other >= 0 else _with_other("rshift", self, other, False)

    def __and__(self, other: Any) -> Any:
        is_mask = type(other) is int and other > 0 and other & (other + 1) == 0
        return self % (other + 1) if is_mask else _with_other("and", self, other, False)

    # Among arrays

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        if tracer is not None:
            return tracer.ufunc(ufunc, method, inputs, kwargs)
        return getattr(ufunc, method)(*(x.pinned() if type(x) is TracedSize else x for x in inputs), **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.asarray(self.pinned(), dtype)

    def number(self, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """A 0-d tensor that the graph makes of it."""
        return torch.scalar_tensor(self, dtype=dtype)  # type: ignore[arg-type]


def _is_int(x: Any) -> bool:
    return type(x) in (int, bool, TracedSize)


def value_of(x: Any) -> Any:
    """Python's int of a size; everything else is itself."""
    return x._value if type(x) is TracedSize else x


def extent_of(x: Any) -> extents.Extent:
    """The extent of an int or a size."""
    return x._extent if type(x) is TracedSize else int(x)


def plain(x: Any) -> Any:
    """Arguments with Python's ints for sizes, in lists, tuples, dicts and slices too."""
    kind = type(x)
    if kind is TracedSize:
        return x._value
    if kind in (list, tuple, torch.Size):
        return [plain(i) for i in x] if kind is list else tuple([plain(i) for i in x])
    if kind is dict:
        return {k: plain(v) for k, v in x.items()}
    return slice(plain(x.start), plain(x.stop), plain(x.step)) if kind is slice else x


def pinned(x: Any) -> Any:
    """The same, with a guard for each of them."""
    kind = type(x)
    if kind is TracedSize:
        return x.pinned()
    if kind in (list, tuple, torch.Size):
        return [pinned(i) for i in x] if kind is list else tuple([pinned(i) for i in x])
    if kind is dict:
        return {k: pinned(v) for k, v in x.items()}
    return slice(pinned(x.start), pinned(x.stop), pinned(x.step)) if kind is slice else x


def holds_size(x: Any) -> bool:
    """Whether there is a size in lists, tuples, dicts and slices."""
    return any(type(i) is TracedSize for i in state.leaves(x))


# Operators


def _operated(function: Callable[[Any, Any], Any], extent: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """An operator of two ints, of which one is a size. An int where that is what it is for all sizes."""
    recorder = (a if type(a) is TracedSize else b)._recorder
    value, made = function(value_of(a), value_of(b)), extent(extent_of(a), extent_of(b))
    return value if type(made) is int else TracedSize(recorder, value, made, (function, a, b))


def _with_other(name: str, size: TracedSize, other: Any, reflected: bool) -> Any:
    """An operator of a size and what is no int, or one that the graph does not have for sizes."""
    if isinstance(other, torch.Tensor):
        return NotImplemented
    a, b = (other, size) if reflected else (size, other)
    function = divmod if name == "divmod" else getattr(operator, f"{name}_" if name in ("and", "or") else name)
    if _is_int(other) and name != "truediv":
        return function(pinned(a), pinned(b))
    if state.active() is not None:
        return TracedSize.mixed(name, a, b)
    if isinstance(other, (numpy.generic, numpy.ndarray)) or size._recorder.users:
        return function(pinned(a), pinned(b))
    if not isinstance(other, (int, float, complex)):
        return NotImplemented
    made: list[Any] = [python_number(x.number(torch.float64), float) if type(x) is TracedSize else x for x in (a, b)]  # a rule is at work
    return python_number(function(*made), complex if isinstance(other, complex) else float)


def _add_operator(name: str, function: Callable[[Any, Any], Any], extent: Callable[[Any, Any], Any]) -> None:
    def operate(self: Any, other: Any) -> Any:
        return _operated(function, extent, self, other) if _is_int(other) else _with_other(name, self, other, False)

    def reflected(self: Any, other: Any) -> Any:
        return _operated(function, extent, other, self) if _is_int(other) else _with_other(name, self, other, True)

    setattr(TracedSize, f"__{name}__", operate)
    setattr(TracedSize, f"__r{name}__", reflected)


for _name, _function, _extent in (
    ("add", operator.add, extents.add), ("sub", operator.sub, lambda a, b: extents.add(a, b, -1)), ("mul", operator.mul, extents.mul),
    ("floordiv", operator.floordiv, extents.floordiv), ("mod", operator.mod, extents.mod),
):  # fmt: skip
    _add_operator(_name, _function, _extent)


def _add_left_out(name: str) -> None:
    """What an int has on the right as well."""
    setattr(TracedSize, f"__r{name}__", lambda self, other: _with_other(name, self, other, True))


for _name in ("lshift", "rshift", "and"):
    _add_left_out(_name)
for _name in ("or", "xor"):
    setattr(TracedSize, f"__{_name}__", lambda self, other, name=_name: _with_other(name, self, other, False))
    _add_left_out(_name)


_REFLECTED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def _add_comparison(name: str) -> None:
    function = getattr(operator, name)

    def compare(self: Any, other: Any) -> Any:
        if type(other) is float:
            if not math.isfinite(other) or (name in ("eq", "ne") and not other.is_integer()):
                return function(self._value, other)
            other = math.ceil(other) if name in ("ge", "lt") else math.floor(other)
        if not _is_int(other):
            if other is None or isinstance(other, (str, torch.Tensor, tuple, list)):
                return NotImplemented
            return TracedSize.mixed(name, self, other) if state.active() is not None else function(self.pinned(), other)
        truth = function(self._value, value_of(other))
        self._recorder.compared(name, self._extent, extent_of(other), truth)
        return truth

    setattr(TracedSize, f"__{name}__", compare)


for _name in _REFLECTED:
    _add_comparison(_name)


# After the trace


class KeptSize:
    """What becomes of a size when its trace is over and something still holds it: an int to whoever asks."""

    _value: int

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # type: ignore[override]
        return int

    def __index__(self) -> int:
        return self._value

    __int__ = __trunc__ = __floor__ = __ceil__ = __round__ = __index__

    def __hash__(self) -> int:
        return hash(self._value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)


def _delegated(name: str) -> Callable[..., Any]:
    return lambda self, *args: getattr(self._value, name)(*(getattr(x, "_value", x) if type(x) is KeptSize else x for x in args))


for _name in dir(int):
    if callable(getattr(int, _name)) and _name.startswith("__") and _name not in vars(KeptSize) and _name not in vars(object):
        setattr(KeptSize, _name, _delegated(_name))
for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__str__", "__format__", "__reduce_ex__"):
    setattr(KeptSize, _name, _delegated(_name))


def release(sizes: list[TracedSize]) -> None:
    """The trace is over: what something still holds of these are ints."""
    for x in sizes:
        value = x._value
        vars(x).clear()
        vars(x)["_value"] = value
        object.__dict__["__class__"].__set__(x, KeptSize)
    sizes.clear()
