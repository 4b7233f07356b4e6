"""np2fx explain NX202 | scalar-index | numpy.interp: the page of a finding or of a rule."""

from __future__ import annotations

import argparse

from ..docs.sections import refusal_section, rule_section
from ..source.findings.finding import KINDS, kind_of, page
from ..source.reading.table import Table, load_table
from . import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", nargs="?", metavar="FINDING|NAME", help="NX202, scalar-index or numpy.interp; without it, all findings")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    if args.subject is None:
        for kind in KINDS.values():
            print(f"{kind.code}  {kind.name:22} {kind.severity:8} {kind.message}")
        return 0
    entry = _page(args.subject)
    if args.output_format == "json":
        import json

        print(json.dumps(entry, indent=2))
    else:
        print(entry["page"].rstrip())
    return 0


def _page(subject: str) -> dict[str, str]:
    """The page of a finding's name or code, or of a NumPy name. Raises UsageError with what was perhaps meant."""
    lowered = subject.strip().strip("[]")
    for name in (lowered, lowered.upper(), lowered.lower()):
        try:
            kind = kind_of(name)
        except KeyError:
            continue
        return {"code": kind.code, "name": kind.name, "severity": kind.severity, "message": kind.message, "page": page(kind)}
    table = load_table()
    for name in _spellings(lowered):
        if name in table.rules:
            return {"name": name, "status": "rule", "page": rule_section(name, table.rules[name])}
        refusal = table.refusal(name)
        if refusal is not None:
            return {"name": name, "status": "refused", "page": refusal_section(name, refusal)}
    raise UsageError(f"nothing is known of `{subject}`{_perhaps(lowered, table)}")


def _spellings(name: str) -> list[str]:
    """`np.interp`, `interp`, `numpy.interp`; `ndarray.sum`."""
    bare = name.removeprefix("numpy.").removeprefix("np.")
    return [f"numpy.{bare}", f"numpy.ndarray.{bare}", f"numpy.linalg.{bare}"]


def _perhaps(name: str, table: Table) -> str:
    import difflib

    known = [*KINDS, *(k.code for k in KINDS.values()), *table.rules, *table.refusals]
    near = difflib.get_close_matches(name, known, 3) or difflib.get_close_matches(f"numpy.{name}", known, 3)
    return f"; did you mean {' or '.join(near)}?" if near else "; `np2fx rules` lists the NumPy names, `np2fx explain` the findings"
