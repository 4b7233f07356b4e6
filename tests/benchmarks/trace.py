"""What tracing costs per recorded operation, for chains of 10 to 5000, beside leapp where it is installed.

The two take turns on the same chain; the medians of several rounds and their ratio are printed. np2fx's time is that of the whole of
`trace`: the plain run, the recording, the graph and its comparison with NumPy. leapp's is that of running the annotated function.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import np2fx

LENGTHS = (10, 100, 1000, 5000)


def chain(length: int) -> Callable[[Any], Any]:
    """A function of `length` NumPy operations, one after the other."""

    def function(x: Any) -> Any:
        for _ in range(length // 2):
            x = np.sin(x * np.float32(1.01))
        return x

    return function


def leapp_chain(length: int) -> Callable[[Any], Any]:
    """The same for leapp, which takes no NumPy scalars."""

    def function(x: Any) -> Any:
        for _ in range(length // 2):
            x = np.sin(x * 1.01)
        return x

    return function


def time_np2fx(length: int) -> float:
    """Seconds for one trace of a chain."""
    sample, function = np.linspace(0, 1, 7, dtype=np.float32), chain(length)
    start = time.perf_counter()
    module = np2fx.trace(function, sample)
    took = time.perf_counter() - start
    assert sum(n.op == "call_function" for n in module.graph.nodes) == length // 2 * 2
    return took


def time_leapp(leapp: Any, length: int) -> float:
    """Seconds for leapp to run the annotated chain."""
    sample, function = np.linspace(0, 1, 7, dtype=np.float32), leapp_chain(length)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        leapp.start("benchmark", save_path=folder)
        try:
            start = time.perf_counter()
            traced = leapp.annotate.input_tensors("node", {"x": sample})
            result = function(traced["x"] if isinstance(traced, dict) else traced)
            leapp.annotate.output_tensors("node", {"y": result}, export_with="jit")
            return time.perf_counter() - start
        finally:
            leapp.stop()


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
    print(f"{'operations':>10}  {'np2fx us/op':>12}  {'leapp us/op':>12}  {'ratio':>6}")
    for length in options.lengths:
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(time_np2fx(length))
            if leapp is not None:
                theirs.append(time_leapp(leapp, length))
        a = statistics.median(ours) / length * 1e6
        b = statistics.median(theirs) / length * 1e6 if theirs else None
        print(f"{length:>10}  {a:>12.1f}  {'-' if b is None else f'{b:.1f}':>12}  {'-' if b is None else f'{a / b:.2f}':>6}")
    return 0
