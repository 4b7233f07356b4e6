"""Functions of the user's: what their parameters are, and walking them with the values they are called with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..findings.alarms import HINT, alarms
from ..findings.walker import Walker
from ..flow.unwritten import unwritten
from ..reading.compiled import is_compiled
from ..reading.names import FunctionNode
from ..reading.neighbours import module_candidates
from .counting import counted, no_arrays
from .values import NONE, NUMBER, UNKNOWN, UNSURE, Value, array, holds_array, join, join_all, of_annotation, of_spec
from .values import sequence as sequence_of

_DEPTH = 12  # of helpers that call helpers
_WALKS = 16  # of one function, each with other values


class Functions(Walker):
    """Parameters and calls of functions in this module."""

    def parameters(
        self, function: FunctionNode | ast.Lambda, declared: dict[str, Any], in_class: bool = False, guessing: bool = False
    ) -> dict[str, Value]:
        """A node's parameters: arrays, unless a spec, an annotation or a default says otherwise; by a guess where nobody said that the
        function is a node."""
        args = function.args
        positional = [*args.posonlyargs, *args.args]
        defaults = dict(zip([a.arg for a in positional[len(positional) - len(args.defaults) :]], args.defaults, strict=True))
        defaults.update({a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None})
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in getattr(function, "decorator_list", []))
        found: dict[str, Value] = {}
        others = no_arrays(function, self.table.is_method)
        counts = counted(function, self.names)
        for n, arg in enumerate([*positional, *args.kwonlyargs]):
            if n == 0 and in_class and not static and arg.arg in ("self", "cls"):
                found[arg.arg] = Value("object", memory=frozenset({"state self"}))
                continue
            value = of_spec(declared[arg.arg]) if arg.arg in declared else of_annotation(arg.annotation, self.names)
            if value is None:
                bare = arg.arg in counts and arg.arg not in defaults
                value = replace(NUMBER, dtype="int") if bare else self.of_default(defaults.get(arg.arg))
                if value.is_array and value.assumed and others.get(arg.arg) == "sequence":
                    value = Value("sequence", True, element=Value("unknown", True))
            if value.assumed and guessing:
                value = replace(value, guess=arg.arg)
            memory = frozenset({f"argument {arg.arg}"})
            element = None if value.element is None else replace(value.element, memory=memory)
            items = value.items and tuple(replace(v, memory=frozenset({f"argument {arg.arg}[{i}]"})) for i, v in enumerate(value.items))
            found[arg.arg] = replace(value, memory=memory, element=element, items=items)
        if args.vararg:
            found[args.vararg.arg] = Value(
                "sequence", True, element=replace(array(True, memory=[f"argument {args.vararg.arg}"]), assumed=True)
            )
        if args.kwarg:
            found[args.kwarg.arg] = Value(
                "mapping", True, element=replace(array(True, memory=[f"argument {args.kwarg.arg}"]), assumed=True, constant=UNSURE)
            )
        return found

    def of_default(self, default: ast.expr | None) -> Value:
        if default is None:
            return replace(array(True), assumed=True)
        if isinstance(default, ast.Constant) and default.value is None:
            return Value("unknown", True)
        value = self.quietly(default)
        return replace(value, constant=None, items=None, element=UNKNOWN if value.kind == "sequence" else None)

    def arguments(self, e: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        """The values of a call's arguments; `*args` stands as one sequence, `**kwargs` as ""."""
        return [self.visit(a) for a in e.args], {k.arg or "": self.visit(k.value) for k in e.keywords}

    def helper(self, e: ast.Call, function: FunctionNode) -> Value:
        args, keywords = self.arguments(e)
        return self.walked(e, self, function, args, keywords)

    def neighbour(self, e: ast.Call, name: str, args: Sequence[Value], keywords: dict[str, Value], depth: int = 0) -> Value | None:
        """A function of another module of the project, walked where it stands; None where it is not found."""
        for file, inside in module_candidates(name, self.path, self.root):
            if file not in self.opened:
                self.opened[file] = self.opener(file, self)
            module = self.opened[file]
            if not isinstance(module, Functions):
                continue
            function = module.functions.get(inside)
            if function is not None:
                return self.walked(e, module, function, args, keywords)
            again = module.names.in_module(inside)
            if again is not None and depth < _DEPTH:  # `from .impl import scale` in a package's __init__
                path = self.path
                self.path = file
                try:
                    return self.neighbour(e, again, args, keywords, depth + 1)
                finally:
                    self.path = path
        return None

    def walked(self, e: ast.Call, module: Functions, function: FunctionNode, args: Sequence[Value], keywords: dict[str, Value]) -> Value:
        """A helper's result, with memory of this call's own. `module` is the walker of the module it stands in."""
        decorators = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
        compiled = [d for d in decorators if is_compiled(module.names.qualified(d) or "")]
        if compiled and any(v.traced for v in (*args, *keywords.values())):
            self.say("opaque-call", e, f"`{function.name}` is compiled (`@{ast.unparse(compiled[0])}`) and cannot be traced")
            return UNKNOWN
        known = frozenset().union(*(v.reach for v in (*args, *keywords.values())))
        muted, stack = module.muted, module.stack
        module.muted, module.stack = self.muted, self.stack
        try:
            found = module.inline(function, args, keywords)
        finally:
            module.muted, module.stack = muted, stack
        return _own(found, known, f"{self.path}:{e.lineno}:{e.col_offset}")

    def inline(
        self,
        function: FunctionNode | ast.Lambda,
        args: Sequence[Value],
        keywords: dict[str, Value],
        bound: bool = False,
        known: bool = True,
    ) -> Value:
        """Walk a function of this module with the values it is called with; its findings stand in its own lines."""
        key = (function, self.muted, self.guards, tuple(args), tuple(sorted(keywords.items(), key=lambda k: k[0])))
        if key in self.done:
            return self.done[key]
        walks = self.walks.setdefault(function, [])
        if function in self.stack or len(self.stack) > _DEPTH:
            return Value("unknown", any(v.traced for v in (*args, *keywords.values())))
        if len(walks) >= _WALKS:
            return walks[-1]
        for place, message in alarms(None, [function], self.names.qualified) if not walks else ():
            self.say("side-effect", place, message, HINT, severity_="error")
        parameters = self.parameters(function, {}, bound)
        if known:
            parameters.update(self.defaults(function.args))
            parameters.update(_given(function.args, args, keywords, parameters))
        nested = isinstance(function, ast.Lambda) or self.names.is_local_function(function)
        outer, returns, globals_, forks, rebound = self.env, self.returns, self.globals, self.forks, self.rebound
        self.forks, self.rebound = [], set()
        self.env, self.returns, self.globals = {**(outer if nested else {}), **parameters}, [], set()
        self.outer_names.append(frozenset(outer if nested else ()))
        self.stack.append(function)
        if isinstance(function, ast.Lambda):
            self.returns.append(self.visit(function.body))
        else:
            self.uninitialised(function.body)
            self.block(function.body)
        self.stack.pop()
        self.outer_names.pop()
        outer = {**outer, **{k: join(outer[k], self.env[k]) for k in self.rebound if k in outer and k in self.env}}
        found = join_all(self.returns) if self.returns else NONE
        self.env, self.returns, self.globals, self.forks, self.rebound = outer, returns, globals_, forks, rebound
        self.done[key] = found
        walks.append(found)
        return found

    def defaults(self, args: ast.arguments) -> dict[str, Value]:
        """What parameters are where a call does not give them."""
        positional = [a.arg for a in (*args.posonlyargs, *args.args)]
        pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
        pairs += [(a.arg, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        return {name: self.quietly(default) for name, default in pairs}

    def uninitialised(self, body: list[ast.stmt]) -> None:
        """Findings for memory that is read and was never written."""
        for call in unwritten(body, self.names):
            self.say("uninitialised-memory", call)


def _given(parameters: ast.arguments, args: Sequence[Value], keywords: dict[str, Value], old: dict[str, Value]) -> dict[str, Value]:
    """Parameter to the value a call gives it. What a default fills stays as it is read from the default."""
    positional = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    found = dict(zip(positional, args, strict=False))
    found.update({k: v for k, v in keywords.items() if k in old})
    if parameters.vararg:
        found[parameters.vararg.arg] = sequence_of(args[len(positional) :])
    every = (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
    numbers = {a.arg for a in every if a.annotation is not None and old[a.arg].kind in ("number", "text")}
    return {k: v for k, v in found.items() if k not in old or not _says_more(old[k], v, k in numbers)}


def _says_more(declared: Value, given: Value, number: bool) -> bool:
    """Whether what a parameter is declared to be says more than what is known of an argument."""
    counts = declared.kind == "sequence" and declared.element is not None and declared.element.kind == "number"
    if given.guess and declared.kind == "number":  # the helper counts with what is an array only by a guess
        return True
    if given.kind == "unknown" or given.constant is UNSURE or (counts and not holds_array(given)):
        return declared.kind != "unknown" and not declared.assumed
    return number and given.is_array and (given.rank != 0 or declared.kind == "text")


def _own(value: Value, known: frozenset[str], place: str) -> Value:
    """A helper's result with memory of this call's own, where it is neither the arguments' nor older than the call."""
    if value.items is not None:
        value = replace(value, items=tuple(_own(v, known, f"{place}:{n}") for n, v in enumerate(value.items)))
    if value.element is not None:
        value = replace(value, element=_own(value.element, known, place))
    memory = {m if m in known or m.startswith(("argument ", "state ")) else place for m in value.memory}
    return replace(value, memory=frozenset(memory))
