"""np2fx verify: files in, exit code and text out."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from np2fx.verifying.cli import run

GOOD = """\
import numpy as np
import np2fx

def helper(x):
    return x / 2

@np2fx.node(x="float32[7]")
def halve(x):
    return helper(x)
"""
UNDECLARED = """\
import numpy as np
import np2fx

@np2fx.node
def double(x):
    return x * 2
"""


def verify_files(*paths: Path, **options: Any) -> int:
    defaults = {"samples": None, "max_examples": 10, "output_format": "text", "node": None}
    return run(argparse.Namespace(paths=[str(path) for path in paths], **{**defaults, **options}))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_files(write(tmp_path, "good_node.py", GOOD)) == 0
    assert "halve: ok" in capsys.readouterr().out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "pkg/__init__.py", "")
    write(tmp_path, "pkg/helpers.py", "def helper(x):\n    return x / 2\n")
    write(tmp_path, "pkg/nodes.py", GOOD.replace("def helper(x):\n    return x / 2\n", "from .helpers import helper\n"))
    assert verify_files(tmp_path, output_format="json") == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["node"], report["ok"]) == ("halve", True)
    assert report["filename"].endswith("nodes.py")


def test_undeclared_needs_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "undeclared_node.py", UNDECLARED)
    assert verify_files(path) == 1
    assert "undeclared-input" in capsys.readouterr().out
    np.savez(tmp_path / "samples.npz", **{"double.x": np.ones(3)})
    assert verify_files(path, samples=str(tmp_path / "samples.npz")) == 0


def test_one_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "two_nodes.py", GOOD + UNDECLARED)
    assert verify_files(path, node="halve") == 0
    assert verify_files(path, node="third") == 2
    assert "no node 'third' was found" in capsys.readouterr().err


def test_a_method_has_nothing_to_be_called_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import np2fx\nclass P:\n    @np2fx.node(x='float32[7]')\n    def act(self, x):\n        return x\n"
    assert verify_files(write(tmp_path, "methods.py", text)) == 1
    assert "P.act is a method" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import np2fx\n@np2fx.node\ndef f(x:\n", "syntax|never closed"),
        ("import np2fx\n1 / 0\n@np2fx.node\ndef f(x):\n    return x\n", "cannot be imported: ZeroDivisionError"),
        ("import np2fx\nraise SystemExit(3)\n@np2fx.node\ndef f(x):\n    return x\n", "it exits with 3"),
        ("x = 1\n", "no-node"),
    ],
)
def test_what_cannot_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    assert verify_files(write(tmp_path, "cannot_run.py", text)) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert re.search(said, error)


def test_missing_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_files(tmp_path / "nowhere.py") == 2
    assert verify_files(write(tmp_path, "g.py", GOOD), samples=str(tmp_path / "nowhere.npz")) == 2
    assert "nowhere" in capsys.readouterr().err


def test_two_files_of_one_name(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a/same_name.py", GOOD), write(tmp_path, "b/same_name.py", GOOD.replace("/ 2", "* 2"))
    assert verify_files(one, two) == 0
