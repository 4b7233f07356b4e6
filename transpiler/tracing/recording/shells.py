"""Which tensors the traced function holds: the shells of recorded tensors, and the constants that become recorded ones.

A tensor that the function makes of nothing (`torch.zeros(3)`) is a plain one, with its values, until something of the graph is written into
it. From then on the object is a shell, the memory that others may still see through views holds poison, and such a view is found to be one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from ..arrays.tensor import TracedTensor, fill, is_shell, shell_of
from ..errors import error
from .belowcalls import recorded_below

if TYPE_CHECKING:
    from .recorder import Recorder


class Shells:
    """The shells of one recorder.

    made      the constants that torch's functions made during the trace, by their memory (and held, so that it is nobody else's)
    moved     of those that became recorded ones: the recorded tensor of all the memory, by the old memory"""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.made: dict[int, torch.Tensor] = {}
        self.moved: dict[int, torch.Tensor] = {}
        self._shells: dict[int, weakref.ref[TracedTensor]] = {}

    # Out to the function, and back

    def expose(self, real: torch.Tensor) -> Any:
        """What the traced function gets for a recorded tensor."""
        known = self._shells.get(id(real))
        shell = known() if known is not None else None
        if shell is None or getattr(shell, "_real", None) is not real:
            if type(real) not in PLAIN:
                self.fail("opaque-call", f"torch gives a {type(real).__name__}, a tensor with a dispatch of its own",
                          "stay with plain tensors, or split the node around it")  # fmt: skip
            with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
                shell = shell_of(real, self)
            self._shells[id(real)] = weakref.ref(shell)
            self.recorder.bridge.note(shell)
        return shell

    def tensor_of(self, x: Any) -> Any:
        """What torch's functions get for an array, a scalar or a number of the trace."""
        bridge = self.recorder.bridge
        if x is not None and hasattr(x, "_storage"):
            tensor = bridge.to_torch(x)
            return tensor if self.recorder.node(tensor) is None else self.expose(tensor)
        bridge.check_own(x)
        return self.expose(x._tensor)

    def opened(self, x: Any) -> Any:
        """`x` with recorded tensors for shells, also in containers."""
        if isinstance(x, torch.Tensor):
            return self._opened(x)
        return mapped(self.opened, x)

    def _opened(self, x: torch.Tensor) -> torch.Tensor:
        if is_shell(x):
            if x._shells is not self:  # type: ignore[attr-defined]
                self.fail("side-effect", "a tensor was kept from an earlier trace, by a global, an attribute or a cache",
                          "return what the next call needs, and pass it in")  # fmt: skip
            return x._real  # type: ignore[attr-defined]
        if self.moved and self.recorder.node(x) is None:
            memory = memory_of(x)
            if memory in self.moved:
                return self._alias(self.moved[memory], x)
        return x

    def holds(self, x: Any) -> bool:
        """True where `x` is or contains something that the graph computes."""
        return any(is_shell(t) or (bool(self.moved) and memory_of(t) in self.moved) for t in tensors_in(x))

    def closed(self, result: Any) -> Any:
        """A call's result with shells for recorded tensors. Raises TraceError for all else, but None."""
        if isinstance(result, torch.Tensor):
            return self.expose(result)
        if result is None:
            return None
        if isinstance(result, (list, tuple)) and type(result).__module__ in ("builtins", "torch.return_types"):
            return type(result)([self.closed(part) for part in result])
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            return type(result)(*[self.closed(part) for part in result])
        message = f"torch gives a {type(result).__name__} that is computed from values of the graph"
        return self.fail("python-value", message, "keep it a tensor")

    # Constants that become recorded

    def note_made(self, result: Any, args: Any) -> None:
        """Note what a call on constants has made, and did not get with its arguments."""
        for x in tensors_in(result):
            memory = memory_of(x) if type(x) in PLAIN else 0
            if memory and memory not in self.made and all(memory_of(a) != memory for a in tensors_in(args)):
                self.made[memory] = x

    def take(self, target: torch.Tensor) -> None:
        """A value of the graph is about to be written into a plain tensor: it becomes a shell."""
        memory = memory_of(target)
        if memory in self.recorder.shared:
            self.fail("aliasing", "torch writes into a tensor that shares its memory with a NumPy array", "write into a copy: t.clone()")
        if memory not in self.made and memory not in self.moved:
            self.fail("side-effect", "the function writes into a tensor that existed before it was called",
                      "pass it in and return its new value, or write into a copy: t.clone()")  # fmt: skip
        if type(target) not in PLAIN or target.layout != torch.strided or not target.is_leaf:
            self.fail("mutation", f"a value of the graph is written into a {type(target).__name__} of a special kind",
                      "write into a plain tensor: t.detach().clone()")  # fmt: skip
        if memory not in self.moved:
            self._move(memory, target)
        self._become(target, self._alias(self.moved[memory], target))

    def _move(self, memory: int, target: torch.Tensor) -> None:
        """Let the memory of a constant be recorded. What is left of it in the old place is poison."""
        recorder = self.recorder
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            if not (target.is_contiguous() and target.numel() * target.element_size() == target.untyped_storage().nbytes()):
                whole = torch.empty(0, dtype=target.dtype).set_(target.untyped_storage())  # type: ignore[call-overload]
            else:
                whole = target.detach()
            real = whole.clone()
            recorder.keep_constants(lambda x: memory_of(x) == memory)
            node = recorder.graph.create_node("call_function", torch.clone, (recorder.constant(real.clone()),), {})
            node.meta["writes"] = True
            recorder.record(real, node)
            torch.empty(0, dtype=torch.uint8).set_(target.untyped_storage()).fill_(0xFF)  # type: ignore[call-overload]
        self.made[memory] = whole
        self.moved[memory] = real

    def _alias(self, whole: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The part of recorded memory that a plain tensor was a view of."""
        recorder = self.recorder
        if x.dtype != whole.dtype:
            self.fail("aliasing", "a tensor shares its memory with one of another dtype, into which a value of the graph was written",
                      "write into a copy: t.clone()")  # fmt: skip
        place = x.size(), x.stride(), x.storage_offset()
        if place == (whole.size(), whole.stride(), 0):
            return whole
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            real = whole.as_strided(*place)
        node = recorder.graph.create_node("call_function", torch.as_strided, (recorder.node(whole), *map(tuple, place[:2]), place[2]), {})
        recorder.note_place(node)
        return recorder.record(real, node)

    def _become(self, x: torch.Tensor, real: torch.Tensor) -> None:
        """Let the object `x` be the shell of a recorded tensor."""
        is_parameter, gradient = isinstance(x, torch.nn.Parameter), x.grad
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            shell = shell_of(real, self).requires_grad_(x.requires_grad)
            shell.grad = gradient
            torch._C._swap_tensor_impl(x, shell)  # type: ignore[attr-defined]
            x.__class__ = TracedTensor
            shell.__class__ = torch.Tensor  # type: ignore[assignment]
        fill(x, real, self)
        if is_parameter:
            x._is_param = True  # type: ignore[attr-defined]
        self._shells[id(real)] = weakref.ref(x)  # type: ignore[arg-type]
        self.recorder.bridge.note(x)

    def settle(self, target: Any) -> None:
        """After a write in place: the shell has the shape that the tensor now has."""
        if not is_shell(target):
            return
        real = target._real
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            if real.layout == torch.strided and (target.size(), target.stride()) != (real.size(), real.stride()):
                torch._C._swap_tensor_impl(target, shell_of(real, self))  # type: ignore[attr-defined]

    def below(self, func: Any, args: Any, kwargs: Any) -> Any:
        """An operation of torch's that came to a shell without a function of torch's that the recorder saw."""
        self.recorder.pin_all()  # sizes are ints there
        with self.recorder.bridge.inside(), torch._C.DisableTorchFunction():
            # nobody sees what torch itself asks of sizes there
            self.recorder.bridge.told.update(tuple(x.shape) for x in tensors_in((args, kwargs)))
            return recorded_below(self, func, args, kwargs)

    def fail(self, name: str, message: str, hint: str) -> NoReturn:
        """Raise TraceError, and note it for a function that catches all."""
        with self.recorder.bridge.inside():
            raise error(name, message, hint)


PLAIN = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
"""The classes of tensors that are handled by the functions of torch alone."""


def mapped(function: Callable[[Any], Any], x: Any) -> Any:
    """`function` of what is in a list, tuple, dict or slice; anything else as it is."""
    kind = type(x)
    if kind in (list, tuple, torch.Size):
        return kind(map(function, x)) if x and kind is not torch.Size else x
    if kind is dict:
        return {k: function(v) for k, v in x.items()}
    if kind is slice:
        return slice(function(x.start), function(x.stop), function(x.step))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(function, x))
    return x


def tensors_in(x: Any) -> Iterator[torch.Tensor]:
    """The tensors in containers."""
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for part in x:
            yield from tensors_in(part)
    elif isinstance(x, dict):
        for part in x.values():
            yield from tensors_in(part)
    elif isinstance(x, slice):
        yield from tensors_in((x.start, x.stop, x.step))


def memory_of(x: torch.Tensor) -> int:
    """Which memory a tensor lies in; 0 where it has none that could be shared."""
    with torch._C.DisableTorchFunction():
        if is_shell(x) or x.layout != torch.strided or torch._C._functorch.is_functorch_wrapped_tensor(x):
            return 0
        try:
            return x.untyped_storage()._cdata
        except (RuntimeError, NotImplementedError):
            return 0
