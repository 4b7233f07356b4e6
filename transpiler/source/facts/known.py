"""Facts: what is known of an expression before it runs, what is certain of two of them, and what operators make of them.

A fact never guesses: what is not certain is `UNKNOWN`, a missing rank or a missing dtype.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .promotion import ASSUMED, inexact, promote

NUMBERS = ("bool", "int", "real", "float", "complex")


@dataclass(frozen=True)
class Fact:
    """What is known of one value.

    kind    array (NumPy's ndarray, a tensor), scalar (NumPy's scalar, a 0-d tensor), tensor (either of the two), number (a Python
            number), sequence (list or tuple), text, none, dtype, name (something imported: `value` is its qualified name),
            torch (a torch tensor in the original too, so torch's own semantics), either (an array or a torch tensor),
            function (a function of the user's), other (certainly no array), unknown
    dtype   NumPy's name of it for arrays and scalars; int, float, complex, bool, real (an int or a float) for numbers
    rank    number of dimensions of an array
    value   the value of a constant, or a qualified name; "container" for another one that may hold arrays (a dict, a set);
            "tuple" for a sequence that cannot change
    items   the facts of a sequence's items, where their number is known
    element what every item of a sequence is, where their number is not known
    fresh   no other value can share its memory
    least   the smallest that a Python int may be, where that is known
    """

    kind: str = "unknown"
    dtype: str | None = None
    rank: int | None = None
    value: Any = None
    items: tuple[Fact, ...] | None = None
    element: Fact | None = None
    fresh: bool = False
    least: int | None = None

    @property
    def is_tensor(self) -> bool:
        """Certainly a torch tensor in rewritten code."""
        return self.kind in ("array", "scalar", "tensor")

    @property
    def may_be_tensor(self) -> bool:
        return self.is_tensor or self.kind == "unknown"

    @property
    def may_lead_to_tensor(self) -> bool:
        """Whoever is given the value may get at a tensor: it may be one, hold some, or compute some where it is called."""
        return self.may_be_tensor or self.kind in ("sequence", "function") or self == CONTAINER

    @property
    def exact(self) -> bool:
        """dtype and rank are known."""
        return self.dtype is not None and self.rank is not None


UNKNOWN = Fact()
TORCH = Fact("torch")
EITHER = Fact("either")
OTHER = Fact("other")
CONTAINER = Fact("other", value="container")
NONE = Fact("none")
TEXT = Fact("text")


def array(dtype: str | None = None, rank: int | None = None, fresh: bool = False) -> Fact:
    return Fact("array", dtype, rank, fresh=fresh)


def result(dtype: str | None, rank: int | None) -> Fact:
    """What a NumPy function returns: an array, or a scalar where nothing is left of the dimensions."""
    if rank == 0:
        return Fact("scalar", dtype, 0, fresh=True)
    return array(dtype, rank, fresh=True) if rank is not None else Fact("tensor", dtype, fresh=True)


def number(dtype: str | None, value: Any = None) -> Fact:
    """The fact of a Python number. An int that no int64 holds has a dtype of its own: torch takes none of these."""
    if dtype == "int" and value is not None and not -(2**63) <= value < 2**63:
        dtype = None
    return Fact("number", dtype, value=value, least=value if dtype == "int" else None)


SIZE = Fact("number", "int", least=0)
"""A length, or the size of an axis."""


def name(qualified: str) -> Fact:
    return Fact("name", value=qualified)


def join(a: Fact, b: Fact) -> Fact:
    """What is certain of a value that is either."""
    if a == b:
        return a
    if a.is_tensor and b.is_tensor:
        dtype, rank = (getattr(a, f) if getattr(a, f) == getattr(b, f) else None for f in ("dtype", "rank"))
        return Fact(a.kind if a.kind == b.kind else "tensor", dtype, rank, fresh=a.fresh and b.fresh)
    if a.kind != b.kind:
        if {a.kind, b.kind} <= {"torch", "either", "array", "scalar", "tensor"}:
            return EITHER
        if a.may_be_tensor or b.may_be_tensor or {"name", "torch", "either"} & {a.kind, b.kind}:
            return UNKNOWN
        return CONTAINER if a.may_lead_to_tensor or b.may_lead_to_tensor else OTHER
    if CONTAINER in (a, b):
        return CONTAINER
    same = {f: getattr(a, f) if getattr(a, f) == getattr(b, f) else None for f in ("dtype", "rank", "value")}
    if a.kind in ("name", "dtype") and same["value"] is None:
        return UNKNOWN
    if a.kind == "sequence":
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            return Fact("sequence", items=tuple(map(join, a.items, b.items)))
        return Fact("sequence", element=joined([element_of(a), element_of(b)]))
    return Fact(a.kind, **same, fresh=a.fresh and b.fresh)


def joined(facts: Iterable[Fact]) -> Fact:
    found: Fact | None = None
    for f in facts:
        found = f if found is None else join(found, f)
    return found or UNKNOWN


def element_of(f: Fact) -> Fact:
    """What iterating over a value gives."""
    if f.kind == "sequence":
        return joined(f.items) if f.items is not None else f.element or UNKNOWN
    if f.kind == "array" and f.rank is not None and f.rank >= 1:
        return Fact("scalar", f.dtype, 0) if f.rank == 1 else array(f.dtype, f.rank - 1)
    return TEXT if f.kind == "text" else f if f.kind in ("torch", "either") else UNKNOWN


def of_value(value: Any) -> Fact:
    """The fact of a Python literal."""
    if isinstance(value, (bool, int, float, complex)):
        return number(type(value).__name__, value)
    if value is None:
        return NONE
    return Fact("text", value=value) if isinstance(value, (str, bytes)) else OTHER


OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide", ast.Mod: "remainder",
    ast.Pow: "power", ast.MatMult: "matmul", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift", ast.RShift: "right_shift", ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert",
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip
"""Python's data model: the ufunc that each operator is on arrays."""

COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def operated(ufunc: str, *operands: Fact) -> Fact:
    """What an operator (or its ufunc) gives. Python numbers are weak, 0-d tensors are not."""
    if any(o.kind == "torch" for o in operands):
        return TORCH
    if any(o.kind == "either" for o in operands):
        return EITHER
    if any(not o.is_tensor and o.kind != "number" for o in operands):
        kinds = {o.kind for o in operands}
        if ufunc == "multiply" and kinds & {"text", "sequence", "unknown"} and "array" not in kinds:
            return UNKNOWN  # `[0] * n` with a NumPy integer is a list
        if any(o.is_tensor for o in operands):
            return Fact("tensor", "bool" if ufunc in COMPARISONS else None, fresh=True)
        if any(o.may_be_tensor or o.kind in ("number", "name") for o in operands):
            return UNKNOWN
        return CONTAINER if any(o.may_lead_to_tensor for o in operands) else OTHER
    if all(o.kind == "number" for o in operands):
        return _of_numbers(ufunc, operands)
    ranks = [0 if o.kind in ("number", "scalar") else o.rank for o in operands]
    rank = None if any(r is None for r in ranks) else max(r for r in ranks if r is not None)
    if ufunc == "matmul":
        rank = _matmul_rank(ranks)
    if ufunc == "power" and operands[0].dtype == "bool" and may_square(*operands):
        return result("int8" if operands[0].kind == "array" and operands[1].value == 2 else None, rank)
    return result(_result_dtype(ufunc, operands), rank)


def may_square(base: Fact, exponent: Fact) -> bool:
    """Whether `base ** exponent` may be `np.square(base)`, which is int8 for bools: of an array and the Python number 2 it is."""
    may_be_two = not exponent.is_tensor and (exponent.kind != "number" or exponent.value in (None, 2))
    return base.kind != "scalar" and base.dtype in ("bool", None) and may_be_two


def _of_numbers(ufunc: str, operands: tuple[Fact, ...]) -> Fact:
    if ufunc in COMPARISONS:
        return number("bool")
    kinds = [o.dtype for o in operands]
    if any(k is None for k in kinds) or ufunc == "power":
        return number(None)
    if ufunc == "divide":
        return number("complex" if "complex" in kinds else "float")
    widest = max(kinds, key=lambda k: NUMBERS.index(k or "bool"))
    return number("int" if widest == "bool" else widest)


def _matmul_rank(ranks: list[int | None]) -> int | None:
    a, b = ranks
    if a is None or b is None or not a or not b:
        return None
    if a == 1 or b == 1:
        return a + b - 2
    return max(a, b)


def _result_dtype(ufunc: str, operands: tuple[Fact, ...]) -> str | None:
    if ufunc in COMPARISONS:
        return "bool"
    if any(o.dtype is None for o in operands):
        return None
    common = promote(*(o.dtype for o in operands if o.dtype is not None))
    if common is None:
        return None
    if ufunc == "divide":
        floats = ("float16", "float32", "float64", "complex64", "complex128", ASSUMED)
        return inexact(common) if common in floats else "float64"
    if common == "bool" and ufunc in ("floor_divide", "remainder", "power", "left_shift", "right_shift"):
        return "int8"
    return common


def key_parts(key: ast.expr) -> list[ast.expr]:
    """The parts of an index: one for each comma."""
    return list(key.elts) if isinstance(key, ast.Tuple) else [key]


def indexed(owner: Fact, key: ast.expr, facts: dict[ast.AST, Fact]) -> Fact:
    """What indexing an array of known rank gives, for keys of ints, slices, None and `...`; one lone index array or mask."""
    assert owner.rank is not None
    parts = key_parts(key)
    taken = removed = added = 0
    ellipsis = False
    advanced: list[Fact] = []
    for part in parts:
        fact = facts.get(part, UNKNOWN)
        if isinstance(part, ast.Slice):
            taken += 1
        elif isinstance(part, ast.Constant) and part.value is Ellipsis:
            ellipsis = True
        elif fact.kind == "none":
            added += 1
        elif fact.kind == "number" and fact.dtype == "int":
            taken, removed = taken + 1, removed + 1
        elif fact.kind == "array" and fact.dtype is not None and fact.rank:
            advanced.append(fact)
            taken += fact.rank if fact.dtype == "bool" else 1
        else:
            return Fact("tensor", owner.dtype)
    if taken > owner.rank:
        return Fact("tensor", owner.dtype)
    if len(advanced) > 1 and not removed and all(f.dtype == "int64" and f.rank is not None for f in advanced):
        rank = owner.rank - len(advanced) + max(f.rank or 0 for f in advanced) + added  # wherever they end up
        return array(owner.dtype, rank, fresh=True)
    if len(advanced) > 1 or (advanced and removed):
        return Fact("tensor", owner.dtype, fresh=True)
    if advanced:
        gone = advanced[0].rank if advanced[0].dtype == "bool" else 1
        back = 1 if advanced[0].dtype == "bool" else advanced[0].rank
        assert gone is not None and back is not None
        return array(owner.dtype, owner.rank - gone + back + added, fresh=True)
    rank = owner.rank - removed + added
    if rank == 0 and not ellipsis:
        return Fact("scalar", owner.dtype, 0, fresh=True)
    return array(owner.dtype, rank)
