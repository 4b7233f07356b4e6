"""The way into a rewritten function and out again: arrays as tensors, and what happened to them told to whoever passed them.

A tensor lies on the array's own memory where torch can share it; elsewhere what was written is written back. A list or
dict that holds arrays goes in as a copy that holds tensors, and what the function did to the copy is done to the caller's.
"""

from __future__ import annotations

import contextvars
from typing import Any

import numpy
import torch

from .rules._arrays import as_tensor, is_scalar, zero_d_array
from .rules._table import Refused

_keeping: contextvars.ContextVar[list[tuple[Any, str]] | None] = contextvars.ContextVar("np2fx_keeping", default=None)
"""(object, attribute) pairs that rewritten functions have set during the outermost call with NumPy arrays."""


class Passage:
    """One call's way in and out. With `arrays`, tensors in the caller's containers and in the result become arrays again."""

    def __init__(self, arrays: bool) -> None:
        self.arrays = arrays
        self.given: dict[int, tuple[Any, Any]] = {}
        """id of what was passed -> (it, what went in for it); both are held, so that ids stay theirs"""
        self.returned: dict[int, Any] = {}
        """id of what went in -> what was passed"""
        self.containers: list[tuple[Any, Any, list[Any]]] = []
        """what was passed, what went in for it, the elements of the latter then"""
        self.unshared: list[tuple[numpy.ndarray[Any, Any], torch.Tensor, int]] = []
        """arrays whose memory torch cannot share, their copies, and the copies' versions"""

    def inward(self, value: Any) -> Any:
        """`value` with tensors in place of arrays. One array is one tensor, however often it is passed."""
        if id(value) in self.given:
            return self.given[id(value)][1]
        if type(value) in (list, dict):
            return self._container(value)
        if isinstance(value, tuple):
            inside = [self.inward(v) for v in value]
            if all(a is b for a, b in zip(inside, value)):
                return value
            return type(value)(*inside) if hasattr(value, "_fields") else tuple(inside)
        entered = self._leaf(value)
        if entered is not value:
            self._note(value, entered)
        return entered

    def _note(self, value: Any, entered: Any) -> None:
        self.given[id(value)] = (value, entered)
        self.returned[id(entered)] = value

    def _container(self, value: Any) -> Any:
        copy = type(value)()
        self.given[id(value)] = (value, copy)  # before its elements: a container may hold itself
        if isinstance(value, list):
            copy.extend(self.inward(v) for v in value)
        else:
            copy.update({k: self.inward(v) for k, v in value.items()})
        if all(a is b for a, b in zip(_elements(copy), _elements(value))):
            copy = value  # nothing to turn: the function gets the caller's own
            self.given[id(value)] = (value, value)
        self.returned[id(copy)] = value
        self.containers.append((value, copy, _elements(copy)))
        return copy

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return zero_d_array(value)
        if isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
            if isinstance(value, (numpy.ma.MaskedArray, numpy.matrix)):
                raise Refused(f"a {type(value).__name__} is not a plain array: its operators mean something else", "pass np.asarray(...) of it, a mask beside it", "object-dtype")
            return self._array(value)
        return as_tensor(value) if isinstance(value, numpy.generic) and value.dtype.kind in "biufc" else value

    def _array(self, value: numpy.ndarray[Any, Any]) -> torch.Tensor:
        """An array as a tensor on its memory; a copy where torch cannot share (negative strides, read-only, another device)."""
        device = torch.get_default_device()
        if value.flags.writeable and value.dtype.isnative and device.type == "cpu" and all(s >= 0 and s % value.itemsize == 0 for s in value.strides):
            return zero_d_array(torch.from_numpy(value))
        made = zero_d_array(as_tensor(value))
        self.unshared.append((value, made, _version(made)))
        return made

    def outward(self, value: Any) -> Any:
        """A result, or an element of a container of the caller's, as the caller knows it."""
        if id(value) in self.returned:
            return self.returned[id(value)]
        if isinstance(value, tuple):
            if isinstance(value, torch.Size):
                return tuple(value)
            inside = [self.outward(v) for v in value]
            if all(a is b for a, b in zip(inside, value)):
                return value
            return type(value)(*inside) if hasattr(value, "_fields") else tuple(inside)
        if type(value) in (list, dict):
            made = [self.outward(v) for v in value] if isinstance(value, list) else {k: self.outward(v) for k, v in value.items()}
            return value if all(a is b for a, b in zip(_elements(made), _elements(value))) else made
        return to_array(value) if self.arrays else value

    def settle(self) -> None:
        """Do to what the caller passed what the function did to what went in for it. Called however the function ends."""
        for array, copy, version in self.unshared:
            if _version(copy) != version:
                array[...] = to_array(copy)  # ValueError where it is read-only, as NumPy says
        for original, copy, before in self.containers:
            now = _elements(copy)
            if (copy is original and not self.arrays) or (len(now) == len(before) and all(a is b for a, b in zip(now, before)) and copy is not original):
                continue
            if isinstance(original, list):
                original[:] = [self.outward(v) for v in list(copy)]
            else:
                items = {k: self.outward(v) for k, v in copy.items()}
                if list(items) != list(original) or copy is not original:
                    original.clear()
                original.update(items)


def _elements(container: Any) -> list[Any]:
    """What a list holds, what a dict holds (keys too: their order is part of it)."""
    return list(container) if isinstance(container, list) else [x for item in container.items() for x in item]


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def to_array(value: Any) -> Any:
    """A tensor as NumPy would hold it: a scalar where it is one."""
    if not isinstance(value, torch.Tensor):
        return value
    held = value.detach().resolve_conj().resolve_neg().cpu().numpy()
    return held[()] if is_scalar(value) else held


def keep(arguments: dict[str, Any], paths: tuple[str, ...]) -> None:
    """Remember that a rewritten function may have put tensors into attributes ("self.last") of objects that were passed to it."""
    kept = _keeping.get()
    for path in paths if kept is not None else ():
        *owners, attribute = path.split(".")
        owner = arguments.get(owners[0])
        for name in owners[1:]:
            owner = getattr(owner, name, None)
        if owner is not None:
            kept.append((owner, attribute))  # type: ignore[union-attr]


def collect() -> contextvars.Token[list[tuple[Any, str]] | None]:
    """Begin to remember, in the outermost call."""
    return _keeping.set([])


def release(passage: Passage, token: contextvars.Token[list[tuple[Any, str]] | None]) -> None:
    """What rewritten functions left in the attributes of objects, as arrays: the rest of the program computes with NumPy."""
    for owner, attribute in {(id(o), a): (o, a) for o, a in _keeping.get() or ()}.values():
        value = getattr(owner, attribute, None)
        if type(value) in (list, dict):
            passage.containers.append((value, value, []))
            continue
        new = passage.outward(value)
        if new is not value:
            setattr(owner, attribute, new)
    _keeping.reset(token)
