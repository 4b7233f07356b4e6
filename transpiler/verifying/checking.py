"""The library call `np2fx.verify`, in the process of the caller.

A verification traces the node, converts it, traces it again on other values (a constant that changed has leaked) and on
other sizes of its free dimensions, and then lets Hypothesis look for an input on which the three do not agree.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .comparing.comparison import Tolerance
from .inputs.importing import importing
from .inputs.originals import is_rewritten
from .inputs.plans import UndeclaredError, free_sizes, plan_of
from .isolation.progress import Progress
from .report import Report
from .steps import Verification, already_rewritten, undeclared

WAYS = ("trace", "convert", "rewrite")


@dataclass(frozen=True)
class Known:
    """What the command knows of a node beside its function.

    rewritten  gives its form among the rewritten files; None where it has none. Raises where they cannot be loaded
    recipe     lines of code that make that form, as `torch_fn`
    original   lines of code that make the function, as `fn`, where it cannot be imported
    passed     by parameter, what callers of the project pass
    recorded   arguments of further calls that were seen, in the order of the parameters"""

    rewritten: Callable[[], Any] | None = None
    recipe: tuple[str, ...] = ()
    original: tuple[str, ...] = ()
    passed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    recorded: tuple[list[Any], ...] = ()


def verify(
    fn: Callable[..., Any],
    *samples: Any,
    spec: Mapping[str, Any] | None = None,
    original: Callable[..., Any] | None = None,
    max_examples: int = 50,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    ways: tuple[str, ...] = WAYS,
    shrink_seconds: float = 20.0,
    known: Known | None = None,
) -> Report:
    """Verify that `fn` as torch does what it does as NumPy.

    samples         arguments of one call, for inputs like them; may be left out where specs or annotations say enough
    spec            parameter name -> spec ("float32[batch, 7] in [-1, 1]"), before those of `@np2fx.node` and annotations
    original        what `fn` was before it was rewritten: `fn` as it is is held against it, and nothing is traced or converted
    max_examples    how many inputs Hypothesis tries
    rtol, atol      tolerance of floating-point values; by default by dtype (2e-5 for float32, 1e-9 for float64)
    seed            the same seed tries the same inputs
    ways            which of "trace", "convert" and "rewrite": its file, and those of its project that it imports, as `np2fx rewrite` would
                    leave them, loaded beside what is loaded, so that `fn` runs there with the decorators and nodes that are rewritten
                    with it. Where that changes nothing, and for functions of a running script, there is no such form
    shrink_seconds  how long a counterexample is made smaller
    known           what the command knows beside that

    Says what it finds in the report's findings; raises only for arguments of its own that make no sense: SpecError for
    specs, TypeError for samples that `fn` does not take, ValueError for an unknown way.
    """
    if unknown := [way for way in ways if way not in WAYS]:
        raise ValueError(f"{unknown[0]!r} is not a way; ways are {', '.join(WAYS)}")
    report = _empty_report(fn)
    if original is None and is_rewritten(fn):
        report.findings.append(already_rewritten(report))
        return report
    form, fn = fn, original or fn
    try:
        plan = plan_of(fn, samples, spec)
    except UndeclaredError as e:
        report.findings.append(undeclared(report, str(e)))
        return report
    given = inspect.signature(fn).bind_partial(*samples).arguments
    complete = bool(samples) and set(plan) <= set(given)
    with Progress(report.node, max_examples + 5) as progress:
        sample = given if complete else None
        limits = (Tolerance(rtol, atol), seed, max_examples, shrink_seconds)
        work = Verification(fn, plan, free_sizes(plan), sample, report, *limits, progress)
        if not work.choose_sample():
            return report
        work.passed = known.passed if known else {}
        work.known = known.original if known else ()
        work.recorded = [inspect.signature(fn).bind_partial(*call).arguments for call in known.recorded] if known else []
        if original is not None:
            work.rewrite(form, tuple(importing(form, "torch_fn")))
        else:
            if "trace" in ways:
                work.trace()
            if "convert" in ways:
                work.convert()
            if "rewrite" in ways:
                work.rewrite_files(known.rewritten if known else None, known.recipe if known else ())
        work.choose_manners()
        work.call_in_a_row()
        work.check_sample()
        work.retrace()
        work.vary_sizes()
        work.cross_check()
    return report


def check_form(
    fn: Callable[..., Any], form: Callable[..., Any], *samples: Any, way: str = "trace", max_examples: int = 50, seed: int = 0
) -> Report:
    """The cross-check of `verify` alone, on a torch form of `fn` that is given: is it what `fn` is?

    Sizes stay those of the samples (or of the first sample made from the specs), as a graph may hold for no others."""
    report = _empty_report(fn)
    plan = plan_of(fn, samples, None)
    given = inspect.signature(fn).bind_partial(*samples).arguments
    complete = bool(samples) and set(plan) <= set(given)
    sizes = free_sizes(plan)
    with Progress(report.node, max_examples) as progress:
        limits = (Tolerance(), seed, max_examples, 0.0)
        work = Verification(fn, plan, sizes, given if complete else None, report, *limits, progress, fixed=set(sizes), scalars=False)
        if work.choose_sample():
            work.forms[way] = form
            work.check_sample()
            work.cross_check()
    return report


def _empty_report(fn: Callable[..., Any]) -> Report:
    """A report that knows the node's name and place."""
    inner = inspect.unwrap(fn)
    code = getattr(inner, "__code__", None)
    name = getattr(inner, "__qualname__", None) or type(fn).__name__
    return Report(name, code.co_filename if code else "", code.co_firstlineno if code else 0)
