"""Casts to a foreign byte order whose result is only computed with: `x.astype(">f4") + 1`. What NumPy computes is in the machine's own
order, so the cast may be to that."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from ..facts.known import Fact

_FOREIGN = re.compile(r">([iufc]\d+)")
_COMPARING = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def native_literals(inside: Iterable[ast.AST], fact: Callable[[ast.AST], Fact], own: set[str]) -> dict[ast.AST, str]:
    """The literals of such dtypes, and what may stand in their place. `own`: names that are bound otherwise than by statements."""
    nodes = list(inside)
    found = {dtype: match[1] for call in nodes for dtype in _dtypes(call, fact) if (match := _FOREIGN.fullmatch(str(dtype.value)))}
    if not found:
        return {}
    uses = _Uses(nodes, fact, own)
    return {dtype: repr(code) for dtype, code in found.items() if uses.only_computed_with(uses.parents[dtype])}


def _dtypes(call: ast.AST, fact: Callable[[ast.AST], Fact]) -> Iterator[ast.Constant]:
    """The dtype of a cast where it is a text."""
    if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
        return
    method = isinstance(call.func, ast.Attribute) and call.func.attr == "astype" and fact(call.func.value).is_tensor
    if not method and fact(call.func).value not in ("numpy.array", "numpy.asarray"):
        return
    given = [*call.args[0 if method else 1 :][:1], *(k.value for k in call.keywords if k.arg == "dtype")]
    yield from (d for d in given if isinstance(d, ast.Constant) and isinstance(d.value, str))


class _Uses:
    """Where the values of a function's expressions go."""

    def __init__(self, nodes: list[ast.AST], fact: Callable[[ast.AST], Fact], own: set[str]) -> None:
        self.fact, self.own = fact, own
        self.parents: dict[ast.AST, ast.AST] = {}
        for n in (n for n in nodes if not isinstance(n, ast.keyword)):
            for child in ast.iter_child_nodes(n):
                self.parents[child.value if isinstance(child, ast.keyword) else child] = n
        self.names = [n for n in nodes if isinstance(n, ast.Name)]

    def only_computed_with(self, value: ast.AST) -> bool:
        """Whether an expression is an operand, or is cast again, and so is every use of the variable that it is bound to."""
        user = self.parents.get(value)
        if isinstance(user, ast.BinOp):
            return self.fact(user.right if value is user.left else user.left).kind in ("array", "scalar", "number", "tensor")
        if isinstance(user, ast.UnaryOp):
            return isinstance(user.op, (ast.USub, ast.Invert))
        if isinstance(user, ast.Compare):
            return all(isinstance(op, _COMPARING) for op in user.ops)
        if isinstance(user, ast.Attribute) and user.attr == "astype":
            call = self.parents.get(user)
            is_called = isinstance(call, ast.Call) and call.func is user
            return is_called and any(not str(d.value).startswith(">") for d in _dtypes(self.parents[user], self.fact))
        if isinstance(user, ast.Assign) and len(user.targets) == 1 and isinstance(user.targets[0], ast.Name):
            name = user.targets[0].id
            bound = [n for n in self.names if n.id == name and not isinstance(n.ctx, ast.Load)]
            reads = [n for n in self.names if n.id == name and isinstance(n.ctx, ast.Load)]
            return len(bound) == 1 and name not in self.own and all(map(self.only_computed_with, reads))
        return False
