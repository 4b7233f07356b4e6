"""What to call a node with: a plan made from specs, annotations and samples, and the arguments Hypothesis draws from it.

A plan is the node's arguments by parameter name, each a tree of containers with `Leaf`, `Number` or `Constant` at the
ends. What is known of an argument comes, best first, from the spec given to `verify`, the spec of `@np2fx.node`, the
annotation (jaxtyping's `Float32[np.ndarray, "batch 7"]`, `NDArray[np.float32]`, `float`), and the sample.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from ...pipeline.spec import DTYPES, Constant, ScalarSpec, SpecError, TensorSpec, parse_dims, read
from .copies import laid_out, layout_of
from .values import arrays, noise, numbers

SIZES = (3, 2, 5, 4, 6, 7)
"""Sizes of free dimensions in a first sample: different ones, so that no two are mistaken for each other."""


class UndeclaredError(Exception):
    """A node that cannot be called: nothing says what its argument `parameter` is."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


@dataclass(frozen=True)
class Leaf:
    """An array, NumPy scalar or tensor: its spec, the sample it is like, and which of the three it is.

    ranks  which other ranks it may have: "any", "more" (further axes in front), or "" """

    spec: TensorSpec
    sample: np.ndarray[Any, Any] | None = None
    form: str = "array"
    ranks: str = ""


@dataclass(frozen=True)
class Number:
    """A Python value, and the one that a graph is traced with: a graph keeps it, so it is the same in every sample."""

    spec: ScalarSpec
    plain: Any


Plan = dict[str, Any]


def is_scalar(known: Any) -> bool:
    """Whether an argument may be one of NumPy's scalars beside what is drawn for it: an array of rank 0, a Python int or float."""
    if isinstance(known, Number):
        return known.spec.kind in ("int", "float")
    return isinstance(known, Leaf) and known.form == "array" and known.spec.rank == 0


def plan_of(fn: Callable[..., Any], samples: tuple[Any, ...], spec: Mapping[str, Any] | None) -> Plan:
    """What is known of each argument of `fn`. Raises UndeclaredError, SpecError, and TypeError for samples that do not fit `fn`."""
    signature = inspect.signature(fn)
    given = signature.bind_partial(*samples).arguments
    declared = {**getattr(fn, "__np2fx_spec__", {}), **{name: read(value) for name, value in (spec or {}).items()}}
    if unknown := [name for name in declared if name not in signature.parameters]:
        raise SpecError(f"{_name(fn)} has no parameter {unknown[0]!r}")
    hints = _annotations(fn)
    plan: Plan = {}
    for name, parameter in signature.parameters.items():
        if name in declared:
            plan[name] = _leaves(declared[name], given.get(name))
        elif name in given:
            plan[name] = like(given[name])
        elif parameter.default is not parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue  # its default is what it is
        elif (found := annotated(hints.get(name))) is not None:
            plan[name] = _leaves(found, None)
        else:
            raise UndeclaredError(name, f"nothing says what the argument {name!r} of {_name(fn)} is")
    return plan


def _name(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__qualname__", repr(fn))


def like(value: Any) -> Any:
    """The plan of what is like a sample: same dtypes, ranks and sizes; what holds no arrays is a constant."""
    if isinstance(value, torch.Tensor):
        return _leaf_like(value.detach().resolve_conj().resolve_neg().cpu().numpy(), "tensor")
    if isinstance(value, np.generic):
        return _leaf_like(np.asarray(value), "scalar")
    if isinstance(value, np.ndarray):
        return _leaf_like(value, "array")
    if type(value) is dict:
        return {key: like(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(like, value))
    if type(value) in (list, tuple):
        return type(value)(map(like, value))
    return Constant(value)


def _leaf_like(x: np.ndarray[Any, Any], form: str) -> Any:
    return Leaf(TensorSpec(x.dtype.name, x.shape), x, form) if x.dtype.name in DTYPES else Constant(x)


def _leaves(spec: Any, sample: Any) -> Any:
    """A declared spec (a tree) as a plan, with the sample's arrays beside their specs. Raises SpecError where they differ."""
    if isinstance(spec, dict):
        return {key: _leaves(item, sample.get(key) if isinstance(sample, dict) else None) for key, item in spec.items()}
    if isinstance(spec, (list, tuple)):
        parts = sample if isinstance(sample, (list, tuple)) and len(sample) == len(spec) else [None] * len(spec)
        return type(spec)(_leaves(item, part) for item, part in zip(spec, parts, strict=True))
    if isinstance(spec, ScalarSpec):
        return Number(spec, _plain(spec) if sample is None else sample)
    if not isinstance(spec, TensorSpec):
        return spec
    seen = None if sample is None else like(sample)
    ranks = "any" if spec.dims is ... else "more" if spec.dims[:1] == ("...",) else ""
    if not isinstance(seen, Leaf):
        return Leaf(_with_rank(spec, 1), ranks=ranks)
    assert seen.sample is not None
    spec = _with_rank(spec, seen.sample.ndim)
    fits = len(spec.dims) == seen.sample.ndim and all(
        not isinstance(d, int) or d == n for d, n in zip(spec.dims, seen.sample.shape, strict=True)
    )
    if spec.dtype != seen.spec.dtype or not fits:
        raise SpecError(f"the sample is {seen.spec}, which is not {spec}")
    return Leaf(spec, seen.sample, seen.form, ranks)


def _with_rank(spec: TensorSpec, rank: int) -> TensorSpec:
    """The spec with free sizes in place of "..." (a graph has one rank)."""
    dims: tuple[int | str, ...] = ("...",) if spec.dims is ... else spec.dims
    if "..." in dims:
        at = dims.index("...")
        dims = (*dims[:at], *("_",) * max(rank - len(dims) + 1, 0), *dims[at + 1 :])
    return TensorSpec(spec.dtype, dims, spec.low, spec.high, spec.finite)


# Annotations


def _annotations(fn: Callable[..., Any]) -> dict[str, Any]:
    """The evaluated annotations; those that cannot be evaluated are left out."""
    try:
        return typing.get_type_hints(fn, include_extras=True)
    except Exception:
        scope = getattr(fn, "__globals__", {})
        found = {}
        for name, text in getattr(fn, "__annotations__", {}).items():
            try:
                found[name] = eval(text, scope) if isinstance(text, str) else text
            except Exception:
                continue
        return found


def annotated(hint: Any) -> Any:
    """The spec that an annotation stands for, or None.

    jaxtyping's types are recognised by what they carry (`dtypes`, `dim_str`), so that jaxtyping need not be installed."""
    if hint in (bool, int, float, complex, str):
        return ScalarSpec(hint.__name__)
    if hasattr(hint, "dim_str") and hasattr(hint, "dtypes"):
        return TensorSpec(_preferred(hint.dtypes), _dims_of(hint.dim_str))
    if typing.get_origin(hint) is typing.Annotated:
        texts = [extra for extra in hint.__metadata__ if isinstance(extra, str)]
        return read(texts[0]) if texts else annotated(typing.get_args(hint)[0])
    if typing.get_origin(hint) is np.ndarray:
        dtype = typing.get_args(typing.get_args(hint)[1])
        if dtype and isinstance(dtype[0], type) and issubclass(dtype[0], np.generic):
            name = _python_or_numpy(dtype[0])
            return TensorSpec(name) if name in DTYPES else None
    if isinstance(hint, type) and issubclass(hint, np.generic):
        name = _python_or_numpy(hint)
        return TensorSpec(name, ()) if name in DTYPES else None
    return None


def _python_or_numpy(kind: type) -> str:
    """A scalar type's dtype; of an abstract one (`np.floating`), the plainest."""
    abstract = {np.floating: "float64", np.integer: "int64", np.complexfloating: "complex128", np.number: "float64"}
    try:
        return abstract.get(kind) or np.dtype(kind).name
    except TypeError:
        return ""


def _preferred(dtypes: Any) -> str:
    """One dtype of those an annotation allows: float32 where it is among them."""
    names = [str(dtype) for dtype in dtypes] if isinstance(dtypes, (list, tuple, set, frozenset)) else ["float32"]
    names = [name.rstrip("_") for name in names]
    return next((name for name in ("float32", "int64", "bool", "complex64", *DTYPES) if name in names), "float32")


def _dims_of(text: str) -> Any:
    """jaxtyping's dimensions: "batch 7", "*batch 3", "... 3", "_ 3", "#n" (broadcasts), "rows=4"."""
    parts = []
    for part in text.split():
        name = part.lstrip("#?").rpartition("=")[2]
        parts.append("..." if name.startswith(("*", "...")) else name)
    return parse_dims(parts, text)


# Drawing

_BOOLEANS = st.booleans()


def leaves(tree: Any) -> Iterator[Any]:
    """The ends of a plan."""
    if isinstance(tree, dict):
        for item in tree.values():
            yield from leaves(item)
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves(item)
    else:
        yield tree


def free_sizes(plan: Plan) -> dict[str, int]:
    """The names of free sizes with the size each has in a first sample: the given sample's, else one of `SIZES`.

    Sizes that equal no other have names of their own, "_0", "_1" ..., in the order in which they stand in the plan."""
    sizes: dict[str, int] = {}
    for name, known in _named_dims(plan):
        if name not in sizes:
            sizes[name] = SIZES[len(sizes) % len(SIZES)] if known is None else known
    return sizes


def _named_dims(plan: Plan) -> Iterator[tuple[str, int | None]]:
    own = 0
    for leaf in leaves(plan):
        if isinstance(leaf, Leaf):
            for position, dim in enumerate(leaf.spec.dims):
                if isinstance(dim, str):
                    known = None if leaf.sample is None else leaf.sample.shape[position]
                    yield (f"_{own}" if dim == "_" else dim), known
                    own += dim == "_"


@st.composite
def arguments(draw: st.DrawFn, plan: Plan, sizes: dict[str, int], turning: tuple[float, ...] = ()) -> dict[str, Any]:
    """Arguments by parameter name, for these sizes of the free dimensions. Every other Python value is the plain one.

    `turning`: numbers that the node mentions (see `mentioned`)."""

    def number(wanted: Number) -> Any:
        return wanted.plain if draw(_BOOLEANS) else draw(numbers(wanted.spec))

    return filled(plan, sizes, lambda leaf, shape: draw(arrays(leaf.spec, shape, leaf.sample, turning)), number)


def mentioned(fn: Callable[..., Any]) -> tuple[float, ...]:
    """The numbers in a function's text and among the globals it reads: comparisons and clips turn there."""
    inner = inspect.unwrap(fn)
    code, around = getattr(inner, "__code__", None), getattr(inner, "__globals__", {})
    found = [] if code is None else list(_numbers_of(code, around))
    return tuple(dict.fromkeys(float(n) for n in found if not isinstance(n, (bool, complex)) and abs(n) < 1e300))


def _numbers_of(code: CodeType, around: Mapping[str, Any]) -> Iterator[Any]:
    for constant in (*code.co_consts, *(around.get(name) for name in code.co_names)):
        if isinstance(constant, CodeType):
            yield from _numbers_of(constant, around)
        else:
            yield from (c for c in (constant if isinstance(constant, tuple) else (constant,)) if isinstance(c, (int, float)))


def sample_arguments(plan: Plan, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Tame arguments, the same for the same seed: what a graph is traced with."""
    rng = np.random.default_rng(seed)
    return filled(plan, sizes, lambda leaf, shape: noise(leaf.spec, shape, leaf.sample, rng), lambda number: number.plain)


def filled(
    plan: Plan, sizes: dict[str, int], array: Callable[[Leaf, tuple[int, ...]], Any], number: Callable[[Number], Any]
) -> dict[str, Any]:
    """The plan with an array at each leaf and a Python value at each number, in the order of the parameters."""
    own = iter([name for name, _ in _named_dims(plan)])

    def made(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: made(item) for key, item in tree.items()}
        if isinstance(tree, tuple) and hasattr(tree, "_fields"):
            return type(tree)(*map(made, tree))
        if isinstance(tree, (list, tuple)):
            return type(tree)(map(made, tree))
        if isinstance(tree, Leaf):
            x = array(tree, tuple(sizes[next(own)] if isinstance(dim, str) else dim for dim in tree.spec.dims))
            if tree.sample is not None:
                x = laid_out(x, layout_of(tree.sample))
            return torch.from_numpy(x) if tree.form == "tensor" else x[()] if tree.form == "scalar" else x
        return number(tree) if isinstance(tree, Number) else tree.value

    return {name: made(tree) for name, tree in plan.items()}


def _plain(spec: ScalarSpec) -> Any:
    """A plain value of the spec."""
    plain: Any = {"bool": True, "int": 1, "float": 0.5, "complex": 0.5 + 1j, "str": "a"}[spec.kind]
    if spec.low is None or spec.high is None or spec.kind not in ("int", "float") or spec.low <= plain <= spec.high:
        return plain
    return int(spec.low) if spec.kind == "int" else spec.low


_cached_signature = functools.lru_cache(maxsize=64)(inspect.signature)
"""A node is called hundreds of times."""


def _signature(fn: Callable[..., Any]) -> inspect.Signature:
    try:
        return _cached_signature(fn)
    except TypeError:  # a callable that has no hash
        return inspect.signature(fn)


def call_with(fn: Callable[..., Any], named: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by name as positional and keyword arguments of `fn`."""
    signature = _signature(fn)
    ordered = {name: named[name] for name in signature.parameters if name in named}
    bound = inspect.BoundArguments(signature, ordered)  # type: ignore[arg-type]
    return bound.args, bound.kwargs
