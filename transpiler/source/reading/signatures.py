"""Recorded facts: what the functions of a project were passed while its tests or programs ran.

`np2fx record` writes them to `.np2fx/signatures.json` beside the project's pyproject.toml, as specs (see `pipeline.spec`) with one list
for each way in which a function was called:

    {"version": 1,
     "functions": {"robot/pre.py::normalise": [{"calls": 12, "parameters": {"state": "float32[n, 7]", "gain": "float"}}]}}

A size is a number where it was the same in every call, and a name where it was not; sizes of one name were equal. No values are kept.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from ...pipeline.spec import ScalarSpec, SpecError, TensorSpec, parse
from .config import ConfigError

FILE = os.path.join(".np2fx", "signatures.json")
VERSION = 1

Signatures = dict[str, list[dict[str, Any]]]


class SignaturesError(ConfigError):
    """A file of signatures that cannot be read; the message says which, and what to do."""


@functools.lru_cache(maxsize=64)
def _read(path: str, _changed: tuple[int, int]) -> Signatures:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        if found["version"] != VERSION or not isinstance(found["functions"], dict):
            raise ValueError(f"version {found['version']} is not {VERSION}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SignaturesError(f"{path}: {error}: record again (np2fx record -- CMD), or delete the file") from None
    functions: Signatures = found["functions"]
    return functions


def load(root: str) -> Signatures:
    """The signatures recorded for a project; {} where there are none. Raises SignaturesError."""
    path = os.path.join(root, FILE)
    try:
        stat = os.stat(path)
    except OSError:
        return {}
    return _read(path, (stat.st_mtime_ns, stat.st_size))


def key_of(root: str, path: str, qualname: str) -> str:
    """The name of a function in the file."""
    return f"{os.path.relpath(os.path.realpath(path), os.path.realpath(root)).replace(os.sep, '/')}::{qualname}"


@functools.lru_cache(maxsize=1024)
def root_above(folder: str) -> str | None:
    """The nearest folder, from this one up, that has signatures."""
    if os.path.isfile(os.path.join(folder, FILE)):
        return folder
    parent = os.path.dirname(folder)
    return None if parent == folder or os.path.exists(os.path.join(folder, ".git")) else root_above(parent)


def recorded(path: str, qualname: str) -> dict[str, str]:
    """The specs of those parameters of a function that were arrays of one dtype, or ints or floats, in every call. Raises
    SignaturesError."""
    root = root_above(os.path.dirname(os.path.realpath(path)))
    if root is None:
        return {}
    ways = load(root).get(key_of(root, path, qualname), [])
    names = {name for way in ways for name in way["parameters"]}
    found = {name: in_all([way["parameters"].get(name) for way in ways]) for name in names}
    return {name: spec for name, spec in found.items() if spec is not None}


def in_all(specs: list[Any]) -> str | None:
    """The one spec of an array or a number that all these are, sizes and ranks that differ left open; None where they are of several
    kinds."""
    try:
        parsed = [parse(s) if isinstance(s, str) else None for s in specs]
    except SpecError:
        return None
    first = parsed[0] if parsed else None
    if parsed and all(isinstance(p, ScalarSpec) and p.kind in ("int", "float") for p in parsed):
        return "float" if any(p.kind == "float" for p in parsed) else "int"  # type: ignore[union-attr]
    if not isinstance(first, TensorSpec) or any(not isinstance(p, TensorSpec) for p in parsed):
        return None
    if any(p.dtype != first.dtype for p in parsed):  # type: ignore[union-attr]
        return None
    if any(p.rank != first.rank for p in parsed):  # type: ignore[union-attr]
        return first.dtype if first.dtype != "bool" else None  # "bool" is Python's
    columns = list(zip(*(p.dims for p in parsed), strict=True))  # type: ignore[union-attr]
    return str(TensorSpec(first.dtype, tuple(c[0] if len(set(c)) == 1 else "_" for c in columns)))
