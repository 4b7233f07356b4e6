"""Helpers: what the functions of a rewriting are called with, and what they give, found out together.

A helper is walked with the facts of each call: what that gives is what the call gives. What all its calls have in common is what its text
may rest on. What callers outside the rewriting pass is not seen here: the boundary of a helper that is torch checks what was taken for
granted (arrays, their dtypes and ranks, numbers).
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...codemod.plain import FLOATS
from ..flow.reading import yields
from ..reading.walking import walk
from .inference import Inference, reshapes
from .known import NONE, UNKNOWN, Fact, join, joined, number
from .promotion import ASSUMED
from .results import call_fact

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Called:
    """A helper as its callers see it.

    function  the helper
    checked   its boundary checks what is known of its parameters: it is rewritten in place
    method    calls give it one argument less, and a class derived from its own may have another in its place
    anyhow    it is also handed on as a value: nothing is known of those calls
    links     the calls of it, by the expression that names it"""

    function: Function
    checked: bool = True
    method: bool = False
    anyhow: bool = False
    links: list[ast.expr] = field(default_factory=list)


class Summaries:
    """The facts of the parameters and results of the functions that nodes and helpers are.

    resolve   what the names of each function mean outside of it
    known     what is declared or assumed of each function's parameters
    helpers   the functions whose parameters are to be found from their calls"""

    def __init__(
        self,
        resolve: dict[Function, Callable[[ast.Name], Fact]],
        table: Any,
        known: dict[Function, dict[str, Fact]],
        helpers: list[Called],
    ) -> None:
        self.resolve, self.table, self.known, self.helpers = resolve, table, known, helpers
        self.own = {f: dict(facts) for f, facts in known.items()}
        self.by_link = {link: h for h in helpers for link in h.links}
        self.by_function = {h.function: h for h in helpers}
        self.floating: dict[Function, list[str]] = {}
        self.numbers: dict[Function, list[str]] = {}
        self.arrays: dict[Function, list[str]] = {}
        self._sites: dict[Function, list[dict[str, Fact]]] = {}
        self._reached: set[ast.expr] = set()
        self._given: dict[Any, Fact] = {}
        self.walked: dict[Function, Inference] = {}
        for function in known:
            if function not in self.by_function:
                self._result(function, self.own[function])
        for helper in helpers:  # callers come before those they call
            if helper.anyhow or any(link not in self._reached for link in helper.links):
                self._sites.setdefault(helper.function, []).append({})
                self._result(helper.function, {})
            self._take(helper, self._sites.get(helper.function, []))
        for helper in helpers:
            self.walked[helper.function] = inference = Inference(self.resolve[helper.function], self.call)
            inference.function(helper.function, self.known[helper.function])

    def parameters(self, function: Function) -> dict[str, Fact]:
        """What is known of a function's parameters after all rounds."""
        return self.known[function]

    def inference(self, function: Function) -> Inference:
        """The walk of a function with all that was found."""
        return self.walked[function]

    def call(self, callee: Fact, call: ast.Call, inference: Inference) -> Fact:
        """The fact of a call's result, the project's own functions included."""
        helper = self.by_link.get(call.func)
        if helper is None and callee.kind == "function":
            helper = self.by_function.get(callee.value)
        if helper is not None:
            self._reached.add(call.func)
            given = _bound(helper.function, call, inference, helper.method)
            if any(map(reshapes, walk(helper.function))):
                given = {n: Fact(f.kind) if f.is_tensor else f for n, f in given.items()}
            self._sites.setdefault(helper.function, []).append(given)
            found = self._result(helper.function, {n: _column([f]) or UNKNOWN for n, f in given.items()})
            return UNKNOWN if helper.method else found
        if callee.kind == "function" and callee.value in self.known:
            given = _bound(callee.value, call, inference)
            floats = [n for n, f in self.known[callee.value].items() if f.is_tensor and f.dtype == ASSUMED]
            dtypes = {given.get(n, UNKNOWN).dtype for n in floats}
            only = dtypes.pop() if len(dtypes) == 1 and dtypes <= set(FLOATS) else None  # the dtype that all its floats have
            fits = all(_is_like(f, given.get(n, UNKNOWN)) for n, f in self.known[callee.value].items())
            return _with_float(self._result(callee.value, self.own[callee.value]), only) if fits else UNKNOWN
        return call_fact(callee, call, inference, self.table)

    def _result(self, function: Function, given: dict[str, Fact]) -> Fact:
        """What a function gives for these arguments: one walk for all calls that are alike."""
        known = self.own[function] | given if function in self.by_function else given
        key = (function, tuple(sorted(known.items(), key=lambda item: item[0])))
        if key not in self._given:
            self._given[key] = UNKNOWN  # while it is walked, as of one that calls itself
            inference = Inference(self.resolve[function], self.call)
            inference.function(function, known)
            self._given[key] = _returned(function, inference.returns)
            if function not in self.by_function:
                self.walked[function] = inference
        return self._given[key]

    def _take(self, helper: Called, calls: list[dict[str, Fact]]) -> None:
        """What is certain of the parameters in every call."""
        function = helper.function
        parameters = dict(self.own[function])
        numbers: list[str] = []
        arrays: list[str] = []
        columns = {n: [c.get(n, UNKNOWN) for c in calls] for n in _names(function)}
        for name, facts in columns.items():
            fact = _column(facts)
            if not facts or fact is None:
                continue
            if fact.kind == "number" and helper.checked and fact.dtype not in ("int", "real", "float"):
                continue
            if fact.kind == "sequence" and helper.checked:
                continue
            if fact.kind == "number" and helper.checked and fact.dtype == "float":
                fact = number("real")  # which is what the boundary can check: 1 is as good as 1.0 to a caller
            parameters[name] = fact
            if fact.kind == "number":
                numbers.append(name)
            elif fact.is_tensor and fact.dtype is None:
                arrays.append(name)
        together = [n for n in arrays if all(f.dtype in FLOATS for f in columns[n])]
        floats = [n for n, f in parameters.items() if f.is_tensor and f.dtype == ASSUMED and n in columns]
        if all(len({c[n].dtype for n in [*together, *floats]}) == 1 for c in calls if together):
            for n in together:  # one float dtype in every call, though not the same in all
                parameters[n] = Fact(parameters[n].kind, ASSUMED, parameters[n].rank)
            floats, arrays = [*together, *floats], [n for n in arrays if n not in together]
        self.known[function] = parameters
        self.floating[function], self.numbers[function], self.arrays[function] = floats, numbers, arrays


def _column(facts: list[Fact]) -> Fact | None:
    """What a parameter is in every call: an array, a number, a sequence of them; None for what is not certain, or of another kind."""
    if all(f.is_tensor for f in facts):
        kind = "array" if all(f.kind == "array" for f in facts) else "tensor"
        dtypes, ranks = {f.dtype for f in facts}, {f.rank for f in facts}
        rank = next(iter(ranks)) if len(ranks) == 1 and kind == "array" else None
        return Fact(kind, next(iter(dtypes)) if len(dtypes) == 1 else None, rank)
    if all(f.kind == "number" for f in facts):
        dtypes = {f.dtype for f in facts}
        if len(dtypes) == 1:
            return number(dtypes.pop())
        return number("real" if dtypes <= {"int", "real", "float"} else None)
    if all(f.kind == "sequence" for f in facts):
        return _plain_items(joined(facts))
    return None


def _is_like(wanted: Fact, given: Fact) -> bool:
    """Whether an argument is what a function that was walked by itself takes its parameter for."""
    if wanted.is_tensor:
        return given.kind == wanted.kind and (wanted.dtype == ASSUMED or given.dtype == wanted.dtype) and (
            wanted.rank is None or given.rank == wanted.rank
        )
    return wanted.kind != "number" or given.kind == "number"


def _plain_items(fact: Fact) -> Fact | None:
    if fact.kind != "sequence":
        return None
    items = None if fact.items is None else tuple(_column([i]) or UNKNOWN for i in fact.items)
    return Fact("sequence", items=items, element=None if fact.element is None else _column([fact.element]) or UNKNOWN)


def _with_float(fact: Fact, dtype: str | None) -> Fact:
    """A result whose float dtype is known to the caller, or is not."""
    if fact.kind == "sequence":
        items = None if fact.items is None else tuple(_with_float(i, dtype) for i in fact.items)
        return dataclasses.replace(fact, items=items, element=None if fact.element is None else _with_float(fact.element, dtype))
    return dataclasses.replace(fact, dtype=dtype) if fact.is_tensor and fact.dtype == ASSUMED else fact


def _returned(function: Function, returns: list[Fact]) -> Fact:
    """What a call gives. Its memory may be an argument's."""
    if yields(function):
        return UNKNOWN
    if not returns or not _always_returns(function.body):
        returns = [*returns, NONE]
    found = returns[0]
    for r in returns[1:]:
        found = join(found, r)
    return _outside(found, kept=bool(function.decorator_list))


def _outside(fact: Fact, kept: bool) -> Fact:
    """A result as the caller knows it. A decorator may keep it (`kept`), and an element of an array is a view in torch."""
    if fact.kind == "sequence" and fact.items is not None:
        return dataclasses.replace(fact, items=tuple(_outside(i, True) for i in fact.items))
    if fact.kind in ("name", "function"):
        return UNKNOWN
    return dataclasses.replace(fact, fresh=fact.fresh and fact.kind == "array" and not kept, value=None)


def _always_returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.With) and _always_returns(last.body)


def _names(function: Function) -> list[str]:
    return [a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]


def _bound(function: Function, call: ast.Call, inference: Inference, method: bool = False) -> dict[str, Fact]:
    """The facts of a call's arguments by parameter; defaults where they are literal; nothing where `*` hides them."""
    args = function.args
    positional = [a.arg for a in [*args.posonlyargs, *args.args]]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return {}
    found = {p: inference.facts.get(a, UNKNOWN) for p, a in zip(positional[int(method) :], call.args, strict=False)}
    found |= {k.arg: inference.facts.get(k.value, UNKNOWN) for k in call.keywords if k.arg is not None}
    defaults = dict(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=False))
    defaults |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=False) if d is not None}
    for name, default in defaults.items():
        if name not in found and isinstance(default, (ast.Constant, ast.UnaryOp)):
            value = default.operand if isinstance(default, ast.UnaryOp) else default
            if isinstance(value, ast.Constant) and type(value.value) in (int, float):
                found[name] = number(type(value.value).__name__)
    return found
