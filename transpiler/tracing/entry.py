"""`trace`: a NumPy function and samples of its arguments, to a torch FX graph module that is called like the function."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import io
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy
import torch
from torch import fx

from ..semantics.arrays import as_tensor, fixing_counts
from ..semantics.dtypes import to_torch
from ..semantics.table import Refused
from . import state
from .arrays.declared import KINDS, as_python, declarations, declare
from .arrays.number import new_number
from .arrays.patches import patched
from .arrays.scalar import TracedScalar
from .arrays.tensor import is_shell
from .arrays.text import message_of
from .checking import check_values
from .control.branches import Forks, explore
from .control.calling import Called
from .control.ending import Rounds
from .control.hoisting import Loop
from .control.loops import Again, explained, unrolled
from .control.parting import Choice
from .control.pieces import Piece
from .errors import TraceError, error
from .freedom import settle
from .module import Face, TracedModule, bound_to, check_known, code_of, copied, firsts_of, joined, particulars_of
from .probe import UnsettledError, check_sizes
from .recording.compare import compare_graphs
from .recording.inputnames import add_inputs
from .recording.outputs import finish
from .sizes.traced import release
from .state import is_traced
from .surroundings.alarms import check_alarms
from .surroundings.kept import check_state, surroundings_of
from .surroundings.lifting import Lifter
from .surroundings.structure import beside, flatten, holds_arrays, leaf_names, leaf_order, match, rebuild, sharing
from .tracer import Tracer


def trace(fn: Callable[..., Any], /, *samples: Any, **keywords: Any) -> TracedModule:
    """Run a NumPy function on samples of its arguments and record what it computes as a torch FX graph.

    Samples are arrays, NumPy scalars, tensors, containers of them, and anything else, on which the graph is then
    specialised. They are not changed. The result is called like `fn` with tensors, and gives tensors.

    Raises TraceError where the function cannot be a graph, and NumPy's own error where the function raises it."""
    return trace_bound(fn, bound_to(fn, signature_of(fn), samples, keywords), check=True).written()


def signature_of(fn: Callable[..., Any]) -> inspect.Signature:
    """The signature of `fn`; of a ufunc or compiled function, positional arguments."""
    try:
        if not isinstance(fn, numpy.ufunc):
            return inspect.signature(fn)
    except (TypeError, ValueError):
        pass
    return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])


def trace_bound(fn: Callable[..., Any], bound: inspect.BoundArguments, check: bool = False, prove: bool | None = None) -> TracedModule:
    """`trace` with the arguments bound already; `check` holds the graph against NumPy, `prove` finds out for which sizes it holds as well:
    what only compares graphs need not know.

    Python numbers that the function's specs declare are inputs of its graph: all of them where that can be, else those that are no
    ints (an int may be a size or an axis), else none."""
    declared = declarations(fn, bound.arguments) if check else {}
    for some in (declared, {n: kind for n, kind in declared.items() if kind != "int"}):
        if some and (some is declared or some != declared):
            given = inspect.BoundArguments(bound.signature, dict(bound.arguments))  # type: ignore[arg-type]
            with contextlib.suppress(TraceError):
                return trace_declared(fn, given, some, prove)
    return _trace_for(fn, bound, check, {}, prove)


def trace_declared(
    fn: Callable[..., Any], bound: inspect.BoundArguments, kinds: dict[str, str], prove: bool | None = None
) -> TracedModule:
    """The graph in which the numbers of these names and types, which are among the arguments, are inputs."""
    declare(bound.arguments, kinds)
    return _trace_for(fn, bound, True, kinds, prove)


def _trace_for(
    fn: Callable[..., Any], bound: inspect.BoundArguments, check: bool, declared: dict[str, str], prove: bool | None
) -> TracedModule:
    leaves: list[Any] = []
    structure = flatten(dict(bound.arguments), "", leaves, (), {})
    leaves = [state.running().leave(x, "opaque-call", "another trace") if is_traced(x) else x for x in leaves]
    made = _trace(fn, bound, structure, leaves, check)
    shared = sharing(structure, bound.arguments)
    if shared != tuple(range(len(shared))):
        made = _for_others(fn, bound, made, leaves, check) or made
    made.face.declared = declared
    made.face.traced = particulars_of(made.face, leaves, bound.arguments)
    settle(made, leaves, bound, check if prove is None else prove)
    return made


def _for_others(
    fn: Callable[..., Any], bound: inspect.BoundArguments, made: TracedModule, leaves: list[Any], check: bool
) -> TracedModule | None:
    """The graph of a function that is given one object for several arguments, if it may be called with several objects as well."""
    structure = flatten(dict(bound.arguments), "", [])
    try:
        other = _trace(fn, bound, structure, leaves, check, apart=True)
    except Exception:  # the function's own among them
        return None
    other.face.apart = False
    return other if compare_graphs(joined(other, leaves), made) is None else None


def retrace(face: Face, structure: Any, leaves: list[Any], arguments: dict[str, Any]) -> TracedModule:
    """The graph for a call that differs from the sample. Raises what the function itself raises there, else TraceError."""
    bound = inspect.BoundArguments(face.signature, arguments)  # type: ignore[arg-type]
    try:
        return _trace(face.function, bound, structure, leaves, False, counted=face.counted)
    except TraceError:
        problem = problem_of(face, bound, structure, copied(face, leaves))
        if problem is None:
            raise
    raise problem


def problem_of(face: Face, bound: inspect.BoundArguments, structure: Any, leaves: list[Any]) -> Exception | None:
    """What the function itself raises for these arguments, into which it may write."""
    with _untraced(), contextlib.redirect_stdout(io.StringIO()):
        before = surroundings_of(face.function, structure)
        try:
            run(face.function, bound, structure, leaves)
        except Exception as problem:
            return problem
        finally:
            before.restore()
    return None


def _trace(
    fn: Callable[..., Any], bound: inspect.BoundArguments, structure: Any, leaves: list[Any], check: bool, apart: bool = False,
    counted: bool = False,
) -> TracedModule:  # fmt: skip
    face = _face(fn, bound.signature, structure, leaves)
    face.apart, face.counted = apart, counted
    face.firsts = list(range(len(leaves))) if apart else firsts_of(leaves)
    want: Any = None
    with _untraced():
        before = surroundings_of(fn, structure)
    try:
        with _untraced():
            if check:
                check_alarms(code_of(fn))
                _check_overlap(leaves)
                given = copied(face, leaves)
                _keep_flags(leaves, given)
                want = (run(fn, bound, structure, given), given)
                if isinstance(want[0], types.GeneratorType):
                    raise error("not-rewritten", "the function is a generator, and a graph gives all that it gives at once",
                                "return a list of it", face.place)  # fmt: skip
                after = surroundings_of(fn, structure)
        made = record(fn, bound, face, leaves)
        if check:
            with _untraced():
                check_known(made.module.face, leaves)
                check_values(made, leaves, want[0], want[1], lambda seen: record(fn, bound, face, leaves, diagnose=seen))
                check_state(before, after, face, leaves, lambda other: run(fn, bound, structure, other))
                if made.sizes:
                    check_sizes(fn, bound, made, leaves)
    except UnsettledError as refused:
        before.restore()
        if counted:
            raise
        try:
            return _trace(fn, bound, structure, leaves, check, apart, counted=True)
        except TraceError:
            raise refused from None
    except BaseException:
        before.restore()  # a trace that is refused leaves nothing behind that the next one would read
        raise
    return made.module


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


def run(fn: Callable[..., Any], bound: inspect.BoundArguments, structure: Any, leaves: list[Any]) -> Any:
    """Call `fn` with these arrays for leaves."""
    arguments = rebuild(structure, lambda i: as_python(leaves[i]))
    call = inspect.BoundArguments(bound.signature, arguments)
    return fn(*call.args, **call.kwargs)


def _face(fn: Callable[..., Any], signature: inspect.Signature, structure: Any, leaves: list[Any]) -> Face:
    names = leaf_names(structure)
    kinds = []
    for name, x in zip(names, leaves, strict=True):
        try:
            to_torch(x.dtype)
        except Refused as refused:
            raise error("object-dtype", f"{name}: {refused.message}", refused.hint) from None
        if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray:
            raise error("opaque-call", f"{name} is a {type(x).__name__}, not a plain array", "pass np.asarray of it")
        kinds.append((numpy.dtype(_numpy_dtype(x)), tuple(x.shape)))
    return Face(fn, signature, structure, names, kinds, [torch.Tensor if isinstance(x, torch.Tensor) else type(x) for x in leaves])


def _numpy_dtype(x: Any) -> Any:
    from ..semantics.dtypes import to_numpy

    return to_numpy(x.dtype) if isinstance(x, torch.Tensor) else x.dtype.newbyteorder("=")


def _check_overlap(leaves: list[Any]) -> None:
    arrays = [x for x in leaves if isinstance(x, numpy.ndarray) and x.size]
    for i, a in enumerate(arrays):
        if a.strides and 0 in [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1] and a.flags.writeable:
            raise error("aliasing", "a sample has several elements in one place of memory", "pass a copy of it")
        for b in arrays[:i]:
            if a is not b and numpy.may_share_memory(a, b) and numpy.shares_memory(a, b):
                raise error("aliasing", "two samples share memory", "pass copies")


# Recording


@dataclass
class Recording:
    """What one traced run gave.

    module    the graph module
    sizes     the shapes that depended on values
    measured  whether a rule asked for one of these
    result    what the function returned, with NumPy's values for arrays
    given     NumPy's values of the arguments after the run"""

    module: TracedModule
    sizes: list[tuple[int, ...]]
    measured: bool
    result: Any
    given: list[Any]


def record(fn: Callable[..., Any], bound: inspect.BoundArguments, face: Face, leaves: list[Any],
           diagnose: list[float] | None = None) -> Recording:  # fmt: skip
    """Run `fn` on traced arrays with the values `leaves`, once for each way that its branches on values can go."""
    loops: dict[Any, Any] = {}

    def run(forks: Forks) -> Recording:
        while True:
            try:
                return _record_way(fn, bound, face, leaves, forks, diagnose, loops)
            except Again:
                forks.asked.clear()
                forks.given.clear()

    try:
        return explore(run, face.place)
    except TraceError as refused:
        # what a branch or a few rounds give may be Python's own number, which is needed later
        for kind in ((Choice, Piece, Rounds, Called), Loop):
            if unrolled(loops, kind):
                with contextlib.suppress(TraceError):
                    return explore(run, face.place)
        raise explained(refused, loops) from refused.__cause__


def _record_way(
    fn: Callable[..., Any],
    bound: inspect.BoundArguments,
    face: Face,
    leaves: list[Any],
    forks: Forks,
    diagnose: list[float] | None,
    loops: dict[Any, Any],
) -> Recording:
    """Run `fn` once, with these answers to the questions for the truth of values."""
    face = replace(face, accepted=set())
    tracer = Tracer()
    tracer.compared, tracer.known = face.compared, face.known  # of all ways
    tracer.forks, tracer.loops = forks, loops
    tracer.rounded, tracer.told, tracer.parted = face.rounded, face.told, face.parted  # of all ways
    tracer.diagnose = diagnose
    tracer.recorder.guards = face.guards
    lifter = Lifter(tracer, code_of(fn))
    quiet = warnings.catch_warnings()
    calm = numpy.errstate(all="ignore")
    with state.opened(tracer), fixing_counts(face.counted), _no_collection(), patched(), torch.no_grad(), _uncompiled(), calm, quiet, \
            tracer.recorder, lifter, _sizes_released(tracer):  # fmt: skip
        warnings.simplefilter("ignore")
        with tracer.inside():
            copies = copied(face, leaves)
            _keep_flags(leaves, copies)
            given = _inputs(tracer, face, copies)
        plain = rebuild(face.inputs, given.__getitem__)
        arguments = {k: lifter.lift(v) for k, v in plain.items()}
        _note_arguments(tracer, face, arguments, bound.arguments, given)
        call = inspect.BoundArguments(bound.signature, arguments)  # type: ignore[arg-type]
        result = _call(tracer, lifter.function(fn), call)
        if tracer.again:
            raise Again
        with tracer.inside():
            _check_effects(tracer, lifter, face, plain, given)
            module, values = finish(tracer, face, result, given)
    del given, call, result, arguments, plain
    lifter.forget()
    tracer.storages.clear()
    tracer.copies.clear()  # of containers that hold functions beside traced arrays, too
    _check_kept(tracer, face)
    return Recording(module, tracer.recorder.sizes, tracer.recorder.measured, values, copies)


def _uncompiled() -> contextlib.AbstractContextManager[Any]:
    """Functions that torch has compiled run as they are written, where a trace sees what they do."""
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else contextlib.nullcontext()


@contextlib.contextmanager
def _sizes_released(tracer: Tracer) -> Iterator[None]:
    """What something still holds of the sizes of a trace are plain ints when it is over."""
    try:
        yield
    finally:
        release(tracer.recorder.issued)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection while a graph grows: each would walk all of it, so that long traces would cost more an operation."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _check_kept(tracer: Tracer, face: Face) -> None:
    """A traced array that outlives its trace was put somewhere: a state that the graph does not have."""
    if any(x() is not None for x in tracer.made.values()):
        gc.collect()
        if any(_is_kept(x()) for x in tracer.made.values()):
            raise error("side-effect", "the function keeps an array after it returns, in a global, an attribute or a cache",
                        "return it, and pass it in at the next call", face.place)  # fmt: skip


def _is_kept(x: Any) -> bool:
    """True for what something still holds. What TorchScript keeps of tensors, for gradients that nobody takes, is none of Python's."""
    if x is None or not is_shell(x):
        return x is not None
    return any(not isinstance(holder, types.FrameType) for holder in gc.get_referrers(x))


def _inputs(tracer: Tracer, face: Face, copies: list[Any]) -> list[Any]:
    """The traced arrays of a run. Of what is one array the first placeholder is read."""
    nodes = add_inputs(tracer.recorder.graph, face.names)
    made = [_input(tracer, nodes[i], copies[i] if i == first else copy.deepcopy(copies[i])) for i, first in enumerate(face.firsts)]
    return [made[i] for i in face.firsts]


def _note_arguments(tracer: Tracer, face: Face, arguments: dict[str, Any], originals: dict[str, Any], given: list[Any]) -> None:
    """Which of the caller's objects each argument stands for; a list or dict that the function reads elsewhere as well is the argument."""
    tracer.numbers = {id(x): i for i, x in reversed(list(enumerate(given)))}
    for x, original in beside(face.inputs, arguments, originals):
        tracer.stands[id(x)] = original
        if type(original) in (dict, list) and not holds_arrays(original):
            tracer.arguments_for[id(original)] = x


def _input(tracer: Tracer, node: fx.Node, x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return tracer.recorder.shells.expose(tracer.recorder.placeholder(node, x))
    tensor = tracer.recorder.placeholder(node, as_tensor(x))
    if type(x) in KINDS:
        return new_number(tracer, as_python(x), tensor)
    if not isinstance(x, numpy.ndarray):
        return tracer.note(TracedScalar(x, tensor))
    made = tracer.note_array(x, tracer.new_storage(x, tensor, "sample"), tensor)
    made._storage.node = tracer.recorder.node(tensor)
    return made


def _call(tracer: Tracer, fn: Callable[..., Any], call: inspect.BoundArguments) -> Any:
    """The traced run. What NumPy raised where the plain run did not, or a refusal that was caught, is a TraceError."""
    tracer.end = _call.__code__
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
            f"{type(problem).__name__}: {message_of(problem)} - code that reads past NumPy's dispatch has no values to read",
            "do it with NumPy functions, or split the node around it",
            place,
        ) from (None if tracer.is_unset(problem) else problem)
    if tracer.failure is not None:
        raise tracer.failure
    if tracer.caught is not None:
        place, raised = tracer.caught
        raise error("data-dependent-branch", f"NumPy raised {type(raised).__name__} here, and the function caught it",
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


def _check_effects(tracer: Tracer, lifter: Lifter, face: Face, plain: dict[str, Any], given: list[Any]) -> None:
    """What the function left behind other than its result and what it wrote into arrays."""
    names = lifter.assigned()
    if names:
        raise error("side-effect", f"the function assigns the global {', '.join(names)}", "return the value instead", face.place)
    attributes = lifter.attributes_set()
    if attributes:
        raise error("side-effect", f"the function sets the attribute {', '.join(attributes)}", "return the value instead", face.place)
    if lifter.changed():
        raise error("side-effect", "the function changes a container of arrays or functions that existed before it was called",
                    "pass the arrays in, and return the new ones", face.place)  # fmt: skip
    found: list[Any] = []
    why = match(face.inputs, plain, found)
    if why is not None or any(a is not given[leaf.index] for a, leaf in zip(found, leaf_order(face.inputs), strict=True)):
        raise error("side-effect", f"the function changes a container that it was given: {why or 'an array in it is replaced'}",
                    "return a new container", face.place)  # fmt: skip
