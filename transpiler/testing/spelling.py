"""Evaluates an example, written in NumPy's spelling, twice: on arrays with NumPy, on tensors with the rules.

`np` stands for NumPy; other libraries, which a project's own rules are for, stand under their own names (`cv2.resize(x, (4, 3))`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

import numpy as np
import torch

from ..arrays.bare import namespace as torch_np
from ..rules import load_once, lookup
from ..semantics.table import original

_OPERATORS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide", ast.Mod: "remainder",
    ast.Pow: "power", ast.MatMult: "matmul", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift", ast.RShift: "right_shift", ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert",
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip


class _Methods(ast.NodeTransformer):
    """`x.sum()` becomes `_attribute(x, "sum")()`, `x[0]` `_item(x, 0)`, `x + y` `_operate("add", x, y)`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and (root.id == "np" or root.id in libraries()):
            return node
        return _call("_attribute", self.visit(node.value), ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return _call("_item", self.visit(node.value), self.visit(_slices(node.slice)))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return _call("_operate", ast.Constant(_OPERATORS[type(node.op)]), self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return self.generic_visit(node)
        return _call("_operate", ast.Constant(_OPERATORS[type(node.op)]), self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        kind = _OPERATORS.get(type(node.ops[0]))
        if kind is None or len(node.ops) > 1:
            return self.generic_visit(node)
        return _call("_operate", ast.Constant(kind), self.visit(node.left), self.visit(node.comparators[0]))


def _call(name: str, *args: Any) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _slices(key: ast.expr) -> ast.expr:
    """`1:2` as `slice(1, 2)`: it now stands in a call."""
    if isinstance(key, ast.Slice):
        return _call("slice", *(part or ast.Constant(None) for part in (key.lower, key.upper, key.step)))
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_slices(part) for part in key.elts], ast.Load())
    return key


def _attribute(x: Any, name: str) -> Any:
    if not isinstance(x, torch.Tensor):
        return getattr(x, name)
    rule = lookup(f"numpy.ndarray.{name}").call
    return functools.partial(rule, x) if callable(getattr(np.ndarray, name)) else rule(x)


def _item(x: Any, key: Any) -> Any:
    return lookup("numpy.ndarray.__getitem__").call(x, key) if isinstance(x, torch.Tensor) else x[key]


def _operate(name: str, *operands: Any) -> Any:
    if any(isinstance(o, torch.Tensor) for o in operands):
        return lookup(f"numpy.{name}").call(*operands)
    return getattr(np, name)(*operands)


class _Library:
    """A library as its rules see it: the functions that have one are rules, all else is its own."""

    def __init__(self, path: str) -> None:
        self.__path = path

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__path}.{name}"
        rules = load_once()
        if path in rules:
            return rules[path].call
        if any(known.startswith(path + ".") for known in rules):
            return _Library(path)
        found = original(path)
        if found is None:
            raise AttributeError(f"there is no {path}")
        return found


def libraries() -> set[str]:
    """The top-level names of the libraries other than NumPy that have rules."""
    return {name.partition(".")[0] for name in load_once()} - {"numpy"}


@functools.cache
def _compiled(example: str, others: frozenset[str]) -> tuple[CodeType, CodeType]:
    changed = ast.fix_missing_locations(_Methods().visit(ast.parse(example, mode="eval")))
    return compile(example, example, "eval"), compile(changed, example, "eval")


def run_numpy(example: str, arrays: Mapping[str, Any]) -> Any:
    """The example's value as the original functions compute it."""
    others = {name: original(name) for name in libraries()}
    return eval(_compiled(example, frozenset(others))[0], {"np": np, **others, **arrays})


def run_rules(example: str, tensors: Mapping[str, Any]) -> Any:
    """The example's value as the rules compute it."""
    helpers: dict[str, Callable[..., Any]] = {"_attribute": _attribute, "_item": _item, "_operate": _operate}
    others = {name: _Library(name) for name in libraries()}
    return eval(_compiled(example, frozenset(others))[1], {"np": torch_np, **others, **helpers, **tensors})
