"""A function with an `assert`: not in a module of tests, where pytest writes assertions anew."""

from __future__ import annotations


def asserted(x):
    n = x.sum()
    assert n > 0, f"sum {n}"
    return x * n
