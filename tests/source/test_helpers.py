"""Helpers of the project are converted with the nodes that call them: which are, how, and that nothing changes for anybody else."""

import importlib
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from np2fx.cli import main

NORM = """\
import numpy as np


def norm(x, eps=1e-8):
    \"\"\"Rows of length one.\"\"\"
    return x / (np.sqrt(np.sum(x * x, axis=-1, keepdims=True)) + eps)  # never zero
"""
HEAD = "import np2fx\nimport numpy as np\n"
NODE = '\n\n@np2fx.node(x="float32[n, 3]")\ndef node(x):\n    return '


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Makes a project of files and goes there; `pkg__a` is pkg/a.py, and pkg is a package."""
    monkeypatch.chdir(tmp_path)

    def make(**texts):
        (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\n')
        for name, text in texts.items():
            path = tmp_path / (name.replace("__init__", "@").replace("__", "/").replace("@", "__init__") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.parent != tmp_path and not (path.parent / "__init__.py").exists():
                (path.parent / "__init__.py").write_text("")
            path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return tmp_path

    yield make


def rewrite(*args):
    return main(["rewrite", *args])


def read(path):
    return path.read_bytes().decode()


def load(root, module):
    """A module of the project as its files are now."""
    for name in [n for n in sys.modules if n.split(".")[0] in ("pkg", "app", "helpers", "lib", "other")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    sys.path.insert(0, str(root))
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(str(root))
        sys.dont_write_bytecode = before


def rows(dtype=np.float32):
    return np.random.default_rng(0).normal(size=(4, 3)).astype(dtype)


def same(a, b):
    assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def check_unchanged(root, calls, *args):
    """Calls before and after `np2fx rewrite .` give the same; a second run changes nothing."""
    before = [getattr(load(root, module), name)(*[a.copy() for a in given]) for module, name, given in calls]
    assert rewrite(".", *args) in (0, 1)
    after = [getattr(load(root, module), name)(*[a.copy() for a in given]) for module, name, given in calls]
    for a, b in zip(before, after, strict=True):
        same(a, b)
    texts = {p: p.read_bytes() for p in root.rglob("*.py")}
    rewrite(".", *args)
    assert {p: p.read_bytes() for p in root.rglob("*.py")} == texts


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("from .helpers import norm\n", "norm(x)"),
        ("from .helpers import norm as unit\n", "unit(x)"),
        ("from . import helpers\n", "helpers.norm(x)"),
        ("from . import helpers as h\n", "h.norm(x)"),
        ("from pkg.helpers import norm\n", "norm(x)"),
        ("import pkg.helpers\n", "pkg.helpers.norm(x)"),
        ("import pkg.helpers as h\n", "h.norm(x)"),
    ],
)
@pytest.mark.parametrize("others", [False, True])
def test_a_helper_of_another_module(project, imported, call, others):
    root = project(pkg__helpers=NORM, pkg__app=HEAD + imported + NODE + call + " * 2\n")
    calls = [("pkg.app", "node", [rows()]), ("pkg.helpers", "norm", [rows()])]
    if others:
        project(lib="from pkg import helpers\n\n\ndef use(x):\n    return helpers.norm(x)\n")
        calls += [("lib", "use", [rows()]), ("lib", "use", [rows().astype(int)]), ("pkg.helpers", "norm", [rows(np.float64)])]
    check_unchanged(root, calls)
    app, helpers = read(root / "pkg/app.py"), read(root / "pkg/helpers.py")
    assert "@np2fx.boundary" in app and " * 2\n" in app
    plain = "return x / (torch.sqrt(torch.sum(x * x, dim=-1, keepdim=True)) + eps)  # never zero\n"
    if others:
        assert "@npx.on_torch\ndef norm(x, eps=1e-8):" in helpers and "npx.sqrt(npx.sum(x * x" in helpers
    else:
        boundary = '@np2fx.boundary(numbers=("eps",), takes={"x": "float32[_, _]"})'
        assert f'{boundary}\ndef norm(x, eps=1e-8):\n    """Rows of length one."""\n    {plain}' in helpers


def test_a_helper_through_other_modules(project):
    root = project(
        pkg__api____init__="from .impl import norm\n",
        pkg__api__impl=NORM,
        pkg__relative=HEAD + "from .api import norm\n" + NODE + "norm(x)\n",
        pkg__absolute=HEAD + "import pkg.api\n" + NODE + "pkg.api.norm(x)\n",
    )
    check_unchanged(root, [("pkg.relative", "node", [rows()]), ("pkg.absolute", "node", [rows()]), ("pkg.api", "norm", [rows(int)])])
    assert read(root / "pkg/api/__init__.py") == "from .impl import norm\n"
    assert "@npx.on_torch\ndef norm(" in read(root / "pkg/api/impl.py")
    assert "@np2fx.boundary()\ndef node(x):\n    return norm(x)\n" in read(root / "pkg/relative.py")
    assert "@np2fx.boundary()\ndef node(x):\n    return pkg.api.norm(x)\n" in read(root / "pkg/absolute.py")


def test_helpers_of_helpers(project):
    root = project(
        pkg__low="import numpy as np\n\n\ndef shift(v):\n    return v - np.mean(v)\n\n\ndef other(v):\n    return np.abs(shift(v))\n",
        pkg__mid="from .low import shift\n\n\ndef double(v):\n    return shift(v) * 2\n",
        pkg__app=HEAD + "from .mid import double\n" + NODE + "double(x)\n",
    )
    calls = [("pkg.app", "node", [rows()]), ("pkg.low", "other", [rows(int)]), ("pkg.low", "shift", [rows(int)])]
    check_unchanged(root, calls)
    assert "@npx.on_torch\ndef shift(v):\n    return v - npx.mean(v)\n" in read(root / "pkg/low.py")
    assert "\ndef double(v):\n    return shift(v) * 2\n" in read(root / "pkg/mid.py")


def test_facts_are_joined_over_the_calls(project):
    helpers = "def scale(x, k):\n    return x * k\n"
    app = HEAD + """\
from helpers import scale


@np2fx.node(x="float32[n]")
def single(x):
    return scale(x, 2)


@np2fx.node(x="{}")
def second(x):
    return scale(x, {})
"""
    for dtype, k, boundary in [
        ("float32[n, m]", "2", 'np2fx.boundary(takes={"x": "float32", "k": "int"})'),
        ("float32[n]", "2.5", 'np2fx.boundary(numbers=("k",), takes={"x": "float32[_]"})'),
        ("float64[n]", "2", "npx.on_torch"),
        ("float32[n]", "x", "npx.on_torch"),
    ]:
        root = project(helpers=helpers, app=app.format(dtype, k))
        given = np.ones((2, 2), np.float32) if "m" in dtype else np.arange(3).astype(dtype.partition("[")[0])
        check_unchanged(root, [("app", "single", [np.ones(3, np.float32)]), ("app", "second", [given])])
        assert f"@{boundary}\ndef scale(x, k):\n    return x * k\n" in read(root / "helpers.py"), dtype


def test_two_floats_in_a_call_are_told_apart(project):
    text = HEAD + """

def add(a, b):
    return np.sqrt(a + b)


@np2fx.node(x="float32[n]", y="float64[n]")
def mixed(x, y):
    return add(x, y)


@np2fx.node(x="float32[n]", y="float32[n]")
def alike(x, y):
    return add(x, y)
"""
    root = project(app=text)
    single, double = np.ones(3, np.float32), np.ones(3)
    check_unchanged(root, [("app", "mixed", [single, double]), ("app", "alike", [single, single])])
    assert "@npx.on_torch\ndef add(a, b):\n    return npx.sqrt(a + b)" in read(root / "app.py")


def test_what_is_assumed_of_a_node_holds_in_its_helper(project):
    half = "\n\ndef half(v):\n    return v / 2\n\n\nhalf\n"
    root = project(app=HEAD + half + "\n\n@np2fx.node\ndef node(x):\n    return np.sqrt(half(x * 2))\n")
    check_unchanged(root, [("app", "node", [np.ones(3)]), ("app", "half", [np.arange(3)])])
    assert "@npx.on_torch\ndef node(x):\n    return npx.sqrt(half(x * 2))\n" in read(root / "app.py")


@pytest.mark.parametrize("given", ["lambda: x * 2", "{'x': x}", "dict(x=x)", "(v for v in x)", "[x]", "x"])
def test_whoever_may_lead_the_helper_to_an_array(project, capsys, given):
    """What is handed to it need not be the array itself."""
    body = "import numpy as np\n\n\ndef noise(f):\n    return f, np.random.rand(3)\n"
    project(pkg__helpers=body, pkg__app=HEAD + "from .helpers import noise\n" + NODE + f"noise({given})\n")
    assert rewrite(".") == 1
    assert "`node` calls `noise`, which cannot be converted" in capsys.readouterr().out


def test_a_helper_that_cannot_be_converted(project, capsys):
    root = project(
        pkg__helpers="import numpy as np\n\n\ndef noise(x):\n    return x + np.random.rand(3)\n\n\ndef safe(x):\n    return np.abs(x)\n",
        pkg__app=HEAD
        + "from .helpers import noise, safe\n"
        + NODE
        + 'noise(safe(x))\n\n\n@np2fx.node(x="float32[n]")\ndef good(x):\n    return safe(x)\n',
    )
    noise = read(root / "pkg/helpers.py").partition("def safe")[0]
    assert rewrite(".") == 1
    out = capsys.readouterr().out
    assert "pkg/helpers.py:5:" in out and "[random]" in out
    assert "`node` calls `noise`, which cannot be converted" in out
    app, helpers = read(root / "pkg/app.py"), read(root / "pkg/helpers.py")
    assert "    return noise(safe(x))\n" in app and "@np2fx.boundary()\ndef good(x):\n    return safe(x)\n" in app
    assert noise.partition("def")[2] in helpers
    assert "@npx.on_torch\ndef safe(x):\n    return npx.abs(x)\n" in helpers  # what stays NumPy calls it too


@pytest.mark.parametrize(
    "helpers",
    [
        "import numpy as np\n\n\ndef deep(x, n=2):\n    return x if n == 0 else np.sin(deep(x, n - 1))\n",
        "import numpy as np\n\n\ndef deep(x, n=2):\n    return x if n == 0 else over(x, n - 1)\n\n\n"
        "def over(x, n):\n    return np.sin(deep(x, n))\n",
    ],
)
@pytest.mark.parametrize("here", [False, True])
def test_recursion_is_left_to_run_time(project, capsys, helpers, here):
    if here:
        root = project(app=helpers.replace("import numpy as np\n", HEAD) + NODE + "deep(x)\n")
    else:
        root = project(helpers=helpers, app=HEAD + "from helpers import deep\n" + NODE + "deep(x)\n")
    check_unchanged(root, [("app", "node", [rows()])])
    assert "`deep` calls itself" in capsys.readouterr().out
    assert "@npx.on_torch\ndef node(x):\n    return deep(x)" in read(root / "app.py")
    assert here or read(root / "helpers.py") == helpers


def test_methods(project):
    text = HEAD + """

class Scaler:
    def __init__(self):
        self.by = 3.0

    def scale(self, x, k=2.0):
        return np.abs(x) * k * self.by

    def shared(self, x):
        return np.sqrt(x * x)

    def outer(self, x):
        return self.shared(x)

    @np2fx.node(x="float32[n, 3]")
    def node(self, x):
        return self.scale(x) + self.shared(x)


class Other(Scaler):
    def shared(self, x):
        return np.sqrt(x * x) + np.float32(1)


def run(x):
    return Scaler().node(x)


def run_other(x):
    return Other().node(x)


def outside(x):
    return Scaler().outer(x)
"""
    root = project(app=text)
    check_unchanged(root, [("app", "run", [rows()]), ("app", "run_other", [rows()]), ("app", "outside", [rows(int)])])
    app = read(root / "app.py")
    assert "    @npx.on_torch\n    def scale(self, x, k=2.0):\n        return npx.abs(x) * k * self.by\n" in app
    assert "    @npx.on_torch\n    def shared(self, x):\n        return npx.sqrt(x * x)\n\n    def outer" in app


@pytest.mark.parametrize(
    "other",
    [
        "import helpers\n\nhelpers.norm = lambda x: x\n",
        'from unittest import mock\n\nPATCH = mock.patch("helpers.norm")\n',
    ],
)
def test_a_helper_that_is_replaced_is_left_to_run_time(project, other):
    root = project(helpers=NORM, lib=other, app=HEAD + "import helpers\n" + NODE + "helpers.norm(x)\n")
    assert rewrite("app.py") == 0
    assert "@npx.on_torch\ndef node(x):\n    return helpers.norm(x)" in read(root / "app.py") and read(root / "helpers.py") == NORM


@pytest.mark.parametrize(
    "other",
    [
        {"lib": "from helpers import norm as n\n\nn\n"},
        {"lib": "from helpers import *\n\nnorm\n"},
        {"lib": 'import helpers\n\ngetattr(helpers, "norm")\n'},
        {"helpers": '__all__ = ["norm"]\n' + NORM},
        {"pkg____init__": "from helpers import norm\n"},
        {"lib": "from helpers import norm as unit\n", "other": "from lib import unit\n\nunit\n"},
        {"lib": "def broken(:\n    norm\n"},
    ],
)
def test_who_else_speaks_of_it(project, other):
    root = project(**{"helpers": NORM, "app": HEAD + "from helpers import norm\n" + NODE + "norm(x)\n", **other})
    rewrite("app.py")
    assert "npx.on_torch\ndef norm(x, eps=1e-8):" in read(root / "helpers.py")


def test_what_is_no_helper(project):
    helpers = """\
import functools

import np2fx
import numpy as np


@functools.lru_cache
def cached(n):
    return np.arange(n)


@np2fx.node(x="float32[n, 3]")
def own(x):
    return np.sin(x)


class Thing:
    def __call__(self, x):
        return np.cos(x)


thing = Thing()
"""
    root = project(helpers=helpers, app=HEAD + "from helpers import cached, own, thing\n" + NODE + "own(x) + cached(3) + thing(x)\n")
    before = load(root, "app").node(rows())
    assert rewrite("app.py") == 0
    assert read(root / "helpers.py") == helpers
    same(load(root, "app").node(rows()), before)
    rewrite(".")
    same(load(root, "app").node(rows()), before)


def test_files_outside_of_the_paths(project, capsys):
    root = project(pkg__helpers=NORM, pkg__app=HEAD + "from .helpers import norm\n" + NODE + "norm(x)\n")
    before = {p: p.read_bytes() for p in root.rglob("*.py")}
    assert rewrite("pkg/app.py", "--check") == 1
    assert "would rewrite pkg/helpers.py (helper of pkg/app.py:node)" in capsys.readouterr().out
    assert rewrite("pkg/app.py", "--diff") == 1
    shown = capsys.readouterr()
    assert "+++ b/pkg/helpers.py" in shown.out and "pkg/helpers.py (helper of pkg/app.py:node)" in shown.err
    assert {p: p.read_bytes() for p in root.rglob("*.py")} == before
    assert rewrite("pkg/app.py") == 0
    assert "rewrote pkg/helpers.py (helper of pkg/app.py:node)\n2 files rewritten" in capsys.readouterr().out


def test_what_is_excluded_is_no_part_of_the_project(project):
    root = project(vendored__helpers=NORM, app=HEAD + "from vendored.helpers import norm\n" + NODE + "norm(x)\n")
    with open(root / "pyproject.toml", "a") as file:
        file.write('[tool.np2fx]\nexclude = ["vendored"]\n')
    assert rewrite(".") == 0
    assert read(root / "vendored/helpers.py") == NORM and "    return norm(x)" in read(root / "app.py")


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_all_files_or_none(project, monkeypatch, capsys):
    root = project(pkg__helpers=NORM, pkg__app=HEAD + "from .helpers import norm\n" + NODE + "norm(x)\n")
    before = {p: p.read_bytes() for p in root.rglob("*")  if p.is_file()}
    replace = os.replace

    def fails(source, target):
        if target.endswith("helpers.py"):
            raise PermissionError(13, "Permission denied", target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails)
    assert rewrite(".") == 2
    assert "Permission denied; nothing was written" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before


def test_bytes_of_the_helpers_file(project):
    text = NORM.replace("never", "n\u00e9ver") + "\n\nnorm\n"
    helpers = b"# -*- coding: latin-1 -*-\r\n" + text.replace("\n", "\r\n").encode("latin-1")
    root = project(pkg__helpers=helpers, pkg__app=HEAD + "from .helpers import norm\n" + NODE + "norm(x)\n")
    check_unchanged(root, [("pkg.app", "node", [rows()]), ("pkg.helpers", "norm", [rows(int)])])
    new = (root / "pkg/helpers.py").read_bytes()
    assert b"\n" not in new.replace(b"\r\n", b"") and b"@npx.on_torch\r\n" in new and b"n\xe9ver zero" in new


def test_writes_through_views_reach_a_helper_of_another_module(project):
    root = project(
        helpers="import numpy as np\n\n\ndef bump(v):\n    v[0] += 1\n    return v\n\n\nbump\n",
        app=HEAD + "from helpers import bump\n" + NODE.replace("return ", "y = x[::-1]\n    bump(y)\n    return x + np.float32(0)\n"),
    )
    check_unchanged(root, [("app", "node", [rows()])])


def test_all_functions_and_a_helper_beyond(project):
    lib = "import numpy as np\n\n\ndef unit(v):\n    return v / np.sum(v)\n\n\nunit\n"
    root = project(lib=lib, pkg__app="import numpy as np\nfrom lib import unit\n\n\ndef work(x):\n    return np.sqrt(unit(np.abs(x)))\n")
    before = load(root, "pkg.app").work(rows())
    assert rewrite("pkg", "--all-functions") == 0
    same(load(root, "pkg.app").work(rows()), before)
    texts = {p: p.read_bytes() for p in root.rglob("*.py")}
    assert rewrite("pkg", "--all-functions") == 0 and {p: p.read_bytes() for p in root.rglob("*.py")} == texts
    assert "@npx.on_torch\ndef unit(v):" in read(root / "lib.py")


@pytest.mark.parametrize("args", [["--exact"], ["--boundary", "none"], ["--random-as-input"]])
def test_with_other_options(project, args):
    root = project(
        helpers=NORM + "\n\nnorm\n", app=HEAD + "from helpers import norm\n" + NODE + "norm(x) + np.float32(1)\n\n\nnp.random.seed(0)\n"
    )
    before = load(root, "app").node(rows())
    assert rewrite(".", *args) == 0
    given = torch.from_numpy(rows()) if "none" in args else rows()
    same(np.asarray(load(root, "app").node(given)), before)
    assert "@npx.on_torch\ndef norm(" in read(root / "helpers.py")


def test_a_helper_without_arrays_is_left_alone(project):
    lib = "def pick(d, k):\n    return d[k]\n\n\ndef load(path):\n    return open(path).read()\n\n\npick\n"
    app = HEAD + "from lib import pick, load\n\n\n@np2fx.node\ndef node(d, flag=False):\n"
    app += "    text = load('pyproject.toml') if flag else ''\n    return np.sqrt(pick(d, 'a')) + len(text)\n"
    root = project(lib=lib, app=app)
    before = load(root, "app").node({"a": np.arange(3)})
    assert rewrite(".") == 0
    assert read(root / "lib.py") == lib
    same(load(root, "app").node({"a": np.arange(3)}), before)


@pytest.mark.parametrize("call", ["map(spread, x)", "[max(x, key=spread)]", "sorted(x, key=spread)", "[functools.reduce(add, list(x))]"])
def test_a_helper_that_is_handed_on(project, call):
    helpers = "\n\ndef spread(v):\n    return v.std() + 0.5\n\n\ndef add(a, b):\n    return a + b.std()\n"
    root = project(app="import functools\n\n" + HEAD + helpers + NODE + f"np.stack(list({call}))\n")
    check_unchanged(root, [("app", "node", [rows()])])


def test_a_function_found_at_run_time_is_converted_in_a_process_of_its_own(project):
    """The rewritten file imports nothing but np2fx.numpy."""
    spread = "\n\nclass Spread:\n    def __call__(self, v):\n        return v.std()\n\n\nspread = Spread()\n"
    root = project(app=HEAD + spread + NODE + "spread(x) * 2\n")
    assert rewrite(".") == 0
    code = "import app, numpy as np; print(app.node(np.arange(6, dtype=np.float32).reshape(2, 3)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(2 * np.arange(6).std())


def test_a_number_with_a_default_may_be_an_int_or_a_float(project):
    text = HEAD + """

@np2fx.node(x="int64[n]")
def node(x, k=2, eps: float = 1e-3):
    return np.sqrt(x * k) + np.sqrt(x * eps)


@np2fx.node(x="int64[n]", k="int")
def whole(x, k):
    return x * k


def run(x):
    return node(x) + node(x, 2.5, 1) + node(x, 3)
"""
    root = project(app=text)
    check_unchanged(root, [("app", "run", [np.arange(4)])])
    same(load(root, "app").whole(np.arange(4), 2.5), np.arange(4) * 2.5)


def test_a_folder_that_is_no_project(project, capsys):
    """Nothing is looked for in the folders below it but the package that was asked for."""
    root = project(helpers=NORM, pkg__low=NORM, pkg__app=HEAD + "from .low import norm\n" + NODE + "norm(x)\n")
    project(app=HEAD + "from helpers import norm\n" + NODE + "norm(x)\n", far__other="import helpers\n\nhelpers.norm\n")
    (root / "pyproject.toml").unlink()
    assert rewrite("app.py", "pkg/app.py") == 0
    assert "@np2fx.boundary" in read(root / "helpers.py") and "@np2fx.boundary" in read(root / "pkg/low.py")
    (root / "pyproject.toml").write_text("")


REPLACED = [
    'mock.patch.object(helpers, "norm", other)',
    'monkeypatch.setattr(app, "unit", other)',
    'monkeypatch.setattr("helpers.norm", other)',
    'monkeypatch.setattr("app.unit", other)',
    'monkeypatch.delattr(helpers, "norm")',
    'setattr(helpers, "norm", other)',
    'mock.patch.multiple("app", unit=other)',
    "mock.patch.dict(vars(helpers), norm=other)",
    "vars(helpers).update(norm=other)",
    'vars(helpers)["norm"] = other',
    "app.h.norm = other",
    'monkeypatch.setattr(app, "h", other)',
    "app.h = other",
    'vars(app)["h"] = other',
    'sys.modules["helpers"] = other',
    'mock.patch.dict("sys.modules", {"helpers": other})',
    'for name in ["norm", "first"]:\n    setattr(helpers, name, other)',
]


@pytest.mark.parametrize("how", REPLACED)
def test_a_helper_that_may_be_replaced_is_called_by_its_name(project, how):
    second = NODE.replace("node(x)", "second(x)")
    app = HEAD + "import helpers as h\nfrom helpers import norm as unit\n" + NODE + "unit(x)\n" + second + "h.norm(x)\n"
    root = project(helpers=NORM, app=app, lib=f"import app\nimport helpers\n\n{how}\n")
    assert rewrite("app.py") == 0
    app = read(root / "app.py")
    assert "@npx.on_torch" in app and "    return unit(x)" in app and "    return h.norm(x)" in app
    assert read(root / "helpers.py") == NORM


@pytest.mark.parametrize("how", ['__all__ = ["norm"]\n', 'getattr(helpers, "norm")\n', 'print(vars(helpers)["norm"])\n'])
def test_a_helper_that_is_only_looked_up_takes_what_it_took(project, how):
    app = HEAD + "from helpers import norm\n" + NODE + "norm(x)\n"
    root = project(helpers=NORM, lib=f"import helpers\nfrom helpers import norm\n{how}", app=app)
    assert rewrite("app.py") == 0 and "@npx.on_torch\ndef norm(" in read(root / "helpers.py")


def test_a_function_of_its_own_module_that_may_be_replaced(project):
    outer = NODE.replace("node(x)", "outer(x)") + "node(x) + low(x)\n"
    text = HEAD + "\n\ndef low(x):\n    return np.abs(x)\n" + NODE + "np.sin(x)\n" + outer
    root = project(app=text, lib='import app\n\nsetattr(app, "node", print)\nsetattr(app, "low", print)\n')
    check_unchanged(root, [("app", "outer", [rows()]), ("app", "low", [rows(int)])])
    module = load(root, "app")
    module.node = module.low = lambda x: x.astype(int)  # only arrays have it
    same(module.outer(rows() * 9), (rows() * 9).astype(int) * 2)


@pytest.mark.parametrize("spread", ["from pkg.helpers import *\nfrom pkg.app import *\n", "from .app import *\nfrom .helpers import *\n"])
def test_what_is_imported_with_everything_gets_no_new_public_names(project, spread):
    taken = "ops, npx, torch, others = 1, 2, 3, 4\n"
    where = "pkg.lib" if spread.startswith("from .") else "lib"
    app = HEAD + "from .helpers import norm\n" + NODE + "norm(x) * np.cumsum(x, 1)\n"
    use = "\n\ndef use(x):\n    return norm(x) + np.float32(1)\n"
    root = project(pkg__helpers=NORM, pkg__app=app, **{where.replace(".", "__"): taken + spread + use})
    before = sorted(vars(load(root, where)))
    check_unchanged(root, [("pkg.app", "node", [rows()]), (where, "use", [rows()]), (where, "use", [rows(int)])])
    after = load(root, where)
    assert sorted(vars(after)) == before and (after.ops, after.npx, after.torch, after.others) == (1, 2, 3, 4)
    assert "import np2fx.numpy as _npx\n" in read(root / "pkg/helpers.py")


@pytest.mark.parametrize("use", ["from app import np", "from app import (\n    node,\n    np,\n)", "import app\n\nnp = app.np"])
def test_an_import_that_others_look_for_stays(project, use):
    text = HEAD + NODE + "np.sin(x)\n"
    root = project(app=text, lib="import numpy as np\n")
    rewrite(".")
    assert "import numpy as np\n" not in read(root / "app.py")
    project(app=text, lib=use + "\n\n\ndef use(x):\n    return np.cos(x)\n")
    check_unchanged(root, [("lib", "use", [rows()])])
    assert "import numpy as np\n" in read(root / "app.py")
