"""Fourier transforms: `numpy.fft`.

float16 and float32 are transformed in single precision, integers, booleans and float64 in double precision, as in NumPy 2.
"""

from __future__ import annotations

import functools
import operator

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..semantics.arrays import as_tensor, is_size, zero_d_array
from ..semantics.dtypes import complex_of, real_of, to_numpy
from ..semantics.entering import rule
from ..semantics.table import Refused
from ..semantics.views import owned
from .arithmetic import divide, multiply
from .creation import check_device
from .shape import roll

_OF_REAL = (torch.fft.rfft, torch.fft.rfftn, torch.fft.ihfft)
_OF_SPECTRA = (torch.fft.irfft, torch.fft.irfftn, torch.fft.hfft)  # of a half spectrum: the result is real
_INVERSE = (torch.fft.ifft, torch.fft.irfft, torch.fft.ihfft)

def _check(n, norm):
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")

def _run(transform, a, **parameters):
    """torch's transform. Of nothing (torch's library refuses it) it is zeros, of the shape that the meta device says."""
    if a.is_complex() and transform in _OF_REAL:
        raise TypeError(f"ufunc 'rfft' did not contain a loop with signature matching types {to_numpy(a.dtype)!r} -> None")
    dtype = complex_of(a.dtype)
    a = a.to(dtype if a.is_complex() or transform in _OF_SPECTRA else real_of(dtype))
    if a.numel():
        return transform(a, **parameters)
    like = transform(torch.empty(a.shape, dtype=a.dtype, device="meta"), **parameters)
    return torch.zeros(like.shape, dtype=like.dtype, device=a.device)

def _along(transform, a, n, axis, norm):
    """torch's transform along one axis. For float16 input NumPy rounds the scale to float16, so it is applied here."""
    a = as_tensor(a)
    size = a.shape[normalize_axis_index(axis, a.ndim)]
    length = operator.index(n) if n is not None else 2 * (size - 1) if transform in _OF_SPECTRA else size
    _check(length, norm)
    if a.dtype != torch.float16:
        return _run(transform, a, n=n, dim=axis, norm=norm)
    unscaled = "forward" if transform in _INVERSE else "backward"
    result = _run(transform, a, n=n, dim=axis, norm=unscaled)
    if (norm or "backward") != unscaled:
        half = numpy.float16(length)
        result = torch.mul(result, float(numpy.reciprocal(numpy.sqrt(half) if norm == "ortho" else half)))
    return result.to(a.dtype) if transform in _OF_SPECTRA else result

@rule("numpy.fft.fft", kind="fft", examples=("np.fft.fft(x)", "np.fft.fft(v, n=8)", "np.fft.fft(x, axis=0, norm='ortho')"))
def fft(a, n=None, axis=-1, norm=None, out=None):
    """1-D discrete Fourier transform, cropped or padded with zeros to `n` points."""
    return _along(torch.fft.fft, a, n, axis, norm)

@rule("numpy.fft.ifft", kind="fft", examples=("np.fft.ifft(x)", "np.fft.ifft(v, n=3)", "np.fft.ifft(x, axis=0, norm='forward')"))
def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `fft`."""
    return _along(torch.fft.ifft, a, n, axis, norm)

@rule("numpy.fft.rfft", kind="fft", examples=("np.fft.rfft(f)", "np.fft.rfft(f, n=8)", "np.fft.rfft(f, axis=0, norm='ortho')"))
def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The half of `fft` of real input that is not redundant. Raises TypeError for complex input."""
    return _along(torch.fft.rfft, a, n, axis, norm)

@rule("numpy.fft.irfft", kind="fft", examples=("np.fft.irfft(np.fft.rfft(f), n=5)", "np.fft.irfft(z, 4, norm='ortho')"))
def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `rfft`, real; `n` is `2 * (m - 1)` where not given."""
    return _along(torch.fft.irfft, a, n, axis, norm)

@rule("numpy.fft.hfft", kind="fft", examples=("np.fft.hfft(z, n=4)", "np.fft.hfft(z, 5, norm='ortho')"))
def hfft(a, n=None, axis=-1, norm=None, out=None):
    """`fft` of a signal with Hermitian symmetry (given by its first half), real."""
    return _along(torch.fft.hfft, a, n, axis, norm)

@rule("numpy.fft.ihfft", kind="fft", examples=("np.fft.ihfft(f)", "np.fft.ihfft(f, n=3, norm='ortho')"))
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `hfft`. Raises TypeError for complex input."""
    return _along(torch.fft.ihfft, a, n, axis, norm)

def _over(transform, a, s, axes, norm, one, last):
    """torch's N-D transform: `last` along the last of `axes`, `one` along the others.

    One after the other where an axis comes twice (torch takes none twice), or where NumPy rounds each step (float16)."""
    a = as_tensor(a)
    if axes is None:
        axes = range(a.ndim) if s is None else range(-len(s), 0)
    axes = [normalize_axis_index(operator.index(d), a.ndim) for d in axes]
    sizes = [a.shape[d] for d in axes]
    if not axes and one is last:
        return zero_d_array(owned(a))
    if not axes:
        raise IndexError("at least one axis is needed")
    if s is not None:
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        s = sizes = [size if n in (None, -1) else operator.index(n) for n, size in zip(s, sizes, strict=True)]
    elif last is irfft:
        sizes[-1] = 2 * (sizes[-1] - 1)
    if len(set(axes)) == len(axes) and a.dtype != torch.float16:
        _check(min(sizes), norm)
        return _run(transform, a, s=s, dim=axes, norm=norm)
    steps = list(zip([one] * (len(axes) - 1) + [last], sizes, axes, strict=True))
    for function, n, d in steps if last is irfft else steps[::-1]:
        a = function(a, n, d, norm)
    return a

@rule("numpy.fft.fftn", kind="fft", examples=("np.fft.fftn(x)", "np.fft.fftn(m, s=(4, 4), axes=(0, 1), norm='ortho')"))
def fftn(a, s=None, axes=None, norm=None, out=None):
    """N-D discrete Fourier transform over `axes` (all, or the last ones that `s` gives lengths for)."""
    return _over(torch.fft.fftn, a, s, axes, norm, fft, fft)

@rule("numpy.fft.ifftn", kind="fft", examples=("np.fft.ifftn(x)", "np.fft.ifftn(m, s=(4, 4), axes=(0, 1), norm='ortho')"))
def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of `fftn`."""
    return _over(torch.fft.ifftn, a, s, axes, norm, ifft, ifft)

@rule("numpy.fft.rfftn", kind="fft", examples=("np.fft.rfftn(f)", "np.fft.rfftn(f, s=(4,), axes=(-1,), norm='ortho')"))
def rfftn(a, s=None, axes=None, norm=None, out=None):
    """`fftn` of real input: `rfft` over the last axis, `fft` over the others."""
    return _over(torch.fft.rfftn, a, s, axes, norm, fft, rfft)

@rule("numpy.fft.irfftn", kind="fft", examples=("np.fft.irfftn(q + 1j * q)", "np.fft.irfftn(z, s=(5,), axes=(0,), norm='ortho')"))
def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of `rfftn`, real: `ifft` over the axes but the last, then `irfft`."""
    return _over(torch.fft.irfftn, a, s, axes, norm, ifft, irfft)

@rule("numpy.fft.fft2", kind="fft", examples=("np.fft.fft2(m)", "np.fft.fft2(q, s=(4, 3), norm='ortho')"))
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return fftn(a, s, axes, norm)

@rule("numpy.fft.ifft2", kind="fft", examples=("np.fft.ifft2(m)", "np.fft.ifft2(q, s=(4, 3), norm='ortho')"))
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return ifftn(a, s, axes, norm)

@rule("numpy.fft.rfft2", kind="fft", examples=("np.fft.rfft2(q)", "np.fft.rfft2(q, s=(4, 3), norm='ortho')"))
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return rfftn(a, s, axes, norm)

@rule("numpy.fft.irfft2", kind="fft", examples=("np.fft.irfft2(m, s=(4, 4))", "np.fft.irfft2(q, s=(4, 3), norm='ortho')"))
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return irfftn(a, s, axes, norm)

def _frequencies(n, d, device, halved):
    """The steps of the spectrum over `n * d`, in NumPy's order of operations."""
    check_device(device)
    if isinstance(n, torch.Tensor):
        raise Refused("n is computed from the inputs, but decides a shape", "pass n as a Python int", "data-dependent-shape")
    if not isinstance(n, (int, numpy.integer)) or isinstance(n, bool):
        raise ValueError("n should be an integer")
    n = int(n)
    steps = torch.arange(n // 2 + 1) if halved else torch.cat([torch.arange((n + 1) // 2), torch.arange(-(n // 2), 0)])
    if isinstance(d, torch.Tensor):
        return multiply.compute(steps.to(d.device, torch.float64), divide.compute(1.0, multiply.compute(n, d)))
    return torch.mul(steps.to(torch.float64), 1.0 / (n * d))

@rule("numpy.fft.fftfreq", kind="creation", examples=("np.fft.fftfreq(8)", "np.fft.fftfreq(5, 0.1)"))
def fftfreq(n, d=1.0, device=None):
    """Sample frequencies of `fft` for a spacing `d`, float64: zero, the positive ones, the negative ones."""
    return _frequencies(n, d, device, halved=False)

@rule("numpy.fft.rfftfreq", kind="creation", examples=("np.fft.rfftfreq(8)", "np.fft.rfftfreq(5, 0.1)"))
def rfftfreq(n, d=1.0, device=None):
    """Sample frequencies of `rfft` for a spacing `d`, float64."""
    return _frequencies(n, d, device, halved=True)

def _shift(x, axes, sign):
    x = as_tensor(x)
    if x.ndim == 0 and not axes:
        raise ValueError("not enough values to unpack (expected 2, got 0)")  # NumPy's, for a number
    axes = normalize_axis_tuple(range(x.ndim) if axes is None else axes, x.ndim, allow_duplicate=True)
    if any(is_size(x.shape[d]) for d in axes):
        return functools.reduce(lambda moved, d: roll(moved, sign * (x.shape[d] // 2), d), axes, x)
    return torch.roll(x, [sign * (x.shape[d] // 2) for d in axes], axes) if axes else torch.clone(x)

@rule("numpy.fft.fftshift", kind="shape", examples=("np.fft.fftshift(a)", "np.fft.fftshift(x, axes=-1)"))
def fftshift(x, axes=None):
    """The zero frequency moved to the middle."""
    return _shift(x, axes, 1)

@rule("numpy.fft.ifftshift", kind="shape", examples=("np.fft.ifftshift(a)", "np.fft.ifftshift(x, axes=(0,))"))
def ifftshift(x, axes=None):
    """The inverse of `fftshift`."""
    return _shift(x, axes, -1)
