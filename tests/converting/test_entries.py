"""Calls through a compiled guard are as those on the long way."""

import types

import np2fx
import numpy
import pytest
import torch
from np2fx.converting.function import MOST_ENTRIES

from tests.converting import entry_programs as programs


def long_ways(function):
    """The number of calls that no guard has let in."""
    calls = []
    called = function._called
    function._called = lambda *args, **kwargs: calls.append(args) or called(*args, **kwargs)
    function.entered = function._called
    return calls


def test_a_second_call_takes_the_guard():
    f = np2fx.convert(programs.centred)
    calls = long_ways(f)
    x = torch.ones(2, 3, dtype=torch.float64)
    assert torch.equal(f(x), f(x)) and torch.equal(f(x=x), f(x))
    assert len(calls) == 1
    assert f(x.float()).dtype == torch.float64 and f(x[0]).shape == (3,)
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEAN", numpy.array([4, 5, 6])),
        ("MEAN", 7.0),
        ("GAIN", 3),
        ("GAIN", numpy.float64(3)),
        ("MEAN", numpy.array([1.0, 2.0, 3.0])[::-1]),
    ],
)
def test_what_is_around_may_be_exchanged(monkeypatch, name, value):
    f, x = np2fx.convert(programs.centred), numpy.ones((2, 3))
    f(torch.from_numpy(x)), f(torch.from_numpy(x))
    monkeypatch.setattr(programs, name, value)
    for _ in range(3):
        numpy.testing.assert_array_equal(f(torch.from_numpy(x)).numpy(), programs.centred(x))


def test_what_is_around_may_be_changed_in_place(monkeypatch):
    monkeypatch.setattr(programs, "MEAN", numpy.array([1.0, 2.0, 3.0]))
    f, x = np2fx.convert(programs.centred), numpy.ones((3, 3))
    f(torch.from_numpy(x)), f(torch.from_numpy(x))
    programs.MEAN[0] = 9.0
    numpy.testing.assert_array_equal(f(torch.from_numpy(x)).numpy(), programs.centred(x))
    programs.MEAN.resize((3, 1))
    numpy.testing.assert_array_equal(f(torch.from_numpy(x)).numpy(), programs.centred(x))


def test_a_global_that_changes_with_each_call(monkeypatch):
    f, x = np2fx.convert(programs.centred), numpy.ones((2, 3))
    for number in range(MOST_ENTRIES + 3):
        monkeypatch.setattr(programs, "GAIN", number + 0.5)
        numpy.testing.assert_array_equal(f(torch.from_numpy(x)).numpy(), programs.centred(x))
    assert f._entries == MOST_ENTRIES


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize(
    "exchange",
    [
        lambda f: setattr(f, "__defaults__", (3,)),
        lambda f: setattr(f, "__kwdefaults__", {"shift": 4}),
        lambda f: f.__kwdefaults__.update(shift=4),
        lambda f: setattr(f, "__defaults__", (numpy.arange(2.0),)),
        lambda f: setattr(f, "__code__", programs.unscaled.__code__),
    ],
)
def test_defaults_and_code_may_be_exchanged(exchange, guarded):
    original = types.FunctionType(programs.scaled.__code__, vars(programs), "scaled", (2,))
    original.__kwdefaults__ = {"shift": 1}
    f, x = np2fx.convert(original), torch.tensor([1.0, 2.0])
    if not guarded:
        f._entries = MOST_ENTRIES
    for number in range(8):
        if number == 4:
            exchange(original)
        assert f(x + number).tolist() == original((x + number).numpy()).tolist()


def test_a_builtin_that_the_module_takes_for_itself(monkeypatch):
    f, x = np2fx.convert(programs.length), torch.ones(3)
    f(x), f(x)
    monkeypatch.setattr(programs, "len", lambda x: 100, raising=False)
    assert f(x)[0] == 101


def test_a_helper_may_be_exchanged(monkeypatch):
    f, x = np2fx.convert(programs.helped), torch.ones(3)
    assert f(x)[0] == f(x)[0] == 3
    monkeypatch.setattr(programs, "doubled", lambda x: x * 5)
    assert f(x)[0] == f(x)[0] == 6


def test_scalars_that_leave_are_copies():
    for function, given in ((programs.gain, ()), (programs.first, (torch.ones(3),))):
        f = np2fx.convert(function)
        f(*given), f(*given)
        f(*given).fill_(7.0)
        assert float(f(*given)) == (0.5 if not given else 1.0) and (not given or float(given[0].sum()) == 3)


def test_arrays_that_leave_are_not(monkeypatch):
    monkeypatch.setattr(programs, "LEVEL", numpy.array(3.0))
    f, x = np2fx.convert(programs.level), torch.tensor(2.0)
    f(), f().fill_(8.0)
    assert programs.LEVEL == 8
    f = np2fx.convert(programs.same)
    assert f(x) is x and f(x) is x


def test_python_numbers_are_told_apart():
    f, x = np2fx.convert(programs.both), torch.ones(3, dtype=torch.int64)
    for b, dtype in ((2, torch.float64), (2, torch.float64), (numpy.float32(2), torch.float64), (True, torch.float64)):
        assert f(x, b=b).dtype == dtype and float(f(x, b=b)[0]) == 1 / float(b)
    f = np2fx.convert(programs.first)
    assert float(f(torch.arange(3.0))) == float(f(torch.arange(3.0))) == 1 and float(f(torch.arange(3.0), 2)) == 2


def test_errors_are_numpys_there_too():
    f, x = np2fx.convert(programs.picked), torch.ones(6)
    assert f(x, 2).shape == (2, 3)
    with pytest.raises(ValueError, match="invalid for input of size"):
        f(x, 4)
    f = np2fx.convert(programs.first)
    f(torch.ones(3), 1)
    with pytest.raises(IndexError):
        f(torch.ones(3), 5)
    with pytest.raises(TypeError):
        f()


def test_what_has_no_guard():
    f = np2fx.convert(programs.counted)
    assert [float(x) for x in f(torch.ones(2))] == [float(x) for x in f(torch.ones(2))] == [1, 1]
    assert f._entries == 0
    f = np2fx.convert(programs.same)
    f([1, 2]), f(torch.ones(2))
    assert f._entries == 1


def test_constants_follow_the_default_device():
    f, x = np2fx.convert(programs.centred), torch.ones(2, 3, dtype=torch.float64)
    f(x), f(x)
    with torch.device("meta"):
        assert f(x.to("meta")).device.type == "meta"
    assert f(x).device.type == "cpu"
