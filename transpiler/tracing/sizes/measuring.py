"""Sizes of recorded tensors: nodes of the graph for whoever asks, and what is assumed of them.

A rule that asks for the size of a tensor gets a `TracedSize` (see sizes); torch code of the user an int, with a guard. The tracer itself
gets plain ints.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import fx

from ..errors import user_frame
from ..recording.torchnames import SIZES
from . import extents
from .shapes import extents_of
from .traced import TracedSize, holds_size, pinned

COUNTED = {"unbind": 1, "split": 2, "chunk": 2, "tensor_split": 2}
"""Functions that give as many tensors as sizes have it, and where their `dim` stands."""

MAKERS = (torch.tensor, torch.as_tensor, torch.asarray)


def shape_unseen(x: torch.Tensor) -> torch.Size:
    """The shape of a tensor, unseen by a recorder."""
    with torch._C.DisableTorchFunction():
        return x.shape


class Measuring:
    """The part of a recorder that knows sizes.

    inputs    the shapes of the inputs
    guards    what is assumed of sizes, and where in the user's code
    issued    all sizes that were given out
    computed  the nodes of those that the graph needs
    sized     whether there was a size among the arguments of the last call
    users     whether a rule is at work that is no part of np2fx: what is no int any more is Python's own number to it"""

    graph: fx.Graph
    bridge: Any
    current: str
    sizes: list[tuple[int, ...]]
    measured: bool
    _nodes: dict[int, fx.Node]

    def __init__(self) -> None:
        self.inputs: list[tuple[int, ...]] = []
        self.guards: dict[extents.Guard, tuple[str, int, str]] = {}
        self.issued: list[TracedSize] = []
        self.computed: dict[Any, fx.Node] = {}
        self.sized = self.users = False

    def is_loose(self, x: torch.Tensor) -> bool:
        raise NotImplementedError

    def note_place(self, node: fx.Node) -> None:
        raise NotImplementedError

    def argument(self, x: Any) -> Any:
        raise NotImplementedError

    def shape_of(self, x: torch.Tensor) -> Any:
        """The shape of a recorded tensor, in which sizes that hang on the inputs' are nodes: for rules."""
        self._measure((x,))
        real = shape_unseen(x)
        if not real or not self.current or self.is_loose(x):
            return real
        return torch.Size(self.sizes_of(x, real))

    def sizes_of(self, x: torch.Tensor, real: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes of a recorded tensor, whose shape is `real`."""
        node = self._nodes[id(x)]
        known = extents_of(node)
        if not isinstance(known, tuple) or len(known) != len(real):
            known = tuple([("of", node, axis) for axis in range(len(real))])
        return tuple([self._size(node, axis, size, extent) for axis, (size, extent) in enumerate(zip(real, known, strict=True))])

    def known_shape(self, x: torch.Tensor) -> tuple[int, ...]:
        """The shape of a tensor, with sizes where it is recorded: for the tracer, which otherwise is told plain ints."""
        real = shape_unseen(x)
        return self.sizes_of(x, real) if real and id(x) in self._nodes and not self.is_loose(x) else tuple(real)

    def _size(self, node: fx.Node, axis: int, size: int, extent: extents.Extent) -> Any:
        if type(extent) is int and extent == size:
            return size
        if not extents.is_open(extent) and extents.evaluate(extent, self.inputs) != size:
            extent = "of", node, axis
        return TracedSize(self, size, extent, (node, axis))

    def _measure(self, args: Any) -> None:
        if self.current and self.sizes and args and isinstance(args[0], torch.Tensor) and self.is_loose(args[0]):
            self.measured = True

    def answer(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """What a function tells of a tensor without reading it."""
        if name in SIZES:
            self._measure(args)
            if name != "stride" and args and isinstance(args[0], torch.Tensor) and id(args[0]) in self._nodes:
                shape = self.shape_of(args[0])
                if name == "size":
                    dim = args[1] if len(args) > 1 else kwargs.get("dim")
                    return shape if dim is None else shape[dim]
                return math.prod(shape) if name != "__len__" or not shape else shape[0]
        elif holds_size(args) or holds_size(kwargs):
            args, kwargs = pinned(args), pinned(kwargs)
        return func(*args, **kwargs)

    def size_node(self, x: TracedSize) -> fx.Node:
        """The node of a size. It is made once, before what it is needed for."""
        function, *operands = x._source
        key = (function, *map(self.argument, operands))
        node = self.computed.get(key)
        if node is None:
            if isinstance(function, fx.Node):
                node = self.graph.create_node("call_method", "size", key)
            else:
                node = self.graph.create_node("call_function", function, key[1:])
            node.meta["size"] = x._extent, x._value
            self.bridge.told.add("own")
            self.note_place(node)
            self.computed[key] = node
        return node

    def compared(self, relation: str, a: extents.Extent, b: extents.Extent, truth: bool) -> None:
        """Note that a decision hangs on how two sizes compare."""
        if extents.compare(relation, a, b) is None:
            if extents.is_open(a) or extents.is_open(b):
                self.pin_all()
            else:
                self._guard(extents.Guard.asked(relation, a, b, truth))

    def pin(self, extent: extents.Extent, value: int) -> None:
        """Note that something hangs on a size being what it is."""
        if extents.is_open(extent):
            self.pin_all()
        else:
            self._guard(extents.Guard("eq", *extents.solved(extent, value)))

    def pin_all(self) -> None:
        """Note that something hangs on sizes, and nobody knows on which."""
        for number, shape in enumerate(self.inputs):
            for axis, size in enumerate(shape):
                self._guard(extents.Guard("eq", ("in", number, axis), size))

    def _guard(self, guard: extents.Guard) -> None:
        """Note a guard; and for whoever looks for free sizes (see freedom) that they are proven, and are no other where it may not hold."""
        self.bridge.told.add("own" if guard.holds_from(2) else guard if guard.is_sameness() else (guard, guard.values(self.inputs)))
        if guard not in self.guards:
            frame = user_frame()
            self.guards[guard] = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) if frame is not None else ("", 0, "")

    def _sizes_under(self, node: fx.Node) -> set[fx.Node] | None:
        """The sizes that a node is computed from; None where it hangs on values."""
        found, pending, seen = set(), [node], set()
        while pending:
            n = pending.pop()
            if n in seen:
                continue
            seen.add(n)
            if "size" in n.meta:
                found.add(n)
            elif n.op == "get_attr":
                continue
            elif not n.all_input_nodes or n.op == "placeholder" or n.meta.get("writes"):
                return None
            else:
                pending += n.all_input_nodes
        return found if found else None

    def settle(self, node: fx.Node) -> bool:
        """Where a node hangs on sizes alone, let the graph hold for these. Returns whether it does."""
        found = self._sizes_under(node)
        for n in found or ():
            self.pin(*n.meta["size"])
        return found is not None

    def settled(self, x: Any) -> bool:
        """Let a tensor that hangs on sizes alone be a constant."""
        if not isinstance(x, torch.Tensor) or id(x) not in self._nodes or not self.settle(self._nodes[id(x)]):
            return False
        del self._nodes[id(x)]
        return True

    def note_counted(self, name: str, args: Any, kwargs: Any) -> None:
        """How many parts a function gives, or how many axes, hangs on a size."""
        shape = self.sizes_of(args[0], shape_unseen(args[0]))
        if name == "squeeze":
            for size in shape if len(args) < 2 and not kwargs else ():
                _ = size == 1
        else:
            dim = kwargs.get("dim", args[COUNTED[name]] if len(args) > COUNTED[name] else 0)
            if name not in ("split", "tensor_split") or isinstance(args[1], int):
                pinned(shape[dim])


def made_of_sizes(data: Any, dtype: torch.dtype | None = None, **_: Any) -> torch.Tensor:
    """`torch.tensor` of sizes, and of lists of them."""
    if isinstance(data, TracedSize):
        return data.number(dtype or torch.int64)
    if isinstance(data, (list, tuple)):
        return torch.stack([made_of_sizes(x, dtype) for x in data])
    return torch.tensor(data, dtype=dtype)
