"""Views and moved elements: what rules that only rearrange elements share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy
import torch

from .arrays import as_tensor, bits, index_of, is_recording, is_scalar, is_swapped, runs_backwards, zero_d_array
from .dtypes import to_torch
from .table import Refused


def sizes(shape: Any) -> tuple[Any, ...]:
    """A shape as NumPy takes it (an int, or a sequence or array of ints) as a tuple of Python ints."""
    if isinstance(shape, (bool, dict, set)):
        raise TypeError(f"expected a sequence of integers or a single integer, got '{shape}'")
    if _is_computed(shape):
        return (shape,)
    if isinstance(shape, (torch.Tensor, numpy.ndarray)):
        shape = shape.tolist()
    if not isinstance(shape, Iterable):
        shape = (shape,)
    return tuple(s if _is_computed(s) else index_of(s) for s in shape)


def _is_computed(size: Any) -> bool:
    """True for a size that a graph computes."""
    return isinstance(size, torch.Tensor) and size.ndim == 0 and not size.is_floating_point() and is_recording() and is_scalar(size)


def extent(x: torch.Tensor, axis: int) -> Any:
    """The size of an axis: an int, or a 0-d int64 tensor where a graph is recorded in which it depends on values."""
    for mode in torch.overrides._get_current_function_mode_stack():
        counted = getattr(mode, "counted", None)
        size = None if counted is None else counted(x, axis)
        if size is not None:
            return size
    return x.shape[axis]


def at(x: torch.Tensor, axis: int, place: Any) -> torch.Tensor:
    """The elements at one place of an axis, which may be a 0-d tensor."""
    if not isinstance(place, torch.Tensor):
        return torch.select(x, axis, place)
    return torch.squeeze(torch.index_select(x, axis, place.reshape(1)), axis)


def owned(a: Any) -> torch.Tensor:
    """A tensor to make views of: NumPy's scalars are never viewed, what is made of them is new memory."""
    a = as_tensor(a)
    return torch.clone(a) if is_scalar(a) else a


def numpys_errors(body: Callable[..., Any]) -> Callable[..., Any]:
    """For a body that is a plain torch call: what comes in and goes wrong differently in torch.

    Sizes and axes in NumPy arrays become tuples of ints; torch's errors become NumPy's AxisError and ValueError."""
    parameter = next(iter(inspect.signature(body).parameters.values()))
    first = parameter.name
    data: int | None = 0 if first == "shape" else 1  # otherwise the first parameter is an array or arrays
    data = None if parameter.kind is parameter.VAR_POSITIONAL else data

    @functools.wraps(body)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            if data == 0 and args and isinstance(args[0], list):
                args = (tuple(args[0]), *args[1:])
            rest = () if data is None else map(_plain, args[data:])
            return body(*args[:data], *rest, **{k: x if data and k == first else _plain(x) for k, x in kwargs.items()})
        except IndexError as e:
            if isinstance(e, numpy.exceptions.AxisError) or "Dimension out of range" not in str(e):
                raise
            raise numpy.exceptions.AxisError(str(e)) from e
        except RuntimeError as e:
            if type(e) is not RuntimeError:
                raise
            raise ValueError(str(e)) from e

    return checked


def _plain(x: Any) -> Any:
    """NumPy's ints, alone or in an array, as Python's."""
    if isinstance(x, numpy.integer):
        return int(x)
    if isinstance(x, numpy.ndarray) and x.ndim == 1 and x.dtype.kind == "i":
        return tuple(x.tolist())
    return x


def giving_arrays(body: Callable[..., Any]) -> Callable[..., Any]:
    """For a body whose 0-d results are 0-d arrays in NumPy, not scalars."""

    @functools.wraps(body)
    def given(*args: Any, **kwargs: Any) -> Any:
        made = body(*args, **kwargs)
        return zero_d_array(owned(made) if any(made is x for x in args) else made)  # a scalar that is given back stays one itself

    return given


def viewing(body: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """For a body that is a plain torch view of its first parameter: what NumPy's differs in.

    A scalar is copied first; a 0-d result is a 0-d array; what stays as it is is a view all the same; errors are NumPy's."""
    first = next(iter(inspect.signature(body).parameters))
    checked = numpys_errors(body)

    @functools.wraps(body)
    def view(*args: Any, **kwargs: Any) -> torch.Tensor:
        given = args[0] if args else kwargs.pop(first)
        a = as_tensor(given)
        lone = is_scalar(a) and isinstance(given, (torch.Tensor, numpy.generic))  # of a Python number NumPy makes an array
        made: torch.Tensor = checked(owned(a), *args[1:], **kwargs)
        if made is a and not is_recording():
            made = a[...]  # its shape may be set
        return made if made.ndim or lone else zero_d_array(made)

    return view


def unless_same(body: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """For a body that takes axes away: an array that keeps all is given back itself."""

    @functools.wraps(body)
    def view(a: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        made = body(a, *args, **kwargs)
        same = isinstance(a, torch.Tensor) and a.ndim == made.ndim and not is_scalar(a) and not is_recording()
        return a if same else made

    return view


def seen_as(a: torch.Tensor, dtype: Any) -> torch.dtype:
    """The torch dtype as which the memory of `a` is to be seen. Refused where the bytes of what it stands for lie in another order."""
    if is_swapped(a):
        raise Refused("the bytes of an array that is not in the native byte order", "use the native byte order", "unsupported-dtype")
    return to_torch(dtype)


def retyped(a: torch.Tensor, target: torch.dtype) -> torch.Tensor:
    """The memory of `a` seen as another dtype, where torch's `view` does not say what NumPy's does: with no elements, with a last axis of
    one element, where the elements would not be aligned. Raises NumPy's ValueError where the bytes do not come out even."""
    old, new = a.dtype.itemsize, target.itemsize
    if old == new:
        return a.view(target)
    if a.ndim == 0:
        raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    *shape, last = a.shape
    if last != 1 and a.numel() and (a.stride(-1) != 1 or runs_backwards(a, -1)):
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if old % new if new < old else last * old % new:
        raise ValueError("When changing the size of a dtype, the new size must divide the old one, or the bytes of the last axis")
    if a.numel() == 0:
        return torch.empty((*shape, last * old // new), dtype=target, device=a.device)
    if last == 1:
        a = a.as_strided(a.shape, (*a.stride()[:-1], 1))
    try:
        return a.view(target)
    except RuntimeError:
        raise Refused(f"{target} over memory that is not aligned for it", "copy the array first", "aliasing") from None


def gather(a: torch.Tensor, axis: int, index: Any) -> torch.Tensor:
    """torch.index_select for all dtypes. `index` is an int64 tensor, or positions known when tracing."""
    if not isinstance(index, torch.Tensor):
        index = torch.tensor([int(p) for p in index], dtype=torch.int64, device=a.device)
    return torch.index_select(bits(a), axis, index).view(a.dtype) if bits(a) is not a else torch.index_select(a, axis, index)
