"""The names of the modules that rewritten text uses: never the user's own."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch

from . import taken_names
from .test_convert import outcome


@pytest.mark.parametrize("program", taken_names.PROGRAMS, ids=lambda p: p.__name__)
def test_the_users_names_stay_theirs(program):
    x = np.array([1.0, 4.0, 2.0])
    assert outcome(np2fx.convert(program), torch.from_numpy(x.copy())) == outcome(program, x)


@pytest.mark.parametrize("value", [None, 3, taken_names])
def test_a_module_that_is_replaced_between_two_calls(monkeypatch, value):
    f = np2fx.convert(taken_names.the_module_is_not_there)
    x = np.array([1.0, 4.0])
    monkeypatch.setattr(taken_names, "torch", torch)
    assert outcome(f, torch.from_numpy(x)) == outcome(taken_names.the_module_is_not_there, x)
    monkeypatch.setattr(taken_names, "torch", value)
    assert outcome(f, torch.from_numpy(x)) == outcome(taken_names.the_module_is_not_there, x)


def test_free_names_are_the_plain_ones():
    def f(x):
        return np.percentile(x, 30)

    assert "npx.percentile(" in np2fx.convert(f).source
    assert "np2fx_npx.percentile(" in np2fx.convert(taken_names.a_parameter).source
