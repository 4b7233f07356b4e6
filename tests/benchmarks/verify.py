"""How many inputs a CPU second the cross-check of `np2fx.verify` tries, and what a node of ten operations on small arrays costs besides.

usage: python -m tests.benchmarks verify [INPUTS]

For each of the forms alone, and for all. The arithmetic of the node on NumPy and torch is part of it.
"""

from __future__ import annotations

import argparse
import time

import np2fx
import numpy as np
import torch


@np2fx.node(x="float32[4, 6]", y="float32[6]")
def node(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ten operations."""
    d = (x - y) / 2.0
    e = np.exp(-np.abs(d))
    return np.sqrt(e / e.sum(axis=-1, keepdims=True)) * np.tanh(y) + 1.0


def seconds(inputs: int, ways: tuple[str, ...]) -> float:
    """CPU seconds of a verification."""
    start = time.process_time()
    report = np2fx.verify(node, max_examples=inputs, ways=ways)
    if not report.ok:
        raise AssertionError(str(report))
    return time.process_time() - start


def main() -> int:
    """Print a row for each form."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks verify", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("inputs", nargs="?", type=int, default=2000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    few = 50
    print(f"{'forms':24}{'inputs a CPU second':>20}{'seconds besides':>18}")
    for ways in (("trace",), ("convert",), ("rewrite",), ("trace", "convert", "rewrite")):
        seconds(few, ways)
        besides = min(seconds(few, ways) for _ in range(3))
        all_of_it = min(seconds(options.inputs + few, ways) for _ in range(2))
        print(f"{', '.join(ways):24}{options.inputs / (all_of_it - besides):20.0f}{besides:18.2f}", flush=True)
    return 0
