"""What tracing costs per recorded operation, for chains of 10 to 5000, beside leapp where it is installed.

The two take turns on the same chain; medians of several rounds and their ratio are printed. "record" is the time inside the function
while it is traced, taken by the function itself, for both. "whole" is all of np2fx's `trace`: the plain run, the recording, the
graph module and its comparison with NumPy. All times are CPU time, which a busy machine disturbs least.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import np2fx
import numpy as np
import torch

LENGTHS = (10, 100, 1000, 5000)
SAMPLE = np.linspace(0, 1, 7, dtype=np.float32)


def used() -> float:
    """CPU seconds of this process. Not from `time`, whose clocks are wrong on purpose inside a trace."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def last(times: SimpleQueue[float]) -> float:
    """What was noted last. A queue, because `trace` refuses a function that appends to a list of its caller's."""
    while times.qsize() > 1:
        times.get()
    return times.get()


def chain(length: int, factor: Any, times: SimpleQueue[float]) -> Callable[[Any], Any]:
    """A function of `length` NumPy operations, one after the other, which notes how long it took."""

    def function(x: Any) -> Any:
        start = used()
        for _ in range(length // 2):
            x = np.sin(x * factor)
        times.put(used() - start)
        return x

    return function


def time_np2fx(length: int) -> tuple[float, float]:
    """CPU seconds of recording a chain, and of all of `trace`."""
    times: SimpleQueue[float] = SimpleQueue()
    function = chain(length, 1.01, times)
    start = used()
    module = np2fx.trace(function, SAMPLE)
    whole = used() - start
    recorded = sum(n.op == "call_function" and "numpy" in n.meta for n in module.graph.nodes)
    if recorded != length:
        raise AssertionError(f"{recorded} operations were recorded, not {length}")
    return last(times), whole


def time_leapp(leapp: Any, length: int) -> float:
    """CPU seconds of leapp's recording of the chain."""
    times: SimpleQueue[float] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        leapp.start("benchmark", save_path=folder)
        try:
            traced = leapp.annotate.input_tensors("node", {"x": SAMPLE})
            result = chain(length, 1.01, times)(traced["x"] if isinstance(traced, dict) else traced)
            leapp.annotate.output_tensors("node", {"y": result}, export_with="jit")
        finally:
            leapp.stop()
    return last(times)


def main() -> int:
    """Print a row for each length: microseconds per operation of both, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    sys.setrecursionlimit(100_000)  # leapp walks its graph recursively
    try:
        import leapp  # type: ignore[import-not-found]

        logging.disable(logging.WARNING)
    except ImportError:
        leapp = None
    time_np2fx(10)
    print(f"{'operations':>10}  {'np2fx record':>12}  {'np2fx whole':>12}  {'leapp record':>12}  {'ratio':>6}   (us per operation)")
    for length in options.lengths:
        ours: list[tuple[float, float]] = []
        theirs: list[float] = []
        for _ in range(options.rounds):
            ours.append(time_np2fx(length))
            if leapp is not None:
                theirs.append(time_leapp(leapp, length))
        record, whole = (statistics.median(column) / length * 1e6 for column in zip(*ours, strict=True))
        other = statistics.median(theirs) / length * 1e6 if theirs else None
        beside = f"{other:>12.1f}  {record / other:>6.2f}" if other is not None else f"{'-':>12}  {'-':>6}"
        print(f"{length:>10}  {record:>12.1f}  {whole:>12.1f}  {beside}")
    return 0
