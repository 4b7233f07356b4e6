"""The codemod: the text of modules in, new text and findings out.

Every node is rewritten whole or left as it is; what is not touched keeps every byte. Twice is the same as once. The helpers that nodes
call are converted with them, in whatever module of the project they stand (`Project`); `rewrite_source` knows one text alone.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..deep import deep
from ..source.facts.helpers import Helpers
from ..source.facts.module import Module
from ..source.findings.finding import Finding, make_finding
from ..source.reading import files
from ..source.reading.config import Config
from ..source.reading.nodes import Function
from ..source.reading.project import Parsed, Project, root_of
from . import DIALECTS
from .job import Job
from .randoms.random_inputs import Lifted, lift_random, not_rewritten


@dataclass
class Rewritten:
    """What became of one file.

    new        its text now
    torch      the functions that are torch now
    numpys     those that are NumPy on torch, with the fact that was missing
    helper_of  the node ("pkg/app.py:node") whose helper the file holds, for a file that was not asked for"""

    source: files.Source
    new: str
    findings: list[Finding] = field(default_factory=list)
    helper_of: str = ""
    torch: list[str] = field(default_factory=list)
    numpys: dict[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        return self.new != self.source.text


@dataclass(frozen=True)
class Options:
    """How to rewrite; see `rewrite_source`."""

    all_functions: bool = False
    exact: bool = False
    boundary: str = "numpy"
    random_as_input: bool = False
    dialect: str = DIALECTS[0]

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise ValueError(f"{self.dialect!r} is not a dialect; dialects are {', '.join(DIALECTS)}")


def rewrite_source(text: str | bytes, path: str = "<string>", config: Config | None = None, *, all_functions: bool = False,
                   exact: bool = False, boundary: str = "numpy", random_as_input: bool = False,
                   dialect: str = "auto") -> tuple[Any, list[Finding]]:  # fmt: skip
    """Rewrite the nodes of a module; returns the new text (bytes for bytes, str for str) and the findings.

    exact     rests on no assumption: where a dtype or rank is not known, the rule is called
    boundary  "numpy" lets the functions take and return arrays as before, "none" leaves them tensor functions
    random_as_input  random numbers drawn in a node become a parameter of it
    dialect   "auto" writes plain torch where the facts decide, NumPy on torch (see `np2fx.arrays`) where they don't; "numpy" writes the
              latter everywhere; to "torch" it is a finding, and the function stays as it was

    Never raises for what the text holds: what cannot be read or converted is a finding, and the text comes back as it was."""
    options = Options(all_functions, exact, boundary, random_as_input, dialect)
    try:
        read = files.decode(text, path) if isinstance(text, bytes) else files.Source(path, text)
    except files.EncodingError as error:
        return text, [make_finding("encoding-error", path=path, line=error.line or 1, column=1, message=str(error))]
    parsed = parse(read, text, config or Config())
    if isinstance(parsed, list):
        return text, parsed
    (done,) = Batch([(parsed, config or Config())], Project(), options).rewrite([parsed])
    if not done.changed:
        return text, done.findings
    return (read.encode(done.new) if isinstance(text, bytes) else done.new), done.findings


@deep
def parse(source: files.Source, data: str | bytes, config: Config) -> Parsed | list[Finding]:
    """A module, or the findings that say why there is none."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError) as error:
        from ..source.findings.check import check_source

        found = check_source(data, source.path, config)
        return found or [make_finding("syntax-error", path=source.path, line=1, column=1, message=str(error))]
    return Parsed(source, tree)


def by_project(given: Iterable[tuple[Parsed, Config]], options: Options, alone: Callable[[Parsed], bool]) -> Iterator[Batch]:
    """The modules given, those of one project together; what is `alone` (a text that is no file) belongs to none."""
    together: dict[str, list[tuple[Parsed, Config]]] = {}
    for parsed, config in given:
        together.setdefault("" if alone(parsed) else root_of(parsed.path), []).append((parsed, config))
    for root, some in together.items():
        yield Batch(some, Project(root, some[0][1].exclude) if root else Project(), options)


class Batch:
    """The modules that one run was asked to rewrite, all of one project.

    given    the modules and their configurations"""

    def __init__(self, given: Sequence[tuple[Parsed, Config]], project: Project, options: Options) -> None:
        self.given, self.project, self.options = list(given), project, options
        self.configs = {os.path.realpath(p.path): config for p, config in given}
        self.modules: dict[Parsed, Module] = {}
        self.failed: dict[Parsed, Exception] = {}
        for parsed, _ in given:
            project.add(parsed)

    @deep
    def module(self, parsed: Parsed) -> Module:
        """A module of the project. The functions of one that was not asked for are no nodes."""
        if parsed not in self.modules:
            config = self.configs.get(os.path.realpath(parsed.path))
            every, private = self.options.all_functions and config is not None, self.project.is_spread(parsed)
            made = Module(parsed, config or self.given[0][1], self.options.exact, every, private)
            if config is None:
                made.nodes, made.regions = [], []
            self.modules[parsed] = made
        return self.modules[parsed]

    def run(self) -> Iterator[tuple[list[Parsed], list[Rewritten] | Exception]]:
        """Rewrite all that was given, group by group: what became of each, or the error (a bug of ours) that one ended in, which does not
        stop the others."""
        for parsed, _ in list(self.given):
            try:
                self.module(parsed)
            except Exception as error:
                self.given = [(p, config) for p, config in self.given if p is not parsed]
                yield [parsed], error
        for group in self.groups():
            made: list[Rewritten] | Exception
            try:
                made = self.rewrite(group)
            except Exception as error:
                made = error
            yield group, made

    @deep
    def groups(self) -> list[list[Parsed]]:
        """The modules given, those together whose nodes call helpers in the same files."""
        group = {p: [p] for p, _ in self.given}
        owner: dict[Parsed, list[Parsed]] = {}
        for parsed, homes in self._homes().items():
            for home in homes:
                at_first = group[parsed] if home in self.failed else group.get(home, group[parsed])
                mine, other = group[parsed], owner.setdefault(home, at_first)
                if mine is not other:
                    mine += other
                    for p in mine:
                        group[p] = mine
                    owner.update({h: mine for h, g in owner.items() if g is other})
        order = [p for p, _ in self.given]
        return [sorted(g, key=order.index) for g in {id(g): g for g in group.values()}.values()]

    def _homes(self) -> dict[Parsed, list[Parsed]]:
        """Each module given with those that its nodes' helpers stand in; one of which that cannot be said stays by itself."""
        helpers = Helpers(self.project, self.module)
        found: dict[Parsed, list[Parsed]] = {}
        for parsed, _ in self.given:
            nodes: dict[Function, Parsed] = {n.function: parsed for n in self.module(parsed).nodes if n.function is not None}
            try:
                found[parsed] = list(dict.fromkeys([parsed, *(h.parsed for h in deep(helpers.plan)(nodes, set())[0])]))
            except Exception as error:  # one file must not stop the run: `rewrite` raises it
                self.failed[parsed] = error
        return found

    @deep
    def rewrite(self, group: Sequence[Parsed]) -> list[Rewritten]:
        """Rewrite the nodes of some modules and the helpers they call; all the files that belong to it, those given first.

        Never raises for what the texts hold: either every file can be written as it comes back, or each is as it was."""
        for parsed in group:
            if parsed in self.failed:
                raise self.failed[parsed]
        if self.options.random_as_input and any("random" in p.text for p in group):
            job, lifted = self._with_random_inputs(group)
        else:
            job, lifted = self._job(group), {}
        original = {p.path: p.source for p in group}
        made: list[Rewritten] = []
        for module in job.modules:
            findings = job.findings[module]
            if module.path in lifted:
                findings = _unlifted(findings, lifted[module.path])
            caller = "" if os.path.realpath(module.path) in self.configs else job.caller_of(module)
            source = original.get(module.path, module.parsed.source)
            torch, numpys = ([m for m in made if m.module is module] for made in (job.torch, job.numpys))
            became = [m.node.name for m in torch], {m.node.name: m.open for m in numpys}
            made.append(Rewritten(source, job.texts[module], findings, caller, *became))
        for m in made:
            try:
                m.source.encode(m.new)
            except files.EncodingError as error:
                m.findings.append(make_finding("encoding-error", path=m.source.path, line=1, column=1, message=str(error)))
                for other in made:
                    other.new = other.source.text
        return made

    def _job(self, group: Sequence[Parsed]) -> Job:
        how = self.options
        job = Job([self.module(p) for p in group], self.module, self.project, how.exact, how.boundary, how.dialect)
        job.run()
        return job

    def _with_random_inputs(self, group: Sequence[Parsed]) -> tuple[Job, dict[str, Lifted]]:
        """Lift the random numbers of the nodes, then rewrite; a node that is not rewritten after all keeps its own."""
        without: dict[str, frozenset[str]] = {}
        while True:
            lifted = {}
            for p in group:
                config = self.configs[os.path.realpath(p.path)]
                lifted[p.path] = lift_random(p.text, p.path, config, self.options.all_functions, without.get(p.path, frozenset()))
            texts = [Parsed(replace(p.source, text=lifted[p.path].text), ast.parse(lifted[p.path].text)) for p in group]
            for t in texts:
                self.project.add(t)
            job = self._job(texts)
            here = {m.path: job.findings[m] for m in job.modules if m.path in lifted}
            broken = {path: not_rewritten(lifted[path].text, found) & lifted[path].names for path, found in here.items()}
            if not any(broken.values()):
                return job, lifted
            for path, names in broken.items():
                without[path] = without.get(path, frozenset()) | names


def _unlifted(findings: list[Finding], lifted: Lifted) -> list[Finding]:
    """Findings in a text whose random numbers were lifted, at the lines of the text before."""
    known, lines = {f.line for f in lifted.findings}, lifted.lines
    found = [replace(f, line=lines[f.line - 1], end_line=lines[(f.end_line or f.line) - 1]) if f.line else f for f in findings]
    return [*lifted.findings, *(f for f in found if f.name != "random" or f.line not in known)]
