"""The walker of check: its state, its findings, and what a write, a test and a loop mean to values.

The classes stand on each other: `Walker`, `Functions`, `Outside`, `Calls`, `Expressions`, `Interpreter`. A node of syntax
is handed to the method that bears its name, `visit_X` for expressions and `on_X` for statements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..facts.values import MAYBE, TEXT, UNSURE, Value, element_of, holds_array, join_all, moved
from ..flow.reading import Reads
from ..flow.ways import Fork
from ..reading.names import FunctionNode, Names
from ..reading.table import Table
from ..reading.walking import children
from .catching import Guard
from .finding import Finding, kind_of, make_finding
from .targets import follows_branches, said, severity


class Walker:
    """The state of a walk over the nodes of one module; `findings` holds what was said, one for each kind and place."""

    def __init__(
        self, tree: ast.Module, names: Names, table: Table, lines: Sequence[str], path: str, target: str = "any", root: str = "."
    ) -> None:
        self.tree, self.names, self.table, self.lines, self.path, self.target, self.root = tree, names, table, lines, path, target, root
        self.said: dict[tuple[str, int, int], Finding] = {}
        self.env: dict[str, Value] = {}
        self.returns: list[Value] = []
        self.forks: list[Fork] = []
        self.guards: tuple[Guard, ...] = ()
        self.telling = False
        self.operands: dict[ast.expr, Value] = {}
        self.globals: set[str] = set()
        self.rebound: set[str] = set()
        self.outer_names: list[frozenset[str]] = []
        self.stack: list[ast.AST] = []
        self.done: dict[tuple[object, ...], Value] = {}
        self.walks: dict[ast.AST, list[Value]] = {}
        self.opened: dict[str, Walker | None] = {}
        self.opener: Callable[[str, Walker], Walker | None] = lambda _path, _walker: None
        self.functions = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
        self.methods: dict[str, FunctionNode] = {}
        self.readings: dict[ast.AST, Reads] = {}
        self.muted = True
        self.module_env: dict[str, Value] = {}
        for statement in tree.body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                self.statement(statement)
        self.module_env = {k: replace(v, memory=frozenset({f"state {k}"}), traced=False) for k, v in self.env.items()}
        self.muted = False

    @property
    def findings(self) -> list[Finding]:
        return sorted(self.said.values(), key=lambda f: (f.line, f.column, f.code))

    # Findings.

    def say(
        self, name: str, node: ast.AST, message: str = "", hint: str = "", severity_: str | None = None, always: bool = False
    ) -> None:
        """A finding at a node's exact range; for every target where it is said `always`."""
        if self.muted or not (always or said(name, self.target)):
            return
        key = (name, node.lineno, node.col_offset)  # type: ignore[attr-defined]
        if key in self.said:
            return
        finding = make_finding(name, path=self.path, message=message, hint=hint, severity=severity_, **self.place(node))
        self.said[key] = replace(finding, severity=severity(name, finding.severity, self.target))

    def say_of(self, value: Value, name: str, node: ast.AST, message: str = "", hint: str = "") -> None:
        """A finding about a value. Where it is an array only by a guess, it says so."""
        if not value.guess:
            self.say(name, node, message, hint)
            return
        if value.guess.isidentifier():
            hint = hint or f"say what it is: a spec (`@np2fx.node({value.guess}=...)`) or an annotation"
        self.say(name, node, f"if `{value.guess}` is an array, {message or kind_of(name).message}", hint, "warning")

    def place(self, node: ast.AST) -> dict[str, Any]:
        line, end = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        return {
            "line": line,
            "column": self.column(line, node.col_offset),  # type: ignore[attr-defined]
            "end_line": end,
            "end_column": self.column(end, node.end_col_offset or 0),  # type: ignore[attr-defined]
        }

    def column(self, line: int, offset: int) -> int:
        """`ast` counts UTF-8 bytes from 0; people count characters from 1."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return (offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))) + 1

    # Dispatch.

    def visit(self, e: ast.expr) -> Value:
        method = getattr(self, f"visit_{type(e).__name__}", None)
        if method is not None:
            return method(e)
        values = [self.visit(c) for c in children(e) if isinstance(c, ast.expr)]
        return Value("unknown", any(v.traced for v in values))

    def quietly(self, node: ast.expr) -> Value:
        muted, self.muted = self.muted, True
        try:
            return self.visit(node)
        finally:
            self.muted = muted

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, s: ast.stmt) -> None:
        method = getattr(self, f"on_{type(s).__name__}", None)
        if method is not None:
            method(s)
            return
        for child in children(s):
            if isinstance(child, ast.expr):
                self.visit(child)

    # Targets and writes.

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
            if target.id in self.globals:
                self.effect(target, target.id)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, Value("sequence", value.traced, element=element_of(value)))
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            if isinstance(target.value, ast.Call) and self.names.qualified(target.value.func) == "builtins.globals":
                self.effect(target, "globals()")
            owner = self.visit(target.value)
            if owner.is_array and self.quietly(target.slice).is_data and self.quietly(target.slice).dtype != "bool":
                self.may_raise(target, "IndexError")
            by_text = self.visit(target.slice).kind == "text" or _is_text(target.slice)
            by_text = by_text or (_is_member(target.slice) and (owner.assumed or not owner.is_array))
            key = ast.unparse(target.slice) if by_text or owner.kind == "mapping" else None
            if owner.kind == "mapping":
                self.hashed(target.slice, self.quietly(target.slice))
            self.write(target.value, owner, value, key=key)
            if owner.kind in ("sequence", "mapping") and isinstance(target.value, ast.Name):
                self.env[target.value.id] = Value(
                    owner.kind,
                    owner.traced or value.traced,
                    element=join_all([element_of(owner), value]) if owner.element or owner.items else value,
                    memory=owner.memory,
                )
        elif isinstance(target, ast.Attribute):
            owner = self.visit(target.value)
            if owner.is_array and (not owner.assumed or self.table.is_method(target.attr)):
                self.write(target.value, owner, value)
            elif self.outlives(owner):
                self.effect(target, ast.unparse(target))

    def outlives(self, owner: Value) -> bool:
        """Whether a value was there before the node was called, and is after it."""
        return any(m.startswith(("argument", "state")) for m in owner.memory)

    def unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        starred = any(isinstance(t, ast.Starred) for t in target.elts)
        if value.items is not None and len(value.items) == len(target.elts) and not starred:
            for t, v in zip(target.elts, value.items, strict=True):
                self.bind(t, v)
            return
        if value.is_array and value.traced and value.rank in (None, 1):
            self.scalar(target, "unpacking", value, 1)
        element = element_of(value)
        if value.is_array and value.assumed:  # a parameter taken apart is as often a tuple of all sorts
            element = replace(element, assumed=True, constant=UNSURE)
        for t in target.elts:
            self.bind(t, element)

    def write(self, target: ast.expr, owner: Value, value: Value, sure: bool = True, key: str | None = None) -> None:
        """A write into a value: says whose memory it changes, and lets what is written flow into all that share it.

        `key` is the source of the text under which an item is put into a container. Not `sure` is the write of `s += 1` where `s` may
        be a scalar, which is bound anew."""
        memory = frozenset(m.removeprefix(MAYBE) for m in owner.memory)
        arguments = sorted(m.partition(" ")[2] for m in memory if m.startswith("argument "))
        states = sorted(m.partition(" ")[2] for m in memory if m.startswith("state "))
        if states and owner.kind != "text":
            self.effect(target, states[0])
        elif arguments and owner.kind != "number":
            hedge = "" if sure else f"if `{ast.unparse(target)}` is an array, "
            if key is None and isinstance(target, ast.Attribute):
                place = ast.unparse(target)
                self.say("mutation", target, f"{hedge}the node writes into `{place}`, which its argument `{arguments[0]}` holds")
            elif key is None:
                self.say("mutation", target, f"{hedge}the node writes into its argument `{arguments[0]}`")
            else:
                place = ast.unparse(target)
                which = f"its argument `{place}`, a container"
                if place != arguments[0]:
                    which = f"`{place}`, a container that its argument holds"
                hint = f"make a new one: {{**{place}, {key}: ...}}"
                self.say("mutation", target, f"the node changes {which}", hint, "error", always=True)
        elif owner.is_array:
            own = target.id if isinstance(target, ast.Name) else None
            others = [n for n, v in self.env.items() if n != own and v.reach & memory and v.kind in ("array", "sequence", "unknown")]
            others = [n for n in others if self.reads().after(n, target)]
            if others and own is not None:
                hedge = "" if sure else f"if `{own}` is an array, "
                self.say("aliasing", target, f"{hedge}`{own}` shares memory with `{others[0]}`, which this write changes too")
        if value.traced and owner.memory:
            for name, held in self.env.items():
                if frozenset(m.removeprefix(MAYBE) for m in held.reach) & memory and not held.traced:
                    self.env[name] = replace(held, traced=True)

    def reads(self) -> Reads:
        """Where the function that is walked reads its names."""
        scope = self.stack[-1] if self.stack else self.tree
        if scope not in self.readings:
            self.readings[scope] = Reads(scope)
        return self.readings[scope]

    def effect(self, node: ast.AST, what: str) -> None:
        self.say("side-effect", node, f"`{what}` is changed while tracing only: the graph does not change it", severity_="error")

    def made(self, e: ast.AST, value: Value) -> Value:
        """A result with memory of its own; scalars have none."""
        if not value.is_array or value.rank == 0:
            return replace(value, memory=frozenset())
        place = f"{self.path}:{e.lineno}:{e.col_offset}:{e.end_col_offset}"  # type: ignore[attr-defined]
        for name, held in self.env.items():
            if place in held.reach:  # made in an earlier round of the loop: another array than the one made now
                self.env[name] = moved(held, place, f"{place} before")
        return replace(value, memory=frozenset({place}))

    # What no graph holds: text, hashes, errors that are caught.

    def as_text(self, node: ast.expr, value: Value) -> None:
        """Text is made of a value. What a message says of values never reaches a graph."""
        if self.telling or value.kind == "text":
            return
        if value.assumed and isinstance(node, ast.Name):
            hint = f"say what it is if it is not: `{node.id}: str`"
            self.say("python-value", node, f"if `{node.id}` is an array, text is made of its values", hint, "warning")
        elif value.is_data or holds_array(value):
            self.say_of(value, "python-value", node, "text is made of array values, a constant of the graph",
                        "return the array, and make text of it outside the node")  # fmt: skip

    def hashed(self, node: ast.expr, value: Value) -> None:
        """A value is a key of a dict or an item of a set: Python asks for its hash, which hangs on its value."""
        if value.is_data and not value.assumed:
            self.say_of(value, "python-value", node, "an array value is hashed: a key, or an item of a set",
                        "keep arrays in a list, or compare them with array functions")  # fmt: skip

    def may_raise(self, node: ast.AST, problem: str, sure: bool = True) -> None:
        """A place that raises an error for some values of its arrays: in a `try` that catches it, a branch."""
        guard = next((g for g in self.guards if g.catches(problem)), None)
        if guard is not None:
            severity_ = None if sure or guard.means(problem) else "warning"
            self.say("data-dependent-branch", node, f"this raises {problem} for some array values, and the function catches it",
                     "catch it outside of the node: a graph has no `except`", severity_)  # fmt: skip

    # Truth, iteration, scalars.

    def truth(self, node: ast.expr, value: Value) -> bool:
        """Python asks a value whether it is true: a branch. True where that is followed both ways."""
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.asked(node.operand)
            node = node.operand
        if isinstance(node, ast.BoolOp):
            asked = [self.truth(operand, self.asked(operand)) for operand in node.values]
            return any(asked)
        if follows_branches(self.target):
            return value.is_data and not value.assumed
        if value.is_data:
            if value.assumed and isinstance(node, ast.Name):
                self.say("data-dependent-branch", node, f"if `{node.id}` is an array, this branch is decided by its values",
                         f"say what it is if it is not: `{node.id}: bool`", "warning")  # fmt: skip
            else:
                self.say_of(value, "data-dependent-branch", node)
        return False

    def asked(self, operand: ast.expr) -> Value:
        """An operand of `and`, `or` or `not` that has been visited just now: visiting it again would double the work at every level."""
        return self.operands[operand] if operand in self.operands else self.quietly(operand)

    def known_number(self, nodes: Sequence[ast.expr], values: Sequence[Value]) -> None:
        """A number that a count, a size or a key has to be known for: one that was made of array values is not."""
        for node, value in zip(nodes, values, strict=False):
            if value.kind == "number" and value.traced and follows_branches(self.target):
                self.say_of(value, "python-value", node, "a number made of array values has to be known here",
                            "compute with arrays, or pass the number in")  # fmt: skip

    def iterated(self, node: ast.expr, value: Value) -> Value:
        """A Python loop over a value: its elements."""
        if value.is_array and value.is_data and value.rank != 0:
            self.say_of(value, "element-iteration", node)
        return TEXT if value.kind == "mapping" else element_of(value)  # a mapping's keys are no data

    def scalar(self, node: ast.AST, how: str, value: Value, taken: int) -> None:
        """An index of `taken` integers into an array of a known or unknown rank."""
        if value.rank is None and value.guess and not isinstance(node, ast.Subscript):
            self.say("scalar-index", node, f"if `{value.guess}` is a {taken}-D array, {how} gives a scalar that leaves the graph",
                     severity_="warning")  # fmt: skip
        elif value.rank is None:
            what = ast.unparse(node.value) if isinstance(node, ast.Subscript) else "the array"
            what = f"`{what}`" if len(what) <= 30 and what != "the array" else "the array"
            self.say("scalar-index", node, f"if {what} is {taken}-D, {how} gives a scalar that leaves the graph", severity_="warning")
        else:
            self.say_of(value, "scalar-index", node, f"{how} gives a scalar, which leaves the graph")


def _is_member(e: ast.expr) -> bool:
    """`Key.ACTION`: the member of an enumeration, by the names of both, which is no index."""
    return isinstance(e, ast.Attribute) and e.attr.isupper() and isinstance(e.value, ast.Name) and e.value.id[:1].isupper()


def _is_text(e: ast.expr) -> bool:
    return isinstance(e, ast.JoinedStr) or (isinstance(e, ast.Constant) and isinstance(e.value, str))
