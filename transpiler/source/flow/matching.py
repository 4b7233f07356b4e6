"""The patterns of `match`: classes that arrays and NumPy's scalars are of, as tensors answer to them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..facts.known import Fact
from ..reading.walking import walk

if TYPE_CHECKING:
    from ...codemod.rewriting import Rewriter

_SHARED = ("shape", "ndim")
"""Attributes that an array and a tensor have alike."""
_PLAIN = frozenset(("bool", "bytearray", "bytes", "dict", "frozenset", "int", "list", "object", "range", "set", "slice", "str", "tuple"))
"""Python's own classes that no array and no NumPy scalar is of, and `object`, of which each is."""


def convert_patterns(r: Rewriter, s: ast.Match) -> None:
    """The edits of a `match` for the classes in its patterns; findings for those of which a tensor does not know whether it is one."""
    for guard in filter(None, (case.guard for case in s.cases)):
        r.piece(guard, r.text(guard))
    if r.fact(s.subject).kind in ("text", "none", "dtype", "name"):
        return
    for pattern in (p for case in s.cases for p in walk(case.pattern)):
        if isinstance(pattern, ast.MatchClass):
            _class(r, pattern)


def _class(r: Rewriter, pattern: ast.MatchClass) -> None:
    name = str(_meaning(r, pattern.cls).value)
    module, _, last = name.rpartition(".")
    asked = next((a for a in pattern.kwd_attrs if r.computes(a)), None)
    if asked is not None:
        r.refuse("not-rewritten", pattern, f"`{asked}` is computed by a class", "ask with `isinstance`, and read it then")
    if name == "None" or (module == "builtins" and last in _PLAIN):
        return
    if module != "numpy" and name not in ("builtins.float", "builtins.complex"):
        if module in ("numbers", "typing", "collections.abc"):
            r.refuse("not-rewritten", pattern, f"whether a tensor is a `{ast.unparse(pattern.cls)}` is not known", "ask with `isinstance`")
        return
    other = next((a for a in pattern.kwd_attrs if a not in _SHARED), None)
    if other is not None:
        message = f"a tensor has no `{other}` that this pattern could be held against"
        r.refuse("not-rewritten", pattern, message, f"write `case {ast.unparse(pattern.cls)}() as x if x.{other} == ...`")
    elif pattern.patterns:
        captured = pattern.patterns[0]
        if module == "numpy" or len(pattern.patterns) > 1 or not isinstance(captured, ast.MatchAs) or captured.pattern is not None:
            r.refuse("not-rewritten", pattern, "what this pattern looks at is not known of a tensor", f"write `case {last}() as x`")
        else:
            suffix = f" as {captured.name}" if captured.name is not None else ""
            r.piece(pattern, f"({r.ops_name}.kinds.{last}(){suffix})")
            r.imported.add("ops")
    else:
        r.piece(pattern.cls, f"{r.ops_name}.kinds.{last}")
        r.imported.add("ops")


def _meaning(r: Rewriter, e: ast.expr) -> Fact:
    """What the name of a class in a pattern means: its qualified name, or nothing that is known."""
    if isinstance(e, ast.Name):
        return r.resolve(e) if e.id not in r.own_names else Fact()
    owner = _meaning(r, e.value) if isinstance(e, ast.Attribute) else Fact()
    return Fact("name", value=f"{owner.value}.{e.attr}") if owner.kind == "name" and isinstance(e, ast.Attribute) else Fact()
