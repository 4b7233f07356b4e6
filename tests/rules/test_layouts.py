"""Results lie in memory as NumPy's do, whatever the layout of the arguments: views, copies and writes follow from it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from np2fx.rules import load
from np2fx.semantics import arrays as tensor_arrays
from np2fx.testing.checking import outcome
from np2fx.testing.spelling import run_numpy, run_rules
from np2fx.testing.strategies import Seeded, arrays_of, names_in

ENTRIES = {r.name: r for r in load()[0].values() if r.name.startswith("numpy.") and r.examples}


def in_some_order(x, rng):
    """The same values in C order, in Fortran's, in another one, or as one row that repeats."""
    if not isinstance(x, np.ndarray) or x.ndim < 2:
        return x
    how, axis = rng.integers(0, 4), rng.integers(0, x.ndim)
    if how == 0:
        order = rng.permutation(x.ndim)
        return np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    if how == 1:
        return np.asfortranarray(x)
    return np.broadcast_to(np.take(x, [0], axis), x.shape) if how == 2 and x.shape[axis] > 1 else x


def leaves(value):
    for v in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(v, (list, tuple)):
            yield from leaves(v)
        elif isinstance(v, (np.ndarray, np.generic, torch.Tensor)):
            yield v


def steps(x):
    """The strides in elements, of the dimensions that have some."""
    strides = x.stride() if isinstance(x, torch.Tensor) else [s // x.itemsize for s in x.strides]
    return [s for s, n in zip(strides, x.shape, strict=True) if n != 1]


def tensor(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a broadcast array is read-only
        return tensor_arrays.zero_d_array(torch.from_numpy(x)) if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("name", ENTRIES)
def test_results_lie_as_numpys(name):
    for example in ENTRIES[name].examples:
        for n in range(8):
            rng = np.random.default_rng(n)
            arrays = {k: in_some_order(x, rng) for k, x in arrays_of(Seeded(n), names_in(example), False).items()}
            tensors = {k: tensor(x) for k, x in arrays.items()}
            with np.errstate(all="ignore"):
                want, error, _ = outcome(run_numpy, example, arrays)
            with tensor_arrays.mirrored_views():
                got, failure, _ = outcome(run_rules, example, tensors)
            if error is not None or failure is not None:
                continue
            for w, g in zip(leaves(want), leaves(got), strict=True):
                if w.size and min(w.strides, default=0) >= 0:  # torch has only copies of what is reversed
                    assert steps(w) == steps(g), (example, {k: getattr(x, "strides", x) for k, x in arrays.items()})
