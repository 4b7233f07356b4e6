"""The pytest plugin: the fixture `check_rule`, and the watch of `np2fx record` in pytest's worker processes. It is loaded at every start
of pytest, so it imports nothing that takes time."""

from __future__ import annotations

import os
from typing import Any

import pytest

if "NP2FX_RECORDING" in os.environ:
    from ..recording.launching import begin

    begin()


@pytest.fixture
def check_rule(request: pytest.FixtureRequest) -> Any:
    """`np2fx.testing.check_rule`, with the rule modules that the nearest pyproject.toml names in use."""
    from ..source.reading.config import load_config
    from ..support.own_rules import use_rules
    from .checking import check_rule

    config = load_config(str(request.path))
    use_rules(*config.rules, root=config.root)
    return check_rule
