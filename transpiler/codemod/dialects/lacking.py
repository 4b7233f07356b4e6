"""Which fact was missing where a function did not come out as plain torch: the words in which that is told."""

from __future__ import annotations

import ast

from ...source.facts.known import Fact
from ...source.reading.text import sub_expressions
from ..rewriting_expressions import Expressions


def missing(r: Expressions, undeclared: list[str]) -> str:
    """The first place of a function that is no plain torch, and what is not known there. `undeclared`: parameters that may be anything."""
    if r.open_at is None:
        return "its facts leave open what some of its values are"
    shown = " ".join(r.source.of(r.open_at).split()) if isinstance(r.open_at, (ast.expr, ast.stmt)) else ""
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    lacks = [text for e in _parts(r.open_at) if (text := _lacks(r, e))]
    if undeclared and lacks:
        why = f"declare what {', '.join(f'`{n}`' for n in undeclared)} {'is' if len(undeclared) == 1 else 'are'}"
    else:
        why = f"nothing says {lacks[0]}" if lacks else "torch does this differently"
    return f"{why} (line {getattr(r.open_at, 'lineno', 0)}: `{shown}`)"


def _parts(node: ast.AST) -> list[ast.expr]:
    """What the meaning of a construct hangs on: names first, then what is computed."""
    found = [e for e in sub_expressions(node) if not isinstance(e, (ast.Constant, ast.Slice))]
    inner = [e.func.value for e in found if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute)]
    found += [e.value for e in found if isinstance(e, ast.Attribute)] + inner
    return sorted(found, key=lambda e: not isinstance(e, ast.Name))


def _lacks(r: Expressions, e: ast.expr) -> str:
    fact: Fact = r.fact(e)
    shown = f"`{' '.join(r.source.of(e).split())}`"
    if len(shown) > 40:
        return ""
    if fact.kind in ("unknown", "tensor") and fact.may_be_tensor:
        return f"what {shown} is"
    if fact.kind == "array" and fact.dtype is None:
        return f"the dtype of {shown}"
    return f"the rank of {shown}" if fact.kind == "array" and fact.rank is None else ""
