"""The table as a namespace: NumPy's names, bare tensors in and out. It is what `np2fx.numpy` is inside functions that are torch.

    std(t, axis=0), linalg.norm(t), add.reduce(t), ndarray.sum(t, axis=1)

Every function here is a rule of `np2fx.rules` under its NumPy name; there is no list of its own.
`ndarray` holds the methods (`np.ndarray.sum(t)` is NumPy's `t.sum()`), constants and dtypes are NumPy's.
A name without a rule raises `NoRule`, an AttributeError that says why and carries the finding that check would give.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as _numpy

from .. import rules as _rules
from ..source.findings.finding import format_finding, make_finding


class NoRule(AttributeError):
    """A NumPy name that has no torch meaning here. `findings` holds the one finding that says why, and the way out."""

    def __init__(self, path: str, reason: str, hint: str = "", finding: str = "unmapped-function") -> None:
        self.findings = [make_finding(finding, message=f"{path}: {reason}", hint=hint)]
        super().__init__(format_finding(self.findings[0]))


_OF_MODULES = ("__file__", "__path__", "__wrapped__")
"""What `inspect` asks of everything in `sys.modules`, also while torch, and with it the rules, are being imported."""


class _Namespace(types.ModuleType):
    """A sub-namespace (`numpy.linalg`, and `numpy.ndarray`): its rules, and a reason for what has none."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"The rules of {path}, on torch tensors.")
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__dict__['_path']}.{name}"
        if name == "__all__":
            return dir(self)
        if name in _OF_MODULES or (name.startswith("__") and path not in _rules.load_once()):
            raise AttributeError(name)
        return _find(path)

    def __dir__(self) -> list[str]:
        return _names(self.__dict__["_path"])


_CLASSES = (_numpy.generic, _numpy.dtype, BaseException)
"""What NumPy's classes here may be: dtypes, and errors to catch."""


@functools.cache
def _find(path: str) -> Any:
    # Not kept as attributes of this module: its own functions would see `any` and `sum` then.
    rules, refusals = _rules.load()
    if path in rules:
        return rules[path].call
    if path in refusals:
        raise NoRule(path, refusals[path].reason, refusals[path].hint, refusals[path].finding)
    original = _original(path)
    if original is _ABSENT:
        raise AttributeError(f"NumPy has no {path.removeprefix('numpy.')}")
    if isinstance(original, types.ModuleType) or any(name.startswith(path + ".") for name in rules):
        return namespace_of(path)
    if callable(original) and not (isinstance(original, type) and issubclass(original, _CLASSES)):
        raise NoRule(path, "there is no rule for it", "compute it from what the rules cover, or give np2fx a rule (docs/own-rules.md)")
    return original  # a constant, a dtype or an error


_ABSENT = object()  # None is a value: numpy.newaxis


def _original(path: str) -> Any:
    found: Any = _numpy
    for part in path.split(".")[1:]:
        found = getattr(found, part, _ABSENT)
    return found


@functools.cache
def namespace_of(path: str) -> _Namespace:
    return _Namespace(path)


@functools.cache
def _names(path: str) -> list[str]:
    """The names that `path` has here, as `dir` lists them."""
    found = []
    for name in dir(_original(path)):
        operator = name.startswith("_") and f"{path}.{name}" not in _rules.load_once()
        if operator:
            continue
        try:
            value = _find(f"{path}.{name}")
        except AttributeError:
            continue
        if not isinstance(value, _Namespace) or any(rule.startswith(f"{path}.{name}.") for rule in _rules.load_once()):
            found.append(name)
    return found


namespace = namespace_of("numpy")
