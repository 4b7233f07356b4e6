"""What is said of parameters of which nothing is declared: it hangs on their being arrays, and says so."""

from __future__ import annotations

import np2fx
import pytest

GUESSED = {
    "a branch on arithmetic": ("def f(w, x):\n    assert w % 2 == 0\n    return np.sin(x) * w\n", ("data-dependent-branch", "w")),
    "a loop": ("def f(ws):\n    return np.array([w * 2 for w in zip(ws, ws)])\n", ("element-iteration", "ws")),
    "a Python number": ("def f(t, up):\n    return np.zeros(3) * int(up * 2) + t\n", ("python-value", "up")),
    "an item of an item": ("def f(s):\n    return np.array([v for v in s[0][1]])\n", ("element-iteration", "s")),
}


def findings(text: str) -> list:
    return np2fx.check_source("import numpy as np\n\n\n" + text, all_functions=True)


@pytest.mark.parametrize(("text", "expected"), GUESSED.values(), ids=GUESSED)
def test_a_guess_says_so(text, expected):
    name, parameter = expected
    found = [f for f in findings(text) if f.name == name]
    assert found
    assert all(f.message.startswith(f"if `{parameter}` is an array, ") and f.severity == "warning" for f in found)


def test_what_is_declared_is_no_guess():
    found = findings("def f(w: np.ndarray):\n    assert w[0] * 2 > 0\n    return np.sin(w)\n")
    assert [f.message for f in found if f.name == "data-dependent-branch"] == ["a branch is decided by array values"]


def test_a_count_in_a_helper_is_no_array():
    text = "def cut(x: np.ndarray, k):\n    return np.sort(x)[:k]\n\n\ndef outer(x: np.ndarray, k):\n    return cut(x, k)\n"
    assert not [f for f in findings(text) if f.name == "data-dependent-shape"]


def test_a_method_with_more_arguments_is_not_an_arrays():
    assert not findings("def f(w):\n    w = w.view(2, 3, 4, -1)\n    return np.sin(3.0) + w\n")


@pytest.mark.parametrize("flags", ["return_counts=True", "return_inverse=True, return_index=True", "True"])
def test_unpacked_results_of_unique(flags):
    found = findings(f"def f(x: np.ndarray):\n    a, *b = np.unique(x, {flags})\n    return a\n")
    assert [f.name for f in found] == ["data-dependent-shape"]


def test_a_changed_dict_is_a_container():
    (found,) = findings("def f(record, x: np.ndarray):\n    record['mode'] = np.sin(x)\n    return record\n")
    assert "a container" in found.message
    assert "{**record, 'mode': ...}" in found.hint
