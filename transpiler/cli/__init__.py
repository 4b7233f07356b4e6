"""The command line: one module a subcommand, imported when it is asked for.

Exit codes are ruff's: 0 nothing found, 1 findings, 2 the tool could not run. No traceback reaches a user.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

COMMANDS = {
    "check": "say what in nodes falls out of a graph",
    "rewrite": "rewrite nodes from NumPy to torch",
    "record": "run the project's tests or programs and keep the kinds, dtypes and ranks of what its functions are passed",
    "run": "run a program with its modules rewritten as they are imported; no file is touched",
    "verify": "prove that a node, its rewritten form and its graph agree",
    "trace": "trace a function on samples and export its graph",
    "rules": "list the NumPy functions with a torch rule, and why others have none",
    "explain": "explain a finding or a rule",
}
REPORT = "this is a bug of np2fx, please report it with the command and the file"


class UsageError(Exception):
    """The tool cannot run as asked; the message says why. Exit code 2."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `np2fx ARGV` and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        args = _parse(arguments)
        return importlib.import_module(f".{args.command}", __name__).run(args)
    except SystemExit as stop:  # argparse: 0 after --help, 2 after a usage error
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _failed(error)


def _parse(arguments: list[str]) -> argparse.Namespace:
    command = next((a for a in arguments if not a.startswith("-")), None)
    parser = argparse.ArgumentParser(prog="np2fx", description="Turns NumPy functions into torch, and proves that they agree.")
    parser.add_argument("--version", action="version", version=f"np2fx {_version()}" if "--version" in arguments else "np2fx")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        sub = subparsers.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == command:
            importlib.import_module(f".{name}", __name__).add_arguments(sub)
    return parser.parse_args(arguments)


def _failed(error: Exception) -> int:
    from ..source.reading.config import ConfigError

    if isinstance(error, (UsageError, ConfigError)):
        return _fail(str(error))
    if isinstance(error, FileNotFoundError):
        return _fail(f"{error.filename or error}: no such file or folder")
    if isinstance(error, OSError):
        return _fail(f"{error.filename or ''}: {error.strerror or error}".lstrip(": "))
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in ("torch", "numpy", "hypothesis"):
        return _fail(f'this command needs {error.name}: pip install "np2fx[torch]"')
    if os.environ.get("NP2FX_DEBUG"):
        import traceback

        traceback.print_exc()
    message = " ".join(str(error).split())[:300]
    return _fail(f"internal error: {type(error).__name__}: {message}; {REPORT} (NP2FX_DEBUG=1 shows where)")


def _fail(message: str, code: int = 2) -> int:
    print(f"np2fx: {message}", file=sys.stderr)
    return code


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("np2fx")
    except PackageNotFoundError:
        return "(not installed)"
