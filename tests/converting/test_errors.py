"""Errors that the node catches itself: NumPy's classes, raised where NumPy raises them."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch


def as_bool(x):
    try:
        return np.array(bool(x))
    except ValueError:
        return x * 2


def as_float(x):
    try:
        return np.array(float(x))
    except TypeError:
        return x * 2


def as_int(x):
    try:
        return np.array(int(x))
    except TypeError:
        return x * 2


def as_complex(x):
    try:
        return np.array(complex(x))
    except TypeError:
        return x * 2


def out_of_another_size(x):
    try:
        return np.sqrt(x, out=np.zeros(2))
    except ValueError:
        return x * 2


def of_a_part(x):
    try:
        return np.array(float(x[0:0]))
    except (ValueError, TypeError):
        return x * 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [5.0], []])
@pytest.mark.parametrize("function", [as_bool, as_float, as_int, as_complex, out_of_another_size, of_a_part])
def test_what_is_caught(function, values):
    x = np.array(values)
    try:
        want = function(x.copy())
    except Exception as error:
        with pytest.raises(type(error)):
            np2fx.convert(function)(torch.from_numpy(x))
        return
    np.testing.assert_array_equal(np2fx.convert(function)(torch.from_numpy(x)).numpy(), want, strict=True)


def text_beside_arrays(x):
    names = np.array([1, 2, 3])
    return names == "a", names != "a", x == "a", x == None, x != None  # noqa: E711


def test_an_array_is_no_text():
    x = np.arange(3.0)
    want, got = text_beside_arrays(x), np2fx.convert(text_beside_arrays)(torch.from_numpy(x))
    for a, b in zip(want, got, strict=True):
        assert b.dtype == torch.bool
        np.testing.assert_array_equal(a, b.numpy())
