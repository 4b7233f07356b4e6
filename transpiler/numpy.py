"""The table as a namespace: NumPy's names, torch tensors in and out.

    import np2fx.numpy as np
    np.std(t, axis=0), np.linalg.norm(t), np.add.reduce(t), np.ndarray.sum(t, axis=1)

Every function here is a rule of `np2fx.rules` under its NumPy name; there is no list of its own.
`np.ndarray` holds the methods (`np.ndarray.sum(t)` is NumPy's `t.sum()`), constants and dtypes are NumPy's.
A name without a rule raises `AttributeError` that says why.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as _numpy

from . import rules as _rules


class _Namespace(types.SimpleNamespace):
    """A sub-namespace (`numpy.linalg`): its rules, and a reason for what has none."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.__path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and f"{self.__path}.{name}" not in _rules.load_once():
            raise AttributeError(name)
        return _find(f"{self.__path}.{name}")


@functools.cache
def _find(path: str) -> Any:
    # Not kept as attributes of this module: its own functions would see `any` and `sum` then.
    rules, refusals = _rules.load()
    if path in rules:
        return rules[path].call
    if path in refusals:
        raise AttributeError(f"{path} cannot be torch: {refusals[path].reason}. {refusals[path].hint}")
    if any(name.startswith(path + ".") for name in rules):
        return _Namespace(path)
    original: Any = _numpy
    for part in path.split(".")[1:]:
        original = getattr(original, part, None)
    if original is None or callable(original) and not isinstance(original, type):
        raise AttributeError(f"np2fx has no rule for {path}")
    return original  # a constant or a dtype


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _find(f"numpy.{name}")
