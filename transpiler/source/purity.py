"""Functions that write into no array and give none out flipped, by their text alone and by those they call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

_IN_PLACE = (
    "sort", "fill", "put", "resize", "partition", "at", "copyto", "putmask", "place", "put_along_axis", "fill_diagonal", "shuffle",
    "setfield", "itemset",
)  # fmt: skip
_FLIPS = ("flip", "fliplr", "flipud", "rot90")


def pure_functions(
    trees: Iterable[ast.AST], callee: Callable[[ast.expr], ast.AST | None], foreign: Callable[[ast.expr], bool],
    writer: Callable[[ast.Call], bool] = lambda call: False,
) -> set[ast.AST]:
    """The pure functions of some modules.

    callee   the function of these modules that a call's function is, None for all others
    foreign  True where another function is one that nobody knows
    writer   True for a call of NumPy's that writes into its arguments"""
    bodies = {f: list(ast.walk(f)) for tree in trees for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)}
    pure: set[ast.AST] = {f for f, inside in bodies.items() if not any(map(_suspicious, inside))}
    pure = {f for f in pure if not any(isinstance(n, ast.Call) and writer(n) for n in bodies[f])}  # type: ignore[index]
    functions = {f: [n.func for n in bodies[f] if isinstance(n, ast.Call)] for f in pure if isinstance(f, ast.FunctionDef)}
    called = {f: [(n, callee(n)) for n in inside] for f, inside in functions.items()}
    pure = {f for f in pure if not any(c is None and foreign(n) for n, c in called[f])}  # type: ignore[index]
    while True:
        fewer = {f for f in pure if all(c is None or c in pure for _, c in called[f])}  # type: ignore[index]
        if fewer == pure:
            return pure
        pure = fewer


def _suspicious(n: ast.AST) -> bool:
    if isinstance(n, ast.AugAssign) or (isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load)):
        return True
    if isinstance(n, ast.Slice):
        return n.step is not None and not (isinstance(n.step, ast.Constant) and isinstance(n.step.value, int))
    if not isinstance(n, ast.Call):
        return False
    attribute = n.func.attr if isinstance(n.func, ast.Attribute) else n.func.id if isinstance(n.func, ast.Name) else ""
    return attribute in (*_IN_PLACE, *_FLIPS) or any(k.arg in ("out", "copy", None) for k in n.keywords)
