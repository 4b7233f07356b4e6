"""The way into a function that runs on NumPy's arrays on torch, and out again, for callers that are torch: tensors in, tensors out."""

from __future__ import annotations

import collections
import contextlib
import functools
import types
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy
import torch

from ..arrays import world
from ..arrays.memory import is_host
from ..arrays.ndarray import ndarray
from ..arrays.scalars import Graded
from ..semantics.arrays import zero_d_array
from ..semantics.table import Refused, module_of

_CONTAINERS = (list, dict, collections.deque)
_OTHERS = ("builtins", "torch", "numpy", "np2fx", "types", "itertools", "functools")


class Crossing:
    """One call's way in and out.

    tensors are arrays inside, so are those in the caller's lists, dicts and objects, for the time of the call. What leaves are tensors;
    what stays in the attributes of the caller's objects are NumPy's arrays, tensors where there were tensors or a gradient hangs on them.

    as_they_are  the ids of arguments that are torch's to the function itself
    owner        the function's qualified name, by which functions made in it are told"""

    def __init__(self, owner: str = "") -> None:
        self.given: dict[int, tuple[Any, Any]] = {}
        self.left: dict[int, tuple[Any, Any]] = {}
        self.held: dict[int, tuple[Any, dict[Any, Any], bool]] = {}
        """the caller's containers and objects, what was a tensor in them, and whether what is new in them is to be NumPy's"""
        self.owner = owner
        self.graded = False
        """whether NumPy cannot look at some of what came in: a gradient hangs on it, or it lies on another device"""

    # In.

    def inward(self, x: Any, state: bool = False) -> Any:
        """An argument as the function takes it. `state`: an object of the caller's holds it."""
        if isinstance(x, torch.Tensor):
            self.graded = self.graded or not is_host(x)
            return self._known(x, ndarray._of(zero_d_array(x)))
        if type(x) is numpy.ndarray:
            return self._known(x, ndarray._seen(x))
        if type(x) is ndarray:
            return self._known(x, x)
        if isinstance(x, tuple):
            found = [self.inward(v, state) for v in x]
            if all(a is b for a, b in zip(found, x, strict=True)):
                return x
            return type(x)(*found) if hasattr(x, "_fields") else tuple(found)
        if id(x) not in self.held and (items := _held_by(x)) is not None:
            state = state or not isinstance(x, _CONTAINERS)
            self.held[id(x)] = x, {k: v for k, v in items if isinstance(v, torch.Tensor)}, state
            for key, value in items:
                new = self.inward(value, state)
                if new is not value:
                    _put(x, key, new)
        return x

    def _known(self, x: Any, made: Any) -> Any:
        return self.given.setdefault(id(x), (x, made))[1]

    # Out.

    def settle(self) -> None:
        """The caller's containers and objects hold what the caller knows again; a shape that was set is the caller's array's too."""
        for original, made in self.given.values():
            if original is not made and type(made) is ndarray and tuple(original.shape) != made.shape:
                if type(original) is numpy.ndarray:
                    original.shape = made.shape
                else:
                    original.data = made._tensor.data
        pending = [x for x, _, _ in self.held.values()]
        while pending:
            x = pending.pop()
            _, before, state = self.held[id(x)]
            for key, value in _held_by(x) or ():
                new = self._kept(value, not state or key in before, pending)
                if new is not value:
                    _put(x, key, new)

    def _kept(self, x: Any, tensor: bool, pending: list[Any]) -> Any:
        """What a container or an object of the caller's holds after the call."""
        if type(x) is ndarray:
            for original, made in self.given.values():
                if made is x and (tensor or type(original) is numpy.ndarray):
                    return original
            return self._tensor(x) if tensor or not is_host(x._tensor) else x._numpy()
        if isinstance(x, Graded):
            return x._tensor
        if isinstance(x, tuple):
            found = [self._kept(v, tensor, pending) for v in x]
            if all(a is b for a, b in zip(found, x, strict=True)):
                return x
            return type(x)(*found) if hasattr(x, "_fields") else tuple(found)
        if id(x) not in self.held and _held_by(x) is not None:
            self.held[id(x)] = x, {}, not tensor
            pending.append(x)
        return x

    def outward(self, x: Any) -> Any:
        """A result as the caller takes it."""
        kind = type(x)
        if kind is ndarray:
            return self._tensor(x)
        if kind is numpy.ndarray:
            seen = ndarray._seen(x)
            return self._tensor(seen) if type(seen) is ndarray else x
        if isinstance(x, Graded):
            return x._tensor
        if isinstance(x, numpy.generic):
            return self.left.setdefault(id(x), (x, torch.from_numpy(numpy.asarray(x))))[1] if x.dtype.char in _HELD else x
        if isinstance(x, tuple):
            found = [self.outward(v) for v in x]
            if all(a is b for a, b in zip(found, x, strict=True)):
                return x
            return type(x)(*found) if hasattr(x, "_fields") else tuple(found)
        if isinstance(x, types.FunctionType) and self.owner and x.__qualname__.startswith(f"{self.owner}.<locals>."):
            raise Refused(f"the function returns `{x.__name__}`, which would compute with arrays after it",
                          "return arrays, or define the function outside", "not-rewritten")  # fmt: skip
        if isinstance(x, Iterator) and module_of(kind) in ("builtins", "itertools"):
            return _steps(x, self)
        if id(x) not in self.held and id(x) not in self.left and (items := _held_by(x)) is not None:
            self.left[id(x)] = x, x
            for key, value in items:
                new = self.outward(value)
                if new is not value:
                    _put(x, key, new)
        return x

    def _tensor(self, x: Any) -> torch.Tensor:
        for original, made in self.given.values():
            if made is x and isinstance(original, torch.Tensor):
                return original
        if id(x) not in self.left:
            self.left[id(x)] = x, x.tensor
        found: torch.Tensor = self.left[id(x)][1]
        return found


_HELD = "?bhilqBHILQefdFD"


def _held_by(x: Any) -> list[tuple[Any, Any]] | None:
    """What a container holds, or an object of the user's; None for everything else."""
    kind = type(x)
    if isinstance(x, dict):
        return list(dict.items(x))
    if isinstance(x, (list, collections.deque)):
        return list(enumerate(list.__iter__(x) if isinstance(x, list) else collections.deque.__iter__(x)))
    if isinstance(x, (type, types.ModuleType, types.FunctionType, torch.nn.Module, BaseException)) or not hasattr(x, "__dict__"):
        return None
    held = x.__dict__
    others = module_of(kind).split(".")[0] in _OTHERS and kind is not types.SimpleNamespace
    return list(held.items()) if type(held) is dict and not others else None


def _put(x: Any, key: Any, value: Any) -> None:
    if isinstance(x, dict):
        dict.__setitem__(x, key, value)
    elif isinstance(x, list):
        list.__setitem__(x, key, value)
    elif isinstance(x, collections.deque):
        x[key] = value
    else:
        x.__dict__[key] = value


def _steps(inside: Any, crossing: Crossing) -> Generator[Any, Any, Any]:
    """A generator that leaves a function, as its caller has it."""
    step: Callable[[], Any] = inside.__next__
    try:
        while True:
            try:
                with world.arrays():
                    value = step()
            except StopIteration as end:
                crossing.settle()
                return crossing.outward(end.value)
            crossing.settle()
            try:
                step = functools.partial(inside.send, crossing.inward((yield crossing.outward(value))))
            except GeneratorExit:
                raise
            except BaseException as error:
                step = functools.partial(inside.throw, error)
    finally:
        with contextlib.suppress(AttributeError):
            inside.close()
