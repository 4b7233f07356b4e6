"""Functions that write into no array and give none out flipped, by their text alone and by those they call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ..reading.walking import walk

_FLIPS = ("flip", "fliplr", "flipud", "rot90")


def pure_functions(
    trees: Iterable[ast.AST], callee: Callable[[ast.expr], ast.AST | None], foreign: Callable[[ast.expr], bool],
    writer: Callable[[ast.Call], bool], in_place: frozenset[str], makes: Callable[[ast.Call], bool],
    is_scalar: Callable[[ast.AST, ast.expr], bool],
) -> set[ast.AST]:
    """The pure functions of some modules.

    callee   the function of these modules that a call's function is, None for all others
    foreign  True where another function is one that nobody knows
    writer   True for a call of NumPy's that writes into its arguments
    in_place what functions and methods that write are called
    makes    True for a call of NumPy's that makes a new array
    is_scalar  True for what is a number or a scalar in a function"""
    bodies = {f: list(walk(f)) for tree in trees for f in walk(tree) if isinstance(f, ast.FunctionDef)}
    pure: set[ast.AST] = {f for f, inside in bodies.items() if not _is_suspicious(f, inside, in_place, makes, is_scalar)}
    pure = {f for f in pure if not any(isinstance(n, ast.Call) and writer(n) for n in bodies[f])}  # type: ignore[index]
    return _closed(pure, bodies, callee, foreign)


def straight_functions(
    trees: Iterable[ast.AST], callee: Callable[[ast.expr], ast.AST | None], foreign: Callable[[ast.expr], bool]
) -> set[ast.AST]:
    """The functions that give out nothing flipped, though they may write."""
    bodies = {f: list(walk(f)) for tree in trees for f in walk(tree) if isinstance(f, ast.FunctionDef)}
    return _closed({f for f, inside in bodies.items() if not any(map(_flips, inside))}, bodies, callee, foreign)


def _closed(
    pure: set[ast.AST], bodies: dict[ast.FunctionDef, list[ast.AST]], callee: Callable[[ast.expr], ast.AST | None],
    foreign: Callable[[ast.expr], bool],
) -> set[ast.AST]:  # fmt: skip
    """Those of some functions that call none but each other, and such that everybody knows. What is raised is called by nobody."""
    raised = {n.exc for f in pure for n in bodies[f] if isinstance(n, ast.Raise)}  # type: ignore[index]
    calls = {f: [n for n in bodies[f] if isinstance(n, ast.Call) and n not in raised] for f in pure}  # type: ignore[index]
    functions = {f: [n.func for n in found] for f, found in calls.items() if isinstance(f, ast.FunctionDef)}
    pure = {f for f in pure if not any(callee(n) is None and foreign(n) for n in functions[f])}  # type: ignore[index]
    called = {f: {c for n in functions[f] if (c := callee(n)) is not None} for f in functions if f in pure}
    for f in called:  # what is handed to others may be called by them: `map(scale, xs)`
        called[f] |= {c for n in bodies[f] if isinstance(n, ast.Name) and (c := callee(n)) in bodies}  # type: ignore[misc]
    while True:
        fewer = {f for f in pure if called[f] <= pure}  # type: ignore[index]
        if fewer == pure:
            return pure
        pure = fewer


def _is_suspicious(
    function: ast.FunctionDef, inside: list[ast.AST], in_place: frozenset[str], makes: Callable[[ast.Call], bool],
    is_scalar: Callable[[ast.AST, ast.expr], bool],
) -> bool:  # fmt: skip
    found = [n for n in inside if _suspicious(n, in_place) and not (isinstance(n, ast.AugAssign) and is_scalar(function, n.target))]
    if not found:
        return False
    own = _own_arrays(function, inside, makes)
    values = [(t.id, s.value) for s in inside if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
    copies = {name for name, v in values if isinstance(v, ast.Call) and isinstance(v.func, ast.Attribute) and v.func.attr == "copy"}
    items = {_name_of(n) for n in found if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Subscript)}
    return not all(_name_of(n) in own for n in found) or not items.isdisjoint(copies)  # a dict's copy holds the same arrays


def _name_of(n: ast.AST) -> str:
    """The name of the array that a statement writes into, by one index or in place; "" where it is another's."""
    target = n.target if isinstance(n, ast.AugAssign) else n
    target = target.value if isinstance(target, ast.Subscript) and not isinstance(target.ctx, ast.Load) else target
    return target.id if isinstance(target, ast.Name) else ""


def _own_arrays(function: ast.FunctionDef, inside: list[ast.AST], makes: Callable[[ast.Call], bool]) -> set[str]:
    """The names of a function that are bound to nothing but numbers and arrays that it makes itself."""
    bound = {t: s.value for s in inside if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    fresh = {t for t, value in bound.items() if _is_new(value, makes)} | {s.target for s in inside if isinstance(s, ast.AugAssign)}
    taken = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and n not in fresh}
    taken |= {a.arg for n in inside if isinstance(n, ast.arguments) for a in walk(n) if isinstance(a, ast.arg)}
    taken |= {name for n in inside if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    return {t.id for t in bound if t in fresh} - taken


def _is_new(value: ast.expr, makes: Callable[[ast.Call], bool]) -> bool:
    if isinstance(value, ast.BinOp):  # a list may be added to and multiplied
        lists = isinstance(value.op, (ast.Add, ast.Mult))
        return not lists or _is_new(value.left, makes) or _is_new(value.right, makes)
    if isinstance(value, ast.UnaryOp):
        return not isinstance(value.op, ast.UAdd)
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and makes(value))


def _suspicious(n: ast.AST, in_place: frozenset[str]) -> bool:
    if isinstance(n, ast.AugAssign) or (isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load)):
        return True
    if isinstance(n, ast.Attribute):
        return n.attr in in_place or n.attr in _FLIPS
    if not isinstance(n, ast.Call):
        return _flips(n)
    named = isinstance(n.func, ast.Name) and n.func.id in in_place
    return named or _flips(n) or any(k.arg is None for k in n.keywords)


def _flips(n: ast.AST) -> bool:
    """Whether a view runs backwards, or may."""
    if isinstance(n, ast.Slice):
        return n.step is not None and not (isinstance(n.step, ast.Constant) and isinstance(n.step.value, int))
    return (isinstance(n, ast.Attribute) and n.attr in _FLIPS) or (isinstance(n, ast.Name) and n.id in _FLIPS)
