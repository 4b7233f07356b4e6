"""The files of a project as `np2fx rewrite` would leave them: their texts, without writing any. Static: nothing is imported."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence

from ..source.reading import files
from ..source.reading.config import Config, ConfigError, load_config
from ..source.reading.project import Parsed, Project, root_of
from .rewrite import Options, by_project, parse


def rewritten_texts(paths: Sequence[str]) -> dict[str, str]:
    """The new texts of the files that `np2fx rewrite PATHS` would change, by their real paths, helpers' files among them.

    What cannot be read or rewritten is left out: it stays as it is."""
    given: list[tuple[Parsed, Config]] = []
    seen: set[str] = set()
    for path, config in _discovered(paths):
        if os.path.realpath(path) not in seen:
            seen.add(os.path.realpath(path))
            parsed = _parsed(path, config)
            if parsed is not None:
                given.append((parsed, config))
    groups = [made for batch in by_project(given, Options(), lambda parsed: False) for _, made in batch.run()]
    return {os.path.realpath(m.source.path): m.new for made in groups if not isinstance(made, Exception) for m in made if m.changed}


def _discovered(paths: Sequence[str]) -> Iterator[tuple[str, Config]]:
    for start in paths:
        config = load_config(start)
        for path in files.discover([start], config.exclude, config.root):
            yield path, config


def _parsed(path: str, config: Config) -> Parsed | None:
    """A file with marks of nodes as a module; None for others, and for what is no Python."""
    try:
        data = files.read(path)
        if not files.mentions(data, config.markers()):
            return None
        source = files.decode(data, path)
        parsed = parse(source, source.text, config)
    except (OSError, files.EncodingError):
        return None
    return parsed if isinstance(parsed, Parsed) else None


def files_around(path: str) -> list[str]:
    """A file and those of its project that it imports, directly or through others. Only the file where none of them has a node."""
    try:
        config = load_config(path)
    except ConfigError:
        return [path]
    project = Project(root_of(path), config.exclude)
    found: dict[str, bool] = {}
    pending = [os.path.realpath(path)]
    while pending:
        file = pending.pop()
        if file in found:
            continue
        try:
            source = files.decode(files.read(file), file)
            tree = ast.parse(source.text)
        except (OSError, files.EncodingError, SyntaxError, ValueError, RecursionError, MemoryError):
            found[file] = False
            continue
        found[file] = files.mentions(source.text.encode(), config.markers())
        pending += [f for name in _imported(tree) if (f := project.module_file(name, file)) is not None]
    marked = [file for file, is_marked in found.items() if is_marked]
    return marked or [path]


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names of the modules that a module may import, relative ones with their dots."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                parts = alias.name.split(".")
                yield from (".".join(parts[: n + 1]) for n in range(len(parts)))
        elif isinstance(statement, ast.ImportFrom):
            base = "." * statement.level + (statement.module or "")
            yield base
            yield from (f"{base}{'' if base.endswith('.') else '.'}{alias.name}" for alias in statement.names if alias.name != "*")
