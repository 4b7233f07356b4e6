"""Holding a recording against NumPy: the values that NumPy had while tracing, and those of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ..semantics.arrays import as_tensor
from .compare import difference, largest_in, repeated_tolerance, values_of
from .errors import error
from .module import Face, TracedModule, copied
from .structure import Fixed, Node, children, emptied, flatten, is_leaf, leaf_names, match, rebuild

if TYPE_CHECKING:
    from .entry import Recording

_LEAK = "a value came out of a call that the tracer does not see"
_WAY_OUT = "look for compiled code, files, random numbers or state that changes between calls, and split the node there"


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
        raise error("leaked-constant", f"the traced run gives another result than the function ({why}): {_LEAK}", _WAY_OUT, face.place)
    got, tensors = _graph_run(made.module, face, leaves)
    why = _difference(face, result, got, mutated, tensors, computed_in=face.rounded)
    if why is None:
        return
    seen = [largest_in(values_of(x) if isinstance(x, torch.Tensor) else numpy.asarray(x)) for x in leaves]
    diagnose(seen)
    why = _difference(face, result, got, mutated, tensors, computed_in=face.rounded, largest=max(seen, default=0.0))
    if why is not None:
        raise error("leaked-constant", f"the graph gives another result than the function ({why}): {_LEAK}", _WAY_OUT, face.place)


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
                computed_in: Iterable[numpy.dtype[Any]] = (), largest: float = 0.0) -> str | None:  # fmt: skip
    why = compare_results(want, got, repeated=repeated, computed_in=computed_in, largest=largest)
    if why is not None:
        return why
    pairs = zip(face.names, mutated, left, strict=True)
    return next((f"{name}: {d}" for name, a, b in pairs if (d := difference(a, b, repeated, computed_in, largest))), None)


def compare_results(want: Any, got: Any, path: str = "result", repeated: float | None = None,
                    computed_in: Iterable[numpy.dtype[Any]] = (), largest: float = 0.0) -> str | None:  # fmt: skip
    """How a graph's result differs from the function's own; None where it does not."""
    wanted: list[Any] = []
    gotten: list[Any] = []
    structure = flatten(want, path, wanted)
    why = match(structure, _leaves_like(structure, got), gotten)
    if why is not None:
        return why
    names = leaf_names(structure)
    pairs = zip(names, wanted, gotten, strict=True)
    return next((f"{n}: {d}" for n, a, b in pairs if (d := difference(a, b, repeated, computed_in, largest))), None)


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
