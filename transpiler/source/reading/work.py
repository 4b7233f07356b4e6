"""Whether a function works on arrays at all: `--all-functions` asks, so that plain Python is not read as if its arguments were arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.counting import no_arrays
from ..facts.values import of_annotation
from .names import FunctionNode, Names
from .nodes import Node
from .table import Table
from .walking import children, walk

# Python calls these to make, show, compare and keep objects: none of them turns arrays into arrays.
_NEVER = frozenset({
    "__init__", "__post_init__", "__new__", "__init_subclass__", "__repr__", "__str__", "__len__", "__hash__", "__eq__", "__del__",
    "__enter__", "__exit__", "__getstate__", "__setstate__", "__reduce__", "__getattr__", "__setattr__",
})  # fmt: skip

_WALKS = frozenset((
    "list", "tuple", "sum", "min", "max", "sorted", "enumerate", "zip", "map", "abs", "float", "int", "round", "any", "all",
))  # fmt: skip


class ArrayWork:
    """Which functions of one module do array work: those that name NumPy, are declared to take arrays, or call one that does.

    A function of a module that imports NumPy also counts where it computes with or indexes a parameter of which nothing else is said.
    """

    def __init__(self, tree: ast.Module, names: Names, table: Table) -> None:
        self.names, self.table = names, table
        self.imports = any(_imports_numpy(n) for n in walk(tree))
        self.known: dict[ast.AST, bool] = {}
        self.functions = [*_functions(tree)]
        self.callers: dict[ast.AST, list[tuple[FunctionNode, bool]]] | None = None
        self.methods = {f.name: f for c in walk(tree) if isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, ast.FunctionDef)}

    def of(self, node: Node) -> bool:
        """Whether a node taken by `--all-functions` is worth a walk."""
        function = node.function
        if function is None or (node.in_class and function.name in _NEVER):
            return function is None
        if function.name.startswith("_") and not node.in_class and not self._declares(function) and self._served(function):
            return False
        return self.works(function) or (self.imports and not node.in_class and self._computes(function))

    def _served(self, function: FunctionNode) -> bool:
        """Whether a private function is called by a public one of the module: it is walked with the values it gets there."""
        if self.callers is None:
            self.callers = {}
            for caller, owner in self.functions:
                for callee in self._callees(caller):
                    self.callers.setdefault(callee, []).append((caller, owner))
        pending, seen = [function], {function}
        while pending:
            for caller, owner in self.callers.get(pending.pop(), ()):
                if not caller.name.startswith("_"):
                    return True
                if caller not in seen and not (owner and caller.name in _NEVER):
                    seen.add(caller)
                    pending.append(caller)
        return False

    def works(self, function: FunctionNode) -> bool:
        """Whether a function names NumPy, takes declared arrays, or calls one of this module that does."""
        if function not in self.known:
            self.known[function] = False  # in a circle of calls nobody is the first
            self.known[function] = self._says(function) or any(self.works(f) for f in self._callees(function))
        return self.known[function]

    def _says(self, function: FunctionNode) -> bool:
        if any((self.names.qualified(n) or "").startswith("numpy.") for n in walk(function) if isinstance(n, ast.Attribute)):
            return True
        if any((self.names.qualified(n) or "").startswith("numpy") for n in walk(function) if isinstance(n, ast.Name)):
            return True
        return self._declares(function)

    def _declares(self, function: FunctionNode) -> bool:
        """Whether a parameter is declared as an array."""
        return any(of_annotation(a.annotation, self.names) is not None for a in _parameters(function) if _says_numpy(a.annotation))

    def _callees(self, function: FunctionNode) -> Iterator[FunctionNode]:
        for call in (n for n in walk(function) if isinstance(n, ast.Call)):
            callee = self.names.definition(call.func)
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id in ("self", "cls"):
                callee = self.methods.get(call.func.attr)
            if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield callee

    def _computes(self, function: FunctionNode) -> bool:
        """Whether an undeclared parameter is an operand, is indexed, walked over, or is asked for what an ndarray has."""
        if any((self.names.qualified(n) or "").startswith("torch") for n in walk(function) if isinstance(n, ast.Name)):
            return False
        free = {a.arg for a in _parameters(function) if a.annotation is None}
        if free & no_arrays(function, self.table.is_method).keys():
            return False  # plain Python, that computes with numbers too
        return any(isinstance(p, ast.Name) and p.id in free for n in walk(function) for p in self._operands(n))

    def _operands(self, n: ast.AST) -> list[ast.expr]:
        if isinstance(n, ast.BinOp):
            return [n.left, n.right]
        if isinstance(n, ast.UnaryOp) and not isinstance(n.op, ast.Not):
            return [n.operand]
        if isinstance(n, ast.AugAssign):
            return [n.target]
        if isinstance(n, ast.Compare) and all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in n.ops):
            return [n.left, *n.comparators]
        if isinstance(n, (ast.For, ast.comprehension)):
            return [n.iter]
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in _WALKS:
            return n.args
        if isinstance(n, ast.Subscript) and not (isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str)):
            return [n.value]
        return [n.value] if isinstance(n, ast.Attribute) and self.table.is_method(n.attr) else []


def _functions(tree: ast.AST, in_class: bool = False) -> Iterator[tuple[FunctionNode, bool]]:
    """The functions that are nodes under `--all-functions`, and whether they are methods."""
    for child in children(tree):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child, in_class
        else:
            yield from _functions(child, isinstance(child, ast.ClassDef))


def _parameters(function: FunctionNode) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _says_numpy(annotation: ast.expr | None) -> bool:
    """An annotation in the words of NumPy's types, quoted or not, wherever they were imported from."""
    return annotation is not None and any(word in ast.unparse(annotation) for word in ("ndarray", "NDArray", "ArrayLike"))


def _imports_numpy(n: ast.AST) -> bool:
    if isinstance(n, ast.ImportFrom):
        return (n.module or "").split(".")[0] == "numpy"
    return isinstance(n, ast.Import) and any(a.name.split(".")[0] == "numpy" for a in n.names)
