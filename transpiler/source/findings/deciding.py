"""How the conditions on a rule's parameters come out for what check knows of a call's arguments (see `refusing`)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..facts.values import Value


def holds(condition: str, value_of: Callable[[str], Value]) -> bool:
    """Whether a condition certainly holds for the values of parameters."""
    return _decide(ast.parse(condition, mode="eval").body, value_of) is True


def decided(condition: str, value_of: Callable[[str], Value]) -> bool | None:
    """How a condition comes out for the values of parameters; None where that is not certain."""
    return _decide(ast.parse(condition, mode="eval").body, value_of)


def _decide(node: ast.expr, value_of: Callable[[str], Value]) -> bool | None:
    if isinstance(node, ast.BoolOp):
        parts = [_decide(v, value_of) for v in node.values]
        deciding = isinstance(node.op, ast.Or)
        return deciding if deciding in parts else None if None in parts else not deciding
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _decide(node.operand, value_of)
        return None if inner is None else not inner
    if isinstance(node, ast.Name):
        return _truth(value_of(node.id))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args and isinstance(node.args[0], ast.Name):
        value = value_of(node.args[0].id)
        if node.func.id == "callable":
            return True if value.kind == "function" else None if value.kind in ("unknown", "object") else False
        if node.func.id == "isinstance" and ast.unparse(node.args[1]) == "torch.Tensor":
            return True if value.is_array and value.traced and not value.assumed else None if value.kind in ("unknown", "array") else False
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.left, ast.Name):
        return _compare(value_of(node.left.id), node.ops[0], node.comparators[0])
    return None


def _truth(value: Value) -> bool | None:
    if value.kind == "none":
        return False
    if value.kind in ("number", "text") and value.constant is not None:
        return bool(value.constant)
    return bool(value.items) if value.kind == "sequence" and value.items is not None else None


def _compare(value: Value, op: ast.cmpop, other: ast.expr) -> bool | None:
    """`p is None`, `p is not True`, `p == 'C'`, `p not in ('C', None)`."""
    try:
        wanted: Any = ast.literal_eval(other)
    except ValueError:
        return None
    if isinstance(op, (ast.Is, ast.IsNot)) and (wanted is None or isinstance(wanted, bool)):
        known = _is(value, wanted)
        return known if isinstance(op, ast.Is) or known is None else not known
    constant = None if value.kind == "none" else value.constant
    if constant is None and value.kind != "none":
        return None
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return (constant == wanted) == isinstance(op, ast.Eq)
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(wanted, (tuple, list, set)):
        return (constant in wanted) == isinstance(op, ast.In)
    return None


def _is(value: Value, wanted: bool | None) -> bool | None:
    if value.kind == "unknown" or (value.is_array and value.assumed):
        return None
    if wanted is None:
        return value.kind == "none"
    if value.kind != "number":
        return False
    return None if value.constant is None else value.constant is wanted
