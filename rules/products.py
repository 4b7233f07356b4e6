"""Products of vectors and matrices: dot, matmul, einsum and their relatives.

NumPy's product of booleans is "or of ands", half floats are summed in float32, integers wrap in their own dtype: torch's
kernels do so for the float32, float64 and complex dtypes and for signed integers only, the rest is computed in a wider dtype
(`exactly`) and cast back, which gives the same bits.
"""

from __future__ import annotations

import functools
import string

import numpy
import torch
from numpy.lib.array_utils import normalize_axis_index

from ..semantics.arrays import as_tensor, cast, widen
from ..semantics.dtypes import can_cast, promote, resolve, to_numpy, to_torch
from ..semantics.table import Refused, refuse, rule
from .arithmetic import multiply, subtract

BLAS = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def is_plain(*operands):
    """True where the operands are tensors of one dtype in which torch multiplies just as NumPy does."""
    return all(isinstance(x, torch.Tensor) and x.dtype in BLAS and x.dtype == operands[0].dtype for x in operands)


def exactly(product, *operands, dtype=None):
    """`product(*operands)` (sums of products) in NumPy's common dtype of the operands, or in `dtype`."""
    tensors = [as_tensor(x) for x in operands]
    dtype = dtype or promote(*(x.dtype for x in tensors))
    tensors = [cast(x, dtype) for x in tensors]
    if dtype == torch.bool:
        return torch.ne(product(*(x.to(torch.int64) for x in tensors)), 0)
    if dtype == torch.float16:
        return product(*(x.to(torch.float32) for x in tensors)).to(dtype)
    return cast(product(*map(widen, tensors)), dtype)


@rule("numpy.dot", "numpy.ndarray.dot", kind="linalg",
      examples=("np.dot(v, w)", "np.dot(m, m.T)", "np.dot(a, 2.0)", "np.dot(x, x.T)", "v.dot(w)"))  # fmt: skip
def dot(a, b, out=None):
    """Sum over the last axis of `a` and the second to last of `b` (for more than two dimensions this is not matmul).

    Numbers and 0-d arrays multiply. Raises ValueError where the lengths differ."""
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply.compute(a, b)
    k = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != k:
        raise _not_aligned(a, b, max(b.ndim - 2, 0))
    if b.ndim > 2:
        return exactly(lambda p, q: torch.tensordot(p, q, dims=([p.ndim - 1], [q.ndim - 2])), a, b)
    if is_plain(a, b):
        return torch.matmul(a, b)
    return exactly(torch.matmul, a, b)


def _not_aligned(a, b, axis):
    last = f"{a.shape[-1]} (dim {a.ndim - 1})"
    return ValueError(f"shapes {tuple(a.shape)} and {tuple(b.shape)} not aligned: {last} != {b.shape[axis]} (dim {axis})")


@rule("numpy.matmul", "numpy.linalg.matmul", "numpy.ndarray.__matmul__", kind="linalg",
      examples=("np.matmul(q, q)", "np.matmul(m, m.T)", "np.matmul(v, w)", "np.matmul(x, np.swapaxes(y, -1, -2))", "x @ y.T"))  # fmt: skip
def matmul(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None, keepdims=False,
           signature=None):  # fmt: skip
    """Matrix product of the last two axes, the others broadcast; a 1-D operand is a row (left) or a column (right).

    Raises ValueError for numbers and 0-d arrays, and where the inner lengths differ."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if axis is not None or keepdims:
        raise TypeError("matmul: axis or keepdims can only be used with a single shared core dimension")
    if axes is not None:
        return _with_axes(matmul, (x1, x2), axes, dtype, casting)
    _check_matmul(x1, x2)
    if dtype is None and is_plain(x1, x2):
        return torch.matmul(x1, x2)
    return exactly(torch.matmul, x1, x2, dtype=_loop(numpy.matmul, x1, x2, dtype, casting, signature))


def _check_matmul(x1, x2):
    for position, x in enumerate((x1, x2)):
        if x.ndim == 0:
            raise ValueError(f"matmul: Input operand {position} does not have enough dimensions (has 0, requires 1)")
    k = x2.shape[-2] if x2.ndim > 1 else x2.shape[0]
    if x1.shape[-1] != k:
        raise ValueError(f"matmul: Input operand 1 has a mismatch in its core dimension 0 (size {k} is different from {x1.shape[-1]})")
    _check_broadcast("matmul", x1.shape[:-2], x2.shape[:-2])


def _check_broadcast(name, *shapes):
    try:
        torch.broadcast_shapes(*shapes)
    except RuntimeError:
        raise ValueError(f"{name}: operands could not be broadcast together with remapped shapes {[tuple(s) for s in shapes]}") from None


def _loop(ufunc, x1, x2, dtype, casting, signature):
    """The dtype in which NumPy's generalised ufunc computes; NumPy's own TypeError where it does not."""
    if signature is not None:
        raise Refused("signature= is not supported", "use dtype=")
    return resolve(ufunc, (x1.dtype, x2.dtype), None if dtype is None else to_torch(dtype), casting)[-1]


def _with_axes(product, operands, axes, dtype, casting):
    """`axes=`: for each operand and the result, which axes are the core ones."""
    axes = [(p,) if isinstance(p, int) else tuple(p) for p in axes]
    if any(x.ndim < len(p) for x, p in zip(operands, axes, strict=False)):
        raise ValueError("an input operand does not have enough dimensions for its axes")
    moved = [torch.movedim(x, p, tuple(range(-len(p), 0))) if p else x for x, p in zip(operands, axes, strict=False)]
    result = product(*moved, dtype=dtype, casting=casting)
    last = axes[len(operands)] if len(axes) > len(operands) else ()
    return torch.movedim(result, tuple(range(-len(last), 0)), last) if last else result


@rule("numpy.vecdot", kind="linalg", examples=("np.vecdot(x, y)", "np.vecdot(x, y, axis=0)"))
def vecdot(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=-1, keepdims=False,
           signature=None):  # fmt: skip
    """Dot product of vectors along `axis`, with the conjugate of `x1`."""
    if axes is not None:
        raise Refused("vecdot with axes= is not supported", "use axis=, or numpy.moveaxis first")
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError("vecdot: an input operand does not have enough dimensions (has 0, requires 1)")
    x1 = torch.movedim(x1, normalize_axis_index(axis, x1.ndim), -1)
    x2 = torch.movedim(x2, normalize_axis_index(axis, x2.ndim), -1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"vecdot: the lengths of the vectors differ ({x1.shape[-1]} and {x2.shape[-1]})")
    _check_broadcast("vecdot", x1.shape[:-1], x2.shape[:-1])
    wanted = _loop(numpy.vecdot, x1, x2, dtype, casting, signature)
    result = exactly(lambda p, q: torch.sum(torch.mul(_conj(p), q), dim=-1), x1, x2, dtype=wanted)
    return torch.unsqueeze(result, axis) if keepdims else result


def _conj(x):
    return torch.conj_physical(x) if x.is_complex() else x


@rule("numpy.linalg.vecdot", kind="linalg", examples=("np.linalg.vecdot(x, y)", "np.linalg.vecdot(x, y, axis=0)"))
def linalg_vecdot(x1, x2, /, *, axis=-1):
    """Dot product of vectors along `axis`, with the conjugate of `x1`."""
    return vecdot(x1, x2, axis=axis)


@rule("numpy.matvec", kind="linalg", examples=("np.matvec(x, y)", "np.matvec(m, v)", "np.matvec(q, u)"))
def matvec(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None, keepdims=False,
           signature=None):  # fmt: skip
    """Matrix `x1` times vector `x2`, the other axes broadcast."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if axes is not None or axis is not None or keepdims:
        raise Refused("matvec with axes= is not supported", "use numpy.moveaxis first")
    if x1.ndim < 2 or x2.ndim < 1 or x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"matvec: shapes {tuple(x1.shape)} and {tuple(x2.shape)} do not match the core (m,n),(n)->(m)")
    _check_broadcast("matvec", x1.shape[:-2], x2.shape[:-1])
    wanted = _loop(numpy.matvec, x1, x2, dtype, casting, signature)
    return exactly(lambda p, q: torch.squeeze(torch.matmul(p, torch.unsqueeze(q, -1)), -1), x1, x2, dtype=wanted)


@rule("numpy.vecmat", kind="linalg", examples=("np.vecmat(y, np.swapaxes(x, -1, -2))", "np.vecmat(u, q)"))
def vecmat(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None, keepdims=False,
           signature=None):  # fmt: skip
    """The conjugate of vector `x1` times matrix `x2`, the other axes broadcast."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if axes is not None or axis is not None or keepdims:
        raise Refused("vecmat with axes= is not supported", "use numpy.moveaxis first")
    if x1.ndim < 1 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-2]:
        raise ValueError(f"vecmat: shapes {tuple(x1.shape)} and {tuple(x2.shape)} do not match the core (n),(n,m)->(m)")
    _check_broadcast("vecmat", x1.shape[:-1], x2.shape[:-2])
    wanted = _loop(numpy.vecmat, x1, x2, dtype, casting, signature)
    return exactly(lambda p, q: torch.squeeze(torch.matmul(torch.unsqueeze(_conj(p), -2), q), -2), x1, x2, dtype=wanted)


@rule("numpy.inner", kind="linalg", examples=("np.inner(v, w)", "np.inner(x, y)", "np.inner(a, 2)"))
def inner(a, b, /):
    """Sum of products over the last axes, shape `a.shape[:-1] + b.shape[:-1]`."""
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply.compute(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise _not_aligned(a, b, b.ndim - 1)
    return exactly(lambda p, q: torch.tensordot(p, q, dims=([p.ndim - 1], [q.ndim - 1])), a, b)


@rule("numpy.vdot", kind="linalg", examples=("np.vdot(v, w)", "np.vdot(x, y)", "np.vdot(z, z)"))
def vdot(a, b, /):
    """Dot product of the raveled arrays, with the conjugate of the first."""
    a, b = torch.reshape(as_tensor(a), (-1,)), torch.reshape(as_tensor(b), (-1,))
    if a.shape != b.shape:
        raise ValueError("cannot reshape array: vdot needs as many elements in both")
    return exactly(torch.vdot if promote(a.dtype, b.dtype).is_complex else torch.dot, a, b)


@rule("numpy.outer", kind="linalg", examples=("np.outer(v, w)", "np.outer(x, y)", "np.outer(a, 2.0)"))
def outer(a, b, out=None):
    """Products of every pair, shape `(a.size, b.size)`."""
    a, b = torch.reshape(as_tensor(a), (-1,)), torch.reshape(as_tensor(b), (-1,))
    if is_plain(a, b):
        return torch.outer(a, b)
    return multiply.compute(torch.unsqueeze(a, 1), torch.unsqueeze(b, 0))


@rule("numpy.linalg.outer", kind="linalg", examples=("np.linalg.outer(v, w)",))
def linalg_outer(x1, x2, /):
    """`numpy.outer` of vectors. Raises ValueError for other ranks."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return outer(x1, x2)


@rule("numpy.tensordot", "numpy.linalg.tensordot", kind="linalg",
      examples=("np.tensordot(m, m.T, 1)", "np.tensordot(x, y, axes=0)", "np.tensordot(x, y, axes=([0], [0]))",
                "np.tensordot(v, w, axes=(0, -1))"))  # fmt: skip
def tensordot(a, b, axes=2):
    """Sum of products over pairs of axes: the last `axes` of `a` with the first of `b`, or the two lists given."""
    a, b = as_tensor(a), as_tensor(b)
    if isinstance(axes, (int, numpy.integer)):
        axes_a, axes_b = list(range(-int(axes), 0)), list(range(int(axes)))
    else:
        axes_a, axes_b = ([int(i)] if isinstance(i, (int, numpy.integer)) else [int(j) for j in i] for i in axes)
    try:
        match = len(axes_a) == len(axes_b) and all(a.shape[i] == b.shape[j] for i, j in zip(axes_a, axes_b, strict=True))
    except IndexError:
        raise IndexError("tuple index out of range") from None
    if not match:
        raise ValueError("shape-mismatch for sum")
    dims = ([i % a.ndim for i in axes_a], [j % b.ndim for j in axes_b])
    if len(set(dims[0])) < len(axes_a) or len(set(dims[1])) < len(axes_b):
        raise ValueError("repeated axis in axes")
    if is_plain(a, b):
        return torch.tensordot(a, b, dims=dims)
    return exactly(lambda p, q: torch.tensordot(p, q, dims=dims), a, b)


@rule("numpy.kron", kind="linalg", examples=("np.kron(v, w)", "np.kron(m, m)", "np.kron(a, b)", "np.kron(x, 2)"))
def kron(a, b):
    """Kronecker product: every product of pairs, `b` blown up by `a`; ranks are evened out on the left."""
    a, b = as_tensor(a), as_tensor(b)
    if is_plain(a, b):
        return torch.kron(a, b)
    rank = max(a.ndim, b.ndim)
    sizes_a = (1,) * (rank - a.ndim) + tuple(a.shape)
    sizes_b = (1,) * (rank - b.ndim) + tuple(b.shape)
    spread_a = torch.reshape(a, tuple(s for size in sizes_a for s in (size, 1)))
    spread_b = torch.reshape(b, tuple(s for size in sizes_b for s in (1, size)))
    return torch.reshape(multiply.compute(spread_a, spread_b), tuple(p * q for p, q in zip(sizes_a, sizes_b, strict=True)))


@rule("numpy.cross", kind="linalg", examples=("np.cross(np.ones((2, 3)), [1, 2, 3])", "np.cross([1, 2, 3], np.arange(3.0))"))
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross product of vectors of 3 (or 2) components. Raises ValueError for other lengths, TypeError for booleans."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    a = torch.movedim(a, normalize_axis_index(axisa, a.ndim, "axisa"), -1)
    b = torch.movedim(b, normalize_axis_index(axisb, b.ndim, "axisb"), -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    _check_broadcast("cross", a.shape[:-1], b.shape[:-1])
    dtype = promote(a.dtype, b.dtype)
    a, b = cast(a, dtype), cast(b, dtype)
    flat = a.shape[-1] == 2 and b.shape[-1] == 2
    if not flat:
        axisc = normalize_axis_index(axisc, max(a.ndim, b.ndim), "axisc")
    if dtype in BLAS and a.shape[-1] == 3 and b.shape[-1] == 3:
        result = torch.linalg.cross(*torch.broadcast_tensors(a, b))
        return result if axisc in (-1, result.ndim - 1) else torch.movedim(result, -1, axisc)
    parts = _cross_of_parts(list(torch.unbind(a, -1)), list(torch.unbind(b, -1)))
    return parts if flat else torch.movedim(torch.stack(torch.broadcast_tensors(*parts), dim=-1), -1, axisc)


def _cross_of_parts(a, b):
    """The three components (a third component that is missing is zero); of two 2-D vectors, only the last."""
    times, minus = multiply.compute, subtract.compute
    zero = None if len(a) == len(b) == 2 else torch.zeros_like((a if len(a) == 2 else b)[0])
    last = minus(times(a[0], b[1]), times(a[1], b[0]))
    if zero is None:
        return last
    a, b = ([*p, zero] if len(p) == 2 else p for p in (a, b))
    return [minus(times(a[1], b[2]), times(a[2], b[1])), minus(times(a[2], b[0]), times(a[0], b[2])), last]


@rule("numpy.linalg.cross", kind="linalg", examples=("np.linalg.cross(np.ones((2, 3)), np.arange(3.0))",))
def linalg_cross(x1, x2, /, *, axis=-1):
    """`numpy.cross` of vectors of three components only."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        found = f"{x1.shape[axis]} and {x2.shape[axis]}"
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {found} dimensional instead.")
    return cross(x1, x2, axis=axis)


@rule("numpy.trace", "numpy.ndarray.trace", kind="reduction",
      examples=("np.trace(m)", "np.trace(m, 1)", "np.trace(q, axis1=-2, axis2=-1)", "np.trace(m, offset=-1, dtype=float)",
                "m.trace(1)"))  # fmt: skip
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum along a diagonal; small integers and booleans are summed in int64 (unsigned ones in uint64)."""
    a = as_tensor(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axis1, axis2 = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    if axis1 == axis2:
        raise ValueError("axis1 and axis2 cannot be the same")
    total = summed_dtype(a.dtype) if dtype is None else to_torch(dtype)
    diagonal = torch.diagonal(a, offset, axis1, axis2)
    return cast(torch.sum(_summable(cast(diagonal, total)), dim=-1), total)


def summed_dtype(dtype):
    """The dtype in which NumPy sums: integers narrower than 64 bits and bool are widened."""
    if dtype.is_floating_point or dtype.is_complex:
        return dtype
    return torch.uint64 if to_numpy(dtype).kind == "u" else torch.int64


def _summable(x):
    return x.to(torch.int64) if x.dtype == torch.bool else widen(x)


@rule("numpy.linalg.trace", kind="reduction", examples=("np.linalg.trace(q)", "np.linalg.trace(m, offset=1)"))
def linalg_trace(x, /, *, offset=0, dtype=None):
    """Sum along a diagonal of the last two axes."""
    return trace(x, offset, -2, -1, dtype)


@rule("numpy.linalg.diagonal", kind="shape", view=True, examples=("np.linalg.diagonal(q)", "np.linalg.diagonal(m, offset=1)"))
def linalg_diagonal(x, /, *, offset=0):
    """The diagonal of the last two axes, a read-only view."""
    from ..semantics.arrays import read_only

    if as_tensor(x).ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    return read_only(torch.diagonal(as_tensor(x), offset, -2, -1))


@rule("numpy.linalg.matrix_transpose", kind="shape", view=True, examples=("np.linalg.matrix_transpose(m)", "np.linalg.matrix_transpose(q)"))
def linalg_matrix_transpose(x, /):
    """The last two axes swapped, a view."""
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return torch.transpose(x, -2, -1)


@rule("numpy.einsum", kind="linalg",
      examples=("np.einsum('ij,jk->ik', m, m.T)", "np.einsum('i,i', v, w)", "np.einsum('...i->...', x)", "np.einsum('ij->ji', m)",
                "np.einsum('i,j', v, w)", "np.einsum(m, [0, 1], m, [0, 1], [0])"))  # fmt: skip
def einsum(subscripts, *operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    """Sums of products by Einstein's convention, in string or sublist form; `optimize` only changes the rounding.

    Raises ValueError for malformed subscripts and sizes that do not match. One operand without a sum gives a view."""
    if not isinstance(subscripts, str):
        subscripts, operands = _from_sublists((subscripts, *operands))
    tensors = [as_tensor(x) for x in operands]
    equation = _explicit(subscripts, tensors)
    if dtype is None and is_plain(*tensors) and len(tensors) > 1:
        return torch.einsum(equation, *tensors)
    if len(tensors) == 1 and _only_moves(equation):
        return torch.einsum(equation, tensors[0])  # a view of any dtype: nothing is computed, and NumPy too ignores `dtype=`
    wanted = promote(*(x.dtype for x in tensors)) if dtype is None else to_torch(dtype)
    for position, x in enumerate(tensors):
        if not can_cast(x.dtype, wanted, casting):
            wish = f"from {to_numpy(x.dtype)!r} to {to_numpy(wanted)!r} according to the rule {casting!r}"
            raise TypeError(f"Iterator operand {position} dtype could not be cast {wish}")
    return exactly(functools.partial(torch.einsum, equation), *tensors, dtype=wanted)


def _from_sublists(args):
    """The form `einsum(a, [0, 1], b, [1, 2], [0, 2])` as subscripts and operands."""
    pairs, last = list(zip(args[::2], args[1::2], strict=False)), args[-1] if len(args) % 2 else None
    letters = string.ascii_uppercase + string.ascii_lowercase

    def spell(labels):
        for i in labels:
            if i is not Ellipsis and not 0 <= i < len(letters):
                raise ValueError("subscript is not within the valid range [0, 52)")
        return "".join("..." if i is Ellipsis else letters[i] for i in labels)

    text = ",".join(spell(labels) for _, labels in pairs)
    return text if last is None else f"{text}->{spell(last)}", tuple(operand for operand, _ in pairs)


def _explicit(subscripts, tensors):
    """The equation without spaces and with its output: labels that appear once, in alphabetical order. Checks it as NumPy does."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(tensors):
        raise ValueError("number of einstein sum subscripts must be equal to the number of operands")
    sizes: dict[str, int] = {}
    for position, (term, x) in enumerate(zip(terms, tensors, strict=True)):
        _measure(position, term, x, sizes)
    _check_broadcast("einsum", *(_under_ellipsis(t, x) for t, x in zip(terms, tensors, strict=True)))
    joined = inputs.replace(",", "").replace("...", "")
    if not arrow:
        once = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
        output = ("..." if "..." in inputs else "") + once
    names = output.replace("...", "")
    if len(set(names)) < len(names):
        raise ValueError("einstein sum subscripts string includes an output subscript multiple times")
    if not set(names) <= set(joined):
        raise ValueError("einstein sum subscripts string included output subscript which never appeared in an input")
    if "..." not in output and any("..." in t and x.ndim > len(t) - 3 for t, x in zip(terms, tensors, strict=True)):
        raise ValueError("output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis is in the output")
    return f"{inputs}->{output}"


def _under_ellipsis(term, x):
    """The sizes of `x` that an ellipsis stands for."""
    before, dots, after = term.partition("...")
    return tuple(x.shape[len(before) : x.ndim - len(after)]) if dots else ()


def _measure(position, term, x, sizes):
    """Check one operand's labels against its shape, and note the sizes (1 broadcasts against another operand)."""
    before, dots, after = term.partition("...")
    labels = before + after
    if not all(c in string.ascii_letters for c in labels):
        raise ValueError(f"invalid subscript in einstein sum subscripts string: {term!r}")
    if len(labels) > x.ndim:
        raise ValueError(f"einstein sum subscripts string contains too many subscripts for operand {position}")
    if not dots and len(labels) < x.ndim:
        raise ValueError(f"operand {position} has more dimensions than subscripts given in einstein sum, but no '...' ellipsis")
    shape = [*x.shape[: len(before)], *x.shape[x.ndim - len(after) :]]
    own: dict[str, int] = {}
    for label, size in zip(labels, shape, strict=True):
        if own.setdefault(label, size) != size:
            raise ValueError(f"dimensions in operand {position} for collapsing index {label!r} don't match ({own[label]} != {size})")
    for label, size in own.items():
        if sizes.get(label, 1) == 1:
            sizes[label] = size
        elif size not in (1, sizes[label]):
            raise ValueError(f"operands could not be broadcast together: index {label!r} is {sizes[label]} and {size}")


def _only_moves(equation):
    """True where an equation of one operand transposes or takes diagonals but sums nothing."""
    term, _, output = equation.partition("->")
    return set(term) == set(output)


refuse("numpy.einsum_path", reason="it plans a computation and computes nothing", hint="call numpy.einsum with optimize=True")
