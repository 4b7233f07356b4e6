"""Axes, masks and start values: what NumPy's reductions, along one axis, several or all, take in one way."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .arrays import as_tensor, beside, cast, demand_fit, dtype_of, fits, in_dtype, is_scalar
from .dtypes import to_numpy
from .table import Refused


def on_axis(a: Any, axis: Any) -> tuple[torch.Tensor, int]:
    """The tensor and its axis counted from 0; flattened where the axis is None."""
    a = as_tensor(a)
    return (torch.flatten(a), 0) if axis is None else (a, normalize_axis_index(axis, a.ndim))


def checked_axis(axis: Any, ndim: int, scalar_axis: bool = True) -> Any:
    """`axis` as None, an int or a tuple of ints, all in range for an array of `ndim` axes.

    Raises AxisError, ValueError for an axis given twice, TypeError for what is no integer. `scalar_axis`: whether axis
    0 and -1 of a 0-d array are let through, as NumPy's ufuncs do."""
    if axis is None:
        return None
    given = axis if isinstance(axis, tuple) else (axis,)
    if any(isinstance(d, (bool, numpy.bool_)) for d in given):
        raise TypeError("an integer is required for the axis")
    axes = tuple(map(operator.index, given))
    if scalar_axis and ndim == 0 and not isinstance(axis, tuple) and axes[0] in (0, -1):
        return axes[0]
    if len({normalize_axis_index(d, ndim) for d in axes}) < len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes if isinstance(axis, tuple) else axes[0]


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The reduced axes as a sorted tuple, counted from the front."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted({d % ndim for d in given})) if ndim else ()


def axes_tuple(axis: Any, a: torch.Tensor) -> tuple[int, ...]:
    """The axes of `axis` (an int, any sequence of ints, or None for all) as a sorted tuple counted from the front.

    Raises ValueError, as NumPy's order statistics do, where several or no axes are to be merged and nothing is left beside them."""
    if axis is None:
        return tuple(range(a.ndim))
    axes = tuple(sorted(normalize_axis_tuple(axis, a.ndim)))
    if len(axes) != 1 and 0 in [n for d, n in enumerate(a.shape) if d not in axes]:
        raise ValueError("cannot reshape array of size 0")
    return axes


def merged(a: torch.Tensor, axes: tuple[int, ...]) -> torch.Tensor:
    """`a` with its `axes` (sorted) made into one last axis, the others in front of it."""
    if not axes:
        return torch.unsqueeze(a, -1)
    if len(axes) == a.ndim:
        return torch.flatten(a)
    return torch.flatten(torch.movedim(a, axes, tuple(range(-len(axes), 0))), -len(axes))


def restored(r: torch.Tensor, axes: tuple[int, ...], keepdims: bool, lead: int = 0) -> torch.Tensor:
    """`r` with the reduced `axes` back as axes of size one where `keepdims`, after `lead` axes of its own."""
    for d in axes if keepdims else ():
        r = torch.unsqueeze(r, d + lead)
    return r


def kept(keepdims: Any, truth: bool = False) -> bool:
    """`keepdims` as a bool. Raises TypeError, as NumPy's C does, for what is no integer (`np.True_`), except where any `truth` does."""
    if isinstance(keepdims, bool):
        return keepdims
    if truth:
        return bool(keepdims)
    if isinstance(keepdims, float):
        raise TypeError("integer argument expected, got float")
    if isinstance(keepdims, torch.Tensor) and keepdims.dtype == torch.bool:
        raise TypeError("'numpy.bool' object cannot be interpreted as an integer")
    number = operator.index(keepdims)
    if not -(2**31) <= number < 2**31:
        raise OverflowError("Python int too large to convert to C long")
    return bool(number)


def _argument(name: str, names: list[str], parameters: Any, args: Any, kwargs: Any) -> Any:
    """What a body is given for a parameter, after the array and the axis; None for one that it does not have."""
    if name not in names:
        return None
    position = names.index(name) - 2
    return args[position] if position < len(args) else kwargs.get(name, parameters[name].default)


def over_axes(scalar_axis: bool = True, single: bool = False, empty: str | None = None) -> Callable[..., Any]:
    """What the bodies of reductions take for granted: `a` is a tensor and `axis` is right for it.

    scalar_axis  axis 0 and -1 of a 0-d array are let through (otherwise only where there is a mask)
    single       only one axis can be given, and a 0-d array has one, of size one
    empty        the error of a reduction of no elements that has no identity and got no `initial`

    `axis=()` reduces nothing: torch takes it for all axes, so the body is given a new last axis of size one to reduce."""

    def prepare(body: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(body)
        parameters = signature.parameters
        names = list(parameters)
        keeps = names.index("keepdims") - 2 if "keepdims" in names else None

        @functools.wraps(body)
        def call(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
            a = as_tensor(a)
            if single and isinstance(axis, tuple):
                raise TypeError("'tuple' object cannot be interpreted as an integer")
            axis = checked_axis(axis, a.ndim or int(single), scalar_axis or kwargs.get("where", True) is not True)
            if keeps is not None and "keepdims" in kwargs:
                kwargs["keepdims"] = kept(kwargs["keepdims"], single)
            elif keeps is not None and len(args) > keeps:
                args = (*args[:keeps], kept(args[keeps], single), *args[keeps + 1 :])
            if "ddof" in kwargs and kwargs["ddof"] != kwargs["ddof"]:
                raise Refused("a ddof that is no number", "give the number of degrees of freedom that are lost")
            raises = empty is not None and _argument("initial", names, parameters, args, kwargs) is None
            nothing = raises and 0 in [a.shape[d] for d in axes_of(axis, a.ndim)]
            if axis != () and not nothing:
                return body(a, axis, *args, **kwargs)
            bound = signature.bind(a, axis, *args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            if nothing:
                raise ValueError(empty)
            if axis == ():
                for name in ("a", "where", "mean"):
                    if given.get(name) is not None and given[name] is not True:
                        given[name] = torch.unsqueeze(as_tensor(given[name]), -1)
                given.update(axis=-1, keepdims=False)
            return body(*bound.args, **bound.kwargs)

        return call

    return prepare


def masked(a: torch.Tensor, where: Any, fill: Any) -> torch.Tensor:
    """`a` where the mask is true, `fill` elsewhere. Raises TypeError for a mask that is no bool array."""
    if where is True:
        return a
    return torch.where(_mask(where, a), a, fill if isinstance(fill, torch.Tensor) else torch.full((), fill, dtype=a.dtype, device=a.device))


def mask_of(where: Any) -> torch.Tensor:
    """The mask that `where=` stands for: bools of a scalar, a number or a list. Raises TypeError for an array of anything else."""
    array = isinstance(where, (torch.Tensor, numpy.ndarray)) and not (isinstance(where, torch.Tensor) and is_scalar(where))
    if array and (dtype := to_numpy(dtype_of(where))).kind != "b":
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('bool') according to the rule 'safe'")
    return as_tensor(where, torch.bool)


def _mask(where: Any, a: torch.Tensor) -> torch.Tensor:
    mask = mask_of(where)
    if mask.ndim > a.ndim:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    if not fits(mask.shape, a.shape):
        raise ValueError(f"non-broadcastable operand with shape {tuple(a.shape)} doesn't match the broadcast shape of its mask")
    return beside(a, mask)


def count_of(a: torch.Tensor, axis: Any, keepdims: bool, where: Any) -> Any:
    """How many elements each result is made of: an int, or an int64 tensor where there is a mask.

    A mask of numbers counts as the sum of these, as NumPy's `_count_reduce_items` adds it up."""
    if where is True:
        return math.prod(a.shape[d] for d in axes_of(axis, a.ndim))
    _mask(where, a)
    return torch.sum(torch.broadcast_to(beside(a, cast(as_tensor(where), torch.int64)), a.shape), dim=axis, keepdim=keepdims)


def start_of(initial: Any, dtype: torch.dtype, a: torch.Tensor) -> torch.Tensor:
    """`initial` as a 0-d tensor of `dtype` beside `a`. Raises OverflowError for a Python int that `dtype` cannot hold."""
    if isinstance(initial, torch.Tensor):
        demand_fit(initial, dtype)
        return cast(initial, dtype)
    return torch.full((), in_dtype(initial, dtype), dtype=dtype, device=a.device)
