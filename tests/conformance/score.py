"""Scores np2fx on the conformance cases.

    python -m tests.conformance.score [--way convert|trace] [--only TEXT] [--area NAME] [--list wrong,crash] [-j N]
    python -m tests.conformance.score --update     # write refused.json anew

Each case is tried two ways, `np2fx.convert(node)` and `np2fx.trace(node, *inputs)`; the verdict is one of

right    what NumPy gives on all inputs of the case: value, shape, dtype, and what became of the arguments; or NumPy's refusal to
         compute, met by an error of ours
refused  a ConversionError or TraceError that carries findings, when converting or when called
wrong    an answer that NumPy does not give
crash    any other error, or a refusal that names no finding

One line a way is printed at the end. Exits 1 where anything was wrong or crashed.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import io
import json
import multiprocessing
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import np2fx

from .cases import Case, arguments, load
from .comparing import difference, to_numpy, to_torch

WAYS = ("convert", "trace")
REFUSED = Path(__file__).with_name("refused.json")


@dataclass(frozen=True)
class Verdict:
    """What became of a case in one way; `why` holds the finding names of a refusal, or the reason of a failure."""

    way: str
    id: str
    verdict: str
    why: str = ""

    @property
    def failed(self) -> bool:
        return self.verdict in ("wrong", "crash")


def judge(way: str, case: Case) -> Verdict:
    """Convert or trace the case, run it on all its inputs, compare with NumPy."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            verdict, why = _judge(way, case)
        except Exception as error:
            verdict, why = "crash", "in the harness: " + _line(error)
    return Verdict(way, case.id, verdict, why)


def _judge(way: str, case: Case) -> tuple[str, str]:
    module = case.module()
    try:
        made = _made(way, case, module)
    except (np2fx.ConversionError, np2fx.TraceError) as error:
        return _refused(error)
    except Exception as error:
        return ("right", "raises") if case.numpy_raises else ("crash", _line(error))
    for expression in case.input_sets():
        want = _numpy_answer(case, expression)
        args = to_torch(copy.deepcopy(arguments(expression, module)))
        try:
            got = made(*args)
        except (np2fx.ConversionError, np2fx.TraceError) as error:
            return _refused(error)
        except Exception as error:
            if isinstance(want, Exception):
                continue
            return "crash", _line(error)
        if isinstance(want, Exception):
            return "wrong", f"an answer where NumPy raises {type(want).__name__}"
        why = difference(want, to_numpy((got, list(args))))
        if why:
            return "wrong", why
    return "right", ""


def _made(way: str, case: Case, module: Any) -> Callable[..., Any]:
    if way == "convert":
        return np2fx.convert(module.node)
    return np2fx.trace(module.node, *copy.deepcopy(arguments(case.inputs, module)))


def _numpy_answer(case: Case, expression: str) -> Any:
    """(result, arguments afterwards) of the untouched function in a module of its own, or the exception it raises."""
    module = case.module()
    args = arguments(expression, module)
    try:
        result = module.node(*args)
    except Exception as error:
        return error
    return result, list(args)


def _refused(error: Any) -> tuple[str, str]:
    names = sorted({finding.name for finding in error.findings})
    return ("refused", ",".join(names)) if names else ("crash", "refused without a finding: " + _line(error))


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:150]


def judge_all(jobs: Iterable[tuple[str, Case]], processes: int = 1) -> list[Verdict]:
    """All verdicts, in the order of `jobs`."""
    jobs = list(jobs)
    if processes == 1:
        return [judge(*job) for job in jobs]
    with multiprocessing.get_context("spawn").Pool(processes, _one_thread) as pool:
        return pool.starmap(judge, jobs, chunksize=20)


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def refusals(verdicts: Iterable[Verdict]) -> dict[str, dict[str, str]]:
    """What refused.json holds: for each way the ids refused and the names of their findings."""
    kept: dict[str, dict[str, str]] = {way: {} for way in WAYS}
    for v in sorted(verdicts, key=lambda v: v.id):
        if v.verdict == "refused":
            kept[v.way][v.id] = v.why
    return kept


def summary(verdicts: Iterable[Verdict]) -> str:
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for v in verdicts:
        counts[v.way][v.verdict] += 1
    kinds = ("right", "refused", "wrong", "crash")
    return "\n".join(f"{way}: " + " ".join(f"{k} {c[k]}" for k in kinds) + f" of {c.total()}" for way, c in counts.items())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.score", description="score np2fx on the conformance cases")
    parser.add_argument("--way", choices=WAYS, help="only one of the two ways")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose id contains TEXT")
    parser.add_argument("--area", help="only cases of this area")
    parser.add_argument("--list", default="wrong,crash", metavar="VERDICTS", help="verdicts to list case by case (default: %(default)s)")
    parser.add_argument("--update", action="store_true", help="write refused.json anew from this run")
    parser.add_argument("-j", "--processes", type=int, default=2)
    options = parser.parse_args(argv)
    if options.update and (options.way or options.only or options.area):
        parser.error("--update needs a run over all cases and both ways")
    cases = [c for c in load() if options.only in c.id and options.area in (None, c.area)]
    ways = [options.way] if options.way else WAYS
    verdicts = judge_all([(way, case) for way in ways for case in cases], options.processes)
    for v in verdicts:
        if v.verdict in options.list.split(","):
            print(f"{v.way:8}{v.verdict:8} {v.id:40} {v.why}")
    print(summary(verdicts))
    if options.update:
        REFUSED.write_text(json.dumps(refusals(verdicts), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return int(any(v.failed for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
