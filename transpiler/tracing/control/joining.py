"""Ways that part at a branch and meet again behind it: they are made one there, so that many branches do not multiply.

A piece of the function (a branch, a round of a loop, a call) is run once for each way through it, and each run is undone: what it
recorded becomes a graph of its own, the memory that it wrote into has its contents again. The graphs are merged as those of a whole
function are (see `branches`), and the merged one is laid into the trace at this place (see `laying`). Variables and memory become
what it gives.

What cannot be one value (two texts, arrays of two shapes, a list that one way has grown) is `Unfit`. Then the branch is explored to
the end of the function, way by way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..recording.outputs import eliminate
from ..surroundings.found import Surroundings
from ..tracer import Tracer
from .branches import Forks, ways_through
from .hoisting import UNSET
from .laying import Laid
from .left import SAME, Left, form_of, memory_of
from .regions import Exploring, Region, Unfit, iterates, unchanged


class Joining:
    """One piece of the function, at whose end its ways meet.

    start    what the variables that it may bind are before it
    given    all that it can reach
    run      runs it on them, and gives what they are afterwards
    needed   the variables that something else reads
    guarded  whether the function around it catches errors
    late     variables that nobody reads where they have no value"""

    late: frozenset[str] = frozenset()

    def __init__(self, tracer: Tracer, place: tuple[str, int], start: dict[str, Any], given: dict[str, Any],
                 run: Callable[[], dict[str, Any]], needed: frozenset[str], guarded: bool) -> None:  # fmt: skip
        self.tracer, self.place, self.start, self.given, self.run = tracer, place, start, given, run
        self.needed, self.guarded = needed, guarded
        self.real = tracer.on_sample
        self.before = set(tracer.storages.values())

    def join(self, read_stale: Callable[[], None]) -> dict[str, Any]:
        """What the variables are behind it. `read_stale` is called where something is read that may have been written to meanwhile.

        Raises Unfit and TraceError where that is not to be had."""
        tracer = self.tracer
        if tracer.failure is not None:
            raise tracer.failure
        if any(type(x) is torch.Tensor for x in self.given.values()):
            raise Unfit("it works on torch tensors")
        if any(map(iterates, self.given.values())):
            raise Unfit("it may take the next of an iterator")
        self.around = Surroundings(*self.given.values())
        ways, _ = ways_through(self.record, self.place)
        if self.around.changed(Surroundings(*self.given.values()), exchanged=True):
            raise Unfit("it changes a container or an object")
        if all(w.recording is None for w in ways):
            raise Unfit("all its ways raise")
        return Laid(self, ways).variables(read_stale)

    def record(self, forks: Forks) -> Left:
        """One way through, as `ways_through` takes it."""
        tracer, region = self.tracer, Region(self.tracer)
        before = region.open()
        try:
            tracer.forks = Exploring(before, self.real, forks)
            left = self.left(region, region.run(self.run, self.place))
            if region.unfit:
                raise Unfit("it writes through a view at a position that hangs on values")
            why = region.problem()
            if why:
                raise Unfit(why)
            nodes = [v.node for v in [*left.values, *left.written.values()]]
            left.reads = region.reads(nodes)
            left.graph = region.cut(nodes, list(left.reads))
            eliminate(left.graph)
            left.sizes = tracer.recorder.sizes[region.sizes :]
            if region.leaks():
                raise Unfit("it keeps an array outside of its variables")
            return left
        finally:
            region.close()

    def left(self, region: Region, found: dict[str, Any]) -> Left:
        """What a way leaves that has bound the variables to these."""
        left, tracer = Left(), self.tracer
        known = {**self.around.objects(), **{id(x): x for x in region.made}}
        met: dict[int, Any] = {}
        for name, first in self.start.items():
            last = found.get(name, UNSET)
            if id(last) in known:
                left.objects[name] = last
            left.forms[name] = SAME if unchanged(first, last) else form_of(tracer, name, last, left.values, known, met)
        left.written = {s: memory_of(tracer, s) for s, *_ in region.contents}
        return left
