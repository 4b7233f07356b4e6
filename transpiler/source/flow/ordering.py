"""The order in which Python evaluates an assignment: the value first, then each target, from left to right.

A store into an item becomes a call, whose arguments are evaluated the other way round; and what is unpacked with it is bound before it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from ..facts.known import Fact
from ..reading.walking import walk

_HARMLESS = ("len", "abs", "min", "max", "sum", "float", "int", "bool", "round", "range", "isinstance", "type", "tuple", "sorted", "str")


def meet(value: ast.expr, target: ast.Subscript, fact: Callable[[ast.AST], Fact]) -> bool:
    """Whether it may be seen that the parts of `target` are evaluated before `value`, not after it."""
    place = (target.value, target.slice)
    if any(isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for e in (value, *place) for n in walk(e)):
        return True
    if any(_acts(e, fact) for e in place):
        return not isinstance(value, (ast.Constant, ast.Name))
    return _acts(value, fact) and any(isinstance(n, (ast.Attribute, ast.Subscript, ast.Call)) for e in place for n in walk(e))


def _acts(e: ast.expr, fact: Callable[[ast.AST], Fact]) -> bool:
    """Whether evaluating an expression may change something: it calls what is neither NumPy's nor a harmless builtin."""
    return any(isinstance(n, ast.Call) and not _is_harmless(fact(n.func)) for n in walk(e))


def _is_harmless(fact: Fact) -> bool:
    name = str(fact.value) if fact.kind == "name" else ""
    return name.startswith(("numpy.", "math.")) or name.removeprefix("builtins.") in _HARMLESS


def late_targets(targets: Sequence[ast.expr]) -> set[ast.expr]:
    """The names and attributes that must not be bound before the items to their left, which are read there."""
    late: set[ast.expr] = set()
    read: set[str] = set()
    for leaf in (leaf for t in targets for leaf in bound_in_order(t)):
        if isinstance(leaf, ast.Subscript):
            read |= {n.id for n in walk(leaf) if isinstance(n, ast.Name)}
            if any(isinstance(n, ast.Call) for n in walk(leaf)):
                read.add("*")  # it may read whatever there is
        elif read and ("*" in read or _root(leaf) in read):
            late.add(leaf)
    return late


def bound_in_order(target: ast.expr) -> Iterator[ast.expr]:
    """The names, attributes and items of a target, in the order in which they are bound."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for e in target.elts:
            yield from bound_in_order(e)
    elif isinstance(target, ast.Starred):
        yield from bound_in_order(target.value)
    else:
        yield target


def _root(e: ast.expr) -> str:
    while isinstance(e, ast.Attribute):
        e = e.value
    return e.id if isinstance(e, ast.Name) else "*"
