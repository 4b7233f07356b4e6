"""Exceptions over values that the traced function would catch.

A graph has no `except`: where NumPy or Python raises for some values, it fails (or asserts). So what may raise must not stand inside a
`try` that catches it. Which `try` is active is read from the source of the frames, between here and the traced function.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dis
import functools
import inspect
import itertools
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import numpy

from ...deep import deep
from ...semantics.arrays import demand
from ..arrays.twin import original_of
from ..errors import is_hidden, is_library


@dataclass(frozen=True)
class Guard:
    """Lines of a function within which an exception is caught: of these types; of all where that is None.

    context   what is entered by a `with` and may end the exception"""

    first: int
    last: int
    types: tuple[ast.expr, ...] | None
    context: ast.expr | None = None


def caught_here(problem: type[BaseException] | None, end: CodeType) -> bool:
    """True where a frame of the user's, up to the code `end`, catches `problem` (None: that of the running `demand`)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not end:
        code = frame.f_code
        if code is demand.__code__ and problem is None:
            problem = type(frame.f_locals["error"])
        guards = () if is_hidden(code) else _guards_of(code)
        if any(g.first <= frame.f_lineno <= g.last and _catches(g, frame, problem or Exception) for g in guards):
            return True
        frame = frame.f_back
    return False


@functools.cache  # asked for every call
def raised_by(name: str, by_value: bool, loose: bool) -> type[BaseException] | None:
    """What a call in a graph raises for some values where nothing is asserted; None where it does not."""
    if any(word in name for word in ("linalg", "cholesky", "inverse", "solve")):
        return numpy.linalg.LinAlgError
    if by_value:
        return IndexError
    return ValueError if loose else None


def _catches(guard: Guard, frame: FrameType, problem: type[BaseException]) -> bool:
    if guard.context is not None:
        return _may_end(guard.context, frame)
    if guard.types is None:
        return True
    for node in guard.types:
        found = _value(node, frame)
        for kind in found if isinstance(found, tuple) else (found,):
            if not isinstance(kind, type) or issubclass(problem, kind) or issubclass(kind, problem):
                return True
    return False


def _may_end(context: ast.expr, frame: FrameType) -> bool:
    """Whether what a `with` enters may end an exception: the user's `__exit__` gives something, or it is a generator that tries."""
    made = original_of(_value(context.func if isinstance(context, ast.Call) else context, frame))
    kind = made if isinstance(made, type) or not isinstance(context, ast.Call) else None
    if kind is None and made is not None:  # a function that makes it: of a generator, or whatever it is
        code = getattr(inspect.unwrap(getattr(made, "__func__", made)), "__code__", None)
        return code is not None and not is_library(code.co_filename) and (not code.co_flags & inspect.CO_GENERATOR or _may_catch(code))
    kind = kind if isinstance(kind, type) else type(kind) if kind is not None else None
    leaves = getattr(kind, "__exit__", None)
    code = getattr(leaves, "__code__", None)
    if kind in (None, contextlib.ExitStack):
        return True
    return code is not None and not is_library(code.co_filename) and _gives(code)


@functools.cache
def _gives(code: CodeType) -> bool:
    """Whether a function may return anything but None."""
    found = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    ends = [(before, i) for before, i in itertools.pairwise(found) if i.opname in ("RETURN_CONST", "RETURN_VALUE")]
    given = [i if i.opname == "RETURN_CONST" else before for before, i in ends]
    return not all(i.opname in ("RETURN_CONST", "LOAD_CONST") and i.argval is None for i in given)


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The exception classes that an `except` names; None where that is not to be had."""
    if isinstance(node, ast.Tuple):
        parts = [_value(n, frame) for n in node.elts]
        return tuple(p for part in parts for p in (part if isinstance(part, tuple) else (part,)))
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, frame), node.attr, None)
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            try:
                return names[node.id]
            except KeyError:
                continue
    return None


_files: dict[str, tuple[list[str], dict[tuple[str, int], list[Guard]]]] = {}


def _guards_of(code: CodeType) -> list[Guard]:
    path = code.co_filename
    lines = linecache.getlines(path)
    if not lines:
        return [Guard(0, sys.maxsize, None)] if _may_catch(code) else []
    if path not in _files or _files[path][0] is not lines:
        found: dict[tuple[str, int], list[Guard]] = {}
        try:
            deep(_collect)(ast.parse("".join(lines), path), ("<module>", 1), found)
        except (SyntaxError, ValueError, RecursionError):
            found = {}
        _files[path] = lines, found
    return _files[path][1].get((code.co_name, code.co_firstlineno), [])


def _may_catch(code: CodeType) -> bool:
    table = getattr(code, "co_exceptiontable", None)  # from Python 3.11 on
    return bool(table) if table is not None else any(i.opname.startswith("SETUP_") for i in dis.get_instructions(code))


def _collect(node: ast.AST, owner: tuple[str, int], found: dict[tuple[str, int], list[Guard]]) -> None:
    """The guards of each function of a file, which is known by its name and first line."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        owner = node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])
    elif isinstance(node, ast.Lambda):
        owner = "<lambda>", node.lineno
    found.setdefault(owner, []).extend(_guards(node))
    for child in ast.iter_child_nodes(node):
        _collect(child, owner, found)


_TRIES: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))


def _guards(node: ast.AST) -> Iterator[Guard]:
    if isinstance(node, _TRIES):
        whole = node.body[0].lineno, _last(node.body)
        for handler in node.handlers:
            if not _raises_again(handler):
                yield Guard(*whole, None if handler.type is None else (handler.type,))
        if node.finalbody and _leaves(node.finalbody):
            yield Guard(node.body[0].lineno, node.finalbody[0].lineno - 1, None)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            call = item.context_expr
            name = getattr(call, "func", None)
            if isinstance(call, ast.Call) and "suppress" in (getattr(name, "id", ""), getattr(name, "attr", "")):
                yield Guard(node.body[0].lineno, _last(node.body), tuple(call.args))
            else:
                yield Guard(node.body[0].lineno, _last(node.body), None, call)


def _last(body: list[ast.stmt]) -> int:
    return body[-1].end_lineno or body[-1].lineno


def _raises_again(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise) and not _leaves(handler.body)


def _leaves(body: list[ast.stmt]) -> bool:
    """True where the statements may end the exception by going elsewhere."""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for statement in body for n in ast.walk(statement))
