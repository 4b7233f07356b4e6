"""What is said of parameters of which nothing is declared: it hangs on their being arrays, and says so."""

from __future__ import annotations

import np2fx
import pytest
from np2fx.source.reading.config import Config

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


@pytest.mark.parametrize("key", ["Key.ACTION", "TransitionKey.NEXT_STATE", "f'{x.shape}'", "str(x.ndim)"])
def test_so_is_what_has_keys_that_are_no_indices(key):
    found = findings(f"def f(record, x: np.ndarray):\n    record[{key}] = np.sin(x)\n    return record\n")
    assert [f.message for f in found if f.name == "mutation"] == ["the node changes its argument `record`, a container"]


@pytest.mark.parametrize("key", ["i", "Key.index", "np.NPY", "self.N", "N"])
def test_other_keys_may_be_indices(key):
    found = findings(f"def f(self, record, i, x: np.ndarray):\n    record[{key}] = np.sin(x)\n    return record\n")
    assert any(f.name == "mutation" and "writes into its argument `record`" in f.message for f in found)


def test_an_array_is_indexed_by_what_a_class_holds():
    found = findings("def f(x: np.ndarray):\n    x[Layout.WIDTH] = np.sin(1.0)\n    return x\n")
    assert [f.message for f in found if f.name == "mutation"] == ["the node writes into its argument `x`"]


MORE = {
    "an item of a dict": ("def f(dic):\n    v = dic['a']\n    if v:\n        return np.sin(v)\n    return 0\n",
                          "data-dependent-branch", "if `dic['a']` is an array"),
    "what get gives": ("def f(dic):\n    v = dic.get('a')\n    if v:\n        return np.sin(v)\n    return 0\n",
                       "data-dependent-branch", "if `dic.get(...)` is an array"),
    "a generator": ("def f(c):\n    assert all(v == 0 for v in c)\n    return np.ones(2)\n", "data-dependent-branch", "if `c` is an array"),
    "unpacking": ("def f(files):\n    a, b = files\n    return np.sin(1.0), a\n", "scalar-index", "if `files` is a 1-D array"),
    "a result of who knows what": ("def f(x: np.ndarray):\n    return other(x).area.item()\n",
                          "python-value", "if `other(x).area` is an array"),
    "an attribute": ("def f(q: np.ndarray, inst):\n    inst.ID[0] = np.sin(q)\n", "mutation", "the node writes into `inst.ID`"),
    "a key of parts": ("def f(q: np.ndarray, d):\n    d['x']\n    d[f'{1}.a'] = np.sin(q)\n",
                          "mutation", "the node changes its argument `d`, a container"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "name", "start"), MORE.values(), ids=MORE)
def test_a_guess_names_what_it_is_about(text, name, start):
    assert [f.message for f in findings(text) if f.name == name and f.message.startswith(start)], findings(text)


def test_torchs_nonzero_is_not_numpys():
    assert not [f for f in findings("def f(x):\n    return np.ones(2), x.nonzero(as_tuple=False)\n") if f.name == "data-dependent-shape"]


def test_texts_are_no_arrays_handed_away():
    text = "import os\n\n\ndef f(root, names):\n    return np.ones(2), [os.path.join(root, n) for n in names], os.path.basename(root)\n"
    assert "opaque-call" not in {f.name for f in findings(text)}


def test_hints_are_python():
    body = "    for record in dic['a']:\n        record['k'] = np.sin(x)\n    return other(x).item()\n"
    found = findings(f"def f(dic, x: np.ndarray):\n{body}")
    assert all("@np2fx.node(other" not in f.hint for f in found)
    assert [f.hint for f in found if f.name == "mutation"] == ["make a new one: {**record, 'k': ...}"]


@pytest.mark.parametrize("made", [
    "n = int(c.get('n', 3))", "if c['m'] == 'a':\n        n = int(c.get('n', 3))\n    else:\n        n = 4",
    "n = int(c.get('n', 3)) * 2 + 1",
    "n = 4\n    if c['m'] == 'a':\n        n = int(float(c.get('n', 3)))", "n = int(c.get('n', 3)) if c['m'] else int(c.get('n', 4))",
])  # fmt: skip
def test_a_number_made_of_a_guess_is_one(made):
    text = f"import numpy as np\n\n\ndef f(c, x: np.ndarray):\n    {made}\n    return np.linspace(0, 1, n) + x\n"
    (found,) = np2fx.check_source(text, config=Config(target="np2fx"), all_functions=True)
    message = "if `c.get(...)` is an array, a number made of array values has to be known here"
    assert (found.severity, found.message) == ("note", message)  # rewrite takes it


@pytest.mark.parametrize("made", [
    "n = int(x[0])", "n = int(x[0]) + int(c.get('n', 3))", "n = int(c.get('n', 3)) if c['m'] else int(x[0])",
    "n = 3\n    if c['m'] == 'a':\n        n = x.sum().item()",
])  # fmt: skip
def test_a_number_made_of_an_array_is_no_guess(made):
    text = f"import numpy as np\n\n\ndef f(c, x: np.ndarray):\n    {made}\n    return np.linspace(0, 1, n) + x\n"
    found = np2fx.check_source(text, config=Config(target="np2fx"), all_functions=True)
    assert [(f.severity, f.message) for f in found] == [("note", "a number made of array values has to be known here")]
