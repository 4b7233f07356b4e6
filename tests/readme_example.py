"""Runs the examples of a Markdown page and compares what they print with what the page says they print.

    python tests/readme_example.py README.md

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
_FILE_NAME = re.compile(r"# ([\w/]+\.py)\n")


@dataclass(frozen=True)
class Example:
    """A command, what it should print, and the files it finds. `line` is where the output stands on the page."""

    command: str
    expected: str
    line: int
    files: dict[str, str]


def examples(page: str) -> list[Example]:
    """All examples of a page, in order."""
    found: list[Example] = []
    files: dict[str, str] = {}
    program = None
    for match in _BLOCK.finditer(page):
        language, text = match.groups()
        line = page.count("\n", 0, match.start()) + 1
        if language == "text" and program is not None:
            found.append(Example(f"python {program}", text, line, dict(files)))
        program = None
        if language == "python":
            named = _FILE_NAME.match(text)
            program = named.group(1) if named else "example.py"
            files[program] = text
        elif language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                found.append(Example(command, expected, line, dict(files)))
    return found


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


def main(paths: list[str]) -> int:
    wrong = 0
    for path in paths:
        for example in examples(Path(path).read_text(encoding="utf-8")):
            found = difference(example)
            print(f"{path}:{example.line}: {example.command}: {'differs' if found else 'ok'}")
            if found:
                print(found)
                wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
