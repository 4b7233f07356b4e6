"""NumPy's two bools are one object each: `is` compares their values, in torch and in graphs as well."""

import np2fx
import numpy as np
import pytest
import torch

X = np.array([3.0, -1.0, 2.0])
BOTH = [X, -X, np.abs(X), np.array([0.0, -0.0, -5.0])]
YES = np.True_


def element(b):
    return 1 if b[0] is np.True_ else 2


def of_all(x):
    return x * 2 if (x > 0).all() is not np.False_ else x


def of_comparison(x):
    return (x[0] > x[1]) is np.True_, np.True_ is (x[0] < 0), (x[0] > 0) is YES


def of_two(x):
    return (x[0] > 0) is (x[1] > 0), np.any(x > 2) is not np.all(x > 2)


def of_others(x):
    return (x[0] > 0) is True, x is np.True_, x[0] is np.False_, bool(x[0] > 0) is np.True_


def in_helper(x):
    return told(x.any()), told(x.all())


def told(b):
    return "yes" if b is np.True_ else "no"


@pytest.mark.parametrize("function", [of_all, of_comparison, of_two, of_others])
@pytest.mark.parametrize("way", ["convert", "trace"])
def test_floats(function, way):
    made = np2fx.convert(function) if way == "convert" else np2fx.trace(function, X)
    for x in BOTH:
        want, got = function(x), made(torch.from_numpy(x.copy()))
        for w, g in zip(want if isinstance(want, tuple) else [want], got if isinstance(want, tuple) else [got], strict=True):
            np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("way", ["convert", "trace"])
@pytest.mark.parametrize("function", [element, in_helper])
def test_bools(function, way):
    made = np2fx.convert(function) if way == "convert" else None
    for b in (np.array([True, False]), np.array([False, False]), np.array([True, True])):
        if way == "trace" and function is in_helper:
            with pytest.raises(np2fx.TraceError):  # its ways give different texts
                np2fx.trace(function, b)
            continue
        graph = made or np2fx.trace(element, np.array([True, False]))
        assert graph(torch.from_numpy(b)) == function(b)


def test_a_rewritten_file():
    head = "import numpy as np\nimport np2fx\n\n\n@np2fx.node(x='float64[n]')\n"
    text = f"{head}def f(x):\n    return (x > 0).any() is np.True_, x is None\n"
    space: dict = {}
    exec(compile(np2fx.rewrite_source(text)[0], "rewritten", "exec"), space)
    assert space["f"](X)[0] is True and space["f"](-np.abs(X))[0] is False
