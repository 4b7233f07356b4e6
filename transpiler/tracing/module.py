"""TracedModule: the graph, called like the function it was traced from."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

import numpy
import torch
from torch import fx

from ..semantics.arrays import as_tensor
from ..semantics.dtypes import to_numpy
from .arrays.declared import KINDS, declare, remade
from .control.risks import stays
from .errors import TraceError
from .errors import error as trace_error
from .fastcalls import MISSED, fast_call, shapes_key
from .generating import Generator
from .othernumbers import served
from .recording.compare import compare_graphs, values_of
from .recording.duplicates import merge_duplicates
from .recording.guards import Form, Relations, check, check_inputs, differ, hold, is_one
from .recording.layout import laid_out, laid_out_tensor, layout_of
from .sizes.extents import Guard
from .surroundings.structure import beside, laid_over, match, particulars, rebuild, sharing


@dataclass
class Face:
    """How the traced function is called, and what its graph is specialised on.

    function   the original function
    signature  its signature
    inputs     the structure of its bound arguments
    names      the names of the arrays among them, in the order of the graph's placeholders
    kinds      their NumPy dtypes and shapes
    leaf_kinds their types: ndarray, a NumPy scalar type, torch.Tensor
    outputs    the structure of the result where the graph returns a flat tuple; None where it returns the result itself
    returned   the structure of the result
    others     graphs for calls with other Python numbers, by the names and types of these (see othernumbers)
    mutated    the numbers of the arrays that the function writes into
    traced     what may differ in a call: the shapes of the arrays, their layouts in memory, orders of keys and contents of objects,
               which arguments are one object
    declared   the Python numbers that are inputs (see declared.py): their names and types
    rounded    the dtypes of all that is computed on the way from the arguments to the result
    told       what the function was told of sizes (see `Memory.told`)
    parted     pairs of arguments that were held against each other by `is`, and are two
    forms      what the graph demands of its inputs (see guards); `relations` what between their sizes
    accepted   others of `traced` for which the function has the same graph
    apart      whether arguments that are one object are traced as if each were one of its own
    firsts     for each array the first that is the same one
    guards     the relations between sizes that the graph was traced with, and where in the user's code
    counted    whether the graph demands that no count is longer than the function asks for at least (`np.bincount(minlength=)`)
    known      arrays that the function finds elsewhere, which are constants of the graph
    compared   objects that are no arguments, which the function has held an argument against with `is`"""

    function: Callable[..., Any]
    signature: inspect.Signature
    inputs: Any
    names: list[str]
    kinds: list[tuple[numpy.dtype[Any], tuple[int, ...]]]
    leaf_kinds: list[type] = field(default_factory=list)
    outputs: Any = None
    returned: Any = None
    others: dict[Any, TracedModule] = field(default_factory=dict)
    mutated: list[int] = field(default_factory=list)
    traced: tuple[Any, ...] = ()
    declared: dict[str, str] = field(default_factory=dict)
    rounded: set[numpy.dtype[Any]] = field(default_factory=set)
    told: set[Any] = field(default_factory=set)
    parted: set[tuple[int, int]] = field(default_factory=set)
    forms: tuple[Form, ...] = ()
    relations: Relations = ()
    accepted: set[tuple[Any, ...]] = field(default_factory=set)
    apart: bool = False
    counted: bool = False
    compared: list[Any] = field(default_factory=list)
    known: list[numpy.ndarray[Any, Any]] = field(default_factory=list)

    firsts: list[int] = field(default_factory=list)
    guards: dict[Guard, tuple[str, int, str]] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether tensors of the traced shapes are what the graph demands, whatever arrays they were made of."""
        return not any(layout for _, _, layout in self.forms) and self.firsts == list(range(len(self.firsts)))

    @property
    def place(self) -> tuple[str, int]:
        """Where the function is written."""
        code = code_of(self.function)
        return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)

    def bind(self, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arrays of a call, in order, and all arguments. Raises TypeError as the function would, and TraceError where the
        call is not what was traced."""
        leaves, arguments, refused = self.laid(args, kwargs)
        if refused is not None:
            raise refused
        return leaves, arguments

    def laid(self, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any], TraceError | None]:
        """The same, with the error to be raised."""
        bound = bound_to(self.function, self.signature, args, kwargs)
        leaves: list[Any] = []
        why = declare(bound.arguments, self.declared) or match(self.inputs, dict(bound.arguments), leaves)
        refused = None if why is None else trace_error("python-value", why, "trace the function again for this call", self.place)
        return leaves, bound.arguments, refused


def bound_to(function: Callable[..., Any], signature: inspect.Signature, args: Any, kwargs: Any) -> inspect.BoundArguments:
    """The arguments of a call, with the defaults of a function that is written in Python.

    What the signature of a compiled one names as a default need not be what it takes for left out (`numpy.where`, `numpy._NoValue`)."""
    bound = signature.bind(*args, **kwargs)
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isclass(function) or any(isinstance(f, (FunctionType, MethodType)) for f in (function, type(function).__call__)):
        bound.apply_defaults()
    return bound


def code_of(function: Any) -> types.CodeType | None:
    """The code of a function, also where it is wrapped or bound."""
    return getattr(inspect.unwrap(getattr(function, "func", function)), "__code__", None)


class TracedModule(fx.GraphModule):
    """The FX graph of a traced function.

    Called like the function, with tensors or arrays: dtypes must be those it was traced with. For shapes other than the sample's the
    function is traced once more: if that gives the same graph, the call is run, else TraceError. For other Python numbers it is traced
    once more with these as inputs.
    `forward` is the bare graph: it takes the arrays alone, one after the other, and checks nothing."""

    face: Any = None
    _bare: Any = None
    _fast: Any = None
    """The guard for calls as the sample was (see fastcalls), the `forward` that it is for, and the shapes that it lets in."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fast = self._fast
        if fast is not None and fast[0] is not None and not torch.compiler.is_compiling():
            try:
                found = fast[0](self, *args, **kwargs)
            except Exception:
                found = MISSED  # the long way finds out what to raise
            if found is not MISSED:
                return found
        return self._called(*args, **kwargs)

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        face: Face | None = self.face
        if face is None or torch.jit.is_tracing() or torch.compiler.is_compiling() or torch.compiler.is_exporting():
            return super().__call__(*args, **kwargs)
        called = _uncompiled() if "torch._dynamo" in sys.modules else TracedModule._call_as_function
        return called(self, face, args, kwargs)

    def _call_as_function(self, face: Face, args: Any, kwargs: Any) -> Any:
        leaves, arguments, refused = face.laid(args, kwargs)
        if refused is not None:
            return served(self, arguments, args, kwargs, refused)
        _check_kinds(face, leaves)
        tensors = [x if isinstance(x, torch.Tensor) else tensor_of(x) for x in leaves]
        if face.mutated:
            self._check_memory(face, leaves, tensors)
            check_known(face, tensors)
        fits = (self._check(face, leaves, arguments) and face.is_plain) or self.holds_for(tensors)
        try:
            result = super().__call__(*tensors) if fits else self.bare(self, *tensors)
        except Exception as failed:
            problem = self.raised_by_function(face, leaves, arguments)
            if problem is None:
                raise
            raise problem from failed
        for i in face.mutated:
            if isinstance(leaves[i], numpy.ndarray) and not numpy.shares_memory(leaves[i], tensors[i].numpy()):
                leaves[i][...] = tensors[i].numpy()
        self._note_shapes(face, leaves)
        return result if face.outputs is None else rebuild(face.outputs, lambda i: result[i])

    def _note_shapes(self, face: Face, leaves: list[Any]) -> None:
        """Let calls like this one go the fast way, where there is one."""
        if self._fast is None or type(self).forward is not self._fast[1]:
            call, shapes = fast_call(self)
            self._fast = (call, type(self).forward, shapes)
        if all(type(x) in (torch.Tensor, numpy.ndarray) and layout_of(x) is None for x in leaves):
            self._fast[2].add(shapes_key(tuple([x.shape for x in leaves])))

    def raised_by_function(self, face: Face, leaves: list[Any], arguments: dict[str, Any]) -> Exception | None:
        """What the function itself raises where its graph fails. The arguments are then as it leaves them."""
        from .entry import problem_of

        if any(isinstance(x, torch.Tensor) and x.device.type == "meta" for x in leaves):
            return None
        given = copied(face, leaves)
        try:
            problem = problem_of(face, inspect.BoundArguments(face.signature, arguments), laid_over(face.inputs, arguments), given)
        except Exception:  # what cannot be run again
            return None
        for x, left in zip(leaves, given, strict=True) if problem is not None else ():
            if isinstance(x, numpy.ndarray) and x.flags.writeable and isinstance(left, numpy.ndarray):
                x[...] = left
            elif isinstance(x, torch.Tensor) and isinstance(left, numpy.ndarray) and not x.requires_grad:
                x.copy_(as_tensor(left))
        return problem

    def holds_for(self, tensors: list[torch.Tensor]) -> bool:
        """Whether these are what the graph itself demands of its inputs. Others have been found to have the same graph."""
        face: Face = self.face
        if face.forms and (differ(tensors, face.forms) or not hold(face.relations, tensors)):
            return False
        return all(first == i or is_one(tensors[first], tensors[i]) for i, first in enumerate(face.firsts))

    def plain(self) -> fx.GraphModule:
        """The graph without demands on inputs and assertions on values: for who knows by other means that they hold."""
        graph = copy.deepcopy(self.graph)
        for node in [n for n in graph.nodes if n.target in (check_inputs, check)]:
            graph.erase_node(node)
        graph.eliminate_dead_code(stays)
        return fx.GraphModule(self, graph)

    @property
    def bare(self) -> Callable[..., Any]:
        """`forward` without the demands on inputs, for those that were traced once more."""
        if self._bare is None or self._bare[0] is not self.code:
            self._bare = self.code, self.without_demands(False)
        return self._bare[1]  # type: ignore[no-any-return]

    def without_demands(self, in_python: bool) -> Callable[..., Any]:
        """A `forward` without the demands on inputs; for `in_python` see Generator."""
        graph = copy.deepcopy(self.graph)
        for node in [n for n in graph.nodes if n.target is check_inputs]:
            graph.erase_node(node)
        graph.set_codegen(Generator(in_python))
        return type(fx.GraphModule(self, graph)).forward

    def recompile(self) -> Any:
        """As of each graph module, but a call is `__call__`, with nothing of torch's around it. The text of a draft is written when
        somebody asks for it: most graphs are made to be compared, or are changed first."""
        if hasattr(self._graph, "is_draft"):
            type(self).forward = _written_when_called  # type: ignore[method-assign]
            return None
        made = super().recompile()
        if "__call__" in vars(type(self)):
            del type(self).__call__
        return made

    @property
    def code(self) -> str:
        """The text of the graph."""
        self.written()
        return super().code

    def written(self) -> TracedModule:
        """The module, no draft any more."""
        if vars(self._graph).pop("is_draft", None):
            self.recompile()
        return self

    def _check(self, face: Face, leaves: list[Any], arguments: dict[str, Any]) -> bool:
        """Whether a call is as the sample was. Raises TraceError where it has another graph."""
        if face.compared:
            known = set(map(id, face.compared))
            for (x,) in beside(face.inputs, arguments):
                if id(x) in known:
                    raise trace_error("python-value", "an argument is an object that the function knows, and that it compares it with",
                                      "trace the function again for this call", face.place)  # fmt: skip
        given = particulars_of(face, leaves, arguments)
        if given != face.traced and given not in face.accepted:
            self._accept(face, leaves, arguments, given)
        return bool(given == face.traced)

    def _accept(self, face: Face, leaves: list[Any], arguments: dict[str, Any], given: tuple[Any, ...]) -> None:
        """Trace the function on these shapes, layouts and contents. Raises TraceError unless it has the same graph for them."""
        from .entry import retrace

        if any(isinstance(x, torch.Tensor) and x.device.type == "meta" for x in leaves):
            return
        copies = copied(face, leaves)
        try:
            made = retrace(face, laid_over(face.inputs, arguments), copies, arguments)
            face.compared += made.face.compared
            why = compare_graphs(joined(self, leaves), made)
        except TraceError as refused:
            why = str(refused)
        if why is not None:
            name, what, again = _apart(face, given)
            message = f"the graph holds only for {what}: {why}"
            raise trace_error(name, message, f"trace the function again for {again}", face.place)
        face.accepted.add(given)

    def _check_memory(self, face: Face, leaves: list[Any], tensors: list[torch.Tensor]) -> None:
        """A graph that writes into an argument keeps the others apart from it, but for those that were the same when it was traced."""
        kept = [i for i, first in enumerate(face.firsts) if first == i or leaves[i] is not leaves[first]]
        memory = [span_of(tensors[i]) for i in kept]
        for i in face.mutated:
            own = span_of(tensors[i])
            shared = sum(own[0] == storage or (low < own[2] and own[1] < high) for storage, low, high in memory) > 1
            if shared and tensors[i].device.type != "meta" and tensors[i].numel():
                raise trace_error("aliasing", f"{face.names[i]} is written to and shares its memory with another argument",
                                  "pass a copy", face.place)  # fmt: skip

    def __reduce__(self) -> Any:
        make, (held, *others) = super().__reduce__()  # type: ignore[misc]
        return make, ({k: v for k, v in held.items() if k not in ("_bare", "_fast")}, *others)

    def __deepcopy__(self, memo: dict[int, Any]) -> TracedModule:
        made: Any = super().__deepcopy__(memo)
        made.face, made._bare, made._fast = copy.copy(self.face), None, None
        return made  # type: ignore[no-any-return]


def _written_when_called(self: TracedModule, *args: Any) -> Any:
    """The `forward` of a draft."""
    self.written()
    return self.forward(*args)


@functools.cache
def _uncompiled() -> Callable[..., Any]:
    """The call of a graph where a compiled one has fallen back to Python: dynamo would compile the looks at its arguments."""
    return torch._dynamo.disable(TracedModule._call_as_function)  # type: ignore[no-any-return, no-untyped-call]


def span_of(x: torch.Tensor) -> tuple[int, int, int]:
    """Where a tensor lies in memory: its storage, its first byte, and the one behind its last. Arrays on one memory are tensors with
    storages of their own, each from its first element on."""
    low = x.data_ptr()
    reach = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True)) + 1 if x.numel() else 0
    return x.untyped_storage().data_ptr(), low, low + reach * x.element_size()


def check_known(face: Face, leaves: list[Any]) -> None:
    """An array that is written to must be none of the graph's constants."""
    for i in face.mutated if face.known else ():
        x = leaves[i]
        if isinstance(x, torch.Tensor):
            if x.device.type != "cpu":
                continue
            x = values_of(x)
        if any(numpy.may_share_memory(x, k) for k in face.known):
            raise trace_error("aliasing", f"{face.names[i]} is written to and is an array that the function reads elsewhere as well",
                              "pass a copy", face.place)  # fmt: skip


def _check_kinds(face: Face, leaves: list[Any]) -> None:
    for name, (dtype, shape), x in zip(face.names, face.kinds, leaves, strict=True):
        given = to_numpy(x.dtype) if isinstance(x, torch.Tensor) else x.dtype.newbyteorder("=")
        if given != dtype or x.ndim != len(shape):
            raise trace_error(
                "specialised-size" if given == dtype else "python-value",
                f"{name} is {given} of rank {x.ndim}, and was {dtype} of rank {len(shape)} when it was traced",
                "trace the function again for this call",
                face.place,
            )


def particulars_of(face: Face, leaves: list[Any], arguments: dict[str, Any]) -> tuple[Any, ...]:
    """What may differ in a call (see `Face.traced`)."""
    shapes, layouts = tuple(tuple(x.shape) for x in leaves), tuple(map(layout_of, leaves))
    return shapes, layouts, particulars(face.inputs, arguments), sharing(face.inputs, arguments)


def _apart(face: Face, given: tuple[Any, ...]) -> tuple[str, str, str]:
    """The finding for a call that has another graph, what the graph holds for, and what it would be traced for."""
    shapes, layouts, others, shared = (a != b for a, b in zip(given, face.traced, strict=True))
    what = []
    if shapes:
        was = ", ".join(f"{n}: {s}" for n, (_, s) in zip(face.names, face.kinds, strict=True))
        what.append(f"the shapes it was traced with ({was})")
    if layouts:
        names = ", ".join(n for n, a, b in zip(face.names, given[1], face.traced[1], strict=True) if a != b)
        what.append(f"the layout in memory that {names} had when it was traced")
    if others:
        what.append("the order of keys and the contents of objects that its arguments had when it was traced")
    if shared:
        what.append("arguments of which the same are one object as when it was traced")
    again = "these shapes" if shapes and not (layouts or others or shared) else "this call"
    again += ", or pass arrays in C order" if layouts else ""
    return "specialised-size" if shapes or layouts else "python-value", " and ".join(what), again


def copied(face: Face, leaves: list[Any]) -> list[Any]:
    """Copies of a call's arrays as the function takes them: as NumPy's, or as tensors where tensors were traced. What is one array
    is one copy."""
    made: dict[Any, Any] = {}
    keys = [(i if face.apart else id(x), kind) for i, (x, kind) in enumerate(zip(leaves, face.leaf_kinds, strict=True))]
    for key, x in zip(keys, leaves, strict=True):
        if key not in made:
            made[key] = _copy_of(x, key[1])
    return [made[key] for key in keys]


def _copy_of(x: Any, kind: type) -> Any:
    if kind is torch.Tensor:
        return laid_out_tensor(x)
    if kind in KINDS:
        return remade(x, kind)
    array = laid_out(x.detach().resolve_conj().resolve_neg().cpu().numpy() if isinstance(x, torch.Tensor) else numpy.asarray(x))
    return array[()] if issubclass(kind, numpy.generic) else array


class _Joined:
    """A graph as it is where some of its arguments are one array: the first of them is read."""

    def __init__(self, module: TracedModule, firsts: list[int]) -> None:
        self.module, self.face = module, module.face
        self.graph = copy.deepcopy(module.graph)
        inputs = [n for n in self.graph.nodes if n.op == "placeholder"]
        for node, first in zip(inputs, firsts, strict=True):
            if inputs[first] is not node:
                node.replace_all_uses_with(inputs[first])
        merge_duplicates(self.graph, {n for n in self.graph.nodes if n.meta.get("beside")})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


def joined(module: TracedModule, leaves: list[Any]) -> Any:
    """The graph as it is where these are its arguments, to be compared with one that was traced for them."""
    firsts = firsts_of(leaves)
    return module if firsts == module.face.firsts else _Joined(module, firsts)


def firsts_of(leaves: list[Any]) -> list[int]:
    """For each array the first that is the same one."""
    first: dict[int, int] = {}
    return [first.setdefault(id(x), i) for i, x in enumerate(leaves)]


def tensor_of(x: Any) -> torch.Tensor:
    """An array or NumPy scalar as a tensor; of the same memory where that can be, so that writes are seen."""
    if isinstance(x, numpy.ndarray) and x.flags.writeable and x.dtype.isnative and all(s >= 0 for s in x.strides):
        try:
            return torch.from_numpy(x)
        except (TypeError, ValueError):
            pass
    return as_tensor(x)
