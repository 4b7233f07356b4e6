"""`while` on values: the loop becomes one `torch.while_loop` in the graph.

The source pass takes loops out of their function (see `hoisting`). While the test has a truth of its own, the body runs in the trace, as
Python runs it. Where the truth hangs on values, test and body are recorded once each, as graphs of what the loop changes: the variables
that the body binds again, and the arrays that it writes into. They keep their kind, dtype and shape; what else the loop reads is passed in.
NumPy goes through all the rounds on its own values, each of which must have the recorded graph. That fails where a round hangs on
something that the graph does not have: a list that grows, an iterator, an attribute.

A loop that cannot be recorded so is explored like other branches: the trace starts again, with that decided (`Again`).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch import fx

from .. import state
from ..arrays.number import settled
from ..errors import TraceError
from ..state import is_traced
from ..tracer import Tracer
from .forming import Forming
from .hoisting import LOOPS, UNSET, Loop
from .regions import Unfit


class Again(BaseException):
    """The trace has to start again: it is known more of a loop."""


class _Asked(BaseException):
    """A value was asked for its truth."""


@dataclass
class Plan:
    """What is known of a loop, from earlier runs of the trace.

    start     the first round that may be one of the graph's loop
    inside    whether that is tried although the test has a truth of its own: the body asks for that of values
    peeled    whether its first round is Python's, as it gives variables their values
    tried     whether it has been tried to make it a loop of the graph
    looped    whether that is to be tried, or has been done (of a `for`)
    formed    whether it has become one
    unrolled  whether the loop runs as Python runs it
    why       the reason, where it is none of Python's own"""

    start: int = 0
    inside: bool = False
    peeled: bool = False
    tried: bool = False
    looped: bool = False
    formed: bool = False
    unrolled: bool = False
    why: str = ""


def run_while(number: int, around: dict[str, Any]) -> tuple[Any, ...]:
    """The loop of this number, with the variables that the function has. Returns those that the body binds."""
    loop, around_it = LOOPS[number], sys._getframe(1).f_globals
    functions = [types.FunctionType(code, around_it) for code in (loop.test, loop.truth, loop.body)]
    values = {name: around.get(name, UNSET) for name in loop.names}
    return _Run(loop, functions, values).run(state.active())


class _Run:
    """One run of a loop."""

    def __init__(self, loop: Loop, functions: list[types.FunctionType], values: dict[str, Any]) -> None:
        self.loop, self.values = loop, values
        self.test, self.truth, self.body = functions

    def run(self, tracer: Tracer | None) -> tuple[Any, ...]:
        plan = Plan(unrolled=True) if tracer is None else tracer.loops.setdefault(self.loop, Plan())
        rounds = 0
        while True:
            as_python = tracer is None or plan.unrolled or rounds < plan.start
            truth = self.truth(**self.values) if as_python else self.peek(tracer)  # type: ignore[arg-type]
            if truth is None or (truth and plan.inside and not as_python):
                self.form(tracer, plan, rounds)  # type: ignore[arg-type]
                break
            if not truth:
                break
            watched = tracer is not None and not (plan.unrolled or plan.inside or plan.peeled)
            if not (self.watched_round(tracer, plan, rounds) if watched else self.round()):  # type: ignore[arg-type]
                break
            rounds += 1
        return tuple(self.values[name] for name in self.loop.assigned)

    def round(self) -> bool:
        """Run the body once. Returns whether the loop goes on."""
        goes_on, around = self.body(**self.values)
        for name in self.loop.assigned:
            self.values[name] = around.get(name, UNSET)
        return goes_on  # type: ignore[no-any-return]

    def peek(self, tracer: Tracer) -> bool | None:
        """The test's truth; None where it hangs on values."""
        value = peeked(tracer, lambda: self.test(**self.values))
        return None if value is ASKED or hangs_on_values(tracer, value) else bool(value)

    def watched_round(self, tracer: Tracer, plan: Plan, rounds: int) -> bool:
        """Run the body once. Where it asks for the truth of a value, the trace starts again, and tries to make a loop of it."""
        forks, tracer.forks = tracer.forks, Watched(tracer, plan, rounds)
        try:
            return self.round()
        finally:
            tracer.forks = forks

    def form(self, tracer: Tracer, plan: Plan, rounds: int) -> None:
        """Make the graph's loop of it, and let the variables be what that gives. Raises Again where it is none."""
        try:
            with tracer.inside():
                forming = Forming(tracer, self.loop, self.test, self.body, self.values)
                forming.asks = lambda: self.peek(tracer) is None
                forming.read_stale = lambda: unroll(tracer, plan)
                forming.form()
            plan.formed = True
            return
        except Unfit as unfit:
            if unfit.later and not plan.peeled:
                plan.peeled, plan.start = True, rounds + 1
            else:
                plan.unrolled, plan.why = True, str(unfit)
        except TraceError as refused:
            plan.unrolled, plan.why = True, refused.findings[0].message if refused.findings else str(refused)
        raise again(tracer)


def again(tracer: Tracer) -> Again:
    """To be raised; also where the function catches that, the trace starts again."""
    tracer.again = True
    return Again()


def unroll(tracer: Tracer, plan: Plan) -> None:
    """What may have been written to, after a loop, is read: the trace starts again, and Python runs the loop."""
    plan.unrolled, plan.why = True, "after it an array is written into that it may have bound to another name"
    raise again(tracer)


def unrolled(plans: dict[Any, Plan], kind: Any) -> bool:
    """Let Python run all loops (or branches: pieces of this kind) that have become the graph's. Returns whether there are any."""
    formed = [plan for piece, plan in plans.items() if plan.formed and not plan.unrolled and isinstance(piece, kind)]
    for plan in formed:
        plan.unrolled = True
    return bool(formed)


def explained(refused: TraceError, plans: dict[Loop, Plan]) -> TraceError:
    """A refusal of branches on values, with the reasons why loops had to be such branches."""
    whys = [f"{piece}: {plan.why}" for piece, plan in plans.items() if plan.why]
    if not whys or not refused.findings or refused.findings[0].name != "data-dependent-branch":
        return refused
    first = refused.findings[0]
    return TraceError(replace(first, message="; ".join([first.message, *whys])), *refused.findings[1:])


ASKED = object()


def peeked(tracer: Tracer, run: Callable[[], Any]) -> Any:
    """What `run` gives; ASKED where it asks for the truth of a value."""
    forks, tracer.forks = tracer.forks, _Peek(tracer.forks)
    try:
        value = settled(run())
        return ASKED if tracer.forks.asked else value
    except _Asked:
        return ASKED
    finally:
        tracer.forks = forks


def hangs_on_values(tracer: Tracer, x: Any) -> bool:
    """True where only the graph knows the truth of a value."""
    return is_traced(x) and not tracer.is_constant(x)


class _Peek:
    """Questions while it is seen whether there are any."""

    def __init__(self, forks: Any) -> None:
        self.on_sample, self.asked = forks.on_sample, False

    def decide(self, truth: bool, node: fx.Node) -> bool:
        self.asked = True
        raise _Asked


class Watched:
    """Questions of a body that runs as Python runs it."""

    def __init__(self, tracer: Tracer, plan: Plan, rounds: int) -> None:
        self.tracer, self.forks, self.plan, self.rounds = tracer, tracer.forks, plan, rounds

    @property
    def on_sample(self) -> bool:
        return self.forks.on_sample  # type: ignore[no-any-return]

    def decide(self, truth: bool, node: fx.Node) -> bool:
        self.plan.inside, self.plan.start = True, self.rounds
        raise again(self.tracer)
