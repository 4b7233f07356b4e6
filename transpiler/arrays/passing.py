"""The way of a call: NumPy's objects to tensors, a rule, tensors to NumPy's objects.

Tensors in give tensors out: a call that is handed tensors alone is the rule itself.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy
import torch

from ..semantics.arrays import is_read_only, is_scalar, read_only
from ..semantics.indexing import FlatView
from ..semantics.layouts import like_numpys, of_ufunc
from ..semantics.table import Refused, Rule
from . import world
from .memory import is_host
from .scalars import Graded, scalar

_PLAIN = (int, float, complex, str, bool, type(None), bytes, numpy.dtype, type)
_CODES = "?bhilBHILefdFD"
_MADE = frozenset(
    (*_PLAIN, bytearray, memoryview, range, type(...), *numpy.sctypeDict.values(), *(type(numpy.dtype(c)) for c in _CODES))
)
"""What NumPy's functions make arrays of, without looking at any."""

ndarray: Any
flatiter: Any


def install(array: type, flat: type) -> None:
    """Say what the classes are that this module passes; they are made of it."""
    global ndarray, flatiter
    ndarray, flatiter = array, flat


def is_made(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call is given no array: NumPy's own function answers, and its arrays are laid on tensors."""
    return all(map(_is_made, args)) and all(map(_is_made, kwargs.values())) and _on_host()


def _is_made(x: Any) -> bool:
    kind = type(x)
    return kind in _MADE or (kind in (list, tuple) and all(map(_is_made, x)))


class Call:
    """One call: the tensors that stand for the objects it was handed.

    arrays  the objects among the arguments, by the identity of the tensor that stands for each
    tensors whether a bare tensor is among the arguments
    turned  copies that stand for arrays that run backwards, and their versions when they were made
    foreign whether an array is among the arguments that no tensor is: NumPy's own of other dtypes, and those of other libraries
    other   whether something else is among them that has to do with torch: scalars with a gradient, functions that are called back"""

    def __init__(self) -> None:
        self.arrays: dict[int, Any] = {}
        self.tensors = self.foreign = self.other = False
        self.turned: list[tuple[Any, torch.Tensor, int]] = []

    def lower(self, x: Any) -> Any:
        """An argument for a rule."""
        kind = type(x)
        if kind is ndarray:
            return self._array(x)
        if kind in _PLAIN:
            return x
        if isinstance(x, torch.Tensor):
            self.tensors = True
            return x
        if isinstance(x, Graded):
            self.other = True
            return x._tensor
        if issubclass(kind, ndarray):
            return self._array(x)
        if kind is numpy.ndarray:
            seen = ndarray._seen(x)
            if seen is x:
                self.foreign = True
                return x
            return self._array(seen)
        if kind in (list, tuple, deque):
            return kind(map(self.lower, x)) if self._holds(x) else x
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*map(self.lower, x))
        if kind is dict:
            return {k: self.lower(v) for k, v in x.items()}
        if kind is slice:
            return slice(self.lower(x.start), self.lower(x.stop), self.lower(x.step))
        if kind is flatiter:
            self.other = True
            return x.view
        if x is ndarray:
            return numpy.ndarray
        if isinstance(x, (types.FunctionType, types.MethodType, functools.partial, types.BuiltinFunctionType)):
            self.other = True
            return _called(x)
        if isinstance(x, (numpy.generic, type)):
            return x
        if any(hasattr(kind, protocol) for protocol in ("__array_ufunc__", "__array_function__", "__array_interface__")):
            self.foreign = True
        elif hasattr(kind, "__array__"):
            return self.lower(_held(x))
        return x

    def _holds(self, items: Any) -> bool:
        """Whether something in a list is more than a plain value."""
        return any(type(i) not in _PLAIN for i in items)

    def _array(self, x: Any) -> torch.Tensor:
        tensor: torch.Tensor = x._tensor
        if x._flipped:
            tensor = read_only(x.tensor) if is_read_only(x._tensor) else x.tensor
            self.turned.append((x, tensor, tensor._version))
        self.arrays[id(tensor)] = (x, tensor)
        return tensor

    def _owner(self, base: torch.Tensor) -> Any:
        """The array that a result is a view of, None where the result has its memory for itself."""
        for x, tensor in self.arrays.values():
            if tensor is base or tensor._base is base:
                return x if x._base is None else x._base
        return None

    def is_turned(self, found: Any) -> bool:
        """Whether a result is a copy that stands for an array that runs backwards, or a view of one: it may be the array, or none."""
        if isinstance(found, (tuple, list)):
            return any(map(self.is_turned, found))
        if not isinstance(found, torch.Tensor):
            return False
        return any(found is copy or found._base is copy for x, copy, _ in self.turned if is_host(x._tensor))

    def is_in_order(self, found: Any) -> bool:
        """Whether all arrays lie in C order, so that what NumPy makes of them does, and the result does."""
        if self.turned or (isinstance(found, torch.Tensor) and not found.is_contiguous()):
            return False
        return all(tensor.is_contiguous() for _, tensor in self.arrays.values())

    def settle(self) -> None:
        """What was written into copies goes into the memory that they stand for."""
        for x, copy, version in self.turned:
            if copy._version != version:
                x._write(copy)

    def raise_(self, x: Any) -> Any:
        """A result as NumPy's object."""
        if isinstance(x, torch.Tensor):
            known = self.arrays.get(id(x))
            if known is not None:
                return known[0]
            return scalar(x) if is_scalar(x) else ndarray._of(x, (), None if x._base is None else self._owner(x._base))
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(self.raise_, x))
        if type(x) in (list, tuple):
            return type(x)(map(self.raise_, x))
        if isinstance(x, FlatView):
            return lifted(x)
        if isinstance(x, torch.Size):
            return tuple(x)
        if isinstance(x, types.FunctionType) and x.__module__.startswith("np2fx."):  # of `numpy.vectorize`
            return lambda *args, **kwargs: through(x, args, kwargs)
        if isinstance(x, types.GeneratorType) or type(x).__name__ in _ITERATORS:
            return map(self.raise_, x)
        return x


_ITERATORS = ("map", "zip", "filter")


def lifted(x: Any) -> Any:
    """A tensor as NumPy's object: a scalar, or an array on the tensor's memory. Containers of them likewise."""
    if isinstance(x, torch.Tensor):
        return scalar(x) if is_scalar(x) else ndarray._of(x)
    if isinstance(x, FlatView):
        return flatiter(x)
    return Call().raise_(x)


def lowered(x: Any) -> Any:
    """NumPy's object as a tensor, of the same memory where that runs forward. Containers of them likewise."""
    return Call().lower(x)


def through_rule(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], numpys: Callable[..., Any]) -> Any:
    """`through`, with what is known of a rule: the order that `partition` leaves open is NumPy's own, and NumPy warns of
    reductions that give NaN."""
    if leaves_order_open(rule.body):
        with contextlib.suppress(Refused):
            return by_numpy(numpys, args, kwargs)
    return through(rule.call, args, kwargs, numpys, rule.kind == "reduction")


@functools.cache
def leaves_order_open(body: Callable[..., Any]) -> bool:
    """Whether NumPy leaves the order of some elements of a result open."""
    return "kth" in inspect.signature(body).parameters


def through(
    rule: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], numpys: Callable[..., Any] | None = None, warns: bool = False
) -> Any:
    """A rule called with NumPy's objects: objects come out, unless tensors alone went in.

    numpys  NumPy's own function, which is called on the same memory where the rule refuses
    warns   whether NumPy warns where the result is NaN (a mean of nothing): it is then asked, for its warnings"""
    if numpys is not None and world.stops_at_errors():
        return by_numpy(numpys, args, kwargs)
    call = Call()
    given, named = [call.lower(a) for a in args], {k: call.lower(v) for k, v in kwargs.items()}
    if numpys is not None and not (call.arrays or call.tensors or call.other) and _on_host():
        return by_numpy(numpys, args, kwargs)  # nothing of torch's: NumPy says what it makes of bytes, buffers and objects
    if call.foreign and numpys is not None and not call.tensors:
        try:
            return by_numpy(numpys, args, kwargs)
        except Refused:
            pass  # an array among the others that NumPy cannot look at
    try:
        found = rule(*given, **named)
    except Refused as refused:
        if numpys is None or call.tensors:
            raise
        return by_numpy(numpys, args, kwargs, refused)
    if numpys is not None and (_is_cut_off(found) or (call.turned and call.is_turned(found))):
        return by_numpy(numpys, args, kwargs)
    if call.turned:
        call.settle()
    if numpys is not None and call.arrays and "out" not in kwargs and (numpys in _KEYED or not call.is_in_order(found)):
        found = _laid_out(found, call, numpys, args, kwargs)
    if warns and isinstance(found, torch.Tensor) and is_host(found) and "out" not in kwargs and holds_nan(found):
        with contextlib.suppress(Refused):
            by_numpy(numpys or rule, args, kwargs)
    return found if call.tensors and not call.arrays else call.raise_(found)


_KEYED = (numpy.ndarray.__getitem__,)
"""What gives results in another order than C of arrays in that order."""


def _laid_out(found: Any, call: Call, numpys: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A result in the order in memory that NumPy gives it: whether `reshape` makes a view of it hangs on that."""
    given = [tensor for _, tensor in call.arrays.values()]

    def ask() -> Any:
        shown = Shown()
        operands = [shown.show(a) for a in args]
        if isinstance(numpys, numpy.ufunc) and numpys.signature is None:
            made = of_ufunc([numpy.asarray(x) for x in operands])
            return made if numpys.nout == 1 else (made,) * numpys.nout
        return numpys(*operands, **{k: shown.show(v) for k, v in kwargs.items()})

    if any(callable(x) and not isinstance(x, type) for x in (*args, *kwargs.values())):
        return found  # a function of the user's must not run twice
    return like_numpys(found, ask, given)


def holds_nan(found: torch.Tensor) -> bool:
    """Whether NaN is among the elements."""
    return (found.is_floating_point() or found.is_complex()) and bool(torch.isnan(found).any())


def _is_cut_off(found: Any) -> bool:
    """Whether a result is a copy of what NumPy gives as a view."""
    if isinstance(found, (tuple, list)):
        return any(map(_is_cut_off, found))
    if not isinstance(found, torch.Tensor) or not is_host(found):
        return False
    return getattr(found if found._base is None else found._base, "_np2fx_lone_copy", False)


def in_torch(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """torch's own function on the tensors of NumPy's objects: tensors come out."""
    call = Call()
    given, named = [call.lower(a) for a in args], {k: call.lower(v) for k, v in kwargs.items()}
    found = function(*given, **named)
    call.settle()
    return found


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the user's that a rule calls back: it is handed NumPy's objects, and what it gives back are tensors."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return lowered(function(*map(lifted, args), **{k: lifted(v) for k, v in kwargs.items()}))

    return call


def _held(x: Any) -> Any:
    """What the `__array__` of an object gives: an array on a tensor as it is, with its gradient."""
    found = x.__array__()
    return found if isinstance(found, numpy.ndarray) else numpy.asarray(x)


def _on_host() -> bool:
    # The default device is a mode on this stack, which is asked much faster.
    return not torch._C._len_torch_function_stack() or torch.get_default_device().type == "cpu"


def by_numpy(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], why: Refused | None = None) -> Any:
    """NumPy's own function on the same memory. Where NumPy cannot look at it Refused is raised: `why`, if that is given."""
    shown = Shown()
    try:
        given, named = [shown.show(a) for a in args], {k: shown.show(v) for k, v in kwargs.items()}
    except Refused as refused:
        raise why or refused from None
    return shown.take(function(*given, **named))


class Shown:
    """One call of NumPy's own function.

    arrays  the arrays that it is shown, and the objects whose memory they are"""

    def __init__(self) -> None:
        self.arrays: list[tuple[Any, Any]] = []

    def show(self, x: Any) -> Any:
        """An argument as NumPy's own function takes it: on the same memory. Raises Refused where NumPy cannot look at it."""
        kind = type(x)
        if kind in _PLAIN:
            return x
        if issubclass(kind, ndarray):
            array = x._numpy()
            self.arrays.append((array, x))
            return array
        if issubclass(kind, torch.Tensor):
            return self.show(lifted(x))
        if x is ndarray:
            return numpy.ndarray
        if kind is flatiter:
            return self.show(x.base).flat
        if kind in (list, tuple):
            return kind(map(self.show, x))
        return {k: self.show(v) for k, v in x.items()} if kind is dict else x

    def take(self, x: Any) -> Any:
        """What NumPy's own function gives: its arrays as arrays on tensors, where torch has their dtype."""
        kind = type(x)
        if kind is numpy.ndarray:
            known = self._object(x)
            return ndarray._seen(x, self._object(x.base)) if known is None else known
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*map(self.take, x))
        return kind(map(self.take, x)) if kind in (list, tuple) else x

    def _object(self, array: Any) -> Any:
        """The object whose memory an array is."""
        return next((x for known, x in self.arrays if known is array), None)
