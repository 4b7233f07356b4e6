"""Helpers: what a module's functions are called with, and what they give, found out together.

Each round walks every function with what the rounds before found; nothing is known at the start, so each round is right
as long as the one before was. What callers outside the module pass is not seen here: the boundary of the rewritten
helper checks what was taken for granted (arrays, float arrays, numbers).
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from .facts import NONE, UNKNOWN, Fact, join, number
from .inference import Inference
from .plain import FLOATS
from .promotion import ASSUMED
from .results import call_fact

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ROUNDS = 5


class Summaries:
    """The facts of the parameters and results of the functions that a module's nodes and helpers are.

    known     what is declared or assumed of each function's parameters
    helpers   the functions whose parameters are to be found from their calls"""

    def __init__(
        self, resolve: Callable[[ast.Name], Fact], table: Any, known: dict[Function, dict[str, Fact]], helpers: set[Function]
    ) -> None:
        self.resolve, self.table, self.known, self.helpers = resolve, table, known, helpers
        self.returns: dict[Function, Fact] = {}
        self.floating: dict[Function, list[str]] = {}
        self.numbers: dict[Function, list[str]] = {}
        self.arrays: dict[Function, list[str]] = {}
        self._calls: dict[Function, list[dict[str, Fact]]] = {}
        self.walked: dict[Function, Inference] = {}
        for _ in range(_ROUNDS):
            before = (dict(self.returns), {f: dict(p) for f, p in self.known.items()})
            self._round()
            self.settled = before == (self.returns, self.known)
            if self.settled:
                break

    def parameters(self, function: Function) -> dict[str, Fact]:
        """What is known of a function's parameters after all rounds."""
        return self.known[function]

    def inference(self, function: Function) -> Inference | None:
        """The walk of a function with all that was found; None where it has to be walked once more."""
        return self.walked.get(function) if self.settled else None

    def call(self, callee: Fact, call: ast.Call, inference: Inference) -> Fact:
        """The fact of a call's result, the module's own functions included."""
        if callee.kind == "function" and callee.value in self.known:
            self._calls.setdefault(callee.value, []).append(_bound(callee.value, call, inference))
            return self.returns.get(callee.value, UNKNOWN)
        return call_fact(callee, call, inference, self.table)

    def _round(self) -> None:
        self._calls = {}
        found: dict[Function, Fact] = {}
        for function, parameters in self.known.items():
            inference = Inference(self.resolve, self.call)
            inference.function(function, parameters)
            self.walked[function] = inference
            found[function] = _returned(function, inference.returns)
        self.returns = found
        for helper in self.helpers:
            self._take(helper, self._calls.get(helper, []))

    def _take(self, helper: Function, calls: list[dict[str, Fact]]) -> None:
        """Parameters that are float arrays, or numbers, in every call of the module are taken for that."""
        floating: list[str] = []
        numbers: list[str] = []
        arrays: list[str] = []
        parameters = dict(self.known[helper])
        for name in _names(helper):
            facts = [c.get(name, UNKNOWN) for c in calls]
            if name in parameters and not any(name in taken.get(helper, ()) for taken in (self.floating, self.numbers, self.arrays)):
                continue
            if facts and all(f.is_tensor and f.dtype in FLOATS for f in facts):
                parameters[name] = Fact("array" if all(f.kind == "array" for f in facts) else "tensor", ASSUMED)
                floating.append(name)
            elif facts and all(f.is_tensor for f in facts):
                parameters[name] = Fact("array" if all(f.kind == "array" for f in facts) else "tensor")
                arrays.append(name)
            elif facts and all(f.kind == "number" and f.dtype in ("int", "float") for f in facts):
                parameters[name] = number("int" if all(f.dtype == "int" for f in facts) else "float")
                numbers.append(name)
            else:
                parameters.pop(name, None)
        self.known[helper], self.floating[helper], self.numbers[helper], self.arrays[helper] = parameters, floating, numbers, arrays


def _returned(function: Function, returns: list[Fact]) -> Fact:
    """What a call gives. Its memory may be an argument's, and a dtype that was assumed inside is not the caller's."""
    if not returns or not _always_returns(function.body):
        returns = [*returns, NONE]
    found = returns[0]
    for r in returns[1:]:
        found = join(found, r)
    return _outside(found)


def _outside(fact: Fact) -> Fact:
    if fact.kind == "sequence" and fact.items is not None:
        return dataclasses.replace(fact, items=tuple(map(_outside, fact.items)))
    if fact.is_tensor and fact.dtype == ASSUMED:
        return Fact(fact.kind, None, fact.rank)
    return dataclasses.replace(fact, fresh=False, value=None) if fact.kind not in ("name", "function") else UNKNOWN


def _always_returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.With) and _always_returns(last.body)


def _names(function: Function) -> list[str]:
    return [a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]


def _bound(function: Function, call: ast.Call, inference: Inference) -> dict[str, Fact]:
    """The facts of a call's arguments by parameter; defaults where they are literal; nothing where `*` hides them."""
    args = function.args
    positional = [a.arg for a in [*args.posonlyargs, *args.args]]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return {}
    found = {p: inference.facts.get(a, UNKNOWN) for p, a in zip(positional, call.args, strict=False)}
    found |= {k.arg: inference.facts.get(k.value, UNKNOWN) for k in call.keywords if k.arg is not None}
    defaults = dict(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=False))
    defaults |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=False) if d is not None}
    for name, default in defaults.items():
        if name not in found and isinstance(default, (ast.Constant, ast.UnaryOp)):
            value = default.operand if isinstance(default, ast.UnaryOp) else default
            if isinstance(value, ast.Constant) and type(value.value) in (int, float):
                found[name] = number(type(value.value).__name__)
    return found
