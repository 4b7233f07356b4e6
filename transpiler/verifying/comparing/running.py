"""Runs one of the three (the original, the rewritten function, the graph) on copies of the arguments, and keeps what came of it."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..inputs.copies import copied
from ..inputs.plans import call_with

_catch_warnings = warnings.catch_warnings
"""As it is: while NumPy's functions are stood in for, it is not to be had in the module."""


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


def run(
    call: Callable[..., Any],
    signature_of: Callable[..., Any],
    arguments: Mapping[str, Any],
    torch_side: bool,
    scalars: bool = False,
    exactly: bool = False,
) -> Outcome:
    """`call` on copies of `arguments` (by parameter name of `signature_of`); as tensors for the torch side.

    scalars  it takes NumPy's scalars for what they are: they need not be tensors, which an array might stand for as well
    exactly  arrays lie in memory as these do, in a way that no tensor can, too

    What the call prints is dropped, on stderr too (a graph that raises prints where): a node is called hundreds of times here."""
    given = copied(arguments, torch_side, scalars, exactly)
    args, kwargs = call_with(signature_of, given)
    outcome = Outcome(arguments=given)
    nowhere, own = io.StringIO(), os.getpid()
    with _catch_warnings(record=True) as caught, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("always")
        try:
            outcome.result = _drained(call(*args, **kwargs))
        except (Exception, SystemExit) as e:  # a node that ends the program must not end the verification of the others
            outcome.error = e
    if os.getpid() != own:  # the node has made a copy of the process: only the original goes on
        os._exit(0)
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
