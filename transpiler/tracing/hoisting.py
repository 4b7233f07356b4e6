"""Loops taken out of a function: the test and the body of a `while` become functions of their own, which the trace can run as it likes.

`while TEST: BODY` becomes `a, b = __np2fx_while__(number, locals)`, where `a` and `b` are what BODY binds. The two functions take what
TEST and BODY name among the function's variables; so there is no closure, and the function keeps its variables. `break` and `continue`
are returns of the body's function. Loops with anything that cannot be moved (`return`, `try`, `del`, ...) stay where they are.
"""

from __future__ import annotations

import ast
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

LOCALS, UNSET_NAME, WHILE = "__np2fx_locals__", "__np2fx_unset__", "__np2fx_while__"
OF_FRAMES = ("super", "locals", "globals", "vars", "dir", "eval", "exec")
"""Builtins that look at the code around their call."""


class _Unset:
    """What stands for a variable without a value."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET = _Unset()


@dataclass(eq=False)
class Loop:
    """A loop that was taken out.

    place     file and line
    names     the variables of the function that it names: the parameters of the two functions
    assigned  those that its body binds
    tested    those that the test names
    outside   those of `assigned` that are read elsewhere in the function, too
    breaks    whether the body has a `break` of this loop
    endless   whether it ends with a `break` alone
    test      the code that gives the test's value
    truth     the code that gives the test's truth
    body      the code that gives (whether the loop goes on, the variables)"""

    place: tuple[str, int]
    names: tuple[str, ...]
    assigned: tuple[str, ...]
    tested: frozenset[str]
    outside: frozenset[str]
    breaks: bool
    endless: bool
    test: types.CodeType
    truth: types.CodeType
    body: types.CodeType


LOOPS: list[Loop] = []
"""All loops that were taken out, by number."""


@dataclass
class Scope:
    """A function around loops: its name, its own variables, those that it shares with others, and how often it reads each name."""

    name: str
    own: frozenset[str]
    shared: frozenset[str]
    reads: Counter[str]


def scope_of(node: ast.AST, codes: dict[tuple[str, int], list[types.CodeType]], rebound: frozenset[str]) -> Scope | None:
    """The scope of a function of the file; None where loops stay in it. `rebound` are the names that any `nonlocal` of the file gives."""
    if not isinstance(node, ast.FunctionDef):
        return None
    found = codes.get((node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])), [])
    reads = _reads(node)
    if len(found) != 1 or any(reads[name] for name in OF_FRAMES):
        return None
    code = found[0]
    shared = frozenset((*code.co_cellvars, *code.co_freevars))
    return None if shared & rebound else Scope(node.name, frozenset(code.co_varnames) - shared, shared, reads)


def codes_by_place(code: types.CodeType) -> dict[tuple[str, int], list[types.CodeType]]:
    """All code of a file, by name and first line."""
    found: dict[tuple[str, int], list[types.CodeType]] = {}
    pending = [code]
    while pending:
        for inner in pending.pop().co_consts:
            if isinstance(inner, types.CodeType):
                found.setdefault((inner.co_name, inner.co_firstlineno), []).append(inner)
                pending.append(inner)
    return found


def rebound_names(tree: ast.AST) -> frozenset[str]:
    """The names that some function assigns in one around it."""
    return frozenset(name for node in ast.walk(tree) if isinstance(node, ast.Nonlocal) for name in node.names)


# What can be moved


@dataclass
class Shape:
    """A loop that can be moved: see `Loop`. `returned` is what the function returns after it."""

    names: tuple[str, ...]
    assigned: tuple[str, ...]
    tested: frozenset[str]
    outside: frozenset[str]
    breaks: bool
    endless: bool
    returned: ast.expr | None


def shape_of(node: ast.While, scope: Scope) -> Shape | None:
    """What a loop reads and binds; None where it has to stay where it is."""
    if node.orelse or any(map(stays, ast.walk(node))):
        return None
    own = [n for statement in node.body for n in _own(statement)]
    if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in own):
        return None
    breaks = any(isinstance(n, ast.Break) for n in _jumps(node.body))
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    returns = [n for n in own if isinstance(n, ast.Return)]
    if returns and not (endless and not breaks and _all_jump(returns, node.body)):
        return None
    returned = returns[0].value or ast.Constant(None) if returns else None
    after = _reads(returned) if returned is not None else Counter()
    assigned = {n.id for n in own if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if not assigned <= scope.own:
        return None
    named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    reads = _reads(node)
    return Shape(
        tuple(sorted(named & (scope.own | scope.shared))),
        tuple(sorted(assigned)),
        frozenset(n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)),
        frozenset(name for name in assigned if scope.reads[name] > reads[name] or after[name]),
        breaks or returned is not None,
        endless,
        returned,
    )


def _all_jump(returns: list[ast.Return], body: list[ast.stmt]) -> bool:
    """True where all returns give the same, and each leaves this very loop: then they are a `break`, and one return after the loop."""
    alike = len({ast.dump(n.value) if n.value is not None else "" for n in returns}) == 1
    return alike and sum(isinstance(n, ast.Return) for n in _jumps(body)) == len(returns)


_STAYING: tuple[type[ast.AST], ...] = (
    ast.Try, getattr(ast, "TryStar", ast.Try), ast.Global, ast.Nonlocal, ast.Delete, ast.NamedExpr, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.ClassDef, ast.Import, ast.ImportFrom, ast.Match, ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip


def stays(node: ast.AST) -> bool:
    """True for what keeps a loop where it is: what catches, or hangs on the code around it."""
    if isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items]
        return not all(isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute) and c.func.attr == "errstate" for c in calls)
    name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None)
    if isinstance(name, str) and name.startswith("__") and (not name.endswith("__") or name == "__class__"):
        return True
    return isinstance(node, _STAYING) or (isinstance(node, ast.Name) and node.id in OF_FRAMES)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that run in the function itself, not in lambdas and comprehensions in it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            yield from _own(child)


def _jumps(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The `break`s, `continue`s and returns in a loop with this body, without those in loops in it."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
            yield statement
        elif isinstance(statement, (ast.For, ast.While)):
            yield from _jumps(statement.orelse)
        else:
            for _, part in ast.iter_fields(statement):
                if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                    yield from _jumps(part)


def _reads(node: ast.AST) -> Counter[str]:
    """How often each name is read (or deleted) in the code of a node."""
    found: Counter[str] = Counter()
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store):
            found[n.id] += 1
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found[n.target.id] += 1
    return found


# Moving it


def taken_out(
    node: ast.While,
    tests: tuple[ast.expr, ast.expr],
    body: list[ast.stmt],
    returned: ast.expr | None,
    shape: Shape,
    scope: Scope,
    path: str,
) -> list[ast.stmt]:
    """The statements in place of a loop. It gets a number.

    Its tests (for the value, for the truth), body and result are given as they are to be compiled."""
    start = [_unless_set(name, node) for name in shape.names]
    end = ast.Return(ast.Tuple([ast.Constant(True), _locals()], ast.Load()))
    codes = []
    truth = ast.IfExp(tests[1], ast.Constant(True), ast.Constant(False))
    functions: tuple[list[ast.stmt], ...] = (
        [ast.Return(tests[0])], [ast.Return(truth)], [*(_Returning().visit(s) for s in body), end],
    )  # fmt: skip
    for made_of in functions:
        arguments = ast.arguments([], [ast.arg(name) for name in shape.names], None, [], [], None, [])
        made = ast.FunctionDef(scope.name, arguments, [*start, *made_of], [])
        if "type_params" in made._fields:
            made.type_params = []  # type: ignore[attr-defined, unused-ignore]
        codes.append(_compiled(ast.copy_location(made, node), path))
    given = (shape.names, shape.assigned, shape.tested, shape.outside, shape.breaks, shape.endless)
    LOOPS.append(Loop((path, node.lineno), *given, *codes))
    call = ast.Call(ast.Name(WHILE, ast.Load()), [ast.Constant(len(LOOPS) - 1), _locals()], [])
    made_call: ast.stmt = ast.Expr(call)
    if shape.assigned:
        made_call = ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in shape.assigned], ast.Store())], call)
    never = ast.If(ast.Constant(0), [node], [])  # so that the function has the same variables, and shares the same ones
    statements: list[ast.stmt] = [made_call, *(_unless_set(name, node) for name in shape.assigned), never]
    if returned is not None:
        statements.append(ast.Return(returned))
    for statement in statements:
        for n in ast.walk(statement):
            if "lineno" in n._attributes and not hasattr(n, "lineno"):
                ast.copy_location(n, node)
                n.end_lineno, n.end_col_offset = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return statements


def _compiled(function: ast.FunctionDef, path: str) -> types.CodeType:
    tree = ast.fix_missing_locations(ast.Module([function], []))
    code = compile(tree, path, "exec", dont_inherit=True)
    return next(c for c in code.co_consts if isinstance(c, types.CodeType))


def _locals() -> ast.expr:
    return ast.Call(ast.Name(LOCALS, ast.Load()), [], [])


def _unless_set(name: str, place: ast.stmt) -> ast.stmt:
    """`if name is UNSET: del name`"""
    test = ast.Compare(ast.Name(name, ast.Load()), [ast.Is()], [ast.Name(UNSET_NAME, ast.Load())])
    return ast.copy_location(ast.If(test, [ast.Delete([ast.Name(name, ast.Del())])], []), place)


class _Returning(ast.NodeTransformer):
    """The jumps of a loop as returns of its body's function."""

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return self._return(node, False)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        return self._return(node, False)

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return self._return(node, True)

    def _return(self, node: ast.stmt, goes_on: bool) -> ast.AST:
        return ast.copy_location(ast.Return(ast.Tuple([ast.Constant(goes_on), _locals()], ast.Load())), node)

    def _inner(self, node: ast.For | ast.While) -> ast.AST:
        node.orelse = [self.visit(s) for s in node.orelse]
        return node

    visit_For = visit_While = _inner  # type: ignore[assignment]
