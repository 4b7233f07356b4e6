"""The ONNX form of a graph. ONNX has no assertions: each becomes a node that fails, through which every output goes.

An assertion is a Split whose parts must add up to what there is to split: they do where the condition holds. What it gives is the shape
to which the outputs are reshaped (a 0 in it keeps a size), so that no optimiser can leave it out. Its name is the message.
"""

from __future__ import annotations

import copy
import logging
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import fx

from ..tracing.recording.guards import check
from .onnx_forms import program_for_onnx, translations

Axis = tuple[str, int]
"""An input's name and one of its axes."""

Relation = tuple[str, Axis, Axis | None]
"""A message, and two sizes that are the same; with None for the other a size that is at least 2."""


class NotInOnnx(Exception):
    """What ONNX cannot hold; the text says what, where, and why."""


def write(module: torch.nn.Module, path: Path, inputs: tuple[torch.Tensor, ...], dynamic: Any,
          relations: list[Relation]) -> Callable[..., list[torch.Tensor]]:
    """Write the file, and return what runs it. Raises ImportError for a missing package and NotInOnnx for what the format cannot hold."""
    import onnx  # noqa: F401
    import onnxruntime
    import onnxscript  # noqa: F401

    logging.getLogger("torch.onnx._internal.exporter._registration").setLevel(logging.ERROR)  # it speaks of torchvision, which none needs
    flat, messages = _with_conditions(module)
    _put_numbers_last(flat)
    program = program_for_onnx(torch.export.export(flat, inputs, dynamic_shapes=dynamic))
    try:
        made = torch.onnx.export(program, dynamo=True, verbose=False, dynamic_shapes=dynamic, custom_translation_table=translations())
    except Exception as problem:
        raise NotInOnnx(_told(problem, program, flat)) from problem
    if made is None:
        raise NotInOnnx("torch.onnx.export gives no program")
    _tie(made.model, messages, relations)
    made.save(str(path), external_data=False)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        feeds = {name: tensor.numpy() for name, tensor in zip(names, tensors, strict=True)}
        return [torch.as_tensor(x) for x in session.run(None, feeds)]

    return run


# The graph with its conditions for further outputs


def _with_conditions(module: torch.nn.Module) -> tuple[torch.nn.Module, list[str]]:
    """The graph without assertions, what they demand as its last outputs; and their messages."""
    if not isinstance(module, fx.GraphModule):
        return module, []
    for name, part in module.named_modules():
        for node in part.graph.nodes if isinstance(part, fx.GraphModule) else ():
            if name and node.target in (torch._assert_async, check):
                raise NotInOnnx(f"an assertion within a branch or a loop ({node.args[1]}) cannot be said in it{_place(node)}")
            if not name and node.target is torch.ops.aten.copy_.default:
                raise NotInOnnx(f"the function writes into its argument {node.args[0]}, and a session's inputs are not written to"
                                f"{_place(node)}; return the new value instead")  # fmt: skip
    graph = copy.deepcopy(module.graph)
    _tell_of_singular(graph)
    checks = [n for n in graph.nodes if n.target in (torch._assert_async, check)]
    output = next(n for n in graph.nodes if n.op == "output")
    if checks:
        output.args = ((output.args[0], [n.args[0] for n in checks]),)
    for node in checks:
        graph.erase_node(node)
    return fx.GraphModule(module, graph), [str(n.args[1]) for n in checks]


_TELLING = {torch.linalg.inv: torch.linalg.inv_ex, torch.linalg.solve: torch.linalg.solve_ex}
"""What raises for singular matrices, and what says of which it would."""


def _tell_of_singular(graph: fx.Graph) -> None:
    """Let inverses and solutions be followed by an assertion, as they have no other way to fail."""
    for node in [n for n in graph.nodes if n.target in _TELLING]:
        with graph.inserting_after(node):
            both = graph.call_function(_TELLING[node.target], node.args, node.kwargs)
        with graph.inserting_after(both):
            made = graph.call_function(operator.getitem, (both, 0))
            info = graph.call_function(operator.getitem, (both, 1))
        with graph.inserting_after(info):
            is_regular = graph.call_function(torch.eq, (info, 0))
        with graph.inserting_after(is_regular):
            holds = graph.call_function(torch.all, (is_regular,))
        with graph.inserting_after(holds):
            graph.call_function(check, (holds, "Singular matrix"))
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def _put_numbers_last(module: torch.nn.Module) -> None:
    """`torch.mul(8.0, x)` as `torch.mul(x, 8.0)`: the exporter takes no number where it looks for the dtype."""
    for part in module.modules():
        if isinstance(part, fx.GraphModule):
            for node in part.graph.nodes:
                if node.target in (torch.mul, torch.add) and len(node.args) == 2 and not isinstance(node.args[0], fx.Node):
                    node.args = (node.args[1], node.args[0])
            part.recompile()


def _place(node: fx.Node) -> str:
    source = node.meta.get("source")
    return f" ({source[0]}:{source[1]})" if source and source[0] else ""


def _told(problem: BaseException, program: Any, module: torch.nn.Module) -> str:
    """What could not be translated: the function of NumPy's, the operation of torch's, and the line that it stands for."""
    causes = [problem]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    found = next((m for c in causes if (m := re.search(r"translating node %(\w+) ", str(c)))), None)
    why = str(causes[-1]).strip().splitlines()[0] if str(causes[-1]).strip() else type(causes[-1]).__name__
    if found is None:
        return why
    node = next((n for n in program.graph.nodes if n.name == found[1]), None)
    node = node or next((n for n in program.run_decompositions().graph.nodes if n.name == found[1]), None)
    if node is None:
        return why
    origin = node.meta.get("from_node") or []
    names = {part.name for part in _sources(origin)}
    mine = next((n for n in module.graph.nodes if n.name in names), None) if isinstance(module, fx.GraphModule) else None
    operation = str(node.target).removesuffix(".default")
    who = f"{mine.meta['numpy']} is {operation}" if mine is not None and mine.meta.get("numpy") else operation
    return f"{who}, which ONNX does not have{_place(mine) if mine is not None else ''}: {why}"


def _sources(parts: list[Any]) -> list[Any]:
    return [s for part in parts for s in (part, *_sources(getattr(part, "from_node", None) or []))]


# Assertions in the file


def _tie(model: Any, messages: list[str], relations: list[Relation]) -> None:
    """Let every output of an ONNX model go through its assertions, whose conditions are its last outputs."""
    writer = _Writer(model.graph)
    outputs = model.graph.outputs
    count = len(outputs) - len(messages)
    conditions = [*outputs[count:]]
    del outputs[count:]
    asked = list(zip(messages, conditions, strict=True))
    inputs = {x.name: x for x in model.graph.inputs}
    for message, one, other in relations:
        if any(name not in inputs for name, _ in filter(None, (one, other))):
            continue  # an input that nothing reads
        size = writer.size(inputs[one[0]], one[1])
        same = None if other is None else writer("Equal", size, writer.size(inputs[other[0]], other[1]))
        asked.append((message, same or writer("GreaterOrEqual", size, writer.numbers(2))))
    if not asked:
        return
    passed = writer.numbers(1)
    for message, holds in asked:
        parts = writer("Where", holds, writer.numbers(1), writer.numbers(2))
        passed = writer("Split", passed, parts, name=message, axis=0)
    nothing = writer("Sub", passed, writer.numbers(1))
    for i, x in enumerate(outputs):
        rank = len(x.shape)
        shape = writer("Expand", nothing, writer.numbers(rank)) if rank else writer("Slice", passed, writer.numbers(1), writer.numbers(1))
        made = writer("Reshape", x, shape)
        made.type, made.shape = x.type, x.shape
        made.name, x.name = x.name, f"{x.name}_before_assertions"
        outputs[i] = made


class _Writer:
    """Adds nodes to the end of an ONNX graph."""

    def __init__(self, graph: Any) -> None:
        import onnx_ir

        self.ir, self.graph, self.count = onnx_ir, graph, 0

    def __call__(self, operation: str, *inputs: Any, name: str = "", **attributes: int) -> Any:
        self.count += 1
        name = f"{name} ({self.count})" if name else f"assertion_{self.count}"  # a name stands once
        node = self.ir.node(operation, inputs=list(inputs), attributes=attributes or None, name=name)
        node.outputs[0].name = f"assertion_{self.count}"
        self.graph.append(node)
        return node.outputs[0]

    def numbers(self, *values: int) -> Any:
        """A constant vector of ints."""
        self.count += 1
        node = self.ir.node("Constant", inputs=[], attributes={"value_ints": list(values)}, name=f"assertion_{self.count}")
        node.outputs[0].name = f"assertion_{self.count}"
        self.graph.append(node)
        return node.outputs[0]

    def size(self, x: Any, axis: int) -> Any:
        """A size of an input, as a vector of one."""
        return self("Shape", x, start=axis, end=axis + 1)
