"""The codemod for one file: bytes of Python in, bytes of Python and findings out.

Every node is rewritten whole or left as it is; what is not touched keeps every byte. Twice is the same as once.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any

from . import files
from .config import Config
from .facts import TORCH, UNKNOWN, Fact, array, name, number, of_value
from .findings import Finding, make_finding
from .imports import add_imports, drop_unused, free_names
from .names import Names
from .nodes import Node, find_nodes
from .promotion import ASSUMED
from .random_inputs import drawing_functions, lift_random, not_rewritten
from .results import SCALAR_TYPES, torch_parameters
from .rewriting import Rewriter
from .summaries import Summaries
from .table import Table, load_table
from .text import Source, splice
from .values import dtype_name, of_annotation, of_spec

_ARRAY_USES = ("shape", "ndim", "size", "dtype", "T")


@dataclass
class Rewritten:
    """What became of one node: its edits, what the new text needs, what was said."""

    node: Node
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    calls: set[ast.AST] = field(default_factory=set)
    mirrored: bool = False

    @property
    def refused(self) -> bool:
        return any(f.severity == "error" for f in self.findings)


def rewrite_source(text: str | bytes, path: str = "<string>", config: Config | None = None, *, all_functions: bool = False,
                   exact: bool = False, boundary: str = "numpy", random_as_input: bool = False) -> tuple[Any, list[Finding]]:  # fmt: skip
    """Rewrite the nodes of a module; returns the new text (bytes for bytes, str for str) and the findings.

    exact     rests on no assumption: where a dtype or rank is not known, the rule is called
    boundary  "numpy" lets the functions take and return arrays as before, "none" leaves them tensor functions
    random_as_input  random numbers drawn in a node become a parameter of it

    Never raises for what the text holds: what cannot be read or converted is a finding, and the text comes back as it was."""
    config = config or Config()
    try:
        read = files.decode(text, path) if isinstance(text, bytes) else files.Source(path, text)
    except files.EncodingError as error:
        return text, [make_finding("encoding-error", path=path, line=error.line or 1, column=1, message=str(error))]
    try:
        tree = ast.parse(read.text)
    except (SyntaxError, ValueError, RecursionError) as error:
        from .check import check_source

        found = check_source(text, path, config)
        return text, found or [make_finding("syntax-error", path=path, line=1, column=1, message=str(error))]
    if random_as_input and "random" in read.text:
        new, findings = _with_random_inputs(read.text, path, config, exact, boundary, all_functions)
    else:
        new, findings = _Module(read.text, tree, path, config, exact, boundary).rewrite(all_functions)
    if new == read.text:
        return text, findings
    try:
        return (read.encode(new) if isinstance(text, bytes) else new), findings
    except files.EncodingError as error:
        return text, [*findings, make_finding("encoding-error", path=path, line=1, column=1, message=str(error))]


def _with_random_inputs(text: str, path: str, config: Config, exact: bool, boundary: str, all_functions: bool) -> tuple[str, list[Finding]]:
    """Lift the random numbers of the nodes, then rewrite; a node that is not rewritten after all keeps its own."""
    without: frozenset[str] = frozenset()
    while True:
        lifted = lift_random(text, path, config, all_functions, without)
        new, found = _Module(lifted.text, ast.parse(lifted.text), path, config, exact, boundary).rewrite(all_functions)
        broken = not_rewritten(lifted.text, found) & lifted.names
        if not broken:
            break
        without |= broken
    known = {f.line for f in lifted.findings}
    found = [replace(f, line=lifted.lines[f.line - 1], end_line=lifted.lines[(f.end_line or f.line) - 1]) if f.line else f for f in found]
    return new, [*lifted.findings, *(f for f in found if f.name != "random" or f.line not in known)]


def _function(node: Node) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The function of a node that has one."""
    assert node.function is not None
    return node.function


class _Module:
    def __init__(self, text: str, tree: ast.Module, path: str, config: Config, exact: bool, boundary: str) -> None:
        self.source, self.tree, self.path, self.config = Source(text), tree, path, config
        self.exact, self.boundary = exact, boundary
        self.careful = False
        self.names = Names(tree)
        self.table: Table = load_table(config.rules, config.root) if config.rules else load_table()
        self.aliases = free_names(tree)

    def rewrite(self, all_functions: bool) -> tuple[str, list[Finding]]:
        nodes = find_nodes(self.tree, self.names, self.config, self.path, all_functions)
        findings = [self._region(n) for n in nodes if n.how == "region"]
        functions = [n for n in nodes if n.function is not None and n.how != "region" and not self._done(n.function)]
        drawing = drawing_functions(self.tree, self.names)
        functions = [n for n in functions if n.how != "all" or (self._touches_arrays(n) and _function(n).name not in drawing)]
        done = [n.function for n in nodes if n.function is not None and self._done(n.function)]
        self.converted = (
            {n.function for n in functions}
            | {f for f in ast.walk(self.tree) if isinstance(f, ast.FunctionDef) and self._done(f)}
            | set(done)
        )
        self.pure = _pure_functions(self.tree, self.names)
        self.called_by_writers = {d for f in self.converted - self.pure if f is not None for d in self._called(f)}
        given = {_function(n): self._parameters(n) for n in functions}
        self.assumed = {f: (floating, numbers) for f, (_, floating, numbers) in given.items()}
        helpers = {_function(n) for n in functions if n.how == "helper" and not self.exact}
        self.summaries = Summaries(self._resolve, self.table, {f: facts for f, (facts, _, _) in given.items()}, helpers)
        made = [self._node(n) for n in functions]
        if any(m.mirrored for m in made):  # copies that stand for views may be handed to any of the others
            self.careful = True
            made = [self._node(n) for n in functions]
        self._spread_refusals(made)
        findings += [f for m in made for f in m.findings]
        kept = [m for m in made if not m.refused and m.edits]
        while kept:
            text = self._assemble(kept)
            if _parses(text):
                return text, findings
            broken = kept.pop()
            findings.append(self._finding("not-rewritten", broken.node.function, "the rewritten text would not be Python"))
        return self.source.text, findings

    def _called(self, function: ast.AST) -> set[ast.AST]:
        """The module's functions that a function names."""
        return {d for n in ast.walk(function) if isinstance(n, ast.Name) and (d := self.names.definition(n)) is not None}

    def _assemble(self, made: list[Rewritten]) -> str:
        edits = [e for m in made for e in m.edits]
        needed = set().union(*(m.imported for m in made))
        text = splice(self.source, 0, len(self.source.bytes), edits)
        text = add_imports(text, {key: self.aliases[key] for key in needed})
        return drop_unused(text, self.source.text)

    def _node(self, node: Node) -> Rewritten:
        function = node.function
        assert function is not None
        made = Rewritten(node)
        if isinstance(function, ast.AsyncFunctionDef) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(function)):
            made.findings.append(self._finding("not-rewritten", function, f"`{node.name}` is a generator or coroutine", "return a list"))
            return made
        rewriter = Rewriter(self.source, self._resolve, self.table, self.path, self.exact)
        rewriter.npx_name, rewriter.ops_name, rewriter.torch_name = self.aliases["npx"], self.aliases["ops"], self.aliases["torch"]
        rewriter.is_pure = lambda f: self.names.definition(f) in self.pure
        rewriter.call_fact = self.summaries.call
        rewriter.hands_out = function in self.called_by_writers
        rewriter.careful = self.careful and node.how == "helper"
        assumed, numbers = self.assumed[function]
        assumed, numbers = [*assumed, *self.summaries.floating.get(function, [])], [*numbers, *self.summaries.numbers.get(function, [])]
        edits = rewriter.rewrite(function, self.summaries.parameters(function), self.summaries.inference(function))
        made.findings += rewriter.findings
        made.mirrored = rewriter.mirrored
        made.calls = self._called(function)
        if made.refused or not (edits or any(f.is_tensor for f in rewriter.facts.values())):
            return made
        used = tuple(a for a in assumed if a in rewriter.read_names)
        arrays = tuple(a for a in self.summaries.arrays.get(function, []) if a in rewriter.read_names)
        takes = {n: _spec(f) for n, f in self.summaries.parameters(function).items()
                 if f.kind == "array" and f.dtype not in (None, ASSUMED) and n not in node.declared}  # fmt: skip
        counted = tuple(n for n in numbers if n in rewriter.read_names)
        made.edits, made.imported = edits, set(rewriter.imported)
        options = [
            *(["numpy=False"] if self.boundary == "none" else []),
            *([f"floating={_literal(used)}"] if used else []),
            *([f"arrays={_literal(arrays)}"] if arrays else []),
            *([f"numbers={_literal(counted)}"] if counted else []),
            *([f"takes={_literal(takes)}"] if takes else []),
            *(["mirrored=True"] if rewriter.mirrored else []),
            *([f"keeps={tuple(sorted(rewriter.keeps))!r}"] if rewriter.keeps and self.boundary == "numpy" else []),
            *([f"rules={tuple(sorted(rewriter.rule_modules))!r}"] if rewriter.rule_modules else []),
        ]
        if (options or self.boundary == "numpy") and (self.boundary == "numpy" or options):
            made.edits.append(self._decorator(function, f"@{self.aliases['ops']}.boundary({', '.join(options)})"))
            made.imported.add("ops")
        if used:
            made.findings.append(
                self._finding(
                    "assumed-float", function, f"`{node.name}` was rewritten for float arrays in {', '.join(f'`{u}`' for u in used)}"
                )
            )
        return made

    def _decorator(self, function: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> tuple[int, int, str]:
        """An insertion on a line of its own above the `def`, with its indentation and newline."""
        start = self.source.span(function)[0]
        line = self.source.starts[function.lineno - 1]
        indent = self.source.slice(line, start)
        newline = "\r\n" if self.source.bytes[:].find(b"\r\n") >= 0 else "\n"
        return (line, line, f"{indent}{text}{newline}") if not indent.strip() else (start, start, "")

    def _parameters(self, node: Node) -> tuple[dict[str, Fact], list[str], list[str]]:
        """The facts of a node's parameters: declared, annotated, or assumed where nothing speaks against it; then the names of those
        assumed to be float arrays, and of those taken for Python numbers (the boundary checks both)."""
        function = node.function
        assert function is not None
        args = function.args
        positional = [*args.posonlyargs, *args.args]
        defaults = dict(zip([a.arg for a in positional][len(positional) - len(args.defaults) :], args.defaults, strict=False))
        defaults |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=False) if d is not None}
        found: dict[str, Fact] = {}
        assumed: list[str] = []
        numbers: list[str] = []
        tensors = torch_parameters(function)
        for i, a in enumerate([*positional, *args.kwonlyargs]):
            if a.arg in tensors:
                found[a.arg] = TORCH
                continue
            if i == 0 and node.in_class and not any(getattr(d, "id", "") == "staticmethod" for d in function.decorator_list):
                continue
            value = of_spec(node.declared[a.arg]) if a.arg in node.declared else of_annotation(a.annotation, self.names)
            if value is not None and value.kind == "array" and not value.assumed:
                found[a.arg] = array(value.dtype, value.rank)
                if value.dtype is None and not self.exact:
                    found[a.arg] = array(ASSUMED, value.rank)
                    assumed.append(a.arg)
            elif (value is not None and value.kind == "number" and value.dtype in ("int", "float")) or (
                value is None and _is_number(defaults.get(a.arg))
            ):
                found[a.arg] = number("float" if value is None else value.dtype)
                numbers.append(a.arg)
            elif value is not None:
                found[a.arg] = UNKNOWN
            elif (
                a.arg not in defaults
                and node.how != "helper"
                and not self.exact
                and self._used_as_array(function, a.arg, indexing=node.how != "all")
            ):
                found[a.arg] = array(ASSUMED)
                assumed.append(a.arg)
        return found, assumed, numbers

    def _touches_arrays(self, node: Node) -> bool:
        """Of all functions of a module, those that name NumPy or whose parameters are (taken for) arrays."""
        assert node.function is not None
        if any(
            str(self.names.qualified(n)).startswith("numpy.") for n in ast.walk(node.function) if isinstance(n, (ast.Name, ast.Attribute))
        ):
            return True
        return any(f.is_tensor for f in self._parameters(node)[0].values())

    def _used_as_array(self, function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str, indexing: bool) -> bool:
        """Every use of a parameter is one that an array has, and at least one is arithmetic or a call on it (or `indexing`)."""
        seen = False
        for n in ast.walk(function):
            for child in ast.iter_child_nodes(n):
                if not (isinstance(child, ast.Name) and child.id == parameter):
                    continue
                if isinstance(child.ctx, ast.Store):
                    continue
                if isinstance(n, (ast.BinOp, ast.UnaryOp)) and not isinstance(getattr(n, "op", None), ast.Not):
                    seen = True
                elif (
                    isinstance(n, ast.Subscript)
                    and child is n.value
                    and not (isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str))
                ):
                    seen = seen or indexing or isinstance(n.slice, (ast.Slice, ast.Tuple))
                elif self._as_array(n, child):
                    seen = True
                elif not isinstance(
                    n, (ast.Compare, ast.Return, ast.Tuple, ast.List, ast.Call, ast.Assign, ast.IfExp, ast.keyword, ast.AugAssign)
                ) or (isinstance(n, ast.Call) and self.names.qualified(n.func) in (
                    "builtins.range",
                    "builtins.int",
                    "builtins.isinstance",
                    "builtins.str",
                )):
                    return False
        return seen

    def _as_array(self, n: ast.AST, child: ast.Name) -> bool:
        """An array's attribute or method, or what a NumPy function is given first."""
        if isinstance(n, ast.Call):
            return n.args[:1] == [child] and str(self.names.qualified(n.func)).startswith("numpy.")
        return isinstance(n, ast.Attribute) and (self.table.is_method(n.attr) or n.attr in _ARRAY_USES)

    def _resolve(self, e: ast.Name) -> Fact:
        """What a module-level name means in a node."""
        found = self.names.qualified(e)
        if found is not None:
            return name(found)
        definition = self.names.definition(e)
        if definition is not None:
            return Fact("function", value=definition) if definition in self.converted else UNKNOWN
        return self._constant(e)

    def _constant(self, e: ast.Name) -> Fact:
        """A module's constant: bound once, to a number or to a NumPy array whose dtype its own text says."""
        if not self.names.is_global_variable(e) or len(self.names.module.bindings.get(e.id, ())) != 1:
            return UNKNOWN
        for s in self.tree.body:
            if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and s.targets[0].id == e.id:
                return self._made_of(s.value)
        return UNKNOWN

    def _made_of(self, value: ast.expr) -> Fact:
        try:
            literal = of_value(ast.literal_eval(value))
            return literal if literal.kind in ("number", "text", "none") else UNKNOWN
        except (ValueError, SyntaxError, TypeError):
            pass
        if isinstance(value, ast.Call):
            made = str(self.names.qualified(value.func))
            dtype = next((k.value for k in value.keywords if k.arg == "dtype"), None)
            known = dtype_name(dtype) if dtype is not None else None
            if made in ("numpy.array", "numpy.asarray") and value.args and (known or dtype is None):
                return Fact("array", known or _literal_dtype(value.args[0]), _literal_rank(value.args[0]), value="constant")
            if made in ("numpy.zeros", "numpy.ones", "numpy.full", "numpy.eye") and (known or dtype is None):
                default = "float64" if made != "numpy.full" else None
                rank = {"numpy.eye": 2}.get(made, _shape_rank(value.args[0]) if value.args else None)
                return Fact("array", known or default, rank, value="constant")
            if made.startswith("numpy.") and made.removeprefix("numpy.") in SCALAR_TYPES:
                return UNKNOWN
        return UNKNOWN

    def _spread_refusals(self, made: list[Rewritten]) -> None:
        """A node that calls a function which stays NumPy would hand it tensors: it stays as it is too."""
        by_function: dict[ast.AST, Rewritten] = {m.node.function: m for m in made if m.node.function is not None}
        changed = True
        while changed:
            changed = False
            for m in made:
                if m.refused:
                    continue
                bad = next(
                    (by_function[c] for c in m.calls if c in by_function and by_function[c].refused and c is not m.node.function), None
                )
                if bad is not None:
                    m.findings.append(
                        self._finding(
                            "not-rewritten", m.node.function, f"`{m.node.name}` calls `{bad.node.name}`, which cannot be converted"
                        )
                    )
                    changed = True

    def _done(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Rewritten before: it carries the boundary."""
        return any(
            self.names.qualified(d.func if isinstance(d, ast.Call) else d) == "np2fx.operators.boundary" for d in function.decorator_list
        )

    def _region(self, node: Node) -> Finding:
        return self._finding(
            "not-rewritten",
            node.body[0],
            f"the region `{node.name}` is not a function of its own",
            "move it into a function and mark that",
            "warning",
        )

    def _finding(self, kind: str, node: ast.AST | None, message: str, hint: str = "", severity: str | None = None) -> Finding:
        line = getattr(node, "lineno", 1)
        column = self.source.column(line, getattr(node, "col_offset", 0))
        return make_finding(
            kind,
            path=self.path,
            line=line,
            column=column,
            message=message,
            hint=hint,
            severity=severity or (None if kind != "not-rewritten" else "error"),
        )


def _is_number(default: ast.expr | None) -> bool:
    """A default that is a literal int or float."""
    if isinstance(default, ast.UnaryOp):
        default = default.operand
    return isinstance(default, ast.Constant) and type(default.value) in (int, float)


_IN_PLACE = (
    "sort",
    "fill",
    "put",
    "resize",
    "partition",
    "at",
    "copyto",
    "putmask",
    "place",
    "put_along_axis",
    "fill_diagonal",
    "shuffle",
    "setfield",
    "itemset",
)


def _pure_functions(tree: ast.Module, names: Names) -> set[ast.AST]:
    """The module's functions that write into no array and give none out flipped, by their text alone and by those they call."""
    bodies = {f: list(ast.walk(f)) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)}
    pure = {f for f, inside in bodies.items() if not any(map(_suspicious, inside))}
    while True:
        calls = {f: [names.definition(n.func) for n in bodies[f] if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)] for f in pure}
        unknown = {f for f in pure if any(names.qualified(n.func) is None and names.definition(n.func) is None for n in bodies[f]
                                          if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))}  # fmt: skip
        fewer = {f for f in pure if f not in unknown and all(c is None or c in pure for c in calls[f])}
        if fewer == pure:
            return set(pure)
        pure = fewer


def _suspicious(n: ast.AST) -> bool:
    if isinstance(n, ast.AugAssign) or (isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load)):
        return True
    if isinstance(n, ast.Slice):
        return n.step is not None and not (isinstance(n.step, ast.Constant) and isinstance(n.step.value, int))
    if not isinstance(n, ast.Call):
        return False
    attribute = n.func.attr if isinstance(n.func, ast.Attribute) else n.func.id if isinstance(n.func, ast.Name) else ""
    return attribute in (*_IN_PLACE, "flip", "fliplr", "flipud", "rot90") or any(k.arg in ("out", "copy", None) for k in n.keywords)


def _literal(value: Any) -> str:
    """A tuple of names, or names with specs, in the double quotes that formatters write."""
    return repr(value).replace("'", '"')


def _spec(fact: Fact) -> str:
    """What the boundary checks of a parameter whose dtype is known: "float32[_, _]"."""
    return str(fact.dtype) if fact.rank is None else f"{fact.dtype}[{', '.join('_' * fact.rank)}]"


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _literal_dtype(node: ast.expr) -> str | None:
    """float64 where a literal list holds a float, int64 where it holds ints alone."""
    leaves = [n for n in ast.walk(node) if isinstance(n, ast.Constant)]
    inner = all(isinstance(n, (ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.UAdd, ast.Load)) for n in ast.walk(node))
    if not inner or not leaves or any(type(n.value) not in (int, float) for n in leaves):
        return None
    return "float64" if any(type(n.value) is float for n in leaves) else "int64"


def _literal_rank(node: ast.expr) -> int | None:
    if isinstance(node, (ast.List, ast.Tuple)):
        inner = _literal_rank(node.elts[0]) if node.elts else 0
        return None if inner is None else inner + 1
    return 0 if isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)) else None


def _shape_rank(node: ast.expr) -> int | None:
    return len(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else 1 if isinstance(node, ast.Constant) else None
