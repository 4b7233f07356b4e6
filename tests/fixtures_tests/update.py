"""Writes every `fixtures/rewrites/NAME.out.py` anew: `python -m tests.fixtures_tests.update`. Read the difference before you keep it."""

from __future__ import annotations

import np2fx

from .test_rewrites import FOLDER, NAMES


def main() -> None:
    for name in NAMES:
        before = FOLDER / f"{name}.in.py"
        new, findings = np2fx.rewrite_source(before.read_text(encoding="utf-8"), str(before))
        (FOLDER / f"{name}.out.py").write_text(new, encoding="utf-8")
        for finding in findings:
            print(f"{before.name}:{finding.line}: {finding.name}: {finding.message}")


if __name__ == "__main__":
    main()
