"""What a dtype asks for beyond its name, and what stands between brackets beyond lists: byte order, records, views of no elements,
ranges and other sequences as indices, NumPy integers as indices that select views, attributes of arrays."""

import array
import collections
import collections.abc
import ctypes

import np2fx
import numpy as np
import pytest
import torch

SWAPPED = np.array([1, 2], ">f4")
SWAPPED_INDEX = np.array([1, 0], ">i4")
ZERO_D = np.array(1)


class Sequence(collections.abc.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return [1, 0][i]


class Number:
    def __index__(self):
        return 1


class Arrayed:
    def __array__(self, dtype=None, copy=None):
        return np.array([0, 1])


class Both(Number, Arrayed):
    pass


def outcome(function, *args):
    """The result as NumPy arrays, or the class of the error."""
    try:
        made = function(*args)
    except np2fx.ConversionError:
        return "refused"
    except np2fx.TraceError:
        return "refused"
    except Exception as error:
        return type(error)
    return [m.numpy() if isinstance(m, torch.Tensor) else m for m in (made if isinstance(made, tuple) else (made,))]


def agree(function, *arrays):
    """`convert` and `trace` give what NumPy gives; True where neither was refused."""
    wanted = outcome(function, *(a.copy() for a in arrays))
    found = [outcome(np2fx.convert(function), *(torch.from_numpy(a.copy()) for a in arrays))]
    if isinstance(wanted, list):
        try:
            traced = np2fx.trace(function, *(a.copy() for a in arrays))
            found.append(outcome(traced, *(torch.from_numpy(a.copy()) for a in arrays)))
        except np2fx.TraceError:
            found.append("refused")
    for made in found:
        if made == "refused":
            continue
        if not isinstance(wanted, list):
            assert isinstance(made, type) and issubclass(made, wanted)
            continue
        assert isinstance(made, list), made
        for w, m in zip(wanted, made, strict=True):
            assert type(w) is type(m) or np.asarray(w).shape == np.asarray(m).shape
            assert np.asarray(w).dtype == np.asarray(m).dtype
            np.testing.assert_array_equal(w, m)
    return "refused" not in found


def x():
    return np.arange(6, dtype=np.float32).reshape(2, 3)


# Byte order.


def _refused_or_numpys(function, data):
    want, got = outcome(function, data.copy()), outcome(np2fx.convert(function), torch.from_numpy(data.copy()))
    if isinstance(want, list) and isinstance(got, list):
        for w, g in zip(want, got, strict=True):
            assert (np.asarray(g).dtype, np.asarray(g).tolist()) == (w.dtype, w.tolist())
    else:
        assert isinstance(got, str) or got is want


@pytest.mark.parametrize("dtype", [">u2", np.dtype(">i2"), np.dtype("f4").newbyteorder(), [("a", ">i2")], ctypes.c_int16.__ctype_be__])
def test_a_foreign_byte_order_is_refused_or_numpys_wherever_a_dtype_is_asked_for(dtype):
    data = np.array([1, 2, 2, 5], np.uint8)
    for function in (
        lambda x: np.frombuffer(b"\x01\x02\x01\x02", dtype) + 0,
        lambda x: x.view(dtype).astype(int),
        lambda x: x.astype(dtype),
        lambda x: np.full(2, 258, dtype),
        lambda x: np.zeros(2, dtype),
        lambda x: np.array([1, 2], dtype),
        lambda x: np.add(x, 1, dtype=dtype),
        lambda x: np.sum(x, dtype=dtype),
    ):
        _refused_or_numpys(function, data)


@pytest.mark.parametrize("dtype", ["<i4", "=i4", "|u1", "<f4", np.dtype("i4").newbyteorder("=")])
def test_the_native_byte_order_is_no_other_however_it_is_said(dtype):
    assert agree(lambda x: (x.astype(dtype), np.ones(3, dtype)), x())


def test_constants_of_a_foreign_byte_order_count_by_value():
    assert agree(lambda x: (SWAPPED + x[:, 0], x[SWAPPED_INDEX], np.take(x, SWAPPED_INDEX), SWAPPED[1:] + x[0, 0], SWAPPED.sum()), x())


def test_the_bytes_of_constants_of_a_foreign_byte_order_are_not_seen():
    for function in (
        lambda x: SWAPPED.view(np.uint8),
        lambda x: SWAPPED[1:].view("<f4"),
        lambda x: SWAPPED.getfield(np.uint8),
        lambda x: np.asarray(SWAPPED).view(np.int32),
    ):
        _refused_or_numpys(function, x())


# Dtypes of any kind.

DTYPES = [
    [("p", "f4")], {"names": ["a"], "formats": ["f4"]}, "f4,i2", np.dtype([("a", "i4")]), "S3", "U", object, "M8[D]", "m8[s]", "V4", "c",
    "g", np.dtype(("f4", (2,))), (np.float32, 2), float, None, complex, int, bool, str, np.number, 3, 1.5, b"f4", "nope", [], (), {}, set(),
    type(None), ctypes.c_int16, np.float64, np.float32(3), np.zeros(2), np.dtypes.Float32DType, np.longlong,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_whatever_is_given_as_dtype_is_numpys_or_refused(dtype):
    for function in (
        lambda x: np.zeros(2, dtype),
        lambda x: np.full(2, 1, dtype),
        lambda x: np.zeros_like(x, dtype),
        lambda x: np.array([1, 2], dtype),
        lambda x: np.asarray(x, dtype),
        lambda x: np.arange(3, dtype=dtype),
        lambda x: np.linspace(0, 1, 3, dtype=dtype),
        lambda x: x.astype(dtype),
        lambda x: x.view(dtype),
        lambda x: x.getfield(dtype),
        lambda x: np.sum(x, dtype=dtype),
        lambda x: np.mean(x, dtype=dtype),
        lambda x: np.cumsum(x, dtype=dtype),
        lambda x: np.add(x, x, dtype=dtype),
        lambda x: np.concatenate([x, x], dtype=dtype),
        lambda x: np.frombuffer(b"01234567", dtype),
        lambda x: np.fromiter([1, 2], dtype),
    ):
        wanted = outcome(function, x())
        made = outcome(np2fx.convert(function), torch.from_numpy(x()))
        if made == "refused":
            continue
        if isinstance(wanted, type):
            assert isinstance(made, type) and issubclass(made, wanted)
        else:
            (w,), (m,) = wanted, made
            assert w.dtype == m.dtype
            np.testing.assert_array_equal(w, m)


# Views of another dtype.


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8", "c16"])
@pytest.mark.parametrize("source", ["u1", "f4", "c8", "i8"])
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (2, 3), (2, 16), (3, 8)])
def test_views_of_another_dtype(shape, source, dtype):
    data = (np.arange(np.prod(shape)) % 5 + 1).astype(source).reshape(shape)
    for function in (
        lambda x: x.view(dtype),
        lambda x: x[:, :1].view(dtype),
        lambda x: x[:, ::2].view(dtype),
        lambda x: x[:, 1:].view(dtype),
        lambda x: x.T.view(dtype),
        lambda x: x[::-1].view(dtype),
        lambda x: x[:0].view(dtype),
        lambda x: np.zeros((4, 0, 4), x.dtype).view(dtype),
    ):
        wanted, made = outcome(function, data.copy()), outcome(np2fx.convert(function), torch.from_numpy(data.copy()))
        if made == "refused":
            continue
        if isinstance(wanted, type):
            assert made is wanted
        else:
            assert (wanted[0].shape, wanted[0].dtype, wanted[0].tobytes()) == (made[0].shape, made[0].dtype, made[0].tobytes())


# Indices.

INDICES = {
    "range": range(2), "range of none": range(0), "backwards": range(-1, -3, -1), "outside": range(3),
    "deque": collections.deque([0, 1]), "array.array": array.array("q", [0, 1]), "array of floats": array.array("d", [0, 1]),
    "memoryview": memoryview(b"\x00\x01"), "bytearray": bytearray(b"\x00\x01"), "bytes": b"\x00", "str": "a",
    "tuple in a tuple": ((0, 1),), "empty tuple in a tuple": ((),), "tuple and int": ((0, 1), 0), "lists": [[0, 1]], "bools": [True, False],
    "a bool in a list": [True, 1], "empty": [], "floats": [0.0], "index": Number(), "array": Arrayed(), "both": Both(),
    "sequence": Sequence(),
    "list of an index": [Number()], "set": {0, 1}, "float": 1.0, "range in a list": [range(2)], "deque in a list": [collections.deque([0])],
    "range in a tuple": (range(2), slice(None)), "objects": [None], "large": [2**70], "0-d": np.array(1), "strings": np.array(["a"]),
    "0-d and a list": (np.array(1), [0, 1]), "ranges": (range(2), range(2)), "that do not fit": (range(2), [0, 1, 1]),
}  # fmt: skip


def reading(x, key):
    return x[key]


def writing(x, key):
    x[key] = 7
    return x


def updating(x, key):
    x[key] += 2
    return x


def through(x, key):
    y = x[key]
    y += 1
    return x


def taking(x, key):
    return np.take(x, key)


def at(x, key):
    np.add.at(x, key, 1)
    return x


def flat(x, key):
    return x.flat[key]


def flat_written(x, key):
    x.flat[key] = 9
    return x


@pytest.mark.parametrize("function", [reading, writing, updating, through, taking, at, flat, flat_written], ids=lambda f: f.__name__)
@pytest.mark.parametrize("key", INDICES.values(), ids=INDICES)
def test_numpy_makes_an_array_of_whatever_is_an_index(function, key):
    taken = function in (flat, flat_written, at)  # not all of these can be recorded
    wanted = outcome(lambda x: function(x, key), x())
    assert agree(lambda x: function(x, key), x()) or taken or isinstance(wanted, type) or function is taking


def test_ranges_stay_indices_in_a_graph():
    traced = np2fx.trace(lambda x: x[range(2), range(1, 3)] + x[:, range(2)][0], x())
    made = traced(torch.from_numpy(x() + 5))
    np.testing.assert_array_equal(made.numpy(), x()[range(2), range(1, 3)] + 5 + x()[0, :2] + 5)


# NumPy's integers as indices.


def largest_row(x):
    i = np.argmax(x[:, 0])
    x[i] += 1
    x[i, :] += 1
    x[i][0] = 5
    row = x[i]
    row[1:] *= 3
    return x, row


def of_any_width(x):
    for i in (np.int64(1), np.uint8(0), np.int16(-1)):
        x[i] -= 2
        x[i, 1:] *= 3
        x[:, i] += 1
    return x


def each_row(x):
    for i in np.argsort(x[:, 0]):
        x[i] += i
    return x


def beside_others(x):
    i, j = np.unravel_index(np.argmax(x), x.shape)
    x[i, [0, 1]] += 1
    x[None, i, ..., 0][...] = 4
    x[i, j] = 0
    return x


def of_a_0d_array(x):
    i = np.array(0)
    row = x[i]
    row[:] = 5
    other = x[ZERO_D]
    other += 7
    return x, row, other


@pytest.mark.parametrize("function", [largest_row, of_any_width, each_row, beside_others, of_a_0d_array], ids=lambda f: f.__name__)
def test_an_integer_scalar_selects_a_view_and_a_0d_array_a_copy(function):
    assert agree(function, x())


def test_an_integer_scalar_becomes_no_constant():
    def f(x):
        return x[np.argmax(x[:, 0])] * 2

    other = torch.from_numpy(x()).flip(0)
    wanted = torch.from_numpy(f(other.numpy()))
    converted = np2fx.convert(f)
    assert torch.equal(np2fx.trace(f, x())(other), wanted)
    assert torch.equal(converted(other), wanted)
    with pytest.raises(np2fx.ConversionError, match=r"use np2fx\.trace"):  # NumPy's scalars are values
        torch.jit.trace(converted, (torch.from_numpy(x()),))


# Attributes.


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.to_device("cpu") * 2,
        lambda x: x.to_device(x.device),
        lambda x: x.to_device("cuda"),
        lambda x: np.sqrt(x) if x.device == "cpu" else x,
        lambda x: x + 1 if x.device in ("cpu",) else x,
        lambda x: np.zeros(3, device=x.device),
        lambda x: np.sqrt(x).add_(1),
        lambda x: np.sqrt(x).cpu(),
        lambda x: np.sqrt(x).grad,
        lambda x: np.sqrt(x).unsqueeze(0),
        lambda x: x.sum().numpy(),
    ],
)
def test_attributes_are_those_of_arrays(function):
    wanted, made = outcome(function, x()), outcome(np2fx.convert(function), torch.from_numpy(x()))
    assert made == "refused" or (made is wanted if isinstance(wanted, type) else np.array_equal(made[0], wanted[0]))


@pytest.mark.parametrize("name", [n for n in dir(np.ndarray) if not n.startswith("_")])
def test_no_attribute_of_arrays_is_missing(name):
    made = outcome(np2fx.convert(lambda x: getattr(x, name)), torch.from_numpy(x()))
    assert made is not AttributeError or outcome(lambda x: getattr(x, name), x()) is AttributeError
