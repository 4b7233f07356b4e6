"""What a program catches: NumPy's error, class and text, where the rules raise it; and errors that nothing catches, by their class."""

from __future__ import annotations

import linecache

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

from .modules import module

FAILING = [
    "x.reshape(7, 7)", "x.reshape(-1, 3)", "np.reshape(x, (2, -1, -1))", "x + np.ones(3)", "np.concatenate([x, np.ones((2, 2))])",
    "np.stack([x, np.ones(2)])", "np.vstack([x, x[:2]])", "x[9]", "x[0, 0]", "x @ np.ones(3)", "np.eye(2) @ x", "np.dot(x, np.ones(3))",
    "np.sum(x, axis=3)", "np.expand_dims(x, 5)", "np.transpose(x, (0, 1))", "np.broadcast_to(x, (3, 3))", "np.squeeze(x, axis=0)",
    "np.linalg.inv(np.zeros((2, 2)))", "np.linalg.solve(np.eye(3), x)", "np.max(np.zeros(0))", "np.split(x, 3)", "np.swapaxes(x, 0, 1)",
    "np.take(x, 9)", "np.where(x > 1, x, np.ones(3))", "np.clip(x, np.ones(3), 4)", "np.einsum('i,j->k', x, x)", "x['a']", "x[1.5]",
    "x[np.array([True, False])]", "np.add.reduce(x, axis=2)", "np.matmul(x, np.ones((3, 2)))", "np.array([[1, 2], [3]])",
    "x.__setitem__(slice(2), np.ones(3))", "np.cumsum(x, axis=1)", "int(x)", "np.unravel_index(9, (2, 2))",
]  # fmt: skip
WRITING = ["x[:2] = np.ones(3)", "x += np.ones(3)", "x += 1j", "x[x > 0] = np.ones(2)", "x['a'] = 1", "x[[0, 9]] = 1", "x.shape = (3, 3)",
           "del x[0]"]  # fmt: skip
CAUGHT = """import contextlib
import numpy as np


def f(x):
    x = np.asarray(x)
    try:
        {}
    except Exception as e:
        return type(e).__name__, str(e), [str(a) for a in e.args], np.sum(x)
"""
UNCAUGHT = "import numpy as np\n\n\ndef f(x, k=None):\n    y = np.sum(x)\n    {}\n    return y\n"
PASSED = """import contextlib
import numpy as np


def f(x):
    y = np.sum(x)
    with contextlib.suppress({1}):
        {0}
        y = y + 1
    return y


def g(x):
    for _ in range(2):
        try:
            y = np.sum(x)
            {0}
            y = y + 1
        finally:
            break
    return y
"""


def forms(text, name):
    """The functions of a text: converted, rewritten, and rewritten with --exact."""
    number = len(linecache.cache)
    node = module(text, f"errors_{number}")
    yield getattr(node, name), lambda x: x.copy()
    yield np2fx.convert(getattr(node, name)), lambda x: torch.from_numpy(x.copy())
    for exact in (False, True):
        new, _ = rewrite_source(text, "m.py", all_functions=True, exact=exact)
        assert new != text
        yield getattr(module(new, f"errors_{number}_{exact}"), name), lambda x: x.copy()


def ends(text, name="f"):
    found = []
    for function, given in forms(text, name):
        try:
            ended = str(function(given(np.array([1.0, 4.0, 2.0, 3.0]))))
            found.append(ended.replace("tensor(10., dtype=torch.float64)", "np.float64(10.0)"))
        except np2fx.ConversionError:
            raise
        except Exception as error:
            kinds = (AttributeError, TypeError, np.exceptions.AxisError, IndexError, np.linalg.LinAlgError, ValueError)
            found.append(next(kind for kind in kinds if isinstance(error, kind)))
    return found


@pytest.mark.parametrize("line", [*FAILING, *WRITING])
def test_caught(line):
    want, *got = ends(CAUGHT.format(line))
    assert got == [want] * 3


@pytest.mark.parametrize("line", [*FAILING, *WRITING, "x.foo"])
def test_uncaught(line):
    want, *got = ends(UNCAUGHT.format(line))
    assert got == [want] * 3 and isinstance(want, type)


@pytest.mark.parametrize("name", ["f", "g"])
@pytest.mark.parametrize(("line", "kind"), [
    ("x = x.reshape(7, 7)", "ValueError"), ("x = np.where(x > 1, x, np.ones(3))", "(ValueError, KeyError)"),
    ("x = x[0, 0]", "IndexError"), ("x += 1j", "TypeError"), ("x = x['a']", "LookupError"),
])  # fmt: skip
def test_passed_over(name, line, kind):
    want, *got = ends(PASSED.format(line, kind), name)
    assert [want, *got] == ["10.0", "np.float64(10.0)", "10.0", "10.0"]
