"""What rewritten text imports, for calls that a guard has let in: the same functions, which know plain tensors at first sight."""

from __future__ import annotations

import types
from typing import Any

import torch

from ..arrays import bare
from ..semantics.arrays import mirrors
from ..semantics.table import RULES
from ..semantics.ufunc import Ufunc
from ..support import operators as ops
from .replaying import is_marked, replayed

_OPERATORS = frozenset(ops.PYTHON) | {"negative", "positive", "invert", "absolute"}
_FLOATS = (torch.float32, torch.float64)
_IN_PLACE: dict[str, Any] = {
    "add": torch.Tensor.add_, "subtract": torch.Tensor.sub_, "multiply": torch.Tensor.mul_, "divide": torch.Tensor.div_,
}  # fmt: skip


class Rules(types.ModuleType):
    """The rules by their names, replayed."""

    def __init__(self, inner: Any, path: str = "numpy") -> None:
        super().__init__(inner.__name__)
        self.__dict__.update(_inner=inner, _path=path)

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__dict__['_path']}.{name}"
        found = getattr(self.__dict__["_inner"], name)
        entry = RULES.get(path)
        if isinstance(found, types.ModuleType):
            found = Rules(found, path)
        elif isinstance(found, types.FunctionType) and entry is not None and not entry.writes:
            found = replayed(found, entry.view)
        elif isinstance(found, Ufunc):
            call: Any = replayed(found.__call__)
            for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
                setattr(call, method, getattr(found, method))
            found = call
        self.__dict__[name] = found
        return found


class _Operators(types.ModuleType):
    """The helpers by their names."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(ops, name)
        if name in _OPERATORS:
            found = replayed(found)
        elif name == "getitem":
            found = replayed(found, careful=True)
        self.__dict__[name] = found
        return found

    @staticmethod
    def setitem(a: Any, index: Any, value: Any) -> None:
        """`a[index] = value`: by torch where it is a plain place, and the value a tensor of the dtype that lies elsewhere."""
        if type(a) is type(value) is torch.Tensor and a.dtype is value.dtype and a.ndim and _is_basic(index) and _is_free(a, value):
            try:
                place = a[index]
                if place.ndim or not value.ndim:  # torch would put an array of one element into an element
                    place.copy_(value)
                    return
            except Exception:
                pass  # nothing has been written: NumPy's error, or NumPy's way
        ops.setitem(a, index, value)

    @staticmethod
    def update(a: Any, ufunc: str, b: Any) -> Any:
        """`a += b` and its kin, in the same way."""
        if type(a) is torch.Tensor and a.dtype in _FLOATS and a.ndim and ufunc in _IN_PLACE:
            tensor = type(b) is torch.Tensor and b.dtype is a.dtype and _is_free(a, b)
            if tensor or (type(b) is float and -1e30 < b < 1e30 and not mirrors and not is_marked(a)):
                try:
                    return _IN_PLACE[ufunc](a, b)
                except Exception:
                    pass
        return ops.update(a, ufunc, b)


def _is_free(a: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether a write into one is no more than that, and does not change the other."""
    return not mirrors and not is_marked(a) and a.untyped_storage().data_ptr() != value.untyped_storage().data_ptr()


def _is_basic(index: Any) -> bool:
    kind = type(index)
    if kind is tuple:
        return all(map(_is_basic, index))
    if kind is slice:
        plain = all(type(x) in (int, type(None)) for x in (index.start, index.stop))
        return plain and (index.step is None or (type(index.step) is int and index.step > 0))
    return kind is int or index is None or index is Ellipsis


rules = Rules(bare.namespace)
operators = _Operators("np2fx.support.operators")
