"""Inference: the forward pass that finds out the facts of a function's expressions.

It walks a function in the order it runs, joins what branches leave behind, and walks loops until nothing changes; what it
knows of the parameters comes from the caller (declared, or observed on a call).
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator

from ..flow.changing import lists_change
from ..flow.reading import leaves
from ..reading.walking import children, walk
from .known import (
    CONTAINER,
    NONE,
    OPERATORS,
    OTHER,
    SIZE,
    TEXT,
    UNKNOWN,
    Fact,
    element_of,
    indexed,
    join,
    joined,
    name,
    number,
    of_value,
    operated,
)


class Inference:
    """The forward pass over one function: `facts` maps each expression node to what is known of it."""

    def __init__(self, resolve: Callable[[ast.Name], Fact], call: Callable[[Fact, ast.Call, Inference], Fact] | None = None) -> None:
        self.resolve, self.call = resolve, call
        self.facts: dict[ast.AST, Fact] = {}
        self.env: dict[str, Fact] = {}
        self.locals: set[str] = set()
        self.returns: list[Fact] = []
        self.assumed: dict[ast.AST, Fact] = {}
        """expressions that count as something else than what they are (see `branching`)"""
        self.loose = False
        """lists change: nothing is known of the items of what has a name"""

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, parameters: dict[str, Fact]) -> None:
        """Walk a function whose parameters are as given (missing ones unknown): again, if its lists change, knowing less of them."""
        self._walk(node, parameters)
        if not self.loose and lists_change(node, self.facts):
            self.facts, self.env, self.returns, self.loose = {}, {}, [], True
            self._walk(node, parameters)

    def _walk(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, parameters: dict[str, Fact]) -> None:
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        self.locals |= {a.arg for a in every} | assigned_names(node)
        for a in every:
            self.env[a.arg] = self.lasting(parameters.get(a.arg, UNKNOWN))
        if args.vararg and args.vararg.arg not in parameters:
            self.env[args.vararg.arg] = Fact("sequence", element=UNKNOWN)
        if isinstance(node, ast.Lambda):
            self.returns.append(self.visit(node.body))
        else:
            self.block(node.body)
        if any(map(reshapes, walk(node))):
            # Every name of such an array changes with it: nothing is known of ranks any more.
            self.facts = {n: Fact("tensor") if f.is_tensor else f for n, f in self.facts.items()}

    def block(self, body: list[ast.stmt]) -> None:
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
            elif isinstance(child, ast.stmt):
                self.statement(child)

    def on_Return(self, s: ast.Return) -> None:
        self.returns.append(self.visit(s.value) if s.value else NONE)

    def on_Assign(self, s: ast.Assign) -> None:
        value = self.visit(s.value)
        for target in s.targets:
            self.bind(target, value)

    def on_AnnAssign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            self.bind(s.target, self.visit(s.value))

    def on_AugAssign(self, s: ast.AugAssign) -> None:
        old = self.visit(s.target)
        new = operated(OPERATORS[type(s.op)], old, self.visit(s.value))
        if isinstance(s.target, ast.Name):
            # In place an array keeps its dtype and shape; everything else is rebound.
            if old.kind == "tensor":
                new = Fact("tensor", old.dtype if old.dtype == new.dtype else None)
            found = old if old.kind == "array" else new if old.kind in ("scalar", "number", "tensor") else UNKNOWN
            self.env[s.target.id] = dataclasses.replace(found, fresh=False)

    def on_For(self, s: ast.For) -> None:
        element = element_of(self.visit(s.iter))

        def once() -> None:
            self.bind(s.target, element)
            self.block(s.body)

        self.loop(once)
        self.block(s.orelse)

    def on_While(self, s: ast.While) -> None:
        def once() -> None:
            self.visit(s.test)
            self.block(s.body)

        self.loop(once)
        self.block(s.orelse)

    def loop(self, body: Callable[[], None]) -> None:
        """Walk a body until the facts at its start no longer change; it may also run not at all."""
        for _ in range(10):
            before = dict(self.env)
            body()
            self.env = _join_envs(before, self.env)
            if self.env == before:
                return
        for changed in [k for k in self.env if self.env[k] != before.get(k)]:
            self.env[changed] = UNKNOWN
        body()
        self.env = _join_envs(before, self.env)

    def on_If(self, s: ast.If) -> None:
        self.visit(s.test)
        before = dict(self.env)
        self.block(s.body)
        then, self.env = self.env, before
        self.block(s.orelse)
        if leaves(s.body):
            for e, rank in ranks_without(s.test) if not s.orelse else ():
                if e.id in self.env and self.env[e.id].kind == "array" and self.env[e.id].rank is None:
                    self.env[e.id] = dataclasses.replace(self.env[e.id], rank=rank)
            return
        self.env = then if leaves(s.orelse) else _join_envs(then, self.env)

    def on_Match(self, s: ast.Match) -> None:
        self.visit(s.subject)
        before = dict(self.env)
        ends = [before]  # where no pattern matches
        for case in s.cases:
            self.env = {**before, **dict.fromkeys(captured_names(case.pattern), UNKNOWN)}
            if case.guard is not None:
                self.visit(case.guard)
            self.block(case.body)
            before = _join_envs(before, {**before, **dict.fromkeys(captured_names(case.pattern), UNKNOWN)})
            if not leaves(case.body):
                ends.append(self.env)
        self.env = before
        for end in ends:
            self.env = _join_envs(self.env, end)

    def on_With(self, s: ast.With) -> None:
        for item in s.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, UNKNOWN)
        self.block(s.body)

    def on_Try(self, s: ast.Try) -> None:
        before = dict(self.env)
        self.block(s.body)
        after = self.env
        for handler in s.handlers:
            self.env = _join_envs(before, after)
            if handler.name:
                self.env[handler.name] = CONTAINER
            self.block(handler.body)
            after = after if leaves(handler.body) else _join_envs(after, self.env)
        self.env = after
        self.block(s.orelse)
        self.block(s.finalbody)

    def on_Import(self, s: ast.Import) -> None:
        for alias in s.names:
            self.env[alias.asname or alias.name.split(".")[0]] = name(alias.name if alias.asname else alias.name.split(".")[0])

    def on_ImportFrom(self, s: ast.ImportFrom) -> None:
        for alias in s.names:
            self.env[alias.asname or alias.name] = name(f"{s.module}.{alias.name}") if s.module and not s.level else UNKNOWN

    def on_FunctionDef(self, s: ast.FunctionDef) -> None:
        for default in [*s.args.defaults, *filter(None, s.args.kw_defaults), *s.decorator_list]:
            self.visit(default)
        self.nested(s)
        self.env[s.name] = Fact("function")

    def nested(self, s: ast.FunctionDef | ast.Lambda) -> None:
        """An inner function: its parameters are unknown, and so are our variables."""
        inner = Inference(self.captured, self.call)
        inner.function(s, {})
        for node, fact in inner.facts.items():
            self.facts[node] = join(self.facts[node], fact) if node in self.facts else fact

    def captured(self, e: ast.Name) -> Fact:
        """What an inner function sees of a name of ours: imports; variables may have changed by the time it runs."""
        if e.id not in self.locals:
            return self.resolve(e)
        return self.env[e.id] if e.id in self.env and self.env[e.id].kind in ("name", "function") else UNKNOWN

    def on_ClassDef(self, s: ast.ClassDef) -> None:
        self.env[s.name] = OTHER

    def on_Delete(self, s: ast.Delete) -> None:
        for t in s.targets:
            if isinstance(t, ast.Name):
                self.env.pop(t.id, None)
            else:
                self.visit(t)

    def bind(self, target: ast.expr, value: Fact) -> None:
        self.facts[target] = value
        if isinstance(target, ast.Name):
            self.env[target.id] = dataclasses.replace(self.lasting(value), fresh=False)
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = any(isinstance(t, ast.Starred) for t in target.elts)
            parts = value.items if value.items is not None and len(value.items) == len(target.elts) and not starred else None
            for i, t in enumerate(target.elts):
                if isinstance(t, ast.Starred):
                    self.bind(t.value, Fact("sequence", element=element_of(value)))
                else:
                    self.bind(t, parts[i] if parts is not None else element_of(value))
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            self.visit(target)

    def lasting(self, value: Fact) -> Fact:
        """What is known of a value for as long as it has a name: of the items of a list nothing, where lists change."""
        if value.kind != "sequence":
            return value
        if value.value == "tuple" and value.items is not None:
            return dataclasses.replace(value, items=tuple(map(self.lasting, value.items)))
        return Fact("sequence", element=UNKNOWN) if self.loose or value.items == () else value

    # Expressions.

    def visit(self, e: ast.expr) -> Fact:
        method = getattr(self, f"visit_{type(e).__name__}", None)
        found = method(e) if method is not None else self.generic(e)
        found = self.assumed.get(e, found)
        known = self.facts.get(e)
        self.facts[e] = found if known is None else join(known, found)
        return found

    def generic(self, e: ast.AST) -> Fact:
        for child in children(e):
            if isinstance(child, ast.expr):
                self.visit(child)
            elif not isinstance(child, (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)):
                self.generic(child)
        return UNKNOWN

    def visit_Constant(self, e: ast.Constant) -> Fact:
        return of_value(e.value)

    def visit_JoinedStr(self, e: ast.JoinedStr) -> Fact:
        self.generic(e)
        return TEXT

    def visit_Name(self, e: ast.Name) -> Fact:
        if e.id in self.locals:
            return self.env.get(e.id, UNKNOWN)
        return self.resolve(e)

    def visit_NamedExpr(self, e: ast.NamedExpr) -> Fact:
        value = self.visit(e.value)
        self.bind(e.target, value)
        return value

    def visit_BinOp(self, e: ast.BinOp) -> Fact:
        a, b = self.visit(e.left), self.visit(e.right)
        if isinstance(e.op, ast.Mod) and a.kind == "text":
            return TEXT
        if isinstance(e.op, ast.Add) and a.kind == b.kind == "sequence":
            return (
                Fact("sequence", items=a.items + b.items)
                if a.items is not None and b.items is not None
                else Fact("sequence", element=joined([element_of(a), element_of(b)]))
            )
        if isinstance(e.op, ast.Mult) and {a.kind, b.kind} == {"sequence", "number"}:
            return Fact("sequence", element=element_of(a if a.kind == "sequence" else b))
        return operated(OPERATORS[type(e.op)], a, b)

    def visit_UnaryOp(self, e: ast.UnaryOp) -> Fact:
        operand = self.visit(e.operand)
        if isinstance(e.op, ast.Not):
            return number("bool")
        if operand.kind == "number":
            negated = -operand.value if isinstance(e.op, ast.USub) and operand.value is not None else None
            return number("int" if operand.dtype == "bool" else operand.dtype, negated)
        return operated(OPERATORS[type(e.op)], operand) if operand.is_tensor else UNKNOWN

    def visit_Compare(self, e: ast.Compare) -> Fact:
        operands = [self.visit(e.left), *map(self.visit, e.comparators)]
        if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in e.ops):
            return number("bool")
        if len(e.ops) == 1:
            found = operated(OPERATORS[type(e.ops[0])], *operands)
            return number("bool") if found.kind == "other" else found
        return number("bool") if all(o.kind == "number" for o in operands) else UNKNOWN

    def visit_BoolOp(self, e: ast.BoolOp) -> Fact:
        return joined([self.visit(v) for v in e.values])

    def visit_IfExp(self, e: ast.IfExp) -> Fact:
        self.visit(e.test)
        return join(self.visit(e.body), self.visit(e.orelse))

    def visit_Tuple(self, e: ast.Tuple | ast.List) -> Fact:
        items = [self.visit(i) for i in e.elts]
        if any(isinstance(i, ast.Starred) for i in e.elts):
            return Fact("sequence", element=UNKNOWN)
        return Fact("sequence", items=tuple(items), value="tuple" if isinstance(e, ast.Tuple) else None)

    visit_List = visit_Tuple

    def visit_Dict(self, e: ast.Dict | ast.Set) -> Fact:
        self.generic(e)
        return CONTAINER

    visit_Set = visit_Dict

    def visit_Lambda(self, e: ast.Lambda) -> Fact:
        self.nested(e)
        return Fact("function")

    def visit_ListComp(self, e: ast.ListComp) -> Fact:
        return Fact("sequence", element=self.comprehension(e))

    def visit_GeneratorExp(self, e: ast.GeneratorExp) -> Fact:
        return Fact("sequence", element=self.comprehension(e))

    def visit_SetComp(self, e: ast.SetComp) -> Fact:
        self.comprehension(e)
        return CONTAINER

    def visit_DictComp(self, e: ast.DictComp) -> Fact:
        self.comprehension(e)
        return CONTAINER

    def comprehension(self, e: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> Fact:
        outer_env, outer_locals = dict(self.env), set(self.locals)
        for g in e.generators:
            element = element_of(self.visit(g.iter))
            self.locals |= {n.id for n in walk(g.target) if isinstance(n, ast.Name)}
            self.bind(g.target, element)
            for test in g.ifs:
                self.visit(test)
        found = UNKNOWN
        for part in (e.key, e.value) if isinstance(e, ast.DictComp) else (e.elt,):
            found = self.visit(part)
        walrus = {n.target.id for n in walk(e) if isinstance(n, ast.NamedExpr)}
        self.env = {**outer_env, **dict.fromkeys(walrus, UNKNOWN)}
        self.locals = outer_locals
        return found

    def visit_Attribute(self, e: ast.Attribute) -> Fact:
        owner = self.visit(e.value)
        if owner.kind == "name":
            return self.resolve_name(f"{owner.value}.{e.attr}")
        if owner.kind in ("torch", "either"):
            if e.attr == "shape":
                return Fact("sequence", element=number("int"))
            return number("int") if e.attr == "ndim" else owner if e.attr in ("T", "mT", "H", "grad", "data", "real", "imag") else OTHER
        if owner.is_tensor:
            if e.attr == "shape":
                sizes = (SIZE,) * owner.rank if owner.rank is not None else None
                return Fact("sequence", items=sizes, element=SIZE, value="tuple")
            if e.attr in ("ndim", "size", "itemsize", "nbytes"):
                return SIZE
            if e.attr == "T":
                return dataclasses.replace(owner, fresh=False)
        return UNKNOWN

    def resolve_name(self, qualified: str) -> Fact:
        if qualified == "numpy.newaxis":
            return NONE
        return number("float") if qualified in ("numpy.pi", "numpy.e", "numpy.inf", "numpy.nan", "numpy.euler_gamma") else name(qualified)

    def visit_Subscript(self, e: ast.Subscript) -> Fact:
        owner, key = self.visit(e.value), self.visit(e.slice)
        if owner.kind == "sequence":
            if isinstance(e.slice, ast.Slice):
                return Fact("sequence", element=element_of(owner))
            index = key.value if key.kind == "number" else None
            if owner.items is not None and isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
                return owner.items[index]
            return element_of(owner)
        if owner.kind == "array" and owner.rank is not None:
            return indexed(owner, e.slice, self.facts)
        if owner.is_tensor:
            return Fact("tensor", owner.dtype)
        return OTHER if owner.kind == "text" else owner if owner.kind in ("torch", "either") else UNKNOWN

    def visit_Slice(self, e: ast.Slice) -> Fact:
        self.generic(e)
        return OTHER

    def visit_Call(self, e: ast.Call) -> Fact:
        callee = self.visit(e.func)
        for a in e.args:
            self.visit(a)
        for k in e.keywords:
            self.visit(k.value)
        return self.call(callee, e, self) if self.call is not None else UNKNOWN


def ranks_without(test: ast.expr) -> Iterator[tuple[ast.Name, int]]:
    """The arrays whose ranks are known where a test is false: of `x.ndim != 2 or x.shape[0] != 3`, and of `x.shape != (3, 3)`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for part in test.values:
            yield from ranks_without(part)
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq)):
        return
    asked, wanted = test.left, test.comparators[0]
    if isinstance(asked, ast.Attribute) and isinstance(asked.value, ast.Name):
        if asked.attr == "ndim" and isinstance(wanted, ast.Constant) and type(wanted.value) is int:
            yield asked.value, wanted.value
        elif asked.attr == "shape" and isinstance(wanted, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in wanted.elts):
            yield asked.value, len(wanted.elts)


def reshapes(n: ast.AST) -> bool:
    """`x.shape = ...` and `x.resize(...)` change an array where it stands."""
    if isinstance(n, ast.Attribute) and n.attr in ("shape", "dtype", "strides") and isinstance(n.ctx, ast.Store):
        return True
    return isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "resize"


def _join_envs(a: dict[str, Fact], b: dict[str, Fact]) -> dict[str, Fact]:
    return {k: join(a[k], b[k]) if k in a and k in b else UNKNOWN for k in {*a, *b}}


def captured_names(pattern: ast.AST) -> set[str]:
    """The names that a pattern of a `match` binds."""
    return {name for n in walk(pattern) for field in ("name", "rest") if isinstance(name := getattr(n, field, None), str)}


def assigned_names(node: ast.AST) -> set[str]:
    """The names a function binds itself (not those of functions inside it), less its globals and nonlocals."""
    found: set[str] = set()
    free: set[str] = set()
    pending: list[ast.AST] = (
        [*node.body] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else [node.body] if isinstance(node, ast.Lambda) else []
    )
    while pending:
        n = pending.pop()
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(n.name)
            continue
        if isinstance(n, ast.Lambda):
            continue
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
            found.add(n.id)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            found |= {a.asname or a.name.split(".")[0] for a in n.names}
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            free |= set(n.names)
        elif isinstance(n, ast.ExceptHandler) and n.name:
            found.add(n.name)
        elif isinstance(n, ast.pattern):
            found |= captured_names(n)
        if isinstance(n, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            inner = {x.id for g in n.generators for x in walk(g.target) if isinstance(x, ast.Name)}
            found |= {x.target.id for x in walk(n) if isinstance(x, ast.NamedExpr)} - inner
            pending.append(n.generators[0].iter)
            continue
        pending.extend(children(n))
    return found - free
