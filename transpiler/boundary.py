"""The border of a rewritten function: arrays in, arrays out, though inside there are only tensors.

`@ops.boundary(...)` stands above every function that `np2fx rewrite` has rewritten, so that its callers need not change: given
NumPy arrays it returns NumPy arrays, given tensors it returns tensors. Called from another rewritten function it does nothing.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as _numpy
import torch

from .rules._arrays import as_tensor, is_scalar, mirrored_views, zero_d_array

F = TypeVar("F", bound=Callable[..., Any])
_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("np2fx_inside", default=False)


def boundary(numpy: bool = True, floating: tuple[str, ...] = (), numbers: tuple[str, ...] = (), mirrored: bool = False) -> Callable[[F], F]:
    """Decorates a rewritten function.

    numpy     arrays become tensors on the way in and arrays again on the way out
    floating  the parameters that the rewriting took for float32 or float64 arrays of one dtype: TypeError for others
    numbers   the parameters that it took for Python numbers: TypeError for arrays and NumPy scalars
    mirrored  writes through flipped copies and what they are flipped from are kept in step, as NumPy's views are"""

    def decorate(function: F) -> F:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            outside = not _inside.get()
            to_numpy = numpy and outside and not _holds_tensor((args, kwargs))
            if outside:
                args, kwargs = _to_tensors(args), _to_tensors(kwargs)
            if floating or numbers:
                _check(function, signature.bind(*args, **kwargs).arguments, floating, numbers)
            token = _inside.set(True)
            try:
                if mirrored:
                    with mirrored_views():
                        found = function(*args, **kwargs)
                else:
                    found = function(*args, **kwargs)
            finally:
                _inside.reset(token)
            return _to_arrays(found) if to_numpy else found

        call.__np2fx_rewritten__ = True  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def _check(function: Callable[..., Any], arguments: dict[str, Any], floating: tuple[str, ...], numbers: tuple[str, ...]) -> None:
    """The assumption that the rewriting rests on, where nothing was declared."""
    found = {n: arguments[n] for n in floating if n in arguments}
    for n, value in found.items():
        if not isinstance(value, torch.Tensor) or value.dtype not in (torch.float32, torch.float64):
            kind = f"a {value.dtype} tensor" if isinstance(value, torch.Tensor) else f"{type(value).__name__}"
            raise TypeError(f"{function.__qualname__} was rewritten for float arrays, but {n} is {kind}: declare it "
                            f'(@np2fx.node({n}="int64[...]")) and rewrite again, or rewrite with --exact')  # fmt: skip
    for n in numbers:
        if n in arguments and (not isinstance(arguments[n], (int, float)) or isinstance(arguments[n], _numpy.generic)):
            raise TypeError(f"{function.__qualname__} was rewritten for a Python number in {n}, but got {type(arguments[n]).__name__}: annotate it and rewrite again, "
                            "or rewrite with --exact")  # fmt: skip
    dtypes = {n: v.dtype for n, v in found.items()}
    if len(set(dtypes.values())) > 1:
        raise TypeError(f"{function.__qualname__} was rewritten for arrays of one float dtype, but got {dtypes}: declare them or rewrite with --exact")


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    if isinstance(value, dict):
        return any(map(_holds_tensor, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_holds_tensor, value))


def _map(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map(v, leaf) for v in value))
    if type(value) in (list, tuple):
        return type(value)(_map(v, leaf) for v in value)
    if type(value) is dict:
        return {k: _map(v, leaf) for k, v in value.items()}
    return leaf(value)


def _to_tensors(value: Any) -> Any:
    return _map(value, _to_tensor)


def _to_tensor(value: Any) -> Any:
    """An array as a tensor on its memory, so that what is written into it is written; a copy where torch cannot share."""
    if isinstance(value, torch.Tensor):
        return zero_d_array(value)
    if isinstance(value, _numpy.ndarray) and value.dtype.kind in "biufc":
        if value.flags.writeable and value.dtype.isnative and all(s >= 0 for s in value.strides):
            return zero_d_array(torch.from_numpy(value).to(torch.get_default_device()))
        return zero_d_array(as_tensor(value))
    return as_tensor(value) if isinstance(value, _numpy.generic) and value.dtype.kind in "biufc" else value


def _to_arrays(value: Any) -> Any:
    return _map(value, _to_array)


def _to_array(value: Any) -> Any:
    """A tensor as NumPy would hold it: a scalar where it is one."""
    if not isinstance(value, torch.Tensor):
        return value
    held = value.detach().resolve_conj().resolve_neg().cpu().numpy()
    return held[()] if is_scalar(value) else held
