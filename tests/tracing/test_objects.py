"""Methods as nodes: arrays of `self` are constants of the graph, numbers are what it is specialised on, attributes are not set."""

from __future__ import annotations

import collections
import dataclasses
import functools

import np2fx
import numpy as np
import pytest
import torch


class Bias:
    def __init__(self):
        self.values = np.array([1.0, 2.0, 3.0])


class Normaliser:
    def __init__(self):
        self.mean, self.factor, self.bias = np.ones(3), 2, Bias()
        self.tables = {"knots": [np.array([10.0, 20.0, 30.0])]}

    def __call__(self, x):
        return self.scaled(x - self.mean)

    def scaled(self, x):
        return x * self.factor + self.bias.values

    def picked(self, i):
        return self.tables["knots"][0][i]

    def counting(self, x):
        self.factor = self.factor + 1
        return x * self.factor

    def adapting(self, x):
        self.mean += x
        return self.mean


def test_arrays_of_self_are_buffers():
    n = Normaliser()
    graph = np2fx.trace(n, np.arange(3.0))
    x = np.array([4.0, 5.0, 6.0])
    np.testing.assert_array_equal(graph(torch.from_numpy(x)), n(x))
    assert len(dict(graph.named_buffers())) == 2
    assert graph.to("meta")(torch.empty(3, dtype=torch.float64, device="meta")).shape == (3,)


def test_an_array_of_self_is_picked_from_at_a_traced_position():
    n = Normaliser()
    graph = np2fx.trace(n.picked, np.array([1, 2]))
    assert graph(torch.tensor([2, 0])).tolist() == [30.0, 10.0]


@pytest.mark.parametrize("method", ["counting", "adapting"])
def test_what_would_outlive_the_call_is_refused(method):
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(getattr(Normaliser(), method), np.ones(3))
    assert refused.value.findings[0].name == "side-effect"


def test_the_object_is_as_it_was():
    n = Normaliser()
    held = dict(vars(n))
    np2fx.trace(n, np.arange(3.0))
    assert vars(n).keys() == held.keys()
    assert all(vars(n)[k] is held[k] for k in held)
    assert type(n.mean) is np.ndarray


@dataclasses.dataclass
class Observation:
    q: np.ndarray

    def __post_init__(self):
        self.n, self.doubled = len(self.q), self.q * 2

    @functools.cached_property
    def spread(self):
        return self.q.std()


@dataclasses.dataclass(slots=True)
class Slotted:
    q: np.ndarray
    later: float = dataclasses.field(init=False)


class Wider(Slotted):
    __slots__ = ("w",)

    def __init__(self, q):
        super().__init__(q)
        self.w = q * 3


A = np.array([1.0, 2.0, 4.0])


def test_what_a_dataclass_holds_beside_its_fields():
    graph = np2fx.trace(lambda o: o.q * o.n + o.doubled, Observation(A))
    assert torch.equal(graph(Observation(torch.from_numpy(A))), torch.from_numpy(A * 5))
    with pytest.raises(np2fx.TraceError, match="o_n is 4, and was 3"):
        graph(Observation(torch.ones(4, dtype=torch.float64)))
    graph = np2fx.trace(lambda o: o.q + o.w, Wider(A))
    assert torch.equal(graph(Wider(torch.from_numpy(A))), torch.from_numpy(A * 4))


def test_a_dataclass_that_is_returned_keeps_what_was_set_on_it():
    made = np2fx.trace(lambda x: Observation(x * 2), A)(torch.from_numpy(A))
    assert vars(made).keys() == {"q", "n", "doubled"} and made.n == 3
    assert torch.equal(made.doubled, torch.from_numpy(A * 4))


def test_setting_an_attribute_of_a_dataclass_is_seen():
    def function(o):
        o.last = o.q * 2
        return o.q

    with pytest.raises(np2fx.TraceError, match="last"):
        np2fx.trace(function, Observation(A))


def test_what_a_cached_property_keeps_is_no_attribute():
    def function(o):
        return o.q * o.spread

    held, want = Observation(A), function(Observation(A))
    for _ in range(2):  # the second time the property is in the object already
        graph = np2fx.trace(function, held)
        assert np.allclose(graph(Observation(torch.from_numpy(A))), want)
        assert np.array_equal(function(held), want)
        assert np.allclose(graph(held), want)
    held.q[:] = 5  # what the property keeps is no longer what it would compute
    with pytest.raises(np2fx.TraceError):
        graph(held)


class Plain:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(("function", "said"), [
    (lambda x: Plain(x), "returns a Plain that holds arrays"),
    (lambda x: [x, {"a": Plain(x + 1)}], "returns a Plain that holds arrays"),
    (lambda x: lambda y: x + y, "returns a function that holds arrays"),
    (lambda x: collections.deque([x]), "returns a deque that holds arrays"),
    (lambda x: map(np.abs, [x]), "returns a map that holds arrays"),
])  # fmt: skip
def test_what_no_graph_can_return(function, said):
    with pytest.raises(np2fx.TraceError, match=said):
        np2fx.trace(function, A)


@pytest.mark.parametrize("function", [
    lambda x: (x, np.array(["a"])),
    lambda x: np.array([1, None]),
    lambda x: {"when": np.array(["2020-01-01"], "M8[D]"), "x": x},
    lambda x: np.array(["a", "b"])[0],
])  # fmt: skip
def test_what_no_tensor_can_hold(function):
    with pytest.raises(np2fx.TraceError, match="the function returns what no tensor holds") as raised:
        np2fx.trace(function, A)
    assert raised.value.findings[0].name == "object-dtype"


def test_all_arguments_of_nan_to_num():
    x = np.array([np.nan, np.inf, -np.inf, 1.0])
    for function in (
        lambda x: np.nan_to_num(x, True, 2.0, 3.0, 4.0),
        lambda x: np.nan_to_num(x.copy(), False, 2.0, 3.0, 4.0),
        lambda x: np.nan_to_num(x, nan=2.0),
    ):
        assert np.array_equal(np2fx.trace(function, x)(torch.from_numpy(x)), function(x))


@pytest.mark.parametrize(("function", "said"), [
    (lambda x: [v * 2 for v in np.nditer(x, flags=["external_loop"])], "with external_loop"),
    (lambda x: [v * 2 for v in np.nditer([x, x])], "with more than one array"),
])  # fmt: skip
def test_what_nditer_cannot_do(function, said):
    with pytest.raises(np2fx.TraceError, match=said):
        np2fx.trace(function, A)


class Attributed(collections.namedtuple("Attributed", "a")):
    pass


class Raised(collections.namedtuple("Raised", "a k")):
    def __new__(cls, a, k=1):
        return super().__new__(cls, a, k + 1)


class Twice(collections.namedtuple("Twice", "a b")):
    def __new__(cls, a):
        return super().__new__(cls, a, a)


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)

    def update(self, *others, **more):
        for key, value in dict(*others, **more).items():
            self[key] = value


class Turned(dict):
    def __iter__(self):
        return reversed(list(super().keys()))

    def values(self):
        return [v + 1 for v in super().values()]


def attributed(x, k=3):
    made = Attributed(x)
    made.k = k
    return made


def moved(x):
    made = collections.OrderedDict(a=x, b=x * 2)
    made.move_to_end("a")
    return made


def doubled(x):
    made = Doubling()
    made["a"] = x
    return made


MADE = {
    "Counter": (lambda x: collections.Counter(a=x, n=2), lambda c: c["a"] * c["n"] * (1 + c["none"])),
    "attribute": (attributed, lambda c: c.a * c.k),
    "array as attribute": (lambda x: attributed(x, x + 1), lambda c: c.a * c.k),
    "new that changes": (lambda x: Raised(x, 1), lambda c: c.a * c.k),
    "new with other parameters": (lambda x: Twice(x + 0), lambda c: c.a * c.b),
    "OrderedDict": (moved, lambda c: np.concatenate(list(c.values()))),
    "defaultdict": (lambda x: collections.defaultdict(int, a=x), lambda c: c["a"] + len(c)),
    "setter that changes": (doubled, lambda c: c["a"]),
    "reader that changes": (lambda x: Turned(a=x, b=x * 2), lambda c: np.concatenate(list(c.values()))),
}  # fmt: skip


def raw(x):
    """What a container holds, whatever its class says."""
    if isinstance(x, dict):
        return [part for key in (list(x) if type(x) is collections.OrderedDict else dict.keys(x)) for part in (key, dict.get(x, key))]
    return [*x, *vars(x).values()] if isinstance(x, tuple) else [x]


@pytest.mark.parametrize("name", MADE)
def test_subclasses_of_dicts_and_named_tuples(name):
    """Given, given back, and both: they are what they are with NumPy, and are not changed."""
    make, use = MADE[name]
    x, t = np.array([1.0, -2.0, 3.0]), torch.tensor([5.0, 0.5, -1.0], dtype=torch.float64)
    for function, of in ((use, make), (make, lambda v: v), (lambda c: c, make), (lambda v: use(make(v)), lambda v: v)):
        sample = of(x)
        graph = np2fx.trace(function, sample)
        want, got = function(of(t.numpy())), graph(of(t))
        assert isinstance(want, np.ndarray) or type(got) is type(want)
        for a, b in zip(raw(want), raw(got), strict=True):
            assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(raw(sample), raw(of(x)), strict=True):
            assert np.array_equal(a, b)


def test_an_attribute_of_a_named_tuple_is_told_apart():
    graph = np2fx.trace(lambda c: c.a * c.k, attributed(np.ones(2)))
    with pytest.raises(np2fx.TraceError, match="k is 4"):
        graph(attributed(np.ones(2), 4))

    def sets(c):
        c.k = 5
        return c.a

    with pytest.raises(np2fx.TraceError, match="side-effect"):
        np2fx.trace(sets, attributed(np.ones(2)))


def test_a_named_tuple_that_changes_what_it_is_given_goes_to_numpy():
    graph = np2fx.trace(lambda x: (np.concatenate(Twice(x)), np.stack(Raised(x, x))), np.ones(2))
    both, stacked = graph(torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert both.tolist() == [1, 2, 1, 2] and stacked.tolist() == [[1, 2], [2, 3]]


def doubled(held):
    return [v * 2 for v in (held.values() if isinstance(held, dict) else held) if isinstance(v, np.ndarray)]


X = np.ones(2)


@pytest.mark.parametrize(
    "held", [{doubled: X, 1: X + 1}, {1: X, "call": doubled}, [X, doubled], {1: X, doubled: 2}], ids=["keys", "values", "list", "other"]
)
def test_functions_beside_arrays_in_what_is_passed(held):
    graph = np2fx.trace(doubled, held)
    assert [v.tolist() for v in graph(held)] == [v.tolist() for v in doubled(held)]
