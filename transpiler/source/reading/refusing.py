"""Arguments that a rule refuses, read from its source: `if axes is not None: raise Refused(message, hint, finding)`.

Only conditions on parameters are read, and only what they certainly are at a call decides; the rest shows when the rule runs.
"""

from __future__ import annotations

import ast

from .walking import walk


def refusals(function: ast.FunctionDef, parameters: set[str]) -> list[list[str]]:
    """[condition, message, hint, finding] of each `if` at the top of a rule's body that does nothing but refuse."""
    found = []
    for statement in function.body:
        if not (isinstance(statement, ast.If) and len(statement.body) == 1 and not statement.orelse):
            continue
        raised = statement.body[0].exc if isinstance(statement.body[0], ast.Raise) else None
        if not (isinstance(raised, ast.Call) and isinstance(raised.func, ast.Name) and raised.func.id == "Refused"):
            continue
        names = {n.id for n in walk(statement.test) if isinstance(n, ast.Name)}
        texts = [t for t in map(_text, raised.args) if t is not None]
        if names <= parameters | {"isinstance", "callable", "torch"} and texts and len(texts) == len(raised.args):
            found.append([ast.unparse(statement.test), *(texts + ["", "unsupported-argument"][len(texts) - 1 :])])
    return found


def _text(node: ast.expr) -> str | None:
    """A string literal; an f-string with the source of what it shows."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else ast.unparse(v.value) for v in node.values)  # type: ignore[attr-defined]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
