"""The source pass: a function is compiled again from its source, with the calls in it open to the trace.

What a dispatch hook does not see, because Python asks a value for itself there: `float(x)`, `math.sqrt(x)`, `not x`, `x in (1, 2)`,
`x is True`. Each becomes a call of a function of np2fx: `f(x)` is `called(f)(x)`, where `called` looks at the very object that `f` is.
So names need no resolving here: an alias is found, a shadowed name left alone.

The code is exchanged only where the source is certainly its own: compiled as it stands, it must give the same code. Lines and names are
the user's.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import types
from collections import Counter
from typing import Any

from ...deep import deep
from ..arrays.builtin import called as twin_of
from ..arrays.builtin import contained, identical, negated
from ..arrays.text import Silent, formatted, is_said, of_text, percented
from ..control.calling import opened
from ..control.choosing import run_choice
from ..control.ending import FOR, after_loop, counted, is_countable
from ..control.hoisting import (
    HIDDEN,
    LOCALS,
    OF_FRAMES,
    UNSET,
    UNSET_NAME,
    WHILE,
    Scope,
    codes_by_place,
    rebound_names,
    scope_of,
    shape_of,
    stays,
    taken_out,
)
from ..control.loops import run_while
from ..control.parting import CHOICE, expression_for, is_movable, parted, statements_for
from ..control.pieces import PIECE, is_piece, pieced, run_piece
from ..control.plainer import headed, yielding
from ..control.rounds import run_for

CALLED, NEGATED, CONTAINED, IDENTICAL = "__np2fx_called__", "__np2fx_not__", "__np2fx_in__", "__np2fx_is__"
FORMATTED, PERCENTED = "__np2fx_text__", "__np2fx_percent__"
def called(function: Any) -> Any:
    """What is called in place of `function`."""
    return Silent(function) if is_said(function) else of_text(opened(twin_of(function)))


NAMES: dict[str, Any] = {
    CALLED: called, NEGATED: negated, CONTAINED: contained, IDENTICAL: identical, WHILE: run_while,
    CHOICE: run_choice, FOR: run_for, PIECE: run_piece,
    FORMATTED: formatted, PERCENTED: percented, LOCALS: locals, UNSET_NAME: UNSET,
}  # fmt: skip
"""What sourced code finds among its globals."""


def sourced(code: types.CodeType) -> types.CodeType:
    """The code with its calls open to the trace; the same code where its source cannot be had."""
    if code.co_filename.startswith("<np2fx "):
        return code
    path = code.co_filename
    linecache.checkcache(path)
    lines = linecache.getlines(path)
    if path not in _files or _files[path][0] is not lines:
        _files[path] = lines, _codes("".join(lines), path)
    return _files[path][1].get(code, code)


_files: dict[str, tuple[list[str], dict[types.CodeType, types.CodeType]]] = {}
"""For each file the lines it had, as `linecache` holds them, and what became of its functions."""


def _codes(text: str, path: str) -> dict[types.CodeType, types.CodeType]:
    """The code of each function of a file -> the same from the changed source."""
    try:
        return _opened(text, path)
    except (SyntaxError, ValueError, RecursionError):
        return {}


@deep
def _opened(text: str, path: str) -> dict[types.CodeType, types.CodeType]:
    tree = ast.parse(text, path)
    plain = compile(tree, path, "exec", dont_inherit=True)
    loops = _Open(path, plain, tree) if any(isinstance(n, _PARTING) for n in ast.walk(tree)) else None
    trees = [_Open().visit(copy.deepcopy(tree) if loops is not None else tree), *([loops.visit(tree)] if loops is not None else [])]
    changed = [compile(ast.fix_missing_locations(t), path, "exec", dont_inherit=True) for t in trees]
    found: dict[types.CodeType, types.CodeType] = {}
    for code in changed:  # a function that does not correspond without its loops keeps them
        _pair(plain, code, found)
    return found


def _pair(plain: types.CodeType, changed: types.CodeType, found: dict[types.CodeType, types.CodeType]) -> None:
    """Add the functions in two compilations of a file, one beside the other; those that do not correspond are left out."""
    inner = [[c for c in code.co_consts if isinstance(c, types.CodeType)] for code in (plain, changed)]
    if len(inner[0]) != len(inner[1]):  # some are in loops that were taken out
        counts = [Counter(map(_place, codes)) for codes in inner]
        there = {_place(c): c for c in inner[1]}
        inner[0] = [c for c in inner[0] if counts[0][_place(c)] == counts[1][_place(c)] == 1]
        inner[1] = [there[_place(c)] for c in inner[0]]
    for a, b in zip(*inner, strict=True):
        if _alike(a, b):
            found[a] = b
            _pair(a, b, found)


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _alike(plain: types.CodeType, changed: types.CodeType) -> bool:
    """Of one name and place, with the same parameters, and no variables but the function's own."""
    given = plain.co_argcount + plain.co_kwonlyargcount + sum(bool(plain.co_flags & flag) for flag in _STARS)
    return (
        all(getattr(plain, n) == getattr(changed, n) for n in _KEPT)
        and plain.co_varnames[:given] == changed.co_varnames[:given]
        and {n for n in changed.co_varnames if not n.startswith(HIDDEN)} <= set(plain.co_varnames)
    )


_KEPT = ("co_name", "co_firstlineno", "co_argcount", "co_kwonlyargcount", "co_freevars", "co_cellvars", "co_flags")
_PARTING = (ast.While, ast.For, ast.If, ast.IfExp, ast.Match)
_STARS = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)


_CHOICES = 40
"""Choices in each other's ways that are taken out of an expression: each is a call in the call of the one around it."""


class _Open(ast.NodeTransformer):
    """Puts np2fx's functions in the places where Python would ask a value for itself; takes loops out where it is given the file's code."""

    def __init__(self, path: str = "", plain: types.CodeType | None = None, tree: ast.AST | None = None) -> None:
        self.path = path
        self.codes = {} if plain is None else codes_by_place(plain)
        self.rebound = frozenset() if tree is None else rebound_names(tree)
        self.scope: Scope | None = None
        self.others: list[str] = []
        self.choices = 0

    def _function(self, node: Any) -> ast.AST:
        around, self.scope = (self.scope, self.others), scope_of(node, self.codes, self.rebound)
        self.others = []
        self.generic_visit(node)
        self.scope, self.others = around
        return node  # type: ignore[no-any-return]

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _function

    def _guarded(self, node: Any) -> ast.AST:
        """What an exception may leave without leaving the function is moved if nothing that it has bound by then is read after."""
        around = self.scope
        if stays(node) and self.scope is not None:
            self.scope = self.scope.within(node)
        self.generic_visit(node)
        self.scope = around
        return node  # type: ignore[no-any-return]

    visit_Try = visit_TryStar = visit_With = _guarded

    def visit_While(self, node: ast.While) -> Any:
        plainer = None if self.scope is None else headed(node, self.scope)
        if plainer is not None:
            return self._visited_body(plainer)
        shape = None if self.scope is None else shape_of(node, self.scope)
        if shape is None or self.scope is None:
            return self._visit_test(node)
        apart = copy.deepcopy(node)
        returned = None if shape.returned is None else self.visit(copy.deepcopy(shape.returned))
        tests = self.visit(apart.test), self._test(copy.deepcopy(node.test))
        return taken_out(node, tests, self._visited_body(apart.body), returned, shape, self.scope, self.path)

    def _visited_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        return found

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, (ast.Name, ast.Attribute)) and not (isinstance(node.func, ast.Name) and node.func.id in OF_FRAMES):
            node.func = _call(node.func, CALLED, node.func)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _call(node, NEGATED, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        (operator,), (right,) = node.ops, node.comparators
        if isinstance(operator, (ast.In, ast.NotIn)):
            found = _call(node, CONTAINED, node.left, right)
            return found if isinstance(operator, ast.In) else _call(node, NEGATED, found)
        if isinstance(operator, (ast.Is, ast.IsNot)) and not (isinstance(right, ast.Constant) and right.value in (None, ...)):
            same = _call(node, IDENTICAL, node.left, right)
            return same if isinstance(operator, ast.Is) else _call(node, NEGATED, same)
        return node

    def _visit_test(self, node: Any) -> ast.AST:
        node.test = self._test(node.test)
        for name, value in ast.iter_fields(node):
            if name != "test":
                setattr(node, name, self._visited(value))
        return node  # type: ignore[no-any-return]

    visit_Assert = _visit_test

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """`f"norm {n}"`: the text and the values one by one."""
        parts: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                spec = ast.Constant("") if part.format_spec is None else self.visit(part.format_spec)
                part = ast.Tuple([self.visit(part.value), ast.Constant(part.conversion), spec], ast.Load())
            parts.append(part)
        return _placed_at(node, _call(node, FORMATTED, *parts))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        return _call(node, PERCENTED, node.left, node.right) if is_text and isinstance(node.op, ast.Mod) else node

    def visit_Match(self, node: Any) -> Any:
        if self.scope is None or not is_piece(node, self.scope):
            return self.generic_visit(node)
        return pieced(node, self.generic_visit(copy.deepcopy(node)), self.scope, self.path)  # type: ignore[arg-type]

    def visit_If(self, node: ast.If) -> Any:
        plainer = None if self.scope is None else headed(node, self.scope) or yielding(node)
        if plainer is not None:
            return self._visited_body(plainer)
        if self.scope is None or not is_movable(node, self.scope):
            return self._visit_test(node)
        sides = [self._visited_body(copy.deepcopy(body)) for body in (node.body, node.orelse)]
        number, assigned = parted(node, self._tests(node), (sides[0], sides[1]), self.scope, self.others, self.path)
        return statements_for(node, number, assigned)

    def visit_For(self, node: ast.For) -> Any:
        if self.scope is None or not is_countable(node, self.scope):
            return self.generic_visit(node)
        last = after_loop(copy.deepcopy(node))
        after = [] if last is None else self._visited_body([last])
        body = self._visited_body(copy.deepcopy(node.body))
        return counted(node, self.visit(copy.deepcopy(node.iter)), body, after, self.scope, self.path)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if self.scope is None or self.choices >= _CHOICES or not is_movable(node, self.scope):
            return self._visit_test(node)
        self.choices += 1
        sides: list[list[ast.stmt]] = [[ast.copy_location(ast.Return(self.visit(copy.deepcopy(x))), x)] for x in (node.body, node.orelse)]
        self.choices -= 1
        number, _ = parted(node, self._tests(node), (sides[0], sides[1]), self.scope, self.others, self.path)
        return expression_for(node, number)

    def _tests(self, node: ast.If | ast.IfExp) -> tuple[ast.expr, ast.expr]:
        """The test for its value, and for its truth alone."""
        return self.visit(copy.deepcopy(node.test)), self._test(copy.deepcopy(node.test))

    def _comprehension(self, node: Any) -> ast.AST:
        around = self.others
        self.others = [*around, *(n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name))]
        self.generic_visit(node)
        self.others = around
        return node  # type: ignore[no-any-return]

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.target, node.iter, node.ifs = self.visit(node.target), self.visit(node.iter), [self._test(x) for x in node.ifs]
        return node

    def _test(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth is asked: a `not` in it stays Python's."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._test(v) for v in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._test(node.operand)
            return node
        return self.visit(node)  # type: ignore[no-any-return]

    def _visited(self, value: Any) -> Any:
        if isinstance(value, list):
            return self._visited_body(value)
        return self.visit(value) if isinstance(value, ast.AST) else value


def _call(place: ast.expr, name: str, *args: ast.expr) -> ast.expr:
    function = ast.copy_location(ast.Name(name, ast.Load()), place)
    return ast.copy_location(ast.Call(function, list(args), []), place)


def _placed_at(place: ast.expr, made: ast.expr) -> ast.expr:
    """An expression, of which all that has no place yet is at this one."""
    for n in ast.walk(made):
        if "lineno" in n._attributes and not hasattr(n, "lineno"):
            ast.copy_location(n, place)
    return made
