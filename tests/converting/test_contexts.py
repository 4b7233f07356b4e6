"""Contexts of the user's hear of NumPy's errors, and end these; and attributes that arrays have, or raise for."""

import contextlib
import threading

import np2fx
import numpy as np
import pytest
import torch

X = np.array([1.0, 2.0, 3.0])


class Ending:
    def __init__(self, *kinds):
        self.kinds, self.seen = kinds, []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.seen.append(getattr(kind, "__name__", None))
        return kind is not None and issubclass(kind, self.kinds)


class Timing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.done = True


@contextlib.contextmanager
def ending(*kinds):
    with contextlib.suppress(*kinds):
        yield


@contextlib.contextmanager
def trying(*kinds):
    try:
        yield
    except kinds as error:
        del error


@contextlib.contextmanager
def around():
    yield


def reshaped(x, context):
    with context:
        return x.reshape(2, 2)
    return x * 2


def added(x, context):
    y = x + 1
    with context, Timing():
        y = x + np.ones(5)
    return y * 2


def multiplied(x, context):
    with Timing(), context as c:
        x = x @ np.ones(4)
    return x * (2 if c is None or c.seen == ["ValueError"] else 3)


def inverted(x, context):
    with context:
        return np.linalg.inv(np.outer(x, x) * 0)
    return x * 2


def answer(call):
    try:
        found = call()
    except Exception as error:
        return type(error)
    return np.asarray(found).tolist()


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, IndexError, Exception, np.linalg.LinAlgError])
@pytest.mark.parametrize("make", [Ending, ending, trying])
@pytest.mark.parametrize("function", [reshaped, added, multiplied, inverted])
def test_errors_in_contexts_are_numpys(function, make, kind):
    want = answer(lambda: function(X, make(kind)))
    assert answer(lambda: np2fx.convert(function)(torch.from_numpy(X), make(kind))) == want


def test_no_context_ends_a_refusal():
    def f(x):
        with Ending(Exception):
            return np.busday_count(x, x)
        return x

    with pytest.raises(np2fx.ConversionError):
        np2fx.convert(f)(torch.from_numpy(X))


def element_ending(x, i):
    with Ending(IndexError):
        return x[i]
    return x[0]


def element_trying(x, i):
    with trying(IndexError):
        return x[i]
    return x[0]


def element_of_name(x, i):
    context = Ending(LookupError)
    with Timing(), context:
        return x[i]
    return x[0]


def element_of_stack(x, i):
    with contextlib.ExitStack() as stack:
        stack.enter_context(Ending(IndexError))
        return x[i]
    return x[0]


def element_timed(x, i):
    with Timing(), around(), torch.no_grad(), np.errstate(all="ignore"), threading.Lock():
        return x[i]


@pytest.mark.parametrize("function", [element_ending, element_trying, element_of_name, element_of_stack])
def test_a_graph_has_no_error_that_a_context_may_end(function):
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(function, X, np.int64(1))
    assert refused.value.findings[0].name == "data-dependent-branch"


def test_contexts_that_end_nothing_are_traced():
    graph = np2fx.trace(element_timed, X, np.int64(1))
    assert graph(torch.from_numpy(X), torch.tensor(2)) == 3.0


ATTRIBUTES = {
    "mT": lambda x: getattr(x[None], "mT"),  # noqa: B009
    "mT of a vector": lambda x: getattr(x, "mT", None),
    "hasattr mT": lambda x: x * (2 if hasattr(x[None], "mT") else 3),
    "hasattr mT of a vector": lambda x: x * (2 if hasattr(x, "mT") else 3),
    "torch's": lambda x: x * (2 if hasattr(x, "numpy") or hasattr(x, "cpu") or hasattr(x[0], "detach") else 3),
    "memory": lambda x: x * (2 if hasattr(x, "ctypes") and hasattr(x, "flags") and hasattr(x, "data") else 3),
    "of scalars": lambda x: x * (2 if hasattr(x[0], "is_integer") and not hasattr(x, "is_integer") else 3),
    "iteration": lambda x: x * (2 if hasattr(x, "__len__") and not hasattr(x[0], "__iter__") else 3),
    "default": lambda x: getattr(x, "nothing", x * 3),
}


@pytest.mark.parametrize("way", ["convert", "trace"])
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name, way):
    function = ATTRIBUTES[name]
    got = answer(lambda: (np2fx.convert(function) if way == "convert" else np2fx.trace(function, X))(torch.from_numpy(X)))
    assert got == answer(lambda: function(X))
