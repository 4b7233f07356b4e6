"""F-strings: text shows NumPy's values, so what may be a tensor is shown as NumPy would hold it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from ..source.reading.text import Source, splice
from ..source.reading.walking import walk

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions

_SHOWN = re.compile(r"[\s)]*=\s*(?=[!:}])")
"""What follows the value of `{x = }`, which says its own source too."""


def formatted(r: Expressions, e: ast.JoinedStr) -> str | None:
    """The new text of an f-string; None where it stays."""
    changed: list[tuple[ast.FormattedValue, str]] = []
    for part in walk(e):
        if not isinstance(part, ast.FormattedValue):
            continue
        fact = r.fact(part.value)
        text, old = r.text(part.value), r.source.of(part.value)
        if fact.kind in ("number", "text", "none") and text == old:
            continue
        if not _same_expression(old, part.value):
            r.leave(e)
            return r.source.of(e)
        new = text if fact.kind in ("number", "text", "none", "other") else r.shown(part.value)
        fitting = _within_quotes(new, r.source.of(e))
        if fitting is None:
            r.leave(e)
            return r.source.of(e)
        if new != old:
            changed.append((part, fitting))
    if not changed:
        return None
    for escaped in (False, True):
        pieces = [_spelled_out(r.source, part, new, escaped) for part, new in changed]
        inner = [p for p in pieces if not any(o is not p and o[0] <= p[0] and p[1] <= o[1] for o in pieces)]
        made = splice(r.source, *r.source.span(e), inner)
        if _says_the_same(made, e):
            return made
    r.leave(e)
    return r.source.of(e)


def _spelled_out(source: Source, part: ast.FormattedValue, new: str, escaped: bool) -> tuple[int, int, str]:
    """The edit for one value. `{x.std()=}` shows its source, which stands as text before it where the new source is another."""
    start, end = source.span(part.value)
    behind = _SHOWN.match(source.bytes[end:].decode("utf-8"))
    if behind is None:
        return start, end, new
    opening, stop = source.bytes.rindex(b"{", 0, start), end + len(behind.group().encode())
    shown = source.slice(opening + 1, stop).replace("{", "{{").replace("}", "}}")
    if escaped:
        shown = re.sub(r"""[\\"']""", r"\\\g<0>", shown).replace("\n", "\\n")
    conversion = "!r" if part.conversion == ord("r") and source.slice(stop, stop + 1) != "!" else ""
    value = source.slice(opening + 1, start) + new + behind.group().partition("=")[0].rstrip()
    return opening, stop, f"{shown}{{{value}{conversion}"


def _says_the_same(text: str, e: ast.JoinedStr) -> bool:
    """Whether a text is an f-string with the words of another, and values of some kind in the same places."""
    try:
        made = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return _words(made) == _words(e)


def _words(e: ast.expr | None) -> list[Any]:
    if not isinstance(e, ast.JoinedStr):
        return []
    return [(v.conversion, _words(v.format_spec)) if isinstance(v, ast.FormattedValue) else ast.dump(v) for v in e.values]


def _same_expression(text: str, node: ast.expr) -> bool:
    try:
        return ast.dump(ast.parse(f"({text})", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False


def _within_quotes(text: str, f_string: str) -> str | None:
    """Python text such that it may stand inside an f-string: with other quotes than the string's. None where that can't be done."""
    quoted = f_string.lstrip("fFrRbBuU")
    quote = quoted[:3] if quoted[:3] in ("'''", '"""') else quoted[:1]
    if quote not in text and "\\" not in text:
        return text
    other = '"' if quote[0] == "'" else "'"
    swapped = text.replace(quote[0], other)
    return swapped if len(quote) == 1 and other not in text and "\\" not in text else None
