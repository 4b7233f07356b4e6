"""Runs one of the three (the original, the rewritten function, the graph) on copies of the arguments, and keeps what came of it."""

from __future__ import annotations

import contextlib
import copy
import io
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..pipeline.spec import DTYPES
from .inputs import call_with


@dataclass
class Outcome:
    """The result or the error of a call, the arguments as the call left them, and the texts of NumPy's warnings."""

    result: Any = None
    error: BaseException | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def undefined(self) -> bool:
        """True where C, and so NumPy, leaves open what came out: a float that no integer of the dtype can hold was cast."""
        return any("encountered in cast" in text for text in self.warnings)


def run(call: Callable[..., Any], signature_of: Callable[..., Any], arguments: Mapping[str, Any], torch_side: bool) -> Outcome:
    """`call` on copies of `arguments` (by parameter name of `signature_of`); as tensors for the torch side.

    What the call prints is dropped, on stderr too (a graph that raises prints where): a node is called hundreds of times here."""
    copied: Mapping[str, Any] = copied_as_tensors(arguments) if torch_side else copy.deepcopy(dict(arguments))
    args, kwargs = call_with(signature_of, copied)
    outcome = Outcome(arguments=copied)
    nowhere = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("always")
        try:
            outcome.result = _drained(call(*args, **kwargs))
        except (Exception, SystemExit) as e:  # a node that ends the program must not end the verification of the others
            outcome.error = e
    outcome.warnings = tuple(str(w.message) for w in caught)
    return outcome


def _drained(result: Any) -> Any:
    """What a generator gives and returns, as lists; any other result as it is."""
    if not isinstance(result, types.GeneratorType):
        return result
    given: list[Any] = []
    while True:
        try:
            given.append(copy.deepcopy(next(result)))  # a later step may write into it
        except StopIteration as end:
            return given, end.value


_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")
"""How torch says it, on every system."""


def out_of_memory(error: BaseException | None) -> bool:
    """True for NumPy's, Python's and torch's ways of saying that memory is used up."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and any(said in str(error) for said in _NO_MEMORY))


def copied_as_tensors(value: Any) -> Any:
    """Arguments for the torch side: arrays and NumPy scalars that torch can hold become tensors, the rest is copied."""
    if isinstance(value, (np.ndarray, np.generic)):
        # a copy in C order of the native byte order: torch takes no negative strides
        return torch.from_numpy(np.array(value, order="C")) if value.dtype.name in DTYPES and value.dtype.isnative else copy.deepcopy(value)
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, Mapping):
        return {key: copied_as_tensors(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(copied_as_tensors, value))
    if type(value) in (list, tuple):
        return type(value)(map(copied_as_tensors, value))
    return copy.deepcopy(value)
