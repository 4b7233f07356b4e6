"""Polynomials by their coefficients: `numpy.polyval` and its relatives, and the evaluation functions of `numpy.polynomial`.

NumPy drops leading zeros of some operands. In a graph no shape may depend on values: there the leading coefficient is
asserted not to be zero (`_trimmed`), or the call is refused.
"""

from __future__ import annotations

import torch

from ..semantics.arrays import as_tensor, beside, cast, demand, is_recording, is_weak
from ..semantics.dtypes import inexact, promote, real_of
from ..semantics.entering import rule
from ..semantics.table import Refused, refuse
from .arithmetic import add, divide, multiply, subtract
from .creation import vander
from .joining import concatenate
from .linalg import eigvals, inv, lstsq
from .products import outer
from .signal import convolve

# numpy.polyval and its kin: coefficients with the highest power first

def _vector(p):
    p = as_tensor(p)
    return torch.reshape(p, (1,)) if p.ndim == 0 else p

def _lengthened(p, before, after):
    """`p` with zeros in front and behind."""
    return torch.nn.functional.pad(p, (before, after)) if before or after else p

def _refuse_traced(what):
    if is_recording():
        hint = "compute it outside of the node, from constants"
        raise Refused(f"{what} depends on the values of the coefficients", hint, "data-dependent-shape")

def _trimmed(p):
    """`p` without its leading zeros, as `numpy.poly1d` holds it."""
    p = _vector(p)
    if p.ndim > 1:
        raise ValueError("Polynomial must be 1d only.")
    if is_recording() and p.shape[0]:
        demand(torch.ne(p[:1], 0), ValueError("the leading coefficient is zero: NumPy's result would be shorter"))
        return p
    held = torch.nonzero(torch.ne(p, 0))
    return p[int(held[0]) :] if held.shape[0] else _lengthened(p[:0], 0, 1)

@rule("numpy.polyval", kind="polynomial", examples=("np.polyval([1, 2, 3], x)", "np.polyval(v, w)", "np.polyval(v, 0.5)"))
def polyval(p, x):
    """The polynomial with coefficients `p` (highest power first) at `x`, by Horner's scheme."""
    p, x = as_tensor(p), as_tensor(x)
    if p.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    y = torch.zeros_like(x)
    for coefficient in torch.unbind(p, 0):
        y = add.compute(multiply.compute(y, x), coefficient)
    return y

def _evened(*polynomials):
    """The shorter one filled with leading zeros."""
    vectors = [_vector(p) for p in polynomials]
    longest = max(p.shape[0] for p in vectors)
    if any(p.ndim > 1 and p.shape[0] < longest for p in vectors):
        raise ValueError("all the input arrays must have same number of dimensions")
    return [_lengthened(p, longest - p.shape[0], 0) for p in vectors]

@rule("numpy.polyadd", kind="polynomial", examples=("np.polyadd(v, w)", "np.polyadd(v, [1, 2])"))
def polyadd(a1, a2):
    return add.compute(*_evened(a1, a2))

@rule("numpy.polysub", kind="polynomial", examples=("np.polysub(np.polymul([1.0], [2.0]), [1, 2])", "np.polysub([1, 2, 3], 0.5)"))
def polysub(a1, a2):
    """Raises TypeError for booleans."""
    return subtract.compute(*_evened(a1, a2))

@rule("numpy.polymul", kind="polynomial", examples=("np.polymul([1, 2], [3.0, 4])", "np.polymul(np.abs(r) + 1, [1, 2])"))
def polymul(a1, a2):
    """The product, without the leading zeros of the factors."""
    return convolve(_trimmed(a1), _trimmed(a2))

@rule("numpy.polydiv", kind="polynomial", examples=("np.polydiv([1.0, 5, 6], [1, 2])",))
def polydiv(u, v):
    """Quotient and remainder; the remainder without leading coefficients that are nearly zero (refused in a graph)."""
    _refuse_traced("the length of the remainder")
    u, v = (add.compute(_vector(x), 0.0) for x in (u, v))
    dtype, extra = promote(u.dtype, v.dtype), u.shape[0] - v.shape[0]
    scale, v, rest, quotient = torch.reciprocal(v[0]).to(dtype), cast(v, dtype), cast(u, dtype), []
    for k in range(extra + 1):
        quotient.append(torch.mul(scale, rest[k]))
        rest = torch.sub(rest, _lengthened(torch.mul(quotient[-1], v), k, extra - k))
    q = torch.stack(quotient) if quotient else torch.zeros_like(v[:1])
    while bool(torch.abs(rest[0]) <= 1e-8) and rest.shape[0] > 1:
        rest = rest[1:]
    return q, rest

@rule("numpy.polyder", kind="polynomial", examples=("np.polyder(v)", "np.polyder([1, 2, 3, 4], 2)"))
def polyder(p, m=1):
    """The `m`-th derivative."""
    p, m = as_tensor(p), int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(m):
        p = multiply.compute(p[:-1], torch.arange(max(p.shape[0] - 1, 0), 0, -1, device=p.device))
    return p

@rule("numpy.polyint", kind="polynomial", examples=("np.polyint(v)", "np.polyint([1, 2, 3], 2, k=[3, 4])", "np.polyint(v, 2, 5)"))
def polyint(p, m=1, k=None):
    """The `m`-th antiderivative with constants `k`."""
    p, m = as_tensor(p), int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = beside(p, _vector(0.0 if k is None else k))
    if k.shape[0] == 1 and m > 1:
        k = multiply.compute(k, torch.ones((m,), dtype=torch.float64, device=k.device))
    if k.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in range(m):
        p = concatenate([divide.compute(p, torch.arange(p.shape[0], 0, -1, device=p.device)), k[i : i + 1]])
    return p

@rule("numpy.poly", kind="polynomial", examples=("np.poly([1.0, 2, 3])", "np.poly(r)"))
def poly(seq_of_zeros):
    """The monic polynomial with these zeros (of a square matrix: its characteristic polynomial).

    Complex zeros that come in conjugate pairs give real coefficients; complex zeros are refused in a graph."""
    if isinstance(seq_of_zeros, torch.Tensor) and seq_of_zeros.ndim == 0:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    zeros = _vector(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        zeros = eigvals(zeros)
    elif zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    elif zeros.dtype not in (torch.float32, torch.complex64, torch.complex128):
        zeros = zeros.to(torch.float64)
    if zeros.shape[0] == 0:
        return 1.0
    if zeros.is_complex():
        _refuse_traced("whether the coefficients are real")
    a = torch.ones((1,), dtype=zeros.dtype, device=zeros.device)
    for z in torch.unbind(zeros):
        a = convolve(a, torch.stack([torch.ones_like(z), torch.neg(z)]))
    if not zeros.is_complex():
        return a
    parts = [(z.real, z.imag) for z in zeros.tolist()]
    return torch.clone(a.real) if sorted(parts) == sorted((x, -y) for x, y in parts) else a

@rule("numpy.roots", kind="polynomial", examples=("np.roots([1.0, -3, 2])", "np.roots([1.0, 0, 1])", "np.roots([0, 2, 4, 0])"))
def roots(p):
    """The zeros of a polynomial, from the eigenvalues of its companion matrix (refused in a graph: see `numpy.linalg.eig`)."""
    p = _vector(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    _refuse_traced("the number of roots")
    found = torch.zeros((0,), dtype=torch.float64, device=p.device)
    held = torch.flatten(torch.nonzero(torch.ne(p, 0))).tolist()
    if not held:
        return found
    at_zero = p.shape[0] - held[-1] - 1
    p = cast(p[held[0] : held[-1] + 1], inexact(p.dtype))
    if p.shape[0] > 1:
        below = torch.eye(p.shape[0] - 1, dtype=p.dtype, device=p.device)[:-1]
        found = eigvals(torch.cat([torch.unsqueeze(torch.div(torch.neg(p[1:]), p[0]), 0), below]))
    return _lengthened(found, 0, at_zero)

@rule("numpy.polyfit", kind="polynomial",
      examples=("np.polyfit(r, r * r, 1)", "np.polyfit([1, 2, 3, 4], [1.0, 4, 9, 16], 2)", "np.polyfit(r, r, 1, full=True)[4]",
                "np.polyfit(np.arange(5), np.arange(5) ** 3, 1, w=[1, 2, 3, 2, 1], cov=True)"))  # fmt: skip
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Least squares. `full` adds residuals, rank, singular values and `rcond`; `cov` the covariance. NumPy's RankWarning is not given."""
    x, y, order = add.compute(as_tensor(x), 0.0), add.compute(as_tensor(y), 0.0), int(deg) + 1
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or x.shape[0] == 0 or y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError("expected a non-empty vector for x, and a 1D or 2D array as long as x for y")
    cutoff = torch.tensor(x.shape[0] * torch.finfo(x.dtype).eps, dtype=real_of(x.dtype)) if rcond is None else rcond
    rcond = x.shape[0] * torch.finfo(x.dtype).eps if rcond is None else rcond
    design, target = torch.flip(vander(x, order, increasing=True), (1,)), y
    if w is not None:
        w = add.compute(as_tensor(w), 0.0)
        if w.ndim != 1 or w.shape[0] != y.shape[0] or (w.is_complex() and not (x.is_complex() and y.is_complex())):
            raise TypeError("expected a 1-d array for weights, as long as y and real if x or y are")
        column = torch.unsqueeze(w, 1)
        design = cast(multiply.compute(design, column), design.dtype)
        target = cast(multiply.compute(y, column if y.ndim == 2 else w), y.dtype)
    scale = torch.sqrt(torch.sum(torch.mul(design, design), dim=0))
    design = torch.div(design, scale)
    c, residuals, rank, s = lstsq(design, target, rcond)
    c = divide.compute(c, torch.unsqueeze(scale, 1) if y.ndim == 2 else scale)
    if full:
        return c, residuals, rank, s, cutoff
    if not cov:
        return c
    base = torch.div(inv(torch.matmul(torch.transpose(design, 0, 1), design)), outer(scale, scale))
    base = torch.unsqueeze(base, 2) if y.ndim == 2 else base
    if cov == "unscaled":
        return c, base
    if x.shape[0] <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    return c, multiply.compute(base, divide.compute(residuals, x.shape[0] - order))

# numpy.polynomial: coefficients with the lowest power first

def _times(x, y):
    """The product; of two Python numbers a Python number, which stays weak."""
    return x * y if is_weak(x) and is_weak(y) else multiply.compute(x, y)

def _minus(x, y):
    return x - y if is_weak(x) and is_weak(y) else subtract.compute(x, y)

def _series(x, c, tensor):
    """`x`, and the coefficients as a list of tensors that broadcast against it."""
    c = _vector(c)
    c = cast(c, inexact(c.dtype))
    x = int(x) if isinstance(x, bool) else x if is_weak(x) else as_tensor(x)
    if tensor and not is_weak(x):
        c = torch.reshape(c, (*c.shape, *(1,) * x.ndim))
    return x, torch.unbind(c, 0)

def _clenshaw(c, first, fall, rise):
    """A series by Clenshaw's recurrence: the coefficient `c1` of degree `n` is folded into the two below it, as NumPy does.

    `first` is the polynomial of degree 1; `rise(c1, n)` is added one degree below, `fall(c1, n)` subtracted two below."""
    c0, c1 = (c[0], 0) if len(c) < 2 else c[-2:]
    for n, coefficient in zip(range(len(c) - 1, 1, -1), c[-3::-1], strict=False):
        c0, c1 = subtract.compute(coefficient, fall(c1, n)), add.compute(c0, rise(c1, n))
    return add.compute(c0, _times(c1, first))

@rule("numpy.polynomial.polynomial.polyval", kind="polynomial",
      examples=("np.polynomial.polynomial.polyval(x, [1, 2, 3])", "np.polynomial.polynomial.polyval(0.5, v)",
                "np.polynomial.polynomial.polyval(v, m.T, tensor=False)"))  # fmt: skip
def power_series(x, c, tensor=True):
    """The polynomial with coefficients `c` (lowest power first) at `x`."""
    x, c = _series(x, c, tensor)
    total = add.compute(c[-1], _times(x, 0))
    for coefficient in c[-2::-1]:
        total = add.compute(coefficient, _times(total, x))
    return total

@rule("numpy.polynomial.chebyshev.chebval", kind="polynomial", examples=("np.polynomial.chebyshev.chebval(v, w)",))
def chebval(x, c, tensor=True):
    x, c = _series(x, c, tensor)
    double = _times(2, x)
    return _clenshaw(c, x, lambda c1, n: c1, lambda c1, n: _times(c1, double))

@rule("numpy.polynomial.legendre.legval", kind="polynomial", examples=("np.polynomial.legendre.legval(v, w)",))
def legval(x, c, tensor=True):
    x, c = _series(x, c, tensor)
    return _clenshaw(c, x, lambda c1, n: _times(c1, (n - 1) / n), lambda c1, n: _times(_times(c1, x), (2 * n - 1) / n))

@rule("numpy.polynomial.laguerre.lagval", kind="polynomial",
      examples=("np.polynomial.laguerre.lagval(x, w)", "np.polynomial.laguerre.lagval(2, v)"))  # fmt: skip
def lagval(x, c, tensor=True):
    x, c = _series(x, c, tensor)
    return _clenshaw(c, _minus(1, x), lambda c1, n: divide.compute(_times(c1, n - 1), n),
                     lambda c1, n: divide.compute(_times(c1, _minus(2 * n - 1, x)), n))  # fmt: skip

@rule("numpy.polynomial.hermite.hermval", kind="polynomial", examples=("np.polynomial.hermite.hermval(v, w)",))
def hermval(x, c, tensor=True):
    """The physicists' polynomials."""
    x, c = _series(x, c, tensor)
    double = _times(x, 2)
    return _clenshaw(c, double, lambda c1, n: _times(c1, 2 * (n - 1)), lambda c1, n: _times(c1, double))

@rule("numpy.polynomial.hermite_e.hermeval", kind="polynomial", examples=("np.polynomial.hermite_e.hermeval(v, w)",))
def hermeval(x, c, tensor=True):
    """The probabilists' polynomials."""
    x, c = _series(x, c, tensor)
    return _clenshaw(c, x, lambda c1, n: _times(c1, n - 1), lambda c1, n: _times(c1, x))

# What has no rule: series are evaluated in torch, their coefficients computed outside

_EVERY = "add companion der div fit fromroots grid2d grid3d int line mul mulx pow roots sub trim val2d val3d vander vander2d vander3d"
_ORTHOGONAL = {"chebyshev": "cheb", "legendre": "leg", "laguerre": "lag", "hermite": "herm", "hermite_e": "herme"}
for _name in [
    *[f"{module}.{short}{n}" for module, short in {"polynomial": "poly", **_ORTHOGONAL}.items() for n in _EVERY.split()],
    *[f"{module}.{n}" for module, s in _ORTHOGONAL.items() for n in [f"{s}gauss", f"{s}weight", f"{s}2poly", f"poly2{s}"]],
    "polynomial.polyvalfromroots", "chebyshev.chebinterpolate", "chebyshev.chebpts1", "chebyshev.chebpts2",
]:  # fmt: skip
    refuse(f"numpy.polynomial.{_name}",
           reason="of the functions on series, only those that evaluate them in one variable have a rule (polyval, chebval and the like)",
           hint="compute the coefficients outside the node; for powers, np.polyadd and the like take the highest power first")  # fmt: skip
refuse("numpy.polynomial.set_default_printstyle", reason="it is a setting of how polynomials are printed", hint="call it outside the node",
       finding="side-effect")  # fmt: skip
for _name in ["Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"]:
    refuse(f"numpy.polynomial.{_name}", reason="it is a Python object that holds a polynomial, not a function of arrays",
           hint="use np.polyval on the coefficients, or numpy.polynomial's polyval, chebval, legval and the like")  # fmt: skip
refuse("numpy.poly1d", reason="it is a Python object that holds a polynomial, not a function of arrays",
       hint="use numpy.polyval, numpy.polymul and the like on the coefficients")  # fmt: skip
refuse("numpy.emath.sqrt", "numpy.emath.log", "numpy.emath.log2", "numpy.emath.log10", "numpy.emath.logn", "numpy.emath.power",
       "numpy.emath.arccos", "numpy.emath.arcsin", "numpy.emath.arctanh", "numpy.lib.scimath",
       reason="whether the result is real or complex depends on the values", finding="data-dependent-branch",
       hint="use numpy's function: on x.astype(complex), or on x if all is in its real domain (logn: log(x) / log(n))")  # fmt: skip
