"""Nodes that may fail for other values: they must not run where they are not meant to, nor go where nobody reads their result."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

_MAY_FAIL = ("while_loop", "linalg", "cholesky", "masked_scatter", "embedding", "inverse", "solve", "copy_")
_PICKS = ("gather", "scatter", "take", "put", "index")


def may_fail(node: fx.Node) -> bool:
    """True for what may fail, or never end, for some values: an index that is computed, a decomposition, the first of none."""
    if node.op == "get_attr":
        return False
    if any(n.meta.get("loose") for n in node.all_input_nodes) or node.target is torch.ops.higher_order.cond:
        return True
    if node.target is operator.getitem:
        return _computed(node.args[1])
    name = str(node.target).lower()
    for harmless in ("select_scatter", "slice_scatter", "linalg_cross", "linalg_vector_norm"):
        name = name.replace(harmless, "")
    return any(word in name for word in _MAY_FAIL) or (any(word in name for word in _PICKS) and _computed(_positions(node)))


def _positions(node: fx.Node) -> Any:
    """Where a call picks out of its first argument, or puts there."""
    args = node.args[2:3] if len(node.args) > 2 and isinstance(node.args[1], int) else node.args[1:2]
    return args or [v for k, v in node.kwargs.items() if "ind" in k] or list(node.kwargs.values())


def must_stay(node: fx.Node) -> bool:
    """True for a node that raises where NumPy raises: for an index out of bounds, a singular matrix, sizes that do not go together."""
    if any(n.meta.get("loose") for n in node.all_input_nodes):
        return True
    if _is_pick(node) or _is_shaped(node):
        return True
    return may_fail(node) and ("linalg" in str(node.target) or _computed([node.args[1:], list(node.kwargs.values())]))


def stays(node: fx.Node) -> bool:
    """Whether a node of a finished graph has a use, or an effect beside its result: that it may raise is one."""
    return bool(node.users) or node.is_impure() or bool(node.meta.get("writes")) or must_stay(node) or _picks_at_constants(node)


def _picks_at_constants(node: fx.Node) -> bool:
    """True for a pick at positions that are known, along an axis that may be too short for them where sizes are others."""
    return _is_pick(node, (int, fx.Node))


def drop_safe_picks(graph: fx.Graph, sizes: dict[fx.Node, tuple[int, ...]]) -> None:
    """Remove the picks and shapes that nothing uses of inputs whose `sizes` are fixed (others are negative): they cannot fail."""
    for node in [n for n in reversed(graph.nodes) if not n.users and _is_shaped(n) and min(sizes.get(n.args[0], (-1,)), default=0) >= 0]:  # type: ignore[arg-type]
        graph.erase_node(node)
    for node in [n for n in reversed(graph.nodes) if not n.users and _picks_at_constants(n) and n.args[0] in sizes]:
        key, source = node.args[1], sizes[node.args[0]]  # type: ignore[index]
        parts = key if isinstance(key, tuple) else (key,)
        if None not in parts and Ellipsis not in parts and all(source[i] >= 0 for i, p in enumerate(parts) if type(p) in (int, fx.Node)):
            graph.erase_node(node)


def _is_pick(node: fx.Node, kinds: tuple[type, ...] = (int,)) -> bool:
    """Whether an array's element or row is picked along an axis that may be too short for it where sizes are others."""
    if node.target is not operator.getitem or "numpy" not in node.meta:
        return False
    key, extents = node.args[1], node.args[0].meta.get("extents") or ()  # type: ignore[union-attr]
    parts = key if isinstance(key, tuple) else (key,)
    if any(p is None or p is Ellipsis for p in parts):
        extents = ()
    return any(type(p) in kinds and type(next(iter(extents[axis : axis + 1]), None)) is not int for axis, p in enumerate(parts))


def _is_shaped(node: fx.Node) -> bool:
    """Whether an array is brought into a shape that it may not fit where its sizes are others."""
    return "numpy" in node.meta and getattr(node.target, "__name__", str(node.target)) in ("reshape", "view", "expand", "broadcast_to")


def _computed(value: Any) -> bool:
    """Whether a tensor that the graph computes is in there."""
    found: list[fx.Node] = []
    fx.node.map_arg(value, found.append)
    return any(n.op != "get_attr" and not n.meta.get("constant") for n in found)
