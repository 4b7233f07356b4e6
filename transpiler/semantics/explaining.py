"""NumPy's own errors: a rule is not asked what NumPy refuses, and one that fails asks NumPy what it says to the same arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from .arrays import is_recording
from .asking import ERRORS, UnknownError, accepted, error_of
from .table import Refused


def explained(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A rule's function whose errors are those of NumPy's `name`, class and text."""
    checked = name.startswith("numpy.")  # what is a rule for another library's function is not run beside it

    @functools.wraps(call)
    def found(*args: Any, **kwargs: Any) -> Any:
        try:
            return accepted(call, name, args, kwargs) if checked else call(*args, **kwargs)
        except ERRORS as error:
            raise numpys_own(error, name, args, kwargs) from error.__cause__

    return found


def explaining(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same for the methods of a rule for a ufunc."""

    named = "" if method.__name__ == "__call__" else method.__name__

    @functools.wraps(method)
    def found(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if not named and not kwargs and len(args) == self.nin and all(map(_is_operand, args)):
                return method(self, *args)  # which loops there are is asked anyway
            return accepted(functools.partial(method, self), getattr(self.numpy, named) if named else self.numpy, args, kwargs)
        except ERRORS as error:
            raise numpys_own(error, getattr(self.numpy, named) if named else self.numpy, args, kwargs) from error.__cause__

    return found


def _is_operand(x: Any) -> bool:
    """A tensor, or a number that fits in one."""
    return type(x) in (torch.Tensor, float) or (type(x) is int and -(2**63) <= x < 2**63)


def numpys_own(error: Exception, name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception:
    """The error that NumPy's function (a name or the object) raises; the error itself where it cannot be asked. Where NumPy raises none
    the rule does not know such arguments: they are refused."""
    if is_recording() or str(error).startswith("Inplace update to inference tensor"):
        return error
    try:
        own = error_of(name, args, kwargs)
    except UnknownError:
        return error
    if own is not None:
        return own
    called = name if isinstance(name, str) else f"numpy.{getattr(name, '__name__', name)}"
    return Refused(f"{called} with such arguments ({error})", "give it arguments of the types that its documentation names")
