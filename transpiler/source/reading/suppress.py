"""Suppression comments: `# np2fx: ignore[scalar-index]`, `# np2fx: ignore`, `# noqa: NX201`, `# noqa`.

A comment silences findings that begin or end on its line; on a node's `def` line (or a decorator's) those of the whole node.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence

from ..findings.finding import Finding

_COMMENT = re.compile(
    r"#\s*(?:np2fx:\s*ignore\b(?P<named>\[[^\]]*\])?|(?P<noqa>noqa)(?P<codes>\s*:\s*[A-Za-z0-9\-]+(?:[,\s]+[A-Z]+[0-9]+)*)?)", re.I
)


def suppressions(text: str) -> dict[int, frozenset[str] | None]:
    """Line number to the names and codes silenced there; None silences all."""
    if "noqa" not in text and "np2fx:" not in text:
        return {}
    found: dict[int, frozenset[str] | None] = {}
    for line, comment in _comments(text):
        for match in _COMMENT.finditer(comment):
            names = match["named"] or match["codes"]
            new = None if names is None else frozenset(re.findall(r"[A-Za-z0-9\-]+", names))
            old = found.get(line, frozenset())
            found[line] = None if new is None or old is None else old | new
    return found


def _comments(text: str) -> Iterable[tuple[int, str]]:
    """The comments with their lines. Tokenised, for a string may look like one."""
    import tokenize

    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return


def apply(findings: Iterable[Finding], text: str, spans: Sequence[tuple[int, int, int]] = ()) -> list[Finding]:
    """The findings that no comment silences. `spans` holds each node's (first line of the def, line its body starts, last line)."""
    comments = suppressions(text)
    if not comments:
        return list(findings)
    kept = []
    for finding in findings:
        lines = {finding.line, finding.end_line}
        for first, body, last in spans:
            if first <= finding.line <= last:
                lines.update(range(first, body))
        if not any(line in comments and _silences(comments[line], finding) for line in lines):
            kept.append(finding)
    return kept


def _silences(names: frozenset[str] | None, finding: Finding) -> bool:
    return names is None or any(n == finding.name or finding.code.startswith(n.upper()) for n in names)
