"""Imports of a rewritten module: those the new text needs are added, an `np` left without users is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from ..source.reading.text import lines_of, newline_of
from ..source.reading.walking import walk

_LINES = {"np2fx": "import np2fx", "torch": "import torch", "npx": "import np2fx.numpy"}


MODULES = {"np2fx": "np2fx", "torch": "torch", "npx": "np2fx.numpy"}


def identifiers(nodes: Iterable[ast.AST]) -> set[str]:
    """Every name that may mean something in some nodes: of variables, parameters, functions, imports, errors, patterns."""
    found: set[str] = set()
    for n in nodes:
        if isinstance(n, ast.alias):
            found.add(n.asname or n.name.split(".")[0])
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            found |= set(n.names)
        elif isinstance(n, ast.arg):
            found.add(n.arg)
        else:
            found |= {name for field in ("id", "name", "rest") if isinstance(name := getattr(n, field, None), str)}
    return found


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that some nodes bind, or say to be bound elsewhere."""
    return identifiers(n for n in nodes if not isinstance(getattr(n, "ctx", None), ast.Load))


def free_names(tree: ast.Module, private: bool = False) -> dict[str, str]:
    """Under which name each module that new text may use is imported, or can be: its own, or one that nothing in the file has.

    private  a new name is one that `from ... import *` leaves out"""
    found: dict[str, str] = {}
    nodes, above = list(walk(tree)), set[ast.AST]()
    for s in tree.body:
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            found |= {key: name for key, module in MODULES.items() if (name := _imported_as(s, module))}
            above |= set(s.names)
    other = bound(n for n in nodes if n not in above)
    return chosen_names(identifiers(nodes), {k: n for k, n in found.items() if n not in other}, private)


def chosen_names(used: set[str], found: dict[str, str], private: bool = False) -> dict[str, str]:
    """A name for each module that new text may use: the one it is found under, or one that is not used."""
    names = dict(found)
    for key in MODULES:
        name = f"_{key}" if private else key
        while key not in found and name in used:
            name = f"{'_' * private}np2fx_{key}" if "np2fx_" not in name else name + "_"
        names.setdefault(key, name)
    return names


def _imported_as(s: ast.Import | ast.ImportFrom, module: str) -> str | None:
    """The name under which a statement imports a module, if it does."""
    for a in s.names:
        full = a.name if isinstance(s, ast.Import) else f"{s.module}.{a.name}" if s.module and not s.level else ""
        if full == module and (a.asname or isinstance(s, ast.ImportFrom) or "." not in a.name):
            return a.asname or a.name
    return None


def import_line(key: str, name: str) -> str:
    """The import of a module that new text uses, under a name."""
    return _LINES[key] if name == _LINES[key].rpartition(" ")[2] else f"{_LINES[key]} as {name}"


def add_imports(text: str, needed: dict[str, str]) -> str:
    """The text with the imports in `needed` (key of _LINES -> name) that it lacks, after its last import at the top."""
    tree = ast.parse(text)
    lines = []
    for key in ("np2fx", "torch", "npx"):
        if key not in needed or _is_imported(tree, key, needed[key]):
            continue
        lines.append(import_line(key, needed[key]))
    if not lines:
        return text
    nl = newline_of(text)
    kept = lines_of(text)
    last = insertion_line(tree, kept)
    group = _third_party(tree, kept, last)
    places = [(_place_in(group, line) if group else last, n, line) for n, line in enumerate(lines)]
    for at, _, line in sorted(places, reverse=True):
        if at and at <= len(kept) and not kept[at - 1].endswith(("\n", "\r")):
            kept[at - 1] += nl
        kept.insert(at, line + nl)
    if not any(isinstance(s, (ast.Import, ast.ImportFrom, ast.Try)) for s in tree.body):  # the first imports stand by themselves
        first = places[0][0]
        after = first + len(lines)
        if after < len(kept) and kept[after].strip():
            kept.insert(after, nl * 2)
        if tree.body and first == tree.body[0].end_lineno and isinstance(tree.body[0], ast.Expr):
            kept.insert(first, nl)
    return "".join(kept)


def _third_party(tree: ast.Module, lines: list[str], last: int) -> list[ast.Import | ast.ImportFrom]:
    """The group of imports at the top that NumPy (or torch, or np2fx) stands in: one a line, without blank lines between.

    last  the line of the last import at the top"""
    groups: list[list[ast.Import | ast.ImportFrom]] = []
    for row in _rows(tree, lines):
        s = row[0]
        if len(row) > 1 or s.lineno != s.end_lineno or not isinstance(s, (ast.Import, ast.ImportFrom)) or _is_future(s):
            continue
        if groups and groups[-1][-1].lineno + 1 == s.lineno:
            groups[-1].append(s)
        else:
            groups.append([s])
    return next(
        (g for g in groups if g[-1].lineno <= last and any(_module(s).split(".")[0] in ("numpy", "torch", "np2fx", "leapp") for s in g)), []
    )


def _rows(tree: ast.Module, lines: list[str]) -> list[list[ast.stmt]]:
    """The module's statements, together those that a line has to be shared by: `import a; import b`."""
    rows: list[list[ast.stmt]] = []
    ended = True
    for s in tree.body:
        if ended:
            rows.append([])
        rows[-1].append(s)
        ended = _ends_line(lines[(s.end_lineno or s.lineno) - 1].encode()[s.end_col_offset :].decode())
    return rows


def _ends_line(behind: str) -> bool:
    """Whether nothing but a comment stands behind a statement on its last line: a line can follow it."""
    rest = behind.strip().removeprefix(";").strip()
    return not rest or rest.startswith("#")


def _is_future(s: ast.stmt) -> bool:
    return isinstance(s, ast.ImportFrom) and s.module == "__future__"


def _module(s: ast.Import | ast.ImportFrom) -> str:
    return s.names[0].name if isinstance(s, ast.Import) else "." * s.level + (s.module or "")


def _place_in(group: list[ast.Import | ast.ImportFrom], line: str) -> int:
    """The line after which an import goes in a group sorted as isort and ruff do: `import`s by module, then `from`s by module."""
    new = ast.parse(line).body[0]
    assert isinstance(new, (ast.Import, ast.ImportFrom))
    key = (isinstance(new, ast.ImportFrom), _module(new).lower())
    before = [s.lineno for s in group if (isinstance(s, ast.ImportFrom), _module(s).lower()) <= key]
    return max(before, default=group[0].lineno - 1)


def _is_imported(tree: ast.Module, key: str, name: str) -> bool:
    return any(isinstance(s, (ast.Import, ast.ImportFrom)) and _imported_as(s, MODULES[key]) == name for s in tree.body)


def insertion_line(tree: ast.Module, lines: list[str]) -> int:
    """The line after which imports go: the last import at the top of the file, else what has to stay above every statement."""
    line = next((n for n in (2, 1) if n <= len(lines) and _HEADER.match(lines[n - 1])), 0)
    for n, row in enumerate(_rows(tree, lines)):
        first = row[0]
        is_doc = n == 0 and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        if not (is_doc or any(map(_is_future, row)) or all(map(_is_import, row))):
            return line if n or not _is_import(first) else first.lineno - 1
        line = row[-1].end_lineno or row[-1].lineno
    return line


_HEADER = re.compile(r"#!|#.*coding[:=]")
"""A first line for the shell, and what says the file's encoding (PEP 263), which is in one of the first two lines."""


def _is_import(s: ast.stmt) -> bool:
    if isinstance(s, ast.Try):
        return all(isinstance(b, (ast.Import, ast.ImportFrom)) for b in s.body)
    return isinstance(s, (ast.Import, ast.ImportFrom))


def drop_unused(text: str, before: str, wanted: Callable[[str], bool]) -> str:
    """The text without an `import numpy as np` that had users in `before` and has none now. Nothing else is touched.

    wanted  whether others may look for a name in this module"""
    tree = ast.parse(text)
    old_users = _users(ast.parse(before))
    users = _users(tree)
    lines = lines_of(text)
    gone: list[int] = []
    for s in tree.body:
        if not isinstance(s, (ast.Import, ast.ImportFrom)) or s.lineno != s.end_lineno:
            continue
        bound = [a.asname or a.name.split(".")[0] for a in s.names]
        module = s.names[0].name if isinstance(s, ast.Import) else s.module or ""
        if module.split(".")[0] != "numpy" or (isinstance(s, ast.ImportFrom) and s.level) or "*" in bound:
            continue
        alone = lines[s.lineno - 1].strip() == ast.get_source_segment(text, s) and all(o is s or o.lineno != s.lineno for o in tree.body)
        if alone and not any(b in users for b in bound) and any(b in old_users for b in bound) and not any(map(wanted, bound)):
            gone.append(s.lineno - 1)
    return "".join(line for n, line in enumerate(lines) if n not in gone)


def _users(tree: ast.Module) -> set[str]:
    """Names that are read, also in text that may be an annotation or an export list."""
    found = {n.id for n in walk(tree) if isinstance(n, ast.Name)}
    for n in walk(tree):
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and len(n.value) < 200:
            found |= set(re.findall(r"[A-Za-z_]\w*", n.value))
    return found
