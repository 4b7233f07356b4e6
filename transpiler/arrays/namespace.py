"""NumPy's names over arrays on tensors: rules where there are, NumPy's own functions on the same memory elsewhere.

What has no rule (text, files, random numbers, memory) is computed by NumPy and laid on tensors again; where NumPy cannot look at the memory
(another device, a gradient), it is refused with the finding that says why.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy

from .. import rules
from ..semantics.table import Refused, original
from ..semantics.ufunc import Ufunc
from . import ufuncs
from .ndarray import ndarray
from .passing import by_numpy, is_made, through
from .quick import called


class Namespace(types.ModuleType):
    """A module of NumPy's (`numpy`, `numpy.linalg`) over arrays on tensors."""

    def __init__(self, path: str, of: Any) -> None:
        super().__init__(path, getattr(of, "__doc__", None))
        self.__dict__["_path"], self.__dict__["_of"] = path, of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__version__", "__array_api_version__", "__array_namespace_info__", "__all__"):
            raise AttributeError(name)
        found = _found(f"{self._path}.{name}", getattr(self._of, name))
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return dir(self._of)


def _found(path: str, of: Any) -> Any:
    """What a name of NumPy's is over arrays on tensors."""
    if of is numpy.ndarray:
        return ndarray
    rule = rules.load_once().get(path)
    if isinstance(of, types.ModuleType):
        return namespace if of is numpy else Namespace(path, of) if of.__name__.startswith("numpy") else of
    if rule is not None and isinstance(rule.call, Ufunc):
        return ufuncs.ufunc(rule.call)
    if rule is not None and callable(of):
        return _of_rule(rule, of)
    if rule is not None:
        return _Indexed(rule.call, of)  # numpy.r_, numpy.mgrid
    if path in ("numpy.random.Generator", "numpy.random.RandomState"):
        return of
    if (inspect.isclass(of) and not _takes_arrays(of)) or not callable(of):
        return of
    if path.startswith("numpy.random."):
        return Drawing(of)
    return _of_numpy(path, of)


def _takes_arrays(kind: type) -> bool:
    """Whether a class of NumPy's is compiled code that looks at the arrays it is given (`numpy.nditer`, `numpy.broadcast`)."""
    compiled = not kind.__flags__ & 1 << 9
    return compiled and not issubclass(kind, (numpy.generic, numpy.dtype, BaseException, int, str))


def _of_rule(rule: Any, of: Any) -> Callable[..., Any]:
    @functools.wraps(of, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return by_numpy(of, args, kwargs) if is_made(args, kwargs) else called(rule, args, kwargs, of)

    return call


def _of_numpy(path: str, of: Any) -> Callable[..., Any]:
    @functools.wraps(of, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return by_numpy(of, args, kwargs, _no_rule(path))

    return call


def _no_rule(path: str) -> Refused:
    refusal = rules.load()[1].get(path)
    if refusal is None:
        return Refused(f"{path} has no rule, and NumPy cannot look at the array's memory", "use .detach() and .cpu() of its tensor first")
    return Refused(f"{path}: {refusal.reason}", refusal.hint, refusal.finding)


class Drawing:
    """A generator of random numbers, or what makes one: NumPy's own, which draws for arrays on tensors."""

    def __init__(self, of: Any) -> None:
        self.__dict__["_of"] = of

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._of)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = by_numpy(self._of, args, kwargs)
        return Drawing(found) if isinstance(found, (numpy.random.Generator, numpy.random.RandomState)) else found

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return Drawing(found) if callable(found) and not name.startswith("_") else found

    def __repr__(self) -> str:
        return repr(self._of)


class _Indexed:
    """`numpy.r_` and its kin, which are asked by index."""

    def __init__(self, rule: Any, of: Any) -> None:
        self.rule, self.of = rule, of

    def __getitem__(self, key: Any) -> Any:
        return through(self.rule.__getitem__, (key,), {}, self.of.__getitem__)

    def __len__(self) -> int:
        return len(self.of)


@functools.cache
def _names() -> dict[int, str]:
    """The path of each of NumPy's functions that has a rule, by its identity."""
    return {id(of): name for name in rules.load_once() if (of := original(name)) is not None and not name.startswith("numpy.ndarray.")}


def dispatched(function: Any, args: Any, kwargs: Any) -> Any:
    """A function of NumPy's own that meets an array on a tensor."""
    numpys = getattr(function, "_implementation", function)
    name = _names().get(id(function))
    if name is not None:
        return called(rules.lookup(name), args, kwargs, numpys)
    return by_numpy(numpys, args, kwargs, _no_rule(f"{function.__module__}.{function.__name__}"))


namespace = Namespace("numpy", numpy)
