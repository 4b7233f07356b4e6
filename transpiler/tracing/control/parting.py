"""Branches taken out of a function: the test and the sides of an `if` become functions of their own, which the trace can run as it likes.

`if TEST: A` and `else: B` become `a, b = __np2fx_choice__(number, locals())`, where `a` and `b` are what A and B bind; `x if TEST else y`
becomes a call, too. Branches with anything that cannot be moved, or that leave the statement (`return`, `break`), stay where they are.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable
from dataclasses import dataclass

from .hoisting import HIDDEN, Scope, function_of, jumps, locals_call, names_stored, own_nodes, reads_of, set_or_deleted, stays

CHOICE = "__np2fx_choice__"


@dataclass(eq=False)
class Choice:
    """A branch that was taken out.

    place    file and line
    names    the variables of the function that it names: the parameters of the four functions
    assigned  those that its sides bind; none of an expression
    needed   those of `assigned` that are read elsewhere in the function, too
    guarded  whether the function catches errors
    calls    whether the test may ask for a truth between calls that may change something
    test, truth  the code that gives the test's value, and its truth
    yes, no  the code of the sides: of a statement they give the variables, else the value"""

    place: tuple[str, int]
    names: tuple[str, ...]
    assigned: tuple[str, ...]
    needed: frozenset[str]
    guarded: bool
    calls: bool
    is_expression: bool
    test: types.CodeType
    truth: types.CodeType
    yes: types.CodeType
    no: types.CodeType

    def __str__(self) -> str:
        return f"the branch in line {self.place[1]} is followed to the end of the function"


CHOICES: list[Choice] = []
"""All branches that were taken out, by number."""


def is_movable(node: ast.If | ast.IfExp, scope: Scope) -> bool:
    """Whether a branch can be taken out of its function."""
    if isinstance(node, ast.If):
        if any(True for _ in jumps([*node.body, *node.orelse])) or any(isinstance(n, ast.Return) for n in own_nodes(node)):
            return False
        if not {n for n in names_stored(node) if not n.startswith(HIDDEN)} <= scope.own or scope.outlives([node], reads_of(node)):
            return False
    return is_free(node, scope)


def is_free(node: ast.AST, scope: Scope) -> bool:
    """Whether code does the same where it is in a function of its own."""
    if any(map(stays, ast.walk(node))) or any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in own_nodes(node)):
        return False
    return not any(_names(n) & scope.shared for n in _late(node))


def _late(node: ast.AST) -> list[ast.AST]:
    """Functions without a name and generators, which may read variables when these are others already."""
    taken = {id(a) for n in ast.walk(node) if isinstance(n, ast.Call) for a in n.args if isinstance(a, ast.GeneratorExp)}
    return [n for n in ast.walk(node) if isinstance(n, ast.Lambda) or (isinstance(n, ast.GeneratorExp) and id(n) not in taken)]


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}



def _calls_between(test: ast.expr) -> bool:
    """Whether a test may ask for a truth, and has called something before."""
    calls = [n for n in ast.walk(test) if isinstance(n, ast.Call)]
    asks = any(isinstance(n, (ast.BoolOp, ast.IfExp)) or (isinstance(n, ast.Compare) and len(n.ops) > 1) for n in ast.walk(test))
    return bool(calls) and (asks or not all(isinstance(c.func, ast.Attribute) and isinstance(c.func.value, ast.Name) for c in calls))


def parted(
    node: ast.If | ast.IfExp, tests: tuple[ast.expr, ast.expr], sides: tuple[list[ast.stmt], list[ast.stmt]], scope: Scope,
    others: Iterable[str], path: str,
) -> tuple[int, list[str]]:  # fmt: skip
    """Note a branch. Returns its number and the variables that it binds.

    Its tests (for the value, for the truth) and sides are given as they are to be compiled, `others` are variables of comprehensions."""
    names = variables_in(node, scope, others)
    assigned = sorted(names_stored(node)) if isinstance(node, ast.If) else []
    end = [ast.Return(locals_call())] if isinstance(node, ast.If) else []
    truth = ast.IfExp(tests[1], ast.Constant(True), ast.Constant(False))
    bodies: list[list[ast.stmt]] = [[ast.Return(tests[0])], [ast.Return(truth)], [*sides[0], *end], [*sides[1], *end]]
    codes = [function_of(scope.name, names, body, node, path) for body in bodies]
    reads = reads_of(node)
    needed = frozenset(name for name in assigned if scope.reads[name] > reads[name] or name.startswith(HIDDEN))
    given = (tuple(names), tuple(assigned), needed, scope.guarded, _calls_between(node.test), isinstance(node, ast.IfExp))
    CHOICES.append(Choice((path, node.lineno), *given, *codes))
    return len(CHOICES) - 1, assigned


def variables_in(node: ast.AST, scope: Scope, others: Iterable[str] = ()) -> list[str]:
    """The variables of the function that code names."""
    named = _names(node) | names_stored(node)
    return sorted(n for n in named if n in scope.own or n in scope.shared or n in others or n.startswith(HIDDEN))


def call_of(number: int) -> ast.expr:
    """The call in place of a branch."""
    return ast.Call(ast.Name(CHOICE, ast.Load()), [ast.Constant(number), locals_call()], [])


def statements_for(node: ast.If, number: int, assigned: list[str]) -> list[ast.stmt]:
    """The statements in place of an `if`."""
    return set_or_deleted(node, assigned, call_of(number))


def expression_for(node: ast.IfExp, number: int) -> ast.expr:
    """The expression in place of a conditional one."""
    made = ast.IfExp(ast.Constant(1), call_of(number), node)  # so that the function has the same variables, and shares the same ones
    for n in ast.walk(made):
        if "lineno" in n._attributes and not hasattr(n, "lineno"):
            ast.copy_location(n, node)
    return made
