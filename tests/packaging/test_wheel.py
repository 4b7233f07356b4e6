"""What the wheel holds: the two trees as one package, rules that can be read as text, and nothing else."""

from __future__ import annotations

import email
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy of the tree, so that building leaves nothing behind in the working tree."""
    source = tmp_path_factory.mktemp("source")
    folder = tmp_path_factory.mktemp("dist")
    for name in ("transpiler", "rules", "tests", "fixtures", "docs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-3000:]
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def modules(folder: str, package: str) -> set[str]:
    """Where the files of a tree of this repo stand in the wheel."""
    return {f"{package}/{path.relative_to(ROOT / folder).as_posix()}" for path in (ROOT / folder).rglob("*.py")}


def test_holds_every_module_of_both_trees_and_nothing_else(wheel):
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    code = {name for name in packed if name.endswith(".py")}
    assert code == modules("transpiler", "np2fx") | modules("rules", "np2fx/rules")
    assert {Path(name).name for name in packed - code} <= {"py.typed"}


def test_rules_are_text_that_the_static_half_can_read(wheel):
    text = wheel.read("np2fx/rules/arithmetic.py").decode("utf-8")
    assert text == (ROOT / "rules" / "arithmetic.py").read_text(encoding="utf-8")


def test_installs_one_command_and_the_pytest_plugin(wheel):
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/entry_points.txt"))
    lines = [line for line in wheel.read(name).decode("utf-8").splitlines() if line]
    assert lines == ["[console_scripts]", "np2fx = np2fx.cli:main", "[pytest11]", "np2fx = np2fx.testing.plugin"]


def test_carries_the_licence(wheel):
    (name,) = (n for n in wheel.namelist() if n.endswith("/LICENSE"))
    assert b"Apache License" in wheel.read(name)


def test_needs_libcst_alone_unless_extras_are_asked_for(metadata):
    required = metadata.get_all("Requires-Dist")
    base = {entry.split(";")[0].split(">")[0].strip() for entry in required if "extra ==" not in entry}
    assert base == {"libcst", "tomli"}
    assert all("python_version" in entry for entry in required if entry.startswith("tomli"))


def test_extras(metadata):
    assert {"torch", "onnx", "dev"} <= set(metadata.get_all("Provides-Extra"))
    of_torch = {entry.split(">")[0] for entry in metadata.get_all("Requires-Dist") if 'extra == "torch"' in entry}
    assert of_torch == {"numpy", "torch", "hypothesis"}


def test_readme_is_the_long_description(metadata):
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata["Name"] == "np2fx"
