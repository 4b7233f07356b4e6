"""Bits packed into bytes, and bits as text."""

from __future__ import annotations

import operator

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import as_tensor
from ..semantics.entering import rule
from ..semantics.table import Refused

# Bits of bytes

@rule("numpy.packbits", kind="conversion",
      examples=("np.packbits(k)", "np.packbits(k, axis=0, bitorder='little')", "np.packbits(k, -1)", "np.packbits(i != 0)"))  # fmt: skip
def packbits(a, /, axis=None, bitorder="big"):
    """Eight elements become the bits of one uint8; the last byte is filled up with zeros. Anything but 0 is a set bit."""
    a = as_tensor(a)
    if a.is_floating_point() or a.is_complex():
        raise TypeError("Expected an input array of integer or boolean data type")
    a, axis = _along(a, axis)
    size = a.shape[axis]
    bits = torch.movedim(torch.ne(a, 0), axis, -1).to(torch.uint8)
    # Seven zeros more than needed at most, and whole bytes only: the graph mentions no size.
    bits = torch.nn.functional.pad(bits, (0, 7)).unfold(-1, 8, 8) if size else bits.reshape(*bits.shape[:-1], 0, 8)
    return torch.movedim(torch.sum(bits * _weights(bits, bitorder), dim=-1, dtype=torch.uint8), -1, axis)

@rule("numpy.unpackbits", kind="conversion", examples=(
    "np.unpackbits(k.astype(np.uint8))", "np.unpackbits(k.astype(np.uint8), count=999)",
    "np.unpackbits(k.astype(np.uint8) + np.uint8(100), axis=0, count=-3, bitorder='little')",
))  # fmt: skip
def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The eight bits of each uint8. `count` elements are kept: zeros are added where it is more, a negative one counts from the end."""
    a = as_tensor(a)
    if a.dtype != torch.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a, axis = _along(a, axis)
    bits = torch.ne(torch.bitwise_and(torch.movedim(a, axis, -1).unsqueeze(-1), _weights(a, bitorder)), 0).to(torch.uint8).flatten(-2)
    if count is not None:
        count = operator.index(count)
        if count < -bits.shape[-1]:
            raise ValueError("-ve value of count cannot be larger than the number of unpacked bits")
        bits = torch.nn.functional.pad(bits, (0, max(count, 0)))[..., :count]
    return torch.movedim(bits, -1, axis)

def _along(a: torch.Tensor, axis: int | None) -> tuple[torch.Tensor, int]:
    """The array and the axis counted from 0; the flattened array where there is no axis, or no dimension."""
    a = a.reshape(-1) if axis is None or a.ndim == 0 else a
    return a, normalize_axis_index(0 if axis is None else axis, a.ndim)

def _weights(x: torch.Tensor, bitorder: str) -> torch.Tensor:
    """What each bit of a byte counts, the first bit first."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    powers = [1 << n for n in range(8)]
    return torch.tensor(powers if bitorder == "little" else powers[::-1], dtype=torch.uint8, device=x.device)

@rule("numpy.binary_repr", kind="python", examples=("np.binary_repr(5, width=8)", "np.binary_repr(-3, 4)"))
def binary_repr(num, width=None):
    """Of a Python int: text has no place in a graph."""
    if isinstance(num, torch.Tensor):
        raise Refused("text of an array's values", "return the array and make text of it outside", "python-value")
    return numpy.binary_repr(num, width)

@rule("numpy.base_repr", kind="python", examples=("np.base_repr(29, base=16)", "np.base_repr(5, 2, padding=3)"))
def base_repr(number, base=2, padding=0):
    """Of a Python int: text has no place in a graph."""
    if isinstance(number, torch.Tensor):
        raise Refused("text of an array's values", "return the array and make text of it outside", "python-value")
    return numpy.base_repr(number, base, padding)
