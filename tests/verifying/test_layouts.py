"""Layouts and scalars: every side gets the same, and a counterexample builds what was tried."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import np2fx
import np2fx.converting
import numpy as np
import pytest
import torch
from np2fx.verifying import verify
from np2fx.verifying.comparing.counterexample import literal, tensor_expression
from np2fx.verifying.inputs.copies import copied, laid_out, layout_of
from np2fx.verifying.inputs.plans import plan_of, sample_arguments

CUBE = np.arange(24.0).reshape(2, 3, 4)
ARRAYS = {
    "rows": CUBE,
    "columns": np.asfortranarray(CUBE),
    "first axes swapped": CUBE.transpose(1, 0, 2),
    "axes turned": CUBE.transpose(2, 0, 1),
    "gaps": CUBE[:, :, ::2],
    "gaps between rows": CUBE[:, :2],
    "gaps in columns": np.asfortranarray(CUBE)[:, :2],
    "one column": CUBE[..., 0],
    "every other": np.arange(5.0)[::2],
    "reversed": CUBE[:, ::-1],
    "repeated": np.broadcast_to(CUBE[0], (2, 3, 4)),
    "an axis of one": CUBE[:, :1].transpose(2, 1, 0),
    "empty": CUBE.T[:0],
    "0-d": np.array(3.0),
    "ints": np.asfortranarray(np.arange(6).reshape(2, 3)),
}


def steps(x: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return tuple(stride // x.itemsize for stride in x.strides)


@pytest.mark.parametrize("x", ARRAYS.values(), ids=ARRAYS)
def test_all_sides_and_the_counterexample_get_one_layout(x: np.ndarray[Any, Any]) -> None:
    own, tensor = copied({"x": x})["x"], copied({"x": x}, as_tensors=True)["x"]
    written = eval(literal(x))
    for made in (own, written):
        np.testing.assert_array_equal(made, x)
        assert made.dtype == x.dtype and layout_of(made) == layout_of(x)
        assert made.flags.writeable and not np.shares_memory(made, x)
    assert steps(own) == steps(written) == tensor.stride() == eval(tensor_expression("written", written)).stride()
    assert own.flags.c_contiguous == (layout_of(x) is None)
    assert torch.equal(tensor, torch.from_numpy(own))


@pytest.mark.parametrize("x", [x for x in ARRAYS.values() if x.size > 1], ids=[name for name, x in ARRAYS.items() if x.size > 1])
def test_a_layout_is_one_of_other_sizes_too(x: np.ndarray[Any, Any]) -> None:
    values = np.arange(float(5**x.ndim)).reshape((5,) * x.ndim)
    made = laid_out(values, layout_of(x))
    np.testing.assert_array_equal(made, values)
    if 1 not in x.shape:
        assert layout_of(made) == layout_of(x)
    np.testing.assert_array_equal(laid_out(np.ones((1,) * (x.ndim + 1)), layout_of(x)), np.ones((1,) * (x.ndim + 1)))


def raveled(x):
    z = x.ravel()
    z[0] = 9
    return x, z


def raveled_as_it_lies(x):
    z = x.ravel("K")
    z[0] = 9
    return x, z


def reshaped(x):
    z = x.reshape(-1)
    z[0] = 9
    return x, z


def reshaped_by_columns(x):
    z = x.reshape(-1, order="F")
    z[0] = 9
    return x, z


@pytest.mark.parametrize("fn", [raveled, raveled_as_it_lies, reshaped, reshaped_by_columns])
@pytest.mark.parametrize("name", ["columns", "axes turned", "gaps", "gaps in columns", "reversed", "repeated"])
def test_layouts_are_no_false_alarms(fn: Any, name: str) -> None:
    report = np2fx.verify(fn, ARRAYS[name], max_examples=10)
    assert report.ok, str(report)


@pytest.mark.parametrize("name", ["columns", "axes turned", "gaps", "gaps in columns"])
def test_generated_inputs_lie_as_the_sample_does(name: str) -> None:
    plan = plan_of(lambda x: x, (ARRAYS[name],), {"x": "float64[a, b, c]"})
    made = sample_arguments(plan, {"a": 4, "b": 2, "c": 5}, 0)["x"]
    assert made.shape == (4, 2, 5) and layout_of(made) == layout_of(ARRAYS[name])


@pytest.mark.parametrize("name", ["columns", "axes turned", "gaps"])
def test_a_counterexample_shows_a_difference_of_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / f"lies_{name.replace(' ', '_')}.py").write_text("def f(x):\n    z = x.ravel()\n    z[...] = 9\n    return x + 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    f = __import__(f"lies_{name.replace(' ', '_')}").f
    monkeypatch.setattr(np2fx.converting, "convert", lambda fn: lambda x: torch.full_like(x, 9))
    report = verify(f, ARRAYS[name], ways=("convert",), max_examples=5)
    assert report.counterexample is not None
    code = report.counterexample.code.replace("torch_fn = np2fx.convert(fn)", "torch_fn = lambda x: x + 0")
    done = subprocess.run([sys.executable, "-c", code + "assert not (want == 9).all()"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def doubled(x, k):
    k *= 2
    return x * k


def one_less(n):
    n -= 1
    return n


@pytest.mark.parametrize(
    ("fn", "samples"),
    [
        *((doubled, (np.ones(3), k)) for k in (np.float64(4), np.float32(4), np.int8(3), np.complex64(1j), np.array(4.0))),
        *((one_less, (n,)) for n in (np.int64(4), np.float32(4), np.uint8(4), np.array(4))),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value),
)
def test_an_augmented_assignment_to_a_scalar_is_no_false_alarm(fn: Any, samples: tuple[Any, ...]) -> None:
    report = np2fx.verify(fn, *samples, max_examples=10)
    assert report.ok, str(report)


@pytest.mark.parametrize("inside", [lambda k: k, lambda k: [k], lambda k: {"a": (k, 1)}], ids=["plain", "list", "dict"])
def test_a_scalar_is_a_scalar_on_every_side(inside: Any) -> None:
    k = np.float32(1.5)
    for as_tensors in (False, True):
        given = copied({"k": inside(k), "x": np.ones(2)}, as_tensors)
        assert repr(given["k"]) == repr(inside(k))
    assert "tensor(1.5000)" in repr(copied({"k": inside(k)}, True, scalars=False))
    assert repr(eval(tensor_expression("k", inside(k)), {"k": k, "np": np, "torch": torch})) == repr(inside(k))
    assert "torch.as_tensor" in tensor_expression("k", inside(k), scalars=False)


def test_one_array_passed_twice_is_one_on_every_side() -> None:
    x = np.ones(3)
    for as_tensors in (False, True):
        given = copied({"x": x, "y": [x]}, as_tensors)
        assert given["x"] is given["y"][0]
