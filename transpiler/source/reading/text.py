"""Source text: byte-exact spans of ast nodes, and splicing new text into them.

`ast` counts columns in UTF-8 bytes, so all of this works on the UTF-8 bytes of the source.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .walking import children

NEWLINE = re.compile(r"\r\n|\n|\r")


def newline_of(text: str) -> str:
    """The newline of the first line, which new lines take too: "\\n", "\\r\\n" or "\\r"."""
    found = NEWLINE.search(text)
    return found.group() if found else "\n"


def lines_of(text: str) -> list[str]:
    """The lines as `ast` counts them, each with its newline."""
    return re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)


class Source:
    """The text of a module and where its nodes stand in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bytes = text.encode("utf-8")
        self.starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    @property
    def newline(self) -> str:
        return newline_of(self.text)

    def after_line(self, line: int) -> int:
        """The first byte after a line, its newline included."""
        return self.starts[min(line, len(self.starts) - 1)]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """First byte and the byte after the last one."""
        start = self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return start, end

    def slice(self, start: int, end: int) -> str:
        return self.bytes[start:end].decode("utf-8")

    def of(self, node: ast.AST) -> str:
        return self.slice(*self.span(node))

    def find(self, token: str, start: int, end: int) -> int:
        """The first byte of the first such token between two tokens, past the comments there."""
        return start + len(split_operator(self.slice(start, end), token)[0].encode("utf-8"))

    def without_parentheses(self, start: int, end: int) -> tuple[int, int]:
        """A span with the parentheses around it, where nothing but spaces stands between."""
        before, after = self.bytes[:start].rstrip(b" "), self.bytes[end:].lstrip(b" ")
        if before.endswith(b"(") and after.startswith(b")"):
            return len(before) - 1, len(self.bytes) - len(after) + 1
        return start, end

    def column(self, line: int, offset: int) -> int:
        """The column in characters, counted from 1, of a byte offset in a line."""
        start = self.starts[line - 1]
        return len(self.bytes[start : start + offset].decode("utf-8", "replace")) + 1


def sub_expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions directly inside a node, looking through keywords, comprehensions, slices and arguments."""
    for child in children(node):
        if isinstance(child, ast.Slice):
            yield from sub_expressions(child)
        elif isinstance(child, ast.expr):
            yield child
        elif isinstance(child, (ast.keyword, ast.comprehension, ast.arguments, ast.arg, ast.withitem)):
            yield from sub_expressions(child)


def splice(source: Source, start: int, end: int, pieces: list[tuple[int, int, str]]) -> str:
    """The bytes from `start` to `end` with disjoint `(start, end, text)` pieces put in their places."""
    out, at = [], start
    for begin, stop, text in sorted(pieces):
        out.append(source.slice(at, begin))
        out.append(text)
        at = stop
    out.append(source.slice(at, end))
    return "".join(out)


def split_operator(between: str, operator: str) -> tuple[str, str]:
    """Split what stands between two operands at the operator, past parentheses and comments."""
    at = 0
    while at < len(between):
        if between[at] == "#":
            newline = NEWLINE.search(between, at)
            at = newline.end() if newline is not None else len(between)
        elif between.startswith(operator, at):
            return between[:at], between[at + len(operator) :]
        else:
            at += 1
    raise ValueError(f"no {operator!r} in {between!r}")


def between(text: str) -> str:
    """What stands between two tokens, as it can stand before new text: a comment with the end of its line, lines joined without `\\`."""
    joined = re.sub(r"(#[^\r\n]*)|\\(?:\r\n|\n|\r)[ \t]*", lambda found: found[1] or "", text)
    bare = joined.rstrip()
    return joined if "#" in NEWLINE.split(bare)[-1] else bare
