"""The codemod for one function: NumPy's operators, indexing, calls and writes, as torch says them.

First the facts (`facts.infer`), then the text, bottom-up: each expression is rendered from its rendered parts. Where the
facts show that torch's own spelling means what NumPy means, that is what comes out; where they don't, the rule is called (`npx`) or,
for a value that may not even be an array, Python's operator made aware of tensors (`ops`). What has no meaning in torch is a finding,
and a function with such a finding is not rewritten at all.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import plain
from .facts import COMPARISONS, OPERATORS, UNKNOWN, Fact, Inference, key_parts
from .findings import Finding, make_finding
from .keeping import kept_paths
from .results import call_fact
from .text import Source, splice, split_operator, sub_expressions

_SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip

_ATTRIBUTES = ("T", "mT", "size", "dtype", "real", "imag", "flat", "itemsize", "nbytes", "strides", "base", "flags", "data", "ctypes")
"""Array attributes that a tensor lacks or has with another meaning."""


class Rewriter:
    """Rewrites one function (with the functions inside it) of a module.

    resolve     what a name means that the function does not bind itself
    table       the rules and refusals, by NumPy name
    imported    names that the new text uses are added here ("torch", "npx", "ops")
    rule_modules  modules with rules of the project's own that the new text rests on
    hands_out   True where what the function returns goes to rewritten code, which may write into it: whether it is a view matters
    """

    def __init__(self, source: Source, resolve: Callable[[ast.Name], Fact], table: Any, path: str = "", exact: bool = False) -> None:
        self.source, self.resolve, self.table, self.path, self.exact = source, resolve, table, path, exact
        self.findings: list[Finding] = []
        self.imported: set[str] = set()
        self.rule_modules: set[str] = set()
        self.rendered: dict[ast.AST, str] = {}
        self.facts: dict[ast.AST, Fact] = {}
        self.pieces: list[tuple[int, int, str]] = []
        self.temporaries = 0
        self.permitted: set[ast.AST] = set()
        self.npx_name, self.ops_name, self.torch_name = "npx", "ops", "torch"
        self.hands_out = False
        self.keeps: set[str] = set()

    def rewrite(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, parameters: dict[str, Fact],
                inference: Inference | None = None) -> list[tuple[int, int, str]]:  # fmt: skip
        """The edits that turn `node` into torch; empty where nothing is to do or a finding forbids it.

        `inference` is the walk over the node, where that has been done already."""
        if inference is None:
            inference = Inference(self.resolve, self.call_fact)
            inference.function(node, parameters)
        self.facts = inference.facts
        inside = list(ast.walk(node))
        given_out = self.hands_out and not all(_own(f) for f in inference.returns)
        self.mutates = given_out or any(self._writes(n) for n in inside)
        self.flips = any(self._flips(n) for n in inside)
        inner = {a.arg for n in inside if isinstance(n, ast.arguments) for a in ast.walk(n) if isinstance(a, ast.arg)}
        outside = {name for n in inside if isinstance(n, ast.Global) for name in n.names}
        stored = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.own_names = inference.locals | inner | (stored - outside)
        self.filled = self._filled_names(inside)
        self.read_names = {n.id for n in inside if isinstance(n, ast.Name)}
        self.stored_names = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.consumed = {c for n in inside for c in _consumed_by(n)}
        bound = [(t.id, s.value) for s in inside if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
        other = {
            n.id
            for s in inside
            if not isinstance(s, ast.Assign)
            for n in ast.iter_child_nodes(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self.made_here = {n for n, _ in bound if all(self.fact(v).fresh for m, v in bound if m == n)} - other
        if isinstance(node, ast.Lambda):
            self.piece(node.body, self.text(node.body))
        else:
            self.block(node.body)
        self.keeps = kept_paths(node, self.fact)
        return [] if any(f.severity == "error" for f in self.findings) else self.pieces

    def call_fact(self, callee: Fact, call: ast.Call, inference: Inference) -> Fact:
        """The fact of a call's result."""
        return call_fact(callee, call, inference, self.table)

    def is_pure(self, function: ast.expr) -> bool:
        """True for a function of the module that is known to write into nothing and to hand out no flipped views."""
        return False

    @property
    def mirrored(self) -> bool:
        """Copies stand for NumPy's views here, and something is written: they must follow each other at run time."""
        return self.mutates and self.flips

    # Statements.

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, s: ast.stmt) -> None:
        if isinstance(s, ast.AugAssign):
            self.augmented(s)
        elif (
            isinstance(s, ast.Assign)
            and self._uninitialised(s.value)
            and isinstance(s.targets[0], ast.Name)
            and s.targets[0].id in self.filled
        ):
            self.permitted.add(s.value)
            self.piece(s.value, self.text(s.value))
        elif isinstance(s, ast.Assign) and any(self._item_targets(t) for t in s.targets):
            self.item_assignment(s)
        elif isinstance(s, (ast.Assign, ast.AnnAssign)) and self._attribute_target(s):
            self.attribute_assignment(s)
        elif isinstance(s, ast.For):
            self.piece(s.iter, self.iterated(s.iter))
            self.block(s.body)
            self.block(s.orelse)
        elif isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for default in [*s.args.defaults, *filter(None, s.args.kw_defaults)]:
                self.piece(default, self.text(default))
            self.block(s.body)
        elif isinstance(s, (ast.Global, ast.Nonlocal)):
            self.outer_names(s)
        elif isinstance(s, ast.ClassDef):
            self.refuse("not-rewritten", s, f"the class `{s.name}` is defined inside a node", "define it outside")
        elif isinstance(s, (ast.Import, ast.ImportFrom)):
            return
        elif isinstance(s, ast.Try) and s.handlers:
            self.guarded(s)
        elif (
            isinstance(s, ast.Assign)
            and self.mutates
            and self.fact(s.value).may_be_tensor
            and any(isinstance(t, (ast.Tuple, ast.List)) for t in s.targets)
        ):
            self.piece(s.value, self.ops("iterate", self.text(s.value)))
        elif isinstance(s, ast.AnnAssign):
            if s.value is not None:
                self.piece(s.value, self.text(s.value))
        else:
            for e in sub_expressions(s):
                self.piece(e, self.text(e))
            for child in ast.iter_child_nodes(s):
                if isinstance(child, ast.stmt):
                    self.statement(child)
                elif isinstance(child, (ast.ExceptHandler, getattr(ast, "match_case", ast.ExceptHandler))):
                    for inner in ast.iter_child_nodes(child):
                        if isinstance(inner, ast.stmt):
                            self.statement(inner)

    def guarded(self, s: ast.Try) -> None:
        """In a `try` the errors have to be NumPy's own, so the rules are called, which raise them."""
        outside, self.exact = self.exact, True
        self.block(s.body)
        self.exact = outside
        for h in s.handlers:
            if h.type is not None:
                self.piece(h.type, self.text(h.type))
            self.block(h.body)
        self.block(s.orelse)
        self.block(s.finalbody)

    def outer_names(self, s: ast.Global | ast.Nonlocal) -> None:
        """A variable of the module, or of a function around the node, that the node binds anew."""
        if isinstance(s, ast.Nonlocal) and set(s.names) <= self.own_names:
            return
        bound = [n for n in s.names if n in self.stored_names]
        if bound:
            self.refuse(
                "side-effect",
                s,
                f"`{bound[0]}` is not the function's own: binding it changes what the next call sees",
                "take it as an argument and return it",
            )

    def _uninitialised(self, e: ast.expr) -> bool:
        """`np.empty` and its kin hand out whatever the memory held."""
        return isinstance(e, ast.Call) and self.fact(e.func).value in ("numpy.empty", "numpy.empty_like")

    def piece(self, node: ast.AST, text: str) -> None:
        start, end = self.source.span(node)
        if text != self.source.slice(start, end):
            self.pieces.append((start, end, text))

    def iterated(self, e: ast.expr) -> str:
        text, fact = self.text(e), self.fact(e)
        if fact.kind == "array" and fact.rank == 1 and self.mutates:
            return self.ops("iterate", text)
        return (
            self.ops("iterate", text)
            if fact.kind in ("unknown", "tensor") and self.mutates and not _is_call_to(e, "range", "ops.")
            else text
        )

    def augmented(self, s: ast.AugAssign) -> None:
        ufunc, target = OPERATORS[type(s.op)], s.target
        value, fact = self.text(s.value), self.fact(s.target)
        operand = self.fact(s.value)
        if not fact.may_be_tensor and not operand.may_be_tensor:
            self.piece(s.value, value)
            return
        if isinstance(target, ast.Name) and target.id not in self.own_names and fact.may_be_tensor:
            self.refuse("side-effect", target, f"`{target.id}` is not the function's own: writing to it changes what the next call sees")
            return
        simple = not self.exact and plain.operator(ufunc, (fact, operand), (s.target, s.value)) and not self.mirrored
        harmless = operand.kind == "number" or (operand.fresh and not self._is_element(s.value))
        harmless = harmless or (isinstance(target, ast.Name) and self.apart(target.id, s.value))
        if isinstance(target, ast.Name):
            if fact.kind == "array" and simple and harmless and plain.keeps(ufunc, fact, operand):
                self.piece(s.value, value)
            elif fact.kind == "scalar" and simple:
                self.piece(s, f"{target.id} = {target.id} {_SYMBOLS[type(s.op)]} {_grouped(s.value, value)}")
            else:
                self.piece(s, f"{target.id} = {self.ops('update', target.id, self.quoted(ufunc), value)}")
        elif isinstance(target, ast.Subscript):
            self.owned(target)
            container = self.fact(target.value)
            if (
                container.kind == "array"
                and simple
                and harmless
                and plain.key(target.slice, self.facts)
                and plain.keeps(ufunc, container, operand)
            ):
                self.piece(s.value, value)
                self.piece(target, self.spliced(target))
            elif container.may_be_tensor or operand.may_be_tensor:
                owner, key = self.subscript(target)
                self.piece(s, self.ops("update_item", owner, key, self.quoted(ufunc), value))
        elif isinstance(target, ast.Attribute):
            self.owned(target)
            place = self.spliced(target)
            self.piece(s, f"{place} = {self.ops('update', place, self.quoted(ufunc), value)}")

    def _is_element(self, e: ast.expr) -> bool:
        """An element of an array by its index: a copy in NumPy, in torch a view that an operation in place must not meet."""
        if isinstance(e, ast.IfExp):
            return self._is_element(e.body) or self._is_element(e.orelse)
        return isinstance(e, ast.NamedExpr) or (isinstance(e, ast.Subscript) and self.fact(e).kind != "array")

    def _item_targets(self, t: ast.expr) -> bool:
        return any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for n in ast.walk(t))

    def item_assignment(self, s: ast.Assign) -> None:
        """`a[i] = v`, also among several targets: the value is computed once, then stored target by target."""
        value = self.text(s.value)
        if len(s.targets) == 1 and isinstance(s.targets[0], ast.Subscript):
            target = s.targets[0]
            self.owned(target)
            if self._plain_store(target, s.value):
                self.piece(target, self.spliced(target))
                self.piece(s.value, value)
            else:
                owner, key = self.subscript(target)
                self.piece(s, self.ops("setitem", owner, key, value))
            return
        stores: list[str] = []
        targets = [self._with_temporaries(t, stores) for t in s.targets]
        self.piece(s, "; ".join([f"{' = '.join(targets)} = {value}", *stores]))

    def _with_temporaries(self, t: ast.expr, stores: list[str]) -> str:
        if isinstance(t, ast.Subscript):
            self.owned(t)
            self.temporaries += 1
            name = f"_value{self.temporaries}"
            owner, key = self.subscript(t)
            stores.append(self.ops("setitem", owner, key, name))
            return name
        if isinstance(t, (ast.Tuple, ast.List)):
            inner = ", ".join(self._with_temporaries(e, stores) for e in t.elts)
            return f"({inner}{',' if len(t.elts) == 1 else ''})"
        if isinstance(t, ast.Starred):
            return "*" + self._with_temporaries(t.value, stores)
        return self.spliced(t)

    def _plain_store(self, target: ast.Subscript, value: ast.expr) -> bool:
        owner, fact = self.fact(target.value), self.fact(value)
        if not owner.may_be_tensor or (isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)):
            return True
        if self.exact or self.mirrored or owner.kind != "array" or not plain.key(target.slice, self.facts):
            return False
        if fact.kind == "number":
            return plain.number_fits(owner, fact)
        apart = fact.fresh or fact.kind == "scalar" or (isinstance(target.value, ast.Name) and self.apart(target.value.id, value))
        return fact.is_tensor and apart and plain.stores(owner, fact)

    def apart(self, name: str, value: ast.expr) -> bool:
        """True where an array this function has made itself cannot share memory with a value: that is an argument as it came."""
        return name in self.made_here and isinstance(value, ast.Name) and value.id in self.own_names and value.id not in self.stored_names

    def _attribute_target(self, s: ast.Assign | ast.AnnAssign) -> bool:
        targets = s.targets if isinstance(s, ast.Assign) else [s.target]
        return any(isinstance(t, ast.Attribute) for t in targets)

    def attribute_assignment(self, s: ast.Assign | ast.AnnAssign) -> None:
        targets = s.targets if isinstance(s, ast.Assign) else [s.target]
        for t in targets:
            if not isinstance(t, ast.Attribute):
                continue
            owner = self.fact(t.value)
            if (
                owner.may_be_tensor
                and t.attr in ("shape", "dtype", "real", "imag", "flat", "T", "strides")
                and s.value is not None
                and len(targets) == 1
            ):
                self.piece(s, self.ops("set_attribute", self.text(t.value), self.quoted(t.attr), self.text(s.value)))
                return
            self.owned(t)
        if s.value is not None:
            self.piece(s.value, self.text(s.value))

    def owned(self, target: ast.expr) -> None:
        """Writing into what is not the function's own changes what the next call sees: no graph does that."""
        base: ast.AST = target
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        if isinstance(base, ast.Name) and base.id not in self.own_names:
            self.refuse("side-effect", target, f"`{base.id}` is not the function's own: writing to it changes what the next call sees")

    # Expressions.

    def fact(self, node: ast.AST) -> Fact:
        return self.facts.get(node, UNKNOWN)

    def text(self, node: ast.expr) -> str:
        """The new text of an expression."""
        if node not in self.rendered:
            method = getattr(self, f"render_{type(node).__name__}", None)
            new = method(node) if method is not None else None
            self.rendered[node] = self.spliced(node) if new is None else new
        return self.rendered[node]

    def spliced(self, node: ast.expr) -> str:
        """The old text with the new text of its parts in it."""
        start, end = self.source.span(node)
        return splice(self.source, start, end, self._parts(node, start, end))

    def _parts(self, node: ast.AST, start: int, end: int) -> list[tuple[int, int, str]]:
        pieces = []
        for child in sub_expressions(node):
            if isinstance(child, (ast.JoinedStr, ast.FormattedValue)):
                begin, stop = self.source.span(child)
            else:
                begin, stop = self.source.span(child)
            new = self.text(child)
            if new != self.source.slice(begin, stop):
                pieces.append((begin, stop, new))
        return pieces

    def ops(self, function: str, *args: str) -> str:
        self.imported.add("ops")
        return f"{self.ops_name}.{function}({', '.join(args)})"

    quote = '"'

    def quoted(self, name: str) -> str:
        """A name as a string literal; inside an f-string in the quotes that it does not use."""
        return f"{self.quote}{name}{self.quote}"

    def torch(self) -> str:
        self.imported.add("torch")
        return self.torch_name

    def npx(self, name: str) -> str:
        self.imported.add("npx")
        return f"{self.npx_name}.{name.removeprefix('numpy.')}"

    def render_BinOp(self, e: ast.BinOp) -> str | None:
        a, b = self.fact(e.left), self.fact(e.right)
        if "either" in (a.kind, b.kind) or ("torch" in (a.kind, b.kind) and (a.is_tensor or b.is_tensor)):
            return self.either(OPERATORS[type(e.op)], e.left, e.right)
        formats = isinstance(e.op, ast.Mod) and a.kind == "text" and b.kind not in ("number", "text")
        if not (a.may_be_tensor or b.may_be_tensor or formats) or "torch" in (a.kind, b.kind):
            return None
        if isinstance(e.op, ast.Mod) and a.kind == "text":
            start, end = self.source.span(e)
            r0, r1 = self.source.span(e.right)
            return splice(
                self.source,
                start,
                end,
                [p for p in self._parts(e, start, end) if p[0] < r0] + [(r0, r1, self.ops("python", self.text(e.right)))],
            )
        if "text" in (a.kind, b.kind):
            return None
        ufunc = OPERATORS[type(e.op)]
        if not self.exact and plain.operator(ufunc, (a, b), (e.left, e.right)):
            return None
        return self._operator_call(e, e.left, e.right, _SYMBOLS[type(e.op)], self._function(ufunc, a, b))

    def either(self, ufunc: str, *operands: ast.expr) -> str:
        """An operator on what may be an array or a torch tensor: right only where both libraries agree."""
        return self.ops("either", self.quoted(ufunc), *map(self.text, operands))

    def _function(self, ufunc: str, *facts: Fact) -> str:
        if any(f.is_tensor for f in facts):
            return self.npx(ufunc)
        self.imported.add("ops")
        return f"{self.ops_name}.{ufunc}"

    def _operator_call(self, whole: ast.expr, left: ast.expr, right: ast.expr, symbol: str, function: str) -> str:
        """`left + right` as `function(left, right)`, with whatever stands between them kept."""
        (start, end), (l0, l1), (r0, r1) = map(self.source.span, (whole, left, right))
        before, after = split_operator(self.source.slice(l1, r0), symbol)
        tail = self.source.slice(r1, end)
        lead = self.source.slice(start, l0)
        if lead.strip() == "(" and before.strip() == ")":
            lead = before = ""
        if after.strip() == "(" and tail.strip() == ")":
            after = tail = ""
        if not before.strip() and "\n" not in before and "\\" not in before:
            before = ""
        if not after.strip() and "\n" not in after and "\\" not in after:
            after = " "
        return f"{function}({lead}{self.text(left)}{before},{after}{self.text(right)}{tail})"

    def render_UnaryOp(self, e: ast.UnaryOp) -> str | None:
        a = self.fact(e.operand)
        if a.kind == "either" and not isinstance(e.op, ast.Not):
            return self.either(OPERATORS[type(e.op)], e.operand)
        if isinstance(e.op, ast.Not) or not a.may_be_tensor:
            return None
        ufunc = OPERATORS[type(e.op)]
        if not self.exact and plain.unary(ufunc, a, self.mutates):
            return None
        start, end = self.source.span(e)
        inner = splice(self.source, start + 1, end, self._parts(e, start, end)).strip()
        return f"{self._function(ufunc, a)}({inner})"

    def render_Compare(self, e: ast.Compare) -> str | None:
        operands = [e.left, *e.comparators]
        facts = [self.fact(o) for o in operands]
        if any(f.kind in ("torch", "either") for f in facts):
            known = len(e.ops) == 1 and type(e.ops[0]) in OPERATORS and any(f.kind == "either" or f.is_tensor for f in facts)
            return self.either(OPERATORS[type(e.ops[0])], *operands) if known else None
        if not any(f.may_be_tensor for f in facts) or all(isinstance(op, (ast.Is, ast.IsNot)) for op in e.ops):
            return None
        if len(e.ops) == 1 and isinstance(e.ops[0], (ast.In, ast.NotIn)):
            if not facts[1].may_be_tensor and facts[1].kind != "sequence":
                return None
            found = self.ops("contains", self.text(operands[1]), self.text(operands[0]))
            return f"(not {found})" if isinstance(e.ops[0], ast.NotIn) else found
        names = [OPERATORS.get(type(op)) for op in e.ops]
        pairs = list(zip(names, zip(facts, facts[1:], strict=False), zip(operands, operands[1:], strict=False), strict=False))
        if all(
            n is not None and not self.exact and (plain.operator(n, fs, ns) or not any(f.may_be_tensor for f in fs)) for n, fs, ns in pairs
        ):
            return None
        if any("text" in (f.kind for f in fs) or "none" in (f.kind for f in fs) for _, fs, _ in pairs) and not any(
            f.is_tensor for f in facts
        ):
            return None
        if len(e.ops) > 1:
            if any(f.may_be_tensor for f in facts) and all(n in COMPARISONS for n in names):
                return self._chain(e, operands, names)
            return None
        return self._operator_call(e, operands[0], operands[1], _SYMBOLS[type(e.ops[0])], self._function(str(names[0]), *facts))

    def _chain(self, e: ast.Compare, operands: list[ast.expr], names: list[str | None]) -> str:
        """`a < b < c` is `a < b and b < c`, the middle evaluated once."""
        links = []
        for i, name in enumerate(names):
            left = self.text(operands[i])
            if i > 0 and not isinstance(operands[i], (ast.Name, ast.Constant)):
                left = f"_value{self.temporaries}"
            right = self.text(operands[i + 1])
            if i + 1 < len(names) and not isinstance(operands[i + 1], (ast.Name, ast.Constant)):
                self.temporaries += 1
                right = f"(_value{self.temporaries} := {right})"
            links.append(f"{self._function(str(name), self.fact(operands[i]), self.fact(operands[i + 1]))}({left}, {right})")
        return f"({' and '.join(links)})"

    def subscript(self, e: ast.Subscript) -> tuple[str, str]:
        """The texts of the indexed value and of its index as a value."""
        (start, end), (v0, v1), (k0, _) = map(self.source.span, (e, e.value, e.slice))
        bracket = v1 + self.source.slice(v1, k0).rindex("[") if not isinstance(e.slice, ast.Tuple) else v1 + self._bracket(v1)
        lead, closing = self.source.slice(start, v0), self.source.slice(v1, bracket).rstrip()
        owner = self.text(e.value) if (lead.strip(), closing.strip()) == ("(", ")") else lead + self.text(e.value) + closing
        inside = splice(self.source, bracket, end, [p for p in self._parts(e, start, end) if p[0] >= bracket])
        if isinstance(e.slice, (ast.Slice, ast.Tuple)) or "\n" in inside:
            self.imported.add("ops")
            return owner, f"{self.ops_name}.key{inside}"
        return owner, inside[1:-1].strip()

    def _bracket(self, after: int) -> int:
        """Offset of the opening bracket after a value: past closing parentheses and comments."""
        rest = self.source.bytes[after:].decode("utf-8", "replace")
        return len(split_operator(rest, "[")[0].encode("utf-8"))

    def render_Subscript(self, e: ast.Subscript) -> str | None:
        owner = self.fact(e.value)
        if not isinstance(e.ctx, ast.Load) or not (owner.may_be_tensor or self._tensor_key(e)) or owner.kind == "name":
            return None
        if isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, str):
            return None
        if owner.is_tensor and not self.exact and not self.mirrored:
            flipped = plain.flip(e.slice, self.facts)
            if flipped is not None and owner.kind == "array" and owner.dtype in plain.COMPUTED:
                return f"{self.torch()}.flip({self.text(e.value)}, ({', '.join(map(str, flipped))},))"
            if (
                owner.kind == "array"
                and plain.key(e.slice, self.facts)
                and not (self.mutates and self.fact(e).kind != "array" and e not in self.consumed)
            ):
                return None
        name, key = self.subscript(e)
        return self.ops("getitem", name, key)

    def _tensor_key(self, e: ast.Subscript) -> bool:
        return any(self.fact(p).is_tensor for p in key_parts(e.slice))

    def render_Attribute(self, e: ast.Attribute) -> str | None:
        owner, found = self.fact(e.value), self.fact(e)
        if not isinstance(e.ctx, ast.Load):
            return None
        if found.kind == "none" and owner.kind == "name":
            return "None"  # np.newaxis
        if found.kind == "number" and owner.kind == "name" and owner.value == "numpy" and e.attr in ("pi", "e", "inf", "nan"):
            return f"{self.torch()}.{e.attr}"
        if found.kind == "name" and str(found.value).startswith("numpy."):
            return self.numpy_name(e, str(found.value))
        if not owner.may_be_tensor:
            return None
        if e.attr in _ATTRIBUTES:
            if e.attr == "size" and owner.is_tensor:
                return f"{_grouped_owner(e.value, self.text(e.value))}.numel()"
            if e.attr == "T" and owner.kind == "array" and owner.rank == 2:
                return None
            return self.ops("attribute", self.text(e.value), self.quoted(e.attr))
        if owner.is_tensor and e.attr not in ("shape", "ndim") and f"numpy.ndarray.{e.attr}" not in self.table.rules:
            self.unmapped(e, f"numpy.ndarray.{e.attr}", f"ndarray.{e.attr}")
        return None

    def numpy_name(self, e: ast.expr, name: str) -> str | None:
        """A NumPy name that is not called here: a dtype or a constant stays NumPy's, a function becomes its rule."""
        if name in self.table.rules:
            return self.npx(name)
        base, _, last = name.rpartition(".")
        if base in self.table.rules and last in ("reduce", "accumulate", "reduceat", "outer", "at"):
            return self.npx(name)
        if name in self.table.refusals:
            self.unmapped(e, name, self.source.of(e))
        return None

    def render_Name(self, e: ast.Name) -> str | None:
        found = self.fact(e)
        if isinstance(e.ctx, ast.Load) and found.kind == "array" and found.value == "constant":
            return f"{self.torch()}.as_tensor({e.id})"  # an array of the module's
        if isinstance(e.ctx, ast.Load) and found.kind == "name" and str(found.value).startswith("numpy."):
            return self.numpy_name(e, str(found.value))
        return None

    def render_FormattedValue(self, e: ast.FormattedValue) -> str | None:
        return None

    def render_JoinedStr(self, e: ast.JoinedStr) -> str | None:
        """Text shows NumPy's values, so what may be a tensor is shown as NumPy would hold it."""
        pieces: list[tuple[int, int, str]] = []
        opening = self.source.of(e).lstrip("fFrRbBuU")[:1]
        self.quote = "'" if opening == '"' else '"'
        try:
            return self._formatted(e, pieces)
        finally:
            self.quote = '"'

    def _formatted(self, e: ast.JoinedStr, pieces: list[tuple[int, int, str]]) -> str | None:
        for part in ast.walk(e):
            if not isinstance(part, ast.FormattedValue):
                continue
            fact = self.fact(part.value)
            text = self.text(part.value)
            if fact.kind in ("number", "text", "none") and text == self.source.of(part.value):
                continue
            start, end = self.source.span(part.value)
            if not _same_expression(self.source.slice(start, end), part.value):
                self.refuse("not-rewritten", e, "the place of an expression inside this f-string is not known on this Python")
                return None
            new = text if fact.kind in ("number", "text", "none", "other") else self.ops("python", text)
            fitting = _within_quotes(new, self.source.of(e))
            if fitting is None:
                self.refuse("not-rewritten", e, "what is formatted cannot be written inside this f-string", "give it a name first")
                return None
            pieces.append((start, end, fitting))
        whole = self.source.span(e)
        inner = [p for p in pieces if not any(o is not p and o[0] <= p[0] and p[1] <= o[1] for o in pieces)]
        return splice(self.source, *whole, inner) if inner else None

    def render_Call(self, e: ast.Call) -> str | None:
        from .rewriting_calls import render_call

        return render_call(self, e)

    def render_Starred(self, e: ast.Starred) -> str | None:
        """`[*x]`, `f(*x)`: the elements of an array are copies in NumPy, views in torch."""
        if not (isinstance(e.ctx, ast.Load) and self.mutates and self.fact(e.value).may_be_tensor):
            return None
        return "*" + self.ops("iterate", self.text(e.value))

    def render_Lambda(self, e: ast.Lambda) -> str | None:
        return None

    def render_ListComp(self, e: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> str | None:
        start, end = self.source.span(e)
        pieces = self._parts(e, start, end)
        for g in e.generators:
            begin, stop = self.source.span(g.iter)
            pieces = [p for p in pieces if p[0] != begin or p[1] != stop]
            pieces.append((begin, stop, self.iterated(g.iter)))
        return splice(self.source, start, end, pieces)

    render_GeneratorExp = render_SetComp = render_DictComp = render_ListComp

    # Findings.

    def refuse(self, kind: str, node: ast.AST, message: str, hint: str = "", severity: str = "error") -> None:
        line, end_line = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        made = make_finding(
            kind, path=self.path, line=line, column=self.source.column(line, node.col_offset),  # type: ignore[attr-defined]
            end_line=end_line, end_column=self.source.column(end_line, node.end_col_offset), message=message, hint=hint, severity=severity,  # type: ignore[attr-defined]
        )  # fmt: skip
        if made not in self.findings:
            self.findings.append(made)

    def unmapped(self, node: ast.AST, name: str, shown: str) -> None:
        refusal = self.table.refusals.get(name)
        if name.startswith("numpy.random."):
            self.refuse("random", node, f"`{shown}` draws random numbers: a graph would draw others", "pass the noise in as an input")
        elif refusal is not None:
            self.refuse(refusal.finding, node, f"`{shown}`: {refusal.reason}", refusal.hint)
        else:
            self.refuse(
                "unmapped-function",
                node,
                f"`{shown}` has no torch rule",
                "compute it from functions that have one, or split the node around it",
            )

    def _writes(self, n: ast.AST) -> bool:
        if isinstance(n, ast.AugAssign):
            return self.fact(n.target).may_be_tensor and self.fact(n.target).kind != "scalar"
        if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, (ast.Store, ast.Del)):
            return self.fact(n.value).may_be_tensor
        if isinstance(n, ast.Call):
            if any(k.arg == "out" or (k.arg == "copy" and not isinstance(k.value, ast.Constant)) for k in n.keywords):
                return True
            if any(k.arg == "copy" and isinstance(k.value, ast.Constant) and k.value.value is False for k in n.keywords):
                return True
            callee = self.fact(n.func)
            name = str(callee.value) if callee.kind == "name" else ""
            if isinstance(n.func, ast.Attribute) and not name:
                name = f"numpy.ndarray.{n.func.attr}"
                if n.func.attr in ("resize", "setfield", "setflags", "at"):
                    return True
            rule = self.table.rules.get(name)
            if name.endswith(".at") or (rule is not None and rule.writes):
                return True
            # A function that is not NumPy's may write into what it is given.
            if callee.kind in ("function", "unknown") and not (isinstance(n.func, ast.Attribute) and rule is not None):
                return not self.is_pure(n.func) and any(self.fact(a).may_be_tensor for a in n.args)
        return False

    def _filled_names(self, inside: list[ast.AST]) -> set[str]:
        """The names whose arrays are written into after they are made: by index, as `out=`, by a copy or a fill, by who knows what."""
        found: set[str] = set()
        for n in inside:
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name):
                found.add(n.value.id)
            elif isinstance(n, ast.Call):
                rule = self.table.rules.get(str(self.fact(n.func).value))
                reads = (
                    rule is not None
                    and not rule.writes
                    and not rule.is_ufunc
                    and all(p.name != "out" for p in rule.parameters[: len(n.args)])
                )
                outs = [k.value for k in n.keywords if k.arg == "out"] + ([] if reads else n.args)
                found |= {o.id for o in outs if isinstance(o, ast.Name)}
                if isinstance(n.func, ast.Attribute) and n.func.attr in ("fill", "put") and isinstance(n.func.value, ast.Name):
                    found.add(n.func.value.id)
        return found

    def _flips(self, n: ast.AST) -> bool:
        if isinstance(n, ast.Slice):
            step = n.step
            return step is not None and not (isinstance(step, ast.Constant) and isinstance(step.value, int) and step.value > 0)
        if (
            isinstance(n, ast.Subscript)
            and isinstance(n.ctx, ast.Load)
            and self.fact(n.value).may_be_tensor
            and self.fact(n).kind != "scalar"
        ):
            # An index computed from arrays picks a view in NumPy and a copy in torch.
            return any(self.fact(p).kind in ("scalar", "tensor", "unknown") and not isinstance(p, ast.Slice) for p in key_parts(n.slice))
        if isinstance(n, ast.Call):
            callee = self.fact(n.func)
            named = str(callee.value).rpartition(".")[2] if callee.kind == "name" else ""
            return named in ("flip", "fliplr", "flipud", "rot90") or (callee.kind in ("function", "unknown") and self._writes(n))
        return False


def _own(returned: Fact) -> bool:
    """True for a result that shares its memory with nothing."""
    if returned.kind == "sequence":
        return returned.items is not None and all(map(_own, returned.items))
    if returned.kind == "scalar":
        return False  # `x[0]` is a copy in NumPy and, as it stands, a view in torch
    return returned.fresh or returned.kind in ("number", "none", "text", "name", "dtype")


def _consumed_by(n: ast.AST) -> list[ast.AST]:
    """The parts of a construct whose values are used up at once: nothing keeps a view of them."""
    if isinstance(n, ast.BinOp):
        return [n.left, n.right]
    if isinstance(n, ast.UnaryOp):
        return [n.operand]
    if isinstance(n, ast.Compare):
        return [n.left, *n.comparators]
    if isinstance(n, ast.AugAssign):
        return [n.value]
    if isinstance(n, ast.Assign) and all(isinstance(t, ast.Subscript) for t in n.targets):
        return [n.value]
    return []


def _same_expression(text: str, node: ast.expr) -> bool:
    try:
        return ast.dump(ast.parse(f"({text})", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False


def _within_quotes(text: str, f_string: str) -> str | None:
    """Python text such that it may stand inside an f-string: with other quotes than the string's. None where that can't be done."""
    quoted = f_string.lstrip("fFrRbBuU")
    quote = quoted[:3] if quoted[:3] in ("'''", '"""') else quoted[:1]
    if quote not in text and "\\" not in text:
        return text
    other = '"' if quote[0] == "'" else "'"
    swapped = text.replace(quote[0], other)
    return swapped if len(quote) == 1 and other not in text and "\\" not in text else None


def _grouped(node: ast.expr, text: str) -> str:
    """Parentheses where an operand of an operator needs them."""
    return text if isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


def _grouped_owner(node: ast.expr, text: str) -> str:
    return text if isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


def _is_call_to(e: ast.expr, *names: str) -> bool:
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id in names
