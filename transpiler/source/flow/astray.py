"""Torch's own tensors that go where nobody knows them from arrays any more: into containers, and through functions that others call.

To rewritten text an array is a tensor, so that `t.std()` of a value of which nothing is known would get NumPy's meaning."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ..facts.known import Fact, element_of

_STORING = frozenset(("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "put", "__setitem__"))
_HANDING = frozenset(("map", "filter", "sorted", "min", "max", "iter", "next", "reversed", "dict", "set", "frozenset"))
"""Builtins that hand on what they are given, or call a function with it."""

_TORCHS = ("torch", "either")


def goes_astray(inside: Iterable[ast.AST], fact: Callable[[ast.AST], Fact]) -> bool:
    """Whether some torch tensor of a function, whose nodes these are, is put where its kind is lost."""
    nodes = list(inside)
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    lambdas = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda)]
    own |= {t.id for n in lambdas for t in n.targets if isinstance(t, ast.Name)}
    return any(_loses(n, fact, own) for n in nodes)


def _loses(n: ast.AST, fact: Callable[[ast.AST], Fact], own: set[str]) -> bool:
    if isinstance(n, (ast.Dict, ast.Set)):
        return any(v is not None and _is_torchs(fact(v)) for v in (n.values if isinstance(n, ast.Dict) else n.elts))
    if isinstance(n, ast.Assign):
        return any(isinstance(t, ast.Subscript) for t in n.targets) and fact(n.value).kind in _TORCHS and not _into_array(n, fact)
    if not isinstance(n, ast.Call):
        return False
    given = [fact(a) for a in (*n.args, *(k.value for k in n.keywords))]
    callee = fact(n.func)
    name = str(callee.value) if callee.kind == "name" else ""
    hands = name.removeprefix("builtins.") in _HANDING or name.startswith(("itertools.", "functools.", "heapq.", "collections."))
    if hands and any(f.kind == "name" and str(f.value).startswith("torch.") for f in given):
        return True
    stores = isinstance(n.func, ast.Attribute) and n.func.attr in _STORING and fact(n.func.value).kind not in _TORCHS and not name
    calls = isinstance(n.func, ast.Lambda) or (isinstance(n.func, ast.Name) and n.func.id in own)
    return (hands or stores or calls) and any(map(_is_torchs, given))


def _into_array(s: ast.Assign, fact: Callable[[ast.AST], Fact]) -> bool:
    """`out[0] = t`: an array has the numbers."""
    return all(not isinstance(t, ast.Subscript) or fact(t.value).is_tensor or fact(t.value).kind in _TORCHS for t in s.targets)


def _is_torchs(f: Fact) -> bool:
    return f.kind in _TORCHS or (f.kind == "sequence" and element_of(f).kind in _TORCHS)
