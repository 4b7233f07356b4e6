"""Fourier transforms: `numpy.fft`.

float16 and float32 are transformed in single precision, integers, booleans and float64 in double precision, as in NumPy 2.
"""

from __future__ import annotations

import operator

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import as_tensor, cast
from ..semantics.dtypes import complex_of, inexact, real_of, to_numpy
from ..semantics.table import Refused, rule
from .arithmetic import divide, multiply

_NORMS = (None, "backward", "ortho", "forward")


def _ready(a, axis, n, norm):
    """Check the parameters of one 1-D transform; returns the axis and the length."""
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    axis = normalize_axis_index(axis, a.ndim)
    n = a.shape[axis] if n is None else operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return axis, n


def _run(transform, a, **parameters):
    """torch's transform. Of nothing (torch's library refuses it) it is zeros, of the shape that the meta device says."""
    if a.numel():
        return transform(a, **parameters)
    like = transform(torch.empty(a.shape, dtype=a.dtype, device="meta"), **parameters)
    return torch.zeros(like.shape, dtype=like.dtype, device=a.device)


def _one(transform, a, dtype, n, axis, norm, forward):
    """A transform along one axis. For float16 input NumPy rounds the scale to float16, so it is applied here."""
    plain = "backward" if forward else "forward"
    if dtype != torch.float16 or (norm or "backward") == plain:
        return _run(transform, a, n=n, dim=axis, norm=norm)
    half = numpy.float16(a.shape[axis] if n is None else n)
    scale = numpy.reciprocal(numpy.sqrt(half) if norm == "ortho" else half)
    return torch.mul(_run(transform, a, n=n, dim=axis, norm=plain), float(scale))


def _complex(a):
    return a if a.is_complex() else a.to(real_of(complex_of(a.dtype)))


def _real(a, name):
    if a.is_complex():
        raise TypeError(f"ufunc '{name}' did not contain a loop with signature matching types {to_numpy(a.dtype)!r} -> None")
    return _complex(a)


@rule("numpy.fft.fft", kind="fft", examples=("np.fft.fft(x)", "np.fft.fft(v, n=8)", "np.fft.fft(x, axis=0, norm='ortho')"))
def fft(a, n=None, axis=-1, norm=None, out=None):
    """1-D discrete Fourier transform, cropped or padded with zeros to `n` points."""
    a = as_tensor(a)
    _ready(a, axis, n, norm)
    return _one(torch.fft.fft, _complex(a), a.dtype, n, axis, norm, forward=True)


@rule("numpy.fft.ifft", kind="fft", examples=("np.fft.ifft(x)", "np.fft.ifft(v, n=3)", "np.fft.ifft(x, axis=0, norm='forward')"))
def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `fft`."""
    a = as_tensor(a)
    _ready(a, axis, n, norm)
    return _one(torch.fft.ifft, _complex(a), a.dtype, n, axis, norm, forward=False)


@rule("numpy.fft.rfft", kind="fft", examples=("np.fft.rfft(f)", "np.fft.rfft(f, n=8)", "np.fft.rfft(f, axis=0, norm='ortho')"))
def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The half of `fft` of real input that is not redundant. Raises TypeError for complex input."""
    a = as_tensor(a)
    _ready(a, axis, n, norm)
    return _one(torch.fft.rfft, _real(a, "rfft"), a.dtype, n, axis, norm, forward=True)


@rule("numpy.fft.irfft", kind="fft",
      examples=("np.fft.irfft(np.fft.rfft(f), n=5)", "np.fft.irfft(z, 4)", "np.fft.irfft(z, n=4, norm='ortho')"))  # fmt: skip
def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `rfft`, real; `n` is `2 * (m - 1)` where not given."""
    a = as_tensor(a)
    n = 2 * (a.shape[normalize_axis_index(axis, a.ndim)] - 1) if n is None else n
    _ready(a, axis, n, norm)
    return cast(_one(torch.fft.irfft, _spectrum(a), a.dtype, n, axis, norm, forward=False), inexact(real_of(a.dtype)))


def _spectrum(a):
    return a.to(complex_of(a.dtype))


@rule("numpy.fft.hfft", kind="fft", examples=("np.fft.hfft(z, n=4)", "np.fft.hfft(z, 5, norm='ortho')"))
def hfft(a, n=None, axis=-1, norm=None, out=None):
    """`fft` of a signal with Hermitian symmetry (given by its first half), real."""
    a = as_tensor(a)
    n = 2 * (a.shape[normalize_axis_index(axis, a.ndim)] - 1) if n is None else n
    _ready(a, axis, n, norm)
    return cast(_one(torch.fft.hfft, _spectrum(a), a.dtype, n, axis, norm, forward=True), inexact(real_of(a.dtype)))


@rule("numpy.fft.ihfft", kind="fft", examples=("np.fft.ihfft(f)", "np.fft.ihfft(f, n=3, norm='ortho')"))
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `hfft`. Raises TypeError for complex input."""
    a = as_tensor(a)
    _ready(a, axis, n, norm)
    return _one(torch.fft.ihfft, _real(a, "rfft"), a.dtype, n, axis, norm, forward=False)


def _axes(a, s, axes, norm, halved=False):
    """Lengths and axes of an N-D transform. `halved`: the last length is that of a real signal given by its half spectrum."""
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(a.ndim)
    axes = [normalize_axis_index(operator.index(d), a.ndim) for d in axes]
    if s is None:
        sizes = [a.shape[d] for d in axes]
        if halved and axes:
            sizes[-1] = 2 * (sizes[-1] - 1)
    else:
        sizes = [a.shape[d] if n is None or n == -1 else operator.index(n) for n, d in zip(s, axes, strict=False)]
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
    for n, d in zip(sizes, axes, strict=True):
        _ready(a, d, n, norm)
    return sizes, axes


@rule("numpy.fft.fftn", kind="fft",
      examples=("np.fft.fftn(x)", "np.fft.fftn(m, s=(4, 4), axes=(0, 1))", "np.fft.fftn(x, axes=(-1,), norm='ortho')"))  # fmt: skip
def fftn(a, s=None, axes=None, norm=None, out=None):
    """N-D discrete Fourier transform over `axes` (all, or the last ones that `s` gives lengths for)."""
    a = as_tensor(a)
    sizes, axes = _axes(a, s, axes, norm)
    if not axes:
        return a
    if len(set(axes)) == len(axes) and a.dtype != torch.float16:
        return _run(torch.fft.fftn, _complex(a), s=None if s is None else sizes, dim=axes, norm=norm)
    for n, d in list(zip(sizes, axes, strict=True))[::-1]:
        a = fft(a, n, d, norm)
    return a


@rule("numpy.fft.ifftn", kind="fft",
      examples=("np.fft.ifftn(x)", "np.fft.ifftn(m, s=(4, 4), axes=(0, 1))", "np.fft.ifftn(x, axes=(-1,), norm='ortho')"))  # fmt: skip
def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of `fftn`."""
    a = as_tensor(a)
    sizes, axes = _axes(a, s, axes, norm)
    if not axes:
        return a
    if len(set(axes)) == len(axes) and a.dtype != torch.float16:
        return _run(torch.fft.ifftn, _complex(a), s=None if s is None else sizes, dim=axes, norm=norm)
    for n, d in list(zip(sizes, axes, strict=True))[::-1]:
        a = ifft(a, n, d, norm)
    return a


@rule("numpy.fft.rfftn", kind="fft",
      examples=("np.fft.rfftn(f)", "np.fft.rfftn(f, axes=(-1,))", "np.fft.rfftn(f, s=(4,), axes=(-1,), norm='ortho')"))  # fmt: skip
def rfftn(a, s=None, axes=None, norm=None, out=None):
    """`fftn` of real input: `rfft` over the last axis, `fft` over the others."""
    a = as_tensor(a)
    sizes, axes = _axes(a, s, axes, norm)
    if not axes:
        raise IndexError("at least one axis is needed")
    if len(set(axes)) == len(axes) and a.dtype != torch.float16:
        return _run(torch.fft.rfftn, _real(a, "rfft"), s=None if s is None else sizes, dim=axes, norm=norm)
    a = rfft(a, sizes[-1], axes[-1], norm)
    for n, d in list(zip(sizes[:-1], axes[:-1], strict=True))[::-1]:
        a = fft(a, n, d, norm)
    return a


@rule("numpy.fft.irfftn", kind="fft",
      examples=("np.fft.irfftn(z, s=(4,), axes=(-1,))", "np.fft.irfftn(z, s=(5,), axes=(0,), norm='ortho')"))  # fmt: skip
def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of `rfftn`, real: `ifft` over the axes but the last, then `irfft`."""
    a = as_tensor(a)
    sizes, axes = _axes(a, s, axes, norm, halved=True)
    if not axes:
        raise IndexError("at least one axis is needed")
    real = inexact(real_of(a.dtype if len(axes) == 1 else complex_of(a.dtype)))
    if len(set(axes)) == len(axes) and a.dtype != torch.float16:
        return cast(_run(torch.fft.irfftn, _spectrum(a), s=sizes, dim=axes, norm=norm), real)
    for n, d in zip(sizes[:-1], axes[:-1], strict=True):
        a = ifft(a, n, d, norm)
    return irfft(a, sizes[-1], axes[-1], norm)


@rule("numpy.fft.fft2", kind="fft", examples=("np.fft.fft2(m)", "np.fft.fft2(q, s=(4, 3), norm='ortho')"))
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """`fftn` over the last two axes."""
    return fftn(a, s, axes, norm)


@rule("numpy.fft.ifft2", kind="fft", examples=("np.fft.ifft2(m)", "np.fft.ifft2(q, s=(4, 3), norm='ortho')"))
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """`ifftn` over the last two axes."""
    return ifftn(a, s, axes, norm)


@rule("numpy.fft.rfft2", kind="fft", examples=("np.fft.rfft2(q)", "np.fft.rfft2(q, s=(4, 3), norm='ortho')"))
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """`rfftn` over the last two axes."""
    return rfftn(a, s, axes, norm)


@rule("numpy.fft.irfft2", kind="fft", examples=("np.fft.irfft2(m, s=(4, 4))", "np.fft.irfft2(q, s=(4, 3), norm='ortho')"))
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """`irfftn` over the last two axes."""
    return irfftn(a, s, axes, norm)


# Frequencies and shifts


def _known_length(n, device):
    if device not in (None, "cpu"):
        raise ValueError(f"Device not understood. Only \"cpu\" is allowed, but received: {device}")
    if isinstance(n, torch.Tensor):
        raise Refused("n is computed from the inputs, but decides a shape", "pass n as a Python int", "data-dependent-shape")
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError("n should be an integer")
    return int(n)


def _spaced(steps, n, d):
    """`steps / (n * d)` in NumPy's order of operations."""
    if isinstance(d, torch.Tensor):
        return multiply.compute(steps.to(d.device), divide.compute(1.0, multiply.compute(n, d)))
    return torch.mul(steps, 1.0 / (n * d)).to(torch.float64)


@rule("numpy.fft.fftfreq", kind="creation", examples=("np.fft.fftfreq(8)", "np.fft.fftfreq(5, 0.1)"))
def fftfreq(n, d=1.0, device=None):
    """Sample frequencies of `fft` for a spacing `d`, float64: zero, the positive ones, the negative ones."""
    n = _known_length(n, device)
    half = (n - 1) // 2 + 1
    return _spaced(torch.cat([torch.arange(half, dtype=torch.float64), torch.arange(-(n // 2), 0, dtype=torch.float64)]), n, d)


@rule("numpy.fft.rfftfreq", kind="creation", examples=("np.fft.rfftfreq(8)", "np.fft.rfftfreq(5, 0.1)"))
def rfftfreq(n, d=1.0, device=None):
    """Sample frequencies of `rfft` for a spacing `d`, float64."""
    n = _known_length(n, device)
    return _spaced(torch.arange(n // 2 + 1, dtype=torch.float64), n, d)


def _shift(x, axes, amount):
    x = as_tensor(x)
    if x.ndim == 0 and not axes:
        raise ValueError("not enough values to unpack (expected 2, got 0)")  # NumPy's, for a number
    axes = range(x.ndim) if axes is None else [axes] if isinstance(axes, (int, numpy.integer)) else axes
    axes = [normalize_axis_index(operator.index(d), x.ndim) for d in axes]
    return torch.roll(x, [amount(x.shape[d]) for d in axes], axes) if axes else torch.clone(x)


@rule("numpy.fft.fftshift", kind="shape", examples=("np.fft.fftshift(a)", "np.fft.fftshift(x, axes=-1)"))
def fftshift(x, axes=None):
    """The zero frequency moved to the middle."""
    return _shift(x, axes, lambda n: n // 2)


@rule("numpy.fft.ifftshift", kind="shape", examples=("np.fft.ifftshift(a)", "np.fft.ifftshift(x, axes=(0,))"))
def ifftshift(x, axes=None):
    """The inverse of `fftshift`."""
    return _shift(x, axes, lambda n: -(n // 2))
