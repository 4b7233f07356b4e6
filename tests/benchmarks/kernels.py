"""How fast what np2fx makes runs: small NumPy kernels of many kinds beside the same in torch, written by hand. One thread.

usage: python -m tests.benchmarks kernels [small|large] [--only NAME]

Columns, in microseconds, medians: NumPy, torch by hand, `np2fx.convert`, the traced graph as it is called, a bare `GraphModule` of the same
graph, that one compiled by `torch.compile` with the eager backend, and leapp's graph where leapp is installed. Results are compared before
anything is timed. The last lines of a size are geometric means against torch by hand, and the kernel with the worst ratio.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import np2fx
import numpy as np
import torch

from tests.benchmarks import kernel_pairs

COLUMNS = ("numpy", "by hand", "convert", "graph", "bare", "compiled", "leapp")


def microseconds(timed: list[tuple[Callable[..., Any], tuple[Any, ...]]], budget: float = 0.2) -> list[float]:
    """The median time of a call of each, which take turns: what else the machine does meets all of them."""
    for function, args in timed:
        for _ in range(5):
            function(*args)
    start = time.perf_counter()
    for function, args in timed:
        function(*args)
    calls = max(5 if time.perf_counter() - start < 0.01 else 2, int(1e-3 / (time.perf_counter() - start)))
    took: list[list[float]] = [[] for _ in timed]
    end = time.perf_counter() + budget * len(timed)
    while time.perf_counter() < end:
        for (function, args), found in zip(timed, took, strict=True):
            start = time.perf_counter()
            for _ in range(calls):
                function(*args)
            found.append((time.perf_counter() - start) / calls)
    return [statistics.median(found) * 1e6 for found in took]


def leapp_graph(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """leapp's graph of a function; None where leapp is not installed, or has none."""
    try:
        from leapp.tracing import trace  # type: ignore[import-not-found]

        return trace(function, *args)  # type: ignore[no-any-return]
    except Exception:
        return None


def times(function: Callable[..., Any], by_hand: Callable[..., Any], args: tuple[Any, ...]) -> list[float | None]:
    """What a call takes in each of the columns. Raises AssertionError where the results differ."""
    tensors = tuple(torch.from_numpy(a.copy()) if isinstance(a, np.ndarray) else a for a in args)
    converted, graph = np2fx.convert(function), np2fx.trace(function, *args)
    bare = torch.fx.GraphModule(graph, graph.graph)
    want = by_hand(*(t.clone() if isinstance(t, torch.Tensor) else t for t in tensors))
    arrays = tuple(t for t in tensors if isinstance(t, torch.Tensor))
    for made, given in ((converted, tensors), (graph, tensors), (bare, arrays)):
        got = made(*(t.clone() if isinstance(t, torch.Tensor) else t for t in given))
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3, check_dtype=False)
    compiled = torch.compile(bare, backend="eager")
    timed = [(function, args), (by_hand, tensors), (converted, tensors), (graph, tensors), (bare, arrays), (compiled, arrays)]
    theirs = leapp_graph(function, args)
    found: list[float | None] = [*microseconds(timed if theirs is None else [*timed, (theirs, arrays)])]
    return found if theirs is not None else [*found, None]


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> int:
    """Time all kernels, print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks kernels", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sizes", nargs="*", choices=["small", "large", []], default=["small", "large"])
    parser.add_argument("--only", default="", help="kernels whose names hold this text")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    failed = 0
    for size in options.sizes:
        print(f"{size:6}{'kernel':16}" + "".join(f"{c:>11}" for c in COLUMNS))
        rows: list[tuple[str, list[float | None]]] = []
        for function, by_hand, args in kernel_pairs.cases(size == "large"):
            if options.only not in function.__name__:
                continue
            try:
                took = times(function, by_hand, args)
            except Exception as problem:
                failed += 1
                print(f"{size:6}{function.__name__:16} failed: {type(problem).__name__}: {str(problem)[:80]!r}")
                continue
            rows.append((function.__name__, took))
            print(f"{size:6}{function.__name__:16}" + "".join(f"{'-':>11}" if t is None else f"{t:11.1f}" for t in took), flush=True)
        for i, column in enumerate(COLUMNS) if rows else ():
            ratios = {name: took[i] / took[1] for name, took in rows if took[i] is not None and took[1]}  # type: ignore[operator]
            if ratios and i != 1:
                worst = max(ratios, key=ratios.__getitem__)
                middle = statistics.median(ratios.values())
                print(f"{size:6}{column:9} x torch by hand: geometric mean {mean([*ratios.values()]):.2f}, median {middle:.2f}, "
                      f"worst {ratios[worst]:.2f} ({worst})")  # fmt: skip
    return 1 if failed else 0
