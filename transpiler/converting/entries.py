"""The fast way into a converted function: for a signature that has been seen, its facts are held against a call by one compiled guard.

Such a guard is written out for the signature, `type(x) is _tensor and x.dtype is _dtype0 and x.ndim == 2 and EPS is _held0`. It
stands for calls with tensors, numbers, text and None alone: nothing there has to be turned on its way in, and no code of the user's runs
that could change what the function finds around it. All other calls go the long way, as does one that the guard does not let in.
"""

from __future__ import annotations

import ast
import builtins
import dis
import linecache
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from ..semantics.arrays import as_tensor, can_share, is_scalar, rearranged, zero_d_array
from ..source.facts.known import number
from ..source.reading.walking import walk
from ..support.callables import is_users_module
from . import quick
from .facts import qualified
from .lifted import Lifted

Call = Callable[..., Any]

_QUICK = {"npx": quick.rules}
_PLAIN = (bool, int, float, complex, str, bytes)


def entry(converted: Any, twin: types.FunctionType, source: str, arguments: dict[str, Any], modules: dict[str, Any]) -> Call | None:
    """A function with the signature of the converted one that calls `twin`, of this text, where a call is as `arguments`, and elsewhere the
    entry that there was before. None where there is no such guard. `modules` is what the text imports."""
    try:
        return _Entry(converted, twin, source, arguments, modules).made()
    except _NoGuard:
        return None


class _NoGuard(Exception):
    """What a call rests on cannot be held in a guard."""


class _Entry:
    def __init__(self, converted: Any, twin: types.FunctionType, source: str, arguments: dict[str, Any], modules: dict[str, Any]) -> None:
        self.source = source
        self.converted, self.twin, self.modules = converted, twin, modules
        self.function: types.FunctionType = converted.function
        self.is_plain = not modules.keys() - {"torch"}
        self.held: dict[str, Any] = {"_tensor": torch.Tensor, "_modes": torch._C._len_torch_function_stack, "_is_scalar": is_scalar}
        self.tests = ["not _modes()"]  # one may have been set by `torch.set_default_device`, on which constants depend
        self.marks: list[str] = []
        for name, value in arguments.items():
            self.argument(name, value)
        self.runs_others = False
        self.around = self.globals_()
        for cell in twin.__closure__ or ():
            self.cell(cell)

    def hold(self, value: Any, kind: str) -> str:
        name = f"_{kind}{len(self.held)}"
        self.held[name] = value
        return name

    def argument(self, name: str, value: Any) -> None:
        if type(value) is torch.Tensor:
            if not value.ndim and is_scalar(value):
                raise _NoGuard  # it came as a scalar of NumPy's: a tensor that comes is an array
            dtype = self.hold(value.dtype, "dtype")
            self.tests.append(f"type({name}) is _tensor and {name}.dtype is {dtype} and {name}.ndim == {value.ndim}")
            if not self.is_plain:
                self.marks.append(f"{name}._np2fx_given = True")
            if not value.ndim:
                self.marks.append(f"{name}._np2fx_zero_d = True")
        elif value is None:
            self.tests.append(f"{name} is {self.hold(value, 'held')}")
        elif type(value) is int:
            if number("int", value).dtype is None:  # its facts are others
                raise _NoGuard
            self.tests.append(f"type({name}) is {self.hold(int, 'type')} and -0x8000000000000000 <= {name} < 0x8000000000000000")
        elif type(value) in _PLAIN:
            self.tests.append(f"type({name}) is {self.hold(type(value), 'type')}")
        else:
            raise _NoGuard

    def globals_(self) -> dict[str, Any]:
        """What the twin reads around it, with tensors for arrays: right for as long as the guard holds, as nothing that runs in the call
        could change it. Where other functions of the user's run, what is around is looked up anew each time."""
        around, own = self.function.__globals__, set(map(self.name_of, self.modules))
        found = {"__builtins__": around.get("__builtins__", builtins)}
        names = set(_globals_of(self.twin.__code__))
        if names & {*self.function.__code__.co_varnames, *self.held}:
            raise _NoGuard
        found |= {self.name_of(key): module for key, module in self.modules.items()}
        called = _only_called(self.source)
        found |= {name: _QUICK[key] for key, name in ((k, self.name_of(k)) for k in _QUICK if k in self.modules) if name in called}
        for name in sorted(own & set(_globals_of(self.function.__code__)) & set(around)):
            self.tests.append(f"{name} is {self.hold(around[name], 'held')}")  # the text reads torch under the user's own name
        for name in sorted(names - own):
            if name in around:
                value = around[name]
                self.tests.append(f"{name} is {self.hold(value, 'held')}")
                found[name] = self.constant(value, name)
            elif hasattr(builtins, name) and name not in _REACHING:
                self.tests.append(f"{name} is {self.hold(getattr(builtins, name), 'held')}")
            else:
                raise _NoGuard
        return Lifted(around, {name: found[name] for name in (*own, "__builtins__")}) if self.runs_others else found

    def name_of(self, key: str) -> str:
        return next(n for n, m in dict.items(self.twin.__globals__) if m is self.modules[key])

    def constant(self, value: Any, name: str) -> Any:
        if type(value) is numpy.ndarray and value.dtype.kind in "biufc":
            if not can_share(value):
                raise _NoGuard
            self.tests.append(f"{name}.shape == {self.hold(value.shape, 'shape')} and {name}.dtype is {self.hold(value.dtype, 'dtype')}")
            return zero_d_array(torch.from_numpy(value))
        if isinstance(value, numpy.generic) and value.dtype.kind in "biufc":
            return as_tensor(value).view(())  # as a view, it is copied where it leaves the function
        if isinstance(value, types.FunctionType) or (isinstance(value, types.ModuleType) and is_users_module(value.__name__)):
            self.runs_others = True
        elif not _is_known(value):
            raise _NoGuard
        return value

    def cell(self, cell: types.CellType) -> None:
        """A closure's variable: one that holds a function of the user's, or an array that may be exchanged, has no guard."""
        try:
            value = cell.cell_contents
        except ValueError:
            raise _NoGuard from None
        if not _is_known(value):
            raise _NoGuard

    def made(self) -> Call:
        """The guard, a function that lives in the original's globals."""
        code = self.function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if code.co_flags & (_VARARGS | _VARKEYWORDS | _GENERATOR):
            raise _NoGuard
        twin = types.FunctionType(self.twin.__code__, self.around, self.twin.__name__, None, self.twin.__closure__)
        self.held |= {"_twin": twin, "_longer": self.converted.entered, "_told": self.converted.told}
        self.held |= {"_left": apart, "_layouts": rearranged}
        if (self.held.keys() | {"found", "token", "error"}) & set(names):
            raise _NoGuard
        text = "\n".join(self.text(names))
        filename = f"<np2fx-guard {self.function.__qualname__} {id(twin):x}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        weakref.finalize(twin, linecache.cache.pop, filename, None)
        space: dict[str, Any] = {}
        exec(compile(text, filename, "exec"), space)  # the text is this module's own
        inner = space["_factory"](**self.held)
        function = self.function
        found = types.FunctionType(inner.__code__, function.__globals__, function.__name__, function.__defaults__, inner.__closure__)
        found.__kwdefaults__, found.__qualname__ = function.__kwdefaults__, function.__qualname__
        return found

    def text(self, names: tuple[str, ...]) -> Iterator[str]:
        """The guard's source."""
        code, name = self.function.__code__, self.function.__name__ if self.function.__name__.isidentifier() else "_lambda"
        plain, named = names[: code.co_argcount], names[code.co_argcount :]
        parameters = [*plain, *(("*", *named) if named else ())]
        if code.co_posonlyargcount:
            parameters.insert(code.co_posonlyargcount, "/")
        given = ", ".join((*plain, *(f"{n}={n}" for n in named)))
        yield f"def _factory({', '.join(self.held)}):"
        yield f"    def {name}({', '.join(parameters)}):"
        yield f"        if {' and '.join(self.tests)}:"
        yield from (f"            {mark}" for mark in self.marks)
        if not self.is_plain:
            yield "            token = _layouts.set(True)"
        yield "            try:"
        yield f"                found = _twin({given})"
        yield "            except Exception as error:"
        yield "                _told(error)"
        yield "                raise"
        if not self.is_plain:
            yield "            finally:"
            yield "                _layouts.reset(token)"
        yield "            return found if type(found) is _tensor and found.ndim else _left(found)"
        yield f"        return _longer({given})"
        yield f"    return {name}"


def _only_called(source: str) -> set[str]:
    """The names in a text of which attributes are called where they stand, and nothing else is done with them."""
    tree = ast.parse(source)
    called: set[int] = set()
    for n in walk(tree):
        if isinstance(n, ast.Call) or (isinstance(n, ast.Subscript) and isinstance(n.value, ast.Attribute) and n.value.attr == "key"):
            inner = n.func if isinstance(n, ast.Call) else n.value
            while isinstance(inner, ast.Attribute):
                inner = inner.value
                called.add(id(inner))
    names = [n for n in walk(tree) if isinstance(n, ast.Name)]
    return {n.id for n in names} - {n.id for n in names if id(n) not in called}


def apart(found: Any) -> Any:
    """A result as it leaves the function. Scalars are copies in NumPy: none stays a view of an array that the caller may write into."""
    if type(found) is torch.Tensor:
        return torch.clone(found) if is_scalar(found) and not is_alone(found) else found
    if type(found) in (list, tuple):
        return type(found)(map(apart, found)) if any(type(x) not in _PLAIN for x in found) else found
    if isinstance(found, tuple):
        return tuple(found) if isinstance(found, torch.Size) else type(found)(*map(apart, found)) if hasattr(found, "_fields") else found
    return {k: apart(v) for k, v in found.items()} if type(found) is dict else found


def is_alone(scalar: torch.Tensor) -> bool:
    """Whether nothing else lies in the memory of a scalar."""
    try:
        return scalar._base is None and scalar.untyped_storage().nbytes() <= scalar.element_size()
    except (RuntimeError, NotImplementedError):
        return False


def _is_known(value: Any) -> bool:
    """Whether a value means one thing, of which no code of the user's is a part."""
    return value is None or type(value) in (*_PLAIN, types.ModuleType, torch.dtype, numpy.dtype) or qualified(value) is not None


_VARARGS, _VARKEYWORDS, _GENERATOR = 0x4, 0x8, 0x20 | 0x80 | 0x200
_REACHING = frozenset(("globals", "locals", "vars", "eval", "exec", "__import__", "open", "input"))
"""Builtins by which a function gets at more than its names."""


def _globals_of(code: types.CodeType) -> Iterator[str]:
    """The global names that a function reads. Raises _NoGuard where it sets some, and where one is made in it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME"):
            raise _NoGuard
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name not in ("<listcomp>", "<setcomp>", "<dictcomp>"):
                raise _NoGuard  # it may run after the call
            yield from _globals_of(constant)
