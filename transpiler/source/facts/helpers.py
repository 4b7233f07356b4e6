"""Helpers: the functions of the project that nodes call, found through imports and methods.

A helper that only nodes (and their helpers) call can be torch with them. One that anything else in the project calls or names is NumPy on
torch, which takes and returns whatever it did.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..reading.mentions import REPLACED, Mentions, is_module_replaced
from ..reading.nodes import Function
from ..reading.project import Parsed, Project
from ..reading.walking import walk

if TYPE_CHECKING:
    from .module import Module


@dataclass(eq=False)
class Helper:
    """A function that nodes call.

    alone   none but nodes and their helpers call it
    caller  the first node that needs it, as "path:name\""""

    parsed: Parsed
    function: ast.FunctionDef
    qualname: str
    method: bool
    done: bool = False
    alone: bool = True
    caller: str = ""


@dataclass(eq=False)
class Link:
    """A call of a helper: the expression that names it, and how the name came to be.

    how  "own" (the same module), "method" (`self.scale`), "from" (imported by name), "module" (`helpers.scale`)"""

    helper: Helper
    func: ast.expr
    how: str


class Helpers:
    """The helpers of some modules' nodes, found once; `plan` says which of them the nodes that are left need.

    module_of  a file of the project as a module, which says what is no helper (its nodes) and what was rewritten before"""

    def __init__(self, project: Project, module_of: Callable[[Parsed], Module]) -> None:
        self.project, self.module_of = project, module_of
        self.known: dict[Function, Helper] = {}
        self._links: dict[Function, list[tuple[ast.Call, Link]]] = {}
        self._mentions: dict[Function, Mentions] = {}
        self._replaced: dict[Parsed, bool] = {}
        self._named: dict[Function, list[ast.AST]] = {}

    def links(self, parsed: Parsed, function: Function) -> list[tuple[ast.Call, Link]]:
        """The calls of helpers in a function's body, those in functions inside it too."""
        if function not in self._links:
            found = []
            for s in function.body:
                for n in walk(s):
                    link = self._link(parsed, function, n.func) if isinstance(n, ast.Call) else None
                    if link is not None:
                        assert isinstance(n, ast.Call)
                        found.append((n, link))
            self._links[function] = found
        return self._links[function]

    def plan(self, nodes: dict[Function, Parsed], without: set[Function]) -> tuple[list[Helper], dict[ast.AST, Link]]:
        """The helpers that nodes need, callers before those they call, and the links to them by the expression that names them."""
        links: dict[ast.AST, Link] = {}
        found: list[Helper] = []
        pending = [(f, p, f"{p.path}:{p.functions[f][0]}") for f, p in nodes.items()]
        seen: set[Function] = set()
        while pending:
            function, parsed, caller = pending.pop(0)
            for _, link in self.links(parsed, function):
                helper = link.helper
                if helper.function in without:
                    continue
                links[link.func] = link
                if helper.done:
                    continue
                if helper.function not in seen:
                    seen.add(helper.function)
                    found.append(helper)
                    helper.caller = caller
                    pending.append((helper.function, helper.parsed, caller))
        return found, links

    def cyclic(self, helpers: list[Helper]) -> list[Helper]:
        """Those that call themselves, through whatever others."""
        calls = {h.function: {link.helper.function for _, link in self.links(h.parsed, h.function)} for h in helpers}
        found = []
        for h in helpers:
            seen: set[Function] = set()
            pending = list(calls[h.function])
            while pending:
                f = pending.pop()
                if f not in seen:
                    seen.add(f)
                    pending += calls.get(f, ())
            if h.function in seen:
                found.append(h)
        return found

    def is_replaced(self, parsed: Parsed, function: Function) -> bool:
        """Whether something in the project may put another in the place of a function that others import."""
        if parsed not in self._replaced:
            self._replaced[parsed] = is_module_replaced(self.project, parsed)
        if function not in self._mentions:
            self._mentions[function] = Mentions(self.project, parsed, function, False)
        return self._replaced[parsed] or self._mentions[function].beyond(set()) == REPLACED

    def elsewhere(self, helper: Helper, converted: dict[Function, Parsed], links: dict[ast.AST, Link]) -> str:
        """Whether something that is not converted speaks of a helper (NO, YES, REPLACED)."""
        if helper.function not in self._mentions:
            self._mentions[helper.function] = Mentions(self.project, helper.parsed, helper.function, helper.method)
        if any(link.helper is helper and link.how not in ("own", "method") for link in links.values()):
            if helper.parsed not in self._replaced:
                self._replaced[helper.parsed] = is_module_replaced(self.project, helper.parsed)
            if self._replaced[helper.parsed]:
                return REPLACED
        places = {f for f, link in links.items() if link.helper is helper}
        if not helper.method:
            places |= {n for f, p in converted.items() for n in self.values(p, f, helper)}
        return self._mentions[helper.function].beyond(places)

    def values(self, parsed: Parsed, function: Function, helper: Helper) -> list[ast.AST]:
        """Where a function of the helper's own module hands it on as a value: `map(scale, xs)`."""
        if parsed is not helper.parsed:
            return []
        if function not in self._named:
            body = [n for s in function.body for n in walk(s)]
            calls = {n.func for n in body if isinstance(n, ast.Call)}
            self._named[function] = [n for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in calls]
        return [n for n in self._named[function] if parsed.names.definition(n) is helper.function]  # type: ignore[attr-defined]

    # One call.

    def _link(self, parsed: Parsed, function: Function, func: ast.expr) -> Link | None:
        names = parsed.names
        definition = names.definition(func)
        if definition is not None:
            if not isinstance(definition, ast.FunctionDef) or parsed.functions.get(definition, ("", True))[1]:
                return None
            return self._to(parsed, definition, func, "own") if not names.is_local_function(definition) else None
        if isinstance(func, ast.Attribute) and parsed.functions.get(function, ("", False))[1]:
            method = self._method(parsed, function, func)
            if method is not None:
                return self._to(parsed, method, func, "method")
        qualified = names.qualified(func)
        if qualified is None:
            return None
        base = func
        while isinstance(base, ast.Attribute):
            base = base.value
        assert isinstance(base, ast.Name)
        place = None if names.is_local(base) else _import_of(parsed.tree, base.id)
        found = self.project.find(qualified, parsed.path) if place is not None else None
        if found is None or place is None or found[0] is parsed:
            return None
        return self._to(found[0], found[1], func, "from" if isinstance(func, ast.Name) else "module")

    def called_of_self(self, parsed: Parsed, function: Function, func: ast.expr) -> Function | None:
        """The method of the same class, or of one of its bases in the same file, that `self.name(...)` or `self(...)` calls."""
        if not parsed.functions.get(function, ("", False))[1]:
            return None
        base, name = (func.value, func.attr) if isinstance(func, ast.Attribute) else (func, "__call__")
        owner = parsed.functions[function][0].rpartition(".")[0]
        return _method_of(parsed, owner, name) if self._is_self(parsed, function, base) else None

    def _method(self, parsed: Parsed, function: Function, func: ast.Attribute) -> ast.FunctionDef | None:
        """The method of the same class that `self.name` is, as far as the class says."""
        if func.attr.startswith("__") or not self._is_self(parsed, function, func.value):
            return None
        owner = parsed.functions[function][0].rpartition(".")[0]
        found = [f for f, (name, method) in parsed.functions.items() if method and name == f"{owner}.{func.attr}"]
        return found[0] if len(found) == 1 and isinstance(found[0], ast.FunctionDef) else None

    def _is_self(self, parsed: Parsed, function: Function, base: ast.expr) -> bool:
        """Whether an expression is the object whose method a function is."""
        positional = [*function.args.posonlyargs, *function.args.args]
        decorated = {parsed.names.qualified(getattr(d, "func", d)) for d in function.decorator_list}
        if not isinstance(base, ast.Name) or not positional or base.id != positional[0].arg:
            return False
        if decorated & {"builtins.staticmethod", "builtins.classmethod"}:
            return False
        scope = parsed.names.scope(base)
        while scope is not None and base.id not in scope.bindings:
            scope = scope.parent
        return scope is not None and scope.node is function and len(scope.bindings[base.id]) == 1

    def _to(self, parsed: Parsed, function: ast.FunctionDef, func: ast.expr, how: str) -> Link | None:
        """The link to a function, where it is one that can be a helper: plain, undecorated, and no node itself."""
        if function not in self.known:
            home = self.module_of(parsed)
            done = function in home.done
            if function in home.marked or (not done and (function.decorator_list or function.name.startswith("__"))):
                return None
            qualname, method = parsed.functions[function]
            self.known[function] = Helper(parsed, function, qualname, method, done)
        return Link(self.known[function], func, how)


def _method_of(parsed: Parsed, owner: str, name: str) -> Function | None:
    """A method that a class of a file has, by itself or from its bases in that file."""
    pending, seen = [owner], set()
    while pending:
        owner = pending.pop(0)
        found = [f for f, (qualname, method) in parsed.functions.items() if method and qualname == f"{owner}.{name}"]
        if found:
            return found[-1]
        if owner not in seen:
            seen.add(owner)
            classes = [s for s in parsed.tree.body if isinstance(s, ast.ClassDef) and s.name == owner]
            pending += [b.id for c in classes for b in c.bases if isinstance(b, ast.Name)]
    return None


def _import_of(tree: ast.Module, name: str) -> tuple[ast.ImportFrom | ast.Import, ast.alias] | None:
    """The import at the top of a module that binds a name, on lines of its own, where there is one such statement."""
    found = []
    for before, s, after in zip([None, *tree.body], tree.body, [*tree.body[1:], None], strict=False):
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            alone = (before is None or before.end_lineno != s.lineno) and (after is None or after.lineno != s.end_lineno)
            bound = [a for a in s.names if (a.asname or a.name.partition(".")[0]) == name]
            found += [(s, a) for a in bound if alone]
    return found[0] if found else None
