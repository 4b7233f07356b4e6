"""Slices whose bounds are computed: of a fixed length they are gathered, of others the size hangs on values."""

from __future__ import annotations

import copy

import np2fx
import numpy as np
import pytest
import torch

A = np.arange(10.0)
M = np.arange(40.0).reshape(8, 5)
NEAR = (np.array([3, 1]), np.array([5, 2]), np.array([4, 0]))


def window(b, a):
    i = int(a[0])
    return b[i : i + 2].sum(), b[i - 1 : i + 3], b[i : i + 4 : 2]


def of_a_scalar(b, a):
    i = a[0]
    return b[i : i + 2], b[i - 1 : i], b[a[0] : a[0] + 2]


def backwards(b, a):
    i = int(a[0])
    return b[i + 2 : i : -1], b[i : i + 4][::-1], b[-i - 2 : -i]


def scaled(b, a):
    i = int(a[0]) // 2
    return b[i * 2 : (i + 1) * 2], b[2 * i - 1 : 2 * i + 1]


def written(b, a):
    i = int(a[0])
    out = np.zeros(12)
    out[i : i + 3] = b[i : i + 3] * 2
    out[i : i + 2] += 1
    b[i : i + 2] = [1, 2]
    return out


def through_a_view(b, a):
    i = int(a[0])
    view = b[i : i + 2]
    np.maximum(view, 3.0, out=view)
    view *= 2
    return b


def of_rows(m, a):
    r, c = int(a[0]), int(a[1])
    return m[r : r + 3, c : c + 2], m[r : r + 2, 1], m[1, c : c + 2], m[..., c : c + 2], m[None, r : r + 2], m[r : r + 2, [0, 2]]


def rows_written(m, a):
    r, c = int(a[0]), a[1]
    m[r : r + 2, c : c + 2] = 0
    m[r : r + 2, 1:3] += m[r - 1 : r + 1, c : c + 2]
    m[r : r + 2, [0, 2]] -= 1
    return m


def in_a_branch(b, a):
    i = int(a[0])
    return b[i : i + 2] if i > 3 else b[:2]


def in_loops(b, a):
    total, i = 0.0, int(a[0])
    for k in range(3):
        total += b[i + k : i + k + 2].sum()
    while b[i : i + 2].sum() < 15:
        i += 1
    return total, i


def peak(b, a):
    i = int(np.argmax(np.roll(b, -a[0])[2:-2])) + 2
    return b[i - 2 : i + 3].mean()


def slices_as_objects(b, a):
    i = int(a[0])
    s = slice(i, i + 2)
    return b[s], b[(s,)], np.convolve(b[s], [1, 1]), len(b[s])


def a_range(b, a):
    i = int(a[0])
    return b[np.arange(i, i + 3)], np.arange(a[0], a[0] + 4, 2), np.arange(i + 2, i, -1)


FIXED = [
    *((f, A) for f in (window, of_a_scalar, backwards, scaled, written, through_a_view, in_a_branch, in_loops, peak, slices_as_objects)),
    (a_range, A),
    *((f, M) for f in (of_rows, rows_written)),
]


def upto(b, a):
    return b[: int(a[0])].sum(), b[a[0] :] * 2


def between(b, a):
    i, j = int(a[0]), int(a[1])
    return b[j:i].sum(), b[j:i:2], b[i:j], b[:-j]


def between_written(b, a):
    i, j = int(a[0]), int(a[1])
    out = np.zeros(10)
    out[j:i] = b[j:i] * 2
    b[j:i] += 1
    b[i:] = 0
    return out


def clipped(b, a):
    i = int(a[0])
    return b[max(0, i - 4) : min(len(b), i + 3)].mean(), np.concatenate([b[i:], b[:i]])


def rows_between(m, a):
    r, c = int(a[0]), int(a[1])
    m[c:r, 1:] = -1
    return m[c:r].sum(axis=0), m[c:r, 0], m[:r].mean()


def counted(b, a):
    i = int(a[0])
    part = b[:i]
    return part.sum() / len(part), np.arange(i).sum(), np.zeros(i) + part


LOOSE = [*((f, A) for f in (upto, between, between_written, clipped, counted)), (rows_between, M)]


def check(function, array, others):
    graph = np2fx.trace(function, array.copy(), others[0])
    for a in others:
        given = array.copy()
        want = function(given, a)
        tensor = torch.from_numpy(array.copy())
        got = graph(tensor, torch.from_numpy(a))
        for w, g in zip(*(x if isinstance(x, tuple) else (x,) for x in (want, got)), strict=True):
            assert np.shape(w) == np.shape(g) and np.allclose(w, np.asarray(g))
        assert np.array_equal(given, tensor.numpy())


@pytest.mark.parametrize("function, array", [*FIXED, *LOOSE], ids=lambda v: getattr(v, "__name__", ""))
def test_at_other_places(function, array):
    check(function, array, NEAR)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.int64])
def test_places_of_other_dtypes(dtype):
    check(of_a_scalar, A, tuple(a.astype(dtype) for a in NEAR))


@pytest.mark.parametrize("place", [9, -1, 10, 25, -11])
def test_the_ends_are_asserted(place):
    graph = np2fx.trace(lambda b, a: b[int(a[0]) : int(a[0]) + 2].sum(), A, np.array([3]))
    with pytest.raises(RuntimeError, match="beyond the end"):
        graph(torch.from_numpy(A), torch.tensor([place]))


@pytest.mark.parametrize("place", [0, -3, 10, 25, -11])
def test_other_slices_hold_at_the_ends(place):
    check(upto, A, (np.array([3, 1]), np.array([place, 1])))


@pytest.mark.parametrize("sample", [np.array(2), np.int64(2), np.array([2])])
def test_a_place_that_is_one_number(sample):
    graph = np2fx.trace(lambda m, i: (m[i:][0], m[i:].sum()) if np.ndim(i) == 0 else (m[i[0] :][0], m[i[0] :].sum()), M, sample)
    for place in (1, 4, 7):
        rows, total = graph(torch.from_numpy(M), torch.full(np.shape(sample), place))
        assert np.array_equal(rows, M[place]) and float(total) == M[place:].sum()


def test_a_window_can_be_exported():
    graph = np2fx.trace(window, A, NEAR[0])
    made = torch.export.export(graph, (torch.from_numpy(A), torch.from_numpy(NEAR[0]))).module()
    assert float(made(torch.from_numpy(A), torch.from_numpy(NEAR[1]))[0]) == A[5:7].sum()


@pytest.mark.parametrize("function, name", [
    (lambda b, a: b[a[0] : a[1] : -1], "python-value"),
    (lambda b, a: b[:: a[0]], "python-value"),
    (lambda b, a: b[a[0] + 0.5 :], "opaque-call"),
    (lambda b, a: (copy.copy(b[a[0] :]).tolist()), "data-dependent-shape"),
])  # fmt: skip
def test_what_is_refused(function, name):
    sample = np.array([3, 1])
    with pytest.raises((np2fx.TraceError, TypeError)) as refused:
        np2fx.trace(function, A, sample)
    if isinstance(refused.value, np2fx.TraceError):
        assert [finding.name for finding in refused.value.findings] == [name]
