"""What run time knows before a function runs: the facts of its arguments and of the names around it."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy
import torch

from ..semantics.arrays import Number, is_scalar
from ..semantics.dtypes import to_numpy
from ..semantics.table import module_of
from ..source.facts.known import NONE, OTHER, TEXT, TORCH, UNKNOWN, Fact, array, name, number

_BUILTINS = {id(v): k for k, v in vars(builtins).items()}


def of_argument(value: Any) -> Fact:
    """The fact of an argument: its kind, dtype and rank, never its value."""
    if isinstance(value, torch.Tensor):
        dtype = to_numpy(value.dtype).name
        return Fact("scalar", dtype, 0) if is_scalar(value) else array(dtype, value.ndim)
    if type(value) in Number:
        return number(number(type(value).__name__, value).dtype)
    if value is None:
        return NONE
    if isinstance(value, (str, bytes)):
        return TEXT
    if type(value) in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return Fact("sequence", items=tuple(map(of_argument, value)), value=None if type(value) is list else "tuple")
    if isinstance(value, types.ModuleType):
        return name(value.__name__)
    return UNKNOWN


def of_global(value: Any) -> Fact:
    """The fact of a value that the function finds around it. A number's value is not a fact: it may be rebound."""
    if isinstance(value, types.ModuleType):
        return name(value.__name__)
    if isinstance(value, numpy.ndarray):
        return array(value.dtype.name, value.ndim) if value.dtype.kind in "biufc" and value.dtype.isnative else UNKNOWN
    if isinstance(value, numpy.generic):
        return Fact("scalar", value.dtype.name, 0) if value.dtype.kind in "biufc" else UNKNOWN
    known = qualified(value)
    if known is not None:
        return name(known)
    if isinstance(value, types.FunctionType):
        return UNKNOWN  # called through `ops.call`, which rewrites it
    if isinstance(value, (bool, int, float, complex, str, bytes)) or value is None:
        return of_argument(value)
    if isinstance(value, torch.Tensor):
        return TORCH
    if isinstance(value, torch.nn.Module):
        return Fact("other", value="module")
    if callable(value) and (getattr(value, "__module__", None) or "").split(".")[0] == "torch" and hasattr(value, "__name__"):
        return name(f"torch.{value.__name__}")
    return OTHER if isinstance(value, torch.dtype) else UNKNOWN


def qualified(value: Any) -> str | None:
    """The qualified name of a NumPy object, a builtin or a library function."""
    found = _numpy_names().get(id(value))
    if found is not None:
        return found
    if id(value) in _BUILTINS and not isinstance(value, (bool, int, str)) and value is not None:
        return f"builtins.{_BUILTINS[id(value)]}"
    owner = getattr(value, "__self__", None)
    if isinstance(owner, numpy.ufunc):
        return f"{_numpy_names().get(id(owner), 'numpy.' + owner.__name__)}.{value.__name__}"
    return None


@functools.cache
def _numpy_names() -> dict[int, str]:
    """id of each public NumPy callable -> its qualified name; the shortest where it has several."""
    found: dict[int, str] = {}
    for prefix in (
        "numpy",
        "numpy.linalg",
        "numpy.fft",
        "numpy.random",
        "numpy.emath",
        "numpy.lib.stride_tricks",
        "numpy.polynomial.polynomial",
    ):
        module = numpy
        for part in prefix.split(".")[1:]:
            module = getattr(module, part)
        for attribute in dir(module):
            if attribute.startswith("_"):
                continue
            value = getattr(module, attribute, None)
            of_numpy = callable(value) or module_of(type(value)).startswith("numpy")
            if of_numpy and not isinstance(value, (types.ModuleType, int, float, numpy.generic)):
                found.setdefault(id(value), f"{prefix}.{attribute}")
    return found


def resolver(function: types.FunctionType) -> Callable[[ast.Name], Fact]:
    """What a name means in a function that does not bind it: a closure variable, a global, a builtin."""
    closure = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))

    def resolve(e: ast.Name) -> Fact:
        if e.id in free:
            found = of_global(closure[e.id]) if e.id in closure else UNKNOWN
            return found if found.kind == "name" else UNKNOWN  # a closure variable may be rebound between calls
        if e.id in function.__globals__:
            return of_global(function.__globals__[e.id])
        return name(f"builtins.{e.id}") if hasattr(builtins, e.id) else UNKNOWN

    return resolve
