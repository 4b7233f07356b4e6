"""Memory that nothing wrote: `np.empty` whose array is read though nothing in the function fills it."""

from __future__ import annotations

import ast
from typing import Any

from ..reading.names import Names
from ..reading.walking import walk

_MAKE = ("numpy.empty", "numpy.empty_like", "numpy.ndarray")


def unwritten(body: list[ast.stmt], names: Names) -> list[ast.Call]:
    """The calls of np.empty and np.empty_like in a body whose array is neither filled nor handed to something that may fill it."""
    every = [n for s in body for n in walk(s)]
    made = [n for n in every if isinstance(n, ast.Call) and names.qualified(n.func) in _MAKE]
    if not made:
        return []
    filled = _filled(every)
    views = _views(every)
    while more := {base for name, base in views if name in filled} | {name for name, base in views if base in filled}:
        if more <= filled:
            break
        filled |= more
    zeroed = [t for n in every if isinstance(n, ast.Assign) and _is_zero(n.value) for t in n.targets]
    emptied = {_root(t) for t in zeroed if isinstance(t, ast.Subscript)}
    kept = {id(k.value) for n in every if isinstance(n, ast.Call) for k in n.keywords if k.arg == "out"}
    for n in every:
        targets = n.targets if isinstance(n, ast.Assign) else [n.target] if isinstance(n, (ast.AnnAssign, ast.NamedExpr)) else []
        for target, value in [p for t in targets for p in pairs(t, n.value)]:  # type: ignore[attr-defined]
            if isinstance(target, ast.Name) and target.id not in filled:
                continue
            kept |= {id(v) for v in ((value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,))}
    return [call for call in made if id(call) not in kept and not _is_empty_shape(call, emptied)]


def pairs(target: ast.expr, value: ast.expr | None) -> list[tuple[ast.expr, Any]]:
    """What is bound to what by an assignment: `a, b = x, y` is two of them."""
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, (ast.Tuple, ast.List)):
        return [(target, value)]
    if len(target.elts) != len(value.elts) or any(isinstance(t, ast.Starred) for t in (*target.elts, *value.elts)):
        return [(target, value)]
    return [p for t, v in zip(target.elts, value.elts, strict=True) for p in pairs(t, v)]


def _filled(every: list[ast.AST]) -> set[str]:
    """The names something is written into: by assignment to a part, in place, by a method that writes, by a call they are handed to."""
    found = {_root(n) for n in every if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, ast.Store)}
    found |= {_root(n.target) for n in every if isinstance(n, ast.AugAssign)}
    for n in every:
        if isinstance(n, ast.Call):
            found |= {_root(a) for a in (*n.args, *(k.value for k in n.keywords))}
            if isinstance(n.func, ast.Attribute) and n.func.attr in ("fill", "put", "itemset"):
                found.add(_root(n.func))
    return found - {""}


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _views(every: list[ast.AST]) -> set[tuple[str, str]]:
    """(name, base) of each name bound to what may share the memory of another: `zi = z.T`, `head = z[:3]`, `w = z.swapaxes(0, 1)`."""
    found = set()
    for n in every:
        if isinstance(n, ast.Assign):
            for target, value in [p for t in n.targets for p in pairs(t, n.value)]:
                while isinstance(value, (ast.Subscript, ast.Attribute)) or (isinstance(value, ast.Call) and _gives_view(value)):
                    value = value.func if isinstance(value, ast.Call) else value.value
                if isinstance(value, ast.Name) and isinstance(target, ast.Name):
                    found.add((target.id, value.id))
    return found


def _gives_view(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in (
        "swapaxes", "transpose", "reshape", "view", "squeeze", "ravel", "diagonal",
    )  # fmt: skip


def _is_empty_shape(call: ast.Call, emptied: set[str]) -> bool:
    """`np.empty(0)`, `np.empty((0, 3))`, a shape one of whose sizes was set to 0: there is no memory to hold anything."""
    shapes = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "shape")]
    return any(_is_zero(n) or (isinstance(n, ast.Name) and n.id in emptied) for a in shapes for n in walk(a))


def _is_zero(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and not isinstance(node.value, bool)
