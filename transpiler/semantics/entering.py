"""`@rule`: how a torch function becomes the rule of NumPy's. It is given what all NumPy functions share (`out=`, writing into an
argument, NumPy's errors and layouts), so a body stays pure: tensors in, a new tensor out.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy import generic

from .arrays import as_tensor, check_writable, is_scalar, keeps_read_only, on_memory, store, zero_d_array
from .destination import with_out
from .explaining import explained
from .layouts import laid_out
from .table import Rule, register


def rule(
    *names: str, kind: str, examples: tuple[str, ...] = (), writes: str | None = None, view: bool = False, into: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put a torch function in the table under NumPy's `names`.

    The body takes NumPy's parameters. Where it has `out`, the decorator handles it: the body always sees `out=None`.
    Where it `writes` a parameter, the body returns that parameter's new value and the decorator writes it.
    """

    def enter(body: Callable[..., Any]) -> Callable[..., Any]:
        made = Rule(names, body, body, kind, writes, view, examples, into)
        call = _with_writing(body, writes, names[0].startswith("numpy.ndarray.")) if writes else with_out(made)
        if inspect.isfunction(call) and not writes:
            call = laid_out(names[0], keeps_read_only(call) if view else call)
        call = explained(names[0], call) if inspect.isfunction(call) else call
        register(replace(made, call=call))
        return call

    return enter


def _with_writing(body: Callable[..., Any], parameter: str, is_method: bool) -> Callable[..., Any]:
    signature = inspect.signature(body)

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        target = on_memory(bound.arguments[parameter])
        if isinstance(target, generic):
            target = zero_d_array(as_tensor(target))  # NumPy writes into an array that nobody sees
        check_writable(target)
        if is_method and getattr(target, "ndim", None) == 0 and is_scalar(target):
            target = zero_d_array(target.clone())  # a method of a scalar writes into a copy
        bound.arguments[parameter] = target
        store(target, body(*bound.args, **bound.kwargs), casting="unsafe")

    return call
