"""Arguments: what NumPy gets of them, and what a rule gets."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy
import torch

from ..recording.compare import values_of
from ..recording.memory import Memory
from ..sizes.traced import TracedSize
from .array import TracedNpArray
from .number import TracedNumber, marked, settled
from .scalar import TracedScalar
from .twin import Twin

_ATOMS = (int, float, bool, complex, str, bytes, type(None), numpy.dtype, type(Ellipsis))


class Arguments(Memory):
    """Splits the arguments of a call into NumPy's side and torch's side."""

    def split(self, x: Any) -> Any:
        """What NumPy gets for `x`."""
        return self._split(x, [])[0]

    def _split(self, x: Any, traced: list[Any]) -> tuple[Any, Any]:
        """What NumPy gets and what the rule gets; traced values that are no constants are added to `traced`."""
        kind = type(x)
        if kind in _ATOMS:
            return x, x
        if kind is TracedNpArray:
            self.check_own(x)
            if self.is_constant(x):
                return x._value, x._value
            traced.append(x)
            return x._value, self.tensor(x)
        if kind is TracedScalar:
            self.check_own(x)
            traced.append(x)
            return x._value, x._tensor
        if kind is TracedNumber:
            self.check_own(x)
            if settled(x) is not x:
                return settled(x), settled(x)
            traced.append(x)
            return x._value, marked(self, x)  # type: ignore[arg-type]
        if kind is TracedSize:
            traced.append(x)
            return x._value, x
        if kind is tuple or kind is list:
            pairs = [self._split(i, traced) for i in x]
            return kind(p[0] for p in pairs), kind(p[1] for p in pairs)
        if kind is dict:
            both = {k: self._split(v, traced) for k, v in x.items()}
            return {k: v[0] for k, v in both.items()}, {k: v[1] for k, v in both.items()}
        if kind is slice:
            parts = [self._split(i, traced) for i in (x.start, x.stop, x.step)]
            return slice(*(p[0] for p in parts)), slice(*(p[1] for p in parts))
        return self._split_other(x, traced)

    def _split_other(self, x: Any, traced: list[Any]) -> tuple[Any, Any]:
        if isinstance(x, torch.Tensor):
            x = self.recorder.shells.opened(x)
            if self.recorder.node(x) is None:
                return values_of(x), x
            traced.append(x)
            return values_of(x), x
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            pairs = [self._split(i, traced) for i in x]
            return tuple.__new__(type(x), [p[0] for p in pairs]), tuple.__new__(type(x), [p[1] for p in pairs])
        if type(x) is Twin:
            return x.original, self._callback(x)
        if "_np2fx_original" in vars(type(x)):
            return x.original, x.original
        if isinstance(x, (types.FunctionType, types.MethodType, functools.partial)):
            return x, self._callback(x)
        if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray and not isinstance(x, TracedNpArray):
            self.fail("opaque-call", f"a {type(x).__name__} is not a plain array", "convert it with np.asarray before the node")
        return x, x

    def _callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A user's function that a rule calls with tensors: it sees traced arrays."""

        @functools.wraps(function, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            current, self.recorder.current = self.recorder.current, ""
            paused, self.paused = self.paused, False
            try:
                given = [self.adopt(a) if isinstance(a, torch.Tensor) else a for a in args]
                named = {k: self.adopt(v) if isinstance(v, torch.Tensor) else v for k, v in kwargs.items()}
                return self._split(function(*given, **named), [])[1]
            finally:
                self.recorder.current, self.paused = current, paused

        return call
