"""Holding a recording against NumPy: the values that NumPy had while tracing, and those of the graph."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ..semantics.arrays import as_tensor
from .arrays.declared import as_python
from .errors import error
from .module import Face, TracedModule, copied
from .recording.compare import difference, largest_in, repeated_tolerance, values_of
from .surroundings.structure import Fixed, Node, children, emptied, flatten, is_leaf, leaf_names, match, rebuild
from .surroundings.suspects import leak
from .widened import widened, widening

if TYPE_CHECKING:
    from .entry import Recording



def check_values(made: Recording, leaves: list[Any], result: Any, mutated: list[Any],
                 diagnose: Callable[[list[float]], Any]) -> None:  # fmt: skip
    """Raise TraceError unless the traced run had the plain run's values and the graph gives them too.

    `result` and `mutated` are what the plain run returned and left in its arguments. The traced run is NumPy's as well: a difference
    there is a call that got poison, or that has a state. `diagnose` looks for the rule that is wrong, where only the graph differs, and
    lists the largest numbers on the way: what is left of them where all cancels is rounding."""
    face: Face = made.module.face  # type: ignore[assignment]
    coarsest = repeated_tolerance(*(numpy.asarray(x).dtype for x in mutated if not isinstance(x, torch.Tensor)))
    why = _difference(face, result, made.result, mutated, made.given, coarsest)
    if why is not None:
        reason, way_out, place = leak(face.function, face.place)
        raise error("leaked-constant", f"the traced run gives another result than the function ({why}): {reason}", way_out, place)
    got, tensors = _graph_run(made.module, face, leaves)
    why = _difference(face, result, got, mutated, tensors, computed_in=face.rounded)
    if why is None:
        return
    exact = _float64_run(face, leaves)
    if exact is not None and _difference(face, result, got, mutated, tensors, computed_in=face.rounded, exact=exact) is None:
        return
    seen = [largest_in(values_of(x) if isinstance(x, torch.Tensor) else numpy.asarray(x)) for x in leaves]
    diagnose(seen)
    why = _difference(face, result, got, mutated, tensors, computed_in=face.rounded, largest=max(seen, default=0.0),
                      exact=exact)  # fmt: skip
    if why is not None:
        reason, way_out, place = leak(face.function, face.place)
        raise error("leaked-constant", f"the graph gives another result than the function ({why}): {reason}", way_out, place)


def _float64_run(face: Face, leaves: list[Any]) -> tuple[Any, list[Any]] | None:
    """What the function returns and leaves in its arguments where all its floats are float64; None where that is no run of it."""
    from .surroundings.kept import surroundings_of

    before = surroundings_of(face.function, face.inputs)
    given = [widened(values_of(x) if isinstance(x, torch.Tensor) else as_python(x)) for x in copied(face, leaves)]
    given = [torch.from_numpy(numpy.asarray(w)) if isinstance(x, torch.Tensor) else w for w, x in zip(given, leaves, strict=True)]
    arguments = rebuild(face.inputs, lambda i: as_python(given[i]))
    call = inspect.BoundArguments(face.signature, arguments)
    try:
        with widening(), contextlib.redirect_stdout(io.StringIO()):
            return face.function(*call.args, **call.kwargs), given
    except Exception:
        return None
    finally:
        before.restore()


def _graph_run(module: TracedModule, face: Face, leaves: list[Any]) -> tuple[Any, list[torch.Tensor]]:
    """The graph's result for `leaves`, and what is in its arguments afterwards."""
    tensors = [x if isinstance(x, torch.Tensor) else as_tensor(x) for x in copied(face, leaves)]
    tensors = [tensors[i] for i in face.firsts]
    try:
        with torch.no_grad():
            got = module.forward(*tensors)
    except Exception as problem:
        raise error("mismatch", f"the graph does not run: {type(problem).__name__}: {problem}".split("\n")[0], "", face.place) from problem
    return got if face.outputs is None else rebuild(face.outputs, got.__getitem__), tensors


def _difference(face: Face, want: Any, got: Any, mutated: list[Any], left: list[Any], repeated: float | None = None,
                computed_in: Iterable[numpy.dtype[Any]] = (), largest: float = 0.0,
                exact: tuple[Any, list[Any]] | None = None) -> str | None:  # fmt: skip
    why = compare_results(want, got, "result", repeated, computed_in, largest, None if exact is None else exact[:1])
    if why is not None:
        return why
    pairs = zip(face.names, mutated, left, [None] * len(left) if exact is None else exact[1], strict=True)
    return next((f"{name}: {d}" for name, a, b, e in pairs if (d := difference(a, b, repeated, computed_in, largest, e))), None)


def compare_results(want: Any, got: Any, path: str = "result", repeated: float | None = None,
                    computed_in: Iterable[numpy.dtype[Any]] = (), largest: float = 0.0,
                    exact: tuple[Any, ...] | None = None) -> str | None:  # fmt: skip
    """How a graph's result differs from the function's own; None where it does not. `exact` holds what a float64 run gives, if any."""
    wanted: list[Any] = []
    gotten: list[Any] = []
    truths: list[Any] = []
    if exact is not None:
        want, got = _as_arrays(want), _as_arrays(got)
        flatten(_as_arrays(exact[0]), path, truths)
    structure = flatten(want, path, wanted)
    why = match(structure, _leaves_like(structure, got), gotten)
    if why is not None:
        return why
    if len(truths) != len(wanted):
        truths = [None] * len(wanted)
    names = leaf_names(structure)
    pairs = zip(names, wanted, gotten, truths, strict=True)
    return next((f"{n}: {d}" for n, a, b, e in pairs if (d := difference(a, b, repeated, computed_in, largest, e))), None)


def _as_arrays(x: Any) -> Any:
    """Python's floats in lists, tuples and dicts as arrays, which are compared as numbers and not one to one."""
    if type(x) in (float, complex):
        return numpy.asarray(x)
    if type(x) in (list, tuple):
        return type(x)(map(_as_arrays, x))
    return {k: _as_arrays(v) for k, v in x.items()} if type(x) is dict else x


def _leaves_like(structure: Any, got: Any) -> Any:
    """A Python number that the traced run or the graph gives as an array (`np.allclose`) counts as one."""
    if isinstance(structure, Fixed) and is_leaf(got) and isinstance(structure.value, (bool, int, float, complex)):
        same = got.ndim == 0 and difference(numpy.asarray(structure.value), got) is None
        return structure.value if same else got
    if isinstance(structure, Node) and type(got) is structure.kind:
        keys, parts = children(got) or ((), ())
        by_key = dict(zip(structure.keys, structure.parts, strict=True))
        if set(keys) == set(by_key):
            return Node(type(got), keys, (), emptied(got)).build([_leaves_like(by_key[k], p) for k, p in zip(keys, parts, strict=True)])
    return got
