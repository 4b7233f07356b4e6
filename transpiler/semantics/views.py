"""Views and moved elements: what rules that only rearrange elements share."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy
import torch

from .arrays import as_tensor, bits, is_recording, is_scalar, zero_d_array


def sizes(shape: Any) -> tuple[Any, ...]:
    """A shape as NumPy takes it (an int, or a sequence or array of ints) as a tuple of Python ints."""
    if isinstance(shape, (torch.Tensor, numpy.ndarray)):
        shape = shape.tolist()
    if not isinstance(shape, Iterable):
        shape = (shape,)
    return tuple(s if isinstance(s, torch.SymInt) else operator.index(s) for s in shape)


def owned(a: Any) -> torch.Tensor:
    """A tensor to make views of: NumPy's scalars are never viewed, what is made of them is new memory."""
    a = as_tensor(a)
    return torch.clone(a) if is_scalar(a) else a


def numpys_errors(body: Callable[..., Any]) -> Callable[..., Any]:
    """For a body that is a plain torch call: what comes in and goes wrong differently in torch.

    Sizes and axes in NumPy arrays become tuples of ints; torch's errors become NumPy's AxisError and ValueError."""
    first = next(iter(inspect.signature(body).parameters))
    data = 0 if first == "shape" else 1  # otherwise the first parameter is an array or arrays

    @functools.wraps(body)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return body(*args[:data], *map(_plain, args[data:]), **{k: x if data and k == first else _plain(x) for k, x in kwargs.items()})
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
        a = as_tensor(args[0] if args else kwargs.pop(first))
        made: torch.Tensor = checked(owned(a), *args[1:], **kwargs)
        if made is a and not is_recording():
            made = a[...]  # its shape may be set
        return made if made.ndim or is_scalar(a) else zero_d_array(made)

    return view


def unless_same(body: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """For a body that takes axes away: an array that keeps all is given back itself."""

    @functools.wraps(body)
    def view(a: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        made = body(a, *args, **kwargs)
        same = isinstance(a, torch.Tensor) and a.ndim == made.ndim and not is_scalar(a) and not is_recording()
        return a if same else made

    return view


def gather(a: torch.Tensor, axis: int, index: Any) -> torch.Tensor:
    """torch.index_select for all dtypes. `index` is an int64 tensor, or positions known when tracing."""
    if not isinstance(index, torch.Tensor):
        index = torch.tensor([int(p) for p in index], dtype=torch.int64, device=a.device)
    return torch.index_select(bits(a), axis, index).view(a.dtype) if bits(a) is not a else torch.index_select(a, axis, index)
