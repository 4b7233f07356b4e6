"""The ways through a node that branches on values: `np2fx.trace` records them all, and chooses, where all of them give the same
structure, shapes and dtypes. What certainly does not is a finding."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from ..facts.values import Value, join


@dataclass(frozen=True)
class Torn:
    """The `constant` of a value that has another shape, dtype or kind on the two ways of a branch. `why` says which."""

    test: ast.expr
    why: str


def chosen(test: ast.expr, a: Value, b: Value) -> Value:
    """What is certain of a value that a branch on array values decides."""
    why = apart(a, b)
    held = next((v.constant for v in (a, b) if isinstance(v.constant, Torn)), None)
    found = join(a, b)
    return replace(found, constant=Torn(test, why) if why else held or found.constant)


def apart(a: Value, b: Value) -> str:
    """How two results certainly differ in structure, rank or dtype; "" where they may be alike."""
    if a.assumed or b.assumed or "unknown" in (a.kind, b.kind):
        return ""
    if a.is_array and b.is_array:
        ranks = a.rank is not None and b.rank is not None and a.rank != b.rank
        dtypes = a.dtype is not None and b.dtype is not None and a.dtype != b.dtype
        return f"one way gives {_told(a)}, another {_told(b)}" if ranks or dtypes else ""
    if {a.kind, b.kind} == {"array", "number"}:
        rank = a.rank if a.is_array else b.rank
        return f"one way gives an array of rank {rank}, another a number" if rank else ""
    if a.kind == b.kind == "sequence":
        if a.items is None or b.items is None:
            return ""
        if len(a.items) != len(b.items):
            return f"one way gives {len(a.items)} values, another {len(b.items)}"
        return next((why for v, w in zip(a.items, b.items, strict=True) if (why := apart(v, w))), "")
    if a.kind == b.kind == "text":
        texts = isinstance(a.constant, str) and isinstance(b.constant, str) and a.constant != b.constant
        return f"one way gives {a.constant!r}, another {b.constant!r}" if texts else ""
    kinds = ("array", "number", "text", "none", "sequence", "mapping")
    return f"one way gives {_KINDS[a.kind]}, another {_KINDS[b.kind]}" if a.kind != b.kind and {a.kind, b.kind} <= set(kinds) else ""


_KINDS = {
    "array": "an array", "number": "a number", "text": "a text", "none": "None", "sequence": "a list or tuple", "mapping": "a dict",
}  # fmt: skip


def _told(value: Value) -> str:
    dtype = value.dtype or "an array"
    return dtype if value.rank is None else f"{dtype} of rank {value.rank}"


def torn(value: Value) -> Torn | None:
    """The branch that tears a result, or a part of it."""
    if isinstance(value.constant, Torn):
        return value.constant
    return next((found for v in value.items or () if (found := torn(v)) is not None), None)


@dataclass(frozen=True)
class Fork:
    """A branch on array values in a node: the places of its arms' `return`s among those of the node."""

    test: ast.expr
    arms: tuple[range, ...]

    def why(self, returns: list[Value]) -> str:
        """How what an arm returns certainly differs from all that the node returns elsewhere."""
        for arm in self.arms:
            others = [v for n, v in enumerate(returns) if n not in arm]
            pairs = [apart(returns[n], other) for n in arm for other in others]
            if pairs and all(pairs):
                return pairs[0]
        return ""


def ends_openly(body: list[ast.stmt]) -> bool:
    """Whether a function certainly may come to its end, and give None."""
    last = body[-1]
    return isinstance(last, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or (isinstance(last, ast.If) and not last.orelse)
