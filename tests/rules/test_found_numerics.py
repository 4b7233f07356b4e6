"""Numbers at the edges: signs of zeros in complex arrays, the order of a chain of products, matrices with NaN, errors of integer ufuncs."""

from __future__ import annotations

import re
import warnings

import np2fx
import numpy as np
import pytest
import torch
from np2fx import rules

ZEROS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.5)
NAN, INF = np.nan, np.inf


def both(f, *arrays):
    """What the converted function and the graph give for these arrays."""
    converted = np2fx.convert(f)(*(torch.from_numpy(x.copy()) for x in arrays))
    graph = np2fx.trace(f, *(x.copy() for x in arrays))(*(torch.from_numpy(x.copy()) for x in arrays))
    return converted, graph


def grid(dtype, size):
    """Complex numbers of all pairs of parts, `size` of each in a row, so that every place of a vectorised kernel meets each."""
    x = np.empty((len(ZEROS), len(ZEROS), size), dtype)
    x.real, x.imag = np.array(ZEROS)[:, None, None], np.array(ZEROS)[:, None]
    return x


def check_parts(found, expected):
    """Equal values, and equal signs of the zeros."""
    found = found.resolve_conj().resolve_neg().numpy()
    assert found.dtype == expected.dtype
    for a, b in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        zero = (a == 0) & (b == 0)
        assert np.array_equal(np.signbit(a[zero]), np.signbit(b[zero]))


UNARY = ("negative", "positive", "conjugate", "reciprocal", "sign", "exp2", "log1p", "arccos", "sqrt", "log", "exp", "arcsin")


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_signs_of_zeros(name, dtype, size):
    with np.errstate(all="ignore"):
        for x in grid(dtype, size).reshape(-1, size):
            expected = getattr(np, name)(x)
            check_parts(rules.lookup(f"numpy.{name}").call(torch.from_numpy(x)), expected)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("f", [
    lambda x: -x,
    lambda x: np.sqrt(-x),
    lambda x: np.angle(-x) + 0j,
    lambda x: np.negative(x, out=x),
    lambda x: 0 - x,
    lambda x: x * -1,
    lambda x: np.log1p(x - 0.5),
    lambda x: np.conj(-x),
    lambda x: np.expm1(x),
])  # fmt: skip
def test_negated(f, dtype):
    x = np.tile(np.array([2 + 0j, complex(-2.0, -0.0), 0j, 1j, -3 - 1j], dtype), 7)
    expected = f(x.copy())
    for found in both(f, x):
        check_parts(found, expected)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 7, 50, 99, -1, -2, -3, -7, -99])
def test_whole_powers_are_multiplied_out(exponent, dtype):
    """The signs of zeros are NumPy's, and a real base has real powers: the side of a branch cut hangs on that."""
    parts = [0.0, -0.0, 1.0, -1.0, -2.5, np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts], dtype)

    def by_number(x):
        return np.power(x, exponent)

    def by_array(x, y):
        return np.power(x, y)

    for f, arrays in ((by_number, [z]), (by_array, [z, np.full(z.shape, exponent, dtype)])):
        with np.errstate(all="ignore"):
            expected = f(*arrays)
            results = both(f, *arrays)
        finite = np.isfinite(expected)
        for found in results:
            assert np.array_equal(np.isfinite(found.numpy()), finite)
            check_parts(found[torch.from_numpy(finite)], expected[finite])


def test_powers_of_complex_zero():
    base = np.array([0j, complex(-0.0, 0.0), 1 + 1j], np.complex128)
    exponent = np.array([2, 2 + 1j, 0, -1, 1j, -0.5 + 2j], np.complex128)
    with np.errstate(all="ignore"):
        for found in both(lambda a, b: np.power(a[:, None], b), base, exponent):
            np.testing.assert_allclose(found.numpy(), np.power(base[:, None], exponent), rtol=1e-12)


SHAPES = [((3, 3), (3, 3), (3,)), ((3,), (3, 3), (3, 3)), ((4, 2), (2, 5), (5, 1), (1, 3)), ((2,), (2, 6), (6, 3), (3,)), ((2, 2),) * 5]


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32])
@pytest.mark.parametrize("shapes", SHAPES)
def test_chain_is_multiplied_in_numpys_order(shapes, dtype):
    rng = np.random.default_rng(0)
    highest = {np.int8: 100, np.float16: 300, np.float32: 1e17}[dtype]
    arrays = [(rng.random(shape) * highest).astype(dtype) for shape in shapes]
    arrays[-1] = np.ones(shapes[-1], np.int64 if dtype is np.int8 else dtype)
    with np.errstate(all="ignore"):
        expected = np.linalg.multi_dot(arrays)
    for found in both(lambda *a: np.linalg.multi_dot(a), *arrays):
        assert found.numpy().dtype == expected.dtype
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-2 if dtype is np.float16 else 1e-5)


MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
REFUSING = {
    "det": lambda a: np.linalg.det(a),
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "inv": lambda a: np.linalg.inv(a),
    "cholesky": lambda a: np.linalg.cholesky(a),
    "qr": lambda a: np.linalg.qr(a)[1],
    "solve": lambda a: np.linalg.solve(a, np.ones(3)),
    "power": lambda a: np.linalg.matrix_power(a, -2),
    "tensorinv": lambda a: np.linalg.tensorinv(a, 1),
    "tensorsolve": lambda a: np.linalg.tensorsolve(a, np.ones(3)),
}


@pytest.mark.parametrize("name", REFUSING)
@pytest.mark.parametrize("value", [NAN, INF])
def test_matrices_that_are_not_finite(name, value):
    f = REFUSING[name]
    graph = np2fx.trace(f, MATRIX)
    np.testing.assert_allclose(graph(torch.from_numpy(MATRIX)).numpy(), f(MATRIX), rtol=1e-12)
    bad = MATRIX.copy()
    bad[0, 0] = value
    try:
        found = np2fx.convert(f)(torch.from_numpy(bad))
    except np2fx.ConversionError as refused:
        assert "not finite" in str(refused)
    else:  # NumPy's own function has been asked
        np.testing.assert_array_equal(np.asarray(found), f(bad))
    with pytest.raises(RuntimeError, match="not finite"):
        graph(torch.from_numpy(bad))


@pytest.mark.parametrize("f", [
    lambda a: np.linalg.svdvals(a),
    lambda a: np.linalg.pinv(a),
    lambda a: np.linalg.matrix_rank(a),
    lambda a: np.linalg.cond(a),
    lambda a: np.linalg.eigvalsh(a),
])  # fmt: skip
def test_infinities_without_an_end(f):
    """NumPy's own search for singular values does not end where there are infinities."""
    bad = MATRIX.copy()
    bad[0, 0] = INF
    with pytest.raises(np2fx.ConversionError, match="not finite"):
        np2fx.convert(f)(torch.from_numpy(bad))


def test_the_triangle_that_is_not_read_may_hold_anything():
    upper = np.triu(np.full((3, 3), NAN), 1) + np.tril(MATRIX)
    for f in (REFUSING["cholesky"], lambda a: np.linalg.eigvalsh(a)):
        for found in both(f, upper):
            np.testing.assert_allclose(found.numpy(), f(upper), rtol=1e-12)


@pytest.mark.parametrize("f", [
    lambda a: np.linalg.norm(a),
    lambda a: np.linalg.norm(a, 1),
    lambda a: np.linalg.matrix_power(a, 2),
    lambda a: np.linalg.solve(MATRIX, a[0]),
])  # fmt: skip
def test_nan_where_both_agree(f):
    bad = MATRIX.copy()
    bad[0, 0] = NAN
    graph = np2fx.trace(f, MATRIX)
    for found in (np2fx.convert(f)(torch.from_numpy(bad)), graph(torch.from_numpy(bad))):
        np.testing.assert_array_equal(found.numpy(), f(bad))


@pytest.mark.parametrize("b", [[1.0, NAN, 3.0], [[1.0, 2.0], [NAN, 1.0], [3.0, 5.0]]])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_least_squares_of_nan(b, columns):
    a, b = MATRIX[:, :columns], np.array(b)
    for part in (0, 1, 2, 3):
        def f(b, part=part):
            return np.linalg.lstsq(a, b, rcond=None)[part]

        graph = np2fx.trace(f, np.nan_to_num(b))
        for found in (np2fx.convert(f)(torch.from_numpy(b)), graph(torch.from_numpy(b))):
            np.testing.assert_allclose(found.numpy(), f(b), rtol=1e-9)


def test_fit_of_nan():
    def fit(y):
        return np.polyfit(np.array([0.0, 1.0, 2.0]), y, 1)

    y = np.array([1.0, NAN, 3.0])
    for found in (np2fx.convert(fit)(torch.from_numpy(y)), np2fx.trace(fit, np.ones(3))(torch.from_numpy(y))):
        assert np.isnan(found.numpy()).all() and np.isnan(fit(y)).all()


INTEGER = ("invert", "bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm", "bitwise_count")


@pytest.mark.parametrize("name", INTEGER)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_integer_ufuncs_of_others(name, dtype):
    function = getattr(np, name)
    x = np.ones(3, dtype)

    def f(x):
        return function(*(x,) * function.nin)

    for g in (f, PLAIN[name]):
        with pytest.raises(TypeError) as numpys:
            g(x)
        with pytest.raises(TypeError) as ours:
            np2fx.convert(g)(torch.from_numpy(x))
        assert str(ours.value).split(" not supported")[0] == str(numpys.value).split(" not supported")[0]


PLAIN = {
    "invert": lambda x: np.invert(x),
    "bitwise_not": lambda x: np.bitwise_not(x),
    "bitwise_and": lambda x: np.bitwise_and(x, x),
    "bitwise_or": lambda x: np.bitwise_or(x, x),
    "bitwise_xor": lambda x: np.bitwise_xor(x, x),
    "left_shift": lambda x: np.left_shift(x, x),
    "right_shift": lambda x: np.right_shift(x, 1),
    "gcd": lambda x: np.gcd(x, x),
    "lcm": lambda x: np.lcm(x, x),
    "bitwise_count": lambda x: np.bitwise_count(x),
}


@pytest.mark.parametrize("name", ["deg2rad", "rad2deg", "degrees", "radians"])
def test_errors_name_the_function_that_was_called(name):
    function = getattr(np, name)
    with pytest.raises(TypeError, match=f"'{name}'"):
        np2fx.convert(lambda x: function(x))(torch.ones(2, dtype=torch.complex128))


def test_scalars_have_no_matrix_product():
    def f(x):
        x[0] @= 3
        return x

    def scalars(x):
        return x[0] @ x[1]

    def number(x):
        return 3 @ x[0]

    for g in (f, scalars, number):
        with pytest.raises(TypeError, match="unsupported operand"):
            np2fx.convert(g)(torch.ones(3))
    with pytest.raises(ValueError):
        np2fx.convert(lambda x: x @ x[0])(torch.ones(3))


@pytest.mark.parametrize("before", [(), (None,), (...,)])
def test_more_index_arrays_than_numpy_takes(before):
    def get(x, i):
        return x[(*before, *([i] * 64))]

    def put(x, i):
        x[(*before, *([i] * 64))] = 2.0
        return x

    x, i = np.ones((1,) * 64), np.array([0])
    for f in (get, put):
        for call in (f, lambda x, i, f=f: np2fx.convert(f)(torch.from_numpy(x), torch.from_numpy(i))):
            with pytest.raises(IndexError, match="the number of index arrays cannot be above 63, but 64"):
                call(x.copy(), i)


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("size, count", [(1, 63), (1, 64), (3, 64), (0, 64), (3, 65)])
def test_many_flags_in_an_index(flag, size, count):
    def get(x):
        return x[(flag,) * count]

    x = np.ones(size)
    try:
        want = get(x)
    except IndexError as problem:
        with pytest.raises(IndexError, match=re.escape(str(problem))):
            np2fx.convert(get)(torch.from_numpy(x))
    else:
        assert np2fx.convert(get)(torch.from_numpy(x)).shape == want.shape


@pytest.mark.parametrize("shape, index, axis", [((0, 2), (3, 1), 0), ((0, 2), (3, 1), 1), ((0, 2), (3, 2), -1), ((2, 2), (3, 1), 1)])
def test_indices_along_an_axis_that_do_not_fit(shape, index, axis):
    a, i = np.zeros(shape), np.zeros(index, np.int64)

    def put(a, i):
        np.put_along_axis(a, i, 1, axis)
        return a

    for f in (lambda a, i: np.take_along_axis(a, i, axis), put):
        for call in (f, np2fx.convert(f)):
            tensors = call is not f
            with pytest.raises(IndexError), warnings.catch_warnings():
                call(*(torch.from_numpy(x.copy()) if tensors else x for x in (a, i)))


def test_powers_by_operator_in_torch_code():
    """`**` on tensors is a function that no module holds by its name."""

    def f(x):
        t = torch.from_numpy(x)
        made = t**2
        made **= 2
        return (2.0**made + made**t).numpy()

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(np2fx.trace(f, x)(torch.from_numpy(x)).numpy(), f(x))
