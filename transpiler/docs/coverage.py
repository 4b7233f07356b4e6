"""docs/coverage.md: every public name of the installed NumPy, and whether it has a rule."""

from __future__ import annotations

import contextlib
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from ..semantics.ufunc import Ufunc
from ..source.reading.table import Table
from .sections import anchor, shown

SPACES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray", "numpy.ufunc", "numpy.lib.stride_tricks", "numpy.emath", "numpy.polynomial",
    "numpy.polynomial.polynomial", "numpy.polynomial.chebyshev", "numpy.polynomial.legendre", "numpy.polynomial.laguerre",
    "numpy.polynomial.hermite", "numpy.polynomial.hermite_e", "numpy.random", "numpy.char", "numpy.strings", "numpy.rec",
)  # fmt: skip
STATUS = {
    "rule": "has a rule",
    "refused": "refused",
    "value": "a constant or a table of names",
    "type": "a type: of scalars, of NumPy's own objects, of errors",
    "missing": "no entry",
}


@dataclass(frozen=True)
class Row:
    """One public name: its status (a key of STATUS), and the reason where it is refused."""

    name: str
    status: str
    why: str = ""


def resolve(name: str) -> Any:
    """The object a dotted NumPy name stands for. Raises AttributeError."""
    found: Any = numpy
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def rows(space: str, table: Table) -> Iterator[Row]:
    """A row for every public name of a namespace, or of the classes ndarray and ufunc. Submodules have rows of their own.

    Small modules also show what they import: of those, the names in `__all__` count."""
    owner = resolve(space)
    public = set(dir(owner)) if space.count(".") < 2 else set(getattr(owner, "__all__", dir(owner)))
    twins = _twins(table)
    for tail in sorted(public):
        if tail.startswith("_"):
            continue
        name = f"{space}.{tail}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(owner, tail)
        if not isinstance(value, types.ModuleType):
            yield _row(name, value, table, twins)


def _row(name: str, value: Any, table: Table, twins: dict[int, str]) -> Row:
    refusal = table.refusal(name)
    if name in table.rules:
        return Row(name, "rule")
    if refusal is not None:
        return Row(name, "refused", f"{refusal.reason}; instead: {refusal.hint}")
    if name.startswith("numpy.ufunc."):
        tail = name.rpartition(".")[2]
        if hasattr(Ufunc, tail):
            return Row(name, "rule")
        why = "it asks about dtypes; instead: call it outside the node"
        return Row(name, "refused", why) if callable(value) else Row(name, "value")
    same = twins.get(id(value), "")
    if same:
        return Row(name, "rule" if same in table.rules else "refused", f"the same as {same}")
    if isinstance(value, type):
        return Row(name, "type" if is_accounted(value) else "missing")
    return Row(name, "missing" if callable(value) else "value")


def _twins(table: Table) -> dict[int, str]:
    """The table's names by the identity of NumPy's callable, for those that NumPy has under further names too."""
    found: dict[int, str] = {}
    for name in (*table.rules, *table.refusals):
        with contextlib.suppress(AttributeError):
            value = resolve(name) if name.startswith("numpy.") and not name.startswith("numpy.ndarray.") else None
            if callable(value):
                found.setdefault(id(value), name)
    return found


def is_accounted(kind: type) -> bool:
    """Classes that are no functions on arrays: scalar types, what arrays and ufuncs are, errors, random generators."""
    array = numpy.zeros(2)
    own = {*type(array.dtype).__mro__, type(array), type(array.flat), numpy.ufunc}
    return issubclass(kind, (numpy.generic, BaseException)) or kind in own or (kind.__module__ or "").startswith("numpy.random")


def page(table: Table, topics: dict[str, str]) -> str:
    """The page: counts by namespace, then every name. `topics` says on which page of docs/rules a rule's first name stands."""
    everything = {space: list(rows(space, table)) for space in SPACES}
    parts = [
        "# Coverage",
        f"Every public name of NumPy {numpy.__version__}, by namespace; made by `python -m np2fx.docs`. "
        "What a rule refuses of its function's arguments stands on the rule's page and in [limits](limits.md).",
        _counts(everything),
        "Not listed: `numpy.ma` (masked arrays; keep the mask in a bool array), `numpy.ctypeslib`, `numpy.testing` and `numpy.typing`, "
        "which hold nothing that a graph computes.",
    ]
    for space, found in everything.items():
        parts.append(f"## {space}\n\n" + _listing(found, table, topics))
    return "\n\n".join(parts) + "\n"


def _counts(everything: dict[str, list[Row]]) -> str:
    lines = ["| namespace | names | rule | refused | constants | types | no entry |", "| --- | --- | --- | --- | --- | --- | --- |"]
    total: Counter[str] = Counter()
    for space, found in everything.items():
        counts = Counter(r.status for r in found)
        total += counts
        lines.append(f"| [{space}](#{anchor(space)}) | {len(found)} | " + " | ".join(str(counts[s]) for s in STATUS) + " |")
    lines.append(f"| all | {sum(total.values())} | " + " | ".join(str(total[s]) for s in STATUS) + " |")
    return "\n".join(lines)


def _listing(found: list[Row], table: Table, topics: dict[str, str]) -> str:
    lines = ["| name | | |", "| --- | --- | --- |"]
    for row in found:
        rule = table.rules.get(row.name)
        what = "rule" if row.status == "rule" else STATUS[row.status]
        if rule is not None:
            what = f"[rule](rules/{topics[rule.name]}.md#{anchor(rule.name)})"
        lines.append(f"| `{row.name}` | {what} | {shown(row.why)} |")
    return "\n".join(lines)
