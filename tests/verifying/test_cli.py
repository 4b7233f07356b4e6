"""np2fx verify: files in, exit code and text out."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from np2fx.codemod.rewrite import rewrite_source
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


METHODS = """\
import numpy as np
import np2fx

class Plain:
    def __init__(self, scale=2.0):
        self.mean, self.scale = np.ones(3, np.float32), scale

    @np2fx.node(x="float32[n, 3]")
    def __call__(self, x):
        return (x - self.mean) * self.scale

    @classmethod
    @np2fx.node(x="float32[n, 3]")
    def of_class(cls, x):
        return x * 2

    @staticmethod
    @np2fx.node(x="float32[n, 3]")
    def static(x):
        return x * 3

class Held:
    def __init__(self, mean):
        self.mean = mean

    @np2fx.node(x="float32[n, 3]")
    def act(self, x):
        return x - self.mean

class Made(Held):
    @np2fx.node(x="float32[n, 3]")
    def act(self, x):
        return x + self.mean

ONE = Held(np.ones(3, np.float32))

def make():
    return Made(np.zeros(3, np.float32))
"""


def test_methods_are_verified_on_an_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "methods_of_all_kinds.py", METHODS)
    assert verify_files(path) == 1
    out = capsys.readouterr().out
    assert "4 of 5 nodes verified; not ok: Made.act" in out
    assert "Made is made with mean" in out and 'methods_of_all_kinds.py:Made" = "a_function_there"' in out
    write(tmp_path, "pyproject.toml", '[tool.np2fx.instances]\n"methods*.py:Made" = "make"\n')
    assert verify_files(path) == 0
    write(tmp_path, "pyproject.toml", '[tool.np2fx.instances]\n"methods*.py:Made" = "ONE"\n')
    assert verify_files(path, node="Made.act") == 1
    assert "`ONE` of [tool.np2fx.instances] gives none" in capsys.readouterr().out


def test_a_rewritten_node_is_held_against_what_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = GOOD.replace("x / 2", "np.tanh(x) / 2")
    write(tmp_path, "was/pkg/__init__.py", "")
    write(tmp_path, "was/pkg/halves.py", before)
    write(tmp_path, "now/pkg/__init__.py", "")
    path = write(tmp_path, "now/pkg/halves.py", rewrite_source(before, "halves.py")[0])
    assert "torch.tanh" in path.read_text()
    assert verify_files(path) == 1
    assert "halve is rewritten already" in capsys.readouterr().out
    git = ["git", "-C", str(tmp_path / "was"), "-c", "user.email=a@b", "-c", "user.name=n"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "as it was"]):
        subprocess.run([*git, *command], check=True)
    assert verify_files(tmp_path / "now/pkg", original=str(tmp_path / "was/pkg")) == 0
    assert verify_files(path, original=str(tmp_path / "was/pkg/halves.py")) == 0
    right = path.read_text()
    path = tmp_path / "was/pkg/halves.py"
    path.write_text(right)
    assert verify_files(path, original="git:HEAD") == 0
    assert verify_files(path, original="git:NOWHERE") == 2
    path.write_text(right.replace("torch.tanh(", "torch.sin("))
    capsys.readouterr()
    assert verify_files(path, original="git:HEAD") == 1
    assert "the rewritten function does not do what NumPy does" in capsys.readouterr().out
    assert verify_files(path, original=str(path)) == 1
    assert "halve of the original is rewritten as well" in capsys.readouterr().out


def test_state_of_an_object_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """\
import np2fx

class P:
    mean = None

    @np2fx.node(x="float32[7]")
    def act(self, x):
        if self.mean is None:
            self.mean = x.mean()
        return x - self.mean
"""
    assert verify_files(write(tmp_path, "adapting.py", text)) == 1
    assert "the function keeps self.mean for its next call" in capsys.readouterr().out


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
