"""The extents of what a graph computes: from those of its inputs, node by node, for the operations that are met most.

Only asked where a decision hangs on the size of a result. What is not known here is no fault: the decision is then taken for the sizes of
the sample alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from torch import fx

from . import extents
from .extents import Extent

Extents = Any
"""A tuple of extents, each of which may be None; a list of these for a node that gives several tensors; None where nothing is known."""


def extents_of(node: fx.Node) -> Extents:
    """The extents of what a node gives."""
    pending = [node]
    while pending:
        last = pending[-1]
        if "extents" not in last.meta:
            open_inputs = [n for n in last.all_input_nodes if "extents" not in n.meta and "size" not in n.meta]
            if open_inputs:
                pending += open_inputs
                continue
            last.meta["extents"] = _found(last)
        pending.pop()
    return node.meta["extents"]


def _found(node: fx.Node) -> Extents:
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    name = name.strip("_") if isinstance(name, str) else ""
    rule = _RULES.get(name)
    rank = node.meta.get("rank")
    unknown = None if rank is None else tuple([("of", node, axis) for axis in range(rank)])
    if rule is None or node.op == "get_attr":
        return unknown
    try:
        found = rule(node, *map(_of, node.args), **{k: _of(v) for k, v in node.kwargs.items()})
    except (_Unknown, TypeError, ValueError, IndexError, KeyError, AttributeError):
        return unknown
    if rank is None or found is None:
        return found
    if not isinstance(found, tuple) or len(found) != rank:
        return unknown
    return tuple([("of", node, axis) if n is None else n for axis, n in enumerate(found)])


class _Unknown(Exception):
    """What is not known."""


class _Shape(tuple):  # type: ignore[type-arg]
    """The extents of an operand."""


def _of(x: Any) -> Any:
    """An argument: shapes for nodes, extents for sizes, all else as it is."""
    if isinstance(x, fx.Node):
        if "size" in x.meta:
            return x.meta["size"][0]
        found = x.meta["extents"]
        return _Shape(found) if isinstance(found, tuple) else found
    if isinstance(x, (list, tuple)):
        return [_of(i) for i in x]
    return slice(_of(x.start), _of(x.stop), _of(x.step)) if isinstance(x, slice) else x


def _known(x: Any) -> _Shape:
    """The shape of an operand; that of a number is ()."""
    if isinstance(x, (int, float, complex)):
        return _Shape()
    if not isinstance(x, _Shape):
        raise _Unknown
    return x


_RULES: dict[str, Callable[..., Extents]] = {}


def _rule(*names: str) -> Callable[[Callable[..., Extents]], Callable[..., Extents]]:
    def enter(function: Callable[..., Extents]) -> Callable[..., Extents]:
        _RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def _broadcast(*shapes: Sequence[Extent]) -> tuple[Extent, ...]:
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(functools.reduce(_broadcast_size, sizes) for sizes in zip(*padded, strict=True))


def _broadcast_size(a: Extent, b: Extent) -> Extent:
    return None if a is None or b is None else extents.broadcast(a, b)


@_rule(
    "add", "sub", "mul", "div", "truediv", "true_divide", "floor_divide", "floordiv", "pow", "remainder", "fmod", "mod", "maximum",
    "minimum", "fmax", "fmin", "atan2", "hypot", "copysign", "nextafter", "logaddexp", "logaddexp2", "gcd", "lcm", "where", "eq",
    "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_left_shift", "bitwise_right_shift", "and", "or", "xor", "lshift", "rshift", "complex", "lerp", "ldexp", "heaviside",
    "polar",
)  # fmt: skip
def _elementwise(node: fx.Node, *operands: Any, **options: Any) -> Extents:
    return _broadcast(*map(_known, operands))


@_rule(
    "abs", "neg", "positive", "sign", "sgn", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10",
    "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "round",
    "trunc", "frac", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit", "logical_not", "bitwise_not", "invert",
    "sigmoid", "erf", "erfc", "relu", "angle", "nan_to_num", "deg2rad", "rad2deg", "i0", "sinc", "clone", "to", "contiguous", "real",
    "imag", "conj", "conj_physical", "resolve_conj", "detach", "clamp", "clip", "zeros_like", "ones_like", "full_like", "empty_like",
    "cumsum", "cumprod", "flip", "fliplr", "flipud", "roll", "argsort", "softmax", "masked_fill", "triu", "tril", "scatter",
    "scatter_add", "index_copy", "index_add", "index_put", "index_fill", "slice_scatter", "select_scatter", "view_as", "float",
    "double", "int", "long", "bool", "half",
)  # fmt: skip
def _same(node: fx.Node, x: Any, *others: Any, **options: Any) -> Extents:
    return tuple(_known(x))


@_rule("fft_fft", "fft_ifft")
def _transformed(node: fx.Node, x: Any, n: Any = None, dim: int = -1, *others: Any, **options: Any) -> Extents:
    made = list(_known(x))
    made[dim] = made[dim] if n is None else n
    return tuple(made)


@_rule("sort", "cummax", "cummin")
def _sorted(node: fx.Node, x: Any, *others: Any, **options: Any) -> Extents:
    return [tuple(_known(x)), tuple(_known(x))]


@_rule("sum", "mean", "prod", "amax", "amin", "any", "all", "argmax", "argmin", "nansum", "nanmean", "logsumexp", "count_nonzero")
def _reduced(node: fx.Node, x: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Extents:
    x, dim = _known(x), options.get("axis", dim)
    axes = range(len(x)) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
    gone = {d % len(x) for d in axes}
    return tuple(1 if d in gone else n for d, n in enumerate(x) if keepdim or d not in gone)


@_rule("var", "std")
def _spread(node: fx.Node, x: Any, dim: Any = None, *others: Any, keepdim: bool = False, **options: Any) -> Extents:
    return _reduced(node, x, dim, keepdim)


@_rule("linalg_vector_norm", "norm")
def _norm(node: fx.Node, x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, **options: Any) -> Extents:
    return _reduced(node, x, dim, keepdim)


@_rule("max", "min", "median", "nanmedian")
def _extreme(node: fx.Node, x: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Extents:
    if isinstance(dim, _Shape):
        return _elementwise(node, x, dim)
    made = _reduced(node, x, dim, keepdim)
    return made if dim is None else [made, made]


@_rule("getitem")
def _indexed(node: fx.Node, x: Any, key: Any) -> Extents:
    if isinstance(node.args[0], fx.Node) and isinstance(x, list):
        return x[key]
    left = list(_known(x))
    keys = key if isinstance(key, list) and isinstance(node.args[1], tuple) else [key]
    used = sum(k is not None and k is not Ellipsis for k in keys)
    made: list[Extent] = []
    for k in keys:
        if k is None:
            made.append(1)
        elif k is Ellipsis:
            count = len(left) - used
            made += left[:count]
            del left[:count]
        elif isinstance(k, slice):
            n = left.pop(0)
            bounds = [k.start, k.stop, k.step]
            plain = n is not None and all(b is None or isinstance(b, int) for b in bounds)
            made.append(extents.window(n, k) if plain else _sized_window(n, k))
        elif isinstance(k, _Shape):  # an array of positions: a mask makes the result loose, whose size nobody is told
            left.pop(0)
            made += ["picked"] if "picked" not in made else []
        elif not isinstance(k, bool):
            left.pop(0)
        else:
            raise _Unknown
        used -= k is not None and k is not Ellipsis
    return _with_picks(made + left, keys)


def _with_picks(made: list[Any], keys: list[Any]) -> Extents:
    """The extents of `x[keys]`, where index arrays are put in their place: in front, where they stand apart."""
    places = [i for i, k in enumerate(keys) if isinstance(k, _Shape)]
    if not places:
        return tuple(made)
    picked = _broadcast(*(keys[i] for i in places))
    numbers = [i for i, k in enumerate(keys) if not isinstance(k, (slice, type(None), type(Ellipsis)))]
    at = made.index("picked") if numbers == list(range(numbers[0], numbers[-1] + 1)) else 0
    rest = [n for n in made if n != "picked"]
    return (*rest[:at], *picked, *rest[at:])


def _sized_window(n: Extent, key: slice) -> Extent:
    """A slice whose bounds are sizes themselves: those that are no less than zero, as sizes are."""
    if n is None or key.step not in (None, 1) or isinstance(key.start, _Shape) or isinstance(key.stop, _Shape):
        return None
    start, stop = key.start or 0, n if key.stop is None else key.stop
    if any(extents.least(b) is None or extents.least(b) < 0 for b in (start, stop)):  # type: ignore[operator]
        return None
    return extents.largest(extents.add(extents.smallest(stop, n), extents.smallest(start, n), -1), 0)


@_rule("permute")
def _permuted(node: fx.Node, x: Any, *dims: Any) -> Extents:
    x, dims = _known(x), tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], list) else dims
    return tuple(x[d] for d in dims)


@_rule("transpose", "swapaxes", "swapdims")
def _transposed(node: fx.Node, x: Any, first: int, second: int) -> Extents:
    made = list(_known(x))
    made[first], made[second] = made[second], made[first]
    return tuple(made)


@_rule("t")
def _t(node: fx.Node, x: Any) -> Extents:
    return tuple(_known(x)[::-1])


@_rule("movedim", "moveaxis")
def _moved(node: fx.Node, x: Any, source: Any, destination: Any) -> Extents:
    x = _known(x)
    places = [[d % len(x) for d in ([s] if isinstance(s, int) else s)] for s in (source, destination)]
    made: list[Any] = [None] * len(x)
    for s, d in zip(*places, strict=True):
        made[d] = x[s]
    rest = iter([n for d, n in enumerate(x) if d not in places[0]])
    return tuple(made[d] if d in places[1] else next(rest) for d in range(len(x)))


def _total(sizes: Sequence[Extent]) -> Extent:
    return None if any(n is None for n in sizes) else functools.reduce(extents.mul, sizes, 1)


def _shape_given(shape: Any) -> list[Any]:
    """Sizes that a function was given, as a list or one by one."""
    sizes = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], list) else list(shape)
    if any(isinstance(n, _Shape) or not (n is None or isinstance(n, (int, tuple))) for n in sizes):
        raise _Unknown
    return sizes


@_rule("reshape", "view")
def _reshaped(node: fx.Node, x: Any, *shape: Any) -> Extents:
    sizes = _shape_given(shape)
    if -1 in sizes:
        rest, total = _total([n for n in sizes if n != -1]), _total(_known(x))
        sizes[sizes.index(-1)] = None if rest is None or total is None or rest == 0 else extents.floordiv(total, rest)
    return tuple(sizes)


@_rule("flatten")
def _flattened(node: fx.Node, x: Any, start_dim: int = 0, end_dim: int = -1) -> Extents:
    x = _known(x)
    if not x:
        return (1,)
    first, last = start_dim % len(x), end_dim % len(x)
    return (*x[:first], _total(x[first : last + 1]), *x[last + 1 :])


@_rule("unsqueeze")
def _unsqueezed(node: fx.Node, x: Any, dim: int) -> Extents:
    made = list(_known(x))
    made.insert(dim % (len(made) + 1), 1)
    return tuple(made)


@_rule("squeeze")
def _squeezed(node: fx.Node, x: Any, dim: Any) -> Extents:
    x = _known(x)
    gone = {d % len(x) for d in ([dim] if isinstance(dim, int) else dim)}
    if any(x[d] != 1 for d in gone):
        raise _Unknown
    return tuple(n for d, n in enumerate(x) if d not in gone)


@_rule("expand", "broadcast_to")
def _expanded(node: fx.Node, x: Any, *shape: Any) -> Extents:
    sizes = _shape_given(shape)
    x = (None,) * (len(sizes) - len(_known(x))) + tuple(x)
    return tuple(n if s == -1 else s for n, s in zip(x, sizes, strict=True))


@_rule("expand_as", "broadcast_tensors")
def _like(node: fx.Node, *tensors: Any) -> Extents:
    if node.target == "expand_as":
        return tuple(_known(tensors[1]))
    made = _broadcast(*map(_known, tensors))
    return [made for _ in tensors]


@_rule("stack")
def _stacked(node: fx.Node, tensors: list[Any], dim: int = 0) -> Extents:
    made = list(_known(tensors[0]))
    made.insert(dim % (len(made) + 1), len(tensors))
    return tuple(made)


@_rule("cat", "concat", "concatenate")
def _joined(node: fx.Node, tensors: list[Any], dim: int = 0, **options: Any) -> Extents:
    shapes = [_known(t) for t in tensors]
    dim = options.get("axis", dim)
    made = list(shapes[0])
    along = [s[dim] for s in shapes]
    made[dim] = None if None in along else functools.reduce(extents.add, along)
    return tuple(made)


@_rule("tensor_split")
def _split(node: fx.Node, x: Any, places: Any, dim: int = 0) -> Extents:
    x = list(_known(x))
    if not isinstance(places, list) or not all(isinstance(p, int) for p in places):
        raise _Unknown
    sizes = [extents.window(x[dim], slice(i, j)) for i, j in zip([None, *places], [*places, None], strict=True)]
    return [(*x[: dim % len(x)], n, *x[dim % len(x) + 1 :]) for n in sizes]


@_rule("narrow")
def _narrowed(node: fx.Node, x: Any, dim: int, start: Any, length: Any) -> Extents:
    made = list(_known(x))
    made[dim] = length if not isinstance(length, _Shape) else None
    return tuple(made)


@_rule("select")
def _selected(node: fx.Node, x: Any, dim: int, index: Any) -> Extents:
    made = list(_known(x))
    del made[dim]
    return tuple(made)


@_rule("index_select")
def _picked(node: fx.Node, x: Any, dim: int, index: Any) -> Extents:
    made = list(_known(x))
    made[dim] = _known(index)[0]
    return tuple(made)


@_rule("gather", "take_along_dim")
def _gathered(node: fx.Node, x: Any, dim: int, index: Any) -> Extents:
    return tuple(_known(index))


@_rule("take", "bucketize")
def _taken(node: fx.Node, x: Any, index: Any, **options: Any) -> Extents:
    return tuple(_known(x if node.target == "bucketize" else index))


@_rule("searchsorted")
def _searched(node: fx.Node, sequence: Any, values: Any, **options: Any) -> Extents:
    return tuple(_known(values))


@_rule("matmul", "mm", "mv", "dot", "bmm")
def _multiplied(node: fx.Node, a: Any, b: Any) -> Extents:
    a, b = _known(a), _known(b)
    batch = _broadcast(a[:-2], b[:-2])
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


@_rule("outer")
def _outer(node: fx.Node, a: Any, b: Any) -> Extents:
    return (*_known(a), *_known(b))


@_rule("zeros", "ones", "empty")
def _new(node: fx.Node, *shape: Any, **options: Any) -> Extents:
    return tuple(_shape_given(shape))


@_rule("full", "new_zeros", "new_full", "new_ones", "new_empty")
def _full(node: fx.Node, first: Any, second: Any = None, *others: Any, **options: Any) -> Extents:
    return tuple(_shape_given((first if node.op == "call_function" else second,)))


@_rule("scalar_tensor")
def _scalar(node: fx.Node, value: Any, **options: Any) -> Extents:
    return ()


@_rule("arange")
def _counted(node: fx.Node, start: Any, stop: Any = None, step: Any = 1, **options: Any) -> Extents:
    if stop is None:
        start, stop = 0, start
    if step != 1 or isinstance(start, float) or isinstance(stop, float):
        raise _Unknown
    return (extents.largest(extents.add(stop, start, -1), 0),)


@_rule("linspace")
def _spaced(node: fx.Node, start: Any, stop: Any, steps: Any, **options: Any) -> Extents:
    return (steps,)


@_rule("eye")
def _eye(node: fx.Node, n: Any, m: Any = None, **options: Any) -> Extents:
    return (n, n if m is None else m)


@_rule("pad")
def _padded(node: fx.Node, x: Any, widths: Any, *others: Any, **options: Any) -> Extents:
    made = list(_known(x))
    for axis in range(len(widths) // 2):
        n = made[-1 - axis]
        made[-1 - axis] = None if n is None else extents.add(extents.add(n, widths[2 * axis]), widths[2 * axis + 1])
    return tuple(made)


@_rule("tile")
def _tiled(node: fx.Node, x: Any, *counts: Any, **options: Any) -> Extents:
    sizes, shape = _shape_given(counts or (options["dims"],)), _known(x)
    rank = max(len(sizes), len(shape))
    pairs = zip((1,) * (rank - len(shape)) + tuple(shape), [1] * (rank - len(sizes)) + sizes, strict=True)
    return tuple(None if n is None else extents.mul(n, c) for n, c in pairs)


@_rule("unfold")
def _unfolded(node: fx.Node, x: Any, dim: int, size: Any, step: Any) -> Extents:
    made = list(_known(x))
    made[dim] = None if made[dim] is None else extents.add(extents.floordiv(extents.add(made[dim], size, -1), step), 1)
    return (*made, size)


@_rule("diff")
def _differences(node: fx.Node, x: Any, n: int = 1, dim: int = -1, **options: Any) -> Extents:
    if options:
        raise _Unknown
    made = list(_known(x))
    made[dim] = None if made[dim] is None else extents.largest(extents.add(made[dim], -n), 0)
    return tuple(made)


@_rule("while_loop", "while_loop_op")
def _looped(node: fx.Node, condition: Any, body: Any, states: Any, read: Any) -> Extents:
    return [tuple(s) if isinstance(s, _Shape) else None for s in states]

