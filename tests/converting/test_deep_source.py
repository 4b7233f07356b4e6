"""Long sums, chains and branches: what Python can parse, all parts of np2fx can walk, or refuse with a finding."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source
from np2fx.deep import deep
from np2fx.source.findings.check import check_source

HEAD = "import numpy as np\nimport np2fx\n\n\n@np2fx.node(x='float64[n]', k='int')\ndef f(x, k=2):\n"
FORMS = {
    "sum": lambda n: "    return " + " + ".join(f"{i}.5 * x" for i in range(n)),
    "elif": lambda n: "    y = x\n    if k == -1:\n        y = x * 2\n"
    + "".join(f"    elif k == {i}:\n        y = x + {i}\n" for i in range(n))
    + "    return y",
    "and": lambda n: "    return x * (" + " and ".join(["k"] * n) + ")",
    "not": lambda n: "    return x * (" + "not " * n + "k)",
    "ternary": lambda n: "    return " + "x if k > 3 else " * n + "x + 1",
    "indexing": lambda n: "    return x" + "[:]" * n,
    "minus": lambda n: "    return " + "-" * n + "x",
    "calls": lambda n: "    return " + "np.sin(" * min(n, 150) + "x" + ")" * min(n, 150),
}


NESTED = ("elif", "ternary")
"""In a graph each choice holds all that follow it: what recording costs grows with the square of their number."""


def module(tmp_path, source, name):
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("form", FORMS)
def test_long_expressions(tmp_path, form):
    source = HEAD + FORMS[form](440) + "\n"
    assert not [f for f in check_source(source, target="np2fx") if f.severity == "error"]
    new, findings = rewrite_source(source)
    assert not [f for f in findings if f.severity == "error"]
    written, node = module(tmp_path, new, "written").f, module(tmp_path, source, "original").f
    x = np.array([0.1, 0.2])
    want = node(x)
    np.testing.assert_allclose(written(x), want)
    np.testing.assert_allclose(np2fx.convert(node)(torch.from_numpy(x)).numpy(), want)
    if form in NESTED:
        node = module(tmp_path, HEAD + FORMS[form](30) + "\n", "shorter").f
        want = node(x)
    np.testing.assert_allclose(np2fx.trace(node, x)(torch.from_numpy(x)).numpy(), want)


def test_torch_text_that_python_could_not_parse_is_refused(tmp_path):
    """`npx.copy(npx.copy(...))`: methods in a row are nested calls in torch, of which Python parses 200."""
    source = HEAD + "    return x" + ".copy()" * 300 + "\n"
    new, findings = rewrite_source(source)
    assert new == source and [(f.name, f.severity) for f in findings] == [("not-rewritten", "error")]
    with pytest.raises(np2fx.ConversionError, match="more deeply than Python parses"):
        np2fx.convert(module(tmp_path, source, "methods").f)(torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("command", [["check"], ["check", "--target", "np2fx"], ["rewrite", "--diff"]])
def test_commands(tmp_path, command):
    (tmp_path / "m.py").write_text(HEAD + "    return " + " + ".join("x" for _ in range(700)) + "\n")
    done = subprocess.run([sys.executable, "-m", "np2fx", *command, "."], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 1) and "Error" not in done.stderr, done.stderr


def test_deep_gives_results_and_errors_and_puts_the_limit_back():
    @deep
    def down(n, error=None):
        if n == 0 and error is not None:
            raise error
        return 1 + down.__wrapped__(n - 1, error) if n else 0

    limit = sys.getrecursionlimit()
    assert down(5 * limit) == 5 * limit
    with pytest.raises(KeyError, match="a"):
        down(5 * limit, KeyError("a"))
    assert sys.getrecursionlimit() == limit
