"""Nodes: the functions (and regions of functions) whose array work should become torch.

A node is marked by a decorator (`@np2fx.node`, leapp's `@annotate.method`, or one the project names), by a region between
`annotate.input_tensors("n", ...)` and `annotate.output_tensors("n", ...)`, by a pattern in `[tool.np2fx] nodes`, or by
--all-functions (of which `check` and `rewrite` leave out those without array work). A function of the same module that a
node calls is part of it, and so is a method of the same object.
"""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...deep import deep
from ...pipeline.spec import SpecError
from ...pipeline.spec import parse as parse_spec
from .config import NODE_DECORATORS, Config
from .names import FunctionNode, Names
from .signatures import recorded
from .walking import children, walk

Function = FunctionNode
_REGION_MODULES = ("np2fx", "leapp")


@dataclass(eq=False)
class Node:
    """One node. `function` is its `def` (None for a region at module level), `body` the statements that belong to it.

    how       "decorator", "region", "configured", "all" or "helper"
    declared  parameter (or region input) to its spec text, such as {"x": "float32[7]"}, or a container of such
    marked    the call that marks it (`@np2fx.node(...)`), where there is one
    recorded  parameter to its spec text, by what `np2fx record` saw of the calls of the function
    inputs    names that hold arrays on entry of a region, None for a function (its parameters)
    """

    name: str
    function: Function | None
    body: list[ast.stmt]
    how: str
    declared: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[str, ...] | None = None
    in_class: bool = False
    marked: ast.Call | None = None
    recorded: dict[str, str] = field(default_factory=dict)

    @property
    def span(self) -> tuple[int, int, int]:
        """First line (decorators included), first line of the body, last line."""
        first = self.body[0].lineno
        if self.function is None or self.how == "region":
            return first, first, self.body[-1].end_lineno or first
        decorated = [d.lineno for d in self.function.decorator_list]
        return min([self.function.lineno, *decorated]), max(first, self.function.lineno + 1), self.function.end_lineno or first


@deep
def find_nodes(
    tree: ast.Module, names: Names, config: Config | None = None, path: str = "<string>", all_functions: bool = False
) -> list[Node]:
    """The nodes of a module in source order, helpers after them, each function once."""
    config = config or Config()
    patterns = config.node_patterns(path)
    found: dict[ast.AST, Node] = {}
    functions = dict(functions_in(tree))
    for function, (qualname, in_class) in functions.items():
        decorator = next((d for d in function.decorator_list if _decorates(d, names, config)), None)
        how = "decorator" if decorator else "configured" if any(fnmatch.fnmatchcase(qualname, p) for p in patterns) else ""
        how = how or ("all" if all_functions else "")
        if how:
            declared = _declared(decorator) if decorator and _hands_on(function, decorator, names) else {}
            marked = decorator if isinstance(decorator, ast.Call) and _takes_specs(decorator, names) else None
            seen = recorded(path, qualname)
            found[function] = Node(qualname, function, function.body, how, declared, in_class=in_class, marked=marked, recorded=seen)
    regions = [r for r in _regions(tree, names, functions) if r.function not in found]
    for helper in _helpers([*found.values(), *regions], names, functions, set(found)):
        found[helper.function] = helper  # type: ignore[index]
    return sorted([*found.values(), *regions], key=lambda n: n.how == "helper")


def _hands_on(function: Function, decorator: ast.expr, names: Names) -> bool:
    """Whether what stands between a node's decorator and its `def` hands on the arguments as they are, so that specs speak of them."""
    below = function.decorator_list[function.decorator_list.index(decorator) + 1 :]
    return all(names.qualified(d.func if isinstance(d, ast.Call) else d) in _HAND_ON for d in below)


_HAND_ON = (
    "builtins.staticmethod", "builtins.classmethod", "functools.lru_cache", "functools.cache", "torch.no_grad", "torch.inference_mode",
    "np2fx.boundary", "np2fx.numpy.on_torch", "abc.abstractmethod", "typing.override", "typing_extensions.override",
)  # fmt: skip


def functions_in(tree: ast.AST, prefix: str = "", in_class: bool = False) -> Iterator[tuple[Function, tuple[str, bool]]]:
    """Every function that is not inside another one, with its qualified name; those of classes and of `if` blocks too."""
    for child in children(tree):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child, (prefix + child.name, in_class)
            for inner, (name, inner_class) in functions_in(child, f"{prefix}{child.name}.<locals>.", False):
                if inner.decorator_list:  # a function in a function is its own node only where it is marked
                    yield inner, (name, inner_class)
        elif isinstance(child, ast.ClassDef):
            yield from functions_in(child, f"{prefix}{child.name}.", True)
        elif isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from functions_in(child, prefix, in_class)


def _decorates(decorator: ast.expr, names: Names, config: Config) -> bool:
    """Whether a decorator marks a node: `@node`, `@np2fx.node(...)`, or a name that ends as a configured one does."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    found = names.qualified(target)
    if found is None:
        return False
    return any(found == d or found.lstrip(".").endswith("." + d) or d.endswith("." + found.lstrip(".")) for d in config.node_decorators)


def _takes_specs(decorator: ast.Call, names: Names) -> bool:
    """Whether a decorator is np2fx's own, whose keywords are specs."""
    found = names.qualified(decorator.func) or ""
    return any(found.lstrip(".") == d or d.endswith("." + found.lstrip(".")) for d in NODE_DECORATORS if d.endswith("node"))


def bad_specs(node: Node) -> Iterator[tuple[ast.expr, str]]:
    """The specs of a node's decorator that np2fx.node would not take, each with what it would say."""
    if node.marked is None or node.function is None:
        return
    args = node.function.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg)))
    parameters = [a.arg for a in every]
    for keyword in node.marked.keywords:
        if keyword.arg is None:
            continue
        if keyword.arg not in parameters and args.kwarg is None:
            yield keyword.value, f"{node.name} has no parameter {keyword.arg!r}; it has {', '.join(parameters) or 'none'}"
        for place, text in _spec_texts(keyword.value):
            try:
                parse_spec(text)
            except SpecError as error:
                yield place, str(error)


def _spec_texts(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """The strings that are specs: containers hold them, anything else is a constant."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value, value.value
    elif isinstance(value, (ast.List, ast.Tuple, ast.Dict)):
        for part in value.values if isinstance(value, ast.Dict) else value.elts:
            yield from _spec_texts(part)


def _declared(decorator: ast.expr) -> dict[str, Any]:
    if not isinstance(decorator, ast.Call):
        return {}
    found = {k.arg: _spec_of(k.value) for k in decorator.keywords if k.arg}
    return {name: spec for name, spec in found.items() if spec is not None}


def _spec_of(value: ast.expr) -> Any:
    """A spec as it stands in the source; None where it is another expression, or a constant."""
    if isinstance(value, (ast.List, ast.Tuple)):
        parts = [_spec_of(v) for v in value.elts]
        return tuple(parts) if isinstance(value, ast.Tuple) else parts
    if isinstance(value, ast.Dict):
        return {k.value if isinstance(k, ast.Constant) else k: _spec_of(v) for k, v in zip(value.keys, value.values, strict=True)}
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


# Regions.


def _regions(tree: ast.Module, names: Names, functions: dict[Function, tuple[str, bool]]) -> Iterator[Node]:
    """The regions of each function and of the module's own statements."""
    blocks: list[tuple[Function | None, list[ast.stmt]]] = [(None, tree.body), *((f, f.body) for f in functions)]
    for function, body in blocks:
        starts = {}
        for statement in own_statements(body):
            for call in calls_in(statement):
                tail = _region_call(call, names)
                label = label_of(call)
                if tail == "input_tensors" and label not in starts:
                    starts[label] = (statement, call)
                elif tail == "output_tensors" and label in starts:
                    first, entry = starts.pop(label)
                    lines = between(body, first, statement)
                    if lines:
                        yield Node(label, function, lines, "region", inputs=tuple(_targets(first, entry)))


def _region_call(call: ast.Call, names: Names) -> str | None:
    """ "input_tensors" or "output_tensors" of an `annotate` that comes from np2fx or leapp."""
    found = names.qualified(call.func)
    if found is None:
        return None
    head, _, tail = found.rpartition(".")
    return tail if tail in ("input_tensors", "output_tensors") and head.split(".")[0] in _REGION_MODULES else None


def label_of(call: ast.Call) -> str:
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("name", "node")), None)
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ast.unparse(first) if first else ""


def own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The simple statements of a body in order, those of compound statements in their place, none of inner functions."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner = [s for field_ in ("body", "orelse", "finalbody") for s in getattr(statement, field_, [])]
        inner += [s for h in getattr(statement, "handlers", []) for s in h.body]
        if inner:
            yield from own_statements(inner)
        else:
            yield statement


def calls_in(statement: ast.stmt) -> Iterator[ast.Call]:
    return (n for n in walk(statement) if isinstance(n, ast.Call))


def between(body: list[ast.stmt], first: ast.stmt, last: ast.stmt) -> list[ast.stmt]:
    """The statements of the innermost block that holds both ends, from one to the other."""
    for n, statement in enumerate(body):
        if statement.lineno <= first.lineno and (last.end_lineno or 0) <= (statement.end_lineno or 0) and statement is not first:
            for name in ("body", "orelse", "finalbody"):
                found = between(getattr(statement, name, []), first, last)
                if found:
                    return found
        if statement.lineno <= first.lineno <= (statement.end_lineno or 0):
            return [s for s in body[n:] if s.lineno <= (last.end_lineno or 0)]
    return []


def _targets(statement: ast.stmt, call: ast.Call) -> Iterator[str]:
    """The names that `a, b = annotate.input_tensors(...)` binds: the region's arrays."""
    if isinstance(statement, ast.Assign) and statement.value is call:
        for target in statement.targets:
            yield from (n.id for n in walk(target) if isinstance(n, ast.Name))


# Helpers.


def _helpers(nodes: list[Node], names: Names, functions: dict[Function, tuple[str, bool]], known: set[ast.AST]) -> Iterator[Node]:
    """The functions of this module that nodes call, and those that these call."""
    by_method = {qualname: f for f, (qualname, in_class) in functions.items() if in_class}
    pending = list(nodes)
    while pending:
        node = pending.pop(0)
        owner = functions[node.function][0].rpartition(".")[0] if node.function is not None else ""
        for call in (c for s in node.body for c in calls_in(s)):
            callee = names.definition(call.func)
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id in ("self", "cls"):
                callee = by_method.get(f"{owner}.{call.func.attr}") if owner else None
            if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)) and callee in functions and callee not in known:
                known.add(callee)
                qualname, in_class = functions[callee]
                helper = Node(qualname, callee, callee.body, "helper", in_class=in_class)
                pending.append(helper)
                yield helper
