"""The ways of a piece of the function, merged into one graph that is laid into the trace (see `joining`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy
import torch
from torch import fx

from ..arrays.array import TracedNpArray
from ..arrays.number import DTYPES, tensor_as
from ..module import Face
from ..recording.inlining import inlined
from ..recording.storage import Storage
from ..surroundings.structure import Fixed, Leaf, Node, rebuild, same
from .branches import Way, merged
from .hoisting import UNSET
from .left import SAME, Left, Object, Value, form_of, memory_of
from .regions import Kind, Shared, Unfit, made_of, plain_tensor

if TYPE_CHECKING:
    from .joining import Joining


@dataclass
class _Slot:
    """What is chosen: its kind, and for each way where its node is and what value and memory it has there.

    A node is the number of one of the way's outputs, or one of the graph outside. `extents` tell how its sizes hang on the inputs'."""

    kind: Kind
    nodes: list[int | fx.Node]
    values: list[Any]
    storages: list[Storage | None]
    extents: list[Any]


class Laid:
    """The ways of a joining merged, and laid into the trace."""

    def __init__(self, joining: Joining, ways: list[Way]) -> None:
        self.joining, self.tracer, self.ways = joining, joining.tracer, ways
        self.lefts: list[Left] = [w.recording for w in ways if w.recording is not None]
        self.outer: list[Value] = []
        self.slots: list[_Slot] = []
        taken = next((i for i, w in enumerate(w for w in ways if w.recording is not None) if w.is_taken), None)
        if joining.real and taken is None:
            raise Unfit("it does not repeat")
        self.taken = taken or 0

    def variables(self, read_stale: Callable[[], None]) -> dict[str, Any]:
        """What the variables are, and the memory written."""
        tracer = self.tracer
        forms = {name: self.common_form(name) for name in self.joining.start}
        written = dict.fromkeys(s for left in self.lefts for s in left.written)
        memory = [self.contents(s) for s in written]
        graph, root, outside = self.merged([*self.slots, *memory])
        nodes = inlined(tracer, graph, root, outside)
        for slot, node in zip([*self.slots, *memory], nodes, strict=True):
            self.note_extents(slot, node)
        made = [made_of(tracer, slot.kind, slot.values[self.taken], node) for slot, node in zip(self.slots, nodes, strict=False)]
        for storage, slot, node in zip(written, memory, nodes[len(made) :], strict=True):
            storage.check_writable()
            storage.owner[...] = slot.values[self.taken]
            storage.value = tracer.recorder.record(plain_tensor(slot.values[self.taken]), node)
            storage.version += 1
            storage.written = True
        self.note_aliases(made, read_stale)
        for left in self.lefts:
            tracer.recorder.sizes += left.sizes
        start = self.joining.start
        return {name: start[name] if form is SAME else _without_objects(rebuild(form, made.__getitem__)) for name, form in forms.items()}

    # What each variable is

    def common_form(self, name: str) -> Any:
        """One form for what a variable is on the ways; UNSET where it has no value, or cannot have one that nobody reads."""
        forms = [left.forms[name] for left in self.lefts]
        if all(f is SAME for f in forms):
            return SAME
        objects = [left.objects.get(name, SAME) for left in self.lefts]
        if all(x is objects[0] for x in objects) and objects[0] is not SAME:
            return Fixed(Object(objects[0]), name)
        is_read = name in self.joining.needed
        if name in self.joining.late:
            return self.common(name, [self.form_before(name) if f is SAME else f for f in forms])
        if any((self.joining.start[name] if f is SAME else f.value) is UNSET for f in forms if isinstance(f, Fixed)):
            if is_read and self.joining.guarded:
                raise Unfit(f"{name} has no value on one way")
            self.tracer.unset = True
            return Fixed(UNSET, name)
        try:
            forms = [self.form_before(name) if f is SAME else f for f in forms]
            return self.common(name, forms)
        except Unfit:
            if is_read or self.joining.guarded:
                raise
            self.tracer.unset = True
            return Fixed(UNSET, name)

    def form_before(self, name: str) -> Any:
        """The form of what a variable was, with places among `outer`."""
        joining = self.joining
        return _Before(form_of(self.tracer, name, joining.start[name], self.outer, joining.around.objects(), {}))

    def common(self, name: str, forms: list[Any]) -> Any:
        outer = [isinstance(f, _Before) for f in forms]
        return self._common(name, [f.form if o else f for f, o in zip(forms, outer, strict=True)], outer)

    def _common(self, name: str, forms: list[Any], outer: list[bool]) -> Any:
        """One form for several. Those that are UNSET may be anything."""
        there = [f for f in forms if not (isinstance(f, Fixed) and f.value is UNSET)] or forms
        first = there[0]
        if all(isinstance(f, Fixed) and same(f.value, first.value, exactly=True) for f in there):
            return first
        if all(isinstance(f, Node) and isinstance(first, Node) and (f.kind, f.keys) == (first.kind, first.keys) for f in there):
            parts = [self._common(name, [f.parts[i] if isinstance(f, Node) else f for f in forms], outer) for i in range(len(first.parts))]
            return Node(first.kind, first.keys, tuple(parts), first.empty)
        if not all(isinstance(f, Leaf) or (isinstance(f, Fixed) and type(f.value) in DTYPES) for f in there):
            raise Unfit(f"{name} is a Python value or a structure that differs")
        found = [self.at(f, left, o) for f, left, o in zip(forms, self.lefts, outer, strict=True)]
        kind: Kind | None = None
        for value in found:
            joined = kind if value is None else value.kind if kind is None else kind.joined(value.kind)
            if value is not None and joined is None:
                raise Unfit(f"{name} is {kind} on one way and {value.kind} on another")
            kind = joined
        if kind is None:
            raise AssertionError("nothing to choose from")
        empty = kind.zero()
        nothing: fx.Node = self.tracer.recorder.argument(plain_tensor(empty, kind))
        nodes: list[int | fx.Node] = []
        for form, value, is_outer in zip(forms, found, outer, strict=True):
            nodes.append(nothing if value is None else form.index if isinstance(form, Leaf) and not is_outer else value.node)
        values = [empty if v is None else kind.cast(v.value) for v in found]
        storages = [None if v is None else v.storage for v in found]
        self.slots.append(_Slot(kind, nodes, values, storages, [None if v is None else v.extents for v in found]))
        return Leaf(len(self.slots) - 1, name)

    def at(self, form: Any, left: Left, outer: bool) -> Value | None:
        """The value in a form, None where that is UNSET."""
        if isinstance(form, Leaf):
            return (self.outer if outer else left.values)[form.index]
        if form.value is UNSET:
            return None
        kind = Kind("number", type(form.value))
        return Value(kind, form.value, self.tracer.recorder.argument(tensor_as(form.value, kind.dtype)))

    def contents(self, storage: Storage) -> _Slot:
        """What the memory holds that some of the ways write into."""
        before: Value | None = None
        nodes: list[int | fx.Node] = []
        found: list[Value] = []
        for left in self.lefts:
            if storage in left.written:
                nodes.append(len(left.values) + list(left.written).index(storage))
                found.append(left.written[storage])
            else:
                before = before or memory_of(self.tracer, storage)
                nodes.append(before.node)
                found.append(before)
        return _Slot(found[0].kind, nodes, [v.value for v in found], [], [v.extents for v in found])

    # The graph

    def merged(self, slots: list[_Slot]) -> tuple[fx.Graph, torch.nn.Module, list[Any]]:
        """One graph for all ways, and what it reads of the graph outside."""
        outside: dict[Any, Any] = {key: x for left in self.lefts for key, x in left.reads.items()}
        outside |= {n: n for slot in slots for n in slot.nodes if isinstance(n, fx.Node)}
        numbers = {id(left): i for i, left in enumerate(self.lefts)}
        ways = [w if w.recording is None else Way(w.answers, w.is_taken, self.recording(numbers[id(w.recording)], slots, list(outside)))
                for w in self.ways]  # fmt: skip
        for way, was in zip(ways, self.ways, strict=True):
            way.raised = was.raised
        graph, root = merged(ways, self.joining.place)
        return graph, root, list(outside.values())

    def recording(self, number: int, slots: list[_Slot], outside: list[Any]) -> Any:
        """One way, as `branches` takes it."""
        left, graph = self.lefts[number], fx.Graph()
        inputs = {key: graph.placeholder(f"read_{i}") for i, key in enumerate(outside)}
        for key, node in inputs.items():
            node.meta["constant"] = not isinstance(key, fx.Node) or key.op == "get_attr"
            node.meta["loose"] = isinstance(key, fx.Node) and key.meta.get("loose", False)
        places: dict[fx.Node, fx.Node] = {}
        keys = iter(left.reads)
        outputs: list[fx.Node] = []
        for node in left.graph.nodes:
            if node.op == "placeholder":
                places[node] = inputs[next(keys)]
            elif node.op == "output":
                outputs = [places[n] for n in node.args[0]]  # type: ignore[union-attr, index]
            else:
                places[node] = graph.node_copy(node, places.__getitem__)
        given = []
        for slot in slots:
            found = slot.nodes[number]
            node = outputs[found] if isinstance(found, int) else inputs[found]
            given.append(graph.call_method("to", (node, slot.kind.torch)) if slot.kind.casts else node)
        graph.output(tuple(given))
        return _Recording(_Part(graph, self.tracer.root, len(inputs)), tuple(numpy.asarray(slot.values[number])[()] for slot in slots))

    def note_extents(self, slot: _Slot, node: fx.Node) -> None:
        """How the sizes of what is chosen hang on the inputs'; where the ways differ in that, the graph holds for those of the sample."""
        first = slot.extents[0]
        if slot.kind.shape and (first is None or None in first or any(e != first for e in slot.extents)):
            self.tracer.recorder.pin_all()
            node.meta["extents"] = slot.kind.shape
        else:
            node.meta["extents"] = first if slot.kind.shape else ()

    def note_aliases(self, made: list[Any], read_stale: Callable[[], None]) -> None:
        """Arrays that are one piece of memory on some of the ways: nobody may write into one and read another."""
        groups: list[tuple[set[Any], list[Storage]]] = []
        for slot, x in zip(self.slots, made, strict=True):
            lies: set[Any] = set()
            for number, storage in enumerate(slot.storages):
                while storage is not None:
                    lies.add(storage if storage in self.joining.before or storage.origin != "fresh" else (number, storage))
                    storage = storage.base[0]._storage if storage.base is not None else None
            if type(x) is TracedNpArray:
                touching = [g for g in groups if g[0] & lies]
                groups = [g for g in groups if g not in touching]
                groups.append((lies.union(*(g[0] for g in touching)), [s for g in touching for s in g[1]] + [x._storage]))
        for lies, storages in groups:
            members = storages + [s for s in lies if isinstance(s, Storage)]
            if len(members) > 1:
                Shared(members, read_stale)


@dataclass
class _Before:
    form: Any


class _Part:
    """A graph in place of a module."""

    def __init__(self, graph: fx.Graph, root: torch.nn.Module, count: int) -> None:
        self.graph, self.root = graph, root
        self.face = Face(len, None, None, [f"read_{i}" for i in range(count)], [])  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.root, name)


@dataclass
class _Recording:
    module: _Part
    result: tuple[Any, ...]
    sizes: tuple[()] = ()
    given: tuple[()] = ()


def _without_objects(x: Any) -> Any:
    return x.x if type(x) is Object else x
