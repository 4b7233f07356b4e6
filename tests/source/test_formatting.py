"""F-strings that show their own source, `{x.std()=}`: the text that is shown stays NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from .test_rewrite import rewritten, run

X = np.array([0.5, -2.0, 3.25])
SHOWN = [
    'f"{x.shape=}"',
    'f"{np.sum(x)=:.3f}"',
    'f"{np.sum(x) = }"',
    'f"{np.sum(x)=!s} {np.sum(x)!r:>9}"',
    'f"{np.sum(x)=!r:>40}"',
    'f"{(np.sum(x) + 1)=:.2f}"',
    "f'{x.dtype=}'",
    'f"{x.size = }{x.size=}"',
    'f"{{{x.shape=}}} é"',
    'rf"\\d{np.sum(x)=:.2f}"',
    '"a" f"{x.shape=}" f"{x.ndim=}" "{b}"',
    'f"{np.sum(x)=:.{x.ndim + 2}f}"',
    "f\"{ {'a': np.sum(x)}['a']=:.2f}\"",
    'f"{np.round(x, 1)=}"',
    'f"""\n{x.shape=}\n    {np.sum(x)=:.1f}"""',
]


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("spec", ["", 'x="float64[3]"'])
def test_what_is_shown(shown, spec):
    body = f"@np2fx.node({spec})\ndef node(x):\n    return {shown}, np.abs(x)\n"
    new, findings = rewritten(body)
    assert not [f for f in findings if f.severity == "error"]
    assert run(new)(X)[0] == eval(shown, {"np": np, "x": X})


def test_the_message_of_an_assertion():
    new, _ = rewritten("""\
        @np2fx.node(x="float64[n]")
        def node(x):
            assert x.shape[0] > 3, (f"{x.shape=} "
                                    f"{np.max(x)=:.1f}")
            return np.abs(x)
        """)
    with pytest.raises(AssertionError, match=r"^x\.shape=\(3,\) np\.max\(x\)=3\.2$"):
        run(new)(X)


def test_what_needs_no_other_text_stays():
    new, _ = rewritten("""\
        @np2fx.node(x="float64[n]")
        def node(x, k: int = 2):
            return f"{x.ndim=} {len(x)=} {k=}", np.abs(x)
        """)
    assert 'f"{x.ndim=} {len(x)=} {k=}"' in new
