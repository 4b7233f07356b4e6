"""Whether two results are the same: kind, structure, shape, dtype and values within a tolerance."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import torch

from ...tracing.surroundings.structure import attributes

DEFAULTS = {"float16": 4e-3, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}
"""Relative and absolute tolerance by dtype: room for another order of the same sums, none for another formula."""


_name_of = functools.lru_cache(maxsize=64)(lambda dtype: dtype.name)
"""NumPy makes the name of a dtype anew each time."""


@dataclass(frozen=True)
class Tolerance:
    """`|got - want| <= atol + rtol * |want|`. None is the dtype's default. Integers, bools and nan must be equal.

    coarsest  the coarsest dtype in which the node computes on its way: its default holds for finer results, too
    kinds     arrays, NumPy's scalars, Python's numbers and tensors are to be of the same kind, and what objects hold is compared; else a
              tensor stands for each of them"""

    rtol: float | None = None
    atol: float | None = None
    coarsest: str = "float64"
    kinds: bool = False

    def of(self, dtype: np.dtype[Any]) -> tuple[float, float]:
        name = _name_of(dtype)
        default = max(DEFAULTS[name], DEFAULTS[self.coarsest]) if name in DEFAULTS else 0.0
        return (default if self.rtol is None else self.rtol), (default if self.atol is None else self.atol)


@dataclass(frozen=True)
class Difference:
    """What differs, where (`result[0]`), and the two arrays if it is their values."""

    message: str
    want: Any = None
    got: Any = None

    def __str__(self) -> str:
        return self.message


def difference(want: Any, got: Any, tolerance: Tolerance | None = None, path: str = "result") -> Difference | None:
    """The first difference between NumPy's `want` and torch's `got` (tensors or arrays, in containers), or None."""
    tolerance = tolerance or Tolerance()
    if tolerance.kinds and (kind := _kind(want)) != (other := _kind(got)):
        return Difference(f"{path} is {other}, {short(got)}; NumPy gives {kind}, {short(want)}")
    if isinstance(want, torch.Tensor):
        want = as_array(want)
    if isinstance(want, (np.ndarray, np.generic)):
        return _arrays_differ(want, got, tolerance, path)
    if isinstance(want, Mapping):
        if not isinstance(got, Mapping) or want.keys() != got.keys():
            return Difference(f"{path} is {short(got)}, NumPy gives a dict of {', '.join(map(repr, want))}")
        return _first(difference(want[key], got[key], tolerance, f"{path}[{key!r}]") for key in want)
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(want) != len(got) or isinstance(want, list) != isinstance(got, list):
            return Difference(f"{path} is {short(got)}, NumPy gives a {type(want).__name__} of {len(want)}")
        pairs = enumerate(zip(want, got, strict=True))
        return _first(difference(w, g, tolerance, f"{path}[{i}]") for i, (w, g) in pairs)
    if tolerance.kinds and _is_object(want) and path.count(".") < _DEEPEST:
        return difference(vars(want), vars(got), tolerance, path) if vars(want).keys() == vars(got).keys() else Difference(
            f"{path} has the attributes {', '.join(vars(got))}, NumPy's has {', '.join(vars(want))}")  # fmt: skip
    if dataclasses.is_dataclass(want) and type(want) is type(got):
        names = attributes(want)
        if set(attributes(got)) != set(names):
            return Difference(f"{path} has the attributes {', '.join(attributes(got))}, NumPy's has {', '.join(names)}")
        return _first(difference(getattr(want, n), getattr(got, n), tolerance, f"{path}.{n}") for n in names)
    if isinstance(want, (bool, int, float, complex)) and isinstance(got, (torch.Tensor, np.generic)) and got.ndim == 0:
        got = got.item()
    return None if _equal(want, got, tolerance) else Difference(f"{path} is {short(got)}, NumPy gives {short(want)}", want, got)


_DEEPEST = 8
"""How far into objects of objects a comparison goes: they may hold each other."""


def _is_object(x: Any) -> bool:
    """Whether a value is an object of somebody's class, with attributes of its own."""
    if isinstance(x, (type, ModuleType, torch.nn.Module)) or (callable(x) and hasattr(x, "__code__")):
        return False
    return isinstance(getattr(x, "__dict__", None), dict) and type(x).__module__ not in ("builtins", "numpy", "torch")


def _kind(x: Any) -> str:
    """What kind of a thing a value is, by name: its class may be that of another module of the same text."""
    if isinstance(x, torch.Tensor):
        return "a torch.Tensor"
    if isinstance(x, np.generic):
        return "a NumPy scalar"
    if isinstance(x, np.ndarray):
        return f"a {type(x).__qualname__}" if isinstance(x, (np.ma.MaskedArray, np.matrix)) else "an array"
    return f"a {type(x).__module__}.{type(x).__qualname__}".replace(" builtins.", " ")


def _first(found: Any) -> Difference | None:
    return next(filter(None, found), None)


def _arrays_differ(want: Any, got: Any, tolerance: Tolerance, path: str) -> Difference | None:
    if not isinstance(got, (torch.Tensor, np.ndarray, np.generic)):
        return Difference(f"{path} is {short(got)}, NumPy gives {short(want)}")
    a, b = np.asarray(want), as_array(got)
    if a.shape != b.shape:
        return Difference(f"{path} has shape {b.shape}, NumPy's has {a.shape}")
    if a.dtype != b.dtype:
        return Difference(f"{path} has dtype {b.dtype}, NumPy's has {a.dtype}")
    if a.dtype.kind != "O" and a.tobytes() == b.tobytes():  # the usual case, and a fifth of the time of `near`
        return None
    far = ~near(a, b, tolerance)
    if not far.any():
        return None
    at = tuple(int(i) for i in np.argwhere(far)[0])
    place = f"{path}[{', '.join(map(str, at))}]" if at else path
    more = f" ({int(far.sum())} of {far.size} elements differ)" if far.size > 1 else ""
    return Difference(f"{place} is {b[at]!s}, NumPy gives {a[at]!s}{more}", a, b)


def near(want: np.ndarray[Any, Any], got: np.ndarray[Any, Any], tolerance: Tolerance) -> np.ndarray[Any, Any]:
    """Elementwise: equal within the tolerance. nan equals nan; zeros are equal whatever their sign.

    A complex number with an infinite or nan part equals any other such: C leaves open which part it is."""
    if want.dtype.kind not in "fc":
        return np.asarray(want == got)
    rtol, atol = tolerance.of(want.dtype)
    wide = "complex128" if want.dtype.kind == "c" else "float64"
    a, b = want.astype(wide), got.astype(wide)
    with np.errstate(all="ignore"):  # np.isclose of them, in a tenth of its time
        close = (np.abs(b - a) <= atol + rtol * np.abs(a)) & np.isfinite(a) | (a == b) | (a != a) & (b != b)
        if want.dtype.kind == "c":
            close |= ~np.isfinite(want) & ~np.isfinite(got)
    return np.asarray(close)


def _equal(want: Any, got: Any, tolerance: Tolerance) -> bool:
    if type(want) is not type(got):
        return False
    if isinstance(want, (float, complex)):
        return bool(near(np.asarray(want), np.asarray(got), tolerance))
    try:
        return want is got or bool(want == got)
    except Exception:
        return False


def as_array(x: Any) -> np.ndarray[Any, Any]:
    """A tensor's values as an array."""
    if not isinstance(x, torch.Tensor):
        return np.asarray(x)
    x = x.detach().resolve_conj().resolve_neg().cpu()
    if x.dtype in (torch.bfloat16, torch.complex32):  # no NumPy result has these dtypes, nor those that stand for them here
        wide = x.to(torch.complex128 if x.is_complex() else torch.float64).numpy()
        return wide.astype(np.clongdouble if x.is_complex() else np.longdouble)
    return x.numpy()


def short(x: Any) -> str:
    """A value on one line."""
    text = " ".join(repr(x).split())
    return text if len(text) <= 120 else f"{text[:117]}..."
