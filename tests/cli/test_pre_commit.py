"""The hooks, run by the real pre-commit on a throw-away repository: what a bad node meets, and what its environment holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOOD = "import numpy as np\nimport np2fx\n\n\n@np2fx.node\ndef f(x):\n    return np.sin(x)\n"
BAD = GOOD.replace("np.sin(x)", "x + np.random.rand(3)")
KEPT = ("transpiler", "rules", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")


def git(folder, *argv):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *argv], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    """The working tree as a repository of its own, and the environment for pre-commit."""
    base = tmp_path_factory.mktemp("hooks")
    tool = base / "np2fx"
    tool.mkdir()
    for name in KEPT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tool / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tool / name)
    git(tool, "init", "-q")
    git(tool, "add", "-A")
    git(tool, "commit", "-qm", "snapshot")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(base / "home"), "XDG_CACHE_HOME": str(base / "cache")}
    environment.pop("PYTHONPATH", None)
    return tool, git(tool, "rev-parse", "HEAD"), environment, base


@pytest.fixture
def repo(tmp_path, hooks):
    tool, revision, _, _ = hooks
    git(tmp_path, "init", "-q")
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: file://{tool}\n    rev: {revision}\n    hooks:\n"
        "      - id: np2fx-check\n      - id: np2fx-rewrite\n        stages: [manual]\n"
    )
    return tmp_path


def pre_commit(repo, hooks, *argv):
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", *argv]
    done = subprocess.run(command, cwd=repo, env=hooks[2], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_a_bad_node_is_rejected_and_a_good_one_passes(repo, hooks):
    (repo / "pre.py").write_text(BAD)
    git(repo, "add", "-A")
    code, out = pre_commit(repo, hooks)
    assert code == 1 and "pre.py:7:16: NX103 [random]" in out, out
    (repo / "pre.py").write_text(GOOD)
    git(repo, "add", "-A")
    code, out = pre_commit(repo, hooks)
    assert code == 0 and "Passed" in out, out


def test_no_python_files(repo, hooks):
    git(repo, "add", "-A")
    code, out = pre_commit(repo, hooks)
    assert code == 0, out


def test_rewrite_hook_changes_once(repo, hooks):
    (repo / "pre.py").write_text(GOOD)
    git(repo, "add", "-A")
    code, out = pre_commit(repo, hooks, "np2fx-rewrite", "--hook-stage", "manual")
    assert code == 1 and "files were modified" in out and "npx.sin(x)" in (repo / "pre.py").read_text(), out
    git(repo, "add", "-A")
    code, out = pre_commit(repo, hooks, "np2fx-rewrite", "--hook-stage", "manual")
    assert code == 0, out


def test_the_environment_is_light(repo, hooks):
    git(repo, "add", "-A")
    pre_commit(repo, hooks)
    home = hooks[3] / "home"
    packages = {p.name for p in home.glob("repo*/py_env-*/lib/python*/site-packages/*")}
    assert "np2fx" in packages and "libcst" in packages
    assert not packages & {"torch", "numpy", "hypothesis"}
