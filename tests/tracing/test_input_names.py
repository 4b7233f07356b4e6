"""Parameters of any names: no input of a graph is lost to another one whose name fx makes its own of."""

import copy
import pickle

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing.recording.inputnames import add_inputs
from torch import fx

NAMES = (
    ("A", "a"), ("a", "A"), ("X", "x", "x_1"), ("X", "x_1", "x"), ("x", "X", "x_1"), ("xY", "x_y"), ("x_y", "xY"), ("sum", "sum_1"),
    ("sum_1", "sum"), ("input", "Input", "input_1"), ("device", "device_"), ("device_", "device"),
    ("torch", "Torch"), ("inf", "Inf", "inf_"),
    ("\u03b1", "_"), ("\u03b1", "\u03b2", "_", "__"), ("\u03b1", "\u0391"),
    ("A", "a", "a_", "A_"), ("AB", "Ab", "aB", "ab", "a_b", "a_B"), ("mul", "Mul"),
)  # fmt: skip


def _function(body, names):
    space = {"np": np}
    exec(f"def node({', '.join(names)}):\n{body}", space)
    return space["node"]


def _arrays(names):
    return [np.random.default_rng(i).random(3) for i, _ in enumerate(names)]


def _bare(graph):
    """The graph alone: what torch pickles without the function, which is none of a module here."""
    made = copy.deepcopy(graph)
    return fx.GraphModule(made, made.graph)


def _check(fn, names):
    graph = np2fx.trace(fn, *_arrays(names))
    given, passed = _arrays(names), _arrays(names)
    want = fn(*given)
    assert np.array_equal(graph(*passed).numpy(), want)
    assert np.array_equal(np.array(passed), np.array(given))
    assert np.array_equal(graph.forward(*map(torch.from_numpy, _arrays(names))).numpy(), want)
    for other in (pickle.loads(pickle.dumps(_bare(graph))), copy.deepcopy(graph), fx.symbolic_trace(_bare(graph))):
        assert np.array_equal(other.forward(*map(torch.from_numpy, _arrays(names))).numpy(), want)
    named = graph(**dict(zip(names, _arrays(names), strict=True)))
    assert np.array_equal(named.numpy(), want)


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_a_sum_of_all(names):
    _check(_function("    return " + " + ".join(f"{i + 2} * {n}" for i, n in enumerate(names)), names), names)


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_a_branch(names):
    terms = [f"{i + 2} * {n}" for i, n in enumerate(names)]
    condition = f"    if {names[0]}[0] > {names[1]}[1]:\n"
    _check(_function(f"{condition}        return {' + '.join(terms)}\n    return {' - '.join(terms)}", names), names)


@pytest.mark.parametrize("names", NAMES[:8], ids=" ".join)
def test_a_write(names):
    _check(_function(f"    {names[0]}[0] = {names[1]}[1] * 7\n    return {names[0]} - {names[-1]}", names), names)


def test_one_that_only_tells_its_size():
    A, a = np.random.default_rng(0).random((5, 3)) + 0j, np.zeros((5, 4))
    graph = np2fx.trace(lambda A, a: np.fft.irfft2(A, s=a.shape), A, a)
    np.testing.assert_allclose(graph(A, a).numpy(), np.fft.irfft2(A, s=a.shape))


@pytest.mark.parametrize("names", [("x",), ("X", "y"), ("image", "input"), ("self", "x")], ids=" ".join)
def test_names_that_meet_no_other_are_those_of_fx(names):
    made = [n.name for n in add_inputs(fx.Graph(), names)]
    other = fx.Graph()
    assert made == [other.placeholder(n if n != "self" else "self_").name for n in names]
