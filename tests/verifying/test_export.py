"""export: files that answer as the graph does."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import np2fx
import numpy as np
import onnxruntime
import pytest
import torch
from np2fx.pipeline.export import FORMATS, ExportError, export


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


def _session(path: Path) -> Any:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def _loaded(path: Path, how: str) -> Any:
    if how == "jit":
        return torch.jit.load(str(path))
    if how == "pt2":
        return torch.export.load(str(path)).module()
    session = _session(path)
    return lambda *xs: session.run(None, {i.name: x.numpy() for i, x in zip(session.get_inputs(), xs, strict=True)})


def raising(x, y):
    if x[0] > 100:
        raise ValueError("too far")
    n = int(y[0])
    return x * n, (y[1] + n).reshape(()), x[:0], x > 1


FINE = (np.array([1.0, 2.0, 3.0]), np.array([2.0, 5.0], np.float32))


@pytest.mark.parametrize("how", FORMATS)
def test_assertions_are_kept(tmp_path: Path, how: str) -> None:
    run = _loaded(np2fx.export(np2fx.trace(raising, *FINE), tmp_path / f"m.{how}", how, FINE), how)
    for got, want in zip(run(*map(torch.from_numpy, FINE)), raising(*FINE), strict=True):
        assert np.asarray(got).dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
    for x, y in (([300.0, 1, 1], [2, 5]), ([1.0, 1, 1], [np.nan, 5])):
        with pytest.raises(Exception):  # noqa: B017 - each format has errors of its own
            run(torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float32))
    with pytest.raises(Exception):  # noqa: B017
        run(*(torch.from_numpy(x).to(torch.float16) for x in FINE))


def test_an_onnx_file_names_the_assertion_that_failed(tmp_path: Path) -> None:
    session = _session(export(np2fx.trace(raising, *FINE), tmp_path / "m.onnx", "onnx", FINE))
    for outputs in (None, [session.get_outputs()[1].name]):
        with pytest.raises(Exception, match="ValueError: too far"):
            session.run(outputs, {"x": np.array([300.0, 1, 1]), "y": FINE[1]})


@np2fx.node(x="float64[n, 3]", y="float64[m, 3]")
def joined(x, y):
    return np.concatenate([x, y]) * 2


@np2fx.node(x="float64[n]", y="float64[n]")
def linked(x, y):
    return np.sort(x)[::-1] + y


@pytest.mark.parametrize("how", FORMATS)
def test_free_sizes_have_the_names_of_the_specs(tmp_path: Path, how: str) -> None:
    x, y = np.arange(12.0).reshape(4, 3), np.ones((2, 3))
    path = export(np2fx.trace(joined, x, y), tmp_path / f"m.{how}", how, (x, y))
    if how == "onnx":
        inputs = _session(path).get_inputs()
        assert [(i.name, i.shape) for i in inputs] == [("x", ["n", 3]), ("y", ["m", 3])]
    if how == "pt2":
        placeholders = [n.name for n in torch.export.load(str(path)).graph.nodes if n.op == "placeholder"]
        assert placeholders == ["x", "y"]
    run = _loaded(path, how)
    for a, b in ((x, y), (y, x), (x[:2], x), (x[:3], y)):
        np.testing.assert_array_equal(np.asarray(_first(run(torch.from_numpy(a), torch.from_numpy(b)))), joined(a, b))
    for a, b in ((x, y[:, :2]), (x[:1], y), (x[:0], y)):
        try:
            got = _first(run(torch.from_numpy(a), torch.from_numpy(b.copy())))
        except Exception:
            continue
        np.testing.assert_array_equal(np.asarray(got), joined(a, b))


@pytest.mark.parametrize("how", FORMATS)
def test_sizes_that_are_one(tmp_path: Path, how: str) -> None:
    x = np.array([3.0, 1.0, 2.0])
    run = _loaded(export(np2fx.trace(linked, x, x + 1), tmp_path / f"m.{how}", how, (x, x + 1)), how)
    longer = np.arange(7.0)
    np.testing.assert_array_equal(np.asarray(_first(run(*map(torch.from_numpy, (longer, longer))))), linked(longer, longer))
    for a, b in ((longer, longer[:1]), (longer, longer[:3]), (longer[:1], longer[:1])):
        with pytest.raises(Exception):  # noqa: B017
            run(torch.from_numpy(a), torch.from_numpy(b))


def _first(results: Any) -> Any:
    return results[0] if isinstance(results, (list, tuple)) else results


def test_sizes_are_named_by_argument(tmp_path: Path) -> None:
    x = np.arange(6.0).reshape(2, 3)
    graph = np2fx.trace(lambda x: x.sum(axis=1), x)
    path = export(graph, tmp_path / "m.onnx", "onnx", (x,), sizes={"x": "float64[rows, columns]"})
    assert _session(path).get_inputs()[0].shape == ["rows", "columns"]
    tied = np2fx.trace(lambda x: sum(x), x)
    with pytest.raises(ExportError, match=r"x.shape\[0\] is not free: .*float64\[2, "):
        export(tied, tmp_path / "m2.onnx", "onnx", (x,), sizes={"x": "float64[rows, columns]"})
    with pytest.raises(ExportError, match="no input 'y'"):
        export(tied, tmp_path / "m2.onnx", "onnx", (x,), sizes={"y": "float64[n]"})


def decomposed(x):
    q, r = np.linalg.qr(x)
    return q @ r


def halved(x):
    while np.abs(x).max() > 1:
        if x[0] > 1e6:
            raise ValueError("too large")
        x = x / 2
    return x


def test_what_onnx_lacks_is_named(tmp_path: Path) -> None:
    line = decomposed.__code__.co_firstlineno + 1
    x = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ExportError, match=rf"numpy.linalg.qr is aten.linalg_qr, .*test_export.py:{line}\)"):
        export(np2fx.trace(decomposed, x), tmp_path / "m.onnx", "onnx", (x,))
    y = np.array([8.0, 1.0])
    with pytest.raises(ExportError, match=r"assertion within a branch or a loop .*too large"):
        export(np2fx.trace(halved, y), tmp_path / "m.onnx", "onnx", (y,))

    def written(x):
        x[0] = 1
        return x

    with pytest.raises(ExportError, match="writes into its argument x"):
        export(np2fx.trace(written, y.copy()), tmp_path / "m.onnx", "onnx", (y.copy(),))


def test_the_example_of_a_call_with_containers(tmp_path: Path) -> None:
    def scaled(d, k, x):
        return d["a"] * k + x

    example = ({"a": np.ones(3)}, 2, np.arange(3.0))
    path = export(np2fx.trace(scaled, *example), tmp_path / "m.pt", "jit", example)
    assert torch.jit.load(str(path))(torch.ones(3).double(), torch.ones(3).double()).tolist() == [3.0] * 3


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


@pytest.mark.parametrize("size", [0, 1])
def test_a_free_size_is_free_in_the_file_where_the_example_is_empty_or_one(tmp_path: Path, size: int) -> None:
    graph = np2fx.trace(lambda x: np.sin(x) * 2, np.ones(size, np.float32))
    load = _loaded(export(graph, tmp_path / "g.pt2", "pt2", (np.ones(size, np.float32),), sizes={"x": "float32[n]"}), "pt2")
    for n in (0, 1, 5):
        torch.testing.assert_close(load(torch.ones(n)), torch.sin(torch.ones(n)) * 2)


def test_a_size_that_torch_cannot_leave_free_is_named_with_what_it_has_to_be(tmp_path: Path) -> None:
    x = np.ones(6, np.float32)
    graph = np2fx.trace(lambda x: x + np.arange(6, dtype=np.float32), x)
    with pytest.raises(ExportError, match=r"torch.export takes only n = 6; write these sizes so in the specs"):
        export(graph, tmp_path / "g.pt2", "pt2", (x,), sizes={"x": "float32[n]"})
    export(graph, tmp_path / "g.pt2", "pt2", (x,), sizes={"x": "float32[6]"})
    y = np.ones((3, 4), np.float32)
    with pytest.raises(ExportError, match=r"torch.export cannot leave [nm] free; give it a number in the specs"):
        export(np2fx.trace(lambda y: y.reshape(4, 3), y), tmp_path / "r.pt2", "pt2", (y,), sizes={"y": "float32[n, m]"})


def test_onnx_files_are_as_exact_as_their_graphs(tmp_path: Path) -> None:
    """torch's own ONNX forms of these go through float32, cancel near 0, overflow, or are other functions."""

    def f(x):
        near = x * 1e-12
        ones = np.full_like(x, 0.1) + x, 0.3**x, x * 0.1, x + 16777217, np.where(x > 0.1, x, 0.7), np.clip(x, 0.1, 0.7)
        logs = np.log2(x), np.log10(x), np.log1p(near), np.expm1(near), np.logaddexp(x * 1000, x), np.logaddexp2(x, x * 1000)
        return (*ones, *logs, np.deg2rad(x), np.rad2deg(x), np.floor_divide(x, 0.1), np.sinc(x), np.mean(x), x > 0.1, np.isinf(x * 1e300))

    x = np.array([0.1, 0.35, 3.0, 8.0, 1.0])
    graph = np2fx.trace(f, x)
    load = _loaded(export(graph, tmp_path / "g.onnx", "onnx", (x,)), "onnx")
    for y in (x, np.array([0.30000000000000004, 0.1 + 1e-9, 1 / 3, 1000.0, 2.0**29])):
        with np.errstate(all="ignore"):
            for i, (got, want) in enumerate(zip(load(torch.from_numpy(y)), f(y), strict=True)):
                np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15, err_msg=str(i))


def test_onnx_files_of_reductions_are_right_for_empty_arrays_or_demand_more(tmp_path: Path) -> None:
    def f(x):
        return x.mean(), x.mean(axis=0), x.any(), x.any(axis=0), x.all(), x.sum(axis=1)

    x = np.ones((3, 2))
    load = _loaded(export(np2fx.trace(f, x), tmp_path / "f.onnx", "onnx", (x,), sizes={"x": "float64[n, 2]"}), "onnx")
    spread = _loaded(export(np2fx.trace(np.var, x), tmp_path / "v.onnx", "onnx", (x,), sizes={"a": "float64[n, 2]"}), "onnx")
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        for got, want in zip(load(torch.ones(0, 2, dtype=torch.float64)), f(x[:0]), strict=True):
            np.testing.assert_array_equal(got, want)
    with pytest.raises(Exception, match="n is at least 2"):
        spread(torch.ones(0, 2, dtype=torch.float64))
