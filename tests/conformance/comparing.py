"""Is an answer NumPy's answer: same structure, shapes, dtypes and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

_TOLERANCE = {"float16": 2e-3, "float32": 2e-5, "complex64": 2e-5}
_NUMBERS = (np.ndarray, np.generic, int, float, complex)


def to_torch(value: Any) -> Any:
    """Arrays anywhere in `value` as tensors of their own memory; what torch has no dtype for stays NumPy."""
    return _mapped(value, _tensor)


def to_numpy(value: Any) -> Any:
    """Tensors anywhere in `value` as arrays."""
    return _mapped(value, lambda x: x.detach().resolve_conj().resolve_neg().numpy() if isinstance(x, torch.Tensor) else x)


def _tensor(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.dtype.kind in "OSUMmV" or not x.dtype.isnative:
        return x
    try:
        return torch.from_numpy(x.copy("K"))
    except TypeError:
        return x


def _mapped(value: Any, leaf: Any) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(item, leaf) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_mapped(item, leaf) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return leaf(value)


def difference(want: Any, got: Any, place: str = "result") -> str | None:
    """In what `got` differs from `want`, in one line, or None. A Python number's dtype is not compared, an array's is."""
    if isinstance(want, dict):
        if not isinstance(got, dict) or want.keys() != got.keys():
            return f"{place}: other keys"
        return _first(difference(want[key], got[key], f"{place}[{key!r}]") for key in want)
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(want) != len(got):
            return f"{place}: {type(got).__name__} where NumPy has {len(want)} items"
        return _first(difference(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(want, got, strict=True)))
    if isinstance(want, _NUMBERS):
        return _numeric(want, got, place)
    return None if _equal(want, got) else f"{place}: {got!r} for {want!r}"[:160]


def _first(answers: Any) -> str | None:
    return next((answer for answer in answers if answer), None)


def _equal(want: Any, got: Any) -> bool:
    if want is got:
        return True
    try:
        return bool(want == got)
    except Exception:
        return False


def _numeric(want: Any, got: Any, place: str) -> str | None:
    a, b = np.asarray(want), np.asarray(got)
    if a.dtype.kind in "OSUMmV":
        return None if a.dtype == b.dtype and np.array_equal(a, b) else f"{place}: {got!r} for {want!r}"[:160]
    if b.dtype == object:
        return f"{place}: a {type(got).__name__} for {a.dtype}"
    if a.shape != b.shape:
        return f"{place}: shape {b.shape} for {a.shape}"
    if isinstance(want, (np.ndarray, np.generic)) and a.dtype != b.dtype:
        return f"{place}: dtype {b.dtype} for {a.dtype}"
    tolerance = _TOLERANCE.get(a.dtype.name, 1e-9)
    wide: Any = complex if "c" in a.dtype.kind + b.dtype.kind else float
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        close = np.array_equal(a, b)
    else:
        close = np.allclose(a.astype(wide), b.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True)
    if close:
        return None
    return f"{place}: value {np.array2string(b, threshold=6)} for {np.array2string(a, threshold=6)}".replace("\n", " ")[:160]
