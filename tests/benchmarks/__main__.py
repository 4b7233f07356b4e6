"""`python -m tests.benchmarks NAME [ARGUMENTS]`: run one benchmark, `tests/benchmarks/NAME.py`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main() -> int:
    """Run the benchmark that the first argument names; without one, say which there are."""
    names = sorted(p.stem for p in Path(__file__).parent.glob("[!_]*.py"))
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        print(f"usage: python -m tests.benchmarks NAME, where NAME is one of: {', '.join(names)}", file=sys.stderr)
        return 2
    name = sys.argv.pop(1)
    return importlib.import_module(f"tests.benchmarks.{name}").main() or 0


if __name__ == "__main__":
    sys.exit(main())
