"""`np.vectorize` calls a function with scalars first and with Python numbers then: dtypes, errors and results are NumPy's."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch


def doubled(x):
    return np.vectorize(lambda v: v * 2)(x)


def compared(x):
    return np.vectorize(lambda v: v > 1)(x)


def inverse(x):
    return np.vectorize(lambda v: 1 / v)(x)


def several(x):
    return np.vectorize(lambda v, w: (v + w, v * w))(x, x[:, None])[1]


def named(x):
    return np.vectorize(lambda v, n: v * n)(x, n=2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("function", [doubled, compared, inverse, several, named])
def test_is_numpys(function, dtype):
    for values in ([1, 2, 3], [1, 0, 100]):
        x = np.array(values).astype(dtype)
        try:
            want = function(x)
        except (TypeError, OverflowError, ZeroDivisionError) as error:
            with pytest.raises(type(error)):
                np2fx.convert(function)(torch.from_numpy(x))
            continue
        got = np2fx.convert(function)(torch.from_numpy(x)).numpy()
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "complex64"])
def test_a_graph_has_the_dtype_of_the_first_result(dtype):
    x = np.array([1, 2, 3]).astype(dtype)
    made = np2fx.trace(doubled, x)
    np.testing.assert_array_equal(made(torch.from_numpy(x)).numpy(), doubled(x), strict=True)
    if dtype in ("int8", "uint8"):
        with pytest.raises(OverflowError, match="out of bounds"):  # as NumPy raises
            made(torch.tensor([1, 200 - 73, 2]).to(getattr(torch, dtype)) + (100 if dtype == "uint8" else 0))


def test_gradients_go_through():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    np2fx.convert(doubled)(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def in_pieces(x):
    return np.vectorize(lambda a, b: (a @ b, a.max()), signature="(n),(n)->(),()")(x, x * 2)


def in_new_pieces(x):
    return np.vectorize(lambda a: a[:1] * 2, signature="(n)->(k)")(x)


def excluding(x):
    return np.vectorize(lambda v, p: v * p[0], excluded=[1])(x, [2.0, 3.0])


@pytest.mark.parametrize("node", [in_pieces, in_new_pieces, excluding])
def test_a_signature_and_excluded_arguments(node):
    x = np.arange(6.0).reshape(2, 3)
    want, got = node(x), np2fx.convert(node)(torch.from_numpy(x))
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (want, got)), strict=True):
        np.testing.assert_array_equal(np.asarray(b), a)
        assert np.asarray(b).dtype == a.dtype
