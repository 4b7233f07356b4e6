"""Which dtypes a rule takes and what comes out, asked of NumPy and of the rule by running the rule's first example."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import torch

from ..semantics.arrays import mirrored_views, zero_d_array
from ..semantics.table import Refused
from ..source.reading.table import RuleSource
from ..testing.spelling import run_numpy, run_rules

FLOATS = ("float16", "float32", "float64")
ALL = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *FLOATS, "complex64", "complex128")
REFUSED, ERROR = "refused", "an error in NumPy too"
_BY_NAME = {**dict.fromkeys("abxyvwm", ALL), **dict.fromkeys("fg", FLOATS), **dict.fromkeys("qhu", FLOATS[1:]), "z": ALL[-2:]}


def dtype_lines(rule: RuleSource) -> str:
    """One sentence: result dtypes by input dtype, what NumPy itself does not take, and what is refused. Empty where no array goes in."""
    example = next(iter(rule.examples), "")
    names = set(re.findall(r"\b[abxyvwmfgqhuz]\b", re.sub(r"'[^']*'", "", example)))
    if not names or rule.kind == "python":
        return ""
    given = min((_BY_NAME[n] for n in names), key=len)
    found: dict[str, list[str]] = {}
    for dtype in given:
        found.setdefault(_outcome(example, dtype), []).append(dtype)
    order = sorted(found, key=lambda k: (k == REFUSED, k == ERROR))
    said = [f"{', '.join(found[k])} {'are' if k in (REFUSED, ERROR) else 'give'} {k}" for k in order]
    return f"dtypes of `{example}`: {'; '.join(said)}."


def _outcome(example: str, dtype: str) -> str:
    arrays = _arrays(dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            real = run_numpy(example, {k: v.copy() for k, v in arrays.items()})
        except Exception:
            return ERROR
        try:
            with mirrored_views():
                run_rules(example, {k: zero_d_array(torch.from_numpy(v.copy())) for k, v in arrays.items()})
        except Refused:
            return REFUSED
    result = _named(real)
    return "the same dtype" if result == dtype else result


def _named(result: Any) -> str:
    if isinstance(result, (tuple, list)):
        named = list(dict.fromkeys(map(_named, result)))
        return named[0] if len(named) == 1 else f"({', '.join(map(_named, result))})" if len(result) < 5 else "several dtypes"
    if result is None:
        return "nothing"
    return result.dtype.name if isinstance(result, (np.ndarray, np.generic)) else f"Python's {type(result).__name__}"


def _arrays(dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    """Small arrays under the names that examples use, with values that every dtype has."""
    two = np.array([[1, 0, 2], [3, 1, 1]]).astype(dtype)
    square = np.array([[2, 1], [1, 3]]).astype(dtype)
    made = dict.fromkeys("abxyfg", two) | dict.fromkeys("qh", square) | {"v": two[0], "w": two[1], "m": two, "z": two, "u": square[:, :1]}
    return {**made, "k": two != 0, "i": np.array([0, -1]), "r": np.array([0.5, 1.0, 2.0])}
