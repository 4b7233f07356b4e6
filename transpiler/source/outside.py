"""Calls that are not NumPy's: builtins, other modules, and memory that nothing wrote. A mixin of the interpreter."""

from __future__ import annotations

import ast
import os
from dataclasses import replace

from .functions import COMPILED, Functions
from .targets import words
from .values import NUMBER, UNKNOWN, Value, element_of, join_all, operated
from .values import sequence as sequence_of

_PURE = words("functools itertools operator copy collections typing dataclasses contextlib enum abc types numbers string re json")
_EFFECTS = {
    "time": "error", "datetime": "error", "os": "error", "sys": "warning", "io": "error", "logging": "warning", "warnings": "warning",
    "subprocess": "error", "socket": "error", "pathlib": "error", "pdb": "warning", "shutil": "error", "threading": "error",
    "tempfile": "error",
    "builtins.print": "warning", "builtins.open": "error", "builtins.input": "error", "builtins.exec": "error", "builtins.eval": "error",
    "builtins.breakpoint": "warning",
}  # fmt: skip
_ITERATES = words("list tuple set frozenset sorted sum map filter enumerate zip iter next reversed all any min max dict")


class Outside(Functions):
    """Builtins and other modules, as check reads them."""

    def builtin(self, e: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        if f"builtins.{name}" in _EFFECTS:
            self.say("side-effect", e, severity_=_EFFECTS[f"builtins.{name}"])
            return UNKNOWN
        arrays = [v for v in args if v.kind in ("array", "text") and v.traced]
        if name in ("float", "int", "bool", "complex", "range", "str", "format", "chr", "slice"):
            if name in ("str", "format"):
                return Value("text", bool(arrays))
            if arrays:
                self.say("python-value", e, f"`{name}(...)` makes a Python value of array values, a constant of the graph")
            return Value("sequence", element=NUMBER) if name == "range" else NUMBER
        if name in ("abs", "round", "pow", "divmod"):
            return self.made(e, operated("", *args)) if args else UNKNOWN
        if name in ("min", "max") and len(args) > 1:
            if arrays:
                self.say("data-dependent-branch", e, f"`{name}` compares array values in Python", f"use np.{name}imum(a, b)")
                return join_all(args)
            return join_all(args)
        if name in _ITERATES:
            return self.iterating(e, name, args)
        if name == "setattr" and args:
            self.effect(e, "the object")
        if name in ("getattr", "vars", "super", "property"):
            return replace(UNKNOWN, traced=any(a.traced and a.kind == "unknown" for a in args))
        return NUMBER if name in ("len", "isinstance", "hasattr", "callable", "type", "id", "issubclass", "hash") else UNKNOWN

    def iterating(self, e: ast.Call, name: str, args: list[Value]) -> Value:
        """A builtin that walks its arguments in Python."""
        start = 1 if name in ("map", "filter") else 0
        elements = [self.iterated(n, v) for n, v in zip(e.args[start:], args[start:], strict=False)]
        if name == "zip":
            return Value("sequence", any(v.traced for v in args), element=sequence_of(elements))
        if name == "enumerate":
            return Value("sequence", any(v.traced for v in args), element=sequence_of([NUMBER, *elements[:1]]))
        if name == "map":
            function = args[0].constant if args else None
            walked = isinstance(function, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef))
            return Value(
                "sequence",
                True,
                element=self.inline(function, elements, {}) if walked else replace(UNKNOWN, traced=any(v.traced for v in elements)),
            )
        if name in ("sum", "next", "min", "max"):
            return join_all(elements) if elements else UNKNOWN
        if name in ("any", "all"):
            if any(v.is_data for v in elements) and not args[0].is_array:
                self.say("data-dependent-branch", e)
            return NUMBER
        if name in ("list", "tuple", "reversed") and args and args[0].kind == "sequence":
            return replace(args[0], items=None, element=element_of(args[0])) if name == "reversed" else args[0]
        return Value(
            "sequence", any(v.traced for v in args), element=join_all(elements) if elements else None, items=None if elements else ()
        )

    def foreign(self, e: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A function of another module: traced where it is torch, pure Python or a neighbour; opaque where it is compiled."""
        top = name.split(".")[0]
        every = [*args, *keywords.values()]
        traced = any(v.traced for v in every)
        if top in ("math", "cmath"):
            if any(v.is_data for v in every):
                self.say("python-value", e, f"{name} makes a Python number of an array value", f"use np.{name.rpartition('.')[2]}")
            return replace(NUMBER, dtype="float")
        if top in ("random", "secrets", "uuid"):
            self.say("random", e)
            return UNKNOWN
        if top in _EFFECTS and name != "os.path.join":
            self.say("side-effect", e, f"{name} happens while tracing only", severity_=_EFFECTS[top])
            return UNKNOWN
        if name in ("copy.copy", "copy.deepcopy") and args:
            return self.made(e, args[0]) if args[0].is_array else args[0]
        if top in ("functools", "itertools") and any(v.is_array and v.traced and v.rank != 0 for v in args):
            node = next(n for n, v in zip(e.args, args, strict=False) if v.is_array and v.traced)
            self.say("element-iteration", node)
            return Value("unknown", True)
        if top in COMPILED and traced:
            self.say("opaque-call", e, f"{name} cannot be traced: its result becomes a constant")
            return UNKNOWN
        if top in ("torch", "np2fx", "leapp", "einops", "") or top in _PURE or not traced or self.is_neighbour(name):
            return Value("unknown", traced)
        self.say("opaque-call", e, f"if {name} is not plain NumPy, its result becomes a constant", severity_="warning")
        return Value("unknown", traced)

    def is_neighbour(self, name: str) -> bool:
        """Whether a module stands in the same project: a folder or file beside this one or under the root."""
        top = name.split(".")[0]
        folders = [self.root, os.path.join(self.root, "src")]
        here = os.path.dirname(os.path.abspath(self.path))
        folders += [here, os.path.dirname(here)]
        return any(os.path.isfile(os.path.join(f, top + ".py")) or os.path.isdir(os.path.join(f, top)) for f in folders)

    # Memory that nothing wrote.

    def uninitialised(self, body: list[ast.stmt]) -> None:
        """`np.empty` whose array is read though nothing in the function writes into it."""
        tree = ast.Module(body, [])
        made = [
            n for n in ast.walk(tree) if isinstance(n, ast.Call) and self.names.qualified(n.func) in ("numpy.empty", "numpy.empty_like")
        ]
        if not made:
            return
        written = {_root(n) for n in ast.walk(tree) if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, ast.Store)}
        written |= {_root(n.target) for n in ast.walk(tree) if isinstance(n, ast.AugAssign)}
        handed = {_root(a) for n in ast.walk(tree) if isinstance(n, ast.Call) for a in (*n.args, *(k.value for k in n.keywords))}
        handed |= {
            _root(n.func)
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("fill", "put", "itemset")
        }
        for statement in ast.walk(tree):
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) else None
            if value in made and isinstance(value, ast.Call):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[union-attr]
                if not all(isinstance(t, ast.Name) for t in targets) or {_root(t) for t in targets} & (written | handed):
                    made.remove(value)
        given = [k.value for n in ast.walk(tree) if isinstance(n, ast.Call) for k in n.keywords if k.arg == "out"]
        for call in made:
            if call not in given and not _is_empty_shape(call):
                self.say("uninitialised-memory", call)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_empty_shape(call: ast.Call) -> bool:
    """`np.empty(0)`, `np.empty((0, 3))`: there is no memory to hold anything."""
    return any(isinstance(n, ast.Constant) and n.value == 0 and not isinstance(n.value, bool) for a in call.args[:1] for n in ast.walk(a))
