"""Torch twins: the name and text of a helper's tensor function, which stands below the NumPy one, and its way into other modules."""

from __future__ import annotations

import ast
import re

from .helpers import Helper, Link
from .imports import Imported
from .names import FunctionNode
from .project import Parsed
from .text import Source, splice

Edit = tuple[int, int, str]


def is_twin(function: FunctionNode, parsed: Parsed) -> bool:
    """Whether a function is another one's twin, made before: by its name, its parameters and its place."""
    found = re.fullmatch(r"(.+)_torch\d*", function.name)
    if found is None or function not in parsed.functions:
        return False
    qualname, method = parsed.functions[function]
    before = qualname[: -len(function.name)]
    wanted = [(before + name, method) for name in (found[1], found[1].removeprefix("_"))]
    return any(
        parsed.functions[f] in wanted and f.lineno < function.lineno and ast.dump(f.args) == ast.dump(function.args)
        for f in parsed.functions
    )


def name_twin(helper: Helper, private: bool = False) -> str:
    """A name for a helper's twin: one that nothing in its module has, or a twin's made before (its text decides, see `stands`)."""
    first = f"{helper.function.name}_torch"
    first = f"_{first}" if private and not helper.method and not first.startswith("_") else first
    n, found = 1, first
    while found in helper.excluded or (helper.parsed.has_word(found) and _standing(helper, found) is None):
        n += 1
        found = f"{first}{n}"
    return found


def _standing(helper: Helper, twin: str) -> FunctionNode | None:
    wanted = helper.qualname[: -len(helper.function.name)] + twin
    found = [f for f, (name, _) in helper.parsed.functions.items() if name == wanted and is_twin(f, helper.parsed)]
    return found[0] if len(found) == 1 else None


def stands(helper: Helper, source: Source, text: str) -> bool | None:
    """Whether the module has this very twin; None where the name is another text's."""
    found = _standing(helper, str(helper.twin))
    if found is None:
        return False
    first = min([found.lineno, *(d.lineno for d in found.decorator_list)])
    held = source.slice(source.starts[first - 1], _line_end(source, found))
    return True if held.rstrip() == text.rstrip() else None


def twin_text(helper: Helper, source: Source, edits: list[Edit], decorators: list[str]) -> str:
    """The text of a helper's twin: the helper's with `edits` and another name."""
    function = helper.function
    start, end = source.starts[function.lineno - 1], _line_end(source, function)
    at = source.span(function)[0]
    head = re.match(r"def\s+", source.slice(at, end))
    assert head is not None
    at += len(head.group())
    text = splice(source, start, end, [*edits, (at, at + len(function.name.encode()), str(helper.twin))])
    indent = source.slice(start, source.span(function)[0])
    return "".join([*(f"{indent}{d}{source.newline}" for d in decorators), text])


def below(helper: Helper, source: Source, text: str) -> Edit:
    """The edit that puts a twin below its helper."""
    newline = source.newline
    end = _line_end(source, helper.function)
    ended = source.slice(end - 1, end) in ("\n", "\r")
    blank = newline * (1 if helper.method or helper.function.col_offset else 2)
    return end, end, f"{'' if ended else newline}{blank}{text}"


def _line_end(source: Source, function: FunctionNode) -> int:
    return source.after_line(function.end_lineno or function.lineno)


def callee_text(link: Link, source: Source, local: str) -> str:
    """What a call of a twin calls. `local` is the name under which its module imports it."""
    func = link.func
    if link.how in ("method", "module"):
        assert isinstance(func, ast.Attribute)
        return f"{source.of(func.value)}.{link.helper.twin}"
    return str(link.helper.twin) if link.how == "own" else local


def imported(link: Link, parsed: Parsed, taken: set[str], reach: str | None, private: bool = False) -> Imported:
    """The import that a call of a twin needs. `reach` is the name under which the module has the twin already."""
    twin = str(link.helper.twin)
    first = f"_{twin}" if private and not twin.startswith("_") else twin
    n, local = 1, reach or first
    while reach is None and (local in taken or parsed.has_word(local)):
        n += 1
        local = f"{first}_{n}"
    return Imported(link.statement, link.alias, link.module, twin, local, reach is not None)


def shared_defaults(function: FunctionNode) -> str:
    """The parameter whose default is an object that calls may change, so that a twin with one of its own would not see it; "" for none."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(positional), reversed(args.defaults), strict=False), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    changeable = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)
    return next((a.arg for a, d in pairs if isinstance(d, changeable)), "")
