"""What one way through a piece of the function leaves: variables, and what it has written.

Variables are taken apart into the arrays and numbers in them, which may be chosen, and all else, which must be the same on all ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import fx

from ...semantics.arrays import as_tensor
from ..arrays.array import TracedNpArray
from ..recording.outputs import pinned_in
from ..recording.storage import Storage
from ..sizes.shapes import extents_of
from ..surroundings.contents import ATOMS
from ..surroundings.structure import Fixed, Leaf, Node, children, flatten, is_leaf
from ..tracer import Tracer
from .hoisting import UNSET
from .regions import Kind, Unfit, held_value, kind_of_value, tensor_of_value


@dataclass
class Value:
    """An array, scalar or number that a way leaves: its kind, NumPy's value, its node, the memory that it lies in and its extents."""

    kind: Kind
    value: Any
    node: fx.Node
    storage: Storage | None = None
    extents: Any = ()


@dataclass
class Left:
    """What one way leaves.

    forms    the structures of the variables that it binds; `SAME` of those that it leaves as they are
    objects  of these variables those that are bound to what was there before
    values   the arrays and numbers in the structures
    written  the memory that it writes into, and its contents
    graph    what it has recorded: with a placeholder for each of `reads`, gives the values and contents
    sizes    the sizes in it that depend on values"""

    forms: dict[str, Any] = field(default_factory=dict)
    objects: dict[str, Any] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    written: dict[Storage, Value] = field(default_factory=dict)
    graph: fx.Graph = field(default_factory=fx.Graph)
    reads: dict[Any, Any] = field(default_factory=dict)
    sizes: list[tuple[int, ...]] = field(default_factory=list)


SAME = Fixed(UNSET, "what it was")


@dataclass(eq=False)
class Object:
    """An object that is to be the same one on all ways."""

    x: Any


def _changeable(x: Any) -> Iterator[Any]:
    """The containers in a value that can be changed."""
    found = None if is_leaf(x) else children(x)
    if found is not None:
        if not isinstance(x, tuple):
            yield x
        for part in found[1]:
            yield from _changeable(part)


def _placed(structure: Any, places: list[int]) -> Any:
    """The structure with other numbers for its arrays."""
    if isinstance(structure, Leaf):
        return Leaf(places[structure.index], structure.name)
    if isinstance(structure, Fixed):
        return structure
    return Node(structure.kind, structure.keys, tuple(_placed(p, places) for p in structure.parts), structure.empty)


def form_of(tracer: Tracer, name: str, x: Any, values: list[Value], known: dict[int, Any], met: dict[int, Any]) -> Any:
    """The structure of what a variable is bound to; the arrays and numbers in it are added to `values`.

    A list that was there before, or that two variables hold, is to stay what it is."""
    x = pinned_in(x)
    if x is UNSET or type(x) in ATOMS:
        return Fixed(x, name)
    parts = list(_changeable(x))
    if any(id(p) in known or id(p) in met for p in parts):
        return Fixed(Object(x), name)
    met.update({id(p): p for p in parts})
    leaves: list[Any] = []
    structure = flatten(x, name, leaves)
    return _placed(structure, [_value(tracer, name, leaf, values) for leaf in leaves])


def _value(tracer: Tracer, name: str, x: Any, values: list[Value]) -> int:
    kind = kind_of_value(x)
    if kind is None:
        raise Unfit(f"{name} is no array and no number")
    tensor = as_tensor(x._value) if type(x) is TracedNpArray and tracer.is_constant(x) else tensor_of_value(tracer, x)
    if tensor.dtype != kind.torch or tuple(tensor.shape) != kind.shape:
        raise Unfit(f"{name} is not what NumPy has")
    node = tracer.recorder.argument(tensor)
    if node.meta.get("loose") and kind.shape:
        raise Unfit(f"the size of {name} depends on values")
    values.append(Value(kind, held_value(x), node, getattr(x, "_storage", None), extents_of(node) if kind.shape else ()))
    return len(values) - 1


def memory_of(tracer: Tracer, storage: Storage) -> Value:
    """The present contents of memory."""
    node = tracer.recorder.argument(storage.materialise())
    return Value(Kind("array", storage.owner.dtype, storage.owner.shape), storage.owner.copy(), node, None, extents_of(node))
