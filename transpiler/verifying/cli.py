"""`np2fx verify PATHS`: every node of the files, converted, traced and cross-checked."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..pipeline.spec import SpecError
from ..source.findings import make_finding
from ..source.nodes import Node
from . import verify
from .loading import LoadError, node_functions
from .report import Report
from .steps import undeclared

OK, NOT_OK, COULD_NOT_RUN = 0, 1, 2


def run(args: argparse.Namespace) -> int:
    """The command. Exit code 0: all nodes verified; 1: some are not ok; 2: the command could not run.

    args  paths, samples (an .npz file or None), max_examples, seed, output_format ("text" or "json"), node (a name or None)"""
    wanted = getattr(args, "node", None)
    reports: list[Report] = []
    try:
        samples = load_samples(getattr(args, "samples", None))
        for path, node, function in node_functions(args.paths, wanted):
            with _stdout_closed_to_libraries():
                report = verify_node(path, node, function, samples, getattr(args, "max_examples", None) or 50, getattr(args, "seed", 0))
            reports.append(report)
            if args.output_format != "json":
                print(report, flush=True)
    except LoadError as e:
        print(f"np2fx verify: {e}", file=sys.stderr)
        return COULD_NOT_RUN
    if args.output_format == "json":
        print(json.dumps([report.to_json() for report in reports], indent=2))
    if not reports:
        missing = make_finding("no-node", message=f"no node {wanted!r} was found" if wanted else "")
        print(f"np2fx verify: {missing}", file=sys.stderr)
        return COULD_NOT_RUN
    return OK if all(report.ok for report in reports) else NOT_OK


def verify_node(
    path: str, node: Node, function: Callable[..., Any] | None, samples: Mapping[str, Any], max_examples: int, seed: int
) -> Report:
    """The report of one node; its findings and place are those of the source file."""
    line = node.function.lineno if node.function is not None and node.how != "region" else node.span[0]
    if function is None:
        report = Report(node.name, path, line)
        what = "a region" if node.how == "region" else "a method" if node.in_class else "a function inside another"
        message = f"{node.name} is {what}: nothing says what to call it with; verify it as a function of its arrays"
        report.findings.append(undeclared(report, message))
        return report
    try:
        return verify(function, *samples_of(function, node.name, samples), max_examples=max_examples, seed=seed)
    except (SpecError, TypeError) as e:
        report = Report(node.name, path, line)
        report.findings.append(undeclared(report, str(e)))
        return report


@contextlib.contextmanager
def _stdout_closed_to_libraries() -> Iterator[None]:
    """LAPACK prints to the process's stdout when it is given nan, past Python's: it must not get between our lines, or into JSON."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def load_samples(path: str | None) -> dict[str, Any]:
    """The arrays of an .npz file by key; 0-d ones as NumPy scalars. Raises LoadError."""
    if path is None:
        return {}
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key][()] for key in file.files}
    except (OSError, ValueError, AttributeError, TypeError) as e:
        raise LoadError(f"{path} is not an .npz file of samples: {e}") from None


def samples_of(function: Callable[..., Any], name: str, samples: Mapping[str, Any]) -> list[Any]:
    """A node's samples, in the order of its parameters: from the keys "node.parameter" or "parameter".

    Empty where not every parameter without a default has one: specs must say the rest."""
    found: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        keys = [f"{name}.{parameter.name}", f"{name}/{parameter.name}", parameter.name]
        key = next((key for key in keys if key in samples), None)
        if key is None:
            return found if parameter.default is not parameter.empty else []
        found.append(samples[key])
    return found
