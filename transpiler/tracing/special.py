"""NumPy functions that the tracer does in its own way: they take Python objects apart or call back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from .array import TracedNpArray
from .counting import arange, size_of
from .number import TracedNumber, choose, is_number
from .recorder import OWN
from .scalar import TracedScalar
from .state import fixed_shape, holds_traced, is_traced

if TYPE_CHECKING:
    from .tracer import Tracer


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
        with tracer.inside():
            real_args, real_kwargs = tracer.split((args, kwargs))
            tracer.told.add(OWN)
            made = tracer.numpy(lambda: _ORIGINALS[name](*real_args, **real_kwargs))
        if made.dtype.kind in "iu":
            made.fill(numpy.iinfo(made.dtype).max - 4)
        elif made.dtype.kind in "fcb":
            made.fill(True if made.dtype.kind == "b" else -6.1e4)
        return tracer.constant(made)

    return make


_ORIGINALS: dict[str, Any] = {"empty": numpy.empty, "empty_like": numpy.empty_like}


def elements(tracer: Tracer, kind: Any, array: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """`np.nditer` and `np.ndenumerate` over one traced array, in C order."""
    if not isinstance(array, TracedNpArray):
        tracer.fail("element-iteration", f"numpy.{kind.__name__} with more than one array", "use array operations, or loop over indices")
    if args or kwargs:
        said = ", ".join(kwargs) if kwargs else "flags"
        tracer.fail("element-iteration", f"numpy.{kind.__name__} with {said}", "use array operations, or loop over indices")
    if kind.__name__ == "nditer" and not array._value.flags.c_contiguous:
        tracer.fail("element-iteration", "numpy.nditer over an array that is not C-contiguous", "loop over x.ravel()")
    for index in numpy.ndindex(fixed_shape(array)):
        yield (index, array[index]) if kind.__name__ == "ndenumerate" else array[(*index, ...)]


def extreme(tracer: Tracer, name: str, items: list[Any], better: numpy.ufunc) -> Any:
    """Python's `min` and `max` of several values: the first that none is better than, by comparisons that NaN always loses."""
    with tracer.inside():
        best = items[0]
        for item in items[1:]:
            best = _choose(tracer, name, better, item, best)
        return best


def _choose(tracer: Tracer, name: str, better: numpy.ufunc, item: Any, best: Any) -> Any:
    if TracedNumber in (type(item), type(best)) and is_number(item) and is_number(best):
        return choose(tracer, name, "lt" if better.__name__ == "less" else "gt", item, best)
    if not (type(item) is TracedScalar or type(best) is TracedScalar):
        if is_traced(item) or is_traced(best):
            tracer.leave(item if is_traced(item) else best, "data-dependent-branch", name)
        return item if better(item, best) else best
    weak = [type(x) in (int, float, TracedNumber) or (type(x) is TracedScalar and x._weak) for x in (item, best)]
    kinds = {numpy.asarray(_real(x)).dtype for x in (item, best)}
    if len(kinds) > 1 or (any(weak) and kinds != {numpy.dtype(numpy.float64)}):
        tracer.leave(item if type(item) is TracedScalar else best, "data-dependent-branch", f"{name} of different types")
    chosen = tracer.getitem(tracer.call(numpy.where, (tracer.ufunc(better, "__call__", (item, best), {}), item, best), {}), ())
    real = item if bool(better(_real(item), _real(best))) else best
    return tracer.note(TracedScalar(numpy.asarray(_real(real))[()], tracer.tensor(chosen), any(weak)))


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


SPECIAL: dict[str, Any] = {
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
