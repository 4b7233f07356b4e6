"""Spec strings, the node decorator and annotate."""

from __future__ import annotations

import subprocess
import sys

import np2fx
import numpy as np
import pytest
from np2fx.pipeline import annotate
from np2fx.pipeline.spec import Constant, ScalarSpec, SpecError, TensorSpec, parse, read


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("float32[7]", TensorSpec("float32", (7,))),
        ("float32[batch, 7]", TensorSpec("float32", ("batch", 7))),
        (" uint8[h,w,3] ", TensorSpec("uint8", ("h", "w", 3))),
        ("float64[]", TensorSpec("float64", ())),
        ("bool[n]", TensorSpec("bool", ("n",))),
        ("float[3]", TensorSpec("float64", (3,))),
        ("int[3]", TensorSpec("int64", (3,))),
        ("float32", TensorSpec("float32", ...)),
        ("float32[..., 3]", TensorSpec("float32", ("...", 3))),
        ("float32[_, 3] finite", TensorSpec("float32", ("_", 3), finite=True)),
        ("float32[batch, 7] in [-1, 1.5]", TensorSpec("float32", ("batch", 7), -1.0, 1.5)),
        ("float", ScalarSpec("float")),
        ("bool", ScalarSpec("bool")),
        ("int in [0, 3]", ScalarSpec("int", 0.0, 3.0)),
    ],
)
def test_parse(text: str, spec: object) -> None:
    assert parse(text) == spec
    assert parse(str(spec)) == spec


@pytest.mark.parametrize(
    "text",
    ["", "float32[7", "float31[7]", "float32[a b]", "float32[-1]", "float32[7] in [2, 1]", "float32[7] in [a, b]", "float32[..., ...]",
     "float32[7] in [0, inf]", "object[3]"],
)  # fmt: skip
def test_what_cannot_be_parsed(text: str) -> None:
    with pytest.raises(SpecError):
        parse(text)


def test_rank_and_shape() -> None:
    assert parse("float32[batch, 7]").rank == 2
    assert parse("float32[batch, 7]").shape == (None, 7)
    assert parse("float32[batch, _, 7]").names == ("batch",)
    assert parse("float32").rank is None
    assert parse("float32[..., 3]").shape is None


def test_containers() -> None:
    assert read({"x": "float32[3]", "n": 4, "y": ["int", None]}) == {
        "x": TensorSpec("float32", (3,)),
        "n": Constant(4),
        "y": [ScalarSpec("int"), Constant(None)],
    }


def test_specs_need_no_numpy() -> None:
    code = "import sys, np2fx.pipeline.spec, np2fx.pipeline.node; sys.exit(any(m in sys.modules for m in ('numpy', 'torch')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_node_returns_the_function() -> None:
    def f(x):
        return x + 1

    assert np2fx.node(f) is f
    assert f.__np2fx_spec__ == {}
    assert np2fx.node(x="float32[7]")(f) is f
    assert f.__np2fx_spec__ == {"x": TensorSpec("float32", (7,))}
    np.testing.assert_array_equal(f(np.ones(7)), np.full(7, 2.0))


def test_node_refuses_unknown_parameters() -> None:
    with pytest.raises(SpecError, match="no parameter 'y'"):
        np2fx.node(y="float32[7]")(lambda x: x)


def test_regions_pass_arrays_through() -> None:
    x, y = np.ones(3), np.zeros(2)
    assert annotate.input_tensors("n", {"x": x}) is x
    assert annotate.input_tensors("n", {"x": x, "y": y}) == (x, y)
    assert annotate.output_tensors("n", {"y": y}, export_with="jit") is y
    assert annotate.output_tensors("n", y) is y
    with pytest.raises(ValueError, match="no arrays"):
        annotate.input_tensors("n", {})
    with pytest.raises(TypeError, match="named by a string"):
        annotate.input_tensors({"x": x}, "n")


def test_annotate_method_marks_a_node() -> None:
    @annotate.method
    def f(x):
        return x

    @annotate.method(node_name="g", export_with="jit")
    def g(x):
        return x

    assert f.__np2fx_spec__ == {} == g.__np2fx_spec__
