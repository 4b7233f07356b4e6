"""Each entry of the table finds something in its example, and leaves every bit as it is."""

import copy

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing.recording import compound, outputs

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -3.0, 2.5, 1e30, -1e-30, 7.0, 0.1]


def samples(dtype):
    x = np.array(SPECIAL).reshape(3, 4) if dtype == np.float32 else np.arange(-6, 6).reshape(3, 4)
    return x.astype(dtype), x[1].astype(dtype)


def traced(monkeypatch, function, args, entries):
    monkeypatch.setattr(compound, "_AT", {name: [e for e in entries if name in e.names] for e in entries for name in e.names})
    return np2fx.trace(function, *args)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("entry", compound.ENTRIES, ids=lambda e: e.replaces.__name__.strip("_"))
def test_entries(monkeypatch, entry, dtype):
    function = eval(f"lambda x, v: {entry.example}", {"np": np})
    finite = [np.nan_to_num(a, posinf=5, neginf=-5) for a in samples(dtype)]
    before, after = (traced(monkeypatch, function, finite, entries) for entries in ([], [entry]))
    assert str(after.graph) != str(before.graph) or dtype == np.int64
    assert len(after.graph.nodes) <= len(before.graph.nodes)
    for x, v in (samples(dtype), finite, [a[..., :3] for a in finite]):
        given = [torch.from_numpy(np.ascontiguousarray(a)) for a in (x, v)]
        want, got = before.plain()(*given), after.plain()(*given)
        assert got.dtype is want.dtype and got.shape == want.shape and got.numpy().tobytes() == want.numpy().tobytes()


@pytest.mark.parametrize(
    "text", ["v[0:1].copy()", "np.roll(v, 0)", "1 * v", "np.transpose(x, (0, 1))", "v[0]", "(v[0], 1 * x, x[:])", "x.sum(axis=0)"]
)
def test_results_have_memory_of_their_own_as_in_numpy(text):
    function = eval(f"lambda x, v: {text}", {"np": np})
    x, v = samples(np.int64)
    graph, given = np2fx.trace(function, x, v), [torch.from_numpy(a.copy()) for a in (x, v)]
    for got, want in zip(*(r if isinstance(r, tuple) else (r,) for r in (graph(*given), function(x, v))), strict=True):
        for mine, theirs in zip(given, (x, v), strict=True):
            assert (got.untyped_storage().data_ptr() == mine.untyped_storage().data_ptr()) == np.shares_memory(want, theirs)


def test_what_is_written_into_is_left_alone():
    def function(x, v):
        y = x[:]
        y[0] = np.roll(v, 0)
        return y * 1

    x, v = samples(np.int64)
    want, given = x.copy(), x.copy()
    want = function(want, v)
    graph = np2fx.trace(function, x.copy(), v)
    got = graph(given, v)
    assert np.array_equal(got, want) and np.array_equal(given, want)


def test_a_graph_of_other_sizes_is_the_same():
    graph = np2fx.trace(lambda x: np.median(x**2, axis=0).sum(axis=0) * 1, np.arange(12.0).reshape(3, 4))
    for shape in ((4, 4), (7, 9)):
        x = np.cos(np.arange(float(np.prod(shape)))).reshape(shape)
        np.testing.assert_allclose(graph(torch.from_numpy(x)), np.median(x**2, axis=0).sum(axis=0), rtol=1e-12)


def test_the_pass_is_done_once():
    graph = np2fx.trace(lambda x, v: np.median(x, axis=0) + np.percentile(v, 30) + x[:] ** 2, *samples(np.int64)).graph
    again = copy.deepcopy(graph)
    outputs.compound(again, set())
    assert str(again) == str(graph)
