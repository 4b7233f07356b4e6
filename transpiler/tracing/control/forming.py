"""A loop on values as a node of the graph: what it carries is found out, test and body are recorded, NumPy's rounds held against them.

What a loop carries is not known before. So its body is recorded, and that is undone, until nothing new comes up: a variable that is bound
again, an array that is written into, something outside that is read. The variables are given arrays of their own then. In the first round
each is the array from before the loop, which others may share, and in later ones it is not; that makes no difference as long as nobody
writes into one of them. After the loop a write to one of them makes all others unreadable. A round that writes into one is taken where the
variables lie apart, before the first round and after each (`owned`); what else there is of its memory is unreadable from then on.
"""

from __future__ import annotations

import contextlib
import io
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy
import torch
from torch import fx
from torch._higher_order_ops.while_loop import while_loop_op

from ...semantics.arrays import cast
from .. import state
from ..arrays.array import TracedNpArray
from ..arrays.number import TracedNumber, convert
from ..errors import TraceError
from ..module import Face, TracedModule
from ..recording.compare import compare_graphs
from ..recording.outputs import eliminate
from ..recording.storage import Storage
from ..state import is_traced
from ..surroundings.found import Surroundings
from ..surroundings.structure import same
from ..tracer import Tracer
from .branches import Forks, explore
from .hoisting import UNSET, Loop
from .regions import (  # fmt: skip
    Exploring,
    Following,
    Grown,
    Kind,
    Region,
    Shared,
    Unfit,
    held_value,
    iterates,
    kind_of_value,
    made_of,
    plain_tensor,
    tensor_of_value,
    unchanged,
    untraced,
    write_shared,
)
from .risks import must_stay

MOST_ROUNDS = 2000
_HELD_ROUNDS = 3
"""So many of NumPy's rounds are recorded again, to be held against the graph."""
_MOST_RECORDINGS = 100


@dataclass
class _Round:
    """What one way through a test or body gave.

    goes_on  of a test: the truth, of a body: whether there was no `break`; None where it hangs on values
    bound    what the variables are afterwards: plain values as they are, and True for all else"""

    goes_on: bool | None
    bound: dict[str, Any] = field(default_factory=dict)


class Forming:
    """The making of one loop.

    rebound   the variables that are bound to something else in a round, and their kinds
    written   the arrays' memory that a round writes into
    owned     those of `rebound` whose arrays a round writes into: memory that no other variable has, before a round or after it
    claims    the variables found to be such
    released  memory that was in `written`, and is an owned variable's
    late      those of them that have no value before the first round, of which there is one always
    dropped   variables that only live within a round
    outside   what test and body read of the graph outside
    before    all memory from before the loop
    aliased   memory that a variable may or may not share after the loop
    asks      tells whether the test hangs on values
    alive       whether the loop runs at all; after it, whether no `break` has ended it
    read_stale  raises for what is read though it may have been written to after the loop
    values    what `rebound`, then `written`, have before the first round"""

    asks: Callable[[], bool]
    read_stale: Callable[[], None]

    def __init__(
        self, tracer: Tracer, loop: Loop, test: Callable[..., Any], body: Callable[..., Any], variables: dict[str, Any]
    ) -> None:
        self.tracer, self.loop, self.test, self.body, self.variables = tracer, loop, test, body, variables
        self.rebound: dict[str, Kind] = {}
        self.written: list[Storage] = []
        self.owned: dict[str, Storage] = {}
        self.claims: list[str] = []
        self.operands: dict[Any, str] = {}
        self.released: set[Storage] = set()
        self.late: set[str] = set()
        self.dropped: set[str] = set()
        self.before = set(tracer.storages.values())
        self.aliased: list[Storage] = []
        self.outside: dict[Any, torch.Tensor | fx.Node] = {}
        self.rounds: list[_Round] = []
        self.graphs: dict[tuple[str, tuple[bool, ...]], fx.GraphModule] = {}
        self.real = tracer.on_sample
        self.flag = loop.breaks
        self.alive: Any = True

    def form(self) -> None:
        tracer = self.tracer
        if tracer.failure is not None:
            raise tracer.failure
        if any(isinstance(x, torch.Tensor) for x in self.variables.values()):
            raise Unfit("it works on torch tensors")
        if any(iterates(x) for x in self.variables.values()):
            raise Unfit("it may take the next of an iterator in each round")
        before = Surroundings(*self.variables.values())
        test, body = self.recorded()
        final = self.followed()
        if before.changed(Surroundings(*self.variables.values()), exchanged=True):
            raise Unfit("it changes a container or an object")
        self.emit(test, body, final)

    # The two graphs

    def recorded(self) -> tuple[fx.GraphModule, fx.GraphModule]:
        """The graphs of the test and of the body: recorded until twice in a row nothing new came up, and both were the same."""
        last: tuple[fx.GraphModule, fx.GraphModule] | None = None
        for _ in range(_MOST_RECORDINGS):
            self.rounds, self.graphs, self.truth = [], {}, True
            try:
                if self.real:
                    self.truth = self.follow("test", self.values())[0]
                self.aliased = []
                body = explore(lambda forks: self.record("body", forks), self.loop.place).module
                self.check_hangs_on_values()
                test = explore(lambda forks: self.record("test", forks), self.loop.place).module
            except Grown as grown:
                if grown.written is not None:
                    self.carry(grown.written)
                while self.claims:
                    self.own(self.claims.pop())
                last = None
                continue
            if last is not None:
                why = compare_graphs(last[0], test) or compare_graphs(last[1], body)
                if why is not None:
                    raise Unfit(f"its rounds differ: {why}")
                if not self.drop(test, body):
                    return test, body
                last = None
                continue
            last = test, body
        raise Unfit("it does not come to rest what it changes")

    def carry(self, storage: Storage) -> None:
        """Let the contents of an array be one of the things that the loop carries."""
        if storage.base is not None:
            raise Unfit("it writes through a view at a position that hangs on values")
        if storage in self.released or storage in self.owned.values():
            raise Unfit("it writes into an array by several names, and binds one of them again", later=True)
        storage.materialise()
        self.written.append(storage)

    def own(self, name: str) -> None:
        """Let a round write into the array of a variable that it binds again. Nobody else may see that."""
        storage = getattr(self.variables[name], "_storage", None)
        others = [getattr(x, "_storage", None) for n, x in self.variables.items() if n != name]
        if storage is None or storage.base is not None or storage.origin != "fresh" or any(root_of(s) is storage for s in others):
            raise Unfit(f"it writes into {name}, which it binds again, and {name} is seen elsewhere: copy it before the loop", later=True)
        self.owned[name] = storage

    def known(self) -> tuple[Any, ...]:
        return (len(self.rebound), len(self.written), len(self.dropped), len(self.outside))

    def values(self) -> list[Any]:
        """What the loop carries, before the first round."""
        flag = [held_value(self.alive)] if self.flag else []
        bound = [kind.zero() if name in self.late else kind.cast(held_value(self.variables[name])) for name, kind in self.rebound.items()]
        return [*flag, *bound, *(s.owner.copy() for s in self.written)]

    def kinds(self) -> list[Kind]:
        flag = [Kind("number", bool)] if self.flag else []
        return [*flag, *self.rebound.values(), *(Kind("array", s.owner.dtype, s.owner.shape) for s in self.written)]

    def drop(self, *graphs: fx.GraphModule) -> bool:
        """Leave out a variable that no round reads from the one before, and nothing after the loop. Returns whether there is one."""
        for position, name in enumerate(self.rebound, int(self.flag)):
            unread = name not in self.loop.outside and name not in self.owned
            if unread and not any(_placeholders(g)[position].users for g in graphs):
                del self.rebound[name]
                self.dropped.add(name)
                return True
        return False

    def check_hangs_on_values(self) -> None:
        """Unless one round can end otherwise than another, the loop is Python's own."""
        first = self.rounds[0]
        if not (self.rebound or self.written or self.flag):
            raise Unfit("nothing in it changes")
        for name in self.loop.tested & set(self.rebound):
            if any(r.bound[name] is True or not same(r.bound[name], first.bound[name]) for r in self.rounds):
                return
        if any(getattr(self.variables[name], "_storage", None) in self.written for name in self.loop.tested & set(self.variables)):
            return
        region = Region(self.tracer, [])
        region.open()
        try:
            asks = self.asks()
        finally:
            region.close()
        if not asks and all(r.goes_on == first.goes_on for r in self.rounds):
            raise Unfit("")

    def open(self, which: str, region: Region, values: list[Any]) -> tuple[dict[str, Any], Any, set[fx.Node]]:
        """Begin a region. Returns the variables in it, the flag, and the nodes before it."""
        before = region.open()
        names = ["" for _ in range(self.flag)] + list(self.rebound)
        kinds = self.kinds()[: len(values) - len(self.written)]
        made = [region.operand(k, v, self.when_written(which, name)) for name, k, v in zip(names, kinds, values, strict=False)]
        self.operands = {x._storage: name for name, x in zip(names, made, strict=True) if type(x) is TracedNpArray}
        for storage in self.owned.values():
            storage.stale, storage.version = _seen_elsewhere, storage.version + 1
        for storage, value in zip(self.written, values[len(made) :], strict=True):
            region.contents_of(storage, value)
        flag = made.pop(0) if self.flag else True
        given = {**self.variables, **dict(zip(self.rebound, made, strict=True)), **dict.fromkeys((*self.dropped, *self.late), UNSET)}
        return given, flag, before

    def when_written(self, which: str, name: str) -> Callable[[Storage], None] | None:
        """What is called where the array of a variable is written into."""
        if which == "test":
            return write_shared

        def claim(_: Storage) -> None:
            self.claims.append(name)  # for code that catches all
            raise Grown

        return None if name in self.owned else claim

    def record(self, which: str, forks: Forks) -> Any:
        """One way through the test or the body, as `explore` takes it."""
        from ..entry import Recording

        region, known = Region(self.tracer, self.written), self.known()
        given, flag, before = self.open(which, region, self.values())
        try:
            self.tracer.forks = Exploring(before, self.real and (which == "test" or self.truth), forks)
            found = self.run(which, region, given, flag)
            del given, flag
            nodes = [node for _, node in found]
            self.outside = {**self.outside, **{k: x for k, x in region.reads(nodes).items() if k not in self.outside}}
            if self.known() != known:
                raise Grown
            module = self.cut(region, nodes)
            values = [value for value, _ in found]
            del found
            if region.leaks():
                raise Unfit("it keeps an array of one round, outside of its variables")
        finally:
            region.close()
        self.graphs[which, tuple(forks.given)] = module
        return Recording(module, [], False, tuple(values), [])

    def cut(self, region: Region, nodes: list[fx.Node]) -> TracedModule:
        why = region.problem()
        if why:
            raise Unfit(why)
        try:
            graph = region.cut(nodes, list(self.outside))
        except KeyError:
            raise Unfit("it reads what an earlier round has put into a container or an object") from None
        eliminate(graph)
        names = [n.name for n in graph.nodes if n.op == "placeholder"]
        module = TracedModule(self.tracer.root, graph, "Loop")
        module.face = Face(self.body, None, None, names, [])  # type: ignore[arg-type]
        return module

    def run(self, which: str, region: Region, given: dict[str, Any], flag: Any) -> list[tuple[Any, fx.Node]]:
        """Run the test or the body in a region. Returns NumPy's values and the nodes of what it gives."""
        versions = [s.version for s in self.written]
        if which == "test":
            result = region.run(lambda: _truth_of(self.test(**given)) if flag else False, self.loop.place)
        else:
            result = region.run(lambda: self.body(**given), self.loop.place)
        if region.grown is not None or self.claims:
            raise Grown(region.grown)
        if which == "test" and versions != [s.version for s in self.written]:
            raise Unfit("its condition writes into an array")
        if which == "test":
            return [self.output(result if type(result) is TracedNumber else bool(result), Kind("number", bool))]
        goes_on, found = result
        return self.outputs(given, goes_on, found)

    def outputs(self, given: dict[str, Any], goes_on: bool, found: dict[str, Any]) -> list[tuple[Any, fx.Node]]:
        """What the body leaves in the variables and in the arrays that it writes into."""
        self.rounds.append(_Round(goes_on, {n: True if is_traced(v) or isinstance(v, numpy.ndarray) else v for n, v in found.items()}))
        made = [self.output(goes_on, Kind("number", bool))] if self.flag else []
        for name in self.loop.assigned:
            first, last = self.variables[name], found.get(name, UNSET)
            if name in self.dropped:
                continue
            if first is UNSET and name in self.loop.outside:
                kind = kind_of_value(last)
                if not self.loop.endless or kind is None:
                    raise Unfit(f"{name} has no value before the loop", later=True)
                self.rebound[name] = kind
                self.late.add(name)
            elif first is UNSET:
                self.dropped.add(name)
            elif name not in self.rebound and not unchanged(first, last):
                kind = kind_of_value(first)
                if kind is None and name not in self.loop.outside and name not in self.loop.tested:
                    self.dropped.add(name)
                elif kind is None:
                    raise Unfit(f"{name} is no array and no number before the loop", later=True)
                else:
                    self.rebound[name] = kind
        self.rebound = dict(sorted(self.rebound.items()))
        for name in self.rebound:
            made.append(self.output(found.get(name), self.rebound[name], name))
            for first_or_last in (self.variables[name], found.get(name)) if name not in self.owned else ():
                self.note_alias(name, first_or_last)
        self.check_owned(found)
        made += [(s.owner.copy(), self.tracer.recorder.argument(s.value)) for s in self.written]  # type: ignore[arg-type]
        return made

    def check_owned(self, found: dict[str, Any]) -> None:
        """After a round each owned variable must have memory of its own, too."""
        roots = {name: root_of(getattr(found.get(name), "_storage", None)) for name in self.rebound}
        for name in self.owned:
            passed = self.operands.get(roots[name])
            if passed is not None and passed not in self.owned:  # what the next round writes into
                self.claims.append(passed)
                raise Grown
            if roots[name] in self.before or any(other is roots[name] for n, other in roots.items() if n != name):
                raise Unfit(f"it writes into {name}, and binds it to an array that has another name", later=True)

    def note_alias(self, name: str, x: Any) -> None:
        """What a variable may share memory with, after the loop: nobody may write there."""
        storage = getattr(x, "_storage", None)
        while storage is not None:
            if storage in self.written:
                if storage in self.released or not any(getattr(self.variables[n], "_storage", None) is storage for n in self.rebound):
                    raise Unfit(f"{name} is an array, or a view of one, that the loop writes into", later=True)
                self.released.add(storage)
                self.written.remove(storage)
                raise Grown
            if (storage in self.before or storage.origin != "fresh") and storage not in self.aliased:
                self.aliased.append(storage)
            storage = storage.base[0]._storage if storage.base is not None else None

    def output(self, x: Any, kind: Kind, name: str = "") -> tuple[Any, fx.Node]:
        found = kind_of_value(x)
        if found != kind:
            joined = None if found is None or not name else kind.joined(found)
            if joined is not None and joined != kind:
                self.rebound[name] = joined
                raise Grown
        if found is None or (found != kind and joined is None):
            raise Unfit(f"{name} is {kind} before a round and {found or 'no array or number'} after it", later=True)
        tensor = cast(tensor_of_value(self.tracer, x), kind.torch) if kind.casts else tensor_of_value(self.tracer, x)
        if tensor.dtype != kind.torch or tuple(tensor.shape) != kind.shape:
            raise Unfit(f"{name} is not what NumPy has")
        value = kind.cast(held_value(x))
        return numpy.asarray(value)[()] if kind.is_number else value, self.tracer.recorder.argument(tensor)

    # NumPy's rounds

    def followed(self) -> list[Any]:
        """What NumPy has after the loop. Each of its first rounds must have the recorded graph."""
        values = self.values()
        if not self.real:
            return values
        for number in range(MOST_ROUNDS):
            if (self.flag and not values[0]) or not self.follow("test", values)[0]:
                return values
            values = self.follow("body", values)
            last = self.followed_plainly(values) if number == _HELD_ROUNDS else None
            if last is not None:
                return last
        raise Unfit(f"NumPy goes through more than {MOST_ROUNDS} rounds with this sample")

    def followed_plainly(self, values: list[Any]) -> list[Any] | None:
        """What NumPy has in the end, of itself: outside of the trace, on the very memory. None where it needs what the trace has.

        The rounds are those that were recorded: all that changes from one to the next is what they carry, as `form` sees to it."""
        contents = [s.owner.copy() for s in self.written]
        kinds = self.kinds()
        carried = list(values)
        variables = {**{name: untraced(x) for name, x in self.variables.items()}, **dict.fromkeys((*self.dropped, *self.late), UNSET)}
        bound = [*([None] if self.flag else []), *self.rebound]
        token = state.enter(None)
        try:
            for storage, value in zip(self.written, values[len(bound) :], strict=True):
                storage.owner[...] = value
            with contextlib.redirect_stdout(io.StringIO()):
                while True:
                    variables.update({n: x for n, x in zip(bound, carried, strict=False) if n is not None})
                    if (self.flag and not carried[0]) or not self.test(**variables):
                        held = [kind.cast(x) for kind, x in zip(kinds, carried[: len(bound)], strict=False)]
                        return [*held, *(s.owner.copy() for s in self.written)]
                    goes_on, found = self.body(**variables)
                    carried = [found.get(n, UNSET) if n is not None else bool(goes_on) for n in bound]
                    if any(not kind.holds(x) for kind, x in zip(kinds, carried, strict=False)):
                        raise Unfit("its rounds differ in what they carry")
        except TraceError:
            return None
        finally:
            state.leave(token)
            for storage, value in zip(self.written, contents, strict=True):
                storage.owner[...] = value

    def follow(self, which: str, values: list[Any]) -> list[Any]:
        """What a test or a round gives for these values."""
        region = Region(self.tracer, self.written)
        given, flag, before = self.open(which, region, values)
        try:
            self.tracer.forks = asking = Following(before)
            found = self.run(which, region, given, flag)
            del given, flag
            if self.graphs:
                if not region.reads([node for _, node in found]).keys() <= self.outside.keys():
                    raise Unfit("its rounds differ in what they read")
                self.check_recorded(which, asking, self.cut(region, [node for _, node in found]))
            kinds = self.kinds() if which == "body" else [Kind("number", bool)]
            return [v.item() if k.is_number else v for (v, _), k in zip(found, kinds, strict=True)]
        finally:
            region.close()

    def check_recorded(self, which: str, asking: Following, module: fx.GraphModule) -> None:
        known = self.graphs.get((which, tuple(asking.given)))
        why = "it takes a way that was not seen before" if known is None else compare_graphs(known, module)
        if why is not None:
            raise Unfit(f"its rounds differ: {why}")

    # The node

    def emit(self, test: fx.GraphModule, body: fx.GraphModule, final: list[Any]) -> None:
        """Put the loop into the graph, and bind the variables to what it gives."""
        tracer, recorder, graph = self.tracer, self.tracer.recorder, self.tracer.graph
        kinds = self.kinds()
        if any(kind.shape for name, kind in self.rebound.items() if name in self.late):
            recorder.pin_all()  # what stands for a variable before it has a value
        tensors = [tensor_of_value(tracer, self.alive)] if self.flag else []
        for name, kind in self.rebound.items():
            first_value = None if name in self.late else tensor_of_value(tracer, self.variables[name])
            tensors.append(plain_tensor(kind.zero(), kind) if first_value is None else cast(first_value, kind.torch))
        tensors += [s.materialise() for s in self.written]
        first = [graph.call_function(torch.clone, (recorder.argument(t),), _CONTIGUOUS) for t in tensors]
        read = _order_of_reading(len(tensors), body, test)
        outside = list(self.outside.values())
        captured = [recorder.argument(x) if isinstance(x := outside[i], torch.Tensor) else x for i in read]
        number = sum(name.startswith("while_body_") for name, _ in tracer.root.named_children())
        parts = []
        for name, module in (("condition", test), ("body", body)):
            part = _finished(module, len(tensors), read, name == "condition")
            tracer.root.add_module(f"while_{name}_{number}", part)
            parts.append(graph.create_node("get_attr", f"while_{name}_{number}", (), {}))
            parts[-1].meta["graph"] = part
        made = graph.call_function(while_loop_op, (*parts, tuple(first), tuple(captured)))
        path, line = self.loop.place
        made.meta.update(source=(path, line, self.body.__name__), stack_trace=f'File "{path}", line {line}, in {self.body.__name__}')
        items = [graph.call_function(operator.getitem, (made, i)) for i in range(len(kinds))]
        start = int(self.flag)
        if self.flag:
            self.alive = made_of(tracer, kinds[0], final[0], items[0])
        for (name, kind), value, item in zip(self.rebound.items(), final[start:], items[start:], strict=False):
            self.variables[name] = made_of(tracer, kind, value, item)
        for storage, value, item in zip(self.written, final[start + len(self.rebound) :], items[start + len(self.rebound) :], strict=True):
            storage.check_writable()
            storage.owner[...] = value
            storage.value = recorder.record(plain_tensor(value), item)
            storage.version += 1
            storage.written = True
        shared = [self.variables[n] for n in self.rebound if n not in self.owned]
        self.aliased += [x._storage for x in shared if type(x) is TracedNpArray]
        if self.aliased:
            Shared(self.aliased, self.read_stale)
        for storage in self.owned.values():
            storage.stale, storage.version = self.read_stale, storage.version + 1
        self.variables.update(dict.fromkeys(self.dropped, UNSET))
        del self.variables, self.asks  # the storages know this object, and must not keep arrays by it


def root_of(storage: Storage | None) -> Storage | None:
    """The memory that a view lies in."""
    while storage is not None and storage.base is not None:
        storage = storage.base[0]._storage
    return storage


def _seen_elsewhere() -> None:
    raise Unfit("it reads what it writes into by another name, too")


def _truth_of(x: Any) -> Any:
    return convert(x, bool) if is_traced(x) else x


_CONTIGUOUS: dict[str, Any] = {"memory_format": torch.contiguous_format}


def _placeholders(module: fx.GraphModule) -> list[fx.Node]:
    return [n for n in module.graph.nodes if n.op == "placeholder"]


def _order_of_reading(states: int, *modules: fx.GraphModule) -> list[int]:
    """The numbers of what these graphs read besides the state, in the order in which they do."""
    found: dict[int, None] = {}
    for module in modules:
        read = {node: i for i, node in enumerate(_placeholders(module)[states:])}
        found |= dict.fromkeys(read[n] for node in module.graph.nodes for n in node.all_input_nodes if n in read)
    return list(found)


def _finished(module: fx.GraphModule, states: int, read: list[int], is_test: bool) -> fx.GraphModule:
    """A recorded graph as a part of the loop, of the state and these of the things it reads. What it gives shares no memory with these."""
    graph, given = fx.Graph(), _placeholders(module)
    places = {given[i]: graph.placeholder(f"state_{i}") for i in range(states)}
    places |= {given[states + i]: graph.placeholder(f"read_{n}") for n, i in enumerate(read)}
    for node in module.graph.nodes:
        if node.op == "output":
            copies = tuple(graph.call_function(torch.clone, (places[n],), _CONTIGUOUS) for n in node.args[0])  # type: ignore[union-attr]
            graph.output(copies[0] if is_test else copies)
        elif node.op != "placeholder":
            places[node] = graph.node_copy(node, places.__getitem__)
            places[node].meta.pop("decides", None)
    graph.eliminate_dead_code(lambda n: n.is_impure() or must_stay(n))
    graph.lint()
    return fx.GraphModule(module, graph, "Condition" if is_test else "Body")
