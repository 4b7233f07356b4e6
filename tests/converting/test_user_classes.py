"""Code of the user's that no call leads to: properties, operators, special methods, what makes an object. It runs converted too."""

from __future__ import annotations

import runpy
from dataclasses import dataclass

import np2fx
import numpy as np
import pytest
import torch

from tests.converting import classes


def tensors(value):
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, dict):
        return {k: tensors(v) for k, v in value.items()}
    if isinstance(value, classes.Pair):
        return classes.Pair(*map(tensors, value))
    if isinstance(value, classes.Observation):
        return classes.Observation(tensors(value.q))
    return value


def plain(value):
    """A result as Python numbers, lists and texts, with the dtypes of arrays."""
    if isinstance(value, (torch.Tensor, np.ndarray, np.generic)):
        held = np.asarray(value)
        return str(held.dtype), held.shape, np.round(held.astype(float), 4).tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return plain(vars(value)) if hasattr(value, "__dict__") else round(value, 4) if isinstance(value, float) else value


X = np.array([[0.5, -2.0, 1.25], [3.0, 0.25, -1.0]], np.float32)


@pytest.mark.parametrize("function", classes.FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, X.astype(np.float64)], ids=["float32", "float64"])
def test_the_same_as_in_numpy(function, x):
    assert plain(np2fx.convert(function)(tensors(x))) == plain(function(x))


@pytest.mark.parametrize("function", classes.OF_OBSERVATIONS, ids=lambda f: f.__name__)
def test_objects_that_are_passed(function):
    assert plain(np2fx.convert(function)(tensors(classes.Observation(X)))) == plain(function(classes.Observation(X)))


@pytest.mark.parametrize("function", classes.OF_PAIRS, ids=lambda f: f.__name__)
def test_named_tuples_that_are_passed(function):
    assert plain(np2fx.convert(function)(tensors(classes.Pair(X)))) == plain(function(classes.Pair(X)))


def test_a_property_named_as_a_method_of_torch():
    """`.half` is a torch tensor's too; the argument says whose it is."""
    converted = np2fx.convert(classes.halved)
    assert plain(converted(tensors(classes.Observation(X)))) == plain(classes.halved(classes.Observation(X)))


@dataclass
class Late:
    """Made after the first conversion."""

    q: np.ndarray


def read_late(o):
    return o.late_spread


def test_a_class_that_appears_after_the_first_call():
    converted = np2fx.convert(read_late)
    held = Late(tensors(X))
    held.late_spread = 1.0
    assert converted(held) == 1.0

    @dataclass
    class Later:
        q: np.ndarray

        @property
        def late_spread(self):
            return self.q.std()

    assert plain(converted(Later(tensors(X)))) == plain(X.std())


def test_an_error_of_an_operator_is_pythons():
    @dataclass
    class Only:
        q: np.ndarray

        def __add__(self, other):
            return NotImplemented

    def add(o):
        return o + 1

    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Only' and 'int'"):
        np2fx.convert(add)(Only(tensors(X)))


def test_an_objects_attributes_are_arrays_again():
    """A property is set by its setter, a cached one keeps what it has computed; the caller's object holds arrays as before."""
    held = classes.Observation(X.copy())
    np2fx.convert(classes.set_and_cache)(held)
    known = classes.Observation(X.copy())
    classes.set_and_cache(known)
    assert type(held.q) is np.ndarray
    assert plain(held) == plain(known)




@dataclass
class Odd:
    q: np.ndarray

    def __bool__(self):
        return self.q.any()

    def __float__(self):
        return self.q.sum()


def asks_truth(o):
    return 1 if o else 2


def asks_number(o):
    return float(o)


@pytest.mark.parametrize("function", [asks_truth, asks_number])
def test_what_python_does_not_take(function):
    """`__bool__` has to give a bool, `__float__` a float: NumPy's scalars are none."""
    with pytest.raises(TypeError) as before:
        function(Odd(X))
    with pytest.raises(TypeError) as after:
        np2fx.convert(function)(Odd(tensors(X)))
    assert str(after.value) == str(before.value)


def test_a_class_without_a_module():
    """As `exec` of a bare text makes them: they are looked at with all others."""
    names: dict = {}
    exec("class Bare:\n    @property\n    def size2(self):\n        return 2", names)
    assert np2fx.convert(lambda x: x * names["Bare"]().size2)(torch.ones(2)).tolist() == [2.0, 2.0]
    assert np2fx.trace(lambda x: x * 2, np.ones(2))(torch.ones(2).double()).tolist() == [2.0, 2.0]


class Holder:
    def __init__(self):
        self.last = np.arange(6.0)


VIEWS = [
    "np.broadcast_to(y, y.shape)", "np.reshape(y, (2, 3))", "np.ravel(y)", "np.transpose(y)", "np.flip(y)", "np.squeeze(y[None])",
    "np.expand_dims(y, 0)", "np.atleast_2d(y)", "np.split(y, 2)[0]", "np.asarray(y)", "np.real(y)", "np.diag(np.reshape(y, (2, 3)))",
    "np.array(y, copy=None)", "np.astype(y, y.dtype, copy=False)", "np.asarray_chkfinite(y)", "np.real_if_close(y)",
    "y.astype(float, copy=False)", "np.ravel(a=y)", "np.transpose(a=y)", "np.atleast_1d(y[1:])",
    "np.array(y)", "np.sort(y)", "y.copy()",
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_arrays_that_objects_hold(view, tmp_path):
    path = tmp_path / "made.py"
    write = "" if "broadcast_to" in view or "diag" in view else "    v[...] += 1\n"  # those are read-only
    path.write_text(
        "import numpy as np\nfrom tests.converting.test_user_classes import Holder\n\n\n"
        f"def node(x):\n    y = Holder().last\n    v = {view}\n"
        f"{write}    y[:] *= 2\n    y[0] = x[0]\n    return np.array(v), y\n"
    )
    node = runpy.run_path(str(path))["node"]
    want, got = node(np.ones(2)), np2fx.convert(node)(torch.ones(2).double())
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(a, np.asarray(b))


@pytest.mark.parametrize("held", ["np.asfortranarray(y)", "y.T.copy().T", "y[::-1].T[::-1].T", "y"])
@pytest.mark.parametrize("made", ["np.add(x, b)", "np.hypot(b, x)", "b * x", "x > b", "np.divmod(b, x + 1)[1]"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_of_arrays_that_objects_hold(held, made, order, tmp_path):
    """Whether a flat array is a view hangs on them too."""
    path = tmp_path / "made.py"
    path.write_text(
        "import numpy as np\n\n\nclass Holding:\n    def __init__(self):\n        y = np.arange(6.0).reshape(2, 3)\n"
        f"        self.last = {held}\n\n\n"
        f"def node(x):\n    b = Holding().last\n    z = {made}\n    y = z.ravel()\n    y[0] = 5\n    return z, y\n"
    )
    node = runpy.run_path(str(path))["node"]
    x = np.arange(6.0).reshape(2, 3).copy(order)
    for a, b in zip(node(x.copy(order)), np2fx.convert(node)(torch.from_numpy(x.copy(order))), strict=True):
        np.testing.assert_array_equal(a, np.asarray(b))


@pytest.mark.parametrize("over", ["y", "reversed(y)", "enumerate(y)", "zip(y, y)", "iter(y)", "y[::-1]", "list(y)"])
def test_loops_over_arrays_that_objects_hold(over, tmp_path):
    """Written to while the loop runs."""
    path = tmp_path / "made.py"
    path.write_text(
        "import numpy as np\nfrom tests.converting.test_user_classes import Holder\n\n\n"
        f"def node(x):\n    y = Holder().last\n    seen = []\n    for v in {over}:\n        y -= x[0]\n        seen.append(np.sum(v))\n"
        "    return y, seen\n"
    )
    node = runpy.run_path(str(path))["node"]
    want, got = node(np.ones(2)), np2fx.convert(node)(torch.ones(2).double())
    np.testing.assert_array_equal(want[0], np.asarray(got[0]))
    np.testing.assert_array_equal(want[1], np.asarray(got[1]))
