"""The conformance cases on NumPy's array over tensors: each function runs as it stands, with `np` read from the namespace."""

from __future__ import annotations

import types
import warnings

import numpy as np
import pytest
from np2fx.arrays.namespace import namespace
from np2fx.arrays.ndarray import ndarray

from tests.conformance.cases import arguments, load
from tests.conformance.comparing import difference

CHUNK = 100
CASES = load()


def of_namespace(value):
    """What a module's global is where `np` is the namespace."""
    if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == "numpy":
        found = namespace
        for name in value.__name__.split(".")[1:]:
            found = getattr(found, name)
        return found
    if isinstance(value, np.ufunc):
        return getattr(namespace, value.__name__)
    return over_tensors(value)


def over_tensors(value):
    """Arrays anywhere in a value as arrays on tensors of their memory."""
    if type(value) is np.ndarray:
        return namespace.asarray(value)
    if type(value) in (list, tuple):
        return type(value)(map(over_tensors, value))
    return {k: over_tensors(v) for k, v in value.items()} if type(value) is dict else value


def plain(value):
    """Arrays on tensors as NumPy's, anywhere in a value."""
    if type(value) is ndarray:
        return np.array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain, value))
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return {k: plain(v) for k, v in value.items()} if type(value) is dict else value


def kinds(value):
    """Which of a result's parts are arrays, and which of NumPy's scalars."""
    if isinstance(value, (list, tuple)):
        return [kinds(v) for v in value]
    if isinstance(value, dict):
        return {k: kinds(v) for k, v in value.items()}
    return "array" if isinstance(value, np.ndarray) else type(value) if isinstance(value, np.generic) else ""


def answer(function, args):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*args)
    except Exception as error:
        return error


def wrong(case):
    """How the function's answer differs over tensors, None where it does not."""
    for inputs in case.input_sets():
        original, module = case.module(), case.module()
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                setattr(module, name, of_namespace(value))
        args, given = arguments(inputs, original), over_tensors(arguments(inputs, original))
        want, got = answer(original.node, args), answer(module.node, given)
        if isinstance(want, Exception) or isinstance(got, Exception):
            if type(want) is not type(got):
                return f"{want!r} / {got!r}"
            continue
        if case.entry.startswith("np.empty"):  # whatever lay there
            want, got = np.zeros_like(want), got * 0
        why = difference(want, plain(got)) or difference(args, plain(given), "arguments")
        if why or kinds(want) != kinds(got):
            return why or f"{kinds(want)} / {kinds(got)}"
    return None


@pytest.mark.parametrize("start", range(0, len(CASES), CHUNK))
def test_functions_answer_as_with_numpy(start):
    found = {case.id: why for case in CASES[start : start + CHUNK] if (why := wrong(case)) is not None}
    assert found == {}
