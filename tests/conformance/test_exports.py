"""What is made of graphs, held against NumPy at other sizes: a part of what `python -m tests.conformance.exports` runs."""

from __future__ import annotations

import json

import pytest

from .exports import COUNTS, PAGE, TARGETS, judge, page, variations

SLOW = {"pt2": 300, "onnx": 500, "torch.compile": 300}


@pytest.mark.parametrize("target", TARGETS)
def test_never_another_answer(target):
    every = SLOW.get(target, 60)
    verdicts = [v for case in variations()[7::every] for v in judge((target,), case)]
    assert not [v for v in verdicts if v.verdict == "wrong"]
    assert any(v.verdict == "right" for v in verdicts)


def test_the_page_is_up_to_date():
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    assert set(counts) == set(TARGETS)
    assert all(c["wrong"] == 0 for c in counts.values())
    assert PAGE.read_text(encoding="utf-8") == page(counts)
