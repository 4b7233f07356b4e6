"""Expressions, as check reads them: what each gives, and the findings that indexing, comparing and branching are.

Every `visit_X` takes a node and returns its abstract value.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..facts.narrowing import narrowed
from ..facts.values import (
    MAYBE,
    NONE,
    NUMBER,
    OBJECT,
    TEXT,
    UNKNOWN,
    Value,
    array,
    element_of,
    guessed,
    join,
    join_all,
    of_constant,
    operated,
)
from ..facts.values import sequence as sequence_of
from ..flow.ways import chosen
from .calls import Calls
from .targets import follows_branches

OPERATORS = {ast.Div: "divide", ast.BitAnd: "bits", ast.BitOr: "bits", ast.BitXor: "bits"}


class Expressions(Calls):
    """What expressions give."""

    def visit_Constant(self, e: ast.Constant) -> Value:
        return of_constant(e.value)

    def visit_JoinedStr(self, e: ast.JoinedStr) -> Value:
        shown = [v for v in e.values if isinstance(v, ast.FormattedValue)]
        values = [self.visit(v.value) for v in shown]
        for v, value in zip(shown, values, strict=True):
            self.as_text(v.value, value)
            if v.format_spec is not None:
                self.visit(v.format_spec)
        return Value("text", any(v.traced for v in values))

    def visit_Name(self, e: ast.Name) -> Value:
        if e.id in self.env:
            return self.env[e.id]
        if e.id in self.module_env:
            return self.module_env[e.id]
        outer = self.names.is_global_variable(e) or self.names.qualified(e) is not None or not self.names.is_local(e)
        return Value("unknown", memory=frozenset({f"state {e.id}"})) if outer else UNKNOWN

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
            return Value(
                "sequence", any(v.traced for v in values), element=join_all(element_of(v) if v.kind == "sequence" else v for v in values)
            )
        return sequence_of(values)

    visit_List = visit_Tuple

    def visit_Set(self, e: ast.Set) -> Value:
        values = [self.visit(i) for i in e.elts]
        for item, value in zip(e.elts, values, strict=True):
            self.hashed(item, element_of(value) if isinstance(item, ast.Starred) else value)
        return Value("sequence", any(v.traced for v in values), element=join_all(values))

    def visit_Dict(self, e: ast.Dict) -> Value:
        keys = [k for k in e.keys if k is not None]
        for key in keys:
            self.hashed(key, self.visit(key))
        values = [self.visit(v) for v in e.values]
        return Value("mapping", any(v.traced for v in values), element=join_all(values))

    def visit_BinOp(self, e: ast.BinOp) -> Value:
        left, right = self.visit(e.left), self.visit(e.right)
        if left.kind == "text":
            if isinstance(e.op, ast.Mod):
                self.as_text(e.right, right)
            return replace(TEXT, traced=left.traced or right.traced)
        if {left.kind, right.kind} <= {"sequence", "number"} and "sequence" in (left.kind, right.kind):
            return Value(
                "sequence", left.traced or right.traced, element=join_all(element_of(v) for v in (left, right) if v.kind == "sequence")
            )
        if isinstance(e.op, ast.MatMult):
            rank = (
                None
                if left.rank is None or right.rank is None
                else left.rank + right.rank - 2
                if 1 in (left.rank, right.rank)
                else max(left.rank, right.rank)
            )
            return self.made(e, replace(operated("", left, right), rank=rank))
        found = operated(OPERATORS.get(type(e.op), ""), left, right)
        if right.kind == "number" and right.traced and isinstance(e.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            self.may_raise(e, "ZeroDivisionError")
        self.widened(e, found, left, right)
        return self.made(e, found)

    def visit_UnaryOp(self, e: ast.UnaryOp) -> Value:
        operand = self.visit(e.operand)
        if isinstance(e.op, ast.Not):
            self.operands[e.operand] = operand
            self.truth(e.operand, operand)
            return Value("number", dtype="bool")
        if operand.kind == "number" and isinstance(operand.constant, (int, float)) and isinstance(e.op, ast.USub):
            return replace(operand, constant=-operand.constant)
        return self.made(e, operated("", operand))

    def visit_BoolOp(self, e: ast.BoolOp) -> Value:
        values, holds = [self.visit(e.values[0])], isinstance(e.op, ast.And)
        for n, operand in enumerate(e.values[1:], 1):
            before = e.values[0] if n == 1 else ast.BoolOp(e.op, e.values[:n])
            values.append(self.assuming(before, holds, operand))
        self.operands.update(zip(e.values, values, strict=True))
        follows = [self.truth(node, value) for node, value in zip(e.values[:-1], values[:-1], strict=True)]
        if not any(follows):
            return join_all(values)
        found = values[-1]
        for node, value, followed in reversed(list(zip(e.values[:-1], values[:-1], follows, strict=True))):
            found = chosen(node, value, found) if followed else join(value, found)
        return found

    def assuming(self, test: ast.expr, holds: bool, e: ast.expr) -> Value:
        """What an expression gives where a test came out so."""
        known = narrowed(test, holds, self.env, self.names)
        before = {k: self.env[k] for k in known}
        self.env.update(known)
        value = self.visit(e)
        self.env.update({k: v for k, v in before.items() if self.env.get(k) is known[k]})
        return value

    def visit_Compare(self, e: ast.Compare) -> Value:
        operands = [self.visit(e.left), *map(self.visit, e.comparators)]
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in e.ops) or any(o.kind in ("text", "none") for o in operands):
            return Value("number", dtype="bool")
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in e.ops):
            asked = operands if operands[-1].is_array else operands[:1]  # keys and items are compared one by one, in Python
            return Value("number", any(o.is_data for o in asked), dtype="bool")
        found = operated("compare", *operands)
        if len(e.ops) > 1 and found.is_data and not follows_branches(self.target):
            self.say("data-dependent-branch", e, "a chained comparison asks the first part for its truth", "write `(a < x) & (x < b)`")
            return Value("number", dtype="bool")
        return self.made(e, found)

    def visit_IfExp(self, e: ast.IfExp) -> Value:
        follows = self.truth(e.test, self.visit(e.test))
        sides = self.assuming(e.test, True, e.body), self.assuming(e.test, False, e.orelse)
        return chosen(e.test, *sides) if follows else join(*sides)

    def visit_ListComp(self, e: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        outer = dict(self.env)
        for generator in e.generators:
            self.bind(generator.target, self.iterated(generator.iter, self.visit(generator.iter)))
            for test in generator.ifs:
                self.truth(test, self.visit(test))
        if isinstance(e, ast.DictComp):
            self.hashed(e.key, self.visit(e.key))
            value = self.visit(e.value)
        else:
            value = self.visit(e.elt)
        self.env = outer
        return Value("mapping" if isinstance(e, ast.DictComp) else "sequence", value.traced, element=value)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_Attribute(self, e: ast.Attribute) -> Value:
        qualified = self.names.qualified(e)
        if qualified is not None and qualified.startswith(("numpy.", "math.")):
            return (
                replace(NUMBER, dtype="float")
                if e.attr in ("pi", "e", "inf", "nan", "euler_gamma", "tau")
                else NONE
                if e.attr == "newaxis"
                else OBJECT
            )
        owner = self.visit(e.value)
        if owner.is_array:
            found = self.array_attribute(e, owner)
            if found is not None:
                return found
            if owner.assumed and isinstance(e.value, ast.Name):  # not an array after all
                self.env[e.value.id] = Value("object", True, memory=owner.memory)
        if owner.kind == "unknown" and owner.traced and e.attr in ("shape", "ndim", "size", "itemsize", "nbytes", "dtype"):
            return self.array_attribute(e, array(True)) or UNKNOWN
        states = {m for m in owner.memory if m.startswith("state ")}
        return Value(
            "unknown", owner.traced and owner.kind != "object", memory=frozenset({f"state {ast.unparse(e)}"}) if states else owner.memory
        )

    def array_attribute(self, e: ast.Attribute, owner: Value) -> Value | None:
        if e.attr == "shape":
            return Value("sequence", items=(NUMBER,) * owner.rank) if owner.rank is not None else Value("sequence", element=NUMBER)
        if e.attr in ("ndim", "size", "itemsize", "nbytes"):
            return replace(NUMBER, dtype="int")
        if e.attr in ("T", "mT", "real", "imag", "flat"):
            return replace(
                owner, rank=1 if e.attr == "flat" else owner.rank, assumed=False, dtype=owner.dtype if e.attr in ("T", "mT") else None
            )
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
                element = replace(array(True, memory=owner.memory), guess=owner.guess)
                self.env[e.value.id] = owner = Value("mapping", True, element=element, memory=owner.memory)
            return self.item(owner, e) if owner.kind == "mapping" else Value("unknown", owner.traced, memory=owner.memory)
        if owner.kind in ("sequence", "mapping"):
            if isinstance(e.slice, ast.Slice):
                return replace(owner, items=None, element=element_of(owner))
            if key.is_data:
                self.say_of(
                    key, "python-value", e.slice, "an array value picks an item of a Python container",
                    "stack the items into an array first",
                )
            index = key.constant
            if owner.items is not None and isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
                return owner.items[index]
            return element_of(owner)
        if owner.is_array:
            return self.indexed(e, owner)
        return Value("unknown", owner.traced or key.traced, memory=owner.memory)

    def item(self, owner: Value, e: ast.expr) -> Value:
        """What a dict holds under a key."""
        element = element_of(owner)
        return guessed(element, e) if element.guess else element

    def visit_Slice(self, e: ast.Slice) -> Value:
        for bound in (e.lower, e.upper, e.step):
            value = UNKNOWN if bound is None else self.visit(bound)
            if bound is not None and bound is e.step:  # the ends may be computed
                self.known_number([bound], [value])
            if bound is not None and value.is_data:
                self.say_of(
                    value, "data-dependent-shape", bound, "a slice bound is an array value",
                    "use a mask: np.where(np.arange(n) < k, x, 0)",
                )
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
            elif (value.is_array and value.rank != 0) or value.kind in ("sequence", "unknown", "object"):
                advanced = advanced or value.kind in ("array", "sequence")
                whole = False
                if value.is_array and value.dtype == "bool" and value.traced and value.rank != 0:
                    self.say("data-dependent-shape", e, "a mask picks as many elements as are true: the shape depends on array values",
                             "keep the shape: np.where(mask, x, 0)")  # fmt: skip
                gone = gone if value.kind == "array" else -100
            else:
                integers += 1
        traced = owner.traced or any(v.traced for v in values)
        if any(v.is_data and v.dtype != "bool" for v in values):
            self.may_raise(e, "IndexError")
        unsure = gone < 0 or advanced
        element = whole and integers and not added and not unsure and owner.rank in (None, integers)
        if element and owner.traced and owner.constant is None:
            self.scalar(e, _short(e), owner, integers)
        rank = None if owner.rank is None or unsure else max(owner.rank - integers + added, 0)
        if advanced:
            return self.made(e, array(traced, None, owner.dtype))
        memory = frozenset() if rank == 0 and whole else owner.memory
        if whole and integers and rank is None:
            memory = frozenset(MAYBE + m.removeprefix(MAYBE) for m in memory)
        elif integers == 0:  # what can be sliced is no scalar
            memory = frozenset(m.removeprefix(MAYBE) for m in memory)
        constant = owner.constant if owner.constant == "Tensor" or whole else None
        return Value("array", traced, rank, owner.dtype, memory=memory, constant=constant, guess=owner.guess)

    def widened(self, e: ast.AST, found: Value, *operands: Value) -> None:
        """A float32 array that meets a float64 one."""
        narrow = any(o.is_array and o.dtype == "float32" and o.traced for o in operands)
        if narrow and found.dtype == "float64":
            self.say("float64-promotion", e)


def _short(e: ast.expr) -> str:
    text = ast.unparse(e)
    return f"`{text}`" if len(text) <= 30 else "this index"
