"""What the running code is in: which of the two dialects (torch, with bare tensors, or NumPy on torch, with arrays), and `errstate`."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import numpy
import torch

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

inside: contextvars.ContextVar[bool] = contextvars.ContextVar("np2fx_inside", default=False)
"""True while a function of the torch dialect runs."""
_on_arrays: contextvars.ContextVar[bool] = contextvars.ContextVar("np2fx_on_arrays", default=False)


def is_torch() -> bool:
    """Whether the code that runs is a function of the torch dialect."""
    return inside.get()


def is_arrays() -> bool:
    """Whether the code that runs is NumPy on torch."""
    return _on_arrays.get()


@contextlib.contextmanager
def arrays() -> Iterator[None]:
    """For the time of a call of a function that is NumPy on torch."""
    torch, on_arrays = inside.set(False), _on_arrays.set(True)
    try:
        yield
    finally:
        inside.reset(torch)
        _on_arrays.reset(on_arrays)


_modes: contextvars.ContextVar[Any] = numpy._core.umath._extobj_contextvar  # type: ignore[attr-defined]
_known: tuple[Any, bool] = (None, False)


def stops_at_errors() -> bool:
    """Whether NumPy is told (`errstate`) to do something about a division by zero and its kin: torch does not see them."""
    global _known
    mode = _modes.get()
    if mode is not _known[0]:
        _known = mode, not {"ignore", "warn"}.issuperset(numpy.geterr().values())
    return _known[1]
