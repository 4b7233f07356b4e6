"""The methods and attributes of arrays: those that have a rule are the rule; those about memory are NumPy's own, on the same memory."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy
import torch

from .. import rules
from ..semantics.arrays import read_only
from . import quick
from .memory import is_host
from .passing import Shown


def install(kind: Any) -> None:
    """Give the class what `numpy.ndarray` has and it does not define itself."""
    for name, original in vars(numpy.ndarray).items():
        if name in vars(kind) or (name.startswith("__") and name not in _PUBLIC):
            continue
        if isinstance(original, types.GetSetDescriptorType):
            setattr(kind, name, property(functools.partial(attribute, name=name), doc=original.__doc__))
        elif callable(original):
            setattr(kind, name, _method(name, original))


_PUBLIC = ("__array_interface__", "__array_struct__", "__array_wrap__")


def attribute(array: Any, name: str) -> Any:
    """`array.name`."""
    if array._flipped and is_host(array._tensor):
        return looked_at(array, getattr, (name,))
    rule = rules.load_once().get(f"numpy.ndarray.{name}")
    return looked_at(array, getattr, (name,)) if rule is None else quick.called(rule, (array,), {}, _getter(name))


@functools.cache
def _getter(name: str) -> Callable[[Any], Any]:
    return operator.attrgetter(name)


def _method(name: str, original: Any) -> Callable[..., Any]:
    path = f"numpy.ndarray.{name}"

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        rule = rules.load_once().get(path)
        if rule is None or (rule.view and not isinstance(self, torch.Tensor) and _looks(self, args, kwargs)):
            return looked_at(self, original, args, kwargs)
        return quick.called(rule, (self, *args), kwargs, original)

    return method


def _looks(array: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a view is NumPy's own: of an array that runs backwards, or as an array of another class."""
    return (array._flipped or _names_class(args, kwargs)) and is_host(array._tensor)


def _names_class(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a class of NumPy's arrays is among the arguments (`a.view(numpy.recarray)`)."""
    return any(isinstance(a, type) and issubclass(a, numpy.ndarray) for a in (*args, *kwargs.values()))


def looked_at(array: Any, function: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
    """What NumPy's own function makes of the memory of an array. Its views are views here."""
    shown = Shown()
    memory = shown.show(array)
    found = function(memory, *map(shown.show, args), **{k: shown.show(v) for k, v in (kwargs or {}).items()})
    return shown.take(found)


def turns(key: Any) -> bool:
    """Whether a key has a slice that runs backwards."""
    if type(key) is slice:
        return key.step is not None and key.step < 0
    return type(key) is tuple and any(type(k) is slice and k.step is not None and k.step < 0 for k in key)


def is_plain(key: Any) -> bool:
    """Whether a key is one that torch reads as NumPy does: ints, and slices of ints that run forward."""
    return _is_part(key) or (type(key) is tuple and key != () and all(map(_is_part, key)))


def is_place(key: Any, rank: int) -> bool:
    """Whether a key names one element: an int for each axis."""
    if type(key) is not tuple:
        return rank == 1 and type(key) in _INTS
    return len(key) == rank and rank > 0 and all(type(k) in _INTS for k in key)


_INTS = (int, numpy.int64)


def _is_part(key: Any) -> bool:
    return type(key) in _INTS or (type(key) is slice and _is_forward(key))


def _is_forward(key: slice) -> bool:
    step, start, stop = key.step, key.start, key.stop
    return (
        (step is None or (type(step) is int and step > 0))
        and (start is None or type(start) is int)
        and (stop is None or type(stop) is int)
    )


def _may_write(array: Any) -> bool:
    """Whether the memory of an array may be written to, as NumPy finds out: its own may; else whose it is says so."""
    base = array._base
    while hasattr(base, "flags"):
        if base.flags.writeable:
            return True
        base = base.base
        if base is None:
            return False
    try:
        return base is None or not memoryview(base).readonly
    except TypeError:
        return True  # a tensor of the user's


class Flags:
    """NumPy's flags of an array; `writeable` can be set."""

    def __init__(self, array: Any) -> None:
        self.__dict__["_array"], self.__dict__["_flags"] = array, array._numpy().flags

    def __getattr__(self, name: str) -> Any:
        if name == "owndata":
            return self._array._base is None
        return getattr(self._flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "writeable":
            setattr(self._flags, name, value)
        elif not value:
            read_only(self._array._tensor)
        elif not _may_write(self._array):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        elif hasattr(self._array._tensor, "_np2fx_read_only"):
            del self._array._tensor._np2fx_read_only
        self.__dict__["_flags"] = self._array._numpy().flags

    def __getitem__(self, name: str) -> Any:
        return self.__getattr__("owndata") if name in ("OWNDATA", "O") else self._flags[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.__setattr__({"WRITEABLE": "writeable", "W": "writeable"}.get(name, name.lower()), value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self._flags == other._flags

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._flags)
