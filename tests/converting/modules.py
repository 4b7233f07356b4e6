"""A text as an imported module: what a rewritten file is to its callers."""

from __future__ import annotations

import sys
import types


def module(text: str, name: str) -> types.ModuleType:
    """The module that `text` makes, in `sys.modules` under `name`."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(compile(text, f"<{name}>", "exec"), made.__dict__)
    return made
