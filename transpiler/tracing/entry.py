"""`trace`: a NumPy function and samples of its arguments, to a torch FX graph module that is called like the function."""

from __future__ import annotations

import gc
import inspect
import keyword
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import fx

from ..rules._arrays import as_tensor
from ..rules._dtypes import to_torch
from ..rules._table import Refused
from . import state
from .array import TracedNpArray
from .compare import difference
from .errors import TraceError, error
from .lifting import Lifter
from .module import Face, TracedModule, copied
from .patches import patched
from .probe import check_sizes
from .scalar import TracedScalar
from .special import is_traced
from .structure import Fixed, Leaf, Node, children, flatten, match, rebuild
from .tracer import Tracer


def trace(fn: Callable[..., Any], /, *samples: Any, **keywords: Any) -> TracedModule:
    """Run a NumPy function on samples of its arguments and record what it computes as a torch FX graph.

    Samples are arrays, NumPy scalars, tensors, containers of them, and anything else, on which the graph is then
    specialised. They are not changed. The result is called like `fn` with tensors, and gives tensors.

    Raises TraceError where the function cannot be a graph, and NumPy's own error where the function raises it."""
    bound = signature_of(fn).bind(*samples, **keywords)
    bound.apply_defaults()
    return trace_bound(fn, bound, check=True)


def signature_of(fn: Callable[..., Any]) -> inspect.Signature:
    """The signature of `fn`; of a ufunc or compiled function, positional arguments."""
    try:
        if not isinstance(fn, numpy.ufunc):
            return inspect.signature(fn)
    except (TypeError, ValueError):
        pass
    return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])


def trace_bound(fn: Callable[..., Any], bound: inspect.BoundArguments, check: bool = False) -> TracedModule:
    """`trace` with the arguments bound already; `check` holds the graph against NumPy."""
    leaves: list[Any] = []
    structure = flatten(dict(bound.arguments), "", leaves)
    leaves = [state.running().leave(x, "opaque-call", "another trace") if is_traced(x) else x for x in leaves]
    face = _face(fn, bound.signature, structure, leaves)
    want: Any = None
    with _untraced():
        if check:
            _check_overlap(leaves)
            given = copied(face, leaves)
            _keep_flags(leaves, given)
            want = (_run(fn, bound, structure, given), given)
    module, sizes = _record(fn, bound, face, leaves)
    if check:
        with _untraced():
            _compare(module, face, leaves, want, lambda: _record(fn, bound, face, leaves, diagnose=True))
            if sizes:
                check_sizes(fn, bound, module, leaves, sizes)
    return module


class _untraced:  # noqa: N801 - used like a function
    """NumPy as it is, also inside another trace."""

    def __enter__(self) -> None:
        self.token = state.enter(None)

    def __exit__(self, *_: Any) -> None:
        state.leave(self.token)


def _keep_flags(leaves: list[Any], copies: list[Any]) -> None:
    """Read-only samples stay read-only in their copies."""
    for x, c in zip(leaves, copies, strict=True):
        if isinstance(x, numpy.ndarray) and isinstance(c, numpy.ndarray) and not x.flags.writeable:
            c.flags.writeable = False


def _run(fn: Callable[..., Any], bound: inspect.BoundArguments, structure: Any, leaves: list[Any]) -> Any:
    """Call `fn` with these arrays for leaves."""
    arguments = rebuild(structure, lambda i: leaves[i])
    call = inspect.BoundArguments(bound.signature, arguments)
    return fn(*call.args, **call.kwargs)


def _face(fn: Callable[..., Any], signature: inspect.Signature, structure: Any, leaves: list[Any]) -> Face:
    names = _names(structure)
    kinds = []
    for name, x in zip(names, leaves, strict=True):
        try:
            to_torch(x.dtype)
        except Refused as refused:
            raise error("object-dtype", f"{name}: {refused.message}", refused.hint) from None
        if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray:
            raise error("opaque-call", f"{name} is a {type(x).__name__}, not a plain array", "pass np.asarray of it")
        kinds.append((numpy.dtype(_numpy_dtype(x)), tuple(x.shape)))
    face = Face(fn, signature, structure, names, kinds)
    face.leaf_kinds = [torch.Tensor if isinstance(x, torch.Tensor) else type(x) for x in leaves]  # type: ignore[attr-defined]
    return face


def _numpy_dtype(x: Any) -> Any:
    from ..rules._dtypes import to_numpy

    return to_numpy(x.dtype) if isinstance(x, torch.Tensor) else x.dtype.newbyteorder("=")


def _names(structure: Any) -> list[str]:
    """Names for the placeholders: Python names, each once."""
    found: list[str] = []

    def visit(s: Any) -> None:
        if isinstance(s, Leaf):
            name = re.sub(r"\W", "_", s.name) or "x"
            name = f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
            while name in found:
                name += "_"
            found.append(name)
        elif isinstance(s, Node):
            for part in s.parts:
                visit(part)

    visit(structure)
    return found


def _check_overlap(leaves: list[Any]) -> None:
    arrays = [x for x in leaves if isinstance(x, numpy.ndarray) and x.size]
    for i, a in enumerate(arrays):
        if a.strides and 0 in [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1] and a.flags.writeable:
            raise error("aliasing", "a sample has several elements in one place of memory", "pass a copy of it")
        for b in arrays[:i]:
            if a is not b and numpy.may_share_memory(a, b) and numpy.shares_memory(a, b):
                raise error("aliasing", "two samples share memory", "pass copies")


# Recording


def _record(fn: Callable[..., Any], bound: inspect.BoundArguments, face: Face, leaves: list[Any], diagnose: bool = False) -> Any:
    """Run `fn` on traced arrays. Returns the module and the sizes that depended on values."""
    tracer = Tracer()
    tracer.diagnose = diagnose
    lifter = Lifter(tracer)
    token = state.enter(tracer)
    try:
        with patched(), torch.no_grad(), numpy.errstate(all="ignore"), warnings.catch_warnings(), tracer.recorder:
            warnings.simplefilter("ignore")
            with tracer.inside():
                copies = copied(face, leaves)
                _keep_flags(leaves, copies)
                given = [_input(tracer, name, x) for name, x in zip(face.names, copies, strict=True)]
            call = inspect.BoundArguments(bound.signature, {k: lifter.lift(v) for k, v in rebuild(face.inputs, given.__getitem__).items()})
            result = _call(tracer, lifter.function(fn), call)
            with tracer.inside():
                _check_effects(tracer, lifter, face, call, given)
                module = _finish(tracer, face, result, given)
    finally:
        state.leave(token)
    del given, call, result
    lifter.forget()
    tracer.storages.clear()
    _check_kept(tracer, face)
    return module, tracer.recorder.sizes


def _check_kept(tracer: Tracer, face: Face) -> None:
    """A traced array that outlives its trace was put somewhere: a state that the graph does not have."""
    if any(x() is not None for x in tracer.made.values()):
        gc.collect()
        if any(x() is not None for x in tracer.made.values()):
            raise error("side-effect", "the function keeps an array after it returns, in a global, an attribute or a cache",
                        "return it, and pass it in at the next call", face.place)  # fmt: skip


def _input(tracer: Tracer, name: str, x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return tracer.recorder.placeholder(name, x)
    tensor = tracer.recorder.placeholder(name, as_tensor(x))
    if not isinstance(x, numpy.ndarray):
        return tracer.note(TracedScalar(x, tensor))
    made = tracer.note_array(x, tracer.new_storage(x, tensor, "sample"), tensor)
    made._storage.node = tracer.recorder.node(tensor)
    return made


def _call(tracer: Tracer, fn: Callable[..., Any], call: inspect.BoundArguments) -> Any:
    """The traced run. What NumPy raised where the plain run did not, or a refusal that was caught, is a TraceError."""
    try:
        result = fn(*call.args, **call.kwargs)
    except TraceError as refused:
        raise tracer.failure or refused from None
    except Exception as problem:
        if tracer.failure is not None:
            raise tracer.failure from problem
        place = _place_of(problem)
        raise error(
            "opaque-call",
            f"{type(problem).__name__}: {problem} - code that reads past NumPy's dispatch has no values to read",
            "do it with NumPy functions, or split the node around it",
            place,
        ) from problem
    if tracer.failure is not None:
        raise tracer.failure
    if tracer.caught is not None:
        place, problem = tracer.caught
        raise error("data-dependent-branch", f"NumPy raised {type(problem).__name__} here, and the function caught it",
                    "test for the case with array operations", place)  # fmt: skip
    return result


def _place_of(problem: BaseException) -> tuple[str, int] | None:
    """The innermost line of user code in a traceback."""
    from .errors import is_library

    found = None
    step = problem.__traceback__
    while step is not None:
        if not is_library(step.tb_frame.f_code.co_filename):
            found = (step.tb_frame.f_code.co_filename, step.tb_lineno)
        step = step.tb_next
    return found


def _check_effects(tracer: Tracer, lifter: Lifter, face: Face, call: inspect.BoundArguments, given: list[Any]) -> None:
    """What the function left behind other than its result and what it wrote into arrays."""
    names = lifter.assigned()
    if names:
        raise error("side-effect", f"the function assigns the global {', '.join(names)}", "return the value instead", face.place)
    found: list[Any] = []
    why = match(face.inputs, dict(call.arguments), found)
    if why is not None or any(a is not b for a, b in zip(found, given, strict=True)):
        raise error("side-effect", f"the function changes a container that it was given: {why or 'an array in it is replaced'}",
                    "return a new container", face.place)  # fmt: skip


# Results


def _finish(tracer: Tracer, face: Face, result: Any, given: list[Any]) -> TracedModule:
    """The graph's end: writes into arguments, outputs, and the module."""
    outputs: list[Any] = []
    structure = flatten(result, "", outputs)
    graph = tracer.graph
    samples = [g._storage if type(g) is TracedNpArray else None for g in given]
    face.mutated = [i for i, s in enumerate(samples) if s is not None and s.written]
    memory = _Memory(tracer, samples)
    nodes = [memory.output(x) for x in outputs]
    for i in face.mutated:
        storage = samples[i]
        if storage is None or storage.value is None:
            continue
        value = tracer.recorder.argument(storage.value)
        copy = graph.create_node("call_function", torch.ops.aten.copy_.default, (storage.node, value), {})
        for n, x in enumerate(outputs):
            if type(x) is TracedNpArray and x._storage is storage and storage.covers(x._value) and x._value.shape == storage.owner.shape:
                nodes[n] = copy
    plain = _inline(structure)
    face.outputs = None if plain else structure
    graph.output(rebuild(structure, lambda i: nodes[i]) if plain else tuple(nodes))
    _eliminate(graph)
    graph.lint()
    for name in [n for n in (*dict(tracer.root.named_buffers()), *dict(tracer.root.named_parameters())) if not _used(graph, n)]:
        delattr(tracer.root, name)
    module = TracedModule(tracer.root, graph, getattr(face.function, "__name__", "traced").title().replace("_", "") or "Traced")
    module.face = face
    return module


class _Memory:
    """Outputs as nodes. Where torch would share memory and NumPy does not, the node is cloned."""

    def __init__(self, tracer: Tracer, samples: list[Any]) -> None:
        self.tracer, self.samples = tracer, samples
        self.owners: dict[int, Any] = {}
        for s in samples:
            if s is not None:
                first = tracer.recorder.first(s.node)
                if first is not None:
                    self.owners[first.untyped_storage().data_ptr()] = s

    def output(self, x: Any) -> fx.Node:
        recorder = self.tracer.recorder
        if type(x) is TracedNpArray and x._value is None:
            self.tracer.fail("opaque-call", "an array came back from code that the tracer cannot see", "split the node around that call")
        with recorder:
            tensor = self.tracer.tensor(x)
            constant = recorder.node(tensor) is None
            storage = x._storage if type(x) is TracedNpArray else None
            if constant:
                return recorder.clone(tensor)
            if isinstance(x, torch.Tensor):
                return recorder.argument(tensor)
            pointer = tensor.untyped_storage().data_ptr()
            owner = self.owners.setdefault(pointer, storage) if tensor.numel() else storage
            written = owner is not None and owner.written and owner.origin == "sample"
            if owner is not storage or written:
                return recorder.clone(tensor)
            return recorder.argument(tensor)


def _inline(structure: Any) -> bool:
    """True where the graph itself can return the structure: plain containers and Python's own constants."""
    if isinstance(structure, Leaf):
        return True
    if isinstance(structure, Fixed):
        return type(structure.value) in (int, bool, str, type(None)) or (
            type(structure.value) is float and structure.value == structure.value
        )
    if structure.kind is dict and not all(type(k) is str for k in structure.keys):
        return False
    return structure.kind in (list, tuple, dict) and all(map(_inline, structure.parts))


def _eliminate(graph: fx.Graph) -> None:
    """Remove what nothing uses and what changes nothing."""
    graph.eliminate_dead_code(lambda node: node.is_impure() or bool(node.meta.get("writes")))


def _used(graph: fx.Graph, name: str) -> bool:
    return any(n.op == "get_attr" and n.target == name for n in graph.nodes)


# Holding the graph against NumPy


def _compare(module: TracedModule, face: Face, leaves: list[Any], want: Any, diagnose: Callable[[], Any]) -> None:
    """Run the graph on the samples. A result that is not NumPy's is a value that leaked into it, or a rule that is wrong."""
    result, mutated = want
    tensors = [x if isinstance(x, torch.Tensor) else as_tensor(x) for x in copied(face, leaves)]
    try:
        with torch.no_grad():
            got = module.forward(*tensors)
    except Exception as problem:
        raise error("mismatch", f"the graph does not run: {type(problem).__name__}: {problem}".split("\n")[0], "", face.place) from problem
    if face.outputs is not None:
        flat = got
        got = rebuild(face.outputs, lambda i: flat[i])
    why = compare_results(result, got)
    for name, x, tensor in zip(face.names, mutated, tensors, strict=True):
        changed = None if why else difference(x, tensor)
        why = f"{name}: {changed}" if changed else why
    if why is None:
        return
    diagnose()  # raises where a rule gives another value than NumPy
    raise error(
        "leaked-constant",
        f"the graph gives another result than the function ({why}): a value came out of a call that the tracer does not see",
        "look for compiled code, files, random numbers or state that changes between calls, and split the node there",
        face.place,
    )


def compare_results(want: Any, got: Any, path: str = "result") -> str | None:
    """How a graph's result differs from the function's own; None where it does not."""
    wanted: list[Any] = []
    gotten: list[Any] = []
    structure = flatten(want, path, wanted)
    why = match(structure, _leaves_like(structure, got), gotten)
    if why is not None:
        return why
    names = _names(structure)
    return next((f"{n}: {d}" for n, a, b in zip(names, wanted, gotten, strict=True) if (d := difference(a, b))), None)


def _leaves_like(structure: Any, got: Any) -> Any:
    """A Python number that the graph gives as a tensor (`np.allclose`) counts as one."""
    if isinstance(structure, Fixed) and isinstance(got, torch.Tensor) and isinstance(structure.value, (bool, int, float, complex)):
        same = got.ndim == 0 and difference(numpy.asarray(structure.value), got) is None
        return structure.value if same else got
    if isinstance(structure, Node) and type(got) is structure.kind:
        keys, parts = children(got) or ((), ())
        by_key = dict(zip(structure.keys, structure.parts, strict=True))
        if set(keys) == set(by_key):
            return Node(type(got), keys, ()).build([_leaves_like(by_key[k], p) for k, p in zip(keys, parts, strict=True)])
    return got


__all__ = ["compare_results", "signature_of", "trace", "trace_bound"]
