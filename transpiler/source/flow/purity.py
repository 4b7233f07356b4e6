"""Functions that write into no array and give none out flipped, by their text alone and by those they call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ..reading.walking import walk

_FLIPS = ("flip", "fliplr", "flipud", "rot90")


def pure_functions(
    trees: Iterable[ast.AST], callee: Callable[[ast.expr], ast.AST | None], foreign: Callable[[ast.expr], bool],
    writer: Callable[[ast.Call], bool], in_place: frozenset[str],
) -> set[ast.AST]:
    """The pure functions of some modules.

    callee   the function of these modules that a call's function is, None for all others
    foreign  True where another function is one that nobody knows
    writer   True for a call of NumPy's that writes into its arguments
    in_place what functions and methods that write are called"""
    bodies = {f: list(walk(f)) for tree in trees for f in walk(tree) if isinstance(f, ast.FunctionDef)}
    pure: set[ast.AST] = {f for f, inside in bodies.items() if not any(_suspicious(n, in_place) for n in inside)}
    pure = {f for f in pure if not any(isinstance(n, ast.Call) and writer(n) for n in bodies[f])}  # type: ignore[index]
    functions = {f: [n.func for n in bodies[f] if isinstance(n, ast.Call)] for f in pure if isinstance(f, ast.FunctionDef)}
    pure = {f for f in pure if not any(callee(n) is None and foreign(n) for n in functions[f])}  # type: ignore[index]
    called = {f: {c for n in functions[f] if (c := callee(n)) is not None} for f in functions if f in pure}
    for f in called:  # what is handed to others may be called by them: `map(scale, xs)`
        called[f] |= {c for n in bodies[f] if isinstance(n, ast.Name) and (c := callee(n)) in bodies}  # type: ignore[misc]
    while True:
        fewer = {f for f in pure if called[f] <= pure}  # type: ignore[index]
        if fewer == pure:
            return pure
        pure = fewer


def _suspicious(n: ast.AST, in_place: frozenset[str]) -> bool:
    if isinstance(n, ast.AugAssign) or (isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load)):
        return True
    if isinstance(n, ast.Attribute):
        return n.attr in in_place or n.attr in _FLIPS
    if isinstance(n, ast.Slice):
        return n.step is not None and not (isinstance(n.step, ast.Constant) and isinstance(n.step.value, int))
    if not isinstance(n, ast.Call):
        return False
    named = isinstance(n.func, ast.Name) and (n.func.id in in_place or n.func.id in _FLIPS)
    return named or any(k.arg is None for k in n.keywords)
