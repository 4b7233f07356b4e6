"""A function's globals as rewritten code sees them: NumPy arrays as tensors, everything else as it is, always current."""

from __future__ import annotations

from typing import Any

import numpy
import torch

from ..semantics.arrays import as_tensor, given, zero_d_array


class Lifted(dict):  # type: ignore[type-arg]
    """A view of a module's globals for rewritten code (Python asks a dict subclass for what it does not hold by `__missing__`).

    Names that the rewritten code brings itself (`torch`, `npx`, `ops`) come first."""

    def __init__(self, original: dict[str, Any], own: dict[str, Any]) -> None:
        super().__init__(own)
        self.original = original
        self.tensors: dict[int, tuple[numpy.ndarray[Any, Any], torch.Tensor]] = {}

    def __missing__(self, name: str) -> Any:
        if name in self.original:
            return lift(self.original[name], self.tensors)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or name in self.original

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


def lift(value: Any, known: dict[int, tuple[numpy.ndarray[Any, Any], torch.Tensor]] | None = None) -> Any:
    """An array or a NumPy scalar as a tensor, which shares the array's memory where torch can.

    `known` remembers the tensors of arrays seen before, for as long as its owner lives."""
    if isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
        known = {} if known is None else known
        held = known.get(id(value))
        if held is None or held[0] is not value or _stale(value, held[1]):
            held = known[id(value)] = (value, _shared(value))
        return held[1]
    if isinstance(value, numpy.generic) and value.dtype.kind in "biufc":
        return as_tensor(value)
    return value


def _shared(value: numpy.ndarray[Any, Any]) -> torch.Tensor:
    device = torch.get_default_device()
    if value.flags.writeable and value.dtype.isnative and all(s >= 0 for s in value.strides) and device.type == "cpu":
        try:
            return zero_d_array(given(torch.from_numpy(value)))
        except (TypeError, ValueError):
            pass
    return zero_d_array(as_tensor(value))


def _stale(value: numpy.ndarray[Any, Any], made: torch.Tensor) -> bool:
    """A copy must be made again where the array has been written to, or the default device has changed."""
    if made.device != torch.get_default_device():
        return True
    if made.device.type != "cpu" or made.data_ptr() == value.__array_interface__["data"][0]:
        return False
    return not bool(torch.equal(made, as_tensor(value)))
