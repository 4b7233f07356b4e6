"""The packages that compute in compiled code: what they make of an array's buffer no graph sees."""

from __future__ import annotations

from .targets import words

_PACKAGES = words(
    "scipy cv2 numba PIL skimage sklearn pandas polars jax jaxlib tensorflow cupy numexpr shapely librosa soundfile torchvision open3d "
    "pyproj pinocchio mujoco casadi cvxpy osqp networkx h5py bottleneck xarray imageio matplotlib trimesh"
)
_OF_TORCH = ("torch.", "torchvision.ops.", "torchvision.models.")
"""What takes tensors alone, and is torch to whoever calls it."""


def is_compiled(name: str) -> bool:
    """Whether a dotted name is such a package's."""
    return name.partition(".")[0] in _PACKAGES and not is_torch(name)


def is_torch(name: str) -> bool:
    return name.startswith(_OF_TORCH)
