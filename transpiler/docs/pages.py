"""All made pages by path: docs/rules, docs/findings, docs/coverage.md and the lower part of docs/limits.md."""

from __future__ import annotations

import ast
import os
import tempfile
from collections import Counter

from ..source.findings.finding import write_pages
from ..source.reading.table import RuleSource, Table, load_table
from . import coverage, limits
from .dtypes import dtype_lines
from .sections import anchor, rule_section

FOLDERS = ("docs/rules", "docs/findings")
"""Folders that hold nothing but made pages."""


def pages(root: str = ".") -> dict[str, str]:
    """The text of every made page of the working tree at `root`, by its path from there."""
    table = load_table()
    made = rule_pages(table)
    topics = {name: topic_of(rule) for name, rule in table.rules.items()}
    made["docs/coverage.md"] = coverage.page(table, topics)
    made["docs/limits.md"] = _limits(table, root)
    with tempfile.TemporaryDirectory() as folder:
        for name in write_pages(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                made[f"docs/findings/{name}"] = file.read()
    return made


def is_made(root: str) -> list[str]:
    """The paths of all files in folders that hold made pages alone."""
    there = [f for f in FOLDERS if os.path.isdir(os.path.join(root, f))]
    return [f"{folder}/{name}" for folder in there for name in sorted(os.listdir(os.path.join(root, folder)))]


def topic_of(rule: RuleSource) -> str:
    """The file of `rules/` that a rule is in, which is its page's name too."""
    return rule.module.rpartition(".")[2]


def rule_pages(table: Table) -> dict[str, str]:
    """A page for each file of `rules/`, with a section for each rule, and the index."""
    by_topic: dict[str, list[RuleSource]] = {}
    for name, rule in table.rules.items():
        if name == rule.name:
            by_topic.setdefault(topic_of(rule), []).append(rule)
    made, index = {}, []
    for topic in sorted(by_topic):
        found = by_topic[topic]
        title = topic.replace("_", " ").capitalize()
        said = ast.get_docstring(ast.parse(_read(found[0].file))) or ""
        parts = [f"# {title}", said, ", ".join(f"[{_short(r)}](#{anchor(r.name)})" for r in found)]
        parts += [rule_section(r.name, r, 2, dtype_lines(r)).rstrip() for r in found]
        made[f"docs/rules/{topic}.md"] = "\n\n".join(parts) + "\n"
        listed = ", ".join(f"[{_short(r)}]({topic}.md#{anchor(r.name)})" for r in found)
        index.append(f"## [{title}]({topic}.md)\n\n{said.splitlines()[0]}\n\n{listed}")
    made["docs/rules/README.md"] = "\n\n".join([_head(table), *index]) + "\n"
    return made


def _head(table: Table) -> str:
    rules = {id(r): r for r in table.rules.values()}.values()
    kinds = Counter(r.kind for r in rules)
    listed = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items(), key=lambda kn: (-kn[1], kn[0])))
    return (
        "# Rules\n\n"
        f"{len(rules)} rules answer to {len(table.rules)} names of NumPy: {listed}. What has no rule stands in [limits](../limits.md), "
        "every name of NumPy in [coverage](../coverage.md). These pages are made from the rules by `python -m np2fx.docs`; "
        "`np2fx explain numpy.std` prints the section of one."
    )


def _short(rule: RuleSource) -> str:
    return f"`{rule.name.removeprefix('numpy.')}`"


def _limits(table: Table, root: str) -> str:
    path = os.path.join(root, "docs", "limits.md")
    by_hand = _read(path).partition(limits.MARK)[0].rstrip() if os.path.isfile(path) else "# Limits"
    return f"{by_hand}\n\n{limits.generated(table, root)}"


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
