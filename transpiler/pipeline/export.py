"""Writes a traced graph to a file that runs without np2fx: TorchScript, ONNX or a `torch.export` program.

A file demands what its graph demands (see `np2fx.tracing.recording.guards`). Whatever is written is loaded again and run on the example
inputs, and on inputs of other sizes where sizes are free; a file whose answer is not the graph's is not kept.
"""

from __future__ import annotations

import copy
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import fx

from ..tracing.freedom import resized, told
from ..tracing.recording.guards import FREE, check_inputs
from ..tracing.sizes.extents import Guard
from .onnx_file import Axis, NotInOnnx, Relation, write
from .spec import TensorSpec, read

FORMATS = ("jit", "onnx", "pt2")


class ExportError(RuntimeError):
    """A graph that could not be exported; the message says why and what to do."""


def export(module: torch.nn.Module, path: str | os.PathLike[str], how: str = "jit", example: Sequence[Any] = (),
           sizes: Mapping[str, Any] | None = None) -> Path:  # fmt: skip
    """Write `module` (a traced graph) to `path` and return the path.

    how      "jit" (TorchScript), "onnx" or "pt2" (torch.export)
    example  inputs the graph can be run on: arrays, NumPy scalars or tensors, as the traced function takes them
    sizes    specs of inputs, by name: `{"x": "float32[n, 3]"}`. A size that has a name there is free in the file, and has that name in
             ONNX and pt2. Without it, the specs of the function count (`@np2fx.node(x="float32[n, 3]")`) where the graph leaves a size free

    Raises ExportError where the format cannot hold the graph, where a package is missing, where `sizes` names one that is not free, and
    where the file that was written answers otherwise than the graph. Raises ValueError for an unknown format."""
    writer: Callable[..., Callable[..., Any]] | None = {"jit": _jit, "onnx": _onnx, "pt2": _pt2}.get(how)
    if writer is None:
        raise ValueError(f"export to {how!r} is not known; it is one of {', '.join(FORMATS)}")
    if not example:
        raise ExportError("an export needs example inputs: export(graph, path, how, example=(x, y))")
    target = Path(path)
    temporary = target.with_name(f".{target.name}.part{target.suffix}")
    inputs = tuple(map(_tensor, _arrays(module, example)))
    named = _named(module, inputs, sizes)
    sample = _of_two_at_least(inputs, named) if how != "jit" else inputs
    try:
        load = _written(writer, module, temporary, sample, named, how)
        if how != "jit" and not _holds_for_few(module, load, sample, named, how):
            named.least.update(named.names.values())
            load = _written(writer, module, temporary, sample, named, how)
        for other in (inputs, *_others(module, sample, named, how)):
            _check(module, load, other, how)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _written(writer: Any, module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...], named: Named, how: str) -> Any:
    """Write a file, load it again, and compare the two on the example."""
    try:
        load = writer(module, path, inputs, named)
    except ExportError:
        raise
    except Exception as e:
        raise ExportError(f"{how} cannot hold this graph: {_why(e)}") from e
    _check(module, load, inputs, how)
    return load


def _arrays(module: Any, example: Sequence[Any]) -> list[Any]:
    """The arrays of a call, as the graph takes them."""
    face: Any = getattr(module, "face", None)
    if face is None or (len(example) == len(face.names) and all(hasattr(x, "dtype") for x in example)):
        return list(example)
    try:
        return face.bind(tuple(example), {})[0]  # type: ignore[no-any-return]
    except TypeError as problem:
        raise ExportError(f"the example is no call of the function: {problem}") from None


# Sizes with names


@dataclass
class Named:
    """The free sizes of a file.

    names  their names, by the number of the input and the axis
    least  the names of those that are at least 2"""

    names: dict[tuple[int, int], str] = field(default_factory=dict)
    least: set[str] = field(default_factory=set)

    def dynamic(self, inputs: tuple[torch.Tensor, ...]) -> Any:
        """As `torch.export` takes them; None where there are none."""
        if not self.names:
            return None
        dims = {name: torch.export.Dim(name, min=2 if name in self.least else None) for name in self.names.values()}
        return tuple({axis: dims[self.names[i, axis]] for axis in range(x.ndim) if (i, axis) in self.names} for i, x in enumerate(inputs))


def _named(module: Any, inputs: tuple[torch.Tensor, ...], sizes: Mapping[str, Any] | None) -> Named:
    face: Any = getattr(module, "face", None)
    specs = dict(sizes or {}) or getattr(getattr(face, "function", None), "__np2fx_spec__", None) or {}
    names = _input_names(module)
    unknown = [name for name in specs if name not in names] if sizes else []
    if unknown:
        raise ExportError(f"the graph has no input {unknown[0]!r}; it has {', '.join(names)}")
    found = Named()
    for i, name in enumerate(names[: len(inputs)]):
        spec = read(specs[name]) if name in specs else None
        if not isinstance(spec, TensorSpec) or spec.rank is None:
            continue
        if spec.rank != inputs[i].ndim:
            raise ExportError(f"{name} is {spec} in the specs, and has {inputs[i].ndim} dimensions")
        for axis, size in enumerate(spec.dims):
            if not isinstance(size, str):
                continue
            demanded = face.forms[i][1][axis] if face is not None and face.forms else FREE
            if (i, axis) in _tied(face):
                demanded = inputs[i].shape[axis]  # no file can say what must hold there
            if demanded >= 0:
                if sizes:
                    raise ExportError(f"{name}.shape[{axis}] is not free: the graph holds for {told(face)}")
                continue
            found.names[i, axis] = size if size != "_" else f"{name}_{axis}"
            if demanded < FREE:
                found.least.add(found.names[i, axis])
    return found


def _tied(face: Any) -> set[tuple[int, int]]:
    """The sizes, by input and axis, between which a graph demands what no file can say."""
    return {place for relation in face.relations for place in Guard(*relation).inputs()} if face is not None else set()


def _input_names(module: Any) -> list[str]:
    graph = module.graph if isinstance(module, fx.GraphModule) else None
    return [n.name for n in graph.nodes if n.op == "placeholder"] if graph is not None else []


def _of_two_at_least(inputs: tuple[torch.Tensor, ...], named: Named) -> tuple[torch.Tensor, ...]:
    """The example with free sizes of 2 or more: torch takes a 0 or a 1 for a size that is not free."""
    shapes = [tuple(max(n, 2) if (i, axis) in named.names else n for axis, n in enumerate(x.shape)) for i, x in enumerate(inputs)]
    return tuple(resized(x, shape) for x, shape in zip(inputs, shapes, strict=True))


def _holds_for_few(module: Any, load: Any, inputs: tuple[torch.Tensor, ...], named: Named, how: str) -> bool:
    """Whether a file is right where its free sizes are 1 or 0 as well: torch takes it when it exports that none is, and the ONNX runtime's
    reductions of nothing are not torch's."""
    names = sorted({*named.names.values()} - named.least)
    for few, changed in [(1, names), *((0, [name]) for name in names)]:
        at = named.names.get
        shapes = [tuple(few if at((i, axis)) in changed else n for axis, n in enumerate(x.shape)) for i, x in enumerate(inputs)]
        try:
            _check(module, load, tuple(x[tuple(map(slice, shape))].clone() for x, shape in zip(inputs, shapes, strict=True)), how)
        except ExportError:
            return not names
    return True


def _others(module: Any, inputs: tuple[torch.Tensor, ...], named: Named, how: str) -> list[tuple[torch.Tensor, ...]]:
    """Inputs of other sizes, if there are free ones."""
    if how == "jit":
        face: Any = getattr(module, "face", None)
        forms = face.forms if face is not None else ()
        tied = _tied(face)  # a file has these as the example has them
        places = {(i, axis): size for i, (_, sizes, _) in enumerate(forms) for axis, size in enumerate(sizes)}
        free = {place: size for place, size in places.items() if size < 0 and place not in tied}
    else:
        free = dict.fromkeys(named.names, FREE)
    if not free or any(n < 2 for x in inputs for n in x.shape):
        return []
    made = []
    for more in (1, 2):
        shapes = [tuple(n + more if (i, axis) in free else n for axis, n in enumerate(x.shape)) for i, x in enumerate(inputs)]
        made.append(tuple(resized(x, shape) for x, shape in zip(inputs, shapes, strict=True)))
    return made


# The formats


def _jit(module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...], named: Named) -> Callable[..., Any]:
    """TorchScript by tracing the graph's own torch calls. Raises ExportError where one is a branch, which a trace would lose."""
    if any(n.target is torch.ops.higher_order.cond for m in module.modules() if isinstance(m, fx.GraphModule) for n in m.graph.nodes):
        raise ExportError("jit cannot hold this graph: a side of a branch runs alone (torch.cond), as it may fail. Export to pt2 or onnx")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch would rather have pt2; who asks for jit knows
        warnings.simplefilter("ignore", torch.jit.TracerWarning)  # sizes that are fixed are demanded
        scripted = torch.jit.trace(_Plain(module), _copies(inputs), check_trace=False)
        scripted.save(str(path))
        return torch.jit.load(str(path))


def _pt2(module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...], named: Named) -> Callable[..., Any]:
    program = torch.export.export(_demanding(_by_name(module), named), _copies(inputs), dynamic_shapes=named.dynamic(inputs))
    torch.export.save(program, str(path))
    return torch.export.load(str(path)).module()


def _onnx(module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...], named: Named) -> Callable[..., Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return write(module, path, _copies(inputs), named.dynamic(inputs), _relations(module, named))
    except ImportError as e:
        raise ExportError(f"ONNX export needs the package {e.name}: pip install onnx onnxscript onnxruntime") from e
    except NotInOnnx as e:
        raise ExportError(f"onnx cannot hold this graph: {e}") from e


def _relations(module: torch.nn.Module, named: Named) -> list[Relation]:
    """What a graph demands of sizes that an ONNX file leaves free."""
    names = _input_names(module)
    firsts: dict[str, Axis] = {}
    found: list[Relation] = []
    for (i, axis), name in named.names.items():
        place = names[i], axis
        first = firsts.setdefault(name, place)
        if first != place:
            found.append((f"{name} is one size", place, first))
        elif name in named.least:
            found.append((f"{name} is at least 2", place, None))
    face: Any = getattr(module, "face", None)
    for i, (_, sizes, _) in enumerate(face.forms if face is not None else ()):
        for axis, size in enumerate(sizes):
            first = firsts.setdefault(str(size), (names[i], axis))
            if size < FREE and first != (names[i], axis):
                found.append((f"the graph holds for {told(face)}", (names[i], axis), first))
    return found


def _by_name(module: torch.nn.Module) -> torch.nn.Module:
    """The graph as a module that takes what its inputs are named, and looks at nothing but tensors."""
    return fx.GraphModule(module, copy.deepcopy(module.graph)) if isinstance(module, fx.GraphModule) else module


def _demanding(module: torch.nn.Module, named: Named) -> torch.nn.Module:
    """The graph with the demand that the sizes are at least 2 that must be so in the file alone."""
    if not isinstance(module, fx.GraphModule):
        return module
    for node in [n for n in module.graph.nodes if n.target is check_inputs]:
        inputs, forms, *others = node.args
        lowest = min((n for _, sizes, _ in forms for n in sizes), default=FREE)
        numbers = {name: min(lowest, FREE) - 1 - i for i, name in enumerate(sorted(named.least))}
        made = []
        for i, (dtype, sizes, layout) in enumerate(forms):
            names = [named.names.get((i, axis)) for axis in range(len(sizes))]
            made.append((dtype, tuple(numbers[m] if n == FREE and m in numbers else n for n, m in zip(sizes, names, strict=True)), layout))
        node.args = (inputs, tuple(made), *others)
        module.recompile()
    return module


class _Plain(torch.nn.Module):
    """The graph without what a traced module adds to it (guards that look at a call's arguments): only its torch calls."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.graph_module = module

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.graph_module.forward(*inputs)


def _check(module: torch.nn.Module, load: Callable[..., Any], inputs: tuple[torch.Tensor, ...], how: str) -> None:
    """The file's answers are the graph's; where the graph raises, it raises."""
    import torch.utils._pytree as pytree

    raised, wanted = None, []
    try:
        wanted = pytree.tree_leaves(_Plain(module)(*_copies(inputs)))
    except Exception as e:
        raised = _first_line(e)
    try:
        with torch.no_grad():
            given = pytree.tree_leaves(load(*_copies(inputs)))
    except Exception as e:
        if raised is not None:
            return
        raise ExportError(f"the {how} file does not run as the graph does ({_shapes(inputs)}): {_first_line(e)}") from e
    if raised is not None:
        raise ExportError(f"the {how} file answers where the graph raises ({_shapes(inputs)}): {raised}")
    tensors = [(w, g) for w, g in zip(wanted, given, strict=False) if isinstance(w, torch.Tensor)]
    try:
        if len(wanted) != len(given):
            raise AssertionError(f"{len(given)} results for {len(wanted)}")
        for want, got in tensors:
            torch.testing.assert_close(got, want, equal_nan=True)
    except AssertionError as e:
        raise ExportError(f"the {how} file does not answer as the graph does: {_first_line(e)}") from e


def _why(e: Exception) -> str:
    """What was wrong, on one line; for sizes that torch cannot leave free, what it says that they are."""
    _, found, fixes = str(e).partition("Suggested fixes:")
    sizes = [line.strip() for line in fixes.strip().split("\n\n")[0].splitlines()]
    if not found or not sizes:
        tied = re.match(r"Constraints violated \((.*?)\)", str(e))
        return f"torch.export cannot leave {tied[1]} free; give it a number in the specs (sizes={{...}})" if tied else _first_line(e)
    way_out = "give these sizes numbers" if any("Dim(" in line for line in sizes) else "write these sizes so"
    return f"torch.export takes only {', '.join(sizes)}; {way_out} in the specs (sizes={{...}})"


def _shapes(inputs: tuple[torch.Tensor, ...]) -> str:
    return f"for inputs of the shapes {', '.join(str(tuple(x.shape)) for x in inputs)}"


def _tensor(x: Any) -> torch.Tensor:
    return x.detach().clone() if isinstance(x, torch.Tensor) else torch.as_tensor(x).clone()


def _copies(inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(x.clone() for x in inputs)


def _first_line(e: Exception) -> str:
    return (str(e).strip().splitlines() or [type(e).__name__])[0]
