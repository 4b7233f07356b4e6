"""Every example of the README and the guide prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from .readme_example import difference, examples

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/guide.md")
EXAMPLES = [(page, example) for page in PAGES for example in examples((ROOT / page).read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "example"), EXAMPLES, ids=[f"{page}:{example.line}:{example.command}" for page, example in EXAMPLES])
def test_prints_what_the_page_says(page, example):
    found = difference(example)
    assert not found, found


def test_there_are_examples_to_run():
    assert {page for page, _ in EXAMPLES} == set(PAGES)
