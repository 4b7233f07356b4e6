"""`annotate`: marks the beginning and the end of a region of array work in a longer function.

    x = annotate.input_tensors("normalise", {"x": x})
    y = (x - mean) / std
    y = annotate.output_tensors("normalise", {"y": y})

Both give back what they are given: one array for a dict of one, a tuple for more, so that the code between runs as
plain NumPy. Static analysis finds regions by these calls; a trace sees the same arrays through them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .node import node

F = TypeVar("F", bound=Callable[..., Any])


def input_tensors(name: str, tensors: Any) -> Any:
    """The region `name` begins here; `tensors` (a dict of arrays, or one array) are its inputs and are returned."""
    return _passed_through(name, tensors)


def output_tensors(name: str, tensors: Any, *, export_with: str | None = None) -> Any:
    """The region `name` ends here; `tensors` (a dict of arrays, or one array) are its outputs and are returned.

    `export_with` is for whoever exports the region; running it as NumPy, there is nothing to export."""
    return _passed_through(name, tensors)


def method(*args: Any, node_name: str | None = None, export_with: str | None = None) -> Any:
    """`np2fx.node` under another name, bare or called; the node's inputs are named by the function's parameters."""
    return node(*args)


def _passed_through(name: str, tensors: Any) -> Any:
    if not isinstance(name, str):
        raise TypeError(f"a region is named by a string, not by {type(name).__name__}")
    if not isinstance(tensors, Mapping):
        return tensors
    if not tensors:
        raise ValueError(f"region {name!r} has no arrays")
    values = tuple(tensors.values())
    return values[0] if len(values) == 1 else values
