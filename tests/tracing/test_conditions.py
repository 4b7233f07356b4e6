"""Branches with a side that may fail become `torch.cond`: that side runs only where it is taken."""

from __future__ import annotations

import copy
import inspect
import itertools
import math

import np2fx
import numpy as np
import pytest
import torch

A = [np.array([[2.0, 0, 1], [0, 3, 0], [1, 0, 4]]), np.zeros((3, 3)), -np.eye(3), np.array([[0.0, 1, 2], [3, 4, 5], [7, 7, 7]])]
X = [np.array([1.0, 2.0, 3.0]), np.array([-1.0, 2.0, 3.0]), np.array([1.0, -2.0, 3.0])]
K = [np.array([0, 1]), np.array([2, 0]), np.array([5, 7]), np.array([-1, 2]), np.array([-9, -9]), np.array([200, 1])]
POOLS = {"a": A, "x": X, "k": K, "b": [np.array([1.0, 2, 3]), np.array([-5.0, 2, 3])]}


def position(x, k):
    i = int(k[0])
    if 0 <= i < len(x):
        return x[i] * 2.0
    return x.sum()


def ternary(x, k):
    return x[k[0]] if -1 < k[0] < len(x) else 0.0


def inverse(a):
    determinant = np.linalg.det(a)
    ok = determinant != 0
    return np.linalg.inv(a) if ok else np.eye(3), ok, float(determinant)


def by_condition(a):
    return np.linalg.inv(a) if np.linalg.cond(a) < 1e12 else np.linalg.pinv(a)


def root(a):
    if np.linalg.eigvalsh(a)[0] > 0:
        return np.linalg.cholesky(a)
    return np.full_like(a, np.nan)


def solved(a, b):
    if np.linalg.det(a) == 0:
        return b.copy()
    x = np.linalg.solve(a, b)
    return x if x[0] > 0 else -x


def written(x, k):
    i = int(k[0])
    if 0 <= i < len(x):
        x[i] = 7
    return x.sum()


def written_on_both(x, k):
    if k.max() < len(x):
        x[k] += 1
        y = x
    else:
        x[:] = 0
        y = x + 1
    return y


def written_through_a_view(x, k):
    v = x[1:]
    if k[0] < 2:
        v[k[0]] = 5
    return v


def nested(a, k):
    s = 0.0
    if a[0, 0] > 0:
        if np.linalg.det(a) != 0:
            s = np.linalg.inv(a)[0, 0]
        elif k[0] < 3:
            s = a[k[0], 0]
    else:
        s = a.sum()
    return s


def raising(a, k):
    if k[0] < 0:
        raise ValueError("negative")
    if k[0] < 3:
        if a[0, 0] > 1:
            raise ValueError("large")
        return a[k[0]]
    if k[0] > 100:
        raise IndexError("too far")
    return a[-1] * 2


def asserting(x, k):
    r = 0.0
    if x[0] > 0:
        r = math.log(x[1])
        if k[0] < 3:
            r += float(x[k[0]])
    return r


def loop(x, k):
    n = 0
    for i in k:
        if i < 0:
            continue
        if i >= len(x):
            break
        x = x + x[i]
        n += 1
    return x, n


def structured(x, k):
    if k.max() < len(x):
        y = x[k]
        y[0] = -1
        return {"y": y, "n": 3, "z": x}
    return {"y": np.zeros(len(k)), "n": 3, "z": x}


def complex_numbers(a, k):
    z = a + 1j
    return z[k[0]].conj() if k[0] < 3 else z[0].imag + 0j * z[0]


FUNCTIONS = [position, ternary, inverse, by_condition, root, solved, written, written_on_both, written_through_a_view, nested, raising,
             asserting, loop, structured, complex_numbers]  # fmt: skip


def _cases(function):
    return list(itertools.product(*(POOLS[name] for name in inspect.signature(function).parameters)))


def _traced(function, case):
    return np2fx.trace(function, *copy.deepcopy(case))


def _first(function):
    """The graph of the first case for which NumPy has a result, and that case."""
    case = next(c for c in _cases(function) if not isinstance(_outcome(function, copy.deepcopy(c)), Exception))
    return _traced(function, case), case


def _outcome(function, arguments):
    try:
        return _leaves(function(*arguments))
    except Exception as problem:
        return problem


def _leaves(x):
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in _leaves(v)]
    return [leaf for v in x for leaf in _leaves(v)] if isinstance(x, (list, tuple)) else [x]


def _tensors(case):
    return tuple(torch.from_numpy(x.copy()) for x in case)


def _check(function, graph):
    for case in _cases(function):
        arrays, tensors = copy.deepcopy(case), _tensors(case)
        want, got = _outcome(function, arrays), _outcome(graph, tensors)
        if isinstance(want, Exception):
            assert isinstance(got, Exception), case
            continue
        assert not isinstance(got, Exception), (case, got)
        assert len(want) == len(got)
        for a, b in zip((*want, *arrays), (*got, *tensors), strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(np.asarray(b), np.asarray(a), rtol=1e-9, atol=1e-12)


def _nodes(graph):
    return [n for m in graph.modules() if isinstance(m, torch.fx.GraphModule) for n in m.graph.nodes]


def _conditions(graph):
    return sum(n.target is torch.ops.higher_order.cond for n in _nodes(graph))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_side_is_computed_where_it_is_taken(function):
    graph, _ = _first(function)
    assert _conditions(graph)
    _check(function, graph)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_graph_does_not_depend_on_the_sample(function):
    """Also where NumPy raises on a way that the sample does not take."""
    graphs = set()
    for case in _cases(function):
        if not isinstance(_outcome(function, copy.deepcopy(case)), Exception):
            graphs.add("\n".join(n.format_node() or "" for n in _nodes(_traced(function, case))))
    assert len(graphs) == 1


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_export(function, strict):
    graph, case = _first(function)
    exported = torch.export.export(graph, _tensors(case), strict=strict).module()
    _check(function, exported)


def test_a_choice_stays_a_choice():
    def f(x, k):
        y = x + 1 if x[0] > 0 else x - 1
        return y if k[0] < 0 else y * 2

    graph = np2fx.trace(f, X[0], K[0])
    assert not _conditions(graph)
    assert sum(n.target is torch.where for n in _nodes(graph)) > 0


def test_only_the_branch_that_may_fail_is_a_condition():
    def f(x, k):
        y = x[k[0]] if k[0] < 3 else x[0]
        return y + 1 if x[0] > 0 else y - 1

    graph = np2fx.trace(f, X[0], K[0])
    assert _conditions(graph) == 1
    assert sum(n.target is torch.where for n in _nodes(graph)) == 1  # behind the condition, whose sides meet
    _check(lambda x, k: f(x, k), np2fx.trace(lambda x, k: f(x, k), X[0], K[0]))


def test_what_all_ways_share_stands_before_the_condition():
    def f(x, k):
        y = np.exp(x)
        return y[k[0]] if k[0] < 3 else y.sum()

    graph = np2fx.trace(f, X[0], K[0])
    assert sum(n.target is torch.exp for n in _nodes(graph)) == 1
    assert any(n.target is torch.exp for n in graph.graph.nodes)


def test_a_check_on_one_way_stays_though_its_result_is_not_read():
    def f(x, k):
        y = x * 2
        if -1 < k[0] < 3:
            math.log(x[k[0]])
        return y

    graph = np2fx.trace(f, X[0], K[0])
    assert _conditions(graph)
    _check(f, graph)
    _check(f, torch.export.export(graph, _tensors((X[0], K[0]))).module())


def test_constants_are_shared_and_passed_in():
    table = np.array([1.0, 10.0, 100.0])

    def f(x, k):
        y = x + table
        return y * table[k[0]] if -1 < k[0] < 3 else y - table

    graph = np2fx.trace(f, X[0], K[0])
    assert list(graph.state_dict()) == ["_tensor_constant0"]
    _check(f, graph)
    _check(f, copy.deepcopy(graph))


def test_gradients_are_those_of_the_side_taken():
    graph, _ = _first(by_condition)
    x = torch.tensor(A[0], requires_grad=True)
    (got,) = torch.autograd.grad(graph(x).sum(), x)
    (want,) = torch.autograd.grad(torch.linalg.inv(x).sum(), x)
    torch.testing.assert_close(got, want)


def test_other_shapes_are_traced_again():
    graph = np2fx.trace(lambda x, k: x * x[k[0]] if k[0] < 2 else x, X[0], K[0])
    longer = np.arange(5.0)
    np.testing.assert_array_equal(graph(longer, K[0]), longer * longer[0])
    np.testing.assert_array_equal(graph(longer, K[2]), longer)
    with pytest.raises(np2fx.TraceError, match="specialised-size"):
        np2fx.trace(lambda x, k: x * x[k[0]] * len(list(x)) if k[0] < 2 else x, X[0], K[0])(longer, K[0])


def test_an_index_that_the_function_would_catch_is_refused():
    def f(x, k):
        try:
            return x[k[0]] if k[0] < 9 else x.sum()
        except IndexError:
            return 0.0

    with pytest.raises(np2fx.TraceError, match="caught"):
        np2fx.trace(f, X[0], K[0])


@pytest.mark.parametrize(("function", "why"), [
    (lambda x, k: x[k[0] :] if k[0] < 3 else x, "siz"),
    (lambda x, k: x[: len(k)] if k[0] < 3 else x[k[0]], "shape"),
    (lambda x, k: x[x > 0] if k[0] < 3 else x, "siz"),
])  # fmt: skip
def test_what_cannot_be_a_condition_is_refused(function, why):
    with pytest.raises(np2fx.TraceError, match=why):
        np2fx.trace(function, X[0], K[0])


def test_torch_writes_in_place_are_refused():
    def f(x):
        t = torch.from_numpy(x).clone()
        if x[0] > 0:
            t[0] = 100
        return t.numpy()

    with pytest.raises(np2fx.TraceError, match="in place") as refused:
        np2fx.trace(f, X[0])
    assert refused.value.findings[0].name == "data-dependent-branch"


def test_no_torchscript_of_a_condition(tmp_path):
    from np2fx.pipeline.export import ExportError, export

    graph, case = _first(position)
    with pytest.raises(ExportError, match=r"torch\.cond"):
        export(graph, tmp_path / "m.pt", "jit", case)
    assert export(graph, tmp_path / "m.pt2", "pt2", case).exists()


def index_for_its_error(x, k):
    x[int(k[0])]
    return x + 1


def index_on_one_way(x, k):
    if x.sum() > 0:
        x[int(k[0])]
    return x * 2


@pytest.mark.parametrize("f", [index_for_its_error, index_on_one_way])
def test_errors_of_what_nobody_reads(f):
    graph = np2fx.trace(f, np.arange(3.0), np.array([1]))
    np.testing.assert_array_equal(graph(torch.arange(3.0).double(), torch.tensor([2])), f(np.arange(3.0), np.array([2])))
    with pytest.raises((IndexError, RuntimeError)):
        graph(torch.arange(3.0).double(), torch.tensor([7]))
