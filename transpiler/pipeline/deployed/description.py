"""The description of a compiled pipeline: one YAML file beside the artefacts, in the form that leapp's InferenceManager reads.

    models:                     for each node, in the order of a step
      NODE:
        inputs, outputs         name, dtype, shape and type of each array, in the order of the artefact; `free_axes` are those whose
                                sizes were not the same in all noted calls; what TensorSemantics says of it
        parameters              model_path, md5sum, sha256sum and backend ("jit", "onnx", "pt2") of the artefact
    pipeline:
      data_flow                 "node/output" -> ["node/input", ...] within a step
      feedback_flow             the same from one step to the next
      inputs, outputs           what comes from outside and what goes there, by node
      initial_values            a safetensors file of what fed-back inputs are in the first step
      configs                   what `compile_graph(graph_configs=...)` was given
    system information          versions
    np2fx:
      schema                    1
      verified                  for each node, in how many noted calls its graph gave what the node gave
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ...semantics.arrays import as_tensor

if TYPE_CHECKING:
    from ..session.running import Node, Session
    from ..session.wiring import Wiring

SCHEMA = 1
BACKENDS = {
    "jit": "jit", "jit-script": "jit", "jit-trace": "jit", "onnx": "onnx", "onnx-dynamo": "onnx", "onnx-torchscript": "onnx",
    "pt2": "pt2", "exported-program": "pt2",
}  # fmt: skip
"""What `export_with` may be, leapp's names among them, and the format that it is."""

_LEAPPS = "1.3"
"""The version of leapp's form that this is."""


def describe(session: Session, wiring: Wiring, files: Mapping[str, Path], verified: Mapping[str, int],
             configs: Any) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:  # fmt: skip
    """The description, and the initial values of what is fed back."""
    nodes = sorted(session.nodes.values(), key=lambda n: n.order)
    fed = {end for ends in wiring.feedback.values() for end in ends}
    values = {f"{n.name}/{name}": as_tensor(v).contiguous() for n in nodes for name, v in n.inputs.items() if f"{n.name}/{name}" in fed}
    flows = {"data_flow": wiring.flow, "feedback_flow": wiring.feedback, "inputs": wiring.inputs, "outputs": wiring.outputs}
    pipeline: dict[str, Any] = {key: dict(flow) for key, flow in flows.items()}
    if values:
        pipeline["initial_values"] = f"{session.name}_initial_values.safetensors"
    if configs is not None:
        pipeline["configs"] = configs.to_dict() if hasattr(configs, "to_dict") else dict(configs)
    return {
        "models": {n.name: _model(n, files.get(n.name)) for n in nodes},
        "pipeline": pipeline,
        "system information": _system(),
        "np2fx": {"schema": SCHEMA, "verified": dict(verified)},
    }, values


def write(path: Path, description: Mapping[str, Any], values: Mapping[str, torch.Tensor]) -> None:
    """Write a description, and the initial values beside it: the description last, and each in one go."""
    yaml = needed("yaml", "pyyaml")
    if values:
        target = path.with_name(description["pipeline"]["initial_values"])
        part = target.with_name(f".{target.name}.part")
        needed("safetensors.torch", "safetensors").save_file(dict(values), str(part))
        os.replace(part, target)
    write_text(path, yaml.safe_dump(dict(description), sort_keys=False, allow_unicode=True))


def write_text(path: Path, text: str) -> None:
    """Write a file in one go."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def needed(module: str, package: str) -> Any:
    """A module that pipelines need. Raises ModuleNotFoundError that says how to install it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f'pipelines need the package {package}: pip install "np2fx[pipeline]"', name=package) from None


def digests(path: Path) -> dict[str, str]:
    """The check sums of a file."""
    data = path.read_bytes()
    return {"md5sum": hashlib.md5(data, usedforsecurity=False).hexdigest(), "sha256sum": hashlib.sha256(data).hexdigest()}


def _model(node: Node, file: Path | None) -> dict[str, Any]:
    parameters: dict[str, Any] = {"backend": None}
    if file is not None and node.export_with is not None:
        parameters = {"model_path": file.name, **digests(file), "backend": BACKENDS[node.export_with]}
    calls = node.calls
    inputs = [_array(name, [c.inputs[name] for c in calls]) | node.meaning.get(("inputs", name), {}) for name in node.inputs]
    outputs = [_array(name, [c.outputs[name] for c in calls]) | node.meaning.get(("outputs", name), {}) for name in node.outputs]
    return {"inputs": inputs, "outputs": outputs, "parameters": parameters}


def _array(name: str, values: Sequence[Any]) -> dict[str, Any]:
    shapes = [[int(n) for n in v.shape] for v in values]
    free = [axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    made = {"name": name, "dtype": str(values[0].dtype).removeprefix("torch."), "shape": shapes[0], "type": "tensor"}
    return {**made, "free_axes": free} if free else made


def _system() -> dict[str, Any]:
    import numpy

    from ... import __version__

    return {
        "leapp config version": _LEAPPS, "np2fx version": __version__, "numpy version": numpy.__version__,
        "os": platform.platform(), "python version": platform.python_version(), "torch version": str(torch.__version__),
    }  # fmt: skip
