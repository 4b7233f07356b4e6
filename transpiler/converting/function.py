"""`convert`: the torch twin of a function, rewritten once for each signature it is called with."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import inspect
import linecache
import types
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy
import torch

from ..arrays import bare, world
from ..arrays.namespace import namespace
from ..codemod.imports import bound, chosen_names, identifiers, import_line
from ..codemod.rewriting import Rewriter
from ..deep import deep
from ..semantics.arrays import own_layouts
from ..semantics.table import Refused, noting, version
from ..source.facts.known import TORCH, UNKNOWN, Fact
from ..source.facts.results import torch_parameters
from ..source.findings.alarms import HINT, WORDS, alarms
from ..source.findings.finding import ConversionError, Finding, make_finding
from ..source.flow.reading import awaits, yields
from ..source.reading.names import Names
from ..source.reading.text import Source, splice
from ..support import own_rules
from ..support.callables import is_users, is_users_code, is_users_module
from ..support.errors import translated
from . import facts, own_text
from .choice import is_plain, is_torch, on_tensor
from .crossing import Crossing
from .entries import apart, entry
from .lifted import Known, Lifted, LiftedModule, Lifting, by_rules, lift, lift_array, refuse
from .own_text import called_only
from .watching import watched

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def convert(function: Callable[..., Any]) -> Converted:
    """A function written in NumPy as a function on torch tensors: same values, shapes, dtypes, errors, effects.

    The result is called like the original, with tensors for arrays (and for NumPy scalars 0-d tensors or the scalars
    themselves). It is rewritten for each signature of a call and remembers; `.source_for(*samples)` shows the text,
    `.source` the one that assumes nothing, `.findings` what was said.

    Methods of objects, `functools.partial` and objects with a `__call__` of their own in Python are functions too: what they add to the
    arguments is kept. Raises ConversionError, with the findings that say where and why, if the function cannot be converted."""
    inner = _inside(function)
    if inner is not None:
        return convert(inner[0]).bound(function, *inner[1:])
    while hasattr(function, "__np2fx_original__"):
        function = function.__np2fx_original__
    if not isinstance(function, types.FunctionType):
        raise ConversionError(
            [make_finding("not-rewritten", message=f"{function!r} is not a Python function", hint="give the function itself")]
        )
    made = Converted(function)
    made.prepare()
    return made


def _inside(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """The function that a method, a `functools.partial` or an object with `__call__` calls, and the arguments it adds."""
    if isinstance(function, types.MethodType):
        return function.__func__, (function.__self__,), {}
    if isinstance(function, functools.partial):
        return function.func, function.args, function.keywords
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(call, types.FunctionType) and not isinstance(function, (type, Converted, torch.nn.Module)):
        return call, (function,), {}
    return None


@dataclasses.dataclass(frozen=True)
class Variant:
    """What a function became for one signature. torchs: the parameters that are torch's to the function itself."""

    twin: types.FunctionType
    in_torch: bool
    source: str
    torchs: frozenset[str]


class Converted:
    """A function's torch twin. Call it like the original; see `convert`."""

    __np2fx_rewritten__ = True

    def __init__(self, function: types.FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.findings: list[Finding] = []
        self._variants: dict[Any, Variant] = {}
        self._first: tuple[Any, ...] = ()
        self._named: dict[str, Any] = {}
        self.entered: Callable[..., Any] = self._called
        self._entries = 0
        self._made_of()
        self._without_entry: set[types.FunctionType] = set()

    def _made_of(self) -> None:
        """Remember the parts of the function that others may exchange, and what is made of them is right for."""
        f = self.function
        self._code, self._defaults, self._kwdefaults = f.__code__, f.__defaults__, f.__kwdefaults__
        self._named_defaults = dict(f.__kwdefaults__ or {})

    def _forget(self) -> None:
        """Leave what was made: the function has other defaults than it had, or other code, as when its module is loaded again."""
        if self.function.__code__ is not self._code:
            for name in ("_parsed", "_path"):
                self.__dict__.pop(name, None)
        self._made_of()
        self._variants, self._without_entry, self.entered = {}, set(), self._called
        self._entries = MOST_ENTRIES if self._first or self._named else 0

    def bound(self, whole: Callable[..., Any], first: tuple[Any, ...], named: dict[str, Any]) -> Converted:
        """The twin of `whole`, which calls the function with arguments of its own: the object of a method, those of a partial."""
        self._first, self._named = (*self._first, *first), {**self._named, **named}
        self._entries = MOST_ENTRIES  # calls with objects have no compiled guard
        with contextlib.suppress(TypeError, ValueError):
            self.__signature__ = inspect.signature(whole)
        return self

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call, its own ones first."""
        return (*self._first, *args), {**self._named, **kwargs}

    def prepare(self) -> None:
        """Rewrite for a call of which nothing is known, to find out early whether it can be done."""
        self.findings = self._rewrite({})[2]
        if any(f.severity == "error" for f in self.findings):
            raise ConversionError(self.findings)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return self._called(*args, **kwargs)
        f = self.function
        if f.__defaults__ is not self._defaults or f.__kwdefaults__ is not self._kwdefaults or f.__code__ is not self._code:
            self._forget()
        return self.entered(*args, **kwargs)

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        """A call on the long way, which finds out what is passed. It leaves a guard for calls of the same kind (see entries)."""
        named = self._kwdefaults or {}
        if named.keys() != self._named_defaults.keys() or any(v is not self._named_defaults[k] for k, v in named.items()):
            self._forget()
        args, kwargs = self._given(args, kwargs)
        variant, arguments = self._variant(args, kwargs)
        if variant.in_torch:
            if self._entries < MOST_ENTRIES and variant.twin not in self._without_entry:
                self._enter_at(variant, arguments)
            with self.step(), own_layouts():
                return apart(variant.twin(*arguments.args, **arguments.kwargs))
        if torch.compiler.is_compiling():
            return _uncompiled(self, variant, args, kwargs)
        return self._on_arrays(variant, args, kwargs)

    def _on_arrays(self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that is NumPy on torch."""
        if torch._C._get_tracing_state() is not None:
            message = f"`{self.function.__name__}` is NumPy on torch, of which torch.jit.trace would keep values as constants"
            raise self._refused(self.function.__code__.co_firstlineno, message, "use np2fx.trace")
        crossing = Crossing(self.function.__qualname__)
        noted = noting.get()
        token = noting.set([] if noted is None else noted)
        try:
            args, kwargs = self._crossed(crossing, args, kwargs, variant.torchs)
            with world.arrays(), watched() if crossing.graded else contextlib.nullcontext():
                found = variant.twin(*args, **kwargs)
            for refused in noting.get() or ():
                if _is_caught(refused):
                    raise refused
        except Refused as refused:
            raise ConversionError([self._place(refused, refused)]) from refused
        finally:
            crossing.settle()
            noting.reset(token)
        return crossing.outward(found)

    def _crossed(self, crossing: Crossing, args: tuple[Any, ...], kwargs: dict[str, Any], torchs: frozenset[str]) -> Any:
        """The arguments as NumPy on torch takes them; those that are torch's to the function stay tensors."""
        if not torchs:
            return tuple(map(crossing.inward, args)), {k: crossing.inward(v) for k, v in kwargs.items()}
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = value if name in torchs else crossing.inward(value)
        return bound.args, bound.kwargs

    def _enter_at(self, variant: Variant, bound: inspect.BoundArguments) -> None:
        """Put a guard for calls like this one before those that there are."""
        modules = {key: m for key, m in _modules().items() if self._own_names()[key] in _names_in(variant.twin.__code__)}
        made = entry(self, variant.twin, variant.source, bound.arguments, modules)
        if made is None:
            self._without_entry.add(variant.twin)
        else:
            self.entered, self._entries = made, self._entries + 1

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around the call, and around each step of a generator that it returns."""
        try:
            yield
        except Exception as error:
            self.told(error)
            raise

    def told(self, error: Exception) -> None:
        """Raise NumPy's error in place of torch's, and a refusal of run time as the finding that it is."""
        found = translated(error) or error
        if isinstance(found, Refused):
            raise ConversionError([self._place(found, error)]) from found
        if found is not error:
            raise found from error

    def as_helper(self) -> types.FunctionType:
        """The function as NumPy on torch, for code that is."""
        if self.function.__code__ is not self._code or self.function.__defaults__ is not self._defaults:
            self._forget()
        key = self._surroundings()
        if key not in self._variants:
            source, _, self.findings, torchs = self._rewrite({}, is_helper=True)
            if any(f.severity == "error" for f in self.findings):
                raise ConversionError(self.findings)
            self._variants[key] = Variant(self._compile(source, False), False, source, frozenset(torchs))
        return self._variants[key].twin

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The rewritten source for a call with these samples (arrays or tensors)."""
        return self._variant(*self._given(args, kwargs))[0].source

    @property
    def source(self) -> str:
        """The rewritten source for a call of which nothing is known."""
        return self._rewrite({})[0]

    # How it is done.

    def _variant(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Variant, inspect.BoundArguments]:
        """What the function is for these arguments, and the arguments as tensors."""
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        for n, v in bound.arguments.items():
            bound.arguments[n] = on_tensor(v)
        known = {n: facts.of_argument(v) for n, v in bound.arguments.items()}
        plain = all(map(is_plain, bound.arguments.values()))
        for p in bound.signature.parameters.values():
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                known[p.name] = facts.of_argument(bound.arguments[p.name]) if p.kind == p.VAR_POSITIONAL else UNKNOWN
        key = (tuple(known.items()), plain, self._surroundings())
        if key not in self._variants:
            objects = {n for n, v in bound.arguments.items() if not isinstance(v, torch.Tensor)}
            source, in_torch, findings, torchs = self._rewrite(known, objects, plain)
            if any(f.severity == "error" for f in findings):
                raise ConversionError(findings)
            self._variants[key] = Variant(self._compile(source, in_torch), in_torch, source, frozenset(torchs))
        return self._variants[key], bound

    def _surroundings(self) -> tuple[Any, ...]:
        """The facts of the globals that the function reads, and its closure: a source is right for as long as they hold."""
        around = self.function.__globals__
        held = tuple(map(_held_by, self.function.__closure__ or ()))
        return *(facts.of_global(around[n]) for n in _names_in(self.function.__code__) if n in around), held

    @deep
    def _rewrite(
        self, known: dict[str, Fact], objects: Iterable[str] = (), plain: bool = False, is_helper: bool = False
    ) -> tuple[str, bool, list[Finding], set[str]]:
        """The text for these facts, whether it is torch on plain tensors, what was said, and the parameters that are torch's anyhow."""
        source, node = self._parsed
        alarmed = self._alarms()
        if alarmed:
            raise ConversionError(alarmed)
        torchs = torch_parameters(node, source.text) - set(objects)
        rewriter = Rewriter(source, facts.resolver(self.function), own_rules.table(), self._path)
        rewriter.torch_name, rewriter.npx_name = map(self._own_names().__getitem__, ("torch", "npx"))
        rewriter.thorough = True
        edits = rewriter.rewrite(node, {**known, **dict.fromkeys(torchs, TORCH)})
        if yields(node) and rewriter.mirrored and not is_helper:
            message = "is a generator that may write through views, or hand out some, which torch has only as copies"
            raise self._refused(node.lineno, f"`{self.function.__name__}` {message}", "return a list")
        in_torch = plain and is_torch(rewriter, node)
        if not in_torch:
            edits, rewriter.imported = own_text.edits(rewriter, node, rewriter.npx_name), {"npx"}
        text = splice(source, *_extent(source, node), list(edits))
        return self._module(text, node, rewriter), in_torch, rewriter.findings, torchs

    def _alarms(self) -> list[Finding]:
        """What makes errors and warnings of NumPy's exceptions, or looks for them; torch has none of them."""
        source, node = self._parsed
        loud = {"raise", "call"}.intersection(numpy.geterr().values())
        found: list[tuple[ast.AST, str]] = [(node, f"NumPy's floating-point errors {w} (np.seterr), and torch reports none") for w in loud]
        if any(word in source.text for word in WORDS):
            found += alarms(self._tree, [node], Names(self._tree).qualified)
        return [make_finding("side-effect", path=self._path, line=n.lineno, message=message, hint=HINT, severity="error")  # type: ignore[attr-defined]
                for n, message in found]  # fmt: skip

    def _module(self, text: str, node: Function, rewriter: Rewriter) -> str:
        """The function's text as a module of its own: imports above, indentation taken away."""
        start = _extent(rewriter.source, node)[0]
        before = rewriter.source.bytes[:start].decode("utf-8")
        indent = before[before.rfind("\n") + 1 :]
        if isinstance(node, ast.Lambda):
            text = f"{self._lambda_name} = {text}"
        elif indent and not indent.strip():
            text = _dedent(text, indent)
        names = {"torch": rewriter.torch_name, "npx": rewriter.npx_name}
        used = {k: n for k, n in names.items() if f"{n}." in text}
        header = "\n".join(import_line(key, name) for key, name in used.items())
        return f"{header}\n\n\n{text}\n" if header else f"{text}\n"

    def _own_names(self) -> dict[str, str]:
        """What the rewritten text calls the modules it uses: names that mean nothing else to the function and to its module."""
        code, around, nodes = self.function.__code__, self.function.__globals__, list(ast.walk(self._parsed[1]))
        theirs = bound(nodes).union(code.co_freevars)
        same = {key for key, module in _modules().items() if around.get(key) is module and key not in theirs}
        return chosen_names(identifiers(nodes).union(code.co_freevars, around), {key: key for key in same})

    _lambda_name = "_lambda"

    @functools.cached_property
    def _path(self) -> str:
        return inspect.getsourcefile(self.function) or self.function.__code__.co_filename

    @functools.cached_property
    def _parsed(self) -> tuple[Source, Function]:
        try:
            lines, _ = inspect.findsource(self.function)
            source = Source("".join(lines))
            tree = self._tree = ast.parse(source.bytes)
        except (OSError, TypeError, SyntaxError, IndentationError) as error:
            raise self._refused(0, f"the source of {self.function.__qualname__} cannot be read: {error}", "define it in a file") from error
        return source, self._find(tree)

    def _refused(self, line: int, message: str, hint: str) -> ConversionError:
        return ConversionError([make_finding("not-rewritten", path=self._path, line=line, message=message, hint=hint)])

    def _find(self, tree: ast.Module) -> Function:
        """The function's node: by its first line, and among lambdas on one line by its code."""
        code = self.function.__code__
        found: list[Function] = []
        for n in ast.walk(tree):
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == code.co_name:
                if code.co_firstlineno in (n.lineno, *(d.lineno for d in n.decorator_list)):
                    found.append(n)
            elif isinstance(n, ast.Lambda) and code.co_name == "<lambda>" and n.lineno == code.co_firstlineno:
                found.append(n)
        if len(found) > 1:
            found = [n for n in found if isinstance(n, ast.Lambda) and _same_code(n, code)] or found
        if len(found) != 1:
            message = f"the source of {self.function.__qualname__} is not where Python says it is"
            raise self._refused(code.co_firstlineno, message, "define it with def, on lines of its own")
        return found[0]

    @deep
    def _compile(self, source: str, in_torch: bool) -> types.FunctionType:
        """The rewritten function, living in the original's globals and closure."""
        node = self._parsed[1]
        if awaits(node):
            raise self._refused(node.lineno, "coroutines are not converted", "await outside of it, and pass the arrays in")
        name = self._lambda_name if isinstance(node, ast.Lambda) else node.name
        filename = f"<np2fx {self.function.__qualname__} {len(self._variants)} {id(self):x}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        weakref.finalize(self, linecache.cache.pop, filename, None)
        try:
            tree = ast.parse(source)
        except (SyntaxError, MemoryError) as error:
            message = f"the torch text of `{self.function.__name__}` is nested more deeply than Python parses"
            raise self._refused(node.lineno, message, "split the long expression: give parts of it names") from error
        flags = self.function.__code__.co_flags & ANNOTATIONS
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            code = compile(
                _within_closure(tree, name, self.function.__code__.co_freevars), filename, "exec", flags=flags, dont_inherit=True
            )
        inner = _code_named(code, "<lambda>" if isinstance(node, ast.Lambda) else name, self.function.__code__.co_freevars)
        names = self._own_names()
        lifting = lift if in_torch else functools.partial(_arrays, called_only(node))
        modules = _modules() if in_torch else {"torch": torch, "npx": namespace}
        around = Lifted(self.function.__globals__, {names[key]: module for key, module in modules.items()}, lifting)
        dict.__setitem__(around, "__builtins__", self.function.__globals__.get("__builtins__", __builtins__))
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=False))
        closure = tuple(_lifted_cell(cells[n], lifting, n) if n in cells else types.CellType() for n in inner.co_freevars)
        twin = types.FunctionType(inner, around, self.function.__name__, _lifted_values(self.function.__defaults__, lifting), closure)
        twin.__kwdefaults__ = _lifted_values(self.function.__kwdefaults__, lifting)
        return twin

    def _place(self, refused: Refused, error: Exception) -> Finding:
        """A refusal of run time as a finding at the line of the original where the error came up."""
        line = 0
        at = error.__traceback__
        while at is not None:
            if at.tb_frame.f_code.co_filename.startswith("<np2fx "):
                header = next(
                    (
                        i
                        for i, t in enumerate(linecache.getlines(at.tb_frame.f_code.co_filename))
                        if t.lstrip().startswith(("def ", "@", "async "))
                    ),
                    0,
                )
                line = self.function.__code__.co_firstlineno + at.tb_lineno - 1 - header
                break
            at = at.tb_next
        return make_finding(refused.name, path=self._path, line=line, message=refused.message, hint=refused.hint, severity="error")


@torch.compiler.disable
def _uncompiled(converted: Converted, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What no compiler sees into: arrays on tensors."""
    return converted._on_arrays(variant, args, kwargs)


MOST_ENTRIES = 12
"""So many guards stand before the long way: whoever changes a global with each call would have one made each time."""

ANNOTATIONS = __import__("__future__").annotations.compiler_flag


def _modules() -> dict[str, Any]:
    """What rewritten text imports."""
    return {"torch": torch, "npx": bare.namespace}


def _lifted_values(values: Any, lifting: Lifting) -> Any:
    if isinstance(values, tuple):
        return tuple(lifting(v, {}, "") for v in values)
    return {k: lifting(v, {}, "") for k, v in values.items()} if isinstance(values, dict) else values


def _lifted_cell(cell: types.CellType, lifting: Lifting, name: str) -> types.CellType:
    """A closure's variable: shared with the original, but for arrays and functions, which are others here."""
    try:
        value = cell.cell_contents
    except ValueError:
        return cell
    lifted = lifting(value, {}, name)
    return cell if lifted is value else types.CellType(lifted)


def _held_by(cell: types.CellType) -> Any:
    """What of a closure's variable is not the same for good: an array or a function, by its identity."""
    try:
        value = cell.cell_contents
    except ValueError:
        return None
    return Same(value) if isinstance(value, (numpy.ndarray, numpy.generic, types.FunctionType)) else None


class Same:
    """An object, by its identity."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def __hash__(self) -> int:
        return id(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.of is self.of


def _arrays(called: frozenset[str], value: Any, known: Known, name: str) -> Any:
    """What a name stands for in NumPy on torch: arrays on tensors for NumPy's, twins for functions of the user's that are called by it."""
    if type(value) is numpy.ndarray:
        return lift_array(value, known)
    ruled = by_rules(version())
    if type(value) is types.ModuleType:
        opens = is_users_module(value.__name__) or value.__name__.split(".")[0] in ruled.packages
        return LiftedModule(value, functools.partial(_arrays, called)) if opens else value
    if id(value) in ruled.functions:
        return ruled.functions[id(value)]
    if id(value) in ruled.refused:
        refuse(ruled.refused[id(value)], value)
    if name in called and isinstance(value, types.FunctionType) and is_users(value) and not hasattr(value, "__np2fx_rewritten__"):
        return _twin_of(value)
    return value


def _extent(source: Source, node: Function) -> tuple[int, int]:
    """Where a function's text begins and ends: its decorators, which convert has already gone through, are left out."""
    return source.span(node)


def _dedent(text: str, indent: str) -> str:
    """Take away the indentation of a nested function, but not inside its strings (their lines are not code)."""
    lines = text.split("\n")
    inside = _string_lines(text)
    return "\n".join(line.removeprefix(indent) if i and i not in inside else line for i, line in enumerate(lines))


def _string_lines(text: str) -> set[int]:
    import io
    import tokenize

    found: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"if 1:\n {text}").readline):
            if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
                found |= set(range(token.start[0] - 1, token.end[0] - 1))
    except (tokenize.TokenError, IndentationError):
        pass
    return found


def _within_closure(tree: ast.Module, name: str, free: tuple[str, ...]) -> ast.Module:
    """The module with the function inside a factory that binds its free variables, so that it compiles as a closure."""
    if not free:
        return tree
    imports = [s for s in tree.body if isinstance(s, (ast.Import, ast.ImportFrom))]
    rest = [s for s in tree.body if s not in imports]
    factory = ast.parse(f"def _np2fx_factory({', '.join(free)}):\n    return {name}").body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.body[:0] = rest
    return ast.fix_missing_locations(ast.Module([*imports, factory], []))


def _code_named(code: types.CodeType, name: str, free: tuple[str, ...]) -> types.CodeType:
    """The code object of the function in a compiled module."""
    pending = [code]
    while pending:
        here = pending.pop(0)
        for constant in here.co_consts:
            if isinstance(constant, types.CodeType):
                if constant.co_name == name:
                    return constant
                pending.append(constant)
    raise LookupError(name)


def _same_code(node: ast.Lambda, code: types.CodeType) -> bool:
    try:
        made = compile(ast.Expression(ast.fix_missing_locations(node)), "<lambda>", "eval")
    except SyntaxError:
        return False
    inner = next(c for c in made.co_consts if isinstance(c, types.CodeType))
    return inner.co_code == code.co_code and [c for c in inner.co_consts if not isinstance(c, types.CodeType)] == [
        c for c in code.co_consts if not isinstance(c, types.CodeType)
    ]


def _is_caught(refused: Refused) -> bool:
    """Whether a refusal has come up in code of the user's, which went on: no error of NumPy's was there to be caught."""
    at = refused.__traceback__
    return at is not None and is_users_code(at.tb_frame.f_code, at.tb_frame.f_globals)


def _names_in(code: types.CodeType) -> list[str]:
    """The global names that a function and those inside it may read."""
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _names_in(constant)
    return sorted(set(found))


def _twin_of(function: types.FunctionType) -> types.FunctionType:
    """The twin of a helper that converted code calls; the function keeps it, so that both go together."""
    made: Converted | None = vars(function).get("__np2fx_twin__")
    if made is None or made.function is not function:
        made = Converted(function)
        function.__np2fx_twin__ = made  # type: ignore[attr-defined]
    return made.as_helper()
