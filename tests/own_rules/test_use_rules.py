"""Rules of a project's own at run time: loading them, and what convert, trace, rewritten code and the command line make of them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import np2fx
import numpy as np
import pytest
import torch
from np2fx.cli import main
from np2fx.semantics import table
from np2fx.source.reading.config import parse_config
from np2fx.support import own_rules

PROJECT = Path(__file__).parents[2] / "fixtures" / "own_rules"
SOURCE = """
import numpy as np
from scipy.special import expit, softmax
import scipy.special

def gate(x):
    return expit(x) * softmax(x, axis=-1) + scipy.special.logsumexp(x)

def in_a_dict(x):
    return {"sigmoid": expit, "softmax": softmax}["sigmoid"](x)

def into(x):
    out = np.zeros_like(x)
    expit(x, out=out)
    return out
"""
RIGHT = "@rule('otherlib.f', kind='elementwise')\ndef f(x):\n    return x\n\n"
X = np.linspace(-3, 3, 6, dtype="float32").reshape(2, 3)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy of the example project, as the working folder."""
    shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def gates(tmp_path):
    path = tmp_path / "gates.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("gates", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["gate", "in_a_dict", "into"])
@pytest.mark.parametrize("way", ["convert", "trace"])
def test_other_libraries_functions_with_rules(use, gates, name, way):
    use("np2fx.contrib.scipy_rules")
    f = getattr(gates, name)
    got = (np2fx.trace(f, X) if way == "trace" else np2fx.convert(f))(torch.from_numpy(X))
    assert got.dtype == torch.float32
    np.testing.assert_allclose(got.numpy(), f(X), rtol=1e-5)


@pytest.mark.parametrize("name", ["gate", "in_a_dict"])
def test_without_the_rules_they_are_refused(use, gates, name):
    """Where no graph is asked for, the library's own function takes the array's memory, if that is all that there is to it."""
    f, x = getattr(gates, name), torch.from_numpy(X.copy())
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(f, X)
    if name == "in_a_dict":
        np.testing.assert_array_equal(np2fx.convert(f)(x).numpy(), f(X))
    with pytest.raises(np2fx.ConversionError):
        np2fx.convert(f)(x.requires_grad_())


REFUSED = """
import numpy as np
import np2fx
from scipy.ndimage import zoom
from scipy.spatial.transform import Rotation

@np2fx.node
def bigger(x):
    return zoom(x, 2)

@np2fx.node
def turned(x):
    return Rotation.from_quat(x).as_matrix()
"""


@pytest.mark.parametrize(("name", "reason"), [("bigger", "compiled code"), ("turned", "keep their quaternions")])
def test_a_refusal_says_its_reason_everywhere(use, tmp_path, name, reason):
    use("np2fx.contrib.scipy_rules")
    config = parse_config({"rules": ["np2fx.contrib.scipy_rules"]}, str(tmp_path))
    checked = np2fx.check_source(REFUSED, config=config)
    new, rewritten = np2fx.rewrite_source(REFUSED, config=config)
    assert new == REFUSED
    for findings in (checked, rewritten):
        assert any(reason in f.message and f.hint for f in findings), findings
    (tmp_path / "refused.py").write_text(REFUSED)
    spec = importlib.util.spec_from_file_location("refused", tmp_path / "refused.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = np.eye(4)
    with pytest.raises(np2fx.ConversionError, match=reason):
        np2fx.convert(getattr(module, name))(torch.from_numpy(x))
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(getattr(module, name), x)


def test_a_function_traced_before_its_rule_came_and_after(use, gates):
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(gates.gate, X)
    use("np2fx.contrib.scipy_rules")
    assert "softmax" in np2fx.trace(gates.gate, X).code


def test_asking_twice_is_asking_once(use):
    use("np2fx.contrib.scipy_rules")
    version = table.version()
    use("np2fx.contrib.scipy_rules", "np2fx.contrib.scipy_rules")
    assert table.version() == version and own_rules.used() == ("np2fx.contrib.scipy_rules",)


def test_a_module_that_is_not_there(use):
    with pytest.raises(ModuleNotFoundError, match="no_such_rules"):
        use("no_such_rules")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (RIGHT + "raise RuntimeError('late')\n", RuntimeError),
        (RIGHT + "@rule('numpy.std', kind='reduction')\ndef g(x):\n    return x\n", ValueError),
        ("@ufunc('otherlib.f')\ndef f(x):\n    return x\n", ValueError),
    ],
    ids=["fails half way", "says numpy.std again", "no ufunc"],
)  # fmt: skip
def test_a_module_that_fails_leaves_nothing_behind(use, tmp_path, monkeypatch, text, error):
    (tmp_path / "otherlib").mkdir()
    (tmp_path / "otherlib" / "__init__.py").write_text("def f(x):\n    return x\n")
    (tmp_path / "otherlib" / "bad.py").write_text("from np2fx.rules import rule, ufunc\n\n" + text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(error):
        use("otherlib.bad")
    assert "otherlib.f" not in table.RULES and "numpy.std" in table.RULES
    (tmp_path / "otherlib" / "bad.py").write_text("from np2fx.rules import rule\n\n" + RIGHT)
    sys.modules.pop("otherlib.bad", None)
    importlib.invalidate_caches()
    shutil.rmtree(tmp_path / "otherlib" / "__pycache__", ignore_errors=True)
    use("otherlib.bad")
    assert "otherlib.f" in table.RULES


def test_a_projects_node_in_all_ways(use, project):
    use("mylib.torch_rules", "np2fx.contrib.scipy_rules", root=str(project))
    from mylib.policy import goal_features

    rng = np.random.default_rng(0)
    quat, goals = rng.normal(size=(4, 4)), rng.normal(size=(4, 3))
    tensors = torch.from_numpy(quat), torch.from_numpy(goals)
    want = goal_features(quat, goals)
    np.testing.assert_allclose(np2fx.trace(goal_features, quat, goals)(*tensors).numpy(), want, rtol=1e-10)
    np.testing.assert_allclose(np2fx.convert(goal_features)(*tensors).numpy(), want, rtol=1e-10)


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(cwd)})


def test_the_projects_own_tests_pass(project):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(project), cwd=project)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout[-3000:]


def test_a_wrong_rule_fails_them(project):
    path = project / "mylib" / "torch_rules.py"
    path.write_text(path.read_text().replace("2 * (x * y - z * w)", "2 * (x * y + z * w)"))
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(project), "-k", "rotate", cwd=project)
    assert done.returncode == 1 and "RuleError" in done.stdout, done.stdout[-3000:]


def test_the_rewritten_file_runs(project):
    assert main(["check", "mylib"]) == 0
    code = (
        "import numpy as np\nfrom mylib.policy import goal_features\nr = np.random.default_rng(0)\n"
        "print(repr(goal_features(r.normal(size=(4, 4)), r.normal(size=(4, 3))).tolist()))"
    )
    before = run("-c", code, cwd=project)
    assert main(["rewrite", "mylib"]) == 0
    assert "@npx.on_torch\ndef goal_features" in (project / "mylib" / "policy.py").read_text()
    after = run("-c", code, cwd=project)
    assert after.returncode == 0, after.stderr
    np.testing.assert_allclose(eval(after.stdout), eval(before.stdout), rtol=1e-10)


def test_verify_and_trace_read_the_configuration(project):
    done = run("-c", "import sys; from np2fx.cli import main; sys.exit(main(['verify', 'mylib', '--max-examples', '5']))", cwd=project)
    assert done.returncode == 0 and "ok" in done.stdout, done.stdout + done.stderr
    np.savez(project / "samples.npz", quat=np.ones((2, 4)), goals=np.ones((2, 3)))
    command = "import sys; from np2fx.cli import main; sys.exit(main(['trace', 'mylib.policy:goal_features', '--samples', 'samples.npz']))"
    done = run("-c", command, cwd=project)
    assert done.returncode == 0 and "torch.sigmoid" in done.stdout, done.stdout + done.stderr


def test_rules_lists_them(project, capsys):
    assert main(["rules", "mylib.*"]) == 0
    assert "mylib.norms.fast_norm" in capsys.readouterr().out


def test_a_rule_module_that_is_missing(project, capsys):
    path = project / "pyproject.toml"
    path.write_text(path.read_text().replace("mylib.torch_rules", "mylib.no_rules"))
    assert main(["verify", "mylib"]) == 2
    assert main(["check", "mylib"]) == 2
    assert "mylib.no_rules" in capsys.readouterr().err
