"""A worker process of `np2fx verify`: imports files, verifies nodes one at a time, and says how it goes (see `jobs`).

User code may crash here, hang, exit or eat memory: the parent sees the process end, and the dump file says where it was.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import functools
import gc
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TextIO

import numpy as np

from ..pipeline.spec import SpecError
from ..source.config import load_config
from ..source.findings import make_finding
from ..source.nodes import Node
from . import progress
from .checking import verify
from .endings import EXITED
from .instances import NoInstanceError, hint_for
from .jobs import IMPORT, START, Job, Settings
from .loading import LoadError, function_of, load_module, nodes_of, use_rules_of
from .memory import limited
from .originals import is_rewritten, original_of
from .report import Report
from .running import out_of_memory
from .steps import already_rewritten, undeclared


def main() -> None:
    """Serve the parent at the other end of stdin and stdout until it closes them. argv: the path of the dump file."""
    inbox, outbox = _streams_taken()
    say = functools.partial(_say, outbox)
    with open(sys.argv[1], "w", encoding="utf-8") as dump:
        faulthandler.enable(dump, all_threads=False)
        _note_exits(dump)
        progress.listener = _Steps(say)
        settings = Settings(**json.loads(inbox.readline()))
        try:
            use_rules_of(load_config(settings.start))
            samples = load_samples(settings.samples)
        except LoadError as e:
            say(fatal=str(e))
            return
        for part in ("tracing", "converting"):  # now, and not in the time of the first node
            importlib.import_module(f"np2fx.{part}")
        say(ready=True)
        for line in inbox:
            say(**_answer(Job(**json.loads(line)), settings, samples, dump))


def _streams_taken() -> tuple[TextIO, TextIO]:
    """The parent's two pipes, out of the reach of user code: what it prints goes nowhere, and what it reads is empty.

    LAPACK prints past Python's `sys.stdout` when it is given nan, so the descriptors are redirected."""
    inbox = os.fdopen(os.dup(0), encoding="utf-8")
    outbox = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return inbox, outbox


def _say(outbox: TextIO, **message: Any) -> None:
    outbox.write(json.dumps(message) + "\n")
    outbox.flush()


class _Steps:
    """Tells the parent the step a verification is at, once for each."""

    def __init__(self, say: Callable[..., None]) -> None:
        self.say, self.last = say, ""

    def __call__(self, what: str) -> None:
        if what != self.last:
            self.last = what
            self.say(step=what)


def _note_exits(dump: TextIO) -> None:
    """Let `os._exit` leave a traceback in the dump file, as a crash does. Children that user code forked exit as ever."""
    end, own = os._exit, os.getpid()

    def noted(status: int) -> NoReturn:
        if os.getpid() == own:
            print(EXITED, file=dump, flush=True)
            faulthandler.dump_traceback(dump, all_threads=False)
        end(status)

    os._exit = noted


def _answer(job: Job, settings: Settings, samples: Mapping[str, Any], dump: TextIO) -> dict[str, Any]:
    """Import the job's file and verify its node, each within the limits."""
    steps: Any = progress.listener
    try:
        steps(IMPORT)
        node = _nodes(job.path)[job.index]
        with _watched(settings, dump):
            module = load_module(job.path)
    except (LoadError, MemoryError) as e:
        return {"unloadable": str(e) if isinstance(e, LoadError) else f"{job.path} cannot be imported: it asks for too much memory"}
    steps(START)
    report = Report(job.name, job.path, job.line)
    try:
        with _watched(settings, dump):
            function = function_of(module, node, job.path, load_config(job.path))
            original = None
            if settings.original and function is not None and is_rewritten(function):
                original = original_of(job.path, node.name, settings.original, settings.base)
            report = verify_node(report, node, function, samples, settings, original)
    except LoadError as e:
        report.findings.append(dataclasses.replace(already_rewritten(report), message=str(e)))
    except NoInstanceError as e:
        report.findings.append(without_instance(report, node, e))
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as e:
        report.findings.append(ended_by(report, e))
    _as_given(report, job)
    gc.collect()
    return {"report": report.to_json(), "text": str(report), "ok": report.ok}


def _as_given(report: Report, job: Job) -> None:
    """Write places as the paths were given: a code object knows its file by an absolute path."""
    if not os.path.isabs(job.path):
        report.findings = [dataclasses.replace(finding, path=_relative(finding.path)) for finding in report.findings]
    if os.path.realpath(report.path) == os.path.realpath(job.path):
        report.path = job.path


def _relative(path: str) -> str:
    """A path from the current folder, where it is below it."""
    here = os.getcwd() + os.sep
    return path[len(here) :] if path.startswith(here) else path


_nodes = functools.lru_cache(lambda path: nodes_of(path, load_config(path)))


@contextlib.contextmanager
def _watched(settings: Settings, dump: TextIO) -> Iterator[None]:
    """Runs a block within the limits. Out of time, the process writes where it is into the dump file and ends."""
    if settings.timeout:
        faulthandler.dump_traceback_later(settings.timeout, exit=True, file=dump)
    try:
        with limited(settings.memory):
            yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def verify_node(
    empty: Report, node: Node, function: Callable[..., Any] | None, samples: Mapping[str, Any], settings: Settings, original: Any = None
) -> Report:
    """The report of one node; `empty` is a report with its name and place in the source file, `original` what it was before it was
    rewritten, where that is known."""
    if function is None:
        what = "a region" if node.how == "region" else "a function inside another"
        message = f"{node.name} is {what}: nothing says what to call it with; verify it as a function of its arrays"
        empty.findings.append(undeclared(empty, message))
        return empty
    try:
        given = samples_of(function, node.name, samples)
        return verify(function, *given, original=original, max_examples=settings.max_examples, seed=settings.seed)
    except (SpecError, TypeError) as e:
        empty.findings.append(undeclared(empty, str(e)))
        return empty


def without_instance(report: Report, node: Node, why: NoInstanceError) -> Any:
    """The finding for a method without an object to call it on."""
    hint = hint_for(node.name.rpartition(".")[0], load_config(report.path).relative(report.path))
    return undeclared(report, f"{node.name} is a method, and there is no object to call it on: {why}", hint=hint)


def ended_by(report: Report, error: BaseException) -> Any:
    """The finding for what came out of `verify` itself and is no answer of the node's."""
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    place = {"path": report.path, "line": report.line, "column": 1}
    if out_of_memory(error):
        return make_finding("out-of-memory", **place)  # type: ignore[arg-type]
    if isinstance(error, Exception):
        hint = "this is a bug of np2fx, please report it with the node"
        return make_finding("node-crashed", message=f"the verification of {report.node} failed with {said}", hint=hint, **place)  # type: ignore[arg-type]
    return make_finding("node-crashed", message=f"{report.node} raises {said}, which ends a program", **place)  # type: ignore[arg-type]


def load_samples(path: str | None) -> dict[str, Any]:
    """The arrays of an .npz file by key; 0-d ones as NumPy scalars. Raises LoadError."""
    if path is None:
        return {}
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key][()] for key in file.files}
    except (OSError, ValueError, AttributeError, TypeError) as e:
        raise LoadError(f"{path} is not an .npz file of samples: {e}") from None


def samples_of(function: Callable[..., Any], name: str, samples: Mapping[str, Any]) -> list[Any]:
    """A node's samples, in the order of its parameters: from the keys "node.parameter" or "parameter".

    Empty where not every parameter without a default has one: specs must say the rest."""
    found: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        keys = [f"{name}.{parameter.name}", f"{name}/{parameter.name}", parameter.name]
        key = next((key for key in keys if key in samples), None)
        if key is None:
            return found if parameter.default is not parameter.empty else []
        found.append(samples[key])
    return found
