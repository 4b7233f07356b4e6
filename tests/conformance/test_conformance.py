"""All conformance cases, both ways: nothing may be wrong or crash, and what is refused is known by name.

`refused.json` lists every refusal. A case that is newly refused fails here, and so does one that no longer is: run
`python -m tests.conformance.score --update` and read the difference.
"""

from __future__ import annotations

import ast
import json

import np2fx
import pytest

from .cases import load, source_forms
from .score import REFUSED, WAYS, judge

CHUNK = 60
_STARTS = range(0, len(load()), CHUNK)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("start", _STARTS, ids=lambda start: load()[start].id)
def test_answers_are_numpys_or_known_refusals(way, start):
    known = json.loads(REFUSED.read_text(encoding="utf-8"))[way]
    problems = []
    for case in load()[start : start + CHUNK]:
        v = judge(way, case)
        if v.failed:
            problems.append(f"{v.id}: {v.verdict}: {v.why}")
        elif v.verdict == "refused" and known.get(v.id) != v.why:
            problems.append(f"{v.id}: refused as {v.why}, refused.json says {known.get(v.id, 'nothing')}")
        elif v.verdict == "right" and v.id in known:
            problems.append(f"{v.id}: no longer refused, but refused.json says {known[v.id]}")
    assert not problems, f"{way}:\n" + "\n".join(problems)


def test_refused_json_names_only_cases_that_exist():
    known = json.loads(REFUSED.read_text(encoding="utf-8"))
    assert sorted(known) == sorted(WAYS)
    ids = {case.id for case in load()}
    for way in WAYS:
        assert set(known[way]) <= ids


def test_ids_are_unique():
    ids = [case.id for case in load()]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("form", source_forms(), ids=lambda form: form["id"])
def test_files_in_unusual_forms_are_rewritten_or_refused(form, tmp_path):
    """Never a crash, never a file that no longer parses; what can't be read is left as it was, with a finding."""
    original = ast.literal_eval(form["bytes_repr"])
    path = tmp_path / "module.py"
    path.write_bytes(original)
    new, findings = np2fx.rewrite_source(original.decode("utf-8"), str(path), all_functions=True)
    if _parses(original.decode("utf-8")):
        assert _parses(new)
        again, _ = np2fx.rewrite_source(new, str(path), all_functions=True)
        assert again == new
    elif new == original.decode("utf-8"):
        assert findings
    if form["id"] == "relative-import":
        assert new == original.decode("utf-8"), "that `np` is not NumPy"


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
