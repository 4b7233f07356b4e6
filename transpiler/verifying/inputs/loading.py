"""Finds the nodes of files (by reading them) and the functions they are (by importing the files)."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ...source.reading import files
from ...source.reading.config import Config, load_config
from ...source.reading.names import Names
from ...source.reading.nodes import Node, find_nodes
from .instances import method_of


class LoadError(Exception):
    """A file whose nodes could not be loaded; the message says why."""


def nodes_in(paths: Sequence[str], wanted: str | None = None) -> tuple[Config, list[tuple[str, int, Node]]]:
    """The configuration, and (path, index, node) of every node in files and folders, without importing any. Helpers are part of the
    nodes that call them and do not come by themselves.

    wanted  only the nodes of this name, written "normalise" or "Policy.normalise"
    index   the node's position in `nodes_of(path)`

    Raises LoadError for a path that does not exist and a file that cannot be read."""
    try:
        config = load_config(paths[0] if paths else ".")
        found = list(files.discover(list(paths), config.exclude, config.root))
    except FileNotFoundError as e:
        raise LoadError(f"{e}: there is no such file or folder") from None
    except Exception as e:
        raise LoadError(str(e)) from None
    nodes = [(path, index, node) for path in found for index, node in enumerate(nodes_of(path, config))]
    return config, [(path, index, node) for path, index, node in nodes if wanted is None or node.name == wanted]


def use_rules_of(config: Config) -> None:
    """Put the project's own rules into the table. Raises LoadError."""
    if not config.rules:
        return
    from ...support.own_rules import use_rules

    try:
        use_rules(*config.rules, root=config.root)
    except Exception as e:
        raise LoadError(f"the rules of {', '.join(config.rules)} cannot be loaded: {type(e).__name__}: {e}") from e


def nodes_of(path: str, config: Config) -> list[Node]:
    """The nodes of one file, helpers left out. Raises LoadError."""
    data = Path(path).read_bytes()
    if not files.mentions(data, config.markers()):
        return []
    try:
        tree = ast.parse(files.decode(data, path).text)
    except (SyntaxError, ValueError, files.EncodingError) as e:
        raise LoadError(f"{path}: {e}") from None
    return [node for node in find_nodes(tree, Names(tree), config, path) if node.how != "helper"]


def function_of(module: ModuleType, node: Node, path: str, config: Config) -> Callable[..., Any] | None:
    """The function object of a node, a method as one of an object (see `instances`). None where there is none to call: a region, a
    function inside another. Raises NoInstanceError."""
    if node.function is None or node.how == "region" or "<locals>" in node.name:
        return None
    found: Any = module
    owner: Any = None
    for part in node.name.split("."):
        owner, found = found, getattr(found, part, None)
    if node.in_class and isinstance(owner, type):
        return method_of(owner, node.name.rpartition(".")[2], module, path, config)  # type: ignore[no-any-return]
    return found if callable(found) else None


def load_module(path: str) -> ModuleType:
    """Import a file as what it is: a module of its package, or a module by itself. Raises LoadError."""
    file = Path(path).resolve()
    root, name = _module_name(file)
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        if "." in name or file.stem == "__init__":
            return importlib.import_module(name)
        return _import_alone(file)
    except Exception as e:
        raise LoadError(f"{path} cannot be imported: {type(e).__name__}: {e}") from e
    except SystemExit as e:
        raise LoadError(f"{path} cannot be imported: it exits with {e.code}") from e


def module_name(path: str) -> str:
    """The dotted name under which a file is imported."""
    return _module_name(Path(path).resolve())[1]


def _module_name(file: Path) -> tuple[str, str]:
    """The folder from which the file is imported, and its dotted name there."""
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return os.fspath(folder), ".".join(parts)


def _import_alone(file: Path) -> ModuleType:
    """Import a single file under its own name, unless that name is somebody else's (a `numpy.py`, a second `utils.py`)."""
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == os.fspath(file):
        return known
    if known is None:
        importlib.invalidate_caches()
        spec = importlib.util.find_spec(file.stem)
        if spec is not None and spec.origin == os.fspath(file):
            return importlib.import_module(file.stem)
    name = f"{file.stem}_{zlib.crc32(os.fsencode(file)):08x}"
    if name in sys.modules:
        return sys.modules[name]
    made = importlib.util.spec_from_file_location(name, file, loader=_other_loader(name, file))
    if made is None or made.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(made)
    sys.modules[name] = module
    made.loader.exec_module(module)
    return module


def _other_loader(name: str, file: Path) -> Any:
    """The loader of a file that has another text in the world that is entered (see `world`); None for the usual one."""
    return next((f.world.loader_of(name, os.fspath(file)) for f in sys.meta_path if hasattr(f, "world")), None)
