"""export: files that answer as the graph does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from np2fx.pipeline.export import ExportError, export


class Normalise(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.ones(7))

    def forward(self, state: torch.Tensor, velocity: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.cat([torch.clamp((state - self.mean) / 2.0, -5.0, 5.0), velocity]), velocity.sum()


GRAPH = torch.fx.symbolic_trace(Normalise())
EXAMPLE = (np.arange(7, dtype=np.float32), np.ones(3, np.float32))


@pytest.mark.parametrize(("how", "load"), [("jit", torch.jit.load), ("pt2", lambda path: torch.export.load(path).module())])
def test_export(tmp_path: Path, how: str, load: object) -> None:
    path = export(GRAPH, tmp_path / f"model.{how}", how, EXAMPLE)
    inputs = [torch.from_numpy(x) for x in EXAMPLE]
    for got, want in zip(load(str(path))(*inputs), GRAPH(*inputs), strict=True):  # type: ignore[operator]
        torch.testing.assert_close(got, want)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_onnx_says_what_it_needs(tmp_path: Path) -> None:
    if all(importlib.util.find_spec(name) for name in ("onnx", "onnxscript", "onnxruntime")):
        assert export(GRAPH, tmp_path / "model.onnx", "onnx", EXAMPLE).exists()
    else:
        with pytest.raises(ExportError, match="pip install onnx"):
            export(GRAPH, tmp_path / "model.onnx", "onnx", EXAMPLE)


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'tflite'"):
        export(GRAPH, tmp_path / "m", "tflite", EXAMPLE)
    with pytest.raises(ExportError, match="example inputs"):
        export(GRAPH, tmp_path / "m", "jit")

    class Counting(torch.nn.Module):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return x + self.calls

    with pytest.raises(ExportError, match="does not answer as the graph does"):
        export(Counting(), tmp_path / "m.pt", "jit", EXAMPLE[:1])
    assert not list(tmp_path.iterdir())
