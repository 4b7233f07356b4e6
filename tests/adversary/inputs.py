"""Arguments for programs: arrays of all dtypes that torch has, small, with shapes that go together."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

DTYPES = {
    "float32": 50, "float64": 50, "int64": 30, "int32": 18, "uint8": 14, "bool": 12, "float16": 8, "int8": 5, "int16": 5,
    "complex64": 5, "complex128": 5, "uint16": 3, "uint32": 2,
}  # fmt: skip
"""How often each dtype is drawn."""

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)


def dtype(rng: random.Random) -> str:
    return rng.choices(list(DTYPES), list(DTYPES.values()))[0]


def shape(rng: random.Random) -> tuple[int, ...]:
    rank = rng.choices((0, 1, 2, 3), (4, 45, 40, 11))[0]
    return tuple(rng.choice((1, 2, 3, 3, 4, 4, 5)) for _ in range(rank))


def akin(rng: random.Random, first: tuple[int, ...]) -> tuple[int, ...]:
    """A shape beside `first`: the same, one that broadcasts with it, one that multiplies with it as a matrix, or any."""
    way = rng.random()
    if way < 0.4:
        return first
    if way < 0.65 and first:
        return tuple(1 if rng.random() < 0.2 else n for n in first[rng.randrange(len(first)) :])
    if way < 0.8 and first:
        return (first[-1], rng.choice((2, 3)))
    return shape(rng)


def values(rng: random.Random, dtype: str, shape: tuple[int, ...], special: bool) -> np.ndarray[Any, Any]:
    """Numbers of two decimals around zero, small integers; now and then nan, inf and -0.0 among floats if `special`."""
    size = int(np.prod(shape))
    kind = np.dtype(dtype).kind
    if kind == "b":
        drawn: list[Any] = [rng.random() < 0.5 for _ in range(size)]
    elif kind in "iu":
        drawn = [rng.randint(0 if kind == "u" else -9, 9) for _ in range(size)]
    else:
        drawn = [rng.choice(SPECIAL) if special and rng.random() < 0.15 else round(rng.gauss(0, 2), 2) for _ in range(size)]
        if kind == "c":
            drawn = [complex(x, round(rng.gauss(0, 2), 2)) for x in drawn]
    return np.array(drawn, dtype).reshape(shape)


def draw(rng: random.Random) -> tuple[list[Any], list[Any]]:
    """The arguments of a sample and others of the same dtypes and shapes; Python numbers are the same in both."""
    special = rng.random() < 0.08
    shapes = [shape(rng)]
    for _ in range(rng.choices((0, 1, 2), (30, 50, 20))[0]):
        shapes.append(akin(rng, shapes[0]))
    dtypes = [dtype(rng)]
    dtypes += [dtypes[0] if rng.random() < 0.4 else dtype(rng) for _ in shapes[1:]]
    sample: list[Any] = [values(rng, d, s, special) for d, s in zip(dtypes, shapes, strict=True)]
    other: list[Any] = [values(rng, d, s, special) for d, s in zip(dtypes, shapes, strict=True)]
    if rng.random() < 0.15:
        number = rng.choice((0, 1, 2, -1, 0.5, 2.5, True))
        sample.append(number)
        other.append(number)
    return sample, other
