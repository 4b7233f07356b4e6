"""What stays one object: arguments that are the same, and modules that name each other."""

from __future__ import annotations

import dataclasses
import importlib
import sys

import np2fx
import numpy as np
import pytest
import torch

A = np.array([1.0, 2.0, 3.0])
KNOWN, EMPTY, LISTED = np.zeros(3), {}, [np.ones(3)]


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def told_apart(x, other):
    return x * 0 if x is other else x - other + 1


def told_apart_by_dict(x, other):
    return x["a"] * 0 if x is other else x["a"] - other["a"] + 1


def written(x, other):
    x[0] = 9
    x *= 2
    return other + 1


def grown(x, p, q):
    p.append(1)
    n = len(q)
    p.pop()
    return x * n


def options(x, p, q):
    return x * 2 if p is q else x * 3


class Plain:
    def __eq__(self, other):
        return isinstance(other, Plain)

    __hash__ = None


@dataclasses.dataclass
class Pair:
    array: np.ndarray
    gain: float = 1.0


def pair_of(make):
    return lambda same: (lambda x, y: (x, x if same else y))(make(), make())


CALLS = {
    "arrays": (told_apart, pair_of(A.copy)),
    "arrays written to": (written, pair_of(A.copy)),
    "dicts of arrays": (told_apart_by_dict, pair_of(lambda: {"a": A.copy()})),
    "dataclasses of arrays": (lambda p, q: p.array + (p is q), pair_of(lambda: Pair(A.copy()))),
    "lists that are changed for a time": (grown, lambda same: (A.copy(), *pair_of(lambda: [1])(same))),
    "lists": (options, lambda same: (A.copy(), *pair_of(lambda: [1])(same))),
    "tuples": (options, lambda same: (A.copy(), *pair_of(lambda: (*[1, 2],))(same))),
    "objects": (options, lambda same: (A.copy(), *pair_of(Plain)(same))),
    "objects in containers": (lambda x, p, q: x * (2 if p[0] is q[0] else 3),
                              lambda same: (A.copy(), *([p] for p in pair_of(Plain)(same)))),
}  # fmt: skip


@pytest.mark.parametrize("traced", [True, False], ids=["one traced", "two traced"])
@pytest.mark.parametrize("called", [True, False], ids=["one given", "two given"])
@pytest.mark.parametrize("name", CALLS)
def test_arguments_that_are_one_object(name, traced, called):
    function, arguments = CALLS[name]
    graph = np2fx.trace(function, *arguments(traced))
    want = function(*(mine := arguments(called)))
    given = arguments(called)
    if traced is called:
        np.testing.assert_array_equal(graph(*given), want)
        for a, b in zip(mine, given, strict=True):
            if isinstance(a, np.ndarray):
                np.testing.assert_array_equal(b, a)
        return
    with pytest.raises(np2fx.TraceError) as refused:
        graph(*given)
    assert refused.value.findings[0].name in ("python-value", "aliasing")


def added(x, y):
    return np.sin(x) + np.sin(y), x


def branching(x, y):
    if x.sum() > 0:
        return x + y
    return x - y


def of_containers(x, y):
    return x["a"] + y["a"]


@pytest.mark.parametrize("function", [np.add, added, branching])
def test_a_function_that_does_not_ask_takes_both(function):
    for sample in ((A, A), (A, A * 2)):
        graph = np2fx.trace(function, *sample)
        b, c = tensor(-4, 5, 0.5), tensor(1, 1, 1)
        for x, y in ((b, b), (b, c), (c, b)):
            want, got = function(x.numpy(), y.numpy()), graph(x, y)
            for a, g in zip(want if isinstance(want, tuple) else (want,), got if isinstance(got, tuple) else (got,), strict=True):
                np.testing.assert_allclose(g, a)


def test_containers_that_are_one_and_not_asked():
    d = {"a": A}
    graph = np2fx.trace(of_containers, d, d)
    assert graph({"a": tensor(1, 2, 3)}, {"a": tensor(1, 1, 1)}).tolist() == [2, 3, 4]


def test_what_is_one_and_written_to():
    t, n = tensor(1, 2, 3), A.copy()
    graph = np2fx.trace(written, A, A)
    assert graph(t, t).tolist() == [19, 5, 7] and t.tolist() == [18, 4, 6]
    assert graph(n, n).tolist() == [19, 5, 7] and n.tolist() == [18, 4, 6]
    assert graph(back := A[::-1].copy()[::-1], back).tolist() == [19, 5, 7] and back.tolist() == [18, 4, 6]
    assert A.tolist() == [1, 2, 3]


def with_array(x, other=KNOWN):
    return x if other is KNOWN else x - other + 1


def with_dict(x, other=EMPTY):
    return x if other is not EMPTY else x + 1


def with_list(x, other=LISTED):
    return x if other is LISTED else x + other[0]


@pytest.mark.parametrize(("function", "other"), [(with_array, A), (with_dict, {}), (with_list, [np.ones(3)])])
def test_an_argument_that_the_function_knows_from_elsewhere(function, other):
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(function, A)
    assert refused.value.findings[0].name == "python-value"
    graph = np2fx.trace(function, A, other)
    np.testing.assert_array_equal(graph(A, other), function(A, other))
    with pytest.raises(np2fx.TraceError, match="that the function knows"):
        graph(A)


def test_a_known_default_that_is_only_read():
    def centred(x, mean=KNOWN, options=EMPTY, extra=None):
        return x - mean if extra is None and not options else x

    assert np2fx.trace(centred, A)(tensor(1, 2, 3)).tolist() == [1, 2, 3]


TEXTS = {
    "two modules": {"aa": "K = 2.0", "bb": "J = 5.0", "main": "import {aa}, {bb}\ndef f(x): return x * {aa}.K + {bb}.J"},
    "a package's module": {"pq__consts": "K = 2.0", "main": "import {pq}.consts\ndef f(x): return x * {pq}.consts.K + 5"},
    "a folder's module": {"pq__consts": "K = 2.0", "main": "import {pq}.consts\ndef f(x): return x * {pq}.consts.K + 5"},
    "imported inside": {"pq__consts": "K = 2.0", "main": "def f(x):\n    from {pq} import consts\n    return x * consts.K + 5"},
    "modules that name each other": {
        "aa": "import {bb}\nK = 2.0\ndef g(x): return x * K + {bb}.J", "bb": "import {aa}\nJ = 5.0\ndef h(x): return {aa}.g(x)",
        "main": "import {aa}, {bb}\ndef f(x): return {bb}.h(x)",
    },
    "itself": {"main": "import {main}\nK, J = 2.0, 5.0\ndef f(x): return x * {main}.K + {main}.J"},
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_modules_of_the_project(kind, tmp_path, monkeypatch):
    tag = kind.replace(" ", "_").replace("'", "")
    names = {n: f"{n}_{tag}" for n in ("aa", "bb", "pq", "main")}
    for name, text in TEXTS[kind].items():
        top, _, inner = name.partition("__")
        path = tmp_path / names[top] / f"{inner}.py" if inner else tmp_path / f"{names[top]}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(**names))
        if inner and kind != "a folder's module":
            (path.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        main = importlib.import_module(names["main"])
        assert np2fx.trace(main.f, A)(tensor(1, 2, 3)).tolist() == [7, 9, 11]
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] in names.values()]:
            del sys.modules[name]


def holding_itself():
    holder = [np.ones(3)]
    holder.append(holder)
    return holder


RING, NAMED_RING = holding_itself(), {"a": np.ones(3)}
NAMED_RING["ring"] = NAMED_RING


@pytest.mark.parametrize("function", [lambda x: x + RING[0], lambda x: x + RING[1][1][0], lambda x: x + NAMED_RING["ring"]["a"]])
def test_containers_that_hold_themselves(function):
    assert np2fx.trace(function, A)(tensor(1, 2, 3)).tolist() == [2, 3, 4]


def test_tensors_that_are_one():
    t, u, v = tensor(1, 2, 3), tensor(4, 5, 6), tensor(1, 1, 1)
    graph = np2fx.trace(lambda x, y: x + y, t, t)
    assert graph(u, v).tolist() == [5, 6, 7] and graph(u, u).tolist() == [8, 10, 12]
    graph = np2fx.trace(options_of_tensors, t, t)
    assert graph(u, u).tolist() == [8, 10, 12]
    with pytest.raises(np2fx.TraceError):
        graph(u, v)


def options_of_tensors(x, y):
    return x * (2 if x is y else 3)


class Holder:
    def __init__(self, table):
        self.table = table

    def write(self, x):
        x[0] = 7
        return self.table * 1

    def read(self, x):
        return self.table * x


def writes_a_global(x, mean=KNOWN):
    mean[0] += 1
    return x + KNOWN


def writes_its_default(x, total=np.zeros(3)):  # noqa: B008
    total += x
    return total


def test_an_array_that_is_written_to_and_known():
    array, function = A.copy(), Holder(A.copy()).write
    holder = Holder(array)
    for fn, given in ((holder.write, (array,)), (writes_a_global, (A,))):
        with pytest.raises(np2fx.TraceError) as refused:
            np2fx.trace(fn, *given)
        assert refused.value.findings[0].name == "aliasing"
    graph = np2fx.trace(lambda x, h: h.write(x), array, holder)
    given, plain = A.copy(), A.copy()  # what an object among the arguments holds is an argument, too
    assert np.array_equal(graph(given, Holder(given)), Holder(plain).write(plain)) and np.array_equal(given, plain)
    with pytest.raises(np2fx.TraceError, match="one object"):
        graph(A.copy(), Holder(A.copy()))
    graph = np2fx.trace(function, A.copy())
    assert graph(A.copy()).tolist() == [1, 2, 3]
    for given in (function.__self__.table, torch.from_numpy(function.__self__.table), function.__self__.table[:]):
        with pytest.raises(np2fx.TraceError, match="reads elsewhere"):
            graph(given)
    assert KNOWN.tolist() == [0, 0, 0] and array.tolist() == function.__self__.table.tolist() == [1, 2, 3]
    assert np2fx.trace(holder.read, array)(array).tolist() == [1, 4, 9]


def test_a_default_that_is_written_to():
    graph = np2fx.trace(writes_its_default, A)
    assert graph(A).tolist() == [1, 2, 3] and graph(A).tolist() == [2, 4, 6]
    assert graph(A, tensor(1, 1, 1)).tolist() == [2, 3, 4]


SHARED = [1]


def grows_a_global(x, items=SHARED):
    items.append(1)
    n = len(SHARED)
    items.pop()
    return x * n


def test_a_list_that_is_known():
    with pytest.raises(np2fx.TraceError):
        np2fx.trace(grows_a_global, A)
    assert np2fx.trace(grows_a_global, A, [1])(A, [1]).tolist() == [1, 2, 3]
    assert SHARED == [1]


def test_what_a_module_in_a_folder_keeps(tmp_path, monkeypatch):
    folder = tmp_path / "shared_folder"
    folder.mkdir()
    (folder / "held.py").write_text("CACHE = {}\n")
    (tmp_path / "shared_keeps.py").write_text(
        "import shared_folder.held\ndef f(x):\n    held = shared_folder.held.CACHE\n"
        "    if 'm' not in held: held['m'] = x.mean()\n    return x - held['m']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        keeps = importlib.import_module("shared_keeps")
        for _ in range(2):
            with pytest.raises(np2fx.TraceError) as refused:
                np2fx.trace(keeps.f, A)
            assert refused.value.findings[0].name == "side-effect"
    finally:
        for name in [n for n in sys.modules if n.startswith(("shared_folder", "shared_keeps"))]:
            del sys.modules[name]


def test_a_write_into_memory_that_another_argument_lies_on_from_further_on_is_refused():
    def added(x, y):
        x += 1
        return x + y

    graph = np2fx.trace(added, np.ones(3), np.ones(3))
    memory = np.arange(8.0)
    for x, y in ((memory[:3], memory[1:4]), (memory[1:4], memory[:3]), (memory[:5:2], memory[1:4])):
        with pytest.raises(np2fx.TraceError) as refused:
            graph(x, y)
        assert refused.value.findings[0].name == "aliasing"
    np.testing.assert_array_equal(memory, np.arange(8.0))
    np.testing.assert_array_equal(graph(memory[:3], memory[3:6]), [4.0, 6.0, 8.0])
