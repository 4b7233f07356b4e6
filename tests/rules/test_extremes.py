"""Near the ends of a dtype: what overflows and what vanishes on the way to a result does so where it does in NumPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from np2fx.testing.checking import outcome
from np2fx.testing.comparing import different
from np2fx.testing.spelling import run_numpy, run_rules

REAL = (np.float16, np.float32, np.float64)
EXAMPLES = (
    *(f"np.{name}(x{axis})" for name in ("std", "var", "nanstd", "nanvar", "linalg.norm") for axis in ("", ", axis=0")),
    *("x.std()", "x.var(0)", "np.hypot(x, x)", "np.logaddexp(x, x)", "np.logaddexp2(x, -x)", "np.abs(x)", "np.mean(x, axis=0)"),
    *("np.linalg.cond(x, 'fro')", "np.linalg.cond(x, 1)", "np.linalg.cond(x)", "np.square(x)", "np.reciprocal(x)", "np.sinc(x)"),
)


def near_the_ends(dtype):
    """Matrices whose numbers, or the squares of these, are close to the largest and the smallest of `dtype`."""
    finfo = np.finfo(dtype)
    plain = np.array([[0.9, -0.4, 0.3], [0.5, 0.7, -0.8], [-0.6, 0.31, 0.95]])
    sizes = (float(finfo.max) ** 0.5 * 30, float(finfo.max) / 3, float(finfo.tiny) ** 0.5 / 30, float(finfo.tiny) * 3)
    return [(sign(plain) * size).astype(dtype) for size in sizes for sign in (np.positive, np.abs)]


CASES = [(example, dtype) for example in EXAMPLES for dtype in REAL[1 if "cond" in example else 0 :]]  # LAPACK has no float16


@pytest.mark.parametrize(("example", "dtype"), CASES)
def test_numbers_overflow_and_vanish_where_numpys_do(example, dtype):
    for x in near_the_ends(dtype):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want, error, _ = outcome(run_numpy, example, {"x": x})
            got, failure, _ = outcome(run_rules, example, {"x": torch.from_numpy(x)})
        assert error is None and failure is None
        with np.errstate(all="ignore"):
            assert different(want, got) is None, (example, x)
        held, made = np.asarray(want, "float64"), np.asarray(got, "float64")
        rounded = np.maximum(np.abs(held), np.abs(made)) <= 8 * float(np.finfo(dtype).smallest_subnormal)
        assert np.all(((made == 0) == (held == 0)) | rounded), (example, x)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_expm1_of_small_complex_numbers_keeps_their_digits(dtype):
    x = np.array([3e-21 - 2e-21j, -1e-30 + 4e-25j, 1e-12j, 0.5 + 2j, -0.0 + 0j], dtype)
    got, _, _ = outcome(run_rules, "np.expm1(x)", {"x": torch.from_numpy(x)})
    np.testing.assert_allclose(got.numpy().real, np.expm1(x).real, rtol=1e-5)
    np.testing.assert_allclose(got.numpy().imag, np.expm1(x).imag, rtol=1e-5)
