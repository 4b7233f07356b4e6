"""Code of the user's that runs though no call of it is written: properties, operators, special methods, what makes an object.

Python itself would run it as it stands, on tensors. Here it is found where Python would find it, and its torch twin runs instead.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import dis
import functools
import itertools
import math
import operator
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from ..semantics.table import Refused, module_of
from ..source.flow.user_classes import CONVERSIONS, SPECIAL, Reads, computing
from . import operators
from .callables import is_users, is_users_module
from .passage import keeping, made_here

ABSENT = object()


def coded(function: Any) -> bool:
    """A function that the user has written: no twin, and not one that `dataclasses` or `collections` has made up."""
    if not isinstance(function, types.FunctionType) or hasattr(function, "__np2fx_rewritten__"):
        return False
    return not function.__code__.co_filename.startswith(("<string>", "<frozen")) and is_users(function)


def lookup(kind: type, name: str, after: type | None = None) -> Any:
    """What a class or one above it holds under a name; with `after`, as `super()` looks for it. ABSENT where there is none."""
    order = kind.__mro__ if after is None else kind.__mro__[kind.__mro__.index(after) + 1 :]
    for owner in order:
        if name in owner.__dict__:
            return owner.__dict__[name]
    return ABSENT


def special(a: Any, name: str) -> Callable[..., Any] | None:
    """The twin of a special method, bound to `a`, where the user has written it for the class of `a`."""
    kind = type(a)
    if module_of(kind) in ("builtins", "torch", "numpy"):
        return None
    found = lookup(kind, name)
    return functools.partial(operators.call, found, a) if coded(found) else None


# Attributes.


def read(a: Any, name: str, *default: Any) -> Any:
    """`a.name`, where `a` is no array."""
    kind = type(a)
    if module_of(kind) == "builtins" and kind is not super:
        return operators.type_of(a) if name == "__class__" else getattr(a, name, *default)
    try:
        return _read(a, kind, name)
    except AttributeError:
        ask = special(a, "__getattr__")
        try:
            if ask is not None:
                return ask(name)
            raise
        except AttributeError:
            if default:
                return default[0]
            raise


def _read(a: Any, kind: type, name: str) -> Any:
    if kind is super:
        found, owner, kind = lookup(a.__self_class__, name, a.__thisclass__), a.__self__, a.__self_class__
        held: Any = {}
    else:
        everything = lookup(kind, "__getattribute__")
        if coded(everything):
            return operators.call(everything, a, name)
        found, owner, held = lookup(kind, name), a, getattr(a, "__dict__", {})
    if isinstance(found, property) and coded(found.fget):
        return operators.call(found.fget, owner)
    if isinstance(found, functools.cached_property) and coded(found.func):
        if name not in held:
            owner.__dict__[name] = operators.call(found.func, keeping(owner, name))
        return owner.__dict__[name]
    get = lookup(type(found), "__get__")
    if coded(get) and (name not in held or lookup(type(found), "__set__") is not ABSENT):
        return operators.call(get, found, owner, kind)
    if coded(lookup(kind, "__getattr__")):
        return object.__getattribute__(a, name)
    return getattr(a, name)


def assign(a: Any, name: str, value: Any) -> None:
    """`a.name = value`, where `a` is no array."""
    whole, found = special(a, "__setattr__"), lookup(type(a), name)
    into = lookup(type(found), "__set__")
    if whole is not None:
        whole(name, value)
    elif isinstance(found, property) and coded(found.fset):
        operators.call(found.fset, a, value)
    elif coded(into):
        operators.call(into, found, a, value)
    else:
        setattr(keeping(a, name), name, value)


def plainly(a: Any, name: str, value: Any) -> None:
    """`object.__setattr__(a, name, value)`."""
    object.__setattr__(keeping(a, name), name, value)


def delete_attribute(a: Any, name: str) -> None:
    """`del a.name`"""
    twin = special(a, "__delattr__")
    delattr(a, name) if twin is None else twin(name)


def delete_item(a: Any, index: Any) -> None:
    """`del a[index]`"""
    if isinstance(a, torch.Tensor):
        raise ValueError("cannot delete array elements")
    if (twin := special(a, "__delitem__")) is not None:
        twin(index)
    else:
        del a[operators.python(index)]


def method(a: Any, name: str) -> Any:
    """`a.name` about to be called, where `a` is no array."""
    found = read(a, name)
    return functools.partial(operators.call, found) if isinstance(found, types.MethodType) and coded(found.__func__) else found


def _attributes(paths: tuple[str, ...], a: Any) -> Any:
    """`operator.attrgetter("spread", "inner.spread")(a)`."""
    found = [functools.reduce(operators.get_attribute, path.split("."), a) for path in paths]
    return tuple(found) if len(found) > 1 else found[0]


def iterate(a: Any) -> Any:
    """What a `for` runs over, where it is no array."""
    start = special(a, "__iter__")
    if start is None and (item := special(a, "__getitem__")) is not None and lookup(type(a), "__iter__") is ABSENT:
        return _items(item)
    a = a if start is None else start()
    step = special(a, "__next__")
    return a if step is None else _steps(step)


def _items(item: Callable[[int], Any]) -> Iterator[Any]:
    for i in itertools.count():
        try:
            found = item(i)
        except IndexError:
            return
        yield found


def _steps(step: Callable[[], Any]) -> Iterator[Any]:
    while True:
        try:
            found = step()
        except StopIteration:
            return
        yield found


def getitem(a: Any, index: Any) -> Any:
    """`a[index]`, where the user has written what that is; ABSENT elsewhere."""
    if (twin := special(a, "__getitem__")) is not None:
        return twin(index)
    if isinstance(a, dict) and (twin := special(a, "__missing__")) is not None and (key := operators.python(index)) not in a:
        return twin(key)
    return ABSENT


# Operators.

_BY_PYTHON = {there.strip("_"): (there, back) for there, back in SPECIAL.values()}
_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "** or pow()", "matmul": "@", "and": "&",
    "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


def binary(python: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """`a + b` where the user has written what it means for the class of one of them; ABSENT elsewhere."""
    name = python.__name__.rstrip("_")
    there, back = _BY_PYTHON[name]
    compares = there.strip("_") in ("lt", "le", "gt", "ge", "eq", "ne")
    mine, theirs = _operator(a, there), _operator(b, back)
    if mine is None and theirs is None:
        return ABSENT
    attempts = [(a, there, mine, b), (b, back, theirs, a)]
    if type(a) is type(b) and not compares:
        attempts.pop()
    elif type(a) is not type(b) and issubclass(type(b), type(a)) and lookup(type(b), back) is not lookup(type(a), back):
        attempts.reverse()
    for owner, method, twin, other in attempts:
        found = twin(other) if twin is not None else _others(owner, method, other)
        if found is not NotImplemented:
            return found
    if name in ("eq", "ne"):
        return (a is b) is (name == "eq")
    left, right = (operators.type_of(v).__name__ if not isinstance(v, torch.Tensor) else operators.shown_type(v) for v in (a, b))
    if compares:
        raise TypeError(f"'{_SYMBOLS[name]}' not supported between instances of '{left}' and '{right}'")
    raise TypeError(f"unsupported operand type(s) for {_SYMBOLS[name]}: '{left}' and '{right}'")


def _operator(a: Any, name: str) -> Callable[..., Any] | None:
    found = special(a, name)
    if found is None and name == "__ne__" and lookup(type(a), "__ne__") is object.__ne__ and (same := special(a, "__eq__")) is not None:
        return lambda other: equal if (equal := same(other)) is NotImplemented else not bool(operators.python(equal))
    return found


def _others(a: Any, method: str, other: Any) -> Any:
    """What a class that the user has not written the operator for says to it."""
    if isinstance(a, (torch.Tensor, numpy.ndarray, numpy.generic)):
        waits = getattr(type(other), "__array_ufunc__", ABSENT) is None or getattr(other, "__array_priority__", -1) > 0
        if waits:
            return NotImplemented
        shown = type(other).__name__
        raise Refused(f"NumPy takes the {shown} beside an array for an array of objects", f"turn the operands round, or give {shown} "
                      "`__array_ufunc__ = None`", "object-dtype")  # fmt: skip
    found = getattr(type(a), method, None)
    return NotImplemented if found is None else found(a, other)


def unary(python: Callable[[Any], Any], a: Any) -> Any:
    """`-a`, `~a`, `abs(a)`."""
    twin = special(a, f"__{python.__name__.rstrip('_')}__")
    return python(a) if twin is None else twin()


class Entered:
    """A context of the user's, in a `with`."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __enter__(self) -> Any:
        return operators.call(read(self.held, "__enter__"))

    def __exit__(self, *error: Any) -> Any:
        return operators.python(operators.call(read(self.held, "__exit__"), *error))


def entering(a: Any) -> Any:
    """`with a:`"""
    return Entered(a) if special(a, "__enter__") is not None or special(a, "__exit__") is not None else a


# Text and numbers.


class Shown:
    """An object in a text: what the user has written of how it looks is computed by its twin."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __str__(self) -> str:
        twin = special(self.held, "__str__")
        if twin is not None:
            return str(twin())
        return repr(self) if lookup(type(self.held), "__str__") is object.__str__ else str(self.held)

    def __repr__(self) -> str:
        twin = special(self.held, "__repr__")
        return repr(self.held) if twin is None else str(twin())

    def __format__(self, spec: str) -> str:
        twin = special(self.held, "__format__")
        if twin is not None:
            return str(twin(spec))
        return str(self) if lookup(type(self.held), "__format__") is object.__format__ and not spec else format(self.held, spec)


def shown(a: Any) -> Any:
    """A value as text shows it."""
    kind = type(a)
    if module_of(kind) != "builtins" and any(coded(lookup(kind, n)) for n in ("__str__", "__repr__", "__format__")):
        return Shown(a)
    if type(a) in (list, tuple):
        return type(a)(map(shown, a))
    return {k: shown(v) for k, v in a.items()} if type(a) is dict else operators.python(a)


def converted(function: Any, args: tuple[Any, ...]) -> Any:
    """`float(a)` and its like where the user has written what that is; ABSENT elsewhere."""
    for name in CONVERSIONS.get(function.__name__, ()) if args else ():
        if (twin := special(args[0], name)) is not None:
            if function is next:
                return _next(twin, *args[1:])
            return function(_saying(args[0], name, operators.python(twin())))
        if lookup(type(args[0]), name) is not ABSENT:
            break
    return ABSENT


def truth(a: Any) -> Any:
    """`a` where only its truth counts: that which the user has written for its class."""
    return a if special(a, "__bool__") is None else converted(bool, (a,))


def _saying(a: Any, name: str, found: Any) -> Any:
    """An object in place of `a` whose special method gives what the twin gave: Python itself says what it does not take."""
    return type(type(a).__name__, (), {name: lambda _: found})()


def _next(twin: Callable[[], Any], *default: Any) -> Any:
    try:
        return twin()
    except StopIteration:
        if default:
            return default[0]
        raise


_PROTOCOLS = {
    builtins.round: "__round__", builtins.divmod: "__divmod__", builtins.reversed: "__reversed__", math.ceil: "__ceil__",
    math.floor: "__floor__", math.trunc: "__trunc__", copy.copy: "__copy__", copy.deepcopy: "__deepcopy__",
}  # fmt: skip
"""Functions, and the special method of their first argument that says what they give."""


def protocol(function: Any, args: tuple[Any, ...], otherwise: Any = None) -> Any:
    """What `round`, `copy.copy` and their like are where the user has written it for the class of what they are given."""
    name = _PROTOCOLS.get(function)
    if name is None or not args or (twin := special(args[0], name)) is None:
        return otherwise
    return (lambda _, memo=None: twin({} if memo is None else memo)) if name == "__deepcopy__" else lambda _, *rest: twin(*rest)


# What makes an object.


def meaning(function: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What a class of the user's, or `object.__setattr__` of an object, is for tensors; None for everything else."""
    if isinstance(function, types.MethodWrapperType) and function.__name__ == "__setattr__" and function.__objclass__ is object:
        return functools.partial(plainly, function.__self__)
    if isinstance(function, operator.attrgetter):
        reduced: Any = function.__reduce__()
        return functools.partial(_attributes, reduced[1])
    if function is dataclasses.replace:
        return _replaced
    whole: Any = getattr(function, "__func__", None)
    wrapped = isinstance(function, types.MethodType) and not isinstance(whole, types.FunctionType)
    if wrapped and coded(getattr(whole, "__wrapped__", None)) and leads_to_array(function.__self__):
        raise Refused(f"`{whole.__name__}` is called through a {type(whole).__name__}, which np2fx cannot see into",
                      "call the function itself", "opaque-call")  # fmt: skip
    return constructor(function, args)


def constructor(kind: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What makes an object of a class as Python would, but runs the twins of what the user has written for it; None where there is nothing
    of the sort, or nothing that could lead to an array goes in."""
    if not isinstance(kind, type) or issubclass(kind, torch.nn.Module) or module_of(kind) in ("builtins", "torch", "numpy"):
        return None
    first, new, post = lookup(kind, "__init__"), lookup(kind, "__new__"), lookup(kind, "__post_init__")
    new = getattr(new, "__func__", new)
    after = dataclasses.is_dataclass(kind) and coded(post)
    if not (coded(first) or coded(new) or after) or not any(leads_to_array(a) for a in args):
        return None
    if coded(lookup(type(kind), "__call__")):
        raise Refused(f"{kind.__qualname__} is made by a class of classes of its own", "make the object outside the node", "opaque-call")
    if coded(first) or coded(new):
        return functools.partial(_make, kind, first, new)
    return functools.partial(_dataclass, kind)


def _make(kind: type, first: Any, new: Any, *args: Any, **kwargs: Any) -> Any:
    if coded(new):
        made = operators.call(new, kind, *args, **kwargs)
    else:
        make: Any = kind.__new__
        made = make(kind) if new is object.__new__ else make(kind, *args, **kwargs)
    if isinstance(made, kind):
        if coded(first):
            operators.call(first, made, *args, **kwargs)
        elif first is not object.__init__:
            first(made, *args, **kwargs)
        made_here(made)
    return made


def _dataclass(kind: type, *args: Any, **kwargs: Any) -> Any:
    """A dataclass is made as one of a class derived from it, until its `__post_init__` is called: that of the twin."""
    made = _derived(kind)(*args, **kwargs)
    made_here(made)
    return made


def _replaced(a: Any, **changes: Any) -> Any:
    """`dataclasses.replace`, which makes another object of the class."""
    kind: Any = type(a)
    if not hasattr(kind, "__dataclass_fields__") or not coded(lookup(kind, "__post_init__")) or coded(lookup(kind, "__init__")):
        return dataclasses.replace(a, **changes)
    stand_in: Any = object.__new__(_derived(kind))
    for field in dataclasses.fields(a):
        if hasattr(a, field.name):
            object.__setattr__(stand_in, field.name, getattr(a, field.name))
    made = dataclasses.replace(stand_in, **changes)
    made_here(made)
    return made


@functools.cache
def _derived(kind: Any) -> type:
    if coded(getattr(lookup(kind, "__init_subclass__"), "__func__", None)):
        raise Refused(f"{kind.__qualname__} has a `__post_init__`, and knows of the classes that are derived from it",
                      "make the object outside the node", "opaque-call")  # fmt: skip

    def after(made: Any, *given: Any, **named: Any) -> None:
        object.__setattr__(made, "__class__", kind)
        operators.call(lookup(kind, "__post_init__"), made, *given, **named)

    held = {"__slots__": (), "__post_init__": after, "__module__": module_of(kind), "__qualname__": kind.__qualname__}
    return types.new_class(kind.__name__, (kind,), {}, lambda space: space.update(held))


def leads_to_array(value: Any) -> bool:
    """Whether an array is a value, or held by it at whatever depth."""
    pending, known = [value], set[int]()
    while pending:
        v = pending.pop()
        if isinstance(v, (torch.Tensor, numpy.ndarray, numpy.generic)):
            return True
        if id(v) in known or v is None or isinstance(v, (int, float, complex, str, bytes, type, types.ModuleType)):
            continue
        known.add(id(v))
        if isinstance(v, (types.FunctionType, types.GeneratorType)):
            return True
        if isinstance(v, dict):
            pending += v.values()
        elif isinstance(v, (list, tuple, set, frozenset)):
            pending += v
        elif isinstance(v, types.MethodType):
            pending.append(v.__self__)
        pending += getattr(v, "__dict__", {}).values()
        slots = (lookup(c, "__slots__") for c in type(v).__mro__)
        pending += [getattr(v, s, None) for names in slots if isinstance(names, (tuple, list)) for s in names]
    return False


# What the user has written, by name.

_GIVES = frozenset(("RESUME", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_ATTR", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP", "CACHE"))
_seen: weakref.WeakKeyDictionary[type, dict[str, Reads | None]] = weakref.WeakKeyDictionary()


def names() -> frozenset[str]:
    """The properties and special methods of all classes of the user's that compute something, rather than hand out what is stored."""
    every: list[type] = [object]
    known = {object}
    for kind in every:  # grows as it is walked
        derived: list[Any] = type.__subclasses__(kind)
        every += [k for k in derived if k not in known]
        known.update(derived)
    global _names
    _names = computing(m for kind in every if is_users_module(module_of(kind)) for m in _members(kind).items())
    return _names


_names: frozenset[str] | None = None


def names_before() -> frozenset[str]:
    """As they were when somebody last asked: looking at all classes takes some milliseconds."""
    return names() if _names is None else _names


def names_of(value: Any) -> frozenset[str]:
    """The properties and special methods that the user has written for the class of a value."""
    kind = type(value)
    if not is_users_module(module_of(kind)):
        return frozenset()
    return frozenset(n for owner in kind.__mro__ for n in _members(owner))


def _members(kind: type) -> dict[str, Reads | None]:
    """Property or special method to the attributes that it hands out, None where it does more."""
    if kind not in _seen:
        held: dict[str, Reads | None] = {}
        for name, value in list(kind.__dict__.items()):
            functions: list[Any] = [value.fget, value.fset] if isinstance(value, property) else []
            if isinstance(value, functools.cached_property):
                functions.append(value.func)
            if name.startswith("__") and name.endswith("__"):
                functions.append(value)
            elif coded(lookup(type(value), "__get__")) or coded(lookup(type(value), "__set__")):
                held[name] = None
            for function in functions:
                if coded(function):
                    held[name] = _reads(function) if held.get(name, ()) is not None else None
        _seen[kind] = held
    return _seen[kind]


def _reads(function: types.FunctionType) -> Reads | None:
    """The attributes of what a function hands out that is stored somewhere; None for a function that computes."""
    code = list(dis.get_instructions(function))
    read = tuple(str(i.argval) for i in code if i.opname == "LOAD_ATTR")
    array = any(hasattr(numpy.ndarray, n) and n not in ("shape", "ndim") for n in read)
    looks_up = function.__name__ == "__getattr__" and {"getattr", "super"} & {str(i.argval) for i in code}
    gives = looks_up and not any(i.opname.startswith(("BINARY_OP", "UNARY")) for i in code)
    return read if (gives or all(i.opname in _GIVES for i in code)) and not array else None
