"""Values as expressions that make them, exactly."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .copies import layout_of

LARGEST = 4096
"""Arrays of more elements are printed as what fills them with the exceptions set, where that is short."""


def tensor_expression(name: str, value: Any, scalars: bool = True) -> str:
    """The argument `name` as the torch side takes it."""
    if isinstance(value, np.ndarray):
        layout = layout_of(value)
        if layout is not None and any(gap.step for gap in layout.gaps):
            return f"torch.from_numpy({literal(value)})"  # a copy would have no gaps
        return f"torch.from_numpy({name}.copy({'' if layout is None else repr('K')}))"
    if isinstance(value, np.generic):
        return name if scalars else f"torch.as_tensor({name})"
    if isinstance(value, torch.Tensor):
        return f"{name}.clone()"
    return _nested_tensors(value, scalars) if isinstance(value, (dict, list, tuple)) else name


def _nested_tensors(value: Any, scalars: bool) -> str:
    """A container's literal with tensors in it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_nested_tensors(item, scalars)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return sequence_literal(value, lambda item: _nested_tensors(item, scalars))
    if isinstance(value, np.generic) and not scalars:
        return f"torch.as_tensor({literal(value)})"
    return f"torch.from_numpy({literal(value)})" if isinstance(value, np.ndarray) else literal(value)


def literal(value: Any) -> str:
    """An expression that makes the value, exactly; a pickle of it where it has none."""
    if type(value) is np.ndarray:
        return array_literal(value)
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name.replace('bool', 'bool_')}({_number(value)})"
    if isinstance(value, torch.Tensor):
        return f"torch.from_numpy({array_literal(value.detach().cpu().numpy())})"
    if type(value) is dict:
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if type(value) in (list, tuple):
        return sequence_literal(value, literal)
    if type(value) in (float, complex):
        return _number(value)
    if type(value) in _PLAIN:
        return repr(value)
    made = pickled(value)
    return made if made is not None else sequence_literal(value, literal) if isinstance(value, (list, tuple)) else repr(value)


_PLAIN = (int, bool, str, bytes, type(None), type(...), slice, range)


def sequence_literal(value: Any, item: Callable[[Any], str]) -> str:
    """Named tuples are written as plain ones: the class may have no importable name."""
    inner = ", ".join(map(item, value))
    return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if len(value) == 1 else f"({inner})"


def array_literal(x: np.ndarray[Any, Any]) -> str:
    """An array in its layout: with its axes in the order of memory, every other element of one that has each twice, turned back."""
    layout = layout_of(x)
    if layout is None:
        return plain_literal(x)
    made = plain_literal(x.transpose(layout.order))
    for axis, gap in enumerate(layout.gaps):
        made = f"np.repeat({made}, 2, axis={axis})" if gap.step else made
    if any(gap.step for gap in layout.gaps):
        made += "[" + ", ".join("::2" if gap.step else ":" for gap in layout.gaps) + "]"
    return made if layout.order == tuple(range(x.ndim)) else f"{made}.transpose({', '.join(map(str, layout.back))})"


def dtype_literal(x: np.ndarray[Any, Any]) -> str:
    return f"np.{x.dtype.name.replace('bool', 'bool_')}"


def plain_literal(x: np.ndarray[Any, Any]) -> str:
    dtype = dtype_literal(x)
    if x.dtype.kind not in "biufc":
        return f"np.array({x.tolist()!r}, dtype={str(x.dtype)!r})"
    if x.size == 0:
        return f"np.zeros({x.shape}, {dtype})"
    if x.size <= LARGEST:
        return f"np.array({_nested(x)}, {dtype})"
    values, counts = np.unique(x, return_counts=True, equal_nan=True)
    common = values[counts.argmax()]
    others = np.flatnonzero((x.reshape(-1) != common) & ~((common != common) & (x.reshape(-1) != x.reshape(-1))))
    filled = f"np.full({x.shape}, {_number(common)}, {dtype})"
    if others.size == 0:
        return filled
    if others.size * 2 > x.size:
        return f"np.array({_nested(x)}, {dtype})"
    edits = ", ".join(f"({int(i)}, {_number(x.reshape(-1)[i])})" for i in others)
    return f"(lambda a: [a.put(i, v) for i, v in [{edits}]] and a)({filled})"


def _nested(x: np.ndarray[Any, Any]) -> str:
    return _number(x[()]) if x.ndim == 0 else "[" + ", ".join(_nested(row) for row in x) + "]"


def _number(value: Any) -> str:
    """Digits enough to give the same bits; nan and inf by name."""
    if isinstance(value, (np.complexfloating, complex)):
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if value != value:
        return "np.nan"
    if value in (float("inf"), float("-inf")):
        return "np.inf" if value > 0 else "-np.inf"
    return str(value) if isinstance(value, np.generic) else repr(value)


def pickled(x: Any) -> str | None:
    """An expression that makes an object from its pickle; None where that cannot be, or would be very long."""
    try:
        data = pickle.dumps(x)
        pickle.loads(data)
    except Exception:
        return None
    return f"pickle.loads({data!r})" if len(data) < 2**16 else None
