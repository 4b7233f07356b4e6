"""What is not written in Python as the node or handed to NumPy: NumPy's own functions, sequences, threads."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from .test_trace import check, refused

X = np.array([3.0, 1.0, 2.0])
Y = np.array([-4.0, 5.0, 0.5])

NUMPYS = (
    *(np.sum, np.mean, np.std, np.var, np.prod, np.any, np.all, np.max, np.min, np.ptp, np.argmax, np.average, np.median, np.nanmax),
    *(np.sort, np.cumsum, np.diff, np.round, np.copy, np.asarray, np.array, np.linalg.norm, np.add.reduce, np.exp),
    *(np.ndarray.sum, np.ndarray.mean, np.ndarray.std, np.ndarray.argmax, np.ndarray.ravel, np.ndarray.cumsum, np.ndarray.copy),
    *(functools.partial(f, axis=0) for f in (np.sum, np.max, np.argmax, np.nanmin, np.mean)),
    *(functools.partial(np.var, ddof=1), functools.partial(np.ndarray.clip, min=0, max=2), functools.partial(np.clip, a_min=0, a_max=2)),
)


@pytest.mark.parametrize("function", NUMPYS, ids=lambda f: getattr(f, "__name__", type(f).__name__))
def test_a_function_of_numpys_is_traced_itself(function):
    check(function, X, others=[(Y,)])


def test_defaults_that_a_compiled_function_names_are_not_given_to_it():
    check(np.where, X > 1.5, X, Y, others=[(Y > 0, Y, X)])
    check(np.where, X > 1.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, keep=np._NoValue: np.sum(x, None, keepdims=keep, where=keep),
        lambda x, keep=np._NoValue: np.max(x, None, None, keep, keep, keep),
        lambda x, keep=np._NoValue: np.clip(x, 0, 2, min=keep, max=keep),
    ],
)
def test_an_argument_may_say_that_it_is_left_out(function):
    check(function, X, others=[(Y,)])


def named(name):
    """A function with one parameter, of this name."""
    space: dict = {"np": np}
    exec(f"def f({name}):\n    return np.where({name} > 0, {name}, np.inf)", space)
    return space["f"]


@pytest.mark.parametrize("name", ["self", "torch", "inf", "nan", "device", "NoneType", "list", "forward", "root", "operator"])
def test_a_parameter_may_have_any_name(name):
    check(named(name), X, others=[(Y,)])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.array(deque([x[0], x[1]])),
        lambda x: np.mean(deque([x[0], x[1]])),
        lambda x: np.stack(deque([x, x * 2])),
        lambda x: np.concatenate(deque([x, x * 2])),
        lambda x: np.sum(deque([x, x * 2]), axis=0),
        lambda x: np.add(x, deque([x[0], x[1], x[2]])),
        lambda x: x @ deque([x[0], x[1], x[2]]),
        lambda x: x + deque([1.0, 2.0, 3.0]),
        lambda x: np.array([deque([x[0], x[1]]), (x[1], x[2])]),
        lambda x: np.put_along_axis(c := x.copy(), np.array([0, 1]), deque([x[2], x[1]]), 0) or c,
    ],
)
def test_a_deque_is_a_sequence(function):
    check(function, X, others=[(Y,)])


class Pair:
    """A sequence, and an array, of the program's own."""

    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.x[i]


class Held:
    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x


@pytest.mark.parametrize("function", [lambda x: np.array(Pair(x)), lambda x: np.max(Pair(x)), lambda x: np.mean(Held(x * 2))])
def test_methods_that_numpy_calls_are_named_as_the_reason(function):
    assert "a method of an object that it was handed" in str(refused("opaque-call", function, X))


def in_a_thread(x):
    done = []
    thread = threading.Thread(target=lambda: done.append(x * 2))
    thread.start()
    thread.join()
    return done[0]


def unheard(x):
    thread = threading.Timer(0, lambda: np.sqrt(x))
    thread.start()
    thread.join()
    return x


def in_a_pool(x):
    with ThreadPoolExecutor() as pool:
        return next(iter(pool.map(lambda v: v * 2, [x, x + 1])))


@pytest.mark.parametrize("function", [in_a_thread, unheard, in_a_pool, lambda x: contextvars.Context().run(lambda: x * 2)])
def test_threads_are_named_as_the_reason_and_print_nothing(function, capfd):
    hook = threading.excepthook
    assert "used in another thread" in str(refused("opaque-call", function, X))
    assert capfd.readouterr() == ("", "")
    assert threading.excepthook is hook


def test_a_thread_with_a_trace_of_its_own():
    with ThreadPoolExecutor() as pool:
        assert len(list(pool.map(lambda x: check(lambda v: np.sqrt(v * v), x), [X, Y, X + 1]))) == 3
