"""np2fx trace: a function and samples in, a graph or a file out."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import torch
from np2fx.cli import main

SOURCE = """import numpy as np


def scale(x, y):
    return np.sin(x) * y


def branch(x):
    return x if x.sum() > 0 else x[:1]
"""


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traced_example.py").write_text(SOURCE)
    np.savez(tmp_path / "samples.npz", y=np.ones(3, np.float32), x=np.arange(3, dtype=np.float32))
    return tmp_path


@pytest.mark.parametrize("function", ["traced_example:scale", "traced_example.py:scale"])
def test_export(repo, capsys, function):
    assert main(["trace", function, "--samples", "samples.npz", "-o", "out.pt"]) == 0
    x = torch.tensor([1.0, 2.0, 3.0])
    found = torch.jit.load(repo / "out.pt")(x, 2 * x)
    assert torch.allclose(found[0] if isinstance(found, (list, tuple)) else found, torch.sin(x) * 2 * x)


@pytest.mark.parametrize("how", ["jit", "onnx", "pt2"])
def test_files_hold_for_what_was_traced(repo, how):
    source = ["def mean(x, y):", "    if x[0] > 9:", "        raise ValueError('far')", "    return sum(x) / 3 + y", ""]
    (repo / "sized_example.py").write_text("\n".join(source))
    out = f"out.{how}"
    assert main(["trace", "sized_example.py:mean", "--samples", "samples.npz", "-o", out, "--export", how, "--sizes", "y=float32[n]"]) == 0
    if how == "onnx":
        session = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])
        assert [(i.name, i.shape) for i in session.get_inputs()] == [("x", [3]), ("y", ["n"])]
        run = lambda *xs: session.run(None, {k: x.numpy() for k, x in zip("xy", xs, strict=True)})[0]  # noqa: E731
    else:
        run = torch.jit.load(out) if how == "jit" else torch.export.load(out).module()
    assert np.asarray(run(torch.ones(3), torch.ones(5))).tolist() == [2.0] * 5
    for bad in (torch.ones(4), torch.tensor([10.0, 1, 1]), torch.ones(3, dtype=torch.float64)):
        with pytest.raises(Exception):  # noqa: B017
            run(bad, torch.ones(5))


def test_print(repo, capsys):
    assert main(["trace", "traced_example:scale", "--samples", "samples.npz"]) == 0
    assert "torch.sin" in capsys.readouterr().out


def test_refused(repo, capsys):
    np.savez(repo / "one.npz", np.arange(3.0))
    assert main(["trace", "traced_example:branch", "--samples", "one.npz"]) == 1
    assert "NX302" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["traced_example", "--samples", "samples.npz"], "must be MODULE:FUNCTION"),
        (["nothing_here:f", "--samples", "samples.npz"], "no module `nothing_here`"),
        (["traced_example:nothing", "--samples", "samples.npz"], "no function `nothing`"),
        (["traced_example:scale", "--samples", "missing.npz"], "missing.npz: no such file"),
        (["missing.py:scale", "--samples", "samples.npz"], "missing.py: no such file"),
        (["traced_example:branch", "--samples", "samples.npz"], "the samples are named"),
        (["traced_example:scale", "--samples", "samples.npz", "-o", "o", "--sizes", "x"], "must be NAME=SPEC"),
        (["traced_example:scale", "--samples", "samples.npz", "-o", "o", "--sizes", "x=float31[n]"], "float31"),
    ],
)
def test_mistakes(repo, capsys, argv, message):
    assert main(["trace", *argv]) == 2
    assert message in capsys.readouterr().err


METHODS = """
import numpy as np

class Scale:
    factor = 2
    def __call__(self, x):
        return x * self.factor

class Shift:
    def __init__(self, by):
        self.by = by
    def act(self, x):
        return x + self.by
    @staticmethod
    def static(x):
        return x - 1

def make():
    return Shift(3)
"""


def test_methods_are_traced_on_an_object(repo, capsys):
    (repo / "methods_to_trace.py").write_text(METHODS)
    np.savez(repo / "one.npz", x=np.arange(3.0))
    for function in ("methods_to_trace:Scale.__call__", "methods_to_trace.py:Shift.static"):
        assert main(["trace", function, "--samples", "one.npz"]) == 0
    assert main(["trace", "methods_to_trace.py:Shift.act", "--samples", "one.npz"]) == 2
    assert "Shift is made with by" in capsys.readouterr().err
    (repo / "pyproject.toml").write_text('[tool.np2fx.instances]\n"methods_to_trace.py:Shift" = "make"\n')
    assert main(["trace", "methods_to_trace.py:Shift.act", "--samples", "one.npz"]) == 0
    assert "torch.add" in capsys.readouterr().out
