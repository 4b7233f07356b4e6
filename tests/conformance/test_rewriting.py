"""The conformance cases as rewritten files, in both dialects: nothing may be wrong or crash; what is refused is refused by convert too."""

from __future__ import annotations

import json

import pytest

from .cases import load
from .rewriting import judge
from .score import REFUSED

EVERY = {"auto": 5, "numpy": 9}
"""The suite tries a part of them; `python -m tests.conformance.rewriting` tries all."""
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", EVERY)
def test_answers_are_numpys_or_known_refusals(dialect, part):
    known = json.loads(REFUSED.read_text(encoding="utf-8"))["convert"]
    problems = []
    for case in load()[:: EVERY[dialect]][part::PARTS]:
        v = judge(dialect, case)
        if v.failed or (v.verdict == "refused" and case.id not in known):
            problems.append(f"{v.id}: {v.verdict}: {v.why}")
    assert not problems, "\n".join(problems)
