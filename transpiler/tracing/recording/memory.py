"""What a trace knows of its arrays: their memory, their torch values, and whether they are constants."""

from __future__ import annotations

import threading
import types
import weakref
from typing import Any, NoReturn

import numpy
import torch
from torch import fx

from ...semantics.arrays import as_tensor
from ..arrays.array import TracedNpArray
from ..arrays.number import TracedNumber
from ..arrays.scalar import TracedScalar
from ..calls import Call, shares
from ..control.catching import caught_here, raised_by
from ..errors import TraceError, error, in_library
from ..sizes.counting import shape_of
from ..sizes.measuring import shape_unseen
from ..sizes.traced import TracedSize, pinned
from ..state import holds_traced
from .compare import values_of
from .recorder import LAYOUT, OWN, Recorder
from .storage import Storage, owner_of

_WAY_OUT = {
    "data-dependent-branch": "use np.where to choose between values, or split the node here",
    "python-value": "stay with arrays and NumPy scalars, or split the node here",
    "opaque-call": "make the array with NumPy (np.array, np.asarray), or split the node here",
}


class Memory:
    """The state of one trace.

    storages  the memory of its arrays, by the id of the owning NumPy array
    made      its traced arrays and scalars, weakly, by id
    paused    True while NumPy, a rule or the tracer itself runs: what they call is not traced
    failure   the first TraceError, which the traced function may have caught
    caught    where NumPy raised inside the trace, if it did: (place, error)
    loops     what is known of the `while`s on values (see loops)
    unset     whether a variable was left without a value that it has on some ways
    again     whether the trace must start again, as more is known of one
    stands    which objects the arguments stand for, by id
    copies    the same for containers that were copied for the trace
    arguments_for  which argument stands for a list or dict without arrays, by the id of that; `met` those that were found elsewhere
    known     the arrays from before the trace
    compared  what is no argument, and `is` has held arguments against
    numbers   the numbers of the arrays among the arguments, by id; `parted` the pairs of them that `is` has found to be two
    rounded   the dtypes of what was computed: each result is rounded to one
    thread    the thread that runs it
    told      what the traced function was told of sizes; and `OWN` where a rule or the tracer asked for some (see freedom)
    end       the code that calls the traced function: the frames above it are not part of the trace"""

    def __init__(self) -> None:
        self.graph = fx.Graph()
        self.root = torch.nn.Module()
        self.recorder = Recorder(self.graph, self.root, self)
        self.storages: dict[int, Storage] = {}
        self.made: dict[int, weakref.ref[Any]] = {}
        self.paused = False
        self.thread = threading.get_ident()
        self.failure: TraceError | None = None
        self.caught: tuple[tuple[str, int], BaseException] | None = None
        self.floating: tuple[Any, int, Any] | None = None
        self.forks: Any = None
        self.loops: dict[Any, Any] = {}
        self.again = self.unset = False
        self.rounded: set[numpy.dtype[Any]] = set()
        self.told: set[Any] = set()
        self.end: types.CodeType | None = None
        self.stands: dict[int, Any] = {}
        self.copies: dict[int, Any] = {}
        self.arguments_for: dict[int, Any] = {}
        self.met: set[int] = set()
        self.known: list[numpy.ndarray[Any, Any]] = []
        self.compared: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.parted: set[tuple[int, int]] = set()

    @property
    def on_sample(self) -> bool:
        """False on a way through the function that the sample does not take."""
        return self.forks is None or self.forks.on_sample

    def is_unset(self, problem: BaseException) -> bool:
        """Whether an error may come of a variable that was left without the value that the function gives it."""
        return self.unset and isinstance(problem, NameError)

    def check_identity(self, a: Any, b: Any) -> None:
        """Refuse `a is b` where an argument is what the function knows already; note what it is held against otherwise."""
        if a is b and id(a) in self.met:
            self._known_argument()
        if a is not b and id(a) in self.numbers and id(b) in self.numbers:
            first, second = sorted((self.numbers[id(a)], self.numbers[id(b)]))
            self.parted.add((first, second))
        for x, y in () if a is b else ((a, b), (b, a)):
            given = self.stands.get(id(x))
            if given is None or isinstance(given, numpy.generic) or id(y) in self.stands or type(y) in (int, float, bool, str, type(None)):
                continue
            known = y._value if type(y) is TracedNpArray and self.is_constant(y) else self.copies.get(id(y), y)
            if known is given:
                self._known_argument()
            if not holds_traced(known):
                self.compared.append(known)

    def _known_argument(self) -> NoReturn:
        self.fail("python-value", "an argument is compared by `is` with what the function knows, and is that very object",
                  "pass None, or another value that is no array and no container, and compare with that")  # fmt: skip

    def check_own(self, x: Any) -> None:
        """Raise TraceError for what this trace did not make."""
        if x._value is None:
            self.fail("opaque-call", "an array came back from code that the tracer cannot see", "split the node around that call")
        if id(x) not in self.made:
            self.fail("side-effect", "an array was kept from an earlier trace, by a global, an attribute or a cache",
                      "return what the next call needs, and pass it in")  # fmt: skip

    def note_array(self, value: Any, storage: Storage, tensor: Any) -> TracedNpArray:
        """A traced array of this trace."""
        return self.note(TracedNpArray.make(value, storage, tensor))

    def note(self, x: Any) -> Any:
        """Remember that this trace made `x`."""
        self.made[id(x)] = weakref.ref(x)
        return x

    def is_constant(self, x: Any) -> bool:
        """True for arrays that do not depend on the inputs, and for whatever is not traced."""
        if type(x) is TracedNpArray:
            return x._storage is not None and x._storage.value is None and x._tensor is None
        return type(x) not in (TracedScalar, TracedNumber)

    def tensor(self, x: Any) -> torch.Tensor:
        """The present torch value of a traced array or scalar, or of a constant."""
        if type(x) in (TracedScalar, TracedNumber):
            return x._tensor
        if type(x) is not TracedNpArray:
            return self.recorder.shells.opened(x) if isinstance(x, torch.Tensor) else as_tensor(x)
        storage = x._storage
        source = storage
        while source.base is not None:
            if source.base[0]._storage.version != source.base[1]:
                self.fail(
                    "aliasing", "a view at a computed position is read after its array was written to", "copy the view when it is made"
                )
            source = source.base[0]._storage
        if x._tensor is None or x._version != storage.version:
            x._tensor, x._version = self.read(x), storage.version
        return x._tensor

    def read(self, x: TracedNpArray) -> torch.Tensor:
        """The present value of an array whose memory was written to since it was last read."""
        return x._storage.read(x._value)  # type: ignore[no-any-return]

    def array(self, real: numpy.ndarray[Any, Any], tensor: torch.Tensor) -> TracedNpArray:
        """A traced array; a view where the NumPy array is one."""
        owner = owner_of(real)
        storage = self.storages.get(id(owner))
        if storage is None:
            real = real if owner is real else real.copy(order="K")
            return self.note_array(real, self.new_storage(real, tensor, "fresh"), tensor)
        if self.floating is None:
            storage.materialise()
            return self.note_array(real, storage, tensor)
        floating = Storage(real, tensor, "fresh")
        floating.base = self.floating
        return self.note_array(real, floating, tensor)

    def adopt(self, tensor: torch.Tensor) -> Any:
        """A recorded tensor (0-d: a scalar) as a traced array with a copy of its value."""
        with self.inside():
            real = values_of(tensor).copy()
            return self.array(real, tensor) if real.ndim else self.note(TracedScalar(real[()], tensor))

    def constant(self, real: Any, call: Call | None = None) -> Any:
        """Arrays that do not depend on the inputs, as traced arrays, so that writes into them are seen."""
        if isinstance(real, (tuple, list)) and any(isinstance(r, (numpy.ndarray, tuple, list)) for r in real):
            parts = [self.constant(r, call) for r in real]
            return type(real)(*parts) if hasattr(real, "_fields") else type(real)(parts)
        if type(real) is not numpy.ndarray:
            return real
        owner = owner_of(real)
        storage = self.storages.get(id(owner))
        if storage is None:
            storage = self.new_storage(owner, None, "outside" if call is not None and shares(call, owner) else "fresh")
        return self.note_array(real, storage, None)

    def outside(self, real: numpy.ndarray[Any, Any]) -> TracedNpArray:
        """An array from before the trace, as a constant that must not be written to."""
        owner = owner_of(real)
        storage = self.storages.get(id(owner)) or self.new_storage(owner, None, "outside")
        return self.note_array(real, storage, None)

    def new_storage(self, owner: numpy.ndarray[Any, Any], value: Any, origin: str) -> Storage:
        """The storage of memory that was not known before."""
        storage = self.storages[id(owner)] = Storage(owner, value, origin)
        return storage

    # torch's side (see Recorder.bridge)

    def measure(self, found: Any) -> None:
        """A size of a recorded tensor is asked for: by the traced function, or by a rule or the tracer itself."""
        own = self.paused or self.recorder.current or self.recorder.pure
        self.told.add(OWN if own and found != LAYOUT else found)

    def arguments(self, args: Any, kwargs: Any) -> Any:
        """The arguments of a torch call of user code, with tensors for traced arrays."""
        with self.inside():
            return self._to_torch(tuple(args)), {k: self._to_torch(v) for k, v in kwargs.items()}

    def _to_torch(self, x: Any) -> Any:
        if type(x) is TracedNpArray:
            return self.to_torch(x)
        if type(x) in (TracedScalar, TracedNumber):
            return x._tensor
        if type(x) in (list, tuple):
            return type(x)(map(self._to_torch, x))
        return x

    def to_torch(self, x: Any) -> Any:
        """`torch.from_numpy`: the tensor shares the array's memory, so neither may be written to from now on."""
        if type(x) is not TracedNpArray:
            return x
        with self.inside():
            x._storage.lent = True
            tensor = torch.from_numpy(x._value) if self.is_constant(x) else self.tensor(x)
            self.recorder.shared.add(tensor.untyped_storage()._cdata)
            return tensor

    def to_numpy(self, tensor: torch.Tensor) -> Any:
        """`Tensor.numpy()` of a recorded tensor."""
        with self.inside():
            real = values_of(tensor).copy()
            made = self.array(real, tensor)
            made._storage.lent = True
            self.recorder.shared.add(tensor.untyped_storage()._cdata)
            return made

    # Leaving, failing

    def truth(self, x: Any) -> bool:
        """`bool(x)`: a constant's own; for a value of the graph the answer of this way through the function (see branches)."""
        if type(x) is TracedNpArray and x._value is not None and self.is_constant(x):
            return bool(x._value)
        if numpy.size(x._value) == 1 and self.settle(x):
            return bool(x._value)
        if self.forks is None or numpy.size(x._value) != 1:
            return bool(self.leave(x, "data-dependent-branch", "bool"))
        with self.inside():
            value = bool(x._value)
            tensor = self.tensor(x)
            condition = torch.reshape(tensor, ()) if tensor.ndim else tensor
            condition = condition if condition.dtype == torch.bool else torch.ne(condition, 0)
            node = self.recorder.node(condition)
            if node is None or node.op == "placeholder":
                node = self.recorder.node(torch.ne(condition, False))
            return self.forks.decide(value, node)

    def check_uncaught(self, function: Any, node: fx.Node, picks: bool) -> None:
        """Raise TraceError where a call that fails for some values stands inside a `try` that would catch it."""
        asserts = function is torch._assert_async
        loose = bool(self.recorder.sizes) and len(node.all_input_nodes) > 1 and any(n.meta.get("loose") for n in node.all_input_nodes)
        problem = None if asserts else raised_by(str(getattr(function, "__qualname__", function)), picks, loose)
        if (asserts or problem is not None) and self.end is not None and caught_here(problem, self.end):
            with self.inside():
                named = {"numpy.ndarray.__getitem__": "an index", "numpy.ndarray.__setitem__": "an index that is written to"}
                said = str(node.meta.get("numpy") or "a call of torch")
                what = node.args[1] if asserts and len(node.args) > 1 else named.get(said, said)
                self.fail("data-dependent-branch", f"an exception that hangs on values ({what}) would be caught by the function",
                          "test for the case with array operations, outside of try")  # fmt: skip

    def settle(self, x: Any) -> bool:
        """Let the graph hold for these sizes where `x` hangs on them alone. Returns whether it does: then Python may have its value."""
        with self.inside():
            node = self.recorder.node(self.tensor(x))
            return node is not None and self.recorder.settle(node)

    def known_for_sizes(self, x: Any) -> Any:
        """What hangs on sizes alone, also in lists, tuples and dicts, as the constant that it is for these; everything else as it is."""
        kind = type(x)
        if kind is TracedSize:
            return x.pinned()
        if kind in (list, tuple):
            made = [self.known_for_sizes(i) for i in x]
            return x if all(a is b for a, b in zip(x, made, strict=True)) else kind(made)
        if kind is dict:
            return {k: self.known_for_sizes(v) for k, v in x.items()}
        if kind not in (TracedNpArray, TracedScalar, TracedNumber) or x._value is None or self.is_constant(x) or not self.settle(x):
            return x
        return x._value if kind is not TracedNpArray else self.outside(x._value.copy())

    def leave(self, x: Any, name: str, what: str) -> Any:
        """NumPy's value of a constant. For anything else a TraceError: a value cannot leave the graph."""
        if type(x) is TracedNpArray and x._value is not None and self.is_constant(x):
            return x._value
        if x._value is not None and self.settle(x):
            return x._value
        with self.inside():
            if type(x) is TracedNumber:
                kind = f"computed {type(x._value).__name__}"
            else:
                kind = f"{x._value.dtype} scalar" if type(x) is TracedScalar else f"{numpy.ndarray.dtype.__get__(x)} array"  # type: ignore[attr-defined]
            messages = {
                "data-dependent-branch": f"a branch ({what}) hangs on a {kind} that is only known when the graph runs",
                "python-value": f"a {kind} of the graph becomes a Python value ({what})",
                "opaque-call": f"a {kind} of the graph goes into {what}",
            }
            return self.fail(name, messages[name], _WAY_OUT[name])

    def shape(self, x: TracedNpArray, real: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an array, as the traced function gets it."""
        if x._value is None or self.is_constant(x):
            return real
        with self.inside():
            tensor = x._tensor if x._tensor is not None and shape_unseen(x._tensor) == real else self.tensor(x)
            if self.recorder.is_loose(tensor):
                counted = shape_of(self, x)  # type: ignore[arg-type]
                if any(type(n) is int for n in counted):
                    self.recorder.pin_all()
                self.told.add(tuple([n for n in counted if type(n) is int]))
                return counted
            if not real or self.recorder.node(tensor) is None:
                return real
            sizes = self.recorder.sizes_of(tensor, real)
            return pinned(sizes) if in_library() else sizes  # type: ignore[no-any-return]

    def loose_size(self) -> NoReturn:
        """The traced function asks for a size that depends on values."""
        with self.inside():
            self.fail("data-dependent-shape", "a size that depends on values (of a mask, say) becomes a Python number",
                             "keep the size: np.where(mask, x, 0) instead of x[mask], or count with np.sum(mask)")  # fmt: skip

    def fixed(self, x: TracedNpArray, name: str) -> Any:
        """An attribute that tells of memory: only a constant has it."""
        if self.is_constant(x):
            return getattr(x._value, name)
        with self.inside():
            if name in ("base", "flags", "strides"):
                return self.fail("python-value", f".{name} tells of the layout in memory, which a graph does not have", "do without it")
            return self.fail(
                "opaque-call", f".{name} hands out the memory of an array of the graph", "stay with NumPy functions, or split the node"
            )

    def fail(self, name: str, message: str, hint: str = "", cause: BaseException | None = None) -> NoReturn:
        """Raise TraceError at the user's line."""
        raise error(name, message, hint) from cause

    def inside(self) -> _Inside:
        """The tracer is at work: NumPy is itself meanwhile. The first TraceError is remembered, also if the traced function catches it."""
        return _Inside(self)


class _Inside:
    """See `Memory.inside`."""

    __slots__ = ("autocast", "memory", "paused")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def __enter__(self) -> None:
        self.paused, self.memory.paused = self.memory.paused, True
        self.autocast = torch.is_autocast_enabled("cpu")  # NumPy knows of none
        if self.autocast:
            torch.set_autocast_enabled("cpu", False)

    def __exit__(self, kind: Any, failure: Any, trace: Any) -> None:
        self.memory.paused = self.paused
        if self.autocast:
            torch.set_autocast_enabled("cpu", True)
        if kind is not None and isinstance(failure, TraceError) and self.memory.failure is None:
            self.memory.failure = failure
