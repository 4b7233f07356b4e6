"""Lists that NumPy makes arrays of: `torch.tensor` of numbers, `torch.stack` of scalars, of rows and of arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..source.facts.gives import nested
from ..source.facts.known import Fact
from ..source.facts.promotion import promote
from ..source.reading.text import splice
from .plain import COMPUTED, FLOATS, INTEGERS

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions


def tensor_of(r: Expressions, e: ast.expr, dtype: str | None = None, spelled: str = "") -> str | None:
    """The text of the tensor that `np.array(e)` is; None where that cannot be said plainly.

    dtype, spelled  the dtype that is asked for, and how: "float32", "q.dtype" """
    made = nested(r.fact(e))
    dtype = dtype or (made.dtype if made is not None else None)
    if made is None or not made.rank or dtype not in COMPUTED or r.torch_name != "torch":
        return None
    if not all(_fits(leaf, dtype) for leaf in _leaves(r, e)):
        return None
    r.imported.add("torch")
    return _text(r, e, dtype, spelled or f"torch.{dtype}")


def _text(r: Expressions, e: ast.expr, dtype: str, spelled: str) -> str:
    leaves = list(_leaves(r, e))
    if all(leaf.kind == "number" for leaf in leaves):
        return f"torch.tensor({r.argument(e)}, dtype={spelled})"
    if isinstance(e, (ast.List, ast.Tuple)):
        start, end = r.source.span(e)
        rows = [_text(r, i, dtype, spelled) for i in e.elts]
        if "\n" not in r.source.of(e) and sum(map(len, rows)) > 80 and any(isinstance(i, (ast.List, ast.Tuple)) for i in e.elts):
            indent = r.source.newline + r.indent
            return f"torch.stack([{''.join(f'{indent}    {row},' for row in rows)}{indent}])"
        return f"torch.stack({splice(r.source, start, end, [(*r.source.span(i), _text(r, i, dtype, spelled)) for i in e.elts])})"
    fact, text = r.fact(e), r.text(e)
    if fact.kind == "sequence":
        return f"torch.stack({text})" if leaves[0].dtype == dtype else f"torch.stack({text}).to({spelled})"
    return text if fact.dtype == dtype else f"{text if isinstance(e, _ATOMS) else f'({text})'}.to({spelled})"


_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)


def _leaves(r: Expressions, e: ast.expr) -> Iterator[Fact]:
    """What stands in the lists of a display; of a list with a name, what all its items are."""
    if isinstance(e, (ast.List, ast.Tuple)):
        for item in e.elts:
            yield from _leaves(r, item)
    else:
        yield from _items(r.fact(e))


def _items(fact: Fact) -> Iterator[Fact]:
    if fact.kind != "sequence":
        yield fact
    for item in fact.items or ((fact.element,) if fact.element is not None else ()) if fact.kind == "sequence" else ():
        yield from _items(item)


def _fits(leaf: Fact, dtype: str) -> bool:
    """Whether torch turns an item into the dtype as NumPy does."""
    if leaf.is_tensor:
        return leaf.dtype == dtype or (leaf.dtype in COMPUTED and dtype in FLOATS)
    if leaf.kind != "number":
        return False
    if dtype in FLOATS:
        return leaf.dtype in ("bool", "int", "real", "float")
    if dtype in INTEGERS and isinstance(leaf.value, int):
        low, high = INTEGERS[dtype]
        return low <= leaf.value < high
    return leaf.dtype == "bool" if dtype == "bool" else leaf.dtype == "int" and dtype == "int64"


def joined(r: Expressions, e: ast.expr) -> tuple[str, Fact] | None:
    """A display of things to join, with tensors in place of the lists in it: its text, and what is known of it."""
    if not isinstance(e, (ast.List, ast.Tuple)):
        return None
    start, end = r.source.span(e)
    pieces, items = [], []
    for item in e.elts:
        fact, text = r.fact(item), r.text(item)
        if fact.kind in ("sequence", "number"):
            made = nested(fact)
            new = tensor_of(r, item) if fact.kind == "sequence" else None
            if new is None or made is None:
                return None
            fact, text = made, new
        items.append(fact)
        pieces.append((*r.source.span(item), text))
    return splice(r.source, start, end, pieces), Fact("sequence", items=tuple(items))


def promoted(dtypes: set[str | None]) -> bool:
    """Whether torch joins arrays of these dtypes in the dtype that NumPy joins them in."""
    if None in dtypes or len(dtypes) == 1:
        return None not in dtypes
    known = [str(d) for d in dtypes]
    if not set(known) <= {*INTEGERS, "bool", "float32", "float64"}:
        return False
    floats = sorted(d for d in known if d in FLOATS)
    return promote(*known) == floats[-1] if floats else promote(*known) in INTEGERS
