"""Kernels in NumPy, and the same in torch as somebody would write them by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Case = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]

MEAN, STD = np.linspace(-1, 1, 64).astype(np.float32), np.linspace(1, 2, 64).astype(np.float32)
T_MEAN, T_STD = torch.from_numpy(MEAN), torch.from_numpy(STD)
TAPS = np.array([0.1, 0.2, 0.4, 0.2, 0.1], np.float32)
T_TAPS = torch.from_numpy(TAPS)
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
T_LUMA = torch.from_numpy(LUMA)

# Array math


def scale(x):
    return np.clip((x - MEAN) / STD, -5.0, 5.0)


def scale_torch(x):
    return torch.clamp((x - T_MEAN) / T_STD, -5.0, 5.0)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_torch(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def huber(x):
    a = np.abs(x)
    return np.where(a < 1.0, 0.5 * x**2, a - 0.5).mean(axis=-1)


def huber_torch(x):
    a = torch.abs(x)
    return torch.where(a < 1.0, 0.5 * x**2, a - 0.5).mean(-1)


def gaussian(x):
    return np.exp(-0.5 * ((x - 1.0) / 0.3) ** 2) / (0.3 * math.sqrt(2 * np.pi))


def gaussian_torch(x):
    return torch.exp(-0.5 * ((x - 1.0) / 0.3) ** 2) / (0.3 * math.sqrt(2 * np.pi))


def decibels(x):
    return 20 * np.log10(np.maximum(np.abs(x), 1e-5))


def decibels_torch(x):
    return 20 * torch.log10(torch.clamp(torch.abs(x), min=1e-5))


def lookup(x, xp, fp):
    return np.interp(x, xp, fp)


def lookup_torch(x, xp, fp):
    i = torch.clamp(torch.searchsorted(xp, x) - 1, 0, len(xp) - 2)
    y = fp[i] + (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]) * (x - xp[i])
    return torch.where(x >= xp[-1], fp[-1], torch.where(x <= xp[0], fp[0], y))


# A history of observations


def push(history, x):
    window = np.roll(history, -1, axis=0)
    window[-1] = x
    return window


def push_torch(history, x):
    window = torch.roll(history, -1, 0)
    window[-1] = x
    return window


def shifted(history, x):
    return np.concatenate([history[1:], x[None]])


def shifted_torch(history, x):
    return torch.cat([history[1:], x[None]])


def features(history):
    return np.concatenate([history[-1], history.mean(axis=0), np.diff(history, axis=0)[-1]])


def features_torch(history):
    return torch.cat([history[-1], history.mean(0), torch.diff(history, dim=0)[-1]])


# Filters


def smooth(x):
    y = x.copy()
    for i in range(1, 8):
        y[..., i] = 0.5 * y[..., i - 1] + 0.5 * x[..., i]
    return y


def smooth_torch(x):
    y = x.clone()
    for i in range(1, 8):
        y[..., i] = 0.5 * y[..., i - 1] + 0.5 * x[..., i]
    return y


def low_pass(x, last):
    return last + 0.2 * (x - last)


low_pass_torch = low_pass


def fir(x):
    y = np.zeros_like(x)
    for i in range(5):
        y += TAPS[i] * np.roll(x, i, axis=-1)
    return y


def fir_torch(x):
    y = torch.zeros_like(x)
    for i in range(5):
        y += T_TAPS[i] * torch.roll(x, i, -1)
    return y


def moving_average(x):
    c = np.cumsum(x, axis=0)
    return (c[4:] - c[:-4]) / 4


def moving_average_torch(x):
    c = torch.cumsum(x, 0)
    return (c[4:] - c[:-4]) / 4


def stencil(u):
    return u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[1:-1, 1:-1]


stencil_torch = stencil


# Boxes


def overlap(a, b):
    wh = np.clip(np.minimum(a[:, None, 2:], b[None, :, 2:]) - np.maximum(a[:, None, :2], b[None, :, :2]), 0, None)
    inside = wh[..., 0] * wh[..., 1]
    area_a, area_b = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1]), (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return inside / (area_a[:, None] + area_b[None] - inside)


def overlap_torch(a, b):
    wh = torch.clamp(torch.minimum(a[:, None, 2:], b[None, :, 2:]) - torch.maximum(a[:, None, :2], b[None, :, :2]), min=0)
    inside = wh[..., 0] * wh[..., 1]
    area_a, area_b = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1]), (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return inside / (area_a[:, None] + area_b[None] - inside)


def centres(boxes):
    centre, size = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    return np.concatenate([centre, size], axis=1)


def centres_torch(boxes):
    centre, size = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    return torch.cat([centre, size], 1)


def clipped(boxes):
    x, y = np.clip(boxes[:, 0::2], 0, 2), np.clip(boxes[:, 1::2], 0, 1)
    return np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=-1)


def clipped_torch(boxes):
    x, y = torch.clamp(boxes[:, 0::2], 0, 2), torch.clamp(boxes[:, 1::2], 0, 1)
    return torch.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], -1)


def decoded(boxes, deltas):
    size = boxes[:, 2:] - boxes[:, :2]
    centre = boxes[:, :2] + 0.5 * size + deltas[:, :2] * size
    half = 0.5 * np.exp(np.minimum(deltas[:, 2:], 4.0)) * size
    return np.hstack([centre - half, centre + half])


def decoded_torch(boxes, deltas):
    size = boxes[:, 2:] - boxes[:, :2]
    centre = boxes[:, :2] + 0.5 * size + deltas[:, :2] * size
    half = 0.5 * torch.exp(torch.clamp(deltas[:, 2:], max=4.0)) * size
    return torch.hstack([centre - half, centre + half])


# Statistics


def standardise(x):
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)


def standardise_torch(x):
    return (x - x.mean(0)) / (x.std(0, correction=0) + 1e-6)


def covariance(x):
    d = x - x.mean(axis=0)
    return d.T @ d / (len(x) - 1)


def covariance_torch(x):
    d = x - x.mean(0)
    return d.T @ d / (len(x) - 1)


def range_scaled(x):
    low, high = x.min(axis=0), x.max(axis=0)
    return (x - low) / (high - low + 1e-8)


def range_scaled_torch(x):
    low, high = x.amin(0), x.amax(0)
    return (x - low) / (high - low + 1e-8)


def correlation(x, y):
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))


def correlation_torch(x, y):
    x, y = x - x.mean(-1, keepdim=True), y - y.mean(-1, keepdim=True)
    return (x * y).sum(-1) / torch.sqrt((x**2).sum(-1) * (y**2).sum(-1))


# Geometry


def rotate(q, v):
    w, u = q[..., :1], q[..., 1:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def rotate_torch(q, v):
    w, u = q[..., :1], q[..., 1:]
    t = 2 * torch.linalg.cross(u, v)
    return v + w * t + torch.linalg.cross(u, t)


def unit(q):
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def unit_torch(q):
    return q / torch.linalg.norm(q, dim=-1, keepdim=True)


def product(p, q):
    pw, px, py, pz = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    qw, qx, qy, qz = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    w, x = pw * qw - px * qx - py * qy - pz * qz, pw * qx + px * qw + py * qz - pz * qy
    y, z = pw * qy - px * qz + py * qw + pz * qx, pw * qz + px * qy - py * qx + pz * qw
    return np.stack([w, x, y, z], axis=-1)


def product_torch(p, q):
    (pw, px, py, pz), (qw, qx, qy, qz) = p.unbind(-1), q.unbind(-1)
    w, x = pw * qw - px * qx - py * qy - pz * qz, pw * qx + px * qw + py * qz - pz * qy
    y, z = pw * qy - px * qz + py * qw + pz * qx, pw * qz + px * qy - py * qx + pz * qw
    return torch.stack([w, x, y, z], -1)


def turned(angle, points):
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)
    return np.einsum("nij,nj->ni", matrix, points)


def turned_torch(angle, points):
    c, s = torch.cos(angle), torch.sin(angle)
    matrix = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    return torch.einsum("nij,nj->ni", matrix, points)


def projected(points, k):
    uvw = points @ k.T
    return uvw[:, :2] / uvw[:, 2:]


projected_torch = projected


def distances(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=-1))


def distances_torch(a, b):
    return torch.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))


def wrapped(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def wrapped_torch(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def polar(points):
    return np.stack([np.hypot(points[:, 0], points[:, 1]), np.arctan2(points[:, 1], points[:, 0])], axis=1)


def polar_torch(points):
    return torch.stack([torch.hypot(points[:, 0], points[:, 1]), torch.atan2(points[:, 1], points[:, 0])], 1)


# Images


def image(img):
    return ((img.astype(np.float32) / 255.0 - 0.5) / 0.25).transpose(2, 0, 1)[None]


def image_torch(img):
    return ((img.to(torch.float32) / 255.0 - 0.5) / 0.25).permute(2, 0, 1)[None]


def grey(img):
    return np.round(img.astype(np.float32) @ LUMA).astype(np.uint8)


def grey_torch(img):
    return torch.round(img.to(torch.float32) @ T_LUMA).to(torch.uint8)


def cropped(img):
    return np.ascontiguousarray(img[2:-2, 2:-2][:, ::-1])


def cropped_torch(img):
    return torch.flip(img[2:-2, 2:-2], (1,)).contiguous()


def pooled(img):
    h, w = img.shape
    return img.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3))


def pooled_torch(img):
    h, w = img.shape
    return img.reshape(h // 2, 2, w // 2, 2).mean((1, 3))


def gradient(img):
    dx, dy = np.zeros_like(img), np.zeros_like(img)
    dx[:, 1:-1] = 0.5 * (img[:, 2:] - img[:, :-2])
    dy[1:-1] = 0.5 * (img[2:] - img[:-2])
    return np.sqrt(dx * dx + dy * dy)


def gradient_torch(img):
    dx, dy = torch.zeros_like(img), torch.zeros_like(img)
    dx[:, 1:-1] = 0.5 * (img[:, 2:] - img[:, :-2])
    dy[1:-1] = 0.5 * (img[2:] - img[:-2])
    return torch.sqrt(dx * dx + dy * dy)


# Linear algebra


def mahalanobis(x, m, s):
    d = x - m
    return np.sqrt(np.einsum("ni,ij,nj->n", d, np.linalg.inv(s), d))


def mahalanobis_torch(x, m, s):
    d = x - m
    return torch.sqrt(torch.einsum("ni,ij,nj->n", d, torch.linalg.inv(s), d))


def least_squares(a, b):
    return np.linalg.solve(a.T @ a + 1e-3 * np.eye(a.shape[1]), a.T @ b)


def least_squares_torch(a, b):
    return torch.linalg.solve(a.T @ a + 1e-3 * torch.eye(a.shape[1], dtype=torch.float64), a.T @ b)


def kalman(x, p, f, q):
    return f @ x, f @ p @ f.T + q


kalman_torch = kalman


def layer(x, w, b):
    return np.tanh(x @ w.T + b)


def layer_torch(x, w, b):
    return torch.tanh(x @ w.T + b)


def cases(large: bool) -> list[Case]:
    """The pairs, with arguments of a size."""
    r = np.random.default_rng(0)

    def f(*shape: int) -> Any:
        return r.normal(size=shape).astype(np.float32)

    def boxes(n: int) -> Any:
        b = np.abs(f(n, 4))
        b[:, 2:] += b[:, :2]
        return b

    n, k, (h, w) = (2000, 200, (480, 640)) if large else (4, 4, (8, 8))
    g, d = f(6, 6), r.normal(size=(n, 6))
    wide, pixels = f(n, 64), r.integers(0, 255, (h, w, 3)).astype(np.uint8)
    arguments: dict[str, tuple[Any, ...]] = {
        "scale": (wide,), "softmax": (wide,), "huber": (wide,), "gaussian": (wide,), "decibels": (wide,),
        "lookup": (r.uniform(0, 1, 10 * n), np.linspace(0, 1, 50), r.normal(size=50)),
        "push": (wide, f(64)), "shifted": (wide, f(64)), "features": (wide,),
        "smooth": (f(10 * n, 8),), "low_pass": (wide, f(n, 64)), "fir": (wide,), "moving_average": (f(n + 8, 16),),
        "stencil": (f(n // 2 + 4, n // 2 + 4),),
        "overlap": (boxes(k), boxes(k)), "centres": (boxes(10 * n),), "clipped": (boxes(10 * n),),
        "decoded": (boxes(10 * n), 0.1 * f(10 * n, 4)),
        "standardise": (wide,), "covariance": (wide,), "range_scaled": (wide,), "correlation": (wide, f(n, 64)),
        "rotate": (f(10 * n, 4), f(10 * n, 3)), "unit": (f(10 * n, 4),), "product": (f(10 * n, 4), f(10 * n, 4)),
        "turned": (f(10 * n), f(10 * n, 2)), "projected": (f(10 * n, 3), f(3, 3)), "distances": (f(k, 3), f(k, 3)),
        "wrapped": (10 * f(10 * n),), "polar": (f(10 * n, 2),),
        "image": (pixels,), "grey": (pixels,), "cropped": (pixels,), "pooled": (f(h, w),), "gradient": (f(h, w),),
        "mahalanobis": (f(n, 6), f(6), g @ g.T + np.eye(6, dtype=np.float32)), "least_squares": (d, r.normal(size=n)),
        "kalman": (f(6), g @ g.T, g, np.eye(6, dtype=np.float32)), "layer": (wide, f(32, 64), f(32)),
    }  # fmt: skip
    return [(globals()[name], globals()[f"{name}_torch"], args) for name, args in arguments.items()]
