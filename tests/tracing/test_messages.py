"""What a refusal says: the user's construct at its place, the cause, a way out; no names of np2fx's own."""

from __future__ import annotations

import ast
import importlib.util
import re
import textwrap

import np2fx
import numpy as np
import pytest
import torch
from np2fx.source.findings.check import check_source
from np2fx.source.findings.kinds import KINDS

INTERNAL = re.compile(r"Tensor\.__|<\w[^>]*>|generator'? object|internal error|np2fx_|Traced|object has no attribute|__index__")
REFUSED = {  # body, what stands before the function, the refused line, what is said, of the way out
    "an index of torch": ("t = torch.from_numpy(x)\nreturn [i for i in range(t.argmax())]", "import torch", "return", "a count or a bound",
                          "pass the number in"),
    "item": ("t = torch.from_numpy(x)\nreturn t * t.sum().item()", "import torch", "return", "`.item()`", "keep it a tensor"),
    "a text": ("return f'{x.sum()}'", "", "return", "Python value", "split the node"),
    "shapes": ("y = x * 2\nif x.sum() > 3:\n    return y\nreturn y[0]", "", "if x.sum() > 3:", "another float64 of shape (2,)",
               "keep the axes"),
    "dtypes": ("if x.sum() > 3:\n    return x\nreturn x.astype(int)", "", "if x.sum() > 3:", "another int64", ".astype"),
    "structures": ("if x.sum() > 3:\n    return x, x\nreturn x", "", "if x.sum() > 3:", "different structures",
                   "same number of arrays"),
    "a way that fails": ("if x.sum() > 3:\n    return x + np.random.rand(2)\nreturn x", "", "return x + np.random.rand(2)",
                         "one of its ways", ""),
    "an index that is caught": ("try:\n    return x[np.argmax(x[0])]\nexcept IndexError:\n    return x[0]", "", "return x[np.argmax(x[0])]",
                                "(an index)", "outside of try"),
    "function state": ("f.calls = getattr(f, 'calls', 0) + 1\nreturn x * f.calls", "", "f.calls =", "`f.calls` is changed", "pass in"),
    "class state": ("C.n += 1\nreturn x * C.n", "class C:\n    n = 0\n", "C.n += 1", "`C.n` is changed", "pass in"),
    "an iterator": ("y = x + 1\nreturn y * next(IT)", "import itertools\nIT = itertools.count()\n", "return", "`IT` is changed", "pass in"),
    "a clock": ("import datetime\ny = x + 1\nreturn y * datetime.datetime.now().microsecond", "", "return", "datetime", "pass in"),
    "a thread": ("with ThreadPoolExecutor(1) as ex:\n    return ex.submit(np.std, x).result()",
                 "from concurrent.futures import ThreadPoolExecutor", "return ex.submit", "thread", "without threads"),
    "a library's text": ("import string\nreturn string.Template('$a').substitute(a=x.sum())", "", "return string", "Python value", ""),
    "a lambda": ("return np.frompyfunc(lambda v: v * 2, 1, 1)(x)", "", "return", "np.frompyfunc", "other NumPy functions"),
    "unwritten memory": ("y = np.empty(3)\nreturn y + x[0, 0]", "", "y = np.empty(3)", "whatever the memory held", "np.zeros"),
}  # fmt: skip


def module(tmp_path, source, name="program"):
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def is_told_well(finding, made, source):
    """A place in a function of the user's file, a cause and a way out in the user's words."""
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    spans = [(min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", []))]), n.end_lineno) for n in functions]
    assert finding.path == made.__file__ and any(first <= finding.line <= last for first, last in spans), str(finding)
    assert finding.message and finding.hint, str(finding)
    assert not INTERNAL.search(f"{finding.message} {finding.hint}"), str(finding)


@pytest.mark.parametrize(("body", "before", "line", "cause", "way_out"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_the_construct_the_cause_and_a_way_out(tmp_path, body, before, line, cause, way_out):
    source = f"import numpy as np\n{before}\n\n\ndef f(x):\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\n"
    made = module(tmp_path, source)
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(made.f, np.array([[4.0, 1.0], [2.0, 3.0]]))
    (finding,) = refused.value.findings
    is_told_well(finding, made, source)
    assert source.split("\n")[finding.line - 1].strip().startswith(line)
    assert cause in finding.message and way_out in finding.hint


EXAMPLES = [k for k in KINDS.values() if k.stage != "verify" and "def " in k.bad and "scipy" not in k.bad]


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda k: k.name)
def test_the_examples_of_the_kinds(tmp_path, kind):
    """Whatever refuses a bad example tells it well; following the hint, as the good example does, converts and traces."""
    for source, good in ((kind.bad, False), (kind.good, True)):
        if any(f.name in ("syntax-error", "newer-syntax", "bad-spec", "encoding-error") for f in check_source(source)):
            continue
        made = module(tmp_path, source, f"{'good' if good else 'bad'}_{kind.name.replace('-', '_')}")
        name = [n.name for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)][-1]
        node = getattr(made, name)
        rank = 1 if '"float32[7]"' in source or '"float32[3]"' in source or "resample" in name or "smooth" in name else 2
        size = 7 if '"float32[7]"' in source else 3
        samples = [np.ones((size,) * rank, np.float32) for _ in range(node.__code__.co_argcount)]
        for way in (lambda node=node, samples=samples: np2fx.convert(node)(*map(torch.from_numpy, samples)),
                    lambda node=node, samples=samples: np2fx.trace(node, *samples)):  # fmt: skip
            try:
                way()
            except (np2fx.ConversionError, np2fx.TraceError) as refused:
                assert not good, str(refused)
                for finding in refused.findings:
                    is_told_well(finding, made, source)
            except Exception:
                assert not good
