"""What a function leaves in the attributes of its arguments: `self.last = ...` outlives the call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..facts.known import Fact, element_of
from ..reading.walking import walk

_NO_ARRAYS = ("torch", "either", "number", "text", "none", "name", "function", "dtype")
"""Kinds of values that the boundary need not, or must not, turn into arrays again."""


def kept_paths(function: ast.AST, fact: Callable[[ast.AST], Fact]) -> set[str]:
    """The attributes of arguments ("self.last", "self.stats.mean") into which the function may put an array, or a container of some."""
    own = _lasting_parameters(function)
    paths = (_path(t) for _, t in _targets(function, fact))
    return {path for path in paths if path is not None and path.partition(".")[0] in own} | set(filled(function).values())


def others(function: ast.AST, fact: Callable[[ast.AST], Fact]) -> list[tuple[ast.AST, ast.Attribute]]:
    """The attributes that are set of what may be anybody's object (`me = self; me.last = x`), each with the statement that does it."""
    own = _lasting_parameters(function)
    found: list[tuple[ast.AST, ast.Attribute]] = []
    for statement, target in _targets(function, fact):
        path = _path(target)
        if path is None or path.partition(".")[0] not in own:
            place: ast.AST = target
            while isinstance(place, ast.Subscript):
                place = place.value
            if isinstance(place, ast.Attribute):
                found.append((statement, place))
    return found + [(s, place) for s, _, place in _fillings(function) if (_dotted(place) or "").partition(".")[0] not in own]


def _lasting_parameters(function: ast.AST) -> set[str]:
    """The parameters that stay what they were: nothing else gets their names."""
    args = getattr(function, "args", None)
    if args is None:
        return set()
    stored = {n.id for n in walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    inside = [n for n in walk(function) if isinstance(n, ast.arguments) and n is not args]
    inner = {a.arg for n in inside for a in walk(n) if isinstance(a, ast.arg)}
    return {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]} - stored - inner


def _targets(function: ast.AST, fact: Callable[[ast.AST], Fact]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What the function binds an array to, or may, that is no name of its own: each with the statement, or the comprehension."""
    for s in walk(function):
        for target in _bound(s, fact):
            for t in walk(target):
                if isinstance(t, (ast.Attribute, ast.Subscript)) and isinstance(t.ctx, ast.Store):
                    yield s, t


def _bound(s: ast.AST, fact: Callable[[ast.AST], Fact]) -> list[ast.expr]:
    """The targets of a statement, or of a comprehension's loop, to which an array is bound, or may be."""
    if isinstance(s, ast.Assign):
        return s.targets if fact(s.value).kind not in _NO_ARRAYS else []
    if isinstance(s, (ast.AnnAssign, ast.AugAssign)):
        return [s.target] if s.value is not None else []
    if isinstance(s, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [s.target] if element_of(fact(s.iter)).kind not in _NO_ARRAYS else []
    return [s.optional_vars] if isinstance(s, ast.withitem) and s.optional_vars is not None else []


def filled(function: ast.AST) -> dict[ast.AST, str]:
    """The methods by which a function adds to containers in attributes of its arguments (`self.a.append(x)`), each with the attribute:
    what that holds then outlives the call, as in `self.a = [x]`."""
    own = _lasting_parameters(function)
    paths = {func: _dotted(place) for _, func, place in _fillings(function)}
    return {func: path for func, path in paths.items() if path is not None and path.partition(".")[0] in own}


def _fillings(function: ast.AST) -> Iterator[tuple[ast.stmt, ast.Attribute, ast.Attribute]]:
    """The statements that add something to a container in an attribute, each with the method that does it and the attribute."""
    for s in walk(function):
        func = s.value.func if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) else None
        if isinstance(s, ast.Expr) and isinstance(func, ast.Attribute) and func.attr in _FILLS and isinstance(func.value, ast.Attribute):
            yield s, func, func.value


_FILLS = ("append", "appendleft", "extend", "extendleft", "insert", "update")


def _path(target: ast.AST) -> str | None:
    """The attribute that a target sets, or whose container it changes: `self.a = `, `self.a["k"] = `."""
    if not isinstance(target, (ast.Attribute, ast.Subscript)) or not isinstance(target.ctx, ast.Store):
        return None
    place: ast.expr = target
    while isinstance(place, ast.Subscript):
        place = place.value
    return _dotted(place)


def _dotted(place: ast.expr) -> str | None:
    names: list[str] = []
    while isinstance(place, ast.Attribute):
        names.append(place.attr)
        place = place.value
    return ".".join([place.id, *reversed(names)]) if names and isinstance(place, ast.Name) else None
