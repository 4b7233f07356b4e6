"""`rewrite --random-as-input`: the same numbers for the same seed when called as before, and none drawn when they are given."""

from __future__ import annotations

import importlib.util
import itertools

import np2fx
import numpy as np
import pytest
import torch
from np2fx.cli import main
from np2fx.codemod.randoms.random_inputs import lift_random

HEAD = "import numpy as np\nimport np2fx\n\n\n"
X = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
_numbers = itertools.count()


def load(tmp_path, text):
    path = tmp_path / f"lifted_{next(_numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def node(body, signature="x", above="@np2fx.node\n"):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{HEAD}{above}def f({signature}):\n{lines}"


LIFTED = {
    "normal": "return x + np.random.normal(0, 0.1, x.shape)",
    "normal defaults": "return x + np.random.normal(size=x.shape)",
    "normal by name": "return x * np.random.normal(loc=1.5, scale=0.3, size=(4, 3))",
    "normal ints": "return x + np.random.normal(1, 2, 3)",
    "uniform": "return x + np.random.uniform(-1, 1, x.shape)",
    "uniform one-sided": "return x + np.random.uniform(high=0.3, size=(4, 1))",
    "uniform negative literal": "return x + np.random.uniform(-0.7, -0.1, size=x.shape)",
    "randn": "noise = np.random.randn(*x.shape)\nreturn x + noise",
    "rand": "return x * np.random.rand(4, 3)",
    "random": "return x * np.random.random(x.shape) + np.random.random_sample((4, 3))",
    "standard_normal": "return x + np.random.standard_normal(x.shape[-1])",
    "randint": "return x[np.random.randint(0, 4, 5)]",
    "permutation": "return x[np.random.permutation(len(x))]",
    "choice": "return x[np.random.choice(4, size=2)]",
    "exponential": "return x + np.random.exponential(2.0, x.shape)",
    "two draws": "a = np.random.normal(0, 0.1, x.shape)\nb = np.random.uniform(0, 2, x.shape[0])\nreturn x * b[:, None] + a",
    "two in one line": "return x * np.random.rand(4, 3) + np.random.normal(0, 1, (4, 3))",
    "sizes of locals": "n, d = x.shape\nm = n - 1\nreturn x[:m] + np.random.randn(m, d)",
    "after asarray": "x = np.asarray(x)\nreturn x + np.random.normal(0, 0.5, size=x.shape)",
    "augmented": "y = x.copy()\ny += np.random.normal(0, 0.1, x.shape)\nreturn y",
    "generator": "rng = np.random.default_rng(7)\nreturn x + rng.normal(0, 0.1, x.shape) + rng.uniform(-2, 3, x.shape)",
    "generator float32": "rng = np.random.default_rng(7)\nreturn x + rng.standard_normal(x.shape, dtype=np.float32)",
    "generator integers": "rng = np.random.default_rng(7)\nreturn x[rng.integers(0, 4, size=6)]",
    "random state": "rng = np.random.RandomState(3)\nreturn x + rng.normal(1, 0.5, x.shape) + rng.uniform(1, 4, (4, 3))",
    "after an error": "if x.ndim != 2:\n    raise ValueError('2-D')\nreturn x + np.random.normal(0, 1, x.shape)",
}


@pytest.mark.parametrize("name", LIFTED)
def test_same_values_for_the_same_seed(tmp_path, name):
    text = node(LIFTED[name])
    new, findings = np2fx.rewrite_source(text, random_as_input=True)
    assert not [f for f in findings if f.severity == "error"], findings
    assert "random_1" in new and ("boundary" in new or "on_torch" in new)
    before, after = load(tmp_path, text).f, load(tmp_path, new).f
    for seed in range(5):
        np.random.seed(seed)
        want = before(X.copy())
        rest = np.random.random()
        np.random.seed(seed)
        got = after(X.copy())
        assert np.random.random() == rest, "the stream is somewhere else"
        assert got.dtype == want.dtype and np.array_equal(got, want)


@pytest.mark.parametrize(
    ("signature", "body", "args"),
    [
        ("x, sigma=0.25", "return x + np.random.normal(0, sigma, x.shape)", ()),
        ("x, sigma=0.25", "return x + np.random.normal(0.0, 2 * sigma, size=x.shape)", (1.5,)),
        ("x, low, high", "return x + np.random.uniform(low, high, x.shape)", (-1.5, 2)),
        ("x, s", "return x + np.random.uniform(-s, s, (4, 3))", (np.float32(0.7),)),
        ("x, loc, scale", "return x + np.random.normal(loc, scale, x.shape)", (np.arange(3.0), np.ones((4, 1), "float32"))),
        ("x, n: int", "return x[:n] + np.random.randn(n, 3)", (2,)),
        ("x, rate: float", "return x + np.random.poisson(rate, size=x.shape)", (2.5,)),
        ("x, n=4", "return x[np.random.permutation(n)]", ()),
        ("x, rng", "return x + rng.normal(0, 0.1, size=x.shape) + rng.random((4, 3))", (5,)),
        ("x, rng: np.random.Generator", "return x + rng.uniform(2, 3, x.shape)", (5,)),
        ("x, seed", "rng = np.random.default_rng(seed)\nreturn x + rng.normal(0, 1, (4, 3))", (9,)),
        ("x, /", "return x + np.random.randn(4, 3)", ()),
        ("x, *more", "return x + np.random.randn(4, 3)", ()),
        ("x, *, k=2", "return k * x + np.random.randn(4, 3)", ()),
        ("x, k=(2), **options", "return x + np.random.randn(4, 3)", ()),
        ("x: np.ndarray, k=(1)", "return x + np.random.randn(4, 3) * k", ()),
    ],
)
def test_parameters(tmp_path, signature, body, args):
    text = node(body, signature)
    new, findings = np2fx.rewrite_source(text, random_as_input=True, exact=True)
    assert not [f for f in findings if f.severity == "error"], findings
    results = []
    for version in (text, new):
        np.random.seed(11)
        given = [np.random.default_rng(a) if "rng" in signature.split("=")[0] else a for a in args]
        results.append(load(tmp_path, version).f(X.copy(), *given))
    assert results[0].dtype == results[1].dtype and np.array_equal(*results)


@pytest.mark.parametrize("sigma", [-0.1, -0.0])
def test_errors_of_the_arguments_stay(tmp_path, sigma):
    text = node("return x + np.random.normal(0, sigma, x.shape)", "x, sigma=0.1")
    new, _ = np2fx.rewrite_source(text, random_as_input=True)
    for version in (text, new):
        with pytest.raises(ValueError, match="scale < 0"):
            load(tmp_path, version).f(X, sigma=sigma)


def test_given_numbers_are_used_and_none_drawn(tmp_path):
    new, _ = np2fx.rewrite_source(node("return x + np.random.normal(0.5, 0.1, x.shape)"), random_as_input=True)
    f = load(tmp_path, new).f
    noise = np.random.default_rng(0).normal(size=X.shape)
    np.random.seed(0)
    first = np.random.random()
    np.random.seed(0)
    assert np.array_equal(f(X, random_1=noise), X + (0.5 + 0.1 * noise)) and np.random.random() == first


def test_the_graph_takes_the_numbers(tmp_path):
    text = node("return x + np.random.normal(0, 0.1, x.shape)")
    lifted = load(tmp_path, lift_random(text).text).f
    noise = np.random.default_rng(0).normal(size=X.shape)
    want = lifted(X, random_1=noise)
    graph = np2fx.trace(lifted, X, random_1=noise)
    got = graph(torch.from_numpy(X), random_1=torch.from_numpy(noise))
    assert np.array_equal(got.numpy(), want)
    other = torch.zeros(X.shape, dtype=torch.float64)
    assert np.array_equal(graph(torch.from_numpy(X), random_1=other).numpy(), X.astype("float64"))
    with pytest.raises(np2fx.TraceError) as caught:
        np2fx.trace(lifted, X)
    assert caught.value.findings[0].name == "random"
    converted = np2fx.convert(lifted)(torch.from_numpy(X), random_1=torch.from_numpy(noise))
    assert np.array_equal(converted.numpy(), want)


def test_a_method(tmp_path):
    text = (
        f"{HEAD}class Policy:\n    def __init__(self):\n        self.rng = np.random.default_rng(3)\n        self.sigma = 0.2\n\n"
        "    @np2fx.node\n    def act(self, x):\n        return x + self.rng.normal(0, self.sigma, x.shape)\n"
    )
    new, findings = np2fx.rewrite_source(text, random_as_input=True)
    assert not [f for f in findings if f.severity == "error"], findings
    a, b = (load(tmp_path, version).Policy() for version in (text, new))
    assert np.array_equal(a.act(X), b.act(X)) and np.array_equal(a.act(X), b.act(X))


REFUSED = {
    "loop": ("y = x.copy()\nfor i in range(3):\n    y = y + np.random.randn(3)\nreturn y", "in a loop"),
    "branch": ("if x.ndim == 2:\n    x = x + np.random.randn(3)\nreturn x", "in a branch"),
    "comprehension": ("return np.array([np.random.randn(3) for _ in range(4)]) + x", "comprehension"),
    "one side": ("y = np.random.randn(3) if x.ndim == 2 else 0\nreturn x + y", "one side"),
    "behind a return": ("if x.ndim == 1:\n    return x\nreturn x + np.random.randn(3)", "behind a return"),
    "size from values": ("n = int(x.sum())\nreturn np.random.randn(n)", "cannot be told"),
    "size of an element": ("return np.random.randn(int(x[0, 0])) + x", "cannot be told"),
    "size of a selection": ("y = x[x > 0]\nreturn y + np.random.randn(*y.shape)", "cannot be told"),
    "single number": ("return x + np.random.rand()", "single random number"),
    "single normal": ("return x + np.random.normal(0, 1)", "single random number"),
    "scale computed": ("s = np.abs(x).mean()\nreturn x + np.random.normal(0, s, x.shape)", "cannot be told"),
    "negative scale": ("return x + np.random.normal(0, -1, x.shape)", "raises an error"),
    "shuffle": ("y = x.copy()\nnp.random.shuffle(y)\nreturn y", "changes the generator or its argument"),
    "seed": ("np.random.seed(0)\nreturn x + np.random.randn(3)", "changes the generator or its argument"),
    "permutation of an array": ("return np.random.permutation(x * 1)", "cannot be told"),
    "choice of an array": ("return np.random.choice(x, size=3)", "computed in the node"),
    "rate that is an array": ("return x + np.random.poisson(x, size=x.shape)", "computed in the node"),
    "drawn place": ("y = x.copy()\ny[np.random.randint(0, 4, 2)] = 1\nreturn y", "place to write to"),
    "generator kept": ("rng = np.random.default_rng(0)\ny = helper(rng)\nreturn x + rng.normal(0, 1, x.shape) + y", "more than drawing"),
    "seed from values": ("rng = np.random.default_rng(int(x[0, 0]))\nreturn x + rng.normal(0, 1, x.shape)", "seed is computed"),
    "local import": ("from numpy.random import randn\nreturn x + randn(3)", "imported in the function"),
    "size from a local import": ("import math\nreturn x + np.random.randn(math.prod(x.shape[1:]))", "cannot be told"),
    "out": ("y = np.zeros(3)\nnp.random.default_rng(0).random(out=y)\nreturn x + y", "generator is made"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_lifted_says_why_and_stays(name):
    body, message = REFUSED[name]
    text = node(body)
    new, findings = np2fx.rewrite_source(text, random_as_input=True)
    assert new == text
    said = [f for f in findings if f.name == "random"]
    assert any(message in f.message and f.hint and f.line for f in said), findings


@pytest.mark.parametrize("size", ["size=None", "size: int | None = 3", "*, size: Optional[int] = 3"])
@pytest.mark.parametrize("name", ["size", "n"])
def test_sizes_that_may_be_none_are_single_numbers(size, name):
    text = f"import numpy as np\n\ndef use(x, {size}):\n    n = size\n    return x + np.random.normal(size={name})\n"
    new, findings = np2fx.rewrite_source(text, all_functions=True, random_as_input=True)
    assert "random_1" not in new and any("single random number" in f.message for f in findings)
    given = text.replace("None", "5").replace("Optional", "Final")
    assert "random_1" in np2fx.rewrite_source(given, all_functions=True, random_as_input=True)[0]


def test_helpers_and_callers_that_draw():
    helper = f"{HEAD}def noise(x):\n    return np.random.randn(3)\n\n\n" + node("return x + noise(x) + np.random.randn(3)")[len(HEAD) :]
    new, findings = np2fx.rewrite_source(helper, random_as_input=True)
    assert new == helper and any("`noise`" in f.message for f in findings)
    caller = f"{HEAD}@np2fx.node\ndef f(x):\n    return x + np.random.randn(3)\n\n\n@np2fx.node\ndef g(x):\n    return f(x) * 2\n"
    new, findings = np2fx.rewrite_source(caller, random_as_input=True)
    assert new == caller and any("`g`, another node" in f.message for f in findings)


def test_a_node_that_cannot_be_rewritten_keeps_its_draws_and_the_findings_their_lines():
    other = "\n\n@np2fx.node\ndef g(x):\n    return x + np.random.randn(3)\n"
    text = node("y = x + np.random.randn(3)\nz = 1\neval('y')\nreturn y") + other
    new, findings = np2fx.rewrite_source(text, random_as_input=True)
    assert text[text.index("def f") : text.index("def g")].removesuffix("@np2fx.node\n") in new
    assert "def g_random" in new and "def f_random" not in new
    (found,) = [f for f in findings if "eval" in f.message]
    assert text.splitlines()[found.line - 1].strip() == "eval('y')"


def test_twice_is_once_and_the_rest_keeps_its_bytes():
    text = node("# why\nreturn x + np.random.normal(0, 0.1, x.shape)  # noise").replace("\n", "\r\n") + "k = 'a'   # untouched\r\n"
    once, _ = np2fx.rewrite_source(text, random_as_input=True)
    assert np2fx.rewrite_source(once, random_as_input=True)[0] == once
    assert np2fx.rewrite_source(once, random_as_input=True, all_functions=True)[0] == once
    assert "\r\n" in once and "\n" not in once.replace("\r\n", "")
    assert "# why" in once and "# noise" in once and once.endswith("k = 'a'   # untouched\r\n")


def test_names_that_are_taken(tmp_path):
    taken = "random_1 = 3\n\n\ndef f_random():\n    return 1\n\n\n"
    text = HEAD + taken + node("return x * random_1 + np.random.randn(3)")[len(HEAD) :]
    new, _ = np2fx.rewrite_source(text, random_as_input=True)
    assert "random_2" in new and "def f_random_(" in new
    np.random.seed(0)
    want = load(tmp_path, text).f(X)
    np.random.seed(0)
    assert np.array_equal(load(tmp_path, new).f(X), want)


@pytest.mark.parametrize("top", [
    '"""Doc."""\n{}', "# -*- coding: utf-8 -*-\n{}", "#!/usr/bin/env python\n\n{}", "from __future__ import annotations\n\n{}",
    "try:\n    import json\nexcept ImportError:\n    json = None\n{}", "import os; {}", "from os import (\n    path,\n    sep,\n)\n{}",
])  # fmt: skip
def test_np2fx_is_imported_where_it_is_not(tmp_path, top):
    """Behind what has to stay at the top."""
    text = top.format("import numpy as np") + "\nfrom np2fx import node\n\n\n@node\ndef f(x):\n    return x + np.random.randn(3)\n"
    new, _ = np2fx.rewrite_source(text, random_as_input=True)
    assert "import np2fx\n" in new and new.startswith(top.partition("{}")[0])
    load(tmp_path, new).f(X)


def test_without_the_option_they_are_refused():
    text = node(LIFTED["normal"])
    new, findings = np2fx.rewrite_source(text)
    assert new == text and [f.name for f in findings if f.severity == "error"] == ["random"]


def test_command_line(tmp_path, capsys):
    path = tmp_path / "pre.py"
    path.write_text(node(LIFTED["normal"]))
    assert main(["rewrite", str(path)]) == 1
    assert "random_1" not in path.read_text()
    assert main(["rewrite", "--random-as-input", str(path)]) == 0
    assert "random_1" in path.read_text()
    capsys.readouterr()
