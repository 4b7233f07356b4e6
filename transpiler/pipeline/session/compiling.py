"""`compile_graph`: the noted nodes as graphs, held against what the nodes gave, written with their wiring."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import torch

from ...semantics.dtypes import to_numpy
from ...source.findings.finding import Finding, format_finding, make_finding
from ...tracing import TraceError, trace
from ...tracing.module import TracedModule
from ...tracing.recording.guards import FREE
from ..deployed.description import BACKENDS, describe, write, write_text
from ..deployed.picture import picture
from ..deployed.report import Told, report
from ..export import ExportError, export
from . import latest
from .errors import PipelineError, refused
from .running import Node, Session, copied
from .sources import values_of
from .wiring import wired

SUFFIXES = {"jit": "pt", "onnx": "onnx", "pt2": "pt2"}


def compile_graph(visualize: bool = True, verbose: bool | None = None, validate: bool = True, rtol: float = 1e-5, atol: float = 1e-6,
                  strict: bool = True, graph_configs: Any = None) -> dict[str, Any]:  # fmt: skip
    """Make graphs of the nodes of the session that was stopped, and write them, with a description of their wiring, to its folder.

    validate       hold each graph against what its node gave in every noted call, to `rtol` and `atol`
    strict         raise PipelineError where a node has no graph, or where a value came from node to node on a way that was not noted;
                   else the result says so
    visualize      write a picture (SVG) and a report (HTML: each node's text beside its graph, and how they agree) too
    graph_configs  a dict that is kept in the description, as `frequency` of the steps

    Returns, for each node, True, or the exception that says why there is no graph. `verbose` is taken for leapp's sake."""
    session = latest()
    if session is None or session.is_open:
        what = "is still under way" if session is not None else "was begun"
        raise refused("not-rewritten", f"no pipeline was stopped: one {what}" if session else "no pipeline was begun",
                      "call np2fx.stop() first" if session else "call np2fx.start() first")  # fmt: skip
    _check_ended(session)
    wiring = wired(session)
    if strict and wiring.findings:
        raise PipelineError(*wiring.findings)
    results: dict[str, Any] = {}
    files: dict[str, Path] = {}
    told: dict[str, Told] = {}
    session.folder.mkdir(parents=True, exist_ok=True)
    for node in sorted(session.nodes.values(), key=lambda n: n.order):
        told[node.name] = Told(node.place, node.text)
        try:
            file = _made(session, node, validate, rtol, atol, told[node.name])
            results[node.name] = True
            if file is not None:
                files[node.name] = file
        except (TraceError, ExportError, PipelineError) as error:
            results[node.name] = error
            told[node.name].problems = [format_finding(f) for f in _findings(node, error)]
    failed = {name: error for name, error in results.items() if error is not True}
    if strict and failed:
        raise PipelineError(*(f for name, error in failed.items() for f in _findings(session.nodes[name], error)))
    checked = {name: t.calls for name, t in told.items() if t.calls and not t.problems}
    description, values = describe(session, wiring, files, checked, graph_configs)
    write(session.folder / f"{session.name}.yaml", description, values)
    if visualize:
        write_text(session.folder / f"{session.name}.svg", picture(description))
        write_text(session.folder / f"{session.name}.html", report(session.name, description, told))
    return results


def _check_ended(session: Session) -> None:
    unfinished = [n for n in session.nodes.values() if n.order < 0]
    if unfinished:
        node = unfinished[0]
        raise refused("not-rewritten", f"node {node.name!r} has begun and never ended", "call annotate.output_tensors", node.place)
    if not session.nodes:
        raise refused("not-rewritten", "no node was called between start and stop", "mark nodes with annotate")


def _made(session: Session, node: Node, validate: bool, rtol: float, atol: float, told: Told) -> Path | None:
    """The file of a node's graph, where one is wanted. What there is to tell of it comes into `told`."""
    if session.dry_run or node.name in session.left_out:
        return None
    how = BACKENDS.get(node.export_with) if node.export_with is not None else None
    if node.export_with is not None and how is None:
        raise ExportError(f"node {node.name!r} is to be exported with {node.export_with!r}, which is not known: {', '.join(BACKENDS)}")
    function = node.traced
    with _told_at_home(node):
        graph = trace(function, *node.calls[0].arguments.values())
    told.graph = graph.plain().code.strip()
    for call in node.calls if validate else ():
        apart = _compare(node, call.outputs, graph(*copied(list(call.arguments.values()))), rtol, atol)
        told.calls, told.worst = told.calls + 1, max(told.worst, apart)
    if how is None:
        return None
    file = session.folder / f"{node.name}.{SUFFIXES[how]}"
    return export(graph, file, how=how, example=list(node.inputs.values()), sizes=varied(node, graph) or None)


def varied(node: Node, graph: TracedModule) -> dict[str, str]:
    """Specs of the inputs whose sizes were not the same in all noted calls, by the names of the graph's inputs: what varied is free, under
    one name where the graph demands that sizes are equal."""
    found: dict[str, str] = {}
    for name, arrays, (dtype, demanded, _) in zip(graph.face.names, zip(*(c.inputs.values() for c in node.calls), strict=True),
                                                  graph.face.forms, strict=True):  # fmt: skip
        shapes = [tuple(a.shape) for a in arrays]
        if len(set(shapes)) > 1:
            sizes = [str(n) if len(set(every)) == 1 else f"{name}_{axis}" if d >= FREE else f"n{-d}"
                     for axis, (n, d, every) in enumerate(zip(shapes[0], demanded, zip(*shapes, strict=True), strict=True))]  # fmt: skip
            found[name] = f"{to_numpy(dtype)}[{', '.join(sizes)}]"
    return found


@contextlib.contextmanager
def _told_at_home(node: Node) -> Iterator[None]:
    """Errors of a trace, at the places that the user knows."""
    try:
        yield
    except TraceError as error:
        raise PipelineError(*(_placed(node, f) for f in error.findings)) from error
    except Exception as error:  # the node's own, which it did not raise when it was called
        message = f"node {node.name!r} raises {type(error).__name__} where it is run by itself: {error}"
        raise refused("not-rewritten", message, "let it hang on nothing but its inputs", node.place) from error


def _placed(node: Node, finding: Finding) -> Finding:
    import dataclasses

    own = f"#{node.name}"
    return dataclasses.replace(finding, path=finding.path.removesuffix(own)) if finding.path.endswith(own) else finding


def _compare(node: Node, want: dict[str, Any], got: Any, rtol: float, atol: float) -> float:
    """The largest difference between what a node gave and what its graph gives. Raises PipelineError where it is too large."""
    worst = 0.0
    got = got if isinstance(got, (tuple, list)) else (got,)
    for (name, expected), found in zip(want.items(), got, strict=True):
        a, b = values_of(expected), values_of(found) if isinstance(found, torch.Tensor) else numpy.asarray(found)
        if a.dtype != b.dtype or a.shape != b.shape:
            what = f"{b.dtype} of the shape {b.shape} where the node gave {a.dtype} of the shape {a.shape}"
        elif not numpy.allclose(a, b, rtol, atol, equal_nan=True):
            what = _first(b, a, rtol, atol)
        else:
            worst = max(worst, _apart(a, b))
            continue
        raise refused("leaked-constant", f"output {name!r} of node {node.name!r} comes out of its graph as {what}",
                      "the node reads something that changes and is none of its inputs: pass it in, or make it state "
                      "(annotate.state_tensors)", node.place)  # fmt: skip
    return worst


def _apart(a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> float:
    if a.dtype.kind not in "fc":
        return 0.0
    finite = numpy.isfinite(a) & numpy.isfinite(b)
    return float(numpy.max(abs(a[finite] - b[finite]), initial=0.0))


def _first(got: Any, want: Any, rtol: float, atol: float) -> str:
    apart = ~numpy.isclose(want, got, rtol, atol, equal_nan=True)
    return f"{got[apart].flat[0]} where the node gave {want[apart].flat[0]}"


def _findings(node: Node, error: Any) -> list[Finding]:
    found = getattr(error, "findings", None)
    return found or [make_finding("not-rewritten", path=node.place[0], line=node.place[1], severity="error", message=str(error),
                                  hint="export it with another backend, or change the node")]  # fmt: skip
