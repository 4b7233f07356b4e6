"""Whether the lists of a function may change: then what is known of their items when they are made is not known for long.

Names share lists, and lists hold lists, so that a change is one of them all. Only what is bound to nothing but fresh empty lists and to
dicts can be filled without a word: of its items nothing is known anyway.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..facts.known import UNKNOWN, Fact
from ..reading.walking import walk

_CHANGE = ("append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort", "__setitem__", "__delitem__", "__iadd__", "__imul__",
           "appendleft", "extendleft", "popleft", "rotate")  # fmt: skip
"""Methods that change the list they belong to."""

_ONLY_READ = ("len", "min", "max", "sum", "sorted", "list", "tuple", "set", "frozenset", "dict", "zip", "enumerate", "range", "reversed",
              "iter", "isinstance", "print", "str", "repr", "any", "all", "abs", "float", "int", "bool", "type", "id", "hash")  # fmt: skip


def lists_change(node: ast.AST, facts: Mapping[ast.AST, Fact]) -> bool:
    """True where something in the function may change a list of which something is known. `facts` hold until the first change."""
    inside = list(walk(node))
    own = _filled_only(inside)
    outside = _parameters(node) - {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}

    def apart(e: ast.expr) -> bool:
        """No list with known items: an array, something empty of the function's own, something that came in of which nothing is known."""
        fact = facts.get(e, UNKNOWN)
        if fact.is_tensor or fact.kind in ("number", "text", "none", "name", "dtype") or (isinstance(e, ast.Name) and e.id in own):
            return True
        while isinstance(e, (ast.Attribute, ast.Subscript)):
            e = e.value
        return isinstance(e, ast.Name) and e.id in outside and facts.get(e, UNKNOWN) == UNKNOWN

    def keeps(e: ast.expr) -> bool:
        """A list with known items that has a name, or may have one: whoever is given it can change it."""
        names = [n for n in walk(e) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Load)]
        return any(_is_known(facts.get(n, UNKNOWN)) and not (isinstance(n, ast.Name) and n.id in own) for n in names)

    for n in inside:
        if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load) and not apart(n.value):
            return True
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load) and n.attr in _CHANGE and not apart(n.value):
            return True
        if isinstance(n, ast.AugAssign) and _is_known(facts.get(n.target, UNKNOWN)):
            return True
        if isinstance(n, ast.Assign) and any(isinstance(t, ast.Attribute) for t in n.targets) and keeps(n.value):
            return True
        if isinstance(n, ast.Call) and not _reads(n, facts) and any(map(keeps, [*n.args, *(k.value for k in n.keywords)])):
            return True
    return False


def _is_known(fact: Fact) -> bool:
    """True for what may be a list, and of whose items something is known."""
    if fact.kind != "sequence":
        return False
    if fact.value == "tuple":
        return any(map(_is_known, fact.items or ()))
    return bool(fact.items) or fact.element not in (None, UNKNOWN)


def _reads(call: ast.Call, facts: Mapping[ast.AST, Fact]) -> bool:
    """True for a function that changes no list that it is given."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in (*_CHANGE, "format", "join", "get", "update", "add"):
        return True
    callee = facts.get(call.func, UNKNOWN)
    if callee.is_tensor or callee.kind != "name":
        return isinstance(call.func, ast.Attribute) and facts.get(call.func.value, UNKNOWN).is_tensor
    name = str(callee.value)
    return name.startswith(("numpy.", "math.", "torch.")) or name.removeprefix("builtins.") in _ONLY_READ


def _filled_only(inside: list[ast.AST]) -> set[str]:
    """The names that are bound to nothing but new empty lists, and dicts."""
    bound: dict[str, bool] = {}
    values = {t: s.value for s in inside if isinstance(s, ast.Assign) for t in s.targets}
    values |= {s.target: s.value for s in inside if isinstance(s, ast.AnnAssign) and s.value is not None}
    for n in inside:
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            bound[n.id] = bound.get(n.id, True) and n in values and _is_empty(values[n])
        elif isinstance(n, ast.arg):
            bound[n.arg] = False
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            bound.update(dict.fromkeys(n.names, False))
    return {name for name, empty in bound.items() if empty}


def _is_empty(e: ast.expr) -> bool:
    if isinstance(e, ast.Call):
        return isinstance(e.func, ast.Name) and e.func.id in ("list", "dict", "defaultdict", "OrderedDict") and not e.args
    return isinstance(e, (ast.Dict, ast.DictComp)) or (isinstance(e, ast.List) and not e.elts)


def _parameters(node: ast.AST) -> set[str]:
    args = getattr(node, "args", None)
    return {a.arg for a in walk(args) if isinstance(a, ast.arg)} if args is not None else set()
