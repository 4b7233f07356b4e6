"""Whether an object holds something of a trace, however deep inside."""

from __future__ import annotations

import gc
import types
from typing import Any

from ..arrays.tensor import is_shell
from ..state import is_traced
from .contents import ATOMS


def reaches_traced(x: Any) -> bool:
    """Whether an object holds a traced array, in its attributes, its items or what a function has closed over."""
    pending, seen = [x], {id(x): x}
    while pending and len(seen) < _REACH:
        x = pending.pop()
        if is_traced(x) or is_shell(x):
            return True
        if isinstance(x, types.FunctionType):
            held: list[Any] = [x.__closure__, x.__defaults__, x.__kwdefaults__]
        else:
            held = [] if isinstance(x, (type, types.ModuleType)) or type(x) in ATOMS else gc.get_referents(x)
        new = {id(h): h for h in held if id(h) not in seen}
        seen.update(new)
        pending += new.values()
    return False


_REACH = 10_000
"""So many objects are looked through."""
