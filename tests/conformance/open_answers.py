"""Which answers NumPy itself leaves open, by kind: its own answer is one of several, and another is no fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .comparing import difference

_Arrays = list[Any]


def why_open(name: str, code: str, arguments: _Arrays, warnings: list[str]) -> str:
    """The kind of freedom in the answer to a recorded call; "" where there is none."""
    short = name.rpartition(".")[2]
    return next((kind for kind, holds in KINDS.items() if holds(short, code, arguments, warnings)), "")


def _is_tied(x: Any) -> bool:
    return isinstance(x, np.ndarray) and len(np.unique(x)) < x.size


def _falls(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim == 1 and x.size > 1 and not bool(np.all(x[:-1] <= x[1:]))


def _has_complex_values(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "iufc" and x.size > 0 and np.iscomplexobj(np.linalg.eigvals(x))


def _hangs_on_the_last_bit(code: str, arguments: _Arrays) -> bool:
    """Whether NumPy's own answer is another one where each number that goes in is moved to the next that there is."""
    names: dict[str, Any] = {}
    exec(compile(code, "<call>", "exec"), names)
    answers = []
    for seed in range(3):
        try:
            answers.append(names["node"](*(_moved(x, np.random.default_rng(seed)) if seed else x for x in arguments)))
        except Exception:
            return True
    return any(difference(answers[0], other) for other in answers[1:])


def _moved(x: Any, random: np.random.Generator) -> Any:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iufc":
        return x
    if x.dtype.kind == "c":
        return (_moved(x.real, random) + 1j * _moved(x.imag, random)).astype(x.dtype)
    x = x.astype(np.float64) if x.dtype.kind in "iu" else x
    return np.nextafter(x, np.where(random.random(x.shape) < 0.5, -np.inf, np.inf).astype(x.dtype))


_OF_VALUES = ("eig", "eigh", "eigvals", "svd", "lstsq", "pinv", "matrix_rank", "roots", "polyfit")
KINDS: dict[str, Callable[[str, str, _Arrays, list[str]], bool]] = {
    "the order of what a partition leaves unsorted": lambda name, *_: name in ("partition", "argpartition"),
    "memory that nothing wrote": lambda name, *_: name in ("empty", "empty_like", "ndarray", "resize"),
    "ties of a sort that need not be stable": lambda name, code, arrays, _: (
        name in ("argsort",) and "stable" not in code and "merge" not in code and any(map(_is_tied, arrays))
    ),
    "searches in what is not sorted": lambda name, code, arrays, _: (
        name in ("searchsorted", "interp", "digitize") and "sorter" not in code and any(map(_falls, arrays))
    ),
    "vectors of values that are one or nearly so, ranks at the edge": lambda name, code, arrays, _: (
        name in _OF_VALUES and _hangs_on_the_last_bit(code, arrays)
    ),
    "the phase of complex eigenvectors": lambda name, _, arrays, __: name == "eig" and any(map(_has_complex_values, arrays)),
    "casts of what an integer cannot hold": lambda _, __, ___, warnings: any("invalid value encountered in cast" in w for w in warnings),
}
"""Kind of freedom -> whether a call (its name, its code, the arrays that go in, NumPy's warnings) has it."""
