"""Nodes that compute the same thing twice: when two are the same, and merging them in a finished graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import fx


def key_of(node: fx.Node, name: Callable[[fx.Node], str]) -> Any:
    """What a node computes, as a hashable key; `name` tells which nodes its arguments are."""
    return (node.op, node.target, _frozen(node.args, name), _frozen(node.kwargs, name))


def _frozen(x: Any, name: Callable[[fx.Node], str]) -> Any:
    """Arguments as a key: nodes by name, numbers with their type and sign."""
    if isinstance(x, fx.Node):
        return ("node", name(x))
    if isinstance(x, (list, tuple)):
        return (type(x).__name__, *(_frozen(i, name) for i in x))
    if isinstance(x, dict):
        return ("dict", *((k, _frozen(v, name)) for k, v in x.items()))
    if isinstance(x, slice):
        return ("slice", *(_frozen(i, name) for i in (x.start, x.stop, x.step)))
    return (type(x).__name__, repr(x))


def merge_duplicates(graph: fx.Graph, apart: set[fx.Node]) -> None:
    """Let each thing be computed once, except `apart`: what results of the function lie in, each of which has memory of its own in NumPy.

    Where anything is written in place, the same call can give another value later, and nothing is merged; nor on one of several ways
    through the function, as the others must find the same nodes."""
    if any(n.meta.get("writes") or n.meta.get("decides") for n in graph.nodes):
        return
    seen: dict[Any, fx.Node] = {}
    for node in list(graph.nodes):
        if node.op not in ("call_function", "call_method"):
            continue
        first = seen.setdefault(key_of(node, lambda n: n.name), node)
        if first is not node and node not in apart and first not in apart and not node.is_impure():
            node.replace_all_uses_with(first)
            graph.erase_node(node)
