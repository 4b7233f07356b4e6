"""Loops taken out of a function: the test and the body of a `while` become functions of their own, which the trace can run as it likes.

`while TEST: BODY` becomes `a, b = __np2fx_while__(number, locals)`, where `a` and `b` are what BODY binds. The two functions take what
TEST and BODY name among the function's variables; so there is no closure, and the function keeps its variables. `break` and `continue`
are returns of the body's function. Loops with anything that cannot be moved (`return`, `try`, `del`, ...) stay where they are.
"""

from __future__ import annotations

import ast
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

HIDDEN = "__np2fx_own_"
"""How the variables begin that are np2fx's own."""
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

    def __str__(self) -> str:
        return f"the loop in line {self.place[1]} is no torch.while_loop"


LOOPS: list[Loop] = []
"""All loops that were taken out, by number."""


@dataclass
class Scope:
    """A function around loops: its name, its own variables, those that it shares with others, and how often it reads each name.

    guarded  whether it catches errors
    late     what is read where an exception is caught that leaves the code here: the names that it has bound by then have to be there"""

    name: str
    own: frozenset[str]
    shared: frozenset[str]
    reads: Counter[str]
    guarded: bool
    late: frozenset[str] = frozenset()

    def within(self, node: ast.AST) -> Scope:
        """The scope of what stands in a `try` or a `with`."""
        handlers = node.handlers if isinstance(node, _CATCHING[:2]) else None  # type: ignore[attr-defined]
        after = [*(handlers or ()), *getattr(node, "finalbody", ())]
        ends = handlers is not None and all(isinstance(h.body[-1], (ast.Return, ast.Raise)) for h in handlers)
        ends = ends and not any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for s in node.finalbody for n in ast.walk(s))  # type: ignore[attr-defined]
        found = {name for part in after for name in reads_of(part)} if ends else set(self.reads)
        return replace(self, late=self.late | found)

    def outlives(self, body: Sequence[ast.stmt], inside: Counter[str]) -> bool:
        """Whether a name that statements bind, which read these names themselves, is read after an exception in them."""
        return any(self.reads[name] > inside[name] for name in bound_early(body) & self.late)


def scope_of(node: ast.AST, codes: dict[tuple[str, int], list[types.CodeType]], rebound: frozenset[str]) -> Scope | None:
    """The scope of a function of the file; None where loops stay in it. `rebound` are the names that any `nonlocal` of the file gives."""
    if not isinstance(node, ast.FunctionDef):
        return None
    found = codes.get((node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])), [])
    reads = reads_of(node)
    if len(found) != 1 or any(reads[name] for name in OF_FRAMES):
        return None
    code = found[0]
    shared = frozenset((*code.co_cellvars, *code.co_freevars))
    guarded = any(isinstance(n, _CATCHING) for n in ast.walk(node))
    return None if shared & rebound else Scope(node.name, frozenset(code.co_varnames) - shared, shared, reads, guarded)


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
    if node.orelse or any(map(stays, ast.walk(node))) or scope.outlives([node], reads_of(node)):
        return None
    own = [n for statement in node.body for n in own_nodes(statement)]
    if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in own):
        return None
    breaks = any(isinstance(n, ast.Break) for n in jumps(node.body))
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    returns = [n for n in own if isinstance(n, ast.Return)]
    if returns and not (endless and not breaks and _all_jump(returns, node.body)):
        return None
    returned = returns[0].value or ast.Constant(None) if returns else None
    after = reads_of(returned) if returned is not None else Counter()
    assigned = {name for statement in node.body for name in names_stored(statement)}
    if not assigned <= scope.own:
        return None
    named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | assigned
    reads = reads_of(node)
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
    return alike and sum(isinstance(n, ast.Return) for n in jumps(body)) == len(returns)


_CATCHING: tuple[type[ast.AST], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try), ast.With)
_STAYING: tuple[type[ast.AST], ...] = (
    *_CATCHING[:2], ast.Global, ast.Nonlocal, ast.Delete, ast.NamedExpr, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.ClassDef, ast.Import, ast.ImportFrom, ast.AsyncFor, ast.AsyncWith,
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


def bound_early(body: Sequence[ast.stmt]) -> set[str]:
    """The names that statements bind, after which something else in them may still raise."""
    found: set[str] = set()
    bound: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Pass) or (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)):
            bound |= names_stored(statement)
            continue
        found |= bound
        if isinstance(statement, ast.If):
            found |= bound_early(statement.body) | bound_early(statement.orelse)
        elif not _binds_last(statement):
            found |= names_stored(statement)
        bound |= names_stored(statement)
    return found


def _binds_last(statement: ast.stmt) -> bool:
    """Whether a statement binds names, and does nothing after that."""
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name)
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement]
    parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else (t,))]
    return all(isinstance(p, ast.Name) for p in parts) and not (len(targets) > 1 and len(parts) > len(targets))


def names_stored(node: ast.AST) -> set[str]:
    """The variables that a statement binds in the function itself."""
    found = {n.id for n in own_nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found | {name for n in own_nodes(node) if (name := getattr(n, "rest", None) if isinstance(n, ast.MatchMapping) else
                    getattr(n, "name", None) if isinstance(n, (ast.MatchAs, ast.MatchStar)) else None)}  # fmt: skip


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that run in the function itself, not in lambdas and comprehensions in it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            yield from own_nodes(child)


def jumps(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The `break`s, `continue`s and returns in a loop with this body, without those in loops in it."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
            yield statement
        elif isinstance(statement, (ast.For, ast.While)):
            yield from jumps(statement.orelse)
        else:
            for _, part in ast.iter_fields(statement):
                if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                    yield from jumps(part)


def reads_of(node: ast.AST) -> Counter[str]:
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
    end = ast.Return(ast.Tuple([ast.Constant(True), locals_call()], ast.Load()))
    truth = ast.IfExp(tests[1], ast.Constant(True), ast.Constant(False))
    bodies: list[list[ast.stmt]] = [[ast.Return(tests[0])], [ast.Return(truth)], [*Returning().all(body), end]]
    codes = [function_of(scope.name, shape.names, made_of, node, path) for made_of in bodies]
    given = (shape.names, shape.assigned, shape.tested, shape.outside, shape.breaks, shape.endless)
    LOOPS.append(Loop((path, node.lineno), *given, *codes))
    call = ast.Call(ast.Name(WHILE, ast.Load()), [ast.Constant(len(LOOPS) - 1), locals_call()], [])
    return set_or_deleted(node, shape.assigned, call, [] if returned is None else [ast.Return(returned)])


def set_or_deleted(node: ast.stmt, assigned: Sequence[str], call: ast.expr, after: Sequence[ast.stmt] = ()) -> list[ast.stmt]:
    """The statements in place of one that was taken out: its variables are what `call` gives."""
    made: ast.stmt = ast.Expr(call)
    if assigned:
        made = ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in assigned], ast.Store())], call)
    never = ast.If(ast.Constant(0), [node], [])  # so that the function has the same variables, and shares the same ones
    statements: list[ast.stmt] = [made, *(unless_set(name, node) for name in assigned), never, *after]
    for statement in statements:
        for n in ast.walk(statement):
            if "lineno" in n._attributes and not hasattr(n, "lineno"):
                ast.copy_location(n, node)
                n.end_lineno, n.end_col_offset = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return statements


def function_of(name: str, names: Sequence[str], body: list[ast.stmt], place: ast.AST, path: str) -> types.CodeType:
    """Code as a function of variables, of which some may have no value."""
    arguments = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    made = ast.FunctionDef(name, arguments, [*(unless_set(n, place) for n in names), *body], [])
    if "type_params" in made._fields:
        made.type_params = []  # type: ignore[attr-defined, unused-ignore]
    return compiled(ast.copy_location(made, place), path)


def compiled(function: ast.FunctionDef, path: str) -> types.CodeType:
    tree = ast.fix_missing_locations(ast.Module([function], []))
    code = compile(tree, path, "exec", dont_inherit=True)
    return next(c for c in code.co_consts if isinstance(c, types.CodeType))


def locals_call() -> ast.expr:
    return ast.Call(ast.Name(LOCALS, ast.Load()), [], [])


def unless_set(name: str, place: ast.AST) -> ast.stmt:
    """`if name is UNSET: del name`"""
    test = ast.Compare(ast.Name(name, ast.Load()), [ast.Is()], [ast.Name(UNSET_NAME, ast.Load())])
    return ast.copy_location(ast.If(test, [ast.Delete([ast.Name(name, ast.Del())])], []), place)


class Returning(ast.NodeTransformer):
    """The jumps of a loop as returns of its body's function. What a return gives is kept in the variable `result`, if there is one."""

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return self._return(node, False)

    def __init__(self, result: str = "") -> None:
        self.result = result

    def visit_Return(self, node: ast.Return) -> Any:
        if not self.result:
            return self._return(node, False)
        kept = ast.Assign([ast.Name(self.result, ast.Store())], node.value or ast.Constant(None))
        return [ast.copy_location(kept, node), self._return(node, False)]

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return self._return(node, True)

    def all(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """These statements."""
        return self.generic_visit(ast.Module(body, [])).body  # type: ignore[attr-defined, no-any-return]

    def _return(self, node: ast.stmt, goes_on: bool) -> ast.AST:
        return ast.copy_location(ast.Return(ast.Tuple([ast.Constant(goes_on), locals_call()], ast.Load())), node)

    def _inner(self, node: ast.For | ast.While) -> ast.AST:
        node.orelse = self.all(node.orelse)
        return node

    visit_For = visit_While = _inner  # type: ignore[assignment]
