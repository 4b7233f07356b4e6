"""Whether a rule's result is the original's: kind, shape, dtype, values, and what it shares memory with."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..semantics import arrays as tensor_arrays
from ..semantics.arrays import is_scalar
from ..verifying.comparing.comparison import as_array

RTOL = {"float16": 4e-3, "float32": 2e-5, "complex64": 5e-5, "float64": 1e-9, "complex128": 1e-9}


def different(want: Any, got: Any, exact_scale: bool = True, path: str = "result") -> str | None:
    """What differs between NumPy's result and the rule's, or None.

    `exact_scale` compares each element relative to itself (elementwise functions); otherwise relative to the largest."""
    if isinstance(want, (tuple, list)):
        if not isinstance(got, (tuple, list)) or len(want) != len(got):
            return f"{path} is {_short(got)} for a sequence of {len(want)}"
        pairs = enumerate(zip(want, got, strict=True))
        return next(filter(None, (different(w, g, exact_scale, f"{path}[{i}]") for i, (w, g) in pairs)), None)
    if isinstance(want, dict):
        if not isinstance(got, dict) or want.keys() != got.keys():
            return f"{path} is {_short(got)} for a dict of {list(want)}"
        return next(filter(None, (different(want[k], got[k], exact_scale, f"{path}[{k!r}]") for k in want)), None)
    if isinstance(want, (np.ndarray, np.generic)):
        if not isinstance(got, (torch.Tensor, np.ndarray, np.generic)):
            return f"{path} is {_short(got)} for {want.dtype}{list(want.shape)}"
        if isinstance(got, torch.Tensor) and want.ndim == got.ndim == 0 and is_scalar(got) == isinstance(want, np.ndarray):
            return f"{path} is a scalar for a 0-d array" if is_scalar(got) else f"{path} is a 0-d array for a scalar"
        return _different_arrays(np.asarray(want), as_array(got), exact_scale, path)
    if isinstance(want, (bool, int, float, complex)) and isinstance(got, torch.Tensor):
        got = got.item() if got.ndim == 0 else got
    if hasattr(want, "__next__") or (hasattr(want, "__iter__") and not isinstance(want, (str, bytes, type, np.dtype))):
        if not hasattr(got, "__iter__"):
            return f"{path} is {_short(got)} for {_short(want)}"
        return different(list(want), list(got), exact_scale, path)
    same = want is got or (type(want) is type(got) and (want == got or want != want))
    return None if same or _same_finfo(want, got) else f"{path} is {_short(got)} for {_short(want)}"


def _different_arrays(want: np.ndarray[Any, Any], got: np.ndarray[Any, Any], exact_scale: bool, path: str) -> str | None:
    if want.shape != got.shape:
        return f"{path} has shape {list(got.shape)} for {list(want.shape)}"
    if want.dtype != got.dtype:
        return f"{path} has dtype {got.dtype} for {want.dtype}"
    if want.dtype.kind not in "fc":
        return None if np.array_equal(want, got) else f"{path} is {_short(got)} for {_short(want)}"
    rtol = RTOL[want.dtype.name]
    finite = np.isfinite(want)
    wide = want.astype("complex128" if want.dtype.kind == "c" else "float64")
    scale = np.abs(wide[finite]).max(initial=0.0)
    smallest = float(np.finfo(want.dtype).tiny)  # processors may flush what is below it
    atol = max(smallest, rtol * 1e-3 if exact_scale else rtol * max(1.0, scale))
    with np.errstate(all="ignore"):
        near = np.isclose(got.astype(wide.dtype), wide, rtol=rtol, atol=atol, equal_nan=True)
        if want.dtype.kind == "c":  # C99 leaves open which part of a complex result is nan or inf
            near |= ~finite & ~np.isfinite(got)
    return None if near.all() else f"{path} is {_short(got)} for {_short(want)}"


def _same_finfo(want: Any, got: Any) -> bool:
    return isinstance(want, (np.finfo, np.iinfo)) and type(want) is type(got) and want.dtype == got.dtype


def _short(x: Any) -> str:
    return repr(x).replace("\n", " ")[:200]


def aliased_differently(want: Any, arrays: dict[str, Any], got: Any, tensors: dict[str, Any]) -> str | None:
    """Where NumPy's result is a view of an input and the rule's is not, or the other way round. Call it inside `mirrored_views`."""
    if not isinstance(want, np.ndarray) or not isinstance(got, torch.Tensor) or not want.size:
        return None
    for name in arrays:
        in_numpy = np.shares_memory(want, arrays[name])
        in_torch = _linked(got, tensors[name])
        if in_numpy != in_torch:
            return f"the result {'is' if in_torch else 'is not'} a view of {name}, in NumPy it {'is' if in_numpy else 'is not'}"
    return None


def _linked(x: torch.Tensor, y: torch.Tensor) -> bool:
    """True where the two share memory, or are kept equal by mirrors."""
    if x.numel() == 0 or y.numel() == 0:
        return False
    memory = {tensor_arrays.memory_of(x)}
    for _ in tensor_arrays.mirrors[-1]:
        for base, copy, *_ in tensor_arrays.mirrors[-1]:
            if {tensor_arrays.memory_of(base), tensor_arrays.memory_of(copy)} & memory:
                memory |= {tensor_arrays.memory_of(base), tensor_arrays.memory_of(copy)}
    return tensor_arrays.memory_of(y) in memory
