"""Sizes that depend on values, as numbers: of what a mask selects, of positions, of distinct values."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch

SOME = np.array([1.0, 4.0, 2.0, 7.0, 3.0])
OTHERS = (np.array([9.0, 1.0, 1.0, 1.0, 1.0]), np.array([5.0, 6.0, 7.0, 8.0, 9.0]), np.array([1.0, 1.0, 2.0, 8.0, 9.0]))
NONE = np.ones(5)

AT_EVERY_SIZE = {
    "the count": lambda a: len(a[a > 1.5]),
    "sum over count": lambda a: a[a > 1.5].sum() / max(len(a[a > 1.5]), 1),
    "guarded": lambda a: a[a > 1.5].mean() if len(a[a > 1.5]) else 0.0,
    "guarded by size": lambda a: np.float64(0) if a[a > 1.5].size == 0 else a[a > 1.5].max(),
    "first or none": lambda a: np.nonzero(a > 1.5)[0][0] if len(np.nonzero(a > 1.5)[0]) > 0 else -1,
    "numbers": lambda a: (a[a > 1.5].size, np.size(a[a > 1.5]), np.shape(a[a > 1.5])[0], a[a > 1.5].shape[0] * 0.5),
    "arithmetic": lambda a: (len(a[a > 1.5]) // 2, len(a[a > 1.5]) % 2 == 0, float(len(a[a > 1.5])), np.sqrt(len(a[a > 1.5]))),
    "ranks": lambda a: (a[a > 1.5].ndim, np.ndim(a[a > 1.5]), np.iscomplexobj(a[a > 1.5])),
    "numbered": lambda a: np.arange(len(a[a > 1.5])) * a[a > 1.5],
    "made": lambda a: (np.zeros(len(a[a > 1.5])) + a[a > 1.5], np.ones(a[a > 1.5].shape) * 2, np.zeros((len(a[a > 1.5]), 2))),
    "put in front": lambda a: np.concatenate([a[a > 1.5], np.zeros(5)])[:5],
    "assigned": lambda a: np.where(np.arange(5) < len(a[a > 1.5]), a, 0),
    "rows": lambda a: (a.reshape(5, 1) * np.ones(3))[a > 1.5].sum(axis=0).shape,
    "positions": lambda a: (np.argwhere(a > 1.5).shape[0], np.argwhere(a > 1.5)[:, 0], np.flatnonzero(a > 1.5).size),
    "distinct": lambda a: (len(np.unique(a)), np.unique(a, return_counts=True)[1].max(), np.unique(a, return_inverse=True)[1].shape),
    "in containers": lambda a: {"n": len(a[a > 1.5]), "both": [len(a[a > 1.5]), 1]},
    "as an array": lambda a: np.array([a[a > 1.5].sum(), len(a[a > 1.5])]),
    "halves": lambda a: a[: len(a[a > 1.5])].sum(),
}
AT_EVERY_SIZE_BUT_NONE = {
    "statistics": lambda a: (a[a > 1.5].sum(), a[a > 1.5].mean(), a[a > 1.5].max(), len(a[a > 1.5])),
    "mean": lambda a: a[a > 1.5].sum() / len(a[a > 1.5]),
    "standardised": lambda a: (a[a > 1.5] - a[a > 1.5].mean()) / np.linalg.norm(a[a > 1.5]),
    "ends": lambda a: (a[a > 1.5][0], a[a > 1.5][-1], a[a > 1.5][1:], a[a > 1.5][:-1], a[a > 1.5][:2]),
    "middle": lambda a: a[a > 1.5][len(a[a > 1.5]) // 2],
    "average": lambda a: (np.average(a[a > 1.5], weights=a[a > 1.5]), np.argmax(a[a > 1.5]), np.any(a[a > 1.5] > 3)),
}


def written_at_positions(x):
    out = np.zeros_like(x)
    out[np.nonzero(x > 1.5)] = 1 / x[np.nonzero(x > 1.5)]
    at = np.flatnonzero(x > 2.5)
    x[at] *= 2
    return out


def written_under_a_mask(x):
    x[x > 1.5] -= x[x > 1.5].mean() if (x > 1.5).any() else 0.0
    return x


def grouped(x):
    values, inverse = np.unique(x, return_inverse=True)
    return np.bincount(inverse), values[np.argmax(np.bincount(inverse))], len(values)


AT_EVERY_SIZE |= {f.__name__: f for f in (written_at_positions, grouped)}


def parts(x):
    return list(x.values()) if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else [x]


def check(function, samples):
    graph = np2fx.trace(function, samples[0].copy())
    for x in samples:
        given, tensor = x.copy(), torch.from_numpy(x.copy())
        want, got = function(given), graph(tensor)
        for w, g in zip(parts(want), parts(got), strict=True):
            assert np.shape(w) == np.shape(g) and np.allclose(w, np.asarray(g))
        assert np.array_equal(given, tensor.numpy())


@pytest.mark.parametrize("name", AT_EVERY_SIZE)
def test_at_every_size(name):
    check(AT_EVERY_SIZE[name], (SOME, *OTHERS, NONE))


@pytest.mark.parametrize("name", AT_EVERY_SIZE_BUT_NONE)
def test_at_every_size_but_none(name):
    check(AT_EVERY_SIZE_BUT_NONE[name], (SOME, *OTHERS))


@pytest.mark.parametrize("name", ["the count", "guarded", "guarded by size", "first or none", "made"])
def test_a_sample_that_selects_nothing(name):
    check(AT_EVERY_SIZE[name], (NONE, SOME, *OTHERS))


def test_a_size_that_is_bounded_is_no_constant():
    check(lambda a: (len(a[a > 1.5][:2]), len(a[a > 1.5][3:]), len(a[a > 100][:7])), (SOME, *OTHERS, NONE))


@pytest.mark.parametrize("function", [
    lambda a: [x * 2 for x in a[a > 1.5]],
    lambda a: sum(range(len(a[a > 1.5]))),
    lambda a: a[a > 1.5].tolist(),
    lambda a: list(a[a > 1.5].flat),
])  # fmt: skip
def test_what_counts_in_python_is_refused(function):
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(function, SOME)
    assert {finding.name for finding in refused.value.findings} <= {"data-dependent-shape", "python-value"}


def trimmed(a):
    y = np.where(a > 1.5, a, 0)
    front, both = np.trim_zeros(y, "f").copy(), np.trim_zeros(y)
    both *= 2  # a view
    return front, both, y, np.trim_zeros(y.reshape(5, 1) * np.ones(2), "b", axis=0)


def test_zeros_at_the_ends_are_trimmed():
    check(trimmed, (SOME, *OTHERS, NONE))


def filled_cells(a):
    cell = np.where((a >= 0) & (a < 4), np.floor(a / 2), 2).astype(np.int64)  # never beyond 2, but who knows that
    return np.bincount(cell, weights=a, minlength=3)[:2].reshape(2, 1) / np.maximum(np.bincount(cell, minlength=3)[:2].reshape(2, 1), 1)


def test_counts_that_no_values_make_longer():
    check(filled_cells, (SOME, OTHERS[0] - 7.5, OTHERS[2]))


def test_a_mask_without_out_lets_all_through():
    graph = np2fx.trace(lambda a: np.multiply(a, 2, where=a > 0), SOME)
    assert np.array_equal(graph(torch.from_numpy(OTHERS[0])).numpy(), OTHERS[0] * 2)
    with pytest.raises(RuntimeError, match="leaves elements uninitialised"):
        graph(-torch.from_numpy(SOME))
    with pytest.raises(np2fx.TraceError, match="leaves elements uninitialised"):
        np2fx.trace(lambda a: np.multiply(a, 2, where=a > 1), SOME)


def test_a_choice_of_sizes_is_refused():
    with pytest.raises(np2fx.TraceError, match="a size that depends on values"):
        np2fx.trace(lambda a: a[a > 1.5] if a[0] > 0 else a[a > 1.6], SOME)


def test_counts_can_be_exported():
    graph = np2fx.trace(AT_EVERY_SIZE["sum over count"], SOME)
    made = torch.jit.trace(graph, (torch.from_numpy(SOME),), check_trace=False)
    assert float(made(torch.from_numpy(OTHERS[0]))) == 9.0
