"""Rules whose torch calls are made again give what the rules give."""

import warnings

import np2fx
import numpy as np
import pytest
import torch
from np2fx.arrays.bare import namespace as rules
from np2fx.converting import quick, replaying

from .modules import module

X, Y = torch.arange(12.0).reshape(3, 4) - 5, torch.ones(3, 4) * 3
CALLS = {
    "minimum": (X, Y), "clip": (X, 0, None), "linalg.norm": (X,), "median": (X, 0), "stack": ([X, Y],), "pad": (X, ((1, 0), (0, 2))),
    "interp": (Y[0], X[0], Y[0]), "linspace": (0, 1, 5), "array": ([[1.0, 2.0], [3.0, 4.0]],), "divmod": (X, 3.0),
    "cross": (X[:, :3].contiguous(), Y[:, 1:]), "round": (X, 1), "histogram": (X.ravel(), 4),
}  # fmt: skip


def found(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


@pytest.fixture(autouse=True)
def learnt(monkeypatch):
    """A namespace of its own, and what has been learnt for it."""
    calls = []
    learn = replaying._learnt
    monkeypatch.setattr(replaying, "_learnt", lambda *args: calls.append(learn(*args)) or calls[-1])
    calls.append(quick.Rules(rules))
    return calls


@pytest.mark.parametrize("name", CALLS)
def test_results(learnt, name):
    args = CALLS[name]
    for number in range(8):
        given = [x + number if isinstance(x, torch.Tensor) and name not in ("interp", "histogram") else x for x in args]
        want, got = found(rules, name)(*given), found(learnt[0], name)(*given)
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
        for x in got if isinstance(got, tuple) else (got,):
            x.fill_(7)  # what leaves is new in each call
    assert len(learnt) == 2 and learnt[1] is not None


def test_one_tensor_in_two_places(learnt):
    subtract = learnt[0].subtract
    for _ in range(8):
        assert not subtract(X, X).any()
    assert torch.equal(subtract(X, Y), X - Y)
    for _ in range(8):
        assert torch.equal(subtract(X, Y), X - Y)
    assert not subtract(X, X).any()


def test_errors_are_the_rules(learnt):
    for _ in range(8):
        learnt[0].linalg.inv(Y[:, :3] * 0 + torch.eye(3))
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            learnt[0].linalg.inv(Y[:, :3] * 0)


def test_what_hangs_on_values_is_not_replayed(learnt):
    for number in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0):
        assert learnt[0].allclose(X, X * number) is (number == 1.0)
        assert learnt[0].nonzero(X * (number - 1))[0].numel() == (number - 1) * 11
        assert learnt[0].unique(X * (number - 1)).numel() == (number - 1) * 11 + 1
        assert learnt[0].where(X * (number - 1) > 0)[0].numel() == (number - 1) * 6
        assert learnt[0].compress((X[0] * (number - 1)) < 0, X, axis=1).shape == (3, (number - 1) * 4)
    assert all(x is None for x in learnt[1:])


def test_views_are_views_of_what_is_given(learnt):
    for _ in range(8):
        x = torch.zeros(3, 4)
        made = learnt[0].split(x, 2, axis=1)
        made[1].fill_(1)
        assert x.sum() == 6
        whole = learnt[0].atleast_3d(x)
        whole.fill_(2)
        assert x.sum() == 24


def test_warnings_come_each_time(learnt, monkeypatch):
    def warns(x):
        warnings.warn("told", RuntimeWarning, stacklevel=2)
        return torch.add(x, 1)

    call = replaying.replayed(warns)
    for _ in range(8):
        with pytest.warns(RuntimeWarning, match="told"):
            call(X)


@pytest.mark.parametrize("zeros", [(-0.0, -0.0), (0.0, -0.0), (-0.0, 0.0)])
def test_signs_of_zeros_are_told_apart(learnt, zeros):
    for number in (*[0j] * 8, *[complex(*zeros)] * 8):
        parts = torch.view_as_real(learnt[0].full(1, number)).signbit()
        assert parts.tolist() == [np.signbit([number.real, number.imag]).tolist()]


def test_layouts_are_told_apart(learnt):
    for _ in range(8):
        learnt[0].clip(X, 0, None)
    turned = X.T.contiguous().T
    for _ in range(8):
        assert learnt[0].clip(turned, 0, None).stride() == rules.clip(turned, 0, None).stride()


@pytest.mark.parametrize("body", [
    "np.add(x, 1, out=x)", "np.add(x, 1, x)", "np.multiply(x[:2], x[1:3], out=x[:2])", "np.cumsum(x, out=x)", "np.clip(x, 0, 2, x)",
    "np.nan_to_num(x, copy=False)", "np.copyto(x, 3, where=x > 2)", "np.add(x[::2], 1, out=x[1::2])", "x[:-1] = x[1:]", "x[1:] = x[:-1]",
    "x += x[::-1]", "x[1:] += x[:-1]", "x[0] = x[1:2].sum()", "x[...] = x[::-1] * 2", "x[1:] = np.ones(1)",
])  # fmt: skip
def test_what_a_rule_writes_into_is_written_to_once(body):
    write = module(f"import numpy as np\n\n\ndef write(x):\n    {body}\n    return x\n", "writer").write
    converted = np2fx.convert(write)
    for n in range(8):
        x, t = (np.array([1.0, 2.0, 3.0, 4.0]) + n for _ in range(2))
        np.testing.assert_array_equal(converted(torch.from_numpy(t)).numpy(), write(x))
        np.testing.assert_array_equal(t, x)
