"""Calls made by NumPy's own tests as conformance cases: recorded while the installed NumPy's test modules run, never copied.

    python -m tests.conformance.numpys_tests [--way convert|trace] [--list wrong,crash,refused] [--only NAME] [--every N] [-j N]
    python -m tests.conformance.numpys_tests --show ID     # the node and the inputs of one call

Recording takes some minutes; what was recorded is kept in build/ until NumPy or the recorder changes. Of calls whose arguments are of the
same kinds (dtype, rank, sizes up to 3, signs, options) two are kept. A call is left out that gives no numbers, that touches files or
NumPy's settings, and whose answer NumPy leaves open (`open_answers.py` names the kinds).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case
from .comparing import difference
from .docstrings import numeric, table
from .open_answers import why_open
from .score import WAYS, judge_all, summary

ROOT = Path(__file__).parents[2]
TESTS = Path(np.__file__).parent
FOLDERS = ("_core", "lib", "linalg", "fft")
_OTHER = (
    "simd", "cpu", "datetime", "string", "chararray", "unicode", "dtype", "print", "mem_policy", "cython", "limited", "records", "memmap",
    "multiprocessing", "multithreading", "nditer", "overrides", "extint", "interface", "longdouble", "_abc", "casting_unit", "_api",
    "arraymethod", "dlpack", "exceptions", "test_half", "mem_overlap", "test_io", "iotools", "format", "loadtxt", "datasource",
    "recfunctions",
    "_version", "test_utils", "mixins", "subclassing",
)  # fmt: skip
"""Test modules about other things than numbers in arrays, by a word in their name."""
_SLOW = "not fuzz and not huge and not large and not arbitrary_number_of_ops and not count_nonzero_all"
_EFFECTS = ("fromfile", "tofile", "load", "loads", "save", "savez", "savetxt", "loadtxt", "genfromtxt", "memmap", "dump", "dumps",
            "geterr", "seterr", "geterrcall", "seterrcall", "errstate", "set_printoptions", "setbufsize", "getbufsize", "show_config",
            "may_share_memory", "shares_memory", "__array_interface__", "tobytes", "setflags")  # fmt: skip


def modules() -> list[str]:
    """NumPy's test modules that are run, as paths below NumPy."""
    found = (p for folder in FOLDERS for p in sorted((TESTS / folder / "tests").glob("test_*.py")))
    return [str(p.relative_to(TESTS)) for p in found if not any(word in p.name for word in _OTHER)]


def record(paths: Sequence[str], only: str = _SLOW) -> list[dict[str, str]]:
    """The calls that the test modules make, as {area, code, inputs}. NumPy's tests run in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="np2fx-numpys-tests-") as scratch:
        out = Path(scratch) / "calls.json"
        command = [sys.executable, "-m", "pytest", "-q", "--assert=plain", "--continue-on-collection-errors", "-p", "no:cacheprovider",
                   "-p", "no:np2fx", "-p", "no:xdist", "-W", "ignore", "-p", f"{__package__}.recording", "--np2fx-calls", str(out),
                   "-k", only, *(str(TESTS / p) for p in paths)]  # fmt: skip
        env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTEST_ADDOPTS": "", "PYTHONHASHSEED": "0"}
        run = subprocess.run(command, cwd=scratch, env=env, capture_output=True, text=True, check=False)
        if not out.exists():
            raise RuntimeError(f"NumPy's tests did not run:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        return json.loads(out.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def kept() -> list[dict[str, str]]:
    """What all test modules call, recorded once for this NumPy and this recorder."""
    sources = b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in ("recording", "calls", "numpys_tests"))
    path = ROOT / "build" / f"numpys_tests-{np.__version__}-{hashlib.sha256(sources).hexdigest()[:12]}.json"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(record(modules())), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def cases(calls: list[dict[str, str]]) -> list[Case]:
    """The calls that are fit to be judged."""
    found: dict[str, Case] = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call in calls:
            name = call["area"].rpartition(".")[2]
            if name in _EFFECTS:
                continue
            digest = hashlib.sha256((call["code"] + call["inputs"]).encode()).hexdigest()[:8]
            case = Case(f"{name or 'index'}-{digest}", call["area"], call["code"], call["inputs"])
            if (fit := _fit(case)) is not None:
                found[case.id] = fit
    return sorted(found.values(), key=lambda case: case.id)


def _fit(case: Case) -> Case | None:
    """The case, with what NumPy says of it; None where the answer is no number, or not the same each time, or left open."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        first = _answer(case)
    again = _answer(case)
    if isinstance(first, Exception):
        if isinstance(first, (MemoryError, RecursionError, NameError, SyntaxError)):
            return None
        return Case(case.id, case.area, case.code, case.inputs, numpy_raises=True)
    result, arguments, before = first
    if isinstance(again, Exception) or not (numeric(result) or (result is None and difference(before, arguments))):
        return None
    if difference(first[:2], again[:2]):
        return None
    texts = [str(warning.message) for warning in caught]
    return None if why_open(case.area, case.code, before, texts) else case


def _answer(case: Case) -> Any:
    """(result, arguments afterwards, arguments before) by NumPy, or what it raised."""
    names: dict[str, Any] = {}
    try:
        exec(compile(case.code, case.id, "exec"), names)
        before, arguments = (list(eval(case.inputs, {"np": np})) for _ in range(2))
        return names["node"](*arguments), arguments, before
    except Exception as error:
        return error


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.numpys_tests", description="score np2fx on the calls of NumPy's own tests"
    )
    parser.add_argument("--way", choices=WAYS, help="only one of the two ways")
    parser.add_argument("--only", default="", metavar="NAME", help="only functions whose name ends in NAME (comma-separated)")
    parser.add_argument("--id", default="", metavar="TEXT", help="only calls whose id contains TEXT")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th call")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="which one is the first of them (default: %(default)s)")
    parser.add_argument("--list", default="wrong,crash", metavar="VERDICTS", help="verdicts to list case by case (default: %(default)s)")
    parser.add_argument("--show", metavar="ID", help="print the node and the inputs of one call")
    parser.add_argument("--calls", metavar="FILE", help="calls that were recorded before")
    parser.add_argument("-j", "--processes", type=int, default=2)
    options = parser.parse_args(argv)
    calls = json.loads(Path(options.calls).read_text(encoding="utf-8")) if options.calls else kept()
    chosen = cases([c for c in calls if c["area"].endswith(tuple(options.only.split(",")))][options.first :: options.every])
    chosen = [c for c in chosen if options.id in c.id]
    if options.show:
        print("\n".join(f"{c.code}\n# inputs: {c.inputs}" for c in chosen if c.id == options.show))
        return 0
    ways = [options.way] if options.way else WAYS
    verdicts = judge_all([(way, case) for way in ways for case in chosen], options.processes)
    by_id = {c.id: c for c in chosen}
    for v in verdicts:
        if v.verdict in options.list.split(","):
            call = by_id[v.id]
            print(f"{v.way:8}{v.verdict:8} {v.id:30} {v.why}\n    {call.code.strip().splitlines()[-1].strip()}  {call.inputs[:300]}")
    print(table(verdicts, {c.id: c.area for c in chosen}))
    print(f"{len(chosen)} calls of {len({c.area for c in chosen})} functions, NumPy {np.__version__}")
    print(summary(verdicts))
    return int(any(v.failed for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
