"""What NumPy's calls come out as where the facts decide: the text, and that it gives what NumPy gives, in value, shape and dtype."""

from __future__ import annotations

import np2fx
import numpy as np
import pytest

HEAD = "import numpy as np\nimport np2fx\n\nLOW, HIGH = 0.25, 0.5\n\n\n"
SPECS = "x='float32[n]', y='float64[n]', m='float64[n, 3]', k='int64[n]', q='float64[4]'"

FORMS = {
    "a norm": ("np.linalg.norm(m)", "torch.sqrt(torch.sum(torch.square(m)))"),
    "norms of rows": ("np.linalg.norm(m, axis=1)", "torch.sqrt(torch.sum(torch.square(m), dim=1))"),
    "bounds that are arrays": ("np.clip(y, -np.abs(y), q[0] + np.abs(y))", "torch.clamp(y, -torch.abs(y), q[0] + torch.abs(y))"),
    "a bound of ints": ("np.minimum(k + 1, len(x) - 1)", "torch.clamp(k + 1, max=len(x) - 1)"),
    "two arrays of ints": ("np.maximum(k, -k)", "torch.maximum(k, -k)"),
    "rounding": ("np.round(y)", "torch.round(y)"),
    "differences": ("np.diff(m, n=2, axis=0)", "torch.diff(m, n=2, dim=0)"),
    "an order": ("np.argsort(-x)", "torch.argsort(-x, stable=True)"),
    "counting": ("np.arange(len(x)) + k", "torch.arange(len(x)) + k"),
    "turning round": ("np.roll(m, 1, axis=0)", "torch.roll(m, 1, 0)"),
    "the identity": ("m[:3].T @ m[:3] + np.eye(3)", "m[:3].T @ m[:3] + torch.eye(3, dtype=torch.float64)"),
    "a product of vectors": ("np.dot(y, y)", "torch.dot(y, y)"),
    "a product of matrices": ("m.T.dot(m)", "torch.matmul(m.T, m)"),
    "an array as it is": ("np.asarray(y, dtype=float) * 2", "y * 2"),
    "an array in another dtype": ("np.asarray(x, dtype=np.float64)", "x.to(torch.float64)"),
    "a copy": ("np.array(x, dtype=np.float32)", "torch.clone(x)"),
    "numbers": ("y[:2] * np.array([1, -1.0])", "y[:2] * torch.tensor([1, -1.0], dtype=torch.float64)"),
    "numbers in the dtype of another": ("x[:2] * np.array([1, -1.0], dtype=x.dtype)", "x[:2] * torch.tensor([1, -1.0], dtype=x.dtype)"),
    "scalars and a number": ("np.array([q[0], 0.5])", "torch.stack([q[0], torch.tensor(0.5, dtype=torch.float64)])"),
    "scalars of two dtypes": ("np.array([q[0], x[0]])", "torch.stack([q[0], x[0].to(torch.float64)])"),
    "rows": ("np.array([[q[0], q[1]], [q[2], q[3]]])", "torch.stack([torch.stack([q[0], q[1]]), torch.stack([q[2], q[3]])])"),
    "a list to join": ("np.concatenate([[q[0]], y])", "torch.cat([torch.stack([q[0]]), y])"),
    "floats of two dtypes": ("np.concatenate([x, y])", "torch.cat([x, y])"),
    "a list that a loop makes": ("np.stack([y * i for i in range(2)])", "torch.stack([y * i for i in range(2)])"),
    "a scalar behind an array": ("np.append(y, q[0])", "torch.cat([y, torch.reshape(q[0], (-1,))])"),
    "two numbers": ("np.where(x > 0, LOW, HIGH)", "torch.where(x > 0, torch.tensor(LOW, dtype=torch.float64), HIGH)"),
    "two ints": ("np.where(x > 0, 1, -1)", "torch.where(x > 0, 1, -1)"),
    "a choice that is counted with": (
        "np.where(q[0] < 0, -1.0, 1.0) * y",
        "torch.where(q[0] < 0, torch.tensor(-1.0, dtype=torch.float64), 1.0) * y",
    ),
}


def rewritten(body, specs=SPECS, head=HEAD, dialect="torch"):
    names = ", ".join(s.split("=")[0].strip() for s in specs.split("', "))
    source = f"{head}@np2fx.node({specs})\ndef f({names}):\n    {body}\n"
    new, findings = np2fx.rewrite_source(source, dialect=dialect)
    assert dialect == "auto" or findings == [], findings
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    exec(source, before)
    exec(new, after)
    return new, before["f"], after["f"]


def inputs():
    rng = np.random.default_rng(3)
    return (rng.standard_normal(5).astype(np.float32), rng.standard_normal(5), rng.standard_normal((5, 3)),
            rng.integers(-4, 4, 5), rng.standard_normal(4))  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    call, wanted = FORMS[name]
    new, before, after = rewritten(f"return {call}")
    assert f"    return {wanted}\n" in new
    want, got = before(*inputs()), after(*inputs())
    assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("body", ["s = np.where(q[0] < 0, -1.0, 1.0)\n    s += 1\n    return s", "return np.where(q[0] < 0, -1.0, 1.0)"])
def test_arrays_without_axes_stay_arrays(body):
    new, before, after = rewritten(body, dialect="auto")
    assert "npx.where" in new
    want, got = before(*inputs()), after(*inputs())
    assert type(want) is type(got) is np.ndarray and want == got


def test_lengths_below_zero():
    new, before, after = rewritten("return np.arange(n)", specs="x='float32[3]', n='int'")
    assert "torch.arange(max(n, 0))" in new
    for n in (-2, 0, 3):
        np.testing.assert_array_equal(after(np.zeros(3, np.float32), n), before(np.zeros(3, np.float32), n))


def test_calls_keep_their_lines_and_comments():
    body = "return np.concatenate([\n        x,  # first\n        x * 2,\n    ])"
    new, *_ = rewritten(body)
    assert body.replace("np.concatenate", "torch.cat") in new


def test_shapes_in_texts():
    body = "a = '%s %d' % (m.shape, m.ndim)\n    b = f'{m.shape} {len(m)}'\n    return a, b, '{}'.format(m.shape), np.sum(m)"
    new, before, after = rewritten(body)
    assert "% (tuple(m.shape), m.ndim)" in new and "{tuple(m.shape)} {len(m)}" in new
    assert before(*inputs())[:3] == after(*inputs())[:3]


def test_rows_keep_their_lines():
    rows = "[\n            [q[0], q[1]],  # first\n            [q[2], q[3]],\n        ]"
    new, before, after = rewritten(f"return np.array(\n        {rows}\n    )")
    wanted = rows.replace("[q[0], q[1]]", "torch.stack([q[0], q[1]])").replace("[q[2], q[3]]", "torch.stack([q[2], q[3]])")
    assert f"return torch.stack(\n        {wanted}\n    )" in new
    np.testing.assert_array_equal(after(*inputs()), before(*inputs()))


def test_out_of_a_statement():
    new, before, after = rewritten("z = y * 2\n    np.clip(z, -0.5, 0.5, out=z)\n    np.maximum(z, y, out=z)\n    return z")
    assert "    torch.clamp(z, -0.5, 0.5, out=z)\n    npx.maximum(z, y, out=z)\n" in new
    np.testing.assert_array_equal(after(*inputs()), before(*inputs()))


def test_views_in_functions_that_write():
    new, before, after = rewritten("w = np.roll(m, 1, axis=0)\n    w[0] = q[:3]\n    return w, w[::-1].ravel()")
    assert "torch.flatten(torch.flip(w, (0,)))" in new
    for want, got in zip(before(*inputs()), after(*inputs()), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_helper_of_another_module_that_writes_into_its_own(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "own_arrays.py").write_text("import numpy as np\n\n\ndef spread(x):\n    y = np.zeros(3)\n    y[:2] = x[0]\n    return y\n")
    app = "import numpy as np\nimport np2fx\nfrom own_arrays import spread\n\n\n@np2fx.node(x='float64[3]')\ndef f(x):\n    y = spread(x)\n"
    (tmp_path / "app.py").write_text(app + "    y[0] = 1.0\n    return x[::-1] + y\n")
    from np2fx.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["rewrite", "app.py"]) == 0
    assert "@np2fx.boundary()\ndef f" in (tmp_path / "app.py").read_text()
