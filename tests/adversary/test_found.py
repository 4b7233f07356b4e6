"""Programs that once came out wrong, made small: each has to be right in both ways."""

from __future__ import annotations

import numpy as np
import pytest

from .judging import judge
from .program import Program

V = np.array([1.0, 2.0, 3.0, 4.0])
U = np.array([1, 2, 3, 4], np.uint16)
M = np.arange(6.0).reshape(2, 3)

FOUND = {
    "ravel_of_evenly_spaced_elements_is_a_copy": ("v = x[::2].ravel()\nx += 1\nreturn v", V),
    "ravel_of_a_reversed_array_is_a_copy": ("v = x[::-1].ravel()\nv[0] = 9\nreturn x, v", V),
    "ascontiguousarray_of_a_reversed_array_is_a_copy": ("v = np.ascontiguousarray(x[::-1])\nx += 1\nreturn v", V),
    "a_row_of_a_reversed_array_is_contiguous": ("r = x[::-1][0].ravel()\nr[0] = 7\nreturn x", M),
    "reversed_twice_is_the_array": ("v = x[::-1][::-1].ravel()\nv[0] = 9\nreturn x", V),
    "reversed_axes_merge": ("w = x[::-1, ::-1].reshape(6)\nw[0] = 7\nreturn x", M),
    "unsigned_reversed_twice": ("v = x[::-1][::-1].ravel()\nx += 1\nreturn v", U),
    "conj_of_real_is_the_array": ("y = x.conj()\ny[1] = 9\nreturn x", V),
    "a_scalar_type_of_an_array_of_its_dtype": ("v = np.float64(x)\nv[0] = 9\nreturn x", V),
    "elements_of_a_star_are_copies": ("v = [*x]\nx *= 2\nreturn v", V),
    "a_helper_hands_out_a_view": ("def rev(t):\n    return t[::-1]\n\nv = rev(x)\nv[0] = 7\nreturn x", V),
    "an_element_is_a_copy": ("x *= x[1]\nreturn x", V),
    "an_element_with_an_ellipsis_is_a_view": ("v = x[..., 0]\nv += 1\nreturn x", U),
    "elements_of_a_loop_are_copies": ("v = np.concatenate([x, x], axis=None)\nfor e in v:\n    v += e\n    v[0] = e\nreturn v", V),
    "quantiles_lie_one_after_the_other": ("q = np.quantile(x, [0.5, 1], 0)\nv = q[0].ravel()\nv[0] = 9\nreturn q", M),
    "float_power_is_float64": ("return np.float_power(x, 2)", V.astype(np.float32)),
    "sums_compute_in_a_dtype_for_both": ("return np.cumsum(x + 0.5, out=np.zeros(4, np.uint8))", V),
    "a_reduction_puts_anything_into_out": ("return np.max(x, axis=0, out=np.zeros(3, int)), np.take(x, [0], out=np.zeros(1, int))", M),
    "where_and_out_of_a_wider_dtype": ("y = np.zeros(4) + 0.5\nnp.multiply(x, 2, out=y, where=x > 2)\nreturn y", U),
    "reversed_runs_backwards": ("s = 0\nfor v in reversed(x):\n    s = s * 2 + v\nreturn s", V),
    "functions_in_a_table": ("f = {'a': lambda t: t * 2, 'b': lambda t: t}\nreturn f['a'](x), f['b'](x)", V),
    "an_error_of_shapes_is_caught": ("try:\n    v = x + np.ones(7)\nexcept ValueError:\n    v = x * 2\nreturn v", V),
    "one_row_with_a_negative_step": ("v = x[::-2]\nv[0] = 1\nreturn v", M),
}
IN_HELPERS = {
    "a_helper_picks_an_element": ("def first(v):\n    return v[0]\n", "a = first(x)\nx[0] = 9\nreturn a", V),
    "a_helper_gives_a_copy_or_a_view": ("def flat(v):\n    return v[::2].ravel()\n", "v = flat(x)\nv[0] = 7\nreturn x", V),
    "a_scalar_passed_to_a_helper_stays_one": ("def apply(f, v):\n    return f(v)\n", "v = x.sum()\nv *= apply(np.cos, v)\nreturn v", U),
}


def _judged(header: str, body: str, x: np.ndarray) -> dict:
    text = "\n".join("    " + line for line in body.split("\n"))
    return judge(Program(f"import numpy as np\n\n\n{header}\n\ndef node(x):\n{text}\n", [x], [x + 1]))


@pytest.mark.parametrize("name", FOUND)
def test_found(name):
    body, x = FOUND[name]
    verdicts = _judged("", body, x.copy())
    assert {v.kind for v in verdicts.values()} == {"right"}, verdicts


@pytest.mark.parametrize("name", IN_HELPERS)
def test_found_in_helpers(name):
    header, body, x = IN_HELPERS[name]
    verdicts = _judged(header, body, x.copy())
    assert {v.kind for v in verdicts.values()} == {"right"}, verdicts


def test_text_of_an_attribute_in_quotes():
    """A graph makes no text, but converted code does."""
    assert _judged("", "return f'{x.T}', f\"{x.sum():.2f}\"", V)["convert"].kind == "right"
