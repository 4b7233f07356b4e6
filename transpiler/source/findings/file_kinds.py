"""The kinds of finding about whole files and nodes: what could not be read, what held no node, what stayed as it was."""

from __future__ import annotations

from .kind import HEADER, Kind


class SyntaxErrorKind(Kind):
    """## What it does

    Reports a file that is not Python: a syntax error, notebook magics, Python 2.

    ## Why is this bad?

    Nothing in the file could be checked. It is left as it is.
    """

    name = "syntax-error"
    code = "NX901"
    message = "this is not Python"
    hint = "mend the syntax, or exclude the file: [tool.np2fx] exclude = [...]"
    bad = "%matplotlib inline\nimport numpy as np\n"
    good = HEADER + "@np2fx.node\ndef double(x):\n    return np.add(x, x)\n"


class EncodingError(Kind):
    """## What it does

    Reports a file whose bytes do not fit its encoding (UTF-8, or the one its cookie names).

    ## Why is this bad?

    Python could not read it either. It is left as it is.
    """

    name = "encoding-error"
    code = "NX902"
    message = "the file's bytes do not fit its encoding"
    hint = "save it as UTF-8, or name the right encoding in the first line"
    bad = "# coding: no-such-codec\nimport numpy as np\n"
    good = "# coding: utf-8\n" + HEADER + "@np2fx.node\ndef double(x):\n    return np.add(x, x)\n"


class NewerSyntax(Kind):
    """## What it does

    Reports a file in the syntax of a newer Python than the one np2fx runs on.

    ## Why is this bad?

    Nothing in the file could be checked.
    """

    name = "newer-syntax"
    code = "NX903"
    message = "this syntax is newer than the Python that runs np2fx"
    hint = "install np2fx for the Python that runs this code"
    # Syntax of Python 3.14, older than which no example can be newer than every Python.
    bad = "import numpy as np\n\ntry:\n    x = np.zeros(3)\nexcept ValueError, TypeError:\n    x = None\n"
    good = (
        HEADER.replace("np2fx\n\n\n", "np2fx\n\ntry:\n    x = np.zeros(3)\nexcept (ValueError, TypeError):\n    x = None\n\n\n")
        + "@np2fx.node\ndef double(x):\n    return np.add(x, x)\n"
    )


class NoNode(Kind):
    """## What it does

    Reports that none of the files given has a node, so that nothing was checked.

    ## Why is this bad?

    A check that looks at nothing always passes.
    """

    name = "no-node"
    code = "NX904"
    severity = "warning"
    message = "no node was found, so nothing was checked"
    hint = 'mark the functions: @np2fx.node above the def, [tool.np2fx] nodes = ["pkg/pre.py:normalize*"], or --all-functions'
    stage = "check"
    bad = "import numpy as np\n\n\ndef double(x):\n    return np.add(x, x)\n"
    good = HEADER + "@np2fx.node\ndef double(x):\n    return np.add(x, x)\n"


class NotRewritten(Kind):
    """## What it does

    Reports a node that `np2fx rewrite` left as it was.

    ## Why is this bad?

    It is still NumPy. A node is rewritten whole or not at all; the findings beside this one say what stood in the way.
    """

    name = "not-rewritten"
    code = "NX905"
    stage = "rewrite"
    message = "the node was left as it was"
    hint = "mend the other findings of this node first"
    bad = HEADER + "@np2fx.node\ndef jitter(x):\n    return x + np.random.normal(size=x.shape)\n"
    good = HEADER + "@np2fx.node\ndef jitter(x, noise):\n    return x + noise\n"


class BadSpec(Kind):
    """## What it does

    Reports a spec in a node's decorator that cannot be read, or that is for a parameter which the function has not.

    ## Why is this bad?

    The module cannot be imported: `@np2fx.node` raises SpecError. The [guide](../guide.md) says how specs are written.
    """

    name = "bad-spec"
    code = "NX906"
    message = "this spec cannot be read"
    hint = 'specs look like "float32[batch, 7]" or "float32[7] in [-1, 1]"'
    bad = HEADER + '@np2fx.node(x="float33[7]")\ndef double(x):\n    return np.add(x, x)\n'
    good = HEADER + '@np2fx.node(x="float32[7]")\ndef double(x):\n    return np.add(x, x)\n'


FILE_KINDS = (SyntaxErrorKind, EncodingError, NewerSyntax, NoNode, NotRewritten, BadSpec)
