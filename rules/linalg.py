"""Linear algebra: `numpy.linalg`.

NumPy hands every matrix to LAPACK in double precision and rounds the results to the dtype of the input, so float32 matrices are
computed in float64 here too: ranks, singular matrices and ill-conditioned inverses come out as NumPy's. float16 raises TypeError.
Both libraries call LAPACK, but not the same build of it: signs of eigenvectors and singular vectors are those of either build.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import operator
from typing import Any, NamedTuple

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from numpy.linalg import LinAlgError

from ..semantics.arrays import as_tensor, cast, demand
from ..semantics.dtypes import complex_of, inexact, real_of, to_numpy
from ..semantics.table import Refused, rule
from .products import dot, exactly, is_plain, matmul


class EigResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    U: Any
    S: Any
    Vh: Any


# What all functions share: the dtype they compute in, the shapes they take, the class of their errors.


def in_double(*arrays):
    """The operands in float64 or complex128, and the dtype to which NumPy rounds the results. Raises TypeError for float16."""
    tensors = [as_tensor(a) for a in arrays]
    for t in tensors:
        if t.dtype == torch.float16:
            raise TypeError("array type float16 is unsupported in linalg")
    single = all(t.dtype in (torch.float32, torch.complex64) for t in tensors)
    if any(t.dtype.is_complex for t in tensors):
        return *(cast(t, torch.complex128) for t in tensors), torch.complex64 if single else torch.complex128
    return *(cast(t, torch.float64) for t in tensors), torch.float32 if single else torch.float64


def stacked(a):
    """`a` as a tensor of matrices. Raises LinAlgError for fewer than two dimensions."""
    a = as_tensor(a)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    return a


def square(a):
    """`a` as a tensor of square matrices. Raises LinAlgError for others."""
    a = stacked(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return a


@contextlib.contextmanager
def lapack():
    """torch's LinAlgError as NumPy's (torch's is a RuntimeError, NumPy's a ValueError)."""
    try:
        yield
    except torch.linalg.LinAlgError as error:
        raise LinAlgError(str(error)) from None


def is_traced():
    """True while a tracer watches: values may not decide anything."""
    return bool(torch.overrides._get_current_function_mode_stack())


# Norms


@rule("numpy.linalg.norm", kind="reduction",
      examples=("np.linalg.norm(x)", "np.linalg.norm(x, axis=-1)", "np.linalg.norm(x, axis=-1, keepdims=True)",
                "np.linalg.norm(v, ord=np.inf)", "np.linalg.norm(v, 1)", "np.linalg.norm(m, 'fro')", "np.linalg.norm(m, axis=(0, 1))",
                "np.linalg.norm(x, 3, axis=0)"))  # fmt: skip
def norm(x, ord=None, axis=None, keepdims=False):
    """A norm of vectors along `axis`, of matrices over a pair of axes, or of the whole array.

    Squares are summed plainly, as NumPy does (`torch.linalg.vector_norm` scales them, and so differs where they overflow
    or vanish). Raises ValueError for orders and ranks that do not go together."""
    x = as_tensor(x)
    x = cast(x, inexact(x.dtype))
    if axis is None and (ord is None or (x.ndim == 2 and ord in ("f", "fro")) or (x.ndim == 1 and ord == 2)):
        flat = torch.flatten(x)
        total = torch.sqrt(_squares(flat))
        return torch.reshape(total, (1,) * x.ndim) if keepdims else total
    if axis is None:
        axis = tuple(range(x.ndim))
    elif not isinstance(axis, tuple):
        axis = (operator.index(axis),)
    if len(axis) == 1:
        return _vector_norm(x, ord, normalize_axis_index(axis[0], x.ndim), keepdims)
    if len(axis) == 2:
        rows, columns = normalize_axis_index(axis[0], x.ndim), normalize_axis_index(axis[1], x.ndim)
        if rows == columns:
            raise ValueError("Duplicate axes given.")
        return _matrix_norm(x, ord, rows, columns, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _squares(flat):
    if flat.is_complex():
        return torch.dot(flat.real, flat.real) + torch.dot(flat.imag, flat.imag)
    return torch.dot(flat, flat) if is_plain(flat) else exactly(torch.dot, flat, flat)


def _square_sum(x, axes, keepdims=False):
    x = torch.real(torch.conj_physical(x) * x) if x.is_complex() else torch.mul(x, x)
    return torch.sum(x, dim=axes, keepdim=keepdims)


def _vector_norm(x, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return torch.sqrt(_square_sum(x, axis, keepdims))
    if ord == 0:
        return torch.sum(torch.ne(x, 0).to(real_of(x.dtype)), dim=axis, keepdim=keepdims)
    size = torch.abs(x)
    if ord == math.inf:
        return _largest(size, axis, keepdims)
    if ord == -math.inf:
        return _smallest(size, axis, keepdims)
    if ord == 1:
        return torch.sum(size, dim=axis, keepdim=keepdims)
    return torch.pow(torch.sum(torch.pow(size, ord), dim=axis, keepdim=keepdims), 1.0 / ord)


def _largest(x, axis, keepdims=False):
    """The maximum of numbers that are not negative; 0 of none."""
    return torch.amax(x, dim=axis, keepdim=keepdims) if x.shape[axis] else torch.sum(x, dim=axis, keepdim=keepdims)


def _smallest(x, axis, keepdims=False):
    if not x.shape[axis]:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return torch.amin(x, dim=axis, keepdim=keepdims)


def _matrix_norm(x, ord, rows, columns, keepdims):
    if ord in (None, "fro", "f"):
        return torch.sqrt(_square_sum(x, (rows, columns), keepdims))
    x = torch.movedim(x, (rows, columns), (-2, -1))
    if ord in (1, -1):
        result = (_largest if ord == 1 else _smallest)(torch.sum(torch.abs(x), dim=-2), -1)
    elif ord in (math.inf, -math.inf):
        result = (_largest if ord > 0 else _smallest)(torch.sum(torch.abs(x), dim=-1), -1)
    elif ord in (2, -2):
        result = (_largest if ord == 2 else _smallest)(svdvals(x), -1)
    elif ord == "nuc":
        result = torch.sum(svdvals(x), dim=-1)
    else:
        raise ValueError("Invalid norm order for matrices.")
    for axis in sorted((rows, columns)) if keepdims else ():
        result = torch.unsqueeze(result, axis)
    return result


@rule("numpy.linalg.matrix_norm", kind="reduction",
      examples=("np.linalg.matrix_norm(m)", "np.linalg.matrix_norm(q, ord=1, keepdims=True)"))  # fmt: skip
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """`norm` of matrices: the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


@rule("numpy.linalg.vector_norm", kind="reduction",
      examples=("np.linalg.vector_norm(x)", "np.linalg.vector_norm(x, axis=-1, ord=1)",
                "np.linalg.vector_norm(m, axis=(0, 1), keepdims=True)"))  # fmt: skip
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """`norm` of vectors: over one axis, or over several as if they were one."""
    x = as_tensor(x)
    axes = normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim)
    moved = torch.movedim(x, axes, tuple(range(len(axes))))
    result = norm(torch.flatten(moved, 0, len(axes) - 1) if axes else torch.flatten(x), ord, 0)
    for d in sorted(axes) if keepdims else ():
        result = torch.unsqueeze(result, d)
    return result


# Solving


@rule("numpy.linalg.inv", kind="linalg", examples=("np.linalg.inv(q)",))
def inv(a):
    """Raises LinAlgError for singular matrices."""
    a, dtype = in_double(square(a))
    with lapack():
        return cast(torch.linalg.inv(a), dtype)


@rule("numpy.linalg.solve", kind="linalg", examples=("np.linalg.solve(q, u)", "np.linalg.solve(q, q)"))
def solve(a, b):
    """`x` with `a @ x == b`; `b` is a vector if it is 1-D, otherwise a stack of matrices. Raises LinAlgError for singular `a`."""
    a, b, dtype = in_double(square(a), b)
    if b.ndim == 0:
        raise ValueError("solve: Input operand 1 does not have enough dimensions (has 0, requires 1)")
    if b.shape[-2 if b.ndim > 1 else -1] != a.shape[-1]:
        raise ValueError(f"solve: Input operand 1 has a mismatch in its core dimension 0 (size {b.shape[-2:]}, matrices of {a.shape[-1]})")
    if b.ndim == a.ndim - 1 and b.ndim > 1:
        b = torch.unsqueeze(b, 0)  # torch would take it for a stack of vectors
    try:
        with lapack():
            return cast(torch.linalg.solve(a, b), dtype)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


@rule("numpy.linalg.pinv", kind="linalg",
      examples=("np.linalg.pinv(q)", "np.linalg.pinv(h, hermitian=True)", "np.linalg.pinv(q, rcond=1e-3)"))  # fmt: skip
def pinv(a, rcond=None, hermitian=False, *, rtol=numpy._NoValue):
    """Pseudo-inverse; singular values up to `rcond` (1e-15) times the largest count as zero."""
    a = as_tensor(a)
    if rcond is not None and rtol is not numpy._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = 1e-15 if rtol is numpy._NoValue else rtol
    if rcond is None:
        if not (a.is_floating_point() or a.is_complex()):
            raise ValueError(f"data type {to_numpy(a.dtype)} not inexact")
        rcond = max(a.shape[-2:]) * torch.finfo(a.dtype).eps
    if a.numel() == 0 and a.ndim > 1 and not math.prod(a.shape[-2:]):
        return torch.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), dtype=a.dtype, device=a.device)
    a = cast(stacked(a), inexact(a.dtype))
    u, s, vh = svd(torch.conj_physical(a) if a.is_complex() else a, full_matrices=False, hermitian=hermitian)
    if not isinstance(rcond, (int, float)):
        rcond = torch.unsqueeze(as_tensor(rcond), -1)
    large = torch.gt(s, torch.mul(torch.amax(s, dim=-1, keepdim=True), rcond))
    inverse = torch.where(large, torch.reciprocal(torch.where(large, s, 1)), 0)
    return torch.matmul(torch.transpose(vh, -2, -1), torch.mul(torch.unsqueeze(inverse, -1).to(u.dtype), torch.transpose(u, -2, -1)))


@rule("numpy.linalg.lstsq", kind="linalg", examples=("np.linalg.lstsq(m.astype(float), np.ones(len(m)))[0]",))
def lstsq(a, b, rcond=None):
    """Least squares: solution, residuals, rank (int32), singular values.

    The residuals are empty where the rank is not full or there are no more equations than unknowns."""
    a, b = as_tensor(a), as_tensor(b)
    vector = b.ndim == 1
    b = torch.unsqueeze(b, -1) if vector else b
    for x in (a, b):
        if x.ndim != 2:
            raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    (m, n), k = a.shape, b.shape[1]
    if m != b.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    a, b, dtype = in_double(a, b)
    if m == 0 or n == 0:
        x, residuals, rank, s = _lstsq_of_nothing(a, b)
    else:
        rcond = torch.finfo(torch.float64).eps * max(n, m) if rcond is None else rcond
        some = b if k else torch.zeros((m, 1), dtype=b.dtype, device=b.device)  # LAPACK wants a right-hand side
        try:
            x, residuals, rank, s = torch.linalg.lstsq(a, some, rcond=rcond, driver="gelsd")
        except RuntimeError as error:  # torch takes NaN for a bug of its own
            raise LinAlgError("SVD did not converge in Linear Least Squares") from error
        if not k:
            x, residuals = x[:, :0], residuals[:0]
    x, real = cast(x, dtype), real_of(dtype)
    return (torch.squeeze(x, -1) if vector else x), cast(residuals, real), rank.to(torch.int32), cast(s, real)


def _lstsq_of_nothing(a, b):
    """No equations, or no unknowns: then the residuals are the squares of the right-hand side."""
    x = torch.zeros((a.shape[1], b.shape[1]), dtype=a.dtype, device=a.device)
    s = torch.zeros((0,), dtype=torch.float64, device=a.device)
    residuals = _square_sum(b, 0) if a.shape[0] > a.shape[1] else s
    return x, residuals, torch.zeros((), dtype=torch.int32, device=a.device), s


@rule("numpy.linalg.tensorinv", kind="linalg", examples=("np.linalg.tensorinv(np.eye(6).reshape(2, 3, 3, 2), ind=2)",))
def tensorinv(a, ind=2):
    """The inverse for `numpy.tensordot` over the first `ind` axes."""
    a = as_tensor(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = (*a.shape[ind:], *a.shape[:ind])
    return torch.reshape(inv(torch.reshape(a, (math.prod(a.shape[ind:]), -1))), shape)


@rule("numpy.linalg.tensorsolve", kind="linalg", examples=("np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 3, 2), np.ones((2, 3)))",))
def tensorsolve(a, b, axes=None):
    """`x` with `tensordot(a, x, x.ndim) == b`."""
    a, b = as_tensor(a), as_tensor(b)
    if axes is not None:
        order = [d for d in range(a.ndim) if d not in axes]
        a = torch.permute(a, (*order, *axes))
    shape = a.shape[b.ndim - a.ndim :]
    size = math.prod(shape)
    if a.numel() != size**2:
        raise LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return torch.reshape(solve(torch.reshape(a, (size, size)), torch.flatten(b)), shape)


# Determinants, ranks, powers


@rule("numpy.linalg.det", kind="linalg", examples=("np.linalg.det(q)",))
def det(a):
    """Determinants; 0 for singular matrices, 1 for empty ones."""
    a, dtype = in_double(square(a))
    return cast(torch.linalg.det(a), dtype)


@rule("numpy.linalg.slogdet", kind="linalg", examples=("np.linalg.slogdet(q)",))
def slogdet(a):
    """Sign and logarithm of the absolute value of determinants; 0 and -inf for singular matrices."""
    a, dtype = in_double(square(a))
    sign, logarithm = torch.linalg.slogdet(a)
    return SlogdetResult(cast(sign, dtype), cast(logarithm, real_of(dtype)))


@rule("numpy.linalg.matrix_rank", kind="linalg", examples=("np.linalg.matrix_rank(q)", "np.linalg.matrix_rank(m.astype(float))"))
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """The number of singular values above `tol`, or above `rtol` (largest side times epsilon) times the largest."""
    A = as_tensor(A)
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if A.ndim < 2:
        return torch.any(torch.ne(A, 0)).to(torch.int64)
    s = svd(A, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        tol = tol if isinstance(tol, (int, float)) else torch.unsqueeze(as_tensor(tol), -1)
        return torch.sum(torch.gt(s, tol), dim=-1)
    if rtol is None:
        rtol = max(A.shape[-2:]) * torch.finfo(s.dtype).eps
    elif not isinstance(rtol, (int, float)):
        rtol = torch.unsqueeze(as_tensor(rtol), -1)
    return torch.sum(torch.gt(s, torch.mul(_largest(s, -1, True), rtol)), dim=-1)


@rule("numpy.linalg.cond", kind="linalg", examples=("np.linalg.cond(q)", "np.linalg.cond(q, 1)", "np.linalg.cond(q, 'fro')"))
def cond(x, p=None):
    """Condition number; inf for singular matrices. Raises LinAlgError for empty ones."""
    x = as_tensor(x)
    if x.numel() == 0 and math.prod(x.shape[-2:]) == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        s = svdvals(x)
        largest, smallest = torch.select(s, -1, 0), torch.select(s, -1, s.shape[-1] - 1)
        ratio = torch.div(smallest, largest) if p == -2 else torch.div(largest, smallest)
    else:
        a, dtype = in_double(square(x))
        inverse, info = torch.linalg.inv_ex(a)
        inverse = torch.where(torch.eq(info, 0)[..., None, None], inverse, math.nan)
        ratio = cast(torch.mul(norm(x, p, (-2, -1)), norm(inverse, p, (-2, -1))), real_of(dtype))
    broken = torch.logical_and(torch.isnan(ratio), torch.logical_not(torch.any(torch.flatten(torch.isnan(x), -2), dim=-1)))
    return torch.where(broken, math.inf, ratio)


@rule("numpy.linalg.matrix_power", kind="linalg",
      examples=("np.linalg.matrix_power(q, 3)", "np.linalg.matrix_power(q, 0)", "np.linalg.matrix_power(q, -2)"))  # fmt: skip
def matrix_power(a, n):
    """The `n`-th power of square matrices, in their dtype (integers wrap); a negative one of the inverse."""
    a, n = square(a), operator.index(n)
    if n < 0:
        a, n = inv(a), -n
    if n == 0:
        eye = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
        return torch.clone(torch.broadcast_to(eye, a.shape))
    if is_plain(a):
        return torch.linalg.matrix_power(a, n)
    result, square_of = None, a
    while n:
        if n % 2:
            result = square_of if result is None else matmul(result, square_of)
        n //= 2
        square_of = matmul(square_of, square_of) if n else None
    return result


@rule("numpy.linalg.multi_dot", kind="linalg",
      examples=("np.linalg.multi_dot([m, m.T, m])", "np.linalg.multi_dot([v, np.outer(v, w), w])"))  # fmt: skip
def multi_dot(arrays, *, out=None):
    """`dot` of all in the cheapest order; the first and the last may be vectors."""
    arrays = [as_tensor(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return dot(*arrays)
    wanted = [(1, 2) if position in (0, len(arrays) - 1) else (2,) for position in range(len(arrays))]
    for a, ranks in zip(arrays, wanted, strict=True):
        if a.ndim not in ranks:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if is_plain(*arrays) and all(p.shape[-1] == q.shape[0] for p, q in itertools.pairwise(arrays)):
        return torch.linalg.multi_dot(arrays)
    return functools.reduce(dot, arrays)


# Decompositions


@rule("numpy.linalg.cholesky", kind="linalg", examples=("np.linalg.cholesky(h)", "np.linalg.cholesky(h, upper=True)"))
def cholesky(a, /, *, upper=False):
    """The lower (or upper) triangular factor; only that triangle of `a` is read. Raises LinAlgError unless positive definite."""
    a, dtype = in_double(square(a))
    with lapack():
        return cast(torch.linalg.cholesky(a, upper=upper), dtype)


@rule("numpy.linalg.qr", kind="linalg",
      examples=("np.abs(np.linalg.qr(q).R)", "np.abs(np.linalg.qr(q, 'complete').Q)", "np.abs(np.linalg.qr(q, mode='r'))"))  # fmt: skip
def qr(a, mode="reduced"):
    """Q and R; only R in mode `r`, LAPACK's reflectors in mode `raw`."""
    mode = {"f": "reduced", "full": "reduced", "e": "economic"}.get(mode, mode)
    if mode not in ("reduced", "complete", "r", "raw", "economic"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    a, dtype = in_double(stacked(a))
    if mode in ("raw", "economic"):
        reflectors, tau = torch.geqrf(a)
        reflectors = cast(reflectors, dtype)
        return reflectors if mode == "economic" else (torch.transpose(reflectors, -2, -1), cast(tau, dtype))
    q, r = torch.linalg.qr(a, mode=mode)
    return cast(r, dtype) if mode == "r" else QRResult(cast(q, dtype), cast(r, dtype))


@rule("numpy.linalg.svd", kind="linalg",
      examples=("np.linalg.svd(q, compute_uv=False)", "np.linalg.svd(q)[1]", "np.linalg.svd(m, full_matrices=False)[1]",
                "np.linalg.svd(h, hermitian=True)[1]"))  # fmt: skip
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular values in descending order, with the singular vectors unless `compute_uv=False`."""
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    a, dtype = in_double(stacked(a))
    with lapack():
        if not compute_uv:
            return cast(torch.linalg.svdvals(a), real_of(dtype))
        u, s, vh = torch.linalg.svd(a, full_matrices=full_matrices)
    return SVDResult(cast(u, dtype), cast(s, real_of(dtype)), cast(vh, dtype))


def _hermitian_svd(a, compute_uv):
    """From the eigenvalues: singular values are their magnitudes, their signs go into Vh."""
    if not compute_uv:
        return torch.sort(torch.abs(eigvalsh(a)), dim=-1, descending=True).values
    s, u = eigh(a)
    sign = torch.copysign(torch.ones_like(s), s)
    size, order = torch.sort(torch.abs(s), dim=-1, stable=True)
    order = torch.flip(order, (-1,))
    sign = torch.gather(sign, -1, order)
    u = torch.gather(u, -1, torch.broadcast_to(torch.unsqueeze(order, -2), u.shape))
    vt = torch.transpose(torch.mul(u, torch.unsqueeze(sign, -2)), -2, -1)
    return SVDResult(u, torch.flip(size, (-1,)), torch.conj_physical(vt) if vt.is_complex() else vt)


@rule("numpy.linalg.svdvals", kind="linalg", examples=("np.linalg.svdvals(q)", "np.linalg.svdvals(m)"))
def svdvals(x, /):
    """Singular values in descending order."""
    return svd(x, compute_uv=False)


def _triangle(UPLO):
    UPLO = UPLO.upper()
    if UPLO not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO


@rule("numpy.linalg.eigh", kind="linalg", examples=("np.linalg.eigh(h)[0]", "np.linalg.eigh(h, 'U').eigenvalues"))
def eigh(a, UPLO="L"):
    """Eigenvalues in ascending order (real) and eigenvectors of symmetric or Hermitian matrices; one triangle is read."""
    UPLO = _triangle(UPLO)
    a, dtype = in_double(square(a))
    with lapack():
        values, vectors = torch.linalg.eigh(a, UPLO=UPLO)
    return EighResult(cast(values, real_of(dtype)), cast(vectors, dtype))


@rule("numpy.linalg.eigvalsh", kind="linalg", examples=("np.linalg.eigvalsh(h)", "np.linalg.eigvalsh(h, UPLO='U')"))
def eigvalsh(a, UPLO="L"):
    """Eigenvalues in ascending order of symmetric or Hermitian matrices."""
    UPLO = _triangle(UPLO)
    a, dtype = in_double(square(a))
    with lapack():
        return cast(torch.linalg.eigvalsh(a, UPLO=UPLO), real_of(dtype))


def _general(a):
    """A finite matrix for `eig`. Whether the result of a real one is real depends on its values: not to be traced."""
    a = square(a)
    double, dtype = in_double(a)
    if not a.is_complex() and is_traced():
        hint = "use numpy.linalg.eigh for symmetric matrices, or cast the matrix to a complex dtype first"
        raise Refused("whether the eigenvalues of a real matrix are real depends on its values", hint, "data-dependent-branch")
    demand(torch.isfinite(double), LinAlgError("Array must not contain infs or NaNs"))
    return double, dtype


def _is_real(a, values):
    return not a.is_complex() and bool(torch.all(torch.eq(values.imag, 0)))


@rule("numpy.linalg.eig", kind="linalg", examples=("np.linalg.eig(h.astype(complex)).eigenvalues.sum()",))
def eig(a):
    """Eigenvalues and eigenvectors of general matrices; real where the matrix and all eigenvalues are.

    Refused in a graph for real matrices, since there the dtype depends on the values."""
    a, dtype = _general(a)
    with lapack():
        values, vectors = torch.linalg.eig(a)
    if _is_real(a, values):
        return EigResult(cast(values.real, dtype), cast(vectors.real, dtype))
    return EigResult(cast(values, complex_of(dtype)), cast(vectors, complex_of(dtype)))


@rule("numpy.linalg.eigvals", kind="linalg", examples=("np.linalg.eigvals(h.astype(complex)).sum()",))
def eigvals(a):
    """Eigenvalues of general matrices; real where the matrix and all eigenvalues are (refused in a graph, see `eig`)."""
    a, dtype = _general(a)
    with lapack():
        values = torch.linalg.eigvals(a)
    return cast(values.real, dtype) if _is_real(a, values) else cast(values, complex_of(dtype))
