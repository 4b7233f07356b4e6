"""More kinds of programs in which NumPy is not what one would think: scalars in containers, views, `.flat`, what lies in `out=`."""

from __future__ import annotations

import dataclasses
import types
from collections import deque

import np2fx
import numpy as np
import pytest
import torch

from .program import Program
from .test_kinds import not_wrong, right

SIX = np.array([-2, -1, 0, 1, 2, 3], np.float32)
SQUARE = np.arange(9, dtype=np.float32).reshape(3, 3)
ONE = ("convert",)


def program(text: str) -> str:
    """Statements on one line, `|` between them."""
    return text.replace(" | ", "\n").replace("\\t", "    ")


# What holds a scalar is given another one by `+=`: the scalar itself stays

SCALARS = ("x[0]", "x.sum()", "x.max()", "np.float32(3)", "x[1] * 2", "x.reshape(2, 3)[0, 1]", "next(iter(x))", "max(x)", "x.item(1)")
HOLDERS = ("w = [{}] | k = 0", "w = {{'a': {}}} | k = 'a'", "w = {{}} | k = 1 | w[1] = {}", "w = [0.0, {}] | k = -1", "w = [] | k = 0 | w.append({})",
           "w = [0.0] * 2 | k = 1 | w[1] = {}", "w = list(({}, 1)) | k = 0")  # fmt: skip


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "/=", "//=", "**="])
@pytest.mark.parametrize("holder", HOLDERS)
def test_what_holds_a_scalar(holder, operator):
    for scalar in SCALARS:
        right(program(holder.format(scalar) + f" | s = w[k] | w[k] {operator} 2 | t = w[k] | w[k] {operator} 2 | return x, s, t, w"), SIX, ways=ONE)


@pytest.mark.parametrize("body", [
    "w = [v for v in x] | w[0] -= 1 | return x, w",
    "a, *b = x | b[0] += 1 | return x, b",
    "lo, hi = w = [x.min(), x.max()] | w[0] -= 1 | return lo, hi, w",
    "m = x.max() | q = [m] * 3 | q[1] += 1 | return q",
    "d = {} | d['a'] = d['b'] = x.mean() | d['a'] += 1 | return d",
    "d = {'s': x.sum()} | h = [] | for _ in range(3): | \\th.append(d['s']) | \\td['s'] *= 2 | return h",
    "w = [[v for v in r] for r in x.reshape(2, 3)] | w[0][0] += 1 | return x, w",
    "w = list(x) | u = w[:] | w[0] *= 2 | return u, w, x",
    "import operator | s = x.sum() | t = s | s = operator.iadd(s, 1) | return s, t",
    "import types | o = types.SimpleNamespace() | o.m = o.n = x[0] | o.m += 1 | return o.m, o.n, x",
    "d = dict(zip('abc', x)) | b = d['a'] | d['a'] += 1 | return d['a'], b, x",
    "w = [0, 0] | for i in range(2): | \\tw[i] += x[i] | s = w[0] | w[0] -= 1 | return s, w",
    "w = [x[:2], x[2:]] | w[0] += 1 | return w, x",
    "z = np.array(3.0) | w = [z] | w[0] += 1 | return z, w",
])  # fmt: skip
def test_scalars_under_other_names(body):
    right(program(body), SIX, ways=ONE)


# An array on the right makes an array of a list

@pytest.mark.parametrize("body", [
    "w = [1.0, 2.0, 3.0] | k = w | w += x[:3] | return w, k", "w = [] | w += x | return w", "w = [2] | w *= x | return w", "w = [0] * 6 | w -= x | return w",
    "w = [0] * 6 | w += x[0] | return w", "w = (1, 2, 3) | w *= x[:3] | return w", "d = {'a': [1, 2, 3]} | d['a'] += x[:3] | return d",
    "import operator | w = operator.iadd([1, 2, 3], x[:3]) | return w", "w = [0, 1] | k = w | w *= x.argmax() | return k, w", "w = [0, 1] | w *= x[0] | return w",
    "w = [0, 1] | k = w | w *= np.int64(2) | return k", "w = [x[0]] | k = w | w += [x[1]] | return k", "w = [0] | w += (v for v in x) | return w",
    "from collections import deque | w = deque([1.0, 2.0]) | w += x[:2] | return w", "w = {1, 2} | k = w | w |= {3} | return k",
    "import types | o = types.SimpleNamespace(a=[1.0]) | p = o.a | o.a += x[:1] | return p, o.a", "w = [1.0, 2.0] | w += x[:2] | w[0] += 1 | w *= 2 | return w, x",
])  # fmt: skip
def test_lists_and_arrays(body):
    right(program(body), SIX, ways=ONE)


# Lists change: what is known of their items when they are made is not known for long

FILL = ("a[0] = y", "a[:] = [y] * 2", "a.insert(0, y)", "b = a | b[0] = y", "a.append(y) | a.reverse()", "f = a.insert | f(0, y)",
        "def g(): | \\ta[0] = y | g()", "def g(q): | \\tq[0] = y | g(a)", "a[0], a[1] = y, 0", "for a[0] in [y]: | \\tpass", "c = [a, a] | c[0][0] = y",
        "import operator | operator.setitem(a, 0, y)", "d = {} | d['a'] = a | d['a'][0] = y", "del a[:] | a += [y]")  # fmt: skip


@pytest.mark.parametrize("fill", FILL)
@pytest.mark.parametrize("made", ["[0, 1]", "[x, x]", "[0] * 2", "[0 for _ in range(2)]", "[1.5, 'a']"])
def test_lists_change(made, fill):
    not_wrong(program(f"y = x.astype(np.int32) | a = {made} | {fill} | return a[0] / 2, a[0] ** 2.0, 2 / a[0]"), SIX, ways=ONE)
    not_wrong(program(f"y = x[0] | a = {made} | {fill} | s = a[0] | a[0] += 1 | return s, a[0], x"), SIX, ways=ONE)


def test_lists_of_arguments_change():
    @np2fx.convert
    def node(w, x):
        w[0] = x
        return w[0] / 2

    assert node([0, 1], torch.arange(3, dtype=torch.int32)).dtype == torch.float64


# `@=` writes into the array

@pytest.mark.parametrize("body", [
    "a = x | a @= np.eye(3, dtype=np.float32) * 2 | return x", "x @= x | return x", "x @= x.T | return x", "x[:2] @= x | return x", "y = x[:, :2] | y @= x[:2, :2] | return x",
    "d = {'m': x} | d['m'] @= x | return x", "x @= np.eye(3) | return x", "x @= np.ones((3, 2), np.float32) | return x", "x @= x[0] | return x", "y = x[0] | y @= y | return x",
    "y = x[0] | y @= x | return x",
])  # fmt: skip
def test_matmul_in_place(body):
    right(program(body), SQUARE, ways=ONE)


def test_choices_one_by_one():
    for call in ("(x > 0).choose(x, x * 2)", "(x > 0).choose(-1, x)", "(x > 0).choose([x, -x])", "(x > 0).astype(int).choose(x, -x, x * 3)", "(x > 0).choose()",
                 "np.array([0, 1, 5, 7, -1, 2]).choose(x, -x, x * 3, mode='clip')", "np.array([0, 1, 5, 7, -1, 2]).choose(x, -x, mode='wrap')"):  # fmt: skip
        not_wrong(f"return {call}", SIX)
        right(f"return {call}", SIX, ways=ONE)


# Which object a view is

SAME = ("x.view()", "x.view(np.float32)", "x.ravel()", "np.ravel(x)", "x.squeeze()", "np.squeeze(x)", "x.squeeze(())", "x[:]", "x[...]", "x.T", "x.transpose()", "x.real",
        "x.reshape(6)", "x.reshape(-1)", "np.asarray(x)", "np.atleast_1d(x)", "np.moveaxis(x, 0, 0)", "np.swapaxes(x, 0, 0)", "np.rollaxis(x, 0)", "np.expand_dims(x, ())",
        "np.broadcast_to(x, (6,))", "np.broadcast_arrays(x, 1)[0]", "np.split(x, 1)[0]", "np.flip(x, ())", "np.require(x)", "np.ascontiguousarray(x)", "np.conj(x)", "x.conj()",
        "x.getfield(np.float32)", "x.to_device('cpu')", "np.real_if_close(x)", "x.astype(np.float32, copy=False)", "np.trim_zeros(x)", "np.permute_dims(x)")  # fmt: skip


@pytest.mark.parametrize("view", SAME)
def test_which_object_a_view_is(view):
    not_wrong(f"y = {view}\nreturn y is x", SIX)
    not_wrong(f"y = {view}\ny.shape = (2, 3)\nreturn x, y", SIX)
    not_wrong(f"z = x * 2\ny = {view.replace('x', 'z', 1)}\ny.shape = (3, 2)\nreturn z, y", SIX)
    right(f"return {view} is x", SIX, ways=ONE)


# `.flat`

@pytest.mark.parametrize("body", [
    *(f"return {a} {op} {b}" for op in ("==", "!=", "<", "<=", ">", ">=") for a, b in (("x.flat", "3"), ("x.flat", "x.flat"), ("2", "x.flat"), ("x.flat", "x.ravel()"), ("x.flat", "[1] * 6"))),
    "it = x.flat | return next(it), next(it), it.index, it.coords", "it = x.flat | next(it) | return [v for v in it], [v for v in it], it.coords",
    "it = x.flat | next(it) | return it[0], it.index", "it = x.flat | next(it) | it[1] = 5 | return it.index, next(it)", "it = x.flat | next(it) | return 2 in it, it.index",
    "it = x.flat | next(it) | return np.asarray(it), len(it), it.copy(), it.index", "return isinstance(x.flat, np.flatiter), type(x.flat) is np.flatiter",
    "return hasattr(x.flat, 'shape')", "return list(reversed(x.flat))", "return x.flat.shape", "w = [] | for v in x.flat: | \\tx += 1 | \\tw.append(v) | return w",
    "x.flat = 7 | return x", "x.flat = [1, 2, 3] | return x", "x.flat = [1, 2, 3, 4] | return x", "x.flat = range(9) | return x", "x.flat = [] | return x",
    "x.T.flat = [9, 8, 7, 6, 5] | return x", "x.flat = x | return x", "x.flat = x.T | return x", "x.flat[1:] = x.ravel() | return x", "x[1:].flat = x | return x",
    "y = x.astype(int) | y.flat = [2.7, -1.2] | return y", "x.flat = 'a' | return x",
])  # fmt: skip
def test_flat(body):
    not_wrong(program(body), SIX.reshape(2, 3))


@pytest.mark.parametrize("made", ["np.asarray({})", "np.array({})", "np.ravel({})", "np.atleast_1d({})", "{}.copy()", "{}[:]", "np.reshape({}, (3, 2))", "np.sort({})"])
@pytest.mark.parametrize("base", ["x", "x.T", "x[:, :2]"])
def test_what_lies_on_flat(made, base):
    not_wrong(f"a = {made.format(base + '.flat')}\na[0] = 9\nreturn x, a", SIX.reshape(2, 3), ways=ONE)


@pytest.mark.parametrize("body", ["return [1, 2][x[0] > 0]", "return (1, 2)[x[1] < 0]", "return 'a' * (x[0] < 0)", "return 'a' * x.argmax()", "return 'a' * x[4]", "return x.argmax() * 'a'"])
def test_bools_count_nothing(body):
    right(body, SIX, ways=ONE)


# What a mask is made of: an array has to be bools, a scalar, a number or a list is taken for bools, and a mean counts what they sum to

MASKS = ("np.int64(2)", "x.max()", "x[0]", "x[2]", "np.sum(x > 0)", "0", "0.5", "True", "[1, 0, 2, 1, 1, 0]", "[x[0], 0, 1, 1, x[2], 2]", "x > 0",
         "x.astype(int)", "np.array(2)", "x", "x[2:3]")  # fmt: skip
MASKED = ("np.sum(x, where={})", "x.sum(where={})", "np.add.reduce(x, where={})", "np.mean(x, where={})", "np.std(x, where={})", "x.var(where={}, keepdims=True)",
          "np.all(x, where={})", "np.max(x, where={}, initial=-9)", "np.nansum(x, where={})", "np.nanmean(x, where={})", "np.copyto(x, 7, where={}) | return x",
          "np.add(x, 1, where={}, out=np.zeros(6, np.float32))", "np.divmod(x, 2, out=(x * 0, x * 0), where={})")  # fmt: skip


@pytest.mark.parametrize("call", MASKED)
@pytest.mark.parametrize("mask", MASKS)
def test_masks(call, mask):
    not_wrong(program("return " * ("return" not in call) + call.format(mask)), SIX)


def test_initial_may_be_true():
    right("return np.add.reduce(x, initial=True), np.multiply.reduce(x[3:] + 1, initial=True)", SIX)


# Flags, out= and keys

@pytest.mark.parametrize("body", ["y = x * 2 | y.flags.writeable = {} | return y", "y = x * 2 | y.flags.writeable = {} | y[0] = 1 | return y", "x.flags.aligned = {} | return x"])
@pytest.mark.parametrize("value", ["False", "True"])
def test_flags_are_refused(body, value):
    not_wrong(program(body.format(value)), SIX)


@pytest.mark.parametrize("call", ["np.concatenate([{0}[1:], {0}[:1]], out={0})", "np.concatenate([{0}, {0}], axis=0, out={0})", "np.stack([{0}[0], {0}[2], {0}[1]], axis=1, out={0})",
                                  "np.ptp({0}, axis=0, out={0}[0])", "np.take({0}, [2, 0, 1], axis=0, out={0}, mode='clip')", "np.dot({0}, {0}, out={0})", "np.cumsum({0}[1:], axis=0, out={0}[:-1])",
                                  "np.sum({0}, axis=0, out={0}[1])", "np.median({0}, axis=0, out={0}[0])", "np.round({0}.T, 1, out={0})", "np.choose([0, 1, 0], [{0}, {0}.T], out={0})"])  # fmt: skip
def test_out_lies_in_what_goes_in(call):
    for array in ("x", "x.T", "x[::-1]"):
        not_wrong(f"{call.format(array)}\nreturn x", SQUARE)


@pytest.mark.parametrize("scalar", ["x.mean()", "x[0]", "np.float32(1)", "x[..., 0]", "np.array(1.0, np.float32)", "x.max()"])
@pytest.mark.parametrize("call", ["np.add(s, 1, out=s)", "np.exp(s, s)", "np.sum(x, out=s)", "x.sum(out=s)", "np.multiply.reduce(x, out=s)", "np.dot(x, x, out=s)", "np.copyto(s, 1)", "s.fill(3)",
                                  "np.clip(s, 0, 1, out=s)", "np.add.at(s, (), 1)", "s[()] = 3", "s.flat[0] = 3"])  # fmt: skip
def test_scalars_are_no_out(call, scalar):
    not_wrong(f"s = {scalar}\n{call}\nreturn s, x", SIX)


@pytest.mark.parametrize("key", ["..., ...", "'a'", "None, 'a'", "1.5", "None, 2.0", "{}", "..., 0, ..."])
def test_keys_that_are_none(key):
    for body in (f"return x[{key}]", f"x[{key}] = 1\nreturn x", f"x[{key}] += 1\nreturn x"):
        right(body, SIX, ways=ONE)
        guarded = "\n".join("    " + line for line in body.split("\n"))
        for error in ("IndexError", "TypeError"):
            right(f"try:\n{guarded}\nexcept {error}:\n    return 0", SIX, ways=ONE)


@pytest.mark.parametrize("body", ["return x.reshape(-1, -1)", "return x.transpose(0, 1)", "return np.transpose(x, (0, 0, 1))", "return x.sum(axis=(0, 0))", "x[0:2] = np.ones((3, 2, 2), x.dtype)",
                                  "x[0] = np.ones(5, x.dtype)", "return x.std(axis=(1, -2))", "return x.any(axis=(0, 0))", "x[0, 0, 0] = np.ones(2, x.dtype)"])  # fmt: skip
def test_errors_are_of_numpys_class(body):
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    node = Program(f"import numpy as np\n\n\ndef node(x):\n    {body}\n", [x], [x]).module().node
    with pytest.raises(ValueError):
        node(x.copy())
    with pytest.raises(ValueError):
        np2fx.convert(node)(torch.from_numpy(x.copy()))


# What is returned is a copy, where it is a scalar

@dataclasses.dataclass
class Holder:
    held: object


class Keeper:
    def keep(self, x):
        self.last = x[0]
        self.more = {"a": [x[1]]}


def element(x):
    return x[0]


def largest(x):
    return max(x)


def pair(x):
    return x[0], [x[1]]


def named(x):
    return {"a": x.reshape(-1)[0]}


def listed(x):
    return list(x)


def in_dataclass(x):
    return Holder(x[0])


def in_object(x):
    return types.SimpleNamespace(held=x[0])


SCALARS_OUT = [(element, lambda r: r), (largest, lambda r: r), (pair, lambda r: r[1][0]), (named, lambda r: r["a"]), (listed, lambda r: r[0]),
               (in_dataclass, lambda r: r.held), (in_object, lambda r: r.held)]  # fmt: skip


@pytest.mark.parametrize(("node", "scalar"), SCALARS_OUT)
def test_returned_scalars_are_copies(node, scalar):
    x = torch.tensor([1.0, 2.0])
    found = np2fx.convert(node)(x)
    before = scalar(found).clone()
    x += 50
    assert torch.equal(scalar(found), before)


def test_returned_views_are_views():
    x = torch.tensor([1.0, 2.0])
    found = np2fx.convert(lambda x: (x[:1], x[0, ...]))(x)
    x += 50
    assert found[0].item() == found[1].item() == 51


def fill(x, w, d):
    w.append(x[0])
    d["a"] = x[1]
    made = deque()
    made.append(x[0])
    return made, made[0]


def steps(x):
    yield x[0]
    yield x[0]


def test_scalars_that_are_put_somewhere_are_copies():
    x = torch.tensor([1.0, 2.0])
    for w in ([], [torch.zeros(2)]):
        d: dict = {}
        made, same = np2fx.convert(fill)(x, w, d)
        keeper = Keeper()
        np2fx.convert(keeper.keep)(x)
        x += 50
        assert w[-1].item() == made[0].item() == 1 and d["a"].item() == 2 and made[0] is same
        assert keeper.last == 1 and keeper.more["a"][0] == 2
        x -= 50
    walk = np2fx.convert(steps)(x)
    first = next(walk)
    x[0] = 7
    assert first.item() == 1 and next(walk).item() == 7


def test_returned_scalars_have_gradients():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    np2fx.convert(lambda x: x[0])(x).backward()
    assert x.grad.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("write", ["v.fill(-1)", "v[0] = -1", "v += -1", "v[...] = 300", "np.copyto(v, -1)", "v.sort(axis=7)", "np.add(v, 1, out=v)"])
@pytest.mark.parametrize("view", ["np.broadcast_to(x, x.shape)", "np.broadcast_to(x, x.shape)[::-1]"])
def test_what_is_read_only_comes_before_what_does_not_fit(view, write):
    body = f"v = {view}\ntry:\n    {write}\nexcept Exception as error:\n    return type(error).__name__, str(error)\nreturn v"
    not_wrong(body, np.arange(6, dtype=np.uint8).reshape(2, 3), ways=("convert",))
