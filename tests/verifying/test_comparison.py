"""What counts as the same, and what is excused."""

from __future__ import annotations

import re
from typing import Any

import np2fx
import numpy as np
import pytest
import torch
from np2fx.verifying.checking import check_form
from np2fx.verifying.comparing.comparison import Tolerance, difference
from np2fx.verifying.comparing.conditioning import excuse
from np2fx.verifying.comparing.running import Outcome, run


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (np.ones(3, np.float32), torch.ones(3)),
        (np.float64(2), torch.tensor(2.0, dtype=torch.float64)),
        (np.array([np.nan, np.inf]), torch.tensor([np.nan, np.inf], dtype=torch.float64)),
        (np.array([-0.0]), torch.zeros(1, dtype=torch.float64)),
        (np.float32([1.0]), torch.tensor([1.0 + 1e-6])),
        ((np.arange(2), None, "a"), (torch.arange(2), None, "a")),
        ({"x": [np.bool_(True)]}, {"x": [torch.tensor(True)]}),
        (3, 3),
        (np.ones(2, np.complex64), torch.ones(2, dtype=torch.complex64)),
        (np.arange(4, dtype=np.uint16), torch.arange(4).to(torch.uint16)),
    ],
)
def test_same(want: Any, got: Any) -> None:
    assert difference(want, got) is None


@pytest.mark.parametrize(
    ("want", "got", "message"),
    [
        (np.ones(3), torch.ones(3), "dtype float32, NumPy's has float64"),
        (np.ones(3), torch.ones(1, 3), r"shape \(1, 3\)"),
        (np.arange(3), torch.tensor([0, 1, 3]), r"result\[2\] is 3, NumPy gives 2 \(1 of 3"),
        (np.float32([1.0]), torch.tensor([1.001]), "1.001"),
        (np.array([np.nan]), torch.tensor([1.0], dtype=torch.float64), "nan"),
        (np.array([np.inf]), torch.tensor([-np.inf], dtype=torch.float64), "inf"),
        ((1, 2), (1,), "tuple of 2"),
        ({"x": 1}, {"y": 1}, "dict of 'x'"),
        ([np.ones(1)], [None], r"result\[0\] is None"),
        (None, torch.ones(1), "NumPy gives None"),
        (1, 1.0, "NumPy gives 1"),
    ],
)
def test_different(want: Any, got: Any, message: str) -> None:
    found = difference(want, got)
    assert found is not None
    assert re.search(message, str(found))


def test_tolerance_can_be_set() -> None:
    want, got = np.float32([1.0]), torch.tensor([1.01])
    assert difference(want, got) is not None
    assert difference(want, got, Tolerance(rtol=0.1)) is None
    assert difference(np.arange(2), torch.arange(1, 3), Tolerance(rtol=9.0)) is not None


def test_run_copies_and_catches() -> None:
    def f(x):
        print("not seen")
        x[0] = 5
        return x.astype(np.int32)

    x = np.array([np.nan, 1e19])
    outcome = run(f, f, {"x": x}, torch_side=False)
    assert np.isnan(x[0])
    assert outcome.arguments["x"][0] == 5
    assert outcome.undefined
    assert isinstance(run(f, f, {"x": 3}, torch_side=True).error, TypeError)


def _excused(f: Any, g: Any, x: np.ndarray[Any, Any]) -> str | None:
    return excuse(f, {"x": x}, run(f, f, {"x": x}, torch_side=False), run(g, f, {"x": x}, torch_side=True), Tolerance())


def test_cancellation_is_excused() -> None:
    x = np.float32([1e6, 0.1, -1e6, 0.3])
    assert _excused(lambda x: x[0] + x[1] + x[2] + x[3], lambda x: x[0] + x[2] + x[1] + x[3], x) == "ill_conditioned"


def test_cancellation_of_integers_in_a_coarser_float_is_excused() -> None:
    x = np.array([2147483647, 0, -2147483648, 0, 1], np.int32)
    pairwise, running = (lambda x: (x.sum(dtype=np.float32), x)), (lambda x: (x.float()[4] + x.float()[2] + x.float()[0], x))
    assert _excused(pairwise, running, x) == "ill_conditioned"
    assert _excused(pairwise, lambda x: (torch.sum(x.float()) + 1, x), np.arange(5, dtype=np.int32)) is None


def test_a_pole_where_only_rounding_keeps_a_value_from_zero_is_excused() -> None:
    x = np.array([[1, 1, 0], [-3, 7, 2]])
    assert np.cov(x)[0, 1] != 0
    assert _excused(lambda x: (1 / np.cov(x)[0, 1], x), lambda x: (torch.tensor(np.inf, dtype=torch.float64), x), x) == "ill_conditioned"
    assert _excused(lambda x: (1 / np.cov(x)[0, 0], x), lambda x: (torch.tensor(np.inf, dtype=torch.float64), x), x) is None


def test_a_finite_value_where_a_value_is_zero_by_rounding_alone_is_excused() -> None:
    x = np.array([0.1, 0.2, -0.3, 0.4])
    assert np.sum(x[[0, 1, 2]]) != 0
    assert (0.1 + 0.2) - 0.1 - 0.2 != 0.0
    y = np.array([0.1, 0.3, -0.4, 7.0])
    assert y[0] + y[1] + y[2] == 0
    pole = lambda x: (x[3] / (x[0] + x[1] + x[2]), x)  # noqa: E731
    assert _excused(pole, lambda x: (x[3] / 1e-17, x), y) == "ill_conditioned"
    assert _excused(pole, lambda x: (x[3] * 2, x), y) is None
    zero = np.array([0.0, 0.0, 0.0, 7.0])
    assert _excused(pole, lambda x: (x[3] / 1e-17, x), zero) is None


def test_large_integers_that_were_floats_are_excused() -> None:
    def original(x):
        return (x / 3 * 7).astype(np.int64)

    x, large = np.array([2**60 + 1, 5, 2**61 + 12345]), np.array([2**60 + 1])
    assert _excused(original, lambda x: (x.double() * 7 / 3).long(), x) == "ill_conditioned"
    assert _excused(original, lambda x: (x.double() * 7 / 3 * (1 + 1e-12)).long(), x) is None
    assert _excused(lambda x: x + 1, lambda x: (x.double() + 1).long(), large) is None  # no float in NumPy
    assert _excused(lambda x: x * 2 + 1, lambda x: x * 2, large) is None
    assert _excused(lambda x: np.floor(x / 3).astype(np.int64), lambda x: (x.double() / 3).long() - 1, np.array([6])) is None


def test_a_wrong_formula_is_not_excused() -> None:
    x = np.float32([1e6, 0.1, -1e6, 0.3])
    assert _excused(lambda x: x * 2, lambda x: x * 2.001, x) is None
    assert _excused(np.round, lambda x: torch.floor(x + 0.5), np.array([0.5, 2.5])) is None
    assert _excused(lambda x: x > 0, lambda x: x >= 0, np.zeros(1)) is None


def test_overflow_on_one_side_is_excused() -> None:
    x = np.float32([3e38])
    assert _excused(lambda x: np.sqrt(x * x), lambda x: torch.abs(x), x) == "overflow"
    assert _excused(lambda x: x / np.float32(0), lambda x: x, np.float32([1.0])) is None


def test_other_shapes_are_not_excused() -> None:
    assert excuse(lambda x: x, {}, Outcome(result=np.ones(2)), Outcome(result=torch.ones(3)), Tolerance()) is None


def float32_on_the_way(x):
    return np.exp(x.astype(np.float32)).astype(np.float64)


def float64_all_the_way(x):
    return np.exp(x.astype(np.float64))


def test_the_coarsest_rounding_decides_the_tolerance():
    x = np.linspace(-2, 2, 1000)
    assert not np2fx.verify(float32_on_the_way, x, max_examples=20).findings
    for f, coarsest in ((float32_on_the_way, "float32"), (float64_all_the_way, "float64")):
        rounded = {d.name for d in np2fx.trace(f, x.astype(np.float32)).face.rounded}
        assert rounded == {coarsest}
    nearly = check_form(float64_all_the_way, lambda x: torch.exp(x.float()).double(), x)
    assert nearly.findings


def rounded_and_not_traced(x):
    wide = np.exp(-np.abs(x)).astype(np.float64)
    return wide, wide[: len(np.unique(np.rint(x)))] * 0


def test_the_arguments_tell_it_where_there_is_no_graph():
    report = np2fx.verify(rounded_and_not_traced, np.linspace(-2, 2, 50, dtype=np.float32), max_examples=50, ways=("convert",))
    assert not [f for f in report.findings if f.name == "mismatch"], str(report)


def test_integers_are_moved_as_floats():
    x = np.array([[-1, -7, -7, 2, 0], [-8, 8, -3, -7, 8], [4, 1, 1, -4, 8], [4, 9, 9, -6, 8], [-4, -9, -6, -3, 3]])
    cancels = lambda x: np.sqrt(np.abs(np.mean(x / 3, axis=1) - np.sum(x, axis=1) / 15))[:1]  # noqa: E731
    other = lambda x: torch.sqrt(torch.abs(torch.mean(x.double() / 3, dim=1) - torch.sum(x, dim=1) / 15.0) * 0 + 1e-17)[:1]  # noqa: E731
    assert _excused(cancels, other, x) == "ill_conditioned"
    assert _excused(lambda x: x / 3, lambda x: (x.float() / 3).double(), x) is None
    assert _excused(lambda x: x * 1.0 if x.dtype.kind == "i" else x * 7.0, lambda x: x * (1.0 + 1e-8), x) is None


def angle(p: Any, q: Any) -> Any:
    return 2.0 * np.arccos(np.clip(p / q, 0.0, 1.0))


def test_one_rounding_of_a_one_is_excused_however_small_the_inputs() -> None:
    """arccos at 1 makes some 4e-8 of it."""
    given = {"p": np.array([0.5]), "q": np.array([0.5])}
    want, near, far = (Outcome(result=np.array([x]), arguments=given) for x in (0.0, 4.2146848510894035e-08, 1e-5))
    assert excuse(angle, given, want, near, Tolerance()) == "ill_conditioned"
    assert excuse(angle, given, want, far, Tolerance()) is None
