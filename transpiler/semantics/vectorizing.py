"""`numpy.vectorize`: a function of numbers, called for every element.

NumPy asks the function of the first elements, as scalars of their dtype, what dtype comes out. Then it calls it with the elements
as Python numbers and casts what comes out. Where the values are at hand NumPy itself does so, around the function of tensors.
Where they are not (a recording, a gradient), the elements stay 0-d tensors of Python's dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import torch

from .arrays import as_tensor, cast, demand, demand_fit, is_recording, is_scalar, widen, zero_d_array
from .dtypes import to_numpy, to_torch
from .table import Refused


def vectorized(
    pyfunc: Callable[..., Any], otypes: Any, cache: bool, excluded: Any = None, signature: str | None = None
) -> Callable[..., Any]:
    """What `numpy.vectorize(pyfunc, ...)` gives, on tensors."""

    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
        if is_recording() or torch.compiler.is_compiling() or not all(map(_known, tensors)):
            if kwargs or excluded or signature is not None:
                message = "a numpy.vectorize function with excluded=, signature= or keywords, where there is a gradient or torch compiles"
                raise Refused(message, "write a loop, or use whole arrays")
            return _symbolic(pyfunc, otypes, cache, args)
        types = [_numpy_dtype(t) for t in otypes] if otypes is not None and not isinstance(otypes, str) else otypes
        device = next((t.device for t in tensors), None)

        def inner(*row: Any, **named: Any) -> Any:
            found = pyfunc(*map(_inward, row), **{k: _inward(v) for k, v in named.items()})
            return tuple(map(_outward, found)) if isinstance(found, tuple) else _outward(found)

        whole = numpy.vectorize(inner, otypes=types, excluded=excluded, cache=cache, signature=signature)
        made = whole(*map(_outward, args), **{k: _outward(v) for k, v in kwargs.items()})
        return tuple(_inward(m, device) for m in made) if isinstance(made, tuple) else _inward(made, device)

    return call


def _known(x: torch.Tensor) -> bool:
    """True for a tensor whose values can be taken without losing anything."""
    return not (x.requires_grad or x.device.type == "meta" or torch._C._functorch.is_functorch_wrapped_tensor(x))


def _numpy_dtype(dtype: Any) -> Any:
    return to_numpy(dtype).char if isinstance(dtype, torch.dtype) else dtype


def _inward(x: Any, device: torch.device | None = None) -> Any:
    if isinstance(x, numpy.ndarray) and x.dtype.kind in "biufcO":
        return zero_d_array(as_tensor(x).to(device))
    return as_tensor(x) if isinstance(x, numpy.generic) and x.dtype.kind in "biufc" else x


def _outward(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_outward, x)) if not hasattr(x, "_fields") else x
    if not isinstance(x, torch.Tensor):
        return x
    if not _known(x):
        raise Refused("numpy.vectorize of a function whose result has a gradient that its arguments do not have", "use whole arrays")
    held = x.resolve_conj().resolve_neg().cpu().numpy()
    return held[()] if is_scalar(x) else held


def _symbolic(pyfunc: Callable[..., Any], otypes: Any, cache: bool, args: tuple[Any, ...]) -> Any:
    given = [as_tensor(arg) for arg in args]
    tensors = torch.broadcast_tensors(*map(_python_like, given))
    shape = tuple(tensors[0].shape)
    if otypes is not None:
        dtypes = [to_torch(t) for t in otypes]
    elif 0 in shape:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    else:
        asked = pyfunc(*(t.reshape(-1)[0] for t in given))
        dtypes = [as_tensor(a).dtype for a in (asked if isinstance(asked, tuple) else (asked,))]
    rows = list(zip(*(torch.unbind(t.reshape(-1)) for t in tensors), strict=True))
    results = [asked if cache and otypes is None and n == 0 else pyfunc(*row) for n, row in enumerate(rows)]
    if len(dtypes) > 1 or (results and isinstance(results[0], tuple)):
        columns = list(zip(*results, strict=True)) if results else [()] * len(dtypes)
        return tuple(_collected(c, shape, d) for c, d in zip(columns, dtypes, strict=True))
    return _collected(results, shape, dtypes[0])


def _python_like(x: torch.Tensor) -> torch.Tensor:
    """The dtype that Python would compute an element in."""
    if x.dtype == torch.bool:
        raise Refused("numpy.vectorize over bools", "cast to int first, or use whole arrays", "unsupported-dtype")
    return cast(x, torch.complex128 if x.is_complex() else torch.float64 if x.is_floating_point() else torch.int64)


_UNSIGNED = (torch.uint8, torch.uint16, torch.uint32)


def _collected(results: Any, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    held = [as_tensor(r) for r in results]
    if any(r.ndim for r in held):
        raise ValueError("setting an array element with a sequence.")
    for r in held:
        demand_fit(r, dtype)
        if dtype in _UNSIGNED and not (r.is_floating_point() or r.is_complex()) and r.dtype != dtype:
            wide = widen(r)
            fits = torch.logical_and(torch.ge(wide, 0), torch.le(wide, torch.iinfo(dtype).max))
            demand(fits, OverflowError(f"Python integer out of bounds for {to_numpy(dtype)}"))
    made = torch.stack([cast(r, dtype) for r in held]) if held else torch.zeros(0, dtype=dtype)
    return zero_d_array(made.reshape(shape))
