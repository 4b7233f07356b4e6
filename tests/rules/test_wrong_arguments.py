"""Arguments of wrong type, shape, sign and option for every parameter of every rule. Here a part of them, another value for each parameter;
`python -m tests.rules --arguments` tries them all."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
import torch
from np2fx.semantics.dtypes import resolve

from ..adversary.test_kinds import not_wrong, right
from .arguments import VALUES, fault, odd_calls
from .test_rules import RULES

EVERY = len(VALUES) // 2
SHARDS = 8
FLOATS, INTS, PLACES = np.array([3.0, 1.0, 2.0]), np.array([3, 1, 2]), np.array([0, 1, 2, 1, 0])


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_parameter_is_numpys_or_refused(shard):
    problems = []
    for entry in RULES[shard::SHARDS]:
        for call, parameter, value in odd_calls(entry):
            chosen = zlib.crc32(f"{entry.name}.{parameter}".encode()) % EVERY
            if VALUES.index(value) % EVERY == chosen and (why := fault(call)) is not None:
                problems.append(f"{call}: {why}")
    assert not problems, "\n".join(problems)


REFUSED_BY_NUMPY = (
    "np.sum(x, initial=[3])", "np.searchsorted(x, 2.0, sorter=[0.0, 1.0, 2.0])", "np.searchsorted(x, 2.0, sorter=[-2, -1, 0])",
    "np.einsum('i,i', x, x, order='Q')", "np.einsum('i,i', x, x, optimize=['einsum_path', (0, 5)])", "np.array(x, copy='always')",
    "np.array(x, ndmax=-1)", "np.array([1, 2], copy=np._CopyMode.NEVER)", "np.copyto(x, 3, casting='equiv')", "np.arange(start=4)",
    "x[(None,) * 64]", "np.add.reduce(x, out=np.zeros(2))", "np.negative.at(x, [0], 1)", "np.arange(5)[x[:1]:]",
    "np.arange(5)[np.array([1]):]",
    "np.concatenate([x, x], out=np.zeros(6), dtype=float)", "np.stack([x, x], out=np.zeros((2, 3)), dtype=float)",
    "np.isin(x, [0, 2**62], kind='table')", "np.ravel_multi_index((x, x), (2**40, 2**40))", "np.vectorize(pyfunc=3)(x)",
    "np.maximum(x, 0, casting='equiv')", "np.add(3.0, 4.0, dtype='float32', casting='equiv')", "np.vecdot(x, x, axes=[0, 0, 0])",
    "np.add(x, 1, order={})", "np.exp(2**70)", "np.from_dlpack(1.5)", "np.apply_over_axes(np.max, 1.5, [0])",
)  # fmt: skip


@pytest.mark.parametrize("call", REFUSED_BY_NUMPY)
def test_what_numpy_refuses(call):
    not_wrong(f"return {call}", FLOATS)
    not_wrong(f"return {call}", INTS)


def test_a_cast_of_a_number_that_equiv_forbids_ends_no_process():
    with pytest.raises(TypeError, match="Python int to float64"):
        resolve(np.maximum, (torch.float64, int), None, "equiv")
    with pytest.raises(TypeError, match="Python float to float32"):
        resolve(np.add, (float, float), torch.float32, "equiv")
    assert resolve(np.add, (torch.float64, float), None, "equiv") == (torch.float64,) * 3


def test_arguments_of_the_same_kind_are_asked_about_once(monkeypatch):
    from np2fx import numpy as npx
    from np2fx.semantics import asking

    asked = []
    monkeypatch.setattr(asking, "_fine", set())
    monkeypatch.setattr(asking, "error_of", lambda name, *_: asked.append(name))
    x = torch.ones(3, 2)
    for axis in (0, 1, 0, 1, 0):
        npx.median(x, axis=axis)
    assert asked == ["numpy.median"] * 2


WHOLE = ("averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull", "hazen", "inverted_cdf", "linear")


@pytest.mark.parametrize("method", WHOLE)
@pytest.mark.parametrize("q", ["[0, 1]", "0", "1", "np.array(1)", "np.array([0, 1], np.int8)", "np.uint64(1)", "[0.0, 1.0]"])
def test_whole_quantiles(method, q):
    for x in (INTS, INTS.astype(np.uint8), FLOATS, FLOATS.astype(np.float32)):
        verdict = not_wrong if "uint64" in q else right
        verdict(f"return np.quantile(x, {q}, method={method!r})", x, ways=("convert",))


@pytest.mark.parametrize("shift", ["np.uint64(1)", "np.uint8(1)", "np.int64(-1)", "np.uint64(2**63 + 1)", "(np.uint64(2), 1)", "2**70"])
def test_rolled_by_numbers_of_any_dtype(shift):
    not_wrong(f"return np.roll(x, {shift}, axis=0)", FLOATS)
    not_wrong(f"return np.roll(x, {shift}[0] if isinstance({shift}, tuple) else {shift})", FLOATS)


def test_one_element_left_is_an_array_without_axes():
    for body in ("return isinstance(x.squeeze(), np.ndarray), isinstance(np.squeeze(x), np.ndarray), isinstance(x[0], np.ndarray)",
                 "y = np.squeeze(x)\ny[...] = 5\nreturn x, y", "y = x.squeeze()\ny += 5\nreturn x, y"):  # fmt: skip
        right(body, FLOATS[:1], ways=("convert",))
        right(body, FLOATS[:1].reshape(1, 1, 1)[0], ways=("convert",))


OPERATORS = (
    "operator.neg(x)", "operator.itemgetter(slice(1, 3))(x)", "operator.itemgetter(slice(None, None, -1))(x)",
    "operator.itemgetter(0, 2)(x)",
    "operator.contains(x, 2)", "operator.countOf(x, 2)", "operator.indexOf(x, 2)", "operator.index(x[1]) + 1", "operator.index(x[:1])",
    "np.dtype(x[0]), np.zeros(2, np.dtype(x.sum()))", "int(np.uint64(2**64 - 1))", "x.flat[x.flat]", "x.flat[np.array([1, 0]).flat]",
    "x.flat.__array__()", "np.broadcast_arrays(x, np.int8(3))[1]",
)  # fmt: skip


@pytest.mark.parametrize("expression", OPERATORS)
def test_functions_of_python_on_arrays(expression):
    for x in (INTS - 1, FLOATS):
        not_wrong(f"import operator\nreturn {expression}", x)


def test_keys_that_lie_in_the_array_they_write_to():
    right("x[2:][x[:-2]] = 3\nreturn x", PLACES)
    right("x[2:][x[:-2]] = x[:3] + 1\nreturn x", PLACES)
    right("y = x[:-2]\nx[2:][y] = 3\nreturn x", PLACES)
    not_wrong("x.flat[()] = 1\nreturn x", FLOATS)
