"""dtypes: which torch dtype a NumPy dtype is, and what NumPy's promotion (NEP 50) makes of several.

Promotion itself is NumPy's: `numpy.result_type` and `ufunc.resolve_dtypes` are asked, and their answers cached,
so there is no promotion table here that could be wrong.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import numpy
import torch

from .table import Refused

_BY_NAME = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip
Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_TO_TORCH: dict[numpy.dtype[Any], torch.dtype] = {numpy.dtype(name): getattr(torch, name) for name in _BY_NAME}
_TO_NUMPY = {t: n for n, t in _TO_TORCH.items()}

WIDER = {torch.uint16: torch.int64, torch.uint32: torch.int64, torch.uint64: torch.int64}
"""Unsigned dtypes that torch can hold but hardly compute: computed in int64 and cast back.

Exact for uint16 and uint32. For uint64 only where the bits come out alike (add, subtract, multiply, &, |, ^, ~, <<)."""


@functools.cache
def _torch_dtype(dtype: numpy.dtype[Any]) -> torch.dtype:
    found = _TO_TORCH.get(dtype.newbyteorder("="))
    if found is None:
        raise Refused(f"torch has no dtype for {dtype!r}", "cast to a dtype that torch has first", "object-dtype")
    return found


def to_torch(dtype: Any) -> torch.dtype:
    """The torch dtype of anything NumPy takes for a dtype (`float`, `"f4"`, `numpy.float32`, a torch dtype).

    `None` is NumPy's default, float64. Raises Refused for strings, objects, dates and records, and for a foreign byte order: no tensor
    is in one, but what is in it tells by its bytes and by its dtype. NumPy's TypeError for what is no dtype."""
    if isinstance(dtype, torch.dtype):
        return dtype
    if isinstance(dtype, torch.Tensor):  # a scalar stands for its dtype
        if dtype.ndim or hasattr(dtype, "_np2fx_zero_d"):
            raise TypeError("Cannot construct a dtype from an array")
        return dtype.dtype
    asked = numpy.dtype(dtype)
    found = _torch_dtype(asked)
    if not asked.isnative:
        raise Refused(f"no tensor is in the byte order of {asked!r}", "use the native byte order", "unsupported-dtype")
    return found


def holding(x: Any) -> torch.dtype:
    """The torch dtype that holds the values of an array or tensor, whatever byte order they lie in."""
    return x.dtype if isinstance(x.dtype, torch.dtype) else _torch_dtype(x.dtype)


def to_numpy(dtype: Any) -> numpy.dtype[Any]:
    """The NumPy dtype of a torch dtype (or of anything NumPy takes for a dtype)."""
    if not isinstance(dtype, torch.dtype):
        return numpy.dtype(dtype)
    found = _TO_NUMPY.get(dtype)
    if found is None:
        raise Refused(f"NumPy has no dtype for {dtype}", "cast to a dtype that NumPy has first", "unsupported-dtype")
    return found


@functools.cache
def promote(*dtypes: Any) -> torch.dtype:
    """NumPy's common dtype of torch dtypes and weak Python types (`int`, `float`, `complex`, `bool`)."""
    return to_torch(numpy.result_type(*map(_prototype, dtypes)))


def _prototype(dtype: Any) -> Any:
    """What stands for a dtype in numpy.result_type: a Python number where it is weak."""
    return dtype(0) if dtype in (int, float, complex) else to_numpy(dtype)


@functools.cache
def inexact(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which NumPy computes means and the like: floats stay, ints and bool become float64."""
    return dtype if dtype.is_floating_point or dtype.is_complex else torch.float64


def real_of(dtype: torch.dtype) -> torch.dtype:
    """complex64 -> float32, complex128 -> float64, all others unchanged."""
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)


def complex_of(dtype: torch.dtype) -> torch.dtype:
    """The complex dtype whose parts hold `dtype`: float16 and float32 -> complex64, everything else -> complex128."""
    if dtype.is_complex:
        return dtype
    return torch.complex64 if dtype in (torch.float16, torch.float32) else torch.complex128


@functools.cache
def can_cast(source: torch.dtype, target: torch.dtype, casting: Casting) -> bool:
    return numpy.can_cast(to_numpy(source), to_numpy(target), casting)


@functools.lru_cache(maxsize=4096)
def resolve(
    ufunc: numpy.ufunc, operands: tuple[Any, ...], dtype: torch.dtype | None = None, casting: Casting = "same_kind", signature: Any = None
) -> tuple[torch.dtype, ...]:
    """The dtypes of the loop NumPy would run: inputs, then outputs. Raises NumPy's own TypeError where there is none.

    `operands` are torch dtypes, or `int`, `float`, `complex` for weak Python numbers (bool is strong in NumPy too).
    `signature` names the loop as NumPy's own parameter does."""
    given = tuple(o if o in (int, float, complex) else to_numpy(o) for o in operands)
    wanted: dict[str, Any] = {} if dtype is None else {"signature": (None,) * ufunc.nin + (to_numpy(dtype),) * ufunc.nout}
    wanted = wanted if signature is None else {"signature": signature}
    equiv = casting == "equiv"  # where that forbids the cast of a Python number, NumPy's `resolve_dtypes` ends the process
    found = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout), casting="no" if equiv else casting, **wanted)
    for number, target in zip(given, found, strict=False) if equiv else ():
        if isinstance(number, type) and not numpy.can_cast(number, target, "equiv"):
            raise TypeError(f"cannot cast Python {number.__name__} to {target} under the casting rule 'equiv'")
    return tuple(to_torch(d) for d in found)
