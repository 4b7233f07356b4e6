"""Where a project speaks of one of its functions: whoever else calls it must find it as it was.

What cannot be told for certain counts as a mention: then the function stays NumPy's and gets a twin.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from .names import FunctionNode
from .project import Parsed, Project

NO, YES, REPLACED = "no", "yes", "replaced"
"""Whether something else mentions a function, or even puts another in its place (`helpers.scale = faster`)."""


class Mentions:
    """The places that speak of one function. `method` is True for one in a class, which is looked for by its name alone."""

    def __init__(self, project: Project, parsed: Parsed, function: FunctionNode, method: bool) -> None:
        self.project, self.parsed, self.function, self.method = project, parsed, function, method
        self.words = {function.name}
        self.stem = os.path.splitext(os.path.basename(parsed.path))[0]
        if parsed.is_package:
            self.stem = os.path.basename(os.path.dirname(os.path.abspath(parsed.path)))
        self.places: list[tuple[ast.AST | None, str]] = [(None, YES)] if parsed.is_package and not method else []
        while True:  # a file may import it under another name, under which a third one knows it
            before = set(self.words)
            found = [place for p in self._files() for place in self._in(p)]
            if self.words == before:
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
        near = home or parsed.has_word(self.stem)
        for n in ast.walk(parsed.tree):
            if isinstance(n, ast.Attribute):
                how = self._attribute(parsed, n, near)
            elif isinstance(n, ast.Name):
                how = YES if self._name(parsed, n) else NO
            elif isinstance(n, ast.ImportFrom) and not self.method:
                how = YES if self._imported(parsed, n) else NO
            elif isinstance(n, ast.Constant) and isinstance(n.value, str) and self.function.name in n.value:
                how = self._text(n.value, near)
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
        return used if self._is_ours(qualified, parsed) else NO

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
                    return True
            elif a.name in self.words and self._is_ours(f"{module}{'' if module.endswith('.') else '.'}{a.name}", parsed):
                self.words.add(a.asname or a.name)
                if parsed.is_package:
                    return True
        return False

    def _is_ours(self, qualified: str, parsed: Parsed) -> bool:
        if qualified.rpartition(".")[2] not in self.words:
            return False
        found = self.project.find(qualified, parsed.path)
        return found is not None and found[1] is self.function

    def _text(self, text: str, near: bool) -> str:
        """Its name in a string: in `__all__`, for `getattr`, or as a path to patch."""
        name = self.function.name
        if text == name:
            return YES if near or self.method else NO
        if re.fullmatch(rf"[\w.]*\b{re.escape(self.stem)}[.:](?:\w+\.)?{re.escape(name)}", text):
            return REPLACED
        return NO
