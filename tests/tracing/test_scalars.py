"""NumPy scalars in a trace: they stay in the graph, and are no views."""

from __future__ import annotations

import copy
import math

import np2fx
import numpy as np
import pytest
import torch

from .test_trace import check, refused

X = np.array([1.0, 5.0, 2.0])
Y = np.array([-4.0, 0.5, 7.0])


def test_scalars_stay_in_the_graph():
    def f(x):
        s = x[0]
        t = s
        s += 1  # rebinds: neither x nor t is changed
        return x / np.linalg.norm(x) + s * t, x.sum(), x.mean() ** 2, np.float32(x[0]) * np.float32(2), x[2].astype(np.int32)

    check(f, X, others=[(Y,)])


def test_a_scalar_is_what_numpy_says_it_is():
    def f(x):
        s = x[0]
        assert isinstance(s, np.float64) and isinstance(s, float) and isinstance(s, np.generic) and not isinstance(s, np.ndarray)
        assert s.dtype == np.float64 and s.shape == () and s.ndim == 0 and np.isscalar(s)
        assert np.shape(s) == () and copy.deepcopy(s) is s
        return s.clip(0, 1) + s.real + s[()] + round(s, 1) + abs(-s) + 2**s + divmod(s, 2)[1]

    check(f, X, others=[(Y,)])


def test_loop_variables_are_scalars():
    def f(x):
        total = 0.0
        for v in x:
            v *= 3
            total = total + v
        return total, x, np.array([v * 2 for v in x]), np.exp([x[0], x[1]]), sum(list(x))

    check(f, X, others=[(Y,)])


def test_numpy_scalars_as_samples():
    def f(x, k):
        return x * k, k + np.float32(1), x.astype(np.float32) * k

    check(f, X, np.float64(2.5), others=[(Y, np.float64(-1.0))])
    check(lambda x, i: (x[i], x[i:].shape if False else x[i] * 2), X, np.int64(1), others=[(Y, np.int64(-1))])


def test_python_min_and_max():
    def f(a, b):
        return a + min(a.min(), b.min(), 0.5), max(a[0], b[0]), min([a[0], a[1], a[2]])

    check(f, X, Y, others=[(Y, X), (X * 0 + np.nan, Y)])
    refused("numpy-scalar", lambda a, f: f * min(a.min(), 0.5), X, X.astype(np.float32))


IN_BOUNDS = [np.array(v, float) for v in ([0.3, 1, -2], [-7, 0, 2], [4, -1, 0])]


def bounded(x):
    bound = min(1, max(-1, x[0]))
    return math.acos(bound), np.arccos(bound), x * bound, 2.5 * bound, bound + x[1], bound > 0, float(bound), int(bound), round(bound)


def summed_from_an_int(x):
    s = 0
    for v in x:
        s += max(0, v)
    return s / 2


def chosen_from_an_int(x):
    s = 0
    for v in x:
        if v > 0:
            s += v
    return x * s


def halved_from_an_int(x):
    low, high = 0, 10
    while high - low > 1e-3:
        middle = (low + high) / 2
        if middle**2 > abs(x[0]):
            high = middle
        else:
            low = middle
    return x + low


@pytest.mark.parametrize("node", [bounded, summed_from_an_int, chosen_from_an_int, halved_from_an_int])
def test_an_int_or_a_float_where_that_makes_no_difference(node):
    for sample in IN_BOUNDS:
        graph = np2fx.trace(node, sample.copy())
        for x in IN_BOUNDS:
            want, got = node(x), graph(torch.tensor(x))
            for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (want, got)), strict=True):
                np.testing.assert_allclose(np.asarray(b), np.asarray(a), rtol=1e-12)


MIXED = {
    "returned": lambda x: max(0, x[0]),
    "in a list": lambda x: np.array([max(0, x[0]), 1]),
    "beside floats": lambda x: x.astype("f4") * max(0, x[0]),
    "beside ints": lambda x: np.arange(3) + max(0, x[0]),
    "negative zero": lambda x: max(0, x[0]) * -1 + x,
    "power": lambda x: max(0, x[0]) ** 2,
    "of one": lambda x: np.abs(max(0, x[0])) + np.square(max(0, x[0])),
    "filled": lambda x: np.full(3, max(0, x[0])),
    "filled with Python's": lambda x: np.full(3, max(0, float(x[0]))),
    "several results": lambda x: np.broadcast_arrays(x, max(0, float(x[0]))),
    "a position": lambda x: np.take(x, max(0, float(x[0]))),
}


@pytest.mark.parametrize("case", MIXED)
@pytest.mark.parametrize("x", IN_BOUNDS[:2], ids=["float", "int"])
def test_an_int_or_a_float_where_that_makes_a_difference(case, x):
    try:
        MIXED[case](x)
    except TypeError:
        return
    refused("numpy-scalar", MIXED[case], x)


def test_a_computed_position():
    def f(x, m):
        i = np.argmax(x)
        row = m[i]
        row += 1
        m[i] *= 2
        x[i] = 0
        return m[i, 0] + x[i]

    check(f, X, np.arange(6.0).reshape(3, 2), others=[(Y, np.ones((3, 2)))])


@pytest.mark.parametrize(
    ("name", "fn"),
    [
        ("python-value", lambda x: x.sum().hex()),
        ("python-value", lambda x: x.tobytes()),
        ("python-value", lambda x: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0][x.argmax()]),
        ("python-value", lambda x: range(x.argmax())),
        ("python-value", lambda x: f"{x[0]:.2f}"),
        ("python-value", lambda x: str(x)),
        ("python-value", lambda x: __import__("math").gamma(x[0])),
        ("python-value", lambda x: {x[0]: 1}),
        ("data-dependent-branch", lambda x: 1 if np.allclose(x, 0) else 2.0),
    ],
)
def test_values_do_not_leave_the_graph(name, fn):
    error = refused(name, fn, X)
    (finding,) = error.findings
    assert finding.path == __file__ and finding.line == fn.__code__.co_firstlineno
    assert finding.hint


def test_values_of_constants_do():
    def f(x):
        c = np.array([4, 2])
        n = int(c.sum())
        if c.any() and f"{c}" == "[4 2]":
            x = x * n + sum(c.tolist())
        return x + c[0].item() + float(np.arange(3.0).mean())

    check(f, X, others=[(Y,)])


def test_a_caught_refusal_is_a_refusal():
    def f(x):
        try:
            k = float(str(x[0]))
        except Exception:
            k = 1.0
        return x * k

    refused("python-value", f, np.ones(3))


def test_a_caught_numpy_error_is_a_branch():
    def f(x):
        try:
            return np.linalg.inv(x)
        except np.linalg.LinAlgError:
            return np.linalg.pinv(x)

    refused("data-dependent-branch", f, np.zeros((2, 2)))
