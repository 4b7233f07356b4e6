"""The rewritten files of a project, as callers find them: decorators, nodes in nodes, caches, objects, kinds of results."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import np2fx
import numpy as np
import pytest
from np2fx.verifying.inputs.world import form_around, rewritten

HEAD = "import functools, np2fx, numpy as np, torch\n"
SOURCES = {
    "a decorator above a node that is called by a node": """
def zscored(f):
    @functools.wraps(f)
    def w(x):
        r = f(x)
        return (r - r.mean()) / r.std()
    return w
@zscored
@np2fx.node(x="float64[n]")
def c(x):
    return np.abs(x)
@np2fx.node(x="float64[n]")
def use(x):
    return c(x)
""",
    "a decorator below a node that changes the dtype": """
def quantised(f):
    @functools.wraps(f)
    def w(x):
        return f((x * 10).astype(np.int64))
    return w
@np2fx.node(x="float64[n]")
@quantised
def use(x):
    return x / 3
""",
    "a decorator that looks at its argument": """
def validate(f):
    @functools.wraps(f)
    def w(x):
        assert isinstance(x, np.ndarray), type(x)
        return f(x)
    return w
@np2fx.node(x="float64[n]")
@validate
def c(x):
    return np.abs(x)
@np2fx.node(x="float64[n]")
def use(x):
    return c(x) + 1
""",
    "a cache of what a node gives": """
@functools.lru_cache(maxsize=None)
@np2fx.node(n="int")
def window(n):
    return np.hanning(n)
@np2fx.node(x="float64[n]")
def use(x):
    return window(len(x)) * x
""",
    "a cached property": """
class A:
    def __init__(self):
        self.w = np.array([1.0, 2.0, 4.0])
    @functools.cached_property
    @np2fx.node
    def K(self):
        return np.cumsum(self.w)
    @np2fx.node(x="float64[3]")
    def run(self, x):
        return self.K * x
use = A().run
""",
    "a tensor that becomes an array": """
@np2fx.node(x="float64[n]")
def use(x):
    return torch.from_numpy(x * 2).unsqueeze(0)
""",
    "an attribute for a node with specs": """
class Policy:
    def __init__(self):
        self.mean = np.array([0.5, 1.0])
    @np2fx.node(x="float64[n]", mean="float64[n]")
    def centre(self, x, mean):
        return x - mean
    @np2fx.node(obs="float64[2]")
    def act(self, obs):
        return np.tanh(self.centre(obs, self.mean))
use = Policy().act
""",
    "a property that calls a node": """
class Robot:
    def __init__(self):
        self.q = np.array([0.5, -1.0])
    @np2fx.node(q="float64[n]")
    def jac(self, q):
        return np.outer(np.sin(q), np.cos(q))
    @property
    def J(self):
        return self.jac(self.q)
    @np2fx.node(x="float64[2]")
    def run(self, x):
        return self.J @ x
use = Robot().run
""",
}
STATE = {
    "helpers.py": "def grow(x, acc=[]):\n    acc.append(1)\n    return len(acc) * x\n",
    "other.py": "import helpers\ndef mine(x):\n    return helpers.grow(x)\n",
    "nodes.py": 'import np2fx, numpy as np, helpers, other\n@np2fx.node(x="float64[n]")\ndef use(x):\n    return helpers.grow(x)\n',
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Writes files and imports one of them; its modules are gone when the test is over."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def made(files: dict[str, str], name: str) -> Any:
        for file, text in files.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield made
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_callers_find_what_they_found(project: Any) -> None:
    for number, (said, text) in enumerate(SOURCES.items()):
        module = project({f"callers_{number}.py": HEAD + text}, f"callers_{number}")
        report = np2fx.verify(module.use, ways=("rewrite",), max_examples=20, shrink_seconds=1)
        assert report.ok, f"{said}: {report}"
    module = project(STATE, "nodes")
    report = np2fx.verify(module.use, ways=("rewrite",), max_examples=20)
    assert report.counterexample is not None and report.counterexample.way == "original", str(report)  # rewritten it keeps the same state


RIGHT = """
def scaled(f):
    @functools.wraps(f)
    def w(x):
        return f(x) * 2.0
    return w
CACHE = {}
def window(n):
    if n not in CACHE:
        CACHE[n] = n + 1.0
    return CACHE[n]
@scaled
@np2fx.node(x="float64[n]")
def c(x):
    return np.abs(x)
@np2fx.node(x="float64[n]", k="float64[]", n="int", s="float")
def use(x, k, n, s):
    return {"a": np.sqrt(c(x)) + k, "n": n + 1, "s": s * 2}
@np2fx.node(x="float32[n, 3]", y="float32[n, 3]")
def both(x, y):
    x += 1
    return x + y
"""


def test_what_is_right_is_no_false_alarm(project: Any) -> None:
    module = project({"right_callers.py": HEAD + RIGHT}, "right_callers")
    for node in (module.c, module.use, module.both):
        report = np2fx.verify(node, ways=("convert", "rewrite"))
        assert report.ok, str(report)
        assert report.checked["inputs"] == 50


def test_worlds_are_apart(project: Any) -> None:
    two = "from .one import *\nfrom . import one\n"
    module = project({"pkg/__init__.py": "", "pkg/one.py": HEAD + RIGHT, "pkg/two.py": two}, "pkg.two")
    world = rewritten(str(Path(module.__file__).parent))
    form = world.function(module.__file__, "c")
    assert isinstance(form(np.array([-1.0])), np.ndarray) and form(np.array([-1.0])) == [2.0]
    assert world.modules["pkg.one"] is not module.one and sys.modules["pkg.one"] is module.one
    assert hasattr(world.modules["pkg.one"].c, "__np2fx_rewritten__") and not hasattr(module.c, "__np2fx_rewritten__")
    assert form_around(module.one.c) is not None
    assert form_around(lambda x: x) is None


def test_variables_that_were_set_are_taken_over(project: Any) -> None:
    text = 'import np2fx\nSCALE = 2.0\n@np2fx.node(x="float64[n]")\ndef use(x):\n    return x * SCALE\n'
    module = project({"with_scale.py": text}, "with_scale")
    module.SCALE = 5.0
    report = np2fx.verify(module.use, ways=("rewrite",), max_examples=5)
    assert report.ok, str(report)


def test_a_file_that_no_longer_imports(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'import np2fx\n@np2fx.node(x="float64[n]")\ndef use(x):\n    return x * 2\n'
    module = project({"breaks_later.py": text}, "breaks_later")
    monkeypatch.setattr("np2fx.verifying.inputs.world.rewritten_texts", lambda paths: {str(Path(module.__file__).resolve()): "1 / 0\n"})
    report = np2fx.verify(module.use, max_examples=5)
    assert not report.ok and "the rewritten file cannot be imported: ZeroDivisionError" in report.findings[0].message


def test_a_spec_of_any_rank_is_tried_with_others(converts: Any) -> None:
    def raised(x):
        return x.max(axis=-1) if x.ndim else x * 1.0

    for spec, wrong in (("float32", 0), ("float32", 2), ("float32[..., 3]", 2)):
        converts(lambda x, wrong=wrong: (x.amax(-1) if x.ndim else x * 1.0) + (x.ndim == wrong))
        report = np2fx.verify(raised, spec={"x": spec}, ways=("convert",), max_examples=20)
        assert report.counterexample is not None and report.counterexample.arguments["x"].ndim == wrong, str(report)
    converts(lambda x: x.amax(-1) if x.ndim else x * 1.0)
    assert np2fx.verify(raised, spec={"x": "float32"}, ways=("convert",)).ok


@pytest.fixture
def converts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes convert() answer with a torch function of the test's."""
    import np2fx.converting

    return lambda form: monkeypatch.setattr(np2fx.converting, "convert", lambda fn: form)
