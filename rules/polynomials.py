"""Polynomials by their coefficients: `numpy.polyval` and its relatives, and the evaluation functions of `numpy.polynomial`.

NumPy drops leading zeros of some operands. In a graph no shape may depend on values: there the leading coefficient is
asserted not to be zero (`_trimmed`), or the call is refused.
"""

from __future__ import annotations

import functools

import torch

from ..semantics.arrays import as_tensor, cast, demand, is_weak
from ..semantics.dtypes import inexact, promote, real_of
from ..semantics.table import Refused, refuse, rule
from .arithmetic import add, divide, multiply, subtract
from .linalg import eigvals, inv, is_traced, lstsq
from .products import outer
from .signal import convolve


def _vector(p):
    p = as_tensor(p)
    return torch.reshape(p, (1,)) if p.ndim == 0 else p


def _times(x, y):
    """The product; of two Python numbers a Python number, which stays weak."""
    return x * y if is_weak(x) and is_weak(y) else multiply.compute(x, y)


def _nothing(like):
    """A single zero coefficient."""
    return torch.zeros((1,), dtype=like.dtype, device=like.device)


def _refuse_traced(what):
    if is_traced():
        hint = "compute it outside of the node, from constants"
        raise Refused(f"{what} depends on the values of the coefficients", hint, "data-dependent-shape")


def _trimmed(p):
    """`p` without its leading zeros, as `numpy.poly1d` holds it."""
    p = _vector(p)
    if p.ndim > 1:
        raise ValueError("Polynomial must be 1d only.")
    if p.shape[0] == 0:
        return _nothing(p)
    if is_traced():
        demand(torch.ne(torch.narrow(p, 0, 0, 1), 0), ValueError("the leading coefficient is zero: NumPy's result would be shorter"))
        return p
    held = torch.nonzero(torch.ne(p, 0))
    return p[int(held[0]) :] if held.shape[0] else _nothing(p)


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


def _added(operation, a1, a2):
    a1, a2 = _vector(a1), _vector(a2)
    missing = a2.shape[0] - a1.shape[0]
    if missing > 0:
        a1 = torch.cat([torch.zeros((missing, *a1.shape[1:]), dtype=a1.dtype, device=a1.device), a1])
    elif missing < 0:
        a2 = torch.cat([torch.zeros((-missing, *a2.shape[1:]), dtype=a2.dtype, device=a2.device), a2])
    return operation(a1, a2)


@rule("numpy.polyadd", kind="polynomial", examples=("np.polyadd(v, w)", "np.polyadd(v, [1, 2])"))
def polyadd(a1, a2):
    """The sum; the shorter one is filled with leading zeros."""
    return _added(add.compute, a1, a2)


@rule("numpy.polysub", kind="polynomial", examples=("np.polysub(np.polymul([1.0], [2.0]), [1, 2])", "np.polysub([1, 2, 3], 0.5)"))
def polysub(a1, a2):
    """The difference; the shorter one is filled with leading zeros. Raises TypeError for booleans."""
    return _added(subtract.compute, a1, a2)


@rule("numpy.polymul", kind="polynomial", examples=("np.polymul([1, 2], [3.0, 4])", "np.polymul(np.abs(r) + 1, [1, 2])"))
def polymul(a1, a2):
    """The product, without the leading zeros of the factors."""
    return convolve(_trimmed(a1), _trimmed(a2))


@rule("numpy.polydiv", kind="polynomial", examples=("np.polydiv([1.0, 5, 6], [1, 2])",))
def polydiv(u, v):
    """Quotient and remainder; the remainder without leading coefficients that are nearly zero (refused in a graph)."""
    _refuse_traced("the length of the remainder")
    u, v = (add.compute(_vector(x), 0.0) for x in (u, v))
    if 0 in (u.shape[0], v.shape[0]):
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    dtype = promote(u.dtype, v.dtype)
    m, n = u.shape[0] - 1, v.shape[0] - 1
    scale, v, rest, quotient = torch.reciprocal(v[0]).to(dtype), cast(v, dtype), cast(u, dtype), []
    for k in range(m - n + 1):
        d = torch.mul(scale, rest[k])
        quotient.append(d)
        rest = torch.sub(rest, torch.nn.functional.pad(torch.mul(d, v), (k, m - n - k)))
    q = torch.stack(quotient) if quotient else torch.zeros((1,), dtype=dtype, device=rest.device)
    while rest.shape[0] > 1 and bool(torch.abs(rest[0]) <= 1e-8):
        rest = rest[1:]
    return q, rest


@rule("numpy.polyder", kind="polynomial", examples=("np.polyder(v)", "np.polyder([1, 2, 3, 4], 2)"))
def polyder(p, m=1):
    """The `m`-th derivative."""
    p, m = as_tensor(p), int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(m):
        powers = torch.arange(max(p.shape[0] - 1, 0), 0, -1, device=p.device)
        p = multiply.compute(torch.narrow(p, 0, 0, max(p.shape[0] - 1, 0)), powers)
    return p


@rule("numpy.polyint", kind="polynomial", examples=("np.polyint(v)", "np.polyint([1, 2, 3], 2, k=[3, 4])"))
def polyint(p, m=1, k=None):
    """The `m`-th antiderivative with constants `k`."""
    p, m = as_tensor(p), int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = torch.zeros((m,), dtype=torch.float64, device=p.device) if k is None else _vector(k)
    if k.shape[0] == 1 and m > 1:
        k = multiply.compute(k, torch.ones((m,), dtype=torch.float64, device=k.device))
    if k.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in range(m):
        powers = torch.arange(p.shape[0], 0, -1, device=p.device)
        parts = [divide.compute(p, powers), torch.narrow(k, 0, i, 1)]
        common = promote(*(x.dtype for x in parts))
        p = torch.cat([cast(x, common) for x in parts])
    return p


@rule("numpy.poly", kind="polynomial", examples=("np.poly([1.0, 2, 3])", "np.poly(r)"))
def poly(seq_of_zeros):
    """The monic polynomial with these zeros (of a square matrix: its characteristic polynomial).

    Complex zeros that come in conjugate pairs give real coefficients; complex zeros are refused in a graph."""
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
    one = torch.ones((1,), dtype=zeros.dtype, device=zeros.device)
    factors = [torch.cat([one, torch.reshape(torch.neg(z), (1,))]) for z in torch.unbind(zeros)]
    a = functools.reduce(convolve, factors, one)
    return torch.clone(a.real) if zeros.is_complex() and _in_pairs(zeros) else a


def _in_pairs(zeros):
    """True where the complex numbers are the same set as their conjugates."""
    pairs = [sorted((z.real, z.imag) for z in values.tolist()) for values in (zeros, torch.conj_physical(zeros))]
    return pairs[0] == pairs[1]


@rule("numpy.roots", kind="polynomial", examples=("np.roots([1.0, -3, 2])", "np.roots([1.0, 0, 1])"))
def roots(p):
    """The zeros of a polynomial, from the eigenvalues of its companion matrix (refused in a graph: see `numpy.linalg.eig`)."""
    p = _vector(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    _refuse_traced("the number of roots")
    held = torch.flatten(torch.nonzero(torch.ne(p, 0)))
    if held.shape[0] == 0:
        return torch.zeros((0,), dtype=torch.float64, device=p.device)
    first, last = int(held[0]), int(held[-1])
    at_zero = p.shape[0] - last - 1
    p = cast(p[first : last + 1], inexact(p.dtype))
    n = p.shape[0]
    if n > 1:
        top = torch.div(torch.neg(p[1:]), p[0])
        companion = torch.cat([torch.unsqueeze(top, 0), torch.eye(n - 1, dtype=p.dtype, device=p.device)[:-1]])
        found = eigvals(companion)
    else:
        found = torch.zeros((0,), dtype=torch.float64, device=p.device)
    return torch.cat([found, torch.zeros((at_zero,), dtype=found.dtype, device=p.device)])


@rule("numpy.polyfit", kind="polynomial", examples=("np.polyfit(r, r * r, 1)", "np.polyfit([1, 2, 3, 4], [1.0, 4, 9, 16], 2)"))
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Least squares fit of a polynomial of degree `deg` (highest power first), with weights `w`.

    `full` adds residuals, rank, singular values and `rcond`; `cov` the covariance of the coefficients. NumPy's warning of a
    poor conditioning is not given."""
    x, y, order = add.compute(as_tensor(x), 0.0), add.compute(as_tensor(y), 0.0), int(deg) + 1
    _check_fit(x, y, deg)
    cutoff = torch.tensor(x.shape[0] * torch.finfo(x.dtype).eps, dtype=real_of(x.dtype)) if rcond is None else rcond
    rcond = x.shape[0] * torch.finfo(x.dtype).eps if rcond is None else rcond
    x = cast(x, promote(x.dtype, torch.int64))  # as numpy.vander does
    powers = [torch.ones_like(x)]
    for _ in range(order - 1):
        powers.append(torch.mul(powers[-1], x))
    design, target = torch.stack(powers[::-1], dim=1), y
    if w is not None:
        w = add.compute(as_tensor(w), 0.0)
        if w.ndim != 1 or w.shape[0] != y.shape[0]:
            raise TypeError("expected a 1-d array for weights, as long as y")
        design = cast(multiply.compute(design, torch.unsqueeze(w, 1)), design.dtype)
        target = cast(multiply.compute(y, torch.unsqueeze(w, 1) if y.ndim == 2 else w), y.dtype)
    scale = torch.sqrt(torch.sum(torch.mul(design, design), dim=0))
    design = torch.div(design, scale)
    c, residuals, rank, s = lstsq(design, target, rcond)
    c = torch.transpose(divide.compute(torch.transpose(c, 0, 1), scale), 0, 1) if c.ndim == 2 else divide.compute(c, scale)
    if full:
        return c, residuals, rank, s, cutoff
    return (c, _covariance(design, scale, residuals, x.shape[0] - order, y.ndim, cov)) if cov else c


def _check_fit(x, y, deg):
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.shape[0] == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")


def _covariance(design, scale, residuals, freedom, rank_of_y, cov):
    base = torch.div(inv(torch.matmul(torch.transpose(design, 0, 1), design)), outer(scale, scale))
    if isinstance(cov, str) and cov == "unscaled":
        return base if rank_of_y == 1 else torch.unsqueeze(base, 2)
    if freedom <= 0:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    factor = divide.compute(residuals, freedom)
    return multiply.compute(base if rank_of_y == 1 else torch.unsqueeze(base, 2), factor)


# numpy.polynomial: coefficients with the lowest power first


def _series(x, c, tensor):
    """The coefficients as a list of tensors that broadcast against `x`, and `x`."""
    c = _vector(c)
    c = cast(c, inexact(c.dtype)) if c.dtype != torch.float16 else c
    x = x if is_weak(x) else as_tensor(x)
    if not is_weak(x) and tensor:
        c = torch.reshape(c, (*c.shape, *(1,) * x.ndim))
    return x, list(torch.unbind(c, 0))


@rule("numpy.polynomial.polynomial.polyval", kind="polynomial",
      examples=("np.polynomial.polynomial.polyval(x, [1, 2, 3])", "np.polynomial.polynomial.polyval(0.5, v)"))  # fmt: skip
def power_series(x, c, tensor=True):
    """The polynomial with coefficients `c` (lowest power first) at `x`."""
    x, c = _series(x, c, tensor)
    total = add.compute(c[-1], _times(x, 0))
    for coefficient in c[-2::-1]:
        total = add.compute(coefficient, _times(total, x))
    return total


@rule("numpy.polynomial.chebyshev.chebval", kind="polynomial", examples=("np.polynomial.chebyshev.chebval(x, [1, 2, 3, 4])",))
def chebval(x, c, tensor=True):
    """The Chebyshev series with coefficients `c` at `x`, by Clenshaw's recurrence."""
    x, c = _series(x, c, tensor)
    if len(c) < 3:
        c0, c1 = c[0], (c[1] if len(c) == 2 else 0)
    else:
        double = _times(2, x)
        c0, c1 = c[-2], c[-1]
        for coefficient in c[-3::-1]:
            c0, c1 = subtract.compute(coefficient, c1), add.compute(c0, _times(c1, double))
    return add.compute(c0, _times(c1, x))


@rule("numpy.polynomial.legendre.legval", kind="polynomial", examples=("np.polynomial.legendre.legval(x, [1, 2, 3, 4])",))
def legval(x, c, tensor=True):
    """The Legendre series with coefficients `c` at `x`, by Clenshaw's recurrence."""
    x, c = _series(x, c, tensor)
    if len(c) < 3:
        c0, c1 = c[0], (c[1] if len(c) == 2 else 0)
    else:
        c0, c1 = c[-2], c[-1]
        for n, coefficient in zip(range(len(c) - 1, 1, -1), c[-3::-1], strict=True):
            step = _times(c1, (n - 1) / n)
            rise = divide.compute(_times(_times(c1, x), 2 * n - 1), n)
            c0, c1 = subtract.compute(coefficient, step), add.compute(c0, rise)
    return add.compute(c0, _times(c1, x))


refuse("numpy.poly1d", reason="it is a Python object that holds a polynomial, not a function of arrays",
       hint="use numpy.polyval, numpy.polymul and the like on the coefficients")  # fmt: skip
refuse("numpy.emath.sqrt", "numpy.emath.log", "numpy.emath.log2", "numpy.emath.log10", "numpy.emath.logn", "numpy.emath.power",
       "numpy.emath.arccos", "numpy.emath.arcsin", "numpy.emath.arctanh",
       reason="whether the result is real or complex depends on the values", hint="cast to a complex dtype and use numpy's function",
       finding="data-dependent-branch")  # fmt: skip
