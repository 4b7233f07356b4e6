"""`np2fx.convert`: a NumPy function to a torch function, on the fly.

The function's source is rewritten once for each signature it is called with (the kinds, dtypes and ranks of its arguments
are then facts), compiled, and run in the function's own globals seen through `Lifted`: arrays are tensors there, and
functions of the user's are rewritten in their turn when they are called.
"""

from __future__ import annotations

from .function import Converted, convert

__all__ = ["Converted", "convert"]
