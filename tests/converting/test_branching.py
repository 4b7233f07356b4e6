"""Branches on array values, converted: NumPy's answer on either side of each, and one graph where they are choices."""

from __future__ import annotations

import itertools

import np2fx
import numpy as np
import pytest
import torch
from np2fx.semantics.arrays import is_scalar


def normalise(x):
    peak = np.max(np.abs(x))
    if peak > 0:
        x = x / peak
    return x


def clip_gain(x, limit=1.0):
    peak = np.max(np.abs(x))
    y = x * 2
    if peak > limit:
        y = y / peak
    elif peak < 0.1:
        y = y * 10.0
    return y


def sign_flip(x):
    if x.sum() < 0:
        x = -x
    return x


def early_return(x):
    if x.max() <= 0:
        return x
    centred = x - x.mean()
    return centred / x.std()


def returns(x):
    m = x.mean()
    if m > 5:
        half = m / 2
        return x * half
    if m < 0:
        return -x
    return x * 1.0


def ternary_default(x):
    s = np.std(x)
    return (x - x.mean()) / (s if s > 0 else 1.0)


def repaired_scale(x):
    scale = np.std(x)
    if scale == 0:
        scale = 1.0
    return x / scale


def swapped(x):
    a, b = x.mean(), x.std()
    low = a
    high = b
    if not (low < high and high > 0.5):
        t = low
        low = high
        high = t
    return x * low + high


def both_arms(x):
    m = x.mean()
    if 0 < m < 2 or np.isnan(m):
        scale = m * 2
        shifted = x + scale
    else:
        scale = -m
        shifted = x - scale
    return shifted * scale


def member(x):
    if 2.0 in x:
        x = x * 2
    elif 0 not in x:
        x = x + 1
    return x


def half_choice(x):
    if x.size > 9:
        x = x + x[0]
    elif x.sum() > 1:
        x = x * 2
    elif x.sum() > 0:
        x = x * 3
    return x


def extremes(x):
    return x / max(np.max(np.abs(x)), 1e-8) + min(x.mean(), x.std()) - max(0.5, x.sum())


def written_later(x):
    if x.sum() > 1:
        y = x * 2
    elif x.sum() > 0:
        y = x * 3
    else:
        y = x + 1
    y[0] = 7
    return y


def steps(x):
    for _ in range(3):
        if x.sum() > 4:
            x = x * 0.5
    return x


CHOICES = [normalise, clip_gain, sign_flip, early_return, returns, ternary_default, repaired_scale, swapped, both_arms, member, half_choice,
           extremes, written_later, steps]  # fmt: skip


def number_or_scalar(x):
    s = np.std(x)
    return s if s > 0 else 1.0


def other_dtype(x):
    y = x
    if x.sum() > 1:
        y = x > 1
    return y


def other_shape(x):
    y = x
    if x.sum() > 1:
        y = x[:2]
    return y


def alias_written(x):
    y = x
    if x.sum() > 1:
        y = x * 2
    y[0] = 7
    return y


def same_twice(x):
    y = x
    if x.sum() < 0:
        y = -x
    return x, y


def guarded(x):
    if x.size > 1 and x.max() > 1:
        x = x / x[-1]
    return x


KEPT = [number_or_scalar, other_dtype, other_shape, alias_written, same_twice, guarded]

VALUES = [[1, 2, 3], [-1, -2, 0.5], [0, 0, 0], [np.nan, 1, 2], [6, 7, 8], [2, 2, 2], [0.01, 0.02, 0], [np.inf, -1, 1]]


def inputs():
    for values, dtype in itertools.product(VALUES, (np.float32, np.float64, np.int64)):
        x = np.nan_to_num(np.array(values), posinf=9, neginf=-9).astype(dtype) if dtype is np.int64 else np.array(values, dtype)
        yield from (x, x[1:2].copy(), x.reshape(1, 3), x[:2][::-1].copy())


def described(value):
    if isinstance(value, tuple):
        return tuple(map(described, value))
    if isinstance(value, torch.Tensor):
        value = value.numpy()[()] if is_scalar(value) else value.numpy()
    return (type(value).__name__, np.asarray(value).dtype, np.shape(value)) if isinstance(value, (np.ndarray, np.generic)) else value


def values_of(value):
    return [v for part in value for v in values_of(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("program", [*CHOICES, *KEPT], ids=lambda p: p.__name__)
def test_either_side_is_numpys(program):
    converted = np2fx.convert(program)
    for x in inputs():
        left, given = x.copy(), torch.from_numpy(x.copy())
        want, got = program(left), converted(given)
        assert described(got) == described(want), x
        for a, b in zip(values_of(got), values_of(want), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=str(x))
        np.testing.assert_array_equal(given.numpy(), left)


def exported(program, x, strict):
    twin = np2fx.convert(program)._variant((x,), {})[0].twin

    class Module(torch.nn.Module):
        def forward(self, x):
            return twin(x)

    return torch.export.export(Module(), (x,), strict=strict).module()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", CHOICES, ids=lambda p: p.__name__)
def test_choices_are_one_graph(program):
    graph = exported(program, torch.tensor([1.0, 2.0, 3.0]), strict=False)
    for values in VALUES:
        x = np.array(values, np.float32)
        want, got = program(x.copy()), graph(torch.from_numpy(x.copy()))
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, err_msg=str(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [normalise, early_return, ternary_default], ids=lambda p: p.__name__)
def test_choices_are_one_graph_by_bytecode(program):
    graph = exported(program, torch.tensor([1.0, 2.0, 3.0]), strict=True)
    np.testing.assert_allclose(graph(torch.zeros(3)).numpy(), program(np.zeros(3, np.float32)))


@pytest.mark.parametrize("program", KEPT, ids=lambda p: p.__name__)
def test_what_is_no_choice_stays_pythons(program):
    text = np2fx.convert(program).source_for(np.array([1.0, 2.0, 3.0]))
    assert "where" not in text
    assert " if " in text


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_rewritten_file_of_unknown_rank_is_numpys_for_each(tmp_path):
    from np2fx.codemod.rewrite import rewrite_source

    text = "import numpy as np\nimport np2fx\n\n\n@np2fx.node\ndef node(x):\n    if np.sum(x) < 0:\n        x = x / 2\n    return x\n"
    new, _ = rewrite_source(text, "m.py")
    assert "npx.sum(x) < 0" in new
    before, after = {"__name__": "before"}, {"__name__": "after"}
    exec(text, before)
    exec(new, after)
    for x in (np.array(1.0), np.array(-1.0), np.array([1.0, -2.0], np.float32), np.array([[3.0]]), np.array([])):
        want, got = before["node"](x.copy()), after["node"](x.copy())
        assert described(got) == described(want)
        np.testing.assert_array_equal(got, want)
