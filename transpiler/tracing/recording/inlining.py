"""A graph laid into another one, at the place that this has come to."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from ..tracer import Tracer


def inlined(tracer: Tracer, graph: fx.Graph, root: torch.nn.Module, outside: list[Any]) -> list[fx.Node]:
    """Put a graph into that of the trace. `outside` are tensors or nodes for its placeholders. Returns the nodes of what it gives.

    These lie in memory of their own."""
    recorder, main = tracer.recorder, tracer.graph
    given = iter(outside)
    places: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            thing = next(given)
            places[node] = recorder.argument(thing) if isinstance(thing, torch.Tensor) else thing
        elif node.op == "output":
            return [_apart(main, n, places) for n in node.args[0]]  # type: ignore[union-attr]
        elif node.op == "get_attr":
            found = getattr(root, str(node.target))
            if isinstance(found, torch.nn.Module):
                places[node] = _module_of(tracer, node, found)
            else:
                places[node] = recorder.argument(found)
        elif node.meta.get("asked") and node.target is torch.ne:
            places[node] = places[node.args[0]]  # type: ignore[index]
        else:
            made = places[node] = main.node_copy(node, places.__getitem__)
            for name in ("decides", "extents"):
                made.meta.pop(name, None)
            if _is_condition(made):
                _part_operands(made)
    raise AssertionError("a graph without an output")


def _apart(main: fx.Graph, node: fx.Node, places: dict[fx.Node, fx.Node]) -> fx.Node:
    """The node of a result, in memory of its own."""
    is_own = node.target is torch.where or (node.target is operator.getitem and _is_condition(node.args[0]))
    return places[node] if is_own else main.call_function(torch.clone, (places[node],))


def _part_operands(condition: fx.Node) -> None:
    """Let what is passed to a condition lie in memory of its own."""
    operands: list[fx.Node] = []
    given: Any = condition.args[3]
    for n in given:
        if n in operands or (n.meta.get("view") and n.op not in ("placeholder", "get_attr")):
            with condition.graph.inserting_before(condition):
                n = condition.graph.call_function(torch.clone, (n,))
        operands.append(n)
    condition.args = (*condition.args[:3], tuple(operands))


def _is_condition(x: Any) -> bool:
    return isinstance(x, fx.Node) and x.target is torch.ops.higher_order.cond


def _module_of(tracer: Tracer, node: fx.Node, module: torch.nn.Module) -> fx.Node:
    """A graph within the graph, under a name that is free."""
    stem = str(node.target).rpartition("_")[0].replace("true_graph", "on_true").replace("false_graph", "on_false")
    number = sum(name.startswith(stem) for name, _ in tracer.root.named_children())
    while hasattr(tracer.root, f"{stem}_{number}"):
        number += 1
    tracer.root.add_module(f"{stem}_{number}", module)
    made = tracer.graph.create_node("get_attr", f"{stem}_{number}", (), {})
    made.meta.update({**node.meta, "graph": module})
    return made
