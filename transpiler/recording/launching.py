"""Starts a program under the watch and gathers what its processes saw.

The program runs in a process of its own, as `python -m np2fx.recording.launching`; each process writes what it saw into a folder when it
ends. Processes that it forks are watched too, and the workers of pytest-xdist, in which np2fx's pytest plugin starts the watch.
"""

from __future__ import annotations

import ast
import atexit
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing import util
from typing import Any

from ..source.reading import files
from ..source.reading.nodes import functions_in
from ..source.reading.signatures import FILE, VERSION, Signatures, key_of, root_above
from .sizes import Sizes
from .watching import Watch

ENVIRONMENT = "NP2FX_RECORDING"
"""Where processes find what to do: JSON with the project's root, the folder for what they see, patterns of files to leave out, and the
folder for samples."""


class RecordError(Exception):
    """A program that could not be run under the watch; the message says why."""


def run(command: list[str], root: str, exclude: tuple[str, ...] = (), samples: str | None = None) -> tuple[int, Signatures]:
    """Run a program (`pytest ...`, `python FILE ...`, `-m MODULE ...`): its exit code, and what was seen. Raises RecordError."""
    with tempfile.TemporaryDirectory(prefix="np2fx-recording-") as folder:
        task = {"root": root, "folder": folder, "exclude": list(exclude), "samples": samples}
        environment = {**os.environ, ENVIRONMENT: json.dumps(task)}
        code = subprocess.run([sys.executable, "-m", __name__, *_program(command)], env=environment, check=False).returncode
        return code, gathered(folder, root)


def _program(command: list[str]) -> list[str]:
    """A command as arguments of `python`."""
    first = os.path.basename(command[0])
    if first in ("python", "python3", os.path.basename(sys.executable)):
        command = command[1:]
        if not command or (command[0].startswith("-") and command[0] != "-m"):
            raise RecordError("only `python FILE` and `python -m MODULE` can be recorded")
        return command
    if command[0] == "-m" or command[0].endswith(".py"):
        return command
    if first in ("pytest", "py.test"):
        return ["-m", "pytest", *command[1:]]
    raise RecordError(f"{command[0]}: only Python programs can be recorded: pytest ..., python FILE ..., -m MODULE ...")


def begin() -> None:
    """Watch this process, if it was started to be watched and is not yet."""
    given = os.environ.get(ENVIRONMENT)
    if given is None or _watches:
        return
    task = json.loads(given)
    keep = None
    if task["samples"]:
        from .samples import Samples

        keep = Samples(task["samples"])
    watch = Watch(task["root"], lambda path: files.excluded(path, task["exclude"], task["root"]), keep)
    _watches.append(watch)

    def end() -> None:
        watch.stop()
        with open(os.path.join(task["folder"], f"{os.getpid()}.json"), "w", encoding="utf-8") as file:
            json.dump(watch.found(), file)
        if keep is not None:
            keep.write(lambda code: _names(task["root"], os.path.realpath(code.co_filename)).get(code.co_firstlineno))

    atexit.register(end)
    util.register_after_fork(watch, lambda watch: _in_child(watch, end))
    watch.start()


_watches: list[Watch] = []


def _in_child(watch: Watch, end: Callable[[], None]) -> None:
    """A process that multiprocessing has forked starts anew, and ends without `atexit`."""
    watch.forget()
    util.Finalize(None, end, exitpriority=-100)


def gathered(folder: str, root: str) -> Signatures:
    """What all processes saw, by function."""
    ways: dict[str, dict[str, Sizes]] = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            seen = json.load(file)
        for function in seen:
            key = _names(root, function["file"]).get(function["line"])
            if key is None:
                continue
            for way in function["ways"]:
                found = Sizes(way["first"], way["same"], way["group"], way["calls"])
                ways.setdefault(key, {}).setdefault(json.dumps(way["kinds"]), Sizes()).merge(found)
    return {key: [_way(kinds, sizes) for kinds, sizes in sorted(found.items())] for key, found in sorted(ways.items())}


def _way(kinds: str, sizes: Sizes) -> dict[str, Any]:
    names = iter(sizes.named())
    return {"calls": sizes.calls, "parameters": {name: _filled(kind, names) for name, kind in json.loads(kinds).items()}}


def _filled(kind: Any, names: Iterator[int | str]) -> Any:
    """A description with its sizes put in."""
    if isinstance(kind, list):
        return [_filled(k, names) for k in kind]
    if isinstance(kind, dict):
        return {key: _filled(k, names) for key, k in kind.items()}
    head, bracket, dims = kind.partition("[")
    return f"{head}[{', '.join(str(next(names)) for d in dims.rstrip(']').split(', ') if d)}]" if bracket else kind


def _names(root: str, path: str, known: dict[str, dict[int, str]] = {}) -> dict[int, str]:  # noqa: B006 - one process, few files
    """The functions of a file by their first line, decorators included."""
    if path not in known:
        try:
            tree = ast.parse(files.decode(files.read(path), path).text)
        except (OSError, SyntaxError, files.EncodingError):
            tree = ast.Module([], [])
        lines = {min([f.lineno, *(d.lineno for d in f.decorator_list)]): name for f, (name, _) in functions_in(tree)}
        known[path] = {line: key_of(root, path, name) for line, name in lines.items()}
    return known[path]


def write(root: str, found: Signatures) -> str:
    """The signatures, written beside the project. Returns the path. Raises OSError."""
    path = os.path.join(root, FILE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    root_above.cache_clear()
    files.write(path, (json.dumps({"version": VERSION, "functions": found}, indent=1) + "\n").encode())
    return path


def main(argv: list[str]) -> None:
    """Run the program that `argv` names, as `python` would."""
    begin()
    sys.path[0] = os.getcwd() if argv[0] == "-m" else os.path.dirname(os.path.abspath(argv[0]))
    if argv[0] == "-m":
        sys.argv = argv[1:]
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = argv
        runpy.run_path(argv[0], run_name="__main__")


if __name__ == "__main__":  # the module under its own name, which pytest's plugin asks whether a watch is on
    importlib.import_module("np2fx.recording.launching").main(sys.argv[1:])
