"""Plans from specs, annotations and samples, and the arguments drawn from them."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import np2fx
import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from np2fx.pipeline.spec import Constant, ScalarSpec, SpecError, TensorSpec
from np2fx.verifying.inputs.plans import (
    Leaf,
    Number,
    UndeclaredError,
    annotated,
    arguments,
    call_with,
    free_sizes,
    plan_of,
    sample_arguments,
)


class FakeJaxtyped:
    """What a jaxtyping annotation carries."""

    dtypes = ("float16", "float32", "float64")
    dim_str = "*batch n=7 _"


@pytest.mark.parametrize(
    ("hint", "spec"),
    [
        (npt.NDArray[np.float32], TensorSpec("float32")),
        (npt.NDArray[np.floating], TensorSpec("float64")),
        (np.ndarray[tuple[int, int], np.dtype[np.uint8]], TensorSpec("uint8")),
        (np.float32, TensorSpec("float32", ())),
        (float, ScalarSpec("float")),
        (bool, ScalarSpec("bool")),
        (Annotated[np.ndarray, "float32[batch, 7]"], TensorSpec("float32", ("batch", 7))),
        (FakeJaxtyped, TensorSpec("float32", ("...", 7, "_"))),
        (np.ndarray, None),
        (None, None),
        (list, None),
    ],
)
def test_annotations(hint: object, spec: object) -> None:
    assert annotated(hint) == spec


def test_spec_before_decorator_before_annotation_before_sample() -> None:
    @np2fx.node(x="float32[n]", y="float32[n]")
    def f(x, y, z: npt.NDArray[np.int8], scale=2.0): ...

    plan = plan_of(f, (), {"y": "float64[3]"})
    annotated = Leaf(TensorSpec("int8", ("_",)), ranks="any")
    assert plan == {"x": Leaf(TensorSpec("float32", ("n",))), "y": Leaf(TensorSpec("float64", (3,))), "z": annotated}


def test_samples_are_generalised() -> None:
    class Pair(NamedTuple):
        left: object
        right: object

    def f(x, n, pair, d): ...

    x = np.zeros((2, 3), np.float32)
    plan = plan_of(f, (x, 4, Pair(np.float64(1), torch.zeros(2)), {"k": [x, None]}), None)
    assert plan["x"] == Leaf(TensorSpec("float32", (2, 3)), x)
    assert plan["n"] == Constant(4)
    assert isinstance(plan["pair"], Pair)
    assert (plan["pair"].left.form, plan["pair"].right.form) == ("scalar", "tensor")
    assert plan["d"]["k"][1] == Constant(None)
    drawn = sample_arguments(plan, {}, 0)
    assert drawn["x"].shape == (2, 3)
    assert isinstance(drawn["pair"].left, np.float64)
    assert isinstance(drawn["pair"].right, torch.Tensor)
    assert drawn["d"]["k"][1] is None


def test_an_argument_of_which_nothing_is_known() -> None:
    with pytest.raises(UndeclaredError, match="'y'"):
        plan_of(lambda x, y: x, (np.zeros(3),), None)


def test_a_sample_must_fit_its_spec() -> None:
    with pytest.raises(SpecError, match=r"is float32\[4\], which is not float32\[n, 3\]"):
        plan_of(lambda x: x, (np.zeros(4, np.float32),), {"x": "float32[n, 3]"})
    with pytest.raises(SpecError, match="no parameter 'y'"):
        plan_of(lambda x: x, (), {"y": "float32"})


def test_free_sizes() -> None:
    plan = plan_of(lambda x, y, z: x, (), {"x": "float32[n, 7]", "y": "float32[_, n]", "z": "int8[_]"})
    sizes = free_sizes(plan)
    assert list(sizes) == ["n", "_0", "_1"]
    assert len(set(sizes.values())) == 3
    drawn = sample_arguments(plan, sizes, 0)
    assert drawn["x"].shape == (sizes["n"], 7)
    assert drawn["y"].shape == (sizes["_0"], sizes["n"])
    assert drawn["z"].shape == (sizes["_1"],)


def test_given_sample_sets_the_sizes() -> None:
    plan = plan_of(lambda x: x, (np.zeros((9, 2), np.float32),), {"x": "float32[n, 2]"})
    assert free_sizes(plan) == {"n": 9}


def test_sample_arguments_depend_on_the_seed_alone() -> None:
    plan = plan_of(lambda x, n: x, (), {"x": "float32[40]", "n": "int in [3, 5]"})
    assert plan["n"] == Number(ScalarSpec("int", 3, 5), 3)
    one, same, other = (sample_arguments(plan, {}, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one["x"], same["x"])
    assert not np.array_equal(one["x"], other["x"])
    assert one["n"] == other["n"] == 3


DTYPES = ["bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex64"]


@given(st.data(), st.sampled_from(DTYPES), st.sampled_from([0, 5, 100]))
def test_drawn_arrays_are_of_their_spec(data: st.DataObject, dtype: str, size: int) -> None:
    bounds = "" if dtype == "bool" else " in [0, 3]"
    plan = plan_of(lambda x, y: x, (), {"x": f"{dtype}[{size}]{bounds}", "y": f"{dtype}[2, {size}] finite"})
    drawn = data.draw(arguments(plan, {}))
    assert drawn["x"].dtype == dtype
    assert drawn["x"].shape == (size,)
    assert drawn["y"].shape == (2, size)
    assert ((drawn["x"].real >= 0) & (drawn["x"].real <= 3)).all()
    assert np.isfinite(drawn["y"]).all()


def test_breaking_values_are_drawn() -> None:
    seen: set[str] = set()
    plan = plan_of(lambda x: x, (), {"x": "float32[3]"})

    @given(arguments(plan, {}))
    def look(drawn: dict[str, np.ndarray]) -> None:
        x = drawn["x"]
        seen.update(["nan"] * bool(np.isnan(x).any()) + ["inf"] * bool(np.isinf(x).any()) + ["tame"] * bool((np.abs(x) <= 10).all()))

    from hypothesis import settings

    settings(max_examples=200)(look)()
    assert seen == {"nan", "inf", "tame"}


def test_call_with() -> None:
    def f(a, /, b, c=1, *rest, d, **more): ...

    assert call_with(f, {"d": 4, "a": 1, "b": 2}) == ((1, 2), {"d": 4})
    assert call_with(f, {"a": 1, "b": 2, "c": 3, "rest": (7, 8), "d": 4, "more": {"e": 5}}) == ((1, 2, 3, 7, 8), {"d": 4, "e": 5})
