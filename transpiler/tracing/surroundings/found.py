"""What a function may find again at its next call: globals it names, closures, defaults, attributes, classes, caches.

A run of a function before its trace may leave a value there that the trace then reads as a constant
(`if "m" not in CACHE: CACHE["m"] = x.mean()`). So what is reachable is noted before and after: as contents, which must not depend on
the values of the arguments, and as identities, which show that something was put there at all.
"""

from __future__ import annotations

import array
import collections
import contextlib
import contextvars
import dis
import functools
import gc
import random
import sys
import threading
import types
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

from ...semantics.table import module_of
from ..arrays.special import is_traced
from ..arrays.tensor import is_shell
from ..arrays.twin import original_of
from ..errors import is_library, is_own_module
from ..table import VECTORIZE
from .contents import contents_of, is_users
from .stores import MISSING as _MISSING
from .stores import Stores, settable

_MOST_ITEMS = 4096
"""Of containers with more items than this it is only noted which objects they hold."""
_MOST_PLACES = 200_000
_MOST_BYTES = 1 << 20
"""Arrays up to this size are copied, so that what was written into them can be undone."""
_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...), slice, range, numpy.dtype)
_HOLDERS = ("collections", "weakref", "queue", "os")
"""Modules of Python whose objects are there to hold others."""

Path = tuple[str, ...]


class Surroundings:
    """What is reachable from some objects, as it is now.

    contents    what stands at each place, by value
    identities  which object it is, where that can tell that it was exchanged
    words       the name in the source by which a place is reached"""

    def __init__(self, *roots: Any) -> None:
        self.contents: dict[Path, Any] = {}
        self.identities: dict[Path, Any] = {}
        self.words: dict[Path, tuple[str, ...]] = {}
        self._codes: list[types.CodeType] = []
        self._seen: dict[int, Any] = {}
        self._undo: list[Callable[[], None]] = []
        self._named: set[tuple[int, str]] = set()
        self._read: set[tuple[int, int]] = set()
        self._caches: list[tuple[Any, list[Any]]] = []
        paths: list[Path] = [(f"argument {i}",) if i else () for i in range(len(roots))]
        self._pending: list[tuple[Path, tuple[str, ...], Any]] = [(path, (), root) for path, root in zip(paths, roots, strict=True)]
        self._foreign: list[tuple[Path, tuple[str, ...], Any]] = []
        self._met: dict[int, Any] = {}
        self._stores = Stores()
        while (self._pending or self._foreign) and len(self.contents) < _MOST_PLACES:
            if self._pending:
                self._note(*self._pending.pop())
            else:
                self._note_foreign(*self._foreign.pop())

    def changed(self, later: Surroundings, exchanged: bool = False) -> list[Path]:
        """The places that hold something else later; with `exchanged` also those that hold another object with the same content."""
        found = [p for p in {**self.contents, **later.contents}
                 if self.contents.get(p, _MISSING) != later.contents.get(p, _MISSING)
                 or (exchanged and self.identities.get(p) != later.identities.get(p))]  # fmt: skip
        return sorted(found)

    def objects(self) -> dict[int, Any]:
        """The objects among it, by id."""
        return self._seen

    def restore(self) -> None:
        """Put back what was here. Caches (`lru_cache`) that hold something else since are cleared."""
        for undo in reversed(self._undo):
            with contextlib.suppress(AttributeError, TypeError, ValueError):  # what allows no changes was not changed
                undo()
        for cache, held in self._caches:
            if set(map(id, _held(cache))) != set(map(id, held)):
                cache.cache_clear()

    def line_of(self, path: Path) -> tuple[str, int] | None:
        """The line that changes a place: the one that stores under its name, else the last one that names it."""
        for word in reversed(self.words.get(path, ())):
            named: list[tuple[int, str, int]] = []
            for code in self._codes:
                named += [(rank, code.co_filename, line) for rank, line in _lines_of(code, word)]
            if named:
                _, file, line = max(named, key=lambda n: n[0])
                return file, line
        return None

    # Noting

    def _add(self, path: Path, words: tuple[str, ...], x: Any) -> None:
        self._pending.append((path, words, x))

    def _set(self, path: Path, words: tuple[str, ...], content: Any, x: Any = None) -> None:
        self.contents[path], self.words[path] = content, words
        if x is not None:
            self.identities[path] = id(x)

    def _note(self, path: Path, words: tuple[str, ...], x: Any) -> None:
        kind = type(x)
        if path in self.contents:
            return
        if kind in _PLAIN or isinstance(x, numpy.dtype):
            self._set(path, words, (kind.__name__, x if kind in (int, bool, str, bytes) else repr(x)))  # nan is equal to itself here
            return
        first = id(x) not in self._seen
        self._seen[id(x)] = x  # kept, so that no other object gets its id
        if is_traced(x) or is_shell(x):
            self._set(path, words, ("traced", id(x)))
        elif isinstance(x, (numpy.ndarray, numpy.generic, torch.Tensor)):
            self._set(path, words, _digest(x), x)
            if first and type(x) is numpy.ndarray and x.flags.writeable and x.nbytes <= _MOST_BYTES:
                self._undo.append(functools.partial(_write_back, x, x.copy(), self.contents[path]))
        elif isinstance(x, (bytearray, array.array)):
            self._set(path, words, (kind.__name__, bytes(x)), x)
            self._undo.append(functools.partial(_refill, x, list(x)))
        elif isinstance(x, contextvars.ContextVar):
            held = x.get(None)
            self._set(path, words, (kind.__name__,), x)
            self._undo.append(functools.partial(_varied_back, x, held))
            self._add((*path, ".get()"), words, held)
        elif not first:
            self._set(path, words, ("seen", kind.__name__), x)
        elif not self._container(path, words, x) and not self._callable(path, words, x):
            self._set(path, words, _name_of(x), x)
            self._attributes(path, words, x)

    def _container(self, path: Path, words: tuple[str, ...], x: Any) -> bool:
        if not isinstance(x, (dict, list, tuple, set, frozenset, collections.deque)):
            return False
        self._set(path, words, (type(x).__name__,), x)
        if isinstance(x, dict):
            self._undo.append(functools.partial(_put_back, x, dict(x)))
        elif isinstance(x, (list, set, collections.deque)):
            self._undo.append(functools.partial(_refill, x, list(x)))
        parts = list(x.items() if isinstance(x, dict) else enumerate(x) if not isinstance(x, (set, frozenset)) else ((v, v) for v in x))
        if len(parts) > _MOST_ITEMS:
            self._set(path, words, (type(x).__name__, len(parts), hash(tuple(id(v) for _, v in parts))), x)
            self._seen[id(parts)] = parts
            return True
        for position, (key, value) in enumerate(parts):
            self._add((*path, f"[{repr(key) if type(key) in _PLAIN or type(key) is tuple else position}]"), words, value)
        if hasattr(x, "__dict__"):
            self._attributes(path, words, x)
        return True

    def _callable(self, path: Path, words: tuple[str, ...], x: Any) -> bool:
        if isinstance(x, types.FunctionType):
            self._set(path, words, _name_of(x), x)
            if not is_library(x.__code__.co_filename):
                self._function(path, words, x)
        elif isinstance(x, types.MethodType):
            self._set(path, words, _name_of(x))
            self._add((*path, ".__self__"), words, x.__self__)
            self._add((*path, ".__func__"), words, x.__func__)
        elif isinstance(x, functools.partial):
            self._set(path, words, ("partial",), x)
            for part in ("func", "args", "keywords"):
                self._add((*path, f".{part}"), words, getattr(x, part))
        elif isinstance(x, (staticmethod, classmethod)):
            self._add(path, words, x.__func__)
        elif isinstance(x, (property, functools.cached_property)):
            for function in (x.fget, x.fset, x.fdel) if isinstance(x, property) else (x.func,):
                self._add((*path, getattr(function, "__name__", "")), words, function)
        elif isinstance(x, VECTORIZE):
            self._add((*path, ".pyfunc"), words, x.pyfunc)
        elif isinstance(x, functools._lru_cache_wrapper):
            self._set(path, words, ("cache", _name_of(x)), x)
            self._add((*path, "()"), words, x.__wrapped__)
            held = _held(x)
            self._caches.append((x, held))
            for position, value in enumerate(sorted(held, key=_order)):
                self._add((*path, f"({position})"), words, value)
        else:
            return False
        return True

    def _function(self, path: Path, words: tuple[str, ...], f: types.FunctionType) -> None:
        own = (*words, f.__name__)
        self._undo.append(functools.partial(_put_back, vars(f), dict(vars(f))))
        for name, value in vars(f).items():
            self._add((*(path or (f.__name__,)), f".{name}"), (*own, name), value)
        for position, value in enumerate(f.__defaults__ or ()):
            self._add((*path, f"default {position}"), (*own, _default_name(f, position)), value)
        for name, value in (f.__kwdefaults__ or {}).items():
            self._add((*path, f"default {name}"), (*own, name), value)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=False):
            value = _MISSING
            with contextlib.suppress(ValueError):
                value = cell.cell_contents
                self._add((*path, name), (*own, name), value)
            self._undo.append(functools.partial(_fill_back, cell, value))
        for code in _codes_in(f.__code__):
            self._codes.append(code)
            self._stores.add(code)
            self._names(code, f.__globals__)

    def _names(self, code: types.CodeType, around: dict[str, Any]) -> None:
        """The globals that code names; of the user's modules among them, what it names there."""
        if (id(code), id(around)) in self._read:  # modules may name each other
            return
        self._read.add((id(code), id(around)))
        home = around.get("__name__", "")
        for name, module in _imported_in(code, around):
            if not is_own_module(module):
                self._foreign.append(((f"{home}:", name), (name,), module))
            elif vars(module) is not around:
                self._names(code, vars(module))
        for name in code.co_names if "globals" not in code.co_names else list(around):
            if (id(around), name) in self._named:
                continue
            self._named.add((id(around), name))
            value = around.get(name, _MISSING)
            self._undo.append(functools.partial(_set_back, around, name, value))
            if isinstance(value, types.ModuleType):
                if is_own_module(value):
                    self._names(code, vars(value))
                else:
                    self._foreign.append(((f"{home}:", name), (name,), value))
            elif value is not _MISSING:
                self._add((f"{home}:", name), (name,), value)

    def _attributes(self, path: Path, words: tuple[str, ...], x: Any) -> None:
        """The attributes of the user's classes and objects."""
        if isinstance(x, type):
            if not is_users(x):
                self._foreign.append((path, words, x))
                return
            members = {n: v for n, v in vars(x).items() if not _is_special(n) or isinstance(v, types.FunctionType)}
            self._undo.append(functools.partial(_class_back, x, members))
            for name, value in members.items():
                self._add((*(path or (x.__name__,)), f".{name}"), (*words, name), value)
            for base in x.__bases__:
                self._add((f"{module_of(base)}:", base.__qualname__), words, base)
            return
        kind = type(x)
        holds = isinstance(x, (types.SimpleNamespace, threading.local, BaseException)) or module_of(kind) in _HOLDERS
        if isinstance(x, BaseException):
            self._undo.append(functools.partial(setattr, x, "args", x.args))
            self._add((*path, ".args"), (*words, "args"), x.args)
        if isinstance(x, (Iterator, random.Random)):  # of which nobody sees how far they are
            self._set(path, words, (kind.__name__, contents_of(x)), x)
        if not holds and not any(map(is_users, kind.__mro__)):
            self._foreign.append((path, words, x))
            return
        around = getattr(x, "__dict__", None)
        if isinstance(around, dict):
            self._undo.append(functools.partial(_put_back, around, dict(around)))
            for name, value in around.items():
                self._add((*path, f".{name}"), (*words, name), value)
        for cls in kind.__mro__:
            for name, member in list(vars(cls).items()):
                if isinstance(member, types.MemberDescriptorType) and is_users(cls):
                    with contextlib.suppress(AttributeError):
                        value = member.__get__(x)
                        self._undo.append(functools.partial(member.__set__, x, value))
                        self._add((*path, f".{name}"), (*words, name), value)
        self._add((f"{module_of(kind)}:", kind.__qualname__), words, kind)


    def _note_shortly(self, path: Path, words: tuple[str, ...], x: Any) -> None:
        """Note a value without what is in it."""
        if type(x) in _PLAIN or isinstance(x, (numpy.ndarray, numpy.generic, torch.Tensor)):
            self._note(path, words, x)
        else:
            self._seen[id(x)] = x
            self._set(path, words, (type(x).__name__, id(x)))

    def _note_foreign(self, path: Path, words: tuple[str, ...], x: Any) -> None:
        """Of Python's and other packages' modules, classes and objects only what the user's code names, and sets or may fill."""
        if id(x) in self._met:
            return
        self._met[id(x)] = x
        if isinstance(x, types.ModuleType):
            for name, value in self._stores.holders_in(x):
                self._add((*path, f".{name}"), (*words, name), value)
        if not self._stores:
            return
        if self._stores.anything:
            others = dict(settable(x))
            self._undo.append(functools.partial(_additions_back, x, others))
            for name in others.keys() - self._stores.names:
                self._note_shortly((*path, f".{name}"), (*words, name), others[name])
                self._undo.append(functools.partial(_attribute_back, x, name, others[name]))
        for name, value in self._stores.of(x):
            if name in self._stores.names or value is not _MISSING:
                self._undo.append(functools.partial(_attribute_back, x, name, value))
            if value is not _MISSING:
                self._add((*path, f".{name}"), (*words, name), value)
        for name, value in self._stores.named_in(x):
            self._foreign.append(((*path, f".{name}"), (*words, name), value))


def _imported_in(code: types.CodeType, around: dict[str, Any]) -> Iterator[tuple[str, types.ModuleType]]:
    """The modules that a function may import itself: those of the names that it has."""
    package = around.get("__package__") or ""
    for name in code.co_names:
        for found in (sys.modules.get(name), sys.modules.get(f"{package}.{name}")):
            if isinstance(found, types.ModuleType):
                yield name, found


def told(path: Path) -> str:
    """A place as it is written in the source, as far as that can be said."""
    parts = [part for part in path if part not in (".__self__", ".__func__", "()")]
    own = max((i for i, part in enumerate(parts) if not part.startswith((".", "[", "("))), default=-1)
    if own < 0 or parts[own].endswith(":"):
        return f"self{''.join(parts[own + 1 :])}"
    return parts[own].removeprefix("default ") + "".join("()" if part.startswith("(") else part for part in parts[own + 1 :])


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _name_of(x: Any) -> tuple[str, str]:
    return type(x).__name__, getattr(x, "__qualname__", "") if isinstance(x, (type, types.FunctionType, types.MethodType)) else ""


def _digest(x: Any) -> Any:
    """The content of an array or tensor in short."""
    try:
        if isinstance(x, torch.Tensor):
            plain = x.detach().resolve_conj().resolve_neg().cpu().contiguous()
            return "tensor", str(x.dtype), tuple(x.shape), zlib.crc32(plain.reshape(-1).view(torch.uint8).numpy().data)
        held = numpy.asarray(x)
        if held.dtype.hasobject:
            return "objects", held.shape, tuple(map(id, held.ravel().tolist()))
        return type(x).__name__, held.dtype.str, held.shape, zlib.crc32(numpy.ascontiguousarray(held).reshape(-1).view(numpy.uint8).data)
    except Exception:  # sparse, on another device, without values: which object it is has to do
        return type(x).__name__, id(x)


def _held(cache: Any) -> list[Any]:
    """What an `lru_cache` holds: its keys and results. (The collector is the only one that tells.)"""
    if not cache.cache_info().currsize:
        return []
    own = (cache.__wrapped__, getattr(cache, "__dict__", None))
    found = [x for x in gc.get_referents(cache) if not any(x is o for o in own) and not isinstance(x, type) and type(x) is not object]
    if cache.cache_parameters()["maxsize"] is None:
        (entries,) = (x for x in found if type(x) is dict)
        return [*entries, *entries.values()]
    return [x for x in found if not (type(x) is dict and x and all(type(v).__name__ == "_lru_list_elem" for v in x.values()))]


def _order(x: Any) -> str:
    """A cache holds its entries in the order of their use, which is no part of its content."""
    return repr(x) if type(x) in _PLAIN or type(x) is tuple else f"{type(x).__name__} {_digest(x) if isinstance(x, numpy.ndarray) else ''}"


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes_in(constant)


def _default_name(f: types.FunctionType, position: int) -> str:
    code = f.__code__
    return code.co_varnames[code.co_argcount - len(f.__defaults__ or ()) + position]


_STORES = ("STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF")
_CHANGERS = ("setdefault", "append", "update", "add", "extend", "insert", "appendleft", "pop", "clear", "fill", "sort", "put",
             "set")  # fmt: skip


def _lines_of(code: types.CodeType, word: str) -> list[tuple[int, int]]:
    """The lines of code that name `word`, each with how likely it is to be the one that changes it."""
    starts = [(start, line) for start, _, line in code.co_lines() if line is not None]
    by_line: dict[int, list[Any]] = {}
    for instruction in dis.get_instructions(code):
        line = next((n for start, n in reversed(starts) if start <= instruction.offset), None)
        if line is not None:
            by_line.setdefault(line, []).append(instruction)
    found = []
    for line, instructions in by_line.items():
        if any(i.argval == word for i in instructions if i.opname.startswith(("LOAD_", "STORE_"))):
            rank = 0
            if any(i.opname == "STORE_SUBSCR" or i.argval in _CHANGERS for i in instructions):
                rank = 1
            if any(i.opname in _STORES and i.argval == word for i in instructions):
                rank = 2
            found.append((rank, line))
    return found


# Putting back

_TWIN = "__np2fx_twin__"
"""The attribute of a function in which `convert` keeps its twin."""


def _put_back(x: Any, items: dict[Any, Any]) -> None:
    if _TWIN in x and _TWIN not in items:  # np2fx's own: what a helper is in torch is made once
        items[_TWIN] = x[_TWIN]
    if len(x) != len(items) or any(k not in items or items[k] is not v for k, v in x.items()):
        x.clear()
        x.update(items)


def _refill(x: Any, items: list[Any]) -> None:
    if len(x) != len(items) or any(a is not b for a, b in zip(x, items, strict=True)):
        if isinstance(x, array.array):
            del x[:]
        else:
            x.clear()
        (x.update if isinstance(x, set) else x.extend)(items)


def _varied_back(variable: contextvars.ContextVar[Any], value: Any) -> None:
    if variable.get(None) is not value:
        variable.set(value)


def _fill_back(cell: types.CellType, value: Any) -> None:
    if value is _MISSING:
        with contextlib.suppress(ValueError):
            del cell.cell_contents
    else:
        cell.cell_contents = value


def _set_back(around: dict[str, Any], name: str, value: Any) -> None:
    if value is _MISSING:
        around.pop(name, None)
    elif around.get(name, _MISSING) is not value:
        around[name] = value


def _additions_back(x: Any, before: dict[str, Any]) -> None:
    for name in [n for n, _ in settable(x) if n not in before]:
        delattr(x, name)


def _attribute_back(x: Any, name: str, value: Any) -> None:
    if value is _MISSING:
        with contextlib.suppress(AttributeError):
            delattr(x, name)
    elif original_of(getattr(x, name, _MISSING)) is not value:
        setattr(x, name, value)


def _class_back(cls: type, members: dict[str, Any]) -> None:
    for name, value in list(vars(cls).items()):
        if name not in members and not _is_special(name):
            delattr(cls, name)
        elif name in members and members[name] is not value:
            setattr(cls, name, members[name])
    for name in members.keys() - vars(cls).keys():
        setattr(cls, name, members[name])


def _write_back(x: Any, values: Any, content: Any) -> None:
    if _digest(x) != content:
        x[...] = values
