"""`annotate`: marks nodes in a longer program, and says how they are wired.

    x = annotate.input_tensors("normalise", {"x": x})
    y = (x - mean) / std
    y = annotate.output_tensors("normalise", {"y": y}, export_with="pt2")

All give back what they are given: one array for a dict of one, a tuple for more, so that the code between runs as plain NumPy. Static
analysis finds regions by these calls; between `np2fx.start` and `np2fx.stop` they are noted, and `np2fx.compile_graph` makes artefacts of
them. The names and meanings are leapp's.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from . import session
from .node import node
from .semantics import meant, named

F = TypeVar("F", bound=Callable[..., Any])


def input_tensors(name: str, tensors: Any) -> Any:
    """The region `name` begins here; `tensors` (a dict of arrays, or TensorSemantics) are its inputs and are returned."""
    running = session.current()
    if running is not None:
        running.enter(name, named(name, tensors), sys._getframe(1))
        running.means(name, meant(tensors))
    return _passed_through(name, tensors)


def output_tensors(name: str, tensors: Any, static_outputs: Any = None, *, export_with: str | None = None,
                   backend_params: Mapping[str, Any] | None = None) -> Any:  # fmt: skip
    """The region `name` ends here; `tensors` (a dict of arrays, or TensorSemantics) are its outputs and are returned.

    static_outputs  a dict of arrays that do not hang on the inputs, and are given with the outputs
    export_with     "jit", "onnx" or "pt2": what `np2fx.compile_graph` makes of the region; None leaves it in the wiring alone
    backend_params  taken for leapp's sake, and not looked at"""
    running = session.current()
    if running is not None:
        given = {**named(name, tensors), **(named(name, static_outputs) if static_outputs is not None else {})}
        running.means(name, [*(meant(tensors) or ()), *(meant(static_outputs) or ())], "outputs")
        running.leave(name, given, export_with)
    return _passed_through(name, tensors)


def state_tensors(name: str, tensors: Mapping[str, Any]) -> Any:
    """State of the region `name`, which it keeps from call to call: inputs that `update_state` gives for the next call."""
    running = session.current()
    if running is not None:
        running.enter(name, named(name, tensors), sys._getframe(1), is_state=True)
    return _passed_through(name, tensors)


def update_state(name: str, tensors: Mapping[str, Any]) -> Any:
    """What state of the region `name` is in its next call."""
    running = session.current()
    if running is not None:
        running.update(name, named(name, tensors))
    return _passed_through(name, tensors)


def register_buffer(name: str, tensors: Any) -> Any:
    """Arrays that belong to the region `name` as weights do to a module: constants of its graph. They are returned."""
    return tuple(tensors) if isinstance(tensors, (list, tuple)) and len(tensors) > 1 else (
        tensors[0] if isinstance(tensors, (list, tuple)) else _passed_through(name, tensors))  # fmt: skip


def module(name: str, model: Any, buffer_names: list[str] | None = None) -> None:
    """The buffers of a torch module that the region `name` changes are its state: all buffers, or those of these dotted names."""
    running = session.current()
    if running is not None:
        running.module(name, model, buffer_names)


def mirror_leapp_tags(source: Any, target: Any) -> Any:
    """Says that `target`, which has the values of `source`, is the output that `source` is. Returns `target`."""
    running = session.current()
    if running is not None:
        running.same(source, target)
    return target


def method(function: Any = None, *, node_name: str | None = None, export_with: str | None = None,
           backend_params: Mapping[str, Any] | None = None) -> Any:  # fmt: skip
    """Marks a function as a node, bare or called: its inputs are named by its parameters, its outputs by what it returns.

    node_name  the node's name, if not the function's; `export_with` and `backend_params` as for `output_tensors`"""

    def mark(marked: F) -> F:
        node(marked)

        @functools.wraps(marked)
        def call(*args: Any, **kwargs: Any) -> Any:
            running = session.current()
            if running is None:
                return marked(*args, **kwargs)
            bound = inspect.signature(marked).bind(*args, **kwargs)
            return running.call(node_name or marked.__name__, marked, bound, export_with)

        call.__np2fx_original__ = marked  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return mark if function is None else mark(function)


def _passed_through(name: str, tensors: Any) -> Any:
    if not isinstance(name, str):
        raise TypeError(f"a region is named by a string, not by {type(name).__name__}")
    if meant(tensors) is not None:
        tensors = named(name, tensors)
    if not isinstance(tensors, Mapping):
        return tensors
    if not tensors:
        raise ValueError(f"region {name!r} has no arrays")
    values = tuple(tensors.values())
    return values[0] if len(values) == 1 else values
