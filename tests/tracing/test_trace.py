"""`np2fx.trace` on whole functions: the graph it records, and how the module is called."""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import typing

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing import TracedModule, TraceError
from np2fx.tracing.recording.guards import check_inputs

MEAN = np.arange(7, dtype=np.float32)
STD = np.full(7, 2, np.float32)
TABLE = np.array([10.0, 20.0, 30.0])


def refused(name: str, fn, *samples) -> TraceError:
    """The TraceError of a trace that must be refused with the finding `name`."""
    with pytest.raises(TraceError) as caught:
        np2fx.trace(fn, *samples)
    assert [f.name for f in caught.value.findings] == [name]
    return caught.value


def check(fn, *samples, others=()) -> TracedModule:
    """Trace, and compare with NumPy on the samples and on other inputs of the same shapes."""
    module = np2fx.trace(fn, *samples)
    for inputs in (samples, *others):
        copies = copy.deepcopy(inputs)
        tensors = [torch.from_numpy(np.array(x)) if isinstance(x, (np.ndarray, np.generic)) else x for x in copy.deepcopy(inputs)]
        want, got = fn(*copies), module(*tensors)
        assert_same(want, got)
        assert_same(list(copies), list(tensors))
    return module


def assert_same(want, got) -> None:
    if isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want)
        for a, b in zip(want, got, strict=True):
            assert_same(a, b)
    elif isinstance(want, dict):
        assert list(want) == list(got)
        for k in want:
            assert_same(want[k], got[k])
    elif isinstance(want, (np.ndarray, np.generic)):
        assert got.dtype == torch.from_numpy(np.array(want)).dtype and tuple(got.shape) == want.shape
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-5, atol=1e-6)
    else:
        assert want == got


def normalise(state, velocity):
    scaled = np.clip((state - MEAN) / STD, -5.0, 5.0)
    return np.concatenate([scaled, velocity])


def test_the_graph_of_a_float_function_is_its_plain_torch_calls():
    module = check(normalise, np.linspace(-9, 9, 7, dtype=np.float32), np.ones(3, np.float32))
    nodes = list(module.graph.nodes)
    assert [n.name for n in nodes] == [
        "state", "velocity", "check_inputs", "_tensor_constant0", "sub", "_tensor_constant1", "div", "clamp", "cat", "output",
    ]  # fmt: skip
    by_name = {n.name: n for n in nodes}
    assert by_name["sub"].target is torch.sub and by_name["sub"].args == (by_name["state"], by_name["_tensor_constant0"])
    assert by_name["div"].target is torch.div
    assert by_name["clamp"].target is torch.clamp and by_name["clamp"].args == (by_name["div"], -5.0, 5.0)
    assert by_name["cat"].target is torch.cat and by_name["cat"].args == ([by_name["clamp"], by_name["velocity"]],)
    assert not by_name["cat"].kwargs
    assert by_name["clamp"].meta["numpy"] == "numpy.clip"
    assert "test_trace.py" in by_name["clamp"].meta["stack_trace"]


def test_constants_are_buffers_and_equal_ones_are_shared():
    def f(x):
        return x * MEAN + MEAN.copy() - np.float32(1)

    module = check(f, np.ones(7, np.float32))
    assert [name for name, _ in module.named_buffers()] == ["_tensor_constant0"]
    MEAN[0] = 5  # the caller's array is not the graph's
    try:
        assert module._tensor_constant0[0] == 0
    finally:
        MEAN[0] = 0


def test_arguments_are_given_by_position_keyword_and_default():
    def f(x, *rest, scale=2.0, y=None, **more):
        total = x * scale + sum(rest)
        return total + more["z"] if y is None else total + y

    x = np.ones(3)
    module = np2fx.trace(f, x, x, scale=3.0, z=x)
    t = torch.ones(3, dtype=torch.float64)
    assert torch.equal(module(t, t, z=t, scale=3.0), t * 5)
    with pytest.raises(TypeError):
        module()
    assert torch.equal(module(t, t, z=t), t * 4)


def test_containers_in_and_out():
    class Pair(typing.NamedTuple):
        a: np.ndarray
        b: np.ndarray

    @dataclasses.dataclass
    class Observation:
        image: np.ndarray
        name: str

    def f(obs, pair):
        return {"sum": obs["pos"] + obs["more"][0], "list": [pair.a, (pair.b, None, "text", 3)]}

    x = np.ones(2)
    module = np2fx.trace(f, {"pos": x, "more": [x * 2]}, Pair(x, x * 3))
    names = [n.name for n in module.graph.nodes if n.op == "placeholder"]
    assert names == ["obs_pos", "obs_more_0", "pair_a", "pair_b"]
    t = torch.ones(2, dtype=torch.float64)
    got = module({"more": [t], "pos": t}, Pair(t, t))
    assert torch.equal(got["sum"], t * 2) and got["list"][1][1:] == (None, "text", 3)

    def g(obs):
        return Observation(obs.image * 2, obs.name), np.dtype("f4")

    module = np2fx.trace(g, Observation(x, "left"))
    out, dtype = module(Observation(t, "left"))
    assert isinstance(out, Observation) and torch.equal(out.image, t * 2) and dtype == np.float32
    with pytest.raises(TraceError, match="name is 'right'"):
        module(Observation(t, "right"))


def test_methods_partials_and_callables():
    class Filter:
        gain = 3.0

        def step(self, x):
            return x * self.gain

        def __call__(self, x):
            return self.step(x) + 1

    check(Filter().step, np.ones(2))
    check(Filter(), np.ones(2))
    module = np2fx.trace(np.sin, np.ones(2))
    assert torch.allclose(module(torch.ones(2, dtype=torch.float64)), torch.ones(2, dtype=torch.float64).sin())


def test_dtypes_ranks_and_python_numbers_are_guarded():
    def f(x, n):
        return np.concatenate([x] * n)

    module = np2fx.trace(f, np.ones(3, np.float32), 2)
    assert module(torch.ones(3), 2).shape == (6,)
    for bad in ((torch.ones(3, dtype=torch.float64), 2), (torch.ones(3, 1), 2), (torch.ones(3), 3), (1.0, 2)):
        with pytest.raises(TraceError):
            module(*bad)
    with pytest.raises(TypeError):  # the function's own
        module(torch.ones(3), 2.0)


def test_truth_values_of_other_numbers_are_pythons():
    def f(x, n):
        return x * n, n == 2, [n > 2]

    module = np2fx.trace(f, np.ones(3), 2)
    for n in (2, 3, 3, 2.5):
        assert module(torch.ones(3, dtype=torch.float64), n)[1] is (n == 2)
        assert module(torch.ones(3, dtype=torch.float64), n)[2][0] is (n > 2)


def test_other_shapes_are_accepted_where_the_graph_is_the_same():
    module = np2fx.trace(normalise, np.ones(7, np.float32), np.ones(3, np.float32))
    assert module(torch.ones(7), torch.ones(5)).shape == (12,)

    def rows(x):
        return np.ones(len(x)) * x.sum()

    module = np2fx.trace(rows, np.ones(4))
    np.testing.assert_array_equal(module(torch.ones(5, dtype=torch.float64)), np.full(5, 5.0))

    def unrolled(x):
        return np.stack([row * x.sum() for row in x])

    module = np2fx.trace(unrolled, np.ones(4))
    with pytest.raises(TraceError) as caught:
        module(torch.ones(5, dtype=torch.float64))
    assert caught.value.findings[0].name == "specialised-size"


def test_the_whole_graph_moves_to_another_device():
    def f(x):
        y = np.zeros_like(x) + np.arange(3.0)
        y[0] = x[1]
        return y @ np.eye(3) + x.astype(np.float32)

    module = np2fx.trace(f, np.ones(3)).to("meta")
    out = module(torch.ones(3, dtype=torch.float64, device="meta"))
    assert out.device.type == "meta" and out.shape == (3,)


def test_gradients_flow():
    module = np2fx.trace(lambda x: np.sum(np.tanh(x) ** 2), np.ones(3))
    x = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64, requires_grad=True)
    module(x).backward()
    t = np.tanh([0.1, 0.2, 0.3])
    np.testing.assert_allclose(x.grad.numpy(), 2 * t * (1 - t**2))


def test_a_long_chain_needs_no_recursion():
    def f(x):
        for _ in range(2500):
            x = np.sin(x) + np.float32(0.5)
        return x

    module = np2fx.trace(f, np.ones(2, np.float32))
    assert len(module.graph.nodes) == 5003


def test_numpy_errors_are_the_functions_own():
    with pytest.raises(ValueError, match="could not be broadcast"):
        np2fx.trace(lambda x, y: x + y, np.ones(2), np.ones(3))
    with pytest.raises(np.linalg.LinAlgError):
        np2fx.trace(np.linalg.inv, np.zeros((2, 2)))


def test_numpy_is_left_as_it_was():
    before = {k: id(v) for k, v in vars(np).items()}, {k: id(v) for k, v in vars(np.linalg).items()}, torch.from_numpy
    check(normalise, np.ones(7, np.float32), np.ones(3, np.float32))
    refused("python-value", lambda x: str(x.sum()), np.ones(2))
    assert before == ({k: id(v) for k, v in vars(np).items()}, {k: id(v) for k, v in vars(np.linalg).items()}, torch.from_numpy)


def test_samples_are_not_changed():
    def f(x):
        x += 1
        return x

    sample = np.zeros(3)
    np2fx.trace(f, sample)
    assert not sample.any()


def test_the_module_can_be_copied():
    module = np2fx.trace(normalise, np.ones(7, np.float32), np.ones(3, np.float32))
    other = copy.deepcopy(module)
    assert torch.equal(other(torch.ones(7), velocity=torch.ones(3)), module(torch.ones(7), torch.ones(3)))


def test_torch_inside_the_function():
    layer = torch.nn.Linear(3, 2).double().eval()

    def f(x):
        with torch.no_grad():
            y = layer(torch.from_numpy(x * 2))
        return np.maximum(y.numpy(), 0.0)

    check(f, np.ones(3), others=[(np.array([1.0, -2.0, 5.0]),)])

    def g(x):
        t = torch.zeros(3, dtype=torch.float64)
        t[1:] = x[:2]
        t.mul_(2)
        return t + torch.tensor(x)

    t = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    module = np2fx.trace(g, t)
    assert torch.equal(module(t), torch.tensor([1.0, 4.0, 7.0], dtype=torch.float64))
    assert torch.equal(module(t * 2), torch.tensor([2.0, 8.0, 14.0], dtype=torch.float64))
    assert any(n.target is operator.setitem for n in module.graph.nodes)


def test_helpers_and_names_imported_from_numpy():
    from numpy import array, sqrt
    from numpy.linalg import norm

    def helper(v, eps=np.array(1e-9)):  # noqa: B008
        return v / (norm(v) + eps)

    def f(x):
        parts = array([x[0], sqrt(x[1]), 1.0])
        return helper(parts) + TABLE[np.argmax(x)]

    check(f, np.array([1.0, 4.0]), others=[(np.array([9.0, 4.0]),)])


TABLES = {"gain": np.array([1.0, 2.0, 3.0]), "all": [np.arange(4.0), (np.ones(3), "text")]}


def test_containers_of_constants():
    def f(x):
        i = np.argmax(x)
        return TABLES["gain"][i] * x + TABLES["all"][0][x.astype(int)] + TABLES["all"][1][0][:1]

    check(f, np.array([1.0, 3.0]), others=[(np.array([2.0, 0.0]),)])


def test_sizes_that_depend_on_values_stay_out_of_the_graph():
    def f(x):
        y = x[x > 0]
        return y * 2, y.sum()

    check(f, np.array([1.0, -2.0, 3.0]), others=[(np.array([1.0, 2.0, 3.0]),), (np.array([-1.0, -2.0, -3.0]),)])
    sample = np.array([1.0, -2.0, 3.0])

    def unless_empty(x):
        y = x[x > 0]
        return y.mean() if y.size else np.float64(0)

    others = [(np.array([1.0, 2.0, 3.0]),), (np.array([-1.0, -2.0, -3.0]),)]
    check(unless_empty, sample, others=others)
    check(lambda x: np.ones(len(x[x > 0])), sample, others=others)
    refused("data-dependent-shape", lambda x: [v * 2 for v in np.flatnonzero(x)], sample)
    check(lambda x: np.where(x > 0)[0].shape, sample, others=others)
    check(lambda x: np.size(np.unique(x)), sample, others=others)


class Preprocessor:
    """A class with methods, a property and arrays of its own."""

    def __init__(self):
        self.mean = np.array([1.0, 2.0, 3.0])
        self.calls = 0

    @property
    def gain(self):
        return np.float64(TABLE[0]) * 2

    @staticmethod
    def pick(i):
        return TABLE[i] + np.float64(1)

    def scale(self, x):
        return (x - self.mean) * self.gain

    def run(self, x):
        return self.scale(x) + self.pick(np.argmax(x)) * np.float32(x[0])


def test_classes_of_the_project_are_traced_too():
    run = Preprocessor.run
    sample = np.array([1.0, 4.0, 2.0])
    check(Preprocessor().run, sample, others=[(np.array([9.0, 4.0, 1.0]),)])
    instance = Preprocessor()
    check(lambda x: instance.run(x), sample, others=[(np.array([9.0, 4.0, 1.0]),)])
    assert Preprocessor.run is run


def test_objects_that_are_no_functions():
    triple = np.vectorize(lambda v: v * 3 + 1)

    def f(x):
        y = np.vectorize(lambda a, b: a * b)(x, 2.0)
        grid = np.mgrid[0:2, 0:3]
        return np.r_[x, 1.0, x[0]], np.c_[x, x], y, triple(x), grid[0] + x, [v * 2 for v in np.nditer(x)]

    check(f, np.array([1.0, 2.0, 3.0]), others=[(np.array([-1.0, 0.0, 7.0]),)])


def test_callbacks_see_traced_arrays():
    def f(x):
        rows = np.apply_along_axis(lambda r: np.sort(r)[::-1] * r.sum(), 1, x)
        return rows, np.piecewise(x, [x < 0, x > 2], [lambda v: -v, lambda v: v * 2, 0.0]), np.fromfunction(lambda i, j: i + j, (2, 2)) @ x

    check(f, np.array([[1.0, -2.0], [3.0, 0.5]]), others=[(np.array([[5.0, -7.0], [0.0, 9.0]]),)])


def test_the_module_can_be_exported():
    def f(x, y):
        x[0] = y[1]
        z = np.where(x > 0, x, np.float32(2))
        return {"z": z, "s": z.sum()}

    module = np2fx.trace(f, np.arange(3, dtype=np.float32), np.ones(3, np.float32))
    inputs = torch.arange(3.0), torch.tensor([5.0, -6.0, 7.0])
    want = module(*(t.clone() for t in inputs))
    for make in (lambda m, a: torch.export.export(m, a).module(), lambda m, a: torch.jit.trace(m, a, strict=False)):
        exported = make(module, tuple(t.clone() for t in inputs))
        given = [t.clone() for t in inputs]
        got = exported(*given)
        assert torch.equal(got["z"], want["z"]) and torch.equal(got["s"], want["s"]) and given[0][0] == -6


def test_nothing_is_computed_twice():
    graph = np2fx.trace(lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(), np.arange(3.0))
    targets = [n.target for n in graph.graph.nodes if n.op == "call_function" and n.target is not check_inputs]
    assert targets.count(torch.exp) == 1
    assert len(targets) == 5
    first, second = np2fx.trace(lambda x: (x + 1, x + 1), np.arange(3.0))(torch.zeros(3, dtype=torch.float64))
    assert first.data_ptr() != second.data_ptr()


def cancels(x):
    return (np.subtract.outer(x, x) * 3).T.mean(), x


def test_what_is_left_where_all_cancels_is_rounding():
    """NumPy and torch add up in different orders: one may come to 0 where the other does not."""
    found = []
    for seed in range(60):
        x = np.random.default_rng(seed).normal(size=5) * 10.0 ** (seed % 9)
        graph = np2fx.trace(cancels, x)
        found.append(float(graph(torch.from_numpy(x))[0]) != cancels(x)[0])
        assert abs(graph(torch.from_numpy(x))[0] - cancels(x)[0]) <= 1e-12 * np.abs(x).max()
    assert any(found)


def _sum(a):
    return a.sum()


@functools.partial(np.vectorize, signature="(n)->(n)", otypes=[float])
def of_rows(a):
    return a / a.sum()


VECTORIZED = {
    "pieces": lambda x: np.vectorize(_sum, signature="(n)->()")(x),
    "a piece": lambda x: np.vectorize(_sum, signature="(n)->()")(x[0]),
    "new size": lambda x: np.vectorize(np.convolve, signature="(n),(m)->(k)")(x, np.array([1.0, 2.0])),
    "several": lambda x: np.vectorize(lambda a, b: (a @ b, a.max()), signature="(n),(n)->(),()")(x, x * 2),
    "scalars": lambda x: np.vectorize(lambda a, s: a * s, signature="(n),()->(n)", otypes=["f4"])(x, [1, 2]),
    "decorated": lambda x: of_rows(x),
    "excluded": lambda x: np.vectorize(lambda a, p: a * p[0], excluded=[1])(x, [2.0, 3.0]),
    "excluded by name": lambda x: np.vectorize(np.polyval, excluded=["p"])(p=x[0], x=x[1]),
    "by name": lambda x: np.vectorize(lambda a, b=2.0: max(a, b))(x, b=0.5),
    "enclosed": lambda x: np.vectorize(lambda i: x[0, i] * 2)(np.arange(3)),
    "dtype": lambda x: np.vectorize(lambda a, b: a + b, excluded=[1], otypes=[np.float32], cache=True)(x, 2),
}


@pytest.mark.parametrize("case", VECTORIZED)
def test_vectorize_with_a_signature_and_excluded_arguments(case):
    x = np.array([[1.0, -2, 4], [0.5, 3, 7]])
    check(VECTORIZED[case], x, others=[(-2 * x,)])


def conjugated_into(x):
    out = np.zeros(x.shape, complex)
    return x.conjugate(out), out


NEW_ARRAYS = {
    "arrays": lambda x: np.add(x, x, out=...),
    "no scalar": lambda x: np.sin(x[0, 0], out=...),
    "two": lambda x: np.divmod(x[0, 0], 2.0, out=...),
    "operator": lambda x: operator.contains(x, 4.0),
    "kept axis": lambda x: np.vecdot(x, x, axes=[0, 0, 0], keepdims=True),
    "conjugate": conjugated_into,
}


@pytest.mark.parametrize("case", NEW_ARRAYS)
def test_arguments_that_name_the_result(case):
    x = np.array([[1.0, -2, 4], [0.5, 3, 7]])
    try:
        NEW_ARRAYS[case](x)
    except TypeError:
        pytest.skip("newer than this NumPy")
    check(NEW_ARRAYS[case], x, others=[(-2 * x,)])
    if case != "conjugate":  # which convert refuses
        assert_same(NEW_ARRAYS[case](x), np2fx.convert(NEW_ARRAYS[case])(torch.from_numpy(x)))
