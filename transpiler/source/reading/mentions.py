"""Where a project speaks of one of its functions: whoever else calls it must find it as it was.

What cannot be told for certain counts as a mention: then the function takes whatever it took.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from .names import FunctionNode
from .neighbours import is_neighbour
from .project import Parsed, Project
from .walking import walk

NO, YES, REPLACED = "no", "yes", "replaced"
"""Whether something else mentions a function, or even puts another in its place (`helpers.scale = faster`)."""


class Mentions:
    """The places that speak of one function. `method` is True for one in a class, which is looked for by its name alone."""

    def __init__(self, project: Project, parsed: Parsed, function: FunctionNode, method: bool) -> None:
        self.project, self.parsed, self.function, self.method = project, parsed, function, method
        self.words = {function.name}
        self.stems = {parsed.stem}
        self.places: list[tuple[ast.AST | None, str]] = [(None, YES)] if parsed.is_package and not method else []
        while True:  # a file may import it under another name, under which a third one knows it
            before = self.words | self.stems
            found = [place for p in self._files() for place in self._in(p)]
            if self.words | self.stems == before:
                self.places += found
                return

    def beyond(self, allowed: set[ast.AST]) -> str:
        """What there is beside the places that are `allowed`."""
        others = {how for node, how in self.places if node is None or node not in allowed}
        return REPLACED if REPLACED in others else YES if others else NO

    def _files(self) -> Iterator[Parsed]:
        own = os.path.realpath(self.parsed.path)
        yield self.parsed
        for path in self.project.with_words(self.words):
            parsed = self.project.parsed(path)
            if parsed is None:
                self.places.append((None, YES))
            elif os.path.realpath(parsed.path) != own:
                yield parsed

    def _in(self, parsed: Parsed) -> Iterator[tuple[ast.AST | None, str]]:
        home = parsed is self.parsed
        near = home or any(parsed.has_word(stem) for stem in self.stems)
        for n in parsed.speaking:
            if isinstance(n, ast.Attribute):
                how = self._attribute(parsed, n, near)
            elif isinstance(n, ast.Name):
                how = YES if self._name(parsed, n) else NO
            elif isinstance(n, ast.ImportFrom) and not self.method:
                how = YES if self._imported(parsed, n) else NO
            elif isinstance(n, ast.Constant) and isinstance(n.value, str):
                read = YES if n.value in self.words and (near or self.method) else NO
                how = read if n in parsed.looked_up else self._text(n.value)
            elif isinstance(n, ast.Call):
                how = self._keyword(n)
            else:
                continue
            if how != NO:
                yield n, how

    def _attribute(self, parsed: Parsed, n: ast.Attribute, near: bool) -> str:
        if n.attr not in self.words:
            return NO
        used = YES if isinstance(n.ctx, ast.Load) else REPLACED
        if self.method:
            return used
        qualified = parsed.names.qualified(n)
        if qualified is None:
            return used if near else NO
        found = self.project.find(qualified, parsed.path)
        if found is None:  # `app.helpers.scale`, where `app` imports the module, or some other variable
            return used if self.project.root is not None and is_neighbour(qualified, parsed.path, self.project.root) else NO
        return used if found[1] is self.function else NO

    def _name(self, parsed: Parsed, n: ast.Name) -> bool:
        if parsed is self.parsed and parsed.names.definition(n) is self.function:
            return isinstance(n.ctx, ast.Load)
        if self.method or n.id not in self.words:
            return False
        qualified = parsed.names.qualified(n)
        if qualified is None or qualified.startswith("builtins."):
            return bool(parsed.names.stars) and not parsed.names.is_bound(n)
        return self._is_ours(qualified, parsed)

    def _imported(self, parsed: Parsed, n: ast.ImportFrom) -> bool:
        """An import that hands it on: in a package's `__init__`, of everything, or where the name cannot be followed."""
        module = "." * n.level + (n.module or "")
        for a in n.names:
            if a.name == "*":
                if self.project.module_file(module, parsed.path) == os.path.realpath(self.parsed.path):
                    self.stems.add(parsed.stem)
                    return True
            elif a.name in self.words and self._is_ours(f"{module}{'' if module.endswith('.') else '.'}{a.name}", parsed):
                self.words.add(a.asname or a.name)
                self.stems.add(parsed.stem)
                if parsed.is_package:
                    return True
        return False

    def _is_ours(self, qualified: str, parsed: Parsed) -> bool:
        if qualified.rpartition(".")[2] not in self.words:
            return False
        found = self.project.find(qualified, parsed.path)
        return found is not None and found[1] is self.function

    def _text(self, text: str) -> str:
        """Its name in a string, by which something may put another in its place: `monkeypatch.setattr(helpers, "scale", faster)`.

        Whose `scale` that is cannot be told."""
        last = re.split(r"[.:]", text)[-1]
        if last not in self.words or not re.fullmatch(r"[\w.:]*", text):
            return NO
        if not self.method:
            return REPLACED
        whole = any(re.fullmatch(rf"[\w.]*\b{re.escape(stem)}[.:](?:\w+\.)?{re.escape(last)}", text) for stem in self.stems)
        return REPLACED if whole else YES if text == last else NO

    def _keyword(self, n: ast.Call) -> str:
        """Its name as a keyword of what sets the names of a module: `mock.patch.multiple(helpers, scale=faster)`."""
        if _called_name(n) not in _SETTERS or not any(k.arg in self.words for k in n.keywords):
            return NO
        return YES if self.method else REPLACED


_SETTERS = ("multiple", "dict", "patch", "setattr", "delattr", "update")
_PUTS = (*_SETTERS, "object", "setitem", "__setitem__", "__setattr__")


def is_module_replaced(project: Project, parsed: Parsed) -> bool:
    """Whether something puts another in the place of a whole module: `monkeypatch.setattr(app, "helpers", fake)`, `app.helpers = fake`."""
    names = {parsed.stem}
    files = [p for path in project.with_words(names) if (p := project.parsed(path)) is not None and p is not parsed]
    for p in files:
        for n in walk(p.tree):
            if isinstance(n, (ast.Import, ast.ImportFrom)):
                names |= {a.asname for a in n.names if a.asname and a.name.rpartition(".")[2] == parsed.stem}
    files = [p for path in project.with_words(names) if (p := project.parsed(path)) is not None]
    return any(_puts(n, names) for p in files for n in walk(p.tree))


def _called_name(n: ast.Call) -> str:
    return n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", "")


def _puts(n: ast.AST, names: set[str]) -> bool:
    if isinstance(n, ast.Attribute):
        return n.attr in names and not isinstance(n.ctx, ast.Load) and not (isinstance(n.value, ast.Name) and n.value.id == "self")
    inside: list[ast.AST] = []
    base = n.value if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load) else None
    if isinstance(base, ast.Call) or (isinstance(base, ast.Attribute) and base.attr in ("modules", "__dict__")):
        assert isinstance(n, ast.Subscript)
        inside = [n.slice]
    elif isinstance(n, ast.Call) and _called_name(n) in _PUTS:
        if any(k.arg in names for k in n.keywords):
            return True
        inside = [c for a in [*n.args, *(k.value for k in n.keywords)] for c in walk(a)]
    return any(isinstance(c, ast.Constant) and isinstance(c.value, str) and c.value.rpartition(".")[2] in names for c in inside)
