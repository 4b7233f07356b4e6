"""Every kind of finding that check says: code in which exactly it must be said at an exact range, and like code in which it must not.

The cases stand in `findings_cases/KIND.txt`, under a line `--- true` or `--- false`; « and » enclose the range. A case without a
decorator is a node by its last function.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from np2fx.source.findings.check import check_source
from np2fx.source.findings.kinds import KINDS

FOLDER = Path(__file__).parent / "findings_cases"
FILES = {  # what a whole file is like, in bytes: kind to (true, false)
    "syntax-error": (
        [b"def f(:\n", b"%matplotlib inline\nimport numpy\n", b"print 'numpy'\n", b"import numpy\nx = (1,\n", b"import numpy\n  y = 1\n"],
        [b"import numpy\n", b"", b"# numpy\n", b"x = [\n]\n", b"import numpy as np\nx = np.pi\n"],
    ),
    "encoding-error": (
        [b"# coding: no-such-codec\nimport numpy\n", b"import numpy\n\xff\n", b"x = '\xe9 numpy'\n", b"\xff\xfei\x00m\x00",
         b"# -*- coding: ascii -*-\n# numpy \xc3\xa9\n"],
        [b"# coding: utf-8\nimport numpy\n", b"# coding: latin-1\nx = '\xe9 numpy'\n", "x = 'é numpy'\n".encode(),
         b"\xef\xbb\xbfimport numpy\n", b"# coding: cp1252\nx = '\x80 numpy'\n"],
    ),
    "newer-syntax": (
        [b"import numpy\n" + rest for rest in (
            b"try:\n    pass\nexcept A, B:\n    pass\n", b"try:\n    pass\nexcept (A), B:\n    x = 1\n",
            b"for i in x:\n    try:\n        y\n    except A, B, C:\n        pass\n", b"try:\n    pass\nexcept* A, B:\n    pass\n",
            b"def f():\n    try:\n        pass\n    except a.A, b.B:\n        return 1\n")],
        [b"import numpy\n" + rest for rest in (
            b"try:\n    pass\nexcept (A, B):\n    pass\n", b"match 1:\n    case 1:\n        pass\n", b"if (n := 1):\n    pass\n",
            b"def f(a, /, b): ...\n", b"try:\n    pass\nexcept* (A, B):\n    pass\n")],
    ),
    "no-node": (
        [b"import numpy as np\n", b"import numpy as np\n\ndef f(x):\n    return np.sin(x)\n", b"from numpy import sin\nprint(sin(1))\n",
         b"import numpy as np\nimport np2fx\n", b"import numpy as np\n\n@other.node\ndef f(x):\n    return np.sin(x)\n"],
        [b"x = 1\n", b"", b"import numpy as np\nimport np2fx\n\n@np2fx.node\ndef f(x):\n    return x\n",
         b"import numpy as np\nfrom np2fx import node\n\n@node\ndef f(x):\n    return x\n",
         b"import math\n\ndef f(x):\n    return math.sin(x)\n"],
    ),
}  # fmt: skip


def cases():
    """(kind, "true" or "false", source with marks) of every file."""
    for path in sorted(FOLDER.glob("*.txt")):
        blocks = re.split(r"^--- (true|false)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        for must, source in zip(blocks[::2], blocks[1::2], strict=True):
            yield path.stem, must, source.strip("\n") + "\n"


CASES = list(cases())


def whole(source: str) -> str:
    """A case with its imports and its decorator."""
    if "@np2fx.node" not in source:
        head, last, rest = source.rpartition("def ")
        source = f"{head}@np2fx.node\n{last}{rest}"
    return "import numpy as np\nimport np2fx\n\n\n" + source


def ranges(source: str) -> tuple[str, list[tuple[int, int, int, int]]]:
    """The source without its marks, and the ranges that they enclose: line, column, end line, end column."""
    found, plain = [], ""
    for part in re.split("([«»])", source):
        if part in ("«", "»"):
            line, column = plain.count("\n") + 1, len(plain) - plain.rfind("\n")
            found.append((line, column))
        else:
            plain += part
    return plain, [(*a, *b) for a, b in zip(found[::2], found[1::2], strict=True)]


@pytest.mark.parametrize(("kind", "must", "source"), CASES, ids=[f"{k}-{m}-{n}" for n, (k, m, _) in enumerate(CASES)])
def test_finding(kind, must, source):
    """A true case says its kind at the marked ranges and nowhere else; a false case does not say it."""
    plain, expected = ranges(whole(source))
    compile(plain, kind, "exec")
    said = [(f.line, f.column, f.end_line, f.end_column) for f in check_source(plain) if f.name == kind]
    assert bool(expected) == (must == "true")
    assert said == expected


OF_FILES = [(kind, must, data) for kind, both in FILES.items() for must, some in zip(("true", "false"), both, strict=True) for data in some]


@pytest.mark.parametrize(("kind", "must", "data"), OF_FILES)
def test_finding_of_a_file(kind, must, data):
    assert (kind in {f.name for f in check_source(data)}) == (must == "true")


def test_every_kind_of_check_has_cases():
    counts = {}
    for kind, must, _ in CASES:
        counts[kind, must] = counts.get((kind, must), 0) + 1
    for kind, both in FILES.items():
        counts.update({(kind, m): len(some) for m, some in zip(("true", "false"), both, strict=True)})
    said = {k for k, v in KINDS.items() if v.stage == "check"}
    assert {k: v for k, v in counts.items() if v < 5} == {} and {k for k, _ in counts} == said
    assert len(counts) == 2 * len(said)
