"""Branches on array values as choices: `y = a if c else b` is `torch.where(c, a, b)` where that is NumPy's answer exactly.

A choice computes both sides. So a branch becomes one where both are certain to be pure and unable to fail, to have the same dtype and
shape, and where nobody can tell a new array from one that was there before. Every other branch stays Python's, which is exact too but is
no graph. This module finds the choices (`plan`), `harmless` says what they may compute, `choices` writes them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from ...codemod import plain
from ...codemod.choices import Arm, Assigning, Extreme, Plan, Returning, Step, Ternary, Value, comments_in, is_elif
from ..facts.inference import assigned_names, reshapes
from ..facts.known import OPERATORS, UNKNOWN, Fact, join, operated
from ..reading.walking import children, walk
from .harmless import ARITHMETIC, NUMBER, SCALAR, SCOPES, Env, Harmless, Held, is_pure, is_simple
from .reading import awaits, leaves, yields

if TYPE_CHECKING:
    from ...codemod.rewriting_expressions import Expressions

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Made = TypeVar("_Made", Assigning, Returning)
_LARGEST = {"float64": 1e308}


def plan(r: Expressions, function: Scope, parameters: dict[str, Fact], numbers: bool = True) -> Plan:
    """The choices of a function whose facts `r` has; whether it writes into arrays is known too (`r.mutates`).

    numbers   a number may be chosen in place of a NumPy scalar, where that makes no difference to what is done with it"""
    planner = _Planner(r, function, numbers)
    others = (ast.Global, ast.Nonlocal, ast.Delete)
    if yields(function) or awaits(function) or any(reshapes(n) or isinstance(n, others) for n in walk(function)):
        return planner.plan
    args = function.args
    names = [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    env: Env = {n: planner.held(parameters.get(n, UNKNOWN), n) for n in names}
    env |= {a.arg: Held(UNKNOWN, None) for a in (args.vararg, args.kwarg) if a is not None}
    if isinstance(function, ast.Lambda):
        planner.expression(function.body, env)
    else:
        planner.block(function.body, env)
    return planner.plan


class _Planner(Harmless):
    def __init__(self, r: Expressions, function: Scope, numbers: bool) -> None:
        super().__init__(r)
        self.numbers = numbers
        self.every = list(walk(function))
        self.parent = {child: n for n in self.every for child in children(n)}
        self.loads: dict[str, list[ast.Name]] = {}
        self.stores: dict[str, list[ast.Name]] = {}
        for n in self.every:
            if isinstance(n, ast.Name):
                (self.loads if isinstance(n.ctx, ast.Load) else self.stores).setdefault(n.id, []).append(n)
        self.parameters = {n.arg for n in self.every if isinstance(n, ast.arg)}
        self.find_aliases()

    # The walk: what is known of the variables, statement by statement.

    def held(self, fact: Fact, symbol: str) -> Held:
        if fact.kind in ("scalar", "number"):
            return Held(fact, SCALAR if fact.kind == "scalar" else NUMBER)
        return Held(fact, (symbol, not fact.rank)) if fact.is_tensor else Held(fact, None)

    def bound(self, name: str, value: ast.expr, env: Env) -> Held:
        """A variable that is bound to the value of an expression."""
        shape = self.shape(value, env)
        return Held(self.fact(value), shape) if shape is not None else self.anew(name, value, self.fact(value))

    def anew(self, name: str, place: ast.AST, fact: Fact = UNKNOWN) -> Held:
        """A variable whose value is a new one, made at some place."""
        return self.held(fact, f"{name} {place.lineno} {place.col_offset}")  # type: ignore[attr-defined]

    def block(self, body: list[ast.stmt], env: Env) -> None:
        for i, s in enumerate(body):
            if isinstance(s, ast.If) and self.returning(body[i:], env):
                return
            self.statement(s, env)

    def statement(self, s: ast.stmt, env: Env) -> None:
        if isinstance(s, ast.If):
            self.on_if(s, env)
        elif isinstance(s, (ast.For, ast.AsyncFor, ast.While)):
            self.loop(s, env)
        elif isinstance(s, (ast.With, ast.AsyncWith)):
            for item in s.items:
                self.expression(item.context_expr, env)
            self.forget(env, {n.id for i in s.items for n in walk(i) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}, s)
            self.block(s.body, env)
        elif isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            env[s.name] = Held(UNKNOWN, None)
        elif any(isinstance(c, (ast.stmt, ast.ExceptHandler)) or type(c).__name__ == "match_case" for c in children(s)):
            self.forget(env, _assigned([s]) & env.keys(), s)  # `try`, `match`: what runs of them is not known
        else:
            self.simple(s, env)

    def named(self, e: ast.expr, env: Env) -> None:
        """The variables that `:=` is certain to bind in an expression."""
        every = list(walk(e))
        if not any(isinstance(n, (ast.BoolOp, ast.IfExp, *SCOPES)) for n in every):
            env.update({n.target.id: Held(self.fact(n.value), None) for n in every if isinstance(n, ast.NamedExpr)})
        else:
            self.forget(env, {n.target.id for n in every if isinstance(n, ast.NamedExpr)} & env.keys(), e)

    def simple(self, s: ast.stmt, env: Env) -> None:
        for e in children(s):
            if isinstance(e, ast.expr):
                self.expression(e, env)
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            return
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            env[s.targets[0].id] = self.bound(s.targets[0].id, s.value, env)
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            if self.fact(s.target).kind != "array":
                env[s.target.id] = self.anew(s.target.id, s, operated(OPERATORS[type(s.op)], self.fact(s.target), self.fact(s.value)))
        else:
            for n in walk(s):
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                    env[n.id] = self.anew(n.id, s, self.fact(n))

    def forget(self, env: Env, names: Iterable[str], place: ast.AST) -> None:
        for n in names:
            shape = (f"{n} {place.lineno} {place.col_offset} some", True)  # type: ignore[attr-defined]
            env[n] = Held(UNKNOWN, shape)

    def loop(self, s: ast.For | ast.AsyncFor | ast.While, env: Env) -> None:
        self.expression(s.iter if not isinstance(s, ast.While) else s.test, env)
        if isinstance(s, ast.While) and self.asks(s.test):
            self.plan.kept.append(s.test)
        assigned = _assigned([s])
        self.forget(env, assigned & env.keys(), s)
        inside = dict(env)
        if not isinstance(s, ast.While):
            self.forget(inside, {n.id for n in walk(s.target) if isinstance(n, ast.Name)}, s.target)
        self.block(s.body, inside)
        self.block(s.orelse, dict(env))

    def on_if(self, s: ast.If, env: Env) -> None:
        self.expression(s.test, env)
        if self.assigning(s, env):
            return
        if self.asks(s.test):
            self.plan.kept.append(s.test)
        sides = [dict(env), dict(env)]
        self.block(s.body, sides[0])
        self.block(s.orelse, sides[1])
        left = [e for e, body in zip(sides, (s.body, s.orelse), strict=True) if not leaves(body)]
        env.clear()
        for n in set.intersection(*(set(e) for e in left)) if left else ():
            first, last = left[0][n], left[-1][n]
            env[n] = first if first == last else Held(join(first.fact, last.fact), (f"{n} {s.lineno} {s.col_offset} some", True))

    def expression(self, e: ast.expr, env: Env) -> None:
        """Plan the ternaries and the calls of max and min inside an expression, the inner ones first."""
        if isinstance(e, (*SCOPES, ast.JoinedStr)):
            return
        for child in children(e):
            if isinstance(child, ast.expr):
                self.expression(child, env)
            elif isinstance(child, ast.keyword):
                self.expression(child.value, env)
        self.named(e, env)
        if isinstance(e, ast.IfExp) and not self.ternary(e, env) and self.asks(e.test):
            self.plan.kept.append(e.test)
        if isinstance(e, ast.Call) and self.fact(e.func).value in ("builtins.max", "builtins.min"):
            self.extreme(e)

    # Values that a condition may choose among.

    def value(self, e: ast.expr, env: Env) -> Value | None:
        """One side of a choice; None where it is not safe to compute."""
        if not self.safe(e, env):
            return None
        fact = self.fact(e)
        return Value(fact, self.shape(e, env), fact.fresh or fact.kind in ("scalar", "number"), e)

    def old(self, name: str, env: Env, near: ast.AST) -> Value | None:
        """The value that a variable keeps."""
        held = env.get(name)
        if held is None:
            return None
        seen = [f for n in walk(near) if isinstance(n, ast.Name) and n.id == name and (f := self.facts_before(n, near)) is not None]
        fact = held.fact if held.fact.is_tensor else seen[0] if seen else held.fact
        shape = SCALAR if fact.kind == "scalar" else held.shape
        shape = (shape[0], False) if shape is not None and fact.kind == "array" and fact.rank else shape
        return Value(fact, shape, fact.kind == "scalar", None, name)

    def facts_before(self, n: ast.Name, near: ast.AST) -> Fact | None:
        """What is known of a name where it is read before the branch can have bound it: in the first test, in an arm's first statement."""
        at: ast.AST = n
        while (up := self.parent[at]) is not near and not isinstance(at, ast.stmt):
            at = up
        if not isinstance(n.ctx, ast.Load) or not isinstance(near, ast.If):
            return None
        first = [near.test, *near.body[:1], *near.orelse[:1]]
        return self.fact(n) if at in first and self.fact(n).is_tensor else None

    def mode(self, values: list[Value], owner: ast.AST, fits: Callable[[str], bool], target: str = "") -> str | None:
        """How to choose among values: "torch" where they are certain to be alike, "ops" where run time has to see whether they are, None
        where they differ. Numbers are like scalars where `fits` says that what is done with them makes them such."""
        if self.identified(values, target, owner):
            return None
        tensors = [v for v in values if v.fact.is_tensor]
        numbers = [v for v in values if not v.fact.is_tensor]
        dtypes = {v.fact.dtype for v in tensors}
        if len(dtypes) != 1 or not dtypes <= set(plain.COMPUTED):
            return None
        if not all(v.fresh for v in tensors) and (self.r.mutates or self.shown(values, target)):
            return None
        (dtype,) = dtypes
        kinds = {"scalar" if v.fact.kind == "scalar" else "array" for v in tensors}
        if numbers:
            weak = all(v.node is not None and _is_literal(v.node, str(dtype)) for v in numbers) and kinds == {"scalar"}
            last = not any(v.fact.is_tensor for v in values[-2:])  # of two numbers torch would make a float32
            if not (weak and self.numbers) or last or dtype not in plain.FLOATS or not fits(str(dtype)):
                return None
            made = Fact("scalar", dtype, 0, fresh=True)
            self.plan.assumed.update({v.node: (made, owner) for v in numbers if v.node is not None})
            return "torch"
        if len(kinds) != 1 or len({v.fact.rank for v in tensors} - {None}) > 1:
            return None
        shapes = {v.shape for v in tensors}
        return "torch" if len(shapes) == 1 and all(s is not None and not s[1] for s in shapes) else "ops"

    def identified(self, values: list[Value], target: str, owner: ast.AST) -> bool:
        """Whether the function asks for the identity of one of the values, by `is`, `id` or `in` a list: a choice is another object."""
        names = {v.name or (v.node.id if isinstance(v.node, ast.Name) else "") for v in values} | {target}
        at: ast.AST | None = owner
        while isinstance(at, ast.expr) and not isinstance(at := self.parent.get(at), ast.stmt):
            if at in self.asked:
                return True
        targets = at.targets if isinstance(at, ast.Assign) else []
        names |= {n.id for t in targets for n in walk(t) if isinstance(n, ast.Name)}
        return bool({self.alias(n) for n in names if n} & {self.alias(n) for e in self.asked for n in self.asked[e]})

    def shown(self, values: list[Value], target: str) -> bool:
        """Whether the function hands out two values that share their memory, and would not with this choice."""
        names = {v.name or (v.node.id if isinstance(v.node, ast.Name) else "") for v in values} | {target}
        touched = {self.alias(n) for n in names}
        return any(sum(bool(touched & group) for group in together) > 1 for together in self.handed_out)

    def alias(self, name: str) -> str:
        """One name for all variables that may share memory."""
        while self.aliases.get(name, name) != name:
            name = self.aliases[name]
        return name

    def find_aliases(self) -> None:
        self.aliases: dict[str, str] = {}
        for s in self.every:
            single = [s.target] if isinstance(s, (ast.NamedExpr, ast.For, ast.AnnAssign)) else []
            targets = s.targets if isinstance(s, ast.Assign) else single
            value = s.iter if isinstance(s, ast.For) else getattr(s, "value", None)
            if not targets or value is None or self.own_memory(value):
                continue
            first, *others = [n.id for e in [*targets, value] for n in walk(e) if isinstance(n, ast.Name)] or [""]
            for n in others:
                self.aliases[self.alias(n)] = self.alias(first)
        self.asked = {e: {n.id for n in walk(e) if isinstance(n, ast.Name)} for e in self.every if self.asks_identity(e)}
        returned = [s.value for s in self.every if isinstance(s, ast.Return)]
        containers = [e for e in returned if isinstance(e, (ast.Tuple, ast.List, ast.Dict, ast.Call))]
        self.handed_out = [[{self.alias(n.id) for n in walk(part) if isinstance(n, ast.Name)} for part in _parts(c)
                            if not self.own_memory(part)] for c in containers]  # fmt: skip

    def asks_identity(self, e: ast.AST) -> bool:
        """`y is x`, `y in [x, z]`, `id(y)`. What is compared with None, a number or a text is not an array's identity."""
        if isinstance(e, ast.Compare):
            operands = [e.left, *e.comparators]
            if any(isinstance(op, (ast.Is, ast.IsNot)) for op in e.ops):
                return not any(isinstance(o, ast.Constant) for o in operands)
            within = isinstance(e.ops[0], (ast.In, ast.NotIn)) and self.fact(e.comparators[0]).kind != "array"
            return within and any(isinstance(n, ast.Name) and self.fact(n).kind != "number" for n in walk(e.comparators[0]))
        named = isinstance(e, ast.Call) and self.fact(e.func).kind == "name" and str(self.fact(e.func).value)
        return named in ("builtins.id", "operator.is_", "operator.is_not")

    def own_memory(self, e: ast.expr) -> bool:
        return self.fact(e).fresh or self.fact(e).kind in ("scalar", "number", "text", "none")

    def weak_use(self, e: ast.AST, dtype: str) -> bool:
        """True where all that is done with a value makes a Python number an array's dtype: arithmetic with arrays of that dtype."""
        parent = self.parent.get(e)
        if isinstance(parent, ast.BinOp) and OPERATORS[type(parent.op)] in ARITHMETIC:
            other = self.fact(parent.right if parent.left is e else parent.left)
        elif isinstance(parent, ast.AugAssign) and parent.value is e and OPERATORS[type(parent.op)] in ARITHMETIC:
            other = self.fact(parent.target)
        else:
            targets = parent.targets if isinstance(parent, ast.Assign) else []
            return len(targets) == 1 and isinstance(targets[0], ast.Name) and self.weak_name(targets[0].id, dtype)
        return other.is_tensor and other.dtype == dtype

    def weak_name(self, name: str, dtype: str) -> bool:
        loads = [n for n in self.loads.get(name, []) if not (self.fact(n).kind == "scalar" and self.fact(n).dtype == dtype)]
        return all(not isinstance(self.parent.get(n), ast.Assign) and self.weak_use(n, dtype) for n in loads)

    # The three forms.

    def ternary(self, e: ast.IfExp, env: Env) -> bool:
        if not self.condition(e.test, env):
            return False
        outside, self.evaluated = self.evaluated, self.evaluated | self.surely(e.test)
        values = [self.value(e.body, env), self.value(e.orelse, env)]
        self.evaluated = outside
        if values[0] is None or values[1] is None:
            return False
        found = [v for v in values if v is not None]
        how = self.mode(found, e, lambda dtype: self.weak_use(e, dtype))
        if how is None:
            return False
        if found[0].fact.is_tensor != found[1].fact.is_tensor:
            self.plan.assumed[e] = (next(v.fact for v in found if v.fact.is_tensor), e)
        self.plan.expressions[e] = Ternary(how == "torch", e.test, found)
        return True

    def extreme(self, e: ast.Call) -> None:
        """`max(a, b)` and `min(a, b)` of scalars of one dtype."""
        if len(e.args) != 2 or e.keywords or any(isinstance(a, ast.Starred) for a in e.args):
            return
        facts = [self.fact(a) for a in e.args]
        values = [Value(f, SCALAR, True, a) for f, a in zip(facts, e.args, strict=True)]
        if not {f.kind for f in facts} <= {"scalar", "number"} or not all(is_simple(a) or is_pure(a, self.fact) for a in e.args):
            return
        if not plain.operator("less", (facts[0], facts[1]), (e.args[0], e.args[1])):
            return
        if self.mode(values, e, lambda dtype: self.weak_use(e, dtype)) is None:
            return
        scalar = next(f for f in facts if f.is_tensor)
        self.plan.assumed[e] = (Fact("scalar", scalar.dtype, 0, fresh=True), e)
        self.plan.expressions[e] = Extreme(True, list(e.args), self.fact(e.func).value == "builtins.max")

    def arms(self, s: ast.If, env: Env) -> list[Arm] | None:
        """The arms of `if ... elif ... else` with what each assigns and returns; None where an arm does anything else."""
        found: list[Arm] = []
        at: list[ast.stmt] = [s]
        while len(at) == 1 and isinstance(at[0], ast.If):
            branch = at[0]
            if not self.condition(branch.test, env, safely=bool(found)):
                return None
            if not found:
                self.evaluated = self.surely(branch.test)
            found.append(Arm(branch.test))
            if not self.fill(found[-1], branch.body, env):
                return None
            at = branch.orelse
        found.append(Arm(None))
        return found if self.fill(found[-1], at, env) else None

    def fill(self, arm: Arm, body: list[ast.stmt], env: Env) -> bool:
        env, outside = dict(env), set(self.evaluated)
        inside = {n for s in body for n in walk(s)}
        try:
            for i, s in enumerate(body):
                if isinstance(s, ast.Pass):
                    continue
                if isinstance(s, ast.Return) and s.value is not None and i == len(body) - 1:
                    self.expression(s.value, env)
                    arm.result = self.value(s.value, env)
                    return arm.result is not None
                name, value = self.assigned(s, env)
                if value is None:
                    return False
                mine = {*self.loads.get(name, []), *self.stores.get(name, [])} <= inside and name not in self.parameters
                arm.steps.append(Step(name, value, mine))
                env[name] = Held(value.fact, value.shape)
                self.evaluated = {d for d in self.evaluated if f"id='{name}'" not in d}
            return True
        finally:
            self.evaluated = outside

    def assigned(self, s: ast.stmt, env: Env) -> tuple[str, Value | None]:
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            self.expression(s.value, env)
            return s.targets[0].id, self.value(s.value, env)
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) and self.fact(s.target).kind == "scalar":
            ufunc, facts = OPERATORS[type(s.op)], (self.fact(s.target), self.fact(s.value))
            made = operated(ufunc, *facts)
            fine = ufunc in ARITHMETIC and plain.operator(ufunc, facts, (s.target, s.value)) and self.safe(s.value, env)
            if fine and made.kind == "scalar" and s.target.id in env:
                return s.target.id, Value(made, SCALAR, True, None, s.target.id, s)
        return "", None

    def _tried(self, make: Callable[[], _Made | None]) -> _Made | None:
        """What `make` makes; where that is nothing, the plan is again what it was."""
        before = dict(self.plan.expressions), dict(self.plan.assumed), list(self.plan.kept)
        made = make()
        self.evaluated = set()
        if made is None:
            self.plan.expressions, self.plan.assumed, self.plan.kept = before
        return made

    def assigning(self, s: ast.If, env: Env) -> bool:
        """An `if` whose arms only assign variables."""
        made = self._tried(lambda: self.assigned_choices(s, env))
        if made is not None:
            self.plan.statements[s] = made
        return made is not None

    def assigned_choices(self, s: ast.If, env: Env) -> Assigning | None:
        arms = self.arms(s, env)
        if arms is None or any(a.result is not None for a in arms) or not self.on_lines(s):
            return None
        steps = _merged(arms)
        chosen = [step for step in steps or [] if step.values is not None]
        if not steps or not chosen:
            return None
        stored = {step.name for step in steps}
        named = len(chosen) > 1 or len(steps) > len(chosen)
        if named and any(isinstance(n, ast.NamedExpr) for a in arms if a.test is not None for n in walk(a.test)):
            return None
        now = dict(env)
        for step in chosen:
            assert step.values is not None
            values = [v or self.old(step.name, now, s) for v in step.values]
            if any(v is None for v in values):
                return None
            step.values = [v for v in values if v is not None]
            step.how = self.mode(step.values, s, lambda dtype, name=step.name: self.weak_name(name, dtype), step.name) or ""  # type: ignore[misc]
            if not step.how or (step.how == "ops" and (len(chosen) > 1 or step is not steps[-1])):
                return None
            tensor = next(v for v in step.values if v.fact.is_tensor)
            shape = tensor.shape if step.how == "torch" else (f"{step.name} {s.lineno} {s.col_offset} some", True)
            now[step.name] = Held(tensor.fact, shape)
        env.update({step.name: now[step.name] for step in chosen})
        return Assigning(True, s, arms, steps, len(chosen) > 1, stored)

    def on_lines(self, s: ast.stmt) -> bool:
        """True for a statement that shares no line with another one and whose comments can be told."""
        start, _ = self.r.source.span(s)
        before = self.r.source.slice(self.r.source.starts[s.lineno - 1], start)
        if isinstance(s, ast.If) and is_elif(self.r.source, s) and s.body[0].lineno == s.lineno:
            return False
        return not before.strip() and comments_in(self.r.source, s) is not None

    def returning(self, body: list[ast.stmt], env: Env) -> bool:
        """`if c: return a` with what follows it up to the last `return` of the block."""
        made = self._tried(lambda: self.returned_choice(body, dict(env)))
        if made is None:
            return False
        self.plan.statements[body[0]] = made
        self.plan.absorbed |= {s for s in body[1:] if isinstance(s, (ast.If, ast.Return))}
        return True

    def returned_choice(self, body: list[ast.stmt], env: Env) -> Returning | None:
        arms: list[Arm] = []
        between: list[ast.stmt] = []
        if not all(self.on_lines(s) for s in body):
            return None
        for i, s in enumerate(body):
            if isinstance(s, ast.If):
                self.expression(s.test, env)
                found = self.arms(s, env)
                if found is None or any(a.result is None for a in found[:-1]) or (arms and not self.condition(s.test, env, True)):
                    return None
                arms += found[:-1]
                last = found[-1]
                if last.result is not None:
                    arms.append(last)
                    break
                if last.steps:
                    return None
            elif isinstance(s, ast.Return) and s.value is not None and i == len(body) - 1:
                arms.append(Arm(None))
                if not self.fill(arms[-1], [s], env):
                    return None
            else:
                name, value = self.assigned(s, env)
                if value is None or not isinstance(s, ast.Assign):
                    return None
                between.append(s)
                env[name] = Held(value.fact, value.shape)
                self.evaluated = {d for d in self.evaluated if f"id='{name}'" not in d}
        if not arms or arms[-1].test is not None or i != len(body) - 1 or any(not s.mine for a in arms for s in a.steps):
            return None
        if between and not self.movable(arms, between):
            return None
        tests = [a.test for a in arms if a.test is not None]
        if any(a.steps for a in arms) and any(isinstance(n, ast.NamedExpr) for t in tests for n in walk(t)):
            return None
        values = [a.result for a in arms if a.result is not None]
        how = self.mode(values, body[0], lambda dtype: False)
        return Returning(how == "torch", body, arms, values) if how is not None else None

    def movable(self, arms: list[Arm], between: list[ast.stmt]) -> bool:
        """Whether conditions and values are the same when they are computed at the end."""
        stored = _assigned(between)
        parts = [e for a in arms[:-1] for e in (a.test, *(v.node for v in (a.result, *(s.value for s in a.steps)) if v is not None))]
        inside = [n for e in parts if e is not None for n in walk(e)]
        pure = all(is_pure(a.test, self.fact) for a in arms if a.test is not None)
        return pure and not any(a.steps for a in arms) and not any(isinstance(n, ast.Name) and n.id in stored for n in inside)


def _merged(arms: list[Arm]) -> list[Step] | None:
    """The assignments of all arms in one order that keeps each arm's own; variables of several arms are assigned once."""
    left = [list(a.steps) for a in arms]
    several = sum(bool(steps) for steps in left) > 1
    if several and any(len({s.name for s in steps}) != len(steps) for steps in left):
        return None
    made: list[Step] = []
    while any(left):
        for steps in left:
            while steps and steps[0].mine:
                made.append(steps.pop(0))
        heads = [steps[0].name for steps in left if steps]
        ready = [n for n in heads if all(steps[0].name == n for steps in left if any(s.name == n for s in steps))]
        if several and heads and not ready:
            return None
        if heads:
            name = ready[0] if several else heads[0]
            values = [steps.pop(0).value if steps and steps[0].name == name else None for steps in left]
            made.append(Step(name, next(v for v in values if v is not None), False, values))
    return made


def _assigned(body: list[ast.stmt]) -> set[str]:
    return assigned_names(ast.FunctionDef("f", ast.arguments([], [], None, [], [], None, []), body, []))


def _parts(e: ast.expr) -> list[ast.expr]:
    """What a returned container holds, or what is handed to the function that makes it."""
    if isinstance(e, (ast.Tuple, ast.List)):
        return [p for item in e.elts for p in _parts(item)]
    if isinstance(e, ast.Dict):
        return [p for item in e.values for p in _parts(item)]
    return [p for item in [*e.args, *(k.value for k in e.keywords)] for p in _parts(item)] if isinstance(e, ast.Call) else [e]


def _is_literal(e: ast.expr, dtype: str) -> bool:
    """A number that every float of the dtype's range can hold: torch does not take larger ones."""
    value = e.operand if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub) else e
    known = isinstance(value, ast.Constant) and type(value.value) in (int, float)
    return known and abs(value.value) < _LARGEST.get(dtype, 3e38)  # type: ignore[attr-defined]
