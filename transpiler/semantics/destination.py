"""`out=`: in which dtype NumPy computes what it is to put there, and what it puts there at all.

NumPy's functions differ. Ufuncs compute as without `out` and cast; sums run in a dtype common to `out` and the array; means and
deviations keep what they have so far in `out` itself, so that its dtype rounds every step.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import torch

from .arrays import demand_layout, dtype_of, is_recording, numpy_view, on_memory, sharing, store
from .dtypes import can_cast, promote, to_numpy, to_torch
from .table import Refused, Rule

# What a rule says with `into=` of how NumPy fills an `out` of another dtype than the result's:
FOLD = "fold"  # a ufunc is folded, in the dtype common to `out` and the array, and cast into any `out`
MEAN = "mean"  # a fold, divided in `out` itself
TOTAL = "total"  # a sum is kept in `out`, and all that is made of it
STEP = "step"  # results on the way are kept in `out`
OWN = "own"  # the same, from the array's own values on
BUFFER = "buffer"  # works in a copy of `out` in the result's dtype, to which it must be cast safely, and copies back whatever comes out
EXACT = "exact"  # takes an `out` of the result's dtype alone
UNSAFE = "unsafe"  # any `out` takes what comes out
_ROUNDING = (MEAN, TOTAL, STEP, OWN)
_NOT_EXACT = "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
_WAY_OUT = "give an out= of the result's dtype, or assign: y[...] = ..."


def with_out(rule: Rule) -> Callable[..., Any]:
    """The body of `rule` with NumPy's `out=`: the result is cast into the given tensor, which is then what the call returns.

    A reduction's `out` has to have the result's very shape."""
    body, parameters = rule.body, inspect.signature(rule.body).parameters
    if "out" not in parameters:
        return body
    position = sys.maxsize if parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY else list(parameters).index("out")
    casting = "unsafe" if rule.into in (FOLD, MEAN, BUFFER, UNSAFE) else "same_kind"

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if len(args) > position:
            out, args = args[position], (*args[:position], None, *args[position + 1 :])
        if out is None:
            return body(*args, **kwargs)
        if rule.kind == "joining" or (rule.kind, rule.into) == ("reduction", OWN):
            _demand_apart(rule.name, on_memory(out), args[0] if args else None)
        result = for_out(rule, out, args, kwargs)
        if rule.into == FOLD and "keepdims" not in parameters:
            demand_shape(rule.name, out, result)
        if rule.kind == "reduction" and getattr(out, "shape", result.shape) != result.shape:
            raise ValueError(f"output parameter has the wrong shape {tuple(out.shape)}, the result has {tuple(result.shape)}")
        stored = store(out, result, casting)
        return stored.clone() if rule.into == EXACT and result.ndim == 0 else stored  # these return a scalar

    return call


def demand_shape(name: str, out: Any, result: torch.Tensor) -> None:
    """Refused where an `out` has not the shape of a running result: of some NumPy fills a part, of others none."""
    if tuple(getattr(out, "shape", result.shape)) != tuple(result.shape):
        message = f"{name} with an out= of shape {tuple(out.shape)}, which is not the result's, {tuple(result.shape)}"
        raise Refused(message, "give an out= of the result's shape", "unsupported-argument")


def _demand_apart(name: str, out: Any, parts: Any) -> None:
    """Refused where what goes in lies in `out` itself: NumPy writes part after part, and reads what it has written."""
    parts = [parts] if isinstance(parts, torch.Tensor) else parts if isinstance(parts, (list, tuple)) else []
    if any(isinstance(p, torch.Tensor) and isinstance(out, torch.Tensor) and sharing(out, p) for p in parts):
        raise Refused(f"{name} into the memory of what goes in: NumPy reads what it has written", "give an out= of its own", "aliasing")


def for_out(rule: Rule, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a rule's body that goes into `out`, before the last cast. Refused where `out` would round the steps before it."""
    target = getattr(out, "dtype", None)
    if target is None:
        return rule.body(*args, **kwargs)  # `store` says what is wrong with it
    target = to_torch(target)
    array = args[0] if args else next(iter(kwargs.values()), None)
    if rule.into in (FOLD, MEAN):
        args, kwargs = _in_dtype_of(rule, target, array, args, kwargs)
    if rule.into in (MEAN, TOTAL) and target == torch.float16:
        raise Refused(f"{rule.name} with an out= of float16, in which NumPy keeps the sum", _WAY_OUT, "unsupported-dtype")
    if rule.into == OWN and dtype_of(array) != target:
        raise _rounds(rule.name, target)
    result = rule.body(*args, **kwargs)
    made = getattr(result, "dtype", target)
    if rule.into == EXACT and made == target and not is_recording() and not _is_in_order(on_memory(out)):
        raise ValueError(_NOT_EXACT)
    if made == target:
        return result
    if rule.into in _ROUNDING:
        raise _rounds(rule.name, target)
    if rule.into == EXACT:
        raise ValueError(_NOT_EXACT)
    if rule.into == BUFFER and not can_cast(target, made, "safe"):
        raise TypeError(f"Cannot cast array data from {to_numpy(target)!r} to {to_numpy(made)!r} according to the rule 'safe'")
    return result


def _is_in_order(out: Any) -> bool:
    """Whether an array lies in memory in C's order."""
    if not isinstance(out, torch.Tensor) or out.device.type != "cpu" or numpy_view(out).flags.c_contiguous:
        return True
    demand_layout(out)
    return False


def _rounds(name: str, target: torch.dtype) -> Refused:
    message = f"{name} with an out= of {to_numpy(target)}, in which NumPy keeps the result of each step"
    return Refused(message, _WAY_OUT, "unsupported-dtype")


def _in_dtype_of(
    rule: Rule, target: torch.dtype, array: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a fold with the dtype that NumPy computes in, unless the call gives one."""
    parameters = list(inspect.signature(rule.body).parameters)
    source = dtype_of(array)
    common = promote(target, source)
    if "dtype" not in parameters:  # max, min: nothing is rounded, but they may have to compare in the wider dtype
        return args, kwargs
    position = parameters.index("dtype")
    if kwargs.get("dtype") is not None or (len(args) > position and args[position] is not None):
        return args, kwargs
    if rule.into == MEAN:
        if not (source.is_floating_point or source.is_complex):
            return args, kwargs
        common = torch.promote_types(torch.float32, source) if source == torch.float16 else common
    if len(args) > position:
        return (*args[:position], common, *args[position + 1 :]), kwargs
    return args, {**kwargs, "dtype": common}


def demand_dtype(name: str, out: Any, dtype: torch.dtype) -> None:
    """Refused where a ufunc is folded into an `out` of another dtype, which decides the loop."""
    if out is not None and hasattr(out, "dtype") and to_torch(out.dtype) != dtype:
        raise _rounds(f"numpy.{name}", to_torch(out.dtype))
