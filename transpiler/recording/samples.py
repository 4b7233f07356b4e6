"""Bounded samples of what functions were passed: a few calls each, arrays and numbers alone, in .npz files without pickle."""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any

_CALLS = 4
"""How many calls are kept of each way of calling a function."""
_BYTES = 1 << 20
"""A call with more is not kept."""
_NUMBERS = (bool, int, float, complex)


class Samples:
    """Keeps copies of the arguments of a few calls of each function, those with other kinds or shapes first."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.kept: dict[CodeType, list[dict[str, Any]]] = {}
        self.shapes: dict[CodeType, set[Any]] = {}

    def __call__(self, code: CodeType, values: dict[str, Any]) -> None:
        kept, shapes = self.kept.setdefault(code, []), self.shapes.setdefault(code, set())
        if len(kept) >= _CALLS or not values or not any(_is_array(v) for v in values.values()):
            return
        if not all(_is_array(v) or type(v) in _NUMBERS for v in values.values()):
            return
        if sum(getattr(v, "nbytes", 0) for v in values.values()) > _BYTES:
            return
        shape = tuple((getattr(v, "shape", None), str(getattr(v, "dtype", type(v)))) for v in values.values())
        if shape not in shapes:
            shapes.add(shape)
            kept.append({name: v.copy() if _is_array(v) else v for name, v in values.items()})

    def write(self, name_of: Any) -> list[str]:
        """One file a call, named by file, function and a number. `name_of` gives the function's name by its code; None: leave it out."""
        import numpy

        written = []
        for code, calls in self.kept.items():
            name = name_of(code)
            for n, values in enumerate(calls if name is not None else ()):
                os.makedirs(self.folder, exist_ok=True)
                path = os.path.join(self.folder, f"{name.replace('/', '.').replace('::', '.')}.{n}.npz")
                numpy.savez(path, **values)
                written.append(path)
        return written


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.dtype.kind in "biufc"
