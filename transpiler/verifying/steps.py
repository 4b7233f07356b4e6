"""The steps of a verification, each adding to the report: trace, convert, retrace, sizes, cross-check."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..source.findings.finding import Finding, make_finding
from .comparing.bounds import AT_THE_BOUNDARY
from .comparing.comparison import DEFAULTS, Tolerance, difference, short
from .comparing.conditioning import numbers_in
from .comparing.counterexample import Counterexample, Shown, script, script_in_a_row, script_on_sample
from .comparing.outcomes import NAMES, ends, is_refusal, outcomes_differ, said
from .comparing.running import Outcome, out_of_memory, run
from .comparing.searching import Search
from .comparing.sequences import look
from .inputs.copies import copied
from .inputs.drawing import Drawing
from .inputs.manners import Manner, manners_for
from .inputs.plans import Leaf, Plan, arguments, call_with, is_scalar, mentioned, sample_arguments
from .inputs.world import FORM_AROUND, Form, WorldError, form_around
from .isolation.progress import Progress
from .report import Report

ATTEMPTS = 8
"""How many generated samples are tried where NumPy raises on them."""

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
    manners: tuple[Manner, ...] = ()
    """The manners beside the plain one in which its arguments may be passed."""
    passed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By parameter, what callers of the project pass: see `manners_for`."""
    recipe: tuple[str, ...] = ()
    """Lines of code that make the rewritten function, as `torch_fn`."""
    recorded: list[Mapping[str, Any]] = field(default_factory=list)
    """Arguments of calls that were seen, beside the sample's."""
    known: tuple[str, ...] = ()
    """Lines of code that make the original, as `fn`, where it cannot be imported."""

    def __post_init__(self) -> None:
        from ..tracing.surroundings.found import Surroundings

        self.around = Surroundings(self.fn)
        """What the node finds at a call. Each input is tried on the same: no object has the state that another input left."""
        self.around_rewritten: Any = None

    @property
    def exactly(self) -> Tolerance:
        """The tolerance for what is to be as NumPy's to its kind: the rewritten function's callers know nothing of torch."""
        return dataclasses.replace(self.tolerance, kinds=True)

    def restore_for(self, way: str) -> None:
        """Put back what a form finds at a call."""
        if way == "rewrite" and self.around_rewritten is not None:
            self.around_rewritten.restore()
        else:
            self.around.restore()

    def rewrite(self, form: Any, recipe: tuple[str, ...]) -> None:
        """Take in the rewritten function; `recipe` is code that makes it."""
        from ..tracing.surroundings.found import Surroundings

        inside = form.world.entered() if isinstance(form, Form) else contextlib.nullcontext()
        with inside:
            self.around_rewritten = Surroundings(form.function if isinstance(form, Form) else form)
        self.forms["rewrite"], self.recipe = form, recipe

    def rewrite_files(self, make: Callable[[], Any] | None, recipe: tuple[str, ...]) -> None:
        """The function among the rewritten files of its project, where it is one of theirs: `make` gives it, or None."""
        nowhere = io.StringIO()
        with self.timed("rewrite"), warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            warnings.simplefilter("ignore")
            self.around.restore()  # the form has a copy of the object whose method it is
            try:
                form = (make or (lambda: form_around(self.fn)))()
                if form is not None:
                    self.rewrite(form, recipe or FORM_AROUND)
            except WorldError as e:
                self.find(*e.finding)

    def choose_manners(self) -> None:
        """How the arguments may be passed, now that the sample tells their kinds."""
        scalars = frozenset(name for name, known in self.plan.items() if is_scalar(known))
        ranks = {name: known.ranks for name, known in self.plan.items() if isinstance(known, Leaf) and known.ranks}
        self.manners = manners_for(self.sample, scalars, self.passed, ranks)

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
            return make_finding("out-of-memory", message=f"{self.report.node} runs out of memory on {inputs}: {said(error)}", **place)  # type: ignore[arg-type]
        return undeclared(self.report, f"NumPy raises on {inputs}: {said(error)}")

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
            graph, error = self.traced(self.sample, prove=True)
            if error is None:
                self.forms["trace"] = graph
                self.round_to(graph.face.rounded)
            else:
                self.refused("trace", error)

    def round_to(self, dtypes: Iterable[np.dtype[Any]]) -> None:
        """The coarsest of these is what results may be rounded to. The arguments' tell it where there is no graph."""
        rounded = {dtype.name for dtype in dtypes} & DEFAULTS.keys()
        self.tolerance = dataclasses.replace(self.tolerance, coarsest=max(rounded, key=DEFAULTS.__getitem__, default="float64"))

    def traced(self, sample: Mapping[str, Any], prove: bool = False) -> tuple[Any, BaseException | None]:
        """A graph of the node for a sample, or the error. With `prove` it is found out for which sizes it holds."""
        from ..tracing.entry import signature_of, trace_bound
        from ..tracing.module import bound_to

        args, kwargs = call_with(self.fn, copied(sample))
        nowhere = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            warnings.simplefilter("ignore")
            try:
                return trace_bound(self.fn, bound_to(self.fn, signature_of(self.fn), args, kwargs), True, prove), None
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
            met = next((finding for finding in error.findings if finding.name == "mismatch"), None)  # type: ignore[attr-defined]
            if met is not None and way == "trace" and self.report.counterexample is None:
                code = script_on_sample(self.shown("trace", met.message), "show_trace")
                self.report.counterexample = Counterexample("trace", self.sample, met.message, code)
        elif ends(error):
            self.add([self.ending(error, "the sample")])
        else:
            hint = "if NumPy runs the node on its sample, this is a bug of np2fx: please report it"
            self.find("mismatch", f"np2fx.{way} failed with {said(error)}", hint)

    # The rewritten function in a row of calls

    def call_in_a_row(self) -> None:
        """Calls in a row on both sides: see `sequences`. A difference leaves nothing to search for."""
        form = self.forms.get("rewrite")
        if form is None:
            return
        with self.timed("calls in a row"):
            found = look(self, form, [next(self.samples(300))])
        if found is not None:
            code = script_in_a_row(self.shown("rewrite", found.difference), [(step.texts, step.arguments) for step in found.steps])
            self.report.counterexample = Counterexample("rewrite", self.sample, found.difference, code)
            self.find("mismatch", f"{NAMES['rewrite']} does not do what NumPy does: {found.when}: {found.difference}")
            del self.forms["rewrite"]

    # The sample itself

    def check_sample(self) -> None:
        """All forms on the sample, and the original twice: a node must give the same answer to the same input."""
        with self.timed("sample"):
            self.around.restore()
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
                if self.report.counterexample is None:
                    code = script_on_sample(self.shown("original", str(changed)), "show_twice")
                    self.report.counterexample = Counterexample("original", self.sample, str(changed), code)
                self.forms.clear()
            for way in list(self.forms):
                self.restore_for(way)
                error = run(self.forms[way], self.fn, self.sample, torch_side=way != "rewrite", scalars=self.scalars).error
                if isinstance(error, Exception) and is_refusal(error):
                    self.refused(way, error)
                    del self.forms[way]

    # Retrace

    def retrace(self) -> None:
        """A second trace, on other values, must give the same graph: what differs is a value that leaked."""
        if "trace" not in self.forms:
            return
        from ..tracing.recording.compare import compare_graphs

        with self.timed("retrace"):
            for sample in self.samples(100):
                graph, error = self.traced(sample)
                if error is None:
                    found = compare_graphs(self.forms["trace"], graph)
                    self.report.count("retraced")
                    if found is not None:
                        self.find("leaked-constant", f"two traces on different inputs differ: {found}")
                        self.show_leak(sample)
                        del self.forms["trace"]
                    return
                if is_refusal(error):
                    self.refused("trace", error)
                    return

    def show_leak(self, sample: Mapping[str, Any]) -> None:
        """A graph of one sample that is wrong for another is a counterexample."""
        self.around.restore()
        want = run(self.fn, self.fn, sample, torch_side=False)
        self.around.restore()
        found = outcomes_differ(want, run(self.forms["trace"], self.fn, sample, torch_side=True, scalars=self.scalars), self.tolerance)
        if found is not None:
            self.show("trace", sample, str(found))

    def show(self, way: str, args: Mapping[str, Any], message: str) -> None:
        """Keep the first counterexample, as code."""
        if self.report.counterexample is None:
            code = script(self.shown(way, message), args)
            self.report.counterexample = Counterexample(way, args, message, code)

    def shown(self, way: str, message: str) -> Shown:
        """What a script is to show of this node."""
        return Shown(self.fn, way, self.sample, message, self.forms.get(way), self.scalars, self.recipe, self.known, self.tolerance)

    def vary_sizes(self) -> None:
        """A trace on another size of each free dimension must give the same graph."""
        if "trace" not in self.forms:
            return
        from ..tracing.recording.compare import compare_graphs

        with self.timed("sizes"):
            for name, size in self.sizes.items():
                other = size + 1
                graph, error = self.traced(sample_arguments(self.plan, {**self.sizes, name: other}, self.seed + 200))
                if error is not None and not is_refusal(error):
                    self.fixed.add(name)  # NumPy itself takes no other size
                    self.find("specialised-size", f"NumPy raises where {name} is {other} instead of {size}: {said(error)}",
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

    def drawn(self) -> Iterator[dict[str, Any]]:
        """The same, without end, and drawn quickly."""
        return iter(Drawing(self.plan, self.sizes, self.fixed, mentioned(self.fn), self.seed))

    def cross_check(self) -> None:
        if not self.forms:
            return
        search = Search(self)
        with self.timed("cross-check"):
            search.run()
        if search.found is not None:
            way, args, message = search.found
            self.show(way, args, message)
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
            limit = "note" if why == AT_THE_BOUNDARY and not self.passed else "warning"
            message = f"{NAMES[way]} raises where NumPy gives a value: {said(raised)}, as for {short(args)}: {why}"
            self.find("mismatch", message, f"this is a limit that is documented: {hint}", severity=None if never else limit)


def undeclared(report: Report, message: str, severity: str = "error", hint: str = "") -> Finding:
    """The finding for a node that cannot be given inputs."""
    place = {"path": report.path, "line": report.line, "column": 1}
    return make_finding("undeclared-input", message=message, severity=severity, hint=hint, **place)  # type: ignore[arg-type]


def already_rewritten(report: Report) -> Finding:
    """The finding for a node that is torch already, where nothing says what it was."""
    message = f"{report.node} is rewritten already: verified against itself it proves nothing"
    return make_finding("already-rewritten", path=report.path, line=report.line, column=1, message=message)
