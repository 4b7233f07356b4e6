"""The end of a graph: what the function returns and what it wrote into its arguments."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from torch import fx

from ...semantics.table import Refused, module_of
from ..arrays.array import TracedNpArray
from ..arrays.number import TracedNumber, only
from ..arrays.text import Text
from ..control.risks import stays
from ..errors import error
from ..generating import Generator
from ..module import Face, TracedModule
from ..sizes.traced import TracedSize, pinned
from ..surroundings.contents import ATOMS
from ..surroundings.reach import reaches_traced
from ..surroundings.structure import Fixed, Leaf, Node, flatten, is_plain, rebuild
from ..tracer import Tracer
from .compound import compound
from .duplicates import merge_duplicates


def finish(tracer: Tracer, face: Face, result: Any, given: list[Any]) -> tuple[TracedModule, Any]:
    """The graph module; and the result with NumPy's values for arrays."""
    outputs: list[Any] = []
    if tracer.forks is not None and tracer.forks.given:
        result = pinned_in(result)
    structure = flatten(result, "", outputs)
    _check_kinds(structure, face)
    graph = tracer.graph
    samples = [g._storage if type(g) is TracedNpArray else None for g in given]
    face.mutated = [i for i, s in enumerate(samples) if s is not None and s.written and face.firsts[i] == i]
    memory = _Memory(tracer, samples, face.place)
    nodes = [memory.output(x) for x in outputs]
    for i in face.mutated:
        storage = samples[i]
        if storage is None or storage.value is None:
            continue
        value = tracer.recorder.argument(storage.value)
        copy = graph.create_node("call_function", torch.ops.aten.copy_.default, (storage.node, value), {})
        for n, x in enumerate(outputs):
            if type(x) is TracedNpArray and x._storage is storage and storage.covers(x._value) and x._value.shape == storage.owner.shape:
                nodes[n] = copy
    plain = is_inline(structure)
    face.outputs, face.returned = None if plain else structure, structure
    graph.output(rebuild(structure, lambda i: nodes[i]) if plain else tuple(nodes))
    beside = tracer.recorder.beside(nodes)
    for node in beside:
        node.meta["beside"] = True
    merge_duplicates(graph, beside)
    compound(graph, beside)
    if tracer.forks is not None and tracer.forks.given:
        tracer.recorder.mark_views()
    eliminate(graph)
    graph.lint()
    for name in [n for n in (*dict(tracer.root.named_buffers()), *dict(tracer.root.named_parameters())) if not _used(graph, n)]:
        delattr(tracer.root, name)
    graph.set_codegen(Generator())
    graph.is_draft = True  # type: ignore[attr-defined]
    module = TracedModule(tracer.root, graph, getattr(face.function, "__name__", "traced").title().replace("_", "") or "Traced")
    module.face = face
    values = [tracer.recorder.shells.opened(x) if isinstance(x, torch.Tensor) else _value(x) for x in outputs]
    return module, rebuild(structure, values.__getitem__)


def pinned_in(result: Any) -> Any:
    """A result with plain ints for sizes: what one way gives is chosen among others."""
    found: list[Any] = []
    structure = flatten(result, "", found)
    return rebuild(structure, lambda i: pinned(found[i])) if any(type(x) is TracedSize for x in found) else result


def _check_kinds(structure: Any, face: Face) -> None:
    """Objects that hold traced arrays are no structure that a graph could give again."""
    if isinstance(structure, Fixed) and isinstance(structure.value, Text):
        raise error("python-value", "values of the graph become a Python value (text) that the function returns",
                    "return the values, or split the node here", structure.value.place or face.place)  # fmt: skip
    fixed = isinstance(structure, Fixed) and type(structure.value) not in ATOMS and reaches_traced(structure.value)
    if fixed or (isinstance(structure, Node) and is_plain(structure.kind)):
        kind = type(structure.value) if fixed else structure.kind
        hint = "return its arrays" + (", or make the class a dataclass" if module_of(kind) not in ("builtins", "collections") else "")
        raise error("not-rewritten", f"the function returns a {kind.__name__} that holds arrays: "
                    "a graph returns arrays, and lists, tuples, dicts, named tuples and dataclasses of them", hint, face.place)  # fmt: skip
    for part in structure.parts if isinstance(structure, Node) else ():
        _check_kinds(part, face)


def _value(x: Any) -> Any:
    return numpy.asarray(x._value)[()] if type(x) is TracedNumber else getattr(x, "_value", x)


class _Memory:
    """Outputs as nodes. Where torch would share memory and NumPy does not, the node is cloned."""

    def __init__(self, tracer: Tracer, samples: list[Any], place: tuple[str, int]) -> None:
        self.tracer, self.samples, self.place = tracer, samples, place
        self.owners: dict[int, Any] = {}
        for s in samples:
            if s is not None:
                first = tracer.recorder.first(s.node)
                if first is not None:
                    self.owners[_memory_of(first)] = s

    def output(self, x: Any) -> fx.Node:
        recorder = self.tracer.recorder
        if type(x) is TracedNpArray and x._value is None:
            self.tracer.fail("opaque-call", "an array came back from code that the tracer cannot see", "split the node around that call")
        only(x, self.place)
        if type(x) is TracedSize:
            return recorder.argument(x)  # type: ignore[no-any-return]
        with recorder:
            try:
                tensor = self.tracer.tensor(x)
            except Refused as refused:
                message = f"the function returns what no tensor holds: {refused.message}"
                raise error(refused.name, message, refused.hint, self.place) from None
            constant = recorder.node(tensor) is None
            storage = x._storage if type(x) is TracedNpArray else None
            if constant or (storage is not None and storage.origin != "sample"):
                self._check_order(x)
            if constant:
                return recorder.clone(tensor)
            if isinstance(x, torch.Tensor):
                return recorder.argument(tensor)
            pointer = _memory_of(tensor)
            owner = self.owners.setdefault(pointer, storage)
            written = owner is not None and owner.written and owner.origin == "sample"
            if owner is not storage or written:
                return recorder.clone(tensor)
            return recorder.argument(tensor)


    def _check_order(self, x: Any) -> None:
        """NumPy's result would lie in memory as no tensor does."""
        dtype = getattr(getattr(x, "_value", x), "dtype", None)
        if isinstance(dtype, numpy.dtype) and not dtype.isnative:
            message = f"the function returns an array in the byte order of {dtype!r}, which no tensor has"
            raise error("unsupported-dtype", message, "use the native byte order", self.place)


def _memory_of(tensor: torch.Tensor) -> int:
    """Which memory a tensor lies in; unseen by a recorder."""
    with torch._C.DisableTorchFunction():
        return tensor.untyped_storage()._cdata


def is_inline(structure: Any) -> bool:
    """True where the graph itself can return the structure: plain containers and Python's own constants."""
    if isinstance(structure, Leaf):
        return True
    if isinstance(structure, Fixed):
        return type(structure.value) in (int, bool, str, type(None)) or (
            type(structure.value) is float and structure.value == structure.value
        )
    if structure.kind is dict and not all(type(k) is str for k in structure.keys):
        return False
    return structure.kind in (list, tuple, dict) and all(map(is_inline, structure.parts))


def eliminate(graph: fx.Graph) -> None:
    """Remove what nothing uses and what changes nothing. What comes before a decision stays: the other ways must find the same nodes."""
    nodes = list(graph.nodes)
    last = max((i for i, n in enumerate(nodes) if n.meta.get("decides")), default=-1)
    before = set(nodes[: last + 1])
    graph.eliminate_dead_code(lambda n: n in before or stays(n))


def _used(graph: fx.Graph, name: str) -> bool:
    return any(n.op == "get_attr" and n.target == name for n in graph.nodes)
