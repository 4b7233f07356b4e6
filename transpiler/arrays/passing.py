"""The way of a call: NumPy's objects to tensors, a rule, tensors to NumPy's objects.

Tensors in give tensors out: a call that is handed tensors alone is the rule itself.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy
import torch

from ..semantics.arrays import is_scalar
from ..semantics.indexing import FlatView
from ..semantics.table import Refused
from .memory import is_host
from .scalars import Graded, scalar

_PLAIN = (int, float, complex, str, bool, type(None), bytes, numpy.dtype, type)


class Call:
    """One call: the tensors that stand for the objects it was handed.

    arrays  the objects among the arguments, by the identity of the tensor that stands for each
    tensors whether a bare tensor is among the arguments
    turned  copies that stand for arrays that run backwards, and their versions when they were made"""

    def __init__(self) -> None:
        self.arrays: dict[int, Any] = {}
        self.tensors = False
        self.turned: list[tuple[Any, torch.Tensor, int]] = []

    def lower(self, x: Any) -> Any:
        """An argument for a rule."""
        from .flat import flatiter
        from .ndarray import ndarray

        kind = type(x)
        if kind is ndarray:
            return self._array(x)
        if kind in _PLAIN:
            return x
        if isinstance(x, torch.Tensor):
            self.tensors = True
            return x
        if isinstance(x, Graded):
            return x._tensor
        if issubclass(kind, ndarray):
            return self._array(x)
        if kind is numpy.ndarray:
            seen = ndarray._seen(x)
            return x if seen is x else self._array(seen)
        if kind in (list, tuple, deque):
            return kind(map(self.lower, x)) if self._holds(x) else x
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*map(self.lower, x))
        if kind is dict:
            return {k: self.lower(v) for k, v in x.items()}
        if kind is slice:
            return slice(self.lower(x.start), self.lower(x.stop), self.lower(x.step))
        if kind is flatiter:
            return x.view
        if x is ndarray:
            return numpy.ndarray
        if isinstance(x, (types.FunctionType, types.MethodType, functools.partial, types.BuiltinFunctionType)):
            return _called(x)
        return x

    def _holds(self, items: Any) -> bool:
        """Whether something in a list is more than a plain value."""
        return any(type(i) not in _PLAIN for i in items)

    def _array(self, x: Any) -> torch.Tensor:
        tensor: torch.Tensor = x._tensor
        if x._flipped:
            tensor = x.tensor
            self.turned.append((x, tensor, tensor._version))
        self.arrays[id(tensor)] = (x, tensor)
        return tensor

    def settle(self) -> None:
        """What was written into copies goes into the memory that they stand for."""
        for x, copy, version in self.turned:
            if copy._version != version:
                x._write(copy)

    def raise_(self, x: Any) -> Any:
        """A result as NumPy's object."""
        if isinstance(x, torch.Tensor):
            known = self.arrays.get(id(x))
            return lifted(x) if known is None else known[0]
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(self.raise_, x))
        if type(x) in (list, tuple):
            return type(x)(map(self.raise_, x))
        if isinstance(x, FlatView):
            return lifted(x)
        if isinstance(x, torch.Size):
            return tuple(x)
        if isinstance(x, types.GeneratorType) or type(x).__name__ in _ITERATORS:
            return map(self.raise_, x)
        return x


_ITERATORS = ("map", "zip", "filter")


def lifted(x: Any) -> Any:
    """A tensor as NumPy's object: a scalar, or an array on the tensor's memory. Containers of them likewise."""
    from .flat import flatiter
    from .ndarray import ndarray

    if isinstance(x, torch.Tensor):
        return scalar(x) if is_scalar(x) else ndarray._of(x)
    if isinstance(x, FlatView):
        return flatiter(x)
    return Call().raise_(x)


def lowered(x: Any) -> Any:
    """NumPy's object as a tensor, of the same memory where that runs forward. Containers of them likewise."""
    return Call().lower(x)


def through(rule: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], numpys: Callable[..., Any] | None = None) -> Any:
    """A rule called with NumPy's objects: objects come out, unless tensors alone went in.

    numpys  NumPy's own function, which is called on the same memory where the rule refuses"""
    call = Call()
    given, named = [call.lower(a) for a in args], {k: call.lower(v) for k, v in kwargs.items()}
    try:
        found = rule(*given, **named)
    except Refused as refused:
        if numpys is None or call.tensors:
            raise
        return by_numpy(numpys, args, kwargs, refused)
    if numpys is not None and _is_cut_off(found):
        return by_numpy(numpys, args, kwargs)
    if call.turned:
        call.settle()
    return found if call.tensors and not call.arrays else call.raise_(found)


def _is_cut_off(found: Any) -> bool:
    """Whether a result is a copy of what NumPy gives as a view."""
    if isinstance(found, (tuple, list)):
        return any(map(_is_cut_off, found))
    return isinstance(found, torch.Tensor) and is_host(found) and getattr(found, "_np2fx_lone_copy", False)


def in_torch(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """torch's own function on the tensors of NumPy's objects: tensors come out."""
    call = Call()
    given, named = [call.lower(a) for a in args], {k: call.lower(v) for k, v in kwargs.items()}
    found = function(*given, **named)
    call.settle()
    return found


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the user's that a rule calls back: it is handed NumPy's objects, and what it gives back are tensors."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return lowered(function(*map(lifted, args), **{k: lifted(v) for k, v in kwargs.items()}))

    return call


def by_numpy(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], why: Refused | None = None) -> Any:
    """NumPy's own function on the same memory. Where NumPy cannot look at it Refused is raised: `why`, if that is given."""
    try:
        given, named = [in_numpy(a) for a in args], {k: in_numpy(v) for k, v in kwargs.items()}
    except Refused as refused:
        raise why or refused from None
    return from_numpy(function(*given, **named))


def in_numpy(x: Any) -> Any:
    """An argument as NumPy's own function takes it: on the same memory. Raises Refused where NumPy cannot look at it."""
    from .flat import flatiter
    from .ndarray import ndarray

    if issubclass(type(x), ndarray):
        return x._numpy()
    if x is ndarray:
        return numpy.ndarray
    if type(x) is flatiter:
        return x.base._numpy().flat
    if type(x) in (list, tuple):
        return type(x)(map(in_numpy, x))
    if type(x) is dict:
        return {k: in_numpy(v) for k, v in x.items()}
    return x


def from_numpy(x: Any) -> Any:
    """What NumPy's own function gives: its arrays as arrays on tensors, where torch has their dtype."""
    from .ndarray import ndarray

    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(from_numpy, x))
    return type(x)(map(from_numpy, x)) if type(x) in (list, tuple) else ndarray._seen(x)
