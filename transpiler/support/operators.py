"""Python's operators on values that may be tensors: what rewritten source calls where the facts leave something open.

`ops.add(a, b)` is NumPy's `+` where a tensor takes part and Python's `+` where none does; `ops.call(f, x)` calls what `f`
means for tensors: the rule of a NumPy function, the rewritten twin of a function of the user's. Nothing is guessed: what has no
meaning for tensors raises `Refused`.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import contextlib
import copy as _copy
import functools
import heapq
import importlib
import itertools
import logging
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy
import torch

from .. import rules
from ..semantics.arrays import as_tensor, is_scalar, on_memory, written_outside, zero_d_array
from ..semantics.dtypes import to_numpy
from ..semantics.indexing import FlatView
from ..semantics.keys import whole
from ..semantics.table import REFUSALS, Refusal, Refused
from ..source.facts.known import OPERATORS as _BY_NODE
from .callables import check_refusal, holds_array, is_users, numpy_rule, scalar, understands_tensors
from .passage import keeping, own_steps
from .powers import is_array, raised


def _arrays(*values: Any) -> bool:
    """True where NumPy (that is: a rule) is concerned."""
    return any(isinstance(v, (torch.Tensor, numpy.ndarray, numpy.generic)) for v in values)


def _binary(ufunc: str, python: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operate(a: Any, b: Any) -> Any:
        if (found := user_code.binary(python, a, b)) is not user_code.ABSENT:
            return found
        if not _arrays(a, b):
            return python(a, b)
        text = isinstance(a, str) or isinstance(b, str)
        if text and (ufunc not in ("equal", "not_equal") or not (is_array(a) or is_array(b))):
            return python(_plain(a), _plain(b))
        if ufunc == "multiply" and _repeats(a, b):
            return repeated(a, b) if isinstance(a, (list, tuple)) else repeated(b, a)
        if (text or a is None or b is None) and ufunc in ("equal", "not_equal"):
            other = as_tensor(a if b is None or isinstance(b, str) else b)
            return torch.full_like(other, ufunc == "not_equal", dtype=torch.bool)
        if ufunc == "power":
            return raised(a, b)
        if ufunc == "matmul" and not any(is_array(v) and not isinstance(v, (list, tuple)) for v in (a, b)):
            return python(_stand_in(a), _stand_in(b))  # TypeError: scalars have no `@`
        return rules.lookup(f"numpy.{ufunc}").call(a, b)

    operate.__name__ = ufunc
    return operate


def _plain(a: Any) -> Any:
    """A tensor as NumPy holds it, where Python takes no other."""
    return python(a) if isinstance(a, torch.Tensor) else a


def _repeats(a: Any, b: Any) -> bool:
    """`[0] * n` with a NumPy integer repeats the list; with an array it is arithmetic."""
    if isinstance(b, (list, tuple)):
        a, b = b, a
    return isinstance(a, (list, tuple)) and not is_array(b)


def repeated(items: Any, times: Any) -> Any:
    """`items * times`. Raises TypeError for a number that is no integer."""
    if not isinstance(kind := _stand_in(times), (int, numpy.integer)):
        raise TypeError(f"can't multiply sequence by non-int of type 'numpy.{type(kind).__name__}'")
    return items * operator.index(times)


def _unary(ufunc: str, python: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def operate(a: Any) -> Any:
        return rules.lookup(f"numpy.{ufunc}").call(a) if _arrays(a) else user_code.unary(python, a)

    operate.__name__ = ufunc
    return operate


PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv, "floor_divide": operator.floordiv,
    "remainder": operator.mod, "power": operator.pow, "matmul": operator.matmul, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "left_shift": operator.lshift, "right_shift": operator.rshift, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
_PYTHON_UNARY: dict[str, Callable[[Any], Any]] = {
    "negative": operator.neg, "positive": operator.pos, "invert": operator.invert, "absolute": operator.abs,
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """`ops.add` and its kin: one for each operator of Python's data model, made on first use."""
    if name in PYTHON:
        made: Any = _binary(name, PYTHON[name])
    elif name in _PYTHON_UNARY:
        made = _unary(name, _PYTHON_UNARY[name])
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made
    return made


def either(ufunc: str, *operands: Any) -> Any:
    """An operator on what is an array or a torch tensor, nobody knows which. Refused where NumPy and torch do not agree."""
    function: Callable[..., Any] = PYTHON[ufunc] if ufunc in PYTHON else _PYTHON_UNARY[ufunc]
    python = function(*operands)
    if not any(isinstance(o, torch.Tensor) for o in operands):
        return python
    as_numpy = __getattr__(ufunc)(*operands)
    if as_numpy.dtype != python.dtype or as_numpy.shape != python.shape or not torch.allclose(as_numpy, python, equal_nan=True):
        shown = ", ".join(str(getattr(o, "dtype", o)) for o in operands)
        message = f"NumPy and torch do not agree on `{ufunc}` of {shown}, and which one is meant is not known"
        raise Refused(message, "say which: torch.as_tensor(...) or .numpy()", "opaque-call")
    return python


def _tensor(a: Any) -> Any:
    """An array that an object of the program's holds, as a tensor on its memory, so that views of it are views."""
    return on_memory(a) if type(a) is numpy.ndarray and a.dtype.kind in "biufc" else as_tensor(a)


class _Key:
    """`ops.key[1:3, ::-1]` is the index itself."""

    def __getitem__(self, key: Any) -> Any:
        return key


key = _Key()


def getitem(a: Any, index: Any) -> Any:
    """`a[index]`: NumPy's indexing where `a` is an array, Python's elsewhere."""
    if isinstance(a, (torch.Tensor, numpy.ndarray)):
        array = _tensor(a)
        found = rules.lookup("numpy.ndarray.__getitem__").call(array, index)
        if isinstance(a, torch.Tensor) and is_scalar(a):
            found = found.clone()  # what comes of a scalar never shares its memory
        return _keep_zero_d(found, index)
    if isinstance(index, torch.Tensor) and isinstance(a, (list, tuple, str, range)):
        index = python(index)  # a bool is none, nor is an array with a dimension
    if (mine := user_code.getitem(a, index)) is not user_code.ABSENT:
        return mine
    found = a[_numpy_index(index) if isinstance(a, dict) else index]
    return as_tensor(found) if isinstance(a, numpy.generic) else found


def _keep_zero_d(found: Any, index: Any) -> Any:
    """`x[0, ...]` is a 0-d array in NumPy, `x[0]` a scalar."""
    if (
        isinstance(found, torch.Tensor)
        and found.ndim == 0
        and any(i is Ellipsis for i in (index if isinstance(index, tuple) else (index,)))
    ):
        return zero_d_array(found)
    return found


def setitem(a: Any, index: Any, value: Any) -> None:
    """`a[index] = value`."""
    if isinstance(a, torch.Tensor):
        if is_scalar(a):
            raise TypeError(f"'numpy.{to_numpy(a.dtype)}' object does not support item assignment")
        rules.lookup("numpy.ndarray.__setitem__").call(a, index, value)
    elif isinstance(a, numpy.ndarray):
        a[_numpy_index(index)] = python(value)  # an array that an object of the program's holds: by NumPy itself
        written_outside(a)
    elif (twin := user_code.special(a, "__setitem__")) is not None:
        twin(index, value)
    else:
        a[_numpy_index(index)] = elements(value) if isinstance(a, list) and isinstance(index, slice) else value


def _numpy_index(index: Any) -> Any:
    """An index as NumPy takes it (`python` would leave its slices as they are)."""
    if isinstance(index, tuple):
        return tuple(map(_numpy_index, index))
    if isinstance(index, slice):
        return slice(*(python(part) for part in (index.start, index.stop, index.step)))
    return python(index)


def contains(a: Any, value: Any) -> bool:
    """`value in a`."""
    if isinstance(a, torch.Tensor) and is_scalar(a):
        raise TypeError(f"argument of type 'numpy.{to_numpy(a.dtype)}' is not iterable")
    if isinstance(a, (torch.Tensor, numpy.ndarray)):
        return bool(torch.any(rules.lookup("numpy.equal").call(as_tensor(a), value)))
    if (twin := user_code.special(a, "__contains__")) is not None:
        return _is_true(twin(value))
    if isinstance(a, HASHED):
        return python(value) in a
    if isinstance(a, (list, tuple, collections.deque, collections.abc.ValuesView)) or not hasattr(type(a), "__contains__"):
        return any(_is_same(item, value) for item in iterate(a))
    return value in a


def _is_true(a: Any) -> bool:
    """The truth of a value; of an array that has none, NumPy's own error."""
    return bool(python(a) if isinstance(a, torch.Tensor) and a.numel() != 1 else a)


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then if condition else otherwise` of values that are computed both: a choice by torch where they are alike, else Python's."""
    if not all(isinstance(v, torch.Tensor) for v in (condition, then, otherwise)) or condition.ndim or condition.dtype != torch.bool:
        return then if condition else otherwise
    if then.dtype != otherwise.dtype or then.shape != otherwise.shape or is_scalar(then) != is_scalar(otherwise):
        return then if condition else otherwise
    chosen = torch.where(condition, then, otherwise)
    return chosen if is_scalar(then) else zero_d_array(chosen)


def attribute(a: Any, name: str) -> Any:
    """`a.name`: the array attribute where `a` is an array."""
    if isinstance(a, (numpy.ndarray, numpy.generic)):
        a = _tensor(a)
    if not isinstance(a, torch.Tensor):
        return user_code.read(a, name)
    found = rules.load_once().get(f"numpy.ndarray.{name}")
    if found is None:
        refusal = REFUSALS.get(f"numpy.ndarray.{name}", _UNKNOWN)
        raise Refused(f"the array attribute .{name}: {refusal.reason}", refusal.hint, refusal.finding)
    return found.call(a)


_UNKNOWN = Refusal((), "it has no rule", "compute it from what the rules cover")


def method(a: Any, name: str) -> Callable[..., Any]:
    """`a.name` about to be called: the rule of the array method where `a` is an array."""
    if isinstance(a, (numpy.ndarray, numpy.generic)) and not isinstance(a, type):
        a = _tensor(a)
    if isinstance(a, types.ModuleType):
        return functools.partial(call, getattr(a, name))  # `xp.std(x)`: whichever module that is
    if not isinstance(a, torch.Tensor):
        return user_code.method(a, name)
    found = rules.load_once().get(f"numpy.ndarray.{name}")
    if found is not None:
        return functools.partial(found.call, a)
    if name in ("numpy", "detach", "cpu", "contiguous"):
        return lambda *_, **__: a  # a tensor stays a tensor
    if f"numpy.ndarray.{name}" in REFUSALS:
        refusal = REFUSALS[f"numpy.ndarray.{name}"]
        raise Refused(f"ndarray.{name}: {refusal.reason}", refusal.hint, refusal.finding)
    if hasattr(numpy.ndarray, name):
        raise Refused(f"ndarray.{name} has no rule", "compute it from what the rules cover", "unmapped-function")
    return getattr(a, name)


def python(a: Any) -> Any:
    """A value as NumPy would hold it, for text: formatting, printing, messages."""
    if isinstance(a, torch.Tensor):
        held = a.detach().resolve_conj().resolve_neg().cpu().numpy()
        return _same_nan(a, held[()]) if is_scalar(a) else held
    if isinstance(a, torch.Size):
        return tuple(a)
    if isinstance(a, torch.dtype):
        return to_numpy(a)
    if isinstance(a, tuple) and hasattr(a, "_fields"):
        return type(a)(*map(python, a))
    if isinstance(a, (list, tuple)):
        return type(a)(map(python, a))
    if type(a) is dict:
        return {k: python(v) for k, v in a.items()}
    return a


def _same_nan(a: torch.Tensor, held: Any) -> Any:
    """NaN equals nothing: dicts, sets and lists know it by its identity, so a scalar that holds it is one object every time."""
    if held == held:
        return held
    return a.__dict__.setdefault("_np2fx_nan", held)


def is_instance(value: Any, classes: Any) -> bool:
    """`isinstance` in NumPy's eyes: a tensor is an ndarray, a 0-d one that came of a computation a NumPy scalar."""
    if isinstance(value, torch.Tensor):
        value = numpy.empty((), to_numpy(value.dtype))[()] if is_scalar(value) else numpy.empty(0, to_numpy(value.dtype))
        flat = classes if isinstance(classes, tuple) else (classes,)
        return any(c is torch.Tensor or isinstance(value, c) for c in flat)
    return isinstance(_stand_in(value), classes)


def is_same(a: Any, b: Any) -> bool:
    """`a is b` of what may be NumPy's bools: these are two objects, whatever computes them."""
    held = [x.item() if isinstance(x, torch.Tensor) and is_scalar(x) and x.dtype == torch.bool else x for x in (a, b)]
    kinds = [type(h) is numpy.bool_ or (h is not x and type(h) is bool) for h, x in zip(held, (a, b), strict=True)]
    return a is b or (all(kinds) and bool(held[0]) == bool(held[1]))


class _Kinds:
    """`ops.kinds.ndarray`: a class of NumPy's (or Python's) as a pattern asks for it, `case ops.kinds.ndarray():`."""

    def __getattr__(self, name: str) -> Any:
        of = getattr(builtins if name in ("float", "complex") else numpy, name)
        meta: Any = type(name, (type,), {"__instancecheck__": lambda cls, value: is_instance(value, of)})
        setattr(self, name, meta(name, (), {}))
        return getattr(self, name)


kinds = _Kinds()


def copy(value: Any) -> Any:
    """`copy.copy`: arrays are copied in NumPy, where torch would share the memory."""
    return value.clone() if isinstance(value, torch.Tensor) else user_code.protocol(_copy.copy, (value,), _copy.copy)(value)


def deepcopy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else user_code.protocol(_copy.deepcopy, (value,), _copy.deepcopy)(value)


def from_numpy(value: Any) -> Any:
    """`torch.from_numpy` and `torch.as_tensor` of what is a tensor already: itself. torch does not know what is read-only."""
    if isinstance(value, torch.Tensor) and value.is_inference() and not torch.is_inference_mode_enabled():
        return value.clone()
    return value if isinstance(value, torch.Tensor) else as_tensor(value)


def _sum(values: Any, start: Any = 0) -> Any:
    total = start
    for v in iterate(values):
        total = __getattr__("add")(total, v)
    return total


def _round(value: Any, ndigits: Any = None) -> Any:
    if not _arrays(value):
        return round(value, ndigits) if ndigits is not None else round(value)
    if isinstance(value, numpy.ndarray) or (isinstance(value, torch.Tensor) and not is_scalar(value)):
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    if (dtype := as_tensor(value).dtype).is_complex or dtype == torch.bool:
        raise TypeError(f"type numpy.{to_numpy(dtype)} doesn't define __round__ method")
    if ndigits is None:
        return round(as_tensor(value).item())
    return rules.lookup("numpy.round").call(value, ndigits or 0)


def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        return pow(base, exponent, modulus)
    return __getattr__("power")(base, exponent)


def _divmod(a: Any, b: Any) -> Any:
    return rules.lookup("numpy.divmod").call(a, b) if _arrays(a, b) else divmod(a, b)


def _min(*values: Any, **kwargs: Any) -> Any:
    return _extreme(min, "less", *values, **kwargs)


def _max(*values: Any, **kwargs: Any) -> Any:
    return _extreme(max, "greater", *values, **kwargs)


def _sorted(values: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """By NumPy's `<`: torch has none for unsigned and complex scalars."""
    items = list(iterate(values))
    if key is None and not _arrays(*items) and not any(user_code.special(i, "__lt__") for i in items):
        return sorted(items, reverse=reverse)
    ordered = functools.cmp_to_key(lambda a, b: -1 if bool(__getattr__("less")(a, b)) else 0)
    return sorted(items, key=ordered if key is None else lambda item: ordered(key(item)), reverse=bool(reverse))


def _extreme(function: Callable[..., Any], comparison: str, *values: Any, **kwargs: Any) -> Any:
    """Python's min and max keep the first of equals: one comparison a value."""
    items = list(iterate(values[0])) if len(values) == 1 else list(values)
    if kwargs or not (_arrays(*items) or any(user_code.special(i, "__lt__") or user_code.special(i, "__gt__") for i in items)):
        return function(items, **kwargs)
    best = items[0]
    for item in items[1:]:
        if bool(__getattr__(comparison)(item, best)):
            best = item
    return best


def get_attribute(a: Any, name: str, *default: Any) -> Any:
    """`getattr(a, name)`: an array's methods and attributes where `a` is an array."""
    if not isinstance(a, (torch.Tensor, numpy.ndarray, numpy.generic)):
        return user_code.read(a, name, *default)
    held = _stand_in(a)
    if not hasattr(held, name):
        if default:
            return default[0]
        raise AttributeError(f"'{shown_type(a)}' object has no attribute {name!r}")
    return method(a, name) if callable(getattr(type(held), name)) else attribute(a, name)


def shown_type(a: Any) -> str:
    """The name of a type in messages."""
    kind = type_of(a)
    return f"{kind.__module__}.{kind.__qualname__}"


def has_attribute(a: Any, name: str) -> bool:
    """`hasattr(a, name)`, of an array what NumPy's has: no `.cpu`, no `.numpy`."""
    if not isinstance(a, torch.Tensor):
        return user_code.read(a, name, user_code.ABSENT) is not user_code.ABSENT
    return hasattr(_stand_in(a), name)


def _stand_in(a: Any) -> Any:
    """A small array or scalar of a tensor's dtype, to ask NumPy what it would say."""
    if isinstance(a, FlatView):
        return numpy.zeros(1).flat
    if isinstance(a, types.GeneratorType) and a.gi_code in own_steps:
        return reversed(()) if a.gi_frame is not None and a.gi_frame.f_locals["backwards"] else iter(numpy.zeros(1))
    if not isinstance(a, torch.Tensor):
        return a
    made = numpy.zeros((1,) * a.ndim, to_numpy(a.dtype))
    return made[()] if is_scalar(a) else made


def type_of(*args: Any) -> Any:
    """`type(a)`: ndarray, or the type of a NumPy scalar."""
    if len(args) == 1 and isinstance(args[0], torch.Size):
        return tuple
    return type(_stand_in(args[0])) if len(args) == 1 else type(*args)


def _asked(function: Callable[..., Any], *args: Any) -> Any:
    """`len(a)`, `hash(a)`, `next(a)`."""
    found = user_code.converted(function, args)
    return function(*map(python, args)) if found is user_code.ABSENT else found


def _index(a: Any) -> int:
    """`operator.index(a)`."""
    if isinstance(a, torch.Tensor):
        return whole(a)
    found = user_code.converted(operator.index, (a,))
    return operator.index(a) if found is user_code.ABSENT else found


def _picked(getter: operator.itemgetter[Any], a: Any) -> Any:
    """`operator.itemgetter(0, slice(1, 3))(a)`."""
    reduced: Any = getter.__reduce__()
    found = tuple(getitem(a, key) for key in reduced[1])
    return found if len(found) > 1 else found[0]


def _occurrences(a: Any, value: Any) -> int:
    """`operator.countOf(a, value)`."""
    return builtins.sum(_is_same(item, value) for item in iterate(a))


def _first_place(a: Any, value: Any) -> int:
    """`operator.indexOf(a, value)`."""
    for place, item in enumerate(iterate(a)):
        if _is_same(item, value):
            return place
    raise ValueError("sequence.index(x): x not in sequence")


def _is_same(item: Any, value: Any) -> bool:
    return item is value or _is_true(__getattr__("equal")(item, value))


def _accumulate(values: Any, function: Any = None, **kwargs: Any) -> Any:
    return itertools.accumulate(iterate(values), __getattr__("add") if function is None else callable_for(function), **kwargs)


def _number(kind: type, *args: Any, **kwargs: Any) -> Any:
    """`float(a)` and its like: of an array, and of a complex number, what NumPy says of it."""
    if len(args) == 1 and isinstance(args[0], torch.Tensor) and (args[0].ndim or args[0].is_complex() or args[0].dtype == torch.uint64):
        return kind(python(args[0]))
    found = user_code.converted(kind, args)
    return kind(*args, **kwargs) if found is user_code.ABSENT else found


from . import user_code  # noqa: E402  (they need what stands above)
from .hashing import HASHED, hashing, method_of, pairing  # noqa: E402
from .iterating import ITERATORS, backwards, chained, each, elements, entering, filling, iterate, over, reduced, spread  # noqa: E402
from .updates import IN_PLACE, set_attribute, update, update_item  # noqa: E402
from .user_code import delete_attribute, delete_item, shown, truth  # noqa: E402

BUILTINS: dict[Any, Callable[..., Any]] = {
    builtins.sum: _sum, builtins.round: _round, builtins.pow: _power, builtins.divmod: _divmod, builtins.min: _min, builtins.max: _max,
    builtins.setattr: set_attribute, operator.setitem: setitem, operator.getitem: getitem,
    builtins.set: hashing(builtins.set), builtins.dict: pairing(builtins.dict), builtins.frozenset: hashing(builtins.frozenset),
    collections.Counter: hashing(collections.Counter), collections.OrderedDict: pairing(collections.OrderedDict),
    collections.defaultdict: pairing(collections.defaultdict),
    itertools.chain.from_iterable: chained, itertools.accumulate: _accumulate, functools.reduce: reduced, **ITERATORS,
    builtins.isinstance: is_instance, builtins.getattr: get_attribute, builtins.hasattr: has_attribute, builtins.type: type_of,
    operator.contains: contains, operator.index: _index, operator.countOf: _occurrences, operator.indexOf: _first_place,
    numpy.dtype: lambda *args, **kwargs: numpy.dtype(*map(python, args), **kwargs),
    builtins.abs: lambda a: __getattr__("absolute")(a), object.__setattr__: user_code.plainly, builtins.sorted: _sorted,
    builtins.reversed: backwards, _copy.copy: copy, _copy.deepcopy: deepcopy, torch.from_numpy: from_numpy,
}  # fmt: skip
"""Builtins that mean something else for tensors than for arrays."""

for _f in (builtins.str, builtins.repr, builtins.format, builtins.print):
    BUILTINS[_f] = functools.partial(lambda f, *args, **kwargs: f(*map(user_code.shown, args), **kwargs), _f)
for _o in (itertools.chain, itertools.islice, itertools.product, itertools.zip_longest, itertools.tee, heapq.nlargest, heapq.nsmallest,
           heapq.merge):  # fmt: skip
    BUILTINS[_o] = over(_o)
for _g in (builtins.list, builtins.tuple, builtins.enumerate, builtins.zip, builtins.iter, builtins.map, builtins.filter):
    BUILTINS[_g] = functools.partial(lambda f, *args, **kwargs: f(*map(iterate, args), **kwargs), _g)
for _h in (builtins.len, builtins.hash, builtins.next):
    BUILTINS[_h] = functools.partial(_asked, _h)
for _kind in (builtins.bool, builtins.int, builtins.float, builtins.complex):
    BUILTINS[_kind] = functools.partial(_number, _kind)
for _node, _name in _BY_NODE.items():
    if _name in PYTHON:
        BUILTINS.setdefault(PYTHON[_name], functools.partial(lambda n, a, b: getattr(sys.modules[__name__], n)(a, b), _name))
        if _name in IN_PLACE:
            BUILTINS[IN_PLACE[_name]] = functools.partial(lambda n, a, b: update(a, n, b), _name)

lift_function: Callable[[types.FunctionType], Callable[..., Any]] | None = None
"""Set by np2fx.converting: turns a function of the user's into its torch twin."""


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`function(*args)`, where `function` is whatever the program holds at that place."""
    return callable_for(function, (*args, *kwargs.values()))(*args, **kwargs)


def function(value: Any) -> Any:
    """A function (or a list of them) that is handed on to be called with tensors; other values are themselves."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(function, value))
    return callable_for(value, (torch.empty(0),)) if callable(value) else value


def callable_for(function: Any, args: tuple[Any, ...] = ()) -> Callable[..., Any]:
    """What a callable means for tensors. Raises Refused where that is not known and a tensor would go in."""
    with_rule = numpy_rule(function)
    if with_rule is not None:
        return with_rule
    if any(map(holds_array, args)):
        check_refusal(function)
    try:
        twin = user_code.protocol(function, args) or BUILTINS.get(function)
    except TypeError:
        twin = None
    if twin is not None:
        return twin
    if isinstance(generator := _managed(function), types.FunctionType):
        return contextlib.contextmanager(callable_for(generator, args))
    if _writes_text(function):
        return functools.partial(lambda f, *args, **kwargs: f(*map(user_code.shown, args), **kwargs), function)
    if isinstance(function, operator.itemgetter):
        return functools.partial(_picked, function)
    if isinstance(function, operator.methodcaller):
        return functools.partial(_call_method, function)
    if (filled := method_of(function) or filling(function)) is not None:
        return filled
    if isinstance(function, functools.partial):
        return functools.partial(callable_for(function.func, args), *function.args, **function.keywords)
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType) and is_users(function.__func__):
        return functools.partial(_lifted(function.__func__), function.__self__)
    if isinstance(function, types.FunctionType) and is_users(function):
        return _lifted(function)
    if (made := user_code.meaning(function, args)) is not None:
        return made
    method = type(function).__call__
    if isinstance(method, types.FunctionType) and is_users(method) and not isinstance(function, torch.nn.Module):
        return functools.partial(_lifted(method), function)
    if understands_tensors(function) or not any(map(holds_array, args)):
        return function
    raise Refused(f"{getattr(function, '__qualname__', function)} is given an array, but np2fx cannot see what it does with it",
                  "write the step in NumPy, give np2fx a rule for it, or split the node around it", "opaque-call")  # fmt: skip


def _call_method(caller: operator.methodcaller, a: Any) -> Any:
    """`operator.methodcaller("std", axis=0)(a)`."""
    reduced: Any = caller.__reduce__()
    made, given = reduced
    if isinstance(made, functools.partial):  # how it pickles one with keywords
        return call(method(a, made.args[0]), *given, **made.keywords)
    return call(method(a, given[0]), *given[1:])


def _managed(function: Any) -> Any:
    """The generator function that `contextlib.contextmanager` has made a context of; None for everything else."""
    made = isinstance(function, types.FunctionType) and function.__code__ is contextlib.contextmanager(_managed).__code__  # type: ignore[type-var]
    return getattr(function, "__wrapped__", None) if made else None


def _writes_text(function: Any) -> bool:
    """A method of a logger: what it is given is shown as NumPy shows it."""
    return (
        isinstance(getattr(function, "__self__", None), (logging.Logger, logging.LoggerAdapter))
        or getattr(function, "__module__", "") == "logging"
    )


def _lifted(function: types.FunctionType) -> Callable[..., Any]:
    """The twin of a function of the user's. A function made by rewritten code is rewritten already."""
    maker, inside, _ = function.__qualname__.partition(".<locals>.")
    first, *rest = maker.split(".")
    made_by = functools.reduce(lambda owner, name: getattr(owner, name, None), rest, function.__globals__.get(first)) if inside else None
    if hasattr(function, "__np2fx_rewritten__") or hasattr(made_by, "__np2fx_rewritten__"):
        return function
    if function.__code__.co_filename.startswith("<np2fx "):
        return function
    if lift_function is None:
        importlib.import_module("..converting", __package__)  # a rewritten file imports this module alone
    assert lift_function is not None
    return lift_function(function)


from .errors import caught, passed_on, suppress, told  # noqa: E402

__all__ = ["call", "caught", "delete_attribute", "delete_item", "each", "entering", "getitem", "iterate",
           "keeping", "key", "method", "passed_on", "python", "scalar", "setitem", "shown", "spread", "suppress", "told",
           "truth", "update", "update_item"]  # fmt: skip
