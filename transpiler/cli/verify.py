"""np2fx verify PATHS: the original, its rewritten form and its graph, on generated inputs."""

from __future__ import annotations

import argparse

from . import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    parser.add_argument("--samples", metavar="FILE.npz|DIR", help="real inputs, by name; or a folder of record --samples")
    parser.add_argument("--max-examples", type=_positive, default=50, metavar="N", help="inputs to generate for each node (default: 50)")
    parser.add_argument("--node", metavar="NAME", help="only this node")
    parser.add_argument("--original", metavar="REV|PATH", help="hold rewritten nodes against what they were: git:HEAD~1, a file, a folder")
    parser.add_argument("--seed", type=int, default=0, help="of the generated inputs (default: 0)")
    parser.add_argument("-j", "--jobs", type=_positive, metavar="N", help="processes at a time (default: by the number of nodes)")
    parser.add_argument("--timeout", type=_limit, metavar="SECONDS", help="for a node, 0 is no limit (default: verify-timeout, 300)")
    parser.add_argument("--memory", type=_limit, metavar="MB", help="that a node may take, 0 is no limit (default: verify-memory, 4096)")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    from ..verifying import cli

    return cli.run(args)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _limit(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number
