"""The pages under docs/ that are made from the table are what the generator writes today, and their links lead somewhere."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from np2fx.cli import main
from np2fx.docs.__main__ import main as write
from np2fx.docs.limits import MARK
from np2fx.docs.pages import is_made, pages
from np2fx.docs.sections import anchor
from np2fx.source.reading.table import load_table

ROOT = Path(__file__).parents[2]
COMMAND = "run `python -m np2fx.docs` in the working tree and commit what it changes"


@functools.cache
def made() -> dict[str, str]:
    return pages(str(ROOT))


def test_committed_pages_are_what_the_generator_writes():
    stale = [path for path, text in made().items() if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != text]
    assert not stale, f"not up to date: {', '.join(stale)}; {COMMAND}"


def test_no_made_page_is_left_over():
    left = sorted(set(is_made(str(ROOT))) - set(made()))
    assert not left, f"nothing makes {', '.join(left)} any more; {COMMAND}"


def test_every_rule_and_refusal_is_on_a_page():
    table = load_table()
    for name, rule in table.rules.items():
        text = made()[f"docs/rules/{rule.module.rpartition('.')[2]}.md"]
        assert f"\n## {rule.name}\n" in text and (name == rule.name or f"`{name}`" in text), name
    limits = made()["docs/limits.md"].partition(MARK)[2]
    missing = [name for name in table.refusals if f"`{name}`" not in limits]
    assert not missing


@pytest.mark.parametrize("page", sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md")))
def test_links_lead_somewhere(page):
    text = without_code((ROOT / page).read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, fragment = target.partition("#")
        if "://" in target:
            continue
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), f"{page} links to {target}"
        if fragment and file.suffix == ".md":
            assert fragment in anchors(file), f"{page} links to {target}"


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


@functools.cache
def anchors(file: Path) -> set[str]:
    return {anchor(h) for h in re.findall(r"^#+ (.+)$", without_code(file.read_text(encoding="utf-8")), re.MULTILINE)}


@pytest.mark.parametrize("name", ["numpy.std", "numpy.ndarray.reshape", "numpy.add", "numpy.interp"])
def test_explain_prints_the_section(capsys, name):
    """The page says more (the dtypes, which only running the rule tells); the rest is the same."""
    assert main(["explain", name]) == 0
    said = capsys.readouterr().out.splitlines()
    rule = load_table().rules[name]
    page = made()[f"docs/rules/{rule.module.rpartition('.')[2]}.md"].splitlines()
    assert said[0] == f"# {name}"
    assert [line for line in said[1:] if line not in page and not line.startswith("`")] == []


def test_the_generator_writes_and_removes(tmp_path, capsys):
    (tmp_path / "docs" / "rules").mkdir(parents=True)
    (tmp_path / "docs" / "rules" / "gone.md").write_text("left over")
    (tmp_path / "docs" / "limits.md").write_text(f"# Limits\n\nBy hand.\n\n{MARK}\n\nold\n")
    (tmp_path / "tests" / "conformance").mkdir(parents=True)
    (tmp_path / "tests" / "conformance" / "refused.json").write_text('{"trace": {"case-1": "random"}}')
    assert write(str(tmp_path)) == 0
    limits = (tmp_path / "docs" / "limits.md").read_text()
    assert limits.startswith("# Limits\n\nBy hand.\n\n<!--") and "| case-1 |" in limits and "\nold\n" not in limits
    assert not (tmp_path / "docs" / "rules" / "gone.md").exists() and (tmp_path / "docs" / "rules" / "statistics.md").exists()
    capsys.readouterr()
    assert write(str(tmp_path)) == 0 and capsys.readouterr().out.endswith(" 0 changed\n")


def test_a_folder_without_docs_is_told(tmp_path, capsys):
    assert write(str(tmp_path)) == 2 and "no folder docs" in capsys.readouterr().err
