"""Ufuncs with two outputs: by position the later ones may be left out."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch


def first_by_position(x, y):
    made = np.frexp(x, y)
    made[0][0] = 7
    return y + made[1]


def first_of_division(x, y):
    return np.divmod(x, 2, y)[1] + y


def second_by_name(x, y):
    made = np.modf(x, out=(None, y))
    made[1][0] = 7
    return y - made[0]


def both_where(x, y):
    z = x * 3
    np.divmod(x, 2, y, z, where=x > 0)
    return y + z


def no_tuple(x, y):
    try:
        np.modf(x, out=y)
    except TypeError:
        return y - 1
    return y


@pytest.mark.parametrize("function", [first_by_position, first_of_division, second_by_name, both_where, no_tuple])
def test_outputs(function):
    x, y = np.array([1.5, -2.25, 3.0]), np.ones(3)
    want_y = y.copy()
    want = function(x.copy(), want_y)
    for made in (np2fx.convert(function), np2fx.trace(function, x.copy(), y.copy())):
        got_y = torch.ones(3, dtype=torch.float64)
        np.testing.assert_array_equal(made(torch.from_numpy(x.copy()), got_y).numpy(), want, strict=True)
        np.testing.assert_array_equal(got_y.numpy(), want_y, strict=True)
