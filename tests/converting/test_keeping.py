"""What a function leaves in objects: the rest of the program finds arrays there, however the function came by the object."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

from .modules import module

MODULE = '''
import contextlib

import numpy as np
import np2fx


class Box:
    def __init__(self):
        self.last, self.held, self.partner = None, {}, None

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
        for o in (self, self.partner):
            o.last = x * 2
            o.held["k"], o.pair = x + 1, [x.sum()]
        return x + 1

    @np2fx.node
    def through_another(self, x):
        q = self.partner
        q.last = x
        q.last += np.sin(x)
        self = q
        self.held = {"x": x / 2}
        return x + 1

    @np2fx.node
    def loop_targets(self, x):
        for self.last, self.held["k"] in enumerate(x):
            self.count = self.last
        for self.row, (self.a, *self.b) in zip(x, [x, x + 1]):
            pass
        return x + 1

    @np2fx.node
    def targets_of_others(self, x):
        me = self
        for me.last, me.partner.held["k"] in zip(x, x):
            me.partner.last = me.last * 2
        with contextlib.nullcontext(x[0]) as me.partner.with_, contextlib.nullcontext(x) as (self.a, me.partner.b):
            me.c = d, me.e = x
        return [0 for self.last in x]

    @np2fx.node
    def targets_inside(self, x):
        def fill(o):
            for o.last in x:
                o.a, o.held["k"] = o.b = x[:2]

        fill(self)
        return x + 1

    @np2fx.node
    def made(self, x):
        new = Box()
        new.last = np.cumsum(x)
        self.partner.partner = new
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
    made.partner = type(made)()
    return made


METHODS = ["renamed", "by_name", "in_a_loop", "through_another", "loop_targets", "targets_of_others", "targets_inside", "made"]


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
        if name == "targets_of_others":
            continue  # refused where some class that is loaded has an `__iter__` or an `__enter__` that computes
        old, new = m.Box(), m.Box()
        old.partner, new.partner = m.Box(), m.Box()
        getattr(old, name)(x.copy())
        np2fx.convert(getattr(new, name))(torch.from_numpy(x.copy()))
        assert state(old) == state(new), name
    assert isinstance(np2fx.convert(m.result)(torch.from_numpy(x)).last, torch.Tensor)


UNSEEN = """
import numpy as np
import np2fx

@np2fx.node
def {name}(o, x):
    me = o
    {statement}
    return x
"""


@pytest.mark.parametrize("statement", ["r = [me.v * 2 for me.v in x]", "for me.d[x[0]] in x: pass", "get(me).v, me.k[x[0]] = x[:2]"])
def test_what_cannot_be_told_of_is_numpy_on_torch(statement):
    new, findings = rewrite_source(UNSEEN.format(name="unseen", statement=statement), "m.py")
    assert {f.name for f in findings} == {"numpy-on-torch"} and f"    {statement}\n" in new
