"""`try` in a converted function: refusals of run time are no errors of the program's, and torch's errors are caught as NumPy's."""

from __future__ import annotations

import contextlib

import np2fx
import numpy as np
import pytest
import torch

from ..adversary.test_kinds import not_wrong, right

THREE = np.arange(1, 4.0)
REFUSED = ("np.reciprocal(x.astype(np.uint64))", "np.linalg.inv(np.diag(x) + np.nan)", "np.roll(x, 1).astype(np.longdouble)",
           "np.array([x[0], None])")  # fmt: skip
CAUGHT = ("except Exception:", "except:", "except BaseException:", "except (TypeError, Exception):", "except Exception as e:")


@pytest.mark.parametrize("clause", CAUGHT)
@pytest.mark.parametrize("value", REFUSED)
def test_no_clause_catches_a_refusal(value: str, clause: str) -> None:
    not_wrong(f"try:\n    y = {value}\nexcept ZeroDivisionError:\n    y = 2\n{clause}\n    y = 1\nreturn y", THREE)
    not_wrong(f"def f():\n    return {value}\ntry:\n    y = f()\n{clause}\n    y = 1\nreturn y", THREE)


class Catching:
    """Its methods are not converted: what they catch is theirs."""

    def clause(self, x):
        try:
            return np.asarray(x) * 2
        except Exception:
            return None

    def suppressed(self, x):
        with contextlib.suppress(Exception):
            return np.asarray(x) * 2

    def in_the_end(self, x):
        try:
            x = np.asarray(x) * 2
        finally:
            return x  # noqa: B012


def by_clause(x):
    return Catching().clause(x)


def by_a_context(x):
    return Catching().suppressed(x)


def in_the_end(x):
    return Catching().in_the_end(x)


@pytest.mark.parametrize("fn", [by_clause, by_a_context, in_the_end])
def test_nothing_else_swallows_one(fn) -> None:
    x = torch.from_numpy(THREE.copy())
    np.testing.assert_array_equal(np2fx.convert(fn)(x).numpy(), THREE * 2)
    with pytest.raises(np2fx.ConversionError):
        np2fx.convert(fn)(x.requires_grad_())


RAISE = ("1 if x else 0", "x and 1", "not x", "0 < x < 2", "max(x, x)", "any([x])", "[v for v in [1] if x]", "x.reshape(7, 7)", "x['a']",
         "(lambda: x['a'])()", "(lambda: 1 if x else 0)()", "x + np.ones(5)", "x[9]", "np.sum(x, axis=5)", "x[0.5]")  # fmt: skip


@pytest.mark.parametrize("kinds", ["ValueError", "IndexError", "TypeError", "RuntimeError", "(ValueError, LookupError)", "Exception"])
@pytest.mark.parametrize("value", RAISE)
def test_the_class_is_numpys(value: str, kinds: str) -> None:
    not_wrong(f"try:\n    y = {value}\nexcept {kinds}:\n    y = -1\nexcept Exception as e:\n    y = type(e).__name__\nreturn y", THREE)


STATEMENTS = ("assert x", "while x: pass", "if x: y = 1", "del x[0]", "x['a'] = 1", "x[0] = 'a'", "x[5] = 1", "x += np.ones(2)")


@pytest.mark.parametrize("body", STATEMENTS)
def test_the_class_is_numpys_in_statements(body: str) -> None:
    tried = "try:\n    {}\n    y = 0\nexcept RuntimeError:\n    y = 1\nexcept (ValueError, TypeError, IndexError) as error:\n"
    tried += "    y = type(error).__name__\nreturn y"
    not_wrong(tried.format(body), THREE)
    not_wrong(f"def f():\n    {body}\n" + tried.format("f()"), THREE)


def test_what_is_bound_is_numpys_error() -> None:
    asked = "return str(type(e)), isinstance(e, ValueError), isinstance(e, RuntimeError)"
    right(f"try: return 1 if x else 0\nexcept ValueError as e: {asked}", THREE, ways=("convert",))
    looked_up = "try:\n    x[7]\nexcept LookupError as e:\n    if isinstance(e, IndexError):\n        return 1\nreturn 2"
    right(looked_up, THREE, ways=("convert",))


def test_suppress_knows_numpys_classes() -> None:
    body = "import contextlib\ny = 1\nwith contextlib.suppress({}):\n    y = x.reshape(7, 7)\nreturn y"
    right(body.format("ValueError"), THREE, ways=("convert",))
    right(body.format("TypeError, ValueError"), THREE, ways=("convert",))
    not_wrong(body.format("RuntimeError"), THREE)


STORES = ("L[0] = x[0]", "L[0] = L[1] = x[1]", "L[2][1] = x[1]", "d['k'] = x[0]", "L[0], d['k'] = x[0], x[1]", "L[:2] = x[0], x[1]",
          "for i in range(2): L[i] = x[i]", "d['k'] = L[0] = x[2]", "d.update(k=x[0])", "d['k'] = x[0] if x.ndim else x",
          "L[0] = (k := x[0])")  # fmt: skip


@pytest.mark.parametrize("change", ["x[:] = 9", "x += 1", "np.add(x, 1, out=x)", "v = x[:2]; v *= 5", "x.sort(); x -= 3"])
@pytest.mark.parametrize("store", STORES)
def test_what_a_container_holds_is_a_copy(store: str, change: str) -> None:
    right(f"L = [0, 0, [0, 0]]\nd = {{}}\n{store}\n{change}\nreturn L, d", THREE, ways=("convert",))
