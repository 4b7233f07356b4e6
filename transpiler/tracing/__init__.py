"""The runtime half: run a NumPy function on traced arrays and record a torch FX graph.

`trace(function, *samples)` is the door; the graph module it returns is called like the function."""

from __future__ import annotations

from .arrays.array import TracedNpArray
from .arrays.scalar import TracedScalar
from .arrays.tensor import TracedTensor
from .entry import trace
from .errors import TraceError
from .module import TracedModule

__all__ = ["TraceError", "TracedModule", "TracedNpArray", "TracedScalar", "TracedTensor", "trace"]
