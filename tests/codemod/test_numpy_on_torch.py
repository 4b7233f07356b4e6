"""NumPy on torch: what the text of a rewritten function is, and what its boundary hands in and out."""

from __future__ import annotations

import concurrent.futures
import contextlib
import enum
import functools
import inspect
import subprocess
import sys

import np2fx
import np2fx.numpy as npx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source

PAIRS = {
    "names": (
        "import numpy as np\n\ndef f(x):\n    return np.sqrt(x - x.mean())[::-1]  # why\n",
        "import np2fx.numpy as npx\n\n@npx.on_torch\ndef f(x):\n    return npx.sqrt(x - x.mean())[::-1]  # why\n",
    ),
    "by other names": (
        "import numpy as num\nimport numpy.linalg as la\nfrom numpy import clip as c, pi\n\n\n"
        "def f(x):\n    return la.norm(c(x, 0, pi)) + (num).e\n",
        "import np2fx.numpy as npx\n\n\n@npx.on_torch\ndef f(x):\n    return npx.linalg.norm(npx.clip(x, 0, npx.pi)) + npx.e\n",
    ),
    "a name of the function's own": (
        "import numpy as np\n\ndef f(x):\n    np = [x]\n    return np[0] * 2\n\ndef g(x):\n    return np.sin(x)\n",
        "import np2fx.numpy as npx\nimport numpy as np\n\ndef f(x):\n    np = [x]\n    return np[0] * 2\n\n"
        "@npx.on_torch\ndef g(x):\n    return npx.sin(x)\n",
    ),
    "decorators, defaults and annotations": (
        "import numpy as np\nfrom functools import wraps\n\n@wraps(np.sin)\n"
        "def f(x: np.ndarray, k=np.pi) -> np.ndarray:\n    return np.sin(k * x)\n",
        "import np2fx.numpy as npx\nimport numpy as np\nfrom functools import wraps\n\n@wraps(np.sin)\n@npx.on_torch\n"
        "def f(x: np.ndarray, k=np.pi) -> np.ndarray:\n    return npx.sin(k * x)\n",
    ),
    "methods and columns beyond ASCII": (
        'import numpy as np\n\nclass A:\n    @staticmethod\n    def f(x):\n        """ä"""\n'
        '        return "ü" if np.any(x) else np.sum(x)\n',
        'import np2fx.numpy as npx\n\nclass A:\n    @staticmethod\n    @npx.on_torch\n    def f(x):\n        """ä"""\n'
        '        return "ü" if npx.any(x) else npx.sum(x)\n',
    ),
    "expressions that end in one column": (
        "import numpy as np\n\ndef f(x):\n    return (x, np.array(\n              [0, x]).T)\n",
        "import np2fx.numpy as npx\n\n@npx.on_torch\ndef f(x):\n    return (x, npx.array(\n              [0, x]).T)\n",
    ),
    "line ends of another kind": (
        "import numpy as np\r\n\r\ndef f(x):\r\n    return np.sort(\r\n        x)\r\n",
        "import np2fx.numpy as npx\r\n\r\n@npx.on_torch\r\ndef f(x):\r\n    return npx.sort(\r\n        x)\r\n",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_texts(name):
    before, after = PAIRS[name]
    new, _ = np2fx.rewrite_source(before, all_functions=True, dialect="numpy")
    assert new == after
    assert np2fx.rewrite_source(new, all_functions=True, dialect="numpy")[0] == new


def test_torch_where_the_facts_decide():
    text = (
        "import np2fx\nimport numpy as np\n\n\n@np2fx.node(x='float32[n]')\ndef plain(x):\n    return np.sqrt(x) * 2\n\n\n"
        "@np2fx.node\ndef open_(frames, hop=512):\n    return (np.asanyarray(frames) * hop).astype(int)[()]\n"
    )
    new, _ = np2fx.rewrite_source(text, dialect="auto")
    assert "return torch.sqrt(x) * 2" in new and "    return (npx.asanyarray(frames) * hop).astype(int)[()]\n" in new
    names: dict[str, object] = {}
    exec(new, names)
    assert names["open_"](3) == 1536 and type(names["open_"](3)) is np.int64  # type: ignore[operator]
    np.testing.assert_array_equal(names["open_"]([1, 2]), [512, 1024])  # type: ignore[operator]


def test_what_comes_without_a_tensor_stays_numpys():
    class Held:
        def __init__(self, x):
            self.x = x

        @npx.on_torch
        def same(self):
            self.last = [self.x, type(npx.ones(1)), npx.linalg.norm is np.linalg.norm]
            return self.last[0] is self.x

    @npx.on_torch
    def f(x, *more):
        return type(npx.zeros(1)), type(x)

    @npx.on_torch
    def outer(x, call):
        return call(x), call(torch.ones(1)), npx.sin is np.sin

    x, t = np.ones(2), torch.ones(2)
    assert all(f(*args)[0] is np.ndarray for args in ((x,), ([x],), (1, {"a": x}), (Held(x), [1.0]), (Held([x]),)))
    for tensors in ((t,), (x, t), (x, [1, {"a": t}]), (x, Held(t)), (x, Held([t])), (x, Held(npx.ndarray.of(t))), (torch.nn.Linear(1, 1),)):
        assert f(*tensors)[0] is npx.ndarray
    assert outer(x, f) == ((np.ndarray, np.ndarray), (npx.ndarray, npx.ndarray), True)
    held = Held(x)
    assert held.same() and held.last[0] is x and held.last[1:] == [np.ndarray, True]
    with npx.always_on_torch():
        assert f(x) == (npx.ndarray,) * 2
    with torch.device("cpu"):
        assert f(x)[0] is npx.ndarray


def test_what_threads_make_leaves_as_numpys():
    @npx.on_torch
    def f(x):
        def root(v):
            return npx.sqrt(v)

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(root, x).result(), x

    x = np.ones(2)
    root, same = f(x)
    assert type(root) is np.ndarray and same is x


@pytest.fixture
def on_torch():
    with npx.always_on_torch():
        yield


@pytest.mark.usefixtures("on_torch")
def test_the_boundary():
    seen = []

    @npx.on_torch
    def f(x, held, items):
        seen.append((type(x), type(items[0])))
        x[0] = 9
        held["last"] = x[::-1]
        items.append(x * 2)
        return x, {"made": npx.zeros(2)}, x.sum(), "text"

    x, held, items = np.arange(3.0), {}, [np.ones(1)]
    first = items[0]
    same, made, total, text = f(x, held, items)
    assert seen == [(npx.ndarray, npx.ndarray)]
    assert same is x and x[0] == 9 and type(made["made"]) is np.ndarray and type(total) is np.float64 and text == "text"
    assert type(held["last"]) is np.ndarray and np.shares_memory(held["last"], x) and items[0] is first and type(items[1]) is np.ndarray
    t = torch.arange(3.0)
    same, made, total, _ = f(t, {}, [t])
    assert same is t and t[0] == 9 and type(made["made"]) is torch.Tensor and type(total) is torch.Tensor


def test_the_boundary_inside_of_another_and_where_an_error_leaves():
    @npx.on_torch
    def inner(x):
        return x * 2

    @npx.on_torch
    def outer(x, items):
        assert type(inner(x)) is np.ndarray and inner(x[:1]) == 2 * x[0]
        items[0] = items[0] + 1
        if x[0] > 5:
            raise ValueError("too much")
        return inner(x) + 1

    items = [np.zeros(1)]
    assert outer(np.ones(2), items).tolist() == [3.0, 3.0] and type(items[0]) is np.ndarray
    with pytest.raises(ValueError, match="too much"):
        outer(np.full(2, 9.0), items)
    assert type(items[0]) is np.ndarray and items[0][0] == 2


def test_generators_hand_out_numpys_arrays():
    @npx.on_torch
    def rows(x):
        got = None
        for row in x:
            got = yield row if got is None else row * got
        return x.sum()

    made = rows(np.ones((2, 2)))
    assert type(next(made)) is np.ndarray and made.send(np.float64(3)).tolist() == [3.0, 3.0]
    with pytest.raises(StopIteration) as end:
        next(made)
    assert end.value.value == 4.0


@pytest.mark.parametrize("x", [np.ones(3), torch.ones(3)])
def test_generators_that_are_contexts(x):
    left = []

    @contextlib.contextmanager
    @npx.on_torch
    def scaled(x):
        try:
            yield npx.sum(x)
        except ValueError:
            left.append(type(npx.zeros(1)))
        finally:
            left.append("closed")

    with scaled(x) as total:
        assert total == 3
        raise ValueError("in the block")
    assert left == [npx.ndarray if isinstance(x, torch.Tensor) else np.ndarray, "closed"]
    rows = scaled.__wrapped__(x)  # type: ignore[attr-defined]
    next(rows)
    rows.close()
    assert left[2:] == ["closed"]


def test_the_command(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(PAIRS["names"][0])
    command = [sys.executable, "-m", "np2fx", "rewrite", "--all-functions", "--dialect", "numpy", str(path)]
    ran = subprocess.run(command, check=True, capture_output=True)
    assert b"1 file rewritten" in ran.stdout and path.read_text() == PAIRS["names"][1]


def test_each_dialect_calls_the_other():
    text = (
        "import numpy as np\nimport np2fx\n\n\n@np2fx.node(x='float64[n]')\ndef plain(x):\n    return np.sqrt(x) * 2, x\n\n\n"
        "@np2fx.node\ndef open_(v, last=None):\n    v = np.asarray(v)\n    a, same = plain(v)\n    back, _ = plain(v[::-1])\n"
        "    return a.sum() if last is None else back[last], same is v, type(a)\n"
    )
    new, _ = np2fx.rewrite_source(text, dialect="auto")
    assert "torch.sqrt" in new and new.count("@npx.on_torch") == 1
    names: dict[str, object] = {}
    exec(new, names)
    assert names["open_"]([1.0, 4.0]) == (6.0, True, np.ndarray)  # type: ignore[operator]
    with npx.always_on_torch():
        assert names["open_"]([1.0, 4.0]) == (6.0, True, npx.ndarray)  # type: ignore[operator]
        assert names["open_"]([1.0, 4.0], last=0)[0] == 4.0  # type: ignore[operator]


class Kind(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize("gain", [None, np.int64(2), np.float64(0.5), Kind.ONE, 2])
def test_numbers_that_only_an_annotation_tells_of(gain):
    text = (
        "import np2fx\nimport numpy as np\nfrom typing import Optional\n@np2fx.node(x='float32[n]')\n"
        "def f(x, gain: Optional[float] = None, hop: int = 1):\n"
        "    y = np.sin(x[::hop])\n    return y if gain is None else y * gain\n"
    )
    new, _ = np2fx.rewrite_source(text, dialect="auto")
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    exec(text, before)
    exec(new, after)
    x = np.ones(4, dtype=np.float32)
    wanted = before["f"](x, gain, np.int64(2))  # type: ignore[operator]
    got = after["f"](x, gain, np.int64(2))  # type: ignore[operator]
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_nothing_but_numpys_arrays_is_kept_by_what_is_not_rewritten():
    @functools.lru_cache
    @npx.on_torch
    def window(n):
        return npx.hanning(n)

    class Filter:
        @npx.on_torch
        def __init__(self, x):
            self.x, self.same = (made := npx.sin(x)), made

    @npx.on_torch
    def outer(x):
        return Filter(x * window(3)), x

    x = np.ones(3)
    made, same = outer(x)
    assert same is x and type(made.x) is np.ndarray and made.same is made.x and type(window(3)) is np.ndarray
    t = torch.ones(3, dtype=torch.float64, requires_grad=True)
    made, same = outer(t)
    assert same is t and made.x.tensor.requires_grad


def test_tensors_come_in_as_they_are_where_the_text_speaks_of_torch():
    @npx.on_torch
    def both(x):
        return torch.is_tensor(x), npx.sin(1.0)

    @npx.on_torch
    def back(x):
        return x.detach().numpy() + 1

    @npx.on_torch
    def moved(x, to):
        return to.from_dlpack(x)

    assert type(moved(torch.ones(2), np)) is np.ndarray and type(moved(np.ones(2), torch)) is torch.Tensor
    assert both(torch.ones(2))[0] and not both(np.ones(2))[0]
    assert type(back(torch.ones(2))) is np.ndarray


@pytest.mark.parametrize(
    "call", ["torch.Tensor(np.sin(x))", "torch.FloatTensor(np.sin(x))", "torch.asarray(x + np.pi)"]
)
def test_what_reads_numpys_own_arrays_alone(call):
    text = f"import numpy as np\nimport torch\ndef f(x, *more):\n    x = np.asarray(x)\n    return {call}\n"
    new, findings = np2fx.rewrite_source(text, all_functions=True, dialect="numpy")
    assert new == text and [f.name for f in findings] == ["opaque-call"]


@pytest.mark.parametrize("between", ["quantised", "functools.lru_cache(None)"])
def test_specs_speak_of_what_the_decorators_below_them_hand_on(between):
    text = (
        "import functools\nimport numpy as np\nimport np2fx\n\n\ndef quantised(f):\n"
        "    return functools.wraps(f)(lambda x: f((x * 10).astype(np.int64)))\n\n\n"
        f"@np2fx.node(x='float64[n]')\n@{between}\ndef g(x):\n    return np.sqrt(x) / 3\n"
    )
    new, _ = np2fx.rewrite_source(text, dialect="auto")
    assert ("return torch.sqrt(x) / 3" in new) == (between != "quantised")
    if between == "quantised":
        names: dict[str, object] = {}
        exec(new, names)
        assert names["g"](np.array([0.9])).tolist() == [1.0]  # type: ignore[operator]


def test_names_of_numpys_alone_are_no_torch():
    text = (
        "import numpy as np\nimport np2fx\n\n\nclass Line:\n    @np2fx.node\n    def __init__(self, xs, ys):\n"
        "        p = np.vstack([xs, ys])\n        self.p = np.vstack([p, np.ones((p.shape[1],))])\n\n\n"
        "@np2fx.node(x='float32[n]')\ndef length(x):\n    return np.linalg.norm(x)\n"
    )
    new, _ = np2fx.rewrite_source(text, dialect="auto")
    assert "    @npx.on_torch\n    def __init__" in new and "@np2fx.boundary()\ndef length" in new


def test_arrays_of_a_class_of_the_users():
    text = (
        "import numpy as np\n\n\nclass Shifted(np.ndarray):\n    def __mul__(self, o):\n"
        "        return np.asarray(self) * np.asarray(o) + 100\n\n\n"
        "def f(x):\n    return np.sum(x.view(np.ndarray) * 1), np.sum(x * 2), np.sum(np.asarray(x).view(np.ndarray))\n"
    )
    new, _ = np2fx.rewrite_source(text, all_functions=True, dialect="auto")
    names: dict[str, object] = {}
    exec(new, names)
    x = np.ones(3).view(names["Shifted"])  # type: ignore[call-overload]
    assert new.count("@npx.on_torch") == 2 and names["f"](x) == (3, 306, 3) and names["f"](np.ones(3)) == (3, 6, 3)  # type: ignore[operator]


def test_a_dialect_that_there_is_not():
    with pytest.raises(ValueError, match="dialects are auto, torch, numpy"):
        rewrite_source("x = 1\n", dialect="helpers")


def test_helpers_of_which_nothing_says_what_they_are_given_are_numpy_on_torch():
    text = (
        "import numpy as np\n\n\ndef norm(q):\n    return np.sqrt(np.dot(q, q))\n\n\ndef unit(q):\n    return np.asarray(q) / norm(q)\n"
    )
    new, _ = np2fx.rewrite_source(text, all_functions=True, dialect="auto")
    assert new.count("@npx.on_torch") == 2 and "boundary" not in new


@pytest.mark.parametrize("call", ["json.dumps({'m': x.mean()})", "statistics.mean([x[0]])", "logging.getLogger().info('%s', x)"])
def test_pythons_own_library_gets_numpys_objects(call):
    text = f"import json, logging, statistics\nimport np2fx\n\n\n@np2fx.node(x='float64[n]')\ndef f(x):\n    return {call}\n"
    assert "@npx.on_torch" in np2fx.rewrite_source(text, dialect="auto")[0]
    same = text.replace(call, "x * 2")
    assert "@np2fx.boundary" in np2fx.rewrite_source(same, dialect="auto")[0]


@pytest.mark.parametrize("a", [np.float64(3), np.array(3.0)])
def test_what_has_no_axes_may_be_a_scalar_which_is_bound_anew(a):
    head = "import np2fx\nimport numpy as np\n\n\n@np2fx.node(a='float64[]')\n"
    text = f"{head}def f(a):\n    b = a\n    a -= 1.0\n    return np.sqrt(a), b, a\n"
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    exec(text, before)
    exec(np2fx.rewrite_source(text, dialect="auto")[0], after)
    wanted, got = before["f"](a.copy()), after["f"](a.copy())  # type: ignore[operator]
    assert list(map(type, got)) == list(map(type, wanted)) and list(map(float, got)) == list(map(float, wanted))


@pytest.mark.parametrize("decorate", [npx.on_torch, np2fx.boundary()])
def test_the_signature_is_the_functions_in_every_place(decorate):
    def plain(a, b=2, /, c=3, *rest, d, e=(), **more):
        return a, b, c, rest, d, e, more

    made = decorate(plain)
    assert inspect.signature(made) == inspect.signature(plain) and made.__defaults__ == (2, 3) and made.__kwdefaults__ == {"e": ()}
    for name in ("co_varnames", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_name", "co_filename"):
        assert getattr(made.__code__, name) == getattr(plain.__code__, name)
    assert made.__globals__ is plain.__globals__
    for args, kwargs in (((1,), {"d": 4}), ((1, 5, 6, 7, 8), {"d": 4, "f": 9}), ((1,), {"c": 5, "d": 4, "e": 1, "a": 2})):
        assert made(*args, **kwargs) == plain(*args, **kwargs)
    with pytest.raises(TypeError) as ours:
        made(1)
    with pytest.raises(TypeError) as theirs:
        plain(1)
    assert str(ours.value) == str(theirs.value)


def test_defaults_are_not_held_against_what_the_rewriting_took_for_granted():
    @np2fx.boundary(numbers=("n",))
    def f(x, n=None):
        return x if n is None else x * n

    assert f(np.ones(1), None) == 1 and f(np.ones(1), 2) == 2
    with pytest.raises(TypeError, match="a Python number"):
        f(np.ones(1), "2")


class Bag(dict):
    def __setitem__(self, key, value):
        raise AssertionError("nobody asked")


@pytest.mark.usefixtures("on_torch")
def test_what_containers_hold_are_numpys_arrays_where_they_stand():
    class Sums:
        def __init__(self):
            self.total, self.all, self.last = np.zeros(2), [], ()

        @npx.on_torch
        def add(self, x):
            self.total = self.total + x
            self.all.append(self.total)
            self.last = (self.total, {"x": x})
            return self.all

    s, x = Sums(), np.ones(2)
    assert s.add(x) is s.all and s.all[0] is s.total is s.last[0] and type(s.total) is np.ndarray and s.last[1]["x"] is x

    @npx.on_torch
    def fill(bag, rows):
        dict.__setitem__(bag, "root", npx.sqrt(bag["x"]))
        rows.append([bag["root"], rows])
        return rows

    bag, rows = Bag(x=x), []
    assert fill(bag, rows) is rows and type(bag["root"]) is np.ndarray and bag["x"] is x
    assert rows[0][0] is bag["root"] and rows[0][1] is rows


def test_callers_without_torch_need_none():
    code = (
        "import sys, numpy as np, np2fx.numpy as npx\n"
        "f = npx.on_torch(lambda x: npx.linalg.norm(npx.sqrt(x)))\n"
        "assert f(np.ones(4)) == 2 and 'torch' not in sys.modules\n"
        "import torch\n"
        "assert type(f(torch.ones(4))) is torch.Tensor and type(npx.zeros(1)) is npx.ndarray is not np.ndarray\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
