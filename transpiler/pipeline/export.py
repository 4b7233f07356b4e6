"""Writes a traced graph to a file that runs without np2fx: TorchScript, ONNX or a `torch.export` program.

Whatever is written is loaded again and run on the example inputs; a file whose answer is not the graph's is not kept.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import fx

FORMATS = ("jit", "onnx", "pt2")


class ExportError(RuntimeError):
    """A graph that could not be exported; the message says why and what to do."""


def export(module: torch.nn.Module, path: str | os.PathLike[str], how: str = "jit", example: Sequence[Any] = ()) -> Path:
    """Write `module` (a traced graph) to `path` and return the path.

    how      "jit" (TorchScript), "onnx" or "pt2" (torch.export)
    example  inputs the graph can be run on: arrays, NumPy scalars or tensors, as the traced function takes them

    Raises ExportError where the format cannot hold the graph, where a package is missing, and where the file that was
    written answers otherwise than the graph. Raises ValueError for an unknown format.
    """
    writer: Callable[..., Callable[..., Any]] | None = {"jit": _jit, "onnx": _onnx, "pt2": _pt2}.get(how)
    if writer is None:
        raise ValueError(f"export to {how!r} is not known; it is one of {', '.join(FORMATS)}")
    if not example:
        raise ExportError("an export needs example inputs: export(graph, path, how, example=(x, y))")
    target = Path(path)
    temporary = target.with_name(f".{target.name}.part{target.suffix}")
    inputs = tuple(_tensor(x) for x in example)
    try:
        try:
            load = writer(module, temporary, inputs)
        except ExportError:
            raise
        except Exception as e:
            raise ExportError(f"{how} cannot hold this graph: {_first_line(e)}") from e
        _check(module, load, inputs, how)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _jit(module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...]) -> Callable[..., Any]:
    """TorchScript by tracing the graph's own torch calls. Raises ExportError where one is a branch, which a trace would lose."""
    if any(n.target is torch.ops.higher_order.cond for m in module.modules() if isinstance(m, fx.GraphModule) for n in m.graph.nodes):
        raise ExportError("jit cannot hold this graph: a side of a branch runs alone (torch.cond), as it may fail. Export to pt2 or onnx")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch would rather have pt2; who asks for jit knows
        scripted = torch.jit.trace(_Plain(module), _copies(inputs), check_trace=False)
        scripted.save(str(path))
        return torch.jit.load(str(path))


def _pt2(module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...]) -> Callable[..., Any]:
    program = torch.export.export(_Plain(module), _copies(inputs))
    torch.export.save(program, str(path))
    return torch.export.load(str(path)).module()


def _onnx(module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...]) -> Callable[..., Any]:
    try:
        import onnx  # noqa: F401
        import onnxruntime
        import onnxscript  # noqa: F401
    except ImportError as e:
        raise ExportError(f"ONNX export needs the package {e.name}: pip install onnx onnxscript onnxruntime") from e
    torch.onnx.export(_Plain(module), _copies(inputs), str(path), dynamo=True, external_data=False, verbose=False)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        feeds = {name: tensor.numpy() for name, tensor in zip(names, tensors, strict=True)}
        return [torch.as_tensor(x) for x in session.run(None, feeds)]

    return run


class _Plain(torch.nn.Module):
    """The graph without what a traced module adds to it (guards that look at a call's arguments): only its torch calls."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.graph_module = module

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.graph_module.forward(*inputs)


def _check(module: torch.nn.Module, load: Callable[..., Any], inputs: tuple[torch.Tensor, ...], how: str) -> None:
    """The file's answers are the graph's."""
    import torch.utils._pytree as pytree

    wanted = pytree.tree_leaves(_Plain(module)(*_copies(inputs)))
    with torch.no_grad():
        given = pytree.tree_leaves(load(*_copies(inputs)))
    tensors = [(w, g) for w, g in zip(wanted, given, strict=False) if isinstance(w, torch.Tensor)]
    try:
        if len(wanted) != len(given):
            raise AssertionError(f"{len(given)} results for {len(wanted)}")
        for want, got in tensors:
            torch.testing.assert_close(got, want, equal_nan=True)
    except AssertionError as e:
        raise ExportError(f"the {how} file does not answer as the graph does: {_first_line(e)}") from e


def _tensor(x: Any) -> torch.Tensor:
    return x.detach().clone() if isinstance(x, torch.Tensor) else torch.as_tensor(x).clone()


def _copies(inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(x.clone() for x in inputs)


def _first_line(e: Exception) -> str:
    return (str(e).strip().splitlines() or [type(e).__name__])[0]
