"""The libcst passes: what changes source text, one construct a file.

    command         the whole of it as a command of libcst's own tool
    dialects        what each dialect needs: torch and its constants, NumPy on torch and the fact that was missing
    write_specs     what `np2fx record` saw, as `@np2fx.node(...)` above the functions
"""

from __future__ import annotations

from typing import Any

DIALECTS = ("auto", "torch", "numpy")
"""What a rewritten function may be written in: torch where its facts decide and else NumPy on torch, or one of these alone."""


def __getattr__(name: str) -> Any:
    """`NumpyToTorch`, by which libcst's tool finds the command."""
    if name != "NumpyToTorch":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .command import NumpyToTorch

    return NumpyToTorch
