"""Arguments that few give: no identity, numbers for bools, axes of an array that has none, an `out=` that is too large."""

from __future__ import annotations

import numpy as np
import pytest

from ..adversary.test_kinds import not_wrong, right
from ..adversary.test_kinds_more import program

EMPTY, SQUARE, ZERO_D = np.ones((0, 2)), np.array([[1, 0], [2, 3]]), np.array(3)
SMALL = np.array([1, 9], np.uint8)

REDUCTIONS = ("sum", "prod", "max", "min", "ptp", "any", "all", "mean", "std", "var", "nansum", "nanprod", "nanmax", "nanmean", "nanvar",
              "count_nonzero")  # fmt: skip
OTHERS = ("median", "argmax", "argmin", "nanargmax", "nanmedian", "average", "linalg.norm")


@pytest.mark.parametrize("keepdims", ["np.True_", "1", "0", "1.5", "None", "np.int64(2)", "''", "x[0, 0]", "x[0, 0] > 0"])
@pytest.mark.parametrize("name", [*REDUCTIONS, *OTHERS])
def test_keepdims_of_other_types(name, keepdims):
    not_wrong(f"return np.{name}(x, axis=0, keepdims={keepdims})", SQUARE)


@pytest.mark.parametrize("name", [*REDUCTIONS, *OTHERS])
def test_keepdims_may_be_one(name):
    right(f"return np.{name}(x, axis=1, keepdims=1)", SQUARE.astype(float))


FOLDS = ("np.sum(x, {})", "np.prod(x, {})", "x.sum({})", "np.add.reduce(x, {})", "np.bitwise_or.reduce(x.astype(int), {})",
         "np.logical_or.reduce(x, {})", "np.nansum(x, {})", "np.max(x, {})", "np.maximum.reduce(x, {})")  # fmt: skip


@pytest.mark.parametrize("call", FOLDS)
@pytest.mark.parametrize("axis", ["", "axis=0, ", "axis=1, "])
@pytest.mark.parametrize("x", [EMPTY, np.ones((2, 0)), np.ones((2, 2))])
def test_no_identity(call, axis, x):
    fold = call.format(f"{axis}initial=None")
    not_wrong(f"return {fold}", x)
    not_wrong(f"try:\n    y = {fold}\nexcept ValueError:\n    y = x + 5\nreturn y", x)


def test_no_identity_beside_a_mask():
    not_wrong("return np.sum(x, where=x > 0, initial=None)", SQUARE)
    right("return np.sum(x, initial=None), np.prod(x, axis=0, initial=None), np.add.reduce(x, initial=None)", SQUARE)


@pytest.mark.parametrize("axis", ["(-1,)", "(0,)", "0", "-1", "()", "1", "(0, 0)"])
@pytest.mark.parametrize("name", [*REDUCTIONS, *OTHERS, "sort", "cumsum", "flip", "expand_dims"])
def test_axes_of_an_array_without_any(name, axis):
    form = "np.{}(x, {})" if name == "expand_dims" else "np.{}(x, axis={})"
    not_wrong(f"return {form.format(name, axis)}", ZERO_D)
    not_wrong(f"return {form.format(name, axis)}", ZERO_D * 1.5)
    not_wrong(f"return {form.format(name, axis)}", ZERO_D > 2)


@pytest.mark.parametrize("keepdims", ["", ", keepdims=True"])
@pytest.mark.parametrize("name", ["sum", "any", "count_nonzero", "nansum", "mean", "max"])
def test_no_axes(name, keepdims):
    for x in (SQUARE, SQUARE.astype(np.uint8), SQUARE > 1, SQUARE * 1.5):
        right(f"return np.{name}(x, axis=(){keepdims})", x)


RUNNING = ("np.add.accumulate(x, axis=0, out={})", "np.cumsum(x, axis=0, out={})", "np.cumprod(x, 0, out={})",
           "np.hypot.accumulate(x, out={})", "np.nancumsum(x, axis=0, out={})",
           "np.cumulative_sum(x, axis=0, out={})", "np.add.reduceat(x, [0], out={})")  # fmt: skip


@pytest.mark.parametrize("shape", ["(3, 2)", "(1, 2)", "(2, 1, 2)", "(2,)", "(1, 2, 1)", "(0, 2)", "(1, 5)"])
@pytest.mark.parametrize("call", RUNNING)
def test_out_of_another_shape(call, shape):
    not_wrong(program(f"y = np.full({shape}, 9.0) | {call.format('y')} | return y"), np.array([[1.0, 2.0]]))


@pytest.mark.parametrize("number", ["2**63", "2**64", "-2**63", "-2**63 - 1", "10**30", "2**62"])
@pytest.mark.parametrize("dtype", ["?", "u2", "i8", "u8", "f8", "c8"])
def test_logic_with_large_numbers(dtype, number):
    for name in ("logical_or", "logical_and", "logical_xor"):
        not_wrong(f"return np.{name}(x, {number})", np.ones(2, dtype))
        not_wrong(f"return np.{name}({number}, x)", np.zeros(2, dtype))


@pytest.mark.parametrize("choice", ["-1", "1", "300", "1.5", "x", "True", "np.int64(3)", "2**63", "x * 2"])
@pytest.mark.parametrize("dtype", ["u1", "i1", "i8", "u2", "f2", "f4", "c8", "?"])
def test_numbers_as_choices(dtype, choice):
    x = np.array([0, 1, 9]).astype(dtype)
    not_wrong(f"return np.select([x > 0], [{choice}], default=x)", x)
    not_wrong(f"return np.select([x > 0], [x], default={choice})", x)


@pytest.mark.parametrize("value", ["[1.0, 2.0]", "[5.0]", "1j", "np.array([1, 2])", "7", "True", "np.float32(0.1)"])
@pytest.mark.parametrize("x", [np.array(np.nan), np.array([np.nan, 1.0]), np.array([np.inf, np.nan], np.complex64), np.array([1, 2])])
def test_what_nan_becomes(x, value):
    not_wrong(f"return np.nan_to_num(x, nan={value})", x)
    not_wrong(f"return np.nan_to_num(x, nan=0.5, posinf={value})", x)


def test_powers_of_nothing():
    for body in ("return x ** -1", "return np.power(x, -2)", "return x ** np.int64(-1)", "return np.power(x, -1, dtype=float)",
                 "x **= -1\nreturn x"):  # fmt: skip
        not_wrong(body, np.zeros((0, 3), int))
        not_wrong(body, np.ones(3, int))
    right("return x ** -1, np.power(x, -3)", np.zeros((0, 2), np.int32))


def test_equal_to_none():
    for body in ("return x == None", "return x != None, None == x", "return np.equal(x, None)", "return np.not_equal(None, x)"):
        for x in (SQUARE, ZERO_D, EMPTY, SMALL, SQUARE * 1j):
            not_wrong(body, x)
    right("return x == None, np.not_equal(x, None)", SQUARE)
    not_wrong("return x.sum() == None", SQUARE)


def test_counts_of_bytes_have_a_size():
    right("return np.bincount(x, minlength=256).cumsum()[x]", SMALL)
    right("return np.bincount(x, minlength=300)[x] * 2", SMALL)
    not_wrong("return np.bincount(x, minlength=255)[x]", SMALL)
    right("return np.bincount(x, np.ones(2), minlength=256)[x]", SMALL)


def test_conditions_without_axes():
    for condition in ("np.array(True)", "x[0] > 0", "np.array(x[0] > 5)", "x > 3", "[True, False]"):
        not_wrong(f"return np.piecewise(x, [{condition}], [1, 0])", SMALL)
        not_wrong(f"return np.piecewise(x, {condition}, [1, 0])", SMALL)
        not_wrong(f"return np.piecewise(x, [{condition}], [lambda v: v * 2])", SMALL * 1.5)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i4", "?", "f2", "f4"])
def test_weights_of_any_dtype(dtype):
    for call in ("np.quantile(x, 0.7, method='inverted_cdf', weights=w)", "np.average(x, weights=w)", "np.bincount([0, 1, 1], w)",
                 "np.histogram(x, bins=2, weights=w)", "np.cov(x, aweights=w)"):  # fmt: skip
        not_wrong(f"w = np.array([1, 0, 1]).astype({dtype!r})\nreturn {call}", np.array([3.0, 1.0, 2.0]))


def test_masks_do_not_enlarge():
    shapes = ((1,), "0"), ((1, 3), "(2, 3)"), ((2, 1), "(2, 2)")
    for x, mask in ((np.ones(shape), f"np.ones({larger}, bool)") for shape, larger in shapes):
        for call in ("np.sum(x, axis=0, where={})", "np.mean(x, where={})", "np.max(x, initial=-1, where={})", "np.any(x, where={})",
                     "np.nanmean(x, axis=0, where={})", "np.std(x, where={})"):  # fmt: skip
            not_wrong(f"return {call.format(mask)}", x)


def test_values_with_too_many_axes():
    for call in ("np.full_like(x, [[[5]]])", "np.full((), [7])", "np.full((2,), [[x[0], 3]])", "np.full_like(x[0], x[:1])"):
        right(f"return {call}", SMALL)
    not_wrong("return np.full(2, [[1, 2], [3, 4]])", SMALL)


def test_reversed_bytes():
    for body in ("return x[::-1].view(np.uint16)", "return x[..., ::-1].view(np.int8)", "y = x[::-1]\nreturn y.copy().view(np.uint16)"):
        not_wrong(body, SMALL)
    not_wrong("return x[::-1]", ZERO_D)
    not_wrong("return x[..., ::-1]", ZERO_D)


def test_masks_of_nothing():
    for body in ("return x[np.zeros(0, bool)]", "x[np.zeros(0, bool)] = 3\nreturn x", "return x.flat[np.zeros(0, bool)]"):
        not_wrong(body, SMALL)


def test_devices_are_texts_where_no_one_speaks_of_torch():
    right("return x, x.device", SMALL)
    right("d = x.device\nreturn np.zeros(2, device=d) + x, d, d == 'cpu'", SMALL)


ODD = ("np.tril(y, k=True)", "np.diag(x, k=True)", "np.diag(y, np.int64(1))", "np.trace(y, offset=True)",
       "np.linalg.svd(y, 0)[1]", "np.linalg.cholesky(y @ y.T + np.eye(2), upper=0)", "np.linalg.pinv(y, hermitian=0)",
       "np.roll(x, True)", "np.repeat(x, True)", "np.tile(x, True)", "np.expand_dims(x, True)", "np.stack([x, x], axis=True)",
       "np.swapaxes(y, True, -1)", "np.reshape(x, None)", "np.tensordot(y, y, np.int64(1))", "np.take(x, 5, mode=1)",
       "np.put(x, [0], [1], 0)", "np.where(x > 1, None, x)", "np.var(x, ddof=True)", "np.nanvar(x, ddof=True)",
       "np.sum(y, axis=[0])", "np.squeeze(y[:1], axis=[0])", "np.full(True, 1)", "np.full({}, 1)", "np.zeros(None)",
       "np.unique(y, axis=True)", "np.rollaxis(y, 0, np.float32(1))", "np.fft.rfft(x, n=True)", "np.sum(y, keepdims=10**20)",
       "np.broadcast_to(x[:1], True)", "np.percentile(x, 1j)", "np.linalg.vector_norm(x, ord=[0])", "np.concatenate('a')")  # fmt: skip


@pytest.mark.parametrize("call", ODD)
def test_odd_types_are_numpys_or_refused(call):
    not_wrong(f"y = np.array([[1.0, 2.0], [3.0, 5.0]])\nreturn {call}", SMALL * 1.0)


def test_flat_has_no_more_axes_than_numpys():
    x = np.ones((2,) + (1,) * 32)
    for code in ("return x.flat[1]", "return np.array(list(x.flat))", "x.flat = 3.0\nreturn x", "return x.ravel()"):
        right(code, x)  # NumPy raises for the first three
