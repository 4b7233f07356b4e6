"""Branches on values become choices in the graph, where both ways can be computed; others are refused."""

from __future__ import annotations

import itertools
import math

import np2fx
import numpy as np
import pytest
import torch

SAMPLES = [np.array([1.0, -2.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.array([-1.0, -2.0, -30.0]), np.array([0.0, 0.0, 0.0])]


def early_return(x):
    if x.sum() > 1:
        return x * 2
    return x - 1


def elif_and_and(x):
    if x[0] > 0 and x[1] > 0:
        r = x.max()
    elif x[2] < 0:
        r = x.min()
    else:
        r = x.mean()
    return r


def ternary_or_not(x):
    return x + 1 if x[0] > 0 or not x[1] < 0 else x * 3


def bounded_while(x):
    n = 0
    while abs(x).sum() > 1 and n < 5:
        x = x / 2
        n += 1
    return x


def written_argument(x):
    if np.any(x < 0):
        x[0] = 7
    return x.sum()


def nested(x):
    y = np.zeros(3)
    for i in range(3):
        if x[i] > 0:
            y[i] = x[i] ** 2
    return y


def numbers(x):
    return [1.0 if x[0] > 0 else x[2], 3 if x[1] > 0 else 4, x[1] > 0 and x[2] > 0, "same"]


def guarded(x):
    r = 0.0
    if x[0] > 0:
        r = math.log(x[0]) + 1 / float(x[0])
        if x[1] != 0 and x[2] > x[1]:
            r += float(x[2]) // float(x[1])
    return r * x


def structure(x):
    if x[0] > 0:
        a, b = x, -x
    else:
        a, b = -x, x
    return {"a": a, "b": [b, 3]}


@pytest.mark.parametrize("sample", SAMPLES, ids=range(len(SAMPLES)))
@pytest.mark.parametrize("function", [early_return, elif_and_and, ternary_or_not, bounded_while, written_argument, nested, numbers,
                                      guarded, structure])  # fmt: skip
def test_every_way_is_in_the_graph(function, sample):
    graph = np2fx.trace(function, sample.copy())
    for other in SAMPLES:
        expected, given = other.copy(), torch.from_numpy(other.copy())
        want, got = function(expected), graph(given)
        flat_want, flat_got = _leaves(want), _leaves(got)
        assert len(flat_want) == len(flat_got)
        for a, b in zip(flat_want, flat_got, strict=True):
            np.testing.assert_array_equal(np.asarray(b), np.asarray(a))
        np.testing.assert_array_equal(given.numpy(), expected)


def _leaves(x):
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in _leaves(v)]
    return [leaf for v in x for leaf in _leaves(v)] if isinstance(x, (list, tuple)) else [x]


def test_what_the_ways_share_stands_once():
    def f(x):
        y = np.exp(x)
        return y + 1 if y.sum() > 3 else y - 1

    targets = [n.target for n in np2fx.trace(f, SAMPLES[0]).graph.nodes if n.op == "call_function"]
    assert targets.count(torch.exp) == 1
    assert targets.count(torch.where) == 1


def test_the_graph_does_not_depend_on_the_sample():
    graphs = [str(np2fx.trace(elif_and_and, s).graph) for s in SAMPLES]
    assert len(set(graphs)) == 1


@pytest.mark.parametrize(("function", "why"), [
    (lambda x: x[:2] if x[0] > 0 else x, "shape"),
    (lambda x: x if x[0] > 0 else x.astype(np.float32), "float32"),
    (lambda x: 1.0 if x[0] > 0 else 2, "int64"),
    (lambda x: "a" if x[0] > 0 else "b", "Python values"),
    (lambda x: x if x[0] > 0 else [x], "Python values"),
])  # fmt: skip
def test_what_cannot_be_a_choice_is_refused(function, why):
    with pytest.raises(np2fx.TraceError, match=why) as refused:
        np2fx.trace(function, np.array([1.0, 2.0, 3.0]))
    assert refused.value.findings[0].name == "data-dependent-branch"


def test_a_way_that_raises_is_an_assertion_of_the_graph():
    def f(x):
        if x[0] < 0:
            if x[1] < 0:
                raise ValueError("both negative")
            return x + 1
        if not x[2] > 0:
            raise ValueError("must be positive")
        return x - 1

    graph = np2fx.trace(f, np.array([1.0, 2.0, 3.0]))
    for values in itertools.product((-1.0, 1.0), repeat=3):
        given = np.array(values)
        try:
            want = f(given)
        except ValueError as raised:
            with pytest.raises(ValueError, match=str(raised)):
                graph(torch.from_numpy(given))
        else:
            np.testing.assert_array_equal(graph(torch.from_numpy(given)), want)


def test_too_many_ways_are_refused():
    def f(x):
        way = ""
        for v in x:
            if v > 0:
                way += "+"
        return x * len(way)

    with pytest.raises(np2fx.TraceError, match=r"ways.*way is a Python value"):
        np2fx.trace(f, np.ones(8))
