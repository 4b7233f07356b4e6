"""The scope resolver: Python's own scoping rules, exactly."""

from __future__ import annotations

import ast
import textwrap

import pytest
from np2fx.source.reading.names import Names


def qualified(source: str, expression: str) -> str | None:
    """What the last occurrence of an expression in the source stands for."""
    tree = ast.parse(textwrap.dedent(source))
    names = Names(tree)
    read = [n for n in ast.walk(tree) if isinstance(n, ast.expr) and not isinstance(getattr(n, "ctx", None), ast.Store)]
    found = [n for n in read if ast.unparse(n) == expression]
    return names.qualified(max(found, key=lambda n: (n.lineno, n.col_offset)))


RESOLVED = {
    "import-as": ("import numpy as anything\nanything.sin(1)", "anything.sin", "numpy.sin"),
    "plain-import": ("import numpy\nnumpy.linalg.norm(1)", "numpy.linalg.norm", "numpy.linalg.norm"),
    "dotted-import": ("import numpy.linalg\nnumpy.sin(1)", "numpy.sin", "numpy.sin"),
    "submodule-as": ("import numpy.linalg as la\nla.norm(1)", "la.norm", "numpy.linalg.norm"),
    "from-as": ("from numpy import clip as c\nc(1, 0, 1)", "c", "numpy.clip"),
    "from-submodule": ("from numpy import linalg\nlinalg.norm(1)", "linalg.norm", "numpy.linalg.norm"),
    "alias": ("import numpy as np\nxp = np\nxp.sin(1)", "xp.sin", "numpy.sin"),
    "alias-of-alias": ("import numpy as np\nxp = np\nyp = xp.linalg\nyp.norm(1)", "yp.norm", "numpy.linalg.norm"),
    "alias-in-function": ("import numpy as np\ndef f(x):\n    s = np.sin\n    return s(x)", "s", "numpy.sin"),
    "tuple-alias": ("import numpy as np\ns, c = np.sin, np.cos\nc(1)", "c", "numpy.cos"),
    "annotated-alias": ("import numpy as np\nxp: object = np\nxp.sin(1)", "xp.sin", "numpy.sin"),
    "import-in-function": ("def f(x):\n    import numpy as np\n    return np.sin(x)", "np.sin", "numpy.sin"),
    "star": ("from numpy import *\nsin(1)", "sin", "numpy.sin"),
    "star-shadows-builtin": ("from numpy import *\nsum(1)", "sum", "numpy.sum"),
    "star-leaves-others": ("from numpy import *\nlen(1)", "len", "builtins.len"),
    "builtin": ("len(1)", "len", "builtins.len"),
    "import-error-none": ("try:\n    import numpy as np\nexcept ImportError:\n    np = None\nnp.sin(1)", "np.sin", "numpy.sin"),
    "import-error-old-name": (
        "try:\n    from numpy import cumprod as p\nexcept ImportError:\n    from numpy import cumproduct as p\np(1)",
        "p",
        "numpy.cumprod",
    ),
    "same-import-twice": ("import numpy as np\ndef f(x):\n    return np.sin(x)\nimport numpy as np", "np.sin", "numpy.sin"),
    "relative": ("from . import np_helpers as np\nnp.sum(1)", "np.sum", ".np_helpers.sum"),
    "relative-parent": ("from ..core import sum\nsum(1)", "sum", "..core.sum"),
    "class-is-not-seen-from-methods": (
        "import numpy as np\nclass A:\n    np = 3\n    def f(self):\n        return np.sin(1)",
        "np.sin",
        "numpy.sin",
    ),
    "comprehension-variable-stays-inside": (
        "import numpy as np\ndef f():\n    [np for np in range(3)]\n    return np.sin(1)",
        "np.sin",
        "numpy.sin",
    ),
    "first-iterable-is-outside": ("import numpy as np\n[np for np in np.arange(3)]", "np.arange", "numpy.arange"),
    "other-function's-local": ("import numpy as np\ndef f():\n    np = 3\ndef g():\n    return np.sin(1)", "np.sin", "numpy.sin"),
    "default-is-evaluated-outside": ("import numpy as np\ndef f(np=np.sin(1)):\n    pass", "np.sin", "numpy.sin"),
    "global-import": ("def f():\n    global np\n    import numpy as np\ndef g():\n    return np.sin(1)", "np.sin", "numpy.sin"),
    "other-module": ("from scipy import ndimage\nndimage.zoom(1)", "ndimage.zoom", "scipy.ndimage.zoom"),
}


@pytest.mark.parametrize(("source", "expression", "expected"), RESOLVED.values(), ids=RESOLVED)
def test_resolved(source, expression, expected):
    assert qualified(source, expression) == expected


UNKNOWN = {
    "parameter": ("import numpy as np\ndef f(np):\n    return np.sin(1)", "np.sin"),
    "lambda-parameter": ("import numpy as np\nf = lambda np: np.sin(1)", "np.sin"),
    "star-parameter": ("import numpy as np\ndef f(*np):\n    return np.sin(1)", "np.sin"),
    "parameter-with-numpy-default": ("import numpy as np\ndef f(x, xp=np):\n    return xp.sin(x)", "xp.sin"),
    "rebound-later": ("import numpy as np\ndef f(x):\n    return np.sin(x)\nnp = 3", "np.sin"),
    "local-before-assignment": ("import numpy as np\ndef f(x):\n    y = np.sin(x)\n    np = 3\n    return y", "np.sin"),
    "loop-variable": ("import numpy as np\nfor np in range(3):\n    np.sin(1)", "np.sin"),
    "with-target": ("import numpy as np\nwith open('f') as np:\n    np.sin(1)", "np.sin"),
    "except-target": ("import numpy as np\ntry:\n    pass\nexcept ValueError as np:\n    np.sin(1)", "np.sin"),
    "walrus": ("import numpy as np\ndef f(x):\n    (np := 3)\n    return np.sin(x)", "np.sin"),
    "walrus-in-comprehension": ("import numpy as np\ndef f(x):\n    [(np := i) for i in x]\n    return np.sin(x)", "np.sin"),
    "comprehension-variable": ("import numpy as np\n[np.sin(1) for np in range(3)]", "np.sin"),
    "match-capture": ("import numpy as np\ndef f(x):\n    match x:\n        case np:\n            return np.sin(x)", "np.sin"),
    "global-rebinding": ("import numpy as np\ndef g():\n    global np\n    np = 3\ndef f():\n    return np.sin(1)", "np.sin"),
    "nonlocal-rebinding": (
        "def f():\n    def g():\n        nonlocal np\n        np = 3\n    import numpy as np\n    return np.sin(1)",
        "np.sin",
    ),
    "augmented": ("import numpy as np\nnp += 1\nnp.sin(1)", "np.sin"),
    "deleted": ("import numpy as np\ndel np\nnp.sin(1)", "np.sin"),
    "two-modules": ("try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np\nnp.sin(1)", "np.sin"),
    "def-in-other-branch": ("import numpy as np\nif np:\n    s = np.sin\nelse:\n    def s(x): return x\ns(1)", "s"),
    "conditional-expression": ("import numpy as np\ns = np.sin if np else np.cos\ns(1)", "s"),
    "patched-function": ("import numpy as np\nnp.sin = abs\nnp.sin(1)", "np.sin"),
    "call-result": ("import numpy as np\nnp.array(1).reshape(2)", "np.array(1).reshape"),
    "subscript": ("import numpy as np\nnp.zeros(3)[0].sum()", "np.zeros(3)[0].sum"),
    "star-of-two-modules": ("from numpy import *\nfrom mylib import *\nsin(1)", "sin"),
    "own-function": ("from numpy import *\ndef sin(x):\n    return x\nsin(1)", "sin"),
    "self-alias": ("np = np\nnp.sin(1)", "np.sin"),
    "attribute-of-object": ("import numpy as np\nclass A:\n    xp = np\n    def f(self):\n        return self.xp.sin(1)", "self.xp.sin"),
}


@pytest.mark.parametrize(("source", "expression"), UNKNOWN.values(), ids=UNKNOWN)
def test_not_known(source, expression):
    assert qualified(source, expression) is None


def test_definition_and_locality():
    tree = ast.parse("def g(x):\n    return x\ndef f(y):\n    z = g(y)\n    return z\nSTATE = []\n")
    names = Names(tree)
    by_name = {n.id: n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert names.definition(by_name["g"]) is tree.body[0]
    assert names.is_local(by_name["y"]) and not names.is_local(by_name["g"])
    assert names.definition(by_name["z"]) is None


def test_nodes_of_another_tree_are_not_known():
    names = Names(ast.parse("import numpy as np\n"))
    assert names.qualified(ast.parse("np.sin").body[0].value) is None
