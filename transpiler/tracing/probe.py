"""Sizes that depend on values (`x[x > 0]`): does the graph hold where they are others?

A graph may have such a size in it as a number, taken from the sample by a rule. (The traced function itself is not told such sizes.)
So the function is traced again on samples with other values, and the graphs must be the same.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .checking import check_values
from .errors import TraceError, error
from .module import Face, copied
from .recording.compare import compare_graphs

if TYPE_CHECKING:
    from .entry import Recording


class UnsettledError(TraceError):
    """A size depends on values, and none were found for which it is another."""


def check_sizes(fn: Callable[..., Any], bound: inspect.BoundArguments, made: Recording, leaves: list[Any]) -> None:
    """Raise TraceError unless the graph of `fn` is the same for samples with which the sizes are others."""
    from .entry import record, run

    face: Face = made.module.face  # type: ignore[assignment]
    settled = False
    plain = copied(face, leaves)
    for number, other in enumerate(itertools.chain(others(plain), others(plain, _MORE))):
        if number >= len(_CHANGES) and (settled or not made.measured):
            break
        given = copied(face, other)
        try:
            result = run(fn, bound, face.inputs, given)
        except Exception:
            continue  # the function has no result for these values
        try:
            traced = record(fn, bound, face, other)
        except TraceError as refused:
            raise error("data-dependent-shape", f"for other values it cannot be traced: {refused}", _WAY_OUT, face.place) from refused
        if traced.sizes == made.sizes:
            continue
        why = compare_graphs(made.module, traced.module)
        if why is not None:
            raise error("data-dependent-shape", f"a size that depends on values is a number in the graph: {why}", _WAY_OUT, face.place)
        traced.module = made.module
        check_values(traced, other, result, given, lambda seen: None)
        settled = True
    if not settled and made.measured:
        message = "a size depends on values, and no other values were found that change it"
        raise UnsettledError(*error("data-dependent-shape", message, _WAY_OUT, face.place).findings)


_WAY_OUT = "keep the size: np.where(mask, x, 0) instead of x[mask], or split the node here"


def others(leaves: list[Any], changes: Any = None) -> Iterator[list[Any]]:
    """Samples of the same shapes and dtypes with other values, from near to far."""
    random = numpy.random.RandomState(0)
    for change in changes or _CHANGES:
        made: dict[int, Any] = {}
        for x in leaves:
            if id(x) not in made:
                made[id(x)] = _changed(change, x, random)
        yield [made[id(x)] for x in leaves]


def _changed(change: Any, x: Any, random: Any) -> Any:
    array = x.detach().numpy() if isinstance(x, torch.Tensor) else numpy.asarray(x)
    made = numpy.asarray(change(array, random)).astype(array.dtype).reshape(array.shape)
    if isinstance(x, torch.Tensor):
        return torch.from_numpy(made.copy())
    return made if isinstance(x, numpy.ndarray) else made[()]


def _rolled(x: Any, random: Any) -> Any:
    return ~x if x.dtype.kind == "b" else numpy.roll(x, 1)


def _negated(x: Any, random: Any) -> Any:
    return numpy.roll(x, 1) if x.dtype.kind in "bu" else -x if x.dtype.kind in "fc" else x[::-1] if x.ndim else x


def _large(x: Any, random: Any) -> Any:
    return x * 1000 + 1000 if x.dtype.kind in "fc" else x


def _low(x: Any, random: Any) -> Any:
    """All alike: a mask of it is all false, or all true."""
    return numpy.full_like(x, -1e3 if x.dtype.kind in "fc" else False if x.dtype.kind == "b" else x.min(initial=_top(x)))


def _high(x: Any, random: Any) -> Any:
    return numpy.full_like(x, 1e3 if x.dtype.kind in "fc" else True if x.dtype.kind == "b" else x.max(initial=0))


def _top(x: Any) -> Any:
    return numpy.iinfo(x.dtype).max


def _drawn(x: Any, random: Any) -> Any:
    """Integers and bools among those that are there (they may be indices), floats around them."""
    if x.dtype.kind == "b":
        return random.rand(*x.shape) < 0.5
    if x.dtype.kind in "iu":
        return random.choice(x.reshape(-1), x.size) if x.size else x
    scale = numpy.abs(x[numpy.isfinite(x)]).max() if numpy.isfinite(x).any() else 1.0
    return random.standard_normal(x.shape) * (scale or 1.0)


def _lowered(x: Any, random: Any) -> Any:
    """Positions one to the left, floats a little smaller."""
    return x if x.dtype.kind == "b" else numpy.maximum(x, 1) - 1 if x.dtype.kind in "iu" else x - 1


def _raised(x: Any, random: Any) -> Any:
    return x if x.dtype.kind == "b" else x + 1


def _halved(x: Any, random: Any) -> Any:
    return x if x.dtype.kind == "b" else x // 2 if x.dtype.kind in "iu" else x / 2


_CHANGES = (_rolled, _negated, _low, _high, _drawn, _drawn, _large)
_MORE = (_lowered, _raised, _halved)
"""What is tried where none of these changes a size."""
