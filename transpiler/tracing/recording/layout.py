"""How an array lies in memory, as far as NumPy's results hang on it: which axes run together, and in which order."""

from __future__ import annotations

from typing import Any

import numpy
import torch


def layout_of(x: Any) -> tuple[int, ...] | None:
    """Strides, in elements, of an array that lies like `x`; None for the usual C order.

    Two arrays of one shape with the same result are views, copies and flat orders in the same places: of the strides it counts
    which axis is the finer one, whether one goes on where the other ends, and the direction."""
    if isinstance(x, torch.Tensor):
        if x.layout != torch.strided or torch._C._functorch.is_functorch_wrapped_tensor(x) or x.is_contiguous():
            return None
        return _gauged(tuple(x.shape), x.stride(), 1)
    if not isinstance(x, numpy.ndarray) or x.flags.c_contiguous:
        return None
    return _gauged(x.shape, x.strides, x.itemsize)


def _gauged(shape: tuple[int, ...], strides: tuple[int, ...], unit: int) -> tuple[int, ...]:
    made = [1] * len(shape)
    end = unit
    width = 1  # in the result, of what lies within one step of the next axis
    for axis in sorted((i for i, n in enumerate(shape) if n > 1), key=lambda i: (abs(strides[i]), -i)):
        step = abs(strides[axis])
        if step == 0:
            made[axis] = 0
            continue
        wide = width if step == end else width + 1
        made[axis] = wide if strides[axis] > 0 else -wide
        end, width = step * shape[axis], wide * shape[axis]
    return tuple(made)


def laid_out(x: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """A copy that lies in memory as `x` does."""
    made = numpy.array(x)
    layout = layout_of(x)
    if layout == layout_of(made) or not made.size:
        return made
    steps = layout if layout is not None else tuple(s // x.itemsize for s in x.strides)
    reach = [s * (n - 1) for s, n in zip(steps, x.shape, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    memory = bytearray((high - low + 1) * x.itemsize)
    held: numpy.ndarray[Any, Any] = numpy.ndarray(x.shape, x.dtype, memory, -low * x.itemsize, tuple(s * x.itemsize for s in steps))
    held[...] = x
    return held


def laid_out_tensor(x: torch.Tensor) -> torch.Tensor:
    """The same for a tensor."""
    made = x.detach().clone()
    layout = layout_of(x)
    if layout is None or layout == layout_of(made):
        return made
    return torch.empty_strided(tuple(x.shape), layout, dtype=x.dtype, device=x.device).copy_(x.detach())
