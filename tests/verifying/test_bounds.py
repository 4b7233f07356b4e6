"""Where a graph raises by a documented limit, verify says so, and does not call it a bug."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import np2fx
import np2fx.semantics
import np2fx.tracing
import numpy as np
import pytest
from np2fx.verifying.checking import check_form
from np2fx.verifying.comparing.bounds import bound_of, texts


def whole(x):
    return x + int(x[0])


def rounded(x):
    return x * round(x[0])


def ordered(x):
    return np.array(sorted(x.tolist()))


def root(x):
    return x * (float(x[0]) ** 0.5).real


def inverted(x):
    return np.linalg.inv(np.outer(x, x) + np.eye(3) * 9)


@pytest.mark.parametrize(
    ("fn", "said", "way_out"),
    [
        (whole, "64 bits", "floats"),
        (rounded, "64 bits", "floats"),
        (ordered, "NaN", "np.sort"),
        (root, "complex", "complex(v)"),
        (inverted, "LAPACK", "finite numbers"),
    ],
)
def test_a_limit_of_graphs_is_called_one(fn: Any, said: str, way_out: str) -> None:
    report = np2fx.verify(fn, np.array([1.0, 2.0, 3.0]), max_examples=100)
    assert report.ok and report.counterexample is None and report.checked["bounded_trace"] > 0, str(report)
    finding = next(finding for finding in report.findings if "the graph raises where NumPy gives a value" in finding.message)
    assert finding.severity == "warning" and said in finding.message and "as for {'x': array(" in finding.message
    assert way_out in finding.hint and "bug" not in str(report)
    assert all("limit that is documented" in finding.hint for finding in report.findings)


def test_so_is_one_of_converted_functions() -> None:
    def form(x):
        return x + 2**70

    report = check_form(lambda x: x + (2**70 if x[0] > 1e3 else 0), lambda x: form(x) if x[0] > 1e3 else x, np.ones(3), max_examples=100)
    assert report.ok and [finding.severity for finding in report.findings] == ["warning"], str(report)
    assert "beyond int64" in report.findings[0].message


@pytest.mark.parametrize("fn", [whole, rounded])
def test_within_declared_bounds_there_is_no_limit(fn: Any) -> None:
    report = np2fx.verify(fn, spec={"x": "float64[3] in [-9, 9]"}, max_examples=30)
    assert report.ok and not report.findings, str(report)


def test_windows_that_reach_beyond_the_end_are_warnings() -> None:
    def window(x):
        i = int(x[0])
        return x[i : i + 2] * 2

    report = np2fx.verify(window, spec={"x": "float64[6] in [0, 5.2]"}, max_examples=60, ways=("trace",))
    assert report.ok and [finding.severity for finding in report.findings] == ["warning"], str(report)


def test_a_graph_that_never_answers_is_not_ok() -> None:
    def huge(x):
        return x + int(x[0])

    report = np2fx.verify(huge, spec={"x": "float64[2] in [1e30, 2e30]"}, max_examples=10, ways=("trace",))
    assert not report.ok


@pytest.mark.parametrize("error", [IndexError("beyond int64"), RuntimeError("shapes do not match"), None])
def test_other_errors_are_mismatches(error: Any) -> None:
    def form(x):
        if error is not None:
            raise error
        return x + 1

    assert bound_of(error) is None
    assert not check_form(lambda x: x * 2, form, np.ones(3)).ok


@pytest.mark.parametrize("text", texts())
def test_the_words_are_those_of_graphs(text: str) -> None:
    folders = (Path(module.__file__).parent for module in (np2fx.tracing, np2fx.semantics))
    assert any(text in path.read_text() for folder in folders for path in folder.rglob("*.py"))
