"""What the run before the trace leaves for the next one is never read as a constant."""

from __future__ import annotations

import argparse
import builtins
import contextvars
import dataclasses
import fractions
import functools
import inspect
import itertools
import math
import os
import random
import types
import weakref

import np2fx
import numpy as np
import pytest

from .test_trace import check, refused

X = np.array([1.5, 2.25, -0.5])
CACHE, SIZES, COUNTS = {}, {}, {"calls": 0}
SCRATCH, TABLE = np.zeros(3), np.zeros(3)
SPACE = types.SimpleNamespace(mean=None)
CONTEXT = contextvars.ContextVar("CONTEXT")
OWNER, WEAK = functools.partial(int), weakref.WeakKeyDictionary()
NESTED = [{"k": [None]}]


def fills(x):
    if "m" not in CACHE:
        CACHE["m"] = x.mean()  # here
    return x - CACHE["m"]


def sets_default(x):
    CACHE.setdefault("k", x.sum())  # here
    return x + 1


def on_itself(x):
    on_itself.last = x  # here
    return x + 1


def counts(x):
    COUNTS["calls"] += 1  # here
    return x * 2


def into_an_array(x):
    if not SCRATCH.any():
        SCRATCH[:] = x  # here
    return x - SCRATCH


def into_a_namespace(x):
    if SPACE.mean is None:
        SPACE.mean = x.mean()  # here
    return x - SPACE.mean


@functools.lru_cache(None)
def state():
    return {}


@functools.lru_cache
def bounded():
    return {}


def in_a_cache(x):
    held = state()
    held.setdefault("m", x.mean())
    return x - held["m"]


def in_a_bounded_cache(x):
    bounded().setdefault("m", x.mean())  # here
    return x - bounded()["m"]


def into_a_context(x):
    if CONTEXT.get(None) is None:
        CONTEXT.set(x.mean())  # here
    return x - CONTEXT.get()


def into_a_weak_dict(x):
    if OWNER not in WEAK:
        WEAK[OWNER] = x.mean()  # here
    return x - WEAK[OWNER]


def into_an_imported_module(x):
    from . import test_kept as here

    here.CACHE.setdefault("q", x.mean())  # here
    return x - here.CACHE["q"]


def deep_in_containers(x):
    if NESTED[0]["k"][0] is None:
        NESTED[0]["k"][0] = x.mean()  # here
    return x - NESTED[0]["k"][0]


def through_a_helper(x):
    return fills(x)


@pytest.mark.parametrize(
    "function",
    [fills, sets_default, on_itself, counts, into_an_array, into_a_namespace, in_a_cache, in_a_bounded_cache, into_a_context,
     into_a_weak_dict, into_an_imported_module, deep_in_containers, through_a_helper],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_state_is_refused_at_its_line(function):
    for _ in range(2):  # the first refusal leaves nothing that the second trace reads
        finding = refused("side-effect", function, X).findings[0]
        if function is not in_a_cache:
            with open(__file__, encoding="utf-8") as file:
                assert "# here" in file.read().splitlines()[finding.line - 1], finding.message
    assert CACHE == {} and COUNTS == {"calls": 0} and not SCRATCH.any() and SPACE.mean is None and vars(on_itself) == {}


class Adaptive:
    def __init__(self):
        self.mean = None

    def __call__(self, x):
        if self.mean is None:
            self.mean = x.mean()
        return x - self.mean


class Slotted:
    __slots__ = ("mean",)
    __init__, __call__ = Adaptive.__init__, Adaptive.__call__


@dataclasses.dataclass
class Record:
    held: dict = dataclasses.field(default_factory=dict)


RECORD = Record()


def record_of(x, record=RECORD):
    return x - record.held.setdefault("m", x.max())


def closure():
    mean = None

    def f(x):
        nonlocal mean
        if mean is None:
            mean = x.mean()
        return x - mean

    return f


def test_objects_classes_closures():
    for function in (Adaptive(), Slotted(), Adaptive().__call__, functools.partial(Adaptive.__call__, Adaptive()), record_of, closure()):
        refused("side-effect", function, X)
    finding = refused("side-effect", Adaptive(), X).findings[0]
    assert "self.mean" in finding.message
    thing = Adaptive()
    refused("side-effect", lambda x: thing(x), X)
    assert thing.mean is None


def by_size(x):
    n = x.shape[0]
    if n not in SIZES:
        SIZES[n] = np.hanning(n)
    return x * SIZES[n]


@functools.lru_cache
def window(n):
    return np.hanning(n)


def once(x):
    if not TABLE.any():
        TABLE[:] = np.arange(3)
    return x - TABLE


class Lazy:
    @functools.cached_property
    def window(self):
        return np.hanning(3)

    def __call__(self, x):
        return x * self.window


def test_tables_for_a_size_stay_allowed():
    check(by_size, X)
    check(lambda x: x * window(x.shape[-1]), X)
    check(once, X)
    np2fx.trace(Lazy(), X)


def test_state_from_before_is_what_it_is():
    adaptive = Adaptive()
    adaptive(X)
    check(adaptive, X)


def test_a_way_that_only_the_trace_takes_leaves_nothing():
    seen = []

    def f(x):
        if x.max() > 100:
            seen.append("high")
        return x * 2

    refused("side-effect", f, X)
    assert seen == []


def test_arguments_that_are_no_arrays_do_not_hide_what_is_kept():
    def f(x, k, options):
        if "scaled" not in CACHE:
            CACHE["scaled"] = x.mean() * k
        return x - CACHE["scaled"]

    CACHE.clear()
    refused("side-effect", f, X, 3, [1, 2])


MADE, FAILED, OPTIONS = types.ModuleType("made"), ValueError(), argparse.Namespace()


def of_python(x):
    if not hasattr(math, "_kept"):
        math._kept = float(x[0])  # here
    return x * math._kept


def of_builtins(x):
    if not hasattr(builtins, "_kept"):
        builtins._kept = float(x[0])  # here
    return x * builtins._kept


def of_numpy(x):
    if not hasattr(np, "_kept"):
        np._kept = float(x[0])  # here
    return x * np._kept


def of_a_part_of_numpy(x):
    if not hasattr(np.linalg, "_kept"):
        np.linalg._kept = float(x[0])  # here
    return x * np.linalg._kept


def of_a_function_of_numpy(x):
    if not hasattr(np.sum, "_kept"):
        np.sum._kept = float(x[0])  # here
    return x * np.sum._kept


def of_a_class_of_python(x):
    if not hasattr(fractions.Fraction, "_kept"):
        fractions.Fraction._kept = float(x[0])  # here
    return x * fractions.Fraction._kept


def of_an_object_of_python(x):
    if not hasattr(OPTIONS, "_kept"):
        OPTIONS._kept = float(x[0])  # here
    return x * OPTIONS._kept


def of_a_module_made_by_hand(x):
    if not hasattr(MADE, "_kept"):
        MADE._kept = float(x[0])  # here
    return x * MADE._kept


def of_an_exception(x):
    if not hasattr(FAILED, "_kept"):
        FAILED._kept = float(x[0])  # here
    return x * FAILED._kept


def among_the_arguments_of_an_exception(x):
    if not FAILED.args:
        FAILED.args = (float(x[0]),)  # here
    return x * FAILED.args[0]


def in_a_note(x):
    if not hasattr(FAILED, "__notes__"):
        FAILED.add_note(float(x[0]).hex())
    return x * float.fromhex(FAILED.__notes__[0])


def by_setattr(x):
    if not hasattr(math, "_kept"):
        setattr(math, "_kept", float(x[0]))  # noqa: B010
    return x * math._kept


def by_a_computed_name(x):
    name = "".join(["_", "kept"])
    if name not in math.__dict__:
        vars(math)[name] = float(x[0])
    return x * vars(math)[name]


def of_an_argument(x, module=math):
    if not hasattr(module, "_kept"):
        module._kept = float(x[0])  # here
    return x * module._kept


def in_the_environment(x):
    if "NP2FX_KEPT" not in os.environ:
        os.environ["NP2FX_KEPT"] = float(x[0]).hex()
    return x * float.fromhex(os.environ["NP2FX_KEPT"])


def at_each_call(x):
    math._kept = x * 2
    return x


def at_each_call_on_numpy(x):
    np._kept = x * 2
    return x


@pytest.mark.parametrize(
    "function",
    [of_python, of_builtins, of_numpy, of_a_part_of_numpy, of_a_function_of_numpy, of_a_class_of_python, of_an_object_of_python,
     of_a_module_made_by_hand, of_an_exception, among_the_arguments_of_an_exception, in_a_note, by_setattr, by_a_computed_name,
     of_an_argument, in_the_environment, at_each_call, at_each_call_on_numpy],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_attributes_of_what_is_not_the_users(function):
    holders = (math, builtins, np, np.linalg, np.sum, fractions.Fraction, OPTIONS, MADE, FAILED)
    lines = inspect.getsource(function).splitlines()
    for _ in range(2):
        finding = refused("side-effect", function, X).findings[0]
        if any("# here" in line for line in lines):
            assert "# here" in lines[finding.line - function.__code__.co_firstlineno], finding.message
        assert not [h for h in holders if hasattr(h, "_kept")] and not FAILED.args and not hasattr(FAILED, "__notes__")
        assert "NP2FX_KEPT" not in os.environ


def test_a_constant_that_is_set_on_a_module():
    def f(x):
        math._kept = 3.0
        return x * math._kept

    try:
        check(f, X)
        assert math._kept == 3.0
    finally:
        del math._kept


def steps():
    n = 0
    while n < 100:
        n += 1
        yield 1.0


def in_a_loop(x):
    for _ in ROUNDS:
        return x
    return x * 2


LISTED, CYCLE, STEPS, DRAWS, ROUNDS = iter([1.0] * 99), itertools.cycle([1.0] * 9 + [2.0]), steps(), random.Random(0), iter(range(9))


@pytest.mark.parametrize("function", [
    lambda x: x * next(LISTED), lambda x: x * next(CYCLE), lambda x: x * next(STEPS), lambda x: x * DRAWS.choice([1.0, 1.0]), in_a_loop,
], ids=["iterator", "cycle", "generator", "random numbers", "loop"])  # fmt: skip
def test_what_is_read_further_at_each_call(function):
    refused("side-effect", function, X)


def test_iterators_of_a_call_are_its_own():
    check(lambda x: x * next(iter([2.0])) + sum(a * b for a, b in zip([1.0], [2.0], strict=True)), X)
    pairs = zip([1.0], [2.0], strict=True)
    check(lambda x: x if pairs is None else x * 2, X)
