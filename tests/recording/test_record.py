"""`np2fx record`: what a project's own runs pass to its functions, and what is made of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from np2fx.codemod.write_specs import with_specs
from np2fx.recording.sizes import Sizes
from np2fx.recording.watching import describe
from np2fx.source.reading.signatures import SignaturesError, in_all, load

PRE = """
import numpy as np


def scale(x, gain=2.0):
    return np.sqrt(x) * gain


class Filter:
    def __init__(self, size):
        self.size = size

    def step(self, x, y, how="mean"):
        return x @ y


def steps(n):
    yield from range(n)


def either(x):
    return np.asarray(x).sum()
"""
RUN = """
import numpy as np
from pre import Filter, either, scale, steps

for n in (3, 5):
    scale(np.ones((n, 4), np.float32), 1.5)
    Filter(n).step(np.ones((2, n)), np.ones(n))
either([1, 2]), either(np.ones(2)), list(steps(2))
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    (tmp_path / "pre.py").write_text(PRE)
    (tmp_path / "run.py").write_text(RUN)
    return tmp_path


def np2fx(folder, *args, code=0):
    ran = subprocess.run([sys.executable, "-m", "np2fx", *args], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_a_program_is_recorded(project):
    said = np2fx(project, "record", "--samples", "kept", "--", "python", "run.py")
    assert "recorded 4 functions" in said
    found = load(str(project))
    assert found == {
        "pre.py::Filter.__init__": [{"calls": 2, "parameters": {"self": "pre.Filter", "size": "int"}}],
        "pre.py::Filter.step": [{"calls": 2, "parameters": {"self": "pre.Filter", "x": "float64[2, n]", "y": "float64[n]", "how": "str"}}],
        "pre.py::either": [{"calls": 1, "parameters": {"x": "float64[2]"}}, {"calls": 1, "parameters": {"x": ["int", "int"]}}],
        "pre.py::scale": [{"calls": 2, "parameters": {"x": "float32[n, 4]", "gain": "float"}}],
    }
    kept = sorted(p.name for p in (project / "kept").iterdir())
    assert kept == ["pre.py.either.0.npz", "pre.py.scale.0.npz", "pre.py.scale.1.npz"]
    with np.load(project / "kept" / "pre.py.scale.1.npz", allow_pickle=False) as held:
        assert held["x"].shape == (5, 4) and held["gain"] == 1.5


def test_pytest_its_workers_and_modules_are_recorded(project):
    (project / "test_pre.py").write_text("import numpy as np\nimport pre\n\ndef test():\n    assert pre.scale(np.ones(3)).shape == (3,)\n")
    for command in (("pytest", "-q", "-n", "1", "-p", "xdist"), ("-m", "pytest", "-q")):
        (project / ".np2fx" / "signatures.json").unlink(missing_ok=True)
        np2fx(project, "record", "--", *command)
        assert load(str(project))["pre.py::scale"] == [{"calls": 1, "parameters": {"x": "float64[3]", "gain": "float"}}]


def test_the_programs_exit_code_and_what_cannot_be_recorded(project):
    (project / "ends.py").write_text("import numpy, pre, sys\npre.scale(numpy.ones(2))\nsys.exit(3)\n")
    assert "exit code 3" in np2fx(project, "record", "--", "python", "ends.py", code=3)
    assert "only Python programs" in np2fx(project, "record", "--", "make", "test", code=2)
    assert "say what to run" in np2fx(project, "record", code=2)
    (project / "quiet.py").write_text("x = 1\n")
    (project / ".np2fx" / "signatures.json").unlink()
    assert "nothing was written" in np2fx(project, "record", "--", "python", "quiet.py", code=2)


def test_rewrite_knows_what_was_recorded_and_the_boundary_checks_it(project):
    np2fx(project, "record", "--", "python", "run.py")
    np2fx(project, "rewrite", "--all-functions", "pre.py")
    text = (project / "pre.py").read_text()
    assert "torch.sqrt(x) * gain" in text and 'takes={"x": "float32[_, _]"}' in text
    call = "import numpy as np, pre; print(pre.scale(np.ones((2, 4), np.float32)).dtype); pre.scale(np.ones(3, np.int64))"
    ran = subprocess.run([sys.executable, "-c", call], cwd=project, capture_output=True, text=True)
    assert ran.stdout == "float32\n" and "TypeError" in ran.stderr and "float32[_, _]" in ran.stderr


def test_specs_are_written_into_the_source(project):
    np2fx(project, "record", "--write-specs", "--", "python", "run.py")
    text = (project / "pre.py").read_text()
    assert '@np2fx.node(x="float32[n, 4]")\ndef scale(x, gain=2.0):' in text and text.count("import np2fx") == 1
    assert '    @np2fx.node(x="float64[2, n]", y="float64[n]")\n    def step(self' in text
    assert "def either(x):\n    return np.asarray(x).sum()\n" in text and "@np2fx.node()\n" not in text
    assert with_specs(text, str(project / "pre.py")) == text
    subprocess.run([sys.executable, "run.py"], cwd=project, check=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@np2fx.node\ndef f(x): return x\n", '@np2fx.node(x="float32[3]")\ndef f(x): return x\n'),
        ('@np2fx.node(y="float64")\ndef f(x, y): return x\n', '@np2fx.node(y="float64", x="float32[3]")\ndef f(x, y): return x\n'),
        ('@np2fx.node(x="float32")\ndef f(x): return x\n', '@np2fx.node(x="float32")\ndef f(x): return x\n'),
        ("# first\n@cache  # why\ndef f(x): return x\n", '# first\n@np2fx.node(x="float32[3]")\n@cache  # why\ndef f(x): return x\n'),
    ],
)
def test_specs_beside_other_decorators(tmp_path, before, after):
    header = "import np2fx\nfrom functools import cache\n\n"
    (tmp_path / ".np2fx").mkdir()
    recorded = {"m.py::f": [{"calls": 1, "parameters": {"x": "float32[3]"}}]}
    (tmp_path / ".np2fx" / "signatures.json").write_text(json.dumps({"version": 1, "functions": recorded}))
    assert with_specs(header + before, str(tmp_path / "m.py")) == header + after


def test_sizes_over_calls():
    sizes = Sizes()
    for n, m in ((3, 3), (4, 4), (4, 5)):
        sizes.see([n, 7, m, n])
    assert sizes.named() == ["n", 7, "m", "n"]
    other = Sizes()
    other.see([4, 8, 4, 4])
    sizes.merge(other)
    assert sizes.named() == ["n", "m", "n3", "n"]


def test_kinds_of_values():
    sizes = []
    value = (np.ones((2, 3), "f4"), [1, 2.0, None], {"a": True, "b": "text"}, np.float32(1), np.array(1), {1: 2}, list(range(99)))
    inner = {"dict": {"a": "bool", "b": "str"}}
    items = ["float32[_, _]", ["int", "float", "None"], inner, "numpy.float32", "int64[]", "builtins.dict", "builtins.list"]
    assert describe(value, sizes) == {"tuple": items}
    assert sizes == [2, 3]


@pytest.mark.parametrize(
    ("specs", "found"),
    [
        (["float32[3]", "float32[3]"], "float32[3]"),
        (["float32[n, 3]", "float32[4, 3]"], "float32[_, 3]"),
        (["float32[3]", "float64[3]"], None),
        (["float32[3]", "float32[3, 1]"], "float32"),
        (["bool[3]", "bool[3, 1]"], None),
        (["float32[3]", "None"], None),
        (["float32[3]", None], None),
        (["int", "int"], "int"),
        (["int", "float"], "float"),
        (["int", "int64[]"], None),
        ([["int"]], None),
        ([], None),
    ],
)
def test_one_spec_of_all(specs, found):
    assert in_all(specs) == found


def test_a_broken_file_of_signatures_says_so(project):
    folder = project / ".np2fx"
    folder.mkdir()
    for text in ("{", '{"version": 2, "functions": {}}', "[]"):
        (folder / "signatures.json").write_text(text)
        os.utime(folder / "signatures.json", ns=(len(text), len(text)))
        with pytest.raises(SignaturesError, match="record again"):
            load(str(project))
        said = np2fx(project, "rewrite", "--check", "--all-functions", "pre.py", code=2)
        assert "record again" in said and "internal" not in said


def test_threads_and_forks_are_recorded(project):
    if not hasattr(os, "fork"):
        return
    (project / "many.py").write_text(
        textwrap.dedent("""
        import multiprocessing, threading
        import numpy as np
        import pre

        def work(n):
            pre.scale(np.ones(n))

        if __name__ == "__main__":
            thread = threading.Thread(target=work, args=(2,))
            thread.start(), thread.join()
            process = multiprocessing.get_context("fork").Process(target=work, args=(3,))
            process.start(), process.join()
    """)
    )
    np2fx(project, "record", "--", "python", "many.py")
    ways = load(str(project))["pre.py::scale"]
    assert [w["parameters"]["x"] for w in ways] == ["float64[n]"] and ways[0]["calls"] >= 2
