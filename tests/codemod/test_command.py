"""libcst's own tool gives the files that `np2fx rewrite` gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FILES = {
    "pyproject.toml": "[project]\nname = 'p'\n",
    "pre.py": "import numpy as np\nimport np2fx\nfrom helpers import unit\n\n\n"
    "@np2fx.node(x='float32[n]')\ndef scale(x):  # kept\n    return unit(np.sin(x)) * 2\n",
    "helpers.py": "import numpy as np\n\n\ndef unit(v):\n    return v / np.sqrt(np.sum(v * v))\n",
    "plain.py": "import numpy as np\n\n\ndef other(v):\n    return np.sin(v)\n",
}


def run(folder: Path, *args: str) -> None:
    done = subprocess.run([sys.executable, "-m", *args], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_same_files_as_rewrite(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        for name, text in FILES.items():
            (folder / name).write_bytes(text.encode())
    run(ours, "np2fx", "rewrite", ".")
    modules = [name for name in FILES if name.endswith(".py")]
    run(theirs, "libcst.tool", "codemod", "--no-format", "-x", "np2fx.codemod.NumpyToTorch", "-j", "1", *modules)
    assert (ours / "pre.py").read_bytes() != FILES["pre.py"].encode()
    shutil.rmtree(ours / ".np2fx_cache", ignore_errors=True)
    for name in FILES:
        assert (theirs / name).read_bytes() == (ours / name).read_bytes(), name
    assert os.path.exists(theirs / "plain.py")
