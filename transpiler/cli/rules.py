"""np2fx rules: the table. NumPy name, what it is in torch, or why it cannot be."""

from __future__ import annotations

import argparse
import fnmatch
import re
from typing import Any

from ..source.reading.table import RuleSource, Table
from . import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("patterns", nargs="*", metavar="NAME", help="only these: names, patterns such as numpy.linalg.*, or parts of names")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    table = _table()
    rows = matching(entries(table), args.patterns)
    if args.output_format == "json":
        import json

        print(json.dumps(rows, indent=2))
        return 0
    width = min(max((len(r["name"]) for r in rows), default=0), 40)
    for row in rows:
        print(f"{row['name']:{width}}  {row['torch'] if row['status'] == 'rule' else 'refused: ' + row['reason']}")
    rules = sum(r["status"] == "rule" for r in rows)
    print(f"\n{rules} names with a rule, {len(rows) - rules} refused")
    return 0


def _table() -> Table:
    from ..source.reading.config import load_config

    return options.table_of(load_config())


def matching(rows: list[dict[str, Any]], patterns: list[str]) -> list[dict[str, Any]]:
    """The rows that any of the patterns names; all rows without patterns."""
    wanted = {name for p in patterns for name in _named([r["name"] for r in rows], re.sub(r"^np\.", "numpy.", p))}
    return [r for r in rows if not patterns or r["name"] in wanted]


def _named(names: list[str], pattern: str) -> list[str]:
    """The names a pattern fits, whole (with `*`) or without their module; where there is none, those that it is a part of."""
    whole = [n for n in names if fnmatch.fnmatchcase(n, pattern) or n.endswith("." + pattern)]
    return whole or [n for n in names if pattern.lower() in n.lower()]


def entries(table: Table) -> list[dict[str, Any]]:
    """The rows of the table as plain data, sorted by name."""
    rows: list[dict[str, Any]] = []
    for name, rule in table.rules.items():
        rows.append({"name": name, "status": "rule", "kind": rule.kind, "torch": meaning(rule), "rule": f"{rule.module}.{rule.body_name}",
                     "writes": rule.writes, "view": rule.view, "examples": list(rule.examples)})  # fmt: skip
    for name, refusal in table.refusals.items():
        rows.append({"name": name, "status": "refused", "reason": refusal.reason, "hint": refusal.hint, "finding": refusal.finding})
    return sorted(rows, key=lambda r: r["name"])


def meaning(rule: RuleSource) -> str:
    """A rule in a word: the torch functions its source calls, first those of its returns."""
    source = rule.source
    returned = re.findall(r"return[^\n]*?\b(torch(?:\.\w+)+)\(", source)
    called = re.findall(r"\b(torch(?:\.\w+)+)\(", source)
    names = list(dict.fromkeys([*returned, *called]))
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "") if names else f"np2fx.rules.{rule.body_name}"
