"""Helpers in other modules of the project are walked with the values they are called with, and their findings stand in their own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from np2fx.source.findings.check import check_paths

HEAD = "import numpy as np\nimport np2fx\n"
NODE = '@np2fx.node(x="float32[7]")\ndef f(x):\n    return '


@pytest.fixture
def project(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def found(project, *paths):
    checked = check_paths([str(project / p) for p in paths] or [str(project)])
    return sorted((str(Path(f.path).relative_to(project)), f.line, f.name, f.severity) for f in checked.findings)


HELPERS = "import numpy as np\n\n\ndef head(v, n=0):\n    return v[0]\n\n\ndef unused(v):\n    return np.random.rand(3)\n"


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("from .helpers import head\n", "head(x)"),
        ("from . import helpers\n", "helpers.head(x)"),
        ("from . import helpers as h\n", "h.head(x)"),
        ("from pkg.helpers import head as first\n", "first(x)"),
        ("import pkg.helpers\n", "pkg.helpers.head(x)"),
        ("from pkg import helpers\n", "helpers.head(x)"),
        ("from .api import head\n", "head(x)"),
    ],
)
def test_imports(project, imported, call):
    root = project(pkg__helpers=HELPERS, pkg__api="from .helpers import head\n", pkg__pre=HEAD + imported + NODE + call + "\n")
    (root / "pkg" / "__init__.py").write_text("")
    assert found(root, "pkg/pre.py") == [("pkg/helpers.py", 5, "scalar-index", "error")]


def test_said_once_for_several_nodes(project):
    node = HEAD + "from helpers import head\n" + NODE + "head(x)\n"
    root = project(helpers=HELPERS, a=node, b=node)
    assert found(root) == [("helpers.py", 5, "scalar-index", "error")]


def test_suppressed_where_it_stands(project):
    root = project(helpers=HELPERS.replace("v[0]", "v[0]  # noqa: NX201"), a=HEAD + "from helpers import head\n" + NODE + "head(x)\n")
    assert found(root) == []


def test_helpers_that_call_each_other(project):
    one = "from two import back\n\n\ndef forth(v):\n    return back(v)[::-1]\n"
    two = "from one import forth\n\n\ndef back(v):\n    return forth(v)\n"
    root = project(one=one, two=two, a=HEAD + "from one import forth\n" + NODE + "forth(x)\n")
    assert found(root) == []  # what a recursion gives is not known


def test_a_compiled_helper(project):
    fast = "import numba\n\n\n@numba.njit\ndef fast(v):\n    return v\n"
    root = project(helpers=fast, a=HEAD + "from helpers import fast\n" + NODE + "fast(x)\n")
    assert found(root) == [("a.py", 6, "opaque-call", "error")]


@pytest.mark.parametrize(
    "text", ["def head(v:\n", "# coding: none\n", "class head:\n    pass\n", "head = 3\n", "from helpers import head\n"]
)
def test_what_cannot_be_walked_is_left(project, text):
    root = project(helpers=text, a=HEAD + "from helpers import head\n" + NODE + "head(x)\n")
    assert found(root, "a.py") == []
