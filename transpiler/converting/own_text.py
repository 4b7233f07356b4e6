"""NumPy on torch, for `convert`: the function's own text, in which calls of NumPy's functions are read from `np2fx.numpy`.

A name of NumPy's that is a value (`red is np.max`) stays NumPy's own object: what calls it later finds its rule by NumPy's protocols."""

from __future__ import annotations

import ast

from ..codemod.rewriting_expressions import Expressions
from ..source.reading.walking import children, walk

_USED_AT_ONCE = ("numpy.r_", "numpy.c_", "numpy.s_", "numpy.index_exp", "numpy.mgrid", "numpy.ogrid")


def edits(r: Expressions, node: ast.AST, npx: str) -> list[tuple[int, int, str]]:
    """What changes in the text of a function of which the facts are known: `np.sum(x)` is `npx.sum(x)`, `type(x)` is `(x).__class__`."""
    found: set[tuple[int, int, str]] = set()
    pending: list[ast.AST] = list(node.body) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else children(node)
    while pending:
        n = pending.pop()
        if isinstance(n, ast.JoinedStr):
            continue  # a text shows values, which NumPy's own functions compute as well
        pending += children(n)
        used = n.func if isinstance(n, ast.Call) else n.value if isinstance(n, ast.Subscript) else None
        name = _name(r, used) if used is not None else ""
        if used is None or not name:
            continue
        (start, end), stop = r.source.span(used), r.source.span(n)[1]
        if name.startswith("numpy.") and (isinstance(n, ast.Call) or name in _USED_AT_ONCE):
            new = f"{npx}.{name.removeprefix('numpy.')}"
            found |= {(start, end, new)} if r.source.of(used) != new else set()
        elif name == "torch.from_numpy" and isinstance(used, ast.Attribute):
            found.add((start, end, f"{r.source.of(used.value)}.as_tensor"))
        elif name == "builtins.type" and isinstance(n, ast.Call) and len(n.args) == 1 and r.fact(n.args[0]).may_be_tensor:
            found |= {(start, end, ""), (stop, stop, ".__class__")}
    return sorted(found)


def _name(r: Expressions, e: ast.AST) -> str:
    fact = r.fact(e)
    return str(fact.value) if fact.kind == "name" and isinstance(e, (ast.Name, ast.Attribute)) else ""


def called_only(node: ast.AST) -> frozenset[str]:
    """The names and attributes with which a function does nothing but call what they are: whose identity it cannot ask for."""
    inside = list(walk(node))
    called = {n.func for n in inside if isinstance(n, ast.Call)}
    read = [n for n in inside if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)]
    others = {_last(n) for n in read if n not in called}
    return frozenset(_last(n) for n in read if n in called) - others


def _last(e: ast.Name | ast.Attribute) -> str:
    return e.id if isinstance(e, ast.Name) else e.attr
