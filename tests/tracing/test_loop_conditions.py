"""Loops whose condition does more than ask, and loops over what containers hold: explored or refused, never a wrong `torch.while_loop`."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch


def relax(y):
    before = y.copy()
    y[:] = 0.5 * (y + y.mean())
    return np.abs(y - before).max()


def bump(x):
    x[1] += 1
    return x[1] < 5


def relaxed(x):
    n = 0
    while n < 50 and relax(x) > 0.1:
        n += 1
    return n


def bumped(x):
    n = 0
    while bump(x) and n < 6:
        n += 1
    return n


def lowered(x):
    n = 0
    while np.subtract(x, 1, out=x)[0] > 0:
        n += 1
    return n


def lowered_in_a_branch(x):
    if x[2] > 0:
        k = 0
        while np.subtract(x, 1, out=x)[0] > 0 and k < 20:
            k += 1
    return x * 2


def halved_in_a_dict(x):
    d, n = {"a": x}, 0
    while n < 3 and d["a"][0] > 1:
        d["a"] = d["a"] / 2
        n += 1
    return n


def halved_in_a_list(x):
    held, n = [x.max()], 0
    while held[-1] > 1 and n < 4:
        held.append(held[-1] / 2)
        n += 1
    return n


INPUTS = [np.array(v, float) for v in ([1, 1, 1], [1, 2, 3], [10, 20, 30], [-1, 9, -1], [9, 0, 0])]
RIGHT = [bumped, lowered_in_a_branch, halved_in_a_dict, halved_in_a_list]
REFUSED = [relaxed, lowered]


@pytest.mark.parametrize("sample", [0, 1, 3])
@pytest.mark.parametrize("node", RIGHT)
def test_right_for_all_inputs(node, sample):
    graph = np2fx.trace(node, INPUTS[sample].copy())
    for x in INPUTS:
        left, given = x.copy(), torch.tensor(x)
        want, got = node(left), graph(given)
        np.testing.assert_allclose(np.asarray(got), np.asarray(want))
        np.testing.assert_allclose(given.numpy(), left)


@pytest.mark.parametrize("sample", [0, 1, 3])
@pytest.mark.parametrize("node", REFUSED)
def test_refused_with_the_reason(node, sample):
    with pytest.raises(np2fx.TraceError, match="its condition writes into an array"):
        np2fx.trace(node, INPUTS[sample].copy())
