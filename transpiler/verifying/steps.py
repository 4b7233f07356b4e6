"""The steps of a verification, each adding to the report: trace, convert, retrace, sizes, cross-check."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import random
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from ..source.findings import Finding, make_finding
from .bounds import bound_of
from .comparison import DEFAULTS, Difference, Tolerance, difference, short
from .conditioning import closer, excuse, numbers_in
from .copies import copied
from .counterexample import Counterexample, script
from .inputs import Plan, arguments, call_with, mentioned, sample_arguments
from .progress import Progress
from .report import Report
from .running import Outcome, out_of_memory, run
from .shrinking import plainer
from .unspecified import settled

ATTEMPTS = 8
"""How many generated samples are tried where NumPy raises on them."""

NAMES = {"convert": "the converted function", "trace": "the graph", "rewrite": "the rewritten function"}


def ends(error: BaseException | None) -> bool:
    """True for an error after which there is nothing to compare: the node exits, or memory is used up."""
    return isinstance(error, SystemExit) or out_of_memory(error)


def is_refusal(error: BaseException | None) -> bool:
    """True for a ConversionError or TraceError: an error that carries findings."""
    return error is not None and bool(getattr(error, "findings", None))


@dataclass
class Verification:
    """One node under verification: what is known of it, its torch forms as they come to be, and the report."""

    fn: Callable[..., Any]
    plan: Plan
    sizes: dict[str, int]
    given: Mapping[str, Any] | None
    report: Report
    tolerance: Tolerance
    seed: int
    max_examples: int
    shrink_seconds: float
    progress: Progress
    forms: dict[str, Any] = field(default_factory=dict)
    sample: Mapping[str, Any] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    scalars: bool = True
    """Whether the forms take NumPy's scalars: a graph that somebody exported takes tensors only."""

    def __post_init__(self) -> None:
        from ..tracing.surroundings import Surroundings

        self.around = Surroundings(self.fn)
        """What the node finds at a call. Each input is tried on the same: no object has the state that another input left."""

    @contextlib.contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Adds the time of a step to the report and moves the progress line."""
        self.progress.step(step)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.report.timings[step] = self.report.timings.get(step, 0.0) + time.perf_counter() - start

    def find(self, name: str, message: str, hint: str = "", severity: str | None = None) -> None:
        """A finding about the node as a whole."""
        place = {"path": self.report.path, "line": self.report.line, "column": 1}
        self.add([make_finding(name, message=message, hint=hint, severity=severity, **place)])  # type: ignore[arg-type]

    def add(self, findings: list[Finding]) -> None:
        self.report.findings += [finding for finding in findings if finding not in self.report.findings]

    def ending(self, error: BaseException | None, inputs: str) -> Finding:
        """The finding for a node that has no answer to any input: what it raises is no answer to compare with."""
        place = {"path": self.report.path, "line": self.report.line, "column": 1}
        if isinstance(error, SystemExit):
            message = f"{self.report.node} exits, with code {error.code}, on {inputs}"
            return make_finding("node-crashed", message=message, **place)  # type: ignore[arg-type]
        if out_of_memory(error):
            return make_finding("out-of-memory", message=f"{self.report.node} runs out of memory on {inputs}: {_said(error)}", **place)  # type: ignore[arg-type]
        return undeclared(self.report, f"NumPy raises on {inputs}: {_said(error)}")

    # Trace and convert

    def samples(self, first: int) -> Iterator[Mapping[str, Any]]:
        """Generated samples, from seed `first` on."""
        for seed in range(first, first + ATTEMPTS):
            yield sample_arguments(self.plan, self.sizes, self.seed + seed)

    def choose_sample(self) -> bool:
        """The given sample, or the first generated one that NumPy takes. False where there is none: a finding says so.

        What a node keeps between calls must not hide from the trace: where a sample is given nothing runs before, and what a run on a
        generated one leaves is taken back."""
        if self.given is not None:
            self.sample = self.given
            self.round_to(x.dtype for x in numbers_in(self.sample))
            return True
        outcome = Outcome()
        for sample in self.samples(0):
            outcome = run(self.fn, self.fn, sample, torch_side=False)
            self.around.restore()
            if outcome.error is None:
                self.sample = sample
                self.round_to(x.dtype for x in numbers_in(self.sample))
                return True
        self.add([self.ending(outcome.error, "the inputs made from its specs")])
        return False

    def trace(self) -> None:
        with self.timed("trace"):
            graph, error = self.traced(self.sample)
            if error is None:
                self.forms["trace"] = graph
                self.round_to(graph.face.rounded)
            else:
                self.refused("trace", error)

    def round_to(self, dtypes: Iterable[np.dtype[Any]]) -> None:
        """The coarsest of these is what results may be rounded to. The arguments' tell it where there is no graph."""
        rounded = {dtype.name for dtype in dtypes} & DEFAULTS.keys()
        self.tolerance = dataclasses.replace(self.tolerance, coarsest=max(rounded, key=DEFAULTS.__getitem__, default="float64"))

    def traced(self, sample: Mapping[str, Any]) -> tuple[Any, BaseException | None]:
        """A graph of the node for a sample, or the error."""
        from ..tracing import trace

        args, kwargs = call_with(self.fn, copied(sample))
        nowhere = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            warnings.simplefilter("ignore")
            try:
                return trace(self.fn, *args, **kwargs), None
            except (Exception, SystemExit) as e:
                return None, e

    def convert(self) -> None:
        from ..converting import convert

        with self.timed("convert"):
            try:
                self.forms["convert"] = convert(self.fn)
            except Exception as e:
                self.refused("convert", e)

    def refused(self, way: str, error: BaseException) -> None:
        """The findings of a refusal, as errors whatever they are elsewhere: there is no torch form. Any other error is a finding too."""
        if is_refusal(error):
            self.add([dataclasses.replace(finding, severity="error") for finding in error.findings])  # type: ignore[attr-defined]
        elif ends(error):
            self.add([self.ending(error, "the sample")])
        else:
            hint = "if NumPy runs the node on its sample, this is a bug of np2fx: please report it"
            self.find("mismatch", f"np2fx.{way} failed with {_said(error)}", hint)

    # The sample itself

    def check_sample(self) -> None:
        """All forms on the sample, and the original twice: a node must give the same answer to the same input."""
        with self.timed("sample"):
            first = run(self.fn, self.fn, self.sample, torch_side=False)
            second = run(self.fn, self.fn, self.sample, torch_side=False)
            if first.error is not None:
                self.add([self.ending(first.error, "the sample")])
                self.forms.clear()
                return
            changed = difference(first.result, second.result, Tolerance(0.0, 0.0))
            if changed is not None:
                self.find("mismatch", f"called twice on the same input the node gives different results: {changed}",
                          hint="pass random numbers and what is kept between calls in as arguments")  # fmt: skip
                self.forms.clear()
            for way in list(self.forms):
                error = run(self.forms[way], self.fn, self.sample, torch_side=True, scalars=self.scalars).error
                if isinstance(error, Exception) and is_refusal(error):
                    self.refused(way, error)
                    del self.forms[way]

    # Retrace

    def retrace(self) -> None:
        """A second trace, on other values, must give the same graph: what differs is a value that leaked."""
        if "trace" not in self.forms:
            return
        from ..tracing.compare import compare_graphs

        with self.timed("retrace"):
            for sample in self.samples(100):
                graph, error = self.traced(sample)
                if error is None:
                    found = compare_graphs(self.forms["trace"], graph)
                    self.report.count("retraced")
                    if found is not None:
                        self.find("leaked-constant", f"two traces on different inputs differ: {found}")
                        del self.forms["trace"]
                    return
                if is_refusal(error):
                    self.refused("trace", error)
                    return

    def vary_sizes(self) -> None:
        """A trace on another size of each free dimension must give the same graph."""
        if "trace" not in self.forms:
            return
        from ..tracing.compare import compare_graphs

        with self.timed("sizes"):
            for name, size in self.sizes.items():
                other = size + 1
                graph, error = self.traced(sample_arguments(self.plan, {**self.sizes, name: other}, self.seed + 200))
                if error is not None and not is_refusal(error):
                    self.fixed.add(name)  # NumPy itself takes no other size
                    self.find("specialised-size", f"NumPy raises where {name} is {other} instead of {size}: {_said(error)}",
                              hint=f"declare the size as the number {size}", severity="note")  # fmt: skip
                    continue
                found = str(error).splitlines()[0] if error is not None else compare_graphs(self.forms["trace"], graph)
                self.report.sizes[name] = [size, other]
                if found is not None:
                    self.fixed.add(name)
                    label = f"the free size {name}" if not name.startswith("_") else "a free size"
                    self.find("specialised-size", f"traced with {label} at {other} instead of {size}, the graph differs: {found}")

    # The three against each other

    def inputs(self) -> st.SearchStrategy[dict[str, Any]]:
        """Arguments for every size of the free dimensions that are not specialised on; Hypothesis shrinks to the first."""
        turning = mentioned(self.fn)
        sizes = {
            name: st.just(size) if name in self.fixed else st.sampled_from((1, 2, 3, 4, 5, size, 0)) for name, size in self.sizes.items()
        }
        return st.fixed_dictionaries(sizes).flatmap(lambda drawn: arguments(self.plan, drawn, turning))

    def cross_check(self) -> None:
        if not self.forms:
            return
        search = _Search(self)
        with self.timed("cross-check"):
            search.run()
        if search.found is not None:
            way, args, message = search.found
            code = script(self.fn, way, args, self.sample, message, self.forms[way], self.scalars)
            self.report.counterexample = Counterexample(way, args, message, code)
            self.find("mismatch", f"{NAMES[way]} does not do what NumPy does: {message}")
        if search.used_up is not None:
            self.add([self.ending(search.used_up, f"{self.report.checked['out_of_memory']} of its inputs, on one side")])
        tried = self.report.checked.get("inputs", 0)
        if tried and tried == self.report.checked.get("raised", 0):
            self.add([undeclared(self.report, f"NumPy raised on all of the {tried} inputs that were made", severity="warning")])
        for way, error in search.refusals.items():
            if tried and self.report.checked.get(f"refused_{way}", 0) == tried:
                self.refused(way, error)
        for (way, why, hint), (raised, args) in search.bounds.items():
            never = self.report.checked.get(f"bounded_{way}", 0) == tried
            message = f"{NAMES[way]} raises where NumPy gives a value: {_said(raised)}, as for {short(args)}: {why}"
            self.find("mismatch", message, f"this is a limit that is documented: {hint}", severity=None if never else "warning")


class _Search:
    """Hypothesis looks for arguments on which a form differs from NumPy, and shrinks them."""

    def __init__(self, work: Verification) -> None:
        self.work = work
        self.found: tuple[str, Mapping[str, Any], str] | None = None
        self.refusals: dict[str, Exception] = {}
        self.used_up: BaseException | None = None
        self.bounds: dict[tuple[str, str, str], tuple[BaseException | None, Mapping[str, Any]]] = {}
        """Way, reason, way out -> the error and the input, where a form raises by a limit that is documented."""
        self.deadline = float("inf")

    def run(self) -> None:
        work = self.work
        chosen = settings(
            max_examples=work.max_examples,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        on_sample = self.compare_sample()
        # NoSuchExample: nothing found. Flaky: shrinking was cut short, and `found` holds the smallest so far
        with contextlib.suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky):
            hypothesis.find(work.inputs(), self.differs, settings=chosen, random=random.Random(work.seed))
        self.found = self.found or on_sample
        if self.found is not None:
            self.deadline = float("inf")
            plainer(self.found[1], work.plan, self.differs, work.shrink_seconds)

    def compare_sample(self) -> tuple[str, Mapping[str, Any], str] | None:
        """The sample as a counterexample, if it is one. It does not count as one of the inputs, and is kept if no smaller one is found."""
        counted, self.work.report.checked = self.work.report.checked, {}
        if self.work.sample:
            self.differs(self.work.sample)
        self.work.report.checked = counted
        found, self.found, self.deadline = self.found, None, float("inf")
        self.refusals.clear()
        return found

    def differs(self, args: Mapping[str, Any]) -> bool:
        """The condition that Hypothesis looks for."""
        if time.perf_counter() > self.deadline:
            return False
        before = copied(args)
        outcome = self.compare(args)
        if outcome is None:
            return False
        if self.found is None:
            self.deadline = time.perf_counter() + self.work.shrink_seconds
        self.found = (outcome[0], before, outcome[1])
        return True

    def compare(self, args: Mapping[str, Any]) -> tuple[str, str] | None:
        """The form that differs from NumPy on these arguments and in what, or None."""
        work, counting = self.work, self.found is None
        count = work.report.count if counting else lambda *_: None
        if counting:
            work.progress.step("cross-check")
        work.around.restore()
        want = run(work.fn, work.fn, args, torch_side=False)
        if want.undefined:
            count("undefined")
            return None
        count("inputs")
        if want.error is not None:
            count("raised")
        for way, form in work.forms.items():
            work.around.restore()
            got = run(form, work.fn, args, torch_side=True, scalars=work.scalars)
            if isinstance(got.error, Exception) and is_refusal(got.error):
                count(f"refused_{way}")
                self.refusals[way] = got.error
                continue
            found = outcomes_differ(want, got, work.tolerance)
            if found is None:
                continue
            if out_of_memory(want.error) or out_of_memory(got.error):  # one takes more than the other: no difference, and no proof
                count("out_of_memory")
                self.used_up = want.error or got.error
                continue
            reason = self.excuse(args, want, got)
            if reason is not None:
                count(reason)
            elif want.error is None and (bound := bound_of(got.error)) is not None:
                count(f"bounded_{way}")
                self.bounds[(way, *bound)] = got.error, copied(args)
            else:
                return way, str(found)
        return None


    def excuse(self, args: Mapping[str, Any], want: Outcome, got: Outcome) -> str | None:
        """Why a difference does not count: an answer that NumPy leaves open, or one that rounding explains."""
        work = self.work
        again, left_open = settled(work.fn, args)
        if "undefined" in left_open:
            return "undefined"
        if left_open and outcomes_differ(again, got, work.tolerance) is None:
            return "ties"
        if want.error is not None or got.error is not None:
            return None
        return "closer" if closer(work.fn, args, want, got, work.tolerance) else excuse(work.fn, args, want, got, work.tolerance)


def outcomes_differ(want: Outcome, got: Outcome, tolerance: Tolerance) -> Difference | None:
    """What differs between what NumPy and torch made of a call: error, result, arguments left behind."""
    if want.error is not None:
        return None if got.error is not None else Difference(f"NumPy raises {_said(want.error)}; torch gives a result")
    if got.error is not None:
        return Difference(f"torch raises {_said(got.error)}; NumPy gives a result")
    found = difference(want.result, got.result, tolerance)
    for name in want.arguments:
        found = found or difference(want.arguments[name], got.arguments[name], tolerance, f"{name} after the call")
    return found


def undeclared(report: Report, message: str, severity: str = "error", hint: str = "") -> Finding:
    """The finding for a node that cannot be given inputs."""
    place = {"path": report.path, "line": report.line, "column": 1}
    return make_finding("undeclared-input", message=message, severity=severity, hint=hint, **place)  # type: ignore[arg-type]


def already_rewritten(report: Report) -> Finding:
    """The finding for a node that is torch already, where nothing says what it was."""
    message = f"{report.node} is rewritten already: verified against itself it proves nothing"
    return make_finding("already-rewritten", path=report.path, line=report.line, column=1, message=message)


def _said(error: BaseException | None) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
