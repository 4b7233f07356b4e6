"""Comparing: two graphs node by node, and a graph's values with NumPy's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy
import torch
from torch import fx

from .guards import check, check_inputs

TOLERANCE = {"float16": 1e-2, "float32": 1e-3, "complex64": 1e-3}
"""How far apart, relative to the largest value, still counts as the same computation; 1e-6 for the other dtypes with a fraction."""

REPEATED = {"float16": 1e-3, "float32": 1e-6, "complex64": 1e-6}
"""The same for two runs of the same NumPy code, which may differ by the order of a sum; 1e-13 for the others."""


def compare_graphs(g1: fx.GraphModule, g2: fx.GraphModule) -> str | None:
    """The first difference between two graphs: operation, target, arguments, Python numbers and constant tensors. None where
    they are the same graph (names of nodes do not count)."""
    first, second = (_compared(g.graph) for g in (g1, g2))
    numbers: list[dict[fx.Node, int]] = [{n: i for i, n in enumerate(nodes)} for nodes in (first, second)]
    for a, b in zip(first, second, strict=False):
        if a.op != b.op or (a.op != "get_attr" and _target(a) != _target(b)):
            return f"{_told(a)} and {_told(b)}"
        if a.op == "get_attr":
            one, other = _attribute(g1, str(a.target)), _attribute(g2, str(b.target))
            if isinstance(one, fx.GraphModule) and isinstance(other, fx.GraphModule):
                why = compare_graphs(one, other)
                if why is not None:
                    return why
            elif isinstance(one, fx.GraphModule) or isinstance(other, fx.GraphModule):
                return f"{_told(a)} and {_told(b)}"
            elif not _same_bits(one, other):
                return f"the constant {a.target} ({_place(a)}) has other contents"
            continue
        if not _same_argument((a.args, a.kwargs), (b.args, b.kwargs), *numbers):
            return f"{_told(a)} and {_told(b)}"
    if len(first) != len(second):
        return f"{len(first)} and {len(second)} nodes"
    outputs = [getattr(getattr(g, "face", None), "outputs", None) for g in (g1, g2)]
    if outputs[0] != outputs[1]:
        return "the Python values that are returned"
    return None


def _compared(graph: fx.Graph) -> list[fx.Node]:
    """The nodes of a graph that count: not what it demands of its inputs, and no picks and shapes of which nothing is used, which stand in
    it as long as sizes are free that they may fail for."""
    left: set[fx.Node] = set()
    for node in reversed(graph.nodes):
        named = getattr(node.target, "__name__", str(node.target))
        if node.target is check_inputs or (named in _UNUSED and left.issuperset(node.users)):
            left.add(node)
    return [n for n in graph.nodes if n not in left]


_UNUSED = ("getitem", "reshape", "view", "expand", "broadcast_to")


def _target(node: fx.Node) -> Any:
    """What a node calls; an assertion is the same one in the form that a finished graph has it in."""
    return torch._assert_async if node.target is check else node.target


def _same_argument(a: Any, b: Any, first: dict[fx.Node, int], second: dict[fx.Node, int]) -> bool:
    if isinstance(a, fx.Node) or isinstance(b, fx.Node):
        return isinstance(a, fx.Node) and isinstance(b, fx.Node) and first[a] == second[b]
    if isinstance(a, (list, tuple)):
        return (
            isinstance(b, (list, tuple))
            and len(a) == len(b)
            and all(_same_argument(x, y, first, second) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(_same_argument(a[k], b[k], first, second) for k in a)
    if isinstance(a, slice):
        return isinstance(b, slice) and _same_argument((a.start, a.stop, a.step), (b.start, b.stop, b.step), first, second)
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a.hex() == b.hex()
    if isinstance(a, complex):
        return (a.real.hex(), a.imag.hex()) == (b.real.hex(), b.imag.hex())
    return bool(a == b)


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a is b:
        return True
    return torch.equal(_bytes(a), _bytes(b))


def _bytes(x: torch.Tensor) -> torch.Tensor:
    """A copy, as a single element may have any stride, and torch then calls it contiguous."""
    return x.detach().reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8)


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def _told(node: fx.Node) -> str:
    """A node as a call: `torch.clamp(sub, 0, 0) (node.py:12)`."""
    name = getattr(node.target, "__name__", node.target)
    given = [*map(str, node.args), *(f"{key}={value}" for key, value in node.kwargs.items())]
    return f"{name}({', '.join(given)}) ({_place(node)})"


def _place(node: fx.Node) -> str:
    source = node.meta.get("source")
    return f"{source[0]}:{source[1]}" if source else node.op


def values_of(x: torch.Tensor) -> numpy.ndarray[Any, Any]:
    """The values of a tensor as an array, unseen by a recorder. The memory may be the tensor's."""
    with torch._C.DisableTorchFunction():
        return x.detach().resolve_conj().resolve_neg().cpu().numpy()


def difference(want: Any, got: Any, repeated: float | None = None, computed_in: Iterable[numpy.dtype[Any]] = (),
               largest: float = 0.0, exact: Any = None) -> str | None:  # fmt: skip
    """How a result differs from NumPy's (an array or a number), beyond rounding; None where it does not.

    `repeated`: both are NumPy's, computed from inputs of this tolerance (see `repeated_tolerance`). `computed_in`: the dtypes on the way
    to it; what was rounded to float16 is no better for being float64 in the end. `largest`: the largest number on the way, of whose size
    rounding is where all cancels. `exact`: what a float64 run gives, to which either may be closer."""
    if isinstance(got, torch.Tensor):
        got = values_of(got)
    a, b = numpy.asarray(want), numpy.asarray(got)
    if a.shape != b.shape:
        return f"shape {b.shape}, NumPy has {a.shape}"
    if a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return f"dtype {b.dtype}, NumPy has {a.dtype}"
    if a.dtype.kind not in "fc":
        right = numpy.array_equal(a, b) or (exact is not None and numpy.all((a == b) | closer(a, b, exact)))
        return None if right else f"{_short(b)}, NumPy has {_short(a)}"
    if repeated is not None:
        tolerance = max(repeated, repeated_tolerance(a.dtype))
    else:
        tolerance = max(TOLERANCE.get(d.name, 1e-6) for d in (a.dtype, *computed_in))
    better = exact is not None and closer(a, b, exact)
    wide = numpy.complex128 if a.dtype.kind == "c" else numpy.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = numpy.abs(a[numpy.isfinite(a)])
    scale = float(finite.max()) if finite.size else 0.0
    rounding = _UNITS * max((float(numpy.finfo(d).eps) for d in (a.dtype, *computed_in) if d.kind in "fc"), default=0.0) * largest
    with numpy.errstate(all="ignore"):
        close = numpy.isclose(b, a, rtol=tolerance, atol=max(tolerance * min(scale, 1e300), rounding), equal_nan=True) | better
    return None if close.all() else f"{_short(b)}, NumPy has {_short(a)}"


def closer(want: Any, got: Any, exact: Any) -> numpy.ndarray[Any, Any]:
    """Elementwise: whether `got` is at least as close to a float64 run as NumPy's `want`. Integers and bools must be that run's.

    Where NumPy has no number (an overflow on the way), that run's number must be met."""
    a, b, wide = (numpy.asarray(x) for x in (want, got, exact))
    if not a.shape == b.shape == wide.shape:
        return numpy.zeros(a.shape, bool)
    if a.dtype.kind not in "fc":
        return numpy.asarray(b == wide)
    kind = numpy.complex128 if "c" in (a.dtype.kind, wide.dtype.kind) else numpy.float64
    with numpy.errstate(all="ignore"):
        held = wide.astype(a.dtype)  # the nearest number of the dtype
        off, apart = (numpy.where(x == held, 0.0, numpy.abs(x.astype(kind) - wide.astype(kind))) for x in (a, b))
        near = apart <= TOLERANCE.get(a.dtype.name, 1e-6) * numpy.abs(wide)
        return numpy.asarray(numpy.where(numpy.isfinite(off), apart <= off, near))


def largest_in(x: Any) -> float:
    """The largest finite number of an array, 0 where there is none."""
    if x.dtype.kind not in "iufc":
        return 0.0
    size = numpy.abs(numpy.asarray(x, numpy.complex128))
    return float(size[numpy.isfinite(size)].max(initial=0.0))


_UNITS = 64
"""How many units in the last place of the largest number a sum may be off."""


def repeated_tolerance(*dtypes: numpy.dtype[Any]) -> float:
    """How far apart two runs of the same NumPy code may be that meets these dtypes."""
    return max((REPEATED.get(dtype.name, 1e-13) for dtype in dtypes), default=1e-13)


def _short(x: numpy.ndarray[Any, Any]) -> str:
    return numpy.array2string(x, threshold=6, edgeitems=2).replace("\n", " ")[:100]
