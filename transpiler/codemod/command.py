"""`python -m libcst.tool codemod -x np2fx.codemod.NumpyToTorch PATHS`: what `np2fx rewrite` does, as a command of libcst's tool.

Its `--no-format` keeps the formatting; without, libcst runs the formatter of its own configuration over the files."""

from __future__ import annotations

import argparse
import os

import libcst
from libcst.codemod import CodemodCommand, CodemodContext

from .rewrite import rewrite_source
from .texts import rewritten_texts


class NumpyToTorch(CodemodCommand):
    """Rewrites the NumPy nodes of a project to torch. Which functions are nodes, and more, stands in its `[tool.np2fx]`.

    together  the new texts of all files that the rewriting changes, by their real paths: a node is rewritten with the helpers that it
              calls, in whatever files those stand, so the whole project is read before libcst goes through the files one by one"""

    DESCRIPTION = "Rewrite the NumPy node functions of a project to torch, as np2fx rewrite does."

    def __init__(self, context: CodemodContext, together: dict[str, str] | None = None) -> None:
        super().__init__(context)
        self.together = together

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.add_argument("--together", metavar="PATH", type=_texts, default=".",
                                help="the folder whose files are rewritten together (default: this one)")  # fmt: skip

    def transform_module_impl(self, tree: libcst.Module) -> libcst.Module:
        name = self.context.filename
        new: str | None
        if name is None:  # a text from stdin
            new, _ = rewrite_source(tree.code)
        else:
            together = rewritten_texts([name]) if self.together is None else self.together
            new = together.get(os.path.realpath(name))
        return tree if new is None or new == tree.code else libcst.parse_module(new, tree.config_for_parsing)


def _texts(path: str) -> dict[str, str]:
    return rewritten_texts([path])
