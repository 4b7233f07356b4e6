"""Methods as nodes: arrays of `self` are constants of the graph, numbers are what it is specialised on, attributes are not set."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch


class Bias:
    def __init__(self):
        self.values = np.array([1.0, 2.0, 3.0])


class Normaliser:
    def __init__(self):
        self.mean, self.factor, self.bias = np.ones(3), 2, Bias()
        self.tables = {"knots": [np.array([10.0, 20.0, 30.0])]}

    def __call__(self, x):
        return self.scaled(x - self.mean)

    def scaled(self, x):
        return x * self.factor + self.bias.values

    def picked(self, i):
        return self.tables["knots"][0][i]

    def counting(self, x):
        self.factor = self.factor + 1
        return x * self.factor

    def adapting(self, x):
        self.mean += x
        return self.mean


def test_arrays_of_self_are_buffers():
    n = Normaliser()
    graph = np2fx.trace(n, np.arange(3.0))
    x = np.array([4.0, 5.0, 6.0])
    np.testing.assert_array_equal(graph(torch.from_numpy(x)), n(x))
    assert len(dict(graph.named_buffers())) == 2
    assert graph.to("meta")(torch.empty(3, dtype=torch.float64, device="meta")).shape == (3,)


def test_an_array_of_self_is_picked_from_at_a_traced_position():
    n = Normaliser()
    graph = np2fx.trace(n.picked, np.array([1, 2]))
    assert graph(torch.tensor([2, 0])).tolist() == [30.0, 10.0]


@pytest.mark.parametrize("method", ["counting", "adapting"])
def test_what_would_outlive_the_call_is_refused(method):
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(getattr(Normaliser(), method), np.ones(3))
    assert refused.value.findings[0].name == "side-effect"


def test_the_object_is_as_it_was():
    n = Normaliser()
    held = dict(vars(n))
    np2fx.trace(n, np.arange(3.0))
    assert vars(n).keys() == held.keys()
    assert all(vars(n)[k] is held[k] for k in held)
    assert type(n.mean) is np.ndarray
