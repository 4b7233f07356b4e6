"""Sizes over many calls: which of them never changed, and which were equal to each other in every call."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Sizes:
    """The sizes of all arrays of a call, in order, over the calls seen so far.

    first  those of the first call
    same   whether each was the same in every call
    group  a number for each: those of one number were equal in every call"""

    first: list[int] = field(default_factory=list)
    same: list[bool] = field(default_factory=list)
    group: list[int] = field(default_factory=list)
    calls: int = 0

    def see(self, sizes: list[int]) -> None:
        """Take in one more call."""
        if not self.calls:
            self.first, self.same, self.group = list(sizes), [True] * len(sizes), [0] * len(sizes)
        self.calls += 1
        numbers: dict[tuple[int, int], int] = {}
        self.group = [numbers.setdefault((g, n), len(numbers)) for g, n in zip(self.group, sizes, strict=True)]
        self.same = [s and n == m for s, n, m in zip(self.same, sizes, self.first, strict=True)]

    def merge(self, other: Sizes) -> None:
        """Take in the calls that another process saw."""
        if not self.calls:
            self.first, self.same, self.group, self.calls = other.first, other.same, other.group, other.calls
            return
        numbers: dict[tuple[int, int], int] = {}
        self.group = [numbers.setdefault(pair, len(numbers)) for pair in zip(self.group, other.group, strict=True)]
        both = zip(self.same, other.same, self.first, other.first, strict=True)
        self.same = [a and b and n == m for a, b, n, m in both]
        self.calls += other.calls

    def named(self) -> list[int | str]:
        """A number for each size that never changed, a name for the others: "n", "m", then "n3", "n4" ..."""
        names: dict[int, str] = {}
        found: list[int | str] = []
        for n, same, group in zip(self.first, self.same, self.group, strict=True):
            if not same and group not in names:
                names[group] = "nm"[len(names)] if len(names) < 2 else f"n{len(names) + 1}"
            found.append(n if same else names[group])
        return found
