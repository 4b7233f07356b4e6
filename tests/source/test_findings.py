"""Each kind of finding: its bad example gives exactly it, its good example gives none, its page is in docs/findings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from np2fx.source.findings.check import check_source
from np2fx.source.findings.finding import KINDS, ConversionError, Finding, kind_of, make_finding, page, write_pages

CHECKED = [kind for kind in KINDS.values() if kind.stage == "check"]
DOCS = Path(__file__).parents[2] / "docs" / "findings"


@pytest.mark.parametrize("kind", CHECKED, ids=lambda k: k.name)
def test_bad_example_gives_exactly_this_finding(kind):
    found = check_source(kind.bad.encode())
    assert [f.name for f in found] == [kind.name], [str(f) for f in found]
    assert found[0].severity in (kind.severity, "warning")


@pytest.mark.parametrize("kind", CHECKED, ids=lambda k: k.name)
def test_good_example_gives_none(kind):
    assert [str(f) for f in check_source(kind.good.encode())] == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda k: k.name)
def test_kind_is_complete(kind):
    assert re.fullmatch(r"NX\d{3}", kind.code) and re.fullmatch(r"[a-z0-9-]+", kind.name)
    assert kind.severity in ("error", "warning", "note") and kind.stage in ("check", "rewrite", "trace", "verify")
    assert kind.message and kind.hint and kind.bad and kind.good
    headings = re.findall(r"^## (.+)$", page(kind), re.M)
    assert headings == ["What it does", "Why is this bad?", "Example", "Use instead"]


def test_names_and_codes_are_unique():
    assert len({k.code for k in KINDS.values()}) == len(KINDS)
    assert kind_of("NX201") is kind_of("scalar-index")
    with pytest.raises(KeyError):
        kind_of("NX999")


def test_pages_are_current(tmp_path):
    """docs/findings is `python -m np2fx.source.findings.finding docs/findings`."""
    for name in write_pages(str(tmp_path)):
        assert (DOCS / name).read_text() == (tmp_path / name).read_text(), name
    assert {p.name for p in DOCS.iterdir()} == {p.name for p in tmp_path.iterdir()}


def test_make_finding_fills_in_what_the_kind_knows():
    found = make_finding("NX202", path="a.py", line=3, column=5)
    assert (found.code, found.name, found.severity, found.fixable) == ("NX202", "reversed-slice", "error", True)
    assert (found.end_line, found.end_column) == (3, 5)
    assert make_finding("scalar-index", severity="warning", fixable=False, message="m", hint="h").message == "m"


def test_conversion_error_shows_its_findings():
    error = ConversionError([make_finding("random", path="a.py", line=3, column=5), make_finding("mutation")])
    assert len(error.findings) == 2 and all(isinstance(f, Finding) for f in error.findings)
    assert "a.py:3:5: NX103 [random]" in str(error) and "help:" in str(error)
