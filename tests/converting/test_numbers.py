"""The class of a number decides dtypes: NumPy takes Python's own numbers for weak, and squares bools otherwise than the ufunc."""

from __future__ import annotations

from pathlib import Path

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

from . import numbers_programs
from .modules import module
from .test_convert import outcome

DTYPES = ["float32", "int32"]


def given(dtype):
    return np.array([1, 4, 2, 3], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("program", numbers_programs.PROGRAMS, ids=lambda p: p.__name__)
def test_converted_and_traced(program, dtype):
    want = outcome(program, given(dtype))
    assert outcome(np2fx.convert(program), torch.from_numpy(given(dtype))) == want
    if program is not numbers_programs.chosen:  # which hangs on a value
        assert outcome(np2fx.trace(program, given(dtype)), torch.from_numpy(given(dtype))) == want


@pytest.fixture(scope="module", params=[False, True], ids=["assuming", "exact"])
def rewritten(request):
    text = Path(numbers_programs.__file__).read_text()
    text = text.replace("import numpy as np\n", "import np2fx\nimport numpy as np\n").replace("\ndef ", "\n@np2fx.node\ndef ")
    new, _ = rewrite_source(text, "numbers_programs.py", exact=request.param)
    return module(new, f"numbers_programs_{request.param}")


@pytest.mark.parametrize("program", numbers_programs.PROGRAMS, ids=lambda p: p.__name__)
def test_rewritten(program, rewritten):
    found = getattr(rewritten, program.__name__)
    assert hasattr(found, "__np2fx_rewritten__")
    assert outcome(found, given("float32")) == outcome(program, given("float32"))


@pytest.mark.parametrize("value", [numbers_programs.Level.HIGH, numbers_programs.Real(2), numbers_programs.Whole(2)], ids=repr)
@pytest.mark.parametrize("parameter", ["k=2", "k=1.0", "k: int", "k: float"])
def test_a_rewritten_function_takes_numbers_of_other_classes_as_numpy_does(parameter, value):
    text = f"import numpy as np\ndef f(x, {parameter}): return np.sqrt(x) * k\n"
    new, _ = rewrite_source(text, "m.py", all_functions=True)
    f, original = module(new, "checked_numbers").f, module(text, "unchecked_numbers").f
    for k in (2, value):
        assert outcome(f, given("float32"), k) == outcome(original, given("float32"), k)


@pytest.mark.parametrize("value", [numbers_programs.Level.HIGH, numbers_programs.Real(2), numbers_programs.Whole(2)], ids=repr)
@pytest.mark.parametrize("spec", ["int", "float"])
def test_a_function_of_torch_checks_the_class_of_its_numbers(spec, value):
    node = f"@np2fx.node(x='float32[n]', k={spec!r})\ndef f(x, k): return np.sqrt(x) * k\n"
    new, _ = rewrite_source(f"import numpy as np\nimport np2fx\n{node}", "m.py")
    f = module(new, "checked_numbers").f
    assert "torch.sqrt" in new and f(np.ones(3, np.float32), 2).dtype == np.float32
    with pytest.raises(TypeError, match=r"was rewritten for a Python .* NumPy makes an array of it"):
        f(np.ones(3, np.float32), value)


def test_bools_to_the_power_of_a_traced_number_are_refused():
    def f(x):
        return (x > 1) ** int(x[0])

    with pytest.raises(np2fx.TraceError, match="NX302"):
        np2fx.trace(f, given("float32"))


LITERAL = 680564733841876926926749214863536422912


@pytest.mark.parametrize("f", [
    lambda x: x * 680564733841876926926749214863536422912,
    lambda x: x[0] - 680564733841876926926749214863536422912,
    lambda x: np.maximum(x, 680564733841876926926749214863536422912),
    lambda x: np.where(x > 1, 680564733841876926926749214863536422912, x),
    lambda x, n=LITERAL: x * n,
    lambda x, n=-(2**63) - 1: np.minimum(x, n),
])  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ints_that_no_int64_holds(f, dtype):
    x = np.array([1.0, 2.0], dtype)
    converted = np2fx.convert(f)
    with np.errstate(over="ignore"):
        for _ in range(2):  # the second call goes through the guard of the first
            np.testing.assert_array_equal(converted(torch.from_numpy(x)).numpy(), f(x))


def test_an_int_of_another_size_is_another_signature():
    converted = np2fx.convert(lambda x, n: x * n)
    x = np.array([1.0, 2.0])
    for n in (3, 3, LITERAL, LITERAL, 3, -LITERAL):
        np.testing.assert_array_equal(converted(torch.from_numpy(x), n).numpy(), x * n)


def test_more_axes_than_numpy_has():
    with pytest.raises(IndexError, match="number of dimensions must be within"):
        np2fx.convert(many_axes)(torch.ones(2))


def many_axes(x):
    return x[None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None,
             None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None,
             None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None,
             None, None, None]  # fmt: skip


def test_a_scalar_and_then_an_array_without_axes():
    def less(n):
        n -= 1
        return n

    converted = np2fx.convert(less)
    for _ in range(3):
        assert converted(np.int64(4)) == 3
        n = torch.tensor(4)
        assert converted(n) == 3 and n == 3
