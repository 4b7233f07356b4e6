"""Sizes that depend on values (`x[x > 0]`): does the graph hold where they are others?

A graph may have such a size in it as a number, taken from the sample. So the function is traced again on samples with
other values, and the graphs must be the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from .compare import compare_graphs
from .errors import TraceError, error
from .structure import rebuild

ENOUGH = 2
"""How many samples with other sizes settle the question."""


def check_sizes(fn: Callable[..., Any], bound: inspect.BoundArguments, module: Any, leaves: list[Any], sizes: list[Any]) -> None:
    """Raise TraceError unless the graph of `fn` is the same for samples with which the sizes are others."""
    from .entry import _compare, _record, _run
    from .module import copied

    face = module.face
    settled = 0
    for other in others(copied(face, leaves)):
        given = copied(face, other)
        try:
            want = (_run(fn, bound, face.inputs, given), given)
        except Exception:  # the function has no result for these values
            continue
        try:
            traced, found = _record(fn, bound, face, other)
        except TraceError as refused:
            raise error(
                "data-dependent-shape", f"for other values the function is not the same graph: {refused}", _WAY_OUT, face.place
            ) from refused
        if found == sizes:
            continue
        why = compare_graphs(module, traced)
        if why is not None:
            raise error("data-dependent-shape", f"a size that depends on values is a number in the graph: {why}", _WAY_OUT, face.place)
        _compare(module, face, other, want, lambda: None)
        settled += 1
        if settled == ENOUGH:
            return
    if not settled:
        raise error("data-dependent-shape", "a size depends on values, and no other values were found that change it", _WAY_OUT, face.place)


_WAY_OUT = "keep the size: np.where(mask, x, 0) instead of x[mask], or split the node here"


def others(leaves: list[Any]) -> Iterator[list[Any]]:
    """Samples of the same shapes and dtypes with other values, from near to far."""
    random = numpy.random.RandomState(0)
    for change in (_rolled, _negated, _large, _shuffled, _shuffled, _drawn, _drawn, _drawn, _small):
        yield [_changed(change, x, random) for x in leaves]


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


def _small(x: Any, random: Any) -> Any:
    return x / 1000 if x.dtype.kind in "fc" else x


def _shuffled(x: Any, random: Any) -> Any:
    return random.permutation(x.reshape(-1))


def _drawn(x: Any, random: Any) -> Any:
    """Integers and bools among those that are there (they may be indices), floats around them."""
    if x.dtype.kind == "b":
        return random.rand(*x.shape) < 0.5
    if x.dtype.kind in "iu":
        return random.choice(x.reshape(-1), x.size) if x.size else x
    scale = numpy.abs(x[numpy.isfinite(x)]).max() if numpy.isfinite(x).any() else 1.0
    return random.standard_normal(x.shape) * (scale or 1.0)


__all__ = ["check_sizes", "others", "rebuild"]
