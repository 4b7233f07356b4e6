"""np2fx run SCRIPT ARGS: the script, and what it imports of the project, as `np2fx rewrite` would write them; no file is touched."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import types

from . import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all-functions", action="store_true", help="rewrite all functions of the project, not its nodes alone")
    what = "a file.py and its arguments, or -- -m MODULE ARGS"
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="SCRIPT ARGS", help=what)


def run(args: argparse.Namespace) -> int:
    from ..importing.hook import Hook, loader_of
    from . import output

    program = args.program[1:] if args.program[:1] == ["--"] else args.program
    is_module = program[:1] == ["-m"]
    program = program[is_module:]
    if not program:
        raise UsageError("say what to run: np2fx run script.py")
    script = program[0]
    if not is_module and not os.path.isfile(script):
        raise UsageError(f"{script}: no such file")
    hook = Hook((), args.all_functions, os.getcwd() if is_module else os.path.dirname(os.path.abspath(script)))
    sys.meta_path.insert(0, hook)
    sys.argv = list(program)
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.abspath(script)))
    try:
        if is_module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            main.__file__ = script
            code = loader_of("__main__", os.path.abspath(script), hook).get_code("__main__")
            exec(code, vars(main))
    finally:
        refused = [f for found in hook.findings.values() for f in found if f.severity == "error"]
        if refused:
            sys.stdout.flush()
            print("np2fx: left as they were:", file=sys.stderr)
            output.show(refused, "text", stream=sys.stderr)
    return 0

