"""A pipeline as it runs: from `start` to `stop` the calls of its nodes are noted, `compile_graph` makes the artefacts of them.

The script itself runs as plain NumPy and torch: nothing is patched, and what it computes between nodes is its own affair. A node is traced
afterwards, on what it was given; what it gave in every noted call is what its graph must give."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .running import Session

_RUNNING: list[Session] = []
"""The session that is under way, and after `stop` the one that can be compiled: at most one."""


def current() -> Session | None:
    """The session that is under way."""
    return _RUNNING[0] if _RUNNING and _RUNNING[0].is_open else None


def latest() -> Session | None:
    """The session that was begun last, under way or not."""
    return _RUNNING[0] if _RUNNING else None


def put(session: Session | None) -> None:
    """Make this the one session."""
    _RUNNING[:] = [] if session is None else [session]
