"""Every counterexample that is printed runs by itself, and shows the difference that it was printed for."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import np2fx
import numpy as np
import pytest
from np2fx.codemod.rewrite import rewrite_source
from np2fx.semantics import table
from np2fx.support import own_rules
from np2fx.verifying.comparing.counterexample import assignments

from .scripts import run_scripts
from .test_cli import verify_files

LIBRARY = """
import numpy as np

def weigh(x):
    return x * 2 + (np.abs(x) < 1)

def rounded(x):
    return x * 2 + (x > 1)

def alike(x, y):
    return x + (x is y)

def shared(x, y):
    return x + np.shares_memory(x, y)

def locked(x):
    return x + (not x.flags.writeable)

def stepped(x):
    return x + (x.strides[0] != x.itemsize)
"""
RULES = """
from np2fx.rules import rule

@rule("weighing.weigh", kind="elementwise")
def weigh(x):
    return x * 2

@rule("weighing.rounded", kind="elementwise")
def rounded(x):
    return x * 2

@rule("weighing.alike", kind="elementwise")
def alike(x, y):
    return x + 0

@rule("weighing.shared", kind="elementwise")
def shared(x, y):
    return x + 0

@rule("weighing.locked", kind="elementwise")
def locked(x):
    return x + 0

@rule("weighing.stepped", kind="elementwise")
def stepped(x):
    return x + 0
"""
NODES = """
import dataclasses
import functools

import np2fx
import numpy as np
import weighing

@np2fx.node(x="float64[n]")
def array(x):
    return weighing.weigh(x)

@np2fx.node(x="float64[7]")
def met_while_traced(x):
    return weighing.rounded(x)

@np2fx.node(d={"a": "float64[2]", "b": ["float32[3]"]}, k="int", s="float")
def containers(d, k, s):
    return {"sum": weighing.weigh(d["a"]) + d["b"][0][0] * k, "s": s}

@np2fx.node(x="float64[]")
def scalar(x):
    return weighing.weigh(x)

@np2fx.node(x="float64[3]", y="float64[3]")
def one_object(x, y):
    return weighing.alike(x, y)

@np2fx.node(x="float64[3]", y="float64[3]")
def one_memory(x, y):
    return weighing.shared(x, y)

@np2fx.node(x="float64[n]")
def read_only(x):
    return weighing.locked(x)

@np2fx.node(x="float64[n]")
def strides(x):
    return weighing.stepped(x)

@dataclasses.dataclass
class Scaled:
    factor: float = 2.0

    @np2fx.node(x="float64[n]")
    def act(self, x):
        return weighing.weigh(x) * self.factor

    def __call__(self, x):
        return weighing.weigh(x) * self.factor

SCALED = Scaled(3.0)
partly = functools.partial(lambda k, x: weighing.weigh(x) * k, 2.0)

def maker(k):
    def inner(x):
        return weighing.weigh(x) * k
    return inner

STEPS = [0]

@np2fx.node(x="float64[2]")
def counting(x):
    STEPS[0] += 1
    return x / STEPS[0]
"""


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module in a package, with rules of the project's own that are wrong, and so torch forms that are."""
    before, known = set(sys.modules), {*table.RULES, *table.REFUSALS}
    monkeypatch.setattr(own_rules, "_used", {})
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "pyproject.toml").write_text('[tool.np2fx]\nrules = ["wrong_rules"]\n')
    (tmp_path / "package").mkdir()
    texts = {"weighing.py": LIBRARY, "wrong_rules.py": RULES, "package/__init__.py": "", "package/nodes.py": NODES}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    np2fx.use_rules("wrong_rules")
    yield importlib.import_module("package.nodes")
    table.remove({*table.RULES, *table.REFUSALS} - known)
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_of_every_way_and_kind_of_argument(nodes: Any) -> None:
    """Rules of a project's own that lie. A rewritten file calls the function itself, and is right."""
    x = np.linspace(1.5, 4.0, 4)
    cases: list[tuple[Any, tuple[Any, ...], tuple[str, ...]]] = [
        *((nodes.array, (), (way,)) for way in ("trace", "convert")),
        (nodes.array, (x[::2],), ("convert",)),
        (nodes.met_while_traced, (), ("trace",)),
        *((nodes.containers, (), (way,)) for way in ("trace", "convert")),
        *((nodes.scalar, (), (way,)) for way in ("trace", "convert")),
        *((node, (), ("convert",)) for node in (nodes.one_object, nodes.one_memory)),
        *((nodes.Scaled(5.0).act, (), (way,)) for way in ("trace", "convert")),
        (nodes.SCALED, (x,), ("convert",)),
        (nodes.Scaled(4.0), (x,), ("trace",)),
        (nodes.partly, (x,), ("convert",)),
        (nodes.maker(3.0), (x,), ("convert",)),
        (nodes.maker(3.0), (x,), ("trace",)),
        (nodes.counting, (), ("trace",)),
    ]
    for node in (nodes.array, nodes.containers, nodes.scalar, nodes.one_object, nodes.read_only, nodes.strides):
        report = np2fx.verify(node, ways=("rewrite",), max_examples=10)
        assert report.ok, str(report)
    scripts, messages = [], []
    for fn, samples, ways in cases:
        report = np2fx.verify(fn, *samples, ways=ways, max_examples=30, shrink_seconds=0.2)
        assert report.counterexample is not None and not report.ok, str(report)
        scripts.append(report.counterexample.code)
        messages.append(report.counterexample.message)
    for script, printed, message in zip(scripts, run_scripts(scripts), messages, strict=True):
        assert f"they differ: {message}" in printed and "Traceback" not in printed, f"{script}\n{printed}"


BEFORE = """
import np2fx
import numpy as np
from .helpers import K

class P:
    @np2fx.node(x="float64[2]")
    def act(self, x):
        return np.tanh(x) * K

@np2fx.node(x="float64[2]")
def f(x):
    return np.tanh(x) + K
"""


def test_of_rewritten_nodes_against_what_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    was, now = tmp_path / "was/pkg", tmp_path / "now/pkg"
    for folder in (was, now):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "helpers.py").write_text("K = 2.0\n")
        (folder / "nodes.py").write_text(BEFORE)
    git = ["git", "-C", str(now.parent), "-c", "user.email=a@b", "-c", "user.name=n"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "as it was"]):
        subprocess.run([*git, *command], check=True)
    (now / "nodes.py").write_text(re.sub(r"(torch|npx)\.tanh\(", r"\1.sin(", rewrite_source(BEFORE, "nodes.py")[0]))
    scripts, messages = [], []
    for path, original in ((now, "git:HEAD"), (now / "nodes.py", str(was / "nodes.py")), (now, str(was))):
        assert verify_files(path, original=original, output_format="json") == 1
        for report in json.loads(capsys.readouterr().out):
            assert report["counterexample"] is not None and report["counterexample"]["way"] == "rewrite", report
            scripts.append(report["counterexample"]["code"])
            messages.append(report["counterexample"]["message"])
    assert len(scripts) == 6
    for script, printed, message in zip(scripts, run_scripts(scripts), messages, strict=True):
        assert f"they differ: {message}" in printed and "Traceback" not in printed, f"{script}\n{printed}"


BASE = np.arange(12.0)
PLACED = {
    "alone": {"x": BASE.copy()},
    "one object": {"x": BASE[:3].copy()},
    "backwards": {"x": BASE[::-1]},
    "backwards in two axes": {"x": BASE.reshape(3, 4)[::-1, ::-2]},
    "repeated": {"x": np.broadcast_to(BASE[:3], (2, 3))},
    "read-only": {"x": np.frombuffer(BASE.tobytes())},
    "on one memory": {"x": BASE[:5], "y": [BASE[3:9:2], BASE[8:2:-1]]},
    "inside": {"x": {"a": BASE[::-1]}, "n": 3},
    "0-d": {"x": np.array(2.0), "k": np.float32(1.5)},
}


@pytest.mark.parametrize("arguments", PLACED.values(), ids=PLACED)
def test_assignments_make_what_was_tried(arguments: dict[str, Any]) -> None:
    if "one object" in PLACED and arguments is PLACED["one object"]:
        arguments = {**arguments, "again": [arguments["x"]]}
    scope: dict[str, Any] = {"np": np}
    exec("\n".join(assignments(arguments)), scope)
    made = {name: scope[name] for name in arguments}
    before, after = list(_ends(arguments)), list(_ends(made))
    for x, y in zip(before, after, strict=True):
        assert type(x) is type(y)
        np.testing.assert_array_equal(x, y)
        if isinstance(x, np.ndarray):
            assert (x.strides, x.dtype, x.flags.writeable) == (y.strides, y.dtype, y.flags.writeable)
            assert [np.shares_memory(x, other) for other in before] == [np.shares_memory(y, other) for other in after]
            assert [x is other for other in before] == [y is other for other in after]


def _ends(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _ends(item)
    else:
        yield value
