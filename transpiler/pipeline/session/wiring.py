"""The edges of a pipeline: which output of which node is which input of which, in the same step or in the next."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from ...source.findings.finding import Finding, make_finding
from .running import Call, Node, Session
from .sources import Source

Edges = dict[str, list[str]]


@dataclass
class Wiring:
    """The edges of a pipeline, from "node/output" to "node/input".

    flow      within a step
    feedback  from one step to the next
    inputs    what comes from outside, and `outputs` what goes there, by node"""

    flow: Edges = field(default_factory=lambda: defaultdict(list))
    feedback: Edges = field(default_factory=lambda: defaultdict(list))
    inputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    outputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    findings: list[Finding] = field(default_factory=list)


def wired(session: Session) -> Wiring:
    """How the nodes of a session hang together. What came to a node from another one on a way that nobody noted is a finding."""
    made = Wiring(findings=list(session.findings))
    nodes = sorted(session.nodes.values(), key=lambda n: n.order)
    orders = {n.name: n.order for n in nodes}
    for node in nodes:
        for name in node.inputs:
            end = f"{node.name}/{name}"
            if name in node.states:
                made.feedback[end].append(end)
                continue
            source, is_earlier = _source(made, node, name, orders)
            if source is None:
                made.inputs[node.name].append(name)
            else:
                (made.feedback if is_earlier else made.flow)[source].append(end)
    for node in nodes:
        out = [name for name in node.outputs if f"{node.name}/{name}" not in made.flow and name not in node.states]
        if out:
            made.outputs[node.name] = out
    return made


def _source(made: Wiring, node: Node, name: str, orders: dict[str, int]) -> tuple[str | None, bool]:
    """The output that an input is, and whether it is that of the step before."""
    found = [(call.sources.get(name), number) for number, call in enumerate(node.calls)]
    settled = found[1:] if found[0][0] is None and len(found) > 1 else found  # the first step has no step before it
    ends = {(str(s), _is_earlier(s, number, node, orders)) if s is not None else None for s, number in settled}
    if len(ends) > 1:
        told, who = sorted({e[0] if e is not None else "elsewhere" for e in ends}), f"{name!r} of node {node.name!r}"
        if len(told) > 1:
            _say(made, node, f"{who} comes from {' and '.join(told)}, in different steps", "let it come from one place")
        else:
            _say(made, node, f"{who} is {told[0]} of this step, and of the one before", "let each node be called once a step")
    end = next((e for e in ends if e is not None), None)
    if end is not None:
        return end
    _look_alike(made, node, name, node.calls[-len(settled) :])
    return None, False


def _is_earlier(source: Source, number: int, node: Node, orders: dict[str, int]) -> bool:
    """Whether an output is of the step before: its node comes later, or has been called since."""
    return source.call < number or orders[source.node] >= node.order


def _look_alike(made: Wiring, node: Node, name: str, calls: list[Call]) -> None:
    alike = {str(call.alike[name]) if name in call.alike else None for call in calls}
    if len(alike) == 1 and None not in alike:
        source = alike.pop()
        message = f"{name!r} of node {node.name!r} has the numbers of {source}, and is not the array that the node gave"
        _say(made, node, message, "hand the array itself from node to node: no float(), copy, file, global or cache of its values, "
             "or let a node do what is done to it between")  # fmt: skip


def _say(made: Wiring, node: Node, message: str, hint: str) -> None:
    place = {"path": node.place[0], "line": node.place[1]}
    made.findings.append(make_finding("leaked-constant", message=message, hint=hint, severity="error", **place))  # type: ignore[arg-type]
