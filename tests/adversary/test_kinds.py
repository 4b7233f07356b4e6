"""Kinds of programs in which NumPy is not what one would think: never wrong, in both ways, over dtypes and special values."""

from __future__ import annotations

import warnings

import np2fx
import numpy as np
import pytest
import torch

from .judging import judge
from .program import Program

SPECIAL = {"f": [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 300.7], "i": [0, 1, -1, 7, 100, -128], "u": [0, 1, 200], "b": [True, False]}
NUMBERS = [np.array(v).astype(d) for d in ("f2", "f4", "f8", "i1", "i8", "u1", "?") for v in [SPECIAL[np.dtype(d).kind]]]
FLOATS = [x for x in NUMBERS if x.dtype.kind == "f"]


def verdicts(body: str, *arrays: np.ndarray, ways: tuple[str, ...] = ("convert", "trace")) -> dict:
    text = "\n".join("    " + line for line in body.split("\n"))
    names = ["x", "y"][: len(arrays)]
    program = Program(f"import numpy as np\n\n\ndef node({', '.join(names)}):\n{text}\n", list(arrays), [a.copy() for a in arrays])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return judge(program, ways)


def not_wrong(body: str, *arrays: np.ndarray, ways: tuple[str, ...] = ("convert", "trace")) -> None:
    found = verdicts(body, *arrays, ways=ways)
    assert not any(v.bad for v in found.values()), (body, arrays, found)


def right(body: str, *arrays: np.ndarray, ways: tuple[str, ...] = ("convert", "trace")) -> None:
    found = verdicts(body, *arrays, ways=ways)
    assert {v.kind for v in found.values()} == {"right"}, (body, arrays, found)


# out= of another dtype

FOLDS = ("np.sum(x, out={})", "np.prod(x, out={})", "np.max(x, out={})", "np.nansum(x, out={})", "np.add.reduce(x, out={})",
         "np.multiply.reduce(x, out={})", "np.minimum.reduce(x, out={})")  # fmt: skip
STEPWISE = ("np.mean(x, out={})", "np.std(x, out={})", "x.std(out={})", "x.var(out={})", "np.median(x, out={})", "np.ptp(x, out={})",
            "np.subtract.reduce(x, out={})")  # fmt: skip
RUNNING = ("np.cumsum(x, out={})", "np.cumprod(x, out={})", "np.round(x, 1, out={})", "np.add.accumulate(x, out={})", "np.clip(x, 0, 2, out={})",
           "np.take(x, [0, 1, 2], out={})", "np.multiply(x, 3, out={})", "np.maximum.accumulate(x, out={})")  # fmt: skip
SMALL = [np.array([1.2345, -2.5671, 100.3]).astype(d) for d in ("f2", "f4", "f8", "i1", "u1", "?")]


@pytest.mark.parametrize("target", ["f2", "f4", "f8", "i1", "i8", "u1", "c16"])
@pytest.mark.parametrize("call", [*FOLDS, *STEPWISE, *RUNNING])
def test_out_of_another_dtype(call, target):
    """In double precision the results agree to the last digits, or there is none."""
    shape = "3" if call in RUNNING else "()"
    source = f"import numpy as np\n\n\ndef node(x):\n    out = np.zeros({shape}, {target!r})\n    {call.format('out')}\n    return out\n"
    for x in SMALL:
        program = Program(source, [x], [x])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            node = program.module().node
            try:
                want = node(x)
            except (TypeError, ValueError) as error:
                want = type(error)
            for make in (np2fx.convert, np2fx.trace):
                try:
                    got = (make(node) if make is np2fx.convert else make(node, x))(torch.from_numpy(x)).numpy()
                except (np2fx.ConversionError, np2fx.TraceError):
                    continue
                except (TypeError, ValueError):
                    got = None
                if isinstance(want, type):
                    assert got is None, (x, want)
                else:
                    assert got is not None, x
                    np.testing.assert_allclose(got, want, rtol=1e-6 if got.dtype.itemsize <= 4 else 1e-12)


def test_out_of_the_same_kind_of_sum_is_kept():
    right("out = np.zeros(2)\nnp.sum(x, axis=0, out=out)\nreturn out", np.ones((3, 2), np.float32))
    right("out = np.zeros((), np.float32)\nnp.mean(x, out=out)\nreturn out", np.ones(3, np.float16))


# Scalars, which NumPy computes otherwise than arrays


@pytest.mark.parametrize("body", [
    "return x[0] ** 0.5", "return x[0] ** x[2]", "return x ** 0.5, 1 / x ** 0.5", "return x ** x[2], 1 / x ** x[2]", "return x[..., 0] ** 0.5",
    "return pow(x[0], 0.5)", "s = x[0]\ns **= 0.5\nreturn s", "return [v ** 0.5 for v in x]", "x **= 0.5\nreturn x", "return x[0] ** 2, x[0] ** -1",
    "f = lambda s: s ** 0.5\nreturn f(x[0]), f(x)", "return 2 ** x[0], (-np.inf) ** x[2]", "return x[1] ** x[2]",
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_powers(body, dtype):
    right(body, np.array([-np.inf, -0.0, 0.5, 4.0, np.nan]).astype(dtype))


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "**", "==", "<", "&", "<<"])
@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: str(x.dtype))
def test_operators_of_scalars(operator, x):
    """With each other, and with Python numbers on both sides."""
    for i in range(len(x)):
        turned = np.roll(x, i)
        not_wrong(f"return x[0] {operator} y[0]", turned, x, ways=("convert",))
        not_wrong(f"return x[0] {operator} 2, 2 {operator} x[0], x[0] {operator} True", turned, ways=("convert",))
    not_wrong(f"return x[0] {operator} y[1], x[1] {operator} 3", x, x)


def test_zero_to_the_power_of_zero():
    right("return x ** x, x[0] ** x[0], x ** x[0]", np.array([0, 1, 2j], np.complex64))


# Values that do not fit

PLACES = ("a[0] = {}", "a[:] = {}", "a[...] = {}", "a[::-1] = {}", "a.fill({})", "a.flat[0] = {}", "a[[0, 1]] = {}", "a[a > 0] = {}", "a[1:] = {}",
          "a = np.array([{}, 1], a.dtype)", "a = np.full(3, {}, a.dtype)", "a = np.pad(a, 1, constant_values={})", "np.put(a, [0], {})",
          "np.copyto(a, {}, casting='unsafe')", "a = np.insert(a, 0, {})")  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("target", ["i1", "i4", "i8", "u1", "?", "f4"])
def test_scalars_that_do_not_fit(place, target):
    """Signed integers take scalars by way of Python's int, arrays by a cast."""
    for value in ("300", "-1", "1e30", "np.nan", "np.int64(300)", "np.float64(np.inf)", "np.array(300)"):
        not_wrong(f"a = np.ones(3, {target!r})\n{place.format(value)}\nreturn a", np.ones(3), ways=("convert",))
    for x in (np.array([300.7, np.nan, 1e30]), np.array([300, -1, 2**40]), np.array([300, 2**63], np.uint64)):
        for i in range(len(x)):
            for value in (f"x[{i}]", f"x[..., {i}]", f"x[{i}:{i + 1}].sum()"):
                not_wrong(f"a = np.ones(3, {target!r})\n{place.format(value)}\nreturn a", x, ways=("convert",))


def test_a_graph_checks_what_it_puts_into_integers():
    def node(x):
        a = np.zeros(2, np.int8)
        a[0] = x[0]
        return a

    graph = np2fx.trace(node, np.array([5.5, 1.0]))
    assert graph(torch.tensor([127.9, 0.0], dtype=torch.float64)).tolist() == [127, 0]
    for bad in (np.nan, np.inf, 128.0, -129.0):
        with pytest.raises((ValueError, OverflowError)):
            graph(torch.tensor([bad, 0.0], dtype=torch.float64))


@pytest.mark.parametrize("value", ["[False]", "[0, 0]", "[]", "(0,)", "np.array([False])"])
def test_bools_take_the_truth_of_lists(value):
    for place in ("a[0] = {}", "a.fill({})", "a.flat[0] = {}", "a.reshape(1, 2)[0, 0] = {}"):
        right(f"a = np.zeros(2, bool)\n{place.format(value)}\nreturn a", np.ones(2))


# What is Python's own, and what things call themselves

ONES = np.ones(3, np.float32)


@pytest.mark.parametrize("call", ["np.allclose(x, x)", "np.array_equal(x, x + 1)", "np.array_equiv(x, x)"])
@pytest.mark.parametrize("use", ["~{}", "True + {}", "{} * x", "{} * 2.5 * x", "type({}) is bool", "str({})", "-{}", "{} == True", "{} is True",
                                 "isinstance({}, bool)", "{} + x.astype(np.int8)", "np.array([{}, 2])", "not {}", "{} & {}", "hash({})"])  # fmt: skip
def test_python_bools(call, use):
    body = f"return {use.replace('{}', call)}"
    not_wrong(body, ONES)
    right(body, ONES, ways=("convert",))


@pytest.mark.parametrize("question", [
    "x.__class__ is np.ndarray", "type(x) is np.ndarray", "isinstance(x, np.ndarray)", "isinstance(x[0], (float, np.floating))",
    "isinstance(x[0], float)", "isinstance(x.astype(float)[0], float)", "isinstance(x[0], np.generic)", "type(x[0]) is np.float32",
    "type(x) == np.ndarray", "type(x[0]).__name__", "type(x).__name__", "x[0].__class__ is np.float32", "type(x[0])(3)",
    "isinstance(x[..., 0], np.ndarray)", "{np.ndarray: 1}.get(type(x), 2)", "type(x.sum()) is type(x[0])", "isinstance(x[0], type(x[1]))",
    "type(x) in (np.ndarray, list)", "type(x.any()) is np.bool_", "'{} {}'.format(x.size, x.ndim)", "type(3) is int",
])  # fmt: skip
def test_what_things_are(question):
    right(f"return {question}", ONES)
    right(f"y = x * 2 if {question} else x\nreturn y", ONES)


def test_sequences_are_repeated_by_integers_alone():
    right("return (x.astype(int).sum() * (1, 2),)", ONES[:1], ways=("convert",))
    not_wrong("return x.sum() * (1, 2)", ONES)


def test_numbers_of_numbers():
    right("return np.real(3) * x, np.imag(2.5) + x, np.real(3 + 1j) * x", ONES)


# The order of elements in memory


@pytest.mark.parametrize(
    "made", ["np.cumsum(x.T, 0)", "np.concatenate([x.T, x.T])", "np.stack([x.T, x.T])", "x.T + 1", "x.T", "x", "x[::-1]"]
)
@pytest.mark.parametrize("read", [".ravel('K')", ".ravel(order='A')", ".flatten('K')", ".reshape(-1, order='A')"])
def test_orders_of_memory(made, read):
    not_wrong(f"return ({made}){read}", np.arange(6.0).reshape(2, 3))


def test_orders_of_memory_of_arguments():
    right("return x.T.ravel('K'), x.ravel('A'), x.T[0].ravel('K')", np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("made", ["x.T.copy('K')", "x.transpose(1, 0, 2).copy('A')", "x.T[1:].copy('A')", "x[:, :, ::2].copy('F')", "x.T.copy('K').copy('A')"])
def test_orders_of_memory_of_copies(made):
    right(f"y = {made}\nreturn y.ravel('K'), y.ravel('A'), y.copy('A').flatten('K')", np.arange(24.0).reshape(2, 2, 6))


@pytest.mark.parametrize("made", ["np.broadcast_to(x, (2, 3))", "np.diag(x).diagonal()", "np.broadcast_to(x, (3,))[::-1]", "np.broadcast_to(x, (2, 3)).T",
                                  "np.asarray(np.broadcast_to(x, (3,)))", "np.broadcast_to(x, (2, 3))[0]", "np.diag(x).diagonal()[:]"])  # fmt: skip
@pytest.mark.parametrize("write", ["v += 1", "v[0] = 1", "v.fill(-1.5)", "for r in v:\n    r += 1"])
def test_views_of_what_is_read_only(made, write):
    text = write.replace("\n", "\n    ")
    not_wrong(f"v = {made}\ntry:\n    {text}\nexcept ValueError:\n    v = x * 2\nreturn v, x", ONES)


def test_a_method_of_a_scalar_writes_nowhere():
    not_wrong("s = x.sum()\ns.fill(1)\nreturn s", ONES)


@pytest.mark.parametrize("second", ["x", "x[::-1]", "x[1:]", "x[::2]"])
def test_arguments_that_share_memory(second):
    """Convert and trace see writes through both, or say that they cannot."""

    def node(x, y):
        x[0] = 7
        y *= 2
        return x * 1, y * 1

    def given():
        x = np.arange(4.0)
        return x, eval(second, {"x": x})

    want_args = given()
    want = node(*want_args)
    for make in (np2fx.convert, np2fx.trace):
        args = given()
        try:
            got = (make(node) if make is np2fx.convert else make(node, *given()))(*args)
        except (np2fx.ConversionError, np2fx.TraceError):
            continue
        for w, g in zip((*want, *want_args), (*got, *args), strict=True):
            np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.parametrize("body", ["v = x[::-1].reshape(4)\nw = np.ravel(v[::-1])\nv[0] = 9\nreturn w", "w = x[::-1][1:][::-1].ravel()\nw[0] = 9\nreturn x",
                                  "w = np.rot90(x[None])[::-1].ravel()\nw[...] = 9\nreturn x", "w = np.flip(np.flip(x)[::2])[::-1]\nw[0] = 9\nreturn x"])  # fmt: skip
def test_what_is_reversed_twice_is_a_view_of_the_memory(body):
    right(body, np.arange(4.0))


@pytest.mark.parametrize("made", ["np.broadcast_arrays(x, x[0])[1]", "np.broadcast_to(x[0], x.shape)"])
def test_flat_parts_of_a_reversed_broadcast_array_are_copies(made):
    right(f"v = np.flip({made}, 0)\nw = v.ravel()\nw[0] = 9\nreturn v, w, x", np.arange(6.0).reshape(2, 3))


def test_what_is_broadcast_with_a_read_only_array_stays_writable():
    right("v = np.broadcast_arrays(x.diagonal(), x)\nx += np.stack(v).mean()\nreturn x", np.zeros((3, 3)))


def test_a_python_bool_of_constants():
    right("x[:] = np.hanning(4)\ny = np.allclose(x.flatten(), x)\nreturn np.arange(3) + y", np.array([True, False, False, False]))


@pytest.mark.parametrize("target", ["int8", "int16", "uint8", "int64"])
@pytest.mark.parametrize("value", [np.uint8(7), np.uint8(200), np.int64(-1), np.float32(2.5), np.uint16(40000), np.float64("nan")])
@pytest.mark.parametrize("key", ["0", "0:1, None", "..."])
def test_scalars_put_into_integers(target, value, key):
    body = f"v = np.zeros(2, np.{target})\ntry:\n    v[{key}] = x[0]\nexcept (OverflowError, ValueError):\n    v += 5\nreturn v"
    not_wrong(body, np.array([value]))


@pytest.mark.parametrize("call", ["np.tensordot(x, x, 1)", "np.i0(x[0])", "np.roll(x[0], 1)", "np.expand_dims(x[0], ())", "np.block(x[0])"])
def test_zero_d_arrays_that_are_no_scalars(call):
    right(f"v = {call}\nw = v\nw += 1\nreturn v, isinstance(v, np.ndarray)", np.array([1.0, 2.0]))


def test_complex_extrema_with_nan_in_one_part():
    parts = (0.0, -1.0, 4.0, np.inf, -np.inf, np.nan)
    values = np.array([complex(a, b) for a in parts for b in parts])
    right("return [f(x[:, None], x) for f in (np.maximum, np.minimum, np.fmax, np.fmin, np.greater_equal)]", values)


def test_a_mask_takes_values_of_another_dtype():
    right("x[x > 0] = np.zeros(2)\nreturn x", np.array([1.0, -1.0, 2.0], np.float32))
    right("x[np.arange(2)] = np.arange(2)\nreturn x", np.array([1.0, -1.0, 2.0], np.float32))


def test_at_writes_into_what_is_read_only():
    not_wrong("v = x.imag\nnp.subtract.at(v, 0, 1)\nreturn v", np.ones(3))


def test_a_matrix_made_in_falling_order_is_no_reversed_view():
    right(
        "v = np.vander(x, 3)\nw = np.ravel(v[0][::-1])[::-1]\nw += 1\nu = np.moveaxis(v, 0, -2).ravel()\nv -= 1\nreturn v, w, u",
        np.array([2.0, 3.0]),
    )


def test_what_is_read_only_stays_so_when_it_is_reversed_twice():
    body = "v = np.flipud(x)\nw = np.broadcast_to(v, v.shape)[::-1]\ntry:\n    w[...] = 2\nexcept ValueError:\n    v = v + 1\nreturn v, w"
    not_wrong(body, np.arange(3.0))


@pytest.mark.parametrize(
    "call",
    ["np.compress([True], {})", "np.squeeze({})", "np.argpartition({}, 0)", "np.lexsort(({}, {}))", "np.sum({})", "np.take({}, [0])"],
)
@pytest.mark.parametrize("axis", ["0", "-1", "1"])
def test_the_axis_of_what_has_none(call, axis):
    text = call.replace("{}", "x[0]")[:-1] + f", axis={axis})"
    right(f"try:\n    return {text}\nexcept np.exceptions.AxisError:\n    return x", np.array([3.0, 1.0]))


@pytest.mark.parametrize(
    "call", ["np.linalg.inv(x)", "np.linalg.solve(x, x)", "np.linalg.cholesky(x)", "np.linalg.qr(x)[1]", "np.linalg.pinv(x)"]
)
def test_matrices_of_lapack_are_laid_out_as_numpys(call):
    right(f"v = {call}\nw = v.reshape(-1)\nw -= w\nreturn v, w", np.array([[4.0, 1.0], [1.0, 3.0]]))


def test_a_scalar_that_is_given_back_stays_one():
    right("v = np.nan_to_num(x)\nnp.multiply(x, 7, np.real_if_close(v))\nreturn v", np.array(1.0, np.float32))


def test_uint64_beside_int64():
    not_wrong("return x == y, x != y", np.array([2**64 - 1, 2, 7], np.uint64), np.array([-1, 2, -7]))


# the methods of ufuncs that have no reduction of a name

FOLDED = [
    "subtract",
    "logical_xor",
    "bitwise_and",
    "bitwise_xor",
    "hypot",
    "less",
    "power",
    "true_divide",
    "arctan2",
    "fmax",
    "gcd",
    "logaddexp",
]
FOLDING = ["reduce(x)", "reduce(x, axis=())", "reduce(x, axis=(0, 0))", "reduce(x, axis=np.int64(0))", "reduce(x, axis=-1, keepdims=True)",
           "reduce(x, axis=5)", "reduce(x, axis=None)", "reduce(x, initial=3)", "reduce(x, initial=3.7)", "reduce(x, dtype=np.float32)",
           "accumulate(x)", "accumulate(x, axis=-1)", "accumulate(x, axis=5)", "accumulate(x, dtype=np.float64)", "reduceat(x, [0])",
           "reduceat(x, [0, 0], axis=-1)", "outer(x, 3)", "outer(2, x)", "outer(x, True)", "outer(x, x)"]  # fmt: skip
FOLDED_SHAPES = [(3,), (1,), (0,), (), (2, 3), (1, 3), (0, 2), (2, 0), (3, 1)]


@pytest.mark.parametrize("ufunc", FOLDED)
@pytest.mark.parametrize("call", FOLDING)
def test_folds_of_ufuncs(ufunc, call):
    source = np.array([3, 1, 2, 5, 0, 7])
    for shape in FOLDED_SHAPES:
        for dtype in ("?", "u1", "i4", "f4"):
            not_wrong(f"return np.{ufunc}.{call}", source[: np.prod(shape, dtype=int)].reshape(shape).astype(dtype), ways=("convert",))


@pytest.mark.parametrize("body", ["np.median(x)", "np.nanmedian(x)", "np.median(x, axis=0)", "np.percentile(x.real, 30)", "np.sort(x)"])
def test_complex_with_nan_in_order(body):
    for values in ([complex(1, np.nan), 2, 3], [complex(1, np.nan), 2, 3, 8], [complex(np.nan, 1), complex(0, np.nan), 2]):
        not_wrong(f"return {body}", np.array(values))


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8"])
def test_unique_of_one_axis_is_flat(dtype):
    right("return np.unique(x, axis=0)", np.array([np.nan, 1, np.nan, 0], dtype), ways=("convert",))
    right("return np.unique(x, axis=1)", np.array([np.nan, 1, np.nan, 0], dtype), ways=("convert",))


def test_copyto_with_a_mask_that_does_not_fit():
    right("np.copyto(x, 1.0, where=np.ones(5, bool))\nreturn x", np.arange(3.0))


@pytest.mark.parametrize(
    "call", ["x.prod()", "np.prod(x)", "x.prod(axis=0)", "x.prod(axis=-1)", "np.multiply.reduce(x, axis=None)", "x.prod(axis=(0, 1))"]
)
def test_half_products_are_rounded_at_the_end_of_the_inner_loop(call):
    x = np.full((4, 4), 3.0, np.float16)
    x[-1] = 0
    for array in (x, np.ascontiguousarray(x.T), x[None], x[:, :, None]):
        right(f"return {call}", array, ways=("convert",))


@pytest.mark.parametrize("body", ["return int(x.sum())", "return float(x[0])", "y = x[1] * 2\nreturn int(y)", "return complex(x[0])", "return bool(x[0])",
                                  "return float(x)", "return int(x[:1])"])  # fmt: skip
def test_python_numbers_of_complex(body):
    not_wrong(body, np.array([complex(1, 2), complex(-3.7, 0)]), ways=("convert",))


@pytest.mark.parametrize("body", ["np.clip(x, -1, 1, out=(x[x > 0]))\nreturn x", "y = x[x > 0]\nnp.add(x, 1, out=y)\nreturn y",
                                  "y = x[x > 0]\ny[:] = x\nreturn x", "y = x * 1\nnp.sqrt(x[x > 0], y)\nreturn x", "y = x[x > 0]\ny += x\nreturn x"])  # fmt: skip
def test_results_that_do_not_fit_where_a_mask_selects(body):
    source = "import numpy as np\n\n\ndef node(x):\n" + "\n".join("    " + line for line in body.split("\n")) + "\n"
    for sample, other in (([1.0, 2, 3], [1.0, -2, 3]), ([1.0, 2, 3], [-1.0, -2, 3])):
        found = judge(Program(source, [np.array(sample)], [np.array(other)]), ("convert", "trace"))
        assert not any(v.bad for v in found.values()), (body, found)


@pytest.mark.parametrize("key", ["x > -9", "[True, True, True, True]", "np.ones(4, bool)"])
@pytest.mark.parametrize("value", ["x[::-1]", "np.flip(x)[::-1][::-1]", "x[0:1]", "x", "x[::-1].copy()", "x * 2"])
def test_values_of_the_array_itself_under_a_mask(key, value):
    """NumPy reads what it has written."""
    not_wrong(f"x[{key}] = {value}\nreturn x", np.arange(4.0))
    not_wrong(f"np.place(x, {key}, {value})\nreturn x", np.arange(4.0))
    not_wrong(f"np.putmask(x, {key}, {value})\nreturn x", np.arange(4.0))
    not_wrong(f"np.copyto(x, {value}, where={key})\nreturn x", np.arange(4.0))


MADE = ["np.cumsum(x.T, 0)", "np.sort(x.T, axis=0)", "np.pad(x.T, 1)", "np.concatenate([x.T, x.T])", "np.roll(x.T, 1)", "np.where(x.T > 2, x.T, 0)", "np.fft.fft(x.T)",
        "np.stack([x.T, x.T])", "np.argsort(x.T, axis=0)", "x.T.astype(np.float32)", "np.copy(x.T)", "x.T.copy()", "np.broadcast_to(x[0], (3, 4)).astype(np.float32)",
        "np.full_like(x.T, 2)", "x.T[:, [1, 0, 2]]", "np.take(x.T, [0, 1], axis=0)", "x.T + 1", "np.clip(x.T, 1, 5)", "np.delete(x.T, 0, axis=0)",
        "np.einsum('ij->ji', x) * 2", "np.swapaxes(x[None], 0, 2) - 1", "np.add.reduce(x[None].T)", "np.subtract.reduce(x[None].T)",
        "np.multiply.accumulate(x.T)", "np.maximum.reduceat(x.T, [0, 2])", "np.add.outer(x[0], x[:, 0]).T",
        "x.T + x.reshape(4, 3)", "np.hypot(x.T, x.reshape(4, 3))", "x.reshape(2, 2, 3).T * x.reshape(3, 2, 2)", "x[0, :, None] + x[:, 0]",
        "np.divmod(x.T, x.reshape(4, 3) + 1)[0]", "x.T[::-1] - x.reshape(4, 3)", "np.minimum(x.T, np.arange(3.0))", "x.T > x.reshape(4, 3)",
        "x.T + np.broadcast_to(x[0, 0], (4, 3))"]  # fmt: skip


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize(
    "flat", ["z.ravel()", "z.reshape(-1)", "np.ravel(z)", "np.reshape(z, (-1, 2))", "np.ascontiguousarray(z)", "z.T.ravel()"]
)
def test_a_view_or_a_copy_by_layout(made, flat):
    not_wrong(f"z = {made}\ny = {flat}\ny[0] = 5\nreturn z, y", np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize("first", ["np.fliplr(x)", "x[:, ::-1]", "np.rot90(x)", "x[::-1].T", "np.flip(x[1:], 0)", "x[::-1, ::2]", "np.flip(x)"])
@pytest.mark.parametrize("then", ["np.flipud(v)", "v[::-1]", "np.rot90(v, 2)", "np.flip(v[:2], 1)", "v.T[::-1]", "v[::-1, ::-1]", "v[:, ::-2]"])
@pytest.mark.parametrize("flat", ["z.reshape(-1)", "np.ravel(z)", "z.T.ravel()", "z[0]"])
def test_flipped_twice(first, then, flat):
    not_wrong(f"v = {first}\nz = {then}\ny = {flat}\ny += 1\nz *= 2\nx[0] = 7\nreturn x, v, z, y", np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("one", ["x.T + 1", "x.T.copy()", "x.T", "np.sort(x.T, axis=0)"])
@pytest.mark.parametrize("choice", ["z = {} if x[0, 0] > 0 else x.reshape(4, 3) * 2", "z = x.reshape(4, 3) * 2\nif x[0, 0] > 0:\n    z = {}",
                                    "z = np.where(x[0, 0] > 0, {}, x.reshape(4, 3))"])  # fmt: skip
@pytest.mark.parametrize("first", [0.0, 5.0])
def test_a_view_or_a_copy_after_a_branch(one, choice, first):
    x = np.arange(12.0).reshape(3, 4)
    x[0, 0] = first
    not_wrong(f"{choice.format(one)}\ny = z.reshape(-1)\ny[0] = 9\nreturn x, z, y", x)


@pytest.mark.parametrize("write", ["operator.setitem(x[::-1], 0, 5)", "operator.iadd(x[::-1][1:], 2)", "operator.setitem(x, slice(None), x[::-1])",
                                   "y = operator.ipow(x, 2)\ny[0] = 7", "setattr(x, 'flat', 7)", "getattr(x[1:], 'fill')(3)",
                                   "f = x[::-1][:2].fill\nf(4)", "list(map(x.__setitem__, [0, 1], [8, 9]))"])  # fmt: skip
def test_writes_through_functions(write):
    not_wrong(f"import operator\n{write}\nreturn x", np.arange(5.0))


@pytest.mark.parametrize("call", ["np.apply_along_axis(f, 0, x.T)", "np.apply_over_axes(lambda v, axis: f(v), x.T, [0])", "np.vectorize(f)(x.T)"])
def test_functions_handed_to_numpy_run_as_often_as_numpy_runs_them(call):
    """Also where NumPy is asked for the layout of results."""
    body = f"log = []\ndef f(v):\n    log.append(1)\n    return v\ny = {call}\nz = np.cumsum(x.T, 0).ravel()\nz[0] = 5\nreturn y, z, len(log)"
    not_wrong(body, np.arange(6.0).reshape(2, 3), ways=("convert",))


@pytest.mark.parametrize("write", ["v = x[::-1]\nnp.cumsum(v, 0, None, v)", "y = x.T\ny.cumsum(1, None, y)", "v = x[:, ::2]\nnp.cumprod(v, 1, None, v)",
                                   "v = x.T\nnp.add(v, 1, v)", "v = x.T\nnp.clip(v, 1, 3, v)", "v = x.T\nnp.round(v / 2, 0, v)"])  # fmt: skip
def test_a_positional_out_is_written_once(write):
    """Also where NumPy is asked for the layout of results."""
    not_wrong(f"{write}\nz = np.sort(x.T, axis=0).ravel()\nz[0] = 5\nreturn x, z", np.arange(1.0, 13).reshape(3, 4))
