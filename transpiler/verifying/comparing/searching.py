"""The cross-check: arguments on which a torch form differs from NumPy. Where there are some, Hypothesis looks for smaller ones."""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from ..inputs.copies import copied, lies_plainly
from ..inputs.manners import Manner, apart, of_one_kind, plain
from .bounds import bound_of, refused_at_the_boundary
from .comparison import Difference, Tolerance
from .conditioning import closer, excuse
from .outcomes import is_refusal, outcomes_differ
from .running import Outcome, out_of_memory, run
from .shrinking import plainer
from .unspecified import settled

if TYPE_CHECKING:
    from ..steps import Verification


_MOST_EXAMPLES = 200
"""So many inputs Hypothesis tries to find again what is found already, in a smaller one."""


class Search:
    """The search for one node. `found` is the way that differs, the arguments, and in what."""

    def __init__(self, work: Verification) -> None:
        self.work = work
        self.found: tuple[str, Mapping[str, Any], str] | None = None
        self.refusals: dict[str, Exception] = {}
        self.used_up: BaseException | None = None
        self.bounds: dict[tuple[str, str, str], tuple[BaseException | None, Mapping[str, Any]]] = {}
        """Way, reason, way out -> the error and the input, where a form raises by a limit that is documented."""
        self.deadline = float("inf")
        self.manners: list[Manner] = []
        """The manners in which every second input is passed, and `manner` the present one; `stays`: a difference hangs on it."""
        self.manner: Manner = plain
        self.drawn, self.stays, self.counts = 0, False, True

    def run(self) -> None:
        work = self.work
        seen = self.compare_sample() or self.compare_recorded()
        if seen is None:
            seen, self.counts = self.compare_drawn(), False
            if seen is None:
                return
        chosen = settings(
            max_examples=min(work.max_examples, _MOST_EXAMPLES),
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        # NoSuchExample: nothing found. Flaky: shrinking was cut short, and `found` holds the smallest so far
        with contextlib.suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky):
            hypothesis.find(work.inputs(), self.differs_somehow, settings=chosen, random=random.Random(work.seed))
        self.found = self.found or seen
        self.deadline = float("inf")
        plainer(self.found[1], work.plan, self.differs, work.shrink_seconds)

    def compare_sample(self) -> tuple[str, Mapping[str, Any], str] | None:
        """The sample as a counterexample, if it is one in some manner: kept if no smaller one is found.

        As it is it does not count as one of the inputs. In each other manner it does, so that every manner is tried."""
        work = self.work
        counted, work.report.checked = work.report.checked, {}
        if work.sample:
            self.differs(work.sample)
        work.report.checked = counted
        for manner in work.manners[: work.max_examples // 2] if self.found is None else ():
            refused = len(self.bounds)
            if self.differs(manner(copied(work.sample, exactly=True))):
                break
            if len(self.bounds) == refused:  # else once is enough: it will be so again
                self.manners.append(manner)
        found, self.found, self.deadline = self.found, None, float("inf")
        self.refusals.clear()
        return found

    def compare_recorded(self) -> tuple[str, Mapping[str, Any], str] | None:
        """The first of the recorded calls on which a form differs."""
        next((call for call in self.work.recorded if self.differs(call)), None)
        found, self.found, self.deadline = self.found, None, float("inf")
        return found

    def compare_drawn(self) -> tuple[str, Mapping[str, Any], str] | None:
        """The first of the inputs on which a form differs."""
        work = self.work
        tried = work.report.checked.get("inputs", 0) + work.report.checked.get("undefined", 0)
        next(filter(self.differs_somehow, itertools.islice(work.drawn(), max(work.max_examples - tried, 1))), None)
        found, self.found, self.deadline = self.found, None, float("inf")
        return found

    def differs_somehow(self, drawn: Mapping[str, Any]) -> bool:
        """The condition that is looked for: every second input is passed in a manner other than the plain one.

        What was found stays in its manner while it is made smaller, unless it is there without."""
        if self.found is None:
            self.drawn += 1
            self.manner = self.manners[self.drawn // 2 % len(self.manners)] if self.manners and self.drawn % 2 == 0 else plain
        elif self.manner is not plain and not self.stays:
            self.stays = not self.differs(copied(drawn, exactly=True))
            if not self.stays:
                self.manner = plain
        return self.differs(self.manner(drawn))

    def differs(self, args: Mapping[str, Any]) -> bool:
        """Whether a form differs on these arguments."""
        if time.perf_counter() > self.deadline:
            return False
        outcome = self.compare(args)  # of copies
        if outcome is None:
            return False
        if self.found is None:
            self.deadline = time.perf_counter() + self.work.shrink_seconds
        self.found = (outcome[0], copied(args, exactly=True), outcome[1])
        return True

    def compare(self, args: Mapping[str, Any]) -> tuple[str, str] | None:
        """The form that differs from NumPy on these arguments and in what, or None."""
        work, counting = self.work, self.found is None and self.counts
        count = work.report.count if counting else lambda *_: None
        if counting:
            work.progress.step("cross-check")
        alike = of_one_kind(dict(work.sample), dict(args))
        wants: dict[bool, Outcome] = {}
        for way, form in work.forms.items():
            if way == "trace" and not alike:  # a graph is of the kinds that it was traced with
                continue
            exactly = way == "rewrite"
            seen = exactly and not lies_plainly(args)
            if seen not in wants:
                want = wants[seen] = self.numpys(args, seen)
                if len(wants) == 1:
                    count("undefined" if want.undefined else "inputs")
                    if want.error is not None:
                        count("raised")
            want = wants[seen]
            if want.undefined:
                return None
            got = self.torchs(way, form, args, exactly)
            if isinstance(got.error, Exception) and is_refusal(got.error):
                count(f"refused_{way}")
                self.refusals[way] = got.error
                continue
            tolerance = work.exactly if exactly else work.tolerance
            found = outcomes_differ(want, got, tolerance)
            if found is None:
                continue
            if out_of_memory(want.error) or out_of_memory(got.error):  # one takes more than the other: no difference, and no proof
                count("out_of_memory")
                self.used_up = want.error or got.error
                continue
            reason = self.excuse(args, want, got, tolerance, found)
            bound = bound_of(got.error) or (None if alike else refused_at_the_boundary(got.error, work.fn))
            if reason is not None:
                count(reason)
            elif want.error is None and bound is not None:
                count(f"bounded_{way}")
                self.bounds[(way, *bound)] = got.error, copied(args, exactly=True)
            else:
                return way, str(found)
        return None

    def numpys(self, args: Mapping[str, Any], exactly: bool) -> Outcome:
        """What NumPy makes of a call. Exactly: of arrays that lie in memory as these do, in a way that no tensor can, too."""
        work = self.work
        work.around.restore()
        return run(work.fn, work.fn, args, torch_side=False, exactly=exactly)

    def torchs(self, way: str, form: Any, args: Mapping[str, Any], exactly: bool) -> Outcome:
        """What a form makes of a call. The rewritten function is called as NumPy's callers call it."""
        work = self.work
        work.restore_for(way)
        return run(form, work.fn, args, torch_side=not exactly, scalars=work.scalars, exactly=exactly)

    def excuse(self, args: Mapping[str, Any], want: Outcome, got: Outcome, tolerance: Tolerance, found: Difference) -> str | None:
        """Why a difference does not count: an answer that NumPy leaves open, or one that rounding explains."""
        work = self.work
        if tolerance.kinds and outcomes_differ(want, got, work.tolerance) is None:  # they differ in kind, which nothing leaves open
            return None
        alone = {name: apart(value) for name, value in args.items()}
        another = self.numpys(alone, False)
        if outcomes_differ(another, want, work.tolerance) is not None and excuse(work.fn, alone, another, want, work.tolerance) is None:
            return None  # NumPy's answer hangs on how the arrays lie, and none of what follows keeps that
        again, left_open = settled(work.fn, args)
        if "undefined" in left_open:
            return "undefined"
        if left_open and outcomes_differ(again, got, tolerance) is None:
            return "ties"
        if want.error is not None or got.error is not None or found.want is None:  # it is no number that differs
            return None
        return "closer" if closer(work.fn, args, want, got, tolerance) else excuse(work.fn, args, want, got, tolerance)


