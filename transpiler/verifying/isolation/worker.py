"""A worker process of `np2fx verify`: imports files, verifies nodes one at a time, and says how it goes (see `jobs`).

User code may crash, hang, exit, eat memory, or leave Python in disorder. So a worker that can be forked runs none: a copy of it imports
a file, and a copy of that verifies a node. Whoever waits for a copy sees it end, and the dump file says where it was.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import faulthandler
import functools
import gc
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn, TextIO

from ...pipeline.spec import SpecError
from ...source.findings.finding import make_finding
from ...source.reading.config import Config, load_config
from ...source.reading.nodes import Node
from ..checking import Known, verify
from ..comparing.running import out_of_memory
from ..inputs.importing import expression_in_module
from ..inputs.instances import NoInstanceError, hint_for
from ..inputs.loading import LoadError, function_of, load_module, module_name, nodes_of, use_rules_of
from ..inputs.originals import is_rewritten, original_module, original_of
from ..inputs.samples import Samples
from ..inputs.world import Form, World, WorldError, is_for_callers, world_of
from ..report import Report
from ..steps import already_rewritten, undeclared
from . import progress
from .endings import EXITED
from .forking import Served, can_fork, ended, forked, out_of_reach
from .jobs import IMPORT, START, Job, Settings
from .memory import limited
from .warming import warm_up

_HERE, _EXIT = os.getcwd(), os._exit


@dataclass
class _Worker:
    """What a worker process and its copies have in common. `dump` is the path of the file for tracebacks."""

    settings: Settings
    samples: Samples
    say: Callable[..., None]
    dump: str
    world: World | None = None

    def serve(self, inbox: TextIO, forks: bool) -> None:
        """Answer jobs until there are no more. Without forks the first is the only one: it leaves its traces in this process."""
        if not forks:
            for line in inbox:
                file = _File(self, _job(line))
                if file.imported():
                    file.verify(line)
                return
        gc.collect()
        gc.freeze()  # a collection in a copy would touch, and so copy, all there is
        copy: Served | None = None
        path = ""
        for line in inbox:
            job = _job(line)
            if copy is None or job.path != path:
                if copy is not None:
                    copy.close()
                file = _File(self, job)
                copy, path = Served(file.imported, file.verify_apart), job.path
            code = copy.hand(line.rstrip("\n"))
            if code is not None:  # the file's own process is gone
                copy = None
                self.say(ended=code)

    def watch(self) -> TextIO:
        """The dump file, from now on for this process: its crashes, its exits and where it is when its time is up."""
        with open(self.dump, "w", encoding="utf-8") as opened:
            dump = os.fdopen(out_of_reach(opened.fileno()), "w", encoding="utf-8")
        faulthandler.enable(dump, all_threads=False)
        _note_exits(dump)
        return dump


class _File:
    """A file whose nodes are verified: in one process it is imported, and each of its nodes is verified in a copy of that."""

    def __init__(self, worker: _Worker, job: Job) -> None:
        self.worker, self.first = worker, job
        self.module: ModuleType | None = None

    def imported(self) -> bool:
        """Import the file, within the limits, and say so where that fails."""
        job, worker = self.first, self.worker
        dump = worker.watch()
        progress.listener = _Steps(worker.say)
        progress.listener(IMPORT)
        try:
            self.nodes = nodes_of(job.path, load_config(job.path))
            with _watched(worker.settings, dump):
                self.module = load_module(job.path)
                self._import_original()
                self._import_rewritten()
        except (LoadError, MemoryError) as e:
            asks = f"{job.path} cannot be imported: it asks for too much memory"
            worker.say(unloadable=str(e) if isinstance(e, LoadError) else asks)
            return False
        return True

    def verify_apart(self, line: str) -> bool:
        """Verify a node in a copy of this process. False: it took this very process, which cannot be copied."""
        if not can_fork():  # the file has started threads
            self.verify(line)
            return False
        child = forked(lambda: self.verify(line))
        self.worker.say(began=child)
        self.worker.say(ended=ended(child))
        return True

    def verify(self, line: str) -> None:
        self.worker.say(**self._answer(_job(line), self.worker.watch()))

    def _import_original(self) -> None:
        """The file as it was before it was rewritten, so that not every node has to import it. A node says what is wrong with it."""
        settings = self.worker.settings
        if settings.original:
            with contextlib.suppress(Exception):
                original_module(self.first.path, settings.original, settings.base)

    def _node(self, job: Job) -> Node:
        """A node of the file, or a plain function that calls some."""
        if not job.calls:
            return self.nodes[job.index]
        return Node(job.name, ast.parse("def f(): pass").body[0], [], "caller")  # type: ignore[arg-type]

    def _import_rewritten(self) -> None:
        """The file as it will be, likewise."""
        if self.worker.world is not None:
            with contextlib.suppress(WorldError):
                self.worker.world.module(module_name(self.first.path), self.first.path)

    def _known(self, job: Job, node: Node, config: Config) -> Known:
        """What the files tell of a node beside its function."""
        worker, settings = self.worker, self.worker.settings
        path, world = os.path.abspath(job.path), worker.world
        if settings.original:
            place = [os.path.abspath(job.path), node.name, settings.original_as_said, os.path.abspath(settings.start)]
            recipe = "from np2fx.verifying.inputs.originals import original_function", f"fn = original_function{tuple(place)!r}"
            return Known(original=recipe)
        if world is None:
            return Known(rewritten=lambda: None)

        def rewritten() -> Any:
            module = world.module(module_name(job.path), job.path)
            with world.entered():
                found = function_of(module, node, job.path, config)
            return Form(world, found) if found is not None and is_for_callers(function, found) else None

        function = function_of(self.module, node, job.path, config)  # type: ignore[arg-type]
        written = expression_in_module(function)
        paths = ", ".join(map(repr, map(os.path.abspath, settings.paths)))
        recipe = ("from np2fx.verifying.inputs.world import rewritten", f"torch_fn = rewritten({paths}).function({path!r}, {written!r})")
        passed = {name: frozenset(kinds) for name, kinds in job.passed.items()}
        return Known(rewritten, recipe if written else (), passed=passed)

    def _answer(self, job: Job, dump: TextIO) -> dict[str, Any]:
        """Verify a node within the limits."""
        worker, settings = self.worker, self.worker.settings
        steps = progress.listener = _Steps(worker.say)
        steps(START)
        report, node = Report(job.name, job.path, job.line), self._node(job)
        config, place = load_config(job.path), os.path.realpath(job.path)  # a path may mean another file when the node has run
        try:
            with _watched(settings, dump):
                function = function_of(self.module, node, job.path, config)  # type: ignore[arg-type]
                original = None
                if settings.original and function is not None and is_rewritten(function):
                    original = original_of(job.path, node.name, settings.original, settings.base)
                known = self._known(job, node, config)
                if job.calls:
                    report = verify_caller(function, job, settings, known)  # type: ignore[arg-type]
                else:
                    report = verify_node(report, node, function, worker.samples, settings, original, known)
        except LoadError as e:
            report.findings.append(dataclasses.replace(already_rewritten(report), message=str(e)))
        except NoInstanceError as e:
            report.findings.append(without_instance(report, node, e))
        except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as e:
            report.findings.append(ended_by(report, e))
        steps("")  # a copy that user code made ends here
        _as_given(report, job, place)
        if job.calls and (not report.checked.get("inputs") or any(f.name == "undeclared-input" for f in report.findings)):
            return {"report": report.to_json(), "text": "", "ok": True}  # it could not be run
        return {"report": report.to_json(), "text": str(report), "ok": report.ok}


def main() -> None:
    """Serve the parent at the other end of stdin and stdout until it closes them. argv: the path of the dump file."""
    inbox, outbox = _streams_taken()
    say = functools.partial(_say, outbox)
    settings = Settings(**json.loads(inbox.readline()))
    try:
        use_rules_of(load_config(settings.start))
        samples = Samples(settings.samples)
    except LoadError as e:
        say(fatal=str(e))
        return
    importlib.import_module("np2fx.tracing")  # now, and not in the time of the first node
    importlib.import_module("np2fx.converting")
    forks = can_fork()
    if forks:
        warm_up()
    say(ready=True, forks=forks)
    world = world_of(settings.texts, settings.paths) if settings.texts else None
    _Worker(settings, samples, say, sys.argv[1], world).serve(inbox, forks)


def _streams_taken() -> tuple[TextIO, TextIO]:
    """The parent's two pipes, out of the reach of user code: what it prints goes nowhere, and what it reads is empty.

    LAPACK prints past Python's `sys.stdout` when it is given nan, so the descriptors are redirected."""
    inbox = os.fdopen(out_of_reach(0), encoding="utf-8")
    outbox = os.fdopen(out_of_reach(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return inbox, outbox


def _say(outbox: TextIO, **message: Any) -> None:
    outbox.write(json.dumps(message) + "\n")
    outbox.flush()


def _job(line: str) -> Job:
    return Job(**json.loads(line))


class _Steps:
    """Tells the parent the step a verification is at, once for each.

    A copy of the process that user code made, and that comes back from it, has nothing to say: it ends here."""

    def __init__(self, say: Callable[..., None]) -> None:
        self.say, self.last, self.own = say, "", os.getpid()

    def __call__(self, what: str) -> None:
        if os.getpid() != self.own:
            _EXIT(0)
        if what != self.last:
            self.last = what
            self.say(step=what)


def _note_exits(dump: TextIO) -> None:
    """Let `os._exit` leave a traceback in the dump file, as a crash does. Children that user code forked exit as ever."""
    end, own = _EXIT, os.getpid()

    def noted(status: int) -> NoReturn:
        if os.getpid() == own:
            print(EXITED, file=dump, flush=True)
            faulthandler.dump_traceback(dump, all_threads=False)
        end(status)

    os._exit = noted


def _as_given(report: Report, job: Job, place: str) -> None:
    """Write places as the paths were given: a code object knows its file by an absolute path. `place` is the job's."""
    if not os.path.isabs(job.path):
        report.findings = [dataclasses.replace(finding, path=_relative(finding.path)) for finding in report.findings]
    if report.path == job.path or os.path.realpath(report.path) == place:
        report.path = job.path


def _relative(path: str) -> str:
    """A path from the folder that was the current one at the start, where it is below it."""
    here = _HERE + os.sep
    return path[len(here) :] if path.startswith(here) else path


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
    empty: Report,
    node: Node,
    function: Callable[..., Any] | None,
    samples: Samples,
    settings: Settings,
    original: Any = None,
    known: Known | None = None,
) -> Report:
    """The report of one node; `empty` is a report with its name and place in the source file, `original` what it was before it was
    rewritten, where that is known."""
    if function is None:
        what = "a region" if node.how == "region" else "a function inside another"
        message = f"{node.name} is {what}: nothing says what to call it with; verify it as a function of its arrays"
        empty.findings.append(undeclared(empty, message))
        return empty
    try:
        given, *more = samples.of(function, empty.path, node.name) or [[]]
        known = dataclasses.replace(known or Known(), recorded=tuple(more))
        return verify(function, *given, original=original, max_examples=settings.max_examples, seed=settings.seed, known=known)
    except (SpecError, TypeError) as e:
        empty.findings.append(undeclared(empty, str(e)))
        return empty


def verify_caller(function: Callable[..., Any], job: Job, settings: Settings, known: Known) -> Report:
    """The report of a plain function that calls nodes: with them rewritten it must do what it did."""
    examples = max(settings.max_examples // 2, 1)
    report = verify(function, spec=job.specs, max_examples=examples, seed=settings.seed, ways=("rewrite",), known=known)
    report.node = f"{job.name}, which calls {', '.join(job.calls)}"
    return report


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
