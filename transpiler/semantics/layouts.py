"""Results laid out in memory as NumPy lays them out.

Whether `ravel` and `reshape` give a view or a copy hangs on that, and with it where a write goes. Most of NumPy's functions keep the order
of what they are given ("K"), torch's mostly give C order. Inside of `mirrored_views`, where views and writes meet, a rule asks NumPy
itself: its own function is run on the same memory, and the result laid out like its result.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from .arrays import is_followed, is_recording, mirroring, numpy_view, on_memory, read_only, sharing
from .table import original

_asking: list[bool] = []


def laid_out(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A rule's call; what it gives as a view of its arguments stays one."""
    @functools.wraps(call)
    def arranged(*args: Any, **kwargs: Any) -> Any:
        if is_recording():
            return call(*args, **kwargs)
        if any(type(a) is numpy.ndarray for a in args):  # that objects of the program hold: what hands one back hands out its memory
            args = tuple(map(on_memory, args))
        if any(type(a) is numpy.ndarray for a in kwargs.values()):
            kwargs = {name: on_memory(a) for name, a in kwargs.items()}
        if not mirroring() or _asking or kwargs.get("out") is not None:
            return call(*args, **kwargs)
        if any(callable(x) and not isinstance(x, type) for x in (*args, *kwargs.values())):
            return call(*args, **kwargs)  # `np.apply_along_axis(f, ...)`: a function of the user's must not run twice
        _asking.append(True)
        try:
            return _arranged(lambda: original(name), call(*args, **kwargs), args, kwargs)
        finally:
            _asking.pop()

    return arranged


def method_laid_out(method: Callable[..., Any], found: Any, *args: Any, **kwargs: Any) -> Any:
    """What a ufunc's method gives, laid out as NumPy's own method lays it out."""
    return _arranged(lambda: method, found, args, kwargs) if mirroring() and not _asking and not is_recording() else found


def elementwise(found: Any, operands: tuple[Any, ...]) -> Any:
    """What a ufunc gives, laid out as NumPy's iterator (order "K") lays it out for these operands. torch follows the first one where
    they differ."""
    if not mirroring() or _asking or is_recording():
        return found
    given = [x for x in operands if isinstance(x, torch.Tensor) and x.ndim]
    if any(x.device.type != "cpu" for x in given):
        return found
    arrays = [*map(numpy_view, given), *(x for x in operands if type(x) is numpy.ndarray and x.ndim)]  # objects hold the latter
    if not arrays or (all(x.flags.c_contiguous for x in arrays) and len({x.shape for x in arrays}) == 1):
        return found
    want = of_ufunc(arrays)
    return tuple(_like(f, want, given) for f in found) if isinstance(found, tuple) else _like(found, want, given)


def like_numpys(found: Any, ask: Callable[[], Any], given: list[torch.Tensor]) -> Any:
    """`found`, laid out as what `ask` gives, NumPy's own result of the same; what is a view of `given` stays it."""
    parts = list(_tensors(found))
    if all(x.ndim < 2 or x.numel() < 2 or x.device.type != "cpu" for x in parts) or any(sharing(x, y) for x in parts for y in given):
        return found
    return _like(found, _asked(ask, (), {}), given)


def of_ufunc(arrays: list[numpy.ndarray[Any, Any]]) -> numpy.ndarray[Any, Any]:
    """An array laid out as what a ufunc gives of these (order "K")."""
    return numpy.nditer([*arrays, None], ["zerosize_ok"]).operands[-1]


def _arranged(function: Callable[[], Any], found: Any, args: Any, kwargs: Any) -> Any:
    given = list(_tensors((args, kwargs)))
    if isinstance(found, torch.Tensor) and (found.numel() < 2 or any(sharing(found, x) for x in given)):
        return found  # a view, or the `out` that was given: NumPy would write into it once more
    # NumPy's own results of what lies in C order need not do so: not even the index arrays of `np.nonzero`, the columns of one array.
    flat = not isinstance(found, tuple) and all(x.ndim < 2 and x.is_contiguous() for x in (*given, *_tensors(found)))
    if flat or any(x.device.type != "cpu" for x in given):
        return found
    return _like(found, _asked(function(), args, kwargs), given)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def _asked(function: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's own result; None where it has none for such arguments."""
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*_in_numpy(args), **_in_numpy(kwargs))
    except Exception:
        return None


def _in_numpy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return numpy_view(value)
    if isinstance(value, dict):
        return {k: _in_numpy(v) for k, v in value.items()}
    return type(value)(map(_in_numpy, value)) if type(value) in (tuple, list) else value


def _like(found: Any, want: Any, given: list[torch.Tensor]) -> Any:
    """`found` in the layout of `want`."""
    if isinstance(found, (tuple, list)) and isinstance(want, (tuple, list)) and len(found) == len(want):
        each = [_like(f, w, given) for f, w in zip(found, want, strict=True)]
        return type(found)(*each) if hasattr(found, "_fields") else type(found)(each)
    if not isinstance(found, torch.Tensor) or not isinstance(want, numpy.ndarray) or tuple(found.shape) != want.shape or want.size < 2:
        return found
    strides = [s // want.itemsize if n != 1 else 1 for s, n in zip(want.strides, want.shape, strict=True)]
    same = all(a == b or n == 1 for a, b, n in zip(strides, found.stride(), want.shape, strict=True))
    if same or min(strides) < 1 or is_followed(found) or any(sharing(found, x) for x in given):
        return found
    made = torch.empty_strided(want.shape, strides, dtype=found.dtype, device=found.device)
    made.copy_(found)
    return read_only(made) if getattr(found, "_np2fx_read_only", False) else made
