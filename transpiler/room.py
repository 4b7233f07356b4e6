"""Threads with a large stack and a higher recursion limit, for what is `deep`."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

_FRAMES = 100_000
_STACKS = (1 << 29, 1 << 26)  # bytes of address space; the second for systems that give no more
_one_at_a_time = threading.RLock()
_here = threading.local()


def is_inside() -> bool:
    """Whether this is such a thread."""
    return getattr(_here, "inside", False)


def in_thread(work: Callable[[], Any]) -> Any:
    """The result of some work, or its error, from a thread with room."""
    outcome: list[tuple[bool, Any]] = []
    context = contextvars.copy_context()

    def run() -> None:
        _here.inside = True
        try:
            outcome.append((True, context.run(work)))
        except BaseException as error:
            outcome.append((False, error))

    with _one_at_a_time, _room():
        for stack in _STACKS:
            threading.stack_size(stack)
            thread = threading.Thread(target=run, name="np2fx", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no thread with so large a stack
                continue
            thread.join()
            break
    if not outcome:
        raise RecursionError("the source is nested too deeply for this system")
    done, result = outcome[0]
    if not done:
        raise result
    return result


@contextlib.contextmanager
def _room() -> Iterator[None]:
    """A higher recursion limit, for all threads as Python has it, and the size of stacks to be set."""
    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(stack)
