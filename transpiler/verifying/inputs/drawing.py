"""Many arguments of a plan, each array drawn in one go: for the search, of which most inputs show nothing.

They are of the kinds that Hypothesis draws (see `values`), at a hundredth of the time. What they show, Hypothesis looks for again, and
makes smaller.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from .plans import Leaf, Number, Plan, filled
from .values import Array, allowed, edges, is_large, noise, range_of

_SIZES = (1, 2, 3, 4, 5, 0)


class _Kind:
    """What is known of the arrays of one leaf."""

    def __init__(self, leaf: Leaf, turning: tuple[float, ...]) -> None:
        spec = leaf.spec
        self.leaf, self.dtype = leaf, np.dtype(spec.dtype)
        self.low, self.high = range_of(spec, self.dtype, leaf.sample)
        self.turning = [v for v in turning if allowed(spec, self.dtype, v)]
        self.edges = edges(spec, self.dtype)
        self.steps = [n for n in (2, 8) if self.high - self.low < 1e6 and math.ceil(self.low * n) <= math.floor(self.high * n)]


class Drawing:
    """Draws arguments of a plan, the same ones for the same seed.

    sizes    the free sizes, with that of the sample; `fixed` are those that stay
    turning  numbers that the node mentions"""

    def __init__(self, plan: Plan, sizes: dict[str, int], fixed: set[str], turning: tuple[float, ...], seed: int) -> None:
        self.plan, self.sizes, self.fixed = plan, sizes, fixed
        self.choice, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.kind = functools.lru_cache(maxsize=None)(lambda at: _Kind(self.leaves[at], turning))
        self.leaves: dict[int, Leaf] = {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        first = True
        while True:
            free = {name: size for name, size in self.sizes.items() if not (first or name in self.fixed)}
            sizes = {**self.sizes, **{name: self.choice.choice((*_SIZES, size)) for name, size in free.items()}}
            plainest, first = first, False
            array, number = functools.partial(self.array, plainest=plainest), functools.partial(self.number, plainest=plainest)
            yield filled(self.plan, sizes, array, number)

    def number(self, wanted: Number, plainest: bool) -> Any:
        """A Python value: the plain one half of the time."""
        spec = wanted.spec
        if plainest or self.choice.random() < 0.5:
            return wanted.plain
        low, high = (-10.0, 10.0) if spec.low is None or spec.high is None else (spec.low, spec.high)
        if spec.kind == "bool":
            return self.choice.random() < 0.5
        if spec.kind == "str":
            return "".join(self.choice.choices("abc", k=self.choice.randrange(5)))
        if spec.kind == "int":
            return self.choice.randint(math.ceil(low), math.floor(high))
        parts = [min(max(round(self.choice.uniform(low, high) * n) / n, low), high) for n in self.choice.choices((2, 8, 1000), k=2)]
        return complex(*parts) if spec.kind == "complex" else parts[0]

    def array(self, leaf: Leaf, shape: tuple[int, ...], plainest: bool) -> Array:
        """An array: a tame base, in half of them some numbers at which the node turns, in half some at which code breaks."""
        self.leaves[id(leaf)] = leaf
        kind = self.kind(id(leaf))
        size = math.prod(shape)
        flat = self.base(kind, size, plainest)
        if plainest or not size:
            return np.array(flat.reshape(shape))
        if kind.turning and self.choice.random() < 0.5:
            count = min(len(kind.turning), (size + 1) // 2)
            self.put(flat, self.choice.sample(kind.turning, count))
        if kind.edges and self.choice.random() < 0.5:
            chosen = self.choice.sample(kind.edges, min(self.choice.choice((1, 2)), len(kind.edges)))
            self.put(flat, list({is_large(v): v for v in chosen}.values()))
        return np.array(flat.reshape(shape))  # on memory of its own

    def put(self, flat: Array, values: list[Any]) -> None:
        for place, value in zip(self.choice.sample(range(flat.size), min(len(values), flat.size)), values, strict=False):
            flat[place] = value

    def base(self, kind: _Kind, size: int, plainest: bool) -> Array:
        """Zeros (the plainest), one number for all, or numbers of a grain of their own."""
        drawn, dtype = self.choice.random(), kind.dtype
        if plainest:
            return np.full(size, 0 if kind.low <= 0 <= kind.high else kind.low, dtype)
        if dtype.kind in "fc" and kind.steps and drawn < 0.6:
            step = self.choice.choice(kind.steps)
            flat = self.grained(kind, size, step) + (1j * self.grained(kind, size, step) if dtype.kind == "c" else 0)
            flat = flat.astype(dtype)
        else:
            flat = noise(kind.leaf.spec, (size,), kind.leaf.sample, self.rng)
        return np.full(size, flat[0], dtype) if size and self.choice.random() < 0.1 else flat

    def grained(self, kind: _Kind, size: int, step: int) -> Array:
        """Halves or eighths: they meet each other (ties), and are the same in every dtype."""
        return self.rng.integers(math.ceil(kind.low * step), math.floor(kind.high * step), size, endpoint=True) / step
