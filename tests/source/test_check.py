"""np2fx check on text: findings at exact places, severities by what is known, targets, forms of source."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import np2fx
import numpy as np
import pytest
from np2fx.source.findings.check import check_paths, check_source
from np2fx.source.reading.config import Config

CASES = Path(__file__).parents[1] / "conformance" / "data"


def said(body, signature="x", spec="", imports="", **options):
    """(name, severity, text) of the findings of one node function."""
    lines = ["import numpy as np", "import np2fx", *filter(None, [imports]), f"@np2fx.node({spec})", f"def f({signature}):"]
    source = "\n".join(lines) + "\n" + textwrap.indent(textwrap.dedent(body), "    ")
    rows = source.split("\n")
    return [(f.name, f.severity, rows[f.line - 1][f.column - 1 : f.end_column - 1]) for f in check_source(source, **options)]


FINDINGS = {
    # calls
    "unmapped": ("return np.busday_count(x, x)", [("unmapped-function", "error", "np.busday_count(x, x)")]),
    "random": ("return x + np.random.rand(3)", [("random", "error", "np.random.rand(3)")]),
    "random-generator": ("rng = np.random.default_rng(0)\nreturn x + rng.normal(size=3)", [("random", "error", "rng.normal(size=3)")]),
    "random-stdlib": ("import random\nreturn x * random.random()", [("random", "error", "random.random()")]),
    "print": ("print(x)\nreturn x", [("side-effect", "warning", "print(x)")]),
    "open": ("open('f')\nreturn x", [("side-effect", "error", "open('f')")]),
    "clock": ("import time\nt = time.time()\nreturn x * t", [("side-effect", "error", "time.time()")]),
    "refused-argument": ("return x.astype(int, casting='same_value')", [("unsupported-argument", "error", "'same_value'")]),
    "refused-mode": ("return np.pad(x, 1, mode=lambda *a: a)", [("opaque-call", "error", "lambda *a: a")]),
    "refused-array": ("return np.bincount(x, minlength=x.argmax())", [("data-dependent-shape", "error", "x.argmax()")]),
    "unknown-keyword": ("return np.sum(x, colour=1)", [("unsupported-argument", "error", "1")]),
    # indexing
    "scalar-unknown-rank": ("return x[0] * 2", [("scalar-index", "warning", "x[0]")]),
    "scalar-of-result": ("y = np.sqrt(x)\nreturn y[..., 0], y[0, 1]", [("scalar-index", "warning", "y[0, 1]")]),
    "reversed": ("return x[:, ::-1]", [("reversed-slice", "error", "x[:, ::-1]")]),
    "mask": ("return x[np.isnan(x)]", [("data-dependent-shape", "error", "x[np.isnan(x)]")]),
    "mask-by-name": ("m = x > 0\nk = ~m & (x < 3)\nreturn x[k]", [("data-dependent-shape", "error", "x[k]")]),
    "nonzero": ("return np.flatnonzero(x)", [("data-dependent-shape", "error", "np.flatnonzero(x)")]),
    "where-one": ("return np.where(x > 0)", [("data-dependent-shape", "error", "np.where(x > 0)")]),
    "slice-bound": ("return x[: np.argmax(x)]", [("data-dependent-shape", "error", "np.argmax(x)")]),
    # leaving arrays
    "item": ("return x * x.max().item()", [("python-value", "error", "x.max().item()")]),
    "tolist": ("return x.tolist()", [("python-value", "error", "x.tolist()")]),
    "int": ("n = int(x.sum())\nreturn np.zeros(n)", [("python-value", "error", "int(x.sum())")]),
    "math": ("import math\nreturn math.sqrt(np.sum(x))", [("python-value", "error", "math.sqrt(np.sum(x))")]),
    "range": ("return [i for i in range(x.argmax())]", [("python-value", "error", "range(x.argmax())")]),
    "list-index": ("names = [1, 2, 3]\nreturn names[x.argmax()]", [("python-value", "error", "x.argmax()")]),
    "format": ("return float(f'{x.sum():.3f}')", [("python-value", "error", "float(f'{x.sum():.3f}')")]),
    "if": ("if np.any(x > 0):\n    return x\nreturn -x", [("data-dependent-branch", "error", "np.any(x > 0)")]),
    "while": ("while np.max(x) > 1:\n    x = x / 2\nreturn x", [("data-dependent-branch", "error", "np.max(x) > 1")]),
    "conditional": ("return x if x.sum() > 0 else -x", [("data-dependent-branch", "error", "x.sum() > 0")]),
    "assert": ("assert np.all(x > 0)\nreturn x", [("data-dependent-branch", "error", "np.all(x > 0)")]),
    "not": ("return not np.any(x)", [("data-dependent-branch", "error", "np.any(x)")]),
    "and": ("y = np.any(x) and True\nreturn y", [("data-dependent-branch", "error", "np.any(x)")]),
    "chained": ("return 0 < x < 1", [("data-dependent-branch", "error", "0 < x < 1")]),
    "min": ("return min(x.sum(), 3)", [("data-dependent-branch", "error", "min(x.sum(), 3)")]),
    "comprehension-if": ("return [1 for i in range(3) if x.sum() > i]", [("data-dependent-branch", "error", "x.sum() > i")]),
    "bare-flag": ("if x:\n    return 1\nreturn 2", [("data-dependent-branch", "warning", "x")]),
    "for": ("s = 0\nfor v in x:\n    s = s + v\nreturn s", [("element-iteration", "error", "x")]),
    "sum": ("return sum(x)", [("element-iteration", "error", "x")]),
    "enumerate": ("return [i for i, v in enumerate(x)]", [("element-iteration", "error", "x")]),
    "star": ("return np.stack([*x])", [("element-iteration", "error", "x")]),
    "numpy-scalar": ("return x * np.float32(2)", [("numpy-scalar", "warning", "np.float32(2)")]),
    "object": ("return np.array(x, dtype=object)", [("object-dtype", "error", "object")]),
    # memory
    "in-place": ("x -= 1\nreturn x", [("mutation", "warning", "x")]),
    "assignment": ("x[0] = 1\nreturn x", [("mutation", "warning", "x")]),
    "through-view": ("y = x.reshape(-1)\ny[0] = 1\nreturn x", [("mutation", "warning", "y")]),
    "out": ("np.sin(x, out=x)\nreturn x", [("mutation", "warning", "x")]),
    "sort": ("x.sort()\nreturn x", [("mutation", "warning", "x")]),
    "ufunc-at": ("np.add.at(x, [0], 1)\nreturn x", [("mutation", "warning", "x")]),
    "view": ("y = x * 1\nz = y.T\nz += 1\nreturn y", [("aliasing", "warning", "z")]),
    "alias": ("y = x * 1\nz = y\nz[0] = 1\nreturn y", [("aliasing", "warning", "z")]),
    "empty": ("return np.empty(3) + x", [("uninitialised-memory", "error", "np.empty(3)")]),
    "where-without-out": ("return np.log(x, where=x > 0)", [("uninitialised-memory", "error", "np.log(x, where=x > 0)")]),
    # dtypes
    "longdouble": ("return x.astype('longdouble')", [("unsupported-dtype", "error", "'longdouble'")]),
    "big-endian": ("return np.zeros(3, dtype='>f4') + x", [("unsupported-dtype", "error", "'>f4'")]),
}


@pytest.mark.parametrize(("body", "expected"), FINDINGS.values(), ids=FINDINGS)
def test_finding(body, expected):
    assert said(body) == expected


CLEAN = {
    "shape-branch": "if x.shape[0] > 2 and x.ndim == 2:\n    return x\nreturn -x",
    "len": "n = len(x)\nif n % 2:\n    return x[: n // 2]\nreturn x",
    "none": "if x is None:\n    return np.zeros(3)\nreturn x",
    "isinstance": "if isinstance(x, np.ndarray) and hasattr(x, 'shape'):\n    return x\nreturn np.asarray(x)",
    "float-of-shape": "n, c = x.shape\nreturn x * float(1.0 / c)",
    "loop-over-range": "y = x * 1\nfor i in range(x.shape[0]):\n    y = y + i\nreturn y",
    "loop-over-literals": "return np.stack([x * k for k in (1, 2, 3)])",
    "copy-then-write": "y = x.copy()\ny[y < 0] = 0\ny += 1\nreturn y",
    "fresh-reshape": "y = np.zeros(6).reshape(2, 3)\ny[0] = 1\nreturn x + y",
    "fill-zeros": "out = np.zeros_like(x)\nout[1:] = x[:-1]\nreturn out",
    "filled-empty": "out = np.empty_like(x)\nout[:] = x\nreturn out",
    "where": "return np.where(x > 0, x, 0)",
    "masked-assignment": "y = np.array(x)\ny[np.isnan(y)] = 0.0\nreturn y",
    "reduction": "return (x - np.mean(x)) / (np.std(x) + 1e-6)",
    "index-array": "order = np.argsort(x)\nreturn x[order]",
    "slices": "return x[..., 1:], x[None], x[:, None], x[::2]",
    "constant-index": "table = np.arange(10)\nreturn x * table[3]",
    "local-list": "parts = []\nfor k in range(3):\n    parts.append(x * k)\nreturn np.stack(parts)",
    "dtype-branch": "if x.dtype == np.float32:\n    return x\nreturn x.astype(np.float32)",
    "default-spelled-out": "return x.astype(np.float32, casting='unsafe')",
    "errstate": "with np.errstate(all='ignore'):\n    return x / 2",
    "raise-with-value": "if x.ndim > 2:\n    raise ValueError(f'bad {x}')\nreturn x",
    "in-strings": "if 'a' in ['a', 'b']:\n    return x\nreturn -x",
}


@pytest.mark.parametrize("body", CLEAN.values(), ids=CLEAN)
def test_clean(body):
    assert said(body) == []


@pytest.mark.parametrize(
    ("signature", "spec", "body", "expected"),
    [
        ("x", "x='float32[7]'", "return x[0]", [("scalar-index", "error", "x[0]")]),
        ("x", "x='float32[4, 7]'", "return x[0]", []),
        ("x", "x='float32[4, 7]'", "return x[0, 1]", [("scalar-index", "error", "x[0, 1]")]),
        ("x", "x='float32[4, 7]'", "return x[0][1]", [("scalar-index", "error", "x[0][1]")]),
        ("x", "x='float32[3]'", "a, b, c = x\nreturn a", [("scalar-index", "error", "a, b, c")]),
        ("x", "x='float32[3, 3]'", "a, b, c = x\nreturn a", []),
        ("x", "x='float32[3, 3]'", "return x.sum(axis=0)[0]", [("scalar-index", "error", "x.sum(axis=0)[0]")]),
        ("x", "x='float32[7]'", "y = np.where(x > 0, x, 0)\nreturn y[0]", [("scalar-index", "error", "y[0]")]),
        ("x, n", "x='float32[7]', n='int'", "if n > 3:\n    return x * float(n)\nreturn x", []),
        ("x, n: int, flag=False", "", "if flag or n > 3:\n    return x\nreturn -x", []),
        ("x, mode='same'", "", "if mode == 'same':\n    return x\nreturn -x", []),
        ("x, bias=None", "", "if bias is not None:\n    x = x + bias\nreturn x", []),
        ("x: 'np.ndarray', cfg: dict", "", "return x * cfg['scale']", []),
        ("obs", "", "return np.concatenate([obs['a'], obs['b']])", []),
        ("obs", "", "for name, v in obs.items():\n    print(name)\nreturn 1", [("side-effect", "warning", "print(name)")]),
        ("cfg, x", "", "if cfg.flag:\n    return x\nreturn -x", []),
        ("x", "x='float32[3]'", "return x - np.array([1.0, 2.0, 3.0])", [("float64-promotion", "note", "x - np.array([1.0, 2.0, 3.0])")]),
        ("x", "x='float32[3]'", "return x - 1.0 + np.ones(3, dtype=np.float32)", []),
    ],
)
def test_declared(signature, spec, body, expected):
    assert said(body, signature, spec) == expected


def test_annotations():
    imports = "from jaxtyping import Float32\nfrom numpy.typing import NDArray"
    assert said("return x[0]", 'x: Float32[np.ndarray, "7"]', imports=imports) == [("scalar-index", "error", "x[0]")]
    assert said("return x[0]", 'x: Float32[np.ndarray, "batch 7"]', imports=imports) == []
    assert said("return x[0]", "x: NDArray[np.float32] | None", imports=imports) == [("scalar-index", "warning", "x[0]")]
    assert said("return x[0]", "x: list[float]", imports=imports) == []


def test_opaque_calls():
    scipy = "from scipy.spatial.transform import Rotation as R"
    assert said("return R.from_quat(x).as_matrix()", imports=scipy) == [("opaque-call", "error", "R.from_quat(x)")]
    assert said("return resize(x, 3)", imports="from some_library import resize") == [("opaque-call", "warning", "resize(x, 3)")]
    numba = "import numba\n@numba.njit\ndef fast(x):\n    return x\n"
    vision = "from torchvision.ops import boxes, nms"  # torch, to whoever calls it: it takes tensors alone
    assert said("return boxes.batched_nms(x, x, x, 0.5), nms(x, x, 0.5)", imports=vision) == []
    assert said("return fast(x)", imports=numba) == [("opaque-call", "error", "fast(x)")]
    assert said("import torch\nreturn torch.from_numpy(x).numpy()") == []


def test_effects_on_what_outlives_the_call():
    assert said("HISTORY.append(x)\nreturn x", imports="HISTORY = []") == [("side-effect", "error", "HISTORY.append(x)")]
    assert said("global N\nN = N + 1\nreturn x", imports="N = 0") == [("side-effect", "error", "N")]
    assert said("TABLE[0] = 1\nreturn x", imports="TABLE = np.zeros(3)") == [("side-effect", "error", "TABLE")]
    method = """
        import np2fx
        class Policy:
            @np2fx.node
            def act(self, x):
                self.last = x
                self.log.append(x)
                y = self.mean + x
                return y
    """
    found = check_source(textwrap.dedent(method))
    assert [(f.name, f.severity, f.line) for f in found] == [("side-effect", "error", 6), ("side-effect", "error", 7)]


def test_helpers_are_walked_with_what_they_are_called_with():
    source = """
        import numpy as np
        import np2fx
        def head(v, n):
            if n > 2:
                return v[0]
            return v
        def unused(v):
            return np.random.rand()
        @np2fx.node(x="float32[7]")
        def f(x):
            return head(x, 3) + head(x.shape, 1)[0]
    """
    found = check_source(textwrap.dedent(source))
    assert [(f.name, f.severity, f.line) for f in found] == [("scalar-index", "error", 6)]


def test_regions():
    source = """
        import numpy as np
        from leapp import annotate
        def run(raw):
            if raw[0] > 0:
                print("outside")
            state = annotate.input_tensors("pre", {"state": raw})
            y = state[::-1]
            annotate.output_tensors("pre", {"y": y})
    """
    assert [(f.name, f.line) for f in check_source(textwrap.dedent(source))] == [("reversed-slice", 8)]


def test_recursion_and_loops_end():
    source = """
        import numpy as np
        import np2fx
        def walk(x, n):
            return x if n == 0 else walk(x * 2, n - 1)
        @np2fx.node
        def f(x):
            while True:
                x = walk(x, 3)
                for i in range(10):
                    x = [x, x][0]
            return x
    """
    assert check_source(textwrap.dedent(source)) == []


@pytest.mark.parametrize(
    ("body", "np2fx", "leapp"),
    [
        ("return x[::-1]", [], ["reversed-slice"]),
        ("x += 1\nreturn x", [], ["mutation"]),
        ("return x * np.float32(2)", [], ["numpy-scalar"]),
        ("return float(x.sum())", [], ["python-value"]),
        ("return np.zeros(int(x.sum()))", [], ["python-value"]),
        ("return np.random.rand(3) + x", ["random"], ["random"]),
        ("return np.linalg.norm(x)", [], ["unmapped-function"]),
        ("return np.clip(x, 0, 1)", [], []),
    ],
)
def test_targets(body, np2fx, leapp):
    assert [n for n, _, _ in said(body, target="np2fx")] == np2fx
    found = said(body, target="leapp")
    assert [n for n, _, _ in found] == leapp and all(severity == "error" for _, severity, _ in found)


def test_places_count_characters_from_one():
    found = said("é = 'ü日'; y = x[::-1]\nreturn y")
    assert found == [("reversed-slice", "error", "x[::-1]")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines(newline):
    source = "import numpy as np\nimport np2fx\n\n\n@np2fx.node\ndef f(x):\n    return x[::-1]\n".replace("\n", newline)
    (found,) = check_source(source.encode())
    assert (found.line, found.column) == (7, 12)


@pytest.mark.parametrize("case", json.loads((CASES / "source_forms.json").read_text()), ids=lambda c: c["id"])
def test_forms_of_source(case):
    """Whatever stands in a file: findings or none, never an exception."""
    data = ast.literal_eval(case["bytes_repr"])
    try:
        compile(data, "case", "exec")
        expected = set()
    except SyntaxError:
        expected = {"newer-syntax", "syntax-error"}
    found = {f.name for f in check_source(data, all_functions=True)}
    assert found & {"newer-syntax", "syntax-error"} == found & expected and bool(found & expected) == bool(expected)


def test_a_relative_np_is_not_numpy():
    source = "from . import np_helpers as np\nimport np2fx\n@np2fx.node\ndef f(x):\n    return np.random.rand(x)\n"
    assert check_source(source) == []


@pytest.mark.parametrize(
    "data", [b"\x00", b"import numpy\n\xff", b"(" * 300 + b"numpy", b"\xff\xfei\x00", b"def f(:", b"    x = 1", b"'''numpy"]
)
def test_what_is_not_python(data):
    (found,) = check_source(data)
    assert found.name in ("syntax-error", "encoding-error") and found.severity == "error"


def test_newer_syntax_without_a_sign_of_a_node_is_a_warning():
    newer = "import numpy as np\ntry:\n    pass\nexcept A, B:\n    pass\n"
    assert [f.severity for f in check_source(newer)] == ["warning"]
    assert [f.severity for f in check_source(newer + "import np2fx\n@np2fx.node\ndef f(x): pass\n")] == ["error"]


@pytest.mark.parametrize("name", ["variants", "reports"])
def test_every_case_can_be_checked(name):
    for case in json.loads((CASES / f"{name}.json").read_text()):
        for target in ("any", "np2fx", "leapp"):
            check_source(case["code"], case["id"], all_functions=True, target=target)


def test_paths(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.np2fx]\nnodes = ["pre.py:norm*"]\nper-file-ignores = { "post.py" = ["NX2"] }\n')
    (tmp_path / "pre.py").write_text("import numpy as np\ndef normalize(x):\n    return x[::-1]\n")
    (tmp_path / "post.py").write_text("import numpy as np\nimport np2fx\n@np2fx.node\ndef f(x):\n    return x[::-1] + np.random.rand()\n")
    (tmp_path / "other.py").write_text("x = = 1\n")
    checked = check_paths([str(tmp_path)])
    assert [(Path(f.path).name, f.name) for f in checked.findings] == [("post.py", "random"), ("pre.py", "reversed-slice")]
    assert (checked.files, checked.nodes) == (3, 2)


def test_select_and_ignore():
    source = "import numpy as np\nimport np2fx\n@np2fx.node\ndef f(x):\n    return x[::-1] + np.random.rand()\n"
    assert [f.code for f in check_source(source, config=Config(select=("NX1",)))] == ["NX103"]
    assert [f.code for f in check_source(source, config=Config(ignore=("random",)))] == ["NX202"]


def test_the_static_half_imports_neither_torch_nor_numpy():
    code = """
        import sys
        import np2fx
        from np2fx.cli import main
        np2fx.check_source("import numpy as np\\nimport np2fx\\n@np2fx.node\\ndef f(x):\\n    return np.sum(x)[::-1]\\n")
        main(["rules", "numpy.a*"]), main(["explain", "numpy.add"]), main(["explain", "NX201"]), main(["check", "--help"])
        loaded = [m for m in ("torch", "numpy", "hypothesis", "libcst") if m in sys.modules]
        sys.exit(", ".join(loaded) or 0)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_call_of_a_helper_has_memory_of_its_own():
    source = """
        import numpy as np
        import np2fx
        def make(x):
            return x * 2
        def same(x):
            return x
        @np2fx.node
        def f(x):
            a, b = make(x), make(x)
            a[0] = 1
            c = same(b)
            c[0] = 1
            return a + b
    """
    assert [(f.name, f.line) for f in check_source(textwrap.dedent(source))] == [("aliasing", 13)]


def test_a_helper_called_at_import_is_still_checked():
    source = """
        import numpy as np
        import np2fx
        def table(n):
            return np.random.rand(3)
        TABLE = table(3)
        @np2fx.node
        def f(x):
            return x * table(3)
    """
    assert [(f.name, f.line) for f in check_source(textwrap.dedent(source))] == [("random", 5)]


WAYS = {
    "norm": ("n = np.linalg.norm(x)\nif n < 1e-8: return np.zeros(3, np.float32)\nreturn x / n", []),
    "early-zeros": ("m = x > 0\nif not m.any(): return np.zeros(4, int)\nreturn np.array([m.argmax(), 1, 2, 3])", []),
    "bounded-while": ("i = 0\nwhile i < 4 and np.abs(x).max(initial=0) > 0.5: x = x / 2; i += 1\nreturn x, i", []),
    "ternary": ("return x if x[0] > 0 else -x", []),
    "raises": ("assert x[0] > 0\nif x[1] < 0: raise ValueError('no')\nreturn x", []),
    "chained": ("return 0 < x[0] < 1, max(x[0], x[1]), any(v > 0 for v in x)", []),
    "cast-later": ("if x[0] > 0: y = x.astype(np.float64)\nelse: y = x\nreturn y.astype(np.float32)", []),
    "same-mode": ("if x[0] > 0: return x\nif k == 2: return x\nreturn x[None]", []),
    "numbers": ("return float(x[0]) * x, x[0].item() * x, int(x[1]), bool(x.any()), math.sqrt(x[0]) * x", []),
    "list": ("return x.tolist()", []),
    "another-dtype": ("if x[0] > 0: return x.astype(np.float64)\nreturn x", ["x[0] > 0"]),
    "another-dtype-by-name": ("if x[0] > 0: y = x.astype(np.float64)\nelse: y = x\nreturn y", ["x[0] > 0"]),
    "another-rank": ("return x if x.sum() > 0 else x.sum()", ["x.sum() > 0"]),
    "nothing": ("if x[0] > 0: return x", ["x[0] > 0"]),
    "none-by-name": ("y = None\nif x[0] > 0: y = x\nreturn y", ["x[0] > 0"]),
    "texts": ("return 'up' if x[0] > 0 else 'down'", ["x[0] > 0"]),
    "lengths": ("if x[0] > 0: return x, x\nreturn x, x, x", ["x[0] > 0"]),
    "count": ("for i in range(int(x[0])): x = x + 1\nreturn x", ["int(x[0])"]),
    "size": ("return np.zeros(int(x.max()))", []),
    "count-of-points": ("return np.linspace(0, 1, int(x.max()))", ["int(x.max())"]),
    "bound": ("return x[:int(x.argmax())]", []),
    "step": ("return x[::1 + int(x.argmax())]", ["1 + int(x.argmax())"]),
    "key": ("return [1.0, 2.0][int(x[0])]", ["int(x[0])"]),
    "rounded": ("return round(float(x[0]), 2)", ["float(x[0])"]),
}


@pytest.mark.parametrize(("body", "found"), WAYS.values(), ids=WAYS)
def test_what_is_said_to_np2fx_of_branches_and_numbers(body, found):
    given = said(body, "x, k=2", 'x="float32[3]"', "import math", target="np2fx")
    assert [text for _, _, text in given] == found and all(severity == "note" for _, severity, _ in given)  # rewrite takes them


@pytest.mark.parametrize(("body", "found"), WAYS.values(), ids=WAYS)
def test_what_is_said_to_np2fx_is_what_trace_refuses(body, found, tmp_path):
    path = tmp_path / "branches.py"
    path.write_text("import math\nimport numpy as np\ndef f(x, k=2):\n" + textwrap.indent(body, "    ") + "\n")
    spec = importlib.util.spec_from_file_location("branches", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        np2fx.trace(module.f, np.array([0.5, 0.2, 0.1], np.float32))
    except np2fx.TraceError:
        assert found
    else:
        assert not found


def test_numbers_that_step_along_a_count_are_counts():
    body = "i, out = 0, []\nwhile i + n <= len(x):\n    out.append(x[i:i + n] * np.hanning(n))\n    i += hop\nreturn np.stack(out)"
    for target in ("np2fx", "any"):
        assert not [name for name, _, _ in said(body, "x, n, hop", target=target) if name == "data-dependent-branch"]


def test_containers_of_specs():
    found = said("if xs[1][0] > 0: return xs[0] * o['n']\nxs[0][1] = 2\nreturn xs[1]", "xs, o",
                 'xs=["float32[3]", "float32[3]"], o={"n": "int"}')  # fmt: skip
    assert [(n, t) for n, _, t in found] == [
        ("scalar-index", "xs[1][0]"), ("data-dependent-branch", "xs[1][0] > 0"), ("mutation", "xs[0]"),
    ]  # fmt: skip
