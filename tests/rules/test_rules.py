"""Every example of every rule against NumPy: value, shape, dtype, errors, written arguments and views."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from np2fx.rules import _arrays, load
from np2fx.rules._table import Refused, Rule

from .comparing import aliased_differently, different
from .spelling import run_numpy, run_rules
from .strategies import inputs, names_in

RULES: list[Rule] = list({id(entry): entry for entry in load()[0].values()}.values())
CASES = [(entry, example) for entry in RULES for example in entry.examples]

# Kinds whose elements are moved or computed one by one: the ends of a dtype cannot overflow a sum there.
WITH_EXTREMES = {"elementwise", "shape", "view", "joining", "indexing", "selection", "sorting", "conversion", "predicate"}


def outcome(run: Any, example: str, arrays: dict[str, Any]) -> tuple[Any, Exception | None, list[str]]:
    """The result, or the exception, and the texts of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = run(example, arrays), None
        except Exception as e:
            result, error = None, e
    return result, error, [str(w.message) for w in caught]


def tensors_of(arrays: dict[str, np.ndarray[Any, Any]], device: str = "cpu") -> dict[str, torch.Tensor]:
    """Tensors of the same values; 0-d ones count as 0-d arrays, as they do in NumPy."""
    return {name: _arrays.zero_d_array(torch.from_numpy(x.copy()).to(device)) for name, x in arrays.items()}


@pytest.mark.parametrize(("entry", "example"), CASES, ids=[f"{entry.name}:{example}" for entry, example in CASES])
def test_rule_is_numpy(entry: Rule, example: str) -> None:
    seen: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()

    @given(inputs(names_in(example), entry.kind in WITH_EXTREMES))
    def check(arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        tensors = tensors_of(arrays)
        want, error, texts = outcome(run_numpy, example, arrays)
        if any("invalid value encountered in cast" in text for text in texts):
            return  # C leaves open what that gives
        seen["ran"] += 1
        with _arrays.mirrored_views():
            got, failure, _ = outcome(run_rules, example, tensors)
            if isinstance(failure, Refused):
                seen["refused"] += 1
                reasons[failure.message] += 1
                return
            if error is not None:
                assert failure is not None, f"NumPy raises {type(error).__name__}: {error}; the rule gives {got!r}"
                return
            if failure is not None:
                raise AssertionError(f"NumPy gives {want!r}; the rule raises {type(failure).__name__}: {failure}") from failure
            why = different(want, got, entry.kind == "elementwise") or aliased_differently(want, arrays, got, tensors)
        assert why is None, why
        for name, array in arrays.items():
            why = different(array, tensors[name], path=f"{name} after the call")
            assert why is None, why

    check()
    if seen["refused"]:
        print(f"{entry.name}: {example} refused {seen['refused']} of {seen['ran']}: {dict(reasons)}")
    assert seen["refused"] * 2 <= max(seen["ran"], 1), f"refused {seen['refused']} of {seen['ran']} inputs: {dict(reasons)}"
