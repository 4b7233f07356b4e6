"""Twins: NumPy's functions and scalar types as the traced function sees them.

Most NumPy functions dispatch on traced arrays; those that make or convert arrays do not, and lists of traced scalars are not
dispatched on at all. So for the time of a trace the public names of NumPy's namespaces hold twins, which go to the trace of
this thread and, where there is none, straight to NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from ...semantics.table import CLASSES, version
from .. import state
from ..state import holds_traced, is_traced
from ..surroundings import alarms, threads
from ..table import VECTORIZE, functions, resolve, spaces
from .special import elements
from .twin import Twin, original_of

_SCALARS = (
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
_UNPATCHED = frozenset((
    "seterr", "geterr", "seterrcall", "geterrcall", "set_printoptions", "get_printoptions", "printoptions", "show_config", "info",
    "setbufsize", "getbufsize", "test", "get_include", "show_runtime", "dtype", "issubdtype", "array2string", "array_repr", "array_str",
    "set_string_function", "format_float_positional", "format_float_scientific", "nested_iters", "get_array_wrap", "busday_count",
    "busday_offset", "is_busday", "frompyfunc", "asmatrix", "bmat",
))  # fmt: skip


_TRICKS = ("r_", "c_", "mgrid", "ogrid")


class UfuncTwin:
    """A ufunc that also takes lists of traced scalars. Everything else is the ufunc's."""

    _np2fx_original = True

    def __init__(self, original: numpy.ufunc) -> None:
        self.original = original
        self.__name__, self.__doc__ = original.__name__, original.__doc__

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        return numpy.ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        return self.original(*args, **kwargs) if tracer is None else tracer.ufunc(self.original, "__call__", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.original, name)
        if name not in ("reduce", "accumulate", "reduceat", "outer", "at"):
            return found

        def method(*args: Any, **kwargs: Any) -> Any:
            tracer = state.active()
            if tracer is None or (name != "at" and not isinstance(args[0], list)):
                return tracer.constant(found(*args, **kwargs)) if tracer is not None else found(*args, **kwargs)
            if name == "at":
                return tracer.ufunc(self.original, name, args, kwargs)
            return found(numpy.asarray(args[0]), *args[1:], **kwargs)

        return Twin(found, method)

    def __eq__(self, other: object) -> bool:
        return self.original is original_of(other)

    def __hash__(self) -> int:
        return hash(self.original)

    def __repr__(self) -> str:
        return repr(self.original)


class ScalarMeta(type):
    """The class of scalar twins: equal to the type they stand for, and called on traced values a cast."""

    _np2fx_original: Any = None
    original = property(lambda cls: cls.__base__)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        original = cls.__base__
        if tracer is None or kwargs or len(args) != 1 or not holds_traced(args[0]):
            return original(*args, **kwargs)  # type: ignore[misc]
        if is_traced(args[0]) and isinstance(args[0], numpy.ndarray) and args[0].ndim and args[0].dtype == original:
            return args[0]  # an array of that dtype is returned as it is
        made = numpy.array(args[0], dtype=original)
        return made[()] if made.ndim == 0 else made

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__base__)  # type: ignore[arg-type]

    def __subclasscheck__(cls, other: Any) -> bool:
        return other is cls or issubclass(other, cls.__base__)  # type: ignore[arg-type]

    def __eq__(cls, other: object) -> bool:
        return bool(cls.__base__ == original_of(other))

    def __hash__(cls) -> int:
        return hash(cls.__base__)


def _function_twin(original: Any) -> Callable[..., Any]:
    def twin(*args: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        return original(*args, **kwargs) if tracer is None else tracer.call(original, args, kwargs)

    return Twin(original, twin)


def _from_numpy(original: Any) -> Callable[..., Any]:
    def from_numpy(x: Any) -> Any:
        tracer = state.active()
        if tracer is None or not is_traced(x):
            return original(x)
        tensor = tracer.to_torch(x)
        return tensor if tracer.recorder.node(tensor) is None else tracer.recorder.shells.expose(tensor)

    return Twin(original, from_numpy)


def twins() -> dict[int, Any]:
    """The twin of each function that has one, by the function's id (they live as long as their libraries)."""
    functions()
    return _twins(version())


@functools.lru_cache(maxsize=1)
def _twins(table_version: int) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for known in functions().values():
        original = known.function
        if known.name.rpartition(".")[2] not in _UNPATCHED:
            found[id(original)] = UfuncTwin(original) if isinstance(original, numpy.ufunc) else _function_twin(original)
    found.update(scalar_twins())
    found.update({id(original): kind for name, kind in CLASSES.items() if (original := resolve(name)) is not None})
    for name in ("ndenumerate", "nditer"):
        found[id(getattr(numpy, name))] = _class_twin(getattr(numpy, name))
    for name in dir(numpy.random):
        original = getattr(numpy.random, name)
        if not name.startswith("_") and callable(original) and not isinstance(original, type):
            found[id(original)] = _random_twin(name, original)
    for name in _TRICKS:
        found[id(getattr(numpy, name))] = TrickTwin(name, getattr(numpy, name))
    found[id(VECTORIZE)] = Twin(VECTORIZE, vectorize_twin)
    found.update((id(original), stand_in) for _, _, original, stand_in in alarms.exchanged())
    found[id(torch.from_numpy)] = _from_numpy(torch.from_numpy)
    return found


def _random_twin(name: str, original: Any) -> Callable[..., Any]:
    def twin(*args: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        if tracer is None:
            return original(*args, **kwargs)
        with tracer.inside():
            return tracer.fail(
                "random", f"numpy.random.{name}: a graph would repeat the numbers drawn while tracing", "pass the random numbers in"
            )

    return Twin(original, twin)


class TrickTwin:
    """`np.r_`, `np.c_`, `np.mgrid` and `np.ogrid`."""

    _np2fx_original = True

    def __init__(self, name: str, original: Any) -> None:
        self.name, self.original = name, original

    def __getitem__(self, key: Any) -> Any:
        tracer = state.active()
        return self.original[key] if tracer is None else tracer.trick(self.name, self.original, key)


def vectorize_twin(pyfunc: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`np.vectorize`: a function that calls `pyfunc` element by element, also on traced arrays."""
    original = VECTORIZE(pyfunc, *args, **kwargs) if callable(pyfunc) else VECTORIZE(*args, **kwargs)
    return original if args or not callable(pyfunc) else vectorised(original, pyfunc, kwargs)


def vectorised(original: Any, pyfunc: Any, options: dict[str, Any]) -> Any:
    """What a `numpy.vectorize` object is in a trace."""

    @functools.wraps(pyfunc, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        enclosed = tracer is not None and holds_traced(_enclosed(pyfunc))
        if tracer is None or not (enclosed or holds_traced((args, kwargs))):
            return original(*args, **kwargs)
        if kwargs or enclosed or original.excluded or original.signature is not None:
            from .vectorized import call as called  # it knows the tracer, which knows this

            return called(tracer, original, pyfunc, args, kwargs)
        return tracer.vectorised(pyfunc, options, args)

    return call


def _enclosed(function: Any) -> list[Any]:
    """What a function has of the variables around it."""
    cells = getattr(function, "__closure__", None) or ()
    return [cell.cell_contents for cell in cells if cell != types.CellType()]


def _class_twin(original: Any) -> Any:
    def twin(*args: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        if tracer is None or not (args and holds_traced(args[0])):
            return original(*args, **kwargs)
        return elements(tracer, original, *args, **kwargs)

    return Twin(original, twin)


@functools.cache
def scalar_twins() -> dict[int, Any]:
    """The twins of NumPy's scalar types, by the type's id."""
    types = [getattr(numpy, name) for name in _SCALARS]
    return {id(t): ScalarMeta(t.__name__, (t,), {"__module__": "numpy", "__doc__": t.__doc__}) for t in types}


def _places() -> list[tuple[Any, str, Any, Any]]:
    """What is exchanged: (module, name, original, twin)."""
    functions()
    return _places_of(version())


@functools.lru_cache(maxsize=1)
def _places_of(table_version: int) -> list[tuple[Any, str, Any, Any]]:
    known = twins()
    found: list[tuple[Any, str, Any, Any]] = [(torch, "from_numpy", torch.from_numpy, known[id(torch.from_numpy)])]
    for module in (*map(resolve, spaces()), numpy.random):
        for name, value in list(vars(module).items()) if module is not None else ():
            if not name.startswith("_") and id(value) in known and id(value) not in scalar_twins():
                found.append((module, name, value, known[id(value)]))
    found += [place for place in alarms.exchanged() if place[0] is not numpy]
    return found + threads.exchanged()


_lock = threading.Lock()
_depth = 0
_exchanged: list[tuple[Any, str, Any, Any]] = []


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """NumPy's names hold the twins. May be nested, and entered in several threads at once."""
    global _depth, _exchanged
    with _lock:
        if _depth == 0:
            _exchanged = _places()
            for module, name, _, twin in _exchanged:
                setattr(module, name, twin)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                for module, name, original, _ in _exchanged:
                    setattr(module, name, original)
