"""The decorator of functions that are NumPy on torch. It is light: torch is imported when somebody brings tensors, by whoever does."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

from . import ways
from .signed import signed

F = TypeVar("F", bound=Callable[..., Any])


def on_torch(function: F) -> F:
    """Decorates a function whose text is NumPy's, read from `np2fx.numpy`: its callers need not change.

    Called without a tensor it is what it was: NumPy's names are NumPy, and arrays are the caller's own. Called with tensors, with arrays on
    tensors or objects that hold some, or within `always_on_torch`, it computes on arrays on tensors: NumPy's arrays come in as arrays on
    the same memory, so that what is written into them is seen; what torch has no dtype for comes in as it is. What leaves are NumPy's
    arrays on the same memory, tensors where tensors came in; so are the attributes that the function gives to its arguments. What NumPy
    cannot look at (a gradient, another device) leaves as an array on its tensor. Tensors come in as they are where the function itself
    speaks of torch."""
    speaks = _speaks_of_torch(function.__code__)

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        torch = _at_hand()
        if torch is None or torch.stays_numpys(args, kwargs):
            token = ways.on.set(ways.NUMPYS)
            try:
                found = function(*args, **kwargs)
            finally:
                ways.on.reset(token)
            return found if torch is None else torch.as_numpys(found)
        passage, args, kwargs = torch.entered(args, kwargs, speaks)
        try:
            with ways.arrays():
                found = function(*args, **kwargs)
        finally:
            passage.settle()
        return passage.outward(found)

    def steps(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        torch = _loaded()
        if torch.stays_numpys(args, kwargs):
            return torch.steps(function(*args, **kwargs), ways.numpys, None)
        passage, args, kwargs = torch.entered(args, kwargs, speaks)
        return torch.steps(function(*args, **kwargs), ways.arrays, passage)

    made = signed(function, steps, True) if inspect.isgeneratorfunction(function) else signed(function, call)
    made.__np2fx_rewritten__ = True
    return made  # type: ignore[no-any-return]


def _at_hand() -> Any:
    """The way in and out; None where nobody has imported torch, so that there can be no tensors."""
    return _loaded() if "torch" in sys.modules or ways.is_always_on_torch() else None


@functools.cache
def _loaded() -> Any:
    return importlib.import_module(".boundary", __package__)


def _speaks_of_torch(code: types.CodeType) -> bool:
    """Whether a function names torch, what only tensors have, or what tells arrays of several libraries apart."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return not _OF_TENSORS.isdisjoint(code.co_names) or any(map(_speaks_of_torch, inner))


_OF_TENSORS = frozenset(
    (
        *("torch", "numpy", "detach", "cpu", "cuda", "requires_grad", "is_tensor"),
        *("from_dlpack", "__dlpack__", "__dlpack_device__", "to_device", "array_namespace", "__array_namespace__"),  # of any library's
    )
)
