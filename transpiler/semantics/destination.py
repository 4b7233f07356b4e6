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

from .arrays import dtype_of, store
from .dtypes import can_cast, promote, to_numpy, to_torch
from .table import Refused

_FOLDS = frozenset((
    "sum", "prod", "max", "min", "trace", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "nansum", "nanprod", "nanmax", "nanmin",
    "nancumsum", "nancumprod",
))  # fmt: skip
"""They fold a ufunc, in the dtype common to `out` and the array, and put the result into an `out` of any dtype."""
_BUFFERED = frozenset(("take", "compress", "_compress_method", "argmax", "argmin", "nanargmax", "nanargmin"))
"""They work in a copy of `out` in the result's dtype, to which it must be cast safely, and copy back whatever comes out."""
_EXACT = frozenset(("dot", "multi_dot"))
"""They take an `out` of the result's dtype alone."""
_STEPWISE = frozenset((
    "mean", "var", "_var", "std", "_std", "median", "ptp", "quantile", "percentile", "round", "nanmean", "nanvar", "nanstd", "nanmedian",
    "nanquantile", "nanpercentile",
))  # fmt: skip
"""They keep the result of each step in `out`."""
_WAY_OUT = "give an out= of the result's dtype, or assign: y[...] = ..."


def with_out(body: Callable[..., Any], is_reduction: bool) -> Callable[..., Any]:
    """`body` with NumPy's `out=`: the result is cast into the given tensor, which is then what the call returns.

    A reduction's `out` has to have the result's very shape."""
    given = inspect.signature(body).parameters
    if "out" not in given:
        return body
    position = sys.maxsize if given["out"].kind is inspect.Parameter.KEYWORD_ONLY else list(given).index("out")

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if len(args) > position:
            out, args = args[position], (*args[:position], None, *args[position + 1 :])
        if out is None:
            return body(*args, **kwargs)
        result = for_out(body, out, args, kwargs)
        if is_reduction and getattr(out, "shape", result.shape) != result.shape:
            raise ValueError(f"output parameter has the wrong shape {tuple(out.shape)}, the result has {tuple(result.shape)}")
        anyhow = body.__name__ in _FOLDS | _BUFFERED | {"choose", "mean", "any", "all"}
        stored = store(out, result, "unsafe" if anyhow else "same_kind")
        return stored.clone() if body.__name__ in _EXACT and result.ndim == 0 else stored  # these return a scalar

    return call


def for_out(body: Callable[..., Any], out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a rule's body that goes into `out`, before the last cast. Refused where `out` would round the steps before it."""
    name = body.__name__
    target = getattr(out, "dtype", None)
    if target is None:
        return body(*args, **kwargs)  # `store` says what is wrong with it
    target = to_torch(target)
    array = args[0] if args else next(iter(kwargs.values()), None)
    if name in _FOLDS or name == "mean":
        args, kwargs = _in_dtype_of(body, target, array, args, kwargs)
    if name in _STEPWISE and target == torch.float16 and name not in ("ptp", "round", "quantile", "percentile"):
        raise Refused(f"numpy.{name.strip('_')} with an out= of float16, in which NumPy keeps the sum", _WAY_OUT, "unsupported-dtype")
    if name in ("round", "ptp") and dtype_of(array) != target:
        raise _rounds(name, target)
    result = body(*args, **kwargs)
    made = getattr(result, "dtype", target)
    if made == target:
        return result
    if name in _STEPWISE:
        raise _rounds(name, target)
    if name in _EXACT:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
    if name in _BUFFERED and not can_cast(target, made, "safe"):
        raise TypeError(f"Cannot cast array data from {to_numpy(target)!r} to {to_numpy(made)!r} according to the rule 'safe'")
    return result


def _rounds(name: str, target: torch.dtype) -> Refused:
    message = f"numpy.{name.strip('_')} with an out= of {to_numpy(target)}, in which NumPy keeps the result of each step"
    return Refused(message, _WAY_OUT, "unsupported-dtype")


def _in_dtype_of(
    body: Callable[..., Any], target: torch.dtype, array: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a fold with the dtype that NumPy computes in, unless the call gives one."""
    parameters = list(inspect.signature(body).parameters)
    source = dtype_of(array)
    common = promote(target, source)
    if "dtype" not in parameters:  # max, min: nothing is rounded, but they may have to compare in the wider dtype
        return args, kwargs
    position = parameters.index("dtype")
    if kwargs.get("dtype") is not None or (len(args) > position and args[position] is not None):
        return args, kwargs
    if body.__name__ == "mean":
        if not (source.is_floating_point or source.is_complex):
            return args, kwargs
        common = torch.promote_types(torch.float32, source) if source == torch.float16 else common
    if len(args) > position:
        return (*args[:position], common, *args[position + 1 :]), kwargs
    return args, {**kwargs, "dtype": common}


def demand_dtype(name: str, out: Any, dtype: torch.dtype) -> None:
    """Refused where a ufunc is folded into an `out` of another dtype, which decides the loop."""
    if out is not None and hasattr(out, "dtype") and to_torch(out.dtype) != dtype:
        raise _rounds(name, to_torch(out.dtype))
