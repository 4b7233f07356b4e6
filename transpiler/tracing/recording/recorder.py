"""The recorder: writes down the torch calls that are made on recorded tensors as nodes of an FX graph.

Every call runs for real, on real tensors. A call that meets no recorded tensor is a constant and leaves no trace; a tensor
that was not recorded and meets one that was becomes a buffer (`_tensor_constant0`) or a parameter of the graph module.
"""

from __future__ import annotations

import cmath
import functools
import math
import operator
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import fx
from torch.overrides import TorchFunctionMode

from ..errors import TraceError, error, user_frame
from ..sizes.measuring import COUNTED, MAKERS, Measuring, made_of_sizes
from ..sizes.outlines import Outlines, part_of
from ..sizes.traced import TracedSize, holds_size, pinned, plain
from ..surroundings.usercalls import settings, user_call
from .compare import values_of
from .shells import Shells
from .torchnames import GETTERS, LAYOUTS, METADATA, RANDOM, SIZES, VALUES, refuse_random, refuse_values

_OPERATORS: dict[str, Callable[..., Any]] = {"__getitem__": operator.getitem, "__setitem__": operator.setitem}
_REFLECTED: dict[str, Callable[..., Any]] = {
    "__radd__": torch.add,
    "__rmul__": torch.mul,
    "__rsub__": operator.sub,
    "__rdiv__": operator.truediv,
    "__rtruediv__": operator.truediv,
    "__rpow__": operator.pow,
    "__rmod__": operator.mod,
    "__rfloordiv__": operator.floordiv,
    "__rmatmul__": operator.matmul,
    "__rlshift__": operator.lshift,
    "__rrshift__": operator.rshift,
    "__rand__": operator.and_,
    "__ror__": operator.or_,
    "__rxor__": operator.xor,
}
_RESHAPING = frozenset((
    "masked_select", "nonzero", "argwhere", "unique", "unique_consecutive", "_unique2", "_unique", "bincount", "histogramdd",
))  # fmt: skip
_SHAPED = frozenset(("reshape", "view", "expand", "broadcast_to", "unflatten", "narrow", "tile", "repeat", "new_zeros", "new_full"))
_FILLED = {"arange": 3, "zeros": 1, "ones": 1, "full": 1}
"""Functions that make tensors of a size, and how many of their arguments may tell it."""
_SAME = object()
"""In place of an outline: no size of the result depends on values."""
_ATOMS = (int, float, bool, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, type(Ellipsis))


def is_literal(x: complex) -> bool:
    """Whether Python's code for a complex number means that number: `infj` is a name, and `-0-2j` is `-(0+2j)` in part."""
    signs = [math.copysign(1.0, part) for part in (x.real, x.imag) if not part]
    return cmath.isfinite(x) and -1.0 not in signs and not (x.real == 0 and x.imag < 0)


OWN = "own"
"""Stands in `Memory.told` for sizes that np2fx's own code asked for."""

LAYOUT = "layout"
"""Stands there for what hangs on how the arguments lie in memory."""


class Recorder(Measuring, TorchFunctionMode):
    """Records torch calls into `graph`, whose buffers are put on `root`.

    current   the NumPy name of the call whose rule is running, or ""
    place     file, line and function of the user's call
    bridge    what traced NumPy arrays are to torch and back: `arguments(args, kwargs)`, `to_numpy(tensor)`;
              `on_sample`: whether the sample's own values are computed with
    sizes     the shapes of results whose shape depends on values, in order
    pure      True while a ufunc's body runs, whose arguments are tensors and numbers
    measured  True once a rule has asked for the size of something whose shape depends on values
    shells    what the traced function holds of the recorded tensors
    settings  torch's own, when the trace began"""

    def __init__(self, graph: fx.Graph, root: torch.nn.Module, bridge: Any) -> None:
        TorchFunctionMode.__init__(self)
        Measuring.__init__(self)
        self.graph, self.root, self.bridge = graph, root, bridge
        self.current = ""
        self.place: tuple[str, int, str] | None = None
        self.sizes: list[tuple[int, ...]] = []
        self.measured = False
        self.pure = False
        self.shared: set[int] = set()
        self._nodes: dict[int, fx.Node] = {}
        self._kept: list[Any] = []
        self._constants: dict[int, tuple[torch.Tensor, int, fx.Node]] = {}
        self._contents: dict[Any, fx.Node] = {}
        self.shells = Shells(self)
        self.settings = settings()
        self.outlines = Outlines()

    # What is known of tensors

    def node(self, x: torch.Tensor) -> fx.Node | None:
        """The node of a recorded tensor."""
        return self._nodes.get(id(x))

    def record(self, x: torch.Tensor, node: fx.Node) -> torch.Tensor:
        """Let `x` stand for `node` from here on."""
        self._nodes[id(x)] = node
        self._kept.append(x)
        return x

    def is_loose(self, x: torch.Tensor) -> bool:
        """True where the shape of a recorded tensor may depend on values."""
        node = self._nodes.get(id(x))
        return node is not None and node.meta.get("loose", False)

    def counted(self, x: torch.Tensor, axis: int) -> torch.Tensor | None:
        """The size along an axis as a tensor, where it depends on values: a sum of ones. None for all others.

        The other axes are passed over at their first place, which they must have."""
        loose = self.outlines.axes(x)
        axis = axis % x.ndim
        if not loose[axis]:
            return None
        lane = x
        for other in range(x.ndim - 1, -1, -1):
            if other != axis:
                if loose[other] or x.shape[other] == 0:
                    self.bridge.loose_size()
                lane = torch.select(lane, other, 0)
        return torch.sum(torch.ones_like(lane, dtype=torch.int64))

    def first(self, node: fx.Node) -> torch.Tensor | None:
        """The tensor that was recorded as `node`."""
        return next((x for x in self._kept if self._nodes.get(id(x)) is node), None)

    def beside(self, nodes: list[fx.Node]) -> set[fx.Node]:
        """These nodes and all that share memory with one of them."""
        wanted = set(nodes)
        with torch._C.DisableTorchFunction():
            kept = [x for x in self._kept if x.layout == torch.strided and id(x) in self._nodes]
            held = [(x.untyped_storage()._cdata, self._nodes[id(x)]) for x in kept]
        memory = {pointer for pointer, node in held if node in wanted}
        return wanted | {node for pointer, node in held if pointer in memory}

    def mark_views(self) -> None:
        """Note at the nodes (`view` in their meta) which lie in the memory of an earlier one."""
        owners: dict[int, fx.Node] = {}
        with torch._C.DisableTorchFunction():
            for x in self._kept:
                node = self._nodes.get(id(x))
                if node is not None and x.layout == torch.strided and owners.setdefault(x.untyped_storage()._cdata, node) is not node:
                    node.meta["view"] = True

    def clone(self, x: torch.Tensor) -> fx.Node:
        """A node of its own memory with the value of `x`."""
        return self.graph.create_node("call_function", torch.clone, (self.argument(x),), {})

    def placeholder(self, node: fx.Node, x: torch.Tensor) -> torch.Tensor:
        """`x` as an input of the graph."""
        node.meta["extents"] = tuple([("in", len(self.inputs), axis) for axis in range(x.ndim)])
        node.meta["rank"], node.meta["dtype"] = x.ndim, x.dtype
        self.inputs.append(tuple(x.shape))
        return self.record(x, node)

    def has(self, x: Any) -> bool:
        """True where `x` is or contains a recorded tensor, or a size."""
        if isinstance(x, torch.Tensor):
            return id(x) in self._nodes
        if type(x) is TracedSize:
            return True
        if isinstance(x, (list, tuple)):
            return any(map(self.has, x))
        if isinstance(x, dict):
            return any(map(self.has, x.values()))
        return isinstance(x, slice) and (self.has(x.start) or self.has(x.stop) or self.has(x.step))

    def constant(self, x: torch.Tensor) -> fx.Node:
        """The `get_attr` node of a tensor that was not recorded; tensors of the same contents share one."""
        version = -1 if x.is_inference() else x._version
        known = self._constants.get(id(x))
        if known is not None and known[1] == version != -1:
            return known[2]
        key = None if isinstance(x, torch.nn.Parameter) else contents_of_tensor(x)
        node = self._contents.get(key) if key is not None else None
        if node is None:
            node = self._get_attr(x)
            if key is not None:
                self._contents[key] = node
        self._constants[id(x)] = (x, version, node)
        return node

    def keep_constants(self, of: Callable[[torch.Tensor], bool]) -> None:
        """Have copies of these constants in their place: they are about to change."""
        for key, (x, _, node) in list(self._constants.items()):
            if of(x):
                del self._constants[key]
                held = x.detach().clone()
                self._constants[id(held)] = held, held._version, node

    def constants(self) -> dict[fx.Node, torch.Tensor]:
        """The tensors of the `get_attr` nodes."""
        return {node: x for x, _, node in reversed(self._constants.values())}

    def forget(self, nodes: set[fx.Node]) -> None:
        """Let go of the constants that have these nodes."""
        self._constants = {k: v for k, v in self._constants.items() if v[2] not in nodes}
        self._contents = {k: n for k, n in self._contents.items() if n not in nodes}
        for node in nodes:
            if node.op == "get_attr" and hasattr(self.root, str(node.target)):
                delattr(self.root, str(node.target))

    def release(self, count: int) -> None:
        """Let go of all but the first recorded tensors. One that something else still holds stays recorded: it is no constant."""
        held = [(weakref.ref(x), id(x)) for x in self._kept[count:]]
        del self._kept[count:]
        for ref, key in held:
            x = ref()
            if x is not None:
                self._kept.append(x)
            else:
                self._nodes.pop(key, None)

    def _get_attr(self, x: torch.Tensor) -> fx.Node:
        if isinstance(x, torch.nn.Parameter):
            name = self._free("_param_constant")
            self.root.register_parameter(name, x)
        else:
            name = self._free("_tensor_constant")
            self.root.register_buffer(name, x.detach().clone())
        node = self.graph.create_node("get_attr", name, (), {})
        node.meta.update(extents=tuple(x.shape), rank=x.ndim, dtype=x.dtype)
        return node

    def _free(self, stem: str) -> str:
        n = 0
        while hasattr(self.root, f"{stem}{n}"):
            n += 1
        return f"{stem}{n}"

    # The calls

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.__name__
        if not self.bridge.paused:
            if holds_size(args) or holds_size(kwargs):
                args, kwargs = pinned(args), pinned(kwargs)
            if not (self.has(args) or self.has(kwargs)):
                return self._of_user(func, name, args, kwargs or {})
        if name == "__get__":
            return self._getter(func, args)
        kwargs = kwargs or {}
        if name in METADATA or name == "__set__":
            return self._asked(func, name, args, kwargs)
        if not self.pure and (any(map(self.adoptable, args)) or any(map(self.adoptable, kwargs.values()))):
            args, kwargs = self.bridge.arguments(args, kwargs)
            if func in (torch.as_tensor, torch.asarray, torch.tensor) and self.has(args[:1]):
                with self:
                    return _converted(func, *args, **kwargs)
        if func in MAKERS and args and holds_size(args[0]):
            with self:
                return made_of_sizes(*args, **kwargs)
        if func is torch.tensor and self.has(args[:1]) and isinstance(args[0], torch.Tensor):
            with self:
                return _converted(func, *args, **kwargs)
        if not (any(map(self.has, args)) or any(map(self.has, kwargs.values()))):
            refuse_random(name)
            return func(*args, **kwargs)
        return self.recorded(func, name, args, kwargs)

    def _of_user(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """A call of the traced function's. A refusal is noted, for a function that catches all."""
        try:
            return user_call(self, func, name, args, kwargs)
        except TraceError as refused:
            if self.bridge.failure is None:
                self.bridge.failure = refused
            raise

    def _asked(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """What tells of a tensor without reading it."""
        found = self.answer(func, name, args, kwargs)
        if (name in SIZES or name in LAYOUTS or name == "is_same_size") and self.has(args):
            self.bridge.measure(LAYOUT if name in LAYOUTS else OWN if self.current else found)
        return found

    @staticmethod
    def adoptable(x: Any) -> bool:
        """True for traced arrays and scalars, and lists of them."""
        if isinstance(x, (list, tuple)):
            return any(map(Recorder.adoptable, x))
        return getattr(type(x), "_np2fx_traced", False) and type(x) is not TracedSize

    def _getter(self, func: Any, args: Any) -> Any:
        attribute = func.__self__.__name__
        if attribute == "shape" and id(args[0]) in self._nodes:
            found = self.shape_of(args[0])
            self.bridge.measure(OWN if self.current else found)
            return found
        if attribute not in GETTERS or id(args[0]) not in self._nodes:
            found = func(*args)
            if attribute in ("shape", "nbytes") and id(args[0]) in self._nodes:
                self.bridge.measure(found)
            return found
        with self:
            return GETTERS[attribute](args[0])

    def recorded(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        """Run a call on recorded tensors, and record it."""
        if deciding := _deciding(name, args):
            _ = list(map(self.settled, deciding))
            if name in _SHAPED or name in _FILLED:
                args = tuple([self._counted_out(a) for a in args])
            if not (any(map(self.has, args)) or any(map(self.has, kwargs.values()))):
                return func(*args, **kwargs)
        refuse_values(name, self.current)
        if name in RANDOM and (name != "dropout" or kwargs.get("training", True)):
            raise error(
                "random", f"torch.{name} draws new numbers each time, a graph would repeat these", "call .eval(), or pass the numbers in"
            )
        if name in ("batch_norm", "native_batch_norm") and (args[5] if len(args) > 5 else kwargs.get("training")):
            raise error(
                "side-effect", "batch normalisation in training mode changes its running statistics", "call .eval() on the module first"
            )
        if name == "numpy":
            return self.bridge.to_numpy(args[0])
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == "cpu":
            kwargs = {k: v for k, v in kwargs.items() if k != "device"}
        if name == "to":
            args = (args[0], *(a for a in args[1:] if not isinstance(a, torch.device) or a.type != "cpu"))
        writes = self._written(name, args, kwargs)
        self.sized = False
        node_args = tuple(map(self.argument, args))
        node_kwargs = {k: self.argument(v) for k, v in kwargs.items()}
        spared = func is torch._assert_async and not self.bridge.on_sample  # on a way that its values do not take, they need not hold
        if self.sized:
            args, kwargs = plain(args), plain(kwargs)
        try:
            result = None if spared else func(*args, **kwargs)
        except Exception as problem:
            if not self.current and not self.bridge.paused:  # the function may catch it, and it may be one of sizes
                self.bridge.told.add(type(problem).__name__)
            raise
        if name == "squeeze":  # its rank hangs on sizes
            self.bridge.told.add(OWN)
        elif type(result) in (list, tuple):
            self.bridge.measure(len(result))  # type: ignore[arg-type]
        if writes is None and len(args) and result is args[0]:
            return result
        node = self._node(func, name, node_args, node_kwargs)
        outline = self.outline_of(node, func, (name, args, kwargs), result, _sizes_depend_on_values(name, args))
        self.bridge.check_uncaught(func, node, self.picks(name, args))
        if name in COUNTED or name == "squeeze":
            self.note_counted(name, args, kwargs)
        if writes is not None:
            node.meta["writes"] = True
            self.record(writes, node)
        self.note_results(result, node, outline)
        return result

    def _counted_out(self, x: Any) -> Any:
        """Python's ints for numbers that are constants, in lists too."""
        if isinstance(x, (list, tuple)):
            return type(x)(map(self._counted_out, x)) if type(x) in (list, tuple) else x
        is_known = isinstance(x, torch.Tensor) and id(x) not in self._nodes and not x.ndim and not x.is_floating_point()
        return int(x) if is_known else x

    def outline_of(self, node: fx.Node, func: Any, call: tuple[str, Any, Any], result: Any, depends: bool) -> Any:
        """What is known of the sizes of a result that depend on values: of this call's, if it `depends`, or of those before."""
        name, args, kwargs = call
        if depends:
            self._note_sizes(result)
            return self.outlines.source(name, args, kwargs, result)
        if self.sizes and any(n.meta.get("loose") for n in node.all_input_nodes):
            return self.outlines.derived(func, args, kwargs)
        return _SAME

    def _node(self, func: Any, name: str, args: Any, kwargs: Any) -> fx.Node:
        kind = type(func).__name__
        if name in _OPERATORS:
            node = self.graph.create_node("call_function", _OPERATORS[name], args, kwargs, "setitem" if name == "__setitem__" else None)
        elif name in _REFLECTED:
            node = self.graph.create_node("call_function", _REFLECTED[name], (args[1], args[0]), kwargs)
        elif kind in ("method_descriptor", "wrapper_descriptor") or getattr(torch.Tensor, name, None) in (func, _wrapped(func)):
            node = self.graph.create_node("call_method", name, args, kwargs)
        else:
            node = self.graph.create_node("call_function", func, args, kwargs)
        self.note_place(node)
        return node

    def note_place(self, node: fx.Node) -> None:
        """Note at a node the user's line that it stands for."""
        if self.current:
            node.meta["numpy"] = self.current
        place = self.place if self.current else None
        if place is None:
            frame = user_frame()
            place = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) if frame is not None else ("", 0, "")
        node.meta["source"] = place
        node.meta["stack_trace"] = f'File "{place[0]}", line {place[1]}, in {place[2]}'

    def note_results(self, result: Any, node: fx.Node, outline: Any) -> None:
        """Note the nodes of the tensors that a call gave, and which of their sizes depend on values."""
        if isinstance(result, torch.Tensor):
            node.meta["rank"], node.meta["dtype"] = result.ndim, result.dtype
            self.record(result, node)
            if outline is not _SAME:
                node.meta["loose"] = self.outlines.note(result, outline)
        elif isinstance(result, (list, tuple)):
            if outline is not _SAME:
                node.meta["loose"] = True
            for i, part in enumerate(result):
                if isinstance(part, (torch.Tensor, list, tuple)):
                    item = self.graph.create_node("call_function", operator.getitem, (node, i), {})
                    self.note_results(part, item, outline if outline is _SAME else part_of(outline, i))

    def argument(self, x: Any) -> Any:
        """An argument as the graph holds it: nodes for tensors, plain Python for the rest."""
        if isinstance(x, torch.Tensor):
            return self._nodes.get(id(x)) or self.constant(x)
        kind = type(x)
        if kind is complex and not is_literal(x):
            return self.graph.create_node("call_function", complex, (x.real, x.imag))
        if kind in _ATOMS:
            return x
        if kind is TracedSize:
            made, self.sized = self.size_node(x), True
            return made
        if kind is list:
            return [self.argument(i) for i in x]
        if isinstance(x, tuple):
            return tuple(self.argument(i) for i in x)
        if kind is slice:
            return slice(self.argument(x.start), self.argument(x.stop), self.argument(x.step))
        if kind is dict:
            return {k: self.argument(v) for k, v in x.items()}
        if isinstance(x, numpy.generic):
            return x.item()
        if isinstance(x, (int, float)):
            return int(x) if isinstance(x, int) else float(x)
        return x

    @staticmethod
    def target(name: str, args: Any, kwargs: Any) -> torch.Tensor | None:
        """The tensor that a call of user code writes into."""
        inplace = (
            name in ("__setitem__",) or (name.endswith("_") and not name.endswith("__")) or (name.startswith("__i") and name[3:4] != "n")
        )
        target = kwargs.get("out") if kwargs.get("out") is not None else args[0] if inplace and args else None
        if target is None and kwargs.get("inplace"):
            target = args[0]
        return target if isinstance(target, torch.Tensor) else None

    def _written(self, name: str, args: Any, kwargs: Any) -> torch.Tensor | None:
        """The same, before the call, while it has its old value."""
        target = self.target(name, args, kwargs)
        if target is None:
            return None
        if target.untyped_storage()._cdata in self.shared:
            raise error("aliasing", "torch writes into a tensor that shares its memory with a NumPy array", "write into a copy: t.clone()")
        if id(target) not in self._nodes:
            clone = self.graph.create_node("call_function", torch.clone, (self.constant(target),), {})
            clone.meta["writes"] = True
            self.record(target, clone)
        return target

    def picks(self, name: str, args: Any) -> bool:
        """True for a call at computed positions, which may lie outside."""
        if not _is_picking(name):
            return False
        key = args[2 if len(args) > 2 and isinstance(args[1], int) else 1] if len(args) > 1 else None
        keys = key if isinstance(key, (list, tuple)) else (key,)
        return any(isinstance(k, torch.Tensor) and self.has(k) and k.dtype != torch.bool for k in keys)

    def _note_sizes(self, result: Any) -> None:
        for part in result if isinstance(result, (list, tuple)) else (result,):
            if isinstance(part, torch.Tensor):
                self.sizes.append(tuple(part.shape))


def _deciding(name: str, args: Any) -> list[Any]:
    """The arguments of a call whose values decide the size of its result, or that it takes out of the graph."""
    if name in VALUES or name in ("__bool__", "is_nonzero"):
        return list(args[:1])
    if not _sizes_depend_on_values(name, args):
        return []
    if name == "__getitem__":
        return [k for k in (args[1] if isinstance(args[1], tuple) else (args[1],)) if isinstance(k, torch.Tensor)]
    if name in ("masked_select", "repeat_interleave") or name in _SHAPED or name in _FILLED:
        given = args[: _FILLED[name]] if name in _FILLED else args[1:]
        return [x for a in given for x in (a if isinstance(a, (list, tuple)) else (a,))]
    return list(args[:1])


def _wrapped(func: Any) -> Any:
    """The method that an operator of tensors is made of: `**` is a function by the name of `pow`, which no module holds."""
    return getattr(func, "__wrapped__", func)


def _converted(func: Any, data: torch.Tensor, dtype: torch.dtype | None = None, **_: Any) -> torch.Tensor:
    """`torch.as_tensor`, `asarray` and `tensor` of what is a tensor already."""
    cast = data if dtype is None or dtype == data.dtype else data.to(dtype)
    return torch.clone(cast) if func is torch.tensor and cast is data else cast


def _sizes_depend_on_values(name: str, args: Any) -> bool:
    if name == "__getitem__":
        return _by_mask(args[1])
    if name in _FILLED and any(_has_tensor(a) if isinstance(a, (list, tuple)) else _has_tensor([a]) for a in args[: _FILLED[name]]):
        return True
    if name in _SHAPED and any(_has_tensor(a) if isinstance(a, (list, tuple)) else isinstance(a, torch.Tensor) for a in args[1:]):
        return True  # x.reshape(n, -1), where n is computed
    return name in _RESHAPING or (name == "repeat_interleave" and _has_tensor(args[1:])) or (name == "where" and len(args) == 1)


def _by_mask(key: Any) -> bool:
    return any(isinstance(k, torch.Tensor) and k.dtype in (torch.bool, torch.uint8) for k in (key if isinstance(key, tuple) else (key,)))


@functools.cache  # asked for every call
def _is_picking(name: str) -> bool:
    return any(w in name for w in _PICKING) and not name.endswith(("slice_scatter", "select_scatter"))


_PICKING = ("__getitem__", "__setitem__", "embedding", "gather", "scatter", "take", "put", "index")


def _has_tensor(args: Any) -> bool:
    return any(isinstance(a, torch.Tensor) for a in args)


def contents_of_tensor(x: torch.Tensor) -> Any:
    """A key that two tensors share if they have the same dtype, shape and bits; None where that is not to be had cheaply."""
    if x.device.type != "cpu" or x.layout != torch.strided or x.numel() > 1 << 20 or x.is_quantized:
        return None
    try:
        return x.dtype, tuple(x.shape), values_of(x).tobytes()
    except TypeError:  # bfloat16 and its like: not NumPy's
        return None
