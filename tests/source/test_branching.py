"""Branches on array values in rewritten files: which become `torch.where`, how that is written, which stay Python's."""

from __future__ import annotations

import textwrap

import pytest
from np2fx.codemod.rewrite import rewrite_source

HEADER = "import numpy as np\nimport np2fx\n\n\n"


def body_of(body, spec='x="float32[n]"', **options):
    """The rewritten body of `node(x, y, s, mode)`, and the findings but for its dialect."""
    text = f"{HEADER}@np2fx.node({spec})\ndef node(x, y=None, s=1.0, mode=''):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    new, findings = rewrite_source(text, "m.py", **options)
    again, _ = rewrite_source(new, "m.py", **options)
    assert again == new, "rewriting twice is not the same as once"
    return textwrap.dedent(new[new.index("\n", new.index("def node(")) + 1 :]), [f for f in findings if f.name != "numpy-on-torch"]


CHOICES = [
    # One variable.
    ("if np.sum(x) < 0:\n    x = -x\nreturn x\n", "x = torch.where(torch.sum(x) < 0, -x, x)\nreturn x\n"),
    (
        "peak = np.max(np.abs(x))\nif peak > 0:\n    x = x / peak\nreturn x\n",
        "peak = torch.max(torch.abs(x))\nx = torch.where(peak > 0, x / peak, x)\nreturn x\n",
    ),
    (
        "if x.mean() > 1:\n    z = x * 2\nelse:\n    z = x + 1\nreturn z\n",
        "z = torch.where(torch.mean(x) > 1, x * 2, x + 1)\nreturn z\n",
    ),
    (
        "m = x.mean()\nif m > 1:\n    z = x * 2\nelif m > 0:\n    z = x\nelse:\n    z = -x\nreturn z\n",
        "m = torch.mean(x)\nz = torch.where(m > 1, x * 2, torch.where(m > 0, x, -x))\nreturn z\n",
    ),
    ("m = x.mean()\nif m > 1:\n    m -= 1\nreturn m\n", "m = torch.mean(x)\nm = torch.where(m > 1, m - 1, m)\nreturn m\n"),
    # What the condition has computed can be computed again.
    ("if x.max() > 1:\n    x = x / x.max()\nreturn x\n", "x = torch.where(torch.max(x) > 1, x / torch.max(x), x)\nreturn x\n"),
    # Several, and variables that one arm alone knows.
    (
        "a = x.mean()\nb = x.std()\nif a > b:\n    t = a\n    a = b\n    b = t\nreturn a - b\n",
        "a = torch.mean(x)\nb = torch.sqrt(torch.var(x, correction=0))\ncondition = a > b\nt = a\na = torch.where(condition, b, a)\n"
        "b = torch.where(condition, t, b)\nreturn a - b\n",
    ),
    (
        "if x.mean() > 0:\n    d = x.std()\n    x = x * d\nreturn x\n",
        "d = torch.sqrt(torch.var(x, correction=0))\nx = torch.where(torch.mean(x) > 0, x * d, x)\nreturn x\n",
    ),
    # Returns.
    ("if x.mean() > 0:\n    return x\nreturn -x\n", "return torch.where(torch.mean(x) > 0, x, -x)\n"),
    (
        "if x.max() <= 0:\n    return x\nm = x.mean()\nreturn x - m\n",
        "m = torch.mean(x)\nreturn torch.where(torch.max(x) <= 0, x, x - m)\n",
    ),
    (
        "m = x.mean()\nif m > 1:\n    return x\nif m > 0:\n    return x * 2\nelse:\n    return -x\n",
        "m = torch.mean(x)\nreturn torch.where(m > 1, x, torch.where(m > 0, x * 2, -x))\n",
    ),
    # Ternaries.
    ("return x if x.mean() > 0 else -x\n", "return torch.where(torch.mean(x) > 0, x, -x)\n"),
    ("return (x if x.mean() > 0 else -x) * 2\n", "return torch.where(torch.mean(x) > 0, x, -x) * 2\n"),
    # Numbers that arithmetic makes the array's dtype.
    ("d = np.std(x)\nreturn x / (d if d > 0 else 1.0)\n",
     "d = torch.sqrt(torch.var(x, correction=0))\nreturn x / torch.where(d > 0, d, 1.0)\n"),
    (
        "d = np.std(x)\nif d == 0:\n    d = 1.0\nreturn x / d\n",
        "d = torch.sqrt(torch.var(x, correction=0))\nd = torch.where(d == 0, 1.0, d)\nreturn x / d\n",
    ),
    ("return x / max(x.std(), 1e-6)\n", "return x / torch.clamp(torch.sqrt(torch.var(x, correction=0)), min=1e-6)\n"),
    ("a = x.mean()\nb = x.std()\nreturn x * max(a, b)\n",
     "a = torch.mean(x)\nb = torch.sqrt(torch.var(x, correction=0))\nreturn x * torch.where(b > a, b, a)\n"),
    ("a = x.mean()\nb = x.std()\nreturn x * min(a, b)\n",
     "a = torch.mean(x)\nb = torch.sqrt(torch.var(x, correction=0))\nreturn x * torch.where(b < a, b, a)\n"),
    # Conditions.
    (
        "m = x.mean()\nif m > 0 and not m > 2:\n    x = -x\nreturn x\n",
        "m = torch.mean(x)\nx = torch.where(torch.logical_and(m > 0, torch.logical_not(m > 2)), -x, x)\nreturn x\n",
    ),
    (
        "m = x.mean()\nif 0 < m < 2 or np.isnan(m):\n    x = -x\nreturn x\n",
        "m = torch.mean(x)\nx = torch.where(torch.logical_or(torch.logical_and(0 < m, m < 2), torch.isnan(m)), -x, x)\nreturn x\n",
    ),
    ("if 2.0 in x:\n    x = -x\nreturn x\n", "x = torch.where(torch.any(torch.eq(x, 2.0)), -x, x)\nreturn x\n"),
    ("if x.any() and 2.0 not in x:\n    x = -x\nreturn x\n",
     "x = torch.where(torch.logical_and(torch.any(x), torch.logical_not(torch.any(torch.eq(x, 2.0)))), -x, x)\nreturn x\n"),
    # Inside what stays Python's.
    (
        "if mode == 'a':\n    if x.mean() > 0:\n        x = -x\nreturn x\n",
        "if mode == 'a':\n    x = torch.where(torch.mean(x) > 0, -x, x)\nreturn x\n",
    ),
    (
        "for _ in range(3):\n    if x.mean() > 0:\n        x = x - 1\nreturn x\n",
        "for _ in range(3):\n    x = torch.where(torch.mean(x) > 0, x - 1, x)\nreturn x\n",
    ),
    (
        "if mode == 'a':\n    pass\nelif x.mean() > 0:  # loud\n    x = -x\nreturn x\n",
        "if mode == 'a':\n    pass\nelse:\n    # loud\n    x = torch.where(torch.mean(x) > 0, -x, x)\nreturn x\n",
    ),
    (
        "if mode == 'a':\n    return -x\nelif x.mean() > 0:\n    return x * 2\nelse:\n    return x\n",
        "if mode == 'a':\n    return -x\nelse:\n    return torch.where(torch.mean(x) > 0, x * 2, x)\n",
    ),
    # New arrays may be written into.
    (
        "if x.mean() > 0:\n    z = x * 2\nelse:\n    z = -x\nz[0] = 1.0\nreturn z\n",
        "z = torch.where(torch.mean(x) > 0, x * 2, -x)\nz[0] = 1.0\nreturn z\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHOICES)
def test_branches_become_choices(before, after):
    new, findings = body_of(before)
    assert new == after
    assert findings == []


KEPT = [
    "if x.mean() > 0:\n    print(x)\nreturn x\n",  # an effect
    "if x.mean() > 0:\n    x = x / x[0]\nreturn x\n",  # may fail: no elements
    "if x.mean() > 0:\n    x = x / x.max()\nreturn x\n",  # may fail: no elements
    "if x.mean() > 0:\n    x = x + y\nreturn x\n",  # may fail: shapes
    "if x.mean() > 0:\n    z = x\nreturn x\n",  # a variable that may be unbound
    "if x.mean() > 0:\n    z = x * 2\nreturn z\n",
    "z = x\nif x.mean() > 0:\n    z = x * 2\nz[0] = 1.0\nreturn z\n",  # writes into the argument, or not
    "z = x\nif x.mean() > 0:\n    z = x * 2\nreturn x, z\n",  # the same array twice, or not
    "z = x\nif x.mean() > 0:\n    z = x > 1\nreturn z\n",  # another dtype
    "z = x\nif x.mean() > 0:\n    z = x.mean()\nreturn z\n",  # another shape
    "z = 1\nif x.mean() > 0:\n    z = x.mean()\nreturn z\n",  # a number
    "d = x.std()\nreturn d if d > 0 else 1.0\n",  # a number is handed out
    "d = x.std()\nif d == 0:\n    d = 1.0\nreturn d * 2\n",  # a number meets a number
    "d = x.std()\nif d == 0:\n    d = 2\nreturn np.ones(3, dtype=int) * d\n",  # a number is an integer to integers
    "if x.mean() > 0 and x[0] > 1:\n    x = -x\nreturn x\n",  # the right operand may fail
    "if x.mean() > 0:\n    return x\n",  # None
    "if x.mean() > 0:\n    return x, x\nreturn x\n",
    "try:\n    if x.mean() > 0:\n        x = -x\nexcept ValueError:\n    pass\nreturn x\n",
]


@pytest.mark.parametrize("body", KEPT)
def test_other_branches_stay_pythons(body):
    new, findings = body_of(body)
    assert "where" not in new
    assert "if " in new
    told = "try" in body
    assert [(f.name, f.severity) for f in findings] == ([] if told else [("data-dependent-branch", "note")])


@pytest.mark.parametrize("body", [
    "if x.ndim == 1:\n    x = -x\nreturn x\n",
    "if y is None:\n    x = -x\nreturn x\n",
    "x = -x if s > 1 else x\nreturn x\n",
])  # fmt: skip
def test_branches_on_other_things_are_not_told(body):
    new, findings = body_of(body)
    assert new == body
    assert findings == []


def test_of_unknown_rank_a_branch_stays():
    new, _ = body_of("if np.sum(x) < 0:\n    x = x / 2\nreturn x\n", spec="")
    assert new == "if npx.sum(x) < 0:\n    x = x / 2\nreturn x\n"


def test_comments_stay():
    new, _ = body_of("""\
        m = x.mean()
        # loud or not
        if m > 0:  # loud
            # softer
            x = x / 2  # by half
        else:
            x = x * 2  # twice
        if m > 1:
            return x  # enough

        # the rest
        d = x.std()  # deviation
        return x - d  # last
        """)
    assert new == textwrap.dedent("""\
        m = torch.mean(x)
        # loud or not
        # loud
        # softer
        # by half
        x = torch.where(m > 0, x / 2, x * 2)  # twice
        # enough
        # the rest
        d = torch.sqrt(torch.var(x, correction=0))  # deviation
        return torch.where(m > 1, x, x - d)  # last
        """)


def test_a_name_for_the_condition_is_a_new_one():
    new, _ = body_of("condition = x.mean()\na = x.std()\nif a > 0:\n    a = condition\n    condition = a * 2\nreturn a * condition\n")
    assert "_condition = a > 0\n" in new


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_stay(newline):
    body = "    a = x.mean()\n    b = a\n    if a > 0:\n        a = -a\n        b = a * 2\n    return a * b\n"
    text = f'{HEADER}@np2fx.node(x="float32[n]")\ndef node(x):\n{body}'
    new, _ = rewrite_source(text.replace("\n", newline).encode(), "m.py")
    lines = new.decode().split(newline)
    assert not any("\n" in line or "\r" in line for line in lines)
    at = lines.index("    condition = a > 0")
    assert lines[at + 1 : at + 3] == ["    a = torch.where(condition, -a, a)", "    b = torch.where(condition, a * 2, b)"]


def test_new_lines_take_the_line_end_of_the_first_line():
    text = f'{HEADER}# kept\r\n@np2fx.node(x="float32[n]")\ndef node(x):\n    return x[::-1]\n'
    new, _ = rewrite_source(text.encode(), "m.py")
    assert new.count(b"\r") == 1 and b"@np2fx.boundary()\n" in new


WRITERS = [
    "np.negative(z, z)", "np.add(z, 1, z)", "np.clip(z, 0, 1, z)", "np.cumsum(z, 0, None, z)", "np.round(z, 1, z)", "np.dot(x, x, z)",
    "np.add.accumulate(z, 0, None, z)", "z.clip(0, 1, z)", "z.round(1, z)", "z.take([0], 0, z)", "np.nan_to_num(z, False)",
    "np.sin(x, **{'out': z})", "np.negative(*[z, z])", "v = z[:]\nnp.sin(v, v)", "operator.iadd(z, 1)", "operator.setitem(z, 0, 1)",
    "helper(**dict(v=z))", "helper(v=z)", "helper(*[z])", "list(map(helper, [z]))", "list(map(np.negative, [z], [z]))",
]  # fmt: skip
"""Writes through one of two names."""


def after_a_choice(rest):
    text = HEADER.replace("import np2fx", "import operator\n\nimport np2fx") + "def helper(v):\n    np.negative(v, v)\n\n\n"
    body = textwrap.indent(f"z = -x if x.mean() > 0 else x\n{rest}\n", "    ")
    return rewrite_source(f'{text}@np2fx.node(x="float32[n]")\ndef node(x):\n{body}', "m.py")[0]


@pytest.mark.parametrize("write", WRITERS)
def test_a_branch_stays_where_a_write_shows_the_memory(write):
    assert "torch.where" not in after_a_choice(f"{write}\nreturn x")


@pytest.mark.parametrize("read", ["np.clip(z, 0, 1)", "np.round(z, 1)", "z.clip(0, 1)", "np.nan_to_num(z, True)"])
def test_what_writes_nothing_leaves_the_choice(read):
    assert "torch.where" in after_a_choice(f"{read}\nreturn x")


@pytest.mark.parametrize("question", ["z is x", "z is not x", "x in [z]", "id(z)"])
def test_a_branch_stays_where_identity_is_asked_for(question):
    assert "torch.where" not in after_a_choice(f"return {question}")
    assert "torch.where" in after_a_choice("return z is None")
