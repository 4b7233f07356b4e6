"""How a worker process ended, as a finding about the node it was at: where, why, and the way out."""

from __future__ import annotations

import os
import re
import signal
import sysconfig
from dataclasses import dataclass

from ...source.findings.finding import Finding, make_finding
from .forking import FAILED
from .jobs import IMPORT, Job

EXITED = "os._exit"
"""Stands in the dump file above the traceback of an `os._exit`."""

_SIGNALS = {
    "SIGSEGV": "a segmentation fault in compiled code",
    "SIGBUS": "a wild memory access in compiled code",
    "SIGABRT": "an abort",
    "SIGFPE": "an arithmetic fault in compiled code",
    "SIGILL": "an illegal instruction",
    "SIGKILL": "a kill, which is also what the system does when its memory is used up",
}
_DURING = {
    IMPORT: "while its file was imported",
    "trace": "while it was traced",
    "convert": "while it was rewritten",
    "sample": "while it ran on its sample",
    "retrace": "while it was traced a second time",
    "sizes": "while it was traced with other sizes",
    "cross-check": "while it ran on generated inputs",
}


@dataclass(frozen=True)
class Ending:
    """How a worker ended: its exit code (negative for a signal), the tracebacks it left, whether it was out of time, its last step."""

    code: int
    dump: str
    timed_out: bool
    step: str

    @property
    def cause(self) -> str:
        """ "exit code 3", or the signal in words."""
        if self.code == FAILED and EXITED not in self.dump:
            return "it took away what Python or np2fx needs to go on (a built-in function, a module's function, an open file)"
        if self.code >= 0:
            return "an access violation in compiled code" if self.code == 0xC0000005 else f"exit code {self.code}"
        try:
            name = signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"
        return f"{_SIGNALS[name]} ({name})" if name in _SIGNALS else name

    @property
    def during(self) -> str:
        return _DURING.get(self.step, "while it ran on a first sample")


def finding_of(ending: Ending, job: Job, timeout: float) -> Finding:
    """The finding for a worker that ended while it was at `job`."""
    path, line = place_of(ending.dump, job)
    place = {"path": path, "line": line, "column": 1}
    if ending.timed_out:
        message = f"{job.name} was not done after {timeout:g} s; time was up {ending.during}"
        return make_finding("node-timed-out", message=message, **place)  # type: ignore[arg-type]
    message = f"{job.name} ended its process {ending.during}: {ending.cause}"
    return make_finding("node-crashed", message=message, **place)  # type: ignore[arg-type]


def place_of(dump: str, job: Job) -> tuple[str, int]:
    """The innermost line of the node's own file in a dump of tracebacks, else of another file of the user's, else the node's."""
    frames = [(path, int(line)) for path, line in re.findall(r'^  File "(.*)", line (\d+) in ', dump, re.M)]
    own = os.path.realpath(job.path)
    for path, line in frames:
        if os.path.realpath(path) == own:
            return job.path, line
    ours = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), *map(os.path.realpath, _installed())]
    for path, line in frames:
        real = os.path.realpath(path)
        if os.path.isfile(real) and not any(real.startswith(folder + os.sep) for folder in ours):
            return path, line
    return job.path, job.line


def _installed() -> list[str]:
    """Folders of the standard library and of installed packages."""
    return [sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
