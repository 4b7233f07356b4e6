"""Arguments and results taken apart: containers, the arrays in them, and everything else, which stays as it is."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import keyword
import re
from collections.abc import Callable
from typing import Any

import numpy
import torch

from .array import TracedNpArray
from .contents import ATOMS, bits_of, contents_of, slots_of
from .number import TracedNumber
from .scalar import TracedScalar
from .state import current


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The place of the array number `index`, called `name`."""

    index: int
    name: str


@dataclasses.dataclass(frozen=True)
class Fixed:
    """A value that is no array: the graph is specialised on it."""

    value: Any
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and self.name == other.name and same(self.value, other.value)


@dataclasses.dataclass(frozen=True)
class Node:
    """A container: how it is made again, the keys of its parts and the parts. For a subclass of dict also an empty one of its kind,
    which knows what else that has (the factory of a defaultdict)."""

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Any, ...]
    empty: Any = dataclasses.field(default=None, compare=False)

    def build(self, parts: list[Any]) -> Any:
        """The container with other parts."""
        if self.kind in (list, tuple):
            return self.kind(parts)
        if issubclass(self.kind, dict):
            made = self.kind() if self.empty is None else copy.copy(self.empty)
            made.update(zip(self.keys, parts, strict=True))
            return made
        if dataclasses.is_dataclass(self.kind):
            made = object.__new__(self.kind)  # type: ignore[arg-type]
            for key, part in zip(self.keys, parts, strict=True):
                object.__setattr__(made, key, part)
            return made
        return self.kind(*parts)


def is_leaf(x: Any) -> bool:
    """Arrays, NumPy scalars and tensors, traced or not."""
    return isinstance(x, (numpy.ndarray, numpy.generic, torch.Tensor)) or type(x) in (TracedNpArray, TracedScalar, TracedNumber)


def children(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """The keys and parts of a container; None for what is none."""
    if isinstance(x, dict):
        return tuple(x), tuple(x.values())
    if type(x) in (list, tuple):
        return tuple(range(len(x))), tuple(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return tuple(x._fields), tuple(x)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = attributes(x)
        return names, tuple(getattr(x, n) for n in names)
    return None


def attributes(x: Any) -> tuple[str, ...]:
    """The names of what a dataclass holds: its fields, and what was set on it beside them, as its `__post_init__` does.

    What a `cached_property` keeps is left out, as it is computed again from the rest: unless the rest has changed since."""
    fields = [f.name for f in dataclasses.fields(x) if hasattr(x, f.name)]
    found = dict.fromkeys((*fields, *getattr(x, "__dict__", ()), *slots_of(x)))
    return tuple(n for n in found if n in fields or not _is_cache(x, n))


def keeps_result(x: Any, name: str) -> bool:
    """Whether an attribute is where a `cached_property` keeps what it has computed."""
    return isinstance(inspect.getattr_static(type(x), name, None), functools.cached_property)


def _is_cache(x: Any, name: str) -> bool:
    """Whether an attribute is no more than a result that the others give again."""
    if not keeps_result(x, name):
        return False
    if current() is not None:
        return True  # made by the function, from what the graph makes it from
    bare = copy.copy(x)
    del vars(bare)[name]
    try:
        return contents_of(getattr(bare, name)) == contents_of(vars(x)[name])
    except Exception:
        return False


def flatten(x: Any, name: str, leaves: list[Any], seen: tuple[int, ...] = ()) -> Any:
    """The structure of `x`; its arrays are added to `leaves`, named `name_key`."""
    if is_leaf(x):
        leaves.append(x)
        return Leaf(len(leaves) - 1, name)
    found = children(x) if id(x) not in seen else None
    if found is None or not (isinstance(x, (dict, list, tuple)) or _has_leaf(found[1])):
        return Fixed(x, name)
    keys, parts = found
    return Node(
        type(x),
        keys,
        tuple(flatten(p, f"{name}_{k}" if name else str(k), leaves, (*seen, id(x))) for k, p in zip(keys, parts, strict=True)),
        emptied(x),
    )


def emptied(x: Any) -> Any:
    """An empty one of a subclass of dict; None for all else."""
    if not isinstance(x, dict) or type(x) is dict:
        return None
    made = copy.copy(x)
    made.clear()
    return made


def _has_leaf(parts: tuple[Any, ...]) -> bool:
    return any(is_leaf(p) or _has_leaf((children(p) or ((), ()))[1]) for p in parts)


def rebuild(structure: Any, leaf: Callable[[int], Any]) -> Any:
    """The value again, with `leaf(index)` for its arrays."""
    if isinstance(structure, Leaf):
        return leaf(structure.index)
    if isinstance(structure, Fixed):
        return structure.value
    return structure.build([rebuild(p, leaf) for p in structure.parts])


def same(a: Any, b: Any) -> bool:
    """True where two values that are no arrays are of one type and equal (floats by their bits)."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) in (float, complex):
        return bool(bits_of(a) == bits_of(b))
    try:
        return bool(a == b) or bool(a != a and b != b)
    except Exception:
        return False


def match(structure: Any, value: Any, leaves: list[Any]) -> str | None:
    """Lay `value` over a structure: its arrays are added to `leaves` in the structure's order. Where the two differ, that is
    said in a sentence."""
    if isinstance(structure, Leaf):
        leaves.append(value)
        return None if is_leaf(value) else f"{structure.name} is {value!r}, and was an array when it was traced"
    if isinstance(structure, Fixed):
        if is_leaf(value) or not same(structure.value, value):
            return f"{structure.name} is {_told(value)}, and was {structure.value!r} when it was traced"
        return None
    found = children(value)
    if found is None or type(value) is not structure.kind or set(found[0]) != set(structure.keys):
        return f"{_told(value)} where a {structure.kind.__name__} of {list(structure.keys)} was traced"
    parts = dict(zip(*found, strict=True))
    return next((why for key, part in zip(structure.keys, structure.parts, strict=True) if (why := match(part, parts[key], leaves))), None)


def particulars(structure: Any, value: Any) -> tuple[Any, ...]:
    """What may differ in a value that matches a structure: the order of keys, and what objects hold now."""
    if isinstance(structure, Leaf):
        return ()
    if isinstance(structure, Fixed):
        return () if type(value) in ATOMS else contents_of(value)
    keys, parts = children(value) or ((), ())
    own: tuple[Any, ...] = ()
    if isinstance(value, dict):
        own = keys if all(type(k) is str for k in keys) else contents_of(keys)
        if type(value) is not dict:
            own += contents_of([getattr(value, "default_factory", None), getattr(value, "__dict__", None)])
    found = dict(zip(keys, parts, strict=True))
    held = tuple(particulars(part, found[key]) for key, part in zip(structure.keys, structure.parts, strict=True))
    return (own, held) if own or any(held) else ()


def laid_over(structure: Any, value: Any) -> Any:
    """The structure of a value that matches another: the numbers of that one's arrays, the order of keys and the objects of its own."""
    if isinstance(structure, Leaf):
        return structure
    if isinstance(structure, Fixed):
        return Fixed(value, structure.name)
    keys, parts = children(value) or ((), ())
    before = dict(zip(structure.keys, structure.parts, strict=True))
    return Node(type(value), keys, tuple(laid_over(before[k], p) for k, p in zip(keys, parts, strict=True)), emptied(value))


def leaf_order(structure: Any) -> list[Leaf]:
    """The places of the arrays, as they stand in the structure."""
    if isinstance(structure, Leaf):
        return [structure]
    return [leaf for part in structure.parts for leaf in leaf_order(part)] if isinstance(structure, Node) else []


def _told(value: Any) -> str:
    if is_leaf(value):
        return "an array"
    found = children(value)
    return repr(value)[:80] if found is None else f"a {type(value).__name__} of {list(found[0])}"


def leaf_names(structure: Any) -> list[str]:
    """Names for the placeholders: Python names, each once."""
    found: list[str] = []
    for leaf in sorted(leaf_order(structure), key=lambda s: s.index):
        name = re.sub(r"\W", "_", leaf.name) or "x"
        name = f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
        while name in found:
            name += "_"
        found.append(name)
    return found
