"""Python ints that a graph computes, beside integers that cannot hold them."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch

from .test_trace import refused

X = np.array([1, -128, 127, 5], np.int8)


def both(x, n):
    return np.clip(x, -int(n[0]), int(n[1]))


def upper(x, n):
    return x.clip(max=int(n[1]))


def lower(x, n):
    return np.clip(x, int(n[0]), None)


def against_a_float(x, n):
    return np.clip(x, 200.5, int(n[1]))


def against_a_constant(x, n):
    return np.clip(x, int(n[0]), 1000)


def unsigned(x, n):
    return np.clip(x.astype(np.uint16), int(n[0]), int(n[1]))


def widened(x, n):
    return np.clip(x, int(n[0]), int(n[1]), dtype=np.int32)


def in_float32(x, n):
    return np.clip(x.astype(np.float32), int(n[0]), int(n[1]))


def in_int64(x, n):
    return np.clip(x.astype(np.int64), int(n[0]), int(n[1]))


@pytest.mark.parametrize("sample", [(0, 100), (-300, 300)])
@pytest.mark.parametrize("function", [both, upper, lower, against_a_float, against_a_constant, unsigned, widened, in_float32, in_int64])
def test_clip_takes_bounds_that_its_dtype_cannot_hold(function, sample):
    try:
        module = np2fx.trace(function, X, np.array(sample))
    except OverflowError:  # NumPy's own for this sample
        with pytest.raises(OverflowError):
            function(X, np.array(sample))
        return
    for low in (-70000, -300, -129, -128, -127, 0, 127, 128, 70000):
        for high in (-70000, -129, -128, 0, 126, 127, 128, 300, 70000):
            n = np.array([low, high])
            try:
                want = function(X, n)
            except OverflowError:
                with pytest.raises(OverflowError, match="out of bounds"):
                    module(torch.from_numpy(X), torch.from_numpy(n))
                continue
            got = module(torch.from_numpy(X), torch.from_numpy(n)).numpy()
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want, err_msg=str(n))


def test_elsewhere_the_reason_is_named():
    assert "that int8 cannot hold" in str(refused("python-value", lambda x, n: np.isin(x, int(n[1])), X, np.array([0, 300])))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("node", [lambda y: np.cumprod(y) * np.arange(1, 5), lambda y: np.cumsum(y) + np.float64(1),
                                  lambda y: np.cumprod(y).astype(float)])  # fmt: skip
def test_what_was_rounded_on_the_way_is_no_better_in_float64(dtype, node):
    """NumPy rounds each step of a running product; its rounding is no fault of the graph."""
    y = np.array([-3.14, 1.93, -2.54, 1.93], dtype)
    graph = np2fx.trace(node, y)
    np.testing.assert_allclose(graph(torch.from_numpy(y)).numpy(), node(y), rtol=4 * float(np.finfo(dtype).eps))
