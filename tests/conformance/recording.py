"""A pytest plugin that writes down the calls which NumPy's own test modules make: `-p tests.conformance.recording --np2fx-calls FILE`.

The test modules are compiled with each call, operator, index and array attribute passed through a function of this module, which decides by
what is called, not by its name. So nothing of NumPy is replaced, and the tests run as they do. Of calls whose arguments are of
the same kinds the first few are kept.
"""

from __future__ import annotations

import ast
import collections
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import operator
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .calls import Node, function_text, is_callable_of_interest, kind_of, node_text

_HOME = Path(np.__file__).parent
EACH = 2
"""How many calls of the same kinds of arguments are kept."""
LARGEST_RESULT = 20_000
SITE = 150
"""How often the recorder looks at what one place in a test module does: loops over all values of a dtype are long."""
_ASSERTIONS = ("assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings", "raises", "warns", "deprecated_call")
_LOOKS_AROUND = ("super", "locals", "globals", "vars", "dir", "eval", "exec")
_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
           ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"}  # fmt: skip
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
_PYTHON: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_IN_PLACE = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
             "%": operator.imod,
             "**": operator.ipow, "@": operator.imatmul, "&": operator.iand, "|": operator.ior, "^": operator.ixor, "<<": operator.ilshift,
             ">>": operator.irshift}  # fmt: skip
_PYTHON_UNARY: dict[str, Callable[..., Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}


class Recorder:
    """The calls seen so far, and the functions that test modules are compiled to pass them through."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], str] = {}
        self._seen: collections.Counter[Any] = collections.Counter()
        self._visits: collections.Counter[int] = collections.Counter()
        self._inside = False
        forms = ("call", "binary", "unary", "in_place", "getitem", "setitem", "attribute")
        self.hooks = {f"__np2fx_{form}__": getattr(self, form) for form in forms}
        """What a module that is passed through the recorder calls, under the names by which it does."""

    def _is_worn(self, site: int) -> bool:
        self._visits[site] += 1
        return self._inside or self._visits[site] > SITE

    def call(self, site: int, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """`function(*args, **kwargs)`, also where `function` is an assertion that is handed what it is to call."""
        called, given = function, args
        if not is_callable_of_interest(function):
            at = next((i for i, a in enumerate(args[:3]) if is_callable_of_interest(a)), None)
            if at is None or getattr(function, "__name__", "") not in _ASSERTIONS:
                return function(*args, **kwargs)
            called, given = args[at], args[at + 1 :]

        if self._is_worn(site):
            return function(*args, **kwargs)

        def text(node: Node) -> tuple[str, str]:
            shown, name = function_text(called, node)
            parts = [*map(node.text, given), *(f"{key}={node.text(value)}" for key, value in kwargs.items())]
            return f"return {shown}({', '.join(parts)})", name

        about = getattr(called, "__self__", None)
        kinds = kind_of(about) if isinstance(about, (np.ndarray, np.generic)) else None
        return self._kept(
            (id(called) if kinds is None else called.__name__, kinds), (given, kwargs), text, lambda: function(*args, **kwargs)
        )

    def binary(self, site: int, sign: str, a: Any, b: Any) -> Any:
        return self._operated(site, sign, (a, b), lambda x, y: f"return {x} {sign} {y}", lambda: _PYTHON[sign](a, b))

    def unary(self, site: int, sign: str, a: Any) -> Any:
        return self._operated(site, "unary" + sign, (a,), lambda x: f"return {sign}{x}", lambda: _PYTHON_UNARY[sign](a))

    def in_place(self, site: int, sign: str, a: Any, b: Any) -> Any:
        return self._operated(
            site, sign + "=", (a, b), lambda x, y: f"y = {x}\n    y {sign}= {y}\n    return y", lambda: _IN_PLACE[sign](a, b)
        )

    def getitem(self, site: int, a: Any, key: Any) -> Any:
        return self._operated(site, "[]", (a, key), lambda x, k: f"return {x}[{k}]", lambda: a[key], array=0)

    def setitem(self, site: int, value: Any, a: Any, key: Any) -> None:
        def run() -> None:
            a[key] = value

        self._operated(site, "[]=", (a, key, value), lambda x, k, v: f"{x}[{k}] = {v}", run, array=0)

    def attribute(self, site: int, a: Any, name: str) -> Any:
        return self._operated(site, f".{name}", (a,), lambda x: f"return {x}.{name}", lambda: getattr(a, name))

    def _operated(
        self, site: int, name: str, values: tuple[Any, ...], form: Callable[..., str], run: Callable[[], Any], array: int | None = None
    ) -> Any:
        looked_at = values if array is None else values[array : array + 1]
        if not any(isinstance(v, (np.ndarray, np.generic)) for v in looked_at) or self._is_worn(site):
            return run()
        return self._kept(name, values, lambda node: (form(*map(node.text, values)), name), run)

    def _kept(self, name: Any, values: Any, text: Callable[[Node], tuple[str, str]], run: Callable[[], Any]) -> Any:
        """What `run` gives; the call is kept where it is fit and not the like of others."""
        self._inside = True
        written = None
        try:
            key = (name, kind_of(values[0]), kind_of(values[1])) if isinstance(name, tuple) else (name, kind_of(values))
            if self._seen[key] < EACH:
                node = Node()
                statement, area = text(node)
                inputs = "(" + "".join(f"{each}, " for each in node.inputs.values()) + ")"
                written = (node_text(statement, node.inputs), inputs), area
        except Exception:  # UnfitError, and whatever odd objects raise when they are looked at
            written = None
        finally:
            self._inside = False
        result: Any = None
        try:
            result = run()
        except (MemoryError, RecursionError):
            written = None
            raise
        finally:
            if written is not None and written[0] not in self.calls and not _is_large(result):
                self._seen[key] += 1
                self.calls[written[0]] = written[1]
        return result


def _is_large(result: Any) -> bool:
    parts = result if isinstance(result, (tuple, list)) else [result]
    return any(isinstance(part, np.ndarray) and part.size > LARGEST_RESULT for part in parts)


RECORDER = Recorder()


class _Passed(ast.NodeTransformer):
    """A test module with its calls, operators, indices and array attributes passed through the recorder. Each place has a number."""

    _sites = itertools.count()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in _LOOKS_AROUND:
            return node
        self.generic_visit(node)
        return self._hook("call", node, node.func, *node.args, keywords=node.keywords)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._hook("binary", node, ast.Constant(_BINARY[type(node.op)]), node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1 or type(node.ops[0]) not in _COMPARE:
            return node
        return self._hook("binary", node, ast.Constant(_COMPARE[type(node.ops[0])]), node.left, node.comparators[0])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) not in _UNARY or isinstance(node.operand, ast.Constant):
            return node
        return self._hook("unary", node, ast.Constant(_UNARY[type(node.op)]), node.operand)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr not in _ATTRIBUTES:
            return node
        return self._hook("attribute", node, node.value, ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _is_starred(node.slice):
            return node
        return self._hook("getitem", node, node.value, _key(node.slice))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript) or _is_starred(target.slice):
            return node
        return ast.copy_location(ast.Expr(self._hook("setitem", node, node.value, target.value, _key(target.slice))), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        made = self._hook("in_place", node, ast.Constant(_BINARY[type(node.op)]), read, node.value)
        return ast.copy_location(ast.Assign([node.target], made), node)

    def _hook(self, name: str, at: ast.AST, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.expr:
        site = ast.Constant(next(self._sites))
        return ast.copy_location(ast.Call(ast.Name(f"__np2fx_{name}__", ast.Load()), [site, *args], keywords or []), at)  # type: ignore[return-value]


_ATTRIBUTES = ("T", "mT", "real", "imag", "flat", "shape", "size", "ndim", "nbytes", "itemsize")


def _is_starred(key: ast.expr) -> bool:
    return isinstance(key, ast.Starred) or (isinstance(key, ast.Tuple) and any(isinstance(e, ast.Starred) for e in key.elts))


def _key(key: ast.expr) -> ast.expr:
    """An index as an expression that stands on its own."""
    if isinstance(key, ast.Slice):
        return ast.Call(ast.Name("slice", ast.Load()), [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)], [])
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_key(element) for element in key.elts], ast.Load())
    return key


def passed_through(tree: ast.Module) -> ast.Module:
    """A module whose calls go through the recorder; it needs the recorder's `hooks` among its names."""
    return ast.fix_missing_locations(_Passed().visit(tree))  # type: ignore[no-any-return]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Compiles NumPy's test modules so that they pass through the recorder."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if not name.rpartition(".")[2].startswith("test_"):
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if found is None or found.origin is None or _HOME not in Path(found.origin).parents:
            return None
        return importlib.util.spec_from_file_location(name, found.origin, loader=self)

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        vars(module).update(RECORDER.hooks)
        with open(module.__spec__.origin, encoding="utf-8") as file:  # type: ignore[union-attr,arg-type]
            tree = passed_through(ast.parse(file.read()))
        exec(compile(tree, str(module.__file__), "exec"), vars(module))


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--np2fx-calls", help="the file that the calls of NumPy's test modules are written to")


def pytest_configure(config: Any) -> None:
    sys.meta_path.insert(0, _Finder())


def pytest_sessionfinish(session: Any) -> None:
    with open(session.config.getoption("--np2fx-calls"), "w", encoding="utf-8") as file:
        json.dump([{"area": area, "code": code, "inputs": inputs} for (code, inputs), area in RECORDER.calls.items()], file)
