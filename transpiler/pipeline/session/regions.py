"""A region as a function: the text between `annotate.input_tensors` and `annotate.output_tensors`, with parameters for what comes in.

The function's lines are numbered as they are in the file, so that findings name the user's. What the region reads of the function around it
is there under its name, as it was when the region was first entered."""

from __future__ import annotations

import ast
import builtins
import io
import linecache
import textwrap
import tokenize
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ...source.reading.nodes import between, calls_in, label_of, own_statements
from ...source.reading.text import Source, lines_of
from ...source.reading.walking import walk
from ..semantics import named
from .errors import refused

_ENDS = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


@dataclass
class Region:
    """The statements of a region, and the file they stand in.

    starts, updates  its calls of `input_tensors` and `state_tensors`, and of `update_state`
    end              its call of `output_tensors`
    names            the names that it reads of what is around it; `taken` are all that stand in it"""

    label: str
    path: str
    source: Source
    body: list[ast.stmt]
    starts: list[ast.Call]
    updates: list[ast.Call]
    end: ast.Call
    names: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        """Its lines, as they stand in the file."""
        lines = lines_of(self.source.text)[self.body[0].lineno - 1 : self.body[-1].end_lineno]
        return textwrap.dedent("".join(lines)).rstrip()

    @property
    def place(self) -> tuple[str, int]:
        return self.path, self.body[0].lineno


def region_at(frame: FrameType, label: str) -> Region:
    """The region that begins where this frame is. Raises PipelineError where its text is not to be had, or where it does not end."""
    code, line = frame.f_code, frame.f_lineno
    place = code.co_filename, line
    text = "".join(linecache.getlines(code.co_filename, frame.f_globals))
    try:
        source, tree = Source(text), ast.parse(text)
    except SyntaxError:
        source, tree = Source(""), ast.Module([], [])
    calls = (c for s in tree.body for c in calls_in(s))
    start = next((c for c in calls if _tail(c) == "input_tensors" and c.lineno <= line <= (c.end_lineno or 0)), None)
    if start is None:
        raise refused("not-rewritten", f"the text of node {label!r} is not to be had", "write it in a file", place)
    body = _around(tree, start)
    first = next(s for s in own_statements(body) if start in calls_in(s))
    text_of_label = label_of(start)
    for statement in own_statements(body):
        end = next((c for c in calls_in(statement) if _tail(c) == "output_tensors" and label_of(c) == text_of_label), None)
        if end is not None and statement.lineno >= first.lineno:
            inside = between(body, first, statement)
            if inside:
                return _region(label, code.co_filename, source, inside, end, text_of_label)
    message = f"node {label!r} begins here, and does not end in the same function"
    raise refused("not-rewritten", message, "call annotate.output_tensors in the function that calls annotate.input_tensors", place)


def _region(label: str, path: str, source: Source, body: list[ast.stmt], end: ast.Call, text: str) -> Region:
    if hasattr(body[-1], "body"):
        raise refused("not-rewritten", f"node {label!r} ends inside of a block that it does not begin in", "let it end where it begins",
                      (path, end.lineno))  # fmt: skip
    given = {n for e in (_payload(end), _fixed(end)) if e is not None for n in ast.walk(e)}
    calls = [c for s in body for c in calls_in(s) if label_of(c) == text and (s is not body[-1] or c in given)]
    starts = [c for c in calls if _tail(c) in ("input_tensors", "state_tensors")]
    region = Region(label, path, source, body, starts, [c for c in calls if _tail(c) == "update_state"], end)
    for statement in body[:-1]:
        left = next((n for n in _own(statement) if isinstance(n, _ENDS)), None)
        if left is not None:
            raise refused("not-rewritten", f"node {label!r} is left here before it ends", "let it end on one way",
                          (path, left.lineno))  # fmt: skip
    dropped = {n for c in starts for n in ast.walk(c)} | (set(ast.walk(body[-1])) - given)
    region.taken = {n.id for s in body for n in walk(s) if isinstance(n, ast.Name) and n not in dropped}
    bound: set[str] = set()
    for statement in body:
        names = [n for n in walk(statement) if isinstance(n, ast.Name) and n not in dropped]
        region.names |= {n.id for n in names if n.id not in bound and not (isinstance(n.ctx, ast.Store) and _binds(statement))}
        bound |= {n.id for n in names if isinstance(n.ctx, ast.Store) and _binds(statement)}
    return region


def _binds(statement: ast.stmt) -> bool:
    """Whether a statement binds its targets whatever happens, after it has read what it reads."""
    return isinstance(statement, ast.Assign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None)


def function_of(
    region: Region, inputs: Mapping[ast.Call, list[str]], around: Mapping[str, Any], known: dict[str, Any]
) -> Callable[..., Any]:
    """The region as a function.

    inputs  the names of what each call of `input_tensors` and `state_tensors` brings in
    around  the values of the names that it reads
    known   the module's globals

    It returns a tuple: the outputs, then the states as `update_state` has left them, each in the order of the first call."""
    taken = region.taken | set(dir(builtins))
    parameters = {name: _parameter(name, taken) for names in inputs.values() for name in names}
    states = [n for call, names in inputs.items() if _tail(call) == "state_tensors" for n in names]
    text = _text(region, inputs, parameters, states)
    stored = {n.id for s in region.body for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    before = [name for name in around if name in stored]
    prologue = "; ".join(f"{name} = {_BEFORE}{name}" for name in before)
    head = [f"def {_parameter(region.label, taken)}({', '.join(parameters.values())}):", *([f"    {prologue}"] if prologue else [])]
    column = region.body[0].col_offset or 4
    if prologue:
        head[1] = f"{' ' * column}{prologue}"
    blank = max(region.body[0].lineno - 1 - len(head), 0)
    whole = "\n" * blank + "\n".join(head) + "\n" + text + "\n"
    path = f"{region.path}#{region.label}"
    linecache.cache[path] = (len(whole), None, whole.splitlines(keepends=True), path)
    names = {**known, **around, **{_BEFORE + n: around[n] for n in before}, _GIVEN: _given, _PASSED: _passed, "__name__": region.label}
    try:
        code = compile(whole, path, "exec", dont_inherit=True)
    except SyntaxError as error:  # a `break` of a loop around the region, say
        message = f"node {region.label!r} is no function of its own: {error.msg}"
        raise refused("not-rewritten", message, "let it begin and end in one block", (region.path, error.lineno or 0)) from error
    exec(code, names)
    return next(v for v in reversed(names.values()) if isinstance(v, types.FunctionType) and v.__code__.co_filename == path)


_BEFORE, _GIVEN, _PASSED = "_np2fx_before_", "_np2fx_given", "_np2fx_passed"


def _text(region: Region, inputs: Mapping[ast.Call, list[str]], parameters: Mapping[str, str], states: list[str]) -> str:
    """The region's statements with parameters in place of what comes in; the last one returns what goes out."""
    source, last = region.source, region.body[-1]
    start, end = source.starts[region.body[0].lineno - 1], source.span(last)[1]
    edits: list[tuple[int, int, str]] = []
    for call, names in inputs.items():
        brought = [parameters[n] for n in names]
        edits.append((*source.span(call), brought[0] if len(brought) == 1 else ", ".join(brought)))
    for number, call in enumerate(region.updates):
        payload = _payload(call)
        edits.append((source.span(call)[0], source.span(payload)[0], f"{_PASSED}(_np2fx_update_{number} := ("))
        edits.append((source.span(payload)[1], source.span(call)[1], "))"))
    payload, fixed = _payload(region.end), _fixed(region.end)
    left = ", ".join([f"{n!r}: {parameters[n]}" for n in states] + [f"**_np2fx_update_{i}" for i in range(len(region.updates))])
    more = f", {source.of(fixed)}" if fixed is not None else ""
    edits.append((source.span(last)[0], source.span(payload)[0], f"return {_GIVEN}({{{left}}}, ("))
    edits.append((source.span(payload)[1], end, f"){more})"))
    pieces, at = [], start
    for low, high, new in sorted(edits):
        lines = source.slice(low, high).count("\n")
        pieces += [source.slice(at, low), _lined(new if new.startswith(("return", _PASSED, ")")) else f"({new})", lines)]
        at = high
    text = "".join([*pieces, source.slice(at, end)])
    return text if region.body[0].col_offset else indented(text)


def _lined(new: str, lines: int) -> str:
    """An edit with the lines that it takes away: inside a bracket that it opens or closes."""
    return new + "\n" * lines if new.endswith("(") else new[:-1] + "\n" * lines + new[-1]


def indented(text: str) -> str:
    """The text of a module's own statements four columns to the right, but for the insides of its strings."""
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
            inside |= set(range(token.start[0] + 1, token.end[0] + 1))
    return "\n".join(line if n in inside or not line else f"    {line}" for n, line in enumerate(text.split("\n"), 1))


def _given(states: dict[str, Any], outputs: Any, fixed: Any = None) -> tuple[Any, ...]:
    """What a region returns: the leaves of its outputs, and its states."""
    return tuple(v for d in (named("", outputs), named("", fixed or {}), states) for _, v in leaves(d))


def _passed(tensors: Any) -> Any:
    values = tuple(tensors.values())
    return values[0] if len(values) == 1 else values


def leaves(tensors: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays of a dict or list, by name: those of containers in it as `container_key`, `container_0`."""
    if isinstance(tensors, Mapping):
        for key, value in tensors.items():
            yield from leaves(value, f"{name}_{key}" if name else str(key))
    elif isinstance(tensors, (list, tuple)):
        for number, value in enumerate(tensors):
            yield from leaves(value, f"{name}_{number}" if name else str(number))
    else:
        yield name, tensors


def _parameter(name: str, taken: set[str]) -> str:
    """A name for a parameter, which the region uses for nothing else."""
    made = "".join(c if c.isalnum() else "_" for c in name)
    made = made if made.isidentifier() else f"_{made}"
    while made in taken or made in ("None", "True", "False"):
        made += "_"
    return made


def _payload(call: ast.Call) -> ast.expr:
    return call.args[1] if len(call.args) > 1 else next(k.value for k in call.keywords if k.arg == "tensors")


def _fixed(call: ast.Call) -> ast.expr | None:
    return call.args[2] if len(call.args) > 2 else next((k.value for k in call.keywords if k.arg == "static_outputs"), None)


def _tail(call: ast.Call) -> str:
    f = call.func
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""


def _around(tree: ast.Module, call: ast.Call) -> list[ast.stmt]:
    """The body of the innermost function that a call stands in; the module's own for one outside of functions."""
    body = tree.body
    for n in ast.walk(tree):
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(c is call for s in n.body for c in calls_in(s)):
            body = n.body  # ast.walk comes to the inner ones later
    return body


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, without those of functions in it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
