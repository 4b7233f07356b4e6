"""What rewritten text imports, for calls that a guard has let in: the same functions, which know plain tensors at first sight."""

from __future__ import annotations

import types
from typing import Any

from ..arrays import bare
from ..semantics.table import RULES
from ..semantics.ufunc import Ufunc
from .replaying import replayed


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


rules = Rules(bare.namespace)
