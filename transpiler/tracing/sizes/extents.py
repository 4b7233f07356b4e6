"""Extents: what a size is, said with the sizes of the inputs. And guards: what a trace has assumed of sizes.

An extent is an int, or a tuple: `("in", i, axis)` is the size of input number `i` along an axis, and
`("sum", constant, ((extent, factor), ...))` a linear combination; `("of", node, axis)` is the size of what a node gives, of which no more
is known; all others are an operation and its operands. Two extents that are equal are equal for all sizes of the inputs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Extent = Any
Shapes = Sequence[Sequence[int]]


def joined(a: int, b: int) -> int:
    """The size that sizes of two operands broadcast to."""
    return b if a == 1 else a


def _window(n: int, start: int | None, stop: int | None, step: int | None) -> int:
    return len(range(*slice(start, stop, step).indices(n)))


_OPERATIONS: dict[str, Callable[..., int]] = {
    "mul": operator.mul, "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "max": max, "min": min,
    "joined": joined, "window": _window,
}  # fmt: skip


# Making them


def _terms(a: Extent) -> tuple[int, dict[Extent, int]]:
    """The constant and the factors of a linear combination."""
    if isinstance(a, int):
        return a, {}
    return (a[1], dict(a[2])) if a[0] == "sum" else (0, {a: 1})


def _linear(constant: int, factors: dict[Extent, int]) -> Extent:
    left = {x: f for x, f in factors.items() if f}
    if not left:
        return constant
    if constant == 0 and list(left.values()) == [1]:
        return next(iter(left))
    return "sum", constant, tuple(sorted(left.items(), key=repr))


def add(a: Extent, b: Extent, factor: int = 1) -> Extent:
    """`a + factor * b`."""
    (constant, factors), (other, more) = _terms(a), _terms(b)
    factors = dict(factors)
    for x, f in more.items():
        factors[x] = factors.get(x, 0) + factor * f
    return _linear(constant + factor * other, factors)


def mul(a: Extent, b: Extent) -> Extent:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, int):
            constant, factors = _terms(y)
            return _linear(x * constant, {e: x * f for e, f in factors.items()})
    return ("mul", *sorted((a, b), key=repr))


def floordiv(a: Extent, b: Extent) -> Extent:
    if isinstance(b, int) and b != 0:
        constant, factors = _terms(a)
        if all(f % b == 0 for f in (constant, *factors.values())):
            return _linear(constant // b, {x: f // b for x, f in factors.items()})
    return ("floordiv", a, b)


def mod(a: Extent, b: Extent) -> Extent:
    if isinstance(b, int) and b != 0:
        constant, factors = _terms(a)
        if all(f % b == 0 for f in factors.values()):
            return constant % b
    return ("mod", a, b)


def power(a: Extent, b: Extent) -> Extent:
    return a**b if isinstance(a, int) and isinstance(b, int) else ("pow", a, b)


def largest(a: Extent, b: Extent) -> Extent:
    """The larger of two."""
    decided = compare("ge", a, b)
    return ("max", *sorted((a, b), key=repr)) if decided is None else a if decided else b


def smallest(a: Extent, b: Extent) -> Extent:
    decided = compare("le", a, b)
    return ("min", *sorted((a, b), key=repr)) if decided is None else a if decided else b


def broadcast(a: Extent, b: Extent) -> Extent:
    """What two sizes broadcast to."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if isinstance(a, int) or isinstance(b, int):
        return a if isinstance(a, int) else b  # the other one is that, or 1
    return ("joined", a, b)


def window(n: Extent, key: slice) -> Extent:
    """The size that a slice with plain bounds leaves of `n`."""
    start, stop, step = key.start, key.stop, key.step
    if isinstance(n, int):
        return _window(n, start, stop, step)
    if step in (None, 1) and (start is None or start >= 0) and (stop is None or stop < 0):
        return largest(add(n, (stop or 0) - (start or 0)), 0)
    if step in (None, 1) and not start and stop is not None and stop >= 0:
        return smallest(n, stop)
    if step in (None, 1) and stop is None and start is not None and start < 0:
        return smallest(n, -start)
    if step == -1 and start is None and stop is None:
        return n
    return ("window", n, start, stop, step)


def solved(x: Extent, value: int) -> tuple[Extent, int]:
    """`x == value` with the constant on the right: `n - 1 == 4` is `n == 5`."""
    if isinstance(x, tuple) and x[0] == "sum" and len(x[2]) == 1:
        ((inner, factor),) = x[2]
        return inner, (value - x[1]) // factor
    return x, value


# Asking them


def evaluate(x: Extent, shapes: Shapes) -> int:
    """The size for inputs of these shapes."""
    if isinstance(x, int) or x is None:
        return x  # type: ignore[return-value]
    if x[0] == "in":
        return shapes[x[1]][x[2]]
    if x[0] == "sum":
        return int(x[1] + sum(f * evaluate(e, shapes) for e, f in x[2]))
    return _OPERATIONS[x[0]](*(evaluate(e, shapes) for e in x[1:]))


def is_open(x: Extent) -> bool:
    """True where an extent hangs on a size of which nothing is known."""
    if not isinstance(x, tuple) or x[0] == "in":
        return False
    return x[0] == "of" or any(map(is_open, [e for e, _ in x[2]] if x[0] == "sum" else x[1:]))


def inputs_of(x: Extent) -> set[tuple[int, int]]:
    """The inputs and axes that an extent hangs on."""
    if not isinstance(x, tuple):
        return set()
    if x[0] in ("in", "of"):
        return {(x[1], x[2])} if x[0] == "in" else set()
    parts = [e for e, _ in x[2]] if x[0] == "sum" else x[1:]
    return set().union(*map(inputs_of, parts))


def least(x: Extent) -> int | None:
    """A bound below which no size of the inputs brings an extent; None where there is none."""
    if isinstance(x, int):
        return x
    if x[0] in ("in", "of"):
        return 0
    if x[0] == "sum":
        bounds = [None if f < 0 else least(e) for e, f in x[2]]
        return None if None in bounds else x[1] + sum(f * b for (_, f), b in zip(x[2], bounds, strict=True))  # type: ignore[operator]
    bounds = [None if e is None else least(e) for e in x[1:]]
    if x[0] == "window":
        return 0
    if x[0] == "max":
        return max((b for b in bounds if b is not None), default=None)
    known = [b for b in bounds if b is not None and b >= 0]
    if len(known) < len(bounds):
        return None
    if x[0] == "mod":
        return 0
    if x[0] in ("min", "joined"):
        return min(known)
    return known[0] * known[1] if x[0] == "mul" else 0


def compare(relation: str, a: Extent, b: Extent) -> bool | None:
    """Whether `a` stands in a relation (eq, ne, lt, le, gt, ge) to `b` for all sizes of the inputs, or for none. None: it depends."""
    if relation in ("ne", "gt", "lt"):
        found = compare({"ne": "eq", "gt": "le", "lt": "ge"}[relation], a, b)
        return None if found is None else not found
    if relation == "le":
        a, b = b, a
    apart = add(a, b, -1)
    if isinstance(apart, int):
        return apart == 0 if relation == "eq" else apart >= 0
    low, high = least(apart), least(mul(apart, -1))
    if relation == "eq":
        return False if (low is not None and low > 0) or (high is not None and high > 0) else None
    return True if low is not None and low >= 0 else False if high is not None and high > 0 else None


def _raised(x: Extent, by: int) -> Extent:
    """An extent for sizes of inputs that are all larger."""
    if not isinstance(x, tuple) or x[0] == "of":
        return x
    if x[0] == "in":
        return add(x, by)
    if x[0] == "sum":
        made: Extent = x[1]
        for e, f in x[2]:
            made = add(made, _raised(e, by), f)
        return made
    parts = [_raised(e, by) for e in x[1:]]
    makers = {"mul": mul, "floordiv": floordiv, "mod": mod, "pow": power, "max": largest, "min": smallest, "joined": broadcast}
    return makers[x[0]](*parts) if x[0] in makers else (x[0], *parts)


_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "mul": "*", "floordiv": "//", "mod": "%", "pow": "**"}


def told(x: Extent, names: Sequence[str]) -> str:
    """An extent as Python."""
    if not isinstance(x, tuple):
        return str(x)
    if x[0] == "in":
        return f"{names[x[1]]}.shape[{x[2]}]"
    if x[0] == "sum":
        parts = [(f, told(e, names)) for e, f in x[2]]
        terms = [e if f == 1 else f"{f} * {e}" for f, e in parts] + ([str(x[1])] if x[1] else [])
        return f"({' + '.join(terms)})".replace("+ -", "- ")
    parts_told = [told(e, names) for e in x[1:]]
    if x[0] in _SIGNS:
        return f"({f' {_SIGNS[x[0]]} '.join(parts_told)})"
    if x[0] == "window":
        return f"len(range({parts_told[0]})[{':'.join('' if p == 'None' else p for p in parts_told[1:])}])"
    return f"{'broadcast' if x[0] == 'joined' else x[0]}({', '.join(parts_told)})"


_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


@dataclass(frozen=True)
class Guard:
    """A relation between sizes that a graph was traced with, and holds for.

    relation     "eq", "ne", "lt", "le", "gt" or "ge"
    left, right  extents"""

    relation: str
    left: Extent
    right: Extent

    @classmethod
    def asked(cls, relation: str, left: Extent, right: Extent, truth: bool) -> Guard:
        """The guard of a question that was answered so."""
        return cls(relation if truth else _OPPOSITE[relation], left, right)

    def holds(self, shapes: Shapes) -> bool:
        """Whether it holds for inputs of these shapes."""
        try:
            return _RELATIONS[self.relation](evaluate(self.left, shapes), evaluate(self.right, shapes))
        except (ArithmeticError, ValueError):
            return False

    def inputs(self) -> set[tuple[int, int]]:
        """The inputs and axes that it tells of."""
        return inputs_of(self.left) | inputs_of(self.right)

    def values(self, shapes: Shapes) -> tuple[int, ...]:
        """The sizes that it tells of, for inputs of these shapes."""
        return tuple(shapes[i][axis] for i, axis in sorted(self.inputs()))

    def is_sameness(self) -> bool:
        """True where it says that two sizes of inputs are the same."""
        return self.relation == "eq" and all(isinstance(x, tuple) and x[0] == "in" for x in (self.left, self.right))

    def holds_from(self, size: int) -> bool:
        """Whether it holds wherever all sizes are at least this."""
        return compare(self.relation, _raised(self.left, size), _raised(self.right, size)) is True

    def told(self, names: Sequence[str]) -> str:
        """As Python: `x.shape[0] > 6`."""
        return f"{told(self.left, names)} {_SIGNS[self.relation]} {told(self.right, names)}"
