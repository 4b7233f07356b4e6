"""Arguments that are drawn in one go: of the plan's kinds, with what code breaks at among them, and the same ones for a seed."""

import itertools

import np2fx
import numpy as np
import pytest
from np2fx.verifying.inputs.drawing import Drawing
from np2fx.verifying.inputs.plans import free_sizes, plan_of


def drawn(spec, count=300, seed=0, fixed=(), turning=()):
    plan = plan_of(lambda x, k: x, (), {"x": spec, "k": "float in [0, 1]"})
    made = Drawing(plan, free_sizes(plan), set(fixed), turning, seed)
    return list(itertools.islice(made, count))


@pytest.mark.parametrize(
    "spec", ["float32[n, 3]", "float64[5] in [-1, 1]", "int32[n]", "uint8[4] in [3, 9]", "bool[2, 2]", "complex64[n]", "float32[]"]
)
def test_kinds(spec):
    found = drawn(spec)
    name, _, bounds = spec.partition(" in ")
    for given in found:
        x = given["x"]
        assert x.dtype.name == name.partition("[")[0] and x.base is None and x.flags.c_contiguous
        assert 0 <= given["k"] <= 1
        if bounds:
            low, high = eval(bounds)
            assert ((low <= x) & (x <= high)).all()
    if "n" in name.partition("[")[2]:
        assert len({given["x"].shape for given in found}) == 6
    again = drawn(spec)
    assert all(np.array_equal(a["x"], b["x"], equal_nan=x.dtype.kind in "fc") for a, b in zip(found, again, strict=True))
    assert any(a["x"].tobytes() != b["x"].tobytes() for a, b in zip(found, drawn(spec, seed=1), strict=True))


def test_what_code_breaks_at_is_among_them():
    found = np.concatenate([given["x"] for given in drawn("float32[6]", turning=(0.25, 7.0))])
    edges = np.finfo(np.float32)
    for value in (0.25, 7.0, np.inf, -np.inf, edges.max, edges.min, edges.tiny, edges.smallest_subnormal):
        assert (found == np.float32(value)).any()
    assert np.isnan(found).any() and (np.signbit(found) & (found == 0)).any()
    assert not np.isfinite(found).all() and np.median(np.abs(found[np.isfinite(found)])) < 10


def test_sizes_that_stay():
    assert {given["x"].shape for given in drawn("float32[n, m]", fixed={"n", "m"})} == {(3, 2)}


def test_what_is_found_is_made_smaller():
    @np2fx.node(x="float64[n]")
    def node(x):
        return np.where(x > 2, x, 0)

    report = np2fx.verify(node, ways=("trace",), max_examples=200)
    assert report.ok and report.checked["inputs"] == 200
    wrong = np2fx.trace(lambda x: np.where(x > 2, x, 0) + (x == 2), np.ones(3))
    found = np2fx.verifying.checking.check_form(node, wrong, np.ones(3), max_examples=500)
    assert not found.ok and (found.counterexample.arguments["x"] == 2).any()


def helper(x):
    return x * 2


def test_helpers_are_converted_once(monkeypatch):
    from np2fx.converting import function

    made = []
    prepare = function.Converted.prepare
    monkeypatch.setattr(function.Converted, "prepare", lambda self: made.append(self.function) or prepare(self))
    vars(helper).pop("__np2fx_twin__", None)
    report = np2fx.verify(lambda x: [helper(y) for y in x], np.ones((2, 2)), ways=("convert",), max_examples=10)
    assert report.ok and made.count(helper) <= 1
