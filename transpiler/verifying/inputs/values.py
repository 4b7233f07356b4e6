"""Hypothesis strategies for the elements of arrays: mostly tame numbers, some of the kind that breaks code.

An array is a tame base with a few edits: an array of nothing but nan and 1e308 makes every result nan, and hides what
it should show. Extremes come one an array, so that no sum overflows in one order and not in another.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ...pipeline.spec import ScalarSpec, TensorSpec

Array = np.ndarray[Any, Any]
ONE_BY_ONE = 32
"""Arrays up to this size have each element drawn, so that Hypothesis shrinks them one by one."""


_BOOLEANS = st.booleans()
_SEEDS = st.integers(0, 2**16)


@st.composite
def arrays(
    draw: st.DrawFn, spec: TensorSpec, shape: tuple[int, ...], sample: Array | None = None, turning: tuple[float, ...] = ()
) -> Array:
    """An array of `spec`'s dtype and bounds and of `shape`; its values lie around those of `sample` where there is one.

    `turning` are numbers that the node mentions: some elements are exactly those, as answers turn there."""
    dtype = np.dtype(spec.dtype)
    size = math.prod(shape)
    low, high = range_of(spec, dtype, sample)
    flat = np.array(draw(_elements(dtype, low, high, size)), dtype) if size <= ONE_BY_ONE else draw(_bulk(dtype, size, low, high))
    at = tuple(v for v in turning if allowed(spec, dtype, v))
    if at and size and draw(_BOOLEANS):
        place, first = draw(_positions(size)), draw(_positions(len(at)))
        for step in range(min(len(at), (size + 1) // 2)):
            flat[(place + step) % size] = at[(first + step) % len(at)]
    extremes = _extremes(spec, dtype)
    if extremes is not None and size and draw(_BOOLEANS):
        # 7 is prime to most sizes: neighbours in the list of edits are not neighbours in the array
        for step, value in enumerate(draw(extremes)):
            flat[(draw(_positions(size)) + 7 * step) % size] = value
    return flat.reshape(shape)


# Strategies are kept: Hypothesis asks a new one a dozen things (is it empty, is it cacheable) before it draws from it.


@functools.lru_cache(maxsize=1024)
def _elements(dtype: np.dtype[Any], low: float, high: float, size: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(_element(dtype, low, high), min_size=size, max_size=size)


@functools.lru_cache(maxsize=256)
def _extremes(spec: TensorSpec, dtype: np.dtype[Any]) -> st.SearchStrategy[list[Any]] | None:
    """One or two of the values at which code breaks."""
    values = edges(spec, dtype)
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique_by=is_large) if values else None


def allowed(spec: TensorSpec, dtype: np.dtype[Any], value: float) -> bool:
    """Whether a number is one of the dtype's, within the spec's bounds."""
    if dtype.kind == "b" or (dtype.kind in "iu" and (value != int(value) or not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)):
        return False
    if dtype.kind in "fc" and abs(value) > np.finfo(dtype).max:
        return False
    return spec.low is None or spec.high is None or spec.low <= value <= spec.high


@functools.lru_cache(maxsize=256)
def _positions(size: int) -> st.SearchStrategy[int]:
    return st.integers(0, size - 1)


def range_of(spec: TensorSpec, dtype: np.dtype[Any], sample: Array | None) -> tuple[float, float]:
    """Where tame values lie: the spec's bounds, else around the sample, else small numbers. Of the real part for complex."""
    if spec.low is not None and spec.high is not None:
        return spec.low, spec.high
    low, high = -10.0, 10.0
    known = np.zeros(0) if sample is None or dtype.kind == "b" else np.real(sample[np.isfinite(sample)]).astype(float)
    if known.size:
        low, high = float(known.min()), float(known.max())
        if dtype.kind not in "iu":
            spread = (high - low) or abs(high) or 1.0
            low, high = low - spread / 4, high + spread / 4
        elif low == high:
            low, high = low - 1, high + 1
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype) if dtype.kind in "fc" else None
    return (low, high) if limits is None else (max(low, float(limits.min)), min(high, float(limits.max)))


@functools.lru_cache(maxsize=256)
def _element(dtype: np.dtype[Any], low: float, high: float) -> st.SearchStrategy[Any]:
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        return st.integers(math.ceil(low), _below(high))
    if dtype.kind == "c":
        part = _element(np.dtype("float32"), low, high)
        return st.builds(complex, part, part)
    fine = st.integers(0, 1000).map(lambda n: low + (high - low) * n / 1000)
    return st.one_of(_fractions(low, high, 2), _fractions(low, high, 8), fine)


def _fractions(low: float, high: float, steps: int) -> st.SearchStrategy[float]:
    """Halves or eighths within a range: they print shortly, meet each other (ties), and are the same in every dtype."""
    first, last = math.ceil(low * steps), math.floor(high * steps)
    return st.integers(first, last).map(lambda n: n / steps) if first <= last and high - low < 1e6 else st.nothing()


@st.composite
def _bulk(draw: st.DrawFn, dtype: np.dtype[Any], size: int, low: float, high: float) -> Array:
    """Many elements: all alike, or noise of a seed."""
    if not draw(_BOOLEANS):
        return np.full(size, draw(_element(dtype, low, high)), dtype)
    return _noise(dtype, size, low, high, np.random.default_rng(draw(_SEEDS)))


def noise(spec: TensorSpec, shape: tuple[int, ...], sample: Array | None, rng: np.random.Generator) -> Array:
    """A tame array of the spec, from a generator."""
    dtype = np.dtype(spec.dtype)
    return _noise(dtype, math.prod(shape), *range_of(spec, dtype, sample), rng).reshape(shape)


def _noise(dtype: np.dtype[Any], size: int, low: float, high: float, rng: np.random.Generator) -> Array:
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(math.ceil(low), _below(high), size, dtype=np.int64 if low < 0 else np.uint64, endpoint=True).astype(dtype)
    drawn = np.round(rng.uniform(low, high, size), 3).clip(low, high)
    return (drawn + 1j * np.round(rng.uniform(low, high, size), 3) if dtype.kind == "c" else drawn).astype(dtype)


def _below(high: float) -> int:
    """The largest integer up to `high` that 64 bits hold: 2**63 as a float is one too many."""
    return min(math.floor(high), 2**63 - 1)


def edges(spec: TensorSpec, dtype: np.dtype[Any]) -> list[Any]:
    """The values of a dtype at which code breaks, as far as the spec allows them."""
    if dtype.kind == "b":
        return []
    if spec.low is not None and spec.high is not None:
        bounds = (spec.low, spec.high, 0)
        return [v for v in bounds if spec.low <= v <= spec.high and (dtype.kind != "u" or v >= 0)]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [0, info.max, info.min]
    if dtype.kind == "c":  # C leaves open what a complex inf times anything is
        return [0.0, complex(0, 1)] + ([] if spec.finite else [complex(math.nan, 0)])
    finfo = np.finfo(dtype)
    finite = [-0.0, finfo.eps, finfo.smallest_subnormal, finfo.tiny, finfo.max, finfo.min]
    return finite if spec.finite else [math.nan, math.inf, -math.inf, *finite]


def is_large(value: Any) -> Any:
    """One extreme an array: all finite ones that overflow when two are added count as the same."""
    return "large" if isinstance(value, (float, np.floating)) and math.isfinite(value) and abs(float(value)) > 1e4 else repr(value)


def numbers(spec: ScalarSpec) -> st.SearchStrategy[Any]:
    """Python values of a spec."""
    low, high = (-10.0, 10.0) if spec.low is None or spec.high is None else (spec.low, spec.high)
    if spec.kind == "bool":
        return st.booleans()
    if spec.kind == "str":
        return st.text("abc", max_size=4)
    if spec.kind == "int":
        return st.integers(math.ceil(low), math.floor(high))
    return _element(np.dtype("float64" if spec.kind == "float" else "complex128"), low, high)
