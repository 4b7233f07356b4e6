"""The way into a rewritten function and out again: arrays as tensors, and what happened to them told to whoever passed them.

A tensor lies on the array's own memory where torch can share it; elsewhere what was written is written back. A list or
dict that holds arrays goes in as a copy that holds tensors, and what the function did to the copy is done to the caller's.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import dataclasses
import functools
import inspect
import itertools
import types
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy
import torch

from ..arrays import world
from ..arrays.ndarray import ndarray
from ..arrays.passing import lifted
from ..arrays.scalars import Graded
from ..semantics.arrays import as_tensor, can_share, given, is_scalar, read_only, zero_d_array
from ..semantics.table import Refused, module_of
from .backwards import on_memory_of

_Kept = dict[tuple[int, str], tuple[Any, Any, bool]]
_keeping: contextvars.ContextVar[_Kept | None] = contextvars.ContextVar("np2fx_keeping", default=None)
"""The attributes that rewritten functions may have set during the outermost call: (id, attribute) -> object, value before,
whether it is known to be an argument's."""


class Passage:
    """One call's way in and out. With `arrays`, tensors in the caller's containers and in the result become arrays again.

    `inside`: the caller is rewritten code, whose 0-d tensors are told apart already: scalars stay scalars."""

    def __init__(self, arrays: bool, inside: bool = False) -> None:
        self.arrays, self.inside = arrays, inside
        self.made = lifted if world.is_arrays() else to_array
        """what a tensor that leaves becomes: to code that is NumPy on torch, an array on it"""
        self.given: dict[int, tuple[Any, Any]] = {}
        """id of what was passed -> (it, what went in for it); both are held, so that ids stay theirs"""
        self.returned: dict[int, Any] = {}
        """id of what went in -> what was passed"""
        self.containers: list[tuple[Any, Any, list[Any]]] = []
        """what was passed, what went in for it, the elements of the latter then"""
        self.seen: dict[int, Any] = {}
        """id of what was passed and is no container -> it"""
        self.around: Callable[[], contextlib.AbstractContextManager[Any]] | None = None
        """what has to be around each step of a generator that leaves the function; None where none may"""
        self.owner = ""
        """the function's name, by which functions made in it are told"""
        self.unshared: list[tuple[numpy.ndarray[Any, Any], torch.Tensor, int]] = []
        """arrays whose memory torch cannot share, their copies, and the copies' versions"""
        self.copies: dict[int, tuple[Any, Any]] = {}
        """id of what leaves -> (it, what leaves in its place)"""

    def inward(self, value: Any) -> Any:
        """`value` with tensors in place of arrays. One array is one tensor, however often it is passed."""
        if id(value) in self.given:
            return self.given[id(value)][1]
        if type(value) in _CONTAINERS:
            return self._container(value)
        if isinstance(value, tuple):
            return _each(self.inward, value)
        self.seen[id(value)] = value
        entered = self._leaf(value)
        if entered is not value:
            if self.unshared and isinstance(value, numpy.ndarray):
                self._apart(value)
            self._note(value, entered)
        return entered

    def _note(self, value: Any, entered: Any) -> None:
        self.given[id(value)] = (value, entered)
        self.returned[id(entered)] = value

    def _container(self, value: Any) -> Any:
        copy = _empty_like(value)
        self.given[id(value)] = (value, copy)  # before its elements: a container may hold itself
        if not isinstance(value, dict):
            copy.extend(self.inward(v) for v in value)
        else:
            copy.update({k: self.inward(v) for k, v in value.items()})
        if all(a is b for a, b in zip(_elements(copy), _elements(value), strict=False)):
            copy = value  # nothing to turn: the function gets the caller's own
            self.given[id(value)] = (value, value)
        self.returned[id(copy)] = value
        self.containers.append((value, copy, _elements(copy)))
        return copy

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value if self.inside else given(zero_d_array(value))
        if type(value) is ndarray:
            return self._on_tensor(value)
        if isinstance(value, Graded):
            return value._tensor
        if isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
            if isinstance(value, (numpy.ma.MaskedArray, numpy.matrix)):
                raise Refused(
                    f"a {type(value).__name__} is not a plain array: its operators mean something else",
                    "pass np.asarray(...) of it, a mask beside it",
                    "object-dtype",
                )
            return self._array(value)
        return as_tensor(value) if isinstance(value, numpy.generic) and value.dtype.kind in "biufc" else value

    def _on_tensor(self, value: Any) -> torch.Tensor:
        """The tensor of an array on one; of an array that runs backwards a copy."""
        tensor: torch.Tensor = value.tensor
        if tensor is not value._tensor:
            self.unshared.append((value, tensor, _version(tensor)))
        return given(tensor)

    def _array(self, value: numpy.ndarray[Any, Any]) -> torch.Tensor:
        """An array as a tensor on its memory; a copy where torch cannot share (negative strides, read-only, another device).

        torch itself raises where an inference tensor is written to, through whatever view: so it does for a read-only array."""
        if can_share(value):
            return given(zero_d_array(torch.from_numpy(value)))
        with contextlib.nullcontext() if value.flags.writeable or not self.arrays else torch.inference_mode():
            made = zero_d_array(as_tensor(value))
        made = made if value.flags.writeable else read_only(made)
        self.unshared.append((value, made, _version(made)))
        return made

    def _apart(self, value: Any) -> None:
        """Raise Refused where an array went in as a copy and another one lies on its memory: writes through one would not be seen."""
        copies = [array for array, _, _ in self.unshared]
        others = [a for a, _ in self.given.values()] if copies[-1] is value else copies
        for other in others:
            if other is value or not isinstance(other, numpy.ndarray):
                continue
            writable = value.flags.writeable or other.flags.writeable
            if writable and numpy.may_share_memory(value, other) and numpy.shares_memory(value, other):
                message = "two arguments share memory, and torch can take one of them only as a copy (negative strides, read-only)"
                raise Refused(message, "pass copies", "aliasing")

    def outward(self, value: Any) -> Any:
        """A result, or an element of a container of the caller's, as the caller knows it."""
        if id(value) in self.returned:
            return self.returned[id(value)]
        value = _plain(value)
        if isinstance(value, tuple):
            return _each(self.outward, value)
        if type(value) in _CONTAINERS:
            if isinstance(value, collections.deque):
                return self.state(value) if self.arrays else value  # made in the function
            made = [self.outward(v) for v in value] if isinstance(value, list) else {k: self.outward(v) for k, v in value.items()}
            return value if all(a is b for a, b in zip(_elements(made), _elements(value), strict=False)) else made
        if not self.arrays:
            return value
        if isinstance(value, (Iterator, types.FunctionType)) and id(value) not in self.seen:
            return self._later(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type) and id(value) not in self.seen:
            fields = [field.name for field in dataclasses.fields(value)]
            for name in dict.fromkeys((*fields, *getattr(value, "__dict__", ()))):  # made in the function: nobody else holds it yet
                held = getattr(value, name, None)
                new = self.outward(held)
                if new is not held:
                    object.__setattr__(value, name, new)
        return self._left(value)

    def _left(self, value: Any) -> Any:
        """A tensor that leaves: a view of what went in as a copy is one of the caller's array."""
        if self.unshared and isinstance(value, torch.Tensor) and value.is_cpu and self.made is to_array and not is_scalar(value):
            for array, copy, _ in self.unshared:
                seen = on_memory_of(array, copy, value) if isinstance(array, numpy.ndarray) else None
                if seen is not None:
                    return seen
        return self.made(value)

    def finished(self, result: Any) -> Any:
        """The result of the call, as the caller gets it."""
        if self.inside:
            if _is_generator(result) and self.around is None:
                message = "a generator may write through views, or hand out some, which torch has only as copies for the time of the call"
                raise Refused(message, "return a list", "not-rewritten")
            return result
        if self.arrays:
            return self.outward(result)
        return self._later(result) if _is_generator(result) else self.apart(result)

    def _later(self, value: Any) -> Any:
        """What computes after the call is over. A generator does so step by step, and each step is as a call of its own."""
        if isinstance(value, types.FunctionType):
            if self.owner and value.__qualname__.startswith(f"{self.owner}.<locals>."):
                raise Refused(f"the function returns `{value.__name__}`, which would compute with tensors after it",
                              "return arrays, or define the function outside", "not-rewritten")  # fmt: skip
            return value
        if module_of(type(value)) not in ("builtins", "itertools") or id(value) in self.seen:
            return value
        if not _is_generator(value):
            raise Refused(f"the function returns a {type(value).__name__}, which would compute with tensors after it",
                          "return a list of it", "not-rewritten")  # fmt: skip
        if self.around is None or self.unshared or any(copy is not original for original, copy, _ in self.containers):
            raise Refused("a generator leaves the function, which has some of its arguments only as copies: it would not see changes",
                          "return a list of it", "not-rewritten")  # fmt: skip
        return _steps(value, self.around, self.outward if self.arrays else lambda step: self.apart(self.outward(step)))

    def apart(self, value: Any) -> Any:
        """What leaves with tensors. Scalars are copies in NumPy: none stays a view of an array that the caller may write into."""
        if isinstance(value, torch.Tensor):
            if not is_scalar(value) or is_alone(value):
                return value
            if id(value) not in self.copies:
                self.copies[id(value)] = (value, torch.clone(value))
            return self.copies[id(value)][1]
        value = _plain(value)
        if isinstance(value, tuple):
            return _each(self.apart, value)
        held = _held_by(value)
        if held is not None and id(value) not in self.copies:
            self.copies[id(value)] = (value, value)
            for k, v in held:
                new = self.apart(v)
                if new is v:
                    continue
                if type(value) in _CONTAINERS:
                    value[k] = new
                else:
                    object.__setattr__(value, k, new)
        return value

    def state(self, value: Any) -> Any:
        """What an attribute of the caller's object holds after the call: arrays, and containers of arrays."""
        value = _plain(value)
        if type(value) in _CONTAINERS:
            items = [(i, v) for i, v in enumerate(value)] if not isinstance(value, dict) else list(value.items())
            for k, v in items:
                new = self.state(v)
                if new is not v:
                    value[k] = new
            return value
        if id(value) in self.returned:
            return self.returned[id(value)]
        if isinstance(value, tuple):
            return _each(self.state, value)
        return self._left(value)

    def reaches(self, owner: Any) -> bool:
        """Whether an object is an argument, or held by one."""
        pending, known = [*self.seen.values(), *(original for original, _, _ in self.containers)], set[int]()
        while pending:
            value = pending.pop()
            if value is owner:
                return True
            if id(value) not in known:
                known.add(id(value))
                held = getattr(value, "__dict__", None) if not isinstance(value, types.ModuleType) else None
                pending += held.values() if isinstance(held, (dict, types.MappingProxyType)) else ()
                items = value.values() if isinstance(value, dict) else value
                pending += items if isinstance(value, (dict, list, tuple, collections.deque)) else ()
        return False

    def settle(self) -> None:
        """Do to what the caller passed what the function did to what went in for it. Called however the function ends."""
        for array, tensor in self.given.values():
            if isinstance(array, numpy.ndarray) and isinstance(tensor, torch.Tensor) and array.shape != tuple(tensor.shape):
                array.shape = tuple(tensor.shape)  # `x.shape = ...`; AttributeError where its layout does not allow it, as NumPy says
        changed = [(array, copy) for array, copy, version in self.unshared if _version(copy) != version]
        for array, copy in sorted(changed, key=lambda pair: pair[0].flags.writeable):  # the read-only ones first: nothing is half written
            array[...] = self.made(copy)  # ValueError where it is read-only, as NumPy says
        for original, copy, before in self.containers:
            now = _elements(_plain(copy))
            if not (self.arrays or self.inside) and any(a is not b for a, b in itertools.zip_longest(now, before)):
                self.apart(copy)
                now = _elements(copy)
            if (copy is original and not self.arrays) or (
                len(now) == len(before) and all(a is b for a, b in zip(now, before, strict=False)) and copy is not original
            ):
                continue
            if not isinstance(original, dict):
                items = [self.outward(v) for v in copy]
                if len(items) != len(original) or any(a is not b for a, b in zip(items, original, strict=True)):
                    original.clear()
                    original.extend(items)
            else:
                held = {k: self.outward(v) for k, v in copy.items()}
                if list(held) != list(original):
                    original.clear()
                original.update(held)


def _each(way: Callable[[Any], Any], value: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple whose items have gone a way; the same one where none changed."""
    inside = [way(v) for v in value]
    if all(a is b for a, b in zip(inside, value, strict=False)):
        return value
    return type(value)(*inside) if hasattr(value, "_fields") else tuple(inside)


def _plain(value: Any) -> Any:
    """A shape as the tuple that it is in NumPy; a dict or a set without a torch.Size among its keys."""
    if isinstance(value, torch.Size):
        return tuple(value)
    if type(value) not in (dict, set, frozenset, *_CONTAINERS) or isinstance(value, (list, collections.deque)):
        return value
    keys = list(value)
    plain = list(map(_plain_key, keys))
    if all(a is b for a, b in zip(keys, plain, strict=True)):
        return value
    if isinstance(value, frozenset):
        return frozenset(plain)
    pairs = list(zip(plain, value.values(), strict=True)) if isinstance(value, dict) else plain
    value.clear()
    value.update(pairs)
    return value


def _plain_key(key: Any) -> Any:
    return _each(_plain_key, _plain(key)) if isinstance(key, tuple) else key


def _is_generator(value: Any) -> bool:
    return isinstance(value, types.GeneratorType)


def _steps(
    inside: Generator[Any, Any, Any], around: Callable[[], contextlib.AbstractContextManager[Any]], outward: Callable[[Any], Any]
) -> Generator[Any, Any, Any]:
    """A generator of rewritten code as its caller has it."""
    step: Callable[[], Any] = inside.__next__
    try:
        while True:
            try:
                with around():
                    value = step()
            except StopIteration as end:
                return outward(end.value)
            try:
                step = functools.partial(inside.send, (yield outward(value)))
            except GeneratorExit:
                raise
            except BaseException as error:
                step = functools.partial(inside.throw, error)
    finally:
        inside.close()


def is_alone(scalar: torch.Tensor) -> bool:
    """Whether nothing else lies in the memory of a scalar."""
    try:
        return scalar._base is None and scalar.untyped_storage().nbytes() <= scalar.element_size()
    except (RuntimeError, NotImplementedError):
        return False


def _held_by(value: Any) -> list[tuple[Any, Any]] | None:
    """The items of a container, the attributes of an object of the user's; None for all else."""
    if type(value) in _CONTAINERS:
        return list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    made = getattr(type(value), "__init__", None)
    users = isinstance(value, types.SimpleNamespace) or dataclasses.is_dataclass(value) or isinstance(made, types.FunctionType)
    if not users or isinstance(value, (type, types.ModuleType, torch.nn.Module, BaseException)) or _is_librarys(type(value)):
        return None
    return list(getattr(value, "__dict__", {}).items())


def _is_librarys(kind: type) -> bool:
    return module_of(kind).split(".")[0] in ("torch", "numpy", "np2fx")


_CONTAINERS = (list, dict, collections.deque, collections.OrderedDict, collections.defaultdict)


def _empty_like(container: Any) -> Any:
    if isinstance(container, collections.deque):
        return collections.deque(maxlen=container.maxlen)
    return collections.defaultdict(container.default_factory) if isinstance(container, collections.defaultdict) else type(container)()


def _elements(container: Any) -> list[Any]:
    """What a list holds, what a dict holds (keys too: their order is part of it)."""
    return list(container) if not isinstance(container, dict) else [x for item in container.items() for x in item]


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def to_array(value: Any) -> Any:
    """A tensor as NumPy would hold it: a scalar where it is one."""
    if not isinstance(value, torch.Tensor):
        return value
    held = value.detach().resolve_conj().resolve_neg().cpu().numpy()
    return held[()] if is_scalar(value) else held


def keep(arguments: dict[str, Any], paths: tuple[str, ...]) -> None:
    """Remember that a rewritten function may put tensors into attributes ("self.last") of objects that were passed to it."""
    kept = _keeping.get()
    for path in paths if kept is not None else ():
        *owners, attribute = path.split(".")
        owner = arguments.get(owners[0])
        for name in owners[1:]:
            owner = getattr(owner, name, None)
        if owner is not None and not isinstance(owner, torch.Tensor):
            kept.setdefault((id(owner), attribute), (owner, _stored(owner, attribute), True))  # type: ignore[union-attr]


def _stored(owner: Any, attribute: str) -> Any:
    """What an object holds under a name: a property holds nothing, and none is asked."""
    held = getattr(owner, "__dict__", {})
    return held[attribute] if attribute in held else None if _is_property(owner, attribute) else getattr(owner, attribute, None)


def _is_property(owner: Any, attribute: str) -> bool:
    return isinstance(inspect.getattr_static(type(owner), attribute, None), (property, functools.cached_property))


def collect() -> contextvars.Token[_Kept | None] | None:
    """Begin to remember, in the outermost call (None in calls within it)."""
    return _keeping.set({}) if _keeping.get() is None else None


def release(passage: Passage, token: contextvars.Token[_Kept | None] | None) -> None:
    """What rewritten functions left in the attributes of objects, as arrays: the rest of the program computes with NumPy.

    What was a tensor before stays one, and so does what has a gradient."""
    if token is None:
        return
    kept = _keeping.get() or {}
    _keeping.reset(token)
    for (_, attribute), (owner, before, is_argument) in kept.items():
        if not (is_argument or passage.arrays or passage.reaches(owner)):
            continue  # made in a function on tensors, which gives it back with tensors
        if _is_property(owner, attribute) and attribute not in getattr(owner, "__dict__", {}):
            continue
        value = getattr(owner, attribute, None)
        if isinstance(before, torch.Tensor) or (isinstance(value, torch.Tensor) and value.requires_grad):
            if (new := passage.apart(value)) is not value:
                setattr(owner, attribute, new)
            continue
        new = passage.state(value)
        if new is not value:
            setattr(owner, attribute, new)
