"""The traced function, rebuilt so that what it takes from its surroundings is seen by the tracer.

Its globals are looked up in a dict that lifts on access: arrays become constants of the graph, NumPy's functions their
twins, helper functions of the same project are rebuilt in turn. Nothing of the user's modules is changed. Globals that the
function assigns stay in that dict, where the trace finds them.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import itertools
import time
import types
from collections.abc import Callable
from typing import Any

import numpy

from ...semantics.table import CLASSES
from .. import state
from ..arrays.builtin import BUILTINS
from ..arrays.patches import scalar_twins, twins, vectorised
from ..arrays.twin import Twin
from ..errors import error, is_library, is_own_module
from ..table import VECTORIZE
from .sourcing import NAMES, sourced
from .structure import keeps_result


class LiftedGlobals(dict[str, Any]):
    """The globals of a module as a rebuilt function sees them. Its own entries are what the function assigned."""

    def __init__(self, real: dict[str, Any], lifter: Lifter) -> None:
        names = ("__name__", "__package__", "__spec__", "__path__", "__file__", "__loader__")
        super().__init__({n: real[n] for n in names if n in real})
        dict.__setitem__(self, "__builtins__", real.get("__builtins__", builtins))
        dict.update(self, NAMES)
        self.first = set(self)
        self.real, self.lifter = real, lifter

    def __getitem__(self, name: str) -> Any:
        if name in self:
            return dict.__getitem__(self, name)
        if name in self.real:
            return self.lifter.lift(self.real[name])
        if name in BUILTINS and state.active() is not None:
            return BUILTINS[name]
        raise KeyError(name)

    def assigned(self) -> set[str]:
        """The names of the globals that the function assigned. Python itself notes there which warnings it has given."""
        return set(self) - self.first - {"__warningregistry__"}


class Lifter:
    """Lifts the surroundings of one trace, of a function of the code `first`; what was lifted once stays the same object."""

    def __init__(self, tracer: Any, first: types.CodeType | None = None) -> None:
        self.tracer, self.first = tracer, first
        self._defaults = False
        self._done: dict[int, tuple[Any, Any]] = {}
        self._globals: dict[int, LiftedGlobals] = {}
        self._classes: set[type] = set()
        self._containers: list[tuple[Any, list[Any]]] = []
        self._exchanged: list[tuple[type, str, Any]] = []
        self._instances: dict[int, tuple[Any, dict[str, Any], dict[str, Any]]] = {}

    def __enter__(self) -> Lifter:
        return self

    def __exit__(self, *_: Any) -> None:
        for cls, name, original in reversed(self._exchanged):
            setattr(cls, name, original)
        self._exchanged.clear()
        for x, attributes, _lifted in self._instances.values():
            vars(x).clear()
            vars(x).update(attributes)

    def lift(self, x: Any) -> Any:
        """What stands for `x` in the trace; most things stand for themselves."""
        tracer = state.active()
        if tracer is not self.tracer or tracer is None:
            return x
        kind = type(x)
        if kind is types.FunctionType:
            return self._once(x, self.rebuild) if id(x) not in twins() and not is_library(x.__code__.co_filename) else twins().get(id(x), x)
        if x is numpy:
            return _NUMPY
        if x is time:
            return _TIME
        if id(x) in _CLOCKS:
            return _CLOCKS[id(x)]
        if kind is numpy.ndarray:
            if not self._defaults and not any(x is known for known in tracer.known):
                tracer.known.append(x)
            return self._once(x, tracer.outside)
        if kind is VECTORIZE:
            options = {} if x.otypes is None else {"otypes": x.otypes}
            return self._once(x, lambda v: vectorised(v, self.lift(v.pyfunc), options))
        if kind is types.MethodType and _is_users_function(x.__func__):
            return self._once(x, self.function)
        if kind is functools.partial and isinstance(x.func, types.FunctionType):
            return functools.partial(self.lift(x.func), *x.args, **x.keywords)
        if kind is types.ModuleType and is_own_module(x):
            return self._once(x, lambda module: _Module(module, self))
        if id(x) in tracer.arguments_for:
            tracer.met.add(id(tracer.arguments_for[id(x)]))
            return tracer.arguments_for[id(x)]
        if CLASSES and id(kind) in twins() and hasattr(twins()[id(kind)], "of"):
            return self._once(x, twins()[id(kind)].of)
        if kind in (dict, list, tuple):
            return self._once(x, self._container) if _holds_lifted(x) else x
        self._classes_of(x)
        return twins().get(id(x), x) if callable(x) else x

    def _container(self, x: Any) -> Any:
        """A copy of a container of arrays or functions, with lifted ones; `changed` tells whether the function changed it."""
        if isinstance(x, tuple):
            made: Any = tuple(map(self.lift, x))
        else:
            made = type(x)()
            self._done[id(x)] = (x, made)  # before what is in it, as it may hold itself
            if isinstance(x, dict):
                made.update((self.lift(k), self.lift(v)) for k, v in x.items())
            else:
                made.extend(map(self.lift, x))
        self._containers.append((made, _items(made)))
        self.tracer.copies[id(made)] = x
        return made

    def changed(self) -> bool:
        """True where the traced functions changed a container of arrays or functions that they found in their surroundings."""
        return any(len(now) != len(first) or any(a is not b for a, b in zip(now, first, strict=True))
                   for now, first in ((_items(made), first) for made, first in self._containers))  # fmt: skip

    def _attributes_of(self, x: Any) -> None:
        """The arrays that an object of the user's holds are lifted in it, for the time of the trace: they are constants of the graph."""
        if id(x) in self._instances or not isinstance(getattr(x, "__dict__", None), dict):
            return
        if not any(map(is_user_class, type(x).__mro__[:-1])):
            return
        before = dict(vars(x))
        self._instances[id(x)] = (x, before, before)
        lifted = {k: self.lift(v) if type(v) in (numpy.ndarray, types.FunctionType) or not callable(v) else v for k, v in before.items()}
        vars(x).update(lifted)
        self._instances[id(x)] = (x, before, lifted)

    def attributes_set(self) -> list[str]:
        """The attributes of the user's objects that the traced functions set: they would outlive the call.

        What a `cached_property` keeps is none: the next call would compute the same."""
        found = [(x, name, name in lifted) for x, _, lifted in self._instances.values() for name in {*vars(x), *lifted}
                 if vars(x).get(name, self) is not lifted.get(name, self)]  # fmt: skip
        return sorted({f"{type(x).__name__}.{name}" for x, name, was in found if was or not keeps_result(x, name)})

    def _classes_of(self, x: Any) -> None:
        """The methods of a user's class are rebuilt in the class, for the time of the trace. In other threads they do what they did."""
        if not isinstance(x, type):
            self._attributes_of(x)
        for cls in (x if isinstance(x, type) else type(x)).__mro__:
            if cls in self._classes:
                continue
            self._classes.add(cls)
            if is_user_class(cls):
                for name, member in list(vars(cls).items()):
                    made = self._member(member)
                    if made is not member:
                        with contextlib.suppress(AttributeError, TypeError):  # classes that allow no changes stay as they are
                            setattr(cls, name, made)
                            self._exchanged.append((cls, name, member))

    def _member(self, member: Any) -> Any:
        if isinstance(member, types.FunctionType):
            return self._once(member, self.rebuild)
        if isinstance(member, (staticmethod, classmethod)) and isinstance(member.__func__, types.FunctionType):
            return type(member)(self._once(member.__func__, self.rebuild))
        if type(member) is property:
            parts: list[Any] = [self._member(f) for f in (member.fget, member.fset, member.fdel)]
            return property(parts[0], parts[1], parts[2], member.__doc__)
        return member

    def _once(self, x: Any, make: Callable[[Any], Any]) -> Any:
        known = self._done.get(id(x))
        if known is None:
            known = self._done[id(x)] = (x, make(x))
        return known[1]

    def function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function that is to be traced, rebuilt wherever it lives."""
        if isinstance(f, types.MethodType):
            self._classes_of(f.__self__)
            return types.MethodType(self.function(f.__func__), f.__self__)
        if isinstance(f, functools.partial):
            return functools.partial(self.function(f.func), *map(self.lift, f.args), **{k: self.lift(v) for k, v in f.keywords.items()})
        if isinstance(f, types.FunctionType):
            return self._once(f, self.rebuild) if id(f) not in twins() else twins()[id(f)]
        if isinstance(f, types.MethodDescriptorType) and f.__objclass__ is numpy.ndarray:
            return lambda array, *args, **kwargs: getattr(array, f.__name__)(*args, **kwargs)
        call = vars(type(f)).get("__call__")
        if isinstance(call, types.FunctionType) and not is_library(call.__code__.co_filename):
            self._classes_of(f)
            return types.MethodType(self.function(call), f)
        return twins().get(id(f), f)

    def rebuild(self, f: types.FunctionType) -> types.FunctionType:
        """The same code, open to the trace where its source can be had, over lifted globals, closure and defaults."""
        code = sourced(f.__code__)
        cells = None if f.__closure__ is None else tuple(types.CellType() for _ in f.__closure__)
        made = types.FunctionType(code, self._lifted_globals(f.__globals__), f.__name__, None, cells)
        self._done[id(f)] = (f, made)
        if f.__closure__ is not None:
            written = _written_cells(f.__code__)
            for name, old, new in zip(f.__code__.co_freevars, f.__closure__, cells or (), strict=True):
                if name not in written:
                    _fill(new, old, self.lift)
            if written:
                shared = tuple(
                    old if n in written else new for n, old, new in zip(f.__code__.co_freevars, f.__closure__, cells or (), strict=True)
                )
                made = types.FunctionType(code, made.__globals__, f.__name__, None, shared)
                self._done[id(f)] = (f, made)
        self._defaults = f.__code__ is self.first  # which are among the arguments already
        made.__defaults__ = None if f.__defaults__ is None else tuple(map(self.lift, f.__defaults__))
        made.__kwdefaults__ = None if f.__kwdefaults__ is None else {k: self.lift(v) for k, v in f.__kwdefaults__.items()}
        self._defaults = False
        made.__qualname__, made.__doc__, made.__module__ = f.__qualname__, f.__doc__, f.__module__
        made.__dict__.update(f.__dict__, _np2fx_rebuilt=(id(made), f))
        return made

    def _lifted_globals(self, real: dict[str, Any]) -> LiftedGlobals:
        if isinstance(real, LiftedGlobals):
            if real.lifter is self:
                return real
            real = real.real
        found = self._globals.get(id(real))
        if found is None:
            found = self._globals[id(real)] = LiftedGlobals(real, self)
        return found

    def forget(self) -> None:
        """Let go of the traced arrays."""
        self._instances.clear()
        self._done.clear()
        self._globals.clear()
        self._containers.clear()

    def assigned(self) -> list[str]:
        """The globals that the traced functions assigned: side effects that a graph does not have."""
        return sorted({name for g in self._globals.values() for name in g.assigned()})


def _items(x: Any) -> list[Any]:
    return [*x, *x.values()] if isinstance(x, dict) else list(x)


def _holds_lifted(x: Any, depth: int = 4) -> bool:
    """True for containers with an array or a function of the user's in them, a few levels deep."""
    parts = _items(x) if type(x) in (dict, list, tuple) else ()
    return any(type(p) is numpy.ndarray or _is_users_function(p) or (depth > 0 and _holds_lifted(p, depth - 1)) for p in parts)


def _is_users_function(x: Any) -> bool:
    return type(x) is types.FunctionType and not is_library(x.__code__.co_filename)


def is_user_class(cls: type) -> bool:
    """True for classes with methods of the user's: only these can read a lifted global (`surroundings` asks for the module instead)."""
    codes = [m.__code__ for m in vars(cls).values() if isinstance(m, types.FunctionType)]
    return any(not is_library(code.co_filename) and not code.co_filename.startswith("<") for code in codes)


class _Kept(types.ModuleType):
    """A module in which a trace sets nothing."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise error("side-effect", f"the function sets {name} of a module", "return the value instead")


class _Module(_Kept):
    """A module of the user's as rebuilt functions see it: what it holds is lifted."""

    def __init__(self, module: types.ModuleType, lifter: Lifter) -> None:
        super().__init__(module.__name__, module.__doc__)
        object.__setattr__(self, "_np2fx", (module, lifter))

    def __getattribute__(self, name: str) -> Any:
        module, lifter = object.__getattribute__(self, "_np2fx")
        return lifter.lift(getattr(module, name))


class _Numpy(_Kept):
    """The numpy module as rebuilt functions see it: with the twins of the scalar types, which NumPy itself must not meet."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(numpy, name)
        return scalar_twins().get(id(found), found)

    def __dir__(self) -> list[str]:
        return dir(numpy)


_NUMPY = _Numpy("numpy", numpy.__doc__)


def _clock_twin(clock: Callable[[], Any]) -> Callable[[], Any]:
    """A clock that is far off, and more so at each call: where its time gets into a result, that differs from the plain run's."""

    def twin() -> Any:
        return clock() * 3 + type(clock())(1_000_000 * next(_ticks))

    return Twin(clock, twin)


_ticks = itertools.count(1)
_CLOCKS: dict[int, Any] = {
    id(clock): _clock_twin(clock) for name, clock in vars(time).items()
    if name.removesuffix("_ns") in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
}  # fmt: skip


class _Time(_Kept):
    """Python's `time` as rebuilt functions see it."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(time, name)
        return _CLOCKS.get(id(found), found)


_TIME = _Time("time", time.__doc__)


def _written_cells(code: types.CodeType) -> set[str]:
    """The closure variables that the code (or a function in it) assigns with `nonlocal`."""
    import dis

    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF") and i.argval in code.co_freevars}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= _written_cells(inner) & set(code.co_freevars)
    return found


def _fill(new: types.CellType, old: types.CellType, lift: Callable[[Any], Any]) -> None:
    try:
        new.cell_contents = lift(old.cell_contents)
    except ValueError:
        return  # a variable without a value yet
