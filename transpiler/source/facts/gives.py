"""What NumPy's functions give beyond what the kind of their rule says: ranks and dtypes of what is made, joined, multiplied, reduced."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...codemod.plain import COMPUTED, FLOATS, INTEGERS
from .known import Fact, array, number, result
from .promotion import promote

_STRONG = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}
"""What Python's numbers are as elements of an array."""


def gives(name: str, args: list[Fact], given: dict[str | None, ast.expr], dtype: Callable[[int], str | None]) -> Fact | None:
    """The fact of a call's result by the function's qualified name; None where nothing more is known.

    given  the keywords of the call
    dtype  the dtype that the call is given, at a position or by keyword"""
    make = _MAKERS.get(name.removeprefix("numpy."))
    return make(args, given, dtype) if make is not None else None


_Given = dict["str | None", ast.expr]
_Dtype = Callable[[int], "str | None"]


def _array(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if not args or len(args) > 2 or not set(given) <= {"dtype"}:
        return None
    named = len(args) == 2 or "dtype" in given
    if args[0].kind in ("array", "scalar"):
        return array(dtype(1) if named else args[0].dtype, args[0].rank, fresh=True)
    found = nested(args[0])
    if found is None and named and args[0].kind in ("unknown", "sequence") and (asked := dtype(1)) in COMPUTED:
        return array(asked, None, fresh=True)  # whatever it is of
    return None if found is None else array(dtype(1) if named else found.dtype, found.rank, fresh=True)


def nested(fact: Fact) -> Fact | None:
    """The array that a list becomes, of which every item is known."""
    if fact.kind == "number":
        return array(_STRONG.get(fact.dtype or ""), 0)
    if fact.kind in ("array", "scalar"):
        return array(fact.dtype, fact.rank)
    if fact.kind == "sequence" and fact.items is None and fact.element is not None:
        found = nested(fact.element)
        return None if found is None or found.rank is None else array(found.dtype, found.rank + 1)
    if fact.kind != "sequence" or not fact.items:
        return None
    items = [nested(i) for i in fact.items]
    ranks = {None if i is None else i.rank for i in items}
    if len(ranks) > 1 or None in ranks:
        return None
    return array(_promoted([i for i in items if i is not None]), ranks.pop() + 1)  # type: ignore[operator]


def _promoted(facts: list[Fact]) -> str | None:
    dtypes = [f.dtype for f in facts]
    return promote(*dtypes) if None not in dtypes else None  # type: ignore[arg-type]


def _product(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if len(args) != 2 or given or not all(a.kind == "array" and a.rank for a in args):
        return None
    a, b = (a.rank or 0 for a in args)
    rank = a + b - 2 if a == 1 or b <= 2 else None
    return result(_promoted(args), rank)


def _cross(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    known = len(args) == 2 and not given and all(a.is_tensor for a in args)
    return Fact("tensor", _promoted(args), fresh=True) if known else None  # how many dimensions hangs on the sizes


def _diff(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if len(args) != 1 or not set(given) <= {"n", "axis"} or args[0].kind != "array":
        return None
    return array(args[0].dtype if args[0].dtype != "bool" else None, args[0].rank)  # n=0 gives the array itself


def _meshgrid(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if not args or not set(given) <= {"indexing"} or not all(a.kind == "array" and a.rank == 1 for a in args):
        return None
    return Fact("sequence", items=tuple(array(a.dtype, max(len(args), 1), fresh=True) for a in args))


def _arange(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if given or not 1 <= len(args) <= 3 or not all(a.kind == "number" and a.dtype in ("int", "float") for a in args):
        return None
    return array("float64" if any(a.dtype == "float" for a in args) else "int64", 1, fresh=True)


def _linspace(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    known = 2 <= len(args) <= 3 and not given and all(a.kind == "number" and a.dtype in ("int", "real", "float") for a in args)
    return array("float64", 1, fresh=True) if known else None


def _joined(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    """Arrays of one rank, end to end. A list of numbers among them is an array too."""
    if len(args) != 1 or not set(given) <= {"axis"} or args[0].kind != "sequence" or not args[0].items:
        return None
    parts = [nested(i) for i in args[0].items]
    axis = given.get("axis")
    if any(p is None or not p.rank for p in parts) or (axis is not None and not _is_int(axis)):
        return None
    ranks = {p.rank for p in parts if p is not None}
    return array(_promoted([p for p in parts if p is not None]), ranks.pop(), fresh=True) if len(ranks) == 1 else None


def _hstack(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    return _joined(args, given, dtype) if not given else None


def _stack(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    axis = given.get("axis")
    if len(args) != 1 or not set(given) <= {"axis"} or (axis is not None and not _is_int(axis)):
        return None
    return array(found.dtype, found.rank, fresh=True) if (found := nested(args[0])) is not None else None


def _is_int(e: ast.expr) -> bool:
    e = e.operand if isinstance(e, ast.UnaryOp) else e
    return isinstance(e, ast.Constant) and type(e.value) is int


def _take(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if len(args) != 2 or set(given) != {"axis"} or not all(a.kind == "array" and a.rank for a in args):
        return None
    none = isinstance(given["axis"], ast.Constant) and given["axis"].value is None
    return None if none else array(args[0].dtype, args[0].rank + args[1].rank - 1, fresh=True)  # type: ignore[operator]


def _round(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    known = len(args) in (1, 2) and set(given) <= {"decimals"} and args[0].kind in ("array", "scalar") and args[0].dtype in FLOATS
    return result(args[0].dtype, args[0].rank) if known else None


def _append(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    parts = [nested(a) for a in args]
    known = len(args) == 2 and not given and None not in parts
    return array(_promoted([p for p in parts if p is not None]), 1, fresh=True) if known else None


def _padded(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    return array(args[0].dtype, args[0].rank, fresh=True) if args and args[0].kind == "array" and args[0].rank else None


def _rolled(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    known = len(args) in (2, 3) and set(given) <= {"axis"} and args[0].kind == "array" and args[0].rank
    return array(args[0].dtype, args[0].rank, fresh=True) if known else None


def _interp(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if len(args) != 3 or given or not all(a.kind == "array" and a.dtype in COMPUTED for a in args):
        return None
    return array("float64", args[0].rank, fresh=True) if args[0].rank else None


def _where(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    """Three arguments, broadcast and promoted; of no array at all an array without dimensions."""
    if len(args) != 3 or given or not all(a.is_tensor or a.kind == "number" for a in args):
        return None
    ranks = [0 if a.kind in ("scalar", "number") else a.rank for a in args]
    values = [a.dtype for a in args[1:]]
    both = all(a.kind == "number" for a in args[1:])
    found = None if None in values or "real" in values else promote(*values)  # type: ignore[arg-type]
    found = {"bool": None}.get(found or "", found) if both else found
    if None in ranks or max(r for r in ranks if r is not None) == 0:
        return Fact("tensor", found, fresh=True) if None in ranks else array(found, 0, fresh=True)
    return array(found, max(r for r in ranks if r is not None), fresh=True)


def _argsort(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    if len(args) != 1 or not set(given) <= {"axis", "kind"} or args[0].kind != "array" or not args[0].rank:
        return None
    axis = given.get("axis")
    return array("int64", args[0].rank, fresh=True) if axis is None or _is_int(axis) else None


def _outer(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    known = len(args) == 2 and not given and all(a.kind == "array" for a in args)
    return array(_promoted(args), 2, fresh=True) if known else None


def _inverse(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    known = len(args) == 1 and not given and args[0].kind == "array" and args[0].rank and args[0].dtype in FLOATS
    return array(args[0].dtype, args[0].rank, fresh=True) if known else None


def _close(args: list[Fact], given: _Given, dtype: _Dtype) -> Fact | None:
    return number("bool")


_MAKERS: dict[str, Callable[[list[Fact], _Given, _Dtype], Fact | None]] = {
    "array": _array, "asarray": lambda a, g, d: _unsure(_array(a, g, d)), "dot": _product, "cross": _cross, "diff": _diff,
    "meshgrid": _meshgrid, "arange": _arange, "linspace": _linspace, "concatenate": _joined, "hstack": _hstack, "stack": _stack,
    "take": _take, "round": _round, "around": _round, "append": _append, "pad": _padded, "roll": _rolled, "interp": _interp,
    "where": _where,
    "argsort": _argsort, "outer": _outer, "linalg.inv": _inverse, "linalg.pinv": _inverse, "allclose": _close, "array_equal": _close,
}  # fmt: skip


def _unsure(fact: Fact | None) -> Fact | None:
    """An array that may be the one that was given."""
    return None if fact is None else array(fact.dtype, fact.rank)


def reduced(short: str, dtype: str | None) -> str | None:
    """The dtype of what NumPy reduces an array of a dtype to; None where that is not known."""
    if dtype in FLOATS or dtype is None:
        return dtype
    if short in ("mean", "std", "var", "median", "nanmean", "nanstd", "nanvar"):
        return "float64" if dtype in INTEGERS or dtype == "bool" else None
    if short in ("sum", "prod", "nansum"):
        return "int64" if dtype == "bool" or (dtype in INTEGERS and dtype[0] == "i") else None
    return dtype if short in ("min", "max", "amin", "amax") and dtype in COMPUTED else None
