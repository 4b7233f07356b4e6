"""What is copied into an array: `numpy.copyto` as a function of what was there."""

from __future__ import annotations

from typing import Any

import torch

from .arrays import as_tensor, dtype_of, fits, is_weak
from .axes import mask_of
from .dtypes import can_cast, promote, to_numpy
from .indexing import filled, incoming_value


def check_cast(source: torch.dtype, target: torch.dtype, casting: Any) -> None:
    """Raises TypeError where NumPy's `casting` does not allow the cast."""
    if not can_cast(source, target, casting):
        made, wanted = to_numpy(source), to_numpy(target)
        raise TypeError(f"Cannot cast array data from {made!r} to {wanted!r} according to the rule {casting!r}")


def copied(dst: torch.Tensor, src: Any, casting: str = "same_kind", where: Any = True) -> torch.Tensor:
    """`dst` with the values of `src`, broadcast, where the mask is true: same shape and dtype.

    Raises TypeError where `casting` does not allow the cast, ValueError for shapes that do not broadcast."""
    check_cast(promote(dst.dtype, dtype_of(src)) if is_weak(src) else dtype_of(src), dst.dtype, casting)
    values = filled(dst, incoming_value(dst, as_tensor(src) if isinstance(src, (float, list, tuple)) else src))  # cast as an array is
    if where is True:
        return values
    mask = mask_of(where).to(dst.device)
    if not fits(mask.shape, dst.shape):
        raise ValueError(f"could not broadcast where mask from shape {tuple(mask.shape)} into shape {tuple(dst.shape)}")
    return torch.where(mask, values, dst)
