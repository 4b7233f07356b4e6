"""`ndarray`: NumPy's array object on a torch tensor."""

from __future__ import annotations

import contextlib
import copy as _copy
import math
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy
import torch

from .. import rules
from ..semantics.arrays import flip, is_read_only, read_only, stands_for, zero_d_array
from ..semantics.dtypes import to_numpy
from ..semantics.table import Refused
from . import buffers, methods, operators, passing
from .flat import flatiter
from .memory import apart, as_key, from_memory, is_host, is_spread, seen_by_numpy, turned, values_of
from .passing import in_torch, lowered, through
from .scalars import element
from .world import KINDS

_HELD = "?bhilBHILefdFD"
"""The type codes of what torch holds, and gives back as the same dtype."""


class _Type(type):
    """isinstance(x, ndarray) holds for NumPy's own arrays too, as code that asks it expects."""

    def __instancecheck__(cls, x: Any) -> bool:
        return issubclass(type(x), (cls, numpy.ndarray))


class ndarray(metaclass=_Type):  # noqa: N801 - NumPy's name
    """NumPy's array on a torch tensor.

    It is called like `numpy.ndarray`; most are made by functions (`numpy.array`) or of a tensor, whose memory they share
    (`ndarray.of(tensor)`).
    Gradients and devices are those of the tensor, `.tensor`.

    `isinstance(x, numpy.ndarray)` is true of it. NumPy's and torch's own functions take it, by their protocols; compiled code that asks
    for an array gets one on the same memory."""

    __slots__ = ("__weakref__", "_base", "_flipped", "_tensor")

    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 100.0
    __class_getitem__: Any = classmethod(types.GenericAlias)

    _tensor: torch.Tensor
    _flipped: tuple[int, ...]
    _base: Any

    def __new__(cls, shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None) -> Any:
        return cls._seen(numpy.ndarray(shape, dtype, buffer, offset, strides, order))

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Any:
        """The array on a tensor's memory; of a 0-d tensor a 0-d array."""
        whole = tensor._base if is_host(tensor) else None
        return cls._of(zero_d_array(tensor[...]), (), None if whole is None else cls._of(zero_d_array(whole.detach())))

    @classmethod
    def _of(cls, tensor: torch.Tensor, flipped: tuple[int, ...] = (), base: Any = None) -> Any:
        """The array on a tensor's memory; `flipped` axes run backwards."""
        made = object.__new__(cls)
        made._tensor, made._flipped, made._base = tensor, flipped, base
        return made

    @classmethod
    def _seen(cls, array: Any, base: Any = None) -> Any:
        """The array on the memory of NumPy's; its scalars, and arrays on which no tensor can lie, as they are."""
        if type(array) is not numpy.ndarray or array.dtype.char not in _HELD or not array.dtype.isnative:
            return array
        try:
            tensor, flipped = from_memory(array)
        except Refused:
            return array
        return cls._of(tensor, flipped, array.base if base is None else base)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return numpy.ndarray

    # The tensor

    @property
    def tensor(self) -> torch.Tensor:
        """The tensor: on the array's own memory unless that runs backwards."""
        return turned(self._tensor, self._flipped)

    def _write(self, values: torch.Tensor) -> None:
        """All elements, written into the memory."""
        self._tensor.copy_(flip(values, self._flipped) if self._flipped else values)

    def _keep(self, tensor: torch.Tensor) -> None:
        """What was written into the tensor that stood for this array."""
        if self._flipped and tensor is not self._tensor:
            self._write(tensor)

    def _numpy(self) -> numpy.ndarray[Any, Any]:
        """NumPy's array on the same memory. Raises Refused where NumPy cannot look at it."""
        return seen_by_numpy(self._tensor, self._flipped)

    def _held(self) -> numpy.ndarray[Any, Any]:
        """The values as NumPy's array."""
        return self._numpy() if is_host(self._tensor) else numpy.flip(values_of(self._tensor), self._flipped)

    # Items

    def __getitem__(self, key: Any) -> Any:
        if not self._flipped and methods.is_place(key, self._tensor.ndim) and is_host(self._tensor):
            with contextlib.suppress(RuntimeError):  # a conjugate whose memory holds other numbers
                return self._tensor.numpy()[key]
        if not self._flipped and methods.is_plain(key) and self._tensor.ndim and not is_read_only(self._tensor):
            try:
                found = self._tensor[key]
            except IndexError:
                found = None  # NumPy's words come below
            if found is not None:
                return self._of(found, (), self if self._base is None else self._base) if found.ndim else element(found)
        key = as_key(key)
        turns = self._flipped or methods.turns(key)
        if (turns or self._picks(key)) and is_host(self._tensor):
            return methods.looked_at(self, numpy.ndarray.__getitem__, (key,))
        return through(rules.lookup("numpy.ndarray.__getitem__").call, (self, key), {}, numpy.ndarray.__getitem__)

    @staticmethod
    def _picks(key: Any) -> bool:
        """Whether a key is an array of places or a mask that NumPy can look at: what it picks are copies, so that NumPy may do it."""
        return type(key) is ndarray and key._tensor.ndim > 0 and is_host(key._tensor) and not torch._C._len_torch_dispatch_stack()

    def __setitem__(self, key: Any, value: Any) -> None:
        place, key = self, as_key(key)
        if type(value) is ndarray and value._flipped and not apart(self._tensor, value._tensor):
            if not is_host(self._tensor):
                raise Refused("values of the array itself, reversed: NumPy reads what it has written", "copy the values first", "aliasing")
            passing.by_numpy(operator.setitem, (self, key, value), {})  # which reads what it has written
            return
        if self._takes(key):
            a, kind = self._tensor, type(value)
            if kind is ndarray and not value._flipped:
                if self._copied(key, value._tensor):
                    return
            elif ((kind is float or kind is int) and stands_for(value, a.dtype)) or KINDS.get(kind) is a.dtype:
                with contextlib.suppress(IndexError):  # NumPy's words come below
                    a[key] = value if kind is float or kind is int else value.item()
                    return
            with contextlib.suppress(IndexError):
                part = a[key]
                place, key = (self._of(part), ...) if part.ndim else (self, key)  # the rule makes all elements of its array anew
        through(rules.lookup("numpy.ndarray.__setitem__").call, (place, key, value), {}, numpy.ndarray.__setitem__)

    def _copied(self, key: Any, value: torch.Tensor) -> bool:
        """Write an array of this one's dtype at a key, where it fits as it is and lies in other memory."""
        a = self._tensor
        if value.dtype is not a.dtype or value.device != a.device or not apart(a, value):
            return False
        try:
            place = a[key]
        except IndexError:
            return False
        if place.shape != value.shape:
            return False
        place.copy_(value)
        return True

    def _takes(self, key: Any) -> bool:
        """Whether torch writes at this key as NumPy does."""
        a = self._tensor
        return a.ndim > 0 and not self._flipped and methods.is_plain(key) and is_spread(a) and not is_read_only(a)

    def __iter__(self) -> Iterator[Any]:
        if not self._tensor.ndim:
            raise TypeError("iteration over a 0-d array")
        if self._tensor.ndim == 1 and is_host(self._tensor) and not self._tensor.is_complex():
            return iter(self._numpy())
        return (self[i] for i in range(len(self._tensor)))

    def __len__(self) -> int:
        if not self._tensor.ndim:
            raise TypeError("len() of unsized object")
        return self._tensor.shape[0]

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    # Python's numbers and texts

    def __bool__(self) -> bool:
        return bool(self._held())

    def __int__(self) -> int:
        return int(self._held())

    def __float__(self) -> float:
        return float(self._held())

    def __complex__(self) -> complex:
        return complex(self._held())

    def __index__(self) -> int:
        return self._held().__index__()

    def __format__(self, spec: str) -> str:
        return format(self._held(), spec)

    def __repr__(self) -> str:
        return repr(self._held())

    def __str__(self) -> str:
        return str(self._held())

    # Copies

    copy: Any  # made from its rule, like all methods that do not stand here (see `methods`)

    def __copy__(self) -> Any:
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy("K")

    def __reduce__(self) -> Any:
        tensor = self.tensor.detach() if self._tensor.requires_grad and not self._tensor.is_leaf else self.tensor
        return _restored, (_copy.copy(tensor) if tensor is self._tensor else tensor, is_read_only(self._tensor))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (_laid, (self._numpy(),)) if is_host(self._tensor) else self.__reduce__()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + (self._tensor.nbytes if self._base is None else 0)

    # Other libraries

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        return numpy.array(self._numpy(), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .ufuncs import dispatched

        return dispatched(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .namespace import dispatched

        return dispatched(function, args, kwargs)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return in_torch(function, args, kwargs or {})

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        from .. import numpy as namespace

        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f'Version "{api_version}" of the Array API Standard is not supported.')
        return namespace

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        held = self._numpy() if is_host(self._tensor) else self.tensor
        return held.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()

    # Attributes that say how an array lies in memory

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._tensor.shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        self._become("shape", lowered(shape))

    @property
    def dtype(self) -> Any:
        return to_numpy(self._tensor.dtype)

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self._become("dtype", dtype)

    @property
    def strides(self) -> tuple[int, ...]:
        signs = [-1 if d in self._flipped else 1 for d in range(self._tensor.ndim)]
        return tuple(s * self._tensor.itemsize * sign for s, sign in zip(self._tensor.stride(), signs, strict=True))

    @strides.setter
    def strides(self, strides: Any) -> None:
        self._become("strides", strides)

    def _become(self, attribute: str, value: Any) -> None:
        """Set an attribute of NumPy's that says how the memory is seen."""
        array = self._numpy().view()
        setattr(array, attribute, value)
        self._tensor, self._flipped = from_memory(array)

    @property
    def ndim(self) -> int:
        return self._tensor.ndim

    @property
    def T(self) -> Any:
        """The array with its axes in reverse order."""
        if self._tensor.ndim == 2 and not self._flipped and not is_read_only(self._tensor):
            return self._of(self._tensor.t(), (), self if self._base is None else self._base)
        return methods.attribute(self, "T")

    @property
    def size(self) -> int:
        return self._tensor.numel()

    @property
    def base(self) -> Any:
        """The array whose memory this one looks at, None where the memory is its own."""
        return self._base

    @property
    def flat(self) -> Any:
        view = rules.lookup("numpy.ndarray.flat").call(lowered(self))
        return flatiter(view, self)

    @flat.setter
    def flat(self, value: Any) -> None:
        if is_host(self._tensor):
            passing.by_numpy(setattr, (self, "flat", value), {})
        else:
            self.flat[:] = value

    @property
    def real(self) -> Any:
        return methods.attribute(self, "real")

    @real.setter
    def real(self, value: Any) -> None:
        methods.attribute(self, "real")[...] = value

    @property
    def imag(self) -> Any:
        return methods.attribute(self, "imag")

    @imag.setter
    def imag(self, value: Any) -> None:
        if not self._tensor.is_complex():
            raise TypeError("array does not have imaginary part to set")
        methods.attribute(self, "imag")[...] = value

    @property
    def flags(self) -> Any:
        return methods.Flags(self)

    @property
    def device(self) -> str:
        return str(self._tensor.device)

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """NumPy's `setflags`."""
        if write is not None:
            self.flags.writeable = write

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Another size in place: new memory, filled up with zeros. What looks at the old memory keeps that."""
        if not isinstance(refcheck, int):
            raise TypeError(f"'{type(refcheck).__name__}' object cannot be interpreted as an integer")
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if is_host(self._tensor) and (self._base is not None or self._flipped) and math.prod(map(int, sizes)) != self.size:
            raise ValueError("cannot resize this array: it does not own its data")
        array = self._numpy().copy("K")
        array.resize(*shape, refcheck=False)
        self._tensor = from_memory(array)[0]

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """NumPy's `sort`, in place."""
        through(rules.lookup("numpy.ndarray.sort").call, (self, axis, kind, order), {"stable": stable})


def _laid(array: Any) -> Any:
    return ndarray._seen(array)


def _restored(tensor: torch.Tensor, locked: bool) -> Any:
    made = zero_d_array(tensor)
    return ndarray._of(read_only(made) if locked else made)


passing.install(ndarray, flatiter)
operators.install(ndarray)
methods.install(ndarray)
buffers.install(ndarray)
