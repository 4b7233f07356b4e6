"""Branches that were taken out of their function (see `parting`): where the test hangs on values, both sides run, and meet behind it.

Where that is not to be (see `joining`), the trace starts again, and the branch is one of those that are followed to the end of the
function.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from .. import state
from ..errors import TraceError
from ..recording.storage import Storage
from ..surroundings.found import Surroundings
from ..tracer import Tracer
from .hoisting import UNSET
from .joining import Joining
from .loops import ASKED, Plan, again, hangs_on_values, peeked, unroll
from .parting import CHOICES, Choice
from .regions import Unfit

VALUE = "the value"


def run_choice(number: int, around: dict[str, Any]) -> Any:
    """The branch of this number, with the variables that the function has. Returns those that it binds; of an expression the value."""
    choice, around_it = CHOICES[number], sys._getframe(1).f_globals
    given = {name: around.get(name, UNSET) for name in choice.names}
    found = _Run(choice, around_it, given).run(state.active())
    return found[VALUE] if choice.is_expression else tuple(found.get(name, UNSET) for name in choice.assigned)


class _Run:
    """One run of a branch."""

    def __init__(self, choice: Choice, around: dict[str, Any], given: dict[str, Any]) -> None:
        self.choice, self.around, self.given = choice, around, given

    def call(self, code: types.CodeType) -> Any:
        return types.FunctionType(code, self.around)(**self.given)

    def side(self, truth: Any) -> dict[str, Any]:
        """What the variables are after one side. `truth` is asked for its own."""
        found = self.call(self.choice.yes if truth else self.choice.no)
        return {VALUE: found} if self.choice.is_expression else found

    def run(self, tracer: Tracer | None) -> dict[str, Any]:
        choice = self.choice
        plan = Plan(unrolled=True) if tracer is None else tracer.loops.setdefault(choice, Plan())
        if tracer is None or plan.unrolled:
            return self.side(self.call(choice.truth))
        before = Surroundings(*self.given.values()) if choice.calls else None
        writes = Storage.writes
        value = peeked(tracer, lambda: self.call(choice.test))
        if value is not ASKED:
            return self.join(tracer, plan, lambda: self.side(value)) if hangs_on_values(tracer, value) else self.side(value)
        if Storage.writes != writes or (before is not None and before.changed(Surroundings(*self.given.values()), exchanged=True)):
            plan.unrolled, plan.why = True, "its condition changes something"
            raise again(tracer)
        return self.join(tracer, plan, lambda: self.side(self.call(choice.truth)))

    def join(self, tracer: Tracer, plan: Plan, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Run both sides, and let them meet."""
        choice = self.choice
        if choice.is_expression:
            return joined(tracer, plan, choice, {VALUE: UNSET}, self.given, run, frozenset((VALUE,)))
        start = {name: self.given.get(name, UNSET) for name in choice.assigned}
        return joined(tracer, plan, choice, start, self.given, run, choice.needed)


def joined(tracer: Tracer, plan: Plan, piece: Any, start: dict[str, Any], given: dict[str, Any], run: Callable[[], dict[str, Any]],
           needed: frozenset[str], late: frozenset[str] = frozenset()) -> dict[str, Any]:  # fmt: skip
    """What a piece of the function gives, whose ways meet at its end (see `Joining`). Raises Again where they do not."""
    try:
        with tracer.inside():
            joining = Joining(tracer, piece.place, start, given, run, needed, piece.guarded)
            joining.late = late
            found = joining.join(lambda: unroll(tracer, plan))
        plan.formed = True
        return found
    except Unfit as unfit:
        plan.why = str(unfit)
    except TraceError as refused:
        plan.why = refused.findings[0].message if refused.findings else str(refused)
    plan.unrolled = True
    raise again(tracer)
