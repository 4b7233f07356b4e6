"""`scipy.spatial.transform.Rotation` in graphs: a class in NumPy that stands for SciPy's while a function is traced.

Switched on by `rules = ["np2fx.contrib.rotation_rules"]`. One rotation or a row of them, from and as quaternions, matrices and rotation
vectors, from Euler angles, `apply`, `inv`, `*`, `magnitude`, `identity`; what else SciPy's class has is refused. What SciPy
raises for arguments of other shapes it has raised before: a function is run before it is traced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules import demand, stands_for
from ..tracing import state
from ..tracing.errors import error

_AXES = {"x": 0, "y": 1, "z": 2}


def _check(holds: Any, problem: Exception) -> None:
    """An error that hangs on values is an assertion of the graph."""
    tracer = state.active()
    if tracer is None or not state.is_traced(holds):
        if not holds:
            raise problem
        return
    with tracer.inside():
        demand(tracer.tensor(holds), problem)


def _unknown(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    raise error("opaque-call", f"Rotation.{name} has no rule", "use quaternions, matrices, rotation vectors, from_euler, apply, inv and *")


class _Known(type):
    def __getattr__(cls, name: str) -> Any:
        _unknown(name)


@stands_for("scipy.spatial.transform.Rotation")
class Rotation(metaclass=_Known):
    """SciPy's Rotation, by quaternions, the scalar last."""

    def __init__(self, quat: Any, normalize: bool = True, copy: bool = True, scalar_first: bool = False) -> None:
        quat = np.asarray(quat, dtype=float)
        if quat.ndim not in (1, 2) or quat.shape[-1] != 4:
            _unknown("from_quat of more than two axes")
        quat = np.roll(quat, -1, axis=-1) if scalar_first else quat
        if normalize:
            norm = np.sqrt((quat * quat).sum(axis=-1, keepdims=True))
            _check((norm != 0).all(), ValueError("Found zero norm quaternions in `quat`."))
            quat = quat / norm
        self._quat = quat

    def __getattr__(self, name: str) -> Any:
        _unknown(name)

    def __len__(self) -> int:
        if self._quat.ndim == 1:
            raise TypeError("Single rotation has no len().")
        return len(self._quat)

    def __getitem__(self, key: Any) -> Rotation:
        if self._quat.ndim == 1:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self._quat[key], normalize=False)

    @classmethod
    def of(cls, rotation: Any) -> Rotation:
        """SciPy's object as one of this class."""
        return cls(rotation.as_quat(), normalize=False)

    @classmethod
    def identity(cls, num: int | None = None) -> Rotation:
        one = np.array([0.0, 0.0, 0.0, 1.0])
        return cls(one if num is None else np.tile(one, (num, 1)), normalize=False)

    @classmethod
    def from_quat(cls, quat: Any, *, scalar_first: bool = False) -> Rotation:
        return cls(quat, scalar_first=scalar_first)

    @classmethod
    def from_matrix(cls, matrix: Any, *, assume_valid: bool = False) -> Rotation:
        matrix = np.asarray(matrix, dtype=float)
        if matrix.ndim not in (2, 3) or matrix.shape[-2:] != (3, 3):
            _unknown("from_matrix of more than three axes")
        if not assume_valid:
            problem = ValueError("Non-positive determinant (left-handed or null coordinate frame) in rotation matrix.")
            _check(np.logical_not(np.linalg.det(matrix) <= 0).all(), problem)
            u, _, v = np.linalg.svd(matrix)
            matrix = u @ v  # the nearest orthogonal one
        m = [[matrix[..., i, j] for j in range(3)] for i in range(3)]
        trace = m[0][0] + m[1][1] + m[2][2]
        best = np.argmax(np.stack([m[0][0], m[1][1], m[2][2], trace], axis=-1), axis=-1)
        sides = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            parts = {i: 1 - trace + 2 * m[i][i], j: m[j][i] + m[i][j], k: m[k][i] + m[i][k], 3: m[k][j] - m[j][k]}
            sides.append(np.stack([parts[n] for n in range(4)], axis=-1))
        sides.append(np.stack([m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 1 + trace], axis=-1))
        best = best[..., None]
        return cls(np.where(best == 3, sides[3], np.where(best == 2, sides[2], np.where(best == 1, sides[1], sides[0]))))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        rotvec = np.asarray(rotvec, dtype=float)
        if rotvec.ndim not in (1, 2) or rotvec.shape[-1] != 3:
            _unknown("from_rotvec of more than two axes")
        rotvec = np.deg2rad(rotvec) if degrees else rotvec
        angle = np.sqrt((rotvec * rotvec).sum(axis=-1, keepdims=True))
        small = angle <= 1e-3
        square = angle * angle
        scale = np.where(small, 0.5 - square / 48 + square * square / 3840, np.sin(angle / 2) / np.where(small, 1.0, angle))
        return cls(np.concatenate([scale * rotvec, np.cos(angle / 2)], axis=-1), normalize=False)

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        angles = np.asarray(angles, dtype=float)
        angles = np.deg2rad(angles) if degrees else angles
        if len(seq) == 1 and angles.ndim < 2:
            angles = angles[..., None]
        if angles.ndim not in (1, 2) or angles.shape[-1] != len(seq):
            _unknown("from_euler of such angles")
        found = None
        for n, axis in enumerate(seq.lower()):
            half = angles[..., n] / 2
            parts = [np.zeros_like(half), np.zeros_like(half), np.zeros_like(half), np.cos(half)]
            parts[_AXES[axis]] = np.sin(half)
            one = np.stack(parts, axis=-1)
            found = one if found is None else _product(found, one) if seq.isupper() else _product(one, found)
        return cls(found, normalize=False)

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        quat = self._quat
        if canonical:
            x, y, z, w = (quat[..., n : n + 1] for n in range(4))
            flips = (w < 0) | ((w == 0) & ((x < 0) | ((x == 0) & ((y < 0) | ((y == 0) & (z < 0))))))
            quat = np.where(flips, -quat, quat)
        return np.roll(quat, 1, axis=-1) if scalar_first else quat.copy()

    def as_matrix(self) -> Any:
        x, y, z, w = (self._quat[..., n] for n in range(4))
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self, degrees: bool = False) -> Any:
        quat = np.where(self._quat[..., 3:] < 0, -self._quat, self._quat)
        axis = quat[..., :3]
        angle = 2 * np.arctan2(np.sqrt((axis * axis).sum(axis=-1, keepdims=True)), quat[..., 3:])
        small = angle <= 1e-3
        square = angle * angle
        scale = np.where(small, 2 + square / 12 + 7 * square * square / 2880, angle / np.where(small, 1.0, np.sin(angle / 2)))
        return np.rad2deg(scale * axis) if degrees else scale * axis

    def magnitude(self) -> Any:
        axis = self._quat[..., :3]
        return 2 * np.arctan2(np.sqrt((axis * axis).sum(axis=-1)), np.abs(self._quat[..., 3]))

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        vectors = np.asarray(vectors, dtype=float)
        if vectors.ndim not in (1, 2) or vectors.shape[-1] != 3:
            _unknown("apply to more than two axes")
        matrix = self.as_matrix()
        matrix = np.swapaxes(matrix, -1, -2) if inverse else matrix
        return (matrix * vectors[..., None, :]).sum(axis=-1)

    def inv(self) -> Rotation:
        return Rotation(self._quat * np.array([-1.0, -1.0, -1.0, 1.0]), normalize=False)

    def __mul__(self, other: Any) -> Any:
        return Rotation(_product(self._quat, other._quat)) if isinstance(other, Rotation) else NotImplemented


def _product(p: Any, q: Any) -> Any:
    """Of quaternions, the scalars last."""
    u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    vector = a * v + b * u + np.cross(u, v)
    return np.concatenate([vector, a * b - (u * v).sum(axis=-1, keepdims=True)], axis=-1)
