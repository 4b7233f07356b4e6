"""Sees each call of the project's functions and describes what it was passed, without importing anything for it.

The interpreter's profile hook is told of every call; what is not the project's is known by its code object after the first time. Values
are described by their kinds alone: "float32[3, 4]", "int", "None", containers of such, or the class of an object.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

from .sizes import Sizes

_FUNCTION = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_WAYS = 32
"""How many ways of calling a function are told apart; one with more takes whatever comes, and nothing is said of it."""
_ITEMS = 8
"""Containers of more items are not taken apart."""


class Seen:
    """What a function was passed: for each way of calling it (kinds, dtypes, ranks), the sizes."""

    def __init__(self, code: CodeType) -> None:
        self.parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.ways: dict[str, Sizes] = {}
        self.many = False

    def see(self, values: dict[str, Any]) -> None:
        sizes: list[int] = []
        kinds = {name: describe(values[name], sizes) for name in self.parameters if name in values}
        way = json.dumps(kinds)
        if way not in self.ways and len(self.ways) >= _WAYS:
            self.many = True
            return
        self.ways.setdefault(way, Sizes()).see(sizes)


class Watch:
    """The profile hook.

    root     the project's folder; functions of files below it are watched
    exclude  whether a file is none of the project's
    keep     called with (file, first line, code, arguments) of each watched call, for samples"""

    def __init__(self, root: str, exclude: Any, keep: Any = None) -> None:
        self.root, self.exclude, self.keep = os.path.realpath(root) + os.sep, exclude, keep
        self.codes: dict[CodeType, Seen | None] = {}
        self.files: dict[str, bool] = {}
        self.busy = threading.local()

    def start(self) -> None:
        threading.setprofile(self)
        sys.setprofile(self)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        try:
            seen = self.codes[code]
        except KeyError:
            seen = self.codes[code] = Seen(code) if self._is_watched(code) else None
        if seen is None or getattr(self.busy, "now", False):
            return
        self.busy.now = True
        try:
            values = frame.f_locals
            seen.see(values)
            if self.keep is not None:
                self.keep(code, {name: values[name] for name in seen.parameters if name in values})
        finally:
            self.busy.now = False

    def _is_watched(self, code: CodeType) -> bool:
        if code.co_flags & _LATER or code.co_flags & _FUNCTION != _FUNCTION or code.co_name.startswith("<"):
            return False
        file = code.co_filename
        if file not in self.files:
            real = os.path.realpath(file)
            self.files[file] = real.startswith(self.root) and os.path.isfile(real) and not self.exclude(real)
        return self.files[file]

    def forget(self) -> None:
        """Begin anew."""
        self.codes.clear()

    def found(self) -> list[dict[str, Any]]:
        """What was seen, as JSON can hold it: file and first line of each function, and its ways."""
        made = []
        for code, seen in self.codes.items():
            if seen is not None and seen.ways and not seen.many:
                ways = [{"kinds": json.loads(way), **vars(sizes)} for way, sizes in seen.ways.items()]
                made.append({"file": os.path.realpath(code.co_filename), "line": code.co_firstlineno, "ways": ways})
        return made


def describe(value: Any, sizes: list[int], depth: int = 0) -> Any:
    """What kind of value it is. The sizes of arrays are added to `sizes`; in their place stands a `_`."""
    kind = type(value)
    name, module = kind.__name__, kind.__module__
    if module == "numpy" and name == "ndarray":
        sizes.extend(value.shape)
        return f"{value.dtype.name}[{', '.join('_' * value.ndim)}]"
    if module == "torch" and name in ("Tensor", "Parameter"):
        shape = tuple(value.shape)
        sizes.extend(shape)
        return f"torch.{str(value.dtype).removeprefix('torch.')}[{', '.join('_' * len(shape))}]"
    if value is None:
        return "None"
    if kind in (bool, int, float, complex, str):
        return name
    if depth < 3 and kind in (list, tuple) and len(value) <= _ITEMS:
        items = [describe(v, sizes, depth + 1) for v in value]
        return items if kind is list else {"tuple": items}
    if depth < 3 and kind is dict and len(value) <= 2 * _ITEMS and all(type(k) is str for k in value):
        return {"dict": {k: describe(v, sizes, depth + 1) for k, v in value.items()}}
    return f"{module}.{kind.__qualname__}"
