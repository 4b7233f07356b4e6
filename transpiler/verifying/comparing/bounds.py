"""Where torch raises and NumPy gives a value: a number of a graph, or beside a tensor, has bounds that Python's numbers do not have, and
what NumPy's build of LAPACK makes of NaN is its own.

These are limits that are documented, and no faults: nothing comes out wrong. A graph says so in the words of its assertions.
"""

from __future__ import annotations

from typing import Any

_FLOATS = "compute it in floats (float(v), np.floor, np.rint) or declare what the argument is in, as in \"float64[n] in [-1000, 1000]\""
_BOUNDS = {
    "beyond int64": ("an int of a graph has 64 bits, one of Python has no bounds", _FLOATS),
    "an int beyond 2**53 is compared with a float": ("a graph compares an int with a float as floats", _FLOATS),
    "NaN has no place in an order": (
        "Python's order of numbers with NaN among them hangs on where they stand, which a graph does not follow",
        "sort with np.sort, which puts NaN last, or declare what the argument is in, as in \"float64[n] in [-1, 1]\"",
    ),
    "the power of a negative number is complex": (
        "the kind of a number of a graph does not hang on values, and Python's power of a negative float is complex",
        "write complex(v) ** p where complex numbers are meant, or declare that the argument is not negative",
    ),
    "with values that are not finite": (
        "what comes of matrices with NaN or infinities hangs on the build of LAPACK",
        "put finite numbers where there are none, or declare what the argument is in, as in \"float64[n, n] in [-1, 1]\"",
    ),
    "the power of two ints has become": (
        "the kind of a number of a graph does not hang on values, and Python's power of two ints is an int or a float",
        "write float(v) ** p, or np.power of arrays",
    ),
    "another length than when it was traced": (
        "a window at a computed place has one length in a graph, and NumPy's is cut off at the end of the array",
        "keep the place within the array (np.clip(i, 0, len(x) - n)), or declare what the argument is in",
    ),
}
_TORCH = ("int too big to convert", "Overflow when unpacking long", "can't convert negative int to unsigned")
"""How torch says that it takes no Python int beyond int64."""
_BOUNDS_OF_TORCH = dict.fromkeys(_TORCH, ("torch takes no Python int beyond int64 beside a tensor", _FLOATS))


def bound_of(error: BaseException | None) -> tuple[str, str] | None:
    """The reason why torch raises where NumPy gives a value, and the way out, for an error of this kind; else None."""
    said = str(error) if isinstance(error, (RuntimeError, ArithmeticError, ValueError)) else ""
    return next((why for text, why in (_BOUNDS | _BOUNDS_OF_TORCH).items() if text in said), None)


AT_THE_BOUNDARY = "a rewritten function takes what it was rewritten for, and says so"


def refused_at_the_boundary(error: BaseException | None, fn: Any) -> tuple[str, str] | None:
    """The reason and the way out where it is the boundary of the rewritten `fn` itself that does not take what it was given."""
    name = getattr(getattr(fn, "__func__", fn), "__qualname__", "")
    if not isinstance(error, TypeError) or not str(error).startswith(f"{name} was rewritten for "):
        return None
    way_out = str(error).partition(": ")[2]
    return AT_THE_BOUNDARY, way_out or "declare what it takes"


def texts() -> tuple[str, ...]:
    """What the assertions of a graph say of its bounds."""
    return tuple(_BOUNDS)
