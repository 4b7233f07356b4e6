"""uint64 beyond int64: comparisons, divisions, powers, shifts and bits are computed in int64 of the same bits, exactly as NumPy's."""

import operator

import np2fx
import numpy as np
import pytest
import torch
from np2fx import numpy as tnp
from np2fx.semantics.table import Refused

VALUES = [0, 1, 2, 3, 5, 6, 7, 63, 64, 65, 255, 2**31, 2**32 + 1, 2**53 + 1, 2**62, 2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1, 2**63 + 6,
          3 * 2**62, 2**64 - 10, 2**64 - 3, 2**64 - 2, 2**64 - 1]  # fmt: skip
RANDOM = np.random.default_rng(0).integers(0, 2**64, 9, np.uint64, endpoint=False)
X = np.concatenate([np.array(VALUES, np.uint64), RANDOM])
Y = np.concatenate([np.arange(-3, 4), [-(2**63), 2**63 - 1, 2**62]])
COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
BINARY = [*COMPARISONS, "floor_divide", "remainder", "fmod", "divmod", "power", "right_shift", "left_shift", "gcd", "lcm", "maximum",
          "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_xor", "add",
          "multiply"]  # fmt: skip
UNARY = ["absolute", "sign", "bitwise_count", "floor", "ceil", "trunc", "conjugate", "logical_not", "isfinite", "isnan", "isinf", "square"]


def agrees(got, want):
    for g, w in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,), strict=True):
        assert g.numpy().dtype == w.dtype
        np.testing.assert_array_equal(g.numpy(), w)


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", BINARY)
def test_pairs(name):
    agrees(getattr(tnp, name)(torch.from_numpy(X[:, None]), torch.from_numpy(X)), getattr(np, name)(X[:, None], X))


@pytest.mark.parametrize("name", UNARY)
def test_each(name):
    agrees(getattr(tnp, name)(torch.from_numpy(X)), getattr(np, name)(X))


@pytest.mark.parametrize("name", COMPARISONS)
def test_beside_int64(name):
    x, y = torch.from_numpy(X[:, None]), torch.from_numpy(Y)
    agrees(getattr(tnp, name)(x, y), getattr(np, name)(X[:, None], Y))
    agrees(getattr(tnp, name)(y, x), getattr(np, name)(Y, X[:, None]))


@pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint8, np.int8])
@pytest.mark.parametrize("name", COMPARISONS)
def test_beside_numbers(name, dtype):
    """Also those that no dtype holds."""
    x = X.astype(dtype)
    for n in (0, 1, -1, 127, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -(2**63), -(2**63) - 1, -(10**30)):
        agrees(getattr(tnp, name)(torch.from_numpy(x), n), getattr(np, name)(x, n))
        agrees(getattr(tnp, name)(n, torch.from_numpy(x)), getattr(np, name)(n, x))


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "power", "right_shift", "left_shift", "gcd", "maximum", "bitwise_and"])
def test_with_numbers(name):
    for n in (1, 3, 40, 2**63, 2**64 - 1):
        agrees(getattr(tnp, name)(torch.from_numpy(X), n), getattr(np, name)(X, n))
        agrees(getattr(tnp, name)(n, torch.from_numpy(X)), getattr(np, name)(n, X))
    for outside in (-1, 2**64):
        for call in (lambda n: getattr(np, name)(X, n), lambda n: getattr(tnp, name)(torch.from_numpy(X), n)):
            with pytest.raises(OverflowError):
                call(outside)


def hashed(x):
    y = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    return y, y % 1000, y // np.uint64(7), np.where(y > x, y, x), operator.lt(y, 2**63), np.gcd(x, y), np.minimum(x, 9), divmod(y, x | 1)


def test_in_a_function():
    want = hashed(X)
    for fn in (np2fx.trace(hashed, X), np2fx.convert(hashed)):
        got = fn(torch.from_numpy(X))
        for g, w in zip((*got[:-1], *got[-1]), (*want[:-1], *want[-1]), strict=True):
            agrees(g, w)


@pytest.mark.parametrize("name", ["reciprocal"])
def test_others_are_refused(name):
    with pytest.raises(Refused, match="uint64 has no torch kernel"):
        getattr(tnp, name)(torch.from_numpy(X))
