"""A counterexample as code that reproduces it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .copies import layout_of
from .inputs import call_with
from .instances import expression_of

LARGEST = 4096
"""Arrays of more elements are printed as what fills them with the exceptions set, where that is short."""


@dataclass
class Counterexample:
    """Arguments on which `way` ("convert" or "trace") does not do what NumPy does; `code` is a script that shows it."""

    way: str
    arguments: Mapping[str, Any]
    message: str
    code: str

    def __str__(self) -> str:
        return self.code


def script(
    fn: Callable[..., Any],
    way: str,
    arguments: Mapping[str, Any],
    sample: Mapping[str, Any],
    message: str,
    form: Any = None,
    scalars: bool = True,
) -> str:
    """A script that calls `fn` and its torch form (`form`, where that is another function of a file) on `arguments`, and prints both
    results. `scalars`: the form takes NumPy's scalars as they are."""
    known = [f"# fn is {_expression(fn)} as it was before it was rewritten"] if way == "rewrite" else _importing(fn)
    lines = ["import numpy as np", "import torch", "import np2fx", *known, ""]
    if way == "trace":
        named = {f"{name}_traced": value for name, value in sample.items()}
        lines += [f"{name} = {literal(value)}" for name, value in named.items()]
        lines.append(f"torch_fn = np2fx.trace({_call(fn, 'fn', {name: f'{name}_traced' for name in sample})})")
    elif way == "rewrite":
        lines += [line.replace("fn =", "torch_fn =") for line in _importing(form)]
    else:
        lines.append("torch_fn = np2fx.convert(fn)")
    lines += ["", *(f"{name} = {literal(value)}" for name, value in arguments.items())]
    tensors = {name: tensor_expression(name, value, scalars) for name, value in arguments.items()}
    # torch first: from_numpy shares memory with the arrays, which the tensors are copied from before NumPy may write them
    lines += [
        f"got = torch_fn({_call(fn, '', tensors)})",
        f"want = fn({_call(fn, '', {name: name for name in arguments})})",
        'print("NumPy:", want)',
        'print("torch:", got)',
        f"# {message}",
    ]
    return "\n".join(lines) + "\n"


def _importing(fn: Callable[..., Any]) -> list[str]:
    """Lines that make `fn` known under that name."""
    try:
        path = inspect.getsourcefile(fn)
    except TypeError:
        path = None
    name = _expression(fn)
    if path is None or not Path(path).exists() or "<" in name or not name:
        return [f"# fn is {name or fn!r}"]
    if name.startswith("importlib."):
        return ["import importlib", f"fn = {name}"]
    head = name.partition(".")[0].partition("(")[0]
    if getattr(fn, "__module__", "__main__") not in ("__main__", None) and "." in fn.__module__:
        return [f"from {fn.__module__} import {head}", f"fn = {name}"]
    return ["import runpy", f"fn = runpy.run_path({str(path)!r})[{head!r}]{name[len(head) :]}"]


def _expression(fn: Callable[..., Any]) -> str:
    """`fn` as it is written in its module: a method with the object that it was made for."""
    if inspect.ismethod(fn) and not isinstance(fn.__self__, type):
        made = expression_of(fn.__self__)
        return f"{made}.{fn.__name__}" if made else f"<{fn.__name__} of a {type(fn.__self__).__name__}>"
    return getattr(fn, "__qualname__", "")


def _call(fn: Callable[..., Any], first: str, expressions: Mapping[str, str]) -> str:
    args, kwargs = call_with(fn, expressions)
    return ", ".join(filter(None, [first, *map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]))


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
        return _sequence(value, lambda item: _nested_tensors(item, scalars))
    if isinstance(value, np.generic) and not scalars:
        return f"torch.as_tensor({literal(value)})"
    return f"torch.from_numpy({literal(value)})" if isinstance(value, np.ndarray) else literal(value)


def literal(value: Any) -> str:
    """An expression that makes the value, exactly."""
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name.replace('bool', 'bool_')}({_number(value)})"
    if isinstance(value, torch.Tensor):
        return f"torch.from_numpy({_array(value.detach().cpu().numpy())})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return _sequence(value, literal)
    return _number(value) if isinstance(value, (float, complex)) else repr(value)


def _sequence(value: Any, item: Callable[[Any], str]) -> str:
    """Named tuples are written as plain ones: the class may have no importable name."""
    inner = ", ".join(map(item, value))
    return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if len(value) == 1 else f"({inner})"


def _array(x: np.ndarray[Any, Any]) -> str:
    """An array in its layout: with its axes in the order of memory, every other element of one that has each twice, turned back."""
    layout = layout_of(x)
    if layout is None:
        return _plain(x)
    made = _plain(x.transpose(layout.order))
    for axis, gap in enumerate(layout.gaps):
        made = f"np.repeat({made}, 2, axis={axis})" if gap.step else made
    if any(gap.step for gap in layout.gaps):
        made += "[" + ", ".join("::2" if gap.step else ":" for gap in layout.gaps) + "]"
    return made if layout.order == tuple(range(x.ndim)) else f"{made}.transpose({', '.join(map(str, layout.back))})"


def _plain(x: np.ndarray[Any, Any]) -> str:
    dtype = f"np.{x.dtype.name.replace('bool', 'bool_')}"
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
