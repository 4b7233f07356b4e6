"""Code that makes a function known in a script of its own: by the name it has in its module, else by its text, its object by a pickle."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import sys
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from ...support import own_rules
from .instances import expression_of
from .literals import literal, pickled
from .world import named


def importing(fn: Callable[..., Any], name: str = "fn") -> list[str]:
    """Lines that make `fn` known as `name`; a comment that says what it is where none can."""
    if isinstance(fn, functools.partial):
        inner = [*map(literal, fn.args), *(f"{key}={literal(value)}" for key, value in fn.keywords.items())]
        whole = f"{name}_whole"
        return [*importing(fn.func, whole), "import functools", f"{name} = functools.partial({', '.join([whole, *inner])})"]
    expression, module = expression_in_module(fn), sys.modules.get(getattr(fn, "__module__", None) or "")
    if inspect.ismethod(fn) and not isinstance(fn.__self__, type):
        module = sys.modules.get(type(fn.__self__).__module__)
    elif not isinstance(fn, (FunctionType, type)) and not inspect.ismethod(fn) and not hasattr(fn, "__wrapped__"):
        module = sys.modules.get(type(fn).__module__)
    known = _module_lines(module)
    if expression and known is not None and expression.startswith("importlib."):
        return [*known, "import importlib", f"{name} = {expression}"]
    if expression and known is not None:
        return [*known, f"{name} = {'module.' if not _is_script(module) else ''}{_inside(module, expression)}"]
    made = _pickled(fn, name) if not isinstance(fn, FunctionType) else _written(fn, name, known)
    return [*(known or []), *made]


def rules_in_use() -> list[str]:
    """Lines that put the project's own rules into the table."""
    found = []
    for name, file in own_rules.files().items():
        parts = os.path.splitext(file)[0].split(os.sep)
        root = os.sep.join(parts[: -len(name.split(".")) - (parts[-1] == "__init__")])
        found.append(f"np2fx.use_rules({name!r}, root={root!r})")
    return found


def _is_script(module: ModuleType | None) -> bool:
    return module is not None and module.__name__ == "__main__"


def _inside(module: ModuleType | None, expression: str) -> str:
    """A script's names are the items of a dict."""
    if not _is_script(module):
        return expression
    head = expression.partition(".")[0].partition("(")[0]
    return f"module[{head!r}]{expression[len(head) :]}"


def expression_in_module(fn: Any) -> str:
    """`fn` as it is written in its module: a method with the object that it was made for. "" where it has no name there."""
    if inspect.ismethod(fn) and not isinstance(fn.__self__, type):
        made = expression_of(fn.__self__) or _global_name(fn.__self__)
        return f"{made}.{fn.__name__}" if made else ""
    name = getattr(fn, "__qualname__", "")
    module = sys.modules.get(getattr(fn, "__module__", None) or "")
    if name and module is not None and named(module, name) == fn:
        return str(name)
    return _global_name(fn) or ""


def _global_name(x: Any) -> str | None:
    """The name of an object in the module of its class."""
    module = sys.modules.get(type(x).__module__ if not hasattr(x, "__qualname__") else getattr(x, "__module__", None) or "")
    return next((name for name, value in vars(module).items() if value is x), None) if module is not None else None


def _module_lines(module: ModuleType | None) -> list[str] | None:
    """Lines that make a module known as `module`; None for what has no file."""
    file = getattr(module, "__file__", None)
    if module is None or not isinstance(file, str) or not os.path.isfile(file):
        return None
    file = os.path.abspath(file)
    if _is_script(module):
        return ["import runpy", f"module = runpy.run_path({file!r})"]
    parts = module.__name__.split(".")
    path = os.path.splitext(file)[0].split(os.sep)
    path = path[:-1] if path[-1] == "__init__" else path
    if path[-len(parts) :] != parts:
        return ["from np2fx.verifying.inputs.loading import load_module", f"module = load_module({file!r})"]
    root = os.sep.join(path[: -len(parts)])
    return ["import sys", f"sys.path.insert(0, {root!r})", f"import {module.__name__} as module" if len(parts) == 1 else
            f"from {'.'.join(parts[:-1])} import {parts[-1]} as module"]  # fmt: skip


def _pickled(fn: Any, name: str) -> list[str]:
    """A method of an object, or an object that is called, by a pickle of the object."""
    owner, after = (fn.__self__, f".{fn.__name__}") if inspect.ismethod(fn) else (fn, "")
    text = pickled(owner)
    return [f"# {name} is {fn!r}"] if text is None else ["import pickle", f"{name} = {text}{after}"]


def _written(fn: FunctionType, name: str, known: list[str] | None) -> list[str]:
    """A function that stands in another, by its text; what it finds around it by its values."""
    text = text_of(fn)
    if text is None:
        return [f"# {name} is {getattr(fn, '__qualname__', '') or repr(fn)}"]
    scope = {n: c.cell_contents for n, c in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False) if _is_filled(c)}
    if known is None:
        names = [n for n in _names_in(fn.__code__) if n in fn.__globals__]
        scope = {**{n: fn.__globals__[n] for n in names}, **scope}
    imports = [f"import {v.__name__} as {n}" for n, v in scope.items() if isinstance(v, ModuleType)]
    values = {n: literal(v) for n, v in scope.items() if not isinstance(v, ModuleType) and v is not fn}
    items = [*(["**vars(module)"] if known is not None else []), *(f"{n!r}: {n}" for n, v in scope.items() if isinstance(v, ModuleType)),
             *(f"{n!r}: {v}" for n, v in values.items())]  # fmt: skip
    lines = ["from np2fx.verifying.inputs.importing import defined", *imports]
    return [*lines, f"{name} = defined({text!r}, {fn.__name__!r}, {{{', '.join(items)}}})"]


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _names_in(code: Any) -> list[str]:
    return [*code.co_names, *(n for c in code.co_consts if hasattr(c, "co_names") for n in _names_in(c))]


def text_of(fn: FunctionType) -> str | None:
    """The text of a function without its decorators; None where it is not to be had, or is one of several on a line."""
    try:
        lines, _ = inspect.findsource(fn)
        tree = ast.parse("".join(lines))
    except (OSError, TypeError, SyntaxError):
        return None
    first = fn.__code__.co_firstlineno
    found = [n for n in ast.walk(tree) if _is_at(n, fn.__name__, first)]
    if len(found) != 1:
        return None
    node = found[0]
    if isinstance(node, ast.FunctionDef):
        whole = "".join(lines[node.lineno - 1 : node.end_lineno])
        return textwrap.dedent(whole)
    return ast.get_source_segment("".join(lines), node)


def _is_at(n: ast.AST, name: str, line: int) -> bool:
    if isinstance(n, ast.Lambda):
        return name == "<lambda>" and n.lineno == line
    return isinstance(n, ast.FunctionDef) and n.name == name and line in (n.lineno, *(d.lineno for d in n.decorator_list))


def defined(text: str, name: str, scope: Mapping[str, Any]) -> Any:
    """The function of a text, with the names around it. Its source can be read, as convert wants it."""
    scope = dict(scope)
    text = f"fn = {text}\n" if name == "<lambda>" else text
    file = f"<{name.strip('<>')} {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), scope)
    return scope["fn" if name == "<lambda>" else name]
