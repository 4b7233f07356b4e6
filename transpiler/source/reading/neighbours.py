"""Modules of the same project: where they are, and the functions in them that a node calls."""

from __future__ import annotations

import os
from collections.abc import Iterator


def module_candidates(name: str, path: str, root: str) -> Iterator[tuple[str, str]]:
    """(file, name inside it) for a qualified name such as ".helpers.scale" or "pkg.helpers.scale", the longest module first.

    `path` is the file that says the name: relative names start at its folder, absolute ones at the root, its `src`, or
    a folder above the file that is not a package."""
    bare = name.lstrip(".")
    dots = len(name) - len(bare)
    here = os.path.dirname(os.path.abspath(path))
    if dots:
        for _ in range(dots - 1):
            here = os.path.dirname(here)
        folders = [here]
    else:
        while os.path.isfile(os.path.join(here, "__init__.py")):
            here = os.path.dirname(here)
        folders = list(dict.fromkeys([here, os.path.abspath(root), os.path.join(os.path.abspath(root), "src")]))
    parts = bare.split(".")
    for cut in range(len(parts) - 1, -1 if dots else 0, -1):
        inside = ".".join(parts[cut:])
        for folder in folders:
            base = os.path.join(folder, *parts[:cut])
            for file in ([base + ".py"] if cut else []) + [os.path.join(base, "__init__.py")]:
                if os.path.isfile(file):
                    yield file, inside


def is_neighbour(name: str, path: str, root: str) -> bool:
    """Whether a qualified name is of a module or package in the same project."""
    if name.startswith("."):
        return True
    top = name.split(".")[0]
    here = os.path.dirname(os.path.abspath(path))
    folders = [here, os.path.dirname(here), root, os.path.join(root, "src")]
    while os.path.isfile(os.path.join(here, "__init__.py")):  # a package imports itself by its own name
        here = os.path.dirname(here)
        folders.append(here)
    return any(os.path.isfile(os.path.join(f, top + ".py")) or os.path.isdir(os.path.join(f, top)) for f in folders)
