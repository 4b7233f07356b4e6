"""`np2fx.random_inputs`: what `np2fx rewrite --random-as-input` puts above a function whose random numbers became parameters.

    def jitter_random(x):
        return np.random.standard_normal(x.shape)

    @np2fx.random_inputs(jitter_random, "random_1")
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


def random_inputs(draw: Callable[..., Any], *names: str) -> Callable[[F], F]:
    """Fill the parameters `names`, which hold random numbers, where the caller gives none.

    draw  takes those of the function's parameters that it names, and returns the numbers of all `names`: a tuple where there are several"""
    wanted = tuple(inspect.signature(draw).parameters)

    def decorate(function: F) -> F:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            if any(bound.arguments[n] is None for n in names):
                found = draw(**{n: bound.arguments[n] for n in wanted})
                drawn = dict(zip(names, found if len(names) > 1 else (found,), strict=True))
                kwargs |= {n: v for n, v in drawn.items() if bound.arguments[n] is None}
            return function(*args, **kwargs)

        call.__np2fx_original__ = function  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate
