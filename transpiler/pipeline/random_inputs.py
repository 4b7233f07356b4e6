"""`np2fx.random_inputs`: what `np2fx rewrite --random-as-input` puts above a function whose random numbers became parameters.

    def jitter_random(x):
        return {"random_1": np.random.standard_normal(x.shape)}

    @np2fx.random_inputs(jitter_random)
    @np2fx.node
    def jitter(x, *, random_1=None):
        return x + (0 + 0.1 * random_1)

Called as before, the function draws its numbers with NumPy, the same ones in the same order; called with them, it draws nothing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def random_inputs(draw: Callable[..., dict[str, Any]]) -> Callable[[F], F]:
    """Fill the parameters that hold random numbers where the caller gives none.

    draw  takes those of the function's parameters that it names, and returns the numbers by parameter"""
    wanted = tuple(inspect.signature(draw).parameters)

    def decorate(function: F) -> F:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            given = {n: v for n, v in bound.arguments.items() if v is not None}
            bound.apply_defaults()
            missing = [n for n, v in bound.arguments.items() if v is None and n.startswith("random_")]
            if missing:
                drawn = draw(**{n: bound.arguments[n] for n in wanted})
                kwargs |= {n: v for n, v in drawn.items() if n not in given}
            return function(*args, **kwargs)

        call.__np2fx_original__ = function  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate
