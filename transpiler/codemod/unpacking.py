"""What is unpacked into a target, or iterated by Python itself: elements of an array are copies in NumPy, views in torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..source.reading.text import splice

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions

ITERATING = ("extend", "extendleft", "__iadd__")
"""Methods of Python's containers that iterate over what they are given."""


def pattern(target: ast.expr) -> str:
    """The form of a target: of `a, (b, *c)` the text "(0, (0, [0]))"."""
    if isinstance(target, ast.Starred):
        return f"[{pattern(target.value)}]"
    if isinstance(target, (ast.Tuple, ast.List)):
        return f"({', '.join(map(pattern, target.elts))}{',' * (len(target.elts) == 1)})"
    return "0"


def _tuples(target: ast.expr) -> Iterator[ast.expr]:
    """The parts of a target that unpack something, the target itself among them."""
    if isinstance(target, ast.Starred):
        yield from _tuples(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        yield target
        for part in target.elts:
            yield from _tuples(part)


def matters(r: Expressions) -> bool:
    """Whether it counts here which elements of arrays are copies."""
    return r.mutates or r.computes("__iter__")


def unpacks(r: Expressions, target: ast.expr, value: ast.expr | None = None) -> bool:
    """Whether what is bound to a target may be elements of an array (`value`, where that is known) that must not change with it."""
    if value is not None and r.fact(value).kind == "array" and (r.fact(value).fresh or r.unchanging(value)):
        return False
    return matters(r) and any(r.fact(t).may_be_tensor for t in _tuples(target))


def unpacked(r: Expressions, target: ast.expr, value: str) -> str:
    """The text of a value that is assigned to a target."""
    if not unpacks(r, target):
        return value
    return r.ops("iterate", value) if len(list(_tuples(target))) == 1 else r.ops("spread", value, pattern(target))


def iterated(r: Expressions, e: ast.expr, target: ast.expr) -> str:
    """The text of what a `for` with a target runs over."""
    text, fact = r.argument(e), r.fact(e)
    if fact.kind == "array" and fact.rank and r.unchanging(e):
        return text
    if unpacks(r, target):
        return r.ops("each", text, pattern(target))
    opaque = fact.kind in ("unknown", "tensor") and not _is_range(e)
    users = opaque and fact.kind == "unknown" and r.computes("__iter__", "__next__", "__getitem__")
    changes = r.mutates and (opaque or (fact.kind == "array" and fact.rank in (1, None)))
    return r.ops("iterate", text) if users or changes else r.text(e)


def _is_range(e: ast.expr) -> bool:
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "range"


def elements(r: Expressions, e: ast.expr) -> str:
    """The text of an expression that Python iterates over: `l.extend(x)`, `yield from x`, `[*x]`."""
    return r.ops("iterate", r.text(e)) if matters(r) and r.fact(e).may_be_tensor else r.text(e)


def with_elements(r: Expressions, e: ast.Call) -> str:
    """A call of a method that iterates over its arguments."""
    start, end = r.source.span(e)
    given = {r.source.span(a): elements(r, a) for a in e.args if not isinstance(a, ast.Starred)}
    return splice(r.source, start, end, [p for p in r._parts(e, start, end) if p[:2] not in given] + [(*s, t) for s, t in given.items()])
