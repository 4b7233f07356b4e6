"""What stands in for NumPy's objects and the user's functions in a trace is not to be told from them: by `is`, `==`, `in`, as a key."""

from __future__ import annotations

import functools

import np2fx
import numpy as np
import pytest
import torch


def relu(x):
    return np.maximum(x, 0)


REDUCTIONS = {"max": np.max, "mean": np.mean}
NAMES = {np.tanh: 1, np.max: 2, relu: 3, np.float32: 4}
FUNCTIONS = [relu, np.tanh, min]


class Layer:
    dtype, reduce = np.uint8, np.max

    def __init__(self):
        self.act, self.dt, self.own, self.table = np.tanh, np.float32, relu, {"own": relu}

    def holds(self, x):
        return (self.act is np.tanh, self.act == np.tanh, self.act in (np.tanh, np.sin), self.dt is np.float32, self.dt in (np.float32,),
                x.dtype.type is self.dt, self.dtype is np.uint8, Layer.reduce is np.max, self.own is relu, self.own == relu,
                self.table["own"] is self.own)  # fmt: skip


def functions(x):
    return (REDUCTIONS["max"] is np.max, REDUCTIONS["max"] == np.max, REDUCTIONS["mean"] is not np.max, np.add.reduce == np.add.reduce,
            FUNCTIONS[0] is relu, FUNCTIONS[0] == relu, FUNCTIONS.index(np.tanh) == 1, FUNCTIONS[2] is min, relu in {relu},
            type(np.add) is np.ufunc, isinstance(np.add, np.ufunc))  # fmt: skip


def keys(x):
    return NAMES.get(np.tanh) == 1, NAMES.get(np.max) == 2, NAMES.get(relu) == 3, NAMES.get(x.dtype.type) == 4, np.float32 in NAMES


def dtypes(x):
    return (x.dtype.type is np.float32, np.float32 == x.dtype, np.dtype(np.float32).type is np.float32, type(x[0]) is np.float32,
            x.dtype.type in [np.float32], x.dtype.type is not np.float64, np.float64 != x.dtype)  # fmt: skip


def wrapped(x):
    @functools.wraps(relu)
    def wrapper(y):
        return relu(y)

    return (wrapper is not relu,)


@pytest.mark.parametrize("tests", [Layer().holds, functions, keys, dtypes, wrapped])
def test_identity(tests):
    """Each test is True in NumPy, and in the trace."""
    assert all(tests(np.ones(2, np.float32)))

    def node(x):
        for position, test in enumerate(tests(x)):
            x = x + 2**position if test else x
        return x

    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(np2fx.trace(node, x)(torch.from_numpy(x)), node(x))


def configured(x, dtype=np.float32, red=np.max, act=relu, home=np, acts=(relu, np.tanh)):
    taken = (dtype is np.float32) + 2 * (red is np.max) + 4 * (act is relu) + 8 * (home is np) + 16 * (acts[0] is act)
    return red(x) * dtype(2) + taken + act(x) + acts[0](x) + acts[1](x)


@pytest.mark.parametrize("options", [(), (np.float64,), (np.float32, np.min), (np.float32, np.max, np.tanh), (np.float32, min, abs)])
def test_functions_and_classes_as_arguments(options):
    x = np.array([0.5, -2.0, 3.0], np.float32)
    graph = np2fx.trace(configured, x, *options)
    got, want = graph(torch.from_numpy(x), *options), configured(x, *options)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert got.numpy().dtype == want.dtype


def test_a_list_of_functions_that_is_changed_is_refused():
    def node(x):
        FUNCTIONS.append(relu)
        return x

    with pytest.raises(np2fx.TraceError, match="side-effect"):
        np2fx.trace(node, np.ones(2))
    assert len(FUNCTIONS) == 3
