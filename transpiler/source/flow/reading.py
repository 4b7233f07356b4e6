"""Which names of a function are read after a place in it: a write is seen by another name only where that name is read again."""

from __future__ import annotations

import ast

from ..reading.walking import children, walk

Place = tuple[int, int]
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def yields(function: ast.AST) -> list[ast.Yield | ast.YieldFrom]:
    """The places at which a function is a generator; what functions inside it yield is their own."""
    found: list[ast.Yield | ast.YieldFrom] = []
    pending = children(function)
    while pending:
        n = pending.pop()
        if isinstance(n, (ast.Yield, ast.YieldFrom)):
            found.append(n)
        if not isinstance(n, _INNER):
            pending += children(n)
    return found


def leaves(body: list[ast.stmt]) -> bool:
    """True where a block certainly does not fall through to what follows it."""
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def awaits(function: ast.AST) -> bool:
    """Whether a function is a coroutine, or has one in it."""
    return any(isinstance(n, (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)) for n in walk(function))


def returns_function(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function returns one that is made in it."""
    own: list[ast.AST] = []
    pending: list[ast.AST] = list(function.body)
    while pending:
        n = pending.pop()
        own.append(n)
        if not isinstance(n, _INNER):
            pending += children(n)
    made = {n.name for n in own if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}

    def is_made(e: ast.expr | None) -> bool:
        if isinstance(e, (ast.Tuple, ast.List)):
            return any(map(is_made, e.elts))
        if isinstance(e, ast.IfExp):
            return is_made(e.body) or is_made(e.orelse)
        return isinstance(e, ast.Lambda) or (isinstance(e, ast.Name) and e.id in made)

    return any(isinstance(n, ast.Return) and is_made(n.value) for n in own)


class Reads:
    """Where each name of one function is read and bound, and the loops around these places."""

    def __init__(self, scope: ast.AST) -> None:
        self.loads: dict[str, list[Place]] = {}
        self.binds: dict[str, list[Place]] = {}
        self.loops: list[tuple[Place, Place]] = []
        self.ends: dict[int, Place] = {}
        self.reach: dict[Place, Place] = {}
        self.captured: set[str] = set()
        for n in walk(scope):
            if isinstance(n, ast.Name):
                held = self.loads if isinstance(n.ctx, ast.Load) else self.binds
                held.setdefault(n.id, []).append((n.lineno, n.col_offset))
            elif isinstance(n, (ast.For, ast.AsyncFor, ast.While)):
                self.loops.append(((n.lineno, n.col_offset), _end(n)))
            elif isinstance(n, _INNER) and n is not scope:
                self.captured |= {m.id for m in walk(n) if isinstance(m, ast.Name) and isinstance(m.ctx, ast.Load)}
            for block in (getattr(n, f, None) for f in ("body", "orelse", "finalbody")):
                if isinstance(block, list) and block:
                    self._block(block)
            if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)):
                self.ends.update({id(m): _end(n) for m in walk(n)})

    def _block(self, block: list[ast.stmt]) -> None:
        """What a statement binds holds for the rest of its block."""
        for statement in block:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target] if hasattr(statement, "target") else []
            for n in (n for t in targets for n in walk(t) if isinstance(n, ast.Name)):
                inner = isinstance(statement, (ast.For, ast.AsyncFor))
                self.reach[n.lineno, n.col_offset] = _end(statement if inner else block[-1])

    def after(self, name: str, node: ast.expr) -> bool:
        """Whether a name may be read after the statement in which a node stands, with what it is bound to there."""
        if name in self.captured:
            return True
        here = (node.lineno, node.col_offset)
        done = self.ends.get(id(node), _end(node))
        later = [(p, self.reach[p]) for p in self.binds.get(name, ()) if p > done and p in self.reach]
        if any(p > done and not any(a < p < b for a, b in later) for p in self.loads.get(name, ())):
            return True
        around = [(a, b) for a, b in self.loops if a <= here < b]
        again = [(a, b) for a, b in around if not any(a <= p < b for p in self.binds.get(name, ()))]
        return any(a <= p < b for a, b in again for p in self.loads.get(name, ()))


def _end(node: ast.AST) -> Place:
    return node.end_lineno or 0, node.end_col_offset or 0  # type: ignore[attr-defined]
