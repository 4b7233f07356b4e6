"""`a.flat`: the elements of an array, one after the other."""

from __future__ import annotations

from operator import setitem
from typing import Any

import numpy

from ..semantics.indexing import FlatView
from .memory import as_key, is_host
from .passing import Call, by_numpy, lifted, lowered


class flatiter:  # noqa: N801 - NumPy's name
    """NumPy's `numpy.flatiter` over an array on a tensor.

    view  the same over the tensor"""

    __slots__ = ("base", "view")
    __hash__ = None  # type: ignore[assignment]
    __reversed__ = None  # Python would take the positions backwards

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What NumPy's own is an instance of, for those who ask."""
        return numpy.flatiter

    def __init__(self, view: FlatView, base: Any = None) -> None:
        self.view, self.base = view, lifted(view.base) if base is None else base

    def __len__(self) -> int:
        return len(self.view)

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        return lifted(next(self.view))

    def __getitem__(self, key: Any) -> Any:
        return lifted(self.view[lowered(as_key(key))])

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_host(self.base._tensor):  # NumPy reads what it has written where the values are the array's own
            by_numpy(setitem, (self, key, value), {})
            self.view.restart()
            return
        call = Call()
        self.view[call.lower(key)] = call.lower(value)
        self.base._keep(self.view.base)

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Cannot delete iterator elements")

    @property
    def index(self) -> int:
        """The number of the element that comes next."""
        return self.view.index

    @property
    def coords(self) -> tuple[int, ...]:
        """The position of the element that comes next."""
        return self.view.coords

    def copy(self) -> Any:
        """All elements as a new array."""
        return lifted(self.view.copy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        held = self.base._numpy().flat.__array__()
        return held if dtype is None and copy is None else numpy.array(held, dtype=dtype, copy=copy)

    def __eq__(self, other: Any) -> Any:
        return lifted(self.view == lowered(other))

    def __ne__(self, other: Any) -> Any:
        return lifted(self.view != lowered(other))

    def __lt__(self, other: Any) -> Any:
        return lifted(self.view < lowered(other))

    def __le__(self, other: Any) -> Any:
        return lifted(self.view <= lowered(other))

    def __gt__(self, other: Any) -> Any:
        return lifted(self.view > lowered(other))

    def __ge__(self, other: Any) -> Any:
        return lifted(self.view >= lowered(other))
