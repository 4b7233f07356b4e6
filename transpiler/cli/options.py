"""Options that several subcommands share."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from ..source.reading.config import TARGETS, Config, check_selector, load_config
from ..source.reading.signatures import load, root_above
from . import UsageError
from .output import FORMATS

if TYPE_CHECKING:
    from ..source.reading.table import Table


def add_paths(parser: argparse.ArgumentParser, default: tuple[str, ...] = (".",)) -> None:
    parser.add_argument("paths", nargs="*", default=list(default), metavar="PATH", help="files and folders; - is standard input")
    parser.add_argument(
        "--stdin-filename", metavar="NAME", default="<stdin>", help="the path of standard input, for messages and configuration"
    )


def add_findings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output-format", choices=FORMATS, default="text", help="how findings are printed (default: text)")
    parser.add_argument("--select", action="append", metavar="NAMES", help="only these findings: names, codes or first letters of codes")
    parser.add_argument("--ignore", action="append", metavar="NAMES", help="not these findings")


def add_nodes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all-functions", action="store_true", help="take every function as a node")
    parser.add_argument("--target", choices=TARGETS, help="for whom: any tracer (default), np2fx or leapp")
    parser.add_argument("--exclude", action="append", metavar="PATTERNS", help="files and folders to leave out")
    parser.add_argument("--config", metavar="FILE", help="a pyproject.toml in place of the nearest one")


def config_of(args: argparse.Namespace, path: str) -> Config:
    """The configuration of one path, with what the command line says in its place. Raises ConfigError."""
    if args.config is not None and not os.path.isfile(args.config):
        raise UsageError(f"--config {args.config}: no such file")
    base = load_config(args.config or path)
    root = root_above(os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path)))
    if root is not None:
        load(root)  # one that cannot be read is said once, not at every file
    if base.rules:
        table_of(base)
    select, ignore, exclude = names_of(args.select), names_of(args.ignore), _split(args.exclude)
    return base.override(
        target=args.target,
        select=select or None,
        ignore=(*base.ignore, *ignore) if ignore else None,
        exclude=(*base.exclude, *exclude) if exclude else None,
    )


def table_of(config: Config) -> Table:
    """The rule table with the project's rules. A module of rules that cannot be read is a mistake in the configuration, and no bug.

    Raises UsageError."""
    from ..source.reading.table import load_table

    try:
        return load_table(config.rules, config.root)
    except SyntaxError as error:
        raise UsageError(f"[tool.np2fx] rules: {error.filename or ''}:{error.lineno or 1}: this is not Python: {error.msg}") from None
    except (OSError, ValueError, RecursionError) as error:  # not there, not readable, not UTF-8, an entry that is there already
        raise UsageError(f"[tool.np2fx] rules: {error}") from None


def names_of(given: list[str] | None) -> tuple[str, ...]:
    """The findings that --select or --ignore names. Raises ConfigError for what names none."""
    return tuple(check_selector(name) for name in _split(given))


def _split(given: list[str] | None) -> tuple[str, ...]:
    return tuple(part.strip() for text in given or () for part in text.split(",") if part.strip())
