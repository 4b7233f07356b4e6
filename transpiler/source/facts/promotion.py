"""NumPy's promotion (NEP 50) on dtype names, for the static half, which does not import NumPy.

Tested against `numpy.result_type` for every pair.
"""

from __future__ import annotations

import re

ASSUMED = "floating"
WEAK = ("int", "real", "float", "complex")
_FLOATS = ("float16", "float32", "float64")
_COMPLEX_OF = {"float16": "complex64", "float32": "complex64", "float64": "complex128"}
_PART_OF = {"complex64": "float32", "complex128": "float64"}


def promote(*dtypes: str) -> str | None:
    """The common dtype of dtype names; `int`, `float`, `complex` are weak Python numbers, `real` an int or a float. None where not known.

    `bool` is NumPy's and Python's alike. `floating` is a float dtype that is not known but the same wherever it is said."""
    strong = [d for d in dtypes if d not in WEAK]
    if not strong:
        return {"int": "int64", "float": "float64", "complex": "complex128"}.get(max(dtypes, key=WEAK.index))
    common: str | None = strong[0]
    for d in strong[1:]:
        common = None if common is None else _pair(common, d)
    for weak in (d for d in dtypes if d in WEAK):
        common = None if common is None else _with_weak(common, weak)
    return common


def inexact(dtype: str) -> str:
    """The float dtype in which NumPy computes means of `dtype`: floats stay, ints and bool become float64."""
    return dtype if dtype.startswith(("float", "complex")) else "float64"


def _split(dtype: str) -> tuple[str, int] | None:
    found = re.fullmatch(r"(bool|u?int|float|complex)(\d*)", dtype)
    return (found[1], int(found[2] or 8)) if found else None


def _pair(a: str, b: str) -> str | None:
    if a == b:
        return a
    if ASSUMED in (a, b):
        return ASSUMED if "bool" in (a, b) else None
    left, right = _split(a), _split(b)
    if left is None or right is None:
        return None
    (kind_a, bits_a), (kind_b, bits_b) = left, right
    if "complex" in (kind_a, kind_b):
        parts = [_PART_OF.get(d, d) for d in (a, b)]
        common = _pair(*parts)
        return _COMPLEX_OF.get(common or "", "complex128")
    if "float" in (kind_a, kind_b):
        return _FLOATS[max(_float_rank(kind_a, bits_a), _float_rank(kind_b, bits_b))]
    if kind_a == "bool":
        return b
    if kind_b == "bool":
        return a
    if kind_a == kind_b:
        return a if bits_a > bits_b else b
    unsigned, signed = (bits_a, bits_b) if kind_a == "uint" else (bits_b, bits_a)
    if signed > unsigned:
        return f"int{signed}"
    return "float64" if unsigned == 64 else f"int{unsigned * 2}"


def _float_rank(kind: str, bits: int) -> int:
    """Position in _FLOATS of the smallest float that holds all values of a dtype."""
    if kind == "float":
        return _FLOATS.index(f"float{bits}")
    return 0 if kind == "bool" or bits == 8 else 1 if bits == 16 else 2


def _with_weak(dtype: str, weak: str) -> str | None:
    if dtype == ASSUMED:
        return None if weak == "complex" else ASSUMED
    kind = _split(dtype)
    if kind is None:
        return None
    if weak == "int":
        return "int64" if dtype == "bool" else dtype
    if weak == "real":
        return dtype if kind[0] in ("float", "complex") else None
    if weak == "float":
        return dtype if kind[0] in ("float", "complex") else "float64"
    if kind[0] == "complex":
        return dtype
    return _COMPLEX_OF[dtype] if kind[0] == "float" else "complex128"
