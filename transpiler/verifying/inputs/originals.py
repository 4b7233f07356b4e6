"""What a file was before it was rewritten: from a commit or another path, so that the rewritten functions are held against it."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from ...source.reading.config import load_config
from .loading import LoadError, function_of, load_module, nodes_of


def is_rewritten(fn: Callable[..., Any]) -> bool:
    """True for a function that np2fx has rewritten: it carries the boundary, or calls what rewritten text calls."""
    if getattr(fn, "__np2fx_rewritten__", False):
        return True
    inner = getattr(fn, "__func__", fn)
    if not isinstance(inner, FunctionType):
        return False
    named = (inner.__globals__.get(name) for name in inner.__code__.co_names)
    return any(isinstance(x, ModuleType) and x.__name__ in ("np2fx.numpy",) for x in named)


@contextlib.contextmanager
def unpacked(original: str | None, start: str) -> Iterator[tuple[str, str]]:
    """Where the originals lie (a file or a folder), and the folder to which the verified paths are relative there.

    `git:REV` is a commit of the repository of `start`, unpacked for as long as this lasts. Raises LoadError."""
    if not original:
        yield "", ""
    elif not original.startswith("git:"):
        if not os.path.exists(original):
            raise LoadError(f"--original: {original}: there is no such file or folder")
        yield os.path.abspath(original), os.path.abspath(start if os.path.isdir(start) else os.path.dirname(start) or ".")
    else:
        folder = os.path.abspath(start if os.path.isdir(start) else os.path.dirname(start) or ".")
        root = _git(folder, "rev-parse", "--show-toplevel").decode().strip()
        with tempfile.TemporaryDirectory(prefix="np2fx-") as made, tarfile.open(
            fileobj=io.BytesIO(_git(root, "archive", "--format=tar", original.removeprefix("git:")))
        ) as archive:
            archive.extractall(made, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # type: ignore[arg-type]
            yield made, root


def _git(folder: str, *args: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise LoadError("--original: git is not installed") from None
    except subprocess.CalledProcessError as error:
        raise LoadError(f"--original: {error.stderr.decode(errors='replace').strip()}") from None


def original_of(path: str, name: str, original: str, base: str) -> Callable[..., Any]:
    """The node `name` of a file as it was. Raises LoadError, and NoInstanceError for a method."""
    there = _original_path(path, original, base)
    config = load_config(there)
    node = next((n for n in nodes_of(there, config) if n.name == name), None)
    if node is None:
        raise LoadError(f"{path}: the original has no node {name}")
    module = original_module(path, original, base)
    with _instead_of(*_folders(original, base)):
        found = function_of(module, node, there, config)
    if found is None or is_rewritten(found):
        raise LoadError(f"{path}: {name} of the original is {'rewritten as well' if found is not None else 'nothing that can be called'}")
    return found


def original_function(path: str, name: str, original: str, start: str) -> Callable[..., Any]:
    """The node as it was, for a script: `original` as the command line takes it, `start` the path that it was told to verify."""
    folders = unpacked(original, start)
    _unpacked.append(folders)  # its files are there for as long as the script runs
    return original_of(path, name, *folders.__enter__())


_unpacked: list[Any] = []


def original_module(path: str, original: str, base: str) -> ModuleType:
    """The module of a file as it was. Raises LoadError."""
    there = _original_path(path, original, base)
    return _module(there, os.stat(there).st_mtime_ns, *_folders(original, base))


def _original_path(path: str, original: str, base: str) -> str:
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(base))
    there = original if os.path.isfile(original) else os.path.join(original, below)
    if not os.path.isfile(there):
        raise LoadError(f"{path}: the original has no such file ({there})")
    return there


def _folders(original: str, base: str) -> tuple[str, str]:
    """The folder of the files as they are, and that of the files as they were."""
    return os.path.realpath(base), os.path.realpath(original if os.path.isdir(original) else os.path.dirname(original))


@functools.lru_cache(maxsize=16)
def _module(there: str, changed: int, base: str, folder: str) -> ModuleType:
    """The original's module, imported once for all of its nodes. `changed` is when the file was written."""
    with _instead_of(base, folder):
        return load_module(there)


@contextlib.contextmanager
def _instead_of(base: str, folder: str) -> Iterator[None]:
    """Modules below `base` make room for those of the same names below `folder`, and come back."""
    held, path = {n: m for n, m in list(sys.modules.items()) if _below(m, base)}, list(sys.path)  # not those of an environment there
    for name in held:
        del sys.modules[name]
    sys.path[:] = [p for p in sys.path if _is_library(os.path.join(p, "")) or not _is_below(p, base)]
    try:
        yield
    finally:
        for name in [n for n, m in list(sys.modules.items()) if _below(m, folder)]:
            del sys.modules[name]
        sys.modules.update(held)
        sys.path[:] = path


def _is_library(path: str) -> bool:
    from ...tracing.errors import is_library  # which needs torch

    return is_library(path)


def _below(module: Any, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and not _is_library(file) and _is_below(file, folder)


def _is_below(path: str, folder: str) -> bool:
    return (os.path.realpath(path) + os.sep).startswith(folder + os.sep)
