"""Constants of a graph: complex numbers that Python does not spell, arrays in a foreign byte order; and what NumPy's scalars tell."""

import math

import np2fx
import numpy as np
import pytest
import torch
from np2fx import TraceError

Z = np.array([0.5, -2, 3 - 1j, 1j])
PARTS = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan]


def same(got, want):
    got = got.numpy()
    assert got.dtype == want.dtype
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("imag", PARTS)
@pytest.mark.parametrize("real", PARTS)
def test_complex_numbers(real, imag):
    number = complex(real, imag)

    def fn(x):
        return np.full(2, number) + x[:2] * 0, np.where(x.real > 0, number, x)

    with np.errstate(all="ignore"):
        graph = np2fx.trace(fn, Z)
        for got, want in zip(graph.forward(torch.from_numpy(Z)), fn(Z), strict=True):
            same(got, want)


def test_their_signs_of_zero():
    def fn(x):
        return x * complex(-0.0, -0.0), x + complex(0.0, -3.0), x + complex(-0.0, -0.0)

    x = np.array([0.0, 1.0])
    for got, want in zip(np2fx.trace(fn, x).forward(torch.from_numpy(x)), fn(x), strict=True):
        same(got, want)
        for part in ("real", "imag"):
            np.testing.assert_array_equal(np.signbit(getattr(got.numpy(), part)), np.signbit(getattr(want, part)))


def test_divided():
    def fn(x):
        return complex(math.nan, math.inf) / x, x * complex(1, math.inf)

    x = np.array([1.0, 2.0])
    with np.errstate(all="ignore"):
        for got, want in zip(np2fx.trace(fn, x)(torch.from_numpy(x)), fn(x), strict=True):
            same(got, want)


FOREIGN = ["np.arange(6, dtype='>i4')", "np.zeros(3, '>f8')", "np.full(3, 2.0, '>f8')", "np.array([1, 2], '>i4')", "np.eye(2, dtype='>i2')",
           "[np.ones(3, '>f8')]", "np.ones((2, 2), '>f8').T", "np.ones(3, '>f8')[0:2]"]  # fmt: skip


@pytest.mark.parametrize("code", FOREIGN)
def test_a_foreign_byte_order_is_refused(code):
    with pytest.raises(TraceError, match="byte order"):
        np2fx.trace(eval(f"lambda x: ({code}, x)", {"np": np}), np.ones(3))


def test_written_to_it_is_refused():
    def fn(x):
        y = np.zeros(3, ">f8")
        y[0] = x[0]
        return y

    with pytest.raises(TraceError, match="byte order"):
        np2fx.trace(fn, np.ones(3))


def test_computed_with_it_is_native():
    def fn(x):
        return np.arange(3, dtype=">i4") * x

    x = np.array([1.5, 2, 3])
    same(np2fx.trace(fn, x)(torch.from_numpy(x)), fn(x))


MOVED = ["x.astype('>f4').astype('<f4') * 2", "np.array(x, dtype='>i4') + 1", "np.asarray(x, '>f8')[1:].reshape(2, 1).T * 2",
         "x.astype('>f8').sum()", "x.astype(np.dtype('>f4')).cumsum()", "np.concatenate([x.astype('>f8'), x])",
         "x.astype('>i2') // np.int16(2)", "x.astype('>f4')[0]"]  # fmt: skip


@pytest.mark.parametrize("code", MOVED)
def test_a_foreign_byte_order_in_between(code):
    fn = eval(f"lambda x: {code}", {"np": np})
    graph = np2fx.trace(fn, np.array([1.5, 2, 3]))
    for x in (np.array([1.5, 2, 3]), np.array([0.25, -7, 9])):
        same(graph(torch.from_numpy(x)), fn(x))


@pytest.mark.parametrize("code", ["x.astype('>f8')", "x.astype('>f8').T", "x.astype('>f8').view('u1')", "x.astype('>i4').byteswap() + 1"])
def test_its_bytes_are_refused(code):
    with pytest.raises(TraceError, match="byte order"):
        np2fx.trace(eval(f"lambda x: {code}", {"np": np}), np.ones(3))


def whole(x):
    return x[0].is_integer(), 1.0 if x[1].is_integer() else 0.5, x.sum().is_integer()


def ones(n):
    return n[0].bit_count(), n[1].bit_count() + n.max(), n[0].is_integer()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_is_integer(dtype):
    graph = np2fx.trace(whole, np.array([1, 0.5], dtype))
    for x in ([2, 3], [0.25, 1], [np.nan, 0], [np.inf, -np.inf], [-0.0, 1e4]):
        x = np.array(x, dtype)
        with np.errstate(all="ignore"):
            assert [v.item() for v in graph(torch.from_numpy(x))] == list(whole(x))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64])
def test_bit_count(dtype):
    graph = np2fx.trace(ones, np.array([3, 5], dtype))
    info = np.iinfo(dtype)
    for x in ([7, 1], [info.max, 0], [info.min, 2], [info.max - 1, 4]):
        x = np.array(x, dtype)
        got, want = graph(torch.from_numpy(x)), ones(x)
        assert [int(v.numpy() if isinstance(v, torch.Tensor) else v) for v in got] == [int(v) for v in want]


def test_what_a_scalar_does_not_have():
    for fn in (lambda x: x[0].bit_count(), lambda x: (x[0] + 0j).is_integer(), lambda x: (x[0] > 0).is_integer()):
        with pytest.raises(AttributeError):
            np2fx.trace(fn, np.ones(2))
