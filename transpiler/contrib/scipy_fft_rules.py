"""Rules for scipy.fft, where it does as `numpy.fft` does. They are always in the table, also where SciPy is not installed.

Both share one library (pocketfft). SciPy computes float16 in float32 throughout, takes no axis twice, and has parameters that say how the
work is done; `overwrite_x=True` may leave anything in the argument, and is refused.
"""

from __future__ import annotations

import operator

from ..rules import Refused, as_tensor, cast, lookup, rule, to_torch

_HALF, _SINGLE = to_torch("float16"), to_torch("float32")
_OF_REAL = ("rfft", "ihfft", "rfftn", "rfft2")


def _one(name, x, n, axis, norm, overwrite_x, workers, plan):
    """A transform along one axis."""
    x = _given(name, x, overwrite_x, workers, plan)
    length = x.shape[axis] if n is None and -x.ndim <= axis < x.ndim else n
    if n == 0 and name in ("irfft", "hfft"):
        raise Refused(f"scipy.fft.{name} with n=0, where SciPy gives one point all the same", "give the number of points")
    if length is not None and operator.index(length) < 1:
        raise ValueError(f"invalid number of data points ({length}) specified")
    return lookup(f"numpy.fft.{name}").call(x, n, axis, norm)


def _several(name, x, s, axes, norm, overwrite_x, workers, plan):
    """A transform over several axes."""
    x = _given(name, x, overwrite_x, workers, plan)
    s, axes = (None if v is None else [operator.index(n) for n in (v if isinstance(v, (list, tuple)) else (v,))] for v in (s, axes))
    if axes is not None and any(not -x.ndim <= d < x.ndim for d in axes):
        raise ValueError("axes exceeds dimensionality of input")
    if axes is not None and len({d % x.ndim for d in axes}) < len(axes):
        raise ValueError("all axes must be unique")
    if s is not None and axes is not None and len(s) != len(axes):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    if s is not None and len(s) > x.ndim:
        raise ValueError("shape requires more axes than are present")
    if s is not None and any(n < 1 for n in s if n != -1):
        raise ValueError(f"invalid number of data points ({s}) specified")
    return lookup(f"numpy.fft.{name}").call(x, s, axes, norm)


def _given(name, x, overwrite_x, workers, plan):
    if overwrite_x or plan is not None:
        raise Refused(f"scipy.fft.{name} with {'overwrite_x=' if overwrite_x else 'plan='}", "leave it out: the result is the same")
    if workers is not None and (not isinstance(workers, int) or workers == 0):
        raise ValueError("workers must not be zero")
    x = as_tensor(x)
    if name in _OF_REAL and x.is_complex():
        raise TypeError("x must be a real sequence")
    return cast(x, _SINGLE) if x.dtype == _HALF else x


@rule("scipy.fft.fft", kind="fft", examples=("scipy.fft.fft(x)", "scipy.fft.fft(v, 8, norm='ortho')"))
def fft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _one("fft", x, n, axis, norm, overwrite_x, workers, plan)


@rule("scipy.fft.ifft", kind="fft", examples=("scipy.fft.ifft(x)", "scipy.fft.ifft(v, n=3, workers=1)"))
def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _one("ifft", x, n, axis, norm, overwrite_x, workers, plan)


@rule("scipy.fft.rfft", kind="fft", examples=("scipy.fft.rfft(f)", "scipy.fft.rfft(f, axis=0, norm='forward')"))
def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _one("rfft", x, n, axis, norm, overwrite_x, workers, plan)


@rule("scipy.fft.irfft", kind="fft", examples=("scipy.fft.irfft(scipy.fft.rfft(f), n=5)", "scipy.fft.irfft(z, 4)"))
def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _one("irfft", x, n, axis, norm, overwrite_x, workers, plan)


@rule("scipy.fft.hfft", kind="fft", examples=("scipy.fft.hfft(z, n=4)",))
def hfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _one("hfft", x, n, axis, norm, overwrite_x, workers, plan)


@rule("scipy.fft.ihfft", kind="fft", examples=("scipy.fft.ihfft(f)", "scipy.fft.ihfft(f, n=3, norm='ortho')"))
def ihfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _one("ihfft", x, n, axis, norm, overwrite_x, workers, plan)


@rule("scipy.fft.fftn", kind="fft", examples=("scipy.fft.fftn(x)", "scipy.fft.fftn(m, s=(4, 4), axes=(0, 1))"))
def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("fftn", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.ifftn", kind="fft", examples=("scipy.fft.ifftn(x)",))
def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("ifftn", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.rfftn", kind="fft", examples=("scipy.fft.rfftn(f)", "scipy.fft.rfftn(f, s=(4,), axes=(-1,))"))
def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("rfftn", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.irfftn", kind="fft", examples=("scipy.fft.irfftn(z, s=(5,), axes=(0,))",))
def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("irfftn", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.fft2", kind="fft", examples=("scipy.fft.fft2(m)", "scipy.fft.fft2(q, s=(4, 3), norm='ortho')"))
def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("fft2", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.ifft2", kind="fft", examples=("scipy.fft.ifft2(m)",))
def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("ifft2", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.rfft2", kind="fft", examples=("scipy.fft.rfft2(q)",))
def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("rfft2", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.irfft2", kind="fft", examples=("scipy.fft.irfft2(m, s=(4, 4))",))
def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _several("irfft2", x, s, axes, norm, overwrite_x, workers, plan)


@rule("scipy.fft.fftfreq", kind="creation", examples=("scipy.fft.fftfreq(8)", "scipy.fft.fftfreq(5, 0.1)"))
def fftfreq(n, d=1.0, *, xp=None, device=None):
    return _frequencies("fftfreq", n, d, xp, device)


@rule("scipy.fft.rfftfreq", kind="creation", examples=("scipy.fft.rfftfreq(8)", "scipy.fft.rfftfreq(5, 0.1)"))
def rfftfreq(n, d=1.0, *, xp=None, device=None):
    return _frequencies("rfftfreq", n, d, xp, device)


def _frequencies(name, n, d, xp, device):
    if xp is not None or device is not None:
        raise Refused(f"scipy.fft.{name} with xp= or device=", "leave them out: NumPy's arrays are meant")
    return lookup(f"numpy.fft.{name}").call(n, d)


@rule("scipy.fft.fftshift", kind="shape", examples=("scipy.fft.fftshift(a)", "scipy.fft.fftshift(x, axes=-1)"))
def fftshift(x, axes=None):
    return lookup("numpy.fft.fftshift").call(x, axes)


@rule("scipy.fft.ifftshift", kind="shape", examples=("scipy.fft.ifftshift(a)", "scipy.fft.ifftshift(x, axes=(0,))"))
def ifftshift(x, axes=None):
    return lookup("numpy.fft.ifftshift").call(x, axes)
