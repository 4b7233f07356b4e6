"""python -m tests.rules [--examples N] [--seed S] [--shard I/N] [NAME ...]: the long run, every rule against NumPy on N random inputs."""

from __future__ import annotations

import argparse
import sys
import time

from np2fx.rules import load
from np2fx.testing.checking import RuleError, check_many


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.rules", description=__doc__)
    parser.add_argument("--examples", type=int, default=2000, help="inputs a rule, shared by its examples (default: 2000)")
    parser.add_argument("--seed", type=int, default=None, help="the same seed gives the same inputs (default: the time)")
    parser.add_argument("--shard", default="1/1", help="I/N: every N-th rule, from the I-th on (default: 1/1)")
    parser.add_argument("names", nargs="*", help="only these rules, by NumPy name")
    options = parser.parse_args()
    seed = int(time.time()) * 1000 if options.seed is None else options.seed
    first, step = map(int, options.shard.split("/"))
    entries = list({id(rule): rule for rule in load()[0].values() if rule.name.startswith("numpy.") and rule.examples}.values())
    chosen = [rule for rule in entries if not options.names or rule.name in options.names][first - 1 :: step]
    print(f"seed {seed}, {len(chosen)} rules", flush=True)
    start, failures, tried = time.monotonic(), 0, 0
    for rule in chosen:
        each = -(-options.examples // len(rule.examples))
        for example in rule.examples:
            try:
                check_many(rule, example, each, seed)
            except RuleError as e:
                failures += 1
                print(f"{rule.name}: {e}", flush=True)
            tried += each
    print(f"{len(chosen)} rules, {tried} inputs, {failures} examples failed, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
