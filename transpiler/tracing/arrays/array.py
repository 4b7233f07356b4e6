"""TracedNpArray: what the traced function holds in place of a NumPy array."""

from __future__ import annotations

import math
import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .. import state
from ..errors import error
from ..sizes.traced import TracedSize
from ..table import PYTHON_VALUES

_UNKNOWN = (
    "a traced array came out of code that the tracer cannot see",
    "copy the array with NumPy first, or split the node around that call",
)


class TracedNpArray(numpy.ndarray):
    """A NumPy array of a trace: shape and dtype are real, the values are not to be had.

    The object is a shell. Its own buffer holds poison (NaN, huge odd integers), so that compiled code which reads the buffer past
    NumPy's dispatch computes nothing plausible. NumPy's values are in `_value`, the torch side in `_storage` and `_tensor`
    (the value at `_version` of the storage); of a view `_origin` tells where it comes from (see views).
    While the storage is a constant, the shell is a view of the values themselves."""

    _np2fx_traced = True
    _value: Any = None
    _storage: Any = None
    _tensor: Any = None
    _version = -1
    _origin: Any = None

    @classmethod
    def make(cls, value: numpy.ndarray[Any, Any], storage: Any, tensor: Any) -> TracedNpArray:
        """The shell of `value`. `tensor` is its torch value now, or None."""
        if storage.value is None and tensor is None:
            self = value.view(cls)
            if storage.origin == "outside":
                numpy.ndarray.setflags(self, write=False)
            storage.shells.append(weakref.ref(self))
        else:
            self = numpy.ndarray.__new__(cls, value.shape, value.dtype, poison(value), 0, (0,) * value.ndim)
        self._value, self._storage, self._tensor, self._version = value, storage, tensor, storage.version
        return self

    def _poison(self) -> None:
        """The array is a constant no longer: let go of the values."""
        self._reset(self._value)

    def _reset(self, value: numpy.ndarray[Any, Any]) -> None:
        """Take the shape and dtype of `value`, with poison for a buffer."""
        contents: Any = (1, value.shape, value.dtype, False, poison(value) * value.size)
        numpy.ndarray.__setstate__(self, contents)
        numpy.ndarray.setflags(self, write=False)

    __class__ = property(lambda self: numpy.ndarray)  # type: ignore[assignment]

    # NumPy's dispatch

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return state.running().ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return state.running().call(func, args, kwargs)

    # Indexing and iteration

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return state.fixed_shape(self)[0]

    def __getitem__(self, key: Any) -> Any:
        return state.running().getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        state.running().setitem(self, key, value)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    @property
    def flat(self) -> Any:
        return FlatIterator(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        FlatIterator(self)[...] = value

    # Attributes that are set

    def _set_shape(self, shape: Any) -> None:
        state.running().reshape_in_place(self, shape)

    shape = property(state.shape, _set_shape)
    size = property(lambda self: math.prod(state.shape(self)))
    nbytes = property(lambda self: math.prod(state.shape(self)) * self.itemsize)
    strides = property(lambda self: state.strides(self))
    base = property(lambda self: state.running().fixed(self, "base"))
    data = property(lambda self: state.running().fixed(self, "data"))
    ctypes = property(lambda self: state.running().fixed(self, "ctypes"))
    flags = property(lambda self: state.flags(self))
    __array_interface__ = property(lambda self: state.running().fixed(self, "__array_interface__"))
    __array_struct__ = property(lambda self: state.running().fixed(self, "__array_struct__"))

    # Leaving the array world

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        return state.running().fixed(self, "__dlpack__")(*args, **kwargs)

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

    def __contains__(self, item: Any) -> bool:
        return item in state.running().leave(self, "data-dependent-branch", "in")

    def __format__(self, spec: str) -> str:
        return format(state.running().leave(self, "python-value", "format"), spec)

    def __str__(self) -> str:
        return str(state.running().leave(self, "python-value", "str")) if state.active() is not None else repr(self)

    def __repr__(self) -> str:
        tracer = state.active()
        if tracer is not None and self._value is not None:
            return repr(tracer.leave(self, "python-value", "repr"))
        return f"<traced array of shape {numpy.ndarray.shape.__get__(self)} and dtype {self.dtype}>"  # type: ignore[attr-defined]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return state.running().leave(self, "python-value", "pickle").__reduce_ex__(protocol)

    def __reduce__(self) -> Any:
        return state.running().leave(self, "python-value", "pickle").__reduce__()

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return state.running().call(numpy.array if copy else numpy.asarray, (self,), {} if dtype is None else {"dtype": dtype})

    def __array_wrap__(self, *args: Any, **kwargs: Any) -> Any:
        raise error("opaque-call", *_UNKNOWN)


class FlatIterator:
    """`x.flat`: the elements in C order, for reading, writing and iterating."""

    def __init__(self, array: TracedNpArray) -> None:
        self.base = array

    def __len__(self) -> int:
        return math.prod(state.fixed_shape(self.base))

    def __iter__(self) -> Iterator[Any]:
        flat = self.base.ravel()
        return (flat[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        found = self.base.ravel()[key]
        return found.copy() if isinstance(found, numpy.ndarray) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        """The value is repeated as often as the key needs it, as NumPy does."""
        base = self.base
        flat = base.flatten()
        size = flat[key].size if isinstance(flat[key], numpy.ndarray) else 1
        if base.dtype == bool and isinstance(value, (list, tuple)) and not isinstance(flat[key], numpy.ndarray):
            value = bool(value)  # a single bool takes the truth of a list
        values = (
            numpy.ravel(value)
            if type(value) is TracedNpArray
            else numpy.asarray(value).ravel()
            if isinstance(value, (list, tuple))
            else value
        )
        if getattr(values, "ndim", 0) and values.size != size:
            values = state.running().call(numpy.resize, (values, size), {})
        flat[key] = values if not isinstance(values, numpy.ndarray) or isinstance(flat[key], numpy.ndarray) else values[0]
        base[...] = flat.reshape(base.shape)

    def __eq__(self, other: Any) -> Any:
        return self.copy() == other

    def __ne__(self, other: Any) -> Any:
        return self.copy() != other

    def __lt__(self, other: Any) -> Any:
        return self.copy() < other

    def __le__(self, other: Any) -> Any:
        return self.copy() <= other

    def __gt__(self, other: Any) -> Any:
        return self.copy() > other

    def __ge__(self, other: Any) -> Any:
        return self.copy() >= other

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise error("opaque-call", "x.flat meets a NumPy function that reads it element by element", "use x.ravel()")

    def copy(self) -> Any:
        """A flat copy of the array."""
        return self.base.flatten()


def poison(value: numpy.ndarray[Any, Any]) -> bytes:
    """One element of nothing plausible in the dtype of `value`: NaN, 0xA5... for integers, a bool that `value` is not all of."""
    dtype = value.dtype
    if dtype.kind in "fc":
        return b"\xff" * dtype.itemsize
    if dtype.kind == "b":
        return bytes([0 if value.size and bool(value.all()) else 1])
    return b"\xa5" * dtype.itemsize


def _operator(ufunc: Any, reflected: bool, inplace: bool) -> Callable[..., Any]:
    def operate(self: Any, other: Any) -> Any:
        if state.defers(self, other):
            return NotImplemented if inplace else _beside_tensor(ufunc, self, other, reflected)
        inputs = (other, self) if reflected else (self, other)
        return state.running().ufunc(ufunc, "__call__", inputs, {"out": (self,)} if inplace else {})

    return operate


def _beside_tensor(ufunc: Any, own: Any, tensor: Any, reflected: bool) -> Any:
    """What torch makes of a tensor and an array or scalar of NumPy's: a tensor. An array on the left has none of it."""
    operate = _OF_TENSORS.get(ufunc.__name__)
    if operate is None or not getattr(type(tensor), "_np2fx_shell", False) or (type(own) is TracedNpArray and not reflected):
        return NotImplemented
    converted = state.running().recorder.shells.tensor_of(own)
    return operate(tensor, converted) if reflected else operate(converted, tensor)


_OF_TENSORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv, "power": operator.pow,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "matmul": operator.matmul, "less": operator.lt, "greater": operator.gt,
    "less_equal": operator.le, "greater_equal": operator.ge,
}  # fmt: skip


def _scalar_power(reflected: bool) -> Callable[..., Any]:
    """`s ** t`, which is not the ufunc where both are scalars."""
    of_array = _operator(numpy.power, reflected, False)

    def operate(self: Any, other: Any, modulus: Any = None) -> Any:
        if type(other) is type(self) or isinstance(other, (int, float, complex, numpy.generic)):
            return state.running().scalar_power(*((other, self) if reflected else (self, other)))
        return of_array(self, other)

    return operate


def _array_power(self: Any, other: Any, modulus: Any = None) -> Any:
    """`x ** n`, which is `numpy.square` for bools and the Python number 2."""
    if self.dtype == bool and isinstance(other, int) and type(other) is not TracedSize and getattr(type(other), "_np2fx_traced", False):
        state.running().leave(other, "data-dependent-branch", "the dtype of bools to the power of it")
    if self.dtype == bool and type(other) in (int, TracedSize) and other == 2:
        return state.running().ufunc(numpy.square, "__call__", (self,), {})
    return _operator(numpy.power, False, False)(self, other)


BINARY = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "truediv": numpy.true_divide,
    "floordiv": numpy.floor_divide,
    "mod": numpy.remainder,
    "divmod": numpy.divmod,
    "pow": numpy.power,
    "matmul": numpy.matmul,
    "lshift": numpy.left_shift,
    "rshift": numpy.right_shift,
    "and": numpy.bitwise_and,
    "or": numpy.bitwise_or,
    "xor": numpy.bitwise_xor,
}
COMPARISONS = {
    "lt": numpy.less,
    "le": numpy.less_equal,
    "gt": numpy.greater,
    "ge": numpy.greater_equal,
    "eq": numpy.equal,
    "ne": numpy.not_equal,
}
UNARY = {"neg": numpy.negative, "pos": numpy.positive, "abs": numpy.absolute, "invert": numpy.invert}


def add_operators(cls: type, inplace: bool) -> None:
    """Python's operators as NumPy's ufuncs."""
    for name, ufunc in BINARY.items():
        setattr(cls, f"__{name}__", _operator(ufunc, False, False))
        setattr(cls, f"__r{name}__", _operator(ufunc, True, False))
        if inplace and name != "divmod":
            setattr(cls, f"__i{name}__", _operator(ufunc, False, True))
    for name, ufunc in COMPARISONS.items():
        setattr(cls, f"__{name}__", _operator(ufunc, False, False))
    for name, ufunc in UNARY.items():
        setattr(cls, f"__{name}__", lambda self, ufunc=ufunc: state.running().ufunc(ufunc, "__call__", (self,), {}))
    if inplace:
        cls.__hash__ = None  # type: ignore[assignment]
        setattr(cls, "__pow__", _array_power)  # noqa: B010
    else:
        setattr(cls, "__pow__", _scalar_power(False))  # noqa: B010
        setattr(cls, "__rpow__", _scalar_power(True))  # noqa: B010
        setattr(cls, "__hash__", lambda self: hash(state.running().leave(self, "python-value", "hash")))  # noqa: B010


def add_methods(cls: type, kind: type) -> None:
    """The methods and attributes of NumPy's `kind` that `cls` does not have of its own."""
    own = {name for base in cls.__mro__[: cls.__mro__.index(numpy.ndarray) if numpy.ndarray in cls.__mro__ else -1] for name in vars(base)}
    known = {"dtype", "ndim", "size", "itemsize", "nbytes", "shape", "device"}
    for name in dir(kind):
        if name.startswith("__") or name in own or name in known:
            continue
        if callable(getattr(kind, name)):
            setattr(cls, name, _method(name))
        else:
            setattr(cls, name, _attribute(name))


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return state.running().method(self, name, args, kwargs)

    if name in PYTHON_VALUES:

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if name in ("item", "tolist") and not kwargs:
                from .number import python_values

                return python_values(self, name, args)
            return getattr(state.running().leave(self, "python-value", f".{name}()"), name)(*args, **kwargs)

    method.__name__ = name
    return method


def _attribute(name: str) -> property:
    def read(self: Any) -> Any:
        return state.running().attribute(self, name)

    def write(self: Any, value: Any) -> None:
        if name not in ("real", "imag"):
            raise error("mutation", f"setting .{name} of an array", "make a new array instead")
        read(self)[...] = value

    return property(read, write)


add_operators(TracedNpArray, inplace=True)
add_methods(TracedNpArray, numpy.ndarray)
