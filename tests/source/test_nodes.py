"""Node discovery: decorators, regions, configuration, helpers."""

from __future__ import annotations

import ast
import textwrap

import pytest
from np2fx.source.reading.config import Config
from np2fx.source.reading.names import Names
from np2fx.source.reading.nodes import find_nodes


def nodes(source, path="pkg/pre.py", config=None, all_functions=False):
    tree = ast.parse(textwrap.dedent(source))
    return find_nodes(tree, Names(tree), config, path, all_functions)


@pytest.mark.parametrize(
    "marked",
    [
        "import np2fx\n@np2fx.node\ndef f(x): return x",
        "from np2fx import node\n@node\ndef f(x): return x",
        "from np2fx import node as n\n@n(x='float32[7]')\ndef f(x): return x",
        "import np2fx as q\n@q.node()\ndef f(x): return x",
        "from np2fx.pipeline.node import node\n@node\ndef f(x): return x",
        "from leapp import annotate\n@annotate.method(node_name='n')\ndef f(x): return x",
        "import leapp\n@leapp.annotate.method('n')\ndef f(x): return x",
        "import np2fx, functools\n@functools.cache\n@np2fx.node\ndef f(x): return x",
        "import np2fx\nif True:\n    @np2fx.node\n    def f(x): return x",
        "import np2fx\ntry:\n    @np2fx.node\n    def f(x): return x\nexcept ValueError: pass",
        "import np2fx\n@np2fx.node\nasync def f(x): return x",
    ],
)
def test_decorated(marked):
    assert [(n.name, n.how) for n in nodes(marked)] == [("f", "decorator")]


@pytest.mark.parametrize(
    "unmarked",
    ["def f(x): return x", "def node(f): return f\n@node\ndef f(x): return x", "from other import node\n@node\ndef f(x): return x"],
)
def test_not_decorated(unmarked):
    assert nodes(unmarked) == []


def test_declared_specs():
    (found,) = nodes("import np2fx\n@np2fx.node(x='float32[7]', y='int')\ndef f(x, y): return x")
    assert found.declared == {"x": "float32[7]", "y": "int"}


def test_methods_and_helpers():
    source = """
        import np2fx
        class Policy:
            @np2fx.node
            def act(self, x): return self.scale(clip(x))
            def scale(self, x): return twice(x)
            def reset(self): pass
        def clip(x): return x
        def twice(x): return twice(x)
        def other(x): return x
    """
    assert [(n.name, n.how, n.in_class) for n in nodes(source)] == [
        ("Policy.act", "decorator", True), ("Policy.scale", "helper", True), ("clip", "helper", False), ("twice", "helper", False),
    ]  # fmt: skip


def test_configured():
    config = Config(nodes=("pkg/pre.py:norm*", "pkg/*.py:Policy.act"))
    source = "def normalize(x): return x\ndef other(x): return x\nclass Policy:\n    def act(self, x): return x\n"
    assert [n.name for n in nodes(source, config=config)] == ["normalize", "Policy.act"]
    assert [n.name for n in nodes(source, "pkg/post.py", config)] == ["Policy.act"]
    assert nodes(source, "elsewhere.py", config) == []


def test_all_functions():
    source = "def f(x):\n    def inner(y): return y\n    return inner(x)\nclass A:\n    def m(self): pass\n"
    assert [n.name for n in nodes(source, all_functions=True)] == ["f", "A.m"]


def test_configured_decorator():
    config = Config(node_decorators=("np2fx.node", "mylib.export.exported"))
    assert [n.name for n in nodes("from mylib.export import exported\n@exported\ndef f(x): return x", config=config)] == ["f"]
    assert [n.name for n in nodes("from .export import exported\n@exported\ndef f(x): return x", config=config)] == ["f"]


@pytest.mark.parametrize("module", ["np2fx", "leapp"])
def test_region(module):
    source = f"""
        from {module} import annotate
        import numpy as np
        def run(frames):
            for frame in frames:
                before = len(frame)
                state, speed = annotate.input_tensors("pre", {{"state": frame[0], "speed": frame[1]}})
                out = np.clip(state, -1, 1) + speed
                annotate.output_tensors("pre", {{"out": out}}, export_with="jit")
                after = before
    """
    (found,) = nodes(source)
    assert (found.name, found.how, found.inputs) == ("pre", "region", ("state", "speed"))
    assert [type(s).__name__ for s in found.body] == ["Assign", "Assign", "Expr"]


def test_regions_are_told_apart_by_name():
    source = """
        from np2fx import annotate
        a = annotate.input_tensors("one", {"a": 1})
        annotate.output_tensors("one", {"a": a})
        b = annotate.input_tensors("two", {"b": 1})
        c = b
        annotate.output_tensors("two", {"c": c})
    """
    assert [(n.name, len(n.body)) for n in nodes(source)] == [("one", 2), ("two", 3)]


def test_other_annotate_is_no_region():
    source = "from other import annotate\na = annotate.input_tensors('one', {})\nannotate.output_tensors('one', {})\n"
    assert nodes(source) == []
