"""Python's own functions on traced values: what the source pass makes of them, against Python and NumPy."""

from __future__ import annotations

import copy
import functools
import linecache
import math
import math as m
from math import sqrt as root

import np2fx
import numpy as np
import pytest
import torch
from np2fx.tracing.arrays.builtin import called, carried
from np2fx.tracing.state import is_traced
from np2fx.tracing.surroundings.sourcing import sourced

from .test_trace import refused

X = np.array([1.5, -2.0, 3.25])
INPUTS = [
    X,
    np.array([-0.5, 4.0, 0.25]),
    np.array([2.5, 3.5, -7.0]),
    np.array([0.0, -0.0, 1e300]),
    np.array([np.inf, np.nan, -np.inf]),
    np.array([3.0, -1e10, 2.0**53]),
    np.array([-4.0, 0.5, 2.0]),
    np.array([1e19, -9.3e18, 1e-320]),
]
with np.errstate(over="ignore"):
    SHORT = [x.astype(np.float32) for x in INPUTS]
WHOLE = [np.array(v) for v in ([3, -2, 7], [0, 5, -1], [-8, 1, 62], [10, 0, 2], [300, -129, 1],
                               [2**62, -(2**62), 63], [-(2**63), 2**63 - 1, -1])]  # fmt: skip


BEYOND = ("int64", "2**53", "is complex", "has become a float")
"""What a graph says where Python goes on with a number that the graph cannot have."""


def same(want, got) -> None:
    """Equal, and of one type: a Python number is a 0-d tensor of its own dtype."""
    if isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want)
        for a, b in zip(want, got, strict=True):
            same(a, b)
    else:
        want, got = np.asarray(want), np.asarray(got)
        assert (want.dtype, want.shape) == (got.dtype, got.shape)
        tolerance = 1e-6 if want.dtype in (np.float32, np.complex64) else 1e-13
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=0 if want.dtype.kind != "c" else 1e-300)
        if want.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(want[~np.isnan(want)]))


def agrees(function, inputs, first=0):
    """Trace with one input; on all of them the graph does what the function does, and fails where that raises."""
    graph = np2fx.trace(function, copy.deepcopy(inputs[first]))
    for x in inputs:
        try:
            with np.errstate(all="ignore"):
                want = function(copy.deepcopy(x))
        except (ArithmeticError, ValueError):
            with pytest.raises((RuntimeError, ValueError, ArithmeticError)):
                graph(torch.from_numpy(x.copy()))
        else:
            try:
                got = graph(torch.from_numpy(x.copy()))
            except RuntimeError as problem:
                assert any(word in str(problem) for word in BEYOND), (x, want, problem)
            else:
                same(want, got)
    return graph


FLOATS = {
    "float": lambda x: float(x[0]),
    "float of an array of one": lambda x: float(x[1:2].sum()),
    "float times array": lambda x: x * float(x[0]),
    "float minus float": lambda x: float(x[0]) - float(x[1]),
    "float and constants": lambda x: (2 + float(x[0]), 2 - float(x[0]), float(x[0]) * 3, float(x[0]) / 4, True + float(x[0])),
    "float divided": lambda x: float(x[0]) / float(x[1]),
    "constant divided": lambda x: 1 / float(x[1]),
    "numpy scalar divided": lambda x: x[0] / float(x[1]),
    "float floor": lambda x: (float(x[0]) // 0.75, float(x[0]) % 0.75, divmod(float(x[0]), -3)),
    "float modulo": lambda x: float(x[0]) % float(x[1]),
    "constant floor": lambda x: divmod(7.5, float(x[1])),
    "square root by power": lambda x: float(x[0]) ** 0.5,
    "float power": lambda x: float(x[0]) ** float(x[1]),
    "constant to a power": lambda x: (2 ** float(x[1]), float(x[0]) ** 2, float(x[0]) ** -1),
    "comparisons": lambda x: (float(x[0]) > 1, float(x[0]) == float(x[1]), float(x[1]) <= 0, float(x[2]) != 2, float(x[0]) < float(x[2])),
    "chained": lambda x: 0 < float(x[0]) < 2,
    "signs": lambda x: (-float(x[0]), +float(x[1]), abs(float(x[2])), abs(x[0])),
    "int": lambda x: int(x[0]),
    "int of int": lambda x: int(float(x[0])) + 1,
    "int times array": lambda x: x * int(x[0]),
    "bool": lambda x: bool(x[0]),
    "bool arithmetic": lambda x: (bool(x[0]) + 1, bool(x[0]) * x, bool(x[0]) & True, bool(x[0]) ^ bool(x[1]), bool(x[0]) - bool(x[1])),
    "complex": lambda x: abs(complex(x[0])),
    "complex of two": lambda x: complex(x[0], x[2]),
    "complex parts": lambda x: (complex(x[0], 2).real, complex(1, float(x[1])).imag, complex(x[0], 1).conjugate()),
    "complex product": lambda x: complex(x[0], 1.5) * (2 - 1j) + float(x[1]),
    "round": lambda x: round(x[0]),
    "round a number": lambda x: round(float(x[0])),
    "is_integer": lambda x: float(x[0]).is_integer(),
    "not": lambda x: not x[0] > 1,
    "not a number": lambda x: (not float(x[0]), not x[1]),
    "in": lambda x: x[0] in (1.5, 2.5, 7),
    "not in": lambda x: x[0] not in [x[1], 2.5, 7.0, None],
    "in an array": lambda x: 2.5 in x,
    "number in": lambda x: float(x[0]) in (0, 1.5),
    "item": lambda x: x.sum().item() * x + x.item(1) + x[2:].item(),
    "tolist": lambda x: [v * 2 for v in x.tolist()],
    "sum of numbers": lambda x: sum(x[:2].tolist()),
    "array of numbers": lambda x: np.array([float(x[0]), float(x[1]), 2]),
    "array of array": lambda x: np.array(x.reshape(1, 3).tolist()),
    "map": lambda x: list(map(float, x)),
    "reduce": lambda x: functools.reduce(max, [float(x[0]), 0.5, 1.0]),
    "min and max": lambda x: (min(float(x[0]), 2.5), max(0.5, float(x[0]), float(x[2]))),
    "clamped": lambda x: x * max(0, min(1, float(x[0]))),
    "all": lambda x: all(x > -1),
    "any": lambda x: any([x[0] > 1, x[1] > 1, False]),
    "all of constants": lambda x: (all([x[0] > 1, False]), any((True, x[0])), all([x[0]])),
    "ternary": lambda x: x * (float(x[0]) if x[0] > 0 else 1.0),
    "a sign": lambda x: 1 if float(x[0]) > 0 else -1,
    "guarded": lambda x: math.sqrt(x[0]) if x[0] >= 0 else 0.0,
    "guarded division": lambda x: x / float(x[1]) if float(x[1]) != 0 else 1 / x,
    "bool is": lambda x: (bool(x[0]) is True, bool(x[0]) is not False, x[0] is None, float(x[0]) is None),
    "bool as a key": lambda x: {True: x[0], False: x[2]}[bool(x[1] > 0)],
    "bool as a position": lambda x: ["a", "b"][bool(x[1] > 0)] == "a",
    "alias": lambda x: m.exp(-abs(x[0])) + root(abs(x[0])),
    "type": lambda x: (type(x) is np.ndarray, type(x[0]) is np.float64, type(float(x[0])) is float, type(x[0]) is not float),
    "isinstance": lambda x: (isinstance(float(x[0]), float), isinstance(float(x[0]), np.floating), isinstance(int(x[1] > 0), bool)),
    "numpy on a number": lambda x: (np.sqrt(float(x[0])), np.float32(float(x[0])), np.maximum(x + 1, float(x[0])), np.isnan(float(x[1]))),
    "where": lambda x: np.where(x > 0, x, float(x[0])),
    "clip": lambda x: np.clip(x, -float(abs(x[0])), float(abs(x[0]))),
    "full": lambda x: np.full(3, float(x[0])) + np.full_like(x, float(x[1])),
    "assigned": lambda x: _assigned(np.zeros(3), float(x[0])),
    "assigned to ints": lambda x: _assigned(np.zeros(3, np.int64), float(x[0])),
    "int in a small array": lambda x: _assigned(np.zeros(3, np.int8), int(x[0])),
    "small array plus int": lambda x: np.arange(3, dtype=np.int8) + int(x[0]),
    "small array against int": lambda x: np.arange(3, dtype=np.uint8) < int(x[0]),
    "floor": lambda x: (math.floor(x[0]), math.ceil(float(x[1])), math.trunc(x[2])),
    "log with a base": lambda x: math.log(x[0], 2),
    "log with a computed base": lambda x: math.log(2.0, x[0]),
    "modf": lambda x: math.modf(x[0]),
    "isclose": lambda x: (math.isclose(x[0], 1.5), math.isclose(x[0], x[1], rel_tol=0.5, abs_tol=1.0)),
    "fabs and tests": lambda x: (math.fabs(x[1]), math.isnan(x[1]), math.isinf(x[0]), math.isfinite(x[2])),
    "array as float": lambda x: math.sqrt(np.abs(x[:1]).reshape(())),
    "degrees": lambda x: math.degrees(math.radians(x[0])),
    "walrus and loop": lambda x: [y for v in x if (y := float(v)) is not None and not isinstance(y, int)],
    "nested function": lambda x: (lambda v: float(v) * 2)(x[0]),
    "index": lambda x: np.arange(9.0)[int(x[0] > 0)],
}


def _assigned(array, value):
    array[1] = value
    return array


@pytest.mark.parametrize("name", FLOATS)
def test_numbers_of_float64(name):
    agrees(FLOATS[name], INPUTS)


@pytest.mark.parametrize("name", ["float times array", "int times array", "round", "item", "where", "clip", "math", "ternary",
                                  "numpy on a number"])  # fmt: skip
def test_a_number_takes_the_dtype_of_the_array(name):
    function = FLOATS[name] if name != "math" else lambda x: x * math.cos(math.tanh(x[2])) + 1j * float(x[0])
    agrees(function, SHORT)


@pytest.mark.parametrize("name", sorted({"sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
                                         "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "fabs",
                                         "exp2", "cbrt", "radians"} & set(dir(math))))  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_math(name, dtype):
    function = getattr(math, name)
    with np.errstate(all="ignore"):
        given = range(-2, 9) if dtype == np.int64 else [0.5, 2, 1, 0, -1, -0.5, 710, -3, np.inf, np.nan, -np.inf, -0.0]
        values = [np.asarray(v, dtype) for v in given]
    first = next(i for i, v in enumerate(values) if _works(function, v))
    agrees(lambda x: function(x), [v.reshape(1)[0:1].reshape(()) for v in values], first)


def _works(function, v):
    try:
        return math.isfinite(function(v))
    except ValueError:
        return False


@pytest.mark.parametrize("name", ["pow", "fmod", "hypot", "atan2", "copysign"])
def test_math_of_two(name):
    values = [2.0, -0.5, 0.0, -0.0, 3.0, -2.0, 1e200, math.inf, -math.inf, math.nan]
    function = getattr(math, name)
    agrees(lambda x: function(x[0], x[1]), [np.array([a, b]) for a in values for b in values])
    agrees(lambda x: function(3.5, x[1]), [np.array([0, b]) for b in values])


INTS = {
    "arithmetic": lambda x: (int(x[0]) + 5, 5 - int(x[0]), int(x[0]) * 3),
    "sum": lambda x: int(x[0]) + int(x[1]),
    "difference": lambda x: int(x[0]) - int(x[1]),
    "product": lambda x: int(x[0]) * int(x[1]),
    "division": lambda x: int(x[0]) / int(x[1]),
    "floor": lambda x: (int(x[0]) // 3, int(x[0]) % -3, divmod(int(x[0]), 7)),
    "floor by minus one": lambda x: int(x[0]) // -1,
    "modulo": lambda x: (int(x[0]) % int(x[1]), int(x[0]) // int(x[1])),
    "power": lambda x: (int(x[0]) ** 2, int(x[0]) ** 0),
    "negative power": lambda x: int(x[0]) ** -2,
    "computed power": lambda x: 2 ** int(x[2]),
    "negated": lambda x: -int(x[0]),
    "magnitude": lambda x: abs(int(x[0])),
    "bits": lambda x: (int(x[0]) & 6, int(x[0]) | 1, int(x[0]) ^ int(x[1]), ~int(x[0])),
    "shifts": lambda x: 3 << int(x[2]),
    "right": lambda x: int(x[0]) >> int(x[2]),
    "comparisons": lambda x: (int(x[0]) > 2, int(x[0]) == int(x[1]), int(x[0]) > 2.5, int(x[0]) >= math.inf),
    "against a float": lambda x: int(x[0]) < float(x[1]),
    "mixed": lambda x: (int(x[0]) + 0.5, int(x[0]) * 1j, int(x[0]) + float(x[1])),
    "with an array": lambda x: x + int(x[0]),
    "item": lambda x: x.max().item() * 2.5,
    "round": lambda x: (round(int(x[0])), round(x[0]), math.floor(x[1])),
    "float": lambda x: float(x[0]) / 3,
    "small": lambda x: np.array([1, 2], np.uint8) + int(x[2]),
    "small compared": lambda x: np.array([1, 200], np.uint8) == int(x[2]),
    "clipped": lambda x: np.clip(np.array([1, 20], np.int64), 0, int(x[2])),
    "position": lambda x: np.arange(70.0)[int(abs(x[2]))],
    "assigned": lambda x: _assigned(np.zeros(3, np.int16), int(x[0])),
    "cast": lambda x: np.uint8(int(x[0])),
    "is_integer": lambda x: int(x[0]).real,
    "sorted": lambda x: sorted(x),
    "sorted numbers": lambda x: sorted(x.tolist(), reverse=True),
}


@pytest.mark.parametrize("name", INTS)
def test_ints(name):
    agrees(INTS[name], WHOLE)


def test_unsigned_ints():
    agrees(lambda x: (int(x[0]) + 1, x + int(x[1])), [np.array(v, np.uint8) for v in ([1, 2], [255, 255], [0, 0])])
    agrees(lambda x: int(x[0]), [np.array([v], np.uint64) for v in (1, 2**63, 2**64 - 1)])


def test_sorted_keeps_pythons_order():
    values = [np.array(v) for v in ([1.5, -2.0, 0.0, -0.0], [0.0, -0.0, 5.0, -1.0], [-0.0, 0.0, 0.0, -0.0])]
    agrees(lambda x: (sorted(x), sorted(x.tolist(), reverse=True), sorted([float(x[0]), float(x[1])])), values)
    with pytest.raises(RuntimeError):
        np2fx.trace(lambda x: sorted(x), values[0])(torch.tensor([1.0, math.nan, 0, 2], dtype=torch.float64))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("python-value", lambda x: range(int(x[0]))),
        ("python-value", lambda x: [0] * int(x[0])),
        ("python-value", lambda x: [1, 2, 3][int(x[0])]),
        ("python-value", lambda x: f"{float(x[0]):.2f}"),
        ("python-value", lambda x: str(int(x[0]))),
        ("python-value", lambda x: {float(x[0]): 1}),
        ("python-value", lambda x: round(float(x[0]), 2)),
        ("python-value", lambda x: math.gamma(x[0])),
        ("python-value", lambda x: math.fsum(x)),
        ("python-value", lambda x: float(x[0]).hex()),
        ("python-value", lambda x: int(x[0]) is x.ndim),
        ("numpy-scalar", lambda x: max(float(x[0]), 0)),
        ("numpy-scalar", lambda x: np.arange(3) * max(float(x[0]), 0)),
        ("numpy-scalar", lambda x: -max(float(x[0]), 0)),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_where_only_a_real_number_can_go(name, function):
    (finding,) = refused(name, function, X).findings
    assert finding.path == __file__ and finding.line == function.__code__.co_firstlineno
    assert finding.hint


def test_the_line_of_a_finding_in_a_longer_function():
    def f(x):
        n = int(x[0])
        y = [
            x * n,
            x[0] in (1, 2),
        ]
        return y, list(range(n))

    (finding,) = refused("python-value", f, X).findings
    assert finding.line == f.__code__.co_firstlineno + 6


def test_names_are_resolved():
    def float(v):
        return v + 1

    def sqrt(v):
        return v * 2

    def f(x):
        int = sqrt
        return float(x[0]), sqrt(x[0]), int(x[1])

    agrees(f, INPUTS)


def scaled(x, by=2.0):
    """A helper at module level, with a default."""
    return x * float(by) / math.sqrt(x[0] * x[0] + 1)


def test_helpers_closures_and_defaults():
    factor = 3.0

    def inner(x):
        nonlocal factor
        factor = 2.0 if not x.ndim else 3.0
        return float(x[0]) * factor

    def f(x):
        return scaled(x), scaled(x, x[2]), inner(x)

    agrees(f, INPUTS[:3])


class Filter:
    def __init__(self, gain):
        self.gain = gain

    def apply(self, x):
        return self.gain * float(x[0])

    def __call__(self, x):
        return super().__repr__() is not None, self.apply(x)


def test_methods():
    agrees(Filter(2.0), INPUTS[:3])
    agrees(Filter(2.0).apply, INPUTS[:3])


def test_the_code_stays_the_users():
    code = sourced(scaled.__code__)
    assert code is not scaled.__code__
    for name in ("co_name", "co_filename", "co_firstlineno", "co_varnames", "co_freevars", "co_flags"):
        assert getattr(code, name) == getattr(scaled.__code__, name)
    assert {line for *_, line in code.co_lines()} == {line for *_, line in scaled.__code__.co_lines()}
    assert called(repr) is repr and called(scaled) is scaled


def test_a_function_without_its_source_is_traced_as_it_is(tmp_path):
    space: dict = {}
    exec("def f(x):\n    return x * 2 + x.sum()\ndef g(x):\n    return float(x[0])", space)
    same(space["f"](X), np2fx.trace(space["f"], X)(torch.from_numpy(X)))
    refused("python-value", space["g"], X)


def test_a_file_that_has_changed_is_not_the_source(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return float(x[0]) * 2\n")
    space: dict = {}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), space)
    same(3.0, np2fx.trace(space["f"], X)(torch.from_numpy(X)))
    path.write_text("def f(x):\n    return float(x[0]) * 3.5\n")
    linecache.clearcache()
    assert sourced(space["f"].__code__) is space["f"].__code__


def test_exceptions_of_plain_values_are_pythons():
    def f(x):
        assert not [] and "a" in "abc" and 2 not in {1} and int("7") == 7 and float("1.5") == round(1.5, 1)
        try:
            math.sqrt(-1)
        except ValueError as problem:
            return x * len(str(problem))

    agrees(f, INPUTS[:3])


def test_a_caught_error_of_the_sample_is_refused():
    def f(x):
        try:
            return x / float(x[0]) + 1 / int(x[1])
        except ZeroDivisionError:
            return x

    refused("data-dependent-branch", f, np.array([1.0, 0.0]))


def test_numpys_python_bools():
    agrees(lambda x: (np.allclose(x, 2.5), np.allclose(x, x) * x.astype(np.float32), True + np.array_equal(x, x), not np.any(x)), INPUTS)


@pytest.mark.parametrize("function", [
    lambda x: x * float(x[0]) + math.sqrt(abs(x[1])),
    lambda x: (int(x[0]) * 2, not x[0] > 1, x[0] in (1.5, 2.0)),
    lambda x: x / float(x[1]) if float(x[1]) != 0 else x * 0.0,
])  # fmt: skip
def test_export(function):
    module = np2fx.trace(function, X)
    exported = torch.export.export(module, (torch.from_numpy(X),)).module()
    for x in INPUTS[:3]:
        same(function(x), exported(torch.from_numpy(x)))


def test_sums_carry_what_is_lost():
    def f(x):
        items = [float(x[2]), 1.0, float(x[0]), -float(x[2])]
        return carried(items) if is_traced(x) else neumaier(items)

    agrees(f, INPUTS)


def neumaier(items):
    total, lost = 0.0, 0.0
    for x in items:
        new = total + x
        lost += (total - new) + x if abs(total) >= abs(x) else (x - new) + total
        total = new
    return total + lost if math.isfinite(lost) else total
