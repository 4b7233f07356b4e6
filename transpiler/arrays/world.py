"""What the dtypes of scalars are, which of the dialects the running code is in (see `ways`), and `errstate`."""

from __future__ import annotations

import contextvars
from typing import Any

import numpy
import torch

from .ways import NUMPYS, always_on_torch, arrays, inside, is_always_on_torch, is_arrays, is_numpys, is_torch, numpys, on

OF: dict[torch.dtype, Any] = {
    torch.bool: numpy.bool,
    torch.float64: numpy.float64,
    torch.float32: numpy.float32,
    torch.int64: numpy.int64,
    torch.int32: numpy.int32,
    torch.uint8: numpy.uint8,
}
"""The scalars that Python's number of the same value makes, and the dtypes that take such a number back."""
KINDS = {kind: dtype for dtype, kind in OF.items()}

_modes: contextvars.ContextVar[Any] = numpy._core.umath._extobj_contextvar  # type: ignore[attr-defined]
_known: tuple[Any, bool] = (None, False)


def stops_at_errors() -> bool:
    """Whether NumPy is told (`errstate`) to do something about a division by zero and its kin: torch does not see them."""
    global _known
    mode = _modes.get()
    if mode is not _known[0]:
        _known = mode, not {"ignore", "warn"}.issuperset(numpy.geterr().values())
    return _known[1]


__all__ = [
    "KINDS", "NUMPYS", "OF", "always_on_torch", "arrays", "inside", "is_always_on_torch", "is_arrays", "is_numpys", "is_torch", "numpys",
    "on", "stops_at_errors",
]  # fmt: skip
