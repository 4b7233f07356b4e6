"""python -m tests.rules [--examples N] [--seed S] [--shard I/N] [NAME ...]: the long run, every rule against NumPy on N random inputs.

    python -m tests.rules --arguments [--shard I/N] [NAME ...]     # instead, wrong arguments for every parameter
"""

from __future__ import annotations

import argparse
import sys
import time

from np2fx.rules import load
from np2fx.semantics.table import Rule
from np2fx.testing.checking import RuleError, check_many

from .arguments import fault, odd_calls


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.rules", description=__doc__)
    parser.add_argument("--examples", type=int, default=2000, help="inputs a rule, shared by its examples (default: 2000)")
    parser.add_argument("--seed", type=int, default=None, help="the same seed gives the same inputs (default: the time)")
    parser.add_argument("--shard", default="1/1", help="I/N: every N-th rule, from the I-th on (default: 1/1)")
    parser.add_argument("--arguments", action="store_true", help="hand each parameter values that it is not meant for")
    parser.add_argument("names", nargs="*", help="only these rules, by NumPy name")
    options = parser.parse_args()
    seed = int(time.time()) * 1000 if options.seed is None else options.seed
    first, step = map(int, options.shard.split("/"))
    entries = list({id(rule): rule for rule in load()[0].values() if rule.name.startswith("numpy.") and rule.examples}.values())
    chosen = [rule for rule in entries if not options.names or rule.name in options.names][first - 1 :: step]
    if options.arguments:
        return _wrong_arguments(chosen)
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


def _wrong_arguments(chosen: list[Rule]) -> int:
    failures = tried = 0
    for rule in chosen:
        for call, _, _ in odd_calls(rule):
            tried += 1
            if (why := fault(call)) is not None:
                failures += 1
                print(f"{call}: {why}", flush=True)
    print(f"{len(chosen)} rules, {tried} calls, {failures} failed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
