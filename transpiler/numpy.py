"""NumPy's names on torch.

    import np2fx.numpy as np

NumPy code runs on it as it stands: arrays are `np2fx.numpy.ndarray`, NumPy's array object on a torch tensor (see `np2fx.arrays`).
A function that is handed tensors alone is the rule itself, and gives tensors. So it is, for functions that make arrays too, inside
functions that `np2fx rewrite` has made torch. Inside a function that is NumPy on torch (`on_torch`) and was handed no tensor, these
names are NumPy's own.
"""

from __future__ import annotations

import pkgutil
import sys
import types
from typing import Any

import numpy as _numpy

from .arrays import bare as _bare
from .arrays import world as _world
from .arrays.bare import NoRule as NoRule
from .arrays.boundary import on_torch as on_torch
from .arrays.namespace import namespace as _namespace
from .arrays.world import always_on_torch as always_on_torch

_OF_MODULES = ("__file__", "__path__", "__wrapped__")


class _Names(types.ModuleType):
    """A part of NumPy's namespace (`numpy.linalg`): of bare tensors inside functions that are torch, of arrays elsewhere."""

    def __init__(self, path: str, arrays: Any) -> None:
        super().__init__(f"{__name__}.{path.removeprefix('numpy.')}", arrays.__doc__)
        self.__dict__["_arrays"], self.__dict__["_tensors"] = arrays, _bare.namespace_of(path)
        self.__dict__["_numpys"] = getattr(_numpy, path.removeprefix("numpy."))

    def __getattr__(self, name: str) -> Any:
        if name in _OF_MODULES:
            raise AttributeError(name)
        return getattr(self._numpys if _world.is_numpys() else self._tensors if _world.is_torch() else self._arrays, name)

    def __dir__(self) -> list[str]:
        return dir(self._arrays)


_parts: dict[str, _Names] = {}
for _module in pkgutil.iter_modules(_numpy.__path__):  # so that `import np2fx.numpy.linalg` finds it
    if not _module.name.startswith("_") and isinstance(getattr(_numpy, _module.name, None), types.ModuleType):
        _parts[_module.name] = _Names(f"numpy.{_module.name}", getattr(_namespace, _module.name))
        sys.modules[f"{__name__}.{_module.name}"] = _parts[_module.name]


def __getattr__(name: str) -> Any:
    if name in _OF_MODULES:
        raise AttributeError(name)
    if _world.is_numpys():
        return getattr(_numpy, name)
    return _parts[name] if name in _parts else getattr(_bare.namespace if _world.is_torch() else _namespace, name)


def __dir__() -> list[str]:
    return dir(_namespace)
