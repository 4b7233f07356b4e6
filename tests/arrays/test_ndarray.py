"""NumPy's array object on a tensor, where Python, NumPy and torch meet it."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import operator
import pickle
import statistics

import numpy as np
import pytest
import torch
from np2fx.arrays.namespace import namespace as tnp
from np2fx.arrays.ndarray import ndarray
from np2fx.arrays.passing import lifted, lowered
from np2fx.semantics.table import Refused

DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint16", "float16", "float32", "float64", "complex64", "complex128")


def pair(shape=(3, 4), dtype="float64"):
    """The same values as NumPy's array and as one on a tensor of its own memory."""
    a = (np.arange(math.prod(shape)).reshape(shape) - 5).astype(dtype)
    return a, tnp.array(a)


def same(want, got):
    """NumPy's answer: kind, dtype, shape, values."""
    if isinstance(want, (tuple, list)):
        assert type(want) is type(got) and len(want) == len(got)
        for w, g in zip(want, got, strict=True):
            same(w, g)
        return
    assert isinstance(want, np.ndarray) == (type(got) is ndarray), (want, got)
    if isinstance(want, np.generic):
        assert type(want) is type(got)
    if isinstance(want, (np.ndarray, np.generic)):
        assert want.dtype == got.dtype and want.shape == got.shape
        np.testing.assert_allclose(np.array(got), want, rtol=1e-6 if want.dtype.itemsize > 4 else 1e-3)
    else:
        assert want == got


OPERATORS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    divmod,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
)
IN_PLACE = (
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
    operator.iand,
    operator.ior,
    operator.ixor,
    operator.ilshift,
    operator.irshift,
)


def outcome(operate, *operands):
    try:
        with np.errstate(all="ignore"):
            return operate(*operands)
    except (TypeError, ValueError, OverflowError) as error:
        return error


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operate", OPERATORS, ids=lambda o: o.__name__)
def test_operators(operate, dtype):
    a, t = pair(dtype=dtype)
    others = [(2, 2), (1.5, 1.5), (np.float32(2), np.float32(2)), pair((4,), dtype), pair((3, 4), "int16"), ([1, 2, 3, 4],) * 2, ("a", "a")]
    for other, over in others:
        for want, got in ((outcome(operate, a, other), outcome(operate, t, over)), (outcome(operate, other, a), outcome(operate, over, t))):
            if isinstance(want, Exception):
                assert type(got) is type(want), (operate, other, want, got)
            else:
                same(want, got)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operate", IN_PLACE, ids=lambda o: o.__name__)
def test_operators_in_place(operate, dtype):
    for other, over in ((2, 2), (0.5, 0.5), pair((4,), dtype), pair((4,), "float32")):
        a, t = pair(dtype=dtype)
        view, seen = a[1:, ::-1], t[1:, ::-1]
        want, got = outcome(operate, view, other), outcome(operate, seen, over)
        if isinstance(want, Exception):
            assert type(got) is type(want)
            continue
        assert got is seen
        same(a, t)


KEYS = (
    0,
    -1,
    slice(1, None),
    slice(None, None, -1),
    (slice(None), 2),
    (..., 0),
    None,
    (0, 1),
    (0, 1, ...),
    ([0, 2],),
    (slice(None), [0, -1]),
    np.array([True, False, True]),
    (slice(2, 0, -1), slice(None, None, 2)),
    np.int64(1),
    (np.intp(1), slice(None)),
    True,
    (),
)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_items(key):
    a, t = pair()
    same(a[key], t[key])
    a[key], t[key] = 7, 7
    same(a, t)
    view, seen = a[key], t[key]
    if isinstance(view, np.ndarray) and np.shares_memory(view, a):
        view += 1
        seen += 1
        same(a, t)
        assert [s for s, n in zip(seen.strides, seen.shape, strict=True) if n > 1] == [
            s for s, n in zip(view.strides, view.shape, strict=True) if n > 1
        ]


def test_a_key_beyond_the_end_is_numpys_error():
    a, t = pair()
    for key in (3, (0, 4), -4):
        with pytest.raises(IndexError) as want:
            a[key]
        with pytest.raises(IndexError) as got:
            t[key]
        assert str(got.value) == str(want.value)


def test_views_that_run_backwards_share_memory():
    a, t = pair()
    for turn in (
        lambda x: x[::-1],
        lambda x: x[::-1].T,
        lambda x: x[:, ::-1][1:, 1:3],
        lambda x: x[::-1, ::-1].reshape(2, 6),
        lambda x: tnp.flip(x, 0) if type(x) is ndarray else np.flip(x, 0),
        lambda x: x[::-2].ravel(),
    ):
        view, seen = turn(a), turn(t)
        view[...], seen[...] = view * 2 + 1, seen * 2 + 1
        same(a, t)
        same(view, seen)


def test_python_takes_it_as_it_takes_numpys():
    a, t = pair((4,), "float64")
    assert isinstance(t, np.ndarray) and isinstance(a, tnp.ndarray) and isinstance(t, tnp.ndarray) and isinstance(t[0], float)
    assert [f"{v:.2f}" for v in t] == [f"{v:.2f}" for v in a] and str(t) == str(a) and repr(t) == repr(a) and f"{t}" == f"{a}"
    assert json.dumps(t.tolist()) == json.dumps(a.tolist()) and json.dumps(list(t)) == json.dumps(list(a))
    assert {t[0]: 1} == {a[0]: 1} and sorted(t) == sorted(a) and max(t) == max(a) and sum(t) == sum(a) and a[1] in t and 99 not in t
    assert math.sqrt(t[3] ** 2) == 2.0 and statistics.mean(t) == statistics.mean(a) and list(map(float, t)) == list(map(float, a))
    assert len(t) == 4 and bool(t[:1]) and int(t[1:2].sum()) == -4 and [10, 20, 30][tnp.array(1)] == 20
    text = io.StringIO()
    csv.writer(text).writerow(t)
    assert text.getvalue() == "-5.0,-4.0,-3.0,-2.0\r\n"
    with pytest.raises(TypeError):
        hash(t)
    with pytest.raises(ValueError, match="more than one element"):
        bool(t)
    with pytest.raises(TypeError, match="0-d"):
        iter(tnp.array(1.0))
    with pytest.raises(TypeError):
        json.dumps(t)


def test_bools_are_numpys_two_objects():
    _, t = pair()
    assert (t > 0).any() is np.True_ and (t[0, 0] > 0) is np.False_


def test_copies_and_pickles():
    _, t = pair()
    for again in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t)), pickle.loads(pickle.dumps(t[::-1]))[::-1]):
        assert type(again) is ndarray and not np.shares_memory(np.asarray(again), np.asarray(t))
        same(np.array(t), again)
    locked = tnp.broadcast_to(tnp.array([1.0, 2.0]), (2, 2))
    with pytest.raises(ValueError, match="read-only"):
        locked[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        locked += 1


def test_numpys_own_functions_find_the_rules():
    a, t = pair()
    same(np.add(a, 1), np.add(t, 1))
    same(np.add.reduce(a, axis=1), np.add.reduce(t, axis=1))
    same(np.concatenate([a, a]), np.concatenate([t, a]))
    same(np.linalg.norm(a), np.linalg.norm(t))
    same(a + np.ones(4), np.ones(4) + t)
    out = np.zeros((3, 4))
    np.multiply(t, 2, out=out)
    assert (out == a * 2).all()
    assert np.asarray(t) is not t and np.shares_memory(np.asarray(t), np.asarray(t))
    assert np.array2string(t) == np.array2string(a)


def test_compiled_code_gets_the_memory():
    _, t = pair()
    np.asarray(t)[0, 0] = 42
    assert t[0, 0] == 42 and t.__array_interface__["data"][0] == t.tensor.data_ptr()
    assert torch.from_dlpack(t).data_ptr() == t.tensor.data_ptr()


def test_torch_takes_it_and_gives_tensors():
    a, t = pair()
    for found, want in ((torch.sin(t), np.sin(a)), (torch.stack([t, t]), np.stack([a, a])), (torch.clamp(t[::-1], min=0), a[::-1].clip(0))):
        assert type(found) is torch.Tensor
        np.testing.assert_allclose(found.numpy(), want)


def test_tensors_in_give_tensors_out():
    tensor = torch.arange(4.0)
    assert type(tnp.sum(tensor, axis=0)) is torch.Tensor and type(tnp.add(tensor, tensor)) is torch.Tensor
    assert type(tnp.add(tensor, tnp.arange(4.0))) is ndarray and type(tnp.zeros(3)) is ndarray
    made = ndarray.of(tensor)
    made[0] = 9
    assert tensor[0] == 9 and lowered(made).data_ptr() == tensor.data_ptr() and type(lifted(tensor)) is ndarray


def test_gradients_and_devices_are_kept():
    leaf = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    x = ndarray.of(leaf)
    y = ((x - x.mean()) / x.std() * x[1]).sum() * 2.0 + np.float64(1)
    assert isinstance(y, float) and y._tensor.requires_grad
    y._tensor.backward()
    assert leaf.grad is not None and torch.isfinite(leaf.grad).all()
    with pytest.raises(Refused, match="gradient"):
        np.asarray(x)
    there = ndarray.of(torch.ones(3, device="meta"))
    assert (there * 2 + there).tensor.device.type == "meta" and there.shape == (3,)


@pytest.mark.parametrize("name", [n for n in dir(np.ndarray) if not n.startswith("_")])
def test_every_attribute_is_there(name):
    a, t = pair()
    want, got = getattr(a, name), getattr(t, name)
    assert callable(want) == callable(got)
    if isinstance(want, (np.ndarray, int, tuple, np.dtype)):
        same(want, got)


@pytest.mark.parametrize(
    "call",
    (
        "x.sum(0)",
        "x.mean()",
        "x.std(axis=1)",
        "x.argmax()",
        "x.tobytes()",
        "x.byteswap()",
        "x.T.copy()",
        "x.view('f4')",
        "x.item(3)",
        "x.astype('i4')",
        "x.reshape(-1)",
        "x.transpose(1, 0)",
        "x.repeat(2)",
        "x.take([0, -1])",
        "x.clip(0, 3)",
        "x.nonzero()",
        "x.cumsum()",
        "x.dot(x.T)",
        "x @ x.T",
        "x.flat[3]",
        "list(x.flat)",
        "x.flags.c_contiguous",
        "x.T.flags.f_contiguous",
        "x.strides",
        "x.nbytes",
        "x.real",
        "x.imag",
        "x.swapaxes(0, 1)",
        "x[0].tolist()",
        "x.ravel('F')",
        "x.searchsorted",
        "x.squeeze()",
        "x[None].squeeze(0)",
        "x.round(1)",
        "x.ptp" if hasattr(np.ndarray, "ptp") else "x",
    ),
)
def test_methods(call):
    a, t = pair()
    want, got = eval(call, {"x": a}), eval(call, {"x": t})
    if not callable(want):
        same(want, got)


@pytest.mark.parametrize(
    "statement",
    (
        "x.sort(0)",
        "x.fill(2)",
        "x.put([0, 1], 9)",
        "x.resize((2, 3), refcheck=False)",
        "x.shape = (4, 3)",
        "x.partition(1)",
        "x.real = 3",
        "x.flat = [1, 2]",
        "x.flat[1:3] = 8",
        "x.setflags(write=False)",
        "x.flags.writeable = False",
        "x[1] = x[0]",
        "x[x > 0] = 0",
        "x[[0, 0]] += 1",
        "x[::-1].sort(1)",
        "x[:, ::-1].fill(1)",
        "x[::2] -= x[1]",
        "np.copyto(x, 1, where=x > 2)",
        "np.add.at(x, 0, 1)",
        "np.cumsum(x[::-1], 0, out=x)",
        "np.random.default_rng(0).shuffle(x)",
    ),
)
def test_statements_that_write(statement):
    a, t = pair()
    exec(statement, {"x": a, "np": np})
    exec(statement, {"x": t, "np": tnp})
    same(a, t)
    assert a.flags.writeable == t.flags.writeable


def test_what_torch_has_no_dtype_for_stays_numpys():
    words = tnp.array(["a", "b"])
    assert type(words) is np.ndarray and tnp.char.upper(words).tolist() == ["A", "B"]
    assert type(tnp.zeros(2, np.longdouble)) is np.ndarray and tnp.zeros(2, ">f8").dtype == np.dtype(">f8")


def test_random_numbers_are_numpys():
    want, got = np.random.default_rng(3), tnp.random.default_rng(3)
    same(want.normal(size=3), got.normal(size=3))
    assert isinstance(got, np.random.Generator)
    np.random.seed(2)
    want = np.random.rand(3)
    tnp.random.seed(2)
    same(want, tnp.random.rand(3))


def test_functions_of_the_users_get_arrays():
    a, t = pair()
    same(np.apply_along_axis(lambda v: v[::-1] * v.size, 0, a), tnp.apply_along_axis(lambda v: v[::-1] * v.size, 0, t))
    seen = []
    tnp.vectorize(lambda v: seen.append(v) or v)(t)
    assert not any(isinstance(v, torch.Tensor) for v in seen)


def test_places_and_items():
    x = tnp.array([[1.0, 2.0], [3.0, 4.0]])
    n = np.arange(2)
    assert type(x[0, 1]) is np.float64 and x[n[1], -1] == 4 and x[1][n[0]] == 3
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 1 with size 2"):
        x[0, 2]
    x[0, 0], x[n[0], 1] = np.float64(7), 8
    x[1] = x[0]
    assert x.tolist() == [[7, 8], [7, 8]]
    x[0] = x[0, ::-1]  # memory of its own
    assert x.tolist() == [[8, 7], [7, 8]]
    with pytest.raises(ValueError, match="could not broadcast"):
        x[0] = tnp.zeros(3)
    row = iter(x[0])
    x[0, 1] = 5
    assert list(row) == [8, 5]  # as NumPy's iterator, it reads what stands there then


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("scalar", [np.float64(0.1), np.float32(0.1), np.int64(3)])
def test_scalars_beside_arrays(dtype, scalar):
    a = np.arange(1, 4).astype(dtype)
    x = tnp.asarray(a.copy())
    for f in (lambda v: scalar * v, lambda v: v - scalar, lambda v: scalar / v, lambda v: v >= scalar, lambda v: np.maximum(scalar, v)):
        got, wanted = f(x), f(a)
        assert type(got) is ndarray and got.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(got), wanted)


def test_ufuncs_of_others():
    double = np.frompyfunc(lambda v: v * 2, 1, 1)
    x = tnp.array([1.0, 2.0])
    assert list(double(x)) == [2.0, 4.0]
    graded = ndarray.of(torch.ones(2, requires_grad=True))
    with pytest.raises(Refused, match="gradient"):
        double(graded)
