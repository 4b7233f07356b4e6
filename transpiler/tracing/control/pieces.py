"""`match` taken out of a function whole: where a pattern or a guard asks for the truth of a value, its ways meet behind it."""

from __future__ import annotations

import ast
import sys
import types
from dataclasses import dataclass
from typing import Any

from .. import state
from .choosing import joined
from .hoisting import UNSET, Scope, function_of, jumps, locals_call, names_stored, own_nodes, reads_of, set_or_deleted
from .loops import Plan, Watched
from .parting import is_free, variables_in

PIECE = "__np2fx_piece__"


@dataclass(eq=False)
class Piece:
    """A statement that was taken out: see `Choice`. `body` is the code that gives the variables."""

    place: tuple[str, int]
    names: tuple[str, ...]
    assigned: tuple[str, ...]
    needed: frozenset[str]
    guarded: bool
    body: types.CodeType

    def __str__(self) -> str:
        return f"the statement in line {self.place[1]} is followed to the end of the function"


PIECES: list[Piece] = []
"""All such statements, by number."""


def is_piece(node: ast.Match, scope: Scope) -> bool:
    """Whether a statement can be taken out of its function whole."""
    bodies = [statement for case in node.cases for statement in case.body]
    if any(True for _ in jumps(bodies)) or any(isinstance(n, ast.Return) for n in own_nodes(node)):
        return False
    return names_stored(node) <= scope.own and not scope.outlives([node], reads_of(node)) and is_free(node, scope)


def pieced(node: ast.Match, visited: ast.stmt, scope: Scope, path: str) -> list[ast.stmt]:
    """The statements in place of one, which is given as it is to be compiled, too."""
    names, assigned, reads = variables_in(node, scope), sorted(names_stored(node)), reads_of(node)
    code = function_of(scope.name, names, [visited, ast.Return(locals_call())], node, path)
    needed = frozenset(name for name in assigned if scope.reads[name] > reads[name])
    PIECES.append(Piece((path, node.lineno), tuple(names), tuple(assigned), needed, scope.guarded, code))
    call = ast.Call(ast.Name(PIECE, ast.Load()), [ast.Constant(len(PIECES) - 1), locals_call()], [])
    return set_or_deleted(node, assigned, call)


def run_piece(number: int, around: dict[str, Any]) -> tuple[Any, ...]:
    """The statement of this number, with the variables that the function has. Returns those that it binds."""
    piece = PIECES[number]
    function = types.FunctionType(piece.body, sys._getframe(1).f_globals)
    given = {name: around.get(name, UNSET) for name in piece.names}
    tracer = state.active()
    plan = Plan(unrolled=True) if tracer is None else tracer.loops.setdefault(piece, Plan())
    if tracer is None or plan.unrolled:
        found = function(**given)
    elif plan.inside:
        start = {name: given.get(name, UNSET) for name in piece.assigned}
        found = joined(tracer, plan, piece, start, given, lambda: function(**given), piece.needed)
    else:
        forks, tracer.forks = tracer.forks, Watched(tracer, plan, 0)
        try:
            found = function(**given)
        finally:
            tracer.forks = forks
    return tuple(found.get(name, UNSET) for name in piece.assigned)
