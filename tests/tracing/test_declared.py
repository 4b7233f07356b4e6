"""Python numbers that a node's specs declare are inputs of its graph; for others a call may have a graph of its own."""

import math

import np2fx
import numpy as np
import pytest
import torch
from np2fx import TraceError

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


@np2fx.node(x="float32[n, 3]", gain="float", bias="int")
def scaled(x, gain, bias=1):
    return np.clip(x * gain, -1.0, 1.0) + bias


@np2fx.node(gain="float")
def branching(x, gain):
    return (x * 2 if gain > 1 else x - gain), gain * 3


@np2fx.node(k="int")
def counting(x, k):
    return np.zeros(k, np.float32) + x.sum(), x // k, 2**k


@np2fx.node(z="complex", g="float")
def turned(x, z, g):
    return x * z, np.float32(2) * g, math.sqrt(g), np.where(x > 0, g, 1), np.full(2, g)


@np2fx.node(gain="float")
def wide(x, gain):
    for _ in range(2):
        x = x / np.float64(gain) + gain
    return x


class Holder:
    @np2fx.node(gain="float")
    def scale(self, x, gain):
        return x * gain


def check(graph, fn, *args):
    want, got = fn(*args), graph(*args)
    want, got = (want, got) if isinstance(want, tuple) else ((want,), (got,))
    assert len(want) == len(got)
    for w, g in zip(want, got, strict=True):
        w = np.asarray(w)
        assert g.numpy().dtype == w.dtype and g.shape == w.shape
        np.testing.assert_allclose(g.numpy(), w, rtol=1e-6 if w.dtype.itemsize < 8 else 1e-13)


CASES = [
    (scaled, [(0.5, 3), (0.25, -7), (math.nan, 0), (math.inf, 2**40), (-0.0, 1)]),
    (branching, [(0.5,), (2.5,), (1.0,), (math.nan,), (-math.inf,)]),
    (counting, [(3,), (1,), (6,)]),
    (turned, [(1j, 2.0), (2 - 1j, 0.5), (complex(math.nan, 0), 9.0)]),
    (wide, [(2.0,), (-0.5,)]),
    (Holder().scale, [(0.5,), (4.0,)]),
]


@pytest.mark.parametrize(("fn", "values"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_serves_other_values(fn, values):
    """One graph, whichever value it was traced with."""
    graphs = [np2fx.trace(fn, X, *some) for some in (values[0], values[1])]
    for graph in graphs:
        assert len(graph.face.names) == 1 + len(values[0])
        for some in values:
            check(graph, fn, X, *some)
            check(graph, fn, X[:1], *some)


def test_default_is_an_input():
    graph = np2fx.trace(scaled, X, 0.5)
    check(graph, scaled, X, 0.25)
    check(graph, scaled, X, 0.25, 9)


BAD = [(1, 3), (0.5, 3.0), (0.5, True), (np.float64(0.5), 3), (0.5, np.int64(3)), (0.5, 2**63), ("0.5", 3), (None, 3)]


@pytest.mark.parametrize("bad", BAD)
def test_another_type_is_refused(bad):
    """NumPy gives another dtype for it, or another error."""
    with pytest.raises(TraceError, match=r"Python (float|int) when it was traced"):
        np2fx.trace(scaled, X, 0.5, 3)(X, *bad)


def test_a_tensor_stands_for_one():
    graph = np2fx.trace(scaled, X, 0.5, 3)
    given = torch.from_numpy(X), torch.tensor(0.25, dtype=torch.float64), torch.tensor(5)
    for got in (graph(*given), graph.forward(*given)):
        np.testing.assert_array_equal(got.numpy(), scaled(X, 0.25, 5))
    with pytest.raises(TraceError):
        graph(given[0], torch.tensor(0.25), given[2])


def test_equal_numbers_are_two():
    @np2fx.node(a="int", b="int")
    def both(x, a, b):
        return x * a + b

    graph = np2fx.trace(both, X, 1, 1)
    check(graph, both, X, 2, 3)
    check(graph, both, X, 4, 4)


def undeclared(x, gain, bias=2):
    return np.clip(x * gain, -1, 1) + bias, gain, [bias * 2]


def test_without_a_spec_a_call_has_a_graph_in_which_it_is_an_input():
    """The graph itself keeps the number, as its files do."""
    graph = np2fx.trace(undeclared, X, 0.5)
    assert len(graph.face.names) == 1
    for values in ((0.5,), (0.25,), (math.nan,), (0.5, 7), (3, -1), (0.25, 2)):
        got = graph(torch.from_numpy(X), *values)
        want = undeclared(X, *values)
        np.testing.assert_array_equal(got[0], want[0])
        assert got[0].numpy().dtype == want[0].dtype and str(got[1:]) == str(want[1:])
        assert [type(v) for v in got[1:]] == [type(v) for v in want[1:]]
    assert len(graph.face.others) == 3  # for another gain, another bias, and for both: an int stays one
    np.testing.assert_array_equal(graph.forward(torch.from_numpy(X))[0], undeclared(X, 0.5)[0])


START = 7


@pytest.mark.parametrize("fn", [
    lambda x, k: x.sum(k), lambda x, k: x if k is START else x * k, lambda x, k: {k: x}, lambda x, k: (x, f"{k}"), lambda x, k: [x] * k,
], ids=["axis", "identity", "key", "text", "count"])  # fmt: skip
def test_what_needs_the_number_itself_is_specialised(fn):
    graph = np2fx.trace(fn, X, 0)
    with pytest.raises(TraceError, match=r"k is 1, and was 0 when it was traced"):
        graph(X, 1)


def test_the_first_of_none_is_run_on_its_way_alone():
    def first_above(x, c):
        found = np.nonzero(x > c)[0]
        return float(found[0]) / len(x) if len(found) > 0 else -1.0

    graph = np2fx.trace(first_above, X[0], 0.5)
    for c in (0.5, -3.0, 100.0):
        assert graph(X[0], c) == first_above(X[0], c)


def test_what_the_function_raises_for_a_number():
    def into(x, k):
        x[0] = 3
        return x.astype(np.uint8) + k

    graph, given = np2fx.trace(into, np.ones(2), 1), np.ones(2)
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        graph(given, 300)
    np.testing.assert_array_equal(given, [3, 1])


@np2fx.node(axis="int", gain="float", mode="str", flag="bool")
def along(x, axis, gain, mode, flag):
    return np.concatenate([x] * axis, axis).sum(axis) * gain if mode == "sum" and flag else x


def test_what_cannot_be_an_input_is_specialised():
    """An int that is an axis or a count of rounds; text and bools, which are modes. The floats beside it are inputs all the same."""
    graph = np2fx.trace(along, X, 1, 0.5, "sum", True)
    check(graph, along, X, 1, 0.25, "sum", True)
    for bad in ((2, 0.5, "max", True), (1, 0.5, "max", True), (1, 0.5, "sum", False)):
        with pytest.raises(TraceError, match="when it was traced"):
            graph(X, *bad)


def test_a_sample_of_another_type_has_a_graph_of_its_own():
    graph = np2fx.trace(scaled, X, 2, 3)
    check(graph, scaled, X, 2, 4)
    check(graph, scaled, X, 3, 4)


@pytest.mark.parametrize("how", ["jit", "pt2"])
def test_export(tmp_path, how):
    path = np2fx.export(np2fx.trace(scaled, X, 0.5, 3), tmp_path / f"scaled.{how}", how, (X, 0.5, 3))
    loaded = torch.jit.load(path) if how == "jit" else torch.export.load(path).module()
    got = loaded(torch.from_numpy(X), torch.tensor(0.25, dtype=torch.float64), torch.tensor(7))
    np.testing.assert_array_equal(got.numpy(), scaled(X, 0.25, 7))


def test_verify():
    for fn in (scaled, branching):
        report = np2fx.verify(fn, spec={"x": "float32[n, 3] in [-9, 9]", "gain": "float in [-3, 3]"}, max_examples=20)
        assert report.ok, str(report)
