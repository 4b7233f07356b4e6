"""What a graph is specialised on stands in the graph: whatever is made of it answers as NumPy does, or raises."""

from __future__ import annotations

import copy
import pickle
import warnings

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing.recording.guards import check_inputs
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

LINE, OTHER = np.array([1.0, -2.0, 4.0, 3.0, 7.5]), np.arange(8.0)
GRID, WIDE = np.arange(15.0).reshape(5, 3), np.arange(32.0).reshape(8, 4)


def by_rows(x):
    total = 0.0
    for row in x:
        total = total + row * 2
    return total


def filled(x):
    out = np.zeros(x.shape)
    out[1:] = x[1:]
    return out


def checked(x, y):
    if x.shape != y.shape:
        return x.sum() * np.ones(2)
    return x + y


def looped(x):
    n = len(x)
    while np.abs(x).max() > n:
        x = x / 2
    return x


SIZED = [
    (lambda x: x.sum(0) / len(x), LINE, OTHER),
    (lambda x: x.sum() / x.size, GRID, WIDE),
    (lambda x: x[: len(x) // 2], LINE, OTHER),
    (lambda x: x * 2 if len(x) > 6 else x * 3, LINE, OTHER),
    (lambda x: x * 2 if np.size(x) > 6 else x * 3, LINE, OTHER),
    (lambda x: np.percentile(x, 30), LINE, OTHER),
    (lambda x: np.median(x, axis=0), GRID, WIDE),
    (lambda x: np.pad(x, 2, mode="edge"), LINE, OTHER),
    (lambda x: x[np.shape(x)[0] // 2], GRID, WIDE),
    (lambda x: sum(np.unstack(x)), GRID, WIDE),
    (lambda x: sum(x), LINE, OTHER),
    (np.concatenate, GRID, WIDE),
    (lambda x: sum(torch.from_numpy(x)), GRID, WIDE),
    (lambda x: sum(torch.from_numpy(x).unbind()), GRID, WIDE),
    (lambda x: len(torch.from_numpy(x).split(2)) * torch.from_numpy(x), GRID, WIDE),
    (lambda x: x * len(x.tolist()), LINE, OTHER),
    (lambda x: np.squeeze(x[:, :1]).sum(), GRID, WIDE),
    (lambda x: torch.from_numpy(x).sum() / torch.from_numpy(x).shape[0], LINE, OTHER),
    (lambda x: torch.from_numpy(x).sum() / torch.from_numpy(x).numel(), LINE, OTHER),
    (by_rows, GRID, WIDE),
    (filled, GRID, WIDE),
    (looped, LINE, OTHER),
]


def _jit(graph, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(graph, x, check_trace=False)


def _pt2(graph, x):
    return torch.export.export(graph, x).module()


MADE = {
    "forward": lambda graph, x: graph.forward,
    "interpreter": lambda graph, x: fx.Interpreter(graph).run,
    "deepcopy": lambda graph, x: copy.deepcopy(graph).forward,
    "jit": _jit,
    "pt2": _pt2,
    "make_fx": lambda graph, x: make_fx(graph)(*x),
    "make_fx, symbolic": lambda graph, x: make_fx(graph, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*x),
}


def answers(function, made, *args):
    """What `made` gives for tensors is what the function gives for arrays, or it raises. Returns whether it answers."""
    try:
        got = made(*(torch.from_numpy(np.array(x)) for x in args))
    except Exception:
        return False
    want = function(*map(np.array, args))
    np.testing.assert_allclose(np.asarray(got), np.asarray(want))
    return True


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize(("function", "sample", "other"), SIZED)
def test_sizes(function, sample, other, kind):
    graph = np2fx.trace(function, sample)
    try:
        made = MADE[kind](graph, (torch.from_numpy(sample),))
    except Exception:
        assert function is looped  # no kernel for a loop in TorchScript, and none for sizes without numbers
        return
    assert answers(function, made, sample)
    for x in (other, other[:1], other[:0], other[:2], other.astype(np.float32)):
        answers(function, made, x)


@pytest.mark.parametrize("other", [OTHER, OTHER.reshape(2, 4), OTHER.astype(np.float32), OTHER.astype(int)])
def test_the_compiled_graph(other):
    def function(x):
        return x.sum(0) / len(x)

    torch._dynamo.reset()
    made = torch.compile(np2fx.trace(function, LINE), dynamic=True, backend="aot_eager")
    assert answers(function, made, LINE)
    answers(function, made, other)


def test_a_pickled_graph_keeps_its_demands():
    made = pickle.loads(pickle.dumps(np2fx.trace(module_level, LINE)))
    assert answers(module_level, made, LINE)
    assert answers(module_level, made, OTHER)
    assert not answers(module_level, made, OTHER.astype(np.float32))
    assert not answers(module_level, made, np.array([101.0, 1, 2, 3, 4]))
    tied = pickle.loads(pickle.dumps(np2fx.trace(by_rows, GRID)))
    assert not answers(by_rows, tied, WIDE)


def module_level(x):
    if x[0] > 100:
        raise ValueError("too far")
    return x / len(x)


@pytest.mark.parametrize(("function", "sample", "others"), [
    (np.sin, (LINE,), [(OTHER,), (GRID[:1, 0],), (OTHER[:0],)]),
    (lambda x: x.mean(axis=0), (GRID,), [(WIDE,), (WIDE[:1],)]),
    (lambda a, b: a @ b, (GRID, GRID.T.copy()), [(WIDE, WIDE.T), (WIDE, WIDE[:, :2].T[:, :4].T)]),
    (lambda a, b: np.concatenate([a, b]) * 2, (LINE, OTHER), [(OTHER, LINE), (OTHER, OTHER)]),
    (lambda x: np.sort(x)[::-1], (LINE,), [(OTHER,)]),
    (lambda x: np.linalg.inv(x), (np.eye(3) + 1,), [(np.eye(5) + 2,)]),
])  # fmt: skip
def test_what_the_code_leaves_free_is_free(function, sample, others):
    graph = np2fx.trace(function, *sample)
    for made in (graph.forward, _jit(graph, tuple(map(torch.from_numpy, sample))), copy.deepcopy(graph).forward):
        assert answers(function, made, *others[0])
        for other in others[1:]:
            answers(function, made, *other)


def test_sizes_that_were_the_same_are_the_same():
    graph = np2fx.trace(checked, LINE, LINE + 1)
    assert answers(checked, graph.forward, LINE, LINE)
    for other in ((LINE, OTHER), (OTHER, LINE[:1]), (LINE[:1], LINE[:1]), (GRID[0], GRID[0])):
        answers(checked, graph.forward, *other)
    assert not answers(checked, graph.forward, LINE, LINE[:1])


@pytest.mark.parametrize("kind", ["forward", "interpreter", "jit", "pt2", "make_fx"])
@pytest.mark.parametrize(("function", "bad"), [
    (module_level, [np.nextafter(100, 101), 1, 2, 3, 4]),
    (lambda x: int(x[0]) * x, [np.nan, 1, 2, 3, 4]),
    (lambda x: x * (1.0 / float(x[1])), [1.0, 0, 2, 3, 4]),
    (lambda x: x[int(x[0])], [9.0, 0, 2, 3, 4]),
])  # fmt: skip
def test_values(function, bad, kind):
    graph = np2fx.trace(function, LINE)
    made = MADE[kind](graph, (torch.from_numpy(LINE),))
    assert answers(function, made, LINE)
    with pytest.raises(Exception):  # noqa: B017 - TorchScript's errors are of a class of their own
        made(torch.tensor(bad, dtype=torch.float64))


def test_which_inputs_are_one():
    def same(x, y):
        return x * 2 if x is y else x + y

    one, two = np2fx.trace(same, LINE, LINE), np2fx.trace(same, LINE, LINE + 1)
    x, y = torch.from_numpy(LINE), torch.from_numpy(LINE + 1)
    for graph in (one, two, copy.deepcopy(two)):
        for given in ((x, x), (x, y)):
            try:
                got = graph.forward(*given)
            except RuntimeError:
                continue
            assert got.tolist() == same(*given).tolist()


def test_an_input_that_is_written_to_is_none_of_the_others():
    def written(x, y):
        x += 1
        return x * y

    graph = np2fx.trace(written, LINE.copy(), LINE.copy())
    x = torch.from_numpy(LINE.copy())
    assert graph.forward(x, torch.from_numpy(LINE)).tolist() == ((LINE + 1) * LINE).tolist()
    with pytest.raises(RuntimeError, match="share memory"):
        graph.forward(x, x)


def test_layouts():
    def centred(x):
        y = x.reshape(-1)
        y -= y.mean()
        return x * 2

    graph = np2fx.trace(centred, GRID.copy())
    assert graph.forward(torch.from_numpy(GRID.copy())).shape == (5, 3)
    with pytest.raises(RuntimeError, match="in C order"):
        graph.forward(torch.from_numpy(np.asfortranarray(GRID)))
    free = np2fx.trace(lambda x: x.reshape(-1) + 1, GRID)
    assert free.forward(torch.from_numpy(np.asfortranarray(GRID))).tolist() == (GRID.reshape(-1) + 1).tolist()


def test_a_call_that_has_the_same_graph_is_answered_where_the_graph_alone_refuses():
    def written(x):
        x[0] = 1
        return x.squeeze()

    graph = np2fx.trace(written, LINE.copy())
    got = graph(torch.ones(8, dtype=torch.float64))
    assert got.shape == (8,)
    moved = graph.to(torch.float64)
    assert moved(torch.ones(3, dtype=torch.float64)).shape == (3,)


def test_torchs_own_exporters_to_onnx_are_refused_where_they_would_drop_an_assertion(tmp_path):
    graph = np2fx.trace(module_level, LINE)
    x = (torch.from_numpy(LINE),)
    for dynamo in (True, False):
        with warnings.catch_warnings(), pytest.raises(Exception):  # noqa: B017
            warnings.simplefilter("ignore")
            torch.onnx.export(graph, x, str(tmp_path / "graph.onnx"), dynamo=dynamo)


def test_what_is_demanded_can_be_read():
    graph = np2fx.trace(lambda x, y: np.sort(x)[::-1] + y, LINE, LINE + 1)
    (node,) = [n for n in graph.graph.nodes if n.target is check_inputs]
    assert node.args[-1] == "x: float64[a], y: float64[a]"
    with pytest.raises(RuntimeError, match=r"x: float64\[a\], y: float64\[a\]"):
        graph.forward(torch.from_numpy(LINE), torch.ones(3, dtype=torch.float64))


def picks_constants(z):
    len(z[[0, 0, 2], None, 1])
    z[:, np.array([0, 3])]
    return z * 2


def test_picks_at_constants_raise_where_numpy_raises():
    graph = np2fx.trace(picks_constants, np.ones((3, 4)))
    for shape in ((2, 4), (3, 3)):
        with pytest.raises((IndexError, RuntimeError)):
            graph.forward(torch.ones(shape, dtype=torch.float64))
    assert torch.equal(graph.forward(torch.ones(5, 6, dtype=torch.float64)), torch.full((5, 6), 2.0, dtype=torch.float64))
