"""The way in and out of functions that are NumPy on torch (see `on_torch`), where torch is at hand: arrays come in as arrays on tensors of
their memory, and go out as what came in."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import types
from collections.abc import Callable, Generator
from typing import Any

import numpy
import torch

from . import world
from .memory import is_host
from .ndarray import ndarray
from .passing import lifted
from .scalars import Graded


def as_numpys(found: Any) -> Any:
    """What a function gives that stayed NumPy's. It may have made arrays elsewhere: in a thread, or called back by a library."""
    made_elsewhere = type(found) is ndarray or (type(found) is tuple and ndarray in map(type, found))
    return Passage().outward(found) if made_elsewhere else found


def steps(made: Generator[Any, Any, Any], around: Callable[[], Any], passage: Passage | None) -> Generator[Any, Any, Any]:
    """A generator whose every step is made within `around`; what goes through a passage is settled after each."""
    step: Callable[[], Any] = functools.partial(made.send, None)
    while True:
        try:
            with around():
                found = step()
        except StopIteration as end:
            return end.value if passage is None else passage.outward(end.value)
        finally:
            if passage is not None:
                passage.settle()
        try:
            sent = yield found if passage is None else passage.outward(found)
            step = functools.partial(made.send, sent if passage is None else passage.inward(sent))
        except GeneratorExit:
            with around():
                made.close()
            raise
        except BaseException as error:
            step = functools.partial(made.throw, error)


def stays_numpys(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call has nothing to do with torch: no tensor is among its arguments or what they hold, and nobody watches torch's calls."""
    if world.is_torch() or world.is_always_on_torch() or torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
        return False
    return not (_brings_tensors(args) or (kwargs and _brings_tensors(kwargs.values())))


_PLAIN = frozenset(
    (
        *(int, float, complex, bool, str, bytes, type(None), slice, range, type, types.FunctionType, types.MethodType, types.ModuleType),
        *(numpy.ndarray, numpy.dtype, *numpy.sctypeDict.values(), numpy.random.Generator, numpy.random.RandomState),
    )
)
_HOLDERS = (list, tuple, set, frozenset, dict, collections.deque)
_DEEPEST, _FIRST = 4, 8
"""How deep lists in lists are looked through, and how many elements of a list that an object holds."""


def _brings_tensors(items: Any, depth: int = 0) -> bool:
    if _PLAIN.issuperset(map(type, items)):
        return False
    for x in items:
        part = _part_of(type(x))  # type: ignore[arg-type]  # a class is hashable
        if part == "torch":
            return True
        if part == "holder" and depth < _DEEPEST and _brings_tensors(_elements(x), depth + 1):
            return True
        if part == "object" and depth < _DEEPEST:
            held = object.__getattribute__(x, "__dict__")
            if type(held) is dict and _holds_tensors(held):
                return True
    return False


def _holds_tensors(held: dict[str, Any]) -> bool:
    """Whether a tensor is among the attributes of an object, or the first elements of lists and dicts among them."""
    holders = _holders(tuple(map(type, held.values())))
    if not holders:
        return holders is None
    values = tuple(held.values())
    for place in holders:
        kinds = set(map(type, itertools.islice(_elements(values[place]), _FIRST)))
        if not kinds <= _PLAIN and any(_part_of(kind) == "torch" for kind in kinds):
            return True
    return False


@functools.lru_cache(maxsize=4096)
def _holders(kinds: tuple[type, ...]) -> tuple[int, ...] | None:
    """Which of values of these kinds hold others; None where one is something of torch's."""
    parts = [_part_of(kind) for kind in kinds]
    return None if "torch" in parts else tuple(i for i, part in enumerate(parts) if part == "holder")


@functools.lru_cache(maxsize=4096)
def _part_of(kind: type) -> str:
    """What an object of a class is here: something of torch's, what holds others, one with attributes, or nothing to look into."""
    if kind in _PLAIN:
        return ""
    if kind is ndarray or issubclass(kind, (torch.Tensor, Graded)):
        return "torch"
    if issubclass(kind, _HOLDERS):
        return "holder"
    return "object" if kind.__dictoffset__ and kind.__module__ not in _NOT_THE_USERS else ""


def _elements(x: Any) -> Any:
    """What a list, set or dict holds, whatever its class says when it is asked."""
    if isinstance(x, dict):
        return dict.values(x)
    return x if type(x) in _HOLDERS else next(k for k in _HOLDERS if isinstance(x, k)).__iter__(x)


def entered(args: tuple[Any, ...], kwargs: dict[str, Any], speaks: bool) -> tuple[Passage, tuple[Any, ...], dict[str, Any]]:
    passage = Passage(speaks)
    return passage, tuple(map(passage.inward, args)), {k: passage.inward(v) for k, v in kwargs.items()}


class Passage:
    """One call's way in and out.

    given    what came in, by the identity of the array that stands for it
    left     what leaves for an array, by its identity
    tensors  whether tensors came in as arrays, or the caller is torch
    changed  the caller's lists and dicts, in which arrays are replaced: the objects themselves, since the function may change them
    objects  the caller's objects, to which the function may give attributes
    settled  the lists and dicts that are on their way out"""

    def __init__(self, speaks: bool = False) -> None:
        self.given: dict[int, tuple[Any, Any]] = {}
        self.left: dict[int, tuple[Any, Any]] = {}
        self.tensors, self.speaks = world.is_torch(), speaks and not world.is_torch()
        self.changed: dict[int, Any] = {}
        self.objects: list[Any] = []
        self.settled: dict[int, Any] = {}

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
        if issubclass(kind, (list, dict)):
            if id(x) not in self.changed:
                self.changed[id(x)] = x
                _replace(x, _TAKEN, self.inward)
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
        self.settled = {}
        for x in (*self.changed.values(), *self.objects):
            self.outward(x)

    def _attributes(self, x: Any) -> None:
        """The arrays among an object's attributes become NumPy's: whoever reads them next may be compiled code."""
        held = x.__dict__
        if type(held) is dict and not self.tensors:
            self.outward(held)

    def outward(self, x: Any) -> Any:
        """A result as the caller takes it."""
        kind = type(x)
        if kind is ndarray:
            return self._out(x)
        if kind is numpy.ndarray and self.tensors and type(seen := ndarray._seen(x)) is ndarray:
            return self._out(seen)
        if isinstance(x, numpy.generic) and self.tensors:
            return x._tensor if isinstance(x, Graded) else torch.from_numpy(numpy.asarray(x))
        if kind is tuple:
            parts = tuple(map(self.outward, x)) if any(type(i) in _GIVEN for i in x) else x
            return x if all(map(operator.is_, parts, x)) else parts
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*map(self.outward, x))
        if issubclass(kind, (list, dict)):
            if id(x) not in self.settled:
                self.settled[id(x)] = x
                _replace(x, _GIVEN, self.outward)
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


def _replace(x: Any, kinds: tuple[type, ...], change: Callable[[Any], Any]) -> None:
    """Change what a list or dict holds of some kinds, where it stands, whatever its class says when it is asked."""
    own: Any = dict if isinstance(x, dict) else list
    if any(kind in kinds or issubclass(kind, (list, dict)) for kind in set(map(type, _elements(x)))):
        for key, value in [*(dict.items(x) if own is dict else enumerate(list.__iter__(x)))]:
            if type(value) in kinds or issubclass(type(value), (list, dict)):
                new = change(value)
                if new is not value:
                    own.__setitem__(x, key, new)


def _seen_as(original: numpy.ndarray[Any, Any], made: ndarray) -> None:
    """`x.shape = ...` and its kin: AttributeError where the memory does not allow it, as NumPy says."""
    if original.dtype != made.dtype:
        original.dtype = made.dtype  # type: ignore[misc]
    if original.shape != made.shape:
        original.shape = made.shape


_NOT_THE_USERS = ("builtins", "torch", "numpy", "types")
_TAKEN = (numpy.ndarray, torch.Tensor, torch.nn.Parameter, list, tuple, dict)
_GIVEN = (ndarray, numpy.ndarray, list, tuple, dict)
