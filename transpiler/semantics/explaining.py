"""NumPy's own errors: a rule that fails asks NumPy what it says to the same arguments."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from .arrays import is_read_only, is_recording, is_scalar
from .dtypes import to_numpy
from .table import Refused, original

ERRORS = (ValueError, TypeError, IndexError, RuntimeError, OverflowError)


def explained(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A rule's function whose errors are those of NumPy's `name`, class and text."""

    @functools.wraps(call)
    def found(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except ERRORS as error:
            raise numpys_own(error, name, args, kwargs) from error.__cause__

    return found


def explaining(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same for the methods of a rule for a ufunc."""

    @functools.wraps(method)
    def found(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except ERRORS as error:
            ufunc = self.numpy if method.__name__ == "__call__" else getattr(self.numpy, method.__name__)
            raise numpys_own(error, ufunc, args, kwargs) from error.__cause__

    return found


class _Unknown(Exception):
    """NumPy cannot be asked: an argument has no value yet, or would be used up, or would run code of the user's once more."""


def numpys_own(error: Exception, name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception:
    """The error that NumPy's function (a name or the object) raises; the error itself where it cannot be asked. Where NumPy raises none
    the rule does not know such arguments: they are refused."""
    if is_recording() or str(error).startswith("Inplace update to inference tensor"):
        return error
    try:
        given, named = [_held(a) for a in args], {k: _held(v) for k, v in kwargs.items()}
        function = original(name) if isinstance(name, str) else name
        if isinstance(name, str) and name.startswith("numpy.ndarray.") and given:
            function = getattr(given.pop(0), name.rpartition(".")[2], None)  # of an array or of a scalar
    except (_Unknown, *ERRORS):
        return error
    if not callable(function):
        return error
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            function(*given, **named)
        except Exception as own:
            return own.with_traceback(None)
    called = name if isinstance(name, str) else f"numpy.{getattr(name, '__name__', name)}"
    return Refused(f"{called} with such arguments ({error})", "give it arguments of the types that its documentation names")


def _held(a: Any) -> Any:
    """A copy of an argument as NumPy has it, read-only where that is."""
    if isinstance(a, torch.Tensor):
        if a.device.type == "meta" or hasattr(a, "_np2fx_number"):
            raise _Unknown
        held = a.detach().resolve_conj().resolve_neg().cpu().numpy().copy("K")
        held.flags.writeable = not is_read_only(a)
        return held[()] if is_scalar(a) else held
    if isinstance(a, torch.dtype):
        return to_numpy(a)
    if isinstance(a, torch.Size):
        return tuple(a)
    if isinstance(a, slice):
        return slice(_held(a.start), _held(a.stop), _held(a.step))
    if type(a) in (list, tuple):
        return type(a)(map(_held, a))
    if isinstance(a, numpy.ndarray):
        held = a.copy("K")
        held.flags.writeable = a.flags.writeable
        return held
    if isinstance(a, (Iterator, types.FunctionType, types.MethodType)) or hasattr(type(a), "__np2fx_tensor__"):
        raise _Unknown
    return a
