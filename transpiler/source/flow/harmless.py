"""What a branch that becomes a choice may compute: conditions that are one truth value, values that are pure and cannot fail.

A choice computes both sides, and both operands of `and`. So whatever stands there must be harmless: no effect, no error for any value of
any size, and a shape that is known to be another value's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...codemod import plain
from ...codemod.choices import Plan
from ..facts.known import COMPARISONS, OPERATORS, Fact
from ..reading.walking import walk

if TYPE_CHECKING:
    from ...codemod.rewriting_expressions import Expressions
    from ..reading.table import RuleSource

Shape = tuple[str, bool]
"""Values with the same one have the same shape. True for an array as it came, which may be 0-d where NumPy computes a scalar of it."""

NUMBER, SCALAR = ("a number", False), ("a scalar", False)
SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions whose insides are not computed once, here and now."""

ARITHMETIC = ("add", "subtract", "multiply", "divide")
_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
_REDUCTIONS = ("sum", "mean", "std", "var", "prod", "any", "all", "nansum")
"""Those that give a scalar for an array without elements too."""
_BUILTINS = ("builtins.abs", "builtins.len", "builtins.max", "builtins.min")
PICKY = frozenset("numpy." + n for n in ("left_shift", "right_shift", "gcd", "lcm", "ldexp", "invert", "bitwise_count", *_BITWISE))
"""Ufuncs that take integers alone."""


@dataclass(frozen=True)
class Held:
    """What is known of a variable at one point of the function."""

    fact: Fact
    shape: Shape | None


Env = dict[str, Held]


class Harmless:
    """Judges the expressions of one function.

    plan        the choices found so far: their expressions may stand inside others
    evaluated   expressions, as text of their trees, that NumPy has computed already where a judgement is made: they cannot fail again"""

    def __init__(self, r: Expressions) -> None:
        self.r, self.fact = r, r.fact
        self.plan = Plan()
        self.evaluated: set[str] = set()

    # Conditions.

    def asks(self, test: ast.expr) -> bool:
        """Whether Python would ask an array value for its truth here."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.asks(test.operand)
        if isinstance(test, ast.BoolOp):
            return any(map(self.asks, test.values))
        if isinstance(test, ast.Compare) and not any(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops):
            return any(self.fact(o).is_tensor for o in [test.left, *test.comparators])
        return self.fact(test).is_tensor

    def condition(self, e: ast.expr, env: Env, safely: bool = False) -> bool:
        """True for what is a single truth value of arrays; `safely` where it is computed though NumPy might not compute it."""
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            return self.condition(e.operand, env, safely)
        if isinstance(e, ast.BoolOp):
            return self.condition(e.values[0], env, safely) and all(self.condition(v, env, True) for v in e.values[1:])
        if isinstance(e, ast.Compare) and (len(e.ops) > 1 or isinstance(e.ops[0], (ast.In, ast.NotIn))):
            return self.chained(e, env, safely) if len(e.ops) > 1 else self.contained(e, env, safely)
        found = self.fact(e)
        return found.kind == "scalar" and found.dtype == "bool" and (not safely or self.safe(e, env))

    def chained(self, e: ast.Compare, env: Env, safely: bool) -> bool:
        """`a < b < c`: all of them scalars or numbers, the middle ones names or literals, which can be read twice."""
        operands = [e.left, *e.comparators]
        pairs = list(zip(e.ops, operands, operands[1:], strict=False))
        if any(OPERATORS.get(type(op)) not in COMPARISONS for op in e.ops) or not all(is_simple(o) for o in operands[1:-1]):
            return False
        facts = [(self.fact(a), self.fact(b)) for _, a, b in pairs]
        if not all({a.kind, b.kind} <= {"scalar", "number"} and "scalar" in (a.kind, b.kind) for a, b in facts):
            return False
        plainly = all(plain.operator(OPERATORS[type(op)], f, (a, b)) for (op, a, b), f in zip(pairs, facts, strict=True))
        return plainly and all(self.safe(o, env) for o in (operands if safely else operands[2:]))

    def contained(self, e: ast.Compare, env: Env, safely: bool) -> bool:
        """`v in x`: whether any element of an array equals a scalar or a number."""
        left, right = e.left, e.comparators[0]
        facts = (self.fact(right), self.fact(left))
        if facts[0].kind != "array" or facts[1].kind not in ("scalar", "number") or not plain.operator("equal", facts, (right, left)):
            return False
        return not safely or (self.safe(left, env) and self.safe(right, env))

    # What can be computed without harm, and the shape of it.

    def shape(self, e: ast.expr, env: Env) -> Shape | None:
        fact = self.fact(e)
        if fact.kind in ("scalar", "number"):
            return SCALAR if fact.kind == "scalar" else NUMBER
        if isinstance(e, ast.Name):
            found = env[e.id].shape if e.id in env else None
            return (found[0], False) if found is not None and fact.kind == "array" and fact.rank else found
        operands = self.operands(e)
        if operands is None or not fact.is_tensor:
            return None
        shapes = {self.shape(o, env) for o in operands} - {SCALAR, NUMBER}
        only = shapes.pop() if len(shapes) == 1 else None
        return None if only is None else (only[0], False)

    def operands(self, e: ast.expr) -> list[ast.expr] | None:
        """What an elementwise expression is computed of; None for all others."""
        if isinstance(e, ast.BinOp):
            return [e.left, e.right] if not isinstance(e.op, ast.MatMult) else None
        if isinstance(e, ast.Compare):
            return [e.left, *e.comparators] if len(e.ops) == 1 and type(e.ops[0]) in OPERATORS else None
        if isinstance(e, ast.UnaryOp):
            return [e.operand] if not isinstance(e.op, ast.Not) else None
        if isinstance(e, ast.IfExp):
            return [e.body, e.orelse] if e in self.plan.expressions and self.plan.expressions[e].plain else None
        called = self.called(e)
        if called is None:
            return None
        name, args, rule = called
        if rule.is_ufunc or name == "builtins.abs":
            return args
        short = name.rpartition(".")[2]
        copies = short in ("copy", "zeros_like", "ones_like") and len(args) == 1 and bool(self.fact(args[0]).rank)
        return args[:1] if copies or (short == "clip" and len(args) == 3) else None

    def called(self, e: ast.expr) -> tuple[str, list[ast.expr], RuleSource] | None:
        """The NumPy function of a call, its arguments (a method's array first) and its rule; None for all that has keywords or stars."""
        if not isinstance(e, ast.Call) or e.keywords or any(isinstance(a, ast.Starred) for a in e.args):
            return None
        callee = self.fact(e.func)
        name, args = str(callee.value) if callee.kind == "name" else "", list(e.args)
        if name == "builtins.abs" and len(args) == 1:
            return name, args, self.r.table.rules["numpy.absolute"]
        if not name and isinstance(e.func, ast.Attribute) and self.fact(e.func.value).is_tensor:
            name, args = f"numpy.ndarray.{e.func.attr}", [e.func.value, *args]
        rule = self.r.table.rules.get(name) if name.startswith("numpy.") else None
        return None if rule is None or rule.writes else (name, args, rule)

    def safe(self, e: ast.expr, env: Env) -> bool:
        """True for what is pure and cannot fail, whatever the values."""
        fact = self.fact(e)
        if isinstance(e, ast.Constant):
            return type(e.value) in (bool, int, float)
        if not (fact.kind == "number" or (fact.is_tensor and fact.dtype in plain.COMPUTED)):
            return False
        if isinstance(e, ast.Name):
            return e.id in env or (fact.kind == "scalar" and e.id not in self.r.own_names)
        if ast.dump(e) in self.evaluated:
            return True
        if isinstance(e, ast.IfExp):
            return e in self.plan.expressions and self.condition(e.test, env, True)
        if isinstance(e, ast.Call):
            return (e in self.plan.expressions and all(self.safe(a, env) for a in e.args)) or self.safe_call(e, env)
        operands = self.operands(e)
        if operands is None or not all(self.safe(o, env) for o in operands):
            return False
        if fact.is_tensor and self.shape(e, env) is None:
            return False
        return self.safe_operator(e, operands)

    def safe_operator(self, e: ast.expr, operands: list[ast.expr]) -> bool:
        facts = tuple(map(self.fact, operands))
        numbers = all(f.kind == "number" for f in facts)
        if isinstance(e, ast.UnaryOp):
            return isinstance(e.op, (ast.USub, ast.Invert)) and (numbers or plain.unary(OPERATORS[type(e.op)], facts[0], self.r.mutates))
        ufunc = OPERATORS[type(e.ops[0] if isinstance(e, ast.Compare) else e.op)]  # type: ignore[attr-defined]
        if numbers:
            known = isinstance(operands[1], ast.Constant) and operands[1].value != 0
            return ufunc in ("add", "subtract", "multiply", *COMPARISONS) or (ufunc == "divide" and known)
        floats = {f.dtype for f in facts if f.is_tensor} <= set(plain.FLOATS)
        harmless = (*ARITHMETIC, *_BITWISE, *COMPARISONS, *(("power",) if floats else ()))
        return ufunc in harmless and plain.operator(ufunc, facts, tuple(operands))  # type: ignore[arg-type]

    def safe_call(self, e: ast.Call, env: Env) -> bool:
        called = self.called(e)
        if called is None or not all(self.safe(a, env) for a in called[1]):
            return False
        name, args, rule = called
        facts = [self.fact(a) for a in args]
        dtypes = {f.dtype for f in facts if f.is_tensor}
        short = name.rpartition(".")[2]
        if len(dtypes) != 1 or (not dtypes <= set(plain.FLOATS) and short not in ("any", "all", "copy")):
            return False
        if short in _REDUCTIONS or name == "numpy.linalg.norm":
            return len(args) == 1 and self.fact(e).kind == "scalar" and (short != "norm" or facts[0].rank in (None, 1, 2))
        if short == "clip" and not all(f.kind == "number" for f in facts[1:]):
            return False
        fits = 1 <= len(args) <= 2 or short == "clip"
        return fits and not set(rule.names) & PICKY and self.operands(e) is not None and self.shape(e, env) is not None  # type: ignore[attr-defined]

    def surely(self, test: ast.expr) -> set[str]:
        """What NumPy computes whichever way a test comes out: computing it again cannot fail."""
        if isinstance(test, ast.BoolOp):
            return self.surely(test.values[0])
        inside = [test.left, test.comparators[0]] if isinstance(test, ast.Compare) else [test]
        every = [n for e in inside for n in walk(e)]
        if any(isinstance(n, (*SCOPES, ast.IfExp, ast.BoolOp)) for n in every) or not all(is_pure(e, self.fact) for e in inside):
            return set()
        return {ast.dump(n) for n in every if isinstance(n, (ast.Call, ast.Subscript))}


def is_simple(e: ast.expr) -> bool:
    return isinstance(e, (ast.Name, ast.Constant)) or (isinstance(e, ast.UnaryOp) and isinstance(e.operand, ast.Constant))


def is_pure(e: ast.AST, fact: Callable[[ast.AST], Fact]) -> bool:
    """True where computing an expression changes nothing and calls nothing but NumPy."""
    for n in walk(e):
        if isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)):
            return False
        if isinstance(n, ast.Call):
            callee = fact(n.func)
            name = str(callee.value) if callee.kind == "name" else ""
            numpys = name.startswith("numpy.") and not name.startswith("numpy.random")
            if not numpys and name not in _BUILTINS and not (isinstance(n.func, ast.Attribute) and fact(n.func.value).is_tensor):
                return False
    return True
