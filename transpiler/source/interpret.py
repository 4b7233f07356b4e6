"""The forward pass of check: walks a node in the order it runs, with abstract values, and says findings where it stands.

Statements and plain expressions are here, calls in `calls.py`. Branches are joined, loop bodies walked until their values
settle; a helper is walked with the values it is called with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .calls import Calls
from .facts import leaves
from .findings import Finding, make_finding
from .names import FunctionNode, Names
from .nodes import Node
from .table import Table
from .targets import said, severity
from .values import NONE, NUMBER, OBJECT, TEXT, UNKNOWN, Value, array, element_of, join, join_all, of_annotation, of_constant, of_spec, operated
from .values import sequence as sequence_of

_OPERATORS = {ast.Div: "divide", ast.BitAnd: "bits", ast.BitOr: "bits", ast.BitXor: "bits"}
_ROUNDS = 4  # of a loop's body: the lattice of values is that low


class Interpreter(Calls):
    """Walks the nodes of one module; `findings` holds what was said, one for each kind and place."""

    def __init__(self, tree: ast.Module, names: Names, table: Table, lines: Sequence[str], path: str, target: str = "any", root: str = ".") -> None:
        self.tree, self.names, self.table, self.lines, self.path, self.target, self.root = tree, names, table, lines, path, target, root
        self.said: dict[tuple[str, int, int], Finding] = {}
        self.env: dict[str, Value] = {}
        self.returns: list[Value] = []
        self.globals: set[str] = set()
        self.stack: list[ast.AST] = []
        self.done: dict[tuple[object, ...], Value] = {}
        self.methods: dict[str, FunctionNode] = {}
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

    def say(self, name: str, node: ast.AST, message: str = "", hint: str = "", severity_: str | None = None) -> None:
        """A finding at a node's exact range."""
        if self.muted or not said(name, self.target):
            return
        key = (name, node.lineno, node.col_offset)  # type: ignore[attr-defined]
        if key in self.said:
            return
        finding = make_finding(name, path=self.path, message=message, hint=hint, severity=severity_, **self.place(node))
        self.said[key] = replace(finding, severity=severity(name, finding.severity, self.target))

    def place(self, node: ast.AST) -> dict[str, int]:
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

    # Nodes and functions.

    def node(self, node: Node, methods: dict[str, FunctionNode]) -> None:
        """Walk a node with the values its parameters are declared to have."""
        self.methods = methods
        self.env, self.globals, self.returns = {}, set(), []
        if node.function is not None and node.how != "region":
            self.env = self.parameters(node.function, node.declared, node.in_class)
        for name in node.inputs or ():
            self.env[name] = array(True, memory=[f"argument {name}"])
        self.stack = [node.function] if node.function is not None else []
        self.uninitialised(node.body)
        self.block(node.body)
        self.uncalled()

    def uncalled(self) -> None:
        """Functions defined inside and not called by name (handed on, say): walked with what is known of their parameters."""
        for value in list(self.env.values()):
            inner = value.constant
            if value.kind == "function" and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(k[0] is inner for k in self.done):
                self.inline(inner, [], {}, known=False)

    def parameters(self, function: FunctionNode | ast.Lambda, declared: dict[str, str], in_class: bool = False) -> dict[str, Value]:
        """A node's parameters: arrays, unless a spec, an annotation or a default says otherwise."""
        args = function.args
        positional = [*args.posonlyargs, *args.args]
        defaults = dict(zip([a.arg for a in positional[len(positional) - len(args.defaults) :]], args.defaults, strict=True))
        defaults.update({a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None})
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in getattr(function, "decorator_list", []))
        found: dict[str, Value] = {}
        for n, arg in enumerate([*positional, *args.kwonlyargs]):
            if n == 0 and in_class and not static and arg.arg in ("self", "cls"):
                found[arg.arg] = Value("object", memory=frozenset({"state self"}))
                continue
            value = of_spec(declared[arg.arg]) if arg.arg in declared else of_annotation(arg.annotation, self.names)
            if value is None:
                value = self.of_default(defaults.get(arg.arg))
            found[arg.arg] = replace(value, memory=frozenset({f"argument {arg.arg}"}))
        if args.vararg:
            found[args.vararg.arg] = Value("sequence", True, element=replace(array(True, memory=[f"argument {args.vararg.arg}"]), assumed=True))
        if args.kwarg:
            found[args.kwarg.arg] = Value("mapping", True, element=replace(array(True, memory=[f"argument {args.kwarg.arg}"]), assumed=True))
        return found

    def of_default(self, default: ast.expr | None) -> Value:
        if default is None:
            return replace(array(True), assumed=True)
        if isinstance(default, ast.Constant) and default.value is None:
            return Value("unknown", True)
        value = self.quietly(default)
        return replace(value, constant=None, items=None, element=UNKNOWN if value.kind == "sequence" else None)

    def quietly(self, node: ast.expr) -> Value:
        muted, self.muted = self.muted, True
        try:
            return self.visit(node)
        finally:
            self.muted = muted

    # Statements.

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, s: ast.stmt) -> None:
        method = getattr(self, f"on_{type(s).__name__}", None)
        if method is not None:
            method(s)
            return
        for child in ast.iter_child_nodes(s):
            if isinstance(child, ast.expr):
                self.visit(child)

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
            new = operated(_OPERATORS.get(type(s.op), ""), old, amount)
            if old.is_array and old.rank != 0 or "state" in " ".join(old.memory):
                self.write(s.target, old, amount)
                new = replace(old, traced=old.traced or amount.traced)
            if s.target.id in self.globals:
                self.effect(s.target, s.target.id)
            self.env[s.target.id] = new
        else:
            self.bind(s.target, amount)

    def on_Return(self, s: ast.Return) -> None:
        self.returns.append(self.visit(s.value) if s.value is not None else NONE)

    def on_If(self, s: ast.If) -> None:
        self.truth(s.test, self.visit(s.test))
        before = dict(self.env)
        self.block(s.body)
        then, self.env = self.env, before
        self.block(s.orelse)
        if not leaves(s.body):
            self.env = then if leaves(s.orelse) else _join(then, self.env)

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
                self.bind(item.optional_vars, replace(UNKNOWN, traced=value.traced))
        self.block(s.body)

    on_AsyncWith = on_With

    def on_Try(self, s: ast.Try) -> None:
        before = dict(self.env)
        self.block(s.body)
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
        if s.msg is not None:
            self.visit(s.msg)

    def on_Match(self, s: ast.Match) -> None:
        self.truth(s.subject, self.visit(s.subject))
        before = dict(self.env)
        after = dict(before)
        for case in s.cases:
            self.env = {**before, **{n.name: UNKNOWN for n in ast.walk(case.pattern) if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name}}
            self.block(case.body)
            after = _join(after, self.env)
        self.env = after

    def on_Delete(self, s: ast.Delete) -> None:
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.env.pop(target.id, None)

    def on_Global(self, s: ast.Global | ast.Nonlocal) -> None:
        self.globals |= set(s.names)

    on_Nonlocal = on_Global

    def on_FunctionDef(self, s: FunctionNode) -> None:
        self.env[s.name] = Value("function", constant=s)

    on_AsyncFunctionDef = on_FunctionDef

    def on_ClassDef(self, s: ast.ClassDef) -> None:
        self.env[s.name] = OBJECT

    def on_Raise(self, s: ast.Raise) -> None:
        """A message may show values: they never reach the graph."""

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
            owner = self.visit(target.value)
            self.visit(target.slice)
            self.write(target.value, owner, value)
            if owner.kind in ("sequence", "mapping") and isinstance(target.value, ast.Name):
                self.env[target.value.id] = Value(owner.kind, owner.traced or value.traced, element=join_all([element_of(owner), value]) if owner.element or owner.items else value, memory=owner.memory)
        elif isinstance(target, ast.Attribute):
            owner = self.visit(target.value)
            if owner.is_array and not owner.assumed:
                self.write(target.value, owner, value)
            elif any(m.startswith(("argument", "state")) for m in owner.memory):
                self.effect(target, ast.unparse(target))

    def unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        starred = any(isinstance(t, ast.Starred) for t in target.elts)
        if value.items is not None and len(value.items) == len(target.elts) and not starred:
            for t, v in zip(target.elts, value.items, strict=True):
                self.bind(t, v)
            return
        if value.is_array and value.traced and value.rank in (None, 1):
            self.scalar(target, "unpacking", value, 1)
        for t in target.elts:
            self.bind(t, element_of(value))

    def write(self, target: ast.expr, owner: Value, value: Value) -> None:
        """A write into a value: says whose memory it changes, and lets what is written flow into all that share it."""
        arguments = sorted(m.partition(" ")[2] for m in owner.memory if m.startswith("argument "))
        states = sorted(m.partition(" ")[2] for m in owner.memory if m.startswith("state "))
        if states and owner.kind != "text":
            self.effect(target, states[0])
        elif arguments and owner.kind != "number":
            self.say("mutation", target, f"the node writes into its argument `{arguments[0]}`")
        elif owner.is_array:
            own = target.id if isinstance(target, ast.Name) else None
            others = [n for n, v in self.env.items() if n != own and v.memory & owner.memory and v.kind in ("array", "sequence", "unknown")]
            if others and own is not None:
                self.say("aliasing", target, f"`{own}` shares memory with `{others[0]}`, which this write changes too")
        if value.traced and owner.memory:
            for name, held in self.env.items():
                if held.memory & owner.memory and not held.traced:
                    self.env[name] = replace(held, traced=True)

    def effect(self, node: ast.AST, what: str) -> None:
        self.say("side-effect", node, f"`{what}` is changed while tracing only: the graph does not change it", severity_="error")

    # Truth, iteration, scalars.

    def truth(self, node: ast.expr, value: Value) -> None:
        """Python asks a value whether it is true: a branch."""
        if isinstance(node, ast.BoolOp):
            for operand in node.values:
                self.truth(operand, self.quietly(operand))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.truth(node.operand, self.quietly(node.operand))
        elif value.is_data:
            if value.assumed and isinstance(node, ast.Name):
                self.say("data-dependent-branch", node, f"if `{node.id}` is an array, this branch is decided by its values",
                         f"say what it is if it is not: `{node.id}: bool`", "warning")  # fmt: skip
            else:
                self.say("data-dependent-branch", node)

    def iterated(self, node: ast.expr, value: Value) -> Value:
        """A Python loop over a value: its elements."""
        if value.is_array and value.traced and value.rank != 0:
            self.say("element-iteration", node)
        return element_of(value)

    def scalar(self, node: ast.AST, how: str, value: Value, taken: int) -> None:
        """An index of `taken` integers into an array of a known or unknown rank."""
        if value.rank is None:
            what = ast.unparse(node.value) if isinstance(node, ast.Subscript) else "the array"
            what = f"`{what}`" if len(what) <= 30 and what != "the array" else "the array"
            self.say("scalar-index", node, f"if {what} is {taken}-D, {how} gives a scalar that leaves the graph", severity_="warning")
        else:
            self.say("scalar-index", node, f"{how} gives a scalar, which leaves the graph")

    # Expressions.

    def visit(self, e: ast.expr) -> Value:
        method = getattr(self, f"visit_{type(e).__name__}", None)
        if method is not None:
            return method(e)
        values = [self.visit(c) for c in ast.iter_child_nodes(e) if isinstance(c, ast.expr)]
        return Value("unknown", any(v.traced for v in values))

    def visit_Constant(self, e: ast.Constant) -> Value:
        return of_constant(e.value)

    def visit_JoinedStr(self, e: ast.JoinedStr) -> Value:
        return TEXT

    def visit_Name(self, e: ast.Name) -> Value:
        if e.id in self.env:
            return self.env[e.id]
        if e.id in self.module_env:
            return self.module_env[e.id]
        return Value("unknown", memory=frozenset({f"state {e.id}"})) if self.names.is_global_variable(e) else UNKNOWN

    def visit_NamedExpr(self, e: ast.NamedExpr) -> Value:
        value = self.visit(e.value)
        self.bind(e.target, value)
        return value

    def visit_Lambda(self, e: ast.Lambda) -> Value:
        return Value("function", constant=e)

    def visit_Starred(self, e: ast.Starred) -> Value:
        return Value("sequence", element=self.iterated(e.value, self.visit(e.value)))

    def visit_Tuple(self, e: ast.Tuple | ast.List) -> Value:
        values = [self.visit(i) for i in e.elts]
        if any(isinstance(i, ast.Starred) for i in e.elts):
            return Value("sequence", any(v.traced for v in values), element=join_all(element_of(v) if v.kind == "sequence" else v for v in values))
        return sequence_of(values)

    visit_List = visit_Set = visit_Tuple

    def visit_Dict(self, e: ast.Dict) -> Value:
        values = [self.visit(v) for v in [*(k for k in e.keys if k is not None), *e.values]][sum(k is not None for k in e.keys) :]
        memory = frozenset().union(*(v.memory for v in values)) if values else frozenset()
        return Value("mapping", any(v.traced for v in values), element=join_all(values), memory=memory)

    def visit_BinOp(self, e: ast.BinOp) -> Value:
        left, right = self.visit(e.left), self.visit(e.right)
        if left.kind == "text" or (isinstance(e.op, ast.Mod) and left.kind == "text"):
            return TEXT
        if {left.kind, right.kind} <= {"sequence", "number"} and "sequence" in (left.kind, right.kind):
            return Value("sequence", left.traced or right.traced, element=join_all(element_of(v) for v in (left, right) if v.kind == "sequence"))
        if isinstance(e.op, ast.MatMult):
            rank = None if left.rank is None or right.rank is None else left.rank + right.rank - 2 if 1 in (left.rank, right.rank) else max(left.rank, right.rank)
            return self.made(e, replace(operated("", left, right), rank=rank))
        found = operated(_OPERATORS.get(type(e.op), ""), left, right)
        self.widened(e, found, left, right)
        return self.made(e, found)

    def widened(self, e: ast.AST, found: Value, *operands: Value) -> None:
        """A float32 array that meets a float64 one."""
        narrow = any(o.is_array and o.dtype == "float32" and o.traced for o in operands)
        if narrow and found.dtype == "float64":
            self.say("float64-promotion", e)

    def made(self, e: ast.AST, value: Value) -> Value:
        """A result with memory of its own; scalars have none."""
        if not value.is_array or value.rank == 0:
            return replace(value, memory=frozenset())
        return replace(value, memory=frozenset({f"{e.lineno}:{e.col_offset}:{e.end_col_offset}"}))  # type: ignore[attr-defined]

    def visit_UnaryOp(self, e: ast.UnaryOp) -> Value:
        operand = self.visit(e.operand)
        if isinstance(e.op, ast.Not):
            self.truth(e.operand, operand)
            return Value("number", dtype="bool")
        if operand.kind == "number" and isinstance(operand.constant, (int, float)) and isinstance(e.op, ast.USub):
            return replace(operand, constant=-operand.constant)
        return self.made(e, operated("", operand))

    def visit_BoolOp(self, e: ast.BoolOp) -> Value:
        values = [self.visit(v) for v in e.values]
        for node, value in zip(e.values[:-1], values[:-1], strict=True):
            self.truth(node, value)
        return join_all(values)

    def visit_Compare(self, e: ast.Compare) -> Value:
        operands = [self.visit(e.left), *map(self.visit, e.comparators)]
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in e.ops) or any(o.kind in ("text", "none") for o in operands):
            return Value("number", dtype="bool")
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in e.ops):
            return Value("number", any(o.is_data for o in operands), dtype="bool")
        found = operated("compare", *operands)
        if len(e.ops) > 1 and found.is_data:
            self.say("data-dependent-branch", e, "a chained comparison asks the first part for its truth", "write `(a < x) & (x < b)`")
            return Value("number", dtype="bool")
        return self.made(e, found)

    def visit_IfExp(self, e: ast.IfExp) -> Value:
        self.truth(e.test, self.visit(e.test))
        return join(self.visit(e.body), self.visit(e.orelse))

    def visit_ListComp(self, e: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        outer = dict(self.env)
        for generator in e.generators:
            self.bind(generator.target, self.iterated(generator.iter, self.visit(generator.iter)))
            for test in generator.ifs:
                self.truth(test, self.visit(test))
        if isinstance(e, ast.DictComp):
            self.visit(e.key)
            value = self.visit(e.value)
        else:
            value = self.visit(e.elt)
        self.env = outer
        return Value("mapping" if isinstance(e, ast.DictComp) else "sequence", value.traced, element=value, memory=value.memory)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_Attribute(self, e: ast.Attribute) -> Value:
        qualified = self.names.qualified(e)
        if qualified is not None and qualified.startswith(("numpy.", "math.")):
            return replace(NUMBER, dtype="float") if e.attr in ("pi", "e", "inf", "nan", "euler_gamma", "tau") else NONE if e.attr == "newaxis" else OBJECT
        owner = self.visit(e.value)
        if owner.is_array:
            found = self.array_attribute(e, owner)
            if found is not None:
                return found
            if owner.assumed and isinstance(e.value, ast.Name):  # not an array after all
                self.env[e.value.id] = Value("object", True, memory=owner.memory)
        states = {m for m in owner.memory if m.startswith("state ")}
        return Value("unknown", owner.traced and owner.kind != "object", memory=frozenset({f"state {ast.unparse(e)}"}) if states else owner.memory)

    def array_attribute(self, e: ast.Attribute, owner: Value) -> Value | None:
        if e.attr == "shape":
            return Value("sequence", items=(NUMBER,) * owner.rank) if owner.rank is not None else Value("sequence", element=NUMBER)
        if e.attr in ("ndim", "size", "itemsize", "nbytes"):
            return replace(NUMBER, dtype="int")
        if e.attr in ("T", "mT", "real", "imag", "flat"):
            return replace(owner, rank=1 if e.attr == "flat" else owner.rank, assumed=False, dtype=owner.dtype if e.attr in ("T", "mT") else None)
        if e.attr == "dtype":
            return OBJECT
        refusal = self.table.refusals.get(f"numpy.ndarray.{e.attr}")
        if refusal is not None:
            self.say(refusal.finding, e, f"`.{e.attr}`: {refusal.reason}", refusal.hint)
            return UNKNOWN
        return OBJECT if self.table.is_method(e.attr) else None

    def visit_Subscript(self, e: ast.Subscript) -> Value:
        owner, key = self.visit(e.value), self.visit(e.slice)
        if isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, str) and owner.kind in ("array", "mapping", "unknown", "object"):
            if owner.is_array and owner.assumed and isinstance(e.value, ast.Name):  # a dict of arrays
                self.env[e.value.id] = owner = Value("mapping", True, element=array(True, memory=owner.memory), memory=owner.memory)
            return element_of(owner) if owner.kind == "mapping" else Value("unknown", owner.traced, memory=owner.memory)
        if owner.kind in ("sequence", "mapping"):
            if isinstance(e.slice, ast.Slice):
                return replace(owner, items=None, element=element_of(owner))
            if key.is_data:
                self.say("python-value", e.slice, "an array value picks an item of a Python container", "stack the items into an array first")
            index = key.constant
            if owner.items is not None and isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
                return owner.items[index]
            return element_of(owner)
        if owner.is_array:
            return self.indexed(e, owner)
        return Value("unknown", owner.traced or key.traced, memory=owner.memory)

    def visit_Slice(self, e: ast.Slice) -> Value:
        for bound in (e.lower, e.upper, e.step):
            if bound is not None and self.visit(bound).is_data:
                self.say("data-dependent-shape", bound, "a slice bound that is an array value", "use a mask: np.where(np.arange(n) < k, x, 0)")
        return OBJECT

    def indexed(self, e: ast.Subscript, owner: Value) -> Value:
        """An array indexed for reading: views for slices and integers, copies for index arrays, a shape from values for masks."""
        parts = list(e.slice.elts) if isinstance(e.slice, ast.Tuple) else [e.slice]
        values = [self.quietly(p) for p in parts]
        integers = gone = added = 0
        whole, advanced = True, False
        for part, value in zip(parts, values, strict=True):
            if isinstance(part, ast.Slice):
                gone, whole = gone, False
                if part.step is not None and isinstance(step := self.quietly(part.step).constant, int) and step < 0:
                    self.say("reversed-slice", e)
            elif isinstance(part, ast.Constant) and part.value is Ellipsis:
                whole = False
            elif value.kind == "none":
                added += 1
            elif value.is_array and value.rank != 0 or value.kind in ("sequence", "unknown"):
                advanced = advanced or value.kind != "unknown"
                whole = False
                if value.is_array and value.dtype == "bool" and value.traced and value.rank != 0:
                    self.say("data-dependent-shape", e, "a mask picks as many elements as are true: the shape depends on array values",
                             "keep the shape: np.where(mask, x, 0)")  # fmt: skip
                gone = gone if value.kind == "array" else -100
            else:
                integers += 1
        traced = owner.traced or any(v.traced for v in values)
        unsure = gone < 0 or advanced
        if whole and integers and not added and owner.traced and not unsure and owner.rank in (None, integers):
            self.scalar(e, f"`{_short(e)}`", owner, integers)
        rank = None if owner.rank is None or unsure else max(owner.rank - integers + added, 0)
        if advanced:
            return self.made(e, array(traced, None, owner.dtype))
        return Value("array", traced, rank, owner.dtype, memory=frozenset() if rank == 0 and whole else owner.memory)


def _short(e: ast.expr) -> str:
    text = ast.unparse(e)
    return text if len(text) <= 30 else "this index"


def _join(a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    return {k: join(a[k], b[k]) if k in a and k in b else a[k] if k in a else b[k] for k in {*a, *b}}
