"""Writes: seen through every view, base and argument, as in NumPy."""

from __future__ import annotations

import copy

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing import TraceError

from .test_trace import check, refused

X = np.arange(12.0).reshape(3, 4)
Z = np.linspace(-3, 3, 12).reshape(3, 4)


def write_through_view(x):
    row = x[1]
    row *= 3
    x[0, 0] -= 1
    return row.sum(), row


def write_through_base(x):
    y = x.copy()
    view = y[::-1, 1:].T
    y[1] = 7
    y.T[2] += x[:, 0]
    return view, y


def views_of_views(x):
    y = x * 1
    a = y.reshape(-1)
    b = a[2:8].reshape(2, 3)
    b[:, ::-1][0] = [1, 2, 3]
    a[::5] = -a[::5]
    return y, a, b


def overlapping(x):
    y = x.copy()
    y[1:] /= y[:-1] + 1
    y[:, 1:] = y[:, :-1]
    return y


def flipped(x):
    v = np.flip(x)
    v[0] = 99
    return x


def out(x):
    o = np.zeros(4)
    np.add(x[0], 1, o)
    np.sum(x, axis=0, out=o[:])
    np.multiply(o, 2, out=o, where=x[0] > 0)
    return o, np.clip(x, 0, 1, out=x)


def in_place_functions(x):
    y = x.copy()
    np.add.at(y[0], [0, 0, 1], [1.0, 10.0, 100.0])
    np.fill_diagonal(y, -1)
    np.copyto(y[2], x[0])
    y[1].sort()
    y.flat[1::5] = 0
    return y


def into_constants(x):
    z = np.zeros((2, 4))
    z[0] = x[0]
    w = z[1]
    w[1:] = x[1, 1:]
    e = np.empty(4)
    e[:] = x[2]
    return z, w, e, np.full(3, 2.0)


def complex_parts(x):
    z = x + 1j
    z.real[0] = 9
    z.imag *= 2
    z.imag = z.imag + x
    return z


def scalars_from_arrays(x):
    y = np.array(x[0, 0])
    y += 1
    y[...] *= 2
    return y, x


def attributes(x):
    y = x.copy()
    y.shape = (4, 3)
    y[0] = 1
    z = copy.deepcopy(y)
    z[1] = 2
    r = x.copy()
    r.resize((2, 7), refcheck=False)
    return y, copy.copy(z), r, np.nan_to_num(x, copy=False)


@pytest.mark.parametrize(
    "fn",
    [write_through_view, write_through_base, views_of_views, overlapping, flipped, out, in_place_functions, into_constants, complex_parts,
     scalars_from_arrays, attributes],
)  # fmt: skip
def test_writes(fn):
    check(fn, X, others=[(Z,)])


def test_unsigned_views():
    def f(x):
        y = x.copy()
        v = y[1:]
        y[::2] = 7
        v *= 2
        return v, y

    for dtype in (np.uint8, np.uint16, np.uint32, np.bool_):
        x = np.array([1, 0, 1, 1, 0]).astype(dtype)
        if dtype is np.bool_:
            check(lambda x: (x.copy(), np.logical_not(x, out=x)), x)
        else:
            check(f, x)


def test_an_argument_that_is_written_to_is_the_result():
    def f(x):
        old = x[0].copy()
        x += 1
        return x, old, x[1:]

    module = check(f, X, others=[(Z,)])
    t = torch.ones(3, 4, dtype=torch.float64)
    first, old, _ = module(t)
    assert (
        first is t and torch.equal(old, torch.ones(4, dtype=torch.float64)) and torch.equal(t, torch.full((3, 4), 2.0, dtype=torch.float64))
    )
    module.graph.eliminate_dead_code()
    module.recompile()
    assert module(t)[0][0, 0] == 3


def test_copies_do_not_share_memory_in_the_graph_either():
    module = np2fx.trace(lambda x: (x.copy(), x.astype(np.float64), np.array(x), x), X)
    t = torch.ones(3, 4, dtype=torch.float64)
    a, b, c, same = module(t)
    assert same.data_ptr() == t.data_ptr()
    assert len({x.data_ptr() for x in (a, b, c, t)}) == 4
    module = np2fx.trace(lambda x: np.ones(3), X)
    module(t).mul_(5)
    assert torch.equal(module(t), torch.ones(3, dtype=torch.float64))


TABLE = np.ones(4)
STATE = {"k": np.ones(4)}
COUNT = 0


def test_side_effects_are_refused():
    def writes_global(x):
        TABLE[0] = x[0, 0]
        return x

    def assigns_global(x):
        global COUNT
        COUNT = COUNT + 1
        return x

    def keeps(x):
        STATE["last"] = x * 2
        return x

    def adapts(x):
        result = x * STATE["k"]
        STATE["k"] = STATE["k"] + 0
        return result

    def changes_container(d):
        d["y"] = d["x"] * 2
        return d["x"]

    refused("side-effect", writes_global, X)
    assert TABLE[0] == 1  # what the plain run wrote is taken back
    refused("side-effect", assigns_global, X)
    refused("side-effect", keeps, X)
    assert "last" not in STATE
    refused("side-effect", adapts, X)
    refused("side-effect", changes_container, {"x": X})


def test_read_only_stays_read_only():
    with pytest.raises(ValueError, match="read-only"):
        np2fx.trace(lambda x: np.broadcast_to(x, (2, 3, 4)).__setitem__(0, 1), X)


def test_memory_shared_between_arguments():
    x = np.arange(6.0)
    refused("aliasing", lambda a, b: a + b, x[:4], x[2:])

    def f(a, b):
        a += b
        return a

    module = np2fx.trace(f, np.ones(3), np.ones(3))
    t = torch.ones(3, dtype=torch.float64)
    with pytest.raises(TraceError, match="shares its memory"):
        module(t, t)


def test_memory_shared_with_torch():
    def f(x):
        y = x * 2
        t = torch.from_numpy(y)
        y[0] = 0
        return t

    def g(x):
        t = torch.from_numpy(x * 2)
        t.mul_(2)
        return t

    refused("aliasing", f, X)
    refused("aliasing", g, X)


def test_windows_see_what_is_written():
    def f(x):
        windows = np.lib.stride_tricks.sliding_window_view(x, 2)
        x += 1
        return windows * 1

    graph = np2fx.trace(f, np.arange(4.0))
    np.testing.assert_array_equal(graph(torch.arange(4.0, dtype=torch.float64)), f(np.arange(4.0)))
