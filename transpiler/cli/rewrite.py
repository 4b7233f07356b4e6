"""np2fx rewrite PATHS: the codemod. Files are replaced whole, in one step; --diff and --check write nothing."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING

from ..codemod import DIALECTS
from ..source.findings.finding import Finding, make_finding
from ..source.reading import files
from ..source.reading.config import Config
from . import REPORT, UsageError, options, output

if TYPE_CHECKING:
    from ..codemod.rewrite import Rewritten
    from ..source.reading.project import Parsed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    options.add_findings(parser)
    options.add_nodes(parser)
    parser.add_argument("--diff", action="store_true", help="print what would change; exit 1 if anything would")
    parser.add_argument("--check", action="store_true", help="only say which files would change; exit 1 if any would")
    parser.add_argument("--exact", action="store_true", help="call the rule where a plain torch call would rest on an assumption")
    parser.add_argument("--dialect", choices=DIALECTS, default=DIALECTS[0],
                        help="auto: torch where the facts decide, else NumPy on torch; or the one alone")  # fmt: skip
    parser.add_argument("--random-as-input", action="store_true", help="random numbers drawn in a node become a parameter of it")
    parser.add_argument("--boundary", choices=("numpy", "none"), default="numpy",
                        help="numpy: rewritten functions take and return arrays as before; none: they are tensor functions")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    outcome = _Outcome(args)
    for start in args.paths:
        if start != "-" and not os.path.exists(start):
            raise UsageError(f"{start}: no such file or folder")
        config = options.config_of(args, args.stdin_filename if start == "-" else start)
        for path in files.discover([start], config.exclude, config.root):
            try:
                outcome.read(path, config)
            except OSError as error:
                raise UsageError(f"{path}: {error.strerror}" if error.strerror else str(error)) from None
            except Exception as error:  # one file must not stop the run
                outcome.internal(path, error)
    outcome.rewrite()
    return _finish(args, outcome)


class _Outcome:
    """One run: the files that were read, what became of them, the findings, and the texts that these are about."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.given: list[tuple[Parsed, Config]] = []
        self.seen: set[str] = set()
        self.findings: list[Finding] = []
        self.texts: dict[str, str] = {}
        self.made: list[Rewritten] = []
        self.broken = 0

    def internal(self, path: str, error: Exception) -> None:
        if os.environ.get("NP2FX_DEBUG"):
            raise error
        text = " ".join(str(error).split())[:300]
        print(f"np2fx: {path}: internal error: {type(error).__name__}: {text}; {REPORT}", file=sys.stderr)
        self.broken += 1

    def read(self, path: str, config: Config) -> None:
        """Take a file in; what cannot be read as Python is a finding."""
        from ..codemod.rewrite import parse
        from ..source.reading.project import Parsed

        name = self.args.stdin_filename if path == "-" else path
        if os.path.realpath(path) in self.seen:  # named twice
            return
        self.seen.add(os.path.realpath(path))
        data = files.read(path)
        if not files.mentions(data, config.markers()) and path != "-":
            return
        try:
            source = files.decode(data, name)
        except files.EncodingError as error:
            column = min(error.line, 1)
            self.say([make_finding("encoding-error", path=name, line=error.line, column=column, message=str(error))], config)
            return
        parsed = parse(source, source.text, config)
        if isinstance(parsed, Parsed):
            self.given.append((parsed, config))
        else:
            self.texts[name] = source.text
            self.say(parsed, config)

    def rewrite(self) -> None:
        """Rewrite all that was read, then write it as one."""
        from ..codemod.rewrite import Options, by_project

        args = self.args
        how = Options(args.all_functions, args.exact, args.boundary, args.random_as_input, args.dialect)
        for batch in by_project(self.given, how, lambda parsed: "-" in args.paths and parsed.path == args.stdin_filename):
            for group, made in batch.run():
                if isinstance(made, Exception):
                    self.internal(", ".join(p.path for p in group), made)
                    continue
                for m in made:
                    self.made.append(m)
                    if m.findings:
                        self.texts[m.source.path] = m.source.text
                    self.say(m.findings, batch.configs.get(os.path.realpath(m.source.path), batch.given[0][1]))
        order = {p.path: n for n, (p, _) in enumerate(self.given)}
        self.made.sort(key=lambda m: order.get(m.source.path, len(order)))
        self.findings.sort(key=lambda f: order.get(f.path, len(order)))
        self.write()

    def say(self, findings: list[Finding], config: Config) -> None:
        self.findings += [f for f in findings if config.wants(f)]

    def write(self) -> None:
        args, changed = self.args, [m for m in self.made if m.changed]
        stdin = [m for m in self.made if m.source.path == args.stdin_filename and "-" in args.paths]
        if not (args.diff or args.check):
            try:
                files.write_all({m.source.path: m.source.encode(m.new) for m in changed if m not in stdin})
            except OSError as error:
                raise UsageError(f"{error.filename}: {error.strerror}; nothing was written" if error.strerror else str(error)) from None
        for m in self.made:
            because = f" (helper of {m.helper_of})" if m.helper_of else ""
            if args.diff and m.changed:
                if because:
                    print(f"np2fx: {m.source.path}{because}", file=sys.stderr)
                sys.stdout.write(diff(m.source.text, m.new, m.source.path))
            elif m in stdin and not args.check and not args.diff:
                sys.stdout.flush()
                sys.stdout.buffer.write(m.source.encode(m.new))
                sys.stdout.buffer.flush()
            elif m.changed and not args.diff:
                where = sys.stdout if args.output_format == "text" else sys.stderr  # findings in another format stand alone
                print(f"{'would rewrite' if args.check else 'rewrote'} {m.source.path}{because}", file=where)


def diff(old: str, new: str, path: str) -> str:
    """A unified diff that `git apply` takes."""
    import difflib

    lines = []
    before, after = (list(io.StringIO(text, newline="\n")) for text in (old, new))  # `splitlines` ends lines that git does not end
    for line in difflib.unified_diff(before, after, f"a/{path.lstrip('/')}", f"b/{path.lstrip('/')}"):
        lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def _dialects(made: list[Rewritten]) -> str:
    """How many functions are in which dialect, and what would make more of them torch."""
    torch, numpys = sum(len(m.torch) for m in made), [why for m in made for why in m.numpys.values()]
    if not numpys:
        return f": {torch} function{'' if torch == 1 else 's'} in torch" if torch else ""
    wanted = Counter(name for why in numpys if why.startswith("declare ") for name in re.findall("`[^`]*`", why.partition(" (line")[0]))
    shown = ", ".join(what for what, _ in wanted.most_common(3)) + (", ..." if len(wanted) > 3 else "")
    way = f": declare {shown} to change that" if wanted else ""
    return f": {torch} of {torch + len(numpys)} functions in torch, {len(numpys)} as NumPy on torch{way}"


def _finish(args: argparse.Namespace, outcome: _Outcome) -> int:
    findings, texts, broken = outcome.findings, outcome.texts, outcome.broken
    changed = sum(m.changed for m in outcome.made)
    stream = sys.stderr if args.diff or "-" in args.paths else sys.stdout
    if args.output_format != "text" or findings:
        output.show(findings, args.output_format, stream=stream, texts=texts)
    if args.output_format == "text" and "-" not in args.paths and not args.diff:
        verb = "would be rewritten" if args.check else "rewritten"
        print(f"{changed} file{'' if changed == 1 else 's'} {verb}{_dialects(outcome.made)}")
    if broken:
        return 2
    would = changed and (args.diff or args.check)
    return 1 if would else output.exit_code(findings)
