"""What writes into arrays: in rewritten code a write must be seen through every view, however it is spelled."""

from __future__ import annotations

import ast
import importlib.util

import numpy as np
import pytest
from np2fx.codemod.rewrite import rewrite_source
from np2fx.source.flow.writing import by_keyword, writes
from np2fx.source.reading.table import load_table

WRITES = [
    "setattr(x, 'flat', 7)",
    "setattr(x, 'real', 7)",
    "x.__setattr__('flat', 7)",
    "getattr(x, 'fill')(3)",
    "getattr(x, 'sort')()",
    "m = getattr(x, 'fill')\n    m(3)",
    "k = 'fill'\n    getattr(x, k)(3)",
    "[*map(getattr(x, 'fill'), [3])]",
    "x.__getattribute__('fill')(3)",
    "list(map(eights, [x]))",
    "sorted([x], key=eights)",
]
DIRECT = """\
import np2fx
import numpy as np


def eights(v):
    v[:] = 8
    return 1


@np2fx.node(x="float32[3]")
def node(x):
    y = x[::-1]
    {write}
    return y * 1
"""
THROUGH = """\
import np2fx
import numpy as np


def eights(v):
    v[:] = 8
    return 1


def helper(x):
    {write}


@np2fx.node(x="float32[3]")
def node(x):
    y = x[::-1]
    helper(x)
    return y * 1
"""


def answers(text, tmp_path):
    """What `node` returns, and what it leaves in its argument."""
    path = tmp_path / "module.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("module_that_writes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = np.array([3, 1, 2], np.float32)
    return module.node(x).tolist(), x.tolist()


@pytest.mark.parametrize("template", [DIRECT, THROUGH], ids=["node", "helper"])
@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_seen_through_a_reversed_view(write, template, tmp_path):
    text = template.format(write=write)
    new, findings = rewrite_source(text, str(tmp_path / "module.py"))
    assert new != text or findings
    assert answers(new, tmp_path) == answers(text, tmp_path)


@pytest.mark.parametrize(("name", "call", "found"), [
    ("numpy.sort", "f(x)", False),
    ("numpy.ndarray.sort", "x.sort()", True),
    ("numpy.copyto", "f(x, 1)", True),
    ("numpy.ndarray.itemset", "x.itemset(0, 1)", True),
    ("numpy.resize", "f(x, 3)", False),
    ("numpy.clip", "f(x, 0, 1)", False),
    ("numpy.clip", "f(x, 0, 1, x)", True),
    ("numpy.clip", "f(x, 0, 1, out=x)", True),
    ("numpy.add.reduce", "f(x, 0, None, x)", True),
    ("numpy.add.at", "f(x, [0], 1)", True),
    ("builtins.setattr", "setattr(x, 'flat', 1)", True),
    ("builtins.delattr", "delattr(x, 'shape')", True),
    ("builtins.getattr", "getattr(x, 'fill')", True),
    ("builtins.getattr", "getattr(x, 'mean')", False),
    ("builtins.getattr", "getattr(x, name)", True),
    ("builtins.getattr", "getattr(x, 'mean', None)", False),
])  # fmt: skip
def test_writes(name, call, found):
    assert writes(name, ast.parse(call, mode="eval").body, load_table()) is found


@pytest.mark.parametrize(("call", "found"), [
    ("f(x, out=y)", True),
    ("f(x, copy=True)", False),
    ("f(x, copy=False)", True),
    ("f(x, copy=None)", True),
    ("f(x, copy=c)", True),
    ("f(x, dtype=int)", False),
])  # fmt: skip
def test_by_keyword(call, found):
    assert by_keyword(ast.parse(call, mode="eval").body) is found
