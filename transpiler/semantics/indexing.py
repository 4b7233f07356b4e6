"""Index machinery: what `a[key]` selects, and the new value of `a` after `a[key] = value`; `a.flat`.

Reading: the basic part of a key (ints, slices, None, `...`) is a view. Index arrays and masks then select from that view.
Writing is said functionally: a view has a way back (`select` has `select_scatter`), so the new value of the array is made
from the new value of the view, and no tensor is written to.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy
import torch

from .arrays import (
    as_tensor,
    beside,
    bits,
    cast,
    common_shape,
    demand,
    demand_fit,
    fits,
    follow,
    holds_tensor,
    in_dtype,
    is_scalar,
    is_size,
    mirror,
    read_only,
    sharing,
    store,
    zero_d_array,
)
from .dtypes import WIDER, to_numpy
from .keys import Item, forward, is_full, parse
from .table import RULES, Refused


def selected(a: torch.Tensor, key: Any) -> torch.Tensor:
    """`a[key]`: a view for ints, slices, None and `...`; a copy for index arrays and masks; a scalar where all is picked."""
    items = parse(key, tuple(a.shape))
    if not any(item.advanced for item in items):
        view = _view(a, items)
        if view.ndim > 0:
            return torch.clone(view) if any(item.copies for item in items) else view
        return zero_d_array(view) if any(item.kind == "rest" for item in items) else torch.clone(view)
    basic = [part for item in items for part in _basic(item)]
    base = a if all(i.kind == "rest" or (i.kind == "slice" and is_full(i.value)) for i in basic) else _view(a, basic)
    picks = _picks(items)
    found = _select(base, picks)
    if found.ndim and picks.scalar and all(isinstance(index, torch.Tensor) and is_scalar(index) for index in picks.indices.values()):
        # NumPy gives a view for an integer scalar; torch cannot where its value is not to be read.
        put = functools.partial(_put, picks=picks)
        return follow(base, found, lambda base: _select(base, picks), lambda base, copy: on_bits(put, base, copy))
    return zero_d_array(found) if any(item.kind == "rest" for item in items) else found


def picked(a: torch.Tensor, index: Any, axis: int) -> torch.Tensor:
    """`numpy.take(a, index, axis)` for an `axis` >= 0: the index (int64 tensor or constant array) takes the place of the axis."""
    items = parse((*(slice(None),) * axis, index), tuple(a.shape))
    return _select(a, _picks(items)) if any(item.advanced for item in items) else torch.clone(_view(a, items))


def flat_positions(a: torch.Tensor, indices: Any) -> torch.Tensor:
    """The flat C-order positions (int64) of the elements that `a[indices]` selects, in the shape of `a[indices]`."""
    return selected(torch.arange(a.numel(), device=a.device).reshape(a.shape), indices)


def assigned(a: torch.Tensor, key: Any, value: Any) -> torch.Tensor:
    """The new value of `a` after `a[key] = value`."""
    items = parse(key, tuple(a.shape))
    if not any(item.advanced for item in items):
        demand_fit(value, a.dtype)
    if _is_one_mask(a, items) and isinstance(value, torch.Tensor) and value.ndim and sharing(a, value):
        raise Refused("values of the array itself under a mask: NumPy reads what it has written", "copy the values first", "aliasing")
    single = all(item.kind == "int" or (item.kind == "array" and item.value.ndim == 0) for item in items)
    incoming = incoming_value(a, whole_truth(a, value) if single else value)
    if incoming.ndim > 0 and single:
        if a.dtype != torch.bool or incoming.numel() != 1:
            raise ValueError("setting an array element with a sequence.")
        incoming = incoming.reshape(())  # a bool takes the truth of anything
    return on_bits(functools.partial(_assign, items=items, nested=isinstance(value, (list, tuple))), a, incoming)


def _is_one_mask(a: torch.Tensor, items: list[Item]) -> bool:
    """True for a mask of all dimensions as the whole key."""
    return bool(items) and items[0].mask_rank == a.ndim > 0 and len({item.mask_rank for item in items}) == 1


def whole_truth(a: torch.Tensor, value: Any) -> Any:
    """What a single element gets: of a list a bool takes the truth, which is whether there is anything in it."""
    return bool(value) if a.dtype == torch.bool and isinstance(value, (list, tuple)) else value


def incoming_value(a: torch.Tensor, value: Any) -> torch.Tensor:
    """`value` in the dtype of `a` and beside it. Constants are cast by NumPy, which knows what does not fit."""
    if is_size(value):
        value = as_tensor(in_dtype(value, a.dtype), a.dtype)
    if not isinstance(value, FlatView) and not holds_tensor(value):
        array = numpy.asarray(value)
        if array.dtype.kind in "biufc":
            ready = numpy.empty(array.shape, to_numpy(a.dtype))
            ready[...] = value
            value = ready
    return beside(a, as_tensor(value, a.dtype))  # of a list each scalar has to fit


def on_bits(move: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> torch.Tensor:
    """`move`, which only moves elements about; unsigned ones that torch has no kernels for as signed ones of that width."""
    dtype = tensors[0].dtype
    return move(*map(bits, tensors)).view(dtype) if dtype in WIDER else move(*tensors)


# Basic keys.


def _basic(item: Item) -> list[Item]:
    """The basic key of the view that an item selects from: a new axis for a 0-d bool, all of the axes of an index array or mask."""
    if item.kind == "flag":
        return [Item("new", None, 0)]
    return [Item("slice", slice(None), 1)] * item.dims if item.advanced else [item]


def _width(item: Item) -> int:
    """How many axes of that view the item stands for."""
    return {"int": 0, "flag": 1, "new": 1}.get(item.kind, item.dims)


def _view(a: torch.Tensor, items: list[Item]) -> torch.Tensor:
    """The view of a basic key. torch has no negative steps: those axes are flipped (see `semantics.arrays.mirror`)."""
    key: list[Any] = []
    flipped: dict[int, int] = {}
    axis = 0
    for item in items:
        value = item.value
        if item.kind == "slice" and value.step is not None and value.step < 0:
            value, flipped[axis] = forward(value)
        key.append(value)
        axis += _width(item)
    if not flipped:
        return _getitem(a, key)
    view = a if all(isinstance(k, slice) and is_full(k) for k in key) else _getitem(a, key)
    view = mirror(view, tuple(flipped))
    steps = [slice(None, None, flipped[d]) if flipped.get(d, 1) > 1 else slice(None) for d in range(max(flipped) + 1)]
    return view if all(map(is_full, steps)) else _getitem(view, steps)


def _getitem(a: torch.Tensor, key: list[Any]) -> torch.Tensor:
    """torch's `a[key]`, without the full slices at the end."""
    while len(key) > 1 and isinstance(key[-1], slice) and is_full(key[-1]) and not any(k is Ellipsis for k in key):
        key = key[:-1]
    return a[key[0]] if len(key) == 1 else a[tuple(key)]


def _through(a: torch.Tensor, items: list[Item], dim: int, write: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The new value of `a` where the view of a basic key (`items`, from `dim` on) becomes `write(view)`: the way there, and back."""
    if not items:
        return write(a)
    item, *rest = items
    if item.kind == "new":
        return torch.squeeze(_through(torch.unsqueeze(a, dim), rest, dim + 1, write), dim)
    if item.kind == "int":
        return torch.select_scatter(a, _through(torch.select(a, dim, item.value), rest, dim, write), dim, item.value)
    if item.kind == "rest" or is_full(item.value):
        return _through(a, rest, dim + item.dims, write)
    s = item.value
    if s.step is None or s.step > 0:
        part = _through(a[(*(slice(None),) * dim, s)], rest, dim + 1, write)
        return torch.slice_scatter(a, part, dim, s.start, s.stop, s.step or 1)
    straight, step = forward(s)
    steps = Item("slice", slice(None, None, step if step > 1 else None), 1)

    def turned(view: torch.Tensor) -> torch.Tensor:
        return torch.flip(_through(torch.flip(view, (dim,)), [steps, *rest], dim, write), (dim,))

    return _through(a, [Item("slice", straight, 1)], dim, turned)


# Index arrays and masks.


@dataclass(frozen=True)
class Picks:
    """The index arrays of a key on its basic view: along which dimensions, and where the axes they make belong.

    indices   dimension of the view -> int64 tensor, constant array, or a bool mask (which covers as many dimensions as its rank)
    position  where NumPy puts the axes of the broadcast indices: where they stand, or in front if they are apart"""

    indices: dict[int, Any]
    position: int

    @property
    def scalar(self) -> bool:
        """True where all indices are 0-d, so that they make no axis."""
        return all(index.ndim == 0 for index in self.indices.values())

    @property
    def dims(self) -> list[int]:
        """All dimensions of the view that are indexed."""
        return [dim + n for dim, index in self.indices.items() for n in range(index.ndim if is_mask(index) else 1)]

    @property
    def rank(self) -> int:
        """How many axes the broadcast indices make."""
        return max(1 if is_mask(index) else index.ndim for index in self.indices.values())


def _picks(items: list[Item]) -> Picks:
    """Ints count as index arrays beside one: `a[0, :, [1, 2]]` is "apart". An empty `...` separates too."""
    indices: dict[int, Any] = {}
    dim = 0
    for item in items:
        if item.advanced:
            indices[dim] = item.value
        dim += _width(item)
    places = [n for n, item in enumerate(items) if item.advanced or item.kind == "int"]
    apart = places != list(range(places[0], places[-1] + 1))
    return Picks(indices, 0 if apart else min(indices))


def is_counted(indices: Any) -> bool:
    """True for what NumPy takes for integers one by one, whatever its elements are, and not as an array with a dtype of its own."""
    own = hasattr(type(indices), "__index__") and not isinstance(indices, (torch.Tensor, numpy.ndarray))
    return own or isinstance(indices, (list, tuple, range, deque, float))


def is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype == torch.bool


def _on(device: torch.device, index: Any) -> torch.Tensor:
    """An index as a tensor of at least one axis: torch would read the value of a 0-d one."""
    tensor = index if isinstance(index, torch.Tensor) else torch.tensor(index, device=device)
    return tensor.reshape(1) if tensor.ndim == 0 else tensor


def _to_front(x: torch.Tensor, dims: Any) -> torch.Tensor:
    front = tuple(range(len(dims)))
    return x if tuple(dims) == front else torch.movedim(x, tuple(dims), front)


def _select(base: torch.Tensor, picks: Picks) -> torch.Tensor:
    """`base` at the index arrays, the new axes at `picks.position`."""
    dims, indices = picks.dims, picks.indices
    kept = [d for d in range(base.ndim) if d in indices or d not in dims]
    try:
        result = _getitem(base, [_on(base.device, indices[d]) if d in indices else slice(None) for d in kept])
    except RuntimeError as error:
        raise IndexError(str(error)) from None
    masks_alone = all(map(is_mask, indices.values()))  # the size of what a mask picks is not asked: it depends on values
    if not masks_alone and result.numel() == 0 and base.device.type != "meta":
        _demand_bounds(base, picks)
    torch_puts = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    if picks.scalar:
        return torch.squeeze(result, torch_puts)
    return result if torch_puts == picks.position else _to_front(result, range(torch_puts, torch_puts + picks.rank))


def _demand_bounds(base: torch.Tensor, picks: Picks) -> None:
    """Where nothing is selected torch does not look at the indices; NumPy does."""
    # With no positions NumPy does not look at arrays (and a mask may have none), but it does at scalars.
    empty = any(is_mask(index) or 0 in index.shape for index in picks.indices.values())
    for dim, index in picks.indices.items():
        if isinstance(index, torch.Tensor) and index.numel() and not (empty and index.ndim):
            size = base.shape[dim]
            demand(torch.logical_and(index >= -size, index < size), IndexError(f"index is out of bounds for axis {dim} with size {size}"))


def _assign(a: torch.Tensor, value: torch.Tensor, items: list[Item], nested: bool) -> torch.Tensor:
    """The new value of `a` after `a[items] = value`. `nested`: the value was a list."""

    def write(view: torch.Tensor) -> torch.Tensor:
        rank = view.ndim - sum(item.kind == "array" for item in items)
        if nested and value.ndim > rank and not any(item.advanced and item.value.ndim for item in items):
            raise ValueError(f"setting an array element with a sequence. The requested array would exceed {rank} dimensions")
        if not any(item.advanced for item in items):
            return filled(view, value, copy=view is a)
        if value.ndim > 1 and _is_one_mask(a, items):
            raise TypeError(f"boolean array indexing assignment requires a 0 or 1-dimensional input, input has {value.ndim} dimensions")
        return _put(view, value, _picks(items))

    return _through(a, [part for item in items for part in _basic(item)], 0, write)


def filled(view: torch.Tensor, value: torch.Tensor, copy: bool = True) -> torch.Tensor:
    """`value` in the shape of `view`, as assignment broadcasts it: leading axes of size 1 may be too many."""
    fitted = stripped(value, view.ndim)
    if not fits(fitted.shape, view.shape):
        raise ValueError(f"could not broadcast input array from shape {tuple(value.shape)} into shape {tuple(view.shape)}")
    spread = fitted if fitted.shape == view.shape else fitted.expand_as(view)
    return torch.clone(spread) if copy else spread


def stripped(value: torch.Tensor, rank: int) -> torch.Tensor:
    """`value` without the leading axes of size 1 that are too many for `rank`."""
    while value.ndim > rank and value.shape[0] == 1:
        value = torch.squeeze(value, 0)
    return value


def _put(base: torch.Tensor, value: torch.Tensor, picks: Picks) -> torch.Tensor:
    """`base` with `value` at the index arrays and masks. The indexed axes are moved to the front and back."""
    dims, indices = picks.dims, list(picks.indices.values())
    rank = 0 if picks.scalar else picks.rank
    rest = base.ndim - len(dims)
    after = rest - picks.position  # how many axes stand behind those of the indices
    value = stripped(value, rank + rest)
    _check_shape(base, value, picks)
    if base.numel() == 0:
        _demand_bounds(base, picks)
    lone_mask = is_mask(indices[0]) and len(indices) == 1
    if lone_mask and value.ndim <= after and dims[0] == picks.position:
        return torch.where(_over(indices[0], after), value, base)
    whole = _to_front(base, dims)
    missing = rank + rest - value.ndim
    rows = value[(*(None,) * missing, ...)] if missing else value  # laid out as NumPy lays out the selection
    rows = torch.unsqueeze(rows, 0) if rank == 0 else _to_front(rows, range(picks.position, picks.position + rank))
    try:
        if lone_mask or picks.scalar:
            new = torch.index_put(whole, tuple(_on(base.device, index) for index in indices), rows)
        elif all(isinstance(index, numpy.ndarray) for index in indices):
            new = _put_constant(whole, indices, rows)
        elif value.ndim <= after:
            new = _put_one(whole, _positions(base.device, indices), value)
        else:
            new = _put_last(whole, _positions(base.device, indices), rows)
    except RuntimeError as error:
        raise ValueError(f"shape mismatch: value array could not be broadcast to indexing result: {error}") from None
    return new if whole is base else torch.movedim(new, tuple(range(len(dims))), tuple(dims))


def _over(mask: torch.Tensor, rest: int) -> torch.Tensor:
    """A mask, to be broadcast over `rest` more axes."""
    return mask[(..., *(None,) * rest)] if rest else mask


def _check_shape(base: torch.Tensor, value: torch.Tensor, picks: Picks) -> None:
    """Where shapes tell: IndexError for indices that do not broadcast, ValueError for a value that does not fit the selection."""
    if any(map(is_mask, picks.indices.values())):
        return
    shapes = [tuple(index.shape) for index in picks.indices.values()]
    try:
        made = common_shape(*shapes)
    except ValueError:
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}") from None
    rest = tuple(base.shape[d] for d in range(base.ndim) if d not in picks.dims)
    result = (*rest[: picks.position], *made, *rest[picks.position :])
    if not fits(value.shape, result):
        shape = tuple(value.shape)
        raise ValueError(f"shape mismatch: value array of shape {shape} could not be broadcast to indexing result of shape {result}")


def _positions(device: torch.device, indices: list[Any]) -> tuple[torch.Tensor, ...]:
    """Masks as the positions where they are true; constants as tensors."""
    found = (torch.nonzero(index, as_tuple=True) if is_mask(index) else (_on(device, index),) for index in indices)
    return tuple(positions for each in found for positions in each)


def _put_constant(whole: torch.Tensor, indices: list[numpy.ndarray[Any, Any]], rows: torch.Tensor) -> torch.Tensor:
    """At constant positions: of those that are given twice only the last is written (torch leaves open which one would stay)."""
    same = numpy.broadcast_arrays(*indices)
    rank, count = same[0].ndim, same[0].size
    cells = numpy.ravel_multi_index(same, whole.shape[: len(same)], mode="wrap") if count else same[0]
    last = sorted({cell: n for n, cell in enumerate(cells.flat)}.values())
    if len(last) < count:
        indices = [index.reshape(-1)[last] for index in same]
        spread = rows.expand((*same[0].shape, *rows.shape[rank:])).flatten(0, rank - 1)
        rows = spread[torch.tensor(last, device=whole.device)]
    return torch.index_put(whole, tuple(torch.tensor(index, device=whole.device) for index in indices), rows)


def _put_one(whole: torch.Tensor, indices: tuple[torch.Tensor, ...], value: torch.Tensor) -> torch.Tensor:
    """One value for all positions: a position given twice is still one position (for the gradient too)."""
    rest = whole.ndim - len(indices)
    missed = torch.zeros_like(_cells(whole, rest), dtype=torch.bool)
    hit = torch.index_put(missed, indices, torch.ones((), dtype=torch.bool, device=whole.device))
    return torch.where(_over(hit, rest), value, whole)


def _put_last(whole: torch.Tensor, indices: tuple[torch.Tensor, ...], rows: torch.Tensor) -> torch.Tensor:
    """At positions known only when the graph runs: the last value wins, whatever order torch writes in.

    The cells of the indexed axes are numbered in C order; `writer` says of each cell the number of the last write to it, or -1.
    No size is mentioned, so that one graph serves them all."""
    if whole.numel() == 0:
        return torch.index_put(whole, indices, rows)
    rank = len(indices)
    rest = whole.ndim - rank
    cells = _cells(whole, rest)
    numbers = _numbers(cells.flatten())
    places = numbers.reshape(cells.shape)[indices] if rank > 1 else numbers[indices[0]]
    more = rows.ndim - places.ndim
    over = _over(places, more).expand((*(-1,) * places.ndim, *rows.shape[places.ndim :])) if more else places
    spread = rows.expand_as(over).flatten(0, places.ndim - 1)
    spread = spread.expand((-1, *whole.shape[rank:])) if rest else spread
    places = places.flatten()
    writer = torch.scatter_reduce(torch.full_like(numbers, -1), 0, places, _numbers(places), "amax")
    flat = whole.flatten(0, rank - 1)
    written = torch.cat([spread, flat[:1]])[writer]  # a row more than written: -1 is then always a row
    return torch.where(_over(torch.ge(writer, 0), rest), written, flat).reshape(whole.shape)


def _cells(whole: torch.Tensor, rest: int) -> torch.Tensor:
    """One element for each position of the indexed axes (where there are elements at all)."""
    if rest == 0:
        return whole
    first: Any = (..., *(0,) * rest)
    return whole[first] if whole.numel() else torch.zeros(whole.shape[:-rest], device=whole.device)


def _numbers(x: torch.Tensor) -> torch.Tensor:
    """0, 1, 2, ... of the length of `x`, without mentioning it."""
    return torch.cumsum(torch.ones_like(x, dtype=torch.int64), 0) - 1


def _comparison(ufunc: str) -> Callable[[Any, Any], Any]:
    """An operator of `x.flat`, elementwise on a copy."""

    def compare(flat: FlatView, other: Any) -> Any:
        return RULES[f"numpy.{ufunc}"].call(flat.copy(), other)

    return compare


_MOST_AXES = 32
"""More of them NumPy's own flat iterators do not have."""


class FlatView:
    """`a.flat`: the elements in C order. Reading copies; writing goes into `a`, and values that run out start again.

    index   the number of the element that comes next; whatever is picked or set by a key starts anew"""

    def __init__(self, base: torch.Tensor) -> None:
        self.base, self.index = zero_d_array(torch.clone(base) if is_scalar(base) else base), 0

    __hash__ = __reversed__ = None  # type: ignore[assignment]

    @staticmethod
    def of(a: torch.Tensor) -> FlatView:
        """`a.flat` itself. Raises NumPy's RuntimeError for more axes than its iterators have."""
        if a.ndim > _MOST_AXES:
            raise RuntimeError(f"this function only supports up to {_MOST_AXES} dimensions but the array has {a.ndim}.")
        return FlatView(a)

    def __len__(self) -> int:
        return self.base.numel()

    @property
    def coords(self) -> tuple[int, ...]:
        """The position of the element that comes next; behind the last one that of a row more."""
        found, rest = [], self.index
        for n in self.base.shape[:0:-1]:
            found.append(rest % max(n, 1))
            rest //= max(n, 1)
        return (rest, *found[::-1]) if self.base.ndim else ()

    def copy(self) -> torch.Tensor:
        return torch.clone(torch.flatten(self.base))

    def __np2fx_tensor__(self) -> torch.Tensor:
        """The elements as an array: NumPy's is the memory itself where that lies in order, else it is read-only."""
        return torch.reshape(self.base, (-1,)) if self.base.is_contiguous() else read_only(self.copy())

    def __iter__(self) -> Iterator[torch.Tensor]:
        return self

    def __next__(self) -> torch.Tensor:
        if self.index >= len(self):
            raise StopIteration
        found = torch.clone(self.base[self.coords])
        self.index += 1
        return found

    def __getitem__(self, key: Any) -> torch.Tensor:
        key = self._started(_flat_key(key, self.index))
        found = selected(self.base.reshape(-1), key)
        return found.clone() if found.ndim else found

    def __array__(self) -> torch.Tensor:
        return self.__np2fx_tensor__()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, tuple) and not key:
            raise IndexError("Assigning to a flat iterator with a 0-D index is not supported")
        self._started(key)
        itself = value is self.base and (key is Ellipsis or (isinstance(key, slice) and is_full(key)))
        read = value.base if isinstance(value, FlatView) else value
        if isinstance(read, torch.Tensor) and read.ndim and not itself and sharing(self.base, read):
            raise Refused("values of the array itself in its .flat: NumPy reads what it has written", "copy the values first", "aliasing")
        store(self.base, self.written(key, value), "unsafe")

    def restart(self) -> None:
        self.index = 0

    def _started(self, key: Any) -> Any:
        self.restart()
        return key

    __eq__, __ne__ = _comparison("equal"), _comparison("not_equal")
    __lt__, __le__ = _comparison("less"), _comparison("less_equal")
    __gt__, __ge__ = _comparison("greater"), _comparison("greater_equal")

    def written(self, key: Any, value: Any) -> torch.Tensor:
        """The new value of the base for `flat[key] = value`."""
        flat, key = self.base.reshape(-1), _flat_key(key, self.index)
        places = flat_positions(flat, key)
        value = whole_truth(self.base, value) if places.ndim == 0 else value
        incoming = incoming_value(self.base, value)
        values = incoming.reshape(-1)
        if places.ndim == 0:
            if values.numel() != 1 or (incoming.ndim and self.base.dtype != torch.bool):
                raise ValueError("Error setting single item of array.")
            try:
                demand_fit(value, self.base.dtype)
            except OverflowError:
                raise ValueError("Error setting single item of array.") from None
        if values.numel() == 0 or places.numel() == 0:
            return self.base.clone()
        if values.numel() == 1:
            return assigned(flat, key, values.reshape(())).reshape(self.base.shape)
        turn = torch.arange(places.numel(), device=flat.device) % values.numel()
        return assigned(flat, places.reshape(-1), values[turn]).reshape(self.base.shape)


def _flat_key(key: Any, index: int) -> Any:
    """The key of a flat view: one number, slice, `...` or array. Raises IndexError for others, bools that are no array too.

    Of everything else NumPy makes an array of integers, whatever is in it: a list of floats counts, an array of floats does not."""
    if isinstance(key, tuple) and len(key) < 2:
        key = slice(None) if not key else list(key[0]) if isinstance(key[0], tuple) else key[0]
    if isinstance(key, FlatView):
        key = key.__np2fx_tensor__()
    if isinstance(key, bool):
        return index if key else slice(0, 0)  # NumPy takes it for "the element the iterator stands at", or nothing
    if key is None or isinstance(key, (tuple, str, bytes)):
        raise IndexError("unsupported iterator index")
    if isinstance(key, torch.Tensor) and is_scalar(key):
        if key.dtype == torch.bool:
            raise IndexError("unsupported iterator index")
        return cast(key, torch.int64)
    if isinstance(key, (numpy.ndarray, slice)) or key is Ellipsis or holds_tensor(key):
        return key
    if numpy.asarray(key).dtype.kind in "bUS":
        raise IndexError("unsupported iterator index")
    return operator.index(key) if hasattr(type(key), "__index__") else numpy.asarray(key, numpy.int64)
