"""What the standard library iterates over, calls and enters on behalf of a program."""

from __future__ import annotations

from pathlib import Path

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

from . import library_programs
from .modules import module
from .test_convert import outcome

TEXT = Path(library_programs.__file__).read_text()


def given():
    return np.array([1.0, 4.0, 2.0, 3.0])


@pytest.fixture(scope="module", params=[False, True], ids=["assuming", "exact"])
def rewritten(request):
    return module(rewrite_source(TEXT, "library_programs.py", all_functions=True, exact=request.param)[0], f"library_{request.param}")


@pytest.mark.parametrize("program", library_programs.PROGRAMS, ids=lambda p: p.__name__)
def test_converted(program):
    assert outcome(np2fx.convert(program), torch.from_numpy(given())) == outcome(program, given())


@pytest.mark.parametrize("program", library_programs.PROGRAMS, ids=lambda p: p.__name__)
def test_rewritten(program, rewritten):
    found = getattr(rewritten, program.__name__)
    assert hasattr(found, "__np2fx_rewritten__")
    assert outcome(found, given()) == outcome(program, given())


@pytest.mark.parametrize("held", [np.array([5.0, 6.0]), np.array([[5.0, 6.0], [7.0, 8.0]])], ids=["elements", "rows"])
@pytest.mark.parametrize("name", ["added", "raised"])
def test_an_iterable_object_of_before(name, held, rewritten):
    x, (want, got, also) = np.array([1.0, 2.0]), [kind(held.copy()) for kind in (library_programs.Buffer,) * 2 + (rewritten.Buffer,)]
    expected = outcome(getattr(want, name), x)
    assert outcome(np2fx.convert(getattr(got, name)), torch.from_numpy(x)) == expected
    assert outcome(getattr(also, name), x) == expected
    np.testing.assert_array_equal(got.held, want.held)
    np.testing.assert_array_equal(also.held, want.held)


@pytest.mark.parametrize("body", ["return np.sum(x) if x.flags.writeable else x", "x.flags.writeable = False\n    return x + 1",
                                  "return np.sum(x), x.ctypes", "return x.base is None, np.sum(x)"])  # fmt: skip
def test_what_no_tensor_has_is_found_when_it_is_rewritten(body):
    text = f'import np2fx\nimport numpy as np\n\n@np2fx.node(x="float64[4]")\ndef f(x):\n    {body}\n'
    new, findings = rewrite_source(text, "m.py")
    assert new == text and {f.name for f in findings} <= {"python-value", "opaque-call"} and {f.line for f in findings} == {6}


def test_a_refusal_of_run_time_says_where():
    text = 'import numpy as np\nimport np2fx\n\n@np2fx.node(x="float64[2, 2]")\ndef f(x):\n    y = np.sum(x)\n'
    text += "    return np.linalg.inv(x), y\n"
    new, _ = rewrite_source(text, "m.py")
    f = module(new, "refusing_at_run_time").f
    with pytest.raises(np2fx.ConversionError) as caught:
        f(np.array([[np.inf, 1.0], [0.0, 1.0]]))
    (found,) = caught.value.findings
    line = new.split("\n")[found.line - 1]
    assert found.path == "<refusing_at_run_time>" and "inv(" in line and isinstance(caught.value.__cause__, np2fx.rules.Refused)
