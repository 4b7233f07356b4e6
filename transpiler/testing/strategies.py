"""The inputs over which rules' examples are written: `x`, `m`, `q` ... as docs/writing-rules.md names them.

A draw is a dtype, a shape, a flavour and a seed for each array. Elements come from a generator seeded with it: drawing
them one by one costs more than all the rest of a rule's test. Hypothesis shrinks dtype, shape and flavour to the plainest that fail.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from hypothesis import strategies as st

FLOATS = ("float32", "float64", "float16")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int64", "int32", "uint8", "int8", "int16", "uint16", "uint32", "uint64")
ALL = ("float32", "float64", "int64", "bool", *FLOATS, *INTEGERS, *COMPLEX)
NAMES = tuple("abxyvwmfgqhuikrz")

PLAIN, TIES, SPECIAL, EXTREME = "plain", "ties", "special", "extreme"
ENTRIES = (0.0, 1.0, -0.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan)


def names_in(example: str) -> tuple[str, ...]:
    """The strategy names that an example mentions, in the order of `NAMES`."""
    mentioned = {node.id for node in ast.walk(ast.parse(example, mode="eval")) if isinstance(node, ast.Name)}
    return tuple(name for name in NAMES if name in mentioned)


def elements(dtype: np.dtype[Any], size: int, flavour: str, seed: int) -> np.ndarray[Any, Any]:
    """`size` values of `dtype`, the same for the same seed. Flat."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if flavour == EXTREME:
            corners = np.array([info.min, info.max, info.max - 1, 0, 1, info.min + 1], dtype)
            return rng.choice(corners, size)
        low, high = (-2, 3) if flavour == TIES else (-9, 10)
        return rng.integers(max(low, info.min), high, size).astype(dtype)
    if dtype.kind == "c":
        part = np.dtype(f"float{dtype.itemsize * 4}")
        return elements(part, size, flavour, seed) + 1j * elements(part, size, flavour, seed + 1).astype(dtype)
    values = np.round(rng.normal(scale=2.0, size=size), 3)
    if flavour == TIES:
        values = rng.integers(-3, 4, size) / 2
    elif flavour == SPECIAL:
        values = np.where(rng.random(size) < 0.5, rng.choice(ENTRIES, size), values)
    elif flavour == EXTREME:
        finfo = np.finfo(dtype)
        values = rng.choice(np.array([finfo.max, finfo.min, finfo.tiny, -finfo.tiny, finfo.eps, finfo.max / 2, 0.0], "float64"), size)
    return values.astype(dtype)


class Source(Protocol):
    """Where choices come from: from Hypothesis, which shrinks them, or from a random generator, which is many times faster."""

    def choice(self, options: Sequence[Any]) -> Any: ...

    def integer(self, low: int, high: int) -> int: ...


class Drawn:
    """Choices that Hypothesis draws. Raises nothing of its own."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def choice(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


class Seeded:
    """Choices of a random generator: the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def choice(self, options: Sequence[Any]) -> Any:
        return self.random.choice(options)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


def array(source: Source, dtypes: tuple[str, ...], shape: tuple[int, ...], flavours: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """An array of one of `dtypes`, of the given shape."""
    dtype = np.dtype(source.choice(dtypes))
    if dtype.kind == "c":
        flavours = tuple(f for f in flavours if f != EXTREME)
    drawn = elements(dtype, int(np.prod(shape)), source.choice(flavours), source.integer(0, 9999))
    return drawn.reshape(shape)


def shape_of(source: Source, low: int, high: int, smallest: int) -> tuple[int, ...]:
    """A shape of rank `low` to `high`, sizes `smallest` to 4."""
    return tuple(source.integer(smallest, 4) for _ in range(source.integer(low, high)))


def broadcasting(source: Source) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast with each other, rank 0 to 3."""
    whole = shape_of(source, 0, 3, 0)
    kept = whole[source.integer(0, len(whole)) :]
    part = tuple(1 if source.integer(0, 4) == 4 else size for size in kept)
    return (part, whole) if source.integer(0, 1) else (whole, part)


def matrices(source: Source, wanted: tuple[str, ...]) -> dict[str, np.ndarray[Any, Any]]:
    """`q` (well conditioned), `h` (symmetric positive definite) and `u` (right-hand sides for `q`), float32 or float64."""
    stack, n = shape_of(source, 0, 2, 1), source.integer(1, 4)
    dtype = source.choice(("float64", "float32"))
    rng = np.random.default_rng(source.integer(0, 9999))
    q = rng.normal(size=(*stack, n, n)) + 3 * n * np.eye(n) * rng.choice([-1, 1], size=n)
    root = rng.normal(size=(*stack, n, n))
    made = {
        "q": q,
        "h": root @ np.swapaxes(root, -1, -2) + np.diag(np.arange(1, n + 1)),
        "u": rng.normal(size=(*stack, n, source.integer(1, 3))),
    }
    return {name: made[name].astype(dtype) for name in wanted if name in made}


@st.composite
def inputs(draw: st.DrawFn, names: tuple[str, ...], extremes: bool) -> dict[str, np.ndarray[Any, Any]]:
    """The named arrays of one example, from Hypothesis."""
    return arrays_of(Drawn(draw), names, extremes)


def arrays_of(source: Source, names: tuple[str, ...], extremes: bool) -> dict[str, np.ndarray[Any, Any]]:
    """The named arrays of one example. `extremes` also draws nan, inf and the ends of a dtype for `a`, `b`, `x`, `y`, `v`, `w` and `m`."""
    any_values = (PLAIN, TIES, SPECIAL, EXTREME) if extremes else (PLAIN, PLAIN, TIES)
    floats = (PLAIN, TIES, SPECIAL)
    made: dict[str, np.ndarray[Any, Any]] = {}

    def of(name: str, dtypes: tuple[str, ...], shape: tuple[int, ...], flavours: tuple[str, ...]) -> None:
        if name in names:
            made[name] = array(source, dtypes, shape, flavours)

    def pair(one: str, other: str, dtypes: tuple[str, ...], shape: tuple[int, ...], flavours: tuple[str, ...]) -> None:
        """Two arrays of one shape; every other time of one dtype too."""
        of(one, dtypes, shape, flavours)
        same = one in made and source.integer(0, 1)
        of(other, (made[one].dtype.name,) if same else dtypes, shape, flavours)

    if {"a", "b"} & set(names):
        left, right = broadcasting(source)
        of("a", ALL, left, any_values)
        of("b", (made["a"].dtype.name,) if "a" in made and source.integer(0, 1) else ALL, right, any_values)
    shape = shape_of(source, 1, 3, 1) if set("xyfgkz") & set(names) else ()
    pair("x", "y", ALL, shape, any_values)
    pair("f", "g", FLOATS, shape, floats)
    of("k", ("bool",), shape, (PLAIN,))
    of("z", COMPLEX, shape, (PLAIN, TIES))
    if {"v", "w"} & set(names):
        pair("v", "w", ALL, (source.integer(1, 6),), any_values)
    if "m" in names:
        of("m", ALL, shape_of(source, 2, 2, 1), any_values)
    if set("qhu") & set(names):
        made |= matrices(source, names)
    if "i" in names:
        made["i"] = np.array([source.choice((0, -1)) for _ in range(source.integer(1, 4))], "int64")
    if "r" in names:
        knots = {source.integer(-20, 20) for _ in range(source.integer(2, 6))}
        while len(knots) < 2:
            knots.add(source.integer(-20, 20))
        made["r"] = np.array(sorted(knots), "float64") / 2
    return made
