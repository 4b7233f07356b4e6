"""What an argument that is no array holds, by value: a graph is specialised on it, and the object may be changed after the trace."""

from __future__ import annotations

import functools
import hashlib
import types
from collections import deque
from typing import Any

import numpy
import torch

from .compare import values_of

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
        return bytes(x), []
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
    elif isinstance(x, _ITEMS):
        parts += list(x)
    elif isinstance(x, functools.partial):
        parts += [x.func, x.args, x.keywords]
    elif isinstance(x, (float, complex)):
        own = bits_of(x)
    elif isinstance(x, (int, str, bytes, range, numpy.dtype)):
        own = repr(x)
    held = getattr(x, "__dict__", None)
    return own, parts + ([held] if isinstance(held, dict) else []) + [p for item in slots_of(x).items() for p in item]


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
