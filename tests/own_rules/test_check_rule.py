"""`check_rule` finds what is wrong with a rule, and passes what is right."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from np2fx.rules import Refused, lookup, rule
from np2fx.testing import RuleError, check_rule


def scaled(x, factor=2.0, *, offset=0.0):
    """The function that the rules below are for."""
    return np.asarray(x) * factor + offset


def filled(x, value):
    x[...] = value


def first(x):
    return x[0]


@pytest.fixture
def enter(use, monkeypatch):
    """Puts a rule for a function of a library that exists for the test."""
    library = types.ModuleType("otherlib")
    library.scaled, library.filled, library.first = scaled, filled, first
    monkeypatch.setitem(sys.modules, "otherlib", library)

    def enter(name, body, **options):
        return rule(f"otherlib.{name}", **{"kind": "elementwise", **options})(body)

    return enter


def right(x, factor=2.0, *, offset=0.0):
    return lookup("numpy.add").call(lookup("numpy.multiply").call(x, factor), offset)


def test_right(enter):
    made = enter("scaled", right, examples=("otherlib.scaled(x)", "otherlib.scaled(a, 3, offset=1)"))
    check_rule("otherlib.scaled")
    check_rule(made)
    check_rule("otherlib.scaled", examples=["otherlib.scaled(x, number)"], inputs={"number": st.integers(-3, 3)})
    check_rule("otherlib.scaled", examples=["otherlib.scaled(own)"], inputs={"own": [np.arange(3), np.ones((2, 2))]})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x, factor=2.0, *, offset=0.0: right(x, factor) + 1, r"result is"),
        (lambda x, factor=2.0, *, offset=0.0: right(x, factor).double(), r"dtype|result"),
        (lambda x, factor=2.0, *, offset=0.0: right(x, factor).unsqueeze(0), r"shape"),
        (lambda x, factor=2.0: right(x, factor), r"lacks offset"),
        (lambda x, scale=2.0, *, offset=0.0: right(x, scale), r"takes \(x, factor\)"),
        (lambda x, factor=2.0, *, offset=0.0: torch.no_such(x), r"the rule raises AttributeError"),
    ],
)
def test_wrong(enter, body, message):
    enter("scaled", body, examples=("otherlib.scaled(f)",))
    with pytest.raises(RuleError, match=message):
        check_rule("otherlib.scaled")


def test_a_view_that_is_a_copy(enter):
    enter("first", lambda x: torch.clone(x[0]), examples=("otherlib.first(m)",), view=True)
    with pytest.raises(RuleError, match="view"):
        check_rule("otherlib.first")


def test_an_argument_that_is_written(enter):
    enter("filled", lambda x, value: torch.full_like(x, value), writes="x", examples=("otherlib.filled(v, 1)",))
    check_rule("otherlib.filled")


def test_an_argument_that_is_not_written(enter):
    enter("filled", lambda x, value: None, examples=("otherlib.filled(v, 1)",))
    with pytest.raises(RuleError, match="v after the call"):
        check_rule("otherlib.filled")


def test_a_rule_that_refuses_most(enter):
    def body(x, factor=2.0, *, offset=0.0):
        raise Refused("not today")

    enter("scaled", body, examples=("otherlib.scaled(x)",))
    with pytest.raises(RuleError, match="not today"):
        check_rule("otherlib.scaled")


def test_a_rule_without_examples(enter):
    enter("scaled", right)
    with pytest.raises(RuleError, match="no example"):
        check_rule("otherlib.scaled")


def test_a_name_that_does_not_exist(enter):
    enter("missing", right, examples=("otherlib.missing(x)",))
    with pytest.raises(RuleError, match=r"there is no otherlib\.missing"):
        check_rule("otherlib.missing")


def test_a_rule_that_is_not_there():
    with pytest.raises(LookupError, match="no rule for otherlib"):
        check_rule("otherlib.scaled")
    with pytest.raises(LookupError, match="refused"):
        check_rule("numpy.save")


def test_numpys_own_rules_too(check_rule):
    check_rule("numpy.std")
