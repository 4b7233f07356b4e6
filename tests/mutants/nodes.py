"""The nodes that faults are planted in: small ones for what tracers and rules do, and those of the sample pipeline."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PIPELINE = Path(__file__).parents[2] / "fixtures" / "pipeline"

_rng = np.random.default_rng(7)
F = np.round(_rng.normal(0, 2, (3, 4)), 2).astype(np.float32)
D = np.round(_rng.normal(0, 2, (3, 4)), 2)
V = np.round(_rng.normal(0, 2, 5), 2)
W = np.round(_rng.normal(0, 2, 5), 2)
I = np.array([[3, -1, 4, 1], [-5, 9, 2, -6]])  # noqa: E741
U = np.array([200, 3, 77, 255], np.uint8)
B = np.array([True, False, True, True, False])
SQUARE = np.round(_rng.normal(0, 1, (3, 3)), 2)


def normalise(x):
    return (x - x.mean(axis=0, keepdims=True)) / (x.std(axis=0) + 1e-6)


def scale_image(x):
    return (x.astype(np.float32) / 255.0 - 0.5) / 0.25


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def write_slice(x):
    x[1:3] = x[0:2] * 2
    return x.sum(axis=1)


def write_through_view(x):
    t = x.T
    t[0] += 1
    return x


def write_reversed(v):
    r = v[::-1]
    r[0] = 5
    return v * 2


def masked(v, b):
    v = v.copy()
    v[b] = 0
    return np.where(v > 1, v, -v)


def clipped_difference(v, w):
    return np.clip(v - w, -1, 1), np.maximum(v, w) / (np.abs(w) + 1)


def order_statistics(x):
    return np.sort(x, axis=0), np.argmax(x, axis=1), np.median(x, axis=1), np.ptp(x, axis=0)


def integers(i):
    return i // 2, i % 3, i << 1, i.sum(axis=1), i / 2, i.mean(axis=0)


def joined(v, w):
    return np.concatenate([v, w[1:]]), np.stack([v, w], axis=-1)


def pick_rows(x):
    return x[[0, 2]], x[:, 1], x[-1], x[::2, ::-1], x[1:, :2]


def products(m, x):
    return m @ x, np.einsum("ij,ij->i", x, x), np.outer(m[0], x[0]), np.dot(m, x[:, 0])


def distances(v, w):
    return np.sqrt(np.sum((v[:, None] - w[None, :]) ** 2, axis=1)), np.hypot(v, w), np.arctan2(v, w)


def cumulative(v):
    return np.cumsum(v), np.diff(v), np.cumprod(v[:3])


def windows(v):
    return np.array([v[i : i + 3].mean() for i in range(3)])


def running_total(x):
    total = np.zeros(x.shape[1])
    for i, row in enumerate(x):
        total = total * 0.5 + row * (i + 1)
    return total


def threshold(u):
    return u > 100, (u + 1), u.astype(np.int32) - 128, (u >= 77).sum()


def padded(x):
    return np.pad(x, 1), np.roll(x, 1, axis=0), np.tile(x, 2), np.repeat(x, 2, axis=1), np.flip(x, 0)


def reshaped(x):
    return x.reshape(2, 6).T, x.ravel()[3:], x[None].swapaxes(0, 1), np.moveaxis(x[None], 0, -1)


def triangular(m):
    return np.tril(m), np.triu(m, 1), np.trace(m), np.diag(m), np.linalg.norm(m, axis=0)


def quantised(v):
    return np.round(v * 4) / 4, np.floor(v), np.ceil(v), np.sign(v), np.rint(v)


def logic(v, w):
    return (v > 0) & (w > 0), (v > 0) | (w < 1), ~(v >= w), np.logical_xor(v > 1, w > 1), v != w


def interpolated(v):
    return np.interp(v, [-1.0, 0.0, 2.0], [3.0, 1.0, 5.0]), np.searchsorted([-1.0, 0.0, 1.0], v)


def chosen(v, w):
    return np.select([v > 1, v < -1], [w, v], 0.5), np.take(v, [0, -1]), np.where(w > 0, 1.0, v)


def in_place(v, w):
    v += w
    v *= 2
    np.multiply(v, w, out=w)
    return v[1:] - v[:-1]


def scalars(x):
    total = x.sum()
    total += 1
    return total, x[0, 0] * 2, x.max() - x.min(), x.var(ddof=1)


def weighted(v, w):
    return np.average(v, weights=np.abs(w) + 1), np.percentile(v, 30), np.cov(v, w)


def dtypes(x):
    return x.astype(np.float64) * 2, x.astype(np.float16), x * np.float64(2), np.sum(x, dtype=np.float64), (x > 0).astype(np.int8)


SMALL: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (normalise, (F,)), (scale_image, (U,)), (softmax, (F,)), (write_slice, (D,)), (write_through_view, (D,)), (write_reversed, (V,)),
    (masked, (V, B)), (clipped_difference, (V, W)), (order_statistics, (F,)), (integers, (I,)), (joined, (V, W)), (pick_rows, (D,)),
    (products, (SQUARE, D)), (distances, (V, W)), (cumulative, (V,)), (windows, (V,)), (running_total, (D,)), (threshold, (U,)),
    (padded, (D,)), (reshaped, (F,)), (triangular, (SQUARE,)), (quantised, (V,)), (logic, (V, W)), (interpolated, (V,)),
    (chosen, (V, W)), (in_place, (V, W)), (scalars, (D,)), (weighted, (V, W)), (dtypes, (F,)),
]  # fmt: skip


def pipeline() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The marked functions of the sample pipeline; their samples are made from their specs."""
    sys.path.insert(0, str(PIPELINE))
    try:
        package = importlib.import_module("robot_pipeline")
        modules = [importlib.import_module(f"robot_pipeline.{info.name}") for info in pkgutil.iter_modules(package.__path__)]
    finally:
        sys.path.remove(str(PIPELINE))
    return [(f, ()) for m in modules for f in vars(m).values() if hasattr(f, "__np2fx_spec__") and f.__module__ == m.__name__]
