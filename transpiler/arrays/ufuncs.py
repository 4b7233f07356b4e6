"""NumPy's ufuncs over arrays on tensors: each is the rule, called with NumPy's objects, and its methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy
import torch

from .. import rules
from ..semantics.table import Rule
from ..semantics.ufunc import Ufunc, straight
from . import operators
from .memory import as_key
from .ndarray import ndarray
from .passing import by_numpy, through
from .quick import called
from .world import KINDS, stops_at_errors

METHODS = tuple(n for n in dir(numpy.ufunc) if not n.startswith("_") and callable(getattr(numpy.ufunc, n)))


class ufunc:  # noqa: N801 - NumPy's name
    """A ufunc of NumPy's over arrays on tensors.

    rule   what it is to tensors
    numpy  NumPy's own"""

    def __init__(self, rule: Ufunc) -> None:
        self.rule, self.numpy = rule, rule.numpy
        self.__name__, self.__doc__ = rule.numpy.__name__, rule.numpy.__doc__
        self.__signature__ = rule.__signature__
        for name in METHODS:
            setattr(self, name, functools.partial(self._method, name))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return numpy.ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and all(type(x) in _NUMBERS for x in args):
            return self.numpy(*args)  # scalars are NumPy's own
        if not kwargs and not stops_at_errors():
            done = elementwise(self.rule, args)
            if done is not None:
                return done
        return through(self.rule, args, kwargs, self.numpy)

    def _method(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        if name == "at" and len(args) > 1:
            args = (args[0], as_key(args[1]), *args[2:])
        method = getattr(self.rule, name, None)
        numpys = getattr(self.numpy, name)
        return through(numpys if method is None else method, args, kwargs, numpys)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.numpy, name)

    def __repr__(self) -> str:
        return repr(self.numpy)

    def __reduce__(self) -> Any:
        return of, (self.numpy.__name__,)

    def __eq__(self, other: object) -> bool:
        return self is other or other is self.numpy

    def __hash__(self) -> int:
        return hash(self.numpy)


@functools.cache
def of(name: str) -> Callable[..., Any]:
    """The ufunc of this name; of those that have a rule of another form (`matmul`) that rule."""
    rule = rules.lookup(f"numpy.{name}")
    return ufunc(rule.call) if isinstance(rule.call, Ufunc) else functools.partial(_through, rule, getattr(numpy, name))


def _through(rule: Rule, numpys: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return called(rule, args, kwargs, numpys)


def elementwise(rule: Ufunc, args: tuple[Any, ...]) -> Any:
    """The result where all operands are arrays and numbers of one loop that torch computes as NumPy does; None elsewhere."""
    if len(args) == 1 and type(args[0]) is ndarray:
        a, plain = args[0]._tensor, not args[0]._flipped
        done = plain and a.ndim and straight(rule, (a.dtype,)) and a.is_contiguous()
        return ndarray._of(rule.body(a)) if done else None
    kinds: list[Any] = []
    operands: list[Any] = []
    scalars: list[torch.dtype] = []
    for x in args:
        if type(x) is ndarray and not x._flipped:
            kinds.append(x._tensor.dtype)
            operands.append(x._tensor)
        elif type(x) is float or type(x) is int:
            kinds.append(type(x))
            operands.append(x)
        elif type(x) in KINDS:
            scalars.append(KINDS[type(x)])
            kinds.append(type(x.item()))
            operands.append(x.item())
        else:
            return None
    if any(dtype not in kinds for dtype in scalars):
        return None  # a scalar of another dtype than the array's
    if len(args) == 2 and type(args[1]) is ndarray and type(args[0]) is not ndarray and rule.__name__ in operators.OF_UFUNC:
        return operators.number_first(*operators.OF_UFUNC[rule.__name__], operands[0], args[1])
    if not straight(rule, tuple(kinds)) or not all(isinstance(x, torch.Tensor) and x.ndim for x in operands[:1]):
        return None
    if not all(x.is_contiguous() for x in operands if isinstance(x, torch.Tensor)):
        return None
    try:
        return ndarray._of(rule.body(*operands))
    except (RuntimeError, OverflowError):
        return None  # the rule says what NumPy says


_NUMBERS = frozenset((int, float, complex, numpy.float64, numpy.float32, numpy.int64, numpy.complex128))


def dispatched(function: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc of NumPy's own, or of another library's, that meets an array on a tensor."""
    name = f"numpy.{function.__name__}"
    if getattr(numpy, function.__name__, None) is not function or name not in rules.load_once():
        return by_numpy(getattr(function, method), inputs, kwargs)
    rule = rules.lookup(name).call
    if method == "__call__" and not kwargs:
        return of(name.removeprefix("numpy."))(*inputs)
    if isinstance(out := kwargs.get("out"), tuple) and len(out) == 1:
        kwargs = {**kwargs, "out": out[0]}
    called: Callable[..., Any] = rule if method == "__call__" else getattr(rule, method)
    return through(called, inputs, kwargs, getattr(function, method))
