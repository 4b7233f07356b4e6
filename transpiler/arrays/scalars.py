"""NumPy's scalars: what `x[0]` and `x.sum()` are.

They are NumPy's own objects, so that they are floats to `isinstance`, keys to dicts and numbers to `json`, and arithmetic between them is
NumPy's. Where a gradient hangs on one, or it lies on another device, it is an object of a class derived from NumPy's, with the tensor
beside the value; arithmetic with it goes on in torch.
"""

from __future__ import annotations

from typing import Any

import numpy
import torch

from .memory import is_host, values_of
from .operators import install_on_scalars
from .world import OF

_KINDS = (numpy.float16, numpy.float32, numpy.float64, numpy.complex64, numpy.complex128)
"""What a gradient can hang on. Integers are on the host as soon as they are scalars, and NumPy's bools are two objects in all."""


class Graded:
    """What the scalars have in common that keep their tensor."""

    _tensor: torch.Tensor

    __array_priority__ = 10.0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .ufuncs import dispatched

        return dispatched(ufunc, method, inputs, kwargs)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from .passing import in_torch

        return in_torch(function, args, kwargs or {})

    def __reduce__(self) -> Any:
        return kept, (self._tensor,)


install_on_scalars(Graded)


def _class_of(kind: Any) -> Any:
    """NumPy's scalar with a tensor. NumPy itself looks at the base that comes first, and crashes where that is none of its own."""
    own = {k: v for k, v in vars(Graded).items() if k not in ("__dict__", "__weakref__", "__annotations__")}
    own["__class__"] = property(lambda self: kind)
    return type(kind.__name__, (kind, Graded), {**own, "__module__": "numpy", "__doc__": kind.__doc__, "__hash__": kind.__hash__})


_GRADED: dict[str, Any] = {kind.__name__: _class_of(kind) for kind in _KINDS}


def scalar(tensor: torch.Tensor) -> Any:
    """A 0-d tensor as NumPy's scalar."""
    if is_host(tensor):
        kind = OF.get(tensor.dtype)
        return tensor.resolve_conj().resolve_neg().numpy()[()] if kind is None else kind(tensor.item())
    return kept(tensor)


def element(tensor: torch.Tensor) -> Any:
    """An element of an array, a 0-d view of it, as NumPy's scalar."""
    return scalar(tensor if is_host(tensor) else tensor.clone())


def kept(tensor: torch.Tensor) -> Any:
    """A 0-d tensor as NumPy's scalar that keeps it."""
    value = values_of(tensor)[()]
    kind = _GRADED.get(type(value).__name__)
    if kind is None:
        return value
    made = kind(value)
    made._tensor = tensor
    return made
