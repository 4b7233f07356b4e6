"""python -m tests.adversary [--minutes N] [--seed S] [--programs N] [--verify-every N]: attack, and print totals."""

from __future__ import annotations

import argparse
import sys
import time

from .attacking import attack


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--programs", type=int, default=10**9, help="stop after so many programs")
    parser.add_argument("--seed", type=int, default=None, help="the same seed writes the same programs (default: the time)")
    parser.add_argument("--verify-every", type=int, default=50, help="every how many programs np2fx.verify is tried too (0: never)")
    parser.add_argument("--leaving", type=float, default=0.05, help="the share of programs that may leave the graph (default: 0.05)")
    parser.add_argument("--no-shrink", action="store_true", help="print what fails as it was written")
    parser.add_argument("--refused", action="store_true", help="print one program for each kind of refusal")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    totals = attack(
        seed, options.minutes * 60, options.programs, options.verify_every, options.leaving, not options.no_shrink, options.refused
    )
    print(totals.text())
    return 1 if totals.failures else 0


if __name__ == "__main__":
    sys.exit(main())
