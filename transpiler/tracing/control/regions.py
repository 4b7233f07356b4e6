"""A piece of a trace that is cut out again: what is recorded within becomes a graph of its own, and all else is as it was before.

The piece runs on the trace's own arrays, so that whatever it reaches (locals, closures, attributes) is what it would be. Only its operands
are exchanged: each variable of the loop gets an array, scalar or number of its own, and each array that is written into the contents.
"""

from __future__ import annotations

import copy
import gc
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import fx

from ...semantics.arrays import as_tensor, zero_d_array
from ...semantics.dtypes import to_torch
from ...semantics.table import Refused
from ..arrays.array import TracedNpArray
from ..arrays.number import DTYPES, TracedNumber, is_number, kind_of, new_number, tensor_as
from ..arrays.scalar import MIXED, TracedScalar
from ..arrays.text import message_of
from ..errors import TraceError, error
from ..recording.layout import laid_out, layout_of
from ..recording.recorder import contents_of_tensor
from ..recording.storage import Storage
from ..sizes.traced import TracedSize
from ..state import is_traced
from ..surroundings.contents import ATOMS
from ..surroundings.structure import children, same
from ..tracer import Tracer
from .branches import Forks
from .catching import caught_here


class Unfit(Exception):
    """Why a loop or a branch is no part of the graph of its own. `later`: a loop may be one after its first round."""

    def __init__(self, why: str, later: bool = False) -> None:
        super().__init__(why)
        self.later = later


class Grown(BaseException):
    """More belongs to what a loop carries or reads than was known. `written`: a storage that is about to be written to."""

    def __init__(self, written: Storage | None = None) -> None:
        super().__init__()
        self.written = written


# Values of variables


@dataclass(frozen=True)
class Kind:
    """What a variable is throughout a loop, or after a branch: of a dtype (a number: its type), shape and layout.

    what  "array", "scalar" or "number"; "weak": a NumPy scalar or Python's number; "either": Python's float or int;
          MIXED: a float64 scalar or a Python number"""

    what: str
    dtype: Any
    shape: tuple[int, ...] = ()
    layout: tuple[int, ...] | None = None

    def __str__(self) -> str:
        if self.what in ("number", "either"):
            return f"a Python {self.dtype.__name__}" + (" or int" if self.what == "either" else "")
        if self.what in ("scalar", "weak", MIXED):
            return f"a {self.dtype} scalar" + ("" if self.what == "scalar" else " or a Python number")
        return f"a {self.dtype} array of shape {self.shape}" + ("" if self.layout is None else " in another order than C")

    def zero(self) -> Any:
        """A value of this kind."""
        if self.is_number:
            return self.dtype(0)
        return numpy.zeros(self.shape, self.dtype) if self.what == "array" else self.dtype.type(0)

    @property
    def is_number(self) -> bool:
        return self.what in ("number", "either")

    @property
    def torch(self) -> torch.dtype:
        return DTYPES[self.dtype] if self.is_number else to_torch(self.dtype)

    def cast(self, value: Any) -> Any:
        """A value of a kind that is joined in this one, as one of this."""
        if self.is_number:
            return self.dtype(value)
        return value if self.what == "array" else self.dtype.type(value)

    def holds(self, x: Any) -> bool:
        """Whether a value of NumPy's or Python's is of this kind, or of one that is joined in it."""
        found = kind_of_value(x) if not isinstance(x, numpy.ndarray) else Kind("array", x.dtype, x.shape, layout_of(x))
        return found is not None and self.joined(found) == self

    def joined(self, other: Kind) -> Kind | None:
        """The kind of what is of one or of the other; None where that is none."""
        if self == other:
            return self
        whats = {self.what, other.what}
        if whats <= {"number", "either"} and {self.dtype, other.dtype} <= {int, float}:
            return Kind("either", float)
        kinds = {numpy.dtype(int) if k.dtype is int else numpy.dtype(k.dtype) for k in (self, other)}
        if len(kinds) == 1 and whats <= {"number", "scalar", "weak"} and kinds <= _OF_PYTHON:
            return Kind("weak", kinds.pop())
        if kinds <= _MIXING and all(k.is_number or k.dtype == numpy.float64 for k in (self, other)) and "array" not in whats:
            return Kind(MIXED, numpy.dtype(numpy.float64))
        return None

    @property
    def casts(self) -> bool:
        """Whether what is joined in this kind may have another dtype."""
        return self.what in ("either", MIXED)


_MIXING = {numpy.dtype("int64"), numpy.dtype("float64")}
_OF_PYTHON = {numpy.dtype(d) for d in ("bool", "int64", "float64", "complex128")}
"""The dtypes that Python's numbers have."""


def kind_of_value(x: Any) -> Kind | None:
    """The kind of a value that a loop can carry; None for all others."""
    if type(x) is TracedNpArray:
        found = Kind("array", x._value.dtype, x._value.shape, layout_of(x._value)) if x._value is not None else None
    elif type(x) is TracedScalar:
        found = Kind(MIXED if x._weak == MIXED else "weak" if x._weak else "scalar", x._value.dtype)
    elif isinstance(x, numpy.generic) and type(x) is not TracedNumber:
        found = Kind("scalar", x.dtype)
    elif is_number(x):
        found = Kind("either" if type(x) is TracedNumber and x._either else "number", kind_of(x))
    else:
        return None
    try:
        return found if found is not None and found.torch is not None and (found.is_number or found.dtype.isnative) else None
    except Refused:
        return None


def held_value(x: Any) -> Any:
    """NumPy's or Python's value of what a loop can carry, apart from all other memory."""
    return laid_out(x._value) if type(x) is TracedNpArray else getattr(x, "_value", x)


def tensor_of_value(tracer: Tracer, x: Any) -> torch.Tensor:
    """The torch side of what a loop can carry."""
    if type(x) is TracedNpArray or type(x) in (TracedScalar, TracedNumber):
        return tracer.tensor(x)
    return tensor_as(x, kind_of(x)) if is_number(x) else as_tensor(x)


def made_of(tracer: Tracer, kind: Kind, value: Any, node: fx.Node, written: Callable[[Storage], None] | None = None) -> Any:
    """The traced value of this kind that `node` gives. `written` is called where somebody writes into it, if it is an array."""
    tensor = plain_tensor(value, kind)
    tracer.recorder.record(tensor, node)
    if kind.is_number:
        return new_number(tracer, value, tensor, kind.what == "either")
    if kind.what in ("scalar", "weak", MIXED):
        return tracer.note(TracedScalar(value, tensor, MIXED if kind.what == MIXED else kind.what == "weak"))
    storage = tracer.new_storage(value, tensor, "fresh")
    storage.looped = written
    return tracer.note_array(value, storage, tensor)


def plain_tensor(value: Any, kind: Kind | None = None) -> torch.Tensor:
    """A tensor of its own for a value."""
    if kind is not None and kind.is_number:
        return tensor_as(value, kind.dtype).clone()
    made = as_tensor(value).clone()
    return zero_d_array(made) if isinstance(value, numpy.ndarray) else made


def untraced(x: Any, depth: int = 4) -> Any:
    """NumPy's or Python's value of what a function holds in a trace, of the very memory, also inside of lists, tuples and dicts."""
    if is_traced(x):
        return x._value
    if depth and type(x) in (list, tuple):
        return type(x)(untraced(i, depth - 1) for i in x)
    return {k: untraced(v, depth - 1) for k, v in x.items()} if depth and type(x) is dict else x


def iterates(x: Any, depth: int = 3) -> bool:
    """True for iterators, and for what has one in it: they may give the same for a while, and then something else."""
    if is_traced(x) or isinstance(x, (numpy.generic, type)):
        return False
    if hasattr(type(x), "__next__"):
        return True
    parts = list((children(x) or ((), ()))[1])
    parts += [c.cell_contents for c in getattr(x, "__closure__", None) or () if c != types.CellType()]
    parts += [x.__self__] if isinstance(x, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)) else []
    parts += list(vars(x).values()) if isinstance(getattr(x, "__dict__", None), dict) and not isinstance(x, types.ModuleType) else []
    return depth > 0 and any(iterates(p, depth - 1) for p in parts)


def unchanged(first: Any, last: Any) -> bool:
    """True where a variable still is what it was: the object, or an equal number or text of Python's."""
    if type(first) is type(last) is TracedSize:
        return bool(first._extent == last._extent)
    return first is last or (type(first) in ATOMS and same(first, last))


# Questions


class Asking:
    """The questions in a region. Each has a node of its own in it."""

    def __init__(self, region_before: set[fx.Node], real: bool) -> None:
        self.before, self.real = region_before, real

    def own(self, node: fx.Node) -> fx.Node:
        """A node of the region for the condition `node`."""
        if node not in self.before and node.target is not operand:
            return node
        made = node.graph.call_function(torch.ne, (node, False))
        made.meta["asked"] = True
        return made


class Exploring(Asking):
    """Answers as one of all ways needs it. `real`: whether the values are the sample's."""

    def __init__(self, before: set[fx.Node], real: bool, forks: Forks) -> None:
        super().__init__(before, real)
        self.forks = forks

    @property
    def on_sample(self) -> bool:
        return self.real and self.forks.on_sample

    def decide(self, truth: bool, node: fx.Node) -> bool:
        return self.forks.decide(truth, self.own(node))


class Following(Asking):
    """Answers as the values have it."""

    on_sample = True

    def __init__(self, before: set[fx.Node]) -> None:
        super().__init__(before, True)
        self.given: list[bool] = []

    def decide(self, truth: bool, node: fx.Node) -> bool:
        self.own(node).meta.setdefault("decides", []).append(len(self.given))
        self.given.append(truth)
        return truth


# Regions


def operand(number: int) -> Any:
    """Stands in a region for its operand."""
    raise AssertionError("an operand is no call")


_MARKS = ("watch", "looped", "stale", "lent", "version")
"""What a region may note at storages from outside."""


class Region:
    """Between `open` and `close` the trace records a region.

    It writes into the memory `written` alone; without that list into any, which is noted in `contents` as it was before."""

    def __init__(self, tracer: Tracer, written: list[Storage] | None = None) -> None:
        self.tracer, self.is_free = tracer, written is None
        self.written = written or []
        self.count = 0
        self.grown: Storage | None = None
        self.unfit = False

    def open(self) -> set[fx.Node]:
        """The nodes before the region."""
        tracer = self.tracer
        self.before = set(tracer.graph.nodes)
        self.made = [x for ref in tracer.made.values() if (x := ref()) is not None]
        self.arrays = [(x, x._tensor, x._version, x._value, x._storage) for x in self.made if type(x) is TracedNpArray]
        self.numbers = [(x, x._truth, x._marked) for x in self.made if type(x) is TracedNumber]
        self.storages = dict(tracer.storages)
        self.contents = [_contents_of(s) for s in self.written]
        self.kept = len(tracer.recorder._kept)
        self.graphs = set(dict(tracer.root.named_children()))
        self.names = {k: copy.copy(v) for k, v in vars(tracer.graph._graph_namespace).items()}
        self.sizes = len(tracer.recorder.sizes)
        self.computed, tracer.recorder.computed = tracer.recorder.computed, {}
        self.forks, self.state = tracer.forks, (tracer.failure, tracer.caught, tracer.floating)
        self.marks = [(s, [getattr(s, name) for name in _MARKS]) for s in self.storages.values()]
        for storage, _ in self.marks:
            storage.watch = None if storage in self.written else self._note if self.is_free else self._watch
        return self.before

    def run(self, call: Callable[[], Any], place: tuple[str, int]) -> Any:
        """What a call of the user's code gives in the region. Its own exceptions are causes of a TraceError."""
        tracer = self.tracer
        paused, tracer.paused = tracer.paused, False
        try:
            result = call()
        except TraceError as refused:
            raise tracer.failure or refused from None
        except Exception as problem:
            if tracer.end is not None and caught_here(type(problem), tracer.end):
                raise Unfit("it raises what the function catches") from problem
            cause = None if tracer.is_unset(problem) else problem
            raise error("opaque-call", f"{type(problem).__name__}: {message_of(problem)}", "", place) from cause
        finally:
            tracer.paused = paused
        if tracer.failure is not None:
            raise tracer.failure
        if tracer.caught is not self.state[1]:
            raise Unfit("NumPy raises in it, and the function catches that")
        return result

    def operand(self, kind: Kind, value: Any, written: Callable[[Storage], None] | None) -> Any:
        """A new operand of this kind with a value. `written` is called where the body writes into it."""
        return made_of(self.tracer, kind, value, self._node(), written)

    def contents_of(self, storage: Storage, value: numpy.ndarray[Any, Any]) -> None:
        """The contents of a storage as an operand."""
        storage.owner[...] = value
        tensor = plain_tensor(value)
        self.tracer.recorder.record(tensor, self._node())
        storage.materialise()
        storage.value = tensor
        storage.version += 1

    def _node(self) -> fx.Node:
        self.count += 1
        return self.tracer.graph.create_node("call_function", operand, (self.count - 1,), {})

    def reads(self, outputs: list[fx.Node]) -> dict[Any, torch.Tensor | fx.Node]:
        """What the region reads of the graph outside: nodes, and by their contents the constants."""
        found = dict.fromkeys(n for node in self.own() for n in node.all_input_nodes) | dict.fromkeys(outputs)
        constants = self.tracer.recorder.constants()
        keys = {n: self._key(n, constants) for n in found if n in self.before or (n.op == "get_attr" and "graph" not in n.meta)}
        return {key: constants.get(n, n) for n, key in keys.items()}

    def _key(self, node: fx.Node, constants: dict[fx.Node, torch.Tensor]) -> Any:
        return node if node not in constants else contents_of_tensor(constants[node]) or id(constants[node])

    def cut(self, outputs: list[fx.Node], outside: list[Any]) -> fx.Graph:
        """The region as a graph: its operands and what it reads, `outside` (see `reads`), are the placeholders."""
        self.tracer.recorder.mark_views()
        made = fx.Graph()
        operands = [made.placeholder(f"state_{i}") for i in range(self.count)]
        read = {key: made.placeholder(f"read_{i}") for i, key in enumerate(outside)}
        for key, node in read.items():
            node.meta["constant"] = not isinstance(key, fx.Node)
        constants = self.tracer.recorder.constants()
        places: dict[fx.Node, fx.Node] = {}

        def place(node: fx.Node) -> fx.Node:
            return places[node] if node in places else read[self._key(node, constants)]

        for node in self.own():
            if node.target is operand:
                places[node] = operands[node.args[0]]  # type: ignore[index]
            elif node.op != "get_attr" or "graph" in node.meta:
                places[node] = made.node_copy(node, place)
        made.output(tuple(map(place, outputs)))
        return made

    def own(self) -> list[fx.Node]:
        return [n for n in self.tracer.graph.nodes if n not in self.before]

    def problem(self) -> str:
        """Why the region is not to be a graph of its own; "" where it may be."""
        if not self.is_free and len(self.tracer.recorder.sizes) > self.sizes:
            return "a size in it depends on values"
        if any(n.meta.get("writes") for n in self.own()):
            return "torch writes in place in it"
        for x, _, _, value, storage in self.arrays:
            if x._value is not value or x._storage is not storage:
                return "it changes the shape of an array in place"
        return ""

    def leaks(self) -> bool:
        """True where something that the region made is kept by something outside."""
        self._unmark()
        before = set(map(id, self.made))
        for attempt in range(2):
            alive = [x for ref in list(self.tracer.made.values()) if (x := ref()) is not None and id(x) not in before]
            if all(type(x) is TracedNpArray and x._storage.origin == "outside" for x in alive):
                return False  # constants that were met for the first time
            del alive
            if attempt == 0:
                gc.collect()
        return True

    def close(self) -> None:
        """All is as it was before."""
        tracer = self.tracer
        own = self.own()
        tracer.recorder.forget(set(own))
        for node in reversed(own):
            tracer.graph.erase_node(node)
        vars(tracer.graph._graph_namespace).update(self.names)
        for name in dict(tracer.root.named_children()).keys() - self.graphs:
            delattr(tracer.root, name)
        for x, tensor, version, value, storage in self.arrays:
            x._tensor, x._version, x._value, x._storage = tensor, version, value, storage
        for number, truth, marked in self.numbers:
            number._truth, number._marked = truth, marked
        tracer.storages = {k: s for k, s in tracer.storages.items() if k in self.storages or s.origin == "outside"}
        self._unmark()
        for storage, held, version, was_written, contents in self.contents:
            storage.owner[...] = contents
            storage.value, storage.version, storage.written = held, version, was_written
        tracer.made = {k: ref for k, ref in tracer.made.items() if ref() is not None}
        tracer.recorder.release(self.kept)
        del tracer.recorder.sizes[self.sizes :]
        tracer.recorder.computed = self.computed
        tracer.forks = self.forks
        tracer.failure, tracer.caught, tracer.floating = self.state


    def _unmark(self) -> None:
        for storage, marks in self.marks:
            for name, mark in zip(_MARKS, marks, strict=True):
                setattr(storage, name, mark)

    def _note(self, storage: Storage) -> None:
        """Memory is about to be written to for the first time. A constant is none from here on, whatever becomes of the region."""
        if storage.base is not None:
            self.unfit = True  # for code that catches all
            raise Unfit("it writes through a view at a position that hangs on values")
        storage.materialise()
        self.contents.append(_contents_of(storage))
        storage.watch = None

    def _watch(self, storage: Storage) -> None:
        self.grown = storage  # for code that catches all
        raise Grown(storage)


def _contents_of(s: Storage) -> tuple[Any, ...]:
    return s, s.value, s.version, s.written, laid_out(s.owner)


class Shared:
    """Memory of which nobody knows whether it is one, as that hangs on values: a write to one makes all others unreadable."""

    def __init__(self, storages: list[Storage], read_stale: Callable[[], None]) -> None:
        self.members: list[Storage] = []
        self.read_stale = read_stale
        self.before: dict[Storage, Callable[[Storage], None]] = {}
        for storage in storages:
            known = storage.looped
            if isinstance(known, Shared):
                self.before |= known.before
            elif known is not None:
                self.before[storage] = known
            others = known.members if isinstance(known, Shared) else [storage]
            self.members += [s for s in others if s not in self.members]
        for storage in self.members:
            storage.looped = self

    def __call__(self, written: Storage) -> None:
        if written in self.before:
            self.before[written](written)
        others = [s for s in self.members if s is not written]
        if any(s.origin != "fresh" for s in others):
            self.read_stale()
        for storage in others:
            storage.version += 1
            storage.stale = self.read_stale


def write_shared(_: Storage) -> None:
    raise error("aliasing", "the body writes into an array that it also binds to another name", "copy it in the body: x = x.copy()")
