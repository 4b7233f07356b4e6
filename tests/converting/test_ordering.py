"""The order in which assignments are evaluated and bound: value, then targets, from left to right."""

from __future__ import annotations

import copy

import np2fx
import numpy as np
import pytest
import torch

X = np.array([-2.0, -1, 0, 1, 2, 3])


def ring(x):
    out, k = np.zeros(3), 0
    for v in (1.0, 2.0, 3.0):
        out[k % 3], k = v, k + 1
    return out


def two_pointers(x):
    lo, hi = 0, len(x) - 1
    while lo < hi:
        x[lo], x[hi], lo, hi = x[hi], x[lo], lo + 1, hi - 1
    return x


def view_and_name(x):
    y = x
    y[0], y = 5.0, x[1:]
    return x, y


def key_and_name(x):
    d, k = {}, "a"
    d[k], k = x, "b"
    return d, k


def bare_tuples(x):
    m = np.eye(3)
    m[0] = x[0], -x[1], 0
    x[0:2] += 1, 2
    x[::-1] = 1, 2, 3, 4, 5, 6
    x[0:2] = *x[2:3], 4
    return m, x


def pops(x):
    todo = [3, 1]
    x[todo.pop()] = todo.pop()
    return x


def chained(x):
    i = 1
    x[i] = i = 3
    return x, i


def chained_tuples(x):
    i = 0
    (x[i], i), j = (x[1], 3), i
    a = x[4:6] = b = np.ones(2)
    a[0] = 5
    return x, i, j, a, b


def iterators(x):
    it = iter([0, 1, 2])
    x[next(it)] = next(it)
    return x


def logged(x):
    log = []

    def f(v):
        log.append(v)
        return int(v)

    x[f(1)] = f(2.0)
    return x, log


def walrus(x):
    i = 0
    x[i] = (i := 2)
    return x, i


def starred(x):
    i = 1
    x[i], *rest, i = [v * 2 for v in range(5)]
    return x, rest, i


def shifted(x):
    k = 1
    x[k:], k = x[:-k].copy(), 0
    return x, k


NODES = [
    ring, two_pointers, view_and_name, key_and_name, bare_tuples, pops, chained, chained_tuples, iterators, logged, walrus, starred,
    shifted,
]  # fmt: skip


def same(want, got):
    if isinstance(want, dict):
        return want.keys() == got.keys() and all(same(want[k], got[k]) for k in want)
    if isinstance(want, (tuple, list)):
        return len(want) == len(got) and all(map(same, want, got))
    return want == got if isinstance(want, str) else np.array_equal(np.asarray(want), np.asarray(got))


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("way", ["convert", "trace"])
def test_the_order_is_pythons(node, way):
    form = np2fx.convert(node) if way == "convert" else np2fx.trace(node, X.copy())
    assert same(node(X.copy()), form(torch.tensor(X)))


class Ring:
    def __init__(self):
        self.buffer, self.i = np.zeros(3), 0

    def push(self, x):
        self.buffer[self.i : self.i + 1], self.i = x[:1], (self.i + 1) % 3
        return self.buffer.copy(), self.i

    def following(self):
        self.i = (self.i + 1) % 3
        return self.i

    def stamp(self, x):
        self.buffer[self.i] = self.following()
        return self.buffer.copy(), self.i


@pytest.mark.parametrize("method", ["push", "stamp"])
def test_the_order_in_methods(method):
    plain = Ring()
    converted = np2fx.convert(getattr(copy.deepcopy(plain), method))
    for _ in range(4):
        assert same(getattr(plain, method)(X), converted(torch.tensor(X)))
