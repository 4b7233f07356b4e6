"""What `rewrite` refuses, as `check --target np2fx` asks for it: the codemod itself is run, in memory.

check's own walk says what a graph cannot hold; whether the codemod takes a function is known to the codemod alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...codemod.rewrite import Batch, Options, by_project
from ..reading import suppress
from ..reading.config import Config
from ..reading.nodes import Node
from ..reading.project import Parsed
from .finding import Finding, make_finding

GRAPHS_ALONE = "np2fx rewrite takes the function: this stands in the way of a graph alone"

Span = tuple[int, int, int]
Taken = dict[str, list[Span]]
"""The functions in which the codemod refuses nothing, by module."""


def refusals(given: Sequence[tuple[Parsed, Config]], all_functions: bool, alone: frozenset[str], taken: Taken) -> Iterator[Finding]:
    """The errors of a rewriting of some modules, in them and in those of their helpers; what is taken is put into `taken`. Modules whose
    path is in `alone` are texts that belong to no project."""
    for batch in by_project(given, Options(all_functions), lambda parsed: parsed.path in alone):
        for group, made in batch.run():
            if isinstance(made, Exception):
                yield from (_failed(parsed, made) for parsed in group)
                continue
            for m in made:
                path = os.path.realpath(m.source.path)
                config = batch.configs.get(path, batch.given[0][1])
                errors = [f for f in m.findings if f.severity == "error"]
                spans = _spans(batch, m.source.path)
                left = [f for f in m.findings if f.severity == "error" or f.name == "not-rewritten"]
                taken[path] = [s for s in spans if not any(_holds(s, f) for f in left)]
                yield from suppress.apply([f for f in errors if config.wants(f)], m.source.text, spans) if errors else ()


def _holds(span: Span, found: Finding) -> bool:
    return span[0] <= found.line <= span[2]


def _spans(batch: Batch, path: str) -> list[Span]:
    """The functions of a module, for comments that silence a whole one."""
    parsed = next((p for p in batch.modules if p.path == path), None)
    return [Node(name, f, f.body, "all").span for f, (name, _) in parsed.functions.items()] if parsed is not None else []


def _failed(parsed: Parsed, error: Exception) -> Finding:
    if os.environ.get("NP2FX_DEBUG"):
        raise error
    text = " ".join(str(error).split())[:200]
    message = f"np2fx rewrite fails on this module ({type(error).__name__}: {text})"
    return make_finding("not-rewritten", path=parsed.path, line=1, column=1, message=message, severity="error",
                        hint="this is a bug of np2fx, please report it with the file")  # fmt: skip


def merged(own: Sequence[Finding], refused: Sequence[Finding], taken: Taken) -> list[Finding]:
    """check's own findings and those of the codemod, each place once, in the words of whoever is certain. What check finds in a function
    that the codemod takes keeps it from being a graph, and says so."""
    real: dict[str, str] = {f.path: os.path.realpath(f.path) for f in (*own, *refused)}
    own = [_of_graphs(f) if any(_holds(span, f) for span in taken.get(real[f.path], ())) else f for f in own]
    told = {(real[f.path], f.line, what) for f in own if f.severity == "error" for what in (f.name, f.column)}
    new = [f for f in dict.fromkeys(refused) if not {(real[f.path], f.line, what) for what in (f.name, f.column)} & told]
    sure = {(real[f.path], f.line, f.name) for f in new}
    left = [f for f in own if f.severity == "error" or (real[f.path], f.line, f.name) not in sure]
    order = list(real)
    return sorted([*left, *new], key=lambda f: (order.index(f.path), f.line, f.column, f.code))


def _of_graphs(found: Finding) -> Finding:
    """What the codemod does not mind is no more than a note for np2fx."""
    if found.severity == "note" or found.name == "bad-spec":
        return found
    return replace(found, severity="note", hint=f"{found.hint}; {GRAPHS_ALONE}" if found.hint else GRAPHS_ALONE)
