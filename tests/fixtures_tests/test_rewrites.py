"""Node functions before and after: `fixtures/rewrites/NAME.in.py` becomes exactly `NAME.out.py`, and computes the same."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import np2fx
import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "fixtures" / "rewrites"
NAMES = sorted(path.name.removesuffix(".in.py") for path in FOLDER.glob("*.in.py"))


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.name.replace(".", "_").removesuffix("_py"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def marked(module):
    return {name: value for name, value in vars(module).items() if hasattr(value, "__np2fx_spec__")}


@pytest.mark.parametrize("name", NAMES)
def test_before_becomes_after(name):
    before, after = FOLDER / f"{name}.in.py", FOLDER / f"{name}.out.py"
    new, _ = np2fx.rewrite_source(before.read_text(encoding="utf-8"), str(before))
    assert new == after.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_after_stays_as_it_is(name):
    path = FOLDER / f"{name}.out.py"
    text = path.read_text(encoding="utf-8")
    assert np2fx.rewrite_source(text, str(path))[0] == text


@pytest.mark.parametrize("name", NAMES)
def test_both_compute_the_same(name):
    before, after = load(FOLDER / f"{name}.in.py"), load(FOLDER / f"{name}.out.py")
    assert marked(before), "no node in it"
    for node, original in marked(before).items():
        for seed in range(3):
            given, taken = arrays(original, seed), arrays(original, seed)
            same(original(*given), getattr(after, node)(*taken))
            same(given, taken)  # what became of the arguments


def arrays(node, seed):
    """Arguments as the node's specs say: sizes that have names are 3."""
    rng = np.random.default_rng(seed)
    made = []
    for spec in node.__np2fx_spec__.values():
        shape = tuple(3 if isinstance(d, str) else d for d in spec.dims)
        kind = np.dtype(spec.dtype).kind
        values = rng.normal(0, 1, shape) if kind in "fc" else rng.integers(0, 2 if kind == "b" else 9, shape)
        made.append(np.asarray(values).astype(spec.dtype))
    return made


def same(want, got):
    if isinstance(want, (tuple, list)):
        assert len(want) == len(got)
        for a, b in zip(want, got, strict=True):
            same(a, b)
        return
    if isinstance(want, dict):
        assert want.keys() == got.keys()
        for key in want:
            same(want[key], got[key])
        return
    a, b = np.asarray(want), np.asarray(got)
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5)
