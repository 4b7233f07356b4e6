"""Branches whose ways meet again are one there: many of them cost as many choices, and each is right for all inputs."""

from __future__ import annotations

import math

import np2fx
import numpy as np
import pytest
import torch

VECTORS = [np.array(v, float) for v in ([1, -2, 3, 0.5, -0.1, 2.5, -7],
                                        [-1, -2, -3, -4, -5, -6, -7], [1, 2, 3, 4, 5, 6, 7], [0, 1, -1, 5, -5, 2, -2])]


def ternaries(x):
    s = 0
    for v in x:
        s += 1 if v > 0 else 2
    return s


def masked(x):
    y = np.zeros(7)
    for i in range(7):
        if x[i] > 0:
            y[i] = 5
    return y


def masked_write_before(x):
    y = x.copy()
    y[y > 2] -= 6
    if y[0] > 0:
        y += 1
    return y


def selects_nothing(x):
    m, y = x < 0, x.copy()
    if m.any():
        y[m] = -y[m]
    return y


def python_or_numpy(x):
    s, n = 0.0, 0
    for v in x:
        if v > 0:
            s += v
            n += 1
    return s / n if n > 0 else 0.0


def elif_chain(x):
    out = np.zeros_like(x)
    for i, v in enumerate(x):
        if abs(v) < 0.6:
            out[i] = 0.0
        elif v > 0:
            out[i] = v - 0.6
        else:
            out[i] = v + 0.6
    return out


def hysteresis(x):
    state, out = False, np.zeros(len(x), dtype=bool)
    for i in range(len(x)):
        if state:
            if x[i] < -1:
                state = False
        elif x[i] > 1:
            state = True
        out[i] = state
    return out


def skips(x):
    s = 0.0
    for v in x:
        if v < 0 or v == 3:
            continue
        s = s + v * v
    return s


def _limited(v):
    if v > 2:
        return 2.0
    if v < -2:
        return -2.0
    return float(v)


def early_returns_of_a_helper(x):
    return np.array([_limited(v) for v in x])


def early_return_in_a_loop(x):
    for i, v in enumerate(x):
        if v > 1:
            return i, v
    return -1, x[0]


def loop_with_else(x):
    for v in x:
        if v > 2:
            r = v * 2
            break
    else:
        r = -1.0
    return r


def sorted_by_exchange(x):
    y = x.copy()
    for i in range(7):
        for j in range(6 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y


def suppressed(x):
    s, keep, alive = np.abs(x), np.zeros(7, dtype=bool), np.ones(7, dtype=bool)
    for _ in range(7):
        if not alive.any():
            break
        i = np.argmax(np.where(alive, s, -1.0))
        keep[i] = True
        alive &= np.abs(s - s[i]) > 0.4
    return keep


def may_fail_on_one_side(x):
    s = 0.0
    for k in range(4):
        i = int(x[k])
        if 0 <= i < len(x):
            s += x[i]
    return s


def alias_of_one_side(x):
    y = x
    if x[0] > 0:
        y = x * 2
    y[1] = 5.0
    return y, x


def shape_of_one_side(x):
    n = 3 if x[0] > 0 else 5
    return x[:n].sum()


def value_of_one_side(x):
    if x[0] > 0:
        t = x * 2
    if x[0] > 0:
        return t + 1
    return x


def caught(x):
    def checked(v):
        if v > 2:
            raise ValueError("large")
        return v

    try:
        return checked(x[0]) + 1
    except ValueError:
        return x[0] - 1


def captured(x):
    k = 1.0
    f = (lambda v: v * k) if x[0] > 0 else (lambda v: v + k)
    k = 3.0
    return f(x)


def texts(x):
    mode = "up" if x[0] > 0 else "down"
    return x + 1 if mode == "up" else x - 1


def lists(x):
    a = [x[0], 2.0] if x[1] > 0 else [x[2], 3.0]
    a[0] = a[0] + a[1]
    return a


def changed_list(x):
    a = [1.0, 2.0]
    if x[0] > 0:
        a.append(3.0)
    else:
        a[0] = 4.0
        a.append(5.0)
    return a

def in_try(x):
    """More ways than are followed, were they not to meet inside of the `try`."""
    y, s = x.copy(), 0.0
    for i in range(7):
        try:
            if x[i] > 0:
                y[i] = 5
            else:
                s -= x[i]
        except KeyError:
            return y, s * 0
        finally:
            y[0] += 1
    return y, s


def bound_before_an_error(x):
    """What a branch has bound when it raises is there in the handler."""
    a = 0.0
    try:
        if x[0] > 0:
            a = 2 * x[1]
            x.reshape(5)
        else:
            a = x[2]
    except ValueError:
        return a
    return a * 10


def matched(x):
    s, best = 0.0, -1
    for i in range(7):
        match i % 3, x[i] > 0:
            case (0, _) if x[i] > 1:
                s, best = s + 1.0, i
            case (n, True):
                s += n
            case _:
                s = s * 2 - 1.0
    return s, best


def _either(x):
    for v in x:
        if v > 3:
            twice = 2 * v
            yield twice
        elif v > 0:
            yield 7.0
        else:
            yield -v


def generated(x):
    return np.array(list(_either(x)))


def named_in_tests(x):
    s = 0.0
    for v in x:
        if (twice := 2 * v) > 1:
            s += twice
        else:
            s -= 1.0
    while (size := np.abs(x).max()) > 0.5 and s < 1e9:
        x = x / 2
    return s, twice, x, size


NODES = [ternaries, masked, masked_write_before, selects_nothing, python_or_numpy, elif_chain, hysteresis, skips, early_returns_of_a_helper,
         early_return_in_a_loop, loop_with_else, sorted_by_exchange, suppressed, may_fail_on_one_side, alias_of_one_side,
         shape_of_one_side, value_of_one_side, caught, captured, texts, lists, changed_list,
         in_try, bound_before_an_error, matched, generated, named_in_tests]  # fmt: skip


def _leaves(x):
    return [leaf for v in x for leaf in _leaves(v)] if isinstance(x, (list, tuple)) else [x]


@pytest.mark.parametrize("sample", [0, 3])
@pytest.mark.parametrize("node", NODES)
def test_right_for_all_inputs(node, sample):
    graph = np2fx.trace(node, VECTORS[sample].copy())
    for x in VECTORS:
        left, given = x.copy(), torch.tensor(x)
        want, got = _leaves(node(left)), _leaves(graph(given))
        assert len(want) == len(got)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(np.asarray(b), np.asarray(a), rtol=1e-12)
            assert np.asarray(b).dtype == np.asarray(a).dtype
        np.testing.assert_array_equal(given.numpy(), left)


@pytest.mark.parametrize("node", [ternaries, elif_chain, early_returns_of_a_helper, early_return_in_a_loop, suppressed])
def test_the_graph_does_not_depend_on_the_sample(node):
    assert len({str(np2fx.trace(node, x.copy()).graph) for x in VECTORS}) == 1


def test_hundreds_of_branches():
    def f(x):
        s = 0.0
        for i in range(200):
            if x[i] > 0:
                s += x[i]
        return s

    x = np.cos(np.arange(200.0))
    graph = np2fx.trace(f, x)
    assert sum(n.target is torch.where for n in graph.graph.nodes) == 200
    np.testing.assert_allclose(float(graph(torch.from_numpy(-x))), f(-x), rtol=1e-12)


def test_a_number_that_one_side_makes_numpys_decides_no_dtype():
    def f(x, y):
        s = 0.5
        if x[0] > 0:
            s = x[0]
        return y * s

    with pytest.raises(np2fx.TraceError, match="decides the dtype"):
        np2fx.trace(f, np.ones(2), np.ones(2, np.float32))


def test_python_divides_by_no_zero():
    def f(x):
        s, t = 0.0, 0.0
        if x[0] > 0:
            s, t = x[0], x[1]
        return s / t

    graph = np2fx.trace(f, np.array([1.0, 2.0]))
    assert float(graph(torch.tensor([3.0, 2.0], dtype=torch.float64))) == 1.5
    with pytest.raises(ZeroDivisionError):
        graph(torch.tensor([-3.0, 2.0], dtype=torch.float64))


# Loops that end early


def root(x):
    lo, hi = 0.0, abs(x).max() + 1
    for _ in range(60):
        mid = (lo + hi) / 2
        if mid * mid < 2:
            lo = mid
        else:
            hi = mid
        if hi - lo < 1e-9:
            break
    return lo


def newton(x):
    a = r = abs(x[0]) + 1
    for i in range(50):  # noqa: B007
        d = (r * r - a) / (2 * r)
        r = r - d
        if abs(d) < 1e-10:
            break
    return r, i


def power(x):
    a, v, last = np.array([[2.0, 1.0], [1.0, 3.0]]) + abs(x[0]), np.ones(2), 0.0
    for _ in range(100):
        w = a @ v
        size = np.sqrt(np.sum(w * w))
        v = w / size
        if abs(size - last) < 1e-9:
            break
        last = size
    return last


def converges(x):
    r = abs(x[0]) + 1.0
    for _ in range(20):
        n = 0.5 * (r + 3.0 / r)
        if abs(n - r) < 1e-8:
            break
        r = n
    else:
        raise RuntimeError("no convergence")
    return r


def wrapped(x):
    a = x[0] * 4
    while a > math.pi:
        a -= 2 * math.pi
    while a < -math.pi:
        a += 2 * math.pi
    return a


@pytest.mark.parametrize("node", [root, newton, power, converges, wrapped])
def test_a_loop_that_ends_early_is_a_loop_of_the_graph(node):
    graph = np2fx.trace(node, VECTORS[0].copy())
    assert any("while_loop" in str(n.target) for n in graph.graph.nodes)
    for x in VECTORS:
        for a, b in zip(_leaves(node(x.copy())), _leaves(graph(torch.tensor(x))), strict=True):
            np.testing.assert_allclose(np.asarray(b), np.asarray(a), rtol=1e-12)


def test_thousands_of_rounds():
    def f(x):
        s, n = 0.0, 0
        while s < 10_000:
            s += 1.0 + x[0]
            n += 1
        return n

    assert int(np2fx.trace(f, np.zeros(1))(torch.ones(1, dtype=torch.float64))) == 5000
