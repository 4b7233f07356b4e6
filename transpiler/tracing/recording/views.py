"""Views of arrays: where each comes from, so that it can be taken anew of its array's present value, and its array be made of its own.

A view is the result of a call on another array. The same call on what that array is now gives the view as it is now; and after a write
into the view the array is what it was, with the new elements where the call found them. Nothing in that hangs on sizes. Where a view's
origin is not known, its elements are found by their positions in memory (see storage), and the graph holds for these sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from ...semantics.indexing import on_bits
from ...semantics.views import sizes
from ..arrays.arguments import Arguments
from ..arrays.array import TracedNpArray
from ..calls import Call
from ..sizes.measuring import shape_unseen
from ..sizes.traced import TracedSize, plain
from ..table import Known
from ..table import method as known_method
from .recorder import LAYOUT, OWN

_SAME_ORDER = frozenset((
    "numpy.reshape", "numpy.ndarray.reshape", "numpy.ravel", "numpy.ndarray.ravel", "numpy.squeeze", "numpy.ndarray.squeeze",
    "numpy.expand_dims", "numpy.atleast_1d", "numpy.atleast_2d", "numpy.atleast_3d",
))  # fmt: skip
"""Calls that leave the elements in their order, as long as no other `order` is given."""

_AS_IT_LIES = ("A", "a", "K", "k")
"""Orders of elements that hang on how the array lies in memory, which another tensor in its place need not do."""

_OWN_INVERSE = frozenset((
    "numpy.ndarray.T", "numpy.ndarray.mT", "numpy.swapaxes", "numpy.ndarray.swapaxes", "numpy.matrix_transpose",
))  # fmt: skip

_PARTS = {"numpy.ndarray.real": 0, "numpy.real": 0, "numpy.ndarray.imag": 1, "numpy.imag": 1}
"""Parts of complex numbers."""


@dataclass(frozen=True)
class Origin:
    """The call that a view is the result of.

    parent  the array that it is a view of
    value   NumPy's array in it then: another one, and its shape has been set since
    known   the function
    again   the call on another tensor in the place of the parent's
    args    what the function got besides the parent
    kwargs  the same by name
    part    which of several results it is"""

    parent: TracedNpArray
    value: numpy.ndarray[Any, Any]
    known: Known
    again: Callable[[torch.Tensor], Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    part: int | None = None

    def taken(self, of: torch.Tensor) -> torch.Tensor:
        """The view of a tensor."""
        made = self.again(of)
        return made if self.part is None else made[self.part]  # type: ignore[no-any-return]


class Views(Arguments):
    """The part of a tracer that reads and writes through views."""

    def note_origin(self, made: Any, known: Known, real: Call, traced: list[Any], rule: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Remember that `made` is what the call gave, if it is a view of the first argument."""
        parent = real.args[0] if real.args else None
        if type(parent) is not TracedNpArray or parent._storage.base is not None or any(x is not parent for x in traced):
            return
        if any(isinstance(a, str) and a in _AS_IT_LIES for a in (*args[1:], *kwargs.values())):
            return

        def again(tensor: torch.Tensor) -> Any:
            return self.tensors_of(known, rule, (tensor, *args[1:]), kwargs)

        several = isinstance(made, (list, tuple))
        for part, view in enumerate(made if several else (made,)):
            if type(view) is TracedNpArray and view is not parent and view._storage is parent._storage and view._origin is None:
                view._origin = Origin(parent, parent._value, known, again, tuple(args[1:]), kwargs, part if several else None)

    def tensors_of(self, known: Known, rule: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a rule makes of torch's side of its arguments."""
        raise NotImplementedError

    def read(self, x: TracedNpArray) -> torch.Tensor:
        storage = x._storage
        if storage.base is None and storage.stale is None and x._value is not storage.owner and _is_known(x):
            storage.materialise()
            with self.inside():
                return x._origin.taken(self.tensor(x._origin.parent))
        self._pin_positions(x)
        return storage.read(x._value)  # type: ignore[no-any-return]

    def put(self, x: TracedNpArray, new: torch.Tensor) -> None:
        """Let `new`, in the shape and dtype of `x`, be its value. NumPy has written already."""
        storage = x._storage
        chain = _chain(x)
        if chain is None or storage.base is not None:
            self._pin_positions(x)
            storage.write(x._value, new)
            return
        for view in chain:
            new = self._parent_with(view, new)
        storage.replace(new)

    def _parent_with(self, view: TracedNpArray, new: torch.Tensor) -> torch.Tensor:
        """What the array is, of which a view has become `new`."""
        origin = view._origin
        old = self.tensor(origin.parent)
        current, self.recorder.current = self.recorder.current, origin.known.name
        try:
            if origin.known.name == "numpy.ndarray.__getitem__":
                rule = known_method("__setitem__").rule
                return rule.body(old, origin.args[0], new)  # type: ignore[no-any-return, union-attr]
            if origin.known.name in _PARTS and old.is_complex():
                parts = [torch.real(old), torch.imag(old)]
                parts[_PARTS[origin.known.name]] = new
                return torch.complex(*parts)
            if origin.known.name in _SAME_ORDER and origin.part is None and _keeps_order(origin):
                return torch.reshape(new, old.shape)
            if origin.known.name in _OWN_INVERSE:
                return origin.taken(new)
            places = torch.reshape(torch.arange(old.numel()), old.shape)
            places = torch.flatten(origin.taken(places))
            put = on_bits(lambda t, v: torch.scatter(torch.flatten(t), 0, places, torch.flatten(v)), old, new)
            return torch.reshape(put, old.shape)
        finally:
            self.recorder.current = current

    def resize(self, array: TracedNpArray, *shape: Any, refcheck: bool = True) -> None:
        """`x.resize(...)`: the array gets memory of its own, as NumPy allows it where no other array sees it; zeros are added."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        self.told.add(OWN)
        if array._storage.origin == "sample" or array._storage.base is not None or array._value.base is not None:
            self.fail("mutation", "x.resize() changes an argument or a view in place", "x = np.resize(x, shape), or pad or slice")
        array._storage.check_writable()
        tensor = None if self.is_constant(array) else self.tensor(array)
        wanted = plain(wanted)
        if tensor is not None:
            self.recorder.pin_all()
        new = numpy.zeros(wanted, array.dtype)
        count = min(new.size, array._value.size)
        new.reshape(-1)[:count] = array._value.reshape(-1)[:count]
        if tensor is not None:
            kept = torch.flatten(tensor)[:count]
            more = torch.zeros(new.size - count, dtype=tensor.dtype)
            tensor = torch.reshape(torch.cat([kept, more]) if new.size > count else kept, wanted)
        array._value, array._storage, array._tensor = new, self.new_storage(new, tensor, "fresh"), tensor
        array._version, array._origin = array._storage.version, None
        if tensor is not None:
            array._reset(new)
        else:
            numpy.ndarray.__setstate__(array, (1, new.shape, new.dtype, False, new.tobytes()))  # type: ignore[arg-type]

    def reshape_in_place(self, array: TracedNpArray, shape: Any) -> None:
        """`x.shape = ...`."""
        with self.inside():
            self.told.update((OWN, LAYOUT))
            view = array._value.view()
            view.shape = plain(shape)
            if array._storage.origin == "sample" and array._value is array._storage.owner and view.shape != array._value.shape:
                self.fail("mutation", "x.shape = ... changes the shape of the caller's array", "x = x.reshape(shape)")
            tensor = None if self.is_constant(array) else torch.reshape(self.tensor(array), sizes(shape))
            array._value, array._tensor, array._version, array._origin = view, tensor, array._storage.version, None
            array._reset(view)

    def _pin_positions(self, x: TracedNpArray) -> None:
        """The positions of a view in memory are constants of the graph, unless it is the whole memory."""
        storage = x._storage
        if storage.value is None or x._value is storage.owner:
            return
        node = self.recorder.node(storage.value)
        held = () if node is None else self.recorder.sizes_of(storage.value, shape_unseen(storage.value))
        if x._origin is not None or any(type(n) is TracedSize for n in held):
            self.recorder.pin_all()


def _is_known(x: TracedNpArray) -> bool:
    origin = x._origin
    return origin is not None and origin.parent._value is origin.value


def _chain(x: TracedNpArray) -> list[TracedNpArray] | None:
    """The views from `x` up to the array that is the whole memory; None where one of them is not known, or sees it as another dtype."""
    owner, chain = x._storage.owner, []
    while x._value is not owner:
        if not _is_known(x) or not (x._value.dtype == x._origin.parent._value.dtype or x._origin.known.name in _PARTS):
            return None
        chain.append(x)
        x = x._origin.parent
    return chain


def _keeps_order(origin: Origin) -> bool:
    is_ravel = origin.known.name.endswith("ravel")
    return not origin.kwargs and not (is_ravel and origin.args) and not any(isinstance(a, str) for a in origin.args)
