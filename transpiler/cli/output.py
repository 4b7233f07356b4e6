"""Findings as text with code frames, as JSON, as GitHub annotations, and as statistics."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from ..source.findings.finding import Finding

FORMATS = ("text", "json", "github")
_COLOURS = {"error": "31", "warning": "33", "note": "36", "help": "36", "frame": "34", "bold": "1"}


def coloured(stream: TextIO) -> bool:
    """Whether a stream takes colours: a terminal, unless NO_COLOR or FORCE_COLOR say otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


class Painter:
    """Paints text where the stream takes colours."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, what: str, text: str) -> str:
        return f"\033[{_COLOURS[what]}m{text}\033[0m" if self.on else text


def show(findings: Sequence[Finding], output_format: str, statistics: bool = False, stream: TextIO | None = None, stdin: str = "",
         texts: dict[str, str] | None = None) -> None:  # fmt: skip
    """Print findings. `stdin` is the text of standard input, for the frames of findings in it; `texts` those of files that have
    changed since they were read, by path."""
    stream = stream or sys.stdout
    if statistics:
        _statistics(findings, output_format, stream)
    elif output_format == "json":
        import json

        print(json.dumps([f.to_json() for f in findings], indent=2), file=stream)
    elif output_format == "github":
        for finding in findings:
            print(_github(finding), file=stream)
    else:
        paint = Painter(coloured(stream))
        sources = _Sources(stdin, texts or {})
        for finding in findings:
            print(_text(finding, sources, paint), end="\n\n", file=stream)


class _Sources:
    """The lines of files, each read once."""

    def __init__(self, stdin: str, texts: dict[str, str]) -> None:
        self.stdin = stdin
        self.held = {path: _lines(text) for path, text in texts.items()}

    def line(self, path: str, number: int) -> str | None:
        if path not in self.held:
            self.held[path] = self._read(path)
        lines = self.held[path]
        return lines[number - 1] if 0 < number <= len(lines) else None

    def _read(self, path: str) -> list[str]:
        from ..source.reading.files import EncodingError, decode, read

        if not os.path.isfile(path):
            text = self.stdin
        else:
            try:
                text = decode(read(path), path).text
            except (OSError, EncodingError):
                return []
        return _lines(text)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _text(finding: Finding, sources: _Sources, paint: Painter) -> str:
    place = ":".join([finding.path] * bool(finding.path) + [str(n) for n in (finding.line, finding.column) if n])
    head = f"{paint('bold', place)}: " if place else ""
    lines = [f"{head}{paint(finding.severity, finding.code)} [{finding.name}] {finding.message}"]
    line = sources.line(finding.path, finding.line)
    if line is not None:
        gutter = " " * len(str(finding.line))
        width = (finding.end_column if finding.end_line == finding.line else len(line) + 1) - finding.column
        shown = line.expandtabs(4)
        start = len(line[: finding.column - 1].expandtabs(4))
        bar = paint("frame", "|")
        marks = " " * start + paint(finding.severity, "^" * max(1, min(width, len(shown) - start)))
        lines += [f" {gutter} {bar}", f" {paint('frame', str(finding.line))} {bar} {shown.rstrip()}", f" {gutter} {bar} {marks}"]
    if finding.hint:
        lines.append(f"  {paint('help', 'help')}: {finding.hint}")
    return "\n".join(lines)


def _github(finding: Finding) -> str:
    level = {"error": "error", "warning": "warning", "note": "notice"}[finding.severity]
    title = _property(f"np2fx {finding.code} [{finding.name}]")
    places = {"line": finding.line, "col": finding.column, "endLine": finding.end_line, "endColumn": finding.end_column}
    where = f",file={_property(finding.path)}" + "".join(f",{k}={v}" for k, v in places.items())
    text = finding.message + (f" (help: {finding.hint})" if finding.hint else "")
    place = f"{finding.path}:{finding.line}:{finding.column}: " if finding.path else ""
    return f"::{level} title={title}{where if finding.line else ''}::{_data(place + text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _statistics(findings: Sequence[Finding], output_format: str, stream: TextIO) -> None:
    """How many of each kind, and whether `np2fx rewrite` mends it; the most frequent first."""
    counts = Counter((f.code, f.name, f.fixable) for f in findings)
    rows = sorted(counts.items(), key=lambda r: (-r[1], r[0]))
    if output_format == "json":
        import json

        print(json.dumps([{"code": c, "name": n, "count": k, "fixable": f} for (c, n, f), k in rows], indent=2), file=stream)
        return
    for (code, name, fixable), count in rows:
        print(f"{count:6}  {code}  {'[*]' if fixable else '[ ]'} {name}", file=stream)
    if any(fixable for (_, _, fixable), _ in rows):
        print("[*] mended by `np2fx rewrite`", file=stream)


def summary(findings: Sequence[Finding], nodes: int, files: int) -> str:
    """The last line of a run."""
    severities = Counter(f.severity for f in findings)
    looked = f"{_count(nodes, 'node')} in {_count(files, 'file')}"
    if not findings:
        return f"All checks passed: {looked}"
    found = ", ".join(_count(severities[s], s) for s in ("error", "warning", "note") if severities[s])
    return f"Found {found}: {looked}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def exit_code(findings: Sequence[Finding], strict: bool = False) -> int:
    """1 where there is an error (or, when strict, a warning), else 0."""
    return int(any(f.severity == "error" or (strict and f.severity == "warning") for f in findings))
