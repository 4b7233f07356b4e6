"""A piece of a trace that is cut out again: what is recorded within becomes a graph of its own, and all else is as it was before.

The piece runs on the trace's own arrays, so that whatever it reaches (locals, closures, attributes) is what it would be. Only its operands
are exchanged: each variable of the loop gets an array, scalar or number of its own, and each array that is written into the contents.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import fx

from ..semantics.arrays import as_tensor, zero_d_array
from ..semantics.dtypes import to_torch
from ..semantics.table import Refused
from .array import TracedNpArray
from .branches import Forks
from .errors import error
from .layout import laid_out, layout_of
from .number import DTYPES, TracedNumber, is_number, kind_of, new_number, tensor_as
from .recorder import contents_of_tensor
from .scalar import TracedScalar
from .storage import Storage
from .tracer import Tracer


class Grown(BaseException):
    """More belongs to what a loop carries or reads than was known. `written`: a storage that is about to be written to."""

    def __init__(self, written: Storage | None = None) -> None:
        super().__init__()
        self.written = written


# Values of variables


@dataclass(frozen=True)
class Kind:
    """What a variable is throughout a loop: "array", "scalar" or "number", of a dtype (a number: its type), shape and layout."""

    what: str
    dtype: Any
    shape: tuple[int, ...] = ()
    layout: tuple[int, ...] | None = None

    def __str__(self) -> str:
        if self.what == "number":
            return f"a Python {self.dtype.__name__}"
        if self.what == "scalar":
            return f"a {self.dtype} scalar"
        return f"a {self.dtype} array of shape {self.shape}" + ("" if self.layout is None else " in another order than C")

    def zero(self) -> Any:
        """A value of this kind."""
        if self.what == "number":
            return self.dtype(0)
        return numpy.zeros(self.shape, self.dtype) if self.what == "array" else self.dtype.type(0)

    @property
    def torch(self) -> torch.dtype:
        return DTYPES[self.dtype] if self.what == "number" else to_torch(self.dtype)


def kind_of_value(x: Any) -> Kind | None:
    """The kind of a value that a loop can carry; None for all others."""
    if type(x) is TracedNpArray:
        found = Kind("array", x._value.dtype, x._value.shape, layout_of(x._value)) if x._value is not None else None
    elif type(x) is TracedScalar:
        found = None if x._weak else Kind("scalar", x._value.dtype)
    elif isinstance(x, numpy.generic) and type(x) is not TracedNumber:
        found = Kind("scalar", x.dtype)
    elif is_number(x):
        found = None if getattr(x, "_either", False) else Kind("number", kind_of(x))
    else:
        return None
    try:
        return found if found is not None and found.torch is not None and (found.what == "number" or found.dtype.isnative) else None
    except Refused:
        return None


def held_value(x: Any) -> Any:
    """NumPy's or Python's value of what a loop can carry, apart from all other memory."""
    return laid_out(x._value) if type(x) is TracedNpArray else getattr(x, "_value", x)


def tensor_of_value(tracer: Tracer, x: Any) -> torch.Tensor:
    """The torch side of what a loop can carry."""
    if type(x) is TracedNpArray or type(x) in (TracedScalar, TracedNumber):
        return tracer.tensor(x)
    return tensor_as(x, kind_of(x)) if is_number(x) else as_tensor(x)


def made_of(tracer: Tracer, kind: Kind, value: Any, node: fx.Node, written: Callable[[Storage], None]) -> Any:
    """The traced value of this kind that `node` gives. `written` is called where somebody writes into it, if it is an array."""
    tensor = plain_tensor(value, kind)
    tracer.recorder.record(tensor, node)
    if kind.what == "number":
        return new_number(tracer, value, tensor)
    if kind.what == "scalar":
        return tracer.note(TracedScalar(value, tensor))
    storage = tracer.new_storage(value, tensor, "fresh")
    storage.looped = written
    return tracer.note_array(value, storage, tensor)


def plain_tensor(value: Any, kind: Kind | None = None) -> torch.Tensor:
    """A tensor of its own for a value."""
    if kind is not None and kind.what == "number":
        return tensor_as(value, kind.dtype).clone()
    made = as_tensor(value).clone()
    return zero_d_array(made) if isinstance(value, numpy.ndarray) else made


# Questions


class Asking:
    """The questions in a region. Each has a node of its own in it."""

    def __init__(self, region_before: set[fx.Node], real: bool) -> None:
        self.before, self.real = region_before, real

    def own(self, node: fx.Node) -> fx.Node:
        """A node of the region for the condition `node`."""
        return node if node not in self.before and node.target is not operand else node.graph.call_function(torch.ne, (node, False))


class Exploring(Asking):
    """Answers as one of all ways needs it. `real`: whether the values are the sample's."""

    def __init__(self, before: set[fx.Node], real: bool, forks: Forks) -> None:
        super().__init__(before, real)
        self.forks = forks

    @property
    def on_sample(self) -> bool:
        return self.real and self.forks.on_sample

    def decide(self, truth: bool, node: fx.Node) -> bool:
        return self.forks.decide(truth, self.own(node))


class Following(Asking):
    """Answers as the values have it."""

    on_sample = True

    def __init__(self, before: set[fx.Node]) -> None:
        super().__init__(before, True)
        self.given: list[bool] = []

    def decide(self, truth: bool, node: fx.Node) -> bool:
        self.own(node).meta.setdefault("decides", []).append(len(self.given))
        self.given.append(truth)
        return truth


# Regions


def operand(number: int) -> Any:
    """Stands in a region for its operand."""
    raise AssertionError("an operand is no call")


_MARKS = ("watch", "looped", "stale", "lent", "version")
"""What a region may note at storages from outside."""


class Region:
    """Between `open` and `close` the trace records a region."""

    def __init__(self, tracer: Tracer, written: list[Storage]) -> None:
        self.tracer, self.written = tracer, written
        self.count = 0
        self.grown: Storage | None = None

    def open(self) -> set[fx.Node]:
        """The nodes before the region."""
        tracer = self.tracer
        self.before = set(tracer.graph.nodes)
        self.made = [x for ref in tracer.made.values() if (x := ref()) is not None]
        self.arrays = [(x, x._tensor, x._version, x._value, x._storage) for x in self.made if type(x) is TracedNpArray]
        self.numbers = [(x, x._truth, x._marked) for x in self.made if type(x) is TracedNumber]
        self.storages = dict(tracer.storages)
        self.contents = [(s, s.value, s.version, s.written, laid_out(s.owner)) for s in self.written]
        self.kept = len(tracer.recorder._kept)
        self.graphs = set(dict(tracer.root.named_children()))
        self.names = {k: copy.copy(v) for k, v in vars(tracer.graph._graph_namespace).items()}
        self.sizes = len(tracer.recorder.sizes)
        self.computed, tracer.recorder.computed = tracer.recorder.computed, {}
        self.forks, self.state = tracer.forks, (tracer.failure, tracer.caught, tracer.floating)
        self.marks = [(s, [getattr(s, name) for name in _MARKS]) for s in self.storages.values()]
        for storage, _ in self.marks:
            storage.watch = None if storage in self.written else self._watch
        return self.before

    def operand(self, kind: Kind, value: Any) -> Any:
        """A new operand of this kind with a value."""
        return made_of(self.tracer, kind, value, self._node(), _write_shared)

    def contents_of(self, storage: Storage, value: numpy.ndarray[Any, Any]) -> None:
        """The contents of a storage as an operand."""
        storage.owner[...] = value
        tensor = plain_tensor(value)
        self.tracer.recorder.record(tensor, self._node())
        storage.materialise()
        storage.value = tensor
        storage.version += 1

    def _node(self) -> fx.Node:
        self.count += 1
        return self.tracer.graph.create_node("call_function", operand, (self.count - 1,), {})

    def reads(self, outputs: list[fx.Node]) -> dict[Any, torch.Tensor | fx.Node]:
        """What the region reads of the graph outside: nodes, and by their contents the constants."""
        found = dict.fromkeys(n for node in self.own() for n in node.all_input_nodes) | dict.fromkeys(outputs)
        constants = self.tracer.recorder.constants()
        keys = {n: self._key(n, constants) for n in found if n in self.before or (n.op == "get_attr" and "graph" not in n.meta)}
        return {key: constants.get(n, n) for n, key in keys.items()}

    def _key(self, node: fx.Node, constants: dict[fx.Node, torch.Tensor]) -> Any:
        return node if node not in constants else contents_of_tensor(constants[node]) or id(constants[node])

    def cut(self, outputs: list[fx.Node], outside: list[Any]) -> fx.Graph:
        """The region as a graph: its operands and what it reads, `outside` (see `reads`), are the placeholders."""
        self.tracer.recorder.mark_views()
        made = fx.Graph()
        operands = [made.placeholder(f"state_{i}") for i in range(self.count)]
        read = {key: made.placeholder(f"read_{i}") for i, key in enumerate(outside)}
        constants = self.tracer.recorder.constants()
        places: dict[fx.Node, fx.Node] = {}

        def place(node: fx.Node) -> fx.Node:
            return places[node] if node in places else read[self._key(node, constants)]

        for node in self.own():
            if node.target is operand:
                places[node] = operands[node.args[0]]  # type: ignore[index]
            elif node.op != "get_attr" or "graph" in node.meta:
                places[node] = made.node_copy(node, place)
        made.output(tuple(map(place, outputs)))
        return made

    def own(self) -> list[fx.Node]:
        return [n for n in self.tracer.graph.nodes if n not in self.before]

    def problem(self) -> str:
        """Why the region is not to be a graph of its own; "" where it may be."""
        if len(self.tracer.recorder.sizes) > self.sizes:
            return "a size in it depends on values"
        if any(n.meta.get("writes") for n in self.own()):
            return "torch writes in place in it"
        for x, _, _, value, storage in self.arrays:
            if x._value is not value or x._storage is not storage:
                return "it changes the shape of an array in place"
        return ""

    def leaks(self) -> bool:
        """True where something that the region made is kept by something outside."""
        self._unmark()
        before = set(map(id, self.made))
        for attempt in range(2):
            alive = [x for ref in list(self.tracer.made.values()) if (x := ref()) is not None and id(x) not in before]
            if all(type(x) is TracedNpArray and x._storage.origin == "outside" for x in alive):
                return False  # constants that were met for the first time
            del alive
            if attempt == 0:
                gc.collect()
        return True

    def close(self) -> None:
        """All is as it was before."""
        tracer = self.tracer
        own = self.own()
        tracer.recorder.forget(set(own))
        for node in reversed(own):
            tracer.graph.erase_node(node)
        vars(tracer.graph._graph_namespace).update(self.names)
        for name in dict(tracer.root.named_children()).keys() - self.graphs:
            delattr(tracer.root, name)
        for x, tensor, version, value, storage in self.arrays:
            x._tensor, x._version, x._value, x._storage = tensor, version, value, storage
        for number, truth, marked in self.numbers:
            number._truth, number._marked = truth, marked
        tracer.storages = {k: s for k, s in tracer.storages.items() if k in self.storages or s.origin == "outside"}
        self._unmark()
        for storage, held, version, was_written, contents in self.contents:
            storage.owner[...] = contents
            storage.value, storage.version, storage.written = held, version, was_written
        tracer.made = {k: ref for k, ref in tracer.made.items() if ref() is not None}
        tracer.recorder.release(self.kept)
        tracer.recorder.computed = self.computed
        tracer.forks = self.forks
        tracer.failure, tracer.caught, tracer.floating = self.state


    def _unmark(self) -> None:
        for storage, marks in self.marks:
            for name, mark in zip(_MARKS, marks, strict=True):
                setattr(storage, name, mark)

    def _watch(self, storage: Storage) -> None:
        self.grown = storage  # for code that catches all
        raise Grown(storage)


def _write_shared(_: Storage) -> None:
    raise error("aliasing", "the body writes into an array that it also binds to another name", "copy it in the body: x = x.copy()")
