"""Roots, exponentials, logarithms, trigonometric and hyperbolic functions: one torch function each."""

from __future__ import annotations

import torch

from ..semantics import complexes
from ..semantics.ufunc import ufunc

# Roots, exponentials and logarithms

@ufunc("numpy.sqrt")
def sqrt(x):
    return torch.sqrt(x)

@ufunc("numpy.cbrt")
def cbrt(x):
    """The real cube root, negative for negative numbers; one Newton step makes it exact to the last bits."""
    root = torch.copysign(torch.pow(torch.abs(x), 1.0 / 3.0), x)
    better = root - (root * root * root - x) / (3.0 * root * root)
    return torch.where(torch.isfinite(better), better, root)

@ufunc("numpy.exp")
def exp(x):
    return torch.exp(x)

@ufunc("numpy.exp2")
def exp2(x):
    return complexes.exp2(x) if x.is_complex() else torch.exp2(x)

@ufunc("numpy.expm1")
def expm1(x):
    if not x.is_complex():
        return torch.expm1(x)
    real, imag = torch.real(x), torch.imag(x)
    return torch.complex(torch.expm1(real) * torch.cos(imag) - 2 * torch.sin(imag / 2) ** 2, torch.exp(real) * torch.sin(imag))

@ufunc("numpy.log")
def log(x):
    return torch.log(x)

@ufunc("numpy.log2")
def log2(x):
    return torch.log2(x)

@ufunc("numpy.log10")
def log10(x):
    return torch.log10(x)

@ufunc("numpy.log1p")
def log1p(x):
    return complexes.log1p(x) if x.is_complex() else torch.log1p(x)

@ufunc("numpy.logaddexp")
def logaddexp(x1, x2):
    return torch.logaddexp(x1, x2)

@ufunc("numpy.logaddexp2")
def logaddexp2(x1, x2):
    return torch.logaddexp2(x1, x2)

@ufunc("numpy.sin")
def sin(x):
    return torch.sin(x)

@ufunc("numpy.cos")
def cos(x):
    return torch.cos(x)

@ufunc("numpy.tan")
def tan(x):
    return torch.tan(x)

@ufunc("numpy.arcsin", "numpy.asin")
def arcsin(x):
    return torch.asin(x)

@ufunc("numpy.arccos", "numpy.acos")
def arccos(x):
    return complexes.arccos(x) if x.is_complex() else torch.acos(x)

@ufunc("numpy.arctan", "numpy.atan")
def arctan(x):
    return torch.atan(x)

@ufunc("numpy.arctan2", "numpy.atan2")
def arctan2(x1, x2):
    return torch.atan2(x1, x2)

@ufunc("numpy.hypot")
def hypot(x1, x2):
    return torch.hypot(x1, x2)

@ufunc("numpy.sinh")
def sinh(x):
    return torch.sinh(x)

@ufunc("numpy.cosh")
def cosh(x):
    return torch.cosh(x)

@ufunc("numpy.tanh")
def tanh(x):
    return torch.tanh(x)

@ufunc("numpy.arcsinh", "numpy.asinh")
def arcsinh(x):
    return torch.asinh(x)

@ufunc("numpy.arccosh", "numpy.acosh")
def arccosh(x):
    return torch.acosh(x)

@ufunc("numpy.arctanh", "numpy.atanh")
def arctanh(x):
    return torch.atanh(x)

@ufunc("numpy.degrees")
def degrees(x):
    return torch.rad2deg(x)

@ufunc("numpy.rad2deg")
def rad2deg(x):
    return torch.rad2deg(x)

@ufunc("numpy.radians")
def radians(x):
    return torch.deg2rad(x)

@ufunc("numpy.deg2rad")
def deg2rad(x):
    return torch.deg2rad(x)
