"""`np2fx.convert`: a NumPy function to a torch function, on the fly.

The function's source is rewritten once for each signature it is called with (the kinds, dtypes and ranks of its arguments are then facts).
Where these decide all of it, it is torch on plain tensors. Elsewhere it keeps its text and runs on NumPy's array on torch (`np2fx.arrays`),
in its own globals seen through `Lifted`: calls of NumPy are read from `np2fx.numpy`, and helpers of the user's are twins.
"""

from __future__ import annotations

from .function import Converted, convert

__all__ = ["Converted", "convert"]
