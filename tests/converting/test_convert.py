"""`convert` against the original: values, shapes, dtypes, errors, and what becomes of the arguments."""

from __future__ import annotations

import functools
import inspect

import np2fx
import numpy as np
import pytest
import torch

from . import programs

INPUTS = [np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 0.5, 2.0, 1.0])]


def rounded(array):
    """An array's values as lists; of floating-point ones 13 digits: the last bits are the processor's and its libraries'."""
    return np.vectorize("{:.13g}".format, otypes=[object])(array).tolist() if array.dtype.kind in "fc" else array.tolist()


def shown(value):
    """Values as text that tells values, dtypes and shapes apart, tensors and arrays alike."""
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_conj().numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{rounded(np.asarray(value))} {value.dtype} {value.shape}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}{[shown(v) for v in value]}"
    if isinstance(value, dict):
        return str({k: shown(v) for k, v in value.items()})
    return f"{type(value).__name__} {value!r}"


def outcome(function, *args):
    """What a call gives and what it leaves of its arguments; the error's NumPy class where it raises."""
    try:
        found = shown(function(*args))
    except Exception as error:
        found = next(c.__name__ for c in type(error).__mro__ if c in (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError))
    return found, shown(list(args))


@pytest.mark.parametrize("values", INPUTS, ids=["rising", "mixed"])
@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_convert_means_what_the_original_means(program, values):
    want = outcome(program, values.copy())
    got = outcome(np2fx.convert(program), torch.from_numpy(values.copy()))
    assert got == want


def test_each_signature_has_its_own_source():
    def scaled(x):
        return x / 2

    f = np2fx.convert(scaled)
    assert "x / 2" in f.source_for(np.ones(3))
    assert "x.to(torch.float64) / 2" in f.source_for(np.ones(3, dtype=int))
    assert f(torch.tensor([1, 2])).dtype == torch.float64
    assert f(torch.tensor([1.0, 2.0])).dtype == torch.float32


def test_plain_torch_where_facts_allow():
    def preprocess(state, velocity):
        centred = (state - state.mean()) / np.sqrt(np.sum(state * state))
        return np.exp(-centred[::-1]) + velocity[0]

    text = np2fx.convert(preprocess).source_for(np.ones(3, np.float32), np.ones(3, np.float32))
    assert "torch.exp(-torch.flip(centred, (0,))) + velocity[0]" in text
    assert "npx" not in text
    assert "ops" not in text


class Normaliser:
    def __init__(self):
        self.mean, self.scale = np.array([1.0, 2.0]), 3.0

    def shift(self, x):
        return x - self.mean

    def __call__(self, x):
        return self.shift(x) / self.scale


def test_bound_methods_read_self():
    n = Normaliser()
    x = np.array([3.0, 5.0])
    assert shown(np2fx.convert(n.__call__)(torch.from_numpy(x))) == shown(n(x))


def test_gradients_flow():
    def loss(x):
        return np.sum(np.tanh(x[::-1]) ** 2)

    x = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64, requires_grad=True)
    np2fx.convert(loss)(x).backward()
    expected = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64, requires_grad=True)
    (torch.tanh(expected) ** 2).sum().backward()
    assert torch.allclose(x.grad, expected.grad)


def test_rewritten_source_follows_the_default_device():
    def make(x):
        return np.concatenate([x, np.zeros(2, np.float32), programs.TABLE.astype(np.float32)]) * np.float32(2)

    with torch.device("meta"):
        found = np2fx.convert(make)(torch.empty(3))
    assert found.device.type == "meta"
    assert found.shape == (9,)
    assert found.dtype == torch.float32


def test_global_arrays_are_read_as_they_are_now():
    space = {"np": np, "K": np.array([1.0, 2.0])}
    source = "def f(x):\n    return x * K\n"
    import linecache

    linecache.cache["<global test>"] = (len(source), None, source.splitlines(keepends=True), "<global test>")
    exec(compile(source, "<global test>", "exec"), space)
    f = np2fx.convert(space["f"])
    x = torch.ones(2, dtype=torch.float64)
    assert f(x).tolist() == [1.0, 2.0]
    space["K"] = np.array([5, 6])
    assert f(x).tolist() == [5.0, 6.0]
    space["K"][0] = 7
    assert f(x).tolist() == [7.0, 6.0]


STATE = {"k": np.ones(2)}


def test_writing_to_a_global_is_refused():
    def remember(x):
        STATE["k"] = x
        return x

    with pytest.raises(np2fx.ConversionError) as refused:
        np2fx.convert(remember)
    assert [f.name for f in refused.value.findings] == ["side-effect"]


@pytest.mark.parametrize(("code", "name"), [
    ("return x + np.random.rand(3)", "random"),
    ("return np.loadtxt(x)", "side-effect"),
    ("return np.empty(3) + x", "uninitialised-memory"),
    ("return eval('np.sum(x)')", "opaque-call"),
])  # fmt: skip
def test_refusals_name_their_place(tmp_path, code, name):
    path = tmp_path / "refused.py"
    path.write_text(f"import numpy as np\n\n\ndef node(x):\n    {code}\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises(np2fx.ConversionError) as refused:
        np2fx.convert(space["node"])
    assert [(f.name, f.line, f.severity) for f in refused.value.findings] == [(name, 5, "error")]
    assert all(f.hint for f in refused.value.findings)


def test_memory_that_is_filled_by_several_statements():
    def node(x):
        o, (p, q) = np.empty(3), (np.empty_like(x), 2.0)
        np.cumsum(x, dtype=np.int16, out=o)
        p[0] = q
        p[1:] = x[:2]
        return o, p

    x = np.array([1.5, 2.0, 3.5])
    for want, got in zip(node(x), np2fx.convert(node)(torch.from_numpy(x)), strict=True):
        np.testing.assert_array_equal(got.numpy(), want)


SWAPPED = (
    "y = np.array(x, dtype='>i4')\n    return y + 1",
    "y = x.astype('>f4')\n    z = -y\n    return z, y > 1, x - y",
    "return x.astype('>f4').astype('<f4') * 2, x.astype(dtype='>i2').astype('f8')",
    "y = x.astype('>f4')\n    return y",
    "y = x.astype('>f4')\n    return y + 1",
    "y = x.astype('>f4')\n    y += 1\n    return y * 2",
    "return np.asarray(x, '>f8')[1:] * 2",
)


@pytest.mark.parametrize("code", SWAPPED)
def test_a_foreign_byte_order_that_is_computed_with(tmp_path, code):
    path = tmp_path / "swapped.py"
    path.write_text(f"import numpy as np\n\n\ndef node(x):\n    {code}\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    x = np.array([1.5, 2.0, 3.5])
    want, got = space["node"](x), np2fx.convert(space["node"])(x)
    for w, g in zip(*(v if isinstance(v, tuple) else (v,) for v in (want, got)), strict=True):
        np.testing.assert_array_equal(np.asarray(g), w)  # what torch has no dtype for leaves as NumPy's array
        assert np.asarray(g).dtype == w.dtype


def windows(x, d):
    step = x.strides[0]
    w = np.lib.stride_tricks.as_strided(x, (len(x) - d + 1, d), (step, step))
    return w.prod(axis=1), x[1:].strides, w[1, :]


def test_memory_by_strides():
    x = np.arange(1, 9, dtype=np.int32)
    for d in (2, 3):
        for w, g in zip(windows(x, d), np2fx.convert(windows)(torch.from_numpy(x), d), strict=True):
            np.testing.assert_array_equal(np.asarray(g), w)


def _written_windows(x):
    w = np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))
    w += 1
    return x


@pytest.mark.parametrize("fn", [lambda x: (x + 1).strides, lambda x: x[::-1].strides, _written_windows])
def test_memory_is_numpys(fn):
    want, got = fn(np.arange(4.0)), np2fx.convert(fn)(np.arange(4.0))
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("fn", [
    lambda x: np.lib.stride_tricks.as_strided(x, (9, 2), (8, 8)),
    lambda x: np.lib.stride_tricks.as_strided(x[::2], (2, 2), (8, 8)),
])  # fmt: skip
def test_memory_that_is_not_known_is_refused(fn):
    with pytest.raises(np2fx.ConversionError):
        np2fx.convert(fn)(np.arange(4.0))


def test_torch_values_keep_torchs_meaning():
    policy = torch.nn.Linear(3, 2).double()

    def act(x):
        t = torch.from_numpy(x)
        halves = torch.arange(3) / 2  # float32 in torch, where NumPy would make float64
        with torch.no_grad():
            y = policy(t * 2)
        return np.clip(y.numpy(), -1, 1), halves

    action, halves = np2fx.convert(act)(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    assert shown(action) == shown(act(np.array([1.0, 2.0, 3.0]))[0])
    assert halves.dtype == torch.float32


class Affine:
    def __init__(self):
        self.offset = np.array([1.0, 2.0])

    def __call__(self, x, factor=1):
        return (x - self.offset) * factor

    @classmethod
    def doubled(cls, x):
        return x * 2


def weighted(weights, x, power=2, *, bias=3):
    return weights * x**power - bias


def test_callables_keep_what_they_hold():
    x = np.array([3.0, -5.0])
    affine = Affine()
    partial = functools.partial(weighted, np.array([0.5, 2.0]), bias=1.0)
    partials = functools.partial(affine, factor=3), partial, functools.partial(partial, power=3)
    for function in (affine, Affine().__call__, Affine.doubled, *partials):
        converted = np2fx.convert(function)
        assert shown(converted(torch.from_numpy(x))) == shown(function(x))
        assert inspect.signature(converted) == inspect.signature(function)
        assert "def " in converted.source_for(x)


def test_a_write_into_what_a_partial_holds_is_seen():
    held = np.zeros(2)

    def fills(out, x):
        out[:] = x
        return out.sum()

    np2fx.convert(functools.partial(fills, held))(torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert held.tolist() == [1.0, 2.0]


NO_FUNCTIONS = [torch.nn.Linear(2, 2), Affine, np.sin, len, functools.partial(np.clip, a_min=0)]


@pytest.mark.parametrize("thing", NO_FUNCTIONS, ids=lambda thing: type(thing).__name__)
def test_what_is_no_python_function_is_refused(thing):
    with pytest.raises(np2fx.ConversionError, match="is not a Python function"):
        np2fx.convert(thing)
