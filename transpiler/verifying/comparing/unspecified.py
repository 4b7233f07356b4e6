"""Answers that NumPy leaves open: the order of equal elements in an unstable sort, searches in what is not sorted.

`argsort` without `kind="stable"` may give equal elements in any order, and which one NumPy gives hangs on the
processor. A rule that gives them in another order is right. So where results differ, the original is run again on
arrays that sort stably (`Settled`): what torch gives must be that, or NumPy's answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .running import Outcome, run

Array = np.ndarray[Any, Any]
_seen: list[set[str]] = []


class Settled(Array):
    """An array whose sorts are stable, whose partitions are sorts, and which notes where an answer is left open."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        settled = _SETTLED.get(func)
        if settled is not None:
            return settled(*args, **kwargs)
        return super().__array_function__(func, types, args, kwargs)

    def argsort(self, axis: Any = -1, kind: Any = None, order: Any = None, **more: Any) -> Any:
        return _argsort(self, axis, kind, order, **more)

    def argpartition(self, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
        return _argpartition(self, kth, axis, kind, order)

    def partition(self, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> None:
        _plain(self)[...] = _partition(self, kth, axis, kind, order)

    def searchsorted(self, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        return _searchsorted(self, v, side, sorter)


def _plain(x: Any) -> Array:
    return np.asarray(x)


def _note(what: str) -> None:
    if _seen:
        _seen[-1].add(what)


def _argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    _note("ties")
    return np.argsort(_plain(a), axis=axis, kind="stable").view(Settled)


def _argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    np.argpartition(_plain(a), kth, axis)  # raises what NumPy raises
    return _argsort(a, axis)


def _partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    np.partition(_plain(a), kth, axis)
    _note("ties")
    return np.sort(_plain(a), axis).view(Settled)


def _searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    found = _plain(a) if sorter is None else np.take(_plain(a), _plain(sorter))
    if not _in_order(found, strictly=False):
        _note("undefined")
    return np.searchsorted(_plain(a), _plain(v), side, None if sorter is None else _plain(sorter))


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is None and not _in_order(_plain(xp), strictly=True):
        _note("undefined")
    return np.interp(_plain(x), _plain(xp), _plain(fp), left, right, period)


def _in_order(x: Array, strictly: bool) -> bool:
    """Sorted as NumPy sorts, nan last."""
    ordered = np.sort(x)
    same = bool(np.array_equal(ordered, x, equal_nan=x.dtype.kind in "fc"))
    return same and not (strictly and bool((ordered[1:] == ordered[:-1]).any()))


_SETTLED: dict[Any, Callable[..., Any]] = {
    np.argsort: _argsort,
    np.argpartition: _argpartition,
    np.partition: _partition,
    np.searchsorted: _searchsorted,
    np.interp: _interp,
}


def settled(fn: Callable[..., Any], arguments: Mapping[str, Any]) -> tuple[Outcome, set[str]]:
    """The original on arrays that sort stably, and what it left open: "ties", "undefined" (a search in unsorted values)."""
    with _noting() as seen:
        outcome = run(fn, fn, {name: _settle(value) for name, value in arguments.items()}, torch_side=False)
    return outcome, seen


@contextlib.contextmanager
def _noting() -> Iterator[set[str]]:
    _seen.append(set())
    try:
        yield _seen[-1]
    finally:
        _seen.pop()


def _settle(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(Settled)
    if isinstance(value, Mapping):
        return {key: _settle(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_settle, value))
    return type(value)(map(_settle, value)) if type(value) in (list, tuple) else value
