"""`for` loops that end early, or skip rounds, taken out of their function: the body becomes a function of its own.

`for T in ITEMS: BODY` becomes `a, T, goes_on = __np2fx_for__(number, locals(), ITEMS)`, with the variables that BODY binds. `break` and
`continue` are returns of the body's function, and so is `return x`: then `x` is kept, and the function returns it after the loop. Loops
without such jumps stay where they are.
"""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass

from .hoisting import HIDDEN, Returning, Scope, function_of, jumps, locals_call, names_stored, own_nodes, reads_of, set_or_deleted
from .parting import is_free, variables_in

FOR = "__np2fx_for__"
GOES_ON, RESULT, ITEM = f"{HIDDEN}goes_on__", f"{HIDDEN}result__", f"{HIDDEN}item__"


@dataclass(eq=False)
class Rounds:
    """A `for` that was taken out.

    place     file and line
    names     the variables of the function that it names
    assigned  those that its rounds bind
    needed    those of `assigned` that are read elsewhere in the function, too
    guarded   whether the function catches errors
    breaks    whether a round may be the last
    is_fresh  whether what it goes through is made for it
    body      the code that gives (whether the loop goes on, the variables), of the names and the item"""

    place: tuple[str, int]
    names: tuple[str, ...]
    assigned: tuple[str, ...]
    needed: frozenset[str]
    guarded: bool
    breaks: bool
    is_fresh: bool
    body: types.CodeType

    def __str__(self) -> str:
        return f"the loop in line {self.place[1]} is followed to the end of the function"


ROUNDS: list[Rounds] = []
"""All such loops, by number."""


def is_countable(node: ast.For, scope: Scope) -> bool:
    """Whether a `for` has jumps, and can be taken out of its function."""
    found = list(jumps(node.body))
    returns = [n for n in own_nodes(node) if isinstance(n, ast.Return)]
    if not found or any(r not in found for r in returns) or (returns and any(isinstance(n, ast.Break) for n in found)):
        return False
    if returns and node.orelse:
        return False
    return names_stored(node) <= scope.own and not scope.outlives([node], reads_of(node)) and is_free(node, scope)


def counted(node: ast.For, items: ast.expr, body: list[ast.stmt], after: list[ast.stmt], scope: Scope, path: str) -> list[ast.stmt]:
    """The statements in place of a `for`, whose parts are given as they are to be compiled."""
    found = list(jumps(node.body))
    returns = any(isinstance(n, ast.Return) for n in found)
    breaks = returns or any(isinstance(n, ast.Break) for n in found)
    names = variables_in(node, scope)
    assigned = sorted(names_stored(node)) + [RESULT] * returns + [GOES_ON] * bool(after)
    end = ast.Return(ast.Tuple([ast.Constant(True), locals_call()], ast.Load()))
    given = ast.Assign([node.target], ast.Name(ITEM, ast.Load()))
    code = function_of(scope.name, [*names, ITEM], [given, *Returning(RESULT if returns else "").all(body), end], node, path)
    reads = reads_of(node)
    needed = frozenset(n for n in assigned if scope.reads[n] > reads[n] or n == RESULT)
    is_fresh = isinstance(node.iter, ast.Call)
    ROUNDS.append(Rounds((path, node.lineno), tuple(names), tuple(assigned), needed, scope.guarded, breaks, is_fresh, code))
    call = ast.Call(ast.Name(FOR, ast.Load()), [ast.Constant(len(ROUNDS) - 1), locals_call(), items], [])
    return set_or_deleted(node, assigned, call, after)


def after_loop(node: ast.For) -> ast.If | None:
    """What comes after a `for`: its `else`, or the return of what one in it gives."""
    goes_on = ast.copy_location(ast.Name(GOES_ON, ast.Load()), node)
    if node.orelse:
        return ast.copy_location(ast.If(goes_on, node.orelse, []), node)
    if any(isinstance(n, ast.Return) for n in jumps(node.body)):
        result = ast.copy_location(ast.Name(RESULT, ast.Load()), node)
        return ast.copy_location(ast.If(goes_on, [ast.Pass()], [ast.Return(result)]), node)
    return None
