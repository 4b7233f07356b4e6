"""What a function leaves in objects: the rest of the program finds arrays there, however the function came by the object."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch
from np2fx.source.rewrite import rewrite_source

from .modules import module

MODULE = '''
import numpy as np
import np2fx


class Box:
    def __init__(self):
        self.last, self.held, self.inner = None, {}, None

    @np2fx.node
    def renamed(self, x):
        me = self
        me.last = x * 2
        return x + 1

    @np2fx.node
    def by_name(self, x):
        setattr(self, "last", x * 2)
        return x + 1

    @np2fx.node
    def in_a_loop(self, x):
        for o in (self, self.inner):
            o.last = x * 2
            o.held["k"], o.pair = x + 1, [x.sum()]
        return x + 1

    @np2fx.node
    def through_another(self, x):
        q = self.inner
        q.last = x
        q.last += np.sin(x)
        self = q
        self.held = {"x": x / 2}
        return x + 1

    @np2fx.node
    def made(self, x):
        new = Box()
        new.last = np.cumsum(x)
        self.inner.inner = new
        return x - 1


@np2fx.node
def result(x):
    r = Box()
    r.last = x.mean()
    return r
'''


def state(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__, value.dtype.name, value.tolist()
    if isinstance(value, dict):
        return {k: state(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [state(v) for v in value]
    return state(vars(value)) if hasattr(value, "__dict__") else repr(value)


def box(text, name):
    made = module(text, name).Box()
    made.inner = type(made)()
    return made


METHODS = ["renamed", "by_name", "in_a_loop", "through_another", "made"]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_arrays_are_left_behind(name, exact):
    new, findings = rewrite_source(MODULE, "m.py", exact=exact)
    assert not [f for f in findings if f.severity == "error"]
    old, new = box(MODULE, "keeping_old"), box(new, "keeping_new")
    x = np.array([1.0, 2.0], np.float32)
    for _ in range(2):
        assert state(getattr(old, name)(x.copy())) == state(getattr(new, name)(x.copy()))
    assert state(old) == state(new)


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_made_comes_back_with_arrays(exact):
    new, _ = rewrite_source(MODULE, "m.py", exact=exact)
    x = np.array([1.0, 2.0], np.float32)
    assert state(module(MODULE, "keeping_old").result(x)) == state(module(new, "keeping_new").result(x))


def test_convert_leaves_arrays_and_returns_tensors(tmp_path, monkeypatch):
    (tmp_path / "keeping_boxes.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import keeping_boxes as m

    x = np.array([1.0, 2.0], np.float32)
    for name in METHODS:
        old, new = m.Box(), m.Box()
        old.inner, new.inner = m.Box(), m.Box()
        getattr(old, name)(x.copy())
        np2fx.convert(getattr(new, name))(torch.from_numpy(x.copy()))
        assert state(old) == state(new), name
    assert isinstance(np2fx.convert(m.result)(torch.from_numpy(x)).last, torch.Tensor)
