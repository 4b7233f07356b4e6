"""Read-only arguments: the write itself raises, where NumPy raises it, and nothing that comes after it happens."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
from np2fx.codemod.rewrite import rewrite_source

from .modules import module

MODULE = '''
import numpy as np
import np2fx


@np2fx.node
def caught(x, y):
    y[0] = 1
    try:
        x[0] = 9
    except ValueError:
        return y * 2
    return x


@np2fx.node
def first(x, y):
    x[1:] = 9
    y[0] = 5
    return x


@np2fx.node
def view(x, y):
    v = x.reshape(2, 2)[::-1].T
    v += 1
    y[0] = 5
    return v


@np2fx.node
def out(x, y):
    y[0] = 5
    np.add(x, y, out=x)
    y[1] = 7
    return x


@np2fx.node
def method(x, y):
    x.sort()
    y[0] = 5
    return x


@np2fx.node
def copied(x, y):
    z = np.array(x)
    z[0] = 3
    w = x + 1
    w[0] = 2
    t = x.astype(np.float32)
    t[0] = 8
    return z + w + t + y[::-1] + np.sort(x) + x.flatten() + np.where(x > 1, x, y), x, x[1:], x.T
'''


def run(function):
    x, y = np.array([4.0, 2.0, 3.0, 1.0], np.float32), np.zeros(4, np.float32)
    x.flags.writeable = False
    try:
        found = function(x, y)
    except ValueError as error:
        found = "read-only" in str(error)
    return found, x, y


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", ["caught", "first", "view", "out", "method", "copied"])
def test_writes_raise_at_once(name, exact):
    new, _ = rewrite_source(MODULE, "m.py", exact=exact)
    want, got = (run(getattr(module(text, f"read_only_{i}"), name)) for i, text in enumerate((MODULE, new)))
    assert type(want[0]) is type(got[0])
    flat = [(*found, *given) if isinstance(found, tuple) else (found, *given) for found, *given in (want, got)]
    for a, b in zip(*flat, strict=True):
        np.testing.assert_array_equal(b, a)


SHAPES = '''
import numpy as np
import np2fx


@np2fx.node
def column(x):
    x.shape = (-1, 1)
    return x


@np2fx.node
def square(x):
    x.shape = 2, 2
    x[0] *= 7
    return x[0] + 1


@np2fx.node
def part(x):
    v = x[1:3]
    v.shape = (2, 1)
    return v * 1


@np2fx.node
def impossible(x):
    try:
        x.shape = (3, 2)
    except ValueError:
        return x * 2
    return x
'''


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("name", ["column", "square", "part", "impossible"])
def test_a_shape_that_is_set_is_the_callers(name, step, exact):
    new, _ = rewrite_source(SHAPES, "m.py", exact=exact)
    given = [np.arange(4.0, dtype=np.float32)[::step] for _ in range(2)]
    want, got = (getattr(module(text, f"shapes_{i}"), name)(given[i]) for i, text in enumerate((SHAPES, new)))
    np.testing.assert_array_equal(got, want, strict=True)
    np.testing.assert_array_equal(given[1], given[0], strict=True)
    assert (got is given[1]) == (want is given[0])


def test_a_graph_has_no_place_for_it():
    column = module(SHAPES, "shapes_traced").column
    with pytest.raises(np2fx.TraceError, match="NX"):
        np2fx.trace(column, np.arange(4.0))


def test_arrays_that_share_memory():
    image = np.arange(24.0).reshape(2, 2, 6)

    def total(left, right):
        left += right
        return left + right

    for first in (3, 1):
        want, got = image.copy(), image.copy()
        results = [f(i[..., :3][..., ::-1], i[..., first : first + 3]) for f, i in ((total, want), (np2fx.convert(total), got))]
        np.testing.assert_array_equal(np.asarray(results[1]), results[0])
        np.testing.assert_array_equal(got, want)
