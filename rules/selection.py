"""Choosing elements: `where`, `take`, `put`, `choose`, `select`, `piecewise` and their kin."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index as axis_of

from ..semantics.arrays import (
    as_tensor,
    cast,
    common_shape,
    demand,
    demand_fit,
    is_recording,
    is_scalar,
    is_weak,
    result_type,
    sharing,
    stands_for,
    zero_d_array,
)
from ..semantics.copying import check_cast, copied
from ..semantics.dtypes import WIDER, holding, to_numpy
from ..semantics.entering import rule
from ..semantics.indexing import FlatView, assigned, filled, incoming_value, is_counted, on_bits, picked, whole_truth
from ..semantics.table import Refused
from .indexing import getitem

# Reading

@rule("numpy.where", kind="selection", examples=(
    "np.where(k, x, y)", "np.where(x > 0, x, 0)", "np.where(x, x, 0.5)", "np.where(k)", "np.where(a, b, True)", "np.where(k, f, 1)",
))  # fmt: skip
def where(condition, x=None, y=None, /):
    """`x` where the condition is true, else `y`; with the condition alone, the positions where it is true."""
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and x.dtype == y.dtype and _is_mask(condition):
        return zero_d_array(torch.where(condition, x, y))
    if isinstance(x, torch.Tensor) and _is_mask(condition) and stands_for(y, x.dtype):
        return zero_d_array(torch.where(condition, x, y))
    if isinstance(y, torch.Tensor) and _is_mask(condition) and stands_for(x, y.dtype):
        return zero_d_array(torch.where(condition, x, y))
    if _is_mask(condition) and type(x) is int and type(y) is int:
        return zero_d_array(torch.where(condition, x, y))
    if _is_mask(condition) and type(x) is float and type(y) is float:
        return zero_d_array(torch.where(condition, torch.tensor(x, dtype=torch.float64), y))
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    dtype = result_type(x, y)
    mask = as_tensor(condition, torch.bool)
    return zero_d_array(torch.where(mask, _in_dtype(x, dtype, mask.device), _in_dtype(y, dtype, mask.device)))

def _is_mask(condition: Any) -> bool:
    return isinstance(condition, torch.Tensor) and condition.dtype == torch.bool

def _in_dtype(x: Any, dtype: torch.dtype, device: Any = None) -> torch.Tensor:
    """An operand in the common dtype. A Python int that does not fit wraps, as `astype` makes it."""
    if isinstance(x, torch.Tensor):
        return cast(x, dtype)
    if is_weak(x):
        return as_tensor(numpy.asarray(x).astype(to_numpy(dtype))).to(device)
    return as_tensor(x, dtype).to(device)

@rule("numpy.nonzero", "numpy.ndarray.nonzero", kind="selection", examples=("np.nonzero(x)", "np.nonzero(k)"))
def nonzero(a):
    """The positions of what is not zero (NaN is not): one int64 array for each axis."""
    truth = as_tensor(a, torch.bool)
    if truth.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return torch.nonzero(truth, as_tuple=True)

@rule("numpy.argwhere", kind="selection", examples=("np.argwhere(a)",))
def argwhere(a):
    """The positions of what is not zero, one row each."""
    return torch.nonzero(as_tensor(a, torch.bool))

@rule("numpy.flatnonzero", kind="selection", examples=("np.flatnonzero(a)",))
def flatnonzero(a):
    return torch.nonzero(as_tensor(a, torch.bool).flatten(), as_tuple=True)[0]

@rule("numpy.take", "numpy.ndarray.take", kind="selection", into="buffer", examples=(
    "np.take(x, i)", "np.take(x, i, axis=0)", "np.take(x, 0, axis=-1)", "np.take(x, [[0, 5]], mode='clip')",
    "np.take(x, [9, -9], axis=0, mode='wrap')",
))  # fmt: skip
def take(a, indices, axis=None, out=None, mode="raise"):
    """`a[..., indices, ...]` along `axis`; the elements of the flattened array without one. Always a copy."""
    a, index = as_tensor(a), _index(indices, "same_kind")
    a = a.reshape(-1) if axis is None or a.ndim == 0 else a  # a scalar has one axis here
    axis = axis_of(0 if axis is None else axis, a.ndim)
    if mode != "raise" and a.shape[axis] == 0 and 0 not in index.shape:
        if list(a.shape).count(0) == 1:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        return a.new_zeros((*a.shape[:axis], *index.shape, *a.shape[axis + 1 :]))
    return picked(a, _within(index, a.shape[axis], mode), axis)

def _index(indices: Any, casting: str) -> Any:
    """Indices as an int64 tensor (or a constant array). Arrays are converted where `casting` allows, others whatever they hold."""
    if is_counted(indices):
        try:
            return numpy.asarray(indices, numpy.int64)
        except (TypeError, ValueError, RuntimeError):
            indices = as_tensor(indices)
    indices = indices if isinstance(indices, torch.Tensor) else numpy.asarray(indices)
    check_cast(holding(indices), torch.int64, "unsafe" if isinstance(indices, torch.Tensor) and is_scalar(indices) else casting)
    return cast(indices, torch.int64) if isinstance(indices, torch.Tensor) else indices.astype(numpy.int64)

def _within(index: Any, size: int, mode: str) -> Any:
    """The indices brought into range as `mode` says; "raise" leaves them to be checked."""
    if mode == "raise":
        return index
    if mode not in ("clip", "wrap"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if size == 0 and 0 not in index.shape:
        raise IndexError("cannot select from an empty axis")
    return index.clip(0, size - 1) if mode == "clip" else index % max(size, 1)

@rule("numpy.take_along_axis", kind="selection", examples=(
    "np.take_along_axis(x, np.argsort(x, axis=-1, kind='stable'), axis=-1)", "np.take_along_axis(m, np.array([[0]]), axis=0)",
    "np.take_along_axis(v, np.array([0, -1]), 0)",
))  # fmt: skip
def take_along_axis(arr, indices, axis=-1):
    """For each place of `indices`, the element of `arr` at that index along `axis`; the other axes broadcast."""
    arr, indices, axis = _along(arr, indices, axis)
    wrapped = torch.where(indices < 0, indices + arr.shape[axis], indices)
    sizes, others = list(arr.shape), list(indices.shape)
    sizes[axis] = others[axis] = 1
    try:
        if sizes != others:
            common = list(common_shape(sizes, others))
            common[axis] = -1
            arr, wrapped = arr.expand(common), wrapped.expand(common)
        return along(arr, wrapped, axis)
    except (RuntimeError, ValueError) as error:
        raise IndexError(str(error)) from None

def along(a: torch.Tensor, order: torch.Tensor, axis: int) -> torch.Tensor:
    """`torch.gather` for all dtypes (`take_along_dim` does not notice indices out of bounds)."""
    if a.dtype in WIDER:
        return on_bits(lambda bits: torch.gather(bits, axis, order), a)
    return torch.gather(a, axis, order)

def _along(arr: Any, indices: Any, axis: Any) -> tuple[torch.Tensor, torch.Tensor, int]:
    arr, indices = as_tensor(arr), as_tensor(indices)
    if indices.is_floating_point() or indices.is_complex() or indices.dtype == torch.bool:
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = arr.reshape(-1), 0
    axis = axis_of(axis, arr.ndim)
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return arr, cast(indices, torch.int64).to(arr.device), axis

@rule("numpy.put_along_axis", kind="selection", writes="arr", examples=(
    "np.put_along_axis(x, np.argsort(y, axis=0, kind='stable'), y, axis=0)", "np.put_along_axis(m, np.array([[0]]), 1, axis=1)",
))  # fmt: skip
def put_along_axis(arr, indices, values, axis):
    """Write `values` where `take_along_axis` reads. Of an index given twice the last value stays."""
    target, indices, axis = _along(arr, indices, axis)
    key: list[Any] = list(numpy.indices(tuple(target.shape), sparse=True))
    key[axis] = indices
    return assigned(target, tuple(key), values).reshape(arr.shape)

@rule("numpy.put", "numpy.ndarray.put", kind="selection", writes="a", examples=(
    "np.put(x, [0, 0, -1], [1, 2])", "x.put(i, 1)", "np.put(x, i, y[0])", "np.put(x, [9, -9], [1, 0], mode='clip')",
    "np.put(x, 9, 1, mode='wrap')",
))  # fmt: skip
def put(a, ind, v, mode="raise"):
    """Write into the flattened array. Values that run out start again; of an index given twice the last value stays."""
    flat = a.reshape(-1)
    index = _within(_index(ind, "safe"), flat.shape[0], mode).reshape(-1)
    values = incoming_value(a, v).reshape(-1)
    count = index.numel() if isinstance(index, torch.Tensor) else index.size
    if values.numel() == 0 or count == 0:
        return torch.clone(a)
    values = values.reshape(()) if values.numel() == 1 else _cycled(values, count)
    return assigned(flat, index, values).reshape(a.shape)

def _cycled(values: torch.Tensor, count: int) -> torch.Tensor:
    """The first `count` of the values said over and over."""
    if values.numel() == count:
        return values
    return values[torch.tensor(numpy.arange(count) % values.numel(), device=values.device)]

@rule("numpy.place", kind="selection", writes="arr", examples=("np.place(x, k, [1, 2])", "np.place(x, k, y)"))
def place(arr, mask, vals):
    """The n-th true place of the mask gets the n-th value; values that run out start again."""
    truth = as_tensor(mask, torch.bool).reshape(-1)
    if truth.numel() != arr.numel():
        raise ValueError("place: mask and data must be the same size")
    if isinstance(vals, torch.Tensor) and sharing(arr, vals):
        raise Refused("numpy.place with values out of the array itself: NumPy reads what it has written", "copy the values first")
    values = _safely(arr, vals).reshape(-1)
    if values.numel() == 0:
        demand(torch.logical_not(torch.any(truth)), ValueError("Cannot insert from an empty array!"))
        return torch.clone(arr)
    rank = torch.remainder(torch.clamp(torch.cumsum(truth, 0) - 1, min=0), values.numel())
    return torch.where(truth, values[rank], arr.reshape(-1)).reshape(arr.shape)

def _safely(target: torch.Tensor, values: Any) -> torch.Tensor:
    """Values for `place` and `putmask`: arrays must be safe to cast, numbers and lists become what the target holds."""
    if isinstance(values, torch.Tensor) and not is_scalar(values):
        check_cast(values.dtype, target.dtype, "safe")
    return incoming_value(target, values)

@rule("numpy.putmask", kind="selection", writes="a",
      examples=("np.putmask(x, k, 1)", "np.putmask(x, k, x + x)", "np.putmask(x, k, [1, 0])"))  # fmt: skip
def putmask(a, /, mask, values):
    """Each true place gets the value at its own (flat) position in `values`; values that run out start again."""
    truth = as_tensor(mask, torch.bool)
    if truth.numel() != a.numel():
        raise ValueError("putmask: mask and data must be the same size")
    truth, ready = truth.reshape(a.shape), _safely(a, values)
    if ready.shape == a.shape or ready.ndim == 0:
        return torch.where(truth, ready, a)
    if ready.numel() == 0:
        return torch.clone(a)
    return torch.where(truth, _cycled(ready.reshape(-1), a.numel()).reshape(a.shape), a)

@rule("numpy.copyto", kind="selection", writes="dst", examples=(
    "np.copyto(x, y)", "np.copyto(x, 1)", "np.copyto(x, y, where=k)", "np.copyto(x, y, casting='unsafe')", "np.copyto(f, 0.5, where=f < 0)",
))  # fmt: skip
def copyto(dst, src, casting="same_kind", where=True):
    """The values of `src`, broadcast, where the mask is true. Raises TypeError where `casting` does not allow it."""
    return copied(dst, src, casting, where)

@rule("numpy.fill_diagonal", kind="selection", writes="a", examples=("np.fill_diagonal(m, 1)", "np.fill_diagonal(m, [1, 0], wrap=True)"))
def fill_diagonal(a, val, wrap=False):
    """The diagonal of a matrix (or a cube); values that run out start again. `wrap`: on again below, in tall matrices."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and any(n != a.shape[0] for n in a.shape):
        raise ValueError("All dimensions of input must be of equal length")
    step = 1 + sum(itertools.accumulate(a.shape[1:], operator.mul))
    end = None if wrap or a.ndim > 2 else a.shape[1] * a.shape[1]
    return FlatView(a).written(slice(None, end, step), val)

@rule("numpy.ndarray.fill", kind="selection", writes="a", examples=("x.fill(1)", "f.fill(0.5)", "x.fill(True)"))
def fill(a, value):
    """One scalar everywhere, cast to the array's dtype."""
    ready = incoming_value(a, whole_truth(a, value))
    if ready.ndim and (a.dtype != torch.bool or ready.numel() != 1):
        raise ValueError("setting an array element with a sequence.")
    demand_fit(value, a.dtype)
    return filled(a, ready.reshape(()))

@rule("numpy.choose", kind="selection", into="unsafe", examples=("np.choose(k, [x, y])", "np.choose([0, 1], [1, 2.5])",
      "np.choose(x > 0, (x, 0))", "np.choose([5, -1], [[1, 2], [3, 4]], mode='clip')"))  # fmt: skip
def choose(a, choices, out=None, mode="raise"):
    """At each place the element of the choice that `a` numbers; all broadcast. Raises ValueError for a number that is none."""
    options = list(choices) if isinstance(choices, (list, tuple)) else list(torch.unbind(as_tensor(choices)))
    number = as_tensor(_index(a, "safe"))
    if not options:
        raise ValueError("0-length sequence.")
    dtype = result_type(*options)
    number = as_tensor(_within(number, len(options), mode))
    if mode == "raise":
        demand(torch.logical_and(number >= 0, number < len(options)), ValueError("invalid entry in choice array"))
    number, *tensors = torch.broadcast_tensors(number, *(_in_dtype(o, dtype, number.device) for o in options))
    return along(torch.stack(tensors), number.unsqueeze(0), 0).squeeze(0)

@rule("numpy.ndarray.choose", kind="selection", into="unsafe", examples=("k.choose([x, y])", "k.choose(x, y, mode='wrap')"))
def ndarray_choose(a, choices, /, *more, out=None, mode="raise"):
    """The choices one by one, or all in one sequence."""
    return choose(a, (choices, *more) if more else choices, mode=mode)

@rule("numpy.select", kind="selection", examples=(
    "np.select([x > 0, k], [x, y])", "np.select([k], [x], default=7)", "np.select([k, ~k], [1, 2.5])", "np.select([f > 1], [f], -1.5)",
))  # fmt: skip
def select(condlist, choicelist, default=0):
    """At each place the choice of the first condition that is true there, or the default."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [as_tensor(c) for c in condlist]
    for n, condition in enumerate(conditions):
        if condition.dtype != torch.bool:
            raise TypeError(f"invalid entry {n} in condlist: should be boolean ndarray")
    dtype = result_type(*choicelist, default)
    result = _in_dtype(default, dtype, conditions[0].device)
    for condition, choice in zip(reversed(conditions), reversed(list(choicelist)), strict=True):
        check_cast(as_tensor(choice).dtype, dtype, "same_kind")  # a Python int counts in the dtype, and is an int64 when it is copied
        result = torch.where(condition, _in_dtype(choice, dtype, condition.device), result)
    return zero_d_array(result)

@rule("numpy.piecewise", kind="selection", examples=("np.piecewise(x, [k], [1, 0])", "np.piecewise(f, [f < 0, f >= 0], [lambda t: -t, 1])"))
def piecewise(x, condlist, funclist, *args, **kw):
    """Each function is called with the elements where its condition holds; of conditions that overlap the last counts.

    A function that no element is for is not called, except while a graph is traced: other inputs may have such elements."""
    x = as_tensor(x)
    conditions = _conditions(x, condlist)
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        conditions.append(torch.logical_not(torch.stack(torch.broadcast_tensors(*conditions)).any(0)))
    elif len(functions) != len(conditions):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected")
    y = torch.zeros_like(x)
    for condition, value in zip(conditions, functions, strict=True):
        if callable(value):
            chosen = getitem(x, condition)
            if not chosen.numel() and not is_recording():
                continue
            try:
                value = value(chosen, *args, **kw)
            except (ValueError, IndexError) as error:
                if chosen.numel():
                    raise
                hint = "trace with a sample in which every condition holds somewhere"
                raise Refused(f"no element of the sample is for one of the functions: {error}", hint, "data-dependent-shape") from None
        y = assigned(y, condition, value)
    return zero_d_array(y)

def _conditions(x: torch.Tensor, condlist: Any) -> list[torch.Tensor]:
    """The conditions as masks; a single one may stand without a list around it."""
    scalar = isinstance(condlist, torch.Tensor) and is_scalar(condlist)
    single = scalar or not isinstance(condlist, (list, tuple, torch.Tensor, numpy.ndarray))
    if not single and getattr(condlist, "ndim", 1) == 0:
        raise IndexError("too many indices for array: array is 0-dimensional, but 1 were indexed")
    if not single and x.ndim:
        first = condlist[0] if len(condlist) else None
        single = not isinstance(first, (list, numpy.ndarray)) and not (isinstance(first, torch.Tensor) and not is_scalar(first))
    return [as_tensor(c, torch.bool).to(x.device) for c in ([condlist] if single else condlist)]

@rule("numpy.compress", kind="selection", into="buffer",
      examples=("np.compress([1], x)", "np.compress(np.array([True]), x, axis=0)", "np.compress(k.ravel(), x)"))  # fmt: skip
def compress(condition, a, axis=None, out=None):
    """The slices along `axis` at which the condition, one truth for each, holds. It may be shorter than the axis."""
    truth = as_tensor(condition, torch.bool) if isinstance(condition, torch.Tensor) else numpy.asarray(condition).astype(bool)
    if truth.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    found = torch.nonzero(truth, as_tuple=True)[0] if isinstance(truth, torch.Tensor) else numpy.flatnonzero(truth)
    a = as_tensor(a)
    a = a.reshape(-1) if axis is None or a.ndim == 0 else a  # a 0-d array has one axis here
    return picked(a, found, 0 if axis is None else axis_of(axis, a.ndim))

@rule("numpy.ndarray.compress", kind="selection", into="buffer", examples=("x.compress([True], axis=0)",))
def _compress_method(a, condition, axis=None, out=None):
    return compress(condition, a, axis)

@rule("numpy.extract", kind="selection", examples=("np.extract(k, x)", "np.extract(x > 0, x)"))
def extract(condition, arr):
    """The elements of the flattened array at which the flattened condition is true."""
    truth = as_tensor(condition, torch.bool).reshape(-1)
    return picked(as_tensor(arr).reshape(-1), torch.nonzero(truth, as_tuple=True)[0], 0)
