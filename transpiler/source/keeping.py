"""What a function leaves in the attributes of its arguments: `self.last = ...` outlives the call."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .facts import Fact

_NO_ARRAYS = ("torch", "either", "number", "text", "none", "name", "function", "dtype")
"""Kinds of values that the boundary need not, or must not, turn into arrays again."""


def kept_paths(function: ast.AST, fact: Callable[[ast.AST], Fact]) -> set[str]:
    """The attributes of arguments ("self.last", "self.stats.mean") into which the function may put an array, or a container of some."""
    args = getattr(function, "args", None)
    if args is None:
        return set()
    parameters = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    found = set()
    for s in ast.walk(function):
        if not isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or s.value is None:
            continue
        if isinstance(s, ast.Assign) and fact(s.value).kind in _NO_ARRAYS:
            continue
        for target in s.targets if isinstance(s, ast.Assign) else [s.target]:
            found |= {path for t in ast.walk(target) if (path := _path(t)) is not None and path.partition(".")[0] in parameters}
    return found


def _path(target: ast.AST) -> str | None:
    """The attribute that a target sets, or whose container it changes: `self.a = `, `self.a["k"] = `."""
    if not isinstance(target, (ast.Attribute, ast.Subscript)) or not isinstance(target.ctx, ast.Store):
        return None
    place: ast.expr = target
    while isinstance(place, ast.Subscript):
        place = place.value
    names: list[str] = []
    while isinstance(place, ast.Attribute):
        names.append(place.attr)
        place = place.value
    return ".".join([place.id, *reversed(names)]) if names and isinstance(place, ast.Name) else None
