"""What writes into what it stands for: `a += b`, `a[i] += b`, `a.name = value`, where nobody knows whether `a` is an array."""

from __future__ import annotations

import collections
import operator
from typing import Any

import numpy
import torch

from .. import rules
from ..semantics.arrays import as_tensor, is_scalar, store, written_outside, zero_d_array
from ..semantics.asking import ERRORS
from ..semantics.explaining import numpys_own
from ..semantics.indexing import FlatView
from ..semantics.table import Refused
from ..semantics.ufunc import Ufunc
from . import operators, user_code

IN_PLACE = {name: getattr(operator, f"i{python.__name__.rstrip('_')}") for name, python in operators.PYTHON.items()
            if hasattr(operator, f"i{python.__name__.rstrip('_')}")}  # fmt: skip
"""Python's own in-place operators by the ufunc of the same meaning."""

_CONCATENATE = tuple(vars(kind)[name] for kind in (list, collections.deque) for name in ("__iadd__", "__imul__"))
"""What an array or a scalar on the right comes before: `rows += x` is an array."""


def update(a: Any, ufunc: str, b: Any) -> Any:
    """`a += b` and its kin: returns what the name is bound to afterwards.

    An array is written into (cast same_kind, else TypeError); a scalar or a number is replaced by the result."""
    if isinstance(a, torch.Tensor) and not is_scalar(a):
        try:
            return _written(a, ufunc, b)
        except ERRORS as error:
            raise numpys_own(error, IN_PLACE[ufunc], (a, b), {}) from error.__cause__
    if isinstance(a, numpy.ndarray):
        made = IN_PLACE[ufunc](a, operators.python(b))  # an array that an object of the program's holds: by NumPy itself
        written_outside(a)
        return made
    if isinstance(a, (torch.Tensor, numpy.generic)):
        return getattr(operators, ufunc)(a, b)
    if isinstance(a, str):
        return IN_PLACE[ufunc](a, operators.python(b))
    own = getattr(type(a), method := f"__{IN_PLACE[ufunc].__name__}__", None)
    if (mine := user_code.special(a, method)) is not None and (found := mine(b)) is not NotImplemented:
        return found
    if mine is not None or own is None:
        return getattr(operators, ufunc)(a, b)
    if own in _CONCATENATE and isinstance(b, (torch.Tensor, numpy.ndarray, numpy.generic)):
        if ufunc == "add" or not is_scalar(as_tensor(b)):
            return getattr(operators, ufunc)(a, b)
        operators.repeated([], b)  # TypeError for what is no integer
        return IN_PLACE[ufunc](a, operator.index(operators.python(b)))
    if own in _CONCATENATE and (found := user_code.binary(operators.PYTHON[ufunc], a, b)) is not user_code.ABSENT:
        return found
    return IN_PLACE[ufunc](a, b)


def _written(a: torch.Tensor, ufunc: str, b: Any) -> torch.Tensor:
    if ufunc == "matmul" and (a.ndim < 1 or as_tensor(b).ndim < 2):
        message = "inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions."
        raise ValueError(message)
    rule = rules.lookup(f"numpy.{ufunc}").call
    value = rule.compute(a, b) if isinstance(rule, Ufunc) else rule(a, b)
    if value.shape != a.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {tuple(a.shape)} doesn't match the broadcast shape {tuple(value.shape)}"
        )
    return store(a, value)


def update_item(a: Any, index: Any, ufunc: str, value: Any) -> None:
    """`a[index] += value` and its kin, the index evaluated once."""
    operators.setitem(a, index, update(operators.getitem(a, index), ufunc, value))


def set_attribute(a: Any, name: str, value: Any) -> None:
    """`a.name = value`: an array's shape, real or imaginary part, or all of its elements in order."""
    if not isinstance(a, (torch.Tensor, numpy.ndarray)):
        user_code.assign(a, name, value)
    elif name == "shape" and isinstance(a, torch.Tensor) and a.is_contiguous() and not a.requires_grad:
        with torch.inference_mode(a.is_inference()):  # what is read-only has a shape that can be set
            zero_d_array(a.resize_(rules.lookup("numpy.reshape").call(a, value).shape))
    elif name == "imag" and isinstance(a, torch.Tensor) and not a.is_complex():
        raise TypeError("array does not have imaginary part to set")
    elif name in ("real", "imag") and isinstance(a, torch.Tensor):
        operators.setitem(operators.attribute(a, name), ..., value)
    elif name == "flat" and isinstance(a, torch.Tensor):
        FlatView.of(a)[:] = value
    else:
        raise Refused(f"the array attribute .{name} is set", "make a new array instead (reshape, astype)", "mutation")
