"""What a graph is specialised on beside sizes: orders of keys, layouts in memory, contents of objects, bits of floats."""

from __future__ import annotations

import array
import collections
import contextlib
import copy
import dataclasses
import datetime
import decimal
import functools
import math
import time
import types

import np2fx
import numpy as np
import pytest
import torch


def same_or_refused(fn, sample, call, finding=None):
    """The graph traced for `sample` gives for `call` what NumPy gives; with `finding` it refuses the call."""
    graph = np2fx.trace(fn, *sample())
    given = call()
    if finding is not None:
        with pytest.raises(np2fx.TraceError) as refused:
            graph(*given)
        assert [f.name for f in refused.value.findings] == [finding]
        return
    mine = call()
    want, got = fn(*mine), graph(*given)
    np.testing.assert_array_equal(np.asarray(got), want)
    for a, b in zip(mine, given, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(b, a)


A, B = np.array([1.0, 2.0]), np.array([30.0, 40.0])


def by_key(d):
    return d["a"] - d["b"]


def in_order(d):
    first, second = d.values()
    return first - second


def nested(d):
    return np.concatenate(list(d["inner"].values()))


@pytest.mark.parametrize(("fn", "sample", "call", "finding"), [
    (by_key, {"a": A, "b": B}, {"b": B, "a": A}, None),
    (in_order, {"a": A, "b": B}, {"b": B, "a": A}, "python-value"),
    (nested, {"inner": {"a": A, "b": B}}, {"inner": {"b": B, "a": A}}, "python-value"),
    (lambda d: {k: v + 1 for k, v in d.items()}, {"a": A, "b": B}, {"b": B, "a": A}, "python-value"),
    (lambda d: d["x"] * next(iter(d["k"].values())), {"x": A, "k": {"p": 2, "q": 3}}, {"x": A, "k": {"q": 3, "p": 2}}, "python-value"),
    (lambda d: d["x"] * d["k"]["q"], {"x": A, "k": {"p": 2, "q": 3}}, {"x": A, "k": {"q": 3, "p": 2}}, None),
    (lambda d: d["a b"] - d["a_b"], {"a b": A, "a_b": B}, {"a_b": B, "a b": A}, None),
    (lambda d: np.subtract(*d.values()), {"a b": A, "a_b": B}, {"a_b": B, "a b": A}, "python-value"),
])  # fmt: skip
def test_the_order_of_keys(fn, sample, call, finding):
    same_or_refused(fn, lambda: (sample,), lambda: (call,), finding)


def test_the_order_of_keyword_arguments():
    def total(**arrays):
        return np.concatenate(list(arrays.values()))

    graph = np2fx.trace(total, a=A, b=B)
    assert graph(a=A, b=B).tolist() == [1, 2, 30, 40]
    with pytest.raises(np2fx.TraceError):
        graph(b=B, a=A)


def centred(x):
    y = x.reshape(-1)
    y -= y.mean()
    return y


def across(x):
    y = x.T.reshape(-1)
    y += 1
    return x * 2


LAYOUTS = {
    "C": lambda: np.arange(12.0).reshape(3, 4),
    "F": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "gaps": lambda: np.arange(24.0).reshape(3, 8)[:, ::2],
    "rows": lambda: np.arange(24.0).reshape(6, 4)[::2],
    "back": lambda: np.arange(12.0).reshape(3, 4)[::-1],
    "turned": lambda: np.arange(12.0).reshape(3, 4)[::-1, ::-1],
}


@pytest.mark.parametrize("fn", [
    centred, across, lambda x: x.ravel("K"), lambda x: x.ravel("A"), lambda x: x.flatten("A"), lambda x: x.reshape(-1, order="A"),
    lambda x: np.copy(x).ravel("K"), lambda x: (x + 1).ravel("K"), lambda x: x.ravel("F") * 2, lambda x: x * 2 + x.sum(0),
], ids=["centred", "across", "ravel K", "ravel A", "flatten A", "reshape A", "copy", "sum", "ravel F", "plain"])  # fmt: skip
def test_the_layout_of_an_argument(fn):
    for sample in LAYOUTS.values():
        try:
            graph = np2fx.trace(fn, sample())
        except np2fx.TraceError:
            continue
        for call in LAYOUTS.values():
            mine, given = call(), call()
            want = fn(mine)
            try:
                got = graph(given)
            except np2fx.TraceError as refused:
                assert call is not sample
                assert [f.name for f in refused.findings] == ["specialised-size"]
                continue
            np.testing.assert_array_equal(got.numpy(), want)
            np.testing.assert_array_equal(given, mine)


def test_code_that_asks_for_no_layout_takes_all():
    graph = np2fx.trace(lambda x: x.reshape(-1) * 2, np.ones((3, 4)))
    for call in LAYOUTS.values():
        np.testing.assert_array_equal(graph(call()).numpy(), call().reshape(-1) * 2)
    assert graph(torch.ones(4, 3, dtype=torch.float64).T).tolist() == [2.0] * 12


@dataclasses.dataclass
class Config:
    gain: float
    tables: dict = dataclasses.field(default_factory=dict)
    unused: int = 0


class Slotted:
    __slots__ = ("gain", "tables", "unused")

    def __init__(self, gain):
        self.gain, self.tables, self.unused = gain, {}, 0


@pytest.mark.parametrize("kind", [Config, Slotted])
def test_an_object_changed_after_the_trace(kind):
    c = kind(2.0)
    c.tables["k"] = [1, 2]
    graph = np2fx.trace(lambda x, c: x * c.gain + c.tables["k"][0], A, c)
    assert graph(A, c).tolist() == [3, 5]
    c.unused = 5
    assert graph(A, c).tolist() == [3, 5]
    for change, back in ((lambda: setattr(c, "gain", 3.0), lambda: setattr(c, "gain", 2.0)),
                         (lambda: c.tables["k"].__setitem__(0, 9), lambda: c.tables["k"].__setitem__(0, 1))):  # fmt: skip
        change()
        with pytest.raises(np2fx.TraceError) as refused:
            graph(A, c)
        assert refused.value.findings[0].name == "python-value"
        back()
        assert graph(A, c).tolist() == [3, 5]


def test_an_array_in_an_object_changed_after_the_trace():
    class Holder:
        def __init__(self):
            self.table = np.array([1.0, 2.0])

    h = Holder()
    graph = np2fx.trace(lambda x, h: x * h.table, A, h)
    assert graph(A, h).tolist() == [1, 4]
    h.table[0] = 7
    assert graph(A, h).tolist() == [7, 4]  # it is an input, as what a dict holds


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v], lambda v: {"k": (v,)}, lambda v: complex(1, v), functools.partial(Config)])
def test_a_zero_has_a_sign(wrap):
    graph = np2fx.trace(lambda x, k: x * 2, A, wrap(0.0))
    assert graph(A, wrap(0.0)).tolist() == [2, 4]
    graph = np2fx.trace(lambda x, k: x * math.copysign(1, _number(k)), A, wrap(0.0))
    try:
        assert graph(A, wrap(-0.0)).tolist() == [-1, -2]
    except np2fx.TraceError:
        assert type(wrap(0.0)) is not float


def _number(k):
    while not isinstance(k, float):
        k = k[0] if isinstance(k, (list, tuple)) else k["k"] if isinstance(k, dict) else k.imag if isinstance(k, complex) else k.gain
    return k


def test_nan_is_nan():
    graph = np2fx.trace(lambda x, k: x * k, A, float("nan"))
    assert np.isnan(graph(A, float("nan"))).all()


def test_a_defaultdict():
    d = collections.defaultdict(lambda: A, a=A)
    graph = np2fx.trace(lambda x, d: x + d["a"], B, d)
    assert graph(B, d).tolist() == [31, 42]
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(lambda x, d: x + d["new"], B, d)
    assert refused.value.findings[0].name == "side-effect"
    assert list(d) == ["a"]


def test_the_error_of_numpy_at_another_size():
    graph = np2fx.trace(lambda x, y: x + y, A, B)
    with pytest.raises(ValueError, match="could not be broadcast"):
        graph(np.ones(2), np.ones(3))


def inverted_number(x):
    return 1 / float(x[0])


def divided(x):
    try:
        return x * inverted_number(x)
    except ArithmeticError:
        return x


def rooted(x):
    try:
        v = math.sqrt(x[0])
    except ValueError:
        v = 0.0
    return x * v


def inverted(x):
    try:
        return np.linalg.inv(np.diag(x))
    except np.linalg.LinAlgError:
        return x


def suppressed(x):
    with contextlib.suppress(ZeroDivisionError):
        return x * inverted_number(x)
    return x


def finished(x):
    y = x
    while True:
        try:
            y = x * inverted_number(x)
        finally:
            break  # noqa: B012
    return y


def picked(x):
    try:
        return x[np.argmax(x) + 1]
    except (IndexError, KeyError):
        return x[0]


@pytest.mark.parametrize("fn", [divided, rooted, inverted, suppressed, finished, picked])
def test_an_exception_over_values_that_would_be_caught_is_refused(fn):
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(fn, np.array([2.0, 5.0, 3.0]))
    assert [f.name for f in refused.value.findings] == ["data-dependent-branch"]


def unrelated(x):
    try:
        return x * inverted_number(x)
    except KeyError:
        return x


def raised_again(x):
    try:
        return x * inverted_number(x)
    except ZeroDivisionError as problem:
        raise ValueError("zero") from problem


def outside(x):
    try:
        factor = {}["a"]
    except KeyError:
        factor = 2.0
    return x * inverted_number(x) * factor


def at_fixed_places(x):
    try:
        y = x.copy()
        y[1:] = 0
        y[[0, 1]] = x[[1, 0]]
        return y[y > 0]
    except Exception:
        return x


@pytest.mark.parametrize("fn", [unrelated, raised_again, outside, at_fixed_places])
def test_what_catches_no_exception_over_values_is_traced(fn):
    x = np.array([2.0, 5.0, 3.0])
    np.testing.assert_array_equal(np2fx.trace(fn, x)(torch.from_numpy(x)).numpy(), fn(x))


def test_a_complex_nan_is_the_same_constant_in_two_traces():
    report = np2fx.verify(lambda x: np.where(np.isnan(x), np.nan + 0j, x), np.array([1.0, 2.0]), max_examples=5)
    assert report.ok, report


def test_views_of_equal_arrays_are_views_of_arrays_of_their_own():
    def parts(x):
        a, b = x + 1, x + 1
        return a[0:3], b[1:4]

    p, q = np2fx.trace(parts, np.arange(4.0))(torch.arange(4.0, dtype=torch.float64))
    p[1] = 100
    assert q.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_equal_arrays_stay_two_beside_a_branch(sign):
    def three(x):
        a, b = x + 1, x + 1
        c = x * 2 if x[0] > 0 else x * 3
        return a, b, c

    a, b, _ = np2fx.trace(three, np.ones(3))(torch.full((3,), sign, dtype=torch.float64))
    a[0] = 100
    assert b[0] == sign + 1


@pytest.mark.parametrize("clock", [time.process_time_ns, time.thread_time_ns, time.time_ns])
def test_no_clock_becomes_a_constant(clock):
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(lambda x: x + clock() // 10**6, np.ones(3))


def _in_zone(hours):
    return datetime.datetime(2020, 1, 1, 12 + hours, tzinfo=datetime.timezone(datetime.timedelta(hours=hours)))


class Named(datetime.date):
    pass


@pytest.mark.parametrize(("tells", "one", "other"), [
    (lambda v: v.hour, _in_zone(0), _in_zone(1)),
    (lambda v: v.fold, datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, fold=1)),
    (lambda v: v.fold, datetime.time(1), datetime.time(1, fold=1)),
    (lambda v: v.maxlen, collections.deque(maxlen=2), collections.deque(maxlen=3)),
    (lambda v: v.maxlen, collections.deque([1], 2), collections.deque([1], 3)),
    (lambda v: v.itemsize, array.array("i", [1]), array.array("d", [1])),
    (lambda v: len(str(v)), decimal.Decimal("1.50"), decimal.Decimal("1.5")),
    (lambda v: len(str(v)), decimal.Decimal("1"), decimal.Decimal("1.0")),
    (lambda v: len(str(v)), decimal.Decimal("0"), decimal.Decimal("-0")),
    (lambda v: len(v.metadata or ()), np.dtype("f4", metadata={"k": 1}), np.dtype("f4")),
    (lambda v: len(v["a"].metadata or ()), np.dtype([("a", np.dtype("f4", metadata={"k": 1}))]), np.dtype([("a", "f4")])),
    (lambda v: v.format == "i", memoryview(array.array("i", [1])), memoryview(array.array("l", [1]))),
    (lambda v: isinstance(next(iter(v.values())), bool), types.MappingProxyType({"k": 1}), types.MappingProxyType({"k": True})),
    (lambda v: len(str(next(iter(v)))), {decimal.Decimal("1.50"): 1}, {decimal.Decimal("1.5"): 1}),
    (lambda v: isinstance(next(iter(v)), bool), frozenset([1]), frozenset([True])),
], ids=lambda value: str(getattr(value, "__name__", value)).partition(" at 0x")[0])  # fmt: skip
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v], lambda v: {"k": (v,)}, Config], ids=["itself", "list", "dict", "object"])
def test_what_is_equal_and_not_the_same(tells, one, other, wrap):
    def node(x, k):
        while type(k) in (list, tuple, Config) or (type(k) is dict and "k" in k):
            k = k.gain if type(k) is Config else k[0] if type(k) in (list, tuple) else k["k"]
        return x * (2 + tells(k))

    for a, b in ((one, other), (other, one)):
        graph = np2fx.trace(node, A, wrap(a))
        np.testing.assert_array_equal(graph(A, wrap(a if type(a) in (memoryview, types.MappingProxyType) else copy.copy(a))), node(A, a))
        with pytest.raises(np2fx.TraceError) as refused:
            graph(A, wrap(b))
        assert refused.value.findings[0].name == "python-value"


def test_what_a_function_does_not_ask_of_an_object():
    graph = np2fx.trace(lambda x, v: x * v.year, A, _in_zone(0))
    np.testing.assert_array_equal(graph(A, _in_zone(1)), A * 2020)


def test_an_object_of_compiled_code_exchanged_after_the_trace():
    c = Config(decimal.Decimal("1.5"), {"when": datetime.date(2020, 1, 1)})
    graph = np2fx.trace(lambda x, c: x * float(c.gain) + c.tables["when"].day, A, c)
    np.testing.assert_array_equal(graph(A, c), A * 1.5 + 1)
    c.tables["when"] = Named(2020, 1, 2)
    with pytest.raises(np2fx.TraceError):
        graph(A, c)
    c.tables["when"], c.gain = datetime.date(2020, 1, 1), decimal.Decimal("2.5")
    with pytest.raises(np2fx.TraceError):
        graph(A, c)


def test_two_ways_that_return_equal_objects():
    def node(x):
        if x.sum() > 0:
            return x, decimal.Decimal("1.50")
        return x, decimal.Decimal("1.5")

    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(node, A)
    assert refused.value.findings[0].name == "data-dependent-branch"


def test_a_pick_that_nothing_uses_fails_where_numpy_fails():
    def f(x, y):
        y[2]
        return x * 2

    graph = np2fx.trace(f, np.ones(3), np.ones((3, 3)))
    x = torch.ones(3, dtype=torch.float64)
    assert graph.forward(x, torch.ones(4, 2, dtype=torch.float64)).tolist() == [2, 2, 2]
    with pytest.raises((IndexError, RuntimeError)):
        graph.forward(x, torch.ones(2, 2, dtype=torch.float64))


def test_a_pick_of_a_fixed_size_that_nothing_uses_is_no_node():
    def first(y):
        a, _, _ = y
        return a

    assert [n.args[1] for n in np2fx.trace(first, np.ones((3, 2))).graph.nodes if "getitem" in n.name] == [0]


def test_a_shape_that_nothing_uses_fails_where_numpy_fails():
    def f(x):
        x.reshape(10)
        return x

    graph = np2fx.trace(f, np.ones((2, 5)))
    with pytest.raises((ValueError, RuntimeError)):
        graph.forward(torch.ones(3, 6, dtype=torch.float64))


def test_einsum_of_small_integers_at_other_sizes():
    graph = np2fx.trace(lambda x, y: np.einsum("ij,kj->ik", y, x), np.ones((2, 2), np.int8), np.ones((2, 2), np.int8))
    for rows, columns in ((1, 1), (1, 3), (4, 1)):
        x, y = np.full((rows, columns), 100, np.int8), np.full((2, columns), 3, np.int8)
        got = graph.forward(torch.from_numpy(x), torch.from_numpy(y)).numpy()
        np.testing.assert_array_equal(got, np.einsum("ij,kj->ik", y, x), strict=True)
