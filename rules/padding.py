"""numpy.pad in all its modes.

Axes are padded one after the other, each with what was padded before, so that corners come out as NumPy's. Modes that only
repeat elements (edge, reflect, symmetric, wrap) are index gathers; the index is NumPy's own padding of `arange`.
"""

from __future__ import annotations

import numpy
import torch

from ..semantics.arrays import as_tensor, cast, zero_d_array
from ..semantics.dtypes import to_numpy
from ..semantics.table import Refused, rule
from .creation import known, linspace
from .shape import gather

_PARAMETERS = {
    "constant": "constant_values",
    "empty": None,
    "edge": None,
    "wrap": None,
    "linear_ramp": "end_values",
    "maximum": "stat_length",
    "minimum": "stat_length",
    "mean": "stat_length",
    "median": "stat_length",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
}


@rule("numpy.pad", kind="shape",
      examples=("np.pad(x, 1)", "np.pad(m, ((1, 2), (0, 1)), constant_values=3)", "np.pad(v, (2, 1), 'edge')", "np.pad(m, 3, 'reflect')",
                "np.pad(v, 3, 'symmetric')", "np.pad(v, (4, 9), 'wrap')", "np.pad(v, 2, 'linear_ramp', end_values=(0, 1))",
                "np.pad(v, 2, 'maximum')", "np.pad(m, {-1: (0, 2)})", "np.pad(v, (1, 2), mode='reflect', reflect_type='odd')",
                "np.pad(v, 1, 'mean', stat_length=2)"))  # fmt: skip
def pad(array, pad_width, mode="constant", **kwargs):
    """Widths: one for all, (before, after) for all, one pair an axis, or a dict by axis. They must be known when tracing."""
    a = as_tensor(array)
    widths = _widths(pad_width, a.ndim)
    if callable(mode):
        raise Refused("numpy.pad with a function as its mode is not supported", "use one of the named modes", "opaque-call")
    if mode not in _PARAMETERS:
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = set(kwargs) - {_PARAMETERS[mode]}
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if mode in ("constant", "empty"):
        return zero_d_array(_pad_constant(a, widths, kwargs.get("constant_values", 0)))
    for axis, width in enumerate(widths):
        if a.shape[axis] == 0 and any(width):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    if a.numel() == 0:
        return _pad_constant(a, widths, 0)
    return zero_d_array(_pad_axes(a, widths, mode, kwargs))


def _pad_axes(a, widths, mode, kwargs):
    padded = torch.clone(a)
    ends = _pairs(kwargs.get("end_values", 0), a.ndim)
    lengths = _lengths(kwargs.get("stat_length"), a.ndim)
    odd = kwargs.get("reflect_type", "even") == "odd"
    for axis, (left, right) in enumerate(widths):
        if mode == "linear_ramp":
            padded = _pad_ramp(padded, axis, left, right, ends[axis])
        elif mode in _STATISTICS:
            padded = _pad_statistic(padded, axis, left, right, lengths[axis], mode)
        elif left == right == 0:
            continue
        elif odd and mode in ("reflect", "symmetric") and a.shape[axis] > 1:
            padded = _pad_odd(padded, axis, left, right, mode == "symmetric")
        else:
            positions = numpy.pad(numpy.arange(a.shape[axis]), (left, right), mode)
            padded = gather(padded, axis, positions)
    return padded


def _widths(pad_width, ndim):
    """A (before, after) pair of ints for every axis. Raises TypeError for floats, ValueError for negative or too many."""
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            both = isinstance(width, tuple) and len(width) == 2 and all(isinstance(w, int) for w in width)
            if not both and not isinstance(width, int):
                raise AssertionError(f"Expected code to be unreachable, but got: {width!r}")
            pairs[axis] = width if both else (width, width)
        pad_width = pairs
    elif isinstance(pad_width, (list, tuple)):
        pad_width = [[known(w) for w in p] if isinstance(p, (list, tuple)) else known(p) for p in pad_width]
    widths = numpy.asarray(known(pad_width))
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    return _as_index(widths, ndim)


def _as_index(values, ndim):
    if (values < 0).any():
        raise ValueError("index can't contain negative values")
    return [(int(left), int(right)) for left, right in _broadcast(values, ndim)]


def _broadcast(values, ndim):
    """One value, or a pair, or a pair an axis, as an array of shape (ndim, 2)."""
    return numpy.broadcast_to(values.reshape(-1) if values.size == 1 else values, (ndim, 2))


def _pairs(values, ndim):
    """Values to pad with: a (before, after) pair of 0-d NumPy scalars or tensors for every axis."""
    if isinstance(values, torch.Tensor) or (isinstance(values, (list, tuple)) and not _is_plain(values)):
        spread = as_tensor(values)
        spread = torch.broadcast_to(torch.flatten(spread) if spread.numel() == 1 else spread, (ndim, 2))
        return [tuple(torch.unbind(pair)) for pair in torch.unbind(spread)]
    return [tuple(pair) for pair in _broadcast(numpy.asarray(values), ndim)]


def _is_plain(values):
    return not any(isinstance(v, torch.Tensor) or (isinstance(v, (list, tuple)) and not _is_plain(v)) for v in values)


def _lengths(stat_length, ndim):
    if stat_length is None:
        return [(None, None)] * ndim
    return _as_index(numpy.round(numpy.asarray(known(stat_length))).astype(numpy.intp), ndim)


def _in_dtype(value, a):
    """A constant as a Python number, cast to the dtype of `a` as NumPy's assignment casts it."""
    slot = numpy.zeros((), to_numpy(a.dtype))
    slot[...] = value
    return slot.item()


def _pad_constant(a, widths, values):
    pairs = _pairs(values, a.ndim)
    flat = [v for pair in pairs for v in pair]
    if any(isinstance(v, torch.Tensor) for v in flat) or a.dtype.is_complex or not flat:
        return _pad_blocks(a, widths, pairs)
    numbers = {_in_dtype(v, a) for v in flat}
    if len(numbers) > 1 or any(abs(n) > 2**53 for n in numbers if isinstance(n, int)):  # torch takes the value as a double
        return _pad_blocks(a, widths, pairs)
    (number,) = numbers
    around = [w for pair in reversed(widths) for w in pair]
    return torch.nn.functional.pad(a, around, value=number) if number else torch.nn.functional.pad(a, around)


def _pad_blocks(a, widths, pairs):
    """Constants that differ from side to side: a block on each side of each axis."""
    padded = torch.clone(a)
    for axis, ((left, right), (before, after)) in enumerate(zip(widths, pairs, strict=True)):
        padded = torch.cat([_block(padded, axis, left, before), padded, _block(padded, axis, right, after)], axis)
    return padded


def _block(a, axis, width, value):
    shape = (*a.shape[:axis], width, *a.shape[axis + 1 :])
    if isinstance(value, torch.Tensor):
        return torch.broadcast_to(cast(value, a.dtype).to(a.device), shape)
    return torch.full(shape, _in_dtype(value, a), dtype=a.dtype, device=a.device)


def _pad_ramp(a, axis, left, right, ends):
    """Straight lines from the end values to the edges, which are not repeated; floored for ints."""
    n = a.shape[axis]
    before, after = (v if isinstance(v, torch.Tensor) else as_tensor(v).to(a.device) for v in ends)
    first = linspace(before, torch.select(a, axis, 0), left, False, dtype=a.dtype, axis=axis)
    last = linspace(after, torch.select(a, axis, n - 1), right, False, dtype=a.dtype, axis=axis)
    return torch.cat([first, a, _turned(last, axis)], axis)


def _turned(a, axis):
    """The order along one axis reversed, by a gather that all dtypes have."""
    return gather(a, axis, range(a.shape[axis])[::-1])


_STATISTICS = {"maximum": "numpy.max", "minimum": "numpy.min", "mean": "numpy.mean", "median": "numpy.median"}


def _pad_statistic(a, axis, left, right, lengths, mode):
    """A statistic of the elements next to each edge, rounded to the even integer for ints."""
    n = a.shape[axis]
    before, after = (n if length is None else min(length, n) for length in lengths)
    if mode in ("maximum", "minimum") and 0 in (before, after):
        raise ValueError("stat_length of 0 yields no value for padding")
    first = _statistic(torch.narrow(a, axis, 0, before), axis, mode)
    last = first if before == after == n else _statistic(torch.narrow(a, axis, n - after, after), axis, mode)
    sides = [torch.broadcast_to(s, (*a.shape[:axis], w, *a.shape[axis + 1 :])) for s, w in ((first, left), (last, right))]
    return torch.cat([sides[0], a, sides[1]], axis)


def _statistic(chunk, axis, mode):
    from . import lookup

    value = lookup(_STATISTICS[mode]).call(chunk, axis=axis, keepdims=True)
    if to_numpy(chunk.dtype).kind in "iu" and value.is_floating_point():
        value = torch.round(value)
    return cast(value, chunk.dtype)


def _pad_odd(a, axis, left, right, include_edge):
    """Reflected values turned about the edge's value: `2 * edge - value`. Repeated until the width is filled, as NumPy does."""
    period = a.shape[axis]
    offset = 1 if include_edge else 0
    while left > 0 or right > 0:
        n = a.shape[axis]
        span = n // period * period if include_edge else (n - 1) // (period - 1) * (period - 1)
        before, after = min(span, left), min(span, right)
        first = _odd(a, axis, torch.narrow(a, axis, 1 - offset, before), 0)
        last = _odd(a, axis, torch.narrow(a, axis, n - 1 + offset - after, after), n - 1)
        a = torch.cat([first, a, last], axis)
        left, right = left - before, right - after
    return a


def _odd(a, axis, chunk, edge):
    from .arithmetic import multiply, subtract

    turned = subtract(multiply(2, torch.narrow(a, axis, edge, 1)), _turned(chunk, axis))
    return cast(turned, a.dtype)
