"""Faults in a recorded graph: copies of it with one node changed."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx

Edit = Callable[[fx.Graph, fx.Node], None]

_AXES = ("dim", "axis", "dims")
_COUNTERPARTS: dict[Any, Any] = {
    torch.lt: torch.le, torch.le: torch.lt, torch.gt: torch.ge, torch.ge: torch.gt, torch.eq: torch.ne, torch.ne: torch.eq,
    torch.add: torch.sub, torch.sub: torch.add, torch.mul: torch.add, torch.div: torch.mul, torch.maximum: torch.minimum,
    torch.minimum: torch.maximum, torch.sin: torch.cos, torch.cos: torch.sin, torch.floor: torch.ceil, torch.ceil: torch.floor,
    torch.sum: torch.mean, torch.mean: torch.sum, torch.amax: torch.amin, torch.amin: torch.amax, torch.argmax: torch.argmin,
    torch.argmin: torch.argmax, torch.logical_and: torch.logical_or, torch.logical_or: torch.logical_and, torch.std: torch.var,
    torch.var: torch.std, torch.any: torch.all, torch.all: torch.any, torch.round: torch.floor, torch.cumsum: torch.cumprod,
    torch.tril: torch.triu, torch.triu: torch.tril, torch.exp: torch.expm1, torch.log1p: torch.log, torch.sqrt: torch.abs,
    torch.fmod: torch.remainder, torch.remainder: torch.fmod, torch.atan2: torch.hypot, torch.hypot: torch.atan2,
    operator.sub: operator.add, operator.add: operator.sub, operator.truediv: operator.mul,
}  # fmt: skip
"""What a call may have been mistaken for."""

_UNORDERED = (torch.sub, torch.div, torch.pow, torch.matmul, torch.lt, torch.le, torch.gt, torch.ge, torch.atan2, torch.remainder,
              torch.fmod, operator.sub, operator.truediv, torch.copysign, torch.outer, torch.cat)  # fmt: skip
"""Calls whose operands do not commute."""


def mutants(module: Any, sample: list[torch.Tensor]) -> Iterator[tuple[str, Any]]:
    """Copies of a traced module with one fault each, and what the fault is. `sample` are the arrays that a constant is baked from."""
    values = _values(module, sample)
    for i, node in enumerate(module.graph.nodes):
        for name, edit in _edits(node, values.get(node)):
            made = copy.deepcopy(module)
            target = list(made.graph.nodes)[i]
            try:
                edit(made.graph, target)
                made.graph.lint()
                made.recompile()
            except (RuntimeError, TypeError, ValueError, AttributeError):
                continue
            yield f"{name} in `{node.format_node()}`", made


def _values(module: Any, sample: list[torch.Tensor]) -> dict[fx.Node, Any]:
    """What each node computes on the sample."""
    kept: dict[fx.Node, Any] = {}

    class Keeping(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            kept[n] = super().run_node(n)
            if isinstance(kept[n], torch.Tensor):
                kept[n] = kept[n].detach().clone()
            return kept[n]

    try:
        Keeping(module).run(*[t.clone() for t in sample])
    except RuntimeError:
        return {}
    return kept


def _edits(node: fx.Node, value: Any) -> Iterator[tuple[str, Edit]]:
    if node.op not in ("call_function", "call_method"):
        return
    yield from _axis(node, value)
    yield from _flags(node)
    yield from _operands(node)
    yield from _indices(node)
    yield from _numbers(node)
    yield from _casts(node, value)
    if node.target in _COUNTERPARTS:
        yield "another function", lambda _, n: setattr(n, "target", _COUNTERPARTS[n.target])
    if isinstance(value, torch.Tensor):
        yield "baked constant", lambda g, n: _bake(g, n, value)
        if len(node.all_input_nodes) == 1 and node.users:
            yield "dropped call", lambda _, n: n.replace_all_uses_with(n.all_input_nodes[0])
    if "copy_" in str(node.target):
        yield "lost write", lambda g, n: g.erase_node(n)
    elif any(word in str(node.target) for word in ("scatter", "index_put", "index_copy", "index_fill")) and node.users:
        yield "lost write", lambda _, n: n.replace_all_uses_with(n.args[0])


def _axis(node: fx.Node, value: Any) -> Iterator[tuple[str, Edit]]:
    for key in _AXES:
        given = node.kwargs.get(key)
        if isinstance(given, int):
            yield "wrong axis", lambda _, n, k=key, d=given: n.update_kwarg(k, d - 1)
            yield "wrong axis", lambda _, n, k=key, d=given: n.update_kwarg(k, d + 1)
        elif isinstance(given, (tuple, list)) and len(given) > 1 and all(isinstance(d, int) for d in given):
            yield "lost axis", lambda _, n, k=key, d=given: n.update_kwarg(k, tuple(d[1:]))
    if node.target in (torch.permute, torch.flip) and len(node.args) > 1 and isinstance(node.args[1], (tuple, list)):
        axes = tuple(node.args[1])  # type: ignore[arg-type]
        yield "wrong axis", lambda _, n: n.update_arg(1, (*axes[1:], axes[0]) if len(axes) > 1 else (axes[0] + 1,))


def _flags(node: fx.Node) -> Iterator[tuple[str, Edit]]:
    for key, given in node.kwargs.items():
        if isinstance(given, bool):
            yield f"wrong {key}", lambda _, n, k=key, v=given: n.update_kwarg(k, not v)
        elif key == "dtype" and isinstance(given, torch.dtype):
            yield "wrong dtype", lambda _, n, v=given: n.update_kwarg("dtype", _other_dtype(v))
        elif isinstance(given, int) and key not in _AXES:
            yield f"wrong {key}", lambda _, n, k=key, v=given: n.update_kwarg(k, v + 1)


def _operands(node: fx.Node) -> Iterator[tuple[str, Edit]]:
    args = node.args
    if node.target is torch.where and len(args) == 3:
        yield "where's branches swapped", lambda _, n: setattr(n, "args", (n.args[0], n.args[2], n.args[1]))
        for kept in (1, 2):
            if isinstance(args[kept], fx.Node):
                yield "dropped where", lambda _, n, k=kept: n.replace_all_uses_with(n.args[k])
    if node.target in _UNORDERED and len(args) >= 2 and node.target is not torch.cat:
        yield "swapped operands", lambda _, n: setattr(n, "args", (n.args[1], n.args[0], *n.args[2:]))
    if node.target in (torch.cat, torch.stack) and isinstance(args[0], (list, tuple)) and len(args[0]) > 1:
        yield "swapped operands", lambda _, n: n.update_arg(0, list(n.args[0])[::-1])
    if (
        node.target in (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum)
        and len(args) == 2
        and isinstance(args[0], fx.Node)
    ):
        yield "lost operand", lambda _, n: n.replace_all_uses_with(n.args[0])


def _indices(node: fx.Node) -> Iterator[tuple[str, Edit]]:
    if node.target is not operator.getitem:
        return
    key = node.args[1]
    parts = key if isinstance(key, tuple) else (key,)
    for i, part in enumerate(parts):
        for other in _off_by_one(part):
            made = (*parts[:i], other, *parts[i + 1 :])
            yield "index off by one", lambda _, n, m=made, k=key: n.update_arg(1, m if isinstance(k, tuple) else m[0])


def _off_by_one(part: Any) -> Iterator[Any]:
    if type(part) is int:
        yield part - 1 if part > 0 else part + 1 if part < -1 else -1 if part == 0 else 0
    elif isinstance(part, slice):
        if isinstance(part.start, int):
            yield slice(part.start + 1, part.stop, part.step)
        if isinstance(part.stop, int):
            yield slice(part.start, part.stop - 1, part.step)
        if part.start is None and part.stop is None and part.step is None:
            return
        if part.stop is None:
            yield slice(part.start, -1, part.step)


def _numbers(node: fx.Node) -> Iterator[tuple[str, Edit]]:
    if node.target is operator.getitem:
        return
    for i, given in enumerate(node.args):
        if isinstance(given, bool):
            yield "wrong flag", lambda _, n, i=i, v=given: n.update_arg(i, not v)
        elif isinstance(given, (int, float)):
            yield "wrong number", lambda _, n, i=i, v=given: n.update_arg(i, v + 1)
            if given:
                yield "wrong sign", lambda _, n, i=i, v=given: n.update_arg(i, -v)
        elif isinstance(given, (list, tuple)) and len(given) > 1 and all(type(g) is int for g in given) and len(set(given)) > 1:
            yield "wrong order", lambda _, n, i=i, v=given: n.update_arg(i, type(v)(v[::-1]))


def _casts(node: fx.Node, value: Any) -> Iterator[tuple[str, Edit]]:
    if node.op == "call_method" and node.target == "to" and len(node.args) == 2 and isinstance(node.args[1], torch.dtype):
        given = node.args[1]
        yield "wrong dtype", lambda _, n: n.update_arg(1, _other_dtype(given))
    if isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.float64) and node.users:
        yield "wrong dtype", lambda g, n: _insert(g, n, "to", _other_dtype(value.dtype))


def _insert(graph: fx.Graph, node: fx.Node, method: str, *args: Any) -> None:
    """Put a method call between a node and its users."""
    with graph.inserting_after(node):
        made = graph.call_method(method, (node, *args))
    node.replace_all_uses_with(made)
    made.args = (node, *args)


def _bake(graph: fx.Graph, node: fx.Node, value: torch.Tensor) -> None:
    """The sample's value in place of the computation."""
    owner = graph.owning_module
    assert owner is not None
    owner.register_buffer("baked", value.clone())
    with graph.inserting_before(node):
        constant = graph.get_attr("baked")
    node.replace_all_uses_with(constant)


def _other_dtype(dtype: torch.dtype) -> torch.dtype:
    return {torch.float32: torch.float64, torch.float64: torch.float32, torch.int64: torch.int32, torch.int32: torch.int64}.get(
        dtype, torch.float32
    )
