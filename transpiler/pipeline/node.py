"""`np2fx.node`: marks a function as a node, with or without saying what its arguments are.

    @np2fx.node
    def normalise(x): ...

    @np2fx.node(state="float32[7]", velocity="float32[7] in [-2, 2]")
    def preprocess(state, velocity): ...

Calling a node is calling the plain NumPy function: the decorator returns the function it is given, with the specs kept
in its attribute `__np2fx_spec__` (parameter name -> spec). See `np2fx.pipeline.spec` for how specs are written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .spec import SpecError, read

F = TypeVar("F", bound=Callable[..., Any])


@overload
def node(function: F, /) -> F: ...
@overload
def node(**specs: Any) -> Callable[[F], F]: ...


def node(function: Any = None, /, **specs: Any) -> Any:
    """Mark a function as a node. Raises SpecError for a spec that cannot be read or that names no parameter."""
    if function is not None:
        function.__np2fx_spec__ = {}
        return function
    parsed = {name: read(value) for name, value in specs.items()}

    def mark(marked: F) -> F:
        parameters = inspect.signature(marked).parameters
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        unknown = [name for name in parsed if name not in parameters]
        if unknown and not takes_any:
            raise SpecError(f"{marked.__qualname__} has no parameter {unknown[0]!r}; it has {', '.join(parameters) or 'none'}")
        marked.__np2fx_spec__ = parsed  # type: ignore[attr-defined]
        return marked

    return mark
