"""Where the arrays that a node is given come from: which of them another node gave."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy
import torch

_KEPT = 3
"""So many of the latest values of each output are known again."""

_PLAIN = 1024.0
"""Numbers that are whole up to here, or halves of such, come about by chance."""


@dataclass(frozen=True)
class Source:
    """An output of a node, in the call of this number."""

    node: str
    output: str
    call: int

    def __str__(self) -> str:
        return f"{self.node}/{self.output}"


_Given = tuple[Source, Any, "numpy.ndarray[Any, Any]"]
"""An output, the array that was given, and a copy of its values."""


class Sources:
    """The outputs that nodes have given."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], collections.deque[_Given]] = {}

    def gave(self, source: Source, value: Any) -> None:
        """Note an output. It is kept alive, so that nothing else can come to stand where it stands."""
        kept = self._given.pop((source.node, source.output), None) or collections.deque(maxlen=_KEPT)
        kept.append((source, value, values_of(value).copy()))
        self._given[source.node, source.output] = kept  # the latest last

    def of(self, value: Any) -> Source | None:
        """The output that this is: the same object, or another array of the same elements in the same memory."""
        return next((s for s, given, _ in self._latest() if given is value or _same_memory(given, value)), None)

    def _latest(self) -> Iterator[_Given]:
        """The outputs, those that were given last first."""
        for kept in reversed(self._given.values()):
            yield from reversed(kept)

    def was_changed(self, source: Source, value: Any) -> bool:
        """Whether somebody has written into an output since the node gave it."""
        kept = next((values for s, _, values in self._latest() if s == source), None)
        return kept is not None and not same_values(kept, values_of(value))

    def same(self, source: Any, target: Any) -> None:
        """`target` stands for the output that `source` is."""
        found = self.of(source)
        if found is not None:
            self.gave(found, target)

    def look_alike(self, value: Any) -> Source | None:
        """The output whose numbers these are, although they lie elsewhere: a copy, a file or Python numbers were between."""
        numbers = _telling(values_of(value))
        if not len(numbers):
            return None
        for source, _, kept in self._latest():
            if len(numpy.intersect1d(numbers, _telling(kept))) >= 0.9 * len(numbers):
                return source
        return None


def values_of(value: Any) -> numpy.ndarray[Any, Any]:
    """An array, NumPy scalar or tensor as an array, of the same memory where that can be."""
    return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else numpy.asarray(value)


def same_values(a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> bool:
    """Whether two arrays are the same to the bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _same_memory(a: Any, b: Any) -> bool:
    return isinstance(a, (numpy.ndarray, torch.Tensor)) and isinstance(b, (numpy.ndarray, torch.Tensor)) and _memory(a) == _memory(b)


def _memory(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        if x.device.type != "cpu" or x.is_conj() or x.is_neg():
            return id(x)
        strides = tuple(n * x.element_size() for n in x.stride())
        return x.data_ptr(), tuple(x.shape), strides, str(x.dtype).removeprefix("torch.")
    return x.__array_interface__["data"][0], x.shape, x.strides, x.dtype.name


def _telling(values: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The different numbers of an array that do not come about by chance."""
    if values.dtype.kind not in "fc":
        return numpy.empty(0)
    flat = numpy.unique(values[numpy.isfinite(values)])
    return flat[(flat * 2 != numpy.round(flat * 2)) | (abs(flat) > _PLAIN)].astype(numpy.complex128)
