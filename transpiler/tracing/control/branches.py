"""Branches on values: the function is traced once for each way through it, and the graphs are merged into one.

`if x.sum() > 0: ... else: ...` asks a traced value for its truth. The tracer answers, notes the question, and runs the function
again with the other answer, until every way has been seen (`explore`). Each way is a graph of its own; `_Merge` puts them into one in
which what they share stands once. There all of it is computed, and each result is chosen by the conditions. That is right only where the
way not taken can be computed without harm: what may fail (an index, a decomposition) on one way only is run on that way alone (see
`conditions`). An assertion asks for the conditions of its way, too. A Python number that differs from way to way is chosen like an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy
import torch
from torch import fx

from ...semantics.arrays import as_tensor
from ..arrays.text import message_of
from ..errors import TraceError, error, is_library, own_place
from ..module import TracedModule
from ..recording.compare import compare_graphs, values_of
from ..recording.duplicates import key_of
from ..recording.inputnames import add_inputs
from ..recording.outputs import is_inline
from ..sizes.extents import Guard
from ..sizes.shapes import extents_of
from ..surroundings.structure import Fixed, Leaf, Node, flatten, rebuild, same
from .conditions import Block, Plan, decisions_about
from .risks import may_fail, must_stay

if TYPE_CHECKING:
    from ..entry import Recording

MOST_WAYS = 32
_WAY_OUT = "choose element by element: np.where(condition, a, b), or split the node at the branch"

_WAYS_OUT = {
    "another": "give arrays of one shape and dtype on every way: keep the axes (x[0:1]), cast with .astype(...), choose with np.where",
    "different structures": "return the same number of arrays on every way, and no texts: a flag as an array, c.astype(int)",
    "sizes depend": "keep the size on every way, np.where(mask, x, 0) in place of x[mask], or branch outside of the node",
    "writes into a tensor": "make a new tensor on the way: t = t + 1 in place of t += 1",
}
"""What to do instead, by what stands in the way."""


@dataclass
class Forks:
    """The questions of one way: `answers` are given in order, and True to every further one.

    asked   for each question the truth that the sample has, in order
    place   where the last one was asked, and the `first`"""

    answers: tuple[bool, ...] = ()
    asked: list[bool] = field(default_factory=list)
    given: list[bool] = field(default_factory=list)
    place: tuple[str, int] | None = None
    first: tuple[str, int] | None = None

    @property
    def on_sample(self) -> bool:
        """True while every answer has been the sample's own."""
        return self.asked == self.given

    def decide(self, truth: bool, node: fx.Node) -> bool:
        """The answer to a question whose condition is `node`."""
        number = len(self.given)
        if number >= MOST_WAYS:
            raise error("data-dependent-branch", f"more than {MOST_WAYS} branches hang on values", _WAY_OUT)
        answer = self.answers[number] if number < len(self.answers) else True
        node.meta.setdefault("decides", []).append(number)
        self.place = own_place() or self.place
        self.first = self.first or self.place
        self.asked.append(truth)
        self.given.append(answer)
        return answer


@dataclass
class Way:
    """One way through the function: the answers, whether they are the sample's own, and what was recorded.

    A way that ends in an exception of the function's own (`raise`, `assert`) has its text as `raised` and nothing recorded."""

    answers: tuple[bool, ...]
    is_taken: bool
    recording: Any
    raised: str = ""


def explore(run: Callable[[Forks], Recording], place: tuple[str, int]) -> Recording:
    """All ways through a function as one recording. Raises TraceError where they cannot be one graph."""
    ways, place = ways_through(run, place)
    if len(ways) == 1 and not ways[0].answers and ways[0].recording is not None:
        return ways[0].recording
    taken = next((w.recording for w in ways if w.is_taken), None)
    if taken is None:
        raise error("data-dependent-branch", "the branches of the function do not repeat", _WAY_OUT, place)
    recordings = [w.recording for w in ways if w.recording is not None]
    sizes = [s for r in recordings for s in r.sizes]
    return type(taken)(_Merge(ways, place).module(), sizes, any(r.measured for r in recordings), taken.result, taken.given)


def ways_through(run: Callable[[Forks], Any], place: tuple[str, int]) -> tuple[list[Way], tuple[str, int]]:
    """All ways, as `run` records them, and where the first question is asked. `run` is called for each with what answers the questions."""
    ways: list[Way] = []
    asked: tuple[str, int] | None = None
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        if len(ways) >= MOST_WAYS:
            message = f"more than {MOST_WAYS} ways through the function hang on values"
            raise error("data-dependent-branch", message, _WAY_OUT, asked or place)
        answers = pending.pop()
        forks = Forks(answers)
        try:
            recording, raised = run(forks), ""
        except TraceError as refused:
            if not forks.given:
                raise
            recording, raised = None, _own_exception(refused)
            if not raised:
                inner = refused.findings[0]
                message = f"a branch hangs on a value, and one of its ways cannot be traced: {inner.message}"
                where = (inner.path, inner.line) if inner.line else forks.place or place
                raise error("data-dependent-branch", message, inner.hint, where) from refused
        asked = asked or forks.first
        ways.append(Way(tuple(forks.given), forks.asked == forks.given, recording, raised))
        pending += [(*forks.given[:i], False) for i in range(len(answers), len(forks.given))]
    return ways, asked or place


def merged(ways: list[Way], place: tuple[str, int]) -> tuple[fx.Graph, torch.nn.Module]:
    """The graphs of all ways as one, and what is in it."""
    merge = _Merge(ways, place)
    return merge.merged()[0], merge.root


def _own_exception(refused: TraceError) -> str:
    """The exception that the function's own code raised on this way, as text; "" for any other failure."""
    problem = refused.__cause__
    if problem is None or isinstance(problem, TraceError):
        return ""
    step = problem.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or is_library(step.tb_frame.f_code.co_filename):
        return ""
    text = message_of(problem)
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


class _Merge:
    """Puts the graphs of all ways into one."""

    def __init__(self, ways: list[Way], place: tuple[str, int]) -> None:
        self.ways = sorted(ways, key=lambda w: [not a for a in w.answers])
        self.place = place
        self.graph, self.root = fx.Graph(), torch.nn.Module()
        self.recordings = {i: w.recording for i, w in enumerate(self.ways) if w.recording is not None}
        self.first = next(iter(self.recordings.values()))
        self.face: Any = self.first.module.face
        self.shared: dict[Any, list[fx.Node]] = {}
        self.constants: dict[Any, fx.Node] = {}
        self.graphs: list[fx.Node] = []
        self.inputs = add_inputs(self.graph, self.face.names)
        for number, (node, (_, shape)) in enumerate(zip(self.inputs, self.face.kinds, strict=False)):  # none of them in a loop
            node.meta["extents"] = tuple([("in", number, axis) for axis in range(len(shape))])
        self.conditions: dict[tuple[bool, ...], fx.Node] = {}
        self.users: dict[fx.Node, set[int]] = {}
        self.assertions: dict[tuple[fx.Node, str], set[int]] = {}
        self.structure: Any = None

    def module(self) -> TracedModule:
        graph, mutated = self.merged()
        made = TracedModule(self.root, graph, type(self.first.module).__name__)
        self.face.mutated = mutated
        made.face = self.face
        return made

    def merged(self) -> tuple[fx.Graph, list[int]]:
        """The one graph, and the numbers of the arguments that it writes into."""
        outputs = self.in_one_form({number: self.copied(number, recording) for number, recording in self.recordings.items()})
        apart: set[tuple[bool, ...]] = set().union(*(decisions_about(ways, self.ways) for ways in self.users_of_risks()))
        true = self.constant(torch.tensor(True))
        block = Block(Plan(self.ways, self.graph, self.users, self.conditions, apart, self.assertions, outputs, true), self.root)
        merged = block.join((), list(range(len(self.ways))))
        if merged is None:
            raise AssertionError("every way raises")
        graph, inputs = block.graph, [block.of(n) for n in self.inputs]
        face = self.face
        mutated = sorted({i for r in self.recordings.values() for i in r.module.face.mutated})  # type: ignore[union-attr]
        count = len(merged) - len(inputs)
        results = merged[:count]
        for i in mutated:
            copy = graph.create_node("call_function", torch.ops.aten.copy_.default, (inputs[i], merged[count + i]), {})
            results = [copy if r is merged[count + i] else r for r in results]
        face.outputs, face.returned = None if is_inline(self.structure) else self.structure, self.structure
        graph.output(rebuild(self.structure, results.__getitem__) if face.outputs is None else tuple(results))
        graph.eliminate_dead_code(lambda n: n.is_impure() or n.target is torch.ops.aten.copy_.default or must_stay(n))
        graph.lint()
        return graph, mutated

    def copied(self, number: int, recording: Recording) -> list[fx.Node]:
        """The nodes of one way in the common graph: its results, then what becomes of each input."""
        module = recording.module
        self.check_given(recording)
        places: dict[fx.Node, fx.Node] = {}
        inputs = iter(self.inputs)
        left = list(self.inputs)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                places[node] = next(inputs)
                places[node].meta.update({k: v for k, v in node.meta.items() if k in ("constant", "loose")})
            elif node.op == "output":
                return self.in_order(recording, node, places) + left
            elif node.target is torch.ops.aten.copy_.default:
                places[node] = places[node.args[1]]
                left[self.inputs.index(places[node.args[0]])] = places[node]
            elif node.target is torch._assert_async:
                self.assertions.setdefault((places[node.args[0]], node.args[1]), set()).add(number)
            elif node.meta.get("writes"):
                self.refuse("torch writes into a tensor in place, which another way may read before or without that")
            else:
                places[node] = self.add(node, module, places, number)
                self.users.setdefault(places[node], set()).add(number)
            for decision in node.meta.get("decides", ()):
                self.conditions.setdefault(self.ways[number].answers[:decision], places[node])
        raise AssertionError("a graph without an output")

    def in_order(self, recording: Recording, output: fx.Node, places: dict[fx.Node, fx.Node]) -> list[fx.Node]:
        """The results leaf by leaf."""
        module = recording.module
        if module.face.outputs is not None:
            return [places[n] for n in output.args[0]]  # type: ignore[union-attr, index]
        found: list[fx.Node] = []
        leaves: list[Any] = []
        structure = flatten(recording.result, "", leaves)
        _collect(structure, output.args[0], found)
        return [places[n] for n in found]

    def add(self, node: fx.Node, module: TracedModule, places: dict[fx.Node, fx.Node], way: int) -> fx.Node:
        """A node of one way: the one that stands there already where another way has it too."""
        if "graph" in node.meta:
            return self.graph_of(node)
        if node.op == "get_attr":
            return self.constant(getattr(module, str(node.target)))
        same = self.shared.setdefault(key_of(node, lambda n: places[n].name), [])
        found = next((n for n in same if way not in self.users[n]), None)  # what one way has twice stays two (see merge_duplicates)
        if found is None:
            found = self.graph.node_copy(node, places.__getitem__)
            same.append(found)
        return found

    def graph_of(self, node: fx.Node) -> fx.Node:
        """The node of a graph within the graph (see loops): the one that stands there already where it is the same graph."""
        for known in self.graphs:
            if compare_graphs(known.meta["graph"], node.meta["graph"]) is None:
                return known
        made = self.graph.create_node("get_attr", f"{str(node.target).rpartition('_')[0]}_{len(self.graphs)}", (), {})
        made.meta.update(node.meta)
        self.root.add_module(str(made.target), node.meta["graph"])
        self.graphs.append(made)
        return made

    def constant(self, x: torch.Tensor) -> fx.Node:
        values = values_of(x)
        key = id(x) if isinstance(x, torch.nn.Parameter) else (x.dtype, tuple(x.shape), values.tobytes())
        if key not in self.constants:
            kind = "_param_constant" if isinstance(x, torch.nn.Parameter) else "_tensor_constant"
            name = f"{kind}{sum(str(n.target).startswith(kind) for n in self.constants.values())}"
            if isinstance(x, torch.nn.Parameter):
                self.root.register_parameter(name, x)
            else:
                self.root.register_buffer(name, x)
            self.constants[key] = self.graph.create_node("get_attr", name, (), {})
            self.constants[key].meta["extents"] = tuple(x.shape)
        return self.constants[key]

    def check_given(self, other: Recording) -> None:
        """What becomes of the arguments must have the same shape and dtype on all ways."""
        for a, b in zip(self.first.given, other.given, strict=True):
            self.check_alike(a, b)

    def check_alike(self, a: Any, b: Any) -> None:
        if numpy.shape(a) != numpy.shape(b) or getattr(a, "dtype", None) != getattr(b, "dtype", None):
            self.refuse(f"one way gives {_described(a)}, another {_described(b)}")

    def check_shapes(self, nodes: list[fx.Node]) -> None:
        """The graph holds for these sizes alone where results of several ways may have other shapes for others."""
        first, *others = [extents_of(n) for n in nodes]
        if first is None or (first != () and None in first) or any(other != first for other in others):
            for number, (_, shape) in enumerate(self.face.kinds):
                for axis, size in enumerate(shape):
                    self.face.guards.setdefault(Guard("eq", ("in", number, axis), size), (*self.place, ""))

    def in_one_form(self, outputs: dict[int, list[fx.Node]]) -> dict[int, list[fx.Node]]:
        """The outputs of all ways in one structure, which is noted: arrays of one shape and dtype, numbers of one type."""
        leaves: dict[int, list[Any]] = {n: [] for n in outputs}
        forms = {n: flatten(self.recordings[n].result, "", leaves[n]) for n in outputs}
        results: dict[int, list[fx.Node]] = {n: [] for n in outputs}

        def common(forms: dict[int, Any]) -> Any:
            first = next(iter(forms.values()))
            if all(isinstance(f, Fixed) and same(f.value, first.value, exactly=True) for f in forms.values()):
                return first
            if all(isinstance(f, Node) and (f.kind, f.keys) == (first.kind, first.keys) for f in forms.values()):
                parts = (common({n: f.parts[i] for n, f in forms.items()}) for i in range(len(first.parts)))
                return Node(first.kind, first.keys, tuple(parts), first.empty)
            if not all(isinstance(f, Leaf) or (isinstance(f, Fixed) and type(f.value) in (bool, int, float)) for f in forms.values()):
                self.refuse("the ways return different structures or Python values")
            values = {n: leaves[n][f.index] if isinstance(f, Leaf) else numpy.asarray(f.value) for n, f in forms.items()}
            for n, f in forms.items():
                self.check_alike(next(iter(values.values())), values[n])
                results[n].append(outputs[n][f.index] if isinstance(f, Leaf) else self.constant(as_tensor(f.value)))
            given = {r[-1] for r in results.values()}
            if len(given) > 1 and any(n.meta.get("loose") for n in given):
                self.refuse("an array that is chosen has a size that depends on values")
            if any(map(numpy.ndim, values.values())):
                self.check_shapes([results[n][-1] for n in forms])
            return Leaf(len(results[n]) - 1, first.name)

        self.structure = common(forms)
        return {n: results[n] + outputs[n][len(leaves[n]) :] for n in outputs}

    def users_of_risks(self) -> Iterator[set[int]]:
        """The ways that have a node, for each one that may fail, or never end, where it is not meant to run."""
        for node, ways in self.users.items():
            if len(ways) == len(self.recordings) or node.op == "get_attr":
                continue
            if may_fail(node):
                yield ways

    def refuse(self, why: str) -> None:
        hint = next((hint for words, hint in _WAYS_OUT.items() if words in why), _WAY_OUT)
        raise error("data-dependent-branch", f"a branch hangs on a value, and cannot be a choice: {why}", hint, self.place)


def _collect(structure: Any, value: Any, found: list[fx.Node]) -> None:
    """The nodes of a graph's output at the places of the leaves."""
    if isinstance(value, fx.Node):
        found.append(value)
    elif isinstance(value, dict):
        for k in value:
            _collect(structure, value[k], found)
    elif isinstance(value, (list, tuple)):
        for v in value:
            _collect(structure, v, found)


def _described(x: Any) -> str:
    return f"{getattr(x, 'dtype', type(x).__name__)} of shape {numpy.shape(x)}"
