"""Specs in decorators that np2fx.node would not take are found in the source."""

from __future__ import annotations

import subprocess
import sys

import pytest
from np2fx.source.findings.check import check_module
from np2fx.source.reading.config import Config

from .test_rewrite import HEADER, rewritten

BAD = [
    ('x="float33[3]"', "'float33'", (5, 15)),
    ('x="float32[3"', "is not a spec", (5, 15)),
    ('x="float32[3] in [2, 1]"', "in order", (5, 15)),
    ('x="float32[3]", z="float32[3]"', "node has no parameter 'z'; it has self, x", (5, 31)),
    ('x={"k": ["int", "flot"]}', "'flot'", (5, 29)),
]


@pytest.mark.parametrize(("specs", "said", "place"), BAD, ids=[b[0] for b in BAD])
def test_bad_specs(specs, said, place):
    text = HEADER + f"@np2fx.node({specs})\ndef node(self, x):\n    return np.maximum(x, 0)\n"
    (found,) = check_module(text, "m.py", Config()).findings
    assert (found.name, found.line, found.column) == ("bad-spec", place[0], place[1])
    assert said in found.message
    new, findings = rewritten(text.removeprefix(HEADER))
    assert "bad-spec" in [f.name for f in findings]
    assert "torch" not in new


GOOD = ['x="float32[3]", mode="str", n=3', "x=SPEC", 'x={"k": ("float32[3]", 1)}', 'self="float"', 'args="float"']


@pytest.mark.parametrize("specs", GOOD)
def test_good_specs(specs):
    text = HEADER + f"SPEC = 'float32[3]'\n\n\n@np2fx.node({specs})\ndef node(self, x, mode=1, n=1, *args):\n    return np.maximum(x, 0)\n"
    assert [f.name for f in check_module(text, "m.py", Config()).findings] == []


def test_other_decorators_have_keywords_of_their_own():
    text = HEADER + "from leapp import annotate\n\n\n@annotate.method(name='anything')\ndef node(x):\n    return np.maximum(x, 0)\n"
    assert check_module(text, "m.py", Config()).findings == []


def test_the_grammar_is_read_without_torch():
    code = "import sys; from np2fx.codemod import rewrite; from np2fx.source.findings import check; "
    code += "assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
