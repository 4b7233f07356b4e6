"""Rules in use for the time of one test: the table is np2fx's own again afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from np2fx.rules import load
from np2fx.semantics import table
from np2fx.support import own_rules


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """`np2fx.use_rules`, undone at the end of the test."""
    load()
    known, loaded, path = {*table.RULES, *table.REFUSALS, *table.CLASSES}, set(sys.modules), list(sys.path)
    monkeypatch.setattr(own_rules, "_used", {})
    yield own_rules.use_rules
    table.remove({*table.RULES, *table.REFUSALS, *table.CLASSES} - known)
    for name in set(sys.modules) - loaded:
        if name.split(".")[0] in ("mylib", "otherlib") or name.startswith("np2fx.contrib."):
            del sys.modules[name]
    sys.path[:] = path
