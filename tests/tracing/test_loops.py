"""`while` on values: one `torch.while_loop` in the graph, for any number of rounds; what cannot be one is explored or refused."""

from __future__ import annotations

import copy

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing.surroundings.sourcing import sourced

W = np.array([[2.0, 1.0], [1.0, 3.0]])
VECTORS = [np.array(v) for v in ([0.25, 0.5], [2.0, 30.0], [70.0, 0.125], [1.0, 1.0], [-3.0, 5.0])]


def newton(x):
    a = np.abs(x) + 0.5
    y = a.copy()
    while np.abs(y * y - a).max() > 1e-9:
        y = 0.5 * (y + a / y)
    return y


def helper_in_a_closure(x):
    def residual(v):
        return v**3 - target

    target, v = x[0], x[0] * 0 + 10.0
    while abs(residual(v)) > 1e-6:
        v = v - residual(v) / (3 * v**2 + 1e-3)
    return v


def power_iteration(x):
    v, err, n = np.ones(2) / np.sqrt(2.0), np.inf, 0
    while err > 1e-10 and n < 200:
        w = (W + np.diag(np.abs(x))) @ v
        w = w / np.linalg.norm(w)
        err = np.abs(w - v).max()
        v = w
        n += 1
    return v, n


def bisection(x):
    low, high = np.float64(0.0), np.abs(x[0]) + 1
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle**3 < x[0]:
            low = middle
        else:
            high = middle
    return low


def collatz(x):
    n, steps = int(abs(x[1])) + 1, 0
    while n != 1:
        if n % 2:
            n = 3 * n + 1
        else:
            n //= 2
        steps += 1
    return steps


def greatest_common_divisor(x):
    a, b = int(abs(x[0])), int(abs(x[1]))
    while b:
        a, b = b, a % b
    return a


def breaks(x):
    y, k = x.copy(), 0
    while True:
        y = y / 2
        k += 1
        if y.max() < 1:
            break
        if k > 3:
            continue
        y = y - 1
    return y, k


def returns(x):
    while True:
        y = x / 2
        if np.abs(y - x).max() < 1:
            return y, x
        x = y


def a_flag(x):
    done = False
    while not done:
        x = x - 1
        if x.max() < 0:
            done = True
    return x


def written_in_place(x):
    y = x.copy()
    view = y[1:]
    while y.sum() > 1:
        y *= 0.5
    return view, y


def written_argument(x):
    while x.max() > 1:
        x /= 2
    while x.min() < 3:
        x += 1
    return x.sum()


def filled(x):
    kept, i, v = np.zeros(4), 0, x[0]
    while v > 1 and i < 4:
        kept[i] = v
        v, i = v / 2, i + 1
    return kept, i


def counted(x):
    i = 0
    while i < len(x) and x[i] < 10:
        i += 1
    return i


def nested(x):
    i = 0
    while i < 3 and np.abs(x).sum() > 0.5:
        y = x
        while y.max() > 1:
            y = y / 2
        x = y * 0.75
        i += 1
    return x


def before_a_branch(x):
    y = x
    while y.max() > 1:
        y = y / 2
    return y + 1 if x[0] > 1 else y - 1


def in_a_branch(x):
    if x[0] > 1:
        while x.max() > 1:
            x = x / 2
    else:
        while x.min() < 5:
            x = x + 1
    return x


def first_round_apart(x):
    prev, n = None, 0
    while prev is None or np.abs(x - prev).max() > 1e-3:
        prev = x
        x = x * 0.5
        n += 1
    return x, n


def single_precision(x):
    y, n = x.astype(np.float32), np.uint8(0)
    while y.max() > 1:
        y = y * np.float32(0.5)
        n = n + np.uint8(100)
    return y, n


def complex_numbers(x):
    z, n = complex(x[0], x[1]), 0
    while abs(z) < 100 and n < 40:
        z = z * z + 1
        n += 1
    return n


LOOPS = [newton, helper_in_a_closure, power_iteration, bisection, collatz, greatest_common_divisor, breaks, returns, a_flag,
         written_in_place, written_argument, filled, counted, nested, before_a_branch, in_a_branch, first_round_apart, single_precision,
         complex_numbers]  # fmt: skip


def _leaves(x):
    return [leaf for v in x for leaf in _leaves(v)] if isinstance(x, (list, tuple)) else [x]


def _same(want, got):
    for a, b in zip(_leaves(want), _leaves(got), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)


def _loops(module):
    """The `torch.while_loop`s of a graph and of the graphs within it."""
    own = sum(n.target is torch.ops.higher_order.while_loop for n in module.graph.nodes)
    return own + sum(_loops(m) for _, m in module.named_children() if isinstance(m, torch.fx.GraphModule))


@pytest.mark.parametrize("function", LOOPS)
@pytest.mark.parametrize("first", [0, 1])
def test_a_loop_is_right_for_any_number_of_rounds(function, first):
    graph = np2fx.trace(function, VECTORS[first].copy())
    assert _loops(graph)
    for x in VECTORS:
        given, tensor = x.copy(), torch.from_numpy(x.copy())
        _same(function(given), graph(tensor))
        np.testing.assert_array_equal(tensor.numpy(), given)


@pytest.mark.parametrize("function", [newton, collatz, breaks, written_argument, nested, in_a_branch, filled, first_round_apart])
def test_a_loop_can_be_exported(function):
    graph = np2fx.trace(function, VECTORS[1].copy())
    exported = torch.export.export(graph, (torch.from_numpy(VECTORS[1].copy()),)).module()
    for x in VECTORS:
        _same(function(x.copy()), exported(torch.from_numpy(x.copy())))


@pytest.mark.parametrize("function", [newton, power_iteration, collatz, breaks, written_in_place, nested])
def test_the_graph_does_not_depend_on_the_sample(function):
    graphs = set()
    for x in VECTORS[:3]:
        graph = np2fx.trace(function, x.copy())
        graphs.add("\n".join(str(m.graph) for m in graph.modules() if isinstance(m, torch.fx.GraphModule)))
    assert len(graphs) == 1


def test_gradients_flow_through_a_loop():
    def f(x):
        while x.max() > 1:
            x = x / 2
        return x * x

    x = torch.tensor([5.0, 3.0], dtype=torch.float64, requires_grad=True)
    np2fx.trace(f, np.array([5.0, 3.0]))(x).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach() / 64)


def test_what_the_body_raises_is_an_assertion():
    def f(x):
        n = 0
        while x.max() > 1:
            x = x / 2
            n += 1
            if n > 6:
                raise ValueError("too many rounds")
        return x

    graph = np2fx.trace(f, VECTORS[1].copy())
    _same(f(VECTORS[1]), graph(torch.from_numpy(VECTORS[1])))
    with pytest.raises(ValueError, match="too many rounds"):
        graph(torch.tensor([1000.0, 0.0], dtype=torch.float64))


def test_a_variable_of_the_body_has_no_value_after_no_rounds():
    def f(x):
        while x.max() > 1:
            half = x / 2
            x = half
        return half

    graph = np2fx.trace(f, VECTORS[1].copy())
    _same(f(VECTORS[1]), graph(torch.from_numpy(VECTORS[1])))
    with pytest.raises(UnboundLocalError, match="half"):
        graph(torch.tensor([0.5, 0.0], dtype=torch.float64))


def test_an_int_beyond_the_graphs_ints_is_an_assertion():
    def f(x):
        n, k = int(x[0]), 1
        while n > 0:
            n, k = n - 1, k * 1000
        return k

    graph = np2fx.trace(f, np.array([3.0]))
    assert int(graph(torch.tensor([6.0], dtype=torch.float64))) == 10**18
    with pytest.raises(RuntimeError, match="int64"):
        graph(torch.tensor([7.0], dtype=torch.float64))


def test_a_loop_that_python_decides_is_unrolled():
    def f(x):
        i = 0
        while i < 3:
            x = np.where(x > i, x / 2, x)
            i += 1
        return x

    graph = np2fx.trace(f, VECTORS[1].copy())
    assert not _loops(graph)
    _same(f(VECTORS[2]), graph(torch.from_numpy(VECTORS[2])))


class Total:
    def __init__(self):
        self.value = 0.0

    def add(self, v):
        self.value += v


def object_changes(x):
    total = Total()
    while x.max() > 1:
        x = x / 2
        total.add(1.0)
    return x + total.value


def list_grows(x):
    seen = []
    while x.max() > 1:
        seen.append(1.0)
        x = x / (1 + len(seen))
    return x


def iterator_is_read(x):
    factors = iter([2.0] * 30 + [3.0] * 30)
    while x.max() > 1:
        x = x / next(factors)
    return x


def next_is_called(x):
    following = iter([2.0] * 30 + [3.0] * 30).__next__
    while x.max() > 1:
        x = x / following()
    return x


def closure_counts(x):
    n = 0

    def factor():
        nonlocal n
        n += 1
        return 2.0 if n < 30 else 3.0

    while x.max() > 1:
        x = x / factor()
    return x


def shape_changes(x):
    seen = np.zeros(0)
    while x.max() > 1:
        x = x / 2
        seen = np.append(seen, x.max())
    return seen


def view_of_what_is_written(x):
    y = x.copy()
    first = y[1:]
    while y.max() > 1:
        first = y[:1]
        y *= 0.5
    return first


def argument_written_later(x):
    y = x
    while y.max() > 1:
        y = y / 2
    x[0] = 9
    return y


def result_written_later(x):
    y = x
    while y.max() > 1:
        y = y / 2
    y[0] = 9
    return y


@pytest.mark.parametrize(("function", "why"), [
    (object_changes, "container or an object"), (list_grows, "rounds differ|container or an object"), (iterator_is_read, "iterator"),
    (next_is_called, "iterator"), (closure_counts, ""), (shape_changes, "shape"), (view_of_what_is_written, "writes into"),
    (argument_written_later, "bound to another name"), (result_written_later, "bound to another name"),
])  # fmt: skip
@pytest.mark.parametrize("first", [0, 1])
def test_what_a_graph_does_not_have_is_refused(function, why, first):
    sample = VECTORS[first].copy()
    with pytest.raises(np2fx.TraceError, match=why) as refused:
        np2fx.trace(function, sample)
    assert refused.value.findings[0].name == "data-dependent-branch"


def test_a_write_after_a_loop_is_fine_where_nobody_reads_the_other_array():
    def f(x):
        rows = np.zeros((2, 2))
        for k in range(2):
            v = rows[k] + x
            while v.max() > 1:
                v = v / 2
            rows[k] = v
        return rows

    graph = np2fx.trace(f, VECTORS[1].copy())
    assert _loops(graph) == 2
    for x in VECTORS:
        _same(f(x), graph(torch.from_numpy(x)))


def test_bounded_loops_that_are_no_loop_of_the_graph_are_explored():
    def f(x):
        y, n = x, 0
        while y.max() > 1 and n < 4:
            y = y / 2
            n += 1
        y[0] = 9
        return x, y

    graph = np2fx.trace(f, VECTORS[1].copy())
    assert not _loops(graph)
    for x in VECTORS:
        given, tensor = x.copy(), torch.from_numpy(x.copy())
        _same(f(given), graph(tensor))
        np.testing.assert_array_equal(tensor.numpy(), given)


def test_loops_taken_out_do_what_they_did():
    """The source pass by itself: Python runs the loops."""

    def f(n, scale=2):
        found, k = [], 0
        while True:
            k += 1
            if k % 2:
                continue
            for j in range(5):
                if j > k:
                    break
                found.append(scale * j)
            else:
                k += 1
            while len(found) % 3:
                found.append([v * scale for v in (k, n)])
            if k > n:
                break
        while n > 0 and (lambda v: v > 1)(n):
            n -= 1
            late = n
        return found, k, n, late

    plain = copy.copy(f)
    code = sourced(f.__code__)
    assert code is not f.__code__
    made = type(f)(code, {**f.__globals__, **sourced.__globals__["NAMES"]}, "f", f.__defaults__)
    assert made(7) == plain(7)
    with pytest.raises(UnboundLocalError, match="late"):
        made(1)


def caught_in_the_body(x):
    i = 0
    try:
        while x[i] < 1000:
            i += 1
    except IndexError:
        i = -1
    return i


def test_an_end_of_an_array_that_is_caught_is_one_for_all_values():
    graph = np2fx.trace(caught_in_the_body, VECTORS[0].copy())
    for x in (VECTORS[0], np.array([1.0, 2000.0]), np.array([3000.0, 1.0])):
        _same(caught_in_the_body(x), graph(torch.from_numpy(x)))


# Arrays that a round writes into and binds again


def relaxed(x):
    error, old = 1.0, x
    while error > 1e-3:
        x[1:-1] = (x[:-2] + x[2:]) / 2
        error = np.abs(x - old).max() if old is not x else 1.0
        old = x
        x = x.copy()
    return x


def two_buffers(x):
    a, b, n = x.copy(), np.zeros_like(x), 0
    while np.abs(a).max() > 0.01:
        b[...] = a
        b[1:-1] *= 0.5
        b[0] = b[-1] = 0.0
        a, b = b, a
        n += 1
    a[0] = 7.0
    return a, b, n


def three_in_turn(x):
    a, b, c, n = x.copy(), x * 2, x * 3, 0
    while np.abs(a).max() > 0.01:
        a *= 0.5
        a, b, c = b, c, a
        n += 1
    return a, b, c, n


def seen_after(x):
    first = x.copy()
    u, error = first, 1.0
    while error > 1e-3:
        u[1:-1] = (u[:-2] + u[2:]) / 2
        old, u = u, u.copy()
        u[0] = 0.5 * u[0]
        error = np.abs(u - old).max()
    return u, first, old


def _halved(u):
    error = 1.0
    while error > 1e-3:
        u[1:-1] *= 0.5
        error = np.abs(u[1:-1]).max()
        u = u.copy()
    return u


def seen_by_the_caller(x):
    y = x * 2
    return _halved(y), y


def kept_on_one_way(x):
    u, best, error = x.copy(), x.copy(), 10.0
    while error > 1e-3:
        u[1:-1] *= 0.5
        now = np.abs(u[1:-1]).max()
        if now < 0.1:
            best = u
        error = now
        u = u + 0.0
    return u, best


STATES = [np.array([1.0, -2, 3, -4, 5, -6]), np.array([-9.0, 7, 0, 2, 20, 1]), np.zeros(6)]


@pytest.mark.parametrize("node", [relaxed, two_buffers, three_in_turn, seen_after, seen_by_the_caller, kept_on_one_way])
def test_a_round_writes_into_an_array_that_it_binds_again(node):
    graph = np2fx.trace(node, STATES[0].copy())
    for state in STATES:
        left, given = state.copy(), torch.tensor(state)
        _same(node(left), graph(given))
        np.testing.assert_allclose(given.numpy(), left)


def the_argument_in_turn(x):
    a, b, error = x, x.copy(), 1.0
    while error > 1e-3:
        a, b = b, a
        a[1:-1] = (b[:-2] + b[2:]) / 2
        error = np.abs(a - b).max()
    return a


def another_view(x):
    u, error = x.copy(), 1.0
    view = u[1:-1]
    while error > 1e-3:
        u *= 0.5
        error = np.abs(view).max()
        u = u.copy()
        view = u[1:-1]
    return u


def in_a_list(x):
    u, error = x.copy(), 1.0
    kept = [u]
    while error > 1e-3:
        u *= 0.5
        error = np.abs(kept[0]).max()
        u = u.copy()
        kept[0] = u
    return u


@pytest.mark.parametrize("node", [the_argument_in_turn, another_view, in_a_list])
def test_memory_that_hangs_on_the_number_of_rounds_is_refused(node):
    with pytest.raises(np2fx.TraceError, match=r"is no torch\.while_loop"):
        np2fx.trace(node, STATES[0].copy())
