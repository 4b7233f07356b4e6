"""Statements as others that do the same, and that the trace can take apart: a test that begins with `:=`, a `yield` on both sides."""

from __future__ import annotations

import ast
import copy

from .hoisting import HIDDEN, Scope, own_nodes

YIELDED = f"{HIDDEN}yielded__"
_HEADS = {ast.Compare: "left", ast.BinOp: "left", ast.UnaryOp: "operand"}
"""What of an expression is computed first."""


def headed(node: ast.If | ast.While, scope: Scope) -> list[ast.stmt] | None:
    """`if (n := x.sum()) > 0` with a statement of its own for `n`; None where there is none to be had."""
    if isinstance(node, ast.While) and node.orelse:
        return None
    test = copy.deepcopy(node.test)
    above: ast.AST | None = None
    first: ast.expr = test
    while type(first) in _HEADS or isinstance(first, ast.BoolOp):
        above, first = first, first.values[0] if isinstance(first, ast.BoolOp) else getattr(first, _HEADS[type(first)])
    if not isinstance(first, ast.NamedExpr):
        return None
    scope.reads[first.target.id] += 1
    name = ast.copy_location(ast.Name(first.target.id, ast.Load()), first)
    if above is None:
        test = name
    elif isinstance(above, ast.BoolOp):
        above.values[0] = name
    else:
        setattr(above, _HEADS[type(above)], name)
    given = ast.copy_location(ast.Assign([first.target], first.value), node)
    if isinstance(node, ast.If):
        return [given, ast.copy_location(ast.If(test, node.body, node.orelse), node)]
    leaves = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
    made = ast.While(ast.Constant(True), [given, leaves, *node.body], [])
    for n in ast.walk(leaves):
        if "lineno" in n._attributes and not hasattr(n, "lineno"):
            ast.copy_location(n, node)
    return [ast.fix_missing_locations(ast.copy_location(made, node))]


def yielding(node: ast.If) -> list[ast.stmt] | None:
    """An `if` of which each side ends with a `yield`, and has no other, as one `yield` after it; None for any other."""
    found = [n for n in own_nodes(node) if isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await))]
    sides = _given(node) if found else None
    if sides is None or sum(isinstance(n, ast.Name) and n.id == YIELDED for n in ast.walk(sides)) != len(found):
        return None
    last = ast.Expr(ast.Yield(ast.Name(YIELDED, ast.Load())))
    return [sides, ast.fix_missing_locations(ast.copy_location(last, node))]


def _given(node: ast.If) -> ast.If | None:
    sides = []
    for body in (node.body, node.orelse):
        last = body[-1] if body else None
        if isinstance(last, ast.Expr) and isinstance(last.value, ast.Yield):
            given = ast.Assign([ast.Name(YIELDED, ast.Store())], last.value.value or ast.Constant(None))
            kept: ast.stmt | None = ast.fix_missing_locations(ast.copy_location(given, last))
        else:
            kept = _given(last) if isinstance(last, ast.If) else None
        if kept is None:
            return None
        sides.append([*body[:-1], kept])
    return ast.copy_location(ast.If(node.test, *sides), node)
