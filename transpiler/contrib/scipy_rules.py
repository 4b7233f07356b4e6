"""Rules for scipy.special: what policies and signal chains use most of it.

Switched on by `rules = ["np2fx.contrib.scipy_rules"]`. Real numbers only: where torch has no kernel for complex ones, they are
refused. SciPy's ufuncs are NumPy ufuncs, so `@ufunc` asks SciPy itself for the loop, and `out=`, `where=`, `.outer` come along.
"""

from __future__ import annotations

import numpy
import torch

from ..rules import Refused, as_tensor, cast, inexact, refuse, rule, ufunc


@ufunc("scipy.special.expit", examples=("scipy.special.expit(f)", "scipy.special.expit(x.real)"))
def expit(x):
    return torch.sigmoid(x)


@ufunc("scipy.special.logit", examples=("scipy.special.logit(f / 8)",))
def logit(x):
    """NaN outside of [0, 1]."""
    return torch.special.logit(x)


@ufunc("scipy.special.log_expit", examples=("scipy.special.log_expit(f)",))
def log_expit(x):
    return torch.nn.functional.logsigmoid(x)


@ufunc("scipy.special.erf", examples=("scipy.special.erf(f)",))
def erf(x):
    return torch.special.erf(_real(x, "erf"))


@ufunc("scipy.special.erfc", examples=("scipy.special.erfc(f / 2)",))
def erfc(x):
    return torch.special.erfc(_real(x, "erfc"))


@ufunc("scipy.special.ndtr", examples=("scipy.special.ndtr(f)",))
def ndtr(x):
    """The normal distribution function, half of erfc for negative numbers so that the tail keeps its digits."""
    return torch.special.erfc(torch.neg(_real(x, "ndtr")) * 2**-0.5) / 2


@ufunc("scipy.special.xlogy", examples=("scipy.special.xlogy(f, g)",))
def xlogy(x1, x2):
    return torch.special.xlogy(_real(x1, "xlogy"), x2)


@ufunc("scipy.special.entr", examples=("scipy.special.entr(f)",))
def entr(x):
    return torch.special.entr(x)


def _real(x, function):
    if x.is_complex():
        raise Refused(f"scipy.special.{function} of complex numbers", "pass real numbers", "unsupported-dtype")
    return x


@rule("scipy.special.softmax", kind="reduction",
      examples=("scipy.special.softmax(f)", "scipy.special.softmax(f, axis=-1)",
                "scipy.special.softmax(f, axis=(0, -1))"))  # fmt: skip
def softmax(x, axis=None):
    x = _floating(x, "softmax")
    if isinstance(axis, int):
        return torch.softmax(x, dim=axis)
    shifted = torch.exp(x - torch.amax(x, dim=_axes(axis, x), keepdim=True))
    return shifted / torch.sum(shifted, dim=_axes(axis, x), keepdim=True)


@rule("scipy.special.log_softmax", kind="reduction",
      examples=("scipy.special.log_softmax(f)", "scipy.special.log_softmax(f, axis=-1)"))  # fmt: skip
def log_softmax(x, axis=None):
    """SciPy takes a largest element that is not finite for 0, so that the finite ones keep their values."""
    x = _floating(x, "log_softmax")
    largest = torch.amax(x, dim=_axes(axis, x), keepdim=True)
    shifted = x - torch.where(torch.isfinite(largest), largest, 0)
    return shifted - torch.log(torch.sum(torch.exp(shifted), dim=_axes(axis, x), keepdim=True))


@rule("scipy.special.logsumexp", kind="reduction",
      examples=("scipy.special.logsumexp(f)", "scipy.special.logsumexp(f, axis=-1)",
                "scipy.special.logsumexp(x.real, axis=0, keepdims=True)"))  # fmt: skip
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    if b is not None or return_sign:
        raise Refused("scipy.special.logsumexp with b= or return_sign=", "add the logarithm of the weights to `a`")
    a = _real(as_tensor(a), "logsumexp")
    a = cast(_not_empty(a, "logsumexp"), inexact(a.dtype))
    return torch.logsumexp(a, dim=_axes(axis, a), keepdim=bool(keepdims))


def _floating(x, function):
    """SciPy subtracts integers from each other first, which wraps, and takes exp of small ones in float16."""
    x = as_tensor(x)
    if not x.is_floating_point():
        raise Refused(f"scipy.special.{function} of {x.dtype}", "cast to float32 or float64 first", "unsupported-dtype")
    return _not_empty(x, function)


def _not_empty(x, function):
    if 0 in x.shape:
        raise Refused(f"scipy.special.{function} of an array without elements", "test the shape first")
    return x


def _axes(axis, x):
    """The axes as torch wants them. Raises NumPy's AxisError."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    for d in axes:
        if not -x.ndim <= d < x.ndim:
            raise numpy.exceptions.AxisError(d, x.ndim)
    return tuple(axes)


refuse(
    "scipy.ndimage.zoom", "scipy.ndimage.rotate", "scipy.ndimage.affine_transform", "scipy.ndimage.map_coordinates",
    reason="it is compiled code that torch has no counterpart of",
    hint="use torch.nn.functional.grid_sample in a torch part of the node, or write the interpolation in NumPy",
)  # fmt: skip
refuse(
    "scipy.spatial.transform.Rotation", "scipy.spatial.transform.Slerp",
    reason="its objects keep their quaternions in compiled code",
    hint="put the conversion into a function of your own and give that a rule (docs/own-rules.md)", finding="opaque-call",
)  # fmt: skip
