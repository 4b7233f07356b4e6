"""`np2fx verify PATHS`: every node of the files, converted, traced and cross-checked, in processes apart from the command's."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Mapping

from ..codemod.texts import rewritten_texts
from ..source.findings.finding import make_finding
from ..source.reading.config import Config
from .inputs.callers import Calls, calls_of
from .inputs.loading import LoadError, nodes_in
from .inputs.originals import unpacked
from .isolation.jobs import IMPORT, START, Answer, Job, Settings
from .isolation.memory import can_limit
from .isolation.processes import Pool
from .isolation.progress import Progress

OK, NOT_OK, COULD_NOT_RUN = 0, 1, 2
NODES_A_PROCESS = 8
"""By default a process is started for so many nodes: it takes as long to start as a few nodes take to verify."""


def run(args: argparse.Namespace) -> int:
    """The command. Exit code 0: all nodes verified; 1: some are not ok; 2: the command could not run, or not for all files.

    args  paths, samples (an .npz file or None), max_examples, seed, output_format ("text" or "json"), node (a name or None),
          original (where the files before a rewriting are: git:REV, a path, or None),
          jobs (processes, None: by the number of nodes), timeout (seconds or None) and memory (MB or None) for a node"""
    _demand_torch()
    try:
        config, jobs = _jobs(args)
        with unpacked(getattr(args, "original", None), args.paths[0] if args.paths else ".") as (original, base):
            said = getattr(args, "original", None) or ""
            texts = {} if said else rewritten_texts(args.paths)
            settings = dataclasses.replace(_settings(args, config), original=original, base=base, original_as_said=said, texts=texts)
            answers = _verified(jobs, settings, _processes(getattr(args, "jobs", None), len(jobs)), args.output_format == "text")
    except LoadError as e:
        return _could_not_run(str(e))
    if args.output_format == "json":
        print(json.dumps([answer.data for answer in answers], indent=2))
    elif len(answers) > 1:
        print(_summary(answers))
    if not answers:
        wanted = getattr(args, "node", None)
        return _could_not_run(str(make_finding("no-node", message=f"no node {wanted!r} was found" if wanted else "")))
    for why in dict.fromkeys(answer.unloadable for answer in answers if answer.unloadable):
        _could_not_run(why)
    if any(answer.unloadable for answer in answers):
        return COULD_NOT_RUN
    return OK if all(answer.ok for answer in answers) else NOT_OK


def _could_not_run(why: str) -> int:
    print(f"np2fx verify: {why}", file=sys.stderr)
    return COULD_NOT_RUN


def _demand_torch() -> None:
    """Raises ModuleNotFoundError, as the import would, where the processes could not start for want of a package."""
    for name in ("numpy", "torch", "hypothesis"):
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _jobs(args: argparse.Namespace) -> tuple[Config, list[Job]]:
    config, found = nodes_in(args.paths, getattr(args, "node", None))
    calls = calls_of(args.paths, [(path, node) for path, _, node in found]) if found and not getattr(args, "original", None) else Calls()
    nodes = [Job(path, index, node.name, node.span[0], passed=_sorted(calls.passed.get((os.path.realpath(path), node.name), {})))
             for path, index, node in found]  # fmt: skip
    return config, nodes + [Job(c.path, -1, c.name, c.line, c.calls, c.specs) for c in calls.callers]


def _sorted(passed: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    return {name: sorted(kinds) for name, kinds in passed.items()}


def _settings(args: argparse.Namespace, config: Config) -> Settings:
    """What the command line says, else the configuration. Raises LoadError for a limit that this system does not keep."""
    timeout, memory = getattr(args, "timeout", None), getattr(args, "memory", None)
    if memory and not can_limit():
        raise LoadError("--memory: this system does not limit the memory of a process; --memory 0 is no limit")
    return Settings(
        start=args.paths[0] if args.paths else ".",
        samples=getattr(args, "samples", None),
        max_examples=getattr(args, "max_examples", None) or 50,
        seed=getattr(args, "seed", 0),
        timeout=config.verify_timeout if timeout is None else timeout,
        memory=config.verify_memory if memory is None else memory,
        paths=tuple(args.paths),
    )


def _processes(wanted: int | None, nodes: int) -> int:
    """How many processes: as many as wanted, else one for every `NODES_A_PROCESS` nodes while there are processors."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(nodes, wanted or min(processors, nodes // NODES_A_PROCESS)))


def _verified(jobs: list[Job], settings: Settings, processes: int, printed: bool) -> list[Answer]:
    """The answers, each printed as soon as it is there. Raises LoadError."""
    answers = []
    with Progress("", len(jobs)) as progress:
        for answer in Pool(settings, processes, _Told(progress)).answers(jobs):
            progress.done += 1
            if not (answer.text or answer.unloadable):
                continue
            answers.append(answer)
            if printed and not answer.unloadable:
                progress.clear()
                print(answer.text, flush=True)
    return answers


class _Told:
    """Draws the progress line whenever a process tells what it is at."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.lock = progress, threading.Lock()
        progress.title = "np2fx verify"

    def __call__(self, job: Job, step: str) -> None:
        with self.lock:
            said = {IMPORT: f"importing {job.path}", START: f"{job.name}"}.get(step, f"{job.name}: {step}")
            self.progress.show(f"{self.progress.done}/{self.progress.total} {said}")


def _summary(answers: list[Answer]) -> str:
    """The last line: how many nodes are verified, and which are not."""
    not_ok = [answer.job.name for answer in answers if not answer.ok]
    nodes = [answer for answer in answers if not answer.job.calls]
    verified = f"{sum(answer.ok for answer in nodes)} of {len(nodes)} nodes verified"
    if len(nodes) < len(answers):
        verified += f", with {len(answers) - len(nodes)} of their callers"
    return f"{verified}; not ok: {', '.join(not_ok)}" if not_ok else verified
