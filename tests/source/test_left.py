"""Nodes that stay NumPy's because what they call, or give, cannot be torch; and what their callers are told."""

from __future__ import annotations

import textwrap

import np2fx
import numpy as np
import pytest
from np2fx.cli import main

from .test_rewrite import rewritten, run

X = np.array([0.5, -2.0, 3.25])


@pytest.mark.parametrize("call", ["self(np.abs(x))", "self.__call__(np.abs(x))", "self.noisy(np.abs(x))"])
@pytest.mark.parametrize("base", ["", "(Base)"])
def test_a_method_whose_object_cannot_be_called(call, base):
    noisy = """\
    @np2fx.node
    def __call__(self, x): return x + np.random.rand(3)
    @np2fx.node
    def noisy(self, x): return x + np.random.rand(3)
"""
    own = f"class Node{base}:\n" + (noisy if not base else "")
    body = (f"class Base:\n{noisy}" if base else "") + own + f"    @np2fx.node\n    def one(self, x): return {call}\n"
    new, findings = rewritten(body)
    assert "torch" not in new and "npx" not in new
    assert any("`Node.one` calls `" in f.message for f in findings)
    assert run(new, "Node")().one(X).shape == (3,)


def test_a_method_whose_object_can_be_called():
    new, findings = rewritten("""\
        class Node:
            @np2fx.node(x="float64[3]")
            def __call__(self, x): return np.std(x)
            @np2fx.node(x="float64[3]")
            def one(self, x): return self(np.abs(x))
        """)
    assert not [f for f in findings if f.severity == "error"]
    assert run(new, "Node")().one(X) == np.std(np.abs(X))


MAKERS = """\
def made(s): return lambda x: x * s + np.ones(3)
def other(s):
    def inner(x): return np.sum(x) * s
    return inner
twice, summed = made(2), other(3)
"""


@pytest.mark.parametrize("exact", [False, True])
def test_functions_that_make_functions_are_no_nodes_of_their_own(exact):
    new, findings = rewritten(MAKERS, all_functions=True, exact=exact)
    assert "torch" not in new and "npx" not in new
    assert [(f.name, f.severity) for f in findings] == [("not-rewritten", "warning")] * 2
    assert np.array_equal(run(new, "twice")(X), X * 2 + 1)


def test_functions_that_make_functions_are_helpers_of_nodes():
    new, findings = rewritten(MAKERS + "def node(x): return made(2)(np.abs(x))\n", all_functions=True)
    assert [f.message for f in findings if f.severity == "error"] == []
    assert "@npx.on_torch\ndef made(s)" in new and "return made(2)(npx.abs(x))" in new
    assert np.array_equal(run(new, "twice")(X), X * 2 + 1)


def test_a_node_that_returns_a_function():
    new, findings = rewritten("@np2fx.node\ndef node(s): return [lambda x: x * s + np.ones(3)]\n")
    assert "torch" not in new
    assert any(f.severity == "error" and "returns a function" in f.message for f in findings)


def test_declared_containers_are_no_arrays():
    new, findings = rewritten("""\
        @np2fx.node(xs=["float64[3]", "float64[3]"], o={"q": "float64[3]", "n": "int"})
        def node(xs, o): return xs[0] * 2 + xs[1] - o["q"] * o["n"]
        """)
    assert {f.name for f in findings} == {"numpy-on-torch"}
    assert np.array_equal(run(new)([X, X], {"q": X, "n": 3}), X * 0)


def test_what_nobody_declared_is_taken_as_it_comes():
    new, _ = rewritten("@np2fx.node\ndef node(x): return x * 2 + np.ones(3)\n")
    for given in (X, 3, X.astype(np.float32), np.float64(2.5), np.arange(3)):
        assert np.array_equal(run(new)(given), given * 2 + np.ones(3))


def test_what_a_dataclass_holds_beside_its_fields_comes_back_as_arrays():
    new, findings = rewritten("""\
        import dataclasses

        @dataclasses.dataclass
        class Observation:
            q: np.ndarray

        @np2fx.node(x="float64[3]")
        def node(x):
            o = Observation(np.abs(x))
            o.doubled = x * 2
            return o
        """)
    assert not [f for f in findings if f.severity == "error"]
    given = run(new)(X)
    assert isinstance(given.q, np.ndarray) and isinstance(given.doubled, np.ndarray)
    assert np.array_equal(given.doubled, X * 2)


def test_containers_in_attributes_are_filled_as_numpy_fills_them():
    body = """\
        class Own:
            def __init__(self):
                self.held, self.by = [], {}
            @np2fx.node(x="float64[n]")
            def push(self, x):
                self.held.append(x - x.mean())
                self.by.update(last=x * 2, all=[x])
                return np.stack(self.held[-2:]).mean(0), self.by["last"] + 1
            @np2fx.node(x="float64[n]")
            def aside(self, x):
                me = self
                me.held.insert(0, x[::-1])
                me.held[0][0] = 7
                return x
        """
    new, findings = rewritten(body)
    assert not [f for f in findings if f.severity == "error"] and "npx.on_torch" in new
    ours, numpys = run(new, "Own")(), run("import numpy as np\nimport np2fx\n" + textwrap.dedent(body), "Own")()
    for k in range(3):
        for method in ("push", "aside"):
            got, want = (getattr(o, method)(X + k) for o in (ours, numpys))
            assert np.allclose(got, want)
        assert all(isinstance(v, np.ndarray) for v in (*ours.held, ours.by["last"], *ours.by["all"]))
        assert np.allclose(ours.held, numpys.held) and np.array_equal(ours.by["last"], numpys.by["last"])


COMPILED = """\
import numba
from numba import vectorize as vec
try:
    from numba import jit
except ImportError:
    def jit(f): return f
cached = numba.njit(cache=True)
def handed(x): return np.sum(x)
fast = numba.njit(handed)
@numba.njit
def peak(x): return np.max(x)
@jit(nopython=True)
def low(x): return np.min(x)
@cached
def mean(x): return np.mean(x)
@vec(["float64(float64)"])
def phase(x): return np.cos(x)
@functools.partial(numba.jit, nopython=True)
def spread(x): return np.std(x)
def calls(x): return peak(np.abs(x))
def calls_those(x): return calls(x) + np.sin(x)
def product(x): return fast(np.sin(x))
class Filter:
    def by(self, x): return phase(np.sin(x))
    def further(self, x): return self.by(np.sin(x))
"""


def test_compiled_functions_and_those_that_call_them():
    free = "def free(x): return np.sin(x)\n@np.vectorize\ndef each(x): return np.cos(x)\n"
    body = "import functools\nimport numpy as np\n" + COMPILED + free
    new, findings = np2fx.rewrite_source(body, all_functions=True, dialect="auto")
    assert new.count("@npx.on_torch") == 2 and COMPILED in new
    left = {f.message.split("`")[1] for f in findings if f.name == "not-rewritten" and "is compiled by numba" in f.message}
    assert left == {"handed", "peak", "low", "mean", "phase", "spread"}
    refused = [f.message.split("`")[1] for f in findings if f.name == "opaque-call"]
    assert refused == ["peak", "calls", "fast", "phase", "self.by"]


def test_compiled_functions_of_a_package_that_loads_its_parts_when_asked(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    for folder in ("pkg", "pkg/util"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "pkg/util/__init__.pyi").write_text("from .parts import peak as peak\n")
    (tmp_path / "pkg/util/parts.py").write_text("import numba\nimport numpy as np\n@numba.njit\ndef peak(x): return np.max(x)\n")
    text = "from . import util\nimport numpy as np\ndef beats(x): return util.peak(np.abs(x))\ndef free(x): return np.abs(x)\n"
    (tmp_path / "pkg/beat.py").write_text(text)
    assert main(["rewrite", "--dialect", "auto", "--all-functions", str(tmp_path / "pkg/beat.py")]) == 1
    new = (tmp_path / "pkg/beat.py").read_text()
    assert "def beats(x): return util.peak(np.abs(x))" in new and "def free(x): return npx.abs(x)" in new


def test_an_object_that_all_calls_of_a_helper_share(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "grows.py").write_text("def grow(x, acc=[]):\n    acc.append(1)\n    return len(acc) * x\n")
    (tmp_path / "grows_elsewhere.py").write_text("import grows\ndef use(x):\n    return grows.grow(x)\n")
    (tmp_path / "grows_in_node.py").write_text(
        "import np2fx, numpy as np, grows\n@np2fx.node(x='float64[n]')\ndef d(x):\n    return grows.grow(x)\n"
    )
    main(["rewrite", "--dialect", "auto", str(tmp_path)])
    assert "@npx.on_torch\ndef grow(x, acc=[])" in (tmp_path / "grows.py").read_text()
    monkeypatch.syspath_prepend(str(tmp_path))
    import grows_elsewhere
    import grows_in_node

    x = np.ones(1)
    assert [grows_in_node.d(x)[0], grows_elsewhere.use(x)[0], grows_in_node.d(x)[0]] == [1, 2, 3]


@pytest.mark.parametrize("given", ["f=np.sin", "f"])
def test_a_function_that_only_calls_what_it_is_given_is_not_said_to_write(given):
    new, findings = rewritten(f"@np2fx.node(x='float32[n, 3]')\ndef one(x, {given}): return f(x) + 1\n")
    assert "on_torch" in new
    assert ["may reach code that writes" in f.message for f in findings if f.name == "numpy-on-torch"] == [True]
