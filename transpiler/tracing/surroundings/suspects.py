"""What may have made a value that the recording does not hold: check reads the function's source, and names the place."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from typing import Any

from ...source.findings.check import check_function
from ...source.findings.finding import Finding

_EXPLAIN = ("opaque-call", "uninitialised-memory", "random", "side-effect", "unmapped-function")
_LEAK = "a value came out of what no graph holds"
_WAY_OUT = "split the node where it calls compiled code, reads files, or keeps state between calls"


def leak(function: Callable[..., Any], place: tuple[str, int]) -> tuple[str, str, tuple[str, int]]:
    """Why values of a function may differ from those that were recorded: a reason, the way out and the place."""
    found = suspect(function)
    return (_LEAK, _WAY_OUT, place) if found is None else (found.message, found.hint, (found.path, found.line))


def suspect(function: Callable[..., Any]) -> Finding | None:
    """What check finds in a function's own lines that a recording does not see, the likeliest first."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    text = "".join(linecache.getlines(code.co_filename)) if code is not None else ""
    if code is None or not text:
        return None
    here = [f for f in check_function(text, code.co_filename, code.co_firstlineno) if f.name in _EXPLAIN]
    return min(here, key=lambda f: (f.severity != "error", _EXPLAIN.index(f.name), f.line), default=None)
