"""`a ** b`, which is not always the ufunc `numpy.power`."""

from __future__ import annotations

from typing import Any

import numpy
import torch

from .. import rules
from ..semantics.arrays import as_tensor, is_scalar


def is_array(a: Any) -> bool:
    """True for arrays and lists, False for scalars and numbers."""
    return isinstance(a, (numpy.ndarray, list, tuple)) or (isinstance(a, torch.Tensor) and not is_scalar(a))


def raised(a: Any, b: Any) -> Any:
    """`a ** b`: of scalars C's pow, of an array and the number 2 `numpy.square`, which is int8 for bools, else `numpy.power`."""
    rules.load_once()
    from ..rules.arithmetic import scalar_power

    if not (is_array(a) or is_array(b)):
        return scalar_power(a, b)
    squared = type(b) is int and b == 2 and as_tensor(a).dtype == torch.bool
    return rules.lookup("numpy.square").call(a) if squared else rules.lookup("numpy.power").call(a, b)
