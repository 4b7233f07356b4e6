"""A program: a node's source, its arguments, and what NumPy makes of them."""

from __future__ import annotations

import ast
import contextlib
import linecache
import random
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from np2fx.verifying.comparing.counterexample import literal

from .expressions import Failed, expression
from .header import HEADER
from .inputs import draw
from .statements import statement
from .writer import Writer

_made = 0


@dataclass
class Program:
    """source  the module: imports, helpers, and the function `node`
    sample, other  arguments: what it is traced with, and others of the same dtypes and shapes
    used     the constructs that the writer put into it"""

    source: str
    sample: list[Any]
    other: list[Any]
    used: set[str] = field(default_factory=set)

    def module(self, stable: bool = False) -> types.SimpleNamespace:
        """The module, freshly made: a node may write into its constants. `stable`: with a NumPy whose sorts keep the order of equals."""
        global _made
        _made += 1
        path = f"/adversary/program_{_made}.py"
        linecache.cache[path] = (len(self.source), None, self.source.splitlines(keepends=True), path)
        names: dict[str, Any] = {"__name__": f"program_{_made}", "__file__": path}
        with imported(names["__name__"]):
            exec(compile(self.source, path, "exec", dont_inherit=True), names)  # as a file is
        if stable:
            names["np"] = _stable_numpy()
        return types.SimpleNamespace(path=path, **{k: v for k, v in names.items() if not k.startswith("__")})

    def marked(self, declared: bool) -> str:
        """The source with `node` marked as a node, and with the specs of its arguments if `declared`."""
        names = self.source.split("def node(")[1].split(")")[0].split(", ")
        specs = ", ".join(f"{name}={_spec(a)!r}" for name, a in zip(names, self.sample, strict=True)) if declared else ""
        before, after = self.source.split("def node(")
        return f"import np2fx\n{before}@np2fx.node({specs})\ndef node({after}"

    @property
    def script(self) -> str:
        """Code that shows what NumPy, the converted function and the graph make of the arguments."""
        return (
            f"{self.source}\n\nsample = [{', '.join(map(literal, self.sample))}]\nother = [{', '.join(map(literal, self.other))}]\n"
            "# np2fx.convert(node)(*tensors), np2fx.trace(node, *sample)(*tensors), node(*arrays)\n"
        )


def _spec(a: Any) -> str:
    return f"{a.dtype}[{', '.join(map(str, a.shape))}]" if isinstance(a, np.ndarray) else type(a).__name__


@contextlib.contextmanager
def imported(name: str) -> Iterator[None]:
    """A module of that name is to be found, as dataclasses want it."""
    sys.modules[name] = types.ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]


def _stable_numpy() -> types.SimpleNamespace:
    """NumPy with sorts that keep the order of equals, and with a `negative` that is right in place on every fourth element."""

    def negative(x: Any, *args: Any, **kwargs: Any) -> Any:
        return np.negative(x.copy() if isinstance(x, np.ndarray) else x, *args, **kwargs)

    def argsort(a: Any, axis: Any = -1, kind: Any = None, **more: Any) -> Any:
        return np.argsort(a, axis, kind="stable")

    return types.SimpleNamespace(**{**vars(np), "argsort": argsort, "negative": negative})


def header_for(body: str) -> str:
    """The imports, and what of the helpers and constants the body names."""
    needed = {"numpy"}
    while True:
        text = "\n".join([body, *(_PARTS[n] for n in needed)])
        more = needed | {n for n in _PARTS if re.search(rf"\b{n}\b", text)}
        if more == needed:
            break
        needed = more
    imports = [_PARTS[n] for n in _PARTS if n in needed and _PARTS[n].startswith("import ")]
    return "\n\n".join(["\n".join(imports), *(_PARTS[n] for n in _PARTS if n in needed and not _PARTS[n].startswith("import "))])


def _parts() -> dict[str, str]:
    parts: dict[str, str] = {}
    lines = HEADER.splitlines()
    for n in ast.parse(HEADER).body:
        name = n.names[0].name if isinstance(n, ast.Import) else n.targets[0].id if isinstance(n, ast.Assign) else n.name  # type: ignore[union-attr]
        first = min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", []))])
        parts[name] = "\n".join(lines[first - 1 : n.end_lineno])
    return parts


_PARTS = _parts()


def write(rng: random.Random, leaving: float = 0.05) -> Program | None:
    """A random program of 2 to 12 statements, or None where nothing useful came about. `leaving`: how many may leave the graph."""
    sample, other = draw(rng)
    names = ["x", "y", "z", "n"][: len(sample)]
    if not isinstance(sample[-1], np.ndarray):
        names[-1] = "n"
    writer = Writer(rng, HEADER, names, sample, rng.random() < leaving)
    wanted = rng.choice((1, 2, 2, 3, 3, 4, 5, 6, 8, 11))
    for _ in range(wanted):
        statement(writer)
        if writer.chance(0.02):
            early = _early_return(writer)
            if early:
                writer.lines.append(early)
    writer.lines.append(_ending(writer))
    body = "\n".join(writer.lines)
    signature = ", ".join(names)
    source = f"{header_for(body)}\n\n\ndef node({signature}):\n" + "\n".join("    " + line for line in body.split("\n")) + "\n"
    return Program(source, sample, other, writer.used)


def _early_return(writer: Writer) -> str | None:
    """A return that is not taken on the sample."""
    try:
        condition = writer.fill("{A}.shape[0] > 3")
        return None if writer.value(condition) else f"if {condition}:\n    return {writer.fill('{a}')}"
    except Failed:
        return None


def _ending(writer: Writer) -> str:
    """A return of some variables, the last ones first, or of an expression."""
    names = [n for n in writer.variables(lambda v: True) if _returnable(writer.env[n])]
    chosen = [n for n in names[::-1] if writer.chance(0.6)][:4] or names[-1:]
    try:
        if not chosen or writer.chance(0.25):
            chosen = [expression(writer), *chosen[:1]]
    except Failed:
        pass
    form = writer.rng.random()
    if form < 0.05:
        return "return {" + ", ".join(f"{n!r}: {n}" for n in chosen) + "}"
    return f"return {', '.join(chosen)}" if form < 0.9 else f"return [{', '.join(chosen)}]"


def _returnable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_returnable, value))
    return isinstance(value, (np.ndarray, np.generic, int, float, complex, str))
