"""What a function does to what it is given, and to the objects that hold its state: as NumPy's, converted and rewritten."""

from __future__ import annotations

import collections
import copy
import dataclasses
import sys

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

from .modules import module

MODULE = '''
import collections
import dataclasses
import numpy as np
import np2fx


@dataclasses.dataclass
class State:
    q: np.ndarray
    t: int = 0


class Filter:
    gain = 2.0

    def __init__(self):
        self.buffer = np.zeros((3, 2), np.float32)
        self.count, self.last, self.held = 0, None, {}

    @np2fx.node
    def push(self, x):
        self.buffer[self.count % 3] = x
        self.count += 1
        row = self.buffer[0]
        row += 1
        return self.buffer.mean(axis=0) * self.gain

    @np2fx.node
    def smooth(self, x):
        self.last = x if self.last is None else 0.5 * self.last + 0.5 * x
        self.held["x"] = self.last * 2
        self.pair = (x + 1, [x * 3])
        return self.last

    @np2fx.node
    def into(self, x):
        np.add(self.buffer, x, out=self.buffer)
        np.copyto(self.buffer[1], x)
        self.buffer.T[0, 2] = 4
        return self.buffer * 1

    def update(self, x):
        self.spread, self.size = x.std(), x.size
        return self.spread

    @np2fx.node
    def updated(self, x):
        self.update(x)
        return self.spread * self.size

    def report(self):
        return self.buffer.var(), self.buffer.size, self.last is None or self.last.std()


@np2fx.node
def put(obs, x):
    obs["y"] = x * 2
    obs.update(z=x + 1)
    return obs


@np2fx.node
def collect(xs, x):
    xs.append(x * 2)
    xs[0] = xs[0] + 1
    return np.stack(xs)


@np2fx.node
def take(obs, x):
    return obs.pop("x") + x


@np2fx.node
def step(s, x):
    s.q += x
    s.t += 1
    return dataclasses.replace(s, q=s.q * 2)


@np2fx.node
def twice(x):
    x *= 2
    x[0] = 7
    return None
'''


@pytest.fixture
def both(tmp_path):
    """The module as NumPy, and rewritten."""
    names = ("state_numpy", "state_torch")
    file = tmp_path / "state_numpy.py"
    file.write_text(MODULE)
    new, _ = rewrite_source(MODULE, "m.py", exact=True)
    yield module(MODULE, names[0]), module(new, names[1])
    for name in names:
        del sys.modules[name]


def same(a, b):
    if isinstance(a, (np.ndarray, np.generic)):
        # In a container of an object's, NumPy on torch leaves its own class, which is one of NumPy's arrays.
        assert type(a) is type(b) or (type(a) is np.ndarray and isinstance(b, np.ndarray)), f"{type(b)} for {type(a)}"
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    elif isinstance(a, (list, tuple, collections.deque)):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for v, w in zip(a, b, strict=True):
            same(v, w)
    elif dataclasses.is_dataclass(a):
        same(vars(a), vars(b))
    else:
        assert a == b


X = np.array([1.0, 3.0], np.float32)


@pytest.mark.parametrize("method", ["push", "smooth", "into", "updated"])
def test_attributes_are_numpys(both, method):
    """State is written where it lies, and what the rest of the program finds in an attribute is an array."""
    old, new = (m.Filter() for m in both)
    for _ in range(3):
        same(getattr(old, method)(X.copy()), getattr(new, method)(X.copy()))
    same(vars(old), vars(new))
    same(old.report(), new.report())


@pytest.mark.parametrize(("name", "first"), [
    ("put", {"x": X}), ("take", {"x": X, "k": 1}), ("collect", [X]), ("collect", collections.deque([X], maxlen=2)),
])  # fmt: skip
def test_containers_are_the_callers(both, name, first):
    given = copy.deepcopy(first), copy.deepcopy(first)
    results = [getattr(m, name)(g, X.copy()) for m, g in zip(both, given, strict=True)]
    same(*results)
    same(*given)
    assert (results[0] is given[0]) == (results[1] is given[1])


def test_objects_come_back_with_arrays(both):
    given = [m.State(X.copy()) for m in both]
    results = [m.step(g, X.copy()) for m, g in zip(both, given, strict=True)]
    same(vars(results[0]), vars(results[1]))
    same(vars(given[0]), vars(given[1]))


@pytest.mark.parametrize("make", [lambda: np.arange(4.0)[::-1], lambda: np.arange(8.0)[::2], lambda: np.arange(4.0).astype(">f8")])
def test_arguments_of_any_layout_are_written_into(both, make):
    given = make(), make()
    for m, g in zip(both, given, strict=True):
        m.twice(g)
    same(*given)


def test_read_only_arguments_are_not(both):
    for m in both:
        x = np.arange(4.0)
        x.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            m.twice(x)
        assert x[0] == 0


def test_masked_arrays_stay_masked(both):
    given = [np.ma.masked_array([1.0, 2.0, 3.0], [True, False, True]) for _ in both]
    for m, g in zip(both, given, strict=True):
        m.twice(g)
    assert type(given[1]) is np.ma.MaskedArray
    np.testing.assert_array_equal(given[1].data, given[0].data)
    np.testing.assert_array_equal(given[1].mask, given[0].mask)


def append(xs, x):
    xs.append(x)
    return xs[-1] * 2


def test_convert_changes_what_it_is_given():
    """Containers of tensors go in as they are; those of arrays are told what became of them."""
    xs = [torch.ones(2)]
    np2fx.convert(append)(xs, torch.zeros(2))
    assert len(xs) == 2
    ys = [np.ones(2)]
    np2fx.convert(append)(ys, torch.zeros(2))
    assert len(ys) == 2
    assert isinstance(ys[0], np.ndarray)


def reshaped(x, n):
    return x.reshape(n, -1)


def test_errors_are_numpys():
    """What a caller of the NumPy function catches, the caller of its twin catches."""
    with pytest.raises(ValueError, match="invalid"):
        np2fx.convert(reshaped)(torch.ones(3), 2)
    with pytest.raises(np.exceptions.AxisError):
        np2fx.convert(lambda x: np.sum(x, axis=3))(torch.ones(3))
    with pytest.raises(ValueError, match="reduction"):
        np2fx.convert(lambda x: x.max())(torch.ones(0))
