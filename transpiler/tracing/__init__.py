"""The runtime half: run a NumPy function on traced arrays and record a torch FX graph.

`trace(function, *samples)` is the door; the graph module it returns is called like the function."""

from __future__ import annotations

from typing import Any

import torch

from . import state
from .array import TracedNpArray
from .entry import trace
from .errors import TraceError
from .module import TracedModule
from .scalar import TracedScalar

__all__ = ["TraceError", "TracedModule", "TracedNpArray", "TracedScalar", "TracedTensor", "trace"]


class _Recorded(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        tracer = state.current()
        return isinstance(instance, torch.Tensor) and tracer is not None and tracer.recorder.node(instance) is not None


class TracedTensor(metaclass=_Recorded):
    """A torch tensor that the running trace has recorded: `isinstance(t, TracedTensor)`. It is a plain tensor otherwise."""
