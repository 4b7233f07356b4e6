"""`np2fx.verify`: the original, the rewritten function and the graph on the same inputs.

Names load on first use: the command line runs nodes in processes of their own, and its own process needs neither torch nor NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checking import check_form as check_form
    from .checking import verify as verify
    from .comparing.counterexample import Counterexample as Counterexample
    from .report import Report as Report

__all__ = ["Counterexample", "Report", "verify"]

_HOME = {"verify": ".checking", "check_form": ".checking", "Counterexample": ".comparing.counterexample", "Report": ".report"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_HOME[name], __name__), name)
    return found
