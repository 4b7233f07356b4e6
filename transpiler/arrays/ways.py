"""What the running code is in: a function that is torch, or one that is NumPy on torch, on arrays or on NumPy's own. Imports no torch."""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Iterator

inside: contextvars.ContextVar[bool] = contextvars.ContextVar("np2fx_inside", default=False)
"""True while a function of the torch dialect runs."""
_ARRAYS, NUMPYS = "arrays", "numpys"
on: contextvars.ContextVar[str] = contextvars.ContextVar("np2fx_on", default="")
"""What a function that is NumPy on torch runs on: arrays on tensors, or NumPy's own."""
_always: contextvars.ContextVar[bool] = contextvars.ContextVar("np2fx_always", default=os.environ.get("NP2FX_ON_TORCH") == "always")


def is_torch() -> bool:
    """Whether the code that runs is a function of the torch dialect."""
    return inside.get()


def is_arrays() -> bool:
    """Whether the code that runs is NumPy on torch, on arrays on tensors."""
    return on.get() == _ARRAYS


def is_numpys() -> bool:
    """Whether the code that runs is NumPy on torch, and was handed no tensor: NumPy itself then answers to its names."""
    return on.get() is NUMPYS and not inside.get()


@contextlib.contextmanager
def always_on_torch() -> Iterator[None]:
    """Within, functions that are NumPy on torch make arrays on tensors of NumPy's too, as they do of tensors.

    The environment's NP2FX_ON_TORCH=always has the same effect everywhere: a project's tests, whose arrays are NumPy's, then
    try what its functions do for callers who pass tensors."""
    token = _always.set(True)
    try:
        yield
    finally:
        _always.reset(token)


def is_always_on_torch() -> bool:
    """Whether NumPy's arrays are not left NumPy's."""
    return _always.get()


@contextlib.contextmanager
def arrays() -> Iterator[None]:
    """For the time of a call of a function that is NumPy on torch, on arrays."""
    torch, arrays = inside.set(False), on.set(_ARRAYS)
    try:
        yield
    finally:
        inside.reset(torch)
        on.reset(arrays)


@contextlib.contextmanager
def numpys() -> Iterator[None]:
    """For the time of a call of a function that is NumPy on torch, and was handed no tensor."""
    torch, numpys = inside.set(False), on.set(NUMPYS)
    try:
        yield
    finally:
        inside.reset(torch)
        on.reset(numpys)
