"""The sample pipeline: its own NumPy tests pass before and after rewriting, and every node of it is verified."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import np2fx
import pytest

PIPELINE = Path(__file__).parents[2] / "fixtures" / "pipeline"
MODULES = ("actions", "images", "observations", "policy", "rotations")


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def np2fx_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return command("-c", "import sys; from np2fx.cli import main; sys.exit(main())", *arguments, cwd=cwd)


def own_tests(folder: Path) -> None:
    done = command("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", cwd=folder)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(PIPELINE, tmp_path / "pipeline", ignore=shutil.ignore_patterns("__pycache__", ".*")))


def nodes():
    """Every marked function of the sample pipeline, by `module.name`."""
    sys.path.insert(0, str(PIPELINE))
    try:
        package = importlib.import_module("robot_pipeline")
        found = [importlib.import_module(f"robot_pipeline.{info.name}") for info in pkgutil.iter_modules(package.__path__)]
    finally:
        sys.path.remove(str(PIPELINE))
    return [
        pytest.param(value, id=f"{module.__name__}.{name}")
        for module in found
        for name, value in vars(module).items()
        if hasattr(value, "__np2fx_spec__") and value.__module__ == module.__name__
    ]


def test_own_tests_pass(copy):
    own_tests(copy)


def test_own_tests_pass_unchanged_after_rewriting(copy):
    done = np2fx_command("rewrite", "robot_pipeline", cwd=copy)
    assert done.returncode == 0, done.stdout
    for name in MODULES:
        original = (PIPELINE / "robot_pipeline" / f"{name}.py").read_text(encoding="utf-8")
        assert (copy / "robot_pipeline" / f"{name}.py").read_text(encoding="utf-8") != original, f"{name} was not rewritten"
    own_tests(copy)


def test_rewriting_twice_changes_nothing_more(copy):
    np2fx_command("rewrite", "robot_pipeline", cwd=copy)
    once = {path: path.read_bytes() for path in (copy / "robot_pipeline").glob("*.py")}
    np2fx_command("rewrite", "robot_pipeline", cwd=copy)
    assert {path: path.read_bytes() for path in once} == once


def test_check_has_nothing_to_say(copy):
    done = np2fx_command("check", "robot_pipeline", cwd=copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("node", nodes())
def test_every_node_is_verified(node):
    report = np2fx.verify(node, max_examples=15)
    assert report.ok, str(report)


UNSUPPORTED = {
    "explore": "random",
    "smooth": "opaque-call",
    "stop_on_contact": "data-dependent-branch",
    "label": "object-dtype",
    "log_mean": "python-value",
    "occupied": "data-dependent-shape",
    "save": "side-effect",
}


def test_check_finds_what_cannot_be_converted():
    path = PIPELINE / "unsupported.py"
    text = path.read_text(encoding="utf-8")
    starts = {name: text[: text.index(f"def {name}(")].count("\n") + 1 for name in UNSUPPORTED}
    owners: dict[str, list] = {name: [] for name in UNSUPPORTED}
    for found in np2fx.check_source(text, str(path)):
        owners[max((name for name in starts if starts[name] <= found.line), key=starts.__getitem__)].append(found)
    for name, finding in UNSUPPORTED.items():
        assert finding in {found.name for found in owners[name]}, f"{name}: {[found.name for found in owners[name]]}"
        assert all(found.message and found.hint for found in owners[name])


def test_check_exits_with_1_on_them(copy):
    done = np2fx_command("check", "unsupported.py", cwd=copy)
    assert done.returncode == 1, done.stdout
