"""Slices whose bounds are computed: `b[i : i + 2]` with `i = int(a[0])`, in a graph.

Where the length is the same for all values, as the bounds differ by a constant, the elements are gathered from clamped positions; at
the ends, where NumPy gives fewer, an assertion of the graph fails. Any other slice is a mask of positions, of a size that hangs on values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy
import torch
from torch import fx

from ...semantics.arrays import demand
from ..sizes.traced import TracedSize
from ..state import is_traced
from .number import TracedNumber, settled

if TYPE_CHECKING:
    from ..recording.recorder import Recorder
    from ..tracer import Tracer

_OTHER_LENGTH = "a slice with computed bounds has another length than when it was traced: it reaches beyond the end of the array"


def _is_computed(bound: Any) -> bool:
    return is_traced(bound) and type(bound) is not TracedSize


def has_window(key: Any) -> bool:
    """Whether a key has a slice in it with a bound that is traced."""
    return any(type(k) is slice and any(map(_is_computed, (k.start, k.stop, k.step))) for k in (key if type(key) is tuple else (key,)))


def plain(tracer: Tracer, key: Any) -> Any:
    """The key with plain bounds where they are constants after all; single elements of arrays as scalars."""
    if type(key) is tuple:
        return tuple(plain(tracer, k) for k in key)
    if type(key) is not slice:
        return key
    bounds = [settled(b) if type(b) is TracedNumber else b for b in (key.start, key.stop, key.step)]
    return slice(*(b._value if _is_computed(b) and (tracer.is_constant(b) or tracer.settle(b)) else b for b in bounds))


def taken(tracer: Tracer, a: torch.Tensor, key: Any, real: Any, take: Callable[[torch.Tensor, Any], Any]) -> Any:
    """`a[key]`: the slices with computed bounds first, then `take(rest, key)` with what is left of the key.

    key    torch's side: bounds are tensors
    real   NumPy's side, which tells the lengths"""
    cuts, key = _cuts(tracer, a, key, real)
    for cut in cuts:
        a = cut.of(a)
    return take(a, key)


def put(tracer: Tracer, a: torch.Tensor, key: Any, real: Any, write: Callable[[torch.Tensor, Any], torch.Tensor]) -> torch.Tensor:
    """The new value of `a` after `a[key] = ...`, which `write` does for what the slices with computed bounds select."""
    cuts, key = _cuts(tracer, a, key, real)
    steps = [a]
    for cut in cuts:
        steps.append(cut.of(steps[-1]))
    new = write(steps[-1], key)
    for cut, before in zip(reversed(cuts), reversed(steps[:-1]), strict=True):
        new = cut.into(before, new)
    return new


class _Cut:
    """One slice along one axis: `index` are the positions where the length is fixed, else a mask of them."""

    def __init__(self, axis: int, index: torch.Tensor) -> None:
        self.axis, self.index = axis, index
        self.key: Any = (*(slice(None),) * axis, index)

    def of(self, a: torch.Tensor) -> torch.Tensor:
        return a[self.key] if self.index.dtype == torch.bool else torch.index_select(a, self.axis, self.index)

    def into(self, a: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
        if self.index.dtype != torch.bool:
            return torch.index_copy(a, self.axis, self.index, part)
        rows = torch.movedim(a, self.axis, 0) if self.axis else a
        filled = torch.index_put(rows, (self.index,), torch.movedim(part, self.axis, 0) if self.axis else part)
        return torch.movedim(filled, 0, self.axis) if self.axis else filled


def _cuts(tracer: Tracer, a: torch.Tensor, key: Any, real: Any) -> tuple[list[_Cut], Any]:
    """What the slices with computed bounds select, and the key that is left for that."""
    parts, reals = (x if type(x) is tuple else (x,) for x in (key, real))
    cuts, left, axis = [], list(parts), 0
    used = sum(map(_dims, reals))
    for n, (part, is_real) in enumerate(zip(parts, reals, strict=True)):
        if type(part) is slice and any(isinstance(b, torch.Tensor) for b in (part.start, part.stop, part.step)):
            cuts.append(_Cut(axis, _index(tracer, a, axis, part, is_real)))
            left[n] = slice(None)
        axis += a.ndim - used if is_real is Ellipsis else _dims(is_real)
    return cuts, tuple(left) if type(key) is tuple else left[0]


def _dims(part: Any) -> int:
    """How many axes a part of a key stands for; an ellipsis for none."""
    if part is None or part is Ellipsis or isinstance(part, (bool, numpy.bool_)):
        return 0
    array = numpy.asarray(part) if isinstance(part, (list, numpy.ndarray)) else None
    return array.ndim if array is not None and array.dtype == bool else 1


def _index(tracer: Tracer, a: torch.Tensor, axis: int, s: slice, real: slice) -> torch.Tensor:
    if tracer.recorder.is_loose(a):
        tracer.loose_size()
    if isinstance(s.step, torch.Tensor):
        tracer.leave(_told(s.step), "python-value", "the step of a slice")
    size, step = a.shape[axis], 1 if s.step is None else operator.index(s.step)
    low, high = (0, size) if step > 0 else (-1, size - 1)
    start = _clipped(s.start, low if step > 0 else high, size, low, high)
    stop = _clipped(s.stop, high if step > 0 else low, size, low, high)
    count = len(range(*real.indices(size)))
    if s.start is not None and s.stop is not None and same_length(tracer.recorder, s.start, s.stop):
        distance = stop - start if step > 0 else start - stop
        whole = torch.clamp(torch.div(distance + (abs(step) - 1), abs(step), rounding_mode="floor"), min=0)
        demand(whole == count, ValueError(_OTHER_LENGTH))
        return torch.clamp(start + torch.arange(0, count * step, step), 0, max(size - 1, 0))
    places = torch.arange(size)
    if step < 0:
        tracer.fail("python-value", "a slice that runs backwards between computed bounds", "take it forwards, and flip it: x[a:b][::-1]")
    mask = (places >= start) & (places < stop)
    return mask if step == 1 else mask & (torch.remainder(places - start, step) == 0)


def _told(x: torch.Tensor) -> TracedNumber:
    return TracedNumber(0, x)


def _clipped(bound: Any, default: int, size: int, low: int, high: int) -> Any:
    """A bound as NumPy reads it: negative ones count from the end, and none is beyond an end."""
    if bound is None:
        return torch.tensor(default)
    place = bound.to(torch.int64) if isinstance(bound, torch.Tensor) else torch.tensor(operator.index(bound))
    return torch.clamp(torch.where(place < 0, place + size, place), low, high)


# Is the length fixed?


def same_length(recorder: Recorder, start: Any, stop: Any) -> bool:
    """Whether two integers differ by a constant, whatever they are."""
    ends = [_linear(recorder, x, 0) for x in (start, stop)]
    return ends[0][0] == ends[1][0]


def _linear(recorder: Recorder, x: Any, depth: int) -> _Sum:
    """An integer of the graph as a sum of multiples of nodes, and a constant."""
    node = recorder.node(x) if isinstance(x, torch.Tensor) else x
    if not isinstance(node, fx.Node):
        return {}, _constant(x)
    if node.op == "get_attr":
        held = next((t for n, t in recorder.constants().items() if n is node), None)
        if held is not None and held.numel() == 1:
            return {}, _constant(held)
    name = getattr(node.target, "__name__", str(node.target))
    if depth < 50 and name in _LINEAR and not node.kwargs and all(isinstance(a, (fx.Node, int)) for a in node.args):
        found = _LINEAR[name]([_linear(recorder, a, depth + 1) for a in node.args])
        if found is not None:
            return {n: k for n, k in found[0].items() if k}, found[1]
    if depth < 50 and name in _SAME and isinstance(node.args[0], fx.Node):
        return _linear(recorder, node.args[0], depth + 1)
    return {_named(recorder, node, 0): 1}, 0


def _named(recorder: Recorder, node: Any, depth: int) -> Any:
    """A key that nodes share which compute the same from the same nodes: `a[1]` twice is one number."""
    if isinstance(node, (list, tuple)):
        return type(node), tuple(_named(recorder, n, depth) for n in node)
    if isinstance(node, slice):
        return slice, _named(recorder, (node.start, node.stop, node.step), depth)
    if not isinstance(node, fx.Node):
        return type(node), str(node)
    if depth > 8 or node.op not in ("call_function", "call_method") or node.kwargs or node.meta.get("writes"):
        return node
    return node.target, _named(recorder, node.args, depth + 1)


def _constant(x: Any) -> int:
    with torch._C.DisableTorchFunction():
        return int(x)


_SAME = frozenset(("clone", "to", "_to_copy", "reshape", "squeeze", "view", "positive", "clone_"))
"""Calls that leave a single number what it is; a cast of a float is one of its own (see `number.whole`)."""

_Sum = tuple[dict[Any, int], int]


def _added(a: _Sum, b: _Sum, sign: int = 1) -> _Sum:
    return {n: a[0].get(n, 0) + sign * b[0].get(n, 0) for n in {**a[0], **b[0]}}, a[1] + sign * b[1]


def _times(parts: list[_Sum]) -> _Sum | None:
    for factor, other in (parts, parts[::-1]):
        if not factor[0]:
            return {n: k * factor[1] for n, k in other[0].items()}, other[1] * factor[1]
    return None


_LINEAR: dict[str, Callable[[list[_Sum]], _Sum | None]] = {
    **dict.fromkeys(("add", "__add__", "__radd__"), lambda p: _added(p[0], p[1])),
    **dict.fromkeys(("sub", "__sub__", "subtract"), lambda p: _added(p[0], p[1], -1)),
    "mul": _times, "__mul__": _times, "multiply": _times, "neg": lambda p: _added(({}, 0), p[0], -1),
}  # fmt: skip
