"""Indices: every form that NumPy takes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .writer import Writer

Array = np.ndarray[Any, Any]


def integer(rng: random.Random, n: int) -> int:
    return rng.randrange(-n, n) if n else 0


def a_slice(rng: random.Random, n: int) -> str:
    """Any slice, with negative steps, out-of-range ends and empty ones."""
    start, stop = (rng.choice(("", "", str(rng.randint(-n - 1, n + 1)))) for _ in range(2))
    step = rng.choice(("", "", "", ":1", ":2", ":-1", ":-2", ":3"))
    return f"{start}:{stop}{step}"


def basic(writer: Writer, a: Array) -> str:
    """Integers, slices, None and Ellipsis."""
    rng = writer.rng
    parts = []
    ints = [n for n in writer.variables(lambda v: type(v) is int) if all(-m <= writer.env[n] < m for m in a.shape)]
    for n in a.shape[: rng.randint(1, max(a.ndim, 1))]:
        way = rng.random()
        if way < 0.35 and n:
            parts.append(rng.choice(ints) if ints and rng.random() < 0.4 else str(integer(rng, n)))
        else:
            parts.append(a_slice(rng, n) if way < 0.85 else ":")
    if rng.random() < 0.15:
        parts.insert(rng.randint(0, len(parts)), rng.choice(("None", "np.newaxis")))
    if rng.random() < 0.2:
        if rng.random() < 0.5:
            parts = ["...", *parts[:1]]
        else:
            parts.append("...")
    return ", ".join(parts) or "..."


def index_list(rng: random.Random, n: int) -> str:
    return str([integer(rng, n) for _ in range(rng.randint(1, 4))])


def advanced(writer: Writer, a: Array) -> str:
    """Index arrays, lists, masks that are written down, computed indices, mixed with slices."""
    rng = writer.rng
    n = a.shape[0] if a.ndim else 0
    if a.ndim == 0 or n == 0:
        return "..."
    ways = ["list", "array", "computed", "mixed", "where"]
    if a.ndim > 1:
        ways += ["pair", "ix", "column", "split"]
    way = rng.choice(ways)
    if way == "list":
        return index_list(rng, n)
    if way == "array":
        shape = rng.choice(("", ".reshape(-1, 1)", "[::-1]"))
        return f"np.array({index_list(rng, n)}){shape}"
    if way == "computed":
        return writer.fill(rng.choice(("np.argsort({=:r}, axis=0, kind='stable')" if a.ndim == 1 else "np.argmax({=:r}) % " + str(n),
                                       "np.argmin({a:r}) % " + str(n), "np.arange(" + str(n) + ")[::-1]", "np.ravel(np.abs({a:i})) % " + str(n))))  # fmt: skip
    if way == "where":
        return f"np.arange({n}) % 2 == 0" if rng.random() < 0.5 else str([rng.random() < 0.5 for _ in range(n)])
    if way == "mixed":
        rest = [a_slice(rng, m) if rng.random() < 0.6 else "..." for m in a.shape[1:2]]
        return ", ".join([index_list(rng, n), *rest])
    m = a.shape[1]
    k = rng.randint(1, 3)
    if way == "pair":
        one, two = ([integer(rng, d) for _ in range(k)] for d in (n, m))
        return f"{one}, {two}" if rng.random() < 0.5 else f"np.array({one}), np.array({two})"
    if way == "ix":
        return f"np.ix_({index_list(rng, n)}, {index_list(rng, m)})"
    if way == "column":
        return f"np.arange({n})[:, None], {index_list(rng, m)}"
    return f"{index_list(rng, n)}, {rng.choice(('None', ':', '...'))}, {integer(rng, a.shape[-1])}"


def mask(writer: Writer, a: Array) -> str:
    """A mask of values: as an index to read it leaves the graph, to write it does not."""
    return writer.fill(
        writer.rng.choice(("{=:r} > {num}", "{=:b}", "np.isfinite({=})", "({=:r} < 0) | ({=:r} > 2)", "~{=:b}", "{=} == {num}"))
    )


def index(writer: Writer, a: Array) -> str:
    """An index to read with."""
    if writer.leaving and writer.chance(0.1):
        return mask(writer, a)
    return basic(writer, a) if writer.chance(0.7) else advanced(writer, a)


def target(writer: Writer, a: Array) -> str:
    """An index to write to."""
    way = writer.rng.random()
    if way < 0.2 and a.ndim:
        return mask(writer, a)
    return basic(writer, a) if way < 0.75 else advanced(writer, a)
