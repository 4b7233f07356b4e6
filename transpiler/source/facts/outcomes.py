"""What a rule's kind says of a call's result: its rank and dtype, as far as check needs them."""

from __future__ import annotations

import ast
from dataclasses import replace

from ..findings.targets import words
from ..reading.table import RuleSource
from .values import OBJECT, UNKNOWN, Value, array, dtype_name, element_of, join_all, operated

Bound = dict[str, tuple[ast.expr, Value]]
_KEEP_RANK = words("copy astype zeros_like ones_like full_like empty_like array asarray asanyarray ascontiguousarray")
_KEEP_DTYPE = words("copy reshape ravel flatten transpose flip roll clip squeeze sum mean std var min max amin amax concatenate stack")
_TUPLES = {"eig": 2, "eigh": 2, "slogdet": 2, "qr": 2, "svd": 3}  # named tuples, unless an argument asks for a part of them
_INDICES = words(
    "unravel_index triu_indices tril_indices triu_indices_from tril_indices_from diag_indices diag_indices_from mask_indices ix_"
)
_FLOAT64 = words("zeros ones empty eye identity linspace")


def outcome(rule: RuleSource, method: str, args: list[Value], bound: Bound, traced: bool) -> Value:
    """What a call of a rule gives. `bound` holds the arguments by parameter name; ufuncs have `method` "reduce", "outer", ..."""
    first = args[0] if args else UNKNOWN
    if rule.kind == "python":
        return OBJECT if "dtype" in rule.name else Value("number", dtype="int" if rule.name.endswith(("ndim", "size")) else None)
    if rule.kind == "arrays":
        memory = first.memory if rule.view else frozenset()
        return Value("sequence", traced, element=array(traced, memory=memory), memory=memory)
    tail = rule.name.rpartition(".")[2]
    if tail in _TUPLES and not {"compute_uv", "mode"} & bound.keys():
        return Value("sequence", traced, items=(array(traced),) * _TUPLES[tail])
    if tail in _INDICES:
        return Value("sequence", traced, element=array(traced, dtype="int64"))
    said = dtype_name(bound["dtype"][0]) if "dtype" in bound else None
    if rule.is_ufunc:
        found = array(traced) if method else replace(_elementwise(rule, args), traced=traced)
        return replace(found, dtype=said) if "dtype" in bound else found
    if rule.name in ("numpy.where", "numpy.clip") and len(args) >= 3:
        chosen = _elementwise(rule, args[1:3] if rule.name == "numpy.where" else args[:1])
        ranks = [nested_rank(v) for v in args[:3] if v.kind != "none"]
        return replace(chosen, traced=traced, rank=None if None in ranks else max(r for r in ranks if r is not None))
    dtype = said if "dtype" in bound else _dtype(rule, first, bound)
    view = rule.view and (rule.name != "numpy.diag" or first.rank == 2)  # of a vector np.diag makes a new matrix
    return array(traced, _rank(rule, args, bound), dtype, first.memory if view else ())


def _elementwise(rule: RuleSource, args: list[Value]) -> Value:
    """A ufunc's result. Its dtype is kept where the ufunc's loops give back what they take."""
    operands = [v if v.kind in ("array", "number") else array(v.traced, nested_rank(v)) for v in args[:2]]
    compares = rule.kind == "predicate"
    found = operated("compare" if compares else "", *operands) if operands else array(False)
    if not found.is_array:  # of Python numbers: a NumPy scalar
        return array(False, 0)
    keeps = compares or rule.module.endswith((".arithmetic", ".logic")) or (found.dtype or "").startswith(("float", "complex"))
    return found if keeps else replace(found, dtype=None)


def _sizes(sizes: list[Value]) -> int | None:
    """The rank that `x.reshape(2, 3)` and `x.reshape((2, 3))` say."""
    if len(sizes) == 1 and sizes[0].kind != "number":
        return None if sizes[0].items is None else len(sizes[0].items)
    return len(sizes) if sizes and all(s.kind in ("number", "unknown") for s in sizes) else None


def _rank(rule: RuleSource, args: list[Value], bound: Bound) -> int | None:
    """The rank of a rule's result, where its parameters say it."""
    first = args[0] if args else UNKNOWN
    tail = rule.name.rpartition(".")[2]
    if rule.kind == "reduction":
        return _reduced(tail, first, bound)
    if rule.name == "numpy.ndarray.reshape":
        return _sizes(args[1:])
    shape = bound.get("shape") or bound.get("newshape")
    if shape is not None and rule.kind in ("creation", "shape"):
        return 1 if shape[1].kind == "number" else None if shape[1].items is None else len(shape[1].items)
    if tail in ("arange", "linspace", "ravel", "flatten"):
        return 1 if tail != "linspace" or first.kind == "number" else None
    if tail in ("concatenate", "stack"):
        rank = element_of(first).rank if first.kind == "sequence" else None
        return None if rank is None else rank + (tail == "stack")
    return nested_rank(first) if tail in _KEEP_RANK else None


def _reduced(tail: str, first: Value, bound: Bound) -> int | None:
    axis, keep = bound.get("axis"), bound.get("keepdims")
    if "cum" in tail or (
        tail in ("percentile", "quantile", "nanpercentile", "nanquantile", "average", "trapezoid", "ptp") and axis is not None
    ):
        return None
    if keep is not None and keep[1].constant is not False:
        return nested_rank(first)
    if axis is None or axis[1].kind == "none":
        quantile = bound.get("q")
        return None if quantile is not None and quantile[1].kind != "number" else 0
    gone = 1 if axis[1].kind == "number" else None if axis[1].items is None else len(axis[1].items)
    rank = nested_rank(first)
    return None if rank is None or gone is None else max(rank - gone, 0)


def _dtype(rule: RuleSource, first: Value, bound: Bound) -> str | None:
    tail = rule.name.rpartition(".")[2]
    if rule.kind == "creation" and tail in _FLOAT64:
        return "float64"
    if tail in ("array", "asarray"):
        leaf = first
        while leaf.items:
            leaf = join_all(leaf.items)
        return (
            {"float": "float64", "int": "int64", "complex": "complex128"}.get(leaf.dtype or "", leaf.dtype)
            if leaf.kind != "sequence"
            else None
        )
    if tail in _KEEP_DTYPE or (tail in _KEEP_RANK and tail != "astype"):
        source = element_of(first) if first.kind == "sequence" else first
        small = tail in ("sum", "mean", "std", "var") and not (source.dtype or "").startswith(("float", "complex"))
        return None if small else source.dtype
    return None


def nested_rank(value: Value) -> int | None:
    """The rank of an array made of nested sequences of numbers and arrays."""
    if value.is_array:
        return value.rank
    if value.kind == "number":
        return 0
    if value.items:
        inner = {nested_rank(v) for v in value.items}
        rank = inner.pop()
        return None if inner or rank is None else rank + 1
    return None
