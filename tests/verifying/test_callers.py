"""Plain functions that call nodes: found without importing, run only where they compute, and wrong where a rewritten node no longer takes
what they pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from np2fx.source.reading.config import load_config
from np2fx.verifying.inputs.callers import Calls, calls_of
from np2fx.verifying.inputs.loading import nodes_of

from .scripts import run_scripts
from .test_cli import verify_files

NODES = """
import np2fx
import numpy as np

@np2fx.node(x="float64[n]", k="float64[]")
def scaled(x, k):
    return np.abs(x) * k

class P:
    @np2fx.node(x="float64[n]")
    def act(self, x):
        return scaled(x, np.float64(2.0))
"""
USERS = """
import numpy as np
from nodes import scaled

def spread(x, k):
    return float(scaled(x, k).std()) + len(x)

def through(x, k, s: float = 1.0):
    return np.mean(spread(x, k)), scaled(x, k) * s

def listed(x, k):
    return scaled(x, k), scaled(x.tolist(), k)

def saves(x, k):
    np.save("somewhere.npy", scaled(x, k))

def opens(x, k):
    open("somewhere", "w").close()
    return scaled(x, k)

def through_one_that_opens(x, k):
    return opens(x, k), scaled(x, k)

def unknown(x, k, device):
    return scaled(x, k), device.read()

def changed(x, k):
    x = x[::2]
    return scaled(x, k)

def main():
    return scaled([1.0, 2.0], 3), scaled((1.0,), k=-2.5), scaled(np.ones(2), float("3"))
"""


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    (tmp_path / "pyproject.toml").write_text("[tool.np2fx]\n")
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "users.py").write_text(USERS)
    path = str(tmp_path / "nodes.py")
    return calls_of([str(tmp_path)], [(path, node) for node in nodes_of(path, load_config(path))])


def test_only_what_computes_is_run(calls: Calls) -> None:
    found = {caller.name: caller for caller in calls.callers}
    assert list(found) == ["spread", "through", "listed"]
    assert found["through"].specs == {"x": "float64[n]", "k": "float64[]"}
    assert found["spread"].calls == ("scaled",)


def test_what_calls_pass_is_read(calls: Calls) -> None:
    (passed,) = calls.passed.values()
    assert passed == {"x": {"list", "tuple"}, "k": {"number"}}


def test_a_caller_that_no_longer_works_is_found(tmp_path: Path, calls: Calls, capsys: pytest.CaptureFixture[str]) -> None:
    right = "def right(x, k):\n    return scaled(x, k) + 1\n"
    wrong = "def wrong(x, k):\n    return scaled(x, k), scaled(list(x), k)\n"
    (tmp_path / "users.py").write_text(f"from nodes import scaled\n\n{right}\n{wrong}")
    assert verify_files(tmp_path, output_format="json") == 1
    reports = {report["node"]: report for report in json.loads(capsys.readouterr().out)}
    assert list(reports) == ["scaled", "P.act", "right, which calls scaled", "wrong, which calls scaled"]
    assert [report["ok"] for report in reports.values()] == [True, True, True, False]
    assert "list" in reports["scaled"]["findings"][0]["message"]
    example = reports["wrong, which calls scaled"]["counterexample"]
    assert f"they differ: {example['message']}" in run_scripts([example["code"]])[0]
