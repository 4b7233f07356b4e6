"""Scores `np2fx rewrite` on the conformance cases: each function as a node with declared specs, rewritten, imported and called.

    python -m tests.conformance.rewriting [--dialect auto|numpy] [--only TEXT] [--every N]

The verdicts are those of `tests.conformance.score`; "torch" and "numpy" count in which dialect the functions came out. Exits 1 where
anything was wrong or crashed.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import copy
import inspect
import io
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import np2fx
import np2fx.numpy as npx
import numpy as np

from .cases import Case, arguments, load
from .comparing import difference
from .score import Verdict


def judge(dialect: str, case: Case) -> Verdict:
    """Rewrite the case, run it on all its inputs, compare with NumPy. `why` is the dialect of what is right."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with npx.always_on_torch():
                verdict, why = _judge(dialect, case)
        except Exception as error:
            verdict, why = "crash", f"{type(error).__name__}: {error}"[:200]
    return Verdict(dialect, case.id, verdict, why)


def _judge(dialect: str, case: Case) -> tuple[str, str]:
    original = case.module()
    new, findings = np2fx.rewrite_source(declared(case, original), "case.py", dialect=dialect)
    came_out = "numpy" if ".on_torch" in new else "torch" if ".boundary(" in new else ""
    if not came_out:
        names = sorted({f.name for f in findings if f.severity == "error"})
        return ("refused", ",".join(names)) if names else ("crash", "left as it was without a finding")
    rewritten = replace(case, code=new).module()
    for expression in case.input_sets():
        want, got = (_answer(m.node, arguments(expression, original)) for m in (case.module(), rewritten))
        if isinstance(want, Exception) or isinstance(got, Exception):
            if isinstance(want, Exception) and isinstance(got, Exception):
                continue
            return ("wrong" if isinstance(want, Exception) else "crash"), f"{want!r} / {got!r}"[:200]
        why = "" if case.entry.startswith("np.empty") else difference(want, got)
        if why or kinds(want[0]) != kinds(got[0]):
            return "wrong", why or f"{kinds(want[0])} / {kinds(got[0])}"
    return "right", came_out


def declared(case: Case, module: Any) -> str:
    """The case's code with its function marked as a node, and what its inputs are declared where all of them are of one kind."""
    args = [arguments(expression, module) for expression in case.input_sets()]
    specs = {}
    if inspect.isfunction(module.node):
        for i, name in enumerate(list(inspect.signature(module.node).parameters)[: len(args[0])]):
            found = {_spec(a[i]) for a in args if i < len(a)}
            if len(found) == 1 and None not in found:
                specs[name] = found.pop()
    node = next(s for s in ast.parse(case.code).body if isinstance(s, ast.FunctionDef) and s.name == "node")
    lines = case.code.split("\n")
    at = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    lines.insert(at, f"@np2fx.node({', '.join(f'{k}={v!r}' for k, v in specs.items())})")
    first = next((s.lineno for s in ast.parse(case.code).body if not _is_header(s)), 1)
    lines.insert(first - 1, "import np2fx")
    return "\n".join(lines)


def _is_header(s: ast.stmt) -> bool:
    return (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) or (isinstance(s, ast.ImportFrom) and s.module == "__future__")


def _spec(x: Any) -> str | None:
    if isinstance(x, np.ndarray) and x.dtype.kind in "biufc" and x.dtype.isnative:
        return f"{x.dtype.name}[{', '.join('_' * x.ndim)}]"
    return None


def _answer(function: Callable[..., Any], args: Any) -> Any:
    try:
        return function(*args), list(copy.copy(args))
    except Exception as error:
        return error


def kinds(value: Any) -> Any:
    """Which of a result's parts are arrays, and which of NumPy's scalars."""
    if isinstance(value, (list, tuple)):
        return [kinds(v) for v in value]
    if isinstance(value, dict):
        return {k: kinds(v) for k, v in value.items()}
    return "array" if isinstance(value, np.ndarray) else type(value) if isinstance(value, np.generic) else ""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.rewriting", description="score np2fx rewrite on the cases")
    parser.add_argument("--dialect", choices=("auto", "numpy"), default="auto")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose id contains TEXT")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth case")
    options = parser.parse_args(argv)
    cases = [c for c in load() if options.only in c.id][:: options.every]
    verdicts = [judge(options.dialect, case) for case in cases]
    for v in verdicts:
        if v.failed:
            print(f"{v.verdict:8} {v.id:40} {v.why}")
    counts = collections.Counter(v.verdict for v in verdicts)
    came = collections.Counter(v.why for v in verdicts if v.verdict == "right")
    verdict = " ".join(f"{k} {counts[k]}" for k in ("right", "refused", "wrong", "crash"))
    print(f"{options.dialect}: {verdict} of {len(cases)}; {dict(came)}")
    return int(any(v.failed for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
