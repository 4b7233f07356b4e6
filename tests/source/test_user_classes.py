"""Code of the user's that no call leads to, in rewritten files: they compute what they did, and ordinary text stays as it was."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.source.test_rewrite import rewritten

CLASSES = """\
import functools
from dataclasses import dataclass

import numpy as np


@dataclass
class Observation:
    q: np.ndarray

    @property
    def spread(self):
        return self.q.std()

    @property
    def stored(self):
        return self.q

    @functools.cached_property
    def cached(self):
        return self.q.std()

    def times(self, k):
        return self.q.std() * k

    def __add__(self, other):
        return Observation(self.q + other.q.std())

    def __getitem__(self, key):
        return self.q.std()

    def __enter__(self):
        return self.q.std()

    def __exit__(self, *error):
        return None

    def __float__(self):
        return float(self.q.std())

    def __str__(self):
        return f"{self.q.std():.4f}"


@dataclass
class Prepared:
    q: np.ndarray

    def __post_init__(self):
        self.q = np.asarray(self.q, np.float32)
        self.s = self.q.std()


class Base:
    def inherited(self, o):
        return o["a"].std()


def elsewhere(o):
    return o["a"].std()


def tree(f, t):
    if isinstance(t, dict):
        return {k: tree(f, v) for k, v in t.items()}
    if isinstance(t, list):
        found = []
        for v in t:
            found.append(tree(f, v))
        return found
    return f(t)
"""

NODES = """\
import functools

import numpy as np
import np2fx

from classes import Base, Observation, Prepared, elsewhere, tree


def decorated(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args)

    return call


@decorated
def outer(o):
    return o["a"].std()


class Node(Base):
    @staticmethod
    def static(o):
        return o["a"].std()

    @classmethod
    def of_class(cls, o):
        return o["a"].std()

    def own(self, o):
        return o["a"].std()

    @property
    def spread(self):
        return self.q.std()

    def __call__(self, o):
        return o["a"].std()

    @np2fx.node
    def containers(self, x):
        o = {"a": x * 2}
        return (self.static({"a": x}), self.of_class({"a": x}), self.own(o), getattr(self, "own")({"a": x}), super().inherited({"a": x}),
                self.inherited({"a": x}), Node().own({"a": x}), functools.partial(outer)({"a": x}), outer({"a": x}), Node()({"a": x}),
                elsewhere({**o}))

    @np2fx.node
    def attributes(self, x):
        self.q = x
        return self.spread


@np2fx.node
def late(x):
    from classes import elsewhere as moved

    return moved({"a": np.abs(x)})


@np2fx.node
def trees(x):
    return tree(np.std, {"a": np.abs(x), "b": [x, {"c": x}]}), tree(lambda v: v.std(), {"a": x})


@np2fx.node
def objects(x):
    o = Observation(x)
    with o as entered:
        return o.spread, o.stored, o.cached, o.times(2), (o + o).spread, o["a"], entered, float(o), f"{o}", Prepared(x * 2).s


@np2fx.node
def passed(o):
    return o.spread, o.times(3)


@np2fx.node(t="float32[_, _]")
def untaken(t):
    if isinstance(t, dict):
        return {k: v * 2 for k, v in t.items()}
    if t is None:
        t.foo()
    return t.std()


@np2fx.node
def matched(d):
    match d:
        case {"a": np.ndarray(shape=(2, _)) as inner} if inner.std() > 0.1:
            return inner.std()
        case _:
            return None


@np2fx.node
def unsure(d):
    try:
        return d["a"].unsqueeze(0)
    except AttributeError:
        return d["a"] * 2
"""

CALLS = """\
import numpy as np
import nodes

x = np.array([[0.5, -2.0, 1.25], [3.0, 0.25, -1.0]], np.float32)


def shown(v):
    if isinstance(v, (list, tuple)):
        return [shown(i) for i in v]
    if isinstance(v, dict):
        return {k: shown(i) for k, i in v.items()}
    if isinstance(v, (np.ndarray, np.generic)):
        return str(v.dtype), np.round(v, 5).tolist()
    return round(v, 5) if isinstance(v, float) else v


n = nodes.Node()
for found in (n.containers(x), n.attributes(x), type(n.q).__name__, nodes.late(x), nodes.trees(x), nodes.objects(x),
              nodes.passed(nodes.Observation(x)), nodes.untaken(x), nodes.matched({"a": x}), nodes.unsure({"a": x})):
    print(shown(found))
"""


@pytest.fixture
def project(tmp_path):
    for name, text in {"classes.py": CLASSES, "nodes.py": NODES, "calls.py": CALLS, "pyproject.toml": "[tool.np2fx]\n"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def output(root, *command):
    return subprocess.run([sys.executable, *command], cwd=root, capture_output=True, text=True, timeout=200)


def test_a_project(project):
    before = output(project, "calls.py")
    assert not before.returncode, before.stderr
    said = output(project, "-m", "np2fx", "rewrite", "nodes.py").stdout
    after = output(project, "calls.py")
    assert after.stdout == before.stdout, after.stderr
    text = (project / "nodes.py").read_text()
    assert "o.spread, o.stored, o.cached, o.times(2)" in text
    assert "with o as entered:" in text
    assert 'return d["a"].unsqueeze(0)' in text
    assert "refused" not in said


def test_ordinary_text_stays():
    """Where no class computes, attributes, items, loops and calls are as they were."""
    body = textwrap.dedent("""\
        class Settings:
            def __init__(self, gain):
                self.gain = gain

            @property
            def size(self):
                return self._size


        @np2fx.node(x="float32[3]")
        def node(x, settings, obs):
            with settings.lock as held:
                for name in obs:
                    x = x * settings.gain
            return x * obs["scale"], settings.name, settings.get("a"), f"{settings.name}", float(settings.gain)
        """)
    new, findings = rewritten(body)
    assert not [f for f in findings if f.severity != "note"]
    assert "with settings.lock as held:\n        for name in obs:" in new
    assert 'obs["scale"]' in new
    assert 'settings.get("a")' in new
    assert "float(settings.gain)" in new


def test_names_of_patterns_are_the_functions_own():
    new, _ = rewritten("""\
        z = np.float32(3)


        @np2fx.node(x="float32[3]")
        def node(x):
            found = 1
            match x.ndim:
                case 1:
                    found = x
                case z:
                    found = z
            return np.std(found), z
        """)
    assert "npx.std(found), z" in new
