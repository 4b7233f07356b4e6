"""What NumPy refuses is refused: arguments that a rule has not met before are shown to NumPy's own function first.

A rule says in torch what a call gives. Which calls NumPy takes at all (a start value that is a list, an option that is misspelt, an
`out` of another shape, a negative place in a sorter) is NumPy's to say, and there are more ways to be wrong than a rule could name. So
NumPy is asked, with copies of the arguments, and what it raises is raised. That is done once for arguments of the same kinds: values of
arrays are not part of a kind, and what hangs on them stays the rule's own concern.
"""

from __future__ import annotations

import functools
import math
import threading
import types
import warnings
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy
import torch

from .arrays import is_read_only, is_recording, is_scalar
from .dtypes import to_numpy, to_torch
from .table import RULES, original, version

ERRORS = (ValueError, TypeError, IndexError, RuntimeError, OverflowError)
_KEYS = ("numpy.ndarray.__getitem__", "numpy.ndarray.__setitem__")
"""Keys are parsed in full, and others at every call."""
_MANY = 20_000
_fine: set[Hashable] = set()
_state = threading.local()


_UNCHECKED = ("cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod", "accumulate", "reduceat")
"""An `out=` of fewer axes than the array ends the process: NumPy does not look at its rank."""


_LAPACKS = ("numpy.linalg.", "numpy.polyfit", "numpy.polynomial.")
"""On some processors NumPy's LAPACK does not come back from matrices that are not finite: what such values mean is the rules' to say."""


class UnknownError(Exception):
    """NumPy cannot be asked: an argument has no value yet, or would be used up, or would run code of the user's once more."""


def accepted(call: Callable[..., Any], name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`call(*args, **kwargs)`, where NumPy's function (a name, or the object) takes such arguments. Raises what NumPy raises where not.

    What a rule calls on its way is not asked about."""
    lone = len(args) == 1 and not kwargs and str(name).startswith("numpy.ndarray.")
    if lone or torch.compiler.is_compiling() or getattr(_state, "inside", False):
        return call(*args, **kwargs)
    watched = is_recording() or torch.jit.is_tracing() or torch._C._len_torch_dispatch_stack()
    if name not in _KEYS and not watched:
        _demand(name, args, kwargs)
    _state.inside = True
    try:
        return call(*args, **kwargs)
    finally:
        _state.inside = False


def unasked(call: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """`call(*args, **kwargs)`, of which it is known that NumPy takes such arguments. What it calls on its way is not asked about either."""
    before, _state.inside = getattr(_state, "inside", False), True
    try:
        return call(*args, **kwargs)
    finally:
        _state.inside = before


def _demand(name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        if kwargs.get("dtype") is not None:
            to_torch(kwargs["dtype"])  # what torch has no dtype for is refused, whatever NumPy says to it
    except (TypeError, ValueError):
        pass
    try:
        kind = name, tuple(map(_kind, args)), tuple((key, _kind(value)) for key, value in kwargs.items())
        if kind in _fine:
            return
        own = error_of(name, args, kwargs)
    except (UnknownError, RecursionError):
        return
    if own is not None:
        raise own
    if len(_fine) >= _MANY:
        _fine.clear()
    _fine.add(kind)


def error_of(name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    """The error that NumPy's function (a name or the object) raises for copies of the arguments, None where it raises none.

    Raises UnknownError where it cannot be asked."""
    short = name.rpartition(".")[2] if isinstance(name, str) else getattr(name, "__name__", "")
    arrays = [kwargs.get("out"), *args[1:]]
    if short in _UNCHECKED and any(isinstance(a, (torch.Tensor, numpy.ndarray)) for a in arrays):
        raise UnknownError
    try:
        given, named = [_held(a) for a in args], {k: _held(v) for k, v in kwargs.items()}
        function = original(name) if isinstance(name, str) else name
        if isinstance(name, str) and name.startswith("numpy.ndarray.") and given:
            function = getattr(given.pop(0), name.rpartition(".")[2], None)  # of an array or of a scalar
    except ERRORS:
        raise UnknownError from None
    endless = isinstance(name, str) and name.startswith(_LAPACKS) and not all(map(_is_finite, [*given, *named.values()]))
    if not callable(function) or endless:
        raise UnknownError
    with warnings.catch_warnings(), numpy.errstate(all="ignore"), numpy.printoptions():
        warnings.simplefilter("ignore")
        try:
            function(*given, **named)
        except Exception as own:
            return own.with_traceback(None)
    return None


def _is_finite(a: Any) -> bool:
    if isinstance(a, (list, tuple)):
        return all(map(_is_finite, a))
    return (
        not isinstance(a, (numpy.ndarray, numpy.inexact, float, complex))
        or numpy.asarray(a).dtype.kind not in "fc"
        or bool(numpy.isfinite(a).all())
    )


def _kind(a: Any) -> Hashable:
    """What arguments that NumPy takes or refuses alike have in common. Raises UnknownError for what NumPy must not be shown."""
    kind = type(a)
    if kind in (torch.Tensor, torch.nn.Parameter):
        if torch._C._functorch.is_functorch_wrapped_tensor(a) or a.device.type == "meta":
            raise UnknownError
        return a.dtype, a.shape, a.ndim == 0 and is_scalar(a), is_read_only(a)
    if kind is int:
        return a if -65 < a < 65 else (int, a > 0, a.bit_length())
    if kind is float:
        return (float, a) if not math.isfinite(a) else (float, (a > 0) - (a < 0), abs(a) <= 1, abs(a) <= 100, a.is_integer())
    if kind in (bool, str, complex) or a is None:
        return kind, a
    if kind in (list, tuple, torch.Size):
        return kind, len(a), tuple(map(_kind, a)) if len(a) < 9 else frozenset(map(type, a))
    if kind in (dict, set, frozenset, bytearray):
        return kind, len(a)
    if kind is slice:
        return kind, _kind(a.start), _kind(a.stop), _kind(a.step)
    if kind is numpy.ndarray:
        return kind, a.dtype, a.shape, a.flags.writeable
    if isinstance(a, (numpy.generic, numpy.dtype, torch.dtype, type)):
        return kind, a
    if isinstance(a, types.FunctionType) and id(a) in _numpys(version()):
        return id(a)
    if kind in _PLAIN or isinstance(a, numpy.ufunc):
        return kind, repr(a)
    raise UnknownError


_PLAIN = (object, range, type(Ellipsis), bytes, type(numpy._NoValue), type(numpy._CopyMode.ALWAYS))  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=1)
def _numpys(table_version: int) -> dict[int, Any]:
    """What stands in rewritten code for functions of NumPy's, by identity: a function that is handed to another one."""
    return {id(rule.call): original(name, imported=False) for name, rule in RULES.items() if isinstance(rule.call, types.FunctionType)}


def _held(a: Any) -> Any:
    """A copy of an argument as NumPy has it, read-only where that is."""
    if isinstance(a, torch.Tensor):
        if a.device.type == "meta" or hasattr(a, "_np2fx_number"):
            raise UnknownError
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
    if isinstance(a, types.FunctionType) and id(a) in _numpys(version()):
        return _numpys(version())[id(a)]
    if isinstance(a, (Iterator, types.FunctionType, types.MethodType)) or hasattr(type(a), "__np2fx_tensor__"):
        raise UnknownError
    return a
