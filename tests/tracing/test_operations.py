"""Operations that a graph can do though nothing dispatches them: repeats by counts, iterators, strides, objects as arguments."""

from __future__ import annotations

import types

import np2fx
import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import as_strided

A = np.arange(6.0)
M = A.reshape(2, 3)


def agrees(function, *samples):
    """The graph of the first sample gives NumPy's answers for all, and leaves in the arguments what NumPy leaves there."""
    graph = np2fx.trace(function, *(x.copy() for x in samples[0]))
    for sample in samples:
        given, tensors = [x.copy() for x in sample], [torch.from_numpy(x.copy()) for x in sample]
        want, got = function(*given), graph(*tensors)
        for w, g in zip(*(x if isinstance(x, (tuple, list)) else (x,) for x in (want, got)), strict=True):
            assert np.shape(w) == np.shape(g) and np.allclose(w, np.asarray(g))
            assert not isinstance(w, np.ndarray) or w.dtype == np.asarray(g).dtype
        for x, t in zip(given, tensors, strict=True):
            assert np.array_equal(x, t.numpy())


@pytest.mark.parametrize("function", [
    lambda x, n: np.repeat(x, n),
    lambda x, n: x.repeat(n).sum() / n.sum(),
    lambda x, n: (np.repeat(x.reshape(3, 2), n[:3], axis=0), np.repeat(x.reshape(2, 3), n[:3], axis=1)),
    lambda x, n: np.repeat(x, int(n[0])),
    lambda x, n: np.repeat(np.arange(6), n.astype(np.uint8)),
    lambda x, n: len(np.repeat(x, n)),
])  # fmt: skip
def test_repeats_that_are_computed(function):
    agrees(function, (A, np.array([1, 2, 0, 3, 1, 1])), (A, np.array([2, 0, 0, 1, 0, 4])), (A, np.zeros(6, int) + 1))


def test_repeats_that_numpy_rejects():
    graph = np2fx.trace(lambda x, n: np.repeat(x, n), A, np.array([1, 2, 0, 3, 1, 1]))
    with pytest.raises(ValueError, match="negative"):
        graph(torch.from_numpy(A), torch.tensor([1, 2, 0, -3, 1, 1]))
    for n in (np.array([1.0] * 6), np.array([1, 2]), np.array([[1]])):
        with pytest.raises((TypeError, ValueError)):
            np2fx.trace(lambda x, n: np.repeat(x, n), A, n)


def multi_index(x):
    out, it = np.zeros_like(x), np.nditer(x, flags=["multi_index"])
    for v in it:
        out[it.multi_index] = v * sum(it.multi_index)
    return out


def until_finished(x):
    total, it = 0.0, np.nditer(x, flags=["multi_index"])
    while not it.finished:
        total += it[0] * (it.multi_index[0] + 1) + x[it.multi_index]
        it.iternext()
    return total


def read_and_written(x):
    with np.nditer(x, flags=["c_index"], op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = v * 2 + it.index
    return x


def written_by_operand(x):
    it = np.nditer(x, flags=["multi_index"], op_flags=[["readwrite"]])
    told = it.itersize, it.ndim
    while not it.finished:
        it[0] = it[0] * 2
        it.iternext()
    return x, *told


def kept_elements(x):
    kept = list(np.nditer(x))
    x[...] = 0
    return kept[0] + kept[-1] + len(kept)


@pytest.mark.parametrize("function", [multi_index, until_finished, read_and_written, written_by_operand])
def test_iterators(function):
    agrees(function, (M,), (M * -3 + 1,))


def test_an_iterator_that_only_reads_cannot_write():
    def write(x):
        it = np.nditer(x)
        it[0] = 1.0
        return x

    with pytest.raises((np2fx.TraceError, RuntimeError)):
        np2fx.trace(write, M)


def framed(x):
    step = x.strides[0]
    return as_strided(x, shape=(3, 4), strides=(step, step)).sum(axis=1), x.strides[0] / x.itemsize


def of_a_result(x):
    y = (x * 2).reshape(2, 3)
    return as_strided(y, (2, 2), y.strides), np.lib.stride_tricks.as_strided(y, (3, 2), y.strides[::-1])


def through_a_view(x):
    as_strided(x, (3,), (2 * x.strides[0],))[...] = -1
    return x


def seen_later(x):
    view = as_strided(x, (2, 2), (3 * x.itemsize, x.itemsize))
    x[0] = 9
    return view + 0


@pytest.mark.parametrize("function", [framed, of_a_result, through_a_view, seen_later])
def test_strides(function):
    agrees(function, (A,), (A[::-1].copy(),))


@pytest.mark.parametrize("function", [
    lambda x: as_strided(x, (4, 4), (x.strides[0], x.strides[0])),
    lambda x: as_strided(x, (2,), (-8,)),
    lambda x: as_strided(x, (2,), (4,)),
    lambda x: as_strided(x[::2], (2,), (8,)),
    lambda x: x[::2].strides[0] * x,
])  # fmt: skip
def test_strides_that_are_refused(function):
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(function, A)


def test_a_write_through_overlapping_strides_is_refused():
    def write(x):
        as_strided(x, (3, 3), (8, 8))[...] = x[:3]
        return x

    with pytest.raises(np2fx.TraceError, match="several elements"):
        np2fx.trace(write, A)


def flat(x):
    out = np.zeros((6, 2))
    out[:, 0] = x.flat
    out[:3, 1] = np.add(x.flat, 1)[:3]
    return out, np.array(x.flat), np.sum(x.flat), x.flat == 3.0, x.flat > 2, np.concatenate([x.flat, x.flat]), np.sqrt(x.flat)


def made_by_shape(x):
    made, other = np.ndarray(x.shape), np.ndarray(shape=(3,), dtype=np.float32)
    made[...] = x
    other[:] = x[0]
    return made, other, isinstance(made, np.ndarray)


def broadcast(x):
    a, k = np.broadcast_arrays(x, 3)
    out = np.zeros(np.broadcast(x, k).shape)
    out[a > k] = a[a > k]
    out[~(a > k)] = k[~(a > k)]
    return out


@pytest.mark.parametrize("function", [flat, made_by_shape, broadcast])
def test_arrays(function):
    agrees(function, (M,), (M[::-1].copy(),))


@pytest.mark.parametrize("function", [
    lambda x: np.linalg.inv(x),
    lambda x: x[10],
    lambda x: x[0, 5],
    lambda x: np.squeeze(x, 0),
    lambda x: np.max(x[:0]),
    lambda x: np.argmax(x[:0]),
    lambda x: x.reshape(4, 2),
    lambda x: x @ x,
    lambda x: np.transpose(x, (0, 1, 2)),
    lambda x: x.sum(axis=3),
])  # fmt: skip
def test_errors_of_shapes_may_be_caught(function):
    def careful(x):
        try:
            return function(x)
        except (ValueError, IndexError, np.linalg.LinAlgError):
            return x * 2

    agrees(careful, (M,), (M + 1,))


class Camera:
    def __init__(self, matrix, scale):
        self.matrix, self.scale, self.name = matrix, scale, "left"

    def project(self, points):
        return points @ self.matrix * self.scale


def test_objects_are_arguments_like_dicts():
    def project(points, camera):
        return camera.project(points) + camera.matrix.sum()

    graph = np2fx.trace(project, M, Camera(np.eye(3), 2.0))
    other = Camera(np.arange(9.0).reshape(3, 3), 2.0)
    assert np.allclose(graph(torch.from_numpy(M), Camera(torch.from_numpy(other.matrix), 2.0)), project(M, other))
    with pytest.raises(np2fx.TraceError):
        graph(M, Camera(np.eye(3), 3.0))


def test_namespaces_are_arguments_like_dicts():
    graph = np2fx.trace(lambda o: o.x * o.k + o.inner.y, types.SimpleNamespace(x=A, k=2, inner=types.SimpleNamespace(y=A)))
    given = types.SimpleNamespace(x=torch.from_numpy(A + 1), k=2, inner=types.SimpleNamespace(y=torch.ones(6, dtype=torch.float64)))
    assert np.allclose(graph(given), (A + 1) * 2 + 1)
    namespace = np2fx.trace(lambda x: types.SimpleNamespace(a=x * 2, n=3), A)(torch.from_numpy(A))
    assert type(namespace) is types.SimpleNamespace and namespace.n == 3 and np.allclose(namespace.a, A * 2)


def test_what_a_function_sets_in_an_object_is_refused():
    def keep(x, o):
        o.last = x
        return x

    for o in (types.SimpleNamespace(y=A), Camera(A, 1.0)):
        with pytest.raises(np2fx.TraceError) as refused:
            np2fx.trace(keep, A, o)
        assert [finding.name for finding in refused.value.findings] == ["side-effect"]


def test_an_object_that_holds_itself():
    o = types.SimpleNamespace(x=A)
    o.own = o
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(lambda x, o: x * o.x, A, o)(A, types.SimpleNamespace(x=A, own=None))
