"""What is unpacked into a target, or iterated by Python itself: elements of an array are copies in NumPy, views in torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions

ITERATING = ("extend", "extendleft", "__iadd__")
"""Methods of Python's containers that iterate over what they are given."""


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


def iterates(r: Expressions, e: ast.expr, target: ast.expr) -> None:
    """What a `for` with a target runs over."""
    fact = r.fact(e)
    if fact.kind == "array" and fact.rank and r.unchanging(e):
        return
    opaque = fact.kind in ("unknown", "tensor") and not _is_range(e)
    users = opaque and fact.kind == "unknown" and r.computes("__iter__", "__next__", "__getitem__")
    changes = r.mutates and (opaque or (fact.kind == "array" and fact.rank in (1, None)))
    if unpacks(r, target) or users or changes:
        r.leave(e)


def _is_range(e: ast.expr) -> bool:
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "range"


def elements(r: Expressions, *given: ast.expr) -> None:
    """Expressions that Python iterates over: `l.extend(x)`, `yield from x`, `[*x]`."""
    for e in given:
        if matters(r) and r.fact(e).may_be_tensor:
            r.leave(e)
