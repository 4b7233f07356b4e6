"""Classes that compute where no call of them is written, and functions that use them."""

from __future__ import annotations

import copy
import functools
import math
import numbers
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np


@dataclass
class Observation:
    q: np.ndarray

    @property
    def std(self):
        return self.q.std()

    @property
    def spread(self):
        return self.q.std()

    @property
    def half(self):
        return self.q / self.q.std()

    @property
    def again(self):
        return self.spread

    @functools.cached_property
    def cached(self):
        return self.q.std()

    @property
    def scaled(self):
        return self.q

    @scaled.setter
    def scaled(self, value):
        self.q = value / value.std()

    def times(self, k):
        return self.q.std() * k

    def __call__(self, k):
        return self.q.std() + k

    def __neg__(self):
        return Observation(-self.q / self.q.std())

    def __abs__(self):
        return self.q.std()

    def __add__(self, other):
        return Observation(self.q + (other.q if isinstance(other, Observation) else other) * self.q.std())

    def __radd__(self, other):
        return Observation(other + self.q * self.q.std())

    def __matmul__(self, other):
        return other * self.q.std()

    def __lt__(self, other):
        return self.q.std() < other.q.std()

    def __eq__(self, other):
        return self.q.std() == other

    __hash__ = None

    def __float__(self):
        return float(self.q.std())

    def __bool__(self):
        return bool(self.q.std() > 1.75)

    def __len__(self):
        return int(self.q.std() * 1000)

    def __str__(self):
        return f"<{self.q.std():.4f}>"

    def __format__(self, spec):
        return f"<{spec}{self.q.std():.4f}>"

    def __enter__(self):
        return self.q.std()

    def __exit__(self, *error):
        return None

    def __contains__(self, value):
        return value > self.q.std()

    def __getitem__(self, key):
        return self.q.std() if key == "std" else self.q[key].std()

    def __delitem__(self, key):
        self.q = self.q / self.q.std()

    def __copy__(self):
        return Observation(self.q * self.q.std())

    def __round__(self, digits=0):
        return round(float(self.q.std()), digits)

    def __ceil__(self):
        return self.q.std()

    def __setitem__(self, key, value):
        self.q = value / value.std()

    def __iter__(self):
        return iter([self.q.std(), self.q.var(ddof=1)])

    def __getattr__(self, name):
        if name == "dynamic":
            return self.q.std()
        raise AttributeError(name)


class Pair(NamedTuple):
    q: np.ndarray
    k: float = 2.0

    @property
    def spread(self):
        return self.q.std()

    def times(self, k):
        return self.q.std() * k

    def std(self):
        return self.q.std() * self.k


class Plain:
    def __init__(self, q):
        self.q = q
        self.made = q.std()

    @classmethod
    def doubled(cls, q):
        return cls(q * 2)

    @property
    def spread(self):
        return self.q.std()

    def mean(self):
        return self.q.std()

    def of(self, held):
        return held["a"].std()


class Derived(Plain):
    def __init__(self, q):
        super().__init__(q * 2)
        self.kept = self.spread

    @property
    def spread(self):
        return super().spread * 2

    def mean(self):
        return super().mean() + super().of({"a": self.q})


class Counter:
    def __init__(self, q):
        self.q, self.n = q, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.q.std() * self.n


@dataclass
class Prepared:
    q: np.ndarray
    k: int = 2
    s: float = field(init=False)

    def __post_init__(self):
        self.q = np.asarray(self.q, np.float32)
        self.s = self.q.std()


@dataclass(frozen=True)
class Frozen:
    q: np.ndarray
    s: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "s", self.q.std())


class Table(dict):
    def __init__(self, q):
        super().__init__(a=q)
        self["std"] = q.std()

    def __missing__(self, key):
        return self["a"].std()


class Failure(Exception):
    def __init__(self, q):
        super().__init__("failed")
        self.spread = q.std()


def properties(x):
    o = Observation(x)
    name = "spread"
    return o.std, o.spread, o.again, o.cached, o.cached, o.dynamic, getattr(o, name), hasattr(o, "nothing"), getattr(o, "nothing", 3)


def truth(x):
    o, p = Observation(x * 1.08), Observation(x * 2)
    found = [1 if o else 2, not o, bool(o), [v.q for v in (o, p) if v]]
    if o or (p and not o):
        found.append(3)
    while o:
        found.append(4)
        o = Observation(x * 0)
    return found


def replaced(x):
    p = replace(Prepared(x), q=x * 2)
    spread = attrgetter("spread")(Observation(x)), attrgetter("q", "spread")(Plain(x))
    return p.s, replace(Frozen(x), q=x * 2).s, type(p) is Prepared, spread


def asked_by_functions(x):
    o = Observation(x)
    held = {"a": x, "b": o}
    del held["a"]
    del o["first"]
    return o.q, copy.copy(o).q, round(o, 3), math.ceil(o), len(held)


def set_by_a_property(x):
    o = Observation(x)
    o.scaled = x * 3
    return o.q


def called(x):
    o = Observation(x)
    return o.times(2), o(1)


def operators(x):
    o = Observation(x)
    return (-o).q, abs(o), (o + o).q, (o + 1).q, (1 + o).q, (o + x).q, o @ 2, o == x.std(), o != x.std(), sum([o, o], o).q


def ordered(x):
    a, b = Observation(x), Observation(x * 2)
    return a < b, a > b, max(a, b).q, sorted([b, a])[0].q


def updated(x):
    o = Observation(x)
    o += x
    return o.q


def numbered(x):
    o = Observation(x)
    return float(o), len(o), 0.01 in o, 99.0 in o


def shown(x):
    o = Observation(x)
    return str(o), f"{o}", f"{o:x}", f"{o!s}", "%s" % o, "{}".format(o), format(o, "y")  # noqa: UP031, UP032


def entered(x):
    with Observation(x) as s:
        return s


def items(x):
    o = Observation(x)
    first = o["std"], o[0]
    o["b"] = x * 3
    return first, o.q


def walked(x):
    o = Observation(x)
    a, b = o
    found = []
    for v in o:
        found.append(v)
    return a, b, found, [v for v in o], [*o], list(o), tuple(o), list(enumerate(o)), list(zip(o, o))  # noqa: B905, C416


def steps(x):
    c = Counter(x)
    return next(c), [v for v in c], next(c, None)  # noqa: C416


def made(x):
    return Plain(x).made, Plain(x).spread, Plain.doubled(x).made, Plain(x).mean(), [k(x).spread for k in (Plain, Derived)]


def derived(x):
    d = Derived(x)
    return d.made, d.kept, d.spread, d.mean(), type(d) is Derived


def prepared(x):
    p = Prepared(x, k=3)
    return p.q, p.s, p.k, type(p) is Prepared, Frozen(x).s, Frozen(x)


def table(x):
    t = Table(x)
    return t["std"], t["nothing"]


def failed(x):
    try:
        raise Failure(x)
    except Failure as failure:
        return failure.spread


def pair(x):
    p = Pair(x)
    return p.spread, p.times(3), p.std(), p._replace(q=x * 2).spread


def of(held):
    return held["a"].std()


def containers(x):
    filled = {}
    filled["a"] = x
    late = None
    if x.ndim == 2:
        late = {"a": x}
    return of({"a": x}), of({k: x * n for n, k in enumerate("ab", 1)}), of({**filled}), of({"a": x} | {"b": x}), of(filled), of(late)


def thunk(function):
    return function().std()


def functions(x):
    return thunk(lambda: x)


def mapped(tree):
    if isinstance(tree, dict):
        return {k: mapped(v) for k, v in tree.items()}
    if isinstance(tree, list):
        tree.append(1.0)
        return [mapped(v) if isinstance(v, np.ndarray) else v for v in tree]
    if hasattr(tree, "_replace"):
        return tree._replace(q=mapped(tree.q))
    return tree.std()


def trees(x):
    return mapped({"a": np.abs(x), "b": {"c": x}, "d": [x]}), mapped(x)


def matched(x):
    found = 1
    match x:
        case {"a": _} | [_, _]:
            found = 2
        case np.ndarray(ndim=2) if x.std() > 100:
            found = 3
        case np.ndarray(shape=(_, 3)):
            found = x
    match {"a": x, "b": [x, 2]}:
        case {"a": np.ndarray() as inner, "b": [np.ndarray(), k], **rest}:
            found = found + inner.std() * k + len(rest)
    match x.sum(), x.astype(np.float64).sum(), x.ndim:
        case np.floating(), float(double), int():
            return found + found.std(), double
        case _:
            return None


def tried(x):
    try:
        return x.unsqueeze(0)
    except AttributeError:
        return x * 2


def asked(x):
    held = {"a": x}
    try:
        return held["a"].unsqueeze(0)
    except AttributeError:
        return hasattr(x, "detach"), x.detach() if hasattr(x, "detach") else x


def halved(o):
    return o.half


def of_observation(o):
    return o.spread, o.times(2), o(3), float(o), f"{o}", -o < o, [*o]


def set_and_cache(o):
    o.scaled = o.q * 2
    return o.cached


def of_pair(p):
    return p.spread, p.times(3), p.std()


def beside(x):
    return x.sum() + Observation(x)


def a_number(x):
    match x.sum():
        case numbers.Real():
            return 1


def of_size(x):
    match x:
        case np.ndarray(size=6):
            return 1


FUNCTIONS = [asked_by_functions, truth, replaced, properties, set_by_a_property, called, operators, ordered, updated, numbered,
             shown, entered, items, walked, steps, made, derived, prepared, table, failed, pair, containers, functions, trees,
             matched, tried, asked, beside,
             a_number, of_size]  # fmt: skip
OF_OBSERVATIONS = [of_observation, set_and_cache]
OF_PAIRS = [of_pair]
