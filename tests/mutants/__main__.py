"""python -m tests.mutants [--graphs N] [--rules N]: plants faults, prints how many were caught; exit 1 under 99 %."""

from __future__ import annotations

import argparse
import sys

from .planting import Score, in_graphs, in_rules


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--graphs", type=int, default=10**6, help="at most so many faults in graphs")
    parser.add_argument("--rules", type=int, default=300, help="at most so many faults in rules")
    parser.add_argument("--seed", type=int, default=0, help="which faults in rules")
    options = parser.parse_args()
    graphs, ruled = Score(), Score()
    in_graphs(graphs, options.graphs)
    print("graphs:", graphs.text(), flush=True)
    in_rules(ruled, options.rules, options.seed)
    print("rules:", ruled.text())
    planted, missed = graphs.planted + ruled.planted, len(graphs.missed) + len(ruled.missed)
    score = 100 * (1 - missed / max(planted, 1))
    print(f"{planted} faults, mutation score {score:.2f} %")
    return 0 if score >= 99 else 1


if __name__ == "__main__":
    sys.exit(main())
