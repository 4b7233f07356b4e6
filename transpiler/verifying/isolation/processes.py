"""The parent's side of isolation: worker processes, what they are given to do, and what to make of it when one ends.

Importing torch takes a second or two, so a worker does one node after the other, each in a forked process (see `worker`). Where
processes cannot be forked, every node gets a worker of its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...source.findings.finding import make_finding
from ..inputs.loading import LoadError
from ..report import Report
from .endings import EXITED, Ending, finding_of
from .forking import kill_session
from .jobs import IMPORT, START, Answer, Job, Settings, answer_of

GRACE = 5.0
"""Seconds after the time limit in which a worker may still end itself, with a traceback that says where it was."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_BOOT = "import sys; sys.path[:] = {path!r}; from np2fx.verifying.isolation.worker import main; main()"


class Ended(Exception):
    """The process of a node ended without an answer, by itself or because its time was up; `ending` says how."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.cause)
        self.ending = ending


class Worker:
    """A process that verifies nodes. Raises LoadError where it cannot start."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.step = settings, ""
        self.node: int | None = None
        """The process of the node that is being verified: it leads a session of its own."""
        self.dump = tempfile.NamedTemporaryFile("r", prefix="np2fx-", suffix=".dump", delete=False)  # noqa: SIM115
        # the parent's sys.path as it is: "-m" would put the current folder before the standard library
        code = _BOOT.format(path=[entry for entry in sys.path if isinstance(entry, str)])
        # many small calls: threads of BLAS cost more than they give, their stacks count as memory, and they do not outlive a fork
        environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, self.dump.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
            env=environment, start_new_session=True)  # fmt: skip
        self.messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self._send(dataclasses.asdict(settings))
        try:
            first = self._next(None)
        except Ended as e:
            raise LoadError(f"the process that was to verify the nodes ended before it began: {e}") from None
        if "fatal" in first:
            raise LoadError(first["fatal"])
        self.lasting = first["forks"]
        """Whether it can be given another job."""

    def verify(self, job: Job, told: Callable[[str], None]) -> Answer:
        """The answer to one job; `told` hears of its steps. Raises Ended."""
        self.step = IMPORT
        self._send(dataclasses.asdict(job))
        deadline = self._deadline()
        answer: Answer | None = None
        while answer is None or self.lasting:
            message = self._next(deadline)
            if "step" in message:
                self.step = message["step"] or self.step
                deadline = self._deadline() if self.step in (IMPORT, START) else deadline
                told(self.step)
            elif "began" in message:
                self.node = message["began"]
            elif "unloadable" in message:
                answer = unloadable(job, message["unloadable"])
            elif "report" in message:
                answer = Answer(job, message["ok"], message["text"], message["report"])
            elif "ended" in message:
                self._end_node()
                if answer is None:
                    raise Ended(self._ending_of(message["ended"], timed_out=False))
                break
        return answer

    def close(self) -> None:
        """End the process and what it started."""
        self._kill()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        self.dump.close()
        with contextlib.suppress(OSError):
            os.unlink(self.dump.name)

    def _deadline(self) -> float | None:
        return time.monotonic() + self.settings.timeout + GRACE if self.settings.timeout else None

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # an ended process is noticed where its answer is missed
            self.process.stdin.write(json.dumps(message) + "\n")  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]

    def _read(self) -> None:
        """In a thread of its own: pass on what the process says; None at its end."""
        with contextlib.suppress(OSError, ValueError):
            for line in self.process.stdout or ():
                self.messages.put(json.loads(line))  # a ValueError: user code has written into the pipe
        self.messages.put(None)

    def _next(self, deadline: float | None) -> dict[str, Any]:
        """The next message. Raises Ended at the process's end and at the deadline."""
        while True:
            gone = self.process.poll() is not None
            try:
                message = self.messages.get(timeout=0.2)
            except queue.Empty:
                # a child of the ended process may hold its pipe open, so that no end of it is read
                message = None if gone else {}
            if message is None:
                raise Ended(self._ending(timed_out=False))
            if message:
                return message
            if deadline is not None and time.monotonic() > deadline:
                raise Ended(self._ending(timed_out=True))

    def _ending(self, timed_out: bool) -> Ending:
        """How the worker itself ended, or what ends it now."""
        self.lasting = False
        if timed_out:
            self._kill()
        try:
            code = self.process.wait(GRACE)
        except subprocess.TimeoutExpired:  # it closed its pipe and lives on
            self._kill()
            code = self.process.wait()
        return self._ending_of(code, timed_out)

    def _ending_of(self, code: int, timed_out: bool) -> Ending:
        self.dump.seek(0)
        dump = self.dump.read()
        out_of_time = timed_out or (dump.rpartition("Timeout (")[1] != "" and EXITED not in dump.rpartition("Timeout (")[2])
        return Ending(code, dump, out_of_time, self.step)

    def _end_node(self) -> None:
        node, self.node = self.node, None
        if node is not None:
            kill_session(node)

    def _kill(self) -> None:
        """Kill the process and its children: it leads a process group of its own, and so does the node's."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self._end_node()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)


def unloadable(job: Job, why: str) -> Answer:
    """The answer for a node of a file that cannot be imported."""
    report = Report(job.name, job.path, job.line)
    hint = "make the file importable by itself"
    report.findings.append(make_finding("node-crashed", path=job.path, line=job.line, column=1, message=why, hint=hint))
    return answer_of(job, report, why)


class _Slot:
    """A place for a worker, which is started when it is needed."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.worker: Worker | None = None

    def verify(self, job: Job) -> Answer:
        if job.path in self.pool.unloadable:
            return unloadable(job, self.pool.unloadable[job.path])
        worker = self.worker = self.worker or Worker(self.pool.settings)
        if self.pool.closed:
            self.close()
        start = time.monotonic()
        try:
            answer = worker.verify(job, lambda step: self.pool.told(job, step))
        except Ended as e:
            answer = self.ended(job, e.ending, time.monotonic() - start)
        if answer.unloadable:
            self.pool.unloadable[job.path] = answer.unloadable
        if not worker.lasting:
            self.close()
        return answer

    def ended(self, job: Job, ending: Ending, seconds: float) -> Answer:
        timeout = self.pool.settings.timeout
        if ending.step == IMPORT:
            why = f"it is not imported after {timeout:g} s" if ending.timed_out else f"it ends its process: {ending.cause}"
            return unloadable(job, f"{job.path} cannot be imported: {why}")
        report = Report(job.name, job.path, job.line, [finding_of(ending, job, timeout)], timings={ending.step: seconds})
        return answer_of(job, report)

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()


class Pool:
    """Verifies jobs in so many processes at a time. `told` hears of every job's steps, from any thread."""

    def __init__(self, settings: Settings, processes: int, told: Callable[[Job, str], None]) -> None:
        self.settings, self.told, self.closed = settings, told, False
        self.unloadable: dict[str, str] = {}
        self.slots = [_Slot(self) for _ in range(processes)]
        self.idle: queue.SimpleQueue[_Slot] = queue.SimpleQueue()
        for slot in self.slots:
            self.idle.put(slot)

    def answers(self, jobs: Sequence[Job]) -> Iterator[Answer]:
        """The answers in the order of the jobs, each as soon as it and those before it are there. Raises LoadError."""
        threads = ThreadPoolExecutor(len(self.slots))
        try:
            yield from threads.map(self._one, jobs)
        finally:
            self.closed = True
            for slot in self.slots:
                slot.close()
            threads.shutdown(cancel_futures=True)
            for slot in self.slots:
                slot.close()

    def _one(self, job: Job) -> Answer:
        if self.closed:
            raise LoadError("interrupted")
        slot = self.idle.get()
        try:
            return slot.verify(job)
        finally:
            self.idle.put(slot)
