"""No public NumPy name is unaccounted for: a rule, a refusal with reason and way out, a constant or a type."""

from __future__ import annotations

import json

import numpy as np
import pytest
from np2fx.cli import main
from np2fx.docs.coverage import SPACES, Row, is_accounted, resolve, rows
from np2fx.source.findings.finding import KINDS
from np2fx.source.reading.table import load_table

TABLE = load_table()
HOW = (
    "add a rule (docs/writing-rules.md) or `refuse(name, reason=..., hint=...)` to the file of its topic under rules/, "
    "an alias to the names of the rule it is another name of"
)


def rows_of(space: str) -> list[Row]:
    return list(rows(space, TABLE))


@pytest.mark.parametrize("space", SPACES)
def test_every_public_name_is_accounted_for(space):
    missing = [row.name for row in rows_of(space) if row.status == "missing"]
    assert not missing, f"neither rule nor refusal: {', '.join(missing)}; {HOW}"


@pytest.mark.parametrize("space", ["numpy", "numpy.linalg", "numpy.fft"])
def test_aliases_stand_under_their_own_names(space):
    """What NumPy has under two names (acos, concat, pow) is found by either."""
    known = [*TABLE.rules, *TABLE.refusals]
    for row in rows_of(space):
        value = resolve(row.name)
        if row.status in ("rule", "refused") and callable(value):
            assert row.name in known, f"{row.name} is {row.why}, but not in the table; {HOW}"


@pytest.mark.parametrize("name", ["acos", "atan2", "concat", "pow", "bitwise_invert", "permute_dims", "astype", "matrix_transpose"])
def test_names_of_the_array_api(name):
    assert f"numpy.{name}" in TABLE.rules


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat", "outer", "at"])
def test_ufunc_methods(method):
    assert any(row.name == f"numpy.ufunc.{method}" and row.status == "rule" for row in rows_of("numpy.ufunc"))


def test_what_needs_no_entry():
    assert all(map(is_accounted, (np.float32, np.ndarray, np.dtype, np.ufunc, np.flatiter, np.linalg.LinAlgError, np.random.Generator)))
    assert not any(map(is_accounted, (np.vectorize, np.poly1d, np.nditer, np.recarray, np.errstate, np.broadcast)))


def test_a_name_without_entry_is_missing():
    rules = {name: rule for name, rule in TABLE.rules.items() if rule.name != "numpy.interp"}
    assert [row.name for row in rows("numpy", type(TABLE)(rules, TABLE.refusals)) if row.status == "missing"] == ["numpy.interp"]


def test_refusals_say_why_and_what_instead():
    for name, refusal in TABLE.refusals.items():
        assert refusal.reason.strip() and refusal.hint.strip(), name
        assert refusal.finding in KINDS, f"{name}: there is no finding {refusal.finding}"


def test_the_rules_command_lists_every_name(capsys):
    """The JSON of `np2fx rules` has all functions and methods, as rule or refused."""
    assert main(["rules", "--output-format", "json"]) == 0
    listed = {row["name"]: row["status"] for row in json.loads(capsys.readouterr().out)}
    assert set(listed.values()) == {"rule", "refused"}
    wanted = {row.name: row.status for space in ("numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray") for row in rows_of(space)}
    assert {name: listed.get(name) for name, status in wanted.items() if status in ("rule", "refused")} == {
        name: status for name, status in wanted.items() if status in ("rule", "refused")
    }
