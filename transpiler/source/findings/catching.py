"""Exceptions over values that a node would catch, as check reads them: a graph has no `except`.

Where NumPy raises for some values, a graph fails. So what may raise must not stand where the function catches it.
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from ..reading.names import Names
from ..reading.table import RuleSource, functions_beside
from ..reading.walking import walk

_NO_ERROR_OF_VALUES = frozenset((
    "norm", "vector_norm", "matrix_norm", "multi_dot", "matmul", "cross", "diagonal", "vecdot", "vander", "LinAlgError",
))  # fmt: skip
"""What of `torch.linalg` does not raise, whatever the values are."""


@dataclass(frozen=True)
class Guard:
    """The classes that are caught around a place: their names, None for all."""

    names: frozenset[str] | None

    def catches(self, problem: str) -> bool:
        return self.names is None or any(n in _classes(problem) or problem in _classes(n) for n in self.names)

    def means(self, problem: str) -> bool:
        """Whether it names just this one."""
        return self.names is not None and problem in self.names


def of_try(s: ast.Try, names: Names) -> list[Guard]:
    """What the body of a `try` is guarded by. A handler that raises again catches nothing, a `finally` that leaves everything."""
    found = [Guard(_named(h.type, names)) for h in s.handlers if not (isinstance(h.body[-1], ast.Raise) and not _leaves(h.body))]
    return [*found, *([Guard(None)] if s.finalbody and _leaves(s.finalbody) else [])]


def of_with(s: ast.With | ast.AsyncWith, names: Names) -> list[Guard]:
    """What `with contextlib.suppress(...)` guards against."""
    calls = [i.context_expr for i in s.items if isinstance(i.context_expr, ast.Call)]
    return [Guard(_named(ast.Tuple(c.args), names)) for c in calls if names.qualified(c.func) == "contextlib.suppress"]


@dataclass(frozen=True)
class Problem:
    """An error that a rule raises for some values: its class, the parameters that decide (None: any), and the `if`s around it, each with
    the outcome that leads there."""

    name: str
    decided_by: frozenset[str] | None
    tests: tuple[tuple[str, bool], ...]


@functools.cache
def problems(rule: RuleSource) -> tuple[Problem, ...]:
    """The errors that a rule raises for some values of its arguments: those of its `demand`s and of torch.linalg."""
    beside = functions_beside(rule)
    function = beside.get(rule.body_name)
    if function is None:
        return ()
    flows = {t.id: {n.id for n in walk(s.value) if isinstance(n, ast.Name)}
             for s in walk(function) if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}  # fmt: skip
    found: list[Problem] = []

    def block(body: list[ast.stmt], tests: tuple[tuple[str, bool], ...]) -> None:
        for s in body:
            if isinstance(s, ast.If):
                text = ast.unparse(s.test)
                block(s.body, (*tests, (text, True)))
                block(s.orelse, (*tests, (text, False)))
                if s.body and isinstance(s.body[-1], (ast.Return, ast.Raise)):
                    tests = (*tests, (text, False))
            else:
                found.extend(Problem(name, by, tests) for name, by in _raised(s, flows, beside, {function}))

    block(function.body, ())
    return tuple(p for p in dict.fromkeys(found) if p.name != "Refused")


def _raised(part: ast.AST, flows: dict[str, set[str]], beside: dict[str, ast.FunctionDef], seen: set[ast.AST]
            ) -> Iterator[tuple[str, frozenset[str] | None]]:  # fmt: skip
    for n in walk(part):
        if isinstance(n, ast.Attribute) and ast.unparse(n).startswith("torch.linalg.") and n.attr not in _NO_ERROR_OF_VALUES:
            yield "LinAlgError", None
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "demand" and len(n.args) == 2:
            error = n.args[1]
            name = error.func.id if isinstance(error, ast.Call) and isinstance(error.func, ast.Name) else "ValueError"
            yield name, _sources(n.args[0], flows)
        elif isinstance(n, ast.Name) and n.id in beside and beside[n.id] not in seen:
            inner = beside[n.id]
            yield from ((name, None) for name, _ in _raised(inner, {}, beside, seen | {inner}) if not _is_conditional(inner))


def _is_conditional(function: ast.FunctionDef) -> bool:
    """Whether a helper of a rule does one thing or another: what it raises is not known of a call then."""
    return any(isinstance(s, ast.If) for s in function.body)


def _sources(e: ast.expr, flows: dict[str, set[str]]) -> frozenset[str]:
    """The names that decide an expression, through the assignments of the function."""
    pending, found = [n.id for n in walk(e) if isinstance(n, ast.Name)], set[str]()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += flows.get(name, ())
    return frozenset(found)


def _named(node: ast.expr | None, names: Names) -> frozenset[str] | None:
    """The last names of the classes that an `except` names; None for all. One that cannot be told is taken for a class of its own."""
    if node is None:
        return None
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    found: set[str] = set()
    for part in parts:
        definition = names.definition(part)
        if isinstance(definition, ast.ClassDef):
            found |= {b for base in definition.bases for b in _named(base, names) or ()} - {"Exception", "BaseException"}
        elif isinstance(part, (ast.Name, ast.Attribute)):
            found.add((names.qualified(part) or ast.unparse(part)).rpartition(".")[2])
    return frozenset(found)


def _classes(name: str) -> frozenset[str]:
    """The names of an error's class and of its bases."""
    known = {"LinAlgError": "ValueError", "AxisError": "ValueError"}
    kind = getattr(builtins, known.get(name, name), None)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        return frozenset({name})
    return frozenset({name, *(c.__name__ for c in kind.__mro__ if c is not object)})


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether the statements may end an exception by going elsewhere."""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for s in body for n in walk(s))
