"""Generators in functions, called by functions, and functions that are generators."""

from __future__ import annotations

import types

import np2fx
import numpy as np
import pytest
import torch
from np2fx import boundary

from . import generators
from .test_convert import outcome


def drained(function):
    """What a generator gives, as a list, and its result at the end."""

    def call(*args):
        found = function(*args)
        if not isinstance(found, types.GeneratorType):
            return found
        given = []
        while True:
            try:
                given.append(next(found))
            except StopIteration as end:
                return given, end.value

    return call


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("program", generators.PROGRAMS, ids=lambda p: p.__name__)
def test_generators_mean_what_they_mean(program, dtype):
    x = np.arange(1, 10).reshape(3, 3).astype(dtype)
    assert outcome(drained(np2fx.convert(program)), torch.from_numpy(x.copy())) == outcome(drained(program), x.copy())


def test_what_a_generator_cannot_do_between_steps_is_refused():
    with pytest.raises(np2fx.ConversionError, match="is a generator that"):
        np2fx.convert(generators.writes_late)


def test_what_a_generator_sets_between_steps_is_numpys():
    keeping, x = generators.Keeping(), np.arange(6.0).reshape(2, 3)
    for found, want in zip(np2fx.convert(keeping.steps)(torch.from_numpy(x)), x * 2, strict=True):
        assert isinstance(found, torch.Tensor) and type(keeping.last) is np.ndarray
        np.testing.assert_array_equal(found.numpy(), want)
        np.testing.assert_array_equal(keeping.last, want)


def test_generators_leave_the_boundary_step_by_step():
    @boundary()
    def doubled(x):
        return (r * 2 for r in x)

    x = np.arange(6.0).reshape(2, 3)
    steps = doubled(x)
    first = next(steps)
    assert type(first) is np.ndarray and first.tolist() == [0, 2, 4]
    x[1] = 100  # the generator sees what its caller does meanwhile
    assert next(steps).tolist() == [200, 200, 200]
    with pytest.raises(StopIteration):
        next(steps)


def test_what_would_compute_after_the_call_is_refused():
    @boundary()
    def mapped(x):
        return map(torch.sin, x)

    @boundary()
    def closed(x):
        def later():
            return torch.sin(x)

        return later

    @boundary()
    def doubled(x):
        return (r * 2 for r in x)

    for function in (mapped, closed):
        with pytest.raises(Exception, match="would compute with tensors"):
            function(np.ones((2, 3)))
    with pytest.raises(Exception, match="only as copies"):
        doubled(np.ones((2, 3))[::-1])
