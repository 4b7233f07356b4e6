"""Rules of a project's own use the sizes of what they are given as the ints that they are: with NumPy, `math`, Python's own and torch."""

import fractions
import functools
import itertools
import math
import operator
import sys
import types

import np2fx
import numpy as np
import pytest
import torch
from np2fx.rules import rule


@functools.cache
def _double(n):
    return 2 * n


def _table(n):
    return {n: "here", -1: "there"}[5]


TEXT, FORMAT = "%d %s %.1f", "{:>4}"

USES = {
    "quotients beside arrays": lambda n: np.arange(3) * (1 / (4 / n)) + np.arange(3) / n + n / np.arange(1, 4),
    "floats beside arrays": lambda n: np.arange(3.0) * (0.5 * n) + (n - 0.5) * np.arange(3.0) + n**0.5 * np.ones(3) + 2.0**n * np.ones(3),
    "floats inside functions": lambda n: np.minimum(np.arange(3), n / 2) + np.clip(np.arange(3), 0, n * 0.25) + np.full(3, n / 3),
    "sizes beside arrays": lambda n: (
        (np.arange(3) * n + n - np.arange(3)) % n + (n // np.arange(1, 4)) ** (n - 3) + np.minimum(np.arange(3), n - 1)
    ),
    "comparisons of arrays": lambda n: (np.arange(3) < n) & (np.arange(3) + 4 != n) | (n <= np.arange(3)),
    "scalars": lambda n: np.float32(n) * np.int64(n) + np.float32(2) * n + n / np.float64(3),
    "makers": lambda n: [
        np.zeros(n),
        np.arange(n),
        np.linspace(0, 1, n),
        np.eye(n),
        np.full((n, 2), n),
        np.array([n, n - 1]),
        np.arange(0, n, n / 3),
    ],
    "functions": lambda n: [
        np.prod((n, n)),
        np.sqrt(n),
        np.log(n / 2),
        np.fft.fftfreq(n, 1 / n),
        np.hanning(n),
        np.tile([1, 2], n),
        np.asarray(n),
    ],
    "math": lambda n: [
        math.sqrt(n),
        math.ceil(n / 2),
        math.floor(n * 0.3),
        math.log2(n),
        math.gcd(n, 10),
        math.factorial(n),
        math.prod((n, 2)),
        math.hypot(n, n / 2),
        math.isqrt(n),
        math.comb(n, 2),
        math.pi / n,
        math.fsum((n, 0.5)),
    ],
    "ranges": lambda n: [
        list(range(n)),
        list(range(0, n, n // 2)),
        [0] * n,
        "ab" * n,
        (1,) * (n - 2),
        list(itertools.islice(itertools.count(), n)),
    ],
    "indices": lambda n: ["abcdefgh"[n], [1, 2, 3][n - 4], list(range(9))[1:n], _table(n), _double(n), np.arange(9)[n], np.arange(9)[:n]],
    "text": lambda n: [f"{n} {n:03d} {n / 2:.2f} {n!r}", str(n), TEXT % (n, n, n / 4), FORMAT.format(n), str(n / 4)],
    "numbers": lambda n: [
        int(n / 2),
        float(n),
        round(n / 3),
        round(n / 3, 2),
        divmod(n, 2),
        divmod(n, 0.75),
        pow(n, 2, 7),
        abs(-n),
        n.bit_length(),
        complex(n, 1),
        n * 1j,
        max(n / 2, 1),
        sum((n, n / 2)),
        operator.index(n),
        n << 1,
        n | 8,
        n ^ 1,
        n & 6,
        ~n,
        fractions.Fraction(n, 3),
    ],
    "decisions": lambda n: [
        "long" if n / 2 > 2 else "short",
        n in (4, 5),
        isinstance(n, int),
        isinstance(n / 2, float),
        n == 5.0,
        bool(n - 5),
    ],
}


def _is_same(a, b):
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(b, (np.ndarray, np.generic)):
        return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b)
    return isinstance(a, type(b)) and a == b


@pytest.mark.parametrize("name", USES)
def test_what_a_rule_makes_of_a_size(name, monkeypatch, use):
    seen = []

    def scaled(x):
        return x * 2

    module = types.ModuleType("otherlib")
    module.scaled = scaled
    monkeypatch.setitem(sys.modules, "otherlib", module)

    @rule("otherlib.scaled", kind="elementwise")
    def body(x):
        for n in (x.shape[0], len(x), x.size(0), x.numel() // 3):
            seen.append(USES[name](n))
        return x * 2

    x = np.arange(15.0).reshape(5, 3)
    graph = np2fx.trace(lambda x: module.scaled(x) + 1, x)
    assert np.array_equal(graph(x).numpy(), x * 2 + 1)
    want = USES[name](5)
    assert len(seen) >= 4
    assert all(_is_same(s, want) for s in seen[:4]), (seen[:4], want)


@pytest.mark.parametrize("make", [
    lambda n: torch.arange(n) / n, lambda n: torch.full((n,), n / 2), lambda n: torch.linspace(0, 1, n), lambda n: torch.ones(n) * (1 / n),
    lambda n: torch.tensor([n] * n), lambda n: torch.tensor(n / 4), lambda n: torch.from_numpy(np.arange(n) / n),
            lambda n: n / torch.full((n,), 2),
    lambda n: torch.zeros(n).fill_(n / 3), lambda n: torch.pow(n / 2, torch.arange(n)), lambda n: n * 0.5 * torch.arange(n) + n,
])  # fmt: skip
def test_what_torch_makes_of_a_size(make, monkeypatch, use):
    module = types.ModuleType("otherlib")
    module.beside = lambda x: x * make(len(x)).numpy()
    monkeypatch.setitem(sys.modules, "otherlib", module)

    @rule("otherlib.beside", kind="elementwise")
    def beside(x):
        return x * make(x.shape[0]).to(x.dtype)

    x = np.arange(5.0)
    graph = np2fx.trace(lambda x: module.beside(x), x)
    np.testing.assert_allclose(graph(x).numpy(), module.beside(x), rtol=1e-6)
    assert graph(x).dtype == torch.float64


def test_a_factor_of_sizes_is_that_of_its_call(monkeypatch, use):
    module = types.ModuleType("otherlib")
    module.weighted = lambda x: x * (np.arange(len(x)) * (1 / (7 / len(x))))
    monkeypatch.setitem(sys.modules, "otherlib", module)

    @rule("otherlib.weighted", kind="elementwise")
    def weighted(x):
        return x * torch.from_numpy(np.arange(x.shape[0]) * (1 / (7 / x.shape[0])))

    graph = np2fx.trace(lambda x: module.weighted(x), np.ones(5))
    assert np.array_equal(graph(np.ones(5)).numpy(), module.weighted(np.ones(5)))
    for n in (2, 4, 9):
        with pytest.raises((np2fx.TraceError, RuntimeError)):
            graph(np.ones(n))


def test_a_rule_that_only_passes_sizes_on_serves_all_sizes(monkeypatch, use):
    module = types.ModuleType("otherlib")
    module.folded = lambda x: x.reshape(x.shape[0] * x.shape[1])
    monkeypatch.setitem(sys.modules, "otherlib", module)

    @rule("otherlib.folded", kind="shape")
    def folded(x):
        return torch.reshape(x, (x.shape[0] * x.shape[1],))

    graph = np2fx.trace(lambda x: module.folded(x) * 2, np.ones((5, 3)))
    for shape in ((2, 3), (4, 7)):
        x = np.random.default_rng(0).random(shape)
        assert np.array_equal(graph(x).numpy(), x.ravel() * 2)
        assert np.array_equal(graph.forward(torch.from_numpy(x)).numpy(), x.ravel() * 2)
