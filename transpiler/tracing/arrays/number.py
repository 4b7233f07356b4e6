"""TracedNumber: what the traced function holds in place of a Python number that was computed from its inputs (`float(x[0])`).

It is Python's number, not NumPy's: it takes the dtype of the array that it meets (NEP 50), a division by zero is an error, and so is
what NumPy would only warn of. Such an error is an assertion of the graph. A Python int has no bounds, one of a graph those of int64:
beyond them the graph fails.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ...semantics.arrays import cast, demand, python_number
from ...semantics.dtypes import resolve, to_torch
from .. import state
from ..errors import error
from ..sizes.traced import TracedSize
from ..state import leaves
from .arithmetic import INT_BOUND, OPERATIONS, OPERATORS
from .array import BINARY, COMPARISONS, UNARY, TracedNpArray
from .scalar import MIXED, TracedScalar

if TYPE_CHECKING:
    from ..calls import Call
    from ..tracer import Tracer

DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
_ORDER = (bool, int, float, complex)
_EXACT = 2**53


class TracedNumber:
    """A Python bool, int, float or complex of a trace. It calls itself an instance of that class, but is none.

    Python's value is in `_value`, the 0-d torch tensor (bool, int64, float64, complex128) in `_tensor`. `_truth` is its truth once a
    branch has asked for it. `_either` marks a float that may also be an int, as `max(float(x), 0)` is; `_strong` one whose tensor has
    the dtype already that the call needs in which it stands."""

    __slots__ = ("__weakref__", "_either", "_marked", "_strong", "_tensor", "_truth", "_value")
    _np2fx_traced = True
    __array_priority__ = -1000000.0

    def __init__(self, value: Any, tensor: torch.Tensor, either: bool = False, strong: bool = False) -> None:
        self._value, self._tensor, self._either, self._strong = value, tensor, either, strong
        self._truth: bool | None = None
        self._marked: torch.Tensor | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # type: ignore[override]
        return type(self._value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return state.running().ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return state.running().call(func, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """Methods that need the value are refused; what Python's number does not have is an AttributeError."""
        found = getattr(self._value, name)
        return lambda *args: _leave(self, f".{name}()") if callable(found) else _leave(self, f".{name}")

    def __bool__(self) -> bool:
        if self._truth is None:
            self._truth = state.running().truth(self)
        return self._truth

    def __hash__(self) -> int:
        return hash(bool(self)) if type(self._value) is bool else hash(_leave(self, "hash"))

    def __index__(self) -> int:
        return int(bool(self)) if type(self._value) is bool else operator.index(_leave(self, "an index"))

    def __float__(self) -> float:
        return float(_leave(self, "float"))

    def __int__(self) -> int:
        return int(_leave(self, "int"))

    def __complex__(self) -> complex:
        return complex(_leave(self, "complex"))

    def __trunc__(self) -> Any:
        return convert(self, int)

    def __floor__(self) -> Any:
        return rounded(self, "floor")

    def __ceil__(self) -> Any:
        return rounded(self, "ceil")

    def __round__(self, ndigits: Any = None) -> Any:
        if ndigits is None or type(self._value) in (bool, int):
            return rounded(self, "round") if ndigits is None else _leave(self, "round to digits")
        return _leave(self, "round to decimal places")

    def __format__(self, spec: str) -> str:
        return format(_leave(self, "format"), spec)

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"<traced {type(self._value).__name__}>" if state.active() is None else repr(_leave(self, "str"))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _leave(self, "pickle").__reduce_ex__(protocol)

    def __copy__(self) -> TracedNumber:
        return self

    def __deepcopy__(self, memo: Any) -> TracedNumber:
        return self

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return _operate("pow", self, other) if modulus is None else _leave(self, "pow with a modulus")

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return _operate("pow", other, self) if modulus is None else _leave(self, "pow with a modulus")

    @property
    def real(self) -> Any:
        return self if type(self._value) is not complex else _part(self, torch.real, self._value.real)

    @property
    def imag(self) -> Any:
        return _part(self, torch.imag, self._value.imag) if type(self._value) is complex else type(self._value + 0)(0)

    def is_integer(self) -> Any:
        x, tracer = settled(self), state.running()
        if type(x) is not TracedNumber or type(x._value) is complex:
            return x.is_integer() if type(x) is not TracedNumber else self.__getattr__("is_integer")
        with tracer.inside():
            return new_number(tracer, x._value.is_integer(), torch.isfinite(x._tensor) & (torch.floor(tensor_as(x, float)) == x._tensor))

    def conjugate(self) -> Any:
        return _part(self, torch.conj_physical, self._value.conjugate()) if type(self._value) is complex else self.__pos__()  # type: ignore[attr-defined]


def _leave(x: TracedNumber, what: str) -> Any:
    return state.running().leave(x, "python-value", what)


def _part(x: TracedNumber, function: Callable[..., Any], value: Any) -> Any:
    tracer = state.running()
    with tracer.inside():
        return new_number(tracer, value, torch.clone(function(x._tensor)))


# What a number is


def is_number(x: Any) -> bool:
    """True for Python's own numbers and for traced ones, but not for NumPy's scalars."""
    return type(x) is TracedNumber or (isinstance(x, (int, float, complex)) and not isinstance(x, numpy.generic))


def kind_of(x: Any) -> type:
    """bool, int, float or complex."""
    value = x._value if type(x) is TracedNumber else x
    return next(k for k in _ORDER if isinstance(value, k))


def value_of(x: Any) -> Any:
    """Python's value of a traced number, scalar or size; everything else is itself."""
    return x._value if type(x) in (TracedNumber, TracedScalar, TracedSize) else x


def of_size(x: Any) -> Any:
    """A size as a number of the graph; everything else is itself."""
    if type(x) is not TracedSize:
        return x
    tracer = state.current()
    if tracer is None:
        return x._value
    with tracer.inside():
        return new_number(tracer, x._value, x.number())


def settled(x: Any) -> Any:
    """A traced bool whose truth has decided a branch is a plain bool from there on."""
    return x._truth if type(x) is TracedNumber and type(x._value) is bool and x._truth is not None else x


def marked(tracer: Tracer, x: TracedNumber) -> torch.Tensor:
    """The tensor as rules get it: marked as a Python number (bools are NumPy's bools to NumPy)."""
    if x._strong or type(x._value) is bool:
        return x._tensor
    if x._marked is None:
        with torch._C.DisableTorchFunction():
            alias = x._tensor.view(())
        x._marked = python_number(tracer.recorder.record(alias, tracer.recorder.node(x._tensor)), type(x._value))  # type: ignore[arg-type]
    return x._marked


def new_number(tracer: Tracer, value: Any, tensor: torch.Tensor, either: bool = False) -> Any:
    """A traced number of the trace."""
    return tracer.note(TracedNumber(value, tensor, either))


def attempt(tracer: Tracer, run: Callable[[], Any], instead: Any) -> Any:
    """Python's own result. On a way through the function that the sample does not take it may fail: `instead` then stands for it."""
    try:
        value = tracer.numpy(run, True) if tracer.on_sample else run()
    except (ArithmeticError, ValueError):
        if tracer.on_sample:
            raise
        return instead
    if type(value) is int and not -INT_BOUND <= value < INT_BOUND:
        if tracer.on_sample:
            tracer.fail("python-value", "a Python int of the graph is beyond int64, the largest that it has", "compute it in floats")
        return instead
    return value


def tensor_as(x: Any, kind: type) -> torch.Tensor:
    """A number as a 0-d tensor of the kind's dtype."""
    if type(x) is TracedSize:
        return x.number(DTYPES[kind])
    if type(x) is TracedNumber:
        return cast(x._tensor, DTYPES[kind])
    return torch.tensor(kind(x), dtype=DTYPES[kind])


# Operators


def _operate(name: str, a: Any, b: Any) -> Any:
    """An operator with at least one traced number."""
    a, b = of_size(settled(a)), of_size(settled(b))
    tracer = state.running()
    if any(isinstance(x, (numpy.ndarray, numpy.generic)) for x in (a, b)):
        if name == "pow" and not any(isinstance(x, numpy.ndarray) for x in (a, b)):
            return tracer.scalar_power(a, b)
        return tracer.ufunc(_UFUNCS[name], "__call__", (a, b), {})
    if not (is_number(a) and is_number(b)):
        return NotImplemented
    if type(a) is not TracedNumber and type(b) is not TracedNumber:
        return OPERATORS[name](a, b)
    with tracer.inside():
        if name == "divmod":
            return _numbers(tracer, "floordiv", a, b), _numbers(tracer, "mod", a, b)
        return _numbers(tracer, name, a, b)


def _numbers(tracer: Tracer, name: str, a: Any, b: Any) -> TracedNumber:
    """Python's operator on two Python numbers."""
    kinds = kind_of(a), kind_of(b)
    kind = max(kinds, key=_ORDER.index)
    if name in COMPARISONS:
        _check_comparable(a, b, kinds)
    elif name != "truediv" and not any(k in (float, complex) and not _is_either(x) for k, x in zip(kinds, (a, b), strict=True)):
        if name in ("add", "sub") and (_is_either(a) or _is_either(b)):
            return _sum_of_either(tracer, name, a, b)
        only(a)
        only(b)
    if kind is bool and name not in ("and", "or", "xor", *COMPARISONS):
        kind = int
    wanted: type = bool if name in COMPARISONS else float if name == "truediv" and kind is int else kind
    value = attempt(tracer, lambda: OPERATORS[name](value_of(a), value_of(b)), wanted(1))
    if name == "pow" and kind is int and type(value) is float:
        kind = wanted = float
        demand(tensor_as(b, int) < 0, ArithmeticError("the power of two ints has become an int, and was a float when it was traced"))
    if type(value) is not wanted:
        tracer.fail("python-value", f"{name} of two {kind.__name__}s gives a {type(value).__name__} here", "use NumPy's function")
    return new_number(tracer, value, OPERATIONS[name](tensor_as(a, kind), tensor_as(b, kind), None if type(b) is TracedNumber else kind(b)))  # type: ignore[no-any-return]


def _sum_of_either(tracer: Tracer, name: str, a: Any, b: Any) -> TracedNumber:
    """Of numbers that may be ints: as exact as Python's up to 2**53."""
    total = OPERATIONS[name](tensor_as(a, float), tensor_as(b, float), None)
    demand(torch.abs(total) < _EXACT, OverflowError("a number that may be an int is beyond 2**53"))
    return new_number(tracer, float(OPERATORS[name](value_of(a), value_of(b))), total, either=True)  # type: ignore[no-any-return]


def _check_comparable(a: Any, b: Any, kinds: tuple[type, type]) -> None:
    """Python compares an int with a float exactly; a graph does below 2**53."""
    if set(kinds) != {int, float}:
        return
    whole, other = (a, b) if kinds[0] is int else (b, a)
    if type(whole) is TracedNumber and (type(other) is TracedNumber or _EXACT <= abs(other) < math.inf):
        demand(torch.abs(whole._tensor) < _EXACT, OverflowError("an int beyond 2**53 is compared with a float"))


def _unary(name: str) -> Callable[[Any], Any]:
    def operate(self: Any) -> Any:
        x = settled(self)
        if type(x) is not TracedNumber:
            return OPERATORS[name](x)
        tracer = state.running()
        with tracer.inside():
            if name != "abs":
                only(x)
            value = attempt(tracer, lambda: OPERATORS[name](x._value), 1.0 if name == "abs" and kind_of(x) is complex else x._value)
            return new_number(tracer, value, OPERATIONS[name](tensor_as(x, kind_of(x) if kind_of(x) is not bool else int)), x._either)

    return operate


_UFUNCS = {**BINARY, **COMPARISONS}
TracedSize.mixed = staticmethod(_operate)
for _name in _UFUNCS:
    if _name != "pow":
        setattr(TracedNumber, f"__{_name}__", lambda self, other, name=_name: _operate(name, self, other))
    if _name in BINARY and _name != "pow":
        setattr(TracedNumber, f"__r{_name}__", lambda self, other, name=_name: _operate(name, other, self))
for _name in UNARY:
    setattr(TracedNumber, f"__{_name}__", _unary(_name))


def only(x: Any, place: tuple[str, int] | None = None) -> None:
    """Refuse a number that may be an int or a float where that makes a difference."""
    if _is_either(x):
        message = "a number is an int or a float, as a comparison of values decides, and that makes a difference here"
        raise error("numpy-scalar", message, "give min and max numbers of one type: max(x, 0.0); begin with a float: s = 0.0", place)


def _is_either(x: Any) -> bool:
    return (type(x) is TracedNumber and x._either) or (type(x) is TracedScalar and x._weak == MIXED)


# Conversions


def convert(x: Any, kind: type) -> Any:
    """`float(x)`, `int(x)`, `bool(x)`, `complex(x)` of what is traced."""
    x = settled(x)
    if type(x) is TracedSize and kind in (int, bool):
        return x if kind is int else bool(x)
    x = of_size(x)
    tracer = state.running()
    if type(x) is TracedNpArray and tracer.is_constant(x):
        return kind(x._value)
    if type(x) not in (TracedNumber, TracedNpArray, TracedScalar):
        return kind(x)
    if type(x) is TracedNumber and kind_of(x) is kind and not x._either:
        return x
    with tracer.inside():
        tracer.check_own(x)
        value = attempt(tracer, lambda: kind(x._value), kind(1))
        tensor = tracer.tensor(x)
        tensor = torch.reshape(tensor, ()) if tensor.ndim else tensor
        return new_number(tracer, value, whole(tensor) if kind is int else cast(tensor, DTYPES[kind]))


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """`int(x)`: towards zero. NaN and the infinities are no ints."""
    if tensor.dtype == torch.uint64:
        made = tensor.to(torch.int64)
        demand(made >= 0, OverflowError("a Python int of the graph is beyond int64"))
        return made
    if not tensor.is_floating_point():
        return cast(tensor, torch.int64)
    wide = cast(tensor, torch.float64)
    demand(torch.abs(wide) < float(INT_BOUND), ValueError("cannot convert float NaN, infinity or a float beyond int64 to an int"))
    return cast(wide, torch.int64)


_ROUNDED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"floor": torch.floor, "ceil": torch.ceil, "round": torch.round}


def rounded(x: Any, name: str) -> Any:
    """`math.floor(x)`, `math.ceil(x)`, `round(x)`: ints."""
    x = settled(x)
    if type(x) is TracedSize:
        return x
    if type(x) is bool or (type(x) is TracedNumber and type(x._value) in (bool, int)):
        return int(x) if type(x) is bool else convert(x, int)
    tracer = state.running()
    with tracer.inside():
        function = round if name == "round" else getattr(math, name)
        value = attempt(tracer, lambda: function(value_of(x)), 1)
        tensor = tracer.tensor(x)
        if tensor.is_floating_point():
            tensor = _ROUNDED[name](tensor)
        return new_number(tracer, value, whole(tensor))


def python_values(x: Any, name: str, args: tuple[Any, ...]) -> Any:
    """`x.item()` and `x.tolist()`."""
    tracer = state.running()
    if tracer.is_constant(x):
        return getattr(x._value, name)(*args)
    if name == "tolist" and not args:
        return [python_values(i, name, ()) for i in x] if x.ndim else python_values(x, "item", ())
    with tracer.inside():
        value = tracer.numpy(lambda: getattr(x._value, name)(*args))
    if not args:
        return convert(x.reshape(()) if isinstance(x, numpy.ndarray) else x, type(value))
    index = args[0] if len(args) == 1 else args
    return convert(x[index] if isinstance(index, tuple) else x.reshape(-1)[index], type(value))


# Numbers among arrays


def fitted(tracer: Tracer, function: numpy.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The operands of a ufunc with Python's ints checked: OverflowError where the loop's dtype cannot hold one."""
    if not any(type(x) in (TracedNumber, TracedSize) for x in inputs):
        return inputs
    inputs = tuple(map(of_size, map(settled, inputs)))
    _check_either(inputs)
    if kwargs.get("signature") is not None:
        raise error("unsupported-argument", "signature= beside a Python number of the graph", "use dtype=")
    if method != "__call__" or not any(type(x) is TracedNumber and type(x._value) is int for x in inputs):
        return inputs
    dtypes = [_dtype(x) for x in inputs if not is_number(x)]
    if function in COMPARISONS.values() and dtypes and all(numpy.dtype(d).kind in "iu" for d in dtypes):
        return tuple(_strong(tracer, x, x._tensor) if type(x) is TracedNumber else x for x in inputs)  # NumPy's are exact
    try:
        kinds = tuple(kind_of(x) if is_number(x) else to_torch(_dtype(x).newbyteorder("=")) for x in inputs)
        loop = resolve(function, kinds, *((to_torch(kwargs["dtype"]),) if kwargs.get("dtype") is not None else ()))
    except Exception:
        return inputs  # NumPy itself says what is wrong
    return tuple(
        _strong(tracer, x, _held(x._tensor, dtype)) if type(x) is TracedNumber and type(x._value) is int else x
        for x, dtype in zip(inputs, loop, strict=False)
    )


def _dtype(x: Any) -> Any:
    return x.dtype if hasattr(x, "dtype") else numpy.asarray(x).dtype


def _strong(tracer: Tracer, x: TracedNumber, tensor: torch.Tensor) -> Any:
    return tracer.note(TracedNumber(x._value, tensor, strong=True))


def _held(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A Python int in `dtype`, which must be able to hold it."""
    if not (dtype.is_floating_point or dtype.is_complex or dtype in (torch.bool, torch.int64)):
        info = torch.iinfo(dtype)
        top = min(info.max, INT_BOUND - 1)
        name = str(dtype).removeprefix("torch.")
        demand((x >= info.min) & (x <= top), OverflowError(f"Python integer out of bounds for {name}"))
    return cast(x, dtype)


_CASTING = frozenset((
    "numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray", "numpy.full", "numpy.full_like", "numpy.pad",
    "numpy.insert", "numpy.put", "numpy.place", "numpy.putmask", "numpy.copyto", "numpy.fill_diagonal", "numpy.put_along_axis",
    "numpy.ndarray.fill", "numpy.ndarray.put", "numpy.ndarray.__setitem__", "numpy.append",
))  # fmt: skip
"""Functions that cast a number to the dtype of an array, also a float to an integer dtype."""

_UNBOUNDED = frozenset((
    "numpy.ndarray.__getitem__", "numpy.take", "numpy.ndarray.take", "numpy.delete", "numpy.roll", "numpy.repeat", "numpy.ndarray.repeat",
    "numpy.where",
))  # fmt: skip
"""Functions to which ints are positions, or which let them wrap."""

_OWN_BOUNDS = frozenset(("numpy.clip", "numpy.ndarray.clip"))
"""Functions whose rules check ints themselves: some that the dtype cannot hold are taken."""

_POSITION_SECOND = frozenset(("numpy.ndarray.__setitem__", "numpy.put", "numpy.ndarray.put", "numpy.put_along_axis", "numpy.insert"))
"""Functions whose second argument is a position."""


def check_numbers(name: str, real: Call, targets: list[Any], result: Any) -> None:
    """Assert, for a NumPy function that is no ufunc, what NumPy demands of the Python numbers among its arguments.

    An integer dtype among the arrays must hold the ints; where floats are cast to one, they must be numbers that it can hold."""
    args = (*real.args[:1], *real.args[2:]) if name in _POSITION_SECOND else real.args
    operands = list(leaves((args, real.kwargs)))
    numbers = [x for x in operands if type(x) is TracedNumber and settled(x) is x]
    if not numbers:
        return
    arrays = [x for x in (*operands, *targets) if isinstance(x, (numpy.ndarray, numpy.generic))]
    if isinstance(result, (tuple, list)) or (name in _UNBOUNDED and name != "numpy.where"):
        arrays = []  # each result has a dtype of its own; what is a position must be an int
    _check_either((*numbers, *arrays))
    if name in _UNBOUNDED:
        return
    arrays = [x for x in (*operands, *targets, result) if isinstance(x, (numpy.ndarray, numpy.generic))]
    tracer = state.current()
    for dtype in {x.dtype for x in arrays if x.dtype.kind in "iu"} if name not in _OWN_BOUNDS else ():
        for x in numbers:
            if type(x._value) is int:
                if tracer is not None and tracer.on_sample and not numpy.iinfo(dtype).min <= x._value <= numpy.iinfo(dtype).max:
                    message = f"{name} takes a Python int that the graph computes, and that {dtype} cannot hold"
                    raise error("python-value", message, "make a NumPy scalar of it: np.int64(n)")
                _held(x._tensor, to_torch(dtype))
            elif type(x._value) is float and name in _CASTING:
                _held(whole(x._tensor), to_torch(dtype))


def _check_either(operands: tuple[Any, ...]) -> None:
    if not any(isinstance(x, (numpy.ndarray, numpy.generic)) and x.dtype.kind in "fc" for x in operands):
        for x in operands:
            only(x)


def choose(tracer: Tracer, name: str, better: str, item: Any, best: Any) -> Any:
    """Python's `min` or `max` of two Python numbers, of which one is traced at least."""
    item, best = of_size(settled(item)), of_size(settled(best))
    if type(item) is not TracedNumber and type(best) is not TracedNumber:
        return item if OPERATORS[better](item, best) else best
    kinds = {kind_of(item), kind_of(best)}
    if len(kinds) > 1 and kinds != {int, float}:
        tracer.leave(next(x for x in (item, best) if type(x) is TracedNumber), "data-dependent-branch", f"{name} of different types")
    kind = max(kinds, key=_ORDER.index)
    either = len(kinds) > 1 or any(map(_is_either, (item, best)))
    condition = _numbers(tracer, better, item, best)
    chosen = torch.where(condition._tensor, tensor_as(item, kind), tensor_as(best, kind))
    return new_number(tracer, kind(value_of(item) if condition._value else value_of(best)), chosen, either)
