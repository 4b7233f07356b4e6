"""The Python files of a project: each parsed when it is first asked for, and what a dotted name means in them."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from functools import cached_property
from typing import Any

from ...deep import deep
from . import files
from .names import FunctionNode, Names
from .neighbours import module_candidates
from .nodes import functions_in
from .walking import walk

_HOPS = 8
"""How many modules a name is followed through (`from .impl import scale` in a package's `__init__`)."""
_STAR = re.compile(rb"(?<!\w)import\s*\*(?!\w)")


class Parsed:
    """One module that has been read: its text, syntax tree, names, and its functions with (qualified name, whether a method)."""

    def __init__(self, source: files.Source, tree: ast.Module) -> None:
        self.source, self.path, self.text, self.tree = source, source.path, source.text, tree
        self.names = Names(tree)
        self.functions: dict[FunctionNode, tuple[str, bool]] = dict(functions_in(tree))

    def top(self, name: str) -> ast.FunctionDef | None:
        """The function that a module-level name is, where that is all it is."""
        bindings = self.names.module.bindings.get(name, [])
        found = bindings[0].definition if len(bindings) == 1 else None
        return found if isinstance(found, ast.FunctionDef) and found in self.functions else None

    @property
    def is_package(self) -> bool:
        return os.path.basename(self.path) == "__init__.py"

    @property
    def stem(self) -> str:
        """The last part of the module's name."""
        path = os.path.abspath(self.path)
        return os.path.basename(os.path.dirname(path) if self.is_package else os.path.splitext(path)[0])

    @cached_property
    def bytes(self) -> bytes:
        return self.text.encode()

    @cached_property
    def speaking(self) -> list[ast.AST]:
        """The nodes that can name a function, in whatever way: names, attributes, imports, strings and calls with keywords."""
        return [
            n
            for n in walk(self.tree)
            if isinstance(n, (ast.Name, ast.Attribute, ast.ImportFrom))
            or (isinstance(n, ast.Constant) and isinstance(n.value, str))
            or (isinstance(n, ast.Call) and n.keywords)
        ]

    @cached_property
    def looked_up(self) -> set[ast.AST]:
        """The strings that name nothing to be replaced: in `__all__`, what `getattr` is asked for, keys that are read."""
        found: set[ast.AST] = set()
        for n in walk(self.tree):
            if isinstance(n, ast.Call) and self.names.qualified(n.func) in ("builtins.getattr", "builtins.hasattr"):
                found |= set(n.args[1:2])
            elif isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load):
                found.add(n.slice)
        for s in self.tree.body:
            targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, (ast.AugAssign, ast.AnnAssign)) else []
            call = s.value.func if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) else None
            bases = [*targets, *([call.value] if isinstance(call, ast.Attribute) else [])]  # `__all__.append("scale")`
            if bases and all(isinstance(b, ast.Name) and b.id == "__all__" for b in bases):
                found |= set(walk(s))
        return found

    def has_word(self, word: str) -> bool:
        """Whether an identifier stands anywhere in the text."""
        return word in self.text and re.search(rf"\b{re.escape(word)}\b", self.text) is not None


class Project:
    """The files that belong together. Without a root there are none but those that are added.

    root      the folder of the project's pyproject.toml or .git
    exclude   patterns of files that are no part of it"""

    def __init__(self, root: str | None = None, exclude: tuple[str, ...] = ()) -> None:
        self.root, self.exclude = root, exclude
        self._parsed: dict[str, Parsed | None] = {}
        self._bytes: dict[str, bytes] = {}
        self._stars: dict[str, tuple[bytes, bool]] = {}
        self.members: dict[Parsed, tuple[object, Any]] = {}
        """what `user_classes.members` has read, and by which table"""

    def add(self, parsed: Parsed) -> None:
        """A module whose text stands for the file's."""
        self._parsed[os.path.realpath(parsed.path)] = parsed

    @cached_property
    def paths(self) -> dict[str, str]:
        """Every file's real path and the path it is shown under."""
        if self.root is None:
            return {}
        found = {os.path.realpath(p.path): p.path for p in self._parsed.values() if p is not None}
        for path in files.discover(self._folders(self.root), self.exclude, self.root):
            shown = os.path.relpath(path)
            found.setdefault(os.path.realpath(path), path if shown.startswith("..") else shown)
        return found

    def _folders(self, root: str) -> list[str]:
        """Where the files are. A folder that nothing marks as a project's may hold anything: its own files and the packages asked for."""
        if _is_marked(root):
            return [root]
        given = [os.path.dirname(os.path.abspath(p.path)) for p in self._parsed.values() if p is not None]
        packages = dict.fromkeys(folder for folder in given if os.path.isfile(os.path.join(folder, "__init__.py")))
        tops = {os.path.join(root, os.path.relpath(folder, root).split(os.sep)[0]) for folder in packages}
        here = (os.path.join(root, n) for n in sorted(os.listdir(root)) if n.endswith(".py"))
        return [*filter(os.path.isfile, here), *sorted(tops)]

    def parsed(self, path: str) -> Parsed | None:
        """A file as a module; None where it is not Python that can be read."""
        key = os.path.realpath(path)
        if key not in self._parsed:
            shown = self.paths.get(key, path)
            try:
                source = files.decode(self._read(key), shown)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(source.text)
            except (OSError, files.EncodingError, SyntaxError, ValueError, RecursionError, MemoryError):
                self._parsed[key] = None
            else:
                self._parsed[key] = deep(Parsed)(source, tree)
        return self._parsed[key]

    def _read(self, key: str) -> bytes:
        if key not in self._bytes:
            self._bytes[key] = files.read(key)
        return self._bytes[key]

    def with_words(self, words: set[str]) -> list[str]:
        """The files in whose bytes one of the words stands, or which import everything from somewhere; unreadable ones too."""
        sought = [w.encode() for w in sorted(words)]
        pattern = re.compile(rb"(?<!\w)(?:" + b"|".join(map(re.escape, sought)) + rb")(?!\w)")
        found = [k for k, p in self._parsed.items() if p is not None and k not in self.paths]
        for key in self.paths:
            held = self._parsed.get(key)
            try:
                data = held.bytes if held is not None else self._read(key)
            except OSError:
                continue
            # `in` before the pattern: all files are asked for every helper, and hardly one has its name
            if self._takes_all(key, data) or (any(w in data for w in sought) and pattern.search(data)):
                found.append(key)
        return found

    def _takes_all(self, key: str, data: bytes) -> bool:
        """Whether `import *` stands in a file's bytes."""
        if key not in self._stars or self._stars[key][0] is not data:
            self._stars[key] = data, _STAR.search(data) is not None
        return self._stars[key][1]

    def find(self, name: str, path: str, hops: int = 0, stubs: bool = False) -> tuple[Parsed, ast.FunctionDef, int] | None:
        """The function that a qualified name means in a file, the module it stands in, and through how many others it is reached; with
        `stubs` also where a package that loads its parts when they are asked for names them in `__init__.pyi`.

        None for what is not a function of the project, or may be one of two."""
        if self.root is None or (not name.startswith(".") and name.partition(".")[0] in _NOT_OURS):
            return None
        places = list(module_candidates(name, path, self.root))
        same = [p for p in places if p[1] == places[0][1]]
        if len({os.path.realpath(file) for file, _ in same}) != 1:
            return None  # nothing, or two files that Python might take
        file, inside = same[0]
        if os.path.realpath(file) not in self.paths or "." in inside:
            return None
        parsed = self.parsed(file)
        if parsed is None:
            return None
        function = parsed.top(inside)
        if function is not None:
            return parsed, function, hops
        again = parsed.names.in_module(inside)
        if again is None and stubs and parsed.is_package and (stub := self.parsed(file + "i")) is not None:
            again = stub.names.in_module(inside)
        return self.find(again, parsed.path, hops + 1, stubs) if again is not None and hops < _HOPS else None

    def is_spread(self, parsed: Parsed) -> bool:
        """Whether another file takes every public name of a module (`from helpers import *`), those that a rewriting adds too."""
        if "__all__" in parsed.names.module.bindings:
            return False
        own = os.path.realpath(parsed.path)
        return any(own in files or (not files and last == parsed.stem) for files, last in self._spread)

    def asks_for(self, name: str, parsed: Parsed) -> bool:
        """Whether another file may want a name of this module that it imports itself (`helpers.np`, `from helpers import np`)."""
        n = re.escape(name.encode())
        listed = rb"^[ \t]*from\b[^\n]*\bimport\b(?:[^\n(]*|\s*\([^)]*)(?<!as )\b" + n + rb"\b"
        pattern = re.compile(rb"\." + n + rb"\b|[\"']" + n + rb"[\"']|" + listed, re.MULTILINE)
        own = os.path.realpath(parsed.path)
        near = re.compile(rb"\b" + re.escape(parsed.stem.encode()) + rb"\b" if not parsed.is_package else b"")
        for key in self.with_words({name}):
            held = self._parsed.get(key)
            text = held.bytes if held is not None else self._read(key)
            if key != own and near.search(text) and pattern.search(text):
                return True
        return self.is_spread(parsed)

    @cached_property
    def _spread(self) -> list[tuple[set[str], str]]:
        """The modules of which everything is imported somewhere: the files they may be, and the last part of the name."""
        found = []
        for path in self.with_words(set()):
            parsed = self.parsed(path)
            for s in walk(parsed.tree) if parsed is not None and self.root is not None else ():
                if isinstance(s, ast.ImportFrom) and s.names[0].name == "*":
                    name = f"{'.' * s.level}{s.module or ''}"
                    places = module_candidates(f"{name}.x" if s.module else f"{name}x", path, self.root or "")
                    found.append(({os.path.realpath(file) for file, inside in places if inside == "x"}, name.rpartition(".")[2]))
        return found

    def module_file(self, name: str, path: str) -> str | None:
        """The real path of the module that a dotted name means in a file."""
        if self.root is None:
            return None
        for file, inside in module_candidates(f"{name}.x" if not name.endswith(".") else f"{name}x", path, self.root):
            if inside == "x":
                return os.path.realpath(file)
        return None


_NOT_OURS = frozenset(("builtins", "numpy", "torch", "np2fx", "leapp", *sys.stdlib_module_names))


def _is_marked(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "pyproject.toml")) or os.path.exists(os.path.join(folder, ".git"))


def root_of(path: str) -> str:
    """The folder of the project that a file belongs to: the nearest with a pyproject.toml or .git, else the one its package is in."""
    top = here = os.path.dirname(os.path.abspath(path))
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    while True:
        if _is_marked(here):
            return here
        parent = os.path.dirname(here)
        if parent == here:
            return top
        here = parent
