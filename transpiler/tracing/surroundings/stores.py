"""Which attributes a function may set of objects that are not the user's: modules and classes of Python and of packages, their objects."""

from __future__ import annotations

import dis
import sys
import types
from collections import deque
from collections.abc import Iterator, MutableMapping
from typing import Any

from ..arrays.twin import original_of

MISSING = object()
_CONTAINERS = (dict, list, set, deque, bytearray)
_SETTERS = frozenset((
    "setattr", "delattr", "vars", "__dict__", "__setattr__", "__delattr__", "__setstate__", "exec", "eval", "globals",
))  # fmt: skip
"""What sets attributes by names that stand nowhere in the code, or in its strings."""


class Stores:
    """The attributes that some code sets.

    names     those that it names
    anything  whether it may set others as well
    words     all names that it has"""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.words: set[str] = set()
        self.anything = False

    def __bool__(self) -> bool:
        return bool(self.names) or self.anything

    def add(self, code: types.CodeType) -> None:
        """Note what a function's code sets."""
        self.words.update(code.co_names)
        self.names.update(i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_ATTR", "DELETE_ATTR"))
        if not _SETTERS.isdisjoint(code.co_names):
            self.anything = True
            self.names.update(c for c in code.co_consts if isinstance(c, str) and c.isidentifier())

    def of(self, x: Any) -> Iterator[tuple[str, Any]]:
        """The attributes of an object that are set by name, each with its value (MISSING where it has none as yet)."""
        held = _held(x)
        for name in sorted(self.names):
            if held is not None and name in held:
                yield name, original_of(held[name])
            elif isinstance(_of_class(x, name), (types.GetSetDescriptorType, types.MemberDescriptorType)):
                yield name, _asked(x, name)
            elif held is not None:
                yield name, MISSING

    def holders_in(self, module: types.ModuleType) -> Iterator[tuple[str, Any]]:
        """The containers that a module holds under a name that the code has (`os.environ`)."""
        for name in sorted(self.words & vars(module).keys()):
            value = vars(module)[name]
            if isinstance(value, (*_CONTAINERS, MutableMapping)) and value is not sys.modules:
                yield name, value

    def named_in(self, x: Any) -> Iterator[tuple[str, Any]]:
        """What an object holds under a name that the code has."""
        for name, value in list((_held(x) or {}).items()):
            if name in self.words and name not in self.names and (isinstance(value, types.ModuleType) or _held(value) is not None):
                yield name, value


def settable(x: Any) -> list[tuple[str, Any]]:
    """The attributes of an object that no trace exchanges itself (as it does functions and classes), and that no import adds."""
    return [(name, value) for name, value in list((_held(x) or {}).items())
            if not name.startswith("__") and not callable(value) and not isinstance(value, types.ModuleType)]  # fmt: skip


def _held(x: Any) -> Any:
    try:
        return vars(x)
    except TypeError:
        return None


def _of_class(x: Any, name: str) -> Any:
    return next((vars(c)[name] for c in type(x).__mro__ if name in vars(c)), None)


def _asked(x: Any, name: str) -> Any:
    try:
        return getattr(x, name)
    except Exception:
        return MISSING
