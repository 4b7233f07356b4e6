"""The rule table as the static half sees it: read from the text of `rules/*.py`, never imported.

What is found is indexed once and kept in the user's cache folder until a rule file changes (size or time), so that a
start costs reading one small JSON file. The function's own syntax tree is parsed when asked for.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .refusing import refusals
from .walking import walk

_FORMAT = 8  # of the cached index
_ALWAYS = "np2fx.contrib.scipy_fft_rules"
"""Rules for another library that need not be named: where that does as NumPy."""
_UNRULED_WRITERS = frozenset(("resize", "setfield", "setflags", "itemset", "at", "shuffle"))
"""Those that write into an array and have no rule that says so."""
_OF_SCALARS = frozenset(("as_integer_ratio", "bit_count", "denominator", "fromhex", "hex", "is_integer", "newbyteorder", "numerator"))
"""What NumPy's scalars have (its arrays had, once) and no rule speaks of."""
UFUNC_KEYWORDS = ("out", "where", "casting", "order", "dtype", "subok", "signature")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a rule: `kind` is "positional-only", "positional", "var-positional", "keyword" or "var-keyword";
    `default` is its source, None where it has none."""

    name: str
    kind: str = "positional"
    default: str | None = None


@dataclass(frozen=True)
class RuleSource:
    """A rule as text: the NumPy `names` it answers to, the function `body_name` of `file` at `line`, and what the decorator says."""

    names: tuple[str, ...]
    body_name: str
    module: str
    file: str
    line: int
    kind: str
    parameters: tuple[Parameter, ...]
    writes: str | None = None
    view: bool = False
    is_ufunc: bool = False
    outputs: int = 1
    refused: tuple[tuple[str, ...], ...] = ()
    doc: str = ""
    examples: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def function(self) -> ast.FunctionDef:
        """The rule's syntax tree."""
        return _functions(self.file, _stamp(self.file))[self.body_name]

    @property
    def source(self) -> str:
        """The rule's text, decorators included."""
        function = self.function
        first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        return "\n".join(_text(self.file).splitlines()[first - 1 : function.end_lineno])


@dataclass(frozen=True)
class RefusalSource:
    """A NumPy name that cannot be torch: why, the way out, and the finding that says so."""

    name: str
    reason: str
    hint: str
    finding: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Table:
    """Rules and refusals by NumPy name. A name is in one of the two or unknown."""

    rules: dict[str, RuleSource]
    refusals: dict[str, RefusalSource]

    def rule(self, name: str | None) -> RuleSource | None:
        return self.rules.get(name) if name else None

    def refusal(self, name: str | None) -> RefusalSource | None:
        """The refusal of a name, or of a namespace it is in ("numpy.random.normal" falls under "numpy.random")."""
        while name and name not in self.rules:
            if name in self.refusals:
                return self.refusals[name]
            name = name.rpartition(".")[0]
        return None

    def knows(self, name: str) -> bool:
        """Whether NumPy (or a project's rules) has a name, as far as the table says."""
        return name in self.rules or name in self.refusals

    @functools.cached_property
    def in_place(self) -> frozenset[str]:
        """What functions and methods that write into an array are called, whatever stands before the dot."""
        return _UNRULED_WRITERS | {name.rpartition(".")[2] for name, rule in self.rules.items() if rule.writes}

    def is_method(self, attribute: str) -> bool:
        """Whether ndarray has it, as far as the table knows."""
        name = f"numpy.ndarray.{attribute}"
        return name in self.rules or name in self.refusals

    def has_attribute(self, attribute: str) -> bool:
        """Whether NumPy's arrays or scalars have it. What they have not is an AttributeError, in torch too."""
        return self.is_method(attribute) or attribute in _UNRULED_WRITERS | _OF_SCALARS or attribute.startswith("__")


def load_table(extra: Sequence[str] = (), root: str = ".", files: Sequence[tuple[str, str]] = ()) -> Table:
    """np2fx's own rules and those of the project's modules `extra` ("mylib.torch_rules", found from `root`); `files` are modules whose
    (name, file) is known already.

    Raises FileNotFoundError for a module that is not there, SyntaxError for one that does not parse, ValueError for a name that
    has an entry already."""
    own = [*((f"np2fx.rules.{_stem(f)}", f) for f in own_files()), (_ALWAYS, _always_file())]
    files = [*own, *((module, module_file(module, root)) for module in extra), *files]
    return _load(tuple((m, f, *_stamp(f)) for m, f in files))


@functools.lru_cache(maxsize=8)
def _load(files: tuple[tuple[str, str, int, int], ...]) -> Table:
    index = _cached(files)
    if index is None:
        index = [entry for module, file, _, _ in files for entry in _read(module, file)]
        _keep(files, index)
    rules: dict[str, RuleSource] = {}
    refusals: dict[str, RefusalSource] = {}
    for entry in index:
        if entry["entry"] == "rule":
            found = _rule(entry)
            twice = next((n for n in found.names if n in rules or n in refusals), None)
            if twice is not None:
                raise ValueError(f"{twice} has two entries in the table, the second in {found.file}")
            rules.update(dict.fromkeys(found.names, found))
        else:
            for name in entry["names"]:
                refusals[name] = RefusalSource(name, entry["reason"], entry["hint"], entry["finding"], entry["file"], entry["line"])
    return Table(rules, refusals)


def functions_beside(rule: RuleSource) -> dict[str, ast.FunctionDef]:
    """The functions of the file in which a rule stands, by name."""
    return _functions(rule.file, _stamp(rule.file))


def own_files() -> list[str]:
    """np2fx's rule files: every public file of `rules/`."""
    package = _package()
    folder = os.path.join(package, "rules")
    if not os.path.isdir(folder):  # a working tree, where `rules/` stands beside `transpiler/`
        folder = os.path.join(os.path.dirname(package), "rules")
    return sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".py") and not n.startswith("_"))


def _package() -> str:
    return os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def _always_file() -> str:
    return os.path.join(_package(), "contrib", f"{_ALWAYS.rpartition('.')[2]}.py")


def module_file(module: str, root: str) -> str:
    """The file of a rule module, looked for under the root and its `src`, then among installed packages, without importing any.

    Raises FileNotFoundError."""
    parts = module.split(".")
    for base in (root, os.path.join(root, "src"), *_installed(parts[0])):
        inside = parts[1:] if base not in (root, os.path.join(root, "src")) else parts
        for tail in (*((os.path.join(*inside) + ".py",) if inside else ()), os.path.join(*inside, "__init__.py")):
            path = os.path.join(base, tail)
            if os.path.isfile(path):
                return os.path.abspath(path)
    raise FileNotFoundError(f"the rule module {module} is neither under {os.path.abspath(root)} nor installed")


def _installed(package: str) -> list[str]:
    """The folders of an installed top-level package; finding them imports nothing."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    return list(spec.submodule_search_locations or ()) if spec is not None else []


# Reading one file.


def _read(module: str, file: str) -> Iterator[dict[str, Any]]:
    """The entries of one rule file, as plain data."""
    tree = _tree(file)
    names: dict[str, Any] = {}
    registrars: dict[str, tuple[str, int]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            value = _value(statement.value, names)
            if value is not _UNKNOWN:
                names[statement.targets[0].id] = value
        if isinstance(statement, ast.FunctionDef):
            kind = next(filter(None, (_registered_kind(n) for n in walk(statement) if isinstance(n, ast.Call))), "")
            if kind:
                registrars[statement.name] = (kind, statement.lineno)
        elif (
            isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call) and getattr(call.func, "id", "") in registrars
        ):
            kind, line = registrars[call.func.id]  # type: ignore[attr-defined]
            yield _registered_entry(call, kind, line, names, module, file)
            continue
        yield from _entries(statement, names, module, file)


def _registered_kind(call: ast.Call) -> str:
    """The kind in `register(Rule(names, body, call, "kind"))`, which a file may wrap in a function for objects such as `numpy.r_`."""
    inner = call.args[0] if call.args else None
    if getattr(call.func, "id", "") != "register" or not (isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "Rule"):
        return ""
    kind = inner.args[3] if len(inner.args) > 3 else next((k.value for k in inner.keywords if k.arg == "kind"), None)
    return str(kind.value) if isinstance(kind, ast.Constant) else ""


def _registered_entry(call: ast.Call, kind: str, line: int, names: dict[str, Any], module: str, file: str) -> dict[str, Any]:
    return {
        "entry": "rule", "names": _strings(call.args[:1], names), "body_name": call.func.id, "module": module, "file": file,  # type: ignore[attr-defined]
        "line": line, "kind": kind, "parameters": [], "examples": [],
    }  # fmt: skip


def _entries(statement: ast.stmt, names: dict[str, Any], module: str, file: str) -> Iterator[dict[str, Any]]:
    if isinstance(statement, ast.FunctionDef):
        for decorator in statement.decorator_list:
            if isinstance(decorator, ast.Call) and _last_name(decorator.func) in ("rule", "ufunc"):
                yield _rule_entry(statement, decorator, names, module, file)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if _last_name(call.func) == "refuse":
            options = {k.arg: _value(k.value, names) for k in call.keywords}
            yield {
                "entry": "refusal", "names": _strings(call.args, names), "reason": options.get("reason", ""),
                "hint": options.get("hint", ""), "finding": options.get("finding", "unmapped-function"),
                "file": file, "line": statement.lineno,
            }  # fmt: skip
    elif isinstance(statement, ast.For):
        values = _value(statement.iter, names)
        for value in values if values is not _UNKNOWN else ():
            inner = {**names, **_bind(statement.target, value)}
            for child in statement.body:
                yield from _entries(child, inner, module, file)


def _rule_entry(function: ast.FunctionDef, decorator: ast.Call, names: dict[str, Any], module: str, file: str) -> dict[str, Any]:
    options = {k.arg: _value(k.value, names) for k in decorator.keywords}
    options = {k: v for k, v in options.items() if k and v is not _UNKNOWN}
    is_ufunc = _last_name(decorator.func) == "ufunc"
    parameters = list(_parameters(function.args))
    if is_ufunc:
        operands = ", ".join(("a", "b")[: len(parameters)])
        options.setdefault("examples", [f"{re.sub('^numpy[.]', 'np.', _strings(decorator.args, names)[0])}({operands})"])
        parameters = [Parameter(p.name, "positional-only") for p in parameters]
        parameters += [Parameter("out", "positional", "None")] + [Parameter(k, "keyword", "None") for k in UFUNC_KEYWORDS[1:]]
    return {
        "entry": "rule", "names": _strings(decorator.args, names), "body_name": function.name, "module": module, "file": file,
        "line": function.lineno, "kind": options.pop("kind", "elementwise"), "writes": options.pop("writes", None),
        "view": bool(options.pop("view", False)), "examples": list(options.pop("examples", ())), "is_ufunc": is_ufunc,
        "outputs": _outputs(function), "refused": refusals(function, {p.name for p in parameters}),
        "doc": ast.get_docstring(function) or "",
        "parameters": [[p.name, p.kind, p.default] for p in parameters], "options": options,
    }  # fmt: skip


def _last_name(f: ast.expr) -> str:
    """`rule` for `rule` and for `rules.rule`."""
    return f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")


def _outputs(function: ast.FunctionDef) -> int:
    """How many values a rule returns: the length of the tuple that each of its returns is, else 1."""
    returned = [n.value for n in walk(function) if isinstance(n, ast.Return)]
    lengths = {len(v.elts) if isinstance(v, ast.Tuple) else 1 for v in returned}
    return lengths.pop() if len(lengths) == 1 else 1


def _rule(entry: dict[str, Any]) -> RuleSource:
    values = {k: v for k, v in entry.items() if k != "entry"}
    values["parameters"] = tuple(Parameter(*p) for p in entry["parameters"])
    values["refused"] = tuple(map(tuple, entry.get("refused", ())))
    values["names"], values["examples"] = tuple(entry["names"]), tuple(entry["examples"])
    return RuleSource(**values)


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for n, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = "positional-only" if n < len(arguments.posonlyargs) else "positional"
        yield Parameter(arg.arg, kind, None if default is None else ast.unparse(default))
    if arguments.vararg:
        yield Parameter(arguments.vararg.arg, "var-positional")
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(arg.arg, "keyword", None if default is None else ast.unparse(default))
    if arguments.kwarg:
        yield Parameter(arguments.kwarg.arg, "var-keyword")


# The values that stand in decorators: literals, names given to literals, and simple text building.

_UNKNOWN = object()
_ALLOWED = (
    ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.FormattedValue, ast.Starred, ast.Name,
    ast.Load, ast.Store, ast.BinOp, ast.Add, ast.UnaryOp, ast.USub, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.IfExp,
    ast.Subscript,
)  # fmt: skip
_METHODS = ("split", "items", "keys", "values", "format", "strip")


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of an expression made of literals and known names; _UNKNOWN for anything else."""
    own = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for inner in walk(node):
        if isinstance(inner, ast.Call):
            if not (isinstance(inner.func, ast.Attribute) and inner.func.attr in _METHODS):
                return _UNKNOWN
        elif isinstance(inner, ast.Attribute):
            if inner.attr not in _METHODS:
                return _UNKNOWN
        elif isinstance(inner, ast.Name):
            if inner.id not in names and inner.id not in own:
                return _UNKNOWN
        elif not isinstance(inner, _ALLOWED):
            return _UNKNOWN
    try:
        return eval(compile(ast.Expression(node), "<rule>", "eval"), {"__builtins__": {}, **names})
    except Exception:
        return _UNKNOWN


def _strings(nodes: Sequence[ast.expr], names: dict[str, Any]) -> list[str]:
    value = _value(ast.copy_location(ast.List(list(nodes), ast.Load()), nodes[0]), names) if nodes else []
    return [] if value is _UNKNOWN else list(value)


def _bind(target: ast.expr, value: Any) -> dict[str, Any]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple):
        return {k: v for t, x in zip(target.elts, value, strict=False) for k, v in _bind(t, x).items()}
    return {}


# Files and the cache.


def _text(file: str) -> str:
    return _text_of(file, _stamp(file))


def _tree(file: str) -> ast.Module:
    return _tree_of(file, _stamp(file))


@functools.lru_cache(maxsize=64)
def _text_of(file: str, stamp: tuple[int, int]) -> str:
    with open(file, encoding="utf-8") as handle:
        return handle.read()


@functools.lru_cache(maxsize=64)
def _tree_of(file: str, stamp: tuple[int, int]) -> ast.Module:
    return ast.parse(_text_of(file, stamp), file)


@functools.lru_cache(maxsize=64)
def _functions(file: str, stamp: tuple[int, int]) -> dict[str, ast.FunctionDef]:
    return {n.name: n for n in _tree_of(file, stamp).body if isinstance(n, ast.FunctionDef)}


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]


def _stamp(file: str) -> tuple[int, int]:
    status = os.stat(file)
    return status.st_mtime_ns, status.st_size


def cache_folder() -> str:
    """Where np2fx keeps what it can make again: $XDG_CACHE_HOME/np2fx or ~/.cache/np2fx."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "np2fx")


def _cache_file(files: tuple[tuple[str, str, int, int], ...]) -> str:
    import zlib

    where = zlib.crc32("\n".join(f for _, f, _, _ in files).encode())
    return os.path.join(cache_folder(), f"rules-{where:08x}.json")


def _cached(files: tuple[tuple[str, str, int, int], ...]) -> list[dict[str, Any]] | None:
    try:
        with open(_cache_file(files), encoding="utf-8") as handle:
            kept = json.load(handle)
        return kept["index"] if kept["key"] == [_FORMAT, [list(f) for f in files]] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(files: tuple[tuple[str, str, int, int], ...], index: list[dict[str, Any]]) -> None:
    """Write the index; a folder that cannot be written only costs time on the next start."""
    from .files import write

    try:
        path = _cache_file(files)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, json.dumps({"key": [_FORMAT, files], "index": index}).encode())
    except (OSError, TypeError, ValueError):
        return
