"""The types of what a program gives out: shapes are tuples, wherever they stand; what iterates over an array is NumPy's."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

from .modules import module

TEXT = """import numpy as np

CONST = np.ones((2, 3))


class Held:
    pass


def returned(x):
    made = x.shape + (1,), x.shape[:1], (lambda: CONST.shape)()
    return CONST.shape, x.shape, np.sum(x), CONST[0].shape, [x.shape], (x.shape, (1, x.shape)), made


def keys(x):
    d = {x.shape: np.sum(x), "s": x.shape, (1, x.shape): 2}
    d[CONST.shape] = 3
    d.setdefault(x[1:].shape, 4)
    s = set()
    s.add(x.shape)
    return d, s, list(d), frozenset([x.shape]), {k: v for k, v in d.items()}, [{x.shape}, {"in": {x.shape: 1}}], d[(4,)] is d[x.shape]


def put(x, into):
    into[x.shape] = np.sum(x)
    into["more"] = {x.shape: x.shape}
    return into


def attributes(x):
    o = Held()
    o.shape, o.keys = x.shape, {x.shape: np.sum(x)}
    return type(o.shape), o.shape, [type(k) for k in o.keys]


def asked(x):
    classes = type(x.shape), x.shape.__class__, reversed(x).__class__, type(reversed(x)), type(iter(x)), iter(x).__class__
    return classes, isinstance(x.shape, tuple), repr(x.shape), f"{x.shape}", np.sum(x)
"""
ORIGINAL = module(TEXT, "types_of_results")


def told(value):
    """A value with the types of all that it holds."""
    if isinstance(value, dict):
        return {"dict": [(told(k), told(v)) for k, v in value.items()]}
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value).__name__, [told(v) for v in (value if isinstance(value, (list, tuple)) else sorted(value))]
    return float(value) if isinstance(value, (torch.Tensor, np.generic)) else (type(value).__name__, value)


@pytest.fixture(scope="module", params=["converted", "assuming", "exact"])
def form(request):
    if request.param == "converted":
        return lambda name: np2fx.convert(getattr(ORIGINAL, name)), torch.from_numpy
    made = module(rewrite_source(TEXT, "m.py", all_functions=True, exact=request.param == "exact")[0], f"types_{request.param}")
    return lambda name: getattr(made, name), np.copy


@pytest.mark.parametrize("name", ["returned", "keys", "attributes", "asked"])
def test_what_is_returned(name, form):
    function, given = form
    x = np.array([1.0, 4.0, 2.0, 3.0])
    assert told(function(name)(given(x))) == told(getattr(ORIGINAL, name)(x))


@pytest.mark.parametrize("before", [{}, {"x": 1}, {"x": np.ones(2)}], ids=repr)
def test_what_is_put_into_an_argument(before, form):
    function, given = form
    x, want, got = np.array([1.0, 4.0, 2.0, 3.0]), {**before}, {**before}
    results = ORIGINAL.put(x, want), function("put")(given(x), got)
    for d in (*results, want, got):
        d.pop("x", None)
    assert told(got) == told(results[1]) == told(want)
