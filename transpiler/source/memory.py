"""Memory that nothing wrote: `np.empty` whose array is read though nothing in the function fills it."""

from __future__ import annotations

import ast

from .names import Names


def unwritten(body: list[ast.stmt], names: Names) -> list[ast.Call]:
    """The calls of np.empty and np.empty_like in a body whose array is neither filled nor handed to something that may fill it."""
    every = [n for s in body for n in ast.walk(s)]
    made = [n for n in every if isinstance(n, ast.Call) and names.qualified(n.func) in ("numpy.empty", "numpy.empty_like")]
    if not made:
        return []
    filled = _filled(every)
    kept = {id(k.value) for n in every if isinstance(n, ast.Call) for k in n.keywords if k.arg == "out"}
    for n in every:
        targets = n.targets if isinstance(n, ast.Assign) else [n.target] if isinstance(n, (ast.AnnAssign, ast.NamedExpr)) else []
        if targets and (not all(isinstance(t, ast.Name) for t in targets) or {_root(t) for t in targets} & filled):
            kept.add(id(n.value))  # type: ignore[attr-defined]
    return [call for call in made if id(call) not in kept and not _is_empty_shape(call)]


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


def _is_empty_shape(call: ast.Call) -> bool:
    """`np.empty(0)`, `np.empty((0, 3))`: there is no memory to hold anything."""
    return any(isinstance(n, ast.Constant) and n.value == 0 and not isinstance(n.value, bool) for a in call.args[:1] for n in ast.walk(a))
