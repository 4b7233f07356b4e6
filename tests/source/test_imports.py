"""Where imports of a rewritten module go: below what has to stand first, on lines of their own."""

from __future__ import annotations

import ast
import itertools

import pytest
from np2fx.codemod.imports import add_imports, drop_unused, free_names
from np2fx.codemod.rewrite import rewrite_source

TOPS = ["", "#!/bin/sh\n# coding: utf-8\n", "# licence\n\n", '"""doc"""\n', '"""doc"""; ', '"""d\noc"""\n\n', "'''doc'''  # why\n"]
FUTURES = [
    "",
    "from __future__ import annotations\n",
    "from __future__ import annotations; ",
    "from __future__ import annotations  # why\n\n",
    "from __future__ import (\n    annotations,\n)\n",
]
IMPORTS = [
    "import numpy as np\n",
    "import os; import numpy as np\n",
    "import numpy as np; K = [1,\n  2]\n",
    "import os; \\\nimport numpy as np\n",
    "import os\nimport numpy as np\nimport zlib\n",
    "from numpy import abs\nimport numpy as np;\n",
    "K = 3; import numpy as np\n",
    "import sys\n\nimport numpy as np  # arrays\nfrom math import pi\n",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("top", "future"), list(itertools.product(TOPS, FUTURES)))
def test_a_module_with_new_imports_still_compiles(top, future, newline):
    for imports, used in itertools.product(IMPORTS, ("np.abs", "torch.abs")):
        before = f"{top}{future}{imports}def f(x): return np.abs(x)\n".replace("\n", newline)
        compile(before, "before", "exec", dont_inherit=True)
        after = drop_unused(add_imports(before.replace("np.abs", used), {"torch": "torch", "npx": "npx"}), before, lambda _: False)
        compile(after, "after", "exec", dont_inherit=True)
        tree = ast.parse(after)
        assert ast.get_docstring(tree, clean=False) == ast.get_docstring(ast.parse(before), clean=False)
        assert {a.name for s in tree.body if isinstance(s, (ast.Import, ast.ImportFrom)) for a in s.names} >= {"torch", "np2fx.numpy"}
        assert not top.startswith("#!") or after.startswith(top.replace("\n", newline))


def test_numpy_below_a_future_import_becomes_superfluous():
    text = (
        "from __future__ import annotations\nimport numpy as np\nfrom np2fx import node\n"
        '@node(x="float64[3]")\ndef f(x): return np.median(x, axis=0)\n'
    )
    new, _ = rewrite_source(text, "m.py")
    assert new.startswith("from __future__ import annotations\nimport np2fx\nimport np2fx.numpy as npx\n")
    compile(new, "new", "exec", dont_inherit=True)


def test_a_twin_is_imported_behind_what_shares_its_line(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.np2fx]\n")
    (tmp_path / "lib.py").write_text("import numpy as np\ndef h(x): return np.std(x)\nK = h(np.ones(3))\n")
    text = 'from lib import h; K = [1,\n    2]\nimport numpy as np, np2fx\n@np2fx.node(x="float64[3]")\ndef f(x): return h(x) + np.sum(x)\n'
    new, _ = rewrite_source(text, str(tmp_path / "m.py"))
    compile(new, "new", "exec", dont_inherit=True)


@pytest.mark.parametrize("means", ["def g(torch): pass", "for torch in (): pass", "def g():\n    import torch.nn", "class torch: pass",
                                   "try: pass\nexcept ValueError as torch: pass", "match 1:\n    case {**torch}: pass"])  # fmt: skip
@pytest.mark.parametrize("top", ["import torch\n", ""])
def test_a_name_that_means_something_else_somewhere(top, means):
    assert free_names(ast.parse(top + means))["torch"] == "np2fx_torch"
    assert free_names(ast.parse("import torch\nf(torch=1)\nx.torch"))["torch"] == "torch"
