"""Outlines: which axes of a recorded tensor have a size that depends on values.

Each result whose shape depends on values has two outlines beside it: tensors without values (torch's "meta" device) that have no elements
along these axes, and a great many. What is computed of such results is computed of their outlines as well. The axes along which an outline
and its tensor differ are those whose sizes depend on values; all others are as fixed as without it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

Outline = tuple[Any, Any] | None
"""What is known of a result, once for few elements and once for many. None where nothing is: any axis may have another size."""

_MANY = 1_000_003
_FILLED: dict[str, Callable[..., Any]] = {"arange": torch.arange, "zeros": torch.zeros, "ones": torch.ones, "full": torch.full}


class Outlines:
    """The outlines of one recording, by the ids of its tensors."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], Outline]] = {}

    def of(self, x: torch.Tensor) -> Outline:
        """The outlines of a tensor; itself twice where its sizes are fixed."""
        tensor, outline = self._known.get(id(x), (None, None))
        return outline if tensor is not None and tensor() is x else (x, x)

    def axes(self, x: torch.Tensor) -> list[bool]:
        """For each axis whether its size depends on values."""
        outline = self.of(x)
        with torch._C.DisableTorchFunction():
            return [outline is None or any(o.shape[d] != x.shape[d] for o in outline) for d in range(x.ndim)]

    def note(self, x: torch.Tensor, outline: Outline) -> bool:
        """Whether a size of `x` depends on values, as this outline of it says."""
        with torch._C.DisableTorchFunction():
            if outline is not None and any(not isinstance(o, torch.Tensor) or o.ndim != x.ndim for o in outline):
                outline = None
            self._known[id(x)] = weakref.ref(x), outline
        return any(self.axes(x))

    def source(self, name: str, args: Any, kwargs: Any, result: Any) -> Outline:
        """The outlines of what a call gives whose sizes depend on values, laid out as its result is."""
        with torch._C.DisableTorchFunction():
            if name == "__getitem__":
                return self._masked(args[0], args[1])
            if name == "where" or (name == "nonzero" and isinstance(result, (list, tuple))):
                return _sized(result, lambda n: 0)
            if name in _FILLED:
                return self._filled(_FILLED[name], args, kwargs)
            if name in ("masked_select", "nonzero", "argwhere", "bincount", "unique_consecutive"):
                return _sized(result, lambda n: 0) if isinstance(result, torch.Tensor) else None
            if name in ("unique", "_unique2"):
                axis = kwargs.get("dim", args[4] if len(args) > 4 else None) or 0
                inverse = kwargs.get("return_inverse", len(args) > 2 and args[2])
                return _sized(result, lambda n: axis if n == 0 else None if n == 1 and inverse else 0)
            if name == "repeat_interleave":
                return _sized(result, lambda n: kwargs.get("dim", args[2] if len(args) > 2 else None) or 0)
        return None

    def _filled(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Outline:
        """What is made in a shape that is computed."""

        def sized(x: Any, size: int) -> Any:
            if isinstance(x, (list, tuple)):
                return type(x)(sized(i, size) for i in x)
            return size if isinstance(x, torch.Tensor) and x.ndim == 0 else x

        kwargs = {k: v for k, v in kwargs.items() if k != "device"}
        return self._both(lambda few, many, n, **k: function(*(many if n else few), device="meta", **k),
                          (sized(args, 0), sized(args, _MANY)), kwargs, numbered=True)  # fmt: skip

    def _masked(self, a: torch.Tensor, key: Any) -> Outline:
        """`a[key]` with masks in the key, which select nothing, or a lot."""

        def parts(count: int) -> list[Any]:
            found: list[Any] = []
            for part in key if isinstance(key, tuple) else (key,):
                mask = isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8)
                found += [torch.empty(count, dtype=torch.int64, device="meta")] * part.ndim if mask else [part]
            return found

        return self._both(lambda a, few, many, n: a[tuple(many if n else few)], (a, parts(0), parts(_MANY)), {}, numbered=True)

    def derived(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Outline:
        """The outlines of what `function` gives for tensors of which some have outlines."""
        with torch._C.DisableTorchFunction():
            return self._both(function, args, {k: v for k, v in kwargs.items() if k != "device"})

    def _both(self, function: Callable[..., Any], args: Any, kwargs: Any, numbered: bool = False) -> Outline:
        try:
            few, many = (function(*(self._outlined(x, n) for x in args), *([n] if numbered else []),
                                  **{k: self._outlined(v, n) for k, v in kwargs.items()}) for n in (0, 1))  # fmt: skip
        except Exception:  # sizes that do not go together, values that are asked for
            return None
        return few, many

    def _outlined(self, x: Any, which: int) -> Any:
        if isinstance(x, torch.Tensor):
            outline = self.of(x)
            if outline is None:
                raise ValueError
            return _bare(outline[which])
        if isinstance(x, (list, tuple)):
            made = [self._outlined(i, which) for i in x]
            return made if isinstance(x, list) else tuple(made)
        if isinstance(x, slice):
            return slice(*(self._outlined(i, which) for i in (x.start, x.stop, x.step)))
        return x


def part_of(outline: Outline, i: int) -> Outline:
    """The outlines of one of several results."""
    if outline is None or any(not isinstance(o, (list, tuple)) or i >= len(o) for o in outline):
        return None
    return outline[0][i], outline[1][i]


def _bare(x: torch.Tensor) -> torch.Tensor:
    return x if x.device.type == "meta" else torch.empty(x.shape, dtype=x.dtype, device="meta")


def _sized(result: Any, axis_of: Callable[[int], int | None]) -> Outline:
    """The outlines of results with other sizes along one axis each; None for a result whose sizes are fixed."""
    alone = isinstance(result, torch.Tensor)
    made = []
    for size in (0, _MANY):
        parts = []
        for n, x in enumerate([result] if alone else result):
            shape, axis = list(x.shape), axis_of(n)
            if axis is not None:
                shape[axis] = size
            parts.append(torch.empty(shape, dtype=x.dtype, device="meta"))
        made.append(parts[0] if alone else parts)
    return made[0], made[1]
