"""Statements: what a program does with expressions. Each function writes one, or raises Failed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .expressions import expression
from .indexing import target
from .slots import is_array
from .writer import Failed, Writer, writable


def assign(w: Writer) -> None:
    name = w.variable(is_array) if w.chance(0.2) else w.fresh()
    w.commit(f"{name} = {expression(w)}")


def unpack(w: Writer) -> None:
    template = w.rng.choice((
        "{0}, {1} = {a}, {a}", "{0}, *{1} = {A}", "{0}, {1} = {A}.shape[0], {A}.sum()", "{0} = {1} = {a}.copy()", "({0}, {1}) = two({a:n})",
        "{0}, {1} = np.divmod({a:x}, 3)", "{0}, {1} = np.modf({a:f})", "{0}, ({1}, _) = {a}, ({a}, 2)", "{0}, {1} = [{a}, {a}]", "*{0}, {1} = {A}",
        "{0}, {1} = np.split({A}, {n})[:2]", "{0}, {1} = np.meshgrid({V}, {V})", "{0}, {1} = np.frexp({a:f})", "{0} = (t := {a}) + t\n{1} = t",
    ))  # fmt: skip
    one, two = w.fresh(), w.fresh()
    w.commit(w.fill(template.replace("{0}", one).replace("{1}", two)))


AUGMENTED = (
    "{a:u} += {~}", "{a:u} -= {~:n}", "{a:w} *= {~}", "{a:w} /= {num}", "{a:u} += {num}", "{a:w} *= {num}", "{a:w} //= 2", "{a:w} %= 3", "{a:w} **= 2",
    "{a:u} |= {~:b}", "{a:u} &= {~:b}", "{a:u} ^= {~}", "{a:u} -= {num}", "{a:w} += {a:w}.mean()", "{a:w} /= {a:f}.max()", "{a:u} <<= 1", "{a:u} >>= 1",
)  # fmt: skip


def augment(w: Writer) -> None:
    w.commit(w.fill(w.rng.choice(AUGMENTED)))


def scalar_augment(w: Writer) -> None:
    """In-place operators on scalars rebind, on 0-d arrays they write."""
    if w.chance(0.5):
        name = w.fresh()
        w.commit(
            w.fill(
                name
                + w.rng.choice(
                    (
                        " = {A}[{sidx}]",
                        " = {A}.sum()",
                        " = np.array({num})",
                        " = {A}[..., 0]",
                        " = 0",
                        " = {A}.mean()",
                        " = {A}[0]",
                        " = 1.5",
                    )
                )
            )
        )
    else:
        name = w.variable(lambda v: (is_array(v) and np.ndim(v) == 0) or type(v) in (int, float))
    w.commit(f"{name} {w.rng.choice(('+=', '*=', '-=', '/='))} " + w.fill(w.rng.choice(("{num}", "{s}", "{a}"))))


def set_item(w: Writer) -> None:
    name = w.variable(lambda v: isinstance(v, np.ndarray) and v.ndim > 0 and writable(v))
    a = w.env[name]
    index = target(w, a)
    operator = w.rng.choice(("=", "=", "=", "+=", "-=", "*="))
    try:
        part = a[w.value(f"np.s_[{index}]")]
    except Exception as e:
        raise Failed(str(e)) from None

    def fits(v: Any) -> bool:
        if not is_array(v):
            return False
        try:
            np.broadcast_to(v, np.shape(part))
        except ValueError:
            return False
        return operator == "=" or np.can_cast(np.asarray(v).dtype, a.dtype, "same_kind")

    value = w.number() if w.chance(0.3) else w.array(fits)
    if w.chance(0.05):
        value = f"[{value}]"
    w.commit(f"{name}[{index}] {operator} {value}")


VIEWS = (
    "{A}.T", "{A}.reshape({shape})", "{A}[::-1]", "{A}.ravel()", "np.flip({A})", "{A}[{idx}]", "{A}[{idx}]", "{N}.swapaxes(0, 1)", "{A}[1:]", "{N}[:, 0]", "{A}.reshape(-1)",
    "{A}.view()", "{A}[...]", "{A}[None]", "np.squeeze({A})", "np.transpose({A})", "np.asarray({A})", "{A}[..., ::-1]", "np.ravel({A})", "{A}[:]", "{c}.real", "{N}[0]", "np.atleast_2d({A})",
    "np.broadcast_to({A}, {A}.shape)", "{N}[1:, ::2]", "np.moveaxis({N}, 0, -1)", "{A}", "np.split({A}, {n})[0]", "np.expand_dims({A}, 0)", "{A}[::2]", "np.fliplr({N})", "{A}[[0, -1]]",
    "{A}.astype(np.float64, copy=False)", "np.array({A}, copy=None)", "np.asarray({A}, dtype={dt})", "np.require({A})", "{A}.T.T", "{A}[::-1][::-1]", "{A}[1:][:-1]",
    "np.flip({A}, 0)", "np.flipud({A})", "{N}[::-1, ::-1]", "{N}[..., 0]", "{N}[:, None]", "np.rollaxis({N}, 1)", "np.array_split({A}, 2)[0]", "np.ravel({A}[::-1])", "{A}[None][0]",
    "np.lib.stride_tricks.sliding_window_view({V}, 1)[:, 0]", "np.matrix_transpose({N})", "np.real({A})", "np.split({A}, {n})[-1]", "{N}.T[::-1]", "list({N})[0]", "np.stack([{A}])[0]",
    "{A}.reshape({shape})[::-1]", "{A}.T[0]", "{M}.diagonal()", "{A}.flatten()", "{A}.copy()", "{A}.astype({A}.dtype, copy=False)", "np.rot90({M})",
)  # fmt: skip


def view_and_write(w: Writer) -> None:
    """A view (or what looks like one), and a write through it or through what it is a view of."""
    name = w.fresh()
    w.commit(f"{name} = " + w.fill(w.rng.choice(VIEWS).replace("{c}", "{A:c}")))
    if w.chance(0.3):
        other = w.fresh()
        w.commit(f"{other} = {name}" + w.fill(w.rng.choice(("[::-1]", ".T", ".reshape(-1)", "[1:]", "[0]", ".ravel()", "[..., None]"))))
        name = other
    for _ in range(w.rng.randint(1, 2)):
        w.rng.choice(
            (
                set_item,
                augment,
                lambda w: w.commit(f"{name}[...] = {w.number()}"),
                lambda w: w.commit(f"{name} += 1"),
                lambda w: w.commit(f"{name}[0] = {w.number()}"),
            )
        )(w)


OUT = (
    "np.add({a}, {~}, out={=:u})", "np.multiply({a}, {num}, out={=:u})", "np.sqrt(np.abs({a:f}), out={=:u})", "np.clip({a:r}, -1, 1, out={=:u})", "np.maximum({a:r}, {~:r}, out={=:u})",
    "np.subtract({a:n}, {~:n}, {=:u})", "np.add({a:n}, 1, out={=:u}, where={=:b})", "np.multiply({a:n}, 2, out={=:u}, where={=:r} > 0)", "np.negative({a:n}, out={=:u})",
    "np.divide({a:n}, {~:n}, out=np.zeros({a}.shape), where={~:n} != 0)", "np.cumsum({V:n}, out={=:u})", "np.sum({A:n}, axis=0, out=np.zeros({A}.shape[1:]))", "np.round({a:f}, 1, out={=:u})",
    "np.matmul({M:f}, {M:f}.T, out=np.zeros((len({M:f}), len({M:f}))))", "np.exp(-np.abs({a:f}), out={=:u})", "np.greater({a:r}, 0, out={=:u})", "np.logical_not({a}, out=np.zeros({a}.shape, bool))",
    "np.add({a}, {~}, out={=:u}, casting='unsafe')", "np.add.reduce({A:n}, axis=0, out=np.zeros({A}.shape[1:]))", "np.take({V}, [0], out=np.zeros(1, {V}.dtype))", "np.dot({V:f}, {=:f})",
)  # fmt: skip


def with_out(w: Writer) -> None:
    prefix = f"{w.fresh()} = " if w.chance(0.6) else ""
    w.commit(prefix + w.fill(w.rng.choice(OUT)))


IN_PLACE = (
    "{A:u}.sort()", "{A:u}.fill({num})", "np.copyto({A:u}, {~})", "np.copyto({A:u}, {num}, where={=:b})", "np.put({A:u}, [0, -1], {num})", "np.add.at({A:u}, [0, 0, -1], {num})", "np.putmask({A:u}, {=:r} > 0, {num})",
    "np.fill_diagonal({M:u}, {num})", "{A:u}.put([0], {num})", "np.add.at({V:u}, [0, 0], [1, 2])", "bump({A:u})", "bump({A:u}, by={num})", "{0} = zero_first({A:u})", "np.place({A:u}, {=:b}, [0])",
    "np.subtract.at({A:u}, 0, 1)", "{A:u}[:] = {A:u}[::-1]", "{V:u}[1:] += {V:u}[:-1]", "{A:u}.sort(axis=0)", "np.put_along_axis({A:u}, np.argmax({=:r}, axis=-1, keepdims=True), {num}, axis=-1)",
    "{A:u}.flat[0] = {num}", "{M:u}[:, [0, -1]] = {M:u}[:, [-1, 0]]", "{A:u}.shape", "{c}.real = {num}", "{c}.imag[...] = 0", "{A:u}.flat = {num}", "np.multiply.at({V:u}, [0], 2)",
    "np.maximum.at({V:u}, [0, 0], {num})", "del {A}", "assert {A}.ndim >= 1", "assert {A}.shape[0] > 0, 'empty'", "print({A}.shape)", "pass", "'a docstring in the middle'",
)  # fmt: skip


def in_place(w: Writer) -> None:
    template = w.rng.choice(IN_PLACE).replace("{0}", w.fresh()).replace("{c}", "{A:c}")
    text = w.fill(template)
    if text.startswith("del ") and not text[4:].startswith("v"):
        raise Failed("only variables of the body are deleted")
    w.commit(text)


OVERLAPPING = (
    "{0}[1:] += {0}[:-1]", "{0}[:-1] = {0}[1:]", "{0}[1:] = {0}[:-1]", "{0}[:] = {0}[::-1]", "{0}[::-1] = {0}", "{0} += {0}[::-1]", "{0}[1:] -= {0}[1:][::-1]", "{0} *= {0}", "{0}[...] = np.flip({0})",
    "np.add({0}[1:], {0}[:-1], out={0}[1:])", "np.copyto({0}[1:], {0}[:-1])", "np.add({0}, 1, out={0}[::-1])", "np.multiply({0}[::-1], 2, out={0})", "{0}[::2] = {0}[::-1][::2]", "{0}[1:] = np.cumsum({0}, axis=0)[1:]",
    "np.flip({0})[0] = {num}", "np.flip({0}, 0)[...] += 1", "{0}[::-1][1:] = {num}", "{0}[::-1][0] += 1", "{0}[::-1].sort(axis=0)", "{0}[::-1].fill({num})", "{0}.T[...] = {num}", "{0}.T[0] += 1", "{0}[1:][::-1][:1] = {num}",
    "np.put({0}[::-1], [0], {num})", "{0}[..., ::-1] *= 2", "{0}.reshape(-1)[0] = {num}", "{0}.ravel()[0] = {num}", "{0}.flatten()[0] = {num}", "{0}.view()[-1] = {num}", "np.squeeze({0})[...] = {num}",
    "np.atleast_2d({0})[0] += 1", "np.nan_to_num({0}, copy=False)", "np.clip({0}, 0, 1, out={0})", "np.negative({0}, out={0})", "{0}[0], {0}[-1] = {0}[-1], {0}[0]", "{0}[[0, -1]] = {0}[[-1, 0]]",
    "{0}[{0} > 0] *= 2", "{0}[np.argsort({0}, axis=0, kind='stable')[:1]] = {num}", "np.copyto({0}, {0}[::-1], where={0} > 0)", "np.swapaxes({0}, 0, -1)[0] = {num}", "np.moveaxis({0}, 0, -1)[..., 0] = {num}",
    "{0}.partition(0, axis=0)\n{0}[1:].sort(axis=0)", "for row in {0}:\n    row *= 2", "for row in {0}[::-1]:\n    row += 1", "for i in range(1, len({0})):\n    {0}[i] += {0}[i - 1]", "{0}.real[0] = {num}",
    "{1} = {0}\n{1}[0] = {num}", "{1} = {2} = np.zeros({n})\n{1}[0] = {num}\n{2} += 1", "{1} = {0}.copy()\n{0}[0] = {num}", "{1}, {2} = {0}[:1], {0}[1:]\n{1} += 1\n{2}[...] = 0", "{1} = [{0}, {0}]\n{1}[0][0] = {num}",
    "{1} = {0}[0]\n{0}[0] = {num}", "{1} = {0}[..., 0]\n{0}[0] = {num}", "{1} = {0}.T\n{1} += 1\n{0}[-1] = {num}", "{1} = {0}[::-1]\n{2} = {1}[1:]\n{2} += 1\n{0}[0] = {num}", "{1} = {0}[...]\n{1} -= {1}[0]",
)  # fmt: skip


def overlap(w: Writer) -> None:
    """An array written to from itself, or through a view of itself, of any layout."""
    name = w.variable(lambda v: isinstance(v, np.ndarray) and v.ndim > 0 and v.size > 0 and writable(v))
    text = w.rng.choice(OVERLAPPING).replace("{0}", name).replace("{1}", w.fresh()).replace("{2}", w.fresh())
    w.commit(w.fill(text.replace("{n}", f"len({name})")))


READ_ONLY = (
    "{1} = np.broadcast_to({0}, (2, *{0}.shape))", "{1} = np.diagonal(np.atleast_2d({0}))", "{1} = {0}.imag", "{1} = np.lib.stride_tricks.sliding_window_view({0}, 1, axis=0)",
    "{1} = np.broadcast_to({0}, {0}.shape)[::-1]", "{1} = np.real({0})", "{1} = np.atleast_2d({0}).diagonal()[:]", "{1} = {0}[0]", "{1} = np.asarray({0})", "{1} = {0}.sum()",
)  # fmt: skip


def read_only(w: Writer) -> None:
    """A write into what NumPy may hand out read-only, or as a scalar."""
    name = w.variable(lambda v: isinstance(v, np.ndarray) and v.ndim > 0 and v.size > 0)
    made = w.rng.choice(READ_ONLY).replace("{0}", name).replace("{1}", new := w.fresh())
    write = w.rng.choice(("{1}[0] = {num}", "{1}[...] = {num}", "{1} += 1", "{1}.fill({num})")).replace("{1}", new)
    _compound(w, w.fill(f"{made}\ntry:\n    {write}\nexcept (ValueError, TypeError, IndexError):\n    {new} = {name} * 2"))


def swap(w: Writer) -> None:
    name = w.variable(lambda v: isinstance(v, np.ndarray) and v.ndim > 0 and len(v) > 1 and writable(v))
    i, j = w.rng.randrange(len(w.env[name])), w.rng.randrange(len(w.env[name]))
    w.commit(
        w.rng.choice(
            (
                f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]",
                f"{name}[[{i}, {j}]] = {name}[[{j}, {i}]]",
                f"{name}[:1], {name}[1:2] = {name}[1:2], {name}[:1].copy()",
            )
        )
    )


# Compound statements: what is in the block is written with the variables as on the first pass, then all is run again


def simple(w: Writer) -> None:
    """One or two simple statements."""
    for _ in range(w.rng.randint(1, 2)):
        attempt(w, SIMPLE, 4)


def _compound(w: Writer, text: str) -> None:
    """Keep a compound statement if the program runs with it."""
    w.lines.append(text)
    if w.depth:
        return
    try:
        w.rebuild()
    except Exception as e:
        w.lines.pop()
        w.rebuild()
        raise Failed(str(e)) from None


def loop(w: Writer) -> None:
    way = w.rng.choice(("range", "len", "rows", "enumerate", "zip", "while", "items", "reversed", "step"))
    i, row, total = (w.fresh() for _ in range(3))
    array = w.fill("{A}")
    value = w.value(array)
    if way in ("range", "step"):
        text = w.block(
            f"for {i} in range({w.rng.choice(('2', '3', '1, 3', '2, 0, -1')) if way == 'step' else w.rng.choice(('2', '3'))}):",
            lambda: simple(w),
            **{i: 1},
        )
    elif way == "len":
        text = w.block(
            f"for {i} in range({w.rng.choice((f'len({array})', f'{array}.shape[0]', f'len({array}) - 1, -1, -1'))}):",
            lambda: simple(w),
            **{i: 0},
        )
    elif way == "rows":
        text = w.block(f"for {row} in {array}:", lambda: simple(w), **{row: value[0]})
    elif way == "enumerate":
        text = w.block(f"for {i}, {row} in enumerate({array}):", lambda: simple(w), **{i: 0, row: value[0]})
    elif way == "zip":
        other = w.fill("{A}")
        text = w.block(f"for {i}, {row} in zip({array}, {other}):", lambda: simple(w), **{i: value[0], row: w.value(other)[0]})
    elif way == "while":
        text = w.block(f"{i} = 0\nwhile {i} < 2:", lambda: (simple(w), w.commit(f"{i} += 1")), **{i: 0})
    elif way == "items":
        text = w.block(f"for {i}, {row} in {{'a': {array}, 'b': {array}}}.items():", lambda: simple(w), **{i: "a", row: value})
    else:
        text = w.block(f"for {row} in reversed({array}):", lambda: simple(w), **{row: value[-1]})
    if w.chance(0.4):
        accumulate = w.fill(w.rng.choice((f"{total} = 0", f"{total} = 0.0", f"{total} = np.zeros_like({{a}})", f"{total} = []")))
        into = (
            f"{total}.append({row if row in text.splitlines()[0] else i if i in text else 1})"
            if accumulate.endswith("[]")
            else f"{total} = {total} + {row if row in text.splitlines()[0] else 1}"
        )
        ending = f"\n{total} = np.array({total})" if accumulate.endswith("[]") and w.chance(0.4) else ""
        text = f"{accumulate}\n{text}\n    {into}{ending}"
    if w.chance(0.1):
        text += w.rng.choice(
            ("\n    if True:\n        break", f"\n    if {array}.ndim > 1:\n        continue", f"\nelse:\n    {total} = 1")
        )
    _compound(w, text)


def branch(w: Writer) -> None:
    """On what is known when traced: shapes, numbers, flags."""
    condition = w.fill(w.rng.choice(("{A}.ndim == 2", "{A}.shape[0] > 2", "len({A}) == 3", "{A}.dtype == np.float32", "{A}.shape == {=}.shape", "{A}.size > 4 and {A}.ndim > 1", "{A} is not None", "shift > 1",
                                     "LIMITS['low'] < 0", "np.issubdtype({A}.dtype, np.integer)", "isinstance({a}, np.ndarray)", "not {A}.size", "{A}.shape[-1] in (2, 3)", "1 < {A}.shape[0] <= 3", "{A}.dtype.kind == 'f'")))  # fmt: skip
    text = w.block(f"if {condition}:", lambda: simple(w))
    if w.chance(0.5):
        text += "\n" + w.block("else:", lambda: simple(w))
    elif w.chance(0.2):
        text += "\n" + w.block("elif True:", lambda: simple(w))
    _compound(w, text)


def value_branch(w: Writer) -> None:
    if not w.leaving:
        raise Failed("leaves the graph")
    condition = w.fill(
        w.rng.choice(
            (
                "{s:r} > {num}",
                "{A:r}.sum() > 0",
                "{A}.any()",
                "np.all({A:r} > 0)",
                "{V}[0] == {num}",
                "{A:r}.max() > 1 and {A}.ndim > 0",
                "{num} < {V:r}[0] < {num}",
                "not {s}",
                "np.isnan({A:f}).any()",
            )
        )
    )
    text = w.block(f"if {condition}:", lambda: simple(w))
    if w.chance(0.5):
        text += "\n" + w.block("else:", lambda: simple(w))
    _compound(w, text)


RISKY = (
    "{A} + np.ones((7,))",
    "{A}.reshape(7, 11)",
    "np.concatenate([{A}, {A}])",
    "{A:n} * 2",
    "{A}[{idx}]",
    "np.stack([{A}, {A}])",
    "{A}[99]",
    "{A}.sum(axis=5)",
    "np.broadcast_to({A}, (7,))",
)
"""Expressions of which some raise ValueError or IndexError."""


def guarded(w: Writer) -> None:
    """`try` around what raises ValueError, or around what does not."""
    name = w.fresh()
    risky = w.fill(w.rng.choice(RISKY))
    error = w.rng.choice(("ValueError", "ValueError", "(ValueError, IndexError)", "Exception"))
    _compound(
        w,
        f"try:\n    {name} = {risky}\nexcept {error}:\n    {name} = {w.fill('{A}')}"
        + (f"\nelse:\n    {name} = {name} * 1" if w.chance(0.2) else ""),
    )


def context(w: Writer) -> None:
    head = w.rng.choice(("with np.errstate(divide='ignore', invalid='ignore'):", "with np.errstate(all='ignore'):"))
    _compound(w, w.block(head, lambda: simple(w)))


def ended(w: Writer) -> None:
    """`with` of what ends errors of some kinds, around what raises one, or around what does not."""
    name, seen = w.fresh(), w.fresh()
    kinds = w.rng.choice(("ValueError", "ValueError, IndexError", "Exception", "RuntimeError", "LookupError"))
    head = w.rng.choice((f"Ending({kinds}) as {seen}", f"trying({kinds})", f"Ending({kinds}), trying(KeyError)"))
    text = f"{name} = {w.fill('{A}')}\nwith {head}:\n    {name} = {w.fill(w.rng.choice(RISKY))}"
    _compound(w, text + (f"\n{name} = {name} + {seen}.count" if " as " in head else ""))


def single_bool(w: Writer) -> None:
    """NumPy's two bools are one object each."""
    test = w.rng.choice(("{a:r}.any() is np.True_", "({a:r} > 1).all() is not np.False_", "np.True_ is ({a:r} < 2).any()"))
    w.commit(w.fill(f"{w.fresh()} = {{A}} * (2.0 if {test} else 3.0)"))


def inner_function(w: Writer) -> None:
    """A function in the node: over its parameter and what is around it; with defaults; that writes."""
    name, array = w.fresh(), w.fill("{A}")
    head, body, call = w.rng.choice((
        ("t", f"return t * 2 + {w.number()}", f"{name}({{a:n}})"),
        ("t, k=2", f"return t * k + {array}.sum()", f"{name}({{a:n}})"),
        ("t", f"return t + {array}", f"{name}({{~}})"),
        ("t", "t += 1\n    return t", f"{name}({{A:u}})"),
        ("t", "t[0] = 5", f"{name}({{A:u}})"),
        ("*ts", "return [t * 2 for t in ts]", f"{name}({{a}}, {{a}})[-1]"),
        ("t, *, by=1.5", "if t.ndim > 1:\n        return t[0] * by\n    return t * by", f"{name}({{A:n}}, by={w.number()})"),
        ("t, u", "return np.where(t > u, t, u)", f"{name}({{a:r}}, {{~:r}})"),
        ("**kw", "return kw['p'] + 1", f"{name}(p={{a}})"),
        (f"t=None, s={array}", "return s if t is None else t", f"{name}()"),
        ("t, n=2", f"return t if n == 0 else {name}(t * 2, n - 1)", f"{name}({{a:n}})"),
    ))  # fmt: skip
    text = (
        f"def {name}({head}):\n    {body}"
        if not (body.startswith("return") and w.chance(0.2) and name not in body)
        else f"{name} = lambda {head}: {body[7:]}"
    )
    _compound(w, text + f"\n{w.fresh()} = " + w.fill(call.replace("{~", "{a")))


def collection(w: Writer) -> None:
    """Lists and dicts of arrays."""
    name = w.fresh()
    text = w.fill(w.rng.choice((
        "{0} = []\n{0}.append({A})\n{0}.append({=})\n{0} = np.stack({0})", "{0} = {'k': {a}, 'm': {a}}\n{0}['k'] = {0}['k'] + 1", "{0} = [{a}, {a}]\n{0}[0] = {0}[1]", "{0} = [{V}, {V}]\n{0} = np.concatenate({0})",
        "{0} = ({a}, {a})\n{0} = {0}[0]", "{0} = dict(k={A})\n{0}['k'][0] = {num}", "{0} = [{a:n}] * 2\n{0} = {0}[0] + {0}[1]", "{0} = [{A}]\n{0}[0][0] = {num}", "{0} = list({A})\n{0}[0] = {num}", "{0} = dict()\nfor k in ('p', 'q'):\n    {0}[k] = {a}",
        "{0} = []\nfor r in {A}:\n    {0}.append(r * 2)\n{0} = np.array({0})", "{0} = [{A}, {=}]\n{0} += [{=}]\n{0} = np.array({0})", "{0} = [0] * {n}\nfor i, r in enumerate({A}):\n    {0}[i] = r", "{0} = np.zeros(({n}, 2))\nfor i in range({n}):\n    {0}[i] = {s}",
        "{0} = np.empty_like({A:n})\nfor i in range(len({0})):\n    {0}[i] = i", "{0} = np.zeros({n})\nfor i in range({n}):\n    {0}[i] = {V}[0] * i", "{0} = {A}.shape\n{0} = np.zeros({0})",
    )).replace("{0}", name))  # fmt: skip
    _compound(w, text)


HELD = (
    "{0} = [{V}[0], {V}[-1]]\n{0}[0] += {num}", "{0} = {'s': {A:n}.sum()}\n{1} = {0}['s']\n{0}['s'] *= 2", "{0} = [{A:n}.sum()] * 2\n{0}[1] -= {num}", "{0} = [v for v in {V}]\n{0}[0] += 1",
    "{1}, *{0} = {V}\n{0}[0] += 1" , "{0} = {V:n}[0]\n{1} = {0}\n{0} += {num}", "{0} = [{A}, {V}[0]]\n{0}[0] = {0}[0] + {0}[1]", "{0} = list({V})\n{0}[0], {0}[-1] = {0}[-1], {0}[0]",
    "{0} = []\n{1} = {'s': {A:n}.mean()}\nfor _ in range(2):\n    {0}.append({1}['s'])\n    {1}['s'] += 1", "{0} = [1.0, 2.0]\n{0} += [{V:n}[0]]", "{0} = {'a': {A}}\n{0}['a'] = {0}['a'] * 2\n{0}['b'] = {0}['a'][0]",
    "{0} = [{A:u}]\n{0}[0] += {num}", "{0} = {'a': {A:u}}\n{0}['a'] *= 2", "{0} = np.array({V})\n{1} = operator.iadd({0}, {num})", "{0} = ({V}[0], {A:u})\n{0}[1][...] = {0}[0]",
)  # fmt: skip


def held(w: Writer) -> None:
    """Scalars and arrays in containers, and what is done to them there."""
    text = w.rng.choice(HELD).replace("{0}", w.fresh()).replace("{1}", w.fresh())
    _compound(w, _filled(w, text))


def _filled(w: Writer, text: str) -> str:
    """`fill` for templates with dicts in them."""
    marked = re.sub(r"\{('\w+': )", r"<<\1", text).replace("]}", "]>>").replace("()}", "()>>")
    return w.fill(re.sub(r"(<<'\w+': \{[^{}]*\})\}", r"\1>>", marked)).replace("<<", "{").replace(">>", "}")


TARGETS = (
    "{0} = {A:u}.copy()\n{1} = 0\n{0}[{1}], {1} = {0}[-1], {1} + 1", "{0} = np.zeros(3)\n{1} = 0\nfor r in {V:r}:\n    {0}[{1} % 3], {1} = r, {1} + 1", "{1} = 0\n{A:u}[{1}] = {1} = -1",
    "{0} = {A:u}\n{0}[0], {0} = {num}, {0}[1:]", "{0}, {1} = 0, len({V:u}) - 1\nwhile {0} < {1}:\n    {V:u}[{0}], {V:u}[{1}], {0}, {1} = {V:u}[{1}], {V:u}[{0}], {0} + 1, {1} - 1", "{V:u}[:2] = {num}, {num}",
    "{1} = [0, -1]\n{A:u}[{1}.pop()] = {A:u}[{1}.pop()]", "{1} = iter(range(2))\n{A:u}[next({1})] = next({1})", "{0} = {A:u}[0] = {num}", "{1} = {}\n{0} = 'a'\n{1}[{0}], {0} = {a}, 'b'", "{A:u}[:1] += {num},",
    "{0} = {A:u}\n{0}[0], {1} = {num}, {0}[0]", "{1} = 0\n{A:u}[{1}], ({0}, {1}) = {A:u}[-1], (1, 0)", "{0} = {1} = {A}.copy()\n{0}[0], {1} = {num}, {0}", "{V:u}[0], *{0} = {V:u}[-1], {num}, 2",
    "{1} = {A:u}\n{0} = []\nfor a, *b in {1}:\n    {0}.append(a)\n    {0} += b\n{1}[...] = {num}", "{1} = {A:u}\nfor i, (a, *b) in enumerate({1}):\n    {1}[i, 0] = {num}\n    {0} = [a, *b]",
    "{1} = {V:u}\n{0} = [0.0]\n{0}.extend({1})\n{1}[0] = {num}", "{1} = {V:u}\n{0} = [0, 0]\n{0}[1:] = {1}[:2]\n{1}[:] = {num}", "{1} = {A:u}\n({0}, *_), _ = {1}[0], 0\n{1}[0] = {num}",
    "{1} = {V:u}\ndef each():\n    yield from {1}\n{0} = list(each())\n{1}[:] = {num}", "{1} = {A:u}\n{0} = [p for p, *_ in {1}]\n{1}[0] = {num}", "{1} = {A:u}\n{0} = [a, *_] = {1}\n{0}[0] = {num}",
    "{1} = {V:u}\n{0} = a, b = {1}[:2]\n{0} += 1", "{1} = {A:u}\n{0} = dict((i, a) for i, (a, *_) in enumerate({1}))\n{1}[0] = {num}\n{0} = list({0}.values())", "{1} = {V:u}\n{0} = [a for a, _ in zip({1}, {1}[::-1])]\n{1}[0] = {num}",
)  # fmt: skip


def targets(w: Writer) -> None:
    """Items among several targets: what is bound when."""
    _compound(w, w.fill(w.rng.choice(TARGETS).replace("{}", "dict()").replace("{0}", w.fresh()).replace("{1}", w.fresh())))


OBJECTS = (
    "{0} = Seen({A:n}).spread", "{0} = Seen({A:n}).scaled()", "{0} = Checked({A:r})\n{1} = {0}.mean\n{0} = {0}.image", "{0} = Running()\nfor r in {V:n}:\n    {1} = {0}.update(r)\n{0} = {0}.last",
    "{0} = spread(dict(a={A:n}))", "{0} = {1} = dict()\n{1}['a'] = {A:n}\n{0} = spread({1})", "{0} = walk([{A:n}, {a:n}])", "{0} = walk(dict(a={A:n}, b=[{a:n}]))['a']", "{0} = kind_of({A})", "{0} = kind_of([{a}, 1])",
    "{0} = kind_of(dict(a={A}))", "{0} = Seen({A:u})\n{0}.image += 1\n{0} = {0}.image", "{0} = Seen({A:n})\n{0}.scale = {0}.image.max()\n{0} = {0}.scaled()", "{0} = [Seen(r) for r in {A:n}]\n{0} = [s.spread for s in {0}]",
    "{0} = dataclasses.replace(Seen({A:n}), scale=3).scaled()", "{0} = Seen({A:n})\n{1} = {0}.image.shape\n{0} = {0}.image.sum()", "{0} = getattr(Seen({A:n}), 'spread')", "{0} = {1} = Seen({A:n})\n{0} = [{1}.spread, {1}.scale]",
)  # fmt: skip


def objects(w: Writer) -> None:
    """Dataclasses with properties, objects with a state, dicts and trees that are handed to helpers."""
    _compound(w, w.fill(w.rng.choice(OBJECTS).replace("{0}", w.fresh()).replace("{1}", w.fresh())))


SIZED = (
    "{0} = {A:n}.sum(0) / len({A})", "{0} = {A}[: len({A}) // 2]", "{0} = np.zeros({A}.shape[0] + 1)", "{0} = np.arange(len({A})) * 2", "{0} = {A}.reshape(len({A}), -1)", "{0} = {A}[len({A}) - 1]",
    "{0} = np.percentile({V:f}, 30)", "{0} = np.pad({V}, (0, len({V}) % 2))", "{0} = {A}.size * 2", "{0} = np.full({A}.shape, {num})", "{0} = np.linspace(0, 1, len({A}))", "{0} = np.repeat({A}, len({A}), 0)",
    "{0} = {A}[-min(2, len({A})):]", "{0} = np.pad({V}, 1, mode='edge')", "{0} = {A}[::max(1, len({A}) // 3)]", "{0} = np.tile({A}, len({A}))", "{0} = {A}.shape[-1] / {A}.shape[0]", "{0} = np.eye(len({A}))[0]",
    "{0} = np.median({V:f}) + {A}.ndim * len({A})", "{0} = np.broadcast_to({V}, (len({V}), len({V})))", "{0} = np.array_split({A}, 2)[1]", "{0} = np.roll({A}, len({A}) // 2)", "{0} = {A:n} * (len({A}) > 2)",
    "{0} = {A}[0] if len({A}) > 3 else {A}[-1]", "{0} = np.triu(np.ones(({A}.shape[0], {A}.shape[-1])))", "{0} = np.ones(len({A}), dtype=np.uint8) << (len({A}) % 9)", "{0} = np.var({V:f}, ddof=min(1, len({V}) - 1))",
)  # fmt: skip


def sized(w: Writer) -> None:
    """Numbers and shapes made of sizes: other sizes, other answers."""
    w.commit(w.fill(w.rng.choice(SIZED).replace("{0}", w.fresh())))


FLOW = (
    "{0} = np.abs({V:f}).max() + 1\nwhile {0} > 1.5:\n    {0} = {0} / 2", "{0} = {V:f}[0]\nfor _ in range(6):\n    {0} = {0} * 0.5\n    if abs({0}) < 0.3:\n        break", "{0} = {A:n} * 1\n{0}[{0} > 2] -= 6",
    "{0} = {A:n} * 1\nif ({0} > 1).any():\n    {0}[{0} > 1] = {num}", "{0} = 0\nfor v in {V:r}:\n    {0} += 1 if v > 0 else 2", "{0} = np.zeros(len({V:r}))\nfor i in range(len({V:r})):\n    if {V:r}[i] > 0:\n        {0}[i] = 5",
    "{0} = {A:r}.max()\nif {0} > 1e6:\n    raise ValueError(f'too large: {{0}}')", "{0} = np.linalg.norm({V:f})\nassert {0} >= 0 or {0} != {0}, f'norm {{0}}'", "{0} = {A:r}[0] if {A:r}.sum() > 0 else {A:r}[-1]",
    "{0} = 0.0\nif {V:r}[0] > 0:\n    {0} = {V:r}[0]\n{0} = {0} + 1", "{0}, {1} = 0.0, 4.0\nwhile {1} - {0} > 0.5:\n    m = ({0} + {1}) / 2\n    if m * m < abs({V:f}[0]):\n        {0} = m\n    else:\n        {1} = m",
    "{0} = {V:n} * 2\nfor i in range(1, len({0})):\n    if {0}[i] < {0}[i - 1]:\n        {0}[i] = {0}[i - 1]", "{1} = int(abs({V:r}[0])) % 2\n{0} = {V}[{1}:{1} + 1]", "{0} = min(1, max(-1, {V:f}[0]))",
    "{0} = {V:r}[0]\nif {0} < -1:\n    {0} = -1.0\nelif {0} > 1:\n    {0} = 1.0", "{0} = []\nfor v in {V:r}:\n    if v < 0:\n        continue\n    {0}.append(1)\n{0} = len({0})", "{0} = any(v > 1 for v in {V:r})",
    "{0} = sorted({V:r})[0]", "{0} = sum({V:n}) / len({V:n})", "{0} = max({V:r}) - min({V:r})", "{0} = {V:n}[np.nonzero({V:n})]\n{0} = {0}.sum()", "{0} = {V:n}[{V:n} > 0].mean() if ({V:n} > 0).any() else 0.0",
)  # fmt: skip


def flow(w: Writer) -> None:
    """What hangs on values: ways that part and meet, loops that end early, errors that name values."""
    text = w.rng.choice(FLOW)
    for mark in re.findall(r"\{[AV]:?\w*\}", text)[:1]:  # one array throughout
        text = text.replace(mark, w.fill(mark))
    named = text.replace("{{0}}", "<<0>>").replace("{0}", w.fresh()).replace("{1}", w.fresh())
    _compound(w, w.fill(named).replace("<<0>>", "{" + named.split()[0].rstrip(",") + "}"))


SIMPLE: dict[Callable[[Writer], None], int] = {
    assign: 40, augment: 10, scalar_augment: 5, set_item: 16, view_and_write: 10, with_out: 5, in_place: 7, swap: 2, unpack: 4, overlap: 8,
    single_bool: 2, sized: 6,
}  # fmt: skip
COMPOUND: dict[Callable[[Writer], None], int] = {
    loop: 8,
    branch: 5,
    value_branch: 3,
    flow: 4,
    guarded: 2,
    ended: 2,
    context: 1,
    inner_function: 3,
    collection: 3,
    read_only: 1,
    held: 2,
    targets: 2,
    objects: 2,
}


def attempt(w: Writer, kinds: dict[Callable[[Writer], None], int], times: int) -> None:
    """One statement of these kinds, if one is found in `times` attempts."""
    for _ in range(times):
        (write,) = w.rng.choices(list(kinds), list(kinds.values()))
        before = len(w.lines)
        try:
            write(w)
        except Failed:
            if w.depth == 0 and write in COMPOUND:
                w.rebuild()
            if len(w.lines) == before:
                continue
        w.used.add(write.__name__)
        return


def statement(w: Writer) -> None:
    attempt(w, {**SIMPLE, **COMPOUND}, 6)
