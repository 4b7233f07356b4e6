"""What an argument that is no array holds, by value: a graph is specialised on it, and the object may be changed after the trace."""

from __future__ import annotations

import functools
import hashlib
import random
import sys
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy
import torch

from ...semantics.table import module_of
from ..errors import is_library
from ..recording.compare import values_of

_COMPARED = (bool, int, str, bytes, type(None))
ATOMS = (*_COMPARED, float, complex, numpy.dtype, type(...))
"""Types of values that cannot change: comparing them says everything."""
_ITEMS = (list, tuple, set, frozenset, deque)
_UNSEEN = ("logging", "threading", "_thread", "multiprocessing", "asyncio", "concurrent", "weakref", "io", "_io")
"""Modules whose objects hold nothing that a function computes with, and reach far."""
_HEAP_TYPE = 1 << 9


def bits_of(x: Any) -> Any:
    """A float or complex as something that is equal for equal bits: -0.0 is not 0.0, NaN is NaN."""
    return (x.real.hex(), x.imag.hex()) if isinstance(x, complex) else float.hex(x)


def contents_of(x: Any) -> tuple[Any, ...]:
    """What is reachable from `x`, as a flat tuple that is equal for equal contents."""
    found: list[Any] = []
    seen: dict[int, Any] = {}
    pending = [x]
    while pending:
        x = pending.pop()
        kind = type(x)
        if kind in _COMPARED:
            found.append((kind, x))
        elif kind in (float, complex):
            found.append((kind, bits_of(x)))
        elif id(x) in seen:
            found.append(("again", seen[id(x)][0]))
        else:
            seen[id(x)] = len(seen), x  # held, so that no other object gets its id
            own, parts = _taken_apart(x)
            found.append((kind, own, len(parts)))
            pending += reversed(parts)
    return tuple(found)


def _taken_apart(x: Any) -> tuple[Any, list[Any]]:
    """What an object says of itself, and the objects in it."""
    if isinstance(x, torch.Tensor):
        return _tensor(x), []
    if isinstance(x, numpy.ndarray) and x.dtype.hasobject:
        return (x.shape, str(x.dtype)), list(x.flat)
    if isinstance(x, numpy.ndarray):
        return (x.shape, x.strides, x.dtype.str, hashlib.sha256(x.tobytes()).digest()), []
    if isinstance(x, numpy.generic):
        return (x.dtype.str, x.tobytes()), []
    if isinstance(x, (type, types.ModuleType, types.BuiltinFunctionType, numpy.ufunc)):
        return id(x), []
    if isinstance(x, (bytearray, memoryview)):
        return (bytes(x), *((x.format, x.shape) if isinstance(x, memoryview) else ())), []
    if isinstance(x, types.GeneratorType):
        frame = x.gi_frame
        return (id(x), -1 if frame is None else frame.f_lasti), [] if frame is None else [dict(frame.f_locals)]
    if isinstance(x, random.SystemRandom):
        return id(x), []
    if isinstance(x, random.Random):
        return id(type(x)), [x.getstate(), vars(x)]
    if isinstance(x, slice):
        return None, [x.start, x.stop, x.step]
    if isinstance(x, types.MethodType):
        return None, [x.__self__, x.__func__]
    if isinstance(x, types.FunctionType):
        return id(x), [x.__defaults__, x.__kwdefaults__, *_cells(x), vars(x)]
    if str(type(x).__module__).split(".")[0] in _UNSEEN:
        return id(x), []
    own: Any = None
    parts: list[Any] = []
    if isinstance(x, dict):
        parts += [p for item in x.items() for p in item] + [getattr(x, "default_factory", None)]
    elif isinstance(x, types.MappingProxyType):
        parts += [dict(x)]
    elif isinstance(x, _ITEMS):
        own = x.maxlen if isinstance(x, deque) else None
        parts += list(x)
    elif isinstance(x, functools.partial):
        parts += [x.func, x.args, x.keywords]
    elif isinstance(x, (float, complex)):
        own = bits_of(x)
    elif isinstance(x, numpy.dtype):
        own = repr(x)
        parts += [x.metadata, dict(x.fields or {}), x.subdtype]
    elif isinstance(x, (int, str, bytes, range)):
        own = repr(x)
    else:
        parts += _reduced(x)
    held = getattr(x, "__dict__", None)
    return own, parts + ([held] if isinstance(held, dict) else []) + [p for item in slots_of(x).items() for p in item]


def is_users(cls: type) -> bool:
    """True for classes whose module lies outside of installed packages; dataclasses have no code of their own to tell by."""
    file = getattr(sys.modules.get(module_of(cls)), "__file__", None)
    return module_of(cls) == "__main__" or (file is not None and not is_library(file))


def _reduced(x: Any) -> list[Any]:
    """What an object of compiled code (a `Decimal`, a `datetime`, an `array.array`) holds: that which `copy` and `pickle` ask for."""
    for cls in type(x).__mro__[:-1]:
        for name in ("__reduce_ex__", "__reduce__"):
            reduce = vars(cls).get(name)
            if reduce is None or isinstance(reduce, types.FunctionType):
                continue
            try:
                made = reduce(x, 4) if name == "__reduce_ex__" else reduce(x)
            except Exception:  # what cannot be copied
                return []
            return [list(p) if isinstance(p, Iterator) else p for p in made[1:]] if isinstance(made, tuple) else []
    return []


def _tensor(x: torch.Tensor) -> Any:
    """A parameter is live in a graph; other tensors are constants."""
    if isinstance(x, torch.nn.Parameter) or x.device.type != "cpu" or x.layout != torch.strided:
        return id(x), x._version
    try:
        values = values_of(x)
    except TypeError:  # bfloat16 and its like: not NumPy's
        return id(x), x._version
    return values.shape, values.dtype.str, hashlib.sha256(values.tobytes()).digest()


def _cells(function: types.FunctionType) -> list[Any]:
    found: list[Any] = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # empty as yet
            found.append(None)
    return found


def slots_of(x: Any) -> dict[str, Any]:
    """The values in `__slots__`, by name."""
    found: dict[str, Any] = {}
    for cls in type(x).__mro__:
        if cls.__flags__ & _HEAP_TYPE:
            for name, member in vars(cls).items():
                if isinstance(member, types.MemberDescriptorType):
                    try:
                        found[name] = member.__get__(x)
                    except AttributeError:
                        continue
    return found
