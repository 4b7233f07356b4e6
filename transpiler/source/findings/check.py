"""np2fx check: source in, findings out. Nothing is imported but the text, neither torch nor numpy nor user code."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...deep import deep
from ..reading import files, suppress
from ..reading.config import Config, load_config
from ..reading.names import FunctionNode, Names
from ..reading.nodes import Node, bad_specs, find_nodes
from ..reading.table import load_table
from ..reading.walking import walk
from ..reading.work import ArrayWork
from .alarms import HINT, WORDS, alarms
from .finding import Finding, make_finding
from .interpret import Interpreter
from .walker import Walker

if TYPE_CHECKING:
    from ..reading.project import Parsed


@dataclass
class Checked:
    """The outcome of one run: the findings, how many files and nodes were looked at, and the modules with nodes that the codemod is
    still to be asked about (for the target np2fx)."""

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    nodes: int = 0
    asked: list[tuple[Parsed, Config]] = field(default_factory=list)


def check_source(source: str | bytes, path: str = "<string>", config: Config | None = None, *, all_functions: bool = False,
                 target: str | None = None) -> list[Finding]:  # fmt: skip
    """The findings of one module, in source order. Never raises for what the source is: that is a finding too.

    `target` is "any", "np2fx" or "leapp" (the configuration's where None); a source without a node says no-node."""
    config = (config or Config()).override(target=target)
    checked = check_module(source, path, config, all_functions)
    ask_codemod(checked, all_functions, frozenset({path}))
    mentioned = "numpy" in source if isinstance(source, str) else b"numpy" in source
    if mentioned and not checked.nodes and not checked.findings:
        found = make_finding("no-node", path=path)
        checked.findings += [found] if config.target != "np2fx" and config.wants(found) else []
    return checked.findings


def check_paths(paths: Sequence[str], config: Config | None = None, *, all_functions: bool = False, target: str | None = None,
                stdin_path: str = "<stdin>", stdin: bytes | None = None) -> Checked:  # fmt: skip
    """The findings of files and folders; "-" is standard input (or `stdin`, where it was read already).

    Without a config each path's own pyproject.toml is read.

    Raises FileNotFoundError and ConfigError."""
    total = read_paths(paths, config, all_functions=all_functions, target=target, stdin_path=stdin_path, stdin=stdin)
    ask_codemod(total, all_functions, frozenset({stdin_path}) if "-" in paths else frozenset())
    return total


def read_paths(paths: Sequence[str], config: Config | None = None, *, all_functions: bool = False, target: str | None = None,
               stdin_path: str = "<stdin>", stdin: bytes | None = None) -> Checked:  # fmt: skip
    """As `check_paths`, with the modules that the codemod is to be asked about in `asked`: once for all, with `ask_codemod`."""
    total = Checked()
    seen: set[tuple[str, int, int, str]] = set()  # a helper may be called by nodes of several files
    for start in paths:
        settings = (config or load_config(stdin_path if start == "-" else start)).override(target=target)
        markers = settings.markers()
        for path in files.discover([start], settings.exclude, settings.root):
            name = stdin_path if path == "-" else path
            try:
                data = stdin if path == "-" and stdin is not None else files.read(path)
            except OSError as error:
                total.findings.append(make_finding("encoding-error", path=name, message=f"cannot be read: {error.strerror}"))
                continue
            total.files += 1
            if not (files.mentions(data, markers) or (settings.nodes and settings.node_patterns(name))):
                continue
            checked = check_module(data, name, settings, all_functions)
            for found in checked.findings:
                key = (os.path.realpath(found.path), found.line, found.column, found.code)
                if key not in seen:
                    seen.add(key)
                    total.findings.append(found)
            total.nodes += checked.nodes
            total.asked += checked.asked
    return total


def ask_codemod(checked: Checked, all_functions: bool, alone: frozenset[str] = frozenset()) -> None:
    """Put what the codemod refuses beside the findings (target np2fx). Modules whose path is in `alone` belong to no project."""
    asked = {os.path.realpath(parsed.path): (parsed, config) for parsed, config in reversed(checked.asked)}
    if asked:
        from .refused import Taken, merged, refusals

        taken: Taken = {}
        refused = list(refusals(list(asked.values())[::-1], all_functions, alone, taken))
        checked.findings = merged(checked.findings, refused, taken)


@deep
def check_module(source: str | bytes, path: str, config: Config, all_functions: bool = False) -> Checked:
    """One module: its findings (selected, not suppressed) and its number of nodes."""
    try:
        text = files.decode(source, path).text if isinstance(source, bytes) else source.removeprefix("\ufeff")
    except files.EncodingError as error:
        found = make_finding("encoding-error", path=path, line=error.line, column=min(error.line, 1), message=str(error))
        return Checked([found] if config.wants(found) else [], 1)
    tree = parse(text, path, all_functions or marked(text, config, path))
    if isinstance(tree, Finding):
        return Checked([f for f in suppress.apply([tree], text) if config.wants(f)], 1)
    if not (all_functions or may_hold_node(text, config, path)):
        return Checked([], 1)
    names = Names(tree, load_table(config.rules, config.root).knows)
    nodes = find_nodes(tree, names, config, path, all_functions)
    if not nodes:
        return Checked([], 1)
    interpreter = _interpreter(tree, names, text, path, config)
    interpreter.opener = _Opener(config)
    methods = _methods(tree)
    alarming = any(word in text for word in WORDS)
    arrays = ArrayWork(tree, names, interpreter.table)
    for node in nodes:
        if node.how == "all" and not arrays.of(node):
            continue
        for place, message in bad_specs(node):
            interpreter.say("bad-spec", place, message)
        whole: Sequence[ast.AST] = node.body if node.how == "region" or node.function is None else [node.function]
        for asking, message in alarms(tree, whole, names.qualified) if alarming else ():
            interpreter.say("side-effect", asking, message, HINT, severity_="error")
        if node.how != "helper":  # helpers are walked with the values their nodes call them with
            interpreter.node(node, methods.get(_class_of(node), {}))
    findings = suppress.apply(interpreter.findings, text, [n.span for n in nodes]) + interpreter.opener.findings(interpreter)
    checked = Checked([f for f in findings if config.wants(f)], 1, len(nodes))
    if config.target == "np2fx":
        from ..reading.project import Parsed

        checked.asked.append((Parsed(files.Source(path, text), tree), config))
    return checked


@deep
def check_function(text: str, path: str, line: int) -> list[Finding]:
    """The findings of the one function of a module that begins at a line."""
    tree = parse(text, path)
    if isinstance(tree, Finding):
        return []
    names = Names(tree, load_table().knows)
    here = [n for n in find_nodes(tree, names, Config(), path, all_functions=True) if n.how != "region" and n.span[0] == line]
    interpreter = _interpreter(tree, names, text, path, Config())
    for node in here:
        interpreter.node(node, _methods(tree).get(_class_of(node), {}))
    return interpreter.findings


def _interpreter(tree: ast.Module, names: Names, text: str, path: str, config: Config) -> Interpreter:
    table = load_table(config.rules, config.root)
    return Interpreter(tree, names, table, re.split(r"\r\n|\r|\n", text), path, config.target, config.root)


class _Opener:
    """Opens the modules of the project that nodes call into, each once, and says what was found in them."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.texts: dict[str, tuple[str, list[tuple[int, int, int]]]] = {}

    def __call__(self, path: str, caller: Walker) -> Walker | None:
        """The walker of a module; None where it cannot be read (its own check says why) or is the caller's own."""
        if os.path.realpath(path) == os.path.realpath(caller.path):
            return caller
        try:
            text = files.decode(files.read(path), path).text
        except (OSError, files.EncodingError):
            return None
        tree = parse(text, path)
        if isinstance(tree, Finding):
            return None
        shown = os.path.relpath(path) if not os.path.relpath(path).startswith("..") else path
        names = Names(tree, caller.table.knows)
        self.texts[shown] = text, [n.span for n in find_nodes(tree, names, self.config, path, all_functions=True)]
        opened = _interpreter(tree, names, text, shown, self.config)
        opened.opener, opened.opened = self, caller.opened
        return opened

    def findings(self, caller: Walker) -> list[Finding]:
        others = [w for w in caller.opened.values() if w is not None and w is not caller]
        return [f for w in others for f in suppress.apply(w.findings, *self.texts[w.path])]


def parse(text: str, path: str = "<string>", marked: bool = True) -> ast.Module | Finding:
    """The module's syntax tree, or the finding that says why there is none.

    Syntax that is newer than this Python is only a warning in a file that has no sign of a node."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        place: dict[str, Any] = {"line": error.lineno or 1, "column": error.offset or 1}
        place["end_line"], place["end_column"] = max(error.end_lineno or 0, place["line"]), max(error.end_offset or 0, 1)
        if _is_newer_syntax(text):
            return make_finding("newer-syntax", path=path, **place, severity=None if marked else "warning")
        return make_finding("syntax-error", path=path, **place, message=f"this is not Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nested too deeply
        what = "nested too deeply" if not isinstance(error, ValueError) else str(error)
        return make_finding("syntax-error", path=path, line=1, column=1, message=f"this cannot be parsed: {what}")


def _is_newer_syntax(text: str) -> bool:
    """Whether libcst, which knows the newest grammar, can read what this Python cannot."""
    try:
        import libcst
    except ImportError:
        return False
    try:
        libcst.parse_module(text)
    except Exception:
        return False
    return True


def may_hold_node(text: str, config: Config, path: str) -> bool:
    """Whether a text can hold a node: what marks one is imported from np2fx or leapp, or is named in the configuration."""
    return any(word in text for word in ("np2fx", "leapp", *config.markers())) or bool(config.node_patterns(path))


def marked(text: str, config: Config, path: str) -> bool:
    """Whether a text has a sign of a node, judged without parsing it."""
    words = {d.rpartition(".")[2] for d in config.node_decorators} | {"input_tensors"}
    return bool(config.node_patterns(path)) or any(re.search(rf"@[\w.]*\b{re.escape(w)}\b|\b{re.escape(w)}\(", text) for w in words)


def _methods(tree: ast.Module) -> dict[str, dict[str, FunctionNode]]:
    """Class name to its methods by name."""
    classes = [n for n in walk(tree) if isinstance(n, ast.ClassDef)]
    return {c.name: {f.name: f for f in c.body if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))} for c in classes}


def _class_of(node: Node) -> str:
    parts = node.name.split(".")
    return parts[-2] if node.in_class and len(parts) > 1 else ""
