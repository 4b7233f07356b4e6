"""Torch's own tensors in containers and callbacks, where text cannot tell them from arrays: NumPy's `std` is not torch's."""

import functools

import np2fx
import numpy as np
import pytest
import torch


def spread(t):
    return t.std()


def mapped(x):
    return list(map(spread, [torch.from_numpy(x)]))


def mapped_by_a_lambda(x):
    return list(map(lambda t: t.std(), [torch.from_numpy(x)]))  # noqa: C417


def made_by_map(x):
    return [t.std() for t in map(torch.from_numpy, [x])]


def taken_out(x):
    return next(iter([torch.from_numpy(x)])).std()


def popped(x):
    return [torch.from_numpy(x)].pop().std()


def under_a_key(x):
    return {"a": torch.from_numpy(x)}["a"].std()


def put_under_a_key(x):
    d = {}
    d["k"] = torch.from_numpy(x)
    return next(iter(d.values())).std()


def appended(x):
    found = []
    found.append(torch.from_numpy(x))
    return found[0].std()


def kept_by_filter(x):
    return len(list(filter(lambda t: t.std() > 1.3, [torch.from_numpy(x)])))


def folded(x):
    return functools.reduce(lambda p, q: p.std() + q.std(), [torch.from_numpy(x), torch.from_numpy(x)])


def inner(x):
    def own(t):
        return t.std()

    return own(torch.from_numpy(x))


def divided(x):
    return max([torch.from_numpy(x.astype(np.int64)).sum(), torch.tensor(3)]) / 2


def both(x):
    return list(map(spread, [x, torch.from_numpy(x)]))


LOST = [mapped, mapped_by_a_lambda, made_by_map, taken_out, popped, under_a_key, put_under_a_key, appended, kept_by_filter, folded, inner,
        divided, both]  # fmt: skip


@pytest.mark.parametrize("fn", LOST)
def test_never_taken_for_arrays(fn):
    x = np.array([1.0, 2.0, 4.0])
    want = fn(x)
    try:
        got = np2fx.convert(fn)(x)
    except np2fx.ConversionError as refused:
        assert "torch" in str(refused)
        return
    for w, g in zip(*(v if isinstance(v, list) else [v] for v in (want, got)), strict=True):
        assert np.asarray(w) == np.asarray(g) and np.asarray(w).dtype == np.asarray(g).dtype


def known(x):
    """Where it is known which they are nothing is refused."""
    tensors = [torch.from_numpy(x), torch.from_numpy(x * 2)]
    return [t.std() for t in tensors], torch.stack(tensors), x.std(), {"a": x}["a"].std()


def test_known_ones():
    x = np.array([1.0, 2.0, 4.0])
    want, got = known(x), np2fx.convert(known)(x)
    assert got[0] == want[0] and torch.equal(got[1], want[1]) and float(got[2]) == want[2] == float(got[3])
