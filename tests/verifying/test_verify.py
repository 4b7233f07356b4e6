"""verify: what it finds, with torch forms of our own making, and with the real ones."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import np2fx
import np2fx.converting
import numpy as np
import pytest
import torch
from np2fx.source.findings.kinds import KINDS
from np2fx.verifying import Report, verify

ENDINGS = ("node-crashed", "node-timed-out", "out-of-memory")
"""Kinds whose bad examples end the process; test_isolation tries them."""


@pytest.fixture
def converts_to(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Makes convert() answer with a torch function of the test's."""
    return lambda form: monkeypatch.setattr(np2fx.converting, "convert", lambda fn: form)


def names(report: Report) -> list[str]:
    return sorted({finding.name for finding in report.findings})


def scaled(x, y):
    return np.maximum(x * 2 + y, 0)


SPEC = {"x": "float32[batch, 7]", "y": "float32[7] in [-1, 1]"}


def test_a_right_form_is_ok(converts_to: Any) -> None:
    converts_to(lambda x, y: torch.maximum(x * 2 + y, torch.zeros(())))
    report = verify(scaled, spec=SPEC, ways=("convert",))
    assert report.ok, str(report)
    assert report.checked["inputs"] >= 50
    assert "ok (50 inputs" in str(report)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (lambda x, y: torch.relu(x * 2 + y).double(), "dtype float64"),
        (lambda x, y: torch.relu(x * 2 + y).mean(0), "shape"),
        (lambda x, y: torch.nan_to_num(torch.relu(x * 2 + y)), "nan|inf"),
        (lambda x, y: torch.relu(x * 2 + y) + (x == 0.5), "result"),
        (lambda x, y: torch.relu(x.mul_(2) + y), "x after the call"),
        (lambda x, y: torch.relu(x * 2 + y)[None][5], "torch raises IndexError"),
    ],
)
def test_a_wrong_form_is_found(converts_to: Any, form: Any, message: str) -> None:
    converts_to(form)
    report = verify(scaled, spec=SPEC, ways=("convert",))
    assert names(report) == ["mismatch"]
    assert not report.ok
    assert re.search(message, report.findings[0].message)
    assert report.findings[0].line == scaled.__code__.co_firstlineno
    json.dumps(report.to_json())


def test_counterexamples_are_small(converts_to: Any) -> None:
    converts_to(lambda x, y: torch.relu(x * 2 + y) + (x > 0.5) * 0.25)
    report = verify(scaled, spec=SPEC, ways=("convert",))
    assert report.counterexample is not None
    x = report.counterexample.arguments["x"]
    assert x.shape == (1, 7)
    assert np.count_nonzero(x) == 1
    assert np.count_nonzero(report.counterexample.arguments["y"]) == 0


def test_counterexamples_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, converts_to: Any) -> None:
    path = tmp_path / "halves.py"
    path.write_text("import numpy as np\n\ndef halves(x, n=2):\n    return np.rint(x) / n\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from halves import halves  # type: ignore[import-not-found]

    converts_to(lambda x, n=2: torch.floor(x + 0.5) / n)
    report = verify(halves, np.array([0.25, 3.0]), ways=("convert",))
    assert report.counterexample is not None
    done = subprocess.run([sys.executable, "-c", report.counterexample.code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "NumPy:" in done.stdout


def test_numpy_errors_must_be_raised_by_all(converts_to: Any) -> None:
    def pick(x, i):
        return x[i]

    sample = (np.arange(3.0), np.array([0, 2]))
    converts_to(lambda x, i: x[i])
    assert verify(pick, *sample, ways=("convert",)).ok
    converts_to(lambda x, i: x[i.clamp(-3, 2)])
    report = verify(pick, *sample, max_examples=200, ways=("convert",))
    assert names(report) == ["mismatch"]
    assert "NumPy raises IndexError" in report.findings[0].message


def test_undefined_casts_are_left_out(converts_to: Any) -> None:
    converts_to(lambda x: torch.nan_to_num(x).to(torch.int32))
    report = verify(lambda x: x.astype(np.int32), spec={"x": "float32[3]"}, max_examples=100, ways=("convert",))
    assert report.ok
    assert report.checked["undefined"] > 0


def test_the_seed_decides(converts_to: Any) -> None:
    converts_to(lambda x, y: torch.relu(x * 2 + y) + (x > 3) * 0.25)
    one, two = (verify(scaled, spec=SPEC, ways=("convert",), seed=3) for _ in range(2))
    assert one.counterexample is not None
    assert two.counterexample is not None
    assert one.counterexample.code == two.counterexample.code


def test_an_argument_of_which_nothing_is_known() -> None:
    report = verify(scaled)
    assert names(report) == ["undeclared-input"]
    assert "np2fx.node" in report.findings[0].hint
    assert not report.ok


def test_a_node_that_raises_on_all_that_its_spec_allows() -> None:
    report = verify(lambda x: x.reshape(5, 5), spec={"x": "float32[7]"})
    assert names(report) == ["undeclared-input"]


def test_random_results_are_found(converts_to: Any) -> None:
    converts_to(lambda x: x)
    report = verify(lambda x: x + np.random.rand(), np.ones(3), ways=("convert",))
    assert names(report) == ["mismatch"]
    assert "called twice" in report.findings[0].message


def test_unknown_ways() -> None:
    with pytest.raises(ValueError, match="'both'"):
        verify(scaled, np.ones(2), np.ones(2), ways=("both",))


# With the real converter and tracer


@np2fx.node(state="float32[batch, 7]", velocity="float32[batch, 3] in [-2, 2]")
def preprocess(state, velocity):
    centred = np.clip((state - 0.5) / 2.0, -5.0, 5.0)
    return np.concatenate([centred, velocity / np.sqrt(np.sum(velocity**2, axis=-1, keepdims=True) + 1e-6)], axis=-1)


def test_a_node_is_verified() -> None:
    report = np2fx.verify(preprocess)
    assert report.ok, str(report)
    assert report.sizes == {"batch": [3, 4]}
    assert report.checked.get("refused_trace", 0) < report.checked["inputs"]
    assert report.checked.get("refused_convert", 0) == 0


def test_a_sample_is_enough() -> None:
    def smooth(x):
        weights = np.exp(-0.1 * np.arange(5))
        return {"mean": (x * weights).sum() / weights.sum(), "last": x[-1]}

    report = np2fx.verify(smooth, np.linspace(0.0, 1.0, 5))
    assert report.ok, str(report)


def test_a_branch_on_values_is_a_choice_or_refused() -> None:
    assert np2fx.verify(lambda x: x + 1 if x.sum() > 0 else x, np.ones(3)).ok
    report = np2fx.verify(lambda x: x[:1] if x.sum() > 0 else x, np.ones(3))
    assert not report.ok
    assert "data-dependent-branch" in names(report)


ANSWERS = [kind for kind in KINDS.values() if kind.stage == "verify" and kind.name not in ENDINGS]


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.name)
def test_examples_of_kinds(kind: Any) -> None:
    for source, wanted in ((kind.bad, True), (kind.good, False)):
        scope: dict[str, Any] = {}
        exec(compile(source, f"<{kind.name}>", "exec"), scope)
        (node,) = [f for f in scope.values() if hasattr(f, "__np2fx_spec__")]
        samples = () if node.__np2fx_spec__ else tuple(np.linspace(0, 1, 3) + n for n in range(node.__code__.co_argcount))
        found = [f.name for f in np2fx.verify(node, *samples, ways=("trace",)).findings if f.severity == "error"]
        assert (kind.name in found) == wanted, found


def test_the_order_of_ties_is_left_open(converts_to: Any) -> None:
    sample = np.zeros(6)
    converts_to(lambda x: torch.argsort(x, stable=True))
    assert verify(lambda x: x.argsort(), sample, ways=("convert",)).ok
    assert verify(lambda x: np.argsort(x.copy()), sample, ways=("convert",)).ok
    converts_to(lambda x: torch.argsort(x, stable=True, descending=True))
    assert not verify(lambda x: x.argsort(), sample, ways=("convert",)).ok
    converts_to(lambda x: torch.sort(x).values)
    assert verify(lambda x: np.partition(x, 2), sample, ways=("convert",)).ok
    converts_to(lambda x: x.numel() - 1 - torch.argmax(x.flip(0)))
    assert not verify(lambda x: np.argmax(x), sample, ways=("convert",)).ok


def test_a_search_in_unsorted_values_is_undefined(converts_to: Any) -> None:
    converts_to(lambda x, v: torch.searchsorted(x, v))
    report = verify(lambda x, v: np.searchsorted(x, v), np.arange(5.0), np.ones(3), ways=("convert",))
    assert report.ok, str(report)
    assert report.checked["undefined"] > 0


@dataclasses.dataclass
class Scaled:  # dataclasses that compare by value have no hash
    factor: float

    def __call__(self, x):
        return x * self.factor


def test_an_object_without_a_hash_is_a_node():
    assert np2fx.verify(Scaled(2.0), np.ones(3), max_examples=5).ok


def test_rows_that_are_picked_and_not_used_are_no_leak() -> None:
    def swapped(x):
        x[2], x[0] = x[0], x[2]
        return x

    report = np2fx.verify(swapped, np.arange(12.0).reshape(4, 3), max_examples=5, ways=("trace",))
    assert report.ok, str(report)
