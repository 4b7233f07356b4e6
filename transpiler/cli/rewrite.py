"""np2fx rewrite PATHS: the codemod. Files are replaced whole, in one step; --diff and --check write nothing."""

from __future__ import annotations

import argparse
import os
import sys

from ..source import files
from ..source.config import Config
from ..source.findings import Finding, make_finding
from . import REPORT, UsageError, options, output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    options.add_findings(parser)
    options.add_nodes(parser)
    parser.add_argument("--diff", action="store_true", help="print what would change; exit 1 if anything would")
    parser.add_argument("--check", action="store_true", help="only say which files would change; exit 1 if any would")
    parser.add_argument("--exact", action="store_true", help="call the rule where a plain torch call would rest on an assumption")
    parser.add_argument("--random-as-input", action="store_true", help="random numbers drawn in a node become a parameter of it")
    parser.add_argument("--boundary", choices=("numpy", "none"), default="numpy",
                        help="numpy: rewritten functions take and return arrays as before; none: they are tensor functions")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    findings: list[Finding] = []
    texts: dict[str, str] = {}
    changed = broken = 0
    for start in args.paths:
        if start != "-" and not os.path.exists(start):
            raise UsageError(f"{start}: no such file or folder")
        config = options.config_of(args, args.stdin_filename if start == "-" else start)
        for path in files.discover([start], config.exclude, config.root):
            try:
                did, said = _file(path, config, args, texts)
            except OSError as error:
                raise UsageError(f"{path}: {error.strerror}" if error.strerror else str(error)) from None
            except Exception as error:  # one file must not stop the run
                if os.environ.get("NP2FX_DEBUG"):
                    raise
                text = " ".join(str(error).split())[:300]
                print(f"np2fx: {path}: internal error: {type(error).__name__}: {text}; {REPORT}", file=sys.stderr)
                did, said, broken = False, [], broken + 1
            findings += said
            changed += did
    return _finish(args, findings, texts, changed, broken)


def _file(path: str, config: Config, args: argparse.Namespace, texts: dict[str, str]) -> tuple[bool, list[Finding]]:
    """Rewrite one file: whether it changed (or would), and the findings; its text as it was goes into `texts`."""
    from ..source.rewrite import rewrite_source

    name = args.stdin_filename if path == "-" else path
    data = files.read(path)
    if not files.mentions(data, config.markers()) and path != "-":
        return False, []
    try:
        source = files.decode(data, name)
    except files.EncodingError as error:
        return False, [make_finding("encoding-error", path=name, line=error.line, column=min(error.line, 1), message=str(error))]
    text, findings = rewrite_source(source.text, name, config, all_functions=args.all_functions, exact=args.exact, boundary=args.boundary,
                                    random_as_input=args.random_as_input)  # fmt: skip
    changed = text != source.text
    if findings:
        texts[name] = source.text
    findings = [f for f in findings if config.wants(f)]
    if args.diff:
        if changed:
            sys.stdout.write(diff(source.text, text, name))
    elif path == "-" and not args.check:
        sys.stdout.flush()
        sys.stdout.buffer.write(source.encode(text))
        sys.stdout.buffer.flush()
    elif changed and args.check:
        print(f"would rewrite {name}")
    elif changed:
        files.write(path, source.encode(text))
        print(f"rewrote {name}")
    return changed, findings


def diff(old: str, new: str, path: str) -> str:
    """A unified diff that `git apply` takes."""
    import difflib

    lines = []
    for line in difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path.lstrip('/')}", f"b/{path.lstrip('/')}"):
        lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def _finish(args: argparse.Namespace, findings: list[Finding], texts: dict[str, str], changed: int, broken: int) -> int:
    stream = sys.stderr if args.diff or "-" in args.paths else sys.stdout
    if args.output_format != "text" or findings:
        output.show(findings, args.output_format, stream=stream, texts=texts)
    if args.output_format == "text" and "-" not in args.paths and not args.diff:
        verb = "would be rewritten" if args.check else "rewritten"
        print(f"{changed} file{'' if changed == 1 else 's'} {verb}")
    if broken:
        return 2
    would = changed and (args.diff or args.check)
    return 1 if would else output.exit_code(findings)
