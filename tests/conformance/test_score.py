"""The scorer can tell: planted faults in place of `np2fx.convert` get the verdict they deserve."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest
import torch

from .cases import Case
from .comparing import difference
from .score import judge, refusals, summary

CASE = Case("planted", "test", "import numpy as np\n\ndef node(x):\n    return x * 2\n", "(np.array([1.0, 2.0]),)", "(np.array([5.0]),)")


def refusal(*findings):
    error = np2fx.ConversionError.__new__(np2fx.ConversionError)
    Exception.__init__(error, "no")
    error.findings = list(findings)
    return error


class Named:
    def __init__(self, name):
        self.name = name


def raising(error):
    def planted(*_):
        raise error

    return planted


def writes_its_argument(x):
    doubled = x * 2
    x += 1
    return doubled


@pytest.mark.parametrize(
    ("planted", "verdict"),
    [
        (lambda x: x * 2, "right"),
        (lambda x: x * 3, "wrong"),
        (lambda x: (x * 2).float(), "wrong"),
        (lambda x: (x * 2)[None], "wrong"),
        (lambda x: torch.tensor([2.0, 4.0], dtype=torch.float64), "wrong"),
        (writes_its_argument, "wrong"),
        (lambda x: [x * 2], "wrong"),
        (raising(ValueError("broken")), "crash"),
        (raising(refusal(Named("random"))), "refused"),
        (raising(refusal()), "crash"),
    ],
    ids=["same", "value", "dtype", "shape", "baked", "argument", "container", "error", "refused", "no-finding"],
)
def test_verdicts(planted, verdict, monkeypatch):
    monkeypatch.setattr(np2fx, "convert", lambda node: planted, raising=False)
    assert judge("convert", CASE).verdict == verdict


def test_an_error_is_right_where_numpy_raises_too(monkeypatch):
    case = Case("raises", "test", "import numpy as np\n\ndef node(x):\n    return np.ones(3) + x\n", "(np.ones(2),)", numpy_raises=True)
    monkeypatch.setattr(np2fx, "convert", lambda node: raising(RuntimeError("shapes")), raising=False)
    assert judge("convert", case).verdict == "right"
    monkeypatch.setattr(np2fx, "convert", lambda node: lambda x: x, raising=False)
    assert judge("convert", case).verdict == "wrong"


def test_refusals_and_summary(monkeypatch):
    monkeypatch.setattr(np2fx, "convert", raising(refusal(Named("random"), Named("mutation"), Named("random"))), raising=False)
    verdicts = [judge("convert", CASE)]
    assert refusals(verdicts) == {"convert": {"planted": "mutation,random"}, "trace": {}}
    assert summary(verdicts) == "convert: right 0 refused 1 wrong 0 crash 0 of 1"


@pytest.mark.parametrize(
    ("want", "got", "same"),
    [
        (np.float32(1.0), np.float32(1.00001), True),
        (np.float64(1.0), np.float64(1.00001), False),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), True),
        (np.array([np.nan]), np.array([1.0]), False),
        (np.int64(2**53 + 1), np.int64(2**53), False),
        (3, np.float64(3.0), True),
        (np.int64(3), 3.0, False),
        ((1, 2), [1, 2], True),
        ({"a": 1}, {"b": 1}, False),
        (None, None, True),
        ("a", "b", False),
        (np.bool_(True), np.array(True), True),
    ],
)
def test_difference(want, got, same):
    assert (difference(want, got) is None) is same
