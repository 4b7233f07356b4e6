"""Where torch's own spelling means what NumPy means, given the facts: the conditions, one function a construct.

Everything here errs on the side of no: a construct that is not plain is still converted, by calling its rule.
"""

from __future__ import annotations

import ast

from ..source.facts.known import COMPARISONS, UNKNOWN, Fact, key_parts
from ..source.facts.promotion import ASSUMED, promote

FLOATS = ("float32", "float64", ASSUMED)
INTEGERS = {"int8": (-(2**7), 2**7), "int16": (-(2**15), 2**15), "int32": (-(2**31), 2**31), "int64": (-(2**63), 2**63), "uint8": (0, 2**8)}
"""The integers that torch computes as NumPy does: smallest value, and the first one too large."""

COMPUTED = (*FLOATS, *INTEGERS, "bool")
"""The dtypes for which torch has all kernels."""


def operator(ufunc: str, facts: tuple[Fact, ...], nodes: tuple[ast.expr, ...]) -> bool:
    """True where Python's operator on these operands gives NumPy's values and dtype in torch."""
    a, b = facts
    tensors = [f for f in facts if f.is_tensor]
    if not tensors or any(not f.is_tensor and f.kind != "number" for f in facts):
        return False
    dtypes = {f.dtype for f in tensors}
    if None not in dtypes and len(dtypes) == 2 and ufunc != "matmul" and all(f.kind == "array" and f.rank for f in facts):
        common = promote(*map(str, dtypes))
        return common in FLOATS and common in dtypes and dtypes <= set(COMPUTED) and _same_dtype(ufunc, str(common))
    if len(dtypes) != 1 or None in dtypes:
        return False
    (dtype,) = dtypes
    if ufunc == "matmul":
        return dtype in FLOATS and all(f.is_tensor and f.rank is not None and f.rank >= 1 for f in facts)
    if len(tensors) == 2:
        return not (ufunc == "power" and b.rank == 0) and _same_dtype(ufunc, str(dtype))
    other = a if b.is_tensor else b
    if ufunc == "power" and a.kind == "scalar" and b.value == 0.5:
        return False  # torch takes the square root, NumPy that of arrays alone
    return _with_number(ufunc, str(dtype), other, number_right=b.kind == "number")


def common_float(ufunc: str, facts: tuple[Fact, ...]) -> str | None:
    """The float dtype in which NumPy computes with operands of several dtypes, where torch does once they are cast to it."""
    known = [f.dtype for f in facts]
    if ufunc not in ("add", "subtract", "multiply", "divide", *COMPARISONS) or None in known or ASSUMED in known or "real" in known:
        return None
    tensors = [f for f in facts if f.is_tensor]
    if not tensors or any(f.dtype not in COMPUTED for f in tensors) or any(
        not f.is_tensor and (f.kind != "number" or f.dtype not in ("int", "float")) for f in facts
    ):
        return None
    common = promote(*map(str, known))
    common = "float64" if ufunc == "divide" and common in INTEGERS else common
    return common if common in ("float32", "float64") else None


def _same_dtype(ufunc: str, dtype: str) -> bool:
    if dtype in FLOATS:
        return ufunc in ("add", "subtract", "multiply", "divide", "power", *COMPARISONS)
    if dtype in INTEGERS:
        return ufunc in ("add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor", *COMPARISONS)
    return dtype == "bool" and ufunc in ("bitwise_and", "bitwise_or", "bitwise_xor", "equal", "not_equal")


def _with_number(ufunc: str, dtype: str, other: Fact, number_right: bool) -> bool:
    if other.dtype not in ("int", "real", "float"):
        return False
    if dtype in FLOATS and ufunc == "power" and number_right:
        return other.dtype == "int" or other.value not in (None, -0.5)  # -0.5 is rsqrt to torch
    if dtype in FLOATS:
        return ufunc in ("add", "subtract", "multiply", "divide", "power", *COMPARISONS)
    if dtype in INTEGERS and other.dtype == "int" and isinstance(other.value, int):
        low, high = INTEGERS[dtype]
        if not low <= other.value < high:
            return False
        if ufunc == "power":
            return number_right and other.value >= 0
        if ufunc in ("floor_divide", "remainder"):
            return number_right and other.value > 0
        if ufunc in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            return number_right
        return ufunc in ("add", "subtract", "multiply", *COMPARISONS)
    return False


def unary(ufunc: str, fact: Fact, mutates: bool) -> bool:
    """True where `-x`, `~x`, `+x` are torch's. `+x` copies in NumPy."""
    if not fact.is_tensor or fact.dtype is None:
        return False
    if ufunc == "negative":
        return fact.dtype in FLOATS or fact.dtype in INTEGERS
    if ufunc == "invert":
        return fact.dtype in INTEGERS or fact.dtype == "bool"
    return False


def keeps(ufunc: str, target: Fact, operand: Fact) -> bool:
    """True where an in-place operator fits its target without a cast. torch has no `@=` in place."""
    if ufunc == "matmul":
        return False
    if operand.kind == "number":
        return target.dtype in FLOATS or operand.dtype == "int"
    ranks = target.rank is not None and operand.rank is not None and operand.rank <= target.rank
    return target.dtype == operand.dtype and ranks and not (ufunc == "divide" and target.dtype not in FLOATS)


def number_fits(target: Fact, value: Fact) -> bool:
    """True where torch stores a Python number in an array as NumPy does."""
    if target.dtype in FLOATS:
        return value.dtype in ("int", "real", "float")
    low, high = INTEGERS.get(target.dtype or "", (0, 0))
    return value.dtype == "int" and isinstance(value.value, int) and low <= value.value < high


def stores(target: Fact, value: Fact) -> bool:
    """True where torch casts what it stores as NumPy does."""
    if target.dtype == value.dtype:
        return target.dtype is not None
    return target.dtype in FLOATS and (value.dtype in FLOATS or value.dtype in INTEGERS or value.dtype == "bool")


def key(index: ast.expr, facts: dict[ast.AST, Fact]) -> bool:
    """True for keys that torch reads as NumPy does: ints, slices that step forward, None, `...`, int64 arrays side by side, or one mask."""
    if sum(isinstance(part, ast.Constant) and part.value is None for part in key_parts(index)) > 32:
        return False  # NumPy has arrays of 64 axes and no more
    advanced = dots = 0
    basic_after = apart = masks = False
    last = -1
    for place, part in enumerate(key_parts(index)):
        fact = facts.get(part, UNKNOWN)
        dots += isinstance(part, ast.Constant) and part.value is Ellipsis
        if isinstance(part, ast.Slice):
            if not _forward(part, facts):
                return False
        elif fact.kind == "array" and fact.dtype in ("int64", "bool") and fact.rank:
            apart = apart or (advanced > 0 and (last != place - 1 or fact.dtype != "int64"))
            advanced, last = advanced + 1, place
            masks = masks or fact.dtype == "bool"
        elif fact.kind == "number" and fact.dtype == "int":
            basic_after = True
        elif not (fact.kind == "none" or (isinstance(part, ast.Constant) and part.value is Ellipsis)):
            return False
    return dots <= 1 and (advanced == 0 or (not basic_after and not apart and (advanced == 1 or not masks)))


def _forward(part: ast.Slice, facts: dict[ast.AST, Fact]) -> bool:
    bounds = [facts.get(p, UNKNOWN) for p in (part.lower, part.upper) if p is not None]
    if any(not (b.kind == "none" or (b.kind == "number" and b.dtype == "int")) for b in bounds):
        return False
    step = facts.get(part.step, UNKNOWN) if part.step is not None else None
    return step is None or (isinstance(step.value, int) and step.value > 0)


def flip(index: ast.expr, facts: dict[ast.AST, Fact]) -> list[int] | None:
    """The axes of a key made of `:`, `::-1` and at most one `...`, which is a flip; None for all other keys."""
    parts = key_parts(index)
    dots = [i for i, p in enumerate(parts) if isinstance(p, ast.Constant) and p.value is Ellipsis]
    if len(dots) > 1:
        return None
    axes = []
    for place, part in enumerate(parts):
        if place in dots:
            continue
        if not isinstance(part, ast.Slice) or part.lower is not None or part.upper is not None:
            return None
        if part.step is not None:
            if facts.get(part.step, UNKNOWN).value != -1:
                return None
            axes.append(place - len(parts) if dots and place > dots[0] else place)
    return axes or None
