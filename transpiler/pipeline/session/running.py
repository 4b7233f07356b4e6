"""A session: what its nodes were given and gave, call by call."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy
import torch

from ...source.findings.finding import Finding, make_finding
from ..semantics import TensorSemantics
from . import put
from .buffers import Buffer, buffers_of, with_buffers
from .errors import PipelineError, refused
from .regions import Region, function_of, leaves, region_at
from .sources import Source, Sources, same_values, values_of


@dataclass
class Call:
    """One call of a node: copies of its arrays by name, and where its inputs came from.

    arguments  the inputs as its function takes them
    updated    what states have become; `buffers` what the buffers of its modules are when it begins"""

    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    alike: dict[str, Source] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    updated: dict[str, Any] = field(default_factory=dict)
    buffers: list[Any] = field(default_factory=list)


@dataclass
class Node:
    """A node of a session.

    function  what it computes: takes `arguments`, returns a tuple of `outputs`
    states    the names of the inputs that are state
    buffers   the buffers of modules among them
    meaning   what its arrays mean, by "inputs" or "outputs" and name
    calls     those that were noted; `count` is how many there were
    order     its place among the nodes, by when their first calls ended"""

    name: str
    place: tuple[str, int]
    code: types.CodeType | None = None
    region: Region | None = None
    function: Callable[..., Any] | None = None
    around: dict[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    brought: dict[Any, list[str]] = field(default_factory=dict)
    states: list[str] = field(default_factory=list)
    meaning: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    buffers: list[Buffer] = field(default_factory=list)
    export_with: str | None = None
    calls: list[Call] = field(default_factory=list)
    count: int = 0
    order: int = -1
    open: Call | None = None

    @property
    def traced(self) -> Callable[..., Any]:
        """Its function; that of a region is made of its text. Raises PipelineError where that cannot be."""
        if self.function is None:
            assert self.region is not None
            self.function = with_buffers(function_of(self.region, self.brought, self.around, self.known), self.buffers)
        return self.function

    @property
    def text(self) -> str:
        """Its text, as it stands in the file."""
        if self.region is not None:
            return self.region.text
        try:
            return inspect.getsource(self.code) if self.code is not None else ""
        except (OSError, TypeError):
            return ""

    @property
    def inputs(self) -> dict[str, Any]:
        return self.calls[0].inputs

    @property
    def outputs(self) -> dict[str, Any]:
        return self.calls[0].outputs


class Session:
    """A pipeline from `start` to `stop`."""

    def __init__(self, name: str, folder: Path, dry_run: bool, left_out: set[str], most_calls: int) -> None:
        self.name, self.folder, self.dry_run, self.left_out, self.most_calls = name, folder, dry_run, left_out, most_calls
        self.nodes: dict[str, Node] = {}
        self.sources = Sources()
        self.findings: list[Finding] = []
        self.is_open = True

    # What `annotate` says.

    def enter(self, name: str, tensors: Mapping[str, Any], frame: FrameType, is_state: bool = False) -> None:
        """A call of a node begins, or takes further inputs."""
        place = frame.f_code.co_filename, frame.f_lineno
        node = self.nodes.get(name)
        if node is None:
            if is_state:
                raise refused("not-rewritten", f"node {name!r} has no inputs yet", "call annotate.input_tensors first", place)
            node = self.nodes[name] = self._region(name, frame)
        elif node.code is not frame.f_code:
            raise refused("not-rewritten", f"node {name!r} begins at {node.place[0]}:{node.place[1]} as well",
                          "give each node a name of its own", place)  # fmt: skip
        if node.open is None:
            node.open = Call()
        if node.region is not None and node.count == 0:
            call = self._start_at(node.region, frame.f_lineno, is_state)
            node.brought.setdefault(call, []).extend(n for n in tensors if n not in node.brought[call])
        self._take(node, tensors, place)
        if node.count == 0 and is_state:
            node.states += [n for n, _ in leaves(tensors)]

    def means(self, name: str, given: list[TensorSemantics] | None, side: str = "inputs") -> None:
        """What arrays of a node mean, if somebody says so."""
        for tensor in given or ():
            self.nodes[name].meaning[side, tensor.name] = tensor.to_dict()

    def update(self, name: str, tensors: Mapping[str, Any]) -> None:
        """State of a node has a new value."""
        node = self._entered(name)
        unknown = [n for n in tensors if n not in node.states]
        if unknown:
            raise refused("not-rewritten", f"{unknown[0]!r} is no state of node {name!r}", "name it in annotate.state_tensors", node.place)
        assert node.open is not None
        node.open.updated.update(tensors)

    def module(self, name: str, model: torch.nn.Module, names: list[str] | None) -> None:
        """Buffers of a module may be state of a node."""
        node = self._entered(name)
        assert node.open is not None
        node.open.buffers += [(b, b.value, _copy(b.value)) for b in buffers_of(model, names)]

    def leave(self, name: str, tensors: Mapping[str, Any], export_with: str | None) -> None:
        """A call of a node ends."""
        node = self._entered(name)
        call = node.open
        assert call is not None
        changed = {b.name: (b, before) for b, was, before in call.buffers if b.value is not was or not same_values(
            values_of(b.value), values_of(before))}  # fmt: skip
        if node.count == 0:
            node.buffers = [b for b, _ in changed.values()]
            node.states += list(changed)
        elif not set(changed) <= {b.name for b in node.buffers}:
            raise refused("not-rewritten", f"node {name!r} changes the buffer {min(changed)!r}, and did not in its first call",
                          "name what is state in annotate.module, and let the first call change it", node.place)  # fmt: skip
        for buffer in node.buffers:
            before = next(before for b, _, before in call.buffers if b == buffer)
            call.inputs[buffer.name] = call.arguments[buffer.name] = before
            call.updated[buffer.name] = buffer.value
        states = {n: call.inputs[n] for n in node.states} | call.updated
        self._close(node, call, {**tensors, **{n: states[n] for n in node.states}}, export_with)

    def call(self, name: str, function: Callable[..., Any], bound: inspect.BoundArguments, export_with: str | None) -> Any:
        """A call of a function that is a node. Arrays that it takes by default are constants."""
        code = inspect.unwrap(function).__code__
        node = self.nodes.setdefault(name, Node(name, (code.co_filename, code.co_firstlineno), code))
        node.open = call = Call()
        given = set(bound.arguments)
        bound.apply_defaults()
        tensors = {n: v for n, v in bound.arguments.items() if n in given and any(_is_array(leaf) for _, leaf in leaves(v))}
        self._take(node, tensors, node.place)
        if node.function is None:
            node.function = _with(function, bound.signature, dict(bound.arguments), list(tensors))
        found = function(*bound.args, **bound.kwargs)
        values = found if isinstance(found, tuple) else (found,)
        if isinstance(found, Mapping):
            outputs = dict(found)
        else:
            names = _names_of(function, len(values))
            outputs = dict(zip(names, values, strict=True))
        self._close(node, call, outputs, export_with)
        return found

    def same(self, source: Any, target: Any) -> None:
        """Two arrays are one output."""
        self.sources.same(source, target)

    # How it is noted.

    def _region(self, name: str, frame: FrameType) -> Node:
        region = region_at(frame, name)
        around = {n: frame.f_locals[n] for n in region.names if n in frame.f_locals} if frame.f_locals is not frame.f_globals else {
            n: frame.f_globals[n] for n in region.names if n in frame.f_globals}  # fmt: skip
        given = {n: source for n, v in around.items() if (source := self.sources.of(v)) is not None}
        for n, source in given.items():
            self._say("leaked-constant", f"node {name!r} reads `{n}`, which is {source} and none of its inputs",
                      f"name it in annotate.input_tensors({name!r}, ...)", region.place)  # fmt: skip
        return Node(name, region.place, frame.f_code, region, around=dict(around), known=dict(frame.f_globals))

    def _start_at(self, region: Region, line: int, is_state: bool) -> Any:
        """The call of `input_tensors` or `state_tensors` that stands at a line."""
        found = [c for c in region.starts if c.lineno <= line <= (c.end_lineno or 0)]
        for call in found:
            tail = call.func.attr if hasattr(call.func, "attr") else getattr(call.func, "id", "")
            if (tail == "state_tensors") == is_state:
                return call
        message = f"node {region.label!r} takes inputs here, outside of its region"
        raise refused("not-rewritten", message, "take all of them in one function", (region.path, line))

    def _take(self, node: Node, tensors: Mapping[str, Any], place: tuple[str, int]) -> None:
        call = node.open
        assert call is not None
        for name, value in leaves(tensors):
            if not _is_array(value):
                raise refused("python-value", f"{name!r} of node {node.name!r} is no array: {type(value).__name__}",
                              "give numpy.asarray of it", place)  # fmt: skip
            if name in call.inputs:
                raise refused("not-rewritten", f"node {node.name!r} is given {name!r} twice before it ends",
                              "call annotate.output_tensors before the node begins again", place)  # fmt: skip
            call.inputs[name] = _copy(value)
            source = self.sources.of(value)
            if source is None:
                alike = self.sources.look_alike(value)
                if alike is not None:
                    call.alike[name] = alike
            elif self.sources.was_changed(source, value):
                self._say("leaked-constant", f"{name!r} of node {node.name!r} is {source}, which was written to since",
                          f"write to it inside of a node, or give node {node.name!r} a copy that you have changed", place)  # fmt: skip
            else:
                call.sources[name] = source
        call.arguments.update({n: copied(v) for n, v in tensors.items()})

    def _entered(self, name: str) -> Node:
        node = self.nodes.get(name)
        if node is None or node.open is None:
            raise refused("not-rewritten", f"node {name!r} ends, and has not begun", "call annotate.input_tensors first",
                          node.place if node is not None else ("", 0))  # fmt: skip
        return node

    def _close(self, node: Node, call: Call, outputs: Mapping[str, Any], export_with: str | None) -> None:
        for name, value in leaves(outputs):
            if not _is_array(value):
                raise refused("python-value", f"output {name!r} of node {node.name!r} is no array: {type(value).__name__}",
                              "give the array, or numpy.asarray of the number", node.place)  # fmt: skip
            call.outputs[name] = _copy(value)
            self.sources.gave(Source(node.name, name, node.count), value)
        self._check_form(node, call)
        if node.order < 0:
            node.order = sum(n.order >= 0 for n in self.nodes.values())
            node.export_with = None if self.dry_run or node.name in self.left_out else export_with
        if len(node.calls) < self.most_calls:
            node.calls.append(call)
        node.count, node.open = node.count + 1, None

    def _check_form(self, node: Node, call: Call) -> None:
        """The arrays of a node have the same names, dtypes and ranks in each call."""
        first = node.calls[0] if node.calls else call
        for was, now, what in ((first.inputs, call.inputs, "given"), (first.outputs, call.outputs, "giving")):
            if list(was) != list(now):
                raise refused("not-rewritten", f"node {node.name!r} is {what} {', '.join(now)} and was {what} {', '.join(was)}",
                              "let a node have the same inputs and outputs in each call", node.place)  # fmt: skip
            for name in was:
                a, b = values_of(was[name]), values_of(now[name])
                if (a.dtype, a.ndim) != (b.dtype, b.ndim):
                    raise refused("specialised-size", f"node {node.name!r} is {what} {name!r} as {b.dtype} of rank {b.ndim}, "
                                  f"and was {what} it as {a.dtype} of rank {a.ndim}", "give it one dtype and rank", node.place)  # fmt: skip

    def _say(self, name: str, message: str, hint: str, place: tuple[str, int], severity: str = "error") -> None:
        found = make_finding(name, path=place[0], line=place[1], message=message, hint=hint, severity=severity)
        if found not in self.findings:
            self.findings.append(found)


def start(name: str, save_path: str | Path = ".", verbose: bool = False, dry_run: bool = False, non_traced: Any = None,
          max_cached_io: int = 5, global_patching: bool = True, patching: Any = None) -> None:  # fmt: skip
    """Begin to note what the nodes of a pipeline are given and give.

    name           of the pipeline, and of the folder in `save_path` that `compile_graph` writes; may be a path
    dry_run        only the wiring is wanted, no graphs; `non_traced` names nodes of which none is wanted
    max_cached_io  so many calls of each node are kept, and its graph is held against all of them

    `verbose`, `global_patching` and `patching` are taken for leapp's sake: nothing is patched here, so nothing needs to be. Raises
    TypeError for a name that is no text, and ValueError for an empty one."""
    if not isinstance(name, str):
        raise TypeError(f"a pipeline is named by a string, not by {type(name).__name__}")
    folder = Path(save_path) / Path(name).expanduser()
    if not folder.name or not name.strip("./\\"):
        raise ValueError(f"a pipeline needs a name, and {name!r} has none")
    if patching:
        raise ValueError("np2fx patches no functions; give a rule of your own for what it cannot trace (see the guide, own rules)")
    left_out = {non_traced} if isinstance(non_traced, str) else set(non_traced or ())
    put(Session(folder.name, folder, dry_run, left_out, max(max_cached_io, 1)))


def stop() -> None:
    """End the session. Raises PipelineError where none was begun."""
    from . import current

    session = current()
    if session is None:
        raise refused("not-rewritten", "no pipeline is under way", "call np2fx.start first")
    session.is_open = False


def _is_array(value: Any) -> bool:
    """Whether it is an array that can be told from all others: NumPy's two bools are the same objects everywhere."""
    return isinstance(value, (numpy.ndarray, numpy.generic, torch.Tensor)) and not isinstance(value, numpy.bool_)


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value.copy()


def copied(tensors: Any) -> Any:
    """Containers of arrays with copies of these."""
    if isinstance(tensors, Mapping):
        return {k: copied(v) for k, v in tensors.items()}
    if isinstance(tensors, (list, tuple)):
        return type(tensors)(map(copied, tensors))
    return _copy(tensors) if _is_array(tensors) else tensors


def _with(function: Callable[..., Any], signature: inspect.Signature, bound: Mapping[str, Any], names: list[str]) -> Callable[..., Any]:
    """The function of the arguments of these names, the others fixed; it returns a tuple of arrays."""

    def call(*tensors: Any) -> tuple[Any, ...]:
        arguments = inspect.BoundArguments(signature, {**bound, **dict(zip(names, tensors, strict=True))})  # type: ignore[arg-type]
        found = function(*arguments.args, **arguments.kwargs)
        outputs = found if isinstance(found, (tuple, Mapping)) else (found,)
        return tuple(v for _, v in leaves(outputs))

    call.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])  # type: ignore[attr-defined]
    return call


def _names_of(function: Callable[..., Any], count: int) -> list[str]:
    """What a function's results are called in its `return`: names where names are returned, else output1, output2."""
    import ast
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        tree = ast.Module([], [])
    for n in ast.walk(tree):
        if isinstance(n, ast.Return) and n.value is not None:
            parts = n.value.elts if isinstance(n.value, ast.Tuple) else [n.value]
            if len(parts) == count:
                return [p.id if isinstance(p, ast.Name) else f"output{i}" for i, p in enumerate(parts, 1)]
    return [f"output{i}" for i in range(1, count + 1)]


__all__ = ["Call", "Node", "PipelineError", "Session", "start", "stop"]
