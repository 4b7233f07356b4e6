"""How the choices that `branching` finds are written: `torch.where(condition, a, b)`, with the comments of what they replace."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..source.facts.known import OPERATORS, Fact
from ..source.reading.text import Source

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions


@dataclass(eq=False)
class Value:
    """One side of a choice: an expression, what a variable held before, or (`augments`) what `s += 1` makes of a scalar.

    fresh    no other value can share its memory"""

    fact: Fact
    shape: tuple[str, bool] | None
    fresh: bool
    node: ast.expr | None
    name: str = ""
    augments: ast.AugAssign | None = None

    def text(self, r: Expressions) -> str:
        if self.augments is not None:
            from .rewriting_expressions import SYMBOLS, grouped

            s = self.augments
            return f"{self.name} {SYMBOLS[type(s.op)]} {grouped(s.value, r.text(s.value))}"
        return self.name if self.node is None else r.text(self.node)


@dataclass(eq=False)
class Step:
    """One assignment. mine: of a variable that only its arm knows; values: of a choice, one for each arm, None for "as it was"."""

    name: str
    value: Value
    mine: bool
    values: list[Value | None] | list[Value] | None = None
    how: str = ""


@dataclass(eq=False)
class Arm:
    """One arm of a branch: its test (None for `else`), its assignments, what it returns."""

    test: ast.expr | None
    steps: list[Step] = field(default_factory=list)
    result: Value | None = None


@dataclass(eq=False)
class Choice:
    """A branch that is written as a choice. plain: `torch.where` does it, whatever comes at run time."""

    plain: bool

    def where(self, r: Expressions, conditions: list[str], values: list[str]) -> str:
        """`a if c1 else b if c2 else c`."""
        r.is_plain = r.is_plain and self.plain
        text = values[-1]
        for condition, value in reversed(list(zip(conditions, values, strict=False))):
            text = f"{r.torch()}.where({condition}, {value}, {text})"
        return text


@dataclass(eq=False)
class Ternary(Choice):
    test: ast.expr
    values: list[Value]

    def text(self, r: Expressions) -> str:
        return self.where(r, [condition(r, self.test)], [v.text(r) for v in self.values])


@dataclass(eq=False)
class Extreme(Choice):
    """`max(a, b)`, which in Python is `b if b > a else a`."""

    operands: list[ast.expr]
    largest: bool

    def text(self, r: Expressions) -> str:
        a, b = map(r.text, self.operands)
        bound = self.operands[1]
        if isinstance(bound, ast.Constant) and bound.value != 0:  # of 0.0 and -0.0 Python keeps the first
            return f"{r.torch()}.clamp({a}, {'min' if self.largest else 'max'}={b})"
        if all(isinstance(o, (ast.Name, ast.Constant, ast.UnaryOp)) for o in self.operands):
            return f"{r.torch()}.where({b} {'>' if self.largest else '<'} {a}, {b}, {a})"
        names = [r.text(o) if isinstance(o, (ast.Name, ast.Constant)) else r.temporary() for o in self.operands]
        first, second = (n if n == t else f"({n} := {t})" for n, t in zip(names, (a, b), strict=True))
        return f"{r.torch()}.where({first} {'<' if self.largest else '>'} {second}, {names[1]}, {names[0]})"


@dataclass(eq=False)
class Assigning(Choice):
    """`if c: y = a`, with `elif` and `else`; several: more than one variable, so that the conditions get names."""

    branch: ast.If
    arms: list[Arm]
    steps: list[Step]
    several: bool
    stored: set[str]

    def lines(self, r: Expressions) -> list[str]:
        lines, conditions = [], []
        for arm in self.arms:
            if arm.test is None:
                continue
            text = condition(r, arm.test)
            if self.several and not (isinstance(arm.test, ast.Name) and arm.test.id not in self.stored):
                name = r.unused("condition")
                lines.append(f"{name} = {text}")
                text = name
            conditions.append(text)
        for step in self.steps:
            if step.values is None:
                lines.append(f"{step.name} = {step.value.text(r)}")
            else:
                self.plain = step.how == "torch"
                lines.append(f"{step.name} = {self.where(r, conditions, [v.text(r) for v in step.values if v is not None])}")
        return lines

    def write(self, r: Expressions) -> list[tuple[int, int, str]]:
        start, end = r.source.span(self.branch)
        return [(start, end, _joined(r.source, self.branch, [*(comments_in(r.source, self.branch) or []), *self.lines(r)]))]


@dataclass(eq=False)
class Returning(Choice):
    """`if c: return a` ... `return b`."""

    body: list[ast.stmt]
    arms: list[Arm]
    values: list[Value]

    def write(self, r: Expressions) -> list[tuple[int, int, str]]:
        conditions = [condition(r, a.test) for a in self.arms if a.test is not None]
        made = [f"{s.name} = {s.value.text(r)}" for a in self.arms for s in a.steps]
        made.append(f"return {self.where(r, conditions, [v.text(r) for v in self.values])}")
        pieces = []
        for s, following in zip(self.body, [*self.body[1:], None], strict=True):
            start, end = r.source.span(s)
            lines = [*(comments_in(r.source, s) or [])] if isinstance(s, ast.If) else []
            if following is None:
                pieces.append((start, end, _joined(r.source, s, [*lines, *made])))
            elif isinstance(s, ast.If):
                after = r.source.span(following)[0]
                between = _comments(r.source.slice(end, after)) or []
                kept = _joined(r.source, s, [*lines, *between, ""])
                pieces.append((start, after, kept))
        return pieces


@dataclass
class Plan:
    """What becomes of the branches of one function: statements and expressions that are written as choices.

    absorbed   statements that are written with another one
    assumed    numbers that count as NumPy scalars, since all that is done with them makes them such, and the branch for which they do
    kept       tests on array values that stay Python's"""

    statements: dict[ast.AST, Assigning | Returning] = field(default_factory=dict)
    expressions: dict[ast.AST, Ternary | Extreme] = field(default_factory=dict)
    absorbed: set[ast.AST] = field(default_factory=set)
    assumed: dict[ast.AST, tuple[Fact, ast.AST]] = field(default_factory=dict)
    kept: list[ast.expr] = field(default_factory=list)


def condition(r: Expressions, e: ast.expr) -> str:
    """A condition as a 0-d tensor of bool."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        return f"{r.torch()}.logical_not({condition(r, e.operand)})"
    if isinstance(e, ast.BoolOp):
        name = "logical_and" if isinstance(e.op, ast.And) else "logical_or"
        text = condition(r, e.values[0])
        for v in e.values[1:]:
            text = f"{r.torch()}.{name}({text}, {condition(r, v)})"
        return text
    if isinstance(e, ast.Compare) and isinstance(e.ops[0], (ast.In, ast.NotIn)):
        found = f"{r.torch()}.any({r.torch()}.eq({r.text(e.comparators[0])}, {r.text(e.left)}))"
        return f"{r.torch()}.logical_not({found})" if isinstance(e.ops[0], ast.NotIn) else found
    if isinstance(e, ast.Compare) and len(e.ops) > 1:
        return _chain(r, e)
    return r.text(e)


def _chain(r: Expressions, e: ast.Compare) -> str:
    """`a < b < c`, whose operands compare in torch as in NumPy."""
    from .rewriting_expressions import SYMBOLS, grouped

    operands = [e.left, *e.comparators]
    texts = [grouped(o, r.text(o)) for o in operands]
    links = [f"{a} {SYMBOLS[type(op)]} {b}" for op, a, b in zip(e.ops, texts, texts[1:], strict=False)]
    if r.exact:
        links = [f"{r.npx(OPERATORS[type(op)])}({a}, {b})" for op, a, b in zip(e.ops, texts, texts[1:], strict=False)]
    text = links[0]
    for link in links[1:]:
        text = f"{r.torch()}.logical_and({text}, {link})"
    return text


def comments_in(source: Source, s: ast.stmt) -> list[str] | None:
    """The comments inside a statement, in order; None where they can't be told."""
    return _comments(source.of(s))


def _comments(text: str) -> list[str] | None:
    if "#" not in text:
        return []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(f"(\n{text}\n)").readline))  # in parentheses indentation says nothing
    except (tokenize.TokenError, IndentationError):
        return None
    return [t.string for t in tokens if t.type == tokenize.COMMENT]


def _joined(source: Source, s: ast.stmt, lines: list[str]) -> str:
    """Lines that stand in a statement's place; in that of an `elif` an `else` with the lines in it."""
    indent = _indent(source, s)
    if not is_elif(source, s):
        return f"{source.newline}{indent}".join(lines)
    assert isinstance(s, ast.If)
    return f"{source.newline}{_indent(source, s.body[0])}".join(["else:", *lines])


def _indent(source: Source, s: ast.stmt) -> str:
    return source.slice(source.starts[s.lineno - 1], source.span(s)[0])


def is_elif(source: Source, s: ast.stmt) -> bool:
    return isinstance(s, ast.If) and source.bytes.startswith(b"elif", source.span(s)[0])
