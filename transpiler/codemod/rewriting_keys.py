"""Keys of dicts and elements of sets: tensors are hashed by what they are, NumPy's scalars by their value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..source.reading.walking import walk

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions


def hashes_arrays(r: Expressions, e: ast.expr) -> bool:
    """Whether a dict, a set or a comprehension of either may hash NumPy's scalars, which it does by their value."""
    unpacked = [v.value for v in e.elts if isinstance(v, ast.Starred)] if isinstance(e, ast.Set) else []
    return any(r.is_key(k) and not _is_key_already(e, k) for k in _hashed(e)) or any(
        r.fact(v).kind not in ("text", "number", "name") for v in unpacked
    )


def _hashed(e: ast.expr) -> list[ast.expr]:
    if isinstance(e, ast.Dict):
        return [k for k in e.keys if k is not None]
    if isinstance(e, ast.Set):
        return [v for v in e.elts if not isinstance(v, ast.Starred)]
    return [e.key] if isinstance(e, ast.DictComp) else [e.elt] if isinstance(e, ast.SetComp) else []


def _is_key_already(e: ast.expr, key: ast.expr) -> bool:
    """The name of a key that the comprehension takes out of a dict: `{k: f(v) for k, v in d.items()}`."""
    for loop in getattr(e, "generators", []):
        pair = isinstance(loop.target, ast.Tuple)
        first = loop.target.elts[0] if pair else loop.target
        calls = {n.func.attr for n in walk(loop.iter) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
        if isinstance(first, ast.Name) and isinstance(key, ast.Name) and first.id == key.id and ("items" if pair else "keys") in calls:
            return True
    return False
