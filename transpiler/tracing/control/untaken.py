"""Ways that the sample does not take: NumPy runs on its values all the same, and may fail where these never come.

`if i < len(x): x[i]` with an `i` beyond: the way through the index has a graph, but no values. What is recorded there hangs on shapes and
dtypes alone, so that other values do as well: positions are zeros, matrices the identity, and where nothing is selected there is one
element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
import torch

from ...semantics.arrays import as_tensor
from ..arrays.array import TracedNpArray
from ..arrays.number import TracedNumber
from ..arrays.scalar import TracedScalar
from ..calls import Call

if TYPE_CHECKING:
    from ..recording.memory import Memory


def with_other_values(tracer: Memory, call: Call, problem: Exception, kept: list[Any], targets: list[Any]) -> Call | None:
    """The call for values with which NumPy may not raise `problem`; None where there are none. `kept` are arguments that stay, unless they
    are empty; `targets` stay in any case."""
    change = _Change(tracer, isinstance(problem, numpy.linalg.LinAlgError), kept, targets)
    made = Call(call.function, change.of(call.args), change.of(call.kwargs), call.extra)
    return made if change.count else None


class _Change:
    """Puts other values in the place of traced ones: in matrices if `matrices`, else in integers. `count` tells how many."""

    def __init__(self, tracer: Memory, matrices: bool, kept: list[Any], targets: list[Any]) -> None:
        self.tracer, self.matrices, self.kept, self.targets, self.count = tracer, matrices, kept, targets, 0

    def of(self, x: Any) -> Any:
        kind = type(x)
        if kind in (tuple, list):
            return kind(map(self.of, x))
        if kind is dict:
            return {k: self.of(v) for k, v in x.items()}
        if kind not in (TracedNpArray, TracedScalar, TracedNumber) or self.tracer.is_constant(x):
            return x
        value = self._filled(x)
        if value is None and not any(x is k for k in self.kept):
            value = self._value(numpy.asarray(x._value))
        if value is None:
            return x
        self.count += 1
        tensor: torch.Tensor = as_tensor(value)
        node = self.tracer.recorder.node(self.tracer.tensor(x))
        self.tracer.recorder.record(tensor, node)  # type: ignore[arg-type]
        if kind is TracedNpArray:
            return self.tracer.note_array(value, self.tracer.new_storage(value, tensor, "fresh"), tensor)
        return self.tracer.note(TracedNumber(0, tensor) if kind is TracedNumber else TracedScalar(value[()], tensor))

    def _filled(self, x: Any) -> numpy.ndarray[Any, Any] | None:
        """An array with an element to take the place of one that has none here, but may have some: `x[x > 0]`."""
        value = numpy.asarray(x._value)
        if value.size or any(x is t for t in self.targets):
            return None
        loose = self.tracer.recorder.outlines.axes(self.tracer.tensor(x))
        return numpy.ones([1 if varies else n for n, varies in zip(value.shape, loose, strict=True)], value.dtype) if any(loose) else None

    def _value(self, x: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any] | None:
        """An array to take the place of `x`; None where that can stay."""
        if self.matrices:
            made = numpy.zeros_like(x) + numpy.eye(*x.shape[-2:], dtype=x.dtype) if x.ndim > 1 and x.dtype.kind in "fc" else x
        else:
            made = numpy.zeros_like(x) if x.dtype.kind in "iu" else x
        return None if numpy.array_equal(made, x) else made
