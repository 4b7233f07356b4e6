"""NumPy's own examples as conformance cases: read from the docstrings of the installed NumPy, never copied.

    python -m tests.conformance.docstrings [--way convert|trace] [--list wrong,crash,refused] [--only NAME] [-j N]
    python -m tests.conformance.docstrings --update     # write docstring_refusals.json anew
    python -m tests.conformance.docstrings --show ID     # the node and the inputs of one example

The statements of a docstring are run in their order. Every `>>>` expression with a numeric value becomes a `node` function: the
arrays that it reads, and the array literals in it, are the node's inputs, everything else stays code. What NumPy gives when the node
is run is the expectation, the text of the docstring is not looked at. What is no numeric example is left out by what it
does, not by name: values that are no numbers (text, dates, objects, dtypes), errors, printing, files, anything drawn at random
or uninitialised, orders that NumPy leaves open, expressions whose answer hangs on the identity of an object, and
matrix functions of a singular matrix whose answer is nothing but rounding errors.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import collections
import contextlib
import doctest
import inspect
import io
import json
import os
import re
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from .cases import Case
from .comparing import difference
from .score import WAYS, Verdict, judge_all, refusals, summary

REFUSED = Path(__file__).with_name("docstring_refusals.json")
RIGHT_SHARE = 0.95
_HOMES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "numpy.ndarray": np.ndarray, "numpy.ufunc": np.ufunc}
_HEADER = "import numpy\nimport numpy as np\n"
_CHANCE = re.compile(r"\brandom\b|\buninitiali[sz]ed\b")
_DATES = re.compile(r"\b(datetime|timedelta)64\b")
_OPEN_ORDER = re.compile(r"\border(ing)? of [^.]*\bundefined\b")
_BUILTINS = set(dir(builtins))
_LARGEST = 20_000  # elements; inputs are written out as text


class UnfitError(Exception):
    """This expression is not a numeric example."""


def documented() -> Iterator[tuple[str, str]]:
    """(name, docstring) of NumPy's public functions, ufuncs, index tricks and array members, aliases once."""
    seen: set[str] = set()
    for prefix, home in _HOMES.items():
        for name in sorted(n for n in getattr(home, "__all__", dir(home)) if not n.startswith("_")):
            thing = getattr(home, name)
            doc = inspect.getdoc(thing) or ""
            function = inspect.isroutine(thing) or isinstance(thing, np.ufunc) or inspect.isdatadescriptor(thing)
            if (function or hasattr(type(thing), "__getitem__")) and not isinstance(thing, str) and ">>>" in doc and doc not in seen:
                seen.add(doc)
                yield f"{prefix}.{name}", doc


@cache
def load() -> tuple[Case, ...]:
    """The cases of all docstrings. The examples run in a scratch folder, with NumPy's settings put back after each docstring."""
    found: list[Case] = []
    with _quiet():
        for name, doc in documented():
            with np.errstate(), np.printoptions():
                found += _cases(name, doc)
    return tuple(found)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    back = os.getcwd()
    with (
        tempfile.TemporaryDirectory(prefix="np2fx-docs-") as scratch,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        os.chdir(scratch)
        try:
            yield
        finally:
            os.chdir(back)


# One docstring


@dataclass
class _Step:
    """A statement that has been run, and the names as they were before it."""

    statement: ast.stmt
    before: dict[str, Any]


@dataclass
class _Docstring:
    """The state of a docstring's run: its names, what has been run, and the names whose values are not the same in every run."""

    names: dict[str, Any] = field(default_factory=lambda: {"np": np, "numpy": np})
    steps: list[_Step] = field(default_factory=list)
    chance: set[str] = field(default_factory=set)

    def run(self, statement: ast.stmt) -> Any:
        """Run one statement; the value of an expression."""
        self.steps.append(_Step(statement, {name: _copied(value) for name, value in self.names.items()}))
        if isinstance(statement, ast.Expr):
            return eval(compile(ast.Expression(statement.value), "<docstring>", "eval"), self.names)
        exec(compile(ast.Module([statement], []), "<docstring>", "exec"), self.names)
        return None

    def by_chance(self, statement: ast.stmt, text: str) -> bool:
        """Whether the statement's value differs from run to run. The names that it binds are marked or cleared accordingly."""
        drawn = bool(_CHANCE.search(text)) or bool(_read(statement) & self.chance)
        self.chance = self.chance | _bound(statement) if drawn else self.chance - _bound(statement)
        return drawn


def _cases(name: str, doc: str) -> Iterator[Case]:
    try:
        examples = doctest.DocTestParser().get_examples(doc)
    except ValueError:  # a docstring with broken indentation
        return
    state = _Docstring()
    open_order = bool(_OPEN_ORDER.search(doc))
    short = name.removeprefix("numpy.").replace(".", "-")
    for number, example in enumerate(examples):
        try:
            statements = ast.parse(example.source).body
        except SyntaxError:
            continue
        for place, statement in enumerate(statements):
            drawn = state.by_chance(statement, example.source + example.want)
            try:
                value = state.run(statement)
                if drawn or not isinstance(statement, ast.Expr) or not numeric(value) or _DATES.search(example.source):
                    continue
                if isinstance(value, np.ndarray) and value.dtype.kind in "biu" and (open_order or "may vary" in example.want):
                    continue
                yield _case(f"{short}-{number}" + f"-{place}" * (place > 0), name, statement.value, value, state)
            except Exception:  # an example of an error, of a package that is not installed, or UnfitError
                continue


def numeric(value: Any) -> bool:
    """True for numeric arrays and scalars, Python numbers, and tuples and lists of them."""
    if isinstance(value, (tuple, list)):
        return bool(value) and all(map(numeric, value))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biufc" and type(value) in (np.ndarray, value.dtype.type)
    return isinstance(value, (bool, int, float, complex))


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) and value.size <= _LARGEST else value  # no input is larger


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds."""
    bound = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {
        (a.asname or a.name).split(".")[0] for n in ast.walk(statement) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names
    }
    return bound | {n.name for n in [statement] if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def _read(tree: ast.AST) -> set[str]:
    """The names that a statement or an expression reads and does not bind itself."""
    inner = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    if isinstance(tree, ast.expr):
        inner |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - inner


# From an expression to a node


def _case(id: str, name: str, shown: ast.expr, value: Any, state: _Docstring) -> Case:
    """The case of one shown expression. Raises UnfitError where its node does not give what the docstring's run gave."""
    for lift in (True, False):
        code, inputs = _node(shown, state, lift)
        names: dict[str, Any] = {}
        try:
            exec(compile(code, id, "exec"), names)
            arguments = eval(inputs, {"np": np})
            with _no_files():
                again = names["node"](*arguments)
        except Exception:
            continue
        if difference(value, again) is None and numeric(again):
            if _is_rounding(names["node"], eval(inputs, {"np": np}), again):
                break
            return Case(id, name, code, inputs)
    raise UnfitError(id)


@contextlib.contextmanager
def _no_files() -> Iterator[None]:
    """What reads a file is no computation."""

    def refused(*_: Any, **__: Any) -> None:
        raise UnfitError("a file is opened")

    with mock.patch("builtins.open", refused), mock.patch("io.open", refused):
        yield


def _is_rounding(node: Callable[..., Any], inputs: tuple[Any, ...], value: Any) -> bool:
    """True where an input is a singular matrix and the answer is another one as soon as the last bits of the inputs change."""
    if not any(map(_is_singular, inputs)):
        return False
    nearby = [x * (1 + 4 * np.finfo(float).eps * np.sin(np.arange(x.size)).reshape(x.shape)) for x in inputs]
    try:
        pairs = list(zip(_leaves(value), _leaves(node(*nearby)), strict=True))
    except Exception:
        return False
    return not all(a.dtype.kind not in "fc" or a.shape != b.shape or _is_near(a, b) for a, b in pairs)


def _is_near(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    scale = np.max(abs(a), initial=0, where=np.isfinite(a))
    return bool(np.all((abs(a - b) <= 1e-6 * scale) | (a == b) | (np.isnan(a) & np.isnan(b))))


def _is_singular(x: np.ndarray[Any, Any]) -> bool:
    if x.ndim != 2 or x.shape[0] != x.shape[1] or x.shape[0] < 2 or not np.all(np.isfinite(x)):
        return False
    return bool(np.linalg.cond(x) * np.finfo(float).eps > 0.1)


def _leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


def _node(shown: ast.expr, state: _Docstring, lift: bool) -> tuple[str, str]:
    """(code of a module that defines `node`, expression of its inputs)."""
    body, before = _how_it_came(shown, state)
    builder = _Builder(before, state, lift)
    lines = [ast.unparse(builder.lifted(statement)) for statement in body]
    own = {name for statement in body for name in _bound(statement)}
    result = ast.unparse(shown if body else builder.lifted(ast.Expr(shown)))
    for statement in body:
        builder.require(_read(statement) - (own - _read_before_bound(statement)))
    builder.require(_read(shown) - own)
    indented = [f"    {line}" for text in [*builder.inside, *lines, f"return {result}"] for line in text.split("\n")]
    code = "\n".join([_HEADER, *builder.header, f"\ndef node({', '.join(builder.inputs)}):", *indented, ""])
    return code, "(" + "".join(f"{text}, " for text in builder.inputs.values()) + ")"


def _read_before_bound(statement: ast.stmt) -> set[str]:
    """Names that an augmented assignment both reads and binds."""
    return {statement.target.id} if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) else set()


def _how_it_came(shown: ast.expr, state: _Docstring) -> tuple[list[ast.stmt], dict[str, Any]]:
    """For a bare name: the statements that made or last changed it, and the names before them. Else no statements.

    `>>> y` alone computes nothing: the example is the `y = np.f(x)` or the `np.put(y, ...)` before it."""
    last = state.steps[-1]
    shown_names = [shown] if isinstance(shown, ast.Name) else shown.elts if isinstance(shown, ast.Tuple) else []
    if not shown_names or not all(isinstance(n, ast.Name) for n in shown_names):
        return [], last.before
    wanted = {n.id for n in shown_names if isinstance(n, ast.Name)}
    changes: list[_Step] = []
    for step in reversed(state.steps[:-1]):
        statement = step.statement
        if wanted & _bound(statement) and not isinstance(statement, ast.AugAssign):
            if not changes and isinstance(statement, ast.Assign) and not _is_literal(statement.value):
                changes = [step]
            break
        if wanted & _read(statement):
            if _shows(statement, step, state):
                break
            changes.insert(0, step)
    if not changes:
        raise UnfitError("nothing is computed")
    return [step.statement for step in changes], changes[0].before


def _shows(statement: ast.stmt, step: _Step, state: _Docstring) -> bool:
    """True for a statement that changes no array that it reads."""
    if not isinstance(statement, ast.Expr):
        return isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets)
    following = state.steps.index(step) + 1
    after = state.steps[following].before if following < len(state.steps) else state.names
    return all(difference(step.before.get(n), after.get(n)) is None for n in _read(statement) if isinstance(after.get(n), np.ndarray))


class _Builder:
    """Collects what a node needs: its inputs (name to text), what stands in its body first, and what the module must define."""

    def __init__(self, names: dict[str, Any], state: _Docstring, lift: bool) -> None:
        self.names, self.state, self.lift = names, state, lift
        self.inputs: dict[str, str] = {}
        self.inside: list[str] = []
        self.header: list[str] = []
        self.settled = {"np", "numpy"}

    def lifted(self, statement: ast.stmt) -> ast.stmt:
        """The statement with its array literals as inputs."""
        return _Lift(self).visit(_fresh(statement)) if self.lift else statement

    def literal(self, tree: ast.expr) -> ast.expr:
        """An input in place of an array literal (the literal itself where it is not a numeric array)."""
        try:
            value = np.asarray(eval(compile(ast.Expression(tree), "<literal>", "eval"), {"np": np, "numpy": np}))
            text = _text(value)
        except Exception:
            return tree
        name = next(n for n in (f"x{i}" for i in range(99)) if n not in self.names and n not in self.inputs)
        self.inputs[name] = text
        return ast.copy_location(ast.Name(name, ast.Load()), tree)

    def require(self, names: set[str]) -> None:
        """Make `names` known to the node. Raises UnfitError for values that are neither numeric nor code."""
        for name in sorted(names - self.settled - set(self.inputs)):
            self.settled.add(name)
            if name not in self.names:
                if name not in _BUILTINS:
                    raise UnfitError(f"{name} is not defined")
                continue
            value = self.names[name]
            if isinstance(value, io.IOBase) or (isinstance(value, type) and issubclass(value, io.IOBase)):
                raise UnfitError(f"{name} is a file")
            if isinstance(value, np.ndarray):
                self.inputs[name] = _text(value)
            elif isinstance(value, (types.ModuleType, types.FunctionType, type)):
                statement = self.binding(name)
                self.require(_read(statement) - {name})
                self.header.append(ast.unparse(statement))
            elif _is_code(value):
                self.inside.append(f"{name} = {value!r}")
            else:
                statement = self.binding(name)
                self.require(_read(statement) - {name})
                self.inside.append(ast.unparse(statement))

    def binding(self, name: str) -> ast.stmt:
        return next(step.statement for step in reversed(self.state.steps) if name in _bound(step.statement))


class _Lift(ast.NodeTransformer):
    """Array literals become inputs: `np.array(...)` and `np.arange(...)` of constants below the top of an expression, and
    lists of numbers that are the first argument of a NumPy function (unless that argument is a shape)."""

    def __init__(self, builder: _Builder) -> None:
        self.builder = builder
        self.depth = 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.depth += 1
        try:
            if self.depth > 1 and _is_literal(node):
                return self.builder.literal(node)
            first = node.args[0] if node.args else None
            if isinstance(first, ast.List) and _takes_array(node.func) and _constant(first):
                rest = ast.Call(node.func, node.args[1:], node.keywords)
                changed = self.generic_visit(rest)
                assert isinstance(changed, ast.Call)
                return ast.copy_location(ast.Call(changed.func, [self.builder.literal(first), *changed.args], changed.keywords), node)
            return self.generic_visit(node)
        finally:
            self.depth -= 1

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and not isinstance(node, ast.Call):
            self.depth += 1
            try:
                return super().generic_visit(node)
            finally:
                self.depth -= 1
        return super().generic_visit(node)


def _fresh(statement: ast.stmt) -> ast.stmt:
    return ast.parse(ast.unparse(statement)).body[0]


def _numpy_function(tree: ast.expr) -> Any:
    """The NumPy object that a dotted expression names, or None."""
    text = ast.unparse(tree)
    if not re.fullmatch(r"(np|numpy)(\.\w+)+", text):
        return None
    try:
        return eval(text, {"np": np, "numpy": np})
    except AttributeError:
        return None


def _is_literal(tree: ast.expr) -> bool:
    """`np.array(...)` or `np.arange(...)` of constants."""
    return (
        isinstance(tree, ast.Call)
        and _numpy_function(tree.func) in (np.array, np.arange)
        and all(map(_constant, [*tree.args, *(k.value for k in tree.keywords)]))
    )


def _constant(tree: ast.expr) -> bool:
    return _read(tree) <= {"np", "numpy", *_BUILTINS} and not any(isinstance(n, ast.Call) for n in ast.walk(tree))


def _takes_array(tree: ast.expr) -> bool:
    function = _numpy_function(tree)
    if function is None:
        return False
    try:
        first = next(iter(inspect.signature(function).parameters), "")
    except ValueError:
        first = ""
    return first not in ("shape", "dimensions", "args")


def _is_code(value: Any) -> bool:
    """True where `repr(value)` is code that makes the value."""
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufc" and bool(np.isfinite(value))
    try:
        return type(value)(eval(repr(value), {"slice": slice})) == value
    except Exception:
        return isinstance(value, slice)


def _text(x: np.ndarray[Any, Any]) -> str:
    """An expression that makes the array anew, in C order. Raises UnfitError for what is not a plain numeric array."""
    if type(x) is not np.ndarray or x.dtype.kind not in "biufc" or x.size > _LARGEST:
        raise UnfitError(f"a {type(x).__name__} of {x.dtype} and {x.size} elements")
    flat = np.ascontiguousarray(x).reshape(-1)
    parts = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat  # `nanj` is not Python
    made = f"np.array([{', '.join(map(_number, parts.tolist()))}], dtype={parts.dtype.name!r})"
    if flat.dtype.kind == "c":
        made += f".view({flat.dtype.name!r})"
    return made if x.ndim == 1 else f"{made}.reshape({x.shape})"


def _number(x: Any) -> str:
    return re.sub(r"\b(nan|inf)\b", r"np.\1", repr(x))


# The command


def right_share(verdicts: list[Verdict]) -> float:
    return sum(v.verdict == "right" for v in verdicts) / max(1, len(verdicts))


def table(verdicts: list[Verdict], areas: dict[str, str]) -> str:
    """One line a function that is not right throughout: name, right and all examples of each way."""
    counts: dict[str, dict[str, list[bool]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for v in verdicts:
        counts[areas[v.id]][v.way].append(v.verdict == "right")
    lines = []
    for name, ways in sorted(counts.items()):
        if not all(all(rights) for rights in ways.values()):
            lines.append(f"{name:34}" + "".join(f"{way} {sum(rights):3}/{len(rights):<5}" for way, rights in ways.items()))
    return "\n".join(lines)


def record(verdicts: list[Verdict]) -> str:
    """The text of docstring_refusals.json: the NumPy whose docstrings were read, and the refusals of each way."""
    return json.dumps({"numpy": np.__version__, **refusals(verdicts)}, indent=1, sort_keys=True) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.docstrings", description="score np2fx on NumPy's own examples")
    parser.add_argument("--way", choices=WAYS, help="only one of the two ways")
    parser.add_argument("--only", default="", metavar="NAME", help="only functions whose name ends in NAME (comma-separated)")
    parser.add_argument("--list", default="wrong,crash", metavar="VERDICTS", help="verdicts to list case by case (default: %(default)s)")
    parser.add_argument("--show", metavar="ID", help="print the node and the inputs of one example")
    parser.add_argument("--update", action="store_true", help="write docstring_refusals.json anew from this run")
    parser.add_argument("-j", "--processes", type=int, default=2)
    options = parser.parse_args(argv)
    if options.update and (options.way or options.only):
        parser.error("--update needs a run over all examples and both ways")
    endings = tuple(options.only.split(","))
    cases = [c for c in load() if c.area.endswith(endings)]
    if options.show:
        print("\n".join(f"{c.code}\n# inputs: {c.inputs}" for c in load() if c.id == options.show))
        return 0
    ways = [options.way] if options.way else WAYS
    verdicts = judge_all([(way, case) for way in ways for case in cases], options.processes)
    for v in verdicts:
        if v.verdict in options.list.split(","):
            print(f"{v.way:8}{v.verdict:8} {v.id:30} {v.why}")
    print(table(verdicts, {c.id: c.area for c in cases}))
    print(f"{len(cases)} examples of {len({c.area for c in cases})} functions, NumPy {np.__version__}")
    print(summary(verdicts))
    if options.update:
        REFUSED.write_text(record(verdicts), encoding="utf-8")
    return int(any(v.failed for v in verdicts))


if __name__ == "__main__":
    sys.exit(main())
