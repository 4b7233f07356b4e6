"""Memory: which traced arrays are views of each other, and how a write through one is seen through all.

The NumPy values of a trace are real arrays, so what shares memory with what is read off them. A `Storage` stands for one piece
of memory: the NumPy array that owns it and the torch tensor that holds its present value, in the owner's shape. A write
makes a new tensor and a new version; a view with an older version is read anew from the storage, by constant positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import torch
from numpy.lib.stride_tricks import as_strided

from ...semantics.arrays import as_tensor, cast
from ...semantics.dtypes import WIDER
from ...semantics.indexing import on_bits
from ..errors import error


def owner_of(x: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The array whose memory `x` is a view of; itself if it owns its memory.

    `as_strided` (and what NumPy makes by it, such as `sliding_window_view`) puts an object of its own in between."""
    base: Any = x.base
    while base is not None:
        if isinstance(base, numpy.ndarray):
            x = base
        elif not hasattr(base, "__array_interface__"):
            break
        base = getattr(base, "base", None)
    return x


class Storage:
    """One piece of memory.

    owner    the NumPy array that has it; its contents are always NumPy's present values
    value    the torch tensor of its present contents, shaped like `owner`; None while it is a constant
    origin   "fresh" (made during the trace), "sample" (an argument) or "outside" (was there before the trace)
    lent     True once torch shares the memory (`from_numpy`), so that a write would have to be seen there
    written  True once a traced value was written into it
    watch    called before a write
    looped   the same, once it hangs on values which variables share it, as a loop has bound one of them again or not
    stale    raises where the contents are read: something was written that may have been here
    base     for a view at a position that depends on values (`x[i]`): the array it came from, that one's version, the key"""

    __slots__ = ("_places", "base", "lent", "looped", "node", "origin", "owner", "shells", "stale", "value", "version", "watch", "written")

    def __init__(self, owner: numpy.ndarray[Any, Any], value: torch.Tensor | None, origin: str) -> None:
        self.owner, self.value, self.origin = owner, value, origin
        self.version = 0
        self.lent = self.written = False
        self.watch: Callable[[Storage], None] | None = None
        self.looped: Callable[[Storage], None] | None = None
        self.stale: Callable[[], None] | None = None
        self.base: tuple[Any, int, Any] | None = None
        self.shells: list[Any] = []
        self.node: Any = None
        self._places: numpy.ndarray[Any, Any] | None = None

    writes = 0
    """How often any memory was written to."""

    def check_writable(self) -> None:
        """Raise TraceError where a write could not be said in the graph."""
        Storage.writes += 1
        if self.origin == "outside":
            raise error(
                "side-effect",
                "the function writes into an array that existed before it was called",
                "pass the array in and return its new value, or copy it first",
            )
        if self.lent:
            raise error(
                "aliasing",
                "a write into an array that shares its memory with a torch tensor",
                "write before the conversion, or convert a copy: torch.from_numpy(x.copy())",
            )
        if self.looped is not None:
            self.looped(self)
        if self.watch is not None:
            self.watch(self)

    def materialise(self) -> torch.Tensor:
        """The storage's value as a tensor, also while it is a constant. From here on it is no constant."""
        if self.stale is not None:
            self.stale()
        if self.value is None:
            self.value = as_tensor(self.owner)
            for shell in self.shells:
                array = shell()
                if array is not None:
                    array._poison()
            self.shells = []
        return self.value

    def read(self, view: numpy.ndarray[Any, Any]) -> torch.Tensor:
        """The present value of a view."""
        value = self.materialise()
        whole = self._whole(view)
        if whole is not None:
            return value if whole == tuple(value.shape) else torch.reshape(value, whole)
        lanes = self._lanes(value, view)
        places = torch.from_numpy(numpy.array(self._positions(view), order="C"))
        return on_bits(lambda t: torch.take(t, places), lanes) if lanes.dtype in WIDER else torch.take(lanes, places)

    def write(self, view: numpy.ndarray[Any, Any], new: torch.Tensor) -> None:
        """Let `new`, in the shape and dtype of the view, be its value. NumPy has written already."""
        if _overlaps(view):
            raise error("aliasing", "a write into an array that has several elements in one place of memory", "write into a copy")
        value = self.materialise()
        self.written = True
        self.version += 1
        if self._whole(view) is not None:
            self.value = new if new.shape == value.shape else torch.reshape(new, tuple(value.shape))
            return
        lanes = self._lanes(value, view)
        places = torch.from_numpy(numpy.array(self._positions(view)).reshape(-1))
        new = cast(new, lanes.dtype)
        flat = on_bits(_scattered(places), lanes, new) if lanes.dtype in WIDER else _scattered(places)(lanes, new)
        back = torch.reshape(flat, tuple(lanes.shape))
        self.value = torch.view_as_complex(back) if lanes is not value else back

    def replace(self, new: torch.Tensor) -> None:
        """Let `new`, in the shape and dtype of the owner, be the value of all of it. NumPy has written already."""
        self.materialise()
        self.written = True
        self.version += 1
        self.value = new

    def covers(self, view: numpy.ndarray[Any, Any]) -> bool:
        """True where the view is the whole memory as it lies."""
        return self._whole(view) == self.owner.shape

    def _whole(self, view: numpy.ndarray[Any, Any]) -> tuple[int, ...] | None:
        """The view's shape where it is all of the memory in C order (or exactly as the owner has it)."""
        owner = self.owner
        if view.size != owner.size or _native(view.dtype) != _native(owner.dtype) or _start(view) != _start(owner):
            return None
        same = view.shape == owner.shape and view.strides == owner.strides
        return view.shape if same or (view.flags.c_contiguous and owner.flags.c_contiguous) else None

    def _lanes(self, value: torch.Tensor, view: numpy.ndarray[Any, Any]) -> torch.Tensor:
        """The value as numbers of the view's size: the parts of complex numbers for a view of them."""
        if view.dtype.itemsize == self.owner.dtype.itemsize:
            return value if _native(view.dtype) == _native(self.owner.dtype) else self._refuse()
        if self.owner.dtype.kind == "c" and view.dtype.kind == "f" and view.dtype.itemsize * 2 == self.owner.dtype.itemsize:
            return torch.view_as_real(value)
        return self._refuse()

    def _refuse(self) -> Any:
        raise error(
            "aliasing",
            f"the memory of a {self.owner.dtype} array is written to and read as another dtype",
            "copy the view: x.view(dtype).copy()",
        )

    def _positions(self, view: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        """For each element of the view its flat C-order position in the storage's value (in numbers of the view's size)."""
        parts = self.owner.dtype.itemsize // view.dtype.itemsize
        places = self._laid_out()
        if parts > 1:
            places = (places[:, None] * parts + numpy.arange(parts)).reshape(-1)
        first = (_start(view) - _start(self.owner) - _below(self.owner)) // view.dtype.itemsize if view.size else 0
        steps = tuple(s // view.dtype.itemsize * 8 for s in view.strides)
        return as_strided(places[first:], view.shape, steps) if view.size else numpy.empty(view.shape, numpy.int64)

    def _laid_out(self) -> numpy.ndarray[Any, Any]:
        """The C-order number of each element, in the order in which they lie in memory."""
        if self._places is None:
            owner = self.owner
            low = -_below(owner) // owner.dtype.itemsize
            steps = tuple(s // owner.dtype.itemsize * 8 for s in owner.strides)
            above = sum(s * (n - 1) for s, n in zip(steps, owner.shape, strict=True) if s > 0) // 8
            memory = numpy.zeros(low + above + 1 if owner.size else 0, numpy.int64)  # also what lies between the elements of an argument
            if owner.size:
                as_strided(memory[low:], owner.shape, steps)[...] = numpy.arange(owner.size).reshape(owner.shape)
            self._places = memory
        return self._places


def _overlaps(view: numpy.ndarray[Any, Any]) -> bool:
    """Whether elements of a view may lie in one place (`as_strided`): where a step is shorter than what lies within it."""
    reach = view.itemsize
    if not view.size:
        return False  # its steps are of no meaning
    for step, count in sorted((abs(s), n) for s, n in zip(view.strides, view.shape, strict=True) if n > 1):
        if step < reach:
            return True
        reach += step * (count - 1)
    return False


def _scattered(places: torch.Tensor) -> Any:
    return lambda lanes, new: torch.scatter(torch.flatten(lanes), 0, places, torch.flatten(new))


def _start(x: numpy.ndarray[Any, Any]) -> int:
    """The address of the first element."""
    return x.__array_interface__["data"][0]


def _below(x: numpy.ndarray[Any, Any]) -> int:
    """How far the lowest address lies from that of the first element: zero or less."""
    return sum(s * (n - 1) for s, n in zip(x.strides, x.shape, strict=True) if s < 0 and x.size)


def _native(dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    return dtype.newbyteorder("=")
