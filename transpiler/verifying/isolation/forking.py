"""Forked processes: what one file's import or one node does to its process ends with that process, and torch is imported only once.

A process is copied as it stands, in milliseconds. Only a process that has no other thread may be: a lock that another thread holds is
never let go of in the copy.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable

FAILED = 70
"""The exit code of a process in which the verification itself broke down: the node took away what it stands on."""

# as they are before user code replaces them
_fork, _end, _wait = getattr(os, "fork", None), os._exit, getattr(os, "waitpid", None)
_read, _write, _close = os.read, os.write, os.close


def can_fork() -> bool:
    """Whether this process can be forked. Only on Linux: the libraries of macOS do not work in a forked process."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


def forked(body: Callable[[], object], leads: bool = True) -> int:
    """Run `body` in a copy of this process that ends with it. The copy's process number.

    leads  in a session of its own, so that what it starts can be ended with it"""
    child = _fork()  # type: ignore[misc]
    if child:
        return child
    code = FAILED
    try:
        if leads:
            os.setsid()
        body()
        code = 0
    finally:
        _end(code)  # no handler, no thread and no buffer of the process that was copied has a say


def ended(child: int) -> int:
    """Wait for the end of a copy, and end what it has started in its session: its exit code, negative for a signal."""
    try:
        code = os.waitstatus_to_exitcode(_wait(child, 0)[1])  # type: ignore[misc]
    except ChildProcessError:  # user code has the system forget its children
        code = 0
    kill_session(child)
    return code


def kill_session(leader: int) -> None:
    """Kill a copy that leads a session, and what it has started."""
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def out_of_reach(descriptor: int) -> int:
    """The same open file under a high number: user code that closes descriptors that it did not open, the low ones as a rule, misses
    it, and no file that it opens gets the number."""
    try:
        import fcntl
        import resource
    except ImportError:  # Windows
        return os.dup(descriptor)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(64, min(most, 2**16) - 64))


class Served:
    """A copy of this process that is handed texts, one at a time, and says after each that it is done with it.

    serve  what it does with each; False where it is to end after that"""

    def __init__(self, prepare: Callable[[], bool], serve: Callable[[str], bool]) -> None:
        def body() -> None:
            _close(self._texts)
            _close(self._done)
            if not prepare():
                return
            while (text := _line(texts)) and serve(text):
                _write(done, b"\n")

        texts, self._texts = _pipe()
        self._done, done = _pipe()
        self.child = forked(body, leads=False)
        _close(texts)
        _close(done)

    def hand(self, text: str) -> int | None:
        """Hand it a text and wait. None: it is done with it, and waits for the next. Else its exit code."""
        with contextlib.suppress(BrokenPipeError):
            _write(self._texts, text.encode() + b"\n")
        return None if _read(self._done, 1) else self.close()

    def close(self) -> int:
        _close(self._texts)
        code = ended(self.child)
        _close(self._done)
        return code


def _pipe() -> tuple[int, int]:
    """A pipe's two ends, out of reach."""
    ends = os.pipe()
    moved = out_of_reach(ends[0]), out_of_reach(ends[1])
    for end in ends:
        _close(end)
    return moved


def _line(descriptor: int) -> str:
    """The next line, "" at the end. A piece may be all that is there so far."""
    data = b""
    while not data.endswith(b"\n"):
        piece = _read(descriptor, 2**16)
        if not piece:
            return ""
        data += piece
    return data.decode()
