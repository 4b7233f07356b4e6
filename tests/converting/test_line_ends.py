"""Text with a comment, a line end or a backslash between any two tokens: what comes of it is Python, and means the same."""

from __future__ import annotations

import io
import itertools
import re
import tokenize
from pathlib import Path

import np2fx
import numpy as np
import pytest
import torch
from np2fx.codemod.rewrite import rewrite_source
from np2fx.source.reading.text import between

from . import programs
from .modules import module
from .test_convert import outcome

TEXT = Path(programs.__file__).read_text()
WAYS = {"comment": "  # ([{{.,:=*\u00e9 c{}\n    ", "newline": "\n    ", "backslash": " \\\n    "}
_WORDS = (tokenize.OP, tokenize.NAME, tokenize.NUMBER, tokenize.STRING)
_ENDS = (tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER)


def spread(text, way):
    """The text with more between its tokens: a backslash everywhere, the others in brackets."""
    lines, out, at, depth = text.splitlines(keepends=True), [], (1, 0), 0
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for n, (token, after) in enumerate(itertools.pairwise(tokens)):
        (line, column), (end, end_column) = at, token.end
        taken = lines[line - 1 : end]
        if taken:
            taken[-1] = taken[-1][:end_column]
            taken[0] = taken[0][column:]
        out.append("".join(taken))
        at = token.end
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if token.type in _WORDS and after.type not in _ENDS and (depth or way == "backslash"):
            out.append(WAYS[way].format(n))
    return "".join(out)


@pytest.fixture(scope="module", params=WAYS)
def spaced(request):
    text, name = spread(TEXT, request.param), f"programs_with_{request.param}"
    return module(text, name), text


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_converted(program, spaced):
    x = np.array([1.0, 4.0, 2.0, 3.0])
    found = vars(spaced[0]).get(program.__name__, program)
    assert outcome(np2fx.convert(found), torch.from_numpy(x.copy())) == outcome(found, x)


@pytest.mark.parametrize("exact", [False, True])
def test_rewritten(exact, spaced):
    new, findings = rewrite_source(spaced[1], "m.py", all_functions=True, exact=exact)
    assert new != spaced[1]
    compile(new, "new", "exec", dont_inherit=True)
    assert not [f for f in findings if "would not be Python" in f.message]
    comments = re.compile(r"c\d+\n")
    before, after = set(comments.findall(spaced[1])), set(comments.findall(new))
    assert after <= before and len(after) >= 0.97 * len(before)  # within a name that changes there is no place for one


@pytest.mark.parametrize(("text", "kept"), [
    ("", ""), (" )\n  ", " )"), (" \\\n  ", ""),
    (" ) \\\n )\n", " ) )"), ("  # a\n  ", "  # a\n  "), ("# \\\n", "# \\\n"), ("# a\n )  ", "# a\n )"),
    ("  # a\r  ", "  # a\r  "), (")\r\n", ")"),
])  # fmt: skip
def test_between(text, kept):
    assert between(text) == kept
