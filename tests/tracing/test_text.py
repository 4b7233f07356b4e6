"""Text that names values may go into exceptions and warnings: the graph raises what the function raises."""

from __future__ import annotations

import logging
import warnings

import np2fx
import numpy as np
import pytest
import torch

from .asserting import asserted

LOG = logging.getLogger(__name__)


def f_string(x):
    n = np.abs(x).sum()
    if n < 1:
        raise ValueError(f"size {n:.3f} of {x.shape}")
    return x / n


def by_format(x):
    if x[0] < 0:
        raise KeyError("{} is below {}".format(x[0], 0))  # noqa: UP032
    return x


def by_percent(x):
    if x[0] < 0:
        raise RuntimeError("first %s of %s" % (x[0], len(x)))  # noqa: UP031
    return x + 1


def by_variable(x):
    text = "largest " + str(x.max()) + f" {x.min()!r}"
    if x.max() < 0:
        raise TypeError(text)
    return x * 2


def joined(x):
    if x[0] < 0:
        raise ValueError("values " + ", ".join(f"{v:.1f}" for v in x))
    return x


def in_a_loop(x):
    s = 0.0
    for i, v in enumerate(x):
        if v < 0:
            raise ValueError(f"bad {v} at {i}")
        s += v
    return s


class _Own(Exception):
    def __init__(self, value):
        super().__init__(f"own {value}")


def own_exception(x):
    if x[0] < 0:
        raise _Own(x[0])
    return x - 1


def value_as_argument(x):
    if x[0] < 0:
        raise ValueError("negative", float(x[0]))
    return x


RAISING = [f_string, by_format, by_percent, by_variable, joined, asserted, in_a_loop, own_exception, value_as_argument]
GOOD, BAD = np.array([2.0, 3.0]), np.array([-0.25, -0.5])


@pytest.mark.parametrize("node", RAISING)
def test_the_exception_is_the_functions_own(node):
    graph = np2fx.trace(node, GOOD)
    np.testing.assert_allclose(np.asarray(graph(torch.tensor(GOOD))), node(GOOD.copy()))
    with pytest.raises(Exception) as wanted:
        node(BAD.copy())
    with pytest.raises(wanted.type) as raised:
        graph(torch.tensor(BAD))
    assert str(raised.value) == str(wanted.value)
    with pytest.raises(RuntimeError):  # the bare graph has a plain text
        graph.forward(torch.tensor(BAD))


def test_a_plain_text_stands_in_the_graph():
    messages = [a for n in np2fx.trace(f_string, GOOD).graph.nodes for a in n.args if isinstance(a, str) and "size" in a]
    assert messages == ["ValueError: size <float64> of (2,)"]


def test_what_was_written_before_stays_written():
    def f(x):
        x[1] = 9
        if x[0] < 0:
            raise ValueError(f"{x[0]}")
        return x

    given = torch.tensor(BAD)
    with pytest.raises(ValueError, match=r"-0\.25"):
        np2fx.trace(f, GOOD.copy())(given)
    np.testing.assert_array_equal(given.numpy(), [-0.25, 9])


def test_warnings_and_logs_say_nothing_in_a_graph():
    def f(x):
        m = x.max()
        if m > 2:
            warnings.warn(f"large {m}", stacklevel=1)
        LOG.debug("mean %s", x.mean())
        return x / m

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = np2fx.trace(f, GOOD)
    np.testing.assert_allclose(graph(torch.tensor([1.0, 4.0], dtype=torch.float64)).numpy(), [0.25, 1])


def returned(x):
    return f"{x[0]}"


def returned_in_a_dict(x):
    return {"name": "value " + str(x[0]), "x": x}


def compared(x):
    return x if f"{x[0]:.1f}" == "1.0" else x + 1


def searched(x):
    return x if "nan" in str(x) else x + 1


def asked(x):
    return x if str(x[0]).startswith("-") else x + 1


def measured(x):
    return x * len(f"{x[0]}")


def keyed(x):
    return {f"{x[0]}": x}


def read_as_a_number(x):
    return x * float(f"{x[0]:.2f}")


@pytest.mark.parametrize("node", [returned, returned_in_a_dict, compared, searched, asked, measured, keyed, read_as_a_number])
def test_elsewhere_it_is_refused(node):
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(node, GOOD)
