"""NumPy programs that hand arrays to what the standard library iterates over."""

from __future__ import annotations

import contextlib
import itertools
from collections import deque

import numpy as np


class Buffer:
    def __init__(self, held):
        self.held = held

    def __iter__(self):
        return iter(self.held)

    def added(self, x):
        return [v + x for v in self]

    def raised(self, x):
        for v in self:
            v += np.float64(1)
        return [v + x for v in self], self.held


@contextlib.contextmanager
def scaled(x, by=2.0):
    yield np.multiply(x, by)


@contextlib.contextmanager
def restored(x):
    before = x.copy()
    try:
        yield np.multiply(x, 3)
    finally:
        x[:] = np.add(before, 1)


def large(v):
    return np.abs(v) > 2


def an_iterable(x):
    return Buffer(np.multiply(x, 2)).added(x), Buffer(np.stack([x, x])).added(x)


def an_iterable_of_rows(x):
    return Buffer(np.stack([x, x * 2])).raised(x)


def contexts(x):
    with scaled(x) as y, scaled(x, by=3) as z:
        total = np.sum(y) + np.sum(z)
    return total, y


def a_context_that_ends(x):
    with restored(x) as y:
        y = np.add(y, x)
    return y, x


def queues(x):
    d = deque(x, maxlen=2)
    r = deque(np.stack([x, x]), 3)
    x[:] = 0
    d.append(x[1])
    return list(d), list(r), d.maxlen, list(deque(x, None)), len(deque(x, maxlen=np.int64(3)))


def pairs(x):
    p, c = list(itertools.pairwise(x)), list(itertools.combinations(x, 2))
    y = list(itertools.permutations(x[:2])), list(itertools.combinations_with_replacement(x[:2], 2))
    x[:] = np.zeros(4)
    return p, c, y


def repeated(x):
    rows = list(itertools.repeat(x, 2))
    x[0] = np.float64(5)
    return rows, [a * b for a, b in zip(x, itertools.repeat(2.0), strict=False)], list(itertools.repeat(x[0], times=np.int64(2)))


def endless(x):
    return list(itertools.islice(itertools.cycle(x), 6)), list(itertools.islice(itertools.count(x[0], x[1]), 3)), np.sum(x)


def chosen(x):
    y = list(itertools.compress(x, [1, 0, 1, 0])), list(itertools.starmap(np.multiply, zip(x, x, strict=True)))
    return y, list(itertools.takewhile(lambda v: v < 3, x)), list(itertools.dropwhile(large, x)), list(itertools.filterfalse(large, x))


def grouped(x):
    return [(k, list(g)) for k, g in itertools.groupby(x, key=large)], [len(list(g)) for _, g in itertools.groupby(np.round(x / 2))]


def functions_in_one_line(x):
    f = {"a": lambda v: np.std(v), "b": lambda v: np.sum(v)}
    return f["a"](x), f["b"](x), list(itertools.accumulate(x, lambda a, b: a * b)), list(itertools.starmap(lambda a, b: a - b, [(x, x)]))


PROGRAMS = [an_iterable, an_iterable_of_rows, contexts, a_context_that_ends, queues, pairs, repeated, endless, chosen, grouped,
            functions_in_one_line]  # fmt: skip
