"""The codemod for one function: NumPy's operators, indexing, calls and writes, as torch says them.

First the facts (`inference`), then the text, bottom-up: statements here, their expressions as `rewriting_expressions` renders them.
What has no meaning in torch is a finding, and a function with such a finding is not rewritten at all.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

from ..source.facts.inference import Inference
from ..source.facts.known import OPERATORS, Fact, key_parts
from ..source.flow.astray import goes_astray
from ..source.flow.branching import plan
from ..source.flow.byteorder import native_literals
from ..source.flow.keeping import filled, kept_paths, others
from ..source.flow.layouts import BY_LAYOUT, Layouts, called_name
from ..source.flow.reading import yields
from ..source.flow.unwritten import pairs
from ..source.flow.writing import called_by, writes
from ..source.reading.text import Source, sub_expressions
from ..source.reading.walking import children, walk
from . import plain
from .imports import identifiers
from .rewriting_expressions import SYMBOLS, Expressions, grouped
from .unpacking import elements, iterates, unpacks

_QUIET = sys.stdlib_module_names | {"torch", "numpy", "np2fx", "leapp", "builtins"}
"""Where contexts come from that let errors pass (`contextlib.suppress` apart)."""

_STAYS = "exact, but no part of a graph: np.where(condition, a, b) computes both sides and chooses"


class Rewriter(Expressions):
    """Rewrites one function (with the functions inside it) of a module.

    hands_out   True where what the function returns goes to rewritten code, which may write into it: whether it is a view matters
    """

    def __init__(self, source: Source, resolve: Callable[[ast.Name], Fact], table: Any, path: str = "", exact: bool = False) -> None:
        super().__init__(source, resolve, table, path, exact)
        self.hands_out = self.retypes = self.writes_own = False
        self.keeps: set[str] = set()
        self.notes: set[str] = set()

    def rewrite(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, parameters: dict[str, Fact],
                inference: Inference | None = None) -> list[tuple[int, int, str]]:  # fmt: skip
        """The edits that turn `node` into torch; empty where nothing is to do or a finding forbids it.

        `inference` is the walk over the node, where that has been done already."""
        if inference is None:
            inference = Inference(self.resolve, self.call_fact)
            inference.function(node, parameters)
        self.facts = inference.facts
        inside = list(walk(node))
        around = {n for d in [*getattr(node, "decorator_list", []), node.args] for n in walk(d)}  # evaluated once, outside of it
        handed = [*inference.returns, *(self.fact(y.value) for y in yields(node) if y.value is not None)]
        given_out = self.hands_out and not all(map(_own, handed))
        self.used = identifiers(inside)
        self.own_names = inference.locals
        # How bytes lie shows as by writing.
        self.retypes = retypes = any(isinstance(n, ast.Attribute) and n.attr in ("view", "getfield") for n in inside)
        self.mutates = given_out or retypes or any(self._writes(n) for n in inside if n not in around)
        self.plan_branches(node, parameters)
        self.mutates = given_out or retypes or any(self._writes(n) for n in inside if n not in around)
        layouts = Layouts(node, inside, self.fact, self.table)
        self.flips = any(self._flips(n, layouts) for n in inside if n not in around)
        inner = {a.arg for n in inside if isinstance(n, ast.arguments) for a in walk(n) if isinstance(a, ast.arg)}
        outside = {name for n in inside if isinstance(n, ast.Global) for name in n.names}
        stored = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.own_names = inference.locals | inner | (stored - outside)
        self.filled = self._filled_names(inside)
        self.astray = goes_astray(inside, self.fact)
        self.rendered |= native_literals(inside, self.fact, inner | outside)
        self.read_names = {n.id for n in inside if isinstance(n, ast.Name)}
        self.fills = filled(node)
        self.stored_names = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.used_up = {n.func for n in inside if isinstance(n, ast.Call)}
        self.used_up |= {n.value for n in inside if isinstance(n, (ast.Attribute, ast.Subscript))}
        self.consumed = {c for n in inside for c in self._consumed_by(n)}
        self.valued = self._valued(inside)
        self.dropped = {n.value for n in inside if isinstance(n, ast.Expr)}
        self.tested = {t for n in inside for test in _tests_of(n) for t in _asked_for_truth(test)}
        bound = [(t.id, s.value) for s in inside if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
        other = {
            n.id
            for s in inside
            if not isinstance(s, ast.Assign)
            for n in children(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self.made_here = {n for n, _ in bound if all(self.fact(v).fresh for m, v in bound if m == n)} - other
        writing = [n for n in inside if n not in around and self._writes(n)]
        self.writes_own = not given_out and not retypes and all(map(self._writes_own, writing))
        self.last = set() if given_out else self._at_the_end(node)
        if self.flips:
            kept = [n for n in inside if n not in around and n not in self.last and n not in self._still(inside)]
            self.flips = any(self._flips(n, layouts) for n in kept)
        if isinstance(node, ast.Lambda):
            self.piece(node.body, self.text(node.body))
        else:
            self.block(node.body)
        self.keeps = kept_paths(node, self.fact)
        self.note_others(node)
        return [] if any(f.severity == "error" for f in self.findings) else self.pieces

    def note_others(self, node: ast.AST) -> None:
        """Objects whose attributes are set, where the text does not say whose they are."""
        for _, target in others(node, self.fact):
            if self.fact(target.value).is_tensor:
                continue
            self.notes.add(target.attr)
            self.leave(target)

    def unfit_generator(self, node: ast.AST, is_helper: bool) -> str | None:
        """Why a function cannot be a generator in torch: its steps run when the call, and what is done around it, is over. Those of a
        helper run inside its caller's."""
        if not yields(node):
            return None
        if self.notes:
            return f"is a generator that sets {', '.join(sorted(self.notes))} of other objects, between steps of its caller's"
        if self.keeps:
            return f"is a generator that sets {', '.join(sorted(self.keeps))}, between steps of its caller's"
        unfit = self.mirrored and not is_helper
        return "is a generator that may write through views, or hand out some, which torch has only as copies" if unfit else None

    def plan_branches(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, parameters: dict[str, Fact]) -> None:
        """Find the branches that become choices. Numbers among them may count as NumPy scalars, from which more facts follow."""
        facts, assumed = self.facts, dict[ast.AST, tuple[Fact, ast.AST]]()
        while True:
            self.branches = plan(self, node, parameters)
            if self.branches.assumed.keys() <= assumed.keys():
                break
            assumed |= self.branches.assumed
            inferred = Inference(self.resolve, self.call_fact)
            inferred.assumed = {n: fact for n, (fact, _) in assumed.items()}
            inferred.function(node, parameters)
            self.facts = inferred.facts
        if not all(owner in self.branches.statements or owner in self.branches.expressions for _, owner in assumed.values()):
            self.facts = facts
            self.branches = plan(self, node, parameters, numbers=False)
        for test in self.branches.kept:
            self.refuse("data-dependent-branch", test, "this branch on array values stays Python's", _STAYS, "note")

    # Statements.

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, s: ast.stmt) -> None:
        before = self.source.slice(self.source.starts[s.lineno - 1], self.source.span(s)[0])
        self.indent = before if not before.strip() else self.indent
        if s in self.branches.statements:
            self.pieces += self.branches.statements[s].write(self)
        elif s in self.branches.absorbed:
            return
        elif isinstance(s, ast.AugAssign):
            self.augmented(s)
        elif isinstance(s, ast.With):
            self.entered(s)
        elif isinstance(s, ast.Assign) and self._fresh_memory(s):
            self.piece(s.value, self.text(s.value))
        elif isinstance(s, ast.Assign) and self._one_by_one(s):
            self.item_assignment(s)
        elif isinstance(s, (ast.Assign, ast.AnnAssign)) and self._attribute_target(s):
            self.attribute_assignment(s)
        elif isinstance(s, ast.For):
            self.hashed_targets(s.target)
            iterates(self, s.iter, s.target)
            self.piece(s.iter, self.text(s.iter))
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
        elif isinstance(s, ast.Try) and (s.handlers or _swallows(s.finalbody)):
            self.guarded(s)
        elif isinstance(s, ast.Assign) and unpacks(self, s.targets[0], s.value):
            self.leave(s)
            self.piece(s.value, self.text(s.value))
        elif isinstance(s, ast.Delete):
            for t in s.targets:
                self.deleted(t)
                self.hashed_targets(t)
        elif isinstance(s, ast.AnnAssign):
            if s.value is not None:
                self.piece(s.value, self.text(s.value))
        else:
            if isinstance(s, ast.Match):
                self.matched(s)
            for e in sub_expressions(s):
                self.piece(e, self.text(e))
            for child in children(s):
                if isinstance(child, ast.stmt):
                    self.statement(child)
                elif isinstance(child, (ast.ExceptHandler, getattr(ast, "match_case", ast.ExceptHandler))):
                    for inner in children(child):
                        if isinstance(inner, ast.stmt):
                            self.statement(inner)

    def deleted(self, target: ast.expr) -> None:
        """`del o[k]` and `del o.name` of an array, or of what may be of a class that computes then."""
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            owner = self.fact(target.value)
            name = "__delitem__" if isinstance(target, ast.Subscript) else "__delattr__"
            if (isinstance(target, ast.Subscript) and owner.is_tensor) or (owner.kind == "unknown" and self.computes(name)):
                self.leave(target)

    def matched(self, s: ast.Match) -> None:
        """A `match` whose patterns ask for the class of what may be an array, or for attributes that a class computes."""
        for guard in filter(None, (case.guard for case in s.cases)):
            self.piece(guard, self.text(guard))
        asked = [p for case in s.cases for p in walk(case.pattern) if isinstance(p, ast.MatchClass)]
        if asked and self.fact(s.subject).kind not in ("text", "none", "dtype", "name", "number"):
            self.leave(asked[0])

    def entered(self, s: ast.With) -> None:
        for item in s.items:
            self.piece(item.context_expr, self.text(item.context_expr))
            called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
            suppresses = called is not None and self.fact(called).value == "contextlib.suppress"
            if suppresses or self._may_hear(item.context_expr) or (item.optional_vars is not None and unpacks(self, item.optional_vars)):
                self.leave(s)
            if item.optional_vars is not None:
                self.piece(item.optional_vars, self.text(item.optional_vars))
        self.block(s.body)

    def _may_hear(self, context: ast.expr) -> bool:
        """Whether a context is of a class, or a generator, that may look at errors and end them: none of Python's or torch's own."""
        if self.fact(context).kind != "unknown":
            return False
        if not isinstance(context, ast.Call):
            return self.computes("__enter__", "__exit__")
        maker = self.fact(context.func)
        return maker.kind != "name" or str(maker.value).split(".")[0] not in _QUIET

    def hashed_targets(self, target: ast.expr) -> None:
        """`del d[x[0]]` and `for d[x[0]] in ...` of a dict, whose keys are scalars by their value."""
        if isinstance(target, (ast.Tuple, ast.List, ast.Starred)):
            for t in target.elts if not isinstance(target, ast.Starred) else [target.value]:
                self.hashed_targets(t)
        elif isinstance(target, ast.Subscript) and not self.fact(target.value).is_tensor and self.is_key(target.slice):
            self.leave(target)
        if not isinstance(target, (ast.Tuple, ast.List, ast.Starred)):
            self.piece(target, self.spliced(target))

    def guarded(self, s: ast.Try) -> None:
        """In a `try` the errors have to be NumPy's own, and refusals must not be caught."""
        if any(self.fact(n).may_be_tensor for part in s.body for n in walk(part) if isinstance(n, ast.expr)):
            self.leave(s)
        self.block(s.body)
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

    def piece(self, node: ast.AST, text: str) -> None:
        start, end = self.source.span(node)
        if text != self.source.slice(start, end):
            self.pieces.append((start, end, text))

    def augmented(self, s: ast.AugAssign) -> None:
        ufunc, target = OPERATORS[type(s.op)], s.target
        value, fact = self.argument(s.value), self.fact(s.target)
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
            # What has no axes may be a scalar of the caller's, which is bound anew.
            if fact.kind == "array" and fact.rank != 0 and simple and harmless and plain.keeps(ufunc, fact, operand):
                self.piece(s.value, value)
            elif fact.kind == "scalar" and simple:
                self.piece(s, f"{target.id} = {target.id} {SYMBOLS[type(s.op)]} {grouped(s.value, value)}")
            else:
                self.leave(s)
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
            elif container.may_be_tensor or operand.may_be_tensor or fact.may_be_tensor or self._tensor_key(target):
                self.leave(s)
                self.spliced(target)
        elif isinstance(target, ast.Attribute):
            self.owned(target)
            self.leave(s)

    def _is_element(self, e: ast.expr) -> bool:
        """An element of an array by its index: a copy in NumPy, in torch a view that an operation in place must not meet."""
        if isinstance(e, ast.IfExp):
            return self._is_element(e.body) or self._is_element(e.orelse)
        return isinstance(e, ast.NamedExpr) or (isinstance(e, ast.Subscript) and self.fact(e).kind != "array")

    def _of_list(self, target: ast.Subscript) -> bool:
        return isinstance(target.slice, ast.Slice) and not self.fact(target.value).is_tensor

    def _one_by_one(self, s: ast.Assign) -> bool:
        items = any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for t in s.targets for n in walk(t))
        return items or (len(s.targets) > 1 and any(unpacks(self, t) for t in s.targets))

    def item_assignment(self, s: ast.Assign) -> None:
        """`a[i] = v`, also among several targets: the value is computed once, then stored target by target, from left to right. So is
        what is unpacked among several targets (`a = b, c = v`)."""
        value = self.text(s.value)
        if len(s.targets) == 1 and isinstance(s.targets[0], ast.Subscript):
            target = s.targets[0]
            self.owned(target)
            if self._plain_store(target, s.value):
                self.piece(target, self.spliced(target))
                if self._of_list(target):
                    elements(self, s.value)
                self.piece(s.value, value)
                return
            cast = self._cast_store(target, s.value)
            if cast:
                self.piece(target, self.spliced(target))
                self.piece(s.value, cast)
                return
        for place in (n for t in s.targets for n in walk(t) if isinstance(n, (ast.Subscript, ast.Attribute))):
            if isinstance(place.ctx, ast.Store):
                self.owned(place)
                self.spliced(place)
        self.leave(s)

    def _cast_store(self, target: ast.Subscript, value: ast.expr) -> str:
        """The text of a float that is cast to what the array holds, as torch does under no key of arrays; "" where that is not all."""
        owner, fact = self.fact(target.value), self.fact(value)
        floats = fact.kind == "scalar" and owner.dtype != fact.dtype and {owner.dtype, fact.dtype} <= {"float32", "float64"}
        if self.exact or self.mirrored or not floats or owner.kind != "array" or not plain.key(target.slice, self.facts):
            return ""
        if not all(self._key_apart(target.value, part) for part in key_parts(target.slice)):
            return ""
        return f"{grouped(value, self.text(value))}.to({self.torch()}.{owner.dtype})"

    def _plain_store(self, target: ast.Subscript, value: ast.expr) -> bool:
        owner, fact = self.fact(target.value), self.fact(value)
        named = isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str) and not self.computes("__setitem__")
        if (named and not (self.exact or owner.is_tensor)) or not (owner.may_be_tensor or self._tensor_key(target)):
            return True
        if self.exact or self.mirrored or owner.kind != "array" or not plain.key(target.slice, self.facts):
            return False
        if not all(self._key_apart(target.value, part) for part in key_parts(target.slice)):
            return False
        if fact.kind == "number":
            return plain.number_fits(owner, fact)
        apart = fact.fresh or fact.kind == "scalar" or (isinstance(target.value, ast.Name) and self.apart(target.value.id, value))
        basic = not any(self.fact(part).kind == "array" for part in key_parts(target.slice))  # torch casts nothing under an array key
        whole = fact.kind == "scalar" or self.fact(target).kind == "array"  # NumPy puts no array into an element, torch one of size one
        masked = any(self.fact(part).dtype == "bool" for part in key_parts(target.slice))  # NumPy takes no rows under a mask
        listed = not masked or (fact.rank is not None and fact.rank <= 1)
        return fact.is_tensor and apart and whole and listed and plain.stores(owner, fact) and (basic or owner.dtype == fact.dtype)

    def _key_apart(self, owner: ast.expr, part: ast.expr) -> bool:
        """True for a part of a key that does not lie in the array that is written into: torch does not take such a key."""
        other = {self.fact(owner).dtype, self.fact(part).dtype}
        if len(other) == 2 and None not in other and not self.retypes:
            return True
        as_it_came = isinstance(part, ast.Name) and part.id in self.own_names and part.id not in self.stored_names
        fact, names = self.fact(part), {n.id for n in ast.walk(owner) if isinstance(n, ast.Name)}
        return fact.kind != "array" or fact.fresh or (as_it_came and ast.unparse(part) not in names)

    def _consumed_by(self, n: ast.AST) -> list[ast.AST]:
        """The parts of a construct whose values are used up at once: nothing keeps a view of them, as a list or a dict does."""
        if isinstance(n, ast.BinOp):
            return [n.left, n.right]
        if isinstance(n, ast.UnaryOp):
            return [n.operand]
        if isinstance(n, ast.Compare):
            return [n.left, *n.comparators]
        if isinstance(n, ast.AugAssign):
            return [n.value]
        if isinstance(n, ast.Assign) and all(isinstance(t, ast.Subscript) and self.fact(t.value).is_tensor for t in n.targets):
            return [n.value]
        return []

    def _valued(self, inside: list[ast.AST]) -> set[ast.AST]:
        """The operands of arithmetic, and what is bound to names that are nothing else."""
        computing = [n for n in inside if isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Compare)) and not is_identity(n)]
        operands = {c for n in computing for c in self._consumed_by(n)}
        kept = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in operands}
        kept |= {n.target.id for n in inside if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
        kept |= {name for n in inside if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
        bound = [n for n in inside if isinstance(n, ast.Assign) and all(isinstance(t, ast.Name) and t.id not in kept for t in n.targets)]
        return operands | {n.value for n in bound}

    def apart(self, name: str, value: ast.expr) -> bool:
        """True where an array this function has made itself cannot share memory with a value: that is (of) an argument as it came."""
        return name in self.made_here and self._as_it_came(value)

    def _as_it_came(self, e: ast.expr) -> bool:
        """Whether an expression is an argument as it came or a constant of the module, or a part or a view of one."""
        while isinstance(e, (ast.Subscript, ast.Attribute, ast.UnaryOp)) and (self.fact(e).is_tensor or isinstance(e, ast.Attribute)):
            e = e.operand if isinstance(e, ast.UnaryOp) else e.value
        if not isinstance(e, ast.Name) or e.id in self.stored_names:
            return False
        return self.fact(e).is_tensor and (e.id in self.own_names or self.fact(e).value == "constant")

    def unchanging(self, e: ast.expr) -> bool:
        """Whether nothing in the function can change an array: it writes only into those that it has made itself."""
        return not self.mutates or (self.writes_own and self._as_it_came(e))

    def _writes_own(self, n: ast.AST) -> bool:
        """Whether what writes into an array writes into one that the function has made itself, and that has a name."""
        place = n.target if isinstance(n, ast.AugAssign) else n
        place = place.value if isinstance(place, ast.Subscript) and not isinstance(place.ctx, ast.Load) else place
        return isinstance(place, ast.Name) and place.id in self.made_here and not isinstance(n, ast.Name)

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
                self.leave(s)
            else:
                self.owned(t)
            if self._set_by_class(t) and s.value is not None:
                self.leave(s)
            if isinstance(t.value, ast.Attribute) and t.value.attr == "flags":  # `x.flags.writeable = False`
                self.piece(t.value, self.text(t.value))
        if s.value is not None:
            self.piece(s.value, self.text(s.value))

    def _set_by_class(self, target: ast.Attribute) -> bool:
        """A property, or whatever else a class of the program's computes where one of its attributes is set."""
        return self.fact(target.value).may_be_tensor and self.computes(target.attr, "__setattr__")

    def owned(self, target: ast.expr) -> None:
        """Writing into what is not the function's own changes what the next call sees: no graph does that."""
        base: ast.AST = target
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        if isinstance(base, ast.Name) and base.id not in self.own_names:
            self.refuse("side-effect", target, f"`{base.id}` is not the function's own: writing to it changes what the next call sees")

    def _writes(self, n: ast.AST) -> bool:
        if isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.Is, ast.IsNot)):  # which object a view is counts as well
            return all(self.fact(o).is_tensor for o in (n.left, *n.comparators))
        if isinstance(n, ast.AugAssign):
            return self.fact(n.target).may_be_tensor and self.fact(n.target).kind != "scalar"
        if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, (ast.Store, ast.Del)):
            return self.fact(n.value).may_be_tensor
        if isinstance(n, ast.Attribute):  # `m = x.fill`, which is called who knows where
            return n.attr in self.table.in_place and self.fact(n.value).may_be_tensor
        if isinstance(n, ast.Call):
            callee = self.fact(n.func)
            name = str(callee.value) if callee.kind == "name" else ""
            if isinstance(n.func, ast.Attribute) and not name:
                name = f"numpy.ndarray.{n.func.attr}"
                if n.func.attr in ("view", "getfield") and (n.args or n.keywords) and self.fact(n.func.value).may_be_tensor:
                    return True  # the order of the bytes shows in another dtype
            if writes(name, n, self.table):
                return True
            inner = called_by(name, n)
            if inner is not None and self._writes(inner):
                return True
            rule = self.table.rules.get(name)
            # A function that is not NumPy's may write into what it is given.
            anything = callee.kind in ("function", "unknown") or self.is_ours(n.func)
            if anything and not (isinstance(n.func, ast.Attribute) and rule is not None):
                given = [*n.args, *(k.value for k in n.keywords)]
                return not self.is_pure(n.func) and any(self.is_key(a) or self.fact(a).kind == "other" for a in given)
        return False

    def _fresh_memory(self, s: ast.Assign) -> bool:
        """Permit `np.empty` bound to names that are written into after; True where nothing else is bound, to one target."""
        found = pairs(s.targets[0], s.value)
        some = {v for t, v in found if isinstance(t, ast.Name) and t.id in self.filled and self.uninitialised(v)}
        self.permitted |= some
        return len(found) == len(some)

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

    def _at_the_end(self, node: ast.AST) -> set[ast.AST]:
        """What a function does last, where nothing is written any more: what it returns."""
        inside = [n for n in walk(node) if n is not node]
        after = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.With, ast.AsyncWith)
        if any(isinstance(n, after) or (isinstance(n, ast.Try) and n.finalbody) for n in inside):
            return set()
        last = [list(walk(n)) for n in inside if isinstance(n, ast.Return)]
        return {n for within in last if not any(map(self._writes, within)) for n in within}

    def _still(self, inside: list[ast.AST]) -> set[ast.AST]:
        """The slices of arrays that nothing in the function changes."""
        owned = [n for n in inside if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load) and self.unchanging(n.value)]
        return {*owned, *(part for n in owned for part in walk(n.slice))}

    def _flips(self, n: ast.AST, layouts: Layouts) -> bool:
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
            if layouts.decides(n) or (self.thorough and called_name(n, self.fact) in BY_LAYOUT):
                return True
            return named in ("flip", "fliplr", "flipud", "rot90") or (
                (callee.kind in ("function", "unknown") or self.is_ours(n.func)) and not self.is_straight(n.func) and self._writes(n)
            )
        return False


def is_identity(n: ast.AST) -> bool:
    """Whether a comparison asks for an object, not for its value."""
    return isinstance(n, ast.Compare) and any(isinstance(o, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for o in n.ops)


def _swallows(final: list[ast.stmt]) -> bool:
    """Whether a `finally` may end an error: it leaves the function, or a loop."""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for s in final for n in walk(s))


def _own(returned: Fact) -> bool:
    """True for a result that shares its memory with nothing."""
    if returned.kind == "sequence":
        return returned.items is not None and all(map(_own, returned.items))
    if returned.kind == "scalar":
        return False  # `x[0]` is a copy in NumPy and, as it stands, a view in torch
    return returned.fresh or returned.kind in ("number", "none", "text", "name", "dtype")


def _tests_of(n: ast.AST) -> list[ast.expr]:
    """The expressions that a construct asks for their truth."""
    if isinstance(n, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return [n.test]
    if isinstance(n, ast.comprehension):
        return n.ifs
    return [n.operand] if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not) else []


def _asked_for_truth(test: ast.expr) -> list[ast.expr]:
    return [t for v in test.values for t in _asked_for_truth(v)] if isinstance(test, ast.BoolOp) else [test]
