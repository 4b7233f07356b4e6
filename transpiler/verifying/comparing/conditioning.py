"""Whether a difference can be excused: the inputs are such that NumPy itself, one rounding away, would answer so.

NumPy and torch add in different orders. Where a sum cancels, both answers are right and far apart. To tell that from
a wrong formula, the original is run again on inputs moved by a few units in the last place: an answer that stays put under
that is well conditioned, and a difference from it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from ...tracing.recording.compare import closer as at_least_as_close
from ...tracing.widened import widened, widening
from .comparison import Tolerance, as_array, near
from .running import Outcome, run

ROUNDINGS = 4.0
"""How far inputs are moved, in units of the last place."""
_EPS = float(np.finfo(np.float64).eps)
TRIALS = 12
"""How often inputs are moved: where roundings fall to one side of a bound (arccos at 1), most moves may change nothing."""
ALLOWANCE = 16.0
"""A difference this many times what the moved inputs make is still their rounding's."""


def excuse(fn: Callable[..., Any], arguments: Mapping[str, Any], want: Outcome, got: Outcome, tolerance: Tolerance) -> str | None:
    """"ill_conditioned" or "overflow" where that explains every difference between `want` and `got`, else None."""
    wants, gots = list(numbers_in([want.result, want.arguments])), list(numbers_in([got.result, got.arguments]))
    if [(w.shape, w.dtype) for w in wants] != [(g.shape, g.dtype) for g in gots]:
        return None
    largest = max((float(np.abs(x[np.isfinite(x)]).max(initial=0)) for x in numbers_in(arguments)), default=0.0)
    coarser = {x.dtype for x in numbers_in(arguments) if x.dtype.kind in "fc"}
    apart = [(i, w, g, far) for i, (w, g) in enumerate(zip(wants, gots, strict=True)) if (far := ~near(w, g, tolerance)).any()]
    exact = [(w, g, far) for _, w, g, far in apart if w.dtype.kind not in "fc"]
    if not apart or not all(_was_float(w, g, far, coarser, tolerance) for w, g, far in exact):
        return None
    if all(_overflows(w, g, far, largest) for _, w, g, far in apart):
        return "overflow"
    moving = [i for i, w in enumerate(wants) if w.dtype.kind in "fc" or any(i == j for j, *_ in apart)]
    with np.errstate(all="ignore"):
        floats = _in_floats(arguments)
        integers = any(floats[name] is not value for name, value in arguments.items())
        eps = max(float(np.finfo(_float_of(w.dtype)).eps) for _, w, _, _ in apart)
        ways = [(arguments, _EPS), *([(floats, _EPS)] if integers else []), *([(arguments, eps)] if integers and eps > _EPS else [])]
        if exact:
            ways = [(floats, _EPS)]  # what was a float on the way is the same where all is
        for given, unit in ways:
            spreads = _spreads(fn, given, want, unit, moving)
            if spreads is not None and all(_within(w, g, far, spreads[i], largest, tolerance, coarser) for i, w, g, far in apart):
                return "ill_conditioned"
    return None


def closer(fn: Callable[..., Any], arguments: Mapping[str, Any], want: Outcome, got: Outcome, tolerance: Tolerance) -> bool:
    """Whether every number of `got` that differs from `want` is at least as close to a float64 run of the original as NumPy's own."""
    with widening():
        exact = run(fn, fn, widened(arguments), torch_side=False)
    if exact.error is not None:
        return False
    wants, gots, exacts = (list(numbers_in([x.result, x.arguments])) for x in (want, got, exact))
    if [(w.shape, w.dtype) for w in wants] != [(g.shape, g.dtype) for g in gots] or len(wants) != len(exacts):
        return False
    return all((near(w, g, tolerance) | at_least_as_close(w, g, e)).all() for w, g, e in zip(wants, gots, exacts, strict=True))


def _float_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The float that an integer may have been before it was cast."""
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def _was_float(want: Any, got: Any, far: Any, coarser: set[Any], tolerance: Tolerance) -> bool:
    """The integers differ where floats do not hold every integer, and by no more than floats may: they were floats, and cast."""
    if want.dtype.kind not in "iu":
        return False
    dtypes = {_float_of(want.dtype), *coarser}
    wide, error = np.abs(want.astype(np.float64))[far], np.abs(got.astype(np.float64) - want.astype(np.float64))[far]
    held = min(1 / float(np.finfo(dtype).eps) for dtype in dtypes)
    return bool((wide >= held).all() and (error <= max(tolerance.of(dtype)[0] for dtype in dtypes) * wide).all())


def _overflows(want: Any, got: Any, far: Any, largest: float) -> bool:
    """One side left the dtype's range, and the inputs are so large that their squares do."""
    one_sided = ~(np.isfinite(want) & np.isfinite(got))
    return bool(one_sided[far].all()) and largest > 0.1 * float(np.finfo(want.dtype).max) ** 0.5


def _within(want: Any, got: Any, far: Any, spread: Any, largest: float, tolerance: Tolerance, coarser: set[Any]) -> bool:
    """The difference is of the size of the inputs' roundings, and of no more than rounding of the largest number around, or the root
    of it: where a function rises like a root (arccos at 1, a norm at 0), that is what one rounding makes.

    A float64 may have been summed from the float32 of an argument: `coarser` are the arguments' dtypes."""
    rtol = max(max(tolerance.of(dtype)[0], ROUNDINGS * float(np.finfo(dtype).eps) ** 0.5) for dtype in {_float_of(want.dtype), *coarser})
    scale = max(largest, largest * largest, float(np.abs(want[np.isfinite(want)]).max(initial=0)), 1.0)  # what is normalised is 1
    undetermined = np.isfinite(want) & ~np.isfinite(got) & (spread >= np.abs(want))  # behind a zero that is none but for rounding
    a_pole = ~np.isfinite(want) & np.isfinite(got) & np.isposinf(spread)  # the zero is one for these inputs alone
    far = far & ~undetermined & ~(a_pole & (np.abs(got) >= float(np.finfo(_float_of(want.dtype)).eps) ** -0.5))
    error = np.abs(got.astype("complex128") - want.astype("complex128"))[far]
    return bool(np.all(error <= ALLOWANCE * spread[far]) and np.all(error <= max(rtol, 1e-9) * scale))


def _spreads(
    fn: Callable[..., Any], arguments: Mapping[str, Any], want: Outcome, unit: float, moving: list[int]
) -> Mapping[int, Any] | None:
    """By how much each number of the answer that may move does when the inputs do. None where the moved inputs give another kind of
    answer, or these inputs do not give this answer.

    unit    the rounding of what integers are turned into: a float32 does not hold all that an int32 does
    moving  which of the answer's numbers may move"""

    def values(outcome: Outcome) -> list[Any] | None:
        found = list(numbers_in([outcome.result, outcome.arguments]))
        return [found[i] for i in moving] if outcome.error is None and len(found) > max(moving) else None

    base, still = values(want), values(run(fn, fn, arguments, torch_side=False))
    if base is None or still is None or not all(_equal(x, b) for x, b in zip(still, base, strict=True)):
        return None
    base = [b.astype("complex128") for b in base]
    spreads = [np.zeros(x.shape) for x in base]
    for seed in range(TRIALS):
        found = values(run(fn, fn, _moved(arguments, np.random.default_rng(seed), unit), torch_side=False))
        if found is None or [x.shape for x in found] != [x.shape for x in base]:
            return None
        spreads = [np.fmax(s, np.abs(x - b)) for s, x, b in zip(spreads, found, base, strict=True)]
    return dict(zip(moving, spreads, strict=True))


def _equal(got: Any, want: Any) -> bool:
    """The same numbers, in whatever dtype: a float is no integer that it rounds."""
    inexact = want.dtype.kind in "fc"
    return np.array_equal(got.astype("complex128" if inexact else want.dtype), want, equal_nan=inexact)


def _in_floats(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The integer arrays among the arguments as float64, so that they can be moved: what is computed of them may cancel as well."""
    return {k: v.astype(np.float64) if isinstance(v, np.ndarray) and v.dtype.kind in "iu" else v for k, v in arguments.items()}


def _moved(value: Any, rng: np.random.Generator, unit: float = _EPS) -> Any:
    """Arguments with every float moved by up to `ROUNDINGS` units in the last place, and so every integer that is rounded by `unit`."""
    if isinstance(value, Mapping):
        return {key: _moved(item, rng, unit) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_moved(item, rng, unit) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, torch.Tensor):
        return torch.from_numpy(_moved(as_array(value), rng, unit)) if value.is_floating_point() or value.is_complex() else value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc":
        factor = 1 + ROUNDINGS * np.finfo(value.dtype).eps * rng.uniform(-1, 1, value.shape)
        moved = (value * factor).astype(value.dtype)
        return moved if isinstance(value, np.ndarray) else moved[()]
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iu":
        room = np.abs(value.astype(np.float64)) * unit  # 0 for all that the float holds exactly
        step = (ROUNDINGS * np.where(room < 1, 0, room) * rng.uniform(0, 1, value.shape)).astype(np.int64).astype(value.dtype)
        return value - step if value.dtype.kind == "u" else value - np.sign(value) * step  # towards 0: nothing overflows
    return value


def numbers_in(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, (torch.Tensor, np.ndarray, np.generic, int, float, complex)):
        x = as_array(value)
        if x.dtype.kind in "biufc":
            yield x
