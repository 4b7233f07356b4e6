"""Counts: sizes that depend on values (`len(x[x > 0])`) as Python ints of the graph, and arrays that have such a size.

A count is a sum of ones as many as there are elements: an operation that every exporter takes, and that mentions no size.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ...semantics.arrays import demand
from ..arrays.array import TracedNpArray
from ..arrays.number import TracedNumber, is_number, new_number, settled, value_of
from ..arrays.scalar import TracedScalar
from ..arrays.windows import same_length

if TYPE_CHECKING:
    from ..tracer import Tracer


def shape_of(tracer: Tracer, x: TracedNpArray) -> tuple[Any, ...]:
    """The shape of an array whose sizes may depend on values: those that do are numbers of the graph."""
    with tracer.inside():
        tensor = tracer.tensor(x)
        counts = [tracer.recorder.counted(tensor, axis) for axis in range(tensor.ndim)]
        return tuple(n if c is None else new_number(tracer, n, c) for n, c in zip(x._value.shape, counts, strict=True))


def size_of(array: Any, axis: Any = None) -> Any:
    """`numpy.size` of a traced array."""
    if axis is None:
        return math.prod(array.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    return math.prod(array.shape[n] for n in numpy.lib.array_utils.normalize_axis_tuple(axes, array.ndim))


def arange(tracer: Tracer, *args: Any, dtype: Any = None, device: Any = None, like: Any = None, **named: Any) -> Any:
    """`numpy.arange` with bounds that the graph computes: of a fixed length where they differ by a constant."""
    bounds = [settled(b) if type(b) is TracedNumber else b for b in args]
    if named or not 1 <= len(bounds) <= 3 or not any(type(b) in (TracedNumber, TracedScalar) for b in bounds[:2]):
        return NotImplemented
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1
    whole = all(is_number(b) or isinstance(b, numpy.generic) for b in (start, stop)) and type(step) is int and step != 0
    if not whole or any(numpy.asarray(value_of(b)).dtype.kind not in "iu" for b in (start, stop)):
        return NotImplemented
    with tracer.inside():
        tracer._mark("numpy.arange")
        real = tracer.numpy(lambda: numpy.arange(value_of(start), value_of(stop), step, dtype), True)  # type: ignore[call-overload]
        first, last = (tracer.tensor(b).to(torch.int64) for b in (start, stop))
        distance = torch.clamp(torch.div(last - first + (step - (1 if step > 0 else -1)), step, rounding_mode="floor"), min=0)
        if same_length(tracer.recorder, first, last):
            demand(distance == len(real), ValueError("a range has another length than when it was traced"))
            numbers = torch.arange(len(real))
        else:
            numbers = torch.arange(distance)  # type: ignore[call-overload]
        made = first + (numbers if step == 1 else numbers * step)
        return tracer.array(real, made.to(torch.from_numpy(real[:0]).dtype))
