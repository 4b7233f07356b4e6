"""Where NumPy's answer and torch's differ by more than rounding a float64 run decides: at least as close to it as NumPy's is right."""

from __future__ import annotations

import functools

import np2fx
import numpy as np
import pytest
import torch
from np2fx.rules import load_once
from np2fx.tracing.recording.compare import closer
from np2fx.tracing.widened import widened, widening

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.random((480, 640, 3)).astype(np.float32) + 100
HALVES = RANDOM.random((4096, 2)).astype(np.float16) + np.float16(0.5)


def mean_of_channels(x):
    return x.mean(axis=(0, 1))


def mean_as_ints(x):
    return (x.mean(axis=(0, 1)) * 1000).astype(np.int32)


def standardised(x):
    return (x - x.mean(axis=(0, 1))) / x.std(axis=(0, 1))


def largest_mean(x):
    return float(np.mean(x, (0, 1)).max())


def sum_of_rows(x):
    return x.sum(axis=0)


def sum_in_its_dtype(x):
    return np.add.reduce(x, axis=0, dtype=np.float16)


def far_beyond(x):
    return x.sum(axis=0) > 3000


def running_sum(x):
    return np.cumsum(x, axis=0)


def running_sum_in_place(x):
    x[...] = x.cumsum(0)
    return {"last": x[-1], "mean": float(x.mean())}


def product_with_ones(x):
    return np.ones(len(x), x.dtype) @ x


def converted_first(x):
    return x.astype(np.float16).sum(axis=0)


def made_here(x):
    total = np.zeros(x.shape[1:], dtype="float16")
    for _ in range(2):
        total += np.asarray(x, np.float16).sum(0)
    return total


CASES = [
    *((f, IMAGE) for f in (mean_of_channels, mean_as_ints, standardised, largest_mean)),
    *((f, HALVES) for f in (sum_of_rows, sum_in_its_dtype, far_beyond, running_sum, running_sum_in_place, product_with_ones)),
    *((f, np.full((5000, 2), 1, np.uint8)) for f in (converted_first, made_here)),
]


@pytest.mark.parametrize("f, x", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_what_is_closer_than_numpy_is_right(f, x):
    graph = np2fx.trace(f, x)
    assert graph(torch.from_numpy(x.copy())) is not None


def test_the_graph_is_the_closer_one():
    got = np2fx.trace(sum_of_rows, HALVES)(torch.from_numpy(HALVES)).numpy().astype(float)
    exact = HALVES.astype(float).sum(0)
    assert (abs(got - exact) < abs(HALVES.sum(0).astype(float) - exact)).all()


@pytest.mark.parametrize("change", [lambda x: x * 1.01, lambda x: x + 0.5, lambda x: torch.flip(x, (0,))], ids=["factor", "sum", "order"])
def test_a_wrong_rule_stays_a_mismatch(change):
    rule = load_once()["numpy.cumsum"]
    right = rule.body
    object.__setattr__(rule, "body", functools.wraps(right)(lambda *args, **kwargs: change(right(*args, **kwargs))))
    try:
        with pytest.raises(np2fx.TraceError) as refused:
            np2fx.trace(lambda x: np.cumsum(x), HALVES[:100, 0].astype(np.float32))
    finally:
        object.__setattr__(rule, "body", right)
    assert [finding.name for finding in refused.value.findings] == ["mismatch"]


def test_verify_says_which_is_closer():
    report = np2fx.verify(sum_of_rows, spec={"x": "float16[4096, 2] in [0.5, 1.5]"}, max_examples=5)
    assert report.ok and report.checked["closer"] > 0
    assert "on which torch is closer to a float64 run than NumPy" in str(report)


def test_verify_still_finds_what_is_farther():
    def form(x):
        return x.sum(0) * 1.5

    report = np2fx.verify(form, spec={"x": "float16[4096, 2] in [0.5, 1.5]"}, original=sum_of_rows, max_examples=5)
    assert not report.ok


def test_the_run_is_in_float64_throughout():
    x = widened(HALVES)
    with widening():
        made = [x.astype("float16"), np.zeros(3, np.float32), np.array([1, 2], dtype="e"), np.sum(x, dtype=np.float16),
                x.sum(0, dtype="f2"), x[0],
                np.where(x > 1, x, 0), np.empty_like(x), np.concatenate([x, x]), np.linalg.norm(x, axis=0)]  # fmt: skip
    assert {m.dtype.name for m in made} == {"float64"}


@pytest.mark.parametrize("want, got, exact, right", [
    (2048.0, 4096.0, 4100.0, True),
    (4096.0, 2048.0, 4100.0, False),
    (np.inf, 1.0, 1.0, True),
    (np.inf, 3.0, 1.0, False),
    (np.nan, 1.0, 1.0, True),
    (np.nan, 3.0, 1.0, False),
    (1.0, np.nan, 1.0, False),
])  # fmt: skip
def test_closer(want, got, exact, right):
    assert bool(closer(np.float32(want), np.float32(got), np.float64(exact))) is right


def test_closer_for_whole_numbers_is_that_run():
    assert closer(np.array([1, 2]), np.array([5, 3]), np.array([5, 4])).tolist() == [True, False]
