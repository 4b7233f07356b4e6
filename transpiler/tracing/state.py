"""The trace that is running in this thread, if any."""

from __future__ import annotations

import contextlib
import contextvars
import operator
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .errors import TraceError, error, own_frame

if TYPE_CHECKING:
    from .tracer import Tracer

_current: contextvars.ContextVar[Tracer | None] = contextvars.ContextVar("np2fx_tracer", default=None)
_open: list[Tracer] = []
"""The traces that have not ended, of all threads."""


def current() -> Tracer | None:
    """The trace of this thread, also while NumPy itself is at work in it."""
    return _current.get()


def active() -> Tracer | None:
    """The trace that sees what happens now; None while NumPy itself is at work."""
    tracer = _current.get()
    return None if tracer is None or tracer.paused else tracer


def running() -> Tracer:
    """The trace that sees what happens now. Raises TraceError where a traced array is used outside of it."""
    tracer = _current.get()
    if tracer is None:
        if _open and _current not in contextvars.copy_context():
            raise _elsewhere()
        raise error("side-effect", "a traced array is used after its trace has ended", "return it from the traced function")
    if tracer.paused:
        message = "code that NumPy runs (a function, or a method of an object that it was handed) uses a traced array that it was not given"
        raise error("opaque-call", message, "call the function yourself, and give NumPy arrays, or lists and tuples of them")
    return tracer


def _elsewhere() -> TraceError:
    """The refusal of what another thread does with a traced array: told to the trace as well, which may never hear of it otherwise."""
    message = "a traced array is used in another thread, or in a context of its own, where the tracer does not see what is done with it"
    tracer = _open[0]
    frame = own_frame(sys._getframe(1)) or own_frame(sys._current_frames().get(tracer.thread))
    place = ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    refused = error("opaque-call", message, "call the function where it is traced, without threads", place)
    if len(_open) == 1 and tracer.failure is None:
        tracer.failure = refused
    return refused


def enter(tracer: Tracer | None) -> contextvars.Token[Tracer | None]:
    """Make `tracer` the running one; `leave` with the result."""
    return _current.set(tracer)


def leave(token: contextvars.Token[Tracer | None]) -> None:
    """Back to the trace before."""
    _current.reset(token)


@contextlib.contextmanager
def opened(tracer: Tracer) -> Iterator[None]:
    """From here on `tracer` sees what happens. Refusals of what other threads do meanwhile are not printed: the trace raises them."""
    token, hook = enter(tracer), threading.excepthook

    def quiet(failed: Any) -> None:
        if not isinstance(failed.exc_value, TraceError):
            hook(failed)

    _open.append(tracer)
    threading.excepthook = quiet
    try:
        yield
    finally:
        if threading.excepthook is quiet:
            threading.excepthook = hook
        _open.remove(tracer)
        leave(token)


def defers(x: Any, other: Any) -> bool:
    """True where NumPy leaves an operator to the other operand."""
    if isinstance(other, (numpy.ndarray, int, float, complex)) or getattr(type(other), "_np2fx_traced", False):
        return False
    return isinstance(other, torch.Tensor) or getattr(type(other), "__array_ufunc__", 0) is None


def class_of(x: Any) -> type:
    """The class that NumPy would give a traced scalar, as the traced function knows it."""
    from .arrays.patches import scalar_twins

    kind = type(x._value)
    return scalar_twins().get(id(kind), kind) if active() is not None else kind


def shape(x: Any) -> tuple[int, ...]:
    """The shape of a traced array; to the traced function its sizes are nodes of the graph, or numbers where they depend on values."""
    real: tuple[int, ...] = numpy.ndarray.shape.__get__(x)  # type: ignore[attr-defined]
    tracer = active()
    return real if tracer is None else tracer.shape(x, real)


def fixed_shape(x: Any) -> tuple[int, ...]:
    """The shape of a traced array, of Python's own ints, for which the graph then holds. Raises TraceError where one depends on values."""
    real: tuple[int, ...] = numpy.ndarray.shape.__get__(x)  # type: ignore[attr-defined]
    tracer = active()
    if tracer is not None and x._tensor is not None and tracer.recorder.is_loose(x._tensor):
        tracer.loose_size()
    return real if tracer is None else tuple(map(operator.index, tracer.shape(x, real)))


def strides(x: Any) -> Any:
    """The strides of a contiguous array, which its shape tells; those of any other are no part of a graph."""
    if x._value is None:
        return numpy.ndarray.strides.__get__(x)  # type: ignore[attr-defined]
    if running().is_constant(x) or not x._value.flags.c_contiguous:
        return running().fixed(x, "strides")
    steps, step = [], x.itemsize
    for size in reversed(fixed_shape(x)):
        steps.append(step)
        step = step * size
    return tuple(reversed(steps))


def flags(x: Any) -> Any:
    """The `flags` of an array: those of its values, or the shell's own while it is made."""
    if x._value is None:
        return numpy.ndarray.flags.__get__(x)  # type: ignore[attr-defined]
    return running().fixed(x, "flags")


def leaves(x: Any) -> Iterator[Any]:
    """What is in lists, tuples, dicts and slices."""
    kind = type(x)
    if kind is list or isinstance(x, tuple):
        for i in x:
            yield from leaves(i)
    elif kind is dict:
        for i in x.values():
            yield from leaves(i)
    elif kind is slice:
        yield from (x.start, x.stop, x.step)
    else:
        yield x


def is_traced(x: Any) -> bool:
    """True for traced arrays and scalars."""
    return getattr(type(x), "_np2fx_traced", False)


def holds_traced(x: Any) -> bool:
    """True where `x` is or contains a traced array or scalar."""
    return any(map(is_traced, leaves(x)))
