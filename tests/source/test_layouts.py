"""`rewrite`: flat views are views, and copies copies, as NumPy's layouts of intermediate arrays have it."""

from __future__ import annotations

import itertools

import np2fx
import numpy as np
import pytest
import torch

from tests.adversary.test_kinds import MADE

FLAT = ["z.ravel()", "z.reshape(-1)", "np.ravel(z)", "np.reshape(z, (-1, 2))", "np.ascontiguousarray(z)", "z.T.ravel()"]
SIMPLE = ["np.asarray(x).T", "x.astype(np.float32)", "np.array(x.T)", "np.zeros((3, 4)).T", "-x.T", "x.T", "np.abs(x.T)", "x[::2].T",
          "np.zeros_like(x.T)", "x.T / 255.0", "np.exp(x).T"]  # fmt: skip
HEAD = "import numpy as np\nimport np2fx\n\n\n@np2fx.node(x='float64[a, b]')\ndef node(x):\n"


def run(path, text, x):
    path.write_text(text)
    names: dict = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)
    try:
        return names["node"](x)
    except ValueError as error:  # a shape that does not fit
        return [type(error)]


@pytest.mark.parametrize("made", [*MADE, *SIMPLE])
def test_writes_into_flat_arrays(made, tmp_path):
    for n, (flat, order) in enumerate(itertools.product(FLAT, "CF")):
        text = f"{HEAD}    z = {made}\n    y = {flat}\n    y[0] = 5\n    return z, y\n"
        new, findings = np2fx.rewrite_source(text)
        assert not [f for f in findings if f.severity == "error"] and new != text
        x = np.arange(12.0).reshape(3, 4).copy(order)
        want = run(tmp_path / f"before{n}.py", text, x.copy(order))
        got = run(tmp_path / f"after{n}.py", new, torch.from_numpy(x.copy(order)))
        for a, b in zip(want, got, strict=True):
            assert a is b or np.array_equal(a, np.asarray(b)), (f"{flat} of an array in {order} order", new)


@pytest.mark.parametrize("made", SIMPLE)
def test_the_text_stays_torch_where_both_lay_it_out_alike(made):
    new, _ = np2fx.rewrite_source(f"{HEAD}    z = {made}\n    y = z.reshape(-1)\n    y[0] = 5\n    return z, y\n")
    assert "mirrored" not in new


@pytest.mark.parametrize("body", [
    "z = np.cumsum(x.T, 0)\ny = z.ravel() * 2\ny[0] = 5\nreturn z, y",  # nothing keeps the flat array
    "z = np.cumsum(x.T, 0).ravel()\nz[0] = 5\nreturn z",  # nor what it was taken of
    "z = np.cumsum(x.T, 0)\nprint(z.shape)\ny = z.ravel()\ny[0] = 5\nreturn y",
    "z = np.cumsum(x.T, 0)\ny = np.max(z.ravel())\nz[0] = y\nreturn z",
])  # fmt: skip
def test_the_text_stays_torch_where_nobody_can_tell(body):
    new, _ = np2fx.rewrite_source(HEAD + "".join(f"    {line}\n" for line in body.split("\n")))
    assert "mirrored" not in new
