"""Every example of every rule against NumPy: value, shape, dtype, errors, written arguments and views."""

from __future__ import annotations

import pytest
from np2fx.rules import load
from np2fx.semantics.table import Rule
from np2fx.testing.checking import check_example, outcome, tensors_of

RULES: list[Rule] = list({id(entry): entry for entry in load()[0].values() if entry.name.startswith("numpy.")}.values())
CASES = [(entry, example) for entry in RULES for example in entry.examples]

__all__ = ["CASES", "outcome", "tensors_of"]


@pytest.mark.parametrize(("entry", "example"), CASES, ids=[f"{entry.name}:{example}" for entry, example in CASES])
def test_rule_is_numpy(entry: Rule, example: str) -> None:
    check_example(entry, example)
