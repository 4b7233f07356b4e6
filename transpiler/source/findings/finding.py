"""Findings: what np2fx says about a place in the source, and the error that carries them.

A finding's kind (its name, code, page and examples) is a class in `kinds.py`; `make_finding` fills in what the kind knows.
Lines and columns count from 1, as editors show them, columns in characters; the end is the first column *after* the last
character. Line 0 means that the finding is about the file (or the call) as a whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from .kinds import KINDS, Kind, kind_of

__all__ = ["KINDS", "ConversionError", "Finding", "Kind", "format_finding", "kind_of", "make_finding", "page"]


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing said about one place. `severity` is "error", "warning" or "note"; `hint` is the way out."""

    code: str
    name: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    severity: str
    message: str
    hint: str = ""
    fixable: bool = False

    def to_json(self) -> dict[str, Any]:
        """The finding as plain data; the keys `filename`, `location` and `end_location` are spelled as ruff spells them."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "fixable": self.fixable,
            "filename": self.path,
            "location": {"row": self.line, "column": self.column},
            "end_location": {"row": self.end_line, "column": self.end_column},
        }

    def __str__(self) -> str:
        return format_finding(self)


class ConversionError(Exception):
    """A function that np2fx will not convert; `findings` says where, why and what to do instead."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = list(findings)
        super().__init__("\n".join(format_finding(f) for f in self.findings) or "not converted")


def make_finding(name: str, *, path: str = "", line: int = 0, column: int = 0, end_line: int = 0, end_column: int = 0,
                 message: str = "", hint: str = "", severity: str | None = None, fixable: bool | None = None) -> Finding:  # fmt: skip
    """A finding of the kind `name` ("scalar-index" or "NX201"); what is not given is the kind's own.

    Raises KeyError for a name that is no kind."""
    kind = kind_of(name)
    return Finding(
        code=kind.code,
        name=kind.name,
        path=str(path),
        line=line,
        column=column,
        end_line=end_line or line,
        end_column=end_column or column,
        severity=severity or kind.severity,
        message=message or kind.message,
        hint=hint or kind.hint,
        fixable=kind.fixable if fixable is None else fixable,
    )


def format_finding(finding: Finding) -> str:
    """`path:line:col: NX201 [scalar-index] message` with the hint on a line of its own."""
    place = ":".join([finding.path] * bool(finding.path) + [str(n) for n in (finding.line, finding.column) if n])
    head = f"{finding.code} [{finding.name}] {finding.message}"
    text = f"{place}: {head}" if place else head
    return f"{text}\n  help: {finding.hint}" if finding.hint else text


def page(kind: type[Kind]) -> str:
    """The documentation page of a kind as Markdown: its docstring under a title, its examples under their headings."""
    what, _, why = _dedent(kind.__doc__ or "").partition("\n## Why is this bad?")
    parts = [f"# {kind.name} ({kind.code})", what.strip()]
    if why:
        parts.append(f"## Why is this bad?\n\n{why.strip()}")
    if kind.bad:
        parts.append(f"## Example\n\n```python\n{_dedent(kind.bad)}\n```")
    if kind.good:
        parts.append(f"## Use instead\n\n```python\n{_dedent(kind.good)}\n```")
    parts.append(
        f"Severity: {kind.severity}. Said by: np2fx {kind.stage}. "
        + ("`np2fx rewrite` mends it." if kind.fixable else "There is no automatic fix.")
        + (f"\n\nSilence one line with `# np2fx: ignore[{kind.name}]` or `# noqa: {kind.code}`." if kind.stage == "check" else "")
    )
    return "\n\n".join(parts) + "\n"


def write_pages(folder: str) -> list[str]:
    """Write the page of every kind into `folder` (docs/findings) and return the file names; made by
    `python -m np2fx.source.findings.finding docs/findings`."""
    import os

    os.makedirs(folder, exist_ok=True)
    names = []
    for kind in KINDS.values():
        names.append(f"{kind.name}.md")
        with open(os.path.join(folder, names[-1]), "w", encoding="utf-8") as file:
            file.write(page(kind))
    rows = "".join(f"| {k.code} | [{k.name}]({k.name}.md) | {k.severity} | {k.message} |\n" for k in KINDS.values())
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write("# Findings\n\n| code | name | severity | what it says |\n| --- | --- | --- | --- |\n" + rows)
    return [*names, "README.md"]


def _dedent(text: str) -> str:
    import inspect

    return inspect.cleandoc(text)


if __name__ == "__main__":
    import sys

    write_pages(sys.argv[1])
