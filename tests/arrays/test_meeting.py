"""Arrays on tensors where they meet raw memory, arrays of other classes, and NumPy's ways of watching errors."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import pickle
import sys

import np2fx.numpy as tnp
import numpy as np
import pytest
import torch
from np2fx.semantics.table import Refused


def test_whoever_reads_bytes_gets_the_memory():
    t, a = tnp.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    memory = memoryview(t)
    assert (memory.shape, memory.strides, memory.format, memory.readonly) == ((2, 3), (24, 8), "d", False)
    memory[1, 2] = a[1, 2] = 9
    assert t[1, 2] == 9 and bytes(t) == a.tobytes() and hashlib.sha1(t).digest() == hashlib.sha1(a).digest()
    file = io.BytesIO()
    file.write(t)
    read = tnp.zeros((2, 3))
    assert io.BytesIO(file.getvalue()).readinto(memoryview(read)) == 48 and (read == t).all()
    assert bytes(t[::-1]) == a[::-1].tobytes() and memoryview(tnp.broadcast_to(t[0], (2, 3))).readonly
    with pytest.raises((SystemError, Refused)):
        memoryview(tnp.ndarray.of(torch.ones(3, requires_grad=True)))


def test_nothing_takes_the_bytes_for_other_numbers():
    for t in (tnp.arange(3.0), tnp.arange(3), tnp.zeros(4, np.uint8)):
        for _ in range(2):
            with pytest.raises((RuntimeError, BufferError, SystemError)):
                torch.asarray(t)
            assert hashlib.sha1(t).digest() == hashlib.sha1(np.asarray(t)).digest()
            assert torch.equal(torch.as_tensor(t), torch.from_numpy(np.asarray(t)))


def test_memory_of_others_is_shared():
    raw = bytearray(16)
    t = tnp.frombuffer(raw)
    t[1] = 1.0
    assert np.frombuffer(raw)[1] == 1.0 and memoryview(t.base).obj is raw and tnp.asarray(memoryview(raw).cast("d")).base is not None
    locked = tnp.frombuffer(bytes(16))
    with pytest.raises(ValueError, match="WRITEABLE"):
        locked.setflags(write=True)


def test_memory_that_an_object_lends_can_be_written():
    lent = multiprocessing.Array("f", 4)
    t = tnp.frombuffer(lent.get_obj(), np.float32)
    t[1] = 7
    assert lent[1] == 7 and type(t) is tnp.ndarray and t.flags.writeable and type(tnp.asarray(lent.get_obj())) is tnp.ndarray


class Holder:
    def __init__(self, held):
        self.held = held

    def __array__(self, dtype=None, copy=None):
        return self.held


def test_objects_that_hold_an_array_are_that_array():
    t = tnp.arange(3.0)
    made = tnp.asarray(Holder(t))
    made[0] = 7
    assert t[0] == 7 and tnp.sum(Holder(t)) == 10 and tnp.sum(Holder(np.ones(2))) == 2


def test_arrays_of_other_classes_answer_for_themselves():
    masked = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    assert tnp.sum(masked) == 4 and isinstance(tnp.sqrt(masked), np.ma.MaskedArray) and isinstance(tnp.stack([masked]), np.ma.MaskedArray)
    swapped = np.arange(3, dtype=">i4")
    assert tnp.zeros_like(swapped).dtype == np.dtype(">i4") and tnp.array(["a", "b"]).dtype.kind == "U"


def test_whose_memory_it_is():
    t = tnp.arange(6.0)
    m = t.reshape(2, 3)
    assert all(v.base is t for v in (t[1:], t[::-1], m, m[0], m.T, t.ravel("K"))) and t.base is None
    assert all(v.flags.owndata for v in (t, t + 1, t.copy(), t[[0, 1]], m.T.ravel(), tnp.ones(3)))
    assert sys.getsizeof(t) > t.nbytes > sys.getsizeof(tnp.zeros(1000)[::2]) - 1000
    out = tnp.zeros(3, complex)
    assert tnp.ones(3, complex).conjugate(out) is out
    buffers = []
    data = pickle.dumps(t, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and (pickle.loads(data, buffers=buffers) == t).all()


@pytest.mark.parametrize("text", ("1 / t", "t / t", "np.log(t)", "t ** -1", "t // 0", "np.divide(1, t)", "np.float64(1) / t"))
def test_errors_that_numpy_is_told_to_raise(text):
    t = tnp.array([1.0, 0.0])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        eval(text, {"np": tnp, "t": t})
    with np.errstate(all="ignore"):
        eval(text, {"np": tnp, "t": t})


def test_memory_on_which_no_tensor_can_lie_stays_numpys():
    raw = np.zeros(40, np.uint8)
    shift = 8 if raw.ctypes.data % 16 == 0 else 0
    t = tnp.frombuffer(raw, complex, 1, shift)
    t[...] = 1j
    assert type(t) is np.ndarray and raw.any()
    field = np.zeros(3, [("a", "i1"), ("b", "f8")])["b"]
    assert np.shares_memory(tnp.asarray(field), field) and (tnp.sin(field) == 0).all()


ORDERS = ("a.T < a", "a.T + a", "b.sum(0)", "b.mean(axis=1)", "np.stack([a.T, a.T])", "b[:, [1, 0]]", "np.fft.fft(a, axis=0)")


@pytest.mark.parametrize("text", ORDERS)
def test_results_lie_in_memory_as_numpys(text):
    made = []
    for np_ in (np, tnp):
        a, b = np_.arange(1.0, 10.0).reshape(3, 3), np_.asarray(np.arange(24.0).reshape((2, 3, 4), order="F"))
        made.append(eval(text, {"np": np_, "a": a, "b": b}))
    assert made[0].strides == made[1].strides and (made[0] == made[1]).all()


BACKWARDS = ("np.split(a[::-1], [1])[1]", "np.rot90(m)", "np.flip(m).T", "np.atleast_2d(a[::-1])", "np.moveaxis(m[::-1], 0, 1)")


@pytest.mark.parametrize("text", BACKWARDS)
def test_functions_give_views_that_run_backwards(text):
    kept = []
    for np_ in (np, tnp):
        a, m = np_.arange(4.0), np_.arange(6.0).reshape(2, 3)
        view = eval(text, {"np": np_, "a": a, "m": m})
        view += 10
        kept.append((a, m, view.strides))
    assert all((x == y).all() for x, y in zip(kept[0][:2], kept[1][:2], strict=True)) and kept[0][2] == kept[1][2]


def test_what_numpy_refuses_of_matrix_products_in_place():
    a = tnp.arange(3.0)
    with pytest.raises(ValueError, match="inplace"):
        a @= a
    m = same = tnp.eye(2)
    m @= tnp.array([[1.0, 2.0], [3.0, 4.0]])
    assert m is same and m.tolist() == [[1, 2], [3, 4]]


def test_elements_in_the_order_of_numpys_own_loops():
    made = [np_.array([3.0, 1.0, 2.0, 0.0]) for np_ in (np, tnp)]
    for a in made:
        a.flat = a[::-1]
        a.flat[1:] = a[:-1]
    assert made[0].tolist() == made[1].tolist()
    assert tnp.eye(3).argpartition(0).tolist() == np.eye(3).argpartition(0).tolist()
    assert isinstance(tnp.arange(3.0)[tnp.array(0), ...], np.ndarray)


def test_warnings_of_reductions():
    for of_nothing in (lambda: tnp.zeros(0).mean(), lambda: tnp.nanmax(tnp.array([np.nan])), lambda: tnp.array([1.0]).var(ddof=1)):
        with pytest.warns(RuntimeWarning):
            of_nothing()


def test_ufuncs_of_others_and_annotations():
    assert np.frompyfunc(lambda x: x + 1, 1, 1)(tnp.ones(2)).tolist() == [2.0, 2.0]
    assert tnp.ndarray[int, np.dtype[np.float64]].__origin__ is tnp.ndarray


def test_a_write_to_a_part_writes_no_other():
    t = tnp.ones((3, 2), "f4")
    bytes_of = t.view(bool)
    bytes_of[:2] = False
    assert t.tolist() == [[0, 0], [0, 0], [1, 1]]
    t[0] = t[2]
    t[1, 0], t[1, 1] = t[2, 0], np.float64(7)
    assert t.tolist() == [[1, 1], [1, 7], [1, 1]]


CALLS = ("t[0] @ t[1]", "t.sum(0)", "np.sum(t, axis=1)", "t.reshape(-1)", "np.stack([t, t])", "t.T", "np.where(t, t, 0)", "t @ t.T", "t**2")


@pytest.mark.parametrize("text", CALLS)
def test_the_second_call_answers_as_the_first(text):
    want, t = eval(text, {"np": np, "t": np.arange(6.0).reshape(2, 3)}), tnp.arange(6.0).reshape(2, 3)
    for _ in range(3):
        got = eval(text, {"np": tnp, "t": t})
        assert type(got) is (tnp.ndarray if want.ndim else np.float64) and got.shape == want.shape and got.strides == want.strides
        assert (got == want).all()
    with pytest.raises(np.exceptions.AxisError):
        t.sum(2)
    locked = tnp.broadcast_to(t, (2, 3))
    assert not locked.T.flags.writeable


def test_out_by_position_is_written_at_every_call():
    for _ in range(3):
        t, out = tnp.arange(4.0), tnp.zeros(4)
        assert t.clip(1, 2, out) is out and out.tolist() == [1, 1, 2, 2]
        assert tnp.clip(t, 1, 2, t) is t and t.tolist() == [1, 1, 2, 2]
        total = tnp.zeros(2)
        assert tnp.sum(tnp.ones((3, 2)), 0, None, total) is total and total.tolist() == [3, 3]
