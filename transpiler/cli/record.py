"""np2fx record -- CMD: run the project's own tests or programs; keep the kinds, dtypes and ranks of what its functions are passed."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from ..source.reading import files
from . import UsageError, options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- CMD", help="pytest ARGS, python FILE ARGS or -m MODULE ARGS")
    parser.add_argument("--samples", metavar="DIR", help="keep a few real arguments of each function there, as .npz files")
    parser.add_argument("--write-specs", action="store_true", help="put what is recorded into the source, as @np2fx.node(...)")
    parser.add_argument("--diff", action="store_true", help="with --write-specs: print what would change, write nothing into the source")
    parser.add_argument("--root", metavar="DIR", default=".", help="the project's folder (default: this one)")
    parser.add_argument("--exclude", action="append", metavar="PATTERNS", help="files and folders whose functions are not recorded")
    parser.set_defaults(config=None, target=None, select=None, ignore=None)


def run(args: argparse.Namespace) -> int:
    from ..recording import launching
    from ..source.reading import signatures

    root = os.path.abspath(args.root)
    program = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not program and not args.write_specs:
        raise UsageError("say what to run: np2fx record -- pytest tests")
    config = options.config_of(args, root)
    code = 0
    try:
        if program:
            samples = None if args.samples is None else os.path.abspath(args.samples)
            code, found = launching.run(program, root, config.exclude, samples)
            ran = f" (the program ended with exit code {code})" if code else ""
            if not found:
                print(f"np2fx: no call of a function below {root} was seen{ran}; nothing was written", file=sys.stderr)
                return 2
            path = launching.write(root, found)
            print(f"recorded {len(found)} function{'s' * (len(found) != 1)} in {os.path.relpath(path)}{ran}")
        recorded = signatures.load(root)
    except (launching.RecordError, signatures.SignaturesError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from None
    if args.write_specs:
        _write_specs(args, root, recorded)
    return code


def _write_specs(args: argparse.Namespace, root: str, recorded: Any) -> None:
    from ..codemod.write_specs import with_specs
    from .rewrite import diff

    new: dict[str, bytes] = {}
    for file in dict.fromkeys(key.partition("::")[0] for key in recorded):
        path = os.path.join(root, *file.split("/"))
        if not os.path.isfile(path):
            continue
        source = files.decode(files.read(path), path)
        text = with_specs(source.text, path)
        if text == source.text:
            continue
        if args.diff:
            sys.stdout.write(diff(source.text, text, os.path.relpath(path)))
        else:
            new[path] = source.encode(text)
    files.write_all(new)
    for path in new:
        print(f"wrote specs into {os.path.relpath(path)}")
