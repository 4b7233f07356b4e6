"""A part of NumPy's own tests as cases, recorded from the installed NumPy: each call right or refused. All of them, in some minutes:
`python -m tests.conformance.numpys_tests`."""

from __future__ import annotations

import ast
import functools

import numpy as np
import pytest

from .cases import Case
from .numpys_tests import cases, modules, record
from .open_answers import why_open
from .recording import RECORDER, passed_through
from .score import WAYS, judge

PART = ("fft/tests/test_helper.py", "lib/tests/test_shape_base.py", "lib/tests/test_ufunclike.py", "_core/tests/test_item_selection.py")
EVERY = 6


@functools.cache
def part() -> list[Case]:
    present = [path for path in PART if path in modules()]
    return cases(record(present)[::EVERY])


@pytest.mark.parametrize("way", WAYS)
def test_calls_are_right_or_refused(way):
    verdicts = [judge(way, case) for case in part()]
    assert not [v for v in verdicts if v.failed]
    assert sum(v.verdict == "right" for v in verdicts) >= 0.9 * len(verdicts) > 50


def test_calls_come_from_many_modules():
    assert len(modules()) > 40
    assert {path.split("/")[0] for path in modules()} == {"_core", "lib", "linalg", "fft"}


PROGRAM = """
def assert_raises(error, function, *args):
    try:
        function(*args)
    except error:
        pass

def run(np):
    x = np.arange(6.0).reshape(2, 3)
    y = np.sum(x, axis=-1)
    x[0, 1:] = 7
    x += np.float32(2)
    assert_raises(ValueError, np.reshape, y, (5, 5))
    return [f(x.T[::-1]) for f in (np.max, np.add.reduce)], x < 3, -y, locals()
"""


def recorded() -> list[str]:
    RECORDER.calls.clear()
    names = dict(RECORDER.hooks)
    exec(compile(passed_through(ast.parse(PROGRAM)), "<program>", "exec"), names)
    names["run"](np)
    return [code.split(":\n", 1)[1].strip() for code, _ in RECORDER.calls]


def test_what_a_test_module_does_is_written_down():
    assert recorded() == [
        "return np.arange(6.0)", "return x0.reshape(2, 3)", "return np.sum(x0, axis=-1)", "x0[(0, slice(1, None, None))] = 7",
        "return np.float32(2)", "y = x0\n    y += x1[0]\n    return y", "return np.reshape(x0, (5, 5))", "return x0.T",
        "return x0[slice(None, None, -1)]",
        "return np.max(x0)", "return np.add.reduce(x0)", "return x0 < 3", "return -x0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "code", "array", "is_open"),
    [
        ("np.partition", "np.partition(x0, 1)", np.arange(3), True),
        ("np.argsort", "np.argsort(x0)", np.array([1, 1]), True),
        ("np.argsort", "np.argsort(x0)", np.array([2, 1]), False),
        ("np.argsort", "np.argsort(x0, kind='stable')", np.array([1, 1]), False),
        ("np.ndarray.searchsorted", "x0.searchsorted(1)", np.array([2, 1]), True),
        ("np.sum", "np.sum(x0)", np.array([2, 1]), False),
        ("np.linalg.eigh", "np.linalg.eigh(x0)", np.eye(3) + 1e-15 * np.ones((3, 3)), True),
        ("np.linalg.eig", "np.linalg.eig(x0)", np.array([[0.0, 1.0], [-1.0, 0.5]]), True),
        ("np.linalg.eigh", "np.linalg.eigh(x0)", np.diag([1.0, 2.0]) + 0.1, False),
    ],
)
def test_open_answers(name, code, array, is_open):
    assert bool(why_open(name, f"import numpy as np\ndef node(x0): return {code}", [array], [])) is is_open
    assert why_open("np.sum", "np.sum(x0)", [], ["invalid value encountered in cast"])
