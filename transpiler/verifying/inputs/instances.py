"""The objects whose methods are verified and traced by name: no file says which, so they are made, or taken from where the project says.

`[tool.np2fx.instances]` names the function that makes one. Else a class that needs no arguments is called; else the module holds
exactly one object of the class, and it is copied.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
from types import MethodType, ModuleType
from typing import Any

from ...source.reading.config import Config


class NoInstanceError(Exception):
    """An object of a class that cannot be had; the message says why."""


def method_of(cls: type, name: str, module: ModuleType, path: str, config: Config) -> Any:
    """The method of an object of a class, or the static or class method. Raises NoInstanceError."""
    if isinstance(inspect.getattr_static(cls, name, None), (staticmethod, classmethod)):
        return getattr(cls, name)
    made, known_as = _instance_of(cls, module, config.instance_of(path, cls.__qualname__))
    _expressions.append((made, known_as))
    member = inspect.getattr_static(cls, name, None)
    asked = member.fget if isinstance(member, property) else member.func if isinstance(member, functools.cached_property) else None
    return getattr(made, name) if asked is None else MethodType(asked, made)


_expressions: list[tuple[Any, str]] = []


def expression_of(x: Any) -> str | None:
    """How an object is written in its module, of those that were made here."""
    return next((text for made, text in _expressions if made is x), None)


def hint_for(cls_name: str, file: str) -> str:
    """What to do where no object can be had."""
    line = f'[tool.np2fx.instances] "{file}:{cls_name}" = "a_function_there"'
    return f'make one in its module, or say what does: {line} (or "module:function")'


def _instance_of(cls: type, module: ModuleType, named: str | None) -> tuple[Any, str]:
    if named is not None:
        return _from_project(cls, named, module)
    held = {id(x): name for name, x in vars(module).items() if type(x) is cls}
    why = _demanded(cls)
    if why is None:
        try:
            return cls(), f"{cls.__qualname__}()"
        except Exception as error:
            why = f"{cls.__qualname__}() raises {type(error).__name__}: {error}"
    if len(held) == 1:
        (name,) = held.values()
        return _copied(vars(module)[name]), name
    if held:
        why = f"{why}, and {', '.join(held.values())} are objects of it"
    raise NoInstanceError(why)


def _from_project(cls: type, named: str, module: ModuleType) -> tuple[Any, str]:
    """What the configuration names: an object, or a function (or class) that makes one."""
    where, _, name = named.rpartition(":")
    try:
        found: Any = importlib.import_module(where) if where else module
        for part in name.split("."):
            found = getattr(found, part)
        is_object = isinstance(found, cls)
        made = _copied(found) if is_object else found()
    except Exception as error:
        raise NoInstanceError(f"`{named}` of [tool.np2fx.instances] gives none: {type(error).__name__}: {error}") from error
    if not isinstance(made, cls):
        raise NoInstanceError(f"`{named}` of [tool.np2fx.instances] gives a {type(made).__name__}, not a {cls.__qualname__}")
    text = name if is_object else f"{name}()"
    return made, f"importlib.import_module({where!r}).{text}" if where else text


def _demanded(cls: type) -> str | None:
    """Why a class cannot be called without arguments; None where it can."""
    if inspect.isabstract(cls):
        return f"{cls.__qualname__} is abstract"
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return None
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return f"{cls.__qualname__} is made with {', '.join(needed)}" if needed else None


def _copied(x: Any) -> Any:
    """A copy, so that what happens to it happens to nobody else's; itself where it allows none."""
    try:
        return copy.deepcopy(x)
    except Exception:
        return x
