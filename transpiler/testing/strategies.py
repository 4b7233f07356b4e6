"""The inputs over which rules' examples are written: `x`, `m`, `q` ... as docs/writing-rules.md names them.

A draw is a dtype, a shape, a flavour and a seed for each array. Elements come from a generator seeded with it: drawing
them one by one costs more than all the rest of a rule's test. Hypothesis shrinks dtype, shape and flavour to the plainest that fail.
"""

from __future__ import annotations

import ast
from typing import Any

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


@st.composite
def array(draw: st.DrawFn, dtypes: tuple[str, ...], shape: tuple[int, ...], flavours: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """An array of one of `dtypes`, of the given shape."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if dtype.kind == "c":
        flavours = tuple(f for f in flavours if f != EXTREME)
    drawn = elements(dtype, int(np.prod(shape)), draw(st.sampled_from(flavours)), draw(st.integers(0, 9999)))
    return drawn.reshape(shape)


def shapes(low: int, high: int, smallest: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of rank `low` to `high`, sizes `smallest` to 4."""
    return st.lists(st.integers(smallest, 4), min_size=low, max_size=high).map(tuple)


@st.composite
def broadcasting(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast with each other, rank 0 to 3."""
    whole = draw(shapes(0, 3, 0))

    def part() -> tuple[int, ...]:
        kept = whole[draw(st.integers(0, len(whole))) :]
        return tuple(1 if draw(st.integers(0, 4)) == 4 else size for size in kept)

    return (part(), whole) if draw(st.booleans()) else (whole, part())


@st.composite
def matrices(draw: st.DrawFn, wanted: tuple[str, ...]) -> dict[str, np.ndarray[Any, Any]]:
    """`q` (well conditioned), `h` (symmetric positive definite) and `u` (right-hand sides for `q`), float32 or float64."""
    stack, n = draw(shapes(0, 2, 1)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from(("float64", "float32")))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    q = rng.normal(size=(*stack, n, n)) + 3 * n * np.eye(n) * rng.choice([-1, 1], size=n)
    root = rng.normal(size=(*stack, n, n))
    made = {
        "q": q,
        "h": root @ np.swapaxes(root, -1, -2) + np.diag(np.arange(1, n + 1)),
        "u": rng.normal(size=(*stack, n, draw(st.integers(1, 3)))),
    }
    return {name: made[name].astype(dtype) for name in wanted if name in made}


@st.composite
def inputs(draw: st.DrawFn, names: tuple[str, ...], extremes: bool) -> dict[str, np.ndarray[Any, Any]]:
    """The named arrays of one example. `extremes` also draws nan, inf and the ends of a dtype for `a`, `b`, `x`, `y`, `v`, `w` and `m`."""
    any_values = (PLAIN, TIES, SPECIAL, EXTREME) if extremes else (PLAIN, PLAIN, TIES)
    floats = (PLAIN, TIES, SPECIAL)
    made: dict[str, np.ndarray[Any, Any]] = {}

    def of(name: str, dtypes: tuple[str, ...], shape: tuple[int, ...], flavours: tuple[str, ...]) -> None:
        if name in names:
            made[name] = draw(array(dtypes, shape, flavours))

    def pair(one: str, other: str, dtypes: tuple[str, ...], shape: tuple[int, ...], flavours: tuple[str, ...]) -> None:
        """Two arrays of one shape; every other time of one dtype too."""
        of(one, dtypes, shape, flavours)
        same = one in made and draw(st.booleans())
        of(other, (made[one].dtype.name,) if same else dtypes, shape, flavours)

    if {"a", "b"} & set(names):
        left, right = draw(broadcasting())
        of("a", ALL, left, any_values)
        of("b", (made["a"].dtype.name,) if "a" in made and draw(st.booleans()) else ALL, right, any_values)
    shape = draw(shapes(1, 3, 1)) if set("xyfgkz") & set(names) else ()
    pair("x", "y", ALL, shape, any_values)
    pair("f", "g", FLOATS, shape, floats)
    of("k", ("bool",), shape, (PLAIN,))
    of("z", COMPLEX, shape, (PLAIN, TIES))
    if {"v", "w"} & set(names):
        pair("v", "w", ALL, (draw(st.integers(1, 6)),), any_values)
    if "m" in names:
        of("m", ALL, draw(shapes(2, 2, 1)), any_values)
    if set("qhu") & set(names):
        made |= draw(matrices(names))
    if "i" in names:
        made["i"] = np.array(draw(st.lists(st.sampled_from((0, -1)), min_size=1, max_size=4)), "int64")
    if "r" in names:
        knots = draw(st.sets(st.integers(-20, 20), min_size=2, max_size=6))
        made["r"] = np.array(sorted(knots), "float64") / 2
    return made
