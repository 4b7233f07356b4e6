"""What code that nobody converts is handed behaves as NumPy's: values, texts, classes and state are those of the original."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch

from . import foreign

X = np.array([1.0, -2.0, 3.5])


def plain(value):
    """A result whose arrays are lists with their dtype, whichever library they are of."""
    if isinstance(value, (torch.Tensor, np.ndarray, np.generic)):
        held = np.asarray(value)
        return str(held.dtype), held.shape, np.round(held.astype(float), 9).tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("function", foreign.FUNCTIONS, ids=lambda f: f.__name__)
def test_functions(function):
    assert plain(np2fx.convert(function)(torch.from_numpy(X.copy()))) == plain(function(X.copy()))


@pytest.mark.parametrize(("kind", "method"), foreign.METHODS, ids=lambda p: getattr(p, "__name__", p))
def test_state(kind, method):
    old, new = kind(), kind()
    for _ in range(2):
        assert plain(np2fx.convert(getattr(new, method))(torch.from_numpy(X.copy()))) == plain(getattr(old, method)(X.copy()))
        assert plain(vars(new)) == plain(vars(old))
        assert all(isinstance(v, (np.ndarray, np.generic)) for v in vars(new).values())


class Len(np.ndarray):
    def __mul__(self, other):
        return np.asarray(self) * np.asarray(other) + 100


def of_a_class(x):
    return np.sum(x.view(np.ndarray) * 1) + np.sum(x * 2), type(x).__name__


def test_arrays_of_a_class_of_the_users_keep_it():
    x = np.array([1.0, 2.0]).view(Len)
    assert plain(np2fx.convert(of_a_class)(x)) == plain(of_a_class(x))


def filled(x):
    y = np.zeros(2)
    y[0] = x[0]
    return y


class Filling:
    def filled(self, x):
        y = np.zeros(2)
        y[1] = x[0]
        return y


def by_a_method(x):
    return Filling().filled(x)


def test_gradients_are_kept_or_refused():
    """A helper is converted with its caller. A method is not, and NumPy's own array keeps no gradient."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    np2fx.convert(lambda x: filled(x) * 3)(x).sum().backward()
    assert x.grad.tolist() == [3, 0]
    assert np2fx.convert(by_a_method)(x.detach()).tolist() == [0, 1]
    with pytest.raises(np2fx.ConversionError, match="keeps no gradient"):
        np2fx.convert(by_a_method)(x)


def test_nothing_of_a_third_kind_is_written():
    for function in (*foreign.FUNCTIONS, foreign.norm):
        text = np2fx.convert(function).source_for(X)
        assert "ops." not in text and ".on_torch" not in text
