"""Products of vectors and matrices: dot, matmul, einsum and their relatives.

NumPy's product of booleans is "or of ands", half floats are summed in float32, integers wrap in their own dtype: torch's
kernels do so for the float32, float64 and complex dtypes and for signed integers only, the rest is computed in a wider dtype
(`exactly`) and cast back, which gives the same bits.
"""

from __future__ import annotations

import contextlib
import functools
import string

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..semantics.arrays import as_tensor, cast
from ..semantics.dtypes import WIDER, can_cast, promote, resolve, to_numpy, to_torch
from ..semantics.entering import rule
from ..semantics.table import Refused, refuse
from ..semantics.views import giving_arrays, numpys_errors
from .arithmetic import multiply, ndarray_conj, negative, subtract
from .creation import diagonal
from .reductions import sum as summed

BLAS = (torch.float32, torch.float64, torch.complex64, torch.complex128)
_COMPUTED_IN = {torch.bool: torch.int64, torch.float16: torch.float32, **WIDER}

def is_plain(*operands):
    """True where the operands are tensors of one dtype in which torch multiplies just as NumPy does."""
    return all(isinstance(x, torch.Tensor) and x.dtype in BLAS and x.dtype == operands[0].dtype for x in operands)

@contextlib.contextmanager
def raised_as_numpy():
    """torch's errors as NumPy's: ValueError for shapes that do not go together, LinAlgError for what LAPACK cannot do."""
    try:
        yield
    except torch.linalg.LinAlgError as error:
        raise numpy.linalg.LinAlgError(str(error)) from None
    except RuntimeError as error:
        if type(error) is not RuntimeError:
            raise
        raise ValueError(str(error)) from None

def exactly(product, *operands, dtype=None):
    """`product(*operands)` (sums of products) in NumPy's common dtype of the operands, or in `dtype`."""
    with raised_as_numpy():
        if is_plain(*operands) and dtype in (None, operands[0].dtype):
            return product(*operands)
        tensors = [as_tensor(x) for x in operands]
        dtype = dtype or promote(*(x.dtype for x in tensors))
        wide = _COMPUTED_IN.get(dtype, dtype)
        return cast(product(*(cast(cast(x, dtype), wide) for x in tensors)), dtype)

@rule("numpy.dot", "numpy.ndarray.dot", kind="linalg", into="exact",
      examples=("np.dot(v, w)", "np.dot(m, m.T)", "np.dot(a, 2.0)", "np.dot(x, x.T)", "v.dot(w)"))  # fmt: skip
@numpys_errors
def dot(a, b, out=None):
    """Sum over the last axis of `a` and the second to last of `b` (for more than two dimensions this is not matmul).

    Numbers and 0-d arrays multiply. Raises ValueError where the lengths differ."""
    if _is_blas(a) and _is_blas(b) and a.dtype == b.dtype and a.ndim == 1 and b.ndim == 1:
        return torch.dot(a, b)
    if _is_blas(a) and _is_blas(b) and a.dtype == b.dtype and a.ndim > 0 and b.ndim > 0 and b.ndim < 3:
        return torch.matmul(a, b)
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply.compute(a, b)
    _check_aligned(a, b, max(b.ndim - 2, 0))
    return exactly(torch.matmul if b.ndim < 3 else functools.partial(torch.tensordot, dims=([-1], [-2])), a, b)

def _is_blas(x):
    return isinstance(x, torch.Tensor) and x.dtype in BLAS

def _check_aligned(a, b, axis):
    """torch would broadcast a length of 1."""
    if a.shape[-1] != b.shape[axis]:
        found = f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[axis]} (dim {axis})"
        raise ValueError(f"shapes {tuple(a.shape)} and {tuple(b.shape)} not aligned: {found}")

@rule("numpy.inner", kind="linalg", examples=("np.inner(v, w)", "np.inner(x, y)", "np.inner(a, 2)"))
def inner(a, b, /):
    """Sum of products over the last axes, shape `a.shape[:-1] + b.shape[:-1]`."""
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply.compute(a, b)
    _check_aligned(a, b, b.ndim - 1)
    return exactly(functools.partial(torch.tensordot, dims=([-1], [-1])), a, b)

# Generalised ufuncs

def _generalised(ufunc, product, operands, cores, dtype, casting, signature, axes=None, axis=None, keepdims=False):
    """`product`, which takes the last axes of both operands, as NumPy's generalised ufunc.

    `cores` is how many axes of each operand take part; `axes` says which ones, and where those of the result go."""
    if signature is not None:
        raise Refused("signature= is not supported", "use dtype=")
    if axis is not None or keepdims:
        raise TypeError(f"{ufunc.__name__}: axis or keepdims can only be used with a single shared core dimension")
    for position, (x, n) in enumerate(zip(operands, cores, strict=True)):
        if x.ndim < n:
            raise ValueError(f"{ufunc.__name__}: Input operand {position} does not have enough dimensions (has {x.ndim}, requires {n})")
    last = [tuple(range(-n, 0)) for n in (*cores, cores[0] + cores[1] - 2)]
    axes = last if axes is None else [(d,) if isinstance(d, int) else tuple(d) for d in [*axes, ()][:3]]
    if list(map(len, axes)) != list(map(len, last)):
        raise ValueError("axes should be a list with an entry for all 3 inputs and outputs, which names their core axes")
    wanted = resolve(ufunc, tuple(x.dtype for x in operands), None if dtype is None else to_torch(dtype), casting)[-1]
    moved = [_moved(x, given, usual) for x, given, usual in zip(operands, axes, last, strict=False)]
    return _moved(exactly(product, *moved, dtype=wanted), last[2], axes[2])

def _moved(x, source, target):
    if source == target:
        return x
    return torch.movedim(x, normalize_axis_tuple(source, x.ndim), normalize_axis_tuple(target, x.ndim))

@rule("numpy.matmul", "numpy.linalg.matmul", "numpy.ndarray.__matmul__", kind="linalg",
      examples=("np.matmul(q, q)", "np.matmul(m, m.T)", "np.matmul(v, w)", "np.matmul(x, np.swapaxes(y, -1, -2))", "x @ y.T",
                "np.matmul(m, m, axes=[(0, 1), (1, 0), (0, 1)])"))  # fmt: skip
def matmul(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None, keepdims=False,
           signature=None):  # fmt: skip
    """Matrix product of the last two axes, the others broadcast; a 1-D operand is a row (left) or a column (right).

    Raises ValueError for numbers and 0-d arrays, and where the inner lengths differ."""
    operands = as_tensor(x1), as_tensor(x2)
    cores = [2 if x.ndim > 1 else 1 for x in operands]
    return _generalised(numpy.matmul, torch.matmul, operands, cores, dtype, casting, signature, axes, axis, keepdims)

@rule("numpy.vecdot", "numpy.linalg.vecdot", kind="linalg",
      examples=("np.vecdot(x, y)", "np.vecdot(x, y, axis=0)", "np.vecdot(x, y, axes=[0, 0])"))  # fmt: skip
def vecdot(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None, keepdims=False,
           signature=None):  # fmt: skip
    """Dot product of vectors along `axis` (the last), with the conjugate of `x1`."""
    if axes is not None and axis is not None:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    axis = -1 if axis is None else axis
    axes = [axis, axis] if axes is None else list(axes)
    if keepdims and len(axes) == 3:  # where the axis is kept
        (axis,) = (axes[2],) if isinstance(axes[2], int) else axes[2]
        axes = axes[:2]
    result = _generalised(numpy.vecdot, _vector_products, (as_tensor(x1), as_tensor(x2)), (1, 1), dtype, casting, signature, axes)
    return torch.unsqueeze(result, axis) if keepdims else result

def _vector_products(x1, x2):
    _check_aligned(x1, x2, x2.ndim - 1)
    return torch.sum(torch.mul(ndarray_conj(x1), x2), dim=-1)

@rule("numpy.matvec", kind="linalg", examples=("np.matvec(x, y)", "np.matvec(m, v)", "np.matvec(q, u)"))
def matvec(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None, keepdims=False,
           signature=None):  # fmt: skip
    """Matrix `x1` times vector `x2`, the other axes broadcast."""
    operands = as_tensor(x1), as_tensor(x2)
    return _generalised(numpy.matvec, _matrix_vector, operands, (2, 1), dtype, casting, signature, axes, axis, keepdims)

def _matrix_vector(x1, x2):
    return torch.squeeze(torch.matmul(x1, torch.unsqueeze(x2, -1)), -1)

@rule("numpy.vecmat", kind="linalg", examples=("np.vecmat(y, np.swapaxes(x, -1, -2))", "np.vecmat(u, q)"))
def vecmat(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None, keepdims=False,
           signature=None):  # fmt: skip
    """The conjugate of vector `x1` times matrix `x2`, the other axes broadcast."""
    operands = as_tensor(x1), as_tensor(x2)
    return _generalised(numpy.vecmat, _vector_matrix, operands, (1, 2), dtype, casting, signature, axes, axis, keepdims)

def _vector_matrix(x1, x2):
    return torch.squeeze(torch.matmul(torch.unsqueeze(ndarray_conj(x1), -2), x2), -2)

# Products of every pair, over several axes, of vectors in space

@rule("numpy.vdot", kind="linalg", examples=("np.vdot(v, w)", "np.vdot(x, y)", "np.vdot(z, z)"))
def vdot(a, b, /):
    """Dot product of the raveled arrays, with the conjugate of the first."""
    a, b = torch.flatten(as_tensor(a)), torch.flatten(as_tensor(b))
    return exactly(torch.vdot if promote(a.dtype, b.dtype).is_complex else torch.dot, a, b)

@rule("numpy.outer", kind="linalg", examples=("np.outer(v, w)", "np.outer(x, y)", "np.outer(a, 2.0)"))
def outer(a, b, out=None):
    """Products of every pair, shape `(a.size, b.size)`."""
    return exactly(torch.outer, torch.flatten(as_tensor(a)), torch.flatten(as_tensor(b)))

@rule("numpy.linalg.outer", kind="linalg", examples=("np.linalg.outer(v, w)",))
def linalg_outer(x1, x2, /):
    """`numpy.outer` of vectors. Raises ValueError for other ranks."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return outer(x1, x2)

@rule("numpy.kron", kind="linalg", examples=("np.kron(v, w)", "np.kron(m, m)", "np.kron(a, b)", "np.kron(x, 2)"))
def kron(a, b):
    """Kronecker product: every product of pairs, `b` blown up by `a`; ranks are evened out on the left."""
    return exactly(torch.kron, a, b)

@rule("numpy.tensordot", "numpy.linalg.tensordot", kind="linalg",
      examples=("np.tensordot(m, m.T, 1)", "np.tensordot(x, y, axes=0)", "np.tensordot(x, y, axes=([0], [0]))",
                "np.tensordot(v, w, axes=(0, -1))"))  # fmt: skip
@giving_arrays
def tensordot(a, b, axes=2):
    """Sum of products over pairs of axes: the last `axes` of `a` with the first of `b`, or the two lists given."""
    a, b = as_tensor(a), as_tensor(b)
    if isinstance(axes, (int, numpy.integer)):
        axes = range(-int(axes), 0), range(int(axes))
    axes_a, axes_b = (numpy.ravel(d).tolist() for d in axes)
    if [a.shape[d] for d in axes_a] != [b.shape[d] for d in axes_b]:
        raise ValueError("shape-mismatch for sum")
    dims = normalize_axis_tuple(axes_a, a.ndim), normalize_axis_tuple(axes_b, b.ndim)
    return exactly(functools.partial(torch.tensordot, dims=dims), a, b)

@rule("numpy.cross", kind="linalg",
      examples=("np.cross(np.ones((2, 3)), [1, 2, 3])", "np.cross([1, 2, 3], np.arange(3.0))", "np.cross([1, 2], np.ones(3))"))  # fmt: skip
@giving_arrays
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross product of vectors of 3 (or 2) components. Raises ValueError for other lengths, TypeError for booleans.

    torch fuses a multiplication with the subtraction: components of float vectors may be closer to the exact ones than NumPy's,
    and those of a vector with itself are of the size of a rounding error where NumPy's are 0."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    a, b = _last(a, normalize_axis_index(axisa, a.ndim, "axisa")), _last(b, normalize_axis_index(axisb, b.ndim, "axisb"))
    lengths = {a.shape[-1], b.shape[-1]}
    if not lengths <= {2, 3}:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if lengths == {2}:
        return _component(a, b, 0, 1)
    axisc = normalize_axis_index(axisc, max(a.ndim, b.ndim), "axisc")
    if lengths == {3} and a.dtype == b.dtype and a.dtype in (torch.float32, torch.float64):
        rank = max(a.ndim, b.ndim)
        result = torch.linalg.cross(_of_rank(a, rank), _of_rank(b, rank), dim=-1)
    else:
        parts = [_component(a, b, i, j) for i, j in ((1, 2), (2, 0), (0, 1))]
        result = torch.stack(torch.broadcast_tensors(*parts), dim=-1)
    return result if axisc == result.ndim - 1 else torch.movedim(result, -1, axisc)

def _last(x, axis):
    """`x` with an axis as its last one."""
    return x if axis == x.ndim - 1 else torch.movedim(x, axis, -1)

def _of_rank(x, rank):
    """`x` with axes of one element put before the others."""
    return x if x.ndim == rank else _of_rank(torch.unsqueeze(x, 0), rank)

def _component(a, b, i, j):
    """`a[i] * b[j] - a[j] * b[i]` along the last axes; a product with a third component that is missing is left out."""
    x, y = (multiply.compute(a[..., p], b[..., q]) if p < a.shape[-1] and q < b.shape[-1] else None for p, q in ((i, j), (j, i)))
    return x if y is None else negative.compute(y) if x is None else subtract.compute(x, y)

@rule("numpy.linalg.cross", kind="linalg", examples=("np.linalg.cross(np.ones((2, 3)), np.arange(3.0))",))
def linalg_cross(x1, x2, /, *, axis=-1):
    """`numpy.cross` of vectors of three components only."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        found = f"{x1.shape[axis]} and {x2.shape[axis]}"
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {found} dimensional instead.")
    return cross(x1, x2, axis=axis)

# Diagonals

@rule("numpy.trace", "numpy.ndarray.trace", kind="reduction", into="fold",
      examples=("np.trace(m)", "np.trace(m, 1)", "np.trace(q, axis1=-2, axis2=-1)", "np.trace(m, offset=-1, dtype=float)",
                "m.trace(1)"))  # fmt: skip
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum along a diagonal; small integers and booleans are summed in int64 (unsigned ones in uint64)."""
    return summed(diagonal(a, offset, axis1, axis2), -1, dtype)

@rule("numpy.linalg.trace", kind="reduction", examples=("np.linalg.trace(q)", "np.linalg.trace(m, offset=1)"))
def linalg_trace(x, /, *, offset=0, dtype=None):
    """Sum along a diagonal of the last two axes."""
    return trace(x, offset, -2, -1, dtype)

@rule("numpy.linalg.diagonal", kind="shape", view=True, examples=("np.linalg.diagonal(q)", "np.linalg.diagonal(m, offset=1)"))
def linalg_diagonal(x, /, *, offset=0):
    """The diagonal of the last two axes, a read-only view."""
    return diagonal(x, offset, -2, -1)

@rule("numpy.linalg.matrix_transpose", kind="shape", view=True, examples=("np.linalg.matrix_transpose(m)", "np.linalg.matrix_transpose(q)"))
def linalg_matrix_transpose(x, /):
    """The last two axes swapped, a view."""
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return torch.transpose(x, -2, -1)

# Einstein's convention

@rule("numpy.einsum", kind="linalg",
      examples=("np.einsum('ij,jk->ik', m, m.T)", "np.einsum('i,i', v, w)", "np.einsum('...i->...', x)", "np.einsum('ij->ji', m)",
                "np.einsum('i,j', v, w)", "np.einsum(m, [0, 1], m, [0, 1], [0])", "np.einsum('ij->i', m, dtype=np.float64)"))  # fmt: skip
def einsum(subscripts, *operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    """Sums of products by Einstein's convention, in string or sublist form; `optimize` only changes the rounding.

    Raises ValueError for malformed subscripts and sizes that do not match. One operand without a sum gives a view."""
    if not isinstance(subscripts, str):
        subscripts, operands = _from_sublists((subscripts, *operands))
    tensors = [as_tensor(x) for x in operands]
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if arrow and "..." not in output and any("..." in t and x.ndim > len(t) - 3 for t, x in zip(inputs.split(","), tensors, strict=False)):
        raise ValueError("output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis is in the output")
    product = functools.partial(_einsum, subscripts)
    if len(tensors) == 1 and (set(inputs) == set(output) if arrow else len(set(inputs) - {"."}) == len(inputs.replace(".", ""))):
        with raised_as_numpy():
            return product(tensors[0])  # a view of any dtype: nothing is computed, and NumPy too ignores `dtype=`
    wanted = promote(*(x.dtype for x in tensors)) if dtype is None else to_torch(dtype)
    for position, x in enumerate(tensors):
        if not can_cast(x.dtype, wanted, casting):
            wish = f"from {to_numpy(x.dtype)!r} to {to_numpy(wanted)!r} according to the rule {casting!r}"
            raise TypeError(f"Iterator operand {position} dtype could not be cast {wish}")
    return exactly(product, *tensors, dtype=wanted)

def _einsum(subscripts, *tensors):
    """torch sums an axis of size one by `sum`, which makes int64 of the small integers."""
    made = torch.einsum(subscripts, *tensors)
    small = tensors[0].dtype in (torch.int8, torch.int16, torch.int32, torch.uint8) and len(tensors) > 1
    return made.to(torch.int64).to(tensors[0].dtype) if small else made

def _from_sublists(args):
    """The form `einsum(a, [0, 1], b, [1, 2], [0, 2])` as subscripts and operands."""
    letters = string.ascii_uppercase + string.ascii_lowercase
    labels = [*args[1::2], args[-1]] if len(args) % 2 else args[1::2]
    if not all(i is Ellipsis or 0 <= i < len(letters) for term in labels for i in term):
        raise ValueError("subscript is not within the valid range [0, 52)")
    terms = ["".join("..." if i is Ellipsis else letters[i] for i in term) for term in labels]
    count = len(args) // 2
    return ",".join(terms[:count]) + (f"->{terms[count]}" if len(args) % 2 else ""), args[: 2 * count : 2]

refuse("numpy.einsum_path", reason="it plans a computation and computes nothing", hint="call numpy.einsum with optimize=True")
