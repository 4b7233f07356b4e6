"""`Pipeline`: a compiled pipeline, run step by step from its files alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import torch

from ..session.errors import PipelineError, refused
from .description import SCHEMA, digests, needed

_WRITTEN = "give the folder that np2fx.compile_graph wrote"


class Pipeline:
    """A compiled pipeline. `step` runs all its nodes once; what is fed back is kept for the next step.

    inputs, outputs  what `step` takes and gives, each named "node/array"
    description      what its YAML file says"""

    def __init__(
        self, path: Path, description: Mapping[str, Any], models: Mapping[str, Callable[..., Any]], initial: Mapping[str, Any]
    ) -> None:
        self.path, self.description, self._models, self._initial = path, description, models, dict(initial)
        wiring = description["pipeline"]
        self.inputs = [f"{node}/{name}" for node, names in wiring["inputs"].items() for name in names]
        self.outputs = [f"{node}/{name}" for node, names in wiring["outputs"].items() for name in names]
        self._forms = {f"{n}/{a['name']}": a for n, m in description["models"].items() for a in m["inputs"]}
        self.reset()

    @classmethod
    def load(cls, path: str | Path) -> Pipeline:
        """The pipeline in a directory, or of a YAML file. Raises PipelineError where it is none, where a file is missing, and where one
        is not what the description says."""
        file = _yaml_of(Path(path))
        description = needed("yaml", "pyyaml").safe_load(file.read_text(encoding="utf-8"))
        if not isinstance(description, Mapping) or not {"models", "pipeline"} <= description.keys():
            raise refused("not-rewritten", f"{file} describes no pipeline", _WRITTEN, (str(file), 0))
        if description.get("np2fx", {}).get("schema", SCHEMA) > SCHEMA:
            raise refused("not-rewritten", f"{file} is of a newer np2fx", "install that version", (str(file), 0))
        models = {name: _model(file, name, model) for name, model in description["models"].items()}
        return cls(file, description, models, _initial(file, description))

    def reset(self) -> None:
        """As before the first step."""
        self._values = {name: value.clone() for name, value in self._initial.items()}

    def step(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run each node once. `inputs` are arrays or tensors by "node/input"; the outputs are arrays where all inputs are, else tensors.

        Raises PipelineError for inputs that are missing, unknown, or of another dtype or rank."""
        values = {**self._values, **self._taken(inputs)}
        is_numpy = not any(isinstance(v, torch.Tensor) for v in inputs.values())
        flow, feedback = self.description["pipeline"]["data_flow"], self.description["pipeline"]["feedback_flow"]
        kept: dict[str, torch.Tensor] = {}
        found: dict[str, Any] = {}
        for node, model in self.description["models"].items():
            given = [values[f"{node}/{a['name']}"] for a in model["inputs"]]
            with torch.no_grad():
                results = self._models[node](*given)
            results = results if isinstance(results, (tuple, list)) else (results,)
            for form, value in zip(model["outputs"], results, strict=True):
                name = f"{node}/{form['name']}"
                values.update({end: value.clone() for end in flow.get(name, ())})
                kept.update({end: value.clone() for end in feedback.get(name, ())})
                if name in self.outputs:
                    found[name] = value.numpy() if is_numpy else value
        self._values.update(kept)
        return found

    __call__ = step

    def _taken(self, inputs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        unknown = [n for n in inputs if n not in self.inputs]
        missing = [n for n in self.inputs if n not in inputs]
        if unknown or missing:
            what = f"takes no {unknown[0]!r}" if unknown else f"needs {missing[0]!r}"
            raise refused("not-rewritten", f"the pipeline {what}", f"give {', '.join(self.inputs)}", (str(self.path), 0))
        made = {}
        for name, value in inputs.items():
            tensor = value if isinstance(value, torch.Tensor) else torch.from_numpy(numpy.array(value))
            form = self._forms[name]
            if str(tensor.dtype).removeprefix("torch.") != form["dtype"] or tensor.ndim != len(form["shape"]):
                given = f"{str(tensor.dtype).removeprefix('torch.')} of rank {tensor.ndim}"
                message = f"{name} is {given}, and the pipeline takes {form['dtype']} of rank {len(form['shape'])}"
                raise refused("specialised-size", message, "give it that", (str(self.path), 0))
            made[name] = tensor.clone()
        return made


def _yaml_of(path: Path) -> Path:
    if path.is_file():
        return path
    found = sorted(path.glob("*.yaml")) if path.is_dir() else []
    own = [f for f in found if f.stem == path.name] or found
    if not own:
        raise refused("not-rewritten", f"{path} holds no pipeline", _WRITTEN, (str(path), 0))
    return own[0]


def _model(file: Path, name: str, model: Mapping[str, Any]) -> Callable[..., Any]:
    parameters = model["parameters"]
    if not parameters.get("model_path"):
        hint = "say what with: annotate.output_tensors(..., export_with='pt2')"
        raise refused("not-rewritten", f"node {name!r} was not exported", hint, (str(file), 0))
    artefact = file.parent / parameters["model_path"]
    if not artefact.is_file():
        raise refused("not-rewritten", f"{artefact.name} of node {name!r} is missing", "compile the pipeline again", (str(file), 0))
    if digests(artefact)["sha256sum"] != parameters["sha256sum"]:
        raise refused("not-rewritten", f"{artefact.name} of node {name!r} is not the file that was written (its sha256 differs)",
                      "compile the pipeline again", (str(file), 0))  # fmt: skip
    return _LOADERS[parameters["backend"]](artefact)


def _jit(path: Path) -> Callable[..., Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch would rather have pt2; who exported to jit knows
        return torch.jit.load(str(path))  # type: ignore[no-any-return, no-untyped-call]


def _pt2(path: Path) -> Callable[..., Any]:
    return torch.export.load(str(path)).module()


def _onnx(path: Path) -> Callable[..., Any]:
    session = needed("onnxruntime", "onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]

    def call(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = session.run(None, {n: t.detach().numpy() for n, t in zip(names, tensors, strict=True)})
        return tuple(torch.from_numpy(numpy.array(v)) for v in found)

    return call


_LOADERS = {"jit": _jit, "pt2": _pt2, "onnx": _onnx}


def _initial(file: Path, description: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    name = description["pipeline"].get("initial_values")
    if not name:
        return {}
    path = file.with_name(name)
    if not path.is_file():
        raise refused("not-rewritten", f"{name} is missing", "compile the pipeline again", (str(file), 0))
    return needed("safetensors.torch", "safetensors").load_file(str(path))  # type: ignore[no-any-return]


__all__ = ["Pipeline", "PipelineError"]
