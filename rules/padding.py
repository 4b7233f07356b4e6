"""numpy.pad in all its modes.

Axes are padded one after the other, each with what was padded before, so that corners come out as NumPy's. Modes that only
repeat elements (edge, reflect, symmetric, wrap) are index gathers; the index is NumPy's own padding of `arange`.
"""

from __future__ import annotations

import numpy
import torch

from ..semantics.arrays import as_tensor, beside, cast, demand_fit, flip, holds_tensor, index_of, is_size, known, zero_d_array
from ..semantics.dtypes import to_numpy
from ..semantics.entering import rule
from ..semantics.indexing import incoming_value
from ..semantics.table import Refused
from ..semantics.views import gather
from .arithmetic import multiply, subtract
from .creation import linspace
from .joining import resized
from .reductions import max as largest
from .reductions import mean
from .reductions import min as smallest
from .statistics import median

_PARAMETERS = {
    "constant": "constant_values", "empty": None, "edge": None, "wrap": None, "linear_ramp": "end_values", "maximum": "stat_length",
    "minimum": "stat_length", "mean": "stat_length", "median": "stat_length", "reflect": "reflect_type", "symmetric": "reflect_type",
}  # fmt: skip
_STATISTICS = {"maximum": largest, "minimum": smallest, "mean": mean, "median": median}

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
    if set(kwargs) - {_PARAMETERS[mode]}:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(kwargs) - {_PARAMETERS[mode]}}")
    if mode not in ("constant", "empty"):
        for axis, width in enumerate(widths):
            if a.shape[axis] == 0 and any(width):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        if a.numel():
            return zero_d_array(_pad_axes(a, widths, mode, kwargs))
    return zero_d_array(_pad_constant(a, widths, kwargs.get("constant_values", 0)))

def _pad_axes(a, widths, mode, kwargs):
    padded = torch.clone(a)
    ends, length = _pairs(kwargs.get("end_values", 0), a.ndim), kwargs.get("stat_length")
    lengths = a.ndim * [(None, None)] if length is None else _counts(numpy.round(known(length)).astype(numpy.intp), a.ndim)
    odd = kwargs.get("reflect_type", "even") == "odd"
    for axis, (left, right) in enumerate(widths):
        if mode == "linear_ramp":
            padded = _pad_ramp(padded, axis, left, right, ends[axis])
        elif mode in _STATISTICS:
            padded = _pad_statistic(padded, axis, left, right, lengths[axis], mode)
        elif odd and mode in ("reflect", "symmetric") and a.shape[axis] > 1:
            padded = _pad_odd(padded, axis, left, right, mode == "symmetric")
        elif left or right:
            padded = gather(padded, axis, _positions(a.shape[axis], left, right, mode))
    return padded

def _positions(n, left, right, mode):
    """Which of `n` elements stand where. `mode` is one that repeats what there is."""
    if not any(map(is_size, (n, left, right))):
        return numpy.pad(numpy.arange(n), (left, right), mode)
    place = torch.arange(-left, n + right)
    if mode == "edge" or n == 1:
        return torch.clamp(place, min=0, max=n - 1)
    if mode == "wrap":
        return torch.remainder(place, n)
    turn = 2 * n if mode == "symmetric" else 2 * (n - 1)
    place = torch.remainder(place, turn)
    return torch.minimum(place, (turn - 1 if mode == "symmetric" else turn) - place)

def _widths(pad_width, ndim):
    """A (before, after) pair of ints for every axis. Raises TypeError for floats, ValueError for negative or too many."""
    if _holds_size(pad_width):
        return _sized_widths(pad_width, ndim)
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = (width, width) if isinstance(width, int) else width
            if not isinstance(width, int) and not (isinstance(width, tuple) and [isinstance(w, int) for w in width] == [True, True]):
                raise AssertionError(f"Expected code to be unreachable, but got: {width!r}")
        pad_width = pairs
    elif isinstance(pad_width, (list, tuple)):
        pad_width = [[known(w) for w in p] if isinstance(p, (list, tuple)) else known(p) for p in pad_width]
    widths = numpy.asarray(known(pad_width))
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    return _counts(widths, ndim)

def _holds_size(x):
    return any(map(_holds_size, x)) if isinstance(x, (list, tuple)) else is_size(x)

def _sized_widths(pad_width, ndim):
    """The same for widths among which are sizes that a graph computes."""
    pairs = pad_width if isinstance(pad_width, (list, tuple)) else (pad_width,)
    if not any(isinstance(p, (list, tuple)) for p in pairs):
        pairs = [pairs]
    pairs = [tuple(map(index_of, p)) * (2 if len(p) == 1 else 1) for p in pairs] * (ndim if len(pairs) == 1 else 1)
    if len(pairs) != ndim or any(len(p) != 2 for p in pairs):
        raise ValueError(f"operands could not be broadcast together with remapped shapes: {pad_width} and ({ndim}, 2)")
    if any(w < 0 for p in pairs for w in p):
        raise ValueError("index can't contain negative values")
    return pairs

def _counts(values, ndim):
    if (values < 0).any():
        raise ValueError("index can't contain negative values")
    return _broadcast(values, ndim).tolist()

def _broadcast(values, ndim):
    """One value, or a pair, or a pair an axis, as an array of shape (ndim, 2)."""
    return numpy.broadcast_to(values.reshape(-1) if values.size == 1 else values, (ndim, 2))

def _pairs(values, ndim):
    """Values to pad with: a (before, after) pair of 0-d NumPy scalars or tensors for every axis."""
    if not holds_tensor(values):
        return list(_broadcast(numpy.asarray(values), ndim))
    values = as_tensor(values)
    spread = torch.broadcast_to(torch.flatten(values) if values.numel() == 1 else values, (ndim, 2))
    return [torch.unbind(pair) for pair in torch.unbind(spread)]

def _element(number, dtype):
    """A number as NumPy puts it into an array of that dtype, with the errors for what does not fit."""
    ready = numpy.empty((), to_numpy(dtype))
    ready[...] = number
    return ready.item()

def _pad_constant(a, widths, values):
    """One torch call where all sides get the same number (which torch takes as a double), else a block on each side of each axis."""
    pairs = _pairs(values, a.ndim)
    flat = [v for pair in pairs for v in pair]
    for value in flat:
        demand_fit(value, a.dtype)
    numbers = set() if holds_tensor(flat) or a.dtype.is_complex else {_element(v, a.dtype) for v in flat}
    if len(numbers) == 1 and not any(isinstance(n, int) and abs(n) > 2**53 for n in numbers):
        return torch.nn.functional.pad(a, [w for pair in reversed(widths) for w in pair], value=numbers.pop())
    padded = torch.clone(a)
    for axis, ((left, right), (before, after)) in enumerate(zip(widths, pairs, strict=True)):
        padded = _between(incoming_value(a, before), padded, incoming_value(a, after), axis, left, right)
    return padded

def _between(before, a, after, axis, left, right):
    """`a` with `left` times `before` in front of it and `right` times `after` behind."""
    before, after = torch.broadcast_to(before, resized(a, axis, left)), torch.broadcast_to(after, resized(a, axis, right))
    return torch.cat([before, a, after], axis)

def _pad_ramp(a, axis, left, right, ends):
    """Straight lines from the end values to the edges, which are not repeated; floored for ints."""
    before, after = (beside(a, as_tensor(v)) for v in ends)
    first = linspace(before, torch.select(a, axis, 0), left, False, dtype=a.dtype, axis=axis)
    last = linspace(after, torch.select(a, axis, -1), right, False, dtype=a.dtype, axis=axis)
    return torch.cat([first, a, _turned(last, axis)], axis)

def _turned(a, axis):
    """The order along one axis reversed, by a gather that all dtypes have."""
    return flip(a, (axis,))

def _pad_statistic(a, axis, left, right, lengths, mode):
    """A statistic of the elements next to each edge."""
    n = a.shape[axis]
    before, after = (n if length is None else min(length, n) for length in lengths)
    if mode in ("maximum", "minimum") and 0 in (before, after):
        raise ValueError("stat_length of 0 yields no value for padding")
    first = _statistic(torch.narrow(a, axis, 0, before), axis, mode)
    last = first if before == after == n else _statistic(torch.narrow(a, axis, n - after, after), axis, mode)
    return _between(first, a, last, axis, left, right)

def _statistic(chunk, axis, mode):
    """Rounded to the even integer for ints."""
    value = _STATISTICS[mode](chunk, axis=axis, keepdims=True)
    is_rounded = to_numpy(chunk.dtype).kind in "iu" and value.is_floating_point()
    return cast(torch.round(value) if is_rounded else value, chunk.dtype)

def _pad_odd(a, axis, left, right, include_edge):
    """Reflected values turned about the edge's value: `2 * edge - value`. Repeated until the width is filled, as NumPy does."""
    period, offset = a.shape[axis], 1 if include_edge else 0
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
    return cast(subtract(multiply(2, torch.narrow(a, axis, edge, 1)), _turned(chunk, axis)), a.dtype)
