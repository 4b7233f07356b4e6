"""The made part of docs/limits.md: refused names by topic, arguments that rules refuse, and conformance cases that are refused."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator

from ..source.findings.finding import kind_of
from ..source.reading.table import RuleSource, Table, own_files
from .sections import shown

MARK = "<!-- What follows is made by `python -m np2fx.docs`; edit above this line only. -->"


def generated(table: Table, root: str) -> str:
    """Everything below the mark. `root` is the working tree, for the refused conformance cases."""
    return f"{MARK}\n\n{_names(table)}\n\n{_arguments(table)}\n\n{_cases(root)}\n"


def _names(table: Table) -> str:
    """Refused names, those with one reason in one row."""
    parts = ["## Names that are refused", f"{len(table.refusals)} names of NumPy cannot be torch. The finding says so at the call."]
    by_topic: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for name, refusal in table.refusals.items():
        topic = os.path.splitext(os.path.basename(refusal.file))[0]
        by_topic.setdefault(topic, {}).setdefault((refusal.reason, refusal.hint, refusal.finding), []).append(name)
    for topic in sorted(by_topic):
        parts.append(f"### {topic.replace('_', ' ').capitalize()}")
        rows = ["| names | why | way out | finding |", "| --- | --- | --- | --- |"]
        for (reason, hint, finding), names in by_topic[topic].items():
            listed = ", ".join(f"`{n}`" for n in names)
            rows.append(f"| {listed} | {shown(reason)} | {shown(hint)} | [{finding}](findings/{finding}.md) |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _arguments(table: Table) -> str:
    """What rules and their helpers refuse, read from their `raise Refused(...)`."""
    parts = [
        "## Arguments that rules refuse",
        "A rule supports a parameter or refuses it; none is ignored. `{...}` stands for what the call has there. "
        "What stands under a helper's name is refused by the rules of that file that use it.",
    ]
    owners = {(r.file, r.body_name): r for r in table.rules.values()}
    shared = _shared_files()
    for file in [*own_files(), *shared]:
        found = list(dict.fromkeys(_raised(file, owners)))
        if found:
            topic = os.path.splitext(os.path.basename(file))[0]
            rows = ["| where | what is refused | way out | finding |", "| --- | --- | --- | --- |"]
            rows += [f"| {where} | {shown(said)} | {shown(hint)} | [{name}](findings/{name}.md) |" for where, said, hint, name in found]
            parts.append(f"### {'Shared: ' if file in shared else ''}{topic}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def _shared_files() -> list[str]:
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "semantics")
    return sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".py"))


def _raised(file: str, owners: dict[tuple[str, str], RuleSource]) -> Iterator[tuple[str, str, str, str]]:
    """(where, message, hint, finding) of each `Refused(...)` with a message that can be read."""
    with open(file, encoding="utf-8") as handle:
        tree = ast.parse(handle.read())
    for statement in tree.body:
        for call in ast.walk(statement):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Refused" and call.args):
                continue
            given = [_text(a) for a in call.args] + ["", "unsupported-argument"][len(call.args) - 1 :]
            given += ["unsupported-argument"] * (3 - len(given))
            by_name = {k.arg: _text(k.value) for k in call.keywords}
            name = getattr(statement, "name", "")
            rule = owners.get((file, name))
            finding = by_name.get("name") or given[2] or "unsupported-argument"
            yield f"`{rule.name if rule else name}`", given[0], by_name.get("hint") or given[1], _known(finding)


def _known(finding: str) -> str:
    """A finding's name; where a rule computes it, the one that refusals have unless they say otherwise."""
    try:
        return kind_of(finding).name
    except KeyError:
        return "unsupported-argument"


def _text(node: ast.expr) -> str:
    """The text a message is written as, with `{...}` for what is put into it; the source of what is no text."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else f"{{{ast.unparse(_inserted(v))}}}" for v in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else f"{{{ast.unparse(node)}}}"


def _inserted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.FormattedValue) else node


def _cases(root: str) -> str:
    """The refused cases of the conformance set, from tests/conformance/refused.json."""
    parts = ["## Conformance cases that are refused", "Of the cases in tests/conformance/data, by id. All others are right."]
    with open(os.path.join(root, "tests", "conformance", "refused.json"), encoding="utf-8") as handle:
        refused: dict[str, dict[str, str]] = json.load(handle)
    for way, cases in sorted(refused.items()):
        by_finding: dict[str, list[str]] = {}
        for case, finding in cases.items():
            by_finding.setdefault(finding, []).append(case)
        rows = [f"| {len(cases)} cases refused by {way} | finding | why |", "| --- | --- | --- |"]
        for finding, ids in sorted(by_finding.items()):
            name = _known(finding)
            rows.append(f"| {', '.join(sorted(ids))} | [{finding}](findings/{name}.md) | {shown(kind_of(name).message)} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)
