"""What Python iterates and unpacks itself is what NumPy gives: elements are copies, rows are views, chained targets share the value."""

from __future__ import annotations

import importlib
from pathlib import Path

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

from . import unpacking

X = np.array([3.0, 1, 2, 5, 4, 0])
TEXT = Path(unpacking.__file__).read_text()


def plain(value):
    if isinstance(value, torch.Tensor):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return type(value)(map(plain, value)) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("node", unpacking.NODES, ids=lambda f: f.__name__)
def test_converted(node):
    assert plain(np2fx.convert(node)(torch.from_numpy(X.copy()))) == plain(node(X.copy()))


@pytest.mark.parametrize("exact", [False, True])
def test_rewritten(exact, tmp_path, monkeypatch):
    new, findings = rewrite_source(TEXT, "m.py", exact=exact)
    assert not [f for f in findings if f.severity == "error"]
    (tmp_path / f"unpacking_{exact}.py").write_text(new)
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module(f"unpacking_{exact}")
    for node in unpacking.NODES:
        assert plain(getattr(made, node.__name__)(X.copy())) == plain(node(X.copy())), node.__name__
