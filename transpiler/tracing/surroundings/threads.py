"""Threads and processes that the traced function starts: what they are given must hold nothing of the trace.

A trace sees what its own thread does. Whoever uses a traced array elsewhere is refused there (see `state.running`), and the traced
function, which may wait for what that thread would have given, hears of it.
"""

from __future__ import annotations

import multiprocessing.process
import threading
import time
from collections.abc import Callable
from typing import Any

from .. import state
from .reach import reaches_traced

_SLICE = 0.02
"""So many seconds a traced function waits before it looks whether another thread was refused."""

_now = time.monotonic


def _start(original: Callable[..., Any], what: str, given: tuple[str, ...]) -> Callable[..., Any]:
    def start(self: Any) -> Any:
        tracer = state.current()
        if tracer is not None:
            own = vars(self).keys() - {n for n in vars(self) if n.startswith("_")} | set(given)
            with tracer.inside():
                if reaches_traced([vars(self).get(name) for name in sorted(own)]):
                    message = f"a traced array is used in another {what}, where the tracer does not see what is done with it"
                    tracer.fail("opaque-call", message,
                                "call the function where it is traced, without threads and processes")  # fmt: skip
        return original(self)

    return start


def _wait(original: Callable[..., bool]) -> Callable[..., bool]:
    def wait(self: Any, timeout: float | None = None) -> bool:
        tracer = state.current()
        if tracer is None:
            return original(self, timeout)
        end = None if timeout is None else _now() + timeout
        while not original(self, _SLICE if end is None else max(0.0, min(_SLICE, end - _now()))):
            if tracer.failure is not None:
                raise tracer.failure
            if end is not None and _now() >= end:
                return False
        return True

    return wait


def exchanged() -> list[tuple[Any, str, Any, Any]]:
    """What holds something else while a trace runs: (class, name, original, stand-in)."""
    thread, process, condition = threading.Thread, multiprocessing.process.BaseProcess, threading.Condition
    found: list[tuple[Any, str, Any]] = [(thread, "start", _start(thread.start, "thread", ("_target", "_args", "_kwargs")))]
    found += [(process, "start", _start(process.start, "process", ("_target", "_args", "_kwargs")))]
    found += [(condition, "wait", _wait(condition.wait))]
    return [(cls, name, vars(cls)[name], made) for cls, name, made in found]
