"""NumPy's names on torch.

    import np2fx.numpy as np

NumPy code runs on it as it stands: arrays are `np2fx.numpy.ndarray`, NumPy's array object on a torch tensor (see `np2fx.arrays`).
A function that is handed tensors alone is the rule itself, and gives tensors. So it is, for functions that make arrays too, inside
functions that `np2fx rewrite` has made torch. Inside a function that is NumPy on torch (`on_torch`) and was handed no tensor, these
names are NumPy's own.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as _numpy

from .arrays import ways as _ways
from .arrays.on_torch import on_torch as on_torch
from .arrays.ways import always_on_torch as always_on_torch

if TYPE_CHECKING:
    from .arrays.bare import NoRule as NoRule

_OF_MODULES = ("__file__", "__path__", "__wrapped__")


@functools.cache
def _loaded(part: str) -> Any:
    """What needs torch is imported when it is needed: callers of rewritten functions may have nothing to do with it."""
    return importlib.import_module(f".arrays.{part}", __package__)


class _Names(types.ModuleType):
    """A part of NumPy's namespace (`numpy.linalg`): of bare tensors inside functions that are torch, NumPy's own or of arrays elsewhere."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{__name__}.{name}", f"NumPy's `{name}` on torch.")
        self.__dict__["_name"] = name

    def _of(self) -> Any:
        # Asked for when it is needed: some of NumPy's parts take long to import, or warn.
        if _ways.is_numpys():
            return getattr(_numpy, self._name)
        return _loaded("bare").namespace_of(f"numpy.{self._name}") if _ways.is_torch() else getattr(_namespace(), self._name)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_MODULES:
            raise AttributeError(name)
        return getattr(self._of(), name)

    def __dir__(self) -> list[str]:
        return dir(getattr(_numpy, self._name))


_parts: dict[str, _Names] = {}
for _module in pkgutil.iter_modules(_numpy.__path__):  # so that `import np2fx.numpy.linalg` finds it
    if not _module.name.startswith("_") and _module.name in dir(_numpy):
        _parts[_module.name] = _Names(_module.name)
        sys.modules[f"{__name__}.{_module.name}"] = _parts[_module.name]


def _namespace() -> Any:
    return _loaded("namespace").namespace


def __getattr__(name: str) -> Any:
    if name in _OF_MODULES:
        raise AttributeError(name)
    if _ways.is_numpys():
        return getattr(_numpy, name)
    if name == "NoRule":
        return _loaded("bare").NoRule
    return _parts[name] if name in _parts else getattr(_loaded("bare").namespace if _ways.is_torch() else _namespace(), name)


def __dir__() -> list[str]:
    return dir(_numpy)
