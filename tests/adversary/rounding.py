"""Whether rounding decides: NumPy itself, one rounding away at each step, answers as far off.

Moving the inputs does not tell for integers and bools, nor where a step on the way rounds to a coarser dtype. So the program is run with
every result of a call or an operator moved by a unit in the last place, in its own memory: what is a view stays one. Once more it is run with
the last bits of each result rounded off: sums are exact then, and what is zero but for its rounding is zero (a variance, and 0 / 0 behind it);
and once with all that is this small beside the numbers before it made zero (a mean of what was centred, which no rounding off makes zero).
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from np2fx.verifying.comparing.comparison import Tolerance, near
from np2fx.verifying.comparing.conditioning import numbers_in
from np2fx.verifying.comparing.running import Outcome

from .program import Program, imported

RUNS = 6
ALLOWANCE = 32.0
"""A difference this many times what the moved runs make is still their rounding's."""
INSIDE = 8
"""The units that a step which adds up several products may be off: which of two sums is the smaller one is open within these."""
_MOVED = "__moved__"


def rounding_decides(program: Program, run: Callable[[Any], Outcome], want: Outcome, got: Outcome, allowed: Tolerance) -> bool:
    """True where every difference between `want` and `got` is of the size that roundings make. `run` calls the node of a module."""
    near_by = [functools.partial(_move, rng=np.random.default_rng(seed)) for seed in range(RUNS)]
    further = [functools.partial(_move, rng=np.random.default_rng(seed), units=INSIDE) for seed in range(RUNS)]
    moved = [run(_module(program, way)) for way in (*near_by, _coarse, _Flushed(), *further)]
    wants, gots = _leaves(want), _leaves(got)
    if len(wants) != len(gots):
        return False
    others = [leaves if m.error is None and len(leaves := _leaves(m)) == len(wants) else None for m in moved]
    return all(
        _explained(w, g, [o[i] for o in others[: RUNS + 2] if o], [o[i] for o in others if o], allowed)
        for i, (w, g) in enumerate(zip(wants, gots, strict=True))
    )


def _leaves(outcome: Outcome) -> list[Any]:
    return list(numbers_in([outcome.result, outcome.arguments]))


def _explained(want: Any, got: Any, moved: list[Any], decided: list[Any], allowed: Tolerance) -> bool:
    """`moved` runs tell how far off values may be, these and the `decided` ones what may be chosen (a position, a length)."""
    if want.dtype != got.dtype:
        return False
    if want.shape != got.shape:
        return any(m.shape != want.shape for m in decided)
    far = ~near(want, got, allowed)
    if not far.any():
        return True
    if want.dtype.kind not in "fc":
        return any(m.shape != want.shape or (m != want).any() for m in decided)
    with np.errstate(all="ignore"):
        alike = [m for m in moved if m.shape == want.shape]
        unbounded = far & ~(np.isfinite(got) & np.isfinite(want))
        reached = functools.reduce(np.logical_or, [near(m, got, allowed) | _near_a_pole(want, got, m) for m in alike], np.zeros(want.shape, bool))
        error = np.abs(got.astype("complex128") - want.astype("complex128"))[far & ~unbounded].max(initial=0.0)
        apart = [np.abs(m.astype("complex128") - want.astype("complex128")) for m in alike]
        spread = max((a[np.isfinite(a)].max(initial=0.0) for a in apart), default=0.0)
    return bool(error <= ALLOWANCE * spread and reached[unbounded].all())


def _near_a_pole(want: Any, got: Any, moved: Any) -> Any:
    """Where NumPy divides by a zero that is none one rounding away: a quotient as large as `got` is one of those to be had."""
    return ~np.isfinite(want) & np.isfinite(got) & np.isfinite(moved) & (np.abs(got) * ALLOWANCE >= np.abs(moved))


def _module(program: Program, way: Callable[[Any], Any]) -> types.SimpleNamespace:
    tree = ast.fix_missing_locations(_Move().visit(ast.parse(program.source)))
    names: dict[str, Any] = {"__name__": "moved", _MOVED: way}
    with imported("moved"):
        exec(compile(tree, "<moved>", "exec"), names)
    return types.SimpleNamespace(**{k: v for k, v in names.items() if not k.startswith("__")})


class _Move(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name(_MOVED, ast.Load()), [node], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name(_MOVED, ast.Load()), [node], [])


def _move(value: Any, rng: np.random.Generator, units: int = 1) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc" and value.flags.writeable and value.size:
        with np.errstate(all="ignore"):
            value *= (1 + np.finfo(value.dtype).eps * rng.integers(-units, units + 1, value.shape)).astype(value.dtype)
    elif isinstance(value, (np.floating, np.complexfloating)):
        return type(value)(value * (1 + float(np.finfo(value.dtype).eps) * int(rng.integers(-units, units + 1))))
    elif type(value) is float:
        return value * (1 + 2.0**-52 * int(rng.integers(-units, units + 1)))
    return value


class _Flushed:
    """Values that are no more than the rounding of the largest number so far become zero, in their own memory."""

    UNITS = 64

    def __init__(self) -> None:
        self.largest = 0.0

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, (np.ndarray, np.floating, float)) or np.asarray(value).dtype.kind != "f":
            return value
        size = np.abs(np.asarray(value, np.float64))
        self.largest = max(self.largest, float(size[np.isfinite(size)].max(initial=0.0)))
        rounding = size <= self.UNITS * float(np.finfo(np.asarray(value).dtype).eps) * self.largest
        if not isinstance(value, np.ndarray):
            return type(value)(0.0) if rounding else value
        if value.flags.writeable:
            value[rounding] = 0
        return value


_BITS_OFF = 6


def _coarse(value: Any) -> Any:
    """A value without its last bits, in its own memory."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc" and value.flags.writeable:
        for part in (value.real, value.imag) if value.dtype.kind == "c" else (value,):
            part[...] = _rounded_off(part)
    elif isinstance(value, (np.floating, float)):
        return type(value)(_rounded_off(np.asarray(value)))
    return value


def _rounded_off(x: np.ndarray[Any, Any]) -> Any:
    mantissa, exponent = np.frexp(x)
    unit = 2.0 ** (np.finfo(x.dtype).nmant - _BITS_OFF)
    return np.where(np.isfinite(x), np.ldexp(np.rint(mantissa * unit) / unit, exponent), x)
