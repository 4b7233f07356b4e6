"""Linear algebra: `numpy.linalg`.

NumPy hands every matrix to LAPACK in double precision and rounds the results to the dtype of the input, so float32 matrices are
computed in float64 here too: ranks, singular matrices and ill-conditioned inverses come out as NumPy's. float16 raises TypeError.
Both libraries call LAPACK, but not the same build of it: signs of eigenvectors and singular vectors are those of either build.
"""

from __future__ import annotations

import math
import operator
from collections import namedtuple

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.linalg import LinAlgError

from ..semantics.arrays import as_tensor, cast, demand, is_recording
from ..semantics.axes import kept, restored
from ..semantics.dtypes import complex_of, inexact, promote, real_of, to_numpy
from ..semantics.entering import rule
from ..semantics.matrices import chained, finite, square, stacked
from ..semantics.table import Refused
from ..semantics.views import giving_arrays, numpys_errors
from .arithmetic import ndarray_conj
from .products import dot, exactly, is_plain, matmul, raised_as_numpy

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")

# What all functions share: the dtype they compute in, the shapes they take.

def lapack(function, *arrays, **options):
    """A function of torch.linalg as NumPy calls LAPACK: in double precision, rounded to the dtype of the arrays, with NumPy's errors."""
    tensors = [as_tensor(a) for a in arrays]
    dtypes = {t.dtype for t in tensors}
    if torch.float16 in dtypes:
        raise TypeError("array type float16 is unsupported in linalg")
    double = promote(torch.float64, *dtypes)
    with raised_as_numpy():
        found = function(*(cast(t, double) for t in tensors), **options)
    dtype = promote(*dtypes) if dtypes <= {torch.float32, torch.complex64} else double
    wanted = {torch.float64: real_of(dtype), torch.complex128: complex_of(dtype)}
    laid = [cast(x, wanted.get(x.dtype, x.dtype)).contiguous() for x in ([found] if isinstance(found, torch.Tensor) else found)]
    return laid[0] if isinstance(found, torch.Tensor) else laid  # in C's order, as NumPy's are: whether a part is a view hangs on that

# Norms

@rule("numpy.linalg.norm", kind="reduction",
      examples=("np.linalg.norm(x)", "np.linalg.norm(x, axis=-1)", "np.linalg.norm(x, axis=-1, keepdims=True)",
                "np.linalg.norm(v, ord=np.inf)", "np.linalg.norm(v, 1)", "np.linalg.norm(m, 'fro')", "np.linalg.norm(m, axis=(0, 1))",
                "np.linalg.norm(x, 3, axis=0)"))  # fmt: skip
@numpys_errors
def norm(x, ord=None, axis=None, keepdims=False):
    """A norm of vectors along `axis`, of matrices over a pair of axes, or of the whole array.

    Squares are summed plainly, as NumPy does: `torch.linalg.norm` takes none of a single element, so that it can neither overflow nor
    vanish."""
    x = as_tensor(x)
    if ord is None and (axis is None or isinstance(axis, int)) and isinstance(keepdims, bool) and x.dtype in (torch.float32, torch.float64):
        return torch.sqrt(torch.sum(torch.square(x), dim=axis, keepdim=keepdims))
    x = cast(x, inexact(x.dtype))
    if axis is None and (ord is None or (x.ndim == 2 and ord in ("f", "fro")) or (x.ndim == 1 and ord == 2)):
        flat = torch.flatten(x)
        total = torch.sqrt(torch.real(torch.vdot(flat, flat)) if x.is_complex() else exactly(torch.dot, flat, flat))
        return torch.reshape(total, (1,) * x.ndim) if keepdims else total
    if axis is not None and not isinstance(axis, tuple):
        axis = (operator.index(axis),)
    axes, keepdims = normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim), kept(keepdims)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")

def _euclidean(x, axes, keepdims):
    squares = torch.real(torch.conj_physical(x) * x) if x.is_complex() else torch.mul(x, x)
    return torch.sqrt(torch.sum(squares, dim=axes, keepdim=keepdims))

def _extreme(x, sign, axis, keepdims=False):
    """The maximum of numbers that are not negative, 0 of none; the minimum for a negative `sign`."""
    if sign > 0:
        return torch.amax(x, dim=axis, keepdim=keepdims) if x.shape[axis] else torch.sum(x, dim=axis, keepdim=keepdims)
    if not x.shape[axis]:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return torch.amin(x, dim=axis, keepdim=keepdims)

def _vector_norm(x, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return _euclidean(x, axis, keepdims)
    if ord == 0:
        return torch.sum(torch.ne(x, 0), dim=axis, keepdim=keepdims, dtype=real_of(x.dtype))
    size = torch.abs(x)
    if ord in (math.inf, -math.inf):
        return _extreme(size, ord, axis, keepdims)
    if ord == 1:
        return torch.sum(size, dim=axis, keepdim=keepdims)
    return torch.pow(torch.sum(torch.pow(size, ord), dim=axis, keepdim=keepdims), 1.0 / ord)

def _matrix_norm(x, ord, axes, keepdims):
    if ord in (None, "fro", "f"):
        return _euclidean(x, axes, keepdims)
    x = torch.movedim(x, axes, (-2, -1))
    if ord == "nuc":
        result = torch.sum(svdvals(x), dim=-1)
    elif ord in (1, -1, 2, -2, math.inf, -math.inf):
        result = _extreme(svdvals(x) if abs(ord) == 2 else torch.sum(torch.abs(x), dim=-2 if abs(ord) == 1 else -1), ord, -1)
    else:
        raise ValueError("Invalid norm order for matrices.")
    return restored(result, sorted(axes), keepdims)

@rule("numpy.linalg.matrix_norm", kind="reduction", examples=("np.linalg.matrix_norm(m)", "np.linalg.matrix_norm(q, ord=1, keepdims=True)"))
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """`norm` of matrices: the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)

@rule("numpy.linalg.vector_norm", kind="reduction",
      examples=("np.linalg.vector_norm(x)", "np.linalg.vector_norm(x, axis=-1, ord=1)", "np.linalg.vector_norm(x, axis=())",
                "np.linalg.vector_norm(m, axis=(0, 1), keepdims=True)"))  # fmt: skip
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """`norm` of vectors: over one axis, or over several as if they were one."""
    x = as_tensor(x)
    axes = normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim)
    moved = torch.unsqueeze(torch.movedim(x, axes, tuple(range(len(axes)))), 0)
    return restored(norm(torch.flatten(moved, 0, len(axes)), ord, 0), sorted(axes), keepdims)

# Solving

@rule("numpy.linalg.inv", kind="linalg", examples=("np.linalg.inv(q)",))
def inv(a):
    """Raises LinAlgError for singular matrices."""
    return lapack(torch.linalg.inv, finite(square(a)))

@rule("numpy.linalg.solve", kind="linalg", examples=("np.linalg.solve(q, u)", "np.linalg.solve(q, q)"))
def solve(a, b):
    """`x` with `a @ x == b`; `b` is a vector if it is 1-D, otherwise a stack of matrices. Raises LinAlgError for singular `a`."""
    a, b = square(a), as_tensor(b)
    if b.ndim == a.ndim - 1 and b.ndim > 1:
        b = torch.unsqueeze(b, 0)  # torch would take it for a stack of vectors
    return lapack(torch.linalg.solve, finite(a), finite(b, nan=not b.is_complex()))

@rule("numpy.linalg.pinv", kind="linalg",
      examples=("np.linalg.pinv(q)", "np.linalg.pinv(h, hermitian=True)", "np.linalg.pinv(q, rcond=1e-3)",
                "np.linalg.pinv(q, rtol=None)"))  # fmt: skip
def pinv(a, rcond=None, hermitian=False, *, rtol=numpy._NoValue):
    """Pseudo-inverse; singular values up to `rcond` (1e-15) times the largest count as zero."""
    a = stacked(a)
    if rcond is not None and rtol is not numpy._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = 1e-15 if rtol is numpy._NoValue else rtol
    if rcond is None:
        rcond = max(a.shape[-2:]) * float(numpy.finfo(to_numpy(a.dtype)).eps)
    if 0 in a.shape[-2:]:
        return torch.zeros_like(torch.transpose(a, -2, -1))
    if not isinstance(rcond, (int, float)):
        rcond = as_tensor(rcond)
    elif rcond < 0:
        raise Refused("a negative rcond keeps the inverses of singular values that are zero", "use rcond=0")
    return lapack(torch.linalg.pinv, finite(a, "lower" if hermitian else "", nan=True), rtol=rcond, hermitian=hermitian)

@rule("numpy.linalg.lstsq", kind="linalg", examples=("np.linalg.lstsq(m.astype(float), np.ones(len(m)))[0]",))
def lstsq(a, b, rcond=None):
    """Solution, residuals (none unless the rank is full and there are more equations than unknowns), rank (int32), singular values."""
    a, b = as_tensor(a), as_tensor(b)
    columns = torch.unsqueeze(b, -1) if b.ndim == 1 else b
    if a.ndim != 2 or columns.ndim != 2:
        raise LinAlgError(f"{a.ndim}- and {b.ndim}-dimensional array given. Arrays must be two-dimensional")
    if a.shape[0] != b.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    rcond = torch.finfo(torch.float64).eps * max(a.shape) if rcond is None else rcond
    k = columns.shape[1]
    some = columns if k else torch.nn.functional.pad(columns, (0, 1))  # LAPACK wants a right-hand side
    try:
        known = torch.where(torch.isnan(some), 0, finite(some, nan=True))
        x, residuals, rank, s = lapack(torch.linalg.lstsq, finite(a, nan=True), known, rcond=rcond, driver="gelsd")
    except ValueError as error:  # torch takes NaN for a bug of its own
        raise LinAlgError("SVD did not converge in Linear Least Squares") from error
    spoilt = torch.where(torch.logical_and(torch.any(torch.isnan(some), dim=0), torch.gt(rank, 0)), math.nan, 1.0)
    x, residuals = x * spoilt, residuals * spoilt if len(residuals) else residuals  # a NaN spoils its own column
    if not k:
        x, residuals = x[:, :0], residuals[:0]
    return torch.squeeze(x, -1) if b.ndim == 1 else x, residuals, rank.to(torch.int32), s

@rule("numpy.linalg.tensorinv", kind="linalg", examples=("np.linalg.tensorinv(np.eye(6).reshape(2, 3, 3, 2), ind=2)",))
def tensorinv(a, ind=2):
    """The inverse for `numpy.tensordot` over the first `ind` axes."""
    a = as_tensor(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    return torch.reshape(inv(torch.reshape(a, (math.prod(a.shape[ind:]), -1))), (*a.shape[ind:], *a.shape[:ind]))

@rule("numpy.linalg.tensorsolve", kind="linalg", examples=("np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 3, 2), np.ones((2, 3)))",))
@giving_arrays
def tensorsolve(a, b, axes=None):
    """`x` with `tensordot(a, x, x.ndim) == b`."""
    a, b = as_tensor(a), as_tensor(b)
    if axes is not None:
        a = torch.permute(a, (*(d for d in range(a.ndim) if d not in axes), *axes))
    shape = a.shape[b.ndim - a.ndim :]
    size = math.prod(shape)
    if a.numel() != size**2:
        raise LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return torch.reshape(solve(torch.reshape(a, (size, size)), torch.flatten(b)), shape)

# Determinants, ranks, powers

@rule("numpy.linalg.det", kind="linalg", examples=("np.linalg.det(q)",))
def det(a):
    """Determinants; 0 for singular matrices, 1 for empty ones."""
    return lapack(torch.linalg.det, finite(square(a)))

@rule("numpy.linalg.slogdet", kind="linalg", examples=("np.linalg.slogdet(q)",))
def slogdet(a):
    """Sign and logarithm of the absolute value of determinants; 0 and -inf for singular matrices."""
    return SlogdetResult(*lapack(torch.linalg.slogdet, finite(square(a))))

@rule("numpy.linalg.matrix_rank", kind="linalg",
      examples=("np.linalg.matrix_rank(q)", "np.linalg.matrix_rank(m.astype(float))", "np.linalg.matrix_rank(q, tol=0.1)"))  # fmt: skip
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """The number of singular values above `tol`, or above `rtol` (largest side times epsilon) times the largest."""
    A = as_tensor(A)
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if A.ndim < 2:
        return torch.any(torch.ne(A, 0)).to(torch.int64)
    s = svd(A, compute_uv=False, hermitian=hermitian)
    limit = rtol if tol is None else tol
    if limit is None:
        limit = max(A.shape[-2:]) * torch.finfo(s.dtype).eps
    elif not isinstance(limit, (int, float)):
        limit = torch.unsqueeze(as_tensor(limit), -1)
    limit = torch.mul(_extreme(s, 1, -1, True), limit) if tol is None else limit
    return torch.sum(torch.gt(s, limit), dim=-1)

@rule("numpy.linalg.cond", kind="linalg", examples=("np.linalg.cond(q)", "np.linalg.cond(q, 1)", "np.linalg.cond(q, 'fro')"))
def cond(x, p=None):
    """Condition number; inf for singular matrices. Raises LinAlgError for empty ones."""
    x = as_tensor(x)
    if 0 in x.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        s = svdvals(x)
        ratio = torch.div(s[..., -1], s[..., 0]) if p == -2 else torch.div(s[..., 0], s[..., -1])
    else:
        ratio = lapack(_norm_times_inverses, square(x), norm(x, p, (-2, -1)), p=p)
    given = torch.any(torch.flatten(torch.isnan(x), -2), dim=-1)
    return torch.where(torch.logical_and(torch.isnan(ratio), torch.logical_not(given)), math.inf, ratio)

def _norm_times_inverses(a, size, p):
    """NaN for singular matrices. NumPy takes the norm of `a` in its dtype, that of the inverse in double precision."""
    inverse, info = torch.linalg.inv_ex(a)
    inverse = torch.where(torch.eq(info, 0)[..., None, None], inverse, math.nan)
    return torch.mul(torch.real(size), norm(inverse, p, (-2, -1)))

@rule("numpy.linalg.matrix_power", kind="linalg",
      examples=("np.linalg.matrix_power(q, 3)", "np.linalg.matrix_power(q, 0)", "np.linalg.matrix_power(q, -2)"))  # fmt: skip
def matrix_power(a, n):
    """The `n`-th power of square matrices, in their dtype (integers wrap); a negative one of the inverse."""
    a, n = square(a), operator.index(n)
    if n < 0:
        a, n = inv(a), -n
    if n == 0:
        eye = torch.eye(a.shape[-1], device=a.device).to(a.dtype)
        return torch.clone(torch.broadcast_to(eye, a.shape))
    if is_plain(a):
        return torch.linalg.matrix_power(a, n)
    if n == 1:
        return a
    rest = matrix_power(matmul(a, a), n // 2)
    return matmul(a, rest) if n % 2 else rest

@rule("numpy.linalg.multi_dot", kind="linalg", into="exact",
      examples=("np.linalg.multi_dot([m, m.T, m])", "np.linalg.multi_dot([v, np.outer(v, w), w])"))  # fmt: skip
@raised_as_numpy()
def multi_dot(arrays, *, out=None):
    """`dot` of all in the cheapest order; the first and the last may be vectors."""
    arrays = [as_tensor(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return dot(*arrays)
    for position, a in enumerate(arrays):
        if a.ndim != 2 and not (a.ndim == 1 and position in (0, len(arrays) - 1)):
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    return chained(dot, arrays)

# Decompositions

@rule("numpy.linalg.cholesky", kind="linalg", examples=("np.linalg.cholesky(h)", "np.linalg.cholesky(h, upper=True)"))
def cholesky(a, /, *, upper=False):
    """The lower (or upper) triangular factor; only that triangle of `a` is read. Raises LinAlgError unless positive definite."""
    return lapack(torch.linalg.cholesky, finite(square(a), "upper" if upper else "lower"), upper=upper)

@rule("numpy.linalg.qr", kind="linalg",
      examples=("np.abs(np.linalg.qr(q).R)", "np.abs(np.linalg.qr(q, 'complete').Q)", "np.abs(np.linalg.qr(q, mode='r'))"))  # fmt: skip
def qr(a, mode="reduced"):
    """Q and R; only R in mode `r`, LAPACK's reflectors in mode `raw`."""
    mode = {"f": "reduced", "full": "reduced", "e": "economic"}.get(mode, mode)
    if mode in ("raw", "economic"):
        reflectors, tau = lapack(torch.geqrf, finite(stacked(a)))
        return reflectors if mode == "economic" else (torch.transpose(reflectors, -2, -1), tau)
    q, r = lapack(torch.linalg.qr, finite(stacked(a)), mode=mode)
    return r if mode == "r" else QRResult(q, r)

@rule("numpy.linalg.svd", kind="linalg",
      examples=("np.linalg.svd(q, compute_uv=False)", "np.linalg.svd(q)[1]", "np.linalg.svd(m, full_matrices=False)[1]",
                "np.linalg.svd(h, hermitian=True)[1]"))  # fmt: skip
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular values in descending order, with the singular vectors unless `compute_uv=False`."""
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    if not compute_uv:
        return lapack(torch.linalg.svdvals, finite(stacked(a), nan=True))
    return SVDResult(*lapack(torch.linalg.svd, finite(stacked(a), nan=True), full_matrices=full_matrices))

def _hermitian_svd(a, compute_uv):
    """From the eigenvalues: singular values are their magnitudes, their signs go into Vh."""
    if not compute_uv:
        return torch.sort(torch.abs(eigvalsh(a)), dim=-1, descending=True).values
    s, u = eigh(a)
    order = torch.flip(torch.argsort(torch.abs(s), dim=-1, stable=True), (-1,))
    s, u = torch.gather(s, -1, order), torch.take_along_dim(u, torch.unsqueeze(order, -2), -1)
    sign = torch.unsqueeze(torch.copysign(torch.ones_like(s), s), -2)
    return SVDResult(u, torch.abs(s), ndarray_conj(torch.transpose(torch.mul(u, sign), -2, -1)))

@rule("numpy.linalg.svdvals", kind="linalg", examples=("np.linalg.svdvals(q)", "np.linalg.svdvals(m)"))
def svdvals(x, /):
    """Singular values in descending order."""
    return svd(x, compute_uv=False)

_TRIANGLES = {"L": "lower", "l": "lower", "U": "upper", "u": "upper"}

@rule("numpy.linalg.eigh", kind="linalg", examples=("np.linalg.eigh(h)[0]", "np.linalg.eigh(h, 'U').eigenvalues"))
def eigh(a, UPLO="L"):
    """Eigenvalues in ascending order (real) and eigenvectors of symmetric or Hermitian matrices; one triangle is read."""
    return EighResult(*lapack(torch.linalg.eigh, finite(square(a), _TRIANGLES.get(UPLO, ""), nan=True), UPLO=UPLO))

@rule("numpy.linalg.eigvalsh", kind="linalg", examples=("np.linalg.eigvalsh(h)", "np.linalg.eigvalsh(h, UPLO='U')"))
def eigvalsh(a, UPLO="L"):
    """Eigenvalues in ascending order of symmetric or Hermitian matrices."""
    return lapack(torch.linalg.eigvalsh, finite(square(a), _TRIANGLES.get(UPLO, ""), nan=True), UPLO=UPLO)

def _general(decompose, a):
    """What `decompose` makes of general matrices, the eigenvalues first; real where the matrix and all eigenvalues are."""
    a = square(a)
    if not a.is_complex() and is_recording():
        hint = "use numpy.linalg.eigh for symmetric matrices, or cast the matrix to a complex dtype first"
        raise Refused("whether the eigenvalues of a real matrix are real depends on its values", hint, "data-dependent-branch")

    def finite(double):
        demand(torch.isfinite(double), LinAlgError("Array must not contain infs or NaNs"))
        found = decompose(double)
        is_real = not a.is_complex() and bool(torch.all(torch.eq(found[0].imag, 0)))
        return [x.real for x in found] if is_real else found

    return lapack(finite, a)

@rule("numpy.linalg.eig", kind="linalg", examples=("np.linalg.eig(h.astype(complex)).eigenvalues.sum()",))
def eig(a):
    """Real where the matrix and all eigenvalues are: refused in a graph for real matrices, since the dtype depends on their values."""
    return EigResult(*_general(torch.linalg.eig, a))

@rule("numpy.linalg.eigvals", kind="linalg", examples=("np.linalg.eigvals(h.astype(complex)).sum()",))
def eigvals(a):
    """Eigenvalues of general matrices, see `eig`."""
    return _general(lambda double: [torch.linalg.eigvals(double)], a)[0]
