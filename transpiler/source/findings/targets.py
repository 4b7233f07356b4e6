"""Targets: for whom findings are said.

any     whatever a tracer that works by dispatch loses, also where np2fx itself would convert it
np2fx   only what np2fx cannot convert
leapp   what LEAPP's NumPy tracing does not record, by its documented list of NumPy functions
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


# Converted by np2fx: a scalar stays in the graph, a write is recorded functionally, a loop over rows is unrolled and verified.
CONVERTED_BY_NP2FX = frozenset({
    "scalar-index", "reversed-slice", "numpy-scalar", "mutation", "aliasing", "element-iteration", "data-dependent-shape",
    "float64-promotion", "no-node",
})  # fmt: skip

# Said as errors for LEAPP, which records a constant in their place.
ERRORS_FOR_LEAPP = frozenset({"scalar-index", "reversed-slice", "numpy-scalar", "mutation", "aliasing"})

# What LEAPP says it records; every other NumPy function runs untraced and its result becomes a constant.
RECORDED_BY_LEAPP = words(
    """add subtract multiply divide true_divide floor_divide remainder mod power negative positive abs absolute sqrt square exp log log2
    log10 log1p expm1 sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh floor ceil round maximum minimum
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor bitwise_and bitwise_or
    bitwise_xor invert isnan isinf isfinite sum mean std var min max amin amax argmin argmax cumsum all any reshape transpose squeeze
    expand_dims concatenate stack split swapaxes moveaxis roll where clip sort argsort nonzero matmul dot einsum tensordot trace tril triu
    zeros_like ones_like full_like zeros ones arange linspace eye asarray array copy"""
)


def said(name: str, target: str) -> bool:
    """Whether a finding of this name is said to this target at all."""
    return not (target == "np2fx" and name in CONVERTED_BY_NP2FX)


def follows_branches(target: str) -> bool:
    """Whether what is spoken to records both ways of a branch on values, and keeps numbers of values in its graph."""
    return target == "np2fx"


def severity(name: str, given: str, target: str) -> str:
    """The severity of a finding for a target."""
    return "error" if target == "leapp" and name in ERRORS_FOR_LEAPP and given == "warning" else given
