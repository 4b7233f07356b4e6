"""What is put into an array: lists of scalars that do not fit its dtype, and arrays of size one put into an element."""

from __future__ import annotations

import numpy as np
import pytest

from ..adversary.test_kinds import not_wrong, right
from ..adversary.test_kinds_more import program

FULL, FITTING = np.array([100, 100], np.int8), np.array([1, 100], np.int8)
READY = ("s = x.astype(np.int64).sum() | z = s / 0.0 - s / 0.0 | v = np.stack([s]) | a = np.array(s) | m = np.array([True])"
         " | y = x[:1].copy()")  # fmt: skip
VALUES = ("s", "[s]", "(s,)", "[[s]]", "[v]", "[a]", "[s, s]", "[3, s]", "a", "v", "np.array([s])", "np.full(1, s, np.int8)",
          "[z]", "[z, 1.5]", "x[:1]", "x[:1] * 2", "np.ones((1, 1), np.int8)", "x[0]", "[x[0]]",
          "x.max() * np.ones(1, np.int8)")  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", ["0", "0:1", "[0]", "m", "...", ":", "[]", "0:0", "np.int64(0)", "0, ...", "None, 0"])
def test_values_into_keys(key, value):
    for x in (FULL, FITTING):
        not_wrong(program(f"{READY} | y[{key}] = {value} | return y"), x)


CALLS = ("np.array([{}], np.int8)", "np.asarray([{}, 1], dtype='i1')", "np.full(2, {}, np.int8)", "np.full(1, [{}], np.int8)",
         "np.insert(x, 0, {})", "np.insert(x, 0, [{}])", "np.put(x, [0], [{}]) | return x", "np.place(x, x > 0, [{}]) | return x",
         "np.putmask(x, x > 0, [{}]) | return x", "np.copyto(x, [{}], casting='unsafe') | return x", "x.fill({}) | return x",
         "np.fill_diagonal(x[None], [{}]) | return x", "np.pad(x, 1, constant_values=[{}])", "np.full_like(x, [{}])",
         "np.sum(x, initial={}, dtype=np.int8)", "np.max(x, initial={})", "np.choose(x * 0, [x, {}])",
         "np.where(x > 0, x, [{}])")  # fmt: skip


NUMBERS = ("x.astype(int).sum()", "x.sum(dtype=np.float32)", "x.astype(int)[0] / 0.0", "np.array(x.astype(int).sum())")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("call", CALLS)
def test_scalars_in_lists(call, number):
    for x in (FULL, FITTING):
        not_wrong(program("return " * ("return" not in call) + call.format(number)), x)


STORES = ("y[0] = x[:1]", "y[1] = x[:1] * 2", "y[0] = np.zeros(1, np.int8)", "y[0] = np.ones((1, 1), np.int8)", "y[-1] = x[1:]",
          "y[x.argmax()] = x[:1]", "y[0] += x[:1]", "y[0], y[1] = x[:1], 2", "y[0] = y[1] = x[:1]")  # fmt: skip


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("made", ["x.copy()", "x * 1", "np.zeros(2)", "np.zeros(2, bool)"])
def test_no_array_is_put_into_an_element(made, store):
    not_wrong(program(f"y = {made} | {store} | return y"), FITTING)
    not_wrong(program(f"y = {made} | try: | \t{store} | except ValueError: | \ty[1] = 7 | return y").replace("\t", "    "), FITTING)


def test_rows_are_put_into_rows():
    right(program("y = np.stack([x, x]) | y[1] = np.ones((1, 2), np.int8)[0] | y[0, 1] = x[0] | return y"), FITTING)
