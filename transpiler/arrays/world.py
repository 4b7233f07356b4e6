"""Which of the two dialects the running code is: torch (bare tensors), NumPy on torch (arrays), or neither."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

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
