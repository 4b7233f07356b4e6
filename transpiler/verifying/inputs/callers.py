"""Who calls the nodes of a project, read from its files: functions that can be run as callers, and what calls pass. Nothing is imported.

A plain function is run only where it computes and does nothing else, as far as that can be read: all that it calls is a node, a function
with a rule, a method that arrays or containers have, or another function that computes only.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...source.reading import files
from ...source.reading.config import load_config
from ...source.reading.names import FunctionNode
from ...source.reading.nodes import Node, find_nodes
from ...source.reading.project import Parsed, Project, root_of
from ...source.reading.table import Table, load_table

_BUILTINS = frozenset(
    ("abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min",
     "pow", "print", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip")
)  # fmt: skip
_DEPTH = 4
"""Through how many functions it is followed what one computes."""
_EFFECTS = (ast.With, ast.AsyncWith, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Await, ast.Yield, ast.YieldFrom, ast.Delete)


@dataclass(frozen=True)
class Caller:
    """A function that calls nodes. `specs`: what is known of its parameters, which it hands on to them."""

    path: str
    name: str
    line: int
    specs: dict[str, Any]
    calls: tuple[str, ...]


@dataclass
class Calls:
    """callers  functions that can be run as callers, in the order of the files
    passed   by file and node, what calls pass for a parameter: "list", "tuple", "number" """

    callers: list[Caller] = field(default_factory=list)
    passed: dict[tuple[str, str], dict[str, frozenset[str]]] = field(default_factory=dict)


def calls_of(paths: Sequence[str], nodes: Sequence[tuple[str, Node]]) -> Calls:
    """The calls of nodes in the projects of some files and folders. `nodes` are those that are verified, by file."""
    found = Calls()
    by_root: dict[str, list[tuple[str, Node]]] = {}
    for path, node in nodes:
        by_root.setdefault(root_of(path), []).append((path, node))
    given = {os.path.realpath(p) for start in paths for p in _discovered(start)}
    for root, some in by_root.items():
        config = load_config(some[0][0])
        _Reading(Project(root, config.exclude), load_table(config.rules, config.root), given, found).read(some)
    return found


def _discovered(start: str) -> Iterator[str]:
    config = load_config(start)
    return files.discover([start], config.exclude, config.root)


class _Reading:
    """Reads the files of one project that speak of its nodes."""

    def __init__(self, project: Project, table: Table, given: set[str], into: Calls) -> None:
        self.project, self.table, self.given, self.into = project, table, given, into
        self.nodes: dict[tuple[str, str], Node] = {}

    def read(self, nodes: Sequence[tuple[str, Node]]) -> None:
        self.nodes = {(os.path.realpath(path), node.name): node for path, node in nodes if node.function is not None}
        words = {name.rpartition(".")[2] for _, name in self.nodes}
        for key in self.project.with_words(words) if words else ():
            parsed = self.project.parsed(key)
            if parsed is not None:
                self._file(os.path.realpath(parsed.path), parsed)

    def _file(self, key: str, parsed: Parsed) -> None:
        of_nodes = {n.function for n in find_nodes(parsed.tree, parsed.names, load_config(parsed.path), parsed.path)}
        inside: set[ast.AST] = set()
        for function, (name, _) in parsed.functions.items():
            inside |= set(ast.walk(function))
            calls = [(call, *known) for call in ast.walk(function) if isinstance(call, ast.Call) and (known := self._node(call, parsed))]
            if not calls or function in of_nodes:
                continue
            for call, place, node in calls:
                self._note(call, place, node)
            specs = _handed_on(function, [(call, node) for call, _, node in calls])
            if specs is not None and key in self.given and "." not in name and self._computes(function, parsed, _DEPTH):
                names = tuple(dict.fromkeys(node.name for _, _, node in calls))
                self.into.callers.append(Caller(parsed.path, name, function.lineno, specs, names))
        for n in ast.walk(parsed.tree):
            if isinstance(n, ast.Call) and n not in inside and (found := self._node(n, parsed)):
                self._note(n, *found)

    def _function(self, func: ast.expr, parsed: Parsed) -> tuple[Parsed, FunctionNode] | None:
        """The function of the project that a call's function is."""
        here = parsed.names.definition(func)
        if isinstance(here, ast.FunctionDef) and here in parsed.functions:
            return parsed, here
        qualified = parsed.names.qualified(func)
        found = self.project.find(qualified, parsed.path) if qualified is not None else None
        return None if found is None else found[:2]

    def _node(self, call: ast.Call, parsed: Parsed) -> tuple[tuple[str, str], Node] | None:
        found = self._function(call.func, parsed)
        if found is None:
            return None
        place = os.path.realpath(found[0].path), found[0].functions[found[1]][0]
        return (place, self.nodes[place]) if place in self.nodes else None

    def _note(self, call: ast.Call, place: tuple[str, str], node: Node) -> None:
        """Note what a call passes that is no array."""
        for parameter, value in _passed(call, node):
            kind = _kind_of(value)
            if kind:
                known = self.into.passed.setdefault(place, {})
                known[parameter] = known.get(parameter, frozenset()) | {kind}

    def _computes(self, function: FunctionNode, parsed: Parsed, depth: int) -> bool:
        """Whether a function computes and does nothing else, as far as can be read."""
        inside = [n for statement in function.body for n in ast.walk(statement)]
        if depth == 0 or function.decorator_list or any(isinstance(n, _EFFECTS) for n in inside):
            return False
        return all(self._is_harmless(n, parsed, depth) for n in inside if isinstance(n, ast.Call))

    def _is_harmless(self, call: ast.Call, parsed: Parsed, depth: int) -> bool:
        if self._node(call, parsed) is not None:
            return True
        found = self._function(call.func, parsed)
        if found is not None:
            return self._computes(found[1], found[0], depth - 1)
        qualified = parsed.names.qualified(call.func)
        if qualified is not None and qualified.startswith("builtins."):
            return qualified.removeprefix("builtins.") in _BUILTINS
        if qualified is not None and self.table.rule(qualified) is not None:
            return True
        if qualified is not None and qualified.split(".")[0] in ("numpy", "math"):
            return qualified.startswith("math.")
        known = isinstance(call.func, ast.Attribute) and self.table.rule(f"numpy.ndarray.{call.func.attr}") is not None
        return known or (isinstance(call.func, ast.Attribute) and any(hasattr(kind, call.func.attr) for kind in (list, dict, str, set)))


def _parameters(function: FunctionNode) -> list[str]:
    args = function.args
    return [a.arg for a in (*args.posonlyargs, *args.args)]


def _passed(call: ast.Call, node: Node) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a node and what a call passes for them."""
    assert node.function is not None
    for name, value in zip(_parameters(node.function), call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        yield name, value
    yield from ((k.arg, k.value) for k in call.keywords if k.arg)


def _kind_of(value: ast.expr) -> str:
    if isinstance(value, (ast.List, ast.ListComp)):
        return "list"
    if isinstance(value, ast.Tuple):
        return "tuple"
    if isinstance(value, ast.UnaryOp):
        return _kind_of(value.operand)
    if isinstance(value, ast.Constant) and type(value.value) in (int, float):
        return "number"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return {"list": "list", "tuple": "tuple", "float": "number", "int": "number"}.get(value.func.id, "")
    return "list" if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "tolist" else ""


def _handed_on(function: FunctionNode, calls: Sequence[tuple[ast.Call, Node]]) -> dict[str, Any] | None:
    """The specs of the parameters that a function hands on to nodes as they are. None where some parameter has neither that nor a
    default nor an annotation, or where there is none."""
    names, args = _parameters(function), function.args
    bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    specs: dict[str, Any] = {}
    for call, node in calls:
        for parameter, value in _passed(call, node):
            declared = node.declared.get(parameter)
            if isinstance(value, ast.Name) and value.id in names and value.id not in bound and isinstance(declared, str):
                specs.setdefault(value.id, declared)
    given = [*args.posonlyargs, *args.args][: len(names) - len(args.defaults)]
    if not specs or args.vararg or args.kwarg or args.kwonlyargs or not all(a.arg in specs or a.annotation is not None for a in given):
        return None
    return specs
