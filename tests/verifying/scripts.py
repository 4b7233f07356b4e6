"""Runs the scripts of counterexamples, each in a process of its own: copies of one that has imported torch and nothing of the test's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

_RUNNER = """
import json, os, sys
import numpy, torch, np2fx, np2fx.verifying.comparing.showing, np2fx.converting, np2fx.tracing
scripts, where = json.load(sys.stdin)
for number, script in enumerate(scripts):
    child = os.fork()
    if not child:
        out = os.open(os.path.join(where, str(number)), os.O_CREAT | os.O_WRONLY)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = 1
        try:
            exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    os.waitpid(child, 0)
"""


def run_scripts(scripts: list[str]) -> list[str]:
    """What each prints, on stdout and stderr."""
    with tempfile.TemporaryDirectory() as where:
        given = json.dumps([scripts, where])
        done = subprocess.run([sys.executable, "-c", _RUNNER], input=given, capture_output=True, text=True, check=False, cwd=where)
        assert done.returncode == 0, done.stderr
        found = []
        for number in range(len(scripts)):
            with open(os.path.join(where, str(number)), encoding="utf-8") as file:
                found.append(file.read())
        return found
