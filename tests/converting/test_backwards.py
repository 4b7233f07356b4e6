"""What is handed out of an array that torch has only as a copy lies in the caller's memory, as NumPy's view does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source
from np2fx.support.backwards import on_memory_of

from .modules import module

STEPS = list(itertools.product((1, -1, -2), (1, -1), (2, -1)))
KEYS = [(), (slice(1, None),), (0,), (slice(None), slice(None, None, 2)), (..., 1), (1, slice(1, None)), (None,)]


def strides(a):
    """Those that say something."""
    return [step for n, step in zip(a.shape, a.strides, strict=True) if n > 1]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_views_of_copies(steps, key):
    array = np.arange(120.0).reshape(4, 5, 6)[tuple(slice(None, None, s) for s in steps)]
    copy = torch.from_numpy(array.copy())
    found = on_memory_of(array, copy, copy[key].permute(*reversed(range(copy[key].ndim))))
    np.testing.assert_array_equal(found, array[key].T, strict=True)
    assert np.shares_memory(found, array) and strides(found) == strides(array[key].T)
    assert on_memory_of(array, copy, copy[key] + 0) is None


def test_a_rewritten_function_hands_out_views():
    text = "import numpy as np\nimport np2fx\n\n\n@np2fx.node(x='float64[n]')\ndef f(x):\n    return x[1:], x * 2\n"
    f = module(rewrite_source(text, "m.py")[0], "hands_out_views").f
    for array in (np.arange(6.0)[::-1], np.arange(12.0)[::-2], np.arange(6.0)):
        view, made = f(array)
        assert np.shares_memory(view, array) and view.strides == array[1:].strides and not np.shares_memory(made, array)
        view[0] = 99
        assert array[1] == 99
    locked = np.arange(6.0)
    locked.flags.writeable = False
    assert not f(locked)[0].flags.writeable and np.shares_memory(f(locked)[0], locked)
