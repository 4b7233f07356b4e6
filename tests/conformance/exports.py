"""Holds what is made of graphs against NumPy, on inputs of other sizes than those that were traced.

    python -m tests.conformance.exports [--target call,jit,...] [--only TEXT] [--every N] [--list wrong] [-j N]
    python -m tests.conformance.exports --update     # keep the counts in exports.json, and write docs/exports.md anew

Each variation that `np2fx.trace` takes is traced on its inputs, brought into the form of each target, and run on inputs of other sizes and
on its other inputs of the same sizes. What it gives must be what NumPy gives; an error is fine, another answer never is. The verdicts:

right    all answers were NumPy's, and there was one at another size
tied     the same, but for other sizes there were only errors: ours where NumPy has an answer
error    nothing but errors
absent   the target does not take the graph, and says so
wrong    an answer that NumPy does not give
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import functools
import io
import json
import logging
import multiprocessing
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import np2fx
import numpy as np
import torch
from np2fx.pipeline.export import export
from np2fx.tracing.surroundings.structure import rebuild
from torch import fx

from .cases import Case, arguments, load
from .comparing import difference, to_numpy, to_torch

PAGE = Path(__file__).parents[2] / "docs" / "exports.md"
COUNTS = Path(__file__).with_name("exports.json")
KINDS = ("right", "tied", "error", "absent", "wrong")


@dataclass(frozen=True)
class Verdict:
    """What became of a case at one target."""

    target: str
    id: str
    verdict: str
    why: str = ""


# The targets: what takes a graph and a sample of tensors, and gives a function of tensors


def _forward(graph: Any, sample: Any) -> Callable[..., Any]:
    return graph.forward


def _interpreter(graph: Any, sample: Any) -> Callable[..., Any]:
    return fx.Interpreter(graph).run


def _deepcopy(graph: Any, sample: Any) -> Callable[..., Any]:
    return copy.deepcopy(graph).forward


def _jit_trace(graph: Any, sample: Any) -> Callable[..., Any]:
    return torch.jit.trace(graph, sample, check_trace=False)


def _compiled(graph: Any, sample: Any) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(graph, dynamic=True, backend="aot_eager")


def _file(how: str) -> Callable[..., Callable[..., Any]]:
    def load(graph: Any, sample: Any) -> Callable[..., Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = export(graph, Path(folder) / f"graph.{how}", how, sample, sizes=None if how == "jit" else free_sizes(graph))
            if how == "jit":
                return torch.jit.load(str(path))
            if how == "pt2":
                return torch.export.load(str(path)).module()
            import onnxruntime

            session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        names = [x.name for x in session.get_inputs()]
        return lambda *xs: [torch.as_tensor(x) for x in session.run(None, {n: x.numpy() for n, x in zip(names, xs, strict=True)})]

    return load


def free_sizes(graph: Any) -> dict[str, str]:
    """Specs that name all the sizes that a graph leaves free: alike where they are the same in the sample, as torch wants them."""
    specs = {}
    names = [n.name for n in graph.graph.nodes if n.op == "placeholder"]
    for name, (dtype, sizes, _), (_, shape) in zip(names, graph.face.forms, graph.face.kinds, strict=True):
        dims = [str(n) if n >= 0 else f"n{shape[axis]}" if n == -1 else f"s{-n}" for axis, n in enumerate(sizes)]
        specs[name] = f"{str(dtype).removeprefix('torch.')}[{', '.join(dims)}]"
    return specs


TARGETS: dict[str, Callable[[Any, Any], Callable[..., Any]] | None] = {
    "call": None,
    ".forward": _forward,
    "fx.Interpreter": _interpreter,
    "copy.deepcopy": _deepcopy,
    "torch.jit.trace": _jit_trace,
    "jit": _file("jit"),
    "pt2": _file("pt2"),
    "onnx": _file("onnx"),
    "torch.compile": _compiled,
}


# Inputs of other sizes


def resized(value: Any, change: Callable[[int, int], int], seen: list[int]) -> Any:
    """`value` with its arrays in other shapes: `change(which dimension in a row, size)`."""
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "biufc":
        sizes = [change(seen[0] + axis, n) for axis, n in enumerate(value.shape)]
        seen[0] += value.ndim
        for axis, size in enumerate(sizes):
            value = _grown(value, axis, size)
        return value
    if isinstance(value, dict):
        return {k: resized(v, change, seen) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(resized(v, change, seen) for v in value)
    return value


def _grown(value: Any, axis: int, size: int) -> Any:
    """`value` with another size along an axis. What is new goes on from the last elements, so that what is sorted stays so."""
    if size <= value.shape[axis]:
        return value.take(range(size), axis)
    if not value.size:
        return np.zeros((*value.shape[:axis], size, *value.shape[axis + 1 :]), value.dtype)
    more = size - value.shape[axis]
    steps = np.arange(1, more + 1).reshape([-1 if i == axis else 1 for i in range(value.ndim)])
    last = value.take([-1], axis)
    new = last ^ (steps % 2 == 1) if value.dtype == bool else last + (steps * (0.37 if value.dtype.kind in "fc" else 1)).astype(value.dtype)
    return np.concatenate([value, new.astype(value.dtype)], axis)


CHANGES: tuple[Callable[[int, int], int], ...] = (
    lambda i, n: n + 1,
    lambda i, n: n + 1 if n > 1 else n,
    lambda i, n: n + 4 if i == 0 else n,
    lambda i, n: n + 3 if i == 1 else n,
    lambda i, n: max(n - 1, 1),
    lambda i, n: 1,
    lambda i, n: 0 if i == 0 else n,
)


def inputs(case: Case, module: Any) -> Iterator[Any]:
    """The arguments of the calls: the case's own, then those of other sizes."""
    for expression in case.input_sets():
        yield arguments(expression, module)
    for change in CHANGES:
        yield resized(arguments(case.inputs, module), change, [0])


def _shapes(value: Any) -> Any:
    if isinstance(value, dict):
        return [_shapes(v) for v in value.values()]
    return list(map(_shapes, value)) if isinstance(value, (list, tuple)) else np.shape(value)


def _answer(case: Case, args: Any) -> Any:
    """(result, arguments afterwards) of the function itself, or the exception that it raises."""
    args = copy.deepcopy(args)
    try:
        return case.module().node(*args), list(args)
    except Exception as error:
        return error


# Judging


def judge(targets: tuple[str, ...], case: Case) -> list[Verdict]:
    """What becomes of a case at each target; nothing where it is no graph."""
    logging.disable(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        module = case.module()
        sample = arguments(case.inputs, module)
        try:
            graph = np2fx.trace(module.node, *copy.deepcopy(sample))
        except Exception:
            return []
        if not graph.face.names:
            return []
        calls = [(args, _answer(case, args), _shapes(args) != _shapes(sample)) for args in inputs(case, module)]
        return [_judge(target, case.id, graph, sample, calls) for target in targets]


def _judge(target: str, name: str, graph: Any, sample: Any, calls: list[tuple[Any, Any, bool]]) -> Verdict:
    """`calls` are arguments, NumPy's answer, and whether their sizes are not the sample's."""
    try:
        run = _runner(target, graph, sample)
    except Exception as refused:
        return Verdict(target, name, "absent", _line(refused))
    answered, tied = collections.Counter[bool](), False
    for args, want, other in calls:
        given = to_torch(copy.deepcopy(args))
        try:
            got = run(given)
        except Exception:
            tied |= other and not isinstance(want, Exception)
            continue
        if isinstance(want, Exception):
            return Verdict(target, name, "wrong", f"{_shapes(args)}: an answer where NumPy raises {_line(want)}")
        wanted, gotten = (want[0], got) if target == "onnx" else (want, (got, list(given)))
        why = difference(wanted, to_numpy(gotten))
        if why is not None:
            return Verdict(target, name, "wrong", f"{_shapes(args)}: {why}")
        answered[other] += 1
    return Verdict(target, name, "right" if answered[True] else "tied" if tied and answered[False] else "error")


def _runner(target: str, graph: Any, sample: Any) -> Callable[[Any], Any]:
    """What runs the graph at a target on the arguments of a call, and gives what the function gives."""
    make = TARGETS[target]
    if make is None:
        return lambda args: graph(*args)
    face = graph.face
    function = make(graph, tuple(_tensors(face, to_torch(copy.deepcopy(sample)))))

    def run(args: Any) -> Any:
        result = function(*_tensors(face, args))
        if isinstance(result, list) and target == "onnx":
            return _in_form(graph, result)
        return result if face.outputs is None else rebuild(face.outputs, lambda i: result[i])

    return run


def _in_form(graph: Any, results: list[Any]) -> Any:
    """The outputs of an ONNX session, which are a flat list of tensors, in the form that the graph gives them."""
    if graph.face.outputs is not None:
        return rebuild(graph.face.outputs, results.__getitem__)
    output = next(n for n in graph.graph.nodes if n.op == "output").args[0]
    given = iter(results)
    return fx.node.map_arg(output, lambda _: next(given))


def _tensors(face: Any, args: Any) -> list[torch.Tensor]:
    leaves = face.bind(tuple(args), {})[0]
    return [x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for x in leaves]


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:200]


# Runs


def judge_all(targets: tuple[str, ...], cases: list[Case], processes: int) -> Iterator[Verdict]:
    """All verdicts; a case that ends its process is wrong."""
    pending = list(cases)
    while pending:
        done = 0
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _prepare) as pool:
            try:
                for verdicts in pool.map(judge, [targets] * len(pending), pending, chunksize=1):
                    done += 1
                    yield from verdicts
            except BrokenProcessPool:
                why = "it, or one that ran beside it, ends the process"
                yield from (Verdict(target, pending[done].id, "wrong", why) for target in targets)
                done += 1
        pending = pending[done:]


def _prepare() -> None:
    """Let a process run with one thread, and make once what torch's exporters make anew for each graph: half of their time."""
    torch.set_num_threads(1)
    with contextlib.suppress(ImportError, AttributeError):
        import torch._export.utils as operators
        from torch.onnx._internal.exporter._registration import ONNXRegistry

        operators._materialize_cpp_cia_ops = functools.cache(operators._materialize_cpp_cia_ops)
        ONNXRegistry.from_torchlib = staticmethod(functools.cache(ONNXRegistry.from_torchlib))  # type: ignore[assignment, method-assign]


Counts = dict[str, dict[str, int]]
"""How many graphs have each verdict, by target; and under "every" which part of the cases was tried: each Nth."""


def counted(verdicts: list[Verdict], every: int = 1) -> Counts:
    by_target = {target: collections.Counter(v.verdict for v in verdicts if v.target == target) for target in TARGETS}
    return {target: {**{k: c[k] for k in KINDS}, "every": every} for target, c in by_target.items() if c.total()}


def table(counts: Counts) -> str:
    """The counts as Markdown."""
    rows = []
    for target, c in counts.items():
        graphs = f"{sum(c[k] for k in KINDS):,}" + (f" (each {c['every']}th)" if c["every"] > 1 else "")
        rows.append(f"| {target} | {' | '.join(f'{c[k]:,}' for k in KINDS)} | {graphs} |")
    return "\n".join([f"| target | {' | '.join(KINDS)} | graphs |", f"| --- |{' ---: |' * (len(KINDS) + 1)}", *rows])


def page(counts: Counts) -> str:
    """The page of the documentation."""
    return f"{_HEAD}\n{table(counts)}\n\n{_LEGEND}"


_HEAD = """# What leaves Python

A graph demands what it holds for: the dtypes and sizes of its inputs, and whatever the function asserts or raises for values. These demands
are calls in the graph itself (`check_inputs`, `check`), so that they stay in what is made of it.

This page is written by `python -m tests.conformance.exports --update`: the graphs of all variations of NumPy calls, brought into the form
of each target, run on their own inputs and on inputs of other sizes (each larger by one, one of them alone, smaller, 1, and 0), and held
against NumPy's answer.
"""

_LEGEND = """- *right*: every answer was NumPy's, and there was one at another size than the sample's.
- *tied*: the answers were NumPy's; for other sizes there were only errors.
- *error*: nothing but errors, as NumPy itself has none but errors, or the target has.
- *absent*: the target does not take the graph, and says so (see [the guide](guide.md#trace-and-export)).
- *wrong*: an answer that NumPy does not give.

`call` is `graph(*arguments)`, `torch.compile` is `dynamic=True`; `jit`, `pt2` and `onnx` are files of `np2fx.export`, in pt2 and ONNX with
a name for every size that the graph leaves free.
"""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.exports", description="hold what is made of graphs against NumPy")
    parser.add_argument("--target", default=",".join(TARGETS), help="some of: %(default)s")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose id contains TEXT")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth case")
    parser.add_argument("--list", default="wrong", metavar="VERDICTS", help="verdicts to list case by case (default: %(default)s)")
    parser.add_argument("--update", action="store_true", help="keep the counts of these targets, and write docs/exports.md anew")
    parser.add_argument("-j", "--processes", type=int, default=2)
    options = parser.parse_args(argv)
    if options.update and options.only:
        parser.error("--update needs a run over all cases, or each Nth")
    cases = [c for c in variations() if options.only in c.id][:: options.every]
    verdicts = []
    for v in judge_all(tuple(options.target.split(",")), cases, options.processes):
        verdicts.append(v)
        if v.verdict in options.list.split(","):
            print(f"{v.target:16}{v.verdict:8}{v.id:24} {v.why}", flush=True)
    counts = counted(verdicts, options.every)
    print(table(counts))
    if options.update:
        known = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}
        kept = {target: {**known, **counts}[target] for target in TARGETS if target in {**known, **counts}}
        COUNTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(kept), encoding="utf-8")
    return int(any(v.verdict == "wrong" for v in verdicts))


def variations() -> list[Case]:
    """The variations of NumPy calls."""
    return [c for c in load() if not c.source]


if __name__ == "__main__":
    sys.exit(main())
