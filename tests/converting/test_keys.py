"""Dicts, sets and `in`: what NumPy's scalars are hashed and compared by, tensors are too."""

from __future__ import annotations

from collections import Counter, OrderedDict

import np2fx
import numpy as np
import pytest


def known(x):
    names = {0: 1.0, 1: 2.0, 2: 3.0}
    k = np.argmax(x)
    return k in names, k not in names, names.get(k, -1), float(names[k])


def counted(x):
    seen, again = {}, {}
    for v in x:
        seen[v] = seen.get(v, 0) + 1
        again.setdefault(v, 0)
        again[v] += 1
    del again[x[0]]
    for again[x[0]] in range(3):
        pass
    return list(seen.values()), list(again.values()), 3.0 in again


def filled(x):
    t, d, c = set(), {}, Counter()
    t.update(x)
    d.update(zip(x, x, strict=True))
    c.update(x)
    t.discard(np.max(x))
    {x[0]}.pop()
    pairs, ordered = dict(zip(x, x, strict=True)), OrderedDict.fromkeys(x)
    return len(t), len(d), len(c), len({*x}), len(dict.fromkeys(x)), len(pairs), len(ordered), len(set.union(t, x)), t.isdisjoint(x)


def paired(x):
    d = {}
    for i in range(3):
        d[x[i], i] = i
    return (x[1], 1) in d, (3.0, 1) in d, d[x[1], 1], d.get((x[2], 2)), d.pop((x[0], 0))


def nan(x):
    m = np.sqrt(-np.sum(x))
    d = {m: 1}
    return d.get(m), m in {m}, len({m, m}), m in (m, 1), m in [m], m in (1, 2), len(set(x * m)), m in (v for v in [m])


def same(x):
    return x in [x, x * 2]


@pytest.mark.parametrize("function", [known, counted, filled, paired, nan, same])
def test_keys_are_values(function):
    x = np.array([1.0, 3.0, 1.0])
    assert np2fx.convert(function)(x) == function(x)


def other(x):
    return x in [x * 2, x]


def array_key(x):
    d = {}
    d[x] = 1
    return len(d)


@pytest.mark.parametrize("function", [other, array_key])
def test_errors_are_numpys(function):
    x = np.array([1.0, 3.0, 1.0])
    with pytest.raises((TypeError, ValueError)) as expected:
        function(x)
    with pytest.raises(expected.type) as raised:
        np2fx.convert(function)(x)
    assert str(raised.value).replace("'ndarray'", "'numpy.ndarray'") == str(expected.value)
