"""A counterexample as code that reproduces it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..inputs.copies import lies_plainly, span_of
from ..inputs.importing import importing, rules_in_use
from ..inputs.literals import array_literal, dtype_literal, literal, plain_literal, sequence_literal, tensor_expression
from ..inputs.plans import call_with
from .comparison import Tolerance

__all__ = ["Counterexample", "Shown", "assignments", "literal", "script", "tensor_expression"]

@dataclass
class Counterexample:
    """Arguments on which `way` ("convert" or "trace") does not do what NumPy does; `code` is a script that shows it."""

    way: str
    arguments: Mapping[str, Any]
    message: str
    code: str

    def __str__(self) -> str:
        return self.code


@dataclass(frozen=True)
class Shown:
    """What a script shows: that a form does not do what `fn` does.

    sample   what a graph is traced with
    message  what differs
    form     the torch form, and `scalars` whether it takes NumPy's scalars as they are
    recipe   lines that make the form known as `torch_fn`, and `known` those that make `fn`; by default they are made here"""

    fn: Callable[..., Any]
    way: str
    sample: Mapping[str, Any]
    message: str
    form: Any = None
    scalars: bool = True
    recipe: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    tolerance: Tolerance = field(default_factory=Tolerance)


def script(shown: Shown, arguments: Mapping[str, Any]) -> str:
    """A script that calls a function and its torch form on `arguments`, and prints what each gives, and what differs."""
    lines = [*_beginning(shown, "show"), *assignments(arguments)]
    named = ", ".join(f"{name!r}: {name}" for name in arguments)
    lines.append(f"want, got = show({', '.join([repr(shown.way), 'fn', 'torch_fn', f'{{{named}}}', *_options(shown)])})")
    return _text(lines, shown)


def script_in_a_row(shown: Shown, calls: Sequence[tuple[tuple[str, str], Mapping[str, Any]]]) -> str:
    """A script that makes calls in a row. Each is written as the two functions, and has arguments by name."""
    lines = [*_beginning(shown, "show_in_a_row"), "import sys"]
    made = []
    for number, (texts, arguments) in enumerate(calls, 1):
        named = {f"{name}_{number}": value for name, value in arguments.items()}
        lines += assignments(named)
        made.append(f"    ({texts[0]}, {texts[1]}, {{{', '.join(f'{name!r}: {name}_{number}' for name in arguments)}}}),")
    lines += ["calls = [", *made, "]", f"show_in_a_row({', '.join(['fn', 'torch_fn', 'calls', *_options(shown)])})"]
    return _text(lines, shown)


def script_on_sample(shown: Shown, helper: str) -> str:
    """A script that shows what differs on the sample without any torch form.

    helper  "show_twice": the function's results of two calls; "show_trace": what NumPy and the rules give while it is traced"""
    named = ", ".join(f"{name!r}: {name}" for name in shown.sample)
    lines = ["import numpy as np", "import torch", "import np2fx", f"from np2fx.verifying.comparing.showing import {helper}",
             *rules_in_use(), *(shown.known or importing(shown.fn)), *assignments(shown.sample)]  # fmt: skip
    return _text([*lines, f"{helper}(fn, {{{named}}})"], shown)


def _beginning(shown: Shown, helper: str) -> list[str]:
    """Lines that make both functions known."""
    fn, way = shown.fn, shown.way
    lines = ["import numpy as np", "import torch", "import np2fx", f"from np2fx.verifying.comparing.showing import {helper}"]
    lines += [*rules_in_use(), *(shown.known or importing(fn))]
    if way == "trace":
        lines += ["", *assignments({f"{name}_traced": value for name, value in shown.sample.items()})]
        lines.append(f"torch_fn = np2fx.trace({_call(fn, 'fn', {name: f'{name}_traced' for name in shown.sample})})")
    elif way == "convert":
        lines.append("torch_fn = np2fx.convert(fn)")
    else:
        lines += shown.recipe or importing(shown.form, "torch_fn")
    return [*lines, ""]


def _text(lines: list[str], shown: Shown) -> str:
    text = "\n".join([*lines, f"# {shown.message}"]) + "\n"
    return text if "pickle.loads" not in text or "import pickle\n" in text else f"import pickle\n{text}"


def _options(shown: Shown) -> list[str]:
    """What `show` is to be told beside the call: how it was compared."""
    limits = shown.tolerance
    said = {"rtol": limits.rtol, "atol": limits.atol, "coarsest": limits.coarsest, "scalars": shown.scalars}
    usual = {"rtol": None, "atol": None, "coarsest": "float64", "scalars": True}
    return [f"{name}={value!r}" for name, value in said.items() if value != usual[name]]


def _call(fn: Callable[..., Any], first: str, expressions: Mapping[str, str]) -> str:
    args, kwargs = call_with(fn, expressions)
    return ", ".join(filter(None, [first, *map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]))


def assignments(arguments: Mapping[str, Any]) -> list[str]:
    """Lines that make arguments known under their names, exactly: how they lie in memory, which are one object, which share memory."""
    lines: list[str] = []
    names: dict[int, str] = {}
    for name, value in arguments.items():
        _special(value, name, lines, names, ends_in(arguments))
        if names.get(id(value)) != name:
            lines.append(f"{name} = {_with_names(value, names)}")
    return lines


def ends_in(value: Any) -> list[Any]:
    """The arrays of arguments."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in ends_in(item)]
    return [value] if type(value) is np.ndarray and value.dtype.kind in "biufc" else []


def _special(value: Any, name: str, lines: list[str], names: dict[int, str], every: list[Any]) -> None:
    """Give names to the arrays in an argument of which a literal does not tell all: those that are there twice, or share memory, or lie as
    no new array does."""
    for x in {id(x): x for x in ends_in(value)}.values():
        if id(x) in names:
            continue
        own = name if x is value else f"{name}_{len(names)}"
        shares = [other for other in every if other is not x and np.may_share_memory(x, other) and np.shares_memory(x, other)]
        twice = sum(other is x for other in every) > 1
        if shares:
            _on_memory([x, *shares], own, lines, names)
        elif twice or not lies_plainly({"x": x}):
            names[id(x)] = own
            lines.append(f"{own} = {_lying(x)}")
            if not x.flags.writeable and "broadcast_to" not in lines[-1]:
                lines.append(f"{own}.flags.writeable = False")


def _on_memory(group: list[Any], name: str, lines: list[str], names: dict[int, str]) -> None:
    """Arrays on one memory, as parts of it."""
    group = list({id(x): x for x in group}.values())
    low, high = min(span_of(x)[0] for x in group), max(span_of(x)[1] for x in group)
    memory = f"memory_{name}"
    raw = np.frombuffer(ctypes.string_at(low, high - low), group[0].dtype if (high - low) % group[0].itemsize == 0 else np.uint8)
    lines.append(f"{memory} = {plain_literal(raw)}")
    for n, x in enumerate(group):
        names[id(x)] = name if n == 0 else f"{name}_with_{n}"
        at = x.__array_interface__["data"][0] - low
        lines.append(f"{names[id(x)]} = np.ndarray({x.shape}, {dtype_literal(x)}, {memory}, {at}, {x.strides})")
        if not x.flags.writeable:
            lines.append(f"{names[id(x)]}.flags.writeable = False")


def _lying(x: np.ndarray[Any, Any]) -> str:
    """An array by itself, as it lies in memory."""
    repeats = tuple(stride == 0 and size > 1 for stride, size in zip(x.strides, x.shape, strict=True))
    if any(repeats):
        return f"np.broadcast_to({_lying(x[tuple(slice(0, 1) if r else slice(None) for r in repeats)])}, {x.shape})"
    turned = tuple(slice(None, None, -1 if stride < 0 and size > 1 else None) for stride, size in zip(x.strides, x.shape, strict=True))
    if not any(t.step for t in turned):
        return array_literal(x)
    return f"{array_literal(x[turned])}[{', '.join('::-1' if t.step else ':' for t in turned)}]"


def _with_names(value: Any, names: Mapping[int, str]) -> str:
    """A literal with the names of what has one."""
    if id(value) in names:
        return names[id(value)]
    if type(value) is dict:
        return "{" + ", ".join(f"{literal(key)}: {_with_names(item, names)}" for key, item in value.items()) + "}"
    return sequence_literal(value, lambda item: _with_names(item, names)) if type(value) in (list, tuple) else literal(value)
