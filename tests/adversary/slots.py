"""What the slots of a template stand for.

{a} {A} {V} {M} {N}  an array or scalar; of rank >= 1; 1; 2; >= 2. A suffix narrows the kind: {A:f} floats, i integers, b bools,
                     c complex, r real (no complex), q floats and complex, n no bools, u what is writable and a variable
{=} {~}              an array of the shape of the first; one that broadcasts with it (with a kind: {~:r})
{ax} {axes} {axkw}   an axis of the first; an axis, a tuple of axes or None; nothing or `, axis=...`
{kd}                 nothing or `, keepdims=True`
{num} {int} {pos}    a Python number; a small int; a small positive int
{dt}                 a dtype
{idx} {sidx}         an index for the first; one that makes a scalar
{shape}              a shape of the size of the first
{n}                  the length of the first, or of its last axis, as text that computes it
{s}                  a NumPy scalar or 0-d array or a Python number
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .writer import Failed, writable

if TYPE_CHECKING:
    from .writer import Check, Writer

KINDS = {"": "biufc", "f": "f", "i": "iu", "b": "b", "c": "c", "r": "biuf", "q": "fc", "n": "iufc", "x": "iuf", "u": "biufc", "w": "iufc"}
RANKS = {"a": (0, 9), "A": (1, 9), "V": (1, 1), "M": (2, 2), "N": (2, 9), "T": (3, 9)}
DTYPES = (
    "np.float32",
    "np.float64",
    "np.int64",
    "np.int32",
    "bool",
    "float",
    "int",
    "np.uint8",
    "'float32'",
    "np.float16",
    "np.complex64",
    "np.int8",
)


def is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "biufc"


class Filling:
    """The slots of one template, from left to right."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.rng = writer, writer.rng
        self.first: Any = None

    def slot(self, spec: str) -> str:
        head, _, kind = spec.partition(":")
        if head in RANKS:
            return self._array(head, kind)
        if head == "=":
            return self._like(lambda v: np.shape(v) == np.shape(self.first), kind)
        if head == "~":
            return self._like(self._broadcasts, kind)
        return str(getattr(self, f"_{head}")())

    def _array(self, head: str, kind: str) -> str:
        low, high = RANKS[head]
        kinds = KINDS[kind]
        target = kind in ("u", "w")

        def check(v: Any) -> bool:
            if (
                not is_array(v)
                or not low <= np.ndim(v) <= high
                or np.asarray(v).dtype.kind not in kinds
                or (head != "a" and 0 in np.shape(v))
            ):
                return False
            return not target or writable(v)

        text = self.writer.variable(check) if target else self.writer.array(check)
        if self.first is None:
            self.first = self.writer.value(text)
        return text

    def _like(self, fits: Check, kind: str) -> str:
        return self.writer.array(lambda v: is_array(v) and np.asarray(v).dtype.kind in KINDS[kind] and fits(v))

    def _broadcasts(self, v: Any) -> bool:
        try:
            np.broadcast_shapes(np.shape(v), np.shape(self.first))
        except ValueError:
            return False
        return True

    @property
    def _rank(self) -> int:
        return np.ndim(self.first)

    def _ax(self) -> int:
        if self._rank == 0:
            raise Failed("no axis")
        return self.rng.randrange(-self._rank, self._rank)

    def _axes(self) -> str:
        if self._rank == 0 or self.rng.random() < 0.1:
            return "None"
        if self._rank > 1 and self.rng.random() < 0.2:
            return str(tuple(self.rng.sample(range(self._rank), 2)))
        return str(self._ax())

    def _axkw(self) -> str:
        return "" if self.rng.random() < 0.35 else f", axis={self._axes()}"

    def _ax1(self) -> str:
        """Nothing or one axis."""
        return "" if self._rank == 0 or self.rng.random() < 0.35 else f", axis={self._ax()}"

    def _kd(self) -> str:
        return ", keepdims=True" if self.rng.random() < 0.2 else ""

    def _num(self) -> str:
        return self.writer.number()

    def _int(self) -> int:
        return self.rng.randint(-3, 4)

    def _pos(self) -> int:
        return self.rng.randint(1, 4)

    def _dt(self) -> str:
        return self.rng.choice(DTYPES)

    def _dtkw(self) -> str:
        return f", dtype={self._dt()}" if self.rng.random() < 0.25 else ""

    def _fdt(self) -> str:
        return self.rng.choice(("np.float32", "np.float64", "float"))

    def _idx(self) -> str:
        from .indexing import index

        return index(self.writer, np.asarray(self.first))

    def _sidx(self) -> str:
        if self._rank == 0:
            return "()"
        return ", ".join(str(self.rng.randrange(-n, n)) for n in np.shape(self.first) if n)

    def _shape(self) -> str:
        size, dims = np.size(self.first), []
        rest = size
        for _ in range(self.rng.randint(0, 2)):
            divisors = [d for d in range(1, rest + 1) if rest % d == 0] or [1]
            dims.append(self.rng.choice(divisors))
            rest //= dims[-1]
        dims.append(-1 if self.rng.random() < 0.4 and size else rest)
        self.rng.shuffle(dims)
        return str(tuple(dims)) if len(dims) > 1 else str(dims[0])

    def _perm(self) -> str:
        return str(tuple(self.rng.sample(range(self._rank), self._rank)))

    def _s(self) -> str:
        if self.rng.random() < 0.3:
            return self.writer.number()
        return self.writer.array(lambda v: is_array(v) and np.ndim(v) == 0)

    def _dims(self) -> str:
        """A small shape, sometimes asked of the first array."""
        if self._rank and self.rng.random() < 0.4:
            return self.rng.choice((f"({self._text}.shape[0], 2)", f"{self._text}.shape", f"len({self._text})", f"{self._text}.size"))
        return self.rng.choice(("3", "(2, 3)", "(4,)", "2", "(1, 3)", "()"))

    @property
    def _text(self) -> str:
        return self.writer.variable(lambda v: v is self.first or ((is_array(v) and np.shape(v) == np.shape(self.first)) and np.ndim(v) > 0))

    def _order(self) -> str:
        return self.rng.choice(("", "", "", ", 'F'", ", order='F'", ", order='C'"))

    def _n(self) -> str:
        """The length of the first array, as text that computes it."""
        if self._rank == 0:
            raise Failed("no length")
        size = np.shape(self.first)[0]
        if self.rng.random() < 0.5:
            return str(size)
        try:
            name = self.writer.variable(lambda v: isinstance(v, np.ndarray) and v.ndim > 0 and v.shape[0] == size)
        except Failed:
            return str(size)
        return self.rng.choice((f"len({name})", f"{name}.shape[0]"))

    def _last(self) -> int:
        return int(np.shape(self.first)[-1])

    def _pm(self) -> int:
        return self.rng.choice((0, -1, 0))

    def _ed(self) -> int:
        return self.rng.randint(-self._rank - 1, self._rank)
