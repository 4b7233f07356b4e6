"""Modules rewritten as they are imported."""

import importlib
import subprocess
import sys

import np2fx
import numpy as np
import pytest
import torch

FEATURES = """
import numpy as np


def centred(x):
    return x - np.mean(x, axis=0)


def spelt(x):
    return f"{x.max():.1f}"
"""
MAIN = """
import sys

import numpy as np
import torch

import shapes.features as features


def total(x):
    return np.cumsum(x)[-1]


print(type(features.centred(torch.ones(2, 3))).__name__, total(np.ones(3)), sys.argv[1:])
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package on the path, and a cache folder of its own."""
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / "__init__.py").write_text("")
    (tmp_path / "shapes" / "features.py").write_text(FEATURES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path
    for name in [n for n in sys.modules if n.split(".")[0] == "shapes"]:
        del sys.modules[name]


def test_within_converted_modules_take_tensors(package):
    plain = importlib.import_module("shapes.features")
    with np2fx.converted("shapes.features") as features:
        x = torch.arange(6.0).reshape(2, 3).requires_grad_()
        made = features.centred(x)
        assert isinstance(made, torch.Tensor) and made.requires_grad
        assert features.spelt(torch.ones(2)) == "1.0" and sys.modules["shapes.features"] is features
    assert sys.modules["shapes.features"] is plain and importlib.import_module("shapes").features is plain
    assert (package / "shapes" / "features.py").read_text() == FEATURES


def test_what_was_rewritten_is_kept_until_the_file_changes(package, monkeypatch):
    def values():
        with np2fx.converted("shapes.features") as features:
            return features.centred(torch.arange(2.0)).tolist()

    assert values() == [-0.5, 0.5]
    with monkeypatch.context() as patch:
        patch.setattr("np2fx.codemod.rewrite.rewrite_source", lambda *_, **__: pytest.fail("rewritten again"))
        assert values() == [-0.5, 0.5]
    (package / "shapes" / "features.py").write_text(FEATURES.replace("np.mean", "np.max"))
    assert values() == [-1.0, 0.0]


def test_an_installed_hook_serves_what_is_imported_later(package):
    hook = np2fx.install("shapes")
    try:
        features = importlib.import_module("shapes.features")
        assert isinstance(features.centred(torch.ones(2)), torch.Tensor)
        with pytest.raises(ValueError, match="has been imported already"):
            np2fx.install("shapes.features")
    finally:
        sys.meta_path.remove(hook)
    np.testing.assert_array_equal(features.centred(np.arange(2.0)), [-0.5, 0.5])


def test_lines_of_errors_are_those_of_the_text_that_runs(package):
    (package / "shapes" / "features.py").write_text("import numpy as np\n\n\ndef bad(x):\n    return np.reshape(np.sin(x), (7, 7))\n")
    with np2fx.converted("shapes.features") as features, pytest.raises(ValueError, match="reshape") as raised:
        features.bad(torch.ones(3))
    texts = [str(entry.statement) for entry in raised.traceback if "shapes" in str(entry.frame.code.raw.co_filename)]
    assert any("reshape" in text for text in texts)


@pytest.mark.parametrize("how", [["main.py"], ["--", "-m", "main"]])
def test_programs_run_with_their_modules_rewritten(package, how):
    (package / "main.py").write_text(MAIN)
    command = [sys.executable, "-m", "np2fx", "run", "--all-functions", *how, "a", "b"]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert done.stdout == "Tensor 3.0 ['a', 'b']\n", done.stderr
    assert (package / "main.py").read_text() == MAIN


def test_a_program_that_is_not_there(package, capsys):
    from np2fx.cli import main

    assert main(["run", str(package / "none.py")]) == 2
    assert "no such file" in capsys.readouterr().err
