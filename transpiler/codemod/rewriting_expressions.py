"""The codemod for expressions: each is rendered from its rendered parts, as torch says it.

Where the facts show that torch's own spelling means what NumPy means, that is what comes out; where they don't, the rule is called
(`npx`) or, for a value that may not even be an array, Python's operator made aware of tensors (`ops`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Container
from itertools import pairwise
from typing import Any

from ..source.facts.inference import Inference
from ..source.facts.known import COMPARISONS, OPERATORS, UNKNOWN, Fact, element_of, key_parts
from ..source.facts.results import TORCH_ONLY, call_fact, is_text
from ..source.findings.finding import Finding, make_finding
from ..source.flow.user_classes import SPECIAL
from ..source.reading.text import Source, splice, sub_expressions
from . import plain
from .choices import Plan
from .formatting import formatted
from .rewriting_keys import hashes_arrays
from .unpacking import elements, iterates

SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip

_ATTRIBUTES = ("T", "mT", "size", "dtype", "real", "imag", "flat", "itemsize", "nbytes", "strides", "base", "flags", "data", "ctypes")
"""Array attributes that a tensor lacks or has with another meaning."""


_USED_AT_ONCE = ("r_", "c_", "s_", "index_exp", "mgrid", "ogrid")
"""NumPy's names that mean something without parentheses behind them."""

_AROUND = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
"""Expressions in which a ternary stands in parentheses, which a call needs no more."""


class Expressions:
    """Renders the expressions of one function.

    resolve     what a name means that the function does not bind itself
    table       the rules and refusals, by NumPy name
    exact       the rules are called throughout, so that errors are NumPy's own too
    thorough    what is rare is minded too, though the text is longer for it: nobody reads it, or it is to be exact
    facts       what is known of each expression
    imported    names that the new text uses are added here ("torch", "npx")
    rule_modules  modules with rules of the project's own that the new text rests on
    is_pure     True for a function of the module that is known to write into nothing and to hand out no flipped views
    is_straight  True for a function of the project's that is known to hand out no flipped views, though it may write
    is_ours     True for a function of the project's, which may do anything with an array
    constant    the tensor that an array of the module's has by a name of its own
    own_callee  what is called in place of a function of the project's that is converted too
    call_fact   the fact of a call's result
    mutates     something in the function writes into arrays
    flips       something in the function is a view in NumPy and a copy in torch
    own_names   the names that the function binds itself, its parameters among them; stored_names: those that statements bind
    branches    the branches that become choices
    last        what a function does when it writes into nothing any more
    indent      the indentation of the statement that is being written
    is_plain    whether all that was rendered so far is torch, or a rule under NumPy's name
    user_classes  the names under which classes of the program compute: their properties and special methods
    dtypes      attributes that are handed to NumPy's functions as a dtype
    open_at     the first place that is no plain torch
    used        all names that the function mentions
    consumed    expressions whose values are used up at once: nothing keeps a view of them
    dropped     expressions that are statements, whose values nobody gets
    valued      expressions of which arithmetic alone gets the result: whether it is a scalar or an array without dimensions is all the same
    computed    expressions of which only the value counts, not which object they are
    tested      expressions of which only the truth counts
    used_up     expressions that are called where they stand, or of which a part is taken
    astray      whether values of which nothing is known may be torch's own tensors (see astray)
    texts       `x.device` beside a text, which it is in NumPy
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
        self.npx_name, self.torch_name = "npx", "torch"
        self.mutates = self.flips = self.astray = False
        self.is_plain = True
        self.dtypes: set[ast.AST] = set()
        self.open_at: ast.AST | None = None
        self.cast: set[ast.AST] = set()
        self.consumed: set[ast.AST] = set()
        self.valued: set[ast.AST] = set()
        self.dropped: set[ast.AST] = set()
        self.computed: set[ast.AST] = set()
        self.used_up: set[ast.AST] = set()
        self.texts: set[ast.AST] = set()
        self.tested: set[ast.AST] = set()
        self.own_names: set[str] = set()
        self.used: set[str] = set()
        self.stored_names: set[str] = set()
        self.fills: Container[ast.AST] = ()
        self.is_pure: Callable[[ast.expr], bool] = lambda function: False
        self.is_straight: Callable[[ast.expr], bool] = lambda function: False
        self.is_ours: Callable[[ast.expr], bool] = lambda function: False
        self.constant: Callable[[ast.Name], str | None] = lambda name: None
        self.own_callee: Callable[[ast.Call], str | None] = lambda call: None
        self.call_fact: Callable[[Fact, ast.Call, Inference], Fact] = lambda f, call, walk: call_fact(f, call, walk, self.table)

    @property
    def mirrored(self) -> bool:
        """Copies stand for NumPy's views here, and something is written: they would have to follow each other."""
        return self.mutates and self.flips

    thorough = False

    def unchanging(self, e: ast.expr) -> bool:
        """Whether nothing in the function can change an array."""
        return not self.mutates

    last: Container[ast.AST] = ()

    def sees_as_numpy(self, e: ast.expr, owner: ast.expr) -> bool:
        """Whether nobody can tell a view of an array from a copy of it: nothing is written, or not any more, or the view is used up."""
        return not self.mutates or e in self.last or e in self.consumed or self.fact(owner).fresh or self.unchanging(owner)

    user_classes: Callable[[], frozenset[str]] = staticmethod(frozenset)

    @functools.cached_property
    def _computed_names(self) -> frozenset[str]:
        return self.user_classes()

    def computes(self, *names: str) -> bool:
        """Whether a class of the program has a property or a special method of one of these names that computes something."""
        return not self._computed_names.isdisjoint(names)

    def shown(self, e: ast.expr) -> str:
        """An expression in a text. Of a tensor the shape is a tuple of another class, which shows its name."""
        if self.fact(e).kind in ("number", "text", "none"):
            return self.text(e)
        if isinstance(e, ast.Attribute) and e.attr == "shape" and self.fact(e.value).is_tensor:
            return f"tuple({self.text(e)})"
        if isinstance(e, ast.Tuple) and all(map(self._is_shown, e.elts)):
            start, end = self.source.span(e)
            return splice(self.source, start, end, [(*self.source.span(i), self.shown(i)) for i in e.elts])
        self.leave(e)
        return self.text(e)

    def _is_shown(self, e: ast.expr) -> bool:
        return self.fact(e).kind in ("number", "text", "none") or (
            isinstance(e, ast.Attribute) and e.attr == "shape" and self.fact(e.value).is_tensor
        )

    branches = Plan()
    indent = ""

    def unused(self, name: str) -> str:
        """A name that the function does not use yet."""
        while name in self.used:
            name = f"_{name}" if not name.startswith("_") else f"{name}_"
        self.used.add(name)
        return name

    def temporary(self) -> str:
        """A name for a value that is used once more: `_value1`, `_value2`, ... past those that the function has itself."""
        self.temporaries += 1
        while f"_value{self.temporaries}" in self.used:
            self.temporaries += 1
        return f"_value{self.temporaries}"

    def fact(self, node: ast.AST) -> Fact:
        return self.facts.get(node, UNKNOWN)

    def text(self, node: ast.expr) -> str:
        """The new text of an expression."""
        if node not in self.rendered:
            self.computed.update(self._computed_with(node))
            method = getattr(self, f"render_{type(node).__name__}", None)
            choice = self.branches.expressions.get(node)
            new = choice.text(self) if choice is not None else method(node) if method is not None else None
            new = self.spliced(node) if new is None else new
            asked = node in self.tested and self.fact(node).kind == "unknown" and self.computes("__bool__")
            if asked:
                self.leave(node)
            self.rendered[node] = new
        return self.rendered[node]

    def leave(self, node: ast.AST) -> None:
        """Torch does this differently, or nobody knows what it is: the function is NumPy on torch, and this text stays."""
        self.is_plain = False
        self.open_at = self.open_at or node

    def left(self, node: ast.expr) -> str | None:
        """`leave`, of an expression: its old text, with the new text of its parts."""
        self.leave(node)
        return None

    def _computed_with(self, node: ast.expr) -> list[ast.expr]:
        """The parts of an expression of which only the value counts, not which object they are."""
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.UnaryOp):
            return [node.operand]
        if isinstance(node, ast.Compare) and not any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return [node.left, *node.comparators]
        if isinstance(node, ast.Call) and str(self.fact(node.func).value).startswith("numpy."):
            return [*node.args, *(k.value for k in node.keywords)]
        return []

    def spliced(self, node: ast.expr) -> str:
        """The old text with the new text of its parts in it."""
        start, end = self.source.span(node)
        return splice(self.source, start, end, self._parts(node, start, end))

    def _parts(self, node: ast.AST, start: int, end: int) -> list[tuple[int, int, str]]:
        pieces = []
        for child in sub_expressions(node):
            begin, stop = self.source.span(child)
            new = self.text(child)
            if new != self.source.slice(begin, stop):
                choice = child in self.branches.expressions and isinstance(child, ast.IfExp) and isinstance(node, _AROUND)
                if choice or child in self.cast:
                    begin, stop = self.source.without_parentheses(begin, stop)
                pieces.append((begin, stop, new))
        return pieces

    def torch(self) -> str:
        self.imported.add("torch")
        return self.torch_name

    def npx(self, name: str) -> str:
        self.imported.add("npx")
        return f"{self.npx_name}.{name.removeprefix('numpy.')}"

    def render_BinOp(self, e: ast.BinOp) -> str | None:
        a, b = self.fact(e.left), self.fact(e.right)
        unsure = self.astray and "unknown" in (a.kind, b.kind) and not {"sequence", "text"} & {a.kind, b.kind}
        if "either" in (a.kind, b.kind) or unsure or ("torch" in (a.kind, b.kind) and (a.is_tensor or b.is_tensor)):
            return self.left(e)
        formats = isinstance(e.op, ast.Mod) and a.kind == "text" and b.kind not in ("number", "text")
        users = "sequence" in (a.kind, b.kind) and self.computes(*SPECIAL[OPERATORS[type(e.op)]])  # a named tuple may have operators
        if not (a.may_be_tensor or b.may_be_tensor or formats or users) or "torch" in (a.kind, b.kind):
            return None
        if isinstance(e.op, ast.Mod) and a.kind == "text":
            start, end = self.source.span(e)
            r0, r1 = self.source.span(e.right)
            return splice(
                self.source,
                start,
                end,
                [p for p in self._parts(e, start, end) if p[0] < r0] + [(r0, r1, self.shown(e.right))],
            )
        ufunc = OPERATORS[type(e.op)]
        if "text" in (a.kind, b.kind) and not (ufunc == "multiply" and (a.is_tensor or b.is_tensor)):
            return None
        if self._is_plain(ufunc, (a, b), (e.left, e.right)) or self._cast(ufunc, e.left, e.right):
            return None
        return self.left(e)

    def _is_plain(self, ufunc: str, facts: tuple[Fact, Fact], nodes: tuple[ast.expr, ast.expr]) -> bool:
        """Python's operator may stay. Not where layouts matter and two of them meet: torch's result is laid out like the first operand."""
        meet = self.mirrored and all(f.is_tensor and f.rank not in (0, 1) for f in facts)
        return not self.exact and not meet and plain.operator(ufunc, facts, nodes)

    def _cast(self, ufunc: str, *operands: ast.expr) -> bool:
        """Whether the operator may stay once its operands are cast to the float dtype that NumPy computes in."""
        facts = tuple(map(self.fact, operands))
        common = plain.common_float(ufunc, facts) if not (self.exact or self.mirrored) and self.torch_name == "torch" else None
        for e, fact in zip(operands, facts, strict=True):
            if common is not None and fact.is_tensor and fact.dtype != common:
                self.rendered[e] = f"{_grouped_owner(e, self.text(e))}.to({self.torch()}.{common})"
                self.cast.add(e)
        return common is not None

    def render_UnaryOp(self, e: ast.UnaryOp) -> str | None:
        a = self.fact(e.operand)
        if a.kind == "either" and not isinstance(e.op, ast.Not):
            return self.left(e)
        if isinstance(e.op, ast.Not) or not a.may_be_tensor:
            return None
        ufunc = OPERATORS[type(e.op)]
        if not self.exact and plain.unary(ufunc, a, self.mutates):
            return None
        return self.left(e)

    def render_Compare(self, e: ast.Compare) -> str | None:
        operands = [e.left, *e.comparators]
        facts = [self.fact(o) for o in operands]
        if any(map(is_text, operands)):
            self.texts |= {o for o in operands if isinstance(o, ast.Attribute) and o.attr == "device"}
        if any(f.kind in ("torch", "either") for f in facts):
            known = len(e.ops) == 1 and type(e.ops[0]) in OPERATORS and any(f.kind == "either" or f.is_tensor for f in facts)
            return self.left(e) if known else None
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in e.ops):
            if len(e.ops) > 1 or not is_between_bools(*facts):
                return None
            return self.left(e)
        if not any(f.may_be_tensor for f in facts) and not (isinstance(e.ops[0], (ast.In, ast.NotIn)) and any(map(self.is_key, operands))):
            return None
        if len(e.ops) == 1 and isinstance(e.ops[0], (ast.In, ast.NotIn)):
            if not facts[1].may_be_tensor and facts[1].kind != "sequence" and not (facts[1].kind == "other" and self.is_key(operands[0])):
                return None
            return self.left(e)
        names = [OPERATORS.get(type(op)) for op in e.ops]
        pairs = list(zip(names, pairwise(facts), pairwise(operands), strict=True))
        if all(
            n is not None and not self.exact and (self._is_plain(n, fs, ns) or not any(f.may_be_tensor for f in fs)) for n, fs, ns in pairs
        ):
            return None
        if any("text" in (f.kind for f in fs) or "none" in (f.kind for f in fs) for _, fs, _ in pairs) and not any(
            f.is_tensor or (f.kind == "unknown" and isinstance(o, ast.Name) and o.id in self.stored_names)
            for f, o in zip(facts, operands, strict=True)
        ):  # settings are compared with text; what the function computes may be an array
            return None
        if len(e.ops) > 1:
            if any(f.may_be_tensor for f in facts) and all(n in COMPARISONS for n in names):
                return self.left(e)
            return None
        if names[0] is not None and self._cast(str(names[0]), *operands):
            return None
        return self.left(e)

    def render_Subscript(self, e: ast.Subscript) -> str | None:
        owner = self.fact(e.value)
        if not isinstance(e.ctx, ast.Load) or not (owner.may_be_tensor or self._tensor_key(e)) or owner.kind == "name":
            return None
        named = isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, str)
        if named and not (self.exact or owner.is_tensor or self.computes("__getitem__", "__missing__")):
            return None
        if owner.is_tensor and not self.exact and not self.mirrored:
            flipped = plain.flip(e.slice, self.facts)
            computed = owner.kind == "array" and owner.rank != 0 and owner.dtype in plain.COMPUTED
            if flipped is not None and computed and "#" not in self.source.of(e):
                return f"{self.torch()}.flip({self.text(e.value)}, ({', '.join(map(str, flipped))},))"
            if (
                owner.kind == "array"
                and plain.key(e.slice, self.facts)
                and (self._is_view(e) or e in self.consumed or self.unchanging(e.value))
                and not (self.fact(e).rank == 0 and any(map(_is_ellipsis, key_parts(e.slice))))  # has to be marked as an array
            ):
                return None
        return self.left(e)

    def _is_view(self, e: ast.Subscript) -> bool:
        """An array of at least one dimension: a scalar is a copy, and a 0-d array has to be marked as one."""
        found = self.fact(e)
        if found.kind == "array" and found.rank is None:
            return not any(map(_is_ellipsis, key_parts(e.slice)))
        return found.kind == "array" and found.rank != 0

    def _tensor_key(self, e: ast.Subscript) -> bool:
        if self.fact(e.value).kind == "other":
            return self.is_key(e.slice)
        return any(self.fact(p).is_tensor for p in key_parts(e.slice))

    def is_key(self, e: ast.expr) -> bool:
        """True for what a dict or a set has to hash by its value, since it may be a tensor or hold some."""
        if isinstance(e, (ast.Tuple, ast.Slice)):
            return any(map(self.is_key, e.elts)) if isinstance(e, ast.Tuple) else False
        found = self.fact(e)
        return found.may_be_tensor or (found.kind == "sequence" and any(f.may_be_tensor for f in (found.items or (element_of(found),))))

    def render_Attribute(self, e: ast.Attribute) -> str | None:
        owner, found = self.fact(e.value), self.fact(e)
        if not isinstance(e.ctx, ast.Load):
            return None
        if found.kind == "none" and owner.kind == "name":
            return "None"  # np.newaxis
        if found.kind == "number" and owner.kind == "name" and owner.value == "numpy" and e.attr in ("pi", "e", "inf", "nan"):
            return f"{self.torch()}.{e.attr}" if e in self.computed else None  # torch's is another object: `x is np.nan`
        if found.kind == "name" and str(found.value).startswith("numpy."):
            return self.numpy_name(e, str(found.value))
        if owner.kind == "torch" and e not in self.used_up and e.attr in TORCH_ONLY and self.computes(e.attr):
            if self.thorough:
                return self.left(e)
            message = f"`.{e.attr}` may be a torch tensor's, or computed by a class"
            self.refuse("opaque-call", e, message, "give the property another name")
        if e.attr == "__class__" and owner.kind == "sequence":
            return self.left(e)
        if owner.kind in ("unknown", "other", "sequence") and self.computes(e.attr, "__getattr__", "__getattribute__"):
            return self.left(e)
        numpys = e.attr == "device" and owner.is_tensor and "torch" not in self.source.text  # no one here asks a tensor for it
        if (e in self.texts or numpys) and owner.kind != "torch":
            return self.left(e)
        if not owner.may_be_tensor:
            return None
        if e.attr == "__class__":
            return self.left(e)
        if e in self.dtypes and owner.is_tensor:
            return None  # a rule takes torch's dtypes too
        if e.attr in _ATTRIBUTES:
            if e.attr == "size" and owner.is_tensor:
                return f"{_grouped_owner(e.value, self.text(e.value))}.numel()"
            if e.attr == "T" and owner.kind == "array" and owner.rank == 2:
                return None
            if owner.is_tensor and (name := f"numpy.ndarray.{e.attr}") in self.table.refusals and name not in self.table.rules:
                self.unmapped(e, name, f"ndarray.{e.attr}")
            return self.left(e)
        if owner.is_tensor and not self.table.has_attribute(e.attr):
            return self.left(e)  # NumPy's own error, if it comes to that
        if owner.is_tensor and e.attr not in ("shape", "ndim") and f"numpy.ndarray.{e.attr}" not in self.table.rules:
            self.unmapped(e, f"numpy.ndarray.{e.attr}", f"ndarray.{e.attr}")
        elif e not in self.used_up and self._is_method(e):
            return self.left(e)  # `m = x.std`: a tensor's own means something else
        return None

    def _is_method(self, e: ast.Attribute) -> bool:
        """An array's method that is not called here. What is no array for certain has it as a number or an array of its own, most
        likely, but only where it is used at once can that be told."""
        if f"numpy.ndarray.{e.attr}" not in self.table.rules or e.attr in ("shape", "ndim", "device"):
            return False
        made_by = self.fact(e.value.func).value if isinstance(e.value, ast.Call) else ""
        known = made_by in ("numpy.iinfo", "numpy.finfo") or (isinstance(e.value, ast.Name) and e.value.id == "self")
        return self.fact(e.value).is_tensor or not (known or e in self.consumed or e in self.computed)

    def numpy_name(self, e: ast.expr, name: str) -> str | None:
        """A NumPy name that is not called here. It stays NumPy's own object, whose identity can be asked for (`red is np.max`): what
        calls it later finds its rule. What is subscripted (`np.r_`) is used here and now."""
        if name in self.table.rules:
            return self.npx(name) if name.rpartition(".")[2] in _USED_AT_ONCE else None
        if name in self.table.refusals:
            self.unmapped(e, name, self.source.of(e))
        return None

    def render_Name(self, e: ast.Name) -> str | None:
        found = self.fact(e)
        if isinstance(e.ctx, ast.Load) and found.kind == "array" and found.value == "constant":
            return self.constant(e) or f"{self.torch()}.as_tensor({e.id})"  # an array of the module's
        if isinstance(e.ctx, ast.Load) and found.kind == "name" and str(found.value).startswith("numpy."):
            return self.numpy_name(e, str(found.value))
        return None

    def render_FormattedValue(self, e: ast.FormattedValue) -> str | None:
        return None

    def render_JoinedStr(self, e: ast.JoinedStr) -> str | None:
        """Text shows NumPy's values: what may be a tensor is none of torch's."""
        return formatted(self, e)

    def render_Call(self, e: ast.Call) -> str | None:
        from .rewriting_calls import render_call

        return render_call(self, e)

    def render_Starred(self, e: ast.Starred) -> None:
        """`[*x]`, `f(*x)`: the elements of an array are copies in NumPy, views in torch."""
        if isinstance(e.ctx, ast.Load):
            elements(self, e.value)

    def render_YieldFrom(self, e: ast.YieldFrom) -> None:
        elements(self, e.value)

    def render_Lambda(self, e: ast.Lambda) -> str | None:
        return None

    def render_ListComp(self, e: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> None:
        for g in e.generators:
            iterates(self, g.iter, g.target)
        if hashes_arrays(self, e):
            self.leave(e)

    render_GeneratorExp = render_SetComp = render_DictComp = render_ListComp

    def render_Dict(self, e: ast.Dict | ast.Set) -> None:
        if hashes_arrays(self, e):
            self.leave(e)

    render_Set = render_Dict

    def uninitialised(self, e: ast.expr) -> bool:
        """`np.empty` and its kin hand out whatever the memory held."""
        return isinstance(e, ast.Call) and self.fact(e.func).value in ("numpy.empty", "numpy.empty_like")

    def argument(self, e: ast.expr) -> str:
        """The new text of an expression as an argument of a call, in the parentheses that a statement may leave out."""
        text = self.text(e)
        bare = isinstance(e, (ast.Yield, ast.YieldFrom)) or (isinstance(e, ast.Tuple) and _is_bare(self.source.of(e)))
        return f"({text})" if bare else text

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


def grouped(node: ast.expr, text: str) -> str:
    """Parentheses where an operand of an operator needs them."""
    return text if isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


def _grouped_owner(node: ast.expr, text: str) -> str:
    return text if isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) else f"({text})"


def is_between_bools(a: Fact, b: Fact) -> bool:
    """Whether `a is b` may be asked of NumPy's bools, which are two objects, whatever computes them."""
    named = [f.kind == "name" and f.value in ("numpy.True_", "numpy.False_") for f in (a, b)]
    single = [f.may_be_tensor and f.rank in (0, None) and f.dtype in ("bool", None) for f in (a, b)]
    sure = [f.is_tensor and f.rank == 0 and f.dtype == "bool" for f in (a, b)]
    return (named[0] and single[1]) or (named[1] and single[0]) or all(sure)


def _is_bare(text: str) -> bool:
    """Whether a tuple stands without parentheses of its own: `(a), (b)`."""
    call = ast.parse(f"_({text}\n)", mode="eval").body
    return not (isinstance(call, ast.Call) and len(call.args) == 1 and isinstance(call.args[0], ast.Tuple))


def _is_ellipsis(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and e.value is Ellipsis
