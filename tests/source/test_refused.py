"""check for np2fx says what the codemod refuses, each once, and nothing of what it converts."""

from __future__ import annotations

import subprocess
import sys

from np2fx.codemod.rewrite import rewrite_source
from np2fx.source.findings.check import check_paths, check_source
from np2fx.source.findings.refused import GRAPHS_ALONE
from np2fx.source.reading.config import Config

HEAD = "import numpy as np\nimport np2fx\n\n\n"
CLASS_INSIDE = HEAD + "@np2fx.node\ndef f(x):\n    class C:\n        pass\n    return np.sin(x)\n"


def told(findings):
    return [(f.name, f.line, f.severity) for f in findings]


def test_what_only_the_codemod_knows():
    assert told(check_source(CLASS_INSIDE, target="np2fx")) == [("not-rewritten", 7, "error")]
    assert told(check_source(CLASS_INSIDE)) == []


def test_what_both_say_is_said_once():
    source = HEAD + "from scipy import ndimage\n@np2fx.node\ndef f(x):\n    ndimage.label(x)\n    return np.random.rand(3) + np.empty(3)\n"
    refused = told(f for f in rewrite_source(source)[1] if f.severity == "error")
    found = told(check_source(source, target="np2fx"))
    assert sorted(found) == sorted(set(found)) and set(refused) <= set(found)


def test_a_doubt_gives_way_to_what_is_certain():
    source = HEAD + "import unheard_of\n@np2fx.node\ndef f(x):\n    return unheard_of.g(x)\n"
    assert told(check_source(source))[0][2] == "warning" and told(check_source(source, target="np2fx"))[0][2] == "note"
    source = source.replace("unheard_of", "pandas")
    assert {s for _, _, s in told(check_source(source, target="np2fx"))} == {"error"}


def test_what_stands_in_the_way_of_a_graph_alone_says_so():
    body = "@np2fx.node\ndef f(x):\n    os.makedirs('a')\n    return np.sin(x)\n"
    taken, refused = HEAD + "import os\n" + body, HEAD + "import os\n" + body.replace("np.sin(x)", "np.random.rand(3)")
    assert [f for f in rewrite_source(taken)[1] if f.severity == "error"] == []
    (found,) = check_source(taken, target="np2fx")
    assert (found.name, found.severity) == ("side-effect", "note") and found.hint.endswith(GRAPHS_ALONE)
    assert not any(f.hint.endswith(GRAPHS_ALONE) for f in check_source(refused, target="np2fx") + check_source(taken))


def test_comments_and_selections_count():
    assert check_source(CLASS_INSIDE.replace("class C:", "class C:  # np2fx: ignore[not-rewritten]"), target="np2fx") == []
    assert check_source(CLASS_INSIDE.replace("def f(x):", "def f(x):  # noqa: NX905"), target="np2fx") == []
    assert check_source(CLASS_INSIDE, config=Config(ignore=("NX905",)), target="np2fx") == []


def test_helpers_of_other_files(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "helpers.py").write_text(HEAD + "def inner(x):\n    class C:\n        pass\n    return np.sin(x)\n")
    (tmp_path / "app.py").write_text(HEAD + "from helpers import inner\n\n\n@np2fx.node\ndef f(x):\n    return inner(x) + 1\n")
    found = check_paths([str(tmp_path / "app.py")], target="np2fx").findings
    assert [(f.path.rpartition("/")[2], f.line) for f in found] == [("app.py", 10), ("helpers.py", 6)]
    assert {f.name for f in found} == {"not-rewritten"}
    assert found[0].column == 12 and "`inner`" in found[0].message and "`inner`" in found[0].hint


def test_it_costs_nothing_where_it_is_not_asked_for(tmp_path):
    (tmp_path / "m.py").write_text(CLASS_INSIDE)
    code = (
        "import sys\nfrom np2fx.cli import main\nmain(sys.argv[1:])\n"
        "print([m for m in sys.modules if m.startswith(('libcst', 'np2fx.source.rewrit', 'np2fx.codemod.job', 'numpy', 'torch'))])"
    )
    for arguments, loaded in ((["check", "m.py"], False), (["check", "--target", "np2fx", "m.py"], True)):
        done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        modules = done.stdout.strip().split("\n")[-1]
        assert ("np2fx.codemod.job" in modules) == loaded and "libcst" not in modules and "torch" not in modules, modules
