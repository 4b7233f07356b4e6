"""What `np2fx check` and `np2fx rewrite` cost as whole processes, beside `python -c "import libcst"`: what a libcst tool starts with.

One small clean file, one with findings, one that is rewritten; the commands take turns, CPU time of the child processes is what
counts. Medians and their ratio to importing libcst are printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLEAN = '''import numpy as np
import np2fx


@np2fx.node(x="float32[n]")
def normalise(x):
    """Zero mean, unit deviation."""
    return (x - np.mean(x)) / (np.std(x) + 1e-6)
'''
FINDINGS = CLEAN.replace("np.mean(x)", "x[0]").replace("np.std(x)", "np.random.rand()")


def cpu_of(command: list[str], folder: str) -> float:
    """CPU seconds of one run of a command, its start included."""
    before = os.times()
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # an installed package is compiled
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command}: {done.stderr}")
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def main() -> int:
    """Print a row for each command: median CPU and wall milliseconds, and the ratio to importing libcst."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("clean.py", CLEAN), ("findings.py", FINDINGS)):
            Path(folder, name).write_text(text, encoding="utf-8")
        np2fx = [sys.executable, "-m", "np2fx"]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import libcst": [sys.executable, "-c", "import libcst"],
            "np2fx check, clean file": [*np2fx, "check", "clean.py"],
            "np2fx check, findings": [*np2fx, "check", "findings.py"],
            "np2fx rewrite --check": [*np2fx, "rewrite", "--check", "clean.py"],
        }
        cpu: dict[str, list[float]] = {name: [] for name in commands}
        wall: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(options.rounds + 1):
            for name, command in commands.items():
                start = time.perf_counter()
                used = cpu_of(command, folder)
                if turn:  # the first turn fills caches
                    cpu[name].append(used)
                    wall[name].append(time.perf_counter() - start)
    peer = statistics.median(cpu["import libcst"])
    print(f"{'command':<26}{'CPU ms':>8}{'wall ms':>9}{'x libcst':>10}")
    for name in commands:
        median = statistics.median(cpu[name])
        print(f"{name:<26}{median * 1e3:>8.0f}{statistics.median(wall[name]) * 1e3:>9.0f}{median / peer:>10.2f}")
    return 0
