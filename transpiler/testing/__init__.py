"""Tests of rules: every example of a rule against the original function, on inputs that Hypothesis makes.

    def test_my_rules(check_rule):
        check_rule("mylib.norms.fast_norm")

`check_rule` is a pytest fixture (the plugin is installed with np2fx) and a function, `np2fx.testing.check_rule`. np2fx's own rules
are tested with the same. Needs `np2fx[torch]`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checking import RuleError as RuleError
    from .checking import check_rule as check_rule

__all__ = ["RuleError", "check_rule"]


def __getattr__(name: str) -> Any:
    """Loaded on first use: pytest imports this package at every start, torch only where a rule is tested."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(".checking", __name__), name)
