"""NumPy functions that the tracer does in its own way: they take Python objects apart or call back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
import torch

from ...semantics.arrays import as_tensor, cast
from ..errors import in_library
from ..recording.recorder import OWN
from ..sizes.counting import arange, size_of
from ..sizes.traced import TracedSize, holds_size, pinned
from ..state import fixed_shape, holds_traced, is_traced
from .array import TracedNpArray
from .number import TracedNumber, choose, convert, is_number, of_size
from .scalar import MIXED, TracedScalar
from .twin import original_of

if TYPE_CHECKING:
    from ..tracer import Tracer


def _fromiter(tracer: Tracer, iterable: Any, dtype: Any, count: int = -1, **_: Any) -> Any:
    """The items are taken one by one, as NumPy takes them."""
    items: list[Any] = []
    for item in iterable:
        if len(items) == count:
            break
        items.append(item)
    if not holds_traced(items):
        with tracer.inside():
            return tracer.constant(numpy.fromiter(items, dtype, count))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return tracer.call(numpy.array, (items,), {"dtype": dtype})


def _fromfunction(tracer: Tracer, function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """The function is called once, on the arrays of all indices."""
    return function(*tracer.call(numpy.indices, (shape,), {"dtype": dtype}), **kwargs)


def _empty(name: str) -> Any:
    def make(tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
        """What NumPy leaves uninitialised holds numbers that nothing computes, so that reading them is noticed."""
        if name == "empty" and holds_size((args, kwargs)):
            return _empty_of_sizes(tracer, *args, **kwargs)
        if name == "empty_like" and args and type(args[0]) is TracedNpArray and not tracer.is_constant(args[0]):
            if not in_library():
                return _empty_as(tracer, *args, **kwargs)
            pinned(args[0].shape)  # compiled code may be about to write into it
        with tracer.inside():
            real_args, real_kwargs = tracer.split((args, kwargs))
            tracer.told.add(OWN)
            made = tracer.numpy(lambda: _ORIGINALS[name](*real_args, **real_kwargs))
        if made.dtype.kind in "iufcb":
            made.fill(_unlikely(made.dtype))
        return tracer.constant(made)

    return make


def _unlikely(dtype: numpy.dtype[Any]) -> Any:
    """A number that nothing computes."""
    return numpy.iinfo(dtype).max - 4 if dtype.kind in "iu" else True if dtype.kind == "b" else -6.1e4


def _empty_as(tracer: Tracer, prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any) -> Any:
    kind = prototype.dtype if dtype is None else numpy.dtype(original_of(dtype))
    return tracer.call(numpy.full_like, (prototype, _unlikely(kind), kind, order, subok, shape), {})


def _empty_of_sizes(tracer: Tracer, shape: Any, dtype: Any = float, order: str = "C", **_: Any) -> Any:
    kind = numpy.dtype(original_of(dtype))
    return tracer.call(numpy.full, (shape, _unlikely(kind), kind), {"order": order})


_ORIGINALS: dict[str, Any] = {"empty": numpy.empty, "empty_like": numpy.empty_like}


def elements(tracer: Tracer, kind: Any, array: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.nditer` and `np.ndenumerate` over one traced array, in C order."""
    if isinstance(array, (list, tuple)) and len(array) == 1:
        array = array[0]
    if not isinstance(array, TracedNpArray):
        tracer.fail("element-iteration", f"numpy.{kind.__name__} with more than one array", "use array operations, or loop over indices")
    if kind.__name__ == "ndenumerate":
        return ((index, array[index]) for index in numpy.ndindex(fixed_shape(array)))
    return Elements(tracer, array, *args, **kwargs)


class Elements:
    """`np.nditer` over one traced array that is C-contiguous: its elements as 0-d views, one after the other."""

    def __init__(self, tracer: Tracer, array: TracedNpArray, flags: Any = (), op_flags: Any = (), order: str = "K", **others: Any) -> None:
        said = [*others, *(f for f in flags or () if f not in ("multi_index", "c_index", "zerosize_ok", "refs_ok"))]
        modes = [m for part in op_flags or () for m in ([part] if isinstance(part, str) else part)]
        said += [m for m in modes if m not in ("readonly", "readwrite", "writeonly")]
        if said or order not in ("K", "C"):
            what = ", ".join(said) or f"order={order!r}"
            tracer.fail("element-iteration", f"numpy.nditer with {what}", "use array operations, or loop over indices")
        if not array._value.flags.c_contiguous:
            tracer.fail("element-iteration", "numpy.nditer over an array that is not C-contiguous", "loop over x.ravel()")
        self.array, self.flags = array, tuple(flags or ())
        self.writes = any(m != "readonly" for m in modes)
        self.places = list(numpy.ndindex(fixed_shape(array)))
        if not self.places and "zerosize_ok" not in self.flags:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        self.at, self.started = 0, False
        self.shape, self.ndim, self.itersize, self.nop = array._value.shape, array.ndim, len(self.places), 1
        self.operands = (array,)

    def __iter__(self) -> Elements:
        return self

    def __next__(self) -> Any:
        self.at += self.started
        self.started = True
        if self.finished:
            raise StopIteration
        return self.value

    @property
    def finished(self) -> bool:
        return self.at >= len(self.places)

    @property
    def multi_index(self) -> tuple[int, ...]:
        if "multi_index" not in self.flags:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._place()

    @property
    def index(self) -> int:
        if "c_index" not in self.flags:
            raise ValueError("Iterator does not have an index")
        return self.at

    @property
    def iterindex(self) -> int:
        return self.at

    def _place(self) -> tuple[int, ...]:
        if self.finished:
            raise ValueError("Iterator is past the end")
        return self.places[self.at]

    @property
    def value(self) -> Any:
        found = self.array[(*self._place(), ...)]
        return found if self.writes else found.copy()

    def iternext(self) -> bool:
        """To the next element; whether there is one."""
        self.at += 1
        return not self.finished

    def reset(self) -> None:
        self.at, self.started = 0, False

    def __len__(self) -> int:
        return 1

    def __getitem__(self, operand: int) -> Any:
        if operand not in (0, -1):
            raise IndexError(f"Iterator operand index {operand} is out of bounds")
        return self.value

    def __setitem__(self, operand: int, value: Any) -> None:
        if operand not in (0, -1):
            raise IndexError(f"Iterator operand index {operand} is out of bounds")
        if not self.writes:
            raise RuntimeError("Iterator operand 0 is not writeable")
        self.array[self._place()] = value

    def __enter__(self) -> Elements:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        """Nothing is held back here."""


def extreme(tracer: Tracer, name: str, items: list[Any], better: numpy.ufunc) -> Any:
    """Python's `min` and `max` of several values: the first that none is better than, by comparisons that NaN always loses."""
    with tracer.inside():
        best = items[0]
        for item in items[1:]:
            best = _choose(tracer, name, better, item, best)
        return best


def _choose(tracer: Tracer, name: str, better: numpy.ufunc, item: Any, best: Any) -> Any:
    if all(type(x) in (int, bool, TracedSize) for x in (item, best)):
        return item if (item < best if better.__name__ == "less" else item > best) else best
    item, best = of_size(item), of_size(best)
    if TracedNumber in (type(item), type(best)) and is_number(item) and is_number(best):
        return choose(tracer, name, "lt" if better.__name__ == "less" else "gt", item, best)
    if not (type(item) is TracedScalar or type(best) is TracedScalar):
        if is_traced(item) or is_traced(best):
            tracer.leave(item if is_traced(item) else best, "data-dependent-branch", name)
        return item if better(item, best) else best
    weak = [type(x) in (int, float, TracedNumber) or (type(x) is TracedScalar and x._weak) for x in (item, best)]
    kinds = {numpy.asarray(_real(x)).dtype for x in (item, best)}
    if kinds <= {numpy.dtype(int), numpy.dtype(float)} and (len(kinds) > 1 or any(getattr(x, "_weak", "") == MIXED for x in (item, best))):
        return _mixed(tracer, name, item, best, better, weak)
    if len(kinds) > 1 or (any(weak) and kinds != {numpy.dtype(numpy.float64)}):
        tracer.leave(item if type(item) is TracedScalar else best, "data-dependent-branch", f"{name} of different types")
    chosen = tracer.getitem(tracer.call(numpy.where, (tracer.ufunc(better, "__call__", (item, best), {}), item, best), {}), ())
    real = item if bool(better(_real(item), _real(best))) else best
    return tracer.note(TracedScalar(numpy.asarray(_real(real))[()], tracer.tensor(chosen), any(weak)))


def _mixed(tracer: Tracer, name: str, item: Any, best: Any, better: numpy.ufunc, weak: list[Any]) -> Any:
    """Of a float64 scalar and a Python int."""
    ints = [x for x in (item, best) if numpy.asarray(_real(x)).dtype == int]
    if not all(type(x) is int and abs(x) < 2**53 for x in ints) or not any(weak):
        tracer.leave(item if type(item) is TracedScalar else best, "data-dependent-branch", f"{name} of different types")
    condition = tracer.ufunc(better, "__call__", (item, best), {})
    sides = [cast(tracer.tensor(x) if is_traced(x) else as_tensor(x), torch.float64) for x in (item, best)]
    chosen = torch.where(tracer.tensor(condition), *sides)
    real = item if bool(better(_real(item), _real(best))) else best
    return tracer.note(TracedScalar(numpy.float64(_real(real)), chosen, MIXED))


def _real(x: Any) -> Any:
    return x._value if type(x) in (TracedScalar, TracedNumber) else x


def _nan_to_num(tracer: Tracer, x: Any, copy: bool = True, *args: Any, **kwargs: Any) -> Any:
    """`copy=False` writes the result into `x`."""
    if copy or not isinstance(x, TracedNpArray):
        return NotImplemented
    x[...] = tracer.call(numpy.nan_to_num, (x, True, *args), kwargs)
    return x


def _shape(tracer: Tracer, a: Any) -> Any:
    return a.shape if type(a) is TracedNpArray else NotImplemented


def _size(tracer: Tracer, a: Any, axis: Any = None) -> Any:
    return size_of(a, axis) if type(a) is TracedNpArray else NotImplemented


def as_strided(tracer: Tracer, x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    """`as_strided` of a contiguous array: a view at constant positions of its memory, which must not reach beyond it."""
    if not isinstance(x, TracedNpArray):
        return NotImplemented
    if holds_traced((shape, strides)) or x._storage.base is not None:
        tracer.fail("aliasing", "numpy.lib.stride_tricks.as_strided by computed strides", "use an array of positions")
    fixed_shape(x)
    real = x._value
    if not real.flags.c_contiguous:
        tracer.fail("aliasing", "numpy.lib.stride_tricks.as_strided of an array that is not contiguous", "copy it first")
    with tracer.inside():
        shape = real.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        strides = real.strides if strides is None else tuple(strides)
        reach = [s * (n - 1) for s, n in zip(strides, shape, strict=True)]
        inside = 0 in shape or (all(s % real.itemsize == 0 for s in strides) and min([0, *reach]) >= 0 and sum(reach) < real.nbytes)
        if not inside:
            tracer.fail("aliasing", "numpy.lib.stride_tricks.as_strided reaches beyond the array", "take a shape that stays inside")
        view = numpy.lib.stride_tricks.as_strided(real, shape, strides, writeable=writeable)
        if tracer.is_constant(x):
            return tracer.constant(view)
        if not view.size:
            return tracer.constant(view.copy())
        x._storage.materialise()
        return tracer.note_array(view, x._storage, None)


def _trim_zeros(tracer: Tracer, filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """A slice with computed bounds."""
    if type(filt) is not TracedNpArray or not filt.ndim or not filt.size or tracer.is_constant(filt):
        return NotImplemented
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = range(filt.ndim) if axis is None else numpy.lib.array_utils.normalize_axis_tuple(axis, filt.ndim, argname="axis")
    key: list[Any] = [slice(None)] * filt.ndim
    for d in axes:
        line = (filt != 0).any(tuple(a for a in range(filt.ndim) if a != d)) if filt.ndim > 1 else filt != 0
        first = convert(line.argmax(), int) if "f" in trim else 0
        last = len(line) - line[::-1].argmax() if "b" in trim else len(line)
        key[d] = slice(first, convert(last * line.any(), int))
    return filt if not axes else filt[tuple(key)]


SPECIAL: dict[str, Any] = {
    "numpy.trim_zeros": _trim_zeros,
    "numpy.lib.stride_tricks.as_strided": as_strided,
    "numpy.arange": arange,
    "numpy.shape": _shape,
    "numpy.size": _size,
    "numpy.fromiter": _fromiter,
    "numpy.fromfunction": _fromfunction,
    "numpy.nan_to_num": _nan_to_num,
    "numpy.empty": _empty("empty"),
    "numpy.empty_like": _empty("empty_like"),
}
"""By NumPy name: called with the tracer and the arguments."""
