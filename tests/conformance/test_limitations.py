"""What other NumPy tracers document as their limitations: each is right here, traced and converted, or refused; none is silent.

The cases follow LEAPP's page of limitations: untraced results as constants, third-party functions, indexing to a scalar, reversed slices,
NumPy scalars as operands, Python values.
"""

from __future__ import annotations

import io
import math

import np2fx
import numpy as np
import pytest
import torch

KNOTS, VALUES = np.array([0.0, 1.0, 2.0]), np.array([0.0, 10.0, 20.0])


def interpolated(x):
    calibrated = np.interp(x, KNOTS, VALUES)
    return x * 0.1 + calibrated


def padded_and_transformed(x):
    return np.abs(np.fft.rfft(np.pad(x, 1, mode="edge"))) + np.linalg.inv(np.diag(x * x + 1.0)).sum()


def standardized(x):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    scale = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True))
    return centred / (scale + 1e-6)


def rows_in_python(x):
    return np.array([v * 2 for v in x]) + x


def one_element(x):
    return x * x[0] + np.cos(x[-1])


def one_element_of_a_matrix(x):
    m = np.outer(x, x)
    return m[0, 0] * m[0:1, 0:1] + m[1]


def reversed_slice(x):
    return x[::-1] + x[np.arange(x.shape[0] - 1, -1, -1)] * x[3:0:-1][0]


def numpy_scalars(x):
    return x * np.float32(2.0) + x * np.array(2.0, np.float32) + np.float64(3) / (1 + x * x)


def norm_of_it(x):
    return x / np.linalg.norm(x)


def branch(x):
    return np.abs(x) if (x < 0).any() else x * 10


def computed_size(x):
    return x[: int(x[1])] * 2


def size_of_a_mask(x):
    return x[x > 0] / len(x[x > 0])


def python_numbers(x):
    return x * float(x.sum()) + int(x[0]) * x.sum().item() + np.array(x.tolist()).astype(x.dtype) * math.sqrt(abs(x[0]))


RIGHT = [interpolated, padded_and_transformed, standardized, rows_in_python, one_element, one_element_of_a_matrix, reversed_slice,
         numpy_scalars, norm_of_it, branch, python_numbers, computed_size, size_of_a_mask]  # fmt: skip
REFUSED_BY_TRACE = {
    "text": (lambda x: x * float(f"{x.sum():.3f}"), "python-value"),
    "range": (lambda x: [x * i for i in range(int(x[1]))], "python-value"),
    "raw buffer": (lambda x: np.frombuffer(memoryview(np.asarray(x))) + x, None),
    "count of points": (lambda x: np.linspace(0, 1, len(x[x > 0])), None),
}
SAMPLE, OTHER = np.array([0.5, 1.5, -0.25, 1.0]), np.array([1.75, -0.5, 0.125, 2.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", RIGHT)
def test_right_in_graph_and_source(function, dtype):
    graph, source = np2fx.trace(function, SAMPLE.astype(dtype)), np2fx.convert(function)
    for values in (SAMPLE, OTHER, np.abs(OTHER)):
        x = values.astype(dtype)
        want = function(x.copy())
        for got in (graph(torch.from_numpy(x.copy())), source(torch.from_numpy(x.copy()))):
            assert got.numpy().dtype == want.dtype
            np.testing.assert_allclose(got.numpy(), want, rtol=2e-5 if dtype is np.float32 else 1e-9)


@pytest.mark.parametrize("what", REFUSED_BY_TRACE)
def test_refused_with_place_and_way_out(what):
    function, finding = REFUSED_BY_TRACE[what]
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(function, SAMPLE)
    (found,) = refused.value.findings
    assert finding is None or found.name == finding
    assert (found.path, found.line) == (__file__, function.__code__.co_firstlineno)
    assert found.hint


def test_the_exported_graph_interpolates_new_inputs():
    graph = np2fx.trace(interpolated, SAMPLE)
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(graph.forward, torch.from_numpy(SAMPLE)), file)
    file.seek(0)
    loaded = torch.jit.load(file)
    np.testing.assert_allclose(loaded(torch.from_numpy(OTHER)).numpy(), interpolated(OTHER))
