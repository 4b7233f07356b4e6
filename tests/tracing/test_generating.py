"""The text of a graph in Python's own run gives what its nodes say, bit for bit, and changes nothing that somebody else sees."""

import math

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing import generating
from torch.fx.experimental.proxy_tensor import make_fx

X = np.arange(24.0).reshape(4, 6)
NUMBERS = [0, 1, 2, -3, 255, 0.5, -7.25, 1e-45, 1e30, 0.30000001192092896, math.tau]


def values(dtype):
    torch.manual_seed(0)
    if not dtype.is_floating_point:
        return torch.cat([torch.randint(-(2**31), 2**31 - 1, (640,)), torch.arange(-8, 8)]).to(dtype)
    special = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1e-45, 3e38], dtype=dtype)
    return torch.cat([torch.randn(640, dtype=dtype), special])


@pytest.mark.parametrize("name", sorted(generating._BESIDE_NUMBERS - {"where"}))
@pytest.mark.parametrize("dtype", generating.HELD_DTYPES)
def test_a_number_is_a_tensor_of_it(name, dtype):
    x, function = values(dtype).reshape(8, -1), getattr(torch, name)
    for number in NUMBERS:
        told = f"{generating.HELD_DTYPES[dtype]} {number!r}"
        if not generating.is_held(number, generating.HELD_DTYPES[dtype]):
            continue
        (held,) = generating.held_numbers(told)
        assert generating.held_numbers(told)[0] is held and held.dtype is dtype and held.item() == number
        for part in (x, x.T[:, ::2], x[0, 0]):
            for plain, other in (((part, number), (part, held)), ((number, part), (held, part))):
                try:
                    want = function(*plain)
                except (TypeError, RuntimeError):  # some take a number in one place alone; division of integers by 0
                    continue
                got = function(*other)
                assert (got.dtype, got.shape, got.stride()) == (want.dtype, want.shape, want.stride())
                assert got.numpy().tobytes() == want.numpy().tobytes()


def test_numbers_that_are_none_of_the_dtype():
    given = [(0.1, "float32"), (2**24 + 1, "float32"), (2**31, "int32"), (2**70, "int64"), (0.5, "int64"), (-0.0, "float64"),
             (math.nan, "float64")]  # fmt: skip
    assert not any(generating.is_held(number, dtype) for number, dtype in given)


def history(x, new):
    y = np.roll(x, -1, axis=0)
    y[-1] = new[0]
    return y


def recursive(x, new):
    y = x.copy()
    for i in range(1, 6):
        y[:, i] = 0.5 * y[:, i - 1] + new[:, i]
    return y


def overlapping(x, new):
    y = x * 2
    y[1:] = y[:-1]
    y[:, 0] = y[0, 0]
    return y


def seen_before(x, new):
    y = x + 1
    before = y[1:3].copy()
    view = y[:, 2]
    y[2] = new[1]
    return y, before, view


def seen_after(x, new):
    y = x + 1
    z = y.copy()
    y[2] = 5.0
    z[:, 1] = y[:, 3]
    return y - z, y


def lengths(x, new):
    return x / np.linalg.norm(x, axis=-1, keepdims=True), np.linalg.norm(new[:, :3], axis=1), np.linalg.norm(x[:1], axis=0)


def solved(x, new):
    return np.linalg.solve(x[:, :4] @ x[:, :4].T + np.eye(4), new[:, 0]), np.linalg.inv(np.eye(4) * (1 + x[0, 0]))


FUNCTIONS = [history, recursive, overlapping, seen_before, seen_after, lengths, solved]


def parts(results):
    return results if isinstance(results, tuple) else (results,)


def same(got, want, rtol=0.0):
    for a, b in zip(parts(got), parts(want), strict=True):
        torch.testing.assert_close(a, b, rtol=rtol, atol=rtol, equal_nan=True)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_however_the_graph_is_run(function):
    x, new = X.astype(np.float32), np.cos(X).astype(np.float32)
    graph = np2fx.trace(function, x, new)
    given = torch.from_numpy(x), torch.from_numpy(new)
    bare = torch.fx.GraphModule(graph, graph.graph)
    want = torch.fx.Interpreter(bare).run(*given)
    rtol = 1e-6 if function is lengths else 0.0
    runs = [bare, graph, make_fx(bare)(*given)]
    if not list(bare.buffers()):
        runs.append(make_fx(bare, tracing_mode="fake")(*given))
    for run in runs:
        same(run(*given), want, rtol)
        assert torch.equal(given[0], torch.from_numpy(X.astype(np.float32)))
    with torch.inference_mode():
        same(bare(*(t.clone() for t in given)), want, rtol)
    if function is not solved:  # torch.vmap cannot assert
        same(tuple(t[1] for t in parts(torch.vmap(bare)(*[torch.stack([t, t]) for t in given]))), want, rtol)


def test_compiled_without_a_break():
    graph = np2fx.trace(recursive, X, np.cos(X))
    given = torch.from_numpy(X), torch.from_numpy(np.cos(X))
    compiled = torch.compile(torch.fx.GraphModule(graph, graph.graph), backend="eager", fullgraph=True)
    assert torch.equal(compiled(*given), graph(*given))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients(function):
    graph = np2fx.trace(function, X, np.cos(X))
    bare = torch.fx.GraphModule(graph, graph.graph)
    found = []
    for run in (bare, torch.fx.Interpreter(bare).run):
        given = [torch.from_numpy(t.copy()).requires_grad_() for t in (X + 1, np.cos(X))]
        results = run(*given)
        sum((r**2).sum() for r in parts(results)).backward()
        found.append([t.grad for t in given])
    for a, b in zip(*found, strict=True):
        assert (a is None and b is None) or torch.equal(a, b)


def test_what_is_asserted():
    graph = np2fx.trace(lambda m, v: np.linalg.solve(m, v), np.eye(3), np.ones(3))
    bare = torch.fx.GraphModule(graph, graph.graph)
    m, v = torch.eye(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    assert torch.equal(bare(m * 1e308, v), torch.linalg.solve(m * 1e308, v))  # finite, with a sum that is not
    for wrong, right in ((math.inf, v), (math.nan, v), (-math.inf, v)):
        with pytest.raises(RuntimeError, match="not finite"):
            bare(m * wrong, right)
    with pytest.raises(RuntimeError, match="not finite"):
        bare(m, v * math.inf)
    assert torch.isnan(bare(m, v * math.nan)).all()


def test_fresh_functions_have_memory_of_their_own():
    x = torch.arange(6.0).reshape(2, 3)
    other = {"cat": ([x],), "stack": ([x],), "where": (x > 1, x, x), "zeros": (2,), "ones": (2,),
             "full": ((2,), 1.0), "full_like": (x, 1.0),
             "roll": (x, 0, 0), "flip": (x, ()), "cumsum": (x, 0), "clamp": (x, None, 9), "matmul": (x, torch.eye(3)),
             "select_scatter": (x, x[0], 0, 0), "slice_scatter": (x, x)}  # fmt: skip
    two = {"add", "sub", "mul", "div"}
    for name in generating._FRESH:
        args = other.get(name, (x, 1.0) if name in two else (x,))
        for given in (args, tuple(a.expand(4, 2, 3) if a is x and name not in ("matmul", "select_scatter") else a for a in args)):
            made = getattr(torch, name)(*given)
            assert made.untyped_storage().data_ptr() != x.untyped_storage().data_ptr(), name
            assert all(step for step, n in zip(made.stride(), made.shape, strict=True) if n > 1), name


def test_the_graph_can_be_read():
    graph = np2fx.trace(lambda x: x[:, 1:] * 0.5 + 2.0, X)
    text = graph.print_readable(print_output=False)
    assert "torch.mul(getitem, 0.5)" in text and "held" not in text
    assert "x[:, 1:]" in graph.code


@pytest.mark.parametrize("names", ["in_python, in_place", "number_0, x", "shape_of_x, x"])
def test_names_of_arguments_are_the_users(names):
    first, second = names.split(", ")
    function = eval(f"lambda {names}: np.roll({first}, 1) * 0.5 + {second}", {"np": np})
    graph = np2fx.trace(function, X, np.cos(X))
    bare = torch.fx.GraphModule(graph, graph.graph)
    assert torch.equal(bare(torch.from_numpy(X), torch.from_numpy(np.cos(X))), torch.from_numpy(function(X, np.cos(X))))
