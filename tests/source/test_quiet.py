"""What trace and rewrite refuse, check does not pass: each kind of construct that leaves a graph without a call of NumPy's."""

from __future__ import annotations

import textwrap

import pytest
from np2fx.codemod.rewrite import rewrite_source
from np2fx.source.findings.check import check_source
from np2fx.source.findings.refused import GRAPHS_ALONE


def whole(body, signature="x", before=""):
    lines = ["import numpy as np", "import np2fx", before, "@np2fx.node(x='float64[n, n]')", f"def f({signature}):"]
    return "\n".join(lines) + "\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\n"


def errors(source, target):
    """The errors, and what would be one but that the codemod takes the function."""
    rows = source.split("\n")
    found = [f for f in check_source(source, target=target) if f.severity == "error" or f.hint.endswith(GRAPHS_ALONE)]
    return [(f.name, rows[f.line - 1][f.column - 1 : f.end_column - 1] if f.line == f.end_line else "...") for f in found]


REFUSED = {
    # text
    "f-string": ("return f'{np.sum(x):.3f}'", "", ("python-value", "np.sum(x)")),
    "f-string of a list": ("return f'{[x.sum(), 1]}'", "", ("python-value", "[x.sum(), 1]")),
    "percent": ("return '%.3f' % np.sum(x)", "", ("python-value", "np.sum(x)")),
    "percent of a tuple": ("return '%s %s' % (np.sum(x), 1)", "", ("python-value", "(np.sum(x), 1)")),
    "format": ("return '{:.3f}'.format(x.max())", "", ("python-value", "x.max()")),
    "format_map": ("return '{a}'.format_map({'a': x.max()})", "", ("python-value", "{'a': x.max()}")),
    "str": ("return str(x.sum())", "", ("python-value", "x.sum()")),
    "repr": ("return repr(x)", "", ("python-value", "x")),
    "__str__": ("return x.sum().__str__()", "", ("python-value", "x.sum()")),
    "a printed text": ("print(f'{x.sum()}')\nreturn x", "", ("python-value", "x.sum()")),
    "a logged text": ("logging.info('%s' % x.sum())\nreturn x", "import logging", ("python-value", "x.sum()")),
    "text in a helper": ("return g(x.sum())", "def g(v):\n    return f'{v}'\n", ("python-value", "v")),
    # hashes
    "hash": ("return hash(x.sum())", "", ("python-value", "x.sum()")),
    "a set": ("return len({x.sum(), 1})", "", ("python-value", "x.sum()")),
    "a key": ("return {x.sum(): 1}", "", ("python-value", "x.sum()")),
    "a key that is written": ("d = {}\nd[x.sum()] = 1\nreturn x", "", ("python-value", "x.sum()")),
    # buffers
    "bytes": ("return bytes(x)", "", ("python-value", "bytes(x)")),
    "memoryview": ("return memoryview(x)", "", ("python-value", "memoryview(x)")),
    # errors that are caught
    "except LinAlgError": ("try:\n    return np.linalg.inv(x)\nexcept np.linalg.LinAlgError:\n    return x", "",
                           ("data-dependent-branch", "np.linalg.inv(x)")),
    "except LinAlgError, imported": ("try:\n    y = np.linalg.solve(x, x)\nexcept LinAlgError:\n    y = x\nreturn y",
                                     "from numpy.linalg import LinAlgError", ("data-dependent-branch", "np.linalg.solve(x, x)")),
    "except all": ("try:\n    return np.linalg.cholesky(x)\nexcept Exception:\n    return x", "",
                   ("data-dependent-branch", "np.linalg.cholesky(x)")),
    "bare except": ("try:\n    return np.linalg.pinv(x)\nexcept:\n    return x", "", ("data-dependent-branch", "np.linalg.pinv(x)")),
    "suppress": ("y = x\nwith contextlib.suppress(ValueError):\n    y = np.linalg.det(x)\nreturn y", "import contextlib",
                 ("data-dependent-branch", "np.linalg.det(x)")),
    "finally that leaves": ("try:\n    y = np.linalg.inv(x)\nfinally:\n    return x", "", ("data-dependent-branch", "np.linalg.inv(x)")),
    "in a helper": ("try:\n    return g(x)\nexcept np.linalg.LinAlgError:\n    return x", "def g(a):\n    return np.linalg.inv(a)\n",
                    ("data-dependent-branch", "np.linalg.inv(a)")),
    "a computed index": ("try:\n    return x[np.argmax(x[0])]\nexcept IndexError:\n    return x[0]", "",
                         ("data-dependent-branch", "x[np.argmax(x[0])]")),
    "weights": ("try:\n    return np.average(x, weights=x)\nexcept ZeroDivisionError:\n    return x.sum()", "",
                ("data-dependent-branch", "np.average(x, weights=x)")),
    # threads
    "submit": ("with ThreadPoolExecutor(1) as ex:\n    return ex.submit(np.std, x).result()",
               "from concurrent.futures import ThreadPoolExecutor", ("opaque-call", "ex.submit(np.std, x)")),
    "map": ("with cf.ThreadPoolExecutor(1) as ex:\n    return list(ex.map(np.sqrt, [x, x]))", "import concurrent.futures as cf",
            ("opaque-call", "ex.map(np.sqrt, [x, x])")),
    "an executor of the module": ("return EX.submit(np.std, x).result()",
                                  "import concurrent.futures as cf\nEX = cf.ThreadPoolExecutor(1)\n",
                                  ("opaque-call", "EX.submit(np.std, x)")),
    "a pool": ("with Pool(1) as p:\n    return p.map(np.std, [x])", "from multiprocessing.dummy import Pool",
               ("opaque-call", "p.map(np.std, [x])")),
    # what outlives the call
    "function attribute": ("f.calls = getattr(f, 'calls', 0) + 1\nreturn x * f.calls", "", ("side-effect", "f.calls")),
    "another's attribute": ("g.last += 1\nreturn x", "def g():\n    pass\n", ("side-effect", "g.last")),
    "class attribute": ("C.n += 1\nreturn x * C.n", "class C:\n    n = 0\n", ("side-effect", "C.n")),
    "a dict of a class": ("C.d['k'] = 1\nreturn x", "class C:\n    d = {}\n", ("side-effect", "C.d")),
    "module attribute": ("np.foo = 1\nreturn x", "", ("side-effect", "np.foo")),
    "an item that is deleted": ("del L[0]\nreturn x", "L = [1, 2]\n", ("side-effect", "L")),
    "a global iterator": ("return x * next(IT)", "IT = iter(range(9))\n", ("side-effect", "next(IT)")),
    "globals()": ("globals()['N'] = 1\nreturn x", "N = 0\n", ("side-effect", "globals()['N']")),
    "a global object's method": ("return OBJ.m(x)", "class C:\n    def m(self, a):\n        self.k = a\n        return a\nOBJ = C()\n",
                                 ("side-effect", "self.k")),
    # what computes later
    "a generator": ("yield x", "", ("not-rewritten", "def f")),
    "an iterator": ("return map(np.sin, [x])", "", ("not-rewritten", "map(np.sin, [x])")),
    "a function": ("return lambda: x", "", ("not-rewritten", "lambda: x")),
    # refusals of the table, and arrays of classes of their own
    "save": ("np.save('a', x)\nreturn x", "", ("side-effect", "np.save('a', x)")),
    "resize": ("x = x.copy()\nx.resize(3, 3)\nreturn x", "", ("mutation", "x.resize(3, 3)")),
    "a class of arrays": ("return A(x)", "class A(np.ndarray):\n    pass\n", ("unmapped-function", "A(x)")),
}  # fmt: skip


@pytest.mark.parametrize(("body", "before", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_leaves_a_graph(body, before, expected):
    assert expected in errors(whole(body, before=before), "any")


@pytest.mark.parametrize(("body", "before", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_leaves_the_graphs_of_np2fx(body, before, expected):
    assert [name for name, _ in errors(whole(body, before=before), "np2fx")]


PASSED = {
    "nonlocal": "total = np.zeros_like(x)\ndef add(v):\n    nonlocal total\n    total = total + v\nadd(x)\nadd(x * 2)\nreturn total",
    "nonlocal number": "n = 0\ndef add(v):\n    nonlocal n\n    n += 1\n    return v * n\nreturn add(x) + add(x)",
    "text of a shape": "return x * len(f'{x.shape} {x.dtype}')",
    "text of a raised error": "if x.ndim > 2:\n    raise ValueError(f'{x.sum()}')\nreturn x",
    "text of an assertion": "assert x.ndim == 2, f'{x.sum()}'\nreturn x",
    "an error of another class": "try:\n    return np.linalg.inv(x)\nexcept KeyError:\n    return x",
    "an error that is raised again": "try:\n    return np.linalg.inv(x)\nexcept np.linalg.LinAlgError as e:\n    raise ValueError from e",
    "what does not raise": "try:\n    return np.sqrt(x) + 1\nexcept ValueError:\n    return x",
    "a norm": "try:\n    return np.linalg.norm(x)\nexcept np.linalg.LinAlgError:\n    return x.sum()",
    "an average without weights": "try:\n    return np.average(x)\nexcept ZeroDivisionError:\n    return x.sum()",
    "finally": "try:\n    y = np.linalg.inv(x)\nfinally:\n    z = 1\nreturn y * z",
    "an object made here": "o = C()\no.n = x\nreturn o.n",
    "its method": "return C().m(x)",
    "a lock": "with threading.Lock():\n    return x * 2",
    "a dict made here": "d = {}\nd['a'] = x\ndel d['a']\nreturn x",
    "a generator that is read": "return np.stack(list(y * 2 for y in (x, x)))",
}
BEFORE = "import threading\nclass C:\n    def m(self, a):\n        self.k = a\n        return self.k * 2\n"


@pytest.mark.parametrize("body", PASSED.values(), ids=PASSED)
def test_what_stays(body):
    source = whole(body, before=BEFORE)
    assert errors(source, "any") == [] and errors(source, "np2fx") == []
    assert [f for f in rewrite_source(source)[1] if f.severity == "error"] == []


def test_a_nonlocal_of_a_function_around_the_node_is_changed_for_good():
    source = "import numpy as np\nimport np2fx\ndef make():\n    n = 0\n    @np2fx.node\n    def f(x):\n"
    source += "        nonlocal n\n        n += 1\n        return x * n\n    return f\n"
    assert errors(source, "any") == [("side-effect", "n")]


def test_containers_that_are_given_are_not_changed():
    assert errors(whole("a.append(x)\nreturn x", "x, a: list"), "any") == [("mutation", "a.append(x)")]
    assert errors(whole("a['k'] = x\nreturn x", "x, a: dict"), "np2fx") == [("mutation", "a")]
