"""One module of a rewriting: its nodes, what is known of their parameters, and what the names at its top mean in them."""

from __future__ import annotations

import ast
from functools import cached_property

from ...codemod.imports import free_names
from ...codemod.randoms.random_inputs import drawing_functions
from ..findings.alarms import WORDS
from ..flow.reading import returns_function
from ..flow.unwritten import pairs
from ..reading.config import Config
from ..reading.names import FunctionNode
from ..reading.nodes import Node, find_nodes
from ..reading.project import Parsed
from ..reading.table import Table, load_table
from ..reading.text import Source
from ..reading.walking import children, walk
from .known import TORCH, UNKNOWN, Fact, array, name, number, of_value
from .promotion import ASSUMED
from .results import SCALAR_TYPES, torch_parameters
from .values import dtype_name, of_annotation, of_spec

_ARRAY_USES = ("shape", "ndim", "size", "dtype", "T")


class Module:
    """A module and its nodes. `converted` are its functions that take tensors, by this rewriting or one before.

    private   names that are new in it start with an underscore: others import all the public ones"""

    def __init__(self, parsed: Parsed, config: Config, exact: bool, all_functions: bool = False, private: bool = False) -> None:
        self.parsed, self.path, self.config, self.exact, self.private = parsed, parsed.path, config, exact, private
        self.tree, self.names, self.source = parsed.tree, parsed.names, Source(parsed.text)
        self.alarming = any(word in parsed.text for word in WORDS)
        self.table: Table = load_table(config.rules, config.root) if config.rules else load_table()
        self.aliases = free_names(self.tree, private)
        found = find_nodes(self.tree, self.names, config, self.path, all_functions)
        self.regions = [n for n in found if n.how == "region"]
        functions = [n for n in found if n.function is not None and n.how not in ("region", "helper")]
        self.done = {f for f in walk(self.tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) and self._is_done(f)}
        drawing = drawing_functions(self.tree, self.names)
        self.makers = [n.function for n in functions if n.how == "all" and n.function not in self.done and self._is_node(n, drawing)
                       and n.function is not None and returns_function(n.function)]  # fmt: skip
        """functions that make others, which only those that call them need"""
        functions = [n for n in functions if n.function not in self.makers]
        self.marked = {n.function for n in functions if n.function is not None and (n.how != "all" or n.declared or n.recorded)}
        """the functions that are no helpers: nodes of their own"""
        self.nodes = [n for n in functions if n.function not in self.done and (n.how != "all" or self._is_node(n, drawing))]
        self.converted: set[FunctionNode] = set()

    @cached_property
    def named(self) -> set[ast.AST]:
        """The functions and classes of the module that its own text names."""
        return {d for n in walk(self.tree) if isinstance(n, ast.Name) and (d := self.names.definition(n)) is not None}

    def parameters(self, node: Node) -> tuple[dict[str, Fact], list[str], list[str]]:
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
        tensors = torch_parameters(function, self.source.text)
        for i, a in enumerate([*positional, *args.kwonlyargs]):
            if a.arg in tensors:
                found[a.arg] = TORCH
                continue
            if i == 0 and node.in_class and not any(getattr(d, "id", "") == "staticmethod" for d in function.decorator_list):
                continue
            value = of_spec(node.declared[a.arg]) if a.arg in node.declared else of_annotation(a.annotation, self.names)
            if a.arg in node.recorded and a.arg not in node.declared and (value is None or value.dtype is None):
                value = of_spec(node.recorded[a.arg])
            if value is not None and value.kind == "array" and not value.assumed:
                found[a.arg] = array(value.dtype, value.rank)
                if value.dtype is None and not self.exact:
                    found[a.arg] = array(ASSUMED, value.rank)
                    assumed.append(a.arg)
            elif (value is not None and value.kind == "number" and value.dtype in ("int", "float")) or (
                value is None and _is_number(defaults.get(a.arg))
            ):
                # `eps: float` takes a 1 too, and a default of 1 may be given as 0.5
                found[a.arg] = number("int" if value is not None and value.dtype == "int" else "real")
                numbers.append(a.arg)
            elif value is not None:
                found[a.arg] = UNKNOWN
            elif (
                a.arg not in defaults
                and not (self.exact or _made_anew(function, a.arg))
                and self._used_as_array(function, a.arg, indexing=node.how != "all")
            ):
                found[a.arg] = array(ASSUMED)
                assumed.append(a.arg)
        return found, assumed, numbers

    def declared(self, function: FunctionNode, checked: bool) -> dict[str, Fact]:
        """What a helper's own text says of its parameters: torch tensors, and where it is `checked` on entry the arrays whose dtype
        an annotation tells."""
        found = dict.fromkeys(torch_parameters(function, self.source.text), TORCH)
        if checked and not self.exact:
            for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
                value = of_annotation(a.annotation, self.names)
                if value is not None and value.kind == "array" and not value.assumed and value.dtype is not None:
                    found.setdefault(a.arg, array(value.dtype, value.rank))
        return found

    def resolve(self, e: ast.Name) -> Fact:
        """What a module-level name means in a node."""
        found = self.names.qualified(e)
        if found is not None:
            return name(found)
        definition = self.names.definition(e)
        if definition is not None:
            return Fact("function", value=definition) if definition in self.converted else UNKNOWN
        return self._constant(e)

    def _is_node(self, node: Node, drawing: set[str]) -> bool:
        """Of all functions of a module, those that name NumPy or whose parameters are (taken for) arrays, and that are not torch
        already."""
        function = node.function
        assert function is not None
        if function.name in drawing:
            return False
        return self.names_numpy(function) or any(f.is_tensor for f in self.parameters(node)[0].values())

    def names_numpy(self, function: FunctionNode) -> bool:
        """Whether a function speaks of NumPy."""
        return any(
            str(self.names.qualified(n)).startswith("numpy.") for n in walk(function) if isinstance(n, (ast.Name, ast.Attribute))
        )

    def uses_arrays(self, function: FunctionNode) -> bool:
        """Whether a parameter of a function is used as arrays are."""
        args = function.args
        return any(self._used_as_array(function, a.arg, indexing=False) for a in [*args.posonlyargs, *args.args, *args.kwonlyargs])

    def _used_as_array(self, function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str, indexing: bool) -> bool:
        """Every use of a parameter is one that an array has, and at least one is arithmetic or a call on it (or `indexing`)."""
        seen = False
        for n in walk(function):
            for child in children(n):
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

    def _constant(self, e: ast.Name) -> Fact:
        """A module's constant: bound once, to a number or to a NumPy array whose dtype its own text says."""
        if not self.names.is_global_variable(e) or len(self.names.module.bindings.get(e.id, ())) != 1:
            return UNKNOWN
        for s in self.tree.body:
            if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and s.targets[0].id == e.id:
                return self._made_of(s.value)
            for t, v in pairs(s.targets[0], s.value) if isinstance(s, ast.Assign) and len(s.targets) == 1 else ():
                if isinstance(t, ast.Name) and t.id == e.id and (found := self._made_of(v)).kind == "number":
                    return found
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

    def _is_done(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Rewritten before: it carries the boundary."""
        return any(
            self.names.qualified(d.func if isinstance(d, ast.Call) else d) in ("np2fx.boundary", "np2fx.numpy.on_torch")
            for d in function.decorator_list
        )


def _made_anew(function: FunctionNode, parameter: str) -> bool:
    """Whether a parameter is taken through a call before anything else is done with it: `x = np.asarray(x, dtype=float)`."""
    for s in function.body:
        named = [n for n in walk(s) if isinstance(n, ast.Name) and n.id == parameter]
        if named:
            call = s.value if isinstance(s, ast.Assign) else None
            into = [t for t in s.targets if isinstance(t, ast.Name)] if isinstance(s, ast.Assign) else []
            return isinstance(call, ast.Call) and set(named) == {*into, *call.args[:1]} and any(t.id == parameter for t in into)
    return False


def _is_number(default: ast.expr | None) -> bool:
    """A default that is a literal int or float."""
    if isinstance(default, ast.UnaryOp):
        default = default.operand
    return isinstance(default, ast.Constant) and type(default.value) in (int, float)


def _literal_dtype(node: ast.expr) -> str | None:
    """float64 where a literal list holds a float, int64 where it holds ints alone."""
    leaves = [n for n in walk(node) if isinstance(n, ast.Constant)]
    inner = all(isinstance(n, (ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.UAdd, ast.Load)) for n in walk(node))
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
