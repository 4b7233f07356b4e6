"""np2fx's rules: for each NumPy function, the torch function that means the same.

One file a topic of NumPy's reference manual. The files are imported on first use (`lookup`, or any rule by name), so that
the static half, which reads them as text, never imports torch.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..semantics.arrays import as_tensor as as_tensor
    from ..semantics.arrays import cast as cast
    from ..semantics.arrays import demand as demand
    from ..semantics.dtypes import inexact as inexact
    from ..semantics.dtypes import promote as promote
    from ..semantics.dtypes import to_torch as to_torch
    from ..semantics.entering import rule as rule
    from ..semantics.table import Refusal, Rule
    from ..semantics.table import Refused as Refused
    from ..semantics.table import refuse as refuse
    from ..semantics.table import stands_for as stands_for
    from ..semantics.ufunc import ufunc as ufunc

def topics() -> list[str]:
    """The names of the rule modules: every public file of this folder."""
    return sorted(p.stem for p in Path(__file__).parent.glob("[!_]*.py"))

def load() -> tuple[dict[str, Rule], dict[str, Refusal]]:
    """Import every topic (and with it torch); returns the table's rules and refusals by NumPy name."""
    from ..semantics import table

    for topic in topics():
        importlib.import_module(f".{topic}", __name__)
    importlib.import_module("..contrib.scipy_fft_rules", __name__)
    return table.RULES, table.REFUSALS

def lookup(name: str) -> Rule:
    """The rule of a NumPy name such as "numpy.linalg.norm". Raises KeyError where there is none."""
    return load_once()[name]

_loaded: dict[str, Rule] | None = None

def load_once() -> dict[str, Rule]:
    """The rules by NumPy name, imported the first time."""
    global _loaded
    if _loaded is None:
        _loaded = load()[0]
    return _loaded

_AUTHORS: dict[str, str] = {
    "rule": "entering", "refuse": "table", "Refused": "table", "stands_for": "table",
    "ufunc": "ufunc", "as_tensor": "arrays", "cast": "arrays",
    "demand": "arrays", "is_weak": "arrays", "widen": "arrays", "zero_d_array": "arrays", "promote": "dtypes", "inexact": "dtypes",
    "complex_of": "dtypes", "to_torch": "dtypes", "to_numpy": "dtypes",
}  # fmt: skip
"""What a module of rules is written with, and where it lives."""

def __getattr__(name: str) -> Any:
    """`rule` and its kin for authors; any other name is the rule of the NumPy function of that name."""
    if name.startswith("_"):
        raise AttributeError(name)
    if name in _AUTHORS:
        return getattr(importlib.import_module(f"..semantics.{_AUTHORS[name]}", __name__), name)
    found = load_once().get(f"numpy.{name}")
    if found is None:
        raise AttributeError(f"np2fx.rules has no rule for numpy.{name}")
    return found.call
