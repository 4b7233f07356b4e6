"""`for` loops that end early or skip rounds (see `ending`): each round is a piece of the function, whose ways meet at its end.

Where it hangs on values whether the loop goes on, all further rounds are run under that condition. Over a `range` it is one
`torch.while_loop`, if that can be (see `forming`).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any

from .. import state
from ..arrays.array import TracedNpArray
from ..arrays.number import TracedNumber, settled
from ..errors import TraceError
from ..tracer import Tracer
from .choosing import joined
from .ending import GOES_ON, ITEM, RESULT, ROUNDS, Rounds
from .forming import Forming
from .hoisting import UNSET, Loop
from .loops import Plan, Watched, again, unroll
from .regions import Unfit


def run_for(number: int, around: dict[str, Any], items: Iterable[Any]) -> tuple[Any, ...]:
    """The loop of this number, with the variables that the function has. Returns those that it binds, and whether no `break` ended it."""
    rounds, globals_of_it = ROUNDS[number], sys._getframe(1).f_globals
    body = types.FunctionType(rounds.body, globals_of_it)
    return _Run(rounds, body, {name: around.get(name, UNSET) for name in (*rounds.names, *rounds.assigned)}).run(state.active(), items)


class _Run:
    """One run of a loop."""

    def __init__(self, rounds: Rounds, body: types.FunctionType, values: dict[str, Any]) -> None:
        self.rounds, self.body, self.values = rounds, body, values
        self.alive: Any = True

    def run(self, tracer: Tracer | None, items: Iterable[Any]) -> tuple[Any, ...]:
        plan = Plan(unrolled=True) if tracer is None else tracer.loops.setdefault(self.rounds, Plan())
        for number, item in enumerate(items):
            if tracer is None or plan.unrolled:
                goes_on = self.round(item)
            elif not plan.inside:
                goes_on = self.watched(tracer, plan, number, item)
            else:
                if plan.looped and type(items) is range and number >= plan.start:
                    self.form(tracer, plan, items[number:])
                    break
                goes_on = self.joined(tracer, plan, items, item)
            self.alive = settled(goes_on)
            if self.alive is False:
                break
        self.values[GOES_ON] = self.alive
        return tuple(self.values[name] for name in self.rounds.assigned)

    def round(self, item: Any) -> Any:
        """Run the body once. Returns whether the loop goes on."""
        self.values.update(found := self.found(self.values, item))
        return found[GOES_ON]

    def found(self, values: dict[str, Any], item: Any) -> dict[str, Any]:
        """What the variables are after a round."""
        goes_on, found = self.body(**{name: values[name] for name in self.rounds.names}, **{ITEM: item})
        return {**{name: found.get(name, UNSET) for name in self.rounds.assigned}, GOES_ON: goes_on}

    def watched(self, tracer: Tracer, plan: Plan, number: int, item: Any) -> Any:
        """The same. Where it asks for the truth of a value, the trace starts again, and lets the ways of each round meet."""
        forks, tracer.forks = tracer.forks, Watched(tracer, plan, number)
        try:
            return self.round(item)
        finally:
            tracer.forks = forks

    def joined(self, tracer: Tracer, plan: Plan, items: Iterable[Any], item: Any) -> Any:
        """The same, of which the ways meet."""
        rounds, values, alive = self.rounds, self.values, self.alive
        start = {name: values[name] for name in rounds.assigned} | {GOES_ON: UNSET}

        def run() -> dict[str, Any]:
            return self.found(values, item) if alive else {**start, GOES_ON: False}

        given = {**values, ITEM: item}
        found = joined(tracer, plan, rounds, start, given, run, rounds.needed | {GOES_ON}, late=frozenset((RESULT,)))
        values.update(found)
        goes_on = settled(found[GOES_ON])
        if type(goes_on) is TracedNumber:
            if not (type(items) in (range, list, tuple) or type(items) is TracedNpArray or (rounds.is_fresh and type(items) in _FRESH)):
                plan.unrolled, plan.why = True, "what it goes through may be read elsewhere, too"
                raise again(tracer)
            if type(items) is range and not plan.tried and RESULT not in rounds.assigned:
                plan.tried = plan.looped = True
                raise again(tracer)
        return goes_on

    def form(self, tracer: Tracer, plan: Plan, left: range) -> None:
        """Make a loop of the graph of all rounds that are left. Raises Again where that cannot be."""
        rounds, stop, step = self.rounds, left.stop, left.step
        code = rounds.body
        assigned = (*(n for n in rounds.assigned if n != GOES_ON), ITEM)
        loop = Loop(rounds.place, (*rounds.names, ITEM), assigned, frozenset((ITEM,)), rounds.needed, True, False, code, code, code)

        def test(**values: Any) -> Any:
            return values[ITEM] < stop if step > 0 else values[ITEM] > stop

        def body(**values: Any) -> tuple[Any, dict[str, Any]]:
            found = self.found(values, values[ITEM])
            return found.pop(GOES_ON), {**found, ITEM: values[ITEM] + step}

        variables = {**self.values, ITEM: left.start}
        try:
            with tracer.inside():
                forming = Forming(tracer, loop, test, body, variables)  # type: ignore[arg-type]
                forming.asks = lambda: True
                forming.read_stale = lambda: unroll(tracer, plan)
                forming.alive = self.alive
                forming.form()
            plan.formed = True
            self.values.update({n: variables[n] for n in rounds.assigned if n != GOES_ON})
            self.alive = forming.alive
            return
        except Unfit as unfit:
            if unfit.later and not plan.peeled:
                plan.peeled, plan.start = True, plan.start + 1
                raise again(tracer) from None
            plan.why = str(unfit)
        except TraceError as refused:
            plan.why = refused.findings[0].message if refused.findings else str(refused)
        plan.looped = False
        raise again(tracer)


_FRESH = (enumerate, zip, reversed)
