"""Where it matters how NumPy lays an intermediate array out: `y = z.ravel()` is a view or a copy by that, and a write shows which.

Most of torch's functions lay their results out as NumPy's do as long as one array goes in; where that is not certain, and the flat array
and the one it was taken of both live on, run time has to ask NumPy (`np2fx.semantics.layouts`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..facts.known import Fact, key_parts
from ..reading.table import RuleSource, Table
from ..reading.walking import children, walk

BY_LAYOUT = ("reshape", "ravel", "ascontiguousarray", "asfortranarray", "require")
"""What gives a view or a copy, by the order of the elements in memory."""
_OF_ONE = ("elementwise", "predicate")
_COPIES = ("asarray", "asanyarray", "array", "copy", "astype", "zeros_like", "ones_like", "full_like", "empty_like")


def called_name(call: ast.Call, fact: Callable[[ast.AST], Fact]) -> str:
    """The last part of the name of NumPy's function, or of the method, that is called."""
    callee = fact(call.func)
    return str(callee.value).rpartition(".")[2] if callee.kind == "name" else getattr(call.func, "attr", "")


class Layouts:
    """The layouts of one function's arrays.

    function  with the nodes `inside` it
    fact      what is known of an expression
    """

    def __init__(self, function: ast.AST, inside: list[ast.AST], fact: Callable[[ast.AST], Fact], table: Table) -> None:
        self.fact, self.table = fact, table
        self.bound: dict[str, list[ast.expr | None]] = {}
        """what the names of the function are bound to, None for what is not followed"""
        self.loads: dict[str, list[ast.Name]] = {}
        self.parents = {child: n for n in inside for child in children(n)}
        plain = {t: s.value for s in inside if isinstance(s, ast.Assign) for t in s.targets}
        for n in inside:
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                self.loads.setdefault(n.id, []).append(n)
            elif isinstance(n, ast.Name) and not isinstance(self.parents.get(n), ast.AugAssign):
                self.bound.setdefault(n.id, []).append(plain.get(n))

    def decides(self, call: ast.Call) -> bool:
        """Whether the layout of an intermediate array decides what a write into the call's result changes, or may."""
        if called_name(call, self.fact) not in BY_LAYOUT or self._is_used_up(call):
            return False
        array = self._array_of(call)
        base = array
        while isinstance(base, (ast.Attribute, ast.Subscript, ast.Call)):
            base = (self._array_of(base) or ast.Constant(None)) if isinstance(base, ast.Call) else base.value
        if array is None or not isinstance(base, ast.Name) or self._is_as_numpys(array, frozenset()):
            return False
        inside = set(walk(call))
        return any(load not in inside and not self._is_used_up(load) for load in self.loads.get(base.id, ()))

    def _array_of(self, call: ast.Call) -> ast.expr | None:
        """The array that a call is made of: a method's own, else the first argument."""
        method = isinstance(call.func, ast.Attribute) and self.fact(call.func).kind != "name"
        return call.func.value if method else call.args[0] if call.args else next((k.value for k in call.keywords), None)  # type: ignore[attr-defined]

    def _rule(self, call: ast.Call) -> RuleSource | None:
        callee = self.fact(call.func)
        name = str(callee.value) if callee.kind == "name" else f"numpy.ndarray.{getattr(call.func, 'attr', '')}"
        return self.table.rules.get(name)

    def _is_used_up(self, e: ast.expr) -> bool:
        """Nothing keeps the array, or a view of it, when the expression around it has been computed."""
        around = self.parents.get(e)
        if isinstance(around, ast.Attribute) and around.attr in ("shape", "ndim", "size", "dtype"):
            return True
        if isinstance(around, ast.Attribute) and isinstance(call := self.parents.get(around), ast.Call) and call.func is around:
            around = call
        if isinstance(around, ast.Call):
            rule = self._rule(around)
            return rule is not None and not (rule.view or rule.writes or rule.kind in ("creation", "python", "iteration"))
        return isinstance(around, (ast.BinOp, ast.UnaryOp, ast.Compare))

    def _is_as_numpys(self, e: ast.expr, seen: frozenset[str]) -> bool:
        """Whether torch lays the value out as NumPy does, certainly."""
        fact = self.fact(e)
        if not fact.may_be_tensor or fact.rank == 0 or (fact.rank == 1 and fact.fresh):
            return True
        if isinstance(e, ast.Name):
            bound = self.bound.get(e.id, [])
            return e.id in seen or all(b is not None and self._is_as_numpys(b, seen | {e.id}) for b in bound)
        if isinstance(e, ast.Attribute):
            return self._is_as_numpys(e.value, seen)
        if isinstance(e, ast.Subscript):
            slices = all(isinstance(p, (ast.Slice, ast.Constant)) or self.fact(p).kind in ("number", "none") for p in key_parts(e.slice))
            return slices and self._is_as_numpys(e.value, seen)
        if isinstance(e, ast.IfExp):
            return self._is_as_numpys(e.body, seen) and self._is_as_numpys(e.orelse, seen)
        if isinstance(e, ast.UnaryOp):
            return self._is_as_numpys(e.operand, seen)
        if isinstance(e, ast.BinOp):
            return not isinstance(e.op, ast.MatMult) and self._is_of_one([e.left, e.right], seen)
        return isinstance(e, ast.Call) and self._is_call_as_numpys(e, seen)

    def _is_call_as_numpys(self, call: ast.Call, seen: frozenset[str]) -> bool:
        rule, name = self._rule(call), called_name(call, self.fact)
        if rule is None or any(k.arg in ("order", "out", None) for k in call.keywords):
            return False
        operands = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(call.func, ast.Attribute) and self.fact(call.func).kind != "name":
            operands.insert(0, call.func.value)
        if name == "broadcast_to":
            return False  # a copy of it is laid out otherwise
        alone = rule.view or rule.kind in _OF_ONE or (rule.kind == "creation" and name in _COPIES)
        arrays = self._is_of_one(operands, seen)
        return arrays if alone else rule.kind == "creation" and not any(self.fact(o).may_be_tensor for o in operands)

    def _is_of_one(self, operands: list[ast.expr], seen: frozenset[str]) -> bool:
        """Whether one array at most is among them, which is laid out as NumPy's."""
        arrays = [o for o in operands if self.fact(o).may_be_tensor and self.fact(o).rank != 0]
        return len(arrays) < 2 and all(self._is_as_numpys(a, seen) for a in arrays)
