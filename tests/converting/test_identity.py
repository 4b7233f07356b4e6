"""A NumPy name that is a value, and not called at once, is NumPy's own object in the converted text: by `is`, `==`, `in`, and as a key."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch
from numpy import max as largest
from numpy import nan

REDUCTIONS = {"max": np.max, "mean": np.mean}
NAMES = {np.tanh: 1, np.max: 2}
ACT = np.tanh


def functions(x, red=np.max, act=np.tanh, how="max"):
    tests = (REDUCTIONS[how] is np.max, REDUCTIONS[how] == np.max, red is np.max, red is largest, red in (np.max, np.min), act is ACT,
             act is np.tanh, NAMES.get(np.tanh) == 1, NAMES[red] == 2, getattr(np, "clip") is np.clip, type(np.add) is np.ufunc)  # noqa: B009  # fmt: skip
    return x + sum(2**i for i, test in enumerate(tests) if test)


def constants(x, fill=np.nan, top=np.inf):
    missing, limit = [nan], np.inf
    tests = (fill is np.nan, fill is nan, fill in (np.nan,), fill in missing, {np.nan: 1}.get(fill) == 1, top is np.inf, top is limit)
    return x + sum(2**i for i, test in enumerate(tests) if test)


def vectorized(x, kind=np.vectorize):
    return x + 1 if kind is np.vectorize else x


def called_later(x):
    chosen = np.max
    if len(x) > 2:
        chosen = np.min
    both = [f(x) for f in (np.max, np.add.reduce)]
    return chosen(x), x * chosen(2), (np.max if x.ndim else np.min)(x), both, np.apply_along_axis(np.max, 0, x), sum(map(np.sqrt, [x, x]))


def numeric(x):
    return x * np.pi, np.where(x > 1, np.inf, x), -np.inf < x


def _leaves(x):
    return [leaf for part in x for leaf in _leaves(part)] if isinstance(x, (list, tuple)) else [x]


@pytest.mark.parametrize("node", [functions, constants, vectorized, called_later, numeric])
def test_values_are_numpys_own_objects(node):
    x = np.array([0.5, 2.0, 3.0], np.float32)
    got, want = _leaves(np2fx.convert(node)(torch.from_numpy(x))), _leaves(node(x))
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert isinstance(g, torch.Tensor)
        np.testing.assert_allclose(g, w, rtol=1e-6)
        assert g.numpy().dtype == np.asarray(w).dtype
