"""The forward pass of check: walks a node in the order it runs, with abstract values, and says findings where it stands.

Statements are here, expressions in `expressions.py`, calls in `calls.py`. Branches are joined, loop bodies walked until their values
settle; a helper is walked with the values it is called with.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..facts.narrowing import narrowed
from ..facts.values import MAYBE, NONE, OBJECT, UNKNOWN, Value, array, join, operated
from ..flow.reading import awaits, leaves, yields
from ..flow.ways import Fork, chosen, ends_openly, torn
from ..reading.names import FunctionNode
from ..reading.nodes import Node
from ..reading.walking import walk
from .catching import of_try, of_with
from .expressions import OPERATORS, Expressions

_LAZY = tuple(f"builtins.{name}" for name in ("map", "filter", "zip", "iter", "enumerate", "reversed"))
_ROUNDS = 4  # of a loop's body: the lattice of values is that low


class Interpreter(Expressions):
    """Walks the nodes of one module; `findings` holds what was said, one for each kind and place."""

    # Nodes and functions.

    def node(self, node: Node, methods: dict[str, FunctionNode]) -> None:
        """Walk a node with the values its parameters are declared to have."""
        self.methods = methods
        self.env, self.globals, self.returns, self.forks = {}, set(), [], []
        if node.function is not None and node.how != "region":
            self.env = self.parameters(node.function, {**node.recorded, **node.declared}, node.in_class, node.how == "all")
        for name in node.inputs or ():
            self.env[name] = array(True, memory=[f"argument {name}"])
        self.stack = [node.function] if node.function is not None else []
        self.uninitialised(node.body)
        if node.function is not None and node.how != "region":
            self.steps(node.function)
        self.block(node.body)
        if node.how != "region":
            self.settled(node.body)
        self.uncalled()

    def steps(self, function: FunctionNode) -> None:
        """A graph gives everything at once, when it is called."""
        if awaits(function):
            message, hint = f"`{function.name}` is a coroutine, or has one in it", "await outside of it, and pass the arrays in"
            self.say("not-rewritten", _head(function), message, hint)
        elif yields(function):
            message = f"`{function.name}` is a generator, and a graph gives all that it gives at once"
            self.say("not-rewritten", _head(function), message, "return a list")

    def settled(self, body: list[ast.stmt]) -> None:
        """Findings for branches on values that decide what sort of thing a node returns."""
        returns = [*self.returns, *([NONE] if ends_openly(body) else [])]
        said = [(fork.test, why) for fork in self.forks if (why := fork.why(returns))]
        for test, why in [*said, *((t.test, t.why) for v in returns if (t := torn(v)) is not None)]:
            self.say("data-dependent-branch", test, f"this branch on array values decides what is returned: {why}",
                     "return the same shape and dtype on every way, or branch outside the node")  # fmt: skip

    def uncalled(self) -> None:
        """Functions defined inside and not called by name (handed on, say): walked with what is known of their parameters."""
        for value in list(self.env.values()):
            inner = value.constant
            if (
                value.kind == "function"
                and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
                and not any(k[0] is inner for k in self.done)
            ):
                self.inline(inner, [], {}, known=False)

    # Statements.

    def on_Assign(self, s: ast.Assign) -> None:
        value = self.visit(s.value)
        for target in s.targets:
            self.bind(target, value)

    def on_AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.bind(s.target, self.visit(s.value))

    def on_AugAssign(self, s: ast.AugAssign) -> None:
        amount = self.visit(s.value)
        if isinstance(s.target, ast.Name):
            old = self.visit(ast.copy_location(ast.Name(s.target.id, ast.Load()), s.target))
            new = operated(OPERATORS.get(type(s.op), ""), old, amount)
            if (old.is_array and old.rank != 0) or "state" in " ".join(old.memory):
                self.write(s.target, old, amount, sure=not (old.assumed or any(m.startswith(MAYBE) for m in old.memory)))
                new = replace(old, traced=old.traced or amount.traced)
            if s.target.id in self.globals:
                self.effect(s.target, s.target.id)
            self.env[s.target.id] = new
        else:
            self.bind(s.target, amount)

    def on_Return(self, s: ast.Return) -> None:
        value = self.visit(s.value) if s.value is not None else NONE
        self.returns.append(value)
        if s.value is not None and len(self.stack) == 1 and (value.kind == "function" or self.is_lazy(s.value)):
            message = "this returns what computes later, and a graph returns arrays"
            self.say("not-rewritten", s.value, message, "return the arrays themselves")

    def is_lazy(self, e: ast.expr) -> bool:
        """Whether an expression gives an iterator."""
        name = self.names.qualified(e.func) if isinstance(e, ast.Call) else None
        return isinstance(e, ast.GeneratorExp) or name in _LAZY

    def on_If(self, s: ast.If) -> None:
        follows = self.truth(s.test, self.visit(s.test))
        first = len(self.returns)
        held, on, off = dict(self.env), *(narrowed(s.test, holds, self.env, self.names) for holds in (True, False))
        before = {**held, **off}
        self.env.update(on)
        self.block(s.body)
        second = len(self.returns)
        then, self.env = self.env, before
        self.block(s.orelse)
        if follows:
            self.forks.append(Fork(s.test, (range(first, second), range(second, len(self.returns)))))
        if not leaves(s.body):
            other = self.env
            kept = {k for k in {*on, *off} if then.get(k) is on.get(k, held[k]) and self.env.get(k) is off.get(k, held[k])}
            self.env = then if leaves(s.orelse) else {**_join(then, self.env), **{k: held[k] for k in kept}}
            if follows and not leaves(s.orelse):
                self.env |= {k: chosen(s.test, then[k], other[k]) for k in {*then, *other} - kept if k in then and k in other}

    def on_While(self, s: ast.While) -> None:
        self.loop(s.body, lambda: self.truth(s.test, self.visit(s.test)))
        self.block(s.orelse)

    def on_For(self, s: ast.For) -> None:
        element = self.iterated(s.iter, self.visit(s.iter))
        self.loop(s.body, lambda: self.bind(s.target, element))
        self.block(s.orelse)

    on_AsyncFor = on_For

    def loop(self, body: list[ast.stmt], start) -> None:  # type: ignore[no-untyped-def]
        for _ in range(_ROUNDS):
            before = dict(self.env)
            start()
            self.block(body)
            self.env = _join(before, self.env)
            if self.env == before:
                return

    def on_With(self, s: ast.With) -> None:
        for item in s.items:
            value = self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value if value.kind == "executor" else replace(UNKNOWN, traced=value.traced))
        outer, self.guards = self.guards, (*self.guards, *of_with(s, self.names))
        self.block(s.body)
        self.guards = outer

    on_AsyncWith = on_With

    def on_Try(self, s: ast.Try) -> None:
        before = dict(self.env)
        outer, self.guards = self.guards, (*self.guards, *of_try(s, self.names))
        self.block(s.body)
        self.guards = outer
        after = self.env
        for handler in s.handlers:
            self.env = _join(before, after)
            if handler.name:
                self.env[handler.name] = OBJECT
            self.block(handler.body)
            after = after if leaves(handler.body) else _join(after, self.env)
        self.env = after
        self.block([*s.orelse, *s.finalbody])

    on_TryStar = on_Try

    def on_Assert(self, s: ast.Assert) -> None:
        self.truth(s.test, self.visit(s.test))
        self.env.update(narrowed(s.test, True, self.env, self.names))
        if s.msg is not None:
            self.telling, outer = True, self.telling
            self.visit(s.msg)
            self.telling = outer

    def on_Match(self, s: ast.Match) -> None:
        self.truth(s.subject, self.visit(s.subject))
        before = dict(self.env)
        after = dict(before)
        for case in s.cases:
            self.env = {
                **before,
                **{n.name: UNKNOWN for n in walk(case.pattern) if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name},
            }
            self.block(case.body)
            after = _join(after, self.env)
        self.env = after

    def on_Delete(self, s: ast.Delete) -> None:
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.env.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                self.write(target.value, self.visit(target.value), UNKNOWN, key=ast.unparse(target.slice))
            elif isinstance(target, ast.Attribute) and self.outlives(self.visit(target.value)):
                self.effect(target, ast.unparse(target))

    def on_Global(self, s: ast.Global) -> None:
        self.globals |= set(s.names)

    def on_Nonlocal(self, s: ast.Nonlocal) -> None:
        """The variable of a function around this one: of the node's own, which runs with it, or of one that is left before it is called."""
        own = self.outer_names[-1] if self.outer_names else frozenset[str]()
        self.globals |= set(s.names) - own
        self.rebound |= set(s.names) & own

    def on_FunctionDef(self, s: FunctionNode) -> None:
        self.env[s.name] = Value("function", constant=s)

    on_AsyncFunctionDef = on_FunctionDef

    def on_ClassDef(self, s: ast.ClassDef) -> None:
        self.env[s.name] = OBJECT

    def on_Raise(self, s: ast.Raise) -> None:
        """A message may show values: they never reach the graph."""


def _head(function: FunctionNode) -> ast.AST:
    """The place of a function's `def` and name."""
    word = "async def " if isinstance(function, ast.AsyncFunctionDef) else "def "
    end = function.col_offset + len((word + function.name).encode())
    return ast.Name(function.name, lineno=function.lineno, col_offset=function.col_offset, end_lineno=function.lineno, end_col_offset=end)


def _join(a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    return {k: join(a[k], b[k]) if k in a and k in b else a[k] if k in a else b[k] for k in {*a, *b}}
