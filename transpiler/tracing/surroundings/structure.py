"""Arguments and results taken apart: containers, the arrays in them, and everything else, which stays as it is."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import inspect
import keyword
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from ..arrays.array import TracedNpArray
from ..arrays.number import TracedNumber
from ..arrays.scalar import TracedScalar
from ..sizes.traced import TracedSize
from ..state import current
from .contents import ATOMS, bits_of, contents_of, is_users, slots_of


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
        return isinstance(other, Fixed) and self.name == other.name and same(self.value, other.value, exactly=True)


@dataclasses.dataclass(frozen=True)
class Node:
    """A container: how it is made again, the keys of its parts and the parts. For a subclass of dict also an empty one of its kind,
    which knows what else that has (the factory of a defaultdict). Arguments of one `number` are one object."""

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Any, ...]
    empty: Any = dataclasses.field(default=None, compare=False)
    number: int | None = dataclasses.field(default=None, compare=False)

    def build(self, parts: list[Any]) -> Any:
        """The container with other parts."""
        if self.kind in (list, tuple):
            return self.kind(parts)
        if issubclass(self.kind, dict):
            made = self.kind() if self.empty is None else emptied(self.empty)
            for key, part in zip(self.keys, parts, strict=True):
                _plain(self.kind).__setitem__(made, key, part)
            return made
        if self.kind is types.SimpleNamespace:
            return types.SimpleNamespace(**dict(zip(self.keys, parts, strict=True)))
        if dataclasses.is_dataclass(self.kind) or is_plain(self.kind):
            made = object.__new__(self.kind)  # type: ignore[arg-type]
            for key, part in zip(self.keys, parts, strict=True):
                object.__setattr__(made, key, part)
            return made
        kind: Any = self.kind
        count = len(kind._fields)
        made = tuple.__new__(kind, parts[:count])  # its own `__new__` may change what it is given
        for key, part in zip(self.keys[count:], parts[count:], strict=True):
            vars(made)[key] = part
        return made


def _plain(kind: type) -> Any:
    """The class whose methods tell what is in a dict: those of a subclass may change it (`Counter.update` adds)."""
    return collections.OrderedDict if issubclass(kind, collections.OrderedDict) else dict


def is_leaf(x: Any) -> bool:
    """Arrays, NumPy scalars and tensors, traced or not."""
    return isinstance(x, (numpy.ndarray, numpy.generic, torch.Tensor)) or type(x) in (TracedNpArray, TracedScalar, TracedNumber, TracedSize)


def children(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """The keys and parts of a container; None for what is none."""
    if isinstance(x, dict):
        return tuple(_plain(type(x)).keys(x)), tuple(_plain(type(x)).values(x))
    if type(x) in (list, tuple):
        return tuple(range(len(x))), tuple(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        held = getattr(x, "__dict__", {})
        names, parts = (*x._fields, *held), (*tuple.__iter__(x), *held.values())
        return (names, parts) if len(set(names)) == len(parts) == len(names) else None
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = attributes(x)
        return names, tuple(getattr(x, n) for n in names)
    if type(x) is types.SimpleNamespace or is_plain(type(x)):
        return tuple(vars(x)), tuple(vars(x).values())
    return None


def is_plain(kind: type) -> bool:
    """True for a user's class whose objects are their attributes and nothing else: none of compiled code among its bases, no slots."""
    if dataclasses.is_dataclass(kind) or not kind.__flags__ & _HEAP_TYPE:
        return False
    return all(map(_holds_attributes, kind.__mro__[:-1]))


def _holds_attributes(cls: type) -> bool:
    return is_users(cls) and type(cls) is type and "__slots__" not in vars(cls) and not _SPECIAL & vars(cls).keys()


_HEAP_TYPE = 1 << 9
_SPECIAL = {"__new__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__reduce__", "__reduce_ex__", "__getstate__",
            "__array__", "__array_ufunc__", "__array_function__", "__torch_function__", "__call__"}  # fmt: skip
"""Methods of classes whose objects are more than what they hold."""


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


def flatten(x: Any, name: str, leaves: list[Any], seen: tuple[int, ...] = (), numbers: dict[int, int] | None = None) -> Any:
    """The structure of `x`; its arrays are added to `leaves`, named `name_key`. With `numbers` it is told which containers are one."""
    if is_leaf(x):
        leaves.append(x)
        return Leaf(len(leaves) - 1, name)
    found = children(x) if id(x) not in seen else None
    if found is None or not (isinstance(x, (dict, list, tuple)) or _has_leaf(found[1])):
        return Fixed(x, name)
    keys, parts = found
    number = None if numbers is None else numbers.setdefault(id(x), len(numbers))
    return Node(
        type(x),
        keys,
        tuple(flatten(p, f"{name}_{k}" if name else str(k), leaves, (*seen, id(x)), numbers) for k, p in zip(keys, parts, strict=True)),
        emptied(x),
        number,
    )


def emptied(x: Any) -> Any:
    """An empty one of a subclass of dict; None for all else."""
    if not isinstance(x, dict) or type(x) is dict:
        return None
    held = {**getattr(x, "__dict__", {}), **slots_of(x)}
    base = _plain(type(x))
    if isinstance(x, collections.defaultdict):
        base, held["default_factory"] = collections.defaultdict, x.default_factory
    made = base.__new__(type(x))  # nothing of the user's code runs here
    for name, value in held.items():
        object.__setattr__(made, name, value)
    return made


def holds_arrays(x: Any) -> bool:
    """Whether a container has an array in it."""
    return _has_leaf((children(x) or ((), ()))[1])


def _has_leaf(parts: tuple[Any, ...], above: tuple[int, ...] = ()) -> bool:
    found = ((p, (children(p) or ((), ()))[1] if id(p) not in above else ()) for p in parts)
    return any(is_leaf(p) or _has_leaf(inner, (*above, id(p))) for p, inner in found)


def rebuild(structure: Any, leaf: Callable[[int], Any], made: dict[int, Any] | None = None) -> Any:
    """The value again, with `leaf(index)` for its arrays."""
    if isinstance(structure, Leaf):
        return leaf(structure.index)
    if isinstance(structure, Fixed):
        return structure.value
    made = {} if made is None else made
    if structure.number in made:
        return made[structure.number]
    built = structure.build([rebuild(p, leaf, made) for p in structure.parts])
    if structure.number is not None:
        made[structure.number] = built
    return built


def same(a: Any, b: Any, exactly: bool = False) -> bool:
    """True where two values that are no arrays are of one type and equal (floats by their bits); `exactly` those of Python's
    own types in all that they hold, as `Decimal("1.0")` and `Decimal("1")` are equal."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) in (float, complex):
        return bool(bits_of(a) == bits_of(b))
    try:
        equal = bool(a == b) or bool(a != a and b != b)
        return equal and (not exactly or is_users(type(a)) or contents_of(a) == contents_of(b))
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
    """What may differ in a value that matches a structure: the order of keys, what objects hold now, and which of them are one."""
    orders: list[Any] = []
    held: list[Any] = []
    _particulars(structure, value, orders, held)
    return (*orders, contents_of(held) if held else ())


def _particulars(structure: Any, value: Any, orders: list[Any], held: list[Any]) -> None:
    kind = type(structure)
    if kind is Fixed and type(value) not in ATOMS:
        held.append(value)
    if kind is not Node:
        return
    parts: Any = value
    if isinstance(value, dict):
        keys, values = children(value) or ((), ())
        (orders if all(type(k) is str for k in keys) else held).append(keys)
        if type(value) is not dict:
            held += [getattr(value, "default_factory", None), getattr(value, "__dict__", None)]
            parts = dict(zip(keys, values, strict=True))
    elif type(value) not in (list, tuple):
        parts = dict(zip(*(children(value) or ((), ())), strict=True))
    for key, part in zip(structure.keys, structure.parts, strict=True):
        _particulars(part, parts[key], orders, held)


def sharing(structure: Any, value: Any) -> tuple[int, ...]:
    """Which arrays and containers in a value that matches a structure are one object: for each the place of the first that it is."""
    first: dict[int, int] = {}
    return tuple([first.setdefault(id(x), i) for i, x in enumerate(_objects(structure, value, []))])


def beside(structure: Any, *values: Any) -> Iterator[tuple[Any, ...]]:
    """The arrays and containers in values that match a structure, one beside the other."""
    return zip(*(_objects(structure, value, []) for value in values), strict=True)


def _objects(structure: Any, value: Any, found: list[Any]) -> list[Any]:
    kind = type(structure)
    if kind is Fixed or (type(value) is tuple and not value):  # there is one empty tuple
        return found
    found.append(value)
    if kind is Node:
        parts = value if type(value) in (dict, list, tuple) else dict(zip(*(children(value) or ((), ())), strict=True))
        if type(value) is dict and not value.keys() >= set(structure.keys):
            parts = dict(zip(structure.keys, value.values(), strict=True))  # its functions are those of the trace
        for key, part in zip(structure.keys, structure.parts, strict=True):
            _objects(part, parts[key], found)
    return found


def laid_over(structure: Any, value: Any, numbers: dict[int, int] | None = None) -> Any:
    """The structure of a value that matches another: the numbers of that one's arrays, the order of keys and the objects of its own."""
    if isinstance(structure, Leaf):
        return structure
    if isinstance(structure, Fixed):
        return Fixed(value, structure.name)
    keys, parts = children(value) or ((), ())
    before = dict(zip(structure.keys, structure.parts, strict=True))
    numbers = {} if numbers is None else numbers
    number = numbers.setdefault(id(value), len(numbers))
    laid = tuple(laid_over(before[k], p, numbers) for k, p in zip(keys, parts, strict=True))
    return Node(type(value), keys, laid, emptied(value), number)


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
