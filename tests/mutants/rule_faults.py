"""Faults in a rule: its body with one constant, comparison, operator or torch call changed."""

from __future__ import annotations

import ast
import copy
import inspect
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Mod: ast.Add,
    ast.FloorDiv: ast.Add,
}
_CALLS = {
    "lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq", "add": "sub", "sub": "add", "mul": "add", "div": "mul",
    "maximum": "minimum", "minimum": "maximum", "amax": "amin", "amin": "amax", "argmax": "argmin", "argmin": "argmax",
    "logical_and": "logical_or", "logical_or": "logical_and", "any": "all", "all": "any", "sum": "mean", "mean": "sum",
    "round": "floor", "floor": "ceil", "ceil": "floor", "cumsum": "cumprod", "tril": "triu", "triu": "tril", "sin": "cos", "cos": "sin",
    "tan": "tanh", "exp": "expm1", "sqrt": "abs", "std": "var", "var": "std", "cat": "stack", "fmax": "fmin", "fmin": "fmax",
    "isnan": "isinf", "isinf": "isnan", "abs": "neg", "log": "log2", "log2": "log10", "asin": "acos", "acos": "asin", "sinh": "cosh",
    "cosh": "sinh", "atan": "tanh", "trunc": "floor", "remainder": "fmod", "fmod": "remainder", "flip": "roll", "sign": "abs",
    "bitwise_and": "bitwise_or", "bitwise_or": "bitwise_xor", "bitwise_xor": "bitwise_and", "logical_not": "clone",
    "logical_xor": "logical_or", "atan2": "hypot", "hypot": "atan2",
}  # fmt: skip
_SWAPPED = (
    "sub",
    "div",
    "pow",
    "matmul",
    "lt",
    "le",
    "gt",
    "ge",
    "atan2",
    "remainder",
    "fmod",
    "copysign",
    "outer",
    "floor_divide",
    "nextafter",
    "heaviside",
)


def function_of(rule: Any) -> types.FunctionType | None:
    """The plain function that is a rule's body."""
    body = getattr(rule.call, "body", rule.body)
    body = inspect.unwrap(body)
    return body if isinstance(body, types.FunctionType) and not body.__code__.co_freevars else None


def mutants(function: types.FunctionType) -> Iterator[tuple[str, types.CodeType]]:
    """Code objects for the function with one fault each, and what the fault is."""
    lines, start = inspect.getsourcelines(function)
    tree = ast.parse(inspect.cleandoc("\n".join(["", *(line.rstrip("\n") for line in lines)])))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return
    definition.decorator_list = []
    body = definition.body
    for statement in range(len(body)):
        for at, n in enumerate(ast.walk(body[statement])):
            for name, change in _changes(n):
                made = copy.deepcopy(definition)
                target = list(ast.walk(made.body[statement]))[at]
                change(target)
                ast.fix_missing_locations(made)
                ast.increment_lineno(made, start - 1)
                module = compile(ast.Module([made], []), function.__code__.co_filename, "exec")
                code = next((c for c in module.co_consts if isinstance(c, types.CodeType) and c.co_name == function.__name__), None)
                if code is not None and not code.co_freevars:
                    yield f"{function.__module__}.{function.__name__}: {name} at line {start - 1 + getattr(n, 'lineno', 0)}", code


def _changes(n: ast.AST) -> Iterator[tuple[str, Any]]:
    if isinstance(n, ast.Compare) and type(n.ops[0]) in _COMPARISONS:
        yield "wrong comparison", lambda t: setattr(t, "ops", [_COMPARISONS[type(t.ops[0])](), *t.ops[1:]])
    elif isinstance(n, ast.BinOp) and type(n.op) in _OPERATORS:
        yield "wrong operator", lambda t: setattr(t, "op", _OPERATORS[type(t.op)]())
    elif isinstance(n, ast.Call):
        yield from _call_changes(n)
    elif isinstance(n, ast.Slice):
        yield "slice off by one", lambda t: setattr(t, "lower", ast.BinOp(t.lower or ast.Constant(0), ast.Add(), ast.Constant(1)))
    elif isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub):
        yield "wrong sign", lambda t: setattr(t, "op", ast.UAdd())
    elif isinstance(n, ast.IfExp):
        yield "wrong branch", lambda t: (lambda a, b: (setattr(t, "body", b), setattr(t, "orelse", a)))(t.body, t.orelse)


def _call_changes(n: ast.Call) -> Iterator[tuple[str, Any]]:
    function = n.func
    called = function.attr if isinstance(function, ast.Attribute) and ast.unparse(function).startswith("torch.") else ""
    if called in _CALLS:
        yield "another function", lambda t: setattr(t.func, "attr", _CALLS[t.func.attr])
    if called in _SWAPPED and len(n.args) == 2:
        yield "swapped operands", lambda t: setattr(t, "args", t.args[::-1])
    if called == "where" and len(n.args) == 3:
        yield "where's branches swapped", lambda t: setattr(t, "args", [t.args[0], t.args[2], t.args[1]])
        yield "dropped where", lambda t: setattr(t, "args", [t.args[0], t.args[1], t.args[1]])
    if isinstance(function, ast.Name) and function.id in ("cast", "as_inexact") and n.args:
        yield (
            "dropped cast",
            lambda t: (setattr(t, "func", ast.Name("as_tensor", ast.Load())), setattr(t, "args", t.args[:1]), setattr(t, "keywords", [])),
        )
    for i, k in enumerate(n.keywords):
        if k.arg in ("dim", "keepdim", "correction", "descending", "unbiased", "rounding_mode", "dtype", "right", "stable"):
            yield f"lost {k.arg}", lambda t, i=i: t.keywords.pop(i)
    for i, a in enumerate(n.args):
        if called and isinstance(a, ast.Constant) and type(a.value) in (int, float):
            yield "wrong number", lambda t, i=i: setattr(t.args[i], "value", t.args[i].value + 1)


@contextmanager
def planted(function: types.FunctionType, code: types.CodeType) -> Iterator[None]:
    """The rule with a fault in it, for a while."""
    original = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = original
