"""np2fx check PATHS: the findings of nodes. Exit 1 where there is an error, 2 where it could not run."""

from __future__ import annotations

import argparse
import os

from ..source.findings.check import Checked, ask_codemod, read_paths
from ..source.findings.finding import make_finding
from ..source.reading import files
from . import UsageError, options, output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    options.add_findings(parser)
    options.add_nodes(parser)
    parser.add_argument("--statistics", action="store_true", help="count the findings of each kind in place of listing them")
    parser.add_argument("--strict", action="store_true", help="warnings fail the check too")
    parser.add_argument("--exit-zero", action="store_true", help="exit 0 whatever is found")
    parser.add_argument("-q", "--quiet", action="store_true", help="no closing line")


def run(args: argparse.Namespace) -> int:
    stdin = files.read("-") if "-" in args.paths else b""
    total = Checked()
    seen: set[tuple[str, int, int, str]] = set()
    for path in args.paths:
        start = args.stdin_filename if path == "-" else path
        if path != "-" and not os.path.exists(path):
            raise UsageError(f"{path}: no such file or folder")
        checked = read_paths(
            [path], options.config_of(args, start), all_functions=args.all_functions, stdin_path=args.stdin_filename, stdin=stdin
        )
        for f in checked.findings:  # a folder and a file in it may both be named
            if (f.path, f.line, f.column, f.code) not in seen:
                seen.add((f.path, f.line, f.column, f.code))
                total.findings.append(f)
        total.files += checked.files
        total.nodes += checked.nodes
        total.asked += checked.asked
    ask_codemod(total, args.all_functions, frozenset({args.stdin_filename}) if "-" in args.paths else frozenset())
    _without_nodes(args, total)
    output.show(total.findings, args.output_format, args.statistics, stdin=_text(stdin))
    if args.output_format == "text" and not args.quiet and not args.statistics:
        print(output.summary(total.findings, total.nodes, total.files))
    return 0 if args.exit_zero else output.exit_code(total.findings, args.strict)


def _without_nodes(args: argparse.Namespace, total: Checked) -> None:
    """A folder in which nothing is marked is told how to mark; single files (a hook hands over the changed ones) may well have none."""
    if total.nodes or total.findings or not any(os.path.isdir(p) for p in args.paths):
        return
    config = options.config_of(args, args.paths[0])
    found = make_finding("no-node", path=args.paths[0])
    if config.wants(found) and config.target != "np2fx":
        total.findings.append(found)


def _text(data: bytes) -> str:
    """Standard input for the frames of its findings."""
    try:
        return files.decode(data).text
    except files.EncodingError:
        return ""
