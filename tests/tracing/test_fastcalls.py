"""Calls of a graph that are as its sample was go a short way: with the results, demands and errors of the long one."""

import pickle
from typing import NamedTuple

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing.module import TracedModule

MEAN = np.arange(4.0)


class Pair(NamedTuple):
    low: object
    high: object


def scaled(x, y, gain=2.0):
    return (x - MEAN) * gain + y


def parted(xs, keep=True):
    return Pair(xs[0] + xs[1], xs[1] * 2)


def first(x):
    return x[0] + x[-1] if x.shape[0] > 3 else x.sum(axis=0)


def solved(a, b):
    return np.linalg.solve(a, b)


@pytest.fixture
def long_ways(monkeypatch):
    """The calls that have gone the long way."""
    calls = []
    called = TracedModule._called
    monkeypatch.setattr(TracedModule, "_called", lambda self, *a, **kw: calls.append(a) or called(self, *a, **kw))
    return calls


def tensors(*shapes):
    return [torch.arange(float(np.prod(s)), dtype=torch.float64).reshape(s) for s in shapes]


def test_calls_as_the_sample_was(long_ways):
    x, y = tensors((3, 4), (4,))
    graph = np2fx.trace(scaled, x.numpy(), y.numpy())
    want = torch.from_numpy(scaled(x.numpy(), y.numpy()))
    for args, kwargs in (((x, y), {}), ((x,), {"y": y}), ((), {"y": y, "x": x, "gain": 2.0})):
        assert torch.equal(graph(*args, **kwargs), want)
    assert len(long_ways) == 1


def test_other_calls_go_the_long_way(long_ways):
    x, y = tensors((3, 4), (4,))
    graph = np2fx.trace(scaled, x.numpy(), y.numpy())
    graph(x, y), graph(x, y)
    longer = tensors((5, 4))[0]
    assert torch.equal(graph(longer, y), torch.from_numpy(scaled(longer.numpy(), y.numpy())))
    turned = x.T.contiguous().T
    assert torch.equal(graph(turned, y), graph(x, y)) and np.array_equal(graph(x.numpy(), y.numpy()), graph(x, y))
    assert len(long_ways) == 4
    graph(longer, y)
    assert len(long_ways) == 4  # these sizes are known by now
    assert torch.equal(graph(x, y, 3.0), torch.from_numpy(scaled(x.numpy(), y.numpy(), 3.0)))
    for args in ((x.float(), y), (x[0], y), (x,), (x, y, 2.0, 1)):
        with pytest.raises((np2fx.TraceError, TypeError)):
            graph(*args)


def test_shapes_with_another_graph_are_refused_again():
    x = tensors((5, 2))[0]
    graph = np2fx.trace(first, x.numpy())
    assert torch.equal(graph(x), graph(x))
    for _ in range(2):
        with pytest.raises(np2fx.TraceError):
            graph(x[:2])


def test_containers(long_ways):
    xs = tensors((3,), (3,))
    graph = np2fx.trace(parted, [x.numpy() for x in xs])
    for keep in (True, True):
        got = graph(xs, keep)
        assert type(got) is Pair and torch.equal(got.low, xs[0] + xs[1]) and torch.equal(got.high, xs[1] * 2)
    assert len(long_ways) == 1
    with pytest.raises(np2fx.TraceError):
        graph(xs, False)
    assert torch.equal(graph([xs[0], xs[0]]).low, xs[0] * 2)  # one array in two places


def test_errors_are_numpys(long_ways):
    a, b = torch.eye(3, dtype=torch.float64), tensors((3,))[0]
    graph = np2fx.trace(solved, a.numpy(), b.numpy())
    graph(a, b), graph(a, b)
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            graph(a * 0, b)


def test_hooks_and_new_code_are_seen():
    x, y = tensors((3, 4), (4,))
    graph = np2fx.trace(scaled, x.numpy(), y.numpy())
    want = graph(x, y)
    handle = graph.register_forward_hook(lambda module, args, result: result + 1)
    assert torch.equal(graph(x, y), want + 1)
    handle.remove()
    assert torch.equal(graph(x, y), want)
    node = next(n for n in graph.graph.nodes if n.target is torch.add)
    node.target = torch.sub
    graph.recompile()
    assert torch.equal(graph(x, y), want - 2 * y) and torch.equal(graph(x, y), want - 2 * y)
    graph._tensor_constant0.zero_()
    assert torch.equal(graph(x, y), x * 2 - y)


def test_copies_and_pickles():
    x, y = tensors((3, 4), (4,))
    graph = np2fx.trace(scaled, x.numpy(), y.numpy())
    want = graph(x, y)
    graph(x, y)
    held = pickle.loads(pickle.dumps(graph))
    assert torch.equal(held(x, y), want)
    with pytest.raises(RuntimeError, match="the graph holds for"):
        held(x.float(), y)


def test_the_graph_without_demands():
    a, b = torch.eye(3, dtype=torch.float64), tensors((3,))[0]
    graph = np2fx.trace(solved, a.numpy(), b.numpy())
    plain = graph.plain()
    assert torch.equal(plain(a, b), graph(a, b))
    assert not any("check" in str(n.target) or "assert" in str(n.target) for n in plain.graph.nodes)
    assert plain(a * float("nan"), b).isnan().all() and any("check" in str(n.target) for n in graph.graph.nodes)
