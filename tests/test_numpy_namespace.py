"""`np2fx.numpy`: NumPy's namespace on torch tensors, and what it is inside functions of the torch dialect."""

from __future__ import annotations

import inspect
import sys

import np2fx.numpy as tnp
import numpy as np
import pytest
import torch
from np2fx.arrays import bare, world
from np2fx.numpy import linalg
from np2fx.rules import load

X = np.arange(12, dtype="float32").reshape(3, 4) - 5
T = torch.from_numpy(X.copy())


def same(got, want):
    """Tensors of tensors, NumPy's array on a tensor of what had none."""
    got = got.tensor if type(got) is tnp.ndarray else got
    assert isinstance(got, torch.Tensor)
    assert str(got.dtype).removeprefix("torch.") == want.dtype.name and tuple(got.shape) == want.shape
    np.testing.assert_allclose(got.resolve_conj().numpy(), want, rtol=1e-5, atol=1e-6)


CALLS = """
np.std(x, axis=0); np.clip(x, -1, 2); np.where(x > 0, x, 0); np.concatenate([x, x], axis=1); np.arange(5); np.zeros((2, 3))
np.linalg.norm(x, axis=1); np.linalg.svd(x, compute_uv=False); np.fft.rfft(x); np.fft.fftshift(x); np.einsum('ij,kj->ik', x, x)
np.add.reduce(x, axis=1); np.multiply.accumulate(x, axis=0); np.subtract.outer(x[0], x[1]); np.maximum.reduceat(x, [0, 2], axis=0)
np.ndarray.sum(x, axis=1); np.ndarray.transpose(x, 1, 0); np.ndarray.astype(x, np.int32); np.full((2,), np.pi)
np.multiply(np.float64(2), x); np.mean(np.ndarray.astype(x, 'int64')); np.divmod(x, 3)[0]; np.sqrt(np.abs(x), dtype=np.float64)
np.array([x[0, 0], x[1, 1]]); np.lib.stride_tricks.sliding_window_view(x, 2, axis=1); np.exp(x)[np.newaxis]; np.atleast_3d(x)
np.polyval([1, 2], x)
"""


@pytest.mark.parametrize("call", [call.strip() for call in CALLS.replace(";", "\n").split("\n") if call.strip()])
def test_calls(call):
    want = eval(call, {"np": np, "x": X})
    same(eval(call, {"np": tnp, "x": T}), want)


def test_at_writes_into_its_tensor():
    a, t = X.copy(), T.clone()
    np.add.at(a, ([0, 0], [1, 1]), 2)
    tnp.add.at(t, ([0, 0], [1, 1]), 2)
    same(t, a)


def test_out():
    out = torch.zeros(4, dtype=torch.float64)
    assert tnp.sum(T, axis=0, out=out) is out
    same(out, X.sum(0, out=np.zeros(4)))


def test_constants_and_dtypes():
    assert (tnp.pi, tnp.e, tnp.inf, tnp.newaxis) == (np.pi, np.e, np.inf, None) and np.isnan(tnp.nan)
    assert tnp.float32 is np.float32 and tnp.dtype is np.dtype and tnp.finfo(tnp.float32).eps == np.finfo(np.float32).eps
    assert tnp.exceptions.AxisError is np.exceptions.AxisError and tnp.linalg.LinAlgError is np.linalg.LinAlgError


def test_errors_are_numpys():
    with pytest.raises(np.exceptions.AxisError):
        tnp.sum(T, axis=2)
    with pytest.raises(ValueError, match="broadcast"):
        tnp.add(T, torch.zeros(5))
    with pytest.raises(np.linalg.LinAlgError):
        tnp.linalg.inv(torch.zeros((2, 2)))


def test_gradients():
    t = T.clone().requires_grad_()
    tnp.sum(tnp.tanh(t) * tnp.linalg.norm(t, axis=-1, keepdims=True)).backward()
    assert t.grad is not None and bool(torch.isfinite(t.grad).all())
    u = T.clone().requires_grad_()
    (torch.tanh(u) * torch.linalg.vector_norm(u, dim=-1, keepdim=True)).sum().backward()
    torch.testing.assert_close(t.grad, u.grad)


@pytest.mark.parametrize(
    "call", ["np.std(x, axis=0)", "np.linalg.norm(x)", "np.concatenate([x, x])", "np.where(x > 0, x, 1)", "np.add.outer(x, x)"]
)
def test_meta_device(call):
    want = eval(call, {"np": np, "x": X})
    got = eval(call, {"np": tnp, "x": T.to("meta")})
    assert got.device.type == "meta" and tuple(got.shape) == want.shape and str(got.dtype) == f"torch.{want.dtype.name}"


@pytest.mark.parametrize("name", ["std", "sum", "concatenate", "linalg.norm", "fft.fft", "interp", "roll", "percentile", "add", "sin"])
def test_signatures(name):
    """What an editor shows: NumPy's parameters, by name and in order."""
    path = name.split(".")
    ours, theirs = tnp, np
    for part in path:
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    try:
        wanted = list(inspect.signature(theirs).parameters)
    except ValueError:
        pytest.skip("this NumPy does not say")
    given = list(inspect.signature(ours).parameters)
    assert [p for p in given if p in wanted] == given or isinstance(theirs, np.ufunc)
    assert len(given) == len(wanted) or set(wanted) - set(given) <= {"subok", "like", "signature"}
    assert ours.__doc__ and ours.__name__ == path[-1]


def test_dir():
    names = dir(bare.namespace)
    assert set(dir(np)) == set(dir(tnp)) and set(dir(np.linalg)) == set(dir(tnp.linalg))
    assert {"std", "sin", "linalg", "fft", "ndarray", "pi", "float32", "newaxis"} <= set(names)
    assert not {"save", "random", "load", "annotations", "Any", "_find"} & set(names)
    held = bare.namespace
    assert {"norm", "svd", "LinAlgError"} <= set(dir(held.linalg)) and "rfft" in dir(held.fft) and "reshape" in dir(held.ndarray)
    rules = {n.split(".")[1] for n in load()[0] if n.count(".") == 1 and n.startswith("numpy.") and hasattr(np, n.split(".")[1])}
    assert rules <= set(names)
    assert all(getattr(held, n, held) is not held for n in names)


def test_every_name_of_dir_is_a_rule_a_constant_or_a_namespace():
    for name in dir(bare.namespace):
        value = getattr(bare.namespace, name)
        if callable(value) and not isinstance(value, type):
            assert f"numpy.{name}" in load()[0], name


def test_star_import_and_submodules():
    names: dict[str, object] = {}
    exec("import np2fx.numpy as np\nfrom np2fx.numpy import std\nimport np2fx.numpy.linalg as la\nfrom np2fx.numpy.fft import rfft", names)
    assert "std" in names and "annotations" not in names
    assert names["la"] is linalg is tnp.linalg is sys.modules["np2fx.numpy.linalg"] and names["rfft"] is tnp.fft.rfft


@pytest.mark.parametrize(
    ("path", "finding"),
    [("random.normal", "random"), ("save", None), ("linalg.nothing", None), ("ma.array", "unmapped-function")],
)
def test_a_name_without_a_rule_says_why(path, finding):
    with pytest.raises(AttributeError) as caught:
        eval(f"np.{path}", {"np": bare.namespace})
    if path == "linalg.nothing":
        assert "NumPy has no linalg.nothing" in str(caught.value)
        return
    (found,) = caught.value.findings
    assert found.message.startswith(f"numpy.{path}: ") and found.hint and str(found) == str(caught.value)
    assert finding is None or found.name == finding
    assert not hasattr(bare.namespace, "save")


def test_functions_of_the_torch_dialect_make_tensors():
    assert type(tnp.zeros(3)) is tnp.ndarray and type(tnp.fft.fftfreq(4)) is tnp.ndarray
    token = world.inside.set(True)
    try:
        assert type(tnp.zeros(3)) is torch.Tensor and type(tnp.fft.fftfreq(4)) is torch.Tensor
        with world.arrays():
            assert type(tnp.zeros(3)) is tnp.ndarray
    finally:
        world.inside.reset(token)


def test_turned_tensors_share_memory_as_numpys_arrays_do():
    given, numpys = torch.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    for names, x in ((tnp, given), (np, numpys)):
        names.flip(x)[0] = 9
        names.rot90(x)[0] = 7
        names.fliplr(names.flipud(x))[0, 0] = 5
    np.testing.assert_array_equal(given.numpy(), numpys)
