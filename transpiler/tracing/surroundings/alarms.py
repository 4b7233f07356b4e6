"""Warnings and floating-point errors as exceptions, in a trace: a graph gives none (see `source.alarms`)."""

from __future__ import annotations

import ast
import functools
import linecache
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from ...source.findings.alarms import HINT, RECORDED, WORDS, alarms
from ...source.reading.names import Names
from .. import state
from ..arrays.twin import Twin
from ..errors import error

_ERRORS = "floating-point errors {} here, and a graph reports none"
_WARNINGS = "warnings become exceptions here, and a graph gives no warnings"
_LOUD = ("raise", "call")


def check_alarms(code: types.CodeType | None) -> None:
    """Raise TraceError where a function, its module or who calls `trace` has NumPy raise for what torch is silent about."""
    loud = next((v for v in numpy.geterr().values() if v in _LOUD), None)
    if code is None:
        return
    place = code.co_filename, code.co_firstlineno
    if loud is not None:
        raise error("side-effect", _ERRORS.format(loud), HINT, place)
    text = "".join(linecache.getlines(code.co_filename))
    for name, line, message in _alarms_in(text, code.co_name, code.co_firstlineno) if any(word in text for word in WORDS) else ():
        raise error(name, message, HINT, (code.co_filename, line))


@functools.lru_cache(maxsize=64)
def _alarms_in(text: str, name: str, first: int) -> list[tuple[str, int, str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    functions: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name and first in (node.lineno, *(d.lineno for d in node.decorator_list)):
            functions = [node]
    found = alarms(tree, functions, Names(tree).qualified)
    return [("leaked-constant" if message == RECORDED else "side-effect", n.lineno, message) for n, message in found]  # type: ignore[attr-defined]


def check_errors() -> None:
    """Raise TraceError where NumPy is to raise for floating-point errors."""
    loud = next((v for v in numpy.geterr().values() if v in _LOUD), None)
    if loud is not None:
        raise error("side-effect", _ERRORS.format(loud), HINT)


def _refusing(original: Any, why: Callable[..., tuple[str, str] | None]) -> Twin:
    def asked(*args: Any, **kwargs: Any) -> Any:
        tracer = state.active()
        refused = why(*args, **kwargs) if tracer is not None else None
        if refused is not None:
            with tracer.inside():  # type: ignore[union-attr]
                raise error(*refused, HINT)
        return original(*args, **kwargs)

    return Twin(original, asked)


def _filter(action: Any = "default", *args: Any, **kwargs: Any) -> tuple[str, str] | None:
    category = kwargs.get("category", next((x for x in args if isinstance(x, (type, tuple))), Warning))
    kinds = category if isinstance(category, tuple) else (category,)
    computing = any(issubclass(RuntimeWarning, k) or issubclass(k, (RuntimeWarning, UserWarning)) for k in kinds)
    return ("side-effect", _WARNINGS) if action == "error" and computing else None


def _catch(*, record: bool = False, action: Any = None, category: Any = Warning, **_: Any) -> tuple[str, str] | None:
    return ("leaked-constant", RECORDED) if record else _filter(action, category=category)


def _errors(*args: Any, **kwargs: Any) -> tuple[str, str] | None:
    loud = next((v for v in (*args, *(v for k, v in kwargs.items() if k != "call")) if v in _LOUD), None)
    return None if loud is None else ("side-effect", _ERRORS.format(loud))


@functools.cache
def exchanged() -> list[tuple[Any, str, Any, Any]]:
    """What holds a stand-in while a trace runs: (module, name, original, stand-in)."""
    asked = ((warnings, "simplefilter", _filter), (warnings, "filterwarnings", _filter), (warnings, "catch_warnings", _catch),
             (numpy, "seterr", _errors), (numpy, "errstate", _errors))  # fmt: skip
    return [(module, name, vars(module)[name], _refusing(vars(module)[name], why)) for module, name, why in asked]
