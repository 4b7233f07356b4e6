"""`walk` and `children`, for those who ask for all that is in a piece of syntax: the functions of `ast`, but fast, and remembered.

A rewriting asks for them of the same functions dozens of times. The trees of the static half are never changed, so one answer holds.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

_WORTH_KEEPING = 8
_fields: dict[type[ast.AST], tuple[str, ...]] = {}


def children(node: ast.AST) -> list[ast.AST]:
    """What stands in a node, as `ast.iter_child_nodes` has it, but for Load, Store and Del."""
    fields = _fields.get(node.__class__)
    if fields is None:
        fields = _fields[node.__class__] = tuple(f for f in node._fields if f not in ("ctx", "id", "attr"))
    found: list[ast.AST] = []
    for name in fields:
        child = getattr(node, name, None)
        if child.__class__ is list:
            found += [c for c in child if isinstance(c, ast.AST)]
        elif isinstance(child, ast.AST):
            found.append(child)
    return found


def walk(node: ast.AST) -> Sequence[ast.AST]:
    """A node and all that is in it, in the order of `ast.walk`, but for Load, Store and Del; not to be changed."""
    known: list[ast.AST] | None = getattr(node, "_walked", None)  # kept at the node itself, so that it goes with it
    if known is not None and known[0] is node:
        return known
    found = [node]
    for n in found:
        found += children(n)
    if len(found) >= _WORTH_KEEPING:
        node._walked = found  # type: ignore[attr-defined]
    return found
