"""Specs: what a node's argument is, said in a string.

    float32[7]                       a vector of seven
    float32[batch, 7]                a free size has a name; the same name is the same size everywhere in a node
    float32[_, 3]                    a free size that equals no other
    float32[..., 3]                  any number of dimensions before the last
    float32[]                        a 0-d array
    float32                          a float32 array of any rank
    float32[batch, 7] in [-1, 1]     values within bounds, both included
    float32[7] finite                no nan and no inf
    float, int, bool, complex, str   a Python value

Containers hold specs: `{"position": "float32[3]", "names": ["str"]}`. Anything that is not a string is a constant.
Plain Python without numpy: the static half reads specs too.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip
PYTHON_TYPES = ("bool", "int", "float", "complex", "str")
# The dtype that a Python type stands for in front of brackets: `float[3]` is `float64[3]`, as numpy.zeros(3, float) is.
_DEFAULT_DTYPE = {"int": "int64", "float": "float64", "complex": "complex128"}

_FORM = re.compile(r"\s*(?P<dtype>\w+)\s*(?:\[(?P<dims>[^\]]*)\])?\s*(?:in\s*\[(?P<low>[^,\]]+),(?P<high>[^\]]+)\]|(?P<finite>finite))?\s*")


class SpecError(ValueError):
    """A spec that cannot be read; the message says which and what would be right."""


@dataclass(frozen=True)
class TensorSpec:
    """An array argument.

    dtype      a NumPy dtype's name
    dims       sizes: numbers, names of free sizes, "_" for a size of its own, "..." for any number of dimensions;
               Ellipsis in place of the tuple where nothing is said of the shape
    low, high  bounds of the values, or None
    finite     whether nan and inf are excluded (they are where there are bounds)
    """

    dtype: str
    dims: Any = ...
    low: float | None = None
    high: float | None = None
    finite: bool = False

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None where it is free."""
        return None if self.dims is ... or "..." in self.dims else len(self.dims)

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The sizes with None for free ones; None where the rank is free."""
        return None if self.rank is None else tuple(size if isinstance(size, int) else None for size in self.dims)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the free sizes."""
        return () if self.dims is ... else tuple(d for d in self.dims if isinstance(d, str) and d not in ("_", "..."))

    def __str__(self) -> str:
        dims = "" if self.dims is ... else f"[{', '.join(map(str, self.dims))}]"
        bounds = f" in [{self.low:g}, {self.high:g}]" if self.low is not None else " finite" if self.finite else ""
        return self.dtype + dims + bounds


@dataclass(frozen=True)
class ScalarSpec:
    """A Python value of the type named `kind`: bool, int, float, complex or str."""

    kind: str
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return self.kind + (f" in [{self.low:g}, {self.high:g}]" if self.low is not None else "")


@dataclass(frozen=True)
class Constant:
    """An argument that is always this value."""

    value: Any


def parse(text: str) -> TensorSpec | ScalarSpec:
    """A spec string as a spec. Raises SpecError."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise SpecError(f"{text!r} is not a spec; specs look like 'float32[batch, 7]' or 'float32[7] in [-1, 1]'")
    dtype, dims = form["dtype"], form["dims"]
    low, high = _bounds(text, form["low"], form["high"])
    if dims is None and dtype in PYTHON_TYPES:
        return ScalarSpec(dtype, low, high)
    dtype = _DEFAULT_DTYPE.get(dtype, dtype)
    if dtype not in DTYPES:
        raise SpecError(f"{dtype!r} in {text!r} is not a dtype np2fx knows; it knows {', '.join(DTYPES)}")
    return TensorSpec(dtype, ... if dims is None else parse_dims(dims.split(","), text), low, high, form["finite"] is not None)


def parse_dims(parts: list[str], text: str) -> tuple[int | str, ...]:
    """Sizes as numbers and names. One "..." at most."""
    stripped = [part.strip() for part in parts]
    if stripped and not stripped[-1]:  # `float32[7,]` and `float32[]`
        stripped.pop()
    for part in stripped:
        if not (part.isdigit() or part.isidentifier() or part == "..."):
            raise SpecError(f"{part!r} in {text!r} is neither a size nor a name for one")
    if stripped.count("...") > 1:
        raise SpecError(f"{text!r} has '...' twice")
    return tuple(int(part) if part.isdigit() else part for part in stripped)


def _bounds(text: str, low: str | None, high: str | None) -> tuple[float | None, float | None]:
    if low is None or high is None:
        return None, None
    try:
        bounds = float(low), float(high)
    except ValueError:
        raise SpecError(f"the bounds in {text!r} are not numbers") from None
    if not all(map(math.isfinite, bounds)) or bounds[0] > bounds[1]:
        raise SpecError(f"the bounds in {text!r} are not finite numbers in order")
    return bounds


def read(value: Any) -> Any:
    """A spec of any form: strings are parsed, containers hold specs, specs stay, anything else is a Constant."""
    if isinstance(value, str):
        return parse(value)
    if isinstance(value, dict):
        return {key: read(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [read(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    return value if isinstance(value, (TensorSpec, ScalarSpec, Constant)) else Constant(value)
