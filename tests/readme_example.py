"""Runs the examples of a Markdown page and compares what they print with what the page says they print.

    python tests/readme_example.py README.md
    python tests/readme_example.py --update README.md    # have the page say what is printed

Two kinds of examples are run, each in a folder of its own: a ```python block that a ```text block follows is a program and its
output; a ```console block holds commands (`$ np2fx check pre.py`) with their output. A line `# pre.py` at the top of a ```python block
is the name of the file it is saved as, for the commands that come after it on the page. Needs only what the examples need.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\b\d+\.\d+ s\b")
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FILE_NAME = re.compile(r"# ([\w/]+\.py)\n")


@dataclass(frozen=True)
class Example:
    """A command, what it should print, and the files it finds. `start` and `line` are where the output stands on the page."""

    command: str
    expected: str
    start: int
    line: int
    files: dict[str, str]


def examples(page: str) -> list[Example]:
    """All examples of a page, in order."""
    found: list[Example] = []
    files: dict[str, str] = {}
    program = None
    for match in _BLOCK.finditer(page):
        language, text = match.groups()
        if language == "text" and program is not None:
            found.append(_example(page, f"python {program}", text, match.start(2), files))
        program = None
        if language == "python":
            named = _FILE_NAME.match(text)
            program = named.group(1) if named else "example.py"
            files[program] = text
        elif language == "console":
            for command in _COMMAND.finditer(text):
                found.append(_example(page, command.group(1), command.group(2), match.start(2) + command.start(2), files))
    return found


def _example(page: str, command: str, expected: str, start: int, files: dict[str, str]) -> Example:
    return Example(command, expected, start, page.count("\n", 0, start), dict(files))


def printed(example: Example) -> str:
    """What the example prints, both streams, run with this interpreter's folder first on PATH."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in example.files.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120"}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(example.command, shell=True, cwd=folder, env=environment, text=True, timeout=300, **streams)
        return done.stdout.replace(f"{os.path.realpath(folder)}/", "").replace(f"{folder}/", "")


def difference(example: Example) -> str:
    """A diff of what the page says and what is printed; empty where they agree (trailing spaces and times aside)."""
    said, did = (_TIME.sub("0.1 s", text).strip().splitlines() for text in (example.expected, printed(example)))
    said, did = ([line.rstrip() for line in lines] for lines in (said, did))
    return "\n".join(difflib.unified_diff(said, did, "the page says", example.command, lineterm=""))


def updated(page: str) -> str:
    """The page with every output as it is printed today."""
    for example in reversed(examples(page)):
        if difference(example):
            output = "".join(f"{line.rstrip()}\n" for line in printed(example).strip().splitlines())
            page = page[: example.start] + output + page[example.start + len(example.expected) :]
    return page


def main(arguments: list[str]) -> int:
    wrong = 0
    for path in map(Path, (a for a in arguments if a != "--update")):
        page = path.read_text(encoding="utf-8")
        if "--update" in arguments:
            path.write_text(updated(page), encoding="utf-8")
            continue
        for example in examples(page):
            found = difference(example)
            print(f"{path}:{example.line}: {example.command}: {'differs' if found else 'ok'}")
            if found:
                print(found)
                wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
