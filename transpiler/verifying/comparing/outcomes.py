"""What two outcomes of a call have in common: which errors are answers, and where two answers differ."""

from __future__ import annotations

from .comparison import Difference, Tolerance, difference
from .running import Outcome, out_of_memory

NAMES = {"convert": "the converted function", "trace": "the graph", "rewrite": "the rewritten function"}


def ends(error: BaseException | None) -> bool:
    """True for an error after which there is nothing to compare: the node exits, or memory is used up."""
    return isinstance(error, SystemExit) or out_of_memory(error)


def is_refusal(error: BaseException | None) -> bool:
    """True for a ConversionError or TraceError: an error that carries findings."""
    return error is not None and bool(getattr(error, "findings", None))


def outcomes_differ(want: Outcome, got: Outcome, tolerance: Tolerance) -> Difference | None:
    """What differs between what NumPy and torch made of a call: error, result, arguments left behind."""
    if want.error is not None:
        return None if got.error is not None else Difference(f"NumPy raises {said(want.error)}; torch gives a result")
    if got.error is not None:
        return Difference(f"torch raises {said(got.error)}; NumPy gives a result")
    found = difference(want.result, got.result, tolerance)
    for name in want.arguments:
        found = found or difference(want.arguments[name], got.arguments[name], tolerance, f"{name} after the call")
    return found



def said(error: BaseException | None) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
