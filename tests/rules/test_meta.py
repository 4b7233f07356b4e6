"""Rules on the `meta` device: shape and dtype of the result without any value, as shape propagation in a graph needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from np2fx.semantics.table import Refused, Rule
from np2fx.testing.spelling import run_numpy, run_rules
from np2fx.testing.strategies import inputs, names_in

from .test_rules import CASES, outcome, tensors_of

KINDS = {"elementwise", "reduction", "shape", "view", "joining"}
META = [(entry, example) for entry, example in CASES if entry.kind in KINDS and names_in(example)]


def unlike(want: Any, got: Any) -> str | None:
    """What differs between the shapes and dtypes of NumPy's result and the rule's, or None."""
    if isinstance(want, (tuple, list)) and isinstance(got, (tuple, list)):
        if len(want) != len(got):
            return f"{len(got)} results for {len(want)}"
        return next(filter(None, map(unlike, want, got)), None)
    if not isinstance(want, (np.ndarray, np.generic)) or not isinstance(got, torch.Tensor):
        return None
    found = (tuple(got.shape), str(got.dtype).removeprefix("torch."))
    wanted = (want.shape, want.dtype.name)
    return None if found == wanted else f"{found} for {wanted}"


@pytest.mark.parametrize(("entry", "example"), META, ids=[f"{entry.name}:{example}" for entry, example in META])
def test_rule_on_meta(entry: Rule, example: str) -> None:
    @settings(max_examples=max(5, settings().max_examples // 5))
    @given(inputs(names_in(example), False))
    def check(arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        want, error, _ = outcome(run_numpy, example, arrays)
        got, failure, _ = outcome(run_rules, example, tensors_of(arrays, "meta"))
        if error is not None or isinstance(failure, Refused):
            return  # errors that hang on values cannot be seen here
        if isinstance(failure, NotImplementedError) and "data-independent" in str(failure):
            return  # the shape hangs on values, torch says
        if failure is not None:
            raise AssertionError(f"NumPy gives {want!r}; on meta the rule raises {type(failure).__name__}: {failure}") from failure
        why = unlike(want, got)
        assert why is None, why

    check()
