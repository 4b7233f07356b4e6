"""Names: what a name or a dotted chain in a module stands for, by Python's own scoping rules.

    names = Names(ast.parse(text))
    names.qualified(node)     # "numpy.linalg.norm", "scipy.ndimage.zoom", ".helpers.scale", "builtins.len", or None

A chain has a qualified name only where every binding of its first name agrees on one: imports and plain aliases of them
(`xp = np`). A parameter, a rebinding, a loop variable, a `def` in the other branch: None, which is "not known".
A call result has no name: `np.array(a).reshape` is None. Relative imports keep their dots: `from . import np_helpers as np`
makes `np.sum` ".np_helpers.sum".
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ...deep import deep
from .table import load_table
from .walking import children

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_BUILTINS = frozenset(dir(builtins))
_IMPORT_FAILURES = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"}


@dataclass(eq=False)
class Binding:
    """One place where a scope's name gets a value: `qualified` for an import, `alias` for `xp = np`, else opaque.

    `fallback` marks one in `except ImportError:` and is then the try body's bindings, which win where they are NumPy's."""

    qualified: str | None = None
    alias: ast.expr | None = None
    definition: ast.AST | None = None
    is_none: bool = False
    fallback: list[Binding] | None = None


@dataclass(eq=False)
class Scope:
    """A module, class, function, lambda or comprehension, with the bindings of its names."""

    node: ast.AST
    kind: str
    parent: Scope | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    def bind(self, name: str, binding: Binding) -> None:
        self.bindings.setdefault(name, []).append(binding)


class Names:
    """The names of one module. `known` tells which names `from numpy import *` brings (by qualified name)."""

    def __init__(self, tree: ast.Module, known: Callable[[str], bool] | None = None) -> None:
        self.tree, self.known = tree, known or _in_table
        self._build()

    @deep
    def _build(self) -> None:
        tree = self.tree
        self.module = Scope(tree, "module")
        self.stars: list[str] = []
        self.overridden: set[str] = set()
        self._scope_of: dict[ast.AST, Scope] = {}
        self._inner: set[ast.AST] = set()
        builder = _Builder(self)
        builder.block(tree.body, self.module)
        for name, scope in builder.rebound:
            owner = self._owner(name, scope.parent)
            if owner is not None:
                owner.bind(name, Binding())
        for target, scope in self._patched:
            found = self._chain(target, scope, ())
            if found:
                self.overridden.add(found)

    _patched: list[tuple[ast.expr, Scope]]

    def qualified(self, node: ast.AST) -> str | None:
        """The qualified name of a Name or Attribute chain of this tree, None where it is not certain or is no chain."""
        base = node
        while isinstance(base, ast.Attribute):
            base = base.value
        scope = self._scope_of.get(base)
        if not isinstance(base, ast.Name) or scope is None:
            return None
        found = self._chain(node, scope, ())
        return None if found in self.overridden else found

    def definition(self, node: ast.AST) -> ast.AST | None:
        """The `def` or `class` a Name stands for, where it is the name's only binding in its scope."""
        if not isinstance(node, ast.Name):
            return None
        bindings = self._lookup(node.id, self._scope_of.get(node, self.module))
        return bindings[0].definition if bindings is not None and len(bindings) == 1 else None

    def in_module(self, name: str) -> str | None:
        """What a name means at the top of this module: what another module imports under it."""
        return self._name(name, self.module, ()) if name in self.module.bindings else None

    def is_local(self, node: ast.Name) -> bool:
        """Whether a Name is a variable, parameter or import of a function (not of the module)."""
        scope = self._owner(node.id, self._scope_of.get(node, self.module))
        return scope is not None and scope.kind != "module"

    def is_local_function(self, function: ast.AST) -> bool:
        """Whether a function is defined inside another one, whose variables it sees."""
        return function in self._inner

    def is_bound(self, node: ast.Name) -> bool:
        """Whether any scope around a Name binds it."""
        return self._owner(node.id, self._scope_of.get(node, self.module)) is not None

    def is_global_variable(self, node: ast.Name) -> bool:
        """Whether a Name is bound at module level, by an assignment and not by an import or a definition."""
        scope = self._owner(node.id, self._scope_of.get(node, self.module))
        return scope is self.module and any(b.qualified is None and b.definition is None for b in scope.bindings[node.id])

    def scope(self, node: ast.AST) -> Scope | None:
        """The scope a Name stands in."""
        return self._scope_of.get(node)

    def _owner(self, name: str, scope: Scope | None) -> Scope | None:
        """The scope whose variable a name is, seen from `scope`: classes are not seen from the functions in them."""
        start = scope
        while scope is not None:
            if name in scope.global_names:
                return self.module if name in self.module.bindings else None
            seen = scope.kind != "class" or scope is start
            if seen and name in scope.bindings and name not in scope.nonlocal_names:
                return scope
            scope = scope.parent
        return None

    def _lookup(self, name: str, scope: Scope) -> list[Binding] | None:
        owner = self._owner(name, scope)
        return None if owner is None else owner.bindings[name]

    def _chain(self, node: ast.AST, scope: Scope, seen: tuple[tuple[Scope, str], ...]) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self._chain(node.value, scope, seen)
            return f"{base}.{node.attr}" if base else None
        return self._name(node.id, scope, seen) if isinstance(node, ast.Name) else None

    def _name(self, name: str, scope: Scope, seen: tuple[tuple[Scope, str], ...]) -> str | None:
        owner = self._owner(name, scope)
        if owner is None:
            return self._unbound(name)
        if (owner, name) in seen:
            return None
        bindings = owner.bindings[name]
        values = {self._value(b, owner, (*seen, (owner, name))) for b in bindings if not self._is_beaten(b, owner, (*seen, (owner, name)))}
        if owner is self.module and self.stars and values != {None}:
            values |= {found for found in [self._unbound(name, False)] if found}
        return values.pop() if len(values) == 1 else None

    def _is_beaten(self, binding: Binding, owner: Scope, seen: tuple[tuple[Scope, str], ...]) -> bool:
        """A fallback for a missing NumPy name never runs where NumPy has the name."""
        if not binding.fallback:
            return False
        first = {self._value(b, owner, seen) for b in binding.fallback}
        return all(f is not None and (f == "numpy" or (f.startswith("numpy.") and self.known(f))) for f in first)

    def _value(self, binding: Binding, owner: Scope, seen: tuple[tuple[Scope, str], ...]) -> str | None:
        if binding.qualified is not None:
            return binding.qualified
        if binding.alias is not None:
            return self._chain(binding.alias, self._scope_of.get(_base(binding.alias), owner), seen)
        return None

    def _unbound(self, name: str, builtin: bool = True) -> str | None:
        """A name that nothing binds: from the last star import, or a builtin."""
        if self.stars:
            if self.stars[-1] == "numpy" and self.known(f"numpy.{name}"):
                return f"numpy.{name}"
            if any(s != "numpy" for s in self.stars):
                return None
        return f"builtins.{name}" if builtin and name in _BUILTINS else None


def _in_table(name: str) -> bool:
    """Whether NumPy has a name, as far as the rule table knows."""
    table = load_table()
    return name in table.rules or name in table.refusals or name.rpartition(".")[2] in ("pi", "e", "inf", "nan", "newaxis", "ndarray")


def _base(node: ast.AST) -> ast.AST:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


class _Builder:
    """One walk over a module: makes the scopes, enters the bindings and notes each Name's scope."""

    def __init__(self, names: Names) -> None:
        self.names = names
        names._patched = []
        self.trying: dict[str, list[Binding]] | None = None
        self.rebound: list[tuple[str, Scope]] = []

    # Statements.

    def block(self, body: Sequence[ast.AST], scope: Scope) -> None:
        for statement in body:
            self.visit(statement, scope)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is not None:
            method(node, scope)
        else:
            for child in children(node):
                self.visit(child, scope)

    def each(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node, scope)

    def bind(self, scope: Scope, name: str, binding: Binding) -> None:
        if self.trying is not None and name in self.trying:
            binding.fallback = self.trying[name]
        if name in scope.global_names:
            scope = self.names.module
        scope.bind(name, binding)

    def on_Name(self, node: ast.Name, scope: Scope) -> None:
        self.names._scope_of[node] = scope
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.bind(scope, node.id, Binding())

    def on_Attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self.visit(node.value, scope)
        if isinstance(node.ctx, ast.Store):
            self.names._patched.append((node, scope))

    def on_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.bind(scope, name, Binding(alias.name if alias.asname else name))

    def on_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.names.stars.append(module)
                continue
            joint = "" if module.endswith(".") or not module else "."
            self.bind(scope, alias.asname or alias.name, Binding(f"{module}{joint}{alias.name}"))

    def on_Assign(self, node: ast.Assign, scope: Scope) -> None:
        self.visit(node.value, scope)
        for target in node.targets:
            self.assign(target, node.value, scope)

    def on_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        self.each([node.annotation, node.value], scope)
        if node.value is not None:
            self.assign(node.target, node.value, scope)
        else:  # a bare annotation makes the name local but gives it no value
            self.visit(node.target, scope)

    def assign(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        """`xp = np` is an alias, `a, b = np.sin, np.cos` two; anything else is a value we do not know."""
        if _pairs_up(target, value):
            for t, v in zip(target.elts, value.elts, strict=True):  # type: ignore[attr-defined]
                self.assign(t, v, scope)
            return
        if isinstance(target, ast.Name):
            self.names._scope_of[target] = scope
            alias = value if isinstance(value, (ast.Name, ast.Attribute)) and isinstance(_base(value), ast.Name) else None
            is_none = isinstance(value, ast.Constant) and value.value is None
            self.bind(scope, target.id, Binding(alias=alias, is_none=is_none))
            return
        self.visit(target, scope)

    def on_AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        self.each([node.target, node.value], scope)

    def on_Try(self, node: ast.Try, scope: Scope) -> None:
        before = {name: len(found) for name, found in scope.bindings.items()}
        self.block(node.body, scope)
        body = {name: found[before.get(name, 0) :] for name, found in scope.bindings.items() if len(found) > before.get(name, 0)}
        outer = self.trying
        for handler in node.handlers:
            self.each([handler.type], scope)
            self.trying = body if _catches_import_failure(handler) else outer
            if handler.name:
                self.bind(scope, handler.name, Binding())
            self.block(handler.body, scope)
        self.trying = outer
        self.block(node.orelse, scope)
        self.block(node.finalbody, scope)

    on_TryStar = on_Try

    def on_Global(self, node: ast.Global, scope: Scope) -> None:
        scope.global_names.update(node.names)

    def on_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        """What a function binds as nonlocal is a binding of the function around it."""
        scope.nonlocal_names.update(node.names)
        self.rebound += [(name, scope) for name in node.names]

    def on_FunctionDef(self, node: FunctionNode, scope: Scope) -> None:
        self.bind(scope, node.name, Binding(definition=node))
        if scope.kind in ("function", "lambda", "comprehension"):
            self.names._inner.add(node)
        args = node.args
        self.each([*node.decorator_list, *args.defaults, *args.kw_defaults, node.returns], scope)
        inner = Scope(node, "function", scope)
        self._predeclare(node.body, inner)
        self._parameters(args, inner, scope)
        self.each(getattr(node, "type_params", []), inner)
        trying, self.trying = self.trying, None
        self.block(node.body, inner)
        self.trying = trying

    on_AsyncFunctionDef = on_FunctionDef

    def _predeclare(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """`global` holds for the whole function, wherever it stands."""
        pending: list[ast.AST] = list(body)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Global):
                scope.global_names.update(node.names)
            elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
                pending.extend(children(node))

    def _parameters(self, args: ast.arguments, inner: Scope, outer: Scope) -> None:
        for arg in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
            if arg is not None:
                if arg.annotation is not None:
                    self.visit(arg.annotation, outer)
                inner.bind(arg.arg, Binding())

    def on_Lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self.each([*node.args.defaults, *node.args.kw_defaults], scope)
        inner = Scope(node, "lambda", scope)
        self._parameters(node.args, inner, scope)
        self.visit(node.body, inner)

    def on_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        self.bind(scope, node.name, Binding(definition=node))
        self.each([*node.decorator_list, *node.bases, *node.keywords], scope)
        inner = Scope(node, "class", scope)
        self.each(getattr(node, "type_params", []), inner)
        self.block(node.body, inner)

    def on_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> None:
        """The first iterable is evaluated outside, the rest in a scope of its own."""
        inner = Scope(node, "comprehension", scope)
        for n, generator in enumerate(node.generators):
            self.visit(generator.iter, inner if n else scope)
            self.visit(generator.target, inner)
            self.each(generator.ifs, inner)
        self.each([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], inner)

    on_SetComp = on_GeneratorExp = on_DictComp = on_ListComp

    def on_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        self.visit(node.value, scope)
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self.assign(node.target, node.value, scope)

    def on_MatchAs(self, node: ast.MatchAs, scope: Scope) -> None:
        self.each([node.pattern], scope)
        if node.name:
            self.bind(scope, node.name, Binding())

    def on_MatchStar(self, node: ast.MatchStar, scope: Scope) -> None:
        if node.name:
            self.bind(scope, node.name, Binding())

    def on_MatchMapping(self, node: ast.MatchMapping, scope: Scope) -> None:
        self.each([*node.keys, *node.patterns], scope)
        if node.rest:
            self.bind(scope, node.rest, Binding())

    def on_TypeVar(self, node: ast.AST, scope: Scope) -> None:
        scope.bind(node.name, Binding())  # type: ignore[attr-defined]

    on_TypeVarTuple = on_ParamSpec = on_TypeVar


def _pairs_up(target: ast.expr, value: ast.expr) -> bool:
    """Whether `a, b = x, y` gives each target a value of its own."""
    if not (isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List))):
        return False
    return len(target.elts) == len(value.elts) and not any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))


def _catches_import_failure(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(k is None or (isinstance(k, ast.Name) and k.id in _IMPORT_FAILURES) for k in kinds)
