"""A progress line on stderr, only where somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

WIDTH = 30

listener: Callable[[str], None] | None = None
"""In a worker process: told of every step in place of the line, as the terminal is the parent's."""


class Progress:
    """`with Progress("normalise", 50) as p: p.step("retrace")`. Silent unless `stream` is a terminal."""

    def __init__(self, title: str, total: int, stream: TextIO | None = None) -> None:
        self.title, self.total, self.done = title, max(total, 1), 0
        self.stream = stream or sys.stderr
        self.shown = listener is None and bool(getattr(self.stream, "isatty", lambda: False)())

    def __enter__(self) -> Progress:
        return self

    def step(self, what: str) -> None:
        """One more thing done; `what` is being done now."""
        self.done = min(self.done + 1, self.total)
        if listener is not None:
            listener(what)
        self.show(what)

    def show(self, what: str) -> None:
        """Draw the line anew."""
        if self.shown:
            filled = WIDTH * self.done // self.total
            self.stream.write(f"\r\x1b[K{self.title} [{'#' * filled}{'.' * (WIDTH - filled)}] {what}")
            self.stream.flush()

    def clear(self) -> None:
        """Take the line away, for what is printed next."""
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def __exit__(self, *_: object) -> None:
        self.clear()
