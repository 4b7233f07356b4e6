"""Sizes are nodes of the graph: one graph serves all sizes for which NumPy's code goes the same way, and what sizes decided is known."""

import functools
import math
import operator

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing.sizes import extents
from np2fx.tracing.sizes.extents import Guard
from np2fx.tracing.surroundings.structure import rebuild

SIZES = (0, 1, 2, 3, 6, 7, 12)


def _arrays(shapes, dtype):
    """Arrays of these shapes: for each of their sizes `n` (a name) a size is chosen by the caller."""
    return [(np.arange(np.prod(s, dtype=int)) * 7 % 23 - 5).reshape(s).astype(dtype) for s in shapes]


def check(fn, *shapes, dtype=np.float64, sizes=SIZES, free=True):
    """The graph traced at n = 5 and m = 3 is NumPy at all sizes for which its guards hold: at all of `sizes`, if they are `free`."""

    def at(n, m):
        return _arrays([tuple({"n": n, "m": m}.get(s, s) for s in shape) for shape in shapes], dtype)

    module = np2fx.trace(fn, *at(5, 3))
    served = 0
    for n, m in [(n, 3) for n in sizes] + [(5, m) for m in sizes if any("m" in s for s in shapes)]:
        given = at(n, m)
        if not all(g.holds([x.shape for x in given]) for g in module.face.guards):
            assert not free, (n, m, told(module))
            continue
        copies = [x.copy() for x in given]
        got = module.bare(module, *map(torch.from_numpy, copies))
        want = fn(*given)
        _same(want, got if module.face.outputs is None else rebuild(module.face.outputs, got.__getitem__))
        for a, b in zip(given, copies, strict=True):
            np.testing.assert_array_equal(a, b)
        served += 1
    assert served
    return module


def _same(want, got):
    if isinstance(want, (tuple, list)):
        assert len(want) == len(got)
        for a, b in zip(want, got, strict=True):
            _same(a, b)
        return
    if isinstance(want, (np.ndarray, np.generic)):
        assert got.shape == want.shape and np.asarray(got).dtype == want.dtype
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6, equal_nan=True)


def told(module):
    return sorted(g.told(module.face.names) for g in module.face.guards)


V, M = ("n",), ("n", "m")


@pytest.mark.parametrize("fn", [
    lambda x: x.sum(0) / len(x), lambda x: x.sum() / x.size, lambda x: x * x.shape[0] - 1, lambda x: x[: len(x) // 2],
    lambda x: x[len(x) // 3 : 2 * len(x) // 3], lambda x: np.arange(len(x)) * x, lambda x: np.zeros(x.shape) + x, lambda x: np.ones(len(x)),
    lambda x: np.full(x.shape, 2) * x, lambda x: np.eye(len(x)) @ x, lambda x: np.tri(len(x)) @ x, lambda x: x.reshape(len(x), -1),
    lambda x: x.reshape(1, x.size), lambda x: (x.sum(), len(x)), lambda x: x * np.float32(2) * len(x), lambda x: x + np.int64(len(x)),
    lambda x: x.sum() * np.prod(x.shape), lambda x: np.std(x) * np.sqrt(len(x)), lambda x: np.tile(x, (len(x), 1)),
    lambda x: np.roll(x, len(x) // 2), lambda x: np.fft.fftshift(x), lambda x: np.indices(x.shape)[0] + x,
    lambda x: np.repeat(x, 2)[: len(x)], lambda x: x + float(len(x)) ** 0.5,
    lambda x: np.stack([x, np.arange(x.shape[0])]), lambda x: np.broadcast_to(x, (3, len(x))),
    lambda x: np.concatenate([x, np.zeros(2 * len(x) + 1)]), lambda x: np.where(np.arange(len(x)) < len(x) - 1, x, 0),
    lambda x: np.cumsum(x) / len(x),
    lambda x: x - np.mean(x), lambda x: divmod(len(x), 2)[0] * x, lambda x: np.clip(x, 0, len(x)), lambda x: (len(x) << 1) * x,
    lambda x: -len(x) + x,
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_sizes_that_become_numbers(fn):
    module = check(fn, V, sizes=(1, 2, 3, 6, 7, 12))
    assert told(module) in ([], ["x.shape[0] != 0"])


@pytest.mark.parametrize("fn", [
    lambda x: np.percentile(x, 30), lambda x: np.quantile(x, [0.1, 0.5], axis=0), lambda x: np.median(x),
    lambda x: np.pad(x, 2, mode="edge"),
    lambda x: np.pad(x, 3, mode="reflect"), lambda x: np.pad(x, (1, 4), mode="symmetric"), lambda x: np.pad(x, 2, mode="wrap"),
    lambda x: np.pad(x, (0, 2 * len(x))), lambda x: np.unwrap(x), lambda x: np.interp(x, np.sort(x) + np.arange(len(x)), x),
    lambda x: np.diff(x),
    lambda x: np.gradient(x), lambda x: np.trapezoid(x), lambda x: np.convolve(x, [1.0, 2.0, 1.0], "same"),
    lambda x: np.histogram(x, bins=4)[0],
    lambda x: np.linspace(0, 1, len(x)) * x, lambda x: np.hanning(len(x)) * x, lambda x: np.var(x, ddof=1), lambda x: np.take(x, [0, 1]),
    lambda x: np.searchsorted(np.sort(x), x), lambda x: np.argsort(x, kind="stable"), lambda x: np.average(x),
])  # fmt: skip
def test_rules_that_ask_for_sizes(fn):
    module = check(fn, V, sizes=(2, 3, 4, 6, 7, 12, 13), free=False)
    assert all(g.holds([(n,)]) for g in module.face.guards for n in (4, 6, 7, 12, 13)), told(module)


def stencil(u):
    for _ in range(2):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


def views(x):
    y = x.copy()
    v = y[1:-1]
    v += x[:-2]
    w = y.reshape(1, -1)
    w[0, ::2] = 7
    return y, v, w


def transposed(x):
    y = x * 2
    v = y.T
    v[0] = 5
    np.swapaxes(y, 0, 1)[1:] *= 2
    y[:, 0] -= 1
    return y, v


def columns(x):
    y = np.zeros((len(x), 3))
    y[:, 0] = x
    y[:, 1] = np.arange(len(x))
    y[:, 2] = y[:, 0] * y[:, 1]
    return y


def halves(x):
    y = np.empty(len(x))
    a, b = y[: len(x) // 2], y[len(x) // 2 :]
    a[...] = 1
    b[...] = x[len(x) // 2 :]
    a *= 3
    return y


def complex_parts(x):
    y = x + 1j * x
    y.real[1:] = 3
    y.imag += 1
    return y


def ellipsis_views(x):
    y = x.copy()
    v = y[1, ...]
    v += 2
    w = y[..., 0]
    w *= 10
    np.add(y[:, 1:], 1, out=y[:, 1:])
    return y


WRITING = [(stencil, V), (views, V), (transposed, M), (columns, V), (halves, V), (complex_parts, V), (ellipsis_views, M)]


@pytest.mark.parametrize(("fn", "shape"), WRITING)
def test_writes_through_views(fn, shape):
    module = check(fn, shape, sizes=(2, 3, 4, 6, 7, 12))
    assert told(module) == []


@pytest.mark.parametrize(("fn", "guards", "other"), [
    (lambda x: x * 2 if len(x) > 4 else x, ["x.shape[0] > 4"], 4),
    (lambda x: x * 2 if len(x) % 2 else x, ["(x.shape[0] % 2) != 0"], 6),
    (lambda x: x[min(len(x), 3) - 1], ["x.shape[0] > 3"], 3),
    (lambda x: sum(x[i] * i for i in range(len(x))), ["x.shape[0] == 5"], 6),
    (lambda x: np.stack([row + 1 for row in x]), ["x.shape[0] == 5"], 6),
    (lambda x: x * {5: 2.0, 6: 3.0}[len(x)], ["x.shape[0] == 5"], 6),
    (lambda x: x * [0, 1, 2, 3, 4, 5, 6][len(x)], ["x.shape[0] == 5"], 6),
    (lambda x: x * len(f"{len(x)}"), ["x.shape[0] == 5"], 12),
    (lambda x: x * (3 if x.shape == (5,) else 2), ["x.shape[0] == 5"], 6),
    (lambda x: x * np.random.RandomState(len(x)).__class__.__name__.count("R"), ["x.shape[0] == 5"], 6),
    (lambda x: x[np.arange(len(x)) % 2 == 0], ["x.shape[0] == 5"], 6),
    (lambda x: x * 2 if np.arange(len(x)).sum() > 9 else x, ["x.shape[0] == 5"], 4),
    (lambda x: x * np.linspace(0, 1, len(x))[2].item().__class__(3), ["x.shape[0] > 1"], 1),
])  # fmt: skip
def test_what_decides_is_a_guard(fn, guards, other):
    module = check(fn, V, sizes=(1, 4, 5, 6, 12), free=False)
    assert set(told(module)) >= set(guards), told(module)
    assert not all(g.holds([(other,)]) for g in module.face.guards)


def test_guards_name_the_line():
    def f(x):
        y = x * 2
        return y if len(y[1:]) > 3 else x

    module = np2fx.trace(f, np.ones(5))
    ((guard, (path, line, name)),) = module.face.guards.items()
    assert guard.told(["x"]) == "max((x.shape[0] - 1), 0) > 3"
    assert path == __file__ and line == f.__code__.co_firstlineno + 2 and name == "f"


def test_a_size_that_comes_out_of_arithmetic_of_floats():
    """It makes arrays: of the sample's size, for which the graph then holds."""

    def framed(x):
        count = math.ceil((1.0 * len(x) - 2) / 2)
        return np.zeros((count, 2)) + x[0], x[np.arange(0, count * 2, 2)], np.ones(int(len(x) / 2.5)) * x[0]

    graph = np2fx.trace(framed, *_arrays([(5,)], float))
    (given,) = _arrays([(5,)], float)
    _same(framed(given), graph(torch.from_numpy(given)))
    with pytest.raises(np2fx.TraceError, match="holds only for the shapes"):
        graph(torch.zeros(10, dtype=torch.float64))


def test_a_size_is_an_int_to_the_function():
    def f(x):
        n = len(x)
        assert isinstance(n, int) and type(n) is int and type(x.shape) is tuple and isinstance(x.size, int)
        assert n == 5 and n != 6 and n in (4, 5) and not n < 5 and hash(n) == hash(5) and f"{n:03d} {n}" == "005 5"
        assert {n: 1} == {5: 1} and [0] * n == [0] * 5 and list(range(n)) == [0, 1, 2, 3, 4] and int(n) == 5 and bool(n)
        assert n // 2 == 2 and n % 3 == 2 and n**2 == 25 and -n == -5 and abs(-n) == 5
        assert n & 1 and n >> 1 == 2 and n << 1 == 10 and n | 2 == 7
        assert n / 2 == 2.5 and 2 * n == 10 and 7 - n == 2 and divmod(n, 3) == (1, 2) and round(n) == 5 and n.bit_length() == 3
        assert max(n, 2) == 5 and min(n, 2) == 2 and sorted([n, 1]) == [1, 5] and sum([n, 1]) == 6 and n > 4.5
        return x * n

    module = np2fx.trace(f, np.ones(5))
    np.testing.assert_array_equal(module(torch.ones(5, dtype=torch.float64)), np.full(5, 5.0))
    assert "x.shape[0] == 5" in told(module)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.complex64])
@pytest.mark.filterwarnings("ignore")
def test_weak_in_promotion(dtype):
    check(lambda x: (x * len(x), x / len(x), len(x) - x, x * (len(x) / 2), x + x.size), V, dtype=dtype, sizes=(1, 2, 7))
    check(lambda x: (x * np.int64(len(x)), np.float32(1) * len(x), x + np.prod(x.shape)), V, dtype=dtype, sizes=(1, 2, 7))


def test_a_size_that_the_dtype_cannot_hold():
    module = np2fx.trace(lambda x: x * len(x), np.ones(5, np.int8))
    assert module(torch.ones(7, dtype=torch.int8)).tolist() == [7] * 7
    with pytest.raises(OverflowError):
        module(torch.ones(200, dtype=torch.int8))


def test_caches_and_libraries_get_ints():
    seen = []

    @functools.lru_cache
    def window(n):
        seen.append(type(n))
        return np.hanning(n)

    check(lambda x: x * window(len(x)), V, sizes=(4, 5, 6), free=False)
    assert set(seen) == {int}


def test_what_outlives_the_trace_is_an_int():
    kept = {}

    def f(x):
        kept.setdefault("n", len(x))
        return x * 2

    np2fx.trace(f, np.ones(5))
    assert kept["n"] == 5 and torch.zeros(kept["n"]).shape == (5,) and isinstance(kept["n"], int)


def test_several_arrays():
    def f(x, y):
        if len(x) != len(y):
            raise ValueError("lengths")
        return x[: len(y) // 2] @ np.arange(len(y) // 2), x.mean(0) + y.sum() / len(x)

    module = check(f, V, V)
    assert told(module) == ["x.shape[0] == y.shape[0]"]
    with pytest.raises(ValueError, match="lengths"):
        module(torch.ones(5, dtype=torch.float64), torch.ones(6, dtype=torch.float64))


def test_loops_and_branches_on_values():
    def loop(x):
        total = 0.0
        while total < 10.0:
            total = total + np.abs(x).sum() / len(x) + 1
        return total * np.ones(len(x))

    def branch(x):
        return x[: len(x) // 2] * 2 if x.sum() > 0 else x[: len(x) // 2] - len(x)

    check(loop, V, sizes=(2, 3, 7))
    check(branch, V, sizes=(1, 2, 3, 7))


def test_exports_keep_sizes():
    def f(x):
        return x.sum(0) / len(x), x[1 : x.shape[0] - 1], np.arange(len(x)) * x[:, 0], np.roll(x[:, 0], len(x) // 2), np.roll(x, -len(x))

    module = np2fx.trace(f, *_arrays([(6, 3)], np.float64))
    (other,) = _arrays([(9, 3)], np.float64)
    want = f(other)
    rows = torch.export.Dim("rows", min=4)
    exported = torch.export.export(module, (torch.ones(6, 3, dtype=torch.float64),), dynamic_shapes=({0: rows},), strict=False).module()
    scripted = torch.jit.trace(module, (torch.ones(6, 3, dtype=torch.float64),), check_trace=False)
    for exported_as in (exported, scripted, torch.fx.Interpreter(module).run):
        _same(want, exported_as(torch.from_numpy(other)))


# Extents

N, K = ("in", 0, 0), ("in", 1, 0)


def test_extents_are_equal_where_they_are_for_all_sizes():
    assert extents.add(extents.add(N, 1), 1, -1) == N
    assert extents.floordiv(extents.mul(N, 4), 2) == extents.mul(N, 2) and extents.mod(extents.mul(N, 4), 2) == 0
    assert extents.mul(N, K) == extents.mul(K, N)
    assert extents.window(N, slice(1, None)) == extents.window(N, slice(None, -1)) == extents.largest(extents.add(N, -1), 0)
    assert extents.window(extents.window(N, slice(1, None)), slice(None)) == extents.window(N, slice(1, None))


KEYS = [slice(a, b, s) for a in (None, 0, 1, 3, -1, -3) for b in (None, 0, 2, 5, -1, -2) for s in (None, 1, 2, -1)]


@pytest.mark.parametrize("key", KEYS)
def test_windows(key):
    extent = extents.window(N, key)
    assert [extents.evaluate(extent, [(n,)]) for n in range(9)] == [len(range(n)[key]) for n in range(9)]


@pytest.mark.parametrize("relation", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_decided_without_a_guard(relation):
    pairs = [(extents.add(N, 1), 0), (N, extents.add(N, 2)), (N, -1), (extents.mul(N, K), -1), (extents.window(N, slice(2, None)), -2)]
    for a, b in [*pairs, (N, N), (N, 3), (N, K)]:
        shapes = [((n,), (k,)) for n in range(6) for k in range(6)]
        truths = {getattr(operator, relation)(extents.evaluate(a, s), extents.evaluate(b, s)) for s in shapes}
        decided = extents.compare(relation, a, b)
        assert decided is None or truths == {decided}
    assert extents.compare(relation, N, 3) is None
    assert extents.compare("ge", N, 0) is True and extents.compare("eq", extents.add(N, 1), 0) is False


def test_guards_hold_or_not():
    assert Guard.asked("gt", N, 6, True).holds([(7,)]) and not Guard.asked("gt", N, 6, False).holds([(7,)])
    assert not Guard("eq", ("floordiv", 6, N), 2).holds([(0,)])


def test_bools_to_the_power_of_a_size():
    def powers(x, m):
        n = len(x)
        y = m**n
        y += 100
        return y, m ** (n - 1), [q**n for q in (m, m.astype("int32"), m[0])], n**m, pow(m, n)

    m = np.array([True, False, True])
    for n in (1, 2, 3, 4):
        graph = np2fx.trace(powers, np.zeros(n), m)
        for k in (1, 2, 3, 4, 5, 8):
            want = powers(np.zeros(k), m)
            try:
                got = graph(np.zeros(k), m)
            except np2fx.TraceError as refused:
                assert k != n, refused
                continue
            for a, b in zip((*got[:2], *got[2], *got[3:]), (*want[:2], *want[2], *want[3:]), strict=True):
                assert a.numpy().dtype == b.dtype and np.array_equal(a.numpy(), b), (n, k)


def test_arrays_of_many_dimensions_are_tried_at_sizes_that_are_not_much_larger():
    graph = np2fx.trace(lambda x: x[:, 1, :, 1, :, 1], np.arange(64).reshape(2, 2, 2, 2, 2, 2))
    x = np.arange(729).reshape(3, 3, 3, 3, 3, 3)[:2, :, :2]
    np.testing.assert_array_equal(graph(x).numpy(), x[:, 1, :, 1, :, 1])
    assert all(size < 0 for size in graph.face.forms[0][1])
