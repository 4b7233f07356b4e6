"""`numpy.vectorize` with `excluded=`, `signature=` or keywords, in a trace: its loops, over traced elements and pieces of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
from numpy.lib import _function_base_impl

from ..state import fixed_shape
from ..tracer import Tracer
from .number import convert

_own: Any = _function_base_impl
_KINDS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def call(tracer: Tracer, original: Any, pyfunc: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """What a `numpy.vectorize` object gives for these arguments."""
    names = [n for n in kwargs if n not in original.excluded]
    places = [i for i in range(len(args)) if i not in original.excluded]

    def function(*items: Any) -> Any:
        given, named = list(args), dict(kwargs)
        for place, item in zip(places, items, strict=False):
            given[place] = item
        named.update(zip(names, items[len(places) :], strict=True))
        return pyfunc(*given, **named)

    given = [numpy.asarray(x) for x in (*(args[i] for i in places), *(kwargs[n] for n in names))]
    found = _by_pieces(original, function, given) if original.signature is not None else _by_elements(original, function, given)
    return found[0] if len(found) == 1 else tuple(found)


def _by_elements(original: Any, function: Callable[..., Any], arrays: list[Any]) -> list[Any]:
    """The function gets Python's numbers; the first ones, as NumPy's scalars, tell the dtypes."""
    shape = numpy.broadcast_shapes(*map(fixed_shape, arrays))
    flat = [numpy.broadcast_to(a, shape).reshape(-1) for a in arrays]
    if not flat:
        raise ValueError("args can not be empty")
    dtypes = None if original.otypes is None else [numpy.dtype(t) for t in original.otypes]
    count = numpy.prod(shape, dtype=int)
    asked: Any = None
    if dtypes is None:
        if not count:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        asked = function(*(a.reshape(-1)[0] for a in arrays))
        dtypes = [numpy.asarray(x).dtype for x in (asked if isinstance(asked, tuple) else (asked,))]
    rows = [[convert(a[i], _KINDS[a.dtype.kind]) for a in flat] for i in range(count)]
    results = [asked if asked is not None and original.cache and i == 0 else function(*row) for i, row in enumerate(rows)]
    columns = list(zip(*results, strict=True)) if len(dtypes) > 1 else [results]
    return [numpy.array(list(column), dtype=dtype).reshape(shape) for column, dtype in zip(columns, dtypes, strict=True)]


def _by_pieces(original: Any, function: Callable[..., Any], arrays: list[Any]) -> list[Any]:
    """The function gets pieces of the arrays, of the axes that the signature names."""
    inner, outer = original._in_and_out_core_dims
    if len(arrays) != len(inner):
        raise TypeError(f"wrong number of positional arguments: expected {len(inner)!r}, got {len(arrays)!r}")
    sizes: dict[str, int] = {}
    for a, names in zip(arrays, inner, strict=True):
        _own._update_dim_sizes(sizes, _shape_of(a), names)
    shape = numpy.broadcast_shapes(*(fixed_shape(a)[: a.ndim - len(names)] for a, names in zip(arrays, inner, strict=True)))
    arrays = [numpy.broadcast_to(a, s) for a, s in zip(arrays, _own._calculate_shapes(shape, sizes, inner), strict=True)]
    dtypes = None if original.otypes is None else [numpy.dtype(t) for t in original.otypes]
    rows: list[tuple[Any, ...]] = []
    for index in itertools.product(*map(range, shape)):
        found = function(*(a[index] for a in arrays))
        row = found if isinstance(found, tuple) else (found,)
        if len(row) != len(outer):
            raise ValueError(f"wrong number of outputs from pyfunc: expected {len(outer)!r}, got {len(row)!r}")
        row = row if len(outer) > 1 else (found,)
        if not rows:
            for result, names in zip(row, outer, strict=True):
                _own._update_dim_sizes(sizes, _shape_of(numpy.asarray(result)), names)
            dtypes = dtypes or [numpy.asarray(result).dtype for result in row]
        rows.append(row)
    if dtypes is None:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    if any(name not in sizes for names in outer for name in names):
        raise ValueError("cannot call `vectorize` with a signature including new output dimensions on size 0 inputs")
    made = []
    for i, names in enumerate(outer):
        core = tuple(sizes[name] for name in names)
        pieces = [numpy.broadcast_to(numpy.asarray(row[i]), core).astype(dtypes[i]) for row in rows]
        made.append(numpy.stack(pieces).reshape(shape + core) if pieces else numpy.empty(shape + core, dtypes[i]))
    return made


def _shape_of(x: Any) -> Any:
    return SimpleNamespace(ndim=x.ndim, shape=fixed_shape(x))
