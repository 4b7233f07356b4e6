"""Arrays in a foreign byte order (`x.astype(">f4")`) within a function: tensors have the same numbers in the machine's own order.

What NumPy computes of them is in that order anyway; what only moves them stays foreign, as NumPy's side of the trace knows. Whoever asks
for their bytes, writes into them or returns them is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from ..tracer import Tracer

_CASTS = frozenset(("numpy.ndarray.astype", "numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray"))
"""Functions whose second argument, or `dtype=`, is the dtype of what they give."""

OF_BYTES = frozenset(("view", "getfield", "setfield", "byteswap", "tobytes"))
"""Methods that tell in which order the bytes of a number lie."""


def native_order(name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call as its rule gets them: the dtype to cast to in the machine's own byte order."""
    if name not in _CASTS:
        return args, kwargs
    if len(args) > 1 and _is_foreign(args[1]):
        args = (args[0], numpy.dtype(args[1]).newbyteorder("="), *args[2:])
    if _is_foreign(kwargs.get("dtype")):
        kwargs = {**kwargs, "dtype": numpy.dtype(kwargs["dtype"]).newbyteorder("=")}
    return args, kwargs


def _is_foreign(dtype: Any) -> bool:
    if not isinstance(dtype, (str, numpy.dtype)):
        return False
    try:
        return not numpy.dtype(dtype).isnative
    except TypeError:  # NumPy itself says so
        return False


def check_order(tracer: Tracer, array: Any, name: str) -> None:
    """Refuse a method that reads the bytes of an array in a foreign order."""
    if not array.dtype.isnative:
        tracer.fail("unsupported-dtype", f".{name}() of an array in the byte order of {array.dtype!r}", "use the native byte order")
