"""Writes programs, judges them, makes what fails small and prints it, and counts."""

from __future__ import annotations

import collections
import random
import re
import time
from dataclasses import dataclass, field

from .judging import OTHER_WAYS, SECONDS, WAYS, TooLong, Verdict, judge, limited, reference, verify
from .program import Program, write
from .shrinking import shrink


@dataclass
class Totals:
    """What came of an attack, by way and verdict."""

    programs: int = 0
    seconds: float = 0.0
    counts: dict[str, collections.Counter[str]] = field(default_factory=lambda: collections.defaultdict(collections.Counter))
    refusals: dict[str, collections.Counter[str]] = field(default_factory=lambda: collections.defaultdict(collections.Counter))
    failures: dict[str, tuple[str, Verdict, Program, int]] = field(default_factory=dict)
    repeated: collections.Counter[str] = field(default_factory=collections.Counter)
    constructs: collections.Counter[str] = field(default_factory=collections.Counter)

    @property
    def refused_share(self) -> float:
        """Refusals over (programs x ways), without np2fx.verify."""
        judged = sum(sum(n for kind, n in self.counts[way].items() if kind != "discarded") for way in WAYS)
        return sum(self.counts[way]["refused"] for way in WAYS) / max(judged, 1)

    def text(self) -> str:
        rate = self.programs / max(self.seconds, 1e-9)
        lines = [f"{self.programs} programs in {self.seconds:.0f} s ({rate:.1f}/s), {len(self.constructs)} constructs"]
        for way, counts in self.counts.items():
            lines.append(f"{way}: " + ", ".join(f"{kind} {counts[kind]}" for kind in ("right", "refused", "wrong", "crash", "discarded")))
            lines += [f"    {n} {why}" for why, n in self.refusals[way].most_common(12)]
        lines.append(f"refused: {100 * self.refused_share:.1f} % of programs x ways")
        if self.failures:
            lines.append(f"{len(self.failures)} kinds of failure")
            lines += [
                f"    {self.repeated[key] + 1} x seed {seed} {way} {v.kind}: {v.why[:110]}"
                for key, (way, v, _, seed) in self.failures.items()
            ]
        return "\n".join(lines)


def attack(
    seed: int, seconds: float, programs: int, verify_every: int, leaving: float, shrinking: bool = True, show_refused: bool = False
) -> Totals:
    """Attack for so many seconds or programs. Prints each new kind of failure, shrunk."""
    totals = Totals()
    start = time.perf_counter()
    shown: set[str] = set()
    number = 0
    while totals.programs < programs and time.perf_counter() - start < seconds:
        number += 1
        own = seed * 1_000_003 + number
        try:
            with limited(SECONDS):
                program = write(random.Random(own), leaving)
                extra = {"verify": verify(program)} if program and verify_every and number % verify_every == 0 else {}
        except TooLong:
            continue
        if program is None:
            continue
        verdicts = {**judge(program, (*WAYS, OTHER_WAYS[number % len(OTHER_WAYS)])), **extra}
        totals.programs += 1
        totals.constructs.update(program.used)
        for way, verdict in verdicts.items():
            totals.counts[way][verdict.kind] += 1
            if verdict.kind == "refused":
                kind = _generic(verdict.why)
                totals.refusals[way][kind] += 1
                if show_refused and (way, kind) not in shown:
                    shown.add((way, kind))
                    print(_told(way, verdict, program, own), flush=True)
            if verdict.bad:
                _failed(totals, way, verdict, program, own, shrinking)
        totals.seconds = time.perf_counter() - start
    return totals


def _failed(totals: Totals, way: str, verdict: Verdict, program: Program, seed: int, shrinking: bool) -> None:
    """Keep and print a failure, unless one like it is known."""
    key = f"{way} {verdict.kind} {_generic(verdict.why)}"
    if key in totals.failures:
        totals.repeated[key] += 1
        if totals.repeated[key] > 3:
            return
        key += f" {totals.repeated[key]}"
    if shrinking and way in (*WAYS, *OTHER_WAYS):
        program, verdict = smallest(program, way, verdict)
    totals.failures[key] = (way, verdict, program, seed)
    print(_told(way, verdict, program, seed), flush=True)


def smallest(program: Program, way: str, verdict: Verdict) -> tuple[Program, Verdict]:
    """The program made small, failing still in the same kind of way where NumPy still runs."""
    raises = reference(program.module(), program.sample).error is not None

    def fails(candidate: Program) -> bool:
        found = judge(candidate, (way,))[way]
        return (
            found.kind == verdict.kind
            and (_generic(found.why) == _generic(verdict.why))
            and (raises or reference(candidate.module(), candidate.sample).error is None)
        )

    made = shrink(program, fails)
    return made, judge(made, (way,))[way]


def _generic(why: str) -> str:
    """A message without its numbers and names, to know the like of it by."""
    return re.sub(r"[-+]?\b[\d.]+(e[-+]?\d+)?\b|\bv\d+\b|\b(nan|inf)\b|result(\[\w+\])*", "#", why.split(", NumPy gives")[0])[:70]


def _told(way: str, verdict: Verdict, program: Program, seed: int) -> str:
    return f"\n# {'-' * 20} {way}: {verdict.kind}: {verdict.why} (program seed {seed})\n{program.script}"
