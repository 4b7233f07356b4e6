"""Generators in files: rewritten where they stand, their `yield` kept."""

from __future__ import annotations

import numpy as np

from .test_rewrite import rewritten, run

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_a_generator_in_a_node():
    new, findings = rewritten('''
        @np2fx.node(x="float32[n, 3]")
        def node(x):
            def halves():
                for r in x:
                    yield np.maximum(r, 1) / 2
            return np.stack(list(halves()))
    ''')  # fmt: skip
    assert not [f for f in findings if f.severity == "error"]
    assert "yield npx.maximum(r, 1) / 2" in new
    assert np.array_equal(run(new)(X), np.maximum(X, 1) / 2)


def test_a_helper_that_is_a_generator():
    new, findings = rewritten('''
        def halves(x):
            for r in x:
                yield np.maximum(r, 1) / 2

        @np2fx.node(x="float32[n, 3]")
        def node(x):
            return np.stack([*halves(x)])
    ''')  # fmt: skip
    assert not [f for f in findings if f.severity == "error"]
    assert np.array_equal(run(new)(X), np.maximum(X, 1) / 2)
    given = list(run(new, "halves")(X))
    assert [type(r) for r in given] == [np.ndarray] * 2
    assert np.array_equal(given, np.maximum(X, 1) / 2)


def test_a_node_that_is_a_generator():
    new, findings = rewritten('''
        @np2fx.node(x="float32[n, 3]")
        def node(x):
            for r in x:
                yield r.sum()
    ''')  # fmt: skip
    assert not [f for f in findings if f.severity == "error"]
    given = list(run(new)(X))
    assert [type(s) for s in given] == [np.float32] * 2
    assert given == [3, 12]


def test_what_a_generator_or_coroutine_cannot_do():
    for body, said in (
        ("for r in x:\n                v = r[::-1]\n                yield v\n                v[1] = 5", "may write through views"),
        ("yield await x", "is a coroutine"),
    ):
        new, findings = rewritten(f'''
        @np2fx.node(x="float32[n, 3]")
        {"async " * ("await" in body)}def node(x):
            {body}
        ''')  # fmt: skip
        assert any(f.name == "not-rewritten" and said in f.message for f in findings)
        assert "torch" not in new
