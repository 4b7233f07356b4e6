"""What ONNX has no operators for, composed of others: the file gives what NumPy gives."""

import np2fx
import numpy as np
import pytest
import torch
from np2fx.pipeline import onnx_forms as forms

onnxruntime = pytest.importorskip("onnxruntime")
X = np.array([[0.5, -1.5, np.nan, 0.5], [np.inf, 2.0, 2.0, -np.inf]])
M = np.array([[0.0, 2.0, 1.0], [3.0, 1.0, -1.0], [1.0, 1.0, 4.0]])


def run(form, tmp_path, *samples):
    path = np2fx.export(np2fx.trace(form, *samples), tmp_path / "made.onnx", "onnx", example=samples)
    session = onnxruntime.InferenceSession(str(path))
    names = [i.name for i in session.get_inputs()]
    return lambda *arrays: session.run(None, dict(zip(names, arrays, strict=True)))


def orders(x):
    return np.argsort(x, axis=1, kind="stable"), np.sort(x, axis=0)


def places(x):
    return np.digitize(x, [-1.0, 0.5, 2.0]), np.searchsorted(np.array([-1.0, 0.5, 0.5, np.nan]), x, side="right")


def solved(m):
    return np.linalg.inv(m), np.linalg.solve(m, np.arange(3.0)), np.linalg.det(m)


def rounded(x):
    return np.hypot(x, 2.0), np.copysign(x, -1.0), np.fmax(x, 0.6), np.arctan2(x, 0.5), np.sinh(x), np.tan(x)


def smoothed(x):
    return np.convolve(x, [1.0, 2.0, 1.0], mode="same")


@pytest.mark.parametrize(
    ("form", "sample", "other"),
    [(orders, np.arange(8.0).reshape(2, 4), X), (places, np.zeros((2, 4)), X), (solved, np.eye(3), M), (rounded, np.ones((2, 4)), X),
     (smoothed, np.ones(5), np.array([1.0, -2.0, 0.5, 3.0, 7.0]))],
)  # fmt: skip
def test_the_file_gives_what_numpy_gives(form, sample, other, tmp_path):
    with np.errstate(all="ignore"):
        want = form(other)
    for a, b in zip(run(form, tmp_path, sample)(other), want if isinstance(want, tuple) else (want,), strict=True):
        np.testing.assert_allclose(a, b, 1e-13, 1e-13)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.array([[1.0, 2, 3], [2, 4, 6], [1, 1, 1]])])
def test_the_file_fails_for_singular_matrices(matrix, tmp_path):
    inverted = run(np.linalg.inv, tmp_path, np.eye(3) * 2)
    np.testing.assert_allclose(inverted(M)[0], np.linalg.inv(M))
    with pytest.raises(Exception, match="Singular matrix"):
        inverted(matrix)


UNIT = torch.linspace(-1, 1, 4001, dtype=torch.float64)
WIDE = torch.cat([UNIT * scale for scale in (1e-9, 1.0, 40.0, 1e6)] + [torch.tensor([np.inf, -np.inf, np.nan, -0.0], dtype=torch.float64)])


@pytest.mark.parametrize(
    ("name", "x"),
    [("atan", WIDE), ("asin", UNIT), ("acos", UNIT), ("sinh", WIDE), ("cosh", WIDE), ("asinh", WIDE), ("acosh", WIDE), ("atanh", UNIT)],
)
def test_functions_of_doubles_are_right_to_the_last_digits(name, x):
    got, want = getattr(forms, name)(x), getattr(torch, name)(x)
    torch.testing.assert_close(got, want, rtol=8e-16, atol=0, equal_nan=True)
    assert torch.equal(got.signbit()[~want.isnan()], want.signbit()[~want.isnan()])
