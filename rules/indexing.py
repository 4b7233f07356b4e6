"""Indexing: `a[key]`, `a[key] = value` and `a.flat`, with NumPy's keys, order of axes, copies and views.

Reading: the basic part of a key (ints, slices, None, `...`) is a view. Index arrays and masks then select from that view.
Writing is said functionally: a view has a way back (`select` has `select_scatter`), so the new value of the array is made
from the new value of the view, and no tensor is written to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from ..semantics.arrays import as_tensor, cast, demand, follow, is_scalar, mirror, store, widen, zero_d_array
from ..semantics.dtypes import WIDER, to_numpy
from ..semantics.keys import Item, forward, is_full, parse
from ..semantics.table import rule


@rule("numpy.ndarray.__getitem__", kind="indexing", view=True, examples=(
    "x[0]", "x[-1]", "x[1:]", "x[::-1]", "x[..., 0]", "x[None]", "x[..., ::-1]", "x[::-2]", "x[i]", "x[[0, -1]]", "x[k]", "x[..., i]",
    "x[0, ...]",
))  # fmt: skip
def getitem(a, key):
    """`a[key]`: a view for ints, slices, None and `...`; a copy for index arrays and masks; a scalar where all is picked."""
    items = parse(key, tuple(a.shape))
    if not any(item.advanced for item in items):
        return _basic(a, items)
    base = _head(a, items)
    picks = Picks.of(items, base)
    found = _select(base, picks)
    if found.ndim and picks.scalar and all(isinstance(index, torch.Tensor) and is_scalar(index) for index in picks.indices.values()):
        # NumPy gives a view for an integer scalar; torch cannot where its value is not to be read.
        return follow(base, found, lambda base: _select(base, picks), lambda base, copy: _assign_picks(base, copy, picks))
    return found


def picked(a: torch.Tensor, index: Any, axis: int) -> torch.Tensor:
    """`numpy.take(a, index, axis)` for an `axis` >= 0: the index (int64 tensor or constant array) takes the place of the axis."""
    items = parse((*(slice(None),) * axis, index), tuple(a.shape))
    if any(item.advanced for item in items):
        return _select(a, Picks.of(items, a))
    return torch.clone(_view(a, items))


@rule("numpy.ndarray.__setitem__", kind="indexing", writes="a", examples=(
    "x.__setitem__(0, 1)", "x.__setitem__((..., slice(None, None, -1)), y)", "x.__setitem__((..., slice(None, None, -2)), 1)",
    "x.__setitem__(k, 0)", "x.__setitem__(k, y[k])", "x.__setitem__(i, 1)", "x.__setitem__(i, y[i])",
    "x.__setitem__([0, 0, -1], y[:1])",
    "x.__setitem__((0, ...), y[-1])", "x.__setitem__((..., i), y[..., :1])", "x.__setitem__(..., y)",
    "x.__setitem__((None, slice(1, None)), 2)",
))  # fmt: skip
def setitem(a, key, value):
    """`a[key] = value`: the new value of `a`. The value is cast as C does ("unsafe") and broadcast; of an index given twice
    the last value stays."""
    return assigned(a, key, value)


def assigned(a: torch.Tensor, key: Any, value: Any) -> torch.Tensor:
    """The new value of `a` after `a[key] = value`."""
    items = parse(key, tuple(a.shape))
    incoming = incoming_value(a, value)
    if incoming.ndim > 0 and all(item.kind == "int" or (item.kind == "array" and _ndim(item.value) == 0) for item in items):
        if a.dtype != torch.bool or incoming.numel() != 1:
            raise ValueError("setting an array element with a sequence.")
        incoming = incoming.reshape(())  # a bool takes the truth of anything
    write = functools.partial(_assign, items=items, nested=isinstance(value, (list, tuple)))
    return on_bits(write, a, incoming) if a.dtype in WIDER else write(a, incoming)


def flat_positions(a: torch.Tensor, indices: Any) -> torch.Tensor:
    """The flat C-order positions (int64) of the elements that `a[indices]` selects, in the shape of `a[indices]`."""
    return getitem(torch.arange(a.numel(), device=a.device).reshape(a.shape), indices)


# Reading


def _basic(a: torch.Tensor, items: list[Item]) -> torch.Tensor:
    view = _view(a, items)
    if view.ndim > 0:
        return view
    return zero_d_array(view) if any(item.kind == "rest" for item in items) else torch.clone(view)


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
        axis += {"int": 0, "new": 1, "rest": item.dims, "slice": 1}[item.kind]
    if not flipped:
        return _torch_getitem(a, key)
    view = a if all(isinstance(k, slice) and is_full(k) for k in key) else _torch_getitem(a, key)
    view = mirror(view, tuple(flipped))
    steps = [slice(None, None, flipped[d]) if flipped.get(d, 1) > 1 else slice(None) for d in range(max(flipped) + 1)]
    return view if all(map(is_full, steps)) else _torch_getitem(view, steps)


def _torch_getitem(a: torch.Tensor, key: list[Any]) -> torch.Tensor:
    while len(key) > 1 and isinstance(key[-1], slice) and is_full(key[-1]) and not any(k is Ellipsis for k in key):
        key = key[:-1]
    if all(isinstance(k, slice) and is_full(k) for k in key) and key:
        return a[:] if a.ndim else a[...]
    return a[key[0]] if len(key) == 1 else a[tuple(key)]


def _head(a: torch.Tensor, items: list[Item]) -> torch.Tensor:
    """The view that index arrays and masks select from: the basic part of the key, a new axis for each 0-d bool."""
    basic = [part for item in items for part in _head_items(item)]
    return a if all(i.kind == "rest" or (i.kind == "slice" and is_full(i.value)) for i in basic) else _view(a, basic)


def _head_items(item: Item) -> list[Item]:
    if item.kind == "flag":
        return [Item("new", None, 0)]
    return [Item("slice", slice(None), 1)] * item.dims if item.advanced else [item]


class Picks:
    """The index arrays of a key on its basic view: along which dimensions, and where the axes they make belong.

    indices   dimension of the view -> int64 tensor, constant array, or a bool mask (which covers as many dimensions as its rank)
    position  where NumPy puts the axes of the broadcast indices: where they stand, or in front if they are apart
    scalar    True where all indices are 0-d, so that they make no axis"""

    def __init__(self, indices: dict[int, Any], position: int) -> None:
        self.indices, self.position = indices, position
        self.scalar = all(_ndim(index) == 0 for index in indices.values())

    @classmethod
    def of(cls, items: list[Item], base: torch.Tensor) -> Picks:
        """Ints count as index arrays beside one: `a[0, :, [1, 2]]` is "apart". An empty `...` separates too."""
        indices: dict[int, Any] = {}
        dim = 0
        for item in items:
            if item.advanced:
                indices[dim] = item.value
            dim += {"int": 0, "flag": 1, "new": 1}.get(item.kind, item.dims)
        picks = [n for n, item in enumerate(items) if item.advanced or item.kind == "int"]
        apart = picks != list(range(picks[0], picks[-1] + 1))
        return cls(indices, 0 if apart else min(indices))

    def dims(self) -> list[int]:
        """All dimensions of the view that are indexed."""
        return [dim + n for dim, index in self.indices.items() for n in range(_ndim(index) if is_mask(index) else 1)]

    def rank(self) -> int:
        """How many axes the broadcast indices make."""
        return max(1 if is_mask(index) else _ndim(index) for index in self.indices.values())


def is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype == torch.bool


def _ndim(value: Any) -> int:
    return value.ndim if isinstance(value, (torch.Tensor, numpy.ndarray)) else 0


def _on(device: torch.device, index: Any) -> torch.Tensor:
    """An index as a tensor of at least one axis: torch would read the value of a 0-d one."""
    tensor = index if isinstance(index, torch.Tensor) else torch.tensor(index, device=device)
    return tensor.reshape(1) if tensor.ndim == 0 else tensor


def _select(base: torch.Tensor, picks: Picks) -> torch.Tensor:
    """`base` at the index arrays, the new axes at `picks.position`."""
    dims = picks.dims()
    key: list[Any] = []
    for dim in range(base.ndim):
        if dim in picks.indices:
            key.append(_on(base.device, picks.indices[dim]))
        elif dim not in dims:
            key.append(slice(None))
    try:
        result = _torch_getitem(base, key)
    except RuntimeError as error:
        raise IndexError(str(error)) from None
    masks_alone = all(map(is_mask, picks.indices.values()))  # the size of what a mask picks is not asked: it depends on values
    if not masks_alone and result.numel() == 0 and base.device.type != "meta":
        _demand_bounds(base, picks)
    torch_puts = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    if picks.scalar:
        return torch.squeeze(result, torch_puts)
    if torch_puts == picks.position:
        return result
    rank = picks.rank()
    return torch.movedim(result, tuple(range(torch_puts, torch_puts + rank)), tuple(range(rank)))


def _demand_bounds(base: torch.Tensor, picks: Picks) -> None:
    """Where nothing is selected torch does not look at the indices; NumPy does."""
    # With no positions NumPy does not look at arrays (and a mask may have none), but it does at scalars.
    empty = any(is_mask(index) or 0 in index.shape for index in picks.indices.values())
    for dim, index in picks.indices.items():
        if isinstance(index, torch.Tensor) and index.numel() and not (empty and index.ndim):
            size = base.shape[dim]
            demand(torch.logical_and(index >= -size, index < size), IndexError(f"index is out of bounds for axis {dim} with size {size}"))


# Writing


def incoming_value(a: torch.Tensor, value: Any) -> torch.Tensor:
    """`value` in the dtype of `a`. Python numbers and constants are cast by NumPy, which knows what does not fit."""
    if isinstance(value, FlatView):
        value = value.copy()
    if isinstance(value, torch.Tensor):
        return _beside(a, cast(value, a.dtype))
    if not (isinstance(value, (list, tuple)) and _has_tensor(value)):
        array = numpy.asarray(value) if not isinstance(value, numpy.ndarray) else value
        if array.dtype.kind in "biufc":
            ready = numpy.empty(array.shape, to_numpy(a.dtype))
            ready[...] = value
            return _beside(a, as_tensor(ready))
    return _beside(a, cast(as_tensor(value), a.dtype))


def _beside(a: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`value` on the device of `a`."""
    return value if value.device == a.device else value.to(a.device)


def _has_tensor(value: Any) -> bool:
    return any(isinstance(v, (torch.Tensor, FlatView)) or (isinstance(v, (list, tuple)) and _has_tensor(v)) for v in value)


def on_bits(move: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> torch.Tensor:
    """`move`, which only moves elements about, for unsigned dtypes that torch has no kernels for: done on signed ones of that width."""
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}[tensors[0].dtype]
    return move(*(t.view(signed) for t in tensors)).view(tensors[0].dtype)


Lens = tuple[Callable[[torch.Tensor], torch.Tensor], Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]
"""A step from an array to a view of it, and the way back: (array, new value of the view) to the new value of the array."""


def _lenses(items: list[Item]) -> list[Lens]:
    """The steps of a basic key, from the first axis to the last."""
    steps: list[Lens] = []
    dim = 0
    for item in items:
        if item.kind == "new":
            steps.append((functools.partial(torch.unsqueeze, dim=dim), functools.partial(_unsqueeze_back, dim)))
        elif item.kind == "int":
            steps.append((functools.partial(torch.select, dim=dim, index=item.value), functools.partial(_select_back, dim, item.value)))
            continue
        elif item.kind == "slice":
            steps.extend(_slice_lenses(dim, item.value))
        dim += item.dims if item.kind == "rest" else 1
    return steps


def _slice_lenses(dim: int, s: slice) -> list[Lens]:
    if s.step is None or s.step > 0:
        return [] if is_full(s) else [_slice_lens(dim, s)]
    straight, step = forward(s)
    flip = functools.partial(torch.flip, dims=(dim,))
    turned: Lens = (flip, lambda base, new: flip(new))
    return [*_slice_lenses(dim, straight), turned, *([_slice_lens(dim, slice(None, None, step))] if step > 1 else [])]


def _slice_lens(dim: int, s: slice) -> Lens:
    return (lambda base: base[(*(slice(None),) * dim, s)]), functools.partial(_slice_back, dim, s)


def _unsqueeze_back(dim: int, base: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return torch.squeeze(new, dim)


def _select_back(dim: int, index: int, base: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return torch.select_scatter(base, new, dim, index)


def _slice_back(dim: int, s: slice, base: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return torch.slice_scatter(base, new, dim, s.start, s.stop, s.step or 1)


def _assign(a: torch.Tensor, value: torch.Tensor, items: list[Item], nested: bool) -> torch.Tensor:
    """The new value of `a`: down the lenses, the new value of the innermost view, and back up."""
    steps = _lenses([part for item in items for part in _head_items(item)])
    views = [a]
    for get, _ in steps:
        views.append(get(views[-1]))
    rank = views[-1].ndim - sum(item.kind == "array" for item in items)
    if nested and value.ndim > rank and all(_ndim(item.value) == 0 for item in items):
        raise ValueError(f"setting an array element with a sequence. The requested array would exceed {rank} dimensions")
    if any(item.advanced for item in items):
        if value.ndim > 1 and items[0].mask_rank == a.ndim > 0 and len({item.mask_rank for item in items}) == 1:
            raise TypeError(f"boolean array indexing assignment requires a 0 or 1-dimensional input, input has {value.ndim} dimensions")
        new = _assign_picks(views[-1], value, Picks.of(items, views[-1]))
    else:
        new = filled(views[-1], value, copy=not steps)
    for (_, put), view in zip(reversed(steps), reversed(views[:-1]), strict=True):
        new = put(view, new)
    return new


def filled(view: torch.Tensor, value: torch.Tensor, copy: bool = True) -> torch.Tensor:
    """`value` in the shape of `view`, as assignment broadcasts it: leading axes of size 1 may be too many."""
    fitted = _strip(value, view.ndim)
    if fitted.ndim > view.ndim or any(n not in (1, m) for n, m in zip(reversed(fitted.shape), reversed(view.shape), strict=False)):
        raise ValueError(f"could not broadcast input array from shape {tuple(value.shape)} into shape {tuple(view.shape)}")
    spread = fitted if fitted.shape == view.shape else fitted.expand_as(view)
    return torch.clone(spread) if copy else spread


def _strip(value: torch.Tensor, rank: int) -> torch.Tensor:
    while value.ndim > rank and value.shape[0] == 1:
        value = torch.squeeze(value, 0)
    return value


def _assign_picks(base: torch.Tensor, value: torch.Tensor, picks: Picks) -> torch.Tensor:
    """`base` with `value` at the index arrays and masks. The indexed axes are moved to the front and back."""
    if base.dtype in WIDER:  # torch cannot put unsigned numbers everywhere
        return cast(_assign_picks(widen(base), widen(value), picks), base.dtype)
    dims, indices = picks.dims(), list(picks.indices.values())
    rank = 0 if picks.scalar else picks.rank()
    rest = base.ndim - len(dims)
    after = rest - picks.position  # how many axes stand behind those of the indices
    value = _strip(value, rank + rest)
    _check_shape(base, value, picks)
    if base.numel() == 0:
        _demand_bounds(base, picks)
    lone_mask = is_mask(indices[0]) and len(indices) == 1
    if lone_mask and value.ndim <= after and dims[0] == picks.position:
        return torch.where(indices[0][(..., *(None,) * after)] if after else indices[0], value, base)
    front = tuple(range(len(dims)))
    moved = dims != list(front)
    whole = torch.movedim(base, tuple(dims), front) if moved else base
    rows = _rows_in_front(value, picks.position, rank, rest)
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
    return torch.movedim(new, front, tuple(dims)) if moved else new


def _rows_in_front(value: torch.Tensor, position: int, rank: int, rest: int) -> torch.Tensor:
    """`value`, laid out as NumPy lays out the selection, with the axes of the indices in front (a new one where they make none)."""
    missing = rank + rest - value.ndim
    full = value[(*(None,) * missing, ...)] if missing else value
    if rank == 0:
        return torch.unsqueeze(full, 0)
    return torch.movedim(full, tuple(range(position, position + rank)), tuple(range(rank))) if position else full


def _check_shape(base: torch.Tensor, value: torch.Tensor, picks: Picks) -> None:
    """Where shapes tell: IndexError for indices that do not broadcast, ValueError for a value that does not fit the selection."""
    indices, dims = list(picks.indices.values()), picks.dims()
    if any(is_mask(index) for index in indices):
        return
    shapes = [tuple(index.shape) for index in indices]
    try:
        selected = numpy.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}") from None
    rest = tuple(base.shape[d] for d in range(base.ndim) if d not in dims)
    result = (*rest[: picks.position], *selected, *rest[picks.position :])
    if value.ndim > len(result) or any(n not in (1, m) for n, m in zip(reversed(value.shape), reversed(result), strict=False)):
        shape = tuple(value.shape)
        raise ValueError(f"shape mismatch: value array of shape {shape} could not be broadcast to indexing result of shape {result}")


def _positions(device: torch.device, indices: list[Any]) -> tuple[torch.Tensor, ...]:
    """Masks as the positions where they are true; constants as tensors."""
    found: list[torch.Tensor] = []
    for index in indices:
        found.extend(torch.nonzero(index, as_tuple=True) if is_mask(index) else (_on(device, index),))
    return tuple(found)


def _put_constant(whole: torch.Tensor, indices: list[numpy.ndarray[Any, Any]], rows: torch.Tensor) -> torch.Tensor:
    """At constant positions: of those that are given twice only the last is written (torch leaves open which one would stay)."""
    same = numpy.broadcast_arrays(*indices)
    rank = same[0].ndim
    wrapped = [numpy.where(index < 0, index + size, index).reshape(-1) for index, size in zip(same, whole.shape, strict=False)]
    flat = numpy.ravel_multi_index(wrapped, whole.shape[: len(wrapped)]) if same[0].size else wrapped[0]
    last = numpy.sort(flat.size - 1 - numpy.unique(flat[::-1], return_index=True)[1])
    if last.size == flat.size:
        return torch.index_put(whole, tuple(torch.tensor(index, device=whole.device) for index in indices), rows)
    spread = rows.expand((*same[0].shape, *rows.shape[rank:])).flatten(0, rank - 1)
    kept = spread[torch.tensor(last, device=whole.device)]
    return torch.index_put(whole, tuple(torch.tensor(index[last], device=whole.device) for index in wrapped), kept)


def _put_one(whole: torch.Tensor, indices: tuple[torch.Tensor, ...], value: torch.Tensor) -> torch.Tensor:
    """One value for all positions: a position given twice is still one position (for the gradient too)."""
    rest = whole.ndim - len(indices)
    missed = torch.zeros_like(_cells(whole, rest), dtype=torch.bool)
    hit = torch.index_put(missed, indices, torch.ones((), dtype=torch.bool, device=whole.device))
    return torch.where(hit[(..., *(None,) * rest)] if rest else hit, value, whole)


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
    spread = rows.expand((*places.shape, *rows.shape[places.ndim :])).flatten(0, places.ndim - 1)
    spread = spread.expand((-1, *whole.shape[rank:])) if rest else spread
    places = places.flatten()
    writer = torch.scatter_reduce(torch.full_like(numbers, -1), 0, places, _numbers(places), "amax")
    flat = whole.flatten(0, rank - 1)
    written = torch.cat([spread, flat[:1]])[writer]  # a row more than written: -1 is then always a row
    hit = torch.ge(writer, 0)[(..., *(None,) * rest)]
    return torch.where(hit, written, flat).reshape(whole.shape)


def _cells(whole: torch.Tensor, rest: int) -> torch.Tensor:
    """One element for each position of the indexed axes (where there are elements at all)."""
    if rest == 0:
        return whole
    first: Any = (..., *(0,) * rest)
    return whole[first] if whole.numel() else torch.zeros(whole.shape[:-rest], device=whole.device)


def _numbers(x: torch.Tensor) -> torch.Tensor:
    """0, 1, 2, ... of the length of `x`, without mentioning it."""
    return torch.cumsum(torch.ones_like(x, dtype=torch.int64), 0) - 1


# a.flat


class FlatView:
    """`a.flat`: the elements in C order. Reading copies; writing goes into `a`, and values that run out start again."""

    def __init__(self, base: torch.Tensor) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.numel()

    def __np2fx_tensor__(self) -> torch.Tensor:
        return self.copy()

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(torch.unbind(self.copy()))

    def __getitem__(self, key: Any) -> torch.Tensor:
        found = getitem(self.base.reshape(-1), self._key(key))
        return found.clone() if found.ndim else found

    def __setitem__(self, key: Any, value: Any) -> None:
        store(self.base, self.written(key, value), "unsafe")

    def written(self, key: Any, value: Any) -> torch.Tensor:
        """The new value of the base for `flat[key] = value`."""
        flat = self.base.reshape(-1)
        key = self._key(key)
        values = incoming_value(self.base, value).reshape(-1)
        places = flat_positions(flat, key)
        if places.ndim == 0 and values.numel() != 1:
            raise ValueError("Error setting single item of array.")
        if values.numel() == 0 or places.numel() == 0:
            return self.base.clone()
        if values.numel() == 1:
            return assigned(flat, key, values.reshape(())).reshape(self.base.shape)
        turn = torch.arange(places.numel(), device=flat.device) % values.numel()
        return assigned(flat, places.reshape(-1), values[turn]).reshape(self.base.shape)

    def _key(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 1:
            (key,) = key
        if isinstance(key, tuple) and key:
            raise IndexError("unsupported iterator index")
        if key is None:
            raise IndexError("only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices")
        if isinstance(key, list) and numpy.asarray(key).dtype == bool:
            raise IndexError("boolean indices for iterators are not supported because of previous behavior that was confusing")
        return int(key) if isinstance(key, bool) else slice(None) if key == () else key

    def copy(self) -> torch.Tensor:
        return self.base.flatten().clone() if self.base.ndim <= 1 else self.base.flatten()

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.base.numel(),)


@rule("numpy.ndarray.flat", kind="indexing", view=True, examples=(
    "x.flat[0]", "x.flat[::-2]", "x.flat[i]", "x.flat[k.ravel()]", "list(x.flat)", "len(x.flat)", "x.flat.__setitem__(slice(None), [1, 2])",
))  # fmt: skip
def flat(a):
    """The elements in C order, to be indexed by one number, slice or list: see `FlatView`."""
    return FlatView(a)
