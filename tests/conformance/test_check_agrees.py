"""check and what it speaks for agree: over all cases, put as nodes with specs, check for np2fx is clean where convert, rewrite and trace
give NumPy's answer, and check for any tracer is not clean where trace refuses."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from np2fx.source.findings.check import check_source

from .cases import arguments, load

REFUSED = json.loads((Path(__file__).parent / "refused.json").read_text(encoding="utf-8"))
DTYPES = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)} | {"bool", "float16", "float32", "float64"}
DTYPES |= {"complex64", "complex128"}
OF_SIZES = frozenset({"float-of-shape", "size-used-as-length"})
"""Refused by trace for calls of other sizes alone: no text shows which sizes a function is called with."""


def spec(value):
    """The spec of an argument, None where there is none."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype.name}[{', '.join('_' * value.ndim)}]" if value.dtype.name in DTYPES else None
    if type(value) in (int, float, bool, complex, str):
        return type(value).__name__
    if isinstance(value, (list, tuple)) and value and not hasattr(value, "_fields"):
        parts = [spec(v) for v in value]
        return None if None in parts else type(value)(parts)
    if isinstance(value, dict) and value:
        held = {k: spec(v) for k, v in value.items()}
        return None if None in held.values() else held
    return None


def as_node(case):
    """The case's code with its function marked and its arguments declared; None where the function is no `def`. And whether NumPy
    raises."""
    tree = ast.parse(case.code)
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "node"]
    if not functions:
        return None, False
    module = case.module()
    given = arguments(case.inputs, module)
    names = [a.arg for a in [*functions[-1].args.posonlyargs, *functions[-1].args.args]]
    declared = [f"{n}={s!r}" for n, v in zip(names, given, strict=False) if (s := spec(v)) is not None]
    lines = case.code.split("\n")
    first = min([functions[-1].lineno, *(d.lineno for d in functions[-1].decorator_list)])
    lines.insert(first - 1, f"@np2fx.node({', '.join(declared)})")
    future = [n.end_lineno for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    lines.insert(max(future, default=0), "import np2fx")
    return "\n".join(lines), case.numpy_raises


def raises(case):
    """Whether NumPy raises for one of the case's inputs."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for inputs in case.input_sets():
                module = case.module()
                module.node(*arguments(inputs, module))
    except Exception:
        return True
    return False


def errors(source, target):
    return [str(f) for f in check_source(source, target=target) if f.severity == "error"]


@pytest.mark.parametrize("start", range(0, len(load()), 200))
def test_check_agrees_with_what_it_speaks_for(start):
    wrong = []
    for case in load()[start : start + 200]:
        source, numpy_raises = as_node(case)
        if source is None:
            continue
        refused = any(case.id in REFUSED[way] for way in ("convert", "trace"))
        found = errors(source, "np2fx")
        if found and not refused and not numpy_raises and not raises(case):
            wrong.append((case.id, "all ways convert it", found))
        if case.id in REFUSED["convert"] and not found:
            wrong.append((case.id, f"convert refuses it: {REFUSED['convert'][case.id]}", found))
        if case.id in REFUSED["trace"] and case.id not in OF_SIZES and not errors(source, "any"):
            wrong.append((case.id, f"trace refuses it: {REFUSED['trace'][case.id]}", []))
    assert wrong == []
