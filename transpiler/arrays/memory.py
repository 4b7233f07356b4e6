"""The memory of an array as NumPy sees it: views, strides, and axes that run backwards.

torch has no negative strides. An array that runs backwards is kept as the tensor of its memory and the axes that are flipped in it; what
is a view of such an array, and how that lies in memory, is NumPy's answer: its own function is run on the same memory.
"""

from __future__ import annotations

import contextlib
import operator
from typing import Any

import numpy
import torch

from ..semantics.arrays import flip, is_read_only, read_only, zero_d_array
from ..semantics.dtypes import to_torch
from ..semantics.table import Refused


def is_host(tensor: torch.Tensor) -> bool:
    """True where NumPy can look at the memory of a tensor: on the CPU, with no gradient hanging on it."""
    return type(tensor) is torch.Tensor and tensor.device.type == "cpu" and not tensor.requires_grad


def seen_by_numpy(tensor: torch.Tensor, flipped: tuple[int, ...] = ()) -> numpy.ndarray[Any, Any]:
    """The memory of a tensor as a NumPy array. Raises Refused where NumPy cannot look at it."""
    if not is_host(tensor):
        where = f"lies on the device {tensor.device}" if tensor.device.type != "cpu" else "is part of a gradient"
        hint = "use .detach() and .cpu() of its tensor first"
        raise Refused(f"NumPy would read the memory of an array that {where}", hint, "opaque-call")
    array = tensor.resolve_conj().resolve_neg().numpy()
    if flipped:
        array = numpy.flip(array, flipped)
    if is_read_only(tensor):
        array.flags.writeable = False
    return array


def as_key(key: Any) -> Any:
    """A key, in which what is an array and an index alike is an index, as NumPy takes it."""
    kind = type(key)
    if kind is tuple:
        return tuple(map(as_key, key))
    alike = hasattr(kind, "__index__") and hasattr(kind, "__array__")
    return operator.index(key) if alike and not isinstance(key, (numpy.ndarray, numpy.generic, torch.Tensor)) else key


def is_spread(a: torch.Tensor) -> bool:
    """Whether each element of a tensor lies at a place of its own."""
    if a.is_contiguous():
        return True
    reach = 0
    for stride, n in sorted(zip(a.stride(), a.shape, strict=True)):
        if n > 1:
            if stride <= reach:
                return not a.numel()
            reach += stride * (n - 1)
    return True


def apart(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors certainly lie on memory of their own."""
    return a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr()


def values_of(tensor: torch.Tensor) -> numpy.ndarray[Any, Any]:
    """The values of a tensor for text, numbers and comparisons: a copy where NumPy cannot look at the memory."""
    return tensor.detach().resolve_conj().resolve_neg().cpu().numpy()


def from_memory(array: numpy.ndarray[Any, Any]) -> tuple[torch.Tensor, tuple[int, ...]]:
    """A tensor on the memory of a NumPy array, and the axes that are flipped in it. Raises Refused where torch has no such dtype, or cannot
    lie there: elements in a foreign byte order, or at places that are no multiples of their size, at which torch crashes."""
    to_torch(array.dtype)
    if array.flags.carray and array.size and array.ndim and array.dtype.isnative:
        with contextlib.suppress(ValueError):  # axes of one element may have any stride
            made = torch.from_numpy(array)
            if not made.data_ptr() % array.itemsize:
                return made, ()
    flipped = tuple(d for d, (stride, n) in enumerate(zip(array.strides, array.shape, strict=True)) if stride < 0 and n > 1)
    forward = numpy.flip(array, flipped) if flipped else array
    if any(s < 0 for s in forward.strides):  # an axis of at most one element, whose stride is nothing
        forward = numpy.lib.stride_tricks.as_strided(forward, strides=[max(s, 0) for s in forward.strides])
    if not array.dtype.isnative or any(s % array.itemsize for s in forward.strides):
        raise Refused("torch cannot lie on memory whose elements overlap or are in a foreign byte order", "use a copy", "opaque-call")
    made = torch.from_numpy(forward) if forward.flags.writeable else read_only(_locked(forward))
    if made.data_ptr() % array.itemsize:
        raise Refused("torch cannot lie on memory that is not aligned to its elements", "use a copy", "opaque-call")
    return zero_d_array(made), flipped


def _locked(array: numpy.ndarray[Any, Any]) -> torch.Tensor:
    """A tensor on memory that is not to be written to. torch knows no such thing, so it is asked through the buffer's address."""
    interface = dict(array.__array_interface__)
    interface["data"] = (interface["data"][0], False)

    class Open:
        __array_interface__ = interface
        owner = array

    return torch.from_numpy(numpy.asarray(Open()))


def turned(tensor: torch.Tensor, flipped: tuple[int, ...]) -> torch.Tensor:
    """The values of an array that runs backwards."""
    return flip(tensor, flipped) if flipped else tensor
