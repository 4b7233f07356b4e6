"""What a counterexample's script runs: the function and its torch form on the same arguments, what each gives, and what differs.

Calls are made as a verification makes them: each side has copies of the arguments, the torch forms get tensors, and the rewritten
function what NumPy's callers pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...tracing import trace
from ...tracing.errors import TraceError
from ...tracing.surroundings.found import Surroundings
from ..inputs.plans import call_with
from .comparison import Tolerance, difference
from .outcomes import outcomes_differ, said
from .running import Outcome, run
from .sequences import kept


def show(
    way: str,
    fn: Callable[..., Any],
    torch_fn: Callable[..., Any],
    arguments: Mapping[str, Any],
    rtol: float | None = None,
    atol: float | None = None,
    coarsest: str = "float64",
    scalars: bool = True,
) -> tuple[Any, Any]:
    """Print what `fn` and `torch_fn` make of a call, and in what it differs. The two results, or the errors that were raised.

    way  "convert" or "trace": `torch_fn` takes tensors; "rewrite": it takes what `fn` takes"""
    exactly = way == "rewrite"
    around = Surroundings(fn)  # what the one leaves in the module, the other is not to find
    want = run(fn, fn, arguments, torch_side=False, exactly=exactly)
    around.restore()
    got = run(torch_fn, fn, arguments, torch_side=not exactly, scalars=scalars, exactly=exactly)
    tolerance = Tolerance(rtol, atol, coarsest, exactly)
    print("NumPy:", _told(want))
    print("torch:", _told(got))
    found = outcomes_differ(want, got, tolerance)
    for name in want.arguments if found is not None and " after the call" in str(found) else ():
        print(f"{name} after the call:", want.arguments[name], "with NumPy,", got.arguments.get(name), "with torch")
    print("they differ:", found) if found is not None else print("they are the same")
    return (want.result, got.result) if want.error is None and got.error is None else (want.error or want.result, got.error or got.result)


def show_trace(fn: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Trace `fn` on arguments, and print what the trace says of the difference that it meets."""
    args, kwargs = call_with(fn, arguments)
    try:
        trace(fn, *args, **kwargs)
    except TraceError as refused:
        for finding in refused.findings:
            print("they differ:", finding.message)


def show_twice(fn: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Call `fn` twice on the same arguments, and print in what the results differ."""
    first, second = (run(fn, fn, arguments, torch_side=False) for _ in range(2))
    print("first:", _told(first))
    print("then: ", _told(second))
    print("they differ:", outcomes_differ(first, second, Tolerance(0.0, 0.0)))


def show_in_a_row(
    fn: Callable[..., Any],
    torch_fn: Callable[..., Any],
    calls: Sequence[tuple[Callable[..., Any], Callable[..., Any], Mapping[str, Any]]],
    rtol: float | None = None,
    atol: float | None = None,
    coarsest: str = "float64",
    scalars: bool = True,
) -> None:
    """Make calls in a row, each of a function and of what it has become, and print what each gives, and what differs: then, or when all
    are made, or in what the two sides keep."""
    tolerance = Tolerance(rtol, atol, coarsest, True)
    different = {place for place, (mine, theirs) in kept(fn, torch_fn).items() if difference(mine, theirs) is not None}
    made = []
    for before, now, arguments in calls:
        want = run(before, before, arguments, torch_side=False, exactly=True)
        got = run(now, before, arguments, torch_side=False, exactly=True)
        made.append((want, got))
        print("NumPy:", _told(want))
        print("torch:", _told(got))
        found = outcomes_differ(want, got, tolerance)
        if found is not None:
            print("they differ:", found)
    for number, (want, got) in enumerate(made, 1):
        found = outcomes_differ(want, got, tolerance)
        if found is not None:
            print(f"at the end, what call {number} gave: NumPy: {_told(want)}; torch: {_told(got)}; they differ: {found}")
    for place, (mine, theirs) in kept(fn, torch_fn).items():
        found = difference(mine, theirs, tolerance, place) if place not in different else None
        if found is not None:
            print("what is kept differs; they differ:", found)


def _told(outcome: Outcome) -> str:
    return f"raises {said(outcome.error)}" if outcome.error is not None else repr(outcome.result)
