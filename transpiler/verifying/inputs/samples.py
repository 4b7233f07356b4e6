"""Real inputs: the arrays of an .npz file, or a folder of calls that `np2fx record --samples` kept. Never pickled objects."""

from __future__ import annotations

import glob
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .loading import LoadError


class Samples:
    """The samples of a file or a folder; of nothing, where `path` is None. Raises LoadError for a file that is none of samples."""

    def __init__(self, path: str | None) -> None:
        self.folder = path if path is not None and os.path.isdir(path) else None
        self.arrays = {} if path is None or self.folder is not None else _loaded(path)

    def of(self, function: Callable[..., Any], path: str, name: str) -> list[list[Any]]:
        """The calls that are known of a node, each as its arguments in the order of the parameters. Raises LoadError."""
        calls = [self.arrays] if self.folder is None else [_loaded(file) for file in self._files(path, name)]
        return [call for arrays in calls if (call := _arguments(function, name, arrays))]

    def _files(self, path: str, name: str) -> list[str]:
        """The files of one function. They are named by its place below the folder that was recorded, which the end of its path tells."""
        parts = os.path.realpath(path).strip(os.sep).split(os.sep)
        for first in range(len(parts)):
            start = os.path.join(self.folder or "", ".".join([*parts[first:], name]))
            if found := sorted(glob.glob(f"{glob.escape(start)}.*.npz")):
                return found
        return []


def _loaded(path: str) -> dict[str, Any]:
    """The arrays of an .npz file by key; 0-d ones as NumPy scalars."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key][()] for key in file.files}
    except (OSError, ValueError, AttributeError, TypeError) as e:
        raise LoadError(f"{path} is not an .npz file of samples: {e}") from None


def _arguments(function: Callable[..., Any], name: str, arrays: Mapping[str, Any]) -> list[Any]:
    """A node's samples, in the order of its parameters: from the keys "node.parameter" or "parameter".

    Empty where not every parameter without a default has one: specs must say the rest."""
    found: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        keys = [f"{name}.{parameter.name}", f"{name}/{parameter.name}", parameter.name]
        key = next((key for key in keys if key in arrays), None)
        if key is None:
            return found if parameter.default is not parameter.empty else []
        found.append(arrays[key])
    return found
