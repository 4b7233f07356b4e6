"""What gets past NumPy's dispatch never becomes a constant in silence."""

from __future__ import annotations

import ctypes
import functools
import logging
import queue
import threading
import warnings

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing import TracedNpArray, TraceError
from np2fx.tracing.recording.compare import compare_graphs

from .test_trace import check, refused

X = np.array([1.0, -2.0, 3.0])


def test_raw_buffers_hold_poison():
    def as_bytes(x):
        return x + np.frombuffer(bytes(memoryview(np.ndarray.copy(x))), dtype=np.float64)

    def by_address(x):
        pointer = ctypes.cast(x.ctypes.data, ctypes.POINTER(ctypes.c_double))
        return x + pointer[0]

    refused("leaked-constant", as_bytes, X)
    refused("opaque-call", by_address, X)


def test_poison_is_never_the_value():
    def f(b):
        return np.frombuffer(np.ndarray.tobytes(b), b.dtype).sum() * np.ones(1)

    for sample in (np.ones(3, bool), np.zeros(3, bool), np.array([True, False]), np.arange(3), np.arange(3, dtype=np.uint8)):
        with pytest.raises(TraceError):
            np2fx.trace(f, sample)


def test_compiled_code():
    ndimage = pytest.importorskip("scipy.ndimage")
    refused("leaked-constant", lambda x: ndimage.gaussian_filter1d(x, 1.0) + x, X)
    weights = np.array([0.25, 0.5, 0.25])
    check(lambda x: x * ndimage.correlate1d(np.arange(3.0), weights), X)


def test_numpy_functions_without_a_rule():
    triple = np.frompyfunc(lambda v: v * 3, 1, 1)
    error = refused("unmapped-function", lambda x: x + triple(x).astype(float), X)
    assert error.findings[0].hint


def test_random_numbers():
    refused("random", lambda x: x + np.random.default_rng(0).random(3), X)
    refused("random", lambda x: np.random.permutation(x), X)
    generator = np.random.default_rng(0)
    refused("leaked-constant", lambda x: x + 1e-9 * generator.random(3), X)
    refused("random", lambda t: t + torch.rand(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))


def test_state_that_changes_between_calls():
    class Smooth:
        last = None

        def __call__(self, x):
            self.last = x if self.last is None else 0.9 * self.last + 0.1 * x
            return self.last

    with pytest.raises(TraceError):
        np2fx.trace(Smooth(), X)

    @functools.lru_cache
    def table(n):
        return np.arange(n) * 2.0

    check(lambda x: x + table(3), X)


def test_uninitialised_memory():
    def f(x):
        y = np.empty(3)
        y[:2] = x[:2]
        return y

    refused("leaked-constant", f, X)


def test_a_traced_array_outside_of_its_trace():
    kept = queue.SimpleQueue()  # out of sight: a trace puts back what it can reach

    def f(x):
        kept.put(x * 2)
        return x

    refused("side-effect", f, X)
    assert type(kept.get()) is np.ndarray
    last = kept.get()
    assert isinstance(last, TracedNpArray) and "traced array" in repr(last)
    with pytest.raises(TraceError):
        last + 1
    refused("side-effect", lambda x: x + last, X)


def test_a_refused_trace_leaves_nothing_behind():
    class Holder:
        last = None

    def sets(x):
        Holder.last = x * 2
        return x

    kept = []
    refused("side-effect", sets, X)
    refused("side-effect", lambda x: kept.append(x * 2) or x, X)
    assert Holder.last is None and kept == []


def test_threads_see_numpy_itself():
    seen = queue.SimpleQueue()

    def other():
        seen.put(type(np.zeros(3) + np.array([1.0])))

    def f(x):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return x * 2

    check(f, X)
    assert {seen.get() for _ in range(seen.qsize())} == {np.ndarray}


def test_traces_may_be_nested():
    def f(x):
        inner = np2fx.trace(lambda y: y + np.array([1.0, 2.0, 3.0]), np.ones(3))
        return x * len(inner.graph.nodes)

    check(f, X)


def test_compare_graphs():
    def f(k):
        return lambda x: np.sin(x * k) + np.arange(3.0)

    a, b, c = (np2fx.trace(f(k), X) for k in (2.0, 2.0, 3.0))
    assert compare_graphs(a, b) is None
    assert "mul" in (compare_graphs(a, c) or "")
    d = np2fx.trace(lambda x: np.sin(x * 2.0) + np.arange(1.0, 4.0), X)
    assert "constant" in (compare_graphs(a, d) or "")


def test_samples_that_torch_cannot_hold():
    refused("object-dtype", lambda x: x, np.array(["a", "b"]))
    refused("object-dtype", lambda x: x, np.array([1, None]))


def test_the_time_is_no_constant():
    import time

    def stamped(x):
        return x + time.time()

    def timed(x):
        start = time.perf_counter()
        y = x * 2
        print(time.perf_counter() - start)
        return y

    sample = np.ones(3, np.float32)
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(stamped, sample)
    assert refused.value.findings[0].name == "leaked-constant"
    assert np2fx.trace(timed, sample)(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]


def warns(x):
    warnings.warn("old", stacklevel=1)
    return x * 2


def warns_for_values(x):
    if x.sum() > 0:
        warnings.warn("high", DeprecationWarning, stacklevel=2)
        print("high")
        logging.getLogger(__name__).info("high")
    return x * 2


def warns_in_a_helper(x):
    return warns(x) if x.shape[0] else x


def warns_at_a_line(x):
    warnings.warn_explicit("old", UserWarning, __file__, 1)
    return x * 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [warns, warns_for_values, warns_in_a_helper, warns_at_a_line])
def test_a_warning_is_no_state(function):
    for _ in range(2):
        check(function, X, others=[(-X,)])


def test_a_function_that_counts_its_warnings_is_refused():
    def f(x):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            y = x / 0
        return y * len(given)

    refused("leaked-constant", f, X)
