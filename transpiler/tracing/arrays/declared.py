"""Python numbers that a node's specs declare (`@np2fx.node(gain="float")`): inputs of its graph, which then serves other values as well.

Among the arrays of a call such a number is a NumPy scalar of a class of its own. The function is given Python's number again, or a
traced one, so that it stays weak: it takes the dtype of the array that it meets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch

from ...pipeline.spec import ScalarSpec
from .arithmetic import INT_BOUND


class DeclaredInt(numpy.int64):
    """A Python int among the arrays of a call."""

    __slots__ = ()


class DeclaredFloat(numpy.float64):
    """A Python float among the arrays of a call."""

    __slots__ = ()


class DeclaredComplex(numpy.complex128):
    """A Python complex among the arrays of a call."""

    __slots__ = ()


KINDS: dict[type, type] = {DeclaredInt: int, DeclaredFloat: float, DeclaredComplex: complex}
_CLASSES: dict[str, Any] = {kind.__name__: cls for cls, kind in KINDS.items()}


def declarations(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Which of the arguments can be inputs: the names of those that are numbers of the type that the function's specs say."""
    specs = getattr(function, "__np2fx_spec__", None) or {}
    found = {n: s.kind for n, s in specs.items() if isinstance(s, ScalarSpec) and s.kind in _CLASSES and n in arguments}
    return {n: kind for n, kind in found.items() if _is_of(arguments[n], kind)}


def declarable(x: Any) -> bool:
    """Whether a value is a number that can be an input."""
    return type(x).__name__ in _CLASSES and _is_of(x, type(x).__name__)


def _is_of(x: Any, kind: str) -> bool:
    """Python's own number of exactly that type, and one that a tensor can hold."""
    of_type: bool = type(x) is KINDS[_CLASSES[kind]]
    return of_type and (kind != "int" or -INT_BOUND <= x < INT_BOUND)


def declare(arguments: dict[str, Any], kinds: Mapping[str, str]) -> str | None:
    """Put the numbers of a call among its arrays. Where one is not what was declared, that is said in a sentence.

    A tensor may stand for one, as a graph that is called with tensors alone gets it."""
    for name, kind in kinds.items():
        x = arguments.get(name)
        cls = _CLASSES[kind]
        if isinstance(x, torch.Tensor) and not x.ndim:
            continue
        if type(x) is not cls:
            if not _is_of(x, kind):
                return f"{name} is {x!r}, and was a Python {kind} when it was traced"
            arguments[name] = cls(x)
    return None


def remade(x: Any, kind: type) -> Any:
    """A copy of a declared number, of an array or a tensor that stands for one."""
    return kind(numpy.asarray(x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else x)[()])


def as_python(x: Any) -> Any:
    """Python's number of a declared one; everything else is itself."""
    kind = KINDS.get(type(x))
    return x if kind is None else kind(x)
