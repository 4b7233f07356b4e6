"""The last pass over a graph: torch's own operation for several, and nothing where nothing is done.

Each entry is a function of a node: the pattern and the condition are its body, the replacement is what it gives (a node for one that does
nothing, a `Call` for another operation, None where it is not its pattern), and `example` is NumPy code in which it occurs, which the tests
run. All are exact, bit for bit, whatever the sizes: conditions hang on ranks, dtypes and Python numbers alone.

Where something is written in place nothing is changed, nor where a part of the graph is run or left out, whose operands must not share
memory; nor do nodes vanish whose memory results of the function lie in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator


@dataclass(frozen=True)
class Call:
    """An operation that a node becomes."""

    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One of the table.

    names     the operations at which it looks, by name
    example   a function of `x`, a matrix, and `v`, a vector, in whose graph it finds something
    replaces  what it makes of a node"""

    names: tuple[str, ...]
    example: str
    replaces: Callable[[fx.Node], fx.Node | Call | None]


ENTRIES: list[Entry] = []


def entry(*names: str, example: str) -> Callable[[Any], Any]:
    """Put a function into the table."""

    def put(replaces: Any) -> Any:
        ENTRIES.append(Entry(names, example, replaces))
        return replaces

    return put


def compound(graph: fx.Graph, apart: set[fx.Node]) -> None:
    """Let a finished graph say the compound thing. `apart` is what results of the function lie in."""
    if any(n.meta.get("writes") or n.meta.get("decides") or isinstance(n.target, HigherOrderOperator) for n in graph.nodes):
        return
    for node in list(graph.nodes):
        for one in _AT.get(name_of(node), ()):
            found = one.replaces(node)
            if isinstance(found, Call):
                node.op, node.target, node.args, node.kwargs = "call_function", found.target, found.args, found.kwargs
            elif found is not None and node not in apart and found.meta.get("dtype") is node.meta.get("dtype"):
                node.replace_all_uses_with(found)
                graph.erase_node(node)
                break


def name_of(node: Any) -> str:
    """The name of the function or method that a node calls."""
    if not isinstance(node, fx.Node) or node.op not in ("call_function", "call_method"):
        return ""
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")


def _is(x: Any, number: float) -> bool:
    return type(x) in (int, float) and x == number


def _rank(node: Any) -> Any:
    return node.meta.get("rank") if isinstance(node, fx.Node) else None


def _dtype(node: Any) -> Any:
    return node.meta.get("dtype") if isinstance(node, fx.Node) else None


# Operations


@entry("pow", example="x**2 + v**2")
def _square(node: fx.Node) -> Call | None:
    """A square is a product in torch too."""
    x, power = node.args if len(node.args) == 2 else (None, None)
    return Call(torch.square, (x,), {}) if _dtype(x) is _dtype(node) is not None and _is(power, 2) and not node.kwargs else None


@entry("sum", "mean", "amax", "amin", "prod", "any", "all", "argmax", "argmin", "var", example="x.sum(axis=0) + x.max(axis=0) * x.any()")
def _without_defaults(node: fx.Node) -> Call | None:
    """No argument that is torch's default."""
    keep, axis = node.kwargs.get("keepdim"), node.kwargs.get("dim", 0)
    if keep is not False or node.op != "call_function" or (axis is None and name_of(node) in ("var", "argmax", "argmin")):
        return None
    return Call(node.target, node.args, {k: v for k, v in node.kwargs.items() if k != "keepdim" and (k != "dim" or v is not None)})


@entry("to", example="x + np.eye(x.shape[1], dtype=x.dtype)[0]")
def _eye(node: fx.Node) -> Call | None:
    """Where a column of numbers is a row of them."""
    same = node.args[0]
    rows, columns = same.args if name_of(same) == "eq" and len(same.args) == 2 else (None, None)  # type: ignore[union-attr]
    if name_of(rows) == "add" and _is(rows.args[1], 0):  # type: ignore[union-attr]
        rows = rows.args[0]  # type: ignore[union-attr]
    numbers = rows.args[0] if name_of(rows) == "unsqueeze" and rows.args[1:] == (1,) else None  # type: ignore[union-attr]
    if name_of(columns) != "arange" or len(columns.args) != 1 or columns.kwargs or name_of(numbers) != "arange":  # type: ignore[union-attr]
        return None
    if len(numbers.args) != 1 or numbers.kwargs or len(node.args) != 2 or node.kwargs:  # type: ignore[union-attr]
        return None
    n, m, dtype = numbers.args[0], columns.args[0], node.args[1]  # type: ignore[union-attr]
    return Call(torch.eye, (n,) if n is m else (n, m), {"dtype": dtype}) if isinstance(dtype, torch.dtype) else None


# What does nothing


@entry("clone", example="np.array([v[0], v[1]])")
def _copied_number(node: fx.Node) -> Any:
    """A copy of one number that nobody writes into."""
    return node.args[0] if _rank(node) == 0 and len(node.args) == 1 and "memory_format" not in node.kwargs else None


@entry("mul", "div", "sub", "add", example="1.0 * v / 1.0 + np.trapezoid(v)")
def _neutral(node: fx.Node) -> Any:
    """A product with 1, a quotient by it, a sum with 0 of integers."""
    if len(node.args) != 2 or node.kwargs:
        return None
    a, b = node.args
    dtype, neutral = _dtype(node), 1 if name_of(node) in ("mul", "div") else 0
    if dtype is None or (neutral == 0 and (dtype.is_floating_point or dtype.is_complex)) or dtype.is_complex or dtype is torch.bool:
        return None
    if _is(b, neutral) and _dtype(a) is dtype:
        return a
    return b if name_of(node) in ("mul", "add") and _is(a, neutral) and _dtype(b) is dtype else None


@entry("roll", example="np.roll(v, 0) + np.roll(x, 0, axis=1)")
def _rolled_by_nothing(node: fx.Node) -> Any:
    return node.args[0] if len(node.args) > 1 and _is(node.args[1], 0) and not node.kwargs else None


@entry("movedim", "permute", "transpose", example="np.median(v) + np.transpose(x, (0, 1)) * 2")
def _moved_nowhere(node: fx.Node) -> Any:
    """Axes that stay where they are."""
    x, *places = node.args
    rank = _rank(x)
    if rank is None or node.kwargs:
        return None
    if name_of(node) == "permute":
        order = places[0] if len(places) == 1 and isinstance(places[0], (tuple, list)) else places
        return x if all(type(n) is int and n % rank == i for i, n in enumerate(order)) and len(order) == rank else None
    axes = [[p] if type(p) is int else list(p) if isinstance(p, (tuple, list)) else [None] for p in places]
    if len(axes) != 2 or any(type(n) is not int for axis in axes for n in axis) or not rank:
        return None
    return x if [n % rank for n in axes[0]] == [n % rank for n in axes[1]] else None


@entry("reshape", "broadcast_to", "expand", example="np.percentile(v, 30) * 2")
def _number_in_no_shape(node: fx.Node) -> Any:
    """A number that is brought into the shape of one."""
    return node.args[0] if node.args[1:] == ((),) and _rank(node.args[0]) == 0 and not node.kwargs else None


@entry("getitem", example="x[:, ::-1] * 2 + x[:] + x[..., :]")
def _all_of_it(node: fx.Node) -> Any:
    """All along each axis."""
    x, key = node.args
    parts = key if isinstance(key, tuple) else (key,)
    whole = all(p is Ellipsis or (isinstance(p, slice) and p == slice(None)) for p in parts)
    return x if whole and (_rank(x) or 0) >= sum(isinstance(p, slice) for p in parts) and _rank(x) is not None else None


@entry("flip", example="np.correlate(v, v)")
def _turned_back(node: fx.Node) -> Any:
    """What is turned twice."""
    inner = node.args[0]
    if name_of(inner) != "flip" or node.kwargs or inner.kwargs or inner.args[1] != node.args[1]:  # type: ignore[union-attr]
        return None
    return inner.args[0]  # type: ignore[union-attr]


@entry("where", example="np.take_along_axis(x, np.argsort(x, axis=1), axis=1)")
def _never_negative(node: fx.Node) -> Any:
    """Positions from the end, of which there are none: `where(i < 0, i + n, i)`."""
    below, _, x = node.args if len(node.args) == 3 else (None, None, None)
    if name_of(below) != "lt" or name_of(x) not in ("argsort", "argmax", "argmin", "searchsorted"):
        return None
    return x if below.args[0] is x and _is(below.args[1], 0) else None  # type: ignore[union-attr]


_AT: dict[str, list[Entry]] = {}
for _entry in ENTRIES:
    for _name in _entry.names:
        _AT.setdefault(_name, []).append(_entry)

