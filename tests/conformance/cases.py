"""The conformance cases: functions called `node` with inputs, collected from bug reports and from variations of NumPy calls.

A case is {id, area, code, inputs, [alt_inputs], [numpy_raises], [entry], [source], [symptom]}. `code` is a module that
defines `node`; `inputs` and `alt_inputs` are expressions for the tuple of its arguments. There are no expected
values: NumPy's own answer is the expectation, asked for anew in every run.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
import tempfile
import types
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """One `node` function and the inputs to try it on."""

    id: str
    area: str
    code: str
    inputs: str
    alt_inputs: str | None = None
    numpy_raises: bool = False
    entry: str = ""
    source: str = ""
    symptom: str = ""

    def module(self) -> types.ModuleType:
        """A fresh module of the case's code, from a real file, because converting needs to read the source."""
        path = _folder() / f"{self.id.replace('-', '_')}_{next(_serial)}.py"
        path.write_text(self.code, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module

    def input_sets(self) -> list[str]:
        return [self.inputs] if self.alt_inputs is None else [self.inputs, self.alt_inputs]


def arguments(expression: str, module: types.ModuleType) -> Any:
    """The argument tuple that `expression` makes, evaluated with the module's own names and `np`."""
    return eval(expression, {**vars(module), "np": np})


@cache
def load() -> tuple[Case, ...]:
    """All cases, reports first."""
    return tuple(Case(**record) for name in ("reports", "variants") for record in _read(name))


def source_forms() -> list[dict[str, str]]:
    """Files in forms that source tools are known to stumble over: {id, source, symptom, bytes_repr}."""
    return _read("source_forms")


def _read(name: str) -> list[dict[str, Any]]:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


_serial = itertools.count()
_keep: list[tempfile.TemporaryDirectory[str]] = []


@cache
def _folder() -> Path:
    """One scratch folder a process, removed when the process ends."""
    _keep.append(tempfile.TemporaryDirectory(prefix="np2fx-cases-"))
    return Path(_keep[0].name)
