"""NumPy's own docstring examples, both ways: nothing may be wrong or crash, and nearly all must come out right.

`docstring_refusals.json` lists every refusal, and the NumPy whose docstrings were read. An example that is newly refused fails here,
and so does one that no longer is: run `python -m tests.conformance.docstrings --update` and read the difference. With
another NumPy the examples are others, and only the share of right ones is asked for.
"""

from __future__ import annotations

import ast
import functools
import json

import numpy as np
import pytest

from . import docstrings
from .docstrings import REFUSED, RIGHT_SHARE, load
from .score import WAYS, Verdict, judge

CHUNKS = 16


@functools.cache
def verdicts(way: str, chunk: int) -> list[Verdict]:
    return [judge(way, case) for case in load()[chunk::CHUNKS]]


def recorded() -> dict[str, dict[str, str]]:
    return json.loads(REFUSED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_answers_are_numpys_or_known_refusals(way, chunk):
    known = recorded()
    problems = []
    for v in verdicts(way, chunk):
        if v.failed:
            problems.append(f"{v.id}: {v.verdict}: {v.why}")
        elif known["numpy"] == np.__version__ and known[way].get(v.id, "") != (v.why if v.verdict == "refused" else ""):
            problems.append(f"{v.id}: {v.verdict} {v.why}, docstring_refusals.json says {known[way].get(v.id, 'nothing')}")
    assert not problems, f"{way}:\n" + "\n".join(problems)


@pytest.mark.parametrize("way", WAYS)
def test_nearly_all_are_right(way):
    """Counted from the runs above (where a worker has not made them, they are made here)."""
    share = docstrings.right_share([v for chunk in range(CHUNKS) for v in verdicts(way, chunk)])
    assert share >= RIGHT_SHARE, f"{way}: only {share:.1%} right"


def test_the_record_names_only_examples_that_exist():
    known = recorded()
    assert sorted(known) == sorted([*WAYS, "numpy"])
    if known["numpy"] == np.__version__:
        ids = {case.id for case in load()}
        assert {id for way in WAYS for id in known[way]} <= ids


def test_there_are_many_examples_of_many_functions():
    cases = load()
    assert len(cases) > 1400
    assert len({case.area for case in cases}) > 350
    assert len({case.id for case in cases}) == len(cases)


# The way from a docstring to nodes

DOC = """
>>> x = np.array([[1, 2], [3, 4]])
>>> np.mean(x, axis=0)
array([2., 3.])
>>> c = 2.5
>>> np.add(np.arange(3), c)
array([2.5, 3.5, 4.5])
>>> y = np.cumsum([1, 2, 3])
>>> y
array([1, 3, 6])
>>> np.put(x, [0], -1)
>>> x
array([[-1, 2], [3, 4]])
>>> x
array([[-1, 2], [3, 4]])
>>> np.random.rand(2) + x
array([...])
>>> x.dtype
dtype('int64')
>>> z = np.empty(3)  # uninitialized
>>> z + 1
array([...])
>>> np.linalg.inv(np.zeros((2, 2)))
Traceback (most recent call last):
>>> np.linalg.det(np.array([[1., 2., 3.], [4., 5., 6.], [7., 8., 9.]]))
0.0
>>> np.array([x, x]).shape
(2, 2, 2)
>>> len(open("nowhere").read())
0
"""


def cases_of(doc):
    with docstrings._quiet():
        return list(docstrings._cases("numpy.made_up", doc))


def test_examples_become_nodes():
    bodies = [ast.unparse(ast.parse(case.code).body[-1]) for case in cases_of(DOC)]
    assert bodies == [
        "def node(x):\n    return np.mean(x, axis=0)",
        "def node(x0):\n    c = 2.5\n    return np.add(x0, c)",
        "def node(x0):\n    y = np.cumsum(x0)\n    return y",
        "def node(x):\n    np.put(x, [0], -1)\n    return x",
        "def node(x):\n    return np.array([x, x]).shape",
    ]


def test_inputs_are_the_values_at_that_place():
    inputs = [eval(case.inputs, {"np": np}) for case in cases_of(DOC)]
    assert [[x.tolist() for x in given] for given in inputs] == [
        [[[1, 2], [3, 4]]],
        [[0, 1, 2]],
        [[1, 2, 3]],
        [[[1, 2], [3, 4]]],
        [[[-1, 2], [3, 4]]],
    ]


@pytest.mark.parametrize(
    "x",
    [
        np.array([1.5, -0.0, np.nan, -np.inf]),
        np.array([[1 + 2j, complex(np.nan, np.inf)]], dtype=np.complex64),
        np.array(7, dtype=np.uint8),
        np.zeros((0, 3), dtype=np.float16),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([True, False]),
    ],
    ids=lambda x: x.dtype.name,
)
def test_inputs_are_written_out_exactly(x):
    again = eval(docstrings._text(x), {"np": np})
    assert again.dtype == x.dtype
    assert again.shape == x.shape
    assert again.tobytes() == x.tobytes()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.5, True),
        ((np.arange(2), 3), True),
        (np.float32(1), True),
        ("a", False),
        (np.array(["a"]), False),
        (np.array(1, dtype=object), False),
        ([], False),
        (None, False),
        (np.ma.masked_array([1]), False),
        (np.datetime64("2020-01-01"), False),
    ],
    ids=str,
)
def test_numeric(value, expected):
    assert docstrings.numeric(value) is expected
