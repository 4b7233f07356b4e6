"""The classes of the user's whose code runs though no call of it is written: their properties, and their special methods.

Where the text reads `o.spread`, and some class of the program has a property of that name which computes, run time looks whose it is.
Properties that only hand out what is stored somewhere mean the same for tensors.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..reading.walking import walk

if TYPE_CHECKING:
    from ..reading.project import Parsed, Project
    from ..reading.table import Table

Reads = tuple[str, ...]
"""The attributes that a property hands out."""

_REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
CONVERSIONS = {
    "bool": ("__bool__", "__len__"), "int": ("__int__", "__index__"), "float": ("__float__", "__index__"), "len": ("__len__",),
    "complex": ("__complex__", "__float__"), "next": ("__next__",), "hash": ("__hash__",),
}  # fmt: skip
"""Builtins, and the special methods that they call."""
SPECIAL = {
    ufunc: (f"__{name}__", f"__{_REFLECTED.get(name, f'r{name}')}__")
    for ufunc, name in {
        "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv", "remainder": "mod",
        "power": "pow", "matmul": "matmul", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "left_shift": "lshift",
        "right_shift": "rshift", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq", "not_equal": "ne",
    }.items()
}  # fmt: skip
"""The special methods that mean an operator, those of the left and of the right operand, by the ufunc of the same meaning."""
_LOOKED_UP = ("getattr", "hasattr", "isinstance", "super", "AttributeError", "KeyError", "type", "self")
_STORING = (ast.arguments, ast.arg, ast.Return, ast.Name, ast.Attribute, ast.Constant, ast.expr_context, ast.Pass)


def computing(members: Iterable[tuple[str, Reads | None]]) -> frozenset[str]:
    """The names under which something computes, of (name, what it hands out; None for what computes). What hands out another property
    computes as that does."""
    found: dict[str, list[Reads | None]] = {}
    for name, reads in members:
        found.setdefault(name, []).append(reads)
    names = {n for n, every in found.items() if None in every}
    while more := {n for n, every in found.items() if n not in names and any(names.intersection(r) for r in every if r)}:
        names |= more
    return frozenset(names)


def classes_of(project: Project, parsed: Parsed, table: Table) -> frozenset[str]:
    """What the classes of a project may compute in the functions of a module: properties, wherever the class stands, and special methods
    of the classes that the module has or imports."""
    paths = project.with_words({"property", "cached_property"})
    everywhere = [p for path in paths if (p := project.parsed(path)) is not None]
    found = [(n, r) for p in everywhere for n, r in members(p, table, project) if not n.startswith("__") and not n.endswith("()")]
    near = {os.path.realpath(parsed.path): parsed}
    for s in walk(parsed.tree):
        named = [a.name for a in s.names] if isinstance(s, ast.Import) else []
        if isinstance(s, ast.ImportFrom):
            base = "." * s.level + (s.module or "")
            named = [base, *(f"{base}{'' if base.endswith('.') else '.'}{a.name}" for a in s.names)]
        for name in named:
            file = project.module_file(name, parsed.path)
            other = project.parsed(file) if file is not None and file in project.paths else None
            if other is not None:
                near[file or ""] = other
    return computing([*found, *((n, r) for p in near.values() for n, r in members(p, table, project))])


def members(parsed: Parsed, table: Table, project: Project) -> list[tuple[str, Reads | None]]:
    """The properties and special methods of a module's classes, and what they hand out; other methods as "name()". Each module is
    read once, however many import it."""
    held = project.members.get(parsed)
    if held is None or held[0] is not table:
        held = project.members[parsed] = table, _members(parsed, table)
    found: list[tuple[str, Reads | None]] = held[1]
    return found


def _members(parsed: Parsed, table: Table) -> list[tuple[str, Reads | None]]:
    found: list[tuple[str, Reads | None]] = []
    for kind in (n for n in walk(parsed.tree) if isinstance(n, ast.ClassDef)):
        for s in kind.body:
            if not isinstance(s, ast.FunctionDef):
                continue
            decorators = [d for d in s.decorator_list if not isinstance(d, ast.Call)]
            last = {ast.unparse(d).rpartition(".")[2] for d in decorators}
            if last & {"property", "cached_property", "setter"} or _is_special(s.name):
                found.append((s.name, _handed_out(s, table)))
            else:
                found.append((f"{s.name}()", _handed_out(s, table)))
    return found


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _handed_out(function: ast.FunctionDef, table: Table) -> Reads | None:
    """The attributes of which a function hands out one, None where it computes."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    inside = [n for s in body for n in walk(s)]
    read = tuple(n.attr for n in inside if isinstance(n, ast.Attribute))
    arrays = any(table.is_method(n) and n not in ("shape", "ndim") for n in read)
    if function.name == "__getattr__" and not arrays:  # it looks up where the attribute is
        called = [n.func for n in inside if isinstance(n, ast.Call)]
        if all(isinstance(c, ast.Name) and c.id in _LOOKED_UP for c in called) and not any(isinstance(n, ast.BinOp) for n in inside):
            return read
    stores = (*_STORING, ast.Raise, ast.Call) if all(isinstance(s, ast.Raise) for s in body) else _STORING
    return read if all(isinstance(n, stores) for n in inside) and not arrays else None
