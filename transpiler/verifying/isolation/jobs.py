"""What the command and its worker processes say to each other: plain data, one JSON object a line.

To a worker go its settings, then one job at a time. From it come, each under a key of its own: `ready` (and whether it `forks`: else
it is there for one job); `fatal` (it cannot work at all, and why); `step` (what it is doing); and as the answer to a job `unloadable` (the
file cannot be imported, and why) or `report`. A worker that forks also says of a node's process that it has `began` (its number), and
that it has `ended` (its exit code): the last word on a job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..report import Report

IMPORT, START = "import", "start"
"""The first two steps of a job: the file is imported; its node is given to `verify`. The others are the steps of a verification."""


@dataclass(frozen=True)
class Settings:
    """What all jobs have in common.

    start    the path from which the configuration is found
    samples  an .npz file or None
    original where the files before they were rewritten are, or ""; `base` is the folder to which the paths of the jobs are relative there,
             and `original_as_said` is how the command line says it
    paths    the files and folders that are verified
    texts    what rewriting makes of the files that it changes, by their real paths
    timeout  seconds for a node, and for the import of its file; 0: no limit
    memory   MB that a node may take beyond what the worker has; 0: no limit"""

    start: str
    samples: str | None
    max_examples: int
    seed: int
    timeout: float
    memory: float
    original: str = ""
    base: str = ""
    original_as_said: str = ""
    paths: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """A node by its place: the `index`-th node of the file at `path`; or a plain function that calls nodes.

    calls    the nodes that it calls, for a plain function; `specs` is what is known of its parameters
    passed   by parameter, what callers of a node pass beside arrays"""

    path: str
    index: int
    name: str
    line: int
    calls: tuple[str, ...] = ()
    specs: Mapping[str, Any] = field(default_factory=dict)
    passed: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What came of a job. `unloadable` says why its file cannot be imported, where it cannot. Without a text there is nothing to say: a
    plain function could not be run, or is what it was."""

    job: Job
    ok: bool
    text: str
    data: dict[str, Any]
    unloadable: str = ""


def answer_of(job: Job, report: Report, unloadable: str = "") -> Answer:
    return Answer(job, report.ok, str(report), report.to_json(), unloadable)
