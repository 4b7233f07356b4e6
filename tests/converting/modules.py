"""A text as an imported module: what a rewritten file is to its callers."""

from __future__ import annotations

import linecache
import sys
import types


def module(text: str, name: str) -> types.ModuleType:
    """The module that `text` makes, in `sys.modules` under `name`."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(keepends=True), f"<{name}>")
    exec(compile(text, f"<{name}>", "exec"), made.__dict__)
    return made
