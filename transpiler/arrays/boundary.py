"""The boundary of functions that are NumPy on torch: arrays come in as arrays on tensors of their memory, and go out as what came in."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy
import torch

from . import world
from .memory import is_host
from .ndarray import ndarray
from .passing import lifted
from .scalars import Graded

F = TypeVar("F", bound=Callable[..., Any])


def on_torch(function: F) -> F:
    """Decorates a function whose text is NumPy's, read from `np2fx.numpy`: its callers need not change.

    NumPy's arrays come in as arrays on the same memory, so that what is written into them is seen; what torch has no dtype for comes in
    as it is. What leaves are NumPy's arrays on the same memory, tensors where tensors came in; so are the attributes that the function
    gives to its arguments. What NumPy cannot look at (a gradient, another device) leaves as an array on its tensor. Tensors come in as
    they are where the function itself speaks of torch."""
    speaks = _speaks_of_torch(function.__code__)
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def steps(*args: Any, **kwargs: Any) -> Iterator[Any]:
            passage, args, kwargs = _entered(args, kwargs, speaks)
            made = function(*args, **kwargs)
            sent: Any = None
            while True:
                try:
                    with world.arrays():
                        found = made.send(sent)
                except StopIteration as end:
                    passage.settle()
                    return passage.outward(end.value)
                passage.settle()
                sent = passage.inward((yield passage.outward(found)))

        steps.__np2fx_rewritten__ = True  # type: ignore[attr-defined]
        return steps  # type: ignore[return-value]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        passage, args, kwargs = _entered(args, kwargs, speaks)
        try:
            with world.arrays():
                found = function(*args, **kwargs)
        finally:
            passage.settle()
        return passage.outward(found)

    call.__np2fx_rewritten__ = True  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _speaks_of_torch(code: types.CodeType) -> bool:
    """Whether a function names torch, or what only tensors have."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return not _OF_TENSORS.isdisjoint(code.co_names) or any(map(_speaks_of_torch, inner))


_OF_TENSORS = frozenset(("torch", "numpy", "detach", "cpu", "cuda", "requires_grad", "is_tensor"))


def _entered(args: tuple[Any, ...], kwargs: dict[str, Any], speaks: bool) -> tuple[Passage, tuple[Any, ...], dict[str, Any]]:
    passage = Passage(speaks)
    return passage, tuple(map(passage.inward, args)), {k: passage.inward(v) for k, v in kwargs.items()}


class Passage:
    """One call's way in and out.

    given    what came in, by the identity of the array that stands for it
    left     what leaves for an array, by its identity
    tensors  whether tensors came in as arrays, or the caller is torch
    changed  the caller's lists and dicts, in which arrays are replaced: the objects themselves, since the function may change them
    objects  the caller's objects, to which the function may give attributes"""

    def __init__(self, speaks: bool = False) -> None:
        self.given: dict[int, tuple[Any, Any]] = {}
        self.left: dict[int, tuple[Any, Any]] = {}
        self.tensors, self.speaks = world.is_torch(), speaks and not world.is_torch()
        self.changed: list[Any] = []
        self.objects: list[Any] = []

    def inward(self, x: Any) -> Any:
        """An argument as the function takes it. Containers stay the objects they are where nothing in them changes."""
        kind = type(x)
        if kind is numpy.ndarray:
            return self._known(x, ndarray._seen(x))
        if kind is ndarray:
            return self._known(x, x)
        if (kind is torch.Tensor or kind is torch.nn.Parameter) and not self.speaks:
            self.tensors = True
            return self._known(x, lifted(x))
        if kind is tuple and any(type(i) in _TAKEN for i in x):
            return tuple(map(self.inward, x))
        if kind is list or kind is dict:
            self.changed.append(x)
            for key in list(x) if kind is dict else range(len(x)):
                if type(x[key]) in _TAKEN:
                    x[key] = self.inward(x[key])
        elif hasattr(x, "__dict__") and kind.__module__ not in _NOT_THE_USERS and not isinstance(x, type):
            self.objects.append(x)
        return x

    def _known(self, x: Any, made: Any) -> Any:
        return self.given.setdefault(id(x), (x, made))[1]

    def settle(self) -> None:
        """The caller's lists and dicts hold what the caller knows again; a shape that was set is the caller's array's too."""
        for original, made in self.given.values():
            if type(original) is numpy.ndarray and (original.shape != made.shape or original.dtype != made.dtype):
                _seen_as(original, made)
        for x in self.changed:
            for key in list(x) if type(x) is dict else range(len(x)):
                if type(x[key]) in _GIVEN and not any(x[key] is c for c in self.changed):
                    x[key] = self.outward(x[key])
        for x in self.objects:
            self._attributes(x)

    def _attributes(self, x: Any) -> None:
        """The arrays among an object's attributes become NumPy's: whoever reads them next may be compiled code."""
        held = x.__dict__
        for name in [n for n, v in held.items() if type(v) is ndarray] if type(held) is dict and not self.tensors else ():
            held[name] = self._out(held[name])

    def outward(self, x: Any) -> Any:
        """A result as the caller takes it."""
        kind = type(x)
        if kind is ndarray:
            return self._out(x)
        if kind is numpy.ndarray and self.tensors and type(seen := ndarray._seen(x)) is ndarray:
            return self._out(seen)
        if isinstance(x, numpy.generic) and self.tensors:
            return x._tensor if isinstance(x, Graded) else torch.from_numpy(numpy.asarray(x))
        if kind in (list, tuple):
            return kind(map(self.outward, x)) if any(type(i) in _GIVEN for i in x) else x
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*map(self.outward, x))
        if kind is dict and any(type(i) in _GIVEN for i in x.values()):
            for key in x:
                x[key] = self.outward(x[key])
        elif hasattr(x, "__dict__") and kind.__module__ not in _NOT_THE_USERS and not isinstance(x, type):
            self._attributes(x)
        return x

    def _out(self, x: Any) -> Any:
        for original, made in self.given.values():
            if made is x:
                return original
        if id(x) not in self.left:
            self.left[id(x)] = x, x.tensor if self.tensors else x._numpy() if is_host(x._tensor) else x
        return self.left[id(x)][1]


def _seen_as(original: numpy.ndarray[Any, Any], made: ndarray) -> None:
    """`x.shape = ...` and its kin: AttributeError where the memory does not allow it, as NumPy says."""
    if original.dtype != made.dtype:
        original.dtype = made.dtype  # type: ignore[misc]
    if original.shape != made.shape:
        original.shape = made.shape


_NOT_THE_USERS = ("builtins", "torch", "numpy", "types")
_TAKEN = (numpy.ndarray, torch.Tensor, torch.nn.Parameter, list, tuple, dict)
_GIVEN = (ndarray, numpy.ndarray, list, tuple, dict)
